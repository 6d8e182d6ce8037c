"""Sends: their states, what they carry, and the limits they keep."""

from datetime import datetime, timedelta
from typing import Annotated, Any, Literal
from uuid import UUID

import msgspec

from postern.kernel.clock import Moment
from postern.kernel.http.problems import BadRequest, Conflict, Forbidden, Missing, Unprocessable
from postern.kernel.values import Body, Record, Timestamp, new_id
from postern.protocols.mail.address import Address
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
    "BOUNCED": frozenset(("QUEUED",)),
    "FAILED": frozenset(("QUEUED",)),
    "EXPIRED": frozenset(("QUEUED",)),
    "SENT": frozenset(),
    "DELIVERED": frozenset(),
    "COMPLAINED": frozenset(),
    "SUPPRESSED": frozenset(),
    "CANCELLED": frozenset(),
}
"""The states that a send may take, by the state that it has. What settles an attempt, cancels, retries or erases a send
gets what it allows from here."""

WAITING: tuple[str, ...] = tuple(state for state, following in TRANSITIONS.items() if "CANCELLED" in following)
"""States of a send that is still to be delivered."""
RETRIABLE: tuple[str, ...] = tuple(state for state, following in TRANSITIONS.items() if "QUEUED" in following)
"""States of a send that is over and can be tried again."""
SETTLED: list[str] = [f"{state} {following}" for state in WAITING for following in sorted(TRANSITIONS[state])]
"""What the outcome of an attempt may change, as `FROM TO`. A send in any other state keeps it."""
DEFERRED: tuple[str, ...] = ("QUEUED", "DELAYED")
"""States of a send that is tried again by itself, and may be tried sooner."""

ContentState = Literal["GOING", "HELD", "STOPPED"]
"""Whether the sends that share words may be handed over: yes, not now, never again."""

TRANSACTIONAL, MARKETING = 0, 1
"""Lanes. Each has work of its own, so that a campaign never stands before a password reset."""

RECIPIENTS_LIMIT = 50
BATCH_LIMIT = 500
BATCH_BYTES = 50_000_000
SINGLE_BYTES = 36_000_000
"""A message of 25 MB is 34 MB of base64 in JSON."""
SEPARATE_BYTES = 50_000_000
"""Octets of words and files of an `unsubscribable` e-mail, times its recipients: each message is kept."""
BODY_CHARACTERS = 25_000_000
"""Of html, or of text: what a message of 25 MB can hold."""
VARIABLES_BYTES = 256_000
SCHEDULE_HORIZON = timedelta(days=30)
WAIT_LIMIT = timedelta(seconds=30)
"""The longest that `Prefer: wait=N` may ask for."""
IDEMPOTENCY_WINDOW = timedelta(hours=24)
IDEMPOTENCY_LEASE = timedelta(seconds=60)
SUPPRESSIONS_BULK = 1_000


SEND_BODY_GONE = "Its words are no longer kept."


class EmailMissing(Missing):
    """There is no such send."""


class MessageGone(Missing):
    """The words of this message are no longer kept."""


class SuppressionMissing(Missing):
    """This address is not suppressed."""


class DomainNotVerified(Forbidden):
    """The `from` address does not belong to a verified sending domain of this project."""


class NotScheduled(Conflict):
    """Only a scheduled send can be given another time."""


class NotCancellable(Conflict):
    """This send is no longer waiting, or is being handed over right now."""


class NotRetriable(Conflict):
    """Only a send that waits for its next attempt, failed, bounced or expired can be tried again."""


class IdempotencyKeyInProgress(Conflict):
    """An earlier request with this key is still being processed; it may well succeed. Ask again shortly."""

    retry_after_seconds = 1


class IdempotencyKeyReused(Unprocessable):
    """This key was used with another body within the last 24 hours."""


class EmailInvalid(BadRequest):
    """This e-mail cannot be sent as described; `errors` says why."""


