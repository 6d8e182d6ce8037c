"""SQL of contents of sends that are moved to the store of objects."""

from datetime import timedelta
from typing import Literal
from uuid import UUID

from postern.kernel.database.statements import Queries, Transaction, statement
from postern.kernel.values import Moment, Record


class ContentObject(Record):
    """A content that may be in the store, claimed by a worker."""

    project_id: UUID
    id: UUID
    """The id of the send."""
    state: Literal["WAITING", "STORED", "DELETED"]
    attempt: int


class ContentCandidate(Record):
    """A content that waits to be moved."""

    id: UUID
    octets: int
    """Its size, not compressed."""
    may_move: bool
    """Whether the send is settled and has no one-time secrets."""
    send_due_at: Moment | None


class ContentDocument(Record):
    """A content as it is stored: a JSON object."""

    id: UUID
    document: str


class ContentsState(Record):
    """What is known of the contents of all projects."""

    scanned_until: Moment | None = None
    """Until when contents were looked through."""
    marked_at: Moment | None = None
    """When the marker was written to the store."""


@statement("select scanned_until, marked_at from content_state where id = 1")
async def get_state(db: Queries) -> ContentsState | None: ...


@statement("""
    insert into content_state as s (id, scanned_until) values (1, %(until)s)
    on conflict (id) do update set scanned_until = greatest(s.scanned_until, excluded.scanned_until)
""")
async def set_scanned_until(tx: Transaction, *, until: Moment) -> None: ...


@statement("update content_state set scanned_until = %(until)s where id = 1")
async def reset_scanned_until(db: Queries, *, until: Moment) -> None: ...


@statement("""
    insert into content_state as s (id, marked_at) values (1, %(now)s)
    on conflict (id) do update set marked_at = coalesce(s.marked_at, excluded.marked_at)
""")
async def set_marked(db: Queries, *, now: Moment) -> None: ...


@statement("""
    /*single*/
    select oldest.id from projects p
    cross join lateral (
        select b.send_id as id from send_bodies b
        where b.project_id = p.id and b.send_id >= %(first_id)s order by b.send_id limit 1
    ) as oldest order by oldest.id limit 1
    /*end*/
    /*distributed select send_id as id from send_bodies where send_id >= %(first_id)s order by send_id limit 1 */
""")
async def oldest_content(db: Queries, *, first_id: UUID) -> UUID | None:
    """The id of the oldest send from `first_id` on whose content is stored; None if there is none."""


# The sends of a time span with a large content, whether or not they are settled. pg_column_size is the size as it is
# stored, compressed; it does not read the content.
@statement("""
    insert into content_objects (project_id, id, due_at)
    select b.project_id, b.send_id, %(now)s from projects p
    join send_bodies b on b.project_id = p.id
    where b.send_id >= %(first_id)s and b.send_id < %(end_id)s and b.object_octets is null
      and pg_column_size(b.body) >= %(octets)s
    on conflict (project_id, id) do nothing
""")
async def insert_objects(tx: Transaction, *, first_id: UUID, end_id: UUID, octets: int, now: Moment) -> bool: ...


# These contents, in any order. `waiting` are the statuses of sends that are not settled. `octets`: see `body_sizes`.
@statement("""
    select b.send_id as id, s.due_at as send_due_at,
           pg_column_size(case when pg_column_compression(b.body) is null then b.body else b.body || '{}' end)::int
               as octets,
           s.due_at is null and s.status <> all (%(waiting)s::text[]) and b.sealed is null
           and b.object_octets is null as may_move
    from send_bodies b join sends s on (s.project_id, s.id) = (b.project_id, b.send_id)
    where b.project_id = %(project_id)s and b.send_id = any (%(ids)s)
""")
async def candidates(
    db: Queries, *, project_id: UUID, ids: list[UUID], waiting: list[str]
) -> list[ContentCandidate]: ...


@statement("""
    select send_id as id, body::text as document from send_bodies
    where project_id = %(project_id)s and send_id = any (%(ids)s) and sealed is null and object_octets is null
""")
async def documents(db: Queries, *, project_id: UUID, ids: list[UUID]) -> list[ContentDocument]: ...


