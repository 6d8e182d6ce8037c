"""SQL of the users of directories."""

from uuid import UUID

from psycopg.sql import Composable

from postern.identity.scim.model import UserRow
from postern.kernel.database.statements import Jsonb, Queries, Transaction, statement
from postern.kernel.values import Moment, Record


class UserId(Record):
    """The id of a user."""

    id: UUID


class UserGroup(Record):
    """A group that a user is in."""

    user_id: UUID
    id: UUID
    external_id: str | None
    display_name: str
    display_name_key: str


# Insert a user. Returns None if another user of the connection has the name, the external id, or the customer.
@statement("""
    insert into directory_users {row} on conflict do nothing returning id
""")
async def insert_user(tx: Transaction, user: UserRow) -> UserId | None: ...


@statement("""
    select * from directory_users
    where project_id = %(project_id)s and connection_id = %(connection_id)s and id = %(id)s
""")
async def get_user(db: Queries, *, project_id: UUID, connection_id: UUID, id: UUID) -> UserRow | None: ...


@statement("""
    update directory_users set external_id = %(external_id)s, user_name = %(user_name)s,
        user_name_key = %(user_name_key)s, display_name = %(display_name)s, active = %(active)s,
        email_keys = %(email_keys)s, attributes = %(attributes)s, roles = %(roles)s, version = version + 1,
        updated_at = %(now)s
    where project_id = %(project_id)s and id = %(id)s
    returning *
""")
async def update_user(tx: Transaction, user: UserRow, *, now: Moment) -> UserRow: ...


# Another user of the connection with this name or external id.
@statement("""
    select id from directory_users
    where project_id = %(project_id)s and connection_id = %(connection_id)s
      and (user_name_key = %(user_name_key)s or external_id = %(external_id)s)
      and (%(except_id)s::uuid is null or id <> %(except_id)s)
    limit 1
""")
async def other_user(
    db: Queries,
    *,
    project_id: UUID,
    connection_id: UUID,
    user_name_key: str,
    external_id: str | None,
    except_id: UUID | None,
) -> UserId | None: ...


# The user of a connection that stands for a customer.
@statement("""
    select id from directory_users
    where project_id = %(project_id)s and connection_id = %(connection_id)s and customer_id = %(customer_id)s
""")
async def user_of_customer(
    db: Queries, *, project_id: UUID, connection_id: UUID, customer_id: UUID
) -> UserId | None: ...


# Whether an active user of another connection of the organization stands for the customer.
@statement("""
    select directory_user.id from directory_users directory_user
    join directory_connections connection
      on connection.project_id = directory_user.project_id and connection.id = directory_user.connection_id
    where directory_user.project_id = %(project_id)s and directory_user.customer_id = %(customer_id)s
      and directory_user.active and connection.organization_id = %(organization_id)s
      and connection.status = 'ACTIVE' and connection.id <> %(connection_id)s
    limit 1
""")
async def active_user_elsewhere(
    db: Queries, *, project_id: UUID, organization_id: UUID, connection_id: UUID, customer_id: UUID
) -> UserId | None: ...


@statement("delete from directory_users where project_id = %(project_id)s and id = %(id)s")
async def delete_user(tx: Transaction, *, project_id: UUID, id: UUID) -> None: ...


@statement("""
    select count(*)::int from directory_users u
    where u.project_id = %(project_id)s and u.connection_id = %(connection_id)s and {where}
""")
async def count_matching(db: Queries, *, project_id: UUID, connection_id: UUID, where: Composable) -> int: ...


# The offset is skipped in an index on ids; only the rows of the page are read in full.
@statement("""
    select listed.* from (
        select u.project_id, u.id from directory_users u
        where u.project_id = %(project_id)s and u.connection_id = %(connection_id)s and {where}
        order by u.id limit %(limit)s offset %(offset)s
    ) as page join directory_users listed on listed.project_id = page.project_id and listed.id = page.id
      /*distributed and listed.project_id = %(project_id)s */
    order by listed.id
""")
async def list_users(
    db: Queries, *, project_id: UUID, connection_id: UUID, where: Composable, limit: int, offset: int
) -> list[UserRow]: ...


# Users of a connection after the user `after`, in the order of their ids.
@statement("""
    select * from directory_users u
    where u.project_id = %(project_id)s and u.connection_id = %(connection_id)s and {where}
      and (%(after)s::uuid is null or u.id > %(after)s)
    order by u.id limit %(limit)s
""")
async def scan_users(
    db: Queries, *, project_id: UUID, connection_id: UUID, where: Composable, after: UUID | None, limit: int
) -> list[UserRow]: ...


# The ids of the users of a connection after the user `after`, in their order.
@statement("""
    select id from directory_users
    where project_id = %(project_id)s and connection_id = %(connection_id)s
      and (%(after)s::uuid is null or id > %(after)s)
    order by id limit %(limit)s
""")
async def users_after(
    db: Queries, *, project_id: UUID, connection_id: UUID, after: UUID | None, limit: int
) -> list[UserId]: ...


