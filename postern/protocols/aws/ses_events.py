"""What Amazon SES reports about messages: published events, and the older feedback notifications."""

import re
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, Literal

import msgspec

from postern.kernel.untrusted_json import JsonRefused, read_untrusted_json
from postern.protocols.mail.transports.ses import SEND_HEADER, SEND_TAG

RECIPIENTS_LIMIT = 100
"""Further recipients of an event are ignored; a message has at most 50."""
HEADERS_LIMIT = 1_000
"""Further header fields of the message in an event are ignored."""
REFERENCES_LIMIT = 4
"""Further `SesEvent.references` are ignored; a message has one."""
NOT_SPAM = "not-spam"
"""The feedback type of a recipient who says that a message is not spam (RFC 6430)."""

_REPLY = re.compile(r"\b([245][0-9]{2})[ -]")
_STATUS = re.compile(r"[245]\.[0-9]{1,3}\.[0-9]{1,3}")
_ENHANCED_OF_SUBTYPES = {
    "MailboxFull": "5.2.2",
    "MessageTooLarge": "5.3.4",
    "ContentRejected": "5.6.0",
    "AttachmentRejected": "5.6.0",
}
"""The enhanced codes (RFC 3463) of bounce subtypes, for events that have none."""


class SesRecipient(msgspec.Struct, frozen=True, kw_only=True):
    """A recipient of an event, with the reply of the recipient's server."""

    address: str
    code: int = 0
    """The SMTP reply code; 0 if unknown."""
    enhanced: str = ""
    text: str = ""


class SesEvent(msgspec.Struct, frozen=True, kw_only=True):
    """What happened to a message after SES accepted it."""

    kind: Literal["DELIVERED", "DELAYED", "BOUNCED", "COMPLAINED"]
    recipients: tuple[SesRecipient, ...]
    references: tuple[str, ...] = ()
    """The values of the message tag SEND_TAG and of the header field SEND_HEADER, which identify the message."""
    bounce: Literal["hard", "soft"] | None = None
    """For BOUNCED, as SES classified it; None if it did not."""
    feedback_type: str | None = None
    host: str = ""
    """The server that reported the event."""
    original: tuple[tuple[str, str], ...] = ()
    """The header of the message as far as the event has it, names in lower case; `return-path` is its sender."""
    at: datetime | None = None


def read_event(text: str) -> SesEvent | None:
    """Parse a notification of SES; None if it is of a type that changes nothing, such as Send, Open or Click.

    Raises ValueError if the text is not a notification of SES.
    """
    try:
        document = read_untrusted_json(text.encode())
    except JsonRefused as error:
        raise ValueError(f"The notification is {error}.") from None
    type_ = (document.get("eventType") or document.get("notificationType")) if isinstance(document, dict) else None
    if not isinstance(type_, str):
        raise ValueError("The notification has no event type.")
    read = _READERS.get(type_)
    if read is None:
        return None
    details, mail = _object(document, type_[0].lower() + type_[1:]), _object(document, "mail")
    event = read(details, mail)
    at = _time(_text(details, "timestamp") or _text(mail, "timestamp"))
    return event and msgspec.structs.replace(event, references=_references(mail), original=_original(mail), at=at)


def _references(mail: dict[str, Any]) -> tuple[str, ...]:
    values = _list(_object(mail, "tags"), SEND_TAG)
    values += [value for name, value in _header(mail) if name == SEND_HEADER.lower()]
    return tuple(value for value in values[:REFERENCES_LIMIT] if isinstance(value, str))


def _original(mail: dict[str, Any]) -> tuple[tuple[str, str], ...]:
    return (("return-path", _text(mail, "source")), *_header(mail))


def _header(mail: dict[str, Any]) -> list[tuple[str, str]]:
    fields = [field for field in _list(mail, "headers")[:HEADERS_LIMIT] if isinstance(field, dict)]
    return [(_text(field, "name").lower(), _text(field, "value")) for field in fields]


