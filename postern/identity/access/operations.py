"""HTTP operations on permissions, roles and access checks, and functions for features that assign roles."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple
from uuid import UUID

from msgspec import UNSET
from msgspec.structs import replace

from postern.identity.access import store
from postern.identity.access.model import (
    PERMISSIONS_PER_PROJECT,
    ROLES_PER_PROJECT,
    SYSTEM_ROLES,
    AccessCheck,
    AccessCheckBatch,
    AccessDecision,
    AccessDecisions,
    AccessFacts,
    GrantedPermissions,
    NewPermission,
    NewRole,
    NotYourself,
    Permission,
    PermissionExists,
    PermissionUndeclared,
    PermissionUnknown,
    Role,
    RoleChange,
    RoleExists,
    RoleInUse,
    RoleMissing,
    RoleRow,
    RoleUnknown,
    Scope,
    ScopeMissing,
    ShownRole,
    SubjectMissing,
    SystemRoleFixed,
    TooManyPermissions,
    TooManyRoles,
)
from postern.identity.access.rules import decide, is_permission_key, system_roles
from postern.kernel.database.statements import Queries, Transaction
from postern.kernel.http.call import Call, Kind
from postern.kernel.http.operation import SERVER_KINDS, delete, get, patch, post
from postern.kernel.http.pagination import Cursor, LinkedList, ListLimit, before_id, linked_list, newest_first
from postern.kernel.http.problems import Problem, ProblemError, require_found
from postern.kernel.values import Deleted, Moment, as_id, build_view, fields_set, new_id
from postern.platform.audit import operations as audit

if TYPE_CHECKING:
    from postern.world import World

CHECK_CALLERS: frozenset[Kind] = frozenset((*SERVER_KINDS, "customer"))


@get("/projects/{project_id}/access/permissions", needs="access:read")
async def list_permissions(
    call: Call, limit: ListLimit = 1_000, cursor: Cursor | None = None
) -> LinkedList[Permission]:
    """List the permissions that the project has declared, newest first."""
    page = await newest_first(call, "permissions", cursor, limit, store.permissions)
    return LinkedList([build_view(Permission, row) for row in page.items], page.next_cursor)


@post(
    "/projects/{project_id}/access/permissions",
    needs="access:write",
    status=201,
    problems=(PermissionExists, TooManyPermissions),
    example={"key": "posts:write", "description": "Write and change posts."},
)
async def create_permission(call: Call, data: NewPermission) -> Permission:
    """Declare a permission: two to four words of `a-z0-9_` joined by colons.

    Roles include it by its key or by a prefix (`posts:*`). Checks of permissions that are not declared are denied.
    """
    async with call.db.transaction() as tx:
        await tx.lock_quota("permissions", call.project_id)
        if await store.count_permissions(tx, project_id=call.project_id) >= PERMISSIONS_PER_PROJECT:
            raise TooManyPermissions
        row = await store.insert_permission(
            tx, project_id=call.project_id, id=new_id(), key=data.key, description=data.description, created_at=call.now
        )
        if row is None:
            raise PermissionExists
        await audit.record(tx, call, "permission.created", "Permission", data.key)
    return build_view(Permission, row)


@delete("/projects/{project_id}/access/permissions/{key}", needs="access:write", problems=(PermissionUnknown,))
async def delete_permission(call: Call, key: str) -> Deleted:
    """Delete a permission, also from roles that include it by its key. Wildcards such as `posts:*` in roles stay."""
    async with call.db.transaction() as tx:
        if not await store.delete_permission(tx, project_id=call.project_id, key=key):
            raise PermissionUnknown
        await store.remove_permission_from_roles(tx, project_id=call.project_id, key=key, now=call.now)
        await audit.record(tx, call, "permission.deleted", "Permission", key)
    return Deleted()


@get("/projects/{project_id}/access/roles", needs="access:read")
async def list_roles(
    call: Call, scope: Scope | None = None, limit: ListLimit = 1_000, cursor: Cursor | None = None
) -> LinkedList[Role]:
    """List the roles of the project, newest first, followed by the system roles. Filter by `scope`."""
    cursor_scope = f"roles|{scope or ''}"
    before = before_id(call, cursor_scope, cursor)
    rows = await store.roles(call.db, project_id=call.project_id, scope=scope, before=before, limit=limit + 1)
    created_at = await store.project_created_at(call.db, project_id=call.project_id)
    rows += [row for row in system_roles(created_at, scope) if before is None or row.id < before]
    page = linked_list(call, cursor_scope, rows[: limit + 1], limit)
    return LinkedList([build_view(Role, row) for row in page.items], page.next_cursor)


@post(
    "/projects/{project_id}/access/roles",
    needs="access:write",
    status=201,
    problems=(RoleExists, TooManyRoles, PermissionUndeclared),
    example={"key": "editor", "name": "Editor", "scope": "PROJECT", "permissions": ["posts:*"]},
)
async def create_role(call: Call, data: NewRole) -> Role:
    """Create a role.

    Permissions of a role with the scope PROJECT apply in the project, to customers who have the role. Those of a role
    with the scope ORGANIZATION apply in the organization whose member has it. With `appliesToAllOrganizations`, a
    customer who has the role in the project has it in every organization.
    """
    if data.key.upper() in SYSTEM_ROLES:
        raise RoleExists("OWNER, ADMIN and MEMBER are system roles.")
    data = replace(data, permissions=list(dict.fromkeys(data.permissions)))
    async with call.db.transaction() as tx:
        await tx.lock_quota("roles", call.project_id)
        if await store.count_roles(tx, project_id=call.project_id) >= ROLES_PER_PROJECT:
            raise TooManyRoles
        await _require_declared(tx, call.project_id, data.permissions)
        new = replace(data, name=data.name or data.key)
        row = await store.insert_role(
            tx, new, project_id=call.project_id, id=new_id(), created_at=call.now, updated_at=call.now
        )
        if row is None:
            raise RoleExists
        await audit.record(tx, call, "role.created", "Role", row.key, scope=row.scope, permissions=data.permissions)
    return build_view(Role, row)


@get("/projects/{project_id}/access/roles/{key}", needs="access:read", problems=(RoleMissing,))
async def get_role(call: Call, key: str, scope: Scope = "PROJECT") -> Role:
    """Get a role by its key. `scope` matters only for system roles, which exist in both scopes."""
    if key in SYSTEM_ROLES:
        created_at = await store.project_created_at(call.db, project_id=call.project_id)
        return next(build_view(Role, row) for row in system_roles(created_at, scope) if row.key == key)
    row = require_found(await store.role(call.db, project_id=call.project_id, key=key), RoleMissing)
    return build_view(Role, row)


@patch(
    "/projects/{project_id}/access/roles/{key}",
    needs="access:write",
    problems=(RoleMissing, SystemRoleFixed, PermissionUndeclared),
    example={"name": "Editor in chief", "permissions": ["posts:*", "authors:read"]},
)
async def change_role(call: Call, key: str, data: RoleChange) -> Role:
    """Change a role. The change applies from the next check on; `permissions` replaces the whole list.

    Honours `If-Match`.
    """
    async with call.db.transaction() as tx:
        changes = fields_set(data)
        if data.permissions is not UNSET:
            changes["permissions"] = list(dict.fromkeys(data.permissions))
        row = await _lock_role_and_permissions(tx, call, key, changes.get("permissions", []))
        call.require_match(row.updated_at)
        row = await store.change_role(tx, replace(row, **changes), project_id=call.project_id, now=call.now)
        await audit.record(tx, call, "role.updated", "Role", row.key, permissions=row.permissions)
    return build_view(Role, row)


@delete(
    "/projects/{project_id}/access/roles/{key}",
    needs="access:write",
    problems=(RoleMissing, SystemRoleFixed, RoleInUse),
)
async def delete_role(call: Call, key: str) -> Deleted:
    """Delete a role. Returns 409 while a customer or member has the role or is invited with it. Honours `If-Match`."""
    async with call.db.transaction() as tx:
        row = await _lock_role(tx, call, key)
        call.require_match(row.updated_at)
        if await store.is_assigned(tx, project_id=call.project_id, key=key):
            raise RoleInUse
        await store.delete_role(tx, project_id=call.project_id, id=row.id)
        await audit.record(tx, call, "role.deleted", "Role", row.key, scope=row.scope)
    return Deleted()


@post(
    "/projects/{project_id}/access/check",
    needs="access:read",
    accepts=CHECK_CALLERS,
    restricted=True,
    revalidates=True,
    problems=(SubjectMissing, ScopeMissing, NotYourself),
    example={"permission": "posts:write", "customerId": "019b1f3a-5f0e-7cc0-a2f4-0c2f6a1f9d11"},
)
async def check_access(call: Call, data: AccessCheck) -> AccessDecision:
    """Check whether a customer has a permission: in an organization with `organizationId`, otherwise in the project.

    A customer's token implies the customer. A denial is a normal response with status 200, also for a permission that
    is not declared. `reason` is the reason of the decision. `explanation` lists every step in a fixed order, including
    the steps after the one that decided.
    """
    customer_id, organization_id = _customer_id(call, data, ""), _organization_id(data)
    look_up = call.world.batcher(access_facts_of)
    return _decision(
        data,
        await look_up(AccessLookup(call.project_id, data.permission, customer_id, organization_id)),
        customer_id,
        organization_id,
        "",
    )


@post(
    "/projects/{project_id}/access/check/batch",
    needs="access:read",
    accepts=CHECK_CALLERS,
    restricted=True,
    revalidates=True,
    problems=(SubjectMissing, ScopeMissing, NotYourself),
    example={"checks": [{"permission": "posts:read"}, {"permission": "posts:write"}]},
)
async def check_access_batch(call: Call, data: AccessCheckBatch) -> AccessDecisions:
    """Perform up to 100 checks at one point in time. The results are in the order of the request."""
    paths = [f"/checks/{index}" for index in range(len(data.checks))]
    customer_ids = [_customer_id(call, check, path) for check, path in zip(data.checks, paths, strict=True)]
    organization_ids = [_organization_id(check) for check in data.checks]
    permissions = [check.permission for check in data.checks]
    lookups = [
        AccessLookup(call.project_id, permission, customer_id, organization_id)
        for permission, customer_id, organization_id in zip(permissions, customer_ids, organization_ids, strict=True)
    ]
    facts = await _access_facts(call.db, call.project_id, lookups, call.now)
    decisions = [
        _decision(check, check_facts, customer_id, organization_id, path)
        for check, check_facts, customer_id, organization_id, path in zip(
            data.checks, facts, customer_ids, organization_ids, paths, strict=True
        )
    ]
    return AccessDecisions(results=decisions)


class AccessLookup(NamedTuple):
    """What a check looks up: whether a customer has a permission in an organization, or in the project if
    `organization_id` is None."""

    project_id: UUID
    permission: str
    customer_id: UUID | None
    organization_id: UUID | None


async def access_facts_of(world: "World", lookups: list[AccessLookup]) -> list[AccessFacts]:
    """Look up the data for checks of concurrent requests in one statement per project. Nothing is cached.

    Returns one row per lookup, in the same order.
    """
    now, results = world.clock(), dict[int, AccessFacts]()
    for project_id in {lookup.project_id for lookup in lookups}:
        indexes = [index for index, lookup in enumerate(lookups) if lookup.project_id == project_id]
        facts = await _access_facts(world.db, project_id, [lookups[index] for index in indexes], now)
        results.update(zip(indexes, facts, strict=True))
    return [results[index] for index in range(len(lookups))]


async def _access_facts(db: Queries, project_id: UUID, lookups: list[AccessLookup], now: Moment) -> list[AccessFacts]:
    return await store.access_facts(
        db,
        project_id=project_id,
        # A text that is not a permission key, such as `*`, cannot be declared or granted. None stands for it.
        permissions=[lookup.permission if is_permission_key(lookup.permission) else None for lookup in lookups],
        customer_ids=[lookup.customer_id for lookup in lookups],
        organization_ids=[lookup.organization_id for lookup in lookups],
        now=now,
    )


def _decision(
    check: AccessCheck, facts: AccessFacts, customer_id: UUID | None, organization_id: UUID | None, path: str
) -> AccessDecision:
    """The decision on a check. Raises SubjectMissing or ScopeMissing if the customer or organization does not exist."""
    if customer_id is not None and not facts.customer_exists:
        raise _problem_at(SubjectMissing, f"{path}/customerId")
    if organization_id is not None and not facts.organization_exists:
        raise _problem_at(ScopeMissing, f"{path}/organizationId")
    return decide(check.permission, facts, customer_id, organization_id)


def _organization_id(check: AccessCheck) -> UUID | None:
    return None if check.organization_id is None else as_id(check.organization_id)


def _customer_id(call: Call, check: AccessCheck, path: str) -> UUID | None:
    """The customer whose access is checked. Raises NotYourself if a customer's token is used for another customer."""
    requested_id = None if check.customer_id is None else as_id(check.customer_id)
    if call.caller.kind != "customer":
        return requested_id
    if requested_id not in (None, call.caller.actor_id):
        raise _problem_at(NotYourself, f"{path}/customerId")
    return call.caller.actor_id


