"""When a campaign ends, and with which members it starts."""

from datetime import timedelta

from postern.messaging.campaigns.model import RETRY_POLL_INTERVAL
from tests.messaging.campaigns.test_campaigns import act, detail, prepared
from tests.messaging.campaigns.test_stopping import filled


async def add(project, campaign, *emails):
    bulk = {"emails": list(emails)}
    await project.client.post(f"/audiences/{campaign['audienceId']}/contacts/bulk-email", bulk)


async def test_a_campaign_is_sent_after_one_attempt_of_every_send(project, work_off, clock):
    """One deferred message does not keep it SENDING; retries are counted and can be cancelled.

    Defects: C9
    """
    campaign, _ = await prepared(project, 2)
    await add(project, campaign, "deferred+a@postern.test")
    await act(project, campaign, "send")
    await work_off()
    clock.move(RETRY_POLL_INTERVAL)
    await work_off()
    done = await detail(project, campaign)
    assert done["status"] == "SENT"
    progress = done["progress"]
    assert (progress["waiting"], progress["retrying"], progress["handedOver"]) == (1, 1, 2)
    (told,) = (await project.client.get("/events?type=campaign.sent")).json()["data"]
    assert told["data"]["retrying"] == 1
    cancelled = await act(project, campaign, "cancel")
    assert (cancelled.status_code, cancelled.json()["status"]) == (200, "SENT")
    assert (await detail(project, campaign))["progress"]["retrying"] == 0


async def test_a_sent_campaign_without_retries_cannot_be_cancelled(project, work_off):
    """Defects: C9"""
    campaign, _ = await prepared(project, 1)
    await act(project, campaign, "send")
    await work_off()
    assert (await act(project, campaign, "cancel")).status_code == 409


async def test_a_campaign_fails_if_every_message_failed(project, work_off):
    """Defects: C9"""
    campaign, _ = await prepared(project, 3, subject="{{ name | upper(1) }}")
    await act(project, campaign, "send")
    await work_off()
    done = await detail(project, campaign)
    assert (done["status"], done["sentAt"], done["stats"]["failed"]) == ("FAILED", None, 3)
    assert done["reason"].startswith("No message was accepted: 3 of 3 failed. The reason of one of them: ")
    assert done["progress"]["handedOver"] == 0
    (told,) = (await project.client.get("/events?type=campaign.failed")).json()["data"]
    assert told["data"]["reason"] == done["reason"]


async def test_a_campaign_stays_sending_while_all_messages_are_retried(project, work_off, clock):
    """It stays SENDING until one message is accepted or none is retried.

    Defects: C9
    """
    campaign, _ = await prepared(project, 0)
    await add(project, campaign, "deferred+b@postern.test")
    await act(project, campaign, "send")
    await work_off()
    assert (await detail(project, campaign))["status"] == "SENDING"
    for _ in range(14):
        clock.move(timedelta(hours=12))
        await work_off()
        if (done := await detail(project, campaign))["status"] != "SENDING":
            break
    assert (done["status"], done["stats"]["failed"]) == ("FAILED", 1)


async def timed(project, name, *conditions):
    made = await project.client.post("/audiences", {"name": name, "rules": {"conditions": list(conditions)}})
    assert made.status_code == 201, made.text
    return made.json()["id"]


OLDER = {"field": "createdAt", "operator": "notWithinDays", "value": 1}


async def test_time_dependent_audiences_are_evaluated_at_the_start(project, clock, work_off):
    """An audience with time-dependent rules is evaluated at the start, and so is one that refers to it.

    Defects: C8
    """
    campaign, _ = await prepared(project, 3)
    first = await timed(project, "Older", OLDER)
    second = await timed(project, "Among them", {"field": "audience", "operator": "eq", "value": first})
    for audience in (first, second):
        assert (await project.client.get(f"/audiences/{audience}/contacts")).json()["total"] == 0
    clock.move(timedelta(days=2))
    copy = (await act(project, campaign, "duplicate")).json()
    await project.client.patch(f"/campaigns/{copy['id']}", {"audienceId": second})
    assert (await act(project, copy, "send")).status_code == 200
    assert (await detail(project, copy))["progress"]["expected"] == 3
    await work_off()
    assert (await detail(project, copy))["stats"]["delivered"] == 3


async def test_time_dependent_audiences_are_evaluated_at_a_scheduled_start(project, world, clock):
    """Defects: C8"""
    campaign, _ = await prepared(project, 3)
    audience = await timed(project, "Older", OLDER)
    at = (clock() + timedelta(days=2)).isoformat()
    await project.client.patch(f"/campaigns/{campaign['id']}", {"audienceId": audience, "scheduledAt": at})
    assert (await act(project, campaign, "send")).status_code == 200
    clock.move(timedelta(days=2))
    await filled(world, project)
    found = await detail(project, campaign)
    assert (found["status"], found["progress"]["expected"]) == ("SENDING", 3)
