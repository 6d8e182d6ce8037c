"""Concurrent guesses at passwords and codes of developers and customers: a guess is counted before it is checked."""

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
"""Maximum number of failed attempts."""
NEW_PASSWORD = "an entirely new password"


async def developer_password(account, auth):
    body = {"email": account.tenant.email, "password": "a wrong guess"}
    return lambda: account.stranger.post("/auth/sign-in", body), passwords, "check_password"


async def customer_password(account, auth):
    address = f"{uuid4().hex[:12]}@example.com"
    response = await account.tenant.client.post(
        "/customers", {"email": address, "password": GOOD, "emailVerified": True}
    )
    assert response.status_code == 201, response.text
    return lambda: auth.sign_in(address, "a wrong guess"), passwords, "check_password"


async def unknown_developer(account, auth):
    body = {"email": f"{uuid4().hex}@example.com", "password": "a wrong guess"}
    return lambda: account.stranger.post("/auth/sign-in", body), passwords, "check_password"


async def unknown_customer(account, auth):
    address = f"{uuid4().hex[:12]}@example.com"
    return lambda: auth.sign_in(address, "a wrong guess"), passwords, "check_password"


async def password_of_open_session(account, auth):
    body = {"currentPassword": "a wrong guess", "newPassword": NEW_PASSWORD}
    return lambda: account.owner.patch("/account/password", body), passwords, "check_password"


async def password_to_delete_the_account(account, auth):
    return lambda: account.owner.delete("/account", {"password": "a wrong guess"}), passwords, "check_password"


async def second_factor(account, auth):
    await enable_second_factor(account)
    body = {"email": account.tenant.email, "password": PASSWORD, "code": "000000"}
    return lambda: account.stranger.post("/auth/sign-in", body), second_factor_engine, "consume_code"


GUESSES_AT = [
    developer_password,
    customer_password,
    unknown_developer,
    unknown_customer,
    password_of_open_session,
    password_to_delete_the_account,
    second_factor,
]
"""Each returns a function that sends one wrong guess, and the module and name of the function that checks it."""


