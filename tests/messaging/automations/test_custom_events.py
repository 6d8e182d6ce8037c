"""Custom events over HTTP: validation, idempotency, and their effects."""

import asyncio
from datetime import timedelta
from uuid import uuid4

import pytest


async def recorded_orders(project):
    """The events `order.placed` of the project."""
    return (await project.client.get("/events?type=order.placed")).json()["data"]


async def test_an_event_is_recorded_with_its_contact(project):
    response = await project.client.post(
        "/events", {"name": "order.placed", "email": "Ada@Example.com", "data": {"order_id": 7}}
    )
    assert response.status_code == 201
    (event,) = await recorded_orders(project)
    contacts = (await project.client.get("/contacts")).json()["data"]
    assert (event["id"], event["data"]) == (response.json()["id"], {"order_id": 7})
    assert response.json()["contactId"] == event["subjectId"] == contacts[0]["id"]
    by_contact_id = await project.client.post("/events", {"name": "order.placed", "contactId": contacts[0]["id"]})
    assert by_contact_id.json()["contactId"] == contacts[0]["id"]
    without_contact = await project.client.post("/events", {"name": "order.placed"})
    assert without_contact.json()["contactId"] is None


async def test_a_repeated_request_records_nothing_again(project, clock):
    body = {"name": "order.placed", "email": "ada@example.com", "data": {"total": 42}}
    first = await project.client.post("/events", body, headers={"idempotency-key": '"k1"'})
    repeated = await project.client.post("/events", body, headers={"idempotency-key": "k1"})
    assert first.json() == repeated.json()
    assert repeated.headers["idempotent-replayed"] == "true"
    changed = await project.client.post("/events", {**body, "data": {"total": 43}}, headers={"idempotency-key": "k1"})
    assert (changed.status_code, changed.json()["code"]) == (422, "event_key_reused")
    assert len(await recorded_orders(project)) == 1
    clock.move(timedelta(hours=24))
    later = await project.client.post("/events", {**body, "data": {"total": 43}}, headers={"idempotency-key": "k1"})
    assert later.status_code == 201
    assert len(await recorded_orders(project)) == 2


async def test_a_repeated_request_does_not_recreate_a_contact(project):
    first = await project.client.post(
        "/events", {"name": "order.placed", "email": "ada@example.com", "idempotencyKey": "k"}
    )
    ada = first.json()["contactId"]
    by_contact_id = {"name": "order.placed", "contactId": ada, "idempotencyKey": "k2"}
    second = await project.client.post("/events", by_contact_id)
    assert (await project.client.delete(f"/contacts/{ada}")).status_code == 200
    repeated = await project.client.post(
        "/events", {"name": "order.placed", "email": "ada@example.com", "idempotencyKey": "k"}
    )
    assert (repeated.status_code, repeated.json()) == (201, first.json())
    repeated = await project.client.post("/events", by_contact_id)
    assert (repeated.status_code, repeated.json()) == (201, second.json())
    assert (await project.client.get("/contacts")).json()["total"] == 0
    assert len(await recorded_orders(project)) == 2


async def test_concurrent_repetitions_record_one_event(project):
    body = {"name": "order.placed", "email": "ada@example.com", "idempotencyKey": "k"}
    responses = await asyncio.gather(*(project.client.post("/events", body) for _ in range(6)))
    assert {response.status_code for response in responses} == {201}
    assert len({response.json()["id"] for response in responses}) == 1
    assert len(await recorded_orders(project)) == 1


async def test_a_batch_is_all_or_nothing_and_idempotent_by_event(project):
    events = [{"name": "order.placed", "email": f"{n}@example.com", "idempotencyKey": f"o{n}"} for n in range(3)]
    first = await project.client.post("/events/batch", {"events": events[:2]})
    assert first.status_code == 201
    second = await project.client.post("/events/batch", {"events": events})
    assert [result["id"] for result in second.json()["data"]][:2] == [result["id"] for result in first.json()["data"]]
    assert len(await recorded_orders(project)) == 3
    with_unknown_contact = [*events, {"name": "order.placed", "contactId": str(uuid4()), "idempotencyKey": "new"}]
    response = await project.client.post("/events/batch", {"events": with_unknown_contact})
    assert response.json()["errors"][0]["path"] == "/events/3/contactId"
    assert len(await recorded_orders(project)) == 3
    without_event_keys = {"events": [{"name": "order.placed"}, {"name": "order.placed"}]}
    for _ in range(2):
        await project.client.post("/events/batch", without_event_keys, headers={"idempotency-key": "b"})
    assert len(await recorded_orders(project)) == 5


