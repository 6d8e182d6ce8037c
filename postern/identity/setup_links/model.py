"""Records, request bodies, limits and problems of setup links."""

from datetime import timedelta
from typing import Annotated, Literal
from uuid import UUID

import msgspec

from postern.kernel.http.problems import Conflict, Forbidden, Missing, Unprocessable
from postern.kernel.limits import RateLimit
from postern.kernel.values import Body, Moment, Record

OPEN_LINKS_PER_ORGANIZATION = 10
BEGIN_RATE = RateLimit("setup-begin", 10, timedelta(hours=1))
"""How often a member can begin the setup of an organization."""
MEMBER_LINK_DAYS = 1
"""How long the link of a member who sets up their own organization lives."""
RETENTION = timedelta(days=90)
"""How long a link is kept after its expiry."""
USE_NOTED_EVERY = timedelta(minutes=1)
"""How precisely the time of the last use of a link is kept."""
RATE = RateLimit("setup-link", 60, timedelta(minutes=1))
"""Requests with one link. Forms can look up DNS records and fetch metadata."""
GROUPS_SHOWN = 100
"""Groups of a directory whose roles the page can change."""

Step = Literal["DOMAIN", "SSO", "SCIM"]
"""What a link permits: add and verify domains, set up single sign-on, set up a directory (SCIM)."""
Status = Literal["PENDING", "OPENED", "COMPLETED", "REVOKED", "EXPIRED"]
Provider = Literal["ENTRA", "OKTA", "GOOGLE", "JUMPCLOUD", "SAML", "OIDC"]
"""The provider whose instructions the page shows; SAML and OIDC are for all others."""
RoleKey = Annotated[str, msgspec.Meta(min_length=1, max_length=64)]


class SetupLinkMissing(Missing):
    """There is no such setup link."""


class SetupLinkClosed(Conflict):
    """This setup link is completed, revoked or expired; create another one."""


class SetupLinkInUse(Forbidden):
    """This setup link was opened in another browser; continue there, or ask for another link."""


class TooManySetupLinks(Unprocessable):
    """An organization has at most 10 open setup links; revoke some first."""


class SetupStepNotAllowed(Forbidden):
    """This setup link does not permit this step."""


class SetupConnectionActive(Conflict):
    """This connection is active, so a setup link cannot change it; change it by the API or in the dashboard."""


class SetupTestMissing(Conflict):
    """This connection has no successful test with its current settings; test it before you activate it."""


class SetupLinkOwnerRequired(Forbidden):
    """You are not signed in as an owner of this organization any more; open the setup from its page again."""


class NewSetupLink(Body):
    """A setup link to create."""

    steps: Annotated[list[Step], msgspec.Meta(min_length=1, max_length=3)] = msgspec.field(
        default_factory=lambda: list[Step](("DOMAIN", "SSO", "SCIM"))
    )
    """What the administrator may set up."""
    expires_in_days: Annotated[int, msgspec.Meta(ge=1, le=30)] = 7
    email: Annotated[str, msgspec.Meta(min_length=3, max_length=320)] | None = None
    """Address of the administrator. If it is set, the link is mailed there."""
    assignable_roles: Annotated[list[RoleKey], msgspec.Meta(max_length=50)] = []
    """Roles besides MEMBER that the administrator may give to groups of the directory."""


class SetupLink(Record):
    """A link with which an administrator of an organization sets it up."""

    id: UUID
    project_id: UUID
    organization_id: UUID
    steps: list[Step]
    assignable_roles: list[str]
    email: str | None
    status: Status
    """PENDING until it is opened, then OPENED until it is COMPLETED by the administrator, REVOKED or EXPIRED."""
    provider: Provider | None
    """The provider that the administrator has chosen."""
    sso_connection_id: UUID | None
    """The connection that the link has created; that of an earlier link of the organization is taken over."""
    directory_connection_id: UUID | None
    """The directory connection that the link has created or taken over."""
    created_at: Moment
    expires_at: Moment
    opened_at: Moment | None
    """When the link was opened, and bound to the browser that opened it."""
    last_used_at: Moment | None
    """The time of the last request with the link, to within a minute."""
    completed_at: Moment | None
    """When the administrator has finished the setup."""
    revoked_at: Moment | None


class SetupLinkWithUrl(SetupLink):
    """A new setup link with its URL, which is not shown again."""

    url: str


class SetupLinkRow(Record):
    """A row of `setup_links`."""

    project_id: UUID
    id: UUID
    organization_id: UUID
    steps: list[Step]
    assignable_roles: list[str]
    email: str | None
    test: bool
    """Whether a TEST key created the link; then mail that follows from it is captured."""
    token_hash: bytes
    browser_hash: bytes | None
    """A keyed hash of the cookie of the browser that has opened the link."""
    provider: Provider | None
    sso_connection_id: UUID | None
    directory_connection_id: UUID | None
    created_at: Moment
    expires_at: Moment
    opened_at: Moment | None
    last_used_at: Moment | None
    completed_at: Moment | None
    revoked_at: Moment | None
    session_id: UUID | None
    """The session of the member who sets up their own organization; null for links that developers create."""

    def status_at(self, now: Moment) -> Status:
        """The status at a time."""
        if self.revoked_at is not None:
            return "REVOKED"
        if self.completed_at is not None:
            return "COMPLETED"
        if self.expires_at <= now:
            return "EXPIRED"
        return "PENDING" if self.opened_at is None else "OPENED"
