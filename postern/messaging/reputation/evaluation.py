"""Evaluation of a domain's bounce and complaint rates: its state, events of changes, and the release of held mail."""

from collections.abc import Sequence
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING, Any
from uuid import UUID

import msgspec
from msgspec.structs import replace

from postern.kernel.database.statements import Queries, Transaction
from postern.kernel.values import Moment
from postern.messaging.domains import sending as domains
from postern.messaging.reputation import rules, store
from postern.messaging.reputation.model import (
    COUNTER_RETENTION,
    COUNTERS_DELETED_AT_ONCE,
    EVALUATION_INTERVAL,
    REPUTATION_WINDOW,
    ReputationCounts,
    ReputationDay,
    ReputationState,
    ReputationThresholds,
    StoredReputation,
)
from postern.platform.events import operations as events
from postern.platform.events.model import EventRow

if TYPE_CHECKING:
    from postern.world import World

EVENTS: dict[tuple[ReputationState, ReputationState], str] = {
    ("HEALTHY", "WARNING"): "domain.reputation_warning",
    ("HEALTHY", "HELD"): "domain.reputation_held",
    ("WARNING", "HELD"): "domain.reputation_held",
    ("WARNING", "HEALTHY"): "domain.reputation_recovered",
    ("HELD", "HEALTHY"): "domain.reputation_released",
}
"""The type of the event for each change of the state. There is no change from HELD to WARNING."""


class WindowCounts(msgspec.Struct, frozen=True, kw_only=True):
    """The counts from which the rates of a domain are computed, and the time since which they count."""

    since: Moment
    """The start of the period in which the messages were sent; it ends now."""
    counts: ReputationCounts


async def evaluate(world: "World", row: StoredReputation) -> None:
    """Compute the rates of a domain and store its state. Records an event if the state changes.

    If the domain is not HELD any more, sets `releasing` and makes the row due at once, so that a worker makes the held
    mail due. Changes nothing if the domain was deleted or a later attempt has begun.
    """
    thresholds = rules.thresholds_of(world.settings)
    async with world.db.transaction() as tx:
        locked = await store.lock_reputation(tx, project_id=row.project_id, id=row.id)
        if locked is None or locked.attempt != row.attempt:
            return
        now = world.clock()
        window = await window_counts(tx, row.project_id, row.id, locked, now)
        changed = _after(locked, rules.judge(window.counts, thresholds), now)
        await store.update_reputation(tx, changed)
        await store.delete_expired_counters(
            tx,
            project_id=row.project_id,
            domain_id=row.id,
            before=now - COUNTER_RETENTION,
            limit=COUNTERS_DELETED_AT_ONCE,
        )
        if event := await _event_of_change(tx, locked, changed, window.counts, thresholds, now):
            await events.record_all(tx, [event])
        if changed.releasing:
            tx.mark_due("domain_reputations", row.project_id)


def _after(row: StoredReputation, verdict: rules.Verdict, now: Moment) -> StoredReputation:
    """The row of a domain after an evaluation."""
    state = rules.next_state(row.state, verdict)
    if state == "HEALTHY":
        # The `due_at` of held mail is `held_until`. Without a current hold, mail of an earlier one may not be due yet.
        releasing = row.held_until or row.releasing
        due_at = now if releasing else None
        since = row.since if row.state == "HEALTHY" else now
        return replace(row, state=state, since=since, reason=None, held_until=None, releasing=releasing, due_at=due_at)
    held_until = None
    if state == "HELD":
        held_until = row.held_until
        if held_until is None or held_until <= now + EVALUATION_INTERVAL:
            held_until = Moment.of(now + REPUTATION_WINDOW)
    keeps_reason = state == row.state == "HELD" and verdict.state != "HELD"
    return replace(
        row,
        state=state,
        since=row.since if state == row.state else now,
        reason=row.reason if keeps_reason else verdict.reason,
        held_until=held_until,
        due_at=Moment.of(now + EVALUATION_INTERVAL),
    )


