"""A stronger suppression reason replaces a weaker one, which stays in the history."""

from uuid import uuid4

import pytest

from postern.messaging.emails.model import SUPPRESSION_STRENGTH
from tests.messaging.emails.test_relay import MAIL, entry, sender, sink

__all__ = ["sender", "sink"]


def address() -> str:
    return f"{uuid4().hex[:12]}@example.org"


async def test_a_hard_bounce_replaces_an_unsubscribe_and_stops_all_mail(sender, sink, work_off):
    """Defects: M5"""
    gone = f"permfail-{address()}"
    assert (await sender.client.post("/suppressions", {"address": gone, "reason": "UNSUBSCRIBE"})).status_code == 201
    mail = {**MAIL, "to": [gone], "cc": None, "bcc": None, "unsubscribable": False}
    first = (await sender.client.post("/emails", mail)).json()
    assert (await entry(sender, first["id"]))["status"] == "BOUNCED"
    kept = (await sender.client.get(f"/suppressions/{gone}")).json()
    assert (kept["reason"], kept["sendId"]) == ("BOUNCE", first["id"])
    assert [(each["reason"], each["source"]) for each in kept["history"]] == [("UNSUBSCRIBE", "api")]
    assert kept["history"][0]["since"] == kept["createdAt"]
    tried = sum(command.startswith("RCPT") for command in sink.commands)
    second = (await sender.client.post("/emails", mail)).json()
    assert (await entry(sender, second["id"]))["status"] == "SUPPRESSED"
    assert sum(command.startswith("RCPT") for command in sink.commands) == tried


@pytest.mark.parametrize("before", SUPPRESSION_STRENGTH)
@pytest.mark.parametrize("after", SUPPRESSION_STRENGTH)
async def test_the_api_can_only_strengthen_a_reason(project, before, after):
    """Defects: M5"""
    who = address()
    first = await project.client.post("/suppressions", {"address": who, "reason": before, "detail": "first"})
    assert first.status_code == 201
    second = await project.client.post("/suppressions", {"address": who.upper(), "reason": after})
    kept = (await project.client.get(f"/suppressions/{who}")).json()
    if SUPPRESSION_STRENGTH.index(after) > SUPPRESSION_STRENGTH.index(before):
        assert (second.status_code, second.json()) == (201, kept)
        assert (kept["id"], kept["reason"]) == (first.json()["id"], after)
        assert [(each["reason"], each["detail"]) for each in kept["history"]] == [(before, "first")]
    else:
        assert (second.status_code, second.json()["code"]) == (409, "already_suppressed")
        assert kept == first.json()


async def test_the_history_has_each_reason_and_bulk_additions_count_upgrades(project):
    """Defects: M5"""
    who, new = address(), address()
    for reason in SUPPRESSION_STRENGTH[:-1]:
        assert (await project.client.post("/suppressions", {"address": who, "reason": reason})).status_code == 201
    body = {"addresses": [who, new], "reason": "COMPLAINT"}
    answer = (await project.client.post("/suppressions/bulk", body)).json()
    assert answer == {"added": 2, "skipped": 0, "upgraded": 1}
    assert (await project.client.post("/suppressions/bulk", body)).json() == {"added": 0, "skipped": 2, "upgraded": 0}
    (listed,) = (await project.client.get(f"/suppressions?q={who}")).json()["data"]
    assert [each["reason"] for each in listed["history"]] == SUPPRESSION_STRENGTH[:-1]


async def test_subscribing_again_does_not_remove_a_bounce(project):
    """Defects: M5"""
    who = address()
    contact = (await project.client.post("/contacts", {"email": who, "unsubscribed": True})).json()
    for reason in ("UNSUBSCRIBE", "BOUNCE"):
        await project.client.post("/suppressions", {"address": who, "reason": reason})
    assert (await project.client.patch(f"/contacts/{contact['id']}", {"unsubscribed": False})).status_code == 200
    assert (await project.client.get(f"/suppressions/{who}")).json()["reason"] == "BOUNCE"
