"""HTTP client for URLs that users supply, protected against SSRF.

    request → parse the URL strictly → resolve all addresses of the host → refuse if any is special-purpose
            → connect to a checked address → send → OutboundResponse | OutboundRefused | OutboundFailed

The client follows no redirects, reads no proxy settings, requests no compression, and keeps a limited part of the
response for a limited time. It checks the addresses of the host for each request, which defeats DNS rebinding.
Connections are reused between requests to the same host at the same address.
"""

import asyncio
import re
import ssl
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Literal, NamedTuple, cast

import certifi
import httptools

from postern.kernel.http.scheduling import paused_request
from postern.kernel.outbound.ssrf import (
    Address,
    AddressRefused,
    Lookup,
    Network,
    OutboundUrl,
    addresses_in,
    permitted,
    read_target,
)

TOTAL_TIMEOUT = timedelta(seconds=15)
"""The time limit of one request, from the lookup to the last byte of the response."""
CONNECT_TIMEOUT = timedelta(seconds=5)
"""The time limit for establishing a connection, including TLS."""
KEPT_BYTES = 4_096
"""The default number of bytes that are kept of a response body."""
HEAD_BYTES = 32_768
"""The size limit of a response's head, including interim (1xx) responses."""
DRAINED_BYTES = 65_536
"""How much of a body is read beyond the kept part, so that the connection can be reused."""
ADDRESSES_TRIED = 4
"""How many addresses of a host are tried to establish a connection."""
OPEN_CONNECTIONS = 600
"""Maximum concurrent requests. Together with IDLE_CONNECTIONS, it is below the common limit of 1,024 file
descriptors."""
IDLE_CONNECTIONS = 200
IDLE_SECONDS = 4.0
"""How long an idle connection is kept: less than the five seconds after which common servers close it."""
USER_AGENT = "Postern/0.1"
KEPT_HEADERS = frozenset(
    {
        "cache-control",
        "content-type",
        "date",
        "etag",
        "expires",
        "last-modified",
        "location",
        "replay-nonce",
        "retry-after",
    }
)
"""Headers of a response that are kept; the others are dropped."""

Method = Literal["GET", "POST", "PUT"]
OutboundFailureKind = Literal["dns", "connect", "tls", "timeout", "protocol"]
_TOKEN = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
_VALUE = re.compile(r"[\x20-\x7e\t]*")


@dataclass(frozen=True, slots=True)
class OutboundResponse:
    """The response of the server, whatever its status."""

    status: int
    headers: Mapping[str, str]
    """Those of KEPT_HEADERS that the server sent, names in lower case."""
    body: bytes
    """The first bytes of the body, as many as the request asked to keep."""
    complete: bool
    """Whether `body` is the complete body."""
    seconds: float

    @property
    def ok(self) -> bool:
        """Whether the status is 2xx. Redirects are not followed and do not count."""
        return 200 <= self.status < 300


@dataclass(frozen=True, slots=True)
class OutboundRefused:
    """No request was made: the URL or its address is not allowed."""

    reason: str
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class OutboundFailed:
    """The request failed without a usable response."""

    kind: OutboundFailureKind
    reason: str
    seconds: float


Outcome = OutboundResponse | OutboundRefused | OutboundFailed


class HostNotFound(LookupError):
    """The host has no address, or the lookup failed. The message is for users."""


class _Failure(Exception):
    def __init__(self, kind: OutboundFailureKind, reason: str) -> None:
        super().__init__(reason)
        self.kind: OutboundFailureKind = kind


class _ConnectionClosed(_Failure):
    """A connection was closed before the first byte of a response."""


class _ConnectionKey(NamedTuple):
    """Identifies interchangeable connections."""

    secure: bool
    host: str
    port: int
    address: Address


