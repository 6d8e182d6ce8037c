"""Protection against server-side request forgery (SSRF): checks of the addresses that this server may connect to.

A user-supplied URL could point to this server's own database, a cloud's metadata service or an internal device. URLs
are therefore parsed strictly, every address of the host is checked, and special-purpose addresses are refused.
`ipaddress.is_global` accepts several tunnels into private networks, so this module has its own table: the IANA
special-purpose registries, multicast and unallocated space.
"""

import asyncio
import re
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from ipaddress import (
    IPv4Address,
    IPv4Network,
    IPv6Address,
    IPv6Network,
    ip_address,
    ip_network,
)
from time import monotonic
from urllib.parse import quote

import idna

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network
Lookup = Callable[[str], Awaitable[Sequence[str]]]
"""Returns all addresses of a name as text; raises any exception if the lookup fails."""

URL_CHARACTERS = 2_048
"""Maximum length of a URL."""
NAME_CHARACTERS = 253
"""Maximum length of a domain name (RFC 1035 §2.3.4)."""
MAX_CACHED_NAMES = 10_000
CACHE_SECONDS = 5.0

SPECIAL_V4 = [
    ip_network(text)
    for text in (
        "0.0.0.0/8",  # this network (RFC 791)
        "10.0.0.0/8",  # private (RFC 1918)
        "100.64.0.0/10",  # carrier-grade NAT (RFC 6598)
        "127.0.0.0/8",  # loopback (RFC 1122)
        "168.63.129.16/32",  # Azure's host agent: an internal service despite its public address
        "169.254.0.0/16",  # link-local, with the metadata services of most clouds (RFC 3927)
        "172.16.0.0/12",  # private (RFC 1918)
        "192.0.0.0/24",  # protocol assignments (RFC 6890)
        "192.0.2.0/24",  # documentation (RFC 5737)
        "192.31.196.0/24",  # AS112 (RFC 7535)
        "192.52.193.0/24",  # AMT (RFC 7450)
        "192.88.99.0/24",  # 6to4 relays, deprecated (RFC 7526)
        "192.168.0.0/16",  # private (RFC 1918)
        "192.175.48.0/24",  # AS112 (RFC 7534)
        "198.18.0.0/15",  # benchmarks (RFC 2544)
        "198.51.100.0/24",  # documentation (RFC 5737)
        "203.0.113.0/24",  # documentation (RFC 5737)
        "224.0.0.0/4",  # multicast (RFC 5771)
        "240.0.0.0/4",  # reserved, and broadcast (RFC 1112, RFC 8190)
    )
]
GLOBAL_V6 = IPv6Network("2000::/3")
"""The only IPv6 space allocated for global unicast (RFC 4291 §2.4); everything else is special."""
SPECIAL_V6 = [
    ip_network(text)
    for text in (
        "2001::/23",  # protocol assignments, Teredo among them (RFC 2928, RFC 4380)
        "2001:db8::/32",  # documentation (RFC 3849)
        "2002::/16",  # 6to4: embeds any IPv4 address (RFC 3056)
        "2620:4f:8000::/48",  # AS112 (RFC 7534)
        "3fff::/20",  # documentation (RFC 9637)
    )
]
NAT64 = IPv6Network("64:ff9b::/96")
"""The well-known translation prefix (RFC 6052); the embedded IPv4 address is checked."""

_UNSAFE = re.compile(r"[\x00-\x20\x7f\\]")
_LABEL = re.compile(r"(?!-)[a-z0-9_-]{1,63}(?<!-)")
_LOOKS_LIKE_A_NUMBER = re.compile(r"(0x[0-9a-f]*|[0-9]+)")
_AUTHORITY = re.compile(r"(?P<host>\[[^\[\]]*\]|[^:\[\]]*)(:(?P<port>[0-9]{1,5}))?")
_PATH_SAFE = "".join(map(chr, range(0x21, 0x7F)))


class AddressRefused(ValueError):
    """A user-supplied URL, host or address is not allowed. The message gives the user the reason."""


