"""A real DNS server on loopback, over UDP and TCP, whose zone and whose faults tests change as it runs.

    async with dns_zone('''
        example.com.              MX   10 mail.example.com.
        mail.example.com.         A    192.0.2.1
        a._domainkey.example.com. TXT  "v=DKIM1; p=…"
    ''') as zone:
        resolver = patient(zone)
        zone.servfail("example.com", "MX")
        ...
        assert zone.count("example.com", "MX") == 1

Names that no record lies at or under are NXDOMAIN; aliases are followed inside the zone, loops included.
"""

import asyncio
import struct
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
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
"""For answers that come: how busy the machine is must not decide."""
HASTY = {"try_timeout": timedelta(seconds=0.05), "lookup_timeout": timedelta(seconds=0.15)}
"""For answers that never come."""
TTL_SECONDS = 60
ALIASES_FOLLOWED = 16
SOA = "ns.invalid. hostmaster.invalid. 1 3600 600 86400 1"


class Asked(NamedTuple):
    """One question that reached the server."""

    name: str
    kind: str
    tcp: bool


class DnsZone:
    """What the server answers, and what it has been asked."""

    address = "127.0.0.1"
    port = 0

    def __init__(self, text: str = "") -> None:
        self.records: dict[tuple[str, str], list[str]] = {}
        self.faults: dict[tuple[str, str], str] = {}
        self.asked: list[Asked] = []
        self.load(text)

    @property
    def nameserver(self) -> tuple[str, int]:
        return self.address, self.port

    def load(self, text: str) -> None:
        """Add lines of `name TYPE data`; `;` at the start of a line makes it a comment."""
        for line in text.splitlines():
            if line.strip() and not line.strip().startswith(";"):
                name, kind, data = line.split(None, 2)
                self.add(name, kind, data.strip())

    def add(self, name: str, kind: str, *values: str) -> None:
        """Add records beside those that are there. TXT data may be given bare: it is quoted and cut."""
        said = [_quoted(value) if kind.upper() == "TXT" else value for value in values]
        self.records.setdefault((_key(name), kind.upper()), []).extend(said)

    def set(self, name: str, kind: str, *values: str) -> None:
        """Replace the records of that name and type."""
        self.remove(name, kind)
        self.add(name, kind, *values)

    def remove(self, name: str, kind: str | None = None) -> None:
        """Take the records away, of one type or of all."""
        for key in [key for key in self.records if key[0] == _key(name) and kind in (None, key[1])]:
            del self.records[key]

    def servfail(self, name: str = "*", kind: str = "*") -> None:
        """Answer SERVFAIL to this question (`*` is any) until `heal`."""
        self.faults[_key(name), kind.upper()] = "SERVFAIL"

    def refuse(self, name: str = "*", kind: str = "*") -> None:
        """Answer REFUSED."""
        self.faults[_key(name), kind.upper()] = "REFUSED"

    def nxdomain(self, name: str = "*", kind: str = "*") -> None:
        """Answer NXDOMAIN whatever the zone holds."""
        self.faults[_key(name), kind.upper()] = "NXDOMAIN"

    def silence(self, name: str = "*", kind: str = "*") -> None:
        """Never answer, so that the asker runs into its timeout."""
        self.faults[_key(name), kind.upper()] = "SILENCE"

    def heal(self, name: str | None = None) -> None:
        """End the faults of one name, or all."""
        for key in [key for key in self.faults if name is None or key[0] == _key(name)]:
            del self.faults[key]

    def count(self, name: str | None = None, kind: str | None = None) -> int:
        """How many questions arrived, of that name and type if given."""
        return sum((name is None or each.name == _key(name)) and kind in (None, each.kind) for each in self.asked)

    def counts(self) -> Counter[tuple[str, str]]:
        """How often each question arrived."""
        return Counter((each.name, each.kind) for each in self.asked)

    def answer(self, wire: bytes, *, tcp: bool) -> bytes | None:
        try:
            query = dns.message.from_wire(wire)
        except dns.exception.DNSException:
            return None
        question = query.question[0]
        name, kind = _key(question.name.to_text()), dns.rdatatype.to_text(question.rdtype)
        self.asked.append(Asked(name, kind, tcp))
        response = dns.message.make_response(query, recursion_available=True)
        response.flags |= dns.flags.AA
        fault = self._fault(name, kind)
        if fault == "SILENCE":
            return None
        if fault:
            response.set_rcode(dns.rcode.from_text(fault))
        else:
            self._fill(response, name, kind)
        if response.rcode() == dns.rcode.NXDOMAIN or not response.answer:
            response.authority.append(_rrset(".", "SOA", [SOA]))
        return _wire(response, query, tcp=tcp)

    def _fault(self, name: str, kind: str) -> str | None:
        keys = [(name, kind), (name, "*"), ("*", kind), ("*", "*")]
        return next((self.faults[key] for key in keys if key in self.faults), None)

    def _fill(self, response: dns.message.Message, name: str, kind: str) -> None:
        for _ in range(ALIASES_FOLLOWED):
            found, alias = self._at(name, kind), self._at(name, "CNAME")
            if found or not alias:
                break
            response.answer.append(_rrset(name, "CNAME", alias))
            name = _key(alias[0])
        if found:
            response.answer.append(_rrset(name, kind, found))
        elif not alias and not self._exists(name):
            response.set_rcode(dns.rcode.NXDOMAIN)

    def _at(self, name: str, kind: str) -> list[str]:
        exact = self.records.get((name, kind))
        if exact or self._exists(name):
            return exact or []
        return self.records.get(("*." + name.partition(".")[2], kind), [])

    def _exists(self, name: str) -> bool:
        return any(owner == name or owner.endswith("." + name) for owner, _ in self.records)


