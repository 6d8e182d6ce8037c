"""Contacts by the thousand: imports of CSV files, and the export."""

from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from typing import Annotated, Any
from uuid import UUID

import msgspec
from litestar.exceptions import InternalServerException

from postern.audiences import intake_store, store
from postern.audiences.attributes import declare_all, inferred_as, read_types, require_declarable
from postern.audiences.cells import cells_of, types_of
from postern.audiences.membership import SYSTEM, Actor, actor_of, contacts_changed
from postern.audiences.model import (
    ATTRIBUTE_COUNT_LIMIT,
    ATTRIBUTE_TYPES_LIMIT,
    ATTRIBUTES_LIMIT,
    EXPORTED_ATTRIBUTES,
    IMPORT_LIMIT,
    IMPORTS_AT_ONCE,
    UPLOAD_TIME,
    AttributeType,
    ContactAttributeDeclared,
    ContactImport,
    ImportFileInvalid,
    ImportMissing,
    ImportMode,
    TooManyContactAttributes,
    TooManyImports,
    UploadBroken,
)
from postern.audiences.spreadsheet import OURS, ROW_LIMIT, Row, RowFault, read_email, read_layout
from postern.events import operations as events
from postern.kernel.clock import Moment
from postern.kernel.credentials import Call
from postern.kernel.database import Jsonb, Transaction
from postern.kernel.http import Answer, RawRequest, UnsupportedMediaType, get, post
from postern.kernel.pages import Cursor, Listed, ListLimit, before_id, csv_stream, listed
from postern.kernel.values import new_id

PIECE = 1_048_576
"""Bytes of an uploaded file that are kept as one row."""

CSV_TYPES = ("text/csv", "application/csv", "text/plain", "application/octet-stream")

AttributeTypes = Annotated[
    str,
    msgspec.Meta(
        max_length=ATTRIBUTE_TYPES_LIMIT,
        description='Types to declare before the file is read, as a JSON object: `{"zip": "string"}`.',
    ),
]

ids_of = intake_store.ids_of


@post(
    "/projects/{project_id}/contacts/import",
    needs="contacts:write",
    status=201,
    body_limit=IMPORT_LIMIT,
    takes="text/csv",
    problems=[
        ContactAttributeDeclared,
        ImportFileInvalid,
        TooManyContactAttributes,
        TooManyImports,
        UploadBroken,
        UnsupportedMediaType,
    ],
    shows={
        "status": "PENDING",
        "position": 0,
        "rows": 0,
        "created": 0,
        "updated": 0,
        "failed": 0,
        "errors": [],
        "finishedAt": None,
    },
)
async def import_contacts(
    call: Call, request: RawRequest, mode: ImportMode = "upsert", attribute_types: AttributeTypes | None = None
) -> ContactImport:
    """Import contacts from a CSV file: the body is the file, `Content-Type: text/csv`, at most 1 GiB.

    The first line is the header. `email` is required; `unsubscribed` (true or false) is understood, `attributes`
    may hold a JSON object; every other column is an attribute of its name. The type of the attribute decides what its
    cells mean (see `contact-attributes`). An attribute without a type gets the one that all cells of its column fit in
    the first 10,000 rows, else `string`. A cell that does not fit a type that somebody declared fails its row; one that
    does not fit an inferred type is kept as text. `attributeTypes` declares types before the file is read. An empty
    cell says nothing. Commas, semicolons and tabs separate.

    `mode=upsert` (the default) merges into contacts that exist, `skip` leaves them alone. An import unsubscribes,
    but never subscribes anybody again. The answer comes when the file is in; the rows follow in the background,
    and `GET …/contacts/imports/{id}` tells how far it is.
    """
    media_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if media_type and media_type not in CSV_TYPES:
        raise UnsupportedMediaType("Send the file itself as `Content-Type: text/csv`.")
    types = read_types(attribute_types)
    import_id = new_id()
    actor = actor_of(call)
    async with call.db.transaction() as tx:
        await tx.one_at_a_time("imports", call.project_id)
        if await intake_store.count_running(tx, project_id=call.project_id) >= IMPORTS_AT_ONCE:
            raise TooManyImports
        await require_declarable(tx, call.project_id, types)
        await intake_store.insert_import(
            tx,
            project_id=call.project_id,
            id=import_id,
            mode=mode,
            now=call.now,
            due_at=call.now + UPLOAD_TIME,
            **actor._asdict(),
        )
    try:
        size = await _upload(call, import_id, request)
    except InternalServerException:  # What Litestar makes of a caller who goes away in the middle.
        await intake_store.drop_upload(call.db, project_id=call.project_id, id=import_id)
        raise UploadBroken from None
    except BaseException:
        await intake_store.drop_upload(call.db, project_id=call.project_id, id=import_id)
        raise
    async with call.db.transaction() as tx:
        made = await intake_store.finish_upload(tx, project_id=call.project_id, id=import_id, bytes=size, now=call.now)
        if made is not None:
            await declare_all(tx, call.project_id, types, call.now)
    if made is None:
        raise ImportMissing("The upload took too long and was given up.")
    call.world.bell.ring("contact_imports")
    return made


