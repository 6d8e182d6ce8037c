"""End to end: a message is accepted over HTTP, signed, tracked, transmitted over SMTP, and logged."""

import email
import email.policy
import os
import re
import signal
from datetime import timedelta
from email.utils import parsedate_to_datetime
from urllib.parse import urlsplit

import dkim
import mailparser
import msgspec
import pytest

from postern.kernel.values import new_id
from postern.messaging.emails.system_mail import deliver_system_mail
from postern.messaging.emails.transports import NoSmartHost
from postern.platform.accounts.mailer import AccountMailRequest
from tests.messaging.domains.test_domains import publish
from tests.peers.ports import nobodys_port
from tests.peers.smtp_sink import Sink

HTML = '<p>Dear {{name}}, <a href="https://acme.example/offer?a=1&amp;b=2">look</a></p>'
MAIL = {
    "to": ["Zoë <ada@example.org>"],
    "cc": ["bob@example.org"],
    "bcc": ["secret@example.org"],
    "from": "Acme ✉ <hello@example.com>",
    "subject": "Hello {{name}} 🎉",
    "html": HTML,
    "variables": {"name": "Zoë"},
}
BROWSER = {"user-agent": "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"}


@pytest.fixture
async def sink():
    async with Sink() as sink:
        yield sink


@pytest.fixture
async def sender(project, zone, sink):
    """A project with a verified domain that sends through the sink."""
    domain = (await project.client.post("/domains", {"domain": "example.com"})).json()
    publish(zone, domain)
    assert (await project.client.post(f"/domains/{domain['id']}/verify")).json()["status"] == "VERIFIED"
    relays = [{"host": "127.0.0.1", "port": sink.port, "tls": "none"}]
    changed = await project.developer.patch("", {"settings": {"transport": "relay", "relays": relays}})
    assert changed.status_code == 200, changed.text
    return project


async def entry(project, send_id):
    return (await project.client.get(f"/emails/logs/{send_id}")).json()


async def published_keys(message, world):
    """The keys of a message's signatures, in their order."""
    names = re.findall(rb"DKIM-Signature:.*?\bs=([a-z2-7]+);", message.raw, re.DOTALL)
    return [(await world.resolver.txt(f"{name.decode()}._domainkey.example.com"))[0] for name in names]


def verifies(message, keys):
    return [
        dkim.DKIM(message.raw).verify(idx=index, dnsfunc=lambda *_, key=key, **__: key.encode())
        for index, key in enumerate(keys)
    ]


async def test_messages_are_composed_although_render_processes_are_killed(sender, sink, world, work_off):
    for round_, kill in ((1, False), (2, True)):
        if kill:
            for each in world.rendering.process_ids:
                os.kill(each, signal.SIGKILL)
        emails = [{**MAIL, "to": [f"{round_}.{n}@example.org"], "cc": None, "bcc": None} for n in range(20)]
        assert (await sender.client.post("/emails/batch", {"emails": emails})).status_code == 201
        await work_off()
        assert len(sink.messages) == 20 * round_
    for message in sink.messages:
        assert verifies(message, await published_keys(message, world)) == [True, True]


async def test_a_message_arrives_signed_and_tracked_and_two_parsers_agree(sender, sink, world, stranger, clock):
    sent = (await sender.client.post("/emails", MAIL)).json()
    assert sent["status"] == "SENT"
    (message,) = sink.messages
    assert set(message.recipients) == {"ada@example.org", "bob@example.org", "secret@example.org"}
    assert b"secret@" not in message.raw
    assert verifies(message, await published_keys(message, world)) == [True, True]
    one = email.message_from_bytes(message.raw, policy=email.policy.default)
    two = mailparser.parse_from_bytes(message.raw)
    assert one["Subject"] == two.subject == "Hello Zoë 🎉"
    assert one["From"].addresses[0].addr_spec == two.from_[0][1] == "hello@example.com"
    assert one["From"].addresses[0].display_name == two.from_[0][0] == "Acme ✉"
    assert one["Message-ID"] == two.message_id == sent["messageId"]
    html = one.get_body(("html",)).get_content()
    assert html.strip() == two.text_html[0].strip()
    assert "Dear Zoë" in one.get_body(("plain",)).get_content()
    link = urlsplit(re.search(r'href="([^"]+)"', html)[1].replace("&amp;", "&"))
    clock.move(timedelta(minutes=1))
    answer = await stranger.get(f"{link.path}?{link.query}", headers=BROWSER)
    assert (answer.status_code, answer.headers["location"]) == (302, "https://acme.example/offer?a=1&b=2")
    log = await entry(sender, sent["id"])
    assert log["clickedAt"]
    assert [each["type"] for each in log["webhookEvents"]] == ["Send", "Click"]
    (attempt,) = (await sender.client.get(f"/emails/logs/{sent['id']}/attempts")).json()
    assert attempt["outcome"] == "ACCEPTED"
    assert any(line.startswith("C: MAIL FROM") for line in attempt["dialogue"])
    assert {each["recipient"] for each in attempt["results"]} == set(message.recipients)


