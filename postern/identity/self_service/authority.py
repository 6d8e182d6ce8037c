"""What a member may do on the pages of an organization, and which roles the member can give."""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from postern.identity.access import operations as access
from postern.identity.access.model import Role
from postern.identity.organizations import members
from postern.identity.organizations.model import Organization
from postern.identity.self_service.visits import Visit
from postern.kernel.http.call import Call
from postern.kernel.http.problems import Forbidden

ORGANIZATION = "organizations/{organization_id}"
"""The path of the page of an organization, below `auth/pages/`."""
MEMBERS = "organization:members"
"""Permission to see and change members and invitations, and to see the roles."""
DOMAINS = "organization:domains"
"""Permission to see and change the domains."""
SIGN_IN = "organization:sign_in"
"""Permission to see single sign-on and directories, and to change the sign-in rules."""
PLAN = "organization:plan"
"""Permission to see the plan and the features."""
PERMISSIONS = (MEMBERS, DOMAINS, SIGN_IN, PLAN)
"""The permissions of these pages. OWNER and ADMIN have them all, even if the project has not declared them."""
ROLES_READ = 1_000
"""Maximum number of roles that these pages know, the newest."""


class MemberNotPermitted(Forbidden):
    """Your role in this organization does not allow this."""


class RoleNotAssignable(Forbidden):
    """You can give or take only roles that allow no more than your own."""


@dataclass(frozen=True)
class Authority:
    """What the visitor may do in an organization."""

    organization: Organization
    roles: list[str]
    """The roles of the visitor."""
    permissions: frozenset[str]
    """Those of PERMISSIONS that the visitor has."""
    known_roles: list[Role]
    """The roles for members of organizations."""
    patterns: list[str]
    """The permissions of the visitor's roles."""

    def require(self, permission: str) -> None:
        """Raise MemberNotPermitted unless the visitor has the permission."""
        if permission not in self.permissions:
            raise MemberNotPermitted

    def may_assign(self, key: str) -> bool:
        """Whether the visitor may give the role to members, and take it from them."""
        if key == "OWNER":
            return "OWNER" in self.roles
        role = next((role for role in self.known_roles if role.key == key), None)
        return role is not None and all(_covers(self.patterns, pattern) for pattern in role.permissions)

    def require_assignable(self, keys: Sequence[str]) -> None:
        """Raise RoleNotAssignable unless the visitor may give and take all these roles."""
        if not all(self.may_assign(key) for key in keys):
            raise RoleNotAssignable

    @property
    def owns(self) -> bool:
        """Whether the visitor is an OWNER. Only an OWNER may set up single sign-on and directories: an identity
        provider signs in every member at its domain, also those whose roles allow more than the visitor's."""
        return "OWNER" in self.roles

    @property
    def assignable(self) -> list[Role]:
        """The roles that the visitor may give, MEMBER first."""
        roles = [role for role in self.known_roles if self.may_assign(role.key)]
        return sorted(roles, key=lambda role: role.key != "MEMBER")


async def names_of_roles(call: Call) -> dict[str, str]:
    """The names of the roles for members of organizations, by key."""
    roles = await access.list_roles(call, limit=ROLES_READ)
    return {role.key: role.name for role in roles.items if role.scope == "ORGANIZATION"}


async def authority_in(visit: Visit, organization: Organization) -> Authority:
    """What the visitor, who is a member, may do in the organization now."""
    call, customer = visit.call, visit.customer
    member = await members.get_organization_member(call, organization.id, customer.id)
    permissions = await access.permissions_of_member(call, customer.id, organization.id, PERMISSIONS)
    roles = list((await access.list_roles(call, limit=ROLES_READ)).items)
    own = [
        role
        for role in roles
        if (role.scope == "ORGANIZATION" and role.key in member.roles)
        or (role.applies_to_all_organizations and role.key in customer.roles)
    ]
    return Authority(
        organization=organization,
        roles=member.roles,
        permissions=permissions,
        known_roles=[role for role in roles if role.scope == "ORGANIZATION"],
        patterns=[pattern for role in own for pattern in role.permissions],
    )


async def require_authority(visit: Visit, organization_id: UUID, permission: str) -> Authority:
    """What the visitor may do. Raises MemberNotPermitted without `permission`."""
    authority = await authority_in(visit, await members.require_membership(visit.call, organization_id))
    authority.require(permission)
    return authority


def organization_path(organization_id: UUID, path: str = "") -> str:
    """The path of a page of an organization, below `auth/pages/`."""
    return f"{ORGANIZATION.format(organization_id=organization_id)}{path}"


def _covers(patterns: Sequence[str], permission: str) -> bool:
    """Whether the permissions `patterns` include everything that `permission` does."""
    return any(
        pattern in ("*", permission) or (pattern.endswith(":*") and permission.startswith(pattern[:-1]))
        for pattern in patterns
    )
