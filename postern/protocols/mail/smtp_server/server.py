"""The connections of an SMTP server, with their common limits."""

import asyncio
import socket
from collections import Counter
from collections.abc import Coroutine
from typing import Any, Final

import structlog

from postern.kernel.limits import network_of
from postern.protocols.mail.smtp import SmtpReply
from postern.protocols.mail.smtp_server.connection import LINGER_SECONDS, STOPPING, SmtpServerConnection
from postern.protocols.mail.smtp_server.content import ContentBudget
from postern.protocols.mail.smtp_server.session import SmtpCounters, SmtpHandler, SmtpOptions

log: structlog.stdlib.BoundLogger = structlog.get_logger(__name__)

ACCEPT_PAUSE_SECONDS: Final = 1.0
"""The pause after a connection could not be accepted."""
BACKLOG: Final = 2_048
"""Connections that wait to be accepted."""
SWEEP_SECONDS: Final = 1.0
"""The interval between checks of all timeouts."""
BUSY_SHARE: Final = 0.8
"""The share of the allowed connections from which on the server waits less for idle clients."""

TOO_MANY_CONNECTIONS = SmtpReply(421, "4.7.0", "There are too many connections; try again later.")
TOO_MANY_OF_NETWORK = SmtpReply(421, "4.7.0", "There are too many connections from your address; close some of them.")


class SmtpServer:
    """A server, which may listen on several sockets. One periodic sweep checks the timeouts of all connections."""

    def __init__(self, handler: SmtpHandler, options: SmtpOptions) -> None:
        self.handler = handler
        self.options = options
        self.budget = ContentBudget(options.limits.content_octets)
        self.is_stopping = False
        self.connections: set[SmtpServerConnection] = set()
        """The connections that are open, or whose message is still being processed."""
        self._by_network: Counter[str] = Counter()
        self._tasks: set[asyncio.Task[None]] = set()
        self._listeners: list[asyncio.Server] = []
        self._accepting: list[tuple[socket.socket, asyncio.Task[None]]] = []
        self._next_sweep: asyncio.TimerHandle | None = None
        self._is_empty = asyncio.Event()

    async def listen(
        self, listener: socket.socket, *, implicit_tls: bool = False, counters: SmtpCounters | None = None
    ) -> None:
        """Accept connections on a listening socket until `stop`, which also closes the socket. They are counted in
        `counters`.

        Raises ValueError for `implicit_tls` without a certificate.
        """
        if implicit_tls and self.options.tls is None:
            raise ValueError("implicit TLS needs a certificate")
        loop = asyncio.get_running_loop()
        counters = counters or SmtpCounters()
        listener.setblocking(False)
        if implicit_tls:
            self._accepting.append((listener, asyncio.create_task(self._accept_with_tls(listener, counters))))
        else:
            server = await loop.create_server(
                lambda: SmtpServerConnection(self, counters), sock=listener, backlog=BACKLOG
            )
            self._listeners.append(server)
        if self._next_sweep is None:
            self._schedule_sweep(loop)

    async def _accept_with_tls(self, listener: socket.socket, counters: SmtpCounters) -> None:
        """Accept connections that begin with a TLS handshake.

        They are counted before the handshake; asyncio's own server calls the protocol only after it.
        """
        loop = asyncio.get_running_loop()
        while True:
            try:
                client, address = await loop.sock_accept(listener)
            except OSError as error:  # For example, too many open files.
                log.warning("smtp_accept_failed", error=str(error))
                await asyncio.sleep(ACCEPT_PAUSE_SECONDS)
                continue
            connection = SmtpServerConnection(self, counters, implicit_tls_peer=str(address[0]))
            if self.admit(connection) is None:
                self.run_in_background(self._shake_hands(connection, client))
            else:
                client.close()  # The client could not read a reply before the handshake.

    async def _shake_hands(self, connection: SmtpServerConnection, client: socket.socket) -> None:
        try:
            await asyncio.get_running_loop().connect_accepted_socket(
                lambda: connection,
                client,
                ssl=self.options.tls,
                ssl_handshake_timeout=self.options.limits.handshake_seconds,
                ssl_shutdown_timeout=LINGER_SECONDS,
            )
        except (OSError, TimeoutError, asyncio.CancelledError):
            self.remove(connection)

    async def stop(self, seconds: float) -> None:
        """Stop listening and close all connections: idle ones at once, others after their message. Connections that are
        still open after `seconds` are aborted."""
        self.is_stopping = True
        for listener in self._listeners:
            listener.close()
        for listener, task in self._accepting:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
            listener.close()
        for connection in tuple(self.connections):
            connection.end_if_idle()
        try:
            async with asyncio.timeout(seconds):
                while self.connections:
                    self._is_empty.clear()
                    await self._is_empty.wait()
        except TimeoutError:
            log.warning("smtp_connections_aborted", count=len(self.connections))
        for task in tuple(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        for connection in tuple(self.connections):
            connection.abort()
        if self._next_sweep is not None:
            self._next_sweep.cancel()

    def run_in_background(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        """Start a task of a connection. `stop` waits for it."""
        task = asyncio.create_task(work)
        self._tasks.add(task)  # The event loop has only weak references to tasks.
        task.add_done_callback(self._tasks.discard)
        return task

    def admit(self, connection: SmtpServerConnection) -> SmtpReply | None:
        """Count a new connection. Returns the reply to send instead of a greeting if there are too many."""
        network = network_of(connection.session.peer)
        refusal = self._refusal(network)
        if refusal is not None:
            connection.counters.refused += 1
            return refusal
        connection.counters.accepted += 1
        connection.counters.open += 1
        self._by_network[network] += 1
        self.connections.add(connection)
        return None

    def _refusal(self, network: str) -> SmtpReply | None:
        limits = self.options.limits
        if self.is_stopping:
            return STOPPING
        if len(self.connections) >= limits.connections:
            return TOO_MANY_CONNECTIONS
        return TOO_MANY_OF_NETWORK if self._by_network[network] >= limits.connections_per_network else None

    def remove(self, connection: SmtpServerConnection) -> None:
        """Remove a connection that is closed. It may have been removed before, or not admitted."""
        if connection not in self.connections:
            return
        self.connections.discard(connection)
        connection.counters.open -= 1
        network = network_of(connection.session.peer)
        self._by_network[network] -= 1
        if not self._by_network[network]:
            del self._by_network[network]
        if not self.connections:
            self._is_empty.set()

    @property
    def is_busy(self) -> bool:
        """Whether most of the allowed connections are open."""
        return len(self.connections) >= self.options.limits.connections * BUSY_SHARE

    def sweep(self, now: float) -> None:
        """Close the connections that are late at `now`, in the event loop's time."""
        for connection in tuple(self.connections):
            connection.end_if_late(now)

    def _schedule_sweep(self, loop: asyncio.AbstractEventLoop) -> None:
        def sweep() -> None:
            self.sweep(loop.time())
            self._schedule_sweep(loop)

        self._next_sweep = loop.call_later(SWEEP_SECONDS, sweep)
