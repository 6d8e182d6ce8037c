"""Limits of connections: their number, the size of heads and bodies, and how slow a client may be.

They protect a server without a reverse proxy from clients that send endless heads, or nothing. One periodic sweep over
all connections checks the timeouts, so that no request needs its own timer.
"""

import asyncio
from collections import Counter, OrderedDict, deque
from collections.abc import Generator, Hashable
from contextlib import contextmanager
from contextvars import Context
from dataclasses import dataclass, field
from datetime import timedelta
from enum import Enum, auto
from ipaddress import IPv4Network, IPv6Network, ip_address
from typing import Any, ClassVar

import uvicorn
from uvicorn.protocols.http.flow_control import FlowControl
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol, RequestResponseCycle

from postern.kernel.config import Settings
from postern.kernel.http.middleware import ReadOnlyTask
from postern.kernel.http.problems import BadRequest, Problem, Unavailable
from postern.kernel.http.responses import problem_document
from postern.kernel.http.scheduling import EXEMPT_PATHS, SHED_CONNECTIONS, RequestScheduler, ScheduledRequest
from postern.kernel.limits import network_of
from postern.kernel.values import new_id, to_json

MIN_BODY_PROGRESS = 4_096
"""Bytes of a body that must arrive within `body_wait`, unless the body ends before."""
DISCARDED_LIMIT = 1_048_576
"""Maximum bytes of a body that are still read after the response is complete."""
MAX_HEADER_FIELDS = 200
"""Maximum number of header fields in a request."""
MAX_FRAMING_OVERHEAD = 8
"""Bytes of chunked framing per byte of a body in the worst case."""
CLOSE_WAIT = timedelta(seconds=5)
"""How long a client may take to read the rest of a response when the connection is closed."""
MAX_REFUSED = 200
"""Refused connections of a process that wait for their client to close them, which reads the response before. Further
ones are closed at once: then the client may get no response, if it is sending a request."""
MIN_IDLE_SECONDS = 1.0
"""How long a connection must have been unused after it was opened, before it is closed to make room for another."""
WRITABLE_AFTER_SECONDS = 0.05
"""How long to wait before looking again whether a client has read responses."""
CREDENTIAL_HEADERS = (b"authorization", b"x-postmark-server-token", b"cookie")
"""Headers that may have the credential of a request; the first of them that it has counts."""


class HeaderTooLarge(Problem):
    """The head of this request is larger than the server accepts."""

    status = 431


class RequestTooSlow(Problem):
    """The request did not arrive in time; send it again."""

    status = 408


class TooManyConnections(Unavailable):
    """There are too many connections at the moment; try again shortly, and close those that are not needed."""


class RequestMalformed(BadRequest):
    """This is not a valid HTTP request."""


class Phase(Enum):
    """The phases of a connection, which have different limits."""

    HEADER = auto()
    BODY = auto()
    RESPONSE = auto()
    """The request is complete, the response is not; this time is not limited here."""
    IDLE = auto()
    """Between two requests. Not limited here: uvicorn closes the connection after `idle_wait`."""


@dataclass(eq=False)
class ClientConnections:
    """The connections of a client: of the owner of their last requests (see `Flow`), or before, of an address."""

    connections: int = 0
    idle: "OrderedDict[LimitedProtocol, None]" = field(default_factory=OrderedDict["LimitedProtocol", None])
    """Those without a request; the one that has been idle for the longest time is the first."""


