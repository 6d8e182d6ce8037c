"""Messages that require TLS on their whole way, and those that decline it (RFC 8689)."""

from datetime import timedelta

import msgspec
import pytest
from cryptography.hazmat.primitives.serialization import Encoding

from postern.messaging.emails.retention import delete_expired
from tests.messaging.domains.test_domains import publish
from tests.messaging.emails.conftest import POLICY
from tests.peers.certificates import CertificateAuthority
from tests.peers.smtp_sink import Behaviour

MAIL = {"from": "Acme <hello@example.com>", "subject": "Hello", "text": "Hello"}


@pytest.fixture
def settings(settings, internet):
    return msgspec.structs.replace(settings, transport="direct", direct_port=internet.port)


@pytest.fixture
async def sender(project, zone, publish_policy):
    """A project with a verified domain. The certificates of `authority` are trusted."""
    domain = (await project.client.post("/domains", {"domain": "example.com"})).json()
    publish(zone, domain)
    assert (await project.client.post(f"/domains/{domain['id']}/verify")).json()["status"] == "VERIFIED"
    return project


async def send(project, to, **fields):
    sent = await project.client.post("/emails", {**MAIL, "to": [to], "requireTls": True, **fields})
    assert sent.status_code == 201, sent.text
    return (await project.client.get(f"/emails/logs/{sent.json()['id']}")).json()


@pytest.fixture
async def enforced(publish_policy, unique_domain):
    """A domain with an MTA-STS policy that is enforced; returns its name."""
    await publish_policy(unique_domain, POLICY.format(mode="enforce", domain=unique_domain))
    return unique_domain


async def test_a_server_that_offers_it_gets_the_message_with_the_parameter(sender, internet, authority, enforced):
    tls = authority.server(f"mx.{enforced}")[0]
    sink = await internet.mail_server(enforced, Behaviour(tls=tls, require_tls=True))
    assert (await send(sender, f"ada@{enforced}"))["status"] == "DELIVERED"
    assert (await send(sender, f"bob@{enforced}", requireTls=False))["status"] == "DELIVERED"
    first, second = sink.messages
    assert first.encrypted
    assert "REQUIRETLS" in first.parameters.split()
    assert "REQUIRETLS" not in second.parameters.split()


async def test_a_server_that_does_not_offer_it_gets_nothing(sender, internet, authority, enforced):
    sink = await internet.mail_server(enforced, Behaviour(tls=authority.server(f"mx.{enforced}")[0]))
    for to in (f"ada@{enforced}", f"bob@{enforced}"):
        log = await send(sender, to)
        assert log["status"] == "BOUNCED"
        assert "5.7.30" in log["reason"]
    assert sink.messages == []
    assert not any(command.startswith("MAIL") for command in sink.commands)
    assert (await sender.client.get("/suppressions")).json()["total"] == 0, "The recipient is not at fault."
    (event, _) = (await sender.client.get("/events?type=email.bounced")).json()["data"]
    assert event["data"]["enhancedCode"] == "5.7.30"


async def test_another_server_of_the_domain_may_offer_it(sender, internet, authority, publish_policy, unique_domain):
    policy = POLICY.format(mode="testing", domain=unique_domain) + f"mx: *.{unique_domain}\r\n"
    await publish_policy(unique_domain, policy)
    tls = authority.server(f"mx1.{unique_domain}", f"mx2.{unique_domain}")[0]
    first = await internet.mail_server(unique_domain, Behaviour(tls=tls), host=f"mx1.{unique_domain}", preference=1)
    second = await internet.mail_server(
        unique_domain, Behaviour(tls=tls, require_tls=True), host=f"mx2.{unique_domain}", preference=2
    )
    assert (await send(sender, f"ada@{unique_domain}"))["status"] == "DELIVERED"
    assert (len(first.messages), len(second.messages)) == (0, 1)
    assert first.commands[-1] == "QUIT", "RFC 8689 §4.2.1"


WITHOUT_TLS = {
    "no STARTTLS": lambda _authority, _name: Behaviour(),
    "other name": lambda authority, _name: Behaviour(tls=authority.server("other.test")[0], require_tls=True),
    "other authority": lambda _authority, name: Behaviour(tls=CertificateAuthority().server(name)[0], require_tls=True),
}


@pytest.mark.parametrize("behaviour", WITHOUT_TLS.values(), ids=WITHOUT_TLS)
@pytest.mark.parametrize("names", ["sts", "dnssec", "implicit"])
async def test_without_authenticated_tls_the_message_bounces(
    sender, internet, zone, authority, publish_policy, unique_domain, behaviour, names
):
    host = unique_domain if names == "implicit" else f"mx.{unique_domain}"
    if names == "sts":
        await publish_policy(unique_domain, POLICY.format(mode="enforce", domain=unique_domain))
    zone.is_authenticated = names == "dnssec"
    if names == "implicit":
        address = internet.new_address()
        zone.add(unique_domain, "A", address)
        sink = await internet.server_at(address, behaviour(authority, host))
    else:
        sink = await internet.mail_server(unique_domain, behaviour(authority, host))
    log = await send(sender, f"ada@{unique_domain}")
    assert (log["status"], "5.7.10" in log["reason"]) == ("BOUNCED", True), log["reason"]
    assert sink.messages == []


