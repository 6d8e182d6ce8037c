"""SQL of events."""

from uuid import UUID

from psycopg.sql import Composable

from postern.kernel.database.statements import Jsonb, Queries, Transaction, statement
from postern.kernel.values import Moment
from postern.platform.events.model import EventContact, EventRow, FirstEventSince, RecentEvents
from postern.platform.projects.archive import ArchivedRow


# Insert the events `rows` (a JSON array), which belong to the projects `project_id`. Returns the value of each of the
# `conditions` (comma-separated SQL, which may use `project_id`), in their order.
@statement("""
    with recorded as (
        insert into events (project_id, id, type, subject_id, actor_type, actor_id, actor_label, data, occurred_at,
                            test)
        select project_id, id, type, subject_id, actor_type, actor_id, actor_label, data, occurred_at, test
        from jsonb_to_recordset(%(rows)s) as event (
            project_id uuid, id uuid, type text, subject_id uuid, actor_type text, actor_id uuid, actor_label text,
            data jsonb, occurred_at timestamptz, test boolean)
        where project_id = any (%(project_id)s))
    select condition.holds from unnest(array[{conditions}]::boolean[]) with ordinality as condition (holds, position)
    order by condition.position
""")
async def insert_events(
    tx: Transaction, *, project_id: list[UUID], rows: Jsonb, conditions: Composable
) -> list[bool]: ...


@statement("insert into events {row}")
async def insert_event(tx: Transaction, event: EventRow) -> None: ...


# The value of each of the `conditions`, as of `insert_events`.
@statement("""
    select condition.holds from unnest(array[{conditions}]::boolean[]) with ordinality as condition (holds, position)
    where %(project_id)s::uuid[] is not null order by condition.position
""")
async def conditions_that_hold(tx: Transaction, *, project_id: list[UUID], conditions: Composable) -> list[bool]: ...


@statement("""
    select project_id, id, type, subject_id, actor_type, actor_id, actor_label, data, occurred_at, test from events
    where project_id = %(project_id)s and subject_id = %(subject_id)s
      and (%(before)s::uuid is null or id < %(before)s) and (%(types)s::text[] is null or type = any (%(types)s))
    order by id desc limit %(limit)s
""")
async def of_subject(
    db: Queries,
    *,
    project_id: UUID,
    subject_id: UUID,
    before: UUID | None,
    types: list[str] | None,
    limit: int,
) -> list[EventRow]: ...


@statement("""
    select project_id, id, type, subject_id, actor_type, actor_id, actor_label, data, occurred_at, test from events
    where project_id = %(project_id)s and id = any (%(ids)s)
""")
async def with_ids(db: Queries, *, project_id: UUID, ids: list[UUID]) -> list[EventRow]: ...


# Delete the oldest `limit` events before `before`; returns their number.
@statement("""
    with deleted as (
        delete from events where project_id = %(project_id)s and id in (
            select id from events
            where project_id = %(project_id)s and id < %(end_id)s and occurred_at < %(before)s
            order by id limit %(limit)s)
        returning id
    )
    select count(*)::int from deleted
""")
async def delete_before(db: Queries, *, project_id: UUID, before: Moment, end_id: UUID, limit: int) -> int: ...


# The oldest `limit` events before `before`, as rows of the archive.
@statement("""
    select r.id, r.occurred_at as at, row_to_json(r)::text as document from (
        select id, type, subject_id, actor_type, actor_id, actor_label, data, occurred_at, erased_at, test
        from events where project_id = %(project_id)s and id < %(end_id)s and occurred_at < %(before)s
        order by id limit %(limit)s
    ) r order by r.id
""")
async def expired_rows(
    db: Queries, *, project_id: UUID, before: Moment, end_id: UUID, limit: int
) -> list[ArchivedRow]: ...


# Delete the events with these ids; returns their number.
@statement("""
    with deleted as (
        delete from events where project_id = %(project_id)s and id = any (%(ids)s) returning id
    )
    select count(*)::int from deleted
""")
async def delete_with_ids(db: Queries, *, project_id: UUID, ids: list[UUID]) -> int: ...


