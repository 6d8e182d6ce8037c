"""The work of one project uses a limited share of the database connections."""

import asyncio
from dataclasses import replace
from datetime import timedelta

import pytest

from postern.kernel.database.statements import Database, SecondConnection, limit_connections, open_database
from postern.platform.webhooks.work import WORK
from tests.workers import at_work


async def test_a_semaphore_limits_the_connections_of_a_block(world):
    """Regression test of S11 (tests/defects.md)."""
    semaphore, maximum, current = asyncio.Semaphore(2), 0, 0

    async def use_connection():
        nonlocal maximum, current
        async with world.db.transaction() as tx:
            current += 1
            maximum = max(maximum, current)
            async with tx.connection() as connection:
                await connection.execute("select pg_sleep(0.01)")
            current -= 1

    with limit_connections(semaphore):
        tasks = [asyncio.ensure_future(use_connection()) for _ in range(20)]
    await asyncio.gather(*tasks)
    assert maximum == 2


async def test_webhook_deliveries_of_one_project_leave_connections_to_others(project, world):
    """Regression test of S11 (tests/defects.md)."""
    webhooks = WORK[0]  # The delivery of events, with one lane for each webhook of a project.
    for number in range(30):
        webhook = {"url": f"https://example.com/{number}", "events": ["custom.*"]}
        assert (await project.client.post("/webhooks", webhook)).status_code == 201
    maximum = current = 0
    first_call_ended = asyncio.Event()

    async def hold_connection(world, jobs):
        nonlocal maximum, current
        async with world.db.connection() as connection:
            current += 1
            maximum = max(maximum, current)
            await connection.execute("select pg_sleep(0.05)")
            current -= 1
        first_call_ended.set()

    assert (await project.client.post("/events", {"name": "order.paid", "data": {}})).status_code < 300
    async with at_work(world, [replace(webhooks, do=hold_connection, lease=timedelta(minutes=5))]):
        await asyncio.wait_for(first_call_ended.wait(), 60)
        await asyncio.sleep(1)
    assert 0 < maximum <= world.db.size // 4


async def test_a_task_that_holds_a_connection_cannot_get_a_second_one(world):
    """Otherwise a pool of n connections would deadlock with n callers that each wait for a second one."""

    async def get_connection():
        async with world.db.connection():
            pass

    async with world.db.transaction() as tx:
        with pytest.raises(SecondConnection):
            await get_connection()
        with pytest.raises(SecondConnection):
            await asyncio.gather(get_connection())
        async with tx.connection():
            pass
    await get_connection()


async def test_a_task_that_outlives_the_transaction_can_get_a_connection(world):
    ended = asyncio.Event()

    async def get_connection_after_the_transaction():
        await ended.wait()
        async with world.db.connection():
            return True

    async with world.db.transaction():
        task = asyncio.create_task(get_connection_after_the_transaction())
    ended.set()
    assert await task


async def test_a_task_that_is_cancelled_while_it_returns_its_connection_does_not_lose_it(world):
    pool, may_return = world.db._pool, asyncio.Event()

    async def use_connection():
        async with world.db.connection():
            await may_return.wait()

    async def use_all(barrier):
        async with world.db.connection():
            await barrier.wait()

    for _ in range(2 * world.db.size):
        may_return.clear()
        task = asyncio.create_task(use_connection())
        await asyncio.sleep(0.01)
        async with pool._lock:  # As while another task gets a connection that was waited for.
            may_return.set()
            await asyncio.sleep(0.01)
            task.cancel()
            await asyncio.wait([task])
    assert task.cancelled()
    barrier = asyncio.Barrier(world.db.size)
    async with asyncio.timeout(20):
        await asyncio.gather(*(use_all(barrier) for _ in range(world.db.size)))


async def test_statements_one_after_the_other_use_one_connection(world):
    """Each connection plans statements for itself, so a process uses few of its connections as long as that is
    enough."""
    barrier = asyncio.Barrier(4)

    async def use_connection():
        async with world.db.connection() as connection:
            await barrier.wait()
            return connection.info.backend_pid

    assert len(set(await asyncio.gather(*(use_connection() for _ in range(4))))) == 4
    used = set()
    for _ in range(8):
        async with world.db.connection() as connection:
            used.add(connection.info.backend_pid)
    assert len(used) == 1


async def test_connections_that_the_server_has_closed_are_not_used(database_url):
    """After a restart of the server, no request fails because of an idle connection."""

    async def backend(db: Database) -> int:
        async with db.connection() as connection:
            row = await (await connection.execute("select pg_backend_pid() from pg_sleep(0.05)")).fetchone()
        assert row
        return row[0]

    async def use_all(db: Database) -> set[int]:
        return set(await asyncio.gather(*(backend(db) for _ in range(db.size))))

    async with open_database(database_url, size=4) as db, open_database(database_url, size=1) as other:
        await db._pool.wait()
        while len(before := await use_all(db)) < db.size:
            await asyncio.sleep(0.01)
        async with other.connection() as connection:
            # With a timeout, it returns when the backend has ended.
            end = "select pg_terminate_backend(pid, 60000) from unnest(%s::int[]) as pid"
            await connection.execute(end, (list(before),))
        after = await use_all(db)
    assert not before & after
