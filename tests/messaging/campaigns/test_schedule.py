"""Scheduled campaigns: changes, protected templates, and a start that fails."""

import asyncio
from datetime import timedelta

import pytest

from tests.messaging.campaigns.test_campaigns import HTML, create_campaign, get_campaign, request_action

AB_TEST = {
    "abTestEnabled": True,
    "abTestSamplePercent": 50,
    "abTestMetric": "OPEN_RATE",
    "abTestDurationMinutes": 60,
}


async def create_template(project, name="Other"):
    response = await project.client.post("/templates", {"name": name, "html": HTML, "subject": "Hi"})
    return response.json()["id"]


async def schedule_campaign(project, clock, count=2, **fields):
    """Schedule a campaign to start in two hours; returns the campaign and the addresses of its contacts."""
    campaign, emails = await create_campaign(
        project, count, scheduledAt=(clock() + timedelta(hours=2)).isoformat(), **fields
    )
    assert (await request_action(project, campaign, "send")).status_code == 200
    assert (await get_campaign(project, campaign))["status"] == "SCHEDULED"
    return campaign, emails


@pytest.mark.parametrize("field", ["templateId", "domainId", "audienceId", "fromEmail"])
async def test_a_scheduled_campaign_stays_complete(project, clock, field):
    campaign, _ = await schedule_campaign(project, clock)
    response = await project.client.patch(f"/campaigns/{campaign['id']}", {field: None})
    assert (response.status_code, response.json()["code"]) == (409, "campaign_incomplete")
    assert f"/{field}" in {error["path"] for error in response.json()["errors"]}
    assert (await get_campaign(project, campaign))[field] == campaign[field]
    assert (await project.client.patch(f"/campaigns/{campaign['id']}", {"name": "New"})).json()["name"] == "New"


async def test_a_scheduled_campaign_can_be_rescheduled(project, clock, run_due_work):
    campaign, _ = await schedule_campaign(project, clock)
    later = (clock() + timedelta(hours=9)).isoformat()
    assert (await project.client.patch(f"/campaigns/{campaign['id']}", {"scheduledAt": later})).status_code == 200
    clock.move(timedelta(hours=3))
    await run_due_work()
    assert (await get_campaign(project, campaign))["status"] == "SCHEDULED"
    clock.move(timedelta(hours=7))
    await run_due_work()
    assert (await get_campaign(project, campaign))["status"] == "SENT"


async def test_templates_of_variants_cannot_be_deleted(project, clock, run_due_work):
    """In this campaign only the variants have templates."""
    first, second = await create_template(project), await create_template(project)
    variants = [{"name": "A", "templateId": first, "weight": 50}, {"name": "B", "templateId": second, "weight": 50}]
    campaign, _ = await schedule_campaign(project, clock, 20, templateId=None, variants=variants, **AB_TEST)
    for template_id in (first, second):
        response = await project.client.delete(f"/templates/{template_id}")
        assert (response.status_code, response.json()["code"]) == (409, "template_in_use"), response.text
    clock.move(timedelta(hours=3))
    await run_due_work()
    assert (await get_campaign(project, campaign))["status"] == "TESTING"
    assert (await project.client.delete(f"/templates/{first}")).status_code == 200, (
        "the content was copied at the start"
    )


async def test_a_campaign_that_cannot_start_fails_with_the_reason(project, world, clock, run_due_work):
    campaign, _ = await schedule_campaign(project, clock)
    relay = {"transport": "relay", "relays": [{"host": "relay.example"}]}
    assert (await project.developer.patch("", {"settings": relay})).status_code == 200  # The domain is not verified.
    clock.move(timedelta(hours=3))
    await run_due_work()
    current = await get_campaign(project, campaign)
    assert current["status"] == "FAILED"
    assert "/domainId" in current["reason"]
    (event,) = (await project.client.get("/events?type=campaign.failed")).json()["data"]
    assert event["data"]["reason"] == current["reason"]
    assert current["stats"]["total"] == 0


async def test_of_several_concurrent_send_requests_one_succeeds(project, run_due_work):
    campaign, emails = await create_campaign(project, 5)
    responses = await asyncio.gather(*(request_action(project, campaign, "send") for _ in range(4)))
    assert sorted(response.status_code for response in responses) == [200, 409, 409, 409]
    await run_due_work()
    assert (await project.client.get("/inbox")).json()["total"] == len(emails)
    started = (await project.client.get("/events?type=campaign.started")).json()["data"]
    assert len(started) == 1
