"""A DNS server on loopback, over UDP and TCP. Tests change its records and faults while it runs.

    async with dns_zone('''
        example.com.              MX   10 mail.example.com.
        mail.example.com.         A    192.0.2.1
        a._domainkey.example.com. TXT  "v=DKIM1; p=…"
    ''') as zone:
        resolver = patient(zone)
        zone.servfail("example.com", "MX")
        ...
        assert zone.count("example.com", "MX") == 1

A name is NXDOMAIN if there are no records of it or of names under it. Aliases are followed inside the zone.
"""

import asyncio
import struct
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from functools import lru_cache
from typing import Any, NamedTuple

import dns.exception
import dns.flags
import dns.message
import dns.name
import dns.rcode
import dns.rdata
import dns.rdataclass
import dns.rdatatype
import dns.rrset

from postern.protocols.mail.dns import Nameserver, Resolver

PATIENT = {"try_timeout": timedelta(seconds=5), "lookup_timeout": timedelta(seconds=120)}
"""Timeouts for responses that arrive; long, because the machine may be slow."""
HASTY = {"try_timeout": timedelta(seconds=0.05), "lookup_timeout": timedelta(seconds=0.15)}
"""Timeouts for responses that never arrive."""
TTL_SECONDS = 60
ALIASES_FOLLOWED = 16
SOA = "ns.invalid. hostmaster.invalid. 1 3600 600 86400 1"


class DnsQuery(NamedTuple):
    """One query that the server received."""

    name: str
    kind: str
    tcp: bool


class DnsZone:
    """The records and faults of the server, and the queries that it has received."""

    address = "127.0.0.1"
    port = 0

    def __init__(self, text: str = "") -> None:
        self.records: dict[tuple[str, str], list[str]] = {}
        self.faults: dict[tuple[str, str], str] = {}
        self.queries: list[DnsQuery] = []
        self.is_authenticated = False
        """Whether responses to queries that ask for it have the AD flag, as from a resolver that validates DNSSEC."""
        self.unsigned: set[str] = set()
        """Names whose responses never have the AD flag."""
        self.load(text)

    @property
    def nameserver(self) -> tuple[str, int]:
        """Address and port."""
        return self.address, self.port

    def load(self, text: str) -> None:
        """Add lines of `name TYPE data`; `;` at the start of a line makes it a comment."""
        for line in text.splitlines():
            if line.strip() and not line.strip().startswith(";"):
                name, kind, data = line.split(None, 2)
                self.add(name, kind, data.strip())

    def add(self, name: str, kind: str, *values: str) -> None:
        """Add records. TXT data without quotes is quoted, and split into character strings if it is long."""
        data = [_quoted(value) if kind.upper() == "TXT" else value for value in values]
        self.records.setdefault((_key(name), kind.upper()), []).extend(data)

    def set(self, name: str, kind: str, *values: str) -> None:
        """Replace the records of that name and type."""
        self.remove(name, kind)
        self.add(name, kind, *values)

    def remove(self, name: str, kind: str | None = None) -> None:
        """Remove the records of this name: of one type, or all."""
        for key in [key for key in self.records if key[0] == _key(name) and kind in (None, key[1])]:
            del self.records[key]

    def servfail(self, name: str = "*", kind: str = "*") -> None:
        """Respond with SERVFAIL to queries for this name and type (`*` means all) until `heal` is called."""
        self.faults[_key(name), kind.upper()] = "SERVFAIL"

    def refuse(self, name: str = "*", kind: str = "*") -> None:
        """Respond with REFUSED, see `servfail`."""
        self.faults[_key(name), kind.upper()] = "REFUSED"

    def nxdomain(self, name: str = "*", kind: str = "*") -> None:
        """Respond with NXDOMAIN even if there are records, see `servfail`."""
        self.faults[_key(name), kind.upper()] = "NXDOMAIN"

    def silence(self, name: str = "*", kind: str = "*") -> None:
        """Never respond, so that the query times out; see `servfail`."""
        self.faults[_key(name), kind.upper()] = "SILENCE"

    def heal(self, name: str | None = None) -> None:
        """End the faults of one name, or all."""
        for key in [key for key in self.faults if name is None or key[0] == _key(name)]:
            del self.faults[key]

    def count(self, name: str | None = None, kind: str | None = None) -> int:
        """The number of received queries, for this name and this type if given."""
        return sum((name is None or query.name == _key(name)) and kind in (None, query.kind) for query in self.queries)

    def counts(self) -> Counter[tuple[str, str]]:
        """The number of queries by name and type."""
        return Counter((query.name, query.kind) for query in self.queries)

    def respond(self, wire: bytes, *, tcp: bool) -> bytes | None:
        """The response to an encoded query; None if the query is invalid or must get no response."""
        try:
            query = dns.message.from_wire(wire)
        except dns.exception.DNSException:
            return None
        question = query.question[0]
        name, kind = _key(question.name.to_text()), dns.rdatatype.to_text(question.rdtype)
        self.queries.append(DnsQuery(name, kind, tcp))
        response = dns.message.make_response(query, recursion_available=True)
        response.flags |= dns.flags.AA
        if self.is_authenticated and query.flags & dns.flags.AD and name not in self.unsigned:
            response.flags |= dns.flags.AD
        fault = self._fault(name, kind)
        if fault == "SILENCE":
            return None
        if fault:
            response.set_rcode(dns.rcode.from_text(fault))
        else:
            self._add_records(response, name, kind)
        if response.rcode() == dns.rcode.NXDOMAIN or not response.answer:
            response.authority.append(_rrset(".", "SOA", SOA))
        return _wire(response, query, tcp=tcp)

    def _fault(self, name: str, kind: str) -> str | None:
        keys = [(name, kind), (name, "*"), ("*", kind), ("*", "*")]
        return next((self.faults[key] for key in keys if key in self.faults), None)

    def _add_records(self, response: dns.message.Message, name: str, kind: str) -> None:
        for _ in range(ALIASES_FOLLOWED):
            records, alias = self._records_of(name, kind), self._records_of(name, "CNAME")
            if records or not alias:
                break
            response.answer.append(_rrset(name, "CNAME", *alias))
            name = _key(alias[0])
        if records:
            response.answer.append(_rrset(name, kind, *records))
        elif not alias and not self._exists(name):
            response.set_rcode(dns.rcode.NXDOMAIN)

    def _records_of(self, name: str, kind: str) -> list[str]:
        """The records of a name, or those of a wildcard if the name does not exist."""
        exact = self.records.get((name, kind))
        if exact or self._exists(name):
            return exact or []
        return self.records.get(("*." + name.partition(".")[2], kind), [])

    def _exists(self, name: str) -> bool:
        under = "." + name
        return any(owner.endswith(under) or owner == name for owner, _ in self.records)


