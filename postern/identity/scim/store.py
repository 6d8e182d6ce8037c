"""SQL of directory connections, their tokens and refused requests."""

from typing import LiteralString
from uuid import UUID

from postern.identity.scim.model import ConnectionRecord, DirectoryError, TokenRow
from postern.kernel.database.statements import Queries, Transaction, statement
from postern.kernel.values import Moment, Record


class ConnectionCounts(Record):
    """Numbers of a connection."""

    user_count: int
    active_user_count: int
    group_count: int


class AuthenticatedToken(ConnectionRecord):
    """A connection, and the token that was used."""

    token_id: UUID
    token_used_at: Moment | None
    organization_status: str


@statement("insert into directory_connections {row}")
async def insert_connection(tx: Transaction, connection: ConnectionRecord) -> None: ...


@statement("""
    select count(*)::int from directory_connections
    where project_id = %(project_id)s and organization_id = %(organization_id)s and status <> 'DELETED'
""")
async def count_connections(db: Queries, *, project_id: UUID, organization_id: UUID) -> int: ...


# Connections of an organization, newest first; with `id`, only that one.
@statement("""
    select * from directory_connections
    where project_id = %(project_id)s and organization_id = %(organization_id)s and status <> 'DELETED'
      and (%(id)s::uuid is null or id = %(id)s) and (%(before)s::uuid is null or id < %(before)s)
    order by id desc limit %(limit)s
""")
async def list_connections(
    db: Queries, *, project_id: UUID, organization_id: UUID, id: UUID | None, before: UUID | None, limit: int
) -> list[ConnectionRecord]: ...


# Lock a connection for update. Returns None if it is deleted.
@statement("""
    select * from directory_connections
    where project_id = %(project_id)s and organization_id = %(organization_id)s and id = %(id)s
      and status <> 'DELETED' for update
""")
async def lock_connection(
    tx: Transaction, *, project_id: UUID, organization_id: UUID, id: UUID
) -> ConnectionRecord | None: ...


# Lock a connection, so that its settings cannot change: whoever changes them locks it for update. Numbers and progress
# can change, and the row is locked for them as the last one, after customers and members.
@statement("""
    select * from directory_connections where project_id = %(project_id)s and id = %(id)s for key share
""")
async def lock_connection_shared(tx: Transaction, *, project_id: UUID, id: UUID) -> ConnectionRecord | None: ...


# If the roles have changed, `due_at` is now, and the roles of all users are computed anew, beginning with the first.
@statement("""
    update directory_connections set name = %(name)s, status = %(status)s, default_roles = %(default_roles)s,
        group_roles = %(group_roles)s, allow_other_domains = %(allow_other_domains)s,
        roles_through = %(roles_through)s, due_at = %(due_at)s, updated_at = %(now)s
    where project_id = %(project_id)s and id = %(id)s
""")
async def update_connection(tx: Transaction, connection: ConnectionRecord, *, now: Moment) -> None: ...


# Mark a connection as deleted; its rows in other tables are deleted by background work that is due now.
@statement("""
    update directory_connections set status = 'DELETED', due_at = %(now)s, updated_at = %(now)s
    where project_id = %(project_id)s and id = %(id)s
""")
async def mark_deleted(tx: Transaction, *, project_id: UUID, id: UUID, now: Moment) -> None: ...


@statement("delete from directory_connections where project_id = %(project_id)s and id = %(id)s and status = 'DELETED'")
async def delete_connection(db: Queries, *, project_id: UUID, id: UUID) -> None: ...


# Store the progress of background work, and when it continues (None: it is done). Returns False if another worker has
# claimed the connection since the claim `attempt`, or a change has begun the work anew.
@statement("""
    update directory_connections set roles_through = %(roles_through)s, due_at = %(due_at)s
    where project_id = %(project_id)s and id = %(id)s and attempt = %(attempt)s and updated_at = %(updated_at)s
""")
async def store_progress(
    db: Queries,
    *,
    project_id: UUID,
    id: UUID,
    attempt: int,
    updated_at: Moment,
    roles_through: UUID | None,
    due_at: Moment | None,
) -> bool: ...


# Compute the roles of all users of connections anew in the background. A worker that does so now loses its claim.
@statement("""
    update directory_connections set roles_through = null, due_at = %(now)s, attempt = attempt + 1
    where project_id = %(project_id)s and id = any (%(ids)s) and status <> 'DELETED'
""")
async def restart_roles(tx: Transaction, *, project_id: UUID, ids: list[UUID], now: Moment) -> None: ...


@statement("""
    update directory_connections set last_synced_at = %(now)s where project_id = %(project_id)s and id = %(id)s
""")
async def note_change(db: Queries, *, project_id: UUID, id: UUID, now: Moment) -> None:
    """Store the time of the last change by the directory."""


