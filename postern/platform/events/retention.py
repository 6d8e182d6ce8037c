"""Deletion of events of projects that have `eventRetentionDays`."""

from typing import TYPE_CHECKING

from postern.kernel.values import ID_TOLERANCE, Moment, id_at
from postern.platform.events import store
from postern.platform.events.model import ARCHIVED_EVENTS
from postern.platform.projects.archive import Archive
from postern.platform.projects.model import ProjectRetention
from postern.platform.projects.retention import delete_expired_records

if TYPE_CHECKING:
    from postern.world import World

BATCH = 5_000
"""Maximum events that one statement deletes."""


async def delete_expired_events(world: "World") -> int:
    """Delete the events that their project keeps no longer; returns their number."""
    return await delete_expired_records(world, "eventRetentionDays", _delete_batch)


async def _delete_batch(world: "World", project: ProjectRetention, before: Moment) -> int:
    project_id, end_id = project.project_id, id_at(before, ID_TOLERANCE)
    if not project.archives:
        return await store.delete_before(world.db, project_id=project_id, before=before, end_id=end_id, limit=BATCH)
    rows = await store.expired_rows(world.db, project_id=project_id, before=before, end_id=end_id, limit=BATCH)
    await world.resources[Archive].write(ARCHIVED_EVENTS, project_id, rows)
    return await store.delete_with_ids(world.db, project_id=project_id, ids=[row.id for row in rows])
