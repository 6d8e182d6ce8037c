"""SQL statements of the reputation of sending domains and of their warm-up plans."""

from datetime import date, datetime
from uuid import UUID

from postern.kernel.database.statements import Jsonb, Queries, Transaction, statement
from postern.kernel.values import Moment, Record
from postern.messaging.reputation.model import DomainLimit, StoredReputation, StoredWarmUp


class AcceptedOfDay(Record):
    """The messages of a day that mail servers accepted."""

    day: date
    accepted: int


class FailuresOfDay(Record):
    """The messages of a day with a hard bounce, and with a complaint."""

    day: date
    bounced: int
    complained: int


# Count messages with a hard bounce or a complaint, and make the evaluation of their domains due at `soon`. In each row,
# `at` is the time at which the message was transmitted, without fractions of milliseconds. Leaves out deleted domains,
# and mail that was transmitted before the last release, which no longer counts. The row of a domain whose evaluation is
# due by `soon` already is not updated, so that transactions do not wait for each other.
@statement("""
    with failures as materialized (
        select v.project_id, v.domain_id, date_bin('1 hour', v.at, 'epoch') as hour, sum(v.bounced) as bounced,
               sum(v.complained) as complained
        from jsonb_to_recordset(%(rows)s) as v (
            project_id uuid, domain_id uuid, at timestamptz, bounced int, complained int)
        join domains d on (d.project_id, d.id) = (v.project_id, v.domain_id)
        /*distributed and d.project_id = :project */
        left join domain_reputations r on (r.project_id, r.id) = (v.project_id, v.domain_id)
            /*distributed and r.project_id = :project */
        where v.project_id = any (%(project_id)s)
          and v.at >= coalesce(date_trunc('milliseconds', r.counted_from), '-infinity')
        group by 1, 2, 3
    ), failing as (
        select distinct project_id, domain_id from failures
    ), first_failures as (
        insert into domain_reputations (project_id, id, since, due_at)
        select project_id, domain_id, %(now)s, %(soon)s from failing
        where not exists (
            select from domain_reputations r where (r.project_id, r.id) = (failing.project_id, failing.domain_id)
                /*distributed and r.project_id = :project */
        )
        order by 1, 2 on conflict do nothing
    ), further_failures as (
        update domain_reputations r set due_at = %(soon)s from failing
        where (r.project_id, r.id) = (failing.project_id, failing.domain_id)
          and (r.due_at is null or r.due_at > %(soon)s) /*distributed and r.project_id = :project */
    )
    insert into reputation_counters as counter (project_id, domain_id, hour, slot, bounced, complained)
    select project_id, domain_id, hour, pg_backend_pid() %% 16, bounced, complained from failures order by 1, 2, 3
    on conflict (project_id, domain_id, hour, slot) do update set
        bounced = counter.bounced + excluded.bounced, complained = counter.complained + excluded.complained
""")
async def count_failures(
    tx: Transaction, *, project_id: list[UUID], rows: Jsonb, now: Moment, soon: Moment
) -> None: ...


# The accepted messages by day in UTC, since the start of an hour. Reads `send_rollups` of the `emails` package: a row
# for each quarter of an hour, in which the zero UUID as the campaign stands for all mail of the project.
@statement("""
    select (r.bucket at time zone 'UTC')::date as day, sum(r.sent)::bigint as accepted
    from generate_series(%(since)s::timestamptz, %(now)s::timestamptz, interval '15 minutes') as quarter (begins_at)
    join send_rollups r on r.project_id = %(project_id)s and r.campaign_id = '00000000-0000-0000-0000-000000000000'
                           and r.bucket = quarter.begins_at and r.domain_id = %(domain_id)s
    group by 1 order by 1
""")
async def accepted_by_day(
    db: Queries, *, project_id: UUID, domain_id: UUID, since: datetime, now: datetime
) -> list[AcceptedOfDay]: ...


@statement("""
    select (hour at time zone 'UTC')::date as day, sum(bounced)::bigint as bounced,
           sum(complained)::bigint as complained
    from reputation_counters
    where project_id = %(project_id)s and domain_id = %(domain_id)s and hour >= %(since)s
    group by 1 order by 1
""")
async def failures_by_day(
    db: Queries, *, project_id: UUID, domain_id: UUID, since: datetime
) -> list[FailuresOfDay]: ...


@statement("select * from domain_reputations where project_id = %(project_id)s and id = %(id)s")
async def get_reputation(db: Queries, *, project_id: UUID, id: UUID) -> StoredReputation | None: ...


@statement("select * from domain_reputations where project_id = %(project_id)s and id = %(id)s for update")
async def lock_reputation(tx: Transaction, *, project_id: UUID, id: UUID) -> StoredReputation | None: ...


# Store the state of a domain and the time of its next evaluation: all columns but `attempt`.
@statement("""
    update domain_reputations set state = %(state)s, since = %(since)s, reason = %(reason)s,
        held_until = %(held_until)s, releasing = %(releasing)s, counted_from = %(counted_from)s,
        uncounted_messages = %(uncounted_messages)s, uncounted_bounced = %(uncounted_bounced)s,
        uncounted_complained = %(uncounted_complained)s, due_at = %(due_at)s
    where project_id = %(project_id)s and id = %(id)s
""")
async def update_reputation(tx: Transaction, reputation: StoredReputation) -> None: ...


