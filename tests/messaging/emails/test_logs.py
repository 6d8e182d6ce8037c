"""The log of sends: filters, pagination, and export."""

import csv
import io
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import msgspec
import pytest

from postern.kernel.values import new_id, timestamp
from postern.messaging.emails import logs
from postern.messaging.emails.logs import LogFilter
from tests.conftest import Client, Tenant

MAIL = {"from": "Acme <hello@acme.example>", "subject": "Hello", "html": "<p>Hello</p>"}


async def send(project: Tenant, to: str, **fields: Any) -> str:
    sent = await project.client.post("/emails", {**MAIL, "to": [to], **fields})
    assert sent.status_code == 201, sent.text
    return sent.json()["id"]


async def find_ids(client: Client, query: str) -> list[str]:
    """The ids of the log entries that match a query, newest first. The export must have the same rows."""
    response = await client.get(f"/emails/logs?{query}")
    assert response.status_code == 200, response.text
    assert response.json()["total"] == len(response.json()["data"])
    exported = await client.get(f"/emails/logs/export?{query}")
    ids = [row["id"] for row in csv.DictReader(io.StringIO(exported.text))]
    assert ids == [item["id"] for item in response.json()["data"]], "The export has the rows of the list."
    return ids


async def test_the_log_is_filtered_by_time(project: Tenant, clock: Any) -> None:
    """Regression test of M15 (tests/defects.md)."""
    first = await send(project, "a@example.com")
    between = timestamp(clock() + timedelta(minutes=30))
    clock.move(timedelta(hours=1))
    second = await send(project, "b@example.com")
    assert await find_ids(project.client, f"from={between}") == [second]
    assert await find_ids(project.client, f"to={between}") == [first]
    later = timestamp(clock() + timedelta(minutes=1))
    assert await find_ids(project.client, f"from={between}&to={later}") == [second]
    assert await find_ids(project.client, f"from={later}") == []
    for time in ("0001-01-01T00:00:00Z", "9999-12-31T23:59:59Z"):
        assert (await project.client.get(f"/emails/logs?from={time}&to={time}")).json()["data"] == []
    refused = await project.client.get("/emails/logs?from=yesterday")
    assert refused.status_code == 400
    assert refused.json()["errors"][0]["path"] == "query/from"


async def test_the_log_is_filtered_by_tag_domain_and_status(project: Tenant) -> None:
    """Regression test of M15 (tests/defects.md)."""
    domain = (await project.client.post("/domains", {"domain": "acme.example"})).json()
    first = await send(project, "a@example.com", tags=["welcome", "blue"])
    second = await send(project, "b@example.com", tags=["blue"], **{"from": "hello@other.example"})
    assert await find_ids(project.client, "tag=blue") == [second, first]
    assert await find_ids(project.client, "tag=welcome&status=delivered") == [first]
    assert await find_ids(project.client, "tag=blu") == []
    assert await find_ids(project.client, f"domainId={domain['id']}") == [first]
    assert await find_ids(project.client, f"domainId={uuid4()}") == []
    assert await find_ids(project.client, "domainId=nonsense") == []


async def test_a_send_is_found_by_any_of_its_recipients(project: Tenant) -> None:
    """Regression test of M15 (tests/defects.md)."""
    copies = {"cc": ["Bob <Bob@Example.com>"], "bcc": ["secret@example.com"]}
    sent = await send(project, "Ada <ada@example.com>", **copies)
    other = await send(project, "bada@example.com")
    for address in ("ada@example.com", "bob@example.com", "SECRET@example.com"):
        assert await find_ids(project.client, f"recipient={address}") == [sent], address
    assert await find_ids(project.client, "recipient=bada@example.com") == [other]
    assert await find_ids(project.client, "recipient=example.com") == [], "Only a complete address matches."
    assert await find_ids(project.client, "q=secret@") == [sent], "`q` searches bcc."
    assert await find_ids(project.client, "q=bob@") == [sent], "`q` searches cc."
    assert await find_ids(project.client, "q=ada@") == [other, sent]
    assert await find_ids(project.client, "q=100%25") == []
    assert await find_ids(project.client, "tag=100%25&recipient=100%25") == []


