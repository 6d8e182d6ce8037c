"""Organizations, members, invitations and domains; their states and what may go wrong."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Annotated, Any, Literal, get_args
from uuid import UUID

import msgspec
from msgspec import UNSET, UnsetType

from postern.kernel.clock import Moment
from postern.kernel.http.problems import Conflict, Forbidden, Missing, RateLimited, Unprocessable
from postern.kernel.values import Body, NameForPeople, Record

SLUG_LIMIT = 64
DELETION_LEASE = timedelta(minutes=5)
MEMBERS_PER_ORGANIZATION = 100_000
ROLES_PER_MEMBER = 50
PENDING_INVITATIONS_LIMIT = 10_000
DOMAINS_PER_ORGANIZATION = 100

INVITATION_LIFE = timedelta(days=7)
RESEND_AFTER = timedelta(seconds=60)
MAIL_LEASE = timedelta(minutes=2)
MAIL_ATTEMPTS = 10
"""How often the mail of an invitation is tried before it is left unsent, with the problem shown."""

LOOK_LEASE = timedelta(minutes=5)
PENDING_AT_MOST = timedelta(days=30)
"""How long a domain may stay unproved before nobody looks for its record any more."""
MISSES_TO_LAPSE = 3
MISSING_AT_MOST = timedelta(hours=72)
"""How long, and how many looks in a row, the record of a verified domain may be missing."""

Status = Literal["ACTIVE", "SUSPENDED"]
Source = Literal["API", "INVITATION", "DOMAIN", "SSO"]
InvitationStatus = Literal["PENDING", "ACCEPTED", "REVOKED", "EXPIRED"]
INVITATION_STATUSES: tuple[InvitationStatus, ...] = get_args(InvitationStatus)
InvitationSign = Literal["ACCEPT", "REVOKE", "RESEND", "TIME_PASSES"]

NEXT_INVITATION: Mapping[tuple[InvitationStatus, InvitationSign], InvitationStatus | None] = {
    ("PENDING", "ACCEPT"): "ACCEPTED",
    ("PENDING", "REVOKE"): "REVOKED",
    ("PENDING", "RESEND"): "PENDING",
    ("PENDING", "TIME_PASSES"): "EXPIRED",
    ("EXPIRED", "ACCEPT"): None,
    ("EXPIRED", "REVOKE"): "REVOKED",
    ("EXPIRED", "RESEND"): "PENDING",
    ("EXPIRED", "TIME_PASSES"): "EXPIRED",
    ("ACCEPTED", "ACCEPT"): None,
    ("ACCEPTED", "REVOKE"): None,
    ("ACCEPTED", "RESEND"): None,
    ("ACCEPTED", "TIME_PASSES"): "ACCEPTED",
    ("REVOKED", "ACCEPT"): None,
    ("REVOKED", "REVOKE"): None,
    ("REVOKED", "RESEND"): None,
    ("REVOKED", "TIME_PASSES"): "REVOKED",
}
"""Every state of an invitation with everything that can happen in it; None is refused."""

DomainStatus = Literal["PENDING", "VERIFIED", "FAILED", "LAPSED"]
DomainSign = Literal["SEEN", "MISSING", "MISSING_TOO_LONG", "UNSURE", "ASKED_AGAIN"]
"""What happens to a domain: its record was seen, was missing, has been missing for longer than its state allows,
could not be looked up, or its organization asked for another look."""

NEXT_DOMAIN: Mapping[tuple[DomainStatus, DomainSign], DomainStatus] = {
    ("PENDING", "SEEN"): "VERIFIED",
    ("PENDING", "MISSING"): "PENDING",
    ("PENDING", "MISSING_TOO_LONG"): "FAILED",
    ("PENDING", "UNSURE"): "PENDING",
    ("PENDING", "ASKED_AGAIN"): "PENDING",
    ("VERIFIED", "SEEN"): "VERIFIED",
    ("VERIFIED", "MISSING"): "VERIFIED",
    ("VERIFIED", "MISSING_TOO_LONG"): "LAPSED",
    ("VERIFIED", "UNSURE"): "VERIFIED",
    ("VERIFIED", "ASKED_AGAIN"): "VERIFIED",
    ("FAILED", "SEEN"): "VERIFIED",
    ("FAILED", "MISSING"): "FAILED",
    ("FAILED", "MISSING_TOO_LONG"): "FAILED",
    ("FAILED", "UNSURE"): "FAILED",
    ("FAILED", "ASKED_AGAIN"): "PENDING",
    ("LAPSED", "SEEN"): "VERIFIED",
    ("LAPSED", "MISSING"): "LAPSED",
    ("LAPSED", "MISSING_TOO_LONG"): "FAILED",
    ("LAPSED", "UNSURE"): "LAPSED",
    ("LAPSED", "ASKED_AGAIN"): "LAPSED",
}
"""Every state of a domain with everything that can happen in it."""

DomainReason = Literal["RECORD_NOT_FOUND", "DNS_UNAVAILABLE", "VERIFIED_BY_ANOTHER_ORGANIZATION"]
JoinReason = Literal[
    "JOINED",
    "ALREADY_MEMBER",
    "EMAIL_NOT_VERIFIED",
    "NO_MATCHING_DOMAIN",
    "AUTO_JOIN_DISABLED",
    "PUBLIC_DOMAIN",
    "ORGANIZATION_SUSPENDED",
    "MEMBER_REMOVED",
    "CUSTOMER_BANNED",
]

Name = NameForPeople
Slug = Annotated[
    str,
    msgspec.Meta(
        pattern=r"^[a-z0-9]+(-[a-z0-9]+)*(?!\n)$",
        max_length=SLUG_LIMIT,
        description="Lower-case letters and digits in words joined by single hyphens, such as `acme-inc`.",
    ),
]
ExternalId = Annotated[str, msgspec.Meta(min_length=1, max_length=255)]
RoleKey = Annotated[str, msgspec.Meta(min_length=1, max_length=64)]
Roles = Annotated[list[RoleKey], msgspec.Meta(min_length=1, max_length=ROLES_PER_MEMBER)]
PageUrl = Annotated[
    str,
    msgspec.Meta(
        pattern=r"""^https?://[^\s<>"'#]+(?!\n)$""",
        max_length=2_000,
        description="The http or https URL of a page without a fragment, such as `https://app.example.com/join`.",
    ),
]


