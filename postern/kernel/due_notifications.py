"""Notifications of due rows: from the process whose commit made them due to the workers of all processes."""

import asyncio
from contextlib import suppress
from datetime import timedelta
from typing import LiteralString
from uuid import UUID

from psycopg import OperationalError
from psycopg_pool import PoolTimeout

from postern.kernel.database.statements import Database

CHANNEL: LiteralString = "postern_due"
IDS_PER_NOTIFICATION = 200
"""33 octets each; PostgreSQL limits a notification to 8,000 octets."""
MAX_IDS = 2_000
"""If more partitions of a table have due rows within INTERVAL, the notification does not name them."""


class DueNotifier:
    """Notifies the workers of all processes that a table has due rows, at most once per `INTERVAL`.

    Not at each commit, because a NOTIFY in every commit reduces the commit rate of a busy server to a third.
    """

    INTERVAL = timedelta(milliseconds=50)

    def __init__(self, db: Database) -> None:
        self._db = db
        db.notify_due = self.notify_due
        self._waiting = dict[str, set[UUID] | None]()
        """The tables whose INTERVAL has not passed, with the partitions that have due rows; None if these are not
        known."""
        self._unsent = set[asyncio.Task[None]]()

    def notify_due(self, table: str, partition: UUID | None) -> None:
        """Notify the workers after INTERVAL, once for all calls in that time. `partition` has the due rows (see
        `due.Work.partition_column`); None if that is not known.

        Only `Database` calls this, after a commit; other code calls `tx.mark_due`.
        """
        if table not in self._waiting:
            self._waiting[table] = set()
            task = asyncio.create_task(self._notify(table))
            self._unsent.add(task)
            task.add_done_callback(self._unsent.discard)
        partitions = self._waiting[table]
        if partition is None or (partitions is not None and len(partitions) >= MAX_IDS):
            self._waiting[table] = None
        elif partitions is not None:
            partitions.add(partition)

    async def _notify(self, table: str) -> None:
        try:
            await asyncio.sleep(self.INTERVAL.total_seconds())
        finally:
            partitions = self._waiting.pop(table)
        with suppress(OperationalError, PoolTimeout):  # Workers search from time to time without a notification, too.
            async with self._db.connection() as connection:
                await connection.execute(
                    "select pg_notify(%s, payload) from unnest(%s::text[]) as payload",
                    (CHANNEL, payloads(table, partitions)),
                )

    async def aclose(self) -> None:
        """Wait until the pending notifications are sent; those that fail are dropped."""
        await asyncio.gather(*self._unsent, return_exceptions=True)


def payloads(table: str, partitions: set[UUID] | None) -> list[str]:
    """The notifications of due rows of a table: its name, then the ids of partitions."""
    if partitions is None:
        return [table]
    ids = [partition.hex for partition in sorted(partitions)]
    return [
        " ".join([table, *ids[start : start + IDS_PER_NOTIFICATION]])
        for start in range(0, len(ids), IDS_PER_NOTIFICATION)
    ]


def read_payload(payload: str) -> tuple[str, set[UUID] | None]:
    """The table and the partitions of a notification; None instead of partitions if it does not name them, or if it
    was sent by something else."""
    table, *ids = payload.split()[: 1 + IDS_PER_NOTIFICATION] or [""]
    try:
        return table, {UUID(hex=text) for text in ids} or None
    except ValueError:
        return table, None
