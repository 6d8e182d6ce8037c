"""HTTP operations of the reputation of sending domains and of warm-up plans."""

from datetime import timedelta
from typing import Annotated
from uuid import UUID

import msgspec
import psycopg
from msgspec.structs import replace

from postern.kernel.http.call import Call
from postern.kernel.http.operation import delete, get, post, put
from postern.kernel.http.problems import require_found
from postern.kernel.values import Deleted, Moment
from postern.messaging.domains import sending as domains
from postern.messaging.domains.model import DomainMissing, SendingDomain
from postern.messaging.reputation import evaluation, rules, store, warm_up
from postern.messaging.reputation.model import (
    MAX_SERIES_DAYS,
    NothingHeld,
    Reputation,
    ReputationDay,
    ReputationRelease,
    StoredReputation,
    StoredWarmUp,
    WarmUp,
    WarmUpMissing,
    WarmUpPlan,
)
from postern.platform.audit import operations as audit
from postern.platform.events import operations as events

SeriesDays = Annotated[
    int,
    msgspec.Meta(ge=1, le=MAX_SERIES_DAYS, description="The number of past days in `days`, in UTC, including today."),
]
REPUTATION = "/projects/{project_id}/domains/{domain_id}/reputation"
WARM_UP = "/projects/{project_id}/domains/{domain_id}/warm-up"


@get(REPUTATION, needs="domains:read", problems=(DomainMissing,))
async def get_domain_reputation(call: Call, domain_id: UUID, days: SeriesDays = 30) -> Reputation:
    """Get the rates of hard bounces and complaints of a domain, its state, and the numbers of each day.

    The rates are those of the last seven days, or since the last release. From 2 % bounces or 0.1 % complaints on, the
    state is WARNING. From 5 % or 0.3 % on it is HELD: marketing mail of the domain waits until both rates are below the
    lower thresholds, or until it is released. Transactional mail is still sent. The operator can set other thresholds.
    """
    domain = await _require_domain(call, domain_id)
    row = await store.get_reputation(call.db, project_id=call.project_id, id=domain_id)
    return await _reputation(call, domain, row, days)


@post(
    f"{REPUTATION}/release",
    needs="domains:write",
    problems=(DomainMissing, NothingHeld),
    example={"reason": "Removed the bought addresses of the list"},
)
async def release_domain_reputation(call: Call, domain_id: UUID, data: ReputationRelease) -> Reputation:
    """Release the held marketing mail of a domain. From now on, only mail that is sent after the release counts.

    The waiting messages are sent soon. Remove the cause first: if the rates of the new mail are above the thresholds,
    marketing mail is held again. The reason is stored in the audit log.
    """
    domain = await _require_domain(call, domain_id)
    async with call.db.transaction() as tx:
        row = await store.lock_reputation(tx, project_id=call.project_id, id=domain_id)
        if row is None or row.state != "HELD":
            raise NothingHeld
        before = await evaluation.window_counts(tx, call.project_id, domain_id, row, call.now)
        released = await evaluation.release(tx, row, call.now)
        event = evaluation.event_data(
            domain.domain, row.reason, before.counts, rules.thresholds_of(call.world.settings)
        )
        await events.record(tx, call, "domain.reputation_released", domain_id, **event)
        await audit.record(
            tx,
            call,
            "domain.reputation_released",
            "Domain",
            domain_id,
            domain=domain.domain,
            reason=data.reason,
            held_because=row.reason,
        )
    return await _reputation(call, domain, released, days=30)


async def _require_domain(call: Call, id: UUID) -> SendingDomain:
    sending_domains = await domains.sending_domains(call.db, call.project_id, [id])
    return require_found(sending_domains[0] if sending_domains else None, DomainMissing)


async def _reputation(call: Call, domain: SendingDomain, row: StoredReputation | None, days: int) -> Reputation:
    window = await evaluation.window_counts(call.db, call.project_id, domain.id, row, call.now)
    since = rules.midnight(call.now.date() - timedelta(days=days - 1))
    by_day = {day.day: day for day in await evaluation.days_since(call.db, call.project_id, domain.id, since, call.now)}
    return Reputation(
        domain_id=domain.id,
        domain=domain.domain,
        state=row.state if row else "HEALTHY",
        since=row.since if row and row.state != "HEALTHY" else None,
        reason=row.reason if row else None,
        held_until=row.held_until if row else None,
        counted_from=window.since,
        counts=window.counts,
        bounce_rate=rules.rate_of(window.counts.bounced, window.counts.messages),
        complaint_rate=rules.rate_of(window.counts.complained, window.counts.messages),
        thresholds=rules.thresholds_of(call.world.settings),
        days=[
            by_day.get(day) or ReputationDay(day=day, messages=0, bounced=0, complained=0)
            for day in (since.date() + timedelta(days=index) for index in range(days))
        ],
    )


