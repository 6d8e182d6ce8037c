"""Warm-up plans of source addresses (IP addresses from which the server sends): how many messages may leave from each
address on a day, and the choice of an address for each message.

The ceiling is the number of messages that may leave from an address on a day. A message gets a reservation before it
is sent, under a lock on the row of the plan, so a ceiling holds for the workers of all hosts together. The table
`source_places` has the reservations. Receivers judge an address by all of its mail, so transactional messages get
reservations, too; but if all addresses have reached their ceilings, only marketing mail waits.
"""

from collections.abc import Callable, Mapping, Sequence
from datetime import date, timedelta
from ipaddress import ip_address

import msgspec
import structlog
from msgspec.structs import replace

from postern.kernel.database.statements import Queries, Transaction
from postern.kernel.http.problems import Invalid
from postern.kernel.values import Moment
from postern.messaging.domains import sending as domains
from postern.messaging.reputation import rules, source_store
from postern.messaging.reputation.model import RESERVATIONS_DELETED_AT_ONCE, SourceWarmUp, WarmUpPlan

log: structlog.stdlib.BoundLogger = structlog.get_logger(__name__)


class DeclaredWarmUp(msgspec.Struct, frozen=True, kw_only=True):
    """The plan of an address as the operator has declared it in POSTERN_SOURCES."""

    steps: tuple[int, ...]
    """The ceiling of each step. A step takes one day, or several if it is repeated."""
    start: date | None = None
    """The first day in UTC; None for the day on which a process with this plan first sends."""


class SourceRequest(msgspec.Struct, frozen=True, kw_only=True):
    """A message that is about to be sent by the transport `direct`."""

    message_id: str
    """The same in all attempts of the message."""
    pool: tuple[str, ...]
    """The addresses from which the message may be sent; at least one."""
    waits: bool
    """Whether it waits for the next day if all addresses have reached their ceilings."""


class SourceGrant(msgspec.Struct, frozen=True, kw_only=True):
    """The addresses from which a message may be sent now, or the time until which it waits."""

    addresses: tuple[str, ...] = ()
    """Empty if the message waits."""
    wait_until: Moment | None = None
    """None if the message does not wait."""
    reason: str = ""
    """Why the message waits."""


def declared_warm_up(options: Mapping[str, str]) -> DeclaredWarmUp | None:
    """The plan in the options of an address: `warm-up` with the ceiling of the last day or with all ceilings separated
    by commas, and perhaps `days` and `start`. None without them. Raises ValueError."""
    names = options.keys() & {"warm-up", "days", "start"}
    if "warm-up" not in names:
        if names:
            raise ValueError(f"{min(names)} needs warm-up.")
        return None
    text = options["warm-up"]
    fields: dict[str, object] = {"steps": text.split(",")} if "," in text else {"targetPerDay": text}
    fields |= {name: options[name] for name in ("days", "start") if name in names}
    try:
        plan = msgspec.convert(fields, WarmUpPlan, strict=False)
        return DeclaredWarmUp(steps=tuple(rules.steps_of(plan)), start=plan.start)
    except msgspec.ValidationError as error:
        raise ValueError(str(error)) from None
    except Invalid as invalid:
        raise ValueError(invalid.errors[0].message if invalid.errors else invalid.detail) from None


def row_of(address: str, declared: DeclaredWarmUp, existing: SourceWarmUp | None, now: Moment) -> SourceWarmUp:
    """The row of a declared plan; `existing` itself if the plan has not changed.

    A changed first day restarts the plan. Changed ceilings continue it at the last new ceiling that is not above the
    present one, so that a higher target does not send an address back to its first day.
    """
    today, steps = now.date(), list(declared.steps)
    if existing is None or declared.start not in (None, existing.starts_on):
        start = declared.start or today
        return SourceWarmUp(
            address=address,
            status="SCHEDULED" if start > today else "ACTIVE",
            starts_on=start,
            steps=steps,
            step=0,
            day=max(start, today),
            used=0,
            repeated=0,
            ended_at=None,
            created_at=existing.created_at if existing else now,
            updated_at=now,
        )
    if existing.steps == steps:
        return existing
    step = rules.continued_step(steps, existing.ceiling)
    ended = existing.status == "COMPLETED" and steps[-1] <= existing.ceiling
    status = existing.status if existing.status == "SCHEDULED" else "COMPLETED" if ended else "ACTIVE"
    restarted = existing.status == "COMPLETED" and not ended
    return replace(
        existing,
        status=status,
        steps=steps,
        step=len(steps) - 1 if ended else step,
        day=today if restarted else existing.day,
        used=0 if restarted else existing.used,
        ended_at=existing.ended_at if ended else None,
        updated_at=now,
    )


