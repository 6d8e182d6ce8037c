"""The components of `@postern/react`: rendered on the server, and in Chromium in an application that signs in at a
real server."""

import asyncio
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest

from tests.conftest import PASSWORD
from tests.peers.chromium import CHROMIUM, Browser, open_browser
from tests.peers.whole_server import whole_server
from tests.sdk.typescript import needs_typescript, run
from tests.sdk.web_frameworks import PEER, PROGRAMS, Api, linked_frameworks, needs_web_frameworks, running_apps

pytestmark = [
    pytest.mark.needs_node,
    needs_typescript,
    needs_web_frameworks,
    pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed: apt-get install chromium"),
]
EMAIL = "ada.lovelace@example.com"
ACTIVE = "document.activeElement.textContent.trim()"


@dataclass
class Site:
    """An application with the components, and the browser of a customer who is a member of two organizations."""

    url: str
    browser: Browser
    key: Api
    developer: Api
    customer: str
    """The id of the customer."""

    def open(self, query: str = "") -> None:
        """Open the page with the components, and wait until they know the session."""
        self.browser.open(f"{self.url}/components{query}")
        self.browser.wait("!document.body.innerText.includes('Loading')")

    def sign_in(self) -> None:
        """Sign in on the hosted page, unless the customer is signed in."""
        self.open()
        if "Nobody is signed in" in self.browser.text:
            self.browser.click("Sign in")
            self.browser.fill("email", EMAIL)
            self.browser.press("Enter")
            self.browser.wait("document.getElementById('password')")
            self.browser.fill("password", PASSWORD)
            self.browser.press("Enter")
        self.browser.wait("document.getElementById('facts')")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with whole_server(tmp_path_factory.mktemp("server")) as server:
        account = asyncio.run(server.account())
        environment = {
            "POSTERN_URL": server.url,
            "POSTERN_PROJECT": account.project_id,
            "POSTERN_KEY": account.secret_key,
        }
        key = Api(server.url, account.project_id, account.secret_key)
        with running_apps(tmp_path_factory.mktemp("apps"), **environment) as apps, open_browser() as browser:
            settings = {"settings": {"signIn": {"redirectUrls": [f"{apps['components']}/auth/callback"]}}}
            developer = Api(server.url, account.project_id, account.developer_token)
            developer("PATCH", "", settings)
            body = {"email": EMAIL, "emailVerified": True, "password": PASSWORD, "name": "Ada Lovelace"}
            customer = key("POST", "/customers", body)
            key("POST", "/access/permissions", {"key": "reports:read"})
            for name, role in (("Acme Ltd", "OWNER"), ("Globex", "MEMBER")):
                organization = key("POST", "/b2b/organizations", {"name": name})
                member = {"customerId": customer["id"], "roles": [role]}
                key("POST", f"/b2b/organizations/{organization['id']}/members", member)
            yield Site(apps["components"], browser, key, developer, customer["id"])


def test_the_server_renders_the_components(site):
    page = httpx.get(f"{site.url}/components?theme=dark").text
    assert "Loading" in page
    assert page.count('data-href="postern-react"') == 1
    assert "Sign in" not in page
    assert "Sign out" not in page


def test_a_visitor_signs_in_and_returns_to_the_page(site):
    browser = site.browser
    browser.clear_cookies()
    site.open("?theme=light")
    assert "Nobody is signed in" in browser.text
    assert browser.evaluate("document.querySelectorAll('.postern a').length") == 2
    browser.click("Sign up")
    browser.wait("location.pathname.endsWith('/auth/pages/sign-up')")
    site.open("?theme=light")
    browser.click("Sign in")
    browser.fill("email", EMAIL)
    browser.press("Enter")
    browser.wait("document.getElementById('password')")
    browser.fill("password", PASSWORD)
    browser.press("Enter")
    # The page that asks for the password shows the address, too.
    browser.wait("location.pathname === '/components'")
    browser.wait_for(EMAIL)
    assert browser.url == f"{site.url}/components?theme=light"
    assert browser.evaluate("document.cookie") == ""


def test_the_menu_of_the_customer_works_with_the_keyboard(site):
    site.sign_in()
    browser = site.browser
    browser.evaluate("document.querySelector('[aria-label^=\"Account\"]').focus()")
    assert browser.evaluate("document.activeElement.getAttribute('aria-haspopup')") == "menu"
    browser.press("Enter")
    browser.wait("document.querySelector('[role=menu]')")
    assert browser.evaluate("document.querySelector('[aria-expanded=true]').getAttribute('aria-controls')")
    assert EMAIL in browser.evaluate("document.querySelector('[role=menu]').innerText")
    browser.wait(f"{ACTIVE} === 'Account settings'")
    browser.press("ArrowDown")
    assert browser.evaluate(ACTIVE) == "Sign out"
    browser.press("ArrowDown")
    assert browser.evaluate(ACTIVE) == "Account settings"
    browser.press("End")
    assert browser.evaluate(ACTIVE) == "Sign out"
    browser.press("Home")
    assert browser.evaluate(ACTIVE) == "Account settings"
    browser.press("Escape")
    browser.wait("!document.querySelector('[role=menu]')")
    assert browser.evaluate("document.activeElement.getAttribute('aria-label')") == "Account: Ada Lovelace"
    browser.click("Account")
    browser.wait("document.querySelector('[role=menu]')")
    browser.click("#facts")
    browser.wait("!document.querySelector('[role=menu]')")


