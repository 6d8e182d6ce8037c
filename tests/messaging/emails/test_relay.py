"""End to end: a message is accepted over HTTP, signed, tracked, transmitted over SMTP, and logged."""

import asyncio
import email
import email.policy
import os
import re
import signal
from contextlib import asynccontextmanager
from datetime import timedelta
from email.utils import parsedate_to_datetime
from urllib.parse import urlsplit

import dkim
import mailparser
import msgspec
import psycopg
import pytest
from psycopg import sql

from postern.kernel.values import new_id
from postern.messaging.emails.system_mail import deliver_system_mail
from postern.messaging.emails.transports import NoSmartHost
from postern.platform.accounts.mailer import AccountMailRequest
from tests.messaging.domains.test_domains import publish
from tests.peers.ports import reserved_port
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


def verify_signatures(message, keys):
    """Whether each signature of a message is valid, in their order."""
    return [
        dkim.DKIM(message.raw).verify(idx=index, dnsfunc=lambda *_, key=key, **__: key.encode())
        for index, key in enumerate(keys)
    ]


@pytest.mark.parametrize(("setting", "algorithms"), [("rsa+ed25519", 2), ("rsa", 1), ("none", 0)])
async def test_the_operator_chooses_the_signatures(sender, sink, world, setting, algorithms):
    world.settings = msgspec.structs.replace(world.settings, dkim=setting)
    sent = await sender.client.post("/emails", MAIL)
    assert (sent.status_code, sent.json()["status"]) == (201, "SENT"), sent.text
    message = sink.messages[-1]
    used = re.findall(rb"DKIM-Signature:.*?\ba=([a-z0-9-]+);", message.raw, re.DOTALL)
    assert used == [b"rsa-sha256", b"ed25519-sha256"][:algorithms]
    assert verify_signatures(message, await published_keys(message, world)) == [True] * algorithms


async def test_messages_are_composed_although_render_processes_are_killed(sender, sink, world, run_due_work):
    for round_number, kill in ((1, False), (2, True)):
        if kill:
            for process_id in world.rendering.process_ids:
                os.kill(process_id, signal.SIGKILL)
        emails = [{**MAIL, "to": [f"{round_number}.{n}@example.org"], "cc": None, "bcc": None} for n in range(20)]
        assert (await sender.client.post("/emails/batch", {"emails": emails})).status_code == 201
        await run_due_work()
        assert len(sink.messages) == 20 * round_number
    for message in sink.messages:
        assert verify_signatures(message, await published_keys(message, world)) == [True, True]


async def test_a_message_arrives_signed_and_tracked_and_two_parsers_agree(sender, sink, world, stranger, clock):
    sent = (await sender.client.post("/emails", MAIL)).json()
    assert sent["status"] == "SENT"
    (message,) = sink.messages
    assert set(message.recipients) == {"ada@example.org", "bob@example.org", "secret@example.org"}
    assert b"secret@" not in message.raw
    assert verify_signatures(message, await published_keys(message, world)) == [True, True]
    parsed = email.message_from_bytes(message.raw, policy=email.policy.default)
    read_by_mailparser = mailparser.parse_from_bytes(message.raw)
    assert parsed["Subject"] == read_by_mailparser.subject == "Hello Zoë 🎉"
    assert parsed["From"].addresses[0].addr_spec == read_by_mailparser.from_[0][1] == "hello@example.com"
    assert parsed["From"].addresses[0].display_name == read_by_mailparser.from_[0][0] == "Acme ✉"
    assert parsed["Message-ID"] == read_by_mailparser.message_id == sent["messageId"]
    html = parsed.get_body(("html",)).get_content()
    assert html.strip() == read_by_mailparser.text_html[0].strip()
    assert "Dear Zoë" in parsed.get_body(("plain",)).get_content()
    link = urlsplit(re.search(r'href="([^"]+)"', html)[1].replace("&amp;", "&"))
    clock.move(timedelta(minutes=1))
    # `stranger` is a client without a credential, like the browser of the recipient.
    response = await stranger.get(f"{link.path}?{link.query}", headers=BROWSER)
    assert (response.status_code, response.headers["location"]) == (302, "https://acme.example/offer?a=1&b=2")
    log = await entry(sender, sent["id"])
    assert log["clickedAt"]
    assert [event["type"] for event in log["webhookEvents"]] == ["Send", "Click"]
    (attempt,) = (await sender.client.get(f"/emails/logs/{sent['id']}/attempts")).json()
    assert attempt["outcome"] == "ACCEPTED"
    assert any(line.startswith("C: MAIL FROM") for line in attempt["dialogue"])
    assert {result["recipient"] for result in attempt["results"]} == set(message.recipients)


