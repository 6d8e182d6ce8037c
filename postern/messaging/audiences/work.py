"""Background work: pending imports, and recomputation of audiences with time-dependent rules."""

import asyncio
from collections.abc import Iterable, Iterator
from datetime import timedelta
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Final

import msgspec
from psycopg import DataError

from postern.kernel.database.statements import Database
from postern.kernel.due import Work, for_each_row
from postern.kernel.http.problems import Problem
from postern.kernel.values import Moment
from postern.messaging.audiences import import_store, store
from postern.messaging.audiences.attributes import known_types
from postern.messaging.audiences.csv_blocks import CsvBlock, attribute_columns, contacts_of, read_blocks
from postern.messaging.audiences.csv_cells import KnownType, types_of
from postern.messaging.audiences.csv_reader import (
    BATCH_BYTES,
    ColumnLayout,
    ImportRow,
    RowInvalid,
    check_size,
    infer_columns,
    layout_of,
    read_header,
)
from postern.messaging.audiences.imports import StagedContact, import_batch, stage, yield_to_event_loop
from postern.messaging.audiences.membership import ChangeActor, refill_audience
from postern.messaging.audiences.model import (
    IMPORT_BATCH,
    IMPORT_ERRORS_KEPT,
    RECOMPUTE_INTERVAL,
    AttributeType,
    ContactImportError,
    ImportAdvance,
    ImportJob,
    ImportMode,
    RefillJob,
)

if TYPE_CHECKING:
    from postern.world import World

LEASE: Final = timedelta(minutes=2)
"""How long a claimed import belongs to its worker, before another may claim it. Each stored batch extends this."""
BATCHES_PER_CLAIM: Final = 10
"""Batches per claim. The import is queued again after them, so that workers can stop and other imports proceed."""


class ImportBatch(msgspec.Struct):
    """Parsed and merged rows of a file, and the position after them."""

    rows: dict[str, ImportRow]
    errors: list[ContactImportError]
    types: dict[str, KnownType]
    """Types of attributes, including those inferred from this batch."""
    inferred: dict[str, AttributeType]
    """Types to declare with this batch, for attributes without a type."""
    staged: list[StagedContact] = []
    """The rows as they are copied if they are new."""
    row_count: int = 0
    """Rows of the file, invalid ones included."""
    failed: int = 0
    line: int = 0
    position: int = 0
    is_last: bool = False
    """Whether the batch is the last one of the file."""


class ImportProgress(msgspec.Struct, frozen=True):
    """The position of an import in its file, and its errors so far."""

    line: int
    position: int
    errors: list[ContactImportError]


async def run_import(world: "World", job: ImportJob) -> None:
    """Import up to BATCHES_PER_CLAIM batches. Each is committed with the progress, so it is imported exactly once.

    Sets the import to FAILED if the upload has timed out, the header is invalid or the database rejects a value.
    """
    if job.status == "UPLOADING":
        await _fail_import(world, job, "The upload took longer than 2 hours and was cancelled; upload the file again.")
        return
    progress = ImportProgress(job.line, job.position, job.errors)
    if job.charset and job.delimiter:
        layout = layout_of(job.columns, job.delimiter, job.charset)
    else:
        # Imports that were uploaded before an upgrade of Postern may have no stored column layout.
        first_chunk = await import_store.get_first_chunk(
            world.db, project_id=job.project_id, import_id=job.id, starts_at=0
        )
        try:
            header = read_header(first_chunk.data if first_chunk else b"")
            header.check()
        except Problem as problem:
            await _fail_import(world, job, problem.detail)
            return
        layout = header.layout
        if progress.position == 0:
            progress = ImportProgress(header.line + 1, header.length, progress.errors)
    types = await known_types(world.db, job.project_id)
    next_batch = asyncio.create_task(_read(world.db, job, layout, progress, types))
    try:
        for number in range(BATCHES_PER_CLAIM):
            batch = await next_batch
            batch_end = ImportProgress(batch.line, batch.position, [])
            if not batch.is_last and number + 1 < BATCHES_PER_CLAIM:
                next_batch = asyncio.create_task(_read(world.db, job, layout, batch_end, batch.types))
            ends_claim = number + 1 == BATCHES_PER_CLAIM
            errors = await _insert_batch(world, job, batch, progress.errors, ends_claim=ends_claim)
            if batch.is_last:
                return
            progress = ImportProgress(batch_end.line, batch_end.position, errors)
    except _ImportSuperseded:
        return
    except DataError as error:
        message = f"The database rejected a value in this or one of the next rows: {str(error).strip()[:200]}"
        await _fail_import(world, msgspec.structs.replace(job, position=progress.position, line=progress.line), message)
    finally:
        await asyncio.gather(next_batch, return_exceptions=True)


