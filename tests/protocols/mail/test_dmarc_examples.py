"""DMARC on the examples of RFC 7489, appendix B, and of RFC 9989, appendix B, as received messages.

RFC 9989 keeps the examples of RFC 7489 on alignment and records and adds those on tree walks (B.4). Each message has
valid signatures, and its SPF passes for the sender that the example names.
"""

import pytest

from postern.protocols.mail.dkim import Signer, generate_ed25519, key_record, sign
from postern.protocols.mail.dmarc import Policy, discover, organizational_domain, parse, walk
from postern.protocols.mail.message_authentication import authenticate
from tests.peers.dns_zone import dns_zone, patient

NOW = 1_770_000_000
KEY = generate_ed25519()


@pytest.fixture
async def zone():
    async with dns_zone() as zone:
        yield zone


async def result_of(zone, *, author: str, mail_from: str | None = None, signed_by: str | None = None):
    """The DMARC result of a message; SPF passes for the domain `mail_from`, and DKIM for `signed_by`."""
    message = (
        f"From: sender@{author}\r\nDate: Fri, 15 Feb 2002 16:54:30 -0800\r\nTo: receiver@example.org\r\n"
        "Subject: here's a sample\r\n\r\nBody\r\n"
    ).encode()
    if signed_by:
        zone.set(f"one._domainkey.{signed_by}", "TXT", key_record(KEY))
        message = sign(message, [Signer.load(signed_by, "one", KEY)], now=NOW)
    if mail_from:
        zone.set(mail_from, "TXT", "v=spf1 ip4:192.0.2.1 -all")
    sender = f"sender@{mail_from or 'other.test'}"
    results = await authenticate(patient(zone), message, address="192.0.2.1", ehlo="mx.test", mail_from=sender, now=NOW)
    assert results.spf.verdict == ("pass" if mail_from else "none")
    assert [result.verdict for result in results.dkim] == (["pass"] if signed_by else [])
    return results.dmarc


ALIGNMENT = [
    # RFC 7489 and 9989, B.1.1: SPF; the domain of MAIL FROM, that of the author, and the result in strict mode.
    ("mail_from", "example.com", "example.com", "pass", "pass"),
    ("mail_from", "child.example.com", "example.com", "pass", "fail"),
    ("mail_from", "example.net", "child.example.com", "fail", "fail"),
    # B.1.2: DKIM; the domain `d=`.
    ("signed_by", "example.com", "example.com", "pass", "pass"),
    ("signed_by", "example.com", "child.example.com", "pass", "fail"),
    ("signed_by", "example.net", "child.example.com", "fail", "fail"),
    ("signed_by", "sample.net", "child.example.com", "fail", "fail"),  # as in RFC 7489
]


@pytest.mark.parametrize(("identifier", "domain", "author", "relaxed", "strict"), ALIGNMENT)
async def test_examples_of_alignment(zone, identifier, domain, author, relaxed, strict):
    for name in ("example.com", "example.net", "sample.net"):
        zone.add(f"_dmarc.{name}", "TXT", "v=DMARC1; p=reject")
    assert (await result_of(zone, author=author, **{identifier: domain})).verdict == relaxed
    zone.set("_dmarc.example.com", "TXT", "v=DMARC1; p=reject; aspf=s; adkim=s")
    assert (await result_of(zone, author=author, **{identifier: domain})).verdict == strict


THIRD_PARTY = "v=DMARC1; p=none; rua=mailto:dmarc-feedback@example.com; ruf=mailto:auth-reports@thirdparty.example.net"
TESTING = "rua=mailto:dmarc-feedback@example.com,mailto:tld-test@thirdparty.example.net"
RECORDS = [
    # B.2.1 to B.2.3 of both, and the authorization of a third party, which is a record of only a version.
    ("v=DMARC1; p=none; rua=mailto:dmarc-feedback@example.com", "none", ["dmarc-feedback@example.com"], []),
    ("v=DMARC1; p=none; rua=mailto:dmarc-feedback@example.com; ruf=mailto:auth-reports@example.com",
     "none", ["dmarc-feedback@example.com"], ["auth-reports@example.com"]),
    (THIRD_PARTY, "none", ["dmarc-feedback@example.com"], ["auth-reports@thirdparty.example.net"]),
    ("v=DMARC1;", "none", [], []),
    ("v=DMARC1", "none", [], []),
    # RFC 9989, B.2.4: the third party names other addresses.
    ("v=DMARC1; rua=mailto:aggregate-reports@thirdparty.example.net; ruf=mailto:failure-reports@thirdparty.example.net",
     "none", ["aggregate-reports@thirdparty.example.net"], ["failure-reports@thirdparty.example.net"]),
    # RFC 7489, B.2.4: the size limit and `pct` are ignored (RFC 9989 §4.7); RFC 9989, B.2.5, with the test mode.
    ("v=DMARC1; p=quarantine; rua=mailto:dmarc-feedback@example.com,mailto:tld-test@thirdparty.example.net!10m; pct=25",
     "quarantine", ["dmarc-feedback@example.com", "tld-test@thirdparty.example.net"], []),
    (f"v=DMARC1; p=quarantine; {TESTING}; t=y", "none",
     ["dmarc-feedback@example.com", "tld-test@thirdparty.example.net"], []),
    (f"v=DMARC1; p=reject; {TESTING}", "reject", ["dmarc-feedback@example.com", "tld-test@thirdparty.example.net"], []),
]  # fmt: skip


