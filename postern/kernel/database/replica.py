"""A read replica of the database: a hot standby that PostgreSQL keeps equal by streaming replication."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import timedelta
from time import monotonic

import structlog
from prometheus_client import Counter
from psycopg import DataError, Error
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
REPLICA_ERRORS = (Error, PoolTimeout)
"""What reading from a replica may raise. The primary then tells whether the replica or the statement was wrong."""
log: structlog.stdlib.BoundLogger = structlog.get_logger(__name__)


@dataclass(frozen=True)
class Position:
    """What a replica must be and have, to be read instead of the primary."""

    history: str
    """Identifies the cluster, the timeline (it changes with a fail-over) and the database."""
    flushed: str
    """Up to where the primary's write-ahead log is on disk: all that was confirmed is before this position."""


class Replica:
    """The connections to the replica, and whether they can be used now."""

    def __init__(self, db: Database, primary: Database) -> None:
        self._db, self._primary = db, primary
        self._paused_until = 0.0
        self._is_paused = False
        self._questions = set[asyncio.Task[str]]()
        """The open questions, also those that nobody waits for any more."""

    async def database(self) -> Database:
        """The replica if it has every change that was committed before this call, or else the primary.

        So whoever reads sees at least what was confirmed to anybody before, by whichever process.
        """
        if monotonic() < self._paused_until:
            return self._primary
        if self._is_paused:
            # Only this request asks; the others read from the primary until it knows more.
            self._paused_until = monotonic() + REPLICA_PAUSE.total_seconds()
        question = asyncio.create_task(self._why_not(await _position(self._primary)))
        self._questions.add(question)
        question.add_done_callback(self._questions.discard)
        # A statement that is cancelled waits for the server for many seconds.
        done, _ = await asyncio.wait({question}, timeout=REPLICA_TIMEOUT.total_seconds())
        if done:
            reason = question.result()
        else:
            question.cancel()
            reason = "no answer"
        if reason:
            self.pause(reason)
            return self._primary
        self._is_paused, self._paused_until = False, 0.0
        return self._db

    def pause(self, reason: str) -> None:
        """Read from the primary for a while."""
        if not self._is_paused:
            log.warning("replica_paused", reason=reason)
        self._is_paused, self._paused_until = True, monotonic() + REPLICA_PAUSE.total_seconds()

    def note_failure(self, error: Exception) -> None:
        """Pause after an error of a statement, unless its values are wrong, which they are on the primary, too."""
        if not isinstance(error, DataError):
            self.pause(str(error).strip() or type(error).__name__)

    async def watch(self, chunks: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
        """The same chunks, which are read from the replica. After a failure it is paused, so that a client that repeats
        the request reads from the primary."""
        try:
            async for chunk in chunks:
                yield chunk
        except REPLICA_ERRORS as error:
            self.note_failure(error)
            raise

    async def _why_not(self, position: Position) -> str:
        """Why the replica cannot be read; empty if it can. Waits until it has `position`, at most CATCH_UP."""
        ends = monotonic() + CATCH_UP.total_seconds()
        while True:
            try:
                history, has = await _replayed(self._db, position.flushed)
            except REPLICA_ERRORS as error:
                return str(error).strip() or type(error).__name__
            if has is None or history != position.history:
                # The URL may lead to another server by now.
                await self._db.reconnect()
                return "not a hot standby" if has is None else "of another database, or of the time before a fail-over"
            if has:
                return ""
            if monotonic() >= ends:
                return "behind"
            await asyncio.sleep(CATCH_UP_INTERVAL.total_seconds())


async def _position(primary: Database) -> Position:
    """What the primary has now."""
    async with primary.connection() as connection:
        cursor = await connection.execute(
            "select s.system_identifier || ' ' || ('x' || left(pg_walfile_name(flushed), 8))::bit(32)::int || ' ' || "
            "(select oid from pg_database where datname = current_database()), flushed::text "
            "from pg_control_system() s, pg_current_wal_flush_lsn() flushed"
        )
        history, flushed = (await cursor.fetchall())[0]
    return Position(history, flushed)


async def _replayed(db: Database, position: str) -> tuple[str, bool | None]:
    """The history of a standby (see Position), and whether it has replayed the write-ahead log up to `position`; None
    if the server is no standby.

    The timeline is the one up to which the standby must replay when it starts, or that of its latest restart point. A
    standby that follows a new primary gets to its timeline by the next of the two.
    """
    query = (
        "select s.system_identifier || ' ' || greatest(c.timeline_id, r.min_recovery_end_timeline) || ' ' || "
        "(select oid from pg_database where datname = current_database()), "
        "case when pg_is_in_recovery() then pg_last_wal_replay_lsn() >= %s::pg_lsn end "
        "from pg_control_system() s, pg_control_checkpoint() c, pg_control_recovery() r"
    )
    async with db.connection() as connection:
        history, has = (await (await connection.execute(query, (position,))).fetchall())[0]
    return history, has