async def eml_of(project, send_id):
    return (await project.client.get(f"/emails/logs/{send_id}/message")).content


async def test_the_eml_is_the_transmitted_message(sender, sink, clock):
    """
    Regression test of M14 (tests/defects.md).
    """
    sent = (await sender.client.post("/emails", MAIL)).json()
    clock.move(timedelta(hours=3))
    await sender.developer.patch("", {"settings": {"trackingDomain": "go.example.com"}})
    eml = await eml_of(sender, sent["id"])
    assert eml.count(b"DKIM-Signature:") == 2
    assert eml.rstrip(b"\r\n") == sink.messages[0].raw.rstrip(b"\r\n")


async def test_the_eml_is_that_of_the_accepted_attempt(sender, sink, clock, run_due_work):
    """
    Regression test of M14, M4 (tests/defects.md).
    """
    sink.behaviour.drop_after_dot = 1.0
    sent = (await sender.client.post("/emails", MAIL)).json()
    sink.behaviour.drop_after_dot = 0.0
    clock.move(timedelta(minutes=7))
    await run_due_work()
    first, second = (message.raw.rstrip(b"\r\n") for message in sink.messages)
    assert first != second, "Each attempt has new signatures."
    assert email.message_from_bytes(first)["Date"] == email.message_from_bytes(second)["Date"]
    assert (await eml_of(sender, sent["id"])).rstrip(b"\r\n") == second


async def test_the_date_header_is_the_time_of_the_first_attempt(sender, sink, clock, run_due_work):
    """
    Regression test of M4 (tests/defects.md).
    """
    scheduled_at = clock() + timedelta(days=2)
    sent = (await sender.client.post("/emails", {**MAIL, "scheduledAt": scheduled_at.isoformat()})).json()
    assert sent["status"] == "SCHEDULED"
    assert b"DKIM-Signature" not in await eml_of(sender, sent["id"])
    clock.move(timedelta(days=2, minutes=1))
    sink.behaviour.drop_after_dot = 1.0
    await run_due_work()
    first_attempt_at = clock()
    sink.behaviour.drop_after_dot = 0.0
    clock.move(timedelta(hours=1))
    await run_due_work()
    dates = [parsedate_to_datetime(email.message_from_bytes(message.raw)["Date"]) for message in sink.messages]
    assert len(dates) == 2
    assert dates[0] == dates[1]
    assert abs(dates[0] - first_attempt_at) < timedelta(seconds=60)
    assert (await eml_of(sender, sent["id"])).rstrip(b"\r\n") == sink.messages[1].raw.rstrip(b"\r\n")


async def test_recipients_have_separate_outcomes_and_hard_bounces_suppress(sender, sink, clock, run_due_work):
    to = ["good@example.org", "permfail@example.org", "tempfail@example.org"]
    sent = (await sender.client.post("/emails", {**MAIL, "to": to, "cc": [], "bcc": []})).json()
    assert sent["status"] == "DELAYED"
    assert (await sender.client.get("/suppressions/permfail@example.org")).json()["reason"] == "BOUNCE"
    clock.move(timedelta(minutes=7))
    await run_due_work()
    assert [message.recipients for message in sink.messages] == [("good@example.org",)], (
        "The recipient that accepted the message does not get it again."
    )
    assert (await sender.client.get(f"/emails/logs/{sent['id']}")).json()["status"] == "DELAYED"
    bounced = (
        await sender.client.post("/emails", {**MAIL, "to": ["permfail2@example.org"], "cc": [], "bcc": []})
    ).json()
    assert bounced["status"] == "BOUNCED"
    log = await entry(sender, bounced["id"])
    assert log["bouncedAt"]
    assert "550" in log["reason"]
    assert [event["type"] for event in log["webhookEvents"]] == ["Bounce"]


