"""SQL of automations, runs, and idempotency keys of custom events.

Parameters that are parallel lists (for `unnest`, one element per row) have the singular names of their
columns. Responses contain the id of the project as `appId`, so statements on automations return it as `app_id`, too.
"""

from datetime import datetime, timedelta
from typing import LiteralString
from uuid import UUID

from psycopg.sql import SQL, Composable

from postern.kernel.database.statements import Jsonb, Queries, Transaction, statement
from postern.kernel.values import Moment, Record
from postern.messaging.automations.model import (
    Automation,
    AutomationActivity,
    AutomationCounterSum,
    AutomationRun,
    AutomationRunPosition,
    AutomationRunStep,
    AutomationSettings,
    AutomationVersion,
    CounterSum,
    EarlierRuns,
    EndedRun,
    ListedAutomation,
    NewRun,
    RepeatableAutomation,
    RunStart,
    RunUpdate,
    StepRecord,
    TriggerRow,
)


class UsedKey(Record):
    """An idempotency key of a custom event that was used before, with the event recorded for it."""

    key: str
    body_hash: bytes
    event_id: UUID


class CustomerAddress(Record):
    """The e-mail address of a customer."""

    project_id: UUID
    id: UUID
    email: str
    is_verified: bool


class CustomerOfContact(Record):
    """A contact, and the customer whose verified address it has."""

    contact_id: UUID
    customer_id: UUID


class LockedRun(Record):
    """A locked run, and the event that woke it, if any."""

    id: UUID
    event_id: UUID | None


@statement("insert into automations {row} returning *, project_id as app_id")
async def insert_automation(
    tx: Transaction, settings: AutomationSettings, *, created_at: Moment, updated_at: Moment
) -> Automation: ...


# Insert one version of an automation's steps.
@statement("insert into automation_versions {row}")
async def insert_version(
    tx: Transaction, *, project_id: UUID, automation_id: UUID, version: int, steps: Jsonb, created_at: Moment
) -> None: ...


# The text that a search in the list of automations compares. There is no index: a project has few automations.
SEARCH_TEXT = SQL("lower(listed.name)")


# `clause`: conditions on the columns of `listed`, then optionally `order by`.
@statement("""
    select listed.*, listed.project_id as app_id, null::jsonb as totals, null::integer as unfinished,
           null::timestamptz as last_run_at
    from automations listed
    where listed.project_id = %(project_id)s and {clause} limit %(limit)s
""")
async def automations(db: Queries, *, project_id: UUID, clause: Composable, limit: int) -> list[ListedAutomation]: ...


# The number of automations that meet the conditions of `clause`, counted up to `limit`.
@statement("""
    select count(*)::int from (
        select from automations listed where listed.project_id = %(project_id)s and {clause} limit %(limit)s
    ) as counted
""")
async def count_listed(db: Queries, *, project_id: UUID, clause: Composable, limit: int) -> int: ...


@statement("select *, project_id as app_id from automations where project_id = %(project_id)s and id = %(id)s")
async def automation(db: Queries, *, project_id: UUID, id: UUID) -> Automation | None: ...


# Lock an automation (for no key update).
@statement("""
    select *, project_id as app_id from automations
    where project_id = %(project_id)s and id = %(id)s for no key update
""")
async def lock_automation(tx: Transaction, *, project_id: UUID, id: UUID) -> Automation | None: ...


@statement("select count(*)::int from automations where project_id = %(project_id)s")
async def count_automations(tx: Transaction, *, project_id: UUID) -> int: ...


# Write the settings. Events that older versions wait for stay in `waits_for`, because their runs continue.
@statement("""
    update automations set name = %(name)s, trigger = %(trigger)s, steps = %(steps)s, version = %(version)s,
        active = %(active)s, starts_on = %(starts_on)s, starts_on_audience = %(starts_on_audience)s, once = %(once)s,
        max_runs_per_hour = %(max_runs_per_hour)s, allow_loops = %(allow_loops)s,
        waits_for = array(select distinct unnest(waits_for || %(waits_for)s::text[]) order by 1), updated_at = %(now)s
    where project_id = %(project_id)s and id = %(id)s
    returning *, project_id as app_id
""")
async def change_automation(tx: Transaction, settings: AutomationSettings, *, now: Moment) -> Automation: ...


