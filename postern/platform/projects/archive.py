"""The archive: Parquet files of records that are deleted because their project keeps them no longer.

A file has one batch of one project, or the part of it that is of one month. It is in the archive, with its content on
the disk, before its records are deleted, so nothing is lost if a process is killed; the next one writes the file again,
perhaps with more records and another name. A record can therefore be in two files, which its id tells.
"""

import asyncio
import os
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import UUID

from postern.kernel.values import Moment, Record

if TYPE_CHECKING:
    from postern.world import World

S3 = "s3://"
TIMEOUT = timedelta(seconds=30)
"""Of a request to the object store."""
MEMORY = "256MB"
"""Maximum memory for writing a file."""


class ArchiveFailed(Exception):
    """A file cannot be written; the message says why."""


@dataclass(frozen=True)
class ArchivedTable:
    """A table of the archive."""

    name: str
    columns: Mapping[str, str]
    """The types of the columns, by their names, as DuckDB calls them."""


class ArchivedRow(Record):
    """A row of an archived table."""

    id: UUID
    at: Moment
    """The time that determines in which month it is filed."""
    document: str
    """The values of the columns: a JSON object."""


class Archive:
    """The archive of an instance: `POSTERN_ARCHIVE`."""

    def __init__(self, world: "World") -> None:
        self.place = world.settings.archive
        """A folder, or the URL of a bucket with a prefix; None if there is no archive."""
        self.endpoint = world.settings.archive_endpoint

    async def aclose(self) -> None:
        """Nothing is kept open between files."""

    async def write(self, table: ArchivedTable, project_id: UUID, rows: Sequence[ArchivedRow]) -> None:
        """Store the rows of a project, in order of their ids, as a file for each month. Raises ArchiveFailed."""
        if not self.place:
            raise ArchiveFailed("POSTERN_ARCHIVE is not set.")
        for month, of_month in groupby(rows, key=lambda row: f"{row.at:%Y-%m}"):
            await self._write_month(table, f"{table.name}/project={project_id}/month={month}", list(of_month))

    async def _write_month(self, table: ArchivedTable, folder: str, rows: Sequence[ArchivedRow]) -> None:
        path = f"{folder}/{rows[0].id}_{rows[-1].id}.parquet"
        content = await asyncio.to_thread(_parquet, table, rows)
        assert self.place
        if self.place.startswith(S3):
            await _put(self.place, self.endpoint, path, content)
        else:
            await asyncio.to_thread(_write_file, Path(self.place, path), content)


def _parquet(table: ArchivedTable, rows: Sequence[ArchivedRow]) -> bytes:
    """The content of a file with the rows."""
    import duckdb  # Large, and needed by workers with an archive only.

    # No extension is downloaded: JSON and Parquet are built in.
    config: dict[str, str | bool | int | float | list[str]] = {
        "threads": 1,
        "memory_limit": MEMORY,
        "autoinstall_known_extensions": False,
        "autoload_known_extensions": False,
    }
    with tempfile.TemporaryDirectory(prefix="archive-") as folder:
        source, target = Path(folder, "rows.json"), Path(folder, "rows.parquet")
        source.write_text("\n".join(row.document for row in rows) + "\n")
        try:
            with duckdb.connect(":memory:", config=config) as connection:
                rows_of_file = connection.read_json(
                    str(source), format="newline_delimited", columns=dict(table.columns)
                )
                rows_of_file.write_parquet(str(target), compression="zstd")
        except duckdb.Error as error:
            raise ArchiveFailed(f"The file of {table.name} cannot be made: {error}") from error
        return target.read_bytes()


def _write_file(path: Path, content: bytes) -> None:
    """Write a file completely or not at all, and wait until it is on the disk."""
    unfinished = path.with_suffix(".unfinished")
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with unfinished.open("wb") as file:
            unfinished.chmod(0o600)
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        unfinished.rename(path)
        folder = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
    except OSError as error:
        raise ArchiveFailed(f"{path} cannot be written: {error.strerror}.") from error


async def _put(url: str, endpoint: str | None, path: str, content: bytes) -> None:
    """Store an object. Account and region are those of the environment (`AWS_…`), or of the machine at Amazon."""
    import obstore
    from obstore.exceptions import BaseError
    from obstore.store import S3Store

    try:
        store = S3Store.from_url(
            url,
            config={"endpoint": endpoint} if endpoint else {},
            client_options={"timeout": TIMEOUT, "allow_http": (endpoint or "").startswith("http://")},
            retry_config={"max_retries": 2, "retry_timeout": TIMEOUT},
        )
        await obstore.put_async(store, path, content)
    except (BaseError, OSError) as error:
        raise ArchiveFailed(f"{url}/{path} cannot be stored: {str(error).splitlines()[0]}") from error
