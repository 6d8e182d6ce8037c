"""Relays that limit, fail, become unreachable and recover."""

import asyncio
import random
from datetime import timedelta

import pytest

from postern.messaging.emails.outcomes import dialogue_of
from postern.protocols.mail.smtp import Timeouts, Tls
from postern.protocols.mail.transports import relay as relay_module
from postern.protocols.mail.transports.relay import MOST_RELAYS, RelayServer, RelayTransport
from postern.protocols.mail.transports.transport import Accepted, Deferred, Envelope
from tests.peers.ports import reserved_port
from tests.peers.smtp_sink import Behaviour, Sink, client_context, server_context

MESSAGE = b"Message-ID: <1@a.test>\r\nSubject: Hello\r\n\r\nHello\r\n"


class Clock:
    """A clock that the test moves."""

    def __init__(self) -> None:
        self.now = 1_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def port_socket():
    """The socket of a reserved port on which no server listens yet."""
    with reserved_port() as port_socket:
        yield port_socket


def envelope(*recipients: str, **more) -> Envelope:
    return Envelope(mail_from="b@a.test", recipients=recipients or ("x@b.test",), message_id="<1@a.test>", **more)


def relay(sink: Sink, **more) -> RelayServer:
    return RelayServer(**{"host": "127.0.0.1", "port": sink.port, "tls": Tls.NONE} | more)


def result_names(outcomes) -> set[str]:
    """The class names of all results of these outcomes."""
    return {type(result).__name__ for outcome in outcomes for result in outcome.results}


async def test_connections_are_shared_and_limited():
    async with Sink() as sink:
        transport = RelayTransport([relay(sink, max_connections=3)])
        outcomes = await asyncio.gather(*(transport.deliver(envelope(), MESSAGE) for _ in range(100)))
        assert result_names(outcomes) == {"Accepted"}
        assert len(sink.messages) == 100
        assert sink.connections == sink.most_open_sessions == 3
        await transport.aclose()


async def test_the_limit_of_messages_per_connection():
    async with Sink() as sink:
        transport = RelayTransport([relay(sink, max_connections=1, max_messages_per_connection=10)])
        for _ in range(25):
            await transport.deliver(envelope(), MESSAGE)
        assert sink.connections == 3
        await transport.aclose()
        assert sink.commands.count("QUIT") == 3


async def test_a_connection_counts_until_the_server_has_closed_it():
    async with Sink(Behaviour(slow_quit_seconds=0.1)) as sink:
        transport = RelayTransport([relay(sink, max_connections=2, max_messages_per_connection=1)])
        outcomes = await asyncio.gather(*(transport.deliver(envelope(), MESSAGE) for _ in range(8)))
        assert result_names(outcomes) == {"Accepted"}
        assert (sink.connections, sink.most_open_sessions) == (8, 2)
        await transport.aclose()


async def test_a_server_that_does_not_reply_to_quit_does_not_stop_the_mail():
    timeouts = Timeouts(goodbye=timedelta(seconds=0.1))
    async with Sink(Behaviour(stall_at="QUIT")) as sink:
        transport = RelayTransport([relay(sink, max_connections=1, max_messages_per_connection=1)], timeouts=timeouts)
        outcomes = await asyncio.gather(*(transport.deliver(envelope(), MESSAGE) for _ in range(3)))
        assert result_names(outcomes) == {"Accepted"}
        assert (sink.connections, sink.most_open_sessions) == (3, 1)
        await transport.aclose()


async def test_no_message_is_lost_if_the_server_closes_connections():
    async with Sink(Behaviour(messages_per_connection=7)) as sink:
        transport = RelayTransport([relay(sink, max_connections=2)])
        outcomes = [await transport.deliver(envelope(), MESSAGE) for _ in range(60)]
        assert result_names(outcomes) == {"Accepted"}
        assert len(sink.messages) == 60
        await transport.aclose()


async def test_a_dead_idle_connection_is_replaced():
    async with Sink() as sink:
        transport = RelayTransport([relay(sink)])
        for _ in range(3):
            assert result_names([await transport.deliver(envelope(), MESSAGE)]) == {"Accepted"}
            for session in list(sink.open_sessions):
                session.reset()
        assert sink.connections == 3
        # The client may notice only with the next message that the server has closed the connection.
        assert result_names([await transport.deliver(envelope(), MESSAGE)]) == {"Accepted"}
        sink.behaviour.drop_at = "MAIL"
        assert result_names([await transport.deliver(envelope(), MESSAGE)]) == {"Deferred"}
        sink.behaviour.drop_at = ""
        assert result_names([await transport.deliver(envelope(), MESSAGE)]) == {"Accepted"}
        assert len(sink.messages) == 5
        await transport.aclose()


