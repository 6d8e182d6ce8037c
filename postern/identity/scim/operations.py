"""HTTP operations on directory connections for developers and API keys."""

from collections.abc import Sequence
from datetime import timedelta
from uuid import UUID

from msgspec import UNSET
from msgspec.structs import asdict, replace

from postern.identity.access import operations as access
from postern.identity.access.model import RoleUnknown
from postern.identity.organizations.model import OrganizationMissing
from postern.identity.organizations.operations import lock_organization, require_organization
from postern.identity.scim import group_store, rules, store, user_store
from postern.identity.scim.authentication import base_url_of
from postern.identity.scim.model import (
    CONNECTIONS_PER_ORGANIZATION,
    ERRORS_SHOWN,
    TOKEN_PREFIX,
    TOKEN_PURPOSE,
    TOKENS_PER_CONNECTION,
    ConnectionRecord,
    DirectoryConnection,
    DirectoryConnectionChange,
    DirectoryConnectionMissing,
    DirectoryConnectionWithToken,
    DirectoryGroup,
    DirectoryTokenInfo,
    DirectoryUser,
    DirectoryUserRole,
    NewDirectoryConnection,
    TokenRotation,
    TokenRow,
    TooManyDirectoryConnections,
)
from postern.identity.scim.roles import groups_with_roles
from postern.kernel.database.statements import Queries, Transaction
from postern.kernel.http.call import Call
from postern.kernel.http.operation import camel, delete, get, patch, post
from postern.kernel.http.pagination import Cursor, LinkedList, ListLimit, before_id, linked_list
from postern.kernel.http.problems import require_found
from postern.kernel.values import Removed, build_view, fields_set, new_id
from postern.platform.audit import operations as audit
from postern.security.secrets import new_key

# In the paths, `id` is the id of the organization, and `conn_id` that of the connection.
CONNECTIONS = "/projects/{project_id}/b2b/organizations/{id}/directory-connections"
CONNECTION = f"{CONNECTIONS}/{{conn_id}}"
MISSING = (OrganizationMissing, DirectoryConnectionMissing)
ASSIGNS_ROLES = "organizations:write"
"""The permission to assign roles to members, which a directory does according to its connection."""


@get(CONNECTIONS, needs="scim:read", problems=(OrganizationMissing,))
async def list_directory_connections(
    call: Call, id: UUID, limit: ListLimit = 1_000, cursor: Cursor | None = None
) -> LinkedList[DirectoryConnection]:
    """List the directory connections of an organization, newest first."""
    await require_organization(call.db, call, id)
    scope = f"directory_connections|{id}"
    rows = await store.list_connections(
        call.db,
        project_id=call.project_id,
        organization_id=id,
        id=None,
        before=before_id(call, scope, cursor),
        limit=limit + 1,
    )
    page = linked_list(call, scope, rows, limit)
    return LinkedList([await _as_connection(call, call.db, row) for row in page.items], page.next_cursor)


@post(
    CONNECTIONS,
    needs="scim:write",
    status=201,
    problems=(OrganizationMissing, TooManyDirectoryConnections, RoleUnknown),
    example={"name": "Acme Entra ID", "groupRoles": {"Platform administrators": ["ADMIN"]}},
)
async def create_directory_connection(
    call: Call, id: UUID, data: NewDirectoryConnection
) -> DirectoryConnectionWithToken:
    """Create a connection for a directory that supports SCIM 2.0, such as Entra ID or Okta.

    Enter `baseUrl` and `token` in the directory. The token is not shown again; `rotate-token` creates another one.

    Active users of the directory are members of the organization with `defaultRoles`, and have the roles of their
    groups in `groupRoles`: by name, `externalId` or id of the group. Roles besides MEMBER need the permission
    `organizations:write`, because the connection assigns them. Users must have addresses at domains that the
    organization has verified, unless `allowOtherDomains` is set.
    """
    _require_may_assign(call, data.default_roles, data.group_roles)
    now = call.now
    row = ConnectionRecord(
        project_id=call.project_id,
        id=new_id(),
        organization_id=id,
        name=data.name,
        status="ACTIVE",
        default_roles=list(dict.fromkeys(data.default_roles)),
        group_roles=data.group_roles,
        allow_other_domains=data.allow_other_domains,
        last_synced_at=None,
        stored_user_count=0,
        created_count=0,
        roles_through=None,
        created_at=now,
        updated_at=now,
        due_at=None,
        attempt=0,
    )
    async with call.db.transaction() as tx:
        await lock_organization(tx, call, id)
        connection_count = await store.count_connections(tx, project_id=call.project_id, organization_id=id)
        if connection_count >= CONNECTIONS_PER_ORGANIZATION:
            raise TooManyDirectoryConnections
        await _require_roles(tx, call, row)
        await store.insert_connection(tx, row)
        token = await _insert_token(tx, call, row)
        await audit.record(tx, call, "directory_connection.created", "DirectoryConnection", row.id, name=row.name)
        view = await _as_connection(call, tx, row)
    return build_view(DirectoryConnectionWithToken, view, token=token)


