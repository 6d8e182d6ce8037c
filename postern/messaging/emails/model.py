"""Models of sends, delivery sites and suppressions: request and response bodies, database rows, statuses with their
transitions, problems, and limits."""

from datetime import datetime, timedelta
from typing import Annotated, Any, Literal, LiteralString
from uuid import UUID

import msgspec

from postern.kernel.http.problems import BadRequest, Conflict, Forbidden, Missing, Unprocessable
from postern.kernel.values import Body, Moment, Record, Timestamp
from postern.platform.projects.archive import ArchivedTable
from postern.protocols.mail.templates.template import Engine

SendStatus = Literal[
    "SCHEDULED",
    "QUEUED",
    "SENT",
    "DELIVERED",
    "DELAYED",
    "BOUNCED",
    "COMPLAINED",
    "SUPPRESSED",
    "FAILED",
    "EXPIRED",
    "CANCELLED",
]

TRANSITIONS: dict[str, frozenset[str]] = {
    "SCHEDULED": frozenset(
        ("SENT", "DELIVERED", "COMPLAINED", "DELAYED", "BOUNCED", "SUPPRESSED", "FAILED", "EXPIRED", "CANCELLED")
    ),
    "QUEUED": frozenset(
        ("SENT", "DELIVERED", "COMPLAINED", "DELAYED", "BOUNCED", "SUPPRESSED", "FAILED", "EXPIRED", "CANCELLED")
    ),
    "DELAYED": frozenset(
        ("SENT", "DELIVERED", "COMPLAINED", "BOUNCED", "SUPPRESSED", "FAILED", "EXPIRED", "CANCELLED")
    ),
    "BOUNCED": frozenset(("QUEUED", "COMPLAINED")),
    "FAILED": frozenset(("QUEUED", "DELIVERED", "BOUNCED", "COMPLAINED")),
    "EXPIRED": frozenset(("QUEUED", "DELIVERED", "BOUNCED", "COMPLAINED")),
    "SENT": frozenset(("DELIVERED", "BOUNCED", "COMPLAINED")),
    "DELIVERED": frozenset(("BOUNCED", "COMPLAINED")),
    "COMPLAINED": frozenset(),
    "SUPPRESSED": frozenset(),
    "CANCELLED": frozenset(),
}
"""The statuses that may follow each status: after an attempt, a cancellation, a retry, an erasure, or a report that
arrives after the attempts (`emails.signals`).

For example, a late bounce changes DELIVERED to BOUNCED, but a late report of delivery does not change BOUNCED. FAILED
and EXPIRED can still become DELIVERED, because the message of an ambiguous attempt may have arrived.
"""

WAITING: tuple[str, ...] = tuple(state for state, following in TRANSITIONS.items() if "CANCELLED" in following)
"""Statuses of a send that waits for its delivery. A send with any other status is settled."""
RETRIABLE: tuple[str, ...] = tuple(state for state, following in TRANSITIONS.items() if "QUEUED" in following)
"""Statuses of a settled send that can be retried."""
SETTLING_TRANSITIONS: list[str] = [
    f"{state} {following}" for state in WAITING for following in sorted(TRANSITIONS[state])
]
"""The transitions of waiting sends, as `FROM TO`. A statement that settles an attempt makes no other transition."""
AWAITING_ATTEMPT: tuple[str, ...] = ("QUEUED", "DELAYED")
"""Statuses of a send that waits for its next attempt, and not for a scheduled time. A caller can ask for the attempt
sooner."""

ContentState = Literal["GOING", "HELD", "STOPPED"]
"""State of content that the sends of a campaign share: these sends can be delivered (GOING), must wait (HELD), or are
never delivered (STOPPED)."""

TRANSACTIONAL, MARKETING = 0, 1
"""The values of `Send.lane`. Each lane has its own background work, so that a campaign never delays a password
reset."""

