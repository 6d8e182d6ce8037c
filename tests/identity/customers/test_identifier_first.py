"""The sign-in page asks for the address first, then for what the address can sign in with."""

import re
from datetime import timedelta

import pytest

from tests.identity.customers.conftest import GOOD, new_address
from tests.identity.customers.test_pages import FLOW, browser, redeemed
from tests.identity.customers.test_providers import provider, provider_browser, put, settings

__all__ = ["browser", "provider", "provider_browser", "settings"]


async def asked(browser, email):
    return await browser.submit(await browser.open("sign-in", **FLOW), email=email)


async def test_the_address_leads_to_the_methods_of_the_project(auth, browser):
    address = new_address()
    await auth.signed_up(address)
    first = await browser.open("sign-in", **FLOW)
    assert [field["name"] for field in first.inputs if field.get("type") != "hidden"] == ["email"]
    (email,) = (field for field in first.inputs if field["name"] == "email")
    assert email["autocomplete"] == "username webauthn"
    page = await browser.submit(first, email=f" {address} ")
    assert page.response.status_code == 200
    assert f"<p>{address}</p>" in page.text
    (hidden,) = (field for field in page.inputs if field["name"] == "email" and "autocomplete" in field)
    assert (hidden["type"], hidden["value"], hidden["autocomplete"]) == ("hidden", address, "username")
    wrong = await browser.submit(page, password="not this one")
    assert (wrong.response.status_code, 'role="alert"' in wrong.text) == (401, True)
    assert f"<p>{address}</p>" in wrong.text, "only the password is asked for again"
    await redeemed(auth, await browser.submit(wrong, password=GOOD))
    code_page = await browser.submit(page, f"{browser.base}/code")
    await redeemed(auth, await browser.submit(code_page, code=await auth.code(address)))
    forgot = next(link for link in page.links if "/forgot?" in link)
    assert f"email={address.replace('@', '%40')}" in forgot


async def test_the_page_does_not_tell_whether_there_is_an_account(auth, browser):
    """Nor what the account has: a password, a second factor, a ban."""
    known, banned, unknown = new_address(), new_address(), new_address()
    await auth.signed_up(known)
    customer = (await auth.signed_up(banned, password=None))["customer"]["id"]
    assert (await auth.project.client.post(f"/customers/{customer}/ban", {"reason": "Fraud"})).status_code == 200
    pages = [(await asked(browser, email)).text.replace(email, "X") for email in (known, banned, unknown)]
    pages = [re.sub(r"[\w%]+%40example.com", "X", page) for page in pages]
    assert pages[0] == pages[1] == pages[2]


async def test_an_address_that_is_none_is_asked_for_again(browser):
    page = await asked(browser, "ada")
    assert page.response.status_code == 400
    assert 'id="email"' in page.text
    assert 'id="password"' not in page.text


async def test_a_form_with_address_and_password_still_works(auth, browser):
    """Pages that were open, or saved, when the sign-in asked for both."""
    address = new_address()
    await auth.signed_up(address)
    first = await browser.open("sign-in", **FLOW)
    await redeemed(auth, await browser.submit(first, email=address, password=GOOD))
    wrong = await browser.submit(first, email=address, password="not this one")
    assert (wrong.response.status_code, 'id="password"' in wrong.text) == (401, True)
    for email in ("", "ada"):
        page = await browser.submit(first, email=email, password=GOOD)
        assert (page.response.status_code, 'id="email"' in page.text) == (400, True), "the address can be corrected"


async def test_the_page_is_shown_in_another_language_for_the_same_address(browser):
    page = await asked(browser, "ada@example.com")
    german = await browser.submit(page, f"{browser.base}/sign-in?lang=de", switch="de")
    assert german.response.headers["content-language"] == "de"
    assert "<p>ada@example.com</p>" in german.text


async def test_only_methods_of_the_organization_that_has_the_domain_are_offered(auth, browser, world):
    domain = f"{new_address().partition('@')[0]}.example"
    client = auth.project.client
    created = await client.post("/b2b/organizations", {"name": "Linden"})
    organization = created.json()["id"]
    assert (await client.post(f"/b2b/organizations/{organization}/domains", {"domain": domain})).status_code == 201
    rules = {"allowedMethods": ["EMAIL_CODE"]}
    assert (await client.patch(f"/b2b/organizations/{organization}", rules)).status_code == 200
    assert 'id="password"' in (await asked(browser, f"ada@{domain}")).text, "the domain is not verified"
    async with world.db.connection() as connection:
        verified = "update organization_domains set status = 'VERIFIED', auto_join_enabled = true where domain = %s"
        await connection.execute(verified, [domain])
    page = await asked(browser, f"ada@{domain.upper()}")
    assert 'id="password"' not in page.text
    assert "Use a passkey" not in page.text
    assert page.actions[0].endswith("/auth/pages/code")
    assert 'id="password"' in (await asked(browser, "ada@example.com")).text


async def test_the_code_page_says_until_when_the_code_is_valid(auth, browser, clock):
    page = await browser.submit(await browser.open("sign-in", **FLOW), f"{browser.base}/code", email="ada@example.com")
    match = re.search(r'<time datetime="([^"]+)" data-left="\| left"', page.text)
    assert match
    assert match[1] == (clock() + timedelta(minutes=10)).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    assert re.search(r'<button class="second" data-wait="\d+">Send a new code</button>', page.text)


HOSTS = {
    "https://accounts.google.com": "#4285F4",
    "https://gitlab.com": 'data-icon="GITLAB"',
    "https://slack.com": 'data-icon="SLACK"',
    "https://login.acme.example": None,
}


@pytest.mark.parametrize("issuer", HOSTS)
async def test_a_provider_has_the_icon_of_its_issuer(auth, browser, issuer):
    await put(auth, "ACME", issuer, kind="OIDC", name="Acme")
    text = (await browser.open("sign-in", **FLOW)).text
    button = re.search(r'<a class="button second".*?</a>', text, re.DOTALL)
    assert button
    icon = HOSTS[issuer]
    assert (icon in button[0]) if icon else ("<svg" not in button[0])
