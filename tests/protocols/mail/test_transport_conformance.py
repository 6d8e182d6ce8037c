"""Conformance tests that every transport must pass."""

import asyncio
import time
from contextlib import AsyncExitStack
from datetime import UTC, datetime

import pytest

from postern.kernel.values import system_clock
from postern.protocols.aws.signature import AwsCredentials
from postern.protocols.mail.smtp import Tls
from postern.protocols.mail.transports.capture import CaptureTransport
from postern.protocols.mail.transports.direct import DirectTransport
from postern.protocols.mail.transports.failover import FailoverTransport
from postern.protocols.mail.transports.mx import MailRoutes
from postern.protocols.mail.transports.relay import RelayServer, RelayTransport
from postern.protocols.mail.transports.ses import SesAccount, SesTransport
from postern.protocols.mail.transports.transport import Accepted, DeliveryHooks, Envelope, Rejected
from tests.peers.dns_zone import dns_zone, patient
from tests.peers.loopback_internet import loopback_internet
from tests.peers.moto_server import REGION
from tests.peers.ports import reserved_port
from tests.peers.smtp_sink import Behaviour, Sink

MESSAGE = b"Message-ID: <1@a.test>\r\nSubject: Hello\r\n\r\nHello\r\n.leading dot\r\n..two\r\n.\r\nend\r\n"


class Captured:
    """The capture transport, and the messages that it stores."""

    supports_smtputf8 = True

    async def __aenter__(self):
        self.stored: list[tuple[Envelope, bytes]] = []

        async def store(envelope, message):
            self.stored.append((envelope, message))

        self.transport = CaptureTransport(store)
        return self

    async def __aexit__(self, *_):
        await self.transport.aclose()

    @property
    def received(self):
        return [(set(envelope.recipients), message) for envelope, message in self.stored]


class Relayed:
    """The relay transport to a sink."""

    supports_smtputf8 = True

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
        return [(set(message.recipients), message.raw) for message in self.sink.messages]


class Direct:
    """The direct transport to the mail servers of two domains."""

    chunking = False
    supports_smtputf8 = True

    async def __aenter__(self):
        self.stack = AsyncExitStack()
        zone = await self.stack.enter_async_context(dns_zone())
        internet = await self.stack.enter_async_context(loopback_internet(zone))
        self.sinks = [
            await internet.mail_server(domain, Behaviour(chunking=self.chunking))
            for domain in ("b.test", "xn--mller-kva.test")
        ]

        async def no_policy(_domain):
            return None

        routes = MailRoutes(
            patient(zone, cache=True),
            port=internet.port,
            check_addresses=lambda _: None,
            find_policy=no_policy,
            own_names=(),
            own_addresses=(),
            clock=time.monotonic,
        )
        self.transport = DirectTransport(routes.find, now=system_clock, port=internet.port)
        return self

    async def __aexit__(self, *_):
        await self.transport.aclose()
        await self.stack.aclose()

    @property
    def received(self):
        return [(set(message.recipients), message.raw) for sink in self.sinks for message in sink.messages]


class DirectInChunks(Direct):
    """The direct transport to servers that support CHUNKING."""

    chunking = True


class SentBySes:
    """The SES transport to moto."""

    supports_smtputf8 = False

    def __init__(self, moto):
        self.moto = moto

    async def __aenter__(self):
        self.moto.reset()
        self.moto.verify("a.test")
        credentials = AwsCredentials(access_key_id="AKIDEXAMPLE", secret_access_key="secret")
        account = SesAccount(credentials=credentials, region=REGION, endpoint=self.moto.url)
        self.transport = SesTransport(account, now=lambda: datetime.now(UTC))
        return self

    async def __aexit__(self, *_):
        await self.transport.aclose()

    @property
    def received(self):
        return [(message.recipients, message.raw) for message in self.moto.messages]


class FailedOver(Relayed):
    """The relay transport to a sink, after another relay that cannot be reached."""

    async def __aenter__(self):
        await super().__aenter__()
        self._closed = reserved_port()
        closed = RelayServer(host="127.0.0.1", port=self._closed.__enter__().getsockname()[1], tls=Tls.NONE)
        self.opened = [RelayTransport([closed]), self.transport]
        self.transport = FailoverTransport(dict(zip(["first", "second"], self.opened, strict=True)))
        return self

    async def __aexit__(self, *_):
        for transport in self.opened:
            await transport.aclose()
        self._closed.__exit__(None, None, None)
        await self.sink.aclose()


