"""Delivery reports: the standard form (RFC 3464, RFC 6522, internationalized RFC 6533), and the forms of other servers.

Messages may be hostile: each function takes linear time and bounded memory, and raises no exception.

The forms of other servers are imported in the functions that need them: their many patterns take long to compile.
"""

import re
from collections.abc import Iterable, Iterator
from collections.abc import Set as AbstractSet
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Literal

import msgspec

from postern.protocols.mail.received import ReceivedMessage, read_fields, read_header, read_message

ReportAction = Literal["failed", "delayed", "delivered", "relayed", "expanded"]

RECIPIENTS_LIMIT = 200
"""Further recipients of a report are left out."""
BLOCKS_LIMIT = 500
"""Further blocks of fields of a report are left out."""
STATUS_OCTETS = 1_000_000
"""The rest of a longer part with the fields of a report is left out."""
FORWARDED_LIMIT = 5
"""Maximum parts of a message that are searched for a report that was forwarded as a message."""
TEXTS_LIMIT = 20
"""Maximum recipients whose reasons are searched for in the human-readable text."""
DIAGNOSTIC_CHARACTERS = 1_000
"""Longer diagnostic texts are cut."""
DATE_CHARACTERS = 100
"""Longer dates are cut."""
ADDRESS_CHARACTERS = 320
"""Longer addresses are cut."""

VAGUE = (".0.0", ".5.0")
"""Ends of enhanced codes that say nothing about the cause."""
STATUS_TYPES = frozenset(("message/delivery-status", "message/global-delivery-status"))
ORIGINAL_TYPES = frozenset(
    ("message/rfc822", "text/rfc822-headers", "text/rfc822-header", "message/global", "message/global-headers")
)
_ENHANCED = re.compile(r"(?<![\d.])([245])\.(\d{1,3})\.(\d{1,3})(?![\d.]*\d)")
_REPLY_CODE = re.compile(r"(?<![\d.])([45]\d\d)(?=[ \-#]|$)")
_LEADING_CODES = re.compile(r"[245]\d\d[ -]\s{0,9}(?:#?[245]\.\d{1,3}\.\d{1,3}\b[ :]{0,3})?")
_FIELDS = re.compile(rb"^(?:Final|Original)-Recipient:", re.IGNORECASE | re.MULTILINE)
_HEX = re.compile(r"\\x\{([0-9A-Fa-f]{2,6})\}")


class ReportedRecipient(msgspec.Struct, frozen=True, kw_only=True):
    """What a delivery report says about one recipient."""

    action: ReportAction
    address: str
    """The address to which the message was sent or, if the report does not have it, `final_address`; empty if none is
    known."""
    final_address: str
    """The address that failed, for example behind a forwarding; empty if the report has none."""
    code: int
    """SMTP reply code; 0 if the report has none."""
    enhanced: str
    """Enhanced status code (RFC 3463); empty if the report has none."""
    text: str
    """The diagnostic text."""
    remote_host: str
    """The server that refused the message; empty if the report has none."""


class DeliveryReport(msgspec.Struct, frozen=True, kw_only=True):
    """A report about the delivery of a message to some of its recipients."""

    form: Literal["dsn", "bounce"]
    """`dsn`: the form of RFC 3464; `bounce`: another form, which was recognized by its text."""
    recipients: tuple[ReportedRecipient, ...]
    reporting_host: str
    """The server that made the report; empty if unknown."""
    original: tuple[tuple[str, str], ...]
    """The header of the original message, names in lower case; empty if the report does not contain it."""
    occurred_at: datetime | None
    """When the last attempt was made, or else when the message arrived at the reporting server; None if unknown."""


def read_delivery_report(message: ReceivedMessage) -> DeliveryReport | None:
    """Read a delivery report. None if the message is not a report, or if none of its recipients can be read."""
    from postern.protocols.mail import bounce_forms

    report = _read_standard(message)
    if report is not None and report.recipients:
        return report
    for part in message.parts[:FORWARDED_LIMIT]:
        if part.content_type == "message/rfc822":  # A gateway has put the report into another message.
            forwarded = _read_standard(read_message(part.content))
            if forwarded is not None and forwarded.recipients:
                return forwarded
    failures = bounce_forms.recognize(message)
    if not failures:
        return None
    recipients = tuple(
        ReportedRecipient(
            action="delayed" if failure.is_delayed else "failed",
            address=failure.address[:ADDRESS_CHARACTERS],
            final_address="",
            code=reply_code_in(failure.text),
            enhanced=_enhanced_of(failure.text, is_delayed=failure.is_delayed),
            text=failure.text[:DIAGNOSTIC_CHARACTERS],
            remote_host="",
        )
        for failure in failures[:RECIPIENTS_LIMIT]
    )
    return DeliveryReport(
        form="bounce",
        recipients=recipients,
        reporting_host=report.reporting_host if report else "",
        original=original_header(message),
        occurred_at=None,
    )


