"""Interoperability with npm's oidc-provider over HTTP: sign-on, RP-initiated and back-channel logout."""

import html
import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import parse_qs, urljoin, urlsplit

import httpx
import pytest

from tests.conftest import Client
from tests.identity.customers.test_providers import settings
from tests.identity.sso.conftest import REDIRECT_URL, query_of
from tests.identity.sso.test_oidc_sign_on import OidcBrowser, is_alive

__all__ = ["settings"]

PEER = Path(__file__).parents[2] / "peers" / "oidc_provider"
INSTALL = "npm install --no-package-lock --prefix tests/peers/oidc_provider"
SECONDS = 60

pytestmark = [
    pytest.mark.needs_node,
    pytest.mark.skipif(
        not shutil.which("node") or not (PEER / "node_modules" / "oidc-provider").is_dir(),
        reason=f"oidc-provider is not installed: {INSTALL}",
    ),
]


@contextmanager
def serving(client: dict[str, object]) -> Iterator[tuple[str, Iterator[str]]]:
    """Run the provider with this client; yields its issuer, and the lines that it writes."""
    command = ["node", "--no-deprecation", str(PEER / "provider.mjs")]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            process.stdin.write(json.dumps(client) + "\n")
            process.stdin.flush()
            lines = (line.strip() for line in process.stdout)
            issuer = next(line for line in lines if line.startswith("http://127.0.0.1"))
            yield issuer, lines
        finally:
            process.kill()


def submitted(browser: httpx.Client, page: httpx.Response, **fields: str) -> httpx.Response:
    """Submit the first form of a page of the provider, and follow redirects within the provider."""
    form = re.findall(r"<form.*?</form>", page.text, re.DOTALL)[0]
    action = html.unescape(re.findall(r'action="([^"]*)"', form)[0])
    inputs = [dict(re.findall(r'(\w+)="([^"]*)"', tag)) for tag in re.findall(r"<input[^>]*>", page.text)]
    hidden = {tag["name"]: html.unescape(tag.get("value", "")) for tag in inputs if tag.get("type") == "hidden"}
    return followed(browser, browser.post(urljoin(str(page.url), action), data={**hidden, **fields}))


def followed(browser: httpx.Client, response: httpx.Response) -> httpx.Response:
    """Follow the redirects of a response that stay at the provider."""
    while "location" in response.headers:
        target = urljoin(str(response.url), response.headers["location"])
        if urlsplit(target).netloc != response.url.netloc.decode():
            break
        response = browser.get(target)
    return response


async def test_sign_on_and_both_logouts_with_oidc_provider(acme):
    acme.advance_clock_to_now()
    body = {"kind": "OIDC", "name": "Acme", "domain": acme.domain["domain"], "oidcClientId": "postern"}
    acme.connection = (await acme.client.post(acme.connections_path, body)).json()
    client = {
        "client_id": "postern",
        # All of these signs are encoded in the Authorization header (RFC 6749 §2.3.1).
        "client_secret": "a secret with & = + % signs",
        "redirect_uris": [acme.connection["oidcRedirectUrl"]],
        "post_logout_redirect_uris": [acme.connection["oidcPostLogoutRedirectUrl"]],
        "backchannel_logout_uri": acme.connection["oidcBackchannelLogoutUrl"],
        "backchannel_logout_session_required": True,
    }
    with serving(client) as (issuer, lines), httpx.Client(timeout=SECONDS) as provider_browser:
        await acme.change(oidcIssuer=issuer, oidcClientSecret=client["client_secret"])
        assert (await acme.client.post(f"{acme.connection_path}/activate")).status_code == 200
        email = acme.address()
        browser = OidcBrowser(acme, None)
        started = await browser.start()
        login = followed(provider_browser, provider_browser.get(started.headers["location"]))
        consent = submitted(provider_browser, login, login=email, password="any", prompt="login")
        returned = submitted(provider_browser, consent, prompt="consent")
        location = returned.headers["location"]
        assert f"iss={issuer}".replace(":", "%3A").replace("/", "%2F") in location, "RFC 9207"
        answer = await browser.client.get(location)
        assert "code" in query_of(answer), answer.text
        signed_in = await browser.exchange_code(answer)
        assert (signed_in["customer"]["email"], signed_in["customer"]["name"]) == (email, "Maria")
        assert (await browser.client.get(location)).status_code == 403, "the code was used"
        customer = Client(acme.app, signed_in["accessToken"], f"/projects/{acme.directory.project.id}/auth")

        # The session of the app ends; then the browser ends that at the provider, which sends a logout token.
        again = await browser.start()
        location = followed(provider_browser, provider_browser.get(again.headers["location"])).headers["location"]
        other_device = await browser.exchange_code(await browser.client.get(location))
        assert await is_alive(acme, other_device)
        url = (await customer.post("/sso/sign-out", {"redirectUrl": REDIRECT_URL})).json()["url"]
        question = followed(provider_browser, provider_browser.get(url))
        signed_out = submitted(provider_browser, question, logout="yes")
        returned = await browser.client.get(signed_out.headers["location"])
        assert (returned.status_code, returned.headers["location"]) == (303, REDIRECT_URL)
        token = parse_qs(next(line for line in lines if "logout_token=" in line))["logout_token"][0]
        delivered = await browser.client.request(
            "POST", acme.connection["oidcBackchannelLogoutUrl"], data={"logout_token": token}
        )
        assert delivered.status_code in (200, 204), delivered.text
        assert not await is_alive(acme, other_device)
