"""The SMTP client with well-behaved and misbehaving servers."""

import asyncio
from datetime import timedelta

import pytest

from postern.messaging.emails.outcomes import dialogue_of
from postern.protocols.mail.smtp import (
    AuthenticationFailed,
    ConnectionDropped,
    GreetingRefused,
    Peer,
    Timeouts,
    Tls,
    TlsRequired,
    Unreachable,
    connect,
)
from postern.protocols.mail.transports.transport import LONGEST_DIALOGUE, Accepted, Deferred, Envelope, Rejected
from tests.peers.ports import reserved_port
from tests.peers.smtp_sink import Behaviour, Sink, client_context, server_context

MESSAGE = b"Message-ID: <1@a.test>\r\nSubject: Hello\r\n\r\nHello\r\n"
SHORT = timedelta(seconds=0.15)
SHORT_TIMEOUTS = Timeouts(greeting=SHORT, command=SHORT)
"""For servers that never reply. Servers that reply get the default timeouts, because the machine may be slow."""


def envelope(*recipients: str, mail_from: str = "b@a.test", **more) -> Envelope:
    return Envelope(mail_from=mail_from, recipients=recipients or ("x@b.test",), message_id="<1@a.test>", **more)


def peer(sink: Sink, **more) -> Peer:
    return Peer(**{"host": "127.0.0.1", "port": sink.port, "tls": Tls.NONE} | more)


async def deliver(sink: Sink, to: Envelope, message: bytes = MESSAGE, **more):
    """Send one message over a new connection."""
    connection = await connect(peer(sink, **more))
    try:
        return await connection.send(to, message)
    finally:
        await connection.quit()


def result_names(outcome) -> list[str]:
    """The class names of the results."""
    return [type(result).__name__ for result in outcome.results]


async def test_the_commands_of_a_transaction():
    async with Sink() as sink:
        outcome = await deliver(sink, envelope(), ehlo_host="mail.a.test")
        assert sink.commands == [
            "EHLO mail.a.test",
            f"MAIL FROM:<b@a.test> SIZE={len(MESSAGE)}",
            "RCPT TO:<x@b.test>",
            "DATA",
            "QUIT",
        ]
        assert dialogue_of(outcome) == [
            "S: 220 sink.test ESMTP",
            "C: EHLO mail.a.test",
            "S: 250-sink.test",
            "S: 250-PIPELINING",
            "S: 250-8BITMIME",
            "S: 250-SMTPUTF8",
            "S: 250-ENHANCEDSTATUSCODES",
            "S: 250 SIZE 50000000",
            f"C: MAIL FROM:<b@a.test> SIZE={len(MESSAGE)}",
            "C: RCPT TO:<x@b.test>",
            "C: DATA",
            "S: 250 2.1.0 Ok",
            "S: 250 2.1.5 Ok",
            "S: 354 End data with <CR><LF>.<CR><LF>",
            f"C: ({len(MESSAGE)} octets and the final dot)",
            "S: 250 2.0.0 Ok: queued as 0",
        ]
        assert outcome.host == f"127.0.0.1:{sink.port}"
        assert outcome.results[0].enhanced == "2.0.0"


@pytest.mark.parametrize("pipelining", [True, False])
async def test_each_recipient_has_its_own_outcome(pipelining):
    async with Sink(Behaviour(pipelining=pipelining)) as sink:
        outcome = await deliver(
            sink, envelope("a@b.test", "tempfail@b.test", "permfail@b.test", "many@b.test", "c@b.test")
        )
        assert result_names(outcome) == ["Accepted", "Deferred", "Rejected", "Deferred", "Accepted"]
        assert [result.enhanced for result in outcome.results] == ["2.0.0", "4.2.0", "5.1.1", "", "2.0.0"]
        assert [message.recipients for message in sink.messages] == [("a@b.test", "c@b.test")]


