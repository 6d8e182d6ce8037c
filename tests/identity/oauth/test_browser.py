"""Chromium signs in at the provider, allows a client and comes back to it, and signs out."""

import asyncio
import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import parse_qs, urlencode, urlsplit
from uuid import uuid4

import httpx
import pytest

from tests.identity.customers.conftest import GOOD
from tests.identity.oauth.conftest import CHALLENGE, VERIFIER
from tests.peers.chromium import CHROMIUM, Browser, open_browser
from tests.peers.whole_server import whole_server

INSTALL = "apt-get install chromium"
pytestmark = [
    pytest.mark.needs_tool("chromium", INSTALL),
    pytest.mark.skipif(CHROMIUM is None, reason=f"Chromium is not installed: {INSTALL}"),
]


@pytest.fixture(scope="module")
def installation(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Any]]:
    """A project with a client and a customer. The client is at 127.0.0.1, which is another origin than localhost."""
    with whole_server(tmp_path_factory.mktemp("provider"), host="localhost") as server:
        account = asyncio.run(server.account())
        issuer = f"{server.url}/projects/{account.project_id}"
        callback = f"{server.url.replace('localhost', '127.0.0.1')}/problems/sign_in_failed"
        with httpx.Client(
            base_url=issuer, headers={"authorization": f"Bearer {account.developer_token}"}, timeout=60
        ) as developer:
            sign_in = {"verifyEmail": "LATER", "appName": "Northwind Coffee"}
            developer.patch("", json={"settings": {"signIn": sign_in}}).raise_for_status()
            body = {
                "name": "Northwind Reports",
                "redirectUris": [callback],
                "postLogoutRedirectUris": [callback],
                "websiteUrl": "https://reports.example.com/",
                "privacyUrl": "https://reports.example.com/privacy",
            }
            client = developer.post("/oauth-clients", json=body).raise_for_status().json()
        email = f"{uuid4().hex[:8]}@example.com"
        sign_up = {"email": email, "password": GOOD}
        httpx.post(f"{issuer}/auth/sign-up", json=sign_up, timeout=60).raise_for_status()
        yield {"issuer": issuer, "callback": callback, "client": client, "email": email}


def authorization_url(installation: dict[str, Any], **fields: str) -> str:
    parameters = {
        "client_id": installation["client"]["clientId"],
        "redirect_uri": installation["callback"],
        "response_type": "code",
        "scope": "openid email offline_access",
        "state": "of-the-client",
        "code_challenge": CHALLENGE,
        "code_challenge_method": "S256",
        **fields,
    }
    return f"{installation['issuer']}/oauth/authorize?{urlencode(parameters)}"


def returned(browser: Browser, installation: dict[str, Any]) -> dict[str, str]:
    """The parameters with which the browser came back to the client."""
    browser.wait(f"location.href.startsWith({installation['callback']!r})")
    return {name: values[0] for name, values in parse_qs(urlsplit(browser.url).query).items()}


def enter_password(browser: Browser, installation: dict[str, Any]) -> None:
    """Sign in with a password, on the page that asks for the address first."""
    browser.fill("email", installation["email"])
    browser.click("Continue")
    browser.wait("document.getElementById('password')")
    browser.fill("password", GOOD)
    browser.click("Sign in")


def test_chromium_fills_in_a_passkey_on_the_sign_in_page(installation: dict[str, Any]) -> None:
    """A passkey is added on the pages, and signs in without a click: the browser offers it where the address is asked
    for, and the virtual authenticator chooses it."""
    with open_browser() as browser:
        browser.command("WebAuthn.enable")
        authenticator = {
            "protocol": "ctap2",
            "transport": "internal",
            **dict.fromkeys(("hasResidentKey", "hasUserVerification", "isUserVerified"), True),
            "automaticPresenceSimulation": True,
        }
        browser.command("WebAuthn.addVirtualAuthenticator", options=authenticator)
        browser.open(authorization_url(installation))
        browser.click("Sign in and add a passkey")
        browser.wait_for("Sign in to add a passkey")
        enter_password(browser, installation)
        browser.wait("document.getElementById('name')")
        browser.click("Add a passkey")
        browser.wait_for("Allow Northwind Reports?")
        browser.clear_cookies()
        browser.open(authorization_url(installation))
        browser.wait_for("Allow Northwind Reports?")
        assert not [line for line in browser.console if "favicon" not in line]