@statement("select id, email from contacts where project_id = %(project_id)s and id = any (%(contact_ids)s)")
async def contact_addresses(db: Queries, *, project_id: UUID, contact_ids: list[UUID]) -> list[EventContact]: ...


# The first event of `type` for each lookup; `key`, `subject_id`, `at` and `after` are parallel lists. Without
# `with_test`, events that a TEST key caused are left out.
@statement(
    """
    select lookup.key, first_event.id, first_event.occurred_at
    from unnest(%(key)s::uuid[], %(subject_id)s::uuid[], %(at)s::timestamptz[], %(after)s::uuid[])
        as lookup (key, subject_id, at, after)
    cross join lateral (
        select id, occurred_at from events
        where project_id = %(project_id)s and subject_id = lookup.subject_id and type = %(type)s
          and (occurred_at, id) > (lookup.at, lookup.after) and (%(with_test)s or not test)
        order by occurred_at, id limit 1
    ) as first_event
"""
)
async def first_since(
    db: Queries,
    *,
    project_id: UUID,
    type: str,
    key: list[UUID],
    subject_id: list[UUID],
    at: list[Moment],
    after: list[UUID],
    with_test: bool,
) -> list[FirstEventSince]: ...


# Events after the event `after` (None: from the first), oldest first; of `types` unless it is None.
@statement("""
    select project_id, id, type, subject_id, actor_type, actor_id, actor_label, data, occurred_at, test from events
    where project_id = %(project_id)s and (%(after)s::uuid is null or id > %(after)s)
      and (%(types)s::text[] is null or type = any (%(types)s))
    order by id limit %(limit)s
""")
async def list_after(
    db: Queries, *, project_id: UUID, after: UUID | None, types: list[str] | None, limit: int
) -> list[EventRow]: ...


@statement("""
    select project_id, id, type, subject_id, actor_type, actor_id, actor_label, data, occurred_at, test from events
    where project_id = %(project_id)s and (%(before)s::uuid is null or id < %(before)s)
      and (%(types)s::text[] is null or type = any (%(types)s))
    order by id desc limit %(limit)s
""")
async def list_events(
    db: Queries, *, project_id: UUID, before: UUID | None, types: list[str] | None, limit: int
) -> list[EventRow]: ...


# Events with ids above `after`, up to and including `last`, oldest first.
@statement("""
    select project_id, id, type, subject_id, actor_type, actor_id, actor_label, data, occurred_at, test from events
    where project_id = %(project_id)s and id > %(after)s and id <= %(last)s
    order by id limit %(limit)s
""")
async def list_between(db: Queries, *, project_id: UUID, after: UUID, last: UUID, limit: int) -> list[EventRow]: ...


# The numbers of events after the positions `after` of projects (parallel lists), by the first 40 bits of their ids; at
# least one row for each project. The oldest transaction is read after the snapshot of the counts.
@statement("""
    select position.project_id, recent.bucket, coalesce(recent.count, 0) as count, clock_timestamp() as read_at,
           (select min(xact_start) from /*single*/pg_stat_activity/*end*/ /*distributed citus_stat_activity */
            where datname = current_database() and backend_xid is not null) as oldest_writer
    from unnest(%(project_id)s::uuid[], %(after)s::uuid[]) as position (project_id, after)
    /*single*/left join lateral (
        select substring(uuid_send(id) from 1 for 5) as bucket, count(*)::int as count from events
        where events.project_id = position.project_id and id > position.after
        group by 1
    ) as recent on true/*end*/
    /*distributed left join (
        select events.project_id, substring(uuid_send(id) from 1 for 5) as bucket, count(*)::int as count from events
        join unnest(%(project_id)s::uuid[], %(after)s::uuid[]) as since (project_id, after)
          on events.project_id = since.project_id and id > since.after
        group by 1, 2
    ) as recent on recent.project_id = position.project_id */
""")
async def count_recent(db: Queries, *, project_id: list[UUID], after: list[UUID]) -> list[RecentEvents]: ...


@statement("""
    select id from events where project_id = %(project_id)s and id > %(after)s order by id desc limit %(limit)s
""")
async def recent_ids(db: Queries, *, project_id: UUID, after: UUID, limit: int) -> list[UUID]: ...
