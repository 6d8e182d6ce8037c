"""`postern doctor direct` checks addresses, names, port 25, the clock and the records of the sending domain."""

from datetime import timedelta
from uuid import uuid4

import msgspec
import pytest

from postern.cli import doctor_clock
from postern.cli.doctor import print_results
from postern.cli.doctor_direct import diagnose_direct
from postern.kernel.outbound.ssrf import read_networks
from tests.messaging.domains.test_domains import publish
from tests.peers.loopback_internet import loopback_internet
from tests.peers.smtp_sink import Behaviour, server_context
from tests.peers.time_server import time_server

PUBLIC = "93.184.215.14"
"""A public address, which this machine does not have."""


@pytest.fixture
async def internet(zone):
    async with loopback_internet(zone) as internet:
        yield internet


@pytest.fixture
def direct_settings(settings, internet):
    return msgspec.structs.replace(
        settings,
        transport="direct",
        direct_port=internet.port,
        base_url="https://mail.example.com",
        sources=f"{PUBLIC}=mx1.example.com 127.0.2.1=lab.example.com",
        outbound_allow=tuple(read_networks("127.0.0.0/8")),
    )


async def checks(settings, recipient=None, sender=None, time_server="time.test"):
    """The results by subject; every problem has advice."""
    results = [result async for result in diagnose_direct(settings, sender, recipient, time_server)]
    assert all(result.advice for result in results if result.status == "problem")
    return {f"{result.subject} {result.status}": result for result in results}


async def test_matching_names_and_a_reachable_server_are_ok(direct_settings, internet, zone):
    zone.load(f"mx1.example.com A {PUBLIC}\n14.215.184.93.in-addr.arpa PTR mx1.example.com.")
    sink = await internet.mail_server("b.test", Behaviour(tls=server_context()))
    results = await checks(msgspec.structs.replace(direct_settings, sources="127.0.2.1=lab.example.com"), "ada@b.test")
    port = f"Port {internet.port}"
    assert "with TLS" in results[f"{port} ok"].result
    assert results["Mail servers of b.test ok"].result == "mx.b.test"
    assert results["Base URL ok"]
    assert not any(result.status == "problem" for result in results.values())
    assert sink.messages == []
    assert "EHLO lab.example.com" in sink.commands
    results = await checks(direct_settings)
    assert results["PTR ok"]
    assert "does not have it" in results[f"Source {PUBLIC} problem"].result


@pytest.mark.parametrize(
    ("records", "subject"),
    [
        ("", "EHLO name problem"),
        ("mx1.example.com A 192.0.2.9", "EHLO name problem"),
        (f"mx1.example.com A {PUBLIC}", "PTR problem"),
        (f"mx1.example.com A {PUBLIC}\n14.215.184.93.in-addr.arpa PTR other.example.com.", "PTR problem"),
    ],
)
async def test_names_that_do_not_match_are_problems(direct_settings, zone, records, subject):
    zone.load(records)
    assert (await checks(direct_settings))[subject]


async def test_a_blocked_port_and_a_missing_domain_are_problems(direct_settings, internet, zone):
    direct_settings = msgspec.structs.replace(direct_settings, sources="127.0.2.1=lab.example.com")
    zone.load(f"b.test A {internet.new_address()}")
    results = await checks(direct_settings, "ada@b.test")
    assert "hosting providers" in results[f"Port {internet.port} problem"].advice
    assert (await checks(direct_settings, "ada@gone.test"))["Mail servers of gone.test problem"]
    await internet.mail_server("c.test", Behaviour(replies={"GREETING": b"554 5.7.1 Blocked"}))
    assert "Blocked" in (await checks(direct_settings, "ada@c.test"))[f"Port {internet.port} problem"].result


async def test_a_server_that_does_not_send_directly(settings, zone):
    results = await checks(settings)
    assert "POSTERN_TRANSPORT=direct" in results["Transport problem"].advice
    assert results["EHLO name problem"]
    zone.load(f"mail.example.com A {PUBLIC}")
    results = await checks(msgspec.structs.replace(settings, base_url="https://mail.example.com", transport="direct"))
    assert "POSTERN_SOURCES" in results["EHLO name note"].advice


# The clock ---------------------------------------------------


