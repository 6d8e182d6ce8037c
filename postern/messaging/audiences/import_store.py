"""SQL of contact imports and of bulk inserts of contacts."""

from collections.abc import Sequence
from typing import LiteralString
from uuid import UUID

from postern.kernel.database.statements import Jsonb, Queries, Transaction, copied_statement, statement
from postern.kernel.values import Moment, Record
from postern.messaging.audiences.csv_reader import CsvHeader
from postern.messaging.audiences.model import (
    ContactImport,
    ImportAdvance,
    ImportMode,
    InferredAttributeTypes,
    StartedImport,
)
from postern.messaging.audiences.store import INSERT_INFERRED_TYPES
from postern.platform.events.bulk_store import INSERT_HAPPENED_EVENTS, BulkEvents


class ImportedBatch(Record):
    """The result of inserting a batch of contacts."""

    created: int
    updated: int
    event_count: int
    """Number of events recorded."""
    ids: list[UUID]
    """Ids of created and changed contacts."""
    too_large: list[int]
    """Numbers of lines whose attributes, merged with the existing ones, exceed a limit."""


class UploadChunk(Record):
    """A chunk of an uploaded file."""

    starts_at: int
    """Offset of the chunk in the file, in bytes."""
    data: bytes


# Insert or update contacts and record their events; with the mode `skip`, existing contacts stay as they are. The batch
# is one JSON parameter: PostgreSQL reads 10,000 rows from it about as fast as from COPY, without a staging table. `id`
# is used only for inserted contacts, so a returned row whose id is among the staged ones was created.
@statement(
    "with"
    + INSERT_INFERRED_TYPES
    + """, staged as materialized (
        select row.line, row.id, row.email, row.email_key, row.attributes, row.unsubscribed or exists (
            select from unsubscribed_addresses u
            where u.project_id = %(project_id)s and u.digest = sha256(convert_to(row.email_key, 'UTF8'))
        ) as unsubscribed
        from jsonb_to_recordset(%(rows)s::jsonb) as row
            (line bigint, id uuid, email text, email_key text, attributes jsonb, unsubscribed boolean)
    ), existing as materialized (
        select staged.line, staged.email_key, c.unsubscribed,
            %(mode)s::text = 'skip'
                or (c.attributes || staged.attributes = c.attributes and (c.unsubscribed or not staged.unsubscribed))
                as unchanged,
            %(mode)s::text = 'upsert' and c.attributes || staged.attributes <> c.attributes and (
                octet_length((c.attributes || staged.attributes)::text) > %(attributes_limit)s::int
                or (select count(*) from jsonb_object_keys(c.attributes || staged.attributes))
                    > %(attribute_count_limit)s::int
            ) as too_large
        from staged cross join lateral (
            select * from contacts where project_id = %(project_id)s and email_key = staged.email_key offset 0
        ) as c
    ), written as (
        insert into contacts as c (project_id, id, email, email_key, attributes, unsubscribed, unsubscribed_at,
                                   created_at, updated_at)
        select %(project_id)s::uuid, id, email, email_key, attributes, unsubscribed,
            case when unsubscribed then %(now)s::timestamptz end, %(now)s::timestamptz, %(now)s::timestamptz
        from staged where line not in (select line from existing where unchanged or too_large)
        order by email_key
        on conflict (project_id, email_key) do update set
            attributes = c.attributes || excluded.attributes,
            unsubscribed = c.unsubscribed or excluded.unsubscribed,
            unsubscribed_at = coalesce(c.unsubscribed_at, excluded.unsubscribed_at),
            updated_at = excluded.updated_at
        where %(mode)s = 'upsert'
          and (c.attributes || excluded.attributes <> c.attributes or (excluded.unsubscribed and not c.unsubscribed))
        returning id, email, email_key, unsubscribed
    ), result as materialized (
        select written.id, written.email, staged.id is not null as created,
            written.unsubscribed and existing.unsubscribed is false as unsubscribed
        from written left join staged on staged.id = written.id
        left join existing on existing.email_key = written.email_key
    ), happened as (
        select case when created then 'contact.created' else 'contact.updated' end as type, id as subject_id,
            jsonb_build_object('email', email) as data
        from result
        union all
        select 'contact.unsubscribed', id, jsonb_build_object('email', email) from result where unsubscribed
    ),
    """
    + INSERT_HAPPENED_EVENTS
    + """
    select count(*) filter (where created) as created, count(*) filter (where not created) as updated,
        count(*) + count(*) filter (where unsubscribed) as event_count, coalesce(array_agg(id), '{}') as ids,
        (select coalesce(array_agg(line), '{}') from existing where too_large) as too_large
    from result
"""
)
async def import_rows(
    tx: Transaction,
    events: BulkEvents,
    types: InferredAttributeTypes,
    *,
    project_id: UUID,
    rows: Jsonb,
    mode: ImportMode,
    attributes_limit: int,
    attribute_count_limit: int,
) -> ImportedBatch: ...


