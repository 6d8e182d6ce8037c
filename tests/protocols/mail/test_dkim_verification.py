"""DKIM verification, compared with dkimpy."""

import re
from base64 import b64encode

import dkim as dkimpy
import pytest
from cryptography.hazmat.primitives.asymmetric.rsa import generate_private_key
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from postern.protocols.mail import dkim_verification
from postern.protocols.mail.dkim import Signer, generate_ed25519, generate_rsa, key_record, sign
from postern.protocols.mail.dkim_verification import MAX_FIELDS, MAX_HEADER, DkimVerdict, header_fields, verify
from tests.peers.dns_zone import dns_zone, hasty, patient

RSA, ED25519 = generate_rsa(), generate_ed25519()
RSA_1024 = generate_private_key(public_exponent=65537, key_size=1_024)
NOW = 1_770_000_000
MESSAGE = (
    b"From: Ada <ada@example.test>\r\nTo: bob@example.net\r\nSubject:  Hello \t there\r\n  folded\r\nX-Empty:\r\n"
    b"\r\nHello,\r\n\r\nthis is  a \t message. \r\n..\r\n\r\n\r\n"
)


def pem_of(key) -> bytes:
    return key.private_bytes(Encoding.PEM, PrivateFormat.TraditionalOpenSSL, NoEncryption())


@pytest.fixture
async def zone():
    async with dns_zone() as zone:
        zone.add("rsa._domainkey.example.test", "TXT", key_record(RSA))
        zone.add("ed._domainkey.example.test", "TXT", key_record(ED25519))
        yield zone


def signed_by_dkimpy(message: bytes = MESSAGE, *, canonicalize=(b"relaxed", b"simple"), **options) -> bytes:
    options = {"include_headers": [b"from", b"to", b"subject", b"x-empty", b"from"], **options}
    signature = dkimpy.sign(message, b"rsa", b"example.test", RSA, canonicalize=canonicalize, **options)
    return signature + message


async def verdict_of(zone, message: bytes, now: int = NOW) -> tuple[DkimVerdict, str]:
    (result,) = await verify(patient(zone), message, now=now)
    return result.verdict, result.reason


async def test_both_algorithms_pass(zone):
    signers = [Signer.load("example.test", "rsa", RSA), Signer.load("example.test", "ed", ED25519)]
    results = await verify(patient(zone), sign(MESSAGE, signers, now=NOW), now=NOW)
    assert [(result.verdict, result.algorithm, result.reason) for result in results] == [
        (DkimVerdict.PASS, "rsa-sha256", ""),
        (DkimVerdict.PASS, "ed25519-sha256", ""),
    ]
    assert [(result.domain, result.selector, len(result.signature)) for result in results] == [
        ("example.test", "rsa", 8),
        ("example.test", "ed", 8),
    ]
    assert await verify(patient(zone), MESSAGE, now=NOW) == []


@pytest.mark.parametrize("headers", [b"simple", b"relaxed"])
@pytest.mark.parametrize("body", [b"simple", b"relaxed"])
@pytest.mark.parametrize("content", [b"", b"\r\n\r\n", b"x", b"x  \r\n", b"\t\r\nx\r\n", b" \r\n\r\n"])
async def test_every_canonicalization_of_another_signer_passes(zone, headers, body, content):
    message = signed_by_dkimpy(MESSAGE.partition(b"Hello,")[0] + content, canonicalize=(headers, body))
    assert await verdict_of(zone, message) == (DkimVerdict.PASS, "")


async def test_changes_of_the_message_are_detected(zone):
    message = signed_by_dkimpy()
    body_changed, header_changed = message.replace(b"this is", b"that is"), message.replace(b"Ada", b"Eve")
    assert (await verdict_of(zone, body_changed))[0] == DkimVerdict.FAIL
    assert "body" in (await verdict_of(zone, body_changed))[1]
    assert (await verdict_of(zone, header_changed))[0] == DkimVerdict.FAIL
    assert (await verdict_of(zone, message.replace(b"\r\nTo:", b"\r\nFrom: eve@example.org\r\nTo:")))[0] == "fail"
    # Relaxed canonicalization of the header ignores how it is folded.
    assert (await verdict_of(zone, message.replace(b"Subject:  Hello", b"SUBJECT:Hello")))[0] == DkimVerdict.PASS


async def test_a_signature_of_a_part_of_the_body_says_so(zone):
    message = signed_by_dkimpy(length=True) + b"added"
    assert await verdict_of(zone, message) == (DkimVerdict.PASS, "The last 11 octets of the body are not signed.")
    longer = re.sub(rb"l=\d+", b"l=9999", message)
    assert (await verdict_of(zone, longer))[0] == DkimVerdict.PERMERROR


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        (b"v=1;", b"v=2;", "version 2"),
        (b"a=rsa-sha256", b"a=rsa-sha1", "RFC 8301"),
        (b"d=example.test", b"d=", "no tag `d`"),
        (b"d=example.test", b"d=exa mple.test", "not a domain name"),
        (b"i=@example.test", b"i=ada@example.org", "domain of `i`"),
        (b"s=rsa", b"s=missing", "no key at missing._domainkey.example.test"),
        (rb"h=[^;]*;", b"h=to : subject;", "field From"),
        (b"q=dns/txt", b"q=dns/other", "not published in the DNS"),
        (b"t=", b"x=1; t=", "expires before"),
        (b"t=", b"l=-1; t=", "not a number"),
        (b"bh=", b"bh=%", "not base64"),
        (b"c=relaxed/simple", b"c=relaxed/other", "canonicalization"),
        (b"s=rsa", b"s=rsa; s=rsa", "more than once"),
        (b"s=rsa", b"s=rsa; x=\xff", "not ASCII"),
    ],
)
async def test_a_signature_that_cannot_be_used_says_why(zone, old, new, reason):
    changed, count = re.subn(old, new, signed_by_dkimpy(), count=1)
    assert count == 1
    verdict, signatures = await verdict_of(zone, changed)
    assert (verdict, reason in signatures) == (DkimVerdict.PERMERROR, True), signatures


