"""Hostile visitors of the account and organization pages: strange input, stale sessions, and members without rights."""

import re
from datetime import timedelta
from urllib.parse import urlencode

import pytest

from tests.identity.self_service.conftest import APP_URL, GOOD, Visitor, heading, new_address, problem_of

FORM = {"content-type": "application/x-www-form-urlencoded"}


@pytest.fixture
async def owned(auth, directory):
    """An organization, and a browser in which its owner is signed in."""
    await auth.settings(redirectUrls=[APP_URL], appName="Northwind")
    organization = await directory.organization("Acme")
    browser = await member_browser(auth, directory, organization, "OWNER")
    return organization, browser


async def member_browser(auth, directory, organization, role):
    customer, browser = await directory.member(organization, role), Visitor(auth)
    await browser.sign_in(customer["email"], path=f"organizations/{organization['id']}")
    return browser


async def test_strange_input_is_no_internal_error(auth, owned):
    organization, browser = owned
    path = f"organizations/{organization['id']}"
    token = (await browser.open("account")).hidden()["formToken"]
    for query in ("q=%00", "q=%ff%fe", "q=%ED%A0%80", "cursor=%00", "returnUrl=%00", "state=%C3%A9.%C3%A9&code=%00"):
        for page in (path, "account", "account/emails/remove", "account/connected", "account/signed-in"):
            response = await browser.send("GET", f"/{page}?{query}", follow=False)
            assert response.status_code < 500, (page, query)
    fields = {
        f"{path}/rules": "methodPASSWORD=1&idle=&lifetime",
        f"{path}/invitations": "role=MEMBER&email",
        f"{path}/domains": "domain",
        "account/name": "name",
        "account/emails/add": "email",
        "account/emails/code": "code=123456&challengeId",
        "account/passkeys/add": "challengeId=x&credential",
        "account/totp/off": "code",
        "account/identities/%00/connect": "x",
        "account/identities/%C3%A9%ff/disconnect": "x",
    }
    for page, name in fields.items():
        for value in ("%00", "%ff%fe", "%ED%A0%80", "9" * 6000, "%C2%B2", "{}", "[]", "x" * 60_000):
            body = f"formToken={token}&{name}={value}"
            response = await browser.send("POST", f"/{page}", content=body, headers=FORM, follow=False)
            assert response.status_code < 500, (page, value[:20])
        response = await browser.send("POST", f"/{page}", content="formToken=%C3%A9", headers=FORM, follow=False)
        assert response.status_code < 500, page


async def test_a_stale_session_does_not_see_the_key_of_a_set_up(auth, visitor, address, clock):
    """A stolen session must not learn the second factor that the owner sets up in another browser."""
    token = (await visitor.sign_in(address)).hidden()["formToken"]
    clock.move(timedelta(minutes=61))
    owner = Visitor(auth)
    page = await owner.submit(await owner.sign_in(address), "account/totp")
    key = re.search(r'class="key">([A-Z2-7 ]+)<', page.text)[1]
    body = urlencode({"formToken": token, "code": "000000"})
    seen = await visitor.send("POST", "/account/totp", content=body, headers=FORM)
    assert key not in seen.text
    assert heading(Visitor.page(seen)) == "Confirm that it is you"


async def test_a_member_touches_only_invitations_to_roles_that_the_own_roles_include(auth, owned, directory):
    organization, browser = owned
    path = f"organizations/{organization['id']}"
    invited = await browser.submit(await browser.open(path), "/invitations", email=new_address(), role="OWNER")
    urls = [re.sub(r"\?.*", "", action) for action in invited.actions if re.search("/(resend|revoke)$", action)]
    assert len(urls) == 2
    admin = await member_browser(auth, directory, organization, "ADMIN")
    page = await admin.open(path)
    assert not any(re.search("/(resend|revoke)$", action) for action in page.actions)
    for url in urls:
        body = urlencode(page.hidden())
        refused = await admin.send("POST", url, content=body, headers=FORM)
        assert (refused.status_code, "no more than your own" in refused.text) == (403, True)


async def test_a_member_cannot_fill_a_mailbox_with_invitations(auth, owned):
    """Inviting, withdrawing and inviting again would send a mail each time."""
    organization, browser = owned
    path, address = f"organizations/{organization['id']}", new_address()
    statuses = []
    for _ in range(11):
        page = await browser.submit(await browser.open(path), "/invitations", email=address, role="MEMBER")
        statuses.append(page.response.status_code)
        if page.response.status_code == 200:
            assert (await browser.submit(page, "/revoke")).response.status_code == 200
    assert statuses == [200] * 10 + [429]
    assert problem_of(page)


async def test_pages_are_neither_cached_nor_framed_and_do_not_leak_form_tokens(auth, owned):
    organization, browser = owned
    for path in ("account", f"organizations/{organization['id']}", "account/nothing", "account/delete"):
        response = await browser.send("GET", f"/{path}")
        assert "no-store" in response.headers.get("cache-control", ""), path
        assert response.status_code == 404 or response.headers["x-frame-options"] == "DENY"
    export = await browser.open("account/export")
    downloaded = await browser.submit(export, "account/export")
    assert downloaded.response.headers["cache-control"] == "no-store"
    assert GOOD not in downloaded.text


async def test_an_organization_of_others_is_named_as_such(auth, owned, directory):
    _, browser = owned
    foreign = await directory.organization("Secret name")
    page = await browser.open(f"organizations/{foreign['id']}")
    assert page.response.status_code == 404
    assert problem_of(page) == "You do not belong to this organization, or it does not exist any more."
    assert "Secret name" not in page.text


async def test_the_button_that_deletes_looks_dangerous(visitor, address):
    page = await visitor.sign_in(address, path="account/delete")
    assert '<button class="danger">' in page.text
