"""Managing customers at `/projects/…` and `/apps/…`: filters, bans, metadata, roles, merging, timeline, import."""

import asyncio
import csv
import io
from datetime import timedelta
from uuid import uuid4

import pytest

from tests.identity.customers.conftest import new_address
from tests.messaging.campaigns.test_campaigns import create_campaign


async def create(client, **fields):
    """Create a customer with a new address, unless `fields` has one."""
    response = await client.post("/customers", {"email": new_address(), **fields})
    assert response.status_code == 201, response.text
    return response.json()


async def test_a_customer_is_created_and_read_under_projects_and_apps(project):
    created = await create(project.client, name="Ada", metadata={"plan": "pro"}, emailVerified=True)
    read = (await project.client.get(f"/customers/{created['id']}")).json()
    assert read == created
    assert (read["projectId"], read["name"], read["metadata"]) == (project.id, "Ada", {"plan": "pro"})
    end_user = (await project.client.get(f"/apps/{project.id}/end-users/{created['id']}")).json()
    assert end_user["appId"] == project.id
    assert "projectId" not in end_user
    assert "phone" not in end_user


async def test_addresses_are_unique_ignoring_case(project):
    customer = await create(project.client)
    refused = await project.client.post("/customers", {"email": customer["email"].upper()})
    assert (refused.status_code, refused.json()["code"]) == (409, "email_taken")


@pytest.mark.parametrize(("one", "other"), [("strasse", "straße"), ("list", "li\u017ft"), ("fi", "\ufb01")])
async def test_similar_looking_addresses_are_different(project, one, other):
    domain = f"{uuid4().hex[:12]}.example.com"
    first = await create(project.client, email=f"{one.upper()}@{domain}")
    second = await create(project.client, email=f"{other}@{domain}")
    assert first["id"] != second["id"]
    assert (await project.client.post("/customers", {"email": f"{one}@{domain}"})).status_code == 409


async def test_customers_of_another_project_are_404(project, new_project):
    other = await new_project()
    customer = await create(other.client)
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
        response = await project.client.request(method, f"/customers/{customer['id']}{path}")
        assert response.status_code == 404, path
    assert (await other.client.get(f"/customers/{customer['id']}")).json() == customer


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
    unique = uuid4().hex[:6]
    ada = {"email": f"ada{unique}@example.com", "name": "Ada Lovelace", "password": "a password nobody has"}
    customers = {
        "ada": {**ada, "emailVerified": True},
        "grace": {"email": f"grace{unique}@example.com", "phone": "+4930123456", "externalUserId": "crm-7"},
        "alan": {"email": f"zalan{unique}@example.com"},
    }
    names = {(await create(project.client, **fields))["id"]: name for name, fields in customers.items()}
    banned_id = next(customer_id for customer_id, name in names.items() if name == "alan")
    assert (await project.client.post(f"/customers/{banned_id}/ban")).status_code == 200
    base = f"/apps/{project.id}/end-users" if family == "end-users" else "/customers"
    searches = [
        (f"q={banned_id}", ["alan"]),
        (f"q={customers['ada']['email'].upper()}", ["ada"]),
        (f"q=alan{unique}@example.com", ["alan"]),
        (f"q=ada{unique}@example.org", []),
        (f"q={unique}@exam", ["ada", "alan", "grace"]),
        ("q=example.com", ["ada", "alan", "grace"]),
        ("q=sample.com", []),
        ("q=_da", []),
    ]
    for query, expected in [*FILTERS, *searches]:
        page = (await project.client.get(f"{base}?{query}")).json()
        assert sorted(names[customer["id"]] for customer in page["data"]) == sorted(expected), query
        assert page["total"] == len(expected), query
        exported = await project.client.get(f"{base}/export?{query}")
        rows = list(csv.DictReader(io.StringIO(exported.text)))
        assert sorted(names[row["id"]] for row in rows) == sorted(expected), query


