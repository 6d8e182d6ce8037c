"""SQL of sites: their state, the shares of processes in their limits, and the sends that wait for them.

A site is a group of mail servers that are limited together (see `sites`). `mail_sites` has the state of each site,
`project_sites` what one project sees and does, `mail_site_shares` which process may use how many connections.
"""

from datetime import datetime, timedelta
from typing import Final, LiteralString
from uuid import UUID

from psycopg.sql import SQL, Composable

from postern.kernel.database.statements import Jsonb, Queries, Transaction, statement, text_literal
from postern.kernel.values import Moment, Record
from postern.messaging.emails.model import InstanceSite, ListedSite, ProjectSite, Send


class SharedSite(Record):
    """The state of a site that all processes share, and the share of one process."""

    project_id: UUID
    """The project whose own relays or IP addresses are used; NO_ID for those that all projects share."""
    name: str
    factor: float
    """The part of its limits that the site has at present, above 0 and at most 1."""
    throttled_until: Moment | None
    suspended_until: Moment | None
    suspension_reason: str | None
    processes: int = 1
    connections: int | None = None
    """How many connections this process may have; None if connections are not limited."""
    allowed: int | None = None
    """How many connections all processes together may have."""


class SuspendedSite(Record):
    """A project's suspension of a site."""

    project_id: UUID
    name: str
    suspended_until: Moment | None
    suspension_reason: str | None


# Insert the sites that are not known yet. `seen_at` of the others is only written once in `seen_every`.
@statement("""
    insert into mail_sites as existing (project_id, name, transport, provider, hosts, seen_at)
    select project_id, name, transport, provider, hosts, %(now)s from jsonb_to_recordset(%(rows)s) as v (
        project_id uuid, name text, transport text, provider text, hosts text[])
    where project_id = any (%(project_id)s) order by project_id, name
    on conflict (project_id, name) do update
        set seen_at = excluded.seen_at, provider = excluded.provider, hosts = excluded.hosts
        where existing.seen_at < excluded.seen_at - %(seen_every)s::interval
""")
async def upsert_sites(
    tx: Transaction, *, project_id: list[UUID], rows: Jsonb, now: Moment, seen_every: timedelta
) -> None: ...


# Lock sites, so that processes divide their limits one after the other.
@statement("""
    select s.name from mail_sites s
    join unnest(%(project_id)s::uuid[], %(name)s::text[]) as v (project_id, name)
      on (s.project_id, s.name) = (v.project_id, v.name)
    order by s.project_id, s.name for update of s
""")
async def lock_sites(tx: Transaction, *, project_id: list[UUID], name: list[str]) -> list[str]: ...


# Divide the connections of each site among the processes that use it; returns the share of this process. `total`: the
# connections of all processes. `held`: the connections that this process may have at present, or still has.
# A share is never larger than what the others leave; so the shares of all processes are never more than the total, even
# while a process with a larger share from before does not know of this one yet. Another process finds the larger of the
# old and the new share in the row, until this process has called again.
@statement("""
    with asked as (
        select v.*, s.factor, s.throttled_until,
               case when s.suspended_at is not null
                         and (s.suspended_until is null or s.suspended_until > %(now)s::timestamptz)
                    then s.suspension_reason end as suspension_reason, s.suspended_until,
               greatest(1, floor(v.total * s.factor))::int as allowed
        from unnest(%(project_id)s::uuid[], %(name)s::text[], %(total)s::int[], %(held)s::int[])
            as v (project_id, name, total, held)
        join mail_sites s on (s.project_id, s.name) = (v.project_id, v.name)
    ), counted as (
        select a.*, count(o.process_id)::int + 1 as processes, coalesce(sum(o.connections), 0)::int as of_others,
               count(o.process_id) filter (where o.process_id < %(process_id)s::uuid)::int as before
        from asked a
        left join mail_site_shares o on (o.project_id, o.name) = (a.project_id, a.name)
            and o.process_id <> %(process_id)s::uuid and o.expires_at > %(now)s::timestamptz
        group by a.project_id, a.name, a.total, a.held, a.factor, a.throttled_until, a.suspension_reason,
                 a.suspended_until, a.allowed
    ), divided as (
        select c.*, case when total is not null then
            greatest(0, least(allowed / processes + (before < allowed %% processes)::int, allowed - of_others))
        end as share from counted c
    ), stored as (
        insert into mail_site_shares (project_id, name, process_id, connections, expires_at)
        select project_id, name, %(process_id)s::uuid, greatest(coalesce(share, 0), held),
               %(now)s::timestamptz + %(lease)s::interval
        from divided
        on conflict (project_id, name, process_id) do update
            set connections = excluded.connections, expires_at = excluded.expires_at
    )
    select project_id, name, factor, throttled_until, suspension_reason, suspended_until, processes,
           share as connections, allowed
    from divided
""")
async def divide_connections(
    tx: Transaction,
    *,
    project_id: list[UUID],
    name: list[str],
    total: list[int | None],
    held: list[int],
    process_id: UUID,
    lease: timedelta,
    now: Moment,
) -> list[SharedSite]: ...


