"""Pausing, resuming and cancelling: at once for any number of sends, also after a crash."""

from datetime import timedelta

import pytest

from postern.kernel.due import claim
from postern.kernel.due import find_due as look_for_due
from postern.messaging.campaigns import running
from postern.messaging.campaigns.work import WORK as CAMPAIGNS
from postern.messaging.emails.delivery import deliver_claimed
from postern.messaging.emails.pre_send_check import SendTurn, check_sends
from postern.messaging.emails.work import SENDS, deliver_share, load_jobs
from tests.messaging.campaigns.test_campaigns import act, detail, prepared
from tests.messaging.emails.test_relay import sender, sink

__all__ = ["sender", "sink"]
MARKETING = SENDS[1]


async def claimed(world, project, work, limit=100):
    """Claim the due records of one kind of work in one project, as a worker does."""
    lanes = [
        lane for lane in (await look_for_due(world.db, work, world.clock())).lanes if str(lane.partition) == project.id
    ]
    return [job for lane in lanes for job in await claim(world.db, work, lane, world.clock(), limit)]


async def filled(world, project):
    """Let the campaign create its sends, without sending them."""
    await CAMPAIGNS[0].do(world, await claimed(world, project, CAMPAIGNS[0]))


async def outward(sender, count):
    """A started campaign through a relay, with all its sends waiting."""
    (domain,) = (await sender.client.get("/domains")).json()
    campaign, emails = await prepared(sender, count, domainId=domain["id"], fromEmail="news@example.com")
    assert (await act(sender, campaign, "send")).status_code == 200
    return campaign, emails


async def statuses(project, campaign):
    sends = (await project.client.get(f"/campaigns/{campaign['id']}/sends?limit=100")).json()["data"]
    return sorted(each["status"] for each in sends)


async def test_pausing_does_not_update_the_sends(sender, world):
    campaign, _ = await outward(sender, 4)
    await filled(world, sender)
    async with world.db.connection() as connection:
        query = "select id, xmin::text, due_at from sends where campaign_id = %s order by id"
        before = await (await connection.execute(query, [campaign["id"]])).fetchall()
        assert (await act(sender, campaign, "pause")).json()["status"] == "PAUSED"
        assert await (await connection.execute(query, [campaign["id"]])).fetchall() == before
    assert len(before) == 4


async def test_sends_that_are_ready_after_a_pause_are_not_transmitted(sender, sink, world, clock, work_off):
    campaign, emails = await outward(sender, 4)
    await filled(world, sender)
    jobs = await load_jobs(world, await claimed(world, sender, MARKETING))
    assert len(jobs) == 4
    await act(sender, campaign, "pause")
    for job in jobs:  # The worker has read them as going, and comes to the wire only now.
        assert await deliver_claimed(world, job) == "QUEUED"
    await work_off()
    assert not sink.messages
    await act(sender, campaign, "resume")
    await work_off()
    assert sorted(each.recipients[0] for each in sink.messages) == sorted(emails)
    clock.move(running.POLL_INTERVAL)
    await work_off()
    assert (await detail(sender, campaign))["status"] == "SENT"


async def test_held_sends_have_no_due_at_and_are_released_in_batches(project, world, clock, work_off, monkeypatch):
    monkeypatch.setattr(running, "UPDATE_BATCH", 2)
    campaign, emails = await prepared(project, 7)
    await act(project, campaign, "send")
    await filled(world, project)
    await act(project, campaign, "pause")
    await work_off()
    assert not await claimed(world, project, MARKETING)
    assert (await detail(project, campaign))["progress"]["waiting"] == 7
    await act(project, campaign, "resume")
    await act(project, campaign, "pause")
    await act(project, campaign, "resume")
    await work_off()
    clock.move(running.POLL_INTERVAL)
    await work_off()
    inbox = (await project.client.get("/inbox?limit=100")).json()["data"]
    assert sorted(each["recipients"][0] for each in inbox) == sorted(emails)
    assert (await detail(project, campaign))["status"] == "SENT"


async def test_a_late_worker_does_not_hold_sends_forever(project, world, clock, work_off):
    """The worker read the content as held, and holds its sends only after the release."""
    campaign, _ = await prepared(project, 3)
    await act(project, campaign, "send")
    await filled(world, project)
    share = await claimed(world, project, MARKETING)
    await act(project, campaign, "pause")
    from postern.messaging.emails import store

    seen = await store.get_contents(world.db, project_id=share[0].project_id, ids=[share[0].content_id])
    assert [each.state for each in seen] == ["HELD"]
    await act(project, campaign, "resume")
    await work_off()
    await store.hold_sends(
        world.db,
        project_id=[each.project_id for each in share],
        content_ids=[share[0].content_id],
        ids=[each.id for each in share],
        attempts=[each.attempt for each in share],
        now=world.clock(),
    )
    clock.move(world.settings.lease * 2)
    await work_off()
    assert (await detail(project, campaign))["status"] == "SENT"
    assert await statuses(project, campaign) == ["DELIVERED"] * 3