async def declare(tx: Transaction, declared: Mapping[str, DeclaredWarmUp], now: Moment) -> None:
    """Store the declared plans, keyed by address. Plans of other addresses stay: other hosts may have declared them."""
    for address in sorted(declared):
        await source_store.insert_source_warm_up(tx, row_of(address, declared[address], None, now))
    for row in await source_store.lock_source_warm_ups(tx, addresses=sorted(declared)):
        changed = row_of(row.address, declared[row.address], row, now)
        if changed is not row:
            log.info("source_warm_up_changed", address=row.address, status=changed.status, ceiling=changed.ceiling)
            await source_store.update_source_warm_up(tx, changed)


async def warm_ups(db: Queries, now: Moment) -> list[SourceWarmUp]:
    """The plans of all addresses with the step of today, also of addresses that are not declared any more. Stores
    nothing."""
    return [await _as_of(db, row, now) for row in await source_store.source_warm_ups(db)]


async def _as_of(db: Queries, row: SourceWarmUp, now: Moment) -> SourceWarmUp:
    """The row with the step of today. If a new day has begun and the address is on a blocklist, the step is repeated,
    as after a day without messages."""
    if row.status != "ACTIVE" or now.date() <= row.day:
        return rules.advance(row, now, "HEALTHY")
    is_listed = await domains.is_listed(db, row.address)
    return rules.advance(row, now, "WARNING" if is_listed else "HEALTHY")


class Ceilings:
    """The plans of the addresses of some messages, whose rows are locked, and the reservations of these messages."""

    def __init__(self, rows: Sequence[SourceWarmUp], reservations: Sequence[source_store.SourceReservation]) -> None:
        self.rows = {row.address: row for row in rows}
        self._reserved = {(reservation.address, reservation.message_id) for reservation in reservations}
        self.added: list[tuple[str, str]] = []
        """The new reservations: pairs of address and message id."""

    def is_unlimited(self, address: str) -> bool:
        """Whether an address has no ceiling: it has no plan, or has completed it."""
        return address not in self.rows or self.rows[address].status == "COMPLETED"

    def has_reservation(self, address: str, message_id: str) -> bool:
        """Whether the message has a reservation at an address for today."""
        return (address, message_id) in self._reserved

    def is_below_ceiling(self, address: str) -> bool:
        """Whether another message may leave from an address today."""
        row = self.rows.get(address)
        return row is None or row.status == "COMPLETED" or (row.status == "ACTIVE" and row.used < row.ceiling)

    def reserve(self, address: str, message_id: str) -> None:
        """Make a reservation for a message at an address, even if the ceiling is reached."""
        row = self.rows[address]
        self._reserved.add((address, message_id))
        self.added.append((address, message_id))
        if row.status == "ACTIVE":
            self.rows[address] = replace(row, used=row.used + 1)

    def choose(self, family: Sequence[str], message_id: str, chance: Callable[[], float]) -> tuple[str, ...]:
        """The addresses among `family` (all IPv4, or all IPv6) from which a message may be sent: one with a ceiling, at
        which the message gets a reservation, or all without one. Empty if all have reached their ceilings.

        Each address gets an equal part of the mail until it reaches its ceiling.
        """
        for address in family:
            if self.has_reservation(address, message_id):
                return (address,)
        free = [address for address in family if self.is_below_ceiling(address)]
        if not free:
            return ()
        chosen = free[int(chance() * len(free))]
        if self.is_unlimited(chosen):
            return tuple(address for address in family if self.is_unlimited(address))
        self.reserve(chosen, message_id)
        return (chosen,)


