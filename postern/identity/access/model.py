"""Records, request bodies and problems of permissions, roles and access checks."""

from typing import Annotated, Literal
from uuid import UUID

import msgspec
from msgspec import UNSET, UnsetType

from postern.kernel.http.problems import Conflict, Forbidden, Missing, Unprocessable
from postern.kernel.values import Body, DisplayName, Moment, Record

ROLES_PER_PROJECT = 10_000
PERMISSIONS_PER_PROJECT = 10_000
PERMISSIONS_PER_ROLE = 1_000
CHECKS_PER_REQUEST = 100

Scope = Literal["PROJECT", "ORGANIZATION"]
SYSTEM_ROLES = ("OWNER", "ADMIN", "MEMBER")

Reason = Literal[
    "PROJECT_ROLE",
    "ORGANIZATION_ROLE",
    "ALL_ORGANIZATIONS_ROLE",
    "NO_ROLE_GRANTS_PERMISSION",
    "NOT_A_MEMBER",
    "UNKNOWN_PERMISSION",
    "CUSTOMER_BANNED",
    "ORGANIZATION_SUSPENDED",
]

# `(?!\n)`, because `$` in Python also matches before a line feed at the end.
PermissionKey = Annotated[
    str,
    msgspec.Meta(
        pattern=r"^[a-z][a-z0-9_]*(:[a-z0-9_]+){1,3}(?!\n)$",
        max_length=128,
        description="Two to four lower-case words (letters, digits, `_`) joined by colons, such as `posts:write`.",
    ),
]
PermissionPattern = Annotated[
    str,
    msgspec.Meta(
        pattern=r"^(\*|[a-z][a-z0-9_]*(:[a-z0-9_]+){0,2}:\*|[a-z][a-z0-9_]*(:[a-z0-9_]+){1,3})(?!\n)$",
        max_length=128,
        description="A permission (`posts:write`), all with a prefix (`posts:*`), or all (`*`).",
    ),
]
RoleKey = Annotated[
    str,
    msgspec.Meta(
        pattern=r"^[A-Za-z][A-Za-z0-9_.-]*(?!\n)$",
        max_length=64,
        description="A key for programs: letters, digits, `_`, `.` and `-`, beginning with a letter: `editor`.",
    ),
]
RoleName = DisplayName
Description = Annotated[str, msgspec.Meta(max_length=1_000)]
PermissionList = Annotated[list[PermissionPattern], msgspec.Meta(max_length=PERMISSIONS_PER_ROLE)]


class RoleMissing(Missing):
    """There is no such role."""


class PermissionUnknown(Missing):
    """There is no such permission."""


class RoleExists(Conflict):
    """This project already has a role with that key; keys are unique across both scopes."""


class PermissionExists(Conflict):
    """This project already has that permission."""


class SystemRoleFixed(Conflict):
    """System roles (OWNER, ADMIN, MEMBER) cannot be changed or deleted."""


class RoleInUse(Conflict):
    """A customer or member has this role, or is invited with it; remove it from them first."""


class SubjectMissing(Missing):
    """There is no such customer."""


class ScopeMissing(Missing, code="place_missing"):
    """There is no such organization."""


class NotYourself(Forbidden):
    """A customer's token can check only the access of that customer."""


class PermissionUndeclared(Unprocessable):
    """A role can include only permissions that the project has declared; declare the permission first."""


class RoleUnknown(Unprocessable):
    """There is no such role in that scope."""


class TooManyRoles(Unprocessable):
    """A project has at most 10,000 roles; delete some first."""


class TooManyPermissions(Unprocessable):
    """A project has at most 10,000 permissions; delete some first."""


class Permission(Record):
    """A permission that roles can grant."""

    key: str
    description: str | None
    created_at: Moment


class PermissionRow(Permission):
    """A row of `access_permissions`."""

    id: UUID