RECIPIENTS_LIMIT = 50
TAGS_LIMIT = 75
TAG_CHARACTERS = 256
TAG_PAIR_SEPARATOR = "--"
"""Joins name and value in one tag, for compatible APIs whose tags are pairs of name and value."""
BATCH_LIMIT = 500
BATCH_BYTES = 50_000_000
"""The largest request body of a batch, in bytes."""
SINGLE_BYTES = 36_000_000
"""The largest request body of one e-mail, in bytes: a message of 25 MB is 34 MB of base64 in JSON."""
SEPARATE_MESSAGES_BYTES = 50_000_000
"""Maximum bytes of all messages together, if one request stores a separate message for each recipient."""
BODY_CHARACTERS = 25_000_000
"""The most characters of html or of text that a message of 25 MB can contain."""
VARIABLES_BYTES = 256_000
SCHEDULE_HORIZON = timedelta(days=30)
WAIT_LIMIT = timedelta(seconds=30)
"""The maximum of `Prefer: wait=N`."""
IDEMPOTENCY_WINDOW = timedelta(hours=24)
"""How long an idempotency key is remembered."""
IDEMPOTENCY_LEASE = timedelta(seconds=60)
"""How long a request with an idempotency key counts as still being processed if no response was stored for it."""
SUPPRESSIONS_BULK_LIMIT = 1_000
"""Maximum addresses of one bulk addition to the suppression list."""


class EmailMissing(Missing):
    """There is no such send."""


class MessageGone(Missing):
    """The content of this message is no longer stored."""


MESSAGE_GONE = "The content of this message is no longer stored."
"""The reason of a send that FAILED because its content is no longer stored."""


class SuppressionMissing(Missing):
    """This address is not suppressed."""


class DomainNotVerified(Forbidden):
    """The `from` address neither belongs to a verified sending domain nor is a verified sender of this project."""


class NotScheduled(Conflict):
    """Only a SCHEDULED send can be rescheduled."""


class NotCancellable(Conflict):
    """This send is no longer waiting, or is being transmitted right now."""


class NotRetriable(Conflict):
    """Only a send that was deferred, failed, bounced or expired can be retried."""


class IdempotencyKeyInProgress(Conflict):
    """An earlier request with this idempotency key is still being processed. Repeat the request shortly."""

    retry_after_seconds = 1


class IdempotencyKeyReused(Unprocessable):
    """This idempotency key was used with a different body within the last 24 hours. Use a new key."""


class EmailInvalid(BadRequest):
    """This e-mail cannot be sent as described; `errors` says why."""


AddressText = Annotated[str, msgspec.Meta(min_length=3, max_length=1_000)]
ContentText = Annotated[str, msgspec.Meta(max_length=BODY_CHARACTERS)]
Tag = Annotated[
    str,
    msgspec.Meta(
        min_length=1,
        max_length=TAG_CHARACTERS,
        pattern=r"^[A-Za-z0-9_-]+(?!\n)$",
        description="A tag: letters, digits, `_` and `-`, such as `welcome`.",
    ),
]


class EmailAttachment(Body):
    """An attached file."""

    filename: Annotated[str, msgspec.Meta(min_length=1, max_length=255)]
    content: Annotated[str, msgspec.Meta(description="The file in base64; line breaks are allowed.")]
    content_type: Annotated[str, msgspec.Meta(max_length=255)] | None = None
    """Defaults to the media type of the file name's extension, or `application/octet-stream`."""
    content_id: Annotated[str, msgspec.Meta(min_length=1, max_length=128)] | None = None
    """Makes the file inline, so that html can refer to it as `cid:…`."""


class Email(Body):
    """An e-mail to send."""

    to: Annotated[list[AddressText], msgspec.Meta(min_length=1, max_length=RECIPIENTS_LIMIT)]
    from_: AddressText = msgspec.field(name="from")
    subject: Annotated[str, msgspec.Meta(max_length=2_000)] | None = None
    html: ContentText | None = None
    text: ContentText | None = None
    template_id: str | None = None
    engine: Engine | None = None
    """`minijinja` renders tags such as `{{name}}`. `none` sends subject, html and text unchanged, including `{{`, `{%`
    and `{#`, and ignores `variables`. Null: the template's engine, or `minijinja` without a template."""
    variables: dict[str, Any] = {}
    cc: Annotated[list[AddressText], msgspec.Meta(max_length=RECIPIENTS_LIMIT)] | None = None
    bcc: Annotated[list[AddressText], msgspec.Meta(max_length=RECIPIENTS_LIMIT)] | None = None
    reply_to: AddressText | Annotated[list[AddressText], msgspec.Meta(max_length=10)] | None = None
    headers: dict[str, str] | None = None
    attachments: Annotated[list[EmailAttachment], msgspec.Meta(max_length=20)] | None = None
    tags: Annotated[list[Tag], msgspec.Meta(max_length=TAGS_LIMIT)] | None = None
    scheduled_at: Timestamp | None = None
    """At most 30 days in the future; a time in the past means now."""
    track_opens: bool | None = None
    track_clicks: bool | None = None
    expires_at: Timestamp | None = None
    """The message is not sent after this time; useful for one-time codes."""
    unsubscribable: bool = False
    """Adds `List-Unsubscribe` with one-click unsubscribing (RFC 8058). Several recipients each get a separate message
    with their own unsubscribe link."""
    require_tls: bool | None = None
    """Whether the message is sent only over TLS, and only to servers with a valid certificate that offer REQUIRETLS
    (RFC 8689). To any other server it bounces: with 5.7.10 if TLS or a valid certificate is missing, with 5.7.30 if
    REQUIRETLS is not offered. Null: the setting of the project."""


