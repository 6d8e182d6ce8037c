"""DKIM signatures, verified by dkimpy."""

import re
from base64 import b64decode
from datetime import UTC, datetime

import dkim as dkimpy
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from hypothesis import given, settings
from hypothesis import strategies as st

from postern.protocols.mail.address import parse_address
from postern.protocols.mail.dkim import (
    KeyUnusable,
    Signer,
    canonical_body,
    generate_ed25519,
    generate_rsa,
    key_record,
    load_key,
    sign,
)
from postern.protocols.mail.mime import Message, compose

RSA, ED25519 = generate_rsa(), generate_ed25519()
SIGNERS = [Signer.load("example.test", "one", RSA), Signer.load("example.test", "two", ED25519)]
RECORDS = {
    b"one._domainkey.example.test.": key_record(RSA).encode(),
    b"two._domainkey.example.test.": key_record(ED25519).encode(),
}
NOW = 1_770_000_000


def is_verified(raw: bytes, index: int) -> bool:
    try:
        return dkimpy.DKIM(raw).verify(idx=index, dnsfunc=lambda name, timeout=5: RECORDS.get(name))
    except dkimpy.DKIMException:
        return False


def composed_message(**changes) -> bytes:
    fields = {
        "from_": parse_address("Ünï <a@example.test>"),
        "to": [parse_address("b@example.test")],
        "subject": "Grüße  an   alle",
        "date": datetime(2026, 1, 31, tzinfo=UTC),
        "message_id": "<1@example.test>",
        "own_headers": [
            ("List-Unsubscribe", "<https://x.test/" + "a" * 200 + ">"),
            ("List-Unsubscribe-Post", "List-Unsubscribe=One-Click"),
        ],
        "text": "Hello\n",
        "html": "<p>Hello</p>",
    }
    return compose(Message(**{**fields, **changes}))


def test_both_signatures_verify_and_come_first():
    raw = sign(composed_message(), SIGNERS, now=NOW)
    assert raw.count(b"DKIM-Signature: ") == 2
    assert raw.startswith(b"DKIM-Signature: v=1; a=rsa-sha256; c=relaxed/relaxed;")
    assert is_verified(raw, 0)
    assert is_verified(raw, 1)
    assert max(map(len, raw.partition(b"\r\nFrom:")[0].split(b"\r\n"))) <= 90


@given(
    st.binary(max_size=300),
    st.lists(st.sampled_from([b"From", b"to", b"X-A", b"Subject", b"Cc"]), max_size=6),
)
@settings(max_examples=60, deadline=None)
def test_any_message_with_crlf_line_ends_verifies(body, fields):
    body = body.replace(b"\r", b"").replace(b"\n", b"\r\n").replace(b"\0", b"")
    # In SMTP every line ends with CRLF, the last one too (RFC 5321 §4.1.1.4).
    body = body and body + b"\r\n"
    head = b"".join(
        b"%s:  some \t text %d\r\n  folded \r\n" % (name, n) for n, name in enumerate(dict.fromkeys(fields))
    )
    if b"From" not in fields:
        head += b"From: a@example.test\r\n"
    raw = sign(head + b"\r\n" + body, SIGNERS, now=NOW)
    assert is_verified(raw, 0)
    assert is_verified(raw, 1)


def test_a_changed_octet_in_a_signed_part_fails():
    plain = composed_message()
    raw = sign(plain, SIGNERS, now=NOW)
    start = len(raw) - len(plain)
    for needle in (b"Hello", b"a@example", b"b@example", b"One-Click", b"2026", b"1@example", b"multipart"):
        offset = raw.find(needle, start)
        assert offset > 0, needle
        changed = raw[:offset] + bytes([raw[offset] ^ 1]) + raw[offset + 1 :]
        assert not is_verified(changed, 0), needle
        assert not is_verified(changed, 1), needle


@pytest.mark.parametrize(
    "name",
    ["From", "To", "Cc", "Subject", "Date", "Reply-To", "Message-ID", "List-Unsubscribe", "MIME-Version"],
)
def test_signed_fields_cannot_be_added_again(name):
    raw = sign(composed_message(), SIGNERS, now=NOW)
    assert not is_verified(f"{name}: added@example.test\r\n".encode() + raw, 0)


def test_whitespace_changes_by_relays_do_not_break_signatures():
    raw = sign(b"From: a@example.test\r\nSubject: a  b\r\n\r\nHello  you \r\n\r\n\r\n", SIGNERS, now=NOW)
    assert is_verified(
        raw.replace(b"Subject: a  b", b"subject:\r\n a\tb").replace(b"Hello  you \r\n\r\n\r\n", b"Hello you\r\n"),
        0,
    )


