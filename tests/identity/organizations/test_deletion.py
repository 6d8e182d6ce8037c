"""A deleted organization is inaccessible at once; its rows are deleted in chunks."""

import asyncio
from dataclasses import replace
from uuid import UUID, uuid4

import pytest
from psycopg.sql import SQL, Identifier

from postern.identity.organizations.work import WORK
from postern.kernel.database import catalog
from postern.kernel.due import drain
from tests.identity.organizations.conftest import PASSWORD, Directory
from tests.peers.identity_provider import IdentityProvider

DELETIONS = [work for work in WORK if work.name == "organizations.deletions"]


@pytest.fixture
async def full_organization(directory: Directory):
    """An organization with rows in every table that references organizations, its domain name, and its connection.

    No other organization is waiting for deletion.
    """
    await directory.run_due_work()
    acme = await directory.organization("Acme", externalId="acme-17")
    path, client, idp = f"/b2b/organizations/{acme['id']}", directory.project.client, IdentityProvider()
    domain_name = f"{uuid4().hex[:10]}.example"
    await directory.verified_domain(acme, domain_name)
    for _ in range(5):
        await directory.member(acme, "ADMIN")
    for number in range(4):
        response = await client.post(f"{path}/invitations", {"email": f"new-{number}@{domain_name}", "role": "MEMBER"})
        assert response.status_code == 201, response.text
    body = {
        "name": "Acme",
        "domain": domain_name,
        "idpEntityId": idp.entity_id,
        "idpSsoUrl": f"{idp.base}/login",
        "idpCertificate": [idp.certificate],
    }
    connection = (await client.post(f"{path}/sso-connections", body)).json()
    assert (await client.post(f"{path}/sso-connections/{connection['id']}/activate")).status_code == 200
    feature = {"key": "seats", "name": "Seats", "type": "LIMIT", "defaultLimit": 3}
    assert (await client.post("/b2b/features", feature)).status_code == 201
    assert (await client.post("/b2b/plans", {"key": "pro", "name": "Pro"})).status_code == 201
    assert (await client.put(f"{path}/plan", {"planKey": "pro"})).status_code == 204
    override = {"enabled": True, "limit": 9, "reason": "A pilot"}
    response = await client.put(f"{path}/entitlements/seats", override)
    assert response.status_code in (200, 201), response.text
    return acme, domain_name, connection


async def count_rows_to_delete(world, project_id: str, organization_id: str) -> dict[str, int]:
    """How many rows the deletion of an organization will delete, by table. Tables without such rows are omitted."""
    counts = {}
    for rows in [*await catalog.dependent_rows(world.db, "organizations")]:
        query = SQL("select count(*) from {} where {}").format(Identifier(rows.table), rows.condition)
        values = {"project_id": UUID(project_id), "id": UUID(organization_id)}
        async with world.db.connection() as connection:
            (count,) = await (await connection.execute(query, values)).fetchone()
        if count:
            counts[rows.table] = count
    return counts


async def row_of(world, project_id: str, organization_id: str):
    async with world.db.connection() as connection:
        query = "select attempt from organizations where project_id = %s and id = %s"
        return await (await connection.execute(query, (UUID(project_id), UUID(organization_id)))).fetchone()


async def test_a_deleted_organization_is_404_before_its_rows_are_deleted(directory, auth, full_organization, world):
    acme, domain_name, connection = full_organization
    client, path = directory.project.client, f"/b2b/organizations/{acme['id']}"
    (member, *_) = await directory.members_of(acme)
    counts_before = await count_rows_to_delete(world, directory.project.id, acme["id"])
    assert set(counts_before) > {
        "organization_members",
        "invitations",
        "sso_connections",
        "sso_keys",
        "organization_plans",
    }
    deleted = await client.delete(path)
    assert (deleted.status_code, deleted.json()["slug"]) == (200, acme["slug"])
    assert deleted.json()["memberCount"] == 5
    connection_path = f"{path}/sso-connections/{connection['id']}"
    for verb, subpath in [
        ("GET", ""),
        ("PATCH", ""),
        ("DELETE", ""),
        ("GET", "/members"),
        ("GET", "/invitations"),
        ("GET", "/domains"),
        ("GET", "/sso-connections"),
        ("GET", "/entitlements"),
        ("PUT", "/plan"),
    ]:
        body = {"PATCH": {"name": "Again"}, "PUT": {"planKey": "pro"}}.get(verb)
        assert (await client.request(verb, f"{path}{subpath}", json=body)).status_code == 404, (verb, subpath)
    for verb, subpath in [("GET", ""), ("POST", "/activate"), ("POST", "/deactivate"), ("POST", "/rotate-certificate")]:
        assert (await client.request(verb, f"{connection_path}{subpath}")).status_code == 404, (verb, subpath)
    assert (await client.get("/b2b/organizations")).json() == []
    assert (await client.get("/b2b/sso-connections")).json() == []
    check = {"permission": "members:read", "customerId": member["customerId"], "organizationId": acme["id"]}
    decision = await client.post("/access/check", check)
    assert (decision.status_code, decision.json()["code"]) == (404, "place_missing"), decision.text
    signed_in = (await auth.sign_in(member["email"], PASSWORD)).json()
    assert (await auth.as_(signed_in["accessToken"]).get("/organizations")).json() == []
    assert (await client.get("/b2b/plans")).json()[0]["organizationCount"] == 0
    assert (await client.get(connection["loginUrl"])).status_code == 404
    new_organization = await directory.organization("Acme", externalId="acme-17", slug=acme["slug"])
    await directory.verified_domain(new_organization, domain_name)
    body = {
        "name": "Acme",
        "domain": domain_name,
        "idpEntityId": "https://idp.example/metadata",
        "idpSsoUrl": "https://idp.example/login",
        "idpCertificate": [IdentityProvider().certificate],
    }
    new_connection = (await client.post(f"/b2b/organizations/{new_organization['id']}/sso-connections", body)).json()
    activated = await client.post(
        f"/b2b/organizations/{new_organization['id']}/sso-connections/{new_connection['id']}/activate"
    )
    assert activated.status_code == 200, activated.text
    assert await row_of(world, directory.project.id, acme["id"]) is not None, "the worker has not deleted any rows yet"