@pytest.mark.parametrize("pipelining", [True, False])
@pytest.mark.parametrize(
    ("replies", "to", "expected"),
    [
        ({"MAIL": b"451 4.3.0 Later"}, ("a@b.test", "permfail@b.test"), ["Deferred 4.3.0", "Deferred 4.3.0"]),
        ({"MAIL": b"550 5.7.1 Never"}, ("a@b.test",), ["Rejected 5.7.1"]),
        ({"RCPT": b"550 5.1.1 No"}, ("a@b.test", "tempfail@b.test"), ["Rejected 5.1.1", "Deferred 4.2.0"]),
        ({"DATA": b"451 4.3.2 Later"}, ("a@b.test", "permfail@b.test"), ["Deferred 4.3.2", "Rejected 5.1.1"]),
        ({"DOT": b"554 5.7.1 Spam"}, ("a@b.test", "tempfail@b.test"), ["Rejected 5.7.1", "Deferred 4.2.0"]),
        ({"DOT": b"452 4.3.1 Full"}, ("a@b.test",), ["Deferred 4.3.1"]),
        ({"MAIL": b"421 4.7.0 Bye"}, ("a@b.test", "b@b.test"), ["Deferred 4.7.0", "Deferred 4.7.0"]),
        ({"DOT": b"421 4.3.2 Bye"}, ("a@b.test",), ["Deferred 4.3.2"]),
    ],
)
async def test_the_results_after_a_rejection_in_each_phase(pipelining, replies, to, expected):
    async with Sink(Behaviour(pipelining=pipelining, replies=replies)) as sink:
        connection = await connect(peer(sink))
        outcome = await connection.send(envelope(*to), MESSAGE)
        assert [f"{type(result).__name__} {result.enhanced}" for result in outcome.results] == expected
        assert not outcome.ambiguous
        assert sink.messages == []
        sink.behaviour.replies = {}
        closes = any(reply.startswith(b"421") for reply in replies.values())
        assert connection.usable is not closes
        if not closes:
            # The next message on the same connection is accepted.
            again = await connection.send(envelope(), MESSAGE)
            assert result_names(again) == ["Accepted"]
            assert len(sink.messages) == 1
        await connection.quit()


async def test_a_server_that_accepts_data_without_recipients_gets_an_empty_message():
    async with Sink(Behaviour(accept_data_without_recipients=True)) as sink:
        connection = await connect(peer(sink))
        outcome = await connection.send(envelope("permfail@b.test", "tempfail@b.test"), MESSAGE)
        assert result_names(outcome) == ["Rejected", "Deferred"]
        assert sink.messages == []
        assert result_names(await connection.send(envelope(), MESSAGE)) == ["Accepted"]
        assert [message.raw for message in sink.messages] == [MESSAGE]
        await connection.quit()


async def test_a_server_that_accepts_data_without_a_sender_is_disconnected():
    """If a server rejects MAIL but accepts RCPT and DATA, the final dot could deliver an empty message."""
    replies = {"MAIL": b"550 5.7.1 No", "OUT_OF_ORDER": b"250 2.1.5 Ok"}
    async with Sink(Behaviour(accept_data_without_recipients=True, replies=replies)) as sink:
        connection = await connect(peer(sink))
        assert result_names(await connection.send(envelope(), MESSAGE)) == ["Rejected"]
        assert not connection.usable
        assert sink.messages == []


@pytest.mark.parametrize("body", [b".\r\n", b"..\r\n", b"a\r\n.\r\nb\r\n", b".a\r\n.b", b"", b"no end"])
async def test_dot_stuffing(body):
    async with Sink() as sink:
        head = b"Subject: x\r\n\r\n"
        await deliver(sink, envelope(), head + body)
        message = head + body
        assert [received.raw for received in sink.messages] == [
            message if message.endswith(b"\r\n") else message + b"\r\n"
        ]


FALSE_ENDS = [
    head + dot + tail
    for head in (b"\n", b"\r", b"\r\n", b"\r\n\0", b"\n\r", b"")
    for dot in (b".", b"..")
    for tail in (b"\n", b"\r", b"\r\n", b"\n\r", b"\r\r\n")
]


