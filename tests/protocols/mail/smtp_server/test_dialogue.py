"""The SMTP server's dialogue: commands, extensions, and independence of how the client's octets arrive."""

import asyncio
from base64 import b64encode
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from postern.protocols.mail.smtp import SmtpReply
from postern.protocols.mail.smtp_server.connection import LINE_OCTETS
from tests.peers.smtp_dialogue import RecordingHandler, replies_to, smtp_dialogue, smtp_server
from tests.peers.smtp_sink import client_context, server_context

PLAIN = b64encode(b"\0ada\0right").decode()


def plain(user: str, password: str, acting_as: str = "") -> str:
    return "AUTH PLAIN " + b64encode(f"{acting_as}\0{user}\0{password}".encode()).decode()


@pytest.fixture
def handler() -> RecordingHandler:
    return RecordingHandler()


async def test_a_message(handler: RecordingHandler):
    async with smtp_server(handler) as (_, port), smtp_dialogue(port) as client:
        assert (await client.ask("EHLO me.test")).split("\n") == [
            "250-mx.test",
            "250-PIPELINING",
            "250-SIZE 1000000",
            "250-8BITMIME",
            "250-SMTPUTF8",
            "250-CHUNKING",
            "250-ENHANCEDSTATUSCODES",
            "250 AUTH PLAIN LOGIN",
        ]
        assert await client.ask("MAIL FROM:<a@a.test> SIZE=100 BODY=8BITMIME") == "250 2.1.0 OK"
        assert await client.ask("RCPT TO:<b@b.test>") == "250 2.1.5 OK"
        assert await client.ask("RCPT TO:<unknown@b.test>") == "550 5.1.1 There is no such mailbox."
        assert (await client.ask("DATA")).startswith("354 ")
        assert await client.ask("Subject: x", "", "..", "..a", "end", ".") == "250 2.0.0 queued"
        assert await client.ask("QUIT") == "221 2.0.0 Goodbye."
        assert await client.rest() == ""
    (taken,) = handler.taken
    assert (taken.sender, taken.recipients) == ("a@a.test", ("b@b.test",))
    assert taken.content == b"Subject: x\r\n\r\n.\r\n.a\r\nend\r\n"


async def test_pipelined_commands_get_their_replies_in_order(handler: RecordingHandler):
    async with smtp_server(handler) as (_, port), smtp_dialogue(port) as client:
        await client.send(
            "EHLO me.test",
            *["MAIL FROM:<a@a.test>", "RCPT TO:<b@b.test>", "DATA", "one", ".", "NOOP"],
            *["MAIL FROM:<>", "RCPT TO:<postmaster>", "DATA", ".", "RSET", "QUIT"],
        )
        replies = [line for line in (await client.rest()).splitlines() if line[3] == " "]
    assert " ".join(line[:3] for line in replies) == "250 250 250 354 250 250 250 250 354 250 250 221"
    assert [taken.content for taken in handler.taken] == [b"one\r\n", b""]