@dataclass(frozen=True, slots=True)
class OutboundUrl:
    """A strictly parsed http or https URL."""

    secure: bool
    """Whether the scheme is https."""
    host: str
    """The host name in lower-case ASCII, or the IP address without brackets."""
    port: int
    path: str
    """Path and query, percent-encoded; at least `/`."""
    literal: Address | None
    """The IP address if the host is one, else None."""

    @property
    def authority(self) -> str:
        """The value of the Host header (RFC 9112 §3.2)."""
        host = f"[{self.host}]" if isinstance(self.literal, IPv6Address) else self.host
        return host if self.port == (443 if self.secure else 80) else f"{host}:{self.port}"

    @property
    def known_addresses(self) -> list[str]:
        """The addresses known without a DNS lookup; empty for a name other than localhost."""
        if self.literal:
            return [str(self.literal)]
        if self.host == "localhost" or self.host.endswith(".localhost"):
            # RFC 6761 §6.3: these names are loopback and are not looked up in the DNS.
            return ["127.0.0.1", "::1"]
        return []


def read_target(url: str) -> OutboundUrl:
    """Parse an http or https URL, strictly, so that other parsers cannot read it differently. Raises AddressRefused.

    Its addresses are not checked; see `check_target`.
    """
    if len(url) > URL_CHARACTERS:
        raise AddressRefused(f"The URL is longer than {URL_CHARACTERS} characters.")
    if _UNSAFE.search(url):
        raise AddressRefused("The URL must not contain spaces, control characters or backslashes.")
    scheme, separator, rest = url.partition("://")
    secure = scheme.lower() == "https"
    if not separator or not (secure or scheme.lower() == "http"):
        raise AddressRefused("The URL must begin with https:// or http://.")
    if "#" in rest:
        raise AddressRefused("The URL must not have a fragment (#…).")
    end = min((index for index in (rest.find("/"), rest.find("?")) if index >= 0), default=len(rest))
    host, port = _read_authority(rest[:end])
    path = rest[end:] if rest[end : end + 1] == "/" else "/" + rest[end:]
    literal = _ip_literal(host)
    return OutboundUrl(
        secure=secure,
        host=str(literal) if literal else _domain_name(host),
        port=port if port is not None else (443 if secure else 80),
        path=quote(path, safe=_PATH_SAFE),
        literal=literal,
    )


def _read_authority(authority: str) -> tuple[str, int | None]:
    if "@" in authority:
        raise AddressRefused("The URL must not contain a user name or password.")
    match = _AUTHORITY.fullmatch(authority)
    if not match or not match["host"]:
        raise AddressRefused("The URL has no host, or its port is not a number.")
    port = int(match["port"]) if match["port"] else None
    if port is not None and not 0 < port < 65_536:
        raise AddressRefused("The port must be a number from 1 to 65535.")
    if match["host"].startswith("["):
        return match["host"], port
    try:
        # IDNA maps non-ASCII digits and dots to ASCII, so this precedes the check for IP addresses.
        ascii_host = idna.encode(match["host"], uts46=True).decode() if not match["host"].isascii() else ""
    except idna.IDNAError as error:
        raise AddressRefused("The URL's host is not a valid domain name.") from error
    return (ascii_host or match["host"]).lower().removesuffix("."), port


def _ip_literal(host: str) -> Address | None:
    """The IP address if the host is one, None for a name. Raises AddressRefused for other notations of IP addresses."""
    if host.startswith("["):
        try:
            return _without_mapping(IPv6Address(host[1:-1] if "%" not in host else ""))
        except ValueError as error:
            raise AddressRefused("The URL's host is not a valid IPv6 address.") from error
    if not _LOOKS_LIKE_A_NUMBER.fullmatch(host.rpartition(".")[2]):
        return None
    # Some resolvers read 0177.1, 0x7f000001 and 2130706433 as the address 127.0.0.1, other resolvers as names.
    try:
        return IPv4Address(host)
    except ValueError as error:
        raise AddressRefused("Write an IPv4 address as four decimal numbers: 192.0.2.1.") from error


def _domain_name(host: str) -> str:
    if len(host) > NAME_CHARACTERS or not all(map(_LABEL.fullmatch, host.split("."))):
        raise AddressRefused("The URL's host is not a valid domain name.")
    return host


