"""SQL of the groups of directories and their members."""

from uuid import UUID

from psycopg.sql import Composable

from postern.identity.scim.model import GroupRow
from postern.identity.scim.user_store import UserId
from postern.kernel.database.statements import Queries, Transaction, statement
from postern.kernel.values import Moment, Record


class GroupMember(Record):
    """A member of a group."""

    group_id: UUID
    id: UUID


class GroupSize(Record):
    """How many members a group has."""

    group_id: UUID
    member_count: int


# Insert a group. Returns None if another group of the connection has the name or the external id.
@statement("insert into directory_groups {row} on conflict do nothing returning id")
async def insert_group(tx: Transaction, group: GroupRow) -> UserId | None: ...


@statement("""
    select * from directory_groups
    where project_id = %(project_id)s and connection_id = %(connection_id)s and id = %(id)s
""")
async def get_group(db: Queries, *, project_id: UUID, connection_id: UUID, id: UUID) -> GroupRow | None: ...


# Lock a group. Not for update: a merge of customers that adds a member to the group need not wait.
@statement("""
    select * from directory_groups
    where project_id = %(project_id)s and connection_id = %(connection_id)s and id = %(id)s
    for no key update
""")
async def lock_group(tx: Transaction, *, project_id: UUID, connection_id: UUID, id: UUID) -> GroupRow | None: ...


@statement("""
    update directory_groups set external_id = %(external_id)s, display_name = %(display_name)s,
        display_name_key = %(display_name_key)s, version = version + 1, updated_at = %(now)s
    where project_id = %(project_id)s and id = %(id)s
    returning *
""")
async def update_group(tx: Transaction, group: GroupRow, *, now: Moment) -> GroupRow: ...


# The id of another group with the name or the external id.
@statement("""
    select id from directory_groups
    where project_id = %(project_id)s and connection_id = %(connection_id)s
      and (display_name_key = %(display_name_key)s or external_id = %(external_id)s)
      and (%(except_id)s::uuid is null or id <> %(except_id)s)
    limit 1
""")
async def other_group(
    db: Queries,
    *,
    project_id: UUID,
    connection_id: UUID,
    display_name_key: str,
    external_id: str | None,
    except_id: UUID | None,
) -> UserId | None: ...


@statement("delete from directory_groups where project_id = %(project_id)s and id = %(id)s")
async def delete_group(tx: Transaction, *, project_id: UUID, id: UUID) -> None: ...


@statement("""
    select count(*)::int from directory_groups
    where project_id = %(project_id)s and connection_id = %(connection_id)s
""")
async def count_groups(db: Queries, *, project_id: UUID, connection_id: UUID) -> int: ...


@statement("""
    select count(*)::int from directory_groups g
    where g.project_id = %(project_id)s and g.connection_id = %(connection_id)s and {where}
""")
async def count_matching(db: Queries, *, project_id: UUID, connection_id: UUID, where: Composable) -> int: ...


@statement("""
    select * from directory_groups g
    where g.project_id = %(project_id)s and g.connection_id = %(connection_id)s and {where}
    order by g.id limit %(limit)s offset %(offset)s
""")
async def list_groups(
    db: Queries, *, project_id: UUID, connection_id: UUID, where: Composable, limit: int, offset: int
) -> list[GroupRow]: ...


# Groups of a connection, newest first.
@statement("""
    select * from directory_groups
    where project_id = %(project_id)s and connection_id = %(connection_id)s
      and (%(before)s::uuid is null or id < %(before)s)
    order by id desc limit %(limit)s
""")
async def newest_groups(
    db: Queries, *, project_id: UUID, connection_id: UUID, before: UUID | None, limit: int
) -> list[GroupRow]: ...


# Members.


# Add the users among `user_ids` that belong to the connection. Returns the ids of those that were not members.
@statement("""
    insert into directory_group_members (project_id, group_id, user_id, added_at)
    select project_id, %(group_id)s, id, %(now)s from directory_users
    where project_id = %(project_id)s and connection_id = %(connection_id)s and id = any (%(user_ids)s)
    on conflict do nothing returning user_id as id
""")
async def add_members(
    tx: Transaction, *, project_id: UUID, connection_id: UUID, group_id: UUID, user_ids: list[UUID], now: Moment
) -> list[UserId]: ...


# Those of the users that belong to the connection.
@statement("""
    select id from directory_users
    where project_id = %(project_id)s and connection_id = %(connection_id)s and id = any (%(user_ids)s)
""")
async def users_of_connection(
    tx: Transaction, *, project_id: UUID, connection_id: UUID, user_ids: list[UUID]
) -> list[UserId]: ...


# Remove members. Returns the ids of those that were members.
@statement("""
    delete from directory_group_members
    where project_id = %(project_id)s and group_id = %(group_id)s and user_id = any (%(user_ids)s)
    returning user_id as id
""")
async def remove_members(
    tx: Transaction, *, project_id: UUID, group_id: UUID, user_ids: list[UUID]
) -> list[UserId]: ...


# Remove all members except these. Returns the ids of the removed ones.
@statement("""
    delete from directory_group_members
    where project_id = %(project_id)s and group_id = %(group_id)s and not (user_id = any (%(kept_ids)s))
    returning user_id as id
""")
async def remove_other_members(
    tx: Transaction, *, project_id: UUID, group_id: UUID, kept_ids: list[UUID]
) -> list[UserId]: ...


@statement("""
    select group_id, count(*)::int as member_count from directory_group_members
    where project_id = %(project_id)s and group_id = any (%(group_ids)s) group by group_id
""")
async def sizes(db: Queries, *, project_id: UUID, group_ids: list[UUID]) -> list[GroupSize]: ...


@statement("""
    select user_id as id from directory_group_members
    where project_id = %(project_id)s and group_id = %(group_id)s
""")
async def member_ids(db: Queries, *, project_id: UUID, group_id: UUID) -> list[UserId]: ...


# The members of groups, up to `limit`.
@statement("""
    select group_id, user_id as id from directory_group_members
    where project_id = %(project_id)s and group_id = any (%(group_ids)s)
    order by group_id, user_id limit %(limit)s
""")
async def members_of(db: Queries, *, project_id: UUID, group_ids: list[UUID], limit: int) -> list[GroupMember]: ...
