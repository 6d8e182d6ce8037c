"""What is kept no longer than it should be: words and captured messages by each project's retention, keys by a day.

A worker tidies every ten minutes, in bounded chunks; several workers at once only share the chunks.
"""

from datetime import timedelta
from typing import TYPE_CHECKING

from postern.messaging.emails import store
from postern.messaging.emails.model import IDEMPOTENCY_WINDOW

if TYPE_CHECKING:
    from postern.world import World

TIDY_EVERY = timedelta(minutes=10)
RETENTION_DAYS = 30
"""How long words and captured messages are kept where a project sets nothing."""
CHUNK = 2_000
CHUNKS_AT_A_TIME = 100
"""Chunks of each kind in one go, so that tidying never holds a worker up for long."""


async def delete_expired(world: "World") -> int:
    """Take away what has outlived its time; returns how many chunks were removed. The log entries themselves stay."""
    removed = 0
    while removed < CHUNKS_AT_A_TIME and await store.delete_expired_keys(world.db, window=IDEMPOTENCY_WINDOW):
        removed += 1
    while removed < CHUNKS_AT_A_TIME and await store.erase_settled(world.db, limit=CHUNK):
        removed += 1
    for forget in (store.delete_expired_bodies, store.delete_expired_captured):
        done = 0
        while done < CHUNKS_AT_A_TIME and await forget(
            world.db, now=world.clock(), default_days=RETENTION_DAYS, limit=CHUNK
        ):
            done += 1
        removed += done
    return removed