async def test_the_sends_of_a_campaign_are_found(project: Tenant, run_due_work: Any) -> None:
    """Regression test of M15 (tests/defects.md)."""
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
    await run_due_work()
    single = await send(project, "ada@example.com")
    assert len(await find_ids(project.client, f"campaignId={campaign['id']}")) == 2
    assert single not in await find_ids(project.client, f"campaignId={campaign['id']}")
    (of_ada,) = await find_ids(project.client, f"campaignId={campaign['id']}&recipient=ada@example.com")
    assert sorted(await find_ids(project.client, "recipient=ada@example.com")) == sorted([single, of_ada])
    for unknown in ("Spring", str(UUID(int=0)), str(uuid4())):
        page = (await project.client.get(f"/emails/logs?campaignId={unknown}")).json()
        assert (page["data"], page["total"], page["pages"]) == ([], 0, 0), unknown


async def insert_sends(database_url: str, project: Tenant, count: int) -> None:
    """Insert delivered sends; every fifth has a tag."""
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
    """Regression test of M15, N9 (tests/defects.md)."""
    await insert_sends(database_url, project, 10_250)
    last_numbered_page = (await project.client.get("/emails/logs?page=100&limit=100")).json()
    assert (last_numbered_page["total"], last_numbered_page["page"], last_numbered_page["pages"]) == (10_250, 100, 103)
    refused = await project.client.get("/emails/logs?page=101&limit=100")
    assert refused.status_code == 400
    assert "nextCursor" in refused.json()["detail"]
    seen_ids, cursor = {item["id"] for item in last_numbered_page["data"]}, last_numbered_page["nextCursor"]
    while cursor:
        response = await project.client.get(f"/emails/logs?limit=100&cursor={cursor}")
        page = response.json()
        assert not seen_ids & {item["id"] for item in page["data"]}
        assert page["total"] == 10_250
        seen_ids |= {item["id"] for item in page["data"]}
        cursor = page["nextCursor"]
        assert ("link" in response.headers) == (cursor is not None)
    assert page["page"] == 103
    assert len(seen_ids) == 100 + 250
    with_page = await project.client.get(f"/emails/logs?page=2&cursor={last_numbered_page['nextCursor']}")
    assert with_page.json()["code"] == "page_and_cursor"
    with_other_filter = await project.client.get(f"/emails/logs?status=SENT&cursor={last_numbered_page['nextCursor']}")
    assert with_other_filter.json()["code"] == "cursor_invalid", "A cursor can only be used with the same filters."


async def plan_of(database_url: str, query: str) -> str:
    import psycopg

    async with await psycopg.AsyncConnection.connect(database_url) as connection:
        rows = await (await connection.execute("explain " + query)).fetchall()  # pyright: ignore[reportArgumentType]
    return "\n".join(row[0] for row in rows)


async def test_filters_use_indexes(project: Tenant, database_url: str) -> None:
    """Regression test of M15 (tests/defects.md)."""
    await insert_sends(database_url, project, 20_000)
    select = f"select id from sends s where s.project_id = '{project.id}' and "
    condition_on_time = "s.id < '00000000-0000-7000-8000-000000000000' and s.created_at < '2020-01-01'"
    assert "Seq Scan" not in await plan_of(database_url, select + condition_on_time)
    assert "sends_tags" in await plan_of(database_url, select + "s.tags @> array['rare']::text[]")


async def test_the_log_by_a_rare_status_uses_an_index(project: Tenant, database_url: str) -> None:
    await insert_sends(database_url, project, 20_000)
    query = f"select id from sends s where s.project_id = '{project.id}' and s.status = 'BOUNCED'"
    plan = await plan_of(database_url, f"{query} order by s.id desc limit 101")
    assert "sends_status" in plan
    assert "Sort" not in plan


