"""SQL of roles and permissions."""

from uuid import UUID

from postern.access.model import PermissionRow, RoleRow
from postern.kernel.clock import Moment
from postern.kernel.database import Queries, Transaction, statement


@statement("""
    insert into access_permissions (project_id, id, key, description, created_at)
    values (%(project_id)s, %(id)s, %(key)s, %(description)s, %(now)s)
    on conflict (project_id, key) do nothing
    returning id, key, description, created_at
""")
async def insert_permission(
    tx: Transaction, *, project_id: UUID, id: UUID, key: str, description: str | None, now: Moment
) -> PermissionRow | None: ...


@statement("select count(*)::int from access_permissions where project_id = %(project_id)s")
async def count_permissions(db: Queries, *, project_id: UUID) -> int: ...


@statement("""
    select id, key, description, created_at from access_permissions
    where project_id = %(project_id)s and (%(before)s::uuid is null or id < %(before)s)
    order by id desc limit %(limit)s
""")
async def permissions(db: Queries, *, project_id: UUID, before: UUID | None, limit: int) -> list[PermissionRow]: ...


@statement("""
    select key from access_permissions where project_id = %(project_id)s and key = any (%(keys)s) for key share
""")
async def hold_permissions(tx: Transaction, *, project_id: UUID, keys: list[str]) -> list[str]: ...


@statement("delete from access_permissions where project_id = %(project_id)s and key = %(key)s")
async def delete_permission(tx: Transaction, *, project_id: UUID, key: str) -> bool: ...


@statement("""
    update access_roles set permissions = array_remove(permissions, %(key)s), updated_at = %(now)s
    where project_id = %(project_id)s and %(key)s = any (permissions)
""")
async def strike_permission(tx: Transaction, *, project_id: UUID, key: str, now: Moment) -> None: ...


@statement("""
    insert into access_roles (project_id, id, key, name, description, scope, applies_to_all_organizations,
                              permissions, created_at, updated_at)
    select %(project_id)s, %(id)s, %(key)s, %(name)s, %(description)s, %(scope)s, %(everywhere)s, %(permissions)s,
           %(now)s, %(now)s
    on conflict (project_id, key) do nothing
    returning *, false as system
""")
async def insert_role(
    tx: Transaction,
    *,
    project_id: UUID,
    id: UUID,
    key: str,
    name: str,
    description: str | None,
    scope: str,
    everywhere: bool,
    permissions: list[str],
    now: Moment,
) -> RoleRow | None: ...


@statement("select count(*)::int from access_roles where project_id = %(project_id)s")
async def count_roles(db: Queries, *, project_id: UUID) -> int: ...


@statement("""
    select *, false as system from access_roles
    where project_id = %(project_id)s and (%(before)s::uuid is null or id < %(before)s)
      and (%(scope)s::text is null or scope = %(scope)s)
    order by id desc limit %(limit)s
""")
async def roles(
    db: Queries, *, project_id: UUID, scope: str | None, before: UUID | None, limit: int
) -> list[RoleRow]: ...


@statement("select created_at from projects where id = %(project_id)s")
async def project_created_at(db: Queries, *, project_id: UUID) -> Moment: ...


@statement("select *, false as system from access_roles where project_id = %(project_id)s and key = %(key)s")
async def role(db: Queries, *, project_id: UUID, key: str) -> RoleRow | None: ...


@statement("""
    select *, false as system from access_roles where project_id = %(project_id)s and key = %(key)s for update
""")
async def lock_role(tx: Transaction, *, project_id: UUID, key: str) -> RoleRow | None: ...


@statement("""
    update access_roles set name = %(name)s, description = %(description)s, permissions = %(permissions)s,
        applies_to_all_organizations = %(everywhere)s, updated_at = %(now)s
    where project_id = %(project_id)s and id = %(id)s
    returning *, false as system
""")
async def change_role(
    tx: Transaction,
    *,
    project_id: UUID,
    id: UUID,
    name: str,
    description: str | None,
    permissions: list[str],
    everywhere: bool,
    now: Moment,
) -> RoleRow: ...


@statement("delete from access_roles where project_id = %(project_id)s and id = %(id)s")
async def delete_role(tx: Transaction, *, project_id: UUID, id: UUID) -> None: ...


@statement("""
    select key from access_roles
    where project_id = %(project_id)s
      and (scope = %(scope)s or (%(scope)s = 'PROJECT' and applies_to_all_organizations))
""")
async def role_keys(db: Queries, *, project_id: UUID, scope: str) -> list[str]: ...


@statement("""
    select key from access_roles
    where project_id = %(project_id)s and key = any (%(keys)s)
      and (scope = %(scope)s or (%(scope)s = 'PROJECT' and applies_to_all_organizations))
    for key share
""")
async def hold_roles(tx: Transaction, *, project_id: UUID, scope: str, keys: list[str]) -> list[str]: ...