class EmailBatch(Body):
    """Several independent e-mails."""

    emails: Annotated[
        list[Annotated[msgspec.Raw, msgspec.Meta(extra_json_schema={"$ref": "#/components/schemas/Email"})]],
        msgspec.Meta(min_length=1, max_length=BATCH_LIMIT),
    ]
    """The e-mails. Each is validated separately, so an invalid one does not affect the others."""


class EmailReschedule(Body):
    """The new time of a scheduled send."""

    scheduled_at: Timestamp


class RecipientMessage(Record):
    """The message to one recipient of an `unsubscribable` e-mail."""

    to: str
    id: UUID
    """The id of this recipient's own send."""
    message_id: str
    status: SendStatus


class SendResult(Record):
    """An accepted send. `status` is its status at the time of the response."""

    id: UUID
    message_id: str
    status: SendStatus
    messages: list[RecipientMessage] = []
    """The message to each recipient if an `unsubscribable` e-mail has several; `id`, `messageId` and `status` are those
    of the first."""


class EmailBatchItem(Record):
    """The result of one e-mail of a batch. `error` is the reason if it was not accepted."""

    id: UUID | None
    message_id: str | None
    status: SendStatus
    error: str | None
    messages: list[RecipientMessage] = []
    """The message to each recipient if an `unsubscribable` e-mail has several."""


class EmailBatchResult(Record):
    """The results, in the order of the request."""

    data: list[EmailBatchItem]


class ContactRef(Record):
    """The first recipient of a send; `id` is null if there is no contact with this address."""

    id: UUID | None
    email: str


class RecipientOutcome(Record):
    """The status of a message for one of its recipients."""

    email: str
    field: Literal["to", "cc", "bcc"]
    status: SendStatus
    reason: str | None
    """Why it failed, bounced, was deferred or was suppressed for this recipient."""
    at: Moment | None
    """When the message got this status for this recipient; null before the first attempt."""


class SendEvent(Record):
    """An event of a send."""

    id: UUID
    type: Literal["Send", "Delivery", "DeliveryDelay", "Bounce", "Complaint", "Open", "Click", "Reject"]
    created_at: Moment


class EmailLogEntry(Record):
    """A send in the e-mail log."""

    id: UUID
    status: SendStatus
    message_id: str
    subject: str
    from_: str = msgspec.field(name="from")
    to: list[str]
    cc: list[str]
    bcc: list[str]
    contact: ContactRef
    recipients: list[RecipientOutcome]
    """The status for each recipient in `to`, `cc` and `bcc`, each address once."""
    campaign_id: UUID | None
    tags: list[str]
    reason: str | None
    """Why it failed, bounced, was deferred or was suppressed."""
    ambiguous_attempts: int
    """Attempts that ended before the server's reply, so that it is unknown whether the message arrived (RFC 1047)."""
    test: bool
    """Whether a TEST key sent it; then it is not delivered, but captured for the inbox view."""
    scheduled_at: Moment | None
    expires_at: Moment | None
    sent_at: Moment | None
    delivered_at: Moment | None
    opened_at: Moment | None
    clicked_at: Moment | None
    bounced_at: Moment | None
    complained_at: Moment | None
    created_at: Moment


