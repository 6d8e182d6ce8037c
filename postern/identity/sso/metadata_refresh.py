"""Periodic refresh of metadata from its URL, so that certificates and endpoints roll over automatically.

If the URL is unreachable, or returns invalid metadata or that of another provider, the last valid metadata stays.
"""

from typing import TYPE_CHECKING, Any

import msgspec
from msgspec.structs import replace

from postern.identity.sso import rules, store
from postern.identity.sso.keys import key_at
from postern.identity.sso.metadata_import import import_metadata
from postern.identity.sso.model import (
    IDP_PARTS,
    METADATA_GRACE,
    METADATA_REFRESH_INTERVAL,
    METADATA_RETRY_INTERVAL,
    TESTED_PARTS,
    ConnectionRow,
    MetadataRow,
)
from postern.kernel.clock import Moment
from postern.kernel.database.statements import Transaction
from postern.kernel.http.problems import Problem
from postern.platform.events import operations as events
from postern.platform.events.model import Event

if TYPE_CHECKING:
    from postern.world import World


async def refresh_metadata(world: "World", job: MetadataRow) -> None:
    """Fetch the metadata of a connection and apply changes. The entity id never changes."""
    connection = await store.connection(world.db, project_id=job.project_id, id=job.id)
    if connection is None or connection.idp_metadata_url is None:
        return
    now, url = world.clock(), connection.idp_metadata_url
    try:
        imported_columns = await import_metadata(world, now, xml=None, url=url, entity_id=connection.idp_entity_id)
        problem = _unusable(replace(connection, **imported_columns), now)
    except Problem as raised:
        imported_columns, problem = {}, raised.detail
    async with world.db.transaction() as tx:
        row = await store.lock_due_connection(tx, project_id=job.project_id, id=job.id)
        if row is None or row.idp_metadata_url != url or row.idp_entity_id != connection.idp_entity_id:
            return
        if not await _settle(tx, job, problem, Moment.of(now)):
            return
        if problem is None:
            await _apply_metadata(tx, row, replace(row, **imported_columns), Moment.of(now))


def _unusable(row: ConnectionRow, now: Moment) -> str | None:
    """Why an active connection would be incomplete with the new metadata, or None. Inactive ones can be incomplete."""
    faults = rules.missing_parts(row, domain_verified=True, now=now) if row.status == "ACTIVE" else []
    return " ".join(fault.message for fault in faults) or None


async def _settle(tx: Transaction, job: MetadataRow, problem: str | None, now: Moment) -> bool:
    """Store the result, and record one event if it has failed for long. False if another worker has claimed it."""
    since = None if problem is None else job.failing_since or now
    telling = since is not None and not job.told and now - since >= METADATA_GRACE
    settled = await store.settle_metadata(
        tx,
        project_id=job.project_id,
        id=job.id,
        attempt=job.attempt,
        read_at=now if problem is None else None,
        problem=problem,
        failing_since=since,
        told=problem is not None and (job.told or telling),
        due_at=Moment.of(now + (METADATA_REFRESH_INTERVAL if problem is None else METADATA_RETRY_INTERVAL)),
        now=now,
    )
    if settled and telling:
        await events.record_all(tx, [_event(job, "sso.metadata_failing", now, problem=problem, lastReadAt=job.read_at)])
    return settled


async def _apply_metadata(tx: Transaction, before: ConnectionRow, row: ConnectionRow, now: Moment) -> None:
    changed = [name for name in IDP_PARTS if getattr(row, name) != getattr(before, name)]
    if not changed:
        return
    own = await store.keys(tx, project_id=row.project_id, connection_ids=[row.id])
    pinned = "idp_certificate" not in changed
    tested_at = None if set(changed) & set(TESTED_PARTS) else row.tested_at
    due_at = row.due_at if pinned else rules.first_warning_at(row, key_at(own, "CURRENT").not_after, now)
    stored = msgspec.structs.replace(row, tested_at=tested_at, due_at=due_at)
    await store.update_connection(tx, stored, now=now)
    if not pinned:
        tx.makes_due("sso_connections")
    details: dict[str, Any] = {"organizationId": str(row.organization_id), "domain": row.domain}
    fields = [rules.in_json(name) for name in changed]
    await events.record_all(tx, [_event(row, "sso.metadata_changed", now, **details, changed=fields)])


def _event(row: ConnectionRow | MetadataRow, type: str, now: Moment, **data: Any) -> Event:
    return events.make_event(row.project_id, type, row.id, now, **data)
