"""Bulk requests, simultaneous requests, and requests that are interrupted."""

import asyncio
from datetime import timedelta
from uuid import UUID

import psycopg
import pytest

from postern.identity.scim import authentication, users
from postern.kernel.limits import RateLimit
from tests.identity.scim.conftest import BULK, GROUP, PATCH, USER, connect


def new_user(acme, name, bulk_id=None, **fields):
    data = {"schemas": [USER], "userName": acme.address(name), **fields}
    return {"method": "POST", "path": "/Users", "bulkId": bulk_id or name, "data": data}


async def bulk(acme, *operations, status=200, **fields):
    response = await acme.scim.post("/Bulk", {"schemas": [BULK], "Operations": list(operations), **fields})
    assert response.status_code == status, response.text
    return response.json().get("Operations", response.json())


async def test_operations_refer_to_resources_that_earlier_ones_created(acme):
    members = [{"type": "User", "value": "bulkId:ada"}]
    results = await bulk(
        acme,
        new_user(acme, "ada"),
        {
            "method": "post",
            "path": "/Groups",
            "bulkId": "admins",
            "data": {"schemas": [GROUP], "displayName": "Administrators", "members": members},
        },
        {
            "method": "PATCH",
            "path": "/Users/bulkId:ada",
            "data": {"schemas": [PATCH], "Operations": [{"op": "add", "path": "title", "value": "Dr"}]},
        },
        {"method": "PUT", "path": "/Users/bulkId:ada", "version": 'W/"1"', "data": {}},
    )
    assert [(result["status"], result.get("version")) for result in results] == [
        ("201", 'W/"1"'),
        ("201", 'W/"1"'),
        ("200", 'W/"2"'),
        ("400", None),
    ]
    assert [result.get("bulkId") for result in results] == ["ada", "admins", None, None]
    assert results[0]["location"].startswith(f"{acme.connection['baseUrl']}/Users/")
    assert results[3]["response"]["scimType"] == "invalidSyntax"
    assert await acme.members() == {acme.address("ada"): ["MEMBER", "ADMIN"]}
    [deleted] = await bulk(acme, {"method": "DELETE", "path": results[0]["location"].partition(acme.scim.base)[2]})
    assert deleted["status"] == "204"
    assert await acme.members() == {}


async def test_bulk_requests_stop_after_errors_and_have_limits(acme):
    results = await bulk(acme, new_user(acme, "ada"), new_user(acme, "ada", "2"), new_user(acme, "bob"), failOnErrors=1)
    assert [result["status"] for result in results] == ["201", "409"]
    assert results[1]["response"]["scimType"] == "uniqueness"
    refused = await bulk(
        acme,
        {"method": "POST", "path": "/Users", "data": {}},
        {"method": "GET", "path": "/Users"},
        {"method": "POST", "path": "/Nothing", "bulkId": "1", "data": {}},
        {"method": "DELETE", "path": "/Users/bulkId:unknown"},
        {"method": "DELETE", "path": "/Users/x/y/z"},
        "nothing",
        {"method": "PUT", "path": "/Users/x", "version": 'W/"7"', "data": {"schemas": [USER], "userName": "x"}},
        {"method": "POST", "path": "/Bulk", "bulkId": "2", "data": {}},
    )
    assert [result["status"] for result in refused] == ["400", "400", "400", "400", "400", "400", "404", "400"]
    await bulk(acme, *[new_user(acme, str(number)) for number in range(101)], status=413)
    await bulk(acme, status=200)
    for body in ({}, [], {"Operations": "x"}, {"Operations": [], "failOnErrors": 0}):
        assert (await acme.scim.post("/Bulk", body)).status_code == 400
    assert list(await acme.members()) == [acme.address("ada")]


async def test_simultaneous_posts_create_one_user(acme):
    body = {"schemas": [USER], "userName": acme.address("ada"), "externalId": "1"}
    responses = await asyncio.gather(*(acme.scim.post("/Users", body) for _ in range(5)))
    assert sorted(response.status_code for response in responses) == [201, 409, 409, 409, 409]
    assert len(await acme.members()) == 1


