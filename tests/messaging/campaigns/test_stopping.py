"""Pausing, resuming and cancelling take effect at once for any number of sends, also after a crash."""

from datetime import timedelta

import pytest

from postern.kernel.due import claim, find_due
from postern.messaging.campaigns import running
from postern.messaging.campaigns.work import WORK as CAMPAIGNS
from postern.messaging.emails.delivery import deliver_claimed
from postern.messaging.emails.pre_send_check import SendTurn, check_sends
from postern.messaging.emails.work import SENDS, deliver_batch, load_jobs
from tests.messaging.campaigns.test_campaigns import create_campaign, get_campaign, request_action
from tests.messaging.emails.test_relay import sender, sink

__all__ = ["sender", "sink"]
MARKETING = SENDS[1]


async def claim_due(world, project, work, limit=100):
    """Claim the due records of one kind of work in one project, as a worker does."""
    lanes = [
        lane for lane in (await find_due(world.db, work, world.clock())).lanes if str(lane.partition) == project.id
    ]
    return [job for lane in lanes for job in await claim(world.db, work, lane, world.clock(), limit)]


async def create_sends(world, project):
    """Let the campaign create its sends, without sending them."""
    await CAMPAIGNS[0].do(world, await claim_due(world, project, CAMPAIGNS[0]))


async def start_relayed_campaign(sender, count):
    """A started campaign through a relay, with all its sends waiting."""
    (domain,) = (await sender.client.get("/domains")).json()
    campaign, emails = await create_campaign(sender, count, domainId=domain["id"], fromEmail="news@example.com")
    assert (await request_action(sender, campaign, "send")).status_code == 200
    return campaign, emails


async def send_statuses(project, campaign):
    sends = (await project.client.get(f"/campaigns/{campaign['id']}/sends?limit=100")).json()["data"]
    return sorted(send["status"] for send in sends)


async def test_pausing_does_not_update_the_sends(sender, world):
    campaign, _ = await start_relayed_campaign(sender, 4)
    await create_sends(world, sender)
    async with world.db.connection() as connection:
        query = "select id, xmin::text, due_at from sends where campaign_id = %s order by id"
        before = await (await connection.execute(query, [campaign["id"]])).fetchall()
        assert (await request_action(sender, campaign, "pause")).json()["status"] == "PAUSED"
        assert await (await connection.execute(query, [campaign["id"]])).fetchall() == before
    assert len(before) == 4


async def test_sends_that_are_ready_after_a_pause_are_not_transmitted(sender, sink, world, clock, run_due_work):
    campaign, emails = await start_relayed_campaign(sender, 4)
    await create_sends(world, sender)
    jobs = await load_jobs(world, await claim_due(world, sender, MARKETING))
    assert len(jobs) == 4
    await request_action(sender, campaign, "pause")
    for job in jobs:  # The worker loaded them before the pause, and begins to transmit them only now.
        assert await deliver_claimed(world, job) == "QUEUED"
    await run_due_work()
    assert not sink.messages
    await request_action(sender, campaign, "resume")
    await run_due_work()
    assert sorted(message.recipients[0] for message in sink.messages) == sorted(emails)
    clock.move(running.POLL_INTERVAL)
    await run_due_work()
    assert (await get_campaign(sender, campaign))["status"] == "SENT"


async def test_a_process_whose_leases_were_not_renewed_begins_no_message(sender, sink, world, clock, run_due_work):
    """Another worker may claim the sends at any moment, and would transmit them, too."""
    campaign, emails = await start_relayed_campaign(sender, 2)
    await create_sends(world, sender)
    jobs = await load_jobs(world, await claim_due(world, sender, MARKETING))
    clock.move(MARKETING.lease)
    for job in jobs:
        assert await deliver_claimed(world, job) == "QUEUED"
    assert not sink.messages
    await run_due_work()
    assert sorted(message.recipients[0] for message in sink.messages) == sorted(emails)
    assert await send_statuses(sender, campaign) == ["SENT", "SENT"]


async def test_a_pause_does_not_count_in_the_retry_period(sender, sink, world, clock, run_due_work):
    campaign, _ = await start_relayed_campaign(sender, 2)
    await create_sends(world, sender)
    await request_action(sender, campaign, "pause")
    await run_due_work()
    clock.move(timedelta(days=4))
    sink.behaviour.replies["RCPT"] = b"450 4.2.0 Greylisted"
    await request_action(sender, campaign, "resume")
    await run_due_work()
    assert await send_statuses(sender, campaign) == ["DELAYED", "DELAYED"]
    sink.behaviour.replies.clear()
    clock.move(timedelta(minutes=10))
    await run_due_work()
    assert await send_statuses(sender, campaign) == ["SENT", "SENT"]


async def test_held_sends_have_no_due_at_and_are_released_in_batches(project, world, clock, run_due_work, monkeypatch):
    monkeypatch.setattr(running, "UPDATE_BATCH", 2)
    campaign, emails = await create_campaign(project, 7)
    await request_action(project, campaign, "send")
    await create_sends(world, project)
    await request_action(project, campaign, "pause")
    await run_due_work()
    assert not await claim_due(world, project, MARKETING)
    assert (await get_campaign(project, campaign))["progress"]["waiting"] == 7
    await request_action(project, campaign, "resume")
    await request_action(project, campaign, "pause")
    await request_action(project, campaign, "resume")
    await run_due_work()
    clock.move(running.POLL_INTERVAL)
    await run_due_work()
    inbox = (await project.client.get("/inbox?limit=100")).json()["data"]
    assert sorted(message["recipients"][0] for message in inbox) == sorted(emails)
    assert (await get_campaign(project, campaign))["status"] == "SENT"


