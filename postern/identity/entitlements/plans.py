"""HTTP operations on plans and on the plan of an organization."""

from collections.abc import Sequence
from uuid import UUID

from msgspec import UNSET

from postern.identity.entitlements import store
from postern.identity.entitlements.features import require_limit_allowed
from postern.identity.entitlements.model import (
    PLANS_PER_PROJECT,
    FeatureUndeclared,
    LimitNotAllowed,
    NewPlan,
    OrganizationPlan,
    Plan,
    PlanChange,
    PlanChoice,
    PlanExists,
    PlanFeature,
    PlanInUse,
    PlanMissing,
    PlanRow,
    TooManyPlans,
)
from postern.identity.organizations.model import OrganizationMissing
from postern.identity.organizations.operations import (
    advance_entitlements_version,
    lock_organization,
    require_organization,
)
from postern.kernel.database.statements import Queries, Transaction
from postern.kernel.http.call import Call
from postern.kernel.http.operation import delete, get, patch, post, put
from postern.kernel.http.pagination import Cursor, LinkedList, ListLimit, newest_first
from postern.kernel.http.problems import Invalid, ProblemError, require_found
from postern.kernel.values import Deleted, build_view, new_id
from postern.platform.audit import operations as audit
from postern.platform.events import operations as events

PLANS = "/projects/{project_id}/b2b/plans"
EXAMPLE_PLAN = {"key": "pro", "name": "Pro", "features": [{"featureKey": "seats", "limit": 50}, {"featureKey": "sso"}]}


@get(PLANS, needs="entitlements:read")
async def list_plans(call: Call, limit: ListLimit = 1_000, cursor: Cursor | None = None) -> LinkedList[Plan]:
    """List the plans of the project, newest first, with the features and the number of organizations of each."""
    page = await newest_first(call, "plans", cursor, limit, store.plans, key=None)
    return LinkedList([build_view(Plan, row) for row in page.items], page.next_cursor)


@post(
    PLANS,
    needs="entitlements:write",
    status=201,
    problems=(PlanExists, FeatureUndeclared, LimitNotAllowed, TooManyPlans),
    example=EXAMPLE_PLAN,
)
async def create_plan(call: Call, data: NewPlan) -> Plan:
    """Create a plan. Its settings take precedence over the defaults of its features; a limit of null is unlimited."""
    async with call.db.transaction() as tx:
        await tx.lock_quota("plans", call.project_id)
        if await store.count_plans(tx, project_id=call.project_id) >= PLANS_PER_PROJECT:
            raise TooManyPlans
        plan_id = new_id()
        name = data.name or data.key
        if not await store.insert_plan(
            tx,
            project_id=call.project_id,
            id=plan_id,
            key=data.key,
            name=name,
            created_at=call.now,
            updated_at=call.now,
        ):
            raise PlanExists
        await _replace_features(tx, call, plan_id, data.features)
        await audit.record(tx, call, "plan.created", "Plan", data.key, name=name)
        return build_view(Plan, await _require_plan(tx, call, data.key))


@get(f"{PLANS}/{{key}}", needs="entitlements:read", problems=(PlanMissing,))
async def get_plan(call: Call, key: str) -> Plan:
    """Get a plan by its key."""
    return build_view(Plan, await _require_plan(call.db, call, key))


@patch(
    f"{PLANS}/{{key}}",
    needs="entitlements:write",
    problems=(PlanMissing, FeatureUndeclared, LimitNotAllowed),
    example={"features": [{"featureKey": "seats", "limit": 100}]},
)
async def change_plan(call: Call, key: str, data: PlanChange) -> Plan:
    """Change a plan. The change applies from the next check on; `features` replaces the whole list.

    Honours `If-Match`.
    """
    async with call.db.transaction() as tx:
        plan_id = await store.lock_plan(tx, project_id=call.project_id, key=key)
        row = await _require_plan(tx, call, key)
        call.require_match(row.updated_at)
        name = row.name if data.name is UNSET else data.name
        await store.change_plan(tx, project_id=call.project_id, id=row.id, name=name, now=call.now)
        if data.features is not UNSET:
            await _replace_features(tx, call, row.id, data.features)
            await events.record(tx, call, "entitlement.changed", plan_id, planKey=key)
        await audit.record(tx, call, "plan.updated", "Plan", key, name=name)
        if data.features is not UNSET:
            await store.advance_project_version(tx, project_id=call.project_id, steps=1)
        return build_view(Plan, await _require_plan(tx, call, key))


