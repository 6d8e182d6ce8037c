"""Limits on attempts to prove an identity, for developers and customers alike.

An attempt is counted before the password or code is checked, so that parallel guesses cannot share one count. Each
counts twice: by identifier and network (who asks), and by identifier alone (who is asked for), with a far higher limit.
The identifier is a keyed hash of an address or of a person's id; addresses that nobody has are counted alike. The
counts lie in the database, so all processes count together.
"""

import math
from datetime import timedelta
from uuid import UUID

import msgspec

from postern.kernel.clock import Moment
from postern.kernel.database.statements import Queries, Transaction
from postern.kernel.values import new_id
from postern.security import attempt_store
from postern.security.attempt_store import AttemptCount

EVERYWHERE = ""
"""In place of a network: all networks together."""


class AttemptLimits(msgspec.Struct, frozen=True, kw_only=True):
    """How many attempts may fail, and for how long the next ones are refused."""

    failures: int
    """From one network within `window`; the last of them locks the identifier for this network."""
    everywhere: int
    """From all networks together within `window`."""
    window: timedelta
    kept: timedelta
    """How long a count is kept; longer than any lock."""
    lock: timedelta
    """The first lock; each further one is twice as long."""
    lock_max: timedelta


class AttemptPolicy(msgspec.Struct, frozen=True, kw_only=True):
    """Whose attempts at which identifier are counted, and the limits that hold for them."""

    project_id: UUID
    """NO_ID for developers."""
    identifier: bytes
    network: str
    limits: AttemptLimits


class Locked(Exception):
    """Too many attempts failed; the next one may be made at `until`."""

    def __init__(self, until: Moment) -> None:
        super().__init__(until)
        self.until = until

    def retry_after_seconds(self, now: Moment) -> int:
        """Whole seconds until the next attempt, at least 1: what `Retry-After` says."""
        return max(1, math.ceil((self.until - now).total_seconds()))


async def begin_attempt(db: Queries, policy: AttemptPolicy, now: Moment) -> int:
    """Count an attempt before it is checked; returns its number. Raises Locked."""
    limits = policy.limits
    count = await _count(db, policy, policy.network, now)
    if count.locked_until is not None and count.locked_until > now:
        raise Locked(count.locked_until)
    if count.failures > limits.failures or count.everywhere >= limits.everywhere:
        raise Locked(Moment.of(now + limits.lock))
    return count.failures


async def attempt_failed(tx: Transaction, policy: AttemptPolicy, number: int, now: Moment) -> bool:
    """Record that the attempt with this number failed; true if that locks the identifier for the network."""
    limits = policy.limits
    await _count(tx, policy, EVERYWHERE, now)
    return number >= limits.failures and await attempt_store.lock_identifier(
        tx,
        project_id=policy.project_id,
        identifier=policy.identifier,
        ip_address=policy.network,
        now=now,
        first=_seconds(limits.lock),
        most=_seconds(limits.lock_max),
    )


async def attempt_succeeded(tx: Transaction, policy: AttemptPolicy, now: Moment, *, forgives: bool) -> None:
    """Take the attempt back; with `forgives`, forget the failures from this network before it as well."""
    if forgives:
        await attempt_store.clear(
            tx, project_id=policy.project_id, identifier=policy.identifier, ip_address=policy.network
        )
    else:
        await attempt_store.take_back(
            tx, project_id=policy.project_id, identifier=policy.identifier, ip_address=policy.network, now=now
        )


async def clear_attempts(tx: Transaction, project_id: UUID, identifier: bytes) -> None:
    """Forget the failures from all networks, and any lock."""
    await attempt_store.clear(tx, project_id=project_id, identifier=identifier, ip_address=None)


async def count_event(
    db: Queries, project_id: UUID, identifier: bytes, network: str, *, window: timedelta, kept: timedelta, now: Moment
) -> AttemptCount:
    """Count anything else that is limited by identifier and network, such as mails that somebody asks for."""
    return await attempt_store.count_attempt(
        db,
        project_id=project_id,
        id=new_id(),
        identifier=identifier,
        ip_address=network,
        now=now,
        window=_seconds(window),
        kept=_seconds(kept),
    )


async def _count(db: Queries, policy: AttemptPolicy, network: str, now: Moment) -> AttemptCount:
    limits = policy.limits
    return await count_event(
        db, policy.project_id, policy.identifier, network, window=limits.window, kept=limits.kept, now=now
    )


def _seconds(span: timedelta) -> str:
    return f"{span.total_seconds()} seconds"
