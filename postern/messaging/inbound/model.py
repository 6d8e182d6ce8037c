"""Received mail: limits, routes, messages and results of reports, as records and as rows."""

from datetime import timedelta
from typing import Annotated, Literal
from uuid import UUID

import msgspec

from postern.kernel.http.problems import Conflict, Missing, Unprocessable
from postern.kernel.values import Body, DisplayName, Moment, Record
from postern.messaging.domains.model import RecordStatus
from postern.messaging.emails.model import SignalKind
from postern.protocols.mail.message_authentication import DmarcVerdict, MessageAuthentication
from postern.protocols.mail.received_content import MailContact, MessageField, ReceivedAttachment
from postern.protocols.mail.spam_hints import SpamHint
from postern.protocols.mail.spf import SpfVerdict

MAX_REPORT_OCTETS = 10_000_000
"""The largest report, in octets: it can contain the original message. For other mail, see INBOUND_OCTETS."""
RECIPIENTS_LIMIT = 20
"""Maximum number of recipients of a received message."""
KEPT_OCTETS = 262_144
"""Maximum octets that are kept of a message that was not understood."""
KEPT_PER_PROJECT = 100
"""Maximum messages of a project that were not understood and are kept: the newest ones."""
KEPT_FOR = timedelta(days=30)
"""How long messages that were not understood are kept."""
LEASE = timedelta(minutes=5)
"""How long a worker has for deleting the expired messages that it has claimed, before another worker may claim them."""

INBOUND_OCTETS = 25_000_000
"""The largest message to an address of a route, in octets."""
ROUTES_PER_PROJECT = 1_000
STORED_OCTETS_PER_PROJECT = 5_000_000_000
"""Maximum octets of all received messages of a project. Further mail is refused with 452 until some are deleted."""
DEFAULT_RETENTION_DAYS = 30
"""Default number of days for which received messages are kept."""
HOPS_LIMIT = 100
"""A message with more Received fields is in a loop (RFC 5321 §6.3)."""
EVENT_TEXT_OCTETS = 10_000
"""Maximum octets, as JSON, of all texts of a message in its event. A text that would exceed this is null."""
AUTHENTICATION_TIMEOUT = timedelta(seconds=20)
"""How long the lookups for SPF, DKIM and DMARC of a message may take."""

MessageSource = Literal["smtp", "api"]
"""How a message arrived."""


class ReportMissing(Missing):
    """There is no such report; reports that were not understood are kept for 30 days, the newest 100 of a project."""


class InboundRouteMissing(Missing):
    """There is no such route."""


class InboundRouteExists(Conflict):
    """This project already has a route for this address."""


class InboundDomainNotVerified(Unprocessable):
    """The domain of the address is neither a verified sending domain of this project nor below one. Verify it first."""


class TooManyInboundRoutes(Unprocessable):
    """A project can have at most 1,000 routes. Delete one first."""


class InboundMessageMissing(Missing):
    """There is no such received message, or it was deleted because its retention period has ended."""


class InboundAttachmentMissing(Missing):
    """The message has no such attachment."""


class NoInboundRoute(Unprocessable):
    """No recipient of the message has an active route in this project."""


class InboundMailboxFull(Unprocessable):
    """A project can store at most 5 GB of received messages. Delete some first."""


class InboundMessageLoops(Unprocessable):
    """The message has more than 100 Received fields, so it is in a loop."""


class NewInboundRoute(Body):
    """A route to create."""

    address: Annotated[str, msgspec.Meta(min_length=3, max_length=320)]
    """An address, such as `support@reply.example.com`, or `*@reply.example.com` for every address of a domain."""
    name: DisplayName | None = None
    """A name to recognise the route by; defaults to the address."""
    active: bool = True


class InboundRouteChange(Body):
    """Fields to change; omitted fields keep their values."""

    name: DisplayName | msgspec.UnsetType = msgspec.UNSET
    active: bool | msgspec.UnsetType = msgspec.UNSET


