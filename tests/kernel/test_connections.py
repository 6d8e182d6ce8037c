"""Slow, endless and too many connections to a real server with small limits."""

import asyncio
import socket
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, closing, suppress
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import msgspec
import pytest
import uvicorn

from postern.cli.processes import uvicorn_config
from postern.kernel.http.connections import ConnectionLimits
from postern.kernel.limits import RateLimit, RateLimiter, TooManyRequests, network_of

PATIENCE_SECONDS = 60
REQUEST = b"GET /healthz HTTP/1.1\r\nHost: postern\r\n\r\n"
SMALL = {
    "header_limit": 4_096,
    "header_wait": timedelta(seconds=0.4),
    "body_wait": timedelta(seconds=0.4),
    "idle_wait": timedelta(seconds=1),
    "connections": 40,
    "connections_per_address": 20,
    "trusted_proxies": (),
}

PATIENT = {name: timedelta(seconds=PATIENCE_SECONDS) for name in ("header_wait", "body_wait")}


@dataclass
class Peer:
    """A raw connection."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    async def send(self, data: bytes) -> None:
        self.writer.write(data)
        with suppress(OSError):
            await self.writer.drain()

    async def rest(self) -> bytes:
        """All that comes until the server closes."""
        read = b""
        with suppress(OSError):
            async with asyncio.timeout(PATIENCE_SECONDS):
                while part := await self.reader.read(65_536):
                    read += part
        return read


@dataclass
class Server:
    port: int
    limits: ConnectionLimits

    async def connect(self) -> Peer:
        return Peer(*await asyncio.open_connection("127.0.0.1", self.port))


@pytest.fixture
def serving(world) -> Callable:
    """Starts a server with small limits, some of them changed."""

    @asynccontextmanager
    async def start(**limits: object) -> AsyncIterator[Server]:
        settings = msgspec.structs.replace(world.settings, **{**SMALL, **limits})
        with closing(socket.create_server(("127.0.0.1", 0))) as listening:
            config = uvicorn_config(settings, world)
            server = uvicorn.Server(config)
            task = asyncio.create_task(server.serve([listening]))
            while not server.started:
                await asyncio.sleep(0.01)
            try:
                yield Server(listening.getsockname()[1], config.http_protocol_class.limits)
            finally:
                server.should_exit = True
                await task

    return start


def resident_kilobytes() -> int:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS"))


async def eventually(happened: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not happened():
        assert time.monotonic() < deadline
        await asyncio.sleep(0.02)


@pytest.mark.parametrize(
    "start",
    [b"GET / HTTP/1.1\r\nHost: x\r\nX: ", b"GET /", b"GET / HTTP/1.1\r\n" + b"A: b\r\n" * 10],
    ids=["one field", "the address", "fields"],
)
async def test_an_endless_head_does_not_fill_the_memory(serving, start):
    """Of an unfinished head of 200 MB, only the limit is read, and the rest is rejected.

    Defects: S7
    """
    async with serving(header_limit=65_536, header_wait=timedelta(seconds=PATIENCE_SECONDS)) as server:
        peer, block, sent = await server.connect(), b"a" * 1_000_000, 0
        before = resident_kilobytes()
        await peer.send(start)
        for _ in range(200):
            if peer.writer.is_closing() or peer.reader.at_eof():
                break
            peer.writer.write(block)
            try:
                await peer.writer.drain()
            except OSError:
                break
            sent += len(block)
        assert resident_kilobytes() - before < 20_000
        assert sent < 200_000_000, "The server does not read on."
        await eventually(lambda: not server.limits.protocols)


async def test_a_too_large_head_gets_431(serving):
    """A head with too many bytes or fields gets 431, whether it is complete or not.

    Defects: S7
    """
    async with serving(**PATIENT) as server:
        for head in (
            b"GET / HTTP/1.1\r\nHost: x\r\nX: " + b"a" * 5_000,
            b"GET / HTTP/1.1\r\nHost: x\r\nX: " + b"a" * 5_000 + b"\r\n\r\n",
            b"GET /" + b"a" * 5_000 + b" HTTP/1.1\r\nHost: x\r\n\r\n",
            b"GET / HTTP/1.1\r\nHost: x\r\n" + b"A:b\r\n" * 300 + b"\r\n",
            b"GET / HTTP/1.1\r\nHost: x\r\n" + b"A:b\r\n" * 300 + b"Content-Length: 3\r\n\r\nabc",
        ):
            peer = await server.connect()
            await peer.send(head)
            said = await peer.rest()
            assert said.startswith(b"HTTP/1.1 431 "), (head[:50], said)
            assert b'"code":"header_too_large"' in said
        body = b"x" * 200_000
        peer = await server.connect()
        start = b"POST /auth/sign-in HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: %d\r\n\r\n" % len(body)
        await peer.send(start + body)
        assert (await peer.rest()).startswith(b"HTTP/1.1 400 "), "A body in the same packet is no head."


async def test_slow_heads_slow_bodies_and_silent_connections_are_closed(serving):
    """Connections are closed if they send nothing, send a head or body too slowly, or do not read the response.

    Defects: S7
    """
    post = b"POST /auth/sign-in HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 900000\r\n\r\n"
    async with serving() as server:
        silent, half, dripping, stopped, chunked = [await server.connect() for _ in range(5)]
        await half.send(b"GET / HTTP/1.1\r\nHost:")
        await stopped.send(post + b"{")
        await chunked.send(post.replace(b"Content-Length: 900000", b"Transfer-Encoding: chunked") + b"1\r\n{\r\n")

        async def drip() -> None:
            await dripping.send(post)
            for _ in range(10_000):
                if dripping.reader.at_eof():
                    return
                await dripping.send(b"a")
                await asyncio.sleep(0.05)

        dropping = asyncio.create_task(drip())
        assert await silent.rest() == b""
        assert (await half.rest()).startswith(b"HTTP/1.1 408 ")
        for slow in (stopped, dripping, chunked):
            said = await slow.rest()
            assert said.startswith(b"HTTP/1.1 408 "), said
            assert b'"code":"request_too_slow"' in said
        await dropping
        await eventually(lambda: not server.limits.protocols)


async def test_idle_connections_are_closed_but_not_during_a_slow_request(serving):
    """A connection is kept open between requests up to the idle timeout, and serves many requests.

    Defects: S7
    """
    async with serving(**PATIENT, idle_wait=timedelta(seconds=4)) as server:
        peer = await server.connect()
        for _ in range(5):
            await peer.send(REQUEST)
            assert b"200 OK" in await peer.reader.readuntil(b"\r\n\r\n")
            await peer.reader.readexactly(len(b'{"status":"ok"}'))
            await asyncio.sleep(0.1)
        assert await peer.rest() == b""
        pipelined = await server.connect()
        await pipelined.send(REQUEST * 3)
        assert (await pipelined.rest()).count(b"200 OK") == 3


async def test_a_connection_whose_response_is_not_read_is_closed(serving):
    """A client that requests much data and does not read it cannot keep its connection.

    Defects: S7
    """
    async with serving() as server:
        peer = await server.connect()
        peer.writer.transport.pause_reading()
        ask = b"GET /openapi.json HTTP/1.1\r\nHost: x\r\n\r\n"
        for _ in range(30):
            await peer.send(ask)
        await eventually(lambda: not server.limits.protocols)
        peer.writer.transport.abort()


async def test_connections_are_limited_in_total_and_by_address(serving):
    """A connection above the limit gets 503 at once; a closed connection frees its slot.

    Defects: S7
    """
    waits = {"header_wait": timedelta(seconds=PATIENCE_SECONDS)}
    for limits, most in (({"connections": 5}, 5), ({}, 20)):
        async with serving(**limits, **waits) as server:
            peers = [await server.connect() for _ in range(most)]
            await eventually(lambda server=server, most=most: len(server.limits.protocols) == most)
            refused = await server.connect()
            said = await refused.rest()
            assert said.startswith(b"HTTP/1.1 503 "), said
            assert b'"code":"too_many_connections"' in said
            peers.pop().writer.close()
            await eventually(lambda server=server, most=most: len(server.limits.protocols) < most)
            again = await server.connect()
            await again.send(REQUEST)
            assert b"200 OK" in await again.reader.readuntil(b"\r\n\r\n")
            for peer in (*peers, again):
                peer.writer.close()
            await eventually(lambda server=server: not server.limits.protocols)
            assert not server.limits.by_address


async def test_half_open_connections_release_their_slots(serving):
    """Hundreds of connections with half a request line are closed after the header timeout.

    Defects: S7
    """
    async with serving(connections=500, connections_per_address=500) as server:
        peers = [await server.connect() for _ in range(300)]
        for peer in peers:
            await peer.send(b"GET / HT")
        await eventually(lambda: not server.limits.protocols)
        for peer in peers:
            peer.writer.close()


async def test_chunk_extensions_and_trailers_are_limited_and_ignored(serving):
    """Chunk framing is limited, and trailers are not treated as headers.

    Defects: S7
    """
    chunked = (
        b"POST /auth/sign-in HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
        b"Transfer-Encoding: chunked\r\n\r\n"
    )
    async with serving(body_wait=timedelta(seconds=PATIENCE_SECONDS)) as server:
        for framing in (b"1;" + b"x" * 100_000, b"1\r\n{\r\n0\r\nX: " + b"x" * 100_000):
            peer = await server.connect()
            await peer.send(chunked)
            for place in range(0, len(framing), 5_000):
                await peer.send(framing[place : place + 5_000])
                await asyncio.sleep(0)
            said = await peer.rest()
            assert said == b"" or said.startswith((b"HTTP/1.1 431 ", b"HTTP/1.1 400 ")), said


def test_an_ipv6_network_counts_as_one_client():
    """Rate limits count an IPv6 /64 network as one client, wherever the address is part of the key.

    Defects: S13
    """
    assert network_of("2001:db8:1:2:3:4:5:6") == network_of("2001:db8:1:2::1") == "2001:db8:1:2::/64"
    assert network_of("::ffff:203.0.113.5") == "203.0.113.5"
    assert network_of("203.0.113.5") == "203.0.113.5"
    assert network_of("x:y") == "x:y"
    limiter, rate = RateLimiter(), RateLimit("test", 2, timedelta(hours=1))
    limiter.take(rate, "project|2001:db8::1")
    limiter.take(rate, "project|2001:db8::2")
    with pytest.raises(TooManyRequests):
        limiter.take(rate, "project|2001:db8::3")
    limiter.take(rate, "project|2001:db8:0:1::3")
    limiter.take(rate, "other|2001:db8::3")
