"""Managing customers under `/projects` and `/apps`: filters, bans, roles, merging."""

import asyncio
import csv
import io
from datetime import timedelta
from uuid import uuid4

import pytest

from tests.identity.customers.conftest import new_address
from tests.messaging.campaigns.test_campaigns import prepared


def address() -> str:
    return f"{uuid4().hex[:12]}@example.com"


async def create(client, **fields):
    made = await client.post("/customers", {"email": address(), **fields})
    assert made.status_code == 201, made.text
    return made.json()


async def test_a_customer_is_created_and_read_under_projects_and_apps(project):
    made = await create(project.client, name="Ada", metadata={"plan": "pro"}, emailVerified=True)
    read = (await project.client.get(f"/customers/{made['id']}")).json()
    assert read == made
    assert (read["projectId"], read["name"], read["metadata"]) == (project.id, "Ada", {"plan": "pro"})
    seen = (await project.client.get(f"/apps/{project.id}/end-users/{made['id']}")).json()
    assert seen["appId"] == project.id
    assert "projectId" not in seen
    assert "phone" not in seen


async def test_addresses_are_unique_ignoring_case(project):
    made = await create(project.client)
    again = await project.client.post("/customers", {"email": made["email"].upper()})
    assert (again.status_code, again.json()["code"]) == (409, "email_taken")


@pytest.mark.parametrize(("one", "other"), [("strasse", "straße"), ("list", "li\u017ft"), ("fi", "\ufb01")])
async def test_similar_looking_addresses_are_different(project, one, other):
    domain = f"{uuid4().hex[:12]}.example.com"
    first = await create(project.client, email=f"{one.upper()}@{domain}")
    second = await create(project.client, email=f"{other}@{domain}")
    assert first["id"] != second["id"]
    assert (await project.client.post("/customers", {"email": f"{one}@{domain}"})).status_code == 409


async def test_customers_of_another_project_are_404(project, new_project):
    other = await new_project()
    theirs = await create(other.client)
    for method, path in (
        ("GET", ""),
        ("DELETE", ""),
        ("GET", "/timeline"),
        ("GET", "/events"),
        ("GET", "/audit-log"),
        ("POST", "/ban"),
        ("POST", "/unban"),
        ("POST", "/sessions/revoke-all"),
        ("POST", "/mfa/reset"),
    ):
        answer = await project.client.request(method, f"/customers/{theirs['id']}{path}")
        assert answer.status_code == 404, path
    assert (await other.client.get(f"/customers/{theirs['id']}")).json() == theirs


FILTERS = [
    ("q=lovelace", ["ada"]),
    ("q=%2B4930", ["grace"]),
    ("q=crm-7", ["grace"]),
    ("q=a", ["ada"]),
    ("q=nobody%25", []),
    ("status=verified", ["ada"]),
    ("status=unverified", ["alan", "grace"]),
    ("status=banned", ["alan"]),
    ("status=active", ["ada", "grace"]),
    ("status=mfa", []),
    ("status=locked", []),
    ("provider=PASSWORD", ["ada"]),
    ("provider=password&status=verified", ["ada"]),
    ("provider=GOOGLE", []),
    ("status=active&provider=PASSWORD", ["ada"]),
    ("q=&status=&provider=", ["ada", "alan", "grace"]),
]


@pytest.mark.parametrize("family", ["customers", "end-users"])
async def test_customers_are_found_by_search_and_filters(project, family):
    stem = uuid4().hex[:6]
    ada = {"email": f"ada{stem}@example.com", "name": "Ada Lovelace", "password": "a password nobody has"}
    people = {
        "ada": {**ada, "emailVerified": True},
        "grace": {"email": f"grace{stem}@example.com", "phone": "+4930123456", "externalUserId": "crm-7"},
        "alan": {"email": f"zalan{stem}@example.com"},
    }
    names = {(await create(project.client, **fields))["id"]: name for name, fields in people.items()}
    banned = next(each for each, name in names.items() if name == "alan")
    assert (await project.client.post(f"/customers/{banned}/ban")).status_code == 200
    base = f"/apps/{project.id}/end-users" if family == "end-users" else "/customers"
    searches = [
        (f"q={banned}", ["alan"]),
        (f"q={people['ada']['email'].upper()}", ["ada"]),
        (f"q=alan{stem}@example.com", ["alan"]),
        (f"q=ada{stem}@example.org", []),
        (f"q={stem}@exam", ["ada", "alan", "grace"]),
        ("q=example.com", ["ada", "alan", "grace"]),
        ("q=sample.com", []),
        ("q=_da", []),
    ]
    for query, expected in [*FILTERS, *searches]:
        page = (await project.client.get(f"{base}?{query}")).json()
        assert sorted(names[each["id"]] for each in page["data"]) == sorted(expected), query
        assert page["total"] == len(expected), query
        exported = await project.client.get(f"{base}/export?{query}")
        rows = list(csv.DictReader(io.StringIO(exported.text)))
        assert sorted(names[row["id"]] for row in rows) == sorted(expected), query