async def _event_of_change(
    tx: Transaction,
    before: StoredReputation,
    after: StoredReputation,
    counts: ReputationCounts,
    thresholds: ReputationThresholds,
    now: Moment,
) -> EventRow | None:
    type_ = EVENTS.get((before.state, after.state))
    sending_domains = await domains.sending_domains(tx, before.project_id, [before.id]) if type_ else []
    if type_ is None or not sending_domains:
        return None
    data = event_data(sending_domains[0].domain, after.reason or before.reason, counts, thresholds)
    return events.make_event(before.project_id, type_, before.id, now, **data)


def event_data(
    domain: str, reason: str | None, counts: ReputationCounts, thresholds: ReputationThresholds
) -> dict[str, Any]:
    """The data of an event about the reputation of a domain."""
    return {
        "domain": domain,
        "reason": reason,
        "messages": counts.messages,
        "bounced": counts.bounced,
        "complained": counts.complained,
        "bounceRate": rules.rate_of(counts.bounced, counts.messages),
        "complaintRate": rules.rate_of(counts.complained, counts.messages),
        "bounceLimit": thresholds.bounces.hold,
        "complaintLimit": thresholds.complaints.hold,
    }


async def window_counts(
    db: Queries, project_id: UUID, domain_id: UUID, row: StoredReputation | None, now: Moment
) -> WindowCounts:
    """Count the mail from which the rates of a domain are computed: that of the last seven days, from the start of an
    hour on, or only that since the last release if it is later."""
    since = _hour(now - REPUTATION_WINDOW)
    counted_from = row.counted_from if row else None
    after_release = counted_from is not None and counted_from > since
    begin = counted_from if after_release and counted_from else since
    days = await days_since(db, project_id, domain_id, _hour(begin), now)
    counts = ReputationCounts(
        messages=sum(day.messages for day in days),
        bounced=sum(day.bounced for day in days),
        complained=sum(day.complained for day in days),
    )
    if row is not None and after_release:
        counts = ReputationCounts(
            messages=max(0, counts.messages - row.uncounted_messages),
            bounced=max(0, counts.bounced - row.uncounted_bounced),
            complained=max(0, counts.complained - row.uncounted_complained),
        )
    return WindowCounts(since=begin, counts=counts)


async def days_since(
    db: Queries, project_id: UUID, domain_id: UUID, since: Moment, now: Moment
) -> Sequence[ReputationDay]:
    """The counts of a domain by day, oldest first, without days that have no messages.

    `since` is the start of an hour, because the counters are by hour.
    """
    accepted = {
        row.day: row.accepted
        for row in await store.accepted_by_day(db, project_id=project_id, domain_id=domain_id, since=since, now=now)
    }
    failures = {
        row.day: row for row in await store.failures_by_day(db, project_id=project_id, domain_id=domain_id, since=since)
    }
    return [_day(day, accepted.get(day, 0), failures.get(day)) for day in sorted({*accepted, *failures})]


def _day(day: date, accepted: int, failures: store.FailuresOfDay | None) -> ReputationDay:
    bounced, complained = (failures.bounced, failures.complained) if failures else (0, 0)
    return ReputationDay(day=day, messages=max(accepted, 0) + bounced, bounced=bounced, complained=complained)


def _hour(moment: datetime) -> Moment:
    return Moment.of(moment.astimezone(UTC).replace(minute=0, second=0, microsecond=0))


async def release(tx: Transaction, row: StoredReputation, now: Moment) -> StoredReputation:
    """End the hold of a domain, so that only mail from now on counts; returns the new row. The caller has locked it."""
    this_hour = await days_since(tx, row.project_id, row.id, _hour(now), now)
    released = replace(
        row,
        state="HEALTHY",
        since=now,
        reason=None,
        held_until=None,
        releasing=row.held_until,
        counted_from=now,
        uncounted_messages=sum(day.messages for day in this_hour),
        uncounted_bounced=sum(day.bounced for day in this_hour),
        uncounted_complained=sum(day.complained for day in this_hour),
        due_at=now,
    )
    await store.update_reputation(tx, released)
    tx.mark_due("domain_reputations", released.project_id)
    return released


async def end_release(world: "World", row: StoredReputation) -> None:
    """Clear `releasing` after the mail that waited until this time was made due, unless it has changed meanwhile."""
    async with world.db.transaction() as tx:
        locked = await store.lock_reputation(tx, project_id=row.project_id, id=row.id)
        if locked is not None and locked.releasing == row.releasing:
            await store.update_reputation(tx, replace(locked, releasing=None))
