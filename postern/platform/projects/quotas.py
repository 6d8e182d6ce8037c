"""Quotas of an account's plan. Packages check a quota before they create a record; `billing` implements the check."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal
from uuid import UUID

from postern.kernel.database.statements import Queries
from postern.kernel.http.call import Call
from postern.kernel.http.problems import Forbidden
from postern.kernel.values import Moment

if TYPE_CHECKING:
    from postern.world import World

PlanResource = Literal["projects", "customers", "emails"]
"""The things whose number a plan can limit."""

MAX_CONCURRENT_RECORDS, MAX_CONCURRENT_EMAILS = 100, 25_000
"""Upper bounds for the numbers of records and of e-mails that concurrent requests create together. If less than this is
left of a limit, requests count under a lock."""


def max_concurrent(what: PlanResource) -> int:
    """Maximum number of `what` that concurrent requests create together before one sees the rows of the others."""
    return MAX_CONCURRENT_EMAILS if what == "emails" else MAX_CONCURRENT_RECORDS


class PlanLimitReached(Forbidden):
    """The limit of this account's plan is reached. Choose a larger plan."""


@dataclass(frozen=True)
class QuotaRequest:
    """A request to create a number (`more`) of records or e-mails (`what`), for an account or the account of a
    project."""

    what: PlanResource
    more: int
    now: Moment
    account_id: UUID | None = None
    project_id: UUID | None = None


@dataclass(frozen=True)
class QuotaLeft:
    """How many more records or e-mails the plan allows (negative if the limit is exceeded), and the problem to raise if
    a request needs more."""

    number: int
    refusal: PlanLimitReached


FindQuotaLeft = Callable[[Queries, "World", QuotaRequest], Awaitable[QuotaLeft | None]]
"""Type of the hook that implements `quota_left`."""


async def quota_left(db: Queries, world: "World", request: QuotaRequest) -> QuotaLeft | None:
    """Return the quota that is left before the request is counted; None if there is no limit.

    In a transaction the number is valid until the transaction ends; outside, concurrent requests may use it up.
    """
    if not world.settings.plan_limits:
        return None
    return await world.hooks.quota_left(db, world, request)


async def require_quota(db: Queries, call: Call, what: PlanResource, more: int = 1) -> QuotaLeft | None:
    """Raise PlanLimitReached if the plan of the caller's account, or of the project's, does not allow `more`.

    Otherwise returns the quota that is left before this request is counted, or None if there is no limit. Outside a
    transaction, concurrent requests may use it up.
    """
    account_id = call.caller.account_id
    project_id = None if account_id else call.project_id
    left = await quota_left(db, call.world, QuotaRequest(what, more, call.now, account_id, project_id))
    if left is not None and more > left.number:
        raise left.refusal
    return left
