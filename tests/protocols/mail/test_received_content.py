"""The content of received messages: what common programs send, and what nobody should send."""

import email.policy
from email.message import EmailMessage

import mailparser
import pytest
from hypothesis import given
from hypothesis import strategies as st

from postern.kernel.values import to_json
from postern.protocols.mail import received_content
from postern.protocols.mail.received_content import read_attachment, read_content

WORDS = st.text(st.characters(exclude_categories=("Cs", "Cc")), max_size=40)


def raw(text):
    return text.replace("\n", "\r\n").encode()


PARTS = st.tuples(
    WORDS.map(lambda text: text + "\n"),
    WORDS.map(lambda subject: " ".join(subject.split())),
    st.lists(st.tuples(st.binary(min_size=1, max_size=200), WORDS), max_size=3),
    st.booleans(),
)


def composed(text, subject, files, has_html):
    """A message as the standard library composes it."""
    message = EmailMessage(policy=email.policy.SMTP)
    message["From"], message["Subject"] = "Zoë <zoe@example.org>", subject
    message.set_content(text)
    if has_html:
        message.add_alternative(f"<p>{text}</p>", subtype="html")
    for content, name in files:
        message.add_attachment(content, maintype="application", subtype="x-test", filename=f"{name.strip()}.bin")
    return message.as_bytes()


@given(PARTS)
def test_a_composed_message_is_read_completely(parts):
    octets, (text, subject, files, *_) = composed(*parts), parts
    content = read_content(octets)
    assert content.notices == []
    assert content.text == text
    assert content.subject == subject
    assert [contact.email for contact in content.from_] == ["zoe@example.org"]
    read = [read_attachment(octets, attachment.id) for attachment in content.attachments]
    assert [body for _, body in read] == [file for file, _ in files]
    assert [attachment for attachment, _ in read] == content.attachments
    assert len(mailparser.parse_from_bytes(octets).attachments) == len(files)


@given(st.binary(max_size=2_000) | st.lists(st.sampled_from([
    b"Content-Type: multipart/mixed; boundary=b\r\n", b"--b\r\n", b"--b--\r\n", b"\r\n", b"Subject: =?utf-8?b?eA?=\r\n",
    b"Content-Transfer-Encoding: base64\r\n", b"\0", b"\xff", b"From: <\r\n", b"Date: x\r\n", b"Message-ID: <a@b>\r\n",
    b"Content-Type: text/html; charset=utf-7\r\n", b"Content-Disposition: attachment; filename*=x''%00\r\n", b"\n",
]), max_size=30).map(b"".join))  # fmt: skip
def test_any_octets_are_read(octets):
    content = read_content(octets)
    assert b"\\u0000" not in to_json(content)
    for attachment in content.attachments:
        attachment_read = read_attachment(octets, attachment.id)
        assert attachment_read is not None
        assert len(attachment_read[1]) == attachment.size


@pytest.mark.parametrize(
    ("head", "body", "text", "reply"),
    [
        ("Content-Type: text/html", "<p>Yes</p><br>", None, "Yes"),
        ("", "Yes\n\n-- \nAda\n", "Yes\n\n-- \nAda\n", "Yes"),
        ("Content-Type: text/plain; charset=gb2312", "Hello", "Hello", "Hello"),
        ("Content-Type: text/plain; charset=unheard-of", "Hello", "Hello", "Hello"),
        ("Content-Type: application/pdf", "%PDF", None, ""),
    ],
)
def test_texts(head, body, text, reply):
    content = read_content(raw(f"Subject: x\n{head}\n\n{body}" if head else f"Subject: x\n\n{body}"))
    assert (content.text, content.reply_text) == (text, reply)


def test_several_texts_are_joined_and_named_ones_are_attachments():
    content = read_content(
        raw(
            "Content-Type: multipart/mixed; boundary=b\n\n--b\n\nfirst\n--b\n"
            "Content-Type: text/plain; name=notes.txt\n\nnotes\n--b\n\nsecond\n--b--\n"
        )
    )
    assert content.text == "first\nsecond"
    assert [attachment.filename for attachment in content.attachments] == ["notes.txt"]


def test_references_name_the_latest_last():
    content = read_content(raw("References: <a@x> <b@x>\n <a@x>\nIn-Reply-To: <c@x> (of yesterday)\n\n"))
    assert (content.references, content.in_reply_to) == (["<b@x>", "<a@x>", "<c@x>"], "<c@x>")
    many = read_content(raw("References: " + "\n ".join(f"<{n}@x>" for n in range(200)) + "\n\n"))
    assert (len(many.references), many.references[-1]) == (received_content.REFERENCES_LIMIT, "<199@x>")


def test_long_texts_are_cut_with_a_notice(monkeypatch):
    monkeypatch.setattr(received_content, "TEXT_CHARACTERS", 10)
    content = read_content(raw("Subject: x\n\n" + "a" * 20))
    assert (content.text, len(content.notices)) == ("a" * 10, 1)


def test_a_malformed_message_is_read_as_far_as_possible():
    content = read_content(raw("From: a@b.example\nthis is no field\nSubject: x\n\nText\n"))
    assert [contact.email for contact in content.from_] == ["a@b.example"]
    assert "this is no field" in content.notices[0]
    assert "Text" in (content.text or "")


@pytest.mark.parametrize(
    "octets",
    [
        b"Content-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n\r\n" + b"--bx\r\n" * 100_000,
        b"Content-Type: multipart/mixed; boundary=b\r\n\r\n"
        + (b"--b\r\nContent-Type: text/plain" + b";" * 4_000 + b"\r\n\r\nx\r\n") * 20,
        b"Content-Type: multipart/mixed; boundary=b\r\n\r\n" + b"--b\r\n\r\nx\r\n" * 201,
        b"Subject: x\r\n" * 1_001 + b"\r\nx",
        b"Subject: " + b"x" * 600_000 + b"\r\n\r\nx",
    ],
    ids=["delimiters", "parameters", "parts", "fields", "header"],
)
def test_a_message_beyond_a_limit_has_a_notice(octets):
    content = read_content(octets)
    assert len(content.notices) == 1
    assert "at most" in content.notices[0]
    assert len(content.attachments) <= 200
