"""Mail to the recipients' mail servers, from the request to the final state, with mail servers on this machine."""

import asyncio
from datetime import timedelta

import msgspec
import pytest
from cryptography.hazmat.primitives.serialization import Encoding
from structlog.testing import capture_logs

from postern.messaging.emails import work
from postern.messaging.emails.delivery import lease_keeper
from postern.messaging.emails.retention import delete_expired
from postern.messaging.emails.sts_policies import StsPolicies
from tests.messaging.domains.test_domains import publish
from tests.messaging.emails.conftest import POLICY
from tests.peers.certificates import CertificateAuthority
from tests.peers.smtp_sink import Behaviour

MAIL = {"from": "Acme <hello@example.com>", "subject": "Hello", "html": "<p>Hello</p>"}


@pytest.fixture
def settings(settings, internet):
    return msgspec.structs.replace(
        settings, transport="direct", direct_port=internet.port, sending_addresses=("127.0.0.9",)
    )


@pytest.fixture
async def sender(project, zone):
    """A project with a verified domain on a server that sends directly."""
    domain = (await project.client.post("/domains", {"domain": "example.com"})).json()
    publish(zone, domain)
    assert (await project.client.post(f"/domains/{domain['id']}/verify")).json()["status"] == "VERIFIED"
    return project


async def send(project, *to, **fields):
    """The log entry of a message right after it was sent."""
    sent = await project.client.post("/emails", {**MAIL, "to": list(to), **fields})
    assert sent.status_code == 201, sent.text
    return await entry(project, sent.json()["id"])


async def entry(project, send_id):
    return (await project.client.get(f"/emails/logs/{send_id}")).json()


async def attempts_of(project, send_id):
    return (await project.client.get(f"/emails/logs/{send_id}/attempts")).json()


async def test_a_message_is_delivered_when_the_recipients_server_has_accepted_it(sender, internet):
    sink = await internet.mail_server("b.test", Behaviour(tls=CertificateAuthority().server("mx.b.test")[0]))
    log = await send(sender, "ada@b.test")
    assert log["status"] == "DELIVERED"
    assert log["deliveredAt"]
    assert [event["type"] for event in log["webhookEvents"]] == ["Send", "Delivery"]
    (attempt,) = await attempts_of(sender, log["id"])
    assert attempt["outcome"] == "ACCEPTED"
    assert attempt["host"] == f"mx.b.test:{internet.port}"
    assert any(line.startswith("TLS: TLSv1.") for line in attempt["dialogue"])
    assert sink.messages[0].message_id == log["messageId"]


async def test_a_greylisted_message_is_delivered_later(sender, internet, clock, run_due_work):
    sink = await internet.mail_server("b.test", Behaviour(replies={"RCPT": b"450 4.7.1 Greylisted"}))
    log = await send(sender, "ada@b.test")
    assert log["status"] == "DELAYED"
    sink.behaviour.replies.clear()
    clock.move(timedelta(minutes=7))
    await run_due_work()
    assert (await entry(sender, log["id"]))["status"] == "DELIVERED"
    assert len(sink.messages) == 1


async def test_a_lost_reply_is_ambiguous_and_the_message_is_sent_again(sender, internet, clock, run_due_work):
    sink = await internet.mail_server("b.test", Behaviour(chunking=True, drop_after_dot=1.0))
    log = await send(sender, "ada@b.test")
    assert log["status"] == "DELAYED"
    sink.behaviour.drop_after_dot = 0.0
    clock.move(timedelta(minutes=7))
    await run_due_work()
    log = await entry(sender, log["id"])
    assert (log["status"], log["ambiguousAttempts"]) == ("DELIVERED", 1)
    assert {message.message_id for message in sink.messages} == {log["messageId"]}
    assert len(sink.messages) == 2


REJECTED = {
    "user unknown": (None, "permfail@b.test", "5.1.1", True),
    "no such domain": (None, "ada@gone.test", "5.1.2", True),
    "null mx": ("null.test MX 0 .", "ada@null.test", "5.1.10", True),
    "mail loop": ("loop.test A 127.0.0.9", "ada@loop.test", "5.4.6", False),
    "private address": ("private.test A 10.1.2.3", "ada@private.test", "5.4.4", False),
}


@pytest.mark.parametrize(("record", "to", "enhanced", "is_suppressed"), REJECTED.values(), ids=REJECTED)
async def test_a_permanent_failure_bounces(sender, internet, zone, record, to, enhanced, is_suppressed):
    await internet.mail_server("b.test")
    zone.load(record or "")
    log = await send(sender, to)
    assert log["status"] == "BOUNCED"
    assert enhanced in log["reason"]
    assert (await sender.client.get("/suppressions")).json()["total"] == is_suppressed
    (event,) = (await sender.client.get("/events?type=email.bounced")).json()["data"]
    assert event["data"]["enhancedCode"] == enhanced


