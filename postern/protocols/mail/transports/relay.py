"""The relay transport: the choice of a relay, connection pools, rate limits, and circuit breakers."""

import asyncio
import functools
import random
import re
import ssl
import time
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from datetime import timedelta
from typing import TypeAlias

import msgspec

from postern.protocols.mail.smtp import (
    ConnectionFailed,
    Peer,
    SmtpConnection,
    StaleConnection,
    Timeouts,
    Tls,
    TlsRequired,
    Unreachable,
    connect,
    defer_after_failure,
)
from postern.protocols.mail.transports.shaping import (
    RATE_WAIT_SECONDS,
    RESERVED_ONE_IN,
    SLOW_DOWN_CODES,
    SiteControl,
    SiteControls,
    best_result,
)
from postern.protocols.mail.transports.transport import (
    NO_HOOKS,
    NO_TIME,
    Accepted,
    Deferred,
    DeliveryHooks,
    DeliveryOutcome,
    Envelope,
    WaitCause,
    defer_all,
    reject_all,
)

MOST_RELAYS = 16
"""Maximum relays of one transport."""
ADDRESSES_TRIED = 4
"""Maximum IP addresses of a relay that are tried for a connection."""

Resolve: TypeAlias = Callable[[str], Awaitable[Sequence[str]]]
"""Looks up the IP addresses of a host to connect to. Raises ValueError or LookupError with a readable message."""

Lease: TypeAlias = Callable[[str, float], Awaitable[float | None]]
"""Reserves the next span of time in which this process may send at a rate that several processes share, and the others
may not. Arguments: the name of the rate, and the length of the span in seconds.
Returns the seconds until the span begins; None if it would begin too late."""


class PoolLimits(msgspec.Struct, frozen=True, kw_only=True):
    """The limits of a ConnectionPool."""

    per_second: float | None = None
    """Maximum messages per second; None for no limit."""
    max_connections: int = 10
    initial_connections: int | None = None
    """The limit of connections at the start, which grows with the accepted messages; None for `max_connections`."""
    max_messages_per_connection: int = 1_000
    longest_wait_seconds: float | None = None
    """How long a message may wait for a connection until it is deferred; None for no limit."""


class RelayServer(PoolLimits, frozen=True, kw_only=True):
    """A relay and its limits."""

    host: str
    port: int = 587
    tls: Tls = Tls.STARTTLS_REQUIRED
    verify: bool = True
    """Whether the certificate of the relay must be valid."""
    user: str | None = None
    password: str = ""
    weight: int = 1
    """The relay's share of the messages, relative to the weights of the other relays."""
    allows_provider_headers: bool = True
    """Whether messages may have PROVIDER_HEADERS."""


PROVIDER_HEADERS = re.compile(
    rb"^(?:x-(?:ses|mailgun|mc|pm|mj|mailin|mailjet)-|x-smtpapi|x-msys-api)[^\r\n:]*", re.IGNORECASE | re.MULTILINE
)
"""Header fields that instruct Amazon SES, Mailgun, Mandrill, Postmark, Mailjet, Brevo, SendGrid or SparkPost. Some of
them change the recipients of a message, or the account that it is charged to."""


def _provider_header(message: bytes) -> re.Match[bytes] | None:
    """The first of PROVIDER_HEADERS in a message."""
    end = message.find(b"\r\n\r\n")
    head = message[:end] if end >= 0 else message
    # Most messages have no such field at all, which this finds in a fraction of the time.
    has_field = b"\nx-" in head or b"\nX-" in head or head[:2].lower() == b"x-"
    return PROVIDER_HEADERS.search(head) if has_field else None


