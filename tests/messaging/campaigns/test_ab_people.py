"""A/B tests over HTTP: only opens and clicks by people count, and a contact keeps its variant."""

from datetime import timedelta

import pytest

from tests.messaging.campaigns.test_campaigns import BROWSER, create_campaign, get_campaign, request_action
from tests.messaging.campaigns.test_stopping import create_sends

VARIANTS = [{"name": name, "subject": name, "weight": 50} for name in "AB"]
TEST = {"abTestEnabled": True, "variants": VARIANTS, "abTestDurationMinutes": 60}

MACHINES = {
    "apple_mail_privacy_protection": {"user-agent": "Mozilla/5.0"},
    "user_agent": {"user-agent": "Barracuda Sentinel (EE)"},
    "no_user_agent": {"user-agent": ""},
}


async def start_test(project, run_due_work, count, **fields):
    """Start a campaign and send its sample; returns the campaign and its sends by variant."""
    campaign, _ = await create_campaign(project, count, **{**TEST, "abTestSamplePercent": 100, **fields})
    await request_action(project, campaign, "send")
    await run_due_work()
    assert (await get_campaign(project, campaign))["status"] == "TESTING"
    sends = (await project.client.get(f"/campaigns/{campaign['id']}/sends?limit=100")).json()["data"]
    return campaign, {name: [send for send in sends if send["subject"] == name] for name in "AB"}


async def end_test(project, clock, run_due_work, campaign):
    """Let the A/B test end; returns the name of the winner and the campaign."""
    clock.move(timedelta(minutes=61))
    await run_due_work()
    current = await get_campaign(project, campaign)
    assert current["status"] == "SENT"
    return next(variant["name"] for variant in current["variants"] if variant["isWinner"]), current


@pytest.mark.parametrize("metric", ["OPEN_RATE", "CLICK_RATE"])
async def test_opens_and_clicks_by_machines_do_not_count(project, stranger, clock, run_due_work, metric):
    """All kinds of machines open and click variant A; one person opens and clicks variant B."""
    campaign, sends = await start_test(project, run_due_work, 40, abTestMetric=metric)
    assert min(len(variant_sends) for variant_sends in sends.values()) > 3
    for send in sends["A"]:  # Within seconds of the delivery, as a link scanner does.
        await stranger.get(f"/t/o/{send['id']}", headers=BROWSER)
        await stranger.get(await first_link(project, send), headers=BROWSER)
    clock.move(timedelta(minutes=5))
    for send in sends["A"]:
        for headers in MACHINES.values():
            await stranger.get(f"/t/o/{send['id']}", headers=headers)
            if headers["user-agent"] != "Mozilla/5.0":
                await stranger.get(await first_link(project, send), headers=headers)
        await stranger.request("HEAD", f"/t/o/{send['id']}", headers=BROWSER)
    await stranger.get(f"/t/o/{sends['B'][0]['id']}", headers=BROWSER)
    await stranger.get(await first_link(project, sends["B"][0]), headers=BROWSER)
    hits = (await project.client.get(f"/emails/logs/{sends['A'][0]['id']}/hits")).json()
    assert {hit["verdict"] for hit in hits} == {"machine"}
    assert {hit["reason"] for hit in hits} == {*MACHINES, "too_soon"}
    name, current = await end_test(project, clock, run_due_work, campaign)
    assert name == "B"
    assert [(variant["stats"]["opened"], variant["stats"]["clicked"]) for variant in current["variants"]] == [
        (0, 0),
        (1, 1),
    ]
    evidence = {entry["variantId"]: entry for entry in current["evidence"]["variants"]}
    assert [evidence[variant["id"]]["opened"] for variant in current["variants"]] == [0, 1]
    assert (await project.client.get("/analytics")).json()["sends"]["machineOpened"] == len(sends["A"])


async def first_link(project, send):
    """The first link of a message as it was sent."""
    import re
    from urllib.parse import urlsplit

    inbox = (await project.client.get(f"/inbox?q={send['to'][0]}")).json()["data"]
    html = (await project.client.get(f"/inbox/{inbox[0]['id']}")).json()["html"]
    link = urlsplit(re.search(r'href="([^"]+/t/c/[^"]+)"', html)[1].replace("&amp;", "&"))
    return f"{link.path}?{link.query}"


async def test_a_tie_is_won_by_the_first_variant(project, clock, run_due_work):
    campaign, _ = await start_test(project, run_due_work, 10, abTestMetric="OPEN_RATE")
    name, current = await end_test(project, clock, run_due_work, campaign)
    assert name == "A"
    assert (current["evidence"]["decidedBy"], current["evidence"]["decisive"]) == ("rule", False)
    assert "too little data" in current["evidence"]["reason"]
    (event,) = (await project.client.get("/events?type=campaign.tested")).json()["data"]
    assert event["data"]["winnerId"] == current["evidence"]["winnerId"]


async def test_a_repeated_batch_creates_no_further_sends(project, world, clock, run_due_work):
    """A worker is killed after it has created the sends of a batch, so another worker processes the batch again."""
    fields = {**TEST, "abTestMetric": "OPEN_RATE", "abTestSamplePercent": 50}
    campaign, _ = await create_campaign(project, 30, **fields)
    await request_action(project, campaign, "send")
    await create_sends(world, project)
    before = await variants_by_contact(world, campaign)
    assert 2 < len(before) < 28
    async with world.db.connection() as connection:
        await connection.execute(
            "update campaigns set cursor = null, filled = false, due_at = now() where id = %s", [campaign["id"]]
        )
    clock.move(timedelta(minutes=1))
    await create_sends(world, project)
    assert await variants_by_contact(world, campaign) == before
    await run_due_work()
    await end_test(project, clock, run_due_work, campaign)
    after = await variants_by_contact(world, campaign)
    assert len(after) == 30
    assert before.items() <= after.items()


async def variants_by_contact(world, campaign):
    """The variant id of each send, keyed by contact id."""
    async with world.db.connection() as connection:
        text = "select contact_id, variant_id from sends where campaign_id = %s"
        return dict(await (await connection.execute(text, [campaign["id"]])).fetchall())


async def test_hash_buckets_are_even_and_independent_of_each_other(world):
    """The buckets are equally large, whatever the ids, and those of sample and variant are independent."""
    async with world.db.connection() as connection:
        text = """
            with buckets as (
                select campaign_bucket('sample', %(id)s, id) as sample,
                       campaign_bucket('variant', %(id)s, id) as variant
                from (select id_after('0199f1a2-7c00-7000-8000-000000000000', n) as id
                      from generate_series(1, 20000) as n) as contacts
            )
            select count(*) filter (where sample < 3000), count(*) filter (where variant < 7000),
                   count(*) filter (where sample < 3000 and variant < 7000), min(sample), max(sample)
            from buckets
        """
        values = {"id": "0199f1a2-7c00-7000-8000-00000000beef"}
        in_sample, first_variant, both, lowest, highest = await (await connection.execute(text, values)).fetchone()
    assert abs(in_sample - 6_000) < 300
    assert abs(first_variant - 14_000) < 300
    assert abs(both - 4_200) < 300
    assert 0 <= lowest <= highest < 10_000