@dataclass
class ConnectionLimits:
    """The limits of one API process, and the connections that are open."""

    header_bytes: int
    header_seconds: float
    body_seconds: float
    max_connections: int
    max_per_address: int
    exempt: tuple[IPv4Network | IPv6Network, ...]
    """Trusted proxies, whose connections are not limited by address."""
    scheduler: RequestScheduler
    by_address: Counter[str] = field(default_factory=Counter[str])
    """The number of open connections by network (see `network_of`)."""
    connections: "set[LimitedProtocol]" = field(default_factory=set["LimitedProtocol"])
    by_owner: dict[Hashable, ClientConnections] = field(default_factory=dict[Hashable, ClientConnections])
    refused: "set[LimitedProtocol]" = field(default_factory=set["LimitedProtocol"])
    """Refused connections that are not closed yet; they are not among `connections`."""
    evicted: "set[LimitedProtocol]" = field(default_factory=set["LimitedProtocol"])
    """Connections that were closed to make room for others, until they are closed; not among `connections`."""
    is_stopping: bool = False
    """Whether each connection ends with its next response."""
    _sweeping: bool = False

    @classmethod
    def of(cls, settings: Settings) -> "ConnectionLimits":
        """The limits that `settings` configure, without connections."""
        return cls(
            header_bytes=settings.header_limit,
            header_seconds=settings.header_wait.total_seconds(),
            body_seconds=settings.body_wait.total_seconds(),
            max_connections=settings.connections,
            max_per_address=settings.connections_per_address,
            exempt=settings.trusted_proxies,
            scheduler=RequestScheduler(
                settings.concurrent_requests,
                settings.concurrent_requests_per_project,
                settings.queue_wait.total_seconds(),
            ),
        )

    def admit(self, connection: "LimitedProtocol", address: str) -> str | None:
        """Count a new connection. Raises TooManyConnections if this process has too many connections, or too many from
        the network of `address`. Also starts the regular check for slow clients (`end_if_late`).

        If the process has too many, a connection of the client with the most of them is closed instead: one that is
        idle, or that of the request that came last of those that wait.

        Returns the key to pass to `remove`: the network of the address, or None if the connection is not limited by
        address.
        """
        key = None if self.is_exempt(address) else network_of(address)
        if key is not None and self.by_address[key] >= self.max_per_address:
            raise TooManyConnections("There are too many connections from this address; close some of them.")
        if (
            len(self.connections) >= self.max_connections
            and not self._close_idle(connection.loop.time())
            and not self.scheduler.refuse_last()
        ):
            raise TooManyConnections
        if key is not None:
            self.by_address[key] += 1
        self.connections.add(connection)
        self.join(connection, network_of(address) if key is None else key)
        if not self._sweeping:
            self._sweeping = True
            self._schedule_sweep(connection.loop)
        return key

    def remove(self, connection: "LimitedProtocol", key: str | None) -> None:
        """Remove a closed connection from the count."""
        self.connections.discard(connection)
        self._leave(connection)
        if key is not None:
            self.by_address[key] -= 1
            if not self.by_address[key]:
                del self.by_address[key]

    def join(self, connection: "LimitedProtocol", owner: Hashable) -> None:
        """Count a connection among those of `owner`, and not of another one any more."""
        self._leave(connection)
        group = self.by_owner.get(owner)
        if group is None:
            group = self.by_owner[owner] = ClientConnections()
        group.connections += 1
        connection.owner, connection.siblings = owner, group

    def _leave(self, connection: "LimitedProtocol") -> None:
        group = connection.siblings
        if group is not None:
            connection.siblings = None
            group.idle.pop(connection, None)
            group.connections -= 1
            if not group.connections:
                del self.by_owner[connection.owner]

    def _close_idle(self, now: float) -> bool:
        """Close an idle connection of the client with the most connections. Returns whether there was one."""
        for group in sorted(
            (group for group in self.by_owner.values() if group.idle), key=lambda group: -group.connections
        ):
            connection = next(iter(group.idle))
            if connection.close_idle(now):
                SHED_CONNECTIONS.inc()
                return True
        return False

    def end_connections(self) -> None:
        """End each connection with its next response, which says so (`Connection: close`).

        Otherwise clients would send requests on connections that the process closes at the same time: such a request
        fails, and the client cannot know whether it was executed.
        """
        self.is_stopping = True
        for connection in self.connections:
            connection.end_after_response()

    def is_exempt(self, address: str) -> bool:
        """Whether an address is that of a trusted proxy, or none: that of a Unix socket."""
        try:
            ip = ip_address(address)
        except ValueError:
            return True  # A Unix socket, which only a local proxy uses.
        return any(ip in network for network in self.exempt)

    def _schedule_sweep(self, loop: asyncio.AbstractEventLoop) -> None:
        loop.call_later(min(1.0, self.header_seconds / 4, self.body_seconds / 4), self._sweep, loop)

    def _sweep(self, loop: asyncio.AbstractEventLoop) -> None:
        now = loop.time()
        try:
            for connection in (*self.connections, *self.refused, *self.evicted):
                connection.end_if_late(now)
            self.scheduler.sweep(now)
        finally:
            self._sweeping = bool(self.connections or self.refused or self.evicted)
            if self._sweeping:
                self._schedule_sweep(loop)