# Activate or deactivate an automation.
@statement("""
    update automations set active = %(active)s, updated_at = %(now)s
    where project_id = %(project_id)s and id = %(id)s
    returning *, project_id as app_id
""")
async def set_active(tx: Transaction, *, project_id: UUID, id: UUID, active: bool, now: Moment) -> Automation: ...


# The active automations, other than `id`, that a contact can start repeatedly (`once: false`).
@statement("""
    select id, name, trigger, steps from automations
    where project_id = %(project_id)s and active and not once and id <> %(id)s
""")
async def repeatable_automations(tx: Transaction, *, project_id: UUID, id: UUID) -> list[RepeatableAutomation]: ...


# Delete an automation with its versions, runs and counters.
@statement("delete from automations where project_id = %(project_id)s and id = %(id)s")
async def delete_automation(tx: Transaction, *, project_id: UUID, id: UUID) -> bool: ...


HAS_AUTOMATIONS: LiteralString = "exists (select from automations where project_id = any (%(project_id)s))"
"""Whether one of the projects has an automation. Inactive ones count, because they may have unfinished runs."""


# The triggers and awaited events of automations that are active, or inactive with runs that may wait for an event.
@statement("""
    select project_id, id, version, active, starts_on, starts_on_audience, once, max_runs_per_hour, waits_for,
           nullif(trigger -> 'where', 'null') as "where"
    from automations
    where project_id = any (%(project_id)s) and (active or cardinality(waits_for) > 0)
""")
async def triggers_to_match(tx: Transaction, *, project_id: list[UUID]) -> list[TriggerRow]: ...


# The ids of the events that satisfy a condition. `rows`: {id, attributes} of each event; `attributes` is its data.
# `condition`: the SQL of `compile_rules`, which refers to the row as `c`, and to `input.rule_values` and `input.now`.
# `project_id` does not affect the result: it is there because every statement must have this parameter.
@statement("""
    select c.id from (select %(values)s::jsonb as rule_values, %(now)s::timestamptz as now) as input
    cross join jsonb_to_recordset(%(rows)s) as c (id uuid, attributes jsonb)
    where {condition} and %(project_id)s::uuid is not null
""")
async def matching_events(
    tx: Transaction, *, project_id: UUID, rows: Jsonb, condition: Composable, values: Jsonb, now: Moment
) -> list[UUID]: ...


# The addresses of customers, given as parallel lists, without customers who have none.
@statement("""
    select customer.project_id, customer.id, customer.email, customer.email_verified_at is not null as is_verified
    from unnest(%(project_id)s::uuid[], %(id)s::uuid[]) as v (project_id, id)
    join customers customer on (customer.project_id, customer.id) = (v.project_id, v.id)
    where customer.email is not null /*distributed and customer.project_id = :project */
""")
async def customer_addresses(db: Queries, *, project_id: list[UUID], id: list[UUID]) -> list[CustomerAddress]: ...


# The customers whose verified address is that of a contact.
@statement("""
    select contact.id as contact_id, customer.id as customer_id
    from contacts contact join customers customer
      on (customer.project_id, customer.email_key) = (contact.project_id, contact.email_key)
    where contact.project_id = %(project_id)s and contact.id = any (%(contact_ids)s)
      and customer.email_verified_at is not null
""")
async def customers_with_address_of_contacts(
    db: Queries, *, project_id: UUID, contact_ids: list[UUID]
) -> list[CustomerOfContact]: ...


