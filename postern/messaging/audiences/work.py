"""What becomes due here: imports that wait to be read, and audiences whose rules look at the clock."""

import asyncio
from collections.abc import Iterable, Iterator
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Final

import msgspec
from psycopg import DataError

from postern.kernel.database.statements import Database, Jsonb
from postern.kernel.due import Work, one_by_one
from postern.kernel.http.problems import Problem
from postern.messaging.audiences import import_store, store
from postern.messaging.audiences.attributes import declarations
from postern.messaging.audiences.csv_cells import DeclaredType, types_of
from postern.messaging.audiences.csv_reader import (
    BATCH_BYTES,
    ColumnLayout,
    CsvRecord,
    ImportRow,
    RowFault,
    check_size,
    infer_columns,
    layout_of,
    read_batch,
    read_header,
    readers_of,
    row_of,
)
from postern.messaging.audiences.imports import import_batch
from postern.messaging.audiences.membership import ChangeActor, refill_audience
from postern.messaging.audiences.model import (
    IMPORT_BATCH,
    IMPORT_ERRORS_KEPT,
    LOOK_AGAIN,
    AttributeType,
    ContactImportError,
    ImportJob,
    ImportMode,
    RefillJob,
)

if TYPE_CHECKING:
    from postern.world import World

LEASE: Final = timedelta(minutes=2)
BATCHES: Final = 10
"""Batches of one import before it stands in line again, so that a worker can stop and others get their turn."""


class ImportBatch(msgspec.Struct):
    """Rows of a file, read and merged, and how far they reach."""

    rows: dict[str, ImportRow]
    errors: list[ContactImportError]
    types: dict[str, DeclaredType]
    """Types of attributes, those included that this batch has inferred."""
    inferred: dict[str, AttributeType]
    read: int = 0
    repeated: int = 0
    """Rows whose address came before in the same batch; part of `read`."""
    failed: int = 0
    line: int = 0
    position: int = 0
    ended: bool = False


class ImportProgress(msgspec.Struct, frozen=True):
    """How far an import has come, and what there is to say about it."""

    line: int
    position: int
    errors: list[ContactImportError]


async def run_import(world: "World", job: ImportJob) -> None:
    """Take in some batches of an import. Each is one transaction with its progress, so that it happens once."""
    if job.status == "UPLOADING":
        await _give_up(world, job, "The upload did not end in time.")
        return
    mark = ImportProgress(job.line, job.position, job.errors)
    if job.charset and job.delimiter:
        layout = layout_of(job.columns, job.delimiter, job.charset)
    else:
        # The release before this one kept nothing of what it understood.
        first = await import_store.get_part(world.db, project_id=job.project_id, import_id=job.id, starts_at=0)
        try:
            header = read_header(first.data if first else b"")
            header.check()
        except Problem as problem:
            await _give_up(world, job, problem.detail)
            return
        layout = header.layout
        if mark.position == 0:
            mark = ImportProgress(header.line + 1, header.length, mark.errors)
    types = await declarations(world.db, job.project_id)
    ahead = asyncio.create_task(_read(world.db, job, layout, mark, types))
    try:
        for number in range(BATCHES):
            batch = await ahead
            after = ImportProgress(batch.line, batch.position, [])
            if not batch.ended and number + 1 < BATCHES:
                ahead = asyncio.create_task(_read(world.db, job, layout, after, batch.types))
            errors = await _settle(world, job, batch, mark.errors, last=number + 1 == BATCHES)
            if batch.ended:
                return
            mark = ImportProgress(after.line, after.position, errors)
    except _ImportSuperseded:
        return
    except DataError as error:
        message = f"The database refuses something in the rows from here on: {str(error).strip()[:200]}"
        await _give_up(world, msgspec.structs.replace(job, position=mark.position, line=mark.line), message)
    finally:
        await asyncio.gather(ahead, return_exceptions=True)


async def _settle(
    world: "World", job: ImportJob, batch: ImportBatch, errors: list[ContactImportError], *, last: bool
) -> list[ContactImportError]:
    """Take a batch in and move the import on; returns its errors so far. Raises _ImportSuperseded."""
    now = world.clock()
    actor = ChangeActor(job.actor_type, job.actor_id, job.actor_label)
    rows = list(batch.rows.values())
    async with world.db.transaction() as tx:
        await store.lock_audiences_shared(tx, project_id=job.project_id)
        taken = await import_batch(tx, job.project_id, rows, job.mode, now, actor, batch.inferred)
        limit = "The attributes do not fit beside those that the contact has."
        late = [ContactImportError(line=line, message=limit) for line in taken.too_large]
        errors = sorted([*errors, *batch.errors, *late], key=lambda error: error.line)[:IMPORT_ERRORS_KEPT]
        failed = batch.failed + len(late)
        known = batch.read - taken.created - failed
        due_at = None if batch.ended else now if last else now + LEASE
        settled = await import_store.advance(
            tx,
            project_id=job.project_id,
            id=job.id,
            attempt=job.attempt,
            status="COMPLETED" if batch.ended else "RUNNING",
            position=batch.position,
            line=batch.line,
            rows=batch.read,
            created=taken.created,
            updated=known if job.mode == "upsert" else 0,
            skipped=known if job.mode == "skip" else 0,
            failed=failed,
            errors=Jsonb(errors),
            now=now,
            due_at=due_at,
        )
        if not settled:
            raise _ImportSuperseded
        if batch.ended:
            await import_store.drop_all_parts(tx, project_id=job.project_id, import_id=job.id)
        else:
            await import_store.drop_parts(tx, project_id=job.project_id, import_id=job.id, position=batch.position)
    return errors