class RelayTransport:
    """Sends each message to a relay, chosen at random by weight; to another relay if the first cannot be reached."""

    def __init__(
        self,
        relays: Sequence[RelayServer],
        *,
        ehlo_host: str = "localhost",
        timeouts: Timeouts | None = None,
        context: ssl.SSLContext | None = None,
        resolve: Resolve | None = None,
        lease: Lease | None = None,
        controls: SiteControls | None = None,
        scope: str = "",
        clock: Callable[[], float] = time.monotonic,
        chance: Callable[[], float] = random.random,
    ) -> None:
        """`ehlo_host` is the host name for EHLO, `context` replaces the system's CAs, `chance` gives 0 ≤ x < 1.

        With `resolve`, only the addresses that it returns are connected to; without it, the system resolves names and
        any address is allowed. `lease` shares the relays' rates with other processes, and `controls` the limits of
        their sites, whose keys get the `scope` (see SiteKey). Raises ValueError for too few or too many relays.
        """
        if not 1 <= len(relays) <= MOST_RELAYS:
            raise ValueError(f"A transport must have 1 to {MOST_RELAYS} relays.")
        self._chance = chance
        self._allows_provider_headers = all(relay.allows_provider_headers for relay in relays)
        self._pools: list[tuple[int, ConnectionPool]] = []
        for relay in relays:
            peer = Peer(
                host=relay.host,
                port=relay.port,
                ehlo_host=ehlo_host,
                tls=relay.tls,
                verify=relay.verify,
                context=context if relay.verify else None,
                user=relay.user,
                password=relay.password,
                timeouts=timeouts or Timeouts(),
            )
            dial = functools.partial(_connect, peer, resolve)
            shared = functools.partial(lease, f"{peer.label} {relay.user or ''}") if lease else None
            control = controls.of_relay(relay.host, peer.label, scope) if controls else None
            pool = ConnectionPool(peer.label, dial, relay, clock=clock, chance=chance, lease=shared, control=control)
            self._pools.append((max(1, relay.weight), pool))

    @property
    def circuit_open(self) -> bool:
        """Whether no relay can be reached at present."""
        return all(pool.circuit_open for _, pool in self._pools)

    async def deliver(self, envelope: Envelope, message: bytes, hooks: DeliveryHooks = NO_HOOKS) -> DeliveryOutcome:
        """See `Transport.deliver`."""
        first, *others = self._order()
        field = None if self._allows_provider_headers else _provider_header(message)
        if field:
            # All projects share the relay's account at the provider, which no project may change.
            name = field[0].decode("ascii", "replace")
            text = f"Header fields like {name} are not allowed: the provider of this server's relay may obey them."
            return reject_all(envelope, 554, "5.6.0", text, first.label)
        outcome = await first.deliver(envelope, message, hooks)
        for pool in others:
            if outcome.exchange or not isinstance(outcome.results[0], Deferred):
                break
            # The first relay got no command for this message, so another relay can be tried in the same attempt.
            outcome = await pool.deliver(envelope, message, hooks)
        return outcome

    def _order(self) -> "list[ConnectionPool]":
        """The relays in random order by weight, those with an open circuit last."""
        if len(self._pools) == 1:
            return [self._pools[0][1]]
        ranked = [
            (pool.circuit_open, -(self._chance() ** (1 / weight)), at) for at, (weight, pool) in enumerate(self._pools)
        ]
        return [self._pools[at][1] for _, _, at in sorted(ranked)]

    async def aclose(self) -> None:
        """Close the connections to all relays."""
        for _, pool in self._pools:
            await pool.aclose()


async def _connect(peer: Peer, resolve: Resolve | None, _tenant: str | None) -> SmtpConnection:
    """Connect to the first reachable address of the host; its certificate must have that name. Raises
    ConnectionFailed."""
    if resolve is None:
        return await connect(peer)
    try:
        async with asyncio.timeout(peer.timeouts.connect.total_seconds()):
            addresses = await resolve(peer.host)
    except TimeoutError:
        raise Unreachable(f"The DNS lookup of {peer.host} timed out.", enhanced="4.4.3") from None
    except (ValueError, LookupError) as error:
        raise Unreachable(f"{peer.label}: {error}", enhanced="4.4.3") from None
    failure = Unreachable(f"{peer.host} has no address.", enhanced="4.4.3")
    for address in addresses[:ADDRESSES_TRIED]:
        try:
            return await connect(msgspec.structs.replace(peer, address=address))
        except Unreachable as error:
            failure = error
    raise failure