# Users of a connection, newest first.
@statement("""
    select * from directory_users
    where project_id = %(project_id)s and connection_id = %(connection_id)s
      and (%(before)s::uuid is null or id < %(before)s)
    order by id desc limit %(limit)s
""")
async def newest_users(
    db: Queries, *, project_id: UUID, connection_id: UUID, before: UUID | None, limit: int
) -> list[UserRow]: ...


@statement("""
    select member.user_id, directory_group.id, directory_group.external_id, directory_group.display_name,
           directory_group.display_name_key
    from directory_group_members member
    join directory_groups directory_group
      on directory_group.project_id = member.project_id and directory_group.id = member.group_id
    where member.project_id = %(project_id)s and member.user_id = any (%(user_ids)s)
    order by directory_group.id limit %(limit)s
""")
async def groups_of_users(db: Queries, *, project_id: UUID, user_ids: list[UUID], limit: int) -> list[UserGroup]: ...


# The groups of users that have one of these names, external ids or ids.
@statement("""
    select member.user_id, directory_group.id, directory_group.external_id, directory_group.display_name,
           directory_group.display_name_key
    from directory_group_members member
    join directory_groups directory_group
      on directory_group.project_id = member.project_id and directory_group.id = member.group_id
    where member.project_id = %(project_id)s and member.user_id = any (%(user_ids)s)
      and (directory_group.display_name_key = any (%(names)s) or directory_group.external_id = any (%(ids)s)
           or directory_group.id::text = any (%(ids)s))
    order by directory_group.id
""")
async def groups_with_roles(
    db: Queries, *, project_id: UUID, user_ids: list[UUID], names: list[str], ids: list[str]
) -> list[UserGroup]: ...


class RoleFacts(Record):
    """A user whose roles are computed."""

    id: UUID
    customer_id: UUID
    roles: list[str]


# The active users among `ids`.
@statement("""
    select id, customer_id, roles from directory_users
    where project_id = %(project_id)s and id = any (%(ids)s) and active
""")
async def active_users(tx: Transaction, *, project_id: UUID, ids: list[UUID]) -> list[RoleFacts]: ...


# `roles` has objects with the fields `id` and `roles`.
@statement("""
    update directory_users changed set roles = array(select jsonb_array_elements_text(change.roles))
    from jsonb_to_recordset(%(roles)s) as change (id uuid, roles jsonb)
    where changed.project_id = %(project_id)s and changed.id = change.id
""")
async def set_roles(tx: Transaction, *, project_id: UUID, roles: Jsonb) -> None: ...


class MergedUser(Record):
    """A user that another one of the same connection was merged into."""

    id: UUID
    connection_id: UUID


# When two customers are merged that both have a user in a connection: that of the survivor gets the roles of the other
# one, so that they can be taken away later, and is active if one of them is.
@statement("""
    update directory_users kept set
        roles = kept.roles || array(select role from unnest(lost.roles) as role where role <> all (kept.roles)),
        active = kept.active or lost.active,
        attributes = jsonb_set(
            kept.attributes, array['active'],
            case when kept.active or lost.active then 'true'::jsonb else 'false'::jsonb end),
        version = kept.version + 1
    from directory_users lost
    where kept.project_id = %(project_id)s and kept.customer_id = %(survivor_id)s
      and lost.project_id = %(project_id)s and lost.customer_id = %(loser_id)s
      and lost.connection_id = kept.connection_id
    returning kept.id, kept.connection_id
""")
async def merge_users(tx: Transaction, *, project_id: UUID, survivor_id: UUID, loser_id: UUID) -> list[MergedUser]: ...


# The users of the survivor are in the groups of those of the loser, too.
@statement("""
    insert into directory_group_members (project_id, group_id, user_id, added_at)
    select member.project_id, member.group_id, kept.id, member.added_at
    from directory_users lost
    join directory_users kept on kept.project_id = lost.project_id and kept.connection_id = lost.connection_id
    join directory_group_members member on member.project_id = lost.project_id and member.user_id = lost.id
    where lost.project_id = %(project_id)s and lost.customer_id = %(loser_id)s
      and kept.project_id = %(project_id)s and kept.customer_id = %(survivor_id)s
      and member.project_id = %(project_id)s
    on conflict do nothing
""")
async def copy_memberships(tx: Transaction, *, project_id: UUID, survivor_id: UUID, loser_id: UUID) -> None: ...


# When two customers are merged: the users of the loser stand for the survivor, except in connections in which the
# survivor has a user already.
@statement("""
    update directory_users moved set customer_id = %(survivor_id)s
    where moved.project_id = %(project_id)s and moved.customer_id = %(loser_id)s and not exists (
        select from directory_users kept
        where kept.project_id = moved.project_id and kept.connection_id = moved.connection_id
          and kept.customer_id = %(survivor_id)s)
""")
async def move_users(tx: Transaction, *, project_id: UUID, survivor_id: UUID, loser_id: UUID) -> None: ...
