"""Response bodies and rows of captured messages."""

from uuid import UUID

from postern.kernel.http.problems import Missing
from postern.kernel.values import Moment, Record


class CapturedMissing(Missing):
    """There is no such captured message."""


class CapturedMessage(Record):
    """A captured message without its content."""

    id: UUID
    send_id: UUID
    mail_from: str
    """The envelope sender, to which bounces go."""
    recipients: list[str]
    """The envelope recipients, including those in bcc."""
    sender: str
    """The sender in the header field `From`."""
    subject: str
    size: int
    """The size of the message in octets."""
    captured_at: Moment


class CapturedRow(CapturedMessage):
    """A row of `captured_messages` with the complete message (RFC 5322)."""

    message: bytes
    """The message; one-time codes and links are replaced by `[removed]`."""
    sealed: bytes | None
    """The complete message, encrypted; None if it has no one-time codes and links."""
    redacted: bool = False
    """Whether `message` lacks one-time codes and links that `sealed` has; set by `require_message`."""


class HeaderField(Record):
    """A decoded header field."""

    name: str
    value: str


class InboxAttachment(Record):
    """An attachment; `number` is its number in the URL, from 0."""

    number: int
    filename: str
    content_type: str
    content_id: str | None
    size: int
    """The size of the decoded file in octets."""


class InboxMessage(CapturedMessage):
    """A captured message with its headers, html, text and attachments."""

    headers: list[HeaderField]
    html: str | None
    text: str | None
    attachments: list[InboxAttachment]
    redacted: bool
    """Whether one-time codes and links are replaced by `[removed]`, because the caller does not have the permission
    `customers:impersonate`."""
