"""DNS lookups with three outcomes that callers must distinguish.

* records: the lookup returns them;
* `NoSuchRecord`: the DNS reports that there is none (NXDOMAIN, or no records of that type). Permanent;
* `DnsUnavailable`: no usable response (timeout, SERVFAIL, REFUSED, malformed). Temporary.
"""

import asyncio
import ipaddress
import struct
from collections.abc import Sequence
from datetime import timedelta
from typing import Any, NamedTuple

import dns.asyncbackend
import dns.asyncresolver
import dns.exception
import dns.flags
import dns.message
import dns.name
import dns.nameserver
import dns.resolver
import dns.reversename

from postern.kernel.values import is_loopback

DNS_PORT = 53
TRY_TIMEOUT = timedelta(seconds=2)
"""How long to wait for one server before trying the next."""
LOOKUP_TIMEOUT = timedelta(seconds=6)
"""How long one lookup may take in total."""
CONCURRENT_LOOKUPS = 64
SEPARATE_CONCURRENT_LOOKUPS = 200
"""For resolvers that `separate` returns, which look up recipients' domains: many of these have name servers that do not
respond, and must not delay other lookups."""
MAX_RECORDS = 256
"""Maximum records of a response. The owner of a domain determines how many there are, and parsing each blocks the
process for 0.1 ms."""
CACHED_RESPONSES = 10_000
CACHED_OCTETS = 1_024
"""Longer responses are not cached: as objects, records take up to 25 times their octets."""
DOCKER_DNS = "127.0.0.11"
"""The resolver in Docker's containers, which forwards responses of other machines without validating them."""
MAX_AUTHORITIES = 4
"""Maximum name servers of a zone whose addresses are looked up."""


class NoSuchRecord(Exception):
    """The DNS has no such record. Retrying soon does not help."""

    def __init__(self, name: str, kind: str, *, nxdomain: bool, authenticated: bool = False) -> None:
        super().__init__(f"{name} does not exist." if nxdomain else f"{name} has no {kind} record.")
        self.name, self.kind, self.nxdomain = name, kind, nxdomain
        self.authenticated = authenticated
        """Whether the resolver has authenticated this with DNSSEC; see `Resolver`."""


class DnsUnavailable(Exception):
    """The lookup failed without a usable response. Retry later."""

    def __init__(self, name: str, kind: str, why: str) -> None:
        super().__init__(f"The {kind} lookup of {name} failed: {why}.")
        self.name, self.kind, self.why = name, kind, why


class Nameserver(NamedTuple):
    """A DNS server by address (IPv4 or IPv6 text) and port."""

    address: str
    port: int = DNS_PORT


class MailExchanger(NamedTuple):
    """One MX record: lower preferences first; the host has no trailing dot and is `""` for a null MX (RFC 7505)."""

    preference: int
    host: str


class TlsaRecord(NamedTuple):
    """A TLSA record (RFC 6698 §2.1): the numbers of its certificate usage, selector and matching type, and its data."""

    usage: int
    selector: int
    matching_type: int
    data: bytes


class RecordSet(list[Any]):
    """The records of a response."""

    authenticated = False
    """Whether the resolver has authenticated them with DNSSEC; see `Resolver`."""
    canonical_name = ""
    """The name that has the records, at the end of the CNAME records."""


class HostAddresses(NamedTuple):
    """The addresses of a host, IPv6 first."""

    addresses: list[str]
    authenticated: bool
    """Whether the resolver has authenticated all of them with DNSSEC, and the CNAME records that lead to them."""
    canonical_name: str
    """The name that has the addresses, at the end of the CNAME records."""


class MailExchangers(NamedTuple):
    """The mail exchangers of a domain, smallest preference first."""

    exchangers: list[MailExchanger]
    authenticated: bool
    """Whether the resolver has authenticated them with DNSSEC."""
    canonical_name: str
    """The name that has the MX records, at the end of the CNAME records."""


def parse_nameservers(text: str) -> list[Nameserver]:
    """Parse a list such as `127.0.0.1:5353, 9.9.9.9, [2620:fe::fe]:53`; the default port is 53. Raises ValueError."""
    return [_nameserver(part) for part in text.replace(",", " ").split()]