SHOWS_FOCUS = "getComputedStyle(document.activeElement).outlineStyle !== 'none'"
MOST_TABS = 60
"""More controls than a page has."""


def press_until(browser: Browser, expression: str) -> None:
    """Press Tab until this is true of `element`, which has the focus."""
    for _ in range(MOST_TABS):
        browser.press("Tab")
        if browser.evaluate(f"(element => {expression})(document.activeElement)"):
            return
    raise AssertionError(f"No focus: {expression}")


def test_the_keyboard_signs_in_and_consents(installation: dict[str, Any]) -> None:
    with open_browser() as browser:
        browser.open(authorization_url(installation, prompt="consent"))
        press_until(browser, "element.name === 'email'")
        browser.command("Input.insertText", text=installation["email"])
        browser.press("Enter")
        browser.wait("document.activeElement.name === 'password'")
        browser.command("Input.insertText", text=GOOD)
        browser.press("Enter")
        browser.wait_for("Allow Northwind Reports?")
        press_until(browser, "element.textContent.trim() === 'Do not allow'")
        assert browser.evaluate(SHOWS_FOCUS), "where the focus is, can be seen"
        browser.press("Enter")
        assert returned(browser, installation)["error"] == "access_denied"


def test_the_keyboard_changes_an_account(installation: dict[str, Any]) -> None:
    """The keyboard alone chooses a language, changes the name and ends another session."""
    credentials = {"email": installation["email"], "password": GOOD}
    agent = {"user-agent": "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"}
    other = httpx.post(f"{installation['issuer']}/auth/sign-in", json=credentials, headers=agent, timeout=60)
    refresh = {"refreshToken": other.raise_for_status().json()["refreshToken"]}
    with open_browser() as browser:
        browser.open(f"{installation['issuer']}/auth/pages/account")
        press_until(browser, "element.name === 'email'")
        browser.command("Input.insertText", text=installation["email"])
        browser.press("Enter")
        browser.wait("document.activeElement.name === 'password'")
        browser.command("Input.insertText", text=GOOD)
        browser.press("Enter")
        browser.wait_for("Where you are signed in")

        press_until(browser, "element.matches('.lang summary')")
        browser.press("Enter")
        browser.wait("document.querySelector('.lang').open")
        press_until(browser, "element.lang === 'de'")
        assert browser.evaluate(SHOWS_FOCUS), "where the focus is, can be seen"
        browser.press("Enter")
        browser.wait_for("Wo Sie angemeldet sind")

        press_until(browser, "element.getAttribute('aria-label') === 'Ändern Name'")
        assert browser.evaluate(SHOWS_FOCUS)
        browser.press("Enter")
        browser.wait_for("Namen ändern")
        press_until(browser, "element.name === 'name'")
        browser.command("Input.insertText", text="Maria Linden")
        browser.press("Enter")
        browser.wait_for("Ihr Name wurde geändert.")
        assert "Maria Linden" in browser.text

        press_until(browser, "/^Beenden Firefox/.test(element.getAttribute('aria-label'))")
        assert browser.evaluate(SHOWS_FOCUS)
        browser.press("Enter")
        browser.wait_for("Dieses Gerät wurde abgemeldet.")
        assert "Firefox" not in browser.text
        assert not [line for line in browser.console if "favicon" not in line]
    ended = httpx.post(f"{installation['issuer']}/auth/token/refresh", json=refresh, timeout=60)
    assert ended.status_code == 401, ended.text