async def test_the_name_of_the_server_must_be_authenticated(sender, internet, authority, unique_domain):
    """RFC 8689 §4.2.1: otherwise an attacker could name his own server in the MX record."""
    tls = authority.server(f"mx.{unique_domain}")[0]
    sink = await internet.mail_server(unique_domain, Behaviour(tls=tls, require_tls=True))
    log = await send(sender, f"ada@{unique_domain}")
    assert (log["status"], "5.7.10" in log["reason"]) == ("BOUNCED", True)
    assert sink.connections == 0


async def test_dane_authenticates_a_server(sender, internet, zone, unique_domain):
    zone.is_authenticated = True
    context, certificate = CertificateAuthority().server("any.test")
    sink = await internet.mail_server(unique_domain, Behaviour(tls=context, require_tls=True))
    record = f"3 0 0 {certificate.public_bytes(Encoding.DER).hex()}"
    zone.add(f"_{internet.port}._tcp.mx.{unique_domain}", "TLSA", record)
    assert (await send(sender, f"ada@{unique_domain}"))["status"] == "DELIVERED"
    assert "REQUIRETLS" in sink.messages[0].parameters


async def test_an_unreachable_server_delays_the_message(sender, internet, authority, enforced):
    sink = await internet.mail_server(enforced)
    await sink.aclose()
    assert (await send(sender, f"ada@{enforced}"))["status"] == "DELAYED"


async def test_the_setting_of_the_project_is_the_default(sender, internet, unique_domain):
    assert (await sender.developer.patch("", {"settings": {"requireTls": True}})).status_code == 200
    sink = await internet.mail_server(unique_domain)
    assert (await send(sender, f"ada@{unique_domain}", requireTls=None))["status"] == "BOUNCED"
    assert (await send(sender, f"ada@{unique_domain}", requireTls=False))["status"] == "DELIVERED"
    assert len(sink.messages) == 1


async def test_the_log_says_whether_an_email_requires_tls(sender, internet, world, clock, unique_domain):
    await internet.mail_server(unique_domain)
    required, not_required = (
        await send(sender, f"a@{unique_domain}"),
        await send(sender, f"b@{unique_domain}", requireTls=False),
    )
    assert (required["requireTls"], not_required["requireTls"]) == (True, False)
    clock.move(timedelta(days=400))
    await delete_expired(world)
    log = (await sender.client.get(f"/emails/logs/{required['id']}")).json()
    assert (log["requireTls"], log["engine"]) == (None, None), "the content is not stored any more"


@pytest.mark.parametrize("offers", [True, False])
async def test_a_relay_must_offer_it(sender, internet, zone, authority, unique_domain, offers):
    host = f"relay.{unique_domain}"
    address = internet.new_address()
    zone.add(host, "A", address)
    sink = await internet.server_at(address, Behaviour(tls=authority.server(host)[0], require_tls=offers))
    settings = {"transport": "relay", "relays": [{"host": host, "port": internet.port, "tls": "starttls-required"}]}
    assert (await sender.developer.patch("", {"settings": settings})).status_code == 200
    log = await send(sender, f"ada@{unique_domain}")
    assert log["status"] == ("SENT" if offers else "BOUNCED")
    assert len(sink.messages) == offers
    assert all("REQUIRETLS" in message.parameters for message in sink.messages)
    assert offers or "5.7.30" in log["reason"]


async def test_a_relay_without_tls_gets_nothing(sender, internet, zone, unique_domain):
    address = internet.new_address()
    zone.add(f"relay.{unique_domain}", "A", address)
    sink = await internet.server_at(address)
    relays = [{"host": f"relay.{unique_domain}", "port": internet.port, "tls": "none"}]
    assert (await sender.developer.patch("", {"settings": {"transport": "relay", "relays": relays}})).status_code == 200
    log = await send(sender, f"ada@{unique_domain}")
    assert (log["status"], "5.7.10" in log["reason"]) == ("BOUNCED", True)
    assert sink.messages == []


async def test_the_field_to_decline_tls_occurs_at_most_once(sender):
    """RFC 8689 §3."""
    headers = {"TLS-Required": "No", "tls-required": "No"}
    response = await sender.client.post("/emails", {**MAIL, "to": ["ada@example.org"], "headers": headers})
    assert response.status_code == 400, response.text


async def test_a_message_may_decline_tls(sender, internet, enforced):
    """RFC 8689 §5: with `TLS-Required: No`, the policies of the recipients' domain are ignored."""
    sink = await internet.mail_server(enforced)
    log = await send(sender, f"ada@{enforced}", requireTls=None, headers={"TLS-Required": "no"})
    assert log["status"] == "DELIVERED"
    assert not sink.messages[0].encrypted
    assert (await send(sender, f"bob@{enforced}", requireTls=None))["status"] == "DELAYED"
    log = await send(sender, f"eve@{enforced}", headers={"TLS-Required": "No"})
    assert log["status"] == "BOUNCED", "The field is ignored if the message requires TLS."
    assert len(sink.messages) == 1
