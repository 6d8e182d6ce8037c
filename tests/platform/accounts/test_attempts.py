"""Guesses side by side, at developers and at customers: each is counted before it is judged, by one engine."""

import asyncio
import base64
from uuid import uuid4

import pytest

from postern.platform.accounts import store
from postern.platform.accounts.operations import LINK_ATTEMPTS
from postern.security import passwords
from postern.security import second_factor as second_factor_engine
from postern.security.passwords import hash_password
from postern.security.totp import code_at
from tests.conftest import PASSWORD, Client
from tests.identity.customers.conftest import GOOD, auth
from tests.platform.accounts.members import system_mails, token_in

__all__ = ["auth"]

GUESSES = 50
LIMIT = 10
NEW = "an entirely new password"


async def developer_password(house, auth):
    body = {"email": house.tenant.email, "password": "a wrong guess"}
    return lambda: house.stranger.post("/auth/sign-in", body), passwords, "check_password"


async def customer_password(house, auth):
    address = f"{uuid4().hex[:12]}@example.com"
    made = await house.tenant.client.post("/customers", {"email": address, "password": GOOD, "emailVerified": True})
    assert made.status_code == 201, made.text
    return lambda: auth.sign_in(address, "a wrong guess"), passwords, "check_password"


async def unknown_developer(house, auth):
    body = {"email": f"{uuid4().hex}@example.com", "password": "a wrong guess"}
    return lambda: house.stranger.post("/auth/sign-in", body), passwords, "check_password"


async def unknown_customer(house, auth):
    address = f"{uuid4().hex[:12]}@example.com"
    return lambda: auth.sign_in(address, "a wrong guess"), passwords, "check_password"


async def password_of_open_session(house, auth):
    body = {"currentPassword": "a wrong guess", "newPassword": NEW}
    return lambda: house.owner.patch("/account/password", body), passwords, "check_password"


async def password_to_delete_the_account(house, auth):
    return lambda: house.owner.delete("/account", {"password": "a wrong guess"}), passwords, "check_password"


async def second_factor(house, auth):
    await turn_on(house)
    body = {"email": house.tenant.email, "password": PASSWORD, "code": "000000"}
    return lambda: house.stranger.post("/auth/sign-in", body), second_factor_engine, "consume_code"


WAYS = [
    developer_password,
    customer_password,
    unknown_developer,
    unknown_customer,
    password_of_open_session,
    password_to_delete_the_account,
    second_factor,
]