def _bounce(details: dict[str, Any], _mail: dict[str, Any]) -> SesEvent:
    type_, subtype = _text(details, "bounceType"), _text(details, "bounceSubType")
    recipients = _recipients(details, "bouncedRecipients", f"Bounce reported by Amazon SES: {type_}, {subtype}")
    enhanced = _ENHANCED_OF_SUBTYPES.get(subtype, "")
    bounce: Literal["hard", "soft"] | None = None  # Undetermined: the reply of the server decides.
    if type_ == "Transient" or subtype == "UnsubscribedRecipient":
        bounce = "soft"
    elif type_ == "Permanent":
        bounce = "hard"
    return SesEvent(
        kind="BOUNCED",
        recipients=tuple(
            msgspec.structs.replace(recipient, enhanced=recipient.enhanced or enhanced) for recipient in recipients
        ),
        bounce=bounce,
        host=_host(details),
    )


def _complaint(details: dict[str, Any], _mail: dict[str, Any]) -> SesEvent | None:
    feedback_type = _text(details, "complaintFeedbackType") or _text(details, "complaintSubType")
    if feedback_type == NOT_SPAM:
        return None
    recipients = _recipients(details, "complainedRecipients", "")
    return SesEvent(kind="COMPLAINED", recipients=recipients, feedback_type=feedback_type or None)


def _delivery(details: dict[str, Any], _mail: dict[str, Any]) -> SesEvent:
    reply = _reply(_text(details, "smtpResponse"))
    recipients = tuple(msgspec.structs.replace(reply, address=address) for address in _texts(details, "recipients"))
    return SesEvent(kind="DELIVERED", recipients=recipients, host=_host(details))


def _delay(details: dict[str, Any], _mail: dict[str, Any]) -> SesEvent:
    text = f"Delay reported by Amazon SES: {_text(details, 'delayType')}"
    return SesEvent(kind="DELAYED", recipients=_recipients(details, "delayedRecipients", text), host=_host(details))


def _reject(_details: dict[str, Any], mail: dict[str, Any]) -> SesEvent:
    recipients = tuple(
        SesRecipient(address=address, code=554, enhanced="5.7.1", text="Amazon SES found a virus in the message.")
        for address in _texts(mail, "destination")
    )
    return SesEvent(kind="BOUNCED", recipients=recipients)


_READERS: dict[str, Callable[[dict[str, Any], dict[str, Any]], SesEvent | None]] = {
    "Bounce": _bounce,
    "Complaint": _complaint,
    "Delivery": _delivery,
    "DeliveryDelay": _delay,
    "Reject": _reject,
}


def _recipients(details: dict[str, Any], name: str, default_text: str) -> tuple[SesRecipient, ...]:
    entries = [entry for entry in _list(details, name)[:RECIPIENTS_LIMIT] if isinstance(entry, dict)]
    return tuple(_recipient(entry, default_text) for entry in entries)


def _recipient(entry: dict[str, Any], default_text: str) -> SesRecipient:
    # The field is that of a DSN (RFC 3464 §2.3.6): `smtp; 550 5.1.1 user unknown`.
    type_, separator, text = _text(entry, "diagnosticCode").partition(";")
    reply = _reply((text if separator else type_).strip())
    status = _text(entry, "status")
    return SesRecipient(
        address=_text(entry, "emailAddress"),
        code=reply.code,
        enhanced=status if _STATUS.fullmatch(status) else reply.enhanced,
        text=reply.text or default_text,
    )


def _reply(text: str) -> SesRecipient:
    """The codes in the reply of a server, and its text; without address."""
    code, enhanced = _REPLY.search(text[:100]), _STATUS.search(text[:100])
    return SesRecipient(
        address="", code=int(code[1]) if code else 0, enhanced=enhanced[0] if enhanced else "", text=text
    )


def _host(details: dict[str, Any]) -> str:
    """The name in `reportingMTA`, which is like `dns; a8-70.smtp-out.amazonses.com` or only a name."""
    return _text(details, "reportingMTA").rpartition(";")[2].strip()


def _time(text: str) -> datetime | None:
    try:
        at = datetime.fromisoformat(text)
        return at.astimezone(UTC) if at.tzinfo else None
    except (ValueError, OverflowError):
        return None


def _object(document: dict[str, Any], name: str) -> dict[str, Any]:
    value = document.get(name)
    return value if isinstance(value, dict) else {}


def _list(document: dict[str, Any], name: str) -> list[Any]:
    value = document.get(name)
    return value if isinstance(value, list) else []


def _texts(document: dict[str, Any], name: str) -> list[str]:
    return [value for value in _list(document, name)[:RECIPIENTS_LIMIT] if isinstance(value, str)]


def _text(document: dict[str, Any], name: str) -> str:
    value = document.get(name)
    return value if isinstance(value, str) else ""
