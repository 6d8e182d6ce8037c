"""Rates of bounces and complaints of sending domains, and warm-up plans: records, request bodies, limits, problems."""

from datetime import date, timedelta
from typing import Annotated, Literal
from uuid import UUID

import msgspec

from postern.kernel.http.problems import Conflict, Missing
from postern.kernel.values import NON_BLANK_LINE, Body, Moment, Record

REPUTATION_WINDOW = timedelta(days=7)
"""The rates are computed from the mail of the last seven days."""
MIN_BOUNCE_MESSAGES = 500
"""With fewer messages in the window, bounces change no state: five typing errors are 5 % of a hundred messages."""
MIN_COMPLAINT_MESSAGES = 1_000
"""With fewer messages in the window, complaints change no state: a single one would exceed Gmail's lower threshold, one
in a thousand."""
EVALUATION_DELAY = timedelta(seconds=5)
"""How long after a bounce or complaint the rates are evaluated: once for all bounces and complaints in this time."""
EVALUATION_INTERVAL = timedelta(hours=1)
"""The interval between evaluations while a rate is above a threshold: rates fall as old mail leaves the window."""
REPUTATION_LEASE = timedelta(minutes=2)
"""How long a worker has for work that it has claimed, before another worker may claim it."""
COUNTER_RETENTION = timedelta(days=100)
"""How long the counters of bounces and complaints are kept."""
COUNTERS_DELETED_AT_ONCE = 10_000
"""Maximum rows of expired counters that one evaluation deletes."""
MAX_SERIES_DAYS = 90
"""The longest series of days that a request returns."""

MAX_WARM_UP_STEPS = 90
"""Maximum number of days of a warm-up plan."""
MAX_WARM_UP_CEILING = 10_000_000
"""The highest ceiling of a day."""
FIRST_CEILING = 50
"""The ceiling of the first day, unless the plan has `steps`. Twilio SendGrid's schedule begins with it, too."""
DAILY_GROWTH = 2
"""Factor by which the ceiling grows from one day to the next, unless the plan sets the number of days. The factors of
published schedules are 1.5 (Resend) to 5 (Twilio SendGrid, on its first days)."""
START_HORIZON = timedelta(days=365)
"""How far in the future a plan may begin."""
RESERVATIONS_DELETED_AT_ONCE = 50_000
"""Maximum reservations of past days that are deleted when a plan goes on to the next day."""

ReputationState = Literal["HEALTHY", "WARNING", "HELD"]
"""HEALTHY: no rate is above a threshold. WARNING: a rate is above its lower threshold. HELD: a rate was above its upper
threshold, and marketing mail waits until both rates are below their lower thresholds."""
WarmUpStatus = Literal["SCHEDULED", "ACTIVE", "COMPLETED", "CANCELLED"]


class WarmUpMissing(Missing):
    """This domain has no warm-up plan."""


class NothingHeld(Conflict):
    """Marketing mail of this domain is not held, so there is nothing to release."""


class RateThresholds(Record):
    """The thresholds of a rate, from 0 to 1."""

    warning: float
    """From this rate on, the state is WARNING."""
    hold: float
    """From this rate on, marketing mail is held."""
    min_messages: int
    """With fewer messages in the window, the rate changes nothing."""


class ReputationThresholds(Record):
    """The thresholds of both rates."""

    bounces: RateThresholds
    """The thresholds of the rate of hard bounces."""
    complaints: RateThresholds
    """The thresholds of the rate of complaints."""


class ReputationCounts(Record):
    """How many messages a domain sent, and how many of them bounced or were reported as spam."""

    messages: int
    """Messages that a mail server accepted, or rejected because of the recipient."""
    bounced: int
    """Messages with a hard bounce: the recipient does not exist. Rejections for other reasons do not count."""
    complained: int
    """Messages that a recipient reported as spam."""


class ReputationDay(ReputationCounts):
    """How many messages a domain sent on one day, and how many of them bounced or were reported as spam."""

    day: date
    """The day in UTC on which the messages were transmitted."""


class Reputation(Record):
    """The bounce and complaint rates of a domain, and its state."""

    domain_id: UUID
    domain: str
    state: ReputationState
    """HEALTHY, WARNING, or HELD: marketing mail of this domain waits."""
    since: Moment | None
    """When the state began; null if it has never changed."""
    reason: str | None
    """The rate that is above a threshold, with its numbers; null if HEALTHY."""
    held_until: Moment | None
    """The time until which waiting messages are held, unless the domain is released earlier. It is moved forward as
    long as the state is HELD; null in other states."""
    counted_from: Moment
    """The time since which messages count for the rates: seven days ago, or the last release if it is later."""
    counts: ReputationCounts
    """The messages since `countedFrom`."""
    bounce_rate: float
    """The share of messages with a hard bounce, from 0 to 1."""
    complaint_rate: float
    """The share of messages with a complaint, from 0 to 1."""
    thresholds: ReputationThresholds
    """The rates at which the state changes."""
    days: list[ReputationDay]
    """The counts of each day, oldest first; days without messages are included."""


