"""The one HTTP client for addresses that callers chose.

    request → read the URL strictly → all addresses of the name → refuse if any is special
            → connect to an address that was looked at → send → Answer | OutboundRefused | OutboundFailed

It is small on purpose. It follows no redirect, reads no proxy setting, asks for no compression, keeps a
bounded part of the answer for a bounded time, and looks the name up anew for each request, so that a
name which changes its mind (DNS rebinding) gains nothing. Connections are reused between requests to the
same name at the same address, which is what makes it fast.
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

TOTAL = timedelta(seconds=15)
"""How long one request may take from the lookup to the last byte we want."""
CONNECT = timedelta(seconds=5)
"""How much of that may pass before there is a connection, TLS included."""
KEPT_BYTES = 4_096
HEAD_BYTES = 32_768
"""How long the head of an answer may be, interim (1xx) answers included."""
DRAINED_BYTES = 65_536
"""How much more of a body we read only to be able to use the connection again."""
ADDRESSES_TRIED = 4
OPEN_CONNECTIONS = 600
"""Requests side by side; with the idle ones below the 1,024 descriptors that a process commonly gets."""
IDLE_CONNECTIONS = 200
IDLE_SECONDS = 4.0
"""Shorter than the five seconds after which common servers hang up."""
USER_AGENT = "Postern/0.1"
KEPT_HEADERS = frozenset(
    {"cache-control", "content-type", "date", "etag", "expires", "last-modified", "location", "retry-after"}
)

Method = Literal["GET", "POST", "PUT"]
Trouble = Literal["dns", "connect", "tls", "timeout", "protocol"]
_TOKEN = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
_VALUE = re.compile(r"[\x20-\x7e\t]*")


@dataclass(frozen=True, slots=True)
class OutboundResponse:
    """What the other side said, whatever its status."""

    status: int
    headers: Mapping[str, str]
    """Those of KEPT_HEADERS that were sent, names in lower case."""
    body: bytes
    """The first bytes of the body, as many as the request wanted to keep."""
    complete: bool
    """Whether `body` is all of it."""
    seconds: float

    @property
    def ok(self) -> bool:
        """2xx. A redirect is not: it is never followed."""
        return 200 <= self.status < 300


@dataclass(frozen=True, slots=True)
class OutboundRefused:
    """We did not call: the address is none that a customer may make us call."""

    reason: str
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class OutboundFailed:
    """We called and got no answer that can be used."""

    kind: Trouble
    reason: str
    seconds: float


Outcome = OutboundResponse | OutboundRefused | OutboundFailed


class HostNotFound(LookupError):
    """The DNS says no address of a host, or says nothing. The text is for people."""


class _Failure(Exception):
    def __init__(self, kind: Trouble, reason: str) -> None:
        super().__init__(reason)
        self.kind: Trouble = kind


class _HungUp(_Failure):
    """A connection in use ended before the first byte of an answer."""


class _Key(NamedTuple):
    """Connections with the same key are interchangeable."""

    secure: bool
    host: str
    port: int
    address: Address


class Outbound:
    """The client. One per process and event loop; `async with open_outbound(…)` closes it."""

    def __init__(
        self,
        lookup: Lookup,
        *,
        allowed: Sequence[Network] = (),
        tls: ssl.SSLContext | None = None,
        total: timedelta = TOTAL,
        connect: timedelta = CONNECT,
    ) -> None:
        """`lookup` gives all addresses of a name, `allowed` opens networks that are special."""
        self._lookup, self._allowed = lookup, allowed
        self._tls = tls
        self._total, self._connect = total.total_seconds(), connect.total_seconds()
        self._slots = asyncio.Semaphore(OPEN_CONNECTIONS)
        self._idle: dict[_Key, list[_Connection]] = {}
        self._idle_count = 0
        self.opened = 0
        """How many connections were ever opened."""

    async def get(self, url: str, *, headers: Mapping[str, str] | None = None, keep: int = KEPT_BYTES) -> Outcome:
        """Fetch a document, keeping at most `keep` bytes of it."""
        return await self.send("GET", url, headers=headers, keep=keep)

    async def post(
        self, url: str, body: bytes, *, headers: Mapping[str, str] | None = None, keep: int = KEPT_BYTES
    ) -> Outcome:
        """Send `body`, keeping at most `keep` bytes of the answer's."""
        return await self.send("POST", url, body=body, headers=headers, keep=keep)

    async def send(
        self,
        method: Method,
        url: str,
        *,
        body: bytes = b"",
        headers: Mapping[str, str] | None = None,
        keep: int = KEPT_BYTES,
    ) -> Outcome:
        """One request, one outcome; nothing is retried, and nothing that the other side does raises."""
        # Waiting for a turn is not the other side's slowness, so it does not count.
        async with self._slots:
            return await self._send(method, url, body, headers or {}, keep)

    async def _send(self, method: Method, url: str, body: bytes, headers: Mapping[str, str], keep: int) -> Outcome:
        clock = asyncio.get_running_loop().time
        began = clock()
        try:
            target = read_target(url)
            request = _written(method, target, headers, body)
            async with asyncio.timeout(self._total):
                addresses = await self._addresses(target)
                head = await self._exchange(target, addresses, request, keep)
        except AddressRefused as refused:
            return OutboundRefused(str(refused), clock() - began)
        except TimeoutError:
            return OutboundFailed("timeout", f"No complete answer in {self._total:g} s.", clock() - began)
        except _Failure as failure:
            return OutboundFailed(failure.kind, str(failure), clock() - began)
        return OutboundResponse(head.status, head.headers, bytes(head.body), head.complete, clock() - began)

    async def close(self) -> None:
        """Hang up everywhere."""
        for connections in list(self._idle.values()):
            for connection in list(connections):
                connection.abort()
        # The transports close in the loop's next turn.
        await asyncio.sleep(0)

    async def resolve(self, host: str) -> list[str]:
        """The addresses that a connection to a host which a customer named may go to, whatever is spoken there.

        Raises AddressRefused if one of them is special, and HostNotFound where there is none to be found.
        """
        try:
            found = await self._permitted(host, addresses_in(host))
        except _Failure as failure:
            raise HostNotFound(str(failure)) from None
        return [str(address) for address in found]

    async def _addresses(self, target: OutboundUrl) -> list[Address]:
        return await self._permitted(target.host, target.spelled)

    async def _permitted(self, host: str, spelled: Sequence[str]) -> list[Address]:
        if spelled:
            return permitted(spelled, self._allowed)
        try:
            async with asyncio.timeout(self._connect):
                found = await self._lookup(host)
        except TimeoutError:
            raise _Failure("dns", f"The address of {host} could not be found in time.") from None
        except Exception as trouble:
            # Which resolver is used is not known here, so neither is what it raises.
            raise _Failure("dns", f"The address of {host} could not be found.") from trouble
        if not found:
            raise _Failure("dns", f"{host} has no address.")
        return permitted(found, self._allowed)

    async def _exchange(self, target: OutboundUrl, addresses: list[Address], request: bytes, keep: int) -> "_Received":
        keys = [_Key(target.secure, target.host, target.port, address) for address in addresses]
        while idle := self._take_idle(keys):
            try:
                return await self._exchange_on(idle, request, keep)
            except _HungUp:
                # The other side closed an idle connection as we wrote (RFC 9112 §9.3.1): not its answer.
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

    async def _open(self, keys: list[_Key]) -> "_Connection":
        """Connect to the first address that answers; all of them share the time."""
        trouble = _Failure("connect", "The connection could not be made.")
        tried = keys[:ADDRESSES_TRIED]
        for key in tried:
            try:
                async with asyncio.timeout(self._connect / len(tried)):
                    return await self._connect_to(key)
            except ssl.SSLError as wrong:
                reason = getattr(wrong, "verify_message", "") or wrong.reason or "no common ground"
                trouble = _Failure("tls", f"The TLS connection could not be made: {reason}.")
            except TimeoutError:
                trouble = _Failure("connect", "The connection was not made in time.")
            except OSError as wrong:
                trouble = _Failure("connect", f"The connection could not be made: {wrong.strerror or wrong}.")
        raise trouble

    async def _connect_to(self, key: _Key) -> "_Connection":
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

    def _take_idle(self, keys: list[_Key]) -> "_Connection | None":
        for key in keys:
            if self._idle.get(key):
                connection = self._idle[key][-1]
                self._drop_idle(connection)
                return connection
        return None

    def _put_idle(self, connection: "_Connection") -> None:
        self._idle.setdefault(connection.key, []).append(connection)
        self._idle_count += 1
        connection.idle = asyncio.get_running_loop().call_later(IDLE_SECONDS, connection.abort)

    def _drop_idle(self, connection: "_Connection") -> None:
        """Forget an idle connection: it is taken, or it ended."""
        if connection.idle is None:
            return
        connection.idle.cancel()
        connection.idle = None
        self._idle_count -= 1
        self._idle[connection.key].remove(connection)
        if not self._idle[connection.key]:
            del self._idle[connection.key]