async def test_simultaneous_changes_are_serialised(acme):
    names = [f"user{number}" for number in range(4)]
    created = [await acme.user(name) for name in names]
    group = await acme.group("Administrators", *created[:2])
    members = [{"value": user["id"]} for user in created]
    await asyncio.gather(
        acme.patch(f"/Groups/{group['id']}", {"op": "add", "path": "members", "value": members}),
        acme.patch(f"/Groups/{group['id']}", {"op": "remove", "path": "members", "value": members[:1]}),
        acme.scim.delete(f"/Users/{created[3]['id']}"),
        acme.patch(f"/Users/{created[2]['id']}", {"op": "replace", "path": "active", "value": False}),
        acme.project.client.patch(acme.path, {"groupRoles": {"Administrators": ["ADMIN"]}}),
        return_exceptions=True,
    )
    after = (await acme.scim.get(f"/Groups/{group['id']}")).json()
    in_group = {member["value"] for member in after["members"]}
    roles = await acme.members()
    for name, user in zip(names[:2], created[:2], strict=True):
        assert ("ADMIN" in roles[acme.address(name)]) == (user["id"] in in_group), name
    assert set(roles) == {acme.address(name) for name in names[:2]}


@pytest.mark.parametrize("interruption", [RuntimeError, asyncio.CancelledError])
async def test_an_interrupted_bulk_request_can_be_repeated(acme, monkeypatch, interruption):
    """Each operation is a transaction of its own: it has happened completely or not at all."""
    join, calls = users.members.join, 0

    async def interrupted(*args, **kwargs):
        nonlocal calls
        calls += 1
        if calls == 3:
            raise interruption
        return await join(*args, **kwargs)

    monkeypatch.setattr(users.members, "join", interrupted)
    operations = [new_user(acme, str(number)) for number in range(5)]
    with pytest.raises((asyncio.CancelledError, AssertionError)):
        await bulk(acme, *operations)
    assert len(await acme.members()) == len(await acme.find("active eq true")) == 2
    total = (await acme.project.client.get("/customers/stats")).json()["total"]
    assert total == 2, "the customer of the interrupted operation was not created"
    results = await bulk(acme, *operations)
    assert [result["status"] for result in results] == ["409", "409", "201", "201", "201"]
    assert len(await acme.members()) == 5


async def test_waiting_changes_of_a_directory_hold_one_database_connection(acme, organizations, world, lock_waits):
    other = await connect(organizations, await organizations.organization("Other"), "other.example")
    lock = "select pg_advisory_xact_lock(hashtextextended(%s, 0))"
    async with await psycopg.AsyncConnection.connect(world.db.url) as blocker:
        await blocker.execute(lock, (f"count:directory:{acme.connection['id']}",))
        changes = [asyncio.create_task(acme.user(f"user{number}")) for number in range(21)]
        await lock_waits(1)
        while world.resources[authentication.DirectorySlots]._by_connection[  # Until all wait.
            UUID(acme.connection["id"])
        ].change_count < len(changes):
            await asyncio.sleep(0.01)
        refused = await acme.scim.post("/Users", {"schemas": [USER], "userName": acme.address("eve")})
        assert (refused.status_code, refused.headers["retry-after"]) == (429, "5")
        await lock_waits(1)
        assert (await acme.scim.get("/Users")).status_code == 200
        assert (await other.group("Others"))["displayName"] == "Others", "other directories do not wait"
        await blocker.rollback()
    assert len(await asyncio.gather(*changes)) == len(await acme.members()) == 21


async def test_a_directory_has_a_rate_limit(acme, monkeypatch, clock):
    monkeypatch.setattr(authentication, "SCIM_RATE", RateLimit("scim-test", 2, authentication.SCIM_RATE.window))
    statuses = [(await acme.scim.get("/Users?count=0")).status_code for _ in range(3)]
    assert statuses == [200, 200, 429]
    limited = await acme.scim.get("/Users?count=0")
    assert int(limited.headers["retry-after"]) >= 1
    monkeypatch.setattr(authentication, "SCIM_RATE", RateLimit("scim-bulk-test", 2, timedelta(hours=1)))
    await bulk(acme, *[new_user(acme, str(number)) for number in range(3)], status=429)
    assert await acme.members() == {}, "each operation counts, and none was executed"
