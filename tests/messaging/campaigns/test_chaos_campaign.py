"""The short form of `bench/chaos_campaign.py`: kill the worker and the database on the way, and recount."""

import pytest

from bench.chaos_campaign import run


@pytest.mark.chaos
def test_everybody_gets_it_whatever_is_killed_and_the_counters_equal_a_recount():
    found = run(contacts=1_500, kills=3, restarts=1, seed=11)
    assert found["contacts"] == 1_500
    assert found["duplicates"] <= found["ambiguous"]
    assert (found["killed_worker"], found["restarted_database"]) == (3, 1)
