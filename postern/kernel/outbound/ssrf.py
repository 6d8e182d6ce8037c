"""Which addresses a customer may make this server call.

Whoever names an address for us to call could name our own database, a cloud's metadata page or a
printer in the next room. So an address is read strictly, every address of its name is looked at, and
none may be special. `ipaddress.is_global` calls several tunnels into private space global, so the
table here is our own: the IANA special-purpose registries, multicast, and what is not handed out yet.
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
"""All addresses of a name, as text; raises whatever it likes when there is no answer."""

URL_CHARACTERS = 2_048
NAME_CHARACTERS = 253
NAMES_REMEMBERED = 10_000
NAME_REMEMBERED_SECONDS = 5.0

SPECIAL_V4 = [
    ip_network(text)
    for text in (
        "0.0.0.0/8",  # this network (RFC 791)
        "10.0.0.0/8",  # private (RFC 1918)
        "100.64.0.0/10",  # carrier-grade NAT (RFC 6598)
        "127.0.0.0/8",  # loopback (RFC 1122)
        "168.63.129.16/32",  # Azure's host agent: public on paper, inside on Azure
        "169.254.0.0/16",  # link-local, the metadata pages of most clouds (RFC 3927)
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
"""The only IPv6 space handed out for use on the Internet (RFC 4291 §2.4); all else is special."""
SPECIAL_V6 = [
    ip_network(text)
    for text in (
        "2001::/23",  # protocol assignments, Teredo among them (RFC 2928, RFC 4380)
        "2001:db8::/32",  # documentation (RFC 3849)
        "2002::/16",  # 6to4: any IPv4 address can hide in it (RFC 3056)
        "2620:4f:8000::/48",  # AS112 (RFC 7534)
        "3fff::/20",  # documentation (RFC 9637)
    )
]
NAT64 = IPv6Network("64:ff9b::/96")
"""The well-known translation prefix (RFC 6052): as good or bad as the IPv4 address inside."""

_UNSAFE = re.compile(r"[\x00-\x20\x7f\\]")
_LABEL = re.compile(r"(?!-)[a-z0-9_-]{1,63}(?<!-)")
_LOOKS_LIKE_A_NUMBER = re.compile(r"(0x[0-9a-f]*|[0-9]+)")
_AUTHORITY = re.compile(r"(?P<host>\[[^\[\]]*\]|[^:\[\]]*)(:(?P<port>[0-9]{1,5}))?")
_PATH_SAFE = "".join(map(chr, range(0x21, 0x7F)))


class AddressRefused(ValueError):
    """A customer's address that we will not call. The text says why, in words for the customer."""


@dataclass(frozen=True, slots=True)
class OutboundUrl:
    """An http or https address, read strictly."""

    secure: bool
    host: str
    """The name in ASCII and lower case, or the bare address."""
    port: int
    path: str
    """Path and query as they go on the wire; at least `/`."""
    literal: Address | None
    """The address, if one was written instead of a name."""

    @property
    def authority(self) -> str:
        """What goes into the Host header (RFC 9112 §3.2)."""
        host = f"[{self.host}]" if isinstance(self.literal, IPv6Address) else self.host
        return host if self.port == (443 if self.secure else 80) else f"{host}:{self.port}"

    @property
    def spelled(self) -> list[str]:
        """The addresses that the URL itself says, without a lookup; none for a name."""
        if self.literal:
            return [str(self.literal)]
        if self.host == "localhost" or self.host.endswith(".localhost"):
            # RFC 6761 §6.3: these names are loopback and are not asked of the DNS.
            return ["127.0.0.1", "::1"]
        return []


def read_target(url: str) -> OutboundUrl:
    """Read a URL so that nobody else can read it differently. Raises AddressRefused."""
    if len(url) > URL_CHARACTERS:
        raise AddressRefused(f"A URL has at most {URL_CHARACTERS} characters.")
    if _UNSAFE.search(url):
        raise AddressRefused("A URL has no spaces, control characters or backslashes.")
    scheme, separator, rest = url.partition("://")
    secure = scheme.lower() == "https"
    if not separator or not (secure or scheme.lower() == "http"):
        raise AddressRefused("The URL must begin with https:// or http://.")
    if "#" in rest:
        raise AddressRefused("A URL that we call has no fragment (#…).")
    end = min((at for at in (rest.find("/"), rest.find("?")) if at >= 0), default=len(rest))
    host, port = _read_authority(rest[:end])
    path = rest[end:] if rest[end : end + 1] == "/" else "/" + rest[end:]
    literal = _literal(host)
    return OutboundUrl(
        secure=secure,
        host=str(literal) if literal else _name(host),
        port=port if port is not None else (443 if secure else 80),
        path=quote(path, safe=_PATH_SAFE),
        literal=literal,
    )


