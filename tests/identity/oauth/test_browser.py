"""Chromium signs in at the provider, allows a client and comes back to it, and signs out."""

import asyncio
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
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
