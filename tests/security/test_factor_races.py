"""Concurrent uses of second factors, challenges and passkeys, by developers and customers."""

import asyncio
import base64
from datetime import timedelta
from typing import Any

from postern.security.totp import code_at, step_of
from tests.security.authenticator import Authenticator
from tests.security.kinds import Person, networks


def statuses(answers: list[Any]) -> tuple[int, set[int]]:
    """How many succeeded, and how the others failed."""
    codes = [each.status_code for each in answers]
    return sum(200 <= code < 300 for code in codes), {code for code in codes if code >= 300}


async def enrolled(person: Person) -> bytes:
    """Begin to set an authenticator app up; returns its secret."""
    begun = await person.mine("127.0.0.1").post(person.enrol_path, person.proof or None)
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
    return secret, confirmed.json()[person.codes_field]


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
