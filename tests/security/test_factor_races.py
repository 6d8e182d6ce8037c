"""Concurrent uses of second factors, challenges and passkeys, by developers and customers."""

import asyncio
import base64
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import pytest

from postern.security.totp import code_at, step_of
from tests.conftest import PASSWORD, Client
from tests.identity.customers.conftest import new_address
from tests.platform.accounts.members import House
from tests.security.authenticator import Authenticator

AT_ONCE = 50


@dataclass
class Person:
    """Somebody who signs in, by the operations of their kind. `ip` is the address of the caller."""

    at: Callable[[str], Client]
    """The sign-in operations, without a session."""
    mine: Callable[[str], Client]
    """The same with the access token of a session."""
    paths: dict[str, str]
    proof: dict[str, str]
    """What is sent to enrol, and to begin to add a passkey."""
    begin: Callable[[str], Awaitable[Callable[[str], Awaitable[Any]]]]
    """Sign in with the password; the result finishes the sign-in with a code of the app or a recovery code."""


async def make_developer(house: House) -> Person:
    _, client = await house.member()
    app, token = client.app, client.token
    email = (await client.get("/account")).json()["email"]

    async def begin(ip: str) -> Callable[[str], Awaitable[Any]]:
        at = Client(app, ip=ip)
        return lambda code: at.post("/auth/sign-in", {"email": email, "password": PASSWORD, "code": code})

    return Person(
        at=lambda ip: Client(app, None, "/auth", ip=ip),
        mine=lambda ip: Client(app, token, "/auth", ip=ip),
        paths={"enrol": "/mfa/totp", "codes": "recoveryCodes"},
        proof={"password": PASSWORD},
        begin=begin,
    )


async def make_customer(house: House) -> Person:
    app, project, email = house.stranger.app, house.tenant, new_address()
    body = {"email": email, "password": PASSWORD, "emailVerified": True}
    assert (await project.client.post("/customers", body)).status_code == 201
    base = f"/projects/{project.id}/auth"
    signed_in = await Client(app, None, base).post("/sign-in", {"email": email, "password": PASSWORD})
    token = signed_in.json()["accessToken"]

    async def begin(ip: str) -> Callable[[str], Awaitable[Any]]:
        at = Client(app, None, base, ip=ip)
        asked = (await at.post("/sign-in", {"email": email, "password": PASSWORD})).json()["mfaToken"]
        return lambda code: at.post(
            "/mfa/verify", {"mfaToken": asked, "code" if len(code) == 6 else "recoveryCode": code}
        )

    return Person(
        at=lambda ip: Client(app, None, base, ip=ip),
        mine=lambda ip: Client(app, token, base, ip=ip),
        paths={"enrol": "/mfa/totp/enroll", "codes": "codes"},
        proof={},
        begin=begin,
    )


KINDS = {"developer": make_developer, "customer": make_customer}


@pytest.fixture
def house(project, stranger, work_off, world) -> House:
    """An account with an owner, and its project."""
    return House(project, stranger, work_off, world)


@pytest.fixture(params=KINDS)
async def person(request, house) -> Person:
    """Somebody of each kind."""
    return await KINDS[request.param](house)


def networks(count: int = AT_ONCE) -> list[str]:
    """Addresses in different networks, so that limits by network do not answer instead."""
    return [f"198.18.{number}.1" for number in range(count)]


def statuses(answers: list[Any]) -> tuple[int, set[int]]:
    """How many succeeded, and how the others failed."""
    codes = [each.status_code for each in answers]
    return sum(200 <= code < 300 for code in codes), {code for code in codes if code >= 300}


async def enrolled(person: Person) -> bytes:
    """Begin to set an authenticator app up; returns its secret."""
    begun = await person.mine("127.0.0.1").post(person.paths["enrol"], person.proof or None)
    assert begun.status_code == 200, begun.text
    secret = begun.json()["secret"]
    return base64.b32decode(secret + "=" * (-len(secret) % 8))


async def with_second_factor(person: Person, clock: Any) -> tuple[bytes, list[str]]:
    """Turn the second factor on; returns its secret and the recovery codes."""
    secret = await enrolled(person)
    code = code_at(secret, step_of(clock()))
    confirmed = await person.mine("127.0.0.1").post("/mfa/totp/confirm", {"code": code})
    assert confirmed.status_code == 200, confirmed.text
    clock.move(timedelta(seconds=60))
    return secret, confirmed.json()[person.paths["codes"]]


async def with_passkey(person: Person) -> Authenticator:
    mine, device = person.mine("127.0.0.1"), Authenticator()
    begun = (await mine.post("/passkeys/register/options", person.proof or None)).json()
    body = {"challengeId": begun["challengeId"], "credential": device.register(begun["options"])}
    added = await mine.post("/passkeys/register", body)
    assert added.status_code == 201, added.text
    return device


async def test_concurrent_confirmations_of_an_enrollment_turn_it_on_once(person, clock):
    code = code_at(await enrolled(person), step_of(clock()))
    answers = await asyncio.gather(*(person.mine(ip).post("/mfa/totp/confirm", {"code": code}) for ip in networks()))
    succeeded, failed = statuses(answers)
    assert succeeded == 1
    assert failed <= {401, 403, 409}


async def test_concurrent_uses_of_one_totp_code_sign_in_once(person, clock):
    secret, _ = await with_second_factor(person, clock)
    sign_ins = [await person.begin(ip) for ip in networks()]
    code = code_at(secret, step_of(clock()))
    answers = await asyncio.gather(*(finish(code) for finish in sign_ins))
    assert statuses(answers) == (1, {401})


async def test_concurrent_uses_of_one_recovery_code_sign_in_once(person, clock):
    _, codes = await with_second_factor(person, clock)
    sign_ins = [await person.begin(ip) for ip in networks()]
    answers = await asyncio.gather(*(finish(codes[0]) for finish in sign_ins))
    assert statuses(answers) == (1, {401})
    assert (await (await person.begin("127.0.0.1"))(codes[1])).status_code == 200, "the others still work"


async def test_concurrent_uses_of_one_passkey_response_sign_in_once(person):
    device = await with_passkey(person)
    begun = (await person.at("127.0.0.1").post("/passkeys/sign-in/options")).json()
    body = {"challengeId": begun["challengeId"], "credential": device.sign_in(begun["options"])}
    answers = await asyncio.gather(*(person.at(ip).post("/passkeys/sign-in", body) for ip in networks()))
    assert statuses(answers) == (1, {401})


async def test_concurrent_wrong_responses_to_a_challenge_are_all_counted(person, world):
    device = await with_passkey(person)
    begun = (await person.at("127.0.0.1").post("/passkeys/sign-in/options")).json()
    credential = device.sign_in(begun["options"])
    wrong = {**credential, "response": {**credential["response"], "signature": "MEUCIQ"}}
    body = {"challengeId": begun["challengeId"], "credential": wrong}
    answers = await asyncio.gather(*(person.at(ip).post("/passkeys/sign-in", body) for ip in networks()))
    assert statuses(answers) == (0, {401})
    assert [each.json()["code"] for each in answers].count("sign_in_failed") == 5, "the others were not looked at"
    right = await person.at("127.0.0.1").post("/passkeys/sign-in", {**body, "credential": credential})
    assert (right.status_code, right.json()["code"]) == (401, "code_invalid")
    async with world.db.connection() as connection:
        query = "select tries from challenges where id = %s"
        row = await (await connection.execute(query, [begun["challengeId"]])).fetchone()
    assert row == (5,)
