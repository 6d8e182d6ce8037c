"""The work of one project uses a limited share of the database connections."""

import asyncio
from dataclasses import replace
from datetime import timedelta

import pytest

from postern.kernel.database.statements import SecondConnection, limit_connections
from postern.platform.webhooks.work import WORK
from tests.workers import at_work


async def test_a_share_limits_the_connections_of_its_work(world):
    """Defects: S11"""
    share, most, now = asyncio.Semaphore(2), 0, 0

    async def busy():
        nonlocal most, now
        async with world.db.transaction() as tx:
            now += 1
            most = max(most, now)
            async with tx.connection() as connection:
                await connection.execute("select pg_sleep(0.01)")
            now -= 1

    with limit_connections(share):
        tasks = [asyncio.ensure_future(busy()) for _ in range(20)]
    await asyncio.gather(*tasks)
    assert most == 2


async def test_event_streams_of_one_project_leave_connections_to_others(project, world):
    """Defects: S11"""
    webhooks = WORK[0]
    hooks = [{"url": f"https://example.com/{number}", "events": ["custom.*"]} for number in range(30)]
    for hook in hooks:
        assert (await project.client.post("/webhooks", hook)).status_code == 201
    most = now = 0
    done = asyncio.Event()

    async def hold(world, jobs):
        nonlocal most, now
        async with world.db.connection() as connection:
            now += 1
            most = max(most, now)
            await connection.execute("select pg_sleep(0.05)")
            now -= 1
        done.set()

    assert (await project.client.post("/events", {"name": "tried", "data": {}})).status_code < 300
    async with at_work(world, [replace(webhooks, do=hold, lease=timedelta(minutes=5))]):
        await asyncio.wait_for(done.wait(), 60)
        await asyncio.sleep(1)
    assert 0 < most <= world.db.size // 4


async def test_a_second_connection_is_refused_while_one_is_held(world):
    """Otherwise a pool of n connections would deadlock with n callers that each wait for a second one."""

    async def ask():
        async with world.db.connection():
            pass

    async with world.db.transaction() as tx:
        with pytest.raises(SecondConnection):
            await ask()
        with pytest.raises(SecondConnection):
            await asyncio.gather(ask())
        async with tx.connection():
            pass
    await ask()


async def test_a_task_that_outlives_the_transaction_can_get_a_connection(world):
    ended = asyncio.Event()

    async def ask():
        await ended.wait()
        async with world.db.connection():
            return True

    async with world.db.transaction():
        later = asyncio.create_task(ask())
    ended.set()
    assert await later
