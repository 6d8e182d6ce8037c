"""What a plan allows, asked by the features that give it out and answered by the one that knows plans.

The features stand below billing, so `app.py` says who answers; where nobody does, everything is allowed.
"""

from collections.abc import Awaitable, Callable

from postern.kernel.credentials import Call
from postern.kernel.database import Queries

Check = Callable[[Queries, Call, str, int], Awaitable[None]]
"""From (database or open transaction, call, what, how many more). Raises a Problem where that is too much."""

_checks: list[Check] = []


def allow_by(*checks: Check) -> None:
    """Who is asked; called once by `app.py`."""
    _checks[:] = checks


async def require_allowance(db: Queries, call: Call, what: str, more: int = 1) -> None:
    """Raises a Problem if the account's plan does not allow `more` of `what` (`projects`, `emails`)."""
    for check in _checks:
        await check(db, call, what, more)