WaitingCause = Literal[
    "SCHEDULE",
    "QUEUE",
    "CAMPAIGN_PAUSED",
    "WARM_UP",
    "REPUTATION",
    "SITE_SUSPENDED",
    "SITE_SLOWED",
    "SITE_UNREACHABLE",
    "CAPACITY",
    "TLS",
    "DEFERRED",
    "SETUP",
]


class EmailWaiting(Record):
    """What an e-mail waits for."""

    cause: WaitingCause
    """SCHEDULE: its scheduled time has not come. QUEUE: a worker will take it, or is sending it. CAMPAIGN_PAUSED: its
    campaign is paused. WARM_UP: its domain, or the IP addresses of the server, may send no more marketing mail today.
    REPUTATION: the bounce or complaint rate of its domain is too high. SITE_SUSPENDED: its site (the group of mail
    servers to which it goes, see the list of delivery sites) is suspended. SITE_SLOWED: its site has asked for less
    mail. SITE_UNREACHABLE: its site could not be reached several times in a row. CAPACITY: earlier messages are sent
    first. TLS: encryption that the recipient's domain or the relay's settings require has failed. DEFERRED: a mail
    server asked to try again later, or could not be reached. SETUP: Postern has no transport for it, or is
    overloaded."""
    until: Moment | None = None
    """When it will be tried; null if that is not known, for example if a suspension has no end."""
    site: str | None = None
    """The name of the site for which it waits, as in the list of delivery sites; null if it waits for none."""


class EmailLogEntryDetail(EmailLogEntry):
    """A send with its events."""

    webhook_events: list[SendEvent]
    engine: Engine | None
    """The template engine of its subject, html and text; null if they are no longer stored."""
    waiting: EmailWaiting | None
    """What it waits for, and until when; null if it does not wait."""
    require_tls: bool | None
    """Whether it is sent only over TLS (`requireTls` of the e-mail or of the project); null if its content is no longer
    stored."""


class SendAttempt(Record):
    """One delivery attempt with the server's replies and the SMTP dialogue."""

    attempt: int
    outcome: Literal["ACCEPTED", "DEFERRED", "REJECTED", "AMBIGUOUS", "FAILED"]
    transport: str | None
    """`direct`, `relay`, `ses` or `capture`; null if no transport was used, or if that is not known."""
    host: str
    results: list[dict[str, Any]]
    dialogue: list[str]
    duration_ms: int
    finished_at: Moment


SignalKind = Literal["DELIVERED", "DELAYED", "BOUNCED", "COMPLAINED"]
"""What a report about a send says. DELAYED: the server that accepted the message still tries to deliver it, and the
status of the send does not change."""


class SendReport(Record):
    """A report about a send that arrived after its attempts: a bounce, a complaint, a delay or a delivery."""

    id: UUID
    kind: SignalKind
    recipient: str
    """The address that the report is about; empty if it does not say."""
    source: str
    """How it arrived: `dsn` (RFC 3464), `bounce` (a bounce in another form), `arf` (RFC 5965), or the name of a
    provider such as `ses`."""
    type: str | None
    """The kind of bounce: `hard` (the recipient can never be reached), `soft` (not at present), `block` (bad
    reputation of the sender) or `policy` (the message violates a rule of the server); null for other reports."""
    code: int
    """SMTP reply code (RFC 5321); 0 if the report has none."""
    enhanced_code: str
    """Enhanced status code (RFC 3463); empty if the report has none."""
    text: str
    """The text of the server that refused or delayed the message, or of the report."""
    host: str
    """The server that made the report; empty if it does not say."""
    feedback_type: str | None
    """The type of a complaint (RFC 5965 §3.5), such as `abuse`; null for other reports."""
    changed: bool
    """Whether the report changed the send; false if, for example, the send had already bounced."""
    times: int
    """How many times this report arrived."""
    occurred_at: Moment
    received_at: Moment
    """When the latest of these reports arrived."""


OPERATOR = "OPERATOR"
"""The value of `suspended_by` if the operator of the server has suspended the site."""
SITE_NAME_CHARACTERS = 300
SITE_REASON_CHARACTERS = 500
SITE_WAITING_COUNT_LIMIT = 10_000
"""The largest number of waiting messages that is counted for a site."""
SITE_COUNTS_PERIOD = timedelta(hours=24)
"""The period before now whose results are shown for a site."""

