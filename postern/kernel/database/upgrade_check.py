"""What the pending migrations would do to this database: locks and how long they are held, rows, space on the disk, and
which running processes could not go on.

Durations are estimates from the sizes of the tables, for a database on one disk. They tell seconds from hours.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from psycopg import Connection

from postern.kernel.database.long_migrations import LongMigration, Progress, progress_of
from postern.kernel.database.migration_effects import Blocks, Effect, Work, effects_of
from postern.kernel.database.migrations import (
    MigrationError,
    check_encoding,
    check_server,
    long_migrations_of,
    missing_migrations,
)

BYTES_A_SECOND: dict[Work, int] = {"scan": 200_000_000, "index": 20_000_000, "rewrite": 30_000_000, "rows": 10_000_000}
"""How many bytes of a table are read, indexed, written again, or changed in a second."""
BATCHED_ROWS_A_SECOND = 10_000
"""How many rows a long migration goes through in a second, with its pauses."""
SPACE: dict[Work, float] = {"index": 0.5, "rewrite": 1.0, "rows": 1.0}
"""Space that is needed, as a part of the size of the table."""
NOTICEABLE_SECONDS = 4.0
"""Requests that wait longer than this are a problem; LOCK_TIMEOUT of a migration is as long."""
LONG_TRANSACTION_SECONDS = 60.0
PROCESS_OF_CONNECTION = re.compile(r"postern (\w+) (\S+)(?: - .*)?")
"""The name of a connection (see PROCESS_NAME), to which PgBouncer may add the address of the client."""
POSTGRESQL_PROGRAMS = {"psql", "pg_dump", "pg_restore", "pg_basebackup"}
"""Names of connections that are not those of our processes."""


@dataclass(frozen=True)
class PlannedEffect:
    """What one statement of a pending migration does to this database."""

    description: str
    line: int
    """Line of the file."""
    table: str | None
    blocks: Blocks
    work: Work
    breaks: str
    """Why statements of the previous release would fail; empty if they work."""
    contract: str
    """The release since which nothing uses what is removed."""
    rows: int
    """Rows of the table, by the statistics of PostgreSQL; 0 if none is affected."""
    bytes: int
    """Size of the table without its indexes."""
    seconds: float
    """How long it takes, roughly."""

    @property
    def blocks_noticeably(self) -> bool:
        """Whether requests wait so long that users notice it."""
        return self.blocks != "nothing" and self.seconds > NOTICEABLE_SECONDS


@dataclass(frozen=True)
class PlannedMigration:
    """A pending migration."""

    name: str
    is_long: bool
    """Whether it is executed while all processes serve."""
    needs: list[int]
    """Numbers of long migrations that are finished first."""
    effects: list[PlannedEffect]


@dataclass(frozen=True)
class RunningProcesses:
    """Processes of one kind and release that have connections to the database."""

    process: str
    """`api`, `worker` or `smtp`."""
    release: str
    connections: int


@dataclass(frozen=True)
class SchemaCheck:
    """The state of a database, and what the migrations of this release would do to it."""

    server_version: str
    schema: str
    """The name of the last applied migration; empty if there is none."""
    unknown_migrations: int
    """Applied migrations that this release does not know, because a later release has applied them."""
    database_bytes: int
    pending: list[PlannedMigration]
    unfinished: list[Progress]
    """Long migrations that have begun."""
    processes: list[RunningProcesses]
    unnamed_connections: int
    """Connections of the same user whose names do not say a release, such as those of the first releases."""
    needed_bytes: int
    """Space on the database's disk that the pending migrations need, roughly."""
    problems: list[str]
    """What must be changed or decided before the upgrade."""
    can_go_on: bool
    """Whether the processes that run now may serve while the migrations are applied, and afterwards."""

    @property
    def is_used(self) -> bool:
        """Whether processes are connected, or may be."""
        return bool(self.processes or self.unnamed_connections)


def check_schema(connection: Connection, *, folder: Path | None = None) -> SchemaCheck:
    """Check a database, whose connection must be in autocommit mode. Only reads, and only what any schema has.

    Raises MigrationError if a file is invalid.
    """
    problems: list[str] = []
    try:
        check_server(connection.info.server_version)
        check_encoding(connection.info.parameter_status("server_encoding"))
        missing, applied_names, unknown = missing_migrations(connection, folder=folder)
    except MigrationError as error:
        problems.append(str(error))
        missing, applied_names, unknown = [], [], 0
    pending = [
        PlannedMigration(
            migration.name,
            migration.long is not None,
            migration.needs,
            [_long_effect(connection, long)]
            if (long := migration.long)
            else [_planned(connection, effect) for effect in effects_of(migration.text)],
        )
        for migration in missing
    ]
    # The baseline creates the schema, so that nobody waits for it.
    is_new = not applied_names
    processes, unnamed = _running_processes(connection)

    def must_stop(effect: PlannedEffect) -> bool:
        return bool(effect.breaks and (processes or unnamed)) and not _all_since(effect.contract, processes, unnamed)

    if not is_new:
        problems += [problem for planned in pending for problem in _problems_of(planned, must_stop)]
        if any(effect.blocks != "nothing" for planned in pending for effect in planned.effects):
            problems += _open_transactions(connection)
    row = connection.execute("select pg_database_size(current_database())").fetchone()
    return SchemaCheck(
        server_version=connection.info.parameter_status("server_version") or "",
        schema=applied_names[-1] if applied_names else "",
        unknown_migrations=unknown,
        database_bytes=row[0] if row else 0,
        pending=pending,
        unfinished=[
            progress for progress in progress_of(connection, long_migrations_of(folder)) if not progress.is_finished
        ],
        processes=processes,
        unnamed_connections=unnamed,
        needed_bytes=sum(
            int(effect.bytes * SPACE.get(effect.work, 0)) for planned in pending for effect in planned.effects
        ),
        problems=problems,
        can_go_on=is_new or not any(must_stop(effect) for planned in pending for effect in planned.effects),
    )


