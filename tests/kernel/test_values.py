"""Ids sort by the time of their creation."""

import time

import pytest

from postern.kernel import values
from postern.kernel.values import as_id, new_id


@pytest.mark.parametrize("step_nanos", [0, -1_000_000, 100, 1_000])
def test_later_ids_are_larger_even_if_the_clock_goes_back(monkeypatch, step_nanos):
    moments = iter(range(2_000))
    begin = time.time_ns() + 3_600_000_000_000
    with monkeypatch.context() as patch:
        patch.setattr(values, "_latest", 0)
        patch.setattr(time, "time_ns", lambda: begin + next(moments) * step_nanos)
        made = [new_id() for _ in range(2_000)]
    assert made == sorted(set(made))
    assert {(each.version, each.variant) for each in made} == {(7, "specified in RFC 4122")}
    assert all(abs((each.int >> 80) - begin // 1_000_000) <= 2 for each in made)
    assert as_id(str(made[0])) == made[0]
