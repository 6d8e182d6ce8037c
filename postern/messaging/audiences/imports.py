"""Contacts by the thousand: imports of CSV files, and the export."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Annotated, Any, Final
from uuid import UUID

import msgspec
from litestar.exceptions import InternalServerException

from postern.kernel.clock import Moment
from postern.kernel.database.statements import Jsonb, Transaction
from postern.kernel.http.binding import UnsupportedMediaType
from postern.kernel.http.call import Call
from postern.kernel.http.connections import HeaderTooLarge
from postern.kernel.http.operation import RawRequest, get, post
from postern.kernel.http.pagination import Cursor, LinkedList, ListLimit, before_id, csv_stream, linked_list
from postern.kernel.http.problems import Invalid
from postern.kernel.http.responses import HttpResponse
from postern.kernel.values import new_id
from postern.messaging.audiences import import_store, store
from postern.messaging.audiences.attributes import (
    declarations,
    declare_all,
    inferred_as,
    read_types,
    require_declarable,
)
from postern.messaging.audiences.charsets import CODECS, Utf8Detector, charset_named
from postern.messaging.audiences.csv_cells import Declarations, DeclaredType, Reader, cells_of, types_of
from postern.messaging.audiences.csv_headers import field_of
from postern.messaging.audiences.csv_reader import (
    BATCH_BYTES,
    FIELDS,
    HEADER_BYTES,
    OURS,
    ROW_LIMIT,
    ColumnLayout,
    CsvHeader,
    CsvRecord,
    ImportRow,
    RowFault,
    infer_columns,
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
    ATTRIBUTES_LIMIT,
    EXPORTED_ATTRIBUTES,
    IMPORT_LIMIT,
    IMPORTS_AT_ONCE,
    PREVIEW_ROWS,
    PREVIEW_SAMPLES,
    PREVIEWS_AT_ONCE,
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
    TooManyContactAttributes,
    TooManyImports,
    TooManyPreviews,
    UploadBroken,
    attribute_fault,
)
from postern.platform.events import operations as events

PIECE: Final = 1_048_576
"""Bytes of an uploaded file that are kept as one row. The header is in the first of them (HEADER_BYTES)."""
PREVIEW_BYTES: Final = HEADER_BYTES + BATCH_BYTES + ROW_LIMIT
"""Bytes of a file that a preview holds in memory: those that an import takes in first."""

CHARSET_LIMIT: Final = 100
COLUMNS_LIMIT: Final = 2_500
"""Characters. Escaped in a URL each takes up to 12 of the octets that a head may have."""

CSV_TYPES = ("text/csv", "application/csv", "text/plain", "application/octet-stream")

Charset = Annotated[
    str,
    msgspec.Meta(
        max_length=CHARSET_LIMIT,
        description="Character encoding of the file, such as `windows-1252`, where neither `Content-Type` nor a byte "
        "order mark says it; it is found by itself where the file is UTF-8, UTF-16 with a byte order mark or "
        "Windows-1252.",
    ),
]
AttributeTypes = Annotated[
    str,
    msgspec.Meta(
        max_length=ATTRIBUTE_TYPES_LIMIT,
        description='Types to declare before the file is read, as a JSON object: `{"zip": "string"}`.',
    ),
]
Columns = Annotated[
    str,
    msgspec.Meta(
        max_length=COLUMNS_LIMIT,
        description="What columns fill, as a JSON object by their names: `email`, `unsubscribed`, `subscribed` (the "
        "opposite), `attributes` (a JSON object), `attributes.<name>`, or null to leave one out. Columns that are not "
        "named are understood by themselves.",
    ),
]

ids_of = import_store.ids_of


@post(
    "/projects/{project_id}/contacts/import",
    needs="contacts:write",
    status=201,
    body_limit=IMPORT_LIMIT,
    takes="text/csv",
    problems=[
        ContactAttributeDeclared,
        HeaderTooLarge,
        ImportFileInvalid,
        TooManyContactAttributes,
        TooManyImports,
        UploadBroken,
        UnsupportedMediaType,
    ],
    shows={
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

    The first line is the header; a line `sep=;` may stand before it. `email` is required; `unsubscribed` (true or
    false) is understood, both also by other names and in other languages, `attributes` may hold a JSON object; every
    other column is an attribute of its name. The type of the attribute decides what its cells mean (see
    `contact-attributes`). An attribute without a type gets the one that all cells of its column fit in the first
    10,000 rows, else `string`. A cell that does not fit a type that somebody declared fails its row; one that does not
    fit an inferred type is kept as text. `attributeTypes` declares types before the file is read. An empty cell says
    nothing. Commas, semicolons, tabs and `|` separate. `POST …/contacts/import/preview` shows how a file would be
    read.

    `mode=upsert` (the default) merges into contacts that exist, `skip` leaves them alone. An import unsubscribes,
    but never subscribes anybody again. The answer comes when the file is in; the rows follow in the background,
    and `GET …/contacts/imports/{id}` tells how far it is.
    """
    stated = _stated(request, charset, columns)
    types = read_types(attribute_types)
    import_id = new_id()
    actor = actor_of(call)
    async with call.db.transaction() as tx:
        await tx.lock_quota("imports", call.project_id)
        if await import_store.count_running(tx, project_id=call.project_id) >= IMPORTS_AT_ONCE:
            raise TooManyImports
        await require_declarable(tx, call.project_id, types)
        await import_store.insert_import(
            tx,
            project_id=call.project_id,
            id=import_id,
            mode=mode,
            now=call.now,
            due_at=call.now + UPLOAD_TIME,
            **actor._asdict(),
        )

    async def keep(starts_at: int, data: bytes) -> None:
        await import_store.insert_part(
            call.db, project_id=call.project_id, import_id=import_id, starts_at=starts_at, data=data
        )

    try:
        file = await _receive(request, stated, keep)
    except InternalServerException:  # What Litestar makes of a caller who goes away in the middle.
        await import_store.drop_upload(call.db, project_id=call.project_id, id=import_id)
        raise UploadBroken from None
    except BaseException:
        await import_store.drop_upload(call.db, project_id=call.project_id, id=import_id)
        raise
    async with call.db.transaction() as tx:
        made = await import_store.finish_upload(
            tx,
            project_id=call.project_id,
            id=import_id,
            bytes=file.size,
            line=file.header.line + 1,
            position=file.header.length,
            charset=file.header.charset,
            charset_from=file.header.charset_from,
            delimiter=file.header.delimiter,
            columns=Jsonb(file.header.columns),
            now=call.now,
        )
        if made is not None:
            await declare_all(tx, call.project_id, types, call.now)
            tx.makes_due("contact_imports")
    if made is None:
        raise ImportMissing("The upload took too long and was given up.")
    return made


