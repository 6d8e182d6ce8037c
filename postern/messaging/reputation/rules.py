"""Rules of bounce and complaint rates, and of the days of warm-up plans. Pure functions without I/O."""

from bisect import bisect_right
from collections.abc import Sequence
from datetime import UTC, date, datetime, time, timedelta
from typing import TypeVar

import msgspec

from postern.kernel.config import Settings
from postern.kernel.http.problems import Invalid
from postern.kernel.values import Moment
from postern.messaging.reputation.model import (
    DAILY_GROWTH,
    FIRST_CEILING,
    MAX_WARM_UP_STEPS,
    MIN_BOUNCE_MESSAGES,
    MIN_COMPLAINT_MESSAGES,
    START_HORIZON,
    RateThresholds,
    ReputationCounts,
    ReputationState,
    ReputationThresholds,
    WarmUpPlan,
    WarmUpProgress,
)

WINDOW_TEXT = "7 days"


class Verdict(msgspec.Struct, frozen=True, kw_only=True):
    """The state of a domain according to its present rates, whatever its state was before."""

    state: ReputationState
    reason: str | None = None
    """The rate that causes the state, with its numbers; None if HEALTHY."""


def thresholds_of(settings: Settings) -> ReputationThresholds:
    """The thresholds in the settings."""
    bounces, complaints = settings.bounce_rates, settings.complaint_rates
    return ReputationThresholds(
        bounces=RateThresholds(warning=bounces[0] / 100, hold=bounces[1] / 100, min_messages=MIN_BOUNCE_MESSAGES),
        complaints=RateThresholds(
            warning=complaints[0] / 100, hold=complaints[1] / 100, min_messages=MIN_COMPLAINT_MESSAGES
        ),
    )


def rate_of(part: int, messages: int) -> float:
    """A rate from 0 to 1 with six decimals; 0 without messages."""
    return round(min(part / messages, 1.0), 6) if messages > 0 else 0.0


def judge(counts: ReputationCounts, thresholds: ReputationThresholds) -> Verdict:
    """The state that follows from the rates alone, whatever the state was before, and its reason."""
    levels = [
        _level("bounce rate", counts.bounced, counts.messages, thresholds.bounces),
        _level("complaint rate", counts.complained, counts.messages, thresholds.complaints),
    ]
    order: Sequence[ReputationState] = ("HEALTHY", "WARNING", "HELD")
    return max(levels, key=lambda verdict: order.index(verdict.state))


def _level(name: str, part: int, messages: int, limits: RateThresholds) -> Verdict:
    rate = rate_of(part, messages)
    if messages < limits.min_messages or rate < limits.warning:
        return Verdict(state="HEALTHY")
    state: ReputationState = "HELD" if rate >= limits.hold else "WARNING"
    threshold = limits.hold if state == "HELD" else limits.warning
    reason = f"{name} {percent(rate)} of {messages:,} messages over {WINDOW_TEXT}; limit {percent(threshold)}"
    return Verdict(state=state, reason=reason)


def percent(rate: float) -> str:
    """A rate as text, such as `6.1 %`."""
    return f"{100 * rate:.2f}".rstrip("0").rstrip(".") + " %"


def next_state(state: ReputationState, verdict: Verdict) -> ReputationState:
    """The state after an evaluation: mail that is held stays held until the rates are below the lower thresholds."""
    return "HELD" if state == "HELD" and verdict.state == "WARNING" else verdict.state


# Warm-up plans ---------------------------------------------------


def steps_of(plan: WarmUpPlan) -> list[int]:
    """The ceilings of a plan, one for each day. Raises Invalid."""
    if plan.steps is not None:
        if plan.target_per_day is not None or plan.days is not None:
            raise Invalid.at("/steps", "Set either `steps`, or `targetPerDay` and perhaps `days`.", "conflicting")
        for index in range(1, len(plan.steps)):
            if plan.steps[index] < plan.steps[index - 1]:
                raise Invalid.at(f"/steps/{index}", "A step cannot be lower than the one before.", "not_ascending")
        return plan.steps
    if plan.target_per_day is None:
        raise Invalid.at("/targetPerDay", "Set `targetPerDay` or `steps`.", "required")
    target = plan.target_per_day
    first = min(FIRST_CEILING, target)
    if plan.days is not None:
        factor = (target / first) ** (1 / (plan.days - 1))
        return [*[round(first * factor**index) for index in range(plan.days - 1)], target]
    steps = [first]
    while steps[-1] < target:
        steps.append(min(steps[-1] * DAILY_GROWTH, target))
    assert len(steps) <= MAX_WARM_UP_STEPS
    return steps


def first_day(plan: WarmUpPlan, today: date) -> date:
    """The first day of a plan. Raises Invalid if it is in the past or too far in the future."""
    start = plan.start or today
    if not today <= start <= today + START_HORIZON:
        raise Invalid.at("/start", "`start` must be today, in UTC, or a day of the next 365 days.", "out_of_range")
    return start


def midnight(day: date) -> Moment:
    """The start of a day in UTC."""
    return Moment.of(datetime.combine(day, time(), UTC))


Progress = TypeVar("Progress", bound=WarmUpProgress)


def advance(row: Progress, now: Moment, state: ReputationState) -> Progress:
    """The row of a plan for the day of `now` (UTC).

    A SCHEDULED plan becomes ACTIVE on its first day. An ACTIVE plan goes on to its next step on a new day, and becomes
    COMPLETED after its last step. The row is returned unchanged before the first day, on the same day, and if the plan
    is COMPLETED or CANCELLED.

    `state` is the present state of the domain's rates. For the plan of an IP address of the server, it is WARNING if
    the address is on a blocklist, and otherwise HEALTHY.

    The step of a day on which nothing was sent, or after which `state` is not HEALTHY, is repeated. Days that passed
    without a call count as days on which nothing was sent.
    """
    today = now.astimezone(UTC).date()
    if row.status == "SCHEDULED" and today >= row.starts_on:
        return msgspec.structs.replace(row, status="ACTIVE", day=today)
    if row.status != "ACTIVE" or today <= row.day:
        return row
    step_is_done = row.used > 0 and state == "HEALTHY"
    if step_is_done and row.step + 1 == len(row.steps):
        return msgspec.structs.replace(row, status="COMPLETED", ended_at=now)
    return msgspec.structs.replace(
        row,
        step=row.step + step_is_done,
        day=today,
        used=0,
        repeated=row.repeated + (today - row.day).days - step_is_done,
    )


def next_day_at(row: WarmUpProgress) -> Moment | None:
    """When the next day of a plan begins, or its first one; None if it has ended."""
    if row.status == "SCHEDULED":
        return midnight(row.starts_on)
    return midnight(row.day + timedelta(days=1)) if row.status == "ACTIVE" else None


def continued_step(steps: Sequence[int], ceiling: int) -> int:
    """The index at which a plan continues after its steps were changed to `steps`.

    That is the last step that is not above `ceiling`, the plan's ceiling before the change; 0 if all are above it.
    """
    return max(0, bisect_right(steps, ceiling) - 1)


def last_day(row: WarmUpProgress) -> date | None:
    """The day of the last step of a plan that has not ended, if no day is repeated."""
    if row.status == "SCHEDULED":
        return row.starts_on + timedelta(days=len(row.steps) - 1)
    return row.day + timedelta(days=len(row.steps) - 1 - row.step) if row.status == "ACTIVE" else None
