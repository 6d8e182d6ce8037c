"""One destination: its connections, who waits for them, and how hard it is pressed."""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from datetime import timedelta

from postern.protocols.mail.rate_shaper import RateLimits, RateShaper
from postern.protocols.mail.smtp import ConnectionFailed, SmtpConnection, StaleConnection, deferred
from postern.protocols.mail.transports.transport import Accepted, Admit, BeforeDot, DeliveryOutcome, Envelope, postpone

LONGEST_QUEUE = 1_024
"""Messages that wait in memory for one destination; the rest stay where they are stored."""
LONGEST_WAIT_SECONDS = 5.0
"""A pace that would make a message wait longer sends it back to where it is stored."""
IDLE_BEFORE_NOOP_SECONDS = 15.0
"""A connection that rested longer is asked whether it lives before it is used."""
IDLE_SECONDS = 60.0
"""A connection that rested so long is closed; servers close theirs after 5 minutes at the latest."""
LEASED_SECONDS = 0.25
"""The span of a shared rate that a process leases at a time."""
RESERVED_SHARE = 5
"""One connection in so many, and at least one, is never taken by bulk mail."""


class ConnectionPool:
    """Connections to one destination, shared by all who send there."""

    def __init__(
        self,
        label: str,
        dial: Callable[[], Awaitable[SmtpConnection]],
        limits: RateLimits,
        *,
        clock: Callable[[], float],
        chance: Callable[[], float],
        lease: Callable[[float], Awaitable[float | None]] | None = None,
    ) -> None:
        """`lease` gives this process a span of seconds of a rate that it shares, and says how far away it begins."""
        self._lease = lease if limits.per_second else None
        self._leased = (0.0, 0.0)
        """When the next message may go by the shared rate, and when the leased span ends."""
        self._leasing = asyncio.Lock()
        self.label = label
        self.shaper = RateShaper(limits, chance)
        self._dial = dial
        self._clock = clock
        self._idle: list[SmtpConnection] = []
        self._busy = 0
        self._bulk = 0
        self._used = 0
        self._waiting: tuple[deque[asyncio.Future[None]], deque[asyncio.Future[None]]] = (deque(), deque())
        self._paced = 0
        self._reaper: asyncio.TimerHandle | None = None
        self._goodbyes: set[asyncio.Task[None]] = set()

    @property
    def open(self) -> bool:
        """Whether the circuit is open."""
        return self.shaper.open(self._clock())

    async def deliver(
        self,
        envelope: Envelope,
        message: bytes,
        *,
        before_dot: BeforeDot | None = None,
        admit: Admit | None = None,
    ) -> DeliveryOutcome:
        """See `Transport.deliver`."""
        refused = self._refusal(envelope) or await self._pace(envelope)
        if refused:
            return refused
        await self._enter(envelope.bulk)
        try:
            if not self.shaper.admits(self._clock()):
                return self._circuit_open(envelope)
            return await self._attempt(envelope, message, before_dot, admit)
        finally:
            self._leave(envelope.bulk)

    def _refusal(self, envelope: Envelope) -> DeliveryOutcome | None:
        if self.open:
            return self._circuit_open(envelope)
        if sum(map(len, self._waiting)) + self._paced >= LONGEST_QUEUE:
            return postpone(
                envelope,
                f"{LONGEST_QUEUE} messages are already waiting for {self.label}.",
                self.label,
                untried=True,
                retry_after=timedelta(seconds=1),
            )
        return None

    def _circuit_open(self, envelope: Envelope) -> DeliveryOutcome:
        return postpone(
            envelope,
            f"{self.label} could not be reached several times; it is left alone for a while.",
            self.label,
            untried=True,
            retry_after=timedelta(seconds=self.shaper.wait(self._clock())),
        )

    async def _pace(self, envelope: Envelope) -> DeliveryOutcome | None:
        """Keep to the rate: wait a little, or send the message back if that would take long."""
        shared = await self._shared_delay() if self._lease else 0.0
        now = self._clock()
        delay = max(self.shaper.delay(now), shared)
        if delay > LONGEST_WAIT_SECONDS:
            return postpone(
                envelope,
                f"{self.label} takes {self.shaper.per_second:.3g} messages a second at present.",
                self.label,
                untried=True,
                retry_after=timedelta(seconds=delay),
            )
        self.shaper.acquire(now)
        if delay:
            self._paced += 1
            try:
                await asyncio.sleep(delay)
            finally:
                self._paced -= 1
        return None

    async def _shared_delay(self) -> float:
        """Seconds until the next message may go by the rate that all processes share; takes that time.

        Times are leased a span at a time, not one by one; what is not used of a span is lost.
        """
        rate = self.shaper.limits.per_second
        assert self._lease is not None
        assert rate is not None
        async with self._leasing:
            now = self._clock()
            begin, end = max(self._leased[0], now), self._leased[1]
            if begin + 0.5 / rate > end:
                span = max(LEASED_SECONDS, 1 / rate)
                wait = await self._lease(span)
                if wait is None:
                    return LONGEST_WAIT_SECONDS + span
                begin = self._clock() + wait
                end = begin + span
            self._leased = (begin + 1 / rate, end)
            return max(0.0, begin - self._clock())

    async def _attempt(
        self, envelope: Envelope, message: bytes, before_dot: BeforeDot | None, admit: Admit | None
    ) -> DeliveryOutcome:
        """Over a resting connection or, if that had died meanwhile, over a new one."""
        loop = asyncio.get_running_loop()
        started = loop.time()
        connection: SmtpConnection | None = None
        self._used += 1
        try:
            connection = await self._take_idle()
            if connection:
                if admit:
                    await admit()
                try:
                    return self._learn(await connection.send(envelope, message, before_dot=before_dot))
                except StaleConnection:
                    connection = None
            connection = await self._dial()
            self.shaper.connected()
            if admit:
                await admit()
            return self._learn(await connection.send(envelope, message, before_dot=before_dot))
        except ConnectionFailed as trouble:
            self.shaper.failed(self._clock())
            if trouble.reply:
                self.shaper.deferred(trouble.reply.code, self._clock())
            return deferred(envelope, trouble, self.label, timedelta(seconds=loop.time() - started))
        finally:
            self._used -= 1
            if connection:
                self._put_back(connection)

    def _learn(self, outcome: DeliveryOutcome) -> DeliveryOutcome:
        """One message is one signal, however many recipients it has."""
        best = next((one for one in outcome.results if isinstance(one, Accepted)), outcome.results[0])
        if outcome.exchange and best.code:
            self.shaper.connected()
            if isinstance(best, Accepted):
                self.shaper.accepted()
            else:
                self.shaper.deferred(best.code, self._clock())
        return outcome

    # Connections.

    async def _take_idle(self) -> SmtpConnection | None:
        loop = asyncio.get_running_loop()
        while self._idle:
            connection = self._idle.pop()
            rested = loop.time() - connection.idle_since
            if connection.usable and (rested < IDLE_BEFORE_NOOP_SECONDS or await connection.noop()):
                return connection
            connection.abort()
        return None

    def _put_back(self, connection: SmtpConnection) -> None:
        if not connection.usable:
            connection.abort()
        elif (
            connection.messages >= self.shaper.limits.messages_per_connection
            or self._used + len(self._idle) >= self.shaper.connections
        ):
            self._discard(connection)
        else:
            self._idle.append(connection)
            if self._reaper is None:
                self._reaper = asyncio.get_running_loop().call_later(IDLE_SECONDS, self._reap)

    def _reap(self) -> None:
        loop = asyncio.get_running_loop()
        self._reaper = None
        old = [one for one in self._idle if loop.time() - one.idle_since >= IDLE_SECONDS]
        self._idle = [one for one in self._idle if one not in old]
        for connection in old:
            self._discard(connection)
        if self._idle:
            oldest = min(one.idle_since for one in self._idle)
            self._reaper = loop.call_at(oldest + IDLE_SECONDS, self._reap)

    def _discard(self, connection: SmtpConnection) -> None:
        goodbye = asyncio.get_running_loop().create_task(connection.quit())
        self._goodbyes.add(goodbye)
        goodbye.add_done_callback(self._goodbyes.discard)

    async def aclose(self) -> None:
        """Say goodbye on every resting connection."""
        if self._reaper:
            self._reaper.cancel()
            self._reaper = None
        while self._idle:
            self._discard(self._idle.pop())
        if self._goodbyes:
            await asyncio.wait(self._goodbyes)

    # Who may use one.

    def _has_room(self, *, bulk: bool) -> bool:
        allowed = self.shaper.connections
        if self._busy >= allowed:
            return False
        reserved = 0 if allowed == 1 else max(1, allowed // RESERVED_SHARE)
        return not bulk or self._bulk < allowed - reserved

    async def _enter(self, bulk: bool) -> None:
        """Wait for the right to use one connection."""
        queue = self._waiting[bulk]
        if queue or not self._has_room(bulk=bulk):
            turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            queue.append(turn)
            try:
                await turn
            except asyncio.CancelledError:
                if turn.done() and not turn.cancelled():
                    # The turn came and nobody is there to take it.
                    self._leave(bulk)
                else:
                    queue.remove(turn)
                raise
        else:
            self._count(bulk, 1)

    def _leave(self, bulk: bool) -> None:
        self._count(bulk, -1)
        for kind in (False, True):
            queue = self._waiting[kind]
            while queue and self._has_room(bulk=kind):
                turn = queue.popleft()
                if not turn.done():
                    self._count(kind, 1)
                    turn.set_result(None)

    def _count(self, bulk: bool, change: int) -> None:
        self._busy += change
        if bulk:
            self._bulk += change
