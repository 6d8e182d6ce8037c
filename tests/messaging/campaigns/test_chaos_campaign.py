"""A short form of `bench/chaos_campaign.py`: worker and database are killed while a campaign is sent."""

import pytest

from bench.chaos_campaign import run


@pytest.mark.chaos
def test_each_contact_gets_one_message_despite_crashes_and_counters_are_right():
    report = run(contacts=1_500, kills=3, restarts=1, seed=11)
    assert report["contacts"] == 1_500
    assert report["duplicates"] <= report["ambiguous"]
    assert (report["killed_worker"], report["restarted_database"]) == (3, 1)
