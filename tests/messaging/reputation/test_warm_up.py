"""Warm-up plans: ceilings that grow from day to day, for all workers together."""

import asyncio
from datetime import UTC, date, datetime, timedelta
from uuid import uuid4

import msgspec
import pytest

from postern.kernel.http.problems import Invalid
from postern.messaging.emails.domain_limits import admitted
from postern.messaging.emails.work import SENDS, deliver_batch
from postern.messaging.reputation import rules
from postern.messaging.reputation.model import MAX_WARM_UP_STEPS, StoredWarmUp, WarmUpPlan
from tests.messaging.campaigns.test_campaigns import get_campaign, request_action
from tests.messaging.campaigns.test_stopping import claim_due, create_sends
from tests.messaging.emails.test_relay import MAIL, entry
from tests.messaging.reputation.test_reputation import domain_of, evaluate, events_of, start_campaign

MARKETING = SENDS[1]
DAY = timedelta(days=1)


@pytest.fixture(autouse=True)
def noon(clock):
    """The tests begin at noon, so that no day ends within one."""
    tomorrow = clock().date() + DAY
    clock.move(datetime(tomorrow.year, tomorrow.month, tomorrow.day, 12, tzinfo=UTC) - clock())


async def set_plan(project, status=200, **plan):
    response = await project.client.put(f"/domains/{(await domain_of(project))['id']}/warm-up", plan)
    assert response.status_code == status, response.text
    return response.json()


async def plan_of(project, status=200):
    response = await project.client.get(f"/domains/{(await domain_of(project))['id']}/warm-up")
    assert response.status_code == status, response.text
    return response.json()


async def test_a_campaign_of_1000_takes_as_many_days_as_the_plan_needs(sender, sink, clock, run_due_work):
    plan = await set_plan(sender, targetPerDay=5_000)
    assert plan["steps"] == [50, 100, 200, 400, 800, 1_600, 3_200, 5_000]
    assert (plan["status"], plan["step"], plan["ceiling"], plan["used"]) == ("ACTIVE", 1, 50, 0)
    assert plan["lastDay"] == (clock().date() + 7 * DAY).isoformat()
    campaign = await start_campaign(sender, 1_000)
    counts = []
    for _ in range(5):
        await run_due_work()
        counts.append(len(sink.messages))
        if counts[-1] == 50:
            progress = (await get_campaign(sender, campaign))["progress"]
            tomorrow = clock().date() + DAY
            reason = f"Warm-up: 50 messages on {clock().date()} (UTC). Continues on {tomorrow}."
            assert (progress["waiting"], progress["waitingReason"]) == (950, reason)
            assert progress["waitingUntil"] == f"{tomorrow}T00:00:00.000Z"
            assert (await plan_of(sender))["used"] == 50
        clock.move(DAY)
    assert counts == [50, 150, 350, 750, 1_000]
    await run_due_work()
    assert (await get_campaign(sender, campaign))["status"] == "SENT"
    assert len({message.recipients[0] for message in sink.messages}) == 1_000
    plan = await plan_of(sender)
    assert (plan["step"], plan["ceiling"], plan["used"], plan["repeatedDays"]) == (6, 1_600, 0, 0)


async def test_transactional_mail_counts_but_never_waits(sender, sink, clock, run_due_work):
    await set_plan(sender, steps=[5, 10])
    for _ in range(7):
        sent = await sender.client.post("/emails", {**MAIL, "cc": None, "bcc": None})
        assert sent.json()["status"] == "SENT"
    assert (await plan_of(sender))["used"] == 7
    await start_campaign(sender, 4)
    await run_due_work()
    assert len(sink.messages) == 7
    clock.move(DAY)
    await run_due_work()
    assert len(sink.messages) == 11
    assert (await plan_of(sender))["used"] == 4


