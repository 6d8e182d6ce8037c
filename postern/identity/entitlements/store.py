"""SQL of features, plans and overrides."""

from uuid import UUID

from postern.identity.entitlements.model import (
    EntitlementOverride,
    EntitlementRow,
    FeatureRow,
    NewFeature,
    NumberedEntitlementRow,
    PlanRow,
)
from postern.kernel.database.statements import Queries, Transaction, statement
from postern.kernel.values import Moment

# Features.


# Returns None if the project has a feature with this key.
@statement("insert into features {row} on conflict (project_id, key) do nothing returning *")
async def insert_feature(
    tx: Transaction, feature: NewFeature, *, project_id: UUID, id: UUID, created_at: Moment, updated_at: Moment
) -> FeatureRow | None: ...


@statement("select count(*)::int from features where project_id = %(project_id)s")
async def count_features(db: Queries, *, project_id: UUID) -> int: ...


@statement("""
    select * from features where project_id = %(project_id)s and (%(before)s::uuid is null or id < %(before)s)
    order by id desc limit %(limit)s
""")
async def features(db: Queries, *, project_id: UUID, before: UUID | None, limit: int) -> list[FeatureRow]: ...


@statement("select * from features where project_id = %(project_id)s and key = %(key)s")
async def feature(db: Queries, *, project_id: UUID, key: str) -> FeatureRow | None: ...


# Lock a feature for update; returns None if there is none with this key.
@statement("select * from features where project_id = %(project_id)s and key = %(key)s for update")
async def lock_feature(tx: Transaction, *, project_id: UUID, key: str) -> FeatureRow | None: ...


# Lock features for key share, so that they cannot be deleted; returns those that exist.
@statement("select * from features where project_id = %(project_id)s and key = any (%(keys)s) for key share")
async def lock_features_shared(tx: Transaction, *, project_id: UUID, keys: list[str]) -> list[FeatureRow]: ...


@statement("""
    update features set name = %(name)s, default_enabled = %(default_enabled)s, default_limit = %(default_limit)s,
        updated_at = %(now)s
    where project_id = %(project_id)s and id = %(id)s
    returning *
""")
async def change_feature(tx: Transaction, row: FeatureRow, *, project_id: UUID, now: Moment) -> FeatureRow: ...


# Delete a feature; its rows in `plan_features` and `entitlement_overrides` are deleted by cascade.
@statement("delete from features where project_id = %(project_id)s and id = %(id)s")
async def delete_feature(tx: Transaction, *, project_id: UUID, id: UUID) -> None: ...


# Plans.


# Returns False if the project has a plan with this key.
@statement("insert into plans {row} on conflict (project_id, key) do nothing")
async def insert_plan(
    tx: Transaction, *, project_id: UUID, id: UUID, key: str, name: str, created_at: Moment, updated_at: Moment
) -> bool: ...


@statement("select count(*)::int from plans where project_id = %(project_id)s")
async def count_plans(db: Queries, *, project_id: UUID) -> int: ...


# Plans with their features and number of organizations, newest first; with `key` only the plan with that key.
@statement("""
    select plan.*,
           coalesce((select jsonb_agg(jsonb_build_object('featureKey', feature.key, 'enabled', plan_feature.enabled,
                                                         'limit', plan_feature.max_amount) order by feature.key)
                     from plan_features plan_feature
                     join features feature
                       on feature.project_id = plan_feature.project_id and feature.id = plan_feature.feature_id
                     where plan_feature.project_id = plan.project_id and plan_feature.plan_id = plan.id
                       /*distributed and plan_feature.project_id = :project */),
                    '[]') as features,
           (select count(*)::int from organization_plans assignment
            join organizations organization
              on organization.project_id = assignment.project_id and organization.id = assignment.organization_id
             and organization.status <> 'DELETED'
            where assignment.project_id = plan.project_id and assignment.plan_id = plan.id
              /*distributed and assignment.project_id = :project */) as organization_count
    from plans plan
    where plan.project_id = %(project_id)s and (%(before)s::uuid is null or plan.id < %(before)s)
      and (%(key)s::text is null or plan.key = %(key)s)
    order by plan.id desc limit %(limit)s
""")
async def plans(
    db: Queries, *, project_id: UUID, key: str | None, before: UUID | None, limit: int
) -> list[PlanRow]: ...


# The key of the plan of an organization, or None.
@statement("""
    select plan.key from organization_plans assignment
    join plans plan on plan.project_id = assignment.project_id and plan.id = assignment.plan_id
    where assignment.project_id = %(project_id)s and assignment.organization_id = %(organization_id)s
""")
async def plan_key_of(db: Queries, *, project_id: UUID, organization_id: UUID) -> str | None: ...


