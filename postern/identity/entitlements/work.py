"""Background work: deletion of expired overrides. Checks ignore an override from `expires_at` on."""

from typing import TYPE_CHECKING, Any

from postern.identity.entitlements import store
from postern.identity.entitlements.model import EXPIRY_LEASE, OverrideRow
from postern.identity.organizations.operations import advance_entitlements_version, lock_organization_of_work
from postern.kernel.due import Work, for_each_row
from postern.platform.events.operations import make_event, record_all

if TYPE_CHECKING:
    from postern.world import World


async def expire_override(world: "World", row: OverrideRow) -> None:
    """Delete an expired override and record `entitlement.expired`; does nothing if it was changed since the claim.

    The version of the entitlements does not change: it counted the expired override, and from now on the organization's
    counter is higher by one instead.
    """
    now = world.clock()
    async with world.db.transaction() as tx:
        # Before the override, as when an override is set, to avoid deadlocks.
        await lock_organization_of_work(tx, row.project_id, row.organization_id)
        feature_key = await store.expire_override(
            tx, project_id=row.project_id, id=row.id, attempt=row.attempt, now=now
        )
        if feature_key is not None:
            await advance_entitlements_version(tx, row.project_id, row.organization_id)
            event = make_event(row.project_id, "entitlement.expired", row.organization_id, now, featureKey=feature_key)
            await record_all(tx, [event])


WORK: list[Work[Any]] = [
    Work("entitlements.expiry", "entitlement_overrides", OverrideRow, EXPIRY_LEASE, for_each_row(expire_override)),
]
"""Due work of this feature."""
