"""Bounces, complaints and requests to unsubscribe by SMTP, about mail that was sent over a relay."""

import asyncio
import os
import re
import smtplib
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from uuid import UUID, uuid4

import msgspec
import psycopg
import pytest
from psycopg import OperationalError
from psycopg.errors import DeadlockDetected
from typer.testing import CliRunner

from postern.cli import make_command
from postern.cli.mail_servers import MailServers
from postern.kernel.config import Settings
from postern.kernel.outbound.ssrf import read_networks
from postern.kernel.values import new_id
from postern.messaging.emails import unattributed
from postern.messaging.emails.return_addresses import (
    RETURN_PATH_PURPOSE,
    AddressKind,
    SignedAddress,
    signed_address,
    verify_address,
)
from postern.messaging.inbound import receiving, rules
from postern.messaging.inbound.model import KEPT_OCTETS, KEPT_PER_PROJECT, MAX_REPORT_OCTETS
from tests.messaging.domains.test_domains import publish
from tests.messaging.emails.test_relay import MAIL, entry, sender, sink
from tests.messaging.emails.unprocessed_reports import kept_reports, unprocessed
from tests.peers.http_receiver import http_receiver
from tests.peers.ports import listening_socket, reserved_port

__all__ = ["sender", "sink"]

DOMAIN = "bounce.post.example"


@pytest.fixture
def settings(settings: Settings) -> Settings:
    return msgspec.structs.replace(
        settings,
        outbound_allow=tuple(read_networks("127.0.0.0/8, ::1/128")),
        return_path_domain=DOMAIN,
        inbound_port=25,
    )


@pytest.fixture
async def port(world):
    listener = listening_socket()
    stopping = asyncio.Event()
    running = asyncio.create_task(MailServers(world).run({"inbound": listener}, stopping, timedelta(seconds=5)))
    yield listener.getsockname()[1]
    stopping.set()
    await running


async def deliver(port, recipients, content, sender="", *, threads=None):
    """Deliver a message by SMTP; returns the codes of the replies to the recipients and to the message.

    Several at once need `threads` of their own, because the server uses those of the event loop.
    """

    def run():
        with smtplib.SMTP("127.0.0.1", port, timeout=60) as client:
            client.ehlo("mx.example.org")
            client.mail(sender)
            codes = [client.rcpt(recipient)[0] for recipient in recipients]
            return codes, client.data(content)[0] if 250 in codes else None

    return await asyncio.get_running_loop().run_in_executor(threads, run)


async def send_one(sender, sink, **fields):
    """Send a message; returns its response, its recipient, its return path, and its octets."""
    address = f"ada-{uuid4().hex[:8]}@example.org"
    before = len(sink.messages)
    response = await sender.client.post("/emails", {**MAIL, "to": [address], "cc": None, "bcc": None, **fields})
    assert response.status_code == 201, response.text
    (message,) = sink.messages[before:]
    return response.json(), address, message.sender, message.raw


def dsn(recipient, original=b"", *, status="5.1.1", text="smtp; 550 5.1.1 No such user here", action="failed"):
    head, _, _ = original.partition(b"\r\n\r\n")
    report = f"""From: MAILER-DAEMON@mx.example.org
To: <>
Subject: Undelivered Mail Returned to Sender
Auto-Submitted: auto-replied
Content-Type: multipart/report; report-type=delivery-status; boundary="b"

--b

Your message could not be delivered.

--b
Content-Type: message/delivery-status

Reporting-MTA: dns; mx.example.org

Final-Recipient: rfc822; {recipient}
Action: {action}
Status: {status}
Diagnostic-Code: {text}

--b
Content-Type: text/rfc822-headers

""".replace("\n", "\r\n").encode()
    return report + head + b"\r\n--b--\r\n"


def complaint(recipient, mail_from, kind="abuse"):
    return f"""From: fbl@provider.example
To: fbl@{DOMAIN}
Subject: complaint
Content-Type: multipart/report; report-type=feedback-report; boundary="b"

--b
Content-Type: message/feedback-report

Feedback-Type: {kind}
User-Agent: Provider/1
Version: 1
Original-Mail-From: <{mail_from}>
Original-Rcpt-To: <{recipient}>

--b
Content-Type: text/rfc822-headers

Subject: Hello

--b--
""".replace("\n", "\r\n").encode()


