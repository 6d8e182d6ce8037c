"""The schema's history: numbered SQL files, applied in order, each once and forward only.

Any number of processes may try at the same time; an advisory lock lets one through. A release may run
on the schema of the next one, so migrations that this source does not know are no error.
"""

import hashlib
import re
import sys
import time
from dataclasses import dataclass
from datetime import timedelta
from itertools import pairwise
from pathlib import Path

import psycopg
from psycopg import AsyncConnection, Connection
from psycopg.errors import LockNotAvailable

OLDEST_SERVER = 15
LOCK_TIMEOUT = "4s"
"""How long a migration may queue for a table, since everybody else queues behind it."""
TRIES = 5
RECONNECT_SECONDS = 0.25
AT_ONCE = timedelta(0)
LOCK_KEY = 0x706F737465726E
"""Which advisory lock lets one process migrate at a time: `postern` in ASCII."""

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
    """The schema cannot be brought up to date; the message says why."""


@dataclass(frozen=True)
class Migration:
    """One step of the schema."""

    number: int
    name: str
    text: str

    @property
    def checksum(self) -> str:
        """What tells that the file has changed since it was applied."""
        return hashlib.sha256(self.text.encode()).hexdigest()


def migrate(url: str, *, folder: Path | None = None, within: timedelta = AT_ONCE) -> list[str]:
    """Apply what is missing on the database at `url` and return the names of what was applied.

    A database that does not answer yet is waited for, at most `within`.

    Raises MigrationError for an old server, a changed file, a statement that fails or a table that stays
    locked. What was applied before the failure stays applied.
    """
    known = migrations(folder)
    with connect_with_retries(url, within) as connection:
        check_server(connection.info.server_version)
        with connection.transaction():
            connection.execute("select pg_advisory_xact_lock(%s)", [LOCK_KEY])
            connection.execute(TABLE)
        return [migration.name for migration in known if _apply_with_retries(connection, migration)]


def connect_with_retries(url: str, within: timedelta) -> Connection:
    """Connect, waiting for a database that is starting or restarting. Raises OperationalError after `within`.

    libpq tells a refused connection, a server in recovery and a wrong password by words alone, so all are tried again.
    """
    deadline = time.monotonic() + within.total_seconds()
    said = False
    while True:
        try:
            return psycopg.connect(url, autocommit=True)
        except psycopg.OperationalError as error:
            if time.monotonic() >= deadline:
                raise
            if not said:
                said = True
                print(f"Waiting for the database: {str(error).strip()}", file=sys.stderr, flush=True)
        time.sleep(RECONNECT_SECONDS)


async def pending(connection: AsyncConnection, *, folder: Path | None = None) -> list[str]:
    """The names of the migrations that the connected database lacks, in order; empty when it is ready."""
    found = await (await connection.execute(HAS_TABLE)).fetchone()
    rows = await (await connection.execute(APPLIED)).fetchall() if found and found[0] else []
    return _without({number for (number,) in rows}, folder)


def missing(connection: Connection, *, folder: Path | None = None) -> list[str]:
    """`pending`, for a connection that waits."""
    found = connection.execute(HAS_TABLE).fetchone()
    rows = connection.execute(APPLIED).fetchall() if found and found[0] else []
    return _without({number for (number,) in rows}, folder)


def _without(applied: set[int], folder: Path | None) -> list[str]:
    return [migration.name for migration in migrations(folder) if migration.number not in applied]


def migrations(folder: Path | None = None) -> list[Migration]:
    """The migrations of this source tree or installed package, in order."""
    found: list[Migration] = []
    for path in sorted((folder or migrations_folder()).glob("*.sql")):
        named = re.fullmatch(r"(\d{4})_[a-z0-9_]+", path.stem)
        if named is None:
            raise MigrationError(f"{path.name} is not named like 0001_what_it_does.sql.")
        found.append(Migration(int(named[1]), path.stem, path.read_text(encoding="utf-8")))
    for one, next_one in pairwise(found):
        if one.number == next_one.number:
            raise MigrationError(f"{one.name} and {next_one.name} have the same number.")
    return found


def migrations_folder() -> Path:
    """Beside the package in a source tree, inside it in an installed one."""
    package = Path(__file__).resolve().parents[2]
    installed = package / "_migrations"
    return installed if installed.is_dir() else package.parent / "migrations"


def check_server(version: int) -> None:
    """Refuse a PostgreSQL that is too old; `version` is libpq's number, such as 150004."""
    if version < OLDEST_SERVER * 10_000:
        raise MigrationError(
            f"This database is PostgreSQL {version // 10_000}; Postern needs {OLDEST_SERVER} or newer."
        )


def _apply_with_retries(connection: Connection, migration: Migration) -> bool:
    for tried in range(TRIES):
        try:
            return _apply(connection, migration)
        except LockNotAvailable:
            time.sleep(min(2**tried / 4, 2))
        except psycopg.OperationalError:
            raise
        except psycopg.Error as error:
            raise MigrationError(f"{migration.name}{_line(error, migration)}: {error}") from error
    raise MigrationError(f"{migration.name}: a table it needs stayed locked; try again when it is quieter.")


def _apply(connection: Connection, migration: Migration) -> bool:
    """Apply one migration unless it has been, and say whether it was applied now."""
    with connection.transaction():
        connection.execute("select pg_advisory_xact_lock(%s)", [LOCK_KEY])
        found = connection.execute(
            "select checksum from schema_migrations where number = %s", [migration.number]
        ).fetchone()
        if found is not None:
            _compare(migration, found[0])
            return False
        # After the advisory lock, whose wait is as long as another process migrates.
        connection.execute(f"set local lock_timeout = '{LOCK_TIMEOUT}'".encode())
        connection.execute(migration.text.encode())
        connection.execute(
            "insert into schema_migrations (number, name, checksum) values (%s, %s, %s)",
            [migration.number, migration.name, migration.checksum],
        )
    return True


def _compare(migration: Migration, applied: str) -> None:
    if migration.checksum != applied:
        raise MigrationError(
            f"{migration.name} has changed since it was applied to this database. Migrations are forward "
            "only: restore the file and put the change into a new one."
        )


def _line(error: psycopg.Error, migration: Migration) -> str:
    """Where in the file the server stumbled, as ` (line 12)`."""
    position = error.diag.statement_position
    if position is None:
        return ""
    return f" (line {migration.text.count(chr(10), 0, int(position) - 1) + 1})"
