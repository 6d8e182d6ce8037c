"""The SMTP process is killed while it stores a received message: nothing that it acknowledged is lost."""

import asyncio
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from smtplib import SMTP, SMTPServerDisconnected
from uuid import UUID

import psycopg
import pytest

from postern.cli.bootstrap import create_account_with_project
from postern.kernel.config import Settings
from postern.kernel.values import new_id
from tests.messaging.smtp_submission.test_crash import wait_for_lock
from tests.peers.ports import listening_socket
from tests.peers.whole_server import own_database

ADDRESS = "support@reply.example"
CONTENT = b"From: ada@example.org\r\nMessage-ID: <1@example.org>\r\nSubject: Hello\r\n\r\nHello\r\n"
CLIENT_SECONDS = 120


@contextmanager
def inbound_process(folder: Path, url: str, listener: socket.socket) -> Iterator[subprocess.Popen[bytes]]:
    """An SMTP process for received mail, as `postern serve` starts it."""
    command = [sys.executable, "-m", "postern.cli.child", "smtp", f"inbound={listener.fileno()}"]
    environment = {**os.environ, "POSTERN_DATA": str(folder), "POSTERN_INBOUND_PORT": "25"}
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


def deliver(port: int) -> int:
    """Deliver CONTENT; returns the code of the reply to it."""
    with SMTP("127.0.0.1", port, timeout=CLIENT_SECONDS) as client:
        client.ehlo("mail.example.org")
        client.mail("")
        assert client.rcpt(ADDRESS)[0] == 250
        return client.data(CONTENT)[0]


@pytest.fixture
async def installation(tmp_path: Path):
    """The URL of a database with a route, and a listening socket."""
    with own_database() as url, listening_socket() as listener:
        account = await create_account_with_project(Settings(data=tmp_path), url, "http://127.0.0.1:8025")
        ids = {"project": UUID(account.project_id), "domain": new_id(), "route": new_id()}
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute(
                "insert into domains (project_id, id, domain, status, keys, watched_since, verified_at, created_at, "
                "updated_at) values (%(project)s, %(domain)s, 'reply.example', 'VERIFIED', '[]', now(), now(), now(), "
                "now())",
                ids,
            )
            connection.execute(
                "insert into inbound_routes (project_id, id, domain_id, name, domain, local_part, active, mx_status, "
                "mx_found, mx_checked_at, created_at, updated_at) values (%(project)s, %(route)s, %(domain)s, "
                "'Support', 'reply.example', 'support', true, 'PENDING', '{}', now(), now(), now())",
                ids,
            )
        yield url, listener


async def test_a_process_that_is_killed_before_the_commit(tmp_path: Path, installation):
    """The client gets no reply and nothing is stored; delivered again twice, the message is stored once."""
    url, listener = installation
    port = listener.getsockname()[1]
    with psycopg.connect(url, autocommit=True) as observer:
        with inbound_process(tmp_path, url, listener) as process, psycopg.connect(url) as blocker:
            blocker.execute("lock table inbound_messages in exclusive mode")
            delivering = asyncio.create_task(asyncio.to_thread(deliver, port))
            await wait_for_lock(observer)
            process.kill()
            with pytest.raises(SMTPServerDisconnected):
                await delivering
        # The server's side of the killed process may still wait for the lock.
        query = "select 1 from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()"
        async with asyncio.timeout(60):
            while observer.execute(f"{query} and backend_type = 'client backend'").fetchone():
                await asyncio.sleep(0.01)
        assert observer.execute("select count(*) from inbound_messages").fetchone() == (0,)
        with inbound_process(tmp_path, url, listener):
            for _ in range(2):
                assert await asyncio.to_thread(deliver, port) == 250
        stored = observer.execute("select message from inbound_messages").fetchall()
        assert [bytes(row[0]) for row in stored] == [CONTENT]
        assert observer.execute("select count(*) from events where type = 'inbound.received'").fetchone() == (1,)