# Start runs; returns those that were started, and those that the hourly limit prevented (`limited`). No run is started
# for a contact that has an unfinished run of the automation or, if the new run has `once`, any earlier run that had
# `once` too: unique indexes ensure this. A run that an index prevents is not returned, so it does not count as
# `limited`. Runs that TEST keys started are limited separately.
@statement("""
    with requested as materialized (
        select distinct on (v.project_id, v.automation_id, v.contact_id, v.test) v.*,
               recent.runs >= v.max_runs_per_hour and not recent.any_unfinished as limited
        from unnest(%(project_id)s::uuid[], %(id)s::uuid[], %(automation_id)s::uuid[], %(version)s::int[],
                    %(contact_id)s::uuid[], %(once)s::bool[], %(max_runs_per_hour)s::int[], %(event_id)s::uuid[],
                    %(test)s::bool[], %(at)s::timestamptz[])
            as v (project_id, id, automation_id, version, contact_id, once, max_runs_per_hour, event_id, test, at)
        cross join lateral (
            select count(*) as runs, coalesce(bool_or(run.status in ('RUNNING', 'WAITING')), false) as any_unfinished
            from automation_runs run
            where not v.once and run.started_at > v.at - interval '1 hour'
              and (run.project_id, run.contact_id, run.automation_id) = (v.project_id, v.contact_id, v.automation_id)
              and run.test = v.test /*distributed and run.project_id = :project */
        ) as recent
        order by v.project_id, v.automation_id, v.contact_id, v.test, v.at
    ), started as (
        insert into automation_runs (project_id, id, automation_id, version, contact_id, once, trigger_event_id, test,
                                     due_at, started_at)
        select project_id, id, automation_id, version, contact_id, once, event_id, test, at, at from requested
        where not limited order by automation_id, contact_id
        on conflict do nothing
        returning project_id, id, automation_id, contact_id
    )
    select *, false as limited from started
    union all
    select project_id, id, automation_id, contact_id, true from requested where limited
""")
async def start_runs(tx: Transaction, runs: list[NewRun]) -> list[RunStart]: ...


# Make due the runs that wait for one of these events, given as parallel lists. An event that a TEST key caused (`test`)
# ends only the wait of runs that a TEST key started. Returns the number of runs.
# Runs are locked in the order of their ids before the update, so that batches for the same contacts do not deadlock.
@statement("""
    with occurred as materialized (
        select distinct on (project_id, contact_id, event, run_test) v.*, run_test
        from unnest(%(project_id)s::uuid[], %(contact_id)s::uuid[], %(event)s::text[], %(event_id)s::uuid[],
                    %(test)s::bool[], %(at)s::timestamptz[]) as v (project_id, contact_id, event, event_id, test, at)
        cross join (values (false), (true)) as runs (run_test)
        where run_test or not v.test
        order by project_id, contact_id, event, run_test, at, event_id
    ), waiting as materialized (
        select run.project_id, run.id from automation_runs as run
        join occurred v on (run.project_id, run.contact_id, run.waiting_for) = (v.project_id, v.contact_id, v.event)
          and run.test = v.run_test /*distributed and run.project_id = :project */
        order by run.project_id, run.id for no key update of run
    ), woken as (
        update automation_runs as run set event_id = v.event_id, waiting_for = null, due_at = v.at
        from waiting, occurred v
        where (run.project_id, run.id) = (waiting.project_id, waiting.id)
          and (run.project_id, run.contact_id, run.waiting_for) = (v.project_id, v.contact_id, v.event)
          and run.test = v.run_test /*distributed and run.project_id = :project */
        returning 1
    )
    select count(*)::int from woken
""")
async def wake_runs(
    tx: Transaction,
    *,
    project_id: list[UUID],
    contact_id: list[UUID],
    event: list[str],
    event_id: list[UUID],
    test: list[bool],
    at: list[Moment],
) -> int: ...


# The steps of versions, given as parallel lists of automation ids and version numbers.
@statement("""
    select v.automation_id, v.version, v.steps from automation_versions v
    join unnest(%(automation_id)s::uuid[], %(version)s::int[]) as pair (automation_id, version)
      on (v.automation_id, v.version) = (pair.automation_id, pair.version)
    where v.project_id = %(project_id)s
""")
async def list_versions(
    db: Queries, *, project_id: UUID, automation_id: list[UUID], version: list[int]
) -> list[AutomationVersion]: ...


