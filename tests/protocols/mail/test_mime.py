"""Composed messages, checked with two independent parsers."""

import re
from datetime import UTC, datetime
from email.parser import BytesParser
from email.policy import compat32, default
from unicodedata import normalize

import mailparser
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from postern.protocols.mail.address import Address, HeaderInvalid, parse_address
from postern.protocols.mail.mime import (
    Attachment,
    AttachmentInvalid,
    Message,
    MessageTooLarge,
    check_attachments,
    check_headers,
    compose,
)

AT = datetime(2026, 1, 31, 12, 0, 5, tzinfo=UTC)


def message(**changes) -> Message:
    fields = {
        "from_": parse_address("Postern <post@example.test>"),
        "to": [parse_address("ada@example.test")],
        "subject": "Hello",
        "date": AT,
        "message_id": "<01@example.test>",
        "text": "Hello\n",
        "html": "<p>Hello</p>",
    }
    return Message(**{**fields, **changes})


def parse(raw: bytes):
    check_lines(raw)
    return BytesParser(policy=default).parsebytes(raw)


def check_lines(raw: bytes) -> None:
    """Lines end with CRLF, have no NUL, and are at most 998 octets long (RFC 5321 §2.3.8, RFC 5322 §2.1.1)."""
    assert raw.endswith(b"\r\n")
    assert not re.search(rb"(?<!\r)\n|\r(?!\n)|\x00", raw)
    assert max(map(len, raw.split(b"\r\n"))) <= 998
    assert raw.partition(b"\r\n\r\n")[2].isascii()


def body_text(mail, kind):
    return mail.get_body(preferencelist=(kind,)).get_content().replace("\r\n", "\n")


SUBJECTS = st.text(st.characters(exclude_categories=("Cc", "Cs", "Zl", "Zp")), max_size=150)
BODIES = st.text(st.characters(exclude_categories=("Cs",)), max_size=400)


@given(SUBJECTS, BODIES, BODIES)
@settings(max_examples=200)
def test_every_subject_and_body_arrives_unchanged(subject, text, html):
    raw = compose(message(subject=subject, text=text, html=html))
    mail = parse(raw)
    for line in raw.partition(b"\r\n\r\n")[0].split(b"\r\n"):
        assert len(line) <= 78 or b"=?" not in line
    # The standard library drops a space after an encoded-word, so spaces are not compared.
    assert "".join(mail["subject"].split()) == "".join(subject.split())
    for kind, sent in (("plain", text), ("html", html)):
        assert body_text(mail, kind) == sent.replace("\x00", "").replace("\r\n", "\n").replace("\r", "\n")


PIECES = st.sampled_from(
    ["a", "=", ".", " ", "\t", "\n", "\r\n", "é", "€", "\x1b", "From ", "x" * 70, "y" * 300, "  ", "--=_alternative"]
)
TEXTS = st.lists(PIECES, max_size=60).map("".join)


@given(TEXTS, st.none() | TEXTS)
@settings(max_examples=500)
def test_encoded_text_decodes_to_the_original_with_short_lines(text, html):
    """Regression test of M17 (tests/defects.md)."""
    raw = compose(message(text=text, html=html))
    check_lines(raw)
    # The policy `compat32` returns the original octets; `default` would normalize them.
    mail = BytesParser(policy=compat32).parsebytes(raw)
    parts = mail.get_payload() if html is not None else [mail]
    originals = [text, html] if html is not None else [text]
    for part, expected in zip(parts, originals, strict=True):
        encoding = part["Content-Transfer-Encoding"]
        decoded = part.get_payload(decode=True).decode().replace("\r\n", "\n")
        expected = expected.replace("\r\n", "\n")
        if html is None and encoding != "base64" and not expected.endswith("\n") and expected:
            expected += "\n"
        assert decoded == expected
        lines = part.get_payload().replace("\r\n", "\n").split("\n")
        if encoding == "7bit":
            assert expected.isascii()
        else:
            assert max(map(len, lines)) <= 76
        assert not [line for line in lines if line.startswith("From ") or line == "." or line.endswith((" ", "\t"))]


@given(SUBJECTS)
def test_a_second_parser_agrees(subject):
    subject = " ".join(subject.split())
    parsed = mailparser.parse_from_bytes(compose(message(subject=subject)))
    # mailparser returns text in Unicode normalization form C.
    assert "".join((parsed.subject or "").split()) == normalize("NFC", "".join(subject.split()))
    assert parsed.from_ == [("Postern", "post@example.test")]
    assert [text.strip() for text in parsed.text_plain] == ["Hello"]


