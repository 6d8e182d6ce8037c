"""SQL of sessions. Rows of developers have the project_id NO_ID."""

from typing import Any
from uuid import UUID

from psycopg.sql import Composable

from postern.kernel.database.statements import Jsonb, Queries, Transaction, statement
from postern.kernel.values import Moment, Record


class SessionImpersonation(Record):
    """Who acts as the subject of a session."""

    actor_type: str
    actor_id: UUID | None
    actor_label: str | None
    """The e-mail address of a developer, or the name of an API key or of the person who uses it."""
    reason: str


class SessionRow(Record):
    """The stored row of a session."""

    project_id: UUID
    id: UUID
    subject_id: UUID
    generation: int
    """Number of the current refresh token; the first is 1."""
    rotated_at: Moment | None
    """When the session was last refreshed."""
    methods: list[str]
    """Authentication methods, as `amr` values (RFC 8176)."""
    authenticated_at: Moment
    user_agent: str
    ip_address: str
    created_at: Moment
    last_used_at: Moment
    expires_at: Moment
    """When the session ends at the latest, even if it is refreshed."""
    idle_expires_at: Moment
    """When the session ends if it is not refreshed, not after `expires_at`: the `expiresAt` of the API."""
    revoked_at: Moment | None
    access_expires_at: Moment | None
    """Expiry of the current access token; None if access tokens are signed, and not stored."""
    sso_organization_id: UUID | None
    """The organization with whose single sign-on the session was started; None for other sign-in methods."""
    organization_id: UUID | None
    """The active organization of a customer's session; the customer may have left it since. None without one."""
    test: bool
    """Whether the session began with a TEST key: mail that results from its requests is captured."""
    impersonation: SessionImpersonation | None
    """Who acts as the subject; None if it is the subject."""

    def is_live(self, now: Moment) -> bool:
        """Whether the session is neither revoked nor expired."""
        return self.revoked_at is None and min(self.expires_at, self.idle_expires_at) > now


class RefreshedSession(SessionRow):
    """A session that was refreshed, with the data of its subject for the new tokens."""

    subject: Any
    """The result of the SQL in `SessionPolicy.subject`; None if the subject may not sign in."""


class BatchedRefresh(RefreshedSession):
    """The result of one request of a batch: the refreshed session, or the unchanged one if the refresh was refused."""

    organization_refused: bool
    """Whether the refresh was refused, because the subject may not make the requested organization active."""


class BegunSession(RefreshedSession):
    """A new session, and whether the subject has had a session before: with the same user agent, and with any user
    agent. TEST sessions and others are looked at separately."""

    has_user_agent: bool
    has_sessions: bool


# Insert a session, with the active organization `first_organization`. If the subject then has more than `limit` active
# sessions, revokes the oldest; sessions that began with a TEST key are counted separately. The caller must have locked
# the subject's row, so that concurrent sign-ins cannot exceed the limit. Deletes the failed attempts of `identifier`
# from `network` and any lock.
@statement("""
    with history as materialized (
        select exists (select from sessions where project_id = %(project_id)s and subject_id = %(subject_id)s
                       and impersonation is null and test = %(test)s and user_agent = %(user_agent)s)
                   as has_user_agent,
               exists (select from sessions where project_id = %(project_id)s and impersonation is null
                       and test = %(test)s and subject_id = %(subject_id)s) as has_sessions
    ), surplus as (
        update sessions set revoked_at = %(now)s
        where project_id = %(project_id)s and subject_id = %(subject_id)s and revoked_at is null and id in (
            select id from sessions where project_id = %(project_id)s and subject_id = %(subject_id)s
              and revoked_at is null and test = %(test)s order by id desc offset %(limit)s::int - 1)
    ), cleared as (
        delete from sign_in_attempts
        where project_id = %(project_id)s and identifier = %(identifier)s and ip_address = %(network)s
    ), inserted as (
        insert into sessions (project_id, id, subject_id, methods, authenticated_at, user_agent, ip_address, created_at,
                              last_used_at, expires_at, idle_expires_at, due_at, sso_organization_id, access_hash,
                              access_expires_at, test, impersonation, organization_id)
        select %(project_id)s::uuid, %(id)s::uuid, %(subject_id)s::uuid, %(methods)s::text[], %(now)s::timestamptz,
               %(user_agent)s, %(ip_address)s, %(now)s::timestamptz, %(now)s::timestamptz, %(expires_at)s::timestamptz,
               least(%(idle_expires_at)s::timestamptz, %(expires_at)s), %(expires_at)s::timestamptz,
               %(sso_organization_id)s::uuid, %(access_hash)s::bytea, %(access_expires_at)s::timestamptz,
               %(test)s::boolean, %(impersonation)s::jsonb, ({first_organization})::uuid
        from (select %(project_id)s::uuid as project_id, %(id)s::uuid as id, %(subject_id)s::uuid as subject_id,
                     %(sso_organization_id)s::uuid as sso_organization_id) as s
        returning *
    )
    select s.*, {subject} as subject, history.has_user_agent, history.has_sessions
    from inserted s cross join history
    cross join lateral (select s.organization_id) as active (organization_id)
""")
async def insert_session(
    tx: Transaction,
    *,
    project_id: UUID,
    id: UUID,
    subject_id: UUID,
    methods: list[str],
    user_agent: str,
    ip_address: str,
    now: Moment,
    expires_at: Moment,
    idle_expires_at: Moment,
    sso_organization_id: UUID | None,
    access_hash: bytes | None,
    access_expires_at: Moment | None,
    test: bool,
    impersonation: Jsonb | None,
    limit: int,
    identifier: bytes | None,
    network: str | None,
    first_organization: Composable,
    subject: Composable,
) -> BegunSession: ...


