"""The list of sites for the operator of the server, and the operator's commands on a site (suspend, resume, bounce),
for one project or for all."""

from datetime import datetime
from typing import Literal
from uuid import UUID

from postern.kernel.database.statements import Database, Transaction
from postern.kernel.values import Moment
from postern.messaging.emails import site_store
from postern.messaging.emails.model import (
    OPERATOR,
    SITE_COUNTS_SHOWN,
    SITE_WAITING_COUNTED,
    InstanceSite,
    ProjectSite,
)
from postern.messaging.emails.site_operations import bounce, resume

SiteOperation = Literal["suspended", "resumed", "bounced"]


async def sites_of_instance(db: Database, now: Moment, limit: int) -> list[InstanceSite]:
    """Up to `limit` sites with the messages of all projects, those with the most waiting messages first."""
    return await site_store.sites_of_instance(
        db, counted=SITE_WAITING_COUNTED, since=now - SITE_COUNTS_SHOWN, limit=limit, now=now
    )


async def operate(
    db: Database,
    operation: SiteOperation,
    name: str,
    project_id: UUID | None,
    *,
    now: Moment,
    reason: str = "",
    until: datetime | None = None,
) -> int:
    """Suspend, resume or bounce a site for one project, or for all if `project_id` is None.

    A suspension for all projects is separate from the suspensions of single projects and does not change these. Returns
    the number of projects concerned; for a suspension or its end for all projects, the number of sites with
    this name, of which a project with its own relay or addresses has a separate one.
    """
    async with db.transaction() as tx:
        projects = await site_store.projects_of_site(tx, name=name)
        chosen = [site for site in projects if project_id in (None, site.project_id)]
        changed = len(chosen)
        if project_id is None and operation != "bounced":
            changed = len(
                await site_store.suspend_for_all(
                    tx, name=name, until=until, reason=reason if operation == "suspended" else None, now=now
                )
            )
        for site in chosen:
            await _operate_for_project(tx, operation, site, project_id, reason=reason, until=until, now=now)
    return changed


async def _operate_for_project(
    tx: Transaction,
    operation: SiteOperation,
    site: ProjectSite,
    project_id: UUID | None,
    *,
    reason: str,
    until: datetime | None,
    now: Moment,
) -> None:
    if operation == "bounced":
        await bounce(tx, site, reason, now)
    elif operation == "suspended":
        if project_id is not None:
            await site_store.suspend_site(
                tx, project_id=site.project_id, id=site.id, until=until, reason=reason, by=OPERATOR, now=now
            )
    elif project_id is not None:
        await resume(tx, site, now)
    else:
        await site_store.release_queue(tx, project_id=site.project_id, id=site.id, now=now)
        tx.mark_due("project_sites")
