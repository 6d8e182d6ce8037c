"""Passkeys of developers."""

from datetime import timedelta

import pytest

from tests.conftest import PASSWORD, Client
from tests.platform.accounts.test_mfa import enrol
from tests.security.authenticator import Authenticator

UNKNOWN_ID = "01980f6e-9d3a-7c41-9d5b-0f0e5a3b2c1d"


async def begin(account, **more):
    return await account.owner.post("/auth/passkeys/register/options", {"password": PASSWORD, **more})


async def with_passkey(account, **more):
    """Add a passkey to the owner; returns the authenticator, the response and the request body."""
    started = (await begin(account, **more)).json()
    device = Authenticator()
    body = {"challengeId": started["challengeId"], "credential": device.register(started["options"]), "name": "Laptop"}
    added = await account.owner.post("/auth/passkeys/register", body)
    assert added.status_code == 201, added.text
    return device, added.json(), body


async def sign_in_with(account, device, *, origin="http://127.0.0.1:8025", change=None):
    started = (await account.stranger.post("/auth/passkeys/sign-in/options")).json()
    answer = device.sign_in(started["options"], origin)
    if change:
        change(answer)
    return await account.stranger.post(
        "/auth/passkeys/sign-in", {"challengeId": started["challengeId"], "credential": answer}
    )


async def test_a_passkey_is_added_used_and_removed(account):
    device, added, _ = await with_passkey(account)
    assert added["name"] == "Laptop"
    signed_in = await sign_in_with(account, device)
    assert signed_in.status_code == 200, signed_in.text
    assert signed_in.json()["developer"]["email"] == account.tenant.email
    client = Client(account.stranger.app, signed_in.json()["accessToken"])
    passkeys = (await client.get("/auth/passkeys")).json()
    assert [(passkey["id"], passkey["lastUsedAt"] is not None) for passkey in passkeys] == [(added["id"], True)]
    assert (await account.owner.delete(f"/auth/passkeys/{added['id']}")).status_code == 204
    again = await account.owner.delete(f"/auth/passkeys/{added['id']}")
    assert (again.status_code, again.json()["code"]) == (404, "passkey_missing")
    assert (await account.owner.get("/auth/passkeys")).json() == []
    refused = await sign_in_with(account, device)
    assert (refused.status_code, refused.json()["code"]) == (401, "sign_in_failed")


async def test_adding_and_removing_is_audited_and_mailed(account):
    _, added, _ = await with_passkey(account)
    assert (await account.mail(account.tenant.email, "A passkey was added"))["To"] == account.tenant.email
    assert (await account.owner.delete(f"/auth/passkeys/{added['id']}")).status_code == 204
    assert (await account.mail(account.tenant.email, "A passkey was removed"))["To"] == account.tenant.email
    entries = (await account.owner.get("/account/audit-log?action=member.*")).json()["data"]
    metadata_by_action = {entry["action"]: entry["metadata"] for entry in entries}
    assert metadata_by_action["member.passkey_added"] == {"passkeyId": added["id"], "name": "Laptop"}
    assert metadata_by_action["member.passkey_removed"] == {"passkeyId": added["id"]}


async def test_adding_requires_the_password_and_the_second_factor(account, clock):
    wrong = await begin(account, password="wrong")
    assert (wrong.status_code, wrong.json()["code"]) == (403, "password_wrong")
    early = await begin(account, code="123456")
    assert (early.status_code, early.json()["code"]) == (409, "mfa_not_enrolled")
    _, codes = await enrol(account, clock)
    without = await begin(account)
    assert (without.status_code, without.json()["code"]) == (401, "mfa_required")
    guessed = await begin(account, code="000000")
    assert (guessed.status_code, guessed.json()["code"]) == (403, "code_wrong")
    device, _, _ = await with_passkey(account, code=codes[0])
    assert (await sign_in_with(account, device)).status_code == 200, "a passkey is both factors"


async def test_a_passkey_must_verify_its_user(account):
    started = (await begin(account)).json()
    assert started["options"]["authenticatorSelection"]["userVerification"] == "required"
    unverifying_device = Authenticator(verifies_user=False)
    body = {"challengeId": started["challengeId"], "credential": unverifying_device.register(started["options"])}
    refused = await account.owner.post("/auth/passkeys/register", body)
    assert (refused.status_code, refused.json()["errors"][0]["path"]) == (400, "/credential")
    device, _, _ = await with_passkey(account)
    device.flags = 0x01
    assert (await sign_in_with(account, device)).status_code == 401


