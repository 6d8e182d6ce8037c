"""Notifications of due rows."""

import asyncio
from datetime import timedelta

from psycopg import AsyncConnection

from postern.kernel.database.statements import limit_connections
from postern.kernel.due_notifications import CHANNEL, DueNotifier


async def test_closing_waits_for_a_notification_that_has_no_connection_yet(world, database_url, monkeypatch):
    monkeypatch.setattr(DueNotifier, "INTERVAL", timedelta())
    limit = asyncio.Semaphore(0)  # As a pool whose connections are all in use.
    async with await AsyncConnection.connect(database_url, autocommit=True) as listener:
        await listener.execute(f"listen {CHANNEL}")
        notifier = DueNotifier(world.db)
        with limit_connections(limit):
            notifier.notify_due("sends", None)
        while not limit._waiters:
            await asyncio.sleep(0)
        closing = asyncio.create_task(notifier.aclose())
        await asyncio.wait([closing], timeout=0.1)
        assert not closing.done()
        limit.release()
        await closing
        (notice,) = [notification async for notification in listener.notifies(timeout=60, stop_after=1)]
    assert notice.payload == "sends"