def original_header(message: ReceivedMessage) -> tuple[tuple[str, str], ...]:
    """The header of the original message, which a report contains as a part or below its text; empty if it does not."""
    from postern.protocols.mail import bounce_forms

    for part in message.parts:
        if part.content_type in ORIGINAL_TYPES:
            return read_header(part.content)[0]
    for part in message.parts:
        if part.content_type == "text/plain":
            quoted = bounce_forms.quoted_message(part.text)
            if quoted:
                return tuple(read_fields(quoted.encode("utf-8", "replace")))
    return ()


def enhanced_code_in(text: str) -> str:
    """The most specific enhanced status code in a text; empty if there is none."""
    codes = [match[0] for match in _ENHANCED.finditer(text[:DIAGNOSTIC_CHARACTERS])]
    specific = [code for code in codes if not code.endswith(VAGUE)]
    return (specific or codes or [""])[0]


def reply_code_in(text: str) -> int:
    """The first SMTP reply code of class 4 or 5 in a text; 0 if there is none."""
    match = _REPLY_CODE.search(text[:DIAGNOSTIC_CHARACTERS])
    return int(match[1]) if match else 0


def _read_standard(message: ReceivedMessage) -> DeliveryReport | None:
    """The report in the form of RFC 3464; None if there is none.

    If no part has the content type of a report, its fields are searched for in text parts: some gateways break the
    boundaries of reports.
    """
    status = [part for part in message.parts if part.content_type in STATUS_TYPES]
    if not status:
        texts = [part for part in message.parts if part.content_type == "text/plain"][:3]
        status = [part for part in texts if b"inal-" in part.content and _FIELDS.search(part.content)]
    if not status:
        return None
    recipients: list[ReportedRecipient] = []
    about_message: dict[str, str] = {}
    last_attempt = ""
    for part in status:
        for block in re.split(rb"\r?\n[ \t]*\r?\n", part.content[:STATUS_OCTETS])[:BLOCKS_LIMIT]:
            for fields in _groups_of(read_fields(block)):
                recipient = _recipient_of(fields)
                last_attempt = fields.get("last-attempt-date", last_attempt)
                if recipient is None:
                    about_message = {**fields, **about_message}
                elif len(recipients) < RECIPIENTS_LIMIT:
                    recipients.append(recipient)
    if not all(recipient.text for recipient in recipients[:TEXTS_LIMIT]):
        from postern.protocols.mail import bounce_forms

        # Some servers give the reason only in the human-readable text.
        recipients = _with_texts(recipients, bounce_forms.notification_text(message))
    return DeliveryReport(
        form="dsn",
        recipients=tuple(recipients),
        reporting_host=host_in(about_message.get("reporting-mta", "")),
        original=original_header(message),
        occurred_at=date_in(last_attempt or about_message.get("arrival-date", "")),
    )


_RECIPIENT_FIELDS = frozenset(("final-recipient", "original-recipient"))


def _groups_of(fields: Iterable[tuple[str, str]]) -> Iterator[dict[str, str]]:
    """Split fields into a group about the message and a group about each recipient: some servers put no empty line
    between these groups."""
    group: dict[str, str] = {}
    for name, value in fields:
        is_about_message = "reporting-mta" in group and "action" not in group
        if name in _RECIPIENT_FIELDS and (name in group or is_about_message):
            yield group
            group = {}
        group.setdefault(name, value)
    yield group


def _recipient_of(fields: dict[str, str]) -> ReportedRecipient | None:
    diagnostic = _typed(fields.get("diagnostic-code", ""))[:DIAGNOSTIC_CHARACTERS]
    status = fields.get("status", "")
    action = _action(fields.get("action", ""), status or enhanced_code_in(diagnostic) or str(reply_code_in(diagnostic)))
    final = address_in(fields.get("final-recipient", ""))
    original = address_in(fields.get("original-recipient", "")) or address_in(fields.get("x-actual-recipient", ""))
    if action is None or not (final or original):
        return None
    return ReportedRecipient(
        action=action,
        address=original or final,
        final_address=final,
        code=reply_code_in(diagnostic),
        enhanced=_status(status, diagnostic),
        text=_LEADING_CODES.sub("", diagnostic, 1) if _LEADING_CODES.match(diagnostic) else diagnostic,
        remote_host=host_in(fields.get("remote-mta", "")),
    )


