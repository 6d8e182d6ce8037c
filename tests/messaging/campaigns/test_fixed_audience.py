"""The audience is fixed at the start: contacts that leave it afterwards still get the message."""

from datetime import timedelta

import pytest

from tests.messaging.campaigns.test_campaigns import create_campaign, get_campaign, request_action
from tests.messaging.campaigns.test_stopping import create_sends


async def member_ids(project, campaign):
    """The contact ids of the audience's members, keyed by address."""
    contacts = (await project.client.get(f"/audiences/{campaign['audienceId']}/contacts?limit=100")).json()["data"]
    return {contact["email"]: contact["id"] for contact in contacts}


async def recipients(project):
    """The recipients of the captured messages."""
    inbox = (await project.client.get("/inbox?limit=100")).json()["data"]
    return sorted(message["recipients"][0] for message in inbox)


async def count_leavers(world, campaign):
    """How many contacts are recorded as having left the audience since the campaign's start."""
    async with world.db.connection() as connection:
        query = "select count(*) from campaign_leavers where campaign_id = %s"
        return (await (await connection.execute(query, [campaign["id"]])).fetchone())[0]


async def remove_from_audience(project, campaign, contact_id):
    response = await project.client.delete(f"/audiences/{campaign['audienceId']}/contacts/{contact_id}")
    assert response.status_code == 200, response.text


async def test_a_contact_who_leaves_after_the_start_gets_the_message(project, world, run_due_work):
    campaign, emails = await create_campaign(project, 4)
    ids = await member_ids(project, campaign)
    await remove_from_audience(project, campaign, ids[emails[0]])  # Before the start.
    await request_action(project, campaign, "send")
    await remove_from_audience(project, campaign, ids[emails[1]])
    await project.client.delete(f"/contacts/{ids[emails[2]]}")  # A deleted contact gets no message.
    await project.client.patch(f"/contacts/{ids[emails[3]]}", {"unsubscribed": True})
    await remove_from_audience(project, campaign, ids[emails[3]])
    await run_due_work()
    assert await recipients(project) == [emails[1]]
    current = await get_campaign(project, campaign)
    assert (current["status"], current["progress"]["skipped"]["unsubscribed"]) == ("SENT", 1)
    assert await count_leavers(world, campaign) == 0


async def test_a_contact_who_leaves_and_rejoins_gets_one_message(project, clock, run_due_work):
    campaign, emails = await create_campaign(project, 2)
    ids = await member_ids(project, campaign)
    await request_action(project, campaign, "send")
    clock.move(timedelta(seconds=1))
    await remove_from_audience(project, campaign, ids[emails[0]])
    await project.client.post(f"/audiences/{campaign['audienceId']}/contacts/by-email", {"email": emails[0]})
    await run_due_work()
    assert await recipients(project) == sorted(emails)


async def test_a_contact_who_joins_and_leaves_after_the_start_gets_no_message(project, clock, run_due_work):
    campaign, emails = await create_campaign(project, 2)
    await request_action(project, campaign, "send")
    clock.move(timedelta(seconds=1))
    path = f"/audiences/{campaign['audienceId']}/contacts"
    added = (await project.client.post(f"{path}/by-email", {"email": "late@example.com"})).json()
    await remove_from_audience(project, campaign, added["contactId"])
    await run_due_work()
    assert await recipients(project) == sorted(emails)


async def test_rules_changed_after_the_start_have_no_effect(project, world, run_due_work):
    """The dynamic audience becomes empty in one statement."""
    campaign, emails = await create_campaign(project, 5)
    audience = (await project.client.post("/audiences", {"name": "N"})).json()["id"]
    rules = {"conditions": [{"field": "name", "operator": "startsWith", "value": "N"}]}
    assert (await project.client.patch(f"/audiences/{audience}/rules", rules)).json()["added"] == 5
    await project.client.patch(f"/campaigns/{campaign['id']}", {"audienceId": audience})
    await request_action(project, campaign, "send")
    rules["conditions"][0]["value"] = "X"
    assert (await project.client.patch(f"/audiences/{audience}/rules", rules)).json()["removed"] == 5
    assert await count_leavers(world, campaign) == 5
    await run_due_work()
    assert await recipients(project) == sorted(emails)
    assert await count_leavers(world, campaign) == 0


@pytest.mark.parametrize("paused", [False, True])
async def test_a_contact_who_leaves_during_an_ab_test_gets_the_winner(project, world, clock, run_due_work, paused):
    variants = [{"name": name, "subject": name, "weight": 50} for name in "AB"]
    settings = {"abTestSamplePercent": 50, "abTestMetric": "OPEN_RATE", "abTestDurationMinutes": 60}
    campaign, emails = await create_campaign(project, 20, abTestEnabled=True, variants=variants, **settings)
    await request_action(project, campaign, "send")
    await run_due_work()
    sample = set(await recipients(project))
    assert 0 < len(sample) < 20
    if paused:
        await request_action(project, campaign, "pause")
    for contact_id in (await member_ids(project, campaign)).values():
        await remove_from_audience(project, campaign, contact_id)
    if paused:
        await request_action(project, campaign, "resume")
    clock.move(timedelta(minutes=61))
    await run_due_work()
    assert await recipients(project) == sorted(emails)


async def test_leavers_are_not_recorded_once_all_sends_exist(project, world):
    campaign, emails = await create_campaign(project, 3)
    ids = await member_ids(project, campaign)
    await request_action(project, campaign, "send")
    await create_sends(world, project)
    await remove_from_audience(project, campaign, ids[emails[0]])
    assert await count_leavers(world, campaign) == 0