@pytest.mark.parametrize("q", ["émile", "ÅNGSTRÖM", "İstanbul", "istanbul", "straße", "\u3000", "  ", "{}%", "100%_"])
async def test_search_finds_names_in_any_language_and_treats_wildcards_literally(project, q):
    created = await create(project.client, name="Émile ångström İSTANBUL Straße")
    results = (await project.client.get("/customers", params={"q": q})).json()
    assert [customer["id"] for customer in results["data"]] == ([] if "%" in q else [created["id"]])
    assert results["total"] == len(results["data"])
    nameless = (await project.client.post("/customers", {"phone": "+4930123456"})).json()
    if q.isspace():
        page = (await project.client.get("/customers", params={"q": q})).json()
        assert [customer["id"] for customer in page["data"]] == [nameless["id"], created["id"]], (
            "a blank search text filters nothing"
        )


@pytest.mark.parametrize("query", ["q=page", "status=unverified", "q=page&status=active", ""])
async def test_every_page_has_the_exact_total(project, query):
    customer_ids = [(await create(project.client, email=f"page{uuid4().hex[:8]}@example.com"))["id"] for _ in range(5)]
    listed_ids = []
    for number, expected in ((1, 2), (2, 2), (3, 1), (4, 0), (9, 0)):
        page = (await project.client.get(f"/customers?{query}&limit=2&page={number}")).json()
        assert (page["total"], page["pages"], page["page"], len(page["data"])) == (5, 3, number, expected)
        listed_ids += [customer["id"] for customer in page["data"]]
    assert listed_ids == customer_ids[::-1], "newest first, and every customer once"


async def test_an_unknown_status_is_rejected_with_the_valid_ones(project):
    response = await project.client.get("/customers?status=happy")
    assert response.status_code == 400
    assert response.json()["errors"][0]["path"] == "query/status"
    assert "unverified" in response.json()["detail"]


async def test_the_stats_are_correct_after_every_change(project):
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
    customer = await create(project.client)
    base = f"/apps/{project.id}/end-users/{customer['id']}" if family == "end-users" else f"/customers/{customer['id']}"
    until = (clock() + timedelta(days=1)).isoformat()
    banned = (await project.client.post(f"{base}/ban", {"reason": "Fraud", "expiresAt": until})).json()
    assert banned["bannedAt"] is not None
    repeated = (await project.client.post(f"{base}/ban")).json()
    assert repeated["bannedAt"] == banned["bannedAt"]
    unbanned = (await project.client.post(f"{base}/unban")).json()
    assert unbanned["bannedAt"] is None
    await project.client.post(f"{base}/ban", {"expiresAt": until})
    past = await project.client.post(f"{base}/ban", {"expiresAt": "2001-01-01T00:00:00Z"})
    assert past.json()["errors"][0]["path"] == "/expiresAt"
    clock.move(timedelta(hours=25))
    assert (await project.client.get(base)).json()["bannedAt"] is None
    ended = (await project.client.post(f"{base}/unban")).json()
    assert ended["bannedAt"] is None
    assert (await project.client.post(f"{base}/unlock")).status_code == 200
    log = (await project.client.get(f"/customers/{customer['id']}/audit-log")).json()["data"]
    assert sum(entry["action"] == "customer.unbanned" for entry in log) == 1, "no entry for the ban that had ended"


@pytest.mark.parametrize("family", ["customers", "end-users"])
async def test_metadata_is_merged_and_limited(project, family):
    customer = await create(project.client, metadata={"plan": "free", "since": 2020})
    base = f"/apps/{project.id}/end-users/{customer['id']}" if family == "end-users" else f"/customers/{customer['id']}"
    change = {"plan": "pro", "since": None, "a": {"b": 1}}
    changed = await project.client.patch(f"{base}/metadata", {"metadata": change})
    assert changed.json()["metadata"] == {"plan": "pro", "a": {"b": 1}}
    whole = {"plan": None, "a": None, "note": "x" * (16 * 1_024 - len('{"note":""}'))}
    assert (await project.client.patch(f"{base}/metadata", {"metadata": whole})).status_code == 200
    too_large = await project.client.patch(f"{base}/metadata", {"metadata": {"note": whole["note"] + "x"}})
    assert (too_large.status_code, too_large.json()["code"]) == (400, "metadata_too_large")
    assert "16 KiB" in too_large.json()["detail"]