def patient(zone: DnsZone, **settings: Any) -> Resolver:
    """A resolver that queries the zone with the timeouts PATIENT. `settings` are arguments of Resolver."""
    return Resolver([Nameserver(*zone.nameserver)], **(PATIENT | settings))


def hasty(zone: DnsZone, **settings: Any) -> Resolver:
    """A resolver that queries the zone with the timeouts HASTY. `settings` are arguments of Resolver."""
    return Resolver([Nameserver(*zone.nameserver)], **(HASTY | settings))


@asynccontextmanager
async def dns_zone(text: str = "") -> AsyncIterator[DnsZone]:
    """Start a server with the records in `text` (see `DnsZone.load`); it ends with the block."""
    zone, loop = DnsZone(text), asyncio.get_running_loop()
    for attempt in range(20):
        udp, _ = await loop.create_datagram_endpoint(lambda: _Udp(zone), local_addr=(zone.address, 0))
        port = udp.get_extra_info("sockname")[1]
        try:
            tcp = await asyncio.start_server(lambda *streams: _serve(zone, *streams), zone.address, port)
            break
        except OSError:
            udp.close()
            if attempt == 19:
                raise
    zone.port = port
    try:
        yield zone
    finally:
        udp.close()
        tcp.close()
        tcp.close_clients() if hasattr(tcp, "close_clients") else None
        await tcp.wait_closed()


class _Udp(asyncio.DatagramProtocol):
    def __init__(self, zone: DnsZone) -> None:
        self.zone = zone

    def connection_made(self, transport: Any) -> None:
        self.transport = transport

    def datagram_received(self, data: bytes, addr: Any) -> None:
        response = self.zone.respond(data, tcp=False)
        if response is not None:
            self.transport.sendto(response, addr)


async def _serve(zone: DnsZone, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while True:
            (length,) = struct.unpack("!H", await reader.readexactly(2))
            response = zone.respond(await reader.readexactly(length), tcp=True)
            if response is not None:
                writer.write(struct.pack("!H", len(response)) + response)
                await writer.drain()
    except (asyncio.IncompleteReadError, ConnectionError):
        pass
    finally:
        writer.close()


def _wire(response: dns.message.Message, query: dns.message.Message, *, tcp: bool) -> bytes:
    limit = 65_535 if tcp else max(512, query.payload)
    try:
        return response.to_wire(max_size=limit)
    except dns.exception.TooBig:
        truncated = dns.message.make_response(query, recursion_available=True)
        truncated.flags |= dns.flags.TC
        return truncated.to_wire()


@lru_cache(1_000)
def _rrset(name: str, kind: str, *values: str) -> dns.rrset.RRset:
    """The records, which nobody changes. To read and compare them took a third of the time of a response."""
    owner = dns.name.from_text(name) if name != "." else dns.name.root
    rdtype = dns.rdatatype.from_text(kind)
    # Names are absolute, with or without the trailing dot.
    root = dns.name.root
    records = [dns.rdata.from_text(dns.rdataclass.IN, rdtype, value, origin=root, relativize=False) for value in values]
    return dns.rrset.from_rdata_list(owner, TTL_SECONDS, records)


def _key(name: str) -> str:
    return name.rstrip(".").lower()


def _quoted(text: str) -> str:
    """The text as quoted character strings of at most 255 octets (RFC 1035 §3.3); unchanged if it is quoted already."""
    if text.startswith('"'):
        return text
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return " ".join(f'"{escaped[at : at + 200]}"' for at in range(0, len(escaped) or 1, 200))
