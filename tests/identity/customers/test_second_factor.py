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
    """Sign up a customer and turn the second factor on.

    Returns the response of the sign-up, a client with its token, the authenticator app, and the recovery codes.
    """
    sign_up = await auth.signed_up(address)
    ada = auth.as_(sign_up["accessToken"])
    enrolled = (await ada.post("/mfa/totp/enroll")).json()
    assert parse_qs(urlsplit(enrolled["uri"]).query)["secret"] == [enrolled["secret"]]
    app = App(enrolled["secret"], clock)
    confirmed = await ada.post("/mfa/totp/confirm", {"code": app.code()})
    assert confirmed.status_code == 200, confirmed.text
    clock.move(timedelta(seconds=60))
    return sign_up, ada, app, confirmed.json()["codes"]


async def test_a_second_factor_is_required_and_a_used_code_is_rejected(auth, project, clock):
    address = new_address()
    _, _, app, codes = await with_totp(auth, clock, address)
    assert len(set(codes)) == 10
    assert (await project.client.get("/customers?status=mfa")).json()["total"] == 1
    pending = (await auth.sign_in(address)).json()
    assert (pending["mfaRequired"], pending["accessToken"], pending["refreshToken"]) == (True, None, None)
    code = app.code()
    signed_in = await auth.post("/mfa/verify", {"mfaToken": pending["mfaToken"], "code": code})
    assert signed_in.status_code == 200
    assert signed_in.json()["accessToken"]
    second = (await auth.sign_in(address)).json()
    replayed = await auth.post("/mfa/verify", {"mfaToken": second["mfaToken"], "code": code})
    assert replayed.status_code == 401, "the code was used"
    clock.move(timedelta(seconds=60))
    assert (await auth.post("/mfa/verify", {"mfaToken": second["mfaToken"], "code": app.code()})).status_code == 200
    reused = await auth.post("/mfa/verify", {"mfaToken": second["mfaToken"], "code": app.code()})
    assert reused.status_code == 401, "the MFA token was used"


async def test_concurrent_uses_of_one_totp_code_succeed_once(auth, clock):
    address = new_address()
    _, _, app, _ = await with_totp(auth, clock, address)
    tokens = [(await auth.sign_in(address)).json()["mfaToken"] for _ in range(4)]
    code = app.code()
    responses = await asyncio.gather(*(auth.post("/mfa/verify", {"mfaToken": token, "code": code}) for token in tokens))
    assert sorted(response.status_code for response in responses) == [200, 401, 401, 401]


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


@pytest.mark.parametrize("method", ["password", "code", "reset"])
async def test_lockout_bypass_by_repeating_the_first_factor(auth, clock, method):
    address = new_address()
    _, _, app, _ = await with_totp(auth, clock, address)
    wrong = "000000" if app.code() != "000000" else "111111"

    async def first_factor():
        if method == "code":
            challenge = (await auth.post("/sign-in/code", {"email": address})).json()
            body = {"challengeId": challenge["challengeId"], "code": await auth.code(address)}
            return await auth.post("/sign-in/code/verify", body)
        if method == "reset":
            await auth.post("/password/forgot", {"email": address})
            body = {"token": await auth.link_token(address), "password": GOOD}
            assert (await auth.post("/password/reset", body)).status_code == 204
        return await auth.sign_in(address)

    for _ in range(2):
        pending = (await first_factor()).json()
        for _ in range(4):
            failed = await auth.post("/mfa/verify", {"mfaToken": pending["mfaToken"], "code": wrong})
            assert failed.status_code == 401
    pending = (await first_factor()).json()
    for _ in range(2):
        failed = await auth.post("/mfa/verify", {"mfaToken": pending["mfaToken"], "code": wrong})
        assert failed.status_code == 401
    locked = await auth.post("/mfa/verify", {"mfaToken": pending["mfaToken"], "code": app.code()})
    assert (locked.status_code, locked.json()["code"]) == (429, "sign_in_locked")
    assert (await auth.sign_in(address)).json()["mfaRequired"], "failed second factors lock only the second factor"
    clock.move(timedelta(minutes=16))
    pending = (await auth.sign_in(address)).json()
    response = await auth.post("/mfa/verify", {"mfaToken": pending["mfaToken"], "code": app.code()})
    assert response.status_code == 200, response.text


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
    without_hyphens = renewed[0].replace("-", "")
    assert (await auth.post("/mfa/verify", {"mfaToken": token, "recoveryCode": without_hyphens})).status_code == 200
    assert any("recovery code was used" in mail["text"] for mail in await auth.mails(address))


