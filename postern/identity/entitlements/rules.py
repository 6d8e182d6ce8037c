"""Precedence of override, plan and default."""

from uuid import UUID

import msgspec

from postern.identity.entitlements.model import Entitlement, EntitlementRow

SUSPENDED = "The organization is suspended."


def entitlement_of(row: EntitlementRow, organization_id: UUID | None) -> Entitlement:
    """The entitlement: OVERRIDE over PLAN over DEFAULT. A suspended organization has no entitlements."""
    if row.override_enabled is not None:
        entitlement = Entitlement(
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
        entitlement = Entitlement(
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
    return refused(entitlement) if row.suspended else entitlement


def refused(entitlement: Entitlement) -> Entitlement:
    """The entitlement, disabled because the organization is suspended."""
    return msgspec.structs.replace(entitlement, enabled=False, reason=SUSPENDED)


def undeclared(key: str, organization_id: UUID | None) -> Entitlement:
    """The result for a feature that the project has not declared: a denial, not an error."""
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
