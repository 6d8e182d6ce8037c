"""Unknown parameters and invalid values are rejected, and the response lists the valid ones."""

import inspect
import re
from typing import Any, get_args, get_origin

import msgspec
import pytest

from postern.app import OPERATIONS
from postern.kernel.http.pagination import Feed, LinkedList, Page
from postern.kernel.http.validation import invalid_value
from tests.conftest import Client, Tenant

STRICT = [operation for operation in OPERATIONS if not operation.ignore_unknown_query]
"""The operations that reject unknown query parameters."""
UNKNOWN_ID = "00000000-0000-7000-8000-000000000000"


def path_of(operation: Any, project: Tenant) -> str:
    path = re.sub(r"{(project_id|app_id)}", project.id, operation.path)
    return "http://postern.test" + re.sub(r"{\w+}", UNKNOWN_ID, path)


async def test_every_operation_rejects_unknown_query_parameters(project: Tenant, stranger: Client) -> None:
    """Regression test of N9 (tests/defects.md)."""
    for operation in STRICT:
        client = (
            project.developer if "developer" in operation.accepts else project.client if operation.accepts else stranger
        )
        if operation.accepts == {"customer"}:
            continue  # Parameters are bound in the same way, and these tests have no customer.
        response = await client.request(operation.method, path_of(operation, project), params={"limitt": "1"})
        if response.status_code in (401, 403):
            assert not operation.accepts & {"secret_key", "developer"}, operation.wire_path
            continue
        assert response.status_code == 400, (operation.method, operation.wire_path, response.text)
        errors = response.json()["errors"]
        assert [error["path"] for error in errors] == ["query/limitt"], operation.wire_path
        assert errors[0]["code"] == "unknown_parameter"
        names = [parameter.wire_name for parameter in operation.parameters if parameter.place == "query"]
        assert all(f"`{name}`" in errors[0]["message"] for name in names), operation.wire_path


def test_browser_pages_and_callbacks_ignore_unknown_parameters() -> None:
    """Regression test of N9 (tests/defects.md)."""
    for operation in OPERATIONS:
        is_for_browsers = not operation.accepts and (operation.hidden or operation.media_types != ("application/json",))
        reads_query_itself = "query_params" in inspect.getsource(inspect.unwrap(operation.function))
        if is_for_browsers or reads_query_itself:
            assert operation.ignore_unknown_query, (
                f"{operation.method} {operation.path}: declare ignore_unknown_query=True"
            )
        if operation.ignore_unknown_query:
            assert not operation.accepts, (
                f"{operation.method} {operation.path}: clients with a credential read error responses"
            )


async def test_links_with_added_tracking_parameters_work(stranger: Client, project: Tenant) -> None:
    """Regression test of N9 (tests/defects.md)."""
    added = {"utm_source": "newsletter", "fbclid": "x", "utm_medium": "email"}
    opened = await stranger.get(f"/t/o/{UNKNOWN_ID}", params=added)
    assert opened.status_code == 200
    shown = await stranger.http.get(f"/projects/{project.id}/auth/pages/forgot", params=added)
    assert shown.status_code == 200
    confirm = await stranger.http.get("/verify-email", params={"token": "x", **added})
    assert confirm.status_code == 200


async def test_a_repeated_parameter_is_rejected(project: Tenant) -> None:
    """Regression test of N9 (tests/defects.md)."""
    response = await project.client.get("/contacts?limit=1&limit=2")
    assert response.status_code == 400
    assert response.json()["errors"][0]["code"] == "repeated_parameter"


@pytest.mark.parametrize(
    ("path", "values"),
    [
        ("/emails/logs?status=GONE", ["QUEUED", "DELIVERED", "CANCELLED"]),
        ("/suppressions?reason=cross", ["BOUNCE", "COMPLAINT", "UNSUBSCRIBE", "MANUAL"]),
        ("/customers?status=asleep", ["active", "banned", "locked"]),
        ("/access/roles?scope=none", ["PROJECT", "ORGANIZATION"]),
    ],
)
async def test_an_unknown_enumeration_value_is_rejected_with_the_valid_ones(
    project: Tenant, path: str, values: list[str]
) -> None:
    """Regression test of N9, C13 (tests/defects.md)."""
    response = await project.client.get(path)
    assert response.status_code == 400
    error = response.json()["errors"][0]
    assert error["path"].startswith("query/")
    assert all(value in error["message"] for value in values), error