async def suppression_reason(sender, address):
    response = await sender.client.get(f"/suppressions/{address}")
    return response.json()["reason"] if response.status_code == 200 else None


async def events_of(sender, sent, type_):
    return (await sender.client.get(f"/events?subjectId={sent['id']}&type={type_}")).json()["data"]


async def test_a_bounce_by_smtp_after_acceptance(sender, sink, port, clock, run_due_work):
    async with http_receiver() as receiver:
        created = await sender.client.post("/webhooks", {"url": receiver.url("/hook"), "events": ["email.bounced"]})
        assert created.status_code == 201, created.text
        sent, address, return_path, raw = await send_one(sender, sink)
        assert sent["status"] == "SENT"
        assert re.fullmatch(rf"b-{UUID(sent['id']).hex}-[a-z2-7]{{16}}@{re.escape(DOMAIN)}", return_path)
        clock.move(timedelta(minutes=3))
        assert await deliver(port, [return_path], dsn(address, raw)) == ([250], 250)
        log = await entry(sender, sent["id"])
        assert (log["status"], log["reason"]) == ("BOUNCED", f"{address}: 550 5.1.1 No such user here")
        assert await suppression_reason(sender, address) == "BOUNCE"
        await run_due_work()
        assert [request.json["type"] for request in receiver.requests] == ["email.bounced"]
    (report,) = (await sender.client.get(f"/emails/logs/{sent['id']}/reports")).json()
    assert (report["source"], report["host"], report["type"]) == ("dsn", "mx.example.org", "hard")
    assert await deliver(port, [return_path.upper()], dsn(address, raw)) == ([250], 250)
    assert len(await events_of(sender, sent, "email.bounced")) == 1, "the same report again changes nothing"


async def test_a_bounce_of_a_campaign_counts_in_its_statistics(sender, sink, port, run_due_work):
    from tests.messaging.campaigns.test_campaigns import create_campaign, get_campaign, request_action

    (domain,) = (await sender.client.get("/domains")).json()
    campaign, _ = await create_campaign(sender, 3, fromEmail="news@example.com", domainId=domain["id"])
    assert (await request_action(sender, campaign, "send")).status_code == 200
    await run_due_work()
    message = sink.messages[0]
    assert await deliver(port, [message.sender], dsn(message.recipients[0])) == ([250], 250)
    stats = (await get_campaign(sender, campaign))["stats"]
    assert (stats["sent"], stats["bounced"], stats["total"]) == (2, 1, 3)


async def test_a_forged_or_unknown_recipient_is_refused_in_the_dialogue(sender, sink, port):
    sent, address, return_path, _ = await send_one(sender, sink)
    local_part = return_path.partition("@")[0]
    changed = "a" if local_part[-1] != "a" else "b"
    other_kind = f"u{local_part[1:]}"
    for forged in (
        f"{local_part[:-1]}{changed}@{DOMAIN}",
        f"{local_part}x@{DOMAIN}",
        f"{local_part[:-1]}@{DOMAIN}",
        f"{other_kind}@{DOMAIN}",
        f"b-{new_id().hex}{local_part[34:]}@{DOMAIN}",
        f"ada@{DOMAIN}",
        "abuse@example.net",
        address,
    ):
        assert await deliver(port, [forged], dsn(address)) == ([550], None), forged
    assert (await entry(sender, sent["id"]))["status"] == "SENT"


async def test_signatures_of_addresses(world):
    key, send_id = world.secrets.key(RETURN_PATH_PURPOSE), new_id()
    for kind in AddressKind:
        address = signed_address(key, kind, send_id, DOMAIN)
        assert len(address.partition("@")[0]) == 51
        assert verify_address(world, address) == verify_address(world, address.upper()) == SignedAddress(kind, send_id)
    for other in ("", "@", "b-", address.replace("-", "_"), f"{address[:-20]}ſ{address[-19:]}", "b-\0"):
        assert verify_address(world, other) is None


