"""A real server with small limits closes connections that are slow, send too much, or are too many."""

import asyncio
import re
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, closing, suppress
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import httpx
import msgspec
import psycopg
import pytest
import uvicorn
from prometheus_client import generate_latest

from postern.cli.processes import uvicorn_config
from postern.kernel.http import scheduling
from postern.kernel.http.connections import ConnectionLimits
from postern.kernel.http.middleware import ReadOnlyTask
from postern.kernel.limits import RateLimit, RateLimiter, TooManyRequests, network_of
from postern.kernel.values import to_json
from tests.conftest import PASSWORD
from tests.lock_waits import lock_waits
from tests.peers.ports import listening_socket

LONG_SECONDS = 60
PIPELINED = 400
"""Requests in one write: more than could be refused within one another."""
FLOOD = 6_000
"""Requests in one write that are read in several parts."""
READ_AT_ONCE = 262_144
"""Octets that uvloop reads at a time."""
REQUEST = b"GET /healthz HTTP/1.1\r\nHost: postern\r\n\r\n"
SMALL_LIMITS = {
    "header_limit": 4_096,
    "header_wait": timedelta(seconds=0.4),
    "body_wait": timedelta(seconds=0.4),
    "idle_wait": timedelta(seconds=1),
    "connections": 40,
    "connections_per_address": 20,
    "trusted_proxies": (),
}

LONG_WAITS = {name: timedelta(seconds=LONG_SECONDS) for name in ("header_wait", "body_wait")}


