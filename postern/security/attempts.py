"""Limits on attempts to prove an identity, for developers and customers alike.

An attempt is counted before the password or code is checked, so that parallel guesses cannot exceed the limit. It is
counted by identifier and network; if it fails, also by identifier alone, with a far higher limit. The identifier is a
keyed hash of an e-mail address or of a person's id; addresses without an account are counted in the same way. The
counts are in the database, so that all processes share them.
"""

import math
from collections.abc import Awaitable, Callable
from datetime import timedelta
from uuid import UUID

import msgspec

from postern.kernel.database.statements import Queries, Transaction
from postern.kernel.http.call import Call
from postern.kernel.http.problems import Problem
from postern.kernel.limits import RateLimit, network_of
from postern.kernel.values import Moment, new_id
from postern.security import attempt_store
from postern.security.attempt_store import AttemptCount

ALL_NETWORKS = ""
"""The network under which the failures from all networks together are counted."""

RecordFailure = Callable[[Transaction, Call, UUID | None, str | None, bool], Awaitable[None]]
"""Records a failed attempt. Arguments: transaction, call, id of the developer or customer (None if there is no
account), method, and whether the attempt locked the identifier."""


class AttemptPolicy(msgspec.Struct, frozen=True, kw_only=True):
    """The limits on attempts, which differ between developers and customers."""

    rate: RateLimit
    """Maximum requests from one network, successful or not: see `throttle`."""
    max_failures: int
    """Maximum failures from one network within `window`; the last one locks the identifier for this network."""
    max_failures_all_networks: int
    """Maximum failures from all networks together within `window`; then every attempt is refused."""
    window: timedelta
    retention: timedelta
    """How long a count is kept; longer than any lock."""
    first_lock: timedelta
    """Duration of the first lock; each further one is twice as long, up to `max_lock`."""
    max_lock: timedelta
    locked: type[Problem]
    """The problem to raise while the identifier is locked; its `Retry-After` is the remaining time."""
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
    """Count a request against the rate limit of its network. Raises TooManyRequests.

    With `challenge`, the id of a challenge that the request answers, it counts against the limit of this challenge
    instead, so that others in the same network cannot use up the limit.
    """
    key = network_of(call.origin.ip) if challenge is None else f"challenge {challenge[:36]}"
    call.world.limiter.take(policy.rate, f"{call.project_id}|{key}")


async def begin_attempt(call: Call, policy: AttemptPolicy, project_id: UUID, identifier: bytes) -> Attempt:
    """Count an attempt before it is checked. Raises `policy.locked` if the identifier is locked or has too many
    failures.

    Pass the result to `attempt_failed` or `attempt_succeeded`.
    """
    network = network_of(call.origin.ip)
    count = await count_event(
        call.db, project_id, identifier, network, window=policy.window, retention=policy.retention, now=call.now
    )
    locked_until = count.locked_until
    if locked_until is None or locked_until <= call.now:
        if count.failures <= policy.max_failures and count.failures_all_networks < policy.max_failures_all_networks:
            return Attempt(
                policy=policy, project_id=project_id, identifier=identifier, network=network, number=count.failures
            )
        locked_until = call.now + policy.first_lock
    raise policy.locked(retry_after_seconds=max(1, math.ceil((locked_until - call.now).total_seconds())))


async def attempt_failed(
    call: Call, attempt: Attempt, *, subject_id: UUID | None = None, method: str | None = None
) -> None:
    """Record that an attempt failed, in a transaction of its own. The last allowed failure locks the identifier for the
    network; each lock lasts longer than the previous one.

    `subject_id` (the owner of the account, if there is one) and `method` are passed to `policy.record_failure`.
    """
    policy, project_id, identifier = attempt.policy, attempt.project_id, attempt.identifier
    async with call.db.transaction() as tx:
        await count_event(
            tx, project_id, identifier, ALL_NETWORKS, window=policy.window, retention=policy.retention, now=call.now
        )
        was_locked = attempt.number >= policy.max_failures and await attempt_store.lock_identifier(
            tx,
            project_id=project_id,
            identifier=identifier,
            ip_address=attempt.network,
            now=call.now,
            first=_interval(policy.first_lock),
            longest=_interval(policy.max_lock),
        )
        if policy.record_failure is not None:
            await policy.record_failure(tx, call, subject_id, method, was_locked)


async def attempt_succeeded(tx: Transaction, attempt: Attempt, now: Moment, *, clear_failures: bool = True) -> None:
    """Uncount a successful attempt; with `clear_failures`, also delete earlier failures from this network and any
    lock."""
    if clear_failures:
        await clear_attempts(tx, attempt.project_id, attempt.identifier, attempt.network)
    else:
        await attempt_store.uncount_attempt(
            tx, project_id=attempt.project_id, identifier=attempt.identifier, ip_address=attempt.network, now=now
        )


async def clear_attempts(tx: Transaction, project_id: UUID, identifier: bytes, network: str | None = None) -> None:
    """Delete the failures from a network (None: from all networks) and any lock."""
    await attempt_store.delete_counts(tx, project_id=project_id, identifier=identifier, ip_address=network)


async def count_event(
    db: Queries,
    project_id: UUID,
    identifier: bytes,
    network: str,
    *,
    window: timedelta,
    retention: timedelta,
    now: Moment,
) -> AttemptCount:
    """Count an event that is limited by identifier and network, such as a requested mail, and return the new counts."""
    return await attempt_store.count_attempt(
        db,
        project_id=project_id,
        id=new_id(),
        identifier=identifier,
        ip_address=network,
        now=now,
        window=_interval(window),
        retention=_interval(retention),
    )


def _interval(duration: timedelta) -> str:
    """The text of a PostgreSQL interval."""
    return f"{duration.total_seconds()} seconds"
