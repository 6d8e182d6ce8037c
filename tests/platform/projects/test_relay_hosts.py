"""Relays of a project must be hosts on the public Internet, like the URLs of webhooks."""

import pytest

from tests.messaging.domains.test_domains import publish
from tests.peers.smtp_sink import Behaviour, Sink

PRIVATE_HOSTS = [
    "127.0.0.1",
    "10.0.0.1",
    "172.16.3.4",
    "192.168.1.1",
    "169.254.169.254",
    "100.64.0.1",
    "0.0.0.0",
    "localhost",
    "LOCALHOST.",
    "mail.localhost",
    "::1",
    "::ffff:127.0.0.1",
    "fe80::1",
    "fd00::1",
    "64:ff9b::7f00:1",
    "2130706433",
    "0x7f.1",
    "0177.0.0.1",
    "127.1",
]
MAIL = {"to": ["ada@example.org"], "from": "hello@example.com", "subject": "Hello", "text": "Hello."}


def relay(host: str, port: int = 25) -> dict[str, object]:
    return {"settings": {"transport": "relay", "relays": [{"host": host, "port": port, "tls": "none"}]}}


@pytest.mark.parametrize("host", PRIVATE_HOSTS)
async def test_a_private_relay_host_is_refused(project, host):
    """Regression test of M2, S4 (tests/defects.md)."""
    refused = await project.developer.patch("", relay(host))
    assert refused.status_code == 400, refused.text
    assert [error["path"] for error in refused.json()["errors"]] == ["/settings/relays/0/host"]
    assert (await project.developer.get("")).json()["settings"]["relays"] is None


@pytest.mark.parametrize("addresses", [["127.0.0.1"], ["8.8.8.8", "127.0.0.1"], ["169.254.169.254"]])
async def test_a_relay_name_that_resolves_to_a_private_address_is_never_connected_to(project, zone, addresses):
    """Regression test of M2, S4 (tests/defects.md)."""
    domain = (await project.client.post("/domains", {"domain": "example.com"})).json()
    publish(zone, domain)
    assert (await project.client.post(f"/domains/{domain['id']}/verify")).json()["status"] == "VERIFIED"
    zone.set("relay.customer.example", "A", *addresses)
    async with Sink(Behaviour(replies={"GREETING": b"554 a secret banner"})) as sink:
        assert (await project.developer.patch("", relay("relay.customer.example", sink.port))).status_code == 200
        sent = (await project.client.post("/emails", MAIL)).json()
        assert sink.connections == 0
    attempts = (await project.client.get(f"/emails/logs/{sent['id']}/attempts")).json()
    log = (await project.client.get(f"/emails/logs/{sent['id']}")).json()
    assert sent["status"] == "DELAYED"
    assert "not on the public Internet" in log["reason"]
    assert "secret" not in str(attempts) + str(log)
    assert not any(attempt["dialogue"] for attempt in attempts)


async def test_the_relay_of_the_instance_may_have_a_private_address(project, zone, world):
    """Regression test of M2 (tests/defects.md)."""
    import msgspec

    domain = (await project.client.post("/domains", {"domain": "example.com"})).json()
    publish(zone, domain)
    assert (await project.client.post(f"/domains/{domain['id']}/verify")).json()["status"] == "VERIFIED"
    async with Sink() as sink:
        relay_url = f"smtp://127.0.0.1:{sink.port}?tls=none"
        world.settings = msgspec.structs.replace(world.settings, transport="relay", relay=relay_url)
        assert (await project.client.post("/emails", MAIL)).json()["status"] == "SENT"
        assert sink.accepted == 1
