"""Schema migrations: numbered SQL files, applied in order, each once, forward only.

Several processes may run them concurrently; an advisory lock serializes them. A release may run on the schema of the
next one, so the database may have migrations that this release does not know. `0100_baseline` is the schema of
the first release; it replaces all earlier migrations.
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

from postern.kernel.database.connections import connect

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
            _adopt_baseline(connection, all_migrations)
            applied = dict(connection.execute("select number, checksum from schema_migrations").fetchall())
        missing = [migration for migration in all_migrations if not _was_applied(migration, applied)]
        return [migration.name for migration in missing if _apply_with_retries(connection, migration)]


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
    replaced = {number for number in applied if number < BASELINE}
    if baseline is None or not replaced or BASELINE in applied:
        return
    if len(replaced) != REPLACED_COUNT or max(replaced) != LAST_REPLACED:
        raise MigrationError(
            f"This database has the schema of a development version before 0.1.0, with {len(replaced)} of its "
            f"{REPLACED_COUNT} migrations. Run `postern migrate` of a version that has those up to {LAST_REPLACED:04} "
            "first."
        )
    _record(connection, baseline)


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


def _apply_with_retries(connection: Connection, migration: Migration) -> bool:
    for attempt in range(TRIES):
        try:
            return _apply(connection, migration)
        except LockNotAvailable:
            time.sleep(min(2**attempt / 4, 2))
        except psycopg.OperationalError:
            raise
        except psycopg.Error as error:
            raise MigrationError(f"{migration.name}{_line_of(error, migration)}: {error}") from error
    raise MigrationError(
        f"{migration.name}: a table it needs stayed locked; run the migration again when fewer queries use it."
    )


def _apply(connection: Connection, migration: Migration) -> bool:
    """Apply a migration in a transaction of its own. Returns False if another process has applied it meanwhile.

    Raises MigrationError if that process had another file.
    """
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
        connection.execute(migration.text.encode())
        _record(connection, migration)
    return True


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
