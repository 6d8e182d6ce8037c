"""The metrics of the SMTP servers, which run in other processes than the API."""

import asyncio
import re
import socket
from contextlib import asynccontextmanager
from datetime import timedelta
from smtplib import SMTP, SMTPAuthenticationError, SMTPConnectError, SMTPServerDisconnected

import msgspec
import pytest

from postern.cli.mail_servers import MailServers
from postern.instance import HEARTBEAT_TIMEOUT, SMTP_METRICS
from tests.messaging.smtp_submission.conftest import message
from tests.peers.ports import listening_socket


@pytest.fixture
def settings(settings):
    return msgspec.structs.replace(settings, smtp_connections=2, smtp_host="127.0.0.1")


@asynccontextmanager
async def running(world):
    """The SMTP servers of a process; their ports by name, and the servers."""
    sockets = {name: listening_socket() for name in ("submission", "inbound")}
    ports = {name: listener.getsockname()[1] for name, listener in sockets.items()}
    stopping, servers = asyncio.Event(), MailServers(world)
    task = asyncio.create_task(servers.run(sockets, stopping, timedelta(seconds=5)))
    while len(servers._counters) < len(sockets):
        await asyncio.sleep(0)
    try:
        yield ports, servers
    finally:
        stopping.set()
        await task


async def metrics_of(client, servers):
    """The SMTP metrics of these servers, keyed by port and by the name of the metric."""
    page = (await client.get("http://postern.test/metrics")).text
    lines = re.findall(r'^(postern_smtp\w+){port="(\w+)",process="([0-9a-f-]+)"} (\d+)$', page, re.MULTILINE)
    return {(port, name): int(value) for name, port, process, value in lines if process == str(servers._id)}


async def test_connections_messages_and_failures_are_counted(world, project):
    def connect(port):
        content = message().as_bytes().replace(b"\n", b"\r\n")
        with SMTP("127.0.0.1", port) as client:
            client.ehlo()
            with pytest.raises(SMTPAuthenticationError):
                client.login("apikey", "wrong")
            client.login("apikey", project.secret_key)
            client.sendmail("a@b.test", ["ada@example.org"], content)
            with SMTP("127.0.0.1", port), pytest.raises((SMTPConnectError, SMTPServerDisconnected)):
                SMTP("127.0.0.1", port)
            return len(content)

    async with running(world) as (ports, servers):
        octets = await asyncio.to_thread(connect, ports["submission"])
        with socket.create_connection(("127.0.0.1", ports["inbound"])) as open_connection:
            await asyncio.to_thread(open_connection.recv, 100)
            await servers.record_counters()
            metrics = await metrics_of(project.client, servers)
        assert {name: value for (port, name), value in metrics.items() if port == "submission"} == {
            "postern_smtp_connections": 0,
            "postern_smtp_connections_accepted_total": 2,
            "postern_smtp_connections_refused_total": 1,
            "postern_smtp_messages_total": 1,
            "postern_smtp_message_bytes_total": octets,
            "postern_smtp_auth_failures_total": 2,  # smtplib tries PLAIN, then LOGIN.
        }
        assert metrics["inbound", "postern_smtp_connections"] == 1
        assert metrics["inbound", "postern_smtp_messages_total"] == 0
    assert await metrics_of(project.client, servers) == {}, "A server that has stopped has no metrics."


async def test_a_server_that_was_killed_disappears(world, project, clock):
    async with running(world) as (_, servers):
        await servers.record_counters()
        assert await metrics_of(project.client, servers)
        clock.move(HEARTBEAT_TIMEOUT + timedelta(seconds=1))
        assert await metrics_of(project.client, servers) == {}


async def test_the_page_is_valid(world, project):
    """Each metric has its description once, before its values."""
    async with running(world) as (_, servers):
        await servers.record_counters()
        lines = (await project.client.get("http://postern.test/metrics")).text.splitlines()
    for name, kind, _ in SMTP_METRICS.values():
        assert sum(line.startswith(f"# HELP {name} ") for line in lines) == 1
        described = lines.index(f"# TYPE {name} {kind}")
        assert lines[described + 1].startswith(f"{name}{{")