@pytest.mark.parametrize("q", ["émile", "ÅNGSTRÖM", "İstanbul", "istanbul", "straße", "\u3000", "  ", "{}%", "100%_"])
async def test_search_finds_names_in_any_language_and_treats_wildcards_literally(project, q):
    made = await create(project.client, name="Émile ångström İSTANBUL Straße")
    found = (await project.client.get("/customers", params={"q": q})).json()
    assert [each["id"] for each in found["data"]] == ([] if "%" in q else [made["id"]])
    assert found["total"] == len(found["data"])
    nameless = (await project.client.post("/customers", {"phone": "+4930123456"})).json()
    if q.isspace():
        page = (await project.client.get("/customers", params={"q": q})).json()
        assert [each["id"] for each in page["data"]] == [nameless["id"], made["id"]], "nothing is asked for"


@pytest.mark.parametrize("query", ["q=page", "status=unverified", "q=page&status=active", ""])
async def test_every_page_has_the_exact_total(project, query):
    made = [(await create(project.client, email=f"page{uuid4().hex[:8]}@example.com"))["id"] for _ in range(5)]
    seen = []
    for number, expected in ((1, 2), (2, 2), (3, 1), (4, 0), (9, 0)):
        page = (await project.client.get(f"/customers?{query}&limit=2&page={number}")).json()
        assert (page["total"], page["pages"], page["page"], len(page["data"])) == (5, 3, number, expected)
        seen += [each["id"] for each in page["data"]]
    assert seen == made[::-1], "newest first, each once"


async def test_an_unknown_status_is_rejected_with_the_valid_ones(project):
    answer = await project.client.get("/customers?status=happy")
    assert answer.status_code == 400
    assert answer.json()["errors"][0]["path"] == "query/status"
    assert "unverified" in answer.json()["detail"]


async def test_the_stats_follow_every_change(project):
    async def stats():
        first = (await project.client.get("/customers/stats")).json()
        assert first == (await project.client.get(f"/apps/{project.id}/end-users/stats")).json()
        return tuple(first[name] for name in ("total", "verified", "banned", "mfaEnabled"))

    assert await stats() == (0, 0, 0, 0)
    ada = await create(project.client, emailVerified=True)
    alan = await create(project.client)
    assert await stats() == (2, 1, 0, 0)
    await project.client.post(f"/customers/{alan['id']}/ban")
    assert await stats() == (2, 1, 1, 0)
    await project.client.delete(f"/customers/{ada['id']}")
    assert await stats() == (1, 0, 1, 0)


@pytest.mark.parametrize("family", ["customers", "end-users"])
async def test_a_ban_can_have_a_reason_and_an_end(project, clock, family):
    made = await create(project.client)
    base = f"/apps/{project.id}/end-users/{made['id']}" if family == "end-users" else f"/customers/{made['id']}"
    until = (clock() + timedelta(days=1)).isoformat()
    banned = (await project.client.post(f"{base}/ban", {"reason": "Fraud", "expiresAt": until})).json()
    assert banned["bannedAt"] is not None
    again = (await project.client.post(f"{base}/ban")).json()
    assert again["bannedAt"] == banned["bannedAt"]
    unbanned = (await project.client.post(f"{base}/unban")).json()
    assert unbanned["bannedAt"] is None
    await project.client.post(f"{base}/ban", {"expiresAt": until})
    past = await project.client.post(f"{base}/ban", {"expiresAt": "2001-01-01T00:00:00Z"})
    assert past.json()["errors"][0]["path"] == "/expiresAt"
    clock.move(timedelta(hours=25))
    assert (await project.client.get(base)).json()["bannedAt"] is None
    lapsed = (await project.client.post(f"{base}/unban")).json()
    assert lapsed["bannedAt"] is None
    assert (await project.client.post(f"{base}/unlock")).status_code == 200
    log = (await project.client.get(f"/customers/{made['id']}/audit-log")).json()["data"]
    assert sum(each["action"] == "customer.unbanned" for each in log) == 1, "what ended by itself is not lifted"


