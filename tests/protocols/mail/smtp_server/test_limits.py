"""The SMTP server's limits: sizes, counts, connections, time and memory; and how it stops."""

import asyncio
import resource
import socket
import tracemalloc
from contextlib import AsyncExitStack, suppress
from pathlib import Path
from types import SimpleNamespace

import msgspec
import pytest

from postern.protocols.mail.smtp_server import content
from postern.protocols.mail.smtp_server.connection import (
    LINE_OCTETS,
    LINGER_OCTETS,
    LINGER_SECONDS,
    RATE_WINDOW_SECONDS,
    READ_AHEAD_OCTETS,
    UNREAD_OCTETS,
)
from tests.peers.smtp_dialogue import PATIENCE_SECONDS, RecordingHandler, SmtpDialogue, smtp_dialogue, smtp_server


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


async def test_replies_that_a_client_does_not_read_take_little_memory(handler: RecordingHandler):
    """A reply may be 20 times as large as its command."""
    async with smtp_server(handler) as (server, port):
        with socket.socket() as client:
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
            client.connect(("127.0.0.1", port))
            (connection,) = await open_connections(server, 1)
            connection._transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4_096)
            client.sendall(b"EHLO me\r\n" * (server.options.limits.commands - 10))
            await until(lambda: connection._is_write_paused)
            replies = connection._transport.get_write_buffer_size() + sum(map(len, connection._replies))
            assert replies < UNREAD_OCTETS + 8_192
            # On a server with many connections, it is closed earlier.
            limits = server.options.limits
            server.options = msgspec.structs.replace(
                server.options, limits=msgspec.structs.replace(limits, connections=1)
            )
            server.sweep(asyncio.get_running_loop().time() + limits.busy_command_seconds + 1)
            await until(lambda: not server.connections)


async def test_the_memory_of_commands_that_wait(handler: RecordingHandler):
    """Commands that wait for the handler count in the memory of messages. Those of a connection that has no place there
    are refused, after the reply to its message."""
    handler.may_finish = asyncio.Event()
    limit = 300_000
    waiting = b"NOOP\r\n" * 10_000
    async with smtp_server(handler, limits={"content_octets": limit}) as (server, port), AsyncExitStack() as stack:
        clients = [await stack.enter_async_context(smtp_dialogue(port)) for _ in range(20)]
        for client in clients:
            await begin_message(client)
            await client.send("x", ".")
        connections = await open_connections(server, len(clients))
        await until(lambda: all(connection._task for connection in connections))
        most = 0
        for client in clients:
            client._writer.write(waiting)
            await asyncio.sleep(0)

        def is_settled() -> bool:
            nonlocal most
            most = max(most, sum(len(connection._buffer) for connection in connections))
            return all(
                connection._has_lost_commands or len(connection._buffer) >= len(waiting) / 2
                for connection in connections
            )

        await until(is_settled)
        assert 0 < most < limit + 20 * LINE_OCTETS
        handler.may_finish.set()
        replies = [[line[:9] for line in (await client.rest()).splitlines()] for client in clients]
        assert len(handler.taken) == len(clients)
        assert {tuple(lines[:1]) for lines in replies} == {("250 2.0.0",)}
        refused = [lines for lines in replies if lines[1:] == ["421 4.3.1"]]
        assert 0 < len(refused) < len(clients)
        # The others were executed, up to the limit of commands.
        assert all(lines[-1] == "421 4.7.0" for lines in replies if lines not in refused)
        assert server.budget.used == 0


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


async def test_a_connection_that_is_reset_while_it_is_ended_raises_nothing(handler: RecordingHandler):
    """Such an error would keep the others open when the server stops, or when it ends slow clients."""
    loop = asyncio.get_running_loop()
    async with smtp_server(handler) as (server, port):
        client = socket.socket()
        client.setblocking(False)
        await loop.sock_connect(client, ("127.0.0.1", port))
        assert (await loop.sock_recv(client, 1_000)).startswith(b"220 ")
        (connection,) = server.connections
        client.close()  # The server learns it from the reply to what it sends, before its event loop runs again.
        connection.end_if_idle()
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


# Content, commands and replies that never end.

ENDLESS_OCTETS = 100_000_000
"""How much a client sends if the server lets it; a refused message is read for 64 MiB."""
ENDLESS_MEMORY = 8_000_000
"""More than the server needs for messages of 1 MB: reads of 256 kB, and copies."""
MAIL = ("EHLO me", "MAIL FROM:<a@a.test>", "RCPT TO:<b@b.test>")
CHUNK = 65_000
LINES = (b"x" * 998 + b"\r\n") * 65
DOTTED_LINES = b"..\r\n" * 16_000


@pytest.mark.parametrize(
    ("start", "chunk", "reply"),
    [
        ("DATA", LINES, "552 5.3.4"),
        ("DATA", DOTTED_LINES, "552 5.3.4"),
        ("DATA", b"x" * CHUNK, "552 5.3.4"),
        (f"BDAT {10**12} LAST", b"x" * CHUNK, "552 5.3.4"),
        ("BDAT 0", b"BDAT 65000\r\n" + b"x" * CHUNK, "552 5.3.4"),
        ("NOOP", b"x" * CHUNK, "554 5.5.2"),
        ("NOOP", b"NOOP\r\n" * 10_000, "421 4.7.0"),
        ("NOOP", b"BDAT 65000\r\n" + b"x" * CHUNK, "421 4.7.0"),
    ],
    ids=["lines", "dots", "one line", "one chunk", "chunks", "a command line", "commands", "refused chunks"],
)
async def test_what_never_ends_takes_little_memory(handler: RecordingHandler, start: str, chunk: bytes, reply: str):
    """The connection is closed after a while, and the memory does not grow with what the client has sent."""
    async with smtp_server(handler) as (server, port):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        replies = b""

        async def read() -> None:
            nonlocal replies
            with suppress(ConnectionError):
                while octets := await reader.read(CHUNK):
                    replies += octets

        reading = asyncio.create_task(read())
        writer.write("\r\n".join([*MAIL, start, ""]).encode())
        await until(lambda: any(connection._content or "NOOP" in start for connection in server.connections))
        tracemalloc.start()
        sent = 0
        try:
            with suppress(ConnectionError):
                async with asyncio.timeout(PATIENCE_SECONDS):
                    while sent < ENDLESS_OCTETS:
                        writer.write(chunk)
                        await writer.drain()
                        sent += len(chunk)
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
            writer.transport.abort()
        await reading
        await until(lambda: not server.connections)
        assert server.budget.used == 0
    assert sent < ENDLESS_OCTETS
    assert peak < ENDLESS_MEMORY
    assert reply.encode() in replies
    assert handler.taken == []
