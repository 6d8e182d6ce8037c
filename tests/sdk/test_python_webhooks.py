"""Verification of webhook deliveries with the Python package, against the libraries of Standard Webhooks and Svix."""

import base64
import json
import time
from datetime import UTC, datetime
from typing import Any

import pytest
import standardwebhooks
import svix
from postern_sdk import Postern, WebhookVerificationError, events
from postern_sdk.testing import sign_webhook
from postern_sdk.webhooks import verify

from tests.sdk.api_document import api_document

SECRET = "whsec_" + base64.b64encode(b"0123456789abcdef01234567").decode()
OTHER = "whsec_" + base64.b64encode(b"another-secret-another-s").decode()
BODY = json.dumps(
    {
        "type": "custom.order.placed",
        "timestamp": "2026-01-31T12:00:00.000Z",
        "data": {"id": "0198", "total": 12.5},
        "member of a newer server": True,
    }
)


@pytest.mark.parametrize("library", [standardwebhooks.Webhook, svix.Webhook])
def test_what_the_libraries_sign_is_verified(library: Any) -> None:
    now = datetime.now(UTC)
    headers = {
        "Webhook-Id": "0198",
        "Webhook-Timestamp": str(int(now.timestamp())),
        "Webhook-Signature": library(SECRET).sign("0198", now, BODY),
    }
    event: Any = verify(BODY, headers, SECRET)
    assert (event.id, event.type, event.data["total"]) == ("0198", "custom.order.placed", 12.5)
    assert event.timestamp == datetime(2026, 1, 31, 12, tzinfo=UTC)
    renamed = {name.replace("Webhook", "svix"): value for name, value in headers.items()}
    assert verify(BODY.encode(), renamed, SECRET) == event
    assert Postern("http://127.0.0.1").webhooks.verify(BODY, headers, SECRET) == event


@pytest.mark.parametrize("library", [standardwebhooks.Webhook, svix.Webhook])
def test_the_libraries_verify_what_the_test_helper_signs(library: Any) -> None:
    headers = sign_webhook(BODY, SECRET, id="0198")
    library(SECRET).verify(BODY, headers)
    with pytest.raises(Exception, match="signature"):
        library(OTHER).verify(BODY, headers)


def test_during_a_rotation_each_secret_and_signature_is_tried() -> None:
    headers = sign_webhook(BODY, OTHER, id="1")
    both = sign_webhook(BODY, SECRET, id="1")["webhook-signature"] + " " + headers["webhook-signature"]
    assert verify(BODY, {**headers, "webhook-signature": f"v1a,unknown {both}"}, SECRET)
    assert verify(BODY, headers, [SECRET, OTHER])
    assert verify(BODY, headers, OTHER.removeprefix("whsec_"))


def test_every_event_of_the_api_has_a_class_that_reads_its_example() -> None:
    described = api_document()["webhooks"]
    assert events.BY_TYPE.keys() == described.keys()
    for name, entry in described.items():
        content = entry["post"]["requestBody"]["content"]["application/json"]
        body = json.dumps(content["examples"]["example"]["value"])
        event: Any = verify(body, sign_webhook(body, SECRET, id="1"), SECRET)
        assert type(event) is events.BY_TYPE[name]
        assert event.type == name
        assert event.data.id


def test_a_truncated_event_is_returned_with_what_it_has() -> None:
    body = '{"type": "email.bounced", "timestamp": "2026-01-31T12:00:00Z", "data": {"id": "0198", "truncated": true}}'
    event = verify(body, sign_webhook(body, SECRET, id="1"), SECRET)
    assert isinstance(event, events.UnknownEvent)
    assert (event.type, event.data) == ("email.bounced", {"id": "0198", "truncated": True})


@pytest.mark.parametrize(
    ("body", "changes", "secret", "reason"),
    [
        (BODY + " ", {}, SECRET, "No signature fits"),
        (BODY, {}, OTHER, "No signature fits"),
        (BODY, {}, [], "No signature fits"),
        (BODY, {"webhook-id": "2"}, SECRET, "No signature fits"),
        (BODY, {"webhook-timestamp": "soon"}, SECRET, "not a number"),
        (BODY, {"webhook-timestamp": "1" * 13}, SECRET, "not a number"),
        (BODY, {"webhook-timestamp": "1" * 400}, SECRET, "not a number"),
        (BODY, {"webhook-timestamp": "1" * 5_000}, SECRET, "not a number"),
        (BODY, {"webhook-timestamp": "١٢٣"}, SECRET, "not a number"),
        (BODY, {"webhook-timestamp": "9" * 12}, SECRET, "s in the future"),
        (BODY, {"webhook-signature": "v2,abc"}, SECRET, "no signature of the version v1"),
        (BODY, {"webhook-signature": "v1,äöü"}, SECRET, "No signature fits"),
        (BODY, {"webhook-signature": ""}, SECRET, "webhook-signature is missing"),
        (BODY, {"webhook-id": ""}, SECRET, "webhook-id is missing"),
        (BODY, {}, "whsec_not base64!", "must be that of a webhook"),
        (BODY, {}, "", "must be that of a webhook"),
    ],
)
def test_other_deliveries_are_rejected_with_the_reason(
    body: str, changes: dict[str, str], secret: Any, reason: str
) -> None:
    with pytest.raises(WebhookVerificationError, match=reason):
        verify(body, {**sign_webhook(BODY, SECRET, id="1"), **changes}, secret)


@pytest.mark.parametrize(
    ("difference", "reason"), [(-301, "s old; 300 s are allowed"), (400, "s in the future; 300 s are allowed")]
)
def test_an_old_or_future_delivery_is_rejected(difference: int, reason: str) -> None:
    headers = sign_webhook(BODY, SECRET, id="1", timestamp=int(time.time()) + difference)
    with pytest.raises(WebhookVerificationError, match=reason):
        verify(BODY, headers, SECRET)


@pytest.mark.parametrize("body", ["[]", "{", '{"type": "a"}', '{"type": 1, "timestamp": "x"}'])
def test_a_signed_body_that_is_no_event_is_rejected(body: str) -> None:
    with pytest.raises(WebhookVerificationError, match="is signed, but is no event"):
        verify(body, sign_webhook(body, SECRET, id="1"), SECRET)


def test_the_tolerance_can_be_larger() -> None:
    headers = sign_webhook(BODY, SECRET, id="1", timestamp=int(time.time()) - 3600)
    assert verify(BODY, headers, SECRET, tolerance=7200)