def test_the_code_page_counts_down_and_sends_again_later(installation: dict[str, Any]) -> None:
    with open_browser() as browser:
        browser.open(authorization_url(installation))
        browser.fill("email", installation["email"])
        browser.click("Continue")
        browser.click("Mail me a code")
        browser.wait("/ \\(\\d+:\\d\\d left\\)/.test(document.querySelector('time').textContent)")
        again = "document.querySelector('button[data-wait]')"
        assert browser.evaluate(f"{again}.disabled && / \\(0:[0-3]\\d\\)$/.test({again}.textContent)")


def test_chromium_signs_in_consents_and_signs_out(installation: dict[str, Any], tmp_path: Path) -> None:
    with open_browser() as browser:
        browser.open(authorization_url(installation))
        enter_password(browser, installation)
        browser.wait_for("Allow Northwind Reports?")
        assert installation["email"] in browser.text
        for dark, width in ((False, 1280), (True, 1280), (False, 390), (True, 390)):
            browser.show_as(dark=dark, width=width)
            fits = "document.documentElement.scrollWidth <= document.documentElement.clientWidth"
            assert browser.evaluate(fits), (dark, width)
            browser.screenshot(tmp_path / f"consent-{'dark' if dark else 'light'}-{width}.png")
        browser.click("Allow")
        response = returned(browser, installation)
        assert response["state"] == "of-the-client"
        client = installation["client"]
        tokens = httpx.post(
            f"{installation['issuer']}/oauth/token",
            auth=(client["clientId"], client["clientSecret"]),
            data={
                "grant_type": "authorization_code",
                "code": response["code"],
                "redirect_uri": installation["callback"],
                "code_verifier": VERIFIER,
            },
            timeout=60,
        )
        assert tokens.status_code == 200, tokens.text
        browser.open(authorization_url(installation, prompt="none"))
        assert "code" in returned(browser, installation)
        browser.open(authorization_url(installation, prompt="consent"))
        browser.click("Do not allow")
        assert returned(browser, installation)["error"] == "access_denied"
        query = urlencode({"client_id": client["clientId"], "post_logout_redirect_uri": installation["callback"]})
        browser.open(f"{installation['issuer']}/oauth/logout?{query}")
        browser.click("Sign out")
        assert returned(browser, installation) == {}
        browser.open(authorization_url(installation, prompt="none"))
        assert returned(browser, installation)["error"] == "login_required"
        browser.open(authorization_url(installation, client_id="unknown"))
        browser.wait_for("This sign-in cannot continue")
        assert not re.search(r"evil|callback", browser.text)


LANDMARKS = ("banner", "complementary", "contentinfo", "main", "navigation", "region", "search")
WRONG_HAS_FOCUS = "document.activeElement.getAttribute('aria-invalid') === 'true'"
"""Not every screen reader reads a message in a new page, but each reads the field with the focus."""
CONTROLS = ("button", "checkbox", "combobox", "link", "radio", "textbox", "DisclosureTriangle")


class Accessible(NamedTuple):
    """What a screen reader gets of an element."""

    role: str
    name: str
    description: str
    properties: dict[str, Any]


def accessible(browser: Browser) -> list[Accessible]:
    """The accessibility tree of the page in its order, without what screen readers leave out."""
    nodes = browser.command("Accessibility.getFullAXTree")["nodes"]
    by_id = {node["nodeId"]: node for node in nodes}
    elements, waiting = [], [nodes[0]]
    while waiting:
        node = waiting.pop()
        waiting += [by_id[child] for child in reversed(node.get("childIds", [])) if child in by_id]
        if not node["ignored"]:
            role, name, description = (node.get(key, {}).get("value", "") for key in ("role", "name", "description"))
            properties = {item["name"]: item["value"].get("value") for item in node.get("properties", [])}
            elements.append(Accessible(role, name, description, properties))
    return elements


