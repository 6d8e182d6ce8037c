"""Warm-up plans of domains: the daily step of a plan, and which marketing messages may be sent on a day.

The ceiling is the number of messages that a domain may send on a day. A marketing message needs a reservation before
it is sent; without a reservation it waits for the next day. The table `warm_up_places` has the reservations.
"""

from collections.abc import Sequence
from datetime import timedelta
from typing import TYPE_CHECKING, Any
from uuid import UUID

import msgspec
from msgspec.structs import replace

from postern.kernel.database.statements import Transaction
from postern.kernel.values import Moment
from postern.messaging.domains import sending as domains
from postern.messaging.reputation import rules, store
from postern.messaging.reputation.model import RESERVATIONS_DELETED_AT_ONCE, ReputationState, StoredWarmUp
from postern.platform.events import operations as events

if TYPE_CHECKING:
    from postern.world import World

STARTED, ENDED = "domain.warm_up_started", "domain.warm_up_ended"


class Reservations(msgspec.Struct, frozen=True, kw_only=True):
    """Which messages may be sent today, and until when the others wait."""

    reserved: frozenset[UUID]
    """The sends that have a reservation for today."""
    wait_until: Moment
    """When the next day begins, for which sends without a reservation wait."""
    reason: str
    """Why sends without a reservation wait."""


async def change_day(world: "World", row: StoredWarmUp) -> None:
    """Take the next step of a plan when a day begins. Changes nothing if a later attempt has begun."""
    async with world.db.transaction() as tx:
        locked = await store.lock_warm_up(tx, project_id=row.project_id, id=row.id)
        if locked is None or locked.attempt != row.attempt:
            return
        now = world.clock()
        current = await _advance(tx, locked, now)
        # Also set `due_at` if nothing else has changed, because the claim has moved it to the end of the lease.
        await store.update_warm_up(tx, replace(current, due_at=rules.next_day_at(current)))
        await store.delete_expired_reservations(
            tx,
            project_id=row.project_id,
            domain_id=row.id,
            before=current.day,
            limit=RESERVATIONS_DELETED_AT_ONCE,
        )


async def _advance(tx: Transaction, row: StoredWarmUp, now: Moment) -> StoredWarmUp:
    """The locked row with the step of today; records the events of its start and its end. Does not store the row."""
    reputation = await store.get_reputation(tx, project_id=row.project_id, id=row.id)
    state: ReputationState = reputation.state if reputation else "HEALTHY"
    current = rules.advance(row, now, state)
    if current.status != row.status:
        await record_change(tx, current, STARTED if current.status == "ACTIVE" else ENDED, now)
    return current if current is row else replace(current, due_at=rules.next_day_at(current))


async def record_change(tx: Transaction, row: StoredWarmUp, type_: str, now: Moment) -> None:
    """Record the event that a plan has started or ended."""
    for domain in await domains.sending_domains(tx, row.project_id, [row.id]):
        data: dict[str, Any] = {
            "domain": domain.domain,
            "status": row.status,
            "ceiling": row.ceiling,
            "lastCeiling": row.steps[-1],
        }
        await events.record_all(tx, [events.make_event(row.project_id, type_, row.id, now, **data)])


async def reserve(
    tx: Transaction, project_id: UUID, domain_id: UUID, send_ids: Sequence[UUID], now: Moment
) -> Reservations | None:
    """Make reservations for sends, in their order, up to today's ceiling; None if the domain has no active plan.

    A message that has a reservation for today keeps it, so that a repeated attempt reserves no second one. The row of
    the plan is locked until the end of the transaction, so the ceiling holds for all workers together.
    """
    row = await store.lock_warm_up(tx, project_id=project_id, id=domain_id)
    if row is None:
        return None
    current = await _advance(tx, row, now)
    reservations = None
    if current.status == "ACTIVE":
        key: dict[str, Any] = {"project_id": project_id, "domain_id": domain_id, "day": current.day}
        earlier = set(await store.reserved_sends(tx, send_ids=list(send_ids), **key))
        free = max(0, current.ceiling - current.used)
        added = [send_id for send_id in send_ids if send_id not in earlier][:free]
        if added:
            await store.insert_reservations(tx, send_ids=added, **key)
        current = replace(current, used=current.used + len(added))
        tomorrow = current.day + timedelta(days=1)
        reservations = Reservations(
            reserved=frozenset({*earlier, *added}),
            wait_until=rules.midnight(tomorrow),
            reason=f"Warm-up: {current.ceiling:,} messages on {current.day} (UTC). Continues on {tomorrow}.",
        )
    if current != row:
        await store.update_warm_up(tx, current)
    return reservations


async def end_release(world: "World", row: StoredWarmUp) -> None:
    """Clear `releasing` after the mail that waited until this time was made due, unless it has changed meanwhile."""
    async with world.db.transaction() as tx:
        locked = await store.lock_warm_up(tx, project_id=row.project_id, id=row.id)
        if locked is not None and locked.releasing == row.releasing:
            await store.update_warm_up(tx, replace(locked, releasing=None))