async def message_of(project, send_id):
    return (await project.client.get(f"/emails/logs/{send_id}/message")).content


async def test_the_eml_is_the_transmitted_message(sender, sink, clock):
    """
    Defects: M14
    """
    sent = (await sender.client.post("/emails", MAIL)).json()
    clock.move(timedelta(hours=3))
    await sender.developer.patch("", {"settings": {"trackingDomain": "go.example.com"}})
    shown = await message_of(sender, sent["id"])
    assert shown.count(b"DKIM-Signature:") == 2
    assert shown.rstrip(b"\r\n") == sink.messages[0].raw.rstrip(b"\r\n")


async def test_the_eml_is_that_of_the_accepted_attempt(sender, sink, clock, work_off):
    """
    Defects: M14, M4
    """
    sink.behaviour.drop_after_dot = 1.0
    sent = (await sender.client.post("/emails", MAIL)).json()
    sink.behaviour.drop_after_dot = 0.0
    clock.move(timedelta(minutes=7))
    await work_off()
    first, second = (each.raw.rstrip(b"\r\n") for each in sink.messages)
    assert first != second, "each attempt has signatures of its own"
    assert email.message_from_bytes(first)["Date"] == email.message_from_bytes(second)["Date"]
    assert (await message_of(sender, sent["id"])).rstrip(b"\r\n") == second


async def test_the_date_header_is_the_time_of_the_first_attempt(sender, sink, clock, work_off):
    """
    Defects: M4
    """
    at = clock() + timedelta(days=2)
    sent = (await sender.client.post("/emails", {**MAIL, "scheduledAt": at.isoformat()})).json()
    assert sent["status"] == "SCHEDULED"
    assert b"DKIM-Signature" not in await message_of(sender, sent["id"])
    clock.move(timedelta(days=2, minutes=1))
    sink.behaviour.drop_after_dot = 1.0
    await work_off()
    first_tried = clock()
    sink.behaviour.drop_after_dot = 0.0
    clock.move(timedelta(hours=1))
    await work_off()
    dates = [parsedate_to_datetime(email.message_from_bytes(each.raw)["Date"]) for each in sink.messages]
    assert len(dates) == 2
    assert dates[0] == dates[1]
    assert abs(dates[0] - first_tried) < timedelta(seconds=60)
    assert (await message_of(sender, sent["id"])).rstrip(b"\r\n") == sink.messages[1].raw.rstrip(b"\r\n")


async def test_recipients_have_separate_outcomes_and_hard_bounces_suppress(sender, sink, clock, work_off):
    to = ["good@example.org", "permfail@example.org", "tempfail@example.org"]
    sent = (await sender.client.post("/emails", {**MAIL, "to": to, "cc": [], "bcc": []})).json()
    assert sent["status"] == "DELAYED"
    assert (await sender.client.get("/suppressions/permfail@example.org")).json()["reason"] == "BOUNCE"
    clock.move(timedelta(minutes=7))
    await work_off()
    assert [each.recipients for each in sink.messages] == [("good@example.org",)], "who has it gets it once"
    assert (await sender.client.get(f"/emails/logs/{sent['id']}")).json()["status"] == "DELAYED"
    bounced = (
        await sender.client.post("/emails", {**MAIL, "to": ["permfail2@example.org"], "cc": [], "bcc": []})
    ).json()
    assert bounced["status"] == "BOUNCED"
    log = await entry(sender, bounced["id"])
    assert log["bouncedAt"]
    assert "550" in log["reason"]
    assert [each["type"] for each in log["webhookEvents"]] == ["Bounce"]