async def _insert_batch(
    world: "World", job: ImportJob, batch: ImportBatch, errors: list[ContactImportError], *, ends_claim: bool
) -> list[ContactImportError]:
    """Insert a batch and store the progress; returns the errors so far. Raises _ImportSuperseded.

    With `ends_claim`, an unfinished import becomes due at once, so that any worker can continue it.
    """
    now = world.clock()
    actor = ChangeActor(job.actor_type, job.actor_id, job.actor_label)
    rows = list(batch.rows.values())
    async with world.db.transaction() as tx:
        await store.lock_audiences_shared(tx, project_id=job.project_id)
        result = await import_batch(tx, job.project_id, rows, job.mode, now, actor, batch.inferred, batch.staged)
        message = "Merged with the contact's existing attributes, these attributes exceed a limit."
        too_large = [ContactImportError(line=line, message=message) for line in result.too_large]
        errors = sorted([*errors, *batch.errors, *too_large], key=lambda error: error.line)[:IMPORT_ERRORS_KEPT]
        failed = batch.failed + len(too_large)
        existing_count = batch.row_count - result.created - failed
        due_at = None if batch.is_last else now if ends_claim else Moment.of(now + LEASE)
        update = ImportAdvance(
            status="COMPLETED" if batch.is_last else "RUNNING",
            position=batch.position,
            line=batch.line,
            rows=batch.row_count,
            created=result.created,
            updated=existing_count if job.mode == "upsert" else 0,
            skipped=existing_count if job.mode == "skip" else 0,
            failed=failed,
            errors=errors,
            due_at=due_at,
        )
        stored = await import_store.advance(
            tx, update, project_id=job.project_id, id=job.id, attempt=job.attempt, now=now
        )
        if not stored:
            raise _ImportSuperseded
        if batch.is_last:
            await import_store.delete_all_chunks(tx, project_id=job.project_id, import_id=job.id)
        else:
            await import_store.delete_chunks_before(
                tx, project_id=job.project_id, import_id=job.id, position=batch.position
            )
    return errors


class _ImportSuperseded(Exception):
    """Another worker has claimed the import since; the batch is rolled back."""


async def _read(
    db: Database, job: ImportJob, layout: ColumnLayout, start: ImportProgress, types: dict[str, KnownType]
) -> ImportBatch:
    """Read and parse the next batch, in a thread because parsing takes CPU time."""
    loop = asyncio.get_running_loop()

    async def fetch(position: int) -> import_store.UploadChunk | None:
        return await import_store.get_chunk_at(db, project_id=job.project_id, import_id=job.id, position=position)

    def chunks() -> Iterator[bytes]:
        position = start.position
        while True:
            chunk = asyncio.run_coroutine_threadsafe(fetch(position), loop).result(LEASE.total_seconds())
            if chunk is None or chunk.starts_at + len(chunk.data) <= position:
                return
            yield chunk.data[position - chunk.starts_at :]
            position = chunk.starts_at + len(chunk.data)

    return await asyncio.to_thread(_parse, layout, chunks(), job.mode, start, types)


