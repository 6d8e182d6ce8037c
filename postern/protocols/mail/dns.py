"""Questions to the DNS, and three kinds of answer that are never mixed up.

* an answer: the lookup returns it;
* `NoSuchRecord`: the DNS said that there is none (NXDOMAIN, or a name without that type). Permanent;
* `DnsUnavailable`: nobody gave a usable answer (timeout, SERVFAIL, REFUSED, garbage). Temporary.
"""

import asyncio
import ipaddress
from collections.abc import Sequence
from datetime import timedelta
from typing import Any, NamedTuple

import dns.asyncresolver
import dns.exception
import dns.name
import dns.nameserver
import dns.resolver
import dns.reversename

DNS_PORT = 53
TRY_TIMEOUT = timedelta(seconds=2)
"""How long one server gets to answer before the next one is asked."""
LOOKUP_TIMEOUT = timedelta(seconds=6)
"""How long one lookup may take in all."""
CONCURRENT_LOOKUPS = 64
CACHED_ANSWERS = 10_000
AUTHORITIES_ASKED = 4


class NoSuchRecord(Exception):
    """The DNS says that there is no such record; asking again soon changes nothing."""

    def __init__(self, name: str, kind: str, *, nxdomain: bool) -> None:
        super().__init__(f"{name} does not exist." if nxdomain else f"{name} has no {kind} record.")
        self.name, self.kind, self.nxdomain = name, kind, nxdomain


class DnsUnavailable(Exception):
    """No usable answer, so nothing is known; ask again later."""

    def __init__(self, name: str, kind: str, why: str) -> None:
        super().__init__(f"The {kind} lookup of {name} failed: {why}.")
        self.name, self.kind, self.why = name, kind, why


class Nameserver(NamedTuple):
    """A DNS server by address (IPv4 or IPv6 text) and port."""

    address: str
    port: int = DNS_PORT


class MailExchanger(NamedTuple):
    """One MX record: smaller preferences first, the host without a trailing dot (`""` is a null MX)."""

    preference: int
    host: str


def parse_nameservers(text: str) -> list[Nameserver]:
    """Servers from `127.0.0.1:5353, 9.9.9.9, [2620:fe::fe]:53`. Raises ValueError for anything else."""
    return [_nameserver(part) for part in text.replace(",", " ").split()]


def _nameserver(text: str) -> Nameserver:
    address, port = text, str(DNS_PORT)
    if text.startswith("["):
        address, _, rest = text[1:].partition("]")
        port = rest.removeprefix(":") or port
    elif text.count(":") == 1:
        address, _, port = text.partition(":")
    if not (port.isascii() and port.isdigit() and 0 < int(port) < 65_536):
        raise ValueError(f"{text!r} does not name a DNS server: the port is not a number from 1 to 65535.")
    return Nameserver(str(ipaddress.ip_address(address)), int(port))