async def test_a_delayed_and_a_delivered_report(sender, sink, port):
    sent, address, return_path, _ = await send_one(sender, sink)
    delayed = dsn(address, status="4.4.1", text="smtp; connection timed out", action="delayed")
    assert await deliver(port, [return_path], delayed) == ([250], 250)
    assert (await entry(sender, sent["id"]))["status"] == "SENT"
    assert len(await events_of(sender, sent, "email.delayed")) == 1
    await deliver(port, [return_path], dsn(address, status="2.0.0", text="smtp; 250 ok", action="relayed"))
    assert (await entry(sender, sent["id"]))["status"] == "SENT"
    await deliver(port, [return_path], dsn(address, status="2.0.0", text="smtp; 250 ok", action="delivered"))
    assert (await entry(sender, sent["id"]))["status"] == "DELIVERED"
    await deliver(port, [return_path], dsn(address))
    assert (await entry(sender, sent["id"]))["status"] == "BOUNCED"


async def test_a_fault_of_the_sender_does_not_suppress(sender, sink, port):
    sent, address, return_path, _ = await send_one(sender, sink)
    await deliver(port, [return_path], dsn(address, status="5.7.1", text="smtp; 550 5.7.1 listed at zen.spamhaus.org"))
    assert (await entry(sender, sent["id"]))["status"] == "BOUNCED"
    assert await suppression_reason(sender, address) is None


async def test_complaints_to_the_return_path_and_to_the_feedback_mailbox(sender, sink, port):
    for mailbox in (None, f"fbl@{DOMAIN}", f"Abuse@{DOMAIN}"):
        sent, address, return_path, _ = await send_one(sender, sink)
        assert await deliver(port, [mailbox or return_path], complaint(address, return_path)) == ([250], 250)
        assert (await entry(sender, sent["id"]))["status"] == "COMPLAINED"
        assert await suppression_reason(sender, address) == "COMPLAINT"
        (event,) = await events_of(sender, sent, "email.complained")
        assert (event["data"]["source"], event["data"]["feedbackType"]) == ("arf", "abuse")


async def test_a_redacted_complaint_is_about_the_only_recipient(sender, sink, port):
    sent, address, return_path, _ = await send_one(sender, sink)
    await deliver(port, [f"fbl@{DOMAIN}"], complaint("redacted@example.org", return_path))
    assert (await entry(sender, sent["id"]))["status"] == "COMPLAINED"
    assert await suppression_reason(sender, address) == "COMPLAINT"


async def test_a_report_that_is_no_complaint_changes_nothing(sender, sink, port):
    sent, address, return_path, _ = await send_one(sender, sink)
    for kind in ("not-spam", "auth-failure"):
        assert await deliver(port, [return_path], complaint(address, return_path, kind)) == ([250], 250)
    assert (await entry(sender, sent["id"]))["status"] == "SENT"


async def test_the_feedback_mailbox_takes_only_reports_about_our_mail(sender, sink, port):
    for content in (
        complaint("ada@example.org", f"b-{new_id().hex}-aaaaaaaaaaaaaaaa@{DOMAIN}"),
        b"Subject: Hello\r\n\r\nBuy this.\r\n",
        b"",
    ):
        assert await deliver(port, [f"postmaster@{DOMAIN}"], content) == ([250], 550)


async def test_reports_about_mail_of_others_are_refused_counted_and_kept(
    sender, sink, port, database_url, monkeypatch, clock, run_due_work
):
    monkeypatch.setattr(unattributed, "UNATTRIBUTED_KEPT", 3)
    before = await unprocessed(sender.client)
    other = complaint("ada@example.org", f"b-{new_id().hex}-aaaaaaaaaaaaaaaa@{DOMAIN}")
    for content in (other, other, dsn("ada@example.org"), b"Subject: Buy this\r\n\r\n", other):
        assert await deliver(port, [f"postmaster@{DOMAIN}"], content) == ([250], 550)
    assert await unprocessed(sender.client) - before == {"complaint": 3, "delivery": 1}
    lines = kept_reports(database_url)
    assert [line.split()[2] for line in lines[::2]] == ["complaint", "delivery", "complaint"]
    assert "The report names no e-mail of this server. From: MAILER-DAEMON@mx.example.org" in lines[3]
    with psycopg.connect(database_url) as connection:
        (message,) = connection.execute("select message from unattributed_reports order by id desc").fetchone()
    assert message == other.rstrip(b"\r\n") + b"\r\n"
    clock.move(unattributed.UNATTRIBUTED_KEPT_FOR + timedelta(seconds=1))
    await run_due_work()
    assert kept_reports(database_url) == []