# End the shares of a process that stops. Sites of any project.
@statement("delete from mail_site_shares where process_id = %(process_id)s")
async def end_shares(db: Queries, *, process_id: UUID) -> None: ...


@statement("""
    select s.project_id, s.name, s.factor, s.throttled_until, s.suspended_until,
           case when s.suspended_at is not null and (s.suspended_until is null or s.suspended_until > %(now)s)
                then s.suspension_reason end as suspension_reason,
           (select count(*)::int from mail_site_shares h
            where (h.project_id, h.name) = (s.project_id, s.name) and h.expires_at > %(now)s) as processes
    from mail_sites s
    join unnest(%(project_id)s::uuid[], %(name)s::text[]) as v (project_id, name)
      on (s.project_id, s.name) = (v.project_id, v.name)
""")
async def shared_states(db: Queries, *, project_id: list[UUID], name: list[str], now: Moment) -> list[SharedSite]: ...


# The suspensions of these sites by any project.
@statement("""
    select s.project_id, s.name, s.suspended_until, s.suspension_reason from project_sites s
    join unnest(%(name)s::text[]) as v (name) on s.name = v.name
    where s.suspended_at is not null and (s.suspended_until is null or s.suspended_until > %(now)s)
""")
async def suspensions_of_projects(db: Queries, *, name: list[str], now: Moment) -> list[SuspendedSite]: ...


# Slow a site down: multiply its factor by `decrease`, and from the second time in a row on, pause it; the pause doubles
# each time. Changes nothing and returns None if the site was slowed down less than `at_most_every` ago.
@statement("""
    update mail_sites set
        factor = greatest(factor * %(decrease)s::float8, %(least_factor)s::float8), strikes = strikes + 1,
        slowed_at = %(now)s,
        throttled_until = greatest(throttled_until, %(now)s + %(pause)s::interval, %(now)s + case
            when strikes = 0 then interval '0' else least(%(longest)s::interval,
            %(shortest)s::interval * power(2, least(strikes - 1, 20))) end),
        last_reply = %(reply)s, last_reply_at = %(now)s
    where project_id = %(project_id)s and name = %(name)s
      and (slowed_at is null or slowed_at <= %(now)s::timestamptz - %(at_most_every)s::interval)
    returning project_id, name, factor, throttled_until, suspended_until, suspension_reason
""")
async def slow_down(
    db: Queries,
    *,
    project_id: UUID,
    name: str,
    decrease: float,
    least_factor: float,
    pause: timedelta,
    shortest: timedelta,
    longest: timedelta,
    at_most_every: timedelta,
    reply: str,
    now: Moment,
) -> SharedSite | None: ...