@pytest.mark.parametrize(
    ("commands", "reply"),
    [
        (["MAIL FROM:<a@a.test>"], "503 5.5.1"),
        (["EHLO"], "501 5.5.4"),
        (["EHLO a b"], "501 5.5.4"),
        (["EHLO me", "RCPT TO:<a@a.test>"], "503 5.5.1"),
        (["EHLO me", "DATA"], "503 5.5.1"),
        (["EHLO me", "MAIL FROM:<a@a.test>", "DATA"], "554 5.5.1"),
        (["EHLO me", "MAIL FROM:<a@a.test>", "MAIL FROM:<a@a.test>"], "503 5.5.1"),
        (["EHLO me", "MAIL FROM:<a@a.test>", "RCPT TO:<>"], "501 5.1.3"),
        (["EHLO me", "MAIL FROM:<a@a.test>", "RCPT TO:<@x.test,@y.test:b@b.test>"], "250 2.1.5"),
        (["EHLO me", 'MAIL FROM:<"a b>c"@a.test>'], "250 2.1.0"),
        (["EHLO me", "MAIL FROM:<a@[192.0.2.1]>"], "250 2.1.0"),
        (["EHLO me", "MAIL FROM:<a@[IPv6:2001:db8::1]>"], "250 2.1.0"),
        (["EHLO me", "MAIL FROM:<a@[300.0.2.1]>"], "501 5.1.7"),
        (["EHLO me", "MAIL FROM: <a@a.test>"], "250 2.1.0"),
        (["EHLO me", "mail from:<a@a.test>"], "250 2.1.0"),
        (["EHLO me", "MAIL FROM:a@a.test"], "501 5.5.4"),
        (["EHLO me", "MAIL TO:<a@a.test>"], "501 5.5.4"),
        (["EHLO me", "MAIL FROM:<a@a..test>"], "501 5.1.7"),
        (["EHLO me", "MAIL FROM:<a b@a.test>"], "501 5.1.7"),
        (["EHLO me", "MAIL FROM:<" + "a" * 250 + "@a.test>"], "501 5.1.7"),
        (["EHLO me", "MAIL FROM:<ä@a.test>"], "553 5.6.7"),
        (["EHLO me", "MAIL FROM:<ä@a.test> SMTPUTF8"], "250 2.1.0"),
        (["EHLO me", "MAIL FROM:<a@a.test>", "RCPT TO:<ä@a.test>"], "553 5.6.7"),
        (["EHLO me", "MAIL FROM:<a@a.test> SMTPUTF8", "RCPT TO:<ä@a.test>"], "250 2.1.5"),
        (["EHLO me", "MAIL FROM:<a@a.test> SIZE=1000001"], "552 5.3.4"),
        (["EHLO me", "MAIL FROM:<a@a.test> SIZE=x"], "501 5.5.4"),
        (["EHLO me", "MAIL FROM:<a@a.test> SIZE=1 SIZE=1"], "501 5.5.4"),
        (["EHLO me", "MAIL FROM:<a@a.test> BODY=BINARYMIME"], "555 5.5.4"),
        (["EHLO me", "MAIL FROM:<a@a.test> RET=HDRS"], "555 5.5.4"),
        (["HELO me", "MAIL FROM:<a@a.test> SIZE=1"], "555 5.5.4"),
        (["EHLO me", "MAIL FROM:<a@a.test>", "RCPT TO:<a@a.test> NOTIFY=NEVER"], "555 5.5.4"),
        (["EHLO me", "MAIL FROM:<a@a.test> AUTH=<>"], "250 2.1.0"),
        (["VRFY ada"], "252 2.0.0"),
        (["NOOP anything"], "250 2.0.0"),
        (["HELP"], "214 2.0.0"),
        (["RSET x"], "501 5.5.4"),
        (["EXPN list"], "500 5.5.1"),
        ([b"NOOP \xff"], "500 5.5.2"),
        (["STARTTLS"], "503 5.5.1"),
        (["GET / HTTP/1.1"], "421 4.7.0"),
        (["EHLO me", "BDAT x"], "501 5.5.4"),
        (["EHLO me", "BDAT 3 LAST\r\nabc"], "503 5.5.1"),
    ],
)
async def test_replies_to_commands(handler: RecordingHandler, commands: list[str | bytes], reply: str):
    async with smtp_server(handler) as (_, port), smtp_dialogue(port) as client:
        for command in commands:
            got = await client.ask(command)
        assert got.split("\n")[-1].startswith(reply)


async def test_authentication(handler: RecordingHandler):
    async with smtp_server(handler, requires_auth=True) as (_, port), smtp_dialogue(port) as client:
        assert await client.ask(plain("ada", "right")) == (
            "503 5.5.1 AUTH is possible once, after EHLO and outside of a transaction."
        )
        await client.ask("EHLO me")
        assert (await client.ask("MAIL FROM:<a@a.test>")).startswith("530 5.7.0")
        assert (await client.ask("AUTH CRAM-MD5")).startswith("504 5.5.4")
        assert (await client.ask("AUTH PLAIN !")).startswith("501 5.5.2")
        assert (await client.ask("AUTH PLAIN =")).startswith("501 5.5.2")
        assert await client.ask("AUTH LOGIN") == "334 VXNlcm5hbWU6"
        assert (await client.ask("*")).startswith("501 5.7.0")
        assert (await client.ask(plain("ada", "right", acting_as="bob"))).startswith("535 5.7.8")
        assert (await client.ask(plain("ada", "wrong"))).startswith("535 5.7.8")
        assert await client.ask("AUTH LOGIN") == "334 VXNlcm5hbWU6"
        assert await client.ask(b64encode(b"ada")) == "334 UGFzc3dvcmQ6"
        assert (await client.ask(b64encode(b"right"))).startswith("235 2.7.0")
        assert (await client.ask(plain("ada", "right"))).startswith("503 5.5.1")
        assert (await client.ask("MAIL FROM:<a@a.test>")).startswith("250 ")
    assert handler.users == ["ada", "ada"]


