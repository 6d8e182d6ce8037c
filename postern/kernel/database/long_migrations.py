"""Migrations that take long: they change many rows in batches, or build an index without blocking writes.

`migrate` only registers such a migration, unless the table is small. Then one process at a time executes it while
all others serve: `postern upgrade`, or a worker. Each batch is a short transaction that also stores how far it is. So
whoever executes it can be stopped or killed at any time, and the next one goes on where it ended.

The file begins with a line that names the table, and for rows its primary key; in the statement, `{rows}` stands for
the condition that selects the rows of a batch:

    -- long migration: rows of contacts (project_id, id)
    update contacts set email_key = lower(email) where {rows} and email_key is null;

    -- long migration: index on contacts
    create index concurrently contacts_created on contacts (project_id, created_at);
"""

import asyncio
import re
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from typing import TypeVar

from psycopg import Connection, Error, OperationalError
from psycopg.errors import DeadlockDetected, LockNotAvailable
from psycopg.sql import SQL, Composed, Identifier, Literal

from postern.kernel.database.connections import connect

BATCH_ROWS = 1_000
"""Rows of the table, by its primary key, that a batch covers."""
BATCH_LOCK_TIMEOUT = "4s"
"""How long a batch waits for the lock of a row before it is tried again."""
SMALL_TABLE_BYTES = 8_000_000
"""An index on a table of at most this size is built at once, when the migration is applied."""
EXECUTION_LOCK_KEY = 0x706F737465726C
"""The key of the advisory lock of the process that executes long migrations."""
BUSY_ERRORS = (LockNotAvailable, DeadlockDetected)
"""Errors of a batch, or of an index, that is tried again: other statements use the same rows."""
RETRY_PAUSE = timedelta(seconds=1)
LONGEST_PAUSE = timedelta(seconds=1)
"""After a batch, the process that executes a migration pauses as long as the batch took, but not longer than this: so
the migration takes at most half of what a connection can get from the database."""

T = TypeVar("T")

PROGRESS_TABLE = """
    create table if not exists migration_progress (
        number integer primary key,
        key jsonb,
        rows_done bigint not null default 0,
        rows_total bigint not null,
        started_at timestamptz not null default now(),
        updated_at timestamptz not null default now(),
        finished_at timestamptz
    )
"""
"""`key` is the primary key of the last row of the last batch, as an array of texts. `rows_total` is an estimate."""

_DIRECTIVE = re.compile(
    r"^-- long migration: (?:rows of (?P<table>\w+) \((?P<key>\w+(?:, \w+)*)\)|index on (?P<indexed>\w+))$",
    re.MULTILINE,
)
_INDEX = re.compile(r"\bcreate (?:unique )?index concurrently (\w+) on (\w+)", re.IGNORECASE)


class LongMigrationInvalid(ValueError):
    """The file of a long migration does not have the required form; the message says why."""


@dataclass(frozen=True)
class LongMigration:
    """A migration that is executed while the server works."""

    number: int
    name: str
    text: str
    table: str
    key: tuple[str, ...]
    """The columns of the primary key; empty for an index."""
    index: str | None
    """The name of the index; None for rows."""


@dataclass(frozen=True)
class Progress:
    """How far a long migration is."""

    name: str
    rows_done: int
    rows_total: int
    """An estimate: rows may be added and deleted meanwhile."""
    is_finished: bool

    @property
    def fraction(self) -> float:
        """From 0 to 1; 1 only if it is finished."""
        return 1.0 if self.is_finished else min(0.99, self.rows_done / max(1, self.rows_total))


def read_long_migration(number: int, name: str, text: str) -> LongMigration | None:
    """The long migration in a file, or None if the file is an ordinary migration. Raises LongMigrationInvalid."""
    directive = _DIRECTIVE.search(text)
    if directive is None:
        if "-- long migration" in text or "{rows}" in text:
            raise LongMigrationInvalid(
                f"{name}: expected `-- long migration: rows of TABLE (KEY)` or `-- long migration: index on TABLE`."
            )
        return None
    sql = re.sub(r"--[^\n]*", "", text).strip()
    if ";" in sql.removesuffix(";"):
        raise LongMigrationInvalid(f"{name}: a long migration is one statement.")
    if directive["indexed"]:
        created = _INDEX.search(sql)
        if created is None or created[2] != directive["indexed"]:
            raise LongMigrationInvalid(f"{name}: expected `create index concurrently NAME on {directive['indexed']}`.")
        return LongMigration(number, name, sql, directive["indexed"], (), created[1])
    if sql.count("{rows}") != 1:
        raise LongMigrationInvalid(f"{name}: the statement must contain the condition {{rows}} once.")
    return LongMigration(number, name, sql, directive["table"], tuple(directive["key"].split(", ")), None)


