"""After a fail-over, processes use the server that accepts writes, and give up connections to any other."""

import asyncio
import socket
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import httpx
import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict

from postern.kernel import due
from postern.kernel.database.connections import NotPrimary, connect, connection_settings
from postern.kernel.database.migrations import migrate
from postern.kernel.database.replica import Replica
from postern.kernel.database.statements import Database, ReconnectAttempt, open_database
from postern.kernel.due import Worker
from postern.kernel.values import Clock, system_clock
from tests.kernel.test_replica import eventually, replica_of
from tests.peers.postgres_server import postgres_server
from tests.peers.postgres_standby import Standby, postgres_with_standby
from tests.peers.whole_server import START_SECONDS, WholeServer


@pytest.fixture(scope="module")
def pair() -> Iterator[Standby]:
    with postgres_with_standby() as standby:
        yield standby


def both(standby: Standby) -> str:
    """A URL with the standby as its first host and the primary as its second."""
    folders = (conninfo_to_dict(url)["host"] for url in (standby.url, standby.primary_url))
    return f"postgresql://operator@/mail?host={','.join(map(str, folders))}"


async def is_standby(db: Database) -> bool:
    async with db.connection() as connection:
        row = await (await connection.execute("select pg_is_in_recovery()")).fetchone()
    assert row
    return row[0]


async def test_of_several_hosts_the_primary_is_connected_to(pair: Standby) -> None:
    async with open_database(both(pair)) as db:
        assert not await is_standby(db)
    with connect(both(pair)) as connection:
        assert connection.execute("select pg_is_in_recovery()").fetchone() == (False,)


async def test_a_standby_is_not_connected_to(pair: Standby) -> None:
    with pytest.raises(psycopg.OperationalError, match="read-only"):
        connect(pair.url)
    # The URL decides.
    with connect(f"{pair.url}&target_session_attrs=any") as connection:
        assert connection.execute("select 1").fetchone() == (1,)


async def test_a_connection_that_refuses_to_write_is_discarded(pair: Standby) -> None:
    async with open_database(f"{pair.url}&target_session_attrs=any", size=1) as db:

        async def process() -> int:
            async with db.connection() as connection:
                return connection.info.backend_pid

        before = await process()
        assert await process() == before
        with pytest.raises(NotPrimary):
            async with db.transaction() as tx, tx.connection() as connection:
                await connection.execute("create table written (id int)")
        assert await process() != before


async def test_a_worker_goes_on_if_the_server_is_a_standby(pair: Standby, monkeypatch: pytest.MonkeyPatch) -> None:
    """A standby refuses to listen for notifications."""
    listen, attempts = due.connect_async, asyncio.Semaphore(0)

    async def counted(url: str, *, name: str | None) -> psycopg.AsyncConnection:
        attempts.release()
        return await listen(url, name=name)

    monkeypatch.setattr(due, "connect_async", counted)
    monkeypatch.setattr(due, "LISTEN_AGAIN_SECONDS", 0.01)
    async with open_database(f"{pair.url}&target_session_attrs=any", size=1) as db:
        listening = asyncio.create_task(Worker(Context(db, system_clock), [])._listen())
        twice = asyncio.gather(*(attempts.acquire() for _ in range(2)))
        await asyncio.wait([twice, listening], return_when=asyncio.FIRST_COMPLETED)
        assert not listening.done()
        listening.cancel()


@dataclass
class Context:
    """The resources that a worker needs."""

    db: Database
    clock: Clock


def test_the_url_decides_about_its_parameters() -> None:
    url = "postgresql://db/postern?keepalives_idle=7&tcp_user_timeout=9"
    assert "target_session_attrs" in connection_settings(url)
    assert not {"keepalives_idle", "tcp_user_timeout"} & {*connection_settings(url)}
    assert "target_session_attrs" not in connection_settings(url, is_replica=True)
    assert "target_session_attrs" not in connection_settings(url, is_pooler=True)