SiteState = Literal["OPEN", "SLOWED", "SUSPENDED"]
SiteName = Annotated[
    str, msgspec.Meta(min_length=1, max_length=SITE_NAME_CHARACTERS, description="The name of the site.")
]
SiteSearch = Annotated[
    str, msgspec.Meta(max_length=200, description="Part of the name of the site, the provider or a mail server.")
]
SiteTransport = Literal["direct", "relay", "ses"]
SiteReason = Annotated[str, msgspec.Meta(min_length=1, max_length=SITE_REASON_CHARACTERS)]


class SiteMissing(Missing):
    """This project has sent no mail to this site."""


class SiteNotSuspended(Conflict):
    """This project has not suspended this site."""


class SiteSuspendedByOperator(Conflict):
    """The operator of the server has suspended this site for the project, and only the operator can change that."""


class NewSiteSuspension(Body):
    """Why a site gets no mail, and until when."""

    reason: SiteReason
    until: Timestamp | None = None
    """Null: until it is resumed."""


class NewSiteBounce(Body):
    """Why the messages that wait for a site are given up."""

    reason: SiteReason


class DeliverySiteLimits(Record):
    """The limits of a site, for all projects and processes together; null for no limit."""

    connections: int | None
    """Connections at the same time."""
    messages_per_connection: int | None
    """Messages after which a connection is closed."""
    messages_per_minute: float | None
    """Messages per minute."""


class DeliverySiteSuspension(Record):
    """A suspension of a site: no mail is sent to it."""

    by: Literal["PROJECT", "OPERATOR"]
    """Who suspended it: this project, or the operator of the server for all projects."""
    reason: str
    since: Moment
    until: Moment | None


class DeliverySiteBounce(Record):
    """The last time that the messages that waited for a site were given up."""

    reason: str
    failed: int
    """How many messages have failed so far."""
    started_at: Moment
    ended_at: Moment | None
    """Null while it goes on."""


class DeliverySite(Record):
    """A group of mail servers that are limited together: those of a provider such as Google, or of one domain. A relay
    and Amazon SES are sites, too.

    State and limits are those of all projects; the numbers are those of this project.
    """

    name: str
    """Name of the provider, name of the first mail server, or `host:port` of the relay or of Amazon SES."""
    transport: SiteTransport
    provider: str | None
    """The provider whose limits apply; null for other sites."""
    hosts: list[str]
    """The mail servers that were last used, the preferred ones first."""
    state: SiteState
    """SLOWED: it gets less mail than `defaultLimits` allow, because it asked for less."""
    suspension: DeliverySiteSuspension | None
    """Null if it is not suspended."""
    limits: DeliverySiteLimits
    """The limits at present."""
    default_limits: DeliverySiteLimits
    """The limits without a slow-down."""
    throttled_until: Moment | None
    """Until when no mail is sent to it, because it asked for less."""
    last_reply: str | None
    """Its last reply to this project that was not positive."""
    last_reply_at: Moment | None
    """When that reply came."""
    waiting: int
    """Messages that wait for the site after an attempt or a postponement, counted up to 10,000."""
    oldest_waiting_at: Moment | None
    """When the oldest waiting message was created."""
    delivered: int
    """Recipients for whom it accepted a message in the last 24 hours."""
    deferred: int
    """Temporary failures in the last 24 hours."""
    bounced: int
    """Permanent failures in the last 24 hours."""
    bounce: DeliverySiteBounce | None
    """The last time that its waiting messages were given up; null if that never happened."""
    created_at: Moment
    """When the project first used it."""
    updated_at: Moment


class ProjectSite(Record):
    """A row of `project_sites`."""

    project_id: UUID
    id: UUID
    name: str
    scope: UUID
    """The project whose own relays or IP addresses are used; NO_ID for those that all projects share."""
    suspended_at: Moment | None
    suspended_until: Moment | None
    suspended_by: str | None
    """OPERATOR, or the kind of the project's caller."""
    task: Literal["BOUNCE", "RELEASE"] | None
    """What a worker does with the waiting messages: give them up, or make them due. None: nothing."""
    task_until: Moment | None
    """When the task was requested. BOUNCE gives up only messages that were created until then."""
    task_reason: str | None
    attempt: int
    """Fencing number of the task. Each claim and each new task increases it; a worker with another number stores
    nothing."""