def _problem_at(problem: type[Problem], path: str) -> Problem:
    return problem(errors=[ProblemError(path=path, code=problem.code(), message=problem.message())])


async def permissions_of_member(
    call: Call, customer_id: UUID, organization_id: UUID, permissions: Sequence[str]
) -> frozenset[str]:
    """Those of the permissions that a customer has in an organization, as `check_access` decides, except that the
    project need not have declared them: they are permissions of this server's own pages."""
    lookups = [AccessLookup(call.project_id, permission, customer_id, organization_id) for permission in permissions]
    facts = await _access_facts(call.db, call.project_id, lookups, call.now)
    return frozenset(
        permission
        for permission, known in zip(permissions, facts, strict=True)
        if decide(permission, replace(known, declared=True), customer_id, organization_id).allowed
    )


async def granted_permissions(
    db: Queries, project_id: UUID, customer_id: UUID, organization_id: UUID | None
) -> GrantedPermissions:
    """All permissions that a customer has in the project, and in an organization if it is ACTIVE and the customer is a
    member: those that `check_access` allows. Raises SubjectMissing if there is no such customer."""
    granted = await store.granted_permissions(
        db, project_id=project_id, customer_id=customer_id, organization_id=organization_id
    )
    if granted is None:
        raise SubjectMissing
    return granted