@dataclass
class Peer:
    """A client's TCP connection to the server."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    async def send(self, data: bytes) -> None:
        self.writer.write(data)
        with suppress(OSError):
            await self.writer.drain()

    async def read_all(self) -> bytes:
        """All bytes until the server closes the connection."""
        received = b""
        with suppress(OSError):
            async with asyncio.timeout(LONG_SECONDS):
                while part := await self.reader.read(65_536):
                    received += part
        return received


@dataclass
class Server:
    port: int
    limits: ConnectionLimits

    async def connect(self) -> Peer:
        return Peer(*await asyncio.open_connection("127.0.0.1", self.port))


@pytest.fixture
def start_server(world) -> Callable:
    """A function that starts a server with SMALL_LIMITS, of which its arguments replace some."""

    @asynccontextmanager
    async def start(**limits: object) -> AsyncIterator[Server]:
        settings = msgspec.structs.replace(world.settings, **{**SMALL_LIMITS, **limits})
        with closing(listening_socket()) as listening:
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


async def eventually(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + LONG_SECONDS
    while not condition():
        assert time.monotonic() < deadline
        await asyncio.sleep(0.02)


@pytest.mark.parametrize(
    "start",
    [b"GET / HTTP/1.1\r\nHost: x\r\nX: ", b"GET /", b"GET / HTTP/1.1\r\n" + b"A: b\r\n" * 10],
    ids=["one field", "request line", "many fields"],
)
async def test_an_endless_head_does_not_fill_the_memory(start_server, start):
    """The server reads an unfinished head of 200 MB only up to the limit, and closes the connection.

    Regression test of S7 (tests/defects.md).
    """
    async with start_server(header_limit=65_536, header_wait=timedelta(seconds=LONG_SECONDS)) as server:
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
        assert sent < 200_000_000, "the server read the whole head"
        await eventually(lambda: not server.limits.connections)


async def test_a_too_large_head_gets_431(start_server):
    """A head with too many bytes or fields gets 431, whether it is complete or not.

    Regression test of S7 (tests/defects.md).
    """
    async with start_server(**LONG_WAITS) as server:
        for head in (
            b"GET / HTTP/1.1\r\nHost: x\r\nX: " + b"a" * 5_000,
            b"GET / HTTP/1.1\r\nHost: x\r\nX: " + b"a" * 5_000 + b"\r\n\r\n",
            b"GET /" + b"a" * 5_000 + b" HTTP/1.1\r\nHost: x\r\n\r\n",
            b"GET / HTTP/1.1\r\nHost: x\r\n" + b"A:b\r\n" * 300 + b"\r\n",
            b"GET / HTTP/1.1\r\nHost: x\r\n" + b"A:b\r\n" * 300 + b"Content-Length: 3\r\n\r\nabc",
        ):
            peer = await server.connect()
            await peer.send(head)
            response = await peer.read_all()
            assert response.startswith(b"HTTP/1.1 431 "), (head[:50], response)
            assert b'"code":"header_too_large"' in response
        body = b"x" * 200_000
        peer = await server.connect()
        start = b"POST /auth/sign-in HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: %d\r\n\r\n" % len(body)
        await peer.send(start + body)
        assert (await peer.read_all()).startswith(b"HTTP/1.1 400 "), "a body in the same packet was counted as head"


async def test_slow_heads_slow_bodies_and_silent_connections_are_closed(start_server):
    """Connections are closed if they send nothing, send a head or body too slowly, or do not read the response.

    Regression test of S7 (tests/defects.md).
    """
    post = b"POST /auth/sign-in HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 900000\r\n\r\n"
    async with start_server() as server:
        silent, half_head, slow_body, stopped_body, chunked_body = [await server.connect() for _ in range(5)]
        await half_head.send(b"GET / HTTP/1.1\r\nHost:")
        await stopped_body.send(post + b"{")
        await chunked_body.send(post.replace(b"Content-Length: 900000", b"Transfer-Encoding: chunked") + b"1\r\n{\r\n")

        async def send_slowly() -> None:
            await slow_body.send(post)
            for _ in range(10_000):
                if slow_body.reader.at_eof():
                    return
                await slow_body.send(b"a")
                await asyncio.sleep(0.05)

        sending = asyncio.create_task(send_slowly())
        assert await silent.read_all() == b""
        assert (await half_head.read_all()).startswith(b"HTTP/1.1 408 ")
        for peer in (stopped_body, slow_body, chunked_body):
            response = await peer.read_all()
            assert response.startswith(b"HTTP/1.1 408 "), response
            assert b'"code":"request_too_slow"' in response
        await sending
        await eventually(lambda: not server.limits.connections)


async def test_a_connection_serves_many_requests_and_is_closed_after_the_idle_timeout(start_server):
    """This also holds for pipelined requests.

    Regression test of S7 (tests/defects.md).
    """
    async with start_server(**LONG_WAITS, idle_wait=timedelta(seconds=4)) as server:
        peer = await server.connect()
        for _ in range(5):
            await peer.send(REQUEST)
            assert b"200 OK" in await peer.reader.readuntil(b"\r\n\r\n")
            await peer.reader.readexactly(len(b'{"status":"ok"}'))
            await asyncio.sleep(0.1)
        assert await peer.read_all() == b""
        pipelined = await server.connect()
        await pipelined.send(REQUEST * 3)
        assert (await pipelined.read_all()).count(b"200 OK") == 3


async def test_a_connection_whose_response_is_not_read_is_closed(start_server):
    """A client that requests much data and does not read it cannot keep its connection.

    Regression test of S7 (tests/defects.md).
    """
    async with start_server() as server:
        peer = await server.connect()
        peer.writer.transport.pause_reading()
        large_request = b"GET /openapi.json HTTP/1.1\r\nHost: x\r\n\r\n"
        for _ in range(30):
            await peer.send(large_request)
        await eventually(lambda: not server.limits.connections)
        peer.writer.transport.abort()


async def test_connections_are_limited_in_total_and_by_address(start_server):
    """A connection above the limit gets 503 at once; a closed connection frees its slot.

    Regression test of S7 (tests/defects.md).
    """
    waits = {"header_wait": timedelta(seconds=LONG_SECONDS)}
    for limits, maximum in (({"connections": 5}, 5), ({}, 20)):
        async with start_server(**limits, **waits) as server:
            peers = [await server.connect() for _ in range(maximum)]
            for peer in peers:
                await peer.send(REQUEST[:20])  # Otherwise they would be closed to make room for the next one.
            await eventually(
                lambda server=server, maximum=maximum: (
                    sum(c.siblings is not None and c not in c.siblings.idle for c in server.limits.connections)
                    == maximum
                )
            )
            refused = await server.connect()
            response = await refused.read_all()
            assert response.startswith(b"HTTP/1.1 503 "), response
            assert b'"code":"too_many_connections"' in response
            peers.pop().writer.close()
            await eventually(lambda server=server, maximum=maximum: len(server.limits.connections) < maximum)
            accepted = await server.connect()
            await accepted.send(REQUEST)
            assert b"200 OK" in await accepted.reader.readuntil(b"\r\n\r\n")
            for peer in (*peers, accepted):
                peer.writer.close()
            await eventually(lambda server=server: not server.limits.connections)
            assert not server.limits.by_address


async def test_half_open_connections_release_their_slots(start_server):
    """Hundreds of connections with half a request line are closed after the header timeout.

    Regression test of S7 (tests/defects.md).
    """
    async with start_server(connections=500, connections_per_address=500) as server:
        peers = [await server.connect() for _ in range(300)]
        for peer in peers:
            await peer.send(b"GET / HT")
        await eventually(lambda: not server.limits.connections)
        for peer in peers:
            peer.writer.close()


async def test_chunk_extensions_and_trailers_are_limited_and_ignored(start_server):
    """Chunk framing is limited, and trailers are not treated as headers.

    Regression test of S7 (tests/defects.md).
    """
    chunked = (
        b"POST /auth/sign-in HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
        b"Transfer-Encoding: chunked\r\n\r\n"
    )
    async with start_server(body_wait=timedelta(seconds=LONG_SECONDS)) as server:
        for framing in (b"1;" + b"x" * 100_000, b"1\r\n{\r\n0\r\nX: " + b"x" * 100_000):
            peer = await server.connect()
            await peer.send(chunked)
            for start in range(0, len(framing), 5_000):
                await peer.send(framing[start : start + 5_000])
                await asyncio.sleep(0)
            response = await peer.read_all()
            assert response == b"" or response.startswith((b"HTTP/1.1 431 ", b"HTTP/1.1 400 ")), response


def test_an_ipv6_network_counts_as_one_client():
    """Rate limits count an IPv6 /64 network as one client if an address of it is a part of the key.

    Regression test of S13 (tests/defects.md).
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