async def test_a_block_by_policy_suppresses_no_recipient(sender):
    body = {**MAIL, "to": ["blocked@example.org"], "cc": [], "bcc": []}
    sent = (await sender.client.post("/emails", body)).json()
    assert sent["status"] == "BOUNCED"
    assert (await sender.client.get("/suppressions")).json()["total"] == 0


async def test_a_lost_reply_is_recorded_as_ambiguous_and_the_message_id_stays(sender, sink, clock, work_off):
    sink.behaviour.drop_after_dot = 1.0
    sent = (await sender.client.post("/emails", MAIL)).json()
    assert sent["status"] == "DELAYED"
    sink.behaviour.drop_after_dot = 0.0
    clock.move(timedelta(minutes=7))
    await work_off()
    log = await entry(sender, sent["id"])
    assert (log["status"], log["ambiguousAttempts"]) == ("SENT", 1)
    assert {each.message_id for each in sink.messages} == {sent["messageId"]}
    assert len(sink.messages) == 1 + log["ambiguousAttempts"]
    attempts = (await sender.client.get(f"/emails/logs/{sent['id']}/attempts")).json()
    assert [each["outcome"] for each in attempts] == ["AMBIGUOUS", "ACCEPTED"]


async def test_a_project_can_hold_ambiguous_sends(sender, sink, clock, work_off):
    await sender.developer.patch("", {"settings": {"onAmbiguous": "hold"}})
    sink.behaviour.drop_after_dot = 1.0
    sent = (await sender.client.post("/emails", MAIL)).json()
    assert sent["status"] == "FAILED"
    sink.behaviour.drop_after_dot = 0.0
    clock.move(timedelta(hours=2))
    await work_off()
    assert len(sink.messages) == 1
    await sender.client.post(f"/emails/{sent['id']}/retry")
    await work_off()
    assert (await entry(sender, sent["id"]))["status"] == "SENT"


async def test_mail_arrives_after_an_outage_of_the_relay(sender, zone, clock, work_off):
    with nobodys_port() as held:
        relays = [{"host": "127.0.0.1", "port": held.getsockname()[1], "tls": "none"}]
        await sender.developer.patch("", {"settings": {"relays": relays}})
        sent = (await sender.client.post("/emails", MAIL)).json()
        assert sent["status"] in ("QUEUED", "DELAYED")
        async with Sink(at=held) as back:
            for _ in range(4):
                clock.move(timedelta(minutes=7))
                await work_off()
            assert (await entry(sender, sent["id"]))["status"] == "SENT"
            assert len(back.messages) == 1


async def test_an_attempt_of_a_dead_process_is_ambiguous(sender, world, clock, work_off, monkeypatch):
    """The process dies after the submission: a worker takes over, and the log has the ambiguous attempt."""
    from postern.messaging.emails import operations

    async def die(*_):
        return "QUEUED"

    monkeypatch.setattr(operations, "_deliver_now", die)
    sent = (await sender.client.post("/emails", MAIL)).json()
    assert sent["status"] == "QUEUED"
    assert (await sender.client.post(f"/emails/{sent['id']}/cancel")).status_code == 409
    clock.move(timedelta(seconds=61))
    await work_off()
    log = await entry(sender, sent["id"])
    assert (log["status"], log["ambiguousAttempts"]) == ("SENT", 1)
    attempts = (await sender.client.get(f"/emails/logs/{sent['id']}/attempts")).json()
    assert [each["outcome"] for each in attempts] == ["AMBIGUOUS", "ACCEPTED"]


@pytest.fixture
async def by_the_servers_relay(sender, sink, world):
    """The same project, which sends through the relay of the server's settings."""
    world.settings = msgspec.structs.replace(world.settings, relay=f"smtp://127.0.0.1:{sink.port}?tls=none")
    changed = await sender.developer.patch("", {"settings": {"relays": None}})
    assert changed.status_code == 200, changed.text
    return sender


