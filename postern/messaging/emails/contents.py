"""The contents of sent e-mails in the store of contents."""

from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Final
from uuid import UUID

import msgspec

from postern.kernel.batching import all_of
from postern.kernel.database.statements import Queries, Transaction
from postern.kernel.values import Moment
from postern.messaging.content_store.model import (
    ContentCandidate,
    ContentDocument,
    ContentStoreUnavailable,
    MovedContents,
)
from postern.messaging.content_store.operations import move_again, read_content
from postern.messaging.emails import content_store as store
from postern.messaging.emails.model import WAITING, SendBody

if TYPE_CHECKING:
    from postern.world import World

FAILURES_OF_EXPORT = 3
"""After so many contents in a row that could not be read, an export does not wait for the store again."""
READ_TOGETHER = 8
"""How many contents an export reads at a time."""


class _EmailContents(MovedContents):
    kind = "emails"
    purpose = "send-content"

    async def oldest(self, db: Queries, *, first_id: UUID) -> UUID | None:
        return await store.oldest_content(db, first_id=first_id)

    async def insert_objects(self, tx: Transaction, *, first_id: UUID, end_id: UUID, octets: int, now: Moment) -> bool:
        return await store.insert_objects(tx, first_id=first_id, end_id=end_id, octets=octets, now=now)

    async def candidates(self, db: Queries, *, project_id: UUID, ids: list[UUID]) -> list[ContentCandidate]:
        return await store.candidates(db, project_id=project_id, ids=ids, waiting=list(WAITING))

    async def documents(self, db: Queries, *, project_id: UUID, ids: list[UUID]) -> list[ContentDocument]:
        return await store.documents(db, project_id=project_id, ids=ids)

    async def lock_to_move(
        self, tx: Transaction, *, project_id: UUID, ids: list[UUID], attempts: list[int]
    ) -> list[UUID]:
        return await store.lock_to_move(tx, project_id=project_id, ids=ids, attempts=attempts, waiting=list(WAITING))

    async def replace(self, tx: Transaction, *, project_id: UUID, ids: list[UUID], octets: list[int]) -> None:
        await store.replace_contents(tx, project_id=project_id, ids=ids, octets=octets)


MOVED_EMAILS: Final = _EmailContents()


async def read_document(world: "World", project_id: UUID, send_id: UUID, octets: int) -> bytes | None:
    """The content of a send, a JSON object, from its object of about `octets` octets; None if the store does not have
    it. Raises ContentStoreUnavailable."""
    return await read_content(world, MOVED_EMAILS, project_id, send_id, octets)


async def read_body(world: "World", project_id: UUID, send_id: UUID, octets: int) -> SendBody | None:
    """Like `read_document`, but decoded."""
    document = await read_document(world, project_id, send_id, octets)
    return None if document is None else msgspec.json.decode(document, type=SendBody)


async def restore_content(tx: Transaction, project_id: UUID, send_id: UUID, document: bytes, now: Moment) -> None:
    """Put a content that was moved back into the database, because the e-mail is sent again. Call it before the send
    is locked."""
    if await store.restore_content(tx, project_id=project_id, send_id=send_id, document=document.decode()):
        await move_again(tx, project_id, send_id, now)


async def exported_contents(
    world: "World", project_id: UUID, chunks: AsyncIterator[list[str]]
) -> AsyncIterator[list[str]]:
    """Rows of the table `send_bodies` of an export, JSON objects, with the contents from the store.

    A content that cannot be read is left out, and the row then says so: `"contentMissing": true`.
    """
    failures = 0
    """In a row."""

    async def completed(text: str) -> str:
        nonlocal failures
        row = msgspec.json.decode(text)
        octets = row.pop("objectOctets", None)
        document = None
        if octets is None:
            return msgspec.json.encode(row).decode()
        if failures < FAILURES_OF_EXPORT:
            try:
                document = await read_document(world, project_id, UUID(row["sendId"]), octets)
                failures = 0
            except ContentStoreUnavailable:
                failures += 1
        row |= {"contentMissing": True} if document is None else {"body": msgspec.Raw(document)}
        return msgspec.json.encode(row).decode()

    async for rows in chunks:
        for start in range(0, len(rows), READ_TOGETHER):
            yield await all_of(completed(text) for text in rows[start : start + READ_TOGETHER])
