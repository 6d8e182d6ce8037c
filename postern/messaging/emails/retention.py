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
    """Delete expired data, and secrets of settled sends that remained; returns the number of batches.

    Log entries stay. Deletes at most MAX_BATCHES batches of each kind of data; the next run deletes the rest.
    """
    total = 0
    while total < MAX_BATCHES and await store.delete_expired_keys(world.db, window=IDEMPOTENCY_WINDOW):
        total += 1
    while total < MAX_BATCHES and await store.erase_settled_secrets(world.db, limit=BATCH):
        total += 1
    for delete_batch in (store.delete_expired_bodies, store.delete_expired_captured):
        batches_of_kind = 0
        while batches_of_kind < MAX_BATCHES and await delete_batch(
            world.db, now=world.clock(), default_days=RETENTION_DAYS, limit=BATCH
        ):
            batches_of_kind += 1
        total += batches_of_kind
    return total
