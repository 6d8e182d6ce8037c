"""The short form of `bench/chaos.py`: kill processes at random and compare the results with the confirmed requests."""

import pytest

from bench.chaos import run


@pytest.mark.chaos
def test_confirmed_messages_are_delivered_and_duplicates_are_recorded():
    counts = run(messages=1_000, posts=60, kills=5, seed=11)
    assert counts["sends"] == 1_060
    assert counts["duplicates"] <= counts["ambiguous"]
    assert counts["killed_api"] + counts["killed_worker"] + counts["killed_database"] == 5
