"""Hostile values in the fields of submitted messages: a clear refusal, or a send that the API can show and deliver."""

import email
import email.policy

import pytest

from tests.messaging.smtp_submission.conftest import Submission

TEXT = b"Content-Type: text/plain; charset=utf-8\r\n\r\nHello {{ name }}\r\n"
NUL = b"=?utf-8?b?AA==?="
SURROGATE = b"=?utf-16-le?b?ANg=?="
LINES = b"=?utf-8?q?a=0D=0ABcc:_eve=40evil.example=0D=0A=0D=0Ax?="


def with_field(field: bytes, content: bytes = TEXT) -> bytes:
    """A message with one more field, which replaces the field with the same name."""
    name = field.partition(b":")[0].lower()
    fields = [b"From: Acme <hello@example.com>", b"To: ada@example.org", b"Subject: Hello", b"MIME-Version: 1.0"]
    kept = [line for line in fields if line.partition(b":")[0].lower() != name]
    return b"\r\n".join([*kept, field]) + b"\r\n" + content


def with_attachment(head: bytes, body: bytes = b"x") -> bytes:
    """A message with an attachment that has these header fields."""
    parts = b"--b\r\n" + TEXT + b"--b\r\n" + head + b"\r\n\r\n" + body + b"\r\n--b--\r\n"
    return with_field(b'Content-Type: multipart/mixed; boundary="b"', b"\r\n" + parts)


DISPOSITION = b"Content-Type: application/pdf\r\nContent-Disposition: attachment; "
HOSTILE = {
    **{
        f"{field.decode()} {name}": with_field(field + b": " + value)
        for field in (b"Subject", b"X-Custom", b"X-Postern-Tag", b"X-Postern-Metadata-User", b"Idempotency-Key")
        for name, value in (
            ("nul", NUL),
            ("surrogate", SURROGATE),
            ("lines", LINES),
            ("octets", b"\xff\xfe\x80"),
            ("controls", b"a\x01\x1b[31m\x7fb"),
            ("bidirectional", "a\u202eb\u2066\ufeff".encode()),
        )
    },
    **{
        f"{field.decode()} {name}": with_field(field + b": " + value + b" <" + address + b">")
        for field, address in (
            (b"From", b"hello@example.com"),
            (b"To", b"ada@example.org"),
            (b"Reply-To", b"help@example.com"),
        )
        for name, value in (("nul", NUL), ("surrogate", SURROGATE), ("lines", LINES), ("octets", b"\xff\xfe"))
    },
    **{
        f"variables {name}": with_field(b"X-Postern-Variables: " + value)
        for name, value in (
            ("nul", rb'{"name": "\u0000"}'),
            ("nul in a name", rb'{"\u0000": "a"}'),
            ("surrogate", rb'{"name": "\ud800"}'),
            ("surrogate in a name", rb'{"\udfff": "a"}'),
            ("number", b'{"name": ' + b"9" * 900 + b"}"),
            ("exponent", b'{"name": 1e999}'),
            ("lines", rb'{"name": "\r\nBcc: eve@evil.example"}'),
            ("encoded nul", b"=?utf-8?q?=7B=22name=22:=22=00=22=7D?="),
        )
    },
    **{
        f"file name {name}": with_attachment(DISPOSITION + value)
        for name, value in (
            ("nul", b"filename*=utf-8''a%00b.pdf"),
            ("surrogate", b"filename*=utf-16-le''%00%d8"),
            ("lines", b"filename*=utf-8''a%0D%0AX-Evil:%20x.pdf"),
            ("octets", b'filename="\xff\xfe.pdf"'),
            ("encoded nul", b'filename="' + NUL + b'"'),
            ("path", b'filename="../../etc/passwd"'),
            ("long", b'filename="' + b"x" * 900 + b'.pdf"'),
        )
    },
    "content id nul": with_attachment(DISPOSITION + b"filename=a.pdf\r\nContent-ID: <a\0b>"),
    "content id lines": with_attachment(DISPOSITION + b"filename=a.pdf\r\nContent-ID: <" + LINES + b">"),
    "content type nul": with_attachment(b"Content-Type: application/\0pdf; name=a.pdf"),
    "content type octets": with_attachment(b"Content-Type: application/\xff\xfe; name=a.pdf"),
    "metadata without a name": with_field(b"X-Postern-Metadata-: x"),
    "metadata with a comma": with_field(b"X-Postern-Metadata-a,b: x"),
    "text of surrogates": with_field(
        b"X-A: b", b"Content-Type: text/plain; charset=utf-16-le\r\n\r\n\x00\xd8\x00\xd8\r\n"
    ),
    "text of nul": with_field(b"X-A: b", b"Content-Type: text/plain; charset=utf-16-le\r\n\r\na\0\0\0b\0\r\n"),
    "text in utf-7": with_field(b"X-A: b", b"Content-Type: text/plain; charset=utf-7\r\n\r\n+AAA- +2AA-\r\n"),
    "unknown charset": with_field(b"X-A: b", b"Content-Type: text/plain; charset=\xff\r\n\r\nx\r\n"),
    "two senders": with_field(b"From: hello@example.com\r\nFrom: eve@evil.example"),
    "group as sender": with_field(b"From: Acme: hello@example.com;"),
    "group of two as sender": with_field(b"From: Acme: hello@example.com, eve@evil.example;"),
    "route as sender": with_field(b"From: <@evil.example:hello@example.com>"),
    "two addresses in brackets": with_field(b"From: <eve@evil.example> <hello@example.com>"),
    "brackets in a comment": with_field(b"From: (<hello@example.com>) <eve@evil.example>"),
    "quoted address": with_field(b'From: "hello@example.com" <eve@evil.example>'),
    "nul in the address": with_field(b"From: eve@evil.example\0@example.com"),
    "lines in the address": with_field(b"From: eve@evil.example\x0b<hello@example.com>"),
    "encoded address": with_field(b"From: =?utf-8?q?hello=40example.com?="),
    "encoded brackets": with_field(b"From: =?utf-8?q?=3Chello=40example.com=3E?= <eve@evil.example>"),
    "final dot": with_field(b"From: hello@example.com."),
    "cyrillic": with_field("From: hello@ex\u0430mple.com".encode()),
    "full width": with_field("From: hello@\uff45xample.com".encode()),
    "domain literal": with_field(b"From: hello@[127.0.0.1]"),
}


