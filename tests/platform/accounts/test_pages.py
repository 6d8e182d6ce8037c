"""The pages to which links in mail lead."""

import re
from uuid import uuid4

import pytest

from tests.conftest import PASSWORD
from tests.platform.accounts.members import token_in
from tests.platform.accounts.test_recovery import sign_up

SERVER = "http://postern.test"


def link_in(mail) -> str:
    text = mail.get_body(("plain",)).get_content()
    return SERVER + "/" + re.search(r"https?://\S+", text)[0].split("/", 3)[3]


async def test_opening_the_confirmation_page_does_not_confirm(account, stranger):
    email, session = await sign_up(stranger)
    mail = await account.mail(email)
    link, token = link_in(mail), token_in(mail)
    page = await stranger.get(link)
    assert f'value="{token}"' in page.text
    assert "default-src 'none'" in page.headers["content-security-policy"]
    assert (await session.get("/account")).json()["emailVerifiedAt"] is None
    done = await stranger.request("POST", link, data={"token": token})
    assert "is confirmed" in done.text
    assert (await stranger.post("/auth/sign-in", {"email": email, "password": PASSWORD})).status_code == 200
    again = await stranger.request("POST", link, data={"token": token})
    assert (again.status_code, again.headers["content-type"]) == (400, "text/html; charset=utf-8")


async def test_a_password_is_reset_on_a_page(account, stranger):
    await stranger.post("/auth/password/forgot", {"email": account.tenant.email})
    mail = await account.mail(account.tenant.email, "Reset your password")
    link, token = link_in(mail), token_in(mail)
    assert (await stranger.get(link)).status_code == 200
    short = await stranger.request("POST", link, data={"token": token, "password": "short"})
    assert short.status_code == 400
    assert "8 to 256" in short.text
    foreign = await stranger.request(
        "POST", link, data={"token": token, "password": "a new long one"}, headers={"origin": "https://evil.example"}
    )
    assert foreign.status_code == 403
    done = await stranger.request("POST", link, data={"token": token, "password": "a new long one"})
    assert done.status_code == 200
    body = {"email": account.tenant.email, "password": "a new long one"}
    assert (await stranger.post("/auth/sign-in", body)).status_code == 200


@pytest.mark.parametrize("path", ["/verify-email", "/reset-password", "/join", "/billing/manual/00", "/inbox/sign-in"])
async def test_a_form_from_another_origin_is_refused(stranger, path):
    for origin in ("http://[", "https://evil.example", "http://postern.test@evil.example", "x", ""):
        response = await stranger.request("POST", SERVER + path, data={"token": "x"}, headers={"origin": origin})
        assert response.status_code == 403, (origin, response.text)


@pytest.mark.parametrize("path", ["/verify-email", "/reset-password", "/join", "/billing/manual/00"])
async def test_a_form_with_too_many_fields_is_refused(stranger, path):
    response = await stranger.request("POST", SERVER + path, data={f"field{number}": "x" for number in range(100)})
    assert (response.status_code, response.json()["code"]) == (400, "too_many_fields")


async def test_an_invited_developer_joins_on_a_page(account, stranger):
    email = f"{uuid4().hex[:12]}@example.com"
    token = await account.invite(email, "VIEWER")
    link = link_in(await account.mail(email))
    assert "Accept the invitation" in (await stranger.get(link)).text
    fields = {"token": token, "email": f'"><script>{email}', "name": "Grace", "password": PASSWORD}
    wrong = await stranger.request("POST", link, data=fields)
    assert wrong.status_code == 400
    assert "<script" not in wrong.text
    joined = await stranger.request("POST", link, data={**fields, "email": email})
    assert "as VIEWER" in joined.text
    assert "VIEWER" in (await account.members()).values()


async def test_values_from_a_link_are_escaped(stranger):
    page = await stranger.get(f"{SERVER}/verify-email", params={"token": '"><script>alert(1)</script>'})
    assert "<script" not in page.text
