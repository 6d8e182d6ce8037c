"""Passkeys of developers."""

from datetime import timedelta

import pytest

from tests.conftest import PASSWORD, Client
from tests.platform.accounts.test_mfa import enrol
from tests.security.authenticator import Authenticator

NOBODY = "01980f6e-9d3a-7c41-9d5b-0f0e5a3b2c1d"


async def begin(house, **more):
    return await house.owner.post("/auth/passkeys/register/options", {"password": PASSWORD, **more})


async def with_passkey(house, **more):
    """Add a passkey to the owner; returns the authenticator, the response and the request body."""
    begun = (await begin(house, **more)).json()
    device = Authenticator()
    body = {"challengeId": begun["challengeId"], "credential": device.register(begun["options"]), "name": "Laptop"}
    added = await house.owner.post("/auth/passkeys/register", body)
    assert added.status_code == 201, added.text
    return device, added.json(), body


async def use(house, device, *, origin="http://127.0.0.1:8025", change=None):
    begun = (await house.stranger.post("/auth/passkeys/sign-in/options")).json()
    proof = device.sign_in(begun["options"], origin)
    if change:
        change(proof)
    return await house.stranger.post(
        "/auth/passkeys/sign-in", {"challengeId": begun["challengeId"], "credential": proof}
    )


async def test_a_passkey_is_added_used_and_removed(house):
    device, added, _ = await with_passkey(house)
    assert added["name"] == "Laptop"
    signed_in = await use(house, device)
    assert signed_in.status_code == 200, signed_in.text
    assert signed_in.json()["developer"]["email"] == house.tenant.email
    client = Client(house.stranger.app, signed_in.json()["accessToken"])
    listed = (await client.get("/auth/passkeys")).json()
    assert [(each["id"], each["lastUsedAt"] is not None) for each in listed] == [(added["id"], True)]
    assert (await house.owner.delete(f"/auth/passkeys/{added['id']}")).status_code == 204
    again = await house.owner.delete(f"/auth/passkeys/{added['id']}")
    assert (again.status_code, again.json()["code"]) == (404, "passkey_missing")
    assert (await house.owner.get("/auth/passkeys")).json() == []
    refused = await use(house, device)
    assert (refused.status_code, refused.json()["code"]) == (401, "sign_in_failed")


async def test_adding_and_removing_is_audited_and_mailed(house):
    _, added, _ = await with_passkey(house)
    assert (await house.mail(house.tenant.email, "A passkey was added"))["To"] == house.tenant.email
    assert (await house.owner.delete(f"/auth/passkeys/{added['id']}")).status_code == 204
    assert (await house.mail(house.tenant.email, "A passkey was removed"))["To"] == house.tenant.email
    entries = (await house.owner.get("/account/audit-log?action=member.*")).json()["data"]
    about = {each["action"]: each["metadata"] for each in entries}
    assert about["member.passkey_added"] == {"passkeyId": added["id"], "name": "Laptop"}
    assert about["member.passkey_removed"] == {"passkeyId": added["id"]}


async def test_adding_requires_the_password_and_the_second_factor(house, clock):
    wrong = await begin(house, password="wrong")
    assert (wrong.status_code, wrong.json()["code"]) == (403, "password_wrong")
    early = await begin(house, code="123456")
    assert (early.status_code, early.json()["code"]) == (409, "mfa_not_enrolled")
    _, codes = await enrol(house, clock)
    without = await begin(house)
    assert (without.status_code, without.json()["code"]) == (401, "mfa_required")
    guessed = await begin(house, code="000000")
    assert (guessed.status_code, guessed.json()["code"]) == (403, "code_wrong")
    device, _, _ = await with_passkey(house, code=codes[0])
    assert (await use(house, device)).status_code == 200, "a passkey is both factors"


async def test_a_passkey_must_verify_its_user(house):
    begun = (await begin(house)).json()
    assert begun["options"]["authenticatorSelection"]["userVerification"] == "required"
    weak = Authenticator(verifies_user=False)
    body = {"challengeId": begun["challengeId"], "credential": weak.register(begun["options"])}
    refused = await house.owner.post("/auth/passkeys/register", body)
    assert (refused.status_code, refused.json()["errors"][0]["path"]) == (400, "/credential")
    device, _, _ = await with_passkey(house)
    device.flags = 0x01
    assert (await use(house, device)).status_code == 401


