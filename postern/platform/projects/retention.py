"""How long projects keep records that are deleted only on request: the e-mail log and events."""

from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import TYPE_CHECKING, Literal
from uuid import UUID

from postern.kernel.values import Moment
from postern.platform.projects import store

if TYPE_CHECKING:
    from postern.world import World

MAX_BATCHES = 100
"""Maximum batches of a project in one run, so that the worker is not occupied for long; the next run deletes the
rest."""


async def delete_expired_records(
    world: "World",
    setting: Literal["logRetentionDays", "eventRetentionDays"],
    delete_batch: Callable[["World", UUID, Moment], Awaitable[int]],
) -> int:
    """Call `delete_batch` for each project that has this setting, until nothing is left; returns the number of records
    deleted.

    `delete_batch` gets the project and the moment before which its records are no longer kept. It returns how many it
    has deleted, in a transaction of its own.
    """
    total = 0
    for project in await store.retention_by_project(world.db, setting=setting):
        before = world.clock() - timedelta(days=project.days)
        for _ in range(MAX_BATCHES):
            deleted = await delete_batch(world, project.project_id, before)
            total += deleted
            if not deleted:
                break
    return total
