"""Where the database of this data folder is, whether a server runs on it or not."""

import json
import os
from collections.abc import Generator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from postern.cli import CannotRun
from postern.kernel.embedded import EmbeddedPostgres, FolderInUseError, hold_folder
from postern.kernel.settings import Settings

LOCK = "postern.lock"
RUNNING = "running.json"


@dataclass(frozen=True)
class Running:
    """What a running `postern serve` tells the other commands."""

    pid: int
    database_url: str
    base_url: str


@contextmanager
def occupy(folder: Path) -> Generator[None]:
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


def announce(folder: Path, running: Running) -> None:
    """Tell the other commands where we are; only the owner can read it."""
    fresh = folder / f"{RUNNING}.new"
    fresh.unlink(missing_ok=True)
    with os.fdopen(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        json.dump(asdict(running), file)
    fresh.replace(folder / RUNNING)


def running_on(folder: Path) -> Running | None:
    """The `postern serve` that has this folder, if one does."""
    try:
        with hold_folder(folder, LOCK):
            return None
    except FolderInUseError:
        pass
    with suppress(OSError, ValueError, TypeError):
        return Running(**json.loads((folder / RUNNING).read_text()))
    raise CannotRun(f"Postern is just starting on {folder}; try again in a moment.")


def database_url(settings: Settings) -> str:
    """The database that is set or running. Raises CannotRun when there is none."""
    if settings.database_url:
        return settings.database_url
    if settings.data.is_dir() and (running := running_on(settings.data)):
        return running.database_url
    raise CannotRun("There is no database: set DATABASE_URL, or run `postern serve`, which brings its own.")


@contextmanager
def reach_database(settings: Settings) -> Generator[tuple[str, str]]:
    """The database and the base URL: the running server's, or an embedded one just for this block."""
    running = running_on(settings.data) if settings.data.is_dir() else None
    if running and settings.database_url in (None, running.database_url):
        yield running.database_url, running.base_url
        return
    if settings.database_url:
        yield settings.database_url, settings.public_url
        return
    server = EmbeddedPostgres(settings.data)
    try:
        yield server.start(), settings.public_url
    finally:
        server.stop()