LONGEST_QUEUE = 1_024
"""Maximum messages that wait in memory for one pool; others stay in the database."""
BUSY_DELAY = timedelta(seconds=15)
"""The time until the next try of a message that had to wait too long, if its pool has finished no message lately."""
LONGEST_WAIT_SECONDS = 5.0
"""A message that the rate limit would delay for longer is deferred instead of waiting."""
IDLE_BEFORE_NOOP_SECONDS = 15.0
"""A connection that was idle for longer is checked with NOOP before it is used."""
IDLE_SECONDS = 60.0
"""A connection that was idle for this long is closed; most servers close it after 5 minutes."""
LEASED_SECONDS = 0.25
"""The span of time that a process leases at once of a shared rate, see `Lease`."""
SHORTEST_QUEUE = 250
"""With `longest_wait_seconds`, this many messages may wait even if none was finished for a while."""


class ConnectionPool:
    """The connections to one relay, or to one destination of the direct transport, with its rate limit and circuit
    breaker."""

    def __init__(
        self,
        label: str,
        dial: Callable[[str | None], Awaitable[SmtpConnection]],
        limits: PoolLimits,
        *,
        clock: Callable[[], float],
        chance: Callable[[], float],
        lease: Callable[[float], Awaitable[float | None]] | None = None,
        control: SiteControl | None = None,
    ) -> None:
        """`dial` opens a connection for a tenant. `lease` leases a span of time of a shared rate, see `Lease`.
        `control` has the limits of the site (see `shaping`), which all its pools in all processes share."""
        self.control = control
        self._lease = lease if limits.per_second else None
        self._leased = (0.0, 0.0)
        """The time at which the shared rate allows the next message, and the end of the leased span."""
        self._leasing = asyncio.Lock()
        self.label = label
        self.shaper = RateShaper(limits, chance)
        self._longest_wait = limits.longest_wait_seconds
        self._finished = (0, 0)
        """The messages that were finished in the last and in the current period of `longest_wait_seconds`."""
        self._period_began = clock()
        self._dial = dial
        self._clock = clock
        self._idle: list[SmtpConnection] = []
        self._slots_taken = 0
        """Slots in use, including those of bulk mail."""
        self._bulk_slots_taken = 0
        self._in_use = 0
        """Connections in use or being opened."""
        self._waiting: tuple[deque[asyncio.Future[bool]], deque[asyncio.Future[bool]]] = (deque(), deque())
        """The tasks that wait for a slot: those of other mail, and those of bulk mail."""
        self._waiting_for_rate = 0
        self._reaper: asyncio.TimerHandle | None = None
        """The timer that closes idle connections."""
        self._closing: set[asyncio.Task[None]] = set()

    @property
    def circuit_open(self) -> bool:
        """Whether the circuit breaker is open."""
        return self.shaper.circuit_open(self._clock())

    async def deliver(self, envelope: Envelope, message: bytes, hooks: DeliveryHooks = NO_HOOKS) -> DeliveryOutcome:
        """See `Transport.deliver`."""
        if self.control is None:
            return await self._deliver_in_turn(envelope, message, hooks)
        await self.control.prepare()
        outcome = await self._deliver_in_turn(envelope, message, hooks)
        return msgspec.structs.replace(outcome, site=self.control.key.name)

    async def _deliver_in_turn(self, envelope: Envelope, message: bytes, hooks: DeliveryHooks) -> DeliveryOutcome:
        deferral = self._deferral(envelope) or await self._wait_for_rate(envelope)
        if deferral:
            return deferral
        if not await self._acquire_slot_in_time(envelope.bulk):
            return self._defer_while_busy(envelope)
        try:
            if not self.shaper.allows_attempt(self._clock()):
                return self._defer_while_open(envelope)
            # While this message waited, replies to others may have slowed the site down.
            if deferral := self._deferral_by_site(envelope):
                return deferral
            outcome = await self._attempt(envelope, message, hooks)
            if self.control:
                self.control.record(envelope.tenant, outcome)
            return outcome
        finally:
            self._count_finished()
            self._release_slot(envelope.bulk)

    def is_held(self, envelope: Envelope) -> bool:
        """Whether the site gets no mail of the tenant at present, for another reason than the circuit breaker."""
        return self._deferral_by_site(envelope) is not None

    @property
    def is_unused(self) -> bool:
        """Whether no message is being sent or waits."""
        return not (self._slots_taken or self._waiting_for_rate or any(self._waiting))

    @property
    def _longest_queue(self) -> int:
        """How many messages may wait; with `longest_wait_seconds`, about as many as can be sent in that time."""
        if self._longest_wait is None:
            return LONGEST_QUEUE
        self._count_finished(0)
        return min(LONGEST_QUEUE, max(SHORTEST_QUEUE, *self._finished))

    def _count_finished(self, count: int = 1) -> None:
        if self._longest_wait is None:
            return
        now = self._clock()
        if now - self._period_began >= self._longest_wait:
            is_recent = now - self._period_began < 2 * self._longest_wait
            self._finished = (self._finished[1] if is_recent else 0, 0)
            self._period_began = now
        self._finished = (self._finished[0], self._finished[1] + count)

    def _deferral(self, envelope: Envelope) -> DeliveryOutcome | None:
        """The deferred outcome if the circuit breaker is open or too many messages are waiting; None otherwise."""
        if deferral := self._deferral_by_site(envelope):
            return deferral
        if self.circuit_open:
            return self._defer_while_open(envelope)
        return self._defer_while_busy(envelope) if self._count_waiting() >= self._longest_queue else None

    def _count_waiting(self) -> int:
        return len(self._waiting[False]) + len(self._waiting[True]) + self._waiting_for_rate

    def _deferral_by_site(self, envelope: Envelope) -> DeliveryOutcome | None:
        """The deferred outcome if the site gets no mail at present; None otherwise."""
        obstacle = self.control.obstacle(envelope.tenant, bulk=envelope.bulk) if self.control else None
        if obstacle is None:
            return None
        return defer_all(
            envelope,
            obstacle.text,
            self.label,
            no_server_contacted=True,
            wait_cause=obstacle.cause,
            retry_after=obstacle.delay,
        )

    @property
    def _cause_of_delay(self) -> WaitCause:
        return self.control.cause_of_delay if self.control else WaitCause.CAPACITY

    def _defer_while_busy(self, envelope: Envelope) -> DeliveryOutcome:
        waiting = self._count_waiting()
        is_slow = self._longest_wait is not None and not any(self._finished)
        return defer_all(
            envelope,
            f"{waiting} messages are already waiting for {self.label}.",
            self.label,
            no_server_contacted=True,
            wait_cause=self._cause_of_delay,
            retry_after=max(BUSY_DELAY if is_slow else timedelta(seconds=1), self._retry_delay(envelope.bulk)),
        )

    def _retry_delay(self, bulk: bool) -> timedelta:
        return self.control.retry_delay(bulk=bulk) if self.control else NO_TIME

    def _defer_while_open(self, envelope: Envelope) -> DeliveryOutcome:
        return defer_all(
            envelope,
            f"{self.label} could not be reached several times in a row, so no connection is tried for a while.",
            self.label,
            no_server_contacted=True,
            wait_cause=WaitCause.SITE_UNREACHABLE,
            retry_after=timedelta(seconds=self.shaper.seconds_to_next_trial(self._clock())),
        )

    async def _wait_for_rate(self, envelope: Envelope) -> DeliveryOutcome | None:
        """Wait as long as the rate limit requires. If that is too long, return the deferred outcome without waiting."""
        shared = await self._shared_delay() if self._lease else 0.0
        now = self._clock()
        delay = max(self.shaper.delay(now), shared)
        site_delay = self.control.delay() if self.control else 0.0
        if delay > LONGEST_WAIT_SECONDS or site_delay > RATE_WAIT_SECONDS:
            limits = [self.shaper.per_second, self.control and self.control.per_second]
            return defer_all(
                envelope,
                f"The rate limit of {self.label} is {min(filter(None, limits)):.3g} messages per second at present.",
                self.label,
                no_server_contacted=True,
                wait_cause=self._cause_of_delay,
                retry_after=max(timedelta(seconds=max(delay, site_delay)), self._retry_delay(envelope.bulk)),
            )
        delay = max(delay, site_delay)
        self.shaper.acquire(now)
        if self.control and self.control.per_second:
            self.control.acquire()
        if delay:
            self._waiting_for_rate += 1
            try:
                await asyncio.sleep(delay)
            finally:
                self._waiting_for_rate -= 1
        return None

    async def _shared_delay(self) -> float:
        """Seconds until the rate that all processes share allows the next message; reserves that time.

        Times are leased in spans and not one by one; the unused part of a span is lost.
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

    async def _attempt(self, envelope: Envelope, message: bytes, hooks: DeliveryHooks) -> DeliveryOutcome:
        """Send over an idle connection or, if that is stale, over a new one."""
        loop = asyncio.get_running_loop()
        started = loop.time()
        connection: SmtpConnection | None = None
        self._count_in_use(1)
        try:
            connection = await self._take_idle()
            if connection:
                if hooks.admit:
                    await hooks.admit()
                try:
                    return self._report_outcome(await connection.send(envelope, message, before_dot=hooks.before_dot))
                except StaleConnection:
                    connection = None
            if self.control:
                # `make_room` adds the new connection to `open_connections`, which counts it already.
                self.control.open_connections -= 1
                self.control.make_room()
                self.control.open_connections += 1
            await self._wait_for_closing()
            connection = await self._dial(envelope.tenant)
            self.shaper.connected()
            if hooks.admit:
                await hooks.admit()
            return self._report_outcome(await connection.send(envelope, message, before_dot=hooks.before_dot))
        except ConnectionFailed as failure:
            if failure.counts_against_server:
                self.shaper.failed(self._clock())
            elif failure.local_address:
                self.shaper.connected()
            if failure.reply:
                self.shaper.deferred(failure.reply.code, self._clock())
            outcome = defer_after_failure(envelope, failure, self.label, timedelta(seconds=loop.time() - started))
            is_tls = isinstance(failure, TlsRequired)
            return msgspec.structs.replace(outcome, wait_cause=WaitCause.TLS) if is_tls else outcome
        finally:
            self._count_in_use(-1)
            if connection:
                self._put_back(connection)

    async def _wait_for_closing(self) -> None:
        """Wait until enough connections are closed that the new one, which is counted already, exceeds no limit.

        The wait ends with the time limit for the server's reply to QUIT.
        """
        while self._closing and self._in_use + len(self._idle) + len(self._closing) > self.shaper.connections:
            await asyncio.wait(self._closing, return_when=asyncio.FIRST_COMPLETED)
        if self.control:
            await self.control.wait_for_closing()

    def _count_in_use(self, change: int) -> None:
        self._in_use += change
        if self.control:
            self.control.open_connections += change

    def _report_outcome(self, outcome: DeliveryOutcome) -> DeliveryOutcome:
        """Report the outcome to the rate shaper, once per message, whatever the number of recipients."""
        best = best_result(outcome)
        if outcome.exchange and best.code:
            self.shaper.connected()
            if isinstance(best, Accepted):
                self.shaper.accepted()
            else:
                self.shaper.deferred(best.code, self._clock())
        return outcome

    # Connections.

    async def _take_idle(self) -> SmtpConnection | None:
        """Remove a usable connection from the idle ones and return it; None if there is none."""
        loop = asyncio.get_running_loop()
        while self._idle:
            connection = self._idle.pop()
            self._count_idle(-1)
            idle_seconds = loop.time() - connection.idle_since
            try:
                if connection.usable and (idle_seconds < IDLE_BEFORE_NOOP_SECONDS or await connection.noop()):
                    return connection
            except asyncio.CancelledError:
                connection.abort()  # It is in no list any more.
                raise
            connection.abort()
        return None

    def _count_idle(self, change: int) -> None:
        if self.control is None or not change:
            return
        self.control.open_connections += change
        if self._idle:
            self.control.idle_pools[self] = None
        else:
            self.control.idle_pools.pop(self, None)

    def _put_back(self, connection: SmtpConnection) -> None:
        """Make the connection idle, or close it if it cannot or must not be used again."""
        if not connection.usable:
            connection.abort()
        elif (
            connection.messages >= self._messages_per_connection
            or self._in_use + len(self._idle) >= self.shaper.connections
            or (self.control is not None and self.control.has_no_room)
        ):
            self._discard(connection)
        else:
            self._idle.append(connection)
            self._count_idle(1)
            if self._reaper is None:
                self._reaper = asyncio.get_running_loop().call_later(IDLE_SECONDS, self._reap)

    @property
    def _messages_per_connection(self) -> int:
        own = self.control.rules.limits.messages_per_connection if self.control else None
        return own or self.shaper.limits.max_messages_per_connection

    def _reap(self) -> None:
        """Close the connections that have been idle for IDLE_SECONDS."""
        loop = asyncio.get_running_loop()
        self._reaper = None
        old = [connection for connection in self._idle if loop.time() - connection.idle_since >= IDLE_SECONDS]
        self._idle = [connection for connection in self._idle if connection not in old]
        self._count_idle(-len(old))
        for connection in old:
            self._discard(connection)
        if self._idle:
            oldest = min(connection.idle_since for connection in self._idle)
            self._reaper = loop.call_at(oldest + IDLE_SECONDS, self._reap)

    def _discard(self, connection: SmtpConnection) -> None:
        """Send QUIT. The connection counts until the server has closed it, or has not replied in time."""
        closing = asyncio.get_running_loop().create_task(connection.quit())
        self._closing.add(closing)
        closing.add_done_callback(self._closing.discard)
        if self.control:
            self.control.count_closing(closing)

    def abort_idle(self) -> bool:
        """Close all idle connections at once, without QUIT; returns whether there were any."""
        idle, self._idle = self._idle, []
        self._count_idle(-len(idle))
        for connection in idle:
            connection.abort()
        return bool(idle)

    def close_idle(self) -> bool:
        """Begin to close one idle connection; returns whether there was one."""
        if not self._idle:
            return False
        connection = self._idle.pop(0)
        self._count_idle(-1)
        self._discard(connection)
        return True

    async def aclose(self) -> None:
        """Close all idle connections."""
        if self._reaper:
            self._reaper.cancel()
            self._reaper = None
        while self._idle:
            self._discard(self._idle.pop())
            self._count_idle(-1)
        if self._closing:
            await asyncio.wait(self._closing)

    # Slots: the permission to use a connection.

    def _has_room(self, *, bulk: bool) -> bool:
        """Whether a slot is free; bulk mail cannot use the reserved ones."""
        allowed = self.shaper.connections
        if self.control:
            allowed = min(allowed, self.control.most_connections(self.shaper.limits.max_connections))
        if self._slots_taken >= allowed or (self.control and not self.control.has_slot(bulk=bulk)):
            return False
        reserved = 0 if allowed == 1 else max(1, allowed // RESERVED_ONE_IN)
        return not bulk or self._bulk_slots_taken < allowed - reserved

    async def _acquire_slot_in_time(self, bulk: bool) -> bool:
        """Wait until a connection can be used, at most `longest_wait_seconds`; returns whether it can."""
        longest = self._longest_wait
        if self.control and self.control.is_slow:
            longest = min(longest or RATE_WAIT_SECONDS, RATE_WAIT_SECONDS)
        if longest is None or not (self._waiting[bulk] or not self._has_room(bulk=bulk)):
            return await self._acquire_slot(bulk)
        try:
            async with asyncio.timeout(longest):
                return await self._acquire_slot(bulk)
        except TimeoutError:
            return False

    async def _acquire_slot(self, bulk: bool) -> bool:
        """Wait until a connection can be used; returns False if `shed` returns the message to the database before."""
        queue = self._waiting[bulk]
        if queue or not self._has_room(bulk=bulk):
            slot: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
            queue.append(slot)
            if self.control:
                self.control.waiting_pools[self] = None
            try:
                return await slot
            except asyncio.CancelledError:
                if slot.done() and not slot.cancelled():
                    # The task was cancelled after it got the slot, so the next waiting task gets it.
                    if slot.result():
                        self._release_slot(bulk)
                else:
                    if slot in queue:  # `wake` may have dropped it after it was cancelled.
                        queue.remove(slot)
                    self._stop_waiting()
                raise
        self._count_slots(bulk, 1)
        return True

    def _release_slot(self, bulk: bool) -> None:
        self._count_slots(bulk, -1)
        self.wake()
        if self.control and len(self.control.waiting_pools) > (self in self.control.waiting_pools):
            self.control.wake()

    def wake(self) -> None:
        """Give free slots to the waiting messages."""
        for is_bulk in (False, True):
            queue = self._waiting[is_bulk]
            while queue and self._has_room(bulk=is_bulk):
                slot = queue.popleft()
                if not slot.done():
                    self._count_slots(is_bulk, 1)
                    slot.set_result(True)
            if not queue:
                self._stop_waiting()

    def shed(self, keep: int) -> int:
        """See `WaitingPool.shed`. The messages that came last are returned first, and bulk mail before other mail."""
        for queue in reversed(self._waiting):
            while queue and sum(map(len, self._waiting)) > keep:
                slot = queue.pop()
                if not slot.done():
                    slot.set_result(False)
        waiting = sum(map(len, self._waiting))
        self._stop_waiting()
        return waiting

    def _stop_waiting(self) -> None:
        if self.control and not any(self._waiting):
            self.control.waiting_pools.pop(self, None)

    def _count_slots(self, bulk: bool, change: int) -> None:
        self._slots_taken += change
        if bulk:
            self._bulk_slots_taken += change
        if self.control:
            self.control.count_slots(bulk, change)


FAILURES_TO_OPEN = 3
"""The circuit breaker opens after this many connection failures in a row."""
SHORTEST_PAUSE, LONGEST_PAUSE = 1.0, 300.0
"""Seconds until an open circuit breaker allows the next trial; they double with every failed trial."""
DEFERRALS_TO_SLOW = 5
"""After this many deferred messages in a row, the relay is considered overloaded, not only some mailboxes."""
SLOWEST_PER_SECOND = 5.0
"""The rate is never reduced below this, or below the configured rate if that is lower."""
SLOW_DOWN_SECONDS = 1.0
"""Deferrals within this time after a slow-down are ignored, because those messages were already being sent."""
ACCEPTED_TO_RECOVER = 20
"""The number of accepted messages for each recovery step."""
RECOVERY = 1.5
"""A recovery step multiplies the rate by this and adds one connection."""
BURST_SECONDS = 0.05
"""Messages can be sent this much earlier than an even distribution requires."""


class RateShaper:
    """The current limits of connections and messages per second of a pool, and its circuit breaker.

    It slows down at once and recovers slowly. The argument `now` is the time in seconds of any monotonic clock.
    """

    def __init__(self, limits: PoolLimits, chance: Callable[[], float]) -> None:
        self.limits = limits
        self.connections = limits.initial_connections or limits.max_connections
        """The current limit of connections."""
        self.per_second = limits.per_second
        """The current limit of messages per second; None for no limit."""
        self._chance = chance
        self._failures = 0
        self._retry_at = 0.0
        self._deferrals = 0
        self._accepted = 0
        self._slowed_at = -SLOW_DOWN_SECONDS
        self._next_send_at = 0.0
        self._this_second, self._sent_in_this_second, self._sent_in_last_second = 0, 0, 0.0

    def circuit_open(self, now: float) -> bool:
        """Whether the circuit breaker is open, so that no attempt is made."""
        return self._failures >= FAILURES_TO_OPEN and now < self._retry_at

    def seconds_to_next_trial(self, now: float) -> float:
        """Seconds until the next trial of an open circuit breaker; 0 if it is closed."""
        return max(0.0, self._retry_at - now) if self._failures >= FAILURES_TO_OPEN else 0.0

    def allows_attempt(self, now: float) -> bool:
        """Whether an attempt is allowed. After the pause, an open circuit breaker allows exactly one."""
        if self._failures < FAILURES_TO_OPEN:
            return True
        if now < self._retry_at:
            return False
        self._retry_at = now + self._pause()
        return True

    def delay(self, now: float) -> float:
        """Seconds until the next message can be sent at the current rate; call `acquire` when it is sent."""
        return max(0.0, self._next_send_at - BURST_SECONDS - now) if self.per_second else 0.0

    def acquire(self, now: float) -> None:
        """Reserve the next send time for one message."""
        if self.per_second:
            self._next_send_at = max(self._next_send_at, now) + 1 / self.per_second
        if int(now) != self._this_second:
            self._sent_in_last_second = float(self._sent_in_this_second)
            self._this_second, self._sent_in_this_second = int(now), 0
        self._sent_in_this_second += 1

    def failed(self, now: float) -> None:
        """Record a failed connection; opens the circuit breaker after FAILURES_TO_OPEN in a row."""
        self._failures += 1
        self._retry_at = now + self._pause()

    def connected(self) -> None:
        """Record a connection; closes the circuit breaker."""
        self._failures = 0

    def accepted(self) -> None:
        """Record an accepted message; raises the reduced limits after ACCEPTED_TO_RECOVER messages."""
        self._deferrals = 0
        self._accepted += 1
        if self._accepted >= ACCEPTED_TO_RECOVER:
            self._accepted = 0
            self._recover()

    def deferred(self, code: int, now: float) -> None:
        """Record a message that was deferred with the reply code `code`; only SLOW_DOWN_CODES count.

        The code 421 halves the limits at once, other codes after DEFERRALS_TO_SLOW in a row.
        """
        if code not in SLOW_DOWN_CODES or now - self._slowed_at < SLOW_DOWN_SECONDS:
            return
        self._deferrals += 1
        if code == 421 or self._deferrals >= DEFERRALS_TO_SLOW:
            self._slow_down(now)

    def _slow_down(self, now: float) -> None:
        self._slowed_at, self._deferrals, self._accepted = now, 0, 0
        self.connections = max(1, self.connections // 2)
        rate = self.per_second or max(self._sent_in_last_second, float(self._sent_in_this_second))
        self.per_second = max(rate / 2, min(SLOWEST_PER_SECOND, self.limits.per_second or SLOWEST_PER_SECOND))

    def _recover(self) -> None:
        self.connections = min(self.connections + 1, self.limits.max_connections)
        if self.per_second is None or self.per_second == self.limits.per_second:
            return
        self.per_second *= RECOVERY
        ceiling = self.limits.per_second
        if ceiling is not None:
            self.per_second = min(self.per_second, ceiling)
        elif self.connections == self.limits.max_connections and self.per_second > 4 * max(
            self._sent_in_last_second, self._sent_in_this_second
        ):
            # The relay's replies, and not the limit, determine the rate again.
            self.per_second = None

    def _pause(self) -> float:
        """Seconds until the next trial, with jitter."""
        pause = SHORTEST_PAUSE * 2.0 ** min(self._failures - FAILURES_TO_OPEN, 16)
        return min(max(pause, SHORTEST_PAUSE), LONGEST_PAUSE) * (0.8 + 0.4 * self._chance())
