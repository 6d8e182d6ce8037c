"""The components of `@postern/react`: rendered on the server, and in Chromium in an application that signs in at a
real server."""

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass

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


@dataclass
class Site:
    """An application with the components, and the browser of a customer who is a member of two organizations."""

    url: str
    browser: Browser
    key: Api

    def open(self, query: str = "") -> None:
        """Open the page with the components, and wait until they know the session."""
        self.browser.open(f"{self.url}/components{query}")
        self.browser.wait("!document.body.innerText.includes('Loading')")


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
            Api(server.url, account.project_id, account.developer_token)("PATCH", "", settings)
            body = {"email": EMAIL, "emailVerified": True, "password": PASSWORD, "name": "Ada Lovelace"}
            customer = key("POST", "/customers", body)
            key("POST", "/access/permissions", {"key": "reports:read"})
            for name, role in (("Acme Ltd", "OWNER"), ("Globex", "MEMBER")):
                organization = key("POST", "/b2b/organizations", {"name": name})
                member = {"customerId": customer["id"], "roles": [role]}
                key("POST", f"/b2b/organizations/{organization['id']}/members", member)
            yield Site(apps["components"], browser, key)


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
    browser.fill("password", PASSWORD)
    browser.press("Enter")
    browser.wait_for(EMAIL)
    assert browser.url == f"{site.url}/components?theme=light"
    assert browser.evaluate("document.cookie") == ""


def test_the_components_compile_strictly(tmp_path):
    folder = linked_frameworks(tmp_path)
    (folder / "package.json").write_text('{"type": "module"}')
    for name in ("components_types.tsx", "tsconfig.json"):
        (folder / name).write_text((PROGRAMS / name).read_text())
    run(PEER / "node_modules" / ".bin" / "tsc", "-p", ".", folder=folder)