@pytest.mark.parametrize("family", ["customers", "end-users"])
async def test_metadata_is_merged_and_limited(project, family):
    made = await create(project.client, metadata={"plan": "free", "since": 2020})
    base = f"/apps/{project.id}/end-users/{made['id']}" if family == "end-users" else f"/customers/{made['id']}"
    change = {"plan": "pro", "since": None, "a": {"b": 1}}
    changed = await project.client.patch(f"{base}/metadata", {"metadata": change})
    assert changed.json()["metadata"] == {"plan": "pro", "a": {"b": 1}}
    big = await project.client.patch(f"{base}/metadata", {"metadata": {"note": "x" * 17_000}})
    assert (big.status_code, big.json()["code"]) == (400, "metadata_too_large")


async def test_roles_are_added_and_replaced(project):
    made = await create(project.client)
    base = f"/customers/{made['id']}/roles"
    assert (await project.client.patch(base, {"roles": ["MEMBER"]})).json()["roles"] == ["MEMBER"]
    assert (await project.client.patch(base, {"roles": ["ADMIN", "MEMBER"]})).json()["roles"] == ["MEMBER", "ADMIN"]
    assert (await project.client.put(base, {"roles": ["OWNER"]})).json()["roles"] == ["OWNER"]
    seen = await project.client.patch(f"/apps/{project.id}/end-users/{made['id']}/roles", {"roles": ["ADMIN"]})
    assert seen.json()["roles"] == ["OWNER", "ADMIN"]
    unknown = await project.client.put(base, {"roles": ["WIZARD"]})
    assert (unknown.status_code, unknown.json()["code"]) == (422, "role_unknown")
    assert (await project.client.get(f"/customers/{made['id']}")).json()["roles"] == ["OWNER", "ADMIN"]


async def test_linking_sets_the_external_identifier(project):
    made = await create(project.client)
    body = {"customerId": made["id"], "externalUserId": "u-1"}
    linked = (await project.client.post("/customers/link", body)).json()
    assert linked["mergedCustomerId"] is None
    assert linked["customer"]["externalUserId"] == "u-1"
    assert (await project.client.post("/customers/link", body)).json()["mergedCustomerId"] is None


async def test_linking_merges_the_customer_with_the_same_identifier(project):
    holder = await create(
        project.client, externalUserId="u-2", emailVerified=True, metadata={"a": 1, "b": 1}, roles=["ADMIN"]
    )
    survivor = await create(project.client, metadata={"b": 2})
    body = {"customerId": survivor["id"], "externalUserId": "u-2"}
    linked = (await project.client.post("/customers/link", body)).json()
    assert linked["mergedCustomerId"] == holder["id"]
    merged = linked["customer"]
    assert (merged["email"], merged["metadata"], merged["roles"]) == (holder["email"], {"a": 1, "b": 2}, ["ADMIN"])
    assert (await project.client.get(f"/customers/{holder['id']}")).status_code == 404
    types = [each["type"] for each in (await project.client.get(f"/customers/{merged['id']}/events")).json()["data"]]
    assert types.count("customer.signed_up") == 2
    assert types.count("customer.linked") == 1
    log = (await project.client.get(f"/customers/{merged['id']}/audit-log")).json()
    assert sorted(each["action"] for each in log["data"]) == ["customer.created"] * 2 + ["customer.linked"]
    assert (await project.client.get("/customers/stats")).json()["total"] == 1


async def test_a_merge_keeps_all_addresses(project):
    holder = await create(project.client, externalUserId="u-4")
    survivor = (await project.client.post("/customers", {"name": "Ada"})).json()
    linked = await project.client.post("/customers/link", {"customerId": survivor["id"], "externalUserId": "u-4"})
    merged = linked.json()["customer"]
    assert (merged["email"], merged["emailVerifiedAt"]) == (holder["email"], None)


async def test_concurrent_links_of_one_identifier_leave_one_customer(project):
    made = [(await create(project.client))["id"] for _ in range(2)]
    bodies = [{"customerId": each, "externalUserId": "u-5"} for each in made * 3]
    answers = await asyncio.gather(*(project.client.post("/customers/link", body) for body in bodies))
    assert {each.status_code for each in answers} <= {200, 404}, "404 for whoever was merged away by then"
    held = (await project.client.get("/customers?q=u-5")).json()["data"]
    assert len(held) == 1
    assert (await project.client.get("/customers/stats")).json()["total"] == 1


async def test_banned_customers_cannot_be_merged(project):
    holder = await create(project.client, externalUserId="u-3")
    survivor = await create(project.client)
    await project.client.post(f"/customers/{holder['id']}/ban")
    answer = await project.client.post("/customers/link", {"customerId": survivor["id"], "externalUserId": "u-3"})
    assert (answer.status_code, answer.json()["code"]) == (409, "customer_banned")
    unknown = await project.client.post("/customers/link", {"customerId": "nonsense", "externalUserId": "u-3"})
    assert unknown.status_code == 404


