"""Which requests an API process executes at a time, and which come next: those of all clients take turns.

A process has one core. With more requests at a time than keep it busy, each takes longer, and those of a project with
many connections delay those of the others. So a number of requests is executed at a time, of a project that is not
alone a part of it, and the others wait. Waiting requests are a flow for each project, and the flows take turns (fair
queueing). A request that would wait for too long is refused with 503 and `Retry-After`, before a task is created for it
and before its credential is read from the database.

What takes long has turns of its own: computations in threads, and requests with large bodies. The latter are refused
after their body has arrived.
"""

import asyncio
import os
from collections import OrderedDict, deque
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator, Hashable
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager
from contextvars import Context, ContextVar
from typing import Any, Final

from prometheus_client import Counter, Gauge

from postern.kernel.http.problems import Unavailable

MAX_WAITING: Final = 1_000
"""Requests of one flow that wait in a process; further ones are refused at once."""
MAX_KNOWN_CREDENTIALS: Final = 50_000
"""Credentials of which a process remembers the owner; the least recently used are dropped first."""
LONG_SECONDS: Final = 5.0
"""After this time, a request no longer counts as executed: it waits for something, and others can use the core."""
COMPUTATIONS: Final = max(2, os.cpu_count() or 2) + 1
"""Long computations of a process at a time (`computing_request`): one more than there are threads for them, so that no
thread waits for the event loop."""
LARGE_BODY_BYTES: Final = 1_048_576
"""Requests with larger JSON bodies wait for their turn (`turn_of_large_body`). Most operations accept none."""
LARGE_TOGETHER: Final = 4
"""How many of them a process processes at a time while there are no small requests of others; otherwise one."""
MAX_TURN_SECONDS: Final = 1.0
"""After this time, the next one begins: the request may wait for something, such as the DNS."""
LARGE_WAIT_SECONDS: Final = 10.0
"""How long a request with a large body waits for its turn; after that, it is refused."""
MAX_WAITING_BYTES_OF_ONE: Final = 100_000_000
MAX_WAITING_BYTES: Final = 250_000_000
"""The size of the large bodies of one flow, and of all, that wait in a process; further ones are refused."""
MAX_USED_KNOWN: Final = 1_000
"""With more flows than this, those are forgotten that would have the same place in the order if they were new."""
OTHERS_SECONDS: Final = 1.0
"""How long after a small request the next ones of its project are expected."""
EXEMPT_PATHS: Final = ("/healthz", "/readyz", "/metrics")
"""Requests to these paths are always executed at once: otherwise an overload would look like a failure."""

SHED = Counter("postern_http_requests_shed_total", "Requests refused because of an overload.", ["reason"])
SHED_BECAUSE_FULL, SHED_BECAUSE_LATE = SHED.labels("queue_full"), SHED.labels("queue_wait")
SHED_CONNECTIONS = SHED.labels("connections")
WAITING = Gauge("postern_http_requests_waiting", "Requests that wait until others are complete.")


class Overloaded(Unavailable):
    """There are more requests than the server can execute at the moment; nothing was changed. Try again shortly."""


class Flow:
    """The requests that take turns with those of other flows: those of a project, of a developer's account, or, while
    their owner is not known, of the network of an address."""

    __slots__ = ("has_turn", "is_used", "last_small_at", "running", "waiting")

    def __init__(self) -> None:
        self.running = 0
        self.last_small_at = -OTHERS_SECONDS
        """When the last request without a large body ended."""
        self.waiting: OrderedDict[ScheduledRequest, None] = OrderedDict()
        """In the order of their arrival."""
        self.is_used = True
        """Whether there were requests since the last sweep."""
        self.has_turn = False
        """Whether it is among the flows that take turns."""