async def test_a_failed_lookup_delays_the_message(sender, internet, zone, clock, run_due_work):
    await internet.mail_server("b.test")
    zone.servfail("b.test", "MX")
    log = await send(sender, "ada@b.test")
    assert log["status"] == "DELAYED"
    assert "4.4.3" in log["reason"]
    zone.heal()
    clock.move(timedelta(minutes=7))
    await run_due_work()
    assert (await entry(sender, log["id"]))["status"] == "DELIVERED"


async def test_recipients_in_several_domains_get_the_message_once(sender, internet, clock, run_due_work):
    one = await internet.mail_server("one.test")
    two = await internet.mail_server("two.test", Behaviour(replies={"GREETING": b"421 4.3.2 Busy"}))
    log = await send(sender, "a@one.test", "b@two.test", cc=["c@one.test"], bcc=["d@gone.test"])
    assert log["status"] == "DELAYED"
    details = {recipient["email"]: recipient["status"] for recipient in log["recipients"]}
    assert details == {
        "a@one.test": "DELIVERED",
        "b@two.test": "DELAYED",
        "c@one.test": "DELIVERED",
        "d@gone.test": "BOUNCED",
    }
    two.behaviour.replies.clear()
    clock.move(timedelta(minutes=7))
    await run_due_work()
    assert (await entry(sender, log["id"]))["status"] == "DELIVERED"
    assert [message.recipients for message in one.messages] == [("a@one.test", "c@one.test")]
    assert [message.recipients for message in two.messages] == [("b@two.test",)]


async def test_a_stalled_site_does_not_delay_another(sender, internet, world, run_due_work, monkeypatch):
    """The worker delivers the other messages, and the stalled ones fail by themselves later."""
    monkeypatch.setattr(work, "BATCH_SECONDS", 0.2)
    stalled = await internet.mail_server("slow.test", Behaviour(stall_at="GREETING"))
    good = await internet.mail_server("good.test")
    emails = [{**MAIL, "to": [f"{n}@{'slow' if n % 2 else 'good'}.test"]} for n in range(6)]
    created = (await sender.client.post("/emails/batch", {"emails": emails})).json()["data"]
    await run_due_work()
    while len(lease_keeper(world)) > 3:
        await asyncio.sleep(0.02)
    assert len(good.messages) == 3
    statuses = [(await entry(sender, item["id"]))["status"] for item in created]
    assert statuses == ["DELIVERED", "QUEUED"] * 3
    assert len(lease_keeper(world)) == 3, "Their leases are renewed."
    for session in list(stalled.open_sessions):
        session.reset()
    while len(lease_keeper(world)):
        await asyncio.sleep(0.02)
    assert {(await entry(sender, created[n]["id"]))["status"] for n in (1, 3, 5)} <= {"DELAYED", "QUEUED"}


async def test_the_share_of_background_deliveries_is_limited(sender, internet, run_due_work, monkeypatch):
    monkeypatch.setattr(work, "BATCH_SECONDS", 0.05)
    monkeypatch.setattr(work, "MAX_BACKGROUND_DELIVERIES", 0)
    stalled = await internet.mail_server("slow.test", Behaviour(stall_at="GREETING"))
    await sender.client.post("/emails/batch", {"emails": [{**MAIL, "to": ["a@slow.test"]}]})
    running = asyncio.create_task(run_due_work())
    while not stalled.open_sessions:
        await asyncio.sleep(0.02)
    await asyncio.sleep(0.2)
    assert not running.done()
    for session in list(stalled.open_sessions):
        session.reset()
    await running


async def test_only_a_server_that_offers_it_sends_directly(project, world, sender, internet):
    sink = await internet.mail_server("b.test")
    world.settings = msgspec.structs.replace(world.settings, transport="capture")
    refused = await project.developer.patch("", {"settings": {"transport": "direct"}})
    assert refused.status_code == 400
    assert refused.json()["errors"][0]["path"] == "/settings/transport"
    world.settings = msgspec.structs.replace(world.settings, sources="127.0.2.1=mx1.own.test")
    assert (await project.developer.patch("", {"settings": {"transport": "direct"}})).status_code == 200
    assert (await send(sender, "ada@b.test"))["status"] == "DELIVERED"
    assert "EHLO mx1.own.test" in sink.commands
    world.settings = msgspec.structs.replace(world.settings, sources=None)
    response = await sender.client.post("/emails", {**MAIL, "to": ["ada@b.test"]})
    assert (response.status_code, response.json()["code"]) == (503, "direct_not_offered")


