"""Results of TLS with recipients' mail servers, and the reports about them, with real peers on this machine."""

import asyncio
import email
import email.policy
import gzip
import json
import re
from datetime import datetime, time, timedelta

import dkim
import msgspec
import pytest
from cryptography.hazmat.primitives.serialization import Encoding
from psycopg_pool import PoolTimeout

from postern.cli.tls_reports import ResultRow, result_lines
from postern.kernel.due import Lane, claim
from postern.kernel.values import NO_ID
from postern.messaging.emails import tls_report_store
from postern.messaging.emails import tls_reports as reports_module
from postern.messaging.emails import tls_results as results_module
from postern.messaging.emails.retention import delete_expired
from postern.messaging.emails.tls_reports import WORK, send_report
from postern.messaging.emails.tls_results import tls_results
from tests.messaging.domains.test_domains import add_verified_domain, by_purpose
from tests.messaging.emails.conftest import POLICY
from tests.peers.certificates import CertificateAuthority
from tests.peers.http_receiver import Reply, http_receiver
from tests.peers.smtp_sink import Behaviour


@pytest.fixture
def settings(settings, internet):
    return msgspec.structs.replace(
        settings,
        transport="direct",
        direct_port=internet.port,
        sending_addresses=("198.51.100.7",),
        tls_report_contact="postmaster@sender.test",
    )


@pytest.fixture
async def sender(project, zone, world, clock):
    """A project with a verified domain, which is also that of system mail; two days ago, because dkimpy refuses
    signatures that are later than the machine's clock."""
    clock.move(timedelta(days=-2))
    name = f"s{project.id[-12:]}.test"
    world.settings = msgspec.structs.replace(world.settings, mail_from=f"Postern <postmaster@{name}>")
    domain = await add_verified_domain(project, zone, name)
    project.domain_name = name
    project.dkim_record = by_purpose(domain)["DKIM"]["value"]
    return project


async def send(project, to):
    mail = {"from": f"hello@{project.domain_name}", "to": [to], "subject": "Hello", "text": "Hello"}
    sent = await project.client.post("/emails", mail)
    assert sent.status_code == 201, sent.text
    return (await project.client.get(f"/emails/logs/{sent.json()['id']}")).json()


async def results(world, domain):
    """The counted results of a domain today, as tuples."""
    await tls_results(world).flush()
    rows = await tls_report_store.results_of(world.db, day=world.clock().date(), domain=domain)
    return sorted((row.policy_type, row.result, row.sessions) for row in rows)


async def report_of(world, domain):
    async with world.db.connection() as connection:
        cursor = await connection.execute(
            "select status, note, sent_to, refused_by, due_at, attempt from tls_reports where domain = %s", [domain]
        )
        return await cursor.fetchone()


# Results ---------------------------------------------------


async def test_opportunistic_sessions_are_counted(sender, internet, world, unique_domain):
    tls = CertificateAuthority().server("other.test")[0]
    sink = await internet.mail_server(unique_domain, Behaviour(tls=tls))
    assert (await send(sender, f"ada@{unique_domain}"))["status"] == "DELIVERED"
    assert await results(world, unique_domain) == [("no-policy-found", "success", 1)]
    sink.behaviour.tls = None
    for session in list(sink.open_sessions):
        session.reset()
    assert (await send(sender, f"ada@{unique_domain}"))["status"] == "DELIVERED"
    assert await results(world, unique_domain) == [
        ("no-policy-found", "starttls-not-supported", 1),
        ("no-policy-found", "success", 1),
    ]
    rows = await tls_report_store.results_of(world.db, day=world.clock().date(), domain=unique_domain)
    failure = next(row for row in rows if row.result != "success")
    assert (failure.receiving_mx, failure.sending_ip) == (f"mx.{unique_domain}", "198.51.100.7")
    assert failure.receiving_ip.startswith("127.0.1.")


