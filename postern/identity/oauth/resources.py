"""HTTP operations that manage the APIs for which clients can ask for access tokens, and how requests name them
(RFC 8707)."""

import re
from urllib.parse import urlsplit
from uuid import UUID

from msgspec.structs import replace

from postern.identity.oauth import resource_store, store
from postern.identity.oauth.errors import OAuthError
from postern.identity.oauth.model import (
    RESOURCES_PER_PROJECT,
    STANDARD_SCOPES,
    ClientRow,
    GrantRow,
    NewOAuthResource,
    OAuthResource,
    OAuthResourceChange,
    OAuthResourceExists,
    OAuthResourceMissing,
    ResourceRow,
    TooManyOAuthResources,
)
from postern.identity.oauth.operations import require_declared_scopes
from postern.identity.oauth.rules import HOST, LOOPBACK_HOSTS
from postern.kernel.database.statements import Transaction
from postern.kernel.http.call import Call
from postern.kernel.http.operation import delete, get, patch, post
from postern.kernel.http.pagination import Cursor, LinkedList, ListLimit, newest_first
from postern.kernel.http.problems import Invalid, require_found
from postern.kernel.values import Deleted, build_view, fields_set, new_id
from postern.messaging.certificates.pages_domains import PagesDomains
from postern.platform.audit import operations as audit

DOT_SEGMENT = re.compile(r"/(\.|%2e){1,2}(/|$)", re.IGNORECASE)
EXAMPLE = {
    "identifier": "https://notes.example.com/mcp",
    "name": "Northwind Notes",
    "scopes": ["posts:read", "posts:write"],
}


@get("/projects/{project_id}/oauth-resources", needs="projects:read")
async def list_oauth_resources(
    call: Call, limit: ListLimit = 100, cursor: Cursor | None = None
) -> LinkedList[OAuthResource]:
    """List the APIs for which clients can ask for access tokens, newest first. A TEST key gets only TEST ones."""
    environments = ["TEST"] if call.caller.environment == "TEST" else ["LIVE", "TEST"]
    page = await newest_first(
        call, "oauth-resources", cursor, limit, resource_store.resources, environments=environments
    )
    return page.convert_items(lambda row: build_view(OAuthResource, row))


@post(
    "/projects/{project_id}/oauth-resources",
    needs="projects:write",
    status=201,
    problems=[TooManyOAuthResources, OAuthResourceExists],
    example=EXAMPLE,
)
async def create_oauth_resource(call: Call, data: NewOAuthResource) -> OAuthResource:
    """Declare an API for which clients can ask for access tokens, with the parameter `resource` (RFC 8707).

    The audience of such a token is the API's `identifier`. A token has only those of its scopes that are among the
    API's `scopes`, and is not accepted by the userinfo endpoint. Only clients of the same environment can ask for it.
    """
    environment = data.environment or call.caller.environment
    if environment == "LIVE":
        call.require_live("declare a LIVE API")
    row = ResourceRow(
        project_id=call.project_id,
        id=new_id(),
        environment=environment,
        identifier=data.identifier,
        name=data.name,
        scopes=list(dict.fromkeys(data.scopes)),
        introspection_client_id=data.introspection_client_id,
        created_at=call.now,
        updated_at=call.now,
    )
    _check_identifier(call, row.identifier)
    _check_scopes(row.scopes)
    async with call.db.transaction() as tx:
        await tx.lock_quota("oauth-resources", call.project_id)
        if await resource_store.count_resources(tx, project_id=call.project_id) >= RESOURCES_PER_PROJECT:
            raise TooManyOAuthResources
        await require_declared_scopes(tx, row.project_id, row.scopes)
        await _check_introspection(tx, row)
        if not await resource_store.insert_resource(tx, row):
            raise OAuthResourceExists
        await audit.record(
            tx, call, "oauth_resource.created", "OAuthResource", row.id, identifier=row.identifier, name=row.name
        )
    return build_view(OAuthResource, row)


@get("/projects/{project_id}/oauth-resources/{id}", needs="projects:read", problems=[OAuthResourceMissing])
async def get_oauth_resource(call: Call, id: UUID) -> OAuthResource:
    """Get an API for which clients can ask for access tokens."""
    row = await resource_store.resource(call.db, project_id=call.project_id, id=id)
    return build_view(OAuthResource, _require_visible(call, row))


@patch(
    "/projects/{project_id}/oauth-resources/{id}",
    needs="projects:write",
    problems=[OAuthResourceMissing],
    example={"scopes": ["posts:read"]},
)
async def change_oauth_resource(call: Call, id: UUID, data: OAuthResourceChange) -> OAuthResource:
    """Change an API. Fields that are left out keep their values. Honours `If-Match`.

    Tokens have removed scopes until they expire, ten minutes later. The identifier cannot be changed.
    """
    async with call.db.transaction() as tx:
        row = await _lock(tx, call, id)
        call.require_match(row.updated_at)
        changes = fields_set(data)
        changed = replace(row, **changes)
        changed = replace(changed, scopes=list(dict.fromkeys(changed.scopes)))
        if "scopes" in changes:  # Others are not refused because of a permission, or a client, that was deleted since.
            _check_scopes(changed.scopes)
            await require_declared_scopes(tx, call.project_id, changed.scopes)
        if "introspection_client_id" in changes:
            await _check_introspection(tx, changed)
        changed = await resource_store.change_resource(
            tx,
            project_id=call.project_id,
            id=id,
            name=changed.name,
            scopes=changed.scopes,
            introspection_client_id=changed.introspection_client_id,
            now=call.now,
        )
        await audit.record(tx, call, "oauth_resource.updated", "OAuthResource", id, changed=sorted(changes))
    return build_view(OAuthResource, changed)