AddressText = Annotated[str, msgspec.Meta(min_length=3, max_length=1_000)]
Words = Annotated[str, msgspec.Meta(max_length=BODY_CHARACTERS)]
Tag = Annotated[
    str,
    msgspec.Meta(
        min_length=1,
        max_length=256,
        pattern=r"^[A-Za-z0-9_-]+(?!\n)$",
        description="A tag: letters, digits, `_` and `-`, such as `welcome`.",
    ),
]


class EmailAttachment(Body):
    """A file that goes along."""

    filename: Annotated[str, msgspec.Meta(min_length=1, max_length=255)]
    content: Annotated[str, msgspec.Meta(description="The file in base64; line breaks are allowed.")]
    content_type: Annotated[str, msgspec.Meta(max_length=255)] | None = None
    """Without one, what the file name's ending says, or `application/octet-stream`."""
    content_id: Annotated[str, msgspec.Meta(min_length=1, max_length=128)] | None = None
    """Makes it inline: html refers to it as `cid:…`."""


class Email(Body):
    """One e-mail to send."""

    to: Annotated[list[AddressText], msgspec.Meta(min_length=1, max_length=RECIPIENTS_LIMIT)]
    from_: AddressText = msgspec.field(name="from")
    subject: Annotated[str, msgspec.Meta(max_length=2_000)] | None = None
    html: Words | None = None
    text: Words | None = None
    template_id: str | None = None
    engine: Engine | None = None
    """`minijinja` fills in placeholders such as `{{name}}`. `none` sends subject, html and text as written: `{{`, `{%`
    and `{#` are text as any other, and `variables` are not used. Null: the template's, or `minijinja` without one."""
    variables: dict[str, Any] = {}
    cc: Annotated[list[AddressText], msgspec.Meta(max_length=RECIPIENTS_LIMIT)] | None = None
    bcc: Annotated[list[AddressText], msgspec.Meta(max_length=RECIPIENTS_LIMIT)] | None = None
    reply_to: AddressText | Annotated[list[AddressText], msgspec.Meta(max_length=10)] | None = None
    headers: dict[str, str] | None = None
    attachments: Annotated[list[EmailAttachment], msgspec.Meta(max_length=20)] | None = None
    tags: Annotated[list[Tag], msgspec.Meta(max_length=75)] | None = None
    scheduled_at: Timestamp | None = None
    """At most 30 days ahead; a time that has passed means now."""
    track_opens: bool | None = None
    track_clicks: bool | None = None
    expires_at: Timestamp | None = None
    """Not handed over after this: a one-time code is worthless tomorrow."""
    unsubscribable: bool = False
    """Adds List-Unsubscribe with one-click (RFC 8058). With several recipients, each gets a message of their own with a
    link of their own, addressed to them alone."""


class EmailBatch(Body):
    """Several e-mails, independent of each other."""

    emails: Annotated[
        list[msgspec.Raw],
        msgspec.Meta(
            min_length=1,
            max_length=BATCH_LIMIT,
            extra_json_schema={"items": {"$ref": "#/components/schemas/EmailBody"}},
        ),
    ]
    """Read one by one: what is wrong with one is said of that one."""


class EmailReschedule(Body):
    """The new time of a scheduled send."""

    scheduled_at: Timestamp


class RecipientMessage(Record):
    """The message that one recipient of an `unsubscribable` e-mail gets."""

    to: str
    id: UUID
    message_id: str
    status: SendStatus


class SendResult(Record):
    """What became of a send so far: `status` is the truth at the moment of the answer."""

    id: UUID
    message_id: str
    status: SendStatus
    messages: list[RecipientMessage] = []
    """The message of each recipient, where an `unsubscribable` e-mail has several; the one above is the first's."""


class EmailBatchItem(Record):
    """What became of one e-mail of a batch; `error` says why it was not accepted."""

    id: UUID | None
    message_id: str | None
    status: SendStatus
    error: str | None
    messages: list[RecipientMessage] = []
    """The message of each recipient, where an `unsubscribable` e-mail has several."""


