"""Every kind of step, for many contacts, through two weeks that take seconds, with workers killed on the way."""

import asyncio
import os
import subprocess
import sys
from collections import Counter
from random import Random
from uuid import UUID

import pytest

CONTACTS = int(os.environ.get("POSTERN_TEST_CONTACTS", "2000"))
DAY_SECONDS = 86_400
STALE_SECONDS = 130
"""Past the lease of what a killed worker had in hand."""
PRO = {"match": "all", "conditions": [{"field": "plan", "operator": "eq", "value": "pro"}]}


@pytest.fixture
def start(settings, database_url):
    """Starts a worker whose clock is ahead; none outlives the test."""
    processes = []

    def one(ahead):
        command = [sys.executable, "-m", "tests.automations.worker", str(settings.data), database_url, settings.secret]
        processes.append(subprocess.Popen([*command, str(ahead)]))
        return processes[-1]

    yield one
    for process in processes:
        process.kill()
        process.wait()


@pytest.mark.chaos
async def test_two_weeks_of_every_step_although_workers_are_killed(
    automate, audience, email, project, receiver, start, world, clock
):
    clock.start = None
    joined, customers = await audience(), await audience("Customers")
    automation = await automate(
        {"type": "AUDIENCE_JOINED", "audienceId": joined},
        email("1 welcome"),
        {"type": "DELAY", "days": 1},
        {
            "type": "CONDITION",
            "rules": PRO,
            "then": [email("2 pro")],
            "else": [{"type": "DELAY", "hours": 12}, email("2 free")],
        },
        {
            "type": "WAIT_FOR_EVENT",
            "event": "order.placed",
            "timeout": {"days": 5},
            "then": [{"type": "ADD_TO_AUDIENCE", "audienceId": customers}, email("3 thanks")],
            "else": [{"type": "UPDATE_CONTACT", "attributes": {"lost": True}}, {"type": "EXIT"}],
        },
        {"type": "WEBHOOK", "url": receiver.url("/crm")},
        {"type": "DELAY", "days": 3},
        {"type": "REMOVE_FROM_AUDIENCE", "audienceId": joined},
    )
    people = [{"email": f"{n}@example.com", "attributes": {"plan": ("pro", "free")[n % 2]}} for n in range(CONTACTS)]
    for at in range(0, CONTACTS, 1_000):
        added = await project.client.post(
            f"/audiences/{joined}/contacts/bulk-email", {"contacts": people[at : at + 1_000]}
        )
        assert added.json()["added"] == len(people[at : at + 1_000])
    buyers = [person["email"] for person in people if int(person["email"].partition("@")[0]) % 3 == 0]
    chance = Random(20260131)
    now = 0
    for day in (0, 1, 1.5, 2, 7, 14):
        now = max(now, day * DAY_SECONDS)
        if day == 2:
            for at in range(0, len(buyers), 500):
                batch = [{"name": "order.placed", "email": each} for each in buyers[at : at + 500]]
                assert (await project.client.post("/events/batch", {"events": batch})).status_code == 201
        worker = start(now)
        try:
            await asyncio.wait_for(asyncio.to_thread(worker.wait), chance.uniform(0.8, 1.6))
        except TimeoutError:
            worker.kill()
            now += STALE_SECONDS
        worker = start(now)
        assert await asyncio.to_thread(worker.wait, 120) == 0
        now += STALE_SECONDS

    assert await rows(
        world, project, "select status, count(*) from automation_runs where project_id = %s group by 1 order by 1"
    ) == [
        ("COMPLETED", len(buyers)),
        ("EXITED", CONTACTS - len(buyers)),
    ]
    sent = await rows(
        world,
        project,
        "select subject, count(*), count(distinct contact_id) from sends where project_id = %s group by 1 order by 1",
    )
    pro = (CONTACTS + 1) // 2
    assert sent == [
        ("1 welcome", CONTACTS, CONTACTS),
        ("2 free", CONTACTS - pro, CONTACTS - pro),
        ("2 pro", pro, pro),
        ("3 thanks", len(buyers), len(buyers)),
    ]
    totals = (await project.client.get(f"/automations/{automation}/totals")).json()
    assert totals == {"totalRuns": CONTACTS, "completed": CONTACTS, "failed": 0}
    left = (await project.client.get(f"/audiences/{joined}/contacts")).json()["total"]
    bought = (await project.client.get(f"/audiences/{customers}/contacts")).json()["total"]
    assert (left, bought) == (CONTACTS - len(buyers), len(buyers))
    calls = Counter(request.headers["webhook-id"] for request in receiver.received("/crm"))
    assert len(calls) == len(buyers), "a call may come twice after a crash, always under its id"
    twice = await rows(
        world,
        project,
        "select count(*) from (select run_id, step from automation_run_steps where project_id = %s"
        " group by 1, 2 having count(*) > 1) as repeated",
    )
    assert twice == [(0,)]


async def rows(world, project, query):
    async with world.db.connection() as connection:
        return await (await connection.execute(query, (UUID(project.id),))).fetchall()
