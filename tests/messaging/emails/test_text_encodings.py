"""The transfer encoding of text: the shortest that arrives unchanged, with valid signatures."""

import email
import email.policy
import re

import pytest

from tests.messaging.emails.test_relay import published_keys, sender, sink, verifies

__all__ = ["sender", "sink"]

MAIL = {"to": ["ada@example.org"], "from": "hello@example.com", "subject": "Hello", "trackOpens": False}
MOSTLY_ASCII = "Grüße aus Zürich, the weather is fine = sunny. " * 5
OTHER = "Привет, мир! Как дела? " * 5


async def arrived(project, sink, **fields):
    """The message that the relay received, parsed and as octets."""
    sent = await project.client.post("/emails", {**MAIL, **fields})
    assert (sent.status_code, sent.json()["status"]) == (201, "SENT"), sent.text
    message = sink.messages[-1]
    return email.message_from_bytes(message.raw, policy=email.policy.default), message


def content_of(part):
    return part.get_content().replace("\r\n", "\n")


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        ("Dear Ada,\n\n    indented\n\tand with a tab.\n.hidden\n..\n-- \n".replace("-- \n", "--\n"), "7bit"),
        ("No line end", "7bit"),
        ("x" * 998 + "\n", "7bit"),
        ("x" * 999 + "\n", "quoted-printable"),
        (MOSTLY_ASCII, "quoted-printable"),
        ("-- \nAda\n", "quoted-printable"),
        ("From here on\n", "quoted-printable"),
        ("Dear Ada,\nFrom here on\n", "quoted-printable"),
        ("one\n.\ntwo\n", "quoted-printable"),
        ("a\n--=_alternative\nb\n", "quoted-printable"),
        ("form feed \x0c\n", "quoted-printable"),
        (OTHER, "base64"),
        ("=" * 1_200, "base64"),
    ],
    ids="plain open longest longer umlauts signature from from-within dot boundary control cyrillic equals".split(),  # noqa: SIM905
)
async def test_a_text_has_the_shortest_encoding_that_arrives_unchanged(sender, sink, world, text, encoding):
    """Defects: M17"""
    html = f"<p>{text}</p>\n"
    read, message = await arrived(sender, sink, html=html, text=text, engine="none")
    plain, shown = read.get_body(("plain",)), read.get_body(("html",))
    assert plain["Content-Transfer-Encoding"] == encoding
    assert (content_of(plain), content_of(shown)) == (text, html)
    assert all(len(line) <= 998 for line in message.raw.split(b"\r\n"))
    assert message.raw.isascii()
    assert verifies(message, await published_keys(message, world)) == [True, True]
    # A text by itself ends with a line end on the wire.
    read, message = await arrived(sender, sink, text=text, engine="none")
    assert read["Content-Transfer-Encoding"] == encoding
    assert content_of(read).removesuffix("\n") == text.removesuffix("\n")
    assert verifies(message, await published_keys(message, world)) == [True, True]


async def test_runs_of_blanks_and_dots_leave_signatures_valid(sender, sink, world):
    """Defects: M17"""
    text = "".join(f"{' ' * (n % 9)}{'.' * (n % 3)}{n}{' ' * (n % 5)}end\n" for n in range(200)) + "\n\n\n"
    read, message = await arrived(sender, sink, text=text, engine="none")
    assert (read["Content-Transfer-Encoding"], content_of(read)) == ("7bit", text)
    assert verifies(message, await published_keys(message, world)) == [True, True]


async def test_a_message_is_smaller_than_in_base64(sender, sink):
    """Defects: M17"""
    text = "Grüße aus Zürich, where the weather was fine all week, and the lake is warm. " * 500
    _, message = await arrived(sender, sink, text=text)
    assert len(message.raw) < 1.3 * len(text)
    lines = message.raw.partition(b"\r\n\r\n")[2].split(b"\r\n")
    assert max(map(len, lines)) <= 76
    assert not [line for line in lines if line.endswith((b" ", b"\t")) or line == b"."]


async def test_campaign_messages_use_the_fastest_encoding(sender, sink, work_off):
    """Campaigns use 7bit if possible, otherwise base64, because quoted-printable takes five times as long.

    Defects: M17
    """
    (domain,) = (await sender.client.get("/domains")).json()
    audience = (await sender.client.post("/audiences", {"name": "All"})).json()["id"]
    contact = (await sender.client.post("/contacts", {"email": "ada@example.org"})).json()["id"]
    await sender.client.post(f"/audiences/{audience}/contacts", {"contactId": contact})
    for words, encodings in (("<p>Spring</p>", {"7bit"}), ("<p>Spring – now</p>", {"base64"})):
        template = (await sender.client.post("/templates", {"name": "News", "html": words, "subject": "x"})).json()
        fields = {"templateId": template["id"], "domainId": domain["id"], "audienceId": audience}
        made = await sender.client.post("/campaigns", {"name": "News", "fromEmail": "hello@example.com", **fields})
        assert (await sender.client.post(f"/campaigns/{made.json()['id']}/send")).status_code == 200
        await work_off()
        found = re.findall(rb"Content-Transfer-Encoding: (\S+)", sink.messages[-1].raw)
        assert {each.decode() for each in found} == encodings
