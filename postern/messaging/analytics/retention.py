"""Putting the sums of times that are over together: one row where several writers had one each."""

from datetime import timedelta
from typing import TYPE_CHECKING

from postern.messaging.analytics import store

if TYPE_CHECKING:
    from postern.world import World

LOOSE_FOR = timedelta(hours=1)
"""How long a quarter of an hour keeps its several rows; by then hardly anybody writes to it."""
CHUNK = 2_000
CHUNKS_AT_A_TIME = 100


async def merge_sums(world: "World") -> int:
    """Put the sums of past quarters together, in bounded chunks; returns how many. What they add up to stays."""
    done = 0
    before = world.clock() - LOOSE_FOR
    while done < CHUNKS_AT_A_TIME and await store.merge_sums(world.db, before=before, limit=CHUNK):
        done += 1
    return done
