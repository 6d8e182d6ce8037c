"""DNS blocklist (DNSBL) queries (RFC 5782): an address or domain is listed, clear or unknown.

A list that refuses queries, has shut down or lists everything gives no usable result. Every zone must therefore pass
the test of RFC 5782 §5 first, and a return code that stands for an error is not taken as a listing.
"""

import asyncio
import ipaddress
import time
from collections.abc import Callable, Sequence
from datetime import timedelta
from enum import StrEnum
from typing import NamedTuple

from postern.kernel.values import Record
from postern.protocols.mail.dns import DnsUnavailable, NoSuchRecord, Resolver

HEALTH_CACHED_FOR = timedelta(minutes=30)
"""How long the result of a health check is cached."""
LISTED_PROBE = "2.0.0.127"
"""127.0.0.2 with its octets reversed for the query; every list must contain it (RFC 5782 §5)."""
CLEAR_PROBE = "1.0.0.127"
"""127.0.0.1 with its octets reversed for the query; no list may contain it (RFC 5782 §5)."""
RETURN_CODES = ipaddress.IPv4Network("127.0.0.0/8")
"""Lists return addresses of this network only."""
REFUSALS = ipaddress.IPv4Network("127.255.255.0/24")
"""Error codes of Spamhaus and others: .252 malformed query, .254 open resolver, .255 too many queries."""
REFUSED_QUERY = ipaddress.IPv4Address("127.0.0.1")
"""URIBL and SURBL return it for refused queries; no list may return it for a listing."""


class BlocklistSubject(StrEnum):
    """What a zone lists: IP addresses or domains."""

    ADDRESS = "address"
    DOMAIN = "domain"


class Zone(NamedTuple):
    """One blocklist: its DNS zone, what it lists, and the return codes that are errors instead of listings.

    The list must contain `listed_probe` and must not contain `clear_probe`; both are names to query in the zone.
    """

    name: str
    subject: BlocklistSubject
    errors: frozenset[str] = frozenset()
    listed_probe: str = LISTED_PROBE
    clear_probe: str = CLEAR_PROBE


ZONES: tuple[Zone, ...] = (
    Zone("zen.spamhaus.org", BlocklistSubject.ADDRESS),
    Zone("b.barracudacentral.org", BlocklistSubject.ADDRESS),
    Zone("bl.spamcop.net", BlocklistSubject.ADDRESS),
    Zone("bl.mailspike.net", BlocklistSubject.ADDRESS),
    Zone("psbl.surriel.com", BlocklistSubject.ADDRESS),
    # The DBL returns an error for IP addresses, so its probes are domain names (RFC 5782 §5).
    Zone("dbl.spamhaus.org", BlocklistSubject.DOMAIN, frozenset({"127.0.1.255"}), "dbltest.com", "invalid"),
    Zone("multi.surbl.org", BlocklistSubject.DOMAIN),
    Zone("multi.uribl.com", BlocklistSubject.DOMAIN),
)


class ListingStatus(StrEnum):
    """The result for one subject on one list; UNKNOWN if the list gave no usable response."""

    LISTED = "listed"
    CLEAR = "clear"
    UNKNOWN = "unknown"


class BlocklistFinding(Record):
    """Whether one subject is on one list."""

    list_name: str
    subject_value: str
    status: ListingStatus
    codes: tuple[str, ...] = ()
    reason: str = ""


def parse_zones(text: str) -> tuple[Zone, ...]:
    """Parse zones such as `address:zen.spamhaus.org, domain:dbl.spamhaus.org`. Raises ValueError.

    Known zones keep their predefined error codes and probes.
    """
    known = {(zone.subject, zone.name): zone for zone in ZONES}
    zones: list[Zone] = []
    for part in text.replace(",", " ").split():
        kind, colon, name = part.partition(":")
        if not colon or not name or kind not in list(BlocklistSubject):
            raise ValueError(f"{part!r} is not address:<zone> or domain:<zone>.")
        subject, name = BlocklistSubject(kind), name.rstrip(".").lower()
        zones.append(known.get((subject, name), Zone(name, subject)))
    return tuple(zones)


