"""The SMTP server's limits: sizes, counts, connections, time and memory; and how it stops."""

import asyncio
import resource
import socket
from pathlib import Path
from types import SimpleNamespace

import pytest

from postern.protocols.mail.smtp_server import content
from postern.protocols.mail.smtp_server.connection import (
    LINGER_OCTETS,
    LINGER_SECONDS,
    RATE_WINDOW_SECONDS,
    READ_AHEAD_OCTETS,
)
from tests.peers.smtp_dialogue import RecordingHandler, SmtpDialogue, smtp_dialogue, smtp_server


@pytest.fixture
def handler() -> RecordingHandler:
    return RecordingHandler()


async def begin_message(client: SmtpDialogue) -> None:
    """Send everything of a transaction up to DATA."""
    await client.send("EHLO me", "MAIL FROM:<a@a.test>", "RCPT TO:<b@b.test>", "DATA")
    for code in ("250", "250", "250", "354"):
        assert (await client.reply()).startswith(code)


async def until(condition) -> None:
    """Let the event loop run until the condition holds."""
    async with asyncio.timeout(60):
        while not condition():
            await asyncio.sleep(0.001)


async def test_a_message_that_is_too_large_is_read_to_its_end(handler: RecordingHandler):
    async with smtp_server(handler, limits={"message_octets": 1_000}) as (server, port):
        async with smtp_dialogue(port) as client:
            for size, reply in ((998, "250 2.0.0"), (999, "552 5.3.4"), (500_000, "552 5.3.4")):
                await begin_message(client)
                assert (await client.ask("x" * size, ".")).startswith(reply)
            # The dots that the client adds to lines do not count.
            await begin_message(client)
            assert (await client.ask(*["..aaaaaaa"] * 100, ".")).startswith("250 ")
            await client.ask("MAIL FROM:<a@a.test>")
            await client.ask("RCPT TO:<b@b.test>")
            await client.send_octets(b"BDAT 2000\r\n" + b"x" * 2_000 + b"BDAT 1 LAST\r\nx")
            assert [(await client.reply())[:9] for _ in range(2)] == ["552 5.3.4"] * 2
            assert (await client.ask("NOOP")).startswith("250 ")
        assert server.budget.used == 0
    assert len(handler.taken) == 2


