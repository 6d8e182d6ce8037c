"""A second factor for developers."""

import base64
from datetime import timedelta

import pytest

from postern.security.totp import code_at, step_of
from tests.conftest import PASSWORD, Client


async def enrol(house, clock) -> tuple[bytes, list[str]]:
    """Turn the second factor of the owner on: the secret, and the recovery codes."""
    begun = await house.owner.post("/auth/mfa/totp", {"password": PASSWORD})
    assert begun.status_code == 200, begun.text
    key = begun.json()["secret"]
    assert f"secret={key}" in begun.json()["uri"]
    secret = base64.b32decode(key + "=" * (-len(key) % 8))
    confirmed = await house.owner.post("/auth/mfa/totp/confirm", {"code": code_at(secret, step_of(clock()))})
    assert confirmed.status_code == 200, confirmed.text
    clock.move(timedelta(seconds=30))
    return secret, confirmed.json()["recoveryCodes"]


def sign_in(house, **more):
    return house.stranger.post("/auth/sign-in", {"email": house.tenant.email, "password": PASSWORD, **more})


async def test_sign_in_requires_a_code_with_a_second_factor(house, clock):
    secret, _ = await enrol(house, clock)
    without = await sign_in(house)
    assert (without.status_code, without.json()["code"]) == (401, "mfa_required")
    assert (await sign_in(house, code="000000")).json()["code"] == "sign_in_failed"
    code = code_at(secret, step_of(clock()))
    assert (await sign_in(house, code=code)).status_code == 200
    assert (await sign_in(house, code=code)).status_code == 401  # Seen once, worth nothing.
    profile = (await house.owner.get("/account")).json()
    assert profile["mfaEnabledAt"] is not None
    assert profile["recoveryCodesLeft"] == 10


async def test_the_code_that_confirmed_the_factor_cannot_sign_in(house, clock):
    begun = (await house.owner.post("/auth/mfa/totp", {"password": PASSWORD})).json()
    code = code_at(base64.b32decode(begun["secret"]), step_of(clock()))
    assert (await house.owner.post("/auth/mfa/totp/confirm", {"code": code})).status_code == 200
    assert (await sign_in(house, code=code)).status_code == 401


async def test_a_recovery_code_works_once_however_it_is_typed(house, clock):
    _, codes = await enrol(house, clock)
    typed = codes[0].lower().replace("-", " ")
    assert (await sign_in(house, code=typed)).status_code == 200
    assert (await sign_in(house, code=codes[0])).status_code == 401
    assert (await house.owner.get("/account")).json()["recoveryCodesLeft"] == 9


async def test_enabling_a_factor_ends_other_sessions_and_disabling_needs_both_factors(house, clock):
    other = Client(house.stranger.app, (await sign_in(house)).json()["accessToken"])
    _secret, codes = await enrol(house, clock)
    assert (await other.get("/account")).status_code == 401
    wrong = await house.owner.post("/auth/mfa/totp/disable", {"password": PASSWORD, "code": "000000"})
    assert (wrong.status_code, wrong.json()["code"]) == (403, "code_wrong")
    refused = await house.owner.post("/auth/mfa/totp/disable", {"password": "wrong", "code": codes[1]})
    assert (refused.status_code, refused.json()["code"]) == (403, "password_wrong")
    renewed = await house.owner.post("/auth/mfa/recovery-codes", {"password": PASSWORD, "code": codes[1]})
    fresh = renewed.json()["recoveryCodes"]
    old = await house.owner.post("/auth/mfa/totp/disable", {"password": PASSWORD, "code": codes[2]})
    assert old.status_code == 403
    off = await house.owner.post("/auth/mfa/totp/disable", {"password": PASSWORD, "code": fresh[0]})
    assert off.status_code == 204
    assert (await sign_in(house)).status_code == 200
    assert (await house.mail(house.tenant.email))["Subject"] == "Your second factor was turned off"


async def test_an_enabled_factor_is_not_replaced_and_a_missing_one_not_confirmed(house, clock):
    nothing = await house.owner.post("/auth/mfa/totp/confirm", {"code": "123456"})
    assert (nothing.status_code, nothing.json()["code"]) == (409, "mfa_not_enrolled")
    await enrol(house, clock)
    again = await house.owner.post("/auth/mfa/totp", {"password": PASSWORD})
    assert (again.status_code, again.json()["code"]) == (409, "mfa_already_enabled")


@pytest.mark.parametrize("code", ["1", "１２３４５６", "-" * 20, "ABCD-EFGH-JKLM"])
async def test_malformed_codes_are_refused(house, clock, code):
    await enrol(house, clock)
    assert (await sign_in(house, code=code)).json()["code"] == "sign_in_failed"


async def test_wrong_codes_lock_in_every_process(house, clock, settings, database_url):
    """After the tenth failure, a second process refuses codes as well, because the count is in the database."""
    from postern.app import HOOKS, make_app
    from postern.world import open_world

    await enrol(house, clock)
    answers = [await sign_in(house, code=f"{number:06}") for number in range(11)]
    assert [each.status_code for each in answers] == [401] * 10 + [429]
    assert answers[-1].json()["code"] == "locked_out"
    async with open_world(settings, database_url, HOOKS, clock=clock) as other:
        body = {"email": house.tenant.email, "password": PASSWORD, "code": "111111"}
        assert (await Client(make_app(other)).post("/auth/sign-in", body)).status_code == 429
        assert (await Client(make_app(other), ip="127.9.9.9").post("/auth/sign-in", body)).status_code == 401
    clock.move(timedelta(minutes=15, seconds=1))
    again = [await sign_in(house, code=f"{number:06}") for number in range(10)]
    assert [each.status_code for each in again] == [401] * 10
    assert 1_700 < int((await sign_in(house, code="000000")).headers["retry-after"]) <= 1_800  # Twice as long.
