"""Precedence of override, plan and default."""

from uuid import UUID

import msgspec

from postern.identity.entitlements.model import Entitlement, EntitlementRow

SUSPENDED = "The organization is suspended."


def entitlement_of(row: EntitlementRow, organization_id: UUID | None) -> Entitlement:
    """The entitlement: the override if there is one, else the plan's setting, else the feature's default.

    `organization_id` is None for a customer who is in no organization: then the plan and overrides do not apply.

    The query that reads `row` leaves out an expired override. For a suspended organization the entitlement is disabled.
    """
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
        is_from_plan = row.plan_enabled is not None
        entitlement = Entitlement(
            feature_key=row.key,
            type=row.type,
            enabled=row.default_enabled if row.plan_enabled is None else row.plan_enabled,
            limit=row.plan_limit if is_from_plan else row.default_limit,
            source="PLAN" if is_from_plan else "DEFAULT",
            plan_key=row.plan_key if is_from_plan else None,
            reason=None,
            expires_at=None,
            organization_id=organization_id,
        )
    return suspended_entitlement(entitlement) if row.organization_suspended else entitlement


def suspended_entitlement(entitlement: Entitlement) -> Entitlement:
    """A copy that is disabled, with the reason that the organization is suspended."""
    return msgspec.structs.replace(entitlement, enabled=False, reason=SUSPENDED)


def undeclared_entitlement(key: str, organization_id: UUID | None) -> Entitlement:
    """The entitlement to a feature that the project has not declared: disabled, with the source NONE."""
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