def unsubscribe_addresses(raw):
    text = raw.decode("utf-8", "replace").partition("\r\n\r\n")[0]
    (header,) = re.findall(r"^List-Unsubscribe: ([^\r\n]*(?:\r\n[ \t][^\r\n]*)*)", text, re.MULTILINE)
    return re.findall(r"<([^>]+)>", header)


async def test_unsubscribing_by_mail_is_like_unsubscribing_by_link(sender, sink, port):
    created = await sender.client.post("/contacts", {"email": f"eve-{uuid4().hex[:8]}@example.org"})
    contact = created.json()
    sent, _, _, raw = await send_one(sender, sink, to=[contact["email"]], unsubscribable=True)
    mailto, link = unsubscribe_addresses(raw)
    assert (mailto.startswith("mailto:u-"), link.startswith("http")) == (True, True)
    assert b"List-Unsubscribe-Post: List-Unsubscribe=One-Click" in raw
    address = mailto.removeprefix("mailto:")
    for _ in range(2):
        reply = await deliver(
            port, [address], b"Auto-Submitted: auto-generated\r\nSubject: unsubscribe\r\n\r\n", "a@b.c"
        )
        assert reply == ([250], 250)
    assert await suppression_reason(sender, contact["email"]) == "UNSUBSCRIBE"
    assert (await sender.client.get(f"/contacts/{contact['id']}")).json()["unsubscribed"] is True
    assert len(await events_of(sender, sent, "email.unsubscribed")) == 1
    suppression = (await sender.client.get(f"/suppressions/{contact['email']}")).json()
    assert (suppression["source"], suppression["sendId"]) == ("mail", sent["id"])
    assert (await entry(sender, sent["id"]))["status"] == "SENT"
    eml = (await sender.client.get(f"/emails/logs/{sent['id']}/message")).content
    assert eml.rstrip() == raw.rstrip(), "the message can be composed again byte for byte"


async def test_a_bounce_to_the_unsubscribe_address_does_not_unsubscribe(sender, sink, port):
    _, address, return_path, raw = await send_one(sender, sink, unsubscribable=True)
    mailbox = unsubscribe_addresses(raw)[0].removeprefix("mailto:")
    assert (await deliver(port, [mailbox], dsn("someone@example.net")))[1] == 550
    assert await suppression_reason(sender, address) is None
    assert return_path.startswith("b-")


async def test_a_vacation_notice_is_no_bounce(sender, sink, port):
    sent, address, return_path, _ = await send_one(sender, sink)
    notice = f"From: {address}\r\nSubject: Re: Hello\r\nAuto-Submitted: auto-replied\r\n\r\n"
    notice += "Mail cannot be delivered to me.\r\n"
    assert await deliver(port, [return_path], notice.encode()) == ([250], 250)
    assert (await entry(sender, sent["id"]))["status"] == "SENT"
    assert (await sender.client.get("/inbound/reports")).json() == []


async def test_what_is_not_understood_is_kept_for_looking_at(sender, sink, port, new_project, clock, run_due_work):
    sent, _, return_path, _ = await send_one(sender, sink)
    before = await unprocessed(sender.client)
    content = (
        b"From: Eve\0 <eve@example.org>\r\nSubject: =?utf-8?q?caf=C3=A9?=\r\n\r\n\xff\x00 what?\r\n"
        + b"x\r\n" * 200_000
    )
    assert await deliver(port, [return_path], content, "eve@example.org") == ([250], 250)
    (kept,) = (await sender.client.get("/inbound/reports")).json()
    assert await unprocessed(sender.client) - before == {"unrecognized": 1}
    assert (kept["emailId"], kept["subject"], kept["source"]) == (sent["id"], "café", "smtp")
    assert kept["size"] > KEPT_OCTETS
    path = f"/inbound/reports/{kept['id']}/message"
    message = await sender.client.get(path)
    assert (message.status_code, message.headers["content-type"]) == (200, "message/rfc822")
    assert message.content == content[:KEPT_OCTETS]
    other = await new_project()
    assert (await other.client.get("/inbound/reports")).json() == []
    assert (await other.client.get(path)).status_code == 404
    clock.move(timedelta(days=31))
    await run_due_work()
    assert (await sender.client.get("/inbound/reports")).json() == []
    assert (await sender.client.get(path)).status_code == 404