async def test_a_passkey_response_is_bound_to_challenge_origin_and_owner(house, clock):
    device, _, body = await with_passkey(house)
    assert (await house.owner.post("/auth/passkeys/register", body)).status_code == 401, "the challenge was used"
    assert (await use(house, device, origin="https://evil.example")).status_code == 401

    def forged(proof):
        proof["response"]["signature"] = proof["response"]["signature"][:-8] + "AAAAAAAA"

    def another_owner(proof):
        proof["response"]["userHandle"] = "AAAAAAAAAAAAAAAAAAAAAA"

    def nonsense(proof):
        proof["response"] = "nothing"

    for change in (forged, another_owner, nonsense):
        assert (await use(house, device, change=change)).status_code == 401
    begun = (await house.stranger.post("/auth/passkeys/sign-in/options")).json()
    late = {"challengeId": begun["challengeId"], "credential": device.sign_in(begun["options"])}
    clock.move(timedelta(minutes=5, seconds=1))
    answer = await house.stranger.post("/auth/passkeys/sign-in", late)
    assert (answer.status_code, answer.json()["code"]) == (401, "code_invalid")


async def test_a_cloned_authenticator_is_refused(house):
    device, _, _ = await with_passkey(house)
    assert (await use(house, device)).status_code == 200
    device.device.sign_count = 0
    assert (await use(house, device)).status_code == 401


async def test_options_of_one_developer_do_not_work_for_another(house):
    begun = (await begin(house)).json()
    _, other = await house.member()
    body = {"challengeId": begun["challengeId"], "credential": Authenticator().register(begun["options"])}
    refused = await other.post("/auth/passkeys/register", body)
    assert (refused.status_code, refused.json()["code"]) == (401, "code_invalid")
    _, added, _ = await with_passkey(house)
    assert (await other.get("/auth/passkeys")).json() == []
    assert (await other.delete(f"/auth/passkeys/{added['id']}")).status_code == 404


@pytest.mark.parametrize("challenge", ["", "nonsense", NOBODY])
async def test_malformed_responses_are_refused(house, challenge):
    body = {"challengeId": challenge, "credential": {"rawId": "AbCd"}}
    assert (await house.stranger.post("/auth/passkeys/sign-in", body)).status_code == 401
    assert (await house.owner.post("/auth/passkeys/register", body)).status_code == 401
    large = {"challengeId": challenge, "credential": {"rawId": "A" * 17_000}}
    refused = await house.owner.post("/auth/passkeys/register", large)
    assert (refused.status_code, refused.json()["errors"][0]["path"]) == (400, "/credential")


async def test_a_developer_has_at_most_twenty_passkeys(house):
    for _ in range(20):
        await with_passkey(house)
    refused = await begin(house)
    assert (refused.status_code, refused.json()["code"]) == (422, "too_many_passkeys")


async def test_passkeys_are_deleted_with_their_developer(house, world):
    member_id, client = await house.member()
    begun = (await client.post("/auth/passkeys/register/options", {"password": PASSWORD})).json()
    device = Authenticator()
    body = {"challengeId": begun["challengeId"], "credential": device.register(begun["options"])}
    assert (await client.post("/auth/passkeys/register", body)).status_code == 201
    assert (await house.owner.delete(f"/account/members/{member_id}")).status_code in (200, 204)
    assert (await use(house, device)).status_code == 401
    async with world.db.connection() as connection:
        row = await (
            await connection.execute("select count(*) from passkeys where subject_id = %s", [member_id])
        ).fetchone()
    assert row == (0,)


async def test_passkeys_of_customers_do_not_sign_in_developers(house):
    """Both are in one table, and customers' passkeys use the server's own domain unless the project sets another."""
    device, _, _ = await with_passkey(house)
    auth = Client(house.stranger.app, None, f"/projects/{house.tenant.id}/auth")
    begun = (await auth.post("/passkeys/sign-in/options")).json()
    proof = device.sign_in(begun["options"])
    body = {"challengeId": begun["challengeId"], "credential": proof}
    assert (await auth.post("/passkeys/sign-in", body)).status_code == 401
    assert (await house.stranger.post("/auth/passkeys/sign-in", body)).status_code == 401
