"""The short form of `bench/chaos_cluster.py`: two APIs and three workers on one PostgreSQL, killed at random."""

import pytest

from bench.chaos_cluster import run


@pytest.mark.chaos
def test_randomly_killed_apis_and_workers_lose_nothing():
    found = run(contacts=300, kills=6, restarts=0, seed=5, patient=False)
    assert found["contacts"] == 300
    assert found["copies"] <= found["ambiguous"]
    assert found["sends"] >= 1
    assert found["sign_ins"] >= 1
    assert found["killed_api"] + found["killed_worker"] == 6
