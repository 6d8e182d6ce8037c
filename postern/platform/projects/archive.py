"""The archive: Parquet files of records that are deleted because their project keeps them no longer.

A file has one batch of one project, or the part of it that is of one month. It is in the archive, with its content on
the disk, before its records are deleted, so nothing is lost if a process is killed; the next one writes the file again,
perhaps with more records and another name. A record can therefore be in two files, which its id tells.
"""

import asyncio
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import UUID

from postern.kernel.object_store import ObjectStore, StoreFailed
from postern.kernel.values import Moment, Record

if TYPE_CHECKING:
    from postern.world import World

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
        settings = world.settings
        self._store = ObjectStore(settings.archive, settings.archive_endpoint) if settings.archive else None

    async def aclose(self) -> None:
        """Give up files whose writing has not begun."""
        if self._store is not None:
            self._store.close()

    async def write(self, table: ArchivedTable, project_id: UUID, rows: Sequence[ArchivedRow]) -> None:
        """Store the rows of a project, in order of their ids, as a file for each month. Raises ArchiveFailed."""
        if (store := self._store) is None:
            raise ArchiveFailed("POSTERN_ARCHIVE is not set.")
        for month, of_month in groupby(rows, key=lambda row: f"{row.at:%Y-%m}"):
            await _write_month(store, table, f"{table.name}/project={project_id}/month={month}", list(of_month))


async def _write_month(store: ObjectStore, table: ArchivedTable, folder: str, rows: Sequence[ArchivedRow]) -> None:
    content = await asyncio.to_thread(_parquet, table, rows)
    try:
        await store.put(f"{folder}/{rows[0].id}_{rows[-1].id}.parquet", content)
    except StoreFailed as error:
        raise ArchiveFailed(str(error)) from error


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
