"""The short form of `bench/chaos.py`: kill parts at random moments and hold the ledger to the promises."""

import pytest

from bench.chaos import run


@pytest.mark.chaos
def test_nothing_acknowledged_is_lost_and_copies_are_accounted_for():
    found = run(messages=1_000, posts=60, kills=5, seed=11)
    assert found["sends"] == 1_060
    assert found["duplicates"] <= found["ambiguous"]
    assert found["killed_api"] + found["killed_worker"] + found["killed_database"] == 5
