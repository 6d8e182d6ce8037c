"""Messages of SNS: which are read, and which signatures are valid."""

import json
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from postern.protocols.aws.sns import SnsRefused, is_topic, read_certificate, read_message, verify_signature
from tests.kernel.test_outbound import create_certificate
from tests.peers.sns_topic import HOST, SnsTopic

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
TOPIC = SnsTopic()


def read(message):
    return read_message(json.dumps(message).encode())


@pytest.mark.parametrize("version", ["1", "2"])
@pytest.mark.parametrize("fields", [{}, {"Subject": "Amazon SES Email Event Notification"}])
def test_signatures_of_both_versions_are_verified(version, fields):
    message = read(TOPIC.message({"eventType": "Send"}, at=NOW, version=version, **fields))
    key = read_certificate(TOPIC.certificate)
    verify_signature(message, key)
    assert (message.type, message.topic, message.at) == ("Notification", TOPIC.arn, NOW)
    with pytest.raises(SnsRefused, match="signature is wrong"):
        verify_signature(message, read_certificate(SnsTopic().certificate))


@pytest.mark.parametrize(
    "change",
    [
        {"Message": "{}"},
        {"MessageId": "other"},
        {"Timestamp": "2026-01-02T03:04:06.000Z"},
        {"TopicArn": SnsTopic(name="other").arn},
        {"Subject": "added"},
        {"Signature": "AAAA"},
        {"SignatureVersion": "1"},
        {"SignatureVersion": "3"},
    ],
)
def test_a_changed_message_is_refused(change):
    message = read({**TOPIC.message("{}x", at=NOW), **change})
    with pytest.raises(SnsRefused):
        verify_signature(message, read_certificate(TOPIC.certificate))


@pytest.mark.parametrize(
    "change",
    [
        {"Type": "Other"},
        {"Type": ["Notification"]},
        {"TopicArn": "arn:aws:sns:eu-central-1.evil.example:123456789012:x"},
        {"SigningCertURL": f"http://{HOST}/SimpleNotificationService-1.pem"},
        {"SigningCertURL": "https://sns.us-east-1.amazonaws.com/SimpleNotificationService-1.pem"},
        {"SigningCertURL": f"https://{HOST}.evil.example/SimpleNotificationService-1.pem"},
        {"SigningCertURL": f"https://user@{HOST}/SimpleNotificationService-1.pem"},
        {"SigningCertURL": f"https://{HOST}/bucket/cert.pem"},
        {"SigningCertURL": f"https://{HOST}/SimpleNotificationService-1.pem/../../x"},
        {"SigningCertURL": f"https://{HOST}/SimpleNotificationService-1.pem?a=b"},
        {"SigningCertURL": f"https://{HOST}/SimpleNotificationService-1.pem\n"},
        {"SigningCertURL": "https://[::1"},
        {"SigningCertURL": "https://s3.eu-central-1.amazonaws.com/SimpleNotificationService-1.pem"},
        {"Signature": "not base64"},
        {"Timestamp": "yesterday"},
        {"Timestamp": "2026-01-02T03:04:05"},
        {"Message": None},
        {"MessageId": 1},
    ],
)
def test_a_message_with_foreign_hosts_or_invalid_fields_is_refused(change):
    with pytest.raises(SnsRefused):
        read({**TOPIC.message("{}", at=NOW), **change})


def test_the_confirmation_url_must_be_at_sns():
    assert read(TOPIC.confirmation(at=NOW)).subscribe_url.startswith(f"https://{HOST}/")
    with pytest.raises(SnsRefused):
        read(TOPIC.confirmation(at=NOW, SubscribeURL="https://evil.example/"))


@pytest.mark.parametrize("body", [b"", b"[]", b"null", b"\xff", b'{"Type": "Notification"}', b"[" * 100_000])
def test_other_bodies_are_refused(body):
    with pytest.raises(SnsRefused):
        read_message(body)


VALID = TOPIC.message("{}", at=NOW)


@given(st.dictionaries(st.sampled_from(sorted(VALID)), st.text() | st.integers() | st.none() | st.lists(st.text())))
def test_any_change_is_read_or_refused(change):
    try:
        read({**VALID, **change})
    except SnsRefused:
        pass


@pytest.mark.parametrize("pem", [b"", b"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"])
def test_an_unreadable_certificate_is_refused(pem):
    with pytest.raises(SnsRefused):
        read_certificate(pem)


def test_a_certificate_with_another_kind_of_key_is_refused():
    with pytest.raises(SnsRefused):
        read_certificate(create_certificate("sns.amazonaws.com")[0])


def test_arns_of_topics():
    assert is_topic(TOPIC.arn)
    assert not is_topic(TOPIC.arn + "\n")
    assert not is_topic("arn:aws:sqs:eu-central-1:123456789012:mail")
