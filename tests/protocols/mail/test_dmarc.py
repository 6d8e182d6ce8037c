"""DMARC (RFC 9989): the tree walk, records, policies, and alignment."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from postern.protocols.mail.dmarc import (
    DmarcRecord,
    Policy,
    PublicSuffix,
    TreeWalkRecord,
    discover,
    names_walked,
    organizational_domain,
    parse,
    walk,
)
from postern.protocols.mail.dns import DnsUnavailable
from tests.peers.dns_zone import dns_zone, hasty, patient


@pytest.fixture
async def zone():
    async with dns_zone("example.com. A 192.0.2.1") as zone:
        yield zone


@pytest.fixture
def resolver(zone):
    return patient(zone)


PARSED = [
    ("v=DMARC1; p=reject", {"p": Policy.REJECT}),
    ("v=DMARC1;p=none;", {"p": Policy.NONE}),
    ("v=DMARC1", {}),
    ("v=DMARC1; rua=mailto:a@example.com", {"rua": ("a@example.com",)}),
    ("v=DMARC1; sp=reject", {"p": Policy.NONE, "sp": Policy.REJECT}),
    ("v=DMARC1; p=Quarantine; SP=None; np=reject", {"p": "quarantine", "sp": "none", "np": "reject"}),
    ("v=DMARC1; rua=mailto:a@x.example!10m, https://b, mailto:c@y", {"rua": ("a@x.example", "c@y")}),
    ("v=DMARC1; p=reject; adkim=s; aspf=s", {"p": "reject", "adkim": "s", "aspf": "s"}),
    ("v=DMARC1; p=reject; psd=y; t=y", {"p": "reject", "psd": "y", "t": True}),
    ("v = DMARC1 ; p = reject ", {"p": "reject"}),
    ("v=DMARC1; colour=blue; p=reject; pct=50; rf=afrf; ri=1", {"p": "reject"}),
    ("v=DMARC1; p=reject; p=none", {"p": "reject"}),
    ("v=DMARC1; p=delete; adkim=x; psd=maybe; t=2", {}),
    ("v=DMARC1; ;;=;p", {}),
]


@pytest.mark.parametrize(("text", "fields"), PARSED)
def test_records_are_parsed_leniently(text, fields):
    assert parse(text) == DmarcRecord(**fields, text=text)


@pytest.mark.parametrize(
    "text",
    ["", "p=reject; v=DMARC1", "v=dmarc1; p=reject", "v=DMARC2; p=none", "v=DMARC1 p=none", "v=spf1 -all"],
)
def test_a_record_without_the_exact_version_is_ignored(text):
    assert parse(text) is None


@given(st.text(max_size=80).map("v=DMARC1;".__add__))
def test_any_text_after_the_version_is_a_record(text):
    assert parse(text) is not None


def test_a_tree_walk_queries_at_most_eight_names():
    assert names_walked("example.com") == ["example.com", "com"]
    assert names_walked("A.example.com.") == ["a.example.com", "example.com", "com"]
    assert names_walked("a.b.c.d.e.f.g.h.i.j.mail.example.com") == [
        "a.b.c.d.e.f.g.h.i.j.mail.example.com",
        "g.h.i.j.mail.example.com",
        "h.i.j.mail.example.com",
        "i.j.mail.example.com",
        "j.mail.example.com",
        "mail.example.com",
        "example.com",
        "com",
    ]
    assert len(names_walked("a.b.c.d.e.f.g.example")) == 8


async def test_a_tree_walk_queries_each_name_once(zone, resolver):
    await walk(resolver, "a.b.c.d.e.f.g.h.i.j.mail.example.com")
    assert len(zone.queries) == 8
    assert set(zone.counts().values()) == {1}


ORGANIZATIONS = [
    # records by name, queried domain, its organizational domain (RFC 9989 §4.10.2 and appendix B)
    ({}, "mail.example.com", "mail.example.com"),
    ({"example.com": "p=none"}, "mail.example.com", "example.com"),
    ({"mail.example.com": "p=none", "example.com": "p=none"}, "mail.example.com", "example.com"),
    ({"mail.example.com": "p=none"}, "a.mail.example.com", "mail.example.com"),
    ({"mail.example.com": "p=none; psd=n", "example.com": "p=none"}, "a.mail.example.com",
     "mail.example.com"),
    ({"com": "p=reject; psd=y"}, "a.mail.example.com", "example.com"),
    ({"giant.bank.example": "p=reject", "bank.example": "p=reject; psd=y"}, "mail.giant.bank.example",
     "giant.bank.example"),
    ({"bank.example": "p=reject; psd=y"}, "bank.example", "bank.example"),
    ({"bank.example": "p=reject; psd=y", "example": "p=none"}, "bank.example", "bank.example"),
]  # fmt: skip


@pytest.mark.parametrize(("records", "domain", "expected"), ORGANIZATIONS)
async def test_the_organizational_domain(zone, resolver, records, domain, expected):
    for name, tags in records.items():
        zone.add(f"_dmarc.{name}", "TXT", f"v=DMARC1; {tags}")
    assert organizational_domain(domain, await walk(resolver, domain)) == expected


POLICIES = [
    ({"example.com": "p=reject"}, "example.com", ("example.com", Policy.REJECT)),
    ({"example.com": "p=reject"}, "mail.example.com", ("example.com", Policy.REJECT)),
    ({"example.com": "p=reject; sp=none"}, "mail.example.com", ("example.com", Policy.NONE)),
    ({"example.com": "p=reject; t=y"}, "example.com", ("example.com", Policy.QUARANTINE)),
    ({"example.com": "p=reject", "mail.example.com": "p=quarantine"}, "mail.example.com",
     ("mail.example.com", Policy.QUARANTINE)),
    ({"com": "p=reject; psd=y"}, "mail.example.com", ("com", Policy.REJECT)),
    ({"com": "p=reject; psd=y", "example.com": "p=none"}, "mail.example.com", ("example.com", Policy.NONE)),
    ({"example.com": "rua=mailto:a@example.com"}, "example.com", ("example.com", Policy.NONE)),
    # The record of a domain between the queried and the organizational domain is not used.
    ({"b.example.com": "p=reject", "example.com": "p=none"}, "a.b.example.com", ("example.com", Policy.NONE)),
]  # fmt: skip


@pytest.mark.parametrize(("records", "domain", "expected"), POLICIES)
async def test_the_policy_that_applies(zone, resolver, records, domain, expected):
    for name, tags in records.items():
        zone.add(f"_dmarc.{name}", "TXT", f"v=DMARC1; {tags}")
    discovery = await discover(resolver, domain)
    assert (discovery.domain, discovery.policy) == expected


async def test_no_record_and_several_records_mean_no_policy(zone, resolver):
    assert await discover(resolver, "example.com") is None
    zone.add("_dmarc.example.com", "TXT", "v=DMARC1; p=reject", "v=DMARC1; p=none")
    assert await discover(resolver, "example.com") is None
    zone.set("_dmarc.example.com", "TXT", "v=DMARC1; p=reject", "unrelated")
    assert (await discover(resolver, "example.com")).policy is Policy.REJECT


@pytest.mark.parametrize("fault", ["servfail", "silence"])
async def test_a_failed_lookup_is_not_an_absent_record(zone, resolver, fault):
    zone.add("_dmarc.example.com", "TXT", "v=DMARC1; p=reject")
    getattr(zone, fault)("_dmarc.mail.example.com")
    with pytest.raises(DnsUnavailable):
        await discover(hasty(zone) if fault == "silence" else resolver, "mail.example.com")


def test_psd_records_determine_the_organizational_domain():
    walked = [TreeWalkRecord("co.example", DmarcRecord(psd=PublicSuffix.YES))]
    assert organizational_domain("a.b.c.co.example", walked) == "c.co.example"