@pytest.mark.parametrize(
    ("body", "path"),
    [
        ({}, "/name"),
        ({"name": "email.sent"}, "/name"),
        ({"name": "contact.frobbed"}, "/name"),
        ({"name": "custom.thing"}, "/name"),
        ({"name": "two words"}, "/name"),
        ({"name": "a..b"}, "/name"),
        ({"name": "order.placed", "email": "nobody"}, "/email"),
        ({"name": "order.placed", "contactId": "x"}, "/contactId"),
        ({"name": "order.placed", "contactId": "x", "email": "a@example.com"}, "/email"),
        ({"name": "order.placed", "data": {"x": "y" * 16_384}}, "/data"),
        ({"name": "order.placed", "data": []}, "/data"),
        ({"name": "order.placed", "when": "now"}, "/when"),
    ],
)
async def test_invalid_events_are_refused_with_the_path(project, body, path):
    response = await project.client.post("/events", body)
    assert response.status_code == 400
    assert response.json()["errors"][0]["path"] == path
    assert await recorded_orders(project) == []


async def test_the_same_key_twice_in_one_batch_is_refused(project):
    twice = [{"name": "order.placed", "idempotencyKey": "k"}] * 2
    assert (await project.client.post("/events/batch", {"events": twice})).status_code == 400


async def test_audience_rules_can_use_events(project, run_due_work, clock):
    audience_ids = {}
    for name, operator, value in (("ever", "exists", None), ("never", "notExists", None), ("lately", "withinDays", 7)):
        condition = {"field": "events.order.placed", "operator": operator}
        rules = {"match": "all", "conditions": [condition if value is None else {**condition, "value": value}]}
        audience_ids[name] = (await project.client.post("/audiences", {"name": name, "rules": rules})).json()["id"]

    async def members():
        emails = {}
        for name, audience_id in audience_ids.items():
            contacts = (await project.client.get(f"/audiences/{audience_id}/contacts")).json()["data"]
            emails[name] = sorted(contact["email"] for contact in contacts)
        return emails

    await project.client.post("/contacts", {"email": "bob@example.com"})
    await project.client.post("/events", {"name": "order.placed", "email": "ada@example.com"})
    await project.client.post("/events", {"name": "order.paid", "email": "bob@example.com"})
    ada, bob = ["ada@example.com"], ["bob@example.com"]
    assert await members() == {"ever": ada, "never": bob, "lately": ada}
    clock.move(timedelta(days=8))
    await run_due_work()
    assert await members() == {"ever": ada, "never": bob, "lately": []}
    contact = (await project.client.get("/contacts?q=bob")).json()["data"][0]["id"]
    await project.client.post("/events", {"name": "order.placed", "contactId": contact})
    assert await members() == {"ever": ada + bob, "never": [], "lately": bob}


@pytest.mark.parametrize(
    ("condition", "path"),
    [
        ({"field": "events.email.opened", "operator": "exists"}, "field"),
        ({"field": "events.", "operator": "exists"}, "field"),
        ({"field": "events.order.placed", "operator": "contains", "value": 1}, "operator"),
        ({"field": "events.order.placed", "operator": "withinDays", "value": "x"}, "value"),
    ],
)
async def test_invalid_conditions_on_events_are_refused_with_the_path(project, condition, path):
    response = await project.client.post("/audiences", {"name": "A", "rules": {"conditions": [condition]}})
    assert response.status_code == 400
    assert response.json()["errors"][0]["path"].endswith(f"/conditions/0/{path}")


async def test_batches_with_the_same_new_contacts_do_not_deadlock(project):
    batch = [{"name": "order.placed", "email": f"c{number}@example.com"} for number in range(200)]
    orders = [batch, batch[::-1], batch[100:] + batch[:100], batch[::-1], batch]
    responses = await asyncio.gather(*(project.client.post("/events/batch", {"events": events}) for events in orders))
    assert [response.status_code for response in responses] == [201] * 5
    assert (
        len({tuple(sorted(result["contactId"] for result in response.json()["data"])) for response in responses}) == 1
    )
    assert (await project.client.get("/contacts")).json()["total"] == 200
