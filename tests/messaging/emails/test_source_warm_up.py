"""Warm-up plans of source addresses: ceilings of new addresses for all workers together, and what is above them."""

import asyncio
import itertools
import json
import os
import random
from collections import Counter
from datetime import UTC, date, datetime, timedelta

import msgspec
import psycopg
import pytest

from postern.cli.checks import check_settings
from postern.instance import instance_metrics
from postern.kernel.config import SettingInvalid
from postern.messaging.emails.source_limits import choose_sources
from postern.messaging.emails.sources import SourceWarmUps, parse_warm_ups, source_states
from postern.messaging.emails.transports import direct_transport
from postern.messaging.emails.work import SENDS, deliver_batch
from postern.messaging.reputation.model import SourceWarmUp
from postern.messaging.reputation.source_warm_up import DeclaredWarmUp, row_of
from postern.protocols.mail.transports.transport import Envelope
from tests.commands import run_command
from tests.messaging.campaigns.test_campaigns import get_campaign
from tests.messaging.campaigns.test_stopping import claim_due, create_sends
from tests.messaging.emails.test_direct import sender
from tests.messaging.reputation.test_reputation import start_campaign

__all__ = ["sender"]

MARKETING = SENDS[1]
DAY = timedelta(days=1)
MAIL = {"from": "Acme <hello@example.com>", "to": ["ada@example.org"], "subject": "Hello", "text": "Hello"}
ADDRESSES = itertools.count(random.Random().randrange(256 * 200))


def new_address():
    """An address of this machine that no other test has; plans belong to the server and outlive a test."""
    high, low = divmod(next(ADDRESSES), 250)
    return f"127.50.{high % 250}.{low + 1}"


@pytest.fixture(autouse=True)
def noon(clock):
    """The tests begin at noon, so that no day ends within one."""
    tomorrow = clock().date() + DAY
    clock.move(datetime(tomorrow.year, tomorrow.month, tomorrow.day, 12, tzinfo=UTC) - clock())


@pytest.fixture
def settings(settings, internet):
    return msgspec.structs.replace(settings, transport="direct", direct_port=internet.port)


@pytest.fixture
async def sink(internet):
    """The mail server of the recipients."""
    return await internet.mail_server("example.org")


@pytest.fixture
def configure(world):
    """A function that sets POSTERN_SOURCES: an address with options each. As after a restart of the process."""

    def configure(*sources):
        text = " ".join(
            f"{address}=mx{number}.example.com{options}" for number, (address, options) in enumerate(sources)
        )
        world.settings = msgspec.structs.replace(world.settings, sources=text)
        world.transports.pop("direct", None)
        world.resources[SourceWarmUps].__init__(world)

    return configure


async def state_of(world, address):
    states = await source_states(world.db, world.settings, world.clock())
    return next(state for state in states if state.address == address)


def clients(sink):
    return Counter(message.client for message in sink.messages)


async def test_marketing_mail_above_the_ceiling_waits_for_the_next_day(
    sender, sink, world, clock, configure, run_due_work
):
    new = new_address()
    configure((new, "?warm-up=5,10,20"))
    campaign = await start_campaign(sender, 30)
    counts = []
    for _ in range(3):
        await run_due_work()
        counts.append(len(sink.messages))
        if counts[-1] == 5:
            today, tomorrow = clock().date(), clock().date() + DAY
            reason = f"Warm-up of the sending address {new}: 5 messages on {today} (UTC). Continues on {tomorrow}."
            progress = (await get_campaign(sender, campaign))["progress"]
            assert (progress["waiting"], progress["waitingReason"]) == (25, reason)
            assert progress["waitingUntil"] == f"{tomorrow}T00:00:00.000Z"
            sends = (await sender.client.get("/emails/logs?status=QUEUED&limit=1")).json()["data"]
            assert (await sender.client.get(f"/emails/logs/{sends[0]['id']}")).json()["reason"] == reason
            state = await state_of(world, new)
            assert (state.status, state.step, state.ceiling, state.used) == ("ACTIVE", 1, 5, 5)
        clock.move(DAY)
    assert counts == [5, 15, 30]
    assert clients(sink) == {new: 30}
    assert (await state_of(world, new)).status == "COMPLETED"


