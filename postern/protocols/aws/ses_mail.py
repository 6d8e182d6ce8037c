"""Notifications of Amazon SES that Amazon SNS sends by mail, as JSON text (protocols `email` and `email-json`)."""

from postern.kernel.untrusted_json import read_untrusted_json
from postern.protocols.aws.ses_events import SesEvent, read_event
from postern.protocols.mail.arf import ComplaintReport
from postern.protocols.mail.dsn import (
    ADDRESS_CHARACTERS,
    DIAGNOSTIC_CHARACTERS,
    DeliveryReport,
    ReportAction,
    ReportedRecipient,
)
from postern.protocols.mail.received import ReceivedMessage

_ACTIONS: dict[str, ReportAction] = {"BOUNCED": "failed", "DELAYED": "delayed", "DELIVERED": "delivered"}
_FOOTER = "\n--\n"
"""SNS writes how to unsubscribe below this line."""
_LINE_BREAK = "!\n "
"""How Sendmail breaks lines that are longer than 998 octets."""


def read_ses_mail(message: ReceivedMessage) -> DeliveryReport | ComplaintReport | None:
    """Read a notification of SES in a message; None if it has none.

    Its origin is not verified: with the protocol `email` it has no signature of SNS, and that of `email-json` is not
    checked. As with every report by mail, the caller trusts it only if it contains a return path that this service has
    signed.
    """
    part = next((part for part in message.parts if part.content_type == "text/plain"), None)
    if part is None or part.content.lstrip()[:1] != b"{":
        return None
    text = part.text.replace("\r\n", "\n").partition(_FOOTER)[0].replace(_LINE_BREAK, "")
    try:
        document = read_untrusted_json(text.encode())
        if isinstance(document, dict) and isinstance(inner := document.get("Message"), str):
            text = inner
        event = read_event(text)
    except ValueError:
        return None
    return _report_of(event) if event is not None and event.recipients else None


def _report_of(event: SesEvent) -> DeliveryReport | ComplaintReport:
    if event.kind == "COMPLAINED":
        addresses = (recipient.address[:ADDRESS_CHARACTERS] for recipient in event.recipients)
        return ComplaintReport(
            feedback_type=event.feedback_type or "abuse",
            recipients=tuple(address for address in addresses if "@" in address),
            mail_from=event.original[0][1],
            reporting_host=event.host,
            original=event.original,
            occurred_at=event.at,
        )
    default = {"hard": "5.0.0", "soft": "4.0.0", None: ""}[event.bounce]
    recipients = tuple(
        ReportedRecipient(
            action=_ACTIONS[event.kind],
            address=recipient.address[:ADDRESS_CHARACTERS],
            final_address="",
            code=recipient.code,
            enhanced=recipient.enhanced or default,
            text=recipient.text[:DIAGNOSTIC_CHARACTERS],
            remote_host="",
        )
        for recipient in event.recipients
    )
    return DeliveryReport(
        form="bounce",
        recipients=recipients,
        reporting_host=event.host,
        original=event.original,
        occurred_at=event.at,
    )
