"""The hosted pages redirect customers to the identity provider of their organization, by their address."""

from urllib.parse import urlencode

import lxml.html
import pytest

from tests.identity.customers.conftest import GOOD
from tests.identity.customers.test_pages import Page
from tests.identity.sso.conftest import CHALLENGE, REDIRECT_URL, query_of

FLOW = {"redirectUrl": REDIRECT_URL, "codeChallenge": CHALLENGE, "state": "app-state"}
FORM = {"content-type": "application/x-www-form-urlencoded"}


async def page(acme, name="sign-in"):
    return Page(await acme.client.get(f"/projects/{acme.directory.project.id}/auth/pages/{name}?{urlencode(FLOW)}"))


async def submit(acme, name, **fields):
    path = f"/projects/{acme.directory.project.id}/auth/pages/{name}"
    return await acme.client.request("POST", path, content=urlencode({**FLOW, **fields}), headers=FORM)


FORMS = {
    "the single sign-on form": ("sso", {}),
    "the address alone": ("sign-in", {}),
    "the password form": ("sign-in", {"password": GOOD}),
    "a code by mail": ("code", {}),
    "signing up": ("sign-up", {"password": GOOD}),
}


@pytest.mark.parametrize("form", FORMS)
async def test_an_sso_address_is_redirected_to_the_identity_provider_and_back(connected, auth, form):
    email = connected.address("maria")
    name, fields = FORMS[form]
    answer = await submit(connected, name, email=email.upper(), **fields)
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    # The page redirects by `meta refresh`: the CSP directive `form-action` would block a redirect of the form.
    document = lxml.html.fromstring(answer.text)
    (url,) = (link.get("href") for link in document.iter("a"))
    assert [meta.get("content") for meta in document.iter("meta") if meta.get("http-equiv")] == [f"0;url={url}"]
    browser = connected.browser()
    started = await browser.client.get(url)
    assert started.headers["location"].startswith(f"{connected.idp.base}/login")
    final_redirect = await browser.post(*browser.idp_response(started.headers["location"], email))
    assert query_of(final_redirect)["state"] == "app-state"
    signed_in = await browser.exchange_code(final_redirect)
    assert (signed_in["customer"]["email"], signed_in["customer"]["identities"]) == (email, ["SAML"])
    assert await auth.mails(email) == []


async def test_other_addresses_sign_in_on_the_pages(connected):
    answer = await submit(connected, "sso", email="maria@elsewhere.example")
    assert (answer.status_code, 'role="alert"' in answer.text) == (404, True)
    code_page = await submit(connected, "code", email="maria@elsewhere.example")
    assert "six digits" in code_page.text
    invalid = await submit(connected, "sso", email="maria")
    assert invalid.status_code == 400
    await connected.remove_domain()
    lapsed = await submit(connected, "sso", email=connected.address())
    assert lapsed.status_code == 404


async def test_a_project_with_single_sign_on_alone_asks_for_the_address(connected, auth):
    await auth.settings(methods=["EMAIL_LINK"])
    document = await page(connected)
    assert document.actions[0].endswith("/auth/pages/sso")
    await connected.remove_domain()


async def test_sso_is_not_offered_without_an_active_connection(acme, auth):
    await auth.settings(methods=["EMAIL_LINK"])
    assert not (await page(acme)).actions