class ListedSite(ProjectSite):
    """A site of a project with its state and numbers, as it is read for the list."""

    transport: SiteTransport
    provider: str | None
    hosts: list[str]
    state: SiteState
    factor: float
    """The part of its limits that the site has at present, above 0 and at most 1."""
    throttled_until: Moment | None
    suspension_by: Literal["PROJECT", "OPERATOR"] | None
    suspension_reason: str | None
    operator_suspended_at: Moment | None
    operator_suspended_until: Moment | None
    operator_reason: str | None
    last_reply: str | None
    last_reply_at: Moment | None
    waiting: int
    oldest_waiting_at: Moment | None
    delivered: int
    deferred: int
    bounced_count: int
    """Permanent failures in the last SITE_COUNTS_PERIOD."""
    bounced: int
    """Messages that the last task BOUNCE has given up."""
    bounce_started_at: Moment | None
    bounce_ended_at: Moment | None
    created_at: Moment
    updated_at: Moment


class InstanceSite(Record):
    """A site for the operator of the server, with numbers of all projects."""

    project_id: UUID
    """The project whose own relays or IP addresses are used; NO_ID for those that all projects share."""
    name: str
    transport: str
    provider: str | None
    hosts: list[str]
    state: SiteState
    factor: float
    throttled_until: Moment | None
    last_reply: str | None
    suspension_reason: str | None
    suspended_until: Moment | None
    seen_at: Moment
    waiting: int
    delivered: int
    deferred: int
    bounced: int
    projects: int
    """How many projects use the site."""
    suspended_projects: int
    """How many of these projects have a suspension of the site, by themselves or by the operator for them alone."""
    processes: int
    """How many processes send to the site at present."""


class Send(Record):
    """A row of `sends`. The defaults are the values of a new send."""

    project_id: UUID
    id: UUID
    status: SendStatus
    lane: int
    """TRANSACTIONAL or MARKETING."""
    test: bool = False
    """Whether a TEST key sent it."""
    message_id: str
    subject: str
    """The rendered subject; until a campaign's send is composed, the subject template."""
    sender: str
    recipient: str
    """The first address of `to`, without display name."""
    to_addresses: list[str]
    cc_addresses: list[str] | None = None
    bcc_addresses: list[str] | None = None
    contact_id: UUID | None = None
    campaign_id: UUID | None = None
    variant_id: UUID | None = None
    content_id: UUID | None = None
    """The content that the sends of a campaign share; None if the send has content of its own."""
    domain_id: UUID | None = None
    once_key: str | None = None
    """Deduplicates sends that Postern enqueues itself, such as those of automations: a project never has two with the
    same key. Not the caller's `Idempotency-Key`."""
    tags: list[str] | None = None
    pending: Any = None
    """Recipients that no server has accepted or rejected yet; null means all."""
    outcomes: Any = None
    """The status of each recipient, keyed by address, if there are several."""
    due_at: Moment | None
    """When a worker claims it; during an attempt, the end of the lease. None if it is settled or held."""
    attempt: int = 0
    """Fencing number of the latest attempt. Each claim, cancellation or reschedule increases it, which ends the lease:
    an attempt with another number cannot store its result."""
    tries: int = 0
    """How many attempts count in the retry schedule (`SendOutcome.counts_as_try`); 0 again after a retry on request."""
    handed_over: int | None = None
    """The value of `attempt` of the attempt that may have transmitted the message and is not settled yet."""
    ambiguous_attempts: int = 0
    reason: str | None = None
    scheduled_at: Moment | None = None
    expires_at: Moment | None = None
    sent_at: Moment | None = None
    delayed_at: Moment | None = None
    delivered_at: Moment | None = None
    opened_at: Moment | None = None
    clicked_at: Moment | None = None
    bounced_at: Moment | None = None
    complained_at: Moment | None = None
    created_at: Moment
    dated_at: Moment | None = None
    """The `Date` header of the message: the time of the first attempt."""
    site: str | None = None
    """The name of the site for which it waits; None before the first attempt, and if it is settled."""
    waits_for: str | None = None
    """Why it waits until `due_at`: a WaitCause of `transport`. None before the first attempt, and if it is settled."""
    retries_since: Moment | None = None
    """From when its retry period counts, if that is later than `created_at` and `scheduled_at`; see
    `rules.retries_since`."""


