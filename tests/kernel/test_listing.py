"""Lists of records with a name: filters, order, totals, and pages that cost the same everywhere."""

import json
from datetime import timedelta

import psycopg
import pytest

from postern.kernel.http import listing
from postern.kernel.http.listing import MAX_LIMIT_WITH_COUNTS
from tests.conftest import Client, Tenant

BODIES = {
    "/campaigns": {"subject": "Subject"},
    "/templates": {"subject": "Subject", "html": "<p>Hi</p>"},
    "/audiences": {},
    "/automations": {"trigger": {"type": "CONTACT_CREATED"}, "steps": [{"type": "EXIT"}]},
    "/b2b/organizations": {},
}
"""A body without a name for each list."""
LISTS = pytest.mark.parametrize("path", sorted(BODIES))
SORTS = ("createdAt", "-createdAt", "name", "-name", "updatedAt", "-updatedAt")


async def create(project: Tenant, path: str, name: str, **fields: object) -> dict:
    made = await project.client.post(path, {**BODIES[path], "name": name, **fields})
    assert made.status_code == 201, made.text
    return made.json()


async def read_all(client: Client, path: str, limit: int = 2, **query: str) -> list[dict]:
    """All records of a list, read page by page."""
    records, cursor = [], None
    while True:
        params = {**query, "limit": str(limit), **({"cursor": cursor} if cursor else {})}
        response = await client.get(path, params=params)
        assert response.status_code == 200, response.text
        assert len(response.json()) <= limit
        records += response.json()
        link = response.headers.get("link")
        if link is None:
            return records
        cursor = link.partition("cursor=")[2].partition(">")[0]


def names(records: list[dict]) -> list[str]:
    return [record["name"] for record in records]


@LISTS
async def test_a_list_is_sorted_and_read_page_by_page(project, clock, path):
    for name in ("beta", "Alpha", "delta", "Émile", "alpha", "Beta", "gamma"):
        await create(project, path, name)
        clock.move(timedelta(minutes=1))
    first = (await project.client.get(path, params={"sort": "createdAt"})).json()[0]
    changed = await project.client.patch(f"{path}/{first['id']}", {"name": "beta "})
    assert changed.status_code == 200, changed.text
    complete = (await project.client.get(path)).json()
    for sort in SORTS:
        records = await read_all(project.client, path, sort=sort)
        assert {record["id"] for record in records} == {record["id"] for record in complete}
        assert len(records) == 7
        reverse = await read_all(
            project.client, path, limit=3, sort=sort.removeprefix("-") if "-" in sort else f"-{sort}"
        )
        assert records == reverse[::-1]
    assert await read_all(project.client, path, sort="-createdAt") == complete
    by_name = names(await read_all(project.client, path, sort="name"))
    assert [name.lower().strip() for name in by_name if name != "Émile"] == ["alpha"] * 2 + ["beta"] * 2 + [
        "delta",
        "gamma",
    ]
    assert (await read_all(project.client, path, sort="-updatedAt"))[0]["id"] == first["id"]


@LISTS
async def test_a_list_is_searched_by_name_in_any_case(project, path):
    for name in ("Spring sale 100%", "Autumn SALE", "100 things_", "Über uns"):
        await create(project, path, name)
    pages = {
        "sale": {"Spring sale 100%", "Autumn SALE"},
        "100%": {"Spring sale 100%"},
        "s_": {"100 things_"},
        "über": {"Über uns"},
        " ": {"Spring sale 100%", "Autumn SALE", "100 things_", "Über uns"},
        "winter": set(),
        "\\": set(),
        "'": set(),
    }
    for q, expected in pages.items():
        assert set(names(await read_all(project.client, path, q=q))) == expected, q
        assert names(await read_all(project.client, path, q=q, sort="name")) == sorted(expected, key=str.lower)


@LISTS
async def test_a_list_is_filtered_by_the_time_of_creation(project, clock, path):
    await create(project, path, "first")
    clock.move(timedelta(hours=1))
    second = await create(project, path, "second")
    clock.move(timedelta(hours=1))
    await create(project, path, "third")
    at = second["createdAt"]
    assert names(await read_all(project.client, path, **{"from": at})) == ["third", "second"]
    assert names(await read_all(project.client, path, to=at)) == ["first"]
    assert names(
        await read_all(project.client, path, **{"from": "0001-01-01T00:00:00Z", "to": "9999-12-31T00:00:00Z"})
    ) == [
        "third",
        "second",
        "first",
    ]


