"""The definition of rates is the same everywhere, and delivery reports do not change rates."""

import random
from datetime import timedelta
from uuid import uuid4

import pytest

from postern.messaging.emails.rules import rate, reached
from tests.messaging.campaigns.test_ab_people import TEST, winner_of
from tests.messaging.campaigns.test_campaigns import BROWSER, act, detail, prepared
from tests.messaging.emails.test_relay import sender, sink  # noqa: F401 - fixtures

ARRIVED = ("SENT", "DELIVERED", "COMPLAINED")


def test_a_delivery_report_changes_no_rate():
    """
    Defects: M13
    """
    counts = {"sent": 9, "bounced": 1, "opened": 3}
    for known in ({}, {"delivered": 1}, {"delivered": 9}):
        assert (reached(counts | known), rate(counts | known, "bounced")) == (9, 0.1)
        assert rate(counts | known, "opened") == pytest.approx(1 / 3, abs=1e-6)
    assert (rate({"bounced": 3}, "bounced"), rate({"bounced": 3}, "opened"), rate({}, "bounced")) == (1.0, 0.0, 0.0)


@pytest.mark.parametrize("seed", range(3))
async def test_rates_equal_a_recount_of_a_random_history(sender, stranger, clock, seed):  # noqa: F811
    """A mix of relay and capture, bounces, complaints, opens and reported deliveries.

    Defects: M13
    """
    chance = random.Random(seed)
    project, ids = sender, []
    locals_ = ["ok", "permfail", "bounced", "delivered", "complained", "ok", "ok"]
    for _ in range(20):
        if chance.random() < 0.2:
            transport = chance.choice(["relay", "capture"])
            assert (await project.developer.patch("", {"settings": {"transport": transport}})).status_code == 200
        local = chance.choice(locals_)
        at = "example.org" if local in {"ok", "permfail"} else "postern.test"
        mail = {"from": "a@example.com", "subject": "x", "html": "<p>x</p>", "to": [f"{local}+{uuid4().hex[:8]}@{at}"]}
        answer = await project.client.post("/emails", mail)
        assert answer.status_code == 201, answer.text
        ids.append(answer.json()["id"])
    clock.move(timedelta(minutes=10))
    for each in chance.sample(ids, 8):
        await stranger.get(f"/t/o/{each}", headers=BROWSER)
    log = (await project.client.get("/emails/logs?limit=100")).json()["data"]
    assert len(log) == 20
    arrived = sum(each["status"] in ARRIVED for each in log)
    bounced = sum(each["status"] == "BOUNCED" for each in log)
    opened = sum(each["openedAt"] is not None for each in log)
    complained = sum(each["status"] == "COMPLAINED" for each in log)
    sends = (await project.client.get("/analytics")).json()["sends"]
    (domain,) = (await project.client.get("/analytics/by-domain")).json()
    assert (sends["sent"], sends["bounced"]) == (arrived, bounced)
    for shown in (sends, domain):
        assert shown["openRate"] == pytest.approx(min(opened / arrived, 1), abs=1e-6)
        assert shown["complaintRate"] == pytest.approx(complained / arrived, abs=1e-6)
        assert shown["bounceRate"] == pytest.approx(bounced / (arrived + bounced), abs=1e-6)
    assert sends["clickRate"] == 0


async def test_a_single_delivery_report_does_not_decide_an_ab_test(sender, stranger, clock, work_off):  # noqa: F811
    """
    Defects: M13
    """
    (domain,) = (await sender.client.get("/domains")).json()
    campaign, _ = await prepared(
        sender,
        12,
        **TEST,
        abTestSamplePercent=100,
        abTestMetric="OPEN_RATE",
        fromEmail="news@example.com",
        domainId=domain["id"],
    )
    contact = {"contacts": [{"email": f"delivered+{uuid4().hex[:6]}@postern.test", "attributes": {"name": "D"}}]}
    added = await sender.client.post(f"/audiences/{campaign['audienceId']}/contacts/bulk-email", contact)
    assert added.status_code in (200, 201, 202), added.text
    started = await act(sender, campaign, "send")
    assert started.status_code == 200, started.text
    await work_off()
    sends = (await sender.client.get(f"/campaigns/{campaign['id']}/sends?limit=100")).json()["data"]
    by_subject = {name: [each for each in sends if each["subject"] == name] for name in "AB"}
    assert len(sends) == 13, sends
    (known,) = (name for name in "AB" if any(each["status"] == "DELIVERED" for each in by_subject[name]))
    other = {"A": "B", "B": "A"}[known]
    clock.move(timedelta(minutes=5))
    sent = [each for each in by_subject[known] if each["status"] == "SENT"]
    for each in [sent[0], *by_subject[other]]:
        await stranger.get(f"/t/o/{each['id']}", headers=BROWSER)
    name, done = await winner_of(sender, clock, work_off, campaign)
    assert name == other
    rates = {each["name"]: each["stats"]["openRate"] for each in done["variants"]}
    assert rates[other] == 1
    assert rates[known] == pytest.approx(1 / len(by_subject[known]), abs=1e-6)
    shown = {each["variantId"]: each["rate"] for each in done["evidence"]["variants"]}
    assert {each["name"]: shown[each["id"]] for each in done["variants"]} == rates
    assert (await detail(sender, campaign))["stats"]["delivered"] == 1