async def test_test_credentials_are_captured(sender, internet):
    sink = await internet.mail_server("b.test")
    test_key = await sender.key(environment="TEST")
    sent = (await test_key.post("/emails", {**MAIL, "to": ["ada@b.test"]})).json()
    assert sent["status"] == "DELIVERED"
    assert sink.messages == []


# MTA-STS ---------------------------------------------------


async def test_an_enforced_policy_is_applied(sender, internet, publish_policy, authority, unique_domain):
    sink = await internet.mail_server(unique_domain, Behaviour(tls=authority.server(f"mx.{unique_domain}")[0]))
    await publish_policy(unique_domain, POLICY.format(mode="enforce", domain=unique_domain))
    log = await send(sender, f"ada@{unique_domain}")
    assert log["status"] == "DELIVERED"
    (attempt,) = await attempts_of(sender, log["id"])
    assert any(line.endswith("certificate checked") for line in attempt["dialogue"])
    assert sink.messages[0].encrypted


async def test_a_stored_policy_stays_in_force_when_its_server_is_down(
    sender, internet, publish_policy, zone, world, clock, run_due_work, unique_domain
):
    """Also after a restart, when only the database has it, and although its record is gone."""
    sink = await internet.mail_server(unique_domain)
    server = await publish_policy(unique_domain, POLICY.format(mode="enforce", domain=unique_domain))
    log = await send(sender, f"ada@{unique_domain}")
    assert log["status"] == "DELAYED"
    assert "STARTTLS" in log["reason"]
    server.stop()
    zone.remove(f"_mta-sts.{unique_domain}")
    world.resources.pop(StsPolicies)
    for transport in list(world.transports.values()):
        await transport.aclose()
    world.transports.clear()
    clock.move(timedelta(minutes=7))
    await run_due_work()
    assert (await entry(sender, log["id"]))["status"] == "DELAYED"
    assert sink.messages == []
    clock.move(timedelta(days=8))
    log = await send(sender, f"ada@{unique_domain}")
    assert log["status"] == "DELIVERED", "The policy has expired."
    assert await delete_expired(world)
    async with world.db.connection() as connection:
        cursor = await connection.execute("select from mta_sts_policies where domain = %s", [unique_domain])
        assert await cursor.fetchall() == []


async def test_a_policy_with_a_new_id_replaces_the_stored_one(
    sender, internet, publish_policy, zone, clock, unique_domain
):
    await internet.mail_server(unique_domain)
    server = await publish_policy(unique_domain, POLICY.format(mode="enforce", domain=unique_domain))
    assert (await send(sender, f"ada@{unique_domain}"))["status"] == "DELAYED"
    server.body = POLICY.format(mode="none", domain=unique_domain)
    assert (await send(sender, f"bob@{unique_domain}"))["status"] in {"DELAYED", "QUEUED"}
    assert server.requests == 1
    zone.set(f"_mta-sts.{unique_domain}", "TXT", "v=STSv1; id=2;")
    clock.move(timedelta(minutes=7))
    assert (await send(sender, f"ada@{unique_domain}"))["status"] == "DELIVERED"
    assert server.requests == 2


@pytest.mark.parametrize(("record", "is_refreshed"), [("unavailable", True), ("gone", False)])
async def test_a_policy_whose_record_cannot_be_looked_up_is_refreshed(
    sender, internet, publish_policy, zone, clock, unique_domain, record, is_refreshed
):
    """RFC 8461 §10.2: whoever suppresses the record must not make the policy expire. Without one, it does (§3.1)."""
    await internet.mail_server(unique_domain)
    server = await publish_policy(unique_domain, POLICY.format(mode="enforce", domain=unique_domain))
    assert (await send(sender, f"ada@{unique_domain}"))["status"] == "DELAYED"
    if record == "gone":
        zone.remove(f"_mta-sts.{unique_domain}")
    else:
        zone.servfail(f"_mta-sts.{unique_domain}")
    clock.move(timedelta(days=2))
    assert (await send(sender, f"bob@{unique_domain}"))["status"] != "DELIVERED"
    assert server.requests == 1 + is_refreshed
    clock.move(timedelta(days=6))
    assert ((await send(sender, f"eve@{unique_domain}"))["status"] == "DELIVERED") is not is_refreshed


@pytest.mark.parametrize(("mode", "is_logged"), [("enforce", True), ("none", False)])
async def test_a_failed_refresh_is_logged_unless_the_domain_gives_up_its_policy(
    sender, internet, publish_policy, clock, unique_domain, mode, is_logged
):
    """RFC 8461 §3.3."""
    await internet.mail_server(unique_domain)
    server = await publish_policy(unique_domain, POLICY.format(mode=mode, domain=unique_domain))
    await send(sender, f"ada@{unique_domain}")
    server.head = "404 Not Found"
    clock.move(timedelta(days=2))
    with capture_logs() as logs:
        await send(sender, f"bob@{unique_domain}")
        await send(sender, f"eve@{unique_domain}")
    assert server.requests == 2, "It is not tried again within five minutes."
    assert any(entry["event"] == "mta_sts_policy_not_fetched" for entry in logs) is is_logged