async def test_turning_the_second_factor_off_requires_a_code(auth, project, clock):
    address = new_address()
    sign_up, ada, app, _ = await with_totp(auth, clock, address)
    assert (await ada.post("/mfa/totp/enroll")).json()["code"] == "mfa_already_on"
    wrong = f"{(int(app.code()) + 1) % 1_000_000:06d}"
    assert (await ada.post("/mfa/totp/disable", {"code": wrong})).status_code == 401
    assert (await ada.post("/mfa/totp/disable", {"code": app.code()})).status_code == 204
    assert (await auth.sign_in(address)).json()["mfaRequired"] is False
    assert (await ada.post("/mfa/totp/disable", {"code": app.code()})).json()["code"] == "mfa_off"
    events = (await project.client.get(f"/customers/{sign_up['customer']['id']}/events")).json()["data"]
    assert {"customer.mfa_enabled", "customer.mfa_disabled"} <= {event["type"] for event in events}


async def test_enrollment_requires_a_recent_sign_in_and_a_first_code(auth, clock):
    address = new_address()
    sign_up = await auth.signed_up(address)
    ada = auth.as_(sign_up["accessToken"])
    await ada.post("/mfa/totp/enroll")
    assert (await auth.sign_in(address)).json()["mfaRequired"] is False
    clock.move(timedelta(hours=1, minutes=1))
    renewed = (await auth.post("/token/refresh", {"refreshToken": sign_up["refreshToken"]})).json()
    late = await auth.as_(renewed["accessToken"]).post("/mfa/totp/enroll")
    assert (late.status_code, late.json()["code"]) == (401, "not_fresh")


@pytest.mark.parametrize("family", ["customers", "end-users"])
async def test_a_developer_can_reset_a_lost_second_factor(auth, project, clock, family):
    address = new_address()
    sign_up, _, _, codes = await with_totp(auth, clock, address)
    pending = (await auth.sign_in(address)).json()["mfaToken"]
    base = f"/apps/{project.id}/end-users" if family == "end-users" else "/customers"
    assert (await project.client.post(f"{base}/{sign_up['customer']['id']}/mfa/reset")).status_code == 204
    late = await auth.post("/mfa/verify", {"mfaToken": pending, "recoveryCode": codes[0]})
    assert late.status_code == 401
    assert (await auth.sign_in(address)).json()["mfaRequired"] is False
    assert (await project.client.get("/customers/stats")).json()["mfaEnabled"] == 0
    assert (await project.client.post(f"{base}/{sign_up['customer']['id']}/mfa/reset")).status_code == 204
    notices = [mail for mail in await auth.mails(address) if "was removed by" in mail["text"]]
    assert len(notices) == 1, "the customer is notified once"


# Passkeys.

ORIGIN = "http://127.0.0.1:8025"


def decoded(options):
    """WebAuthn options as a browser passes them to an authenticator: base64url decoded to bytes."""
    options = {**options, "challenge": webauthn.base64url_to_bytes(options["challenge"])}
    if "user" in options:
        options["user"] = {**options["user"], "id": webauthn.base64url_to_bytes(options["user"]["id"])}
    return {"publicKey": options}


def encoded(value):
    """A credential in the form of `PublicKeyCredential.toJSON`: bytes encoded as base64url."""
    if isinstance(value, bytes):
        return webauthn.helpers.bytes_to_base64url(value)
    if isinstance(value, dict):
        return {name: encoded(item) for name, item in value.items()}
    return value


def answer_of(credential):
    """The JSON that a browser sends for a credential of an authenticator."""
    return {**encoded(credential), "id": encoded(credential["rawId"])}


async def with_passkey(auth, address):
    """Sign up a customer and add a passkey.

    Returns the response of the sign-up, a client with its token, the authenticator, the passkey, and the request body
    that added it.
    """
    sign_up = await auth.signed_up(address)
    ada = auth.as_(sign_up["accessToken"])
    challenge = (await ada.post("/passkeys/register/options")).json()
    device = SoftWebauthnDevice()
    options = decoded(challenge["options"])
    credential = device.create({"publicKey": {**options["publicKey"], "attestation": "none"}}, ORIGIN)
    body = {"challengeId": challenge["challengeId"], "credential": answer_of(credential), "name": "Laptop"}
    response = await ada.post("/passkeys/register", body)
    assert response.status_code == 201, response.text
    return sign_up, ada, device, response.json(), body


async def sign_in_with_passkey(auth, device, *, origin=ORIGIN, change=None):
    """Sign in with the passkey of an authenticator; `change` manipulates its response."""
    challenge = (await auth.post("/passkeys/sign-in/options")).json()
    answer = answer_of(device.get(decoded(challenge["options"]), origin))
    if change:
        change(answer)
    return await auth.post("/passkeys/sign-in", {"challengeId": challenge["challengeId"], "credential": answer})


