"""Import, preview and export of contacts as CSV, and bulk inserts for other features."""

import asyncio
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import islice
from operator import attrgetter
from typing import Annotated, Any, Final
from uuid import UUID

import msgspec
import psycopg
from litestar.exceptions import InternalServerException

from postern.kernel.database.statements import Jsonb, Transaction, copied_json, copied_octets, copied_value
from postern.kernel.http.call import Call
from postern.kernel.http.connections import HeaderTooLarge
from postern.kernel.http.handler import UnsupportedMediaType
from postern.kernel.http.operation import RawRequest, get, post
from postern.kernel.http.pagination import Cursor, LinkedList, ListLimit, csv_stream, newest_first
from postern.kernel.http.problems import Invalid, require_found
from postern.kernel.http.responses import HttpResponse
from postern.kernel.values import Moment, new_id, new_ids, to_json_lines
from postern.messaging.audiences import import_store, store
from postern.messaging.audiences.attributes import (
    declare_all,
    inferred_parameter,
    known_types,
    read_types,
    require_declarable,
)
from postern.messaging.audiences.charsets import CODECS, Utf8Detector, charset_named
from postern.messaging.audiences.csv_blocks import BLOCK_ROWS
from postern.messaging.audiences.csv_cells import KnownType, KnownTypes, Reader, columns_of, types_of
from postern.messaging.audiences.csv_headers import field_of
from postern.messaging.audiences.csv_reader import (
    BATCH_BYTES,
    EXPORT_COLUMNS,
    FIELDS,
    HEADER_BYTES,
    ROW_LIMIT,
    ColumnLayout,
    CsvHeader,
    CsvRecord,
    ImportRow,
    RowInvalid,
    infer_columns,
    notices_of_unused_types,
    read_batch,
    read_email,
    read_header,
    readers_of,
    row_of,
)
from postern.messaging.audiences.membership import SYSTEM, ChangeActor, actor_of, contacts_changed
from postern.messaging.audiences.model import (
    ATTRIBUTE_COUNT_LIMIT,
    ATTRIBUTE_TYPES_LIMIT,
    EXPORTED_ATTRIBUTES,
    IMPORT_LIMIT,
    MAX_ATTRIBUTES_BYTES,
    MAX_CONCURRENT_PREVIEWS,
    MAX_UNFINISHED_IMPORTS,
    PREVIEW_ROWS,
    PREVIEW_SAMPLES,
    SAMPLE_LIMIT,
    UPLOAD_TIME,
    AttributeType,
    ContactAttributeDeclared,
    ContactImport,
    ContactImportPreview,
    ContactImportPreviewColumn,
    ContactImportPreviewRow,
    ImportFileInvalid,
    ImportMissing,
    ImportMode,
    StartedImport,
    TooManyContactAttributes,
    TooManyImports,
    TooManyPreviews,
    UploadBroken,
    attribute_error,
)
from postern.platform.events import operations as events
from postern.platform.events.bulk_store import copy_events

CHUNK_BYTES: Final = 1_048_576
"""Bytes of an uploaded file that are stored as one row. The first chunk includes the header (HEADER_BYTES)."""
PREVIEW_BYTES: Final = HEADER_BYTES + BATCH_BYTES + ROW_LIMIT
"""Bytes of a file that a preview holds in memory: the header and the first batch of an import."""

CHARSET_LIMIT: Final = 100
COLUMNS_LIMIT: Final = 2_500
"""Maximum characters of the parameter `columns`. In a URL, each takes up to 12 octets of the request head."""

CSV_TYPES = ("text/csv", "application/csv", "text/plain", "application/octet-stream")

