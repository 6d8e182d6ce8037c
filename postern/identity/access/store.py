"""SQL of roles and permissions.

The roles of customers and members are columns of their tables, which the last statements of this file read; see
docs/decisions/0031-one-statement-decides-access.md.
"""

from uuid import UUID

from postern.identity.access import grants
from postern.identity.access.model import AccessFacts, GrantedPermissions, NewRole, PermissionRow, RoleRow
from postern.kernel.database.statements import Queries, Transaction, statement
from postern.kernel.values import Moment


# Returns None if the project has declared this permission already.
@statement("""
    insert into access_permissions {row}
    on conflict (project_id, key) do nothing
    returning id, key, description, created_at
""")
async def insert_permission(
    tx: Transaction, *, project_id: UUID, id: UUID, key: str, description: str | None, created_at: Moment
) -> PermissionRow | None: ...


@statement("select count(*)::int from access_permissions where project_id = %(project_id)s")
async def count_permissions(db: Queries, *, project_id: UUID) -> int: ...


@statement("""
    select id, key, description, created_at from access_permissions
    where project_id = %(project_id)s and (%(before)s::uuid is null or id < %(before)s)
    order by id desc limit %(limit)s
""")
async def permissions(db: Queries, *, project_id: UUID, before: UUID | None, limit: int) -> list[PermissionRow]: ...


# The declared permissions among `keys`.
@statement("""
    select id, key, description, created_at from access_permissions
    where project_id = %(project_id)s and key = any (%(keys)s)
""")
async def permissions_by_key(db: Queries, *, project_id: UUID, keys: list[str]) -> list[PermissionRow]: ...


# Lock permissions for key share, so that they cannot be deleted; returns the keys of those that exist.
@statement("""
    select key from access_permissions where project_id = %(project_id)s and key = any (%(keys)s) for key share
""")
async def lock_permissions_shared(tx: Transaction, *, project_id: UUID, keys: list[str]) -> list[str]: ...


# Returns False if the project has not declared this permission.
@statement("delete from access_permissions where project_id = %(project_id)s and key = %(key)s")
async def delete_permission(tx: Transaction, *, project_id: UUID, key: str) -> bool: ...


@statement("""
    update access_roles set permissions = array_remove(permissions, %(key)s), updated_at = %(now)s
    where project_id = %(project_id)s and id = any (array(
        select id from access_roles where project_id = %(project_id)s and %(key)s = any (permissions)
        order by id for update
    ))
""")
async def remove_permission_from_roles(tx: Transaction, *, project_id: UUID, key: str, now: Moment) -> None: ...


# Returns None if the project has a role with this key.
@statement("""
    insert into access_roles {row} on conflict (project_id, key) do nothing returning *, false as system
""")
async def insert_role(
    tx: Transaction, role: NewRole, *, project_id: UUID, id: UUID, created_at: Moment, updated_at: Moment
) -> RoleRow | None: ...


@statement("select count(*)::int from access_roles where project_id = %(project_id)s")
async def count_roles(db: Queries, *, project_id: UUID) -> int: ...


# The roles of a scope, or of both if it is None, newest first.
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


# Lock a role for update.
@statement("""
    select *, false as system from access_roles where project_id = %(project_id)s and key = %(key)s for update
""")
async def lock_role(tx: Transaction, *, project_id: UUID, key: str) -> RoleRow | None: ...


@statement("""
    update access_roles set name = %(name)s, description = %(description)s, permissions = %(permissions)s,
        applies_to_all_organizations = %(applies_to_all_organizations)s, updated_at = %(now)s
    where project_id = %(project_id)s and id = %(id)s
    returning *, false as system
""")
async def change_role(tx: Transaction, row: RoleRow, *, project_id: UUID, now: Moment) -> RoleRow: ...


@statement("delete from access_roles where project_id = %(project_id)s and id = %(id)s")
async def delete_role(tx: Transaction, *, project_id: UUID, id: UUID) -> None: ...


# The keys of the roles that can be assigned in a scope.
@statement("""
    select key from access_roles
    where project_id = %(project_id)s
      and (scope = %(scope)s or (%(scope)s = 'PROJECT' and applies_to_all_organizations))
""")
async def role_keys(db: Queries, *, project_id: UUID, scope: str) -> list[str]: ...


# Lock roles for key share, so that they cannot be deleted; returns the keys of those that can be assigned in the
# scope.
@statement("""
    select key from access_roles
    where project_id = %(project_id)s and key = any (%(keys)s)
      and (scope = %(scope)s or (%(scope)s = 'PROJECT' and applies_to_all_organizations))
    for key share
""")
async def lock_roles_shared(tx: Transaction, *, project_id: UUID, scope: str, keys: list[str]) -> list[str]: ...


