"""Every counter equals a recount after random histories of sends."""

import csv
import io
import random
from datetime import timedelta

import pytest

from postern.messaging.analytics.retention import merge_sums
from tests.messaging.analytics.test_analytics import BROWSER, MAIL
from tests.messaging.campaigns.test_ab_people import link_of
from tests.messaging.campaigns.test_campaigns import act, detail, prepared
from tests.messaging.campaigns.test_stopping import filled

MACHINE, SCANNER = {"user-agent": "Mozilla/5.0"}, {"user-agent": "Barracuda Sentinel (EE)"}
FATES = ("delivered", "bounced", "complained", "deferred", "suppressed")
STAMPS = {
    "sent": "sent_at",
    "delivered": "delivered_at",
    "opened": "human_opened_at",
    "clicked": "human_clicked_at",
    "bounced": "bounced_at",
    "complained": "complained_at",
}
FAILED = "status in ('FAILED', 'EXPIRED', 'SUPPRESSED')"


async def rows(world, text, *values):
    async with world.db.connection() as connection:
        return await (await connection.execute(text, values)).fetchall()


async def live_through_it(project, stranger, world, clock, work_off, chance):
    """Several days with an A/B test, single mails, opens by people and machines, and a cancelled campaign."""
    variants = [{"name": name, "subject": name, "weight": 50} for name in "AB"]
    test = {"abTestSamplePercent": 60, "abTestMetric": "OPEN_RATE", "abTestDurationMinutes": 60}
    campaign, _ = await prepared(project, 12, abTestEnabled=True, variants=variants, **test)
    path = f"/audiences/{campaign['audienceId']}/contacts/bulk-email"
    people = [f"{fate}+{chance.randrange(10**9)}@postern.test" for fate in FATES for _ in range(4)]
    await project.client.post(path, {"emails": people})
    await act(project, campaign, "send")
    await work_off()
    await read(project, stranger, clock, campaign, chance)
    clock.move(timedelta(hours=2))
    await work_off()
    await read(project, stranger, clock, campaign, chance)
    for fate in FATES:
        await project.client.post("/emails", {**MAIL, "to": [f"{fate}@postern.test"]})
    await project.client.post("/emails", {**MAIL, "to": ["later@example.com"], "scheduledAt": in_hours(clock, 5)})
    stopped, _ = await prepared(project, 5)
    await act(project, stopped, "send")
    await filled(world, project)
    await act(project, stopped, "pause")
    await work_off()
    await act(project, stopped, "cancel")
    await work_off()
    clock.move(timedelta(days=4))  # retries end, and what is deferred for ever is given up
    for _ in range(3):
        await work_off()
        clock.move(timedelta(hours=13))
    failed = (await project.client.get("/emails/logs?status=FAILED,BOUNCED")).json()["data"]
    for each in failed[:3]:
        await project.client.post(f"/emails/{each['id']}/retry")
    await work_off()
    return campaign, stopped


def in_hours(clock, hours):
    return (clock() + timedelta(hours=hours)).isoformat()


async def read(project, stranger, clock, campaign, chance):
    sends = (await project.client.get(f"/campaigns/{campaign['id']}/sends?limit=100")).json()["data"]
    for each in sends:
        clock.move(timedelta(minutes=chance.randrange(1, 40)))
        for _ in range(chance.randrange(3)):
            await stranger.get(f"/t/o/{each['id']}", headers=chance.choice([BROWSER, MACHINE]))
        if each["to"][0].endswith("@example.com") and chance.random() < 0.4:
            await stranger.get(await link_of(project, each), headers=chance.choice([BROWSER, SCANNER]))
    reader = next(each for each in sends if each["to"][0].endswith("@example.com"))
    await stranger.get(f"/t/o/{reader['id']}", headers=BROWSER)
    await stranger.get(await link_of(project, reader), headers=BROWSER)


