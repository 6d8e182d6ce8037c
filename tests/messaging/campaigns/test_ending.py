"""When a campaign ends, and with which members it starts."""

from datetime import timedelta

from postern.messaging.campaigns.model import RETRY_POLL_INTERVAL
from postern.messaging.emails.retention import delete_expired_log
from tests.messaging.campaigns.test_campaigns import create_campaign, get_campaign, request_action
from tests.messaging.campaigns.test_stopping import create_sends


async def add_to_audience(project, campaign, *emails):
    body = {"emails": list(emails)}
    await project.client.post(f"/audiences/{campaign['audienceId']}/contacts/bulk-email", body)


async def test_a_campaign_is_sent_after_one_attempt_of_every_send(project, run_due_work, clock):
    """One deferred message does not keep it SENDING; retries are counted and can be cancelled.

    Regression test of C9 (tests/defects.md).
    """
    campaign, _ = await create_campaign(project, 2)
    await add_to_audience(project, campaign, "deferred+a@postern.test")
    await request_action(project, campaign, "send")
    await run_due_work()
    clock.move(RETRY_POLL_INTERVAL)
    await run_due_work()
    current = await get_campaign(project, campaign)
    assert current["status"] == "SENT"
    progress = current["progress"]
    assert (progress["waiting"], progress["retrying"], progress["handedOver"]) == (1, 1, 2)
    (event,) = (await project.client.get("/events?type=campaign.sent")).json()["data"]
    assert event["data"]["retrying"] == 1
    cancelled = await request_action(project, campaign, "cancel")
    assert (cancelled.status_code, cancelled.json()["status"]) == (200, "SENT")
    assert (await get_campaign(project, campaign))["progress"]["retrying"] == 0


async def test_a_sent_campaign_without_retries_cannot_be_cancelled(project, run_due_work):
    """Regression test of C9 (tests/defects.md)."""
    campaign, _ = await create_campaign(project, 1)
    await request_action(project, campaign, "send")
    await run_due_work()
    assert (await request_action(project, campaign, "cancel")).status_code == 409


async def test_a_campaign_fails_if_every_message_failed(project, run_due_work):
    """Regression test of C9 (tests/defects.md)."""
    campaign, _ = await create_campaign(project, 3, subject="{{ name | upper(1) }}")
    await request_action(project, campaign, "send")
    await run_due_work()
    current = await get_campaign(project, campaign)
    assert (current["status"], current["sentAt"], current["stats"]["failed"]) == ("FAILED", None, 3)
    assert current["reason"].startswith("No message was accepted: 3 of 3 failed. The reason of one of them: ")
    assert current["progress"]["handedOver"] == 0
    (event,) = (await project.client.get("/events?type=campaign.failed")).json()["data"]
    assert event["data"]["reason"] == current["reason"]


async def test_a_campaign_stays_sending_while_all_messages_are_retried(project, run_due_work, clock):
    """It stays SENDING until one message is accepted or none is retried.

    Regression test of C9 (tests/defects.md).
    """
    campaign, _ = await create_campaign(project, 0)
    await add_to_audience(project, campaign, "deferred+b@postern.test")
    await request_action(project, campaign, "send")
    await run_due_work()
    assert (await get_campaign(project, campaign))["status"] == "SENDING"
    for _ in range(14):
        clock.move(timedelta(hours=12))
        await run_due_work()
        if (current := await get_campaign(project, campaign))["status"] != "SENDING":
            break
    assert (current["status"], current["stats"]["failed"]) == ("FAILED", 1)


async def create_audience(project, name, *conditions):
    """Create a DYNAMIC audience; returns its id."""
    response = await project.client.post("/audiences", {"name": name, "rules": {"conditions": list(conditions)}})
    assert response.status_code == 201, response.text
    return response.json()["id"]


CREATED_OVER_A_DAY_AGO = {"field": "createdAt", "operator": "notWithinDays", "value": 1}


async def test_time_dependent_audiences_are_evaluated_at_the_start(project, clock, run_due_work):
    """An audience with time-dependent rules is evaluated at the start, and so is one that refers to it.

    Regression test of C8 (tests/defects.md).
    """
    campaign, _ = await create_campaign(project, 3)
    first = await create_audience(project, "Older", CREATED_OVER_A_DAY_AGO)
    second = await create_audience(
        project, "Members of the first", {"field": "audience", "operator": "eq", "value": first}
    )
    for audience in (first, second):
        assert (await project.client.get(f"/audiences/{audience}/contacts")).json()["total"] == 0
    clock.move(timedelta(days=2))
    copy = (await request_action(project, campaign, "duplicate")).json()
    await project.client.patch(f"/campaigns/{copy['id']}", {"audienceId": second})
    assert (await request_action(project, copy, "send")).status_code == 200
    assert (await get_campaign(project, copy))["progress"]["expected"] == 3
    await run_due_work()
    assert (await get_campaign(project, copy))["stats"]["delivered"] == 3


async def test_time_dependent_audiences_are_evaluated_at_a_scheduled_start(project, world, clock):
    """Regression test of C8 (tests/defects.md)."""
    campaign, _ = await create_campaign(project, 3)
    audience = await create_audience(project, "Older", CREATED_OVER_A_DAY_AGO)
    at = (clock() + timedelta(days=2)).isoformat()
    await project.client.patch(f"/campaigns/{campaign['id']}", {"audienceId": audience, "scheduledAt": at})
    assert (await request_action(project, campaign, "send")).status_code == 200
    clock.move(timedelta(days=2))
    await create_sends(world, project)
    current = await get_campaign(project, campaign)
    assert (current["status"], current["progress"]["expected"]) == ("SENDING", 3)


async def test_a_campaign_keeps_its_numbers_when_its_sends_are_deleted(project, world, run_due_work, clock):
    """Sends of a paused campaign stay: they tell which contacts have got it."""
    await project.developer.patch("", {"settings": {"logRetentionDays": 90}})
    campaign, _ = await create_campaign(project, 2)
    await add_to_audience(project, campaign, "bounced+a@postern.test")
    paused, _ = await create_campaign(project, 1)
    for created in (campaign, paused):
        await request_action(project, created, "send")
    await run_due_work()
    clock.move(timedelta(minutes=5))
    await run_due_work()
    before = await get_campaign(project, campaign)
    assert (before["status"], before["stats"]["total"], before["stats"]["bounced"]) == ("SENT", 3, 1)
    async with world.db.connection() as connection:
        # As if it had been paused before its last send was created.
        await connection.execute("update campaigns set status = 'PAUSED' where id = %s", [paused["id"]])
    paused_sends = (await project.client.get(f"/campaigns/{paused['id']}/sends")).json()["data"]
    clock.move(timedelta(days=91))
    await delete_expired_log(world)
    after = await get_campaign(project, campaign)
    assert (after["stats"], after["progress"]) == (before["stats"], before["progress"])
    assert (await project.client.get(f"/campaigns/{campaign['id']}/sends")).json()["data"] == []
    assert (await project.client.get(f"/campaigns/{paused['id']}/sends")).json()["data"] == paused_sends
    listed = (await project.client.get("/campaigns?include=counts&limit=10")).json()
    assert {row["id"]: row["stats"]["total"] for row in listed}[campaign["id"]] == 3