class MxRecord(Record):
    """The MX record to publish so that mail for a domain reaches this server, with the result of the last check."""

    type: Literal["MX"]
    name: str
    """The domain."""
    value: str
    """The name of this server."""
    priority: int
    """The preference (RFC 5321 §5.1); other numbers work, too."""
    status: RecordStatus
    """PENDING: there is no MX record; WRONG: there are only others; UNKNOWN: the lookup failed."""
    found: list[str]
    """The mail servers that are published for the domain."""
    reason: str | None
    """Why the record is not VERIFIED."""
    checked_at: Moment
    """When it was last checked (UTC)."""


class InboundRoute(Record):
    """An address, or all addresses of a domain, for which the project receives mail."""

    id: UUID
    name: str
    address: str
    """The address, or `*@` and the domain for every address of it that has no route of its own. Mail to an address with
    a tag, such as `support+42@…`, goes to the route of the address without the tag, unless there is one with the tag.
    """
    active: bool
    """Whether mail is received. Mail to the address of an inactive route is refused, even if the domain has an active
    route."""
    domain_id: UUID
    """Id of the verified sending domain to which the address belongs."""
    record: MxRecord
    created_at: Moment
    updated_at: Moment


class MxCheck(Record):
    """The result of a lookup of MX records, as it is stored."""

    mx_status: RecordStatus
    mx_found: list[str]
    mx_reason: str | None
    mx_checked_at: Moment


class StoredRoute(MxCheck):
    """A row of `inbound_routes`."""

    project_id: UUID
    id: UUID
    domain_id: UUID
    name: str
    domain: str
    local_part: str | None
    """None if the route is for every address of the domain."""
    active: bool
    created_at: Moment
    updated_at: Moment


class RouteCandidate(Record):
    """A route of any project that may be for a recipient's address; `local_part` as in StoredRoute."""

    project_id: UUID
    id: UUID
    domain: str
    local_part: str | None
    active: bool
    is_full: bool
    """Whether the project has used STORED_OCTETS_PER_PROJECT."""


class InboundRecipient(Record):
    """A recipient of a received message."""

    address: str
    """The address in the envelope (RFC 5321)."""
    route_id: UUID
    """Id of the route of the address."""
    tag: str | None
    """The part of the local part after `+`; null if there is none."""


class InboundFields(Record):
    """The fields of a received message that are stored beside the message itself."""

    id: UUID
    source: MessageSource
    """`smtp`, or `api` if it was added through the API."""
    recipients: list[InboundRecipient]
    """The recipients in the envelope that have a route of the project."""
    subject: str
    message_id: str | None
    """The `Message-ID` of the message; null if it has none."""
    send_id: UUID | None = msgspec.field(name="emailId")
    """Id of the project's e-mail to which the message is a reply; null if it is not a reply to one."""
    size: int
    """Size of the whole message in octets."""
    automatic: bool
    """Whether a program and not a person sent the message, for example as a vacation notice. Do not reply to it
    automatically."""
    hints: list[SpamHint]
    """Facts that are common in unwanted mail. No message is refused because of them."""
    received_at: Moment
    """When it was received (UTC)."""


class InboundSummary(InboundFields):
    """A received message without its content."""

    from_: MailContact | None = msgspec.field(name="from")
    """The first address in From; null if there is none."""
    to: list[MailContact]
    """The addresses in To."""
    attachment_count: int
    spf: SpfVerdict
    """The SPF result (RFC 7208), for the domain of the envelope sender."""
    dkim: Literal["pass", "fail", "none", "temperror"]
    """`pass` if a DKIM signature is valid, whatever its domain; `none` if there is no signature."""
    dmarc: DmarcVerdict
    """The DMARC result: whether the domain in From is authenticated."""
    expires_at: Moment
    """When the message will be deleted (UTC), by the present value of the project's setting `inboundRetentionDays`."""


class InboundEnvelope(Record):
    """How a message arrived."""

    sender: str
    """The envelope sender (RFC 5321); empty for reports and automatic replies."""
    client_ip: str | None
    """The IP address of the client; null if it is not known."""
    client_name: str | None
    """The name that the client gave in EHLO; null if it is not known."""


