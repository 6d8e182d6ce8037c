"""Pure functions of billing: parsing of plan limits, billing periods, and the state of an account that follows from its
Stripe subscriptions."""

import calendar
import re
from collections.abc import Sequence
from datetime import UTC, datetime
from functools import cache
from typing import get_args

import msgspec

from postern.kernel.config import SettingInvalid
from postern.kernel.values import Moment
from postern.platform.billing.model import Cycle, Plan, PlanLimits, Status, SubscriptionState
from postern.platform.projects.quotas import PlanResource


@cache
def parse_limits(text: str | None) -> dict[str, PlanLimits]:
    """The limits of each plan in POSTERN_PLAN_LIMITS, such as `free: projects=3 emails=10000; pro: emails=500000`.

    Plans that are not listed have no limits. Raises SettingInvalid.
    """
    limits: dict[str, PlanLimits] = {}
    for part in (text or "").split(";"):
        if not part.strip():
            continue
        plan, _, entries = (piece.strip() for piece in part.partition(":"))
        pairs = re.findall(r"([a-z]+)=([0-9]{1,15})(?![0-9])", entries)
        pairs_text = " ".join(f"{name}={number}" for name, number in pairs)
        is_readable = pairs_text == " ".join(entries.replace(",", " ").split())
        if plan not in get_args(Plan) or not is_readable or {name for name, _ in pairs} - set(get_args(PlanResource)):
            raise SettingInvalid(
                f"POSTERN_PLAN_LIMITS: `{part.strip()}` is not valid. Expected, for example: "
                "`free: projects=3 emails=10000; pro: emails=500000`."
            )
        limits[plan] = PlanLimits(**{name: int(number) for name, number in pairs})
    return limits


def next_period(start: datetime, cycle: Cycle) -> Moment:
    """The time one month or year after `start`, on the same day of the month or, if that does not exist, on the last
    day."""
    months = start.month + (12 if cycle == "yearly" else 1)
    year, month = start.year + (months - 1) // 12, (months - 1) % 12 + 1
    day = min(start.day, calendar.monthrange(year, month)[1])
    return Moment.of(start.replace(year=year, month=month, day=day))


def period_end(stored_end: Moment | None, cycle: Cycle | None, now: Moment) -> Moment | None:
    """The end of the current billing period with the manual provider: `stored_end`, advanced by cycles until after
    `now`."""
    end = stored_end
    while end is not None and cycle is not None and end <= now:
        end = next_period(end, cycle)
    return end


class StripeSubscription(msgspec.Struct, frozen=True, kw_only=True):
    """The fields of a Stripe subscription that decide an account's plan."""

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
"""The `status` of an account for each status of a Stripe subscription."""

_RANK: dict[Status, int] = {"none": 0, "cancelled": 1, "past_due": 2, "active": 3}
"""Of several subscriptions to the pro plan, the one whose status has the highest rank decides."""


def subscription_state_of(
    subscriptions: Sequence[StripeSubscription], prices: dict[str, tuple[str, Cycle]]
) -> SubscriptionState:
    """Combine all Stripe subscriptions of a customer into the state of the account.

    `prices` maps price ids to item and cycle. The pro subscription with the best status decides the plan.
    """
    state = SubscriptionState()
    for subscription in subscriptions:
        status = STATUSES.get(subscription.status, "none")
        is_running = status in ("active", "past_due")
        for price in subscription.prices:
            item, cycle = prices.get(price, ("", "monthly"))  # An unknown price is of no item.
            if item == "b2b" and is_running:
                state = msgspec.structs.replace(state, b2b_enhanced=True)
            if item == "pro" and _RANK[status] > _RANK[state.status]:
                end = subscription.current_period_end
                state = msgspec.structs.replace(
                    state,
                    plan="pro" if is_running else "free",
                    billing_cycle=cycle if is_running else None,
                    status=status,
                    current_period_end=None if end is None else Moment.fromtimestamp(end, UTC),
                )
    return state