class ReputationRelease(Body):
    """Why held mail is released."""

    reason: Annotated[
        str,
        msgspec.Meta(
            min_length=1, max_length=500, pattern=NON_BLANK_LINE, description="One line with a visible character."
        ),
    ]
    """What was done about the cause. Stored in the audit log."""


class StoredReputation(Record):
    """A row of `domain_reputations`."""

    project_id: UUID
    id: UUID
    state: ReputationState
    since: Moment
    reason: str | None
    held_until: Moment | None
    """The `due_at` of the held messages; None unless HELD."""
    releasing: Moment | None
    """The `held_until` of a hold that has ended, until a worker has made its messages due; otherwise None."""
    counted_from: Moment | None
    """The time of the last release; None if there was none."""
    uncounted_messages: int
    """Messages of the hour of the last release that were sent before it. The counters of this hour include them, so
    they are subtracted."""
    uncounted_bounced: int
    uncounted_complained: int
    due_at: Moment | None
    attempt: int


Ceiling = Annotated[int, msgspec.Meta(ge=1, le=MAX_WARM_UP_CEILING)]


class WarmUpPlan(Body):
    """A warm-up plan: `steps`, or `targetPerDay` from which the steps follow."""

    start: date | None = None
    """The first day, in UTC; default: today."""
    steps: Annotated[list[Ceiling], msgspec.Meta(min_length=1, max_length=MAX_WARM_UP_STEPS)] | None = None
    """The ceiling of each day: no step is lower than the one before."""
    target_per_day: Ceiling | None = None
    """The ceiling of the last day. The first day has a ceiling of 50; it doubles each day, unless `days` is set."""
    days: Annotated[int, msgspec.Meta(ge=2, le=MAX_WARM_UP_STEPS)] | None = None
    """With `targetPerDay`: the number of days. The ceiling then grows by the same factor each day."""


class WarmUp(Record):
    """The warm-up plan of a domain, and its progress."""

    domain_id: UUID
    domain: str
    status: WarmUpStatus
    """SCHEDULED before the first day, ACTIVE, or COMPLETED."""
    starts_on: date
    """The first day, in UTC."""
    steps: list[int]
    """The ceiling of each step. A step takes one day, or several if it is repeated."""
    step: int
    """The number of today's step, from 1."""
    ceiling: int | None
    """How many messages the domain may send today; null unless ACTIVE."""
    used: int
    """Messages that count for today's ceiling: marketing messages that may be sent today, and transactional messages
    that were sent."""
    repeated_days: int
    """Days after which the step was repeated: nothing was sent, or a rate of the domain was above a threshold."""
    next_day_at: Moment | None
    """When the next day begins; null unless ACTIVE or SCHEDULED."""
    last_day: date | None
    """The day of the last step, if no day is repeated; null unless ACTIVE or SCHEDULED."""
    ended_at: Moment | None
    """When the last step was completed; null before that."""
    created_at: Moment
    updated_at: Moment


class WarmUpProgress(Record):
    """The warm-up plan of a sending domain, or of an IP address from which the server sends, and its progress."""

    status: WarmUpStatus
    starts_on: date
    """The first day, in UTC."""
    steps: list[int]
    """The ceiling of each step. A step takes one day, or several if it is repeated."""
    step: int
    """The index of the current step in `steps`."""
    day: date
    """The day in UTC to which `step` and `used` apply."""
    used: int
    """Messages that count for the ceiling of `day`."""
    repeated: int
    """Days after which the step was repeated."""
    ended_at: Moment | None
    created_at: Moment
    updated_at: Moment

    @property
    def ceiling(self) -> int:
        """The ceiling of `day`."""
        return self.steps[self.step]


class StoredWarmUp(WarmUpProgress):
    """A row of `domain_warm_ups`."""

    project_id: UUID
    id: UUID
    releasing: Moment | None
    """Mail that waits until this time for the ceiling of an earlier plan must still be made due; None if there is
    none."""
    due_at: Moment | None
    attempt: int


class SourceWarmUp(WarmUpProgress):
    """A row of `source_warm_ups`: the plan of an IP address in POSTERN_SOURCES."""

    address: str
    """The IP address."""


class DomainLimit(Record):
    """The limits of a domain's marketing mail at present."""

    domain_id: UUID
    held_until: Moment | None
    """Until when marketing mail is held; None if it is not held."""
    reason: str | None
    """Why marketing mail is held; None if it is not held."""
    warms_up: bool
    """Whether the domain has a warm-up plan that has not ended."""
