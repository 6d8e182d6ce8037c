"""Statistics, campaigns and A/B tests define rates in the same way, and delivery reports do not change rates."""

import random
from datetime import timedelta
from uuid import uuid4

import pytest

from postern.messaging.emails.rules import rate
from tests.messaging.campaigns.test_ab_people import TEST, end_test
from tests.messaging.campaigns.test_campaigns import BROWSER, create_campaign, get_campaign, request_action
from tests.messaging.emails.test_relay import sender, sink  # noqa: F401 - fixtures

ACCEPTED_STATUSES = ("SENT", "DELIVERED", "COMPLAINED")


def test_a_delivery_report_changes_no_rate():
    """
    Regression test of M13 (tests/defects.md).
    """
    counts = {"sent": 9, "bounced": 1, "opened": 3}
    for reports in ({}, {"delivered": 1}, {"delivered": 9}):
        assert rate(counts | reports, "bounced") == 0.1
        assert rate(counts | reports, "opened") == pytest.approx(1 / 3, abs=1e-6)
    assert (rate({"bounced": 3}, "bounced"), rate({"bounced": 3}, "opened"), rate({}, "bounced")) == (1.0, 0.0, 0.0)


@pytest.mark.parametrize("seed", range(3))
async def test_rates_equal_those_counted_from_the_log_of_random_sends(sender, stranger, clock, seed):  # noqa: F811
    """A mix of relay and capture, bounces, complaints, opens and reported deliveries.

    Regression test of M13 (tests/defects.md).
    """
    rng = random.Random(seed)
    project, ids = sender, []
    local_parts = ["ok", "permfail", "bounced", "delivered", "complained", "ok", "ok"]
    for _ in range(20):
        if rng.random() < 0.2:
            transport = rng.choice(["relay", "capture"])
            assert (await project.developer.patch("", {"settings": {"transport": transport}})).status_code == 200
        local_part = rng.choice(local_parts)
        domain_name = "example.org" if local_part in {"ok", "permfail"} else "postern.test"
        mail = {
            "from": "a@example.com",
            "subject": "x",
            "html": "<p>x</p>",
            "to": [f"{local_part}+{uuid4().hex[:8]}@{domain_name}"],
        }
        response = await project.client.post("/emails", mail)
        assert response.status_code == 201, response.text
        ids.append(response.json()["id"])
    clock.move(timedelta(minutes=10))
    for send_id in rng.sample(ids, 8):
        await stranger.get(f"/t/o/{send_id}", headers=BROWSER)
    log = (await project.client.get("/emails/logs?limit=100")).json()["data"]
    assert len(log) == 20
    accepted = sum(row["status"] in ACCEPTED_STATUSES for row in log)
    bounced = sum(row["status"] == "BOUNCED" for row in log)
    opened = sum(row["openedAt"] is not None for row in log)
    complained = sum(row["status"] == "COMPLAINED" for row in log)
    sends = (await project.client.get("/analytics")).json()["sends"]
    (domain,) = (await project.client.get("/analytics/by-domain")).json()
    assert (sends["sent"], sends["bounced"]) == (accepted, bounced)
    for displayed in (sends, domain):
        assert displayed["openRate"] == pytest.approx(min(opened / accepted, 1), abs=1e-6)
        assert displayed["complaintRate"] == pytest.approx(complained / accepted, abs=1e-6)
        assert displayed["bounceRate"] == pytest.approx(bounced / (accepted + bounced), abs=1e-6)
    assert sends["clickRate"] == 0


async def test_a_single_delivery_report_does_not_decide_an_ab_test(sender, stranger, clock, run_due_work):  # noqa: F811
    """
    Regression test of M13 (tests/defects.md).
    """
    (domain,) = (await sender.client.get("/domains")).json()
    campaign, _ = await create_campaign(
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
    started = await request_action(sender, campaign, "send")
    assert started.status_code == 200, started.text
    await run_due_work()
    sends = (await sender.client.get(f"/campaigns/{campaign['id']}/sends?limit=100")).json()["data"]
    by_subject = {name: [send for send in sends if send["subject"] == name] for name in "AB"}
    assert len(sends) == 13, sends
    (variant_with_report,) = (name for name in "AB" if any(send["status"] == "DELIVERED" for send in by_subject[name]))
    other_variant = {"A": "B", "B": "A"}[variant_with_report]
    clock.move(timedelta(minutes=5))
    sent_of_variant = [send for send in by_subject[variant_with_report] if send["status"] == "SENT"]
    for send in [sent_of_variant[0], *by_subject[other_variant]]:
        await stranger.get(f"/t/o/{send['id']}", headers=BROWSER)
    name, finished = await end_test(sender, clock, run_due_work, campaign)
    assert name == other_variant
    rates = {variant["name"]: variant["stats"]["openRate"] for variant in finished["variants"]}
    assert rates[other_variant] == 1
    assert rates[variant_with_report] == pytest.approx(1 / len(by_subject[variant_with_report]), abs=1e-6)
    evidence_rates = {variant["variantId"]: variant["rate"] for variant in finished["evidence"]["variants"]}
    assert {variant["name"]: evidence_rates[variant["id"]] for variant in finished["variants"]} == rates
    assert (await get_campaign(sender, campaign))["stats"]["delivered"] == 1