@pytest.mark.parametrize("accept_bare_line_ends", [True, False])
async def test_no_body_smuggles_a_second_message(accept_bare_line_ends):
    """Each message is rejected or received as one message, even by a server that accepts bare CR or LF as line ends."""
    async with Sink(Behaviour(accept_bare_line_ends=accept_bare_line_ends)) as sink:
        connection = await connect(peer(sink))
        sent = 0
        for end in FALSE_ENDS:
            second = b"MAIL FROM:<evil@a.test>\r\nRCPT TO:<victim@b.test>\r\nDATA\r\nSubject: evil\r\n\r\nevil\r\n"
            outcome = await connection.send(envelope(), b"Subject: x\r\n\r\nbody" + end + second + b".\r\nQUIT\r\n")
            sent += isinstance(outcome.results[0], Accepted)
        await connection.quit()
        assert len(sink.messages) == sent
        assert {message.sender for message in sink.messages} <= {"b@a.test"}
        assert not any(command.startswith("MAIL FROM:<evil") for command in sink.commands)


async def test_messages_that_the_server_does_not_support_are_not_sent():
    async with Sink(Behaviour(size=100, smtputf8=False, eightbit=False)) as sink:
        connection = await connect(peer(sink))

        async def results_of(to: Envelope, message: bytes = MESSAGE) -> list[str]:
            outcome = await connection.send(to, message)
            return [f"{type(result).__name__} {result.enhanced}" for result in outcome.results]

        assert await results_of(envelope(), MESSAGE + b"x" * 100) == ["Rejected 5.3.4"]
        assert await results_of(envelope(), MESSAGE + b"\xc3\xa4\r\n") == ["Rejected 5.6.3"]
        assert await results_of(envelope(needs_smtputf8=True)) == ["Rejected 5.6.7"]
        assert await results_of(envelope(mail_from="grün@a.test")) == ["Rejected 5.6.7"]
        assert await results_of(envelope("grün@b.test", "x@müller.test")) == ["Rejected 5.6.7", "Accepted 2.0.0"]
        assert await results_of(envelope("grün@b.test")) == ["Rejected 5.6.7"]
        assert [message.recipients for message in sink.messages] == [("x@xn--mller-kva.test",)]
        await connection.quit()


async def test_mail_has_the_parameters_that_the_message_needs():
    async with Sink() as sink:
        connection = await connect(peer(sink))
        await connection.send(envelope(mail_from=""), MESSAGE)
        await connection.send(envelope("grün@b.test"), MESSAGE)
        await connection.send(envelope(), MESSAGE + "ä\r\n".encode())
        assert [(message.sender, message.parameters) for message in sink.messages] == [
            ("", f"SIZE={len(MESSAGE)}"),
            ("b@a.test", f"SIZE={len(MESSAGE)} SMTPUTF8"),
            ("b@a.test", f"SIZE={len(MESSAGE) + 4} BODY=8BITMIME"),
        ]
        await connection.quit()


async def test_a_server_without_ehlo():
    async with Sink(Behaviour(replies={"EHLO": b"502 5.5.1 Unknown"})) as sink:
        assert result_names(await deliver(sink, envelope())) == ["Accepted"]
        assert sink.commands[1:3] == ["HELO localhost", "MAIL FROM:<b@a.test>"]


# Encryption and passwords.


async def test_starttls_with_a_valid_certificate():
    async with Sink(Behaviour(tls=server_context())) as sink:
        to = peer(sink, host="localhost", address="127.0.0.1", tls=Tls.STARTTLS_REQUIRED, context=client_context())
        connection = await connect(to)
        assert result_names(await connection.send(envelope(), MESSAGE)) == ["Accepted"]
        assert sink.messages[0].encrypted
        assert sink.commands[:3] == ["EHLO localhost", "STARTTLS", "EHLO localhost"]
        await connection.quit()


async def test_implicit_tls():
    async with Sink(Behaviour(tls=server_context(), implicit=True)) as sink:
        to = peer(sink, host="localhost", address="127.0.0.1", tls=Tls.IMPLICIT, context=client_context())
        connection = await connect(to)
        assert result_names(await connection.send(envelope(), MESSAGE)) == ["Accepted"]
        assert sink.messages[0].encrypted
        await connection.quit()