class ScheduledRequest:
    """A request from its arrival to its response, and the ASGI application of its task."""

    __slots__ = (
        "_app",
        "_end_of_turn",
        "_pauses",
        "_receive",
        "_scheduler",
        "_send",
        "arrived_at",
        "credential",
        "flow",
        "has_large_body",
        "is_cookie",
        "owner",
        "runs_since",
        "turn_since",
    )

    def __init__(
        self,
        scheduler: "RequestScheduler",
        app: Callable[..., Any],
        credential: int | None,
        owner: Hashable,
        now: float,
        *,
        is_cookie: bool = False,
    ) -> None:
        """`owner` is the key of its flow, and `now` the time of the event loop."""
        self._scheduler = scheduler
        self._app = app
        self._pauses = 0
        self.turn_since: float | None = None
        """When its turn to process a large body began; None if it has no such turn."""
        self._end_of_turn: asyncio.TimerHandle | None = None
        self.has_large_body = False
        """Whether it has waited for such a turn."""
        self.credential = credential
        """The hash of the credential, if the request has one."""
        self.is_cookie = is_cookie
        """Whether the credential is the header `Cookie`, from which a token is read."""
        self.owner = owner
        self.flow: Flow | None = None
        """None if the request is refused or complete, or does not count."""
        self.arrived_at = now
        self.runs_since: float | None = None
        """When its execution began; None while it waits."""

    def start(self) -> None:
        """Start the task of the request, which calls this object as its application."""
        raise NotImplementedError

    def refuse(self, problem: Unavailable, *, close: bool = False) -> None:
        """Respond with a problem instead, and end the connection if `close`."""
        raise NotImplementedError

    async def __call__(
        self, scope: Any, receive: Callable[[], Awaitable[Any]], send: Callable[[Any], Awaitable[None]]
    ) -> None:
        scope["postern_request"] = self
        self._receive, self._send = receive, send
        _current.set(self)
        try:
            await self._app(scope, self._receive_body, self._send_part)
        finally:
            self._scheduler.end(self)
            # Otherwise the request would refer to itself, and be freed only by the cyclic garbage collector.
            del scope["postern_request"], self._receive, self._send

    @property
    def has_arrived(self) -> bool:
        """Whether the next part of the body can be read at once."""
        return False

    def _receive_body(self) -> Awaitable[Any]:
        """A part of the body. A request does not count while its client is sending it."""
        return self._receive() if self.has_arrived else self._receive_paused()

    async def _receive_paused(self) -> Any:
        self.pause()
        try:
            return await self._receive()
        finally:
            self.resume()

    def _send_part(self, message: Any) -> Awaitable[None]:
        """Send a part of the response. With the first one, the request does not count any more: an export or a stream
        of events takes as long as its client wants."""
        self._scheduler.end(self)
        return self._send(message)

    @property
    def is_paused(self) -> bool:
        """Whether the request waits for something else, so that it does not count."""
        return self._pauses > 0

    def pause(self) -> None:
        """Do not count the request as executed, until `resume`. Its turn to process a large body ends."""
        self.end_turn_of_large_body()
        self._pauses += 1
        if self._pauses == 1 and self.flow is not None:
            self._scheduler.release(self.flow)

    def resume(self) -> None:
        """Count the request again, also if others have taken its place: what it has done already is not wasted."""
        self._pauses -= 1
        if not self._pauses and self.flow is not None:
            self._scheduler.resume(self, self.flow)

    def computation(self) -> AbstractAsyncContextManager[None]:
        """See `ComputationTurns.turn`."""
        return self._scheduler.computations.turn(self.owner)

    async def begin_turn_of_large_body(self, size: int) -> None:
        """Wait for the turn of this request to process its body of `size` bytes. Raises Overloaded.

        The turn ends when the response begins, when the request is paused, or after MAX_TURN_SECONDS.

        Such a request keeps the event loop and the database busy for as long as a hundred others. One at a time leaves
        these gaps, and while there are small requests of others, the next turn begins after a rest that is as long.
        """
        self.has_large_body = True
        self.pause()
        try:
            await self._scheduler.large_bodies.take(self.owner, size)
        finally:
            self.resume()
        loop = asyncio.get_running_loop()
        self.turn_since = loop.time()
        self._end_of_turn = loop.call_later(MAX_TURN_SECONDS, self.end_turn_of_large_body, context=Context())

    def end_turn_of_large_body(self) -> None:
        """Give the turn to the next large body, if this request has it, after the rest."""
        if self.turn_since is None:
            return
        loop = asyncio.get_running_loop()
        seconds, self.turn_since = loop.time() - self.turn_since, None
        if self._end_of_turn is not None:
            self._end_of_turn.cancel()
            self._end_of_turn = None
        rest_seconds = seconds if self._scheduler.serves_others(self.owner) else 0.0
        give_back = self._scheduler.large_bodies.give_back
        loop.call_later(rest_seconds, give_back, self.owner, seconds + rest_seconds, context=Context())

    def belongs_to(self, owner: Hashable, token: str | None) -> None:
        """Count this request among those of `owner`: a project or a developer's account, to which `token` belongs.

        Those with the same credential count among them from now on, if `token` is the credential: a request may have
        that of somebody else, too, in a header that its operation does not read.
        """
        self._scheduler.remember(self, owner, with_credential=self._is_credential(token))

    def is_unknown(self, token: str | None) -> None:
        """Forget the owner of the credential if it is `token`, which is not valid any more."""
        if self._is_credential(token):
            self._scheduler.forget(self)

    def _is_credential(self, token: str | None) -> bool:
        return self.is_cookie or (token is not None and hash(token.encode()) == self.credential)