class Outbound:
    """The client, one per process and event loop. `async with open_outbound(…)` creates and closes it."""

    def __init__(
        self,
        lookup: Lookup,
        *,
        allowed: Sequence[Network] = (),
        tls: ssl.SSLContext | None = None,
        total: timedelta = TOTAL_TIMEOUT,
        connect: timedelta = CONNECT_TIMEOUT,
    ) -> None:
        """`lookup` returns all addresses of a name; `allowed` lists permitted special-purpose networks.

        `total` and `connect` are the time limits of a request and of establishing its connection.
        """
        self._lookup, self._allowed = lookup, allowed
        self._tls = tls
        self._total, self._connect = total.total_seconds(), connect.total_seconds()
        self._slots = asyncio.Semaphore(OPEN_CONNECTIONS)
        self._idle: dict[_ConnectionKey, list[_Connection]] = {}
        self._idle_count = 0
        self.opened = 0
        """The number of connections opened so far."""

    async def get(
        self,
        url: str,
        *,
        headers: Mapping[str, str] | None = None,
        keep: int = KEPT_BYTES,
        allowed: Sequence[Network] | None = None,
    ) -> Outcome:
        """Send a GET request; see `send`. At most `keep` bytes of the response body are kept."""
        return await self.send("GET", url, headers=headers, keep=keep, allowed=allowed)

    async def post(
        self, url: str, body: bytes, *, headers: Mapping[str, str] | None = None, keep: int = KEPT_BYTES
    ) -> Outcome:
        """Send a POST request with `body`; see `send`. At most `keep` bytes of the response body are kept."""
        return await self.send("POST", url, body=body, headers=headers, keep=keep)

    async def send(
        self,
        method: Method,
        url: str,
        *,
        body: bytes = b"",
        headers: Mapping[str, str] | None = None,
        keep: int = KEPT_BYTES,
        allowed: Sequence[Network] | None = None,
    ) -> Outcome:
        """Send one request without retries. Failures are returned, not raised. Waits for one of OPEN_CONNECTIONS slots.

        `allowed` lists the special-purpose networks that this request may reach; default: those of the client. Raises
        ValueError for an invalid header.
        """
        # The time limit does not include waiting for a free slot.
        with paused_request():
            async with self._slots:
                networks = self._allowed if allowed is None else allowed
                return await self._send(method, url, body, headers or {}, keep, networks)

    async def _send(
        self,
        method: Method,
        url: str,
        body: bytes,
        headers: Mapping[str, str],
        keep: int,
        allowed: Sequence[Network],
    ) -> Outcome:
        clock = asyncio.get_running_loop().time
        started_at = clock()
        try:
            target = read_target(url)
            request = _encode_request(method, target, headers, body)
            async with asyncio.timeout(self._total):
                addresses = await self._permitted(target.host, target.known_addresses, allowed)
                received = await self._exchange(target, addresses, request, keep)
        except AddressRefused as error:
            return OutboundRefused(str(error), clock() - started_at)
        except TimeoutError:
            return OutboundFailed("timeout", f"No complete response within {self._total:g} s.", clock() - started_at)
        except _Failure as failure:
            return OutboundFailed(failure.kind, str(failure), clock() - started_at)
        return OutboundResponse(
            received.status, received.headers, bytes(received.body), received.complete, clock() - started_at
        )

    async def close(self) -> None:
        """Close all idle connections."""
        for connections in list(self._idle.values()):
            for connection in list(connections):
                connection.abort()
        # The transports close in the next iteration of the event loop.
        await asyncio.sleep(0)

    async def resolve(self, host: str) -> list[str]:
        """The permitted addresses of a user-supplied host, for connections by other protocols such as SMTP.

        Raises AddressRefused if one of them is special-purpose and not allowed, HostNotFound if there is none.
        """
        try:
            addresses = await self._permitted(host, addresses_in(host), self._allowed)
        except _Failure as failure:
            raise HostNotFound(str(failure)) from None
        return [str(address) for address in addresses]

    async def _permitted(self, host: str, known_addresses: Sequence[str], allowed: Sequence[Network]) -> list[Address]:
        if known_addresses:
            return permitted(known_addresses, allowed)
        try:
            async with asyncio.timeout(self._connect):
                addresses = await self._lookup(host)
        except TimeoutError:
            raise _Failure("dns", f"The address of {host} could not be found in time.") from None
        except Exception as error:
            # `lookup` is injected and may raise any exception.
            raise _Failure("dns", f"The address of {host} could not be found.") from error
        if not addresses:
            raise _Failure("dns", f"{host} has no address.")
        return permitted(addresses, allowed)

    async def _exchange(self, target: OutboundUrl, addresses: list[Address], request: bytes, keep: int) -> "_Received":
        keys = [_ConnectionKey(target.secure, target.host, target.port, address) for address in addresses]
        while idle := self._take_idle(keys):
            try:
                return await self._exchange_on(idle, request, keep)
            except _ConnectionClosed:
                # The server closed the idle connection while the request was written (RFC 9112 §9.3.1): use another.
                continue
        return await self._exchange_on(await self._open(keys), request, keep)

    async def _exchange_on(self, connection: "_Connection", request: bytes, keep: int) -> "_Received":
        try:
            received = await connection.exchange(request, keep)
        except BaseException:
            connection.abort()
            raise
        if connection.reusable and self._idle_count < IDLE_CONNECTIONS:
            self._put_idle(connection)
        else:
            connection.abort()
        return received

    async def _open(self, keys: list[_ConnectionKey]) -> "_Connection":
        """Connect to the first address that accepts; all addresses share the time limit."""
        failure = _Failure("connect", "The connection could not be made.")
        candidates = keys[:ADDRESSES_TRIED]
        for key in candidates:
            try:
                async with asyncio.timeout(self._connect / len(candidates)):
                    return await self._connect_to(key)
            except ssl.SSLError as error:
                reason = getattr(error, "verify_message", "") or error.reason or "no common TLS version or cipher"
                failure = _Failure("tls", f"The TLS connection could not be made: {reason}.")
            except TimeoutError:
                failure = _Failure("connect", "The connection was not made in time.")
            except OSError as error:
                failure = _Failure("connect", f"The connection could not be made: {error.strerror or error}.")
        raise failure

    async def _connect_to(self, key: _ConnectionKey) -> "_Connection":
        loop = asyncio.get_running_loop()
        if key.secure and not self._tls:
            self._tls = default_tls()
        _, connection = await loop.create_connection(
            lambda: _Connection(key, self._drop_idle),
            str(key.address),
            key.port,
            ssl=self._tls if key.secure else None,
            server_hostname=key.host if key.secure else None,
        )
        self.opened += 1
        return connection

    def _take_idle(self, keys: list[_ConnectionKey]) -> "_Connection | None":
        for key in keys:
            if self._idle.get(key):
                connection = self._idle[key][-1]
                self._drop_idle(connection)
                return connection
        return None

    def _put_idle(self, connection: "_Connection") -> None:
        self._idle.setdefault(connection.key, []).append(connection)
        self._idle_count += 1
        connection.idle_timer = asyncio.get_running_loop().call_later(IDLE_SECONDS, connection.abort)

    def _drop_idle(self, connection: "_Connection") -> None:
        """Remove an idle connection that is taken or closed."""
        if connection.idle_timer is None:
            return
        connection.idle_timer.cancel()
        connection.idle_timer = None
        self._idle_count -= 1
        self._idle[connection.key].remove(connection)
        if not self._idle[connection.key]:
            del self._idle[connection.key]


