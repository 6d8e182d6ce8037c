"""Background work: invitation e-mails and expiry, domain checks, and deletion of organizations."""

from datetime import timedelta
from typing import TYPE_CHECKING, Any
from uuid import UUID

import structlog
from msgspec.structs import replace

from postern.identity.customers.mailer import undeliverable_reason
from postern.identity.organizations import domain_store, invitation_store, store
from postern.identity.organizations.domains import (
    check_domain,
    is_verified_by_another,
    record_check,
    record_check_of_taken_domain,
)
from postern.identity.organizations.mails import mail_invitation
from postern.identity.organizations.model import (
    CHECK_LEASE,
    DELETION_LEASE,
    MAIL_ATTEMPTS,
    MAIL_LEASE,
    OrganizationDomainRow,
    OrganizationInvitationRow,
)
from postern.kernel.database.catalog import delete_rows, dependent_rows
from postern.kernel.due import Work, for_each_row
from postern.kernel.http.problems import Problem
from postern.kernel.values import Record
from postern.platform.events.operations import make_event, record_all

if TYPE_CHECKING:
    from postern.world import World

log: structlog.stdlib.BoundLogger = structlog.get_logger(__name__)
SUSPENDED_RETRY_DELAY = timedelta(hours=1)
"""Delay before the next attempt to send the e-mail of an invitation to a suspended organization."""


async def process_invitation(world: "World", row: OrganizationInvitationRow) -> None:
    """Mark a pending invitation as expired and record `invitation.expired`, or send its e-mail.

    An e-mail that fails is tried again, up to MAIL_ATTEMPTS times. After a crash of the worker, it may be sent twice.
    """
    if row.status != "PENDING":
        return
    if row.expires_at <= world.clock():
        await _expire(world, row)
    else:
        await _mail(world, row)


async def _expire(world: "World", row: OrganizationInvitationRow) -> None:
    now = world.clock()
    async with world.db.transaction() as tx:
        if await invitation_store.expire_invitation(tx, project_id=row.project_id, id=row.id, now=now):
            event = make_event(
                row.project_id, "invitation.expired", row.id, now, organizationId=str(row.organization_id)
            )
            await record_all(tx, [event])


async def _mail(world: "World", row: OrganizationInvitationRow) -> None:
    organization = await store.get_organization(
        world.db, project_id=row.project_id, id=row.organization_id, now=world.clock()
    )
    if organization is None:
        return
    if organization.status == "SUSPENDED":
        due_at = min(world.clock() + SUSPENDED_RETRY_DELAY, row.expires_at)
        await invitation_store.store_mail_result(world.db, replace(row, mail_problem=None, due_at=due_at))
        return
    problem, mailed_at = None, row.mailed_at
    if row.mailed < row.generation:
        try:
            await mail_invitation(world, row, organization)
            mailed_at = world.clock()
        except Problem as error:
            mailed_at = None
            problem = undeliverable_reason(error)
            log.warning("invitation_not_mailed", project=str(row.project_id), problem=error.code())
            if row.attempt < MAIL_ATTEMPTS:
                due_at = min(world.clock() + timedelta(minutes=2**row.attempt), row.expires_at)
                await invitation_store.store_mail_result(world.db, replace(row, mail_problem=problem, due_at=due_at))
                return
    result = replace(row, mailed=row.generation, mailed_at=mailed_at, mail_problem=problem, due_at=row.expires_at)
    await invitation_store.store_mail_result(world.db, result)


async def check_due_domain(world: "World", domain: OrganizationDomainRow) -> None:
    """Check the TXT record of a domain, store the result, and record an event if the status changed."""
    record_exists = await check_domain(world, domain)
    now = world.clock()
    async with world.db.transaction() as tx:
        await domain_store.lock_domain_name(tx, project_id=domain.project_id, domain=domain.domain)
        row = await domain_store.lock_domain(tx, project_id=domain.project_id, id=domain.id)
        if row is None or row.attempt != domain.attempt:
            return  # The domain was removed, or another worker has claimed it.
        if record_exists and await is_verified_by_another(tx, row.project_id, row.organization_id, row.domain):
            await record_check_of_taken_domain(tx, row, now)
            return
        row, event = await record_check(tx, row, record_exists, now)
        if event:
            domain_event = make_event(
                row.project_id, event, row.organization_id, now, domain=row.domain, domainId=str(row.id)
            )
            await record_all(tx, [domain_event])


class DeletedOrganization(Record):
    """A row of `organizations` with the status DELETED, whose rows in other tables are being deleted."""

    project_id: UUID
    id: UUID
    attempt: int


async def delete_organization_rows(world: "World", row: DeletedOrganization) -> None:
    """Delete chunks of the rows of a deleted organization, and the organization itself when no row is left.

    Until then, each call makes the organization due again.
    """
    key: dict[str, Any] = {"project_id": row.project_id, "id": row.id}
    if await delete_rows(world.db, await dependent_rows(world.db, "organizations"), **key):
        await store.delete_organization(world.db, **key)
        log.info("organization_deleted", **{name: str(value) for name, value in key.items()})
    else:
        await store.reschedule_deletion(world.db, **key, attempt=row.attempt, due_at=world.clock())


WORK: list[Work[Any]] = [
    Work(
        "organizations.deletions",
        "organizations",
        DeletedOrganization,
        DELETION_LEASE,
        for_each_row(delete_organization_rows),
        claim_size=1,
        max_claims=2,
    ),
    Work(
        "organizations.invitations",
        "invitations",
        OrganizationInvitationRow,
        MAIL_LEASE,
        for_each_row(process_invitation),
    ),
    Work(
        "organizations.domains",
        "organization_domains",
        OrganizationDomainRow,
        CHECK_LEASE,
        for_each_row(check_due_domain),
        claim_size=50,
    ),
]
"""Due work of this feature."""