async def test_a_rejection_by_policy_suppresses_no_recipient(sender):
    body = {**MAIL, "to": ["blocked@example.org"], "cc": [], "bcc": []}
    sent = (await sender.client.post("/emails", body)).json()
    assert sent["status"] == "BOUNCED"
    assert (await sender.client.get("/suppressions")).json()["total"] == 0


async def test_a_lost_reply_is_recorded_as_ambiguous_and_the_message_id_stays(sender, sink, clock, run_due_work):
    sink.behaviour.drop_after_dot = 1.0
    sent = (await sender.client.post("/emails", MAIL)).json()
    assert sent["status"] == "DELAYED"
    sink.behaviour.drop_after_dot = 0.0
    clock.move(timedelta(minutes=7))
    await run_due_work()
    log = await entry(sender, sent["id"])
    assert (log["status"], log["ambiguousAttempts"]) == ("SENT", 1)
    assert {message.message_id for message in sink.messages} == {sent["messageId"]}
    assert len(sink.messages) == 1 + log["ambiguousAttempts"]
    attempts = (await sender.client.get(f"/emails/logs/{sent['id']}/attempts")).json()
    assert [attempt["outcome"] for attempt in attempts] == ["AMBIGUOUS", "ACCEPTED"]


async def test_a_project_can_hold_ambiguous_sends(sender, sink, clock, run_due_work):
    await sender.developer.patch("", {"settings": {"onAmbiguous": "hold"}})
    sink.behaviour.drop_after_dot = 1.0
    sent = (await sender.client.post("/emails", MAIL)).json()
    assert sent["status"] == "FAILED"
    sink.behaviour.drop_after_dot = 0.0
    clock.move(timedelta(hours=2))
    await run_due_work()
    assert len(sink.messages) == 1
    await sender.client.post(f"/emails/{sent['id']}/retry")
    await run_due_work()
    assert (await entry(sender, sent["id"]))["status"] == "SENT"


async def test_mail_arrives_after_an_outage_of_the_relay(sender, zone, clock, run_due_work):
    with reserved_port() as port_socket:
        relays = [{"host": "127.0.0.1", "port": port_socket.getsockname()[1], "tls": "none"}]
        await sender.developer.patch("", {"settings": {"relays": relays}})
        sent = (await sender.client.post("/emails", MAIL)).json()
        assert sent["status"] in ("QUEUED", "DELAYED")
        async with Sink(listener=port_socket) as relay:
            for _ in range(4):
                clock.move(timedelta(minutes=7))
                await run_due_work()
            assert (await entry(sender, sent["id"]))["status"] == "SENT"
            assert len(relay.messages) == 1


@pytest.mark.parametrize("on_ambiguous", ["retry", "hold"])
async def test_an_attempt_of_a_dead_process_is_ambiguous(
    sender, sink, world, clock, run_due_work, monkeypatch, on_ambiguous
):
    """The process dies after the commit of the submission: a worker delivers the send after the lease, or holds it."""
    from postern.messaging.emails import operations

    async def deliver_nothing(*_):
        return "QUEUED"

    await sender.developer.patch("", {"settings": {"onAmbiguous": on_ambiguous}})
    with monkeypatch.context() as patch:
        patch.setattr(operations, "_deliver_now", deliver_nothing)
        sent = (await sender.client.post("/emails", MAIL)).json()
    assert sent["status"] == "QUEUED"
    assert (await sender.client.post(f"/emails/{sent['id']}/cancel")).status_code == 409
    clock.move(timedelta(seconds=61))
    await run_due_work()
    log = await entry(sender, sent["id"])
    attempts = (await sender.client.get(f"/emails/logs/{sent['id']}/attempts")).json()
    outcomes = [attempt["outcome"] for attempt in attempts]
    if on_ambiguous == "retry":
        assert (log["status"], log["ambiguousAttempts"], outcomes) == ("SENT", 1, ["AMBIGUOUS", "ACCEPTED"])
        return
    assert (log["status"], log["ambiguousAttempts"], outcomes) == ("FAILED", 1, ["AMBIGUOUS"])
    assert log["reason"].startswith("Held: ")
    assert sink.messages == []
    (event,) = (await sender.client.get("/events?type=email.failed")).json()["data"]
    assert event["data"]["emailId"] == sent["id"]
    await sender.client.post(f"/emails/{sent['id']}/retry")
    await run_due_work()
    assert (await entry(sender, sent["id"]))["status"] == "SENT"
    assert len(sink.messages) == 1


