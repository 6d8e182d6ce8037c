"""`postern doctor direct` checks addresses, names and port 25."""

import msgspec
import pytest

from postern.cli.doctor_direct import diagnose_direct
from postern.kernel.outbound.ssrf import read_networks
from tests.peers.loopback_internet import loopback_internet
from tests.peers.smtp_sink import Behaviour, server_context

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


async def checks(settings, recipient=None):
    """The results by subject; every problem has advice."""
    results = [result async for result in diagnose_direct(settings, None, recipient)]
    assert all(result.advice for result in results if result.status == "problem")
    return {f"{result.subject} {result.status}": result for result in results}


async def test_matching_names_and_a_reachable_server_are_ok(direct_settings, internet, zone):
    zone.load(f"mx1.example.com A {PUBLIC}\n14.215.184.93.in-addr.arpa PTR mx1.example.com.")
    sink = await internet.mail_server("b.test", Behaviour(tls=server_context()))
    found = await checks(msgspec.structs.replace(direct_settings, sources="127.0.2.1=lab.example.com"), "ada@b.test")
    port = f"Port {internet.port}"
    assert "with TLS" in found[f"{port} ok"].result
    assert found["Mail servers of b.test ok"].result == "mx.b.test"
    assert found["Base URL ok"]
    assert not any(result.status == "problem" for result in found.values())
    assert sink.messages == []
    assert "EHLO lab.example.com" in sink.commands
    found = await checks(direct_settings)
    assert found["PTR ok"]
    assert "does not have it" in found[f"Source {PUBLIC} problem"].result


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
    found = await checks(direct_settings, "ada@b.test")
    assert "hosting providers" in found[f"Port {internet.port} problem"].advice
    assert (await checks(direct_settings, "ada@gone.test"))["Mail servers of gone.test problem"]
    await internet.mail_server("c.test", Behaviour(replies={"GREETING": b"554 5.7.1 Blocked"}))
    assert "Blocked" in (await checks(direct_settings, "ada@c.test"))[f"Port {internet.port} problem"].result


async def test_a_server_that_does_not_send_directly(settings, zone):
    found = await checks(settings)
    assert "POSTERN_TRANSPORT=direct" in found["Transport problem"].advice
    assert found["EHLO name problem"]
    zone.load(f"mail.example.com A {PUBLIC}")
    found = await checks(msgspec.structs.replace(settings, base_url="https://mail.example.com", transport="direct"))
    assert "POSTERN_SOURCES" in found["EHLO name note"].advice