# Raise the factor of sites that accept mail again by `step`, once in each `period` for all processes together.
@statement("""
    update mail_sites as s set
        factor = least(1, s.factor + %(step)s), recovered_at = %(now)s,
        strikes = case when s.factor + %(step)s >= 1 then 0 else greatest(0, s.strikes - 1) end
    from unnest(%(project_id)s::uuid[], %(name)s::text[]) as v (project_id, name)
    where (s.project_id, s.name) = (v.project_id, v.name) and s.factor < 1
      and greatest(s.slowed_at, s.recovered_at, s.throttled_until) <= %(now)s::timestamptz - %(period)s::interval
""")
async def recover(
    db: Queries, *, project_id: list[UUID], name: list[str], step: float, period: timedelta, now: Moment
) -> None: ...


# Add results to the counts of sites. A site that the project has not used yet becomes one of its sites.
@statement("""
    with v as materialized (
        select v.* from jsonb_to_recordset(%(rows)s) as v (
            project_id uuid, id uuid, name text, scope uuid, last_reply text, delivered int, deferred int, bounced int)
        join projects p on p.id = v.project_id
        where v.project_id = any (%(project_id)s)
    ), seen as (
        insert into project_sites as existing (project_id, id, name, scope, last_reply, last_reply_at, created_at,
                                               updated_at)
        select project_id, id, name, scope, last_reply, case when last_reply is not null then %(now)s::timestamptz end,
               %(now)s, %(now)s
        from v order by project_id, name
        on conflict (project_id, name) do update
            set scope = excluded.scope, updated_at = excluded.updated_at,
                last_reply = coalesce(excluded.last_reply, existing.last_reply),
                last_reply_at = coalesce(excluded.last_reply_at, existing.last_reply_at)
    )
    insert into project_site_counts as existing (project_id, name, hour, delivered, deferred, bounced)
    select project_id, name, date_trunc('hour', %(now)s::timestamptz), delivered, deferred, bounced
    from v order by project_id, name
    on conflict (project_id, name, hour) do update
        set delivered = existing.delivered + excluded.delivered, deferred = existing.deferred + excluded.deferred,
            bounced = existing.bounced + excluded.bounced
""")
async def add_counts(db: Queries, *, project_id: list[UUID], rows: Jsonb, now: Moment) -> None: ...


LISTED = """
    select ps.*, ms.transport, ms.provider, ms.hosts, ms.factor, ms.slowed_at,
        case when ms.throttled_until > %(now)s then ms.throttled_until end as throttled_until,
        case when ps.suspended_at is not null
                  and (ps.suspended_until is null or ps.suspended_until > %(now)s::timestamptz)
             then case when ps.suspended_by = 'OPERATOR' then 'OPERATOR' else 'PROJECT' end
             when ms.suspended_at is not null
                  and (ms.suspended_until is null or ms.suspended_until > %(now)s::timestamptz) then 'OPERATOR'
        end as suspension_by,
        ms.suspended_at as operator_suspended_at, ms.suspended_until as operator_suspended_until,
        ms.suspension_reason as operator_reason,
        case when (ps.suspended_at is not null
                   and (ps.suspended_until is null or ps.suspended_until > %(now)s::timestamptz))
               or (ms.suspended_at is not null
                   and (ms.suspended_until is null or ms.suspended_until > %(now)s::timestamptz)) then 'SUSPENDED'
             when ms.factor < 1 then 'SLOWED' else 'OPEN' end as state
    from project_sites ps join mail_sites ms on (ms.project_id, ms.name) = (ps.scope, ps.name)
"""
SEARCH_TEXT = SQL(
    "lower(listed.name || ' ' || coalesce(listed.provider, '') || ' ' || array_to_string(listed.hosts, ' '))"
)


def named(name: str) -> Composable:
    """The condition on the site with this name, for `list_sites`."""
    return SQL("listed.name = {}").format(text_literal(name))