@asynccontextmanager
async def open_outbound(
    lookup: Lookup, *, allowed: Sequence[Network] = (), tls: ssl.SSLContext | None = None
) -> AsyncGenerator[Outbound]:
    """The client, closed at the end of the block."""
    outbound = Outbound(lookup, allowed=allowed, tls=tls)
    try:
        yield outbound
    finally:
        await outbound.close()


def default_tls() -> ssl.SSLContext:
    """TLS 1.2 or newer, names checked, trusting this machine's authorities and Mozilla's."""
    context = ssl.create_default_context()
    context.load_verify_locations(certifi.where())
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    return context


def _written(method: Method, target: OutboundUrl, headers: Mapping[str, str], body: bytes) -> bytes:
    """A request as it goes on the wire (RFC 9112 §3)."""
    lines = [
        f"{method} {target.path} HTTP/1.1",
        f"Host: {target.authority}",
        f"User-Agent: {USER_AGENT}",
        "Accept: */*",
        "Accept-Encoding: identity",
    ]
    for name, value in headers.items():
        if not _TOKEN.fullmatch(name) or not _VALUE.fullmatch(value):
            raise ValueError(f"{name!r} is not a header that can be sent.")
        lines.append(f"{name}: {value}")
    if method != "GET":
        lines.append(f"Content-Length: {len(body)}")
    return "\r\n".join(lines).encode("ascii") + b"\r\n\r\n" + body