async def test_the_command_shows_the_reports_of_the_server_and_of_all_projects(
    sender, sink, port, database_url, monkeypatch, tmp_path
):
    _, _, return_path, _ = await send_one(sender, sink)
    subject = f"odd-{new_id()}"
    odd = f"From: eve@example.org\r\nSubject: {subject}\x1b[2J\r\n\r\nwhat?\r\n".encode()
    assert await deliver(port, [return_path], odd) == ([250], 250)
    assert await deliver(port, [f"postmaster@{DOMAIN}"], dsn(f"{subject}@example.org")) == ([250], 550)
    monkeypatch.setenv("DATABASE_URL", database_url)
    monkeypatch.setenv("POSTERN_DATA", str(tmp_path))
    run = CliRunner().invoke
    shown = run(make_command(), ["reports"])
    assert shown.exit_code == 0, shown.output
    lines = shown.stdout.splitlines()
    (at,) = [number for number, line in enumerate(lines) if subject in line]
    assert lines[at].endswith(f"{subject}\ufffd[2J"), "Control characters cannot reach the terminal."
    head = lines[at - 1].split()
    assert (head[2], head[5]) == ("unrecognized", (await sender.client.get("")).json()["id"])
    (bounce,) = [line for line in lines if " delivery " in line][:1]
    assert run(make_command(), ["reports", head[3]]).stdout_bytes == odd
    message = run(make_command(), ["reports", bounce.split()[3]]).stdout_bytes
    assert f"{subject}@example.org".encode() in message
    assert run(make_command(), ["reports", str(new_id())]).exit_code == 1


async def test_only_the_newest_messages_of_a_project_are_kept(sender, sink, port, monkeypatch):
    monkeypatch.setattr(receiving, "KEPT_PER_PROJECT", 3)
    _, _, return_path, _ = await send_one(sender, sink)
    for number in range(5):
        await deliver(port, [return_path], f"Subject: {number}\r\n\r\nwhat?\r\n".encode())
    kept = (await sender.client.get("/inbound/reports")).json()
    assert [message["subject"] for message in kept] == ["4", "3", "2"]
    first = await sender.client.get("/inbound/reports?limit=2")
    assert [message["subject"] for message in first.json()] == ["4", "3"]
    assert "next" in first.headers["link"]
    assert KEPT_PER_PROJECT == 100


async def test_nothing_is_acknowledged_before_the_commit(sender, sink, port, world, monkeypatch):
    sent, address, return_path, _ = await send_one(sender, sink)
    apply = receiving.apply_signals_in

    async def fail_after(*args):
        await apply(*args)
        raise OperationalError("the connection to the server was lost")

    monkeypatch.setattr(receiving, "apply_signals_in", fail_after)
    assert await deliver(port, [return_path], dsn(address)) == ([250], 451)
    assert (await entry(sender, sent["id"]))["status"] == "SENT"
    assert await suppression_reason(sender, address) is None
    monkeypatch.undo()
    assert await deliver(port, [return_path], dsn(address)) == ([250], 250)
    assert (await entry(sender, sent["id"]))["status"] == "BOUNCED"


@pytest.fixture
async def second_sender(new_project, zone, sink):
    """Another project, which sends from example.net through the same sink."""
    other = await new_project()
    domain = (await other.client.post("/domains", {"domain": "example.net"})).json()
    publish(zone, domain)
    assert (await other.client.post(f"/domains/{domain['id']}/verify")).json()["status"] == "VERIFIED"
    relays = [{"host": "127.0.0.1", "port": sink.port, "tls": "none"}]
    await other.developer.patch("", {"settings": {"transport": "relay", "relays": relays}})
    return other


def record_batches(monkeypatch) -> list[int]:
    """The numbers of messages that are then processed together."""
    sizes, process = [], receiving._process

    async def record(world, messages):
        sizes.append(len(messages))
        return await process(world, messages)

    monkeypatch.setattr(receiving, "_process", record)
    return sizes


