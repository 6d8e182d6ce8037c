"""Events of SES, in the formats of the SES Developer Guide."""

import json
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from postern.protocols.aws.ses_events import RECIPIENTS_LIMIT, read_event
from postern.protocols.mail.smtp_replies import FailureKind, classify

AT = "2026-01-02T03:04:05.678Z"
MAIL = {
    "timestamp": "2026-01-02T03:04:00.000Z",
    "source": "hello@example.com",
    "messageId": "0102018f-id",
    "destination": ["ada@example.org", "bob@example.org"],
    "headersTruncated": False,
    "headers": [{"name": "Subject", "value": "Hello"}, {"name": "x-postern-send", "value": "ref-header"}],
    "tags": {"ses:configuration-set": ["postern"], "postern-send": ["ref-tag"]},
}


def event(type_, details, *, key="eventType", mail=MAIL):
    return json.dumps({key: type_, type_[0].lower() + type_[1:]: details, "mail": mail})


def bounce(type_="Permanent", subtype="General", **recipient):
    return {
        "bounceType": type_,
        "bounceSubType": subtype,
        "bouncedRecipients": [{"emailAddress": "ada@example.org", **recipient}],
        "timestamp": AT,
        "feedbackId": "1",
        "reportingMTA": "dns; a8-70.smtp-out.amazonses.com",
    }


@pytest.mark.parametrize("key", ["eventType", "notificationType"])
def test_a_bounce_is_read(key):
    diagnostic = "smtp; 550 5.1.1 user unknown; see https://example.org"
    read = read_event(event("Bounce", bounce(status="5.1.1", diagnosticCode=diagnostic), key=key))
    (recipient,) = read.recipients
    assert (recipient.address, recipient.code, recipient.enhanced) == ("ada@example.org", 550, "5.1.1")
    assert recipient.text == "550 5.1.1 user unknown; see https://example.org"
    assert (read.kind, read.bounce, read.host) == ("BOUNCED", "hard", "a8-70.smtp-out.amazonses.com")
    assert read.at == datetime(2026, 1, 2, 3, 4, 5, 678_000, tzinfo=UTC)
    assert read.references == ("ref-tag", "ref-header")


@pytest.mark.parametrize(
    ("type_", "subtype", "expected", "kind"),
    [
        ("Permanent", "General", "hard", None),
        ("Permanent", "NoEmail", "hard", None),
        ("Permanent", "Suppressed", "hard", None),
        ("Permanent", "OnAccountSuppressionList", "hard", None),
        ("Permanent", "UnsubscribedRecipient", "soft", None),
        ("Transient", "General", "soft", None),
        ("Transient", "MailboxFull", "soft", FailureKind.SOFT),
        ("Transient", "MessageTooLarge", "soft", FailureKind.POLICY),
        ("Transient", "ContentRejected", "soft", FailureKind.POLICY),
        ("Transient", "AttachmentRejected", "soft", FailureKind.POLICY),
        ("Transient", "CustomTimeoutExceeded", "soft", None),
        ("Undetermined", "Undetermined", None, FailureKind.SOFT),
    ],
)
def test_types_of_bounces(type_, subtype, expected, kind):
    read = read_event(event("Bounce", bounce(type_, subtype)))
    (recipient,) = read.recipients
    assert read.bounce == expected
    verdict = classify(recipient.code, recipient.enhanced, recipient.text)
    if kind is not None:
        assert verdict.kind is kind
    assert kind is FailureKind.POLICY or verdict.kind not in (FailureKind.POLICY, FailureKind.BLOCK)


