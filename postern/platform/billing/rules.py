"""Pure decisions: what plans allow, when a period ends, and what subscriptions add up to."""

import calendar
import re
from collections.abc import Sequence
from datetime import UTC, datetime
from functools import cache
from typing import get_args

import msgspec

from postern.kernel.clock import Moment
from postern.kernel.config import SettingInvalid
from postern.platform.billing.model import Cycle, Plan, PlanLimits, Status, SubscriptionState
from postern.platform.projects.quotas import Allowance


@cache
def parse_limits(text: str | None) -> dict[str, PlanLimits]:
    """POSTERN_PLAN_LIMITS: `free: projects=3 emails=10000; pro: emails=500000`. Raises SettingInvalid."""
    found: dict[str, PlanLimits] = {}
    for part in (text or "").split(";"):
        if not part.strip():
            continue
        plan, _, rest = (piece.strip() for piece in part.partition(":"))
        pairs = re.findall(r"([a-z]+)=([0-9]{1,15})(?![0-9])", rest)
        is_plain = " ".join(f"{name}={number}" for name, number in pairs) == " ".join(rest.replace(",", " ").split())
        if plan not in get_args(Plan) or not is_plain or {name for name, _ in pairs} - set(get_args(Allowance)):
            raise SettingInvalid("POSTERN_PLAN_LIMITS: expected `free: projects=3 emails=10000; pro: emails=500000`.")
        found[plan] = PlanLimits(**{name: int(number) for name, number in pairs})
    return found


def next_period(start: datetime, cycle: Cycle) -> Moment:
    """A month or a year later, on the same day, or the month's last one."""
    months = start.month + (12 if cycle == "yearly" else 1)
    year, month = start.year + (months - 1) // 12, (months - 1) % 12 + 1
    day = min(start.day, calendar.monthrange(year, month)[1])
    return Moment.of(start.replace(year=year, month=month, day=day))


def period_end(standing_end: Moment | None, cycle: Cycle | None, now: Moment) -> Moment | None:
    """When the present period ends where nobody is charged: the last known end, moved on past `now`."""
    end = standing_end
    while end is not None and cycle is not None and end <= now:
        end = next_period(end, cycle)
    return end


class StripeSubscription(msgspec.Struct, frozen=True, kw_only=True):
    """One subscription at Stripe, as far as it matters here."""

    status: str
    prices: tuple[str, ...]
    current_period_end: int | None


STATUSES: dict[str, Status] = {
    "active": "active",
    "trialing": "active",
    "past_due": "past_due",
    "unpaid": "past_due",
    "incomplete": "none",
    "incomplete_expired": "cancelled",
    "paused": "cancelled",
    "canceled": "cancelled",
}
"""Stripe's words for the state of a subscription, in ours."""

_RANK: dict[Status, int] = {"none": 0, "cancelled": 1, "past_due": 2, "active": 3}


def standing_of(subscriptions: Sequence[StripeSubscription], prices: dict[str, tuple[str, Cycle]]) -> SubscriptionState:
    """What all subscriptions of a customer add up to; `prices` says which price is which item and cycle."""
    standing = SubscriptionState()
    for each in subscriptions:
        status = STATUSES.get(each.status, "none")
        runs = status in ("active", "past_due")
        for price in each.prices:
            item, cycle = prices.get(price, ("", "monthly"))
            if item == "b2b" and runs:
                standing = msgspec.structs.replace(standing, b2b_enhanced=True)
            if item == "pro" and _RANK[status] > _RANK[standing.status]:
                end = each.current_period_end
                standing = msgspec.structs.replace(
                    standing,
                    plan="pro" if runs else "free",
                    billing_cycle=cycle if runs else None,
                    status=status,
                    current_period_end=None if end is None else Moment.of(datetime.fromtimestamp(end, tz=UTC)),
                )
    return standing
