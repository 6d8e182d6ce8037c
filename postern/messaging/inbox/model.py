"""Captured messages as they are shown."""

from uuid import UUID

from postern.kernel.clock import Moment
from postern.kernel.http.problems import Missing
from postern.kernel.values import Record


class CapturedMissing(Missing):
    """There is no such captured message."""


class CapturedMessage(Record):
    """A captured message in the list."""

    id: UUID
    send_id: UUID
    mail_from: str
    recipients: list[str]
    sender: str
    subject: str
    size: int
    captured_at: Moment


class Raw(Record):
    """A captured message with its bytes."""

    id: UUID
    send_id: UUID
    mail_from: str
    recipients: list[str]
    sender: str
    subject: str
    size: int
    captured_at: Moment
    message: bytes
    """Without one-time secrets, where it has some."""
    sealed: bytes | None
    """The complete message, encrypted, where it has one-time secrets."""
    redacted: bool = False
    """Whether one-time secrets are removed from `message`; set by `require_message`."""


class HeaderField(Record):
    """One header field, decoded."""

    name: str
    value: str


class InboxAttachment(Record):
    """A file of a message; fetch it by its number."""

    number: int
    filename: str
    content_type: str
    content_id: str | None
    size: int


class InboxMessage(CapturedMessage):
    """A captured message, taken apart."""

    headers: list[HeaderField]
    html: str | None
    text: str | None
    attachments: list[InboxAttachment]
    redacted: bool
    """Whether one-time codes and links read `[removed]`; the permission `customers:impersonate` shows them."""