async def test_three_wrong_passwords_end_the_connection(handler: RecordingHandler):
    async with smtp_server(handler) as (_, port), smtp_dialogue(port) as client:
        await client.ask("EHLO me")
        await client.send(*[plain("ada", "wrong")] * 4)
        assert [line[:3] for line in (await client.rest()).splitlines()] == ["535", "535", "535", "421"]
    assert len(handler.users) == 3


async def test_starttls(handler: RecordingHandler):
    refuse = {"allows_plain_auth": lambda _peer: False, "requires_auth": True}
    async with smtp_server(handler, tls=server_context(), **refuse) as (_, port), smtp_dialogue(port) as client:
        assert "STARTTLS" in (await client.ask("EHLO me"))
        assert (await client.ask(plain("ada", "right"))).startswith("538 5.7.11")
        assert (await client.ask("MAIL FROM:<a@a.test>")) == "530 5.7.0 Use STARTTLS first."
        assert (await client.ask("STARTTLS")).startswith("220 ")
        await client.start_tls(client_context())
        assert (await client.ask("MAIL FROM:<a@a.test>")).startswith("530 ")
        offers = await client.ask("EHLO me")
        assert "STARTTLS" not in offers
        assert "AUTH PLAIN LOGIN" in offers
        assert (await client.ask("STARTTLS")).startswith("503 ")
        assert (await client.ask(plain("ada", "right"))).startswith("235 ")
        await client.ask("MAIL FROM:<a@a.test>")
        await client.ask("RCPT TO:<b@b.test>")
        await client.ask("DATA")
        assert (await client.ask("x", ".")).startswith("250 ")
    assert handler.taken[0].is_encrypted


async def test_commands_before_the_handshake_are_not_executed_after_it(handler: RecordingHandler):
    async with smtp_server(handler, tls=server_context()) as (_, port), smtp_dialogue(port) as client:
        await client.ask("EHLO me")
        injected = ["MAIL FROM:<a@a.test>", "RCPT TO:<b@b.test>", "DATA", "x", "."]
        assert (await client.ask("STARTTLS", *injected)).startswith("220 ")
        await client.start_tls(client_context())
        assert (await client.ask("NOOP")).startswith("250 2.0.0")
        assert (await client.ask("DATA")).startswith("503 ")
    assert handler.taken == []


async def test_implicit_tls(handler: RecordingHandler):
    async with (
        smtp_server(handler, tls=server_context(), implicit_tls=True) as (_, port),
        smtp_dialogue(port, tls=client_context()) as client,
    ):
        assert "STARTTLS" not in (await client.ask("EHLO me"))


async def test_implicit_tls_needs_a_certificate(handler: RecordingHandler):
    with pytest.raises(ValueError, match="needs a certificate"):
        async with smtp_server(handler, implicit_tls=True):
            pass


async def test_a_handler_that_replies_421_closes_the_connection(handler: RecordingHandler):
    handler.reply = SmtpReply(421, "4.7.0", "Enough.")
    async with smtp_server(handler) as (_, port), smtp_dialogue(port) as client:
        await client.send("EHLO me", "MAIL FROM:<a@a.test>", "RCPT TO:<b@b.test>", "DATA", "x", ".", "NOOP")
        assert (await client.rest()).endswith("421 4.7.0 Enough.\r\n")


async def test_a_failed_handshake_ends_the_connection(handler: RecordingHandler):
    async with smtp_server(handler, tls=server_context(), implicit_tls=True) as (server, port):
        async with smtp_dialogue(port, greeting=False) as client:
            await client.send("EHLO me")
            await client._reader.read()
        while server.connections:
            await asyncio.sleep(0)