# Delete up to `limit` counters of hours before `before`.
@statement("""
    delete from reputation_counters where project_id = %(project_id)s and /*single*/ctid = any (array(
        select ctid from reputation_counters
        where project_id = %(project_id)s and domain_id = %(domain_id)s and hour < %(before)s limit %(limit)s))/*end*/
        /*distributed (domain_id, hour, slot) in (
        select domain_id, hour, slot from reputation_counters
        where project_id = %(project_id)s and domain_id = %(domain_id)s and hour < %(before)s limit %(limit)s) */
""")
async def delete_expired_counters(
    tx: Transaction, *, project_id: UUID, domain_id: UUID, before: datetime, limit: int
) -> None: ...


# The present limits of the marketing mail of a project's domains; domains without a limit are left out.
@statement("""
    select coalesce(r.id, w.id) as domain_id, r.held_until, r.reason, w.id is not null as warms_up
    from (select id, held_until, reason from domain_reputations
          where project_id = %(project_id)s and state = 'HELD') as r
    full join (select id from domain_warm_ups
               where project_id = %(project_id)s and status in ('SCHEDULED', 'ACTIVE')) as w on w.id = r.id
""")
async def limits(db: Queries, *, project_id: UUID) -> list[DomainLimit]: ...


@statement("""
    select * from domain_warm_ups
    where project_id = %(project_id)s and id = %(id)s and status <> 'CANCELLED'
""")
async def get_warm_up(db: Queries, *, project_id: UUID, id: UUID) -> StoredWarmUp | None: ...


@statement("select * from domain_warm_ups where project_id = %(project_id)s and id = %(id)s for update")
async def lock_warm_up(tx: Transaction, *, project_id: UUID, id: UUID) -> StoredWarmUp | None:
    """The plan of a domain, also a cancelled one, locked for update."""


# Insert a plan, or replace the one that the domain has. Raises ForeignKeyViolation if the domain was deleted.
@statement("""
    insert into domain_warm_ups as existing {row}
    on conflict (project_id, id) do update set
        status = excluded.status, starts_on = excluded.starts_on, steps = excluded.steps, step = 0,
        used = case when existing.day = excluded.day then existing.used else 0 end, day = excluded.day,
        repeated = 0, ended_at = null, releasing = excluded.releasing, due_at = excluded.due_at,
        attempt = existing.attempt + 1, updated_at = excluded.updated_at
    returning *
""")
async def put_warm_up(tx: Transaction, warm_up: StoredWarmUp) -> StoredWarmUp: ...


# Store the progress of a plan.
@statement("""
    update domain_warm_ups set status = %(status)s, step = %(step)s, day = %(day)s, used = %(used)s,
        repeated = %(repeated)s, ended_at = %(ended_at)s, releasing = %(releasing)s, due_at = %(due_at)s,
        updated_at = %(updated_at)s
    where project_id = %(project_id)s and id = %(id)s
""")
async def update_warm_up(tx: Transaction, warm_up: StoredWarmUp) -> None: ...


# The ids, among `send_ids`, of the sends with a reservation for a day (see `warm_up`).
@statement("""
    select send_id from warm_up_places
    where project_id = %(project_id)s and domain_id = %(domain_id)s and day = %(day)s
      and send_id = any (%(send_ids)s)
""")
async def reserved_sends(
    tx: Transaction, *, project_id: UUID, domain_id: UUID, day: date, send_ids: list[UUID]
) -> list[UUID]: ...


@statement("""
    insert into warm_up_places (project_id, domain_id, day, send_id)
    select %(project_id)s, %(domain_id)s, %(day)s, send_id from unnest(%(send_ids)s::uuid[]) as v (send_id)
    on conflict do nothing
""")
async def insert_reservations(
    tx: Transaction, *, project_id: UUID, domain_id: UUID, day: date, send_ids: list[UUID]
) -> None: ...


# Delete up to `limit` reservations of days before `before`.
@statement("""
    delete from warm_up_places where project_id = %(project_id)s and /*single*/ctid = any (array(
        select ctid from warm_up_places
        where project_id = %(project_id)s and domain_id = %(domain_id)s and day < %(before)s limit %(limit)s))/*end*/
        /*distributed (domain_id, day, send_id) in (
        select domain_id, day, send_id from warm_up_places
        where project_id = %(project_id)s and domain_id = %(domain_id)s and day < %(before)s limit %(limit)s) */
""")
async def delete_expired_reservations(
    tx: Transaction, *, project_id: UUID, domain_id: UUID, before: date, limit: int
) -> None: ...


# Count messages, given as parallel lists of their projects and domains, for the ceiling of a day. Leaves out plans that
# are not active, and those whose row is for another day. `project_id` has each of `project_ids` once.
@statement("""
    update domain_warm_ups as w set used = w.used + v.messages
    from (select project_id, domain_id, count(*) as messages
          from unnest(%(project_ids)s::uuid[], %(domain_ids)s::uuid[]) as sent (project_id, domain_id)
          group by 1, 2) as v
    where (w.project_id, w.id) = (v.project_id, v.domain_id) and w.project_id = any (%(project_id)s)
      and w.status = 'ACTIVE' and w.day = %(day)s
""")
async def add_used(
    tx: Transaction, *, project_id: list[UUID], project_ids: list[UUID], domain_ids: list[UUID], day: date
) -> None: ...