def test_text_comes_before_html_and_both_are_safe_for_seven_bits():
    mail = parse(compose(message(text="Grüße 👋", html="<p>Grüße 👋</p>")))
    assert mail.get_content_type() == "multipart/alternative"
    assert [part.get_content_type() for part in mail.iter_parts()] == ["text/plain", "text/html"]
    assert {part["content-transfer-encoding"] for part in mail.iter_parts()} == {"base64"}
    assert mail["date"].datetime == AT


def test_one_body_needs_no_multipart():
    assert parse(compose(message(html=None))).get_content_type() == "text/plain"
    assert parse(compose(message(text=None))).get_content_type() == "text/html"
    assert parse(compose(message(text=None, html=None))).get_content().strip() == ""


@pytest.mark.parametrize(
    "subject",
    [
        "=?utf-8?q?a=0ABcc:_e@x.y?=",
        "=?utf-8?b?CkJjYzogZUB4Lnk=?=",
        "a =?us-ascii?q?=0d=0aBcc:_e@x.test?= b",
        "=?",
    ],
)
def test_text_that_looks_like_an_encoded_word_arrives_unchanged(subject):
    raw = compose(message(subject=subject, headers=[("X-Note", subject)]))
    mail = parse(raw)
    assert mail["subject"] == subject
    assert mail["x-note"] == subject
    assert mail["bcc"] is None
    assert b"\nBcc" not in raw


LINE_BREAKS = [
    "\r\nBcc: evil@x.test",
    "\nBcc: e@x.test",
    "\r",
    "\x00",
    "\x0b",
    "\x1c",
    "\x85",
    "\u2028",
    "\u2029",
    "\ud800",
]


@pytest.mark.parametrize("line_break", LINE_BREAKS)
@pytest.mark.parametrize(
    "inject",
    [
        lambda bad: {"subject": "Hi" + bad},
        lambda bad: {"message_id": f"<a{bad}@b.test>"},
        lambda bad: {"headers": [("X-Note", "a" + bad)]},
        lambda bad: {"headers": [("X-No" + bad, "a")]},
        lambda bad: {"headers": [("References", "<a@b>" + bad)]},
        lambda bad: {"own_headers": [("List-Unsubscribe", "<https://x.test/>" + bad)]},
        lambda bad: {"attachments": [Attachment(filename="a" + bad, content=b"")]},
        lambda bad: {"attachments": [Attachment(filename="a", content=b"", content_type="text/csv" + bad)]},
        lambda bad: {"attachments": [Attachment(filename="a", content=b"", content_type=f'a/b; c="{bad}"')]},
        lambda bad: {"attachments": [Attachment(filename="a", content=b"", content_id="cid" + bad)]},
    ],
)
def test_line_breaks_in_fields_are_refused(inject, line_break):
    with pytest.raises((HeaderInvalid, AttachmentInvalid)) as raised:
        compose(message(**inject(line_break)))
    assert raised.value.status == 400
    assert "\r" not in raised.value.errors[0].message


@pytest.mark.parametrize(
    "name",
    [
        "From",
        "to",
        "CC",
        "Bcc",
        "Date",
        "Subject",
        "Message-ID",
        "MIME-Version",
        "Content-Type",
        "content-whatever",
        "DKIM-Signature",
        "Received",
        "Return-Path",
        "Sender",
        "Reply-To",
        "ARC-Seal",
        "Resent-To",
        "",
        "X Y",
        "X:Y",
        "Ünï",
        "X" * 77,
    ],
)
def test_fields_of_the_service_and_malformed_fields_cannot_be_set(name):
    with pytest.raises(HeaderInvalid):
        check_headers([(name, "value")])


@pytest.mark.parametrize(
    "body",
    [
        "\r\n.\r\nMAIL FROM:<evil@x.test>\r\n",
        "\n.\n",
        "\r.\r",
        ".\r\n.",
        "--=_alternative--\r\n",
        "\r\n--=_alternative\r\n",
        "--=_mixed--",
        "x" * 1_000_000,
        "\x00" * 10,
        "\r\n" * 1000,
        "𝕬" * 5000,
    ],
    ids=range(11),
)
def test_bodies_cannot_smuggle_messages(body):
    raw = compose(message(text=body, html=body, attachments=[Attachment(filename="a.txt", content=body.encode())]))
    assert not re.search(rb"^\.", raw, re.MULTILINE)
    mail = parse(raw)
    assert len(list(mail.walk())) == 5
    assert body_text(mail, "plain").rstrip("\n") == body.replace("\x00", "").replace("\r\n", "\n").replace(
        "\r", "\n"
    ).rstrip("\n")
    assert next(mail.iter_attachments()).get_payload(decode=True) == body.encode()


def test_a_long_unsubscribe_url_is_not_encoded():
    link = "<https://links.example.test/t/u/" + "a" * 300 + "?s=" + "b" * 100 + ">"
    raw = compose(
        message(own_headers=[("List-Unsubscribe", link), ("List-Unsubscribe-Post", "List-Unsubscribe=One-Click")])
    )
    assert b"List-Unsubscribe: " + link.encode() + b"\r\n" in raw
    with pytest.raises(HeaderInvalid):
        compose(message(own_headers=[("List-Unsubscribe", "<https://ünï.test/>")]))