async def test_messages_over_the_same_connection_are_one_session(sender, internet, world, unique_domain):
    tls = CertificateAuthority().server(f"mx.{unique_domain}")[0]
    await internet.mail_server(unique_domain, Behaviour(tls=tls))
    for n in range(3):
        await send(sender, f"a{n}@{unique_domain}")
    assert await results(world, unique_domain) == [("no-policy-found", "success", 1)]


STS_CERTIFICATES = {
    "valid": (lambda ca, name: ca.server(name)[0], "success"),
    "other name": (lambda ca, _name: ca.server("other.test")[0], "certificate-host-mismatch"),
    "expired": (lambda ca, name: ca.server(name, days=-1)[0], "certificate-expired"),
    "other authority": (lambda _ca, name: CertificateAuthority().server(name)[0], "certificate-not-trusted"),
    "no starttls": (lambda _ca, _name: None, "starttls-not-supported"),
}


@pytest.mark.parametrize("mode", ["enforce", "testing"])
@pytest.mark.parametrize(("context", "result"), STS_CERTIFICATES.values(), ids=STS_CERTIFICATES)
async def test_sessions_under_a_policy(
    sender,
    internet,
    world,
    publish_policy,
    authority,
    unique_domain,
    mode,
    context,
    result,
):
    """RFC 8461 §5: a policy that is tested does not stop mail, but its failures are reported."""
    tls = context(authority, f"mx.{unique_domain}")
    await internet.mail_server(unique_domain, Behaviour(tls=tls))
    await publish_policy(unique_domain, POLICY.format(mode=mode, domain=unique_domain))
    log = await send(sender, f"ada@{unique_domain}")
    assert log["status"] == ("DELIVERED" if mode == "testing" or result == "success" else "DELAYED")
    assert await results(world, unique_domain) == [("sts", result, 1)]


async def test_a_server_that_the_policy_does_not_list(
    sender,
    internet,
    world,
    publish_policy,
    unique_domain,
):
    await internet.mail_server(unique_domain)
    await publish_policy(unique_domain, POLICY.format(mode="testing", domain="other.test"))
    assert (await send(sender, f"ada@{unique_domain}"))["status"] == "DELIVERED"
    assert await results(world, unique_domain) == [("sts", "validation-failure", 1)]


BROKEN_POLICIES = {
    "not found": ({"head": "404 Not Found"}, "sts-policy-fetch-error"),
    "invalid": ({"body": "version: STSv9\r\n"}, "sts-policy-invalid"),
}


@pytest.mark.parametrize(("change", "result"), BROKEN_POLICIES.values(), ids=BROKEN_POLICIES)
async def test_a_policy_that_cannot_be_used_is_reported(
    sender,
    internet,
    world,
    publish_policy,
    unique_domain,
    change,
    result,
):
    await internet.mail_server(unique_domain)
    server = await publish_policy(unique_domain, "")
    for name, value in change.items():
        setattr(server, name, value)
    assert (await send(sender, f"ada@{unique_domain}"))["status"] == "DELIVERED"
    assert ("sts", result, 1) in await results(world, unique_domain)


async def test_a_policy_server_with_an_invalid_certificate_is_reported(
    sender,
    internet,
    world,
    publish_policy,
    unique_domain,
):
    await internet.mail_server(unique_domain)
    await publish_policy(unique_domain, POLICY.format(mode="enforce", domain=unique_domain))
    world.outbound._tls = CertificateAuthority().client_context()
    await send(sender, f"ada@{unique_domain}")
    assert ("sts", "sts-webpki-invalid", 1) in await results(world, unique_domain)