class Resolver:
    """Asks the given servers (the system's when none are given), a bounded number at a time.

    Names are ASCII (A-labels), with or without the last dot. Hosts are answered in lower case without
    the last dot. Every lookup raises NoSuchRecord or DnsUnavailable when there is nothing to return.
    """

    _beyond: "Resolver | None" = None
    """Whom to ask about other zones, if the servers know only one."""

    def __init__(
        self,
        nameservers: Sequence[Nameserver] = (),
        *,
        try_timeout: timedelta = TRY_TIMEOUT,
        lookup_timeout: timedelta = LOOKUP_TIMEOUT,
        concurrency: int = CONCURRENT_LOOKUPS,
        cache: bool = False,
        authority_port: int = DNS_PORT,
        private_authorities: bool = False,
    ) -> None:
        self._asked = dns.asyncresolver.Resolver(configure=not nameservers)
        if nameservers:
            self._asked.nameservers = [_do53(server) for server in nameservers]
        self._asked.timeout = try_timeout.total_seconds()
        self._asked.lifetime = lookup_timeout.total_seconds()
        self._asked.cache = dns.resolver.LRUCache(CACHED_ANSWERS) if cache else None
        self._slots = asyncio.Semaphore(concurrency)
        self._authority_port = authority_port
        self._private_authorities = private_authorities

    async def txt(self, name: str) -> list[str]:
        """The TXT records, the strings of each joined (RFC 7208 §3.3), bytes beyond UTF-8 replaced."""
        records = await self._ask(name, "TXT")
        return [b"".join(record.strings).decode("utf-8", "replace") for record in records]

    async def a(self, name: str) -> list[str]:
        """The IPv4 addresses."""
        return [record.address for record in await self._ask(name, "A")]

    async def aaaa(self, name: str) -> list[str]:
        """The IPv6 addresses."""
        return [record.address for record in await self._ask(name, "AAAA")]

    async def addresses(self, name: str) -> list[str]:
        """All addresses, IPv6 first; NoSuchRecord only if there are none of either family."""
        both = await asyncio.gather(self.aaaa(name), self.a(name), return_exceptions=True)
        found = [address for answer in both if isinstance(answer, list) for address in answer]
        if found:
            return found
        # One family unknown and the other empty is still unknown.
        raise next((answer for answer in both if not isinstance(answer, NoSuchRecord | list)), both[1])  # type: ignore[misc]

    async def mx(self, name: str) -> list[MailExchanger]:
        """The mail exchangers, smallest preference first."""
        records = await self._ask(name, "MX")
        return sorted(MailExchanger(record.preference, _host(record.exchange)) for record in records)

    async def cname(self, name: str) -> str:
        """What the name is an alias of."""
        return _host((await self._ask(name, "CNAME"))[0].target)

    async def ns(self, name: str) -> list[str]:
        """The name servers of a zone."""
        return sorted(_host(record.target) for record in await self._ask(name, "NS"))

    async def ptr(self, address: str) -> list[str]:
        """The names of an address."""
        reverse = dns.reversename.from_address(address).to_text()
        return [_host(record.target) for record in await self._ask(reverse, "PTR")]

    async def authoritative(self, name: str) -> "Resolver":
        """A resolver that asks the servers of the zone `name` lies in, past every cache.

        This resolver itself, if those servers cannot be found. Servers at private addresses are passed
        over unless `private_authorities` is set: whoever owns a zone must not choose whom we talk to.
        """
        labels = name.rstrip(".").split(".")
        for start in range(len(labels) - 1):
            try:
                hosts = await self.ns(".".join(labels[start:]))
                servers = await self._servers(hosts[:AUTHORITIES_ASKED])
            except NoSuchRecord:
                continue
            except DnsUnavailable:
                break
            return _Authority(self, servers) if servers else self
        return self

    async def _servers(self, hosts: list[str]) -> list[Nameserver]:
        found: list[Nameserver] = []
        for host in hosts:
            try:
                found += [Nameserver(address, self._authority_port) for address in await self.a(host)]
            except (NoSuchRecord, DnsUnavailable):
                continue
        return [
            server for server in found if self._private_authorities or ipaddress.ip_address(server.address).is_global
        ]

    async def _ask(self, name: str, kind: str) -> list[Any]:
        try:
            asked = as_dns_name(name)
        except ValueError:
            # What cannot be written as a name cannot be in the DNS either.
            raise NoSuchRecord(name, kind, nxdomain=True) from None
        async with self._slots:
            try:
                answer = await self._asked.resolve(asked, kind, search=False)
            except dns.resolver.NXDOMAIN as unknown:
                alias, nxdomain = unknown.canonical_name, True
            except dns.resolver.NoAnswer as empty:
                alias, nxdomain = empty.kwargs["response"].resolve_chaining().canonical_name, False
            except dns.resolver.NoNameservers as refused:
                raise DnsUnavailable(name, kind, _why(refused)) from None
            except dns.exception.Timeout:
                raise DnsUnavailable(name, kind, "no answer in time") from None
            except (dns.exception.DNSException, OSError) as trouble:
                raise DnsUnavailable(name, kind, str(trouble) or type(trouble).__name__) from None
            else:
                return list(answer)
        if alias != asked and self._beyond:
            # A server of one zone knows nothing of the zone that an alias leads to.
            return await self._beyond._ask(_host(alias), kind)
        raise NoSuchRecord(name, kind, nxdomain=nxdomain)


class _Authority(Resolver):
    """Asks the servers of one zone, and the ordinary ones where those do not answer."""

    def __init__(self, ordinary: Resolver, servers: list[Nameserver]) -> None:
        super().__init__(
            servers,
            try_timeout=timedelta(seconds=ordinary._asked.timeout),
            lookup_timeout=timedelta(seconds=ordinary._asked.lifetime),
        )
        self._ordinary = self._beyond = ordinary

    async def _ask(self, name: str, kind: str) -> list[Any]:
        try:
            return await super()._ask(name, kind)
        except DnsUnavailable:
            return await self._ordinary._ask(name, kind)


def as_dns_name(text: str) -> dns.name.Name:
    """The name that `text` spells label by label, backslashes meaning nothing. Raises ValueError."""
    labels = text.removesuffix(".").split(".")
    try:
        return dns.name.Name([*(label.encode("ascii") for label in labels), b""])
    except (dns.exception.DNSException, UnicodeEncodeError) as wrong:
        raise ValueError(f"{text!r} is not a DNS name.") from wrong


def _host(name: dns.name.Name) -> str:
    return name.to_text(omit_final_dot=True).lower() if name != dns.name.root else ""


def _do53(server: Nameserver) -> dns.nameserver.Do53Nameserver:
    return dns.nameserver.Do53Nameserver(server.address, server.port)


def _why(refused: dns.resolver.NoNameservers) -> str:
    """`SERVFAIL from 9.9.9.9`, from the errors that dnspython collected."""
    errors: list[Any] = refused.kwargs.get("errors") or []
    said = [f"{_reason(error[3])} from {error[0].removeprefix('Do53:')}" for error in errors]
    return "; ".join(dict.fromkeys(said)) or "no server to ask"


def _reason(error: Any) -> str:
    return error if isinstance(error, str) else (str(error) or type(error).__name__)
