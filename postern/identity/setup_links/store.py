"""SQL of setup links."""

from uuid import UUID

from postern.identity.setup_links.model import Provider, SetupLinkRow
from postern.kernel.database.statements import Queries, Transaction, statement
from postern.kernel.values import Moment


@statement("insert into setup_links {row}")
async def insert_link(tx: Transaction, link: SetupLinkRow) -> None: ...


@statement("""
    select * from setup_links
    where project_id = %(project_id)s and organization_id = %(organization_id)s
      and (%(before)s::uuid is null or id < %(before)s)
    order by id desc limit %(limit)s
""")
async def list_links(
    db: Queries, *, project_id: UUID, organization_id: UUID, before: UUID | None, limit: int
) -> list[SetupLinkRow]: ...


@statement("select * from setup_links where project_id = %(project_id)s and id = %(id)s")
async def get_link(db: Queries, *, project_id: UUID, id: UUID) -> SetupLinkRow | None: ...


# Lock a link for update.
@statement("select * from setup_links where project_id = %(project_id)s and id = %(id)s for update")
async def lock_link(tx: Transaction, *, project_id: UUID, id: UUID) -> SetupLinkRow | None: ...


# The number of links that are neither completed, revoked nor expired, without those of sessions that have ended.
@statement("""
    select count(*)::int from setup_links link
    where link.project_id = %(project_id)s and link.organization_id = %(organization_id)s
      and link.completed_at is null and link.revoked_at is null and link.expires_at > %(now)s
      and (link.session_id is null or exists (
        select from sessions s
        where s.project_id = %(project_id)s and s.id = link.session_id and s.revoked_at is null
          and s.expires_at > %(now)s and s.idle_expires_at > %(now)s))
""")
async def count_open_links(db: Queries, *, project_id: UUID, organization_id: UUID, now: Moment) -> int: ...


# Delete the links of an organization that have expired before a time.
@statement("""
    delete from setup_links
    where project_id = %(project_id)s and organization_id = %(organization_id)s and expires_at < %(expired_before)s
""")
async def delete_old_links(
    tx: Transaction, *, project_id: UUID, organization_id: UUID, expired_before: Moment
) -> None: ...


@statement("""
    update setup_links set browser_hash = %(browser_hash)s, opened_at = %(now)s, last_used_at = %(now)s
    where project_id = %(project_id)s and id = %(id)s
""")
async def mark_opened(tx: Transaction, *, project_id: UUID, id: UUID, browser_hash: bytes, now: Moment) -> None: ...


@statement("update setup_links set last_used_at = %(now)s where project_id = %(project_id)s and id = %(id)s")
async def note_use(db: Queries, *, project_id: UUID, id: UUID, now: Moment) -> None: ...


@statement("""
    update setup_links set revoked_at = %(now)s where project_id = %(project_id)s and id = %(id)s returning *
""")
async def mark_revoked(tx: Transaction, *, project_id: UUID, id: UUID, now: Moment) -> SetupLinkRow: ...


# The newest link of a session that is neither completed, revoked nor expired.
@statement("""
    select * from setup_links
    where project_id = %(project_id)s and organization_id = %(organization_id)s and session_id = %(session_id)s
      and completed_at is null and revoked_at is null and expires_at > %(now)s
    order by id desc limit 1
""")
async def open_link_of_session(
    db: Queries, *, project_id: UUID, organization_id: UUID, session_id: UUID, now: Moment
) -> SetupLinkRow | None: ...


# Revoke the open links of a session. Returns them.
@statement("""
    update setup_links set revoked_at = %(now)s
    where project_id = %(project_id)s and organization_id = %(organization_id)s and session_id = %(session_id)s
      and completed_at is null and revoked_at is null and expires_at > %(now)s
    returning *
""")
async def revoke_links_of_session(
    tx: Transaction, *, project_id: UUID, organization_id: UUID, session_id: UUID, now: Moment
) -> list[SetupLinkRow]: ...


@statement("update setup_links set completed_at = %(now)s where project_id = %(project_id)s and id = %(id)s")
async def mark_completed(tx: Transaction, *, project_id: UUID, id: UUID, now: Moment) -> None: ...


# Store the provider and the single sign-on connection of a link, unless another request has changed the connection,
# which then is not `previous_id`. Returns whether they were stored.
@statement("""
    update setup_links set provider = %(provider)s, sso_connection_id = %(connection_id)s
    where project_id = %(project_id)s and id = %(id)s and sso_connection_id is not distinct from %(previous_id)s
""")
async def set_sso_connection(
    db: Queries, *, project_id: UUID, id: UUID, provider: Provider, connection_id: UUID | None, previous_id: UUID | None
) -> bool: ...


# The same for the directory connection.
@statement("""
    update setup_links set directory_connection_id = %(connection_id)s
    where project_id = %(project_id)s and id = %(id)s and directory_connection_id is not distinct from %(previous_id)s
""")
async def set_directory_connection(
    db: Queries, *, project_id: UUID, id: UUID, connection_id: UUID | None, previous_id: UUID | None
) -> bool: ...


@statement("update setup_links set provider = %(provider)s where project_id = %(project_id)s and id = %(id)s")
async def set_provider(db: Queries, *, project_id: UUID, id: UUID, provider: Provider) -> None: ...