def _nameserver(text: str) -> Nameserver:
    address, port = text, str(DNS_PORT)
    if text.startswith("["):
        address, _, rest = text[1:].partition("]")
        port = rest.removeprefix(":") or port
    elif text.count(":") == 1:
        address, _, port = text.partition(":")
    if not (port.isascii() and port.isdigit() and 0 < int(port) < 65_536):
        raise ValueError(f"{text!r} is not a DNS server address: the port must be a number from 1 to 65535.")
    return Nameserver(str(ipaddress.ip_address(address)), int(port))


class Resolver:
    """Queries the given servers, or the system's if none are given, with bounded concurrency.

    Names are ASCII (A-labels), with or without the trailing dot. Returned hosts are in lower case without the trailing
    dot. A lookup raises NoSuchRecord if there are no records, and DnsUnavailable if it failed.
    """

    _fallback: "Resolver | None" = None
    """The resolver for names in other zones, if the servers of this one are authoritative for one zone only."""

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
        dnssec: bool = False,
    ) -> None:
        """With `cache`, responses are cached for their TTL.

        With `dnssec`, the servers are trusted to validate DNSSEC, and so is the path to them: records of a response
        with the AD flag (RFC 4035 §3.2.3) count as authenticated. Without it, none do.
        `authority_port` and `private_authorities` concern the servers that `authoritative` finds: their port, and
        whether they may have private addresses.
        """
        self._resolver = dns.asyncresolver.Resolver(configure=not nameservers)
        if nameservers:
            self._resolver.nameservers = [_dnspython_server(server) for server in nameservers]
        self._resolver.timeout = try_timeout.total_seconds()
        self._resolver.lifetime = lookup_timeout.total_seconds()
        self._resolver.cache = _ResponseCache(CACHED_RESPONSES) if cache else None
        self._slots = asyncio.Semaphore(concurrency)
        self._authority_port = authority_port
        self._private_authorities = private_authorities
        self._dnssec = dnssec
        if dnssec:
            # With AD in the query, the response has it without all the signatures that DO would add (RFC 6840 §5.7).
            self._resolver.flags = dns.flags.RD | dns.flags.AD

    def separate(self, *, cache: bool = False, dnssec: bool = False) -> "Resolver":
        """A resolver that queries the same servers, with a limit of concurrent lookups of its own.

        `cache` and `dnssec` as in the constructor.
        """
        resolver = Resolver(
            [Nameserver("127.0.0.1")],  # Replaced below; without any, the constructor would read the system's.
            try_timeout=timedelta(seconds=self._resolver.timeout),
            lookup_timeout=timedelta(seconds=self._resolver.lifetime),
            concurrency=SEPARATE_CONCURRENT_LOOKUPS,
            cache=cache,
            dnssec=dnssec,
        )
        resolver._resolver.nameservers = self._resolver.nameservers
        return resolver

    @property
    def is_local(self) -> bool:
        """Whether all servers that are queried run on this machine, so that their AD flag can be trusted."""
        addresses = [str(getattr(server, "address", server)) for server in self._resolver.nameservers]
        return bool(addresses) and all(is_loopback(address) and address != DOCKER_DNS for address in addresses)

    async def txt(self, name: str) -> list[str]:
        """The TXT records: the strings of a record are joined (RFC 7208 §3.3), and invalid UTF-8 is replaced."""
        records = await self._query(name, "TXT")
        return [b"".join(record.strings).decode("utf-8", "replace") for record in records]

    async def a(self, name: str) -> list[str]:
        """The IPv4 addresses."""
        return [record.address for record in await self._query(name, "A")]

    async def aaaa(self, name: str) -> list[str]:
        """The IPv6 addresses."""
        return [record.address for record in await self._query(name, "AAAA")]

    async def addresses(self, name: str) -> list[str]:
        """All addresses, IPv6 first. Raises NoSuchRecord only if there are none of either family."""
        return (await self.host_addresses(name)).addresses

    async def host_addresses(self, name: str) -> HostAddresses:
        """Like `addresses`, with the result of DNSSEC."""
        results = await asyncio.gather(self._query(name, "AAAA"), self._query(name, "A"), return_exceptions=True)
        sets = [result for result in results if isinstance(result, RecordSet)]
        addresses = [record.address for records in sets for record in records]
        if addresses:
            return HostAddresses(addresses, all(records.authenticated for records in sets), sets[0].canonical_name)
        # If one lookup failed and the other is empty, the outcome is DnsUnavailable.
        raise next((result for result in results if not isinstance(result, NoSuchRecord | list)), results[1])  # type: ignore[misc]

    async def mx(self, name: str) -> list[MailExchanger]:
        """The mail exchangers, smallest preference first."""
        return (await self.mail_exchangers(name)).exchangers

    async def mail_exchangers(self, name: str) -> MailExchangers:
        """Like `mx`, with the result of DNSSEC."""
        records = await self._query(name, "MX")
        exchangers = sorted(MailExchanger(record.preference, _host(record.exchange)) for record in records)
        return MailExchangers(exchangers, records.authenticated, records.canonical_name)

    async def tlsa(self, name: str) -> list[TlsaRecord]:
        """The TLSA records (RFC 6698); an empty list if the resolver has not authenticated them with DNSSEC."""
        records = await self._query(name, "TLSA")
        return [
            TlsaRecord(record.usage, record.selector, record.mtype, bytes(record.cert))
            for record in records
            if records.authenticated
        ]

    async def cname(self, name: str) -> str:
        """The target of the name's CNAME record."""
        return _host((await self._query(name, "CNAME"))[0].target)

    async def ns(self, name: str) -> list[str]:
        """The host names of the name servers of a zone, in alphabetical order."""
        return sorted(_host(record.target) for record in await self._query(name, "NS"))

    async def ptr(self, address: str) -> list[str]:
        """The host names of an IP address, by reverse lookup."""
        reverse = dns.reversename.from_address(address).to_text()
        return [_host(record.target) for record in await self._query(reverse, "PTR")]

    async def authoritative(self, name: str) -> "Resolver":
        """A resolver that queries the authoritative servers of the zone of `name`, bypassing caches.

        Returns this resolver if those servers cannot be found. Servers at private addresses are skipped unless
        `private_authorities` is set: the owner of a zone must not direct queries into the internal network.
        """
        labels = name.rstrip(".").split(".")
        for start in range(len(labels) - 1):
            try:
                hosts = await self.ns(".".join(labels[start:]))
                servers = await self._server_addresses(hosts[:MAX_AUTHORITIES])
            except NoSuchRecord:
                continue
            except DnsUnavailable:
                break
            return _Authority(self, servers) if servers else self
        return self

    async def _server_addresses(self, hosts: list[str]) -> list[Nameserver]:
        servers: list[Nameserver] = []
        for host in hosts:
            try:
                servers += [Nameserver(address, self._authority_port) for address in await self.a(host)]
            except (NoSuchRecord, DnsUnavailable):
                continue
        return [
            server for server in servers if self._private_authorities or ipaddress.ip_address(server.address).is_global
        ]

    async def _query(self, name: str, kind: str) -> RecordSet:
        try:
            dns_name = as_dns_name(name)
        except ValueError:
            # A text that is not a valid DNS name cannot have records.
            raise NoSuchRecord(name, kind, nxdomain=True) from None
        async with self._slots:
            try:
                response = await self._resolver.resolve(dns_name, kind, search=False, backend=_LIMITED)
            except dns.resolver.NXDOMAIN as error:
                canonical_name, nxdomain, authenticated = error.canonical_name, True, False
            except dns.resolver.NoAnswer as error:
                empty = error.kwargs["response"]
                canonical_name, nxdomain = empty.resolve_chaining().canonical_name, False
                authenticated = self._is_authenticated(empty)
            except dns.resolver.NoNameservers as error:
                raise DnsUnavailable(name, kind, _failure_summary(error)) from None
            except dns.exception.Timeout:
                raise DnsUnavailable(name, kind, "no response in time") from None
            except (dns.exception.DNSException, OSError) as error:
                raise DnsUnavailable(name, kind, str(error) or type(error).__name__) from None
            else:
                records = RecordSet(response)
                records.canonical_name = _host(response.canonical_name)
                records.authenticated = self._is_authenticated(response.response)
                return records
        if canonical_name != dns_name and self._fallback:
            # The authoritative servers of one zone cannot resolve an alias into another zone.
            return await self._fallback._query(_host(canonical_name), kind)
        raise NoSuchRecord(name, kind, nxdomain=nxdomain, authenticated=authenticated)

    def _is_authenticated(self, response: dns.message.Message) -> bool:
        return self._dnssec and bool(response.flags & dns.flags.AD)