async def test_chunks(handler: RecordingHandler):
    async with smtp_server(handler) as (_, port), smtp_dialogue(port) as client:
        await client.ask("EHLO me")
        for _ in range(2):
            await client.send("MAIL FROM:<a@a.test>", "RCPT TO:<b@b.test>")
            await client.send_octets(b"BDAT 6\r\n.\r\n..\rBDAT 4\r\n\n.\r\nBDAT 0 LAST\r\n")
            assert [(await client.reply())[:3] for _ in range(5)] == ["250"] * 5
        await client.send_octets(b"BDAT 1 LAST\r\nx")
        assert (await client.reply()).startswith("503 ")
        assert (await client.ask("MAIL FROM:<a@a.test>")).startswith("250 ")
        await client.send_octets(b"BDAT 1 LAST\r\nx")
        assert (await client.reply()).startswith("554 5.5.1")
        await client.send("MAIL FROM:<a@a.test>", "RCPT TO:<b@b.test>", "BDAT 1", "xDATA")
        assert [(await client.reply())[:3] for _ in range(4)] == ["250", "250", "250", "503"]
        assert (await client.ask("RSET")).startswith("250 ")
        await client.send("MAIL FROM:<a@a.test>", "RCPT TO:<b@b.test>", "DATA", "z", ".")
        assert [(await client.reply())[:3] for _ in range(4)] == ["250", "250", "354", "250"]
    assert [taken.content for taken in handler.taken] == [b".\r\n..\r\n.\r\n"] * 2 + [b"z\r\n"]


async def test_a_handler_that_fails_gets_a_temporary_error(handler: RecordingHandler):
    handler.failure = ZeroDivisionError()
    async with smtp_server(handler) as (_, port), smtp_dialogue(port) as client:
        await client.ask("EHLO me")
        await client.send("MAIL FROM:<a@a.test>", "RCPT TO:<b@b.test>", "DATA", "x", ".", "NOOP")
        replies = [(await client.reply())[:9] for _ in range(5)]
    assert replies[3:] == ["451 4.3.0", "250 2.0.0"]


async def test_the_replies_to_a_client_that_has_closed_its_side(handler: RecordingHandler):
    async with smtp_server(handler) as (_, port), smtp_dialogue(port) as client:
        await client.send("EHLO me", "MAIL FROM:<a@a.test>", "RCPT TO:<b@b.test>", "DATA", "x", ".")
        client.close_sending()
        assert (await client.rest()).endswith("250 2.0.0 queued\r\n")
    assert len(handler.taken) == 1


# Independence of how the octets arrive, and line ends.

SESSION = b"".join(
    line + b"\r\n"
    for line in [
        *[b"EHLO me.test", b"AUTH PLAIN " + PLAIN.encode(), b"MAIL FROM:<a@a.test> SIZE=3"],
        *[b"RCPT TO:<b@b.test>", b"DATA", b"..", b"a.", b"\xc3\xa4", b"", b".", b"NOOP"],
        *[b"MAIL FROM:<>", b"RCPT TO:<unknown@b.test>", b"RCPT TO:<c@c.test>"],
        *[b"BDAT 7\r\n.\r\n\r\n.\rBDAT 1 LAST\r\n\nVRFY x", b"BOGUS", b"QUIT"],
    ]
)


async def outcome(*pieces: bytes, **changes) -> tuple[list[str], list[tuple]]:
    """The codes of the replies, and the messages, if the octets arrive in these pieces."""
    handler = RecordingHandler()
    sent = await replies_to(list(pieces), handler, **changes)
    codes = [line[:9] for line in sent.decode().splitlines() if line[3] == " "]
    return codes, [(taken.sender, taken.recipients, taken.content) for taken in handler.taken]


async def test_a_session_has_the_same_result_wherever_it_is_split():
    whole = await outcome(SESSION)
    assert " ".join(code[:3] for code in whole[0]) == (
        "220 250 235 250 250 354 250 250 250 550 250 250 250 252 500 221"
    )
    assert whole[1] == [
        ("a@a.test", ("b@b.test",), b".\r\na.\r\n\xc3\xa4\r\n\r\n"),
        ("", ("c@c.test",), b".\r\n\r\n.\r\n"),
    ]
    for split in range(1, len(SESSION)):
        assert await outcome(SESSION[:split], SESSION[split:]) == whole
    assert await outcome(*(SESSION[index : index + 1] for index in range(len(SESSION)))) == whole


