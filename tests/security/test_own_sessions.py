"""Developers and customers list and end their own sessions."""

from datetime import timedelta
from uuid import uuid4

from msgspec.structs import replace


async def test_own_sessions_are_listed_and_ended(person, clock):
    first = (await person.sign_in(person.password)).json()
    clock.move(timedelta(seconds=1))
    second = (await person.sign_in(person.password)).json()
    rows = (await person.sessions(second["accessToken"])).json()
    assert [row["current"] for row in rows[:2]] == [True, False]
    assert rows[0]["methods"] == ["pwd"]
    assert rows[0]["ipAddress"] == "127.0.0.1"
    assert (await person.end_session(second["accessToken"], rows[1]["id"])).status_code == 204
    assert (await person.sessions(first["accessToken"])).status_code == 401
    assert (await person.refresh(first["refreshToken"])).status_code == 401
    repeated = await person.end_session(second["accessToken"], rows[1]["id"])
    assert (repeated.status_code, repeated.json()["code"]) == (404, "session_missing")


async def test_ending_other_sessions_keeps_the_current_one(person):
    *others, current = [(await person.sign_in(person.password)).json() for _ in range(3)]
    assert (await person.end_others(current["accessToken"])).status_code == 204
    assert [row["current"] for row in (await person.sessions(current["accessToken"])).json()] == [True]
    assert [(await person.refresh(other["refreshToken"])).status_code for other in others] == [401, 401]
    assert (await person.refresh(current["refreshToken"])).status_code == 200


async def test_sessions_of_others_cannot_be_ended(person, house):
    signed_in = (await person.sign_in(person.password)).json()
    for session in (str(uuid4()), (await house.owner.get("/auth/sessions")).json()[0]["id"]):
        refused = await person.end_session(signed_in["accessToken"], session)
        assert (refused.status_code, refused.json()["code"]) == (404, "session_missing")
    assert (await house.owner.get("/auth/sessions")).status_code == 200


async def test_a_session_above_the_limit_ends_the_oldest(person, monkeypatch):
    monkeypatch.setattr(person.sessions_module, "SESSIONS", replace(person.sessions_module.SESSIONS, limit=2))
    oldest, *newer = [(await person.sign_in(person.password)).json() for _ in range(3)]
    assert (await person.sessions(oldest["accessToken"])).status_code == 401
    assert [(await person.sessions(session["accessToken"])).status_code for session in newer] == [200, 200]


async def test_an_idle_session_expires_and_is_deleted(person, world, clock, run_due_work):
    signed_in = (await person.sign_in(person.password)).json()
    clock.move(person.sessions_module.SESSIONS.idle + timedelta(seconds=1))
    assert (await person.refresh(signed_in["refreshToken"])).status_code == 401
    clock.move(person.sessions_module.SESSIONS.life)
    await run_due_work()
    async with world.db.connection() as connection:
        query = "select count(*) from sessions where (project_id, subject_id) = (%s, %s)"
        row = await (await connection.execute(query, [person.subject.project_id, person.subject.id])).fetchone()
    assert row == (0,)
