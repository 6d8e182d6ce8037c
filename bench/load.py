"""A load generator that costs little CPU time itself: one write and one read per request, on keep-alive connections."""

import asyncio
import time
from collections import Counter
from collections.abc import Callable
from typing import Any


class _Connection(asyncio.Protocol):
    """A connection that sends the next request when the response to the one before is complete."""

    def __init__(self, load: "_Load", number: int) -> None:
        self._load, self._number = load, number
        self._received = b""
        self._began = 0.0

    def connection_made(self, transport: Any) -> None:
        self._transport = transport
        self._send()

    def data_received(self, data: bytes) -> None:
        self._received += data
        head, separator, body = self._received.partition(b"\r\n\r\n")
        if not separator:
            return
        lowered = head.lower()
        start = lowered.find(b"content-length:")
        end = lowered.find(b"\r", start)
        length = int(lowered[start + 15 : None if end < 0 else end]) if start >= 0 else 0
        if len(body) < length:
            return
        self._received = b""
        self._load.times.append(time.perf_counter() - self._began)
        self._load.statuses[int(head[9:12])] += 1
        self._send()

    def connection_lost(self, exc: Exception | None) -> None:
        self._load.connection_ended()

    def _send(self) -> None:
        self._began = time.perf_counter()
        if self._began < self._load.ends:
            self._transport.write(self._load.request_of(self._number))
        else:
            self._transport.close()


class _Load:
    def __init__(
        self, request_of: Callable[[int], bytes], connections: int, seconds: float, statuses: Counter[int]
    ) -> None:
        self.request_of = request_of
        self.ends = time.perf_counter() + seconds
        self.times: list[float] = []
        self.statuses = statuses
        self.done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._open = connections

    def connection_ended(self) -> None:
        self._open -= 1
        if not self._open:
            self.done.set_result(None)


async def generate_load(
    port: int,
    request_of: Callable[[int], bytes],
    *,
    connections: int,
    seconds: float,
    statuses: Counter[int] | None = None,
) -> tuple[float, list[float], Counter[int]]:
    """Send `request_of(number)` again and again on each connection; `number` is that of the connection, from 0. Each
    connection has a loopback address of its own. The responses are also counted in `statuses`, for a caller that ends
    this before its time.

    Returns responses per second, durations in seconds, and the number of responses by status.
    """
    loop, began = asyncio.get_running_loop(), time.perf_counter()
    load = _Load(request_of, connections, seconds, Counter() if statuses is None else statuses)
    for number in range(connections):
        address = (f"127.1.{number // 250}.{1 + number % 250}", 0)
        await loop.create_connection(
            lambda number=number: _Connection(load, number), "127.0.0.1", port, local_addr=address
        )
    await load.done
    return len(load.times) / (time.perf_counter() - began), load.times, load.statuses