class OrganizationMissing(Missing):
    """There is no such organization."""


class OrganizationMemberMissing(Missing, code="member_missing"):
    """This customer is no member of the organization."""


class OrganizationInvitationMissing(Missing, code="invitation_missing"):
    """There is no such invitation."""


class OrganizationDomainMissing(Missing):
    """There is no such organization domain."""


class SlugTaken(Conflict):
    """Another organization of the project has this slug."""


class OrganizationExternalIdTaken(Conflict):
    """Another organization of the project has this external identifier."""


class OrganizationSuspended(Conflict):
    """This organization is suspended; nobody is invited to it or joins it."""


class AlreadyOrganizationMember(Conflict, code="already_member"):
    """This customer is a member of the organization already."""


class LastOwner(Conflict):
    """An organization that has an owner keeps one: make somebody else OWNER first."""


class AlreadyInvited(Conflict):
    """This address has a pending invitation to the organization; resend or revoke that one."""


class InvitationClosed(Conflict):
    """This invitation was accepted or revoked, or has expired."""


class ResentTooSoon(RateLimited):
    """An invitation is resent at most once a minute."""


class InvitedSomebodyElse(Forbidden):
    """This invitation is for another address than yours."""


class AddressNotVerified(Forbidden):
    """Prove your e-mail address before you accept an invitation to it."""


class DomainListed(Conflict):
    """The organization has this domain already."""


class DomainTaken(Conflict):
    """Another organization of this project has proved that it owns this domain."""