class Postponement(Record):
    """How a claimed send waits without having been tried."""

    id: UUID
    attempt: int
    due_at: Moment
    scheduled_at: Moment | None = None
    """The new `Send.scheduled_at`; None for no change."""
    retries_since: Moment | None = None
    """The new `Send.retries_since`; None for no change."""
    site: str | None = None
    waits_for: str
    """The new `Send.waits_for`."""
    reason: str


class TransmittedParts(Record):
    """The parts of a transmitted message that cannot be composed again from the send."""

    signatures: str
    """The DKIM-Signature fields, each with its CRLF."""
    links_base: str
    """Scheme and host of the tracked links."""
    unsubscribe_domain: str | None = None
    """The domain of the address for unsubscribing; None if the message has none."""


class CapturedMail(msgspec.Struct, frozen=True, kw_only=True):
    """A message that is captured instead of being sent."""

    project_id: UUID
    id: UUID
    send_id: UUID
    mail_from: str
    recipients: list[str]
    sender: str
    subject: str
    message: bytes
    sealed: bytes | None = None
    """The encrypted message if it has one-time secrets; `message` is then redacted."""
    captured_at: Moment


class ContentOptions(Record):
    """Options of a send that are stored with its content."""

    engine: Engine
    require_tls: bool


class ProviderMessage(Record):
    """A send, and the id that a provider such as Amazon SES gave to its message."""

    project_id: UUID
    send_id: UUID
    provider_id: str


class TrackedSend(Record):
    """The fields of a send that open and click tracking needs."""

    project_id: UUID
    id: UUID
    recipient: str
    subject: str
    sender: str
    message_id: str
    to_addresses: list[str]
    tags: list[str] | None
    test: bool
    contact_id: UUID | None
    campaign_id: UUID | None
    variant_id: UUID | None
    domain_id: UUID | None
    delivered_at: Moment | None
    sent_at: Moment | None
    opened_at: Moment | None
    clicked_at: Moment | None
    human_opened_at: Moment | None
    human_clicked_at: Moment | None


class FirstEngagement(Record):
    """When a send was first opened and clicked, and when by a person (`human_…`) and not by a machine."""

    id: UUID
    opened_at: Moment | None
    clicked_at: Moment | None
    human_opened_at: Moment | None
    human_clicked_at: Moment | None


class StoredAttachment(msgspec.Struct, frozen=True, omit_defaults=True):
    """A stored attachment; `content` is base64."""

    filename: str
    content: str
    content_type: str
    content_id: str | None = None


TEST_COPY_TAG = "campaign-test"
"""The tag of test copies of campaigns. They do not count in statistics, and their unsubscribe link has no effect."""


class SendBody(msgspec.Struct, frozen=True, omit_defaults=True):
    """The content of a message, stored for the retention period. With TransmittedParts, the message can be composed
    again byte for byte."""

    subject: str = ""
    html: str | None = None
    text: str | None = None
    engine: Engine = "minijinja"
    """The template engine of subject, html, text and `from_name`."""
    variables: dict[str, Any] = {}
    reply_to: list[str] = []
    headers: list[tuple[str, str]] = []
    attachments: list[StoredAttachment] = []
    track_opens: bool = True
    track_clicks: bool = True
    unsubscribable: bool = False
    require_tls: bool = False
    """Whether it must be transmitted with REQUIRETLS (RFC 8689)."""
    feedback_id: str | None = None
    """The `Feedback-ID` header, by which mailbox providers report complaints of a campaign."""
    list_id: str | None = None
    """`List-Id` (RFC 2919) of a campaign's audience."""
    secrets: list[str] = []
    """One-time codes and tokens in the message. They are only stored encrypted; see `emails.redaction`."""
    redacted: bool = False
    """Whether the one-time secrets of the message are removed from this content."""
    from_name: str | None = None
    """The sender's display name if it has template tags."""


SuppressionReason = Literal["BOUNCE", "COMPLAINT", "UNSUBSCRIBE", "MANUAL"]


SUPPRESSION_STRENGTH: list[LiteralString] = ["UNSUBSCRIBE", "MANUAL", "BOUNCE", "COMPLAINT"]
"""Suppression reasons from weakest to strongest. A stronger reason replaces a weaker one, never the reverse."""


