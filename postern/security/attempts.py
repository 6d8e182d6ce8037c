"""Limits on attempts to prove an identity, for developers and customers alike.

An attempt is counted before the password or code is checked, so that parallel guesses cannot share one count. Each
counts twice: by identifier and network (who asks), and by identifier alone (who is asked for), with a far higher limit.
The identifier is a keyed hash of an address or of a person's id; addresses that nobody has are counted alike. The
counts lie in the database, so all processes count together.
"""

import math
from collections.abc import Awaitable, Callable
from datetime import timedelta
from uuid import UUID

import msgspec

from postern.kernel.clock import Moment
from postern.kernel.database.statements import Queries, Transaction
from postern.kernel.http.call import Call
from postern.kernel.http.problems import Problem
from postern.kernel.limits import RateLimit, network_of
from postern.kernel.values import new_id
from postern.security import attempt_store
from postern.security.attempt_store import AttemptCount

EVERYWHERE = ""
"""In place of a network: all networks together."""

RecordFailure = Callable[[Transaction, Call, UUID | None, str | None, bool], Awaitable[None]]
"""Records a failed attempt: whose account it was (None if nobody's), the method, and whether it led to a lock."""


class AttemptPolicy(msgspec.Struct, frozen=True, kw_only=True):
    """What differs between the attempts of developers and those of customers."""

    rate: RateLimit
    """Requests of one network to one process, whether or not they fail: see `throttle`."""
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
    locked: type[Problem]
    """Raised instead of an attempt while the identifier is locked; `Retry-After` says for how long."""
    record_failure: RecordFailure | None = None


class Attempt(msgspec.Struct, frozen=True, kw_only=True):
    """An attempt that was counted, and has not been checked yet."""

    policy: AttemptPolicy
    project_id: UUID
    """NO_ID for developers."""
    identifier: bytes
    network: str
    number: int
    """Attempts from this network within the window, including this one."""


def throttle(call: Call, policy: AttemptPolicy, challenge: str | None = None) -> None:
    """Count a request against the network that it comes from. Raises TooManyRequests.

    Answers to a challenge count by the challenge instead: nobody else in the network can keep a right answer out.
    """
    counted = network_of(call.origin.ip) if challenge is None else f"challenge {challenge[:36]}"
    call.world.limiter.take(policy.rate, f"{call.project_id}|{counted}")


async def begin_attempt(call: Call, policy: AttemptPolicy, project_id: UUID, identifier: bytes) -> Attempt:
    """Count an attempt before it is checked. Raises `policy.locked`."""
    network = network_of(call.origin.ip)
    count = await count_event(
        call.db, project_id, identifier, network, window=policy.window, kept=policy.kept, now=call.now
    )
    locked_until = count.locked_until
    if locked_until is None or locked_until <= call.now:
        if count.failures <= policy.failures and count.everywhere < policy.everywhere:
            return Attempt(
                policy=policy, project_id=project_id, identifier=identifier, network=network, number=count.failures
            )
        locked_until = call.now + policy.lock
    raise policy.locked(retry_after_seconds=max(1, math.ceil((locked_until - call.now).total_seconds())))


async def attempt_failed(
    call: Call, attempt: Attempt, *, subject_id: UUID | None = None, method: str | None = None
) -> None:
    """Record that an attempt failed: too many lock the identifier for the network, each time for longer.

    `subject_id` is whose account it was, and `method` how the person tried to prove it, for the policy's record.
    """
    policy, project_id, identifier = attempt.policy, attempt.project_id, attempt.identifier
    async with call.db.transaction() as tx:
        await count_event(tx, project_id, identifier, EVERYWHERE, window=policy.window, kept=policy.kept, now=call.now)
        locked = attempt.number >= policy.failures and await attempt_store.lock_identifier(
            tx,
            project_id=project_id,
            identifier=identifier,
            ip_address=attempt.network,
            now=call.now,
            first=_seconds(policy.lock),
            most=_seconds(policy.lock_max),
        )
        if policy.record_failure is not None:
            await policy.record_failure(tx, call, subject_id, method, locked)


async def attempt_succeeded(tx: Transaction, attempt: Attempt, now: Moment, *, forgives: bool = True) -> None:
    """Uncount a successful attempt; with `forgives`, also delete earlier failures from this network and any lock."""
    if forgives:
        await clear_attempts(tx, attempt.project_id, attempt.identifier, attempt.network)
    else:
        await attempt_store.take_back(
            tx, project_id=attempt.project_id, identifier=attempt.identifier, ip_address=attempt.network, now=now
        )


async def clear_attempts(tx: Transaction, project_id: UUID, identifier: bytes, network: str | None = None) -> None:
    """Delete the failures from a network (None: from all networks) and any lock."""
    await attempt_store.clear(tx, project_id=project_id, identifier=identifier, ip_address=network)


async def count_event(
    db: Queries, project_id: UUID, identifier: bytes, network: str, *, window: timedelta, kept: timedelta, now: Moment
) -> AttemptCount:
    """Count another event that is limited by identifier and network, such as a requested mail."""
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


def _seconds(span: timedelta) -> str:
    return f"{span.total_seconds()} seconds"