@post(
    "/projects/{project_id}/contacts/import/preview",
    needs="contacts:write",
    body_limit=IMPORT_LIMIT,
    takes="text/csv",
    problems=[
        ContactAttributeDeclared,
        HeaderTooLarge,
        ImportFileInvalid,
        TooManyContactAttributes,
        TooManyPreviews,
        UploadBroken,
        UnsupportedMediaType,
    ],
)
async def preview_contact_import(
    call: Call,
    request: RawRequest,
    charset: Charset | None = None,
    columns: Columns | None = None,
    attribute_types: AttributeTypes | None = None,
) -> ContactImportPreview:
    """Show how an import would read a CSV file: its encoding, what each column fills, and the first 20 rows.

    The body is the file, or its beginning, as for `POST …/contacts/import`, and `charset`, `columns` and
    `attributeTypes` mean the same there. Nothing is kept. `problems` lists what stops an import (`blocking`) and what
    to look at before it, each with what to do. A file that is cut off is read as if it ended there; its encoding may
    only show later.
    """
    stated = _stated(request, charset, columns)
    types = read_types(attribute_types)
    async with call.db.transaction() as tx:
        await require_declarable(tx, call.project_id, types)
        known = await declarations(tx, call.project_id)
    known |= {name: DeclaredType(kind, False) for name, kind in types.items()}
    previews: Previews = call.world.resources.setdefault(Previews, Previews())
    with previews.of(call.project_id):
        try:
            file = await _receive(request, stated, None)
        except InternalServerException:
            raise UploadBroken from None
        async with previews.turn:
            return await asyncio.to_thread(_preview, file, known)


