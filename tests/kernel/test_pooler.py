"""A connection pooler between the processes and PostgreSQL: PgBouncer in transaction mode, which gives each transaction
one of a few connections of the server."""

import asyncio
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx
import psycopg
import pytest

from postern.kernel import due
from postern.kernel.database.statements import Database, open_database
from tests.peers.pgbouncer import needs_pgbouncer, pgbouncer
from tests.peers.whole_server import WholeServer, own_database, whole_server
from tests.test_boot import WAIT_SECONDS, command

pytestmark = needs_pgbouncer


@contextmanager
def pooled_server(folder: Path) -> Iterator[tuple[WholeServer, httpx.Client]]:
    """A server behind a pooler, with a client of one of its projects."""
    with whole_server(folder, pooled=True, lease=timedelta(seconds=2)) as server:
        account = asyncio.run(server.account())
        headers = {"authorization": f"Bearer {account.secret_key}"}
        base = f"{server.url}/projects/{account.project_id}"
        with httpx.Client(base_url=base, headers=headers, timeout=WAIT_SECONDS) as client:
            yield server, client


def mail(name: str) -> dict[str, object]:
    return {"from": "Acme <hello@acme.example>", "to": [f"{name}@example.com"], "subject": "Hello", "text": "Hello"}


def status_of(client: httpx.Client, response: httpx.Response) -> str:
    """The status of the sent mail as soon as it is no longer queued."""
    assert response.status_code == 201, response.text
    ends = time.monotonic() + WAIT_SECONDS
    while time.monotonic() < ends:
        status = client.get(f"/emails/logs/{response.json()['id']}").json()["status"]
        if status not in ("QUEUED", "SENDING"):
            return status
        time.sleep(0.02)
    raise AssertionError("The mail is still queued.")


async def values(db: Database, query: str) -> list[tuple[object, ...]]:
    async with db.connection() as connection:
        return await (await connection.execute(query.encode())).fetchall()


async def test_more_transactions_run_than_the_pooler_has_connections():
    with own_database() as url, pgbouncer(url, size=3) as pooler:
        async with open_database(url, pooler_url=pooler.url, size=20) as db:
            query = "select pg_backend_pid() from pg_sleep(0.01)"
            pids = [row[0][0] for row in await asyncio.gather(*(values(db, query) for _ in range(60)))]
            assert 1 < len(set(pids)) <= 3
            # Of the connections that the statements ran on, none has prepared any.
            prepared = await asyncio.gather(
                *(values(db, "select count(*) from pg_prepared_statements, pg_sleep(0.01)") for _ in range(20))
            )
            assert all(rows == [(0,)] for rows in prepared)


async def test_times_are_those_of_utc_whatever_the_time_zone_of_the_server():
    with own_database() as url:
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute(
                "do $$ begin execute format('alter database %I set timezone to %L', "
                "current_database(), 'America/New_York'); end $$"
            )
        with pgbouncer(url, size=2) as pooler:
            with psycopg.connect(pooler.url) as other:
                assert other.execute("show timezone").fetchone() == ("America/New_York",)
            async with open_database(url, pooler_url=pooler.url, size=8) as db:
                query = "select current_setting('timezone'), date_trunc('day', timestamptz '2026-07-01T02:00:00Z')"
                for rows in await asyncio.gather(*(values(db, f"{query}, pg_sleep(0.01)") for _ in range(20))):
                    assert rows[0][:2] == ("UTC", datetime(2026, 7, 1, tzinfo=UTC))
            # Those connections of the server are given to other clients with the time zone that these expect.
            with psycopg.connect(pooler.url) as other:
                assert other.execute("show timezone").fetchone() == ("America/New_York",)


def test_workers_are_notified_of_due_mail(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """A worker listens on a connection of its own, since a pooled one would not get notifications."""
    monkeypatch.setattr(due, "POLL", timedelta(hours=1))
    with pooled_server(tmp_path) as (_, client):
        sent = client.post("/emails", json=mail("ada"), headers={"prefer": "wait=0"})
        assert status_of(client, sent) == "DELIVERED"


def test_a_pooler_that_was_away_is_used_again(tmp_path: Path):
    """Requests fail with 503 while it is away; what was confirmed before is sent after it."""
    with pooled_server(tmp_path) as (server, client):
        assert server.pooler
        before = client.post("/emails", json=mail("grace"), headers={"prefer": "wait=0"})
        server.pooler.kill()
        ends = time.monotonic() + WAIT_SECONDS
        while (refused := client.post("/emails", json=mail("nobody"))).status_code != 503:
            assert refused.status_code == 201, refused.text
            assert time.monotonic() < ends
        assert refused.json()["code"] == "database_away"
        assert int(refused.headers["retry-after"]) > 0
        assert httpx.get(f"{server.url}/readyz", timeout=WAIT_SECONDS).status_code == 503
        server.pooler.start()
        ends = time.monotonic() + WAIT_SECONDS
        while (after := client.post("/emails", json=mail("edsger"))).status_code == 503:
            assert time.monotonic() < ends
            time.sleep(0.1)
        assert status_of(client, after) == "DELIVERED"
        assert status_of(client, before) == "DELIVERED"
        while httpx.get(f"{server.url}/readyz", timeout=WAIT_SECONDS).status_code != 200:
            assert time.monotonic() < ends
            time.sleep(0.1)


@pytest.mark.parametrize("part", ["api", "worker"])
def test_a_pooler_in_front_of_another_database_is_refused(tmp_path: Path, part):
    with own_database() as url, own_database() as other, pgbouncer(other) as pooler:
        refused = command(tmp_path, part, DATABASE_URL=url, DATABASE_POOLER_URL=pooler.url)
    assert refused.returncode == 78
    assert refused.stderr.strip() == "postern: DATABASE_POOLER_URL connects to another database than DATABASE_URL."
