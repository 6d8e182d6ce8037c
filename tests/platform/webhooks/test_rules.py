"""Matching of subscriptions with events, and the retry schedule."""

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from uuid import uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st

from postern.kernel.outbound.client import OutboundFailed, OutboundRefused, OutboundResponse
from postern.kernel.values import Moment, to_json
from postern.platform.events.model import EVENT_NAMES
from postern.platform.events.operations import make_event
from postern.platform.webhooks.model import PAYLOAD_BYTES
from postern.platform.webhooks.rules import (
    ATTEMPT_DELAYS,
    JITTER,
    attempt_result,
    deactivation_reason,
    delay_before_retry,
    is_subscribed,
    is_valid_entry,
    matching_entries,
    payload_of,
    read_retry_after,
)

NOW = Moment.of(datetime(2026, 1, 31, 12, tzinfo=UTC))


@pytest.mark.parametrize(
    ("entry", "type", "matches"),
    [
        ("*", "email.sent", True),
        ("*", "order.placed", True),
        ("email.*", "email.sent", True),
        ("email.*", "customer.signed_in", False),
        ("email.sent", "email.sent", True),
        ("email.sent", "email.delivered", False),
        ("send.delivered", "email.delivered", True),
        ("send.delivered", "email.sent", False),
        ("custom.*", "order.placed", True),
        ("custom.*", "email.sent", False),
        ("custom.order.placed", "order.placed", True),
        ("custom.order.placed", "order.paid", False),
    ],
)
def test_subscription_entries_match_events(entry, type, matches):
    assert is_valid_entry(entry)
    assert is_subscribed([entry], matching_entries(type)) is matches


@pytest.mark.parametrize(
    "entry",
    [
        "",
        "email",
        "email.",
        "email.deliverd",
        "order.placed",
        "order.*",
        "**",
        "custom.",
        "custom.a b",
        "custom.email.sent",
    ],
)
def test_invalid_entries_are_refused(entry):
    assert not is_valid_entry(entry)


def test_every_event_name_and_its_wildcard_are_valid_entries():
    for name in EVENT_NAMES:
        assert is_valid_entry(name)
        assert is_valid_entry(name.partition(".")[0] + ".*")


def test_the_schedule_has_ten_attempts():
    assert [delay_before_retry(attempts, 0.5) for attempts in range(10)] == list(ATTEMPT_DELAYS)
    assert sum(ATTEMPT_DELAYS, timedelta()) == timedelta(hours=75, minutes=35, seconds=5)
    assert delay_before_retry(10, 0.5) is None


@given(st.integers(0, 9), st.floats(0, 1), st.one_of(st.none(), st.timedeltas(timedelta(), timedelta(days=400))))
def test_delays_stay_within_bounds(attempts, chance, retry_after):
    delay = delay_before_retry(attempts, chance, retry_after)
    assert delay is not None
    longest = max(2 * ATTEMPT_DELAYS[attempts], timedelta(hours=1)) if retry_after else ATTEMPT_DELAYS[attempts]
    assert ATTEMPT_DELAYS[attempts] * (1 - JITTER) - timedelta(microseconds=2) <= delay
    assert delay <= longest * (1 + JITTER) + timedelta(microseconds=2)


@pytest.mark.parametrize(
    ("text", "retry_after"),
    [
        (None, None),
        ("", None),
        ("soon", None),
        ("-5", None),
        ("٣", None),
        ("0", timedelta()),
        ("120", timedelta(seconds=120)),
        ("9" * 400, timedelta(seconds=10**8)),
        (format_datetime(NOW + timedelta(minutes=5), usegmt=False), timedelta(minutes=5)),
        ("Sat, 31 Jan 2026 11:00:00 GMT", timedelta()),
        ("Sat, 31 Jan 2026 13:00:00 GMT", timedelta(hours=1)),
        ("Sat, 99 Jan 2026 13:00:00 GMT", None),
    ],
)
def test_retry_after(text, retry_after):
    assert read_retry_after(text, NOW) == retry_after


@given(st.text(max_size=60))
def test_any_retry_after_header_is_parsed_or_ignored(text):
    retry_after = read_retry_after(text, NOW)
    assert retry_after is None or retry_after >= timedelta()


def response(status, body=b"", **headers):
    return OutboundResponse(status, headers, body, True, 0.25)


@pytest.mark.parametrize(
    ("outcome", "attempts", "status", "delay"),
    [
        (response(200), 1, "SUCCEEDED", None),
        (response(204), 10, "SUCCEEDED", None),
        (response(301), 1, "PENDING", 5),
        (response(400), 1, "PENDING", 5),
        (response(500), 2, "PENDING", 300),
        (response(503, **{"retry-after": "600"}), 1, "PENDING", 600),
        (response(429, **{"retry-after": "86400"}), 1, "PENDING", 3_600),
        (response(429, **{"retry-after": "1"}), 4, "PENDING", 7_200),
        (response(500), 9, "PENDING", 86_400),
        (response(500), 10, "FAILED", None),
        (response(410), 1, "FAILED", None),
        (OutboundFailed("timeout", "No answer.", 15.0), 3, "PENDING", 1_800),
        (OutboundFailed("dns", "No address.", 1.0), 10, "FAILED", None),
        (OutboundRefused("Not public."), 1, "PENDING", 5),
    ],
)
def test_the_result_of_an_attempt_decides_the_retry(outcome, attempts, status, delay):
    verdict = attempt_result(outcome, attempts, NOW, 0.5)
    assert verdict.status == status
    assert verdict.due_at == (None if delay is None else NOW + timedelta(seconds=delay))
    assert (verdict.error_message is None) == (status == "SUCCEEDED")
    assert verdict.gone == (getattr(outcome, "status", None) == 410)


@pytest.mark.parametrize(
    ("gone", "failures", "days", "deactivated"),
    [
        (True, 1, 0, True),
        (False, 9, 30, False),
        (False, 10, 4.99, False),
        (False, 10, 5, True),
        (False, 5_000, 1, False),
    ],
)
def test_failing_subscriptions_are_deactivated(gone, failures, days, deactivated):
    reason = deactivation_reason(
        gone=gone, failures=failures, failing_since=Moment.of(NOW - timedelta(days=days)), now=NOW
    )
    assert (reason is not None) is deactivated


def test_payloads_have_one_shape_and_a_limit():
    project, subject = uuid4(), uuid4()
    event = make_event(project, "audience.refilled", subject, NOW, added_contacts=3)
    assert payload_of(event) == {
        "type": "audience.refilled",
        "timestamp": NOW,
        "data": {"id": subject, "projectId": project, "addedContacts": 3},
    }
    custom = make_event(project, "order.placed", subject, NOW, order_id=7)
    assert payload_of(custom)["data"]["data"] == {"order_id": 7}
    large = payload_of(make_event(project, "order.placed", subject, NOW, note="ü" * PAYLOAD_BYTES))
    assert large["data"] == {"id": subject, "projectId": project, "contact": None, "truncated": True}
    assert len(to_json(large)) < PAYLOAD_BYTES