_current: ContextVar[ScheduledRequest | None] = ContextVar("_current", default=None)
"""The request that the current task executes, or that has started it."""


@contextmanager
def paused_request() -> Generator[None]:
    """Do not count the current request, if there is one, as executed during the block: it waits for something that is
    none of this process's work, such as another server."""
    request = _current.get()
    if request is None:
        yield
        return
    request.pause()
    try:
        yield
    finally:
        request.resume()


@asynccontextmanager
async def computing_request() -> AsyncGenerator[None]:
    """Wait for the turn of the current request to compute for long in a thread, and do so in the block.

    A flow with many such requests delays those of the others by one each. They do not count as executed, so they do not
    delay other requests of their flow.
    """
    request = _current.get()
    if request is None:
        yield
        return
    with paused_request():
        async with request.computation():
            yield


async def turn_of_large_body(request: ScheduledRequest | None, size: int) -> None:
    """Wait for the turn of a request to process its body of `size` bytes, if that is large. Raises Overloaded.

    Call this when the body has arrived, so that a slow client does not keep the turn.
    """
    if request is not None and size > LARGE_BODY_BYTES:
        await request.begin_turn_of_large_body(size)


class ComputationTurns:
    """The places for long computations, such as the hash of a password, for which flows take turns."""

    def __init__(self, places: int) -> None:
        """`places`: how many computations take place at a time."""
        self._free = places
        self._waiting: OrderedDict[Hashable, deque[asyncio.Future[None]]] = OrderedDict()
        """By flow, in the order of their turns."""

    @asynccontextmanager
    async def turn(self, owner: Hashable) -> AsyncGenerator[None]:
        """Wait for a place, for a request of the flow of `owner`, and keep it during the block."""
        if self._free:
            self._free -= 1
        else:
            await self._wait(owner)
        try:
            yield
        finally:
            self._pass_on()

    async def _wait(self, owner: Hashable) -> None:
        place: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(owner, deque()).append(place)
        try:
            await place
        except asyncio.CancelledError:
            if not place.cancelled():  # It got the place before it was cancelled.
                self._pass_on()
            raise

    def _pass_on(self) -> None:
        """Give a place to the next flow; its other requests wait for the turns of the other flows."""
        while self._waiting:
            owner, places = self._waiting.popitem(last=False)
            place = places.popleft()
            if places:
                self._waiting[owner] = places
            if not place.done():  # Its request may have been cancelled.
                place.set_result(None)
                return
        self._free += 1


class LargeBodyTurns:
    """The turns of requests with large bodies: LARGE_TOGETHER at a time, while there are small requests of others one.

    The next turn is that of the flow whose turns have taken the least time (start-time fair queueing), so that a flow
    with long turns delays the others no more than one with many.
    """

    def __init__(self, serves_others: Callable[[Hashable], bool]) -> None:
        """`serves_others`: whether there are small requests of others than the owner of a flow."""
        self._serves_others = serves_others
        self._running = 0
        self._waiting: dict[Hashable, deque[tuple[asyncio.Future[None], int]]] = {}
        """The requests of each flow that wait, with the sizes of their bodies, in the order of their arrival."""
        self._waiting_bytes = 0
        self._used: dict[Hashable, float] = {}
        """The seconds that the turns of a flow have taken. A flow that is not in it has those of `_least`."""
        self._least = 0.0
        """The seconds of the flow that had the last turn, when that began."""

    async def take(self, owner: Hashable, size: int) -> None:
        """Wait for a turn of the flow of `owner`, which lasts until `give_back`. Raises Overloaded."""
        if not self._waiting and self._has_room(owner):
            self._start(owner)
            return
        of_one = sum(waiting for _, waiting in self._waiting.get(owner, ()))
        if of_one + size > MAX_WAITING_BYTES_OF_ONE or self._waiting_bytes + size > MAX_WAITING_BYTES:
            SHED_BECAUSE_FULL.inc()
            raise Overloaded
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(owner, deque()).append((turn, size))
        self._waiting_bytes += size
        WAITING.inc()
        try:
            async with asyncio.timeout(LARGE_WAIT_SECONDS):
                await turn
        except BaseException as error:
            if turn.cancelled():
                self._remove(owner, turn, size)
            else:  # It got the turn before it was cancelled.
                self.give_back(owner, 0.0)
            if not isinstance(error, TimeoutError):
                raise
            SHED_BECAUSE_LATE.inc()
            raise Overloaded from None
        finally:
            WAITING.dec()

    def give_back(self, owner: Hashable, seconds: float) -> None:
        """End a turn of the flow of `owner`, which has taken so many seconds, and begin the next ones."""
        self._running -= 1
        self._used[owner] = self._used_by(owner) + seconds
        while self._waiting:
            following = min(self._waiting, key=self._used_by)
            if not self._has_room(following):
                return
            turn, size = self._waiting[following][0]
            self._remove(following, turn, size)
            if not turn.done():  # It may have been cancelled, and its request has not run since.
                self._start(following)
                turn.set_result(None)
        if not self._running:
            self._used.clear()
        elif len(self._used) > MAX_USED_KNOWN:
            self._used = {flow: used for flow, used in self._used.items() if used > self._least}

    def _has_room(self, owner: Hashable) -> bool:
        return self._running < (1 if self._serves_others(owner) else LARGE_TOGETHER)

    def _start(self, owner: Hashable) -> None:
        self._running += 1
        self._least = self._used_by(owner)

    def _used_by(self, owner: Hashable) -> float:
        return max(self._used.get(owner, 0.0), self._least)

    def _remove(self, owner: Hashable, turn: "asyncio.Future[None]", size: int) -> None:
        """Remove a request from those that wait, if it is among them."""
        waiting = self._waiting.get(owner)
        if waiting is None or (turn, size) not in waiting:
            return
        waiting.remove((turn, size))
        self._waiting_bytes -= size
        if not waiting:
            del self._waiting[owner]


