"""The hosted pages redirect customers to the identity provider of their organization, by their address."""

from urllib.parse import urlencode

import lxml.html
import pytest

from tests.identity.customers.conftest import GOOD
from tests.identity.customers.test_pages import Page
from tests.identity.sso.conftest import CHALLENGE, REDIRECT_URL, query_of

FLOW = {"redirectUrl": REDIRECT_URL, "codeChallenge": CHALLENGE, "state": "mine"}
FORM = {"content-type": "application/x-www-form-urlencoded"}


async def page(acme, name="sign-in"):
    return Page(await acme.client.get(f"/projects/{acme.directory.project.id}/auth/pages/{name}?{urlencode(FLOW)}"))


async def submitted(acme, name, **fields):
    path = f"/projects/{acme.directory.project.id}/auth/pages/{name}"
    return await acme.client.request("POST", path, content=urlencode({**FLOW, **fields}), headers=FORM)


WAYS = {
    "the button for it": ("sso", {}),
    "the password form": ("sign-in", {"password": GOOD}),
    "a code by mail": ("code", {}),
    "signing up": ("sign-up", {"password": GOOD}),
}


@pytest.mark.parametrize("way", WAYS)
async def test_an_sso_address_is_redirected_to_the_identity_provider_and_back(connected, auth, way):
    assert "organization's sign-in" in (await page(connected)).text
    email = connected.address("maria")
    name, fields = WAYS[way]
    answer = await submitted(connected, name, email=email.upper(), **fields)
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    # A redirect would be held to `form-action`, which cannot name every provider.
    shown = lxml.html.fromstring(answer.text)
    (url,) = (each.get("href") for each in shown.iter("a"))
    assert [each.get("content") for each in shown.iter("meta") if each.get("http-equiv")] == [f"0;url={url}"]
    browser = connected.browser()
    started = await browser.client.get(url)
    assert started.headers["location"].startswith(f"{connected.idp.base}/login")
    back = await browser.post(*browser.answer(started.headers["location"], email))
    assert query_of(back)["state"] == "mine"
    signed_in = await browser.redeem(back)
    assert (signed_in["customer"]["email"], signed_in["customer"]["identities"]) == (email, ["SAML"])
    assert await auth.mails(email) == []


async def test_other_addresses_sign_in_on_the_pages(connected):
    answer = await submitted(connected, "sso", email="maria@elsewhere.example")
    assert (answer.status_code, 'role="alert"' in answer.text) == (404, True)
    asked = await submitted(connected, "code", email="maria@elsewhere.example")
    assert "six digits" in asked.text
    nothing = await submitted(connected, "sso", email="maria")
    assert nothing.status_code == 400
    await connected.lapse()
    lapsed = await submitted(connected, "sso", email=connected.address())
    assert lapsed.status_code == 404


async def test_sso_is_not_offered_without_an_active_connection(acme):
    assert "organization's sign-in" not in (await page(acme)).text