async def test_a_silent_server_ends_its_connections() -> None:
    """Its machine is gone: what the operating system does then is set on the socket."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"postgresql://db@127.0.0.1:{silent.getsockname()[1]}/mail"
        pgconn = psycopg.pq.PGconn.connect_start(
            psycopg.conninfo.make_conninfo(url, **connection_settings(url)).encode()
        )
        with socket.socket(fileno=pgconn.socket) as connection:
            options = (socket.TCP_USER_TIMEOUT, socket.TCP_KEEPIDLE, socket.TCP_KEEPINTVL, socket.TCP_KEEPCNT)
            values = [connection.getsockopt(socket.IPPROTO_TCP, option) for option in options]
            connection.detach()
        pgconn.finish()
    assert values == [15_000, 30, 5, 3]


def test_the_pool_tries_each_second() -> None:
    attempt = ReconnectAttempt(timeout=30)
    for now in range(20):
        attempt.update_delay(now)
        assert 0.9 <= attempt.delay <= 1.1


async def test_a_promoted_replica_is_replaced_by_the_one_that_follows_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """The URL names both servers; whichever is a standby is read."""
    with postgres_with_standby() as standby:
        url = f"{both(standby)}&target_session_attrs=standby"
        async with replica_of(standby.primary_url, url) as (replica, primary):
            while await replica.database() is primary:
                await asyncio.sleep(0.01)
            with psycopg.connect(standby.url, autocommit=True) as connection:
                connection.execute("select pg_promote()")
            async with open_database(standby.url) as promoted:
                replica = Replica(replica._db, promoted)
                reasons: list[str] = []
                monkeypatch.setattr(replica, "pause", reasons.append)
                assert await replica.database() is promoted
                # Its connection is given up: the next one looks for a standby, and there is none.
                assert reasons[0] == "not a hot standby"
                assert await replica.database() is promoted
                assert reasons[1] != "not a hot standby"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, WholeServer, httpx.Client]]:
    """The URL of a database, a server on it, and a client of one of its projects."""
    with postgres_server("18") as url:
        migrate(url)
        folder: Path = tmp_path_factory.mktemp("server")
        with WholeServer(folder, url).running() as server:
            account = asyncio.run(server.account())
            base = f"{server.url}/projects/{account.project_id}"
            headers = {"authorization": f"Bearer {account.secret_key}"}
            with httpx.Client(base_url=base, headers=headers, timeout=START_SECONDS) as client:
                yield url, server, client


def test_while_the_database_refuses_to_write_requests_are_to_be_repeated(
    site: tuple[str, WholeServer, httpx.Client],
) -> None:
    """A server that became a standby, behind a proxy that has not noticed: 503, and afterwards all goes on."""
    url, server, client = site
    mail = {"from": "Acme <a@acme.example>", "to": ["b@example.com"], "subject": "Hello", "text": "Hello"}
    assert client.post("/emails", json=mail).status_code == 201
    with psycopg.connect(url, autocommit=True) as connection:

        def refuse(value: str) -> None:
            connection.execute(f"alter system set default_transaction_read_only = {value}")
            connection.execute("select pg_reload_conf()")
            # Also those on which workers listen.
            connection.execute("select pg_terminate_backend(pid) from pg_stat_activity where query ~ '^listen'")

        refuse("on")
        # The open connections notice the change a little later, each for itself.
        responses: list[httpx.Response] = []
        eventually(lambda: responses.append(client.post("/emails", json=mail)) or responses[-1].status_code != 201)
        assert (responses[-1].status_code, responses[-1].json()["code"]) == (503, "database_away")
        assert int(responses[-1].headers["retry-after"]) > 0
        eventually(lambda: not is_ready(server))
        connection.execute("set default_transaction_read_only = off")
        refuse("off")
        eventually(lambda: client.post("/emails", json=mail).status_code == 201)
        eventually(
            lambda: not {log["status"] for log in client.get("/emails/logs").json()["data"]} & {"QUEUED", "SENDING"}
        )
        # The worker listens again.
        eventually(
            lambda: connection.execute("select 1 from pg_stat_activity where query ~ '^listen'").fetchone() is not None
        )


def is_ready(server: WholeServer) -> bool:
    """Whether the database is ready for requests, as `/readyz` says."""
    response = httpx.get(f"{server.url}/readyz", timeout=START_SECONDS)
    is_ok: bool = response.json()["parts"]["database"]["ok"]
    assert is_ok == (response.status_code == 200)
    return is_ok
