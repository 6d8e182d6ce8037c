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

from tests.conftest import connections
from tests.messaging.automations import worker as workers
from tests.messaging.domains.test_domains import add_verified_domain
from tests.peers.smtp_sink import Behaviour, Sink
from tests.peers.whole_server import own_database

CONTACTS = int(os.environ.get("POSTERN_TEST_CONTACTS", "1500"))
STALE = timedelta(seconds=130)
"""More than the lease of the runs and sends that a killed worker had claimed."""
DAYS = (0, 1.1, 1.7, 2, 7.2, 14)
"""The times at which workers run, in days. The clock also moves by STALE after each kill, so hours lie between them."""
DAYS_WITH_MAIL = 4
"""On how many of the DAYS the workers send mail; on each of them, one is killed while it sends."""
MAX_STATEMENTS = 60
"""A worker that kills itself does so at one of this many first SQL statements."""
END_SECONDS = 300
"""Maximum time to wait for a worker to end."""
PRO = {"match": "all", "conditions": [{"field": "plan", "operator": "eq", "value": "pro"}]}
SUBJECT = re.compile(rb"^Subject: (.*?)\r$", re.MULTILINE)


class KillingSink(Sink):
    """An SMTP sink that kills the worker when it has received a certain number of messages, before it replies."""

    worker = None
    kills_at = 0
    """The number of this message; 0 kills no worker."""

    def record(self, session, received, reply):
        if self.accepted + 1 == self.kills_at:
            self.worker.kill()
        super().record(session, received, reply)


@pytest.fixture(scope="module")
def database_url():
    """A separate database, because a worker processes everything that is due."""
    with own_database() as url:
        yield url


@pytest.fixture(scope="module")
async def database(database_url):
    async with connections(database_url) as database:
        yield database


@pytest.fixture
async def sink():
    async with KillingSink(Behaviour()) as sink:
        yield sink


@pytest.fixture
def start_worker(settings, database_url, clock, sink):
    """Starts a worker process at the test clock's time; stops all of them after the test."""
    started = []

    def start(dies_at=0):
        sink.worker = workers.start(settings, database_url, clock.offset, dies_at)
        started.append(sink.worker)
        return sink.worker

    yield start
    for process in started:
        process.kill()
        process.join()
        process.close()