@dataclass(slots=True)
class _Received:
    """An answer while it arrives."""

    keep: int
    status: int = 0
    headers: dict[str, str] = field(default_factory=dict[str, str])
    framed: bool = False
    """Whether the answer says where it ends; otherwise it ends with the connection (RFC 9112 §6.3)."""
    begun: bool = False
    """Whether the final answer's head is complete."""
    body: bytearray = field(default_factory=bytearray)
    complete: bool = True
    ended: bool = False
    raw_bytes: int = 0


class _Connection(asyncio.Protocol):
    """One connection, one request at a time; llhttp reads the answers."""

    def __init__(self, key: _Key, ended: Callable[["_Connection"], None]) -> None:
        self.key, self._ended = key, ended
        self.idle: asyncio.TimerHandle | None = None
        self.reusable = False
        self._transport: asyncio.Transport | None = None
        self._done: asyncio.Future[_Received] | None = None
        self._received = _Received(0)
        self._parser = httptools.HttpResponseParser(self)

    async def exchange(self, request: bytes, keep: int) -> _Received:
        """Write a request and read its answer. Raises _Failure; the caller sets the time."""
        self.reusable = False
        if self._transport is None or self._transport.is_closing():
            raise _HungUp("protocol", "The connection was closed before an answer came.")
        self._received = _Received(keep)
        self._parser = httptools.HttpResponseParser(self)
        self._done = asyncio.get_running_loop().create_future()
        self._transport.write(request)
        try:
            return await self._done
        finally:
            self._done = None

    def abort(self) -> None:
        """Hang up without ceremony: a farewell would wait for the other side."""
        self._ended(self)
        if self._transport:
            self._transport.abort()

    # What asyncio calls.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)

    def data_received(self, data: bytes) -> None:
        received, done = self._received, self._done
        if done is None or done.done():
            # Nobody asked: whatever this is, it must not become the answer to the next request.
            self.abort()
            return
        received.raw_bytes += len(data)
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserUpgrade:
            self._fail("The answer switches to another protocol.")
        except httptools.HttpParserError:
            if not received.ended:
                self._fail("The answer is not HTTP.")
            else:
                self._finish(reusable=False)
        else:
            self._limit(received)

    def eof_received(self) -> None:
        return None

    def connection_lost(self, exc: Exception | None) -> None:
        self._ended(self)
        received, done = self._received, self._done
        if done is None or done.done():
            return
        if received.begun and not received.framed and exc is None:
            self._finish(reusable=False)
        elif received.raw_bytes == 0:
            done.set_exception(_HungUp("protocol", "The connection was closed before an answer came."))
        else:
            self._fail("The connection was closed in the middle of the answer.")

    # What llhttp calls.

    def on_message_begin(self) -> None:
        if self._received.ended:
            # A second answer to one request: this connection is out of step.
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
        self._received.begun = True

    def on_body(self, body: bytes) -> None:
        received = self._received
        if received.ended:
            return
        room = received.keep - len(received.body)
        received.body += body[:room] if room > 0 else b""
        if len(body) > room:
            received.complete = False

    def on_message_complete(self) -> None:
        if not self._received.begun or self._received.ended:
            return  # An interim answer (RFC 9110 §15.2), the real one follows; or a surplus one.
        self._received.ended = True
        self._finish(reusable=self._parser.should_keep_alive())

    def _limit(self, received: _Received) -> None:
        if received.ended:
            return
        if not received.begun and received.raw_bytes > HEAD_BYTES:
            self._fail("The head of the answer is too long.")
        elif received.begun and received.raw_bytes > HEAD_BYTES + 2 * received.keep + DRAINED_BYTES:
            received.complete = False
            self._finish(reusable=False)

    def _finish(self, *, reusable: bool) -> None:
        self.reusable = reusable
        if self._done and not self._done.done():
            self._done.set_result(self._received)

    def _fail(self, reason: str) -> None:
        if self._done and not self._done.done():
            self._done.set_exception(_Failure("protocol", reason))