async def test_idle_connections_are_probed_and_then_closed(monkeypatch):
    monkeypatch.setattr(relay_module, "IDLE_BEFORE_NOOP_SECONDS", 0.0)
    monkeypatch.setattr(relay_module, "IDLE_SECONDS", 0.05)
    async with Sink() as sink:
        transport = RelayTransport([relay(sink)])
        await transport.deliver(envelope(), MESSAGE)
        await transport.deliver(envelope(), MESSAGE)
        assert sink.commands.count("NOOP") == sink.connections == 1
        while sink.open_sessions:
            await asyncio.sleep(0.01)
        assert sink.commands[-1] == "QUIT"
        await transport.aclose()


async def test_the_circuit_breaker_opens_and_closes_again(port_socket):
    clock = Clock()
    transport = RelayTransport(
        [RelayServer(host="127.0.0.1", port=port_socket.getsockname()[1], tls=Tls.NONE)], clock=clock
    )
    failed = [await transport.deliver(envelope(), MESSAGE) for _ in range(3)]
    assert result_names(failed) == {"Deferred"}
    assert not any(outcome.no_server_contacted for outcome in failed)
    assert transport.circuit_open
    not_attempted = await transport.deliver(envelope(), MESSAGE)
    assert not_attempted.no_server_contacted
    assert timedelta() < not_attempted.retry_after <= timedelta(seconds=2)
    async with Sink(listener=port_socket) as sink:
        assert (await transport.deliver(envelope(), MESSAGE)).no_server_contacted
        clock.now += 2
        assert not transport.circuit_open
        outcomes = await asyncio.gather(*(transport.deliver(envelope(), MESSAGE) for _ in range(5)))
        assert len(sink.messages) == sum(isinstance(outcome.results[0], Accepted) for outcome in outcomes) >= 1
        assert not transport.circuit_open
        await transport.aclose()


@pytest.mark.parametrize("at", ["GREETING", "AUTH", "EHLO"])
async def test_the_dialogue_of_a_failed_connection_is_logged(at):
    behaviour = Behaviour(users={"u": "p"}, replies={at: b"421 4.3.2 Not today"})
    async with Sink(behaviour) as sink:
        transport = RelayTransport([relay(sink, user="u", password="p")])
        outcome = await transport.deliver(envelope("a@b.test", "c@b.test"), MESSAGE)
        assert result_names([outcome]) == {"Deferred"}
        assert any("Not today" in line for line in dialogue_of(outcome))
        assert len(outcome.results) == 2
        await transport.aclose()


async def test_certificates_are_verified_unless_disabled():
    async with Sink(Behaviour(tls=server_context())) as sink:
        verifying = relay(sink, host="localhost", tls=Tls.STARTTLS_REQUIRED)
        for server, context, expected in (
            (verifying, None, "Deferred"),
            (verifying, client_context(), "Accepted"),
            (relay(sink, host="localhost", tls=Tls.STARTTLS, verify=False), None, "Accepted"),
        ):
            transport = RelayTransport([server], context=context)
            assert result_names([await transport.deliver(envelope(), MESSAGE)]) == {expected}
            await transport.aclose()
        assert all(message.encrypted for message in sink.messages)


async def test_relays_are_used_in_proportion_to_their_weights():
    async with Sink() as light, Sink() as heavy:
        transport = RelayTransport([relay(light, weight=1), relay(heavy, weight=3)], chance=random.Random(1).random)
        for _ in range(400):
            await transport.deliver(envelope(), MESSAGE)
        assert 60 < len(light.messages) < 140
        assert len(light.messages) + len(heavy.messages) == 400
        await transport.aclose()


async def test_another_relay_takes_over_only_before_the_transaction_started(port_socket):
    async with Sink() as alive:
        transport = RelayTransport([relay(alive, port=port_socket.getsockname()[1]), relay(alive)])
        outcomes = [await transport.deliver(envelope(), MESSAGE) for _ in range(20)]
        assert result_names(outcomes) == {"Accepted"}
        assert len(alive.messages) == 20
        await transport.aclose()
    dropping = Behaviour(drop_after_dot=1.0)
    async with Sink(dropping) as first, Sink(dropping) as second:
        transport = RelayTransport([relay(first), relay(second)])
        outcome = await transport.deliver(envelope(), MESSAGE)
        assert outcome.ambiguous
        assert len(first.messages) + len(second.messages) == 1, "a second relay could deliver a second copy"
        await transport.aclose()