@pytest.mark.parametrize(("text", "policy", "aggregate", "failures"), RECORDS)
async def test_examples_of_records(zone, text, policy, aggregate, failures):
    record = parse(text)
    assert record is not None
    assert (list(record.rua), list(record.ruf)) == (aggregate, failures)
    zone.add("_dmarc.test.example.com", "TXT", text)
    discovered = await discover(patient(zone), "test.example.com")
    assert discovered is not None
    assert discovered.policy == policy


async def test_the_example_of_a_session(zone):
    """B.3.1: SPF has passed for mail.example.com and DKIM for example.com."""
    zone.add("_dmarc.example.com", "TXT", "v=DMARC1; p=reject; aspf=r; rua=mailto:dmarc-feedback@example.com")
    sent = {"mail_from": "mail.example.com", "signed_by": "example.com"}
    assert (await result_of(zone, author="example.com", **sent)).verdict == "pass"
    failed = await result_of(zone, author="example.com")
    assert (failed.verdict, failed.policy) == ("fail", Policy.REJECT)


async def queried(zone, domain: str) -> tuple[str, list[str]]:
    """The organizational domain of `domain`, and the names that were queried for it."""
    zone.queries.clear()
    organization = organizational_domain(domain, await walk(patient(zone), domain))
    return organization, [query.name for query in zone.queries]


async def test_the_simple_example_of_a_tree_walk(zone):
    """RFC 9989, B.4.1."""
    zone.add("_dmarc.example.com", "TXT", "v=DMARC1; p=reject")
    zone.add("_dmarc.signing.example.com", "TXT", "v=DMARC1; p=none")
    assert await queried(zone, "example.com") == ("example.com", ["_dmarc.example.com", "_dmarc.com"])
    assert await queried(zone, "signing.example.com") == (
        "example.com",
        ["_dmarc.signing.example.com", "_dmarc.example.com", "_dmarc.com"],
    )
    assert (await result_of(zone, author="example.com", mail_from="example.com")).verdict == "pass"
    assert (await result_of(zone, author="example.com", signed_by="signing.example.com")).verdict == "pass"
    assert (await result_of(zone, author="example.com")).policy == "reject"


async def test_the_deep_example_of_a_tree_walk(zone):
    """RFC 9989, B.4.2."""
    zone.add("_dmarc.example.com", "TXT", "v=DMARC1; p=reject")
    zone.add("_dmarc.signing.example.com", "TXT", "v=DMARC1; p=none")
    author = "a.b.c.d.e.f.g.h.i.j.k.example.com"
    names = ["g.h.i.j.k.example.com", "h.i.j.k.example.com", "i.j.k.example.com", "j.k.example.com", "k.example.com"]
    assert await queried(zone, author) == (
        "example.com",
        [f"_dmarc.{name}" for name in (author, *names, "example.com", "com")],
    )
    assert (await result_of(zone, author=author, mail_from="example.com")).verdict == "pass"
    assert (await result_of(zone, author=author, signed_by="signing.example.com")).verdict == "pass"
    failed = await result_of(zone, author=author)
    assert (failed.verdict, failed.policy) == ("fail", Policy.REJECT)


async def test_the_example_of_a_public_suffix(zone):
    """RFC 9989, B.4.3."""
    zone.add("_dmarc.bank.example", "TXT", "v=DMARC1; p=none; psd=y")
    zone.add("_dmarc.giant.bank.example", "TXT", "v=DMARC1; p=reject")
    expected = {
        "giant.bank.example": "giant.bank.example",
        "mail.giant.bank.example": "giant.bank.example",
        "mail.mega.bank.example": "mega.bank.example",
    }
    for domain, organization in expected.items():
        policy, names = await queried(zone, domain)
        assert (policy, names[-1]) == (organization, "_dmarc.bank.example"), "The walk ends at psd=y."
    author = "giant.bank.example"
    assert (await result_of(zone, author=author, mail_from="mail.giant.bank.example")).verdict == "pass"
    failed = await result_of(zone, author=author, signed_by="mail.mega.bank.example")
    assert (failed.verdict, failed.policy) == ("fail", Policy.REJECT)