async def test_roles_are_added_and_replaced(project):
    customer = await create(project.client)
    base = f"/customers/{customer['id']}/roles"
    assert (await project.client.patch(base, {"roles": ["MEMBER"]})).json()["roles"] == ["MEMBER"]
    assert (await project.client.patch(base, {"roles": ["ADMIN", "MEMBER"]})).json()["roles"] == ["MEMBER", "ADMIN"]
    assert (await project.client.put(base, {"roles": ["OWNER"]})).json()["roles"] == ["OWNER"]
    end_user = await project.client.patch(f"/apps/{project.id}/end-users/{customer['id']}/roles", {"roles": ["ADMIN"]})
    assert end_user.json()["roles"] == ["OWNER", "ADMIN"]
    unknown = await project.client.put(base, {"roles": ["WIZARD"]})
    assert (unknown.status_code, unknown.json()["code"]) == (422, "role_unknown")
    assert (await project.client.get(f"/customers/{customer['id']}")).json()["roles"] == ["OWNER", "ADMIN"]


async def test_linking_sets_the_external_identifier(project):
    customer = await create(project.client)
    body = {"customerId": customer["id"], "externalUserId": "u-1"}
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
    types = [event["type"] for event in (await project.client.get(f"/customers/{merged['id']}/events")).json()["data"]]
    assert types.count("customer.signed_up") == 2
    assert types.count("customer.linked") == 1
    log = (await project.client.get(f"/customers/{merged['id']}/audit-log")).json()
    assert sorted(entry["action"] for entry in log["data"]) == ["customer.created"] * 2 + ["customer.linked"]
    assert (await project.client.get("/customers/stats")).json()["total"] == 1


async def test_a_merge_keeps_all_addresses(project):
    holder = await create(project.client, externalUserId="u-4")
    survivor = (await project.client.post("/customers", {"name": "Ada"})).json()
    linked = await project.client.post("/customers/link", {"customerId": survivor["id"], "externalUserId": "u-4"})
    merged = linked.json()["customer"]
    assert (merged["email"], merged["emailVerifiedAt"]) == (holder["email"], None)


async def test_concurrent_links_of_one_identifier_leave_one_customer(project):
    customer_ids = [(await create(project.client))["id"] for _ in range(2)]
    bodies = [{"customerId": customer_id, "externalUserId": "u-5"} for customer_id in customer_ids * 3]
    responses = await asyncio.gather(*(project.client.post("/customers/link", body) for body in bodies))
    assert {response.status_code for response in responses} <= {200, 404}, "404 for a customer that was merged before"
    holders = (await project.client.get("/customers?q=u-5")).json()["data"]
    assert len(holders) == 1
    assert (await project.client.get("/customers/stats")).json()["total"] == 1


async def test_banned_customers_cannot_be_merged(project):
    holder = await create(project.client, externalUserId="u-3")
    survivor = await create(project.client)
    await project.client.post(f"/customers/{holder['id']}/ban")
    response = await project.client.post("/customers/link", {"customerId": survivor["id"], "externalUserId": "u-3"})
    assert (response.status_code, response.json()["code"]) == (409, "customer_banned")
    unknown = await project.client.post("/customers/link", {"customerId": "nonsense", "externalUserId": "u-3"})
    assert unknown.status_code == 404


async def test_the_timeline_is_paged_without_gaps(project):
    customer = await create(project.client)
    for number in range(5):
        await project.client.patch(f"/customers/{customer['id']}/metadata", {"metadata": {"n": number}})
    for feed, expected in (("events", 6), ("timeline", 6)):
        entries, cursor = [], ""
        while cursor is not None:
            page = (await project.client.get(f"/customers/{customer['id']}/{feed}?limit=2{cursor}")).json()
            entries += page["data"]
            cursor = page["nextCursor"] and f"&cursor={page['nextCursor']}"
        assert len({entry["id"] for entry in entries}) == len(entries) == expected
        assert [entry["occurredAt"] for entry in entries] == sorted(
            (entry["occurredAt"] for entry in entries), reverse=True
        )
    tampered = await project.client.get(f"/customers/{customer['id']}/events?cursor=WyJhIl0.x")
    assert tampered.status_code == 400
    audit_log = await project.client.get(f"/apps/{project.id}/end-users/{customer['id']}/audit-log")
    assert audit_log.json()["total"] == 6


