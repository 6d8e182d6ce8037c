"""What becomes due with connections: certificates to warn about, and what may be forgotten."""

from typing import TYPE_CHECKING, Any
from uuid import UUID

from postern.identity.sso import rules, store
from postern.identity.sso.keys import at_place
from postern.identity.sso.metadata_refresh import refresh_metadata
from postern.identity.sso.model import LEASE, WARNED_BEFORE, ConnectionRow, MetadataRow
from postern.kernel.clock import Moment
from postern.kernel.due import Work, one_by_one
from postern.kernel.values import Record
from postern.platform.events import operations as events
from postern.platform.events.model import Event

if TYPE_CHECKING:
    from postern.world import World


class ExpiringSsoRow(Record):
    """Something that is kept for a while."""

    project_id: UUID
    id: UUID


async def warn(world: "World", job: ConnectionRow) -> None:
    """Tell of certificates of an active connection whose last day comes near."""
    now = world.clock()
    async with world.db.transaction() as tx:
        row = await store.lock_due_connection(tx, project_id=job.project_id, id=job.id)
        if row is None or row.attempt != job.attempt:
            return
        own = await store.keys(tx, project_id=row.project_id, connection_ids=[row.id])
        sp_not_after = at_place(own, "CURRENT").not_after
        due_at = rules.next_refresh_at(row, sp_not_after, now)
        await store.settle(tx, project_id=row.project_id, id=row.id, attempt=row.attempt, due_at=due_at)
        if row.status == "ACTIVE":
            await events.record_all(tx, _warnings(row, sp_not_after, now))


def _warnings(row: ConnectionRow, sp_not_after: Moment, now: Moment) -> list[Event]:
    idp_ends, sp_ends = rules.ends_of(row, sp_not_after)
    return [
        events.make_event(
            row.project_id,
            "sso.certificate_expiring",
            row.id,
            now,
            organizationId=str(row.organization_id),
            domain=row.domain,
            owner=owner,
            expiresAt=Moment.of(ends),
            daysLeft=max((ends - now).days, 0),
        )
        for owner, ends in (("IDP", idp_ends), ("SP", sp_ends))
        if ends - now <= WARNED_BEFORE[0]
    ]


async def forget_requests(world: "World", share: list[ExpiringSsoRow]) -> None:
    """Let requests go that nobody can answer any more."""
    ids = [row.id for row in share]
    await store.delete_expired_requests(world.db, project_id=share[0].project_id, ids=ids, now=world.clock())


async def forget_sign_ons(world: "World", share: list[ExpiringSsoRow]) -> None:
    """Let assertions go that have expired, with sessions that are over."""
    await store.delete_expired_logins(world.db, project_id=share[0].project_id, ids=[row.id for row in share])


async def forget_traces(world: "World", share: list[ExpiringSsoRow]) -> None:
    """Let traces go after their days."""
    await store.delete_expired_traces(world.db, project_id=share[0].project_id, ids=[row.id for row in share])


WORK: list[Work[Any]] = [
    Work("sso.metadata", "sso_metadata", MetadataRow, LEASE, one_by_one(refresh_metadata)),
    Work("sso.certificates", "sso_connections", ConnectionRow, LEASE, one_by_one(warn)),
    Work("sso.requests", "sso_requests", ExpiringSsoRow, LEASE, forget_requests, share=1_000),
    Work("sso.sign_ons", "sso_sign_ons", ExpiringSsoRow, LEASE, forget_sign_ons, share=1_000),
    Work("sso.traces", "sso_traces", ExpiringSsoRow, LEASE, forget_traces, share=1_000),
]
