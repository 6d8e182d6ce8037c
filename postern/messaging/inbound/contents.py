"""Received messages in the store of contents. A message does not change, so it can be moved as soon as it is found."""

from typing import TYPE_CHECKING, Final
from uuid import UUID

from postern.kernel.database.statements import Queries, Transaction
from postern.kernel.values import Moment
from postern.messaging.content_store.model import ContentCandidate, ContentDocument, MovedContents
from postern.messaging.content_store.operations import read_content
from postern.messaging.emails.model import MessageGone
from postern.messaging.inbound import message_store as store
from postern.messaging.inbound.model import StoredInbound, StoredMessage

if TYPE_CHECKING:
    from postern.world import World


class _ReceivedMessages(MovedContents):
    kind = "received"
    purpose = "received-content"

    async def oldest(self, db: Queries, *, first_id: UUID) -> UUID | None:
        return await store.oldest_message(db, first_id=first_id)

    async def insert_objects(self, tx: Transaction, *, first_id: UUID, end_id: UUID, octets: int, now: Moment) -> bool:
        return await store.insert_objects(tx, first_id=first_id, end_id=end_id, octets=octets, now=now)

    async def candidates(self, db: Queries, *, project_id: UUID, ids: list[UUID]) -> list[ContentCandidate]:
        return await store.candidates(db, project_id=project_id, ids=ids)

    async def documents(self, db: Queries, *, project_id: UUID, ids: list[UUID]) -> list[ContentDocument]:
        return await store.documents(db, project_id=project_id, ids=ids)

    async def lock_to_move(
        self, tx: Transaction, *, project_id: UUID, ids: list[UUID], attempts: list[int]
    ) -> list[UUID]:
        return await store.lock_to_move(tx, project_id=project_id, ids=ids, attempts=attempts)

    async def replace(self, tx: Transaction, *, project_id: UUID, ids: list[UUID], octets: list[int]) -> None:
        await store.replace_messages(tx, project_id=project_id, ids=ids, octets=octets)


MOVED_MESSAGES: Final = _ReceivedMessages()


async def message_of(world: "World", project_id: UUID, id: UUID, stored: StoredInbound | StoredMessage) -> bytes:
    """The octets of a received message, wherever they are. Raises ContentStoreUnavailable, and MessageGone if the store
    does not have them."""
    if stored.object_octets is None:
        return stored.message
    message = await read_content(world, MOVED_MESSAGES, project_id, id, stored.object_octets)
    if message is None:
        raise MessageGone
    return message