async def turn_on(house) -> bytes:
    """Turn the owner's second factor on; returns the secret."""
    enrolled = (await house.owner.post("/auth/mfa/totp", {"password": PASSWORD})).json()["secret"]
    secret = base64.b32decode(enrolled + "=" * (-len(enrolled) % 8))
    code = code_at(secret, int(house.world.clock().timestamp()) // 30)
    assert (await house.owner.post("/auth/mfa/totp/confirm", {"code": code})).status_code == 200
    return secret


@pytest.mark.parametrize("way", WAYS)
async def test_of_guesses_side_by_side_only_as_many_as_the_limit_are_judged(house, auth, way, monkeypatch):
    """Counted is what the service judged, not what it answered.

    Defects: I13, S9
    """
    guess, module, name = await way(house, auth)
    judge, judged = getattr(module, name), 0

    async def counted(*args, **kwargs):
        nonlocal judged
        judged += 1
        return await judge(*args, **kwargs)

    monkeypatch.setattr(module, name, counted)
    answers = await asyncio.gather(*(guess() for _ in range(GUESSES)))
    assert 1 <= judged <= LIMIT
    statuses = [each.status_code for each in answers]
    assert statuses.count(429) >= GUESSES - LIMIT
    assert set(statuses) <= {401, 403, 429}


@pytest.mark.parametrize("path", ["/auth/verify-email", "/auth/password/reset"])
async def test_made_up_links_are_locked_out_and_a_right_one_is_not(house, app, path):
    """Defects: S9"""
    # A network of its own: what it is locked out of, other tests need.
    stranger = Client(app, ip=f"127.{uuid4().bytes[0]}.{uuid4().bytes[1]}.{uuid4().bytes[2]}")
    body = {"newPassword": NEW} if "reset" in path else {}
    answers = [
        each.status_code
        for _ in range(LINK_ATTEMPTS.max_failures // GUESSES + 1)
        for each in await asyncio.gather(*(stranger.post(path, {**body, "token": "x" * 40}) for _ in range(GUESSES)))
    ]
    assert answers.count(400) <= LINK_ATTEMPTS.max_failures
    assert answers.count(429) >= len(answers) - LINK_ATTEMPTS.max_failures
    if "reset" in path:
        await stranger.post("/auth/password/forgot", {"email": house.tenant.email})
        token = token_in(await house.mail(house.tenant.email, "Reset your password"))
    else:
        email = f"{uuid4().hex[:12]}@example.com"
        assert (await stranger.post("/auth/sign-up", {"email": email, "password": PASSWORD})).status_code == 201
        await house.work_off()
        token = token_in(system_mails(house.world, email)[-1])
    assert (await stranger.post(path, {**body, "token": token})).status_code in (200, 204)


async def test_a_password_that_changes_while_another_is_judged_opens_no_session(house, stranger, monkeypatch):
    """The row is read, the password is found right, and meanwhile somebody changes it.

    Defects: I13
    """
    check = passwords.check_password

    async def slow(password, hashed):
        right = await check(password, hashed)
        async with house.world.db.transaction() as tx:
            developer = await store.developer_by_email(tx, email=house.tenant.email)
            changed = await hash_password(NEW)
            await store.set_password(tx, id=developer.id, password_hash=changed, now=house.world.clock())
        return right

    monkeypatch.setattr(passwords, "check_password", slow)
    body = {"email": house.tenant.email, "password": PASSWORD}
    assert (await stranger.post("/auth/sign-in", body)).status_code == 401
    monkeypatch.undo()
    assert (await stranger.post("/auth/sign-in", {**body, "password": NEW})).status_code == 200


async def test_a_rehash_does_not_overwrite_a_password_that_changed_meanwhile(house, stranger, monkeypatch):
    """Defects: I13"""
    email, world = house.tenant.email, house.world

    async def slow(password):
        made = await hash_password(password)
        async with world.db.transaction() as tx:
            developer = await store.developer_by_email(tx, email=email)
            changed = await hash_password(NEW)
            await store.set_password(tx, id=developer.id, password_hash=changed, now=world.clock())
        return made

    monkeypatch.setattr(passwords, "is_outdated", lambda hashed: True)
    monkeypatch.setattr(passwords, "hash_password", slow)
    assert (await stranger.post("/auth/sign-in", {"email": email, "password": PASSWORD})).status_code == 401
    monkeypatch.undo()
    assert (await stranger.post("/auth/sign-in", {"email": email, "password": NEW})).status_code == 200
    assert (await stranger.post("/auth/sign-in", {"email": email, "password": PASSWORD})).status_code == 401


async def test_a_password_alone_forgives_no_wrong_codes(house, stranger):
    """Who knows the password cannot guess codes without end by signing in without one in between.

    Defects: I13
    """
    await turn_on(house)
    body = {"email": house.tenant.email, "password": PASSWORD}
    for _ in range(LIMIT - 1):
        assert (await stranger.post("/auth/sign-in", {**body, "code": "000000"})).status_code == 401
        assert (await stranger.post("/auth/sign-in", body)).json()["code"] == "mfa_required"
    assert (await stranger.post("/auth/sign-in", {**body, "code": "000000"})).status_code == 401
    assert (await stranger.post("/auth/sign-in", {**body, "code": "000000"})).status_code == 429


async def test_a_reset_ends_the_lock_out_everywhere(house, stranger):
    """Defects: I13"""
    email = house.tenant.email
    elsewhere = Client(stranger.app, ip="127.9.9.9")
    for _ in range(LIMIT):
        await elsewhere.post("/auth/sign-in", {"email": email, "password": "a wrong guess"})
    locked = await elsewhere.post("/auth/sign-in", {"email": email, "password": PASSWORD})
    assert locked.status_code == 429
    await stranger.post("/auth/password/forgot", {"email": email})
    token = token_in(await house.mail(email, "Reset your password"))
    assert (await stranger.post("/auth/password/reset", {"token": token, "newPassword": NEW})).status_code == 204
    assert (await elsewhere.post("/auth/sign-in", {"email": email, "password": NEW})).status_code == 200