# `clause` has conditions on the sites `listed`, and their order. The messages that wait are counted up to `counted`.
@statement(f"""
    select listed.*, waiting.count as waiting, waiting.oldest_at as oldest_waiting_at, counts.delivered,
           counts.deferred, counts.bounced as bounced_count
    from (
        select * from ({LISTED}) as listed where listed.project_id = %(project_id)s and {{clause}} limit %(limit)s
    ) as listed
    cross join lateral (
        select count(*)::int as count, min(w.created_at) as oldest_at from (
            select s.created_at from sends s
            where s.project_id = listed.project_id and s.site = listed.name and s.due_at is not null
              /*distributed and s.project_id = :project */
            order by s.id limit %(counted)s
        ) as w
    ) as waiting
    cross join lateral (
        select coalesce(sum(c.delivered), 0)::bigint as delivered, coalesce(sum(c.deferred), 0)::bigint as deferred,
               coalesce(sum(c.bounced), 0)::bigint as bounced
        from project_site_counts c
        where c.project_id = listed.project_id and c.name = listed.name and c.hour > %(since)s
          /*distributed and c.project_id = :project */
    ) as counts
""")
async def list_sites(
    db: Queries, *, project_id: UUID, clause: Composable, limit: int, counted: int, since: datetime, now: Moment
) -> list[ListedSite]: ...


# The number of sites that meet the conditions of `clause`, up to `limit`. `counted` and `since` have no effect: they
# are here because `sorted_list` passes the same parameters to `list_sites`.
@statement(f"""
    select count(*)::int from (
        select 1 from ({LISTED}) as listed where listed.project_id = %(project_id)s and {{clause}} limit %(limit)s
    ) as counted_sites where %(counted)s::int > 0 and %(since)s::timestamptz is not null
""")
async def count_sites(
    db: Queries, *, project_id: UUID, clause: Composable, limit: int, counted: int, since: datetime, now: Moment
) -> int: ...


@statement("select * from project_sites where project_id = %(project_id)s and name = %(name)s for update")
async def lock_site(tx: Transaction, *, project_id: UUID, name: str) -> ProjectSite | None: ...


@statement("""
    update project_sites set suspended_at = %(now)s, suspended_until = %(until)s, suspension_reason = %(reason)s,
                             suspended_by = %(by)s, updated_at = %(now)s
    where project_id = %(project_id)s and id = %(id)s
""")
async def suspend_site(
    tx: Transaction, *, project_id: UUID, id: UUID, until: datetime | None, reason: str, by: str, now: Moment
) -> None: ...


_RELEASE: Final[LiteralString] = """
    task = coalesce(task, 'RELEASE'), task_until = case when task = 'BOUNCE' then task_until else %(now)s end,
    due_at = case when task = 'BOUNCE' then due_at else %(now)s end,
    attempt = attempt + (task is distinct from 'BOUNCE')::int
"""
"""Begin the task RELEASE, or begin it again if it is running. A running task BOUNCE continues instead, unchanged."""


# End a suspension, and make the messages that wait due now.
@statement(
    "update project_sites set suspended_at = null, suspended_until = null, suspension_reason = null,"
    " suspended_by = null, updated_at = %(now)s," + _RELEASE + "where project_id = %(project_id)s and id = %(id)s"
)
async def resume_site(tx: Transaction, *, project_id: UUID, id: UUID, now: Moment) -> None: ...


# Make the messages due now that wait for a site which all projects can use again.
@statement(
    "update project_sites set updated_at = %(now)s," + _RELEASE + "where project_id = %(project_id)s and id = %(id)s"
)
async def release_queue(tx: Transaction, *, project_id: UUID, id: UUID, now: Moment) -> None: ...


@statement("""
    update project_sites set task = 'BOUNCE', task_until = %(now)s, task_reason = %(reason)s, bounced = 0,
                             bounce_started_at = %(now)s, bounce_ended_at = null, due_at = %(now)s,
                             attempt = attempt + 1, updated_at = %(now)s
    where project_id = %(project_id)s and id = %(id)s
""")
async def begin_bounce(tx: Transaction, *, project_id: UUID, id: UUID, reason: str, now: Moment) -> None: ...


