"""HTTP operations on entitlements and overrides."""

from typing import TYPE_CHECKING, Any, NamedTuple
from uuid import UUID

from postern.identity.entitlements import store
from postern.identity.entitlements.features import require_limit_allowed
from postern.identity.entitlements.model import (
    Entitlement,
    EntitlementCheck,
    EntitlementOverride,
    EntitlementRow,
    FeatureMissing,
    FeatureRow,
    LimitNotAllowed,
)
from postern.identity.entitlements.rules import entitlement_of, undeclared_entitlement
from postern.identity.organizations.members import organizations_of
from postern.identity.organizations.model import OrganizationMissing
from postern.identity.organizations.operations import (
    advance_entitlements_version,
    lock_organization,
    require_organization,
)
from postern.kernel.database.statements import Queries, Transaction
from postern.kernel.http.call import Call, Kind
from postern.kernel.http.operation import SERVER_KINDS, delete, get, post, put
from postern.kernel.http.problems import Invalid
from postern.kernel.values import as_id, new_id
from postern.platform.audit import operations as audit
from postern.platform.events import operations as events

if TYPE_CHECKING:
    from postern.world import World

ENTITLEMENTS = "/projects/{project_id}/b2b/organizations/{organization_id}/entitlements"
CONCURRENT_STATEMENTS = 2
"""Maximum number of SQL statements that look up entitlements for `check_entitlement`, which one process runs
concurrently."""
CHECK_CALLERS: frozenset[Kind] = frozenset((*SERVER_KINDS, "customer"))


@post(
    "/projects/{project_id}/b2b/entitlements/check",
    needs="entitlements:read",
    accepts=CHECK_CALLERS,
    restricted=True,
    problems=(OrganizationMissing,),
    example={"featureKey": "seats", "organizationId": "019b1f3a-5f0e-7cc0-a2f4-0c2f6a1f9d11"},
)
async def check_entitlement(call: Call, data: EntitlementCheck) -> Entitlement:
    """Check whether an organization can use a feature, up to which limit (null is unlimited), and why.

    An OVERRIDE takes precedence over the PLAN, and the PLAN over the DEFAULT. A feature that is not declared is denied
    with the source NONE. The token of a customer who belongs to one organization implies the organization. Without an
    organization the defaults apply.
    """
    organization_id = await _implied_organization(call, data)
    look_up = call.world.batcher(entitlement_rows_of, max_concurrent=CONCURRENT_STATEMENTS)
    row = await look_up(EntitlementLookup(call.project_id, organization_id, data.feature_key))
    if row is None:
        if organization_id is not None:
            await require_organization(call.db, call, organization_id)
        return undeclared_entitlement(data.feature_key, organization_id)
    if organization_id is not None and not row.organization_exists:
        raise OrganizationMissing
    return entitlement_of(row, organization_id)


class EntitlementLookup(NamedTuple):
    """A lookup of the entitlement to the feature `key`: that of an organization, or the default if `organization_id` is
    None."""

    project_id: UUID
    organization_id: UUID | None
    key: str


async def entitlement_rows_of(world: "World", lookups: list[EntitlementLookup]) -> list[EntitlementRow | None]:
    """Look up entitlements for concurrent requests in one statement per project. Nothing is cached.

    Returns one row per lookup, in the same order; None if the project has not declared the feature.
    """
    results: dict[int, EntitlementRow] = {}
    for project_id in {lookup.project_id for lookup in lookups}:
        indexes = [index for index, lookup in enumerate(lookups) if lookup.project_id == project_id]
        rows = await store.look_up_entitlements(
            world.db,
            project_id=project_id,
            organization_ids=[lookups[index].organization_id for index in indexes],
            keys=[lookups[index].key for index in indexes],
            now=world.clock(),
        )
        results.update((indexes[row.number - 1], row) for row in rows)
    return [results.get(index) for index in range(len(lookups))]


async def _implied_organization(call: Call, data: EntitlementCheck) -> UUID | None:
    """The organization of a check: the requested one. If none is requested and a customer calls, the customer's only
    organization, if there is one. Otherwise None.

    Raises OrganizationMissing if the customer does not belong to the requested organization, and Invalid if none is
    requested and the customer belongs to several.
    """
    requested_id = None if data.organization_id is None else as_id(data.organization_id)
    if call.caller.kind != "customer":
        return requested_id
    assert call.caller.actor_id is not None
    # With `requested_id`, `organizations_of` returns no other id.
    organization_ids = await organizations_of(call.db, call.project_id, call.caller.actor_id, requested_id)
    if requested_id is not None and requested_id not in organization_ids:
        raise OrganizationMissing
    if requested_id is None and len(organization_ids) > 1:
        raise Invalid.at(
            "/organizationId", "You belong to several organizations: `organizationId` is required.", "required"
        )
    return organization_ids[0] if organization_ids else None