UNSUBSCRIBED_KEYS: LiteralString = """
    select given.key from given
    where (select exists (select from unsubscribed_addresses where project_id = %(project_id)s))
      and exists (
        select from unsubscribed_addresses u
        where u.project_id = %(project_id)s and u.digest = sha256(convert_to(given.key, 'UTF8')))
"""


# Those of the normalised addresses `keys` (a JSON array) that have a contact, or were unsubscribed when their contact
# was deleted. Locks these contacts (for no key update), ordered by id like `store.lock_contacts`.
@statement(
    """
    with given as materialized (select jsonb_array_elements_text(%(keys)s::jsonb) as key), existing as materialized (
        select email_key from contacts
        where project_id = %(project_id)s and id = any (array(
            select id from contacts
            where project_id = %(project_id)s and email_key = any (array(select key from given))))
        order by id for no key update
    )
    select email_key from existing union
    """
    + UNSUBSCRIBED_KEYS
)
async def lock_known_keys(tx: Transaction, *, project_id: UUID, keys: Jsonb) -> list[str]: ...


# Like `lock_known_keys`, without locks.
@statement(
    """
    with given as materialized (select jsonb_array_elements_text(%(keys)s::jsonb) as key)
    select email_key from contacts
    where project_id = %(project_id)s and email_key = any (array(select key from given)) union
    """
    + UNSUBSCRIBED_KEYS
)
async def known_keys(tx: Transaction, *, project_id: UUID, keys: Jsonb) -> list[str]: ...


# Insert contacts that have their times and `unsubscribed` in common. A unique violation means that one of them exists.
@copied_statement("""
    copy contacts (project_id, created_at, updated_at, unsubscribed, unsubscribed_at, id, email, email_key, attributes)
    from stdin (format binary)
""")
async def copy_contacts(
    tx: Transaction, *, project_id: UUID, constants: Sequence[bytes], rows: Sequence[bytes]
) -> None: ...


# Insert inferred types for attributes that have no type yet; returns how many of the attributes had none.
@statement("with" + INSERT_INFERRED_TYPES + "select count(*) from new_attributes")
async def insert_inferred_types(
    tx: Transaction, types: InferredAttributeTypes, *, project_id: UUID, now: Moment
) -> int: ...


# The ids of the contacts with these normalised addresses.
@statement("""
    select id from contacts where project_id = %(project_id)s and email_key = any (%(keys)s::text[])
""")
async def ids_of(tx: Transaction, *, project_id: UUID, keys: list[str]) -> list[UUID]: ...


# Insert an import whose file is going to be uploaded.
@statement("insert into contact_imports {row}")
async def insert_import(db: Queries, started: StartedImport) -> None: ...


# Store a chunk of the uploaded file.
@statement("insert into contact_import_pieces {row}")
async def insert_chunk(db: Queries, *, project_id: UUID, import_id: UUID, starts_at: int, data: bytes) -> None: ...


