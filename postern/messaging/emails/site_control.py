"""The list of sites for the operator of the server, and the operator's commands on a site (suspend, resume, bounce),
for one project or for all.

A site is a group of mail servers that receive mail for the domains of recipients and are limited together: the servers
of a provider such as Google, or those of one domain. A relay and Amazon SES are sites, too.
"""

from datetime import datetime
from typing import Literal
from uuid import UUID

from postern.kernel.database.statements import Database, Transaction
from postern.kernel.values import Moment
from postern.messaging.emails import site_store
from postern.messaging.emails.model import (
    OPERATOR,
    SITE_COUNTS_PERIOD,
    SITE_WAITING_COUNT_LIMIT,
    InstanceSite,
    ProjectSite,
)
from postern.messaging.emails.site_operations import bounce, resume

SiteOperation = Literal["suspended", "resumed", "bounced"]
SITES_SHOWN = 1_000
"""Maximum number of sites that the operator's list shows, those with the most waiting messages first."""


async def sites_of_instance(db: Database, now: Moment, limit: int) -> list[InstanceSite]:
    """Up to `limit` sites, those with the most waiting messages first. Messages of all projects are counted."""
    return await site_store.sites_of_instance(
        db, counted=SITE_WAITING_COUNT_LIMIT, since=now - SITE_COUNTS_PERIOD, limit=limit, now=now
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

    A suspension for all projects is separate from the suspensions of single projects and does not change these.

    Returns how many projects are affected. If a site is suspended or resumed for all projects, returns instead how many
    sites have this name: the shared one, and one for each project with its own relay or IP addresses.
    """
    async with db.transaction() as tx:
        project_sites = await site_store.projects_of_site(tx, name=name)
        chosen = [site for site in project_sites if project_id in (None, site.project_id)]
        changed = len(chosen)
        if project_id is None and operation != "bounced":
            changed = len(
                await site_store.set_suspension_for_all(
                    tx, name=name, until=until, reason=reason if operation == "suspended" else None, now=now
                )
            )
        for site in chosen:
            await _operate_for_project(
                tx, operation, site, for_all=project_id is None, reason=reason, until=until, now=now
            )
    return changed


async def _operate_for_project(
    tx: Transaction,
    operation: SiteOperation,
    site: ProjectSite,
    *,
    for_all: bool,
    reason: str,
    until: datetime | None,
    now: Moment,
) -> None:
    """Apply an operation to the mail of one project. `for_all`: the operation is for all projects, so that a suspension
    is not stored for each of them."""
    if operation == "bounced":
        await bounce(tx, site, reason, now)
    elif operation == "suspended":
        if not for_all:
            await site_store.suspend_site(
                tx, project_id=site.project_id, id=site.id, until=until, reason=reason, by=OPERATOR, now=now
            )
    elif not for_all:
        await resume(tx, site, now)
    else:
        await site_store.release_queue(tx, project_id=site.project_id, id=site.id, now=now)
        tx.mark_due("project_sites", site.project_id)
