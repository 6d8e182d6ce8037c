"""Notifications of SES that SNS sends by mail."""

import json
from uuid import UUID

import pytest

from postern.protocols.mail.arf import ComplaintReport
from postern.protocols.mail.dsn import DeliveryReport
from postern.protocols.mail.reports import UnrecognizedReport, original_message_ids, read_report, sender_addresses
from tests.protocols.aws.test_ses_events import bounce, event

RETURN_PATH = "b-1-signature@bounce.acme.example"
MESSAGE_ID = "0193e1a0-7a42-7000-8000-000000000001"
MAIL = {"source": RETURN_PATH, "headers": [{"name": "Message-ID", "value": f"<{MESSAGE_ID}@acme.example>"}]}
FOOTER = (
    "\n\n--\nIf you wish to stop receiving notifications from this topic, please visit the link below:\nhttps://…\n"
)


def mail_of(text):
    header = "From: AWS Notifications <no-reply@sns.amazonaws.com>\nSubject: AWS Notification Message\n"
    return f"{header}Content-Type: text/plain; charset=UTF-8\n\n{text}".replace("\n", "\r\n").encode()


def notification(type_, details, mail=MAIL):
    return event(type_, details, key="notificationType", mail=mail)


def in_envelope(text):
    return json.dumps({"Type": "Notification", "Message": text, "Signature": "not checked"}, indent=2)


@pytest.mark.parametrize("form", [lambda text: text + FOOTER, in_envelope], ids=["email", "email-json"])
def test_a_bounce_by_mail(form):
    details = bounce(status="5.1.1", diagnosticCode="smtp; 550 5.1.1 user unknown")
    report = read_report(mail_of(form(notification("Bounce", details))))
    assert isinstance(report, DeliveryReport)
    (recipient,) = report.recipients
    assert (recipient.action, recipient.address) == ("failed", "ada@example.org")
    assert (recipient.code, recipient.enhanced, recipient.text) == (550, "5.1.1", "550 5.1.1 user unknown")
    assert sender_addresses(report) == [RETURN_PATH]
    assert original_message_ids(report) == [UUID(MESSAGE_ID)]


@pytest.mark.parametrize(
    ("type_", "details", "action", "enhanced"),
    [
        ("Bounce", bounce(), "failed", "5.0.0"),
        ("Bounce", bounce("Transient"), "failed", "4.0.0"),
        ("Bounce", bounce("Undetermined", "Undetermined"), "failed", ""),
        ("Delivery", {"recipients": ["ada@example.org"], "smtpResponse": "250 2.6.0 ok"}, "delivered", "2.6.0"),
        ("DeliveryDelay", {"delayedRecipients": [{"emailAddress": "ada@example.org"}]}, "delayed", ""),
    ],
)
def test_types_of_notifications_by_mail(type_, details, action, enhanced):
    (recipient,) = read_report(mail_of(notification(type_, details))).recipients
    assert (recipient.action, recipient.enhanced) == (action, enhanced)


def test_a_complaint_by_mail():
    details = {"complainedRecipients": [{"emailAddress": "ada@example.org"}], "complaintFeedbackType": "abuse"}
    report = read_report(mail_of(notification("Complaint", details) + FOOTER))
    assert isinstance(report, ComplaintReport)
    assert (report.recipients, report.feedback_type, report.is_complaint) == (("ada@example.org",), "abuse", True)
    assert sender_addresses(report) == [RETURN_PATH]


@pytest.mark.parametrize(
    "text",
    [
        "{",
        "{}",
        "[" * 100_000,
        "{" * 100_000,
        '{"Message": 1}',
        in_envelope("{}"),
        in_envelope(in_envelope(notification("Bounce", bounce()))),
        notification("Open", {}),
        notification("Bounce", {"bounceType": "Permanent", "bouncedRecipients": []}),
        notification("Bounce", "what"),
        '{"notificationType": "Bounce", "bounce": "\ud800"}'.encode("utf-8", "surrogatepass").decode("latin-1"),
    ],
)
def test_other_json_is_no_report(text):
    assert isinstance(read_report(mail_of(text)), UnrecognizedReport)


def test_a_notification_whose_lines_were_broken_on_the_way():
    text = notification("Bounce", bounce(status="5.1.1"))
    broken = f"{text[:60]}!\n {text[60:]}"
    assert read_report(mail_of(broken)).recipients[0].enhanced == "5.1.1"
