"""A VIEWER who calls by hand, with the cookie of the dashboard, what the dashboard does not offer."""

import re
from uuid import uuid4

import pytest

from postern.platform.projects.permissions import ROLE_PERMISSIONS
from tests.platform.dashboard.conftest import OWN_PAGE

READING_METHODS = {"get", "head"}
OWN = re.compile(r"/auth/|/account(/password|/leave|/invitations/accept)?$")
"""What every developer may change: their own profile, sign-in and sessions, and whether they stay."""
READS = {
    "/projects/{projectId}/access/check",
    "/projects/{projectId}/access/check/batch",
    "/projects/{projectId}/audiences/preview",
    "/projects/{projectId}/automations/{id}/dry-run",
    "/projects/{projectId}/b2b/entitlements/check",
    "/projects/{projectId}/customer-mails/{mail}/{language}/preview",
    "/projects/{projectId}/emails/logs/{sendId}/preview",
    "/projects/{projectId}/inbox/{id}/preview",
    "/projects/{projectId}/templates/render",
    "/projects/{projectId}/templates/{id}/preview",
}
"""Operations that are POST because of their body, and only read."""
VOLATILE = {"developer_sessions", "heartbeats", "rate_limits"}
"""Tables that requests change whatever they ask for."""
UNKNOWN = re.compile(r"\{(\w+)\}")


async def contents(world) -> dict[str, str]:
    """A digest of the rows of each table."""
    async with world.db.connection() as connection:
        rows = await connection.execute("select tablename from pg_tables where schemaname = 'public'")
        tables = [name for (name,) in await rows.fetchall() if name not in VOLATILE]
        digests = {}
        for table in tables:
            rows = await connection.execute(
                f"select md5(coalesce(string_agg(t::text, chr(10) order by t::text), '')) as digest from \"{table}\" t"
            )
            (digests[table],) = await rows.fetchone()
    return digests


@pytest.fixture
async def records(project, run_due_work) -> dict[str, str]:
    """The ids of records of the project, by the collection in the path of their operations."""
    client = project.client
    sent = await client.post(
        "/emails", {"from": "a@example.org", "to": ["b@example.com"], "subject": "One", "text": "One"}
    )
    made = {
        "templates": await client.post("/templates", {"name": "News", "html": "<p>Hello</p>", "subject": "Hello"}),
        "audiences": await client.post("/audiences", {"name": "Readers"}),
        "contacts": await client.post("/contacts", {"email": "ada@example.com"}),
        "campaigns": await client.post("/campaigns", {"name": "Spring"}),
        "domains": await client.post("/domains", {"domain": f"{uuid4().hex}.example"}),
        "api-keys": await project.developer.post("/api-keys", {"name": "Key"}),
        "webhooks": await client.post("/webhooks", {"url": "https://example.com/hook", "events": ["email.sent"]}),
        "customers": await client.post("/customers", {"email": "grace@example.com"}),
        "organizations": await client.post("/b2b/organizations", {"name": "Acme"}),
        "suppressions": await client.post("/suppressions", {"address": "no@example.com"}),
    }
    assert sent.status_code == 201, sent.text
    await run_due_work()
    for name, response in made.items():
        assert response.status_code in (200, 201), (name, response.text)
    (message,) = (await client.get("/inbox")).json()["data"]
    ids = {name: response.json().get("id") for name, response in made.items()}
    return ids | {
        "end-users": ids["customers"],
        "logs": sent.json()["id"],
        "emails": sent.json()["id"],
        "inbox": message["id"],
    }


def path_of(template: str, project_id: str, records: dict[str, str]) -> str:
    """The path of an operation, with the ids of records that exist as far as there are any."""
    parts, previous = [], ""
    for part in template.split("/"):
        name = UNKNOWN.fullmatch(part)
        if not name:
            previous = part
            parts.append(part)
        elif name[1] in ("projectId", "appId"):
            parts.append(project_id)
        else:
            parts.append(records.get(previous) or str(uuid4()))
    return "/".join(parts)


async def test_a_viewer_can_change_nothing_of_the_account_or_its_projects(browser, project, account, records, world):
    viewer, _ = await account.member(role="VIEWER")
    members = (await account.owner.get("/account/members")).json()
    email = next(member["email"] for member in members if member["id"] == viewer)
    assert (await browser.sign_in(email)).status_code == 200
    document = (await browser.http.get("/openapi.json")).json()
    writes = [
        (method, path)
        for path, operations in document["paths"].items()
        for method in operations
        if method not in READING_METHODS and not OWN.match(path) and path not in READS
    ]
    assert len(writes) > 150
    assert {path for path in READS if path not in document["paths"]} == set()
    before = await contents(world)
    answers = {}
    for method, path in writes:
        target = path_of(path, project.id, records | {"members": viewer})
        response = await browser.request(method.upper(), target, json={})
        answers[f"{method.upper()} {path}"] = (response.status_code, response.json().get("code"))
    assert {name: answer for name, answer in answers.items() if answer[0] not in (403, 404)} == {}
    # What the dashboard forwards at all is refused for the missing right, and not for want of a record.
    refused = [name for name, answer in answers.items() if answer == (403, "permission_missing")]
    assert len(refused) > 150
    assert {answer for answer in answers.values() if answer[0] == 404} <= {(404, "not_found")}
    after = await contents(world)
    assert {table for table in before if before[table] != after[table]} == set()


async def test_a_viewer_cannot_rename_the_account_with_their_profile(browser, project, account):
    viewer, _ = await account.member(role="VIEWER")
    members = (await account.owner.get("/account/members")).json()
    assert (await browser.sign_in(next(row["email"] for row in members if row["id"] == viewer))).status_code == 200
    before = (await account.owner.get("/account")).json()
    for body in ({"accountName": "Taken"}, {"role": "OWNER"}, {"account": {"name": "Taken"}}):
        response = await browser.request("PATCH", "/account", json=body, headers=OWN_PAGE)
        assert response.status_code in (400, 403), (body, response.text)
    assert (await account.owner.get("/account")).json() == before
    assert "account:write" not in ROLE_PERMISSIONS["VIEWER"]
