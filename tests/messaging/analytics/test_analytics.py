"""Statistics equal counts of the stored sends, in any time zone."""

import csv
import io
from datetime import timedelta

import pytest

from postern.messaging.emails.rules import share

BROWSER = {"user-agent": "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"}
MAIL = {"from": "Acme <hello@acme.example>", "subject": "Hello", "html": "<p>x</p>"}


async def send(project, *addresses):
    """Send a message to each address; returns the ids of the sends."""
    ids = []
    for address in addresses:
        response = await project.client.post("/emails", {**MAIL, "to": [address]})
        ids.append(response.json()["id"])
    return ids


async def test_the_summary_equals_counts_of_the_sends(project, stranger, clock, world):
    await project.client.post("/contacts", {"email": "ada@example.com"})
    bob = (await project.client.post("/contacts", {"email": "bob@example.com"})).json()
    await project.client.patch(f"/contacts/{bob['id']}", {"unsubscribed": True})
    await project.client.delete(
        f"/contacts/{(await project.client.post('/contacts', {'email': 'c@d.example'})).json()['id']}"
    )
    ids = await send(project, "a@example.com", "b@example.com", "bounced@postern.test", "complained@postern.test")
    await send(project, "suppressed@postern.test")
    clock.move(timedelta(minutes=10))
    await stranger.get(f"/t/o/{ids[0]}", headers=BROWSER)
    await stranger.get(f"/t/o/{ids[0]}", headers=BROWSER)
    await stranger.get(f"/t/o/{ids[1]}", headers={"user-agent": "Mozilla/5.0"})
    test_client = await project.key(environment="TEST")
    await test_client.post("/emails", {**MAIL, "to": ["x@example.com"]})
    summary = (await project.client.get("/analytics?days=7")).json()
    assert summary["contacts"] == {"total": 2, "unsubscribed": 1, "unsubscribeRate": 0.5, "newLast30Days": 2}
    sends = summary["sends"]
    async with world.db.connection() as connection:
        row = await (
            await connection.execute(
                """select count(*), count(sent_at), count(delivered_at), count(human_opened_at), count(bounced_at),
                          count(complained_at), count(*) filter (where status in ('FAILED', 'EXPIRED', 'SUPPRESSED')),
                          count(opened_at) - count(human_opened_at)
                   from sends where project_id = %s and not test""",
                [project.id],
            )
        ).fetchone()
    names = ("total", "sent", "delivered", "opened", "bounced", "complained", "failed", "machineOpened")
    assert tuple(sends[name] for name in names) == row == (5, 3, 3, 1, 1, 1, 1, 1)
    assert sends["openRate"] == pytest.approx(1 / 3, abs=1e-6)
    assert sends["bounceRate"] == 0.25
    assert sends["last30Days"] == 5
    assert summary["campaigns"] == {"total": 0, "sent": 0}


async def test_days_follow_the_time_zone(project, clock):
    clock.start = clock.start.replace(hour=23, minute=30)
    await send(project, "a@example.com")
    day = clock().date()
    utc = (await project.client.get("/analytics/time-series")).json()
    assert len(utc) == 30
    assert utc[-1] == {**utc[-1], "date": str(day), "sent": 1}
    kathmandu = (await project.client.get("/analytics/time-series?timezone=Asia/Kathmandu")).json()
    assert kathmandu[-1] == {**kathmandu[-1], "date": str(day + timedelta(days=1)), "sent": 1}
    assert sum(item["sent"] for item in kathmandu) == 1
    one_day = await project.client.get(f"/analytics/time-series?from={day}&to={day}")
    assert [item["sent"] for item in one_day.json()] == [1]
    export = await project.client.get(f"/analytics/export?from={day}&to={day}")
    assert next(csv.DictReader(io.StringIO(export.text)))["sent"] == "1"


async def test_statistics_are_separate_by_domain(project):
    for name in ("one.example", "two.example"):
        await project.client.post("/domains", {"domain": name})
    await project.client.post("/emails", {**MAIL, "from": "a@one.example", "to": ["x@example.com"]})
    await project.client.post("/emails", {**MAIL, "from": "a@one.example", "to": ["bounced@postern.test"]})
    by_domain = {item["domain"]: item for item in (await project.client.get("/analytics/by-domain")).json()}
    assert (
        by_domain["one.example"]["total"],
        by_domain["one.example"]["bounced"],
        by_domain["two.example"]["total"],
    ) == (2, 1, 0)
    assert by_domain["one.example"]["bounceRate"] == 0.5


@pytest.mark.parametrize(
    ("query", "path"),
    [
        ("timezone=Mars/Olympus", "query/timezone"),
        ("timezone=localtime", "query/timezone"),
        ("timezone=right/UTC", "query/timezone"),
        ("timezone=", "query/timezone"),
        ("from=2026-02-30", "query/from"),
        ("from=2026-02-02&to=2026-02-01", "query/from"),
        ("from=1990-01-01&to=2026-02-01", "query/from"),
        ("to=soon", "query/to"),
    ],
)
async def test_an_invalid_period_is_refused_with_the_path(project, query, path):
    response = await project.client.get(f"/analytics/time-series?{query}")
    assert response.status_code == 400
    assert response.json()["errors"][0]["path"] == path


async def test_the_parameter_days_is_limited(project):
    for days in ("0", "3651", "many"):
        assert (await project.client.get(f"/analytics?days={days}")).status_code == 400


def test_rates_stay_between_zero_and_one():
    assert (share(1, 0), share(5, 4), share(1, 4)) == (0.0, 1.0, 0.25)


@pytest.mark.parametrize(
    "name", ["nonsense", "00000000-0000-0000-0000-000000000000", "01a1fe07-4d22-7fef-9ae3-7de0cc10ffd3"]
)
async def test_an_unknown_campaign_has_zero_statistics(project, name):
    await project.client.post("/domains", {"domain": "one.example"})
    await project.client.post("/emails", {**MAIL, "from": "a@one.example", "to": ["x@example.com"]})
    series = (await project.client.get(f"/analytics/time-series?campaignId={name}")).json()
    assert {item["sent"] for item in series} == {0}
    domains = (await project.client.get(f"/analytics/by-domain?campaignId={name}")).json()
    assert [item["total"] for item in domains] == [0]


async def test_a_day_that_a_time_zone_skipped_has_zero_statistics(project, clock):
    """Samoa had no 30 December 2011: the midnight at which it would begin is that of the 31st."""
    clock.start = clock.start.replace(year=2011, month=12, day=30, hour=11)
    await send(project, "a@example.com")
    query = "timezone=Pacific/Apia&from=2011-12-28&to=2012-01-01"
    series = (await project.client.get(f"/analytics/time-series?{query}")).json()
    assert {item["date"]: item["sent"] for item in series if item["sent"]} == {"2011-12-31": 1}
    assert len(series) == 5
