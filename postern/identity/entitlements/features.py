"""HTTP operations on features."""

from msgspec.structs import replace

from postern.identity.entitlements import store
from postern.identity.entitlements.model import (
    FEATURES_PER_PROJECT,
    Feature,
    FeatureChange,
    FeatureExists,
    FeatureMissing,
    FeatureRow,
    LimitNotAllowed,
    NewFeature,
    TooManyFeatures,
)
from postern.kernel.database.statements import Transaction
from postern.kernel.http.call import Call
from postern.kernel.http.operation import delete, get, patch, post
from postern.kernel.http.pagination import Cursor, LinkedList, ListLimit, newest_first
from postern.kernel.http.problems import ProblemError, require_found
from postern.kernel.values import build_view, fields_set, new_id
from postern.platform.audit import operations as audit
from postern.platform.events import operations as events

FEATURES = "/projects/{project_id}/b2b/features"


@get(FEATURES, needs="entitlements:read")
async def list_features(call: Call, limit: ListLimit = 1_000, cursor: Cursor | None = None) -> LinkedList[Feature]:
    """List the features that the project has declared, newest first."""
    page = await newest_first(call, "features", cursor, limit, store.features)
    return LinkedList([build_view(Feature, row) for row in page.items], page.next_cursor)


@post(
    FEATURES,
    needs="entitlements:write",
    status=201,
    problems=(FeatureExists, LimitNotAllowed, TooManyFeatures),
    example={"key": "seats", "name": "Seats", "type": "LIMIT", "defaultEnabled": True, "defaultLimit": 5},
)
async def create_feature(call: Call, data: NewFeature) -> Feature:
    """Declare a feature: BOOLEAN is on or off, LIMIT is on up to a limit (null is unlimited).

    The defaults apply to organizations whose plan and overrides do not set the feature.
    """
    require_limit_allowed(data.type, data.default_limit, "/defaultLimit")
    async with call.db.transaction() as tx:
        await tx.lock_quota("features", call.project_id)
        if await store.count_features(tx, project_id=call.project_id) >= FEATURES_PER_PROJECT:
            raise TooManyFeatures
        new = replace(data, name=data.name or data.key)
        row = await store.insert_feature(
            tx, new, project_id=call.project_id, id=new_id(), created_at=call.now, updated_at=call.now
        )
        if row is None:
            raise FeatureExists
        await audit.record(tx, call, "feature.created", "Feature", row.key, type=row.type)
        await store.advance_project_version(tx, project_id=call.project_id, steps=1)
    return build_view(Feature, row)


@get(f"{FEATURES}/{{key}}", needs="entitlements:read", problems=(FeatureMissing,))
async def get_feature(call: Call, key: str) -> Feature:
    """Get a feature by its key."""
    row = await store.feature(call.db, project_id=call.project_id, key=key)
    return build_view(Feature, require_found(row, FeatureMissing))


@patch(
    f"{FEATURES}/{{key}}",
    needs="entitlements:write",
    problems=(FeatureMissing, LimitNotAllowed),
    example={"defaultLimit": 10},
)
async def change_feature(call: Call, key: str, data: FeatureChange) -> Feature:
    """Change the name or the defaults of a feature. The change applies from the next check on. Honours `If-Match`."""
    async with call.db.transaction() as tx:
        row = await _lock_feature(tx, call, key)
        call.require_match(row.updated_at)
        row = replace(row, **fields_set(data))
        require_limit_allowed(row.type, row.default_limit, "/defaultLimit")
        row = await store.change_feature(tx, row, project_id=call.project_id, now=call.now)
        await events.record(tx, call, "entitlement.changed", row.id, featureKey=key)
        await audit.record(
            tx, call, "feature.updated", "Feature", key, enabled=row.default_enabled, limit=row.default_limit
        )
        await store.advance_project_version(tx, project_id=call.project_id, steps=1)
    return build_view(Feature, row)


@delete(f"{FEATURES}/{{key}}", needs="entitlements:write", problems=(FeatureMissing,))
async def delete_feature(call: Call, key: str) -> None:
    """Delete a feature and its entries in plans and overrides. Later checks of the feature are denied.

    Honours `If-Match`.
    """
    async with call.db.transaction() as tx:
        row = await _lock_feature(tx, call, key)
        call.require_match(row.updated_at)
        await store.delete_feature(tx, project_id=call.project_id, id=row.id)
        await events.record(tx, call, "entitlement.changed", row.id, featureKey=key)
        await audit.record(tx, call, "feature.deleted", "Feature", key)
        # Two steps: the version of an organization also counts its expired overrides. If one of them is deleted with
        # the feature, that lowers the version by one.
        await store.advance_project_version(tx, project_id=call.project_id, steps=2)


def require_limit_allowed(type: str, limit: int | None, path: str) -> None:
    """Raise LimitNotAllowed at `path` if `type` is BOOLEAN and `limit` is not None."""
    if type == "BOOLEAN" and limit is not None:
        raise LimitNotAllowed(
            errors=[ProblemError(path=path, code="limit_not_taken", message=LimitNotAllowed.message())]
        )


async def _lock_feature(tx: Transaction, call: Call, key: str) -> FeatureRow:
    return require_found(await store.lock_feature(tx, project_id=call.project_id, key=key), FeatureMissing)
