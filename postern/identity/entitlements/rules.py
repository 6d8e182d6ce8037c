"""What holds for an organization, of all that is said about a feature."""

from uuid import UUID

import msgspec

from postern.identity.entitlements.model import Entitlement, EntitlementRow

SUSPENDED = "The organization is suspended."


def entitlement_of(row: EntitlementRow, organization_id: UUID | None) -> Entitlement:
    """OVERRIDE over PLAN over DEFAULT; a suspended organization has nothing, whatever says it would."""
    if row.override_enabled is not None:
        found = Entitlement(
            feature_key=row.key,
            type=row.type,
            enabled=row.override_enabled,
            limit=row.override_limit,
            source="OVERRIDE",
            plan_key=None,
            reason=row.reason,
            expires_at=row.expires_at,
            organization_id=organization_id,
        )
    else:
        by_plan = row.plan_enabled is not None
        found = Entitlement(
            feature_key=row.key,
            type=row.type,
            enabled=bool(row.plan_enabled) if by_plan else row.default_enabled,
            limit=row.plan_limit if by_plan else row.default_limit,
            source="PLAN" if by_plan else "DEFAULT",
            plan_key=row.plan_key if by_plan else None,
            reason=None,
            expires_at=None,
            organization_id=organization_id,
        )
    return refused(found) if row.suspended else found


def refused(entitlement: Entitlement) -> Entitlement:
    """The same, switched off because of a suspension."""
    return msgspec.structs.replace(entitlement, enabled=False, reason=SUSPENDED)


def undeclared(key: str, organization_id: UUID | None) -> Entitlement:
    """The answer about a feature that the project never declared: a refusal, not an error."""
    return Entitlement(
        feature_key=key,
        type=None,
        enabled=False,
        limit=None,
        source="NONE",
        plan_key=None,
        reason=None,
        expires_at=None,
        organization_id=organization_id,
    )
