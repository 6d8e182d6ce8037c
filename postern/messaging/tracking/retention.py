"""Deletion of opens and clicks of projects that have `logRetentionDays`."""

from typing import TYPE_CHECKING
from uuid import UUID

from postern.kernel.values import ID_TOLERANCE, Moment, id_at
from postern.messaging.tracking import store
from postern.platform.projects.retention import delete_expired_records

if TYPE_CHECKING:
    from postern.world import World

BATCH = 5_000
"""Maximum hits that one statement deletes."""


async def delete_expired_hits(world: "World") -> int:
    """Delete the opens and clicks that their project keeps no longer; returns their number.

    One that came when its message had been deleted stays as long as the others after it came.
    """
    return await delete_expired_records(world, "logRetentionDays", _delete_batch)


async def _delete_batch(world: "World", project_id: UUID, before: Moment) -> int:
    end_id = id_at(before, ID_TOLERANCE)
    return await store.delete_before(world.db, project_id=project_id, before=before, end_id=end_id, limit=BATCH)