class Previews:
    """The previews under way in this process.

    Working one out can take 25 times the memory of what it holds of its file, and the threads are those that other
    operations need too: so that is done for one after the other.
    """

    def __init__(self) -> None:
        self.turn = asyncio.Semaphore(1)
        self._under_way: Counter[UUID] = Counter()

    @contextmanager
    def of(self, project_id: UUID) -> Iterator[None]:
        """Count one preview of a project while it is under way. Raises TooManyPreviews."""
        if self._under_way[project_id] >= PREVIEWS_AT_ONCE:
            raise TooManyPreviews
        self._under_way[project_id] += 1
        try:
            yield
        finally:
            self._under_way[project_id] -= 1
            if not self._under_way[project_id]:
                del self._under_way[project_id]

    async def aclose(self) -> None:
        """Nothing is kept open."""


class ImportOptions(msgspec.Struct, frozen=True):
    """What the caller says of a file."""

    charset: str | None
    columns: dict[str, str | None]


class ReceivedFile(msgspec.Struct, frozen=True):
    """A file that was received: what its header says, and how it begins."""

    header: CsvHeader
    start: bytes
    size: int


def _stated(request: RawRequest, charset: str | None, columns: str | None) -> ImportOptions:
    """What a request says of its file. Raises UnsupportedMediaType, and Invalid for what is not understood."""
    media_type, parameters = request.content_type
    if media_type and media_type.strip().lower() not in CSV_TYPES:
        raise UnsupportedMediaType("Send the file itself as `Content-Type: text/csv`.")
    if charset is not None:
        return ImportOptions(_charset(charset, "query/charset"), _columns(columns))
    label = parameters.get("charset")
    return ImportOptions(None if label is None else _charset(label, "header/Content-Type"), _columns(columns))


def _charset(label: str, where: str) -> str:
    found = charset_named(label)
    if found is None:
        message = f"The encoding `{label[:40]}` is not taken; these are: {', '.join(CODECS)}."
        raise Invalid.at(where, message, "charset_unknown")
    return found


def _columns(text: str | None) -> dict[str, str | None]:
    """What the caller says that columns fill. Raises Invalid."""
    if text is None:
        return {}
    where = "query/columns"
    try:
        found = msgspec.json.decode(text, type=dict[str, str | None])
    except (msgspec.MsgspecError, RecursionError):
        message = 'Expected a JSON object of names of columns and what they fill, such as {"Kunde": "email"}.'
        raise Invalid.at(where, message) from None
    for name, target in found.items():
        attribute = target.removeprefix("attributes.") if target else None
        if target in (None, *FIELDS):
            continue
        if not target or attribute == target or attribute is None:
            choices = ", ".join(f"`{each}`" for each in FIELDS)
            message = f"`{name[:100]}` fills one of {choices}, an attribute (`attributes.name`), or null for nothing."
            raise Invalid.at(where, message)
        if fault := attribute_fault(attribute, None):
            raise Invalid.at(where, f"`{name[:100]}`: {fault}")
    return found


Keep = Callable[[int, bytes], Awaitable[None]]
"""Stores a piece of a file, which begins at so many bytes."""