Charset = Annotated[
    str,
    msgspec.Meta(
        max_length=CHARSET_LIMIT,
        description="Character encoding of the file, such as `windows-1252`. A byte order mark takes precedence; this "
        "parameter overrides the `charset` of `Content-Type`. UTF-8, UTF-16 with a byte order mark and Windows-1252 "
        "are detected.",
    ),
]
AttributeTypes = Annotated[
    str,
    msgspec.Meta(
        max_length=ATTRIBUTE_TYPES_LIMIT,
        description='Attribute types to declare before the import, as a JSON object: `{"zip": "string"}`.',
    ),
]
Columns = Annotated[
    str,
    msgspec.Meta(
        max_length=COLUMNS_LIMIT,
        description="Mapping of columns as a JSON object, keyed by column name. Values: `email`, `unsubscribed`, "
        "`subscribed` (the opposite), `attributes` (a JSON object), `attributes.<name>`, or null to exclude it. "
        "Columns that are not listed are mapped automatically.",
    ),
]

ids_of = import_store.ids_of
"""Ids of the contacts with normalised addresses, in no particular order; addresses without a contact are omitted."""


UPLOAD_PROBLEMS = [
    ContactAttributeDeclared,
    HeaderTooLarge,
    ImportFileInvalid,
    TooManyContactAttributes,
    UploadBroken,
    UnsupportedMediaType,
]
"""Problems of a CSV file that is uploaded."""


@post(
    "/projects/{project_id}/contacts/import",
    needs="contacts:write",
    status=201,
    body_limit=IMPORT_LIMIT,
    takes="text/csv",
    problems=[*UPLOAD_PROBLEMS, TooManyImports],
    response_example={
        "status": "PENDING",
        "position": 16,
        "rows": 0,
        "created": 0,
        "updated": 0,
        "failed": 0,
        "errors": [],
        "finishedAt": None,
    },
)
async def import_contacts(
    call: Call,
    request: RawRequest,
    mode: ImportMode = "upsert",
    charset: Charset | None = None,
    columns: Columns | None = None,
    attribute_types: AttributeTypes | None = None,
) -> ContactImport:
    """Import contacts from a CSV file: the body is the file, `Content-Type: text/csv`, at most 1 GiB.

    The first line is the header; a line `sep=;` may precede it. A column `email` is required, `unsubscribed` (true or
    false) is optional; synonyms of both are recognised in 14 languages. A column `attributes` may hold a JSON object;
    every other column becomes an attribute with its name. The type of the attribute decides how its cells are parsed
    (see `contact-attributes`). An attribute without a type gets the type that all cells of its column match in the
    first 10,000 rows, otherwise `string`. A cell that does not match a declared type fails its row; one that does not
    match an inferred type is stored as a string. `attributeTypes` declares types before the import. Empty cells change
    nothing. The delimiter is a comma, semicolon, tab or `|`. `POST …/contacts/import/preview` shows how a file would
    be read.

    `mode=upsert` (the default) merges into existing contacts, `skip` does not change them. An import can unsubscribe
    contacts, but never subscribes them again. The response is sent after the upload; the rows are imported in the
    background, and `GET …/contacts/imports/{id}` reports the progress.
    """
    options = _read_options(request, charset, columns)
    types = read_types(attribute_types)
    import_id = new_id()
    async with call.db.transaction() as tx:
        await tx.lock_quota("imports", call.project_id)
        if await import_store.count_running(tx, project_id=call.project_id) >= MAX_UNFINISHED_IMPORTS:
            raise TooManyImports
        await require_declarable(tx, call.project_id, types)
        started = StartedImport(
            project_id=call.project_id,
            id=import_id,
            mode=mode,
            created_at=call.now,
            updated_at=call.now,
            due_at=Moment.of(call.now + UPLOAD_TIME),
            **actor_of(call)._asdict(),
        )
        await import_store.insert_import(tx, started)

    async def store_chunk(starts_at: int, data: bytes) -> None:
        await import_store.insert_chunk(
            call.db, project_id=call.project_id, import_id=import_id, starts_at=starts_at, data=data
        )

    try:
        file = await _receive(request, options, store_chunk)
    except InternalServerException:  # Litestar raises this if the client disconnects during the upload.
        await import_store.delete_failed_upload(call.db, project_id=call.project_id, id=import_id)
        raise UploadBroken from None
    except BaseException:
        await import_store.delete_failed_upload(call.db, project_id=call.project_id, id=import_id)
        raise
    async with call.db.transaction() as tx:
        contact_import = await import_store.finish_upload(
            tx, file.header, project_id=call.project_id, id=import_id, bytes=file.size, now=call.now
        )
        if contact_import is not None:
            await declare_all(tx, call.project_id, types, call.now)
            tx.mark_due("contact_imports", call.project_id)
    if contact_import is None:
        raise ImportMissing("The upload took longer than 2 hours and was cancelled; upload the file again.")
    return contact_import