@asynccontextmanager
async def open_outbound(
    lookup: Lookup, *, allowed: Sequence[Network] = (), tls: ssl.SSLContext | None = None
) -> AsyncGenerator[Outbound]:
    """Create the client; it is closed at the end of the block. For the parameters see Outbound."""
    outbound = Outbound(lookup, allowed=allowed, tls=tls)
    try:
        yield outbound
    finally:
        await outbound.close()


def default_tls() -> ssl.SSLContext:
    """TLS 1.2 or newer with host name checks, trusting the system's and Mozilla's certificate authorities."""
    context = ssl.create_default_context()
    context.load_verify_locations(certifi.where())
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    return context


def _encode_request(method: Method, target: OutboundUrl, headers: Mapping[str, str], body: bytes) -> bytes:
    """The request as bytes (RFC 9112 §3)."""
    lines = [
        f"{method} {target.path} HTTP/1.1",
        f"Host: {target.authority}",
        f"User-Agent: {USER_AGENT}",
        "Accept: */*",
        "Accept-Encoding: identity",
    ]
    for name, value in headers.items():
        if not _TOKEN.fullmatch(name) or not _VALUE.fullmatch(value):
            raise ValueError(f"{name!r} is not a valid header.")
        lines.append(f"{name}: {value}")
    if method != "GET":
        lines.append(f"Content-Length: {len(body)}")
    return "\r\n".join(lines).encode("ascii") + b"\r\n\r\n" + body


@dataclass(slots=True)
class _Received:
    """A response while it is received."""

    keep: int
    status: int = 0
    headers: dict[str, str] = field(default_factory=dict[str, str])
    framed: bool = False
    """Whether the response has a length or chunked encoding. Otherwise the end of the connection ends the response
    (RFC 9112 §6.3)."""
    has_head: bool = False
    """Whether the head of the final response is complete."""
    body: bytearray = field(default_factory=bytearray)
    complete: bool = True
    """Whether `body` has all bytes of the body so far."""
    ended: bool = False
    """Whether the response has been received to its end."""
    raw_bytes: int = 0
    """Bytes received, with heads, framing and body."""


