"""What the plan of an account allows. Features ask before they create; billing, which stands above them, answers."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal
from uuid import UUID

from postern.kernel.clock import Moment
from postern.kernel.database.statements import Queries
from postern.kernel.http.call import Call
from postern.kernel.http.problems import Forbidden

if TYPE_CHECKING:
    from postern.world import World

Allowance = Literal["projects", "customers", "emails"]


SIDE_BY_SIDE, EMAILS_SIDE_BY_SIDE = 100, 25_000
"""How near to a limit what is made is counted under a lock: more than are made at one moment."""


def in_parallel(what: Allowance) -> int:
    """How many of something may be made at one moment by requests that do not see one another."""
    return EMAILS_SIDE_BY_SIDE if what == "emails" else SIDE_BY_SIDE


class PlanLimitReached(Forbidden):
    """The plan of this account allows no more of this; book a larger one."""


@dataclass(frozen=True)
class QuotaRequest:
    """Somebody wants more of something: an account, or the account that a project belongs to."""

    what: Allowance
    more: int
    now: Moment
    account_id: UUID | None = None
    project_id: UUID | None = None


@dataclass(frozen=True)
class QuotaLeft:
    """How many more the plan allows (possibly fewer than none), and what to answer to whoever wants more."""

    number: int
    refusal: PlanLimitReached


FindQuotaLeft = Callable[[Queries, "World", QuotaRequest], Awaitable[QuotaLeft | None]]
"""From (database or open transaction, world, what is wanted); None where there is no limit."""


async def quota_left(db: Queries, world: "World", wanted: QuotaRequest) -> QuotaLeft | None:
    """What the plan leaves of something; None if there is no limit, and always without POSTERN_PLAN_LIMITS.

    In a transaction, nobody else takes it meanwhile.
    """
    if not world.settings.plan_limits:
        return None
    return await world.hooks.quota_left(db, world, wanted)


async def require_quota(db: Queries, call: Call, what: Allowance, more: int = 1) -> QuotaLeft | None:
    """Raises PlanLimitReached if the plan of the caller's account, or else of the project's, allows no `more`.

    Returns what is left, None without a limit. Outside a transaction others may take it meanwhile.
    """
    account_id = call.caller.account_id
    project_id = None if account_id else call.project_id
    left = await quota_left(db, call.world, QuotaRequest(what, more, call.now, account_id, project_id))
    if left is not None and more > left.number:
        raise left.refusal
    return left