@post(
    "/projects/{project_id}/contacts/import/preview",
    needs="contacts:write",
    body_limit=IMPORT_LIMIT,
    takes="text/csv",
    problems=[*UPLOAD_PROBLEMS, TooManyPreviews],
)
async def preview_contact_import(
    call: Call,
    request: RawRequest,
    charset: Charset | None = None,
    columns: Columns | None = None,
    attribute_types: AttributeTypes | None = None,
) -> ContactImportPreview:
    """Show how an import would read a CSV file: its encoding, what each column fills, and the first 20 rows.

    The body is the file, or its beginning. The parameters are those of `POST …/contacts/import`. Nothing is stored.
    `problems` lists what prevents an import (`blocking`) and what to check first, each with what to do next. If only
    the beginning of a file is sent, the encoding detected for the whole file may differ.
    """
    options = _read_options(request, charset, columns)
    types = read_types(attribute_types)
    async with call.db.transaction() as tx:
        await require_declarable(tx, call.project_id, types)
        known = await known_types(tx, call.project_id)
    known |= {name: KnownType(kind, inferred=False) for name, kind in types.items()}
    previews: Previews = call.world.resources[Previews]
    with previews.counted(call.project_id):
        try:
            file = await _receive(request, options, store_chunk=None)
        except InternalServerException:
            raise UploadBroken from None
        async with previews.semaphore:
            return await asyncio.to_thread(_preview, file, known, set(types))


class Previews:
    """Limits concurrent previews in this process.

    Computing a preview can take 25 times the memory of the file's beginning, and a thread of the shared pool, so only
    one is computed at a time.
    """

    def __init__(self, _world: object) -> None:
        self.semaphore = asyncio.Semaphore(1)
        self._running: Counter[UUID] = Counter()

    @contextmanager
    def counted(self, project_id: UUID) -> Iterator[None]:
        """Count a preview of a project while it runs. Raises TooManyPreviews."""
        if self._running[project_id] >= MAX_CONCURRENT_PREVIEWS:
            raise TooManyPreviews
        self._running[project_id] += 1
        try:
            yield
        finally:
            self._running[project_id] -= 1
            if not self._running[project_id]:
                del self._running[project_id]

    async def aclose(self) -> None:
        """Does nothing; a resource of a World must have this method."""


class ImportOptions(msgspec.Struct, frozen=True):
    """How the caller asks to read a file."""

    charset: str | None
    """The declared encoding; None if it is detected."""
    columns: dict[str, str | None]
    """The targets that the caller maps columns to, keyed by column name; None excludes a column."""


class ReceivedFile(msgspec.Struct, frozen=True):
    """An uploaded file: its header, its first bytes and its size in bytes."""

    header: CsvHeader
    start: bytes
    size: int


def _read_options(request: RawRequest, charset: str | None, columns: str | None) -> ImportOptions:
    """Parse `Content-Type` and the query parameters `charset` and `columns`. Raises UnsupportedMediaType or Invalid."""
    media_type, parameters = request.content_type
    if media_type and media_type.strip().lower() not in CSV_TYPES:
        raise UnsupportedMediaType("Send the file itself as `Content-Type: text/csv`.")
    if charset is not None:
        return ImportOptions(_parse_charset(charset, "query/charset"), _parse_columns(columns))
    label = parameters.get("charset")
    return ImportOptions(
        None if label is None else _parse_charset(label, "header/Content-Type"), _parse_columns(columns)
    )


