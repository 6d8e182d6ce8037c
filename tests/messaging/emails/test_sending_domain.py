"""The sending domain is checked again at delivery, and a domain from which messages wait to be sent is not deleted."""

from datetime import timedelta

import pytest

from tests.messaging.domains.test_domains import publish
from tests.messaging.emails.test_relay import MAIL, entry, sender, sink

__all__ = ["sender", "sink"]


@pytest.fixture
async def domain(sender):
    (domain,) = (await sender.client.get("/domains")).json()
    return domain


async def scheduled(project, clock, **fields):
    scheduled_at = (clock() + timedelta(hours=2)).isoformat()
    sent = await project.client.post("/emails", {**MAIL, "scheduledAt": scheduled_at, **fields})
    assert sent.status_code == 201, sent.text
    return sent.json()["id"]


async def test_a_send_from_a_deleted_domain_fails_with_a_reason(sender, sink, domain, clock, run_due_work):
    """Regression test of M1 (tests/defects.md)."""
    send_id = await scheduled(sender, clock)
    assert (await sender.client.delete(f"/domains/{domain['id']}?force=true")).status_code == 200
    clock.move(timedelta(hours=3))
    await run_due_work()
    log = await entry(sender, send_id)
    assert (log["status"], sink.messages) == ("FAILED", [])
    assert log["reason"].startswith("example.com is no longer a verified sending domain")
    assert [event["type"] for event in log["webhookEvents"]] == ["Reject"]


async def test_a_send_from_a_degraded_domain_fails_until_it_is_verified_again(
    sender, sink, domain, zone, world, clock, run_due_work
):
    """Regression test of M1 (tests/defects.md)."""
    send_id = await scheduled(sender, clock)
    async with world.db.connection() as connection:
        await connection.execute("update domains set status = 'DEGRADED' where id = %s", [domain["id"]])
    clock.move(timedelta(hours=3))
    await run_due_work()
    assert (await entry(sender, send_id))["status"] == "FAILED"
    publish(zone, domain)
    assert (await sender.client.post(f"/domains/{domain['id']}/verify")).json()["status"] == "VERIFIED"
    assert (await sender.client.post(f"/emails/{send_id}/retry")).status_code == 200
    await run_due_work()
    assert (await entry(sender, send_id))["status"] == "SENT"
    assert sink.messages[0].raw.startswith(b"DKIM-Signature:")


async def test_a_send_accepted_for_capture_is_not_relayed_from_an_unverified_domain(project, sink, clock, run_due_work):
    """Regression test of M1 (tests/defects.md)."""
    send_id = await scheduled(project, clock, **{"from": "hello@never-verified.example"})
    relays = [{"host": "127.0.0.1", "port": sink.port, "tls": "none"}]
    changed = await project.developer.patch("", {"settings": {"transport": "relay", "relays": relays}})
    assert changed.status_code == 200, changed.text
    clock.move(timedelta(hours=3))
    await run_due_work()
    assert ((await entry(project, send_id))["status"], sink.messages) == ("FAILED", [])


async def test_deleting_a_domain_reports_the_number_of_waiting_messages(sender, domain, clock):
    """Regression test of M1 (tests/defects.md)."""
    first, second = await scheduled(sender, clock), await scheduled(sender, clock)
    refused = await sender.client.delete(f"/domains/{domain['id']}")
    assert (refused.status_code, refused.json()["code"]) == (409, "domain_has_waiting_sends")
    assert refused.json()["detail"].startswith("2 messages wait to be sent from this domain")
    assert (await sender.client.get(f"/domains/{domain['id']}")).status_code == 200
    for send_id in (first, second):
        assert (await sender.client.post(f"/emails/{send_id}/cancel")).status_code == 200
    assert (await sender.client.delete(f"/domains/{domain['id']}")).json() == {"deleted": True}
