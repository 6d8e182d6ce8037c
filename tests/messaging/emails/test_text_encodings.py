"""The transfer encoding of text: the shortest that arrives unchanged, with valid signatures."""

import email
import email.policy
import re

import pytest

from tests.messaging.emails.test_relay import published_keys, sender, sink, verify_signatures

__all__ = ["sender", "sink"]

MAIL = {"to": ["ada@example.org"], "from": "hello@example.com", "subject": "Hello", "trackOpens": False}
MOSTLY_ASCII = "Grüße aus Zürich, the weather is fine = sunny. " * 5
CYRILLIC = "Привет, мир! Как дела? " * 5


async def send_and_receive(project, sink, **fields):
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
        (CYRILLIC, "base64"),
        ("=" * 1_200, "base64"),
    ],
    ids=[
        *("plain", "no line end", "longest line", "too long line", "umlauts", "signature", "From", "From in line 2"),
        *("dot", "boundary", "control character", "cyrillic", "equals signs"),
    ],
)
async def test_a_text_has_the_shortest_encoding_that_arrives_unchanged(sender, sink, world, text, encoding):
    """Regression test of M17 (tests/defects.md)."""
    html = f"<p>{text}</p>\n"
    parsed, message = await send_and_receive(sender, sink, html=html, text=text, engine="none")
    text_part, html_part = parsed.get_body(("plain",)), parsed.get_body(("html",))
    assert text_part["Content-Transfer-Encoding"] == encoding
    assert (content_of(text_part), content_of(html_part)) == (text, html)
    assert all(len(line) <= 998 for line in message.raw.split(b"\r\n"))
    assert message.raw.isascii()
    assert verify_signatures(message, await published_keys(message, world)) == [True, True]
    # A message with only a text part always ends with a line end.
    parsed, message = await send_and_receive(sender, sink, text=text, engine="none")
    assert parsed["Content-Transfer-Encoding"] == encoding
    assert content_of(parsed).removesuffix("\n") == text.removesuffix("\n")
    assert verify_signatures(message, await published_keys(message, world)) == [True, True]


async def test_runs_of_blanks_and_dots_leave_signatures_valid(sender, sink, world):
    """Regression test of M17 (tests/defects.md)."""
    text = "".join(f"{' ' * (n % 9)}{'.' * (n % 3)}{n}{' ' * (n % 5)}end\n" for n in range(200)) + "\n\n\n"
    parsed, message = await send_and_receive(sender, sink, text=text, engine="none")
    assert (parsed["Content-Transfer-Encoding"], content_of(parsed)) == ("7bit", text)
    assert verify_signatures(message, await published_keys(message, world)) == [True, True]


async def test_a_message_is_smaller_than_in_base64(sender, sink):
    """Regression test of M17 (tests/defects.md)."""
    text = "Grüße aus Zürich, where the weather was fine all week, and the lake is warm. " * 500
    _, message = await send_and_receive(sender, sink, text=text)
    assert len(message.raw) < 1.3 * len(text)
    lines = message.raw.partition(b"\r\n\r\n")[2].split(b"\r\n")
    assert max(map(len, lines)) <= 76
    assert not [line for line in lines if line.endswith((b" ", b"\t")) or line == b"."]


CHINESE = "春天来了，天气很好。" * 5


async def test_campaign_messages_are_encoded_once_as_quoted_printable(sender, sink, run_due_work):
    """Campaigns use quoted-printable, or base64 where that is shorter.

    Regression test of M17 (tests/defects.md).
    """
    (domain,) = (await sender.client.get("/domains")).json()
    audience = (await sender.client.post("/audiences", {"name": "All"})).json()["id"]
    contact = (await sender.client.post("/contacts", {"email": "ada@example.org"})).json()["id"]
    await sender.client.post(f"/audiences/{audience}/contacts", {"contactId": contact})
    for html, encoding in ((f"<p>{MOSTLY_ASCII}</p>", "quoted-printable"), (f"<p>{CHINESE}</p>", "base64")):
        template = (await sender.client.post("/templates", {"name": "News", "html": html, "subject": "x"})).json()
        fields = {"templateId": template["id"], "domainId": domain["id"], "audienceId": audience}
        created = await sender.client.post("/campaigns", {"name": "News", "fromEmail": "hello@example.com", **fields})
        assert (await sender.client.post(f"/campaigns/{created.json()['id']}/send")).status_code == 200
        await run_due_work()
        used_encodings = re.findall(rb"Content-Transfer-Encoding: (\S+)", sink.messages[-1].raw)
        assert {used.decode() for used in used_encodings} == {encoding}
