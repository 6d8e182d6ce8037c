"""Concurrent sign-ins, refreshes and password changes of a developer and of a customer."""

import asyncio
from datetime import timedelta

import pytest
from argon2 import PasswordHasher
from msgspec.structs import replace
from psycopg.sql import SQL, Identifier

from postern.security import passwords
from postern.security.sessions import REFRESH_GRACE
from tests.security.kinds import CONCURRENT_REQUESTS, ip_addresses

# While hashes are computed, other requests go on.
pytestmark = pytest.mark.usefixtures("computed_hashes")
NEW_PASSWORD = "an entirely new password"


async def use_outdated_hash(world, person):
    """Store a hash of the current password with outdated parameters."""
    outdated = PasswordHasher(time_cost=1, memory_cost=8_192, parallelism=1).hash(person.password)
    query = SQL("update {} set password_hash = %s where id = %s").format(Identifier(person.table))
    async with world.db.connection() as connection:
        await connection.execute(query, [outdated, person.subject.id])


async def is_accepted(person, sign_in):
    """Whether the access token in the response of a sign-in is still accepted."""
    return (await person.sessions(sign_in.json()["accessToken"])).status_code == 200


async def test_concurrent_guesses_are_all_counted(person, world):
    responses = await asyncio.gather(*(person.sign_in("a wrong guess", ip=ip) for ip in ip_addresses()))
    assert {response.status_code for response in responses} == {401}
    async with world.db.connection() as connection:
        query = """select e.failures, sum(f.failures) from sign_in_attempts e
                   join sign_in_attempts f on f.project_id = e.project_id and f.identifier = e.identifier
                   where e.ip_address = '' and e.project_id = %s and f.ip_address = any (%s)
                   group by e.failures, e.since order by e.since desc limit 1"""
        row = await (await connection.execute(query, [person.subject.project_id, ip_addresses()])).fetchone()
    assert row == (CONCURRENT_REQUESTS, CONCURRENT_REQUESTS)


async def test_concurrent_guesses_from_one_network_are_checked_up_to_the_limit(person, monkeypatch):
    check_password, checks = passwords.check_password, 0

    async def count_and_check(password, hashed):
        nonlocal checks
        checks += 1
        return await check_password(password, hashed)

    monkeypatch.setattr(passwords, "check_password", count_and_check)
    responses = await asyncio.gather(*(person.sign_in("a wrong guess") for _ in range(CONCURRENT_REQUESTS)))
    assert 1 <= checks <= 10
    assert {response.status_code for response in responses} == {401, 429}


async def test_concurrent_refreshes_have_one_successor(person, clock):
    signed_in = (await person.sign_in(person.password)).json()
    responses = await asyncio.gather(*(person.refresh(signed_in["refreshToken"]) for _ in range(CONCURRENT_REQUESTS)))
    assert {response.status_code for response in responses} == {200}
    assert len({response.json()["refreshToken"] for response in responses}) == 1
    refreshed = responses[0].json()
    assert (await person.refresh(refreshed["refreshToken"])).status_code == 200
    # Both refresh tokens are used again after the grace period, so they count as stolen and the session ends.
    clock.move(REFRESH_GRACE + timedelta(seconds=1))
    reuses = await asyncio.gather(*(person.refresh(tokens["refreshToken"]) for tokens in (signed_in, refreshed)))
    assert [response.status_code for response in reuses] == [401, 401]
    assert (await person.sessions(refreshed["accessToken"])).status_code == 401


async def test_concurrent_sign_ins_respect_the_session_limit(person, monkeypatch):
    limit = 3
    monkeypatch.setattr(person.sessions_module, "SESSIONS", replace(person.sessions_module.SESSIONS, limit=limit))
    responses = await asyncio.gather(*(person.sign_in(person.password, ip=ip) for ip in ip_addresses()))
    assert {response.status_code for response in responses} == {200}
    accepted = [response for response in responses if await is_accepted(person, response)]
    assert len(accepted) == limit
    rows = (await person.sessions(accepted[0].json()["accessToken"])).json()
    assert len(rows) == limit


async def test_a_password_change_ends_sessions_that_begin_concurrently(person):
    access_token = (await person.sign_in(person.password)).json()["accessToken"]
    sign_ins = [person.sign_in(person.password, ip=ip) for ip in ip_addresses()]
    half = CONCURRENT_REQUESTS // 2
    change = person.change_password(access_token, person.password, NEW_PASSWORD)
    responses = await asyncio.gather(*sign_ins[:half], change, *sign_ins[half:])
    changed = responses.pop(half)
    assert changed.status_code == 204, changed.text
    assert {response.status_code for response in responses} <= {200, 401}
    assert not any([await is_accepted(person, response) for response in responses if response.status_code == 200])
    assert (await person.sessions(access_token)).status_code == 200
    assert (await person.sign_in(person.password)).status_code == 401
    assert (await person.sign_in(NEW_PASSWORD)).status_code == 200


async def test_concurrent_sign_ins_rehash_an_outdated_hash_and_all_succeed(person, world):
    await use_outdated_hash(world, person)
    responses = await asyncio.gather(*(person.sign_in(person.password, ip=ip) for ip in ip_addresses()))
    assert {response.status_code for response in responses} == {200}


@pytest.mark.parametrize("repetition", range(3))
async def test_rehashing_does_not_undo_a_password_change(person, world, repetition):
    access_token = (await person.sign_in(person.password)).json()["accessToken"]
    await use_outdated_hash(world, person)
    sign_ins = [person.sign_in(person.password, ip=ip) for ip in ip_addresses(12)]
    change = person.change_password(access_token, person.password, NEW_PASSWORD)
    *responses, changed = await asyncio.gather(*sign_ins, change)
    assert changed.status_code == 204, changed.text
    assert {response.status_code for response in responses} <= {200, 401}
    assert (await person.sign_in(person.password)).status_code == 401
    assert (await person.sign_in(NEW_PASSWORD)).status_code == 200