@pytest.fixture(params=[Captured, Relayed, Direct, DirectInChunks, SentBySes, FailedOver])
async def case(request):
    peers = [request.getfixturevalue("moto")] if request.param is SentBySes else []
    async with request.param(*peers) as case:
        yield case


def envelope(*recipients: str, **more) -> Envelope:
    return Envelope(mail_from="b@a.test", recipients=recipients or ("x@b.test",), message_id="<1@a.test>", **more)


async def test_every_octet_arrives_unchanged(case):
    outcome = await case.transport.deliver(envelope(), MESSAGE)
    (accepted,) = outcome.results
    assert isinstance(accepted, Accepted)
    assert (accepted.code, accepted.recipient, outcome.ambiguous) == (250, "x@b.test", False)
    assert case.received == [({"x@b.test"}, MESSAGE)]


async def test_fifty_recipients_have_results_in_order(case):
    recipients = tuple(f"r{number}@b.test" for number in range(50))
    outcome = await case.transport.deliver(envelope(*recipients), MESSAGE)
    assert tuple(result.recipient for result in outcome.results) == recipients
    assert all(isinstance(result, Accepted) for result in outcome.results)
    assert case.received == [(set(recipients), MESSAGE)]


@pytest.mark.parametrize(
    "body",
    [b"a\n.\n", b"a\n.\r\nb", b"a\r.\rb", b"a\r\n.\nb", b"a\r\n.\rb", b"a\r\n\0.\r\nb", b"a\nb", b"a\rb", b"\r", b"\n"],
)
async def test_smuggling_is_refused(case, body):
    outcome = await case.transport.deliver(envelope(), b"Subject: x\r\n\r\n" + body + b"\r\n")
    (rejected,) = outcome.results
    assert isinstance(rejected, Rejected)
    assert rejected.enhanced == "5.6.0"
    assert case.received == []


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
async def test_an_invalid_address_is_rejected_alone(case, address):
    outcome = await case.transport.deliver(envelope(address, "good@b.test"), MESSAGE)
    bad, good = outcome.results
    assert isinstance(bad, Rejected)
    assert bad.enhanced == "5.1.3"
    assert isinstance(good, Accepted)
    assert len(case.received) == 1


async def test_before_dot_is_called_before_the_message_is_received(case):
    received_before_dot = []

    async def before_dot():
        await asyncio.sleep(0.01)
        received_before_dot.append(len(case.received))

    await case.transport.deliver(envelope(), MESSAGE, DeliveryHooks(before_dot=before_dot))
    assert received_before_dot == [0]
    assert len(case.received) == 1


async def test_an_error_in_before_dot_prevents_the_delivery(case):
    async def before_dot():
        raise LookupError("the database is not available")

    with pytest.raises(LookupError):
        await case.transport.deliver(envelope(), MESSAGE, DeliveryHooks(before_dot=before_dot))
    assert case.received == []
    outcome = await case.transport.deliver(envelope(), MESSAGE)
    assert isinstance(outcome.results[0], Accepted)


async def test_before_dot_is_not_called_without_a_valid_recipient(case):
    async def before_dot():
        raise AssertionError("there is no recipient to deliver to")

    outcome = await case.transport.deliver(envelope("nobody"), MESSAGE, DeliveryHooks(before_dot=before_dot))
    assert isinstance(outcome.results[0], Rejected)


async def test_concurrent_messages_are_all_delivered(case):
    async def deliver(number):
        return await case.transport.deliver(envelope(f"r{number}@b.test", bulk=number % 2 == 0), MESSAGE)

    outcomes = await asyncio.gather(*(deliver(number) for number in range(200)))
    assert all(isinstance(outcome.results[0], Accepted) for outcome in outcomes)
    assert len(case.received) == 200


async def test_the_circuit_is_closed_and_aclose_is_idempotent(case):
    assert not case.transport.circuit_open
    await case.transport.aclose()
    await case.transport.aclose()


async def test_internationalised_addresses_are_accepted_or_rejected_with_the_reason(case):
    text = "Subject: Grüße\r\n\r\nÄ\r\n".encode()
    outcome = await case.transport.deliver(envelope("grün@müller.test", needs_smtputf8=True), text)
    if case.supports_smtputf8:
        assert isinstance(outcome.results[0], Accepted)
        assert case.received[0][1] == text
    else:
        assert isinstance(outcome.results[0], Rejected)
        assert outcome.results[0].enhanced == "5.6.7"
        assert case.received == []
