"""The short form of `bench/chaos_cluster.py`: two APIs and three workers on one PostgreSQL, killed at random."""

import pytest

from bench.chaos_cluster import run
from tests.peers.citus import needs_citus
from tests.peers.patroni import needs_patroni
from tests.peers.pgbouncer import needs_pgbouncer

CONTACTS = 300


def assert_nothing_lost(counts: dict[str, int]) -> None:
    assert counts["contacts"] == CONTACTS
    assert counts["copies"] <= counts["ambiguous"]
    assert counts["sends"] >= 1
    assert counts["sign_ins"] >= 1


@pytest.mark.chaos
def test_randomly_killed_apis_and_workers_lose_nothing():
    counts = run(contacts=CONTACTS, kills=6, restarts=0, seed=5, patient=False)
    assert_nothing_lost(counts)
    assert counts["killed_api"] + counts["killed_worker"] == 6


@pytest.mark.chaos
@needs_pgbouncer
def test_a_killed_pooler_loses_nothing():
    counts = run(contacts=CONTACTS, kills=1, restarts=0, pooler=2, seed=6, patient=False)
    assert_nothing_lost(counts)
    assert counts["killed_pooler"] == 2


@pytest.mark.chaos
@needs_patroni
def test_a_fail_over_loses_nothing():
    counts = run(contacts=CONTACTS, kills=1, restarts=0, failover=1, seed=8, patient=False)
    assert_nothing_lost(counts)
    assert counts["logs_read"] >= 1
    assert counts["killed_primary"] == 1


@pytest.mark.chaos
@needs_citus[0]
@needs_citus[1]
def test_a_killed_server_of_a_citus_loses_nothing():
    counts = run(contacts=CONTACTS, kills=1, restarts=0, nodes=2, seed=9, patient=False)
    assert_nothing_lost(counts)
    assert counts["killed_node"] == 2