async def test_deletion_removes_all_rows_of_the_organization_and_no_others(
    directory, full_organization, world, run_due_work
):
    acme, _, _ = full_organization
    other = await directory.organization("Other")
    await directory.member(other)
    customers = (await directory.project.client.get("/customers/stats")).json()["total"]
    await directory.project.client.delete(f"/b2b/organizations/{acme['id']}")
    await run_due_work()
    assert await count_rows_to_delete(world, directory.project.id, acme["id"]) == {}
    assert await row_of(world, directory.project.id, acme["id"]) is None
    assert len(await directory.members_of(other)) == 1
    assert (await directory.project.client.get("/customers/stats")).json()["total"] == customers


async def test_an_interrupted_deletion_is_continued(directory, full_organization, world, clock, monkeypatch):
    acme, _, _ = full_organization
    counts_before = await count_rows_to_delete(world, directory.project.id, acme["id"])
    await directory.project.client.delete(f"/b2b/organizations/{acme['id']}")
    delete_some, chunks = catalog.delete_some, 0

    async def crash_at_the_eighth_chunk(db, rows, values):
        nonlocal chunks
        chunks += 1
        if chunks == 8:
            raise asyncio.CancelledError
        return await delete_some(db, rows, values, limit=2)

    monkeypatch.setattr(catalog, "delete_some", crash_at_the_eighth_chunk)
    await drain(world, DELETIONS)
    counts_after_crash = await count_rows_to_delete(world, directory.project.id, acme["id"])
    assert 0 < sum(counts_after_crash.values()) < sum(counts_before.values())
    monkeypatch.setattr(catalog, "delete_some", delete_some)
    await drain(world, DELETIONS)
    assert await count_rows_to_delete(world, directory.project.id, acme["id"]) == counts_after_crash, (
        "the lease of the crashed worker has not expired"
    )
    clock.move(DELETIONS[0].lease)
    await drain(world, DELETIONS)
    assert await count_rows_to_delete(world, directory.project.id, acme["id"]) == {}
    assert await row_of(world, directory.project.id, acme["id"]) is None


async def test_a_large_deletion_runs_in_chunks(directory, full_organization, world, monkeypatch):
    acme, _, _ = full_organization
    monkeypatch.setattr(catalog, "MAX_CHUNKS", 1)
    await directory.project.client.delete(f"/b2b/organizations/{acme['id']}")
    attempts = []

    async def record_attempts(world, jobs):
        attempts.extend(job.attempt for job in jobs if str(job.id) == acme["id"])
        await DELETIONS[0].do(world, jobs)

    await drain(world, [replace(DELETIONS[0], do=record_attempts)])
    assert attempts == list(range(1, len(attempts) + 1))
    assert len(attempts) > 3
    assert await count_rows_to_delete(world, directory.project.id, acme["id"]) == {}


async def test_every_table_of_an_organization_has_an_index_for_deletion(world):
    """Each index has two columns, the project first, so that the deletion reads only the rows that it deletes."""
    tables = [rows.table for rows in await catalog.dependent_rows(world.db, "organizations")]
    assert set(tables) >= {"organization_members", "invitations", "organization_domains", "sso_sign_ons", "sso_keys"}
    assert tables.index("sso_sign_ons") < tables.index("sso_connections"), "indirectly dependent tables come first"
    async with world.db.connection() as connection:
        query = """select conrelid::regclass::text from pg_constraint where contype = 'f'
            and confrelid = 'organizations'::regclass and (confdeltype <> 'c' or cardinality(conkey) <> 2)"""
        tables_without_cascade = await (await connection.execute(query)).fetchall()
    assert tables_without_cascade == []
