"""Attempts at developer accounts: passwords, codes and links, counted by the engine that customers' attempts use.

Unknown addresses are counted like known ones and look the same.
"""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from datetime import timedelta

from msgspec.structs import replace

from postern.kernel.database.statements import Transaction
from postern.kernel.http.call import Call
from postern.kernel.limits import RateLimit, network_of
from postern.kernel.values import NO_ID
from postern.platform.accounts.model import LinkInvalid, LockedOut
from postern.security import attempts
from postern.security.attempts import AttemptLimits, AttemptPolicy

LIMITS = AttemptLimits(
    failures=10,
    everywhere=100,
    window=timedelta(hours=24),
    kept=timedelta(hours=48),
    lock=timedelta(minutes=15),
    lock_max=timedelta(hours=1),
)
LINK_LIMITS = replace(LIMITS, failures=100, everywhere=10_000)
"""Tokens cannot be guessed: this bounds noise, and people of one network do not lock each other out by old links."""
SIGN_IN_RATE = RateLimit("sign-in", 60, timedelta(minutes=5))
"""Tries per origin and process: a password costs a core some 20 ms, and this bounds what one origin can cost."""


def throttle(call: Call) -> None:
    """Count a request to sign in against its origin. Raises TooManyRequests."""
    call.world.limiter.take(SIGN_IN_RATE, call.origin.ip)


async def begin_attempt(call: Call, identifier: str) -> int:
    """Count one more attempt at an address, before it is judged; returns its number.

    Raises LockedOut after too many failures, and TooManyRequests when attempts come too fast.
    """
    throttle(call)
    return await _begin(call, _attempts(call, identifier))


async def attempt_failed(call: Call, identifier: str, number: int) -> None:
    """Note that an attempt failed; the tenth locks for 15 minutes, the next lock is 30 minutes, then an hour."""
    async with call.db.transaction() as tx:
        await attempts.attempt_failed(tx, _attempts(call, identifier), number, call.now)


async def attempt_succeeded(tx: Transaction, call: Call, identifier: str, *, forgives: bool = True) -> None:
    """Take the attempt back; where it `forgives`, forget what failed from this origin before as well."""
    await attempts.attempt_succeeded(tx, _attempts(call, identifier), call.now, forgives=forgives)


async def unlock(tx: Transaction, call: Call, identifier: str) -> None:
    """Forget what failed at an address, from everywhere: somebody proved to own it."""
    await attempts.clear_attempts(tx, NO_ID, _attempts(call, identifier).identifier)


@asynccontextmanager
async def counting_links(call: Call) -> AsyncGenerator[None]:
    """Count a token that is no link's against its origin. Raises LockedOut instead of LinkInvalid after too many.

    A right token is never held up: its 238 bits cannot be guessed, and others of the same network may have failed.
    """
    try:
        yield
    except LinkInvalid:
        tried = _attempts(call, f"links|{network_of(call.origin.ip)}", LINK_LIMITS)
        number = await _begin(call, tried)
        async with call.db.transaction() as tx:
            await attempts.attempt_failed(tx, tried, number, call.now)
        raise


async def _begin(call: Call, tried: AttemptPolicy) -> int:
    try:
        return await attempts.begin_attempt(call.db, tried, call.now)
    except attempts.Locked as locked:
        raise LockedOut(retry_after_seconds=locked.retry_after_seconds(call.now)) from None


def _attempts(call: Call, identifier: str, limits: AttemptLimits = LIMITS) -> AttemptPolicy:
    digest = call.world.secrets.digest("sign-in-failures", identifier.strip().lower())
    return AttemptPolicy(project_id=NO_ID, identifier=digest, network=network_of(call.origin.ip), limits=limits)
