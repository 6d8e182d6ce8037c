"""After random histories of sends, every counter equals a count of the stored sends."""

import csv
import io
import random
from datetime import timedelta

import pytest

from postern.messaging.analytics.retention import merge_sums
from tests.messaging.analytics.test_analytics import BROWSER, MAIL
from tests.messaging.campaigns.test_ab_people import first_link
from tests.messaging.campaigns.test_campaigns import create_campaign, get_campaign, request_action
from tests.messaging.campaigns.test_stopping import create_sends
from tests.messaging.emails.test_signals import apply_one

MACHINE, SCANNER = {"user-agent": "Mozilla/5.0"}, {"user-agent": "Barracuda Sentinel (EE)"}
TEST_RESULTS = ("delivered", "bounced", "complained", "deferred", "suppressed")
TIME_COLUMNS = {
    "sent": "case when bounced_at is null or bounced_at < sent_at then sent_at end",
    "delivered": "case when bounced_at is null or bounced_at < delivered_at then delivered_at end",
    "opened": "human_opened_at",
    "clicked": "human_clicked_at",
    "bounced": "bounced_at",
    "complained": "complained_at",
}
"""The value of `sends` that is not null if the send counts, by name of the statistic. A message that bounced after it
was sent or delivered counts as bounced only."""
FAILED = "status in ('FAILED', 'EXPIRED', 'SUPPRESSED')"


async def rows(world, query, *values):
    async with world.db.connection() as connection:
        return await (await connection.execute(query, values)).fetchall()


async def simulate_history(project, stranger, world, clock, run_due_work, rng):
    """Several days with an A/B test, single mails, opens by people and machines, and a cancelled campaign.

    Returns the campaign with the test and the cancelled campaign.
    """
    variants = [{"name": name, "subject": name, "weight": 50} for name in "AB"]
    test = {"abTestSamplePercent": 60, "abTestMetric": "OPEN_RATE", "abTestDurationMinutes": 60}
    campaign, _ = await create_campaign(project, 12, abTestEnabled=True, variants=variants, **test)
    path = f"/audiences/{campaign['audienceId']}/contacts/bulk-email"
    addresses = [f"{result}+{rng.randrange(10**9)}@postern.test" for result in TEST_RESULTS for _ in range(4)]
    await project.client.post(path, {"emails": addresses})
    await request_action(project, campaign, "send")
    await run_due_work()
    await open_and_click(project, stranger, clock, campaign, rng)
    clock.move(timedelta(hours=2))
    await run_due_work()
    await open_and_click(project, stranger, clock, campaign, rng)
    for result in TEST_RESULTS:
        await project.client.post("/emails", {**MAIL, "to": [f"{result}@postern.test"]})
    await project.client.post("/emails", {**MAIL, "to": ["later@example.com"], "scheduledAt": in_hours(clock, 5)})
    cancelled, _ = await create_campaign(project, 5)
    await request_action(project, cancelled, "send")
    await create_sends(world, project)
    await request_action(project, cancelled, "pause")
    await run_due_work()
    await request_action(project, cancelled, "cancel")
    await run_due_work()
    await report_at_random(project, world, clock, campaign, rng)
    clock.move(timedelta(days=4))  # Retries succeed or are given up.
    for _ in range(3):
        await run_due_work()
        clock.move(timedelta(hours=13))
    failed = (await project.client.get("/emails/logs?status=FAILED,BOUNCED")).json()["data"]
    for send in failed[:3]:
        await project.client.post(f"/emails/{send['id']}/retry")
    await run_due_work()
    return campaign, cancelled


