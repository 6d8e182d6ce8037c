"""A read replica: logs, statistics and exports are read from a hot standby that has every confirmed change."""

import asyncio
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import httpx
import psycopg
import pytest
from prometheus_client import REGISTRY

from postern.kernel.database import replica
from postern.kernel.database.migrations import migrate
from tests.peers.postgres_standby import Standby, postgres_with_standby
from tests.peers.whole_server import START_SECONDS, WholeServer

READS = {
    "logs": "/emails/logs",
    "export of logs": "/emails/logs/export",
    "statistics": "/analytics",
    "time series": "/analytics/time-series",
    "by domain": "/analytics/by-domain",
    "export of statistics": "/analytics/export",
    "contacts": "/contacts",
    "export of contacts": "/contacts/export",
    "export of customers": "/customers/export",
    "events": "/events",
}


@dataclass
class Site:
    """A server with a replica, and a client of one of its projects."""

    standby: Standby
    client: httpx.Client

    def read(self, path: str) -> tuple[httpx.Response, str]:
        """The response to a GET, and the database that answered: `replica` or `primary`."""
        before = {database: reads(database) for database in ("replica", "primary")}
        response = self.client.get(path)
        assert response.status_code == 200, response.text
        (database,) = [name for name, count in before.items() if reads(name) > count]
        return response, database


def reads(database: str) -> float:
    return REGISTRY.get_sample_value("postern_replica_reads_total", {"database": database}) or 0.0


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with postgres_with_standby() as standby, pytest.MonkeyPatch.context() as patch:
        # A machine under load may take longer than users would wait.
        for name in ("CATCH_UP", "REPLICA_TIMEOUT"):
            patch.setattr(replica, name, 100 * getattr(replica, name))
        migrate(standby.primary_url)
        folder: Path = tmp_path_factory.mktemp("server")
        server = WholeServer(folder, standby.primary_url, settings={"database_replica_url": standby.url})
        thread = threading.Thread(target=server.run, daemon=True)
        thread.start()
        try:
            server.wait()
            account = asyncio.run(server.account())
            base = f"{server.url}/projects/{account.project_id}"
            headers = {"authorization": f"Bearer {account.secret_key}"}
            with httpx.Client(base_url=base, headers=headers, timeout=START_SECONDS) as client:
                yield Site(standby, client)
        finally:
            server.stop()
            thread.join(START_SECONDS)
        assert server.failure is None


@pytest.fixture(autouse=True)
def no_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(replica, "REPLICA_PAUSE", 0 * replica.REPLICA_PAUSE)


@pytest.mark.parametrize("path", READS.values(), ids=READS)
def test_reads_come_from_the_replica(site: Site, path: str) -> None:
    assert site.read(path)[1] == "replica"


def test_what_was_confirmed_is_read(site: Site) -> None:
    """Each of many changes is in the list that is read right after it."""
    for number in range(20):
        email = f"reader{number}@example.com"
        created = site.client.post("/contacts", json={"email": email})
        assert created.status_code == 201, created.text
        response, database = site.read("/contacts")
        assert email in response.text
        assert database == "replica"


def test_a_replica_that_is_behind_is_not_read(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(replica, "CATCH_UP", replica.CATCH_UP_INTERVAL)
    site.standby.pause()
    try:
        assert site.client.post("/contacts", json={"email": "late@example.com"}).status_code == 201
        response, database = site.read("/contacts")
        assert "late@example.com" in response.text
        assert database == "primary"
    finally:
        site.standby.resume()
    monkeypatch.undo()
    eventually(lambda: site.read("/contacts")[1] == "replica")


def test_if_the_replica_ends_a_query_the_primary_answers(site: Site) -> None:
    """PostgreSQL ends queries of a standby that keep it from replaying changes, and all of them when it shuts down."""
    assert site.client.post("/contacts", json={"email": "kept@example.com"}).status_code == 201
    waiting = "from pg_stat_activity where wait_event_type = 'Lock' and query like '%contacts%'"
    with (
        psycopg.connect(site.standby.primary_url) as primary,
        psycopg.connect(site.standby.url, autocommit=True) as connection,
        ThreadPoolExecutor() as executor,
    ):
        primary.execute("lock table contacts in access exclusive mode")
        primary.execute("select pg_logical_emit_message(false, 'test', 'write what is before this to disk', true)")
        reading = executor.submit(site.client.get, "/contacts")
        eventually(lambda: connection.execute(f"select 1 {waiting}").fetchone() is not None)
        connection.execute(f"select pg_terminate_backend(pid) {waiting}")
        # The primary has the lock, too.
        primary.rollback()
        response = reading.result(START_SECONDS)
    assert response.status_code == 200, response.text
    assert "kept@example.com" in response.text


def test_without_the_replica_the_primary_is_read(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """The last test of this module: it ends the standby."""
    site.standby.stop()
    monkeypatch.setattr(replica, "REPLICA_TIMEOUT", replica.CATCH_UP_INTERVAL)
    for path in READS.values():
        assert site.read(path)[1] == "primary"


def eventually(condition: Callable[[], bool]) -> None:
    ends = time.monotonic() + START_SECONDS
    while not condition():
        assert time.monotonic() < ends
        time.sleep(0.02)