async def test_the_timeline_is_paged_without_gaps(project):
    made = await create(project.client)
    for number in range(5):
        await project.client.patch(f"/customers/{made['id']}/metadata", {"metadata": {"n": number}})
    for feed, expected in (("events", 6), ("timeline", 6)):
        found, cursor = [], ""
        while cursor is not None:
            page = (await project.client.get(f"/customers/{made['id']}/{feed}?limit=2{cursor}")).json()
            found += page["data"]
            cursor = page["nextCursor"] and f"&cursor={page['nextCursor']}"
        assert len({each["id"] for each in found}) == len(found) == expected
        assert [each["occurredAt"] for each in found] == sorted((each["occurredAt"] for each in found), reverse=True)
    tampered = await project.client.get(f"/customers/{made['id']}/events?cursor=WyJhIl0.x")
    assert tampered.status_code == 400
    seen = await project.client.get(f"/apps/{project.id}/end-users/{made['id']}/audit-log")
    assert seen.json()["total"] == 6


async def test_all_mails_to_a_customer_are_in_the_timeline(auth, project, work_off):
    campaign, (address,) = await prepared(project, 1)
    up = await auth.signed_up(address)
    customer, ada = up["customer"]["id"], auth.as_(up["accessToken"])
    await project.client.post(f"/campaigns/{campaign['id']}/send")
    await work_off()
    new = new_address()
    asked = (await ada.post("/email/change", {"email": new})).json()
    body = {"challengeId": asked["challengeId"], "code": await auth.code(new)}
    assert (await ada.post("/verify-email", body)).status_code == 200
    await work_off()
    seen, cursor = [], ""
    while cursor is not None:
        page = (await project.client.get(f"/customers/{customer}/timeline?limit=3{cursor}")).json()
        seen += page["data"]
        cursor = page["nextCursor"] and f"&cursor={page['nextCursor']}"
    assert len({each["id"] for each in seen}) == len(seen)
    titles = [each["title"] for each in seen if each["kind"] == "EMAIL"]
    assert sum("code" in each for each in titles) == 2, "to the former address, and to the new one"
    assert sum("address was changed" in each for each in titles) == 1
    assert sum(each.startswith("Hello") for each in titles) == 1, "the campaign"
    stranger = (await create(project.client))["id"]
    theirs = (await project.client.get(f"/customers/{stranger}/timeline")).json()["data"]
    assert not [each for each in theirs if each["kind"] == "EMAIL"]


async def test_revoking_an_unknown_session_is_404(project):
    made = await create(project.client)
    for base in (f"/customers/{made['id']}", f"/apps/{project.id}/end-users/{made['id']}"):
        assert (await project.client.post(f"{base}/sessions/{uuid4()}/revoke")).status_code == 404
        assert (await project.client.post(f"{base}/sessions/revoke-all")).status_code == 204
        assert (await project.client.post(f"{base}/mfa/reset")).status_code == 204


async def test_deleting_returns_the_former_record(project):
    made = await create(project.client, name="Ada")
    gone = await project.client.delete(f"/customers/{made['id']}")
    assert gone.json() == made
    assert (await project.client.get(f"/customers/{made['id']}")).status_code == 404
    events = (await project.client.get(f"/customers/{made['id']}/events")).json()["data"]
    assert [each["type"] for each in events] == ["customer.deleted", "customer.signed_up"]
    assert all(each["erasedAt"] and each["metadata"] == {} for each in events)
    other = await create(project.client)
    seen = await project.client.delete(f"/apps/{project.id}/end-users/{other['id']}")
    assert seen.json()["id"] == other["id"]


async def test_an_import_skips_existing_customers_and_reports_faults(project):
    known = await create(project.client)
    body = {
        "customers": [
            {"email": known["email"]},
            {"email": address(), "passwordHash": "$2b$12$" + "a" * 53},
            {"email": address(), "passwordHash": "$2b$31$" + "a" * 53},
            {"email": "nonsense"},
            {"email": address(), "password": "password1"},
            {"email": address(), "roles": ["WIZARD"]},
        ]
    }
    done = (await project.client.post("/customers/import", body)).json()
    assert (done["created"], done["skipped"], done["failed"]) == (1, 1, 4)
    assert [(each["index"], each["code"]) for each in done["faults"]] == [
        (2, "hash_refused"),
        (3, "invalid"),
        (4, "password_common"),
        (5, "role_unknown"),
    ]