@get(CONNECTION, needs="scim:read", problems=MISSING)
async def get_directory_connection(call: Call, id: UUID, conn_id: UUID) -> DirectoryConnection:
    """Get a connection with the numbers of its users and groups, its tokens, and the last refused requests."""
    return await _as_connection(call, call.db, await _require_connection(call.db, call, id, conn_id))


@patch(
    CONNECTION,
    needs="scim:write",
    problems=(*MISSING, RoleUnknown),
    example={"groupRoles": {"Platform administrators": ["ADMIN"]}},
)
async def change_directory_connection(
    call: Call, id: UUID, conn_id: UUID, data: DirectoryConnectionChange
) -> DirectoryConnection:
    """Change a connection. Omitted fields keep their values.

    If roles change, the roles of all members are updated in the background. With `status: DISABLED`, the requests of
    the directory get 403, and its users stay as they are. If the connection gives roles besides MEMBER, changing its
    roles, enabling it and allowing other domains need the permission `organizations:write`. Honours `If-Match`.
    """
    async with call.db.transaction() as tx:
        before = await _lock_connection(tx, call, id, conn_id)
        call.require_match(before.updated_at)
        row = replace(before, **fields_set(data))
        if data.default_roles is not UNSET:
            row = replace(row, default_roles=list(dict.fromkeys(data.default_roles)))
        if (row.default_roles, row.group_roles) != (before.default_roles, before.group_roles):
            _require_may_assign(call, row.default_roles, row.group_roles)
            await _require_roles(tx, call, row)
            row = replace(row, roles_through=None, due_at=call.now)
            tx.mark_due("directory_connections")
        elif (data.status == "ACTIVE" and before.status != "ACTIVE") or (
            data.allow_other_domains is True and not before.allow_other_domains
        ):
            _require_may_assign(call, row.default_roles, row.group_roles)  # More persons get the roles.
        await store.update_connection(tx, row, now=call.now)
        changed = sorted(map(camel, fields_set(data)))
        await audit.record(tx, call, "directory_connection.updated", "DirectoryConnection", conn_id, changed=changed)
        return await _as_connection(call, tx, await _require_connection(tx, call, id, conn_id))


@delete(CONNECTION, needs="scim:write", problems=MISSING)
async def delete_directory_connection(call: Call, id: UUID, conn_id: UUID) -> Removed:
    """Delete a connection. The directory has no access from the next request on.

    Customers, members and their roles stay. The users and groups of the directory are deleted in the background.
    Honours `If-Match`.
    """
    async with call.db.transaction() as tx:
        row = await _lock_connection(tx, call, id, conn_id)
        call.require_match(row.updated_at)
        await store.mark_deleted(tx, project_id=call.project_id, id=conn_id, now=call.now)
        tx.mark_due("directory_connections")
        await audit.record(tx, call, "directory_connection.deleted", "DirectoryConnection", conn_id, name=row.name)
    return Removed()


@post(f"{CONNECTION}/rotate-token", needs="scim:write", problems=MISSING, example={"overlapHours": 24})
async def rotate_directory_token(
    call: Call, id: UUID, conn_id: UUID, data: TokenRotation | None = None
) -> DirectoryConnectionWithToken:
    """Create another token. The present one stays valid for `overlapHours`, so that the directory can be changed
    meanwhile; 0 ends it at once. Honours `If-Match`.

    If the connection gives roles besides MEMBER, this needs the permission `organizations:write`, too: whoever has the
    token decides who gets the roles.
    """
    overlap = timedelta(hours=(data or TokenRotation()).overlap_hours)
    async with call.db.transaction() as tx:
        row = await _lock_connection(tx, call, id, conn_id)
        _require_may_assign(call, row.default_roles, row.group_roles)  # Who has the token assigns the roles.
        call.require_match(row.updated_at)
        key = {"project_id": call.project_id, "connection_id": conn_id}
        await store.expire_tokens(tx, **key, expires_at=call.now + overlap)
        token = await _insert_token(tx, call, row)
        await store.delete_old_tokens(tx, **key, now=call.now, kept=TOKENS_PER_CONNECTION)
        await audit.record(tx, call, "directory_connection.token_rotated", "DirectoryConnection", conn_id)
        view = await _as_connection(call, tx, row)
    return build_view(DirectoryConnectionWithToken, view, token=token)


