"""Merging of past counters. Concurrent writers update separate rows, which are merged into one row later."""

from datetime import timedelta
from typing import TYPE_CHECKING

from postern.messaging.analytics import store

if TYPE_CHECKING:
    from postern.world import World

MERGE_AFTER = timedelta(hours=1)
"""Rows count the sends of a quarter of an hour. They are merged when it began at least this long ago, because then they
are rarely updated."""
BATCH = 2_000
"""Maximum rows that one statement merges."""
MAX_BATCHES = 100
"""Maximum statements of one run."""


async def merge_sums(world: "World") -> int:
    """Merge counter rows of past quarters of an hour, in up to MAX_BATCHES batches; returns the number of batches."""
    batches = 0
    before = world.clock() - MERGE_AFTER
    while batches < MAX_BATCHES and await store.merge_sums(world.db, before=before, limit=BATCH):
        batches += 1
    return batches