def _read_authority(authority: str) -> tuple[str, int | None]:
    if "@" in authority:
        raise AddressRefused("A URL that we call has no user name or password in it.")
    found = _AUTHORITY.fullmatch(authority)
    if not found or not found["host"]:
        raise AddressRefused("The URL has no host, or its port is not a number.")
    port = int(found["port"]) if found["port"] else None
    if port is not None and not 0 < port < 65_536:
        raise AddressRefused("A port is a number from 1 to 65535.")
    if found["host"].startswith("["):
        return found["host"], port
    try:
        # Non-ASCII digits and dots become ASCII here, so this comes before looking for numbers.
        ascii_host = idna.encode(found["host"], uts46=True).decode() if not found["host"].isascii() else ""
    except idna.IDNAError as wrong:
        raise AddressRefused("The URL's host is not a valid domain name.") from wrong
    return (ascii_host or found["host"]).lower().removesuffix("."), port


def _literal(host: str) -> Address | None:
    """The address that the host spells, None for a name. Other spellings of numbers are refused."""
    if host.startswith("["):
        try:
            return _plain(IPv6Address(host[1:-1] if "%" not in host else ""))
        except ValueError as wrong:
            raise AddressRefused("The URL's host is not a valid IPv6 address.") from wrong
    if not _LOOKS_LIKE_A_NUMBER.fullmatch(host.rpartition(".")[2]):
        return None
    # 0177.1, 0x7f000001 and 2130706433 are 127.0.0.1 to some resolvers and names to others.
    try:
        return IPv4Address(host)
    except ValueError as wrong:
        raise AddressRefused("Write an IPv4 address as four decimal numbers: 192.0.2.1.") from wrong


def _name(host: str) -> str:
    if len(host) > NAME_CHARACTERS or not all(map(_LABEL.fullmatch, host.split("."))):
        raise AddressRefused("The URL's host is not a valid domain name.")
    return host


def _plain(address: Address) -> Address:
    """The IPv4 address inside `::ffff:0:0/96` (RFC 4291 §2.5.5.2), anything else as it is."""
    return getattr(address, "ipv4_mapped", None) or address


@lru_cache(maxsize=10_000)
def is_special(address: Address) -> bool:
    """Whether an address is anything but an ordinary one on the public Internet."""
    address = _plain(address)
    if isinstance(address, IPv4Address):
        return any(address in network for network in SPECIAL_V4)
    if address in NAT64:
        return is_special(IPv4Address(int(address) & 0xFFFF_FFFF))
    return address not in GLOBAL_V6 or any(address in network for network in SPECIAL_V6)


def permitted(found: Sequence[str], allowed: Sequence[Network]) -> list[Address]:
    """The addresses a name has, if every one of them may be called. Raises AddressRefused.

    All or nothing: a name with one good and one bad address is an attempt to get through.
    """
    addresses = [_plain(ip_address(text)) for text in found]
    for address in addresses:
        if is_special(address) and not any(address in network for network in allowed):
            raise AddressRefused("The host leads to an address that is not on the public Internet.")
    return addresses


def check_target(url: str, allowed: Sequence[Network]) -> None:
    """Refuse a URL when it is given, where it can be known then that it will not be called. Raises AddressRefused.

    Names are looked up when they are called, and judged anew each time.
    """
    permitted(read_target(url).spelled, allowed)


def addresses_in(host: str) -> list[str]:
    """The addresses that a bare host says by itself (`192.0.2.1`, `2001:db8::1`, `localhost`); none for a name.

    Raises AddressRefused for what is neither a name nor an address in its one spelling.
    """
    host = host.lower().removesuffix(".")
    if ":" in host:
        host = f"[{host}]"
    try:
        literal = _literal(host)
        name = host if literal else _name(host)
    except AddressRefused:
        raise AddressRefused(
            "A host is a domain name, an IPv4 address as four decimal numbers, or an IPv6 address."
        ) from None
    if literal:
        return [str(literal)]
    return ["127.0.0.1", "::1"] if name == "localhost" or name.endswith(".localhost") else []


def check_host(host: str, allowed: Sequence[Network]) -> None:
    """Refuse a host when it is given, where it can be known then that it will not be called. Raises AddressRefused."""
    permitted(addresses_in(host), allowed)


def read_networks(text: str) -> list[Network]:
    """Networks from `127.0.0.0/8, ::1/128` (POSTERN_OUTBOUND_ALLOW). Raises ValueError."""
    return [ip_network(part) for part in text.replace(",", " ").split()]


class CachedLookup:
    """A lookup that asks once per name and few seconds, however many ask at the same time.

    That is no gap in the guard: what it answers is looked at anew each time, and connected to as it is.
    """

    def __init__(self, lookup: Lookup, *, seconds: float = NAME_REMEMBERED_SECONDS) -> None:
        self._lookup, self._seconds = lookup, seconds
        self._known: dict[str, tuple[float, asyncio.Future[Sequence[str]]]] = {}

    async def __call__(self, name: str) -> Sequence[str]:
        until, answer = self._known.get(name, (0.0, None))
        if answer is None or until <= monotonic() or _failed(answer):
            answer = asyncio.ensure_future(self._lookup(name))
            self._known.pop(name, None)
            self._known[name] = (monotonic() + self._seconds, answer)
            if len(self._known) > NAMES_REMEMBERED:
                del self._known[next(iter(self._known))]
        # One caller's giving up must not end the question for the others.
        return await asyncio.shield(answer)


def _failed(answer: asyncio.Future[Sequence[str]]) -> bool:
    return answer.done() and (answer.cancelled() or answer.exception() is not None)