def test_a_complaint_is_read():
    details = {
        "complainedRecipients": [{"emailAddress": "ada@example.org"}],
        "timestamp": AT,
        "complaintFeedbackType": "abuse",
        "userAgent": "Amazon SES Mailbox Simulator",
    }
    read = read_event(event("Complaint", details))
    assert (read.kind, read.feedback_type) == ("COMPLAINED", "abuse")
    assert [recipient.address for recipient in read.recipients] == ["ada@example.org"]
    assert read_event(event("Complaint", {**details, "complaintFeedbackType": "not-spam"})) is None
    listed = {**details, "complaintFeedbackType": None, "complaintSubType": "OnAccountSuppressionList"}
    assert read_event(event("Complaint", listed)).feedback_type == "OnAccountSuppressionList"


def test_a_delivery_is_read():
    details = {
        "timestamp": AT,
        "recipients": ["ada@example.org"],
        "smtpResponse": "250 2.6.0 Message received",
        "reportingMTA": "a8-70.smtp-out.amazonses.com",
    }
    read = read_event(event("Delivery", details))
    (recipient,) = read.recipients
    assert (read.kind, recipient.address, recipient.code) == ("DELIVERED", "ada@example.org", 250)
    assert read.host == "a8-70.smtp-out.amazonses.com"


def test_a_delay_is_read():
    recipient = {"emailAddress": "ada@example.org", "status": "4.4.1", "diagnosticCode": "smtp; 421 4.4.1 timeout"}
    details = {"delayType": "TransientCommunicationFailure", "delayedRecipients": [recipient], "timestamp": AT}
    read = read_event(event("DeliveryDelay", details))
    assert (read.kind, read.recipients[0].code, read.recipients[0].enhanced) == ("DELAYED", 421, "4.4.1")


def test_a_message_with_a_virus_is_a_bounce_of_all_recipients_that_the_sender_caused():
    read = read_event(event("Reject", {"reason": "Bad content"}))
    assert [recipient.address for recipient in read.recipients] == MAIL["destination"]
    (first, *_) = read.recipients
    assert (read.kind, read.bounce) == ("BOUNCED", None)
    assert classify(first.code, first.enhanced, first.text).kind is FailureKind.POLICY
    assert read.at == datetime(2026, 1, 2, 3, 4, tzinfo=UTC)


@pytest.mark.parametrize(
    "type_", ["Send", "Open", "Click", "Subscription", "Rendering Failure", "AmazonSnsSubscriptionSucceeded", "New"]
)
def test_other_events_are_ignored(type_):
    assert read_event(event(type_, {})) is None


@pytest.mark.parametrize(
    "text", ["", "[]", "null", "{}", '{"eventType": 1}', "Successfully validated SNS topic", "[" * 50_000]
)
def test_other_texts_are_refused(text):
    with pytest.raises(ValueError, match="notification"):
        read_event(text)


def test_recipients_are_limited():
    recipients = [{"emailAddress": f"{n}@example.org"} for n in range(5_000)]
    read = read_event(event("Bounce", {**bounce(), "bouncedRecipients": recipients}))
    assert len(read.recipients) == RECIPIENTS_LIMIT


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-100, 100) | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["name", "value", "tags", "emailAddress", "postern-send", "timestamp"]), inner
        )
    ),
    max_leaves=10,
)
FIELDS = ["bouncedRecipients", "complainedRecipients", "delayedRecipients", "recipients", "timestamp", "bounceType"]


@given(
    type_=st.sampled_from(["Bounce", "Complaint", "Delivery", "DeliveryDelay", "Reject"]),
    details=st.dictionaries(st.sampled_from(FIELDS), JSON) | JSON,
    mail=st.dictionaries(st.sampled_from(["tags", "headers", "destination", "timestamp"]), JSON) | JSON,
)
def test_any_content_is_read(type_, details, mail):
    read_event(event(type_, details, mail=mail))


@pytest.mark.parametrize("at", ["0001-01-01T00:00:00+23:59", "9999-12-31T23:59:59-23:59", "2026-01-02T03:04:05", "now"])
def test_a_time_that_cannot_be_converted_to_utc_is_ignored(at):
    notification = read_event(event("Delivery", {"recipients": ["ada@example.org"], "timestamp": at}))
    assert notification is not None
    assert notification.at is None
