"""The SMTP process is killed or stopped while it receives a message: nothing is lost, and nothing is sent twice."""

import asyncio
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from smtplib import SMTP, SMTPServerDisconnected

import psycopg
import pytest

from postern.cli.bootstrap import create_account_with_project
from postern.kernel.config import Settings
from tests.messaging.smtp_submission.conftest import CLIENT_TIMEOUT_SECONDS, message, sent_id
from tests.peers.ports import listening_socket
from tests.peers.whole_server import own_database

CONTENT = message(Idempotency_Key="order-1").as_bytes(policy=message().policy.clone(linesep="\r\n"))


@contextmanager
def smtp_process(folder: Path, url: str, listener: socket.socket) -> Iterator[subprocess.Popen[bytes]]:
    """An SMTP process as `postern serve` starts it."""
    command = [sys.executable, "-m", "postern.cli.child", "smtp", f"submission={listener.fileno()}"]
    environment = {**os.environ, "POSTERN_DATA": str(folder), "POSTERN_DRAIN": "30"}
    process = subprocess.Popen(command, stdin=subprocess.PIPE, env=environment, pass_fds=[listener.fileno()])
    assert process.stdin
    process.stdin.write(f"{url}\n".encode())
    process.stdin.flush()
    try:
        yield process
    finally:
        process.kill()
        process.wait()
        process.stdin.close()


def client_in_transaction(port: int, key: str) -> SMTP:
    """A client that has sent everything before the content."""
    client = SMTP("127.0.0.1", port, timeout=CLIENT_TIMEOUT_SECONDS)
    client.login("apikey", key)
    client.mail("a@example.com")
    client.rcpt("ada@example.org")
    return client


def send(client: SMTP) -> str:
    code, text = client.data(CONTENT)
    return f"{code} {text.decode()}"


async def wait_for_lock(connection: psycopg.Connection) -> None:
    """Wait until another session waits for a lock of this database."""
    query = "select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'"
    async with asyncio.timeout(60):
        while not connection.execute(query).fetchone():
            await asyncio.sleep(0.01)


@pytest.fixture
async def installation(tmp_path: Path):
    """The URL of a database, a listening socket, and the key of a project whose mail is captured."""
    with own_database() as url, listening_socket() as listener:
        account = await create_account_with_project(Settings(data=tmp_path), url, "http://127.0.0.1:8025")
        yield url, listener, account.secret_key


async def test_a_process_that_is_killed_before_the_commit(tmp_path: Path, installation):
    """The client gets no reply, and nothing is stored. The message is sent once when it is submitted again."""
    url, listener, key = installation
    port = listener.getsockname()[1]
    with psycopg.connect(url, autocommit=True) as observer:
        with smtp_process(tmp_path, url, listener) as process, psycopg.connect(url) as blocker:
            client = await asyncio.to_thread(client_in_transaction, port, key)
            blocker.execute("lock table sends in exclusive mode")
            sending = asyncio.create_task(asyncio.to_thread(send, client))
            await wait_for_lock(observer)
            process.kill()
            with pytest.raises(SMTPServerDisconnected):
                await sending
        # The server's side of the killed process may still wait for the lock.
        query = "select 1 from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()"
        async with asyncio.timeout(60):
            while observer.execute(f"{query} and backend_type = 'client backend'").fetchone():
                await asyncio.sleep(0.01)
        stored = observer.execute("select count(*) from sends").fetchone()
        with smtp_process(tmp_path, url, listener):
            replies = []
            for _ in range(2):
                client = await asyncio.to_thread(client_in_transaction, port, key)
                replies.append(await asyncio.to_thread(send, client))
                client.close()
        assert len({sent_id(reply) for reply in replies}) == 1
        assert stored == (0,)
        assert observer.execute("select count(*) from sends").fetchone() == (1,)


async def test_a_process_that_is_stopped_finishes_its_message(tmp_path: Path, installation):
    url, listener, key = installation
    port = listener.getsockname()[1]
    with psycopg.connect(url, autocommit=True) as observer, psycopg.connect(url) as blocker:
        with smtp_process(tmp_path, url, listener) as process:
            client = await asyncio.to_thread(client_in_transaction, port, key)
            idle = await asyncio.to_thread(client_in_transaction, port, key)
            blocker.execute("lock table sends in exclusive mode")
            sending = asyncio.create_task(asyncio.to_thread(send, client))
            await wait_for_lock(observer)
            process.send_signal(signal.SIGTERM)
            assert (await asyncio.to_thread(idle.getreply))[0] == 421
            blocker.rollback()
            sent_id(await sending)
            assert (await asyncio.to_thread(client.getreply))[0] == 421
            assert await asyncio.to_thread(process.wait, 60) == 0
        assert observer.execute("select count(*) from sends").fetchone() == (1,)
