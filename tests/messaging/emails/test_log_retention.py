"""Deletion of the e-mail log, of opens and clicks, and of events, after the time that a project keeps them."""

import asyncio
from datetime import timedelta
from email import message_from_bytes

import pytest

from postern.messaging.emails import retention
from postern.messaging.emails.retention import delete_expired_log
from postern.messaging.tracking.retention import delete_expired_hits
from postern.platform.events.retention import delete_expired_events
from postern.platform.projects import retention as projects_retention
from tests.workers import in_another_process

MAIL = {"to": ["ada@example.com"], "from": "Acme <hello@acme.example>", "subject": "Hello", "html": "<p>Hello</p>"}
DEPENDENT = ("send_bodies", "send_search", "send_attempts", "captured_messages", "tracking_hits")


async def keep_log(project, days=90, **settings):
    changed = await project.developer.patch("", {"settings": {"logRetentionDays": days, **settings}})
    assert changed.status_code == 200, changed.text
    assert changed.json()["settings"]["logRetentionDays"] == days


async def counted(world, project, *tables):
    """The number of rows of the project in each table."""
    numbers = []
    async with world.db.connection() as connection:
        for table in tables:
            rows = await connection.execute(f"select count(*) from {table} where project_id = %s", [project.id])
            numbers.append((await rows.fetchone())[0])
    return numbers


async def logged(project):
    """The ids in the e-mail log, which must be as many as its total says."""
    page = (await project.client.get("/emails/logs?limit=50")).json()
    assert page["total"] == len(page["data"]), page
    return {entry["id"] for entry in page["data"]}


async def test_the_log_is_deleted_after_the_set_time_and_statistics_stay(project, new_project, world, clock, stranger):
    other_project = await new_project()
    await keep_log(project, retentionDays=3_650)
    old = (await project.client.post("/emails", MAIL)).json()["id"]
    other = (await other_project.client.post("/emails", MAIL)).json()["id"]
    waiting = {**MAIL, "scheduledAt": (clock() + timedelta(days=20)).isoformat()}
    waiting = (await project.client.post("/emails", waiting)).json()["id"]
    clock.move(timedelta(minutes=1))  # A machine would have opened it at once.
    await stranger.get(f"/t/o/{old}", headers={"user-agent": "Mozilla/5.0 (X11; Linux) Firefox/140"})
    before = (await project.client.get("/analytics?days=365")).json()["sends"]
    clock.move(timedelta(days=89))
    await delete_expired_log(world)
    await delete_expired_hits(world)
    new = (await project.client.post("/emails", MAIL)).json()["id"]
    assert 0 not in await counted(world, project, *DEPENDENT)
    clock.move(timedelta(days=2))
    await delete_expired_log(world)
    await delete_expired_hits(world)
    assert await logged(project) == {waiting, new}
    assert (await project.client.get(f"/emails/logs/{old}")).status_code == 404
    assert await counted(world, project, *DEPENDENT) == [2, 2, 1, 1, 0]
    assert await logged(other_project) == {other}
    after = (await project.client.get("/analytics?days=365")).json()["sends"]
    assert (before["delivered"], after["delivered"]) == (1, 2)
    assert after["opened"] == before["opened"] == 1


async def test_unsubscribe_links_of_deleted_messages_say_so_and_change_nothing(project, world, clock, stranger):
    await keep_log(project)
    sent = (await project.client.post("/emails", {**MAIL, "unsubscribable": True})).json()
    message = (await project.client.get(f"/emails/logs/{sent['id']}/message")).content
    link = message_from_bytes(message)["List-Unsubscribe"].strip("<>").partition("/t/u/")[2]
    assert (await stranger.get(f"/t/u/{link}")).status_code == 200
    clock.move(timedelta(days=91))
    await delete_expired_log(world)
    for response in (await stranger.get(f"/t/u/{link}"), await stranger.post(f"/t/u/{link}")):
        assert response.status_code == 404
        assert "too old for its link to work" in response.text
    assert (await project.client.get("/suppressions")).json()["total"] == 0


@pytest.mark.parametrize(
    ("setting", "days"),
    [("logRetentionDays", 89), ("logRetentionDays", 3_651), ("eventRetentionDays", 29), ("eventRetentionDays", "90")],
)
async def test_other_times_are_refused(project, setting, days):
    response = await project.developer.patch("", {"settings": {setting: days}})
    assert (response.status_code, response.json()["errors"][0]["path"]) == (400, f"/settings/{setting}")


async def test_events_are_deleted_after_the_set_time(project, new_project, world, clock):
    other_project = await new_project()
    await project.developer.patch("", {"settings": {"eventRetentionDays": 30}})
    await project.client.post("/emails", MAIL)
    await other_project.client.post("/emails", MAIL)
    kept = await counted(world, other_project, "events")
    clock.move(timedelta(days=29))
    await delete_expired_events(world)
    await project.client.post("/emails", MAIL)
    new = (await counted(world, project, "events"))[0] - kept[0]
    clock.move(timedelta(days=2))
    await delete_expired_events(world)
    assert new > 0
    assert await counted(world, project, "events") == [new]
    assert await counted(world, other_project, "events") == kept


async def test_deletion_goes_on_after_a_process_was_killed(project, world, clock, monkeypatch):
    await keep_log(project)
    for _ in range(5):
        await project.client.post("/emails", MAIL)
    clock.move(timedelta(days=91))
    monkeypatch.setattr(retention, "BATCH", 2)
    monkeypatch.setattr(projects_retention, "MAX_BATCHES", 1)
    erase = retention.erasure_store.erase_captured

    async def killed(*arguments, **values):
        raise asyncio.CancelledError

    monkeypatch.setattr(retention.erasure_store, "erase_captured", killed)
    with pytest.raises(asyncio.CancelledError):
        await delete_expired_log(world)
    assert len(await logged(project)) == 5
    monkeypatch.setattr(retention.erasure_store, "erase_captured", erase)
    for left in (3, 1, 0):
        await in_another_process(delete_expired_log(world))
        assert len(await logged(project)) == left
    assert await counted(world, project, "sends", *DEPENDENT) == [0] * 6