async def test_sessions_under_dane(sender, internet, zone, world, unique_domain):
    zone.is_authenticated = True
    context, certificate = CertificateAuthority().server("any.test")
    records = {
        "good": f"3 0 0 {certificate.public_bytes(Encoding.DER).hex()}",
        "wrong": "3 0 1 " + "00" * 32,
        "unusable": "1 0 1 " + "00" * 32,
    }
    for label, record in records.items():
        await internet.mail_server(f"{label}.{unique_domain}", Behaviour(tls=context))
        zone.add(f"_{internet.port}._tcp.mx.{label}.{unique_domain}", "TLSA", record)
        await send(sender, f"ada@{label}.{unique_domain}")
    await internet.mail_server(f"broken.{unique_domain}", Behaviour(tls=context))
    zone.servfail(f"_{internet.port}._tcp.mx.broken.{unique_domain}", "TLSA")
    await send(sender, f"ada@broken.{unique_domain}")
    expected = {
        "good": "success",
        "wrong": "validation-failure",
        "unusable": "tlsa-invalid",
        "broken": "dnssec-invalid",
    }
    for label, result in expected.items():
        assert await results(world, f"{label}.{unique_domain}") == [("tlsa", result, 1)], label


async def test_the_number_of_results_is_limited(sender, internet, world, unique_domain, monkeypatch):
    monkeypatch.setattr(results_module, "MAX_RESULTS_PER_DAY", 2)
    for n in range(4):
        await internet.mail_server(unique_domain, host=f"mx{n}.{unique_domain}", preference=n)
    for n in range(4):
        zone_sink = await send(sender, f"ada@{unique_domain}")
        assert zone_sink["status"] == "DELIVERED"
        for transport in world.transports.values():
            await transport.aclose()
        internet.zone.remove(f"mx{n}.{unique_domain}", "A")
        world.transports.clear()
    counted = await results(world, unique_domain)
    assert counted == [("no-policy-found", "starttls-not-supported", 1)] * 2


async def test_counters_survive_an_unreachable_database(sender, internet, world, unique_domain, monkeypatch):
    await internet.mail_server(unique_domain)
    await send(sender, f"ada@{unique_domain}")

    def unreachable():
        raise PoolTimeout

    with monkeypatch.context() as patch:
        patch.setattr(world.db, "transaction", unreachable)
        with pytest.raises(PoolTimeout):
            await tls_results(world).flush()
    assert await results(world, unique_domain) == [("no-policy-found", "starttls-not-supported", 1)]


async def test_results_are_deleted_after_thirty_days(sender, internet, world, clock, unique_domain):
    await internet.mail_server(unique_domain)
    await send(sender, f"ada@{unique_domain}")
    day = world.clock().date()
    assert await results(world, unique_domain)
    clock.move(timedelta(days=32))
    await delete_expired(world)
    assert await tls_report_store.results_of(world.db, day=day, domain=unique_domain) == []


# Reports ---------------------------------------------------


@pytest.fixture
async def failing(sender, internet, world, unique_domain):
    """A domain with a failed session today; returns its name."""
    await internet.mail_server(unique_domain)
    assert (await send(sender, f"ada@{unique_domain}"))["status"] == "DELIVERED"
    await tls_results(world).flush()
    return unique_domain


def go_to_next_morning(clock):
    """Move the clock to five o'clock of the next day (UTC), after the time of all reports."""
    morning = datetime.combine(clock().date() + timedelta(days=1), time(5), clock().tzinfo)
    clock.move(morning - clock())