async def test_two_workers_keep_one_ceiling(sender, sink, world, run_due_work):
    await set_plan(sender, steps=[50, 100])
    await start_campaign(sender, 200)
    await create_sends(world, sender)
    batches = [await claim_due(world, sender, MARKETING, limit=40) for _ in range(5)]
    await asyncio.gather(*(deliver_batch(world, batch) for batch in batches))
    assert len(sink.messages) == 50
    assert (await plan_of(sender))["used"] == 50


async def test_a_killed_worker_takes_no_place_twice(sender, sink, world, clock, run_due_work):
    await set_plan(sender, steps=[10, 20])
    await start_campaign(sender, 30)
    await create_sends(world, sender)
    sends = await claim_due(world, sender, MARKETING)
    assert len(await admitted(world, sends)) == 10  # Then the worker is killed.
    await run_due_work()
    assert not sink.messages
    clock.move(MARKETING.lease)
    await run_due_work()
    assert len(sink.messages) == 10
    assert (await plan_of(sender))["used"] == 10


async def test_a_retry_on_the_same_day_reserves_no_second_message(sender, sink, clock, run_due_work):
    await set_plan(sender, steps=[6, 20])
    sink.behaviour.replies["RCPT"] = b"450 4.7.1 Greylisted"
    await start_campaign(sender, 8)
    await run_due_work()
    assert (await plan_of(sender))["used"] == 6
    sink.behaviour.replies.clear()
    clock.move(timedelta(hours=1))
    await run_due_work()
    assert len(sink.messages) == 6
    assert (await plan_of(sender))["used"] == 6


async def test_a_day_in_a_warning_is_repeated(sender, sink, clock, run_due_work, monkeypatch):
    monkeypatch.setattr(rules, "MIN_BOUNCE_MESSAGES", 20)
    await start_campaign(sender, 97, 3)
    await run_due_work()
    await evaluate(clock, run_due_work)
    await set_plan(sender, steps=[10, 20, 40])
    await start_campaign(sender, 100)
    for _ in range(3):
        await run_due_work()
        clock.move(DAY)
    assert len(sink.messages) == 97 + 30
    await run_due_work()
    plan = await plan_of(sender)
    assert (plan["step"], plan["ceiling"], plan["repeatedDays"]) == (1, 10, 3)


async def test_a_plan_starts_and_ends_with_events(sender, sink, clock, run_due_work):
    start = clock().date() + 2 * DAY
    plan = await set_plan(sender, steps=[2, 3], start=start.isoformat())
    assert (plan["status"], plan["ceiling"], plan["nextDayAt"]) == ("SCHEDULED", None, f"{start}T00:00:00.000Z")
    await start_campaign(sender, 4)
    await run_due_work()
    assert len(sink.messages) == 4, "before the first day there is no ceiling"
    clock.move(2 * DAY)
    await start_campaign(sender, 9)
    for _ in range(5):
        await run_due_work()
        clock.move(DAY)
    assert len(sink.messages) == 13
    plan = await plan_of(sender)
    assert (plan["status"], plan["ceiling"], plan["lastDay"]) == ("COMPLETED", None, None)
    assert plan["endedAt"] > f"{start + 2 * DAY}"
    started, ended = await events_of(sender, "domain.warm_up")
    assert (started["type"], ended["type"]) == ("domain.warm_up_started", "domain.warm_up_ended")
    assert (ended["data"]["status"], ended["data"]["lastCeiling"]) == ("COMPLETED", 3)


async def test_without_mail_the_first_step_is_repeated(sender, clock, run_due_work):
    await set_plan(sender, targetPerDay=100, days=2)
    for _ in range(3):
        clock.move(DAY)
        await run_due_work()
    plan = await plan_of(sender)
    assert (plan["step"], plan["repeatedDays"], plan["steps"]) == (1, 3, [50, 100])


