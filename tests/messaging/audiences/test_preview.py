"""A preview of rules counts the contacts that an audience with these rules would have."""

import asyncio
from datetime import timedelta
from uuid import uuid4

import pytest

from postern.messaging.audiences import preview, store
from tests.platform.accounts.members import AccountHelper

PRO = {"match": "all", "conditions": [{"field": "plan", "operator": "eq", "value": "pro"}]}


async def create_contacts(project, count: int, **attributes) -> None:
    for _ in range(count):
        body = {"email": f"{uuid4().hex}@example.com", "attributes": attributes}
        assert (await project.client.post("/contacts", body)).status_code == 201


async def test_a_preview_counts_the_members_that_an_audience_would_have(project, new_project):
    await create_contacts(project, 12, plan="pro")
    await create_contacts(project, 3, plan="free")
    await create_contacts(await new_project(), 2, plan="pro")
    response = await project.client.post("/audiences/preview", {"rules": PRO})
    assert response.status_code == 200, response.text
    shown = response.json()
    assert (shown["count"], len(shown["contacts"])) == (12, 10)
    made = (await project.client.post("/audiences", {"name": "pro", "rules": PRO})).json()
    members = (await project.client.get(f"/audiences/{made['id']}/contacts?limit=10")).json()
    assert members["total"] == 12
    assert shown["contacts"] == members["data"]
    empty = {"match": "any", "conditions": []}
    assert (await project.client.post("/audiences/preview", {"rules": empty})).json() == {
        "count": 0,
        "contacts": [],
    }
    referring = {"match": "all", "conditions": [{"field": "audience", "operator": "neq", "value": made["id"]}]}
    assert (await project.client.post("/audiences/preview", {"rules": referring})).json()["count"] == 3


async def test_a_preview_stores_nothing(project):
    before = (await project.client.get("/events")).json()
    await project.client.post("/audiences/preview", {"rules": PRO})
    assert (await project.client.get("/audiences")).json() == []
    assert (await project.client.get("/events")).json() == before


async def test_a_preview_that_takes_too_long_ends(project, monkeypatch):
    async def count_slowly(tx, **_):
        async with tx.connection() as connection:
            await connection.execute("select pg_sleep(30)")

    monkeypatch.setattr(preview, "PREVIEW_TIME", timedelta(milliseconds=50))
    monkeypatch.setattr(store, "count_matching", count_slowly)
    refused = await project.client.post("/audiences/preview", {"rules": PRO})
    assert (refused.status_code, refused.json()["code"]) == (422, "preview_too_slow")
    monkeypatch.undo()
    # The limit ends with its transaction.
    assert (await project.client.post("/audiences/preview", {"rules": PRO})).json()["count"] == 0


async def test_one_preview_of_a_project_runs_at_a_time(project, monkeypatch):
    running, most = 0, 0
    count_matching = store.count_matching

    async def count(tx, **parameters):
        nonlocal running, most
        running += 1
        most = max(most, running)
        await asyncio.sleep(0.01)
        running -= 1
        return await count_matching(tx, **parameters)

    monkeypatch.setattr(store, "count_matching", count)
    responses = await asyncio.gather(*(project.client.post("/audiences/preview", {"rules": PRO}) for _ in range(20)))
    assert {response.status_code for response in responses} == {200}
    assert most == 1


def rules_with(**condition) -> dict:
    return {"rules": {"conditions": [condition]}}


@pytest.mark.parametrize(
    ("body", "path"),
    [
        ({}, "/rules"),
        (
            rules_with(field="plan", operator="like", value="x"),
            "/rules/conditions/0/operator",
        ),
        (rules_with(field="plan", operator="eq"), "/rules/conditions/0/value"),
        (
            rules_with(field="audience", operator="eq", value=str(uuid4())),
            "/rules/conditions",
        ),
        ({"rules": {"conditions": [], "colour": 1}}, "/rules/colour"),
    ],
)
async def test_invalid_rules_are_refused_with_their_path(project, body, path):
    refused = await project.client.post("/audiences/preview", body)
    assert refused.status_code == 400
    assert refused.json()["errors"][0]["path"] == path


async def test_permissions(project, new_project, stranger, run_due_work, world):
    _, viewer = await AccountHelper(project, stranger, run_due_work, world).member("VIEWER")
    assert (await viewer.post("/audiences/preview", {"rules": PRO})).status_code == 200
    assert (await (await project.key("emails:read")).post("/audiences/preview", {"rules": PRO})).status_code == 403
    foreign = await (await new_project()).client.post(f"/projects/{project.id}/audiences/preview", {"rules": PRO})
    assert foreign.status_code == 404