class RequestScheduler:
    """The requests of an API process that are executed or wait."""

    def __init__(self, max_running: int, max_running_of_one: int, wait_seconds: float) -> None:
        """At most `max_running` requests are executed at a time, and `max_running_of_one` of a flow that is not the
        only one. A request waits for at most `wait_seconds`."""
        self._max_running = max_running
        self._max_running_of_one = min(max_running, max_running_of_one)
        self._wait_seconds = wait_seconds
        self._running = 0
        """The sum over all flows, of each at most `max_running_of_one`: what a flow has beyond that, because it was the
        only one or because paused requests go on, takes no place of others."""
        self._flows: dict[Hashable, Flow] = {}
        self._turns: deque[Flow] = deque()
        """Flows with waiting requests, in the order of their turns."""
        self._executed: dict[ScheduledRequest, None] = {}
        """The requests that count, or are paused, in the order in which their execution began."""
        self._owners: OrderedDict[int, Hashable] = OrderedDict()
        """The owners of known credentials, by the hash of the credential: nothing else is kept of it."""
        self._is_starting = False
        self.computations = ComputationTurns(COMPUTATIONS)
        self.large_bodies = LargeBodyTurns(self.serves_others)

    def serves_others(self, owner: Hashable) -> bool:
        """Whether another project, developer or address than `owner` had a small request in the last second."""
        since, own = asyncio.get_running_loop().time() - OTHERS_SECONDS, _without_kind(owner)
        return any(flow.last_small_at > since and _without_kind(key) != own for key, flow in self._flows.items())

    def owner_of(self, credential: int | None) -> Hashable:
        """The owner of a credential that was valid in an earlier request; None if it is not known."""
        if credential is None:
            return None
        owner = self._owners.get(credential)
        if owner is not None:
            self._owners.move_to_end(credential)
        return owner

    def submit(self, request: ScheduledRequest) -> None:
        """Execute a request now or later, or refuse it."""
        flow = self._flow(request.owner)
        if not flow.waiting and self._has_room(flow):
            self._execute(request, flow, request.arrived_at)
        elif len(flow.waiting) >= MAX_WAITING:
            SHED_BECAUSE_FULL.inc()
            request.refuse(Overloaded())
        else:
            if not flow.has_turn:
                flow.has_turn = True
                self._turns.append(flow)
            flow.waiting[request] = None
            request.flow = flow
            WAITING.inc()

    def cancel(self, request: ScheduledRequest) -> None:
        """Remove a request whose client has left, if it waits."""
        flow = request.flow
        if flow is not None and request.runs_since is None:
            request.flow = None
            del flow.waiting[request]
            WAITING.dec()

    def end(self, request: ScheduledRequest) -> None:
        """Stop counting a request: it is complete, or others decide how long it still takes."""
        request.end_turn_of_large_body()
        flow = request.flow
        if flow is None:
            return
        if not request.has_large_body:
            flow.last_small_at = asyncio.get_running_loop().time()
        request.flow = None
        del self._executed[request]
        if not request.is_paused:
            self.release(flow)

    def release(self, flow: Flow) -> None:
        """Give the place of a request back, and execute the next one soon."""
        if flow.running <= self._max_running_of_one:
            self._running -= 1
        flow.running -= 1
        if self._turns:
            self._start_soon()

    def resume(self, request: ScheduledRequest, flow: Flow) -> None:
        """Take a place for a request that has given it back before, whether there is room or not."""
        del self._executed[request]
        self._executed[request] = None
        request.runs_since = asyncio.get_running_loop().time()
        self._take(flow)

    def _take(self, flow: Flow) -> None:
        flow.running += 1
        if flow.running <= self._max_running_of_one:
            self._running += 1

    def remember(self, request: ScheduledRequest, owner: Hashable, *, with_credential: bool) -> None:
        """See `ScheduledRequest.belongs_to`."""
        if request.owner == owner:
            return
        request.owner = owner
        if with_credential and request.credential is not None:
            self._owners[request.credential] = owner
            if len(self._owners) > MAX_KNOWN_CREDENTIALS:
                self._owners.popitem(last=False)
        old = request.flow
        if old is not None:
            new = request.flow = self._flow(owner)
            if not request.is_paused:
                self._take(new)
                self.release(old)

    def forget(self, request: ScheduledRequest) -> None:
        """See `ScheduledRequest.is_unknown`."""
        if request.credential is not None:
            self._owners.pop(request.credential, None)

    def refuse_last(self) -> bool:
        """Refuse the request that came last of those of the longest flow, and end its connection, so that another
        client can connect. Returns whether there was one."""
        flow = max(self._turns, key=lambda flow: len(flow.waiting), default=None)
        if flow is None or not flow.waiting:
            return False
        request = next(reversed(flow.waiting))
        self.cancel(request)
        SHED_CONNECTIONS.inc()
        request.refuse(Overloaded(), close=True)
        return True

    def sweep(self, now: float) -> None:
        """Refuse requests that have waited for too long, stop counting those that take long, and forget flows without
        requests. Call this about once a second."""
        for flow in tuple(self._turns):  # A refused request may be followed by another one of its connection.
            self._refuse_late(flow, now)
        for request in tuple(self._executed):
            if now - (request.runs_since or now) <= LONG_SECONDS:
                break
            if not request.is_paused:
                self.end(request)
        of_paused_requests = {id(request.flow) for request in self._executed if request.is_paused}
        for key, flow in tuple(self._flows.items()):
            if flow.is_used or flow.running or flow.waiting or id(flow) in of_paused_requests:
                flow.is_used = False
            else:
                del self._flows[key]
        if self._turns:
            self._start_soon()  # A flow that is alone now has more places.

    def _flow(self, key: Hashable) -> Flow:
        flow = self._flows.get(key)
        if flow is None:
            flow = self._flows[key] = Flow()
        flow.is_used = True
        return flow

    def _has_room(self, flow: Flow) -> bool:
        if len(self._flows) == 1:
            return flow.running < self._max_running
        return self._running < self._max_running and flow.running < self._max_running_of_one

    def _execute(self, request: ScheduledRequest, flow: Flow, now: float) -> None:
        request.flow = flow
        request.runs_since = now
        self._executed[request] = None
        self._take(flow)
        request.start()

    def _start_soon(self) -> None:
        """Execute waiting requests in the next iteration of the event loop, without the context of the current task."""
        if self._is_starting:
            return
        self._is_starting = True
        asyncio.get_running_loop().call_soon(self._start_waiting, context=Context())

    def _start_waiting(self) -> None:
        """Execute a request of each flow in turn, while there is room."""
        self._is_starting = False
        now = asyncio.get_running_loop().time()
        full = 0
        """Flows in a row that had no room."""
        while self._turns and full < len(self._turns):
            flow = self._turns.popleft()
            flow.has_turn = False
            try:
                self._refuse_late(flow, now)
                if flow.waiting and self._has_room(flow):
                    full = 0
                    request, _ = flow.waiting.popitem(last=False)
                    WAITING.dec()
                    self._execute(request, flow, now)
                elif flow.waiting:
                    full += 1
            finally:
                if flow.waiting and not flow.has_turn:
                    flow.has_turn = True
                    self._turns.append(flow)

    def _refuse_late(self, flow: Flow, now: float) -> None:
        while flow.waiting:
            request = next(iter(flow.waiting))
            if now - request.arrived_at <= self._wait_seconds:
                return
            self.cancel(request)
            SHED_BECAUSE_LATE.inc()
            request.refuse(Overloaded())


def _without_kind(owner: Hashable) -> Hashable:
    """The project of an owner, whether its requests have a secret key or not."""
    return owner[0] if isinstance(owner, tuple) else owner  # pyright: ignore[reportUnknownVariableType]