def _planned(connection: Connection, effect: Effect) -> PlannedEffect:
    rows, size = (0, 0) if effect.work == "instant" or not effect.table else _size_of(connection, effect.table)
    return PlannedEffect(
        effect.description if effect.is_known else f"executes: {effect.description}",
        effect.line,
        effect.table,
        effect.blocks,
        effect.work,
        effect.breaks,
        effect.contract,
        rows,
        size,
        0.0 if effect.work == "instant" else size / BYTES_A_SECOND[effect.work],
    )


def _long_effect(connection: Connection, long: LongMigration) -> PlannedEffect:
    rows, size = _size_of(connection, long.table)
    if long.index is None:
        description, work, seconds = f"changes rows of {long.table} in batches", "rows", rows / BATCHED_ROWS_A_SECOND
    else:
        # Without blocking writes, PostgreSQL reads the table twice.
        description, work = f"builds the index {long.index} on {long.table} without blocking", "index"
        seconds = 2 * size / BYTES_A_SECOND["index"]
    return PlannedEffect(description, 1, long.table, "nothing", work, "", "", rows, size, seconds)


def _size_of(connection: Connection, table: str) -> tuple[int, int]:
    """The rows of a table by the statistics, and its size in bytes; zeros if it does not exist yet."""
    row = connection.execute(
        "select greatest(reltuples, 0)::bigint, pg_table_size(oid) from pg_class where oid = to_regclass(%s)", [table]
    ).fetchone()
    return (row[0], row[1]) if row else (0, 0)


def _running_processes(connection: Connection) -> tuple[list[RunningProcesses], int]:
    """The processes that are connected, by the names of their connections, and the number of connections that may
    belong to processes of an unknown release.

    Through a pooler, only those are seen whose connections the pooler keeps open.
    """
    rows = connection.execute(
        """
        select application_name, count(*)::int from pg_stat_activity
        where datname = current_database() and usename = current_user and pid <> pg_backend_pid()
            and backend_type = 'client backend'
        group by application_name order by application_name
        """
    ).fetchall()
    matches = [(PROCESS_OF_CONNECTION.fullmatch(name), name, count) for name, count in rows]
    processes = [RunningProcesses(match[1], match[2], count) for match, _, count in matches if match]
    return processes, sum(count for match, name, count in matches if not match and name not in POSTGRESQL_PROGRAMS)


def _problems_of(planned: PlannedMigration, must_stop: Callable[[PlannedEffect], bool]) -> list[str]:
    """Problems of a migration; `must_stop` tells whether running processes would not survive an effect."""
    problems: list[str] = []
    for effect in planned.effects:
        if must_stop(effect):
            since = f"before {effect.contract}" if effect.contract else "of the previous release"
            problems.append(f"{planned.name} {effect.description}: stop all processes {since} first ({effect.breaks}).")
        if effect.blocks_noticeably:
            waiting = "Requests that use" if effect.blocks == "everything" else "Requests that write"
            problems.append(
                f"{planned.name} {effect.description}. {waiting} {effect.table} wait for about "
                f"{effect.seconds:,.0f} s; upgrade when few do."
            )
    return problems


def _all_since(release: str, processes: Sequence[RunningProcesses], unnamed: int) -> bool:
    """Whether all running processes are known, and of `release` or later; False if no release is named."""
    if not release or unnamed:
        return False
    return all(_numbers(other.release) >= _numbers(release) for other in processes)


def _numbers(release: str) -> tuple[int, ...]:
    """The numbers of a release such as `0.2.0rc1`, so that releases can be compared."""
    return tuple(int(number) for number in re.findall(r"\d+", release)[:3])


def _open_transactions(connection: Connection) -> list[str]:
    """Transactions that are open so long that a migration may not get its locks."""
    rows = connection.execute(
        """
        select pid, application_name, extract(epoch from now() - xact_start)::int from pg_stat_activity
        where datname = current_database() and pid <> pg_backend_pid() and backend_type = 'client backend'
            and xact_start < now() - make_interval(secs => %s)
        order by xact_start
        """,
        [LONG_TRANSACTION_SECONDS],
    ).fetchall()
    return [
        f"A transaction of the connection {pid}{f' ({name})' if name else ''} has been open for {seconds:,} s: end it, "
        "or the migrations may wait in vain for its locks."
        for pid, name, seconds in rows
    ]