# Lock a plan for update; returns its id, or None if there is none with this key.
@statement("select id from plans where project_id = %(project_id)s and key = %(key)s for update")
async def lock_plan(tx: Transaction, *, project_id: UUID, key: str) -> UUID | None: ...


# Lock a plan for key share, so that it cannot be deleted; returns its id, or None.
@statement("select id from plans where project_id = %(project_id)s and key = %(key)s for key share")
async def lock_plan_shared(tx: Transaction, *, project_id: UUID, key: str) -> UUID | None: ...


@statement("""
    update plans set name = %(name)s, updated_at = %(now)s where project_id = %(project_id)s and id = %(id)s
""")
async def change_plan(tx: Transaction, *, project_id: UUID, id: UUID, name: str, now: Moment) -> None: ...


@statement("delete from plan_features where project_id = %(project_id)s and plan_id = %(plan_id)s")
async def delete_plan_features(tx: Transaction, *, project_id: UUID, plan_id: UUID) -> None: ...


# Add features to a plan; `feature_ids`, `enabled` and `limits` are parallel lists.
@statement("""
    insert into plan_features (project_id, plan_id, feature_id, enabled, max_amount)
    select %(project_id)s, %(plan_id)s, feature.*
    from unnest(%(feature_ids)s::uuid[], %(enabled)s::bool[], %(limits)s::bigint[]) as feature
""")
async def insert_plan_features(
    tx: Transaction,
    *,
    project_id: UUID,
    plan_id: UUID,
    feature_ids: list[UUID],
    enabled: list[bool],
    limits: list[int | None],
) -> None: ...


# Remove a plan from deleted organizations whose rows still exist, so that the plan can be deleted.
@statement("""
    delete from organization_plans assignment using organizations organization
    where assignment.project_id = %(project_id)s and assignment.plan_id = %(plan_id)s
      and organization.project_id = assignment.project_id and organization.id = assignment.organization_id
      and organization.status = 'DELETED'
""")
async def remove_plan_from_deleted_organizations(tx: Transaction, *, project_id: UUID, plan_id: UUID) -> None: ...


@statement("delete from plans where project_id = %(project_id)s and id = %(id)s")
async def delete_plan(tx: Transaction, *, project_id: UUID, id: UUID) -> None: ...


# Set the plan of an organization; returns False if the organization had it already.
@statement("""
    insert into organization_plans {row}
    on conflict (project_id, organization_id) do update set plan_id = excluded.plan_id, since = excluded.since
    where organization_plans.plan_id <> excluded.plan_id
""")
async def assign_plan(
    tx: Transaction, *, project_id: UUID, organization_id: UUID, plan_id: UUID, since: Moment
) -> bool: ...


# Remove the plan of an organization; returns False if it had none.
@statement("""
    delete from organization_plans where project_id = %(project_id)s and organization_id = %(organization_id)s
""")
async def unassign_plan(tx: Transaction, *, project_id: UUID, organization_id: UUID) -> bool: ...


# Overrides and entitlements.


# Insert or replace the override of an organization and feature; it becomes due when it expires. Returns by how
# many steps the organization's version of the entitlements must advance: one for the change, and one more if the
# replaced override had expired: the version also counts expired overrides, and the replaced one is gone.
@statement("""
    with replaced as materialized (
        select count(*) filter (where expires_at <= %(now)s)::int as expired from entitlement_overrides
        where project_id = %(project_id)s and organization_id = %(organization_id)s and feature_id = %(feature_id)s
    ), stored as (
        insert into entitlement_overrides (project_id, id, organization_id, feature_id, enabled, max_amount, reason,
                                           expires_at, created_at, updated_at, due_at)
        values (%(project_id)s, %(id)s, %(organization_id)s, %(feature_id)s, %(enabled)s, %(limit)s, %(reason)s,
                %(expires_at)s, %(now)s, %(now)s, %(expires_at)s)
        on conflict (project_id, organization_id, feature_id) do update
        set enabled = excluded.enabled, max_amount = excluded.max_amount, reason = excluded.reason,
            expires_at = excluded.expires_at, updated_at = excluded.updated_at, due_at = excluded.due_at, attempt = 0
    )
    select 1 + expired as steps from replaced
""")
async def set_override(
    tx: Transaction,
    override: EntitlementOverride,
    *,
    project_id: UUID,
    id: UUID,
    organization_id: UUID,
    feature_id: UUID,
    now: Moment,
) -> int: ...


# Returns the number of steps as `set_override` does, or None if there is no override.
@statement("""
    delete from entitlement_overrides
    where project_id = %(project_id)s and organization_id = %(organization_id)s and feature_id = %(feature_id)s
    returning 1 + coalesce(expires_at <= %(now)s, false)::int
""")
async def delete_override(
    tx: Transaction, *, project_id: UUID, organization_id: UUID, feature_id: UUID, now: Moment
) -> int | None: ...


