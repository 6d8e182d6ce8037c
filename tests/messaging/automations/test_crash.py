"""Every kind of step for many contacts over two simulated weeks, with workers that are killed."""

import asyncio
import os
import re
from collections import Counter
from datetime import timedelta
from random import Random
from signal import SIGKILL
from uuid import UUID

import pytest

from tests.messaging.automations import worker as workers
from tests.messaging.domains.test_domains import verified
from tests.peers.smtp_sink import Behaviour, Sink
from tests.peers.whole_server import own_database

CONTACTS = int(os.environ.get("POSTERN_TEST_CONTACTS", "1500"))
STALE = timedelta(seconds=130)
"""Past the leases of what a killed worker had in hand."""
DAYS = (0, 1.1, 1.7, 2, 7.2, 14)
"""Each leaves hours to what the last was to do, however long that took and however often workers were killed."""
DAYS_WITH_MAIL = 4
STATEMENTS = 60
"""A worker that is to be killed is so before it has made as many."""
END_SECONDS = 300
PRO = {"match": "all", "conditions": [{"field": "plan", "operator": "eq", "value": "pro"}]}
SUBJECT = re.compile(rb"^Subject: (.*?)\r$", re.MULTILINE)


class Hand(Sink):
    """An SMTP sink that kills the worker after this many messages, before it replies."""

    worker = None
    kills_at = 0

    def record(self, session, received, reply):
        if self.accepted + 1 == self.kills_at:
            self.worker.kill()
        super().record(session, received, reply)


@pytest.fixture
def database_url():
    """A separate database, because a worker processes everything that is due."""
    with own_database() as url:
        yield url


@pytest.fixture
async def hand():
    async with Hand(Behaviour()) as hand:
        yield hand


@pytest.fixture
def start(settings, database_url, clock, hand):
    """Starts workers at the test clock's time, one after the other, and stops them after the test."""
    started = []

    def one(dies_at=0):
        hand.worker = workers.start(settings, database_url, clock.offset, dies_at)
        started.append(hand.worker)
        return hand.worker

    yield one
    for process in started:
        process.kill()
        process.join()
        process.close()


@pytest.mark.chaos
async def test_every_step_is_executed_once_although_workers_are_killed(
    automate, audience, email, project, receiver, zone, hand, start, world, clock
):
    clock.start = None  # It flows, here and in the workers, and is moved in both alike.
    await verified(project, zone, "example.org")
    relays = [{"host": "127.0.0.1", "port": hand.port, "tls": "none"}]
    changed = await project.developer.patch("", {"settings": {"transport": "relay", "relays": relays}})
    assert changed.status_code == 200, changed.text
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
    chance, killed = Random(20260131), 0
    for day in DAYS:
        clock.offset = max(clock.offset, timedelta(days=day))
        if day == 2:
            for at in range(0, len(buyers), 500):
                batch = [{"name": "order.placed", "email": each} for each in buyers[at : at + 500]]
                assert (await project.client.post("/events/batch", {"events": batch})).status_code == 201
        hand.kills_at = hand.accepted + chance.randint(1, CONTACTS // 3)
        dies_at = chance.randint(1, STATEMENTS)
        while (ended := await end_of(start(dies_at))) == -SIGKILL:
            killed += 1
            dies_at = 0
            clock.move(STALE)
        assert ended == 0
    assert killed >= DAYS_WITH_MAIL, "some as they worked, and on each day with mail one as it sent"

    assert await rows(
        world, project, "select status, count(*) from automation_runs where project_id = %s group by 1 order by 1"
    ) == [("COMPLETED", len(buyers)), ("EXITED", CONTACTS - len(buyers))]
    await assert_each_mail_once(world, project, hand, people, buyers)
    totals = (await project.client.get(f"/automations/{automation}/totals")).json()
    assert totals == {"totalRuns": CONTACTS, "completed": CONTACTS, "failed": 0, "limited": 0, "capped": 0}
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


async def end_of(worker):
    """How a worker ended: 0, or minus the signal that killed it."""
    await asyncio.to_thread(worker.join, END_SECONDS)
    return worker.exitcode


async def assert_each_mail_once(world, project, sink, people, buyers):
    """Each contact has one send per mail, which arrived once, or again only after an ambiguous attempt."""
    addresses = [person["email"] for person in people]
    wanted = [(each, "1 welcome") for each in addresses]
    wanted += [(each, ("2 pro", "2 free")[number % 2]) for number, each in enumerate(addresses)]
    wanted += [(each, "3 thanks") for each in buyers]
    sends = await rows(
        world,
        project,
        "select recipient, subject, message_id, status, ambiguous_attempts from sends where project_id = %s",
    )
    assert Counter((recipient, subject) for recipient, subject, *_ in sends) == Counter(wanted)
    assert {status for *_, status, _ in sends} == {"SENT"}
    arrived = Counter(
        (message.recipients[0], SUBJECT.search(message.raw)[1].decode(), message.message_id)
        for message in sink.messages
    )
    assert set(arrived) == {(recipient, subject, message_id) for recipient, subject, message_id, *_ in sends}
    most = {message_id: 1 + ambiguous for *_, message_id, _, ambiguous in sends}
    assert not [(key, copies) for key, copies in arrived.items() if copies > most[key[2]]]


async def rows(world, project, query):
    async with world.db.connection() as connection:
        return await (await connection.execute(query, (UUID(project.id),))).fetchall()