def _action(text: str, status: str) -> ReportAction | None:
    """The action of a recipient; some servers add a comment or use another word (OpenSMTPD: `error`)."""
    word = re.match(r"[a-z]*", text.strip().lower())
    match word[0] if word else "":
        case "failed" | "failure" | "fail" | "error" | "expired":
            return "failed"
        case "delayed" | "delay":
            return "delayed"
        case "delivered" | "deliverable" | "expand":
            return "delivered"
        case "relayed" | "relay":
            return "relayed"
        case "expanded":
            return "expanded"
        case _:
            return {"5": "failed", "4": "delayed", "2": "delivered"}.get(status.strip()[:1])  # pyright: ignore[reportReturnType]


def _typed(value: str) -> str:
    """The value of a field of the form `type; value`, with or without its type."""
    kind, separator, rest = value.partition(";")
    return rest.strip() if separator and re.fullmatch(r"\s*[\w.-]{1,40}\s*", kind) else value.strip()


def address_in(value: str) -> str:
    """The address of a field `rfc822; address`; also without type, in angle brackets, or with a display name."""
    text = _HEX.sub(_character, _typed(value)).strip()[:1_000]
    angled = re.search(r"<([^<>]{1,320})>", text)
    text = (angled[1] if angled else text).strip("'<> ").removeprefix("mailto:")
    text = re.sub(r"\s*\([^()]{0,300}\)", "", text).strip()
    return text[:ADDRESS_CHARACTERS] if "@" in text or (text and not re.search(r"\s", text)) else ""


def _character(match: re.Match[str]) -> str:
    number = int(match[1], 16)
    return chr(number) if 0x20 <= number < 0x110000 and not 0xD800 <= number <= 0xDFFF else ""


def host_in(value: str) -> str:
    """The name of a field `dns; name`, at most 255 characters."""
    text = _typed(value).partition(" ")[0].strip("[]()<>;,")
    return text[:255]


def _status(status: str, diagnostic: str) -> str:
    """The enhanced code of a recipient: that in the refusing server's reply (`diagnostic`), or else in `status`.

    A vague code in the reply does not count.
    """
    from_status, from_reply = enhanced_code_in(status), enhanced_code_in(diagnostic)
    return from_status if not from_reply or from_reply.endswith(VAGUE) else from_reply


def _enhanced_of(text: str, *, is_delayed: bool) -> str:
    """The enhanced code of a text; without one, permanent or temporary with unknown cause (RFC 3463 §3.1)."""
    return enhanced_code_in(text) or ("4.0.0" if is_delayed or 400 <= reply_code_in(text) < 500 else "5.0.0")


def _with_texts(recipients: list[ReportedRecipient], text: str) -> list[ReportedRecipient]:
    """The recipients; those without a text get the lines of the human-readable `text` that are about them.

    A single recipient gets the first lines if none is about it.
    """
    addresses = {recipient.final_address.lower() for recipient in recipients} - {""}
    return [
        recipient
        if recipient.text or number >= TEXTS_LIMIT
        else _with_text(recipient, text, addresses, is_single=len(recipients) == 1)
        for number, recipient in enumerate(recipients)
    ]


def _with_text(
    recipient: ReportedRecipient, text: str, addresses: AbstractSet[str], *, is_single: bool
) -> ReportedRecipient:
    from postern.protocols.mail import bounce_forms

    search = bounce_forms.text_near if is_single else bounce_forms.text_about
    lines = search(text, recipient.address, addresses - {recipient.address.lower(), recipient.final_address.lower()})
    return msgspec.structs.replace(
        recipient,
        text=lines[:DIAGNOSTIC_CHARACTERS],
        code=reply_code_in(lines),
        enhanced=_status(recipient.enhanced, lines),
    )


def date_in(value: str) -> datetime | None:
    """The UTC time of a date field (RFC 5322 §3.3); None if it cannot be read."""
    try:
        moment = parsedate_to_datetime(value[:DATE_CHARACTERS])
        return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    except (ValueError, TypeError, OverflowError, IndexError):
        return None
