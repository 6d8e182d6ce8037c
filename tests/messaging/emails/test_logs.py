"""The log of sends: filters, pagination, and export."""

import csv
import io
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest

from postern.kernel.values import new_id, timestamp
from tests.conftest import Client, Tenant

MAIL = {"from": "Acme <hello@acme.example>", "subject": "Hello", "html": "<p>Hello</p>"}


async def send(project: Tenant, to: str, **more: Any) -> str:
    sent = await project.client.post("/emails", {**MAIL, "to": [to], **more})
    assert sent.status_code == 201, sent.text
    return sent.json()["id"]


async def found(client: Client, query: str) -> list[str]:
    answer = await client.get(f"/emails/logs?{query}")
    assert answer.status_code == 200, answer.text
    assert answer.json()["total"] == len(answer.json()["data"])
    exported = await client.get(f"/emails/logs/export?{query}")
    ids = [row["id"] for row in csv.DictReader(io.StringIO(exported.text))]
    assert ids == [each["id"] for each in answer.json()["data"]], "the export holds what the list shows"
    return ids


async def test_the_log_is_filtered_by_time(project: Tenant, clock: Any) -> None:
    """Defects: M15"""
    first = await send(project, "a@example.com")
    between = timestamp(clock() + timedelta(minutes=30))
    clock.move(timedelta(hours=1))
    second = await send(project, "b@example.com")
    assert await found(project.client, f"from={between}") == [second]
    assert await found(project.client, f"to={between}") == [first]
    later = timestamp(clock() + timedelta(minutes=1))
    assert await found(project.client, f"from={between}&to={later}") == [second]
    assert await found(project.client, f"from={later}") == []
    for edge in ("0001-01-01T00:00:00Z", "9999-12-31T23:59:59Z"):
        assert (await project.client.get(f"/emails/logs?from={edge}&to={edge}")).json()["data"] == []
    refused = await project.client.get("/emails/logs?from=yesterday")
    assert refused.status_code == 400
    assert refused.json()["errors"][0]["path"] == "query/from"


async def test_the_log_is_filtered_by_tag_domain_and_status(project: Tenant) -> None:
    """Defects: M15"""
    domain = (await project.client.post("/domains", {"domain": "acme.example"})).json()
    one = await send(project, "a@example.com", tags=["welcome", "blue"])
    two = await send(project, "b@example.com", tags=["blue"], **{"from": "hello@other.example"})
    assert await found(project.client, "tag=blue") == [two, one]
    assert await found(project.client, "tag=welcome&status=delivered") == [one]
    assert await found(project.client, "tag=blu") == []
    assert await found(project.client, f"domainId={domain['id']}") in ([one], []), "only what was sent from it"
    assert await found(project.client, f"domainId={uuid4()}") == []
    assert await found(project.client, "domainId=nonsense") == []


async def test_a_send_is_found_by_any_of_its_recipients(project: Tenant) -> None:
    """Defects: M15"""
    more = {"cc": ["Bob <Bob@Example.com>"], "bcc": ["secret@example.com"]}
    one = await send(project, "Ada <ada@example.com>", **more)
    other = await send(project, "bada@example.com")
    for address in ("ada@example.com", "bob@example.com", "SECRET@example.com"):
        assert await found(project.client, f"recipient={address}") == [one], address
    assert await found(project.client, "recipient=bada@example.com") == [other]
    assert await found(project.client, "recipient=example.com") == [], "a whole address"
    assert await found(project.client, "q=secret@") == [one], "q searches bcc"
    assert await found(project.client, "q=bob@") == [one], "q searches cc"
    assert await found(project.client, "q=ada@") == [other, one]
    assert await found(project.client, "q=100%25") == []
    assert await found(project.client, "tag=100%25&recipient=100%25") == []


async def test_the_sends_of_a_campaign_are_found(project: Tenant, work_off: Any) -> None:
    """Defects: M15"""
    audience = (await project.client.post("/audiences", {"name": "all"})).json()
    emails = ["ada@example.com", "bob@example.com"]
    await project.client.post(f"/audiences/{audience['id']}/contacts/bulk-email", {"emails": emails})
    template = (await project.client.post("/templates", {"name": "t", "html": "<p>Hi</p>"})).json()
    domain = (await project.client.post("/domains", {"domain": "acme.example"})).json()
    body = {
        "name": "News",
        "subject": "News",
        "fromEmail": "news@acme.example",
        "audienceId": audience["id"],
        "templateId": template["id"],
        "domainId": domain["id"],
    }
    campaign = (await project.client.post("/campaigns", body)).json()
    assert (await project.client.post(f"/campaigns/{campaign['id']}/send")).status_code in (200, 201)
    await work_off()
    single = await send(project, "ada@example.com")
    assert len(await found(project.client, f"campaignId={campaign['id']}")) == 2
    assert single not in await found(project.client, f"campaignId={campaign['id']}")
    (of_ada,) = await found(project.client, f"campaignId={campaign['id']}&recipient=ada@example.com")
    assert sorted(await found(project.client, "recipient=ada@example.com")) == sorted([single, of_ada])
    for unknown in ("Spring", str(UUID(int=0)), str(uuid4())):
        page = (await project.client.get(f"/emails/logs?campaignId={unknown}")).json()
        assert (page["data"], page["total"], page["pages"]) == ([], 0, 0), unknown


