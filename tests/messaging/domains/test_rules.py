"""Rules of domains: valid names, status transitions, check intervals and SPF records."""

from datetime import UTC, datetime, timedelta
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from postern.kernel.http.problems import Invalid
from postern.messaging.domains.model import NEXT_STATUS, DnsOutcome, Status
from postern.messaging.domains.rules import (
    RecordSettings,
    dns_outcome,
    next_check_in,
    parse_domain,
    spf_value,
)
from postern.protocols.mail.public_suffixes import registered_domain

NOW = datetime(2026, 5, 1, 12, tzinfo=UTC)
MINUTE, HOUR, DAY = timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)

VALID_NAMES = [
    ("example.com", "example.com"),
    (" Mail.Example.COM. ", "mail.example.com"),
    ("bücher.example", "xn--bcher-kva.example"),
    ("例え.テスト", "xn--r8jz45g.xn--zckzah"),
    ("a.co.uk", "a.co.uk"),
    ("mine.github.io", "mine.github.io"),
    ("example.test", "example.test"),
]
INVALID_NAMES = [
    "", ".", "com", "co.uk", "github.io", "localhost", "example..com", "-a.com", "a-.com", "a_b.com", "a b.com",
    "a@example.com", "https://example.com", "192.0.2.1", "[::1]", "example.com:25", "x" * 64 + ".com",
    ".".join(["a" * 60] * 5), "exa\u2028mple.com", "ex\x00ample.com", "例え..テスト", "\ud800.com", "*.example.com",
]  # fmt: skip


@pytest.mark.parametrize(("text", "name"), VALID_NAMES)
def test_names_are_normalised(text, name):
    assert parse_domain(text) == name
    assert parse_domain(name) == name


@pytest.mark.parametrize("text", INVALID_NAMES)
def test_invalid_domains_are_refused_with_the_path(text):
    with pytest.raises(Invalid) as raised:
        parse_domain(text)
    assert [fault.path for fault in raised.value.errors] == ["/domain"]


@given(st.text(max_size=80))
def test_any_text_is_a_domain_name_or_refused(text):
    try:
        name = parse_domain(text)
    except Invalid:
        return
    assert name.isascii()
    assert name == name.lower()


def test_registered_domain():
    assert registered_domain("a.b.example.co.uk") == "example.co.uk"
    assert registered_domain("news.example.test") == "news.example.test"


def test_every_status_has_a_transition_for_every_outcome():
    assert set(NEXT_STATUS) == {(status, outcome) for status in get_args(Status) for outcome in get_args(DnsOutcome)}


def test_the_status_transitions():
    changes = {
        (status, outcome, next_status)
        for (status, outcome), next_status in NEXT_STATUS.items()
        if next_status != status
    }
    assert changes == {
        ("PENDING", "SEEN", "VERIFIED"),
        ("PENDING", "MISSING_TOO_LONG", "FAILED"),
        ("VERIFIED", "MISSING_TOO_LONG", "DEGRADED"),
        ("DEGRADED", "SEEN", "VERIFIED"),
        ("DEGRADED", "MISSING_TOO_LONG", "FAILED"),
        ("FAILED", "SEEN", "VERIFIED"),
        ("FAILED", "CHECK_REQUESTED", "PENDING"),
    }


OUTCOMES = [
    # status, is published, watched for, failing for, outcome
    ("PENDING", None, 40 * DAY, None, "UNSURE"),
    ("VERIFIED", None, 40 * DAY, 40 * DAY, "UNSURE"),
    ("PENDING", True, 40 * DAY, None, "SEEN"),
    ("PENDING", False, 29 * DAY, None, "MISSING"),
    ("PENDING", False, 30 * DAY, None, "MISSING_TOO_LONG"),
    ("VERIFIED", False, 90 * DAY, timedelta(), "MISSING"),
    ("VERIFIED", False, 90 * DAY, 3 * DAY - MINUTE, "MISSING"),
    ("VERIFIED", False, 90 * DAY, 3 * DAY, "MISSING_TOO_LONG"),
    ("DEGRADED", False, 90 * DAY, 29 * DAY, "MISSING"),
    ("DEGRADED", False, 90 * DAY, 30 * DAY, "MISSING_TOO_LONG"),
    ("FAILED", False, 90 * DAY, 60 * DAY, "MISSING"),
]


@pytest.mark.parametrize(("status", "is_published", "watched_for", "failing_for", "outcome"), OUTCOMES)
def test_the_outcome_of_a_check(status, is_published, watched_for, failing_for, outcome):
    failing_since = None if failing_for is None else NOW - failing_for
    assert (
        dns_outcome(
            status, is_published=is_published, watched_since=NOW - watched_for, failing_since=failing_since, now=NOW
        )
        == outcome
    )


def test_a_pending_domain_is_checked_often_at_first():
    delays, now = [], NOW
    while (age := now - NOW) < 30 * DAY:
        delays.append(next_check_in("PENDING", watched_since=NOW, failing_since=None, now=now))
        now += delays[-1]
        assert age < 30 * DAY
    assert delays[:10] == [MINUTE] * 10
    assert delays[10:28] == [10 * MINUTE] * 18
    assert set(delays[28:]) == {HOUR}


def test_domains_with_another_status_are_checked_daily_hourly_or_never():
    assert next_check_in("VERIFIED", watched_since=NOW, failing_since=None, now=NOW) == DAY
    assert next_check_in("VERIFIED", watched_since=NOW, failing_since=NOW, now=NOW) == HOUR
    assert next_check_in("DEGRADED", watched_since=NOW, failing_since=NOW, now=NOW) == HOUR
    assert next_check_in("FAILED", watched_since=NOW, failing_since=NOW, now=NOW) is None


def test_the_spf_record_authorises_the_addresses():
    settings = RecordSettings(addresses=("192.0.2.1", "2001:db8::1"), relays=("smtp.example.net",))
    assert spf_value(settings) == "v=spf1 ip4:192.0.2.1 ip6:2001:db8::1 ~all"
    assert spf_value(RecordSettings()) == "v=spf1 a mx ~all"


@pytest.mark.parametrize(
    ("relays", "terms"),
    [
        (("smtp.example.net",), "a:smtp.example.net"),
        (("198.51.100.7",), "ip4:198.51.100.7"),
        (("2001:db8::7",), "ip6:2001:db8::7"),
        (("email-smtp.eu-west-1.amazonaws.com",), "include:amazonses.com"),
        (("smtp.sendgrid.net", "smtp.example.net"), "include:sendgrid.net a:smtp.example.net"),
        (("smtp.gmail.com", "smtp-relay.gmail.com"), "include:_spf.google.com"),
        (("127.0.0.1", "localhost"), "a mx"),
    ],
)
def test_the_spf_record_authorises_the_relays(relays, terms):
    """Mail through a relay needs the relay's SPF include or host.

    Regression test of N6 (tests/defects.md).
    """
    assert spf_value(RecordSettings(relays=relays)) == f"v=spf1 {terms} ~all"
