"""Scheduled campaigns: changes, protected templates, and a start that fails."""

import asyncio
from datetime import timedelta

import pytest

from tests.messaging.campaigns.test_campaigns import HTML, act, detail, prepared

AB = {
    "abTestEnabled": True,
    "abTestSamplePercent": 50,
    "abTestMetric": "OPEN_RATE",
    "abTestDurationMinutes": 60,
}


async def template(project, name="Other"):
    made = await project.client.post("/templates", {"name": name, "html": HTML, "subject": "Hi"})
    return made.json()["id"]


async def scheduled(project, clock, count=2, **fields):
    campaign, emails = await prepared(project, count, scheduledAt=(clock() + timedelta(hours=2)).isoformat(), **fields)
    assert (await act(project, campaign, "send")).status_code == 200
    assert (await detail(project, campaign))["status"] == "SCHEDULED"
    return campaign, emails


@pytest.mark.parametrize("field", ["templateId", "domainId", "audienceId", "fromEmail"])
async def test_a_scheduled_campaign_stays_complete(project, clock, field):
    campaign, _ = await scheduled(project, clock)
    answer = await project.client.patch(f"/campaigns/{campaign['id']}", {field: None})
    assert (answer.status_code, answer.json()["code"]) == (409, "campaign_incomplete")
    assert f"/{field}" in {each["path"] for each in answer.json()["errors"]}
    assert (await detail(project, campaign))[field] == campaign[field]
    assert (await project.client.patch(f"/campaigns/{campaign['id']}", {"name": "New"})).json()["name"] == "New"


async def test_a_scheduled_campaign_can_be_rescheduled(project, clock, work_off):
    campaign, _ = await scheduled(project, clock)
    later = (clock() + timedelta(hours=9)).isoformat()
    assert (await project.client.patch(f"/campaigns/{campaign['id']}", {"scheduledAt": later})).status_code == 200
    clock.move(timedelta(hours=3))
    await work_off()
    assert (await detail(project, campaign))["status"] == "SCHEDULED"
    clock.move(timedelta(hours=7))
    await work_off()
    assert (await detail(project, campaign))["status"] == "SENT"


async def test_templates_of_variants_cannot_be_deleted(project, clock, work_off):
    """The variants of an A/B test can have all the content."""
    first, second = await template(project), await template(project)
    variants = [{"name": "A", "templateId": first, "weight": 50}, {"name": "B", "templateId": second, "weight": 50}]
    campaign, _ = await scheduled(project, clock, 20, templateId=None, variants=variants, **AB)
    for each in (first, second):
        answer = await project.client.delete(f"/templates/{each}")
        assert (answer.status_code, answer.json()["code"]) == (409, "template_in_use"), answer.text
    clock.move(timedelta(hours=3))
    await work_off()
    assert (await detail(project, campaign))["status"] == "TESTING"
    assert (await project.client.delete(f"/templates/{first}")).status_code == 200, "the words are copied by now"


async def test_a_campaign_that_cannot_start_fails_with_the_reason(project, world, clock, work_off):
    campaign, _ = await scheduled(project, clock)
    relay = {"transport": "relay", "relays": [{"host": "relay.example"}]}
    assert (await project.developer.patch("", {"settings": relay})).status_code == 200  # the domain is not verified
    clock.move(timedelta(hours=3))
    await work_off()
    done = await detail(project, campaign)
    assert done["status"] == "FAILED"
    assert "/domainId" in done["reason"]
    (told,) = (await project.client.get("/events?type=campaign.failed")).json()["data"]
    assert told["data"]["reason"] == done["reason"]
    assert done["stats"]["total"] == 0


async def test_of_two_concurrent_send_requests_one_succeeds(project, work_off):
    campaign, emails = await prepared(project, 5)
    answers = await asyncio.gather(*(act(project, campaign, "send") for _ in range(4)))
    assert sorted(each.status_code for each in answers) == [200, 409, 409, 409]
    await work_off()
    assert (await project.client.get("/inbox")).json()["total"] == len(emails)
    started = (await project.client.get("/events?type=campaign.started")).json()["data"]
    assert len(started) == 1