@asynccontextmanager
async def locked(database_url, table):
    """Lock a table against writing. Yields a function that waits until a transaction waits for the lock."""
    async with (
        await psycopg.AsyncConnection.connect(database_url) as blocker,
        await psycopg.AsyncConnection.connect(database_url, autocommit=True) as watch,
    ):
        await blocker.execute(sql.SQL("lock table {} in share mode").format(sql.Identifier(table)))
        query = "select from pg_locks where relation = %s::text::regclass and not granted"

        async def until_waiting():
            while not (await watch.execute(query, [table])).rowcount:
                await asyncio.sleep(0.02)

        yield until_waiting
        await blocker.rollback()


SUPPRESS = """
    insert into suppressions (project_id, id, address, reason, source, created_at)
    values (%s, gen_random_uuid(), 'ada@example.org', 'MANUAL', 'api', now())
"""
END_VERIFICATION = "update domains set status = 'FAILED' where project_id = %s"


@pytest.mark.parametrize(("change", "status"), [(SUPPRESS, "SUPPRESSED"), (END_VERIFICATION, "FAILED")])
async def test_a_delivery_long_after_its_request_is_decided_again(sender, sink, database_url, clock, change, status):
    """What a request has read is used for its delivery only for a quarter of a second."""
    body = {**MAIL, "to": ["ada@example.org"], "cc": None, "bcc": None}
    async with locked(database_url, "events") as until_waiting:
        request = asyncio.create_task(sender.client.post("/emails", body))
        await until_waiting()
        async with await psycopg.AsyncConnection.connect(database_url, autocommit=True) as connection:
            await connection.execute(change, [sender.id])
        clock.move(timedelta(seconds=1))
    sent = (await request).json()
    assert sent["status"] == status
    assert sink.messages == []


async def test_a_captured_message_is_stored_together_with_its_outcome(project, database_url):
    async with locked(database_url, "send_attempts") as until_waiting:
        request = asyncio.create_task(project.client.post("/emails", MAIL, headers={"Prefer": "wait=30"}))
        await until_waiting()
        assert (await project.client.get("/inbox")).json()["data"] == []
    sent = (await request).json()
    assert sent["status"] == "DELIVERED"
    (message,) = (await project.client.get("/inbox")).json()["data"]
    assert message["subject"] == "Hello Zoë 🎉"


@pytest.fixture
async def server_relay_sender(sender, sink, world):
    """The project of `sender`, which sends through the relay of the server's settings."""
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
    server_relay_sender, sink, world, clock, run_due_work
):
    send_id = await queued(server_relay_sender)
    with_relay = world.settings
    world.settings = msgspec.structs.replace(with_relay, relay=None)
    delays = []
    for _ in range(9):
        await run_due_work()
        log = await entry(server_relay_sender, send_id)
        assert (log["status"], log["reason"]) == ("QUEUED", NoSmartHost.message())
        async with world.db.connection() as connection:
            cursor = await connection.execute("select due_at from sends where id = %s", [send_id])
            ((due_at,),) = await cursor.fetchall()
        delays.append(round((due_at - clock()).total_seconds()))
        clock.move(timedelta(seconds=delays[-1]))
    assert delays == [15 * 2 ** min(n, 6) for n in range(9)]
    assert not sink.messages
    world.settings = with_relay
    await run_due_work()
    assert (await entry(server_relay_sender, send_id))["status"] == "SENT"
    assert len(sink.messages) == 1