async def queued(project, **fields):
    body = {"emails": [{**MAIL, "to": ["ada@example.org"], "cc": None, "bcc": None, **fields}]}
    (item,) = (await project.client.post("/emails/batch", body)).json()["data"]
    assert item["status"] == "QUEUED"
    return item["id"]


async def test_without_a_relay_retries_back_off_until_one_is_configured(
    by_the_servers_relay, sink, world, clock, work_off
):
    send_id = await queued(by_the_servers_relay)
    with_relay = world.settings
    world.settings = msgspec.structs.replace(with_relay, relay=None)
    pauses = []
    for _ in range(9):
        await work_off()
        log = await entry(by_the_servers_relay, send_id)
        assert (log["status"], log["reason"]) == ("QUEUED", NoSmartHost.message())
        async with world.db.connection() as connection:
            found = await connection.execute("select due_at from sends where id = %s", [send_id])
            ((due_at,),) = await found.fetchall()
        pauses.append(round((due_at - clock()).total_seconds()))
        clock.move(timedelta(seconds=pauses[-1]))
    assert pauses == [15 * 2 ** min(n, 6) for n in range(9)]
    assert not sink.messages
    world.settings = with_relay
    await work_off()
    assert (await entry(by_the_servers_relay, send_id))["status"] == "SENT"
    assert len(sink.messages) == 1


async def test_without_a_relay_mail_expires_at_the_horizon(by_the_servers_relay, world, clock, work_off):
    ends = clock() + timedelta(minutes=2)
    send_id = await queued(by_the_servers_relay, expiresAt=ends.isoformat())
    world.settings = msgspec.structs.replace(world.settings, relay=None)
    while (log := await entry(by_the_servers_relay, send_id))["status"] == "QUEUED":
        assert clock() < ends
        await work_off()
        clock.move(timedelta(seconds=15))
    assert log["status"] == "EXPIRED"
    assert clock() >= ends - timedelta(seconds=15)


async def test_system_mail_waits_for_a_relay(world, sink):
    letter = AccountMailRequest(
        to="ada@example.org", template="accounts/notice", values={"subject": "Hello", "what": "Hello."}
    )
    world.settings = msgspec.structs.replace(world.settings, transport="relay", relay=None)
    assert not await deliver_system_mail(world, new_id(), letter)
    world.settings = msgspec.structs.replace(world.settings, relay=f"smtp://127.0.0.1:{sink.port}?tls=none")
    assert await deliver_system_mail(world, new_id(), letter)
    assert len(sink.messages) == 1


async def test_one_project_cannot_send_from_anothers_domain(sender, new_project, sink):
    theirs = await new_project()
    relays = [{"host": "127.0.0.1", "port": sink.port, "tls": "none"}]
    await theirs.developer.patch("", {"settings": {"transport": "relay", "relays": relays}})
    answer = await theirs.client.post("/emails", MAIL)
    assert (answer.status_code, answer.json()["code"]) == (403, "domain_not_verified")
    assert sink.messages == []


async def test_a_delayed_send_can_be_retried_at_once(sender, sink, clock, work_off):
    """Defects: M15"""
    to = ["good@example.org", "tempfail@example.org"]
    sent = (await sender.client.post("/emails", {**MAIL, "to": to, "cc": [], "bcc": []})).json()
    assert sent["status"] == "DELAYED"
    before = len((await sender.client.get(f"/emails/logs/{sent['id']}/attempts")).json())
    await work_off()
    assert len((await sender.client.get(f"/emails/logs/{sent['id']}/attempts")).json()) == before, "it is not due"
    retried = await sender.client.post(f"/emails/{sent['id']}/retry")
    assert (retried.status_code, retried.json()["status"]) == (200, "DELAYED")
    await work_off()
    assert len((await sender.client.get(f"/emails/logs/{sent['id']}/attempts")).json()) == before + 1
    assert [each.recipients for each in sink.messages] == [("good@example.org",)], "who has it gets it once"


async def test_a_settled_send_cannot_be_retried(sender):
    """Defects: M15"""
    sent = (await sender.client.post("/emails", {**MAIL, "to": ["good@example.org"]})).json()
    refused = await sender.client.post(f"/emails/{sent['id']}/retry")
    assert (refused.status_code, refused.json()["code"]) == (409, "not_retriable")
