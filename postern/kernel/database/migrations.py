"""Schema migrations: numbered SQL files, applied in order, each once, forward only.

Several processes may run them concurrently; an advisory lock serializes them. A release may run on the schema of the
next one, so the database may have migrations that this release does not know. `0100_baseline` is the schema of
the first release; it replaces all earlier migrations.

Long migrations (see `long_migrations`) are only registered, and executed afterwards. A migration that depends on one
has a line `-- needs NUMBER`.
"""

import hashlib
import re
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from itertools import pairwise
from pathlib import Path

import psycopg
from psycopg import AsyncConnection, Connection
from psycopg.errors import LockNotAvailable

from postern.kernel.database import long_migrations
from postern.kernel.database.connections import connect, has_distributed_tables
from postern.kernel.database.long_migrations import PROGRESS_TABLE, LongMigration, LongMigrationInvalid

OLDEST_SERVER = 15
"""The oldest supported major version of PostgreSQL."""
LOCK_TIMEOUT = "4s"
"""How long a migration waits for a table lock before it is retried; meanwhile other queries wait behind it."""
TRIES = 5
"""How often a migration is tried if a table stays locked."""
RECONNECT_SECONDS = 0.25
NO_WAIT = timedelta(0)
LOCK_KEY = 0x706F737465726E
"""The key of the advisory lock that serializes migrations: `postern` in ASCII."""
BASELINE = 100
REPLACED_COUNT, LAST_REPLACED = 46, 81
"""How many migrations the baseline replaces, and the highest number among them."""

TABLE = """
    create table if not exists schema_migrations (
        number integer primary key,
        name text not null,
        checksum text not null,
        applied_at timestamptz not null default now()
    )
"""

HAS_TABLE = "select to_regclass('schema_migrations') is not null"
APPLIED = "select number from schema_migrations"


class MigrationError(Exception):
    """The schema cannot be migrated; the message says why."""


@dataclass(frozen=True)
class Migration:
    """One numbered migration."""

    number: int
    name: str
    text: str

    @property
    def checksum(self) -> str:
        """SHA-256 of the file, to detect changes after it was applied."""
        return hashlib.sha256(self.text.encode()).hexdigest()

    @property
    def long(self) -> LongMigration | None:
        """The long migration, or None if this one is executed in one transaction. Raises MigrationError."""
        try:
            return long_migrations.read_long_migration(self.number, self.name, self.text)
        except LongMigrationInvalid as error:
            raise MigrationError(str(error)) from None

    @property
    def needs(self) -> list[int]:
        """The numbers of the long migrations that must be finished before this one is applied."""
        return [int(number) for number in _NEEDS.findall(self.text)]


_NEEDS = re.compile(r"^-- needs (\d{4})\b", re.MULTILINE)


def migrate(url: str, *, folder: Path | None = None, max_wait: timedelta = NO_WAIT) -> list[str]:
    """Apply the missing migrations of `folder` (default: this release's) to the database at `url`, and return the names
    of those applied.

    Waits at most `max_wait` for a database that does not accept connections yet. Raises MigrationError for an
    unsupported server version or encoding, a schema older than the baseline, a changed file, a failing statement or a
    table that stays locked; psycopg.OperationalError if the database accepts no connection. Migrations applied before
    the failure remain.
    """
    all_migrations = migrations(folder)
    with connect_with_retries(url, max_wait) as connection:
        check_server(connection.info.server_version)
        check_encoding(connection.info.parameter_status("server_encoding"))
        with connection.transaction():
            connection.execute("select pg_advisory_xact_lock(%s)", [LOCK_KEY])
            connection.execute(TABLE)
            connection.execute(PROGRESS_TABLE)
            _adopt_baseline(connection, all_migrations)
            applied = dict(connection.execute("select number, checksum from schema_migrations").fetchall())
        missing = [migration for migration in all_migrations if not _was_applied(migration, applied)]
        names: list[str] = []
        for migration in missing:
            _finish_needed(connection, migration, all_migrations)
            if _apply_with_retries(connection, migration):
                names.append(migration.name)
        return names


def missing_migrations(connection: Connection, *, folder: Path | None = None) -> tuple[list[Migration], list[str], int]:
    """The migrations that `migrate` would apply, the names of those applied, and how many of these are unknown here.

    Only reads. Raises MigrationError if `migrate` would refuse the database.
    """
    all_migrations = migrations(folder)
    has_table = connection.execute(HAS_TABLE).fetchone()
    rows = (
        connection.execute("select number, name, checksum from schema_migrations order by number").fetchall()
        if has_table and has_table[0]
        else []
    )
    applied = {number: checksum for number, _, checksum in rows}
    if any(migration.number == BASELINE for migration in all_migrations):
        _require_complete_baseline(set(applied))
    missing = [migration for migration in all_migrations if not _was_applied(migration, applied)]
    if any(number < BASELINE for number in applied):
        missing = [migration for migration in missing if migration.number != BASELINE]
    known = {migration.number for migration in all_migrations}
    unknown = [number for number in applied if number >= BASELINE and number not in known]
    return missing, [name for _, name, _ in rows], len(unknown)