@pytest.mark.parametrize(
    ("ahead", "status", "result"),
    [
        (timedelta(), "ok", "within 30 seconds of that of time.test"),
        (timedelta(seconds=-20), "ok", "within 30 seconds of that of time.test"),
        (timedelta(minutes=20), "problem", "1,200 seconds behind that of time.test"),
        (timedelta(minutes=-2), "problem", "120 seconds ahead of that of time.test"),
        (timedelta(days=20 * 365), "problem", "630,720,000 seconds behind that of time.test"),
    ],
)
async def test_the_clock_is_compared_with_a_time_server(direct_settings, zone, ahead, status, result):
    zone.add("time.test", "A", "127.0.0.1")
    async with time_server(ahead) as port:
        results = await checks(direct_settings, time_server=f"time.test:{port}")
        assert results[f"Clock {status}"].result == result
        assert (await checks(direct_settings, time_server=f"127.0.0.1:{port}"))[f"Clock {status}"]


def with_octets(start, octets):
    def change(reply):
        reply[start : start + len(octets)] = octets
        return bytes(reply)

    return change


@pytest.mark.parametrize(
    "change",
    [
        with_octets(0, b"\xe4"),
        with_octets(1, b"\0RATE"),
        with_octets(1, b"\x10"),
        with_octets(0, b"\x23"),
        with_octets(24, bytes(8)),
        lambda reply: bytes(reply[:47]),
        lambda _: b"",
        lambda _: b"\xff" * 60_000,
    ],
    ids=["not synchronized", "kiss of death", "stratum 16", "request", "forged", "short", "empty", "large"],
)
async def test_a_reply_without_the_time_is_no_time(direct_settings, monkeypatch, change):
    monkeypatch.setattr(doctor_clock, "REPLY_SECONDS", 0.2)
    async with time_server(change=change) as port:
        results = await checks(direct_settings, time_server=f"127.0.0.1:{port}")
    assert "does not respond" in results["Clock note"].result


@pytest.mark.parametrize("name", ["gone.test", "127.0.0.1:1", "[::1]:1"])
async def test_a_time_server_that_is_away(direct_settings, name):
    assert "does not respond" in (await checks(direct_settings, time_server=name))["Clock note"].result


@pytest.mark.parametrize("name", ["", ":123", "time.test:x", "time.test:99999", "[::1"])
async def test_what_is_no_time_server(direct_settings, name):
    assert "--time-server" in (await checks(direct_settings, time_server=name))["Clock problem"].advice


# The sending domain ---------------------------------------------------


async def test_the_records_of_the_sending_domain(direct_settings, zone):
    results = await checks(direct_settings, sender="hello@acme.test")
    assert results["SPF problem"]
    assert results["DMARC problem"].result == "There is no DMARC record for acme.test."
    assert "_dmarc.acme.test: v=DMARC1; p=none;" in results["DMARC problem"].advice
    zone.add("_dmarc.acme.test", "TXT", "v=DMARC1; p=reject")
    results = await checks(direct_settings, sender="hello@acme.test")
    assert results["DMARC ok"].result == "acme.test has v=DMARC1; p=reject"


# Mail loops ---------------------------------------------------

SUBJECT = "Mail server of {} {}"


async def own_domain(project, *, route=False):
    """A domain of a project that no other test has; with `route`, verified and with a route for all its addresses."""
    name = f"d{uuid4().hex[:10]}.example"
    created = (await project.client.post("/domains", {"domain": name})).json()
    if route:
        publish(project.zone, created)
        assert (await project.client.post(f"/domains/{created['id']}/verify")).json()["status"] == "VERIFIED"
        assert (await project.client.post("/inbound/routes", {"address": f"*@{name}"})).status_code == 201
    return name


@pytest.fixture
def loop_settings(direct_settings, database_url, project, zone):
    project.zone = zone
    sources = "127.0.2.1=lab.example.com"
    zone.add("mail.example.com", "A", "127.0.2.1")
    return msgspec.structs.replace(direct_settings, database_url=database_url, sources=sources)


