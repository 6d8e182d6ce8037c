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


async def with_totp(auth, clock, address):
    up = await auth.signed_up(address)
    ada = auth.as_(up["accessToken"])
    enrolled = (await ada.post("/mfa/totp/enroll")).json()
    assert parse_qs(urlsplit(enrolled["uri"]).query)["secret"] == [enrolled["secret"]]
    app = App(enrolled["secret"], clock)
    confirmed = await ada.post("/mfa/totp/confirm", {"code": app.code()})
    assert confirmed.status_code == 200, confirmed.text
    clock.move(timedelta(seconds=60))
    return up, ada, app, confirmed.json()["codes"]


async def test_a_second_factor_is_required_and_a_used_code_is_rejected(auth, project, clock):
    address = new_address()
    _, _, app, codes = await with_totp(auth, clock, address)
    assert len(set(codes)) == 10
    assert (await project.client.get("/customers?status=mfa")).json()["total"] == 1
    asked = (await auth.sign_in(address)).json()
    assert (asked["mfaRequired"], asked["accessToken"], asked["refreshToken"]) == (True, None, None)
    code = app.code()
    into = await auth.post("/mfa/verify", {"mfaToken": asked["mfaToken"], "code": code})
    assert into.status_code == 200
    assert into.json()["accessToken"]
    again = (await auth.sign_in(address)).json()
    replayed = await auth.post("/mfa/verify", {"mfaToken": again["mfaToken"], "code": code})
    assert replayed.status_code == 401, "the step was used"
    clock.move(timedelta(seconds=60))
    assert (await auth.post("/mfa/verify", {"mfaToken": again["mfaToken"], "code": app.code()})).status_code == 200
    reused = await auth.post("/mfa/verify", {"mfaToken": again["mfaToken"], "code": app.code()})
    assert reused.status_code == 401, "the token was used"


async def test_concurrent_uses_of_one_totp_code_succeed_once(auth, clock):
    address = new_address()
    _, _, app, _ = await with_totp(auth, clock, address)
    tokens = [(await auth.sign_in(address)).json()["mfaToken"] for _ in range(4)]
    code = app.code()
    answers = await asyncio.gather(*(auth.post("/mfa/verify", {"mfaToken": t, "code": code}) for t in tokens))
    assert sorted(each.status_code for each in answers) == [200, 401, 401, 401]


async def test_an_mfa_token_allows_five_attempts_and_is_not_a_session(auth, clock):
    address = new_address()
    _, _, app, _ = await with_totp(auth, clock, address)
    token = (await auth.sign_in(address)).json()["mfaToken"]
    assert (await auth.as_(token).get("/me")).status_code == 401
    assert (await auth.post("/token/refresh", {"refreshToken": token})).status_code == 401
    wrong = f"{(int(app.code()) + 1) % 1_000_000:06d}"
    for _ in range(5):
        assert (await auth.post("/mfa/verify", {"mfaToken": token, "code": wrong})).status_code == 401
    assert (await auth.post("/mfa/verify", {"mfaToken": token, "code": app.code()})).status_code == 401


@pytest.mark.parametrize("way", ["password", "code", "reset"])
async def test_lockout_bypass_by_repeating_the_first_factor(auth, clock, way):
    address = new_address()
    _, _, app, _ = await with_totp(auth, clock, address)
    wrong = "000000" if app.code() != "000000" else "111111"

    async def begin():
        if way == "code":
            asked = (await auth.post("/sign-in/code", {"email": address})).json()
            body = {"challengeId": asked["challengeId"], "code": await auth.code(address)}
            return await auth.post("/sign-in/code/verify", body)
        if way == "reset":
            await auth.post("/password/forgot", {"email": address})
            body = {"token": await auth.link_token(address), "password": GOOD}
            assert (await auth.post("/password/reset", body)).status_code == 204
        return await auth.sign_in(address)

    for _ in range(2):
        begun = (await begin()).json()
        for _ in range(4):
            tried = await auth.post("/mfa/verify", {"mfaToken": begun["mfaToken"], "code": wrong})
            assert tried.status_code == 401
    begun = (await begin()).json()
    for _ in range(2):
        tried = await auth.post("/mfa/verify", {"mfaToken": begun["mfaToken"], "code": wrong})
        assert tried.status_code == 401
    locked = await auth.post("/mfa/verify", {"mfaToken": begun["mfaToken"], "code": app.code()})
    assert (locked.status_code, locked.json()["code"]) == (429, "sign_in_locked")
    assert (await auth.sign_in(address)).json()["mfaRequired"], "failed second factors lock the second factor alone"
    clock.move(timedelta(minutes=16))
    begun = (await auth.sign_in(address)).json()
    done = await auth.post("/mfa/verify", {"mfaToken": begun["mfaToken"], "code": app.code()})
    assert done.status_code == 200, done.text