# Store the new state of runs; those that another worker has claimed since, or that ended, stay unchanged. `calls`:
# whether the next thing to do is the call of a WEBHOOK step; `tried`: how many calls of this step have failed.
# MATERIALIZED: see decision 0106.
@statement("""
    with settled as materialized (
        select %(project_id)s::uuid as project_id, *
        from unnest(%(id)s::uuid[], %(attempt)s::int[], %(status)s::text[], %(current_step)s::int[],
                    %(entered_at)s::timestamptz[], %(waiting_for)s::text[], %(calls)s::bool[], %(tried)s::int[],
                    %(due_at)s::timestamptz[], %(error)s::text[], %(finished_at)s::timestamptz[])
            as v (id, attempt, status, current_step, entered_at, waiting_for, calls, tried, due_at, error, finished_at)
    )
    update automation_runs as run set status = settled.status, current_step = settled.current_step,
        entered_at = settled.entered_at, waiting_for = settled.waiting_for, event_id = null, calls = settled.calls,
        tried = settled.tried, due_at = settled.due_at, error = settled.error, finished_at = settled.finished_at
    from settled
    where (run.project_id, run.id, run.attempt) = (settled.project_id, settled.id, settled.attempt)
      and run.status in ('RUNNING', 'WAITING') /*distributed and run.project_id = :project */
    returning run.id
""")
async def update_runs(tx: Transaction, runs: list[RunUpdate], *, project_id: UUID) -> list[UUID]: ...


# Lock those runs (for no key update) that still have the given attempt and step, and are not finished; the parameters
# are parallel lists. MATERIALIZED: see decision 0106.
@statement("""
    with claimed as materialized (
        select %(project_id)s::uuid as project_id, *
        from unnest(%(id)s::uuid[], %(attempt)s::int[], %(current_step)s::int[]) as v (run_id, attempt, current_step)
    )
    select run.id, run.event_id from automation_runs as run
    join claimed on (run.project_id, run.id, run.attempt, run.current_step)
                  = (claimed.project_id, claimed.run_id, claimed.attempt, claimed.current_step)
    where run.status in ('RUNNING', 'WAITING') /*distributed and run.project_id = :project */
    order by id for no key update of run
""")
async def lock_runs(
    tx: Transaction, *, project_id: UUID, id: list[UUID], attempt: list[int], current_step: list[int]
) -> list[LockedRun]: ...


# Insert entries of the history. A step is recorded as started no earlier than the previous step ended, and no later
# than now. The limits are needed because a wait's `started_at` is the time from which events count, and a wait also
# counts events that occurred before the previous step ended.
@statement("""
    insert into automation_run_steps (project_id, run_id, step, type, outcome, detail, started_at, finished_at)
    select %(project_id)s::uuid, v.run_id, v.step, v.type, v.outcome, v.detail,
           least(%(now)s::timestamptz, greatest(v.started_at, (
               select max(previous.finished_at) from automation_run_steps previous
               where previous.project_id = %(project_id)s and previous.run_id = v.run_id))),
           %(now)s
    from unnest(%(run_id)s::uuid[], %(step)s::int[], %(type)s::text[],
        %(outcome)s::text[], %(detail)s::jsonb[], %(started_at)s::timestamptz[])
        as v (run_id, step, type, outcome, detail, started_at)
""")
async def insert_steps(tx: Transaction, steps: list[StepRecord], *, project_id: UUID, now: Moment) -> None: ...


# Add to counters of automations; the parameters are parallel lists. Each counter has 16 rows (`slot`), so that
# concurrent transactions do not wait for each other.
@statement("""
    insert into automation_counters as counter (project_id, automation_id, measure, slot, count)
    select project_id, automation_id, measure, pg_backend_pid() %% 16, count
    from unnest(%(project_id)s::uuid[], %(automation_id)s::uuid[], %(measure)s::text[], %(count)s::bigint[])
        as v (project_id, automation_id, measure, count)
    order by 1, 2, 3
    on conflict (project_id, automation_id, measure, slot) do update set count = counter.count + excluded.count
""")
async def add_to_counters(
    tx: Transaction,
    *,
    project_id: list[UUID],
    automation_id: list[UUID],
    measure: list[str],
    count: list[int],
) -> None: ...


# The sums of the counters of each of several automations.
@statement("""
    select automation_id, measure, sum(count)::bigint as count from automation_counters
    where project_id = %(project_id)s and automation_id = any (%(automation_ids)s) group by 1, 2
""")
async def totals_of_each(
    db: Queries, *, project_id: UUID, automation_ids: list[UUID]
) -> list[AutomationCounterSum]: ...