@pytest.mark.parametrize(
    ("body", "canonical"),
    [
        (b"", b""),
        (b"\r\n", b""),
        (b"\r\n\r\n", b""),
        (b"a", b"a\r\n"),
        (b"a \r\n", b"a\r\n"),
        (b" \r\n", b""),
        (b" C \r\nD \t E\r\n\r\n\r\n", b" C\r\nD E\r\n"),
        (b"a\t\r\nb ", b"a\r\nb\r\n"),
    ],
)
def test_body_canonicalization(body, canonical):
    assert canonical_body(body) == canonical


def canonical_body_by_rfc_6376(body):
    """RFC 6376 §3.4.4, line by line."""
    lines = [re.sub(rb"[ \t]+", b" ", re.sub(rb"[ \t]+\Z", b"", line)) for line in body.split(b"\r\n")]
    while lines and not lines[-1]:
        lines.pop()
    return b"".join(line + b"\r\n" for line in lines)


@given(st.lists(st.sampled_from([b" ", b"\t", b"\r\n", b"a", b"b=", b" c", b"d ", b"\xa0"]), max_size=25).map(b"".join))
@settings(max_examples=500, deadline=None)
def test_any_body_is_canonicalized_as_rfc_6376_defines(body):
    assert canonical_body(body) == canonical_body_by_rfc_6376(body)
    if body.strip(b" \t\r\n"):  # dkimpy adds a line to an empty body, and expects a line end at the end.
        complete = body + b"\r\n"
        assert canonical_body(complete) == dkimpy.canonicalization.Relaxed.canonicalize_body(complete)


def test_the_test_vector_of_rfc_8463():
    """Appendix A: the key and record given there, and the signature made with them."""
    key = Ed25519PrivateKey.from_private_bytes(b64decode("nWGxne/9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A="))
    assert key_record(key) == "v=DKIM1; k=ed25519; p=11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo="
    message = (
        b"DKIM-Signature: v=1; a=ed25519-sha256; c=relaxed/relaxed;\r\n"
        b" d=football.example.com; i=@football.example.com;\r\n"
        b" q=dns/txt; s=brisbane; t=1528637909; h=from : to :\r\n"
        b" subject : date : message-id : from : subject : date;\r\n"
        b" bh=2jUSOH9NhtVGCQWNr9BrIAPreKQjO6Sn7XIkfJVOzv8=;\r\n"
        b" b=/gCrinpcQOoIfuHNQIbq4pgh9kyIK3AQUdt9OdqQehSwhEIug4D11Bus\r\n"
        b" Fa3bT3FY5OsU7ZbnKELq+eXdp1Q1Dw==\r\n"
    )
    mail = (
        b"From: Joe SixPack <joe@football.example.com>\r\n"
        b"To: Suzie Q <suzie@shopping.example.net>\r\n"
        b"Subject: Is dinner ready?\r\n"
        b"Date: Fri, 11 Jul 2003 21:00:37 -0700 (PDT)\r\n"
        b"Message-ID: <20030712040037.46341.5F8J@football.example.com>\r\n"
        b"\r\n"
        b"Hi.\r\n\r\nWe lost the game.  Are you hungry yet?\r\n\r\nJoe.\r\n"
    )
    records = {b"brisbane._domainkey.football.example.com.": key_record(key).encode()}
    assert dkimpy.DKIM(message + mail).verify(dnsfunc=lambda name, timeout=5: records.get(name))
    signed = sign(mail, [Signer("football.example.com", "brisbane", key)], now=1528637909)
    assert b"bh=2jUSOH9NhtVGCQWNr9BrIAPreKQjO6Sn7XIkfJVOzv8=" in signed
    assert dkimpy.DKIM(signed).verify(dnsfunc=lambda name, timeout=5: records.get(name))


def test_keys_that_cannot_sign_are_refused():
    from cryptography.hazmat.primitives.asymmetric import ec, rsa
    from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

    small = rsa.generate_private_key(public_exponent=65537, key_size=1024)
    curve = ec.generate_private_key(ec.SECP256R1())
    for key in (small, curve):
        with pytest.raises(KeyUnusable):
            load_key(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    with pytest.raises(KeyUnusable):
        load_key(b"not a key")
    assert load_key(RSA) is load_key(RSA)
