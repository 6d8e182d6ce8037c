"""Limits of an account's plan. Features check them before they create something; `billing` implements the check."""

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


MAX_CONCURRENT, MAX_CONCURRENT_EMAILS = 100, 25_000
"""Closer to a limit than this, requests count under a lock. Must exceed what concurrent requests create at one time."""


def max_concurrent(what: Allowance) -> int:
    """The number of things that concurrent requests, which do not see each other's rows, may create at one time."""
    return MAX_CONCURRENT_EMAILS if what == "emails" else MAX_CONCURRENT


class PlanLimitReached(Forbidden):
    """The limit of this account's plan is reached. Choose a larger plan."""


@dataclass(frozen=True)
class QuotaRequest:
    """A request to create `more` of `what`, for an account or for the account of a project."""

    what: Allowance
    more: int
    now: Moment
    account_id: UUID | None = None
    project_id: UUID | None = None


@dataclass(frozen=True)
class QuotaLeft:
    """How many more the plan allows (negative if the limit is exceeded), and the problem to raise beyond that."""

    number: int
    refusal: PlanLimitReached


FindQuotaLeft = Callable[[Queries, "World", QuotaRequest], Awaitable[QuotaLeft | None]]
"""Returns how many more the plan allows, given the database or an open transaction; None if there is no limit."""


async def quota_left(db: Queries, world: "World", request: QuotaRequest) -> QuotaLeft | None:
    """Return how many more the plan allows; None if there is no limit or POSTERN_PLAN_LIMITS is not set.

    In a transaction the number stays valid until its end; outside, concurrent requests may use it up.
    """
    if not world.settings.plan_limits:
        return None
    return await world.hooks.quota_left(db, world, request)


async def require_quota(db: Queries, call: Call, what: Allowance, more: int = 1) -> QuotaLeft | None:
    """Raise PlanLimitReached if the plan of the caller's account, or of the project's, does not allow `more`.

    Returns how many more it allows, None if there is no limit. Outside a transaction, concurrent requests may use it
    up.
    """
    account_id = call.caller.account_id
    project_id = None if account_id else call.project_id
    left = await quota_left(db, call.world, QuotaRequest(what, more, call.now, account_id, project_id))
    if left is not None and more > left.number:
        raise left.refusal
    return left