@LISTS
async def test_the_total_is_counted_up_to_a_limit(project, new_project, path, monkeypatch):
    for number in range(4):
        await create(project, path, f"{'even' if number % 2 == 0 else 'odd'} {number}")
    other = await new_project()
    plain = await project.client.get(path)
    assert "total-count" not in plain.headers
    counted = await project.client.get(path, params={"include": "total", "limit": "1", "q": "odd"})
    assert (len(counted.json()), counted.headers["total-count"]) == (1, "2")
    assert (await other.client.get(path, params={"include": "total"})).headers["total-count"] == "0"
    monkeypatch.setattr(listing, "TOTAL_LIMIT", 3)
    assert (await project.client.get(path, params={"include": "total"})).headers["total-count"] == "3"


@LISTS
async def test_a_cursor_belongs_to_its_filters(project, path):
    for number in range(3):
        await create(project, path, f"number {number}")
    page = await project.client.get(path, params={"sort": "name", "limit": "1"})
    cursor = page.headers["link"].partition("cursor=")[2].partition(">")[0]
    for query in ({"sort": "-name"}, {"sort": "name", "q": "number"}, {}):
        refused = await project.client.get(path, params={**query, "cursor": cursor})
        assert (refused.status_code, refused.json()["errors"][0]["path"]) == (400, "query/cursor")


@LISTS
@pytest.mark.parametrize(
    ("query", "location"),
    [
        ({"sort": "color"}, "query/sort"),
        ({"include": "everything"}, "query/include/0"),
        ({"from": "yesterday"}, "query/from"),
        ({"q": "x" * 301}, "query/q"),
        ({"search": "x"}, "query/search"),
    ],
)
async def test_invalid_parameters_are_refused_with_their_path(project, path, query, location):
    refused = await project.client.get(path, params=query)
    assert refused.status_code == 400
    assert refused.json()["errors"][0]["path"] == location


async def test_states_and_types_filter(project):
    await create(project, "/campaigns", "draft")
    cancelled = await create(project, "/campaigns", "cancelled")
    async with project.client.app._world.db.connection() as connection:
        await connection.execute("update campaigns set status = 'CANCELLED' where id = %s", (cancelled["id"],))
    for status, expected in (("cancelled", ["cancelled"]), ("DRAFT,CANCELLED", ["cancelled", "draft"]), ("SENT", [])):
        assert names(await read_all(project.client, "/campaigns", status=status)) == expected
    rules = {"match": "all", "conditions": [{"field": "email", "operator": "exists"}]}
    await create(project, "/audiences", "dynamic", rules=rules)
    await create(project, "/audiences", "static")
    assert names(await read_all(project.client, "/audiences", type="DYNAMIC")) == ["dynamic"]
    active = await create(project, "/automations", "active")
    assert (await project.client.patch(f"/automations/{active['id']}/active", {"active": True})).status_code == 200
    await create(project, "/automations", "inactive")
    assert names(await read_all(project.client, "/automations", active="true")) == ["active"]
    assert names(await read_all(project.client, "/automations", active="false")) == ["inactive"]
    suspended = await create(project, "/b2b/organizations", "suspended", externalId="ext-1")
    await create(project, "/b2b/organizations", "other")
    await project.client.patch(f"/b2b/organizations/{suspended['id']}", {"status": "SUSPENDED"})
    assert names(await read_all(project.client, "/b2b/organizations", status="SUSPENDED")) == ["suspended"]
    assert names(await read_all(project.client, "/b2b/organizations", q="EXT-")) == ["suspended"]
    for path, query in (("/campaigns", "status=GONE"), ("/audiences", "type=x"), ("/automations", "active=maybe")):
        refused = await project.client.get(f"{path}?{query}")
        assert refused.status_code == 400
        assert refused.json()["errors"][0]["path"].startswith(f"query/{query.partition('=')[0]}")


async def test_the_app_family_has_the_same_filters(project):
    await create(project, "/b2b/organizations", "Acme")
    await create(project, "/b2b/organizations", "Other")
    response = await project.client.get(f"/apps/{project.id}/organizations", params={"q": "acm", "include": "total"})
    assert response.status_code == 200, response.text
    assert (names(response.json()), response.headers["total-count"]) == (["Acme"], "1")