async def deliver_together(port, *messages):
    """Deliver messages, as pairs of recipient and content, at the same time; returns the codes of the replies."""
    with ThreadPoolExecutor(len(messages)) as threads:
        replies = await asyncio.gather(*(deliver(port, [to], content, threads=threads) for to, content in messages))
    return [code for _, code in replies]


async def test_reports_that_arrive_together_are_processed_together(
    sender, second_sender, sink, port, world, monkeypatch
):
    """They are about two projects, some arrive twice at once, some cannot be processed: each has its own result."""
    sizes, signals_of = record_batches(monkeypatch), rules.signals_of

    def fail_for_some(project_id, send_id, report, now):
        if report.reporting_host == "unlucky.example.org":
            raise ValueError("This one cannot be processed.")
        return signals_of(project_id, send_id, report, now)

    monkeypatch.setattr(rules, "signals_of", fail_for_some)
    own = [await send_one(sender, sink) for _ in range(8)]
    others = [await send_one(second_sender, sink, **{"from": "a@example.net"}) for _ in range(4)]
    transmitted, unlucky, vacant, unclear = await send_one(sender, sink), own.pop(), own.pop(), own.pop()
    async with world.db.connection() as connection:
        await connection.execute(
            "update sends set status = 'QUEUED', handed_over = attempt, due_at = now() where id = %s",
            [transmitted[0]["id"]],
        )
    reports = [(return_path, dsn(address, raw)) for _, address, return_path, raw in (*own, *others)]
    twice = reports[0]
    notice = b"From: a@b.c\r\nSubject: Re: Hello\r\nAuto-Submitted: auto-replied\r\n\r\nAway.\r\n"
    codes = await deliver_together(
        port,
        (transmitted[2], dsn(transmitted[1])),
        (unlucky[2], dsn(unlucky[1]).replace(b"dns; mx.example.org", b"dns; unlucky.example.org")),
        (vacant[2], notice),
        (unclear[2], b"Subject: one\r\n\r\nwhat?\r\n"),
        (unclear[2], b"Subject: two\r\n\r\nwhat?\r\n"),
        *reports,
        twice,
        twice,
    )
    assert codes == [451, 451] + [250] * (len(codes) - 2)
    assert max(sizes) > 1 or world.db.is_distributed
    for project, sends in ((sender, own), (second_sender, others)):
        for sent, address, _, _ in sends:
            assert (await entry(project, sent["id"]))["status"] == "BOUNCED"
            assert await suppression_reason(project, address) == "BOUNCE"
            assert len(await events_of(project, sent, "email.bounced")) == 1
    assert await suppression_reason(second_sender, own[0][1]) is None
    assert (await entry(sender, transmitted[0]["id"]))["status"] == "QUEUED"
    for sent, *_ in (unlucky, vacant, unclear):
        assert (await entry(sender, sent["id"]))["status"] == "SENT"
    kept = (await sender.client.get("/inbound/reports")).json()
    assert sorted((message["subject"], message["emailId"]) for message in kept) == [
        ("one", unclear[0]["id"]),
        ("two", unclear[0]["id"]),
    ]
    assert (await second_sender.client.get("/inbound/reports")).json() == []
    (reported,) = (await sender.client.get(f"/emails/logs/{own[0][0]['id']}/reports")).json()
    assert reported["recipient"] == own[0][1]


@pytest.mark.usefixtures("one_server")
@pytest.mark.parametrize(
    ("error", "code"),
    [(DeadlockDetected("deadlock detected"), 250), (OperationalError("the connection to the server was lost"), 451)],
    ids=["deadlock", "no database"],
)
async def test_reports_that_fail_together_in_the_database(sender, sink, port, monkeypatch, error, code):
    """After a deadlock, each is processed alone; while the database does not respond, they are not tried one by one."""
    sizes, apply = record_batches(monkeypatch), receiving.apply_signals_in

    async def fail_together(tx, signals, now):
        if len(signals) > 1:
            raise error
        return await apply(tx, signals, now)

    monkeypatch.setattr(receiving, "apply_signals_in", fail_together)
    sends = [await send_one(sender, sink) for _ in range(8)]
    codes = await deliver_together(port, *((path, dsn(address)) for _, address, path, _ in sends))
    failed = sum(size for size in sizes if size > 1)
    assert failed > 0
    assert codes.count(code) == (len(sends) if code == 250 else failed)
    assert sum(sizes) == len(sends) + (failed if code == 250 else 0)
    statuses = [(await entry(sender, sent["id"]))["status"] for sent, *_ in sends]
    assert statuses == ["BOUNCED" if code == 250 else "SENT" for code in codes]


