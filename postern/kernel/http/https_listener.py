"""The listener for HTTPS: it counts connections during their TLS handshake, and limits how long that takes."""

import asyncio
import socket
import ssl
from collections import Counter
from collections.abc import Callable
from typing import Any, Final

import structlog
import uvicorn

from postern.kernel.http.connections import HttpServer
from postern.kernel.limits import network_of

log: structlog.stdlib.BoundLogger = structlog.get_logger(__name__)
HANDSHAKES: Final = 500
"""Maximum concurrent TLS handshakes of one process; further connections are closed."""
HANDSHAKES_PER_ADDRESS: Final = 50
"""Maximum concurrent TLS handshakes of one IPv4 address or IPv6 /64 network."""
HANDSHAKE_SECONDS: Final = 10.0
SHUTDOWN_SECONDS: Final = 5.0
"""How long a client may take to close TLS."""
ACCEPT_PAUSE_SECONDS: Final = 1.0
"""The pause after a connection could not be accepted, for example because of too many open files."""


class HttpsListener:
    """Accepts connections on a listening socket and passes them, after the handshake, to an HTTP protocol."""

    def __init__(
        self, listener: socket.socket, context: ssl.SSLContext, make_protocol: Callable[[], asyncio.Protocol]
    ) -> None:
        listener.setblocking(False)
        self._listener = listener
        self._context = context
        self._make_protocol = make_protocol
        self._handshakes: set[asyncio.Task[None]] = set()
        self._by_network: Counter[str] = Counter()
        self._accepting: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begin to accept connections."""
        self._accepting = asyncio.create_task(self._accept())

    async def stop(self) -> None:
        """Stop listening and end the handshakes; established connections stay open."""
        tasks = [*self._handshakes, *([self._accepting] if self._accepting else [])]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        self._listener.close()

    async def _accept(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            try:
                client, address = await loop.sock_accept(self._listener)
            except OSError as error:
                log.warning("https_accept_failed", error=str(error))
                await asyncio.sleep(ACCEPT_PAUSE_SECONDS)
                continue
            network = network_of(str(address[0]))
            if len(self._handshakes) >= HANDSHAKES or self._by_network[network] >= HANDSHAKES_PER_ADDRESS:
                client.close()  # The client could not read a response before the handshake.
                continue
            self._by_network[network] += 1
            task = asyncio.create_task(self._do_handshake(client, network))
            self._handshakes.add(task)
            task.add_done_callback(self._handshakes.discard)

    async def _do_handshake(self, client: socket.socket, network: str) -> None:
        try:
            await asyncio.get_running_loop().connect_accepted_socket(
                self._make_protocol,
                client,
                ssl=self._context,
                ssl_handshake_timeout=HANDSHAKE_SECONDS,
                ssl_shutdown_timeout=SHUTDOWN_SECONDS,
            )
        except (OSError, TimeoutError, asyncio.CancelledError):
            pass  # The transport has closed the socket.
        finally:
            self._by_network[network] -= 1
            if not self._by_network[network]:
                del self._by_network[network]


class HttpsServer(HttpServer):
    """A server that also accepts HTTPS on a socket of its own, with the same limits of connections."""

    def __init__(self, config: uvicorn.Config, listener: socket.socket, context: ssl.SSLContext) -> None:
        super().__init__(config)
        self._https = HttpsListener(listener, context, self._make_protocol)

    def _make_protocol(self) -> asyncio.Protocol:
        make: Any = self.config.http_protocol_class
        return make(config=self.config, server_state=self.server_state, app_state=self.lifespan.state)

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to accept connections with and without TLS."""
        await super().startup(sockets)
        if self.started:
            self._https.start()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Stop accepting connections, and wait for running requests."""
        await self._https.stop()
        await super().shutdown(sockets)
