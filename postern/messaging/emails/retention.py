"""Deletion of expired data: content, captured messages and the log after each project's retention, idempotency keys
after a day, MTA-STS policies after their lifetime, sites (groups of mail servers, see `sites`) a month after their last
use, results of TLS after 30 days.

Each worker runs it every ten minutes, in batches of bounded size. Several workers can run it at the same time.
"""

from collections.abc import Awaitable, Callable
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING

from postern.kernel.values import ID_TOLERANCE, Moment, id_at
from postern.messaging.emails import erasure_store, site_store, store, sts_store, tls_report_store
from postern.messaging.emails.model import ARCHIVED_SENDS, IDEMPOTENCY_WINDOW
from postern.messaging.emails.tls_reports import KEPT_FOR
from postern.platform.projects.archive import Archive
from postern.platform.projects.model import ProjectRetention
from postern.platform.projects.retention import delete_expired_records

if TYPE_CHECKING:
    from postern.world import World

RETENTION_EVERY = timedelta(minutes=10)
RETENTION_DAYS = 30
"""Default number of days for which content and captured messages are kept."""
SITES_KEPT = timedelta(days=30)
"""How long a site is kept after its last use."""
SITE_COUNTS_KEPT = timedelta(days=2)
"""How long the hourly counts of the results at a site are kept."""
BATCH = 2_000
"""Maximum rows that one statement changes; of content and captured messages, for each project."""
KEYS_BATCH = 10_000
"""The same for idempotency keys, which are small and many."""
MAX_BATCHES = 100
"""Maximum batches of one run for each kind of data, so that the worker is not occupied for long."""


async def delete_expired(world: "World") -> int:
    """Delete expired data, and erase secrets that remained when their send was settled; returns the number of batches.

    Log entries are deleted by `delete_expired_log`. Deletes at most MAX_BATCHES batches of each kind of data; the next
    run deletes the rest.
    """
    before = (world.clock() - KEPT_FOR).date()
    in_retention = {"now": world.clock(), "default_days": RETENTION_DAYS, "limit": BATCH}
    batches: list[Callable[[], Awaitable[bool]]] = [
        partial(store.delete_expired_keys, world.db, window=IDEMPOTENCY_WINDOW, limit=KEYS_BATCH),
        partial(store.erase_settled_secrets, world.db, limit=BATCH),
        partial(store.delete_expired_bodies, world.db, **in_retention),
        partial(store.delete_expired_captured, world.db, **in_retention),
        partial(site_store.delete_old_counts, world.db, before=world.clock() - SITE_COUNTS_KEPT, limit=BATCH),
        partial(site_store.delete_unused_project_sites, world.db, before=world.clock() - SITES_KEPT, limit=BATCH),
        partial(site_store.delete_unused_sites, world.db, before=world.clock() - SITES_KEPT, limit=BATCH),
        partial(sts_store.delete_expired_policies, world.db, now=world.clock(), limit=BATCH),
        partial(tls_report_store.delete_old_results, world.db, before=before, limit=BATCH),
        partial(tls_report_store.delete_old_reports, world.db, before=before, limit=BATCH),
    ]
    total = 0
    for change_batch in batches:
        batches_of_kind = 0
        while batches_of_kind < MAX_BATCHES and await change_batch():
            batches_of_kind += 1
        total += batches_of_kind
    return total


async def delete_expired_log(world: "World") -> int:
    """Delete the sends of projects with `logRetentionDays` that are older, and all that belongs to them; returns their
    number.

    Sends that wait, and those of campaigns that have not ended, stay. Statistics, and the numbers of a campaign, stay,
    too: they are counters.
    """
    return await delete_expired_records(world, "logRetentionDays", _delete_sends)


async def _delete_sends(world: "World", project: ProjectRetention, before: Moment) -> int:
    """Delete one batch in one transaction; returns the number of sends deleted."""
    project_id, end_id = project.project_id, id_at(before, ID_TOLERANCE)
    expired = await store.expired_sends(world.db, project_id=project_id, before=before, end_id=end_id, limit=BATCH)
    if not expired:
        return 0
    if project.archives:
        rows = await store.archived_sends(world.db, project_id=project_id, ids=expired)
        await world.resources[Archive].write(ARCHIVED_SENDS, project_id, rows)
    async with world.db.transaction() as tx:
        # In the order in which a retry and the erasure of a person lock them.
        await erasure_store.lock_bodies(tx, project_id=project_id, ids=expired)
        ids = await store.delete_sends(tx, project_id=project_id, ids=expired)
        for erase in (
            erasure_store.erase_bodies,
            erasure_store.erase_search,
            erasure_store.erase_attempts,
            erasure_store.erase_reports,
            erasure_store.erase_captured,
        ):
            await erase(tx, project_id=project_id, ids=ids)
    return len(ids)