async def test_a_report_is_mailed_after_the_day(sender, internet, zone, world, clock, run_due_work, failing):
    zone.add(f"_smtp._tls.{failing}", "TXT", f"v=TLSRPTv1; rua=mailto:tls@reports.{failing}")
    sink = await internet.mail_server(f"reports.{failing}")
    await run_due_work()
    assert sink.messages == []
    day = clock().date()
    go_to_next_morning(clock)
    await run_due_work()
    (received,) = sink.messages
    message = email.message_from_bytes(received.raw, policy=email.policy.default)
    assert message["From"] == f"postmaster@{sender.domain_name}"
    assert message["TLS-Report-Domain"] == failing
    assert message["TLS-Report-Submitter"] == "sender.test", "that of the contact (RFC 8460 §5.3)"
    assert not re.search(r"[;\s]l=", message["DKIM-Signature"])
    signed = message["DKIM-Signature"].replace("\r\n", "").partition("h=")[2].partition(";")[0]
    assert {"tls-report-domain", "tls-report-submitter"} <= {name.strip() for name in signed.lower().split(":")}
    assert message["TLS-Required"] == "No"
    assert dkim.DKIM(received.raw).verify(dnsfunc=lambda *_, **__: sender.dkim_record.encode())
    _, part = message.iter_parts()
    report = json.loads(gzip.decompress(part.get_content()))
    assert report["contact-info"] == "postmaster@sender.test"
    assert report["date-range"] == {"start-datetime": f"{day}T00:00:00Z", "end-datetime": f"{day}T23:59:59Z"}
    (policy,) = report["policies"]
    assert policy["policy"] == {"policy-type": "no-policy-found", "policy-domain": failing}
    assert policy["summary"] == {"total-successful-session-count": 0, "total-failure-session-count": 1}
    (detail,) = policy["failure-details"]
    assert detail["result-type"] == "starttls-not-supported"
    assert detail["receiving-mx-hostname"] == f"mx.{failing}"
    assert (await report_of(world, failing))[0] == "SENT"
    clock.move(timedelta(days=1))
    await run_due_work()
    assert len(sink.messages) == 1


async def test_a_report_comes_from_the_domain_of_the_contact_if_it_is_verified(
    sender, internet, zone, world, clock, run_due_work, failing
):
    world.settings = msgspec.structs.replace(
        world.settings, tls_report_contact=f"tls@{sender.domain_name}", mail_from="postmaster@other.test"
    )
    zone.add(f"_smtp._tls.{failing}", "TXT", f"v=TLSRPTv1; rua=mailto:tls@reports.{failing}")
    sink = await internet.mail_server(f"reports.{failing}")
    go_to_next_morning(clock)
    await run_due_work()
    message = email.message_from_bytes(sink.messages[0].raw, policy=email.policy.default)
    assert (message["From"], message["TLS-Report-Submitter"]) == (f"tls@{sender.domain_name}", sender.domain_name)
    assert dkim.DKIM(sink.messages[0].raw).verify(dnsfunc=lambda *_, **__: sender.dkim_record.encode())


async def test_a_failing_policy_does_not_stop_the_report(
    sender,
    internet,
    zone,
    world,
    clock,
    run_due_work,
    publish_policy,
    unique_domain,
):
    """RFC 8460 §3: the report says that TLS fails, and so it must arrive without TLS."""
    sink = await internet.mail_server(unique_domain)
    await publish_policy(unique_domain, POLICY.format(mode="enforce", domain=unique_domain))
    zone.add(f"_smtp._tls.{unique_domain}", "TXT", f"v=TLSRPTv1; rua=mailto:tls@{unique_domain}")
    assert (await send(sender, f"ada@{unique_domain}"))["status"] == "DELAYED"
    await tls_results(world).flush()
    go_to_next_morning(clock)
    await run_due_work()
    assert [message.recipients for message in sink.messages] == [(f"tls@{unique_domain}",)]
    await tls_results(world).flush()
    rows = await tls_report_store.results_of(world.db, day=clock().date(), domain=unique_domain)
    assert {row.result for row in rows} <= {"starttls-not-supported"}, "Only the delayed message counts."


@pytest.fixture
async def collector(internet, zone, world, authority, unique_domain):
    """An HTTPS server for reports, which the domain publishes."""
    world.outbound._tls = authority.client_context()
    context = authority.server(f"collect.{unique_domain}")[0]
    async with http_receiver(tls=context) as receiver:
        zone.add(f"collect.{unique_domain}", "A", receiver.address)
        url = f"https://collect.{unique_domain}:{receiver.port}/tls"
        zone.add(f"_smtp._tls.{unique_domain}", "TXT", f"v=TLSRPTv1; rua={url}")
        yield receiver