def _parse_charset(label: str, path: str) -> str:
    charset = charset_named(label)
    if charset is None:
        message = f"The encoding `{label[:40]}` is not supported. Supported are: {', '.join(CODECS)}."
        raise Invalid.at(path, message, "charset_unknown")
    return charset


def _parse_columns(text: str | None) -> dict[str, str | None]:
    """Parse the query parameter `columns`. Raises Invalid."""
    if text is None:
        return {}
    path = "query/columns"
    try:
        mapping = msgspec.json.decode(text, type=dict[str, str | None])
    except (msgspec.MsgspecError, RecursionError):
        message = 'Expected a JSON object of column names and their targets, such as {"Kunde": "email"}.'
        raise Invalid.at(path, message) from None
    for name, target in mapping.items():
        if target is None or target in FIELDS:
            continue
        if not target.startswith("attributes."):
            choices = ", ".join(f"`{field}`" for field in FIELDS)
            message = (
                f"The target of `{name[:100]}` must be one of {choices}, an attribute (`attributes.name`), or null."
            )
            raise Invalid.at(path, message)
        if error := attribute_error(target.removeprefix("attributes."), value=None):
            raise Invalid.at(path, f"`{name[:100]}`: {error}")
    return mapping


StoreChunk = Callable[[int, bytes], Awaitable[None]]
"""Stores a chunk of a file, given its offset in bytes and its data."""


async def _receive(request: RawRequest, options: ImportOptions, store_chunk: StoreChunk | None) -> ReceivedFile:
    """Read a file from the request body in chunks, store them with `store_chunk`, and parse the header.

    Uses bounded memory; detection and parsing run in threads. With `store_chunk` (for an import), raises
    ImportFileInvalid as soon as the header is known to be invalid.
    """
    detector, size, pending, start = Utf8Detector(ROW_LIMIT), 0, bytearray(), bytearray()
    detect = options.charset is None

    def parse_header() -> CsvHeader:
        header = read_header(bytes(start), declared=options.charset, is_utf8=detector.is_utf8, mapping=options.columns)
        if store_chunk:
            header.check()
        return header

    async def process(chunk: bytes) -> None:
        nonlocal size
        if len(start) < (CHUNK_BYTES if store_chunk else PREVIEW_BYTES):
            start.extend(chunk)
        if detect:
            await asyncio.to_thread(detector.feed, chunk)
        if store_chunk and not size and len(chunk) == CHUNK_BYTES:
            await asyncio.to_thread(parse_header)
        if store_chunk:
            await store_chunk(size, chunk)
        size += len(chunk)

    async for received in request.stream():
        pending += received
        while len(pending) >= CHUNK_BYTES:
            chunk = bytes(pending[:CHUNK_BYTES])
            del pending[:CHUNK_BYTES]
            await process(chunk)
    await process(bytes(pending))
    if detect:
        await asyncio.to_thread(detector.end)
    return ReceivedFile(await asyncio.to_thread(parse_header), bytes(start), size)


