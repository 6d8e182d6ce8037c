"""Guessing passwords and codes is counted in the database, so that all processes count together.

Counted are an address from one origin, so that a stranger elsewhere cannot lock a person out, and, with a far
higher limit, an address from everywhere. Unknown addresses are counted like known ones and look the same.
"""

from datetime import timedelta

from postern.accounts import store
from postern.accounts.model import LockedOut
from postern.kernel.credentials import Call
from postern.kernel.limits import Rate

FAILURES_FROM_ONE_ORIGIN = 10
FAILURES_FROM_ANYWHERE = 100
FIRST_LOCK = timedelta(minutes=15)
LONGEST_LOCK = timedelta(hours=1)
FORGOTTEN_AFTER = timedelta(hours=24)

SIGN_IN_RATE = Rate("sign-in", 60, timedelta(minutes=5))
"""Tries per origin and process: a password costs a core some 20 ms, and this bounds what one origin can cost."""


async def require_patience(call: Call, identifier: str) -> None:
    """Raises LockedOut while too many failures lie behind, and TooManyRequests when they come too fast."""
    call.world.limiter.take(SIGN_IN_RATE, call.origin.ip)
    until = await store.locked_until(call.db, keys=_keys(call, identifier), now=call.now)
    if until is not None:
        raise LockedOut(retry_after_seconds=max(1, round((until - call.now).total_seconds())))


async def count_failure(call: Call, identifier: str) -> None:
    """One more failure; from the limit on, each locks for 15 minutes, then 30, then an hour."""
    limits = (FAILURES_FROM_ONE_ORIGIN, FAILURES_FROM_ANYWHERE)
    for key, limit in zip(_keys(call, identifier), limits, strict=True):
        failures = await store.count_failure(call.db, key=key, forgotten=call.now - FORGOTTEN_AFTER, now=call.now)
        if failures >= limit:
            lock = min(FIRST_LOCK * 2 ** min(failures - limit, 8), LONGEST_LOCK)
            await store.lock_out(call.db, key=key, until=call.now + lock)


async def forgive(call: Call, identifier: str) -> None:
    """After a success the failures of this origin are forgotten, and everybody's of days gone by."""
    here, _ = _keys(call, identifier)
    await store.forget_failures(call.db, keys=[here], forgotten=call.now - FORGOTTEN_AFTER)


def _keys(call: Call, identifier: str) -> list[bytes]:
    who = identifier.strip().lower()
    return [call.world.secrets.digest("sign-in-failures", text) for text in (f"{who}|{call.origin.ip}", who)]
