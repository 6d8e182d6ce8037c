"""Pausing, resuming and cancelling: at once for any number of sends, exact on the wire, and right after a crash."""

from datetime import timedelta

import pytest

from postern.kernel.due import claim
from postern.kernel.due import find_due as look_for_due
from postern.messaging.campaigns import running
from postern.messaging.campaigns.work import WORK as CAMPAIGNS
from postern.messaging.emails.delivery import deliver_claimed
from postern.messaging.emails.pre_send_check import SendTurn, look
from postern.messaging.emails.work import SENDS, deliver_share, load
from tests.messaging.campaigns.test_campaigns import act, detail, prepared
from tests.messaging.emails.test_relay import sender, sink

__all__ = ["sender", "sink"]
MARKETING = SENDS[1]


async def claimed(world, project, work, limit=100):
    """What is due of one kind of work in one project, claimed as by a worker."""
    lanes = [
        lane for lane in (await look_for_due(world.db, work, world.clock())).lanes if str(lane.partition) == project.id
    ]
    return [job for lane in lanes for job in await claim(world.db, work, lane, world.clock(), limit)]


async def filled(world, project):
    """Let the campaign make its sends, and nothing more."""
    await CAMPAIGNS[0].do(world, await claimed(world, project, CAMPAIGNS[0]))


async def outward(sender, count):
    """A campaign that goes out over the wire, on its way, with all its sends waiting."""
    (domain,) = (await sender.client.get("/domains")).json()
    campaign, emails = await prepared(sender, count, domainId=domain["id"], fromEmail="news@example.com")
    assert (await act(sender, campaign, "send")).status_code == 200
    return campaign, emails


async def statuses(project, campaign):
    sends = (await project.client.get(f"/campaigns/{campaign['id']}/sends?limit=100")).json()["data"]
    return sorted(each["status"] for each in sends)


async def test_pausing_writes_nothing_on_the_sends(sender, world):
    campaign, _ = await outward(sender, 4)
    await filled(world, sender)
    async with world.db.connection() as connection:
        query = "select id, xmin::text, due_at from sends where campaign_id = %s order by id"
        before = await (await connection.execute(query, [campaign["id"]])).fetchall()
        assert (await act(sender, campaign, "pause")).json()["status"] == "PAUSED"
        assert await (await connection.execute(query, [campaign["id"]])).fetchall() == before
    assert len(before) == 4


async def test_what_comes_to_the_wire_after_a_pause_is_not_handed_over(sender, sink, world, clock, work_off):
    campaign, emails = await outward(sender, 4)
    await filled(world, sender)
    jobs = await load(world, await claimed(world, sender, MARKETING))
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


async def test_held_sends_have_no_time_and_are_released_in_chunks(project, world, clock, work_off, monkeypatch):
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


async def test_nothing_is_held_for_ever_by_a_worker_that_is_late(project, world, clock, work_off):
    """It saw the words held, and holds its share only after they were let go again."""
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


async def test_a_worker_that_dies_while_it_releases_is_followed(project, world, clock, work_off, monkeypatch):
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


async def test_cancelling_reaches_retries_and_what_a_dead_worker_had(sender, sink, world, clock, work_off):
    campaign, _ = await outward(sender, 3)
    await filled(world, sender)
    first, second, third = await claimed(world, sender, MARKETING)
    sink.behaviour.replies["RCPT"] = b"451 4.2.0 Mailbox busy, try again later"
    await deliver_share(world, [first])
    sink.behaviour.replies.clear()
    await look(
        world, [SendTurn(second, [second.recipient], leavable=True, needs_mark=True)]
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


async def test_cancelling_works_in_chunks(project, world, work_off, monkeypatch):
    monkeypatch.setattr(running, "UPDATE_BATCH", 2)
    campaign, _ = await prepared(project, 7)
    await act(project, campaign, "send")
    await filled(world, project)
    await act(project, campaign, "cancel")
    await work_off()
    assert await statuses(project, campaign) == ["CANCELLED"] * 7


async def test_slow_destinations_do_not_hold_the_others_up(project, world, clock, work_off, monkeypatch):
    """Sends that wait for a retry are none that the next contacts have to wait for."""
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
async def test_whoever_works_on_a_campaign_when_it_is_stopped_does_not_go_on(project, world, work_off, how):
    campaign, _ = await prepared(project, 4)
    await act(project, campaign, "send")
    (row,) = await claimed(world, project, CAMPAIGNS[0])
    await act(project, campaign, how)
    await running.run(world, row)
    assert await statuses(project, campaign) == []
    await work_off()
    assert await statuses(project, campaign) == []