async def descriptions_of_permissions(db: Queries, project_id: UUID, keys: Sequence[str]) -> dict[str, str]:
    """The permissions among `keys` that the project has declared, with their descriptions; "" for none."""
    rows = await store.permissions_by_key(db, project_id=project_id, keys=list(keys)) if keys else []
    return {row.key: row.description or "" for row in rows}


async def role_named(db: Queries, project_id: UUID, key: str) -> ShownRole:
    """The name and description of a role of members of organizations; the key, if the role does not exist any more."""
    if key in SYSTEM_ROLES:
        return ShownRole(name=key.capitalize(), description="")
    row = await store.role(db, project_id=project_id, key=key)
    if row is None:
        return ShownRole(name=key, description="")
    return ShownRole(name=row.name, description=row.description or "")


async def role_keys(db: Queries, project_id: UUID, scope: Scope) -> set[str]:
    """The keys of the roles that can be assigned in `scope`, including system roles.

    With the scope PROJECT, these are the PROJECT roles and the roles that apply to all organizations.
    """
    return {*SYSTEM_ROLES, *await store.role_keys(db, project_id=project_id, scope=scope)}


async def require_roles(
    tx: Transaction, project_id: UUID, scope: Scope, keys: Sequence[str], path: str = "/roles/{}"
) -> None:
    """Lock the roles `keys` for key share, so that they cannot be deleted before the transaction assigns them.

    Raises RoleUnknown if one of them cannot be assigned in `scope`. The path of the error is `path`, in which `{}`
    stands for the index in `keys`.
    """
    custom_keys = [key for key in keys if key not in SYSTEM_ROLES]
    existing = (
        set(await store.lock_roles_shared(tx, project_id=project_id, scope=scope, keys=custom_keys))
        if custom_keys
        else set[str]()
    )
    missing = [key for key in custom_keys if key not in existing]
    if missing:
        message = f"There is no role {missing[0]!r} in the scope {scope}."
        raise RoleUnknown(message, errors=_errors_for_keys(path, keys, missing, "unknown_role"))