async def test_enumerations_in_queries_ignore_case(project: Tenant) -> None:
    """Regression test of N9 (tests/defects.md)."""
    for path in ("/suppressions?reason=bounce", "/customers?status=BANNED", "/access/roles?scope=project"):
        assert (await project.client.get(path)).status_code == 200, path


@pytest.mark.parametrize(
    ("path", "body", "pointer", "words"),
    [
        ("/account/auth-billing/checkout", {"billingCycle": "MONTHLY"}, "/billingCycle", ["monthly", "yearly"]),
        ("/api-keys", {"name": "k", "type": "secret"}, "/type", ["SECRET", "PUBLISHABLE"]),
        ("/api-keys", {"name": "k", "color": "red"}, "/color", ["`name`", "`type`", "`permissions`"]),
        ("/api-keys", {"name": 3}, "/name", ["a string", "an integer"]),
        ("/api-keys", {"name": ""}, "/name", ["at least 1 character"]),
        ("/api-keys", {"name": "a\nb"}, "/name", ["one line of text"]),
        ("/api-keys", {"name": "k", "expiresAt": "tomorrow"}, "/expiresAt", ["2026-01-31T12:00:00Z"]),
        ("/api-keys", {"name": "k", "permissions": ["emails:fly"]}, "/permissions/0", ["`emails:send`", "`emails:*`"]),
        ("/api-keys", {"name": "k", "permissions": ["mail"]}, "/permissions/0", ["emails, ", "customers"]),
        ("/api-keys", {}, "/name", ["`name` is required"]),
        ("/access/permissions", {"key": "Posts", "name": "x"}, "/key", ["`posts:write`"]),
        (
            "/automations",
            {"name": "a", "trigger": {"type": "NEVER"}, "steps": []},
            "/trigger/type",
            ["AUDIENCE_JOINED", "CONTACT_CREATED"],
        ),
    ],
)
async def test_errors_in_a_body_are_sentences(
    project: Tenant, path: str, body: Any, pointer: str, words: list[str]
) -> None:
    """Regression test of N9 (tests/defects.md)."""
    response = await project.developer.post(path, body)
    assert response.status_code == 400, response.text
    error = response.json()["errors"][0]
    assert error["path"] == pointer
    assert all(word in error["message"] for word in words), error
    assert not re.search(r"regex|\(\?!|\^\[|`str`|`int`|enum", response.text)


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/access/roles", {"key": "editor", "permissions": []}),
        ("/audiences", {}),
        ("/automations", {"trigger": {"type": "CONTACT_CREATED"}, "steps": []}),
        ("/b2b/features", {"key": "seats", "type": "BOOLEAN"}),
        ("/b2b/organizations", {}),
        ("/b2b/plans", {"key": "pro"}),
        ("/campaigns", {}),
        ("/customers", {"email": "ada@example.com"}),
        ("/templates", {"html": "<p>x</p>"}),
    ],
)
async def test_blank_and_multi_line_names_are_rejected(project: Tenant, path: str, body: Any) -> None:
    """Regression test of M17, I12 (tests/defects.md)."""
    for name in ("  ", "\u00a0", "a\nb"):
        refused = await project.developer.post(path, {**body, "name": name})
        assert (refused.status_code, refused.json()["errors"][0]["path"]) == (400, "/name"), refused.text
        assert "one line of text" in refused.json()["detail"]
    made = await project.developer.post(path, {**body, "name": "Ada’s Straße"})
    assert made.status_code == 201, made.text
    changed = await project.developer.patch(f"{path}/{made.json().get('key') or made.json()['id']}", {"name": " "})
    assert (changed.status_code, changed.json()["errors"][0]["path"]) == (400, "/name"), changed.text


async def test_operations_without_a_body_reject_fields(project: Tenant) -> None:
    """Regression test of N9 (tests/defects.md)."""
    made = (await project.client.post("/templates", {"name": "t", "html": "<p>x</p>"})).json()
    refused = await project.client.post(f"/templates/{made['id']}/duplicate", {"name": "other"})
    assert refused.status_code == 400
    assert refused.json()["errors"][0]["path"] == "/name"
    assert (await project.client.post(f"/templates/{made['id']}/duplicate", {})).status_code == 201