async def test_recovery_codes_work_once_and_can_be_renewed(auth, clock):
    address = new_address()
    _, ada, app, codes = await with_totp(auth, clock, address)
    token = (await auth.sign_in(address)).json()["mfaToken"]
    body = {"mfaToken": token, "recoveryCode": codes[0]}
    assert (await auth.post("/mfa/verify", body)).status_code == 200
    token = (await auth.sign_in(address)).json()["mfaToken"]
    assert (await auth.post("/mfa/verify", {**body, "mfaToken": token})).status_code == 401
    renewed = (await ada.post("/recovery-codes", {"code": app.code()})).json()["codes"]
    assert not set(renewed) & set(codes)
    old = await auth.post("/mfa/verify", {"mfaToken": token, "recoveryCode": codes[1]})
    assert old.status_code == 401
    plain = renewed[0].replace("-", "")
    assert (await auth.post("/mfa/verify", {"mfaToken": token, "recoveryCode": plain})).status_code == 200
    assert any("recovery code was used" in mail["text"] for mail in await auth.mails(address))


async def test_turning_the_second_factor_off_requires_a_code(auth, project, clock):
    address = new_address()
    up, ada, app, _ = await with_totp(auth, clock, address)
    assert (await ada.post("/mfa/totp/enroll")).json()["code"] == "mfa_already_on"
    wrong = f"{(int(app.code()) + 1) % 1_000_000:06d}"
    assert (await ada.post("/mfa/totp/disable", {"code": wrong})).status_code == 401
    assert (await ada.post("/mfa/totp/disable", {"code": app.code()})).status_code == 204
    assert (await auth.sign_in(address)).json()["mfaRequired"] is False
    assert (await ada.post("/mfa/totp/disable", {"code": app.code()})).json()["code"] == "mfa_off"
    events = (await project.client.get(f"/customers/{up['customer']['id']}/events")).json()["data"]
    assert {"customer.mfa_enabled", "customer.mfa_disabled"} <= {each["type"] for each in events}


async def test_enrollment_requires_a_recent_sign_in_and_a_first_code(auth, clock):
    address = new_address()
    up = await auth.signed_up(address)
    ada = auth.as_(up["accessToken"])
    await ada.post("/mfa/totp/enroll")
    assert (await auth.sign_in(address)).json()["mfaRequired"] is False
    clock.move(timedelta(hours=1, minutes=1))
    renewed = (await auth.post("/token/refresh", {"refreshToken": up["refreshToken"]})).json()
    late = await auth.as_(renewed["accessToken"]).post("/mfa/totp/enroll")
    assert (late.status_code, late.json()["code"]) == (403, "not_fresh")


@pytest.mark.parametrize("family", ["customers", "end-users"])
async def test_a_developer_can_reset_a_lost_second_factor(auth, project, clock, family):
    address = new_address()
    up, _, _, codes = await with_totp(auth, clock, address)
    pending = (await auth.sign_in(address)).json()["mfaToken"]
    base = f"/apps/{project.id}/end-users" if family == "end-users" else "/customers"
    assert (await project.client.post(f"{base}/{up['customer']['id']}/mfa/reset")).status_code == 204
    half = await auth.post("/mfa/verify", {"mfaToken": pending, "recoveryCode": codes[0]})
    assert half.status_code == 401
    assert (await auth.sign_in(address)).json()["mfaRequired"] is False
    assert (await project.client.get("/customers/stats")).json()["mfaEnabled"] == 0
    assert (await project.client.post(f"{base}/{up['customer']['id']}/mfa/reset")).status_code == 204
    told = [mail for mail in await auth.mails(address) if "was removed by" in mail["text"]]
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


async def with_passkey(auth, address):
    up = await auth.signed_up(address)
    ada = auth.as_(up["accessToken"])
    begun = (await ada.post("/passkeys/register/options")).json()
    device = SoftWebauthnDevice()
    options = decoded(begun["options"])
    made = device.create({"publicKey": {**options["publicKey"], "attestation": "none"}}, ORIGIN)
    body = {"challengeId": begun["challengeId"], "credential": answer_of(made), "name": "Laptop"}
    added = await ada.post("/passkeys/register", body)
    assert added.status_code == 201, added.text
    return up, ada, device, added.json(), body


async def use(auth, device, *, origin=ORIGIN, change=None):
    begun = (await auth.post("/passkeys/sign-in/options")).json()
    proof = answer_of(device.get(decoded(begun["options"]), origin))
    if change:
        change(proof)
    return await auth.post("/passkeys/sign-in", {"challengeId": begun["challengeId"], "credential": proof})