async def report_at_random(project, world, clock, campaign, rng):
    """Late bounces, complaints and deliveries of half of the campaign's messages, some repeated or out of order."""
    sends = (await project.client.get(f"/campaigns/{campaign['id']}/sends?limit=100")).json()["data"]
    for send in rng.sample(sends, len(sends) // 2):
        for kind in rng.choices(["DELIVERED", "BOUNCED", "BOUNCED", "COMPLAINED"], k=2):
            clock.move(timedelta(minutes=rng.randrange(40)))
            await apply_one(world, project, send, kind)


def in_hours(clock, hours):
    return (clock() + timedelta(hours=hours)).isoformat()


async def open_and_click(project, stranger, clock, campaign, rng):
    """People and machines open and click messages of the campaign at random; one person certainly does both."""
    sends = (await project.client.get(f"/campaigns/{campaign['id']}/sends?limit=100")).json()["data"]
    for send in sends:
        clock.move(timedelta(minutes=rng.randrange(1, 40)))
        for _ in range(rng.randrange(3)):
            await stranger.get(f"/t/o/{send['id']}", headers=rng.choice([BROWSER, MACHINE]))
        if send["to"][0].endswith("@example.com") and rng.random() < 0.4:
            await stranger.get(await first_link(project, send), headers=rng.choice([BROWSER, SCANNER]))
    opened_and_clicked = next(send for send in sends if send["to"][0].endswith("@example.com"))
    await stranger.get(f"/t/o/{opened_and_clicked['id']}", headers=BROWSER)
    await stranger.get(await first_link(project, opened_and_clicked), headers=BROWSER)


@pytest.mark.parametrize("seed", [1, 2])
async def test_all_statistics_equal_counts_of_the_sends(project, stranger, world, clock, run_due_work, seed):
    campaign, cancelled = await simulate_history(project, stranger, world, clock, run_due_work, random.Random(seed))
    await assert_campaign_counters(project, world, campaign)
    await assert_campaign_counters(project, world, cancelled)
    assert (await get_campaign(project, cancelled))["stats"]["total"] == 5
    await assert_summary(project, world)
    clock.move(timedelta(hours=2))
    await merge_sums(world)
    assert (
        await rows(
            world, "select 1 from send_rollups where project_id = %s and slot <> 0 and bucket > '-infinity'", project.id
        )
        == []
    )
    for zone in ("UTC", "Asia/Kathmandu", "America/St_Johns"):
        await assert_days(project, world, zone, "")
        await assert_days(project, world, zone, campaign["id"])
    await assert_domains(project, world)
    for status, count in await rows(
        world, "select status, count(*) from sends where project_id = %s group by 1", project.id
    ):
        page = (await project.client.get(f"/emails/logs?status={status}")).json()
        assert page["total"] == count, status


async def assert_campaign_counters(project, world, campaign):
    response = await get_campaign(project, campaign)
    counts = ", ".join(f"count({column})" for column in TIME_COLUMNS.values())
    text = f"select {counts}, count(*) filter (where {FAILED}), count(*) from sends where campaign_id = %s"
    (expected,) = await rows(world, text, campaign["id"])
    assert tuple(response["stats"][name] for name in (*TIME_COLUMNS, "failed", "total")) == expected
    waiting = "count(*) filter (where status in ('SCHEDULED', 'QUEUED', 'DELAYED'))"
    ((expected_waiting,),) = await rows(world, f"select {waiting} from sends where campaign_id = %s", campaign["id"])
    assert response["progress"]["waiting"] == expected_waiting
    for variant in response["variants"]:
        text = f"""select count({TIME_COLUMNS["sent"]}), count(human_opened_at), count(human_clicked_at)
                   from sends where variant_id = %s"""
        (expected,) = await rows(world, text, variant["id"])
        assert tuple(variant["stats"][name] for name in ("sent", "opened", "clicked")) == expected


async def assert_summary(project, world):
    response = (await project.client.get("/analytics")).json()["sends"]
    counts = ", ".join(f"count({column})" for column in TIME_COLUMNS.values())
    text = f"""select {counts}, count(*) filter (where {FAILED}), count(*), count(opened_at) - count(human_opened_at)
               from sends where project_id = %s and not test"""
    (expected,) = await rows(world, text, project.id)
    assert tuple(response[name] for name in (*TIME_COLUMNS, "failed", "total", "machineOpened")) == expected
    assert all(expected[:-1]), "every counter has counted something"


async def assert_days(project, world, zone, campaign_id):
    first, last = "2020-01-01", "2029-01-01"
    query = f"from={first}&to={last}&timezone={zone}" + (f"&campaignId={campaign_id}" if campaign_id else "")
    series = (await project.client.get(f"/analytics/time-series?{query}")).json()
    export = csv.DictReader(io.StringIO((await project.client.get(f"/analytics/export?{query}")).text))
    exported = {row["date"]: {name: int(row[name]) for name in TIME_COLUMNS} for row in export}
    for name, column in TIME_COLUMNS.items():
        text = f"""select (({column}) at time zone %s)::date::text, count(*) from sends
                   where project_id = %s and ({column}) is not null
                     and (%s = '' or campaign_id::text = %s) group by 1"""
        expected = dict(await rows(world, text, zone, project.id, campaign_id, campaign_id))
        assert {item["date"]: item[name] for item in series if item[name]} == expected, (zone, name)
        assert {date: row[name] for date, row in exported.items() if row[name]} == expected


async def assert_domains(project, world):
    items = (await project.client.get("/analytics/by-domain?from=2020-01-01&to=2029-01-01")).json()
    text = f"""select domain_id::text, count(*), count({TIME_COLUMNS["delivered"]}), count(bounced_at),
                     count(complained_at),
                     count(human_opened_at), count(human_clicked_at)
              from sends where project_id = %s and domain_id is not null group by 1"""
    expected = {row[0]: row[1:] for row in await rows(world, text, project.id)}
    names = ("total", "delivered", "bounced", "complained", "opened", "clicked")
    assert {item["domainId"]: tuple(item[name] for name in names) for item in items if item["total"]} == expected
    assert expected