async def test_a_report_with_many_recipients_is_processed_alone(sender, sink, port, monkeypatch):
    sizes = record_batches(monkeypatch)
    many = [await send_one(sender, sink) for _ in range(3)]
    recipients = "\r\n\r\n".join(f"Final-Recipient: rfc822; a{n}@b.example\r\nAction: failed" for n in range(199))
    _, address, return_path, _ = many[0]
    large = dsn(address).replace(b"\r\n\r\nFinal-Recipient", f"\r\n\r\n{recipients}\r\n\r\nFinal-Recipient".encode())
    codes = await deliver_together(port, *[(return_path, large)] * 8, *((path, dsn(to)) for _, to, path, _ in many[1:]))
    assert codes == [250] * 10
    assert sizes.count(1) >= 8
    for sent, *_ in many:
        assert (await entry(sender, sent["id"]))["status"] == "BOUNCED"


async def test_a_report_about_a_message_in_transmission_is_repeated_later(sender, sink, port, world):
    sent, address, return_path, _ = await send_one(sender, sink)
    async with world.db.connection() as connection:
        await connection.execute(
            "update sends set status = 'QUEUED', handed_over = attempt, due_at = now() where id = %s", [sent["id"]]
        )
    assert await deliver(port, [return_path], dsn(address)) == ([250], 451)


@pytest.mark.parametrize(
    "content",
    [
        b"".join(b"Content-Type: multipart/mixed; boundary=b%d\r\n\r\n--b%d\r\n" % (n, n) for n in range(2_000)),
        b"Subject: " + b"\r\n ".join([b"x" * 70] * 15_000) + b"\r\n\r\nx\r\n",
        b"Subject: x\0y\r\n\r\n\0\0\0\r\n",
        b"\r\n" * 100_000,
        b"Content-Type: message/delivery-status\r\n\r\n"
        + b"Final-Recipient: rfc822;a@b.c\r\nAction: failed\r\n\r\n" * 20_000,
    ],
    ids=["deep", "header", "nul", "lines", "recipients"],
)  # fmt: skip
async def test_hostile_messages_are_answered(sender, sink, port, content):
    _, _, return_path, _ = await send_one(sender, sink)
    codes, reply = await deliver(port, [return_path], content)
    assert (codes, reply) == ([250], 250)