async def test_mail_above_the_ceiling_leaves_by_the_warm_addresses(sender, sink, world, configure, run_due_work):
    """Each address gets its share of the mail until the ceiling of the new one; nothing waits."""
    new, warm, other = new_address(), new_address(), new_address()
    configure((new, "?warm-up=5,10"), (warm, ""), (other, "?lane=transactional"))
    await start_campaign(sender, 60)
    await run_due_work()
    assert clients(sink) == {new: 5, warm: 55}
    assert (await state_of(world, new)).used == 5


async def test_two_new_addresses_have_their_own_ceilings(sender, sink, configure, run_due_work):
    first, second = new_address(), new_address()
    configure((first, "?warm-up=5,10"), (second, "?warm-up=8,10"))
    await start_campaign(sender, 40)
    await run_due_work()
    assert clients(sink) == {first: 5, second: 8}


async def test_workers_of_two_hosts_keep_one_ceiling(sender, sink, world, configure, run_due_work):
    """Shares are processed at the same time, each in a transaction of its own."""
    new = new_address()
    configure((new, "?warm-up=50,100"))
    assert (await sender.client.post("/emails", MAIL)).json()["status"] == "DELIVERED"
    await start_campaign(sender, 100)
    await create_sends(world, sender)
    batches = [await claim_due(world, sender, MARKETING, limit=20) for _ in range(5)]
    await asyncio.gather(*(deliver_batch(world, batch) for batch in batches))
    assert clients(sink) == {new: 50}
    assert (await state_of(world, new)).used == 50


async def test_transactional_mail_counts_but_never_waits(sender, sink, world, configure):
    new = new_address()
    configure((new, "?warm-up=3,10"))
    for _ in range(5):
        assert (await sender.client.post("/emails", MAIL)).json()["status"] == "DELIVERED"
    assert clients(sink) == {new: 5}
    assert (await state_of(world, new)).used == 5


async def test_transactional_mail_above_the_ceiling_leaves_by_the_warm_address(sender, sink, configure):
    new, warm = new_address(), new_address()
    configure((new, "?warm-up=3,10"), (warm, ""))
    for _ in range(20):
        assert (await sender.client.post("/emails", MAIL)).json()["status"] == "DELIVERED"
    assert clients(sink) == {new: 3, warm: 17}


async def test_a_killed_worker_and_a_retry_reserve_only_once(sender, sink, world, clock, configure, run_due_work):
    new = new_address()
    configure((new, "?warm-up=6,20"))
    sink.behaviour.replies["RCPT"] = b"450 4.7.1 Greylisted"
    await start_campaign(sender, 10)
    await create_sends(world, sender)
    chosen = await choose_sources(world, await claim_due(world, sender, MARKETING))
    assert len(chosen.sends) == 6  # Then the worker is killed.
    clock.move(MARKETING.lease)
    await run_due_work()
    assert (len(sink.messages), (await state_of(world, new)).used) == (0, 6)
    sink.behaviour.replies.clear()
    clock.move(timedelta(hours=1))
    await run_due_work()
    assert (len(sink.messages), (await state_of(world, new)).used) == (6, 6)


async def test_before_its_first_day_an_address_sends_nothing(sender, sink, world, clock, configure, run_due_work):
    new, warm = new_address(), new_address()
    start = clock().date() + DAY
    configure((new, f"?warm-up=5,10&start={start}"), (warm, ""))
    await start_campaign(sender, 20)
    await run_due_work()
    assert clients(sink) == {warm: 20}
    assert (await state_of(world, new)).status == "SCHEDULED"
    configure((new, f"?warm-up=5,10&start={start}"))
    await start_campaign(sender, 8)
    await run_due_work()
    assert len(sink.messages) == 20
    clock.move(DAY)
    await run_due_work()
    assert clients(sink) == {warm: 20, new: 5}


