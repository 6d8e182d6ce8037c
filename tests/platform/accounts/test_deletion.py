"""Deletion of projects and accounts: not found at once, while the rows are deleted in chunks."""

import asyncio
from uuid import UUID

from postern.kernel.database import catalog
from postern.kernel.database.catalog import tenant_tables
from postern.kernel.due import drain
from postern.platform.accounts import deletion
from tests.conftest import PASSWORD


async def rows_left(world, project_id: str) -> dict[str, int]:
    """The number of rows of a project in each table that has any."""
    counts = {}
    tables = await tenant_tables(world.db)
    async with world.db.connection() as connection:
        for table in tables:
            query = f'select count(*) from "{table.name}" where project_id = %s'
            (number,) = await (await connection.execute(query, (UUID(project_id),))).fetchone()
            if number:
                counts[table.name] = number
    return counts


async def fill(project, contacts: int = 30) -> None:
    """Create records of many kinds in a project."""
    for number in range(3):
        sent = await project.client.post(
            "/emails", {"to": [f"x{number}@example.com"], "from": "a@acme.example", "subject": "Hi", "text": "Hello"}
        )
        assert sent.status_code == 201, sent.text
    audience = (await project.client.post("/audiences", {"name": "Everybody"})).json()
    body = {"emails": [f"c{number}@example.com" for number in range(contacts)]}
    assert (await project.client.post(f"/audiences/{audience['id']}/contacts/bulk-email", body)).status_code == 200
    hook = {"url": "https://example.com/hook", "events": ["*"]}
    await project.client.post("/webhooks", hook)
    await project.client.post("/domains", {"name": "acme.example"})


async def project_row(world, project_id: str):
    async with world.db.connection() as connection:
        query = "select deleted_at from projects where id = %s"
        return await (await connection.execute(query, (UUID(project_id),))).fetchone()


async def test_a_deleted_project_is_not_found_at_once_and_its_rows_are_deleted(
    project, world, clock, new_project, run_due_work
):
    other = await new_project()
    await fill(project)
    await fill(other, contacts=5)
    rows_of_other = await rows_left(world, other.id)
    assert {"sends", "contacts", "audiences", "events", "api_keys"} <= set(await rows_left(world, project.id))
    deleted = await project.developer.delete("")
    assert (deleted.status_code, deleted.json()) == (200, {"deleted": True})
    assert (await project.developer.get("")).status_code == 404
    assert (await project.developer.delete("")).status_code == 404
    assert (await project.client.get("")).status_code == 401
    assert (await project.developer.get("/account")).json()["projects"] == []
    await run_due_work()
    assert await rows_left(world, project.id) == {}
    assert await project_row(world, project.id) is None
    log = (await project.developer.get("/account/audit-log?action=project.deleted")).json()
    assert [entry["targetId"] for entry in log["data"]] == [project.id]
    clock.move(deletion.LATE_ROWS_DELAY)
    await run_due_work()
    assert await rows_left(world, project.id) == {}
    assert await rows_left(world, other.id) == rows_of_other


async def test_rows_inserted_during_the_deletion_are_deleted(project, world, clock, run_due_work):
    await project.developer.delete("")
    await run_due_work()
    async with world.db.connection() as connection:
        await connection.execute(
            "insert into events (project_id, id, type, actor_type, occurred_at) values (%s, gen_random_uuid(), 'x', "
            "'SYSTEM', now())",
            (UUID(project.id),),
        )
    clock.move(deletion.LATE_ROWS_DELAY)
    await run_due_work()
    assert await rows_left(world, project.id) == {}


async def test_an_interrupted_deletion_is_continued(project, world, clock, monkeypatch, run_due_work):
    """The worker dies after some small chunks; when its lease expires, another one continues."""
    await fill(project)
    await run_due_work()
    before = await rows_left(world, project.id)
    await project.developer.delete("")
    chunks = 0

    delete_some = catalog.delete_some

    async def delete_some_or_die(db, rows_to_delete, values):
        nonlocal chunks
        chunks += 1
        if chunks == 10:
            raise asyncio.CancelledError
        return await delete_some(db, rows_to_delete, values, limit=3)

    monkeypatch.setattr(catalog, "delete_some", delete_some_or_die)
    await drain(world, [deletion.DELETIONS])
    left_after_crash = await rows_left(world, project.id)
    assert 0 < sum(left_after_crash.values()) < sum(before.values())
    monkeypatch.setattr(catalog, "delete_some", delete_some)
    await drain(world, [deletion.DELETIONS])
    assert await rows_left(world, project.id) == left_after_crash  # The dead worker's lease still runs.
    clock.move(deletion.DELETIONS.lease)
    await drain(world, [deletion.DELETIONS])
    assert await rows_left(world, project.id) == {}
    assert await project_row(world, project.id) is None