async def test_an_expired_signature_fails(zone):
    raw = sign(MESSAGE, [Signer.load("example.test", "rsa", RSA)], now=NOW).replace(
        f"t={NOW}".encode(), f"t={NOW}; x={NOW + 10}".encode()
    )
    assert await verdict_of(zone, raw, NOW + 11) == (DkimVerdict.FAIL, "The signature has expired.")


@pytest.mark.parametrize(
    ("record", "reason"),
    [
        ("v=DKIM1; k=rsa; p=", "revoked"),
        ("v=DKIM1; k=rsa", "no tag `p`"),
        ("v=DKIM1; k=ed25519; p=AAAA", "another type"),
        ("v=DKIM2; k=rsa; p=AAAA", "v=DKIM1"),
        ("v=DKIM1; h=sha1; p=AAAA", "sha256"),
        ("v=DKIM1; s=other; p=AAAA", "not for e-mail"),
        ("v=DKIM1; k=rsa; p=AAAA", "not a public key"),
        ("v=DKIM1; k=rsa; p=%%%", "not base64"),
        ("nonsense", "malformed"),
    ],
)
async def test_a_key_that_cannot_be_used_says_why(zone, record, reason):
    zone.set("rsa._domainkey.example.test", "TXT", record)
    verdict, signatures = await verdict_of(zone, signed_by_dkimpy())
    assert (verdict, reason in signatures) == (DkimVerdict.PERMERROR, True), signatures


async def test_a_key_with_the_flag_s_is_not_for_subdomains(zone):
    zone.set("rsa._domainkey.example.test", "TXT", key_record(RSA).replace("k=rsa", "t=s; k=rsa"))
    assert (await verdict_of(zone, signed_by_dkimpy()))[0] == DkimVerdict.PASS
    verdict, reason = await verdict_of(zone, signed_by_dkimpy(identity=b"ada@sub.example.test"))
    assert (verdict, reason) == (DkimVerdict.PERMERROR, "The key must not be used for subdomains.")


async def test_keys_are_accepted_by_their_size_and_in_both_encodings(zone):
    encoded = RSA_1024.public_key().public_bytes(Encoding.DER, PublicFormat.PKCS1)
    zone.set("rsa._domainkey.example.test", "TXT", f"p={b64encode(encoded).decode()}")
    signature = dkimpy.sign(MESSAGE, b"rsa", b"example.test", pem_of(RSA_1024))
    assert (await verdict_of(zone, signature + MESSAGE))[0] == DkimVerdict.PASS


async def test_rsa_keys_below_1024_bits_are_not_accepted(zone, monkeypatch):
    monkeypatch.setattr(dkim_verification, "MIN_RSA_BITS", 4_096)
    verdict, reason = await verdict_of(zone, signed_by_dkimpy())
    assert (verdict, reason) == (DkimVerdict.PERMERROR, "An RSA key of 2048 bits is not accepted.")


async def test_a_failing_lookup_is_temporary(zone):
    zone.servfail("rsa._domainkey.example.test")
    (result,) = await verify(hasty(zone), signed_by_dkimpy(), now=NOW)
    assert (result.verdict, result.domain) == (DkimVerdict.TEMPERROR, "example.test")


async def test_only_the_first_signatures_are_verified(zone):
    one = sign(MESSAGE, [Signer.load("example.test", "rsa", RSA)], now=NOW).removesuffix(MESSAGE)
    results = await verify(patient(zone), one * 100 + MESSAGE, now=NOW)
    assert [result.verdict for result in results] == [DkimVerdict.PASS] * dkim_verification.MAX_SIGNATURES


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(field=st.binary(max_size=300), rest=st.binary(max_size=300))
async def test_no_message_raises(zone, field, rest):
    await verify(hasty(zone), b"DKIM-Signature:" + field + b"\r\n" + rest, now=NOW)
    await verify(hasty(zone), rest + b"\r\n\r\n" + field, now=NOW)


def test_a_header_beyond_its_limits_has_no_fields():
    field = b"a: 1\r\n"
    assert len(header_fields(field * (MAX_FIELDS - 1) + b"b: 2")) == MAX_FIELDS
    assert header_fields(field * MAX_FIELDS + b"b: 2") == []
    assert header_fields(b"a: " + b"1" * MAX_HEADER) == []


def test_header_fields_keep_their_folding():
    fields = header_fields(b"A: 1\r\n\t2\r\nnot a field\r\nB : \r\n: x")
    assert fields == [(b"a", b"A: 1\r\n\t2"), (b"b", b"B : ")]