async def test_a_refused_message_without_an_end(handler: RecordingHandler, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(content, "DISCARDED_OCTETS", 100_000)
    async with smtp_server(handler, limits={"message_octets": 1_000}) as (_, port), smtp_dialogue(port) as client:
        await begin_message(client)
        for _ in range(30):
            await client.send_octets(b"x" * 10_000)
        assert (await client.rest()).startswith("552 5.3.4")


async def test_recipients(handler: RecordingHandler):
    async with smtp_server(handler, limits={"recipients": 2}) as (_, port), smtp_dialogue(port) as client:
        await client.send("EHLO me", "MAIL FROM:<a@a.test>", *["RCPT TO:<b@b.test>"] * 3, "DATA")
        replies = [(await client.reply())[:9] for _ in range(6)]
    assert replies[2:] == ["250 2.1.5", "250 2.1.5", "452 4.5.3", "354 End t"]


async def test_errors_and_commands(handler: RecordingHandler):
    async with smtp_server(handler, limits={"errors": 3, "commands": 10}) as (_, port):
        async with smtp_dialogue(port) as client:
            await client.send(*["BOGUS"] * 9)
            assert [line[:3] for line in (await client.rest()).splitlines()] == ["500", "500", "500", "421"]
        async with smtp_dialogue(port) as client:
            for _ in range(3):  # A message begins the count again.
                await begin_message(client)
                await client.ask("x", ".")
            await client.send(*["NOOP"] * 20)
            assert [line[:3] for line in (await client.rest()).splitlines()] == ["250"] * 10 + ["421"]


async def test_connections(handler: RecordingHandler):
    async with (
        smtp_server(handler, limits={"connections": 2}) as (server, port),
        smtp_dialogue(port),
        smtp_dialogue(port) as second,
    ):
        async with smtp_dialogue(port, greeting=False) as third:
            assert (await third.rest()).startswith("421 4.7.0 There are too many connections; ")
        await second.ask("QUIT")
        await until(lambda: len(server.connections) == 1)
        async with smtp_dialogue(port):
            pass
    async with (
        smtp_server(handler, limits={"connections_per_network": 1}) as (_, port),
        smtp_dialogue(port),
        smtp_dialogue(port, greeting=False) as second,
    ):
        assert (await second.rest()).startswith("421 4.7.0 There are too many connections from your address")


async def test_memory_of_all_messages(handler: RecordingHandler):
    """Messages beyond the common limit get a temporary error, and the memory is given back."""
    limits = {"content_octets": 100_000}
    async with (
        smtp_server(handler, limits=limits) as (server, port),
        smtp_dialogue(port) as first,
        smtp_dialogue(port) as second,
    ):
        await begin_message(first)
        await begin_message(second)
        await first.send_octets(b"x" * 60_000)
        await until(lambda: server.budget.used > 60_000)
        await second.send_octets(b"x" * 60_000)
        assert (await second.ask("", ".")).startswith("452 4.3.1")
        assert (await first.ask("", ".")).startswith("250 ")
        assert server.budget.used == 0
        await begin_message(second)
        assert (await second.ask("x" * 60_000, ".")).startswith("250 ")
        await begin_message(first)
        await first.send_octets(b"x" * 60_000)
        await until(lambda: server.budget.used > 60_000)
        first.abort()
        await until(lambda: server.budget.used == 0)


async def test_time(handler: RecordingHandler):
    async with smtp_server(handler) as (server, port):
        limits, now = server.options.limits, asyncio.get_running_loop().time

        async def late(seconds: float, *sent: str) -> str:
            async with smtp_dialogue(port) as client:
                for line in sent:
                    await client.ask(line)
                server.sweep(now() + seconds)
                server.sweep(now() + 1)
                await client.send("NOOP")
                return (await client.reply())[:9]

        assert await late(limits.command_seconds - 5) == "250 2.0.0"
        assert await late(limits.command_seconds + 5) == "421 4.4.2"
        assert await late(limits.command_seconds + 5, "EHLO me", "AUTH LOGIN") == "421 4.4.2"
        transaction = ["EHLO me", "MAIL FROM:<a@a.test>", "RCPT TO:<b@b.test>", "DATA"]
        assert await late(RATE_WINDOW_SECONDS + 5, *transaction) == "421 4.4.2"
        transaction[3] = "BDAT 100\r\n"
        async with smtp_dialogue(port) as client:
            for line in transaction[:3]:
                await client.ask(line)
            await client.send("BDAT 100")
            await until(lambda: any(connection._content for connection in server.connections))
            server.sweep(now() + RATE_WINDOW_SECONDS + 5)
            assert (await client.rest()).startswith("421 4.4.2 The message arrives too slowly.")


async def test_the_slowest_rate_of_a_message(handler: RecordingHandler):
    async with smtp_server(handler) as (server, port), smtp_dialogue(port) as client:
        limits, now = server.options.limits, asyncio.get_running_loop().time()
        await begin_message(client)
        (connection,) = server.connections
        for window in range(1, 5):
            await client.send_octets(b"x" * int(limits.octets_per_second * RATE_WINDOW_SECONDS * 1.1))
            await until(lambda: not client._writer.transport.get_write_buffer_size())
            sent = window * int(limits.octets_per_second * RATE_WINDOW_SECONDS * 1.1)
            await until(lambda sent=sent: connection._content is not None and connection._content.octets == sent)
            server.sweep(now + window * RATE_WINDOW_SECONDS + 1)
        await client.send_octets(b"x" * 100)
        server.sweep(now + 5 * RATE_WINDOW_SECONDS + 2)
        assert (await client.rest()).startswith("421 4.4.2 The message arrives too slowly.")


class MovedTime:
    """Moves the time of a server's connection."""

    def __init__(self, connection) -> None:
        self._now = asyncio.get_running_loop().time
        self.passed = 0.0
        connection._loop = SimpleNamespace(time=self)

    def __call__(self) -> float:
        return self._now() + self.passed


async def test_a_message_in_slow_chunks_has_the_time_of_one(handler: RecordingHandler):
    """A client that sends an octet with each BDAT every 50 seconds is never slow in one of them."""
    async with smtp_server(handler) as (server, port), smtp_dialogue(port) as client:
        for line in ("EHLO me", "MAIL FROM:<a@a.test>", "RCPT TO:<b@b.test>"):
            await client.ask(line)
        time = MovedTime(next(iter(server.connections)))
        reply = "250 "
        while reply.startswith("250 ") and time.passed < 2 * server.options.limits.message_seconds:
            await client.send_octets(b"BDAT 1\r\nx")
            reply = await client.reply()
            time.passed += 50
            server.sweep(time())
        assert reply.startswith("421 4.4.2 The message arrives too slowly.")
        assert server.options.limits.message_seconds <= time.passed <= server.options.limits.message_seconds + 100
        assert server.budget.used == 0


async def test_a_session_without_pauses_ends_before_a_message(handler: RecordingHandler):
    """Between messages that follow each other at once, the periodic check never sees the connection."""
    message = b"MAIL FROM:<a@a.test>\r\nRCPT TO:<b@b.test>\r\nBDAT 3 LAST\r\nx\r\n"
    async with smtp_server(handler) as (server, port), smtp_dialogue(port) as client:
        await client.ask("EHLO me")
        time = MovedTime(next(iter(server.connections)))
        for passed, replies in (
            (server.options.limits.session_seconds - 10, ["250", "250", "250"]),
            (server.options.limits.session_seconds + 10, ["421"]),
        ):
            time.passed = passed
            await client.send_octets(message)
            assert [(await client.reply())[:3] for _ in replies] == replies
        assert await client.rest() == ""
    assert len(handler.taken) == 1


async def test_the_time_of_a_session_and_of_a_busy_server(handler: RecordingHandler):
    limits = {"command_seconds": 1_000.0, "session_seconds": 100.0, "connections": 2}
    async with smtp_server(handler, limits=limits) as (server, port):
        now = asyncio.get_running_loop().time
        async with smtp_dialogue(port) as client:
            server.sweep(now() + 90)
            assert (await client.ask("NOOP")).startswith("250 ")
            server.sweep(now() + 110)
            assert (await client.rest()).startswith("421 4.4.2 The connection was open for too long")
        await until(lambda: not server.connections)
        async with smtp_dialogue(port) as client, smtp_dialogue(port):
            server.sweep(now() + server.options.limits.busy_command_seconds + 1)
            assert (await client.rest()).startswith("421 4.4.2 No command arrived in time.")


async def test_a_client_that_does_not_read_replies(handler: RecordingHandler):
    """The server stops executing commands and reading, and finally closes the connection."""
    async with smtp_server(handler, limits={"commands": 10**9}) as (server, port):
        reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=1)
        (connection,) = await open_connections(server, 1)
        connection._transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 10_000)
        reader._transport.pause_reading()  # pyright: ignore[reportAttributeAccessIssue]
        writer.transport.set_write_buffer_limits(0)
        while not connection._is_write_paused:
            writer.write(b"NOOP\r\n" * 10_000)
            await asyncio.sleep(0)
        writer.write(b"NOOP\r\n" * 200_000)
        await until(lambda: not connection._is_reading)
        assert len(connection._buffer) < READ_AHEAD_OCTETS + 300_000
        server.sweep(asyncio.get_running_loop().time() + server.options.limits.command_seconds + 1)
        await until(lambda: not server.connections)
        writer.transport.abort()