async def _receive(request: RawRequest, stated: ImportOptions, keep: Keep | None) -> ReceivedFile:
    """Read a file from the body, in pieces that go to `keep`, and understand its header; bounded in memory.

    What looks at the file runs in threads. With `keep` (an import), raises ImportFileInvalid as soon as the header is
    known to be refused.
    """
    survey, size, pending, start = Utf8Detector(ROW_LIMIT), 0, bytearray(), bytearray()
    asked = stated.charset is None

    def understand() -> CsvHeader:
        header = read_header(bytes(start), declared=stated.charset, is_utf8=survey.is_utf8, mapping=stated.columns)
        if keep:
            header.check()
        return header

    async def take(piece: bytes) -> None:
        nonlocal size
        if len(start) < (PIECE if keep else PREVIEW_BYTES):
            start.extend(piece)
        if asked:
            await asyncio.to_thread(survey.feed, piece)
        if keep and not size and len(piece) == PIECE:
            await asyncio.to_thread(understand)
        if keep:
            await keep(size, piece)
        size += len(piece)

    async for received in request.stream():
        pending += received
        while len(pending) >= PIECE:
            piece = bytes(pending[:PIECE])
            del pending[:PIECE]
            await take(piece)
    await take(bytes(pending))
    if asked:
        await asyncio.to_thread(survey.end)
    return ReceivedFile(await asyncio.to_thread(understand), bytes(start), size)


def _preview(file: ReceivedFile, known: Declarations) -> ContactImportPreview:
    """How an import would read a file."""
    header, layout = file.header, file.header.layout
    importable = not any(each.blocking for each in header.notices)
    pieces = [file.start[header.length :]]
    lines = [*read_batch(layout, pieces, number=header.line + 1, position=header.length)]
    inferred = infer_columns(layout, lines, known)
    types = {name: DeclaredType(kind, True) for name, kind in inferred.items()} | dict(known)
    readers, shown = readers_of(layout, types), lines[:PREVIEW_ROWS]
    samples: list[list[str]] = [[] for _ in header.columns]
    for line in shown:
        for cell, several in zip(line.cells or (), samples, strict=False):
            if cell.strip() and len(several) < PREVIEW_SAMPLES:
                several.append(cell.strip()[:SAMPLE_LIMIT])
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
                samples=several,
            )
            for column, name, several in zip(header.columns, layout.columns, samples, strict=True)
        ],
        rows=[_preview_row(layout, line, readers) for line in shown] if importable else [],
        problems=header.notices,
        importable=importable,
    )


def _preview_row(
    layout: ColumnLayout, line: CsvRecord, readers: Sequence[tuple[int, str, Reader]]
) -> ContactImportPreviewRow:
    try:
        row = row_of(layout, line, readers)
    except RowFault as fault:
        return ContactImportPreviewRow(
            line=line.number, email=None, unsubscribed=None, attributes=None, error=str(fault)
        )
    return ContactImportPreviewRow(
        line=line.number, email=row.email, unsubscribed=row.unsubscribed, attributes=row.attributes, error=None
    )


@get("/projects/{project_id}/contacts/imports", needs="contacts:read")
async def list_contact_imports(
    call: Call, limit: ListLimit = 100, cursor: Cursor | None = None
) -> LinkedList[ContactImport]:
    """The project's imports, newest first."""
    before = before_id(call, "contact-imports", cursor)
    rows = await import_store.list_imports(call.db, project_id=call.project_id, before=before, limit=limit + 1)
    return linked_list(call, "contact-imports", rows, limit)


@get("/projects/{project_id}/contacts/imports/{id}", needs="contacts:read", problems=[ImportMissing])
async def get_contact_import(call: Call, id: UUID) -> ContactImport:
    """How far an import is: `status` goes from PENDING over RUNNING to COMPLETED or FAILED.

    `rows` is the sum of `created`, `updated`, `skipped` and `failed`; `position` of `bytes` have been worked
    through. `errors` lists the first 200 lines that failed, with the reason.
    """
    found = await import_store.get_import(call.db, project_id=call.project_id, id=id)
    if found is None:
        raise ImportMissing
    return found