@get(ENTITLEMENTS, needs="entitlements:read", problems=(OrganizationMissing,))
async def list_entitlements(call: Call, organization_id: UUID) -> list[Entitlement]:
    """List the entitlements of an organization to all declared features, ordered by key."""
    await require_organization(call.db, call, organization_id)
    rows = await store.entitlements_of_organization(
        call.db, project_id=call.project_id, organization_id=organization_id, now=call.now
    )
    return [entitlement_of(row, organization_id) for row in rows]


@put(
    f"{ENTITLEMENTS}/{{feature_key}}",
    needs="entitlements:write",
    problems=(OrganizationMissing, FeatureMissing, LimitNotAllowed),
    example={"enabled": True, "limit": 25, "reason": "Trial, ticket 4711", "expiresAt": "2027-01-01T00:00:00Z"},
    response_example={"source": "OVERRIDE"},
)
async def set_entitlement_override(
    call: Call, organization_id: UUID, feature_key: str, data: EntitlementOverride
) -> Entitlement:
    """Set an override for one organization and feature. Replaces an existing override.

    An override takes precedence over plan and default until `expiresAt`, or until it is deleted if `expiresAt` is null.
    """
    if data.expires_at is not None and data.expires_at <= call.now:
        raise Invalid.at("/expiresAt", "`expiresAt` must be in the future.")
    async with call.db.transaction() as tx:
        await lock_organization(tx, call, organization_id)
        feature = await _require_feature(tx, call, feature_key)
        require_limit_allowed(feature.type, data.limit, "/limit")
        record_ids = {"id": new_id(), "organization_id": organization_id, "feature_id": feature.id}
        # The version advances by one step for the new override, and by another if it replaces one that had expired: see
        # `store.set_override`.
        version_steps = await store.set_override(tx, data, project_id=call.project_id, **record_ids, now=call.now)
        await advance_entitlements_version(tx, call.project_id, organization_id, version_steps)
        if data.expires_at:
            tx.mark_due("entitlement_overrides", call.project_id)  # Workers then learn when the next override expires.
        return await _record_change(tx, call, organization_id, feature_key, "entitlement.overridden")


@delete(
    f"{ENTITLEMENTS}/{{feature_key}}",
    needs="entitlements:write",
    problems=(OrganizationMissing, FeatureMissing),
)
async def delete_entitlement_override(call: Call, organization_id: UUID, feature_key: str) -> Entitlement:
    """Delete an override; returns the entitlement that now applies. Changes nothing if there is no override."""
    async with call.db.transaction() as tx:
        await lock_organization(tx, call, organization_id)
        feature = await _require_feature(tx, call, feature_key)
        version_steps = await store.delete_override(
            tx, project_id=call.project_id, organization_id=organization_id, feature_id=feature.id, now=call.now
        )
        if version_steps is None:
            return await _current_entitlement(tx, call, organization_id, feature_key)
        await advance_entitlements_version(tx, call.project_id, organization_id, version_steps)
        return await _record_change(tx, call, organization_id, feature_key, "entitlement.restored")


async def _record_change(tx: Transaction, call: Call, organization_id: UUID, key: str, action: str) -> Entitlement:
    """Record the event and the audit entry of a changed override; returns the current entitlement."""
    entitlement = await _current_entitlement(tx, call, organization_id, key)
    details: dict[str, Any] = {
        "featureKey": key,
        "enabled": entitlement.enabled,
        "limit": entitlement.limit,
        "source": entitlement.source,
    }
    await events.record(tx, call, "entitlement.changed", organization_id, **details)
    await audit.record(tx, call, action, "Organization", organization_id, **details, reason=entitlement.reason)
    return entitlement


async def _current_entitlement(db: Queries, call: Call, organization_id: UUID, key: str) -> Entitlement:
    rows = await store.look_up_entitlements(
        db, project_id=call.project_id, organization_ids=[organization_id], keys=[key], now=call.now
    )
    return entitlement_of(rows[0], organization_id) if rows else undeclared_entitlement(key, organization_id)


async def _require_feature(tx: Transaction, call: Call, key: str) -> FeatureRow:
    rows = await store.lock_features_shared(tx, project_id=call.project_id, keys=[key])
    if not rows:
        raise FeatureMissing
    return rows[0]