class DomainNotProved(Conflict):
    """Customers can join by a domain only while it is VERIFIED."""


class TooManyOrganizationMembers(Unprocessable, code="too_many_members"):
    """An organization has at most 100,000 members."""


class TooManyInvitations(Unprocessable):
    """An organization has at most 10,000 pending invitations; revoke some first."""


class TooManyOrganizationDomains(Unprocessable):
    """An organization has at most 100 domains; remove some first."""


class InviterUnknown(Unprocessable):
    """Who invites has to be a member of the organization."""


class OrganizationRow(Record):
    """An organization with its counts."""

    project_id: UUID
    id: UUID
    name: str
    slug: str
    external_id: str | None
    status: Status
    metadata: dict[str, Any]
    require_sso: bool
    require_mfa: bool
    member_count: int = 0
    pending_invitation_count: int = 0
    created_at: Moment
    updated_at: Moment


class Organization(Record):
    """An organization, seen from the project."""

    id: UUID
    project_id: UUID
    name: str
    slug: str
    metadata: dict[str, Any]
    external_id: str | None
    """The identifier from your own system."""
    status: Status
    require_sso: bool
    """Whether its members, and everybody with an address at its verified domains, sign in by its single sign-on and
    in no other way."""
    require_mfa: bool
    """Whether its members sign in with a second factor; who has none sets one up first."""
    created_at: Moment
    updated_at: Moment
    member_count: int
    pending_invitation_count: int


class AppOrganization(Record):
    """An organization, seen from the app."""

    id: UUID
    app_id: UUID
    name: str
    slug: str
    metadata: dict[str, Any]
    require_sso: bool
    """Whether its people sign in by its single sign-on and in no other way."""
    require_mfa: bool
    """Whether its members sign in with a second factor."""
    created_at: Moment
    updated_at: Moment
    member_count: int
    pending_invitation_count: int


class OrganizationRef(Record):
    """Which organization something belongs to."""

    id: UUID
    name: str
    slug: str


class OrganizationMember(Record):
    """A customer in an organization."""

    id: UUID
    organization_id: UUID
    customer_id: UUID
    email: str | None
    name: str | None
    roles: list[str]
    source: Source
    """How they came in."""
    joined_at: Moment
    updated_at: Moment


class OrganizationMembership(Record):
    """An organization that a customer belongs to, as the customer sees it."""

    organization: OrganizationRef
    status: Status
    roles: list[str]
    joined_at: Moment


class OrganizationMembershipRow(Record):
    """The row behind a membership."""

    id: UUID
    organization_id: UUID
    name: str
    slug: str
    status: Status
    roles: list[str]
    joined_at: Moment


class OrganizationInvitationRow(Record):
    """The row of an invitation."""

    project_id: UUID
    id: UUID
    organization_id: UUID
    email: str
    email_key: str
    role: str
    status: InvitationStatus
    accept_url: str | None
    invited_by: UUID | None
    accepted_by: UUID | None
    generation: int
    mailed: int
    mailed_at: Moment | None
    mail_problem: str | None
    life: timedelta
    sent_at: Moment
    expires_at: Moment
    accepted_at: Moment | None
    revoked_at: Moment | None
    created_at: Moment
    due_at: Moment | None
    attempt: int

    def status_at(self, now: Moment) -> InvitationStatus:
        """The state at that moment: a pending invitation expires by itself."""
        return "EXPIRED" if self.status == "PENDING" and self.expires_at <= now else self.status


class OrganizationInvitation(Record):
    """An invitation to join an organization."""

    id: UUID
    organization_id: UUID
    app_id: UUID
    email: str
    role: str
    status: InvitationStatus
    invited_by_end_user_id: UUID | None
    expires_at: Moment
    accepted_at: Moment | None
    revoked_at: Moment | None
    sent_at: Moment
    """When the newest mail was asked for."""
    mailed_at: Moment | None
    """When the newest mail was accepted for delivery; null while it is on its way there."""
    mail_problem: str | None
    """Why the newest mail could not be sent, if so."""
    created_at: Moment


