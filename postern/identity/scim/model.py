"""Directory connections, users and groups: records, request bodies, limits and problems."""

from datetime import timedelta
from typing import Annotated, Any, Literal
from uuid import UUID

import msgspec
from msgspec import UNSET, UnsetType

from postern.kernel.http.problems import Conflict, Missing
from postern.kernel.values import Body, DisplayName, Moment, Record

CONNECTIONS_PER_ORGANIZATION = 10
USERS_PER_CONNECTION = 100_000
CUSTOMERS_PER_CONNECTION = 100_000
"""Customers that a directory can create in total: deleting a user does not delete its customer."""
GROUPS_PER_CONNECTION = 5_000
MEMBERS_PER_GROUP = 50_000
MEMBERS_PER_REQUEST = 10_000
"""Members that one request can add to groups or remove from groups."""
SYNCHRONIZED_USERS = 1_000
"""Users whose roles a request on a group computes; those of more are computed in the background."""
RETURNED_MEMBERS = 50_000
"""Members of groups, or groups of users, in one response."""
PAGE_LIMIT = 200
"""Resources in one page of a list."""
SCAN_LIMIT = 10_000
"""Users that a filter can be evaluated on that the database cannot evaluate."""
BULK_OPERATIONS = 100
GROUP_ROLES_LIMIT = 1_000
ROLES_LIMIT = 50
ERRORS_KEPT = 50
"""Refused requests of a connection that are kept."""
ERROR_LIFE = timedelta(days=30)
"""How long refused requests are kept."""
METHOD_LIMIT = 10
"""Characters of the method of a refused request that are kept."""
ERRORS_SHOWN = 20
DETAIL_LIMIT = 500
"""Characters of the detail of a refused request that are kept."""

TOKEN_PREFIX = "scim_"  # noqa: S105 - not a token
TOKEN_PURPOSE = "scim-token"  # noqa: S105 - the purpose of a keyed hash
TOKENS_PER_CONNECTION = 3
"""Tokens of a connection that are kept; of these, more than one is valid only after a rotation."""
NOTED_EVERY = timedelta(minutes=1)
"""How precisely the times of the last use of a token and of the last change are kept."""
ROLES_LEASE = timedelta(minutes=5)
ROLES_CHUNK = 500
"""Users whose roles one transaction of background work computes."""

ConnectionStatus = Literal["ACTIVE", "DISABLED"]
RoleKey = Annotated[str, msgspec.Meta(min_length=1, max_length=128)]
RoleKeys = Annotated[list[RoleKey], msgspec.Meta(max_length=ROLES_LIMIT)]
GroupName = Annotated[str, msgspec.Meta(min_length=1, max_length=255)]
GroupRoleMap = Annotated[dict[GroupName, RoleKeys], msgspec.Meta(max_length=GROUP_ROLES_LIMIT)]
Hours = Annotated[int, msgspec.Meta(ge=0, le=168)]


class DirectoryConnectionMissing(Missing):
    """There is no such directory connection."""


class TooManyDirectoryConnections(Conflict):
    """An organization can have at most 10 directory connections."""


class DirectoryTokenInfo(Record):
    """A token of a connection. The token itself is only in the response that created it."""

    id: UUID
    created_at: Moment
    expires_at: Moment | None
    """When the token ends, because another one has replaced it; null for the newest one."""
    last_used_at: Moment | None
    """The time of the last request with this token, to within a minute; null if there was none."""


class DirectoryError(Record):
    """A request of the directory that was refused."""

    id: UUID
    method: str
    path: str
    """The path below the base URL, without the query."""
    status: int
    scim_type: str | None
    """The kind of the error (RFC 7644 §3.12), such as `uniqueness`; null if SCIM has none for it."""
    detail: str
    occurred_at: Moment


class DirectoryConnection(Record):
    """The connection of an organization to its directory, such as Entra ID or Okta."""

    id: UUID
    project_id: UUID
    organization_id: UUID
    name: str
    status: ConnectionStatus
    base_url: str
    """The URL to enter in the directory, together with a token."""
    default_roles: list[str]
    """The roles of all active users of the directory."""
    group_roles: dict[str, list[str]]
    """Further roles of the members of groups, by the name, the `externalId` or the id of the group."""
    allow_other_domains: bool
    """Whether users may have addresses at domains that the organization has not verified."""
    tokens: list[DirectoryTokenInfo]
    """The valid tokens, newest first: more than one after a rotation."""
    user_count: int
    """Number of users, active or not."""
    active_user_count: int
    """Number of users who are members."""
    group_count: int
    """Number of groups."""
    last_synced_at: Moment | None
    """The time of the last change by the directory, to within a minute; null if there was none."""
    recent_errors: list[DirectoryError]
    """The last refused requests, newest first."""
    created_at: Moment
    updated_at: Moment