class _ImportSuperseded(Exception):
    """A later attempt has the import; this one's batch is rolled back."""


async def _read(
    db: Database, job: ImportJob, layout: ColumnLayout, mark: ImportProgress, types: dict[str, DeclaredType]
) -> ImportBatch:
    """Read the next batch, in a thread: what takes the time is the parser."""
    loop = asyncio.get_running_loop()

    async def fetch(position: int) -> import_store.UploadPart | None:
        return await import_store.get_part_at(db, project_id=job.project_id, import_id=job.id, position=position)

    def pieces() -> Iterator[bytes]:
        position = mark.position
        while True:
            piece = asyncio.run_coroutine_threadsafe(fetch(position), loop).result(LEASE.total_seconds())
            if piece is None or piece.starts_at + len(piece.data) <= position:
                return
            yield piece.data[position - piece.starts_at :]
            position = piece.starts_at + len(piece.data)

    return await asyncio.to_thread(_parse, layout, pieces(), job.mode, mark, types)


def _parse(
    layout: ColumnLayout,
    pieces: Iterator[bytes],
    mode: ImportMode,
    mark: ImportProgress,
    types: dict[str, DeclaredType],
) -> ImportBatch:
    batch = ImportBatch({}, [], types, {}, line=mark.line, position=mark.position)
    lines: Iterable[CsvRecord] = _lines(batch, layout, pieces, mark)
    if any(name is not None and name not in types for name in layout.columns):
        lines = list(lines)
        batch.inferred = infer_columns(layout, lines, types)
        batch.types = types | {name: DeclaredType(kind, True) for name, kind in batch.inferred.items()}
    readers = readers_of(layout, batch.types)
    for line in lines:
        try:
            _add(batch, row_of(layout, line, readers), mode)
        except RowFault as fault:
            batch.failed += 1
            if len(batch.errors) < IMPORT_ERRORS_KEPT:
                batch.errors.append(ContactImportError(line=line.number, message=str(fault)))
    if layout.attributes is not None:
        batch.inferred = types_of(row.attributes for row in batch.rows.values()) | batch.inferred
    return batch


def _lines(
    batch: ImportBatch, layout: ColumnLayout, pieces: Iterator[bytes], mark: ImportProgress
) -> Iterator[CsvRecord]:
    """The lines of a batch, which counts them."""
    for line in read_batch(layout, pieces, number=mark.line, position=mark.position, rows=IMPORT_BATCH):
        batch.read += 1
        batch.line, batch.position = line.next_line, line.next_position
        yield line
    batch.ended = batch.read < IMPORT_BATCH and batch.position - mark.position < BATCH_BYTES


def _add(batch: ImportBatch, row: ImportRow, mode: ImportMode) -> None:
    """Put a row with the others; a later line about the same address is merged, as if it came in a later batch."""
    known = batch.rows.get(row.email_key)
    if known is None:
        batch.rows[row.email_key] = row
        return
    batch.repeated += 1
    if mode == "upsert":
        merged = known.attributes | row.attributes
        check_size(merged)
        known.attributes = merged
        known.unsubscribed = known.unsubscribed or row.unsubscribed


async def _give_up(world: "World", job: ImportJob, reason: str) -> None:
    now = world.clock()
    async with world.db.transaction() as tx:
        await import_store.advance(
            tx,
            project_id=job.project_id,
            id=job.id,
            attempt=job.attempt,
            status="FAILED",
            position=job.position,
            line=job.line,
            rows=0,
            created=0,
            updated=0,
            skipped=0,
            failed=0,
            errors=Jsonb([*job.errors[: IMPORT_ERRORS_KEPT - 1], ContactImportError(line=job.line, message=reason)]),
            now=now,
            due_at=None,
        )
        await import_store.drop_all_parts(tx, project_id=job.project_id, import_id=job.id)


async def recompute_timed_audiences(world: "World", job: RefillJob) -> None:
    """Set an audience right whose rules look at the clock, and look again in an hour."""
    now = world.clock()
    async with world.db.transaction() as tx:
        await store.lock_audiences_exclusively(tx, project_id=job.project_id)
        audience = await store.audience(tx, project_id=job.project_id, id=job.id)
        if audience is None or audience.type == "STATIC":
            return
        settled = await store.settle_refill(
            tx, project_id=job.project_id, id=job.id, attempt=job.attempt, due_at=now + LOOK_AGAIN
        )
        if settled:
            await refill_audience(tx, job.project_id, audience, now)


WORK: list[Work[Any]] = [
    Work[ImportJob](
        name="contact_imports",
        table="contact_imports",
        kind=ImportJob,
        lease=LEASE,
        do=one_by_one(run_import, at_once=1),
        share=1,
        at_once=2,
    ),
    Work[RefillJob](
        name="audiences",
        table="audiences",
        kind=RefillJob,
        lease=timedelta(minutes=10),
        do=one_by_one(recompute_timed_audiences, at_once=1),
        share=5,
        at_once=1,
    ),
]