class EmailBatchResult(Record):
    """The answers, in the order of the request."""

    data: list[EmailBatchItem]


class ContactRef(Record):
    """Who a send is to: the first recipient; `id` is null where no contact is known."""

    id: UUID | None
    email: str


class RecipientOutcome(Record):
    """What became of a message for one of its recipients."""

    email: str
    field: Literal["to", "cc", "bcc"]
    status: SendStatus
    reason: str | None
    """Why it failed, bounced, was delayed or suppressed for this recipient."""
    at: Moment | None
    """When that was known; null while nothing is."""


class SendEvent(Record):
    """One thing that happened to a send."""

    id: UUID
    type: Literal["Send", "Delivery", "DeliveryDelay", "Bounce", "Complaint", "Open", "Click", "Reject"]
    created_at: Moment


class EmailLogEntry(Record):
    """A send in the log."""

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
    """What became of it for each recipient of `to`, `cc` and `bcc`, each address once."""
    campaign_id: UUID | None
    tags: list[str]
    reason: str | None
    """Why it failed, bounced, was delayed or suppressed."""
    ambiguous_attempts: int
    """Attempts of which nobody can know whether the message arrived (RFC 1047)."""
    test: bool
    """Whether a TEST key sent it: it only ever reaches the inbox view."""
    scheduled_at: Moment | None
    expires_at: Moment | None
    sent_at: Moment | None
    delivered_at: Moment | None
    opened_at: Moment | None
    clicked_at: Moment | None
    bounced_at: Moment | None
    complained_at: Moment | None
    created_at: Moment


class EmailLogEntryDetail(EmailLogEntry):
    """A send with what happened to it."""

    webhook_events: list[SendEvent]
    engine: Engine | None
    """What reads its subject, html and text; null where those are no longer kept."""


class SendAttempt(Record):
    """One attempt to hand a message over: the replies and the dialogue."""

    attempt: int
    outcome: Literal["ACCEPTED", "DEFERRED", "REJECTED", "AMBIGUOUS", "FAILED"]
    host: str
    results: list[dict[str, Any]]
    dialogue: list[str]
    duration_ms: int
    finished_at: Moment


class Send(Record):
    """The row of a send. What has no value here is what a new send has."""

    project_id: UUID
    id: UUID
    status: SendStatus
    lane: int
    test: bool = False
    message_id: str
    subject: str
    sender: str
    recipient: str
    to_addresses: list[str]
    cc_addresses: list[str] | None = None
    bcc_addresses: list[str] | None = None
    contact_id: UUID | None = None
    campaign_id: UUID | None = None
    variant_id: UUID | None = None
    content_id: UUID | None = None
    domain_id: UUID | None = None
    once_key: str | None = None
    """What the send is, for ever, where another feature accepted it: the project has no second one with this key."""
    tags: list[str] | None = None
    pending: Any = None
    """Recipients still to be handed over; null means all."""
    outcomes: Any = None
    """What became of each recipient, by address, where there are several."""
    due_at: Moment | None
    attempt: int = 0
    tries: int = 0
    handed_over: int | None = None
    """The attempt that was handed over and not yet settled."""
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
    """The `Date` of the message: when it was first handed over."""


def new_send(project_id: UUID, sender: Address, recipient: str, now: Moment) -> Send:
    """A transactional send to one recipient that is due now. Its creator replaces what differs."""
    send_id = new_id()
    return Send(
        project_id=project_id,
        id=send_id,
        status="QUEUED",
        lane=TRANSACTIONAL,
        message_id=message_id_of(send_id, sender),
        subject="",
        sender=str(sender),
        recipient=recipient,
        to_addresses=[recipient],
        due_at=now,
        created_at=now,
    )


def message_id_of(send_id: UUID, sender: Address) -> str:
    """The Message-ID of a send, the same in all attempts."""
    return f"<{send_id}@{sender.domain}>"