async def test_bare_line_feeds_and_large_messages_are_refused(sender, sink, port):
    sent, address, return_path, _ = await send_one(sender, sink)
    report = dsn(address)

    async def exchange(ending):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(b"EHLO x\r\nMAIL FROM:<>\r\nRCPT TO:<" + return_path.encode() + b">\r\nDATA\r\n")
        await writer.drain()
        while not (await reader.readline()).startswith(b"354"):
            pass
        writer.write(report.replace(b"\r\n", b"\n") + ending)
        await writer.drain()
        reply = await reader.readline()
        writer.close()
        return reply

    assert (await exchange(b"\r\n.\r\n")).startswith(b"5")
    assert (await exchange(b"\n.\n")).startswith(b"5")
    assert (await entry(sender, sent["id"]))["status"] == "SENT"
    large = (b"x" * 998 + b"\r\n") * (MAX_REPORT_OCTETS // 1_000 + 1)
    assert await deliver(port, [return_path], large) == ([250], 552)


async def test_a_message_to_several_addresses_is_processed_for_each(sender, sink, port):
    first, second = await send_one(sender, sink), await send_one(sender, sink, unsubscribable=True)
    mailbox = unsubscribe_addresses(second[3])[0].removeprefix("mailto:")
    recipients = [first[2], mailbox, f"nobody@{DOMAIN}"]
    assert await deliver(port, recipients, dsn(first[1])) == ([250, 250, 550], 250)
    assert (await entry(sender, first[0]["id"]))["status"] == "BOUNCED"
    assert await suppression_reason(sender, second[1]) == "UNSUBSCRIBE"


async def test_the_zone_publishes_the_mx_of_the_return_path(project, settings, app, world, stranger):
    zone = (await stranger.http.get("/zone")).text
    assert "MX" not in zone
    world.settings = msgspec.structs.replace(world.settings, dns_zone="post.example", mx_host="Mx1.post.example.")
    zone = (await stranger.http.get("/zone")).text
    assert "bounce.post.example. 3600 IN MX 10 mx1.post.example.\n" in zone
    world.settings = msgspec.structs.replace(world.settings, inbound_port=0)
    assert " MX " not in (await stranger.http.get("/zone")).text


async def test_without_inbound_mail_there_is_no_address_for_unsubscribing(sender, sink, world):
    world.settings = msgspec.structs.replace(world.settings, inbound_port=0)
    _, _, return_path, raw = await send_one(sender, sink, unsubscribable=True)
    assert return_path.startswith("b-")
    assert len(unsubscribe_addresses(raw)) == 1
    world.settings = msgspec.structs.replace(world.settings, return_path_domain=None)
    assert (await send_one(sender, sink))[2] == "hello@example.com"


async def test_a_process_that_is_killed_before_the_commit_acknowledges_nothing(sender, sink, database_url, settings):
    """Reports that arrive together get no reply before their transactions are committed."""
    sends = [await send_one(sender, sink) for _ in range(5)]
    with reserved_port() as reserved:
        port = reserved.getsockname()[1]
        environment = {
            **os.environ,
            "DATABASE_URL": database_url,
            "POSTERN_SECRET": settings.secret,
            "POSTERN_DATA": str(settings.data),
            "POSTERN_RETURN_PATH_DOMAIN": DOMAIN,
            "POSTERN_INBOUND_PORT": str(port),
        }
        command = [sys.executable, "-m", "postern", "smtp"]
        for kill in (True, False):
            process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            try:
                await until_listening(port, process)
                async with await psycopg.AsyncConnection.connect(database_url) as blocker:
                    await blocker.execute("lock table sends in exclusive mode")
                    delivering = [
                        asyncio.create_task(deliver(port, [path], dsn(address))) for _, address, path, _ in sends
                    ]
                    await until_waiting(database_url, process)
                    if kill:
                        process.kill()
                        results = await asyncio.gather(*delivering, return_exceptions=True)
                        assert [type(result) for result in results] == [smtplib.SMTPServerDisconnected] * len(sends)
                    else:
                        assert [task.result() for task in delivering if task.done()] == []
                if not kill:
                    assert await asyncio.gather(*delivering) == [([250], 250)] * len(sends)
            finally:
                process.terminate()
                process.wait()
            # What the process had started can outlive it for a moment, and would be taken for the next one.
            await until_refused(port)
            for sent, address, _, _ in sends:
                assert (await entry(sender, sent["id"]))["status"] == ("SENT" if kill else "BOUNCED")
                assert await suppression_reason(sender, address) == (None if kill else "BOUNCE")


async def until_listening(port, process):
    while True:
        assert process.poll() is None, "the server has ended"
        try:
            _, writer = await asyncio.open_connection("127.0.0.1", port)
        except ConnectionRefusedError:
            await asyncio.sleep(0.1)
        else:
            writer.close()
            return


async def until_refused(port):
    async with asyncio.timeout(60):
        while True:
            try:
                _, writer = await asyncio.open_connection("127.0.0.1", port)
            except ConnectionRefusedError:
                return
            writer.close()
            await asyncio.sleep(0.05)


async def until_waiting(database_url, process):
    """Wait until a transaction of the process waits for the lock of another one."""
    async with await psycopg.AsyncConnection.connect(database_url, autocommit=True) as connection:
        # Not `pg_locks`, which has those of the databases of other test processes, too.
        query = """
            select count(*) from pg_stat_activity where datname = current_database()
            and wait_event_type = 'Lock' and wait_event in ('transactionid', 'tuple', 'relation')
        """
        async with asyncio.timeout(120):
            while not (await (await connection.execute(query)).fetchone())[0]:
                assert process.poll() is None, "the server has ended"
                await asyncio.sleep(0.05)
