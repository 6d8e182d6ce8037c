"""What a worker knows about due rows, and when it searches."""

from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest

from postern.kernel.due_notifications import IDS_PER_NOTIFICATION, payloads, read_payload
from postern.kernel.due_schedule import (
    EMPTY_INTERVALS,
    MAX_INTERVAL_SECONDS,
    MAX_LANES_KNOWN,
    MAX_NAMED,
    Lane,
    LaneSchedule,
)

NOW = datetime(2026, 7, 1, tzinfo=UTC)
LANES = [Lane(UUID(int=number)) for number in range(10)]


def after(seconds: float) -> datetime:
    return NOW + timedelta(seconds=seconds)


def known(*lanes: tuple[Lane, float], limit: int = 100, duration: float = 0.001) -> LaneSchedule:
    """A schedule after a search at second 0 with this result."""
    schedule = LaneSchedule(1.0)
    schedule.begin_search()
    schedule.replace([(lane, after(due)) for lane, due in lanes], limit=limit, seconds=0, duration=duration)
    return schedule


def test_nothing_is_known_at_first():
    schedule = LaneSchedule(1.0)
    assert schedule.must_search(NOW, 5.0)
    assert schedule.due(NOW) == []


def test_lanes_are_due_in_the_order_of_their_waiting():
    schedule = known((LANES[2], -3), (LANES[1], -2), (LANES[3], 4))
    assert schedule.due(NOW) == [LANES[2], LANES[1]]
    assert schedule.due(after(4)) == [LANES[2], LANES[1], LANES[3]]
    schedule.take(LANES[2])
    assert schedule.due(NOW) == [LANES[1]]


@pytest.mark.parametrize(("duration", "interval"), [(0.001, 1.0), (0.3, 15.0), (20.0, MAX_INTERVAL_SECONDS)])
def test_searches_without_a_reason_take_a_fiftieth_of_the_time(duration, interval):
    schedule = known((LANES[0], 3_600), duration=duration)
    assert not schedule.must_search(NOW, interval - 0.01)
    assert schedule.must_search(NOW, interval)
    assert schedule.seconds_until_next(NOW, 0.0) == interval


def test_an_empty_table_is_searched_less_often_until_a_notification():
    schedule = known()
    assert not schedule.must_search(NOW, EMPTY_INTERVALS - 0.01)
    assert schedule.must_search(NOW, EMPTY_INTERVALS)
    schedule.notify([LANES[1].partition])
    schedule.update(schedule.take_named(), [(LANES[1], after(2))], limit=100)
    assert schedule.seconds_until_next(NOW, 0.0) == 2.0, "what a notification names is known at once"
    schedule.notify(None)
    assert schedule.must_search(NOW, 0.5)


def test_a_named_partition_causes_no_search():
    schedule = known((LANES[0], -1), (LANES[1], 60), duration=0.3)
    schedule.notify([LANES[1].partition, LANES[2].partition])
    assert not schedule.must_search(NOW, 1.0)
    assert schedule.take_named() == [LANES[1].partition, LANES[2].partition]
    assert schedule.take_named() == []
    schedule.update([LANES[1].partition, LANES[2].partition], [(LANES[2], after(0))], limit=100)
    assert schedule.due(after(3_600)) == [LANES[0], LANES[2]]


def test_all_lanes_of_a_named_partition_are_replaced():
    partition = UUID(int=1)
    first, second = Lane(partition, UUID(int=1)), Lane(partition, UUID(int=2))
    schedule = known((first, -2), (LANES[2], -1))
    schedule.update([partition], [(second, NOW)], limit=100)
    assert schedule.due(NOW) == [LANES[2], second]


def test_searches_for_unnamed_notifications_take_a_tenth_of_the_time():
    schedule = known(duration=0.3)
    schedule.notify(None)
    assert not schedule.must_search(NOW, 2.9)
    assert schedule.seconds_until_next(NOW, 2.0) == pytest.approx(1.0)
    assert schedule.must_search(NOW, 3.0)


def test_a_notification_during_a_search_is_kept():
    schedule = LaneSchedule(1.0)
    schedule.begin_search()
    schedule.notify(None)
    schedule.notify([LANES[1].partition])
    schedule.replace([], limit=100, seconds=0, duration=0.001)
    assert schedule.must_search(NOW, 0.5)
    assert schedule.take_named() == [LANES[1].partition]


def test_too_many_named_partitions_are_searched_together():
    schedule = known()
    schedule.notify(UUID(int=number) for number in range(MAX_NAMED + 1))
    assert schedule.take_named() == []
    assert schedule.must_search(NOW, 0.5)


def test_an_incomplete_search_is_repeated_when_unknown_lanes_can_be_due():
    schedule = known((LANES[0], -1), (LANES[1], 5), limit=2, duration=0.3)
    assert not schedule.must_search(after(4), 0.0)
    assert schedule.must_search(after(5), 0.0)
    assert schedule.seconds_until_next(NOW, 0.0) == 5.0


def test_an_incomplete_look_is_followed_by_a_search():
    schedule = known()
    schedule.update([lane.partition for lane in LANES], [(LANES[0], NOW), (LANES[1], after(2))], limit=2)
    assert not schedule.must_search(after(1), 0.0)
    assert schedule.must_search(after(2), 0.0)


def test_a_bounded_number_of_lanes_is_remembered():
    schedule = known()
    for number in range(2 * MAX_LANES_KNOWN):
        lane = Lane(UUID(int=number))
        schedule.update([lane.partition], [(lane, after(number))], limit=100)
    due = schedule.due(after(1e6))
    assert MAX_LANES_KNOWN // 2 <= len(due) <= MAX_LANES_KNOWN
    assert due[0] == Lane(UUID(int=0))
    assert schedule.must_search(after(MAX_LANES_KNOWN // 2), 0.0)


def test_notifications_name_partitions_in_less_than_8000_octets():
    ids = {UUID(int=number << 64) for number in range(2 * IDS_PER_NOTIFICATION + 1)}
    sent = payloads("sends", ids)
    assert max(map(len, sent)) < 8_000
    assert [read_payload(payload)[0] for payload in sent] == ["sends"] * 3
    assert set[UUID]().union(*(read_payload(payload)[1] or () for payload in sent)) == ids


@pytest.mark.parametrize(
    ("payload", "read"), [("sends", ("sends", None)), ("", ("", None)), ("sends x", ("sends", None))]
)
def test_other_notifications_name_no_partition(payload, read):
    """A process of the previous release sends the name of the table alone."""
    assert read_payload(payload) == read
