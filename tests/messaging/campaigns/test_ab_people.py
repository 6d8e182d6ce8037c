"""A/B tests over HTTP: only people count, variants are stable, and the sample has the right size."""

from datetime import timedelta

import pytest

from tests.messaging.campaigns.test_campaigns import BROWSER, act, detail, prepared
from tests.messaging.campaigns.test_stopping import filled

VARIANTS = [{"name": name, "subject": name, "weight": 50} for name in "AB"]
TEST = {"abTestEnabled": True, "variants": VARIANTS, "abTestDurationMinutes": 60}

MACHINES = {
    "apple_mail_privacy_protection": {"user-agent": "Mozilla/5.0"},
    "user_agent": {"user-agent": "Barracuda Sentinel (EE)"},
    "no_user_agent": {"user-agent": ""},
}


async def under_test(project, work_off, count, **fields):
    """A campaign whose sample was sent, and its sends by variant."""
    campaign, _ = await prepared(project, count, **{**TEST, "abTestSamplePercent": 100, **fields})
    await act(project, campaign, "send")
    await work_off()
    assert (await detail(project, campaign))["status"] == "TESTING"
    sends = (await project.client.get(f"/campaigns/{campaign['id']}/sends?limit=100")).json()["data"]
    return campaign, {name: [each for each in sends if each["subject"] == name] for name in "AB"}


async def winner_of(project, clock, work_off, campaign):
    clock.move(timedelta(minutes=61))
    await work_off()
    done = await detail(project, campaign)
    assert done["status"] == "SENT"
    return next(each["name"] for each in done["variants"] if each["isWinner"]), done


@pytest.mark.parametrize("metric", ["OPEN_RATE", "CLICK_RATE"])
async def test_opens_and_clicks_by_machines_do_not_count(project, stranger, clock, work_off, metric):
    """All kinds of machines open and click variant A; one person opens and clicks variant B."""
    campaign, sends = await under_test(project, work_off, 40, abTestMetric=metric)
    assert min(len(each) for each in sends.values()) > 3
    for each in sends["A"]:  # a scanner, within seconds of the delivery
        await stranger.get(f"/t/o/{each['id']}", headers=BROWSER)
        await stranger.get(await link_of(project, each), headers=BROWSER)
    clock.move(timedelta(minutes=5))
    for each in sends["A"]:
        for agent in MACHINES.values():
            await stranger.get(f"/t/o/{each['id']}", headers=agent)
            if agent["user-agent"] != "Mozilla/5.0":
                await stranger.get(await link_of(project, each), headers=agent)
        await stranger.request("HEAD", f"/t/o/{each['id']}", headers=BROWSER)
    await stranger.get(f"/t/o/{sends['B'][0]['id']}", headers=BROWSER)
    await stranger.get(await link_of(project, sends["B"][0]), headers=BROWSER)
    hits = (await project.client.get(f"/emails/logs/{sends['A'][0]['id']}/hits")).json()
    assert {each["verdict"] for each in hits} == {"machine"}
    assert {each["reason"] for each in hits} == {*MACHINES, "too_soon"}
    name, done = await winner_of(project, clock, work_off, campaign)
    assert name == "B"
    assert [(each["stats"]["opened"], each["stats"]["clicked"]) for each in done["variants"]] == [(0, 0), (1, 1)]
    evidence = {each["variantId"]: each for each in done["evidence"]["variants"]}
    assert [evidence[each["id"]]["opened"] for each in done["variants"]] == [0, 1]
    assert (await project.client.get("/analytics")).json()["sends"]["machineOpened"] == len(sends["A"])


async def link_of(project, send):
    """The first link of a message as it was sent."""
    import re
    from urllib.parse import urlsplit

    inbox = (await project.client.get(f"/inbox?q={send['to'][0]}")).json()["data"]
    html = (await project.client.get(f"/inbox/{inbox[0]['id']}")).json()["html"]
    link = urlsplit(re.search(r'href="([^"]+/t/c/[^"]+)"', html)[1].replace("&amp;", "&"))
    return f"{link.path}?{link.query}"


async def test_a_tie_is_won_by_the_first_variant(project, clock, work_off):
    campaign, _ = await under_test(project, work_off, 10, abTestMetric="OPEN_RATE")
    name, done = await winner_of(project, clock, work_off, campaign)
    assert name == "A"
    assert (done["evidence"]["decidedBy"], done["evidence"]["decisive"]) == ("rule", False)
    assert "too little data" in done["evidence"]["reason"]
    (told,) = (await project.client.get("/events?type=campaign.tested")).json()["data"]
    assert told["data"]["winnerId"] == done["evidence"]["winnerId"]


async def test_filling_again_creates_no_further_and_no_second_sends(project, world, clock, work_off):
    """A worker died after the commit of its batch, so another worker processes the batch again."""
    fields = {**TEST, "abTestMetric": "OPEN_RATE", "abTestSamplePercent": 50}
    campaign, _ = await prepared(project, 30, **fields)
    await act(project, campaign, "send")
    await filled(world, project)
    before = await assigned(world, campaign)
    assert 2 < len(before) < 28
    async with world.db.connection() as connection:
        await connection.execute(
            "update campaigns set cursor = null, filled = false, due_at = now() where id = %s", [campaign["id"]]
        )
    clock.move(timedelta(minutes=1))
    await filled(world, project)
    assert await assigned(world, campaign) == before
    await work_off()
    await winner_of(project, clock, work_off, campaign)
    after = await assigned(world, campaign)
    assert len(after) == 30
    assert before.items() <= after.items()


async def assigned(world, campaign):
    async with world.db.connection() as connection:
        text = "select contact_id, variant_id from sends where campaign_id = %s"
        return dict(await (await connection.execute(text, [campaign["id"]])).fetchall())


async def test_hash_buckets_are_even_and_independent_between_campaigns(world):
    """A sample of 30 % has 30 % of the contacts for any ids, and is independent of the choice of the variant."""
    async with world.db.connection() as connection:
        text = """
            with c as (
                select campaign_bucket('sample', %(id)s, id) as s, campaign_bucket('variant', %(id)s, id) as v
                from (select id_after('0199f1a2-7c00-7000-8000-000000000000', n) as id
                      from generate_series(1, 20000) as n) as x
            )
            select count(*) filter (where s < 3000), count(*) filter (where v < 7000),
                   count(*) filter (where s < 3000 and v < 7000), min(s), max(s)
            from c
        """
        values = {"id": "0199f1a2-7c00-7000-8000-00000000beef"}
        sample, first, both, least, most = await (await connection.execute(text, values)).fetchone()
    assert abs(sample - 6_000) < 300
    assert abs(first - 14_000) < 300
    assert abs(both - 4_200) < 300
    assert 0 <= least <= most < 10_000
