"""Access decisions: system roles, and evaluation of a check. `grants.py` tells which roles grant a permission."""

import re
from collections.abc import Iterable, Mapping
from uuid import UUID

from postern.identity.access.model import (
    SYSTEM_ROLES,
    AccessDecision,
    AccessExplanation,
    AccessFacts,
    Reason,
    RoleRow,
    Scope,
    Step,
)
from postern.kernel.values import Moment

SYSTEM_PERMISSIONS: dict[str, list[str]] = {"OWNER": ["*"], "ADMIN": ["*"], "MEMBER": []}
"""Permissions of the system roles. MEMBER has none."""


def system_roles(created_at: Moment, scope: Scope | None = None) -> list[RoleRow]:
    """The system roles of a scope, or of both scopes if it is None; `created_at` is that of the project.

    Their ids are lower than all generated ids, so they are last in lists in descending order.
    """
    scopes_and_keys: list[tuple[Scope, str]] = [
        (role_scope, key) for role_scope in ("PROJECT", "ORGANIZATION") for key in SYSTEM_ROLES
    ]
    return [
        RoleRow(
            id=UUID(int=len(scopes_and_keys) - index),
            key=key,
            name=key.capitalize(),
            description=None,
            scope=role_scope,
            applies_to_all_organizations=False,
            system=True,
            permissions=SYSTEM_PERMISSIONS[key],
            created_at=created_at,
            updated_at=created_at,
        )
        for index, (role_scope, key) in enumerate(scopes_and_keys)
        if scope in (None, role_scope)
    ]


VALID_PERMISSION = re.compile(r"[a-z][a-z0-9_]*(:[a-z0-9_]+){1,3}")


def is_permission_key(permission: str) -> bool:
    """Whether the text has the form of a permission that can be declared."""
    return VALID_PERMISSION.fullmatch(permission) is not None


def decide(
    permission: str, facts: AccessFacts, customer_id: UUID | None, organization_id: UUID | None
) -> AccessDecision:
    """Decide a check in an organization, or in the project if `organization_id` is None.

    All steps are evaluated and returned, including the steps after the one that decides.
    """
    steps = _steps_in_project(facts) if organization_id is None else _steps_in_organization(facts)
    step_results = {step.step: step.ok for step in steps}
    reason = _reason(step_results)
    assigned_roles = facts.customer_roles if organization_id is None else (facts.member_roles or [])
    in_all_organizations = [] if organization_id is None else facts.granting_in_all_organizations
    return AccessDecision(
        allowed=reason in ALLOWING_REASONS,
        reason=reason,
        permission=permission,
        scope="PROJECT" if organization_id is None else "ORGANIZATION",
        roles=list(dict.fromkeys([*assigned_roles, *in_all_organizations])),
        explanation=steps,
        customer_id=customer_id,
        organization_id=organization_id,
    )


ALLOWING_REASONS: frozenset[Reason] = frozenset(("PROJECT_ROLE", "ORGANIZATION_ROLE", "ALL_ORGANIZATIONS_ROLE"))

DENYING_STEPS: tuple[tuple[Step, Reason], ...] = (
    ("PERMISSION_DECLARED", "UNKNOWN_PERMISSION"),
    ("CUSTOMER_NOT_BANNED", "CUSTOMER_BANNED"),
    ("ORGANIZATION_ACTIVE", "ORGANIZATION_SUSPENDED"),
)
"""Steps that deny access regardless of roles if they fail, with the reason. Checks in the project have no step
ORGANIZATION_ACTIVE."""

GRANTING_STEPS: tuple[Step, ...] = ("PROJECT_ROLE", "ORGANIZATION_ROLE", "ALL_ORGANIZATIONS_ROLE")
"""Steps that allow access if they pass. The name of the first that passes is the reason."""


def _reason(step_results: Mapping[str, bool]) -> Reason:
    for step, denial_reason in DENYING_STEPS:
        if not step_results.get(step, True):
            return denial_reason
    for step in GRANTING_STEPS:
        if step_results.get(step, False):
            return step  # pyright: ignore[reportReturnType]
    return "NO_ROLE_GRANTS_PERMISSION" if step_results.get("MEMBER", True) else "NOT_A_MEMBER"


def _steps_in_project(facts: AccessFacts) -> list[AccessExplanation]:
    granting_roles = [*_granting_system_roles(facts, facts.customer_roles), *facts.granting_in_project]
    return [
        *_steps_of_customer(facts),
        AccessExplanation(step="PROJECT_ROLE", ok=bool(granting_roles), roles=granting_roles),
    ]


def _steps_in_organization(facts: AccessFacts) -> list[AccessExplanation]:
    granting_roles = [*_granting_system_roles(facts, facts.member_roles or []), *facts.granting_in_organization]
    in_all_organizations = facts.granting_in_all_organizations
    return [
        *_steps_of_customer(facts),
        AccessExplanation(step="ORGANIZATION_ACTIVE", ok=not facts.suspended),
        AccessExplanation(step="MEMBER", ok=facts.member_roles is not None),
        AccessExplanation(step="ORGANIZATION_ROLE", ok=bool(granting_roles), roles=granting_roles),
        AccessExplanation(step="ALL_ORGANIZATIONS_ROLE", ok=bool(in_all_organizations), roles=in_all_organizations),
    ]


def _steps_of_customer(facts: AccessFacts) -> list[AccessExplanation]:
    return [
        AccessExplanation(step="PERMISSION_DECLARED", ok=facts.declared),
        AccessExplanation(step="CUSTOMER_GIVEN", ok=facts.customer_exists),
        AccessExplanation(step="CUSTOMER_NOT_BANNED", ok=not facts.banned),
    ]


def _granting_system_roles(facts: AccessFacts, roles: Iterable[str]) -> list[str]:
    """The system roles among `roles` that grant the permission; an empty list if the permission is not declared."""
    return [role for role in roles if facts.declared and SYSTEM_PERMISSIONS.get(role)]