@get("/projects/{project_id}/contacts/export", needs="contacts:read", media_types=["text/csv"])
async def export_contacts(call: Call) -> HttpResponse:
    """All contacts as CSV, oldest first, a column for each attribute; an import of it gives the same values.

    The type of an attribute decides how an import reads its column. The column `attributes` holds as JSON what a cell
    of that type cannot hold: values of another type, objects, empty texts, and attributes beyond the 500 most
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
        async for chunk in csv_stream(header_of(types), _export_rows(tx, call.project_id, types)):
            yield chunk


def header_of(names: Iterable[str]) -> list[str]:
    """The header of an export with columns for these attributes."""
    ours = ["id", "email", "unsubscribed", "createdAt", "updatedAt", "lastOpenedAt", "lastClickedAt"]
    columns = [f"attributes.{name}" if _has_other_meaning(name) else name for name in names]
    return [*ours, *columns, "attributes"]


def _has_other_meaning(name: str) -> bool:
    """Whether an import would take a column of this name for something else than an attribute."""
    return name.startswith("attributes.") or name.casefold() in ("attributes", *OURS) or field_of(name) is not None


async def _export_rows(
    tx: Transaction, project_id: UUID, types: Mapping[str, AttributeType]
) -> AsyncIterator[list[Any]]:
    async for row in store.exported(tx, project_id=project_id):
        ours = [row.id, row.email, row.unsubscribed, row.created, row.updated, row.opened, row.clicked]
        yield ours + cells_of(types, row.attributes)


def rows_from(given: Iterable[tuple[str, dict[str, Any]]]) -> list[ImportRow]:
    """Contacts from addresses and attributes, invalid addresses left out and repeated ones merged."""
    rows: dict[str, ImportRow] = {}
    for number, (text, attributes) in enumerate(given, start=1):
        try:
            email, key = read_email(text.strip())
        except RowFault:
            continue
        if key in rows:
            rows[key].attributes |= attributes
        else:
            rows[key] = ImportRow(number, email, key, dict(attributes), False)
    return list(rows.values())


async def lock_rows(tx: Transaction, project_id: UUID, keys: Sequence[str], ids: Sequence[UUID] = ()) -> list[UUID]:
    """Hold the contacts there are of many, by normalised address or id, before the others are made."""
    keys = sorted(set(keys))
    if await store.count_known(tx, project_id=project_id, keys=keys) < len(keys):
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
) -> import_store.ImportedBatch:
    """Create and update many contacts at once: rows, events and memberships, in the transaction.

    No address may come twice. The caller holds the project's lock (`store.hold_shared`). Attributes without a type get
    that of `types`, or by default that of their first value.
    """
    if mode == "upsert":
        await lock_rows(tx, project_id, [row.email_key for row in rows])
    first = new_id()
    taken = await import_store.import_rows(
        tx,
        project_id=project_id,
        rows=Jsonb([_staged(row) for row in rows]),
        **inferred_as(types_of(row.attributes for row in rows) if types is None else types),
        mode=mode,
        attributes_limit=ATTRIBUTES_LIMIT,
        attribute_count_limit=ATTRIBUTE_COUNT_LIMIT,
        now=now,
        event_id=first,
        **actor._asdict(),
    )
    names = ("contact.created", "contact.updated", "contact.unsubscribed")
    await events.record_range(tx, project_id, first, names, taken.told)
    await contacts_changed(tx, project_id, taken.ids, now, actor)
    return taken


def _staged(row: ImportRow) -> dict[str, Any]:
    return {
        "line": row.line,
        "id": new_id(),
        "email": row.email,
        "email_key": row.email_key,
        "attributes": row.attributes,
        "unsubscribed": row.unsubscribed,
    }
