"""Campaigns: request and response bodies, rows, states, and the actions that each state allows."""

from datetime import timedelta
from typing import Annotated, Any, Literal, TypedDict
from uuid import UUID

import msgspec

from postern.kernel.http.problems import Conflict, Missing, ProblemError
from postern.kernel.values import Body, DisplayName, Moment, Record, Timestamp

CampaignStatus = Literal["DRAFT", "SCHEDULED", "TESTING", "SENDING", "PAUSED", "SENT", "CANCELLED", "FAILED"]
Metric = Literal["OPEN_RATE", "CLICK_RATE"]

ALLOWED_ACTIONS: dict[str, frozenset[str]] = {
    "DRAFT": frozenset(("edit", "delete", "send", "test", "duplicate")),
    "SCHEDULED": frozenset(("edit", "delete", "cancel", "test", "duplicate")),
    "TESTING": frozenset(("cancel", "pause", "select_winner", "cancel_test", "test", "duplicate")),
    "SENDING": frozenset(("cancel", "pause", "test", "duplicate")),
    "PAUSED": frozenset(("cancel", "resume", "test", "duplicate")),
    "SENT": frozenset(("test", "duplicate")),
    "CANCELLED": frozenset(("test", "duplicate")),
    "FAILED": frozenset(("test", "duplicate")),
}
"""The actions that each state allows. Any other action raises CampaignStateConflict. `test` sends a test copy to one
address; `select_winner` and `cancel_test` end the A/B test."""

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
"""The states that may follow each state."""

VARIANTS_MIN, VARIANTS_MAX = 2, 8
FILL_BATCH = 2_000
"""Maximum number of contacts that become sends in one transaction."""
MAX_QUEUED = 10_000
"""A campaign creates no further sends while this many wait for their first attempt. Sends that wait for a retry do not
count, so that slow mail servers of one receiver do not hold up the sends to others."""
UPDATE_BATCH = 2_000
"""Maximum number of sends that are released or cancelled in one transaction."""
POLL_INTERVAL = timedelta(milliseconds=200)
"""How often the counters of a campaign are read while sends wait for their first attempt."""
LIMITED_POLL_INTERVAL = timedelta(seconds=5)
"""How often the counters of a campaign are read while its sending domain is limited, so that sends may wait long."""
RETRY_POLL_INTERVAL = timedelta(seconds=30)
"""How often the counters of a campaign are read when only retries remain."""


class CampaignMissing(Missing):
    """There is no such campaign."""


class VariantMissing(Missing):
    """This campaign has no such variant."""


class CampaignIncomplete(Conflict):
    """The campaign cannot be sent yet; `errors` lists what is missing."""


class CampaignStateConflict(Conflict):
    """The campaign's current status does not allow this action."""


class SeedListEmpty(Conflict):
    """The project has no seed list; add addresses to `seedList` in the project's settings."""


Name = DisplayName
Subject = Annotated[str, msgspec.Meta(min_length=1, max_length=2_000)]
ShortText = Annotated[str, msgspec.Meta(max_length=1_000)]
AddressText = Annotated[str, msgspec.Meta(min_length=3, max_length=320)]
Identifier = Annotated[str, msgspec.Meta(max_length=64)]
SamplePercent = Annotated[int, msgspec.Meta(ge=5, le=100)]
DurationMinutes = Annotated[int, msgspec.Meta(ge=15, le=10_080)]
Unset = msgspec.UnsetType
UNSET = msgspec.UNSET


class NewVariant(Body):
    """A variant of the message for an A/B test."""

    name: Name
    subject: Subject | None = None
    """Null: the campaign's subject."""
    template_id: Identifier | None = None
    """Null: the campaign's template."""
    weight: Annotated[int, msgspec.Meta(ge=1, le=100)]
    """The share of the test sample that gets this variant, in percent; all weights sum to 100."""


Variants = Annotated[list[NewVariant], msgspec.Meta(min_length=VARIANTS_MIN, max_length=VARIANTS_MAX)]


class NewCampaign(Body):
    """A campaign to create."""

    name: Name
    subject: Subject | None = None
    from_name: ShortText | None = None
    from_email: AddressText | None = None
    preview_text: ShortText | None = None
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
    """The fields to change; omitted fields keep their values."""

    name: Name | Unset = UNSET
    subject: Subject | None | Unset = UNSET
    from_name: ShortText | None | Unset = UNSET
    from_email: AddressText | None | Unset = UNSET
    preview_text: ShortText | None | Unset = UNSET
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
    """The recipient of a test copy."""

    to: AddressText


class CampaignPreflight(Body):
    """What to check in a campaign's message."""

    email: AddressText | None = None
    """A contact whose attributes fill in the content. Null: a contact without attributes."""
    variant_id: Identifier | None = None
    """The variant to check. Null: the campaign's own subject and template."""
    check_links: bool = False
    """Open the links of the message, at most 20, with GET requests."""


class WinnerChoice(Body):
    """The variant to declare the winner of an A/B test."""

    variant_id: Identifier


class CampaignFields(Record):
    """The fields that the API shows of a row of `campaigns`."""

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
    """Contacts in the test, chosen when it begins: `abTestSamplePercent` of the audience, but at
    least one contact for each variant."""
    reason: str | None
    """Why the campaign failed; null unless its status is FAILED."""
    created_at: Moment
    updated_at: Moment


class Campaign(CampaignFields):
    """A campaign."""

    app_id: UUID  # The id of the project; its older name in the API.


class VariantStats(Record):
    """The statistics of a variant. Opens and clicks by machines are not counted."""

    sent: int
    """Sends that a mail server accepted, without those that bounced later."""
    opened: int
    clicked: int
    open_rate: float
    click_rate: float