class _ResponseTransport:
    """The transport of one response: writes the head together with the first part of the body, which saves a system
    call, and the client one wake-up. The head of a response of unknown length is written at once."""

    def __init__(self, cycle: RequestResponseCycle) -> None:
        self._transport = cycle.transport
        self._cycle: RequestResponseCycle | None = cycle
        """None once uvicorn has written the head: otherwise the two would keep each other until the next garbage
        collection."""
        self._head = b""
        """The head while it waits for the body."""

    def write(self, data: bytes) -> None:
        cycle = self._cycle
        if cycle is not None and cycle.response_started:
            self._cycle = None
            # uvicorn has set the length of the body that follows. It writes none for HEAD.
            if cycle.expected_content_length and cycle.scope["method"] != "HEAD":
                self._head = data
                return
        if self._head:
            data, self._head = self._head + data, b""
        self._transport.write(data)

    def close(self) -> None:
        if self._head:
            self.write(b"")
        self._transport.close()

    def is_closing(self) -> bool:
        return self._transport.is_closing()


class _PipelineFlow(FlowControl):
    """Reads nothing more of a connection as long as requests wait in its pipeline.

    uvicorn goes on reading after each response, and parses thousands of requests meanwhile.
    """

    def __init__(self, transport: asyncio.Transport, pipeline: deque[Any]) -> None:
        super().__init__(transport)
        self._pipeline = pipeline

    def resume_reading(self) -> None:
        if not self._pipeline:
            super().resume_reading()


class _ConnectionRequest(ScheduledRequest):
    """A request of a connection."""

    __slots__ = ("_connection", "_cycle")

    def __init__(
        self,
        connection: "LimitedProtocol",
        cycle: RequestResponseCycle,
        app: Any,
        credential: int | None,
        owner: Hashable,
        *,
        is_cookie: bool,
    ) -> None:
        now = connection.loop.time()
        super().__init__(connection.limits.scheduler, app, credential, owner, now, is_cookie=is_cookie)
        self._connection = connection
        self._cycle = cycle

    def start(self) -> None:
        self._connection.start(self._cycle, self)

    @property
    def has_arrived(self) -> bool:
        return self._cycle.message_event.is_set()

    def refuse(self, problem: Unavailable, *, close: bool = False) -> None:
        self._connection.refuse_request(self._cycle, problem, close=close)