async def test_passkeys_are_added_used_listed_and_removed(auth):
    address = new_address()
    up, ada, device, added, _ = await with_passkey(auth, address)
    assert added["name"] == "Laptop"
    into = await use(auth, device)
    assert into.status_code == 200, into.text
    assert into.json()["customer"]["id"] == up["customer"]["id"]
    assert "PASSKEY" in into.json()["customer"]["identities"]
    listed = (await ada.get("/passkeys")).json()
    assert [each["lastUsedAt"] is not None for each in listed] == [True]
    assert (await ada.client.delete(f"/passkeys/{added['id']}")).status_code == 204
    assert (await ada.client.delete(f"/passkeys/{added['id']}")).status_code == 404
    assert (await use(auth, device)).status_code == 401
    assert "PASSKEY" not in (await ada.get("/me")).json()["identities"]


async def test_the_last_sign_in_method_cannot_be_removed(auth):
    _, ada, device, added, _ = await with_passkey(auth, new_address())
    await auth.settings(methods=["PASSKEY"])
    kept = await ada.client.delete(f"/passkeys/{added['id']}")
    assert (kept.status_code, kept.json()["code"]) == (409, "last_way_in")
    assert (await use(auth, device)).status_code == 200
    await auth.settings(methods=["PASSKEY", "PASSWORD"])
    assert (await ada.client.delete(f"/passkeys/{added['id']}")).status_code == 204


async def test_a_passkey_of_a_merged_customer_signs_in_to_the_survivor(auth, project):
    up, _, device, _, _ = await with_passkey(auth, new_address())
    link = {"customerId": up["customer"]["id"], "externalUserId": "u-1"}
    assert (await project.client.post("/customers/link", link)).status_code == 200
    survivor = (await project.client.post("/customers", {"email": new_address(), "emailVerified": True})).json()
    merged = await project.client.post("/customers/link", {**link, "customerId": survivor["id"]})
    assert merged.json()["mergedCustomerId"] == up["customer"]["id"]
    into = await use(auth, device)
    assert into.status_code == 200, into.text
    assert into.json()["customer"]["id"] == survivor["id"]


async def test_a_passkey_response_is_bound_to_challenge_origin_and_project(auth, new_project):
    _, ada, device, _, body = await with_passkey(auth, new_address())
    assert (await ada.post("/passkeys/register", body)).status_code == 401, "the challenge was used"
    assert (await use(auth, device, origin="https://evil.example")).status_code == 401

    def forged(proof):
        proof["response"]["signature"] = proof["response"]["signature"][:-8] + "AAAAAAAA"

    def another_owner(proof):
        proof["response"]["userHandle"] = "AAAAAAAAAAAAAAAAAAAAAA"

    def nonsense(proof):
        proof["response"] = "nothing"

    for change in (forged, another_owner, nonsense):
        assert (await use(auth, device, change=change)).status_code == 401
    begun = (await auth.post("/passkeys/sign-in/options")).json()
    proof = answer_of(device.get(decoded(begun["options"]), ORIGIN))
    once = {"challengeId": begun["challengeId"], "credential": proof}
    assert (await auth.post("/passkeys/sign-in", once)).status_code == 200
    assert (await auth.post("/passkeys/sign-in", once)).status_code == 401
    other = await new_project()
    elsewhere = await auth.client.post(f"/projects/{other.id}/auth/passkeys/sign-in", once)
    assert elsewhere.status_code == 401


async def test_a_signature_counter_that_does_not_increase_is_rejected(auth):
    _, _, device, _, _ = await with_passkey(auth, new_address())
    assert (await use(auth, device)).status_code == 200
    device.sign_count -= 1
    assert (await use(auth, device)).status_code == 401


async def test_a_passkey_without_user_verification_requires_the_second_factor(auth, clock):
    address = new_address()
    _, ada, device, _, _ = await with_passkey(auth, address)
    enrolled = (await ada.post("/mfa/totp/enroll")).json()
    await ada.post("/mfa/totp/confirm", {"code": App(enrolled["secret"], clock).code()})
    asked = (await use(auth, device)).json()
    assert asked["mfaRequired"] is True


async def test_pre_hijacking_verifying_the_address_removes_earlier_passkeys(auth):
    victim = new_address()
    planted = await auth.unverified(victim)
    mallory = auth.as_(planted["accessToken"])
    begun = (await mallory.post("/passkeys/register/options")).json()
    device = SoftWebauthnDevice()
    made = device.create(decoded({**begun["options"], "attestation": "none"}), ORIGIN)
    await mallory.post("/passkeys/register", {"challengeId": begun["challengeId"], "credential": answer_of(made)})
    assert (await use(auth, device)).status_code == 200
    await auth.post("/password/forgot", {"email": victim})
    token = await auth.link_token(victim)
    assert (await auth.post("/password/reset", {"token": token, "password": GOOD + "!"})).status_code == 204
    assert (await use(auth, device)).status_code == 401
