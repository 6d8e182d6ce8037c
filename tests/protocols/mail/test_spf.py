"""SPF (RFC 7208) as tables of zones, queries and results."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from postern.protocols.mail.spf import SpfRecordBroken, SpfVerdict, authorises, check_host, parse
from tests.peers.dns_zone import dns_zone, hasty, patient

HOSTS = """
    mail.example.org.       A     192.0.2.10
    mail.example.org.       AAAA  2001:db8::10
    example.org.            MX    10 mail.example.org.
    10.2.0.192.in-addr.arpa. PTR  mail.example.org.
    _spf.example.net.       TXT   "v=spf1 ip4:198.51.100.0/24 -all"
    empty.example.net.      TXT   "hello"
    two.example.net.        TXT   "v=spf1 -all"
    two.example.net.        TXT   "v=spf1 +all"
    192.0.2.10.allow.example.net. A 127.0.0.2
    self.example.net.       TXT   "v=spf1 include:self.example.net -all"
    lyme.eater.org._spf.example.net. A 127.0.0.2
"""

RECORDS = [
    # record of example.org, address, verdict
    ("v=spf1", "192.0.2.10", "neutral"),
    ("v=spf1 -all", "192.0.2.10", "fail"),
    ("v=spf1 ~ALL", "192.0.2.10", "softfail"),
    ("v=spf1 ?all", "192.0.2.10", "neutral"),
    ("v=spf1 ip4:192.0.2.0/24 -all", "192.0.2.10", "pass"),
    ("v=spf1 ip4:192.0.2.0/24 -all", "192.0.3.10", "fail"),
    ("v=spf1 ip4:192.0.2.10 -all", "::ffff:192.0.2.10", "pass"),
    ("v=spf1 ip6:2001:db8::/32 -all", "2001:db8::10", "pass"),
    ("v=spf1 ip6:2001:db8::/32 -all", "192.0.2.10", "fail"),
    ("v=spf1 a:mail.example.org -all", "192.0.2.10", "pass"),
    ("v=spf1 a:mail.example.org -all", "2001:db8::10", "pass"),
    ("v=spf1 a:mail.example.org/24//64 -all", "192.0.2.99", "pass"),
    ("v=spf1 a:mail.example.org/24//64 -all", "2001:db8::ffff", "pass"),
    ("v=spf1 a:mail.example.org/24//64 -all", "2001:db9::1", "fail"),
    ("v=spf1 mx -all", "192.0.2.10", "pass"),
    ("v=spf1 mx/24 -all", "192.0.2.200", "pass"),
    ("v=spf1 mx -all", "192.0.2.11", "fail"),
    ("v=spf1 ptr -all", "192.0.2.10", "pass"),
    ("v=spf1 ptr:example.net -all", "192.0.2.10", "fail"),
    ("v=spf1 include:_spf.example.net -all", "198.51.100.7", "pass"),
    ("v=spf1 include:_spf.example.net ~all", "192.0.2.10", "softfail"),
    ("v=spf1 redirect=_spf.example.net", "198.51.100.7", "pass"),
    ("v=spf1 redirect=_spf.example.net", "192.0.2.10", "fail"),
    ("v=spf1 redirect=_spf.example.net ?all", "192.0.2.10", "neutral"),
    ("v=spf1 exists:%{i}.allow.example.net -all", "192.0.2.10", "pass"),
    ("v=spf1 exists:%{i}.allow.example.net -all", "192.0.2.11", "fail"),
    ("v=spf1 exists:%{l1r-}.eater.%{o2r}.example.net -all", "192.0.2.10", "fail"),
    ("v=spf1 unknown=modifier ip4:192.0.2.10", "192.0.2.10", "pass"),
    # errors anywhere in the record
    ("v=spf1 ip4:192.0.2.10 -all moo", "192.0.2.10", "permerror"),
    ("v=spf1 ip4:192.0.2.10/33", "192.0.2.10", "permerror"),
    ("v=spf1 ip4:192.0.2.10/024", "192.0.2.10", "permerror"),
    ("v=spf1 ip4:192.0.2", "192.0.2.10", "permerror"),
    ("v=spf1 include: -all", "192.0.2.10", "permerror"),
    ("v=spf1 a:foo-bar -all", "192.0.2.10", "permerror"),
    ("v=spf1 a:%{x}.example.org -all", "192.0.2.10", "permerror"),
    ("v=spf1 redirect=a.example.net redirect=b.example.net", "192.0.2.10", "permerror"),
    ("v=spf1 redirect:_spf.example.net", "192.0.2.10", "permerror"),
    ("v=spf1 include:empty.example.net -all", "192.0.2.10", "permerror"),
    ("v=spf1 include:two.example.net -all", "192.0.2.10", "permerror"),
    ("v=spf1 redirect=empty.example.net", "192.0.2.10", "permerror"),
    ("v=spf1 include:self.example.net -all", "192.0.2.10", "permerror"),
    ("v=spf10 +all", "192.0.2.10", "none"),
    ("hello", "192.0.2.10", "none"),
]


@pytest.fixture
async def zone():
    async with dns_zone(HOSTS) as zone:
        yield zone


@pytest.fixture
def resolver(zone):
    return patient(zone)


async def test_every_record_has_its_verdict(zone, resolver):
    results = []
    for record, address, _ in RECORDS:
        zone.set("example.org", "TXT", record, "unrelated=1")
        results.append((record, address, (await check_host(resolver, address, "example.org")).verdict.value))
    assert results == RECORDS


async def test_strings_are_joined_without_a_space(zone, resolver):
    zone.records["example.org", "TXT"] = ['"v=spf1 ip4:192.0." "2.10 -all"']
    assert (await check_host(resolver, "192.0.2.10", "example.org")).verdict is SpfVerdict.PASS


async def test_two_records_are_permerror_and_no_record_is_none(zone, resolver):
    zone.set("example.org", "TXT", "v=spf1 ip4:192.0.2.10 -all", "V=SPF1 -all")
    result = await check_host(resolver, "192.0.2.10", "example.org")
    assert (result.verdict, "2 SPF records" in result.reason) == (SpfVerdict.PERMERROR, True)
    assert (await check_host(resolver, "192.0.2.10", "nowhere.example.org")).verdict is SpfVerdict.NONE
    assert (await check_host(resolver, "192.0.2.10", "single")).verdict is SpfVerdict.NONE


async def test_ten_lookups_are_allowed_and_eleven_are_not(zone, resolver):
    for n in range(12):
        zone.add(f"h{n}.example.net", "A", "203.0.113.1")
    for count, verdict in ((10, SpfVerdict.PASS), (11, SpfVerdict.PERMERROR)):
        hosts = " ".join(f"a:h{n}.example.net" for n in range(count))
        zone.set("example.org", "TXT", f"v=spf1 {hosts} ip4:192.0.2.10 -all")
        result = await check_host(resolver, "192.0.2.10", "example.org")
        assert (result.verdict, result.lookups) == (verdict, count)


async def test_two_void_lookups_are_allowed_and_three_are_not(zone, resolver):
    for count, verdict in ((2, SpfVerdict.PASS), (3, SpfVerdict.PERMERROR)):
        hosts = " ".join(f"a:void{n}.example.net" for n in range(count))
        zone.set("example.org", "TXT", f"v=spf1 {hosts} ip4:192.0.2.10 -all")
        assert (await check_host(resolver, "192.0.2.10", "example.org")).verdict is verdict


async def test_eleven_mx_records_are_permerror(zone, resolver):
    zone.set("example.org", "TXT", "v=spf1 mx -all")
    zone.set("example.org", "MX", *(f"{n} mail.example.org." for n in range(11)))
    assert (await check_host(resolver, "192.0.2.10", "example.org")).verdict is SpfVerdict.PERMERROR


@pytest.mark.parametrize("fault", ["servfail", "silence", "refuse"])
@pytest.mark.parametrize(("name", "kind"), [("example.org", "TXT"), ("mail.example.org", "A")])
async def test_dns_failures_are_temperror_and_never_none(zone, resolver, fault, name, kind):
    zone.set("example.org", "TXT", "v=spf1 a:mail.example.org -all")
    getattr(zone, fault)(name, kind)
    failing = hasty(zone) if fault == "silence" else resolver
    assert (await check_host(failing, "192.0.2.10", "example.org")).verdict is SpfVerdict.TEMPERROR
    zone.heal()
    assert (await check_host(resolver, "192.0.2.10", "example.org")).verdict is SpfVerdict.PASS


MACROS = [
    # RFC 7208 §7.4
    ("%{s}", "strong-bad@email.example.com"),
    ("%{o}", "email.example.com"),
    ("%{d}", "email.example.com"),
    ("%{d4}", "email.example.com"),
    ("%{d3}", "email.example.com"),
    ("%{d2}", "example.com"),
    ("%{d1}", "com"),
    ("%{dr}", "com.example.email"),
    ("%{d2r}", "example.email"),
    ("%{l}", "strong-bad"),
    ("%{l-}", "strong.bad"),
    ("%{lr}", "strong-bad"),
    ("%{lr-}", "bad.strong"),
    ("%{l1r-}", "strong"),
    ("%{ir}.%{v}._spf.%{d2}", "3.2.0.192.in-addr._spf.example.com"),
    ("%{lr-}.lp._spf.%{d2}", "bad.strong.lp._spf.example.com"),
    ("%{S}", "strong-bad%40email.example.com"),
    ("a%%%_%-b", "a% %20b"),
]


@pytest.mark.parametrize(("spec", "name"), MACROS)
async def test_macros_expand_as_in_rfc_7208(resolver, spec, name):
    from postern.protocols.mail.spf import _Evaluation

    evaluation = _Evaluation(resolver, "192.0.2.3", "strong-bad@email.example.com", "mx.example.org")
    assert await evaluation.expand(spec, "email.example.com") == name


async def test_an_ipv6_address_expands_to_nibbles(resolver):
    from postern.protocols.mail.spf import _Evaluation

    evaluation = _Evaluation(resolver, "2001:db8::cb01", "a@email.example.com", "mx")
    expected = "1.0.b.c.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.8.b.d.0.1.0.0.2.ip6._spf.example.com"
    assert await evaluation.expand("%{ir}.%{v}._spf.%{d2}", "email.example.com") == expected


AUTHORISED = [
    ("v=spf1 ip4:192.0.2.0/24 -all", ["192.0.2.1", "192.0.2.2"], None, "pass"),
    ("v=spf1 ip4:192.0.2.1 -all", ["192.0.2.1", "192.0.2.2"], None, "fail"),
    ("v=spf1 include:_spf.example.net -all", [], "_spf.example.net", "pass"),
    ("v=spf1 mx INCLUDE:_SPF.example.net. -all", [], "_spf.example.net", "pass"),
    ("v=spf1 redirect=_spf.example.net", [], "_spf.example.net", "pass"),
    ("v=spf1 -all include:_spf.example.net", [], "_spf.example.net", "fail"),
    ("v=spf1 ip4:198.51.100.0/24 -all", [], "_spf.example.net", "fail"),
    ("v=spf1 ip4:192.0.2.1 -all", ["192.0.2.9"], "_spf.example.net", "fail"),
    ("v=spf1 include:_spf.example.net -all", ["192.0.2.9"], "_spf.example.net", "pass"),
    ("v=spf1 include:empty.example.net -all", [], "empty.example.net", "permerror"),
    ("v=spf1 ip4:192.0.2.1 -all", [], None, "none"),
]


@pytest.mark.parametrize(("record", "addresses", "include", "verdict"), AUTHORISED)
async def test_whether_a_domain_authorises_the_server(zone, resolver, record, addresses, include, verdict):
    zone.set("example.org", "TXT", record)
    result = await authorises(resolver, "example.org", addresses=addresses, include=include)
    assert result.verdict.value == verdict, result
    assert result.reason


@given(st.text(alphabet="v=spf1 %{}:/.-+~?ailncudexmptr4602[]@\x00é", max_size=60).map("v=spf1 ".__add__))
@example("v=spf1 ip4:1.2.3.4/" + "9" * 5_000)
@example("v=spf1 a:%{d" + "9" * 5_000 + "}.example")
@example("v=spf1 " + "a" * 5_000)
@example("v=spf1 a:" + "a-" * 2_000)
def test_any_text_is_a_record_or_a_permerror(text):
    try:
        record = parse(text)
    except SpfRecordBroken:
        return
    assert all(term.text in text for term in record.terms)
