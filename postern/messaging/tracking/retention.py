"""Deletion of opens and clicks of projects that have `logRetentionDays`."""

from typing import TYPE_CHECKING

from postern.kernel.values import ID_TOLERANCE, Moment, id_at
from postern.messaging.tracking import store
from postern.messaging.tracking.model import ARCHIVED_HITS
from postern.platform.projects.archive import Archive
from postern.platform.projects.model import ProjectRetention
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


async def _delete_batch(world: "World", project: ProjectRetention, before: Moment) -> int:
    project_id, end_id = project.project_id, id_at(before, ID_TOLERANCE)
    if not project.archives:
        return await store.delete_before(world.db, project_id=project_id, before=before, end_id=end_id, limit=BATCH)
    rows = await store.expired_rows(world.db, project_id=project_id, before=before, end_id=end_id, limit=BATCH)
    await world.resources[Archive].write(ARCHIVED_HITS, project_id, rows)
    return await store.delete_with_ids(world.db, project_id=project_id, ids=[row.id for row in rows])
