"""A stronger suppression reason replaces a weaker one, which stays in the history."""

from uuid import uuid4

import pytest

from postern.messaging.emails.model import SUPPRESSION_STRENGTH
from tests.messaging.emails.test_relay import MAIL, entry, sender, sink

__all__ = ["sender", "sink"]


def new_address() -> str:
    return f"{uuid4().hex[:12]}@example.org"


async def test_a_hard_bounce_replaces_an_unsubscribe_and_stops_all_mail(sender, sink, run_due_work):
    """Regression test of M5 (tests/defects.md)."""
    address = f"permfail-{new_address()}"
    assert (await sender.client.post("/suppressions", {"address": address, "reason": "UNSUBSCRIBE"})).status_code == 201
    mail = {**MAIL, "to": [address], "cc": None, "bcc": None, "unsubscribable": False}
    first = (await sender.client.post("/emails", mail)).json()
    assert (await entry(sender, first["id"]))["status"] == "BOUNCED"
    suppression = (await sender.client.get(f"/suppressions/{address}")).json()
    assert (suppression["reason"], suppression["sendId"]) == ("BOUNCE", first["id"])
    assert [(former_reason["reason"], former_reason["source"]) for former_reason in suppression["history"]] == [
        ("UNSUBSCRIBE", "api")
    ]
    assert suppression["history"][0]["since"] == suppression["createdAt"]
    rcpt_count = sum(command.startswith("RCPT") for command in sink.commands)
    second = (await sender.client.post("/emails", mail)).json()
    assert (await entry(sender, second["id"]))["status"] == "SUPPRESSED"
    assert sum(command.startswith("RCPT") for command in sink.commands) == rcpt_count


@pytest.mark.parametrize("old_reason", SUPPRESSION_STRENGTH)
@pytest.mark.parametrize("new_reason", SUPPRESSION_STRENGTH)
async def test_the_api_can_only_strengthen_a_reason(project, old_reason, new_reason):
    """Regression test of M5 (tests/defects.md)."""
    address = new_address()
    first = await project.client.post("/suppressions", {"address": address, "reason": old_reason, "detail": "first"})
    assert first.status_code == 201
    second = await project.client.post("/suppressions", {"address": address.upper(), "reason": new_reason})
    suppression = (await project.client.get(f"/suppressions/{address}")).json()
    if SUPPRESSION_STRENGTH.index(new_reason) > SUPPRESSION_STRENGTH.index(old_reason):
        assert (second.status_code, second.json()) == (201, suppression)
        assert (suppression["id"], suppression["reason"]) == (first.json()["id"], new_reason)
        assert [(former_reason["reason"], former_reason["detail"]) for former_reason in suppression["history"]] == [
            (old_reason, "first")
        ]
    else:
        assert (second.status_code, second.json()["code"]) == (409, "already_suppressed")
        assert suppression == first.json()


async def test_the_history_has_each_reason_and_bulk_additions_count_upgrades(project):
    """Regression test of M5 (tests/defects.md)."""
    address, other_address = new_address(), new_address()
    for reason in SUPPRESSION_STRENGTH[:-1]:
        assert (await project.client.post("/suppressions", {"address": address, "reason": reason})).status_code == 201
    body = {"addresses": [address, other_address], "reason": "COMPLAINT"}
    response = (await project.client.post("/suppressions/bulk", body)).json()
    assert response == {"added": 2, "skipped": 0, "upgraded": 1}
    assert (await project.client.post("/suppressions/bulk", body)).json() == {"added": 0, "skipped": 2, "upgraded": 0}
    (suppression,) = (await project.client.get(f"/suppressions?q={address}")).json()["data"]
    assert [former_reason["reason"] for former_reason in suppression["history"]] == SUPPRESSION_STRENGTH[:-1]


async def test_subscribing_again_does_not_remove_a_bounce(project):
    """Regression test of M5 (tests/defects.md)."""
    address = new_address()
    contact = (await project.client.post("/contacts", {"email": address, "unsubscribed": True})).json()
    for reason in ("UNSUBSCRIBE", "BOUNCE"):
        await project.client.post("/suppressions", {"address": address, "reason": reason})
    assert (await project.client.patch(f"/contacts/{contact['id']}", {"unsubscribed": False})).status_code == 200
    assert (await project.client.get(f"/suppressions/{address}")).json()["reason"] == "BOUNCE"