# The data for checks, in the order of the three parallel lists; a permission is None if it is not a permission key.
# Each lookup uses a primary or unique key. The arrays are in sub-selects: their length does not affect the query plan,
# so that PostgreSQL uses one generic query plan for all lengths.
@statement(f"""
    with lookup as (
        select permission, customer_id, organization_id, number
        from unnest((select %(permissions)s::text[]), (select %(customer_ids)s::uuid[]),
                    (select %(organization_ids)s::uuid[]))
             with ordinality as lookup (permission, customer_id, organization_id, number)
    )
    select lookup.number::int,
           exists (select from access_permissions permission
                   where permission.project_id = %(project_id)s and permission.key = lookup.permission) as declared,
           customer.id is not null as customer_exists,
           coalesce(customer.banned_at is not null
                    and (customer.ban_expires_at is null or customer.ban_expires_at > %(now)s), false) as banned,
           coalesce(customer.roles, array[]::text[]) as customer_roles,
           organization.id is not null as organization_exists,
           coalesce(organization.status = 'SUSPENDED', false) as suspended,
           member.roles as member_roles,
           array(select role.key from access_roles role
                 where lookup.organization_id is null and {grants.IS_PROJECT_ROLE}
                   and lookup.permission like any (array{grants.LIKE_PATTERNS})
                 order by role.key) as granting_in_project,
           array(select role.key from access_roles role
                 where lookup.organization_id is not null and {grants.IS_ALL_ORGANIZATIONS_ROLE}
                   and lookup.permission like any (array{grants.LIKE_PATTERNS})
                 order by role.key) as granting_in_all_organizations,
           array(select role.key from access_roles role
                 where {grants.IS_ORGANIZATION_ROLE} and lookup.permission like any (array{grants.LIKE_PATTERNS})
                 order by role.key) as granting_in_organization
    from lookup
    left join customers customer on customer.project_id = %(project_id)s and customer.id = lookup.customer_id
    left join organizations organization
      on organization.project_id = %(project_id)s and organization.id = lookup.organization_id
     and organization.status <> 'DELETED'
    left join organization_members member
      on member.project_id = %(project_id)s and member.organization_id = organization.id
     and member.customer_id = lookup.customer_id
    order by lookup.number
""")
async def access_facts(
    db: Queries,
    *,
    project_id: UUID,
    permissions: list[str | None],
    customer_ids: list[UUID | None],
    organization_ids: list[UUID | None],
    now: Moment,
) -> list[AccessFacts]: ...


# All permissions of a customer in the project and, if the customer is a member of an ACTIVE organization with this id,
# in the organization.
@statement(f"""
    select {grants.permissions_in_project()} as permissions, member.roles as organization_roles,
           case when member.id is not null then {grants.permissions_in_organization()} end as organization_permissions
    from customers customer
    left join (
        organization_members member
        join organizations organization
          on organization.project_id = member.project_id and organization.id = member.organization_id
         and organization.status = 'ACTIVE'
    ) on member.project_id = customer.project_id and member.customer_id = customer.id
     and member.organization_id = /*single*/%(organization_id)s/*end*/
        /*distributed coalesce(%(organization_id)s, '00000000-0000-0000-0000-000000000000'::uuid)
        and member.project_id = :project and organization.project_id = :project */
    where customer.project_id = %(project_id)s and customer.id = %(customer_id)s
""")
async def granted_permissions(
    db: Queries, *, project_id: UUID, customer_id: UUID, organization_id: UUID | None
) -> GrantedPermissions | None: ...


# Whether a customer or member has a role, or is invited with it. The conditions on `roles` with `<>` let PostgreSQL use
# the partial indexes.
@statement("""
    select from customers where project_id = %(project_id)s and roles @> array[%(key)s]::text[] and roles <> '{}'
    union all
    select from organization_members member
    join organizations organization
      on organization.project_id = member.project_id and organization.id = member.organization_id
     and organization.status <> 'DELETED'
    where member.project_id = %(project_id)s and member.roles @> array[%(key)s]::text[]
      and member.roles <> array['MEMBER']
    union all
    select from invitations invitation
    join organizations organization
      on organization.project_id = invitation.project_id and organization.id = invitation.organization_id
     and organization.status <> 'DELETED'
    where invitation.project_id = %(project_id)s and invitation.role = %(key)s and invitation.status = 'PENDING'
    limit 1
""")
async def is_assigned(db: Queries, *, project_id: UUID, key: str) -> bool: ...