async def test_a_domain_whose_mail_server_is_this_one_is_a_problem(loop_settings, project, zone):
    """By the name of its MX record, by the address of that name, or by its own address without an MX record."""
    by_name, by_address, implicit, external, null = [await own_domain(project) for _ in range(5)]
    zone.load(
        f"{by_name} MX 10 lab.example.com.\n{by_address} MX 10 mx.{by_address}.\nmx.{by_address} A 127.0.2.1\n"
        f"{implicit} A 127.0.2.1\n{external} MX 10 mx.{external}.\nmx.{external} A 192.0.2.7\n"
        f"{external} A 127.0.2.1\n{null} MX 0 ."
    )
    results = await checks(loop_settings)
    for name, text in ((by_name, "lab.example.com"), (by_address, f"mx.{by_address}"), (implicit, "no MX record")):
        problem = results[SUBJECT.format(name, "problem")]
        assert text in problem.result
        assert "loops and bounces" in problem.result
        assert "POSTERN_INBOUND_PORT=25" in problem.advice
    assert not any(name in subject for subject in results for name in (external, null))
    assert "Mail loops ok" not in results


async def test_a_server_that_receives_mail_needs_a_route_for_its_domains(loop_settings, project, zone):
    receiving, without_route = await own_domain(project, route=True), await own_domain(project)
    for name in (receiving, without_route):
        zone.set(name, "MX", "10 lab.example.com.")
    results = await checks(loop_settings)
    assert "the routes of the domain get no mail" in results[SUBJECT.format(receiving, "problem")].result
    results = await checks(msgspec.structs.replace(loop_settings, inbound_port=25))
    assert SUBJECT.format(receiving, "problem") not in results
    assert "inbound/routes" in results[SUBJECT.format(without_route, "note")].advice


async def test_another_mail_server_on_the_address_may_pass_the_mail_on(loop_settings, internet, project, zone):
    receiving = await own_domain(project, route=True)
    zone.set(receiving, "MX", f"10 mx.{receiving}.")
    zone.add(f"mx.{receiving}", "A", "127.0.2.1")
    await internet.server_at("127.0.2.1")
    results = await checks(loop_settings)
    assert "POST /projects/{id}/inbound" in results[SUBJECT.format(receiving, "note")].advice


async def test_the_domain_for_bounces_needs_the_inbound_port(loop_settings, zone):
    zone.add("bounce.example.com", "MX", "10 mail.example.com.")
    settings = msgspec.structs.replace(loop_settings, return_path_domain="bounce.example.com")
    problem = (await checks(settings))[SUBJECT.format("bounce.example.com", "problem")]
    assert "bounces and complaints are lost" in problem.result
    assert "inbound/reports" in problem.advice
    settings = msgspec.structs.replace(settings, inbound_port=25)
    assert SUBJECT.format("bounce.example.com", "problem") not in await checks(settings)


async def test_without_a_database_the_domains_of_the_settings_are_checked(direct_settings, zone, tmp_path):
    zone.load("bounce.example.com MX 10 mx1.example.com.\nhello.example A 192.0.2.7")
    settings = msgspec.structs.replace(
        direct_settings, database_url=None, data=tmp_path, return_path_domain="bounce.example.com"
    )
    checked = await checks(settings)
    assert "no database" in checked["Mail loops note"].result
    assert checked[SUBJECT.format("bounce.example.com", "problem")]
    settings = msgspec.structs.replace(settings, return_path_domain=None)
    results = [result async for result in diagnose_direct(settings, "ada@hello.example", None)]
    assert any(
        str(result) == "ok       Mail loops: mail to hello.example does not come back to this server"
        for result in results
    )


async def test_a_redirected_port_is_a_problem(loop_settings, internet):
    """The greeting of the server at the other end has this server's name."""
    await internet.mail_server("b.test", Behaviour(replies={"GREETING": b"220 MAIL.example.com ESMTP"}))
    problem = (await checks(loop_settings, "ada@b.test"))[f"Port {internet.port} problem"]
    assert "answered by this server, mail.example.com" in problem.result
    assert "iptables" in problem.advice
    await internet.mail_server("c.test", Behaviour(replies={"GREETING": b"220 mx.c.test via mail.example.com"}))
    assert f"Port {internet.port} ok" in await checks(loop_settings, "ada@c.test")


async def test_replies_of_servers_send_no_commands_to_the_terminal(direct_settings, internet, capsys):
    greeting = b"554 5.7.1 \x1b[2JBlocked \xc2\x9b2J\xe2\x80\xae"
    await internet.mail_server("b.test", Behaviour(replies={"GREETING": greeting}))
    settings = msgspec.structs.replace(direct_settings, sources="127.0.2.1=lab.example.com")
    await print_results(diagnose_direct(settings, None, "ada@b.test"))
    assert "greeted with 554 ?[2JBlocked ?2J?\n" in capsys.readouterr().out
