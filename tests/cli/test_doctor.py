"""`postern doctor relay` reports the step that fails, and how to solve it."""

from uuid import uuid4

import msgspec
import pytest

from postern.cli.doctor import CheckResult, diagnose
from postern.kernel.config import Settings
from tests.peers.smtp_sink import Behaviour, Sink, server_context


@pytest.fixture
def domain() -> str:
    return f"doctor-{uuid4().hex[:12]}.example"


async def run_checks(
    settings: Settings, sender: str | None = None, recipient: str | None = None
) -> dict[str, CheckResult]:
    lines = [line async for line in diagnose(settings, sender, recipient)]
    assert all(line.advice for line in lines if line.status == "problem"), "Every problem has advice."
    return {line.subject.partition(" 127")[0]: line for line in lines}


@pytest.fixture
def relay_settings(settings, database_url):
    """A function that returns settings of a server that sends through a relay on a port of this machine."""

    def make_settings(port: int, options: str = "tls=none", user: str = "") -> Settings:
        return msgspec.structs.replace(
            settings,
            database_url=database_url,
            transport="relay",
            relay=f"smtp://{user}127.0.0.1:{port}?{options}",
            base_url="https://mail.example.com",
            sending_addresses=("192.0.2.1",),
        )

    return make_settings


async def test_a_working_configuration_has_no_problems(relay_settings, project, zone, domain, world):
    """Connection, authentication, sender, recipient, base URL, PTR, SPF, DKIM and DMARC are checked; nothing is sent.

    Regression test of N6 (tests/defects.md).
    """
    created = (await project.client.post("/domains", {"domain": domain})).json()
    record = next(record for record in created["records"] if record["purpose"] == "DKIM")
    zone.add(record["name"], "TXT", record["value"])
    zone.add(domain, "TXT", "v=spf1 ip4:192.0.2.1 ~all")
    zone.add(f"_dmarc.{domain}", "TXT", "v=DMARC1; p=quarantine;")
    zone.add("1.2.0.192.in-addr.arpa", "PTR", "mail.example.com.")
    zone.add("mail.example.com", "A", "192.0.2.1")
    async with Sink(Behaviour(users={"me": "secret"})) as sink:
        results = await run_checks(relay_settings(sink.port, user="me:secret@"), f"hello@{domain}", "ada@example.net")
        assert {line.status for name, line in results.items() if name != "Encryption"} == {"ok"}, results
        assert set(results) >= {"Relay", "Sign in", "Sender", "Recipient", "Base URL", "PTR", "SPF", "DKIM", "DMARC"}
        assert sink.messages == []
        assert not any(command.upper().startswith("DATA") for command in sink.commands)
        assert "secret" not in "".join(map(str, results.values()))


BROKEN = {
    "starttls": (Behaviour(), "tls=starttls-required", "", "STARTTLS", "tls=none"),
    "password": (Behaviour(users={"me": "secret"}), "tls=none", "me:wrong@", "Sign in", "percent-encoded"),
    "greeting": (Behaviour(replies={"GREETING": b"554 No service"}), "tls=none", "", "EHLO", "operator"),
    "sender": (Behaviour(replies={"MAIL": b"550 5.7.1 Not yours"}), "tls=none", "", "Sender", "verified"),
    "recipient": (Behaviour(replies={"RCPT": b"550 5.7.1 Relaying denied"}), "tls=none", "", "Recipient", "password"),
}


@pytest.mark.parametrize(("behaviour", "options", "user", "subject", "advice"), BROKEN.values(), ids=BROKEN)
async def test_the_failing_step_is_named(relay_settings, domain, behaviour, options, user, subject, advice):
    """Each step at which a relay can refuse is reported by name, with advice.

    Regression test of N6 (tests/defects.md).
    """
    async with Sink(behaviour) as sink:
        results = await run_checks(relay_settings(sink.port, options, user), f"hello@{domain}", "ada@example.net")
        assert (results[subject].status, advice in results[subject].advice) == ("problem", True), results
        assert results["DKIM"].status == "problem"
        assert "POST /projects/{id}/domains" in results["DKIM"].advice
        assert "ip4:192.0.2.1" in results["SPF"].advice
        assert "reverse name" in results["PTR"].advice


async def test_an_unreachable_relay_and_unusable_settings_are_problems(relay_settings, settings):
    """A closed port, a loopback base URL and the transport `capture` are problems.

    Regression test of N6 (tests/defects.md).
    """
    results = await run_checks(relay_settings(1))
    assert results["Relay"].status == "problem"
    assert "POSTERN_RELAY" in results["Relay"].advice
    results = await run_checks(settings)
    assert "POSTERN_TRANSPORT=relay" in results["Transport"].advice
    assert "POSTERN_BASE_URL=https" in results["Base URL"].advice


async def test_a_certificate_for_another_host_is_reported_as_such(relay_settings):
    """A certificate for another host name is not reported as missing STARTTLS.

    Regression test of N6 (tests/defects.md).
    """
    async with Sink(Behaviour(tls=server_context())) as sink:
        results = await run_checks(relay_settings(sink.port, "tls=starttls-required"))
        assert results["Certificate"].status == "problem"
        assert "verify=no" in results["Certificate"].advice