async def test_a_report_is_posted(world, clock, run_due_work, failing, collector):
    go_to_next_morning(clock)
    await run_due_work()
    (request,) = collector.requests
    assert (request.method, request.headers["content-type"]) == ("POST", "application/tlsrpt+gzip")
    report = json.loads(gzip.decompress(request.body))
    assert report["policies"][0]["policy"]["policy-domain"] == failing
    assert (await report_of(world, failing))[0] == "SENT"


async def test_a_collector_that_is_down_gets_the_report_later(world, clock, run_due_work, failing, collector):
    collector.script("/tls", Reply(status=503), Reply(status=200))
    go_to_next_morning(clock)
    await run_due_work()
    status, note, *_ = await report_of(world, failing)
    assert (status, "503" in note) == ("WAITING", True)
    clock.move(timedelta(hours=1))
    await run_due_work()
    assert (await report_of(world, failing))[0] == "SENT"
    first, second = (json.loads(gzip.decompress(request.body)) for request in collector.requests)
    assert first["report-id"] == second["report-id"]


async def test_a_report_is_given_up_after_a_day(world, clock, run_due_work, failing, collector):
    collector.script("/tls", Reply(status=500))
    go_to_next_morning(clock)
    for _ in range(12):
        await run_due_work()
        clock.move(timedelta(hours=4))
    status, note, _, _, due_at, attempt = await report_of(world, failing)
    assert (status, due_at) == ("FAILED", None)
    assert "500" in note
    assert 3 <= attempt <= 12


async def test_an_address_that_refuses_is_not_asked_again(world, clock, run_due_work, failing, collector):
    collector.script("/tls", Reply(status=410))
    go_to_next_morning(clock)
    await run_due_work()
    assert (await report_of(world, failing))[0] == "FAILED"
    assert len(collector.requests) == 1


async def test_only_the_missing_addresses_are_tried_again(
    sender,
    internet,
    zone,
    world,
    clock,
    run_due_work,
    failing,
    collector,
):
    (record,) = zone._records_of(f"_smtp._tls.{failing}", "TXT")
    sink = await internet.mail_server(f"reports.{failing}", Behaviour(replies={"RCPT": b"450 4.2.0 Later"}))
    url = record.strip('"').partition("rua=")[2]
    zone.set(f"_smtp._tls.{failing}", "TXT", f"v=TLSRPTv1; rua={url},mailto:tls@reports.{failing}")
    go_to_next_morning(clock)
    await run_due_work()
    assert (await report_of(world, failing))[2] == [url]
    sink.behaviour.replies.clear()
    clock.move(timedelta(hours=1))
    await run_due_work()
    assert (len(collector.requests), len(sink.messages)) == (1, 1)
    assert (await report_of(world, failing))[0] == "SENT"


async def test_two_workers_send_one_report(world, clock, failing, collector):
    """A worker whose lease has ended records nothing, and the later one sends the report with the same id."""
    collector.script("/tls", Reply(delay=0.2))
    go_to_next_morning(clock)
    claimed = []
    for _ in range(2):
        (due,) = await claim(world.db, WORK[0], Lane(NO_ID), clock(), 1)
        claimed.append(due)
        clock.move(WORK[0].lease)
    await asyncio.gather(*(send_report(world, due) for due in claimed))
    status, _, sent_to, _, _, attempt = await report_of(world, failing)
    assert (status, len(sent_to), attempt) == ("SENT", 1, 2)
    assert len({gzip.decompress(request.body) for request in collector.requests}) == 1


async def test_one_row_per_domain_and_day(sender, world, internet, failing):
    await send(sender, f"bob@{failing}")
    await tls_results(world).flush()
    async with world.db.connection() as connection:
        cursor = await connection.execute(
            "select count(*) from tls_reports where domain = %s and instance_id = %s", [failing, NO_ID]
        )
        assert await cursor.fetchone() == (1,)


