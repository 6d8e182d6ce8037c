"""Marketing mail that waits because of its sending domain: the domain is held while its rates of bounces or complaints
are too high, or its warm-up plan allows no more today.

A worker that has claimed such sends gives them the time until which they wait as their `due_at`, so each is claimed
once per hold or day. When a hold ends early, the sends with exactly that `due_at` become due.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any
from uuid import UUID

from postern.kernel.database.statements import Transaction
from postern.kernel.due import Work, for_each_row
from postern.kernel.values import Moment
from postern.messaging.emails import store
from postern.messaging.emails.model import MARKETING, Postponement, Send
from postern.messaging.emails.transports import is_captured
from postern.messaging.reputation import evaluation, warm_up
from postern.messaging.reputation import sending as reputation
from postern.messaging.reputation.model import REPUTATION_LEASE, DomainLimit, StoredReputation, StoredWarmUp
from postern.platform.projects import operations as projects
from postern.protocols.mail.transports.transport import WaitCause

if TYPE_CHECKING:
    from postern.world import World

RELEASE_BATCH = 2_000
"""Sends that become due in one transaction."""


async def admitted(world: "World", sends: list[Send]) -> list[Send]:
    """Return the claimed sends that may be sent now, and postpone the others. All are of one project and lane.

    Only marketing mail that leaves this server is limited.
    """
    if not sends or sends[0].lane != MARKETING:
        return sends
    project_id = sends[0].project_id
    limits = await reputation.limits_of(world.db, project_id)
    if not limits or not any(send.domain_id in limits for send in sends):
        return sends
    settings = (await projects.require_project(world.db, project_id)).settings
    waiting = set[UUID]()
    for domain_id, limit in limits.items():
        limited = [
            send for send in sends if send.domain_id == domain_id and not is_captured(world, settings, test=send.test)
        ]
        if limited:
            waiting |= await _postpone(world, limit, limited)
    return [send for send in sends if send.id not in waiting]


async def _postpone(world: "World", limit: DomainLimit, sends: Sequence[Send]) -> set[UUID]:
    """Postpone the sends that the limit of their domain does not allow now; returns their ids."""
    if limit.held_until is None:
        return await _postpone_above_ceiling(world, limit.domain_id, sends)
    now = world.clock()
    async with world.db.transaction() as tx:
        held_until = await store.lock_hold(tx, project_id=sends[0].project_id, domain_id=limit.domain_id)
        # If the domain was released in the meantime, the sends are claimed again.
        await _let_wait(tx, sends, WaitCause.REPUTATION, f"Held: {limit.reason}.", held_until or now, now)
    return {send.id for send in sends}


async def _postpone_above_ceiling(world: "World", domain_id: UUID, sends: Sequence[Send]) -> set[UUID]:
    """Postpone the sends above today's ceiling of the warm-up plan to the next day; returns their ids."""
    async with world.db.transaction() as tx:
        ids = [send.id for send in sends]
        reservations = await warm_up.reserve(tx, sends[0].project_id, domain_id, ids, world.clock())
        if reservations is None:
            return set()
        waiting = [send for send in sends if send.id not in reservations.reserved]
        if waiting:
            await _let_wait(tx, waiting, WaitCause.WARM_UP, reservations.reason, reservations.wait_until, world.clock())
    return {send.id for send in waiting}


async def _let_wait(
    tx: Transaction, sends: Sequence[Send], cause: WaitCause, reason: str, until: Moment, now: Moment
) -> None:
    postponed = [
        Postponement(
            id=send.id, attempt=send.attempt, due_at=until, scheduled_at=until, waits_for=cause.value, reason=reason
        )
        for send in sends
    ]
    await store.postpone(tx, postponed, project_id=sends[0].project_id, now=now)


async def run_evaluation(world: "World", row: StoredReputation) -> None:
    """Make the mail of a released domain due, and evaluate the rates of the domain."""
    if row.releasing is not None:
        await _release(world, row.project_id, row.id, row.releasing)
        await evaluation.end_release(world, row)
    await evaluation.evaluate(world, row)


async def run_change_of_day(world: "World", row: StoredWarmUp) -> None:
    """Make the mail due that waited for a plan which was replaced or deleted, and take the next step of the plan."""
    if row.releasing is not None:
        await _release(world, row.project_id, row.id, row.releasing)
        await warm_up.end_release(world, row)
    await warm_up.change_day(world, row)


async def _release(world: "World", project_id: UUID, domain_id: UUID, until: Moment) -> None:
    """Make the sends of a domain due that wait until exactly this time, in batches."""
    released = True
    while released:
        async with world.db.transaction() as tx:
            released = await store.release_postponed(
                tx,
                project_id=project_id,
                domain_id=domain_id,
                due_at=until,
                limit=RELEASE_BATCH,
                now=world.clock(),
            )
            if released:
                tx.mark_due("sends", project_id)


DOMAIN_LIMITS: list[Work[Any]] = [
    Work(
        name="domain_reputations",
        table="domain_reputations",
        row_type=StoredReputation,
        lease=REPUTATION_LEASE,
        do=for_each_row(run_evaluation),
        claim_size=50,
    ),
    Work(
        name="domain_warm_ups",
        table="domain_warm_ups",
        row_type=StoredWarmUp,
        lease=REPUTATION_LEASE,
        do=for_each_row(run_change_of_day),
        claim_size=50,
    ),
]
"""The background work on the reputation of sending domains."""