def require_structure(tree: list[Accessible], title: str) -> None:
    """Require one title that is the first heading, headings without gaps, landmarks, and a name for each control."""
    assert tree[0].role == "RootWebArea"
    assert tree[0].name.startswith(title), tree[0]
    headings = [(node.properties["level"], node.name) for node in tree if node.role == "heading"]
    assert headings[0] == (1, title), headings
    levels = [level for level, _ in headings]
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(levels)), headings
    landmarks = [(node.role, node.name) for node in tree if node.role in LANDMARKS]
    assert [role for role, _ in landmarks].count("main") == [role for role, _ in landmarks].count("contentinfo") == 1
    assert len(set(landmarks)) == len(landmarks), f"landmarks of one role need different names: {landmarks}"
    assert all(name for role, name in landmarks if role in ("navigation", "region"))
    assert [node for node in tree if node.role in CONTROLS and not node.name] == []


def require_error(tree: list[Accessible], field: str, message: str) -> None:
    """Require that an error is announced, and belongs to this field and to no other."""
    assert [node.properties["live"] for node in tree if node.role == "alert"] == ["assertive"]
    wrong = [node for node in tree if node.properties.get("invalid") not in (None, "false")]
    assert [node.name for node in wrong] == [field]
    assert message in wrong[0].description


def test_a_screen_reader_gets_names_errors_and_landmarks(installation: dict[str, Any]) -> None:
    with open_browser() as browser:
        browser.open(authorization_url(installation))
        require_structure(accessible(browser), "Sign in")
        browser.fill("email", installation["email"])
        browser.click("Continue")
        browser.wait("document.getElementById('password')")
        browser.fill("password", "not the password")
        browser.click("Sign in")
        browser.wait(WRONG_HAS_FOCUS)
        tree = accessible(browser)
        require_structure(tree, "Sign in")
        require_error(tree, "Password", "Wrong email or password.")
        sign_up = browser.evaluate("location.href.replace(/sign-in.*/, 'sign-up')")
        query = urlencode({"redirectUrl": f"{installation['issuer']}/oauth/continue", "codeChallenge": CHALLENGE})
        browser.open(f"{sign_up}?{query}")
        tree = accessible(browser)
        require_structure(tree, "Sign up")
        fields = [(node.name, node.properties["required"]) for node in tree if node.role == "textbox"]
        assert fields == [
            ("Name (optional)", False),
            ("E-mail address", True),
            ("Password (8 characters or more)", True),
        ]
        browser.fill("email", f"{uuid4().hex[:8]}@example.com")
        browser.fill("password", "password1")
        browser.click("button")
        browser.wait(WRONG_HAS_FOCUS)
        tree = accessible(browser)
        require_structure(tree, "Sign up")
        require_error(tree, "Password (8 characters or more)", "This password is among the most common ones.")
        browser.open(authorization_url(installation, prompt="consent"))
        enter_password(browser, installation)
        browser.wait_for("Allow Northwind Reports?")
        tree = accessible(browser)
        require_structure(tree, "Allow Northwind Reports?")
        assert [node.name for node in tree if node.role == "button"] == ["Allow", "Do not allow"]
        browser.open(f"{installation['issuer']}/auth/pages/account")
        browser.wait_for("Where you are signed in")
        tree = accessible(browser)
        require_structure(tree, "Your account")
        regions = [node.name for node in tree if node.role == "region"]
        assert regions[:3] == ["Profile", "E-mail addresses", "Ways to sign in"]
        names = [node.name for node in tree if node.role in ("button", "link")]
        # Sessions on equal devices differ in their times, but not in those of this test.
        ends = [name for name in names if name.startswith("End ")]
        assert ends, names
        assert all(re.fullmatch(r"End .+, .+, .*\d{4}.*", name) for name in ends), ends
        names = [name for name in names if name not in ends]
        assert len(set(names)) == len(names), f"controls that sound the same: {names}"
