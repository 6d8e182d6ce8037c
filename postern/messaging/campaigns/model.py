"""Campaigns, their states, and what may be done in each."""

from datetime import timedelta
from typing import Annotated, Any, Literal
from uuid import UUID

import msgspec

from postern.kernel.clock import Moment
from postern.kernel.http.problems import Conflict, Missing, ProblemError
from postern.kernel.values import Body, NameForPeople, Record, Timestamp

CampaignStatus = Literal["DRAFT", "SCHEDULED", "TESTING", "SENDING", "PAUSED", "SENT", "CANCELLED", "FAILED"]
Metric = Literal["OPEN_RATE", "CLICK_RATE"]

ALLOWED: dict[str, frozenset[str]] = {
    "DRAFT": frozenset(("edit", "delete", "send", "test", "duplicate")),
    "SCHEDULED": frozenset(("edit", "delete", "cancel", "test", "duplicate")),
    "TESTING": frozenset(("cancel", "pause", "select_winner", "cancel_test", "test", "duplicate")),
    "SENDING": frozenset(("cancel", "pause", "test", "duplicate")),
    "PAUSED": frozenset(("cancel", "resume", "test", "duplicate")),
    "SENT": frozenset(("test", "duplicate")),
    "CANCELLED": frozenset(("test", "duplicate")),
    "FAILED": frozenset(("test", "duplicate")),
}
"""What may be done with a campaign in each state; everything else is a conflict that says so."""

TRANSITIONS: dict[str, frozenset[str]] = {
    "DRAFT": frozenset(("SCHEDULED", "TESTING", "SENDING")),
    "SCHEDULED": frozenset(("DRAFT", "TESTING", "SENDING", "CANCELLED", "FAILED")),
    "TESTING": frozenset(("SENDING", "PAUSED", "CANCELLED", "FAILED", "SENT")),
    "SENDING": frozenset(("PAUSED", "SENT", "CANCELLED", "FAILED")),
    "PAUSED": frozenset(("TESTING", "SENDING", "CANCELLED")),
    "SENT": frozenset(),
    "CANCELLED": frozenset(),
    "FAILED": frozenset(),
}

VARIANTS_MIN, VARIANTS_MAX = 2, 8
CHUNK = 2_000
"""Contacts that become sends in one transaction."""
AHEAD = 10_000
"""Sends that wait for their first attempt at most, so that filling never runs far ahead of sending. Those that wait
for a retry do not count: slow destinations do not hold the others up."""
SWEEP = 2_000
"""Sends that are released or cancelled in one transaction."""
WATCH = timedelta(milliseconds=200)
"""How soon to look again while sends are waiting."""
WATCH_RETRIES = timedelta(seconds=30)
"""How soon to look again when only retries are left."""


class CampaignMissing(Missing):
    """There is no such campaign."""


class VariantMissing(Missing):
    """This campaign has no such variant."""


class CampaignIncomplete(Conflict):
    """The campaign cannot be sent yet; `errors` lists what is missing."""


class CampaignStateConflict(Conflict):
    """That is not possible in the campaign's present state."""


class SeedListEmpty(Conflict):
    """The project has no seed list; set `seedList` in the project's settings."""


Name = NameForPeople
Subject = Annotated[str, msgspec.Meta(min_length=1, max_length=2_000)]
Words = Annotated[str, msgspec.Meta(max_length=1_000)]
AddressText = Annotated[str, msgspec.Meta(min_length=3, max_length=320)]
Identifier = Annotated[str, msgspec.Meta(max_length=64)]
SamplePercent = Annotated[int, msgspec.Meta(ge=5, le=100)]
DurationMinutes = Annotated[int, msgspec.Meta(ge=15, le=10_080)]
Unset = msgspec.UnsetType
UNSET = msgspec.UNSET


class NewVariant(Body):
    """One of the messages that compete."""

    name: Name
    subject: Subject | None = None
    """Null: the campaign's."""
    template_id: Identifier | None = None
    """Null: the campaign's."""
    weight: Annotated[int, msgspec.Meta(ge=1, le=100)]
    """Its share of the test, in percent; all weights sum to 100."""


Variants = Annotated[list[NewVariant], msgspec.Meta(min_length=VARIANTS_MIN, max_length=VARIANTS_MAX)]


class NewCampaign(Body):
    """A campaign to create."""

    name: Name
    subject: Subject | None = None
    from_name: Words | None = None
    from_email: AddressText | None = None
    preview_text: Words | None = None
    template_id: Identifier | None = None
    domain_id: Identifier | None = None
    audience_id: Identifier | None = None
    scheduled_at: Timestamp | None = None
    ab_test_enabled: bool = False
    ab_test_sample_percent: SamplePercent | None = None
    ab_test_metric: Metric | None = None
    ab_test_duration_minutes: DurationMinutes | None = None
    variants: Variants | None = None


class CampaignChange(Body):
    """What to change; what is left out stays."""

    name: Name | Unset = UNSET
    subject: Subject | None | Unset = UNSET
    from_name: Words | None | Unset = UNSET
    from_email: AddressText | None | Unset = UNSET
    preview_text: Words | None | Unset = UNSET
    template_id: Identifier | None | Unset = UNSET
    domain_id: Identifier | None | Unset = UNSET
    audience_id: Identifier | None | Unset = UNSET
    scheduled_at: Timestamp | None | Unset = UNSET
    ab_test_enabled: bool | Unset = UNSET
    ab_test_sample_percent: SamplePercent | None | Unset = UNSET
    ab_test_metric: Metric | None | Unset = UNSET
    ab_test_duration_minutes: DurationMinutes | None | Unset = UNSET
    variants: Variants | None | Unset = UNSET