class LimitedProtocol(HttpToolsProtocol):
    """An HTTP connection with limits. Use a subclass from `limited_protocol`."""

    limits: ClassVar[ConnectionLimits]
    owner: Hashable = None
    """The owner of the last request; before the first one, the network of the client's address."""
    siblings: ClientConnections | None = None
    """The connections of the same owner; None if this connection is not counted."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._count_key: str | None = None
        self._admitted = False
        self._phase = Phase.HEADER
        self._phase_began_at = self.loop.time()
        self._head_bytes_read = 0
        """Bytes read since the head began; the last of them may belong to the body."""
        self._header_field_bytes = 0
        """Bytes of the parsed header fields."""
        self._is_head_too_large = False
        self._body_bytes = 0
        """Bytes of the body without chunk framing."""
        self._bytes_after_head = 0
        """Bytes read after the head: body, chunk framing and trailers."""
        self._body_bytes_at_check = 0
        """`_body_bytes` when the progress of the body was last checked."""
        self._discarded_bytes = 0
        self._paused_since: float | None = None
        self._closing_since: float | None = None
        self._is_refused = False
        """Whether the connection was refused, and its client has not closed it yet."""
        self._request: _ConnectionRequest | None = None
        """The last request that was executed or waits."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self.flow = _PipelineFlow(transport, self.pipeline)
        try:
            self._count_key = self.limits.admit(self, self.client[0] if self.client else "")
            self._admitted = True
        except TooManyConnections as problem:
            SHED_CONNECTIONS.inc()
            self._refuse_connection(problem)
        else:
            self._note_idle()

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        if self.cycle is not None and not self.cycle.response_started:
            read_only_task: ReadOnlyTask | None = self.cycle.scope.get("postern_read_only_task")
            if read_only_task is not None:
                read_only_task.abandon()
        if self._request is not None:
            self.limits.scheduler.cancel(self._request)
            self._request = None
        self.limits.refused.discard(self)
        self.limits.evicted.discard(self)
        self._remove()

    def _remove(self) -> None:
        if self._admitted:
            self._admitted = False
            self.limits.remove(self, self._count_key)

    def data_received(self, data: bytes) -> None:
        """Parse received bytes. Refuses the request if its head or its chunk framing is too large."""
        if self._is_refused or self.transport.is_closing():
            return
        if self.siblings is not None:
            self.siblings.idle.pop(self, None)
        if self._phase is Phase.IDLE:
            self._enter(Phase.HEADER)
        if self._phase is Phase.HEADER:
            self._head_bytes_read += len(data)
        else:
            self._bytes_after_head += len(data)
        super().data_received(data)
        if self.transport.is_closing():
            return
        if self._is_head_too_large or (
            self._phase is Phase.HEADER and self._head_bytes_read > self.limits.header_bytes
        ):
            self.refuse(HeaderTooLarge())
        elif (
            self._bytes_after_head > self.limits.header_bytes + MAX_FRAMING_OVERHEAD * self._body_bytes
            and self._phase is Phase.BODY
        ):
            # Too many bytes of chunk framing, chunk extensions and trailers, which no operation reads.
            self.refuse(HeaderTooLarge())

    def on_header(self, name: bytes, value: bytes) -> None:
        """Add a header field of the request; fields of trailers are ignored."""
        if self._phase is not Phase.HEADER:
            return  # A trailer must not change headers that were already checked.
        super().on_header(name, value)
        self._header_field_bytes += len(name) + len(value) + 4

    def on_message_begin(self) -> None:
        super().on_message_begin()
        if self._phase is not Phase.HEADER:
            # A pipelined request. Its first bytes were read together with the previous request and are not counted.
            self._enter(Phase.HEADER)

    def on_headers_complete(self) -> None:
        """Pass the request to the application, unless its head is too large."""
        size = self._header_field_bytes + len(self.url)
        if size > self.limits.header_bytes or len(self.headers) > MAX_HEADER_FIELDS:
            self._is_head_too_large = True
            return
        self._enter(Phase.BODY)
        super().on_headers_complete()
        if self.limits.is_stopping:
            self.end_after_response()
        if isinstance(self.cycle, RequestResponseCycle):
            self.cycle.transport = _ResponseTransport(self.cycle)  # type: ignore[assignment]

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: Any) -> None:
        """Execute a request when it is its turn."""
        scope: Any = cycle.scope
        if scope["path"] in EXEMPT_PATHS:
            super()._start_asgi_task(cycle, app)
            return
        scheduler, headers = self.limits.scheduler, scope["headers"]
        credential, is_cookie = _credential_of(headers)
        owner = scheduler.owner_of(credential)
        if owner is None:
            owner = self._network_of_client(headers)
        if owner != self.owner and self._admitted:
            self.limits.join(self, owner)
        self._request = request = _ConnectionRequest(self, cycle, app, credential, owner, is_cookie=is_cookie)
        scheduler.submit(request)

    def start(self, cycle: RequestResponseCycle, request: ScheduledRequest) -> None:
        """Start the task of a request."""
        super()._start_asgi_task(cycle, request)  # pyright: ignore[reportArgumentType]

    def _network_of_client(self, headers: list[tuple[bytes, bytes]]) -> str:
        """The network of the client's address: the one that a trusted proxy names, or that of the connection."""
        if self._count_key is not None:
            return self._count_key
        address = self.client[0] if self.client else ""
        for name, value in reversed(headers):
            if name == b"x-forwarded-for":
                for part in reversed(value.decode("latin-1").split(",")):
                    address = part.strip()
                    if not self.limits.is_exempt(address):
                        return network_of(address)
        return network_of(address)

    def on_body(self, body: bytes) -> None:
        """Pass a part of the body to the application. Closes the connection if too much arrives after the response."""
        if self._is_head_too_large:
            return
        self._body_bytes += len(body)
        if self.cycle is not None and self.cycle.response_complete:
            self._discarded_bytes += len(body)
            if self._discarded_bytes > DISCARDED_LIMIT:
                self.transport.close()
        super().on_body(body)

    def on_message_complete(self) -> None:
        if self._is_head_too_large:
            return
        if self._phase is Phase.BODY:
            is_complete = self.cycle.response_complete
            self._enter(Phase.IDLE if is_complete else Phase.RESPONSE)
            if is_complete:
                self._note_idle()
        super().on_message_complete()

    def on_response_complete(self) -> None:
        if self._phase is Phase.RESPONSE and self.cycle.response_complete:  # Otherwise the next one was pipelined.
            self._enter(Phase.IDLE)
            self._note_idle()
        super().on_response_complete()

    def _note_idle(self) -> None:
        if self.siblings is not None and (self.cycle is None or self.cycle.response_complete):
            self.siblings.idle[self] = None

    def close_idle(self, now: float) -> bool:
        """Close the connection, on which there is no request, so that another client can connect. Returns False if it
        was opened just now: its client is about to send a request."""
        if self._phase is Phase.HEADER and now - self._phase_began_at < MIN_IDLE_SECONDS:
            return False
        self._evict()
        if self.transport.get_write_buffer_size():  # Its client does not read the last response.
            self.transport.abort()
        else:
            self.transport.close()
        return True

    def _evict(self) -> None:
        """Stop counting the connection, which is closed to make room for another one. Until it is closed, its time is
        limited as before."""
        self._remove()
        self._closing_since = self.loop.time()
        self.limits.evicted.add(self)

    def pause_writing(self) -> None:
        self._paused_since = self.loop.time()
        super().pause_writing()

    def resume_writing(self) -> None:
        self._paused_since = None
        super().resume_writing()

    def send_400_response(self, msg: str) -> None:
        """Respond with RequestMalformed instead of uvicorn's plain text."""
        self.refuse(RequestMalformed())

    def refuse(self, problem: Problem) -> None:
        """Respond with a problem without calling an operation, and close the connection."""
        # If a response has started, the client would take a second one for the response to its next request.
        has_started = self._phase is not Phase.HEADER and self.cycle is not None and self.cycle.response_started
        if not has_started:
            self.transport.write(_response(problem))
        self.transport.close()

    def _refuse_connection(self, problem: Problem) -> None:
        """Respond with a problem before a request, and wait until the client closes the connection.

        If the server closed it while a request arrives, TCP would discard the response.
        """
        self.transport.write(_response(problem))
        if len(self.limits.refused) < MAX_REFUSED and self.transport.can_write_eof():
            self.transport.write_eof()
            self._is_refused = True
            self._closing_since = self.loop.time()
            self.limits.refused.add(self)
        else:
            self.transport.close()

    def refuse_request(self, cycle: RequestResponseCycle, problem: Problem, *, close: bool) -> None:
        """Respond with a problem to a request that is not executed. The connection stays open unless `close`."""
        if close:
            cycle.keep_alive = False
            self._evict()
        if self.limits.is_stopping:
            cycle.keep_alive = False
        cycle.response_started = True
        is_head = cycle.scope["method"] == "HEAD"
        self.transport.write(_response(problem, keep_alive=cycle.keep_alive, is_head=is_head))
        if not cycle.keep_alive:
            self.transport.close()
        # Not at once: the next ones of thousands of pipelined requests would be refused in the same iteration of the
        # event loop, if not within this refusal.
        self.loop.call_soon(self._complete_refusal, cycle, context=Context())

    def _complete_refusal(self, cycle: RequestResponseCycle) -> None:
        """Go on with the next request, as soon as the client has read enough of the responses."""
        if self.flow.write_paused and not self.transport.is_closing():
            self.loop.call_later(WRITABLE_AFTER_SECONDS, self._complete_refusal, cycle, context=Context())
            return
        cycle.response_complete = True
        cycle.on_response()

    def end_after_response(self) -> None:
        """End the connection after the response to the request that is executed, if there is one."""
        if self.cycle is not None and not self.cycle.response_started:
            self.cycle.keep_alive = False

    def end_if_late(self, now: float) -> None:
        """Close the connection if the client is slower than the limits allow; `now` is the event loop's time.

        A client that has begun a request gets the response 408 first. A client that does not read the response, or does
        not close a connection that has ended, is disconnected without one. Idle time is not limited here.
        """
        if self._is_refused or self.transport.is_closing():
            if self._closing_since is None:
                self._closing_since = now
            elif now - self._closing_since > CLOSE_WAIT.total_seconds():
                self.transport.abort()
        elif self._paused_since is not None and now - self._paused_since > self.limits.body_seconds:
            # The client does not read the response, so an error response is useless.
            self.transport.abort()
        elif self.pipeline:
            self._phase_began_at = now  # Nothing more is read.
        elif self._phase is Phase.HEADER and now - self._phase_began_at > self.limits.header_seconds:
            if self._head_bytes_read:
                self.refuse(RequestTooSlow())
            else:
                self.transport.close()
        elif self._phase is Phase.BODY and now - self._phase_began_at > self.limits.body_seconds:
            # While the application does not read, the client cannot send.
            if self._body_bytes - self._body_bytes_at_check < MIN_BODY_PROGRESS and not self.flow.read_paused:
                self.refuse(RequestTooSlow())
            self._phase_began_at, self._body_bytes_at_check = now, self._body_bytes

    def _enter(self, phase: Phase) -> None:
        self._phase, self._phase_began_at = phase, self.loop.time()
        self._head_bytes_read = self._header_field_bytes = 0
        self._body_bytes = self._bytes_after_head = self._body_bytes_at_check = self._discarded_bytes = 0