async def test_a_new_plan_and_the_end_of_the_plan_make_waiting_mail_due(sender, sink, clock, run_due_work):
    await set_plan(sender, steps=[2, 3])
    await start_campaign(sender, 10)
    await run_due_work()
    assert len(sink.messages) == 2
    plan = await set_plan(sender, steps=[5, 10])
    assert plan["used"] == 2, "what was sent today still counts"
    await run_due_work()
    assert len(sink.messages) == 5
    domain = await domain_of(sender)
    deleted = await sender.client.delete(f"/domains/{domain['id']}/warm-up")
    assert (deleted.status_code, deleted.json()) == (200, {"deleted": True})
    await run_due_work()
    assert len(sink.messages) == 10
    assert (await plan_of(sender, 404))["code"] == "warm_up_missing"
    assert (await sender.client.delete(f"/domains/{domain['id']}/warm-up")).status_code == 404
    assert [event["data"]["status"] for event in await events_of(sender, "domain.warm_up")] == ["ACTIVE", "CANCELLED"]
    actions = (await sender.developer.get(f"/account/audit-log?projectId={sender.id}")).json()["data"]
    assert {"domain.warm_up_set", "domain.warm_up_deleted"} <= {entry["action"] for entry in actions}


async def test_mail_that_has_waited_for_days_is_still_retried(sender, sink, clock, run_due_work):
    await set_plan(sender, steps=[1] * 9)
    campaign = await start_campaign(sender, 6)
    for _ in range(5):
        await run_due_work()
        clock.move(DAY)
    assert len(sink.messages) == 5
    sink.behaviour.replies["RCPT"] = b"450 4.7.1 Greylisted"
    await run_due_work()
    sends = (await sender.client.get(f"/campaigns/{campaign['id']}/sends")).json()["data"]
    (log,) = [log for send in sends if (log := await entry(sender, send["id"]))["status"] != "SENT"]
    assert (log["status"], "Greylisted" in log["reason"]) == ("DELAYED", True)
    sink.behaviour.replies.clear()
    clock.move(timedelta(hours=1))
    await run_due_work()
    assert (await entry(sender, log["id"]))["status"] == "SENT"


async def test_captured_mail_and_test_mail_make_no_reservations(sender, clock, run_due_work):
    await set_plan(sender, steps=[2, 3])
    await sender.developer.patch("", {"settings": {"transport": "capture"}})
    campaign = await start_campaign(sender, 5)
    await run_due_work()
    assert (await get_campaign(sender, campaign))["stats"]["sent"] == 5
    await sender.client.post("/emails", {**MAIL, "cc": None, "bcc": None})
    assert (await plan_of(sender))["used"] == 0


async def test_the_preflight_says_the_ceiling(sender):
    await set_plan(sender, steps=[50, 100])
    report = (await sender.client.post("/emails/preflight", {**MAIL, "marketing": True})).json()
    (finding,) = [finding for finding in report["findings"] if finding["code"] == "warm_up_active"]
    assert (finding["severity"], "50 messages" in finding["message"]) == ("ADVICE", True)


async def test_a_cancelled_campaign_frees_nothing_and_leaves_nothing_waiting(sender, sink, clock, run_due_work):
    await set_plan(sender, steps=[2, 3])
    campaign = await start_campaign(sender, 5)
    await run_due_work()
    await request_action(sender, campaign, "cancel")
    clock.move(DAY)
    await run_due_work()
    assert len(sink.messages) == 2


INVALID = {
    "nothing": ({}, "/targetPerDay"),
    "both": ({"steps": [1], "targetPerDay": 2}, "/steps"),
    "steps with days": ({"steps": [1], "days": 2}, "/steps"),
    "descending": ({"steps": [5, 4]}, "/steps/1"),
    "zero": ({"steps": [0]}, "/steps/0"),
    "no steps": ({"steps": []}, "/steps"),
    "too many": ({"steps": [1] * (MAX_WARM_UP_STEPS + 1)}, "/steps"),
    "too high": ({"targetPerDay": 10_000_001}, "/targetPerDay"),
    "one day": ({"targetPerDay": 5, "days": 1}, "/days"),
    "past": ({"targetPerDay": 5, "start": "2020-01-01"}, "/start"),
    "far": ({"targetPerDay": 5, "start": "2199-01-01"}, "/start"),
    "no date": ({"targetPerDay": 5, "start": "tomorrow"}, "/start"),
    "unknown field": ({"target": 5}, "/target"),
}


