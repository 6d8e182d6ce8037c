"""The SCIM 2.0 endpoints of a connection (RFC 7644), which a directory calls with its token."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from datetime import timedelta
from typing import Any
from uuid import UUID

import msgspec

from postern.identity.scim import discovery, groups, rules, store, users
from postern.identity.scim.authentication import Directory, authenticate, count_operations
from postern.identity.scim.documents import ListRequest, list_document, read_list_request
from postern.identity.scim.errors import MEDIA_TYPE, SCIM, recorded_detail, scim_type_of
from postern.identity.scim.model import (
    BULK_OPERATIONS,
    DETAIL_LIMIT,
    ERROR_LIFE,
    ERRORS_KEPT,
    METHOD_LIMIT,
    NOTED_EVERY,
    DirectoryError,
)
from postern.kernel.http.call import Call
from postern.kernel.http.handler import UnsupportedMediaType, read_json
from postern.kernel.http.operation import RawRequest, delete, get, patch, post, put
from postern.kernel.http.problems import Problem, RateLimited, Unauthenticated
from postern.kernel.http.responses import HttpResponse
from postern.kernel.limits import RateLimit
from postern.kernel.values import Moment, as_id, new_id, to_json
from postern.protocols.scim.filters import is_storable
from postern.protocols.scim.patch import apply_changes, read_changes, read_steps
from postern.protocols.scim.problems import ScimRequestInvalid
from postern.protocols.scim.schemas import GROUP, USER, Document, ResourceType, read_resource, selected

Handler = Callable[[Directory, RawRequest], Awaitable[HttpResponse]]
ERROR_RATE = RateLimit("scim-errors", 30, timedelta(minutes=1))
"""Limit of the refused requests of one connection that are recorded, so that many of a kind do not displace others."""


@get("/{conn_id}/ServiceProviderConfig", public=True, compatible_api=SCIM)
async def get_scim_config(call: Call, request: RawRequest, conn_id: UUID) -> HttpResponse:
    """The supported parts of the protocol."""
    return await _respond(call, request, conn_id, _config)


@get("/{conn_id}/ResourceTypes", public=True, compatible_api=SCIM)
async def list_scim_resource_types(call: Call, request: RawRequest, conn_id: UUID) -> HttpResponse:
    """The resource types: User and Group."""
    return await _respond(call, request, conn_id, _resource_types)


@get("/{conn_id}/ResourceTypes/{name}", public=True, compatible_api=SCIM)
async def get_scim_resource_type(call: Call, request: RawRequest, conn_id: UUID, name: str) -> HttpResponse:
    """A resource type."""
    return await _respond(call, request, conn_id, lambda directory, _: _resource_type(directory, name))


@get("/{conn_id}/Schemas", public=True, compatible_api=SCIM)
async def list_scim_schemas(call: Call, request: RawRequest, conn_id: UUID) -> HttpResponse:
    """The schemas."""
    return await _respond(call, request, conn_id, _schemas)


@get("/{conn_id}/Schemas/{urn}", public=True, compatible_api=SCIM)
async def get_scim_schema(call: Call, request: RawRequest, conn_id: UUID, urn: str) -> HttpResponse:
    """A schema by its URN."""
    return await _respond(call, request, conn_id, lambda directory, _: _schema(directory, urn))


@get("/{conn_id}/Users", public=True, compatible_api=SCIM)
async def list_scim_users(call: Call, request: RawRequest, conn_id: UUID) -> HttpResponse:
    """A page of users."""
    return await _respond(call, request, conn_id, _list_users)


@post("/{conn_id}/Users", public=True, compatible_api=SCIM)
async def create_scim_user(call: Call, request: RawRequest, conn_id: UUID) -> HttpResponse:
    """Create a user."""
    return await _respond(call, request, conn_id, _create_user)


@post("/{conn_id}/Users/.search", public=True, compatible_api=SCIM)
async def search_scim_users(call: Call, request: RawRequest, conn_id: UUID) -> HttpResponse:
    """A page of users, with the parameters in the body."""
    return await _respond(call, request, conn_id, _list_users)


@get("/{conn_id}/Users/{id}", public=True, compatible_api=SCIM)
async def get_scim_user(call: Call, request: RawRequest, conn_id: UUID, id: UUID) -> HttpResponse:
    """A user."""
    return await _respond(call, request, conn_id, lambda directory, request: _get_user(directory, request, id))


@put("/{conn_id}/Users/{id}", public=True, compatible_api=SCIM)
async def replace_scim_user(call: Call, request: RawRequest, conn_id: UUID, id: UUID) -> HttpResponse:
    """Replace the attributes of a user."""
    return await _respond(call, request, conn_id, lambda directory, request: _replace_user(directory, request, id))


@patch("/{conn_id}/Users/{id}", public=True, compatible_api=SCIM)
async def patch_scim_user(call: Call, request: RawRequest, conn_id: UUID, id: UUID) -> HttpResponse:
    """Change attributes of a user."""
    return await _respond(call, request, conn_id, lambda directory, request: _patch_user(directory, request, id))


@delete("/{conn_id}/Users/{id}", public=True, compatible_api=SCIM)
async def delete_scim_user(call: Call, request: RawRequest, conn_id: UUID, id: UUID) -> HttpResponse:
    """Delete a user."""
    return await _respond(call, request, conn_id, lambda directory, _: _delete_user(directory, id))


@get("/{conn_id}/Groups", public=True, compatible_api=SCIM)
async def list_scim_groups(call: Call, request: RawRequest, conn_id: UUID) -> HttpResponse:
    """A page of groups."""
    return await _respond(call, request, conn_id, _list_groups)


@post("/{conn_id}/Groups", public=True, compatible_api=SCIM)
async def create_scim_group(call: Call, request: RawRequest, conn_id: UUID) -> HttpResponse:
    """Create a group."""
    return await _respond(call, request, conn_id, _create_group)


@post("/{conn_id}/Groups/.search", public=True, compatible_api=SCIM)
async def search_scim_groups(call: Call, request: RawRequest, conn_id: UUID) -> HttpResponse:
    """A page of groups, with the parameters in the body."""
    return await _respond(call, request, conn_id, _list_groups)


@get("/{conn_id}/Groups/{id}", public=True, compatible_api=SCIM)
async def get_scim_group(call: Call, request: RawRequest, conn_id: UUID, id: UUID) -> HttpResponse:
    """A group."""
    return await _respond(call, request, conn_id, lambda directory, request: _get_group(directory, request, id))


@put("/{conn_id}/Groups/{id}", public=True, compatible_api=SCIM)
async def replace_scim_group(call: Call, request: RawRequest, conn_id: UUID, id: UUID) -> HttpResponse:
    """Replace the name and the members of a group."""
    return await _respond(call, request, conn_id, lambda directory, request: _replace_group(directory, request, id))


@patch("/{conn_id}/Groups/{id}", public=True, compatible_api=SCIM)
async def patch_scim_group(call: Call, request: RawRequest, conn_id: UUID, id: UUID) -> HttpResponse:
    """Change the name or members of a group."""
    return await _respond(call, request, conn_id, lambda directory, request: _patch_group(directory, request, id))


@delete("/{conn_id}/Groups/{id}", public=True, compatible_api=SCIM)
async def delete_scim_group(call: Call, request: RawRequest, conn_id: UUID, id: UUID) -> HttpResponse:
    """Delete a group."""
    return await _respond(call, request, conn_id, lambda directory, _: _delete_group(directory, id))


@post("/{conn_id}/.search", public=True, compatible_api=SCIM)
async def search_scim_resources(call: Call, request: RawRequest, conn_id: UUID) -> HttpResponse:
    """A page of users and groups: the users first."""
    return await _respond(call, request, conn_id, _search)


@post("/{conn_id}/Bulk", public=True, compatible_api=SCIM)
async def change_scim_resources(call: Call, request: RawRequest, conn_id: UUID) -> HttpResponse:
    """Several changes in one request. Each is a transaction of its own."""
    return await _respond(call, request, conn_id, _bulk)


async def _respond(call: Call, request: RawRequest, conn_id: UUID, handler: Handler) -> HttpResponse:
    """The response of a handler to a request with a valid token. Records refused requests, and the time of changes."""
    directory = await authenticate(call, request, conn_id)
    try:
        response = await handler(directory, request)
    except Problem as problem:
        if not isinstance(problem, Unauthenticated | RateLimited) and problem.status < 500:
            await _record_error(directory, request.method, request.scope["path"], problem)
        raise
    if request.method != "GET" and response.status < 400:
        await _note_change(directory)
    return response


async def _note_change(directory: Directory) -> None:
    connection, now = directory.connection, directory.call.now
    if connection.last_synced_at is None or now - connection.last_synced_at > NOTED_EVERY:
        await store.note_change(directory.call.db, project_id=connection.project_id, id=connection.id, now=now)


async def _record_error(directory: Directory, method: str, path: str, problem: Problem) -> None:
    """Store a refused request, unless many were refused in the last minute."""
    connection, call = directory.connection, directory.call
    try:
        call.world.limiter.take(ERROR_RATE, str(connection.id))
    except RateLimited:
        return
    error = DirectoryError(
        id=new_id(),
        method=method[:METHOD_LIMIT],
        path=path.partition(str(connection.id))[2][:DETAIL_LIMIT],
        status=problem.status,
        scim_type=scim_type_of(problem),
        detail=recorded_detail(problem)[:DETAIL_LIMIT],
        occurred_at=call.now,
    )
    await store.insert_error(
        call.db,
        error,
        project_id=connection.project_id,
        connection_id=connection.id,
        kept=ERRORS_KEPT,
        due_at=Moment.of(call.now + ERROR_LIFE),
    )


async def _read_body(request: RawRequest) -> Any:
    """The JSON value in the body. Raises BodyInvalid, Invalid and UnsupportedMediaType."""
    media_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if media_type and media_type != "application/json" and not media_type.endswith("+json"):
        raise UnsupportedMediaType
    return read_json(msgspec.json.Decoder(Any), await request.body())


def _json(document: Any, status: int = 200, headers: dict[str, str] | None = None) -> HttpResponse:
    return HttpResponse(to_json(document), media_type=MEDIA_TYPE, status=status, headers=headers)


def _resource(
    directory: Directory, request: RawRequest, resource_type: ResourceType, document: Document, version: int
) -> HttpResponse:
    """The response with one resource and its entity tag; 304 if the client has this version."""
    tag = rules.version_tag(version)
    none_match = request.headers.get("if-none-match")
    if request.method == "GET" and none_match is not None and rules.is_version(none_match, version):
        return HttpResponse(status=304, media_type=MEDIA_TYPE, headers={"ETag": tag})
    parameters = _parameters(request)
    document = selected(
        resource_type,
        document,
        rules.names_in(parameters.get("attributes")),
        rules.names_in(parameters.get("excludedAttributes")) or [],
    )
    headers = {"ETag": tag, "Location": f"{directory.base_url}{resource_type.endpoint}/{document['id']}"}
    return _json(document, headers=headers)


def _parameters(request: RawRequest) -> dict[str, str]:
    """The query parameters; the last one of a name. Raises ScimRequestInvalid for text that cannot be stored."""
    parameters = {name: str(value) for name, value in request.query_params.multi_items()}
    if not all(is_storable(value) for value in parameters.values()):
        raise ScimRequestInvalid("invalidValue", "A query parameter contains a NUL character or half of a character.")
    return parameters


async def _list_request(request: RawRequest) -> ListRequest:
    """The parameters of a list in the query, or of a search in the body."""
    return read_list_request(_parameters(request) if request.method == "GET" else await _read_body(request))


# Discovery.


async def _config(directory: Directory, request: RawRequest) -> HttpResponse:
    return _json(discovery.service_provider_config(directory.base_url))


async def _resource_types(directory: Directory, request: RawRequest) -> HttpResponse:
    discovery.refuse_filter(_parameters(request))
    documents = discovery.resource_types(directory.base_url)
    return _json(list_document(documents, len(documents), 0))


async def _resource_type(directory: Directory, name: str) -> HttpResponse:
    return _json(discovery.one_of(discovery.resource_types(directory.base_url), name))


async def _schemas(directory: Directory, request: RawRequest) -> HttpResponse:
    discovery.refuse_filter(_parameters(request))
    documents = discovery.schemas(directory.base_url)
    return _json(list_document(documents, len(documents), 0))


async def _schema(directory: Directory, urn: str) -> HttpResponse:
    return _json(discovery.one_of(discovery.schemas(directory.base_url), urn))


# Users.


async def _list_users(directory: Directory, request: RawRequest) -> HttpResponse:
    list_request = await _list_request(request)
    page = await users.list_users(directory, list_request)
    return _json(list_document(page.documents, page.total, list_request.offset))


async def _create_user(directory: Directory, request: RawRequest) -> HttpResponse:
    document = await users.create_user(directory, read_resource(USER, await _read_body(request)))
    response = _resource(directory, request, USER, document, 1)
    return HttpResponse(response.content, media_type=MEDIA_TYPE, status=201, headers=response.headers)


async def _get_user(directory: Directory, request: RawRequest, id: UUID) -> HttpResponse:
    document, version = await users.get_user(directory, id, read_list_request(_parameters(request)))
    return _resource(directory, request, USER, document, version)


async def _replace_user(directory: Directory, request: RawRequest, id: UUID) -> HttpResponse:
    new = read_resource(USER, await _read_body(request))
    document, version = await users.replace_user(directory, id, new)
    return _resource(directory, request, USER, document, version)


async def _patch_user(directory: Directory, request: RawRequest, id: UUID) -> HttpResponse:
    document, version = await _change_user(directory, id, await _read_body(request))
    return _resource(directory, request, USER, document, version)


async def _change_user(directory: Directory, id: UUID, body: Any) -> tuple[Document, int]:
    """Apply a PATCH request to a user. Its paths are parsed before the transaction begins."""
    changes = read_changes(USER, read_steps(body))
    return await users.change_user(directory, id, lambda before: apply_changes(USER, before.attributes, changes))


async def _delete_user(directory: Directory, id: UUID) -> HttpResponse:
    await users.delete_user(directory, id)
    return HttpResponse(status=204)


# Groups.


async def _list_groups(directory: Directory, request: RawRequest) -> HttpResponse:
    list_request = await _list_request(request)
    page = await groups.list_groups(directory, list_request)
    return _json(list_document(page.documents, page.total, list_request.offset))


async def _create_group(directory: Directory, request: RawRequest) -> HttpResponse:
    new = read_resource(GROUP, await _read_body(request))
    document = await groups.create_group(directory, new, returns_members=_returns_members(request))
    response = _resource(directory, request, GROUP, document, 1)
    return HttpResponse(response.content, media_type=MEDIA_TYPE, status=201, headers=response.headers)


async def _get_group(directory: Directory, request: RawRequest, id: UUID) -> HttpResponse:
    document, version = await groups.get_group(directory, id, read_list_request(_parameters(request)))
    return _resource(directory, request, GROUP, document, version)


async def _replace_group(directory: Directory, request: RawRequest, id: UUID) -> HttpResponse:
    new = read_resource(GROUP, await _read_body(request))
    document, version = await groups.replace_group(directory, id, new, returns_members=_returns_members(request))
    return _resource(directory, request, GROUP, document, version)


async def _patch_group(directory: Directory, request: RawRequest, id: UUID) -> HttpResponse:
    steps = read_steps(await _read_body(request))
    document, version = await groups.patch_group(directory, id, steps, returns_members=_returns_members(request))
    return _resource(directory, request, GROUP, document, version)


def _returns_members(request: RawRequest) -> bool:
    """Whether the response to a change of a group has its members, which have to be read for it."""
    return read_list_request(_parameters(request)).returns(GROUP, "members")


async def _delete_group(directory: Directory, id: UUID) -> HttpResponse:
    await groups.delete_group(directory, id)
    return HttpResponse(status=204)


async def _search(directory: Directory, request: RawRequest) -> HttpResponse:
    """Users and groups as one list. A filter must be valid for one of them; the other one then has no results."""
    list_request = await _list_request(request)
    user_page, problem = None, None
    try:
        user_page = await users.list_users(directory, list_request)
    except ScimRequestInvalid as invalid:
        if invalid.scim_type != "invalidFilter":
            raise
        problem = invalid
    documents, total = ([], 0) if user_page is None else (user_page.documents, user_page.total)
    rest = msgspec.structs.replace(
        list_request, offset=max(0, list_request.offset - total), count=list_request.count - len(documents)
    )
    try:
        group_page = await groups.list_groups(directory, rest)
    except ScimRequestInvalid as invalid:
        if problem is not None or invalid.scim_type != "invalidFilter":
            raise problem or invalid from None
    else:
        documents, total = [*documents, *group_page.documents], total + group_page.total
    return _json(list_document(documents, total, list_request.offset))


# Bulk.


async def _bulk(directory: Directory, request: RawRequest) -> HttpResponse:
    """Execute the operations in their order (RFC 7644 §3.7). A `bulkId` stands for the id of a created resource."""
    body = await _read_body(request)
    operations = body.get("Operations") if isinstance(body, dict) else None  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
    if not isinstance(operations, list):
        raise ScimRequestInvalid("invalidSyntax", "`Operations` must be a list of operations.")
    if len(operations) > BULK_OPERATIONS:  # pyright: ignore[reportUnknownArgumentType]
        raise discovery.BulkTooLarge
    fail_on_errors = body.get("failOnErrors")  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
    if fail_on_errors is not None and (not isinstance(fail_on_errors, int) or fail_on_errors < 1):
        raise ScimRequestInvalid("invalidValue", "`failOnErrors` must be a positive integer.")
    count_operations(directory, len(operations))  # pyright: ignore[reportUnknownArgumentType]
    results: list[Document] = []
    created: dict[str, str] = {}
    errors = 0
    for operation in operations:  # pyright: ignore[reportUnknownVariableType]
        result = await _bulk_operation(directory, operation, created)
        results.append(result)
        errors += int(result["status"]) >= 400
        if fail_on_errors is not None and errors >= fail_on_errors:
            break
    return _json({"schemas": [discovery.BULK_RESPONSE_SCHEMA], "Operations": results})


async def _bulk_operation(directory: Directory, operation: Any, created: dict[str, str]) -> Document:
    """The result of one operation of a bulk request. Adds its `bulkId` to `created` if it creates a resource."""
    fields: Mapping[str, Any] = operation if isinstance(operation, dict) else {}
    method, path = str(fields.get("method", "")).upper(), str(fields.get("path", ""))
    bulk_id, version = fields.get("bulkId"), fields.get("version")
    result: Document = {"method": method}
    if isinstance(bulk_id, str):
        result["bulkId"] = bulk_id
    call = replace(directory.call, if_match=version if isinstance(version, str) else None)
    target = replace(directory, call=call)
    try:
        if method == "POST" and not isinstance(bulk_id, str):
            raise ScimRequestInvalid("invalidSyntax", "An operation with POST needs a `bulkId`.")
        status, document, tag = await _execute(target, method, _resolved(path, created), fields.get("data"), created)
    except Problem as problem:
        if problem.status >= 500 or isinstance(problem, RateLimited):
            raise
        await _record_error(directory, method, f"{directory.connection.id}{path}", problem)
        status, body = SCIM.render_problem(problem)
        return {**result, "status": str(status), "response": body}
    if document is not None:
        result["location"] = document["meta"]["location"]
        if method == "POST":
            created[str(bulk_id)] = document["id"]
    elif method == "DELETE":
        result["location"] = f"{directory.base_url}{_resolved(path, created)}"
    if tag is not None:
        result["version"] = tag
    return {**result, "status": str(status)}


async def _execute(
    directory: Directory, method: str, path: str, data: Any, created: Mapping[str, str]
) -> tuple[int, Document | None, str | None]:
    """Execute an operation of a bulk request. Returns the status, the resource and its entity tag."""
    _, endpoint, *rest = [*path.split("/"), ""]
    data = _with_ids(data, created)
    resource_id = as_id(rest[0]) if rest and rest[0] else None
    is_user = endpoint == "Users"
    if endpoint not in ("Users", "Groups") or len(rest) > (1 if resource_id is None else 2):
        raise ScimRequestInvalid("invalidPath", f"There is no resource `{path[:100]}`.")
    resource_type = USER if is_user else GROUP
    if method == "POST" and resource_id is None:
        new = read_resource(resource_type, data)
        if is_user:
            document = await users.create_user(directory, new)
        else:
            document = await groups.create_group(directory, new, returns_members=False)
        return 201, document, rules.version_tag(1)
    if resource_id is None or method not in ("PUT", "PATCH", "DELETE"):
        raise ScimRequestInvalid(
            "invalidSyntax", "`method` must be POST for a type, or PUT, PATCH or DELETE for an id."
        )
    if method == "DELETE":
        await (users.delete_user if is_user else groups.delete_group)(directory, resource_id)
        return 204, None, None
    if method == "PUT":
        new = read_resource(resource_type, data)
        if is_user:
            document, version = await users.replace_user(directory, resource_id, new)
        else:
            document, version = await groups.replace_group(directory, resource_id, new, returns_members=False)
    elif is_user:
        document, version = await _change_user(directory, resource_id, data)
    else:
        document, version = await groups.patch_group(directory, resource_id, read_steps(data), returns_members=False)
    return 200, document, rules.version_tag(version)


def _resolved(path: str, created: Mapping[str, str]) -> str:
    """A path in which `bulkId:…` is replaced by the id of the created resource. Raises ScimRequestInvalid."""
    before, mark, bulk_id = path.partition("bulkId:")
    return f"{before}{_id_of(bulk_id, created)}" if mark else path


def _with_ids(data: Any, created: Mapping[str, str]) -> Any:
    """JSON in which each text `bulkId:…` is replaced by the id of the created resource. Raises ScimRequestInvalid.

    Does not recurse deeper than the JSON, whose depth is limited.
    """
    if isinstance(data, str):
        return _id_of(data.removeprefix("bulkId:"), created) if data.startswith("bulkId:") else data
    if isinstance(data, list):
        return [_with_ids(item, created) for item in data]  # pyright: ignore[reportUnknownVariableType]
    if isinstance(data, dict):
        return {key: _with_ids(value, created) for key, value in data.items()}  # pyright: ignore[reportUnknownVariableType]
    return data


def _id_of(bulk_id: str, created: Mapping[str, str]) -> str:
    """The id of the resource that the operation with this `bulkId` has created. Raises ScimRequestInvalid."""
    if bulk_id not in created:
        raise ScimRequestInvalid(
            "invalidValue",
            f"No earlier operation has created `bulkId:{bulk_id[:100]}`.",
            recorded="No earlier operation has created the resource of a `bulkId`.",
        )
    return created[bulk_id]
