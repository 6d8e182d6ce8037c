"""SQL of contents of sends that are moved to the store of objects."""

from uuid import UUID

from postern.kernel.database.statements import Queries, Transaction, statement
from postern.kernel.values import Moment
from postern.messaging.content_store.model import ContentCandidate, ContentDocument


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
    insert into content_objects (project_id, id, kind, due_at)
    select b.project_id, b.send_id, 'emails', %(now)s from projects p join send_bodies b on b.project_id = p.id
    where b.send_id >= %(first_id)s and b.send_id < %(end_id)s and b.object_octets is null
      and pg_column_size(b.body) >= %(octets)s
    on conflict (project_id, id) do nothing
""")
async def insert_objects(tx: Transaction, *, first_id: UUID, end_id: UUID, octets: int, now: Moment) -> bool: ...


# These contents, in any order. `waiting` are the statuses of sends that are not settled. `octets`: see `body_sizes`.
@statement("""
    select b.send_id as id, s.due_at,
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
    select send_id as id, convert_to(body::text, 'UTF8') as document from send_bodies
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
