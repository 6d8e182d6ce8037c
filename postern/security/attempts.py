"""Attempts to prove who one is: each is counted before it is judged, so that parallel guesses cannot share one count.

Counted are an identifier (a keyed hash of an address, say) from one network, and, with a far higher limit, from
everywhere. All processes count together, in the database.
"""

from datetime import timedelta
from uuid import UUID

import msgspec

from postern.kernel.clock import Moment
from postern.kernel.database.statements import Queries, Transaction
from postern.kernel.values import new_id
from postern.security import attempt_store

EVERYWHERE = ""
"""Stands for all networks together."""


class AttemptLimits(msgspec.Struct, frozen=True, kw_only=True):
    """How many attempts may fail, and what follows."""

    failures: int
    """From one network within `window`; the last of them locks."""
    everywhere: int
    """From all networks together within `window`."""
    window: timedelta
    kept: timedelta
    """How long failures are kept; longer than any lock."""
    lock: timedelta
    """The first lock; each further one is twice as long."""
    lock_max: timedelta


class AttemptPolicy(msgspec.Struct, frozen=True, kw_only=True):
    """The attempts at one identifier from one network."""

    project_id: UUID
    """NO_ID for developers."""
    identifier: bytes
    network: str
    limits: AttemptLimits


class Locked(Exception):
    """Too many attempts failed; `until` is when the next one may be made."""

    def __init__(self, until: Moment) -> None:
        super().__init__(until)
        self.until = until


async def begin_attempt(db: Queries, attempts: AttemptPolicy, now: Moment) -> int:
    """Count one more attempt, which may be judged then; returns its number. Raises Locked."""
    limits = attempts.limits
    found = await _take(db, attempts, attempts.network, now)
    if found.locked_until is not None and found.locked_until > now:
        raise Locked(found.locked_until)
    if found.failures > limits.failures or found.everywhere >= limits.everywhere:
        raise Locked(Moment.of(now + limits.lock))
    return found.failures


async def attempt_failed(tx: Transaction, attempts: AttemptPolicy, number: int, now: Moment) -> bool:
    """Note that the attempt with this number failed; true if that locks the identifier for the network."""
    limits = attempts.limits
    await _take(tx, attempts, EVERYWHERE, now)
    return number >= limits.failures and await attempt_store.lock_out(
        tx,
        project_id=attempts.project_id,
        identifier=attempts.identifier,
        ip_address=attempts.network,
        now=now,
        first=_seconds(limits.lock),
        most=_seconds(limits.lock_max),
    )


async def attempt_succeeded(tx: Transaction, attempts: AttemptPolicy, now: Moment, *, forgives: bool) -> None:
    """Take the attempt back; where it `forgives`, forget what failed from this network before as well."""
    if forgives:
        await attempt_store.clear(
            tx, project_id=attempts.project_id, identifier=attempts.identifier, ip_address=attempts.network
        )
    else:
        await attempt_store.take_back(
            tx, project_id=attempts.project_id, identifier=attempts.identifier, ip_address=attempts.network, now=now
        )


async def clear_lock(tx: Transaction, attempts: AttemptPolicy) -> None:
    """Forget what failed from every network, and any lock that came of it."""
    await attempt_store.clear(tx, project_id=attempts.project_id, identifier=attempts.identifier, ip_address=None)


async def _take(db: Queries, attempts: AttemptPolicy, network: str, now: Moment) -> attempt_store.Failures:
    return await attempt_store.take_attempt(
        db,
        project_id=attempts.project_id,
        id=new_id(),
        identifier=attempts.identifier,
        ip_address=network,
        now=now,
        window=_seconds(attempts.limits.window),
        kept=_seconds(attempts.limits.kept),
    )


def _seconds(span: timedelta) -> str:
    return f"{span.total_seconds()} seconds"