def _preview(file: ReceivedFile, known: KnownTypes, declared_names: Collection[str]) -> ContactImportPreview:
    """Compute how an import would read a file.

    `known` are the attribute types that apply before types are inferred from the file. `declared_names` are the names
    in the parameter `attributeTypes`.
    """
    header, layout = file.header, file.header.layout
    importable = not any(notice.blocking for notice in header.notices)
    chunks = [file.start[header.length :]]
    records = [*read_batch(layout, chunks, number=header.line + 1, position=header.length)]
    inferred = infer_columns(layout, [record.cells for record in records if record.cells is not None], known)
    types = {name: KnownType(kind, inferred=True) for name, kind in inferred.items()} | dict(known)
    readers, first_records = readers_of(layout, types), records[:PREVIEW_ROWS]
    samples_by_column: list[list[str]] = [[] for _ in header.columns]
    for record in first_records:
        for cell, samples in zip(record.cells or (), samples_by_column, strict=False):
            if cell.strip() and len(samples) < PREVIEW_SAMPLES:
                samples.append(cell.strip()[:SAMPLE_LIMIT])
    return ContactImportPreview(
        charset=header.charset,
        charset_from=header.charset_from,
        delimiter=header.delimiter,
        delimiter_from=header.delimiter_from,
        header_line=header.line,
        columns=[
            ContactImportPreviewColumn(
                **msgspec.structs.asdict(column),
                type=types[name].type if name in types else None,
                samples=samples,
            )
            for column, name, samples in zip(header.columns, layout.columns, samples_by_column, strict=True)
        ],
        rows=[_preview_row(layout, record, readers) for record in first_records] if importable else [],
        problems=[*header.notices, *notices_of_unused_types(header.columns, sorted(declared_names))],
        importable=importable,
    )


def _preview_row(
    layout: ColumnLayout, record: CsvRecord, readers: Sequence[tuple[int, str, Reader]]
) -> ContactImportPreviewRow:
    try:
        row = row_of(layout, record, readers)
    except RowInvalid as error:
        return ContactImportPreviewRow(
            line=record.number, email=None, unsubscribed=None, attributes=None, error=str(error)
        )
    return ContactImportPreviewRow(
        line=record.number, email=row.email, unsubscribed=row.unsubscribed, attributes=row.attributes, error=None
    )


@get("/projects/{project_id}/contacts/imports", needs="contacts:read")
async def list_contact_imports(
    call: Call, limit: ListLimit = 100, cursor: Cursor | None = None
) -> LinkedList[ContactImport]:
    """List the project's imports, newest first."""
    return await newest_first(call, "contact-imports", cursor, limit, import_store.list_imports)


@get("/projects/{project_id}/contacts/imports/{id}", needs="contacts:read", problems=[ImportMissing])
async def get_contact_import(call: Call, id: UUID) -> ContactImport:
    """Get the progress of an import: `status` goes from PENDING through RUNNING to COMPLETED or FAILED.

    `rows` is the sum of `created`, `updated`, `skipped` and `failed`; `position` of `bytes` bytes have been processed.
    `errors` lists the first 200 lines that failed, with the reason.
    """
    return require_found(await import_store.get_import(call.db, project_id=call.project_id, id=id), ImportMissing)


@get("/projects/{project_id}/contacts/export", needs="contacts:read", media_types=["text/csv"], reads_replica=True)
async def export_contacts(call: Call) -> HttpResponse:
    """Export all contacts as CSV, oldest first, with a column for each attribute. Importing it gives the same values.

    The type of an attribute decides how an import reads its column. The column `attributes` holds, as JSON, values that
    a cell of the type cannot hold: values of another type, objects, empty strings, and attributes beyond the 500 most
    frequent. To import into another project, declare the same types there (`attributeTypes`).
    """
    return HttpResponse(
        _export(call),
        media_type="text/csv",
        headers={"Content-Disposition": 'attachment; filename="contacts.csv"'},
    )


async def _export(call: Call) -> AsyncIterator[bytes]:
    async with call.db.transaction() as tx:
        columns = await store.attributes_in_use(tx, project_id=call.project_id, limit=EXPORTED_ATTRIBUTES)
        types: dict[str, AttributeType] = {column.name: column.type for column in columns}
        rows = store.stream_contacts(tx, project_id=call.project_id)
        async for chunk in csv_stream(header_of(types), rows, lambda rows: exported_columns(types, rows)):
            yield chunk


def exported_columns(types: Mapping[str, AttributeType], rows: list[tuple[Any, ...]]) -> list[Sequence[Any]]:
    """The columns of an export from rows of `store.stream_contacts`; `header_of` are their names."""
    *fields, attributes = zip(*rows, strict=True)
    return [*fields, *columns_of(types, attributes)]