@pytest.mark.chaos
async def test_every_step_is_executed_once_although_workers_are_killed(
    create_automation, create_audience, email_step, project, receiver, zone, sink, start_worker, world, clock
):
    clock.start = None  # The clocks of the test and of the workers run; both are moved by the same offset.
    await add_verified_domain(project, zone, "example.org")
    relays = [{"host": "127.0.0.1", "port": sink.port, "tls": "none"}]
    changed = await project.developer.patch("", {"settings": {"transport": "relay", "relays": relays}})
    assert changed.status_code == 200, changed.text
    joined, customers = await create_audience(), await create_audience("Customers")
    automation = await create_automation(
        {"type": "AUDIENCE_JOINED", "audienceId": joined},
        email_step("1 welcome"),
        {"type": "DELAY", "days": 1},
        {
            "type": "CONDITION",
            "rules": PRO,
            "then": [email_step("2 pro")],
            "else": [{"type": "DELAY", "hours": 12}, email_step("2 free")],
        },
        {
            "type": "WAIT_FOR_EVENT",
            "event": "order.placed",
            "timeout": {"days": 5},
            "then": [{"type": "ADD_TO_AUDIENCE", "audienceId": customers}, email_step("3 thanks")],
            "else": [{"type": "UPDATE_CONTACT", "attributes": {"lost": True}}, {"type": "EXIT"}],
        },
        {"type": "WEBHOOK", "url": receiver.url("/crm")},
        {"type": "DELAY", "days": 3},
        {"type": "REMOVE_FROM_AUDIENCE", "audienceId": joined},
    )
    contacts = [{"email": f"{n}@example.com", "attributes": {"plan": ("pro", "free")[n % 2]}} for n in range(CONTACTS)]
    for offset in range(0, CONTACTS, 1_000):
        added = await project.client.post(
            f"/audiences/{joined}/contacts/bulk-email", {"contacts": contacts[offset : offset + 1_000]}
        )
        assert added.json()["added"] == len(contacts[offset : offset + 1_000])
    buyers = [person["email"] for person in contacts if int(person["email"].partition("@")[0]) % 3 == 0]
    random, killed = Random(20260131), 0
    for day in DAYS:
        clock.offset = max(clock.offset, timedelta(days=day))
        if day == 2:
            for offset in range(0, len(buyers), 500):
                batch = [{"name": "order.placed", "email": address} for address in buyers[offset : offset + 500]]
                assert (await project.client.post("/events/batch", {"events": batch})).status_code == 201
        sink.kills_at = sink.accepted + random.randint(1, CONTACTS // 3)
        dies_at = random.randint(1, MAX_STATEMENTS)
        while (code := await exit_code(start_worker(dies_at))) == -SIGKILL:
            killed += 1
            dies_at = 0
            clock.move(STALE)
        assert code == 0
    assert killed >= DAYS_WITH_MAIL, (
        "at least one worker is killed while it sends on each day with mail, and others at a statement"
    )

    assert await rows(
        world, project, "select status, count(*) from automation_runs where project_id = %s group by 1 order by 1"
    ) == [("COMPLETED", len(buyers)), ("EXITED", CONTACTS - len(buyers))]
    await assert_each_mail_once(world, project, sink, contacts, buyers)
    totals = (await project.client.get(f"/automations/{automation}/totals")).json()
    assert totals == {"totalRuns": CONTACTS, "completed": CONTACTS, "failed": 0, "limited": 0, "capped": 0}
    remaining = (await project.client.get(f"/audiences/{joined}/contacts")).json()["total"]
    bought = (await project.client.get(f"/audiences/{customers}/contacts")).json()["total"]
    assert (remaining, bought) == (CONTACTS - len(buyers), len(buyers))
    calls = Counter(request.headers["webhook-id"] for request in receiver.received("/crm"))
    assert len(calls) == len(buyers), "after a crash a call may be repeated, with the same webhook-id"
    repeated_steps = await rows(
        world,
        project,
        "select count(*) from (select run_id, step from automation_run_steps where project_id = %s"
        " group by 1, 2 having count(*) > 1) as repeated",
    )
    assert repeated_steps == [(0,)]


async def exit_code(worker):
    """Wait until a worker has ended; returns 0, or minus the number of the signal that killed it."""
    await asyncio.to_thread(worker.join, END_SECONDS)
    return worker.exitcode


async def assert_each_mail_once(world, project, sink, contacts, buyers):
    """Each contact has one send per mail, which arrived once, and again at most once per ambiguous attempt."""
    addresses = [person["email"] for person in contacts]
    expected = [(address, "1 welcome") for address in addresses]
    expected += [(address, ("2 pro", "2 free")[number % 2]) for number, address in enumerate(addresses)]
    expected += [(address, "3 thanks") for address in buyers]
    sends = await rows(
        world,
        project,
        "select recipient, subject, message_id, status, ambiguous_attempts from sends where project_id = %s",
    )
    assert Counter((recipient, subject) for recipient, subject, *_ in sends) == Counter(expected)
    assert {status for *_, status, _ in sends} == {"SENT"}
    arrived = Counter(
        (message.recipients[0], SUBJECT.search(message.raw)[1].decode(), message.message_id)
        for message in sink.messages
    )
    assert set(arrived) == {(recipient, subject, message_id) for recipient, subject, message_id, *_ in sends}
    max_copies = {message_id: 1 + ambiguous for *_, message_id, _, ambiguous in sends}
    assert not [
        (recipient, subject, copies)
        for (recipient, subject, message_id), copies in arrived.items()
        if copies > max_copies[message_id]
    ]


async def rows(world, project, query):
    """The rows of a query whose parameter is the project's id."""
    async with world.db.connection() as connection:
        return await (await connection.execute(query, (UUID(project.id),))).fetchall()
