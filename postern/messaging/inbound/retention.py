"""Deletion of received messages, after the retention period of their project and on request."""

from itertools import groupby
from typing import TYPE_CHECKING
from uuid import UUID

from postern.kernel.database.statements import Transaction
from postern.kernel.values import Moment
from postern.messaging.inbound import message_store as store
from postern.messaging.inbound.model import DEFAULT_RETENTION_DAYS
from postern.platform.webhooks import operations as webhooks

if TYPE_CHECKING:
    from postern.world import World

BATCH = 500
"""Maximum number of messages of one project that one transaction deletes."""
MAX_BATCHES = 100
"""Maximum number of rounds of one run, so that the worker is not occupied for long; the next run deletes the rest."""


async def delete_expired_inbound(world: "World") -> int:
    """Delete the received messages of all projects whose retention period has ended; returns their number."""
    total = 0
    for _ in range(MAX_BATCHES):
        now = world.clock()
        expired = await store.expired_messages(world.db, now=now, default_days=DEFAULT_RETENTION_DAYS, limit=BATCH)
        for project_id, rows in groupby(expired, key=lambda row: row.project_id):
            async with world.db.transaction() as tx:
                await erase_received(tx, project_id, [row.id for row in rows], now)
        total += len(expired)
        if not expired:
            break
    return total


async def erase_received(tx: Transaction, project_id: UUID, ids: list[UUID], now: Moment) -> bool:
    """Delete received messages and the data of their events, which can contain their text; False if none exists."""
    if not await store.delete_messages(tx, project_id=project_id, ids=ids):
        return False
    await webhooks.erase_events(tx, project_id, ids, now)
    return True


async def erase_messages_of(tx: Transaction, project_id: UUID, address: str, send_ids: list[UUID], now: Moment) -> None:
    """Delete the messages whose first address in From is `address`, and the replies to these sends."""
    ids = await store.messages_of(tx, project_id=project_id, address=address.lower(), send_ids=send_ids)
    await erase_received(tx, project_id, ids, now)