@pytest.mark.parametrize("name", ["X-SMTPAPI", "x-mc-bccaddress", "X-SES-SOURCE-ARN", "X-PM-Message-Stream"])
async def test_a_project_gives_no_instructions_to_the_provider_of_all_projects(
    server_relay_sender, world, sink, name, run_due_work
):
    """SendGrid sends a message to all recipients in X-SMTPAPI, past suppressions and limits."""
    relay = f"smtp://127.0.0.1:{sink.port}?tls=none"
    world.settings = msgspec.structs.replace(world.settings, relay=relay)
    mail = {**MAIL, "headers": {name: '{"to": ["eve@example.net"]}'}}
    sent = (await server_relay_sender.client.post("/emails", mail)).json()
    await run_due_work()
    log = await entry(server_relay_sender, sent["id"])
    assert (log["status"], sink.messages) == ("BOUNCED", [])
    assert name in log["reason"]
    assert (await server_relay_sender.client.get("/suppressions")).json()["data"] == []
    world.transports.pop("relay")
    world.settings = msgspec.structs.replace(world.settings, relay=f"{relay}&provider-headers=yes")
    sent = (await server_relay_sender.client.post("/emails", mail)).json()
    await run_due_work()
    assert (await entry(server_relay_sender, sent["id"]))["status"] == "SENT"


async def test_a_project_may_instruct_the_provider_of_its_own_relay(sender, sink):
    sent = (await sender.client.post("/emails", {**MAIL, "headers": {"X-PM-Message-Stream": "news"}})).json()
    assert (await entry(sender, sent["id"]))["status"] == "SENT"
    assert b"X-PM-Message-Stream: news" in sink.messages[0].raw


async def test_without_a_relay_mail_expires_at_its_expiry_time(server_relay_sender, world, clock, run_due_work):
    expires_at = clock() + timedelta(minutes=2)
    send_id = await queued(server_relay_sender, expiresAt=expires_at.isoformat())
    world.settings = msgspec.structs.replace(world.settings, relay=None)
    while (log := await entry(server_relay_sender, send_id))["status"] == "QUEUED":
        assert clock() < expires_at
        await run_due_work()
        clock.move(timedelta(seconds=15))
    assert log["status"] == "EXPIRED"
    assert clock() >= expires_at - timedelta(seconds=15)


async def test_system_mail_waits_for_a_relay(world, sink):
    request = AccountMailRequest(
        to="ada@example.org", template="accounts/notice", values={"subject": "Hello", "what": "Hello."}
    )
    world.settings = msgspec.structs.replace(world.settings, transport="relay", relay=None)
    assert not await deliver_system_mail(world, new_id(), request)
    world.settings = msgspec.structs.replace(world.settings, relay=f"smtp://127.0.0.1:{sink.port}?tls=none")
    assert await deliver_system_mail(world, new_id(), request)
    assert len(sink.messages) == 1


async def test_a_project_cannot_send_from_a_domain_of_another_project(sender, new_project, sink):
    other_project = await new_project()
    relays = [{"host": "127.0.0.1", "port": sink.port, "tls": "none"}]
    await other_project.developer.patch("", {"settings": {"transport": "relay", "relays": relays}})
    response = await other_project.client.post("/emails", MAIL)
    assert (response.status_code, response.json()["code"]) == (403, "domain_not_verified")
    assert sink.messages == []


async def test_a_delayed_send_can_be_retried_at_once(sender, sink, clock, run_due_work):
    """Regression test of M15 (tests/defects.md)."""
    to = ["good@example.org", "tempfail@example.org"]
    sent = (await sender.client.post("/emails", {**MAIL, "to": to, "cc": [], "bcc": []})).json()
    assert sent["status"] == "DELAYED"
    attempts_before = len((await sender.client.get(f"/emails/logs/{sent['id']}/attempts")).json())
    await run_due_work()
    assert len((await sender.client.get(f"/emails/logs/{sent['id']}/attempts")).json()) == attempts_before, (
        "It is not due."
    )
    retried = await sender.client.post(f"/emails/{sent['id']}/retry")
    assert (retried.status_code, retried.json()["status"]) == (200, "DELAYED")
    await run_due_work()
    assert len((await sender.client.get(f"/emails/logs/{sent['id']}/attempts")).json()) == attempts_before + 1
    assert [message.recipients for message in sink.messages] == [("good@example.org",)], (
        "The recipient that accepted the message does not get it again."
    )


async def test_a_settled_send_cannot_be_retried(sender):
    """Regression test of M15 (tests/defects.md)."""
    sent = (await sender.client.post("/emails", {**MAIL, "to": ["good@example.org"]})).json()
    refused = await sender.client.post(f"/emails/{sent['id']}/retry")
    assert (refused.status_code, refused.json()["code"]) == (409, "not_retriable")