# The unfinished runs and the latest run of each of several automations.
@statement("""
    select automation.id as automation_id,
        (select count(*) from automation_runs run
         where (run.project_id, run.automation_id) = (%(project_id)s, automation.id)
           and run.status in ('RUNNING', 'WAITING')) as unfinished,
        (select run.started_at from automation_runs run
         where (run.project_id, run.automation_id) = (%(project_id)s, automation.id)
         order by run.id desc limit 1) as last_run_at
    from unnest(%(automation_ids)s::uuid[]) as automation (id)
""")
async def activity_of_each(
    db: Queries, *, project_id: UUID, automation_ids: list[UUID]
) -> list[AutomationActivity]: ...


# The numbers of unfinished runs of an automation by version and step.
@statement("""
    select version, current_step as step, count(*) as runs from automation_runs
    where project_id = %(project_id)s and automation_id = %(automation_id)s and status in ('RUNNING', 'WAITING')
    group by 1, 2 order by 1, 2
""")
async def run_positions(db: Queries, *, project_id: UUID, automation_id: UUID) -> list[AutomationRunPosition]: ...


# The sums of the counters of one automation, or of all automations of a project.
@statement("""
    select measure, sum(count)::bigint as count from automation_counters
    where project_id = %(project_id)s and (%(id)s::uuid is null or automation_id = %(id)s) group by measure
""")
async def totals(db: Queries, *, project_id: UUID, id: UUID | None) -> list[CounterSum]: ...


# The earlier runs of a contact that decide whether another run can start; see `start_runs`. `test`: whether to count
# the runs that TEST keys started, or the others.
@statement("""
    select coalesce(bool_or(status in ('RUNNING', 'WAITING')), false) as any_unfinished,
           coalesce(bool_or(once), false) as any_with_once,
           count(*) filter (where started_at > %(now)s::timestamptz - interval '1 hour')::int as last_hour
    from automation_runs
    where project_id = %(project_id)s and automation_id = %(automation_id)s and contact_id = %(contact_id)s
      and test = %(test)s
""")
async def earlier_runs(
    db: Queries, *, project_id: UUID, automation_id: UUID, contact_id: UUID, test: bool, now: datetime
) -> EarlierRuns: ...


# Runs of an automation with ids below `before`, newest first; None disables a filter.
@statement("""
    select *, due_at as next_at from automation_runs
    where project_id = %(project_id)s and automation_id = %(automation_id)s
      and (%(before)s::uuid is null or id < %(before)s)
      and (%(statuses)s::text[] is null or status = any (%(statuses)s))
      and (%(contact_id)s::uuid is null or contact_id = %(contact_id)s)
    order by id desc limit %(limit)s
""")
async def runs(
    db: Queries,
    *,
    project_id: UUID,
    automation_id: UUID,
    before: UUID | None,
    statuses: list[str] | None,
    contact_id: UUID | None,
    limit: int,
) -> list[AutomationRun]: ...


@statement("""
    select *, due_at as next_at from automation_runs
    where project_id = %(project_id)s and automation_id = %(automation_id)s and id = %(id)s
""")
async def run(db: Queries, *, project_id: UUID, automation_id: UUID, id: UUID) -> AutomationRun | None: ...


# Whether there is a run with this id that no TEST key started.
@statement("""
    select from automation_runs
    where project_id = %(project_id)s and automation_id = %(automation_id)s and id = %(id)s and not test
""")
async def is_live_run(db: Queries, *, project_id: UUID, automation_id: UUID, id: UUID) -> bool: ...


# The history of a run. A run skips steps but never goes back, so the order of step numbers is the order of execution.
@statement("""
    select step, type, outcome, detail, started_at, finished_at from automation_run_steps
    where project_id = %(project_id)s and run_id = %(run_id)s order by step
""")
async def steps_of(db: Queries, *, project_id: UUID, run_id: UUID) -> list[AutomationRunStep]: ...