@pytest.mark.parametrize("implicit", [True, False])
@pytest.mark.parametrize(
    ("host", "verify", "trusted", "is_accepted"),
    [
        ("localhost", True, True, True),
        ("localhost", True, False, False),
        ("other.test", True, True, False),
        ("other.test", False, False, True),
    ],
)
async def test_certificates_are_verified_if_required(implicit, host, verify, trusted, is_accepted):
    tls = Tls.IMPLICIT if implicit else Tls.STARTTLS
    async with Sink(Behaviour(tls=server_context(), implicit=implicit)) as sink:
        context = client_context() if trusted else None
        to = peer(sink, host=host, address="127.0.0.1", tls=tls, verify=verify, context=context)
        if is_accepted:
            connection = await connect(to)
            assert connection.encrypted
            await connection.quit()
        else:
            with pytest.raises(TlsRequired):
                await connect(to)
            assert not any(command.startswith("MAIL") for command in sink.commands)


async def test_missing_starttls_is_accepted_only_if_tls_is_optional():
    async with Sink() as sink:
        connection = await connect(peer(sink, tls=Tls.STARTTLS))
        assert not connection.encrypted
        await connection.quit()
        with pytest.raises(TlsRequired):
            await connect(peer(sink, tls=Tls.STARTTLS_REQUIRED))
        with pytest.raises(TlsRequired, match="not encrypted"):
            await connect(peer(sink, tls=Tls.STARTTLS, user="u", password="secret"))
        assert not any("AUTH" in command for command in sink.commands)


async def test_replies_received_before_tls_are_discarded():
    """Otherwise injected replies would be taken for replies to later commands (RFC 3207 §6)."""
    injected = b"250-fake\r\n250 AUTH PLAIN\r\n250 2.1.0 fake\r\n"
    async with Sink(Behaviour(tls=server_context(), inject_after_starttls=injected)) as sink:
        to = peer(sink, host="localhost", address="127.0.0.1", tls=Tls.STARTTLS, context=client_context())
        connection = await connect(to)
        assert "AUTH" not in connection.features
        assert "PIPELINING" in connection.features
        outcome = await connection.send(envelope("permfail@b.test"), MESSAGE)
        assert result_names(outcome) == ["Rejected"]
        await connection.quit()


@pytest.mark.parametrize("mechanisms", ["PLAIN LOGIN", "LOGIN", "CRAM-MD5 PLAIN"])
async def test_authentication_mechanisms(mechanisms):
    async with Sink(Behaviour(users={"ü": "geheim"}, mechanisms=mechanisms)) as sink:
        connection = await connect(peer(sink, user="ü", password="geheim"))
        outcome = await connection.send(envelope(), MESSAGE)
        assert sink.messages[0].user == "ü"
        assert not any("geheim" in line or "Z2VoZWlt" in line for line in dialogue_of(outcome))
        assert any("****" in line for line in dialogue_of(outcome))
        await connection.quit()
        with pytest.raises(AuthenticationFailed) as raised:
            await connect(peer(sink, user="ü", password="falsch"))
        assert raised.value.reply.code == 535
        assert raised.value.opening


async def test_unsupported_authentication_mechanisms_fail():
    async with Sink(Behaviour(users={"u": "p"}, mechanisms="GSSAPI")) as sink:
        with pytest.raises(AuthenticationFailed):
            await connect(peer(sink, user="u", password="p"))


# Servers that fail.


async def test_unreachable_servers():
    with reserved_port() as port_socket, pytest.raises(Unreachable):
        await connect(Peer(host="127.0.0.1", port=port_socket.getsockname()[1]))
    with pytest.raises(Unreachable):
        await connect(Peer(host="a..b", port=25))