class _Authority(Resolver):
    """Queries the authoritative servers of one zone, and the ordinary resolver if they do not respond."""

    def __init__(self, ordinary: Resolver, servers: list[Nameserver]) -> None:
        super().__init__(
            servers,
            try_timeout=timedelta(seconds=ordinary._resolver.timeout),
            lookup_timeout=timedelta(seconds=ordinary._resolver.lifetime),
        )
        self._ordinary = self._fallback = ordinary

    async def _query(self, name: str, kind: str) -> RecordSet:
        try:
            return await super()._query(name, kind)
        except DnsUnavailable:
            return await self._ordinary._query(name, kind)


class _ResponseCache(dns.resolver.LRUCache):
    """A cache of responses that have at most CACHED_OCTETS."""

    def put(self, key: Any, value: dns.resolver.Answer) -> None:
        if len(value.response.wire or b"") <= CACHED_OCTETS:
            super().put(key, value)


class _LimitedBackend:
    """dnspython's sockets, which pass on no response with more than MAX_RECORDS."""

    def __getattr__(self, name: str) -> Any:
        return getattr(dns.asyncbackend.get_default_backend(), name)

    async def make_socket(self, *args: Any, **options: Any) -> "_LimitedSocket":
        """A UDP or TCP socket for one query."""
        return _LimitedSocket(await dns.asyncbackend.get_default_backend().make_socket(*args, **options))


