"""Background work of single sign-on: certificate warnings, metadata refreshes, and deletion of expired rows."""

from typing import TYPE_CHECKING, Any
from uuid import UUID

from postern.identity.sso import rules, store
from postern.identity.sso.keys import key_of_place
from postern.identity.sso.metadata_refresh import refresh_metadata
from postern.identity.sso.model import LEASE, WARNING_TIMES, ConnectionRow, MetadataRow
from postern.kernel.due import Work, for_each_row
from postern.kernel.values import Moment, Record
from postern.platform.events import operations as events
from postern.platform.events.model import EventRow

if TYPE_CHECKING:
    from postern.world import World


class ExpiringSsoRow(Record):
    """A row of a table whose rows are deleted when they are due."""

    project_id: UUID
    id: UUID


async def record_certificate_warnings(world: "World", job: ConnectionRow) -> None:
    """Record `sso.certificate_expiring` for each certificate of an active connection that expires within 30 days, and
    schedule the next warning."""
    now = world.clock()
    async with world.db.transaction() as tx:
        row = await store.lock_due_connection(tx, project_id=job.project_id, id=job.id)
        if row is None or row.attempt != job.attempt:
            return
        sp_keys = await store.keys(tx, project_id=row.project_id, connection_ids=[row.id])
        sp_not_after = key_of_place(sp_keys, "CURRENT").not_after
        due_at = rules.next_warning_at(row, sp_not_after, now)
        await store.set_next_warning(tx, project_id=row.project_id, id=row.id, attempt=row.attempt, due_at=due_at)
        if row.status == "ACTIVE":
            await events.record_all(tx, _warnings(row, sp_not_after, now))


def _warnings(row: ConnectionRow, sp_not_after: Moment, now: Moment) -> list[EventRow]:
    idp_expiry, sp_expiry = rules.expiry_times(row, sp_not_after)
    return [
        events.make_event(
            row.project_id,
            "sso.certificate_expiring",
            row.id,
            now,
            organizationId=str(row.organization_id),
            domain=row.domain,
            owner=owner,
            expiresAt=Moment.of(expiry),
            daysLeft=max((expiry - now).days, 0),
        )
        for owner, expiry in (("IDP", idp_expiry), ("SP", sp_expiry))
        if expiry - now <= WARNING_TIMES[0]
    ]


async def delete_expired_requests(world: "World", rows: list[ExpiringSsoRow]) -> None:
    """Delete expired requests. All `rows` belong to one project."""
    ids = [row.id for row in rows]
    await store.delete_expired_requests(world.db, project_id=rows[0].project_id, ids=ids, now=world.clock())


async def delete_expired_sign_ons(world: "World", rows: list[ExpiringSsoRow]) -> None:
    """Delete sign-ons whose retention has ended, with their assertion ids. All `rows` belong to one project."""
    await store.delete_expired_sign_ons(world.db, project_id=rows[0].project_id, ids=[row.id for row in rows])


async def delete_expired_traces(world: "World", rows: list[ExpiringSsoRow]) -> None:
    """Delete traces (recorded checks of SAML messages) whose retention has ended. All `rows` belong to one project."""
    await store.delete_expired_traces(world.db, project_id=rows[0].project_id, ids=[row.id for row in rows])


WORK: list[Work[Any]] = [
    Work("sso.metadata", "sso_metadata", MetadataRow, LEASE, for_each_row(refresh_metadata)),
    Work("sso.certificates", "sso_connections", ConnectionRow, LEASE, for_each_row(record_certificate_warnings)),
    Work("sso.requests", "sso_requests", ExpiringSsoRow, LEASE, delete_expired_requests, claim_size=1_000),
    Work("sso.sign_ons", "sso_sign_ons", ExpiringSsoRow, LEASE, delete_expired_sign_ons, claim_size=1_000),
    Work("sso.traces", "sso_traces", ExpiringSsoRow, LEASE, delete_expired_traces, claim_size=1_000),
]
