"""The three outcomes of DNS lookups: records, no record, and failure."""

import asyncio
from datetime import timedelta

import pytest

from postern.protocols.mail.dns import (
    MAX_RECORDS,
    DnsUnavailable,
    MailExchanger,
    Nameserver,
    NoSuchRecord,
    Resolver,
    TlsaRecord,
    as_dns_name,
    parse_nameservers,
)
from tests.peers.dns_zone import PATIENT, dns_zone, hasty, patient

ZONE = """
    example.com.       MX    20 Backup.example.com.
    example.com.       MX    10 mail.example.com.
    example.com.       NS    ns1.example.com.
    ns1.example.com.   A     127.0.0.1
    example.com.       TXT   "v=spf1 " "-all"
    mail.example.com.  A     192.0.2.1
    mail.example.com.  AAAA  2001:db8::1
    six.example.com.   AAAA  2001:db8::6
    www.example.com.   CNAME mail.example.com.
    loop.example.com.  CNAME pool.example.com.
    pool.example.com.  CNAME loop.example.com.
    away.example.com.  CNAME elsewhere.example.net.
    1.2.0.192.in-addr.arpa. PTR mail.example.com.
    null.example.com.  MX    0 .
"""


@pytest.fixture
async def zone():
    async with dns_zone(ZONE) as zone:
        yield zone


@pytest.fixture
def resolver(zone):
    return patient(zone)


async def test_each_record_type_is_returned_in_its_plain_form(resolver):
    assert await resolver.txt("example.com") == ["v=spf1 -all"]
    assert await resolver.a("www.example.com.") == ["192.0.2.1"]
    assert await resolver.aaaa("mail.example.com") == ["2001:db8::1"]
    assert await resolver.addresses("mail.example.com") == ["2001:db8::1", "192.0.2.1"]
    assert await resolver.addresses("six.example.com") == ["2001:db8::6"]
    assert await resolver.mx("example.com") == [
        MailExchanger(10, "mail.example.com"),
        MailExchanger(20, "backup.example.com"),
    ]
    assert await resolver.mx("null.example.com") == [MailExchanger(0, "")]
    assert await resolver.cname("www.example.com") == "mail.example.com"
    assert await resolver.ns("example.com") == ["ns1.example.com"]
    assert await resolver.ptr("192.0.2.1") == ["mail.example.com"]


async def test_nxdomain_and_nodata_are_permanent(resolver):
    with pytest.raises(NoSuchRecord) as unknown:
        await resolver.a("nowhere.example.com")
    assert unknown.value.nxdomain
    with pytest.raises(NoSuchRecord) as empty:
        await resolver.mx("mail.example.com")
    assert not empty.value.nxdomain
    with pytest.raises(NoSuchRecord):
        await resolver.addresses("example.com")


@pytest.mark.parametrize("fault", ["servfail", "refuse", "silence"])
async def test_failures_are_temporary_and_never_an_absent_record(zone, resolver, fault):
    getattr(zone, fault)("example.com", "TXT")
    failing = hasty(zone) if fault == "silence" else resolver
    with pytest.raises(DnsUnavailable):
        await failing.txt("example.com")
    assert await resolver.mx("example.com")
    zone.heal()
    assert await resolver.txt("example.com") == ["v=spf1 -all"]


async def test_a_failed_lookup_of_one_address_family_is_not_an_absence(zone, resolver):
    zone.servfail("six.example.com", "A")
    assert await resolver.addresses("six.example.com") == ["2001:db8::6"]
    zone.servfail("www.example.com", "AAAA")
    zone.remove("mail.example.com", "A")
    with pytest.raises(DnsUnavailable):
        await resolver.addresses("www.example.com")


async def test_a_cname_loop_is_a_temporary_failure(resolver):
    with pytest.raises(DnsUnavailable):
        await resolver.a("loop.example.com")


async def test_an_unreachable_server_is_a_temporary_failure():
    with pytest.raises(DnsUnavailable):
        await Resolver([Nameserver("127.0.0.1", 1)], lookup_timeout=timedelta(seconds=0.2)).a("example.com")


async def test_the_next_server_is_used_if_the_first_fails(zone):
    async with dns_zone(ZONE) as broken:
        broken.servfail()
        resolver = Resolver([Nameserver(*broken.nameserver), Nameserver(*zone.nameserver)], **PATIENT)
        assert await resolver.a("mail.example.com") == ["192.0.2.1"]


async def test_truncated_responses_are_retried_over_tcp(zone, resolver):
    text = "x" * 4_000
    zone.add("long.example.com", "TXT", text)
    assert await resolver.txt("long.example.com") == [text]
    assert [query.tcp for query in zone.queries if query.name == "long.example.com"] == [False, True]


async def test_invalid_names_are_not_queried(zone, resolver):
    too_long = ".".join(["abcdefgh"] * 40)
    for name in ("a..example.com", "x" * 64 + ".example.com", "ünïcode.example.com", too_long):
        with pytest.raises(NoSuchRecord):
            await resolver.txt(name)
    assert zone.count() == 0


async def test_a_backslash_in_a_name_is_not_an_escape():
    assert as_dns_name(r"\065.example").labels[0] == rb"\065"


async def test_concurrent_lookups_are_limited(zone):
    zone.silence()
    resolver = patient(zone, concurrency=3)
    waiting = [asyncio.create_task(resolver.a(f"n{n}.example.com")) for n in range(10)]
    while zone.count() < 3:
        await asyncio.sleep(0.01)
    await asyncio.sleep(0.05)
    assert zone.count() == 3
    for task in waiting:
        task.cancel()
    await asyncio.gather(*waiting, return_exceptions=True)