class _Connection(asyncio.Protocol):
    """One connection with one request at a time; llhttp parses the responses."""

    def __init__(self, key: _ConnectionKey, on_end: Callable[["_Connection"], None]) -> None:
        self.key, self._on_end = key, on_end
        self.idle_timer: asyncio.TimerHandle | None = None
        """Closes the connection after IDLE_SECONDS; None while it is in use."""
        self.reusable = False
        self._transport: asyncio.Transport | None = None
        self._done: asyncio.Future[_Received] | None = None
        self._received = _Received(0)
        self._parser = httptools.HttpResponseParser(self)

    async def exchange(self, request: bytes, keep: int) -> _Received:
        """Send a request and read its response. Raises _Failure; the caller limits the time."""
        self.reusable = False
        if self._transport is None or self._transport.is_closing():
            raise _ConnectionClosed("protocol", "The connection was closed before a response arrived.")
        self._received = _Received(keep)
        self._parser = httptools.HttpResponseParser(self)
        self._done = asyncio.get_running_loop().create_future()
        self._transport.write(request)
        try:
            return await self._done
        finally:
            self._done = None

    def abort(self) -> None:
        """Close the connection immediately, without waiting for the server."""
        self._on_end(self)
        if self._transport:
            self._transport.abort()

    # Callbacks of asyncio.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)

    def data_received(self, data: bytes) -> None:
        received, done = self._received, self._done
        if done is None or done.done():
            # Unsolicited data must not become the response to the next request.
            self.abort()
            return
        received.raw_bytes += len(data)
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserUpgrade:
            self._fail("The response switches to another protocol.")
        except httptools.HttpParserError:
            if not received.ended:
                self._fail("The response is not HTTP.")
            else:
                self._finish(reusable=False)
        else:
            self._enforce_size_limits(received)

    def eof_received(self) -> None:
        return None

    def connection_lost(self, exc: Exception | None) -> None:
        self._on_end(self)
        received, done = self._received, self._done
        if done is None or done.done():
            return
        if received.has_head and not received.framed and exc is None:
            self._finish(reusable=False)
        elif received.raw_bytes == 0:
            done.set_exception(_ConnectionClosed("protocol", "The connection was closed before a response arrived."))
        else:
            self._fail("The connection was closed in the middle of the response.")

    # Callbacks of llhttp.

    def on_message_begin(self) -> None:
        if self._received.ended:
            # A second response to one request: the connection is out of sync.
            self.reusable = False

    def on_header(self, name: bytes, value: bytes) -> None:
        if self._received.ended:
            return
        lower = name.decode("latin-1").lower()
        if lower in {"content-length", "transfer-encoding"}:
            self._received.framed = True
        if lower in KEPT_HEADERS:
            self._received.headers[lower] = value.decode("latin-1")

    def on_headers_complete(self) -> None:
        if self._received.ended:
            return
        status = self._parser.get_status_code()
        if status < 200:
            self._received.headers.clear()
            self._received.framed = False
            return
        self._received.status = status
        self._received.has_head = True

    def on_body(self, body: bytes) -> None:
        received = self._received
        if received.ended:
            return
        capacity = received.keep - len(received.body)
        received.body += body[:capacity] if capacity > 0 else b""
        if len(body) > capacity:
            received.complete = False

    def on_message_complete(self) -> None:
        if not self._received.has_head or self._received.ended:
            return  # An interim response (RFC 9110 §15.2), or a second one.
        self._received.ended = True
        self._finish(reusable=self._parser.should_keep_alive())

    def _enforce_size_limits(self, received: _Received) -> None:
        if received.ended:
            return
        if not received.has_head and received.raw_bytes > HEAD_BYTES:
            self._fail("The head of the response is too long.")
        elif received.has_head and received.raw_bytes > HEAD_BYTES + 2 * received.keep + DRAINED_BYTES:
            received.complete = False
            self._finish(reusable=False)

    def _finish(self, *, reusable: bool) -> None:
        self.reusable = reusable
        if self._done and not self._done.done():
            self._done.set_result(self._received)

    def _fail(self, reason: str) -> None:
        if self._done and not self._done.done():
            self._done.set_exception(_Failure("protocol", reason))