async def test_counts_of_each_record_are_included(project, run_due_work, clock):
    audience = await create(project, "/audiences", "members")
    await create(project, "/audiences", "empty")
    emails = [f"member{number}@example.com" for number in range(3)]
    await project.client.post(f"/audiences/{audience['id']}/contacts/bulk-email", {"emails": emails})
    counted = (await project.client.get("/audiences?include=counts&limit=10")).json()
    assert [entry["memberCount"] for entry in counted] == [0, 3]
    assert [entry["memberCount"] for entry in (await project.client.get("/audiences")).json()] == [None, None]

    automation = await create(project, "/automations", "runs")
    await project.client.patch(f"/automations/{automation['id']}/active", {"active": True})
    await project.client.post("/contacts", {"email": "new@example.com"})
    await run_due_work()
    totals = (await project.client.get("/automations?include=counts&limit=10")).json()[0]["totals"]
    assert totals == (await project.client.get(f"/automations/{automation['id']}/totals")).json()
    assert totals["totalRuns"] == 1

    await create(project, "/campaigns", "empty")
    stats = (await project.client.get("/campaigns?include=counts,total&limit=10")).json()[0]["stats"]
    assert stats["sent"] == 0
    for path in ("/audiences", "/automations", "/campaigns"):
        refused = await project.client.get(path, params={"include": "counts"})
        assert (refused.status_code, refused.json()["errors"][0]["path"]) == (400, "query/limit")
        assert str(MAX_LIMIT_WITH_COUNTS) in refused.json()["detail"]
    for path in ("/templates", "/b2b/organizations"):
        assert (await project.client.get(path, params={"include": "counts"})).status_code == 400


async def test_a_summary_has_no_content(project):
    blocks = {"blocks": [{"type": "text", "text": "Hello {{name}}"}]}
    await create(project, "/templates", "built", html=None, builderJson=blocks)
    (complete,) = (await project.client.get("/templates")).json()
    (summary,) = (await project.client.get("/templates?view=summary")).json()
    assert complete["html"]
    assert summary == {**complete, "html": None, "text": None, "builderJson": None}
    assert (await project.client.get("/templates?view=short")).json()["errors"][0]["path"] == "query/view"


@pytest.fixture
def many_rows(database_url, project):
    """20,000 campaigns and organizations of the project, in a transaction that is rolled back."""
    with psycopg.connect(database_url) as connection:
        connection.execute("set local synchronous_commit = off")
        for table, more, values in (
            ("campaigns", ", status", ", case when mod(number, 5000) = 0 then 'FAILED' else 'DRAFT' end"),
            ("organizations", ", slug", ", 'slug-' || number"),
        ):
            connection.execute(
                f"""insert into {table} (project_id, id, name, created_at, updated_at{more})
                    select %s, id_after('01900000-0000-7000-8000-000000000000', number), 'Name ' || md5(number::text),
                           now() + number * interval '1 second', now() - number * interval '1 second'{values}
                    from generate_series(1, 20000) as number""",
                (project.id,),
            )
            connection.execute(f"analyze {table}")
        yield connection
        connection.rollback()


@pytest.mark.parametrize("table", ["campaigns", "organizations"])
def test_a_page_does_not_read_the_whole_table(many_rows, project, table):
    from postern.identity.organizations import store as organizations
    from postern.messaging.campaigns import store as campaigns

    search_text = {"campaigns": campaigns, "organizations": organizations}[table].SEARCH_TEXT
    middle = "01900000-0000-7000-8000-000000002710"
    filters = [
        *(({"sort": sort}, None) for sort in SORTS),
        ({"sort": "name"}, ["Name 8", middle]),
        ({"sort": "-name"}, ["Name 8", middle]),
        ({"sort": "updatedAt"}, ["2026-01-01T00:00:00+00:00", middle]),
        ({}, [middle]),
        ({"q": "name abcde"}, None),
        ({"q": "name abcde", "sort": "name"}, None),
        ({"values": {"status": ["FAILED" if table == "campaigns" else "SUSPENDED"]}}, None),
    ]
    for fields, position in filters:
        query = listing.ListFilter(**fields)
        conditions = query.conditions(search_text)
        if position:
            conditions.append(listing._after(query.sort, position))
        clause = listing.SQL(" and ").join(conditions).as_string(many_rows)
        deleted = "" if table == "campaigns" else "and listed.status <> 'DELETED'"
        statement = f"""explain (analyze, format json, costs off, timing off) select * from {table} listed
            where listed.project_id = '{project.id}' {deleted} and {clause}
            order by {listing._order(query.sort).as_string(many_rows)} limit 26"""
        (plan,) = many_rows.execute(statement.encode()).fetchone()[0]
        assert rows_read(plan["Plan"]) < 1_000, json.dumps(plan, indent=1)


def rows_read(plan: dict) -> float:
    """The largest number of rows that a node of a plan returned or removed."""
    own = (plan["Actual Rows"] + plan.get("Rows Removed by Filter", 0)) * plan["Actual Loops"]
    return max([own, *(rows_read(child) for child in plan.get("Plans", []))])
