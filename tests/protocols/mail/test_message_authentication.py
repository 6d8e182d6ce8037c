"""SPF, DKIM and DMARC of received messages, compared with a second implementation (authheaders, dkimpy, pyspf)."""

from functools import cache
from random import Random

import authheaders
import pytest
import spf as pyspf

from postern.protocols.mail.dkim import Signer, generate_rsa, key_record, sign
from postern.protocols.mail.message_authentication import (
    MessageAuthentication,
    authenticate,
    authentication_results,
    author_domains,
)
from tests.peers.dns_zone import DnsZone, dns_zone, hasty, patient

NOW = 1_770_000_000
KEYS = {"example.com": generate_rsa(), "news.example.com": generate_rsa(), "example.org": generate_rsa()}
ZONE = """
    example.com.              TXT v=spf1 ip4:192.0.2.0/28 include:_spf.provider.example -all
    _dmarc.example.com.       TXT v=DMARC1; p=reject
    example.com.              A   192.0.2.1
    news.example.com.         TXT v=spf1 mx ~all
    news.example.com.         MX  10 mx.news.example.com.
    mx.news.example.com.      A   192.0.2.40
    _spf.provider.example.     TXT v=spf1 ip4:198.51.100.0/24 ?all
    example.org.             TXT v=spf1 redirect=_spf.provider.example
    _dmarc.example.org.      TXT v=DMARC1; p=none; adkim=s; aspf=s
    sub.example.org.         TXT v=spf1 a:mx.news.example.com -all
    example.net.            TXT v=spf1 ip4:nonsense -all
    _dmarc.example.net.     TXT v=DMARC1; p=quarantine
    example.edu.              A   192.0.2.99
"""
DOMAINS = ["example.com", "news.example.com", "example.org", "sub.example.org", "example.net", "example.edu"]
CLIENTS = ["192.0.2.1", "192.0.2.40", "198.51.100.7", "203.0.113.9", "2001:db8::1"]


@pytest.fixture
async def zone():
    async with dns_zone(ZONE) as zone:
        for domain, key in KEYS.items():
            zone.add(f"one._domainkey.{domain}", "TXT", key_record(key))
        yield zone


def texts_of(zone: DnsZone, name: str) -> list[str]:
    """The TXT records of a name, as one string each."""
    records = zone.records.get((name.rstrip(".").lower(), "TXT"), [])
    return ["".join(record.split('"')[1::2]) for record in records]


def second_opinion(zone: DnsZone, message: bytes, address: str, mail_from: str) -> tuple[str, str, str, str]:
    """The results of SPF, DKIM and DMARC, and the DMARC policy, of the second implementation."""

    def lookup(name, timeout=5):
        texts = texts_of(zone, name.decode() if isinstance(name, bytes) else name)
        return (texts[0].encode() if isinstance(name, bytes) else texts[0]) if texts else None

    def spf_lookup(name, kind, *_args, **_options):
        records = zone.records.get((name.rstrip(".").lower(), kind), [])
        if kind == "TXT":
            return [((name, kind), (text.encode(),)) for text in texts_of(zone, name)]
        if kind == "MX":
            return [((name, kind), (int(value.split()[0]), value.split()[1])) for value in records]
        return [((name, kind), value) for value in records]

    original, pyspf.DNSLookup = pyspf.DNSLookup, spf_lookup
    try:
        spf_result = authheaders.check_spf(address, mail_from, "mail.client.example")
    finally:
        pyspf.DNSLookup = original
    dkim_result = authheaders.check_dkim(message, dnsfunc=lookup)
    dmarc = authheaders.check_dmarc(message, spf_result, dkim_result, dnsfunc=lookup)
    has_signature = b"DKIM-Signature:" in message
    return str(spf_result.result), str(dkim_result.result) if has_signature else "none", str(dmarc.result), dmarc.policy


def generated_message(random: Random) -> tuple[bytes, str, str]:
    """A message with its client's address and its envelope sender."""
    author = random.choice(DOMAINS)
    message = (
        f"From: {random.choice(['', 'Ada '])}<ada@{author}>\r\nTo: bob@receiver.example\r\n"
        f"Subject: {random.random()}\r\n\r\n{'Hello, world. ' * random.randint(0, 9)}\r\n"
    ).encode()
    if random.random() < 0.7:
        domain = random.choice(list(KEYS))
        message = sign(message, [Signer.load(domain, "one", KEYS[domain])], now=NOW)
        change = random.random()
        if change < 0.15:
            message += b"An advertisement.\r\n"
        elif change < 0.3:
            message = message.replace(b"Subject: 0", b"Subject: 1", 1)
        elif change < 0.4:
            message = message.replace(b"s=one", b"s=two", 1)
    return message, random.choice(CLIENTS), f"bounce@{random.choice([author, *DOMAINS])}"


def summary(results: MessageAuthentication) -> tuple[str, str, str, str]:
    dkim = str(results.dkim[0].verdict) if results.dkim else "none"
    return str(results.spf.verdict), dkim, results.dmarc.verdict, str(results.dmarc.policy or "")


