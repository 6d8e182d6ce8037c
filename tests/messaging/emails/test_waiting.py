"""What an e-mail waits for, and until when: the field `waiting` of its log entry, for each cause."""

from datetime import UTC, datetime, timedelta
from uuid import uuid4

import msgspec
import pytest

from postern.messaging.emails import rules
from postern.messaging.emails.rules import new_send
from postern.messaging.emails.sites import sites
from postern.messaging.emails.sources import SourceWarmUps
from postern.protocols.mail.address import parse_address
from postern.protocols.mail.transports.transport import WaitCause
from tests.messaging.campaigns.test_campaigns import request_action
from tests.messaging.emails.conftest import POLICY
from tests.messaging.emails.test_direct import sender
from tests.messaging.emails.test_sites import BUSY, operate, queue, settled_background
from tests.messaging.emails.test_source_warm_up import new_address
from tests.messaging.reputation.test_reputation import domain_of, start_campaign
from tests.peers.smtp_sink import Behaviour

__all__ = ["sender"]

MAIL = {"from": "Acme <hello@example.com>", "subject": "Hello", "text": "Hello"}


@pytest.fixture
def settings(settings, internet):
    return msgspec.structs.replace(settings, transport="direct", direct_port=internet.port)


async def waiting(project, send_id):
    """The field of a log entry, and the time until the message goes on from now."""
    return (await project.client.get(f"/emails/logs/{send_id}")).json()["waiting"]


async def send(project, to, **fields):
    sent = await project.client.post("/emails", {**MAIL, "to": [to], **fields})
    assert sent.status_code in (201, 202), sent.text
    return sent.json()["id"]


async def campaign_send(project):
    (entry,) = (await project.client.get("/emails/logs?status=QUEUED&limit=1")).json()["data"]
    return entry["id"]


async def test_a_delivered_or_failed_message_waits_for_nothing(sender, internet):
    await internet.mail_server("b.test")
    assert await waiting(sender, await send(sender, "ada@b.test")) is None
    assert await waiting(sender, await send(sender, "permfail@b.test")) is None


async def test_a_scheduled_message_waits_for_its_time(sender, clock):
    at = (clock() + timedelta(hours=3)).strftime("%Y-%m-%dT%H:%M:%S.000Z")
    send_id = await send(sender, "ada@b.test", scheduledAt=at)
    assert await waiting(sender, send_id) == {"cause": "SCHEDULE", "until": at, "site": None}


async def test_a_queued_message_waits_for_a_worker(sender, internet):
    await internet.mail_server("b.test")
    (send_id,) = await queue(sender, "ada@b.test")
    assert await waiting(sender, send_id) == {"cause": "QUEUE", "until": None, "site": None}


async def test_a_greylisted_message_waits_for_the_next_attempt(sender, internet, clock):
    await internet.mail_server("b.test", Behaviour(replies={"RCPT": b"450 4.7.1 Greylisted"}))
    field = await waiting(sender, await send(sender, "ada@b.test"))
    assert (field["cause"], field["site"]) == ("DEFERRED", "mx.b.test")
    assert timedelta(minutes=3) < datetime.fromisoformat(field["until"]) - clock() < timedelta(minutes=8)


async def test_failed_tls_is_a_cause(sender, internet, publish_policy, unique_domain, authority):
    await publish_policy(unique_domain, POLICY.format(mode="enforce", domain=unique_domain))
    await internet.mail_server(unique_domain)
    send_id = await send(sender, f"ada@{unique_domain}")
    assert (await waiting(sender, send_id))["cause"] == "TLS"


async def test_an_unreachable_site_is_a_cause_once_it_is_left_alone(sender, internet, clock):
    internet.zone.add("b.test", "MX", "10 mx.b.test.")
    internet.zone.add("mx.b.test", "A", internet.new_address())
    causes = [(await waiting(sender, await send(sender, "ada@b.test")))["cause"] for _ in range(5)]
    assert (causes[0], causes[-1]) == ("DEFERRED", "SITE_UNREACHABLE")