# The next sends that wait for a site, locked; those that may be in transmission are left out.
@statement("""
    select * from sends where (project_id, id) in (
        select project_id, id from sends
        where project_id = %(project_id)s and site = %(site)s and due_at is not null and handed_over is null
          and status = any (%(statuses)s) and created_at <= %(until)s
        order by id limit %(limit)s
    ) /*distributed and project_id = %(project_id)s */
    and handed_over is null -- Checked again under the lock: the transmission may just have begun.
    order by id for update skip locked
""")
async def lock_waiting(
    tx: Transaction, *, project_id: UUID, site: str, statuses: list[str], until: datetime, limit: int
) -> list[Send]: ...


@statement("""
    select from sends where project_id = %(project_id)s and site = %(site)s and due_at is not null
                        and status = any (%(statuses)s) and created_at <= %(until)s limit 1
""")
async def has_waiting(db: Queries, *, project_id: UUID, site: str, statuses: list[str], until: datetime) -> bool: ...


# Make up to `limit` sends due that wait for a site, those with an id above `after`; returns their ids. Sends that may
# be in transmission are left out. If a send waits for the end of a suspension, its postponement has moved
# `retries_since` forward by the whole wait, so the rest of the wait is subtracted again.
@statement("""
    update sends set due_at = %(now)s,
        retries_since = case when waits_for = 'SITE_SUSPENDED'
                             then (retries_since at time zone 'UTC' - (due_at - %(now)s)) at time zone 'UTC'
                             else retries_since end
    where (project_id, id) in (
        select project_id, id from sends
        where project_id = %(project_id)s and site = %(site)s and due_at > %(now)s and handed_over is null
          and status = any (%(statuses)s) and id > %(after)s
        order by id limit %(limit)s for update skip locked) /*distributed and project_id = %(project_id)s */
    returning id
""")
async def release(
    tx: Transaction, *, project_id: UUID, site: str, statuses: list[str], after: UUID, limit: int, now: Moment
) -> list[UUID]: ...


# Store the progress of a task; it ends if `due_at` is None. Changes nothing if a later task with another `attempt` has
# begun.
@statement("""
    update project_sites set
        bounced = bounced + %(bounced)s, due_at = %(due_at)s,
        task = case when %(due_at)s::timestamptz is null then null else task end,
        bounce_ended_at = case when task = 'BOUNCE' and %(due_at)s::timestamptz is null then %(now)s
                               else bounce_ended_at end,
        updated_at = %(now)s
    where project_id = %(project_id)s and id = %(id)s and attempt = %(attempt)s
""")
async def store_progress(
    tx: Transaction, *, project_id: UUID, id: UUID, attempt: int, bounced: int, due_at: Moment | None, now: Moment
) -> None: ...