class Role(Record):
    """A named set of permissions."""

    key: str
    name: str
    description: str | None
    scope: Scope
    """Where the permissions of the role apply: in the project, or in the organization whose member has the role."""
    applies_to_all_organizations: bool
    """Whether a customer who has the role in the project has it in every organization too."""
    system: bool
    permissions: list[str]
    created_at: Moment
    updated_at: Moment


class ShownRole(Record):
    """What people are told about a role."""

    name: str
    description: str
    """"" for none."""


class RoleRow(Role):
    """A row of `access_roles`, or the equivalent for a system role, which has no row."""

    id: UUID


Step = Literal[
    "PERMISSION_DECLARED",
    "CUSTOMER_GIVEN",
    "CUSTOMER_NOT_BANNED",
    "PROJECT_ROLE",
    "ORGANIZATION_ACTIVE",
    "MEMBER",
    "ORGANIZATION_ROLE",
    "ALL_ORGANIZATIONS_ROLE",
]


class AccessExplanation(Record):
    """One step of a check. All checks in the same scope have the same steps, in the same order."""

    step: Step
    ok: bool
    roles: list[str] = []
    """The roles that grant the permission, if the step concerns roles."""


class AccessDecision(Record):
    """Whether a customer has a permission, and why."""

    allowed: bool
    reason: Reason
    permission: str
    scope: Scope
    roles: list[str]
    """The customer's roles in the scope. In an organization, also the roles for all organizations that grant the
    permission."""
    explanation: list[AccessExplanation]
    customer_id: UUID | None
    organization_id: UUID | None


class AccessDecisions(Record):
    """The results of several checks, in the order of the request."""

    results: list[AccessDecision]


class AccessCheck(Body):
    """A check whether a customer has a permission in the project or in one of its organizations."""

    permission: Annotated[str, msgspec.Meta(min_length=1, max_length=128)]
    customer_id: str | None = None
    """Required, except with a customer's token, which implies the customer."""
    organization_id: str | None = None


class AccessCheckBatch(Body):
    """Several checks at once."""

    checks: Annotated[list[AccessCheck], msgspec.Meta(min_length=1, max_length=CHECKS_PER_REQUEST)]


class AccessFacts(Record):
    """The data that decides one check. If the customer or organization does not exist, its lists are empty."""

    number: int
    """Position of the check in the request, counted from 1."""
    declared: bool
    """Whether the project has declared the permission."""
    customer_exists: bool
    banned: bool
    customer_roles: list[str]
    organization_exists: bool
    suspended: bool
    member_roles: list[str] | None
    """None if the customer is not a member of the organization."""
    granting_in_project: list[str]
    """The customer's PROJECT roles that grant the permission; empty for a check in an organization."""
    granting_in_all_organizations: list[str]
    """The customer's roles that apply to all organizations and grant the permission; empty for a check in the
    project."""
    granting_in_organization: list[str]
    """The ORGANIZATION roles of the member that grant the permission."""


class GrantedPermissions(Record):
    """All permissions that a customer has."""

    permissions: list[str]
    """The permissions in the project."""
    organization_roles: list[str] | None
    """The roles of the member; None if the customer is no member of an ACTIVE organization with the requested id."""
    organization_permissions: list[str] | None
    """The permissions in the organization; None in the same cases as `organization_roles`."""


class NewPermission(Body):
    """A permission to declare."""

    key: PermissionKey
    description: Description | None = None


class NewRole(Body):
    """A role to create. Its permissions must be declared; wildcards such as `posts:*` need not match a declared one."""

    key: RoleKey
    name: RoleName | None = None
    """Defaults to the key."""
    scope: Scope = "PROJECT"
    description: Description | None = None
    permissions: PermissionList = []
    applies_to_all_organizations: bool = False


class RoleChange(Body):
    """Fields to change; `permissions` replaces the whole list."""

    name: RoleName | UnsetType = UNSET
    description: Description | None | UnsetType = UNSET
    permissions: PermissionList | UnsetType = UNSET
    applies_to_all_organizations: bool | UnsetType = UNSET
