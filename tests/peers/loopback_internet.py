"""Mail servers of several domains on this machine: each has its own loopback address, all have the same port.

async with loopback_internet(zone) as internet:
    good = await internet.mail_server("good.example")
    slow = await internet.mail_server("slow.example", Behaviour(stall_at="GREETING"))
    ...  # with internet.port as the port of mail servers
    assert good.messages
"""

import socket
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

from tests.peers.dns_zone import DnsZone
from tests.peers.ports import reserved_port
from tests.peers.smtp_sink import Behaviour, Sink


class LoopbackInternet:
    """The mail servers, and their records in the zone."""

    def __init__(self, zone: DnsZone, port: int, stack: AsyncExitStack) -> None:
        self.zone = zone
        self.port = port
        self._stack = stack
        self._last_address = 0

    def new_address(self) -> str:
        """An address of this machine that no other server of this test has."""
        self._last_address += 1
        return f"127.0.1.{self._last_address}"

    async def server_at(self, address: str, behaviour: Behaviour | None = None) -> Sink:
        """Start a server on an address."""
        family = socket.AF_INET6 if ":" in address else socket.AF_INET
        listener = self._stack.enter_context(socket.socket(family))
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((address, self.port))
        return await self._stack.enter_async_context(Sink(behaviour, listener=listener))

    async def mail_server(
        self,
        domain: str,
        behaviour: Behaviour | None = None,
        *,
        host: str = "",
        preference: int = 10,
        address: str = "",
    ) -> Sink:
        """Start a server, and publish it as a mail server of the domain; `host` is `mx.<domain>` by default."""
        address = address or self.new_address()
        host = host or f"mx.{domain}"
        self.zone.add(domain, "MX", f"{preference} {host}.")
        self.zone.add(host, "AAAA" if ":" in address else "A", address)
        return await self.server_at(address, behaviour)


@asynccontextmanager
async def loopback_internet(zone: DnsZone) -> AsyncIterator[LoopbackInternet]:
    """The mail servers that a test starts; they end with the block."""
    with reserved_port() as port_socket:
        async with AsyncExitStack() as stack:
            yield LoopbackInternet(zone, port_socket.getsockname()[1], stack)