class InvitationPreview(Record):
    """What somebody who holds the token of an invitation may know before signing in."""

    organization: OrganizationRef
    email: str
    role: str
    status: InvitationStatus
    expires_at: Moment


class AcceptedInvitation(Record):
    """What accepting an invitation led to."""

    invitation: OrganizationInvitation
    organization: OrganizationRef
    roles: list[str]


class OrganizationDomainRow(Record):
    """The row of an organization's domain."""

    project_id: UUID
    id: UUID
    organization_id: UUID
    domain: str
    status: DomainStatus
    token: str
    auto_join_enabled: bool
    verified_at: Moment | None
    last_checked_at: Moment | None
    reason: DomainReason | None
    watched_since: Moment
    missing_since: Moment | None
    misses: int
    created_at: Moment
    updated_at: Moment
    due_at: Moment | None
    attempt: int


class OrganizationDomain(Record):
    """A domain that an organization says it owns."""

    id: UUID
    organization_id: UUID
    project_id: UUID
    domain: str
    status: DomainStatus
    record_name: str
    """Where to publish the TXT record."""
    record: str
    """The value of the TXT record."""
    reason: DomainReason | None
    """Why the last look did not end well."""
    verified_at: Moment | None
    last_checked_at: Moment | None
    next_check_at: Moment | None
    missing_since: Moment | None
    auto_join_enabled: bool
    created_at: Moment
    updated_at: Moment


class DomainJoin(Record):
    """Whether a customer was put into an organization by the domain of the address, and why or why not."""

    joined: bool
    organization_id: UUID | None
    domain: str | None
    reason: JoinReason


class NewOrganization(Body):
    """An organization to create."""

    name: Name
    slug: Slug | None = None
    """Made from the name, if none is given."""
    external_id: ExternalId | None = None
    metadata: dict[str, Any] = {}


class OrganizationChange(Body):
    """What to change of an organization; `metadata` is merged at the top level, null removes a key."""

    name: Name | UnsetType = UNSET
    slug: Slug | UnsetType = UNSET
    external_id: ExternalId | None | UnsetType = UNSET
    metadata: dict[str, Any] | UnsetType = UNSET
    status: Status | UnsetType = UNSET
    require_sso: bool | UnsetType = UNSET
    """Whether members, and everybody with an address at a verified domain, have to use the organization's single
    sign-on. Needs a connection that signs people on now."""
    require_mfa: bool | UnsetType = UNSET
    """Whether members need a second factor to sign in; who has none sets one up first."""


class NewOrganizationMember(Body):
    """A customer to put into an organization."""

    customer_id: str
    roles: Roles = msgspec.field(default_factory=lambda: ["MEMBER"])


class OrganizationMemberChange(Body):
    """The roles that a member has from now on."""

    roles: Roles


class NewOrganizationInvitation(Body):
    """Whom to invite, as what, and for how long."""

    email: Annotated[str, msgspec.Meta(min_length=3, max_length=254)]
    role: RoleKey = "MEMBER"
    expires_in_days: Annotated[int, msgspec.Meta(ge=1, le=30)] = INVITATION_LIFE.days
    accept_url: PageUrl | None = None
    """Your page that takes the invitation; gets `token` added to its query. Without it the mail shows the token."""
    invited_by_end_user_id: str | None = None


class InvitationToken(Body):
    """The token from the mail of an invitation."""

    token: Annotated[str, msgspec.Meta(min_length=1, max_length=200)]


class NewOrganizationDomain(Body):
    """A domain that an organization says it owns."""

    domain: Annotated[str, msgspec.Meta(min_length=1, max_length=300)]


class OrganizationDomainChange(Body):
    """Whether customers with an address at the domain join by themselves."""

    auto_join_enabled: bool


class DomainJoinRequest(Body):
    """Who is to join by the domain of the address."""

    customer_id: str