class DirectoryConnectionWithToken(DirectoryConnection):
    """A connection with a new token, which is not shown again."""

    token: str


class DirectoryUserRole(Record):
    """A role that the directory has added to a member, and the groups that it comes from."""

    role: str
    groups: list[str]
    """The names of the groups with this role; empty if it is one of `defaultRoles`."""


class DirectoryUser(Record):
    """A user of a directory."""

    id: UUID
    customer_id: UUID
    external_id: str | None
    """The id of the user in the directory."""
    user_name: str
    """The name with which the user signs in at the directory."""
    display_name: str | None
    """The name that the directory shows."""
    active: bool
    roles: list[DirectoryUserRole]
    """The roles that come from the directory. They are taken away when the user leaves the group. The member can have
    others, which were assigned otherwise and stay."""
    created_at: Moment
    updated_at: Moment


class DirectoryGroup(Record):
    """A group of a directory."""

    id: UUID
    external_id: str | None
    """The id of the group in the directory."""
    display_name: str
    """The name of the group."""
    member_count: int
    roles: list[str]
    """The roles that the connection gives to the members of the group."""
    created_at: Moment
    updated_at: Moment


class ConnectionRecord(Record):
    """A row of `directory_connections`."""

    project_id: UUID
    id: UUID
    organization_id: UUID
    name: str
    status: Literal["ACTIVE", "DISABLED", "DELETED"]
    default_roles: list[str]
    group_roles: dict[str, list[str]]
    allow_other_domains: bool
    last_synced_at: Moment | None
    stored_user_count: int
    """The number of users, which is too high by those whose customers were erased."""
    created_count: int
    """The customers that the directory has created, also those whose users are deleted."""
    roles_through: UUID | None
    created_at: Moment
    updated_at: Moment
    due_at: Moment | None
    attempt: int


class TokenRow(Record):
    """A row of `directory_tokens`."""

    project_id: UUID
    id: UUID
    connection_id: UUID
    hash: bytes
    created_at: Moment
    expires_at: Moment | None
    last_used_at: Moment | None


class UserRow(Record):
    """A row of `directory_users`."""

    project_id: UUID
    id: UUID
    connection_id: UUID
    customer_id: UUID
    external_id: str | None
    user_name: str
    user_name_key: str
    """The name in lower case; two users cannot have the same."""
    display_name: str | None
    active: bool
    email_keys: list[str]
    """The addresses in the form in which addresses are looked up."""
    attributes: dict[str, Any]
    """The user in the canonical form of `protocols/scim/schemas.py`, without `id`, `meta` and `groups`."""
    roles: list[str]
    """The roles of the member that the directory has added."""
    version: int
    created_at: Moment
    updated_at: Moment


class GroupRow(Record):
    """A row of `directory_groups`."""

    project_id: UUID
    id: UUID
    connection_id: UUID
    external_id: str | None
    display_name: str
    display_name_key: str
    version: int
    created_at: Moment
    updated_at: Moment


class NewDirectoryConnection(Body):
    """The name of the directory, and the roles of its users."""

    name: DisplayName
    default_roles: Annotated[list[RoleKey], msgspec.Meta(min_length=1, max_length=ROLES_LIMIT)] = msgspec.field(
        default_factory=lambda: ["MEMBER"]
    )
    group_roles: GroupRoleMap = {}
    allow_other_domains: bool = False


class DirectoryConnectionChange(Body):
    """Changes of a connection. Omitted fields keep their values."""

    name: DisplayName | UnsetType = UNSET
    status: ConnectionStatus | UnsetType = UNSET
    default_roles: Annotated[list[RoleKey], msgspec.Meta(min_length=1, max_length=ROLES_LIMIT)] | UnsetType = UNSET
    group_roles: GroupRoleMap | UnsetType = UNSET
    """Replaces the map as a whole."""
    allow_other_domains: bool | UnsetType = UNSET


class TokenRotation(Body):
    """How long the present token stays valid."""

    overlap_hours: Hours = 24
    """Hours during which the present token is still accepted; 0 ends it at once."""