# Queue an import whose file was uploaded; returns None if the upload was cancelled meanwhile.
@statement("""
    update contact_imports set status = 'PENDING', bytes = %(bytes)s, line = %(line)s + 1, position = %(length)s,
        charset = %(charset)s, charset_from = %(charset_from)s, delimiter = %(delimiter)s, columns = %(columns)s,
        due_at = %(now)s, updated_at = %(now)s
    where project_id = %(project_id)s and id = %(id)s and status = 'UPLOADING'
    returning *, project_id as app_id
""")
async def finish_upload(
    db: Queries, header: CsvHeader, *, project_id: UUID, id: UUID, bytes: int, now: Moment
) -> ContactImport | None: ...


# Delete an import whose upload failed.
@statement("delete from contact_imports where project_id = %(project_id)s and id = %(id)s and status = 'UPLOADING'")
async def delete_failed_upload(db: Queries, *, project_id: UUID, id: UUID) -> None: ...


# The number of imports that are being uploaded, pending or running.
@statement("""
    select count(*) from contact_imports
    where project_id = %(project_id)s and due_at is not null
""")
async def count_running(db: Queries, *, project_id: UUID) -> int: ...


@statement("""
    select *, project_id as app_id from contact_imports where project_id = %(project_id)s and id = %(id)s
""")
async def get_import(db: Queries, *, project_id: UUID, id: UUID) -> ContactImport | None: ...


# Imports with ids below `before`, newest first.
@statement("""
    select *, project_id as app_id from contact_imports
    where project_id = %(project_id)s and (%(before)s::uuid is null or id < %(before)s)
    order by id desc limit %(limit)s
""")
async def list_imports(db: Queries, *, project_id: UUID, before: UUID | None, limit: int) -> list[ContactImport]: ...


# The first chunk of the file that starts at or after the offset `starts_at`; None if there is none.
@statement("""
    select starts_at, data from contact_import_pieces
    where project_id = %(project_id)s and import_id = %(import_id)s and starts_at >= %(starts_at)s
    order by starts_at limit 1
""")
async def get_first_chunk(db: Queries, *, project_id: UUID, import_id: UUID, starts_at: int) -> UploadChunk | None: ...


# The chunk of the file that contains the byte at `position`; at the end of the file, the last chunk.
@statement(
    """
    select starts_at, data from contact_import_pieces
    where project_id = %(project_id)s and import_id = %(import_id)s and starts_at <= %(position)s
    order by starts_at desc limit 1
    """,
    binary=True,
)
async def get_chunk_at(db: Queries, *, project_id: UUID, import_id: UUID, position: int) -> UploadChunk | None: ...


# Delete chunks that are imported completely: those before the chunk at `position`, except the first, which contains the
# header.
@statement("""
    delete from contact_import_pieces
    where project_id = %(project_id)s and import_id = %(import_id)s and starts_at > 0 and starts_at < (
        select max(starts_at) from contact_import_pieces
        where project_id = %(project_id)s and import_id = %(import_id)s and starts_at <= %(position)s
    )
""")
async def delete_chunks_before(tx: Transaction, *, project_id: UUID, import_id: UUID, position: int) -> None: ...


# Delete the uploaded file of an import that has ended.
@statement("delete from contact_import_pieces where project_id = %(project_id)s and import_id = %(import_id)s")
async def delete_all_chunks(tx: Transaction, *, project_id: UUID, import_id: UUID) -> None: ...


# Store the progress of an import and add to its counters; returns False if another worker has claimed it since.
@statement("""
    update contact_imports set status = %(status)s, position = %(position)s, line = %(line)s,
        rows = rows + %(rows)s, created = created + %(created)s, updated = updated + %(updated)s,
        skipped = skipped + %(skipped)s, failed = failed + %(failed)s, errors = %(errors)s, updated_at = %(now)s,
        finished_at = case when %(due_at)s::timestamptz is null then %(now)s::timestamptz end, due_at = %(due_at)s
    where project_id = %(project_id)s and id = %(id)s and attempt = %(attempt)s and due_at is not null
""")
async def advance(
    tx: Transaction, update: ImportAdvance, *, project_id: UUID, id: UUID, attempt: int, now: Moment
) -> bool: ...
