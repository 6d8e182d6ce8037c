"""Concurrent uses of second factors, challenges and passkeys, by developers and customers."""

import asyncio
import base64
from datetime import timedelta
from typing import Any

from postern.security.totp import code_at, step_of
from tests.security.authenticator import Authenticator
from tests.security.kinds import Person, ip_addresses


def count_results(responses: list[Any]) -> tuple[int, set[int]]:
    """The number of successful responses, and the statuses of the others."""
    statuses = [response.status_code for response in responses]
    return sum(200 <= status < 300 for status in statuses), {status for status in statuses if status >= 300}


async def enrol_totp(person: Person) -> bytes:
    """Begin to set up an authenticator app; returns its secret."""
    response = await person.session_client("127.0.0.1").post(person.enrol_path, person.confirmation or None)
    assert response.status_code == 200, response.text
    secret = response.json()["secret"]
    return base64.b32decode(secret + "=" * (-len(secret) % 8))


async def turn_on_second_factor(person: Person, clock: Any) -> tuple[bytes, list[str]]:
    """Set up an authenticator app; returns its secret and the recovery codes."""
    secret = await enrol_totp(person)
    code = code_at(secret, step_of(clock()))
    confirmed = await person.session_client("127.0.0.1").post("/mfa/totp/confirm", {"code": code})
    assert confirmed.status_code == 200, confirmed.text
    clock.move(timedelta(seconds=60))
    return secret, confirmed.json()[person.codes_field]


async def add_passkey(person: Person) -> Authenticator:
    """Register a passkey; returns its authenticator."""
    client, authenticator = person.session_client("127.0.0.1"), Authenticator()
    challenge = (await client.post("/passkeys/register/options", person.confirmation or None)).json()
    body = {
        "challengeId": challenge["challengeId"],
        "credential": authenticator.register(challenge["options"]),
    }
    added = await client.post("/passkeys/register", body)
    assert added.status_code == 201, added.text
    return authenticator


async def test_concurrent_confirmations_of_an_enrollment_turn_it_on_once(person, clock):
    body = {"code": code_at(await enrol_totp(person), step_of(clock()))}
    responses = await asyncio.gather(
        *(person.session_client(ip).post("/mfa/totp/confirm", body) for ip in ip_addresses())
    )
    successes, failure_statuses = count_results(responses)
    assert successes == 1
    assert failure_statuses <= {401, 403, 409}


async def test_concurrent_uses_of_one_totp_code_sign_in_once(person, clock):
    secret, _ = await turn_on_second_factor(person, clock)
    sign_ins = [await person.begin_sign_in(ip) for ip in ip_addresses()]
    code = code_at(secret, step_of(clock()))
    responses = await asyncio.gather(*(finish(code) for finish in sign_ins))
    assert count_results(responses) == (1, {401})


async def test_concurrent_uses_of_one_recovery_code_sign_in_once(person, clock):
    _, codes = await turn_on_second_factor(person, clock)
    sign_ins = [await person.begin_sign_in(ip) for ip in ip_addresses()]
    responses = await asyncio.gather(*(finish(codes[0]) for finish in sign_ins))
    assert count_results(responses) == (1, {401})
    finish = await person.begin_sign_in("127.0.0.1")
    assert (await finish(codes[1])).status_code == 200, "another recovery code does not work"


async def test_concurrent_uses_of_one_passkey_response_sign_in_once(person):
    authenticator = await add_passkey(person)
    challenge = (await person.anonymous_client("127.0.0.1").post("/passkeys/sign-in/options")).json()
    body = {"challengeId": challenge["challengeId"], "credential": authenticator.sign_in(challenge["options"])}
    responses = await asyncio.gather(
        *(person.anonymous_client(ip).post("/passkeys/sign-in", body) for ip in ip_addresses())
    )
    assert count_results(responses) == (1, {401})


async def test_concurrent_wrong_responses_to_a_challenge_are_all_counted(person, world):
    authenticator = await add_passkey(person)
    client = person.anonymous_client("127.0.0.1")
    challenge = (await client.post("/passkeys/sign-in/options")).json()
    credential = authenticator.sign_in(challenge["options"])
    wrong_credential = {**credential, "response": {**credential["response"], "signature": "MEUCIQ"}}
    body = {"challengeId": challenge["challengeId"], "credential": wrong_credential}
    responses = await asyncio.gather(
        *(person.anonymous_client(ip).post("/passkeys/sign-in", body) for ip in ip_addresses())
    )
    assert count_results(responses) == (0, {401})
    codes = [response.json()["code"] for response in responses]
    assert codes.count("sign_in_failed") == 5, "more than five responses were verified"
    correct = await client.post("/passkeys/sign-in", {**body, "credential": credential})
    assert (correct.status_code, correct.json()["code"]) == (401, "code_invalid")
    async with world.db.connection() as connection:
        query = "select tries from challenges where id = %s"
        row = await (await connection.execute(query, [challenge["challengeId"]])).fetchone()
    assert row == (5,)


async def test_wrong_passwords_do_not_lock_the_second_factor(person, clock):
    secret = await enrol_totp(person)
    for _ in range(10):
        assert (await person.sign_in("a wrong guess")).status_code == 401
    assert (await person.sign_in(person.password)).status_code == 429
    code = code_at(secret, step_of(clock()))
    confirmed = await person.session_client("127.0.0.1").post("/mfa/totp/confirm", {"code": code})
    assert confirmed.status_code == 200, confirmed.text


async def test_a_password_reset_does_not_end_the_lock_of_the_second_factor(person, clock):
    """Otherwise, a person who can read the mail could guess codes without limit."""
    secret, _ = await turn_on_second_factor(person, clock)
    for _ in range(10):
        finish = await person.begin_sign_in("127.0.0.1")
        assert (await finish("000000")).status_code == 401
    await person.request_reset("127.0.0.1")
    assert (await person.reset_password(await person.reset_token(), person.password, "127.0.0.1")).status_code == 204
    finish = await person.begin_sign_in("127.0.0.1")
    assert (await finish(code_at(secret, step_of(clock())))).status_code == 429