@pytest.mark.parametrize("path", ["", "/dashboard/api"])
async def test_a_closed_connection_ends_the_statement_of_its_request(start_server, project, world, database_url, path):
    """Results that nobody waits for do not occupy the database, and the database's connections can be used again."""
    watch, holder = [await psycopg.AsyncConnection.connect(database_url, autocommit=True) for _ in range(2)]
    waiting = (
        "select count(*) from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock' "
        "and query like '%from sends s%'"
    )
    credential = f"Authorization: Bearer {project.secret_key}"
    if path:
        async with httpx.AsyncClient(
            transport=httpx.ASGITransport(project.client.app), base_url="http://postern.test"
        ) as browser:
            signed_in = await browser.post(
                f"{path}/auth/sign-in",
                json={"email": project.email, "password": PASSWORD},
                headers={"x-postern-dashboard": "1", "sec-fetch-site": "same-origin"},
            )
        cookie = signed_in.headers["set-cookie"].partition(";")[0]
        credential = f"Cookie: {cookie}\r\nX-Postern-Dashboard: 1\r\nSec-Fetch-Site: same-origin"
    request = (
        f"GET {path}/projects/{project.id}/emails/logs HTTP/1.1\r\nHost: postern\r\n{credential}\r\n\r\n"
    ).encode()

    async def until_waiting(number: int) -> None:
        async with asyncio.timeout(LONG_SECONDS):
            while (await (await watch.execute(waiting)).fetchall())[0][0] != number:
                await asyncio.sleep(0.02)

    def number_of_responses() -> int:
        labels = '{operation="list_email_logs",status="499"}'
        match = re.search(
            rf"^postern_http_requests_total{re.escape(labels)} (\S+)", generate_latest().decode(), re.MULTILINE
        )
        return int(float(match[1])) if match else 0

    before = number_of_responses()
    async with watch, holder, start_server(**LONG_WAITS) as server:
        async with holder.transaction():
            await holder.execute("lock table sends in access exclusive mode")
            peers = [await server.connect() for _ in range(world.db.size)]
            for peer in peers:
                await peer.send(request)
            await until_waiting(world.db.size)
            for peer in peers:
                peer.writer.close()
            await until_waiting(0)
        await eventually(lambda: number_of_responses() == before + world.db.size)
        for _ in range(2 * world.db.size):
            peer = await server.connect()
            await peer.send(request.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n"))
            assert (await peer.read_all()).startswith(b"HTTP/1.1 200")


async def test_a_client_that_leaves_before_the_operation_begins_gets_no_result():
    reading, has_result = ReadOnlyTask(), False

    async def respond() -> None:
        nonlocal has_result
        await asyncio.sleep(0)
        reading.begin()
        await asyncio.sleep(0.01)
        has_result = True

    task = asyncio.create_task(respond())
    reading.abandon()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert (reading.is_abandoned, has_result) == (True, False)


async def test_a_stopping_server_ends_each_connection_with_a_response_that_says_so(start_server) -> None:
    async with start_server(**LONG_WAITS) as server:
        idle, busy = await server.connect(), await server.connect()
        for peer in (idle, busy):
            await peer.send(REQUEST)
            assert b"connection: close" not in await peer.reader.readuntil(b"}")
        # A request of which the server has only the first part.
        await busy.send(REQUEST[:20])
        server.limits.end_connections()
        await busy.send(REQUEST[20:])
        await idle.send(REQUEST)
        for peer in (idle, busy, await server.connect()):
            if peer not in (idle, busy):
                await peer.send(REQUEST)
            response = await peer.read_all()
            assert response.startswith(b"HTTP/1.1 200")
            assert b"connection: close" in response


@asynccontextmanager
async def held_requests(server: Server, tenants: list, counts: list[int], url: str) -> AsyncIterator[list[list[Peer]]]:
    """Connections with a request of each tenant for its e-mail log, which the database does not answer in the block."""
    holder = await psycopg.AsyncConnection.connect(url, autocommit=True)
    async with holder, holder.transaction():
        await holder.execute("lock table sends in access exclusive mode")
        peers: list[list[Peer]] = []
        for tenant, count in zip(tenants, counts, strict=True):
            peers.append([await server.connect() for _ in range(count)])
            for peer in peers[-1]:
                await peer.send(request_of(tenant))
        yield peers


def request_of(tenant, path: str = "/emails/logs") -> bytes:
    credential = f"Authorization: Bearer {tenant.secret_key}"
    return f"GET /projects/{tenant.id}{path} HTTP/1.1\r\nHost: postern\r\n{credential}\r\n\r\n".encode()


async def head_of(peer: Peer) -> bytes:
    """The head of the next response; its body is read, too."""
    head = await peer.reader.readuntil(b"\r\n\r\n")
    length = re.search(rb"content-length: (\d+)", head)
    await peer.reader.readexactly(int(length[1]) if length else 0)
    return head


async def statements_that_wait(url: str) -> int:
    async with await psycopg.AsyncConnection.connect(url) as watch:
        return await lock_waits(watch)


async def known_tenants(server: Server, new_project: Callable, count: int) -> list:
    """New projects, of which the server knows the credentials from one request each."""
    tenants = [await new_project() for _ in range(count)]
    for tenant in tenants:
        peer = await server.connect()
        await peer.send(request_of(tenant, ""))
        assert (await head_of(peer)).startswith(b"HTTP/1.1 200")
        peer.writer.close()
    return tenants


async def test_requests_of_others_are_served_while_one_project_uses_all_its_places(
    start_server, new_project, database_url
):
    """Those that wait execute no statement, and are refused with 503; their connections can be used again."""
    limits = {"concurrent_requests": 3, "concurrent_requests_per_project": 2, "queue_wait": timedelta(seconds=0.5)}
    async with start_server(**LONG_WAITS, **limits) as server:
        storm, quiet = await known_tenants(server, new_project, 2)
        other = await server.connect()
        async with held_requests(server, [storm], [5], database_url) as [peers]:
            await other.send(request_of(quiet, ""))
            assert (await head_of(other)).startswith(b"HTTP/1.1 200")
            await other.send(REQUEST)
            assert (await head_of(other)).startswith(b"HTTP/1.1 200")
            refused = [await head_of(peer) for peer in peers[2:]]
            assert await statements_that_wait(database_url) == 2
            await peers[4].send(REQUEST.replace(b"GET", b"HEAD"))
            assert (await peers[4].reader.readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 200")
        for head in refused:
            assert head.startswith(b"HTTP/1.1 503")
            assert b"\r\nretry-after: " in head
            assert b"connection: close" not in head
        for peer in peers[:2]:
            assert (await head_of(peer)).startswith(b"HTTP/1.1 200")
        await peers[2].send(request_of(storm))
        assert (await head_of(peers[2])).startswith(b"HTTP/1.1 200")


async def test_a_foreign_credential_in_another_header_keeps_its_owner(start_server, new_project):
    """Postmark's API reads `X-Postmark-Server-Token`: `Authorization` may have a public key of anybody."""
    async with start_server(**LONG_WAITS) as server:
        attacker, victim = await known_tenants(server, new_project, 2)
        scheduler, key = server.limits.scheduler, hash(victim.secret_key.encode())
        owner = scheduler.owner_of(key)
        lines = [
            "POST /compat/postmark/email HTTP/1.1",
            "Host: postern",
            f"Authorization: Bearer {victim.secret_key}",
            f"X-Postmark-Server-Token: {attacker.secret_key}",
            "Content-Type: application/json",
            "Content-Length: 2",
        ]
        peer = await server.connect()
        await peer.send("\r\n".join([*lines, "", "{}"]).encode())
        assert (await head_of(peer)).startswith(b"HTTP/1.1 422")
        assert scheduler.owner_of(key) == owner != scheduler.owner_of(hash(attacker.secret_key.encode()))


async def test_many_pipelined_requests_are_refused_one_after_the_other(
    start_server, new_project, database_url, monkeypatch
):
    """Within one another, they would exceed the depth of Python's stack, and end what looks after all connections."""
    async with start_server(**LONG_WAITS, concurrent_requests=1, queue_wait=timedelta(seconds=0.5)) as server:
        [busy, tenant], peer = await known_tenants(server, new_project, 2), await server.connect()
        scheduler = server.limits.scheduler
        async with held_requests(server, [busy], [1], database_url):
            await eventually(lambda: scheduler._running == 1)
            await peer.send(request_of(tenant) * PIPELINED)
            await eventually(lambda: sum(len(flow.waiting) for flow in scheduler._turns) == 1)
            monkeypatch.setattr(scheduling, "MAX_WAITING", 0)
            for _ in range(PIPELINED):
                assert (await head_of(peer)).startswith(b"HTTP/1.1 503")
        await eventually(lambda: scheduler._running == 0)
        await peer.send(request_of(tenant, ""))
        assert (await head_of(peer)).startswith(b"HTTP/1.1 200")


@pytest.mark.parametrize("status", [200, 503])
async def test_requests_that_are_pipelined_without_end_do_not_fill_the_memory(
    start_server, new_project, monkeypatch, status
):
    """Only as many as were read at once wait, whether they are executed or refused."""
    async with start_server(**LONG_WAITS) as server:
        [tenant], peer = await known_tenants(server, new_project, 1), await server.connect()
        request = REQUEST.replace(b"Host", b"X: " + b"x" * 100 + b"\r\nHost")
        if status == 503:
            request = request_of(tenant, "")
            monkeypatch.setattr(scheduling, "MAX_WAITING", 0)
            monkeypatch.setattr(server.limits.scheduler, "_has_room", lambda _flow: False)
        sending = asyncio.create_task(peer.send(request * FLOOD))
        [connection] = server.limits.connections
        most = 0
        for _ in range(FLOOD):
            assert (await head_of(peer)).startswith(b"HTTP/1.1 %d" % status)
            most = max(most, len(connection.pipeline))
        await sending
        assert 0 < most <= READ_AT_ONCE / len(request) + 1


async def test_a_client_that_reads_no_responses_of_refused_requests_gets_few(start_server, new_project, monkeypatch):
    async with start_server(**LONG_WAITS) as server:
        [tenant], peer = await known_tenants(server, new_project, 1), await server.connect()
        monkeypatch.setattr(scheduling, "MAX_WAITING", 0)
        monkeypatch.setattr(server.limits.scheduler, "_has_room", lambda _flow: False)
        peer.reader._transport.pause_reading()
        # More than the buffers of the operating system hold.
        sending = asyncio.create_task(peer.send(request_of(tenant, "") * FLOOD * 20))
        [connection] = server.limits.connections
        await eventually(lambda: connection.flow.write_paused)
        await asyncio.sleep(0.3)
        assert connection.transport.get_write_buffer_size() < 200_000
        sending.cancel()
        peer.writer.transport.abort()


async def test_a_client_that_leaves_while_its_request_waits_frees_its_place(start_server, new_project, database_url):
    async with start_server(**LONG_WAITS, concurrent_requests=1) as server:
        tenants = await known_tenants(server, new_project, 2)
        scheduler = server.limits.scheduler
        async with held_requests(server, tenants, [1, 2], database_url) as [_, peers]:
            await eventually(lambda: sum(len(flow.waiting) for flow in scheduler._turns) == 2)
            for peer in peers:
                peer.writer.close()
            await eventually(lambda: not any(flow.waiting for flow in scheduler._turns))


async def test_a_request_whose_body_is_missing_does_not_count(start_server, new_project):
    start = b"POST /auth/sign-in HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n"
    async with start_server(**LONG_WAITS, concurrent_requests=1) as server:
        slow, [tenant] = await server.connect(), await known_tenants(server, new_project, 1)
        await slow.send(start)
        for _ in range(3):
            peer = await server.connect()
            await peer.send(request_of(tenant, ""))
            assert (await head_of(peer)).startswith(b"HTTP/1.1 200")
            peer.writer.close()
        await slow.send(b"not JSON.")
        assert (await head_of(slow)).startswith(b"HTTP/1.1 400")


def large_request_of(tenant) -> bytes:
    """An e-mail with a body that has its own turns; the server responds when it is committed."""
    body = to_json(
        {
            "to": ["ada@example.com"],
            "from": "a@acme.example",
            "subject": "Scan",
            "text": "x" * scheduling.LARGE_BODY_BYTES,
        }
    )
    lines = [
        f"POST /projects/{tenant.id}/emails HTTP/1.1",
        "Host: postern",
        f"Authorization: Bearer {tenant.secret_key}",
        "Content-Type: application/json",
        "Prefer: wait=0",
        f"Content-Length: {len(body)}",
    ]
    return "\r\n".join([*lines, "", ""]).encode() + body


async def test_large_bodies_are_processed_one_at_a_time(start_server, new_project, database_url, monkeypatch):
    """One that waits for too long is refused, and stores nothing; requests without such a body do not wait for them."""
    monkeypatch.setattr(scheduling, "MAX_TURN_SECONDS", LONG_SECONDS)
    monkeypatch.setattr(scheduling, "LONG_SECONDS", LONG_SECONDS)
    monkeypatch.setattr(scheduling, "OTHERS_SECONDS", LONG_SECONDS)
    async with start_server(**LONG_WAITS) as server:
        storm, quiet = await known_tenants(server, new_project, 2)
        turns = server.limits.scheduler.large_bodies
        slow, first, second, late, small = [await server.connect() for _ in range(5)]
        request = large_request_of(storm)
        await slow.send(request[:-1])  # The body is not complete, so it has no turn.
        async with await psycopg.AsyncConnection.connect(database_url) as holder:
            await holder.execute("lock table send_bodies in share mode")
            await first.send(request)
            await eventually(lambda: turns._running == 1)
            await second.send(request)
            await eventually(lambda: bool(turns._waiting))
            with monkeypatch.context() as short:
                short.setattr(scheduling, "LARGE_WAIT_SECONDS", 0.1)
                await late.send(request)
                refused = await head_of(late)
            assert refused.startswith(b"HTTP/1.1 503")
            assert b"\r\nretry-after: " in refused
            await small.send(request_of(quiet))
            assert (await head_of(small)).startswith(b"HTTP/1.1 200")
            assert turns._running == len(turns._waiting) == 1
        await slow.send(request[-1:])
        for peer in (first, second, slow):
            assert (await head_of(peer)).startswith(b"HTTP/1.1 201")
        async with await psycopg.AsyncConnection.connect(database_url) as connection:
            counts = await connection.execute("select count(*) from sends where project_id = %s", (storm.id,))
            assert await counts.fetchone() == (3,)
        await eventually(lambda: turns._running == 0)


async def test_an_idle_connection_of_the_client_with_most_of_them_makes_room(start_server, new_project):
    async with start_server(**LONG_WAITS, connections=5, idle_wait=timedelta(seconds=LONG_SECONDS)) as server:
        tenants = await known_tenants(server, new_project, 2)
        await eventually(lambda: not server.limits.connections)
        peers = [await server.connect() for _ in range(5)]
        for peer, tenant in zip(peers, [tenants[0], *[tenants[1]] * 4], strict=True):
            await peer.send(request_of(tenant, ""))
            assert (await head_of(peer)).startswith(b"HTTP/1.1 200")
        new = await server.connect()
        await new.send(REQUEST)
        assert (await head_of(new)).startswith(b"HTTP/1.1 200")
        assert await peers[1].read_all() == b"", "it was idle for the longest time"
        assert len(server.limits.connections) == 5
        await peers[0].send(REQUEST)
        assert (await head_of(peers[0])).startswith(b"HTTP/1.1 200")
        for peer in (*peers, new):
            peer.writer.close()
        await eventually(lambda: not server.limits.connections and not server.limits.evicted)
        assert not server.limits.by_owner


async def test_a_waiting_request_of_the_project_with_most_of_them_makes_room(start_server, new_project, database_url):
    limits = {"connections": 4, "concurrent_requests": 1, "queue_wait": timedelta(seconds=LONG_SECONDS)}
    async with start_server(**LONG_WAITS, **limits) as server:
        tenants = await known_tenants(server, new_project, 2)
        await eventually(lambda: not server.limits.connections)
        scheduler = server.limits.scheduler
        async with held_requests(server, tenants, [3, 1], database_url) as [storm, [quiet]]:
            await eventually(lambda: sum(len(flow.waiting) for flow in scheduler._turns) == 3)
            new = await server.connect()
            await new.send(REQUEST)
            assert (await head_of(new)).startswith(b"HTTP/1.1 200")
            last = await storm[2].read_all()
            assert last.startswith(b"HTTP/1.1 503")
            assert b"\r\nretry-after: " in last
            assert b"connection: close" in last
        for peer in (*storm[:2], quiet):
            assert (await head_of(peer)).startswith(b"HTTP/1.1 200")


async def test_a_refused_client_can_still_send_its_request_and_read_the_response(start_server):
    async with start_server(**LONG_WAITS, connections=1) as server:
        busy = await server.connect()
        await busy.send(REQUEST[:20])
        await eventually(lambda: any(c.siblings is not None and not c.siblings.idle for c in server.limits.connections))
        refused = await server.connect()
        await eventually(lambda: len(server.limits.refused) == 1)
        await refused.send(REQUEST)
        response = await refused.read_all()
        assert response.startswith(b"HTTP/1.1 503 ")
        assert b"\r\nretry-after: " in response
        refused.writer.close()
        await eventually(lambda: not server.limits.refused)