@pytest.mark.parametrize(("plan", "path"), INVALID.values(), ids=INVALID)
async def test_an_invalid_plan_is_refused_with_its_path(sender, plan, path):
    problem = await set_plan(sender, 400, **plan)
    assert problem["errors"][0]["path"] == path
    assert (await plan_of(sender, 404))["code"] == "warm_up_missing"


@pytest.mark.parametrize(
    ("plan", "steps"),
    [
        (WarmUpPlan(target_per_day=20), [20]),
        (WarmUpPlan(target_per_day=50), [50]),
        (WarmUpPlan(target_per_day=120), [50, 100, 120]),
        (WarmUpPlan(target_per_day=3_200, days=4), [50, 200, 800, 3_200]),
        (WarmUpPlan(target_per_day=20, days=2), [20, 20]),
        (WarmUpPlan(steps=[1, 1, 9]), [1, 1, 9]),
    ],
)
def test_the_ceilings_follow_from_the_plan(plan, steps):
    assert rules.steps_of(plan) == steps


def test_the_highest_target_has_a_plan():
    assert len(rules.steps_of(WarmUpPlan(target_per_day=10_000_000))) <= MAX_WARM_UP_STEPS
    with pytest.raises(Invalid):
        rules.steps_of(WarmUpPlan())


def row(**fields):
    today = date(2026, 3, 1)
    now = rules.midnight(today)
    values = {"status": "ACTIVE", "step": 0, "used": 1, "repeated": 0, "day": today, "ended_at": None, **fields}
    return StoredWarmUp(
        project_id=uuid4(), id=uuid4(), starts_on=today, steps=[1, 2, 3], releasing=None, due_at=None, attempt=0,
        created_at=now, updated_at=now, **values,
    )  # fmt: skip


ADVANCES = {
    # the row, days later, the state: status, step, repeated days
    "same day": (row(), 0, "HEALTHY", ("ACTIVE", 0, 0)),
    "next day": (row(), 1, "HEALTHY", ("ACTIVE", 1, 0)),
    "three days later": (row(), 3, "HEALTHY", ("ACTIVE", 1, 2)),
    "nothing sent": (row(used=0), 1, "HEALTHY", ("ACTIVE", 0, 1)),
    "warning": (row(), 1, "WARNING", ("ACTIVE", 0, 1)),
    "held": (row(), 1, "HELD", ("ACTIVE", 0, 1)),
    "last day": (row(step=2), 1, "HEALTHY", ("COMPLETED", 2, 0)),
    "last day in a warning": (row(step=2), 1, "WARNING", ("ACTIVE", 2, 1)),
    "starts": (row(status="SCHEDULED"), 0, "HEALTHY", ("ACTIVE", 0, 0)),
    "starts later": (row(status="SCHEDULED"), -1, "HEALTHY", ("SCHEDULED", 0, 0)),
    "completed": (row(status="COMPLETED"), 5, "HEALTHY", ("COMPLETED", 0, 0)),
    "cancelled": (row(status="CANCELLED"), 5, "HEALTHY", ("CANCELLED", 0, 0)),
}


@pytest.mark.parametrize(("before", "days", "state", "after"), ADVANCES.values(), ids=ADVANCES)
def test_a_step_counts_if_mail_was_sent_and_the_rates_are_good(before, days, state, after):
    now = rules.midnight(date(2026, 3, 1)) + days * DAY + timedelta(hours=1)
    advanced = rules.advance(before, now, state)
    assert (advanced.status, advanced.step, advanced.repeated) == after
    if advanced.day != before.day:
        assert advanced.used == 0
        assert rules.next_day_at(advanced) == rules.midnight(now.date() + DAY)
    assert msgspec.structs.replace(advanced, status="ACTIVE").ceiling in before.steps
