"""Mail servers whose replies never end: the connection is closed early, and little memory is used."""

import asyncio
import time
import tracemalloc
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from postern.kernel.outbound.ssrf import permitted, read_networks
from postern.kernel.values import system_clock
from postern.protocols.mail.smtp import Tls
from postern.protocols.mail.transports.direct import DirectTransport
from postern.protocols.mail.transports.mx import MailRoutes
from postern.protocols.mail.transports.relay import RelayServer, RelayTransport
from postern.protocols.mail.transports.transport import Accepted, Deferred, DeliveryHooks, Envelope
from tests.peers.dns_zone import dns_zone, patient
from tests.peers.endless_server import FORMS, STAGES, endless_server

OCTETS = 64_000_000
"""How much a server sends if the client lets it."""
MEMORY_OCTETS = 4_000_000
"""More than a client needs: a read of 256 kB, and copies of it."""
MESSAGE = b"Message-ID: <1@a.test>\r\nSubject: Hello\r\n\r\nHello\r\n"
ENVELOPE = Envelope(mail_from="b@a.test", recipients=("x@b.test",), message_id="<1@a.test>")


@contextmanager
def little_memory() -> Iterator[None]:
    """Assert that the block never has more than MEMORY_OCTETS of new objects at a time."""
    tracemalloc.start()
    try:
        yield
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < MEMORY_OCTETS


def outcome_of(outcome) -> type:
    (result,) = outcome.results
    return type(result)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("stage", STAGES)
async def test_a_relay_whose_replies_never_end(stage, form):
    """The message is deferred; it is accepted if a reply to it came before the others."""
    async with endless_server(stage, form, OCTETS) as server:
        transport = RelayTransport([RelayServer(host="127.0.0.1", port=server.port, tls=Tls.NONE)])
        with little_memory():
            outcome = await transport.deliver(ENVELOPE, MESSAGE)
            await transport.aclose()
    is_accepted = stage in ("text", "message") and form == "many replies"
    assert outcome_of(outcome) is (Accepted if is_accepted else Deferred)
    assert 0 < server.sent < OCTETS


@pytest.mark.parametrize("form", FORMS)
async def test_a_mail_server_whose_replies_never_end(form):
    async with endless_server("EHLO", form, OCTETS) as server, dns_zone() as zone:
        zone.load("b.test. MX 10 mx.b.test.\nmx.b.test. A 127.0.0.1")
        routes = MailRoutes(
            patient(zone),
            port=server.port,
            check_addresses=lambda addresses: permitted(addresses, read_networks("127.0.0.0/8")),
            find_policy=_no_policy,
            own_names=(),
            own_addresses=(),
            clock=time.monotonic,
        )
        transport = DirectTransport(routes.find, now=system_clock, port=server.port)
        with little_memory():
            outcome = await transport.deliver(ENVELOPE, MESSAGE)
            await transport.aclose()
    assert outcome_of(outcome) is Deferred
    assert 0 < server.sent < OCTETS


async def _no_policy(_domain):
    return None


@pytest.mark.parametrize("form", FORMS)
async def test_replies_while_the_caller_commits(form):
    """Nobody waits for a reply while the caller commits, which may take long; the server may not fill the memory."""
    async with endless_server("text", form, OCTETS) as server:
        transport = RelayTransport([RelayServer(host="127.0.0.1", port=server.port, tls=Tls.NONE)])

        async def before_dot() -> None:
            # A transaction that takes as long as the server wants to send.
            async with asyncio.timeout(300):
                await server.ended.wait()

        with little_memory():
            outcome = await transport.deliver(ENVELOPE, MESSAGE, DeliveryHooks(before_dot=before_dot))
            await transport.aclose()
    assert outcome_of(outcome) is Deferred
    assert not outcome.ambiguous
    assert 0 < server.sent < OCTETS