class CampaignTest(Body):
    """Where to send a test copy."""

    to: AddressText


class WinnerChoice(Body):
    """The winner, chosen by hand."""

    variant_id: Identifier


class Campaign(Record):
    """A campaign."""

    id: UUID
    name: str
    subject: str | None
    from_name: str | None
    from_email: str | None
    preview_text: str | None
    status: CampaignStatus
    scheduled_at: Moment | None
    sent_at: Moment | None
    template_id: UUID | None
    domain_id: UUID | None
    audience_id: UUID | None
    app_id: UUID
    ab_test_enabled: bool
    ab_test_sample_percent: int | None
    ab_test_metric: Metric | None
    ab_test_duration_minutes: int | None
    ab_test_started_at: Moment | None
    ab_test_sample_size: int | None
    """Contacts in the test, chosen when it begins: the percentage, but one for each variant at least."""
    reason: str | None
    """Why it failed, where it did."""
    created_at: Moment
    updated_at: Moment


class VariantStats(Record):
    """How a variant is doing; opens and clicks are people's."""

    sent: int
    opened: int
    clicked: int
    open_rate: float
    click_rate: float


class CampaignVariant(Record):
    """One of the messages that compete."""

    id: UUID
    campaign_id: UUID
    name: str
    subject: str | None
    template_id: UUID | None
    weight: int
    is_winner: bool
    created_at: Moment
    stats: VariantStats


class CampaignStats(Record):
    """How a campaign is doing."""

    total: int
    sent: int
    delivered: int
    opened: int
    clicked: int
    bounced: int
    complained: int
    failed: int


class CampaignSkipped(Record):
    """Contacts of the audience that are not written to, and why."""

    unsubscribed: int
    suppressed: int
    deleted: int
    """Contacts that were deleted between the start and their turn."""
    frequency_cap: int
    """Those who got as many marketing messages within 24 hours as the project's `frequencyCap` allows; each is among
    the sends as SUPPRESSED with that reason."""


class CampaignProgress(Record):
    """Where a campaign stands."""

    expected: int
    """Contacts of the audience at the start; 0 before it."""
    audience: int
    """Contacts of the audience that have been looked at so far."""
    waiting: int
    """Sends that are still to be handed over."""
    retrying: int
    """Those of them that were tried and deferred, and are tried again; the campaign may be SENT already."""
    handed_over: int
    """Sends that a server took, or refused for the recipient; those that failed, expired or were suppressed are not."""
    skipped: CampaignSkipped
    per_second: float
    """Messages a second since the start."""


class CampaignDetail(Campaign):
    """A campaign with its variants, statistics and progress."""

    variants: list[CampaignVariant]
    stats: CampaignStats
    progress: CampaignProgress
    evidence: dict[str, Any] | None
    """What the winner of the A/B test was chosen by."""
    ab_test_ends_at: Moment | None
    """When the test is over; its clock stands still while the campaign is paused, and this is null then."""
    warnings: list[ProblemError]
    """What does not keep the campaign from being sent, but probably from doing what it is meant to."""


class CampaignSendResult(Record):
    """It worked."""

    success: bool = True


class CampaignTestResult(Record):
    """Test copies went out."""

    success: bool
    sent: int


class ProjectCampaignTotals(Record):
    """A project's campaigns in numbers."""

    total: int
    sent: int


class CampaignRow(Record):
    """The row of a campaign."""

    project_id: UUID
    id: UUID
    name: str
    subject: str | None
    from_name: str | None
    from_email: str | None
    preview_text: str | None
    status: CampaignStatus
    scheduled_at: Moment | None
    sent_at: Moment | None
    template_id: UUID | None
    domain_id: UUID | None
    audience_id: UUID | None
    ab_test_enabled: bool
    ab_test_sample_percent: int | None
    ab_test_metric: Metric | None
    ab_test_duration_minutes: int | None
    ab_test_started_at: Moment | None
    ab_test_sample_size: int | None
    ab_test_paused: timedelta
    evidence: Any
    started_at: Moment | None
    paused_from: str | None
    releasing: bool
    is_test: bool
    """Whether a TEST key started it: its mail only ever reaches the inbox view."""
    content_id: UUID | None
    cursor: UUID | None
    filled: bool
    expected: int
    seen: int
    skipped_unsubscribed: int
    skipped_suppressed: int
    skipped_frequency_cap: int
    reason: str | None
    due_at: Moment | None
    attempt: int
    created_at: Moment
    updated_at: Moment


class VariantRow(Record):
    """The row of a variant."""

    project_id: UUID
    id: UUID
    campaign_id: UUID
    position: int
    name: str
    subject: str | None
    template_id: UUID | None
    weight: int
    is_winner: bool = False
    content_id: UUID | None = None
    created_at: Moment


class FilledChunk(Record):
    """What turning a chunk of contacts into sends brought."""

    seen: int
    last: UUID | None
    made: int
    unsubscribed: int
    suppressed: int
    capped: list[UUID]
    """Sends that were written down as SUPPRESSED because of the frequency cap."""


def refuse_unless(action: str, status: str) -> None:
    """Raises CampaignStateConflict where `action` is not possible in `status`, saying what is."""
    if action not in ALLOWED[status]:
        possible = ", ".join(sorted(each.replace("_", " ") for each in ALLOWED[status]))
        raise CampaignStateConflict(
            f"A campaign that is {status} cannot do `{action.replace('_', ' ')}`; possible now: {possible}."
        )