class AsSent(Record):
    """What one attempt added to the message that is composed again."""

    signatures: str
    """The DKIM-Signature fields, each with its CRLF."""
    links_base: str
    """Scheme and host of the tracked links."""


class CapturedMail(msgspec.Struct, frozen=True, kw_only=True):
    """A message that is kept instead of sent."""

    project_id: UUID
    id: UUID
    send_id: UUID
    mail_from: str
    recipients: list[str]
    sender: str
    subject: str
    message: bytes
    sealed: bytes | None = None
    """The message encrypted, where it has one-time secrets; `message` is then without them."""
    captured_at: Moment


class TouchedSend(Record):
    """A send that a reader or a machine touched: what tracking needs of it."""

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


class KeptAttachment(msgspec.Struct, frozen=True, omit_defaults=True):
    """An attachment as it is kept."""

    filename: str
    content: str
    content_type: str
    content_id: str | None = None


TEST_COPY_TAG = "campaign-test"
"""Marks test copies of campaigns, which no statistic counts and whose unsubscribe link changes nothing."""


class SendBody(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a message says, kept until its retention ends: enough to compose it again, byte for byte."""

    subject: str = ""
    html: str | None = None
    text: str | None = None
    engine: Engine = "minijinja"
    """What reads subject, html, text and `from_name`."""
    variables: dict[str, Any] = {}
    reply_to: list[str] = []
    headers: list[tuple[str, str]] = []
    attachments: list[KeptAttachment] = []
    track_opens: bool = True
    track_clicks: bool = True
    unsubscribable: bool = False
    feedback_id: str | None = None
    list_id: str | None = None
    """`List-Id` (RFC 2919) of a campaign's audience."""
    secrets: list[str] = []
    """One-time codes and tokens in the message. They are never stored in clear; see `emails.redaction`."""
    redacted: bool = False
    """Whether these words lack the one-time secrets that the message was sent with."""

    from_name: str | None = None
    """The sender's display name as a template, where it has values to fill in."""


SuppressionReason = Literal["BOUNCE", "COMPLAINT", "UNSUBSCRIBE", "MANUAL"]


SUPPRESSION_STRENGTH: list[str] = ["UNSUBSCRIBE", "MANUAL", "BOUNCE", "COMPLAINT"]
"""From the weakest reason to the strongest: a stronger one takes the place of a weaker one, never the other way."""


class SuppressionEntry(msgspec.Struct, frozen=True, kw_only=True):
    """An address that is to be suppressed, in lower case, and why."""

    project_id: UUID
    id: UUID
    address: str
    reason: SuppressionReason
    source: str
    detail: str | None = None
    send_id: UUID | None = None
    created_at: Moment


class FormerReason(Record):
    """Why an address was suppressed before a stronger reason came."""

    reason: SuppressionReason
    source: str
    detail: str | None
    send_id: UUID | None
    # It is stored as the text that answers show.
    since: Annotated[str, msgspec.Meta(extra_json_schema={"format": "date-time"})]


class Suppression(Record):
    """An address that this project does not write to."""

    id: UUID
    address: str
    reason: SuppressionReason
    source: str
    detail: str | None
    send_id: UUID | None
    history: list[FormerReason]
    """Weaker reasons that it had before, oldest first."""
    created_at: Moment
    """Since when it is suppressed."""
    updated_at: Moment
    """Since when for this reason."""


class IdempotencyKey(msgspec.Struct, frozen=True, kw_only=True):
    """An idempotency key of a request, with what it stands for."""

    project_id: UUID
    route: str
    key: str
    """A digest of what the caller sent."""
    body_hash: bytes
    send_ids: list[UUID] = []
    status: int | None = None
    """The answer's HTTP status, where it is known."""
    response: Any = None


class IdempotencyRow(Record):
    """What is known about a key."""

    route: str
    key: str
    body_hash: bytes
    send_ids: list[UUID]
    lease_until: datetime
    status: int | None
    response: Any
    is_running: bool


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
"""How the log entry's `webhookEvents` calls the events of a send."""