async def test_passkeys_are_added_used_listed_and_removed(auth):
    address = new_address()
    sign_up, ada, device, added, _ = await with_passkey(auth, address)
    assert added["name"] == "Laptop"
    signed_in = await sign_in_with_passkey(auth, device)
    assert signed_in.status_code == 200, signed_in.text
    assert signed_in.json()["customer"]["id"] == sign_up["customer"]["id"]
    assert "PASSKEY" in signed_in.json()["customer"]["identities"]
    passkeys = (await ada.get("/passkeys")).json()
    assert [passkey["lastUsedAt"] is not None for passkey in passkeys] == [True]
    assert (await ada.client.delete(f"/passkeys/{added['id']}")).status_code == 204
    assert (await ada.client.delete(f"/passkeys/{added['id']}")).status_code == 404
    assert (await sign_in_with_passkey(auth, device)).status_code == 401
    assert "PASSKEY" not in (await ada.get("/me")).json()["identities"]


async def test_the_last_sign_in_method_cannot_be_removed(auth):
    _, ada, device, added, _ = await with_passkey(auth, new_address())
    await auth.settings(methods=["PASSKEY"])
    refused = await ada.client.delete(f"/passkeys/{added['id']}")
    assert (refused.status_code, refused.json()["code"]) == (409, "last_sign_in_method")
    assert (await sign_in_with_passkey(auth, device)).status_code == 200
    await auth.settings(methods=["PASSKEY", "PASSWORD"])
    assert (await ada.client.delete(f"/passkeys/{added['id']}")).status_code == 204


async def test_a_passkey_of_a_merged_customer_signs_in_to_the_survivor(auth, project):
    sign_up, _, device, _, _ = await with_passkey(auth, new_address())
    link = {"customerId": sign_up["customer"]["id"], "externalUserId": "u-1"}
    assert (await project.client.post("/customers/link", link)).status_code == 200
    survivor = (await project.client.post("/customers", {"email": new_address(), "emailVerified": True})).json()
    merged = await project.client.post("/customers/link", {**link, "customerId": survivor["id"]})
    assert merged.json()["mergedCustomerId"] == sign_up["customer"]["id"]
    signed_in = await sign_in_with_passkey(auth, device)
    assert signed_in.status_code == 200, signed_in.text
    assert signed_in.json()["customer"]["id"] == survivor["id"]


async def test_a_passkey_response_is_bound_to_challenge_origin_and_project(auth, new_project):
    _, ada, device, _, body = await with_passkey(auth, new_address())
    assert (await ada.post("/passkeys/register", body)).status_code == 401, "the challenge was used"
    assert (await sign_in_with_passkey(auth, device, origin="https://evil.example")).status_code == 401

    def forged(answer):
        answer["response"]["signature"] = answer["response"]["signature"][:-8] + "AAAAAAAA"

    def another_owner(answer):
        answer["response"]["userHandle"] = "AAAAAAAAAAAAAAAAAAAAAA"

    def nonsense(answer):
        answer["response"] = "nothing"

    for change in (forged, another_owner, nonsense):
        assert (await sign_in_with_passkey(auth, device, change=change)).status_code == 401
    challenge = (await auth.post("/passkeys/sign-in/options")).json()
    answer = answer_of(device.get(decoded(challenge["options"]), ORIGIN))
    sign_in = {"challengeId": challenge["challengeId"], "credential": answer}
    assert (await auth.post("/passkeys/sign-in", sign_in)).status_code == 200
    assert (await auth.post("/passkeys/sign-in", sign_in)).status_code == 401
    other = await new_project()
    in_other_project = await auth.client.post(f"/projects/{other.id}/auth/passkeys/sign-in", sign_in)
    assert in_other_project.status_code == 401


async def test_a_signature_counter_that_does_not_increase_is_rejected(auth):
    _, _, device, _, _ = await with_passkey(auth, new_address())
    assert (await sign_in_with_passkey(auth, device)).status_code == 200
    device.sign_count -= 1
    assert (await sign_in_with_passkey(auth, device)).status_code == 401


async def test_a_passkey_without_user_verification_requires_the_second_factor(auth, clock):
    address = new_address()
    _, ada, device, _, _ = await with_passkey(auth, address)
    enrolled = (await ada.post("/mfa/totp/enroll")).json()
    await ada.post("/mfa/totp/confirm", {"code": App(enrolled["secret"], clock).code()})
    pending = (await sign_in_with_passkey(auth, device)).json()
    assert pending["mfaRequired"] is True


async def test_pre_hijacking_verifying_the_address_removes_earlier_passkeys(auth):
    victim = new_address()
    attacker_sign_up = await auth.unverified(victim)
    mallory = auth.as_(attacker_sign_up["accessToken"])
    challenge = (await mallory.post("/passkeys/register/options")).json()
    device = SoftWebauthnDevice()
    credential = device.create(decoded({**challenge["options"], "attestation": "none"}), ORIGIN)
    await mallory.post(
        "/passkeys/register", {"challengeId": challenge["challengeId"], "credential": answer_of(credential)}
    )
    assert (await sign_in_with_passkey(auth, device)).status_code == 200
    await auth.post("/password/forgot", {"email": victim})
    token = await auth.link_token(victim)
    assert (await auth.post("/password/reset", {"token": token, "password": GOOD + "!"})).status_code == 204
    assert (await sign_in_with_passkey(auth, device)).status_code == 401
