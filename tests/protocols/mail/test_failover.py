"""The fail-over transport over two relays, of which the first fails as a test says."""

import asyncio
from contextlib import AsyncExitStack

import pytest

from postern.protocols.mail.smtp import Tls
from postern.protocols.mail.transports.failover import FailoverTransport
from postern.protocols.mail.transports.relay import FAILURES_TO_OPEN, RelayServer, RelayTransport
from postern.protocols.mail.transports.transport import Accepted, Deferred, DeliveryHooks, Envelope
from tests.peers.ports import reserved_port
from tests.peers.smtp_sink import Sink

MESSAGE = b"Message-ID: <1@a.test>\r\n\r\nHello\r\n"
ENVELOPE = Envelope(mail_from="b@a.test", recipients=("x@b.test",), message_id="<1@a.test>")


class TwoRelays:
    """The transports `first` and `second`; nothing listens on the port of `first` until a test starts a sink."""

    def __init__(self, closed_port, second_port):
        self.first = relay_to(closed_port)
        self.second = relay_to(second_port)
        self.transport = FailoverTransport({"first": self.first, "second": self.second})


def relay_to(port, **more):
    return RelayTransport([RelayServer(host="127.0.0.1", port=port, tls=Tls.NONE, **more)])


@pytest.fixture
async def second():
    async with Sink() as sink:
        yield sink


@pytest.fixture
async def relays(second):
    with reserved_port() as closed:
        relays = TwoRelays(closed.getsockname()[1], second.port)
        yield relays
        await relays.first.aclose()
        await relays.second.aclose()


async def test_the_next_transport_takes_what_the_first_cannot(relays, second):
    for _ in range(FAILURES_TO_OPEN + 2):
        outcome = await relays.transport.deliver(ENVELOPE, MESSAGE)
        assert isinstance(outcome.results[0], Accepted)
        assert (outcome.transport, outcome.host) == ("second", f"127.0.0.1:{second.port}")
    assert relays.first.circuit_open
    assert not relays.transport.circuit_open
    assert len(second.messages) == FAILURES_TO_OPEN + 2


async def test_the_first_transport_is_used_while_it_works(second):
    async with Sink() as first, AsyncExitStack() as stack:
        transports = {"first": relay_to(first.port), "second": relay_to(second.port)}
        for transport in transports.values():
            stack.push_async_callback(transport.aclose)
        outcome = await FailoverTransport(transports).deliver(ENVELOPE, MESSAGE)
        assert outcome.transport == "first"
        assert (len(first.messages), len(second.messages)) == (1, 0)


async def drop_after_the_dot(reader, writer):
    """An SMTP server that accepts everything and closes the connection instead of replying to the message."""
    writer.write(b"220 sink\r\n")
    try:
        while line := await reader.readline():
            command = line[:4].upper()
            if command == b"DATA":
                writer.write(b"354 go on\r\n")
                await reader.readuntil(b"\r\n.\r\n")
                break
            writer.write(b"250 ok\r\n")
    finally:
        writer.transport.abort()


async def refuse_recipients(reader, writer):
    """An SMTP server that defers every recipient."""
    writer.write(b"220 sink\r\n")
    try:
        while line := await reader.readline():
            writer.write(b"451 4.3.2 later\r\n" if line[:4].upper() == b"RCPT" else b"250 ok\r\n")
    finally:
        writer.transport.abort()


@pytest.mark.parametrize(("behaviour", "ambiguous"), [(drop_after_the_dot, True), (refuse_recipients, False)])
async def test_a_message_whose_transmission_began_stays_with_the_first(second, behaviour, ambiguous):
    server = await asyncio.start_server(behaviour, "127.0.0.1", 0)
    transports = {"first": relay_to(server.sockets[0].getsockname()[1]), "second": relay_to(second.port)}
    try:
        outcome = await FailoverTransport(transports).deliver(ENVELOPE, MESSAGE)
    finally:
        for transport in transports.values():
            await transport.aclose()
        server.close()
    assert isinstance(outcome.results[0], Deferred)
    assert (outcome.ambiguous, outcome.transport, second.messages) == (ambiguous, "first", [])


async def test_a_message_that_waits_for_the_rate_limit_stays_with_the_first(second):
    async with Sink() as first:
        transports = {"first": relay_to(first.port, per_second=0.01), "second": relay_to(second.port)}
        transport = FailoverTransport(transports)
        try:
            assert isinstance((await transport.deliver(ENVELOPE, MESSAGE)).results[0], Accepted)
            waiting = await transport.deliver(ENVELOPE, MESSAGE)
        finally:
            for relay in transports.values():
                await relay.aclose()
    assert waiting.no_server_contacted
    assert (waiting.transport, second.messages) == ("first", [])


async def test_if_no_transport_can_be_used_the_earliest_retry_counts():
    with reserved_port() as one, reserved_port() as two:
        relays = TwoRelays(one.getsockname()[1], two.getsockname()[1])
        for _ in range(FAILURES_TO_OPEN):
            outcome = await relays.transport.deliver(ENVELOPE, MESSAGE)
            assert not outcome.no_server_contacted
        assert relays.transport.circuit_open
        outcome = await relays.transport.deliver(ENVELOPE, MESSAGE)
        assert outcome.no_server_contacted
        assert outcome.retry_after is not None


async def test_an_error_of_a_hook_is_raised(relays, second):
    async def admit():
        raise LookupError("the send was cancelled")

    with pytest.raises(LookupError):
        await relays.transport.deliver(ENVELOPE, MESSAGE, DeliveryHooks(admit=admit))
    assert second.messages == []
