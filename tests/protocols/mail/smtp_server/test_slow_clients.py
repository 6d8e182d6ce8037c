"""Clients that send an octet every few seconds: in each state of a connection, a named limit ends it.

The time of the event loop is moved, so that the timers of the server and of its TLS handshakes run.
"""

import asyncio
import ssl
from collections.abc import Callable
from contextlib import suppress
from typing import NamedTuple

import pytest
import pytest_asyncio

from postern.protocols.mail.smtp_server.connection import LINGER_SECONDS, RATE_WINDOW_SECONDS
from postern.protocols.mail.smtp_server.server import SmtpServer
from postern.protocols.mail.smtp_server.session import SmtpLimits
from tests.peers.smtp_dialogue import RecordingHandler, smtp_dialogue, smtp_server
from tests.peers.smtp_sink import client_context, server_context

pytestmark = pytest.mark.asyncio(loop_scope="function")  # No other tasks have timers in an event loop of its own.

INTERVAL_SECONDS = 5.0
"""How long a client waits before it sends the next octet."""
IDLE, TOO_SLOW = "421 4.4.2 No command arrived in time.", "421 4.4.2 The message arrives too slowly."
TOO_LONG = "421 4.4.2 The connection was open for too long; open a new one."
HELLO = ("EHLO me",)
ENVELOPE = (*HELLO, "MAIL FROM:<a@a.test>", "RCPT TO:<b@b.test>")
MESSAGE = b"MAIL FROM:<a@a.test>\r\nRCPT TO:<b@b.test>\r\nDATA\r\nx\r\n.\r\n"
SLOW_RATE = "RATE_WINDOW_SECONDS"


class SlowClient(NamedTuple):
    """What a client sends, and how the server ends the connection."""

    lines: tuple[str, ...]
    """Commands that it sends without delay, each after the reply to the one before."""
    octets: bytes
    """What it then sends octet by octet."""
    limit: str
    """The limit that ends the connection."""
    reply: str
    """The last reply."""
    begin: bytes = b""
    """What it sends without delay after the commands, and without a reply."""


STATES = {
    "greeting": SlowClient((), b"", "command_seconds", IDLE),
    "EHLO": SlowClient((), b"EHLO " + b"x" * 200, "command_seconds", IDLE),
    "between commands": SlowClient(HELLO, b"", "command_seconds", IDLE),
    "MAIL": SlowClient(HELLO, b"MAIL FROM:<" + b"a" * 200, "command_seconds", IDLE),
    "RCPT": SlowClient(ENVELOPE[:2], b"RCPT TO:<" + b"a" * 200, "command_seconds", IDLE),
    "an envelope without a message": SlowClient(ENVELOPE, b"", "command_seconds", IDLE),
    "AUTH PLAIN": SlowClient((*HELLO, "AUTH PLAIN"), b"A" * 200, "command_seconds", IDLE),
    "AUTH LOGIN, user": SlowClient((*HELLO, "AUTH LOGIN"), b"A" * 200, "command_seconds", IDLE),
    "AUTH LOGIN, password": SlowClient((*HELLO, "AUTH LOGIN", "dXNlcg=="), b"A" * 200, "command_seconds", IDLE),
    "DATA": SlowClient((*ENVELOPE, "DATA"), b"x" * 200, SLOW_RATE, TOO_SLOW),
    "DATA, nothing": SlowClient((*ENVELOPE, "DATA"), b"", SLOW_RATE, TOO_SLOW),
    "DATA, the end": SlowClient((*ENVELOPE, "DATA"), b"\r\n.\r", SLOW_RATE, TOO_SLOW, begin=b"x"),
    "BDAT": SlowClient(ENVELOPE, b"x" * 200, SLOW_RATE, TOO_SLOW, begin=b"BDAT 1000\r\n"),
    "BDAT without an envelope": SlowClient(HELLO, b"x" * 200, SLOW_RATE, TOO_SLOW, begin=b"BDAT 1000\r\n"),
    "the second BDAT": SlowClient((*ENVELOPE, "BDAT 3\r\nx"), b"BDAT " + b"1" * 200, "command_seconds", IDLE),
    "chunks of an octet": SlowClient(ENVELOPE, b"xBDAT 1\r\n" * 2_000, "message_seconds", TOO_SLOW, b"BDAT 1\r\n"),
    "complete commands": SlowClient(HELLO, b"NOOP\r\n" * 2_000, "session_seconds", TOO_LONG),
    "complete messages": SlowClient(HELLO, MESSAGE * 200, "session_seconds", TOO_LONG),
}


class MovedLoopTime:
    """The time of the event loop, which the test moves."""

    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now
        self.passed = 0.0

    def __call__(self) -> float:
        return self._now() + self.passed

    async def move(self, seconds: float) -> None:
        """Move the time, and let the timers run that are then due."""
        self.passed += seconds
        for _ in range(5):
            await asyncio.sleep(0)


@pytest_asyncio.fixture(loop_scope="function")
async def time(monkeypatch: pytest.MonkeyPatch) -> MovedLoopTime:
    loop = asyncio.get_running_loop()
    moved = MovedLoopTime(loop.time)
    monkeypatch.setattr(loop, "time", moved)
    return moved