def register(connection: Connection, migration: LongMigration) -> None:
    """Store that the migration has begun, and execute it at once if its table is small. Must run in a transaction."""
    connection.execute(
        "insert into migration_progress (number, rows_total) values (%s, %s)",
        [migration.number, _estimated_rows(connection, migration.table)],
    )
    if migration.index is None:
        _run_batch(connection, migration)
    elif _size(connection, migration.table) <= SMALL_TABLE_BYTES:
        connection.execute(_without_concurrently(migration.text))
        _finish(connection, migration)


def progress_of(connection: Connection, migrations: Sequence[LongMigration]) -> list[Progress]:
    """How far the registered ones among `migrations` are, in their order."""
    row = connection.execute("select to_regclass('migration_progress') is not null").fetchone()
    if not (row and row[0]):
        return []
    rows = connection.execute(
        "select number, rows_done, rows_total, finished_at is not null from migration_progress"
    ).fetchall()
    stored = {number: values for number, *values in rows}
    return [
        Progress(migration.name, *stored[migration.number]) for migration in migrations if migration.number in stored
    ]


def try_lock(connection: Connection) -> bool:
    """Become the process that executes long migrations, until the connection is closed. Returns False if there is one.

    The lock belongs to the session, so the connection must not go through a pooler.
    """
    row = connection.execute("select pg_try_advisory_lock(%s)", [EXECUTION_LOCK_KEY]).fetchone()
    return bool(row and row[0])


def execute(connection: Connection, migration: LongMigration) -> Iterator[Progress]:
    """Execute a registered migration from where it ended, and yield its progress after each step.

    The connection must be in autocommit mode and must have the lock of `try_lock`. A step that meets the locks of other
    statements is tried again after RETRY_PAUSE. May be stopped after each step, and also by an error or a kill within
    one. Raises psycopg.Error if the statement fails.
    """
    while True:
        [progress] = progress_of(connection, [migration])
        yield progress
        if progress.is_finished:
            return
        try:
            if migration.index is None:
                with connection.transaction():
                    connection.execute(f"set local lock_timeout = '{BATCH_LOCK_TIMEOUT}'".encode())
                    _run_batch(connection, migration)
            else:
                _build_index(connection, migration, migration.index)
        except BUSY_ERRORS:
            time.sleep(RETRY_PAUSE.total_seconds())


async def execute_unfinished(
    url: str, migrations: Sequence[LongMigration], report: Callable[[Progress], None], *, name: str | None = None
) -> bool:
    """Execute those of `migrations` that are registered and not finished, and report the progress of each after each
    step. Returns False without executing anything if another process does.

    `url` must not be that of a pooler; the database shows `name` beside the connection. If the task is cancelled, the
    running statement is, too, and nothing is lost but its batch. If the statement of a migration fails, the others are
    executed before its psycopg.Error is raised. Raises OperationalError at once if the database does not respond.
    """
    connection = await asyncio.to_thread(connect, url, name=name)
    failure: Error | None = None
    try:
        if not await _in_thread(connection, lambda: try_lock(connection)):
            return False
        try:
            for progress in await _in_thread(connection, lambda: progress_of(connection, migrations)):
                if not progress.is_finished:
                    [migration] = [migration for migration in migrations if migration.name == progress.name]
                    try:
                        await _execute_with_pauses(connection, migration, report)
                    except OperationalError:
                        raise
                    except Error as error:
                        failure = failure or error
        finally:
            await asyncio.to_thread(_unlock, connection)
    finally:
        connection.close()
    if failure:
        raise failure
    return True


def _unlock(connection: Connection) -> None:
    """Release the lock of `try_lock` at once: the server notices the end of a connection a little later."""
    with suppress(Error):
        connection.execute("select pg_advisory_unlock(%s)", [EXECUTION_LOCK_KEY])