async def enable_second_factor(account) -> bytes:
    """Turn the owner's second factor on; returns the secret."""
    enrolled = (await account.owner.post("/auth/mfa/totp", {"password": PASSWORD})).json()["secret"]
    secret = base64.b32decode(enrolled + "=" * (-len(enrolled) % 8))
    code = code_at(secret, int(account.world.clock().timestamp()) // 30)
    assert (await account.owner.post("/auth/mfa/totp/confirm", {"code": code})).status_code == 200
    return secret


@pytest.mark.parametrize("make_guess", GUESSES_AT)
async def test_of_concurrent_guesses_only_as_many_as_the_limit_are_checked(account, auth, make_guess, monkeypatch):
    """Counts the calls of the function that checks a password or code, not the responses.

    Regression test of I13, S9 (tests/defects.md).
    """
    guess, module, name = await make_guess(account, auth)
    check, check_count = getattr(module, name), 0

    async def count_and_check(*args, **kwargs):
        nonlocal check_count
        check_count += 1
        return await check(*args, **kwargs)

    monkeypatch.setattr(module, name, count_and_check)
    responses = await asyncio.gather(*(guess() for _ in range(GUESSES)))
    assert 1 <= check_count <= LIMIT
    statuses = [response.status_code for response in responses]
    assert statuses.count(429) >= GUESSES - LIMIT
    assert set(statuses) <= {401, 403, 429}


@pytest.mark.parametrize("path", ["/auth/verify-email", "/auth/password/reset"])
async def test_invalid_links_are_locked_out_but_a_valid_one_is_accepted(account, app, path):
    """Regression test of S9 (tests/defects.md)."""
    # A random network: the test locks it out, and other tests use the default network.
    stranger = Client(app, ip=f"127.{uuid4().bytes[0]}.{uuid4().bytes[1]}.{uuid4().bytes[2]}")
    body = {"newPassword": NEW_PASSWORD} if "reset" in path else {}
    statuses = [
        response.status_code
        for _ in range(LINK_ATTEMPTS.max_failures // GUESSES + 1)
        for response in await asyncio.gather(
            *(stranger.post(path, {**body, "token": "x" * 40}) for _ in range(GUESSES))
        )
    ]
    assert statuses.count(400) <= LINK_ATTEMPTS.max_failures
    assert statuses.count(429) >= len(statuses) - LINK_ATTEMPTS.max_failures
    if "reset" in path:
        await stranger.post("/auth/password/forgot", {"email": account.tenant.email})
        token = token_in(await account.mail(account.tenant.email, "Reset your password"))
    else:
        email = f"{uuid4().hex[:12]}@example.com"
        assert (await stranger.post("/auth/sign-up", {"email": email, "password": PASSWORD})).status_code == 201
        await account.run_due_work()
        token = token_in(system_mails(account.world, email)[-1])
    assert (await stranger.post(path, {**body, "token": token})).status_code in (200, 204)


async def test_a_password_that_changes_during_its_check_starts_no_session(account, stranger, monkeypatch):
    """The row is read, and while its password is checked, another request changes the password.

    Regression test of I13 (tests/defects.md).
    """
    check = passwords.check_password

    async def check_while_it_changes(password, hashed):
        is_right = await check(password, hashed)
        async with account.world.db.transaction() as tx:
            developer = await store.developer_by_email(tx, email=account.tenant.email)
            new_hash = await hash_password(NEW_PASSWORD)
            await store.set_password(tx, id=developer.id, password_hash=new_hash, now=account.world.clock())
        return is_right

    monkeypatch.setattr(passwords, "check_password", check_while_it_changes)
    body = {"email": account.tenant.email, "password": PASSWORD}
    assert (await stranger.post("/auth/sign-in", body)).status_code == 401
    monkeypatch.undo()
    assert (await stranger.post("/auth/sign-in", {**body, "password": NEW_PASSWORD})).status_code == 200


async def test_a_rehash_does_not_overwrite_a_password_that_changed_meanwhile(account, stranger, monkeypatch):
    """Regression test of I13 (tests/defects.md)."""
    email, world = account.tenant.email, account.world

    async def hash_while_it_changes(password):
        rehashed = await hash_password(password)
        async with world.db.transaction() as tx:
            developer = await store.developer_by_email(tx, email=email)
            new_hash = await hash_password(NEW_PASSWORD)
            await store.set_password(tx, id=developer.id, password_hash=new_hash, now=world.clock())
        return rehashed

    monkeypatch.setattr(passwords, "is_outdated", lambda hashed: True)
    monkeypatch.setattr(passwords, "hash_password", hash_while_it_changes)
    assert (await stranger.post("/auth/sign-in", {"email": email, "password": PASSWORD})).status_code == 401
    monkeypatch.undo()
    assert (await stranger.post("/auth/sign-in", {"email": email, "password": NEW_PASSWORD})).status_code == 200
    assert (await stranger.post("/auth/sign-in", {"email": email, "password": PASSWORD})).status_code == 401


async def test_a_right_password_without_a_code_does_not_clear_failures(account, stranger):
    """A person who knows the password cannot guess codes without limit by signing in without a code in between.

    Regression test of I13 (tests/defects.md).
    """
    await enable_second_factor(account)
    body = {"email": account.tenant.email, "password": PASSWORD}
    for _ in range(LIMIT - 1):
        assert (await stranger.post("/auth/sign-in", {**body, "code": "000000"})).status_code == 401
        assert (await stranger.post("/auth/sign-in", body)).json()["code"] == "mfa_required"
    assert (await stranger.post("/auth/sign-in", {**body, "code": "000000"})).status_code == 401
    assert (await stranger.post("/auth/sign-in", {**body, "code": "000000"})).status_code == 429


async def test_a_reset_ends_the_lock_in_all_networks(account, stranger):
    """Regression test of I13 (tests/defects.md)."""
    email = account.tenant.email
    other_network = Client(stranger.app, ip="127.9.9.9")
    for _ in range(LIMIT):
        await other_network.post("/auth/sign-in", {"email": email, "password": "a wrong guess"})
    locked = await other_network.post("/auth/sign-in", {"email": email, "password": PASSWORD})
    assert locked.status_code == 429
    await stranger.post("/auth/password/forgot", {"email": email})
    token = token_in(await account.mail(email, "Reset your password"))
    assert (
        await stranger.post("/auth/password/reset", {"token": token, "newPassword": NEW_PASSWORD})
    ).status_code == 204
    assert (await other_network.post("/auth/sign-in", {"email": email, "password": NEW_PASSWORD})).status_code == 200
