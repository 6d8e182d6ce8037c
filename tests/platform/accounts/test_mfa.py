"""A second factor for developers."""

import base64
from datetime import timedelta

import pytest

from postern.security.totp import code_at, step_of
from tests.conftest import PASSWORD, Client


async def enrol(account, clock) -> tuple[bytes, list[str]]:
    """Turn the owner's second factor on; returns the secret and the recovery codes."""
    enrolled = await account.owner.post("/auth/mfa/totp", {"password": PASSWORD})
    assert enrolled.status_code == 200, enrolled.text
    key = enrolled.json()["secret"]
    assert f"secret={key}" in enrolled.json()["uri"]
    secret = base64.b32decode(key + "=" * (-len(key) % 8))
    confirmed = await account.owner.post("/auth/mfa/totp/confirm", {"code": code_at(secret, step_of(clock()))})
    assert confirmed.status_code == 200, confirmed.text
    clock.move(timedelta(seconds=30))
    return secret, confirmed.json()["recoveryCodes"]


def sign_in(account, **more):
    return account.stranger.post("/auth/sign-in", {"email": account.tenant.email, "password": PASSWORD, **more})


async def test_sign_in_requires_a_code_with_a_second_factor(account, clock):
    secret, _ = await enrol(account, clock)
    without = await sign_in(account)
    assert (without.status_code, without.json()["code"]) == (401, "mfa_required")
    assert (await sign_in(account, code="000000")).json()["code"] == "sign_in_failed"
    code = code_at(secret, step_of(clock()))
    assert (await sign_in(account, code=code)).status_code == 200
    assert (await sign_in(account, code=code)).status_code == 401  # A code works once.
    profile = (await account.owner.get("/account")).json()
    assert profile["mfaEnabledAt"] is not None
    assert profile["recoveryCodesLeft"] == 10


async def test_the_code_that_confirmed_the_factor_cannot_sign_in(account, clock):
    enrolled = (await account.owner.post("/auth/mfa/totp", {"password": PASSWORD})).json()
    code = code_at(base64.b32decode(enrolled["secret"]), step_of(clock()))
    assert (await account.owner.post("/auth/mfa/totp/confirm", {"code": code})).status_code == 200
    assert (await sign_in(account, code=code)).status_code == 401


async def test_a_recovery_code_works_once_however_it_is_typed(account, clock):
    _, codes = await enrol(account, clock)
    typed = codes[0].lower().replace("-", " ")
    assert (await sign_in(account, code=typed)).status_code == 200
    assert (await sign_in(account, code=codes[0])).status_code == 401
    assert (await account.owner.get("/account")).json()["recoveryCodesLeft"] == 9


async def test_enabling_a_factor_ends_other_sessions_and_disabling_needs_both_factors(account, clock):
    other = Client(account.stranger.app, (await sign_in(account)).json()["accessToken"])
    _secret, codes = await enrol(account, clock)
    assert (await other.get("/account")).status_code == 401
    wrong = await account.owner.post("/auth/mfa/totp/disable", {"password": PASSWORD, "code": "000000"})
    assert (wrong.status_code, wrong.json()["code"]) == (403, "code_wrong")
    refused = await account.owner.post("/auth/mfa/totp/disable", {"password": "wrong", "code": codes[1]})
    assert (refused.status_code, refused.json()["code"]) == (403, "password_wrong")
    renewed = await account.owner.post("/auth/mfa/recovery-codes", {"password": PASSWORD, "code": codes[1]})
    new_codes = renewed.json()["recoveryCodes"]
    with_old_code = await account.owner.post("/auth/mfa/totp/disable", {"password": PASSWORD, "code": codes[2]})
    assert with_old_code.status_code == 403
    disabled = await account.owner.post("/auth/mfa/totp/disable", {"password": PASSWORD, "code": new_codes[0]})
    assert disabled.status_code == 204
    assert (await sign_in(account)).status_code == 200
    assert (await account.mail(account.tenant.email))["Subject"] == "Your second factor was turned off"


async def test_an_enabled_factor_is_not_replaced_and_a_missing_one_not_confirmed(account, clock):
    not_enrolled = await account.owner.post("/auth/mfa/totp/confirm", {"code": "123456"})
    assert (not_enrolled.status_code, not_enrolled.json()["code"]) == (409, "mfa_not_enrolled")
    await enrol(account, clock)
    again = await account.owner.post("/auth/mfa/totp", {"password": PASSWORD})
    assert (again.status_code, again.json()["code"]) == (409, "mfa_already_enabled")


@pytest.mark.parametrize("code", ["1", "１２３４５６", "-" * 20, "ABCD-EFGH-JKLM"])
async def test_malformed_codes_are_refused(account, clock, code):
    await enrol(account, clock)
    assert (await sign_in(account, code=code)).json()["code"] == "sign_in_failed"


async def test_wrong_codes_lock_in_every_process(account, clock, settings, database_url):
    """After the tenth failure, a second process refuses codes as well, because the count is in the database."""
    from postern.app import HOOKS, make_app
    from postern.world import open_world

    await enrol(account, clock)
    responses = [await sign_in(account, code=f"{number:06}") for number in range(11)]
    assert [response.status_code for response in responses] == [401] * 10 + [429]
    assert responses[-1].json()["code"] == "locked_out"
    async with open_world(settings, database_url, HOOKS, clock=clock) as other:
        body = {"email": account.tenant.email, "password": PASSWORD, "code": "111111"}
        assert (await Client(make_app(other)).post("/auth/sign-in", body)).status_code == 429
        assert (await Client(make_app(other), ip="127.9.9.9").post("/auth/sign-in", body)).status_code == 401
    clock.move(timedelta(minutes=15, seconds=1))
    again = [await sign_in(account, code=f"{number:06}") for number in range(10)]
    assert [response.status_code for response in again] == [401] * 10
    assert 1_700 < int((await sign_in(account, code="000000")).headers["retry-after"]) <= 1_800  # Twice as long.
