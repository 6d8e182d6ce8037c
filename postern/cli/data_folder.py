"""Find the database that a command works on: that of DATABASE_URL, of a running server, or of the data folder.

Also the files with which `postern serve` tells other commands that it runs: its lock and its state.
"""

import json
import os
import shutil
import sys
from collections.abc import Generator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from postern.cli import CannotRun
from postern.kernel.config import Settings
from postern.kernel.database.embedded import EmbeddedPostgres, FolderInUseError, hold_lock_file

LOCK_FILE = "postern.lock"
"""Locked by `postern serve` as long as it runs."""
STATE_FILE = "running.json"
"""The ServerState of the running server as JSON; deleted when it ends normally."""


@dataclass(frozen=True)
class ServerState:
    """What a running `postern serve` writes to STATE_FILE for the other commands."""

    pid: int
    database_url: str
    base_url: str


@contextmanager
def lock_data_folder(folder: Path) -> Generator[None]:
    """Lock the data folder for `postern serve`. Raises FolderInUseError if another `postern serve` holds the lock."""
    # Other commands hold the lock for a moment to find out whether a server runs, so wait a little.
    with hold_lock_file(folder, LOCK_FILE, wait_seconds=0.3):
        try:
            yield
        finally:
            (folder / STATE_FILE).unlink(missing_ok=True)


def ended_unexpectedly(folder: Path) -> bool:
    """Whether the last `postern serve` on this folder was killed. Call this before `write_server_state`."""
    return (folder / STATE_FILE).exists()


def write_server_state(folder: Path, state: ServerState) -> None:
    """Write STATE_FILE atomically, readable by its owner only, because the database's URL contains the password."""
    unfinished = folder / f"{STATE_FILE}.new"
    unfinished.unlink(missing_ok=True)
    with os.fdopen(os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        json.dump(asdict(state), file)
    unfinished.replace(folder / STATE_FILE)


def find_running_server(folder: Path) -> ServerState | None:
    """Return the state of the `postern serve` that runs on this folder, or None if none does.

    Writes nothing to a folder that no server has ever used. Raises CannotRun while the server is starting.
    """
    if not (folder / LOCK_FILE).exists():
        return None
    try:
        with hold_lock_file(folder, LOCK_FILE):
            return None
    except FolderInUseError:
        pass
    with suppress(OSError, ValueError, TypeError):
        return ServerState(**json.loads((folder / STATE_FILE).read_text()))
    raise CannotRun(f"The server on the data folder {folder} is still starting. Try again in a few seconds.")


def database_url(settings: Settings) -> str:
    """Return DATABASE_URL, or the database of the server on the data folder. Raises CannotRun if there is neither."""
    if settings.database_url:
        return settings.database_url
    if server_state := find_running_server(settings.data):
        print_note(f"Using the server that runs on the data folder {settings.data}.")
        return server_state.database_url
    raise CannotRun(
        f"There is no database: no server runs on the data folder {settings.data}. Set DATABASE_URL, or run "
        "`postern serve`, which starts an embedded database."
    )


@contextmanager
def connect_database(settings: Settings) -> Generator[tuple[str, str]]:
    """Yield the URL of the database and the server's base URL, and print to standard error which database it is.

    The database is that of DATABASE_URL; if that is not set, the one that the running server uses, or else the one in
    the data folder, which is started for this block. Raises CannotRun if there is none: only `postern serve` and
    `postern restore` create a database, so that another command in the wrong folder cannot work on an empty one.
    """
    server_state = find_running_server(settings.data)
    if server_state and settings.database_url in (None, server_state.database_url):
        print_note(f"Using the server that runs on the data folder {settings.data}.")
        yield server_state.database_url, server_state.base_url
        return
    if settings.database_url:
        print_note(f"Using the database of DATABASE_URL, {database_name(settings.database_url)}.")
        yield settings.database_url, settings.public_url
        return
    if not has_embedded_database(settings.data):
        raise CannotRun(
            f"There is no database in the data folder {settings.data}. Set POSTERN_DATA to the folder of your server "
            "(or DATABASE_URL to its database), or run `postern serve`, which creates one."
        )
    print_note(f"Using the database in the data folder {settings.data}; no server runs on it.")
    postgres = EmbeddedPostgres(settings.data)
    try:
        yield postgres.start(), settings.public_url
    finally:
        postgres.stop()


@contextmanager
def restore_database(settings: Settings) -> Generator[str]:
    """Yield the URL of the database to restore into: that of `connect_database`, or a new one in the data folder.

    A new database is created only if the data folder has a master key or POSTERN_SECRET is set; otherwise CannotRun is
    raised. It is removed if the block fails.
    """
    server_state = find_running_server(settings.data)
    if settings.database_url or server_state or has_embedded_database(settings.data):
        with connect_database(settings) as (url, _):
            yield url
        return
    require_master_key(settings)
    print_note(f"Creating a database in the data folder {settings.data}.")
    postgres = EmbeddedPostgres(settings.data)
    try:
        yield postgres.start()
    except BaseException:
        postgres.stop()
        shutil.rmtree(postgres.cluster, ignore_errors=True)
        raise
    finally:
        postgres.stop()


def has_embedded_database(folder: Path) -> bool:
    """Whether the folder contains a database of the embedded PostgreSQL."""
    return (folder / "postgres" / "PG_VERSION").exists()


def has_schema(url: str) -> bool:
    """Whether the database at `url` was ever migrated."""
    import psycopg

    with psycopg.connect(url) as connection:
        row = connection.execute("select to_regclass('schema_migrations') is not null").fetchone()
    return bool(row and row[0])


def require_schema(url: str) -> None:
    """Raise CannotRun if the database was never migrated."""
    if not has_schema(url):
        raise CannotRun("This database is empty: no Postern server has used it. Check DATABASE_URL.")


def require_master_key(settings: Settings) -> None:
    """Raise CannotRun if there is no master key: a newly created one could not decrypt what the database contains."""
    from postern.security.secrets import KEY_FILE

    if not settings.secret and not (settings.data / KEY_FILE).exists():
        raise CannotRun(
            f"There is no master key in the data folder {settings.data}. Set POSTERN_DATA to the folder that has the "
            f"server's {KEY_FILE}, or POSTERN_SECRET to the value that the server has."
        )


def database_name(url: str) -> str:
    """Name and host of a database, without the password that its URL may contain."""
    from psycopg import ProgrammingError
    from psycopg.conninfo import conninfo_to_dict

    try:
        parts = conninfo_to_dict(url)
    except ProgrammingError:
        return "which is not a valid URL"
    return f"{parts.get('dbname') or 'postgres'} on {parts.get('host') or 'this machine'}"


def print_note(sentence: str) -> None:
    """Print a note to standard error, so that standard output has only the command's result."""
    print(sentence, file=sys.stderr, flush=True)


def report_database_error(error: str) -> None:
    """Say why the command waits, for `wait_for_database`."""
    print_note(f"Waiting for the database: {error}")
