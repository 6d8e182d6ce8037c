"""The audience is fixed at the start: contacts that leave it afterwards still get the message."""

from datetime import timedelta

import pytest

from tests.messaging.campaigns.test_campaigns import act, detail, prepared
from tests.messaging.campaigns.test_stopping import filled


async def members(project, campaign):
    found = (await project.client.get(f"/audiences/{campaign['audienceId']}/contacts?limit=100")).json()["data"]
    return {each["email"]: each["id"] for each in found}


async def recipients(project):
    inbox = (await project.client.get("/inbox?limit=100")).json()["data"]
    return sorted(each["recipients"][0] for each in inbox)


async def leavers(world, campaign):
    async with world.db.connection() as connection:
        query = "select count(*) from campaign_leavers where campaign_id = %s"
        return (await (await connection.execute(query, [campaign["id"]])).fetchone())[0]


async def leave(project, campaign, contact_id):
    answer = await project.client.delete(f"/audiences/{campaign['audienceId']}/contacts/{contact_id}")
    assert answer.status_code == 200, answer.text


async def test_a_contact_who_leaves_after_the_start_gets_the_message(project, world, work_off):
    campaign, emails = await prepared(project, 4)
    ids = await members(project, campaign)
    await leave(project, campaign, ids[emails[0]])  # before the start
    await act(project, campaign, "send")
    await leave(project, campaign, ids[emails[1]])
    await project.client.delete(f"/contacts/{ids[emails[2]]}")  # whoever is deleted is nobody any more
    await project.client.patch(f"/contacts/{ids[emails[3]]}", {"unsubscribed": True})
    await leave(project, campaign, ids[emails[3]])
    await work_off()
    assert await recipients(project) == [emails[1]]
    done = await detail(project, campaign)
    assert (done["status"], done["progress"]["skipped"]["unsubscribed"]) == ("SENT", 1)
    assert await leavers(world, campaign) == 0


async def test_a_contact_who_leaves_and_rejoins_gets_one_message(project, clock, work_off):
    campaign, emails = await prepared(project, 2)
    ids = await members(project, campaign)
    await act(project, campaign, "send")
    clock.move(timedelta(seconds=1))
    await leave(project, campaign, ids[emails[0]])
    await project.client.post(f"/audiences/{campaign['audienceId']}/contacts/by-email", {"email": emails[0]})
    await work_off()
    assert await recipients(project) == sorted(emails)


async def test_a_contact_who_joins_and_leaves_after_the_start_gets_no_message(project, clock, work_off):
    campaign, emails = await prepared(project, 2)
    await act(project, campaign, "send")
    clock.move(timedelta(seconds=1))
    path = f"/audiences/{campaign['audienceId']}/contacts"
    late = (await project.client.post(f"{path}/by-email", {"email": "late@example.com"})).json()
    await leave(project, campaign, late["contactId"])
    await work_off()
    assert await recipients(project) == sorted(emails)


async def test_rules_changed_after_the_start_have_no_effect(project, world, work_off):
    """The dynamic audience becomes empty in one statement."""
    campaign, emails = await prepared(project, 5)
    audience = (await project.client.post("/audiences", {"name": "N"})).json()["id"]
    rules = {"conditions": [{"field": "name", "operator": "startsWith", "value": "N"}]}
    assert (await project.client.patch(f"/audiences/{audience}/rules", rules)).json()["added"] == 5
    await project.client.patch(f"/campaigns/{campaign['id']}", {"audienceId": audience})
    await act(project, campaign, "send")
    rules["conditions"][0]["value"] = "X"
    assert (await project.client.patch(f"/audiences/{audience}/rules", rules)).json()["removed"] == 5
    assert await leavers(world, campaign) == 5
    await work_off()
    assert await recipients(project) == sorted(emails)
    assert await leavers(world, campaign) == 0


@pytest.mark.parametrize("paused", [False, True])
async def test_a_contact_who_leaves_during_an_ab_test_gets_the_winner(project, world, clock, work_off, paused):
    variants = [{"name": name, "subject": name, "weight": 50} for name in "AB"]
    settings = {"abTestSamplePercent": 50, "abTestMetric": "OPEN_RATE", "abTestDurationMinutes": 60}
    campaign, emails = await prepared(project, 20, abTestEnabled=True, variants=variants, **settings)
    await act(project, campaign, "send")
    await work_off()
    sample = set(await recipients(project))
    assert 0 < len(sample) < 20
    if paused:
        await act(project, campaign, "pause")
    for contact_id in (await members(project, campaign)).values():
        await leave(project, campaign, contact_id)
    if paused:
        await act(project, campaign, "resume")
    clock.move(timedelta(minutes=61))
    await work_off()
    assert await recipients(project) == sorted(emails)


async def test_leavers_are_not_recorded_once_all_sends_exist(project, world):
    campaign, emails = await prepared(project, 3)
    ids = await members(project, campaign)
    await act(project, campaign, "send")
    await filled(world, project)
    await leave(project, campaign, ids[emails[0]])
    assert await leavers(world, campaign) == 0