# Sites of all projects, with the messages of all projects, for the operator.
@statement("""
    with totals as materialized (
        select ps.scope, ps.name, sum(waiting.count) as waiting, sum(counts.delivered) as delivered,
               sum(counts.deferred) as deferred, sum(counts.bounced) as bounced, count(*) as projects,
               count(ps.suspended_at) as suspended_projects
        from project_sites ps
        /*single*/cross join lateral (
            select count(*) from (
                select from sends s where s.project_id = ps.project_id and s.site = ps.name and s.due_at is not null
                limit %(counted)s) as w
        ) as waiting
        cross join lateral (
            select sum(c.delivered) as delivered, sum(c.deferred) as deferred, sum(c.bounced) as bounced
            from project_site_counts c
            where c.project_id = ps.project_id and c.name = ps.name and c.hour > %(since)s
        ) as counts/*end*/
        /*distributed left join (
            select project_id, site, count(*) from sends where due_at is not null and site is not null group by 1, 2
        ) as waiting on waiting.project_id = ps.project_id and waiting.site = ps.name
        left join (
            select project_id, name, sum(delivered) as delivered, sum(deferred) as deferred, sum(bounced) as bounced
            from project_site_counts where hour > %(since)s group by 1, 2
        ) as counts on counts.project_id = ps.project_id and counts.name = ps.name */
        group by 1, 2
    )
    select ms.project_id, ms.name, ms.transport, ms.provider, ms.hosts, ms.factor, ms.throttled_until, ms.last_reply,
           ms.suspension_reason, ms.suspended_until, ms.seen_at,
           case when ms.suspended_at is not null
                     and (ms.suspended_until is null or ms.suspended_until > %(now)s::timestamptz) then 'SUSPENDED'
                when ms.factor < 1 then 'SLOWED' else 'OPEN' end as state,
           coalesce(totals.waiting, 0)::bigint as waiting, coalesce(totals.delivered, 0)::bigint as delivered,
           coalesce(totals.deferred, 0)::bigint as deferred, coalesce(totals.bounced, 0)::bigint as bounced,
           coalesce(totals.projects, 0)::int as projects,
           coalesce(totals.suspended_projects, 0)::int as suspended_projects, (
               select count(*)::int from mail_site_shares s
               where (s.project_id, s.name) = (ms.project_id, ms.name) and s.expires_at > %(now)s::timestamptz
           ) as processes
    from mail_sites ms left join totals on (totals.name, totals.scope) = (ms.name, ms.project_id)
    order by coalesce(totals.waiting, 0) desc, ms.name limit %(limit)s
""")
async def sites_of_instance(
    db: Queries, *, counted: int, since: datetime, limit: int, now: Moment
) -> list[InstanceSite]: ...


# Suspend a site for all projects, or end that suspension if `reason` is None. Returns the name once per changed row: a
# project with its own relay or addresses has a separate row.
@statement("""
    update mail_sites set suspended_at = case when %(reason)s::text is not null then %(now)s::timestamptz end,
                          suspended_until = %(until)s, suspension_reason = %(reason)s
    where name = %(name)s
    returning name
""")
async def set_suspension_for_all(
    tx: Transaction, *, name: str, until: datetime | None, reason: str | None, now: Moment
) -> list[str]: ...


# The projects that send to a site.
@statement("select * from project_sites where name = %(name)s order by project_id")
async def projects_of_site(db: Queries, *, name: str) -> list[ProjectSite]: ...


# Delete up to `limit` hourly counts older than `before`; False if there are none.
@statement("""
    delete from project_site_counts where /*single*/ (project_id, name, hour) in (
        select project_id, name, hour from project_site_counts where hour < %(before)s limit %(limit)s
        for update skip locked) /*end*/ /*distributed hour < %(before)s */
""")
async def delete_old_counts(db: Queries, *, before: datetime, limit: int) -> bool: ...


# Delete up to `limit` sites of projects that were not used since `before`; False if there are none.
@statement("""
    delete from project_sites /*distributed s */ where /*single*/(project_id, id) in (
        select project_id, id from project_sites s
        where /*end*/updated_at < %(before)s and suspended_at is null and due_at is null
          and not exists (select from sends w where w.project_id = s.project_id and w.site = s.name)
        /*single*/limit %(limit)s for update skip locked)/*end*/
""")
async def delete_unused_project_sites(db: Queries, *, before: datetime, limit: int) -> bool: ...


# Delete up to `limit` sites that were not used since `before`; False if there are none.
@statement("""
    delete from mail_sites where (project_id, name) in (
        select project_id, name from mail_sites s
        where seen_at < %(before)s and suspended_at is null
          /*single*/and not exists (select from project_sites p where (p.scope, p.name) = (s.project_id, s.name))
          /*end*/ /*distributed and (project_id, name) not in (select scope, name from project_sites) */
        limit %(limit)s for update skip locked)
""")
async def delete_unused_sites(db: Queries, *, before: datetime, limit: int) -> bool: ...