async def test_all_mails_to_a_customer_are_in_the_timeline(auth, project, run_due_work):
    campaign, (address,) = await create_campaign(project, 1)
    sign_up = await auth.signed_up(address)
    customer, ada = sign_up["customer"]["id"], auth.as_(sign_up["accessToken"])
    await project.client.post(f"/campaigns/{campaign['id']}/send")
    await run_due_work()
    new = new_address()
    challenge = (await ada.post("/email/change", {"email": new})).json()
    body = {"challengeId": challenge["challengeId"], "code": await auth.code(new)}
    assert (await ada.post("/verify-email", body)).status_code == 200
    await run_due_work()
    entries, cursor = [], ""
    while cursor is not None:
        page = (await project.client.get(f"/customers/{customer}/timeline?limit=3{cursor}")).json()
        entries += page["data"]
        cursor = page["nextCursor"] and f"&cursor={page['nextCursor']}"
    assert len({entry["id"] for entry in entries}) == len(entries)
    titles = [entry["title"] for entry in entries if entry["kind"] == "EMAIL"]
    assert sum("code" in title for title in titles) == 2, "to the former address, and to the new one"
    assert sum("address was changed" in title for title in titles) == 1
    assert sum(title.startswith("Hello") for title in titles) == 1, "the campaign"
    other_id = (await create(project.client))["id"]
    other_entries = (await project.client.get(f"/customers/{other_id}/timeline")).json()["data"]
    assert not [entry for entry in other_entries if entry["kind"] == "EMAIL"]


async def test_revoking_an_unknown_session_is_404(project):
    customer = await create(project.client)
    for base in (f"/customers/{customer['id']}", f"/apps/{project.id}/end-users/{customer['id']}"):
        assert (await project.client.post(f"{base}/sessions/{uuid4()}/revoke")).status_code == 404
        assert (await project.client.post(f"{base}/sessions/revoke-all")).status_code == 204
        assert (await project.client.post(f"{base}/mfa/reset")).status_code == 204


async def test_deleting_returns_the_former_record(project):
    customer = await create(project.client, name="Ada")
    deleted = await project.client.delete(f"/customers/{customer['id']}")
    assert deleted.json() == customer
    assert (await project.client.get(f"/customers/{customer['id']}")).status_code == 404
    events = (await project.client.get(f"/customers/{customer['id']}/events")).json()["data"]
    assert [event["type"] for event in events] == ["customer.deleted", "customer.signed_up"]
    assert all(event["erasedAt"] and event["metadata"] == {} for event in events)
    other = await create(project.client)
    deleted_end_user = await project.client.delete(f"/apps/{project.id}/end-users/{other['id']}")
    assert deleted_end_user.json()["id"] == other["id"]


async def test_an_import_skips_existing_customers_and_reports_faults(project):
    existing = await create(project.client)
    body = {
        "customers": [
            {"email": existing["email"]},
            {"email": new_address(), "passwordHash": "$2b$12$" + "." * 53},
            {"email": new_address(), "passwordHash": "$2b$31$" + "." * 53},
            {"email": "nonsense"},
            {"email": new_address(), "password": "password1"},
            {"email": new_address(), "roles": ["WIZARD"]},
        ]
    }
    result = (await project.client.post("/customers/import", body)).json()
    assert (result["created"], result["skipped"], result["failed"]) == (1, 1, 4)
    assert [(fault["index"], fault["code"]) for fault in result["faults"]] == [
        (2, "hash_refused"),
        (3, "invalid"),
        (4, "password_common"),
        (5, "role_unknown"),
    ]


async def test_an_import_creates_no_customer_whose_verified_phone_number_is_missing(project):
    address = new_address()
    body = {"customers": [{"email": address, "phoneVerified": True}]}
    result = (await project.client.post("/customers/import", body)).json()
    assert (result["created"], result["failed"]) == (0, 1)
    assert (await project.client.get(f"/customers?q={address}")).json()["data"] == []