def metas_with_patterns(kind: Any, seen: set[Any]) -> Any:
    """Every `msgspec.Meta` with a pattern inside a type. `seen` has the classes that were visited."""
    if get_origin(kind) is not None and hasattr(kind, "__metadata__"):
        for meta in kind.__metadata__:
            if isinstance(meta, msgspec.Meta) and meta.pattern:
                yield meta
    for inner in get_args(kind):
        yield from metas_with_patterns(inner, seen)
    origin = get_origin(kind) or kind
    if isinstance(origin, type) and issubclass(origin, msgspec.Struct) and origin not in seen:
        seen.add(origin)
        for hint in inspect.get_annotations(origin).values():
            yield from metas_with_patterns(hint, seen)
        for base in origin.__mro__[1:]:
            for hint in inspect.get_annotations(base).values():
                yield from metas_with_patterns(hint, seen)


def test_every_pattern_has_a_description() -> None:
    """Regression test of N9 (tests/defects.md)."""
    seen: set[Any] = set()
    kinds = [operation.body for operation in OPERATIONS]
    kinds += [parameter.type for operation in OPERATIONS for parameter in operation.parameters]
    metas = [meta for kind in kinds for meta in metas_with_patterns(kind, seen)]
    assert len(metas) > 20
    assert [meta.pattern for meta in metas if not meta.description] == []


def test_an_error_in_a_mapping_has_its_path() -> None:
    class Inner(msgspec.Struct):
        headers: dict[str, int]

    with pytest.raises(msgspec.ValidationError) as raised:
        msgspec.json.decode(b'{"headers": {"a": "b"}}', type=Inner)
    problem = invalid_value(raised.value, Inner)
    assert problem.errors[0].path == "/headers"
    assert problem.errors[0].message == "Expected an integer; found a string."


PAGING = {Page: {"page", "limit"}, Feed: {"limit", "cursor"}, LinkedList: {"limit", "cursor"}}


def test_lists_of_one_kind_are_paged_alike() -> None:
    """Regression test of N9 (tests/defects.md)."""
    for operation in OPERATIONS:
        kind = get_origin(operation.returns)
        if kind in PAGING:
            names = {parameter.wire_name for parameter in operation.parameters if parameter.place == "query"}
            assert names >= PAGING[kind], f"{operation.method} {operation.wire_path}"
            assert ("page" in names) == (kind is Page), f"{operation.method} {operation.wire_path}"


async def test_every_page_has_a_cursor_for_the_next_one(project: Tenant, run_due_work: Any) -> None:
    """Regression test of N9, M15 (tests/defects.md)."""
    emails = [f"p{number}@example.com" for number in range(5)]
    audience = (await project.client.post("/audiences", {"name": "all"})).json()
    await project.client.post(f"/audiences/{audience['id']}/contacts/bulk-email", {"emails": emails})
    for email in emails:
        mail = {"to": [email], "from": "a@acme.example", "subject": "x", "html": "<p>x</p>"}
        assert (await project.client.post("/emails", mail)).status_code == 201
        made = await project.client.post("/customers", {"email": email})
        assert made.status_code == 201
    await project.client.post("/suppressions/bulk", {"addresses": emails})
    customer = made.json()["id"]
    for number in range(4):
        await project.client.patch(f"/customers/{customer}/metadata", {"metadata": {"n": number}})
    paths = ["/emails/logs", "/suppressions", "/contacts", f"/audiences/{audience['id']}/contacts", "/customers"]
    paths += [f"/customers/{customer}/audit-log", "/inbox", "http://postern.test/account/audit-log"]
    paths += [f"/apps/{project.id}/end-users", "/customers?q=example", "/customers?status=active"]
    for path in paths:
        separator = "&" if "?" in path else "?"
        complete = (await project.developer.get(f"{path}{separator}limit=100")).json()
        assert complete["nextCursor"] is None, path
        assert complete["total"] == len(complete["data"]) > 3, path
        read, cursor = [], None
        while True:
            query = f"&cursor={cursor}" if cursor else ""
            response = (await project.developer.get(f"{path}{separator}limit=2{query}")).json()
            assert response["total"] == complete["total"], path
            read += [record["id"] for record in response["data"]]
            if (cursor := response["nextCursor"]) is None:
                break
        assert read == [record["id"] for record in complete["data"]], path
        assert response["page"] == response["pages"]


async def test_timestamps_with_any_offset_are_accepted(project):
    """ISO 8601 allows offsets that PostgreSQL does not.

    Regression test of N9 (tests/defects.md).
    """
    for path in ("/emails/logs", "/emails/logs/export"):
        response = await project.client.get(f"{path}?from=2020-05-23T21:21:53%2B22:11&to=2030-01-01T00:00:00-23:59")
        assert response.status_code == 200, response.text
        assert response.content
