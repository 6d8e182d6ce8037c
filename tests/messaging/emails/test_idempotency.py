"""Idempotency keys of `POST /emails` and `POST /emails/batch`."""

import asyncio
from datetime import timedelta

import pytest

from postern.kernel.values import to_plain
from postern.messaging.emails import operations
from tests.conftest import Client

MAIL = {"to": ["ada@example.com"], "from": "Acme <hello@acme.example>", "subject": "Hello", "text": "Hello."}
KEY = {"idempotency-key": "order-42"}


async def test_a_repeated_request_gets_the_first_response_and_sends_nothing(project):
    first = await project.client.post("/emails", MAIL, headers=KEY)
    repeated = await project.client.post(
        "/emails", dict(reversed(MAIL.items())), headers={"idempotency-key": '"order-42"'}
    )
    assert (repeated.status_code, repeated.json()) == (201, first.json())
    assert repeated.headers["idempotent-replayed"] == "true"
    assert "idempotent-replayed" not in first.headers
    assert (await project.client.get("/emails/logs")).json()["total"] == 1


async def test_the_same_key_with_another_body_is_refused(project):
    await project.client.post("/emails", MAIL, headers=KEY)
    refused = await project.client.post("/emails", {**MAIL, "subject": "Other"}, headers=KEY)
    assert (refused.status_code, refused.json()["code"]) == (422, "idempotency_key_reused")


async def test_keys_belong_to_a_project_and_a_route(project, new_project):
    other_project = await new_project()
    first = await project.client.post("/emails", MAIL, headers=KEY)
    second = await other_project.client.post("/emails", MAIL, headers=KEY)
    third = await project.client.post("/emails/batch", {"emails": [MAIL]}, headers=KEY)
    assert len({first.json()["id"], second.json()["id"], third.json()["data"][0]["id"]}) == 3


async def test_refused_requests_do_not_use_up_the_key(project):
    assert (await project.client.post("/emails", {**MAIL, "to": ["x"]}, headers=KEY)).status_code == 400
    assert (await project.client.post("/emails", MAIL, headers=KEY)).status_code == 201


@pytest.mark.parametrize("key", ["", "x" * 256, "caf\u00e9", "a\tb"])
async def test_an_invalid_key_is_refused(project, key):
    response = await project.client.post("/emails", MAIL, headers={"idempotency-key": key.encode("latin-1")})
    assert response.status_code == 400
    assert response.json()["errors"][0]["path"] == "header/Idempotency-Key"


async def test_only_one_of_several_concurrent_requests_with_a_key_sends(project):
    responses = await asyncio.gather(*(project.client.post("/emails", MAIL, headers=KEY) for _ in range(20)))
    assert {response.status_code for response in responses} <= {201, 409}
    ids = {response.json()["id"] for response in responses if response.status_code == 201}
    assert len(ids) == 1
    for response in responses:
        if response.status_code == 409:
            assert response.json()["code"] == "idempotency_key_in_progress"
            assert response.headers["retry-after"] == "1"
    assert (await project.client.get("/emails/logs")).json()["total"] == 1


async def test_a_running_request_is_409_and_after_a_crash_the_stored_sends_are_returned(project, world, monkeypatch):
    """The process dies between commit and response: after the key's lease, the response is built from its sends."""

    class Died(BaseException):
        pass

    async def die(*_):
        raise Died

    monkeypatch.setattr(operations, "_deliver_now", lambda *_: asyncio.sleep(0, "QUEUED"))
    monkeypatch.setattr(operations, "store_responses", die)
    with pytest.raises(BaseException):  # noqa: B017 - the process ends here
        await project.client.post("/emails", MAIL, headers=KEY)
    running = await project.client.post("/emails", MAIL, headers=KEY)
    assert (running.status_code, running.json()["code"]) == (409, "idempotency_key_in_progress")
    async with world.db.connection() as connection:
        await connection.execute("update idempotency_keys set lease_until = now() where project_id = %s", [project.id])
    after_lease = await project.client.post("/emails", MAIL, headers=KEY)
    assert (after_lease.status_code, after_lease.json()["status"]) == (201, "QUEUED")
    assert (await project.client.get("/emails/logs")).json()["total"] == 1


async def test_a_repetition_succeeds_after_the_scheduled_time_and_without_the_template(project, clock):
    """The same request would be refused now if it were new, but a repetition gets the first response."""
    template = (await project.client.post("/templates", {"name": "Code", "html": "<p>1234</p>"})).json()
    times = {"scheduledAt": clock() + timedelta(minutes=5), "expiresAt": clock() + timedelta(minutes=10)}
    body = {**MAIL, "templateId": template["id"], **{name: to_plain(at) for name, at in times.items()}}
    first = await project.client.post("/emails", body, headers=KEY)
    assert (first.status_code, first.json()["status"]) == (201, "SCHEDULED")
    assert (await project.client.delete(f"/templates/{template['id']}")).status_code == 200
    clock.move(timedelta(minutes=15))
    repeated = await project.client.post("/emails", body, headers=KEY)
    assert (repeated.status_code, repeated.json()) == (201, first.json())
    assert repeated.headers["idempotent-replayed"] == "true"
    assert (await project.client.post("/emails", body, headers={"idempotency-key": "order-43"})).status_code == 400


async def test_a_key_expires_after_a_day(project, world):
    first = await project.client.post("/emails", MAIL, headers=KEY)
    async with world.db.connection() as connection:
        await connection.execute(
            "update idempotency_keys set created_at = now() - interval '24 hours' where project_id = %s", [project.id]
        )
    second = await project.client.post("/emails", MAIL, headers=KEY)
    assert second.status_code == 201
    assert second.json()["id"] != first.json()["id"]


async def test_a_repeated_batch_gets_the_first_response(project):
    body = {"emails": [MAIL, {**MAIL, "to": ["x"]}]}
    first = await project.client.post("/emails/batch", body, headers=KEY)
    repeated = await project.client.post("/emails/batch", body, headers=KEY)
    assert repeated.json() == first.json()
    assert (await project.client.get("/emails/logs")).json()["total"] == 1


async def test_requests_without_credentials_are_refused_before_their_key_is_used(project, stranger):
    response = await Client(stranger.app).post(f"/projects/{project.id}/emails", MAIL, headers=KEY)
    assert response.status_code == 401
