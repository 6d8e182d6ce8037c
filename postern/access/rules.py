"""Which permissions a role's list covers, and the roles that are the same everywhere."""

from uuid import UUID

from postern.access.model import SYSTEM_ROLES, RoleRow, Scope
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