@pytest.mark.parametrize(
    ("behaviour", "problem"),
    [
        (Behaviour(replies={"GREETING": b"554 5.3.2 No service here"}), GreetingRefused),
        (Behaviour(replies={"GREETING": b"421 4.3.2 Later"}), GreetingRefused),
        (Behaviour(replies={"EHLO": b"421 4.3.2 Later"}), ConnectionDropped),
        (Behaviour(replies={"EHLO": b"550 no", "HELO": b"550 no"}), GreetingRefused),
        (Behaviour(replies={"GREETING": b"220-x\r\n" * 200 + b"220 x"}), ConnectionDropped),
        (Behaviour(replies={"GREETING": b"220 " + b"x" * 5_000_000}), ConnectionDropped),
        (Behaviour(replies={"GREETING": b"HTTP/1.1 400 Bad Request"}), ConnectionDropped),
        (Behaviour(stall_at="GREETING"), ConnectionDropped),
        (Behaviour(stall_at="EHLO"), ConnectionDropped),
        (Behaviour(drop_at="GREETING"), ConnectionDropped),
        (Behaviour(drop_at="EHLO"), ConnectionDropped),
        (Behaviour(drip_seconds=0.05), ConnectionDropped),
    ],
)
async def test_invalid_greetings(behaviour, problem):
    async with Sink(behaviour) as sink:
        with pytest.raises(problem) as raised:
            is_silent = behaviour.stall_at or behaviour.drip_seconds
            await connect(peer(sink, timeouts=SHORT_TIMEOUTS if is_silent else Timeouts()))
        assert sum(len(data) for _, data in raised.value.opening) <= LONGEST_DIALOGUE + 300_000


@pytest.mark.parametrize("pipelining", [True, False])
@pytest.mark.parametrize(
    ("change", "ambiguous"),
    [
        ({"drop_at": "MAIL"}, False),
        ({"drop_at": "RCPT"}, False),
        ({"drop_at": "DATA"}, False),
        ({"drop_at": "TEXT"}, None),
        ({"drop_at": "DOT"}, True),
        ({"drop_after_dot": 1.0}, True),
        ({"stall_at": "MAIL"}, False),
        ({"stall_at": "RCPT"}, False),
        ({"stall_at": "DATA"}, False),
        ({"stall_at": "DOT"}, True),
        ({"drip_seconds": 0.05}, False),
        ({"replies": {"MAIL": b"garbage"}}, False),
        ({"replies": {"DOT": b"garbage"}}, True),
    ],
)
async def test_servers_that_fail_during_a_transaction(pipelining, change, ambiguous):
    async with Sink(Behaviour(pipelining=pipelining)) as sink:
        connection = await connect(peer(sink))
        for name, value in change.items():
            setattr(sink.behaviour, name, value)
        if change.get("stall_at") == "DOT":
            connection._dot_timeout = SHORT.total_seconds()
        elif change.keys() & {"stall_at", "drip_seconds"}:
            connection._command_timeout = connection._pipeline_timeout = SHORT.total_seconds()
        outcome = await connection.send(envelope("a@b.test", "b@b.test"), MESSAGE)
        assert result_names(outcome) == ["Deferred", "Deferred"]
        assert {result.code for result in outcome.results} == {0}
        assert ambiguous is None or outcome.ambiguous is ambiguous
        assert not connection.usable


@pytest.mark.parametrize("recipients", [1, 2, 3])
@pytest.mark.parametrize("waits_before_dot", [True, False])
@pytest.mark.parametrize("tls", [Tls.IMPLICIT, Tls.STARTTLS, Tls.NONE])
async def test_a_message_that_was_received_without_a_reply_is_ambiguous(tls, waits_before_dot, recipients):
    behaviour = Behaviour(tls=None if tls is Tls.NONE else server_context(), implicit=tls is Tls.IMPLICIT)
    async with Sink(behaviour) as sink:
        to = peer(sink, host="localhost", address="127.0.0.1", tls=tls, context=client_context())
        connection = await connect(to)
        sink.behaviour.drop_after_dot = 1.0
        addresses = [f"{number}@b.test" for number in range(recipients)]

        async def before_dot():
            await asyncio.sleep(0)

        outcome = await connection.send(
            envelope(*addresses), MESSAGE, before_dot=before_dot if waits_before_dot else None
        )
        assert sink.accepted == 1
        assert result_names(outcome) == ["Deferred"] * recipients
        assert outcome.ambiguous