async def test_a_day_without_mail_or_on_a_blocklist_is_repeated(
    sender, sink, world, clock, configure, run_due_work, database_url
):
    new = new_address()
    configure((new, "?warm-up=2,4,8"))
    assert (await sender.client.post("/emails", MAIL)).json()["status"] == "DELIVERED"
    clock.move(3 * DAY)
    state = await state_of(world, new)
    assert (state.step, state.repeated_days) == (2, 2)
    assert (await sender.client.post("/emails", MAIL)).json()["status"] == "DELIVERED"
    (domain,) = (await sender.client.get("/domains")).json()
    with psycopg.connect(database_url, autocommit=True) as connection:
        connection.execute(
            "insert into blocklist_entries (project_id, domain_id, id, list_name, subject_value, status, listed, "
            "first_listed_at) values (%s, %s, gen_random_uuid(), 'zen.spamhaus.org', %s, 'LISTED', true, now())",
            [sender.id, domain["id"], new],
        )
    clock.move(DAY)
    state = await state_of(world, new)
    assert (state.step, state.ceiling, state.repeated_days) == (2, 4, 3)


async def test_other_transports_make_no_reservation(sender, sink, world, configure, run_due_work):
    """Captured mail, and mail of a project with its own relay."""
    new = new_address()
    configure((new, "?warm-up=3,10"))
    for change in (
        {"transport": "capture"},
        {"transport": "relay", "relays": [{"host": "127.0.0.1", "port": 1, "tls": "none"}]},
    ):
        assert (await sender.developer.patch("", {"settings": change})).status_code == 200
        await sender.client.post("/emails", MAIL)
        await start_campaign(sender, 5)
        await run_due_work()
    assert (await state_of(world, new)).used == 0
    assert sink.messages == []


async def test_system_mail_counts(sink, world, configure):
    """Mail of the server itself, such as TLS reports."""
    new, warm = new_address(), new_address()
    configure((new, "?warm-up=2,4"), (warm, ""))
    for number in range(12):
        envelope = Envelope(mail_from="a@example.com", recipients=("x@example.org",), message_id=f"<{number}@{new}>")
        await direct_transport(world).deliver(envelope, b"Subject: Hello\r\n\r\nHello\r\n")
    assert clients(sink) == {new: 2, warm: 10}


async def test_a_message_for_ipv4_does_not_wait_for_a_place_of_an_ipv6_address(
    sender, sink, world, configure, run_due_work
):
    warm = new_address()
    configure(("::1", "?warm-up=1,2"), (warm, ""))
    await start_campaign(sender, 5)
    await run_due_work()
    assert clients(sink) == {warm: 5}


def test_the_options_of_an_address():
    assert parse_warm_ups(
        "192.0.2.1=a.example.com 192.0.2.2=b.example.com?lane=marketing&warm-up=300 "
        "192.0.2.3=c.example.com?warm-up=10,20,40&start=2026-12-01 2001:db8::3=c.example.com?warm-up=800&days=3"
    ) == {
        "192.0.2.2": DeclaredWarmUp(steps=(50, 100, 200, 300)),
        "192.0.2.3": DeclaredWarmUp(steps=(10, 20, 40), start=date(2026, 12, 1)),
        "2001:db8::3": DeclaredWarmUp(steps=(50, 200, 800)),
    }


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("warm-up=", "warm-up"),
        ("warm-up=many", "int"),
        ("warm-up=0", ">= 1"),
        ("warm-up=20,10", "lower"),
        ("warm-up=5000&days=1", ">= 2"),
        ("warm-up=10,20&days=5", "either"),
        ("days=5", "days needs warm-up"),
        ("start=2026-12-01", "start needs warm-up"),
        ("warm-up=500&start=tomorrow", "date"),
        ("warm-up=500 192.0.2.9=b.example.com?warm-up=600", "two different"),
    ],
)
def test_invalid_options_stop_the_start(settings, options, message):
    settings = msgspec.structs.replace(settings, sources=f"192.0.2.9=a.example.com?{options}")
    with pytest.raises(SettingInvalid, match=message):
        check_settings(settings)


def row(**fields):
    now = datetime(2026, 3, 5, 12, tzinfo=UTC)
    values = {"status": "ACTIVE", "steps": [50, 100, 200], "step": 1, "used": 7, "ended_at": None, **fields}
    return SourceWarmUp(
        address="192.0.2.1", starts_on=date(2026, 3, 1), day=date(2026, 3, 5), repeated=0, created_at=now,
        updated_at=now, **values,
    )  # fmt: skip


