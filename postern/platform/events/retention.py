"""Deletion of events of projects that have `eventRetentionDays`."""

from typing import TYPE_CHECKING
from uuid import UUID

from postern.kernel.values import ID_TOLERANCE, Moment, id_at
from postern.platform.events import store
from postern.platform.projects.retention import delete_expired_records

if TYPE_CHECKING:
    from postern.world import World

BATCH = 5_000
"""Maximum events that one statement deletes."""


async def delete_expired_events(world: "World") -> int:
    """Delete the events that their project keeps no longer; returns their number."""
    return await delete_expired_records(world, "eventRetentionDays", _delete_batch)


async def _delete_batch(world: "World", project_id: UUID, before: Moment) -> int:
    end_id = id_at(before, ID_TOLERANCE)
    return await store.delete_before(world.db, project_id=project_id, before=before, end_id=end_id, limit=BATCH)
