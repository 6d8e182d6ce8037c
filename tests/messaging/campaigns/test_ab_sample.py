"""The sample of an A/B test: exact shares, small audiences, and the effect of a pause on the duration."""

from collections import Counter
from datetime import timedelta

import pytest

from postern.messaging.campaigns.ab_test import allocate, sample_size
from tests.messaging.campaigns.test_campaigns import create_campaign, get_campaign, request_action
from tests.messaging.campaigns.test_stopping import create_sends


def ab_test_settings(percent, *weights):
    """The fields of a campaign with an A/B test whose variants V0, V1, … have these weights."""
    variants = [
        {"name": f"V{number}", "subject": f"V{number}", "weight": weight} for number, weight in enumerate(weights)
    ]
    return {
        "abTestEnabled": True,
        "abTestSamplePercent": percent,
        "abTestMetric": "OPEN_RATE",
        "abTestDurationMinutes": 60,
        "variants": variants,
    }


async def sends_by_subject(project, campaign):
    """The number of the campaign's sends with each subject."""
    sends = (await project.client.get(f"/campaigns/{campaign['id']}/sends?limit=100")).json()["data"]
    return dict(Counter(send["subject"] for send in sends))


@pytest.mark.parametrize(
    ("number", "weights", "shares"),
    [
        (40, [20] * 5, [8] * 5),
        (4, [50, 50], [2, 2]),
        (3, [50, 50], [2, 1]),
        (2, [50, 50], [1, 1]),
        (10, [33, 33, 34], [3, 3, 4]),
        (40, [99, 1], [39, 1]),
        (1, [10, 90], [0, 1]),
        (0, [50, 50], [0, 0]),
        (7, [1, 1, 98], [1, 1, 5]),
    ],
)
def test_allocation_is_exact(number, weights, shares):
    """Regression test of C11 (tests/defects.md)."""
    assert allocate(number, weights) == shares


@pytest.mark.parametrize(
    ("eligible", "percent", "variants", "size"),
    [(3, 20, 2, 2), (4, 100, 2, 4), (1, 50, 2, 0), (0, 50, 2, 0), (100, 20, 2, 20), (13, 50, 2, 7), (9, 5, 8, 8)],
)
def test_a_sample_has_at_least_one_contact_for_each_variant(eligible, percent, variants, size):
    """Regression test of C11 (tests/defects.md)."""
    assert sample_size(eligible, percent, variants) == size


@pytest.mark.parametrize(
    ("count", "test", "expected"),
    [
        (40, ab_test_settings(100, 20, 20, 20, 20, 20), {f"V{number}": 8 for number in range(5)}),
        (4, ab_test_settings(100, 50, 50), {"V0": 2, "V1": 2}),
        (20, ab_test_settings(50, 70, 30), {"V0": 7, "V1": 3}),
    ],
)
async def test_variants_get_exactly_their_share(project, run_due_work, count, test, expected):
    """Regression test of C11 (tests/defects.md)."""
    campaign, _ = await create_campaign(project, count, **test)
    await request_action(project, campaign, "send")
    await run_due_work()
    assert await sends_by_subject(project, campaign) == expected
    assert (await get_campaign(project, campaign))["abTestSampleSize"] == sum(expected.values())


async def test_skipped_contacts_are_not_in_the_sample(project, run_due_work):
    """Regression test of C11 (tests/defects.md)."""
    campaign, emails = await create_campaign(project, 10, **ab_test_settings(100, 50, 50))
    for address in emails[:4]:
        await project.client.post("/suppressions", {"address": address})
    await request_action(project, campaign, "send")
    await run_due_work()
    assert await sends_by_subject(project, campaign) == {"V0": 3, "V1": 3}


async def test_three_contacts_with_a_sample_of_20_percent_are_tested(project, run_due_work, clock):
    """Regression test of C11 (tests/defects.md)."""
    campaign, _ = await create_campaign(project, 3, **ab_test_settings(20, 50, 50))
    await request_action(project, campaign, "send")
    await run_due_work()
    assert await sends_by_subject(project, campaign) == {"V0": 1, "V1": 1}
    clock.move(timedelta(minutes=61))
    await run_due_work()
    current = await get_campaign(project, campaign)
    assert (current["status"], current["stats"]["delivered"], current["progress"]["audience"]) == ("SENT", 3, 3)


async def test_there_is_no_ab_test_with_fewer_contacts_than_variants(project, run_due_work):
    """All contacts get the first variant at once, and the evidence has the reason.

    Regression test of C11 (tests/defects.md).
    """
    campaign, _ = await create_campaign(project, 1, **ab_test_settings(20, 50, 50))
    draft = await get_campaign(project, campaign)
    assert [warning["path"] for warning in draft["warnings"]] == ["/audienceId"]
    await request_action(project, campaign, "send")
    await run_due_work()
    current = await get_campaign(project, campaign)
    assert (current["status"], await sends_by_subject(project, campaign)) == ("SENT", {"V0": 1})
    assert (current["evidence"]["decidedBy"], current["abTestSampleSize"]) == ("too_small", 0)


async def test_a_sample_that_is_too_small_gives_a_warning(project, run_due_work):
    """Regression test of C11 (tests/defects.md)."""
    campaign, _ = await create_campaign(project, 40, **ab_test_settings(100, 80, 20))
    (warning,) = (await get_campaign(project, campaign))["warnings"]
    assert (warning["path"], warning["code"]) == ("/abTestSamplePercent", "sample_too_small")
    assert "“V1” gets 8" in warning["message"]
    assert "V0" not in warning["message"]
    await request_action(project, campaign, "send")
    await run_due_work()
    assert len((await get_campaign(project, campaign))["warnings"]) == 1
    without_test, _ = await create_campaign(project, 2)
    assert (await get_campaign(project, without_test))["warnings"] == []


async def test_a_pause_extends_the_test(project, run_due_work, clock):
    """Regression test of C11 (tests/defects.md)."""
    campaign, _ = await create_campaign(project, 10, **ab_test_settings(50, 50, 50))
    await request_action(project, campaign, "send")
    await run_due_work()
    clock.move(timedelta(minutes=50))
    await request_action(project, campaign, "pause")
    assert (await get_campaign(project, campaign))["abTestEndsAt"] is None
    clock.move(timedelta(hours=5))
    await run_due_work()
    await request_action(project, campaign, "resume")
    await run_due_work()
    clock.move(timedelta(minutes=9))
    await run_due_work()
    assert (await get_campaign(project, campaign))["status"] == "TESTING"
    clock.move(timedelta(minutes=2))
    await run_due_work()
    assert (await get_campaign(project, campaign))["status"] == "SENT"


async def test_a_crash_between_sample_and_sends_keeps_the_variants(project, world, run_due_work, clock):
    """Regression test of C11 (tests/defects.md)."""
    campaign, _ = await create_campaign(project, 12, **ab_test_settings(50, 50, 50))
    await request_action(project, campaign, "send")
    await create_sends(world, project)
    async with world.db.connection() as connection:
        text = "update campaigns set cursor = null, filled = false, due_at = now() where id = %s"
        await connection.execute(text, [campaign["id"]])
    clock.move(timedelta(minutes=1))
    await run_due_work()
    assert await sends_by_subject(project, campaign) == {"V0": 3, "V1": 3}