LINE_ENDS = [b"\n", b"\r", b"\r\r\n", b"\n\r\n", b"\r\n\r", b"\n\n", b"\r\r", b"\n\r"]
ENDINGS = [
    before + b"." + after
    for before in [b"\r\n", *LINE_ENDS]
    for after in [b"\r\n", *LINE_ENDS]
    if (before, after) != (b"\r\n", b"\r\n")
]
SMUGGLED = b"MAIL FROM:<evil@a.test>\r\nRCPT TO:<b@b.test>\r\nDATA\r\nevil\r\n.\r\n"
TRANSACTION = b"EHLO me\r\nMAIL FROM:<a@a.test>\r\nRCPT TO:<b@b.test>\r\nDATA\r\n"


@pytest.mark.parametrize("ending", ENDINGS, ids=repr)
async def test_only_crlf_dot_crlf_ends_a_message(ending: bytes):
    octets = TRANSACTION + b"text" + ending + SMUGGLED
    whole = await outcome(octets)
    if ending.startswith(b"\r\n.\r\n"):
        # The message is complete; what follows is a command with a line end that is not allowed.
        assert whole[0][-2:] == ["250 2.0.0", "554 5.5.2"]
        assert [content for _, _, content in whole[1]] == [b"text\r\n"]
    else:
        assert whole[0][-1] == "554 5.6.1"
        assert whole[1] == []
    for split in range(len(TRANSACTION), len(octets)):
        assert await outcome(octets[:split], octets[split:]) == whole


@pytest.mark.parametrize("line_end", [b"\n", b"\r", b"\r\r\n", b"\n\r"], ids=repr)
async def test_bare_line_ends_in_commands_end_the_connection(line_end: bytes):
    octets = b"EHLO me\r\nNOOP" + line_end + b"NOOP\r\nNOOP\r\n"
    whole = await outcome(octets)
    assert whole[0] == ["220 mx.te", "250 AUTH ", "554 5.5.2"]
    for split in range(1, len(octets)):
        assert await outcome(octets[:split], octets[split:]) == whole


async def test_bare_line_ends_in_chunks_end_the_connection():
    for content in (b"a\nb\r\n", b"a\rb\r\n", b"ab\r"):
        chunk = b"BDAT %d LAST\r\n" % len(content) + content
        codes, messages = await outcome(TRANSACTION.replace(b"DATA\r\n", chunk) + b"NOOP\r\n")
        assert codes[-1] == "554 5.6.1"
        assert messages == []


async def test_a_line_that_is_too_long():
    long = b"NOOP " + b"x" * (LINE_OCTETS - 7) + b"\r\n"
    assert (await outcome(long))[0] == ["220 mx.te", "250 2.0.0"]
    for pieces in ([long[:-2] + b"x\r\n"], [long[:-2], b"x\r\n"]):
        assert (await outcome(*pieces, b"NOOP\r\n"))[0] == ["220 mx.te", "554 5.5.2"]


@given(
    st.lists(
        st.one_of(
            st.sampled_from(
                [
                    *[b"\r\n", b"\n", b"\r", b".", b"..", b"\r\n.\r\n", b"NOOP\r\n", b"DATA\r\n", b"BDAT 3\r\n"],
                    *[b"MAIL FROM:<a@a.test>\r\n", b"RCPT TO:<b@b.test>\r\n", b"BDAT 2 LAST\r\n", b"AUTH LOGIN\r\n"],
                    *[b"RSET\r\n", b"EHLO me\r\n"],
                ]
            ),
            st.binary(max_size=8),
        ),
        max_size=30,
    ),
    st.lists(st.integers(0, 300), max_size=6),
)
async def test_any_octets_have_the_same_result_wherever_they_are_split(parts: list[bytes], splits: list[int]):
    octets = b"EHLO me\r\n" + b"".join(parts)
    points = sorted({0, len(octets), *(split % (len(octets) + 1) for split in splits)})
    pieces = [octets[begin:end] for begin, end in pairwise(points)]
    whole, split = await outcome(octets), await outcome(*pieces)
    assert split == whole
