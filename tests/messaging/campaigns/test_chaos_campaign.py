"""A short form of `bench/chaos_campaign.py`: worker and database are killed while a campaign is sent."""

import pytest

from bench.chaos_campaign import run


@pytest.mark.chaos
def test_each_contact_gets_one_message_despite_crashes_and_counters_are_right():
    found = run(contacts=1_500, kills=3, restarts=1, seed=11)
    assert found["contacts"] == 1_500
    assert found["duplicates"] <= found["ambiguous"]
    assert (found["killed_worker"], found["restarted_database"]) == (3, 1)
