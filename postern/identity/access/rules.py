"""Which permissions a role's list covers, the roles that are the same everywhere, and the decision itself."""

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
from postern.kernel.clock import Moment

SYSTEM_PERMISSIONS: dict[str, list[str]] = {"OWNER": ["*"], "ADMIN": ["*"], "MEMBER": []}
"""What system roles allow: everything that is declared, or only to belong."""


def covering(permission: str) -> list[str]:
    """Every entry of a role's list that covers `permission`: `a:b:c`, `a:b:*`, `a:*` and `*`."""
    words = permission.split(":")
    return [permission, *(":".join([*words[:end], "*"]) for end in range(len(words) - 1, 0, -1)), "*"]


def system_roles(created_at: Moment, scope: Scope | None = None) -> list[RoleRow]:
    """The system roles of a scope, or of both, as if they had been created with the project.

    Their identifiers are below all that are ever made, so lists that run from the newest down end with them.
    """
    both: list[tuple[Scope, str]] = [(each, key) for each in ("PROJECT", "ORGANIZATION") for key in SYSTEM_ROLES]
    return [
        RoleRow(
            id=UUID(int=len(both) - index),
            key=key,
            name=key.capitalize(),
            description=None,
            scope=each,
            applies_to_all_organizations=False,
            system=True,
            permissions=SYSTEM_PERMISSIONS[key],
            created_at=created_at,
            updated_at=created_at,
        )
        for index, (each, key) in enumerate(both)
        if scope in (None, each)
    ]


WELL_FORMED = re.compile(r"[a-z][a-z0-9_]*(:[a-z0-9_]+){1,3}")


def patterns_for(permission: str) -> list[str]:
    """`covering`, or nothing for what cannot be a permission."""
    return covering(permission) if WELL_FORMED.fullmatch(permission) else []


def decide(
    permission: str, standing: AccessFacts, customer_id: UUID | None, organization_id: UUID | None
) -> AccessDecision:
    """Who may do what. Every step is looked at and told, also after the one that decides."""
    steps = _steps_in_project(standing) if organization_id is None else _steps_in_organization(standing)
    passed = {each.step: each.ok for each in steps}
    reason = _reason(passed)
    held = standing.customer_roles if organization_id is None else (standing.member_roles or [])
    everywhere = [] if organization_id is None else standing.granting_everywhere
    return AccessDecision(
        allowed=reason in ALLOWING,
        reason=reason,
        permission=permission,
        scope="PROJECT" if organization_id is None else "ORGANIZATION",
        roles=list(dict.fromkeys([*held, *everywhere])),
        explanation=steps,
        customer_id=customer_id,
        organization_id=organization_id,
    )


ALLOWING: frozenset[Reason] = frozenset(("PROJECT_ROLE", "ORGANIZATION_ROLE", "ALL_ORGANIZATIONS_ROLE"))

REFUSALS: tuple[tuple[Step, Reason], ...] = (
    ("PERMISSION_DECLARED", "UNKNOWN_PERMISSION"),
    ("CUSTOMER_NOT_BANNED", "CUSTOMER_BANNED"),
    ("ORGANIZATION_ACTIVE", "ORGANIZATION_SUSPENDED"),
)
"""What refuses whatever the roles are, and why; a scope without the step passes it."""

GRANTS: tuple[Step, ...] = ("PROJECT_ROLE", "ORGANIZATION_ROLE", "ALL_ORGANIZATIONS_ROLE")


def _reason(passed: Mapping[str, bool]) -> Reason:
    for step, refusal in REFUSALS:
        if not passed.get(step, True):
            return refusal
    for step in GRANTS:
        if passed.get(step, False):
            return step  # pyright: ignore[reportReturnType]
    return "NO_ROLE_GRANTS_PERMISSION" if passed.get("MEMBER", True) else "NOT_A_MEMBER"


def _steps_in_project(standing: AccessFacts) -> list[AccessExplanation]:
    granting = [*_system(standing, standing.customer_roles), *standing.granting_in_project]
    return [*_steps_of_customer(standing), AccessExplanation(step="PROJECT_ROLE", ok=bool(granting), roles=granting)]


def _steps_in_organization(standing: AccessFacts) -> list[AccessExplanation]:
    by_membership = [*_system(standing, standing.member_roles or []), *standing.granting_to_members]
    everywhere = standing.granting_everywhere
    return [
        *_steps_of_customer(standing),
        AccessExplanation(step="ORGANIZATION_ACTIVE", ok=not standing.suspended),
        AccessExplanation(step="MEMBER", ok=standing.member_roles is not None),
        AccessExplanation(step="ORGANIZATION_ROLE", ok=bool(by_membership), roles=by_membership),
        AccessExplanation(step="ALL_ORGANIZATIONS_ROLE", ok=bool(everywhere), roles=everywhere),
    ]


def _steps_of_customer(standing: AccessFacts) -> list[AccessExplanation]:
    return [
        AccessExplanation(step="PERMISSION_DECLARED", ok=standing.declared),
        AccessExplanation(step="CUSTOMER_GIVEN", ok=standing.customer_known),
        AccessExplanation(step="CUSTOMER_NOT_BANNED", ok=not standing.banned),
    ]


def _system(standing: AccessFacts, roles: Iterable[str]) -> list[str]:
    """The system roles among `roles` that grant the permission: nothing grants what is not declared."""
    return [role for role in roles if standing.declared and SYSTEM_PERMISSIONS.get(role)]