def test_long_headers_are_folded_and_unfold_unchanged():
    value = " ".join(f"<{number:030d}@example.test>" for number in range(100))
    raw = compose(message(headers=[("References", value)]))
    assert max(map(len, raw.partition(b"\r\n\r\n")[0].split(b"\r\n"))) <= 78
    assert parse(raw)["references"] == value


def test_a_subject_of_more_than_998_octets_is_refused():
    assert parse(compose(message(subject="x" * 980)))["subject"] == "x" * 980
    assert len(parse(compose(message(subject="y " * 480)))["subject"]) == 959
    for subject in ("x" * 1000, "ü" * 500, "z" * 1_000_000):
        with pytest.raises(HeaderInvalid):
            compose(message(subject=subject))


def test_fifty_recipients_with_names_in_every_script():
    names = [
        "",
        "Ada",
        "Lovelace, Ada",
        'A "B" C',
        "Ünï",
        "日本 太郎",
        "שלום עולם",
        "👩‍👩‍👧 family",
        "x" * 300,
        "=?utf-8?q?x?=",
    ]
    recipients = [Address(name=names[n % 10], local=f"u{n}", domain="b.test", spec=f"u{n}@b.test") for n in range(50)]
    mail = parse(compose(message(to=recipients, cc=recipients[:3], reply_to=recipients[4:6])))
    assert [(address.display_name, address.addr_spec) for address in mail["to"].addresses] == [
        (address.name, address.spec) for address in recipients
    ]
    assert [address.addr_spec for address in mail["cc"].addresses] == ["u0@b.test", "u1@b.test", "u2@b.test"]
    assert [address.display_name for address in mail["reply-to"].addresses] == ["Ünï", "日本 太郎"]


FILENAMES = st.text(st.characters(exclude_categories=("Cc", "Cs", "Zs", "Zl", "Zp")), min_size=1, max_size=120)


@given(FILENAMES, st.binary(max_size=300))
def test_attachments_arrive_with_their_names(filename, content):
    mail = parse(
        compose(message(attachments=[Attachment(filename=filename, content=content, content_type="Application/PDF")]))
    )
    assert mail.get_content_type() == "multipart/mixed"
    attachment = next(mail.iter_attachments())
    assert (attachment.get_filename(), attachment.get_payload(decode=True)) == (filename, content)
    assert attachment.get_content_type() == "application/pdf"


def test_inline_images_are_in_multipart_related():
    picture = Attachment(filename="logo.png", content=b"png", content_type="image/png", content_id="<logo>")
    sheet = Attachment(filename="a.csv", content=b"a,b", content_type='text/csv; charset="utf-8"; header=present')
    nested = Attachment(filename="a.eml", content=b"From: x", content_type="message/rfc822")
    mail = parse(compose(message(attachments=[picture, sheet, nested])))
    related, *others = mail.iter_parts()
    assert related.get_content_type() == "multipart/related"
    assert [part.get_content_type() for part in related.iter_parts()] == [
        "multipart/alternative",
        "image/png",
    ]
    assert list(related.iter_parts())[1]["content-id"] == "<logo>"
    assert [part.get_content_type() for part in others] == ["text/csv", "application/octet-stream"]
    assert others[0].get_param("header") == "present"
    assert [
        part.get_content_type() for part in parse(compose(message(html=None, attachments=[picture]))).iter_parts()
    ] == [
        "text/plain",
        "image/png",
    ]


@pytest.mark.parametrize(
    "kind", ["", "text", "text/", "multipart/mixed", "a/b/c", "text/plain; x", "t ext/plain", "täxt/plain"]
)
def test_invalid_content_types_are_refused(kind):
    with pytest.raises(AttachmentInvalid) as raised:
        check_attachments([Attachment(filename="a", content=b"", content_type=kind)])
    assert raised.value.errors[0].path == "/attachments/0/contentType"


def test_a_message_has_at_most_25_megabytes_and_20_attachments():
    big = Attachment(filename="a.bin", content=b"x" * 10_000_000)
    assert len(compose(message(attachments=[big]))) < 25 * 1024 * 1024
    with pytest.raises(MessageTooLarge):
        compose(message(attachments=[big, big]))
    with pytest.raises(AttachmentInvalid):
        compose(message(attachments=[Attachment(filename="a", content=b"")] * 21))


def test_an_internationalised_address_is_written_in_utf8_and_never_encoded():
    raw = compose(message(to=[parse_address("Jörg <jörg@bücher.example>")]))
    assert "<jörg@xn--bcher-kva.example>".encode() in raw
