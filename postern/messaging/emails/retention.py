"""Deletion of expired data: content and captured messages after each project's retention, idempotency keys after a day.

Each worker runs it every ten minutes, in batches of bounded size. Several workers can run it at the same time.
"""

from datetime import timedelta
from typing import TYPE_CHECKING

from postern.messaging.emails import store
from postern.messaging.emails.model import IDEMPOTENCY_WINDOW

if TYPE_CHECKING:
    from postern.world import World

RETENTION_EVERY = timedelta(minutes=10)
RETENTION_DAYS = 30
"""Default number of days for which content and captured messages are kept."""
BATCH = 2_000
"""Maximum rows that one statement deletes."""
MAX_BATCHES = 100
"""Maximum batches of one run for each kind of data, so that the worker is not occupied for long."""


async def delete_expired(world: "World") -> int:
    """Delete expired data and the secrets of settled sends; returns the number of batches. Log entries stay."""
    removed = 0
    while removed < MAX_BATCHES and await store.delete_expired_keys(world.db, window=IDEMPOTENCY_WINDOW):
        removed += 1
    while removed < MAX_BATCHES and await store.erase_settled_secrets(world.db, limit=BATCH):
        removed += 1
    for delete_batch in (store.delete_expired_bodies, store.delete_expired_captured):
        batches = 0
        while batches < MAX_BATCHES and await delete_batch(
            world.db, now=world.clock(), default_days=RETENTION_DAYS, limit=BATCH
        ):
            batches += 1
        removed += batches
    return removed