def header_of(names: Iterable[str]) -> list[str]:
    """The column names of an export: the contact's fields, a column for each attribute, and `attributes`."""
    fields = ["id", "email", "unsubscribed", "createdAt", "updatedAt", "lastOpenedAt", "lastClickedAt"]
    columns = [f"attributes.{name}" if _has_other_meaning(name) else name for name in names]
    return [*fields, *columns, "attributes"]


def _has_other_meaning(name: str) -> bool:
    """Whether an import would not map a column of this name to the attribute of the same name."""
    return (
        name.startswith("attributes.")
        or name.casefold() in ("attributes", *EXPORT_COLUMNS)
        or field_of(name) is not None
    )


def rows_from(items: Iterable[tuple[str, dict[str, Any]]]) -> list[ImportRow]:
    """The rows to import for pairs of address and attributes; `line` counts the pairs from 1.

    Pairs with an invalid address are omitted; those with the same address become one row with merged attributes.
    """
    rows: dict[str, ImportRow] = {}
    for number, (text, attributes) in enumerate(items, start=1):
        try:
            email, key = read_email(text.strip())
        except RowInvalid:
            continue
        if key in rows:
            rows[key].attributes |= attributes
        else:
            rows[key] = ImportRow(number, email, key, dict(attributes), False)
    return list(rows.values())


async def lock_contacts_to_import(
    tx: Transaction, project_id: UUID, keys: Sequence[str], ids: Sequence[UUID] = ()
) -> list[UUID]:
    """Lock the contacts with these normalised addresses or ids before an import (for no key update).

    Returns the ids of those that exist. If some addresses have no contact yet, also waits for other transactions that
    insert many contacts.
    """
    keys = sorted(set(keys))
    if await store.count_existing(tx, project_id=project_id, keys=keys) < len(keys):
        await store.lock_new_contacts(tx, project_id=project_id)
    return await store.lock_contacts(tx, project_id=project_id, ids=list(ids), keys=keys)


async def import_batch(
    tx: Transaction,
    project_id: UUID,
    rows: list[ImportRow],
    mode: ImportMode,
    now: Moment,
    actor: ChangeActor = SYSTEM,
    types: Mapping[str, AttributeType] | None = None,
    staged: Sequence["StagedContact"] = (),
) -> import_store.ImportedBatch:
    """Create and update many contacts, record the events and update audience memberships.

    Each address must be unique among `rows`. The caller holds the shared lock (`store.lock_audiences_shared`). With the
    mode `skip`, existing contacts are not changed. Attributes that have no type yet get the one in `types`; if `types`
    is None, that of their first value. Rows whose attributes, merged with those of the contact, would exceed a limit
    are omitted; their lines are in `too_large` of the result.

    With `staged` (`stage(rows)`), new contacts are copied, which takes half the time of the statement that can also
    update contacts. Use it for thousands of rows.
    """
    copied, is_locked = await _copy_new(tx, project_id, staged, mode, now, actor, types or {})
    if copied:
        copied_keys = {contact.row.email_key for contact in copied}
        rows = [row for row in rows if row.email_key not in copied_keys]
    if mode == "upsert" and not is_locked:
        await lock_contacts_to_import(tx, project_id, [row.email_key for row in rows])
    result = import_store.ImportedBatch(created=0, updated=0, event_count=0, ids=[], too_large=[])
    if rows:
        bulk = actor.bulk_events(now)
        result = await import_store.import_rows(
            tx,
            bulk,
            inferred_parameter(types_of(row.attributes for row in rows) if types is None else types),
            project_id=project_id,
            rows=Jsonb([_staged(row) for row in rows]),
            mode=mode,
            attributes_limit=MAX_ATTRIBUTES_BYTES,
            attribute_count_limit=ATTRIBUTE_COUNT_LIMIT,
        )
        event_names = ("contact.created", "contact.updated", "contact.unsubscribed")
        await events.react_to_range(tx, project_id, bulk.event_id, event_names, result.event_count)
    ids = [*msgspec.convert([contact.id for contact in copied], list[UUID]), *result.ids]
    await contacts_changed(tx, project_id, ids, now, actor)
    return msgspec.structs.replace(result, created=result.created + len(copied), ids=ids)


