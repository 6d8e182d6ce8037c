"""All processes share the rate of a relay, whose time spans they lease from the database."""

import asyncio
import itertools
from uuid import uuid4

from postern.kernel.values import new_id
from postern.messaging.emails import store
from postern.messaging.emails.transports import MAX_LEASE_AHEAD, _lease
from postern.protocols.mail.smtp import Tls
from postern.protocols.mail.transports.relay import LEASED_SECONDS, RelayServer, RelayTransport
from postern.protocols.mail.transports.transport import Envelope
from tests.peers.smtp_sink import Sink


def relay(sink, rate):
    return RelayServer(host="127.0.0.1", port=sink.port, tls=Tls.NONE, per_second=rate)


def envelope():
    return Envelope(mail_from="a@b.test", recipients=("c@d.test",), message_id=f"<{uuid4()}@b.test>")


async def test_two_processes_share_a_rate(world, monkeypatch):
    """Defects: S11"""
    project_id, rate, spans = new_id(), 40, []

    async def lease(name, seconds):
        begin = await _lease(world, project_id, name, seconds)
        if begin is not None:
            now = asyncio.get_running_loop().time()
            spans.append((now + begin, now + begin + seconds))
        return begin

    async with Sink() as sink:
        both = [RelayTransport([relay(sink, rate)], lease=lease) for _ in range(2)]
        message = b"Subject: x\r\n\r\nHello\r\n"
        outcomes = await asyncio.gather(
            *(both[number % 2].deliver(envelope(), message) for number in range(rate)), return_exceptions=False
        )
        for each in both:
            await each.aclose()
        assert sink.accepted == sum(not outcome.no_server_contacted for outcome in outcomes) == rate
    # As many spans as the messages need, not one each, and none beside another.
    assert rate * LEASED_SECONDS < len(spans) * rate * LEASED_SECONDS <= rate * 3
    spans.sort()
    assert all(later[0] >= earlier[1] - 0.1 for earlier, later in itertools.pairwise(spans))


async def test_send_times_are_not_leased_far_ahead(world):
    """Defects: S11"""
    fence = {"project_id": new_id(), "name": "relay", "ahead": MAX_LEASE_AHEAD}
    first = await store.lease_times(world.db, span=MAX_LEASE_AHEAD * 2, **fence)
    assert first is not None
    assert first.begin_seconds == 0
    assert await store.lease_times(world.db, span=MAX_LEASE_AHEAD, **fence) is None