@delete(f"{PLANS}/{{key}}", needs="entitlements:write", problems=(PlanMissing, PlanInUse))
async def delete_plan(call: Call, key: str) -> Deleted:
    """Delete a plan. Returns 409 while organizations have it. Honours `If-Match`."""
    async with call.db.transaction() as tx:
        await store.lock_plan(tx, project_id=call.project_id, key=key)
        row = await _require_plan(tx, call, key)
        call.require_match(row.updated_at)
        if row.organization_count:
            raise PlanInUse
        await store.remove_plan_from_deleted_organizations(tx, project_id=call.project_id, plan_id=row.id)
        await store.delete_plan(tx, project_id=call.project_id, id=row.id)
        await audit.record(tx, call, "plan.deleted", "Plan", key)
    return Deleted()


@get(
    "/projects/{project_id}/b2b/organizations/{organization_id}/plan",
    needs="entitlements:read",
    problems=(OrganizationMissing,),
)
async def get_organization_plan(call: Call, organization_id: UUID) -> OrganizationPlan:
    """Get the plan of an organization; `planKey` and `plan` are null if it has none."""
    await require_organization(call.db, call, organization_id)
    key = await store.plan_key_of(call.db, project_id=call.project_id, organization_id=organization_id)
    plan = None if key is None else await get_plan(call, key)
    return OrganizationPlan(organization_id=organization_id, plan_key=key, plan=plan)


@put(
    "/projects/{project_id}/b2b/organizations/{organization_id}/plan",
    needs="entitlements:write",
    problems=(OrganizationMissing, PlanMissing),
    example={"planKey": "pro"},
)
async def set_organization_plan(call: Call, organization_id: UUID, data: PlanChoice) -> None:
    """Set the plan of an organization; null removes it. The change applies from the next check on."""
    async with call.db.transaction() as tx:
        await lock_organization(tx, call, organization_id)
        if data.plan_key is None:
            changed = await store.unassign_plan(tx, project_id=call.project_id, organization_id=organization_id)
        else:
            plan_id = require_found(
                await store.lock_plan_shared(tx, project_id=call.project_id, key=data.plan_key), PlanMissing
            )
            changed = await store.assign_plan(
                tx, project_id=call.project_id, organization_id=organization_id, plan_id=plan_id, since=call.now
            )
        if changed:
            await advance_entitlements_version(tx, call.project_id, organization_id)
            await events.record(tx, call, "entitlement.changed", organization_id, planKey=data.plan_key)
            await audit.record(
                tx, call, "organization.plan_changed", "Organization", organization_id, planKey=data.plan_key
            )


async def _replace_features(tx: Transaction, call: Call, plan_id: UUID, features: Sequence[PlanFeature]) -> None:
    """Replace the features of a plan. Raises FeatureUndeclared, LimitNotAllowed, or Invalid for repeated features.

    Locks the features before the plan's rows in `plan_features`, the order in which deleting a feature locks them (by
    cascade), to avoid deadlocks.
    """
    keys = [feature.feature_key for feature in features]
    rows = await store.lock_features_shared(tx, project_id=call.project_id, keys=keys) if keys else []
    declared = {row.key: row for row in rows}
    for index, feature in enumerate(features):
        path = f"/features/{index}"
        if keys.index(feature.feature_key) != index:
            raise Invalid.at(f"{path}/featureKey", "This feature is listed twice.", "repeated")
        if feature.feature_key not in declared:
            message = f"The feature {feature.feature_key!r} is not declared in this project."
            error = ProblemError(path=f"{path}/featureKey", code="feature_undeclared", message=message)
            raise FeatureUndeclared(message, errors=[error])
        require_limit_allowed(declared[feature.feature_key].type, feature.limit, f"{path}/limit")
    await store.delete_plan_features(tx, project_id=call.project_id, plan_id=plan_id)
    await store.insert_plan_features(
        tx,
        project_id=call.project_id,
        plan_id=plan_id,
        feature_ids=[declared[key].id for key in keys],
        enabled=[feature.enabled for feature in features],
        limits=[feature.limit for feature in features],
    )


async def _require_plan(db: Queries, call: Call, key: str) -> PlanRow:
    rows = await store.plans(db, project_id=call.project_id, key=key, before=None, limit=1)
    if not rows:
        raise PlanMissing
    return rows[0]