async def drip(server: SmtpServer, writer: asyncio.StreamWriter, octets: bytes, time: MovedLoopTime) -> float:
    """Send an octet every INTERVAL_SECONDS until the server has closed the connection; returns the seconds."""
    began, sent = time.passed, 0
    while server.connections:
        assert time.passed - began < 10_000, "The connection is never closed."
        if not writer.is_closing():
            writer.write(octets[sent : sent + 1])
        sent += 1
        await time.move(INTERVAL_SECONDS)
    return time.passed - began


def seconds_of(limit: str, limits: SmtpLimits) -> float:
    return RATE_WINDOW_SECONDS if limit == SLOW_RATE else getattr(limits, limit)


@pytest.mark.parametrize("encrypted", [False, True], ids=["plain", "TLS"])
@pytest.mark.parametrize("state", STATES)
async def test_a_slow_client_is_disconnected(state: str, encrypted: bool, time: MovedLoopTime):
    slow = STATES[state]
    tls = {"tls": server_context(), "implicit_tls": True} if encrypted else {}
    async with (
        smtp_server(RecordingHandler(), **tls) as (server, port),
        smtp_dialogue(port, tls=client_context() if encrypted else None) as client,
    ):
        for line in slow.lines:
            await client.ask(line)
        await client.send_octets(slow.begin)
        seconds = await drip(server, client._writer, slow.octets, time)
        last = (await client.rest()).splitlines()[-1]
        assert server.budget.used == 0
        expected = seconds_of(slow.limit, server.options.limits)
    assert last == slow.reply
    # The periodic check and, without TLS, the time for the client to read the reply.
    assert expected <= seconds <= expected + LINGER_SECONDS + 2 * INTERVAL_SECONDS


async def test_a_message_at_the_slowest_rate_has_a_limit_of_time(time: MovedLoopTime):
    async with smtp_server(RecordingHandler()) as (server, port), smtp_dialogue(port) as client:
        for line in (*ENVELOPE, "DATA"):
            await client.ask(line)
        (connection,) = server.connections
        limits, sent = server.options.limits, 0
        piece = b"x" * int(limits.octets_per_second * INTERVAL_SECONDS * 1.1)
        while connection._content is not None:
            await client.send_octets(piece)
            sent += len(piece)
            async with asyncio.timeout(60):
                while connection._content is not None and connection._content.octets < sent:
                    await asyncio.sleep(0)
            await time.move(INTERVAL_SECONDS)
        assert (await client.rest()) == f"{TOO_SLOW}\r\n"
        assert limits.message_seconds <= time.passed <= limits.message_seconds + 2 * INTERVAL_SECONDS


@pytest.mark.parametrize("state", [state for state, slow in STATES.items() if slow.limit == "command_seconds"])
async def test_a_busy_server_waits_less(state: str, time: MovedLoopTime):
    slow = STATES[state]
    async with (
        smtp_server(RecordingHandler(), limits={"connections": 1}) as (server, port),
        smtp_dialogue(port) as client,
    ):
        for line in slow.lines:
            await client.ask(line)
        seconds = await drip(server, client._writer, slow.octets, time)
        assert (await client.rest()).splitlines()[-1] == slow.reply
        expected = server.options.limits.busy_command_seconds
    assert expected <= seconds <= expected + LINGER_SECONDS + 2 * INTERVAL_SECONDS


def client_hello() -> bytes:
    """The first octets of a TLS handshake."""
    received, sent = ssl.MemoryBIO(), ssl.MemoryBIO()
    connection = client_context().wrap_bio(received, sent, server_hostname="localhost")
    with suppress(ssl.SSLWantReadError):
        connection.do_handshake()
    return sent.read()


@pytest.mark.parametrize("octets", [b"", client_hello()], ids=["nothing", "octets"])
@pytest.mark.parametrize("implicit", [False, True], ids=["STARTTLS", "implicit TLS"])
async def test_a_slow_handshake(implicit: bool, octets: bytes, time: MovedLoopTime):
    async with (
        smtp_server(RecordingHandler(), tls=server_context(), implicit_tls=implicit) as (server, port),
        smtp_dialogue(port, greeting=not implicit) as client,
    ):
        if not implicit:
            await client.ask("EHLO me")
            assert (await client.ask("STARTTLS")).startswith("220 ")
        async with asyncio.timeout(60):
            while not server.connections:
                await asyncio.sleep(0)
        seconds = await drip(server, client._writer, octets, time)
        expected = server.options.limits.handshake_seconds
    assert expected <= seconds <= expected + 2 * INTERVAL_SECONDS


async def test_a_client_that_does_not_close_tls(time: MovedLoopTime):
    """After the last reply, the server waits LINGER_SECONDS for the client to end TLS, too."""
    async with (
        smtp_server(RecordingHandler(), tls=server_context(), implicit_tls=True) as (server, port),
        smtp_dialogue(port, tls=client_context()) as client,
    ):
        await client.ask("EHLO me")
        client._writer.transport.pause_reading()
        await client.send_octets(b"QUIT\n")
        (connection,) = server.connections
        async with asyncio.timeout(60):
            while connection._mode.name != "CLOSING":
                await asyncio.sleep(0)
        await time.move(LINGER_SECONDS - 1)
        assert server.connections
        await time.move(2)
        async with asyncio.timeout(60):
            while server.connections:
                await asyncio.sleep(0)
