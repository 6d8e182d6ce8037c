"""The short form of `bench/chaos.py`: kill processes at random and compare the results with the confirmed requests."""

import pytest

from bench.chaos import run


@pytest.mark.chaos
def test_confirmed_messages_are_delivered_and_duplicates_are_recorded():
    found = run(messages=1_000, posts=60, kills=5, seed=11)
    assert found["sends"] == 1_060
    assert found["duplicates"] <= found["ambiguous"]
    assert found["killed_api"] + found["killed_worker"] + found["killed_database"] == 5