async def test_a_large_deletion_runs_in_chunks(project, world, monkeypatch, run_due_work):
    await fill(project)
    monkeypatch.setattr(catalog, "MAX_CHUNKS", 2)
    await project.developer.delete("")
    await run_due_work()
    async with world.db.connection() as connection:
        query = "select attempt from deletions where target_id = %s"
        (attempt,) = await (await connection.execute(query, (UUID(project.id),))).fetchone()
    assert attempt > 3


async def test_deleting_an_account_deletes_all_its_rows_and_frees_the_address(account, world, clock, stranger):
    project = account.tenant
    await fill(project)
    _, grace = await account.member()
    invitation_token = await account.invite("somebody@example.com")
    wrong = await account.owner.delete("/account", {"password": "wrong"})
    assert (wrong.status_code, wrong.json()["code"]) == (403, "password_wrong")
    deleted = await account.owner.delete("/account", {"password": PASSWORD})
    assert (deleted.status_code, deleted.json()) == (200, {"deleted": True})
    for client in (account.owner, grace):
        assert (await client.get("/account")).status_code == 401
    assert (await project.client.get("")).status_code == 401
    body = {"email": "somebody@example.com", "password": PASSWORD, "invitationToken": invitation_token}
    assert (await stranger.post("/auth/sign-up", body)).status_code == 400
    again = await stranger.post("/auth/sign-up", {"email": project.email, "password": PASSWORD})
    assert again.status_code == 201
    await account.run_due_work()
    clock.move(deletion.LATE_ROWS_DELAY)
    await account.run_due_work()
    assert await rows_left(world, project.id) == {}
    async with world.db.connection() as connection:
        for query in (
            "select 1 from accounts where id = %s",
            "select 1 from developers where account_id = %s",
            "select 1 from audit_log where account_id = %s",
            "select 1 from audit_heads where chain_id = %s",
            "select 1 from deletions where account_id = %s",
            "select 1 from account_mails where account_id = %s",
        ):
            assert await (await connection.execute(query, (UUID(project.account_id),))).fetchone() is None, query


async def test_a_project_created_during_the_deletion_of_its_account_is_deleted(account, world, clock):
    """A concurrent request may create a project between the deletion of the account and that of its rows."""
    await account.owner.delete("/account", {"password": PASSWORD})
    async with world.db.connection() as connection:
        await connection.execute(
            "insert into projects (id, account_id, name, created_at, updated_at) "
            "values (gen_random_uuid(), %s, 'late', now(), now())",
            (UUID(account.tenant.account_id),),
        )
    for _ in range(3):
        await account.run_due_work()
        clock.move(deletion.LATE_ROWS_DELAY)
    async with world.db.connection() as connection:
        for query in ("select 1 from accounts where id = %s", "select 1 from projects where account_id = %s"):
            assert await (await connection.execute(query, (UUID(account.tenant.account_id),))).fetchone() is None


async def test_a_viewer_cannot_delete_a_project(account):
    _, viewer = await account.member("VIEWER")
    assert (await viewer.delete("")).status_code == 403
    assert (await account.owner.get("")).status_code == 200


async def test_rows_are_deleted_before_the_rows_they_reference(world):
    async with world.db.connection() as connection:
        rows = await (
            await connection.execute(
                "select conrelid::regclass::text, confrelid::regclass::text from pg_constraint "
                "where contype = 'f' and conrelid <> confrelid"
            )
        ).fetchall()
    order = [table.name for table in await tenant_tables(world.db)]
    assert len(order) > 20
    for child, parent in rows:
        if child in order and parent in order:
            assert order.index(child) < order.index(parent), f"{child} refers to {parent}"


async def test_every_tenant_table_has_its_project_in_the_key(world):
    """Deletion and export read tables in chunks by the primary key, which must start with the project."""
    for table in await tenant_tables(world.db):
        assert "project_id" in [column.name for column in table.key], table.name
