"""Periodic refresh of metadata from its URL, so that certificates and endpoints roll over automatically.

If the URL is unreachable, or returns invalid metadata or metadata of another provider, the last valid metadata stays.
"""

from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from postern.identity.sso import rules, store
from postern.identity.sso.keys import key_of_place
from postern.identity.sso.metadata_import import import_metadata
from postern.identity.sso.model import (
    IDP_COLUMNS,
    METADATA_GRACE,
    METADATA_REFRESH_INTERVAL,
    METADATA_RETRY_INTERVAL,
    TESTED_COLUMNS,
    ConnectionRow,
    MetadataRow,
)
from postern.kernel.database.statements import Transaction
from postern.kernel.http.problems import Problem
from postern.kernel.values import Moment
from postern.platform.events import operations as events
from postern.platform.events.model import EventRow

if TYPE_CHECKING:
    from postern.world import World


async def refresh_metadata(world: "World", job: MetadataRow) -> None:
    """Fetch the metadata of a connection, apply its changes, and schedule the next refresh. Metadata without the
    connection's entity id is not applied.

    Records `sso.metadata_changed`, or `sso.metadata_failing` once when refreshes have failed for METADATA_GRACE.
    """
    connection = await store.connection(world.db, project_id=job.project_id, id=job.id)
    if connection is None or connection.idp_metadata_url is None:
        return
    now, url = world.clock(), connection.idp_metadata_url
    try:
        imported_columns = await import_metadata(world, now, xml=None, url=url, entity_id=connection.idp_entity_id)
        problem = _incomplete_reason(replace(connection, **imported_columns), now)
    except Problem as error:
        imported_columns, problem = {}, error.detail
    async with world.db.transaction() as tx:
        row = await store.lock_due_connection(tx, project_id=job.project_id, id=job.id)
        if row is None or row.idp_metadata_url != url or row.idp_entity_id != connection.idp_entity_id:
            return
        if not await _store_result(tx, job, problem, Moment.of(now)):
            return
        if problem is None:
            await _apply_metadata(tx, row, replace(row, **imported_columns), Moment.of(now))


def _incomplete_reason(row: ConnectionRow, now: Moment) -> str | None:
    """Why an active connection would be incomplete with the new metadata, or None. Always None for a connection
    that is not active, because it may be incomplete."""
    errors = rules.missing_parts(row, domain_verified=True, now=now) if row.status == "ACTIVE" else []
    return " ".join(error.message for error in errors) or None


async def _store_result(tx: Transaction, job: MetadataRow, problem: str | None, now: Moment) -> bool:
    """Store the result, and record an event when refreshes have failed for METADATA_GRACE. Returns False if another
    worker has claimed the job."""
    failing_since = None if problem is None else job.failing_since or now
    is_event_due = failing_since is not None and not job.told and now - failing_since >= METADATA_GRACE
    result = replace(
        job,
        read_at=now if problem is None else job.read_at,
        looked_at=now,
        problem=problem,
        failing_since=failing_since,
        told=problem is not None and (job.told or is_event_due),
        due_at=Moment.of(now + (METADATA_REFRESH_INTERVAL if problem is None else METADATA_RETRY_INTERVAL)),
    )
    is_stored = await store.record_metadata_result(tx, result)
    if is_stored and is_event_due:
        await events.record_all(tx, [_event(job, "sso.metadata_failing", now, problem=problem, lastReadAt=job.read_at)])
    return is_stored


async def _apply_metadata(tx: Transaction, old_row: ConnectionRow, row: ConnectionRow, now: Moment) -> None:
    """Store the columns of `row` that differ from `old_row`, and record `sso.metadata_changed`."""
    changed_columns = [name for name in IDP_COLUMNS if getattr(row, name) != getattr(old_row, name)]
    if not changed_columns:
        return
    sp_keys = await store.keys(tx, project_id=row.project_id, connection_ids=[row.id])
    certificates_unchanged = "idp_certificate" not in changed_columns
    tested_at = None if set(changed_columns) & set(TESTED_COLUMNS) else row.tested_at
    due_at = (
        row.due_at
        if certificates_unchanged
        else rules.first_warning_at(row, key_of_place(sp_keys, "CURRENT").not_after, now)
    )
    await store.update_connection(tx, replace(row, tested_at=tested_at, due_at=due_at), now=now)
    if not certificates_unchanged:
        tx.mark_due("sso_connections", row.project_id)
    details: dict[str, Any] = {"organizationId": str(row.organization_id), "domain": row.domain}
    changed = [rules.json_name_of(name) for name in changed_columns]
    await events.record_all(tx, [_event(row, "sso.metadata_changed", now, **details, changed=changed)])


def _event(row: ConnectionRow | MetadataRow, type: str, now: Moment, **data: Any) -> EventRow:
    return events.make_event(row.project_id, type, row.id, now, **data)
