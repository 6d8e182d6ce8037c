"""How long projects keep records that are deleted only on request: the e-mail log and events."""

from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import TYPE_CHECKING, Literal

import structlog

from postern.kernel.values import Moment
from postern.platform.projects import store
from postern.platform.projects.archive import ArchiveFailed
from postern.platform.projects.model import ProjectRetention

if TYPE_CHECKING:
    from postern.world import World

log = structlog.get_logger(__name__)
MAX_BATCHES = 100
"""Maximum batches of a project in one run, so that the worker is not occupied for long; the next run deletes the
rest."""


async def delete_expired_records(
    world: "World",
    setting: Literal["logRetentionDays", "eventRetentionDays"],
    delete_batch: Callable[["World", ProjectRetention, Moment], Awaitable[int]],
) -> int:
    """Call `delete_batch` for each project that has this setting, until nothing is left; returns the number of records
    deleted.

    `delete_batch` gets the project and the moment before which its records are no longer kept. It returns how many it
    has deleted, in a transaction of its own. If the project archives its records and the archive fails, they are kept,
    and the next run tries again.
    """
    total = 0
    for project in await store.retention_by_project(world.db, setting=setting):
        before = world.clock() - timedelta(days=project.days)
        try:
            for _ in range(MAX_BATCHES):
                deleted = await delete_batch(world, project, before)
                total += deleted
                if not deleted:
                    break
        except ArchiveFailed as error:
            log.warning("archive_failed", project=str(project.project_id), setting=setting, error=str(error))
    return total
