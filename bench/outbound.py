"""The rate of POST requests of Postern's HTTP client, compared with the same client on httpcore in the same run.

Run: python -m bench.outbound [requests]

Both do what webhooks do: small bodies to a few paths of one receiver on loopback, over connections that are reused,
with a check of the receiver's addresses (`kernel/outbound/ssrf.py`). The receiver is a process of its own. The clients
take turns. The CPU time of this process is the better figure on a machine that does other work, too.

`HttpcoreOutbound` differs from the client of `kernel/outbound/client.py` in what httpcore cannot do: it checks the
addresses when a connection is opened, and not for each request; and a request that a server answers by closing an idle
connection fails, and is not sent again over another.
"""

import asyncio
import ssl
import statistics
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import httpcore
import uvloop

from bench.webhooks import BODY, LOOPBACK, Receiver
from postern.kernel.outbound.client import (
    ADDRESSES_TRIED,
    CONNECT_TIMEOUT,
    DRAINED_BYTES,
    IDLE_CONNECTIONS,
    IDLE_SECONDS,
    KEPT_HEADERS,
    OPEN_CONNECTIONS,
    USER_AGENT,
    Method,
    Outbound,
    OutboundFailed,
    OutboundFailureKind,
    OutboundRefused,
    OutboundResponse,
    Outcome,
    default_tls,
)
from postern.kernel.outbound.ssrf import (
    AddressRefused,
    CachedLookup,
    Lookup,
    Network,
    addresses_in,
    permitted,
    read_target,
)

REQUESTS = 20_000
ROUNDS = 5
CONCURRENT = (1, 8, 40)
"""Concurrent requests."""
PATHS = 8
HEADERS = {
    "Content-Type": "application/json",
    "webhook-id": "msg_0199f1a27c007000800000000000",
    "webhook-timestamp": "1769860800",
    "webhook-signature": "v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=",
}


class HttpcoreOutbound(Outbound):
    """`Outbound` on a connection pool of httpcore; see above for the differences."""

    def __init__(self, lookup: Lookup, *, allowed: Sequence[Network] = (), tls: ssl.SSLContext | None = None) -> None:
        super().__init__(lookup, allowed=allowed, tls=tls)
        self._pool = httpcore.AsyncConnectionPool(
            ssl_context=tls or default_tls(),
            max_connections=OPEN_CONNECTIONS,
            max_keepalive_connections=IDLE_CONNECTIONS,
            keepalive_expiry=IDLE_SECONDS,
            network_backend=_CheckedBackend(lookup, allowed),
        )
        self._timeouts = {"timeout": {"connect": CONNECT_TIMEOUT.total_seconds()}}

    async def _send(self, method: Method, url: str, body: bytes, headers: Mapping[str, str], keep: int) -> Outcome:
        clock = asyncio.get_running_loop().time
        started_at = clock()
        try:
            target = read_target(url)
            address = httpcore.URL(
                scheme=b"https" if target.secure else b"http",
                host=target.host.encode(),
                port=target.port,
                target=target.path.encode(),
            )
            fields = {
                "Host": target.authority,
                "User-Agent": USER_AGENT,
                "Accept": "*/*",
                "Accept-Encoding": "identity",
                **headers,
            }
            if method != "GET":
                fields["Content-Length"] = str(len(body))
            async with (
                asyncio.timeout(self._total),
                self._pool.stream(
                    method, address, headers=list(fields.items()), content=body, extensions=self._timeouts
                ) as response,
            ):
                kept, received = bytearray(), 0
                async for chunk in response.aiter_stream():
                    kept += chunk[: keep - len(kept)]
                    received += len(chunk)
                    if received > keep + DRAINED_BYTES:
                        break
        except AddressRefused as error:
            return OutboundRefused(str(error), clock() - started_at)
        except httpcore.LocalProtocolError as error:
            raise ValueError(str(error)) from None
        except (httpcore.NetworkError, httpcore.ProtocolError, httpcore.TimeoutException, TimeoutError) as error:
            return OutboundFailed(_kind_of(error), str(error), clock() - started_at)
        names = ((name.decode("latin-1").lower(), value) for name, value in response.headers)
        kept_headers = {name: value.decode("latin-1") for name, value in names if name in KEPT_HEADERS}
        return OutboundResponse(response.status, kept_headers, bytes(kept), received == len(kept), clock() - started_at)

    async def close(self) -> None:
        """Close all idle connections."""
        await self._pool.aclose()