@pytest.mark.parametrize(
    ("dark", "theme", "expected"), [(0, "auto", 0), (1, "auto", 1), (0, "dark", 1), (1, "light", 0)]
)
def test_the_components_follow_the_preferred_colors_and_the_theme(site, tmp_path: Path, dark, theme, expected):
    site.sign_in()
    browser = site.browser
    browser.show_as(dark=bool(dark), width=360, height=640)
    site.open(f"?theme={theme}")
    browser.click("Organization")
    browser.wait("document.querySelector('[role=menu]')")
    color = browser.evaluate("getComputedStyle(document.querySelector('[role=menu]')).backgroundColor")
    assert (sum(map(int, re.findall(r"\d+", color))) < 200) == bool(expected), color
    # On a phone, the menus are within the window.
    box = browser.evaluate(
        "(({left, right}) => [left, right])(document.querySelector('[role=menu]').getBoundingClientRect())"
    )
    assert box[0] >= 0
    assert box[1] <= 360
    assert browser.evaluate("document.documentElement.scrollWidth") <= 360
    names = browser.evaluate("[...document.querySelectorAll('[role=menuitemradio]')].map(item => item.ariaChecked)")
    assert sorted(names) == ["false", "false", "true"]
    browser.show_as()


def test_other_tabs_show_the_organization_that_a_reloaded_page_has_switched_to(site):
    site.sign_in()
    browser = site.browser
    opened = "window.other = window.open(location.href, 'other'), true"
    browser.command("Runtime.evaluate", expression=opened, userGesture=True)
    shown = "window.open('', 'other').document.querySelector('[aria-label^=Organization]')?.ariaLabel"
    browser.wait(f"!!({shown})")
    before = browser.evaluate(shown)
    target = "Globex" if "Acme" in before else "Acme Ltd"
    browser.click("Organization")
    browser.click(target)
    browser.wait(f"({shown}) === 'Organization: {target}'")
    assert (
        browser.evaluate("document.querySelector('[aria-label^=Organization]').ariaLabel") == f"Organization: {target}"
    )
    browser.evaluate("window.open('', 'other').close()")


@pytest.mark.parametrize("control", ["menu", "button"])
def test_sign_out_ends_the_session_in_all_tabs(site, control):
    site.sign_in()
    browser = site.browser
    opened = "window.other = window.open(location.href, 'other'), true"
    browser.command("Runtime.evaluate", expression=opened, userGesture=True)
    browser.wait("!!other.document.getElementById('facts')")
    other = "window.open('', 'other')"
    entries = f"{other}.performance.getEntriesByType('resource')"
    reads = f"{entries}.filter(({{name}}) => name.endsWith('/auth/session')).length"
    before = browser.evaluate(reads)
    if control == "menu":
        browser.click("Account")
        browser.click("[role=menu] form button")
    else:
        browser.click("main form button")
    browser.wait("location.pathname === '/'")
    browser.wait(f"{other}.document.body.innerText.includes('Nobody is signed in')")
    # The other tab does not ask the server, which might answer before the session has ended.
    assert browser.evaluate(reads) == before
    browser.evaluate(f"{other}.close()")
    site.open()
    assert "Nobody is signed in" in browser.text
    assert not {cookie["name"] for cookie in browser.cookies()} & {"postern_access", "postern_refresh"}


def test_a_link_of_support_opens_the_application_with_a_banner_that_ends_it(site):
    browser = site.browser
    browser.clear_cookies()
    callback = f"{site.url}/auth/callback"
    body = {"reason": "Ticket 4711", "redirectUrl": callback, "state": "/components?theme=light"}
    link = site.developer("POST", f"/customers/{site.customer}/impersonation-links", body)
    browser.open(link["url"])
    assert "Ticket 4711" in browser.text
    browser.click("Continue")
    browser.wait("location.pathname === '/components'")
    browser.wait("document.querySelector('[role=status]')")
    assert browser.url == f"{site.url}/components?theme=light"
    shown = browser.evaluate("document.querySelector('[role=status]').innerText")
    assert re.fullmatch(r"You are signed in as Ada Lovelace \(by \S+@\S+\)\.", shown)
    browser.evaluate("document.querySelector('.postern-banner button').focus()")
    browser.press("Enter")
    browser.wait_for("Nobody is signed in")
    assert browser.evaluate("document.querySelector('[role=status]') === null")
    (ended,) = site.key("GET", "/events?type=customer.impersonation_ended")["data"]
    assert ended["data"]["cause"] == "SIGNED_OUT"


def test_hydration_and_scripts_report_no_errors(site):
    site.sign_in()
    errors = [line for line in site.browser.console if "404 (Not Found)" not in line]
    assert not errors, errors


def test_the_components_compile_strictly(tmp_path):
    folder = linked_frameworks(tmp_path)
    (folder / "package.json").write_text('{"type": "module"}')
    for name in ("components_types.tsx", "tsconfig.json"):
        (folder / name).write_text((PROGRAMS / name).read_text())
    run(PEER / "node_modules" / ".bin" / "tsc", "-p", ".", folder=folder)