# Delete an expired override that a worker claimed with `attempt`. Returns the key of its feature, or None if the
# override was deleted, changed or claimed again since.
@statement("""
    delete from entitlement_overrides override using features feature
    where override.project_id = %(project_id)s and override.id = %(id)s and override.attempt = %(attempt)s
      and override.expires_at <= %(now)s
      and feature.project_id = override.project_id and feature.id = override.feature_id
    returning feature.key
""")
async def expire_override(tx: Transaction, *, project_id: UUID, id: UUID, attempt: int, now: Moment) -> str | None: ...


# Versions. The version of an organization's entitlements is a number in access tokens that grows whenever they change,
# so that apps can cache them. It is the sum of a counter of the project, a counter of the organization, and the number
# of the organization's expired overrides.


@statement("""
    insert into entitlement_versions as counter (project_id, version) values (%(project_id)s, %(steps)s)
    on conflict (project_id) do update set version = counter.version + excluded.version
""")
async def advance_project_version(tx: Transaction, *, project_id: UUID, steps: int) -> None:
    """Add `steps` to the counter that is part of the version of the entitlements of every organization.

    Make this the last statement of a transaction that locks a row: other transactions then wait only briefly for the
    counter, and cannot deadlock.
    """


# Look up the feature of each key for the organization at the same index (None for the defaults). A feature that is
# not declared has no row; `number` of a row tells the index, counted from 1.
# Each lookup uses a primary or unique key. The arrays are in sub-selects: their length does not affect the query plan,
# so that PostgreSQL uses one generic query plan for all lengths.
@statement("""
    with lookup as (
        select key, organization_id, number
        from unnest((select %(keys)s::text[]), (select %(organization_ids)s::uuid[]))
             with ordinality as lookup (key, organization_id, number)
    )
    select lookup.number::int, feature.key, feature.type, feature.default_enabled, feature.default_limit,
           plan.key as plan_key, plan_feature.enabled as plan_enabled, plan_feature.max_amount as plan_limit,
           override.enabled as override_enabled, override.max_amount as override_limit, override.reason,
           override.expires_at, coalesce(organization.status = 'SUSPENDED', false) as organization_suspended,
           organization.id is not null as organization_exists
    from lookup
    join features feature on feature.project_id = %(project_id)s and feature.key = lookup.key
    left join organizations organization
      on organization.project_id = %(project_id)s and organization.id = lookup.organization_id
     and organization.status <> 'DELETED'
    left join organization_plans assignment
      on assignment.project_id = %(project_id)s and assignment.organization_id = organization.id
    left join plans plan on plan.project_id = %(project_id)s and plan.id = assignment.plan_id
    left join plan_features plan_feature
      on plan_feature.project_id = %(project_id)s and plan_feature.plan_id = assignment.plan_id
     and plan_feature.feature_id = feature.id
    left join entitlement_overrides override
      on override.project_id = %(project_id)s and override.organization_id = organization.id
     and override.feature_id = feature.id and (override.expires_at is null or override.expires_at > %(now)s)
""")
async def look_up_entitlements(
    db: Queries, *, project_id: UUID, organization_ids: list[UUID | None], keys: list[str], now: Moment
) -> list[NumberedEntitlementRow]: ...


# All declared features, ordered by key, with what the plan and override of the organization set for them.
@statement("""
    select feature.key, feature.type, feature.default_enabled, feature.default_limit, plan.key as plan_key,
           plan_feature.enabled as plan_enabled, plan_feature.max_amount as plan_limit,
           override.enabled as override_enabled, override.max_amount as override_limit, override.reason,
           override.expires_at,
           organization.status = 'SUSPENDED' as organization_suspended, true as organization_exists
    from features feature
    join organizations organization
      on organization.project_id = feature.project_id and organization.id = %(organization_id)s
     and organization.status <> 'DELETED'
    left join organization_plans assignment
      on assignment.project_id = feature.project_id and assignment.organization_id = %(organization_id)s
    left join plans plan on plan.project_id = assignment.project_id and plan.id = assignment.plan_id
    left join plan_features plan_feature
      on plan_feature.project_id = assignment.project_id and plan_feature.plan_id = assignment.plan_id
     and plan_feature.feature_id = feature.id
    left join entitlement_overrides override
      on override.project_id = feature.project_id and override.organization_id = %(organization_id)s
     and override.feature_id = feature.id and (override.expires_at is null or override.expires_at > %(now)s)
    where feature.project_id = %(project_id)s
    order by feature.key
""")
async def entitlements_of_organization(
    db: Queries, *, project_id: UUID, organization_id: UUID, now: Moment
) -> list[EntitlementRow]: ...