NOW = datetime(2026, 3, 5, 13, tzinfo=UTC)
DONE = {"status": "COMPLETED", "step": 2, "ended_at": NOW}
CHANGES = {
    # the row, the declared plan: status, step, ceiling, used
    "same": (row(), DeclaredWarmUp(steps=(50, 100, 200)), ("ACTIVE", 1, 100, 7)),
    "same with its start": (row(), DeclaredWarmUp(steps=(50, 100, 200), start=date(2026, 3, 1)), ("ACTIVE", 1, 100, 7)),
    "higher target": (row(), DeclaredWarmUp(steps=(50, 100, 200, 400)), ("ACTIVE", 1, 100, 7)),
    "other steps": (row(), DeclaredWarmUp(steps=(10, 90, 150)), ("ACTIVE", 1, 90, 7)),
    "all above": (row(), DeclaredWarmUp(steps=(300, 400)), ("ACTIVE", 0, 300, 7)),
    "new start": (row(), DeclaredWarmUp(steps=(50, 100, 200), start=date(2026, 3, 5)), ("ACTIVE", 0, 50, 0)),
    "later start": (row(), DeclaredWarmUp(steps=(50, 100), start=date(2026, 3, 9)), ("SCHEDULED", 0, 50, 0)),
    "completed": (row(**DONE), DeclaredWarmUp(steps=(50, 100, 200)), ("COMPLETED", 2, 200, 7)),
    "completed, lower": (row(**DONE), DeclaredWarmUp(steps=(50, 100)), ("COMPLETED", 1, 100, 7)),
    "completed, higher": (row(**DONE), DeclaredWarmUp(steps=(50, 100, 200, 400)), ("ACTIVE", 2, 200, 0)),
    "completed, new start": (row(**DONE), DeclaredWarmUp(steps=(50, 60), start=date(2026, 3, 5)), ("ACTIVE", 0, 50, 0)),
}


@pytest.mark.parametrize(("before", "declared", "after"), CHANGES.values(), ids=CHANGES)
def test_a_changed_plan_goes_on_where_it_was(before, declared, after):
    changed = row_of("192.0.2.1", declared, before, NOW)
    assert (changed.status, changed.step, changed.ceiling, changed.used) == after
    assert (changed.ended_at is not None) == (changed.status == "COMPLETED")


# What the operator sees ---------------------------------------------------


async def test_the_command_shows_where_each_address_stands(sender, sink, world, configure, database_url, tmp_path):
    new, warm, later = new_address(), new_address(), new_address()
    start = date(2099, 1, 1)
    configure((new, "?warm-up=5,10,20"), (warm, "?lane=transactional"), (later, f"?warm-up=600&start={start}"))
    assert (await choose_sources(world, [])).sends == []
    await start_campaign(sender, 1)

    def run(*arguments):
        variables = {
            "DATABASE_URL": database_url,
            "POSTERN_DATA": str(tmp_path),
            "POSTERN_TRANSPORT": "direct",
            "POSTERN_SOURCES": world.settings.sources,
        }
        done = run_command("sources", *arguments, environment={**os.environ, **variables})
        assert done.returncode == 0, done.stderr
        return done.stdout

    rows = {line.split()[0]: line.split() for line in run().splitlines()}
    assert rows[warm][1:] == ["mx1.example.com", "transactional", "all", "none"]
    assert rows[new][1:8] == ["mx0.example.com", "all", "all", "ACTIVE", "1/3", "5", "0"]
    assert rows[later][4:] == ["SCHEDULED", str(start), "1/5", "0", "2099-01-05"]
    states = {state["address"]: state for state in json.loads(run("--json"))}
    assert states[new]["steps"] == [5, 10, 20]
    assert states[warm]["status"] is None


async def test_the_metrics_have_the_ceilings(sender, sink, world, configure):
    new = new_address()
    configure((new, "?warm-up=5,10,20"))
    assert (await sender.client.post("/emails", MAIL)).json()["status"] == "DELIVERED"
    metrics = (await instance_metrics(world, [])).decode()
    assert f'postern_source_ceiling{{address="{new}"}} 5' in metrics
    assert f'postern_source_messages{{address="{new}"}} 1' in metrics