def _without_mapping(address: Address) -> Address:
    """The IPv4 address of an IPv4-mapped one (`::ffff:0:0/96`, RFC 4291 §2.5.5.2); other addresses unchanged."""
    return getattr(address, "ipv4_mapped", None) or address


@lru_cache(maxsize=10_000)
def is_special(address: Address) -> bool:
    """Whether an address is not a public unicast address: private, loopback, multicast, reserved and similar."""
    address = _without_mapping(address)
    if isinstance(address, IPv4Address):
        return any(address in network for network in SPECIAL_V4)
    if address in NAT64:
        return is_special(IPv4Address(int(address) & 0xFFFF_FFFF))
    return address not in GLOBAL_V6 or any(address in network for network in SPECIAL_V6)


def permitted(texts: Sequence[str], allowed: Sequence[Network]) -> list[Address]:
    """Parse the addresses of a host and return them. Raises AddressRefused if one is special and not in `allowed`.

    A name with both public and special addresses is refused: it is an attempt to bypass the check.
    """
    addresses = [_without_mapping(ip_address(text)) for text in texts]
    for address in addresses:
        if is_special(address) and not any(address in network for network in allowed):
            raise AddressRefused("The host has an address that is not on the public Internet.")
    return addresses


def check_target(url: str, allowed: Sequence[Network]) -> None:
    """Validate a URL when it is configured. Raises AddressRefused if it is malformed, or if its host is localhost or an
    IP address that is special and not in `allowed`.

    Other names are not looked up here, but checked at each request.
    """
    permitted(read_target(url).known_addresses, allowed)


def addresses_in(host: str) -> list[str]:
    """The addresses of a host that need no DNS lookup (`192.0.2.1`, `2001:db8::1`, `localhost`); empty for a name.

    Raises AddressRefused if the host is neither a name nor an IP address in its standard notation.
    """
    host = host.lower().removesuffix(".")
    if ":" in host:
        host = f"[{host}]"
    try:
        literal = _ip_literal(host)
        name = host if literal else _domain_name(host)
    except AddressRefused:
        raise AddressRefused(
            "The host must be a domain name, an IPv4 address as four decimal numbers, or an IPv6 address."
        ) from None
    if literal:
        return [str(literal)]
    return ["127.0.0.1", "::1"] if name == "localhost" or name.endswith(".localhost") else []


def check_host(host: str, allowed: Sequence[Network]) -> None:
    """Validate a host when it is configured; like `check_target`, but for a host without URL. Raises AddressRefused."""
    permitted(addresses_in(host), allowed)


def read_networks(text: str) -> list[Network]:
    """Parse networks such as `127.0.0.0/8, ::1/128` (POSTERN_OUTBOUND_ALLOW). Raises ValueError."""
    return [ip_network(part) for part in text.replace(",", " ").split()]


class CachedLookup:
    """Caches successful lookups of a name for `seconds`; concurrent callers with the same name share one lookup.

    The SSRF check stays effective: the addresses are checked for every request, and connections go to the checked
    addresses.
    """

    def __init__(self, lookup: Lookup, *, seconds: float = CACHE_SECONDS) -> None:
        self._lookup, self._seconds = lookup, seconds
        self._cache: dict[str, tuple[float, asyncio.Future[Sequence[str]]]] = {}

    async def __call__(self, name: str) -> Sequence[str]:
        expires_at, addresses = self._cache.get(name, (0.0, None))
        if addresses is None or expires_at <= monotonic() or _has_failed(addresses):
            addresses = asyncio.ensure_future(self._lookup(name))
            self._cache.pop(name, None)
            self._cache[name] = (monotonic() + self._seconds, addresses)
            if len(self._cache) > MAX_CACHED_NAMES:
                del self._cache[next(iter(self._cache))]
        # Cancelling one caller must not cancel the lookup for the others.
        return await asyncio.shield(addresses)


def _has_failed(addresses: asyncio.Future[Sequence[str]]) -> bool:
    return addresses.done() and (addresses.cancelled() or addresses.exception() is not None)