class StagedContact(msgspec.Struct, frozen=True):
    """A row, with the values that it is copied with if the contact is new, in the binary format of COPY."""

    row: ImportRow
    id: bytes
    """The id of the contact, if it is new, as 16 octets."""
    contact: bytes
    """Id, address, normalised address and attributes."""
    event: bytes
    """Id of the contact, and the data of the event."""


def yield_to_event_loop() -> None:
    """Let other threads run. A thread calls it after at most BLOCK_ROWS rows, which take about a millisecond.

    The event loop sends the batch before in several parts. Otherwise it would wait before each for the interpreter's
    switch interval of 5 ms.
    """
    time.sleep(0)


def stage(rows: Iterable[ImportRow]) -> list[StagedContact]:
    """The rows as `import_batch` copies them: with ids in their order, and sorted by address, so that neighbours share
    pages of the index."""
    staged: list[StagedContact] = []
    remaining = iter(rows)
    while block := list(islice(remaining, BLOCK_ROWS)):
        yield_to_event_loop()
        ids = new_ids(len(block))
        copied_ids = copied_octets(ids)
        emails = copied_octets([row.email.encode() for row in block])
        keys = copied_octets([row.email_key.encode() for row in block])
        attributes = copied_json(to_json_lines([row.attributes for row in block]))
        contacts = map(b"".join, zip(copied_ids, emails, keys, attributes, strict=True))
        data = copied_json(to_json_lines([{"email": row.email} for row in block]))
        events_of_block = map(b"".join, zip(copied_ids, data, strict=True))
        staged += map(StagedContact, block, ids, contacts, events_of_block)
    staged.sort(key=attrgetter("row.email_key"))
    return staged


async def _copy_new(
    tx: Transaction,
    project_id: UUID,
    staged: Sequence[StagedContact],
    mode: ImportMode,
    now: Moment,
    actor: ChangeActor,
    types: Mapping[str, AttributeType],
) -> tuple[list[StagedContact], bool]:
    """Create the contacts that do not exist, except those whose address unsubscribed, and record their events.

    Returns the new contacts, and whether the existing ones are locked (only with the mode `upsert`).
    """
    if not staged:
        return [], False
    await store.lock_new_contacts(tx, project_id=project_id)
    look_up = import_store.lock_known_keys if mode == "upsert" else import_store.known_keys
    known = set(await look_up(tx, project_id=project_id, keys=Jsonb([contact.row.email_key for contact in staged])))
    new = [contact for contact in staged if contact.row.email_key not in known]
    if not new:
        return [], True
    bulk = actor.bulk_events(now)
    try:
        async with tx.savepoint():
            if types:
                await import_store.insert_inferred_types(tx, inferred_parameter(types), project_id=project_id, now=now)
            for unsubscribed in (False, True):
                constants = list(map(copied_value, (now, now, unsubscribed, now if unsubscribed else None)))
                values = [contact.contact for contact in new if contact.row.unsubscribed is unsubscribed]
                if values:
                    await import_store.copy_contacts(tx, project_id=project_id, constants=constants, rows=values)
            await copy_events(tx, project_id, bulk, "contact.created", [contact.event for contact in new])
    except psycopg.errors.UniqueViolation:  # A concurrent transaction created one of them after the lookup.
        return [], False
    await events.react_to_range(tx, project_id, bulk.event_id, ("contact.created",), len(new))
    return new, True


def _staged(row: ImportRow) -> dict[str, Any]:
    """A row as `import_store.import_rows` takes it, with an id in case the contact is created."""
    return {
        "line": row.line,
        "id": new_id(),
        "email": row.email,
        "email_key": row.email_key,
        "attributes": row.attributes,
        "unsubscribed": row.unsubscribed,
    }