async def test_a_late_worker_does_not_hold_sends_forever(project, world, clock, run_due_work):
    """The worker reads that the content is held, and stores this for its sends only after the content was released."""
    campaign, _ = await create_campaign(project, 3)
    await request_action(project, campaign, "send")
    await create_sends(world, project)
    sends = await claim_due(world, project, MARKETING)
    await request_action(project, campaign, "pause")
    from postern.messaging.emails import store

    contents = await store.get_contents(world.db, project_id=sends[0].project_id, ids=[sends[0].content_id])
    assert [content.state for content in contents] == ["HELD"]
    await request_action(project, campaign, "resume")
    await run_due_work()
    await store.hold_sends(
        world.db,
        project_id=[send.project_id for send in sends],
        content_ids=[sends[0].content_id],
        ids=[send.id for send in sends],
        attempts=[send.attempt for send in sends],
        now=world.clock(),
    )
    clock.move(world.settings.lease * 2)
    await run_due_work()
    assert (await get_campaign(project, campaign))["status"] == "SENT"
    assert await send_statuses(project, campaign) == ["DELIVERED"] * 3


async def test_a_release_continues_after_the_worker_dies(project, world, clock, run_due_work, monkeypatch):
    monkeypatch.setattr(running, "UPDATE_BATCH", 2)
    campaign, _ = await create_campaign(project, 7)
    await request_action(project, campaign, "send")
    await create_sends(world, project)
    await request_action(project, campaign, "pause")
    await run_due_work()
    await request_action(project, campaign, "resume")
    release, calls = running.campaign_store.release_sends, []

    async def fail_at_the_second_call(*args, **kwargs):
        calls.append(1)
        if len(calls) == 2:
            raise RuntimeError("killed")
        return await release(*args, **kwargs)

    monkeypatch.setattr(running.campaign_store, "release_sends", fail_at_the_second_call)
    await create_sends(world, project)
    assert len(calls) == 2
    clock.move(CAMPAIGNS[0].lease * 2)
    await run_due_work()
    assert await send_statuses(project, campaign) == ["DELIVERED"] * 7


async def test_cancelling_covers_retries_and_sends_of_a_dead_worker(sender, sink, world, clock, run_due_work):
    campaign, _ = await start_relayed_campaign(sender, 3)
    await create_sends(world, sender)
    first, second, third = await claim_due(world, sender, MARKETING)
    sink.behaviour.replies["RCPT"] = b"451 4.2.0 Mailbox busy, try again later"
    await deliver_batch(world, [first])
    sink.behaviour.replies.clear()
    await check_sends(
        world, [SendTurn(second, [second.recipient], skip_unsubscribed=True, needs_mark=True)]
    )  # The worker is killed while it transmits the second send, before it begins the third.
    assert await send_statuses(sender, campaign) == ["DELAYED", "QUEUED", "QUEUED"]
    assert (await request_action(sender, campaign, "cancel")).json()["status"] == "CANCELLED"
    await run_due_work()
    assert await send_statuses(sender, campaign) == ["CANCELLED", "CANCELLED", "QUEUED"]
    clock.move(timedelta(days=1))
    await run_due_work()
    assert not sink.messages
    assert await send_statuses(sender, campaign) == ["CANCELLED"] * 3
    ambiguous = (await sender.client.get(f"/emails/logs/{second.id}")).json()
    assert (ambiguous["ambiguousAttempts"], "may have arrived" in ambiguous["reason"]) == (1, True)
    assert (await sender.client.get(f"/emails/logs/{third.id}")).json()["reason"] == "The campaign was cancelled."
    progress = (await get_campaign(sender, campaign))["progress"]
    assert (progress["waiting"], progress["handedOver"]) == (0, 0)


async def test_cancelling_works_in_batches(project, world, run_due_work, monkeypatch):
    monkeypatch.setattr(running, "UPDATE_BATCH", 2)
    campaign, _ = await create_campaign(project, 7)
    await request_action(project, campaign, "send")
    await create_sends(world, project)
    await request_action(project, campaign, "cancel")
    await run_due_work()
    assert await send_statuses(project, campaign) == ["CANCELLED"] * 7


async def test_slow_destinations_do_not_delay_other_contacts(project, world, clock, run_due_work, monkeypatch):
    """Sends that wait for a retry do not count towards MAX_QUEUED."""
    monkeypatch.setattr(running, "MAX_QUEUED", 2)
    monkeypatch.setattr(running, "FILL_BATCH", 2)
    campaign, _ = await create_campaign(project, 0)
    addresses = [f"deferred+{number}@postern.test" for number in range(4)]
    addresses += [f"z{number}-{campaign['id'][-6:]}@example.com" for number in range(4)]
    for address in addresses:  # One by one, so that their contact ids are in this order.
        await project.client.post(f"/audiences/{campaign['audienceId']}/contacts/by-email", {"email": address})
    await request_action(project, campaign, "send")
    for _ in range(5):
        await run_due_work()
        clock.move(running.POLL_INTERVAL)
    assert await send_statuses(project, campaign) == ["DELAYED"] * 4 + ["DELIVERED"] * 4


@pytest.mark.parametrize("action", ["pause", "cancel"])
async def test_a_worker_stops_processing_a_stopped_campaign(project, world, run_due_work, action):
    campaign, _ = await create_campaign(project, 4)
    await request_action(project, campaign, "send")
    (row,) = await claim_due(world, project, CAMPAIGNS[0])
    await request_action(project, campaign, action)
    await running.run(world, row)
    assert await send_statuses(project, campaign) == []
    await run_due_work()
    assert await send_statuses(project, campaign) == []
