"""Conformance tests that every transport must pass."""

import asyncio

import pytest

from postern.protocols.mail.smtp import Tls
from postern.protocols.mail.transports.capture import CaptureTransport
from postern.protocols.mail.transports.relay import RelayServer, RelayTransport
from postern.protocols.mail.transports.transport import Accepted, Envelope, Rejected
from tests.peers.smtp_sink import Sink

MESSAGE = b"Message-ID: <1@a.test>\r\nSubject: Hello\r\n\r\nHello\r\n.leading dot\r\n..two\r\n.\r\nend\r\n"


class Captured:
    """The capture transport, and the messages that it stores."""

    async def __aenter__(self):
        self.kept: list[tuple[Envelope, bytes]] = []

        async def keep(envelope, message):
            self.kept.append((envelope, message))

        self.transport = CaptureTransport(keep)
        return self

    async def __aexit__(self, *_):
        await self.transport.aclose()

    @property
    def received(self):
        return [(set(envelope.recipients), message) for envelope, message in self.kept]


class Relayed:
    """The relay transport to a sink."""

    async def __aenter__(self):
        self.sink = Sink()
        await self.sink.__aenter__()
        self.transport = RelayTransport([RelayServer(host="127.0.0.1", port=self.sink.port, tls=Tls.NONE)])
        return self

    async def __aexit__(self, *_):
        await self.transport.aclose()
        await self.sink.aclose()

    @property
    def received(self):
        return [(set(one.recipients), one.raw) for one in self.sink.messages]


@pytest.fixture(params=[Captured, Relayed])
async def way(request):
    async with request.param() as found:
        yield found


def envelope(*recipients: str, **more) -> Envelope:
    return Envelope(mail_from="b@a.test", recipients=recipients or ("x@b.test",), message_id="<1@a.test>", **more)


async def test_every_octet_arrives_unchanged(way):
    outcome = await way.transport.deliver(envelope(), MESSAGE)
    (accepted,) = outcome.results
    assert isinstance(accepted, Accepted)
    assert (accepted.code, accepted.recipient, outcome.ambiguous) == (250, "x@b.test", False)
    assert way.received == [({"x@b.test"}, MESSAGE)]


async def test_fifty_recipients_in_order(way):
    everybody = tuple(f"r{at}@b.test" for at in range(50))
    outcome = await way.transport.deliver(envelope(*everybody), MESSAGE)
    assert tuple(one.recipient for one in outcome.results) == everybody
    assert all(isinstance(one, Accepted) for one in outcome.results)
    assert way.received == [(set(everybody), MESSAGE)]


@pytest.mark.parametrize(
    "body",
    [b"a\n.\n", b"a\n.\r\nb", b"a\r.\rb", b"a\r\n.\nb", b"a\r\n.\rb", b"a\r\n\0.\r\nb", b"a\nb", b"a\rb", b"\r", b"\n"],
)
async def test_smuggling_is_refused(way, body):
    outcome = await way.transport.deliver(envelope(), b"Subject: x\r\n\r\n" + body + b"\r\n")
    (rejected,) = outcome.results
    assert isinstance(rejected, Rejected)
    assert rejected.enhanced == "5.6.0"
    assert way.received == []


@pytest.mark.parametrize(
    "address",
    [
        "x@b.test>\r\nRCPT TO:<y@b.test",
        "x y@b.test",
        "x",
        "@b.test",
        "",
        "x@b.test\n",
        "<x@b.test>",
        "x@b@c",
        "a\0@b.c",
    ],
)
async def test_an_invalid_address_is_rejected_alone(way, address):
    outcome = await way.transport.deliver(envelope(address, "good@b.test"), MESSAGE)
    bad, good = outcome.results
    assert isinstance(bad, Rejected)
    assert bad.enhanced == "5.1.3"
    assert isinstance(good, Accepted)
    assert len(way.received) == 1


async def test_the_hook_is_called_before_the_final_dot(way):
    seen = []

    async def before_dot():
        await asyncio.sleep(0.01)
        seen.append(len(way.received))

    await way.transport.deliver(envelope(), MESSAGE, before_dot=before_dot)
    assert seen == [0]
    assert len(way.received) == 1


async def test_a_failing_hook_prevents_the_transmission(way):
    async def before_dot():
        raise LookupError("the database is away")

    with pytest.raises(LookupError):
        await way.transport.deliver(envelope(), MESSAGE, before_dot=before_dot)
    assert way.received == []
    outcome = await way.transport.deliver(envelope(), MESSAGE)
    assert isinstance(outcome.results[0], Accepted)


async def test_the_hook_is_not_called_without_a_recipient(way):
    async def before_dot():
        raise AssertionError("nothing can be handed over")

    outcome = await way.transport.deliver(envelope("nobody"), MESSAGE, before_dot=before_dot)
    assert isinstance(outcome.results[0], Rejected)


async def test_many_concurrent_messages(way):
    async def one(at):
        return await way.transport.deliver(envelope(f"r{at}@b.test", bulk=at % 2 == 0), MESSAGE)

    outcomes = await asyncio.gather(*(one(at) for at in range(200)))
    assert all(isinstance(outcome.results[0], Accepted) for outcome in outcomes)
    assert len(way.received) == 200


async def test_the_circuit_is_closed_and_aclose_is_idempotent(way):
    assert not way.transport.circuit_open
    await way.transport.aclose()
    await way.transport.aclose()


async def test_internationalised_addresses(way):
    text = "Subject: Grüße\r\n\r\nÄ\r\n".encode()
    outcome = await way.transport.deliver(envelope("grün@müller.test", needs_smtputf8=True), text)
    assert isinstance(outcome.results[0], Accepted)
    assert way.received[0][1] == text