# Refresh the sessions of a batch of requests, given as parallel lists, in one statement. Where `switches` is true, the
# session's active organization becomes `organization_id`. Returns no row for a request that must be refused: its
# session has ended, `generation` is not the current one, or the subject may not sign in. If the subject may not make
# the organization active, the session is returned unchanged. A batch has each session at most once.
# Rows are locked in the order of their keys, so that batches of two processes cannot deadlock.
@statement("""
    with refreshable as materialized (
        select s.project_id, s.id, requested.access_hash, active.organization_id, {subject} as subject,
               requested.switches and active.organization_id is not null and not {may_activate} as organization_refused
        from unnest(%(project_id)s::uuid[], %(id)s::uuid[], %(generation)s::int[], %(access_hash)s::bytea[],
                    %(switches)s::bool[], %(organization_id)s::uuid[])
            as requested (project_id, id, generation, access_hash, switches, organization_id)
        join sessions s
          on s.project_id = requested.project_id and s.id = requested.id and s.generation = requested.generation
        cross join lateral (
            select case when requested.switches then requested.organization_id else s.organization_id end
        ) as active (organization_id)
        where s.revoked_at is null and s.expires_at > %(now)s and s.idle_expires_at > %(now)s
          /*distributed and s.project_id = any (%(project_id)s) */
        order by s.project_id, s.id for update of s
    ), renewed as (
        update sessions s set generation = s.generation + 1, rotated_at = %(now)s, last_used_at = %(now)s,
            idle_expires_at = least(%(idle_expires_at)s, s.expires_at), access_hash = refreshable.access_hash,
            access_expires_at = %(access_expires_at)s, organization_id = refreshable.organization_id
        from refreshable where s.project_id = refreshable.project_id and s.id = refreshable.id
          and refreshable.subject is not null and not refreshable.organization_refused
          /*distributed and s.project_id = any (%(project_id)s) */
        returning s.*, refreshable.subject, false as organization_refused
    )
    select renewed.*, renewed.subject, renewed.organization_refused from renewed
    union all
    select s.*, refreshable.subject, true from refreshable
    join sessions s on s.project_id = refreshable.project_id and s.id = refreshable.id
    where refreshable.subject is not null and refreshable.organization_refused
      /*distributed and s.project_id = any (%(project_id)s) */
""")
async def refresh_all(
    db: Queries,
    *,
    project_id: list[UUID],
    id: list[UUID],
    generation: list[int],
    access_hash: list[bytes | None],
    switches: list[bool],
    organization_id: list[UUID | None],
    access_expires_at: Moment | None,
    now: Moment,
    idle_expires_at: Moment,
    subject: Composable,
    may_activate: Composable,
) -> list[BatchedRefresh]: ...