async def test_many_deferrals_slow_down_and_recover():
    async with Sink(Behaviour(replies={"RCPT": b"451 4.7.1 Slow down"})) as sink:
        clock = Clock()
        transport = RelayTransport([relay(sink, max_connections=8)], clock=clock)
        pool = transport._pools[0][1]
        for _ in range(40):
            clock.now += 2
            assert result_names([await transport.deliver(envelope(), MESSAGE)]) == {"Deferred"}
        assert pool.shaper.connections == 1
        clock.now += 0.001
        burst = await asyncio.gather(*(transport.deliver(envelope(), MESSAGE) for _ in range(3)))
        assert result_names(burst) == {"Deferred"}
        sink.behaviour.replies = {}
        for _ in range(400):
            clock.now += 1
            assert result_names([await transport.deliver(envelope(), MESSAGE)]) == {"Accepted"}
        assert pool.shaper.connections == 8
        await transport.aclose()


async def test_greylisting_of_some_recipients_does_not_slow_others():
    async with Sink() as sink:
        transport = RelayTransport([relay(sink, max_connections=4)])
        for number in range(60):
            await transport.deliver(envelope("greylist@b.test" if number % 3 else "x@b.test"), MESSAGE)
        assert transport._pools[0][1].shaper.connections == 4
        await transport.aclose()


async def test_messages_are_returned_if_the_rate_limit_delays_them_too_long():
    async with Sink() as sink:
        transport = RelayTransport([relay(sink, per_second=0.01)], clock=Clock())
        first = await transport.deliver(envelope(), MESSAGE)
        second = await transport.deliver(envelope(), MESSAGE)
        assert isinstance(first.results[0], Accepted)
        assert second.no_server_contacted
        assert second.retry_after > timedelta(seconds=90)
        await transport.aclose()


async def test_the_queue_in_memory_is_limited(monkeypatch):
    monkeypatch.setattr(relay_module, "LONGEST_QUEUE", 5)
    async with Sink(Behaviour(slow_seconds=0.05)) as sink:
        transport = RelayTransport([relay(sink, max_connections=2)])
        outcomes = await asyncio.gather(*(transport.deliver(envelope(), MESSAGE) for _ in range(20)))
        assert sum(outcome.no_server_contacted for outcome in outcomes) == 13
        assert len(sink.messages) == 7
        await transport.aclose()


async def test_connections_are_reserved_for_mail_that_is_not_bulk():
    async with Sink(Behaviour(stall_at="DOT")) as sink:
        transport = RelayTransport([relay(sink, max_connections=5)])
        bulk = [asyncio.ensure_future(transport.deliver(envelope(bulk=True), MESSAGE)) for _ in range(20)]
        while sink.accepted < 4:
            await asyncio.sleep(0.001)
        sink.behaviour.stall_at = ""
        urgent = await transport.deliver(envelope("urgent@b.test"), MESSAGE)
        assert isinstance(urgent.results[0], Accepted)
        assert sink.accepted == 5
        for task in bulk:
            task.cancel()
        await asyncio.gather(*bulk, return_exceptions=True)
        # A cancelled task gives up its connection, so all of these can be sent.
        outcomes = await asyncio.gather(*(transport.deliver(envelope(bulk=True), MESSAGE) for _ in range(20)))
        assert result_names(outcomes) == {"Accepted"}
        await transport.aclose()


async def test_a_stalled_relay_times_out():
    brief = timedelta(seconds=0.1)
    short_timeouts = Timeouts(greeting=brief, command=brief, pipeline=brief, block=brief, dot=brief, goodbye=brief)
    async with Sink(Behaviour(stall_at="GREETING")) as sink:
        transport = RelayTransport([relay(sink)], timeouts=short_timeouts)
        outcome = await transport.deliver(envelope(), MESSAGE)
        assert isinstance(outcome.results[0], Deferred)
        assert not outcome.ambiguous
        await transport.aclose()


async def test_only_a_lost_reply_after_the_final_dot_is_ambiguous():
    async with Sink(Behaviour(drop_after_dot=0.3)) as sink:
        transport = RelayTransport([relay(sink, max_connections=4)])
        outcomes = await asyncio.gather(*(transport.deliver(envelope(), MESSAGE) for _ in range(100)))
        accepted = sum(isinstance(outcome.results[0], Accepted) for outcome in outcomes)
        ambiguous = sum(outcome.ambiguous for outcome in outcomes)
        assert accepted + ambiguous == len(sink.messages) == 100
        assert 10 < ambiguous < 60
        await transport.aclose()


@pytest.mark.parametrize("count", [0, MOST_RELAYS + 1])
def test_a_transport_has_1_to_16_relays(count):
    with pytest.raises(ValueError):
        RelayTransport([RelayServer(host="a.test")] * count)
