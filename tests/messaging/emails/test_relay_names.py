"""The host of a project's relay is resolved for each connection, and only a checked address is connected to."""

from tests.messaging.emails.test_relay import MAIL, sender, sink

__all__ = ["sender", "sink"]


async def test_a_relay_is_connected_to_at_a_checked_address(sender, sink, zone):
    """Regression test of M2 (tests/defects.md)."""
    zone.set("relay.customer.example", "A", "127.0.0.1")
    relays = [{"host": "relay.customer.example", "port": sink.port, "tls": "none"}]
    assert (await sender.developer.patch("", {"settings": {"relays": relays}})).status_code == 200
    sent = (await sender.client.post("/emails", MAIL)).json()
    assert (sent["status"], sink.accepted) == ("SENT", 1)
    (attempt,) = (await sender.client.get(f"/emails/logs/{sent['id']}/attempts")).json()
    assert attempt["host"] == f"relay.customer.example:{sink.port}"


async def test_sends_through_a_relay_without_an_address_are_retried(sender, sink):
    """Regression test of M2 (tests/defects.md)."""
    relays = [{"host": "nowhere.customer.example", "port": sink.port, "tls": "none"}]
    assert (await sender.developer.patch("", {"settings": {"relays": relays}})).status_code == 200
    sent = (await sender.client.post("/emails", MAIL)).json()
    log = (await sender.client.get(f"/emails/logs/{sent['id']}")).json()
    assert (log["status"], sink.accepted) == ("DELAYED", 0)
    assert "nowhere.customer.example" in log["reason"]