def grant(ceilings: Ceilings, request: SourceRequest, chance: Callable[[], float]) -> SourceGrant:
    """Choose the addresses of a message, separately for IPv4 and IPv6: the recipient's mail server decides which one is
    used.

    A message that may wait (`request.waits`) waits if all IPv4 addresses of its pool have reached their ceilings. In a
    pool without IPv4 addresses, this applies to the IPv6 addresses.
    """
    families = [[address for address in request.pool if ip_address(address).version == version] for version in (4, 6)]
    first, *others = [family for family in families if family]
    addresses = ceilings.choose(first, request.message_id, chance)
    if not addresses and request.waits:
        return _waiting(ceilings, first)
    if not addresses:
        # Mail that must not wait, such as a password reset, exceeds the ceiling.
        usable = [address for address in first if ceilings.rows[address].status == "ACTIVE"] or first
        addresses = (usable[int(chance() * len(usable))],)
        ceilings.reserve(addresses[0], request.message_id)
    for family in others:
        addresses += ceilings.choose(family, request.message_id, chance)
    return SourceGrant(addresses=addresses)


def _waiting(ceilings: Ceilings, family: Sequence[str]) -> SourceGrant:
    """The grant of a message that waits, because all addresses of a family have reached their ceilings."""
    rows = [ceilings.rows[address] for address in family]
    wait_until = min(moment for row in rows if (moment := rules.next_day_at(row)) is not None)
    ceiling = sum(row.ceiling for row in rows if row.status == "ACTIVE")
    names = rows[0].address if len(rows) == 1 else f"{rows[0].address} and {len(rows) - 1} more"
    day = wait_until.date()
    if not ceiling:
        return SourceGrant(wait_until=wait_until, reason=f"Warm-up of the sending address {names}: begins on {day}.")
    today = day - timedelta(days=1)
    reason = f"Warm-up of the sending address {names}: {ceiling:,} messages on {today} (UTC). Continues on {day}."
    return SourceGrant(wait_until=wait_until, reason=reason)


async def reserve_sources(
    tx: Transaction,
    requests: Sequence[SourceRequest],
    warming: frozenset[str],
    now: Moment,
    chance: Callable[[], float],
) -> tuple[list[SourceGrant], list[SourceWarmUp]]:
    """Choose the addresses of messages, and make a reservation at each chosen address that has a ceiling. Returns the
    grants, in order, and the plans.

    A message that has a reservation for today keeps it. `warming`: the addresses that may have a plan which has not
    ended; their rows are locked until the end of the transaction. `chance` gives 0 ≤ x < 1.
    """
    addresses = sorted(warming & {address for request in requests for address in request.pool})
    before = await source_store.lock_source_warm_ups(tx, addresses=addresses)
    rows = [await _as_of(tx, row, now) for row in before]
    active = [row for row in rows if row.status == "ACTIVE"]
    reservations = await source_store.source_reservations(
        tx,
        addresses=[row.address for row in active],
        days=[row.day for row in active],
        message_ids=[request.message_id for request in requests],
    )
    ceilings = Ceilings(rows, reservations)
    grants = [grant(ceilings, request, chance) for request in requests]
    if ceilings.added:
        await source_store.insert_source_reservations(
            tx,
            addresses=[address for address, _ in ceilings.added],
            days=[ceilings.rows[address].day for address, _ in ceilings.added],
            message_ids=[message_id for _, message_id in ceilings.added],
        )
    for row in before:
        await _store(tx, row, ceilings.rows[row.address], now)
    return grants, list(ceilings.rows.values())


async def _store(tx: Transaction, before: SourceWarmUp, after: SourceWarmUp, now: Moment) -> None:
    if after == before:
        return
    await source_store.update_source_warm_up(tx, replace(after, updated_at=now))
    if (after.status, after.day) != (before.status, before.day):
        log.info("source_warm_up_day", address=after.address, status=after.status, ceiling=after.ceiling)
        await source_store.delete_expired_source_reservations(
            tx, address=after.address, before=after.day, limit=RESERVATIONS_DELETED_AT_ONCE
        )
