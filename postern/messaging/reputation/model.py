"""Rates of bounces and complaints of sending domains, and warm-up plans: records, request bodies, limits, problems."""

from datetime import date, timedelta
from typing import Annotated, Literal
from uuid import UUID

import msgspec

from postern.kernel.http.problems import Conflict, Missing
from postern.kernel.values import NON_BLANK_LINE, Body, Moment, Record

REPUTATION_WINDOW = timedelta(days=7)
"""The rates are those of the mail of this time."""
MIN_BOUNCE_MESSAGES = 500
"""With fewer messages in the window, bounces change no state: five typing errors are 5 % of a hundred messages."""
MIN_COMPLAINT_MESSAGES = 1_000
"""With fewer messages in the window, complaints change no state: one in a thousand is Gmail's lower threshold."""
EVALUATION_DELAY = timedelta(seconds=5)
"""How long after a bounce or complaint the rates are evaluated, once for all that arrive in this time."""
EVALUATION_INTERVAL = timedelta(hours=1)
"""How often the rates are evaluated while they are above a threshold, as old mail leaves the window."""
REPUTATION_LEASE = timedelta(minutes=2)
COUNTER_RETENTION = timedelta(days=100)
"""How long the counters of bounces and complaints are kept."""
COUNTERS_DELETED_AT_ONCE = 10_000
"""Rows of expired counters that one evaluation deletes."""
SERIES_DAYS = 90
"""The longest series of days that a request returns."""

WARM_UP_STEPS = 90
"""Days of the longest warm-up plan."""
WARM_UP_CEILING = 10_000_000
"""The highest ceiling of a day."""
FIRST_CEILING = 50
"""The ceiling of the first day, unless the plan says another one. Twilio SendGrid's schedule begins with it."""
DAILY_GROWTH = 2
"""How much a ceiling grows from one day to the next, unless the plan says the number of days. The published schedules
grow by 1.5 (Resend) to 5 (Twilio SendGrid, on its first days)."""
START_HORIZON = timedelta(days=365)
"""How far in the future a plan may begin."""
PLACES_DELETED_AT_ONCE = 50_000
"""Rows of the places of past days that one change of the day deletes."""

ReputationState = Literal["HEALTHY", "WARNING", "HELD"]
"""HEALTHY: no rate is above a threshold. WARNING: one is above the lower one. HELD: one was above the higher one, so
marketing mail waits until the rates are below the lower ones."""
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
    """Those of hard bounces."""
    complaints: RateThresholds
    """Those of complaints."""


class ReputationCounts(Record):
    """The mail of a domain with what came back."""

    messages: int
    """Messages that a mail server accepted, or rejected because of the recipient."""
    bounced: int
    """Those with a hard bounce: the recipient does not exist. Rejections of the sender or the message do not count."""
    complained: int
    """Those that a recipient reported as spam."""


class ReputationDay(ReputationCounts):
    """The mail of one day with what came back."""

    day: date
    """The day in UTC on which the messages were transmitted."""


class Reputation(Record):
    """The rates of bounces and complaints of a domain, and what follows from them."""

    domain_id: UUID
    domain: str
    state: ReputationState
    """HEALTHY, WARNING, or HELD: marketing mail of this domain waits."""
    since: Moment | None
    """When the state began; null if it has never changed."""
    reason: str | None
    """The rate that is above a threshold, with its numbers; null if HEALTHY."""
    held_until: Moment | None
    """When the messages that wait are evaluated again at the latest; null unless HELD."""
    counted_from: Moment
    """The begin of the time for which the rates are: seven days ago, or the last release."""
    counts: ReputationCounts
    """The mail since then."""
    bounce_rate: float
    """From 0 to 1."""
    complaint_rate: float
    """From 0 to 1."""
    thresholds: ReputationThresholds
    """The rates at which the state changes."""
    days: list[ReputationDay]
    """Oldest first; days without messages are included."""


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
    releasing: Moment | None
    counted_from: Moment | None
    uncounted_messages: int
    uncounted_bounced: int
    uncounted_complained: int
    due_at: Moment | None
    attempt: int


Ceiling = Annotated[int, msgspec.Meta(ge=1, le=WARM_UP_CEILING)]


class WarmUpPlan(Body):
    """A warm-up plan: `steps`, or `targetPerDay` from which the steps follow."""

    start: date | None = None
    """The first day, in UTC; default: today."""
    steps: Annotated[list[Ceiling], msgspec.Meta(min_length=1, max_length=WARM_UP_STEPS)] | None = None
    """The ceiling of each day: no step is lower than the one before."""
    target_per_day: Ceiling | None = None
    """The ceiling of the last day. The first one is 50, and each day's is twice that of the day before."""
    days: Annotated[int, msgspec.Meta(ge=2, le=WARM_UP_STEPS)] | None = None
    """The number of days, with `targetPerDay`; the ceilings then grow by the same factor each day."""


class WarmUp(Record):
    """The warm-up plan of a domain, and its progress."""

    domain_id: UUID
    domain: str
    status: WarmUpStatus
    """SCHEDULED before the first day, ACTIVE, or COMPLETED."""
    starts_on: date
    """The first day, in UTC."""
    steps: list[int]
    """The ceiling of each day that counts."""
    step: int
    """The number of today's step, from 1."""
    ceiling: int | None
    """How many messages the domain may send today; null unless ACTIVE."""
    used: int
    """Messages of today: marketing messages with a place in the ceiling, and transactional ones that were sent."""
    repeated_days: int
    """Days that did not count, because nothing was sent or the rates of the domain were above a threshold."""
    next_day_at: Moment | None
    """When the next day begins; null unless ACTIVE or SCHEDULED."""
    last_day: date | None
    """The day of the last step, if no day is repeated; null unless ACTIVE or SCHEDULED."""
    ended_at: Moment | None
    """When the last step was completed; null before that."""
    created_at: Moment
    updated_at: Moment


class WarmUpProgress(Record):
    """A warm-up plan and how far it is, of a sending domain or of an address from which mail is sent."""

    status: WarmUpStatus
    starts_on: date
    """The first day, in UTC."""
    steps: list[int]
    """The ceiling of each day that counts."""
    step: int
    """The index of the ceiling of `day`."""
    day: date
    used: int
    """Messages of `day`."""
    repeated: int
    """Days that did not count."""
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
    due_at: Moment | None
    attempt: int


class SourceWarmUp(WarmUpProgress):
    """A row of `source_warm_ups`: the plan of an address of POSTERN_SOURCES."""

    address: str


class DomainLimit(Record):
    """What limits the marketing mail of a domain now."""

    domain_id: UUID
    held_until: Moment | None
    """Until when it is held; None if it is not."""
    reason: str | None
    """Why it is held."""
    warms_up: bool
    """Whether the domain has a warm-up plan that has not ended."""
