"""Mail leaves through one or several smart hosts."""

import asyncio
import functools
import random
import ssl
import time
from collections.abc import Awaitable, Callable, Sequence
from typing import TypeAlias

import msgspec

from postern.protocols.mail.connection_pool import ConnectionPool
from postern.protocols.mail.rate_shaper import RateLimits
from postern.protocols.mail.smtp import Peer, SmtpConnection, Timeouts, Tls, Unreachable, connect
from postern.protocols.mail.transports.transport import Admit, BeforeDot, Deferred, DeliveryOutcome, Envelope

MOST_RELAYS = 16
"""Smart hosts of one transport."""
ADDRESSES_TRIED = 4
"""Addresses of one smart host that are tried for a connection."""

Resolve: TypeAlias = Callable[[str], Awaitable[Sequence[str]]]
"""The addresses of a host to connect to. Raises ValueError or LookupError, in words for people, where there is none."""

Lease: TypeAlias = Callable[[str, float], Awaitable[float | None]]
"""Lease the next so many seconds of a named rate that several processes share: how many seconds away they begin, None
where the rate is taken for a long time ahead."""


class RelayServer(msgspec.Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True):
    """A smart host and what it takes."""

    host: str
    port: int = 587
    tls: Tls = Tls.STARTTLS_REQUIRED
    verify: bool = True
    """Whether its certificate must be right."""
    user: str | None = None
    password: str = ""
    weight: int = 1
    """Its share of the messages, relative to the other smart hosts."""
    per_second: float | None = None
    """Messages per second; None without bound."""
    max_connections: int = 10
    max_messages_per_connection: int = 1_000

    def limits(self) -> RateLimits:
        """What it takes at its best."""
        return RateLimits(
            connections=self.max_connections,
            messages_per_connection=self.max_messages_per_connection,
            per_second=self.per_second,
        )


class RelayTransport:
    """Every message goes to one of the relays, by weight; one that cannot be reached passes it on."""

    def __init__(
        self,
        relays: Sequence[RelayServer],
        *,
        hello: str = "localhost",
        patience: Timeouts | None = None,
        context: ssl.SSLContext | None = None,
        resolve: Resolve | None = None,
        lease: Lease | None = None,
        clock: Callable[[], float] = time.monotonic,
        chance: Callable[[], float] = random.random,
    ) -> None:
        """`hello` is our own name, `context` replaces the system's authorities, `chance` is 0 ≤ x < 1.

        `resolve` is asked before each connection, and only the addresses it answers are connected to; without it the
        system looks names up, and every address is good. `lease` shares the relays' rates with other processes.
        """
        if not 1 <= len(relays) <= MOST_RELAYS:
            raise ValueError(f"From 1 to {MOST_RELAYS} relays.")
        self._chance = chance
        self._sites: list[tuple[int, ConnectionPool]] = []
        for relay in relays:
            peer = Peer(
                host=relay.host,
                port=relay.port,
                hello=hello,
                tls=relay.tls,
                verify=relay.verify,
                context=context if relay.verify else None,
                user=relay.user,
                password=relay.password,
                patience=patience or Timeouts(),
            )
            dial = functools.partial(_connect, peer, resolve) if resolve else functools.partial(connect, peer)
            shared = functools.partial(lease, f"{peer.label} {relay.user or ''}") if lease else None
            site = ConnectionPool(peer.label, dial, relay.limits(), clock=clock, chance=chance, lease=shared)
            self._sites.append((max(1, relay.weight), site))

    @property
    def open(self) -> bool:
        """Whether no relay can be reached at present."""
        return all(site.open for _, site in self._sites)

    async def deliver(
        self,
        envelope: Envelope,
        message: bytes,
        *,
        before_dot: BeforeDot | None = None,
        admit: Admit | None = None,
    ) -> DeliveryOutcome:
        """See `Transport.deliver`."""
        first, *others = self._order()
        outcome = await first.deliver(envelope, message, before_dot=before_dot, admit=admit)
        for site in others:
            if outcome.exchange or not isinstance(outcome.results[0], Deferred):
                break
            # Nothing was said about this message yet, so asking another relay is still the first try.
            outcome = await site.deliver(envelope, message, before_dot=before_dot, admit=admit)
        return outcome

    def _order(self) -> list[ConnectionPool]:
        """By weighted lot, those with an open circuit last."""
        if len(self._sites) == 1:
            return [self._sites[0][1]]
        lots = [(site.open, -(self._chance() ** (1 / weight)), at) for at, (weight, site) in enumerate(self._sites)]
        return [self._sites[at][1] for _, _, at in sorted(lots)]

    async def aclose(self) -> None:
        """Say goodbye to all relays."""
        for _, site in self._sites:
            await site.aclose()


async def _connect(peer: Peer, resolve: Resolve) -> SmtpConnection:
    """Connect to one of the addresses that the host may be reached at; certificates are checked against its name."""
    try:
        async with asyncio.timeout(peer.patience.connect.total_seconds()):
            addresses = await resolve(peer.host)
    except TimeoutError:
        raise Unreachable(f"The address of {peer.host} could not be found in time.", enhanced="4.4.3") from None
    except (ValueError, LookupError) as refused:
        raise Unreachable(f"{peer.label}: {refused}", enhanced="4.4.3") from None
    trouble = Unreachable(f"{peer.host} has no address.", enhanced="4.4.3")
    for address in addresses[:ADDRESSES_TRIED]:
        try:
            return await connect(msgspec.structs.replace(peer, address=address))
        except Unreachable as unreachable:
            trouble = unreachable
    raise trouble
