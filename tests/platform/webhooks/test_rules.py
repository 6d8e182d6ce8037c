"""Matching of subscriptions with events, and the retry schedule."""

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from uuid import uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st

from postern.kernel.clock import Moment
from postern.kernel.outbound.client import OutboundFailed, OutboundRefused, OutboundResponse
from postern.kernel.values import to_json
from postern.platform.events.model import EVENT_NAMES
from postern.platform.events.operations import make_event
from postern.platform.webhooks.model import PAYLOAD_BYTES
from postern.platform.webhooks.rules import (
    ATTEMPT_DELAYS,
    JITTER,
    attempt_result,
    deactivation_reason,
    delay_before_retry,
    is_valid_entry,
    matches_any,
    matching_entries,
    payload_of,
    read_retry_after,
)

NOW = Moment.of(datetime(2026, 1, 31, 12, tzinfo=UTC))


@pytest.mark.parametrize(
    ("entry", "type", "wanted"),
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
def test_subscription_entries_match_events(entry, type, wanted):
    assert is_valid_entry(entry)
    assert matches_any([entry], matching_entries(type)) is wanted


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
def test_unknown_names_are_not_known(entry):
    assert not is_valid_entry(entry)


def test_every_event_has_its_name_and_its_area():
    for name in EVENT_NAMES:
        assert is_valid_entry(name)
        assert is_valid_entry(name.partition(".")[0] + ".*")


def test_the_schedule_has_ten_attempts():
    assert [delay_before_retry(tried, 0.5) for tried in range(10)] == list(ATTEMPT_DELAYS)
    assert sum(ATTEMPT_DELAYS, timedelta()) == timedelta(hours=75, minutes=35, seconds=5)
    assert delay_before_retry(10, 0.5) is None


@given(st.integers(0, 9), st.floats(0, 1), st.one_of(st.none(), st.timedeltas(timedelta(), timedelta(days=400))))
def test_pauses_stay_within_bounds(tried, chance, wish):
    pause = delay_before_retry(tried, chance, wish)
    assert pause is not None
    most = max(2 * ATTEMPT_DELAYS[tried], timedelta(hours=1)) if wish else ATTEMPT_DELAYS[tried]
    assert ATTEMPT_DELAYS[tried] * (1 - JITTER) - timedelta(microseconds=2) <= pause
    assert pause <= most * (1 + JITTER) + timedelta(microseconds=2)


@pytest.mark.parametrize(
    ("text", "wish"),
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
def test_retry_after(text, wish):
    assert read_retry_after(text, NOW) == wish


@given(st.text(max_size=60))
def test_any_retry_after_header_is_parsed_or_ignored(text):
    wish = read_retry_after(text, NOW)
    assert wish is None or wish >= timedelta()


def answer(status, body=b"", **headers):
    return OutboundResponse(status, headers, body, True, 0.25)


@pytest.mark.parametrize(
    ("outcome", "tried", "status", "pause"),
    [
        (answer(200), 1, "SUCCEEDED", None),
        (answer(204), 10, "SUCCEEDED", None),
        (answer(301), 1, "PENDING", 5),
        (answer(400), 1, "PENDING", 5),
        (answer(500), 2, "PENDING", 300),
        (answer(503, **{"retry-after": "600"}), 1, "PENDING", 600),
        (answer(429, **{"retry-after": "86400"}), 1, "PENDING", 3_600),
        (answer(429, **{"retry-after": "1"}), 4, "PENDING", 7_200),
        (answer(500), 9, "PENDING", 86_400),
        (answer(500), 10, "FAILED", None),
        (answer(410), 1, "FAILED", None),
        (OutboundFailed("timeout", "No answer.", 15.0), 3, "PENDING", 1_800),
        (OutboundFailed("dns", "No address.", 1.0), 10, "FAILED", None),
        (OutboundRefused("Not public."), 1, "PENDING", 5),
    ],
)
def test_the_result_of_an_attempt_decides_the_retry(outcome, tried, status, pause):
    verdict = attempt_result(outcome, tried, NOW, 0.5)
    assert verdict.status == status
    assert verdict.due_at == (None if pause is None else NOW + timedelta(seconds=pause))
    assert (verdict.error_message is None) == (status == "SUCCEEDED")
    assert verdict.gone == (getattr(outcome, "status", None) == 410)


@pytest.mark.parametrize(
    ("gone", "failures", "days", "given_up"),
    [
        (True, 1, 0, True),
        (False, 9, 30, False),
        (False, 10, 4.99, False),
        (False, 10, 5, True),
        (False, 5_000, 1, False),
    ],
)
def test_failing_subscriptions_are_deactivated(gone, failures, days, given_up):
    reason = deactivation_reason(
        gone=gone, failures=failures, failing_since=Moment.of(NOW - timedelta(days=days)), now=NOW
    )
    assert (reason is not None) is given_up


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