def _parse(
    layout: ColumnLayout,
    chunks: Iterator[bytes],
    mode: ImportMode,
    start: ImportProgress,
    types: dict[str, KnownType],
) -> ImportBatch:
    """Parse and merge the rows of the next batch.

    Infers the types of columns whose attributes have no type, from all cells of the batch.
    """
    batch = ImportBatch({}, [], types, {}, line=start.line, position=start.position)
    blocks: Iterable[CsvBlock] = _read_blocks(batch, layout, chunks, start)
    if any(name is not None and name not in types for name in layout.columns):
        blocks = list(blocks)
        batch.inferred = infer_columns(layout, [cells for block in blocks for cells in block.rows], types)
        batch.types = types | {name: KnownType(kind, inferred=True) for name, kind in batch.inferred.items()}
    columns = attribute_columns(layout, batch.types)
    for block in blocks:
        yield_to_event_loop()
        rows, errors = contacts_of(layout, block, columns)
        errors += _add(batch, rows, mode)
        batch.failed += len(errors)
        batch.errors += sorted(errors, key=attrgetter("line"))[: IMPORT_ERRORS_KEPT - len(batch.errors)]
    if layout.attributes is not None:
        batch.inferred = types_of(row.attributes for row in batch.rows.values()) | batch.inferred
    batch.staged = stage(batch.rows.values())
    return batch


def _read_blocks(
    batch: ImportBatch, layout: ColumnLayout, chunks: Iterator[bytes], start: ImportProgress
) -> Iterator[CsvBlock]:
    """Yield the rows of a batch in blocks, and update its counters."""
    for block in read_blocks(layout, chunks, number=start.line, position=start.position, rows=IMPORT_BATCH):
        yield_to_event_loop()
        batch.row_count += len(block.rows) + len(block.invalid)
        batch.line, batch.position = block.next_line, block.next_position
        yield block
    batch.is_last = batch.row_count < IMPORT_BATCH and batch.position - start.position < BATCH_BYTES


def _add(batch: ImportBatch, rows: list[ImportRow], mode: ImportMode) -> list[ContactImportError]:
    """Add rows to the batch; returns an error for a repeated address whose merged attributes exceed a limit.

    A repeated address has the same result as in a later batch: it is merged with the earlier row or, with the mode
    `skip`, ignored.
    """
    errors: list[ContactImportError] = []
    for row in rows:
        existing = batch.rows.setdefault(row.email_key, row)
        if existing is row or mode == "skip":
            continue
        merged = existing.attributes | row.attributes
        try:
            check_size(merged)
        except RowInvalid as error:
            errors.append(ContactImportError(line=row.line, message=str(error)))
            continue
        existing.attributes = merged
        existing.unsubscribed = existing.unsubscribed or row.unsubscribed
    return errors


async def _fail_import(world: "World", job: ImportJob, reason: str) -> None:
    """Set an import to FAILED with a reason, and delete its uploaded file."""
    failed = ImportAdvance(
        status="FAILED",
        position=job.position,
        line=job.line,
        errors=[*job.errors[: IMPORT_ERRORS_KEPT - 1], ContactImportError(line=job.line, message=reason)],
    )
    async with world.db.transaction() as tx:
        await import_store.advance(
            tx, failed, project_id=job.project_id, id=job.id, attempt=job.attempt, now=world.clock()
        )
        await import_store.delete_all_chunks(tx, project_id=job.project_id, import_id=job.id)


async def recompute_time_dependent_audience(world: "World", job: RefillJob) -> None:
    """Recompute an audience with time-dependent rules, and schedule the next recomputation.

    Does nothing if the audience was deleted, is STATIC now, or was claimed by another worker since.
    """
    now = world.clock()
    async with world.db.transaction() as tx:
        await store.lock_audiences_exclusively(tx, project_id=job.project_id)
        audience = await store.audience(tx, project_id=job.project_id, id=job.id)
        if audience is None or audience.type == "STATIC":
            return
        scheduled = await store.schedule_refill(
            tx, project_id=job.project_id, id=job.id, attempt=job.attempt, due_at=now + RECOMPUTE_INTERVAL
        )
        if scheduled:
            await refill_audience(tx, job.project_id, audience, now)


WORK: list[Work[Any]] = [
    Work[ImportJob](
        name="contact_imports",
        table="contact_imports",
        row_type=ImportJob,
        lease=LEASE,
        do=for_each_row(run_import, max_concurrent=1),
        claim_size=1,
        max_claims=2,
    ),
    Work[RefillJob](
        name="audiences",
        table="audiences",
        row_type=RefillJob,
        lease=timedelta(minutes=10),
        do=for_each_row(recompute_time_dependent_audience, max_concurrent=1),
        claim_size=5,
        max_claims=1,
    ),
]
