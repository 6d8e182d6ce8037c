"""Many messages to sites of all kinds on a loopback internet: each reaches the right final state.

The suite sends 1,000 messages; POSTERN_INTERNET_MESSAGES=20000 sends that many.
"""

import asyncio
import os
from collections import Counter
from datetime import timedelta
from types import ModuleType, SimpleNamespace

import pytest

from postern.messaging.emails.transports import transport_of
from postern.platform.projects.model import ProjectSettings
from postern.protocols.mail.transports import relay
from tests.messaging.emails.test_direct import MAIL, sender, settings
from tests.peers.mail_sites import build_sites

__all__ = ["sender", "settings"]

MESSAGES = int(os.environ.get("POSTERN_INTERNET_MESSAGES", "1000"))
BATCH = 500
STEP = timedelta(minutes=4)
"""Attempts that are due within this time are made together."""
LONGEST = timedelta(days=2)
"""The retry period is a day."""


async def next_due(world, project):
    """When the next attempt is due; None if all messages have their final states."""
    async with world.db.connection() as connection:
        cursor = await connection.execute("select min(due_at) from sends where project_id = %s", [project.id])
        return (await cursor.fetchone())[0]


async def final_states(world, project):
    """Recipient, status, number of ambiguous attempts and reason of all messages."""
    async with world.db.connection() as connection:
        cursor = await connection.execute(
            "select recipient, status, ambiguous_attempts, reason from sends where project_id = %s", [project.id]
        )
        return await cursor.fetchall()


@pytest.fixture
def waited(monkeypatch):
    """The sum of the waits for a reduced rate, in seconds. They pass at once, because a message that waits for half a
    second made the test wait as long, a hundred times."""
    waited = SimpleNamespace(seconds=0.0)

    async def wait(delay):
        waited.seconds += delay
        await asyncio.sleep(0)

    without_time = ModuleType("asyncio")
    vars(without_time).update(vars(asyncio), sleep=wait)
    monkeypatch.setattr(relay, "asyncio", without_time)
    return waited


async def test_messages_to_sites_of_all_kinds_reach_the_right_final_state(
    sender, internet, zone, world, clock, authority, publish_policy, run_due_work, waited
):
    sites = await build_sites(internet, authority, publish_policy)
    by_domain = {site.domain: site for site in sites}
    transport_of(world, sender.id, ProjectSettings())
    loop = asyncio.get_running_loop()
    # The pauses of circuit breakers and reduced rates pass with the clock of the test, and with the waits.
    world.transports["direct"]._clock = lambda: loop.time() + (clock() - clock.start).total_seconds() + waited.seconds
    emails = [{**MAIL, "to": [f"user{n}@{sites[n % len(sites)].domain}"]} for n in range(MESSAGES)]
    for start in range(0, MESSAGES, BATCH):
        created = await sender.client.post("/emails/batch", {"emails": emails[start : start + BATCH]})
        assert created.status_code in (200, 201, 202), created.text
    await run_due_work()
    for site in sites:
        if site.heal:
            site.heal()
    ends = clock() + LONGEST
    while clock() < ends and (due := await next_due(world, sender)):
        clock.move(max(due - clock(), timedelta()) + STEP)
        await run_due_work()
    copies = Counter(recipient for site in sites for message in site.received for recipient in message.recipients)
    statuses = Counter()
    problems = Counter()
    for recipient, status, ambiguous, reason in await final_states(world, sender):
        site = by_domain[recipient.partition("@")[2]]
        statuses[site.domain, status] += 1
        if status not in site.final:
            problems[f"{site.domain}: {status}, {reason}"] += 1
        if (status == "DELIVERED") != bool(copies[recipient]) or copies[recipient] > 1 + ambiguous:
            problems[f"{site.domain}: {status}, {copies[recipient]} copies, {ambiguous} ambiguous attempts"] += 1
    for site in sites:
        if site.encrypted is not None and any(message.encrypted != site.encrypted for message in site.received):
            problems[f"{site.domain}: encrypted instead of not encrypted, or the reverse"] += 1
    assert not problems, "\n".join(f"{count} x {text}" for text, count in problems.items())
    assert statuses.total() == MESSAGES
    assert waited.seconds, "Some messages waited for a reduced rate."
    assert {domain for domain, _ in statuses} == set(by_domain)