async def test_a_private_collector_is_refused(zone, world, clock, run_due_work, failing):
    zone.add(f"collect.{failing}", "A", "10.1.2.3")
    zone.add(f"_smtp._tls.{failing}", "TXT", f"v=TLSRPTv1; rua=https://collect.{failing}/tls")
    go_to_next_morning(clock)
    await run_due_work()
    status, note, *_ = await report_of(world, failing)
    assert status == "FAILED"
    assert "not on the public Internet" in note


async def test_reports_about_the_domains_of_one_zone_are_limited(
    sender, internet, zone, world, clock, run_due_work, unique_domain, monkeypatch
):
    """Otherwise one message to each of many domains would be several messages to a mailbox that asked for none."""
    monkeypatch.setattr(reports_module, "REPORTS_PER_REGISTERED_DOMAIN", 2, raising=False)
    registered = unique_domain.replace(".test", ".com")
    sink = await internet.mail_server(f"victim{registered}")
    others = [f"x{registered}", f"not-asked.{registered}"]
    domains = [f"{n}.{registered}" for n in range(4)]
    for domain in [*others, *domains]:
        await internet.mail_server(domain)
        if "not-asked" not in domain:
            zone.add(f"_smtp._tls.{domain}", "TXT", f"v=TLSRPTv1; rua=mailto:ada@victim{registered}")
        await send(sender, f"ada@{domain}")
        await tls_results(world).flush()
    go_to_next_morning(clock)
    for _ in range(2):
        await run_due_work()
        clock.move(timedelta(hours=5))
    assert [(await report_of(world, domain))[0] for domain in others] == ["SENT", "NOT_WANTED"]
    reports = [await report_of(world, domain) for domain in domains]
    assert [status for status, *_ in reports] == ["SENT", "SENT", "OFF", "OFF"]
    assert registered in reports[-1][1]
    assert len(sink.messages) == 3


async def test_a_domain_that_does_not_ask_gets_none(world, clock, run_due_work, failing):
    go_to_next_morning(clock)
    await run_due_work()
    assert (await report_of(world, failing))[0] == "NOT_WANTED"


async def test_without_a_contact_nothing_is_sent(world, clock, run_due_work, failing, collector):
    world.settings = msgspec.structs.replace(world.settings, tls_report_contact=None)
    go_to_next_morning(clock)
    await run_due_work()
    assert (await report_of(world, failing))[0] == "OFF"
    assert collector.requests == []


async def test_a_mail_that_cannot_be_signed_is_not_sent(internet, zone, world, clock, run_due_work, failing):
    sink = await internet.mail_server(f"reports.{failing}")
    zone.add(f"_smtp._tls.{failing}", "TXT", f"v=TLSRPTv1; rua=mailto:tls@reports.{failing}")
    world.settings = msgspec.structs.replace(world.settings, mail_from="postmaster@unverified.test")
    go_to_next_morning(clock)
    await run_due_work()
    status, note, *_ = await report_of(world, failing)
    assert (status, "unverified.test" in note) == ("FAILED", True)
    assert sink.messages == []


def test_the_command_shows_failures_by_domain(clock):
    day = clock().date()
    rows = [
        ResultRow(day, "a.test", "WAITING", "", "success", "sts", "", "", "", 7),
        ResultRow(day, "a.test", "WAITING", "", "certificate-expired", "sts", "mx.a.test", "192.0.2.1", "", 2),
        ResultRow(day, "b.test", "SENT", "x\x1b[2J", "success", "sts", "", "", "", 1),
    ]
    assert list(result_lines(rows)) == [
        f"{day}  a.test  7 ok, 2 failed  report: WAITING",
        "         2  certificate-expired  sts mx.a.test 192.0.2.1",
    ]
    assert list(result_lines(rows, show_all=True))[-1] == f"{day}  b.test  1 ok, 0 failed  report: SENT (x?[2J)"