class _LimitedSocket:
    """A socket for one query. It counts the records in the header (RFC 1035 §4.1.1), before dnspython reads them."""

    def __init__(self, inner: Any) -> None:
        self._inner = inner
        self._received = b""
        """The first octets over TCP: the length, and the header of the response."""

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    async def __aenter__(self) -> "_LimitedSocket":
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._inner.close()

    async def recvfrom(self, *args: Any) -> tuple[bytes, Any]:
        """A datagram; with too many records, it counts as truncated and is requested over TCP."""
        data, sender = await self._inner.recvfrom(*args)
        if _record_count(data) > MAX_RECORDS:
            data = data[:2] + bytes([data[2] | 0x02]) + data[3:6] + bytes(6) + data[12:]
        return data, sender

    async def recv(self, *args: Any) -> bytes:
        """Octets over TCP. Raises FormError."""
        data = await self._inner.recv(*args)
        self._received += data[: 14 - len(self._received)]
        count = _record_count(self._received[2:])
        if count > MAX_RECORDS:
            raise dns.exception.FormError(f"a response with {count} records, more than {MAX_RECORDS},")
        return data


_LIMITED: Any = _LimitedBackend()


def _record_count(response: bytes) -> int:
    """How many questions and records a response has according to its header; 0 if the header is incomplete."""
    return sum(struct.unpack("!4H", response[4:12])) if len(response) >= 12 else 0


def as_dns_name(text: str) -> dns.name.Name:
    """Parse a name label by label, without interpreting backslash escapes. Raises ValueError."""
    labels = text.removesuffix(".").split(".")
    try:
        return dns.name.Name([*(label.encode("ascii") for label in labels), b""])
    except (dns.exception.DNSException, UnicodeEncodeError) as error:
        raise ValueError(f"{text!r} is not a DNS name.") from error


def _host(name: dns.name.Name) -> str:
    return name.to_text(omit_final_dot=True).lower() if name != dns.name.root else ""


def _dnspython_server(server: Nameserver) -> dns.nameserver.Do53Nameserver:
    return dns.nameserver.Do53Nameserver(server.address, server.port)


def _failure_summary(failure: dns.resolver.NoNameservers) -> str:
    """A summary such as `SERVFAIL from 9.9.9.9`, from the errors that dnspython collected."""
    errors: list[Any] = failure.kwargs.get("errors") or []
    summaries = [f"{_reason(error[3])} from {error[0].removeprefix('Do53:')}" for error in errors]
    return "; ".join(dict.fromkeys(summaries)) or "no server to query"


def _reason(error: Any) -> str:
    return error if isinstance(error, str) else (str(error) or type(error).__name__)