# Let the previous refresh token of a session be exchanged again until the current one is, or the session ends, as if
# it had been exchanged in future. The current one stays valid: a concurrent request may have returned it.
@statement("""
    update sessions set rotated_at = idle_expires_at
    where project_id = %(project_id)s and id = %(id)s and generation = %(generation)s
""")
async def keep_previous_token(db: Queries, *, project_id: UUID, id: UUID, generation: int) -> None:
    """Keep the refresh token valid that a client has sent, because it has got no new one."""


# Return a live session whose previous refresh token has the number `generation` and was exchanged after `since`.
@statement("""
    select s.*, {subject} as subject from sessions s
    cross join lateral (select s.organization_id) as active (organization_id)
    where s.project_id = %(project_id)s and s.id = %(id)s and s.revoked_at is null and s.expires_at > %(now)s
      and s.idle_expires_at > %(now)s and s.generation = %(generation)s + 1 and s.rotated_at >= %(since)s
""")
async def recently_refreshed(
    db: Queries, *, project_id: UUID, id: UUID, generation: int, now: Moment, since: Moment, subject: Composable
) -> RefreshedSession | None: ...


# Set the active organization of a session that `recently_refreshed` would return, and return the session. Returns None
# if there is no such session, or its subject may not make the organization active.
@statement("""
    with changed as (
        update sessions s set organization_id = active.organization_id
        from (select %(organization_id)s::uuid) as active (organization_id)
        where s.project_id = %(project_id)s and s.id = %(id)s and s.revoked_at is null and s.expires_at > %(now)s
          and s.idle_expires_at > %(now)s and s.generation = %(generation)s + 1 and s.rotated_at >= %(since)s
          and (active.organization_id is null or {may_activate})
        returning s.*
    )
    select s.*, {subject} as subject from changed s
    cross join lateral (select s.organization_id) as active (organization_id)
""")
async def switch_recently_refreshed(
    db: Queries,
    *,
    project_id: UUID,
    id: UUID,
    generation: int,
    now: Moment,
    since: Moment,
    organization_id: UUID | None,
    subject: Composable,
    may_activate: Composable,
) -> RefreshedSession | None: ...


# Choose the active organization of a new session again, and return the session with the data of its subject; the
# subject may sign in.
@statement("""
    with chosen as materialized (
        select s.project_id, s.id, ({first_organization})::uuid as organization_id
        from sessions s where s.project_id = %(project_id)s and s.id = %(id)s
    ), changed as (
        update sessions s set organization_id = chosen.organization_id, last_used_at = %(now)s from chosen
        where s.project_id = chosen.project_id and s.id = chosen.id /*distributed and s.project_id = %(project_id)s */
        returning s.*
    )
    select s.*, {subject} as subject from changed s
    cross join lateral (select s.organization_id) as active (organization_id)
""")
async def set_first_organization(
    tx: Transaction, *, project_id: UUID, id: UUID, now: Moment, first_organization: Composable, subject: Composable
) -> RefreshedSession: ...


# Return a session, even if it has ended, and lock its row (for update).
@statement("select * from sessions where project_id = %(project_id)s and id = %(id)s for update")
async def lock_session(tx: Transaction, *, project_id: UUID, id: UUID) -> SessionRow | None: ...


@statement("select * from sessions where project_id = %(project_id)s and id = %(id)s")
async def session(db: Queries, *, project_id: UUID, id: UUID) -> SessionRow | None:
    """A session, even if it has ended."""


# Return the live sessions (neither revoked nor expired) of the subjects, newest first.
@statement("""
    select * from sessions
    where project_id = %(project_id)s and subject_id = any (%(subject_ids)s) and revoked_at is null
      and expires_at > %(now)s and idle_expires_at > %(now)s
    order by id desc limit %(limit)s
""")
async def live_sessions(
    db: Queries, *, project_id: UUID, subject_ids: list[UUID], now: Moment, limit: int
) -> list[SessionRow]: ...


# Return the sessions of a subject, also ended ones, newest first; with `before` and `before_id` (the creation time and
# id of the last session of the previous part), those that follow.
@statement("""
    select * from sessions where project_id = %(project_id)s and subject_id = %(subject_id)s
      and (%(before)s::timestamptz is null or (created_at, id) < (%(before)s, %(before_id)s::uuid))
    order by created_at desc, id desc limit %(limit)s
""")
async def sessions_of(
    db: Queries, *, project_id: UUID, subject_id: UUID, before: Moment | None, before_id: UUID | None, limit: int
) -> list[SessionRow]: ...


