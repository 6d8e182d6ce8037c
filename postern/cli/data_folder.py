"""Where the database of this data folder is, whether a server runs on it or not."""

import json
import os
import shutil
import sys
from collections.abc import Generator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path

import psycopg
from psycopg import ProgrammingError
from psycopg.conninfo import conninfo_to_dict

from postern.cli import CannotRun
from postern.kernel.config import Settings
from postern.kernel.database.embedded import EmbeddedPostgres, FolderInUseError, hold_folder
from postern.security.secrets import KEY_FILE

LOCK = "postern.lock"
RUNNING = "running.json"


@dataclass(frozen=True)
class ServerState:
    """What a running `postern serve` tells the other commands."""

    pid: int
    database_url: str
    base_url: str


@contextmanager
def lock_data_folder(folder: Path) -> Generator[None]:
    """Have the data folder to ourselves. Raises FolderInUseError when another `postern serve` has it."""
    # The others look whether this lock is free by taking it for an instant.
    with hold_folder(folder, LOCK, patience_seconds=0.3):
        try:
            yield
        finally:
            (folder / RUNNING).unlink(missing_ok=True)


def ended_unexpectedly(folder: Path) -> bool:
    """Whether the last `postern serve` on this folder was killed; ask before `announce`."""
    return (folder / RUNNING).exists()


def announce(folder: Path, running: ServerState) -> None:
    """Tell the other commands where we are; only the owner can read it."""
    fresh = folder / f"{RUNNING}.new"
    fresh.unlink(missing_ok=True)
    with os.fdopen(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        json.dump(asdict(running), file)
    fresh.replace(folder / RUNNING)


def running_on(folder: Path) -> ServerState | None:
    """The `postern serve` that has this folder, if one does. Nothing is written to a folder that none ever had."""
    if not (folder / LOCK).exists():
        return None
    try:
        with hold_folder(folder, LOCK):
            return None
    except FolderInUseError:
        pass
    with suppress(OSError, ValueError, TypeError):
        return ServerState(**json.loads((folder / RUNNING).read_text()))
    raise CannotRun(f"Postern is just starting on {folder}; try again in a moment.")


def database_url(settings: Settings) -> str:
    """The database that is set or running. Raises CannotRun when there is none."""
    if settings.database_url:
        return settings.database_url
    if running := running_on(settings.data):
        print_note(f"Using the server that runs on the data folder {settings.data}.")
        return running.database_url
    raise CannotRun(
        f"There is no database: no server runs on the data folder {settings.data}. Set DATABASE_URL, or run "
        "`postern serve`, which brings its own."
    )


@contextmanager
def connect_database(settings: Settings) -> Generator[tuple[str, str]]:
    """The database and the base URL: the running server's, or the data folder's, started just for this block.

    Says on standard error which one it is. Raises CannotRun where there is none: only `postern serve` makes one, so
    that a command in the wrong folder cannot work on an empty database.
    """
    running = running_on(settings.data)
    if running and settings.database_url in (None, running.database_url):
        print_note(f"Using the server that runs on the data folder {settings.data}.")
        yield running.database_url, running.base_url
        return
    if settings.database_url:
        print_note(f"Using the database of DATABASE_URL, {database_name(settings.database_url)}.")
        yield settings.database_url, settings.public_url
        return
    if not holds_database(settings.data):
        raise CannotRun(
            f"There is no database in the data folder {settings.data}. Set POSTERN_DATA to the folder of your server "
            "(or DATABASE_URL to its database), or run `postern serve`, which makes one."
        )
    print_note(f"Using the database in the data folder {settings.data}; no server runs on it.")
    server = EmbeddedPostgres(settings.data)
    try:
        yield server.start(), settings.public_url
    finally:
        server.stop()


@contextmanager
def restore_database(settings: Settings) -> Generator[str]:
    """A database to restore a backup into: that of DATABASE_URL, or a new one in the data folder.

    A new one is made only beside a master key, which whoever restores has put there (or set as POSTERN_SECRET), and is
    removed again if the block fails. Raises CannotRun without that key, or where the folder has a database.
    """
    running = running_on(settings.data)
    if settings.database_url or running or holds_database(settings.data):
        with connect_database(settings) as (url, _):
            yield url
        return
    require_master_key(settings)
    print_note(f"Making a database in the data folder {settings.data}.")
    server = EmbeddedPostgres(settings.data)
    try:
        yield server.start()
    except BaseException:
        server.stop()
        shutil.rmtree(server.cluster, ignore_errors=True)
        raise
    finally:
        server.stop()


def holds_database(folder: Path) -> bool:
    """Whether the embedded server has made a database in this folder."""
    return (folder / "postgres" / "PG_VERSION").exists()


def has_schema(url: str) -> bool:
    """Whether the database at `url` was ever migrated."""
    with psycopg.connect(url) as connection:
        found = connection.execute("select to_regclass('schema_migrations') is not null").fetchone()
    return bool(found and found[0])


def require_schema(url: str) -> None:
    """Refuse a database that has nothing of ours. Raises CannotRun."""
    if not has_schema(url):
        raise CannotRun("This database is empty: no server of Postern has used it. Look at DATABASE_URL.")


def require_master_key(settings: Settings) -> None:
    """Refuse to go on without the key of the server. Raises CannotRun; a new key would fit no database."""
    if not settings.secret and not (settings.data / KEY_FILE).exists():
        raise CannotRun(
            f"There is no master key in the data folder {settings.data}. Set POSTERN_DATA to the folder that has the "
            f"server's {KEY_FILE}, or POSTERN_SECRET as it is set for the server."
        )


def database_name(url: str) -> str:
    """Host and name of a database, without the password that its URL may have."""
    try:
        parts = conninfo_to_dict(url)
    except ProgrammingError:
        return "which cannot be read"
    return f"{parts.get('dbname') or 'postgres'} on {parts.get('host') or 'this machine'}"


def print_note(sentence: str) -> None:
    """Say something to the person at the terminal, apart from what the command prints for programs."""
    print(sentence, file=sys.stderr, flush=True)