@get(f"{CONNECTION}/users", needs="scim:read", problems=MISSING)
async def list_directory_users(
    call: Call, id: UUID, conn_id: UUID, limit: ListLimit = 100, cursor: Cursor | None = None
) -> LinkedList[DirectoryUser]:
    """List the users of a directory, newest first, with the roles that come from the directory and their groups."""
    connection = await _require_connection(call.db, call, id, conn_id)
    scope = f"directory_users|{conn_id}"
    rows = await user_store.newest_users(
        call.db,
        project_id=call.project_id,
        connection_id=conn_id,
        before=before_id(call, scope, cursor),
        limit=limit + 1,
    )
    page = linked_list(call, scope, rows, limit)
    groups = await groups_with_roles(call.db, connection, [row.id for row in page.items])
    views: list[DirectoryUser] = []
    for row in page.items:
        sources = rules.roles_of_groups(connection, groups.get(row.id, []))
        roles = [DirectoryUserRole(role=role, groups=sources.get(role, [])) for role in row.roles]
        views.append(build_view(DirectoryUser, row, roles=roles))
    return LinkedList(views, page.next_cursor)


@get(f"{CONNECTION}/groups", needs="scim:read", problems=MISSING)
async def list_directory_groups(
    call: Call, id: UUID, conn_id: UUID, limit: ListLimit = 100, cursor: Cursor | None = None
) -> LinkedList[DirectoryGroup]:
    """List the groups of a directory, newest first, with the roles that they give."""
    connection = await _require_connection(call.db, call, id, conn_id)
    scope = f"directory_groups|{conn_id}"
    rows = await group_store.newest_groups(
        call.db,
        project_id=call.project_id,
        connection_id=conn_id,
        before=before_id(call, scope, cursor),
        limit=limit + 1,
    )
    page = linked_list(call, scope, rows, limit)
    group_ids = [row.id for row in page.items]
    sizes = await group_store.sizes(call.db, project_id=call.project_id, group_ids=group_ids)
    member_counts = {size.group_id: size.member_count for size in sizes}
    views = [
        build_view(
            DirectoryGroup,
            row,
            member_count=member_counts.get(row.id, 0),
            roles=rules.roles_of_group(connection.group_roles, row.display_name_key, row.external_id, row.id),
        )
        for row in page.items
    ]
    return LinkedList(views, page.next_cursor)


def _require_may_assign(call: Call, default_roles: Sequence[str], group_roles: dict[str, list[str]]) -> None:
    """Raise PermissionMissing unless the caller may assign these roles to members itself."""
    if {*default_roles, *(role for roles in group_roles.values() for role in roles)} - {"MEMBER"}:
        call.require(ASSIGNS_ROLES)


async def _require_roles(tx: Transaction, call: Call, row: ConnectionRecord) -> None:
    """Raise RoleUnknown for a role that does not exist in the scope ORGANIZATION."""
    await access.require_roles(tx, call.project_id, "ORGANIZATION", row.default_roles, "/defaultRoles/{}")
    for group, roles in row.group_roles.items():
        pointer = group.replace("~", "~0").replace("/", "~1").replace("{", "").replace("}", "")
        await access.require_roles(tx, call.project_id, "ORGANIZATION", roles, f"/groupRoles/{pointer}/{{}}")


async def _insert_token(tx: Transaction, call: Call, row: ConnectionRecord) -> str:
    """Create a token of a connection, and return it; only a hash is stored."""
    token = new_key(TOKEN_PREFIX)
    await store.insert_token(
        tx,
        TokenRow(
            project_id=call.project_id,
            id=new_id(),
            connection_id=row.id,
            hash=call.world.secrets.digest(TOKEN_PURPOSE, token),
            created_at=call.now,
            expires_at=None,
            last_used_at=None,
        ),
    )
    return token


async def _require_connection(db: Queries, call: Call, organization_id: UUID, id: UUID) -> ConnectionRecord:
    """A connection of an organization. Raises OrganizationMissing and DirectoryConnectionMissing."""
    await require_organization(db, call, organization_id)
    rows = await store.list_connections(
        db, project_id=call.project_id, organization_id=organization_id, id=id, before=None, limit=1
    )
    return require_found(rows[0] if rows else None, DirectoryConnectionMissing)


async def _lock_connection(tx: Transaction, call: Call, organization_id: UUID, id: UUID) -> ConnectionRecord:
    await require_organization(tx, call, organization_id)
    row = await store.lock_connection(tx, project_id=call.project_id, organization_id=organization_id, id=id)
    return require_found(row, DirectoryConnectionMissing)


async def _as_connection(call: Call, db: Queries, row: ConnectionRecord) -> DirectoryConnection:
    key = {"project_id": row.project_id, "connection_id": row.id}
    counts = await store.counts(db, project_id=row.project_id, id=row.id)
    tokens = await store.valid_tokens(db, **key, now=call.now)
    return build_view(
        DirectoryConnection,
        row,
        base_url=base_url_of(call, row.id),
        tokens=[build_view(DirectoryTokenInfo, token) for token in tokens],
        recent_errors=await store.recent_errors(db, **key, limit=ERRORS_SHOWN),
        **asdict(counts),
    )