def _kind_of(error: Exception) -> OutboundFailureKind:
    if isinstance(error, _LookupFailed):
        return "dns"
    if isinstance(error, httpcore.ConnectError | httpcore.ConnectTimeout):
        return "tls" if isinstance(error.__context__, ssl.SSLError) else "connect"
    return "timeout" if isinstance(error, httpcore.TimeoutException | TimeoutError) else "protocol"


class _LookupFailed(httpcore.ConnectError):
    """The host has no address, or the lookup failed."""


class _CheckedBackend(httpcore.AsyncNetworkBackend):
    """Opens connections only to addresses that are permitted."""

    def __init__(self, lookup: Lookup, allowed: Sequence[Network]) -> None:
        self._lookup, self._allowed = lookup, allowed
        self._backend: Any = httpcore.AnyIOBackend()

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        """Connect to the first permitted address of `host` that accepts. Raises AddressRefused."""
        try:
            addresses = permitted(addresses_in(host) or await self._lookup(host), self._allowed)[:ADDRESSES_TRIED]
        except AddressRefused:
            raise
        except Exception as error:
            raise _LookupFailed(f"The address of {host} could not be found.") from error
        failure: Exception = _LookupFailed(f"{host} has no address.")
        for address in addresses:
            try:
                share = timeout and timeout / len(addresses)
                return await self._backend.connect_tcp(str(address), port, share, local_address, socket_options)
            except (httpcore.ConnectError, httpcore.ConnectTimeout) as error:
                failure = error
        raise failure


async def loopback(_name: str) -> Sequence[str]:
    """The lookup of every name."""
    return ["127.0.0.1"]


async def measure(client: Outbound, url: str, count: int, concurrent: int) -> tuple[float, float]:
    """Requests per second, and the CPU time of this process for each in microseconds."""
    numbers = iter(range(count))

    async def work() -> None:
        for number in numbers:
            response = await client.post(f"{url}/{number % PATHS}", BODY, headers=HEADERS)
            assert isinstance(response, OutboundResponse), response
            assert response.ok

    began, cpu = time.perf_counter(), time.process_time()
    await asyncio.gather(*(work() for _ in range(concurrent)))
    return count / (time.perf_counter() - began), (time.process_time() - cpu) / count * 1e6


async def compare(port: int, count: int) -> None:
    lookup = CachedLookup(loopback)
    clients = {
        "Postern's client": Outbound(lookup, allowed=LOOPBACK),
        "the same on httpcore": HttpcoreOutbound(lookup, allowed=LOOPBACK),
    }
    url = f"http://hooks.example:{port}"
    for concurrent in CONCURRENT:
        results: dict[str, list[tuple[float, float]]] = {name: [] for name in clients}
        for _ in range(ROUNDS):
            for name, client in clients.items():
                results[name].append(await measure(client, url, count // ROUNDS, concurrent))
        medians = {
            name: [statistics.median(values) for values in zip(*rounds, strict=True)]
            for name, rounds in results.items()
        }
        for name, (rate, microseconds) in medians.items():
            print(f"{concurrent:>3} concurrent, {name:<22} {rate:>9,.0f} /s {microseconds:>8,.0f} µs of CPU time")
        (our_rate, our_cpu), (other_rate, other_cpu) = medians.values()
        print(f"{concurrent:>3} concurrent, ratio {our_rate / other_rate:.1f} (CPU time {other_cpu / our_cpu:.1f})")
    for client in clients.values():
        await client.close()


def main() -> None:
    receiver = Receiver()
    try:
        uvloop.run(compare(receiver.port, int(sys.argv[1]) if len(sys.argv) > 1 else REQUESTS))
    finally:
        receiver.close()


if __name__ == "__main__":
    main()