@statement("""
    update directory_connections set stored_user_count = stored_user_count + %(added)s,
        created_count = created_count + %(created)s
    where project_id = %(project_id)s and id = %(id)s
""")
async def add_to_user_count(tx: Transaction, *, project_id: UUID, id: UUID, added: int, created: int) -> None:
    """Add to the stored number of users, and to that of the customers that the directory has created."""


@statement("""
    select (select count(*)::int from directory_users
            where project_id = %(project_id)s and connection_id = %(id)s) as user_count,
           (select count(*)::int from directory_users
            where project_id = %(project_id)s and connection_id = %(id)s and active) as active_user_count,
           (select count(*)::int from directory_groups
            where project_id = %(project_id)s and connection_id = %(id)s) as group_count
""")
async def counts(db: Queries, *, project_id: UUID, id: UUID) -> ConnectionCounts: ...


# Tokens.


@statement("insert into directory_tokens {row}")
async def insert_token(tx: Transaction, token: TokenRow) -> None: ...


# The tokens of a connection that are valid, newest first.
@statement("""
    select * from directory_tokens
    where project_id = %(project_id)s and connection_id = %(connection_id)s
      and (expires_at is null or expires_at > %(now)s)
    order by id desc
""")
async def valid_tokens(db: Queries, *, project_id: UUID, connection_id: UUID, now: Moment) -> list[TokenRow]: ...


# End the tokens of a connection at `expires_at`, unless they end earlier.
@statement("""
    update directory_tokens set expires_at = %(expires_at)s
    where project_id = %(project_id)s and connection_id = %(connection_id)s
      and (expires_at is null or expires_at > %(expires_at)s)
""")
async def expire_tokens(tx: Transaction, *, project_id: UUID, connection_id: UUID, expires_at: Moment) -> None: ...


# Delete the tokens of a connection that have ended, and all but the newest `kept` ones.
@statement("""
    delete from directory_tokens
    where project_id = %(project_id)s and connection_id = %(connection_id)s and (
        expires_at <= %(now)s or id not in (
            select id from directory_tokens
            where project_id = %(project_id)s and connection_id = %(connection_id)s order by id desc limit %(kept)s))
""")
async def delete_old_tokens(
    tx: Transaction, *, project_id: UUID, connection_id: UUID, now: Moment, kept: int
) -> None: ...


HAS_DIRECTORIES: LiteralString = "exists (select from directory_connections where project_id = any (%(project_id)s))"
"""Whether one of the projects has a directory connection."""


# The connection `id` of a token that is valid now. The project is that of the token.
@statement("""
    select connection.*, token.id as token_id, token.last_used_at as token_used_at,
           organization.status as organization_status
    from directory_tokens token
    join directory_connections connection
      on connection.project_id = token.project_id and connection.id = token.connection_id
     and connection.status <> 'DELETED'
    join organizations organization
      on organization.project_id = connection.project_id and organization.id = connection.organization_id
     and organization.status <> 'DELETED'
    join projects project on project.id = connection.project_id and project.deleted_at is null
    where token.hash = %(hash)s and connection.id = %(id)s
      and (token.expires_at is null or token.expires_at > %(now)s)
""")
async def connection_of_token(db: Queries, *, hash: bytes, id: UUID, now: Moment) -> AuthenticatedToken | None: ...


@statement("update directory_tokens set last_used_at = %(now)s where project_id = %(project_id)s and id = %(id)s")
async def note_use(db: Queries, *, project_id: UUID, id: UUID, now: Moment) -> None:
    """Store the time of the last use of a token."""


# Refused requests.


# Insert a refused request, and delete those before the newest `kept` ones.
@statement("""
    with surplus as (
        delete from directory_errors where project_id = %(project_id)s and id in (
            select id from directory_errors
            where project_id = %(project_id)s and connection_id = %(connection_id)s
            order by id desc offset %(kept)s::int - 1)
    )
    insert into directory_errors (project_id, id, connection_id, method, path, status, scim_type, detail, occurred_at,
                                  due_at)
    values (%(project_id)s, %(id)s, %(connection_id)s, %(method)s, %(path)s, %(status)s, %(scim_type)s, %(detail)s,
            %(occurred_at)s, %(due_at)s)
""")
async def insert_error(
    db: Queries, error: DirectoryError, *, project_id: UUID, connection_id: UUID, kept: int, due_at: Moment
) -> None: ...


@statement("""
    delete from directory_errors where project_id = %(project_id)s and id = any (%(ids)s) and due_at is not null
""")
async def delete_expired_errors(db: Queries, *, project_id: UUID, ids: list[UUID]) -> None: ...


@statement("""
    select * from directory_errors
    where project_id = %(project_id)s and connection_id = %(connection_id)s order by id desc limit %(limit)s
""")
async def recent_errors(db: Queries, *, project_id: UUID, connection_id: UUID, limit: int) -> list[DirectoryError]: ...