class InboundMessage(InboundSummary):
    """A received message."""

    headers: list[MessageField]
    """The header fields in their order."""
    cc: list[MailContact]
    """The addresses in Cc."""
    reply_to: list[MailContact]
    """The addresses in Reply-To."""
    date: Moment | None
    """The time in Date, which the sender chooses (UTC); null if there is none."""
    in_reply_to: str | None
    """The `Message-ID` in In-Reply-To; null if there is none."""
    references: list[str]
    """The message ids in References and In-Reply-To, the latest last; at most 50."""
    text: str | None
    """The plain text; null if there is none."""
    html: str | None
    """The HTML body as it arrived. It can be hostile: never show it in a page of your own origin without sanitizing
    it."""
    reply_text: str
    """The plain text without the quoted message and the signature, as far as they are recognized."""
    attachments: list[ReceivedAttachment]
    authentication: MessageAuthentication
    """The results of SPF, DKIM and DMARC in detail."""
    authentication_results: str
    """The same as the value of a field Authentication-Results (RFC 8601), for programs that read it."""
    envelope: InboundEnvelope
    """How the message arrived."""
    notices: list[str]
    """Which parts of the message could not be read, and why. The raw message is complete."""


class InboundReceipt(Record):
    """The result of adding a message."""

    id: UUID
    """Id of the received message."""
    duplicate: bool
    """Whether nothing was added, because the same message for the same recipients was stored before."""


class InboundRow(InboundFields):
    """A row of `inbound_messages` without the message."""

    project_id: UUID
    sender: str
    """The envelope sender; `from_email` is the address in From."""
    addresses: list[str]
    """The addresses of the recipients in lower case."""
    client_ip: str | None
    client_name: str | None
    from_name: str
    from_email: str
    to_addresses: list[MailContact]
    attachments: int
    authentication: MessageAuthentication


class InboundRowWithMessage(InboundRow):
    """A whole row of `inbound_messages`."""

    fingerprint: bytes
    """Hash of recipients and message: the same message is stored once."""
    message: bytes


class StoredInbound(InboundRowWithMessage):
    """A row of `inbound_messages` whose message may have been moved to an object."""

    object_octets: int | None
    """The size of the object in the store of contents that has the message; None if the row has it."""


class StoredMessage(Record):
    """The message of a StoredInbound."""

    message: bytes
    """Empty if an object has it."""
    object_octets: int | None


class ExpiredInbound(Record):
    """A received message whose retention period has ended."""

    project_id: UUID
    id: UUID


class ReportedResult(Record):
    """The effect of a report for one recipient of an e-mail."""

    kind: SignalKind
    recipient: str | None
    """The address that the report names; null if it names none."""
    result: Literal["applied", "unchanged", "unknown_send"]
    """`unchanged`: the same was reported before, or something newer, or the address is no recipient of the e-mail.
    `unknown_send`: there is no such e-mail."""


class ReportReceipt(Record):
    """The result of processing a message about e-mail."""

    type: Literal["delivery", "complaint", "automatic_reply", "unrecognized"]
    """A delivery report, a complaint, an automatic reply such as a vacation notice, or something else."""
    email_id: UUID | None
    """Id of the e-mail that the message is about; null if it names no e-mail of the project."""
    results: list[ReportedResult]
    """The effects of a report, one for each recipient that it names."""
    report_id: UUID | None
    """Id of the message if it was not understood and therefore kept; otherwise null."""
    reason: str | None
    """Why the message was not understood; otherwise null."""


class UnrecognizedMessage(Record):
    """A message about e-mail that was not understood, without its content."""

    id: UUID
    send_id: UUID | None = msgspec.field(name="emailId")
    """Id of the e-mail to whose return path the message was sent; null if it is not known."""
    source: MessageSource
    reason: str
    """Why the message was not understood."""
    sender: str = msgspec.field(name="from")
    subject: str
    size: int
    """Size of the message in octets. Only the first 262,144 of them are kept."""
    received_at: Moment


class UnrecognizedReportRow(msgspec.Struct, frozen=True, kw_only=True):
    """A row of `unrecognized_reports`."""

    project_id: UUID
    id: UUID
    send_id: UUID | None
    source: MessageSource
    reason: str
    sender: str
    subject: str
    size: int
    message: bytes
    received_at: Moment
    due_at: Moment
    attempt: int = 0