async def test_the_cache_is_used_only_on_request(zone, resolver):
    for _ in range(2):
        await resolver.a("mail.example.com")
    assert zone.count("mail.example.com") == 2
    cached = patient(zone, cache=True)
    for _ in range(2):
        await cached.a("mail.example.com")
    assert zone.count("mail.example.com") == 3


async def test_authoritative_servers_are_queried_directly(zone):
    old = ZONE.replace("192.0.2.1", "192.0.2.9") + "elsewhere.example.net. A 192.0.2.77"
    async with dns_zone(old) as ordinary:
        # The ordinary server has the NS record of the zone, and an old address.
        resolver = patient(ordinary, authority_port=zone.port, private_authorities=True)
        authoritative = await resolver.authoritative("deep.mail.example.com")
        assert await resolver.a("mail.example.com") == ["192.0.2.9"]
        assert await authoritative.a("mail.example.com") == ["192.0.2.1"]
        assert await authoritative.a("away.example.com") == ["192.0.2.77"], "aliases into other zones are followed"
        with pytest.raises(NoSuchRecord):
            await authoritative.a("nowhere.example.com")
        zone.servfail()
        assert await authoritative.a("mail.example.com") == ["192.0.2.9"], (
            "the ordinary server is queried if the authoritative one fails"
        )


async def test_an_authoritative_server_at_a_private_address_is_not_queried(zone):
    resolver = patient(zone, authority_port=zone.port)
    assert await resolver.authoritative("mail.example.com") is resolver


def test_nameservers_are_configurable():
    assert parse_nameservers("127.0.0.1:5353, 9.9.9.9 [2620:fe::fe]:53,2620:fe::9") == [
        Nameserver("127.0.0.1", 5353),
        Nameserver("9.9.9.9", 53),
        Nameserver("2620:fe::fe", 53),
        Nameserver("2620:fe::9", 53),
    ]
    assert parse_nameservers("") == []
    for invalid in ("localhost", "127.0.0.1:0", "127.0.0.1:x", "1.2.3.4:70000", "[::1]:x"):
        with pytest.raises(ValueError):
            parse_nameservers(invalid)


@pytest.mark.parametrize(
    ("servers", "is_local"),
    [
        (["127.0.0.1"], True),
        (["::1", "127.0.0.53"], True),
        (["127.0.0.1", "192.0.2.1"], False),
        (["127.0.0.11"], False),
    ],
)
def test_only_resolvers_on_this_machine_are_trusted_with_dnssec(servers, is_local):
    """Docker's resolver, 127.0.0.11, forwards the responses of other machines."""
    resolver = Resolver([Nameserver(server) for server in servers])
    assert resolver.is_local is is_local
    assert resolver.separate(dnssec=True).is_local is is_local


async def test_only_a_trusted_resolver_authenticates_records():
    async with dns_zone("a.test MX 10 mx.a.test.\n_25._tcp.mx.a.test TLSA 3 1 1 " + "00" * 32) as zone:
        zone.is_authenticated = True
        assert (await patient(zone, dnssec=True).mail_exchangers("a.test")).authenticated
        assert not (await patient(zone).mail_exchangers("a.test")).authenticated
        assert await patient(zone, dnssec=True).tlsa("_25._tcp.mx.a.test") == [TlsaRecord(3, 1, 1, bytes(32))]
        assert await patient(zone).tlsa("_25._tcp.mx.a.test") == []
        with pytest.raises(NoSuchRecord) as missing:
            await patient(zone, dnssec=True).mx("_25._tcp.mx.a.test")
        assert missing.value.authenticated


def many(kind, count):
    """Lines of a zone: a name with so many records."""
    data = {"A": "10.1.{0}.{1}", "MX": "{2} mx.example.com.", "TXT": "record-{2}"}[kind]
    return "\n".join(f"many.example.com {kind} " + data.format(n // 256, n % 256, n) for n in range(count))


@pytest.mark.parametrize("kind", ["A", "MX", "TXT"])
async def test_a_response_with_too_many_records_is_not_read(kind):
    """Reading 3,800 MX records takes dnspython 0.4 s, in which the process does nothing else."""
    async with dns_zone(many(kind, MAX_RECORDS - 1)) as zone:
        lookup = getattr(patient(zone), kind.lower())
        assert len(await lookup("many.example.com")) == MAX_RECORDS - 1
        zone.load(many(kind, 2 * MAX_RECORDS))
        with pytest.raises(DnsUnavailable, match=f"records, more than {MAX_RECORDS}, from 127"):
            await lookup("many.example.com")


async def test_a_long_datagram_with_too_many_records_is_not_read(monkeypatch):
    """Authoritative servers, which anybody can have, may send datagrams of any size."""
    async with dns_zone(many("A", 3_000)) as zone:
        respond = zone.respond
        monkeypatch.setattr(zone, "respond", lambda wire, *, tcp: respond(wire, tcp=True))
        with pytest.raises(DnsUnavailable, match=f"records, more than {MAX_RECORDS}, from 127"):
            await patient(zone).a("many.example.com")


async def test_long_responses_are_not_cached():
    """10,000 responses of 64 KiB would take gigabytes."""
    async with dns_zone(many("A", 200) + "\nfew.example.com A 192.0.2.1") as zone:
        resolver = patient(zone).separate(cache=True)
        for _ in range(2):
            await resolver.a("few.example.com")
            await resolver.a("many.example.com")
        assert (zone.count("few.example.com"), zone.count("many.example.com")) == (1, 4)
