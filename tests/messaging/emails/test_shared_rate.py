"""All processes share the rate limit of a relay: they lease the time spans in which they send from the database."""

import asyncio
import itertools
from uuid import uuid4

from postern.kernel.values import new_id
from postern.messaging.emails import store
from postern.messaging.emails.transports import MAX_LEASE_AHEAD, _lease_times
from postern.protocols.mail.smtp import Tls
from postern.protocols.mail.transports.relay import LEASED_SECONDS, RelayServer, RelayTransport
from postern.protocols.mail.transports.transport import Envelope
from tests.peers.smtp_sink import Sink


def relay(sink, rate):
    return RelayServer(host="127.0.0.1", port=sink.port, tls=Tls.NONE, per_second=rate)


def envelope():
    return Envelope(mail_from="a@b.test", recipients=("c@d.test",), message_id=f"<{uuid4()}@b.test>")


async def test_two_processes_share_a_rate(world, monkeypatch):
    """Regression test of S11 (tests/defects.md)."""
    project_id, rate, spans = new_id(), 40, []

    async def lease(name, seconds):
        begin_seconds = await _lease_times(world, project_id, name, seconds)
        if begin_seconds is not None:
            now = asyncio.get_running_loop().time()
            spans.append((now + begin_seconds, now + begin_seconds + seconds))
        return begin_seconds

    async with Sink() as sink:
        transports = [RelayTransport([relay(sink, rate)], lease=lease) for _ in range(2)]
        message = b"Subject: x\r\n\r\nHello\r\n"
        outcomes = await asyncio.gather(
            *(transports[number % 2].deliver(envelope(), message) for number in range(rate)), return_exceptions=False
        )
        for transport in transports:
            await transport.aclose()
        assert sink.accepted == sum(not outcome.no_server_contacted for outcome in outcomes) == rate
    # Only as many spans are leased as the messages need, not one for each message, and spans do not overlap.
    assert rate * LEASED_SECONDS < len(spans) * rate * LEASED_SECONDS <= rate * 3
    spans.sort()
    assert all(next_span[0] >= span[1] - 0.1 for span, next_span in itertools.pairwise(spans))


async def test_send_times_are_not_leased_far_ahead(world):
    """Regression test of S11 (tests/defects.md)."""
    limit = {"project_id": new_id(), "name": "relay", "ahead": MAX_LEASE_AHEAD}
    first = await store.lease_times(world.db, span=MAX_LEASE_AHEAD * 2, **limit)
    assert first is not None
    assert first.begin_seconds == 0
    assert await store.lease_times(world.db, span=MAX_LEASE_AHEAD, **limit) is None