class HttpServer(uvicorn.Server):
    """A server that does not stop at signals: the process handles them, and then stops it."""

    @contextmanager
    def capture_signals(self) -> Generator[None]:
        """Leave the handlers of signals as they are."""
        yield


def limited_protocol(settings: Settings) -> type[LimitedProtocol]:
    """The protocol class of an API process, with the limits of its settings."""
    return type("SettingsProtocol", (LimitedProtocol,), {"limits": ConnectionLimits.of(settings)})


def _credential_of(headers: list[tuple[bytes, bytes]]) -> tuple[int | None, bool]:
    """The hash of the credential of a request, which differs from process to process, and whether it is the header
    `Cookie`; None if it has none."""
    values = dict(headers)
    for name in CREDENTIAL_HEADERS:
        if name in values:
            value = values[name].strip()
            if name == b"authorization":
                # Without the scheme: one credential has one hash, however the client writes it.
                value = value.partition(b" ")[2].strip() or value
            return hash(value), name == b"cookie"
    return None, False


def _response(problem: Problem, *, keep_alive: bool = False, is_head: bool = False) -> bytes:
    """The bytes of a response with a problem. It has no body if `is_head`."""
    request_id = str(new_id())
    body = to_json(problem_document(problem, request_id))
    lines = [
        STATUS_LINE[problem.status].rstrip(),
        b"content-type: application/problem+json",
        b"content-length: %d" % len(body),
        b"x-request-id: " + request_id.encode(),
        b"x-content-type-options: nosniff",
        b"cache-control: no-store",
    ]
    if not keep_alive:
        lines.append(b"connection: close")
    if problem.retry_after_seconds is not None:
        lines.append(b"retry-after: %d" % problem.retry_after_seconds)
    return b"\r\n".join([*lines, b"", b"" if is_head else body])
