"""Reports about sent mail, read from received messages: delivery reports, complaints, automatic replies, and others."""

import re
from collections.abc import Iterator
from uuid import UUID

import msgspec

from postern.protocols.aws.ses_mail import read_ses_mail
from postern.protocols.mail.arf import ComplaintReport, read_complaint
from postern.protocols.mail.dsn import DeliveryReport, read_delivery_report
from postern.protocols.mail.received import ReceivedMessage, read_header, read_message

REPORT_OCTETS = 10_000_000
"""The rest of a longer message is not read."""
ADDRESSES_LIMIT = 50
"""Further addresses of the original message are left out."""
_ADDRESS = re.compile(r"[A-Za-z0-9_.+=-]{1,128}@[A-Za-z0-9.-]{1,253}")
_MESSAGE_ID = re.compile(r"<([0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12})@")
_OF_RECIPIENT = ("to", "cc", "delivered-to", "x-original-to", "envelope-to", "x-envelope-to", "x-delivered-to")
_OF_SENDER = ("return-path", "list-unsubscribe", "received", "x-original-mail-from", "errors-to", "sender")


class AutomaticReply(msgspec.Struct, frozen=True):
    """A vacation notice, a challenge, or another automatic reply (RFC 3834) that reports no failure."""

    subject: str


class UnrecognizedReport(msgspec.Struct, frozen=True):
    """A message that is not a report, or a report that cannot be read."""

    reason: str


MailReport = DeliveryReport | ComplaintReport | AutomaticReply | UnrecognizedReport


def read_report(content: bytes) -> MailReport:
    """Read a received message as a report. Never fails: what is not understood is an UnrecognizedReport."""
    from postern.protocols.mail.bounce_forms import is_automatic_reply

    message = read_message(content[:REPORT_OCTETS])
    report = read_complaint(message) or read_ses_mail(message) or read_delivery_report(message)
    if report is not None:
        return report
    if is_automatic_reply(message):
        return AutomaticReply(message.subject[:500])
    return UnrecognizedReport(_reason(message))


def sender_addresses(report: DeliveryReport | ComplaintReport) -> list[str]:
    """Addresses in the original message and its envelope. One of them may be the signed return path by which this
    service finds the message."""
    values = [value for name, value in report.original if name in _OF_SENDER]
    if isinstance(report, ComplaintReport):
        values.insert(0, report.mail_from)
    return list(dict.fromkeys(_addresses(values)))[:ADDRESSES_LIMIT]


def envelope_addresses(content: bytes) -> list[str]:
    """The addresses to which a message was sent, according to its header."""
    values = [value for name, value in read_header(content)[0] if name in _OF_RECIPIENT]
    return list(dict.fromkeys(_addresses(values)))[:ADDRESSES_LIMIT]


def original_message_ids(report: DeliveryReport | ComplaintReport) -> list[UUID]:
    """The UUID with which the `Message-ID` of the original message begins; an empty list if it does not."""
    values = [value for name, value in report.original if name == "message-id"]
    matches = [_MESSAGE_ID.match(value) for value in values[:1]]
    return [UUID(match[1]) for match in matches if match]


def _addresses(values: list[str]) -> Iterator[str]:
    for value in values[:ADDRESSES_LIMIT]:
        yield from _ADDRESS.findall(value)


def _reason(message: ReceivedMessage) -> str:
    if not message.fields:
        return "The message has no header."
    if message.content_type == "multipart/report":
        return "The report names no recipient with a result."
    return "The message is neither a delivery report, a complaint, nor an automatic reply."
