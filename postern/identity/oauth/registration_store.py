"""SQL of clients that have registered themselves (RFC 7591)."""

from datetime import timedelta
from uuid import UUID

from postern.kernel.database.statements import Queries, Transaction, statement
from postern.kernel.values import Moment


@statement("select count(*)::int from oauth_registrations where project_id = %(project_id)s")
async def count_registrations(db: Queries, *, project_id: UUID) -> int: ...


@statement("""
    insert into oauth_registrations (project_id, id, created_at, expires_at, due_at)
    values (%(project_id)s, %(id)s, %(now)s, %(expires_at)s, %(expires_at)s)
""")
async def insert_registration(
    tx: Transaction, *, project_id: UUID, id: UUID, expires_at: Moment, now: Moment
) -> None: ...


# Keep a client until `expires_at`. Changes nothing for clients that have not registered themselves, and if it is kept
# about as long already, so that not every sign-in writes the row.
@statement("""
    update oauth_registrations set expires_at = %(expires_at)s, due_at = %(expires_at)s
    where project_id = %(project_id)s and id = %(id)s and expires_at < %(renew_before)s
""")
async def keep_registration(
    tx: Transaction, *, project_id: UUID, id: UUID, expires_at: Moment, renew_before: Moment
) -> None: ...


# Lock clients, before their registrations, as every sign-in does.
@statement("""
    select id from oauth_clients where project_id = %(project_id)s and id = any (%(ids)s) order by id for update
""")
async def lock_clients(tx: Transaction, *, project_id: UUID, ids: list[UUID]) -> list[UUID]: ...


# Lock the registrations that have expired, so that no sign-in extends them any more. Their clients must be locked.
@statement("""
    select id from oauth_registrations
    where project_id = %(project_id)s and id = any (%(ids)s) and expires_at <= %(now)s
    for update
""")
async def lock_expired(tx: Transaction, *, project_id: UUID, ids: list[UUID], now: Moment) -> list[UUID]: ...


# The registration that was made first among those of unused clients from before `before`. A client that is used is kept
# for longer than `unused_life`.
@statement("""
    select id from oauth_registrations
    where project_id = %(project_id)s and created_at < %(before)s and expires_at <= created_at + %(unused_life)s
    order by created_at, id limit 1
""")
async def first_unused(db: Queries, *, project_id: UUID, before: Moment, unused_life: timedelta) -> UUID | None: ...


# The same, of clients whose id is the URL of a document.
@statement("""
    select registration.id from oauth_registrations registration
    join oauth_clients client on client.project_id = registration.project_id and client.id = registration.id
    where registration.project_id = %(project_id)s and registration.created_at < %(before)s
      and registration.expires_at <= registration.created_at + %(unused_life)s and client.metadata_url is not null
    order by registration.created_at, registration.id limit 1
""")
async def first_unused_document(
    db: Queries, *, project_id: UUID, before: Moment, unused_life: timedelta
) -> UUID | None: ...


# Whether a client, which must be locked, is still unused.
@statement("""
    select exists (select from oauth_registrations
                   where project_id = %(project_id)s and id = %(id)s and expires_at <= created_at + %(unused_life)s)
""")
async def is_unused(db: Queries, *, project_id: UUID, id: UUID, unused_life: timedelta) -> bool: ...