class SuppressionEntry(msgspec.Struct, frozen=True, kw_only=True):
    """An address to suppress, in lower case, with the reason."""

    project_id: UUID
    id: UUID
    address: str
    reason: SuppressionReason
    source: str
    """`api`, `reply` (of a mail server), `unsubscribe`, or the source of a report, such as `dsn` or `arf`."""
    detail: str | None = None
    """The server's reply, or a remark of the caller."""
    send_id: UUID | None = None
    """The send that bounced or whose recipient unsubscribed."""
    created_at: Moment


class ReachedRecipient(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A recipient whose message was accepted."""

    project_id: UUID
    address: str
    """In lower case."""
    delivered: bool
    """Whether the recipient's server accepted it, and not only a relay."""


class FormerReason(Record):
    """A weaker reason for which an address was suppressed before."""

    reason: SuppressionReason
    source: str
    detail: str | None
    send_id: UUID | None
    # A string, because the history is stored as JSON exactly as the API returns it.
    since: Annotated[str, msgspec.Meta(extra_json_schema={"format": "date-time"})]


class Suppression(Record):
    """An address that gets no mail from this project. With the reason UNSUBSCRIBE, it gets no marketing mail and no
    `unsubscribable` e-mails, but all other mail."""

    id: UUID
    address: str
    reason: SuppressionReason
    source: str
    detail: str | None
    send_id: UUID | None
    history: list[FormerReason]
    """Earlier, weaker reasons, oldest first."""
    created_at: Moment
    """Since when the address is suppressed."""
    updated_at: Moment
    """Since when it is suppressed for this reason."""


class IdempotencyKey(msgspec.Struct, frozen=True, kw_only=True):
    """The idempotency key of a request, with the response and the sends of the request."""

    project_id: UUID
    route: str
    """The operation, such as `emails/batch`; of a TEST key, with `?test`."""
    key: str
    """A SHA-256 digest of the caller's key."""
    body_hash: bytes
    send_ids: list[UUID] = []
    status: int | None = None
    """The HTTP status of the response; None while it is not known."""
    response: Any = None


class IdempotencyRow(Record):
    """A row of `idempotency_keys`."""

    route: str
    key: str
    body_hash: bytes
    send_ids: list[UUID]
    lease_until: datetime
    status: int | None
    response: Any
    is_running: bool
    """Whether the request is still being processed: it has no response, and its lease has not ended."""


EVENT_TYPE: dict[str, str] = {
    "email.sent": "Send",
    "email.delivered": "Delivery",
    "email.delayed": "DeliveryDelay",
    "email.bounced": "Bounce",
    "email.complained": "Complaint",
    "email.opened": "Open",
    "email.clicked": "Click",
    "email.failed": "Reject",
    "email.suppressed": "Reject",
    "email.expired": "Reject",
}
"""The types of events in `webhookEvents` of a log entry, by event name. Events with other names are left out."""


ARCHIVED_SENDS = ArchivedTable(
    "emails",
    {
        "id": "UUID",
        "status": "VARCHAR",
        "test": "BOOLEAN",
        "message_id": "VARCHAR",
        "subject": "VARCHAR",
        "sender": "VARCHAR",
        "recipient": "VARCHAR",
        "to_addresses": "VARCHAR[]",
        "cc_addresses": "VARCHAR[]",
        "bcc_addresses": "VARCHAR[]",
        "contact_id": "UUID",
        "campaign_id": "UUID",
        "variant_id": "UUID",
        "domain_id": "UUID",
        "tags": "VARCHAR[]",
        "reason": "VARCHAR",
        "ambiguous_attempts": "INTEGER",
        "outcomes": "JSON",
        "site": "VARCHAR",
        "scheduled_at": "TIMESTAMPTZ",
        "sent_at": "TIMESTAMPTZ",
        "delivered_at": "TIMESTAMPTZ",
        "opened_at": "TIMESTAMPTZ",
        "clicked_at": "TIMESTAMPTZ",
        "human_opened_at": "TIMESTAMPTZ",
        "human_clicked_at": "TIMESTAMPTZ",
        "bounced_at": "TIMESTAMPTZ",
        "complained_at": "TIMESTAMPTZ",
        "created_at": "TIMESTAMPTZ",
        "updated_at": "TIMESTAMPTZ",
        "attempts": "JSON",
    },
)
"""The e-mail log in the archive. `attempts` is an array of the attempts, with the dialogue of each."""
