"""The developer's own profile and password, and the name of the account."""

from uuid import uuid4

import pytest

from tests.conftest import PASSWORD, Client
from tests.platform.accounts.members import sign_up_and_verify, system_mails, token_in

NEW_PASSWORD = "an entirely new password"


async def test_a_profile_has_the_developer_and_the_account(account):
    profile = (await account.owner.get("/account")).json()
    assert (profile["email"], profile["name"], profile["role"]) == (account.tenant.email, "Ada", "OWNER")
    assert (profile["mfaEnabledAt"], profile["pendingEmail"]) == (None, None)
    assert [project["id"] for project in profile["projects"]] == [account.tenant.id]


async def test_changed_names_are_audited(account):
    changed = await account.owner.patch("/account", {"name": "Ada Lovelace", "accountName": "Acme"})
    assert (changed.json()["name"], changed.json()["account"]["name"]) == ("Ada Lovelace", "Acme")
    log = (await account.owner.get("/account/audit-log")).json()["data"]
    assert [entry["action"] for entry in log][:2] == ["member.updated", "account.renamed"]
    late = await account.owner.patch("/account", {"name": "x"}, headers={"if-match": '"0"'})
    assert late.status_code == 412


async def test_a_viewer_renames_themselves_but_not_the_account(account):
    _, viewer = await account.member("VIEWER")
    assert (await viewer.patch("/account", {"name": "Me"})).json()["name"] == "Me"
    assert (await viewer.patch("/account", {"name": "You", "accountName": "Mine"})).status_code == 403
    assert (await viewer.get("/account")).json()["name"] == "Me"


async def test_a_new_address_applies_after_confirmation(account, stranger):
    old, new = account.tenant.email, f"{uuid4().hex[:12]}@example.com"
    without = await account.owner.patch("/account", {"email": new})
    assert (without.status_code, without.json()["errors"][0]["path"]) == (400, "/password")
    requested = await account.owner.patch("/account", {"email": new, "password": PASSWORD})
    assert (requested.json()["email"], requested.json()["pendingEmail"]) == (old, new)
    token = token_in(await account.mail(new))
    assert system_mails(account.world, old)[-1]["Subject"] == "A change of your address was requested"
    assert (await stranger.post("/auth/sign-in", {"email": new, "password": PASSWORD})).status_code == 401
    assert (await stranger.post("/auth/verify-email", {"token": token})).json() == {"email": new}
    profile = (await account.owner.get("/account")).json()
    assert (profile["email"], profile["pendingEmail"]) == (new, None)
    assert (await stranger.post("/auth/sign-in", {"email": new, "password": PASSWORD})).status_code == 200
    assert (await account.mail(old))["Subject"] == "Your address was changed"


@pytest.mark.parametrize("method", ["changed", "reset"])
async def test_a_new_password_ends_a_change_of_address(account, stranger, method):
    """If an attacker with a session has requested a new address, the owner's new password invalidates the link."""
    own_address, attackers_address = account.tenant.email, f"{uuid4().hex[:12]}@example.com"
    requested = await account.owner.patch("/account", {"email": attackers_address, "password": PASSWORD})
    assert requested.json()["pendingEmail"] == attackers_address
    token = token_in(await account.mail(attackers_address))
    if method == "changed":
        response = await account.owner.patch(
            "/account/password", {"currentPassword": PASSWORD, "newPassword": NEW_PASSWORD}
        )
    else:
        await stranger.post("/auth/password/forgot", {"email": own_address})
        reset = token_in(await account.mail(own_address, "Reset your password"))
        response = await stranger.post("/auth/password/reset", {"token": reset, "newPassword": NEW_PASSWORD})
    assert response.status_code == 204
    refused = await stranger.post("/auth/verify-email", {"token": token})
    assert (refused.status_code, refused.json()["code"]) == (400, "link_invalid")
    signed_in = (await stranger.post("/auth/sign-in", {"email": own_address, "password": NEW_PASSWORD})).json()
    profile = (await Client(stranger.app, signed_in["accessToken"]).get("/account")).json()
    assert (profile["email"], profile["pendingEmail"]) == (own_address, None)


