"""Authenticator apps, recovery codes and passkeys."""

import asyncio
import base64
from datetime import timedelta
from urllib.parse import parse_qs, urlsplit

import pytest
import webauthn
from soft_webauthn import SoftWebauthnDevice

from postern.security.totp import code_at
from tests.identity.customers.conftest import GOOD, new_address


class App:
    """An authenticator app."""

    def __init__(self, secret, clock):
        self.secret = base64.b32decode(secret)
        self.clock = clock

    def code(self):
        return code_at(self.secret, int(self.clock().timestamp()) // 30)


async def with_totp(door, clock, address):
    up = await door.signed_up(address)
    ada = door.as_(up["accessToken"])
    enrolled = (await ada.post("/mfa/totp/enroll")).json()
    assert parse_qs(urlsplit(enrolled["uri"]).query)["secret"] == [enrolled["secret"]]
    app = App(enrolled["secret"], clock)
    confirmed = await ada.post("/mfa/totp/confirm", {"code": app.code()})
    assert confirmed.status_code == 200, confirmed.text
    clock.move(timedelta(seconds=60))
    return up, ada, app, confirmed.json()["codes"]


async def test_a_second_factor_is_required_and_a_used_code_is_rejected(door, project, clock):
    address = new_address()
    _, _, app, codes = await with_totp(door, clock, address)
    assert len(set(codes)) == 10
    assert (await project.client.get("/customers?status=mfa")).json()["total"] == 1
    asked = (await door.sign_in(address)).json()
    assert (asked["mfaRequired"], asked["accessToken"], asked["refreshToken"]) == (True, None, None)
    code = app.code()
    into = await door.post("/mfa/verify", {"mfaToken": asked["mfaToken"], "code": code})
    assert into.status_code == 200
    assert into.json()["accessToken"]
    again = (await door.sign_in(address)).json()
    replayed = await door.post("/mfa/verify", {"mfaToken": again["mfaToken"], "code": code})
    assert replayed.status_code == 401, "the step was used"
    clock.move(timedelta(seconds=60))
    assert (await door.post("/mfa/verify", {"mfaToken": again["mfaToken"], "code": app.code()})).status_code == 200
    reused = await door.post("/mfa/verify", {"mfaToken": again["mfaToken"], "code": app.code()})
    assert reused.status_code == 401, "the token was used"


async def test_concurrent_uses_of_one_totp_code_succeed_once(door, clock):
    address = new_address()
    _, _, app, _ = await with_totp(door, clock, address)
    tokens = [(await door.sign_in(address)).json()["mfaToken"] for _ in range(4)]
    code = app.code()
    answers = await asyncio.gather(*(door.post("/mfa/verify", {"mfaToken": t, "code": code}) for t in tokens))
    assert sorted(each.status_code for each in answers) == [200, 401, 401, 401]


async def test_an_mfa_token_allows_five_attempts_and_is_not_a_session(door, clock):
    address = new_address()
    _, _, app, _ = await with_totp(door, clock, address)
    token = (await door.sign_in(address)).json()["mfaToken"]
    assert (await door.as_(token).get("/me")).status_code == 401
    assert (await door.post("/token/refresh", {"refreshToken": token})).status_code == 401
    wrong = f"{(int(app.code()) + 1) % 1_000_000:06d}"
    for _ in range(5):
        assert (await door.post("/mfa/verify", {"mfaToken": token, "code": wrong})).status_code == 401
    assert (await door.post("/mfa/verify", {"mfaToken": token, "code": app.code()})).status_code == 401


@pytest.mark.parametrize("way", ["password", "code", "reset"])
async def test_lockout_bypass_by_repeating_the_first_factor(door, clock, way):
    address = new_address()
    _, _, app, _ = await with_totp(door, clock, address)
    wrong = "000000" if app.code() != "000000" else "111111"

    async def begin():
        if way == "code":
            asked = (await door.post("/sign-in/code", {"email": address})).json()
            body = {"challengeId": asked["challengeId"], "code": await door.code(address)}
            return await door.post("/sign-in/code/verify", body)
        if way == "reset":
            await door.post("/password/forgot", {"email": address})
            body = {"token": await door.link_token(address), "password": GOOD}
            assert (await door.post("/password/reset", body)).status_code == 204
        return await door.sign_in(address)

    for _ in range(2):
        begun = (await begin()).json()
        for _ in range(4):
            tried = await door.post("/mfa/verify", {"mfaToken": begun["mfaToken"], "code": wrong})
            assert tried.status_code == 401
    begun = (await begin()).json()
    for _ in range(2):
        tried = await door.post("/mfa/verify", {"mfaToken": begun["mfaToken"], "code": wrong})
        assert tried.status_code == 401
    locked = await door.post("/mfa/verify", {"mfaToken": begun["mfaToken"], "code": app.code()})
    assert (locked.status_code, locked.json()["code"]) == (429, "sign_in_locked")
    assert (await door.sign_in(address)).json()["mfaRequired"], "failed second factors lock the second factor alone"
    clock.move(timedelta(minutes=16))
    begun = (await door.sign_in(address)).json()
    done = await door.post("/mfa/verify", {"mfaToken": begun["mfaToken"], "code": app.code()})
    assert done.status_code == 200, done.text


async def test_recovery_codes_work_once_and_can_be_renewed(door, clock):
    address = new_address()
    _, ada, app, codes = await with_totp(door, clock, address)
    token = (await door.sign_in(address)).json()["mfaToken"]
    body = {"mfaToken": token, "recoveryCode": codes[0]}
    assert (await door.post("/mfa/verify", body)).status_code == 200
    token = (await door.sign_in(address)).json()["mfaToken"]
    assert (await door.post("/mfa/verify", {**body, "mfaToken": token})).status_code == 401
    renewed = (await ada.post("/recovery-codes", {"code": app.code()})).json()["codes"]
    assert not set(renewed) & set(codes)
    old = await door.post("/mfa/verify", {"mfaToken": token, "recoveryCode": codes[1]})
    assert old.status_code == 401
    plain = renewed[0].replace("-", "")
    assert (await door.post("/mfa/verify", {"mfaToken": token, "recoveryCode": plain})).status_code == 200
    assert any("recovery code was used" in mail["text"] for mail in await door.mails(address))


async def test_turning_the_second_factor_off_requires_a_code(door, project, clock):
    address = new_address()
    up, ada, app, _ = await with_totp(door, clock, address)
    assert (await ada.post("/mfa/totp/enroll")).json()["code"] == "mfa_already_on"
    wrong = f"{(int(app.code()) + 1) % 1_000_000:06d}"
    assert (await ada.post("/mfa/totp/disable", {"code": wrong})).status_code == 401
    assert (await ada.post("/mfa/totp/disable", {"code": app.code()})).status_code == 204
    assert (await door.sign_in(address)).json()["mfaRequired"] is False
    assert (await ada.post("/mfa/totp/disable", {"code": app.code()})).json()["code"] == "mfa_off"
    events = (await project.client.get(f"/customers/{up['customer']['id']}/events")).json()["data"]
    assert {"customer.mfa_enabled", "customer.mfa_disabled"} <= {each["type"] for each in events}


async def test_enrollment_requires_a_recent_sign_in_and_a_first_code(door, clock):
    address = new_address()
    up = await door.signed_up(address)
    ada = door.as_(up["accessToken"])
    await ada.post("/mfa/totp/enroll")
    assert (await door.sign_in(address)).json()["mfaRequired"] is False
    clock.move(timedelta(hours=1, minutes=1))
    renewed = (await door.post("/token/refresh", {"refreshToken": up["refreshToken"]})).json()
    late = await door.as_(renewed["accessToken"]).post("/mfa/totp/enroll")
    assert (late.status_code, late.json()["code"]) == (403, "not_fresh")


@pytest.mark.parametrize("family", ["customers", "end-users"])
async def test_a_developer_can_reset_a_lost_second_factor(door, project, clock, family):
    address = new_address()
    up, _, _, codes = await with_totp(door, clock, address)
    pending = (await door.sign_in(address)).json()["mfaToken"]
    base = f"/apps/{project.id}/end-users" if family == "end-users" else "/customers"
    assert (await project.client.post(f"{base}/{up['customer']['id']}/mfa/reset")).status_code == 204
    half = await door.post("/mfa/verify", {"mfaToken": pending, "recoveryCode": codes[0]})
    assert half.status_code == 401
    assert (await door.sign_in(address)).json()["mfaRequired"] is False
    assert (await project.client.get("/customers/stats")).json()["mfaEnabled"] == 0
    assert (await project.client.post(f"{base}/{up['customer']['id']}/mfa/reset")).status_code == 204
    told = [mail for mail in await door.mails(address) if "was removed by" in mail["text"]]
    assert len(told) == 1, "whoever has the account hears of it, once"


# Passkeys.

ORIGIN = "http://127.0.0.1:8025"


def decoded(options):
    """Options as a browser hands them on: with bytes."""
    options = {**options, "challenge": webauthn.base64url_to_bytes(options["challenge"])}
    if "user" in options:
        options["user"] = {**options["user"], "id": webauthn.base64url_to_bytes(options["user"]["id"])}
    return {"publicKey": options}


def encoded(value):
    """A credential as `PublicKeyCredential.toJSON` writes it."""
    if isinstance(value, bytes):
        return webauthn.helpers.bytes_to_base64url(value)
    if isinstance(value, dict):
        return {name: encoded(each) for name, each in value.items()}
    return value


def answer_of(made):
    return {**encoded(made), "id": encoded(made["rawId"])}


async def with_passkey(door, address):
    up = await door.signed_up(address)
    ada = door.as_(up["accessToken"])
    begun = (await ada.post("/passkeys/register/options")).json()
    device = SoftWebauthnDevice()
    options = decoded(begun["options"])
    made = device.create({"publicKey": {**options["publicKey"], "attestation": "none"}}, ORIGIN)
    body = {"challengeId": begun["challengeId"], "credential": answer_of(made), "name": "Laptop"}
    added = await ada.post("/passkeys/register", body)
    assert added.status_code == 201, added.text
    return up, ada, device, added.json(), body


async def use(door, device, *, origin=ORIGIN, change=None):
    begun = (await door.post("/passkeys/sign-in/options")).json()
    proof = answer_of(device.get(decoded(begun["options"]), origin))
    if change:
        change(proof)
    return await door.post("/passkeys/sign-in", {"challengeId": begun["challengeId"], "credential": proof})


async def test_passkeys_are_added_used_listed_and_removed(door):
    address = new_address()
    up, ada, device, added, _ = await with_passkey(door, address)
    assert added["name"] == "Laptop"
    into = await use(door, device)
    assert into.status_code == 200, into.text
    assert into.json()["customer"]["id"] == up["customer"]["id"]
    assert "PASSKEY" in into.json()["customer"]["identities"]
    listed = (await ada.get("/passkeys")).json()
    assert [each["lastUsedAt"] is not None for each in listed] == [True]
    assert (await ada.client.delete(f"/passkeys/{added['id']}")).status_code == 204
    assert (await ada.client.delete(f"/passkeys/{added['id']}")).status_code == 404
    assert (await use(door, device)).status_code == 401
    assert "PASSKEY" not in (await ada.get("/me")).json()["identities"]


async def test_the_last_sign_in_method_cannot_be_removed(door):
    _, ada, device, added, _ = await with_passkey(door, new_address())
    await door.settings(methods=["PASSKEY"])
    kept = await ada.client.delete(f"/passkeys/{added['id']}")
    assert (kept.status_code, kept.json()["code"]) == (409, "last_way_in")
    assert (await use(door, device)).status_code == 200
    await door.settings(methods=["PASSKEY", "PASSWORD"])
    assert (await ada.client.delete(f"/passkeys/{added['id']}")).status_code == 204


async def test_a_passkey_of_a_merged_customer_signs_in_to_the_survivor(door, project):
    up, _, device, _, _ = await with_passkey(door, new_address())
    link = {"customerId": up["customer"]["id"], "externalUserId": "u-1"}
    assert (await project.client.post("/customers/link", link)).status_code == 200
    survivor = (await project.client.post("/customers", {"email": new_address(), "emailVerified": True})).json()
    merged = await project.client.post("/customers/link", {**link, "customerId": survivor["id"]})
    assert merged.json()["mergedCustomerId"] == up["customer"]["id"]
    into = await use(door, device)
    assert into.status_code == 200, into.text
    assert into.json()["customer"]["id"] == survivor["id"]


async def test_a_passkey_response_is_bound_to_challenge_origin_and_project(door, new_project):
    _, ada, device, _, body = await with_passkey(door, new_address())
    assert (await ada.post("/passkeys/register", body)).status_code == 401, "the challenge was used"
    assert (await use(door, device, origin="https://evil.example")).status_code == 401

    def forged(proof):
        proof["response"]["signature"] = proof["response"]["signature"][:-8] + "AAAAAAAA"

    def another_owner(proof):
        proof["response"]["userHandle"] = "AAAAAAAAAAAAAAAAAAAAAA"

    def nonsense(proof):
        proof["response"] = "nothing"

    for change in (forged, another_owner, nonsense):
        assert (await use(door, device, change=change)).status_code == 401
    begun = (await door.post("/passkeys/sign-in/options")).json()
    proof = answer_of(device.get(decoded(begun["options"]), ORIGIN))
    once = {"challengeId": begun["challengeId"], "credential": proof}
    assert (await door.post("/passkeys/sign-in", once)).status_code == 200
    assert (await door.post("/passkeys/sign-in", once)).status_code == 401
    other = await new_project()
    elsewhere = await door.client.post(f"/projects/{other.id}/auth/passkeys/sign-in", once)
    assert elsewhere.status_code == 401


async def test_a_signature_counter_that_does_not_increase_is_rejected(door):
    _, _, device, _, _ = await with_passkey(door, new_address())
    assert (await use(door, device)).status_code == 200
    device.sign_count -= 1
    assert (await use(door, device)).status_code == 401


async def test_a_passkey_without_user_verification_requires_the_second_factor(door, clock):
    address = new_address()
    _, ada, device, _, _ = await with_passkey(door, address)
    enrolled = (await ada.post("/mfa/totp/enroll")).json()
    await ada.post("/mfa/totp/confirm", {"code": App(enrolled["secret"], clock).code()})
    asked = (await use(door, device)).json()
    assert asked["mfaRequired"] is True


async def test_pre_hijacking_verifying_the_address_removes_earlier_passkeys(door):
    victim = new_address()
    planted = await door.unverified(victim)
    mallory = door.as_(planted["accessToken"])
    begun = (await mallory.post("/passkeys/register/options")).json()
    device = SoftWebauthnDevice()
    made = device.create(decoded({**begun["options"], "attestation": "none"}), ORIGIN)
    await mallory.post("/passkeys/register", {"challengeId": begun["challengeId"], "credential": answer_of(made)})
    assert (await use(door, device)).status_code == 200
    await door.post("/password/forgot", {"email": victim})
    token = await door.link_token(victim)
    assert (await door.post("/password/reset", {"token": token, "password": GOOD + "!"})).status_code == 204
    assert (await use(door, device)).status_code == 401