# Record that the subject of a live session, whose row is locked, has authenticated again: with `methods`, all of the
# session together. Returns the session with the data of its subject.
@statement("""
    with changed as (
        update sessions s set methods = %(methods)s::text[], authenticated_at = %(now)s, last_used_at = %(now)s
        where s.project_id = %(project_id)s and s.id = %(id)s
        returning s.*
    )
    select s.*, {subject} as subject from changed s
    cross join lateral (select s.organization_id) as active (organization_id)
""")
async def reauthenticate(
    tx: Transaction, *, project_id: UUID, id: UUID, methods: list[str], now: Moment, subject: Composable
) -> RefreshedSession: ...


# Mark a session as if it had begun with a TEST key.
@statement("update sessions set test = true where project_id = %(project_id)s and id = %(id)s")
async def mark_test(tx: Transaction, *, project_id: UUID, id: UUID) -> None: ...


# End a session. Returns False if the subject has no such session, or it was revoked already.
@statement("""
    update sessions set revoked_at = %(now)s
    where project_id = %(project_id)s and subject_id = %(subject_id)s and id = %(id)s and revoked_at is null
""")
async def revoke_session(db: Queries, *, project_id: UUID, subject_id: UUID, id: UUID, now: Moment) -> bool: ...


# End all sessions of a subject except the session `except_id`. Returns the ids of the ended ones.
@statement("""
    update sessions set revoked_at = %(now)s
    where project_id = %(project_id)s and subject_id = %(subject_id)s and revoked_at is null
      and (%(except_id)s::uuid is null or id <> %(except_id)s)
    returning id
""")
async def revoke_all(
    tx: Transaction, *, project_id: UUID, subject_id: UUID, except_id: UUID | None, now: Moment
) -> list[UUID]: ...


# Let a session end earlier: at `expires_at` at the latest, and at `idle_expires_at` if it is not refreshed.
@statement("""
    update sessions set expires_at = least(expires_at, %(expires_at)s::timestamptz),
        idle_expires_at = least(idle_expires_at, expires_at, %(expires_at)s::timestamptz,
                                %(idle_expires_at)s::timestamptz)
    where project_id = %(project_id)s and id = %(id)s
    returning *
""")
async def shorten(
    db: Queries, *, project_id: UUID, id: UUID, expires_at: Moment | None, idle_expires_at: Moment | None
) -> SessionRow | None: ...


# Keep a live session from ending by idleness. Returns False if it has ended.
@statement("""
    update sessions set last_used_at = %(now)s, idle_expires_at = least(%(idle_expires_at)s, expires_at)
    where project_id = %(project_id)s and id = %(id)s and revoked_at is null and expires_at > %(now)s
      and idle_expires_at > %(now)s
""")
async def renew(db: Queries, *, project_id: UUID, id: UUID, idle_expires_at: Moment, now: Moment) -> bool: ...


# End the sessions of a subject that are for an organization: it is the active one, or the session began with its single
# sign-on. Returns the ids of the ended ones.
@statement("""
    update sessions set revoked_at = %(now)s
    where project_id = %(project_id)s and subject_id = %(subject_id)s and revoked_at is null
      and (organization_id = %(organization_id)s or sso_organization_id = %(organization_id)s)
    returning id
""")
async def revoke_for_organization(
    tx: Transaction, *, project_id: UUID, subject_id: UUID, organization_id: UUID, now: Moment
) -> list[UUID]: ...


@statement("""
    update sessions set methods = array_append(methods, %(method)s::text)
    where project_id = %(project_id)s and id = %(id)s
""")
async def add_method(tx: Transaction, *, project_id: UUID, id: UUID, method: str) -> None:
    """Add an authentication method to a session."""


# Delete the sessions with these ids that have expired. Returns those that nobody has ended before and in which somebody
# acted as the subject.
@statement("""
    with deleted as (
        delete from sessions where project_id = %(project_id)s and id = any (%(ids)s) and expires_at <= %(now)s
        returning *
    )
    select * from deleted where impersonation is not null and revoked_at is null
""")
async def delete_expired(tx: Transaction, *, project_id: UUID, ids: list[UUID], now: Moment) -> list[SessionRow]: ...