async def seeded(database_url: str, project: Tenant, count: int) -> None:
    import psycopg

    async with await psycopg.AsyncConnection.connect(database_url) as connection:
        ids = sorted(new_id() for _ in range(count))
        await connection.execute(
            """
            insert into sends (project_id, id, status, lane, message_id, subject, sender, recipient, to_addresses,
                               tags, created_at, updated_at)
            select %(project)s, id, 'DELIVERED', 0, '<' || id || '@x>', 'S', 'a@x.example', 'r@x.example',
                   '{r@x.example}', case when n %% 5 = 0 then '{fifth}'::text[] end, now(), now()
            from unnest(%(ids)s::uuid[]) with ordinality as v (id, n)
            """,
            {"project": UUID(project.id), "ids": ids},
        )
        await connection.execute("analyze sends")


async def test_cursors_reach_past_ten_thousand_rows(project: Tenant, database_url: str) -> None:
    """Defects: M15, N9"""
    await seeded(database_url, project, 10_250)
    deepest = (await project.client.get("/emails/logs?page=100&limit=100")).json()
    assert (deepest["total"], deepest["page"], deepest["pages"]) == (10_250, 100, 103)
    refused = await project.client.get("/emails/logs?page=101&limit=100")
    assert refused.status_code == 400
    assert "nextCursor" in refused.json()["detail"]
    seen, cursor = {each["id"] for each in deepest["data"]}, deepest["nextCursor"]
    while cursor:
        answer = await project.client.get(f"/emails/logs?limit=100&cursor={cursor}")
        page = answer.json()
        assert not seen & {each["id"] for each in page["data"]}
        assert page["total"] == 10_250
        seen |= {each["id"] for each in page["data"]}
        cursor = page["nextCursor"]
        assert ("link" in answer.headers) == (cursor is not None)
    assert page["page"] == 103
    assert len(seen) == 100 + 250
    both = await project.client.get(f"/emails/logs?page=2&cursor={deepest['nextCursor']}")
    assert both.json()["code"] == "page_and_cursor"
    other = await project.client.get(f"/emails/logs?status=SENT&cursor={deepest['nextCursor']}")
    assert other.json()["code"] == "cursor_invalid", "a cursor belongs to its filter"


async def plan_of(database_url: str, query: str) -> str:
    import psycopg

    async with await psycopg.AsyncConnection.connect(database_url) as connection:
        rows = await (await connection.execute("explain " + query)).fetchall()  # pyright: ignore[reportArgumentType]
    return "\n".join(row[0] for row in rows)


async def test_filters_use_indexes(project: Tenant, database_url: str) -> None:
    """Defects: M15"""
    await seeded(database_url, project, 20_000)
    where = f"select id from sends s where s.project_id = '{project.id}' and "
    old = "s.id < '00000000-0000-7000-8000-000000000000' and s.created_at < '2020-01-01'"
    assert "Seq Scan" not in await plan_of(database_url, where + old)
    assert "sends_tags" in await plan_of(database_url, where + "s.tags @> array['rare']::text[]")


async def test_the_export_is_safe_to_open_in_a_spreadsheet(project: Tenant) -> None:
    """Defects: M15"""
    await send(project, "a@example.com", subject='=HYPERLINK("https://evil.example"), "quoted"\u2028')
    answer = await project.client.get("/emails/logs/export")
    assert answer.headers["content-type"].startswith("text/csv")
    assert "attachment" in answer.headers["content-disposition"]
    (row,) = csv.DictReader(io.StringIO(answer.text))
    assert row["subject"].startswith("'=HYPERLINK(")
    assert row["to"] == "a@example.com"
    assert answer.text.startswith("id,createdAt,status,")
    assert answer.text.endswith("\r\n")


async def test_suppressions_are_exported_and_paginated(project: Tenant) -> None:
    """Defects: M15"""
    addresses = [f"p{number}@example.com" for number in range(130)]
    await project.client.post("/suppressions/bulk", {"addresses": addresses})
    await project.client.post("/suppressions", {"address": "c@example.com", "reason": "COMPLAINT", "detail": "@SUM(1)"})
    rows = list(csv.DictReader(io.StringIO((await project.client.get("/suppressions/export")).text)))
    assert {row["address"] for row in rows} == {*addresses, "c@example.com"}
    (one,) = csv.DictReader(io.StringIO((await project.client.get("/suppressions/export?reason=COMPLAINT")).text))
    assert (one["address"], one["detail"]) == ("c@example.com", "'@SUM(1)")
    seen: list[str] = []
    cursor = ""
    while cursor is not None:
        query = f"&cursor={cursor}" if cursor else ""
        page = (await project.client.get(f"/suppressions?limit=50{query}")).json()
        seen += [each["address"] for each in page["data"]]
        cursor = page["nextCursor"]
    assert sorted(seen) == sorted({*addresses, "c@example.com"})


@pytest.mark.parametrize("path", ["/emails/logs/export", "/suppressions/export"])
async def test_exports_need_the_permission_of_the_list(project: Tenant, path: str) -> None:
    narrow = await project.key("templates:read")
    assert (await narrow.get(path)).status_code == 403