@pytest.mark.usefixtures("one_server")
@pytest.mark.parametrize("filters", [LogFilter(status=["QUEUED"]), LogFilter(status=["QUEUED", "DELAYED", "BOUNCED"])])
async def test_waiting_sends_are_found_without_reading_the_log(project: Tenant, database_url: str, filters) -> None:
    """Every page of the dashboard asks for those that have waited too long."""
    import psycopg

    await insert_sends(database_url, project, 20_000)
    filters = msgspec.structs.replace(filters, until=datetime.now(UTC))
    async with await psycopg.AsyncConnection.connect(database_url) as connection:
        where = filters.condition(UUID(project.id)).as_string(connection)
        query = f"select id from sends s where s.project_id = '{project.id}' and {where} order by s.id desc limit 2"
        # Other tests leave thousands of sends that wait, so that the statistics expect them here, too.
        await connection.execute("set local session_replication_role = replica")
        await connection.execute("delete from sends where project_id <> %s", [project.id])
        await connection.execute("analyze sends")
        rows = await (await connection.execute(f"explain {query}".encode())).fetchall()
        await connection.rollback()
    plan = "\n".join(row[0] for row in rows)
    assert "sends_due_transactional" in plan, plan
    assert "Seq Scan" not in plan, plan
    assert "sends_pkey" not in plan, plan


@pytest.mark.parametrize(
    ("filters", "number"),
    [("q=welcome", 3), ("q=b@example.com", 1), ("q=nowhere", 0), ("tag=blue", 2), ("status=DELIVERED", 3)],
)
@pytest.mark.parametrize("is_frequent", [False, True])
async def test_the_total_is_counted_up_to_a_limit(project: Tenant, monkeypatch, filters, number, is_frequent) -> None:
    """With a text that many sends contain, the log is read in another way, with the same result."""
    if is_frequent:
        monkeypatch.setattr(logs, "COUNT_LIMIT", 0)
    for to, tags in (("a@example.com", ["blue"]), ("b@example.com", ["blue"]), ("c@example.com", ["red"])):
        await send(project, to, tags=tags, subject="Welcome")
    exact = (await project.client.get(f"/emails/logs?{filters}")).json()
    assert exact["total"] == number
    for limit in (1, 2, 5):
        page = (await project.client.get(f"/emails/logs?{filters}&countLimit={limit}")).json()
        assert [email["id"] for email in page["data"]] == [email["id"] for email in exact["data"]]
        if not is_frequent or "q=" not in filters:
            assert page["total"] == min(number, limit)
    refused = await project.client.get("/emails/logs?countLimit=10001")
    assert refused.json()["errors"][0]["path"] == "query/countLimit"


async def test_the_export_is_safe_to_open_in_a_spreadsheet(project: Tenant) -> None:
    """Regression test of M15 (tests/defects.md)."""
    await send(project, "a@example.com", subject='=HYPERLINK("https://evil.example"), "quoted"\u2028')
    response = await project.client.get("/emails/logs/export")
    assert response.headers["content-type"].startswith("text/csv")
    assert "attachment" in response.headers["content-disposition"]
    (row,) = csv.DictReader(io.StringIO(response.text))
    assert row["subject"].startswith("'=HYPERLINK(")
    assert row["to"] == "a@example.com"
    assert response.text.startswith("id,createdAt,status,")
    assert response.text.endswith("\r\n")


async def test_suppressions_are_exported_and_paginated(project: Tenant) -> None:
    """Regression test of M15 (tests/defects.md)."""
    addresses = [f"p{number}@example.com" for number in range(130)]
    await project.client.post("/suppressions/bulk", {"addresses": addresses})
    await project.client.post("/suppressions", {"address": "c@example.com", "reason": "COMPLAINT", "detail": "@SUM(1)"})
    rows = list(csv.DictReader(io.StringIO((await project.client.get("/suppressions/export")).text)))
    assert {row["address"] for row in rows} == {*addresses, "c@example.com"}
    (complaint,) = csv.DictReader(io.StringIO((await project.client.get("/suppressions/export?reason=COMPLAINT")).text))
    assert (complaint["address"], complaint["detail"]) == ("c@example.com", "'@SUM(1)")
    listed: list[str] = []
    cursor = ""
    while cursor is not None:
        query = f"&cursor={cursor}" if cursor else ""
        page = (await project.client.get(f"/suppressions?limit=50{query}")).json()
        listed += [item["address"] for item in page["data"]]
        cursor = page["nextCursor"]
    assert sorted(listed) == sorted({*addresses, "c@example.com"})


@pytest.mark.parametrize("path", ["/emails/logs/export", "/suppressions/export"])
async def test_exports_need_the_permission_of_the_list(project: Tenant, path: str) -> None:
    limited_key = await project.key("templates:read")
    assert (await limited_key.get(path)).status_code == 403