# Lock the contents that are still as they were when a worker claimed them, in these attempts. This waits for no lock,
# so that there are no deadlocks: what is locked is moved another time.
@statement("""
    select o.id from content_objects o
    join unnest(%(ids)s::uuid[], %(attempts)s::int[]) as v (id, attempt) on (v.id, v.attempt) = (o.id, o.attempt)
    join send_bodies b on (b.project_id, b.send_id) = (o.project_id, o.id)
    join sends s on (s.project_id, s.id) = (o.project_id, o.id)
    where o.project_id = %(project_id)s and o.state = 'WAITING' and s.due_at is null
      and s.status <> all (%(waiting)s::text[]) and b.sealed is null and b.object_octets is null
    order by o.id for update of o, b, s skip locked
""")
async def lock_to_move(
    tx: Transaction, *, project_id: UUID, ids: list[UUID], attempts: list[int], waiting: list[str]
) -> list[UUID]: ...


# What the log shows of a content, and what delivers it, stays in the row: the options, the subject, the addresses.
@statement("""
    update send_bodies b set object_octets = v.octets,
        body = b.body - array['html', 'text', 'attachments', 'variables', 'headers']
    from unnest(%(ids)s::uuid[], %(octets)s::int[]) as v (id, octets)
    where b.project_id = %(project_id)s and b.send_id = v.id
""")
async def replace_contents(tx: Transaction, *, project_id: UUID, ids: list[UUID], octets: list[int]) -> None:
    """Replace the contents of sends by the sizes of their objects. Lock them before."""


@statement("""
    update content_objects set state = 'STORED', due_at = null
    where project_id = %(project_id)s and id = any (%(ids)s)
""")
async def mark_stored(tx: Transaction, *, project_id: UUID, ids: list[UUID]) -> None: ...


@statement("""
    select object_octets from send_bodies
    where project_id = %(project_id)s and send_id = %(send_id)s and object_octets is not null
""")
async def object_octets(db: Queries, *, project_id: UUID, send_id: UUID) -> int | None:
    """The size of the object with the content of a send; None if the content is in the database, or nowhere."""


@statement("""
    update send_bodies set body = %(document)s::text::jsonb, object_octets = null
    where project_id = %(project_id)s and send_id = %(send_id)s and object_octets is not null
""")
async def restore_content(tx: Transaction, *, project_id: UUID, send_id: UUID, document: str) -> bool: ...


@statement("""
    update content_objects set state = 'WAITING', attempt = attempt + 1, due_at = %(due_at)s
    where project_id = %(project_id)s and id = %(id)s and state = 'STORED'
""")
async def move_again(tx: Transaction, *, project_id: UUID, id: UUID, due_at: Moment) -> None: ...


# In the attempt of this worker. Waits for no lock: what is locked becomes due again when the lease ends.
@statement("""
    with locked as materialized (
        select o.project_id, o.id, v.due_at from content_objects o
        join unnest(%(ids)s::uuid[], %(attempts)s::int[], %(due_at)s::timestamptz[]) as v (id, attempt, due_at)
          on (o.id, o.attempt) = (v.id, v.attempt)
        where o.project_id = %(project_id)s order by o.id for update of o skip locked
    )
    update content_objects as o set due_at = locked.due_at from locked
    where o.project_id = %(project_id)s and (o.project_id, o.id) = (locked.project_id, locked.id)
""")
async def postpone_objects(
    db: Queries, *, project_id: UUID, ids: list[UUID], attempts: list[int], due_at: list[Moment]
) -> None: ...


@statement("""
    update content_objects set state = 'DELETED', due_at = now() + %(delay)s::interval
    where project_id = %(project_id)s and id = %(id)s and attempt = %(attempt)s and state = 'WAITING'
""")
async def mark_deleted(db: Queries, *, project_id: UUID, id: UUID, attempt: int, delay: timedelta) -> None: ...


@statement("""
    delete from content_objects where project_id = %(project_id)s and id = any (%(ids)s) and state = 'DELETED'
""")
async def forget_objects(db: Queries, *, project_id: UUID, ids: list[UUID]) -> None:
    """Delete the rows of objects that are deleted."""


@statement("select id from content_objects where project_id = %(project_id)s and id = any (%(ids)s)")
async def known_objects(db: Queries, *, project_id: UUID, ids: list[UUID]) -> list[UUID]: ...