async def open_connections(server, count: int):
    await until(lambda: len(server.connections) == count)
    return tuple(server.connections)


async def test_a_client_that_goes_on_after_a_refusal(handler: RecordingHandler):
    async with smtp_server(handler) as (server, port):
        async with smtp_dialogue(port) as client:
            await client.send_octets(b"NOOP\nNOOP\r\n")
            await until(lambda: any(connection._mode.name == "CLOSING" for connection in server.connections))
            server.sweep(asyncio.get_running_loop().time() + LINGER_SECONDS + 1)
            await until(lambda: not server.connections)
        async with smtp_dialogue(port) as client:
            await client.send_octets(b"NOOP\n")
            client._writer.write(b"x" * LINGER_OCTETS * 2)
            await until(lambda: not server.connections)


async def test_stopping_ends_idle_connections_and_finishes_messages(handler: RecordingHandler):
    handler.may_finish = asyncio.Event()
    async with (
        smtp_server(handler) as (server, port),
        smtp_dialogue(port) as idle,
        smtp_dialogue(port) as processed,
        smtp_dialogue(port) as receiving,
    ):
        await begin_message(processed)
        await processed.send("x", ".")
        await begin_message(receiving)
        await handler.began.wait()
        stopping = asyncio.create_task(server.stop(60))
        assert (await idle.rest()).startswith("421 4.3.2")
        handler.may_finish.set()
        for client in (processed, receiving):
            if client is receiving:
                await client.send("y", ".")
            rest = (await client.rest()).splitlines()
            assert [line[:9] for line in rest] == ["250 2.0.0", "421 4.3.2"]
        await stopping
    assert [taken.content for taken in handler.taken] == [b"x\r\n", b"y\r\n"]


async def test_a_message_is_processed_although_the_client_has_gone(handler: RecordingHandler):
    handler.may_finish = asyncio.Event()
    async with smtp_server(handler) as (server, port):
        async with smtp_dialogue(port) as client:
            await begin_message(client)
            await client.send("x", ".")
            await handler.began.wait()
        await asyncio.sleep(0.01)
        assert len(server.connections) == 1
        handler.may_finish.set()
        await until(lambda: not server.connections)
        assert server.budget.used == 0
    assert len(handler.taken) == 1


CONNECTIONS = 2_000


async def test_many_connections_take_little_memory(handler: RecordingHandler):
    """Open connections that send nothing, and then the beginning of a message, take a few kB each."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    needed = 2 * CONNECTIONS + 200
    if hard != resource.RLIM_INFINITY and hard < needed:
        pytest.skip(f"needs {needed} file descriptors")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, needed), hard))
    limits = {"connections_per_network": CONNECTIONS, "connections": CONNECTIONS}
    async with smtp_server(handler, limits=limits) as (server, port):
        before = resident_octets()
        clients = [await asyncio.open_connection("127.0.0.1", port) for _ in range(CONNECTIONS)]
        connections = await open_connections(server, CONNECTIONS)
        for _, writer in clients:
            writer.write(b"EHLO me\r\nMAIL FROM:<a@a.test>\r\nRCPT TO:<b@b.test>\r\nDATA\r\nx")
        await until(lambda: all(connection._content for connection in connections))
        # Both sides of the connections are in this process.
        assert (resident_octets() - before) / CONNECTIONS < 60_000
        server.sweep(asyncio.get_running_loop().time() + RATE_WINDOW_SECONDS + 1)
        assert server.budget.used == 0
        for _, writer in clients:
            writer.transport.abort()
        await until(lambda: not server.connections)
    assert handler.taken == []


def resident_octets() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()