@put(WARM_UP, needs="domains:write", problems=(DomainMissing,), example={"targetPerDay": 5_000})
async def put_domain_warm_up(call: Call, domain_id: UUID, data: WarmUpPlan) -> WarmUp:
    """Set the warm-up plan of a domain: how many messages it may send on each day, in UTC. Replaces an existing plan.

    With `targetPerDay`, the ceilings are 50, 100, 200 … up to the target, or grow by the same factor on each of `days`
    days; `steps` sets each ceiling. Marketing mail above the ceiling waits for the next day. Transactional mail counts
    but never waits. The step of a day on which nothing was sent, or after which the domain's rates are above a
    threshold, is repeated.
    """
    domain = await _require_domain(call, domain_id)
    today = call.now.date()
    steps, start = rules.steps_of(data), rules.first_day(data, today)
    async with call.db.transaction() as tx:
        before = await store.lock_warm_up(tx, project_id=call.project_id, id=domain_id)
        new = StoredWarmUp(
            project_id=call.project_id,
            id=domain_id,
            status="ACTIVE" if start == today else "SCHEDULED",
            starts_on=start,
            steps=steps,
            step=0,
            day=start,
            used=0,
            repeated=0,
            ended_at=None,
            releasing=rules.midnight(today + timedelta(days=1)),
            due_at=call.now,
            attempt=0,
            created_at=call.now,
            updated_at=call.now,
        )
        try:
            row = await store.put_warm_up(tx, new)
        except psycopg.errors.ForeignKeyViolation:
            raise DomainMissing from None
        if row.status == "ACTIVE" and (before is None or before.status != "ACTIVE"):
            await warm_up.record_change(tx, row, warm_up.STARTED, call.now)
        tx.mark_due("domain_warm_ups", call.project_id)
        await audit.record(
            tx, call, "domain.warm_up_set", "Domain", domain_id, domain=domain.domain, start=str(start), steps=steps
        )
    return _warm_up(domain, row, call.now)


@get(WARM_UP, needs="domains:read", problems=(DomainMissing, WarmUpMissing))
async def get_domain_warm_up(call: Call, domain_id: UUID) -> WarmUp:
    """Get the warm-up plan of a domain and its progress. A completed plan is kept until it is replaced or deleted."""
    domain = await _require_domain(call, domain_id)
    row = await store.get_warm_up(call.db, project_id=call.project_id, id=domain_id)
    return _warm_up(domain, require_found(row, WarmUpMissing), call.now)


@delete(WARM_UP, needs="domains:write", problems=(DomainMissing, WarmUpMissing))
async def delete_domain_warm_up(call: Call, domain_id: UUID) -> Deleted:
    """End the warm-up plan of a domain. The messages that wait for it are sent soon, without a ceiling."""
    domain = await _require_domain(call, domain_id)
    async with call.db.transaction() as tx:
        row = await store.lock_warm_up(tx, project_id=call.project_id, id=domain_id)
        if row is None or row.status == "CANCELLED":
            raise WarmUpMissing
        cancelled = replace(
            row,
            status="CANCELLED",
            ended_at=row.ended_at or call.now,
            releasing=rules.midnight(call.now.date() + timedelta(days=1)),
            due_at=call.now,
            updated_at=call.now,
        )
        await store.update_warm_up(tx, cancelled)
        if row.status == "ACTIVE":
            await warm_up.record_change(tx, cancelled, warm_up.ENDED, call.now)
        tx.mark_due("domain_warm_ups", call.project_id)
        await audit.record(tx, call, "domain.warm_up_deleted", "Domain", domain_id, domain=domain.domain)
    return Deleted()


def _warm_up(domain: SendingDomain, row: StoredWarmUp, now: Moment) -> WarmUp:
    is_today = row.status == "ACTIVE" and row.day == now.date()
    return WarmUp(
        domain_id=domain.id,
        domain=domain.domain,
        status=row.status,
        starts_on=row.starts_on,
        steps=row.steps,
        step=row.step + 1,
        ceiling=row.ceiling if row.status == "ACTIVE" else None,
        used=row.used if is_today else 0,
        repeated_days=row.repeated,
        next_day_at=rules.next_day_at(row),
        last_day=rules.last_day(row),
        ended_at=row.ended_at,
        created_at=row.created_at,
        updated_at=row.updated_at,
    )
