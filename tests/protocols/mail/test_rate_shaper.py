"""The rate shaper: backing off and recovering."""

import pytest

from postern.protocols.mail.transports.relay import (
    ACCEPTED_TO_RECOVER,
    DEFERRALS_TO_SLOW,
    FAILURES_TO_OPEN,
    LONGEST_PAUSE,
    SLOWEST_PER_SECOND,
    RateShaper,
    RelayServer,
)


def no_jitter() -> float:
    """The random number for which the jitter is zero."""
    return 0.5


def shaper(**limits) -> RateShaper:
    return RateShaper(RelayServer(host="relay.example", **limits), no_jitter)


# Signals (f: a connection failed, c: connected, t: an attempt is allowed, digits: seconds pass), and then whether the
# circuit breaker is open and whether it allows an attempt.
CIRCUIT = [
    ("", False, True),
    ("f", False, True),
    ("ff", False, True),
    ("fff", True, False),
    ("ffc", False, True),
    ("ffcff", False, True),
    ("ffcfff", True, False),
    ("fff1", False, True),  # The pause is over: one trial.
    ("fff1t", True, False),  # Only one attempt is allowed.
    ("fff1tc", False, True),
    ("fff1tf", True, False),
    ("fff1tf1", True, False),  # The second pause is longer.
    ("fff1tf2", False, True),
    ("fff1t2", False, True),  # A trial without a result does not prevent the next one.
]


@pytest.mark.parametrize(("signals", "is_open", "allows"), CIRCUIT)
def test_the_circuit_breaker(signals, is_open, allows):
    subject, now = shaper(), 1_000.0
    for signal in signals:
        if signal == "f":
            subject.failed(now)
        elif signal == "c":
            subject.connected()
        elif signal == "t":
            assert subject.allows_attempt(now)
        else:
            now += int(signal) * 1.0
    assert subject.circuit_open(now) is is_open
    assert subject.allows_attempt(now) is allows


def test_pauses_double_up_to_the_maximum():
    subject, now, pauses = shaper(), 0.0, []
    for _ in range(FAILURES_TO_OPEN + 20):
        subject.failed(now)
        pauses.append(subject.seconds_to_next_trial(now))
        now += subject.seconds_to_next_trial(now)
    open_pauses = pauses[FAILURES_TO_OPEN - 1 :]
    assert open_pauses[:5] == pytest.approx([1, 2, 4, 8, 16])
    assert open_pauses[-1] == pytest.approx(LONGEST_PAUSE)


def test_a_421_halves_the_rate_at_once_and_other_deferrals_only_in_a_row():
    subject = shaper(max_connections=8, per_second=100)
    subject.deferred(421, 10.0)
    assert (subject.connections, subject.per_second) == (4, 50)
    subject.deferred(421, 10.5)
    assert (subject.connections, subject.per_second) == (4, 50), (
        "messages that were already being sent do not count again"
    )
    for _ in range(DEFERRALS_TO_SLOW - 1):
        subject.deferred(451, 12.0)
    assert subject.connections == 4
    subject.accepted()
    for _ in range(DEFERRALS_TO_SLOW - 1):
        subject.deferred(450, 13.0)
    assert subject.connections == 4, "an accepted message resets the count of deferrals"
    subject.deferred(452, 13.0)
    assert (subject.connections, subject.per_second) == (2, 25)
    for _ in range(50):
        subject.deferred(550, 20.0)
    assert subject.connections == 2, "rejections do not slow down"


@pytest.mark.parametrize("configured", [None, 1_000.0, 2.0])
def test_the_rate_recovers_after_many_deferrals(configured):
    subject, now = shaper(max_connections=10, per_second=configured), 100.0
    for _ in range(300):
        subject.acquire(now)
    for _ in range(100):
        now += 2
        subject.deferred(421, now)
    assert subject.connections == 1
    assert subject.per_second == min(SLOWEST_PER_SECOND, configured or SLOWEST_PER_SECOND)
    for _ in range(ACCEPTED_TO_RECOVER * 40):
        now += max(subject.delay(now), 0.001)
        subject.acquire(now)
        subject.accepted()
    assert subject.connections == 10
    assert subject.per_second == configured or (configured is None and subject.per_second > 100)


def test_messages_are_evenly_spaced():
    subject, now = shaper(per_second=100), 50.0
    for _ in range(1_000):
        now += subject.delay(now)
        subject.acquire(now)
    assert now - 50 == pytest.approx(10, abs=0.2)
