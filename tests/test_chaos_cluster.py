"""The short form of `bench/chaos_cluster.py`: two APIs and three workers on one PostgreSQL, killed at random."""

import pytest

from bench.chaos_cluster import run


@pytest.mark.chaos
def test_two_apis_and_three_workers_lose_nothing_when_killed_at_random():
    found = run(contacts=300, kills=6, restarts=0, seed=5, patient=False)
    assert found["contacts"] == 300
    assert found["copies"] <= found["ambiguous"]
    assert found["sends"] >= 1
    assert found["sign_ins"] >= 1
    assert found["killed_api"] + found["killed_worker"] == 6