REFUSED = {
    *(f"Idempotency-Key {name}" for name in ("octets", "controls", "bidirectional")),
    *(f"variables {name}" for name in ("nul", "nul in a name", "surrogate", "surrogate in a name")),
    *(f"variables {name}" for name in ("number", "exponent")),
    "file name long",
    "text of nul",
    "two senders",
    "group of two as sender",
    "two addresses in brackets",
    "brackets in a comment",
    "quoted address",
    "nul in the address",
    "encoded address",
    "encoded brackets",
    "final dot",
    "cyrillic",
    "domain literal",
}
"""The names of the messages that are refused; all others are sent."""


@pytest.mark.parametrize("name", HOSTILE)
async def test_hostile_fields(sender, submission: Submission, sink, run_due_work, name):
    reply = await submission.send(sender.secret_key, HOSTILE[name], ["ada@example.org"])
    logged = (await sender.client.get("/emails/logs")).json()["data"]
    if name in REFUSED:
        assert reply.startswith("55"), reply
        assert logged == []
        return
    assert reply.startswith("250 "), reply
    await run_due_work()
    (send,) = (await sender.client.get("/emails/logs")).json()["data"]
    assert send["status"] == "SENT", send
    (received,) = sink.messages
    assert received.recipients == ("ada@example.org",)
    head, _, _ = received.raw.partition(b"\r\n\r\n")
    parsed = email.message_from_bytes(received.raw, policy=email.policy.default)
    assert [address.addr_spec for address in parsed["From"].addresses] == ["hello@example.com"]
    assert [address.addr_spec for address in parsed["To"].addresses] == ["ada@example.org"]
    assert parsed["Bcc"] is None
    assert b"\0" not in received.raw
    assert b"\x1b" not in received.raw
    assert not any(line.lower().startswith((b"bcc", b"x-evil")) for line in head.split(b"\r\n"))
    assert (await sender.client.get("/events")).status_code == 200