async def test_a_passkey_response_is_bound_to_challenge_origin_and_owner(account, clock):
    device, _, body = await with_passkey(account)
    assert (await account.owner.post("/auth/passkeys/register", body)).status_code == 401, "the challenge was used"
    assert (await sign_in_with(account, device, origin="https://evil.example")).status_code == 401

    def forge_signature(answer):
        answer["response"]["signature"] = answer["response"]["signature"][:-8] + "AAAAAAAA"

    def replace_owner(answer):
        answer["response"]["userHandle"] = "AAAAAAAAAAAAAAAAAAAAAA"

    def remove_response(answer):
        answer["response"] = "nothing"

    for change in (forge_signature, replace_owner, remove_response):
        assert (await sign_in_with(account, device, change=change)).status_code == 401
    started = (await account.stranger.post("/auth/passkeys/sign-in/options")).json()
    late = {"challengeId": started["challengeId"], "credential": device.sign_in(started["options"])}
    clock.move(timedelta(minutes=5, seconds=1))
    response = await account.stranger.post("/auth/passkeys/sign-in", late)
    assert (response.status_code, response.json()["code"]) == (401, "code_invalid")


async def test_a_cloned_authenticator_is_refused(account):
    device, _, _ = await with_passkey(account)
    assert (await sign_in_with(account, device)).status_code == 200
    device.device.sign_count = 0
    assert (await sign_in_with(account, device)).status_code == 401


async def test_options_of_one_developer_do_not_work_for_another(account):
    started = (await begin(account)).json()
    _, other = await account.member()
    body = {"challengeId": started["challengeId"], "credential": Authenticator().register(started["options"])}
    refused = await other.post("/auth/passkeys/register", body)
    assert (refused.status_code, refused.json()["code"]) == (401, "code_invalid")
    _, added, _ = await with_passkey(account)
    assert (await other.get("/auth/passkeys")).json() == []
    assert (await other.delete(f"/auth/passkeys/{added['id']}")).status_code == 404


@pytest.mark.parametrize("challenge", ["", "nonsense", UNKNOWN_ID])
async def test_malformed_responses_are_refused(account, challenge):
    body = {"challengeId": challenge, "credential": {"rawId": "AbCd"}}
    assert (await account.stranger.post("/auth/passkeys/sign-in", body)).status_code == 401
    assert (await account.owner.post("/auth/passkeys/register", body)).status_code == 401
    large = {"challengeId": challenge, "credential": {"rawId": "A" * 17_000}}
    refused = await account.owner.post("/auth/passkeys/register", large)
    assert (refused.status_code, refused.json()["errors"][0]["path"]) == (400, "/credential")


async def test_a_developer_has_at_most_twenty_passkeys(account):
    for _ in range(20):
        await with_passkey(account)
    refused = await begin(account)
    assert (refused.status_code, refused.json()["code"]) == (422, "too_many_passkeys")


async def test_passkeys_are_deleted_with_their_developer(account, world):
    member_id, client = await account.member()
    started = (await client.post("/auth/passkeys/register/options", {"password": PASSWORD})).json()
    device = Authenticator()
    body = {"challengeId": started["challengeId"], "credential": device.register(started["options"])}
    assert (await client.post("/auth/passkeys/register", body)).status_code == 201
    assert (await account.owner.delete(f"/account/members/{member_id}")).status_code in (200, 204)
    assert (await sign_in_with(account, device)).status_code == 401
    async with world.db.connection() as connection:
        row = await (
            await connection.execute("select count(*) from passkeys where subject_id = %s", [member_id])
        ).fetchone()
    assert row == (0,)


async def test_passkeys_of_customers_do_not_sign_in_developers(account):
    """Both are in one table, and customers' passkeys use the server's own domain unless the project sets another."""
    device, _, _ = await with_passkey(account)
    auth = Client(account.stranger.app, None, f"/projects/{account.tenant.id}/auth")
    started = (await auth.post("/passkeys/sign-in/options")).json()
    answer = device.sign_in(started["options"])
    body = {"challengeId": started["challengeId"], "credential": answer}
    assert (await auth.post("/passkeys/sign-in", body)).status_code == 401
    assert (await account.stranger.post("/auth/passkeys/sign-in", body)).status_code == 401