async def test_a_subdomain_has_not_the_policy_of_its_parent(sender, internet, publish_policy, unique_domain):
    """RFC 8461 §3.4."""
    server = await publish_policy(unique_domain, POLICY.format(mode="enforce", domain=unique_domain))
    await internet.mail_server(f"sub.{unique_domain}")
    assert (await send(sender, f"ada@sub.{unique_domain}"))["status"] == "DELIVERED"
    assert server.requests == 0


async def test_the_record_of_a_policy_may_be_an_alias_and_in_parts(
    sender, internet, publish_policy, zone, unique_domain
):
    """RFC 8461 §3.1."""
    await internet.mail_server(unique_domain)
    await publish_policy(unique_domain, POLICY.format(mode="enforce", domain=unique_domain))
    zone.remove(f"_mta-sts.{unique_domain}")
    zone.set(f"_mta-sts.{unique_domain}", "CNAME", f"sts.hosting.{unique_domain}.")
    zone.set(f"sts.hosting.{unique_domain}", "TXT", '"v=STSv1; " "id=1" "0;"')
    assert (await send(sender, f"ada@{unique_domain}"))["status"] == "DELAYED"


BAD_POLICIES = {
    "not found": {"head": "404 Not Found"},
    "redirect": {"head": "301 Moved", "headers": "Location: https://other.test/\r\nContent-Type: text/plain\r\n"},
    "html": {"headers": "Content-Type: text/html\r\n"},
    "too large": {"body": POLICY.format(mode="enforce", domain="b.test") + "x: y\r\n" * 12_000},
    "invalid": {"body": "version: STSv2\r\nmode: enforce\r\nmx: a.test\r\nmax_age: 1\r\n"},
    "hostile": {"body": "version: STSv1\r\nmode: enforce\r\nmx: *.*\r\nmax_age: 99999999999999\r\n"},
}


@pytest.mark.parametrize("change", BAD_POLICIES.values(), ids=BAD_POLICIES)
async def test_without_a_valid_policy_mail_is_sent(sender, internet, publish_policy, unique_domain, change):
    """RFC 8461 §5: if there is no policy, and none was stored, delivery proceeds as without MTA-STS."""
    await internet.mail_server(unique_domain)
    server = await publish_policy(unique_domain, POLICY.format(mode="enforce", domain=unique_domain))
    for name, value in change.items():
        setattr(server, name, value)
    assert (await send(sender, f"ada@{unique_domain}"))["status"] == "DELIVERED"
    assert server.requests == 1


async def test_a_policy_server_with_an_invalid_certificate_is_ignored(
    sender, internet, publish_policy, world, unique_domain
):
    await internet.mail_server(unique_domain)
    server = await publish_policy(unique_domain, POLICY.format(mode="enforce", domain=unique_domain))
    other_authority = CertificateAuthority()
    world.outbound._tls = other_authority.client_context()
    assert (await send(sender, f"ada@{unique_domain}"))["status"] == "DELIVERED"
    assert server.requests == 0


# DANE ---------------------------------------------------


async def test_dane_is_applied_if_the_resolver_is_on_this_machine(sender, internet, zone):
    """POSTERN_DNSSEC=auto trusts a resolver with a loopback address."""
    zone.is_authenticated = True
    context, certificate = CertificateAuthority().server("any.test")
    await internet.mail_server("b.test", Behaviour(tls=context))
    zone.add(f"_{internet.port}._tcp.mx.b.test", "TLSA", f"3 0 0 {certificate.public_bytes(Encoding.DER).hex()}")
    assert (await send(sender, "ada@b.test"))["status"] == "DELIVERED"
    await internet.mail_server("c.test", Behaviour(tls=context))
    zone.add(f"_{internet.port}._tcp.mx.c.test", "TLSA", "3 0 1 " + "00" * 32)
    log = await send(sender, "ada@c.test")
    assert log["status"] == "DELAYED"
    assert "DANE" in log["reason"]


async def test_dane_is_not_applied_if_the_resolver_is_not_trusted(sender, internet, zone, world):
    world.settings = msgspec.structs.replace(world.settings, dnssec="no")
    zone.is_authenticated = True
    await internet.mail_server("b.test")
    zone.add(f"_{internet.port}._tcp.mx.b.test", "TLSA", "3 0 1 " + "00" * 32)
    assert (await send(sender, "ada@b.test"))["status"] == "DELIVERED"
