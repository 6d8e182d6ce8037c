"""Ids sort by their creation time; times are cut to milliseconds."""

import time
from datetime import UTC

import pytest

from postern.kernel import values
from postern.kernel.values import Moment, Record, as_id, new_id, to_json, with_milliseconds


@pytest.mark.parametrize("step_nanos", [0, -1_000_000, 100, 1_000])
def test_later_ids_are_larger_even_if_the_clock_goes_back(monkeypatch, step_nanos):
    ticks = iter(range(2_000))
    start_nanos = time.time_ns() + 3_600_000_000_000
    with monkeypatch.context() as patch:
        patch.setattr(values, "_latest", 0)
        patch.setattr(time, "time_ns", lambda: start_nanos + next(ticks) * step_nanos)
        ids = [new_id() for _ in range(2_000)]
    assert ids == sorted(set(ids))
    assert {(uuid.version, uuid.variant) for uuid in ids} == {(7, "specified in RFC 4122")}
    assert all(abs((uuid.int >> 80) - start_nanos // 1_000_000) <= 2 for uuid in ids)
    assert as_id(str(ids[0])) == ids[0]


def test_times_of_a_row_are_cut_as_json_writes_them():
    moment = Moment(2026, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC)
    row = with_milliseconds(Timed(at=moment, until=None, name="x"))
    assert (type(row.at), row.at.microsecond, row.until, row.name) == (Moment, 999_000, None, "x")
    assert to_json(row.at) == to_json(moment)


class Timed(Record):
    at: Moment
    until: Moment | None
    name: str
