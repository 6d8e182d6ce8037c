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

DELETIONS = [each for each in WORK if each.name == "organizations.deletions"]


@pytest.fixture
async def full(directory: Directory):
    """An organization with something in every table that can hang on one; no other one waits to be removed."""
    await directory.work_off()
    acme = await directory.organization("Acme", externalId="acme-17")
    path, client, idp = f"/b2b/organizations/{acme['id']}", directory.project.client, IdentityProvider()
    name = f"{uuid4().hex[:10]}.example"
    await directory.proved(acme, name)
    for _ in range(5):
        await directory.member(acme, "ADMIN")
    for at in range(4):
        invited = await client.post(f"{path}/invitations", {"email": f"new-{at}@{name}", "role": "MEMBER"})
        assert invited.status_code == 201, invited.text
    body = {
        "name": "Acme",
        "domain": name,
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
    answer = await client.put(f"{path}/entitlements/seats", override)
    assert answer.status_code in (200, 201), answer.text
    return acme, name, connection


async def rows_of(world, project_id: str, organization_id: str) -> dict[str, int]:
    """How many rows each table has that would go with the organization, and the organization itself."""
    left = {}
    for doomed in [*await catalog.dependent_rows(world.db, "organizations")]:
        query = SQL("select count(*) from {} where {}").format(Identifier(doomed.table), doomed.condition)
        values = {"project_id": UUID(project_id), "id": UUID(organization_id)}
        async with world.db.connection() as connection:
            (count,) = await (await connection.execute(query, values)).fetchone()
        if count:
            left[doomed.table] = count
    return left


async def row_of(world, project_id: str, organization_id: str):
    async with world.db.connection() as connection:
        query = "select attempt from organizations where project_id = %s and id = %s"
        return await (await connection.execute(query, (UUID(project_id), UUID(organization_id)))).fetchone()


async def test_a_deleted_organization_is_404_before_its_rows_are_deleted(directory, auth, full, world):
    acme, name, connection = full
    client, path = directory.project.client, f"/b2b/organizations/{acme['id']}"
    (member, *_) = await directory.members_of(acme)
    before = await rows_of(world, directory.project.id, acme["id"])
    assert set(before) > {"organization_members", "invitations", "sso_connections", "sso_keys", "organization_plans"}
    deleted = await client.delete(path)
    assert (deleted.status_code, deleted.json()["slug"]) == (200, acme["slug"])
    assert deleted.json()["memberCount"] == 5
    there = f"{path}/sso-connections/{connection['id']}"
    for verb, place in [
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
        assert (await client.request(verb, f"{path}{place}", json=body)).status_code == 404, (verb, place)
    for verb, place in [("GET", ""), ("POST", "/activate"), ("POST", "/deactivate"), ("POST", "/rotate-certificate")]:
        assert (await client.request(verb, f"{there}{place}")).status_code == 404, (verb, place)
    assert (await client.get("/b2b/organizations")).json() == []
    assert (await client.get("/b2b/sso-connections")).json() == []
    asked = {"permission": "members:read", "customerId": member["customerId"], "organizationId": acme["id"]}
    checked = await client.post("/access/check", asked)
    assert (checked.status_code, checked.json()["code"]) == (404, "place_missing"), checked.text
    signed_in = (await auth.sign_in(member["email"], PASSWORD)).json()
    assert (await auth.as_(signed_in["accessToken"]).get("/organizations")).json() == []
    assert (await client.get("/b2b/plans")).json()[0]["organizationCount"] == 0
    assert (await client.get(connection["loginUrl"])).status_code == 404
    again = await directory.organization("Acme", externalId="acme-17", slug=acme["slug"])
    await directory.proved(again, name)
    body = {
        "name": "Acme",
        "domain": name,
        "idpEntityId": "https://idp.example/metadata",
        "idpSsoUrl": "https://idp.example/login",
        "idpCertificate": [IdentityProvider().certificate],
    }
    newer = (await client.post(f"/b2b/organizations/{again['id']}/sso-connections", body)).json()
    switched = await client.post(f"/b2b/organizations/{again['id']}/sso-connections/{newer['id']}/activate")
    assert switched.status_code == 200, switched.text
    assert await row_of(world, directory.project.id, acme["id"]) is not None, "and nothing was swept so far"


async def test_deletion_removes_all_rows_of_the_organization_and_no_others(directory, full, world, work_off):
    acme, _, _ = full
    other = await directory.organization("Other")
    await directory.member(other)
    customers = (await directory.project.client.get("/customers/stats")).json()["total"]
    await directory.project.client.delete(f"/b2b/organizations/{acme['id']}")
    await work_off()
    assert await rows_of(world, directory.project.id, acme["id"]) == {}
    assert await row_of(world, directory.project.id, acme["id"]) is None
    assert len(await directory.members_of(other)) == 1
    assert (await directory.project.client.get("/customers/stats")).json()["total"] == customers


async def test_an_interrupted_deletion_is_continued(directory, full, world, clock, monkeypatch):
    acme, _, _ = full
    before = await rows_of(world, directory.project.id, acme["id"])
    await directory.project.client.delete(f"/b2b/organizations/{acme['id']}")
    delete_some, chunks = catalog.delete_some, 0

    async def dying(db, doomed, values):
        nonlocal chunks
        chunks += 1
        if chunks == 8:
            raise asyncio.CancelledError
        return await delete_some(db, doomed, values, limit=2)

    monkeypatch.setattr(catalog, "delete_some", dying)
    await drain(world, DELETIONS)
    half = await rows_of(world, directory.project.id, acme["id"])
    assert 0 < sum(half.values()) < sum(before.values())
    monkeypatch.setattr(catalog, "delete_some", delete_some)
    await drain(world, DELETIONS)
    assert await rows_of(world, directory.project.id, acme["id"]) == half, "the dead worker's lease still runs"
    clock.move(DELETIONS[0].lease)
    await drain(world, DELETIONS)
    assert await rows_of(world, directory.project.id, acme["id"]) == {}
    assert await row_of(world, directory.project.id, acme["id"]) is None


async def test_a_large_deletion_runs_in_chunks(directory, full, world, monkeypatch):
    acme, _, _ = full
    monkeypatch.setattr(catalog, "MAX_CHUNKS", 1)
    await directory.project.client.delete(f"/b2b/organizations/{acme['id']}")
    attempts = []

    async def counted(world, jobs):
        attempts.extend(job.attempt for job in jobs if str(job.id) == acme["id"])
        await DELETIONS[0].do(world, jobs)

    await drain(world, [replace(DELETIONS[0], do=counted)])
    assert attempts == list(range(1, len(attempts) + 1))
    assert len(attempts) > 3
    assert await rows_of(world, directory.project.id, acme["id"]) == {}


async def test_every_table_of_an_organization_has_an_index_for_deletion(world):
    """Each index has two columns, the project first, so that the deletion reads only the rows that it deletes."""
    names = [each.table for each in await catalog.dependent_rows(world.db, "organizations")]
    assert set(names) >= {"organization_members", "invitations", "organization_domains", "sso_sign_ons", "sso_keys"}
    assert names.index("sso_sign_ons") < names.index("sso_connections"), "followers of followers first"
    async with world.db.connection() as connection:
        query = """select f.conrelid::regclass::text from pg_constraint f where f.contype = 'f'
            and f.confrelid = 'organizations'::regclass and (f.confdeltype <> 'c' or cardinality(f.conkey) <> 2)"""
        others = await (await connection.execute(query)).fetchall()
    assert others == []