@pytest.mark.parametrize("seed", [1, 2])
async def test_all_statistics_equal_a_recount(project, stranger, world, clock, work_off, seed):
    campaign, stopped = await live_through_it(project, stranger, world, clock, work_off, random.Random(seed))
    await campaigns_equal(project, world, campaign)
    await campaigns_equal(project, world, stopped)
    assert (await detail(project, stopped))["stats"]["total"] == 5
    await summary_equals(project, world)
    clock.move(timedelta(hours=2))
    await merge_sums(world)
    assert (
        await rows(
            world, "select 1 from send_rollups where project_id = %s and slot <> 0 and bucket > '-infinity'", project.id
        )
        == []
    )
    for zone in ("UTC", "Asia/Kathmandu", "America/St_Johns"):
        await days_equal(project, world, zone, "")
        await days_equal(project, world, zone, campaign["id"])
    await domains_equal(project, world)
    for status, count in await rows(
        world, "select status, count(*) from sends where project_id = %s group by 1", project.id
    ):
        page = (await project.client.get(f"/emails/logs?status={status}")).json()
        assert page["total"] == count, status


async def campaigns_equal(project, world, campaign):
    shown = await detail(project, campaign)
    stamps = ", ".join(f"count({column})" for column in STAMPS.values())
    text = f"select {stamps}, count(*) filter (where {FAILED}), count(*) from sends where campaign_id = %s"
    (counted,) = await rows(world, text, campaign["id"])
    assert tuple(shown["stats"][name] for name in (*STAMPS, "failed", "total")) == counted
    waiting = "count(*) filter (where status in ('SCHEDULED', 'QUEUED', 'DELAYED'))"
    ((left,),) = await rows(world, f"select {waiting} from sends where campaign_id = %s", campaign["id"])
    assert shown["progress"]["waiting"] == left
    for each in shown["variants"]:
        text = "select count(sent_at), count(human_opened_at), count(human_clicked_at) from sends where variant_id = %s"
        (counted,) = await rows(world, text, each["id"])
        assert tuple(each["stats"][name] for name in ("sent", "opened", "clicked")) == counted


async def summary_equals(project, world):
    shown = (await project.client.get("/analytics")).json()["sends"]
    stamps = ", ".join(f"count({column})" for column in STAMPS.values())
    text = f"""select {stamps}, count(*) filter (where {FAILED}), count(*), count(opened_at) - count(human_opened_at)
               from sends where project_id = %s and not test"""
    (counted,) = await rows(world, text, project.id)
    assert tuple(shown[name] for name in (*STAMPS, "failed", "total", "machineOpened")) == counted
    assert all(counted[:-1]), "something of everything has happened"


async def days_equal(project, world, zone, campaign_id):
    first, last = "2020-01-01", "2029-01-01"
    query = f"from={first}&to={last}&timezone={zone}" + (f"&campaignId={campaign_id}" if campaign_id else "")
    shown = (await project.client.get(f"/analytics/time-series?{query}")).json()
    table = csv.DictReader(io.StringIO((await project.client.get(f"/analytics/export?{query}")).text))
    written = {row["date"]: {name: int(row[name]) for name in STAMPS} for row in table}
    for name, column in STAMPS.items():
        text = f"""select ({column} at time zone %s)::date::text, count(*) from sends
                   where project_id = %s and {column} is not null and (%s = '' or campaign_id::text = %s) group by 1"""
        counted = dict(await rows(world, text, zone, project.id, campaign_id, campaign_id))
        assert {each["date"]: each[name] for each in shown if each[name]} == counted, (zone, name)
        assert {date: row[name] for date, row in written.items() if row[name]} == counted


async def domains_equal(project, world):
    shown = (await project.client.get("/analytics/by-domain?from=2020-01-01&to=2029-01-01")).json()
    text = """select domain_id::text, count(*), count(delivered_at), count(bounced_at), count(complained_at),
                     count(human_opened_at), count(human_clicked_at)
              from sends where project_id = %s and domain_id is not null group by 1"""
    counted = {row[0]: row[1:] for row in await rows(world, text, project.id)}
    names = ("total", "delivered", "bounced", "complained", "opened", "clicked")
    assert {each["domainId"]: tuple(each[name] for name in names) for each in shown if each["total"]} == counted
    assert counted