class CampaignVariant(Record):
    """A variant of the message in an A/B test."""

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
    """The statistics of a campaign's sends. Opens and clicks by machines are not counted."""

    total: int
    """All sends, whatever their status."""
    sent: int
    """Sends that a mail server accepted, without those that bounced later."""
    delivered: int
    opened: int
    clicked: int
    bounced: int
    complained: int
    failed: int
    """Sends that failed, expired or were suppressed, without those that the frequency cap suppressed."""


class ListedCampaign(Campaign):
    """A campaign in a list."""

    stats: CampaignStats | None = None
    """The statistics of its sends; null unless `include=counts` is requested."""


class CampaignSkipped(Record):
    """Contacts of the audience that get no message, by reason."""

    unsubscribed: int
    suppressed: int
    deleted: int
    """Contacts that were deleted after the start and before their message was sent."""
    frequency_cap: int
    """Contacts that got as many marketing messages within 24 hours as the project's `frequencyCap` allows. Each has a
    send with the status SUPPRESSED and that reason."""


class CampaignProgress(Record):
    """The progress of a campaign."""

    expected: int
    """Contacts in the audience when the campaign started; 0 before the start."""
    audience: int
    """Contacts of the audience that have been processed so far: those with a send and those that were skipped."""
    waiting: int
    """Sends that no server has accepted or rejected yet, those that are retried included."""
    retrying: int
    """The waiting sends that were deferred and are retried. A campaign can be SENT while some are retried."""
    handed_over: int
    """Sends that a mail server has accepted or permanently rejected. Sends that failed, expired or were suppressed do
    not count."""
    skipped: CampaignSkipped
    per_second: float
    """Messages per second since the start."""
    waiting_reason: str | None
    """Why messages wait because of their sending domain, its rates of bounces or complaints or its warm-up plan, or
    because of the warm-up of an address of the server; null if none does."""
    waiting_until: Moment | None
    """The time until which one of these messages waits; it may be sent earlier. Null if none waits."""


class CampaignDetail(Campaign):
    """A campaign with its variants, statistics and progress."""

    variants: list[CampaignVariant]
    stats: CampaignStats
    progress: CampaignProgress
    evidence: dict[str, Any] | None
    """How the winner of the A/B test was chosen: `decidedBy`, `reason` and, unless the test was cancelled or left out,
    the counts and probabilities of the variants. Null before that."""
    ab_test_ends_at: Moment | None
    """When the A/B test ends. Null without a test and while the campaign is paused, which extends the test."""
    warnings: list[ProblemError]
    """Settings that do not prevent sending but are probably a mistake, such as a sample that is too small."""


class CampaignSendResult(Record):
    """The campaign was started or scheduled."""

    success: bool = True


class CampaignTestResult(Record):
    """The number of test copies that were queued."""

    success: bool
    sent: int


class ProjectCampaignTotals(Record):
    """How many campaigns a project has (`total`), and how many of them are SENT (`sent`)."""

    total: int
    sent: int


class CampaignRow(CampaignFields):
    """A row of `campaigns`."""

    project_id: UUID
    ab_test_paused: timedelta
    evidence: Any
    """How the winner of the A/B test was chosen (see `ab_test.choose_winner`); None before that."""
    started_at: Moment | None
    paused_from: str | None
    """The status before the pause, to which the campaign returns; None unless it is PAUSED."""
    releasing: bool
    """Whether the campaign was resumed and not all of its held sends are due again yet."""
    is_test: bool
    """Whether a TEST key started the campaign; then its messages are stored in Postern's own inbox, not delivered."""
    content_id: UUID | None
    """The content snapshot to send: of the campaign, the winner or, during an A/B test, the first variant."""
    cursor: UUID | None
    """The last contact id for which a send was created; contacts are processed in the order of their ids."""
    filled: bool
    """Whether all contacts were processed."""
    expected: int
    """Contacts in the audience at the start."""
    seen: int
    """Contacts that were processed: those with a send and those that were skipped."""
    skipped_unsubscribed: int
    skipped_suppressed: int
    skipped_frequency_cap: int
    due_at: Moment | None
    attempt: int


class CampaignStateColumns(TypedDict, total=False):
    """Columns of `campaigns` that change with the status."""

    due_at: Moment | None
    started_at: Moment
    paused_from: str | None
    releasing: bool
    content_id: UUID | None
    expected: int
    cursor: UUID | None
    filled: bool
    ab_test_started_at: Moment | None
    evidence: Any
    sent_at: Moment
    reason: str


class VariantRow(Record):
    """A row of `campaign_variants`."""

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


class FilledBatch(Record):
    """The result of turning one batch of contacts into sends."""

    seen: int
    """Contacts in the batch."""
    last_contact_id: UUID | None
    """The id of the last contact in the batch; None if the batch is empty."""
    queued: int
    """Sends that were queued."""
    unsubscribed: int
    """Contacts without a send because they have unsubscribed."""
    suppressed: int
    """Contacts without a send because their address is suppressed."""
    capped: list[UUID]
    """Sends that were inserted as SUPPRESSED because of the frequency cap."""


def require_allowed(action: str, status: str) -> None:
    """Raises CampaignStateConflict if `status` does not allow `action`; the message lists the allowed actions."""
    if action not in ALLOWED_ACTIONS[status]:
        possible = ", ".join(sorted(allowed.replace("_", " ") for allowed in ALLOWED_ACTIONS[status]))
        raise CampaignStateConflict(
            f"The action `{action.replace('_', ' ')}` is not possible while the campaign is {status}; "
            f"possible now: {possible}."
        )
