"""The frequency cap: the maximum of marketing messages to one contact within 24 hours."""

from datetime import timedelta

from tests.messaging.campaigns.test_campaigns import act, detail, prepared


async def again(project, campaign):
    copy = (await act(project, campaign, "duplicate")).json()
    assert (await act(project, copy, "send")).status_code == 200
    return copy


async def test_a_campaign_suppresses_sends_above_the_cap_with_a_reason(project, work_off, clock):
    """Counted in `progress.skipped.frequencyCap`, and in the log with the reason.

    Defects: C6
    """
    await project.developer.patch(f"/projects/{project.id}", {"settings": {"frequencyCap": 1}})
    campaign, emails = await prepared(project, 3)
    await act(project, campaign, "send")
    await work_off()
    late = {"contacts": [{"email": "late@example.com"}]}
    await project.client.post(f"/audiences/{campaign['audienceId']}/contacts/bulk-email", late)
    clock.move(timedelta(hours=1))
    second = await again(project, campaign)
    await work_off()
    done = await detail(project, second)
    assert (done["status"], done["stats"]["delivered"], done["stats"]["failed"]) == ("SENT", 1, 0)
    assert done["progress"]["skipped"] == {"unsubscribed": 0, "suppressed": 0, "deleted": 0, "frequencyCap": 3}
    assert (done["progress"]["audience"], done["progress"]["handedOver"]) == (4, 1)
    left = (await project.client.get(f"/campaigns/{second['id']}/sends?status=SUPPRESSED")).json()["data"]
    assert sorted(each["contact"]["email"] for each in left) == sorted(emails)
    reason = "Frequency cap: the contact got 1 marketing message within the last 24 hours."
    assert {each["reason"] for each in left} == {reason}
    told = (await project.client.get("/events?type=email.suppressed")).json()["data"]
    assert [each["data"]["reason"] for each in told] == [reason] * 3
    clock.move(timedelta(hours=23))
    third = await again(project, campaign)
    await work_off()
    assert (await detail(project, third))["stats"]["delivered"] == 3, "the day of the first campaign is over"


async def test_campaigns_at_the_same_time_share_the_cap(project, work_off):
    """Defects: C6"""
    await project.developer.patch(f"/projects/{project.id}", {"settings": {"frequencyCap": 2}})
    campaign, emails = await prepared(project, 4)
    copies = [await again(project, campaign) for _ in range(4)]
    await work_off()
    assert sum([(await detail(project, each))["stats"]["delivered"] for each in copies]) == 2 * len(emails)


async def test_unsent_messages_and_test_messages_do_not_count(project, work_off):
    """Defects: C6"""
    await project.developer.patch(f"/projects/{project.id}", {"settings": {"frequencyCap": 1}})
    campaign, _ = await prepared(project, 2)
    tests = await project.key(environment="TEST")
    for _ in range(2):
        copy = (await act(project, campaign, "duplicate")).json()
        await tests.post(f"/campaigns/{copy['id']}/send")
        await work_off()
        assert (await detail(project, copy))["stats"]["delivered"] == 2
    stopped = await again(project, campaign)
    await act(project, stopped, "cancel")
    await work_off()
    last = await again(project, campaign)
    await work_off()
    assert (await detail(project, last))["stats"]["delivered"] == 2