def patient(zone: DnsZone, **settings: Any) -> Resolver:
    """Asks the zone, and waits as long as a busy machine may take."""
    return Resolver([Nameserver(*zone.nameserver)], **(PATIENT | settings))


def hasty(zone: DnsZone, **settings: Any) -> Resolver:
    """Asks the zone, and soon gives up."""
    return Resolver([Nameserver(*zone.nameserver)], **(HASTY | settings))


@asynccontextmanager
async def dns_zone(text: str = "") -> AsyncIterator[DnsZone]:
    """Serve a zone until the block ends."""
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
        answer = self.zone.answer(data, tcp=False)
        if answer is not None:
            self.transport.sendto(answer, addr)


async def _serve(zone: DnsZone, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while True:
            (length,) = struct.unpack("!H", await reader.readexactly(2))
            answer = zone.answer(await reader.readexactly(length), tcp=True)
            if answer is not None:
                writer.write(struct.pack("!H", len(answer)) + answer)
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
        cut = dns.message.make_response(query, recursion_available=True)
        cut.flags |= dns.flags.TC
        return cut.to_wire()


def _rrset(name: str, kind: str, values: list[str]) -> dns.rrset.RRset:
    owner = dns.name.from_text(name) if name != "." else dns.name.root
    rdtype = dns.rdatatype.from_text(kind)
    # Names are read as absolute, with or without their last dot.
    root = dns.name.root
    records = [dns.rdata.from_text(dns.rdataclass.IN, rdtype, value, origin=root, relativize=False) for value in values]
    return dns.rrset.from_rdata_list(owner, TTL_SECONDS, records)


def _key(name: str) -> str:
    return name.rstrip(".").lower()


def _quoted(text: str) -> str:
    """Character strings of at most 255 octets (RFC 1035 §3.3), unless they are quoted already."""
    if text.startswith('"'):
        return text
    safe = text.replace("\\", "\\\\").replace('"', '\\"')
    return " ".join(f'"{safe[at : at + 200]}"' for at in range(0, len(safe) or 1, 200))
