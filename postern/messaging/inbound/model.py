"""Mail that comes back: limits, results and stored records."""

from datetime import timedelta
from typing import Literal
from uuid import UUID

import msgspec

from postern.kernel.http.problems import Missing
from postern.kernel.values import Moment, Record
from postern.messaging.emails.model import SignalKind

MESSAGE_OCTETS = 10_000_000
"""The largest message that is received, in octets: reports can contain the original message."""
RECIPIENTS_LIMIT = 20
"""Maximum recipients of a received message."""
KEPT_OCTETS = 262_144
"""Of a message that was not understood, only so many octets are kept."""
KEPT_PER_PROJECT = 100
"""Of a project, only so many of these messages are kept: the newest."""
KEPT_FOR = timedelta(days=30)
"""How long these messages are kept."""
LEASE = timedelta(minutes=5)
"""After how long another worker deletes the messages that a worker has claimed."""

ReportSource = Literal["smtp", "api"]
"""How a message arrived."""


class ReportMissing(Missing):
    """There is no such report; reports that were not understood are kept for 30 days, the newest 100 of a project."""


class ReportedResult(Record):
    """What a report did for one recipient."""

    kind: SignalKind
    recipient: str | None
    """The address that the report names; null if it names none."""
    result: Literal["applied", "unchanged", "unknown_send"]
    """`unchanged`: it was reported before, is out of order, or is about nobody to whom the e-mail was sent."""


class ReportReceipt(Record):
    """How a message was understood."""

    type: Literal["delivery", "complaint", "automatic_reply", "unrecognized"]
    """A delivery report, a complaint, an automatic reply such as a vacation notice, or something else."""
    email_id: UUID | None
    """The id of the e-mail that it is about; null if it names none of the project."""
    results: list[ReportedResult]
    """What it did, for each recipient."""
    report_id: UUID | None
    """The id under which it was kept, if it was not understood."""
    reason: str | None
    """Why it was not understood."""


class UnrecognizedMessage(Record):
    """A message about e-mail that was not understood, without its content."""

    id: UUID
    send_id: UUID | None = msgspec.field(name="emailId")
    """The id of the e-mail to whose return path it was sent, if it is known."""
    source: ReportSource
    reason: str
    """Why it was not understood."""
    sender: str = msgspec.field(name="from")
    subject: str
    size: int
    """Its size in octets. Of a larger message, only the first 262,144 are kept."""
    received_at: Moment


class StoredMessage(msgspec.Struct, frozen=True, kw_only=True):
    """A row of `unrecognized_reports`."""

    project_id: UUID
    id: UUID
    send_id: UUID | None
    source: ReportSource
    reason: str
    sender: str
    subject: str
    size: int
    message: bytes
    received_at: Moment
    due_at: Moment
    attempt: int = 0