@delete("/projects/{project_id}/oauth-resources/{id}", needs="projects:write", problems=[OAuthResourceMissing])
async def delete_oauth_resource(call: Call, id: UUID) -> Deleted:
    """Delete an API. No tokens are issued for it any more; APIs that check tokens offline accept them for at most ten
    minutes. Honours `If-Match`."""
    async with call.db.transaction() as tx:
        row = await _lock(tx, call, id)
        call.require_match(row.updated_at)
        await resource_store.delete_resource(tx, project_id=call.project_id, id=id)
        await audit.record(tx, call, "oauth_resource.deleted", "OAuthResource", id, identifier=row.identifier)
    return Deleted()


async def requested_resource(call: Call, client: ClientRow, parameters: dict[str, str]) -> ResourceRow | None:
    """The API that the parameter `resource` of a request names; None without the parameter.

    An empty path and `/` are the same (RFC 3986 §6.2.3), because clients that parse URLs add the slash. Raises
    OAuthError if the client cannot ask for tokens for it.
    """
    identifier = parameters.get("resource")
    return None if identifier is None else await require_resource(call, client, identifier)


async def require_resource(call: Call, client: ClientRow, identifier: str) -> ResourceRow:
    """The API with this identifier. Raises OAuthError unless the project has it in the client's environment."""
    row = await resource_store.resource_of_identifier(
        call.db, project_id=call.project_id, identifier=_without_root(identifier)
    )
    if row is not None and row.environment == client.environment:
        return row
    raise OAuthError("invalid_target", "The resource is not an API that this project has declared.")


async def granted_resource(call: Call, client: ClientRow, grant: GrantRow, form: dict[str, str]) -> ResourceRow | None:
    """The API for which an authorization was made; None if it was made for none. Raises OAuthError if the request to
    the token endpoint names another one, or if the project does not have it any more, or has declared it again since:
    its deletion ends all authorizations."""
    requested = form.get("resource")
    if requested is not None and _without_root(requested) != grant.resource:
        raise OAuthError("invalid_target", "The authorization is not for this resource.")
    if grant.resource is None:
        return None
    resource = await require_resource(call, client, grant.resource)
    if grant.created_at < resource.created_at:
        raise OAuthError("invalid_grant", "The API was deleted and declared again after the authorization.")
    return resource


def _check_identifier(call: Call, identifier: str) -> None:
    """Raises Invalid unless the URL can be the audience of tokens for an API. Those of this server are the provider's
    own."""
    path = "/identifier"
    try:
        parts = urlsplit(identifier)
        host, _ = parts.hostname, parts.port
    except ValueError:
        raise Invalid.at(path, "This is not a valid URL.") from None
    if not host or not HOST.fullmatch(parts.netloc):
        raise Invalid.at(path, "The host must be a domain name in ASCII (Punycode) or an IP address.")
    if parts.netloc != parts.netloc.lower() or parts.netloc.endswith((":443", ":80")[parts.scheme == "http"]):
        raise Invalid.at(path, "Write the host in small letters, and leave out the usual port, as clients do.")
    if host.endswith("."):
        raise Invalid.at(path, "Leave out the dot at the end of the host, as clients do.")
    if DOT_SEGMENT.search(parts.path):
        raise Invalid.at(path, "The path cannot contain `.` and `..`: clients resolve them.")
    if parts.scheme == "http" and host not in LOOPBACK_HOSTS:
        raise Invalid.at(path, "Use https; http is possible only for 127.0.0.1, [::1] and localhost.")
    if parts.path == "/":
        raise Invalid.at(path, "Leave out the slash after the host.")
    is_below_base = f"{identifier}/".lower().startswith(f"{call.world.settings.public_url}/".lower())
    if is_below_base or call.world.resources[PagesDomains].is_known(host):
        raise Invalid.at(path, "URLs of this server are audiences of its own tokens.")


def _check_scopes(scopes: list[str]) -> None:
    """Raises Invalid if a scope is not a permission."""
    for index, scope in enumerate(scopes):
        if scope in STANDARD_SCOPES:
            raise Invalid.at(f"/scopes/{index}", f"`{scope}` is not for APIs, but for the userinfo endpoint.")


async def _check_introspection(tx: Transaction, row: ResourceRow) -> None:
    """Raises Invalid unless the client of the API can introspect tokens."""
    if row.introspection_client_id is None:
        return
    client = await store.client(tx, project_id=row.project_id, id=row.introspection_client_id)
    if client is None or client.type == "PUBLIC" or client.environment != row.environment or client.self_registered:
        message = "There is no CONFIDENTIAL client of the project with this id in the environment of the API."
        raise Invalid.at("/introspectionClientId", message)


async def _lock(tx: Transaction, call: Call, id: UUID) -> ResourceRow:
    return _require_visible(call, await resource_store.lock_resource(tx, project_id=call.project_id, id=id))


def _require_visible(call: Call, row: ResourceRow | None) -> ResourceRow:
    """Raises OAuthResourceMissing if there is no row, or a TEST key asks for a LIVE one."""
    row = require_found(row, OAuthResourceMissing)
    if call.caller.environment == "TEST" and row.environment != "TEST":
        raise OAuthResourceMissing
    return row


def _without_root(identifier: str) -> str:
    """The URL without a path that is only `/`."""
    return identifier[:-1] if identifier.count("/") == 3 and identifier.endswith("/") else identifier