class Blocklists:
    """Queries a set of blocklists and caches which of them work."""

    def __init__(
        self,
        resolver: Resolver,
        zones: Sequence[Zone] = ZONES,
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._resolver = resolver
        self.zones = tuple(zones)
        self._clock = clock
        self._health: dict[Zone, tuple[float, str | None]] = {}
        self._zone_locks: dict[Zone, asyncio.Lock] = {}

    async def check(self, *, addresses: Sequence[str] = (), domains: Sequence[str] = ()) -> list[BlocklistFinding]:
        """One finding for every address or domain on every list of that kind.

        `addresses` are valid IP addresses. A failed query gives the status UNKNOWN; nothing is raised for it.
        """
        queries = [
            (zone, subject)
            for zone in self.zones
            for subject in (addresses if zone.subject is BlocklistSubject.ADDRESS else domains)
        ]
        return list(await asyncio.gather(*(self._query(zone, subject) for zone, subject in queries)))

    async def _query(self, zone: Zone, subject: str) -> BlocklistFinding:
        problem = await self._cached_problem(zone)
        if problem:
            return BlocklistFinding(
                list_name=zone.name, subject_value=subject, status=ListingStatus.UNKNOWN, reason=problem
            )
        prefix = reversed_address(subject) if zone.subject is BlocklistSubject.ADDRESS else subject
        return await _look_up(self._resolver, zone, prefix, subject)

    async def _cached_problem(self, zone: Zone) -> str | None:
        """The result of `zone_problem` for this zone, tested again after HEALTH_CACHED_FOR."""
        async with self._zone_locks.setdefault(zone, asyncio.Lock()):
            checked_at, problem = self._health.get(zone, (None, None))
            if checked_at is None or self._clock() - checked_at >= HEALTH_CACHED_FOR.total_seconds():
                problem = await zone_problem(self._resolver, zone)
                self._health[zone] = (self._clock(), problem)
            return problem


async def zone_problem(resolver: Resolver, zone: Zone) -> str | None:
    """Test a zone (RFC 5782 §5): None if its responses can be used, otherwise the reason why they cannot."""
    listed = await _look_up(resolver, zone, zone.listed_probe, zone.listed_probe)
    if listed.status is not ListingStatus.LISTED:
        return f"{zone.name} does not list its test entry: {listed.reason}"
    clear = await _look_up(resolver, zone, zone.clear_probe, zone.clear_probe)
    if clear.status is not ListingStatus.CLEAR:
        return f"{zone.name} lists an address that no list may contain: {clear.reason}"
    return None


async def _look_up(resolver: Resolver, zone: Zone, prefix: str, subject: str) -> BlocklistFinding:
    try:
        codes = tuple(sorted(await resolver.a(f"{prefix}.{zone.name}")))
    except NoSuchRecord:
        status, codes, reason = ListingStatus.CLEAR, (), "Not listed."
    except DnsUnavailable as error:
        status, codes, reason = ListingStatus.UNKNOWN, (), str(error)
    else:
        status, reason = interpret_codes(zone, codes)
    return BlocklistFinding(list_name=zone.name, subject_value=subject, status=status, codes=codes, reason=reason)


def interpret_codes(zone: Zone, codes: Sequence[str]) -> tuple[ListingStatus, str]:
    """The status and the reason for the addresses that a list returned. One error code makes the status UNKNOWN."""
    errors = [code for code in codes if _is_error(zone, code)]
    if errors:
        return ListingStatus.UNKNOWN, f"{zone.name} returned {errors[0]}, which is an error code and not a listing."
    return ListingStatus.LISTED, f"{zone.name} returned {', '.join(codes)}."


def _is_error(zone: Zone, code: str) -> bool:
    # A response outside 127.0.0.0/8 comes from an expired list domain or a resolver that forges responses.
    address = ipaddress.IPv4Address(code)
    return address not in RETURN_CODES or address in REFUSALS or address == REFUSED_QUERY or code in zone.errors


def reversed_address(address: str) -> str:
    """The query name without the zone (RFC 5782 §2.4): `1.2.0.192` for 192.0.2.1, reversed nibbles for IPv6.

    Raises ValueError if `address` is not an IP address.
    """
    parsed = ipaddress.ip_address(address)
    if isinstance(parsed, ipaddress.IPv6Address):
        parsed = parsed.ipv4_mapped or parsed
    return parsed.reverse_pointer.removesuffix(".in-addr.arpa").removesuffix(".ip6.arpa")
