"""A read replica: logs, statistics and exports are read from a hot standby that has every confirmed change."""

import asyncio
import os
import signal
import time
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
import psycopg
import pytest
from prometheus_client import REGISTRY

from postern.app import OPERATIONS
from postern.kernel.database import replica
from postern.kernel.database.migrations import migrate
from postern.kernel.database.replica import Replica, _position, _replayed
from postern.kernel.database.statements import Database, open_database
from tests.peers.postgres_standby import Standby, postgres_with_standby
from tests.peers.whole_server import START_SECONDS, WholeServer

PROJECT = "/projects/{projectId}"
PATHS = [
    operation.wire_path.removeprefix(PROJECT)
    for operation in OPERATIONS
    if operation.reads_replica and operation.wire_path.startswith(PROJECT)
]


@dataclass
class Site:
    """A server with a replica, and a client of one of its projects."""

    standby: Standby
    client: httpx.Client
    campaign: str

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
        settings = {"database_replica_url": standby.url}
        with WholeServer(folder, standby.primary_url, settings=settings).running() as server:
            account = asyncio.run(server.account())
            base = f"{server.url}/projects/{account.project_id}"
            headers = {"authorization": f"Bearer {account.secret_key}"}
            with httpx.Client(base_url=base, headers=headers, timeout=START_SECONDS) as client:
                created = client.post("/campaigns", json={"name": "News", "subject": "News"})
                assert created.status_code == 201, created.text
                yield Site(standby, client, created.json()["id"])


@pytest.fixture(autouse=True)
def no_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(replica, "REPLICA_PAUSE", 0 * replica.REPLICA_PAUSE)


@pytest.mark.parametrize("path", PATHS)
def test_reads_come_from_the_replica(site: Site, path: str) -> None:
    assert site.read(path.format(id=site.campaign))[1] == "replica"


def test_what_reads_much_may_be_read_from_the_replica() -> None:
    """All exports, and the largest lists. Each of these operations is tested above."""
    exports = [operation for operation in OPERATIONS if operation.media_types == ("text/csv",)]
    assert len(exports) > 5
    assert {operation.path for operation in exports if not operation.reads_replica} == set()
    assert {"/emails/logs", "/contacts", "/events", "/analytics"} <= {*PATHS}


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


@asynccontextmanager
async def replica_of(primary_url: str, replica_url: str) -> AsyncIterator[tuple[Replica, Database]]:
    async with open_database(primary_url) as primary, open_database(replica_url, is_replica=True) as db:
        yield Replica(db, primary), primary


async def test_a_replica_that_does_not_answer_is_not_waited_for(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its host is gone: connections stay open, and nothing comes back."""
    async with replica_of(site.standby.primary_url, site.standby.url) as (stopped, primary):
        while await stopped.database() is primary:
            await asyncio.sleep(0.01)
        async with stopped._db.connection() as connection:
            pid = connection.info.backend_pid
        os.kill(pid, signal.SIGSTOP)
        try:
            monkeypatch.setattr(replica, "REPLICA_TIMEOUT", replica.CATCH_UP_INTERVAL)
            assert await stopped.database() is primary
            # The statement that was cancelled waits for the server, and the request does not.
            assert stopped._questions
        finally:
            os.kill(pid, signal.SIGCONT)


async def test_only_one_request_asks_a_replica_that_was_away(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    async with replica_of(site.standby.primary_url, site.standby.url) as (paused, primary):
        paused.pause("for this test")
        paused._paused_until = 0.0
        assert await paused.database() is not primary
        paused.pause("for this test")
        paused._paused_until = 0.0
        answers = await asyncio.gather(*(paused.database() for _ in range(10)))
        assert sum(answer is not primary for answer in answers) == 1


@pytest.mark.parametrize(
    ("other", "reason"),
    [
        ("another database", "of another database"),
        ("a missing database", "does not exist"),
        ("the primary", "not a hot standby"),
    ],
)
async def test_what_is_no_replica_of_the_database_is_not_read(
    site: Site, monkeypatch: pytest.MonkeyPatch, other: str, reason: str
) -> None:
    reasons: list[str] = []
    monkeypatch.setattr(Replica, "pause", lambda self, reason: reasons.append(reason))
    url = {
        "another database": site.standby.url.replace("/mail?", "/postgres?"),
        "a missing database": site.standby.url.replace("/mail?", "/missing?"),
        "the primary": site.standby.primary_url,
    }[other]
    async with replica_of(site.standby.primary_url, url) as (wrong, primary):
        assert await wrong.database() is primary
    assert reason in reasons[0] or "couldn't get a connection" in reasons[0]


async def test_after_a_fail_over_only_what_follows_the_new_primary_is_read() -> None:
    """The standby is promoted. Another one that stayed with the old primary has another history."""
    with postgres_with_standby() as standby:
        with psycopg.connect(standby.url, autocommit=True) as connection:
            connection.execute("select pg_promote()")
            connection.execute("checkpoint")
        async with open_database(standby.url) as new, open_database(standby.primary_url) as old:
            assert (await _position(new)).history != (await _position(old)).history
            # The timeline of the write-ahead log and that of the control file are compared.
            assert (await _replayed(new, "0/0"))[0] == (await _position(new)).history


async def test_without_the_replica_the_primary_is_read() -> None:
    with postgres_with_standby() as standby:
        async with replica_of(standby.primary_url, standby.url) as (stopped, primary):
            while await stopped.database() is primary:
                await asyncio.sleep(0.01)
            standby.stop()
            assert await stopped.database() is primary


def eventually(condition: Callable[[], bool]) -> None:
    ends = time.monotonic() + START_SECONDS
    while not condition():
        assert time.monotonic() < ends
        time.sleep(0.02)
