"""Concurrent requests of developers and customers, who share one authentication engine."""

import asyncio
from datetime import timedelta

import pytest
from argon2 import PasswordHasher
from msgspec.structs import replace
from psycopg.sql import SQL, Identifier

from postern.security import passwords
from postern.security.sessions import REFRESH_GRACE
from tests.security.kinds import AT_ONCE, networks

NEW = "an entirely new password"


async def use_outdated_hash(world, person):
    """Store a hash of the present password that was made with other parameters."""
    outdated = PasswordHasher(time_cost=1, memory_cost=8_192, parallelism=1).hash(person.password)
    query = SQL("update {} set password_hash = %s where id = %s").format(Identifier(person.table))
    async with world.db.connection() as connection:
        await connection.execute(query, [outdated, person.subject.id])


async def lives(person, signed_in):
    """Whether the access token of a sign-in is still accepted."""
    return (await person.sessions(signed_in.json()["accessToken"])).status_code == 200


async def test_concurrent_guesses_are_all_counted(person, world):
    answers = await asyncio.gather(*(person.sign_in("a wrong guess", ip=ip) for ip in networks()))
    assert {each.status_code for each in answers} == {401}
    async with world.db.connection() as connection:
        query = """select failures, (select coalesce(sum(failures), 0) from sign_in_attempts f
                                     where f.identifier = e.identifier and f.ip_address = any (%s))
                   from sign_in_attempts e where ip_address = '' and project_id = %s
                   and exists (select from sign_in_attempts f where f.identifier = e.identifier
                               and f.ip_address = any (%s))
                   order by since desc limit 1"""
        row = await (await connection.execute(query, [networks(), person.subject.project_id, networks()])).fetchone()
    assert row == (AT_ONCE, AT_ONCE)


async def test_concurrent_guesses_from_one_network_are_checked_up_to_the_limit(person, monkeypatch):
    check, checked = passwords.check_password, 0

    async def counted(password, hashed):
        nonlocal checked
        checked += 1
        return await check(password, hashed)

    monkeypatch.setattr(passwords, "check_password", counted)
    answers = await asyncio.gather(*(person.sign_in("a wrong guess") for _ in range(AT_ONCE)))
    assert 1 <= checked <= 10
    assert {each.status_code for each in answers} == {401, 429}


async def test_concurrent_refreshes_have_one_successor(person, clock):
    signed_in = (await person.sign_in(person.password)).json()
    answers = await asyncio.gather(*(person.refresh(signed_in["refreshToken"]) for _ in range(AT_ONCE)))
    assert {each.status_code for each in answers} == {200}
    assert len({each.json()["refreshToken"] for each in answers}) == 1
    newest = answers[0].json()
    assert (await person.refresh(newest["refreshToken"])).status_code == 200
    # Both old tokens are known to two clients by now: either shows that somebody copied it.
    clock.move(REFRESH_GRACE + timedelta(seconds=1))
    ends = await asyncio.gather(*(person.refresh(each["refreshToken"]) for each in (signed_in, newest)))
    assert [each.status_code for each in ends] == [401, 401]
    assert (await person.sessions(newest["accessToken"])).status_code == 401


async def test_concurrent_sign_ins_respect_the_session_limit(person, monkeypatch):
    limit = 3
    monkeypatch.setattr(person.policy, "SESSIONS", replace(person.policy.SESSIONS, limit=limit))
    answers = await asyncio.gather(*(person.sign_in(person.password, ip=ip) for ip in networks()))
    assert {each.status_code for each in answers} == {200}
    alive = [each for each in answers if await lives(person, each)]
    assert len(alive) == limit
    rows = (await person.sessions(alive[0].json()["accessToken"])).json()
    assert len(rows) == limit


async def test_a_password_change_ends_sessions_that_begin_concurrently(person):
    changer = (await person.sign_in(person.password)).json()["accessToken"]
    signing_in = [person.sign_in(person.password, ip=ip) for ip in networks()]
    half = AT_ONCE // 2
    changing = person.change_password(changer, person.password, NEW)
    answers = await asyncio.gather(*signing_in[:half], changing, *signing_in[half:])
    changed = answers.pop(half)
    assert changed.status_code == 204, changed.text
    assert {each.status_code for each in answers} <= {200, 401}
    assert not any([await lives(person, each) for each in answers if each.status_code == 200])
    assert (await person.sessions(changer)).status_code == 200
    assert (await person.sign_in(person.password)).status_code == 401
    assert (await person.sign_in(NEW)).status_code == 200


async def test_concurrent_sign_ins_rehash_an_outdated_hash_and_all_succeed(person, world):
    await use_outdated_hash(world, person)
    answers = await asyncio.gather(*(person.sign_in(person.password, ip=ip) for ip in networks()))
    assert {each.status_code for each in answers} == {200}


@pytest.mark.parametrize("round", range(3))
async def test_rehashing_does_not_undo_a_password_change(person, world, round):
    changer = (await person.sign_in(person.password)).json()["accessToken"]
    await use_outdated_hash(world, person)
    signing_in = [person.sign_in(person.password, ip=ip) for ip in networks(12)]
    changing = person.change_password(changer, person.password, NEW)
    *answers, changed = await asyncio.gather(*signing_in, changing)
    assert changed.status_code == 204, changed.text
    assert {each.status_code for each in answers} <= {200, 401}
    assert (await person.sign_in(person.password)).status_code == 401
    assert (await person.sign_in(NEW)).status_code == 200
