"""A time server (SNTP, RFC 4330) on loopback, whose clock may be wrong.

async with time_server(ahead=timedelta(minutes=5)) as port:
    ...
"""

import asyncio
import struct
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import timedelta

UNIX_EPOCH = 2_208_988_800
"""Seconds from 1900 to 1970."""


class _Server(asyncio.DatagramProtocol):
    def __init__(self, ahead: timedelta, change: Callable[[bytearray], bytes]) -> None:
        self._ahead, self._change = ahead, change

    def connection_made(self, transport: asyncio.DatagramTransport) -> None:  # pyright: ignore[reportIncompatibleMethodOverride]
        self._transport = transport

    def datagram_received(self, data: bytes, addr: tuple[str, int]) -> None:
        now = time.time() + self._ahead.total_seconds() + UNIX_EPOCH
        reply = bytearray(48)
        reply[0], reply[1] = 0x24, 2
        reply[24:32] = data[40:48]
        # Modulo 2^32: timestamps begin again in 2036.
        reply[32:40] = reply[40:48] = struct.pack("!II", int(now) % (1 << 32), int(now % 1 * (1 << 32)))
        self._transport.sendto(self._change(reply), addr)


@asynccontextmanager
async def time_server(
    ahead: timedelta = timedelta(), change: Callable[[bytearray], bytes] = bytes
) -> AsyncIterator[int]:
    """The port of a server whose clock is `ahead` of the machine's; `change` makes its replies."""
    transport, _ = await asyncio.get_running_loop().create_datagram_endpoint(
        lambda: _Server(ahead, change), local_addr=("127.0.0.1", 0)
    )
    yield transport.get_extra_info("sockname")[1]
    transport.close()