async def _require_declared(tx: Transaction, project_id: UUID, permissions: Sequence[str]) -> None:
    """Lock permissions for key share. Raises PermissionUndeclared for keys, not wildcards, that are not declared."""
    exact_keys = [key for key in permissions if not key.endswith("*")]
    declared = (
        set(await store.lock_permissions_shared(tx, project_id=project_id, keys=exact_keys))
        if exact_keys
        else set[str]()
    )
    undeclared = [key for key in exact_keys if key not in declared]
    if undeclared:
        message = f"The permission {undeclared[0]!r} is not declared in this project."
        raise PermissionUndeclared(
            message, errors=_errors_for_keys("/permissions/{}", permissions, undeclared, "undeclared_permission")
        )


def _errors_for_keys(path: str, keys: Sequence[str], unknown: Iterable[str], code: str) -> list[ProblemError]:
    return [
        ProblemError(path=path.format(keys.index(key)), code=code, message=f"{key!r} is unknown.") for key in unknown
    ]


async def _lock_role_and_permissions(tx: Transaction, call: Call, key: str, permissions: Sequence[str]) -> RoleRow:
    """Lock a role for update, and the permissions that it will include.

    Permissions are locked before the role, as when a permission is deleted, to avoid deadlocks.
    """
    if key not in SYSTEM_ROLES and await store.role(tx, project_id=call.project_id, key=key) is not None:
        await _require_declared(tx, call.project_id, permissions)
    return await _lock_role(tx, call, key)


async def _lock_role(tx: Transaction, call: Call, key: str) -> RoleRow:
    if key in SYSTEM_ROLES:
        raise SystemRoleFixed
    return require_found(await store.lock_role(tx, project_id=call.project_id, key=key), RoleMissing)
