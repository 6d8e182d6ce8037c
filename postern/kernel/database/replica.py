"""A read replica of the database: a hot standby that PostgreSQL keeps equal by streaming replication."""

import asyncio
from datetime import timedelta
from time import monotonic

import structlog
from prometheus_client import Counter
from psycopg import Error
from psycopg_pool import PoolTimeout

from postern.kernel.database.statements import Database

CATCH_UP = timedelta(milliseconds=100)
"""How long a request waits until the replica has all that the primary had when the request began."""
CATCH_UP_INTERVAL = timedelta(milliseconds=5)
REPLICA_TIMEOUT = timedelta(milliseconds=500)
"""How long a request waits for the replica to answer, before it reads from the primary."""
REPLICA_PAUSE = timedelta(seconds=5)
"""How long no request asks a replica that did not answer, or that is behind."""
READS = Counter(
    "postern_replica_reads_total", "Requests that may be answered from the replica, by where they read.", ["database"]
)
FROM_REPLICA, FROM_PRIMARY = READS.labels("replica"), READS.labels("primary")
log: structlog.stdlib.BoundLogger = structlog.get_logger(__name__)


class Replica:
    """The connections to the replica, and whether they can be used now."""

    def __init__(self, db: Database, primary: Database) -> None:
        self._db, self._primary = db, primary
        self._paused_until = 0.0

    async def database(self) -> Database:
        """The replica if it has every change that was committed before this call, or else the primary.

        So whoever reads sees at least what was confirmed to anybody before, by whichever process.
        """
        if monotonic() >= self._paused_until:
            flushed = await _flushed_position(self._primary)
            if await self._has(flushed):
                FROM_REPLICA.inc()
                return self._db
        FROM_PRIMARY.inc()
        return self._primary

    def pause(self, reason: str) -> None:
        """Read from the primary for a while."""
        self._paused_until = monotonic() + REPLICA_PAUSE.total_seconds()
        log.warning("replica_paused", reason=reason)

    async def _has(self, position: str) -> bool:
        """Wait until the replica has the write-ahead log up to `position`, at most CATCH_UP."""
        try:
            async with asyncio.timeout(REPLICA_TIMEOUT.total_seconds()):
                ends = monotonic() + CATCH_UP.total_seconds()
                has = await _has_replayed(self._db, position)
                while has is False and monotonic() < ends:
                    await asyncio.sleep(CATCH_UP_INTERVAL.total_seconds())
                    has = await _has_replayed(self._db, position)
        except (Error, PoolTimeout, TimeoutError) as error:
            self.pause(str(error).strip() or "no answer")
            return False
        if not has:
            self.pause("behind" if has is False else "not a hot standby")
        return bool(has)


async def _flushed_position(db: Database) -> str:
    """Up to where the primary's write-ahead log is on disk: all that was confirmed is before this position."""
    async with db.connection() as connection:
        rows = await (await connection.execute("select pg_current_wal_flush_lsn()::text")).fetchall()
    return rows[0][0]


async def _has_replayed(db: Database, position: str) -> bool | None:
    """Whether a standby has replayed the write-ahead log up to `position`; None if the server is no standby."""
    query = "select case when pg_is_in_recovery() then pg_last_wal_replay_lsn() >= %s::pg_lsn end"
    async with db.connection() as connection:
        rows = await (await connection.execute(query, (position,))).fetchall()
    return rows[0][0]
