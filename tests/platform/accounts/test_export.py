"""The export of an account, and its audit log."""

import json
import resource
from datetime import timedelta
from uuid import UUID

import pytest

from postern.kernel.database.catalog import tenant_tables
from postern.platform.accounts.export import _document, exported_columns
from tests.platform.accounts.test_deletion import fill


async def test_the_export_contains_every_table(account):
    await fill(account.tenant)
    _, grace = await account.member("VIEWER")
    booking = await account.owner.post("/account/auth-billing/checkout", {"billingCycle": "yearly"})
    assert (await account.stranger.request("POST", booking.json()["url"])).status_code == 200
    await account.run_due_work()
    response = await account.owner.get("/account/export")
    assert response.status_code == 200
    assert "attachment" in response.headers["content-disposition"]
    document = response.json()
    assert document["account"]["id"] == account.tenant.account_id
    assert [member["role"] for member in document["members"]] == ["VIEWER", "OWNER"]
    assert [session["userAgent"] for session in document["sessions"]] == [account.owner.http.headers["user-agent"]] * 2
    assert {session["developerId"] for session in document["sessions"]} == {
        member["id"] for member in document["members"]
    }
    assert [(row["plan"], row["billingCycle"]) for row in document["billing"]] == [("pro", "yearly")]
    assert "member.joined" in [entry["action"] for entry in document["auditLog"]]
    (project,) = document["projects"]
    assert len(project["contacts"]) == 30
    assert len(project["sends"]) == 3
    assert len(project["audienceMembers" if "audienceMembers" in project else "memberships"]) == 30
    assert project["contacts"][0]["createdAt"].endswith("Z")
    assert project["apiKeys"][0]["name"] == "server"
    assert (await grace.get("/account/export")).status_code == 403


async def test_the_export_contains_no_secrets(account, world):
    relay = {"host": "smtp.example.com", "username": "u", "password": "hunter2hunter2"}
    await account.owner.patch("", {"settings": {"relays": [relay]}})
    created = (await account.owner.post("/webhooks", {"url": "https://example.com/x", "events": ["*"]})).json()
    text = (await account.owner.get("/account/export")).text
    assert account.tenant.secret_key not in text
    assert account.owner.token not in text
    assert "hunter2" not in text
    assert created["secret"] not in text
    assert "argon2" not in text
    tables = await tenant_tables(world.db)
    async with world.db.connection() as connection:
        for table in tables:
            hidden = {column.name for column in table.columns if column.type == "bytea"}
            hidden -= {column.name for column in exported_columns(table)}
            for column in hidden:
                query = f'select "{column}" from "{table.name}" where project_id = %s and "{column}" is not null'
                for (value,) in await (await connection.execute(query, (UUID(account.tenant.id),))).fetchall():
                    assert bytes(value).hex() not in text, f"{table.name}.{column}"


async def test_the_export_contains_no_rows_of_another_account(account, new_project):
    other_project = await new_project()
    await fill(other_project)
    text = (await account.owner.get("/account/export")).text
    assert other_project.id not in text
    assert other_project.email not in text
    assert other_project.account_id not in text


async def test_memory_does_not_grow_with_the_size_of_the_export(account, world):
    """With 100,000 contacts; bench/accounts.py measures a million."""
    async with world.db.connection() as connection:
        await connection.execute(
            "insert into contacts (project_id, id, email, email_key, attributes, created_at, updated_at) "
            'select %s, gen_random_uuid(), e, e, \'{"plan": "free"}\', now(), now() '
            "from generate_series(1, 100000) n, lateral (select 'c' || n || '@example.com') x (e)",
            (UUID(account.tenant.id),),
        )
    parts = largest = total = 0
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    async for part in _document(world, UUID(account.tenant.account_id), {"x": 1}):
        parts, largest, total = parts + 1, max(largest, len(part)), total + len(part)
    growth = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024
    assert total > 15_000_000
    assert largest < 1_000_000
    assert growth < total / 2


async def test_the_audit_log_is_filtered_and_paged(account, clock):
    for name in ("One", "Two", "Three"):
        await account.owner.patch("/account", {"accountName": name})
        clock.move(timedelta(minutes=5))
    created = (await account.owner.post("/api-keys", {"name": "x"})).json()
    all_entries = (await account.owner.get("/account/audit-log")).json()
    assert [entry["action"] for entry in all_entries["data"]][:4] == ["api_key.created", *["account.renamed"] * 3]
    page = (await account.owner.get("/account/audit-log?action=account.renamed&limit=2&page=2")).json()
    assert (page["total"], page["pages"], [entry["metadata"]["name"] for entry in page["data"]]) == (3, 2, ["One"])
    key_entries = (await account.owner.get(f"/account/audit-log?targetId={created['id']}")).json()["data"]
    assert [(entry["projectId"], entry["actorEmail"]) for entry in key_entries] == [
        (account.tenant.id, account.tenant.email)
    ]
    own_id = (await account.owner.get("/account")).json()["id"]
    own_entries = (await account.owner.get(f"/account/audit-log?actorId={own_id}&projectId={account.tenant.id}")).json()
    assert {entry["action"] for entry in own_entries["data"]} == {"api_key.created"}
    since = page["data"][0]["createdAt"]
    entries_since = (
        await account.owner.get("/account/audit-log", params={"from": since, "to": key_entries[0]["createdAt"]})
    ).json()
    assert "api_key.created" in {entry["action"] for entry in entries_since["data"]}
    assert [entry["metadata"]["name"] for entry in entries_since["data"] if entry["action"] == "account.renamed"] == [
        "Three",
        "Two",
        "One",
    ]
    assert created["id"] not in {entry["targetId"] for entry in entries_since["data"]}
    assert (await account.owner.get("/account/audit-log?from=yesterday")).status_code == 400
    assert (await account.owner.get("/account/audit-log?targetType=Nothing")).json()["total"] == 0


async def test_the_audit_log_of_another_account_is_not_listed(account, new_project):
    other_project = await new_project()
    response = await account.owner.get(f"/account/audit-log?projectId={other_project.id}")
    assert response.json()["total"] == 0


@pytest.mark.parametrize("value", ["'; drop table audit_log; --", "%", "x" * 200])
async def test_filters_are_not_interpreted_as_sql(account, value):
    for name in ("action", "targetType", "targetId", "actorId", "projectId"):
        response = await account.owner.get("/account/audit-log", params={name: value})
        assert (response.status_code, response.json()["total"]) == (200, 0)


async def test_an_empty_export_is_valid_json(account, world):
    parts = [part async for part in _document(world, UUID(int=0), {"x": 1})]
    assert json.loads(b"".join(parts))["projects"] == []
