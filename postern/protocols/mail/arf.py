"""Complaint reports in the Abuse Reporting Format (RFC 5965), also redacted ones (RFC 6590).

Messages may be hostile: each function takes linear time and bounded memory, and raises no exception.
"""

import re
from datetime import datetime

import msgspec

from postern.protocols.mail.dsn import address_in, date_in, host_in, original_header
from postern.protocols.mail.received import ReceivedMessage, read_fields

FEEDBACK_OCTETS = 65_536
"""The rest of a longer part with the fields of a complaint is left out."""
RECIPIENTS_LIMIT = 100
"""Further recipients of a complaint are left out."""
NOT_COMPLAINTS = frozenset(("not-spam", "auth-failure", "dmarc"))
"""Types of reports that are no complaints of the recipient: authentication failures (RFC 6591) are for the domain."""
REDACTED = re.compile(r"redact|^x+@|^\W*$|^[*.]+@|hidden|removed", re.IGNORECASE)
"""Texts that replace an address."""


class ComplaintReport(msgspec.Struct, frozen=True, kw_only=True):
    """A report about a message whose recipient complained about it or, with `not-spam`, marked it as wanted."""

    feedback_type: str
    """In lower case: `abuse`, `fraud`, `virus`, `other`, `not-spam`, or an unregistered type (RFC 5965 §3.5)."""
    recipients: tuple[str, ...]
    """The recipients that complained; empty if the report hides them."""
    mail_from: str
    """The envelope sender of the original message; empty if the report does not say."""
    reporting_host: str
    """The server or provider that made the report; empty if unknown."""
    original: tuple[tuple[str, str], ...]
    """The header of the original message, names in lower case; empty if the report does not contain it."""
    occurred_at: datetime | None
    """When the original message arrived; None if unknown."""

    @property
    def is_complaint(self) -> bool:
        """Whether the recipient objects to the message."""
        return self.feedback_type not in NOT_COMPLAINTS


def read_complaint(message: ReceivedMessage) -> ComplaintReport | None:
    """Read a complaint report; None if the message is not one."""
    part = next((part for part in message.parts if part.content_type == "message/feedback-report"), None)
    if part is None:
        return _read_microsoft(message)
    fields = list(read_fields(part.content[:FEEDBACK_OCTETS].lstrip(b"\r\n")))

    def first(name: str) -> str:
        return next((value for field, value in fields if field == name), "")

    original = original_header(message)
    named = [value for field, value in fields if field == "original-rcpt-to"][:RECIPIENTS_LIMIT]
    if not named:
        named = [value for field, value in fields if field in ("removal-recipient", "x-original-rcpt-to")]
    recipients = [address for value in named[:RECIPIENTS_LIMIT] if (address := address_in(value)) and "@" in address]
    return ComplaintReport(
        feedback_type=first("feedback-type").strip().lower()[:64] or "abuse",
        recipients=tuple(address for address in dict.fromkeys(recipients) if not REDACTED.search(address)),
        mail_from=address_in(first("original-mail-from")),
        reporting_host=host_in(first("reporting-mta")) or host_in(first("user-agent")),
        original=original,
        occurred_at=date_in(first("arrival-date") or first("received-date")),
    )


def _read_microsoft(message: ReceivedMessage) -> ComplaintReport | None:
    """A complaint in the form of Microsoft's Junk Mail Reporting Program: the message itself, with added fields."""
    if not message.field("subject").strip().lower().startswith("complaint about message from"):
        return None
    original = original_header(message)
    recipient = next((value for name, value in original if name == "x-hmxmroriginalrecipient"), "")
    if not recipient:
        return None
    return ComplaintReport(
        feedback_type="abuse",
        recipients=tuple(address for address in (address_in(recipient),) if "@" in address),
        mail_from="",
        reporting_host=address_in(message.field("from")).rpartition("@")[2],
        original=original,
        occurred_at=date_in(message.field("date")),
    )