async def test_an_address_of_another_developer_cannot_be_taken(account, new_project, stranger, world):
    """The response is the same as for any address; the owner of the address is informed by mail, without a link.

    Regression test of S10 (tests/defects.md).
    """
    other_project, free_address = await new_project(), f"{uuid4().hex[:12]}@example.com"
    for address in (other_project.email, free_address):
        requested = await account.owner.patch("/account", {"email": address, "password": PASSWORD})
        assert (requested.status_code, requested.json()["pendingEmail"]) == (200, address)
    mail = await account.mail(other_project.email)
    assert mail["Subject"] == "You already have an account"
    assert "token=" not in mail.get_body(("plain",)).get_content()
    new = f"{uuid4().hex[:12]}@example.com"
    await account.owner.patch("/account", {"email": new, "password": PASSWORD})
    token = token_in(await account.mail(new))
    await sign_up_and_verify(stranger, account.run_due_work, world, new)
    late = await stranger.post("/auth/verify-email", {"token": token})
    assert (late.status_code, late.json()["code"]) == (409, "email_taken")


async def test_a_new_password_ends_the_other_sessions(account, stranger):
    body = {"email": account.tenant.email, "password": PASSWORD}
    other = (await stranger.post("/auth/sign-in", body)).json()
    wrong = await account.owner.patch("/account/password", {"currentPassword": "no", "newPassword": NEW_PASSWORD})
    assert (wrong.status_code, wrong.json()["code"]) == (403, "password_wrong")
    change = {"currentPassword": PASSWORD, "newPassword": NEW_PASSWORD}
    assert (await account.owner.patch("/account/password", change)).status_code == 204
    assert (await account.owner.get("/account")).status_code == 200
    assert (await Client(stranger.app, other["accessToken"]).get("/account")).status_code == 401
    assert (await stranger.post("/auth/refresh", {"refreshToken": other["refreshToken"]})).status_code == 401
    assert (await stranger.post("/auth/sign-in", body)).status_code == 401
    assert (await stranger.post("/auth/sign-in", {**body, "password": NEW_PASSWORD})).status_code == 200


async def test_wrong_passwords_in_a_session_lock_the_account(account):
    responses = [
        await account.owner.patch("/account/password", {"currentPassword": f"no {number}", "newPassword": NEW_PASSWORD})
        for number in range(11)
    ]
    assert [response.status_code for response in responses] == [403] * 10 + [429]


@pytest.mark.parametrize("body", [{"name": "a\nb"}, {"accountName": ""}, {"accountName": "a\rb"}, {"role": "OWNER"}])
async def test_invalid_profiles_are_refused(account, body):
    assert (await account.owner.patch("/account", body)).status_code == 400


async def test_mails_to_new_addresses_are_limited_for_each_developer(account):
    """Otherwise a developer could have the server mail any number of strangers."""
    for _ in range(10):
        body = {"email": f"{uuid4().hex[:12]}@example.com", "password": PASSWORD}
        assert (await account.owner.patch("/account", body)).status_code == 200
    body = {"email": f"{uuid4().hex[:12]}@example.com", "password": PASSWORD}
    refused = await account.owner.patch("/account", body)
    assert (refused.status_code, refused.json()["code"]) == (429, "too_many_requests")


async def test_a_stranger_cannot_prevent_a_change_of_address(account, app):
    """Sign-ups with addresses of the same mailbox, from many networks, count for the new address."""
    local = uuid4().hex[:12]
    new = f"{local}@example.com"
    for number in range(31):
        body = {"email": f"{local}+{number}@example.com", "password": PASSWORD, "name": "Mallory"}
        await Client(app, ip=f"198.51.{number % 4}.{number}").post("/auth/sign-up", body)
    requested = await account.owner.patch("/account", {"email": new, "password": PASSWORD})
    assert (requested.status_code, requested.json().get("pendingEmail")) == (200, new)


async def test_rejected_sign_ups_do_not_use_up_the_limit_of_an_address(app):
    local = uuid4().hex[:12]
    for number in range(40):
        body = {"email": f"{local}+{number}@example.com", "password": "password", "name": "Mallory"}
        refused = await Client(app, ip=f"198.51.{number % 4}.7").post("/auth/sign-up", body)
        assert (refused.status_code, refused.json()["code"]) == (400, "password_common")
    body = {"email": f"{local}@example.com", "password": PASSWORD, "name": "Ada"}
    assert (await Client(app, ip="192.0.2.1").post("/auth/sign-up", body)).status_code == 201