async def _upload(call: Call, id: UUID, request: RawRequest) -> int:
    """Keep the body in pieces as it comes; returns its size. Raises ImportFileInvalid for a bad header."""
    size, pending, understood = 0, bytearray(), False
    async for received in request.stream():
        pending += received
        if not understood and (len(pending) > ROW_LIMIT or b"\n" in pending):
            read_layout(bytes(pending))
            understood = True
        while understood and len(pending) >= PIECE:
            await _keep(call, id, size, bytes(pending[:PIECE]))
            size += PIECE
            del pending[:PIECE]
    if not understood:
        read_layout(bytes(pending))
    await _keep(call, id, size, bytes(pending))
    return size + len(pending)


async def _keep(call: Call, id: UUID, starts_at: int, data: bytes) -> None:
    await intake_store.insert_piece(call.db, project_id=call.project_id, import_id=id, starts_at=starts_at, data=data)


@get("/projects/{project_id}/contacts/imports", needs="contacts:read")
async def list_contact_imports(
    call: Call, limit: ListLimit = 100, cursor: Cursor | None = None
) -> Listed[ContactImport]:
    """The project's imports, newest first."""
    before = before_id(call, "contact-imports", cursor)
    rows = await intake_store.imports(call.db, project_id=call.project_id, before=before, limit=limit + 1)
    return listed(call, "contact-imports", rows, limit)


@get("/projects/{project_id}/contacts/imports/{id}", needs="contacts:read", problems=[ImportMissing])
async def get_contact_import(call: Call, id: UUID) -> ContactImport:
    """How far an import is: `status` goes from PENDING over RUNNING to COMPLETED or FAILED.

    `rows` is the sum of `created`, `updated`, `skipped` and `failed`; `position` of `bytes` have been worked
    through. `errors` lists the first 200 lines that failed, with the reason.
    """
    found = await intake_store.import_(call.db, project_id=call.project_id, id=id)
    if found is None:
        raise ImportMissing
    return found


@get("/projects/{project_id}/contacts/export", needs="contacts:read", media_types=["text/csv"])
async def export_contacts(call: Call) -> Answer:
    """All contacts as CSV, oldest first, a column for each attribute; an import of it gives the same values.

    The type of an attribute decides how an import reads its column. The column `attributes` holds as JSON what a cell
    of that type cannot hold: values of another type, objects, empty texts, and attributes beyond the 500 most
    frequent. To import into another project, declare the same types there (`attributeTypes`).
    """
    return Answer(
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
    reserved = {"email", "unsubscribed", "attributes", *OURS}
    columns = [
        f"attributes.{name}" if name.casefold() in reserved or name.startswith("attributes.") else name
        for name in names
    ]
    return [*ours, *columns, "attributes"]


async def _export_rows(
    tx: Transaction, project_id: UUID, types: Mapping[str, AttributeType]
) -> AsyncIterator[list[Any]]:
    async for row in store.exported(tx, project_id=project_id):
        ours = [row.id, row.email, row.unsubscribed, row.created, row.updated, row.opened, row.clicked]
        yield ours + cells_of(types, row.attributes)


def rows_from(given: Iterable[tuple[str, dict[str, Any]]]) -> list[Row]:
    """Contacts from addresses and attributes, invalid addresses left out and repeated ones merged."""
    rows: dict[str, Row] = {}
    for number, (text, attributes) in enumerate(given, start=1):
        try:
            email, key = read_email(text.strip())
        except RowFault:
            continue
        if key in rows:
            rows[key].attributes |= attributes
        else:
            rows[key] = Row(number, email, key, dict(attributes), False)
    return list(rows.values())


async def hold_all(tx: Transaction, project_id: UUID, keys: Sequence[str], ids: Sequence[UUID] = ()) -> list[UUID]:
    """Hold the contacts there are of many, by normalised address or id, before the others are made."""
    keys = sorted(set(keys))
    if await store.count_known(tx, project_id=project_id, keys=keys) < len(keys):
        await store.hold_newcomers(tx, project_id=project_id)
    return await store.hold_contacts(tx, project_id=project_id, ids=list(ids), keys=keys)


async def take_in(
    tx: Transaction,
    project_id: UUID,
    rows: list[Row],
    mode: ImportMode,
    now: Moment,
    actor: Actor = SYSTEM,
    types: Mapping[str, AttributeType] | None = None,
) -> intake_store.Taken:
    """Create and update many contacts at once: rows, events and memberships, in the transaction.

    No address may come twice. The caller holds the project's lock (`store.hold_shared`). Attributes without a type get
    that of `types`, or by default that of their first value.
    """
    if mode == "upsert":
        await hold_all(tx, project_id, [row.email_key for row in rows])
    first = new_id()
    taken = await intake_store.take_in(
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
    await events.written(tx, project_id, first, names, taken.told)
    await contacts_changed(tx, project_id, taken.ids, now, actor)
    return taken


def _staged(row: Row) -> dict[str, Any]:
    return {
        "line": row.line,
        "id": new_id(),
        "email": row.email,
        "email_key": row.email_key,
        "attributes": row.attributes,
        "unsubscribed": row.unsubscribed,
    }
