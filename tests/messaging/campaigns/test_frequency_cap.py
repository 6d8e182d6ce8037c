"""The frequency cap: the maximum of marketing messages to one contact within 24 hours."""

from datetime import timedelta

from tests.messaging.campaigns.test_campaigns import create_campaign, get_campaign, request_action


async def send_copy(project, campaign):
    """Duplicate a campaign and start the copy; returns the copy."""
    copy = (await request_action(project, campaign, "duplicate")).json()
    assert (await request_action(project, copy, "send")).status_code == 200
    return copy


async def test_a_campaign_suppresses_sends_above_the_cap_with_a_reason(project, run_due_work, clock):
    """They are counted in `progress.skipped.frequencyCap` and have the reason in the log.

    Regression test of C6 (tests/defects.md).
    """
    await project.developer.patch(f"/projects/{project.id}", {"settings": {"frequencyCap": 1}})
    campaign, emails = await create_campaign(project, 3)
    await request_action(project, campaign, "send")
    await run_due_work()
    new_contacts = {"contacts": [{"email": "late@example.com"}]}
    await project.client.post(f"/audiences/{campaign['audienceId']}/contacts/bulk-email", new_contacts)
    clock.move(timedelta(hours=1))
    second = await send_copy(project, campaign)
    await run_due_work()
    current = await get_campaign(project, second)
    assert (current["status"], current["stats"]["delivered"], current["stats"]["failed"]) == ("SENT", 1, 0)
    assert current["progress"]["skipped"] == {"unsubscribed": 0, "suppressed": 0, "deleted": 0, "frequencyCap": 3}
    assert (current["progress"]["audience"], current["progress"]["handedOver"]) == (4, 1)
    suppressed = (await project.client.get(f"/campaigns/{second['id']}/sends?status=SUPPRESSED")).json()["data"]
    assert sorted(send["contact"]["email"] for send in suppressed) == sorted(emails)
    reason = "Frequency cap: the contact got 1 marketing message within the last 24 hours."
    assert {send["reason"] for send in suppressed} == {reason}
    recorded = (await project.client.get("/events?type=email.suppressed")).json()["data"]
    assert [event["data"]["reason"] for event in recorded] == [reason] * 3
    clock.move(timedelta(hours=23))
    third = await send_copy(project, campaign)
    await run_due_work()
    assert (await get_campaign(project, third))["stats"]["delivered"] == 3, "24 hours after the first campaign"


async def test_campaigns_at_the_same_time_share_the_cap(project, run_due_work):
    """Regression test of C6 (tests/defects.md)."""
    await project.developer.patch(f"/projects/{project.id}", {"settings": {"frequencyCap": 2}})
    campaign, emails = await create_campaign(project, 4)
    copies = [await send_copy(project, campaign) for _ in range(4)]
    await run_due_work()
    assert sum([(await get_campaign(project, copy))["stats"]["delivered"] for copy in copies]) == 2 * len(emails)


async def test_unsent_messages_and_test_messages_do_not_count(project, run_due_work):
    """Regression test of C6 (tests/defects.md)."""
    await project.developer.patch(f"/projects/{project.id}", {"settings": {"frequencyCap": 1}})
    campaign, _ = await create_campaign(project, 2)
    test_client = await project.key(environment="TEST")
    for _ in range(2):
        copy = (await request_action(project, campaign, "duplicate")).json()
        await test_client.post(f"/campaigns/{copy['id']}/send")
        await run_due_work()
        assert (await get_campaign(project, copy))["stats"]["delivered"] == 2
    cancelled = await send_copy(project, campaign)
    await request_action(project, cancelled, "cancel")
    await run_due_work()
    last = await send_copy(project, campaign)
    await run_due_work()
    assert (await get_campaign(project, last))["stats"]["delivered"] == 2