def connect_with_retries(url: str, max_wait: timedelta) -> Connection:
    """Connect to a database that may be starting or restarting. Raises OperationalError after `max_wait`.

    Every connection error is retried, because libpq distinguishes a refused connection, recovery and a wrong password
    only by the message. The first error is printed to standard error.
    """
    deadline = time.monotonic() + max_wait.total_seconds()
    reported = False
    while True:
        try:
            return connect(url)
        except psycopg.OperationalError as error:
            if time.monotonic() >= deadline:
                raise
            if not reported:
                reported = True
                print(f"Waiting for the database: {str(error).strip()}", file=sys.stderr, flush=True)
        time.sleep(RECONNECT_SECONDS)


async def pending(connection: AsyncConnection, *, folder: Path | None = None) -> list[str]:
    """The names of the missing migrations in order; empty if the schema is up to date."""
    has_table = await (await connection.execute(HAS_TABLE)).fetchone()
    rows = await (await connection.execute(APPLIED)).fetchall() if has_table and has_table[0] else []
    return _unapplied({number for (number,) in rows}, folder)


def pending_sync(connection: Connection, *, folder: Path | None = None) -> list[str]:
    """Like `pending`, on a synchronous connection."""
    has_table = connection.execute(HAS_TABLE).fetchone()
    rows = connection.execute(APPLIED).fetchall() if has_table and has_table[0] else []
    return _unapplied({number for (number,) in rows}, folder)


def _unapplied(applied: set[int], folder: Path | None) -> list[str]:
    return [migration.name for migration in migrations(folder) if migration.number not in applied]


def migrations(folder: Path | None = None) -> list[Migration]:
    """The migrations of `folder`, by default those of this release, in order.

    Raises MigrationError for a file with an invalid name and for a number that occurs twice.
    """
    result: list[Migration] = []
    for path in sorted((folder or migrations_folder()).glob("*.sql")):
        match = re.fullmatch(r"(\d{4})_[a-z0-9_]+", path.stem)
        if match is None:
            raise MigrationError(f"{path.name} must be named like 0001_what_it_does.sql.")
        result.append(Migration(int(match[1]), path.stem, path.read_text(encoding="utf-8")))
    for previous, current in pairwise(result):
        if previous.number == current.number:
            raise MigrationError(f"{previous.name} and {current.name} have the same number.")
    return result


def long_migrations_of(folder: Path | None = None) -> list[LongMigration]:
    """The long ones among `migrations`."""
    return [long for migration in migrations(folder) if (long := migration.long) is not None]


def migrations_folder() -> Path:
    """The folder of the SQL files: beside the package in a source tree, inside it when installed."""
    package = Path(__file__).resolve().parents[2]
    installed = package / "_migrations"
    return installed if installed.is_dir() else package.parent / "migrations"


def check_server(version: int) -> None:
    """Raise MigrationError for an unsupported PostgreSQL; `version` is libpq's number, such as 150004."""
    if version < OLDEST_SERVER * 10_000:
        raise MigrationError(
            f"This database is PostgreSQL {version // 10_000}; Postern needs {OLDEST_SERVER} or newer."
        )


def check_encoding(encoding: str | None) -> None:
    """Raise MigrationError for a database that cannot store all text, such as one made without a locale."""
    if encoding != "UTF8":
        raise MigrationError(
            f"This database has the encoding {encoding}; Postern needs UTF8. Create another one: "
            "create database postern encoding 'UTF8' locale 'C' template template0"
        )


def _adopt_baseline(connection: Connection, all_migrations: list[Migration]) -> None:
    """Record the baseline as applied in a database that has every migration it replaces. Raises MigrationError if the
    database has only some of them."""
    baseline = next((migration for migration in all_migrations if migration.number == BASELINE), None)
    applied = {number for (number,) in connection.execute(APPLIED).fetchall()}
    if baseline is None or BASELINE in applied or not any(number < BASELINE for number in applied):
        return
    _require_complete_baseline(applied)
    _record(connection, baseline)