async def test_results_of_a_thousand_messages_equal_those_of_a_second_implementation(zone, monkeypatch):
    cached = cache(authheaders.get_org_domain)  # It reads the whole public suffix list at every call.
    monkeypatch.setattr(authheaders, "get_org_domain", cached)
    monkeypatch.setattr(authheaders.dmarc_lookup, "get_org_domain", cached)
    random, resolver, seen = Random(8601), patient(zone, cache=True), set()
    for _ in range(1_000):
        message, address, mail_from = generated_message(random)
        results = await authenticate(
            resolver, message, address=address, ehlo="mail.client.example", mail_from=mail_from, now=NOW
        )
        spf, dkim, dmarc, policy = summary(results)
        expected = second_opinion(zone, message, address, mail_from)
        # The second implementation has only pass and fail for DKIM: a signature without a key is a failure there.
        dkim = "fail" if dkim == "permerror" else dkim
        assert (spf, dkim, dmarc, policy) == (*expected[:3], expected[3] or ""), (message, address, mail_from)
        seen.add((spf, dkim, dmarc))
    assert len(seen) > 20, "the messages must differ"


async def test_a_report_without_envelope_sender_is_checked_by_its_ehlo_name(zone):
    message = b"From: postmaster@news.example.com\r\n\r\n"
    results = await authenticate(
        patient(zone), message, address="192.0.2.40", ehlo="news.example.com", mail_from="", now=NOW
    )
    assert (results.spf.verdict, results.spf_domain, results.dmarc.verdict) == ("pass", "news.example.com", "pass")


async def test_the_header_field_names_each_result(zone):
    message = sign(b"From: ada@example.com\r\n\r\n", [Signer.load("example.com", "one", KEYS["example.com"])], now=NOW)
    results = await authenticate(
        patient(zone), message, address="203.0.113.9", ehlo="x", mail_from='"a b"@example.com', now=NOW
    )
    value = authentication_results(results, authserv_id="mx.postern.example", mail_from='"a\r\nX: b"@example.com')
    assert value.startswith('mx.postern.example; spf=fail smtp.mailfrom="\\"a??X: b\\"@example.com"; dkim=pass ')
    assert " header.d=example.com header.s=one header.b=" in value
    assert value.endswith("; dmarc=pass (p=reject) header.from=example.com")
    unsigned = await authenticate(
        patient(zone), b"\r\n\r\n", address="203.0.113.9", ehlo="x", mail_from="a@example.edu", now=NOW
    )
    value = authentication_results(unsigned, authserv_id="mx", mail_from="a@example.edu")
    assert value == 'mx; spf=none smtp.mailfrom="a@example.edu"; dkim=none; dmarc=permerror header.from=""'


async def test_a_failing_lookup_is_not_a_failed_authentication(zone):
    zone.servfail("example.com", "TXT")
    message = b"From: ada@example.com\r\n\r\n"
    arguments = {"address": "192.0.2.1", "ehlo": "x", "mail_from": "ada@example.com", "now": NOW}
    assert summary(await authenticate(hasty(zone), message, **arguments))[::2] == ("temperror", "temperror")
    zone.heal()
    zone.servfail("_dmarc.example.com", "TXT")
    assert summary(await authenticate(hasty(zone), message, **arguments)) == ("pass", "none", "temperror", "")


async def test_the_policy_for_domains_that_do_not_exist(zone):
    zone.set("_dmarc.example.com", "TXT", "v=DMARC1; p=none; sp=quarantine; np=reject")
    for domain, policy in (
        ("example.com", "none"),
        ("news.example.com", "quarantine"),
        ("no.example.com", "reject"),
    ):
        message = f"From: ada@{domain}\r\n\r\n".encode()
        results = await authenticate(
            patient(zone), message, address="203.0.113.9", ehlo="x", mail_from="a@example.edu", now=NOW
        )
        assert (results.dmarc.verdict, results.dmarc.policy) == ("fail", policy)


@pytest.mark.parametrize(
    ("fields", "domains"),
    [
        (b"From: Ada <ada@Example.Com>", ["example.com"]),
        (b"From: ada@example.com, bob@example.org", ["example.com", "example.org"]),
        (b'From: "eve@evil.example" <ada@example.com>', ["example.com"]),
        (b"From: =?utf-8?q?=3Ceve=40evil.example=3E?= <ada@example.com>", ["example.com"]),
        ("From: ada@bücher.example".encode(), ["xn--bcher-kva.example"]),
        (b"From: a@example.com\r\nFrom: b@example.org", []),
        (b"From: Ada", []),
        (b"From: ada@", []),
        (b"From:" + b" x" * 3_000 + b" <a@example.com>", []),
        (b"To: ada@example.com", []),
    ],
)
def test_author_domains(fields, domains):
    assert author_domains(fields + b"\r\n\r\nFrom: body@body.example\r\n") == domains
