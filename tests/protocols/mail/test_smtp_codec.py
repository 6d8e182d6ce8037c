"""Parsing of SMTP replies, and the form in which addresses and messages are sent."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from postern.protocols.mail.mime import message_problem
from postern.protocols.mail.smtp import (
    LONGEST_LINE,
    MOST_LINES,
    ReplyReader,
    SmtpReply,
    SmtpSyntaxError,
    dot_stuffed,
    encode_address,
)

TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\r\n"), max_size=60)
REPLIES = st.lists(st.tuples(st.integers(200, 599), st.lists(TEXT, min_size=1, max_size=5)), min_size=1, max_size=6)


def encoded_reply(code: int, lines: list[str]) -> bytes:
    separators = ["-"] * (len(lines) - 1) + [" "]
    return b"".join(f"{code}{separator}{line}\r\n".encode() for separator, line in zip(separators, lines, strict=True))


@given(REPLIES, st.data())
def test_replies_are_parsed_from_any_chunks(replies, data):
    encoded = b"".join(encoded_reply(code, lines) for code, lines in replies)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(encoded)), max_size=6)))
    reader = ReplyReader()
    parsed = [
        reply
        for start, end in zip([0, *cuts], [*cuts, len(encoded)], strict=True)
        for reply in reader.feed(encoded[start:end])
    ]
    assert [reply.code for reply in parsed] == [code for code, _ in replies]
    for reply, (_, lines) in zip(parsed, replies, strict=True):
        if not reply.enhanced:
            assert reply.text == "\n".join(lines)


@given(st.lists(st.binary(max_size=3000), max_size=8))
def test_no_octets_crash_the_reader_or_exceed_its_limits(pieces):
    reader = ReplyReader()
    try:
        for piece in pieces:
            for reply in reader.feed(piece):
                assert 200 <= reply.code <= 599
    except SmtpSyntaxError:
        return
    assert len(reader._partial_line) <= LONGEST_LINE
    assert len(reader._lines) <= MOST_LINES


@pytest.mark.parametrize(
    ("data", "reply"),
    [
        (b"250 2.1.5 Ok\r\n", SmtpReply(250, "2.1.5", "Ok")),
        (b"250 Ok\n", SmtpReply(250, "", "Ok")),
        (b"250\r\n", SmtpReply(250, "", "")),
        (b"550-5.1.1 No\r\n550 5.1.1 body\r\n", SmtpReply(550, "5.1.1", "No\nbody")),
        (b"550 4.1.1 torn class\r\n", SmtpReply(550, "", "4.1.1 torn class")),
        (b"250 2.0.0\r\n", SmtpReply(250, "2.0.0", "")),
        (b"250 127.0.0.1 hello\r\n", SmtpReply(250, "", "127.0.0.1 hello")),
        (b"220 \xff\xfe\r\n", SmtpReply(220, "", "��")),
    ],
)
def test_replies_are_split_into_code_enhanced_code_and_text(data, reply):
    assert ReplyReader().feed(data) == [reply]


@pytest.mark.parametrize(
    "data",
    [
        b"hello\r\n",
        b"199 low\r\n",
        b"600 high\r\n",
        b"25x no\r\n",
        b"250_no\r\n",
        b"250-a\r\n251 b\r\n",
        b"\r\n",
        b"2" * (LONGEST_LINE + 1),
        b"250 " + b"x" * LONGEST_LINE + b"\r\n",
        b"250-x\r\n" * (MOST_LINES + 1),
        "２５０ wide\r\n".encode(),
    ],
)
def test_invalid_replies_are_rejected(data):
    with pytest.raises(SmtpSyntaxError):
        ReplyReader().feed(data)


@pytest.mark.parametrize(
    ("address", "smtputf8", "expected"),
    [
        ("a@b.test", False, b"a@b.test"),
        ('"a b>c"@b.test', False, b'"a b>c"@b.test'),
        ("a@müller.test", False, b"a@xn--mller-kva.test"),
        ("a@MÜLLER.test", True, b"a@xn--mller-kva.test"),
        ("grün@b.test", True, "grün@b.test".encode()),
        ("grün@b.test", False, None),
        ("a@[192.0.2.1]", False, b"a@[192.0.2.1]"),
    ],
)
def test_addresses_are_encoded_for_smtp(address, smtputf8, expected):
    assert encode_address(address, smtputf8=smtputf8) == expected


@given(st.text(max_size=60).map(lambda text: text + "@b.test") | st.text(max_size=60))
def test_no_address_can_escape_its_brackets(address):
    try:
        encoded = encode_address(address, smtputf8=True)
    except ValueError:
        return
    assert encoded is not None
    assert not set(encoded) & {0, 10, 13}
    if not address.startswith('"'):
        assert not set(encoded) & set(b"<> ")


LINES = st.lists(st.binary(max_size=20).map(lambda line: line.translate(None, b"\r\n\0")), max_size=10)


@given(LINES | st.lists(st.sampled_from([b".", b"..", b"", b"a", b".a"]), max_size=10))
def test_dot_stuffing_is_reversible_and_escapes_every_dot(lines):
    message = b"".join(line + b"\r\n" for line in lines)
    assert message_problem(message) is None
    sent = dot_stuffed(message)
    assert b"\r\n.\r\n" not in b"\r\n" + sent
    unstuffed = [line[1:] if line.startswith(b".") else line for line in sent.split(b"\r\n")]
    assert b"\r\n".join(unstuffed) == (message or b"\r\n")


@given(st.lists(st.sampled_from([b"\r", b"\n", b"\r\n", b".", b"a", b"\0"]), max_size=12).map(b"".join))
def test_every_bare_cr_or_lf_and_nul_is_found(message):
    lines = message.count(b"\r\n")
    is_valid = message.count(b"\n") == lines == message.count(b"\r") and b"\0" not in message
    assert (message_problem(message) is None) == is_valid