@pytest.mark.parametrize("pipelining", [True, False])
@pytest.mark.parametrize(
    "replies",
    [{"DATA": b"250 Fine"}, {"RCPT": b"250 Fine\r\n250 Fine"}, {"DATA": b"354 Go on\r\n250 Fine"}],
    ids=["2xx to DATA", "two replies to RCPT", "a reply before the dot"],
)
async def test_a_reply_too_many_never_counts_as_acceptance(pipelining, replies):
    async with Sink(Behaviour(pipelining=pipelining)) as sink:
        connection = await connect(peer(sink))
        sink.behaviour.replies = replies

        async def before_dot():
            await asyncio.sleep(0.05)

        outcome = await connection.send(envelope("a@b.test", "b@b.test"), MESSAGE, before_dot=before_dot)
        assert result_names(outcome) == ["Deferred", "Deferred"]
        assert not outcome.ambiguous
        assert not connection.usable
        assert sink.messages == []


async def test_an_incomplete_transmission_is_not_ambiguous():
    """The server receives nothing of a large message, so the final dot is still in the write buffer."""
    async with Sink(Behaviour(stop_reading_after_354=True)) as sink:
        connection = await connect(peer(sink, timeouts=Timeouts(block=SHORT)))
        outcome = await connection.send(envelope(), MESSAGE + b"line\r\n" * 4_000_000)
        assert result_names(outcome) == ["Deferred"]
        assert not outcome.ambiguous


async def test_a_large_message_arrives():
    async with Sink() as sink:
        message = MESSAGE + (b"x" * 76 + b"\r\n") * 300_000
        assert result_names(await deliver(sink, envelope(), message)) == ["Accepted"]
        assert sink.messages[0].raw == message


async def test_a_connection_lost_before_the_final_dot_is_not_ambiguous():
    async with Sink() as sink:
        connection = await connect(peer(sink))
        closed = asyncio.Event()

        async def before_dot():
            for session in list(sink.open_sessions):
                session.reset()
            while connection.usable:
                await asyncio.sleep(0)
            closed.set()

        outcome = await connection.send(envelope(), MESSAGE, before_dot=before_dot)
        assert closed.is_set()
        assert result_names(outcome) == ["Deferred"]
        assert not outcome.ambiguous
        assert sink.messages == []


async def test_a_cancelled_delivery_leaves_no_partial_message():
    async with Sink() as sink:
        connection = await connect(peer(sink))
        waiting = asyncio.Event()

        async def before_dot():
            waiting.set()
            await asyncio.Event().wait()

        sending = asyncio.ensure_future(connection.send(envelope(), MESSAGE, before_dot=before_dot))
        await waiting.wait()
        sending.cancel()
        with pytest.raises(asyncio.CancelledError):
            await sending
        assert not connection.usable
        assert sink.messages == []


async def test_unsolicited_replies_end_the_connection():
    async with Sink() as sink:
        connection = await connect(peer(sink))
        (session,) = sink.open_sessions
        session._write(b"250 2.0.0 Ok\r\n")
        while connection.usable:
            await asyncio.sleep(0)


async def test_the_dialogue_is_limited():
    async with Sink(
        Behaviour(replies={"DOT": b"554-" + b"x" * 1000 + (b"\r\n554-" + b"x" * 1000) * 90 + b"\r\n554 x"})
    ) as sink:
        outcome = await deliver(sink, envelope())
        assert isinstance(outcome.results[0], Rejected)
        assert sum(len(data) for _, data in outcome.exchange) < LONGEST_DIALOGUE + 300_000


async def test_noop_reports_whether_the_connection_is_usable():
    async with Sink() as sink:
        connection = await connect(peer(sink))
        assert await connection.noop()
        assert result_names(await connection.send(envelope(), MESSAGE)) == ["Accepted"]
        await connection.quit()
        assert not await connection.noop()
        assert isinstance((await deliver(sink, envelope("tempfail@b.test"))).results[0], Deferred)
