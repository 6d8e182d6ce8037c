"""The export of an account, and its audit log."""

import json
import resource
from datetime import timedelta
from uuid import UUID

import pytest

from postern.kernel.database.catalog import tenant_tables
from postern.platform.accounts.export import _document, exported_columns
from tests.platform.accounts.test_deletion import fill


async def test_the_export_contains_every_table(house):
    await fill(house.tenant)
    _, grace = await house.member("VIEWER")
    booking = await house.owner.post("/account/auth-billing/checkout", {"billingCycle": "yearly"})
    assert (await house.stranger.request("POST", booking.json()["url"])).status_code == 200
    await house.work_off()
    answer = await house.owner.get("/account/export")
    assert answer.status_code == 200
    assert "attachment" in answer.headers["content-disposition"]
    document = answer.json()
    assert document["account"]["id"] == house.tenant.account_id
    assert [each["role"] for each in document["members"]] == ["VIEWER", "OWNER"]
    assert [each["userAgent"] for each in document["sessions"]] == [house.owner.http.headers["user-agent"]] * 2
    assert {each["developerId"] for each in document["sessions"]} == {each["id"] for each in document["members"]}
    assert [(each["plan"], each["billingCycle"]) for each in document["billing"]] == [("pro", "yearly")]
    assert "member.joined" in [each["action"] for each in document["auditLog"]]
    (project,) = document["projects"]
    assert len(project["contacts"]) == 30
    assert len(project["sends"]) == 3
    assert len(project["audienceMembers" if "audienceMembers" in project else "memberships"]) == 30
    assert project["contacts"][0]["createdAt"].endswith("Z")
    assert project["apiKeys"][0]["name"] == "server"
    assert (await grace.get("/account/export")).status_code == 403


async def test_the_export_contains_no_secrets(house, world):
    relay = {"host": "smtp.example.com", "username": "u", "password": "hunter2hunter2"}
    await house.owner.patch("", {"settings": {"relays": [relay]}})
    made = (await house.owner.post("/webhooks", {"url": "https://example.com/x", "events": ["*"]})).json()
    text = (await house.owner.get("/account/export")).text
    assert house.tenant.secret_key not in text
    assert house.owner.token not in text
    assert "hunter2" not in text
    assert made["secret"] not in text
    assert "argon2" not in text
    tables = await tenant_tables(world.db)
    async with world.db.connection() as connection:
        for table in tables:
            hidden = {each.name for each in table.columns if each.type == "bytea"}
            hidden -= {each.name for each in exported_columns(table)}
            for column in hidden:
                query = f'select "{column}" from "{table.name}" where project_id = %s and "{column}" is not null'
                for (value,) in await (await connection.execute(query, (UUID(house.tenant.id),))).fetchall():
                    assert bytes(value).hex() not in text, f"{table.name}.{column}"


async def test_the_export_contains_no_rows_of_another_account(house, new_project):
    theirs = await new_project()
    await fill(theirs)
    text = (await house.owner.get("/account/export")).text
    assert theirs.id not in text
    assert theirs.email not in text
    assert theirs.account_id not in text


async def test_memory_does_not_grow_with_the_size_of_the_export(house, world):
    """With 100,000 contacts; bench/accounts.py measures a million."""
    async with world.db.connection() as connection:
        await connection.execute(
            "insert into contacts (project_id, id, email, email_key, attributes, created_at, updated_at) "
            'select %s, gen_random_uuid(), e, e, \'{"plan": "free"}\', now(), now() '
            "from generate_series(1, 100000) n, lateral (select 'c' || n || '@example.com') x (e)",
            (UUID(house.tenant.id),),
        )
    parts = largest = total = 0
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    async for part in _document(world, UUID(house.tenant.account_id), {"x": 1}):
        parts, largest, total = parts + 1, max(largest, len(part)), total + len(part)
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024
    assert total > 15_000_000
    assert largest < 1_000_000
    assert grown < total / 2


async def test_the_audit_log_is_filtered_and_paged(house, clock):
    for name in ("One", "Two", "Three"):
        await house.owner.patch("/account", {"accountName": name})
        clock.move(timedelta(minutes=5))
    made = (await house.owner.post("/api-keys", {"name": "x"})).json()
    everything = (await house.owner.get("/account/audit-log")).json()
    assert [each["action"] for each in everything["data"]][:4] == ["api_key.created", *["account.renamed"] * 3]
    page = (await house.owner.get("/account/audit-log?action=account.renamed&limit=2&page=2")).json()
    assert (page["total"], page["pages"], [each["metadata"]["name"] for each in page["data"]]) == (3, 2, ["One"])
    key = (await house.owner.get(f"/account/audit-log?targetId={made['id']}")).json()["data"]
    assert [(each["projectId"], each["actorEmail"]) for each in key] == [(house.tenant.id, house.tenant.email)]
    me = (await house.owner.get("/account")).json()["id"]
    of_me = (await house.owner.get(f"/account/audit-log?actorId={me}&projectId={house.tenant.id}")).json()
    assert {each["action"] for each in of_me["data"]} == {"api_key.created"}
    since = page["data"][0]["createdAt"]
    later = (await house.owner.get("/account/audit-log", params={"from": since, "to": key[0]["createdAt"]})).json()
    assert "api_key.created" in {each["action"] for each in later["data"]}
    assert [each["metadata"]["name"] for each in later["data"] if each["action"] == "account.renamed"] == [
        "Three",
        "Two",
        "One",
    ]
    assert made["id"] not in {each["targetId"] for each in later["data"]}
    assert (await house.owner.get("/account/audit-log?from=yesterday")).status_code == 400
    assert (await house.owner.get("/account/audit-log?targetType=Nothing")).json()["total"] == 0


async def test_the_audit_log_of_another_account_is_not_listed(house, new_project):
    theirs = await new_project()
    answer = await house.owner.get(f"/account/audit-log?projectId={theirs.id}")
    assert answer.json()["total"] == 0


@pytest.mark.parametrize("value", ["'; drop table audit_log; --", "%", "x" * 200])
async def test_filters_are_not_interpreted_as_sql(house, value):
    for name in ("action", "targetType", "targetId", "actorId", "projectId"):
        answer = await house.owner.get("/account/audit-log", params={name: value})
        assert (answer.status_code, answer.json()["total"]) == (200, 0)


async def test_an_empty_export_is_valid_json(house, world):
    parts = [part async for part in _document(world, UUID(int=0), {"x": 1})]
    assert json.loads(b"".join(parts))["projects"] == []