async def _execute_with_pauses(
    connection: Connection, migration: LongMigration, report: Callable[[Progress], None]
) -> None:
    steps = execute(connection, migration)
    while True:
        began_at = time.monotonic()
        progress = await _in_thread(connection, lambda: next(steps, None))
        if progress is None:
            return
        report(progress)
        await asyncio.sleep(min(time.monotonic() - began_at, LONGEST_PAUSE.total_seconds()))


async def _in_thread(connection: Connection, call: Callable[[], T]) -> T:
    """Call a function that uses the connection in a thread. If this task is cancelled, cancel its statement, and wait
    until the function has ended."""
    running = asyncio.ensure_future(asyncio.to_thread(call))
    try:
        return await asyncio.shield(running)
    except asyncio.CancelledError:
        connection.cancel()
        await asyncio.wait([running])
        raise


def _run_batch(connection: Connection, migration: LongMigration) -> None:
    """Execute the statement on the next BATCH_ROWS rows and store the key of the last one, in the open transaction."""
    row = connection.execute(
        "select key from migration_progress where number = %s for update", [migration.number]
    ).fetchone()
    assert row is not None, f"{migration.name} is not registered"
    key = Composed([SQL("("), SQL(", ").join(map(Identifier, migration.key)), SQL(")")])
    after = SQL("true") if row[0] is None else SQL("{} > {}").format(key, _row_of(row[0]))
    last = connection.execute(
        SQL("select {columns} from {table} where {after} order by {order} offset {offset} limit 1").format(
            columns=SQL(", ").join(SQL("{}::text").format(Identifier(column)) for column in migration.key),
            table=Identifier(migration.table),
            after=after,
            order=SQL(", ").join(map(Identifier, migration.key)),
            offset=Literal(BATCH_ROWS - 1),
        )
    ).fetchone()
    condition = after if last is None else SQL("{} and {} <= {}").format(after, key, _row_of(last))
    connection.execute(migration.text.replace("{rows}", condition.as_string(connection)).encode())
    if last is None:
        _finish(connection, migration)
        return
    connection.execute(
        "update migration_progress set key = to_jsonb(%s::text[]), rows_done = rows_done + %s, updated_at = now()"
        " where number = %s",
        [list(last), BATCH_ROWS, migration.number],
    )


def _row_of(values: list[str] | tuple[str, ...]) -> Composed:
    """A row of literals, which take the types of the columns that they are compared with."""
    return Composed([SQL("("), SQL(", ").join(map(Literal, values)), SQL(")")])


def _build_index(connection: Connection, migration: LongMigration, index: str) -> None:
    """Build the index without blocking writes, and collect the statistics of its expressions, which plans need. One
    that an earlier attempt has left incomplete is dropped first."""
    row = connection.execute("select indisvalid from pg_index where indexrelid = to_regclass(%s)", [index]).fetchone()
    if row is not None and not row[0]:
        connection.execute(SQL("drop index concurrently {}").format(Identifier(index)))
    if row is None or not row[0]:
        connection.execute(migration.text.encode())
    connection.execute(SQL("analyze {}").format(Identifier(migration.table)))
    _finish(connection, migration)


def _finish(connection: Connection, migration: LongMigration) -> None:
    connection.execute(
        "update migration_progress set finished_at = now(), updated_at = now(),"
        " rows_done = greatest(rows_done, rows_total) where number = %s",
        [migration.number],
    )


def _without_concurrently(text: str) -> bytes:
    return re.sub(r"\bindex concurrently\b", "index", text, count=1, flags=re.IGNORECASE).encode()


def _estimated_rows(connection: Connection, table: str) -> int:
    """The number of rows by the statistics of PostgreSQL; counted if there are none, as in a new or small table."""
    row = connection.execute("select reltuples from pg_class where oid = to_regclass(%s)", [table]).fetchone()
    if row is not None and row[0] > 0:
        return int(row[0])
    counted = connection.execute(SQL("select count(*) from {}").format(Identifier(table))).fetchone()
    return counted[0] if counted else 0


def _size(connection: Connection, table: str) -> int:
    row = connection.execute("select pg_relation_size(to_regclass(%s))", [table]).fetchone()
    return row[0] if row and row[0] is not None else 0
