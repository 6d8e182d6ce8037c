"""The developer's own profile and password, and the name of the account."""

from uuid import uuid4

import pytest

from tests.conftest import PASSWORD, Client
from tests.platform.accounts.members import proven_sign_up, system_mails, token_in

NEW = "an entirely new password"


async def test_a_profile_has_the_developer_and_the_account(house):
    profile = (await house.owner.get("/account")).json()
    assert (profile["email"], profile["name"], profile["role"]) == (house.tenant.email, "Ada", "OWNER")
    assert (profile["mfaEnabledAt"], profile["pendingEmail"]) == (None, None)
    assert [each["id"] for each in profile["projects"]] == [house.tenant.id]


async def test_changed_names_are_audited(house):
    changed = await house.owner.patch("/account", {"name": "Ada Lovelace", "accountName": "Acme"})
    assert (changed.json()["name"], changed.json()["account"]["name"]) == ("Ada Lovelace", "Acme")
    log = (await house.owner.get("/account/audit-log")).json()["data"]
    assert [each["action"] for each in log][:2] == ["member.updated", "account.renamed"]
    late = await house.owner.patch("/account", {"name": "x"}, headers={"if-match": '"0"'})
    assert late.status_code == 412


async def test_a_viewer_renames_themselves_but_not_the_account(house):
    _, viewer = await house.member("VIEWER")
    assert (await viewer.patch("/account", {"name": "Me"})).json()["name"] == "Me"
    assert (await viewer.patch("/account", {"name": "You", "accountName": "Mine"})).status_code == 403
    assert (await viewer.get("/account")).json()["name"] == "Me"


async def test_a_new_address_applies_after_confirmation(house, stranger):
    old, new = house.tenant.email, f"{uuid4().hex[:12]}@example.com"
    without = await house.owner.patch("/account", {"email": new})
    assert (without.status_code, without.json()["errors"][0]["path"]) == (400, "/password")
    asked = await house.owner.patch("/account", {"email": new, "password": PASSWORD})
    assert (asked.json()["email"], asked.json()["pendingEmail"]) == (old, new)
    token = token_in(await house.mail(new))
    assert system_mails(house.world, old)[-1]["Subject"] == "A change of your address was requested"
    assert (await stranger.post("/auth/sign-in", {"email": new, "password": PASSWORD})).status_code == 401
    assert (await stranger.post("/auth/verify-email", {"token": token})).json() == {"email": new}
    profile = (await house.owner.get("/account")).json()
    assert (profile["email"], profile["pendingEmail"]) == (new, None)
    assert (await stranger.post("/auth/sign-in", {"email": new, "password": PASSWORD})).status_code == 200
    assert (await house.mail(old))["Subject"] == "Your address was changed"


@pytest.mark.parametrize("how", ["changed", "reset"])
async def test_a_new_password_ends_a_change_of_address(house, stranger, how):
    """If an attacker with a session has requested a new address, the owner's new password invalidates the link."""
    mine, thiefs = house.tenant.email, f"{uuid4().hex[:12]}@example.com"
    asked = await house.owner.patch("/account", {"email": thiefs, "password": PASSWORD})
    assert asked.json()["pendingEmail"] == thiefs
    token = token_in(await house.mail(thiefs))
    if how == "changed":
        done = await house.owner.patch("/account/password", {"currentPassword": PASSWORD, "newPassword": NEW})
    else:
        await stranger.post("/auth/password/forgot", {"email": mine})
        reset = token_in(await house.mail(mine, "Reset your password"))
        done = await stranger.post("/auth/password/reset", {"token": reset, "newPassword": NEW})
    assert done.status_code == 204
    refused = await stranger.post("/auth/verify-email", {"token": token})
    assert (refused.status_code, refused.json()["code"]) == (400, "link_invalid")
    into = (await stranger.post("/auth/sign-in", {"email": mine, "password": NEW})).json()
    profile = (await Client(stranger.app, into["accessToken"]).get("/account")).json()
    assert (profile["email"], profile["pendingEmail"]) == (mine, None)


async def test_an_address_of_another_developer_cannot_be_taken(house, new_project, stranger, world):
    """The response is the same as for any address; the owner of the address is informed by mail, without a link.

    Defects: S10
    """
    theirs, nobodys = await new_project(), f"{uuid4().hex[:12]}@example.com"
    for address in (theirs.email, nobodys):
        asked = await house.owner.patch("/account", {"email": address, "password": PASSWORD})
        assert (asked.status_code, asked.json()["pendingEmail"]) == (200, address)
    mail = await house.mail(theirs.email)
    assert mail["Subject"] == "You already have an account"
    assert "token=" not in mail.get_body(("plain",)).get_content()
    new = f"{uuid4().hex[:12]}@example.com"
    await house.owner.patch("/account", {"email": new, "password": PASSWORD})
    token = token_in(await house.mail(new))
    await proven_sign_up(stranger, house.work_off, world, new)
    late = await stranger.post("/auth/verify-email", {"token": token})
    assert (late.status_code, late.json()["code"]) == (409, "email_taken")


async def test_a_new_password_ends_the_other_sessions(house, stranger):
    body = {"email": house.tenant.email, "password": PASSWORD}
    other = (await stranger.post("/auth/sign-in", body)).json()
    wrong = await house.owner.patch("/account/password", {"currentPassword": "no", "newPassword": NEW})
    assert (wrong.status_code, wrong.json()["code"]) == (403, "password_wrong")
    change = {"currentPassword": PASSWORD, "newPassword": NEW}
    assert (await house.owner.patch("/account/password", change)).status_code == 204
    assert (await house.owner.get("/account")).status_code == 200
    assert (await Client(stranger.app, other["accessToken"]).get("/account")).status_code == 401
    assert (await stranger.post("/auth/refresh", {"refreshToken": other["refreshToken"]})).status_code == 401
    assert (await stranger.post("/auth/sign-in", body)).status_code == 401
    assert (await stranger.post("/auth/sign-in", {**body, "password": NEW})).status_code == 200


async def test_wrong_passwords_in_a_session_lock_the_account(house):
    answers = [
        await house.owner.patch("/account/password", {"currentPassword": f"no {number}", "newPassword": NEW})
        for number in range(11)
    ]
    assert [each.status_code for each in answers] == [403] * 10 + [429]


@pytest.mark.parametrize("body", [{"name": "a\nb"}, {"accountName": ""}, {"accountName": "a\rb"}, {"role": "OWNER"}])
async def test_invalid_profiles_are_refused(house, body):
    assert (await house.owner.patch("/account", body)).status_code == 400
