"""Metadata that has an address is read again, so that certificates and addresses roll over without anybody's hand.

What came through last stays in force while the address does not answer, says nonsense, or describes somebody else.
"""

from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from postern.identity.sso import rules, store
from postern.identity.sso.keys import at_place
from postern.identity.sso.metadata_import import imported
from postern.identity.sso.model import (
    IDP_PARTS,
    METADATA_GRACE,
    METADATA_READ_EVERY,
    METADATA_RETRIED_EVERY,
    TESTED_PARTS,
    ConnectionRow,
    MetadataRow,
)
from postern.kernel.clock import Moment
from postern.kernel.database.statements import Jsonb, Transaction
from postern.kernel.http.problems import Problem
from postern.kernel.values import to_plain
from postern.platform.events import operations as events
from postern.platform.events.model import Event

if TYPE_CHECKING:
    from postern.world import World


async def refresh_metadata(world: "World", job: MetadataRow) -> None:
    """Fetch the metadata of a connection and take over what changed. The entity id stays what it is."""
    known = await store.connection(world.db, project_id=job.project_id, id=job.id)
    if known is None or known.idp_metadata_url is None:
        return
    now, url = world.clock(), known.idp_metadata_url
    try:
        given = await imported(world, now, xml=None, url=url, entity_id=known.idp_entity_id)
        problem = _unusable(replace(known, **given), now)
    except Problem as raised:
        given, problem = {}, raised.detail
    async with world.db.transaction() as tx:
        row = await store.lock_due_connection(tx, project_id=job.project_id, id=job.id)
        if row is None or row.idp_metadata_url != url or row.idp_entity_id != known.idp_entity_id:
            return
        if not await _settle(tx, job, problem, Moment.of(now)):
            return
        if problem is None:
            await _apply_metadata(tx, row, replace(row, **given), Moment.of(now))


def _unusable(row: ConnectionRow, now: Moment) -> str | None:
    """What an active connection would lack with the new metadata; others may be incomplete."""
    faults = rules.missing_parts(row, domain_verified=True, now=now) if row.status == "ACTIVE" else []
    return " ".join(each.message for each in faults) or None


async def _settle(tx: Transaction, job: MetadataRow, problem: str | None, now: Moment) -> bool:
    """Write down how it went, and tell once of what fails for long. False if a later look has begun."""
    since = None if problem is None else job.failing_since or now
    telling = since is not None and not job.told and now - since >= METADATA_GRACE
    kept = await store.settle_metadata(
        tx,
        project_id=job.project_id,
        id=job.id,
        attempt=job.attempt,
        read_at=now if problem is None else None,
        problem=problem,
        failing_since=since,
        told=problem is not None and (job.told or telling),
        due_at=Moment.of(now + (METADATA_READ_EVERY if problem is None else METADATA_RETRIED_EVERY)),
        now=now,
    )
    if kept and telling:
        await events.record_all(tx, [_event(job, "sso.metadata_failing", now, problem=problem, lastReadAt=job.read_at)])
    return kept


async def _apply_metadata(tx: Transaction, before: ConnectionRow, row: ConnectionRow, now: Moment) -> None:
    changed = [name for name in IDP_PARTS if getattr(row, name) != getattr(before, name)]
    if not changed:
        return
    own = await store.keys(tx, project_id=row.project_id, connection_ids=[row.id])
    pinned = "idp_certificate" not in changed
    await store.update_connection(
        tx,
        **{name: getattr(row, name) for name in ("project_id", "id", "name", "domain", *IDP_PARTS)},
        options=Jsonb(to_plain(row.options)),
        tested_at=None if set(changed) & set(TESTED_PARTS) else row.tested_at,
        due_at=row.due_at if pinned else rules.first_refresh_at(row, at_place(own, "CURRENT").not_after, now),
        now=now,
    )
    if not pinned:
        tx.makes_due("sso_connections")
    told: dict[str, Any] = {"organizationId": str(row.organization_id), "domain": row.domain}
    fields = [rules.in_json(name) for name in changed]
    await events.record_all(tx, [_event(row, "sso.metadata_changed", now, **told, changed=fields)])


def _event(row: ConnectionRow | MetadataRow, type: str, now: Moment, **data: Any) -> Event:
    return events.make_event(row.project_id, type, row.id, now, **data)