async def test_a_suspended_site_is_a_cause_with_its_end(sender, internet, world, clock, run_due_work):
    await internet.mail_server("b.test")
    await send(sender, "first@b.test")
    await sites(world).update()
    end = (clock() + timedelta(hours=5)).strftime("%Y-%m-%dT%H:%M:%S.000Z")
    for until in (end, None):
        await operate(sender, "mx.b.test", "suspend", reason="Maintenance", until=until)
        await sites(world).update()
        (send_id,) = await queue(sender, "ada@b.test")
        await run_due_work()
        assert await waiting(sender, send_id) == {"cause": "SITE_SUSPENDED", "until": until, "site": "mx.b.test"}


async def test_a_slow_down_is_a_cause(sender, internet, world, clock, run_due_work):
    await internet.mail_server("b.test", Behaviour(replies={"RCPT": BUSY}))
    await queue(sender, "ada@b.test")
    for _ in range(2):
        await run_due_work()
        await settled_background(world)
        await sites(world).update()
        clock.move(timedelta(minutes=7))
    (send_id,) = await queue(sender, "eve@b.test")
    await run_due_work()
    await settled_background(world)
    await sites(world).update()
    (send_id,) = await queue(sender, "bob@b.test")
    await run_due_work()
    field = await waiting(sender, send_id)
    assert (field["cause"], field["site"]) == ("SITE_SLOWED", "mx.b.test")
    assert datetime.fromisoformat(field["until"]) > clock()


async def test_the_ceiling_of_an_address_and_of_a_domain_are_causes(sender, internet, world, clock, run_due_work):
    clock.move(datetime.combine(clock().date() + timedelta(days=1), datetime.min.time(), UTC) - clock())
    midnight = f"{clock().date() + timedelta(days=1)}T00:00:00.000Z"
    await internet.mail_server("example.org")
    domain = await domain_of(sender)
    assert (await sender.client.put(f"/domains/{domain['id']}/warm-up", {"steps": [1, 5]})).status_code == 200
    await start_campaign(sender, 2)
    await run_due_work()
    assert await waiting(sender, await campaign_send(sender)) == {"cause": "WARM_UP", "until": midnight, "site": None}
    assert (await sender.client.delete(f"/domains/{domain['id']}/warm-up")).status_code == 200
    await run_due_work()
    world.settings = msgspec.structs.replace(world.settings, sources=f"{new_address()}=mx1.example.com?warm-up=1,5")
    world.transports.pop("direct", None)
    world.resources[SourceWarmUps].__init__(world)
    await start_campaign(sender, 2)
    await run_due_work()
    assert await waiting(sender, await campaign_send(sender)) == {"cause": "WARM_UP", "until": midnight, "site": None}


async def test_a_paused_campaign_is_a_cause(sender, internet, world, clock, run_due_work):
    await internet.mail_server("example.org")
    domain = await domain_of(sender)
    assert (await sender.client.put(f"/domains/{domain['id']}/warm-up", {"steps": [1, 5]})).status_code == 200
    campaign = await start_campaign(sender, 2)
    await run_due_work()
    assert (await request_action(sender, campaign, "pause")).status_code == 200
    clock.move(timedelta(days=1))
    await run_due_work()
    assert await waiting(sender, await campaign_send(sender)) == {
        "cause": "CAMPAIGN_PAUSED",
        "until": None,
        "site": None,
    }


NOW = datetime(2026, 3, 5, 12, tzinfo=UTC)
LATER = NOW + timedelta(minutes=5)


@pytest.mark.parametrize("cause", WaitCause)
def test_each_cause_is_shown_as_it_is_stored(cause):
    send = msgspec.structs.replace(
        new_send(uuid4(), parse_address("a@b.test"), "c@d.test", NOW), due_at=LATER, waits_for=cause.value
    )
    waiting = rules.waiting_of(send, NOW)
    assert (waiting.cause, waiting.until) == (cause.value, LATER)
    assert rules.waiting_of(send, LATER).cause == "QUEUE"
    assert rules.waiting_of(msgspec.structs.replace(send, status="BOUNCED", due_at=None), NOW) is None