def _require_complete_baseline(applied: set[int]) -> None:
    """Raise MigrationError if only some of the migrations that the baseline replaces were applied."""
    replaced = {number for number in applied if number < BASELINE}
    if replaced and BASELINE not in applied and (len(replaced) != REPLACED_COUNT or max(replaced) != LAST_REPLACED):
        raise MigrationError(
            f"This database has the schema of a development version before 0.1.0, with {len(replaced)} of its "
            f"{REPLACED_COUNT} migrations. Run `postern migrate` of a version that has those up to {LAST_REPLACED:04} "
            "first."
        )


def _record(connection: Connection, migration: Migration) -> None:
    connection.execute(
        "insert into schema_migrations (number, name, checksum) values (%s, %s, %s)",
        [migration.number, migration.name, migration.checksum],
    )


def _was_applied(migration: Migration, checksums: Mapping[int, str]) -> bool:
    """Whether the number is among the applied ones. Raises MigrationError if the file has changed since then."""
    checksum = checksums.get(migration.number)
    if checksum is not None:
        _require_same_checksum(migration, checksum)
    return checksum is not None


def _finish_needed(connection: Connection, migration: Migration, all_migrations: list[Migration]) -> None:
    """Finish the long migrations that `migration` needs. Raises MigrationError if another process executes them."""
    needed = [other.long for other in all_migrations if other.number in migration.needs]
    for long in needed:
        assert long is not None, f"{migration.name} needs a migration that is not a long one"
        if all(progress.is_finished for progress in long_migrations.progress_of(connection, [long])):
            continue
        if not long_migrations.try_lock(connection):
            raise MigrationError(
                f"{migration.name} needs {long.name}, which another process is executing. `postern upgrade --check` "
                "shows how far it is; migrate again when it has finished."
            )
        print(f"{migration.name} needs {long.name}, which is finished first.", file=sys.stderr, flush=True)
        try:
            for _ in long_migrations.execute(connection, long):
                pass
        except psycopg.OperationalError:
            raise
        except psycopg.Error as error:
            raise MigrationError(f"{long.name}: {error}") from error


def _apply_with_retries(connection: Connection, migration: Migration) -> bool:
    for attempt in range(TRIES):
        try:
            return _apply(connection, migration)
        except LockNotAvailable:
            time.sleep(min(2**attempt / 4, 2))
        except psycopg.OperationalError:
            raise
        except psycopg.Error as error:
            line = "" if has_distributed_tables(connection) else _line_of(error, migration)
            raise MigrationError(f"{migration.name}{line}: {error}") from error
    raise MigrationError(
        f"{migration.name}: a table it needs stayed locked; run the migration again when fewer queries use it."
    )


def _apply(connection: Connection, migration: Migration) -> bool:
    """Apply a migration in a transaction of its own, or register it there if it is a long one. Returns False if another
    process has done so meanwhile.

    Raises MigrationError if that process had another file.
    """
    long = migration.long
    with connection.transaction():
        connection.execute("select pg_advisory_xact_lock(%s)", [LOCK_KEY])
        row = connection.execute(
            "select checksum from schema_migrations where number = %s", [migration.number]
        ).fetchone()
        if row is not None:
            _require_same_checksum(migration, row[0])
            return False
        # Set after taking the advisory lock, which may wait for another process's migrations.
        connection.execute(f"set local lock_timeout = '{LOCK_TIMEOUT}'".encode())
        is_distributed = has_distributed_tables(connection)
        if is_distributed:
            # A function and the table of its trigger must use the same connections to the other servers. Citus cannot
            # check that a trigger changes only the rows of its tenant; ours do.
            connection.execute("set local citus.multi_shard_modify_mode = sequential")
            connection.execute("set local citus.enable_unsafe_triggers = on")
        if long is None:
            for statement in _statements(migration, is_distributed=is_distributed):
                connection.execute(statement.encode())
        else:
            long_migrations.register(connection, long)
        _record(connection, migration)
    return True


def _statements(migration: Migration, *, is_distributed: bool) -> list[str]:
    """What to execute one after the other. Citus sends other servers the whole text in which a statement was, and they
    accept only one statement at a time."""
    if not is_distributed:
        return [migration.text]
    from postern.kernel.database.migration_effects import split_statements

    return [statement.text for statement in split_statements(migration.text)]


def _require_same_checksum(migration: Migration, applied_checksum: str) -> None:
    if migration.checksum != applied_checksum:
        raise MigrationError(
            f"{migration.name} has changed since it was applied to this database. Migrations are forward "
            "only: restore the file and put the change into a new one."
        )


def _line_of(error: psycopg.Error, migration: Migration) -> str:
    """The line of the error in the file, such as ` (line 12)`."""
    position = error.diag.statement_position
    if position is None:
        return ""
    return f" (line {migration.text.count(chr(10), 0, int(position) - 1) + 1})"