# Resume failed runs, or one of them, from the step that failed; returns them. The history entry of the failure is
# deleted. A run is not resumed if its contact was deleted or has another unfinished or later failed run of the
# automation. Runs that TEST keys started are considered separately.
@statement("""
    with failed as materialized (
        select r.project_id, r.id, r.current_step from automation_runs r
        where r.project_id = %(project_id)s and r.automation_id = %(automation_id)s and r.status = 'FAILED'
          and (%(id)s::uuid is null or r.id = %(id)s)
          and exists (select from contacts c where (c.project_id, c.id) = (r.project_id, r.contact_id))
          and not exists (
              select from automation_runs other
              where (other.project_id, other.automation_id, other.contact_id, other.test)
                    = (r.project_id, r.automation_id, r.contact_id, r.test)
                and (other.status in ('RUNNING', 'WAITING') or other.status = 'FAILED' and other.id > r.id))
        order by r.id limit %(limit)s for no key update of r skip locked
    ), deleted_steps as (
        delete from automation_run_steps s using failed
        where (s.project_id, s.run_id, s.step) = (failed.project_id, failed.id, failed.current_step)
          and s.outcome = 'FAILED' /*distributed and s.project_id = :project */
    )
    update automation_runs r set status = 'RUNNING', due_at = %(now)s, entered_at = null, waiting_for = null,
        calls = false, tried = 0, attempt = r.attempt + 1, error = null, finished_at = null
    from failed where (r.project_id, r.id) = (failed.project_id, failed.id) /*distributed and r.project_id = :project */
    returning r.*, r.due_at as next_at
""")
async def retry_runs(
    tx: Transaction, *, project_id: UUID, automation_id: UUID, id: UUID | None, limit: int, now: Moment
) -> list[AutomationRun]: ...


# Cancel an unfinished run; returns None if there is none with this id.
@statement("""
    update automation_runs set status = 'CANCELLED', due_at = null, waiting_for = null, calls = false,
        finished_at = %(now)s, attempt = attempt + 1
    where project_id = %(project_id)s and automation_id = %(automation_id)s and id = %(id)s
      and status in ('RUNNING', 'WAITING')
    returning *, due_at as next_at
""")
async def cancel_run(
    tx: Transaction, *, project_id: UUID, automation_id: UUID, id: UUID, now: Moment
) -> AutomationRun | None: ...


# Cancel the unfinished runs of deleted contacts, given as parallel lists of project and contact ids; returns the runs.
@statement("""
    update automation_runs set status = 'CANCELLED', due_at = null, waiting_for = null, calls = false,
        entered_at = null, error = %(error)s, finished_at = %(now)s, attempt = attempt + 1
    where (project_id, id) in (
        select run.project_id, run.id from automation_runs run
        join unnest(%(project_id)s::uuid[], %(contact_id)s::uuid[]) as deleted (project_id, contact_id)
          on (run.project_id, run.contact_id) = (deleted.project_id, deleted.contact_id)
        where run.status in ('RUNNING', 'WAITING')
          /*distributed and run.project_id = :project */
        order by run.project_id, run.id for no key update of run) /*distributed and project_id = :project */
    returning project_id, id, automation_id, contact_id
""")
async def cancel_runs_of_contacts(
    tx: Transaction, *, project_id: list[UUID], contact_id: list[UUID], error: str, now: Moment
) -> list[EndedRun]: ...


# Insert keys, given as parallel lists; returns those that are new or had expired.
@statement("""
    /*distributed with claimed as ( */
    insert into event_keys as existing (project_id, key, body_hash, event_id, created_at)
    select %(project_id)s::uuid, key, body_hash, event_id, %(now)s
    from unnest(%(key)s::text[], %(body_hash)s::bytea[], %(event_id)s::uuid[]) as v (key, body_hash, event_id)
    order by key
    on conflict (project_id, key) do update
        set body_hash = excluded.body_hash, event_id = excluded.event_id, created_at = excluded.created_at
        where existing.created_at at time zone 'UTC' + %(window)s::interval
              <= excluded.created_at at time zone 'UTC'
    returning key
    /*distributed ) select key from claimed */
""")
async def claim_keys(
    tx: Transaction,
    *,
    project_id: UUID,
    key: list[str],
    body_hash: list[bytes],
    event_id: list[UUID],
    now: Moment,
    window: timedelta,
) -> list[str]: ...


# The keys, among `keys`, that were used after `since`.
@statement("""
    select key, body_hash, event_id from event_keys
    where project_id = %(project_id)s and key = any (%(keys)s) and created_at > %(since)s
""")
async def used_keys(tx: Transaction, *, project_id: UUID, keys: list[str], since: datetime) -> list[UsedKey]: ...


# Delete the idempotency keys that were used before a time.
@statement("delete from event_keys where project_id = %(project_id)s and created_at < %(before)s")
async def delete_expired_keys(tx: Transaction, *, project_id: UUID, before: datetime) -> None: ...