async def test_a_release_continues_after_the_worker_dies(project, world, clock, work_off, monkeypatch):
    monkeypatch.setattr(running, "UPDATE_BATCH", 2)
    campaign, _ = await prepared(project, 7)
    await act(project, campaign, "send")
    await filled(world, project)
    await act(project, campaign, "pause")
    await work_off()
    await act(project, campaign, "resume")
    release, calls = running.campaign_store.release_sends, []

    async def dying(*args, **kwargs):
        calls.append(1)
        if len(calls) == 2:
            raise RuntimeError("killed")
        return await release(*args, **kwargs)

    monkeypatch.setattr(running.campaign_store, "release_sends", dying)
    await filled(world, project)
    assert len(calls) == 2
    clock.move(CAMPAIGNS[0].lease * 2)
    await work_off()
    assert await statuses(project, campaign) == ["DELIVERED"] * 7


async def test_cancelling_covers_retries_and_sends_of_a_dead_worker(sender, sink, world, clock, work_off):
    campaign, _ = await outward(sender, 3)
    await filled(world, sender)
    first, second, third = await claimed(world, sender, MARKETING)
    sink.behaviour.replies["RCPT"] = b"451 4.2.0 Mailbox busy, try again later"
    await deliver_share(world, [first])
    sink.behaviour.replies.clear()
    await check_sends(
        world, [SendTurn(second, [second.recipient], skip_unsubscribed=True, needs_mark=True)]
    )  # … and the worker dies with it on the wire, and with the third in hand.
    assert await statuses(sender, campaign) == ["DELAYED", "QUEUED", "QUEUED"]
    assert (await act(sender, campaign, "cancel")).json()["status"] == "CANCELLED"
    await work_off()
    assert await statuses(sender, campaign) == ["CANCELLED", "CANCELLED", "QUEUED"]
    clock.move(timedelta(days=1))
    await work_off()
    assert not sink.messages
    assert await statuses(sender, campaign) == ["CANCELLED"] * 3
    lost = (await sender.client.get(f"/emails/logs/{second.id}")).json()
    assert (lost["ambiguousAttempts"], "may have arrived" in lost["reason"]) == (1, True)
    assert (await sender.client.get(f"/emails/logs/{third.id}")).json()["reason"] == "The campaign was cancelled."
    stats = (await detail(sender, campaign))["progress"]
    assert (stats["waiting"], stats["handedOver"]) == (0, 0)


async def test_cancelling_works_in_batches(project, world, work_off, monkeypatch):
    monkeypatch.setattr(running, "UPDATE_BATCH", 2)
    campaign, _ = await prepared(project, 7)
    await act(project, campaign, "send")
    await filled(world, project)
    await act(project, campaign, "cancel")
    await work_off()
    assert await statuses(project, campaign) == ["CANCELLED"] * 7


async def test_slow_destinations_do_not_hold_the_others_up(project, world, clock, work_off, monkeypatch):
    """Sends that wait for a retry do not delay the next contacts."""
    monkeypatch.setattr(running, "MAX_QUEUED", 2)
    monkeypatch.setattr(running, "FILL_BATCH", 2)
    campaign, _ = await prepared(project, 0)
    people = [f"deferred+{number}@postern.test" for number in range(4)]
    people += [f"z{number}-{campaign['id'][-6:]}@example.com" for number in range(4)]
    for each in people:  # One by one: later contacts come later.
        await project.client.post(f"/audiences/{campaign['audienceId']}/contacts/by-email", {"email": each})
    await act(project, campaign, "send")
    for _ in range(5):
        await work_off()
        clock.move(running.POLL_INTERVAL)
    assert await statuses(project, campaign) == ["DELAYED"] * 4 + ["DELIVERED"] * 4


@pytest.mark.parametrize("how", ["pause", "cancel"])
async def test_a_worker_stops_processing_a_stopped_campaign(project, world, work_off, how):
    campaign, _ = await prepared(project, 4)
    await act(project, campaign, "send")
    (row,) = await claimed(world, project, CAMPAIGNS[0])
    await act(project, campaign, how)
    await running.run(world, row)
    assert await statuses(project, campaign) == []
    await work_off()
    assert await statuses(project, campaign) == []
