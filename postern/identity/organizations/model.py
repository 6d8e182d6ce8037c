"""Records, request bodies, state machines and problems of organizations, members, invitations and domains."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Annotated, Any, Literal
from uuid import UUID

import msgspec
from msgspec import UNSET, UnsetType

from postern.kernel.http.problems import Conflict, Forbidden, Missing, RateLimited, Unprocessable
from postern.kernel.values import Body, DisplayName, Moment, Record

SLUG_LIMIT = 64
DELETION_LEASE = timedelta(minutes=5)
MEMBERS_PER_ORGANIZATION = 100_000
ROLES_PER_MEMBER = 50
PENDING_INVITATIONS_LIMIT = 10_000
DOMAINS_PER_ORGANIZATION = 100

INVITATION_LIFE = timedelta(days=7)
RESEND_AFTER = timedelta(seconds=60)
"""Minimum time between two e-mails of an invitation."""
MAIL_LEASE = timedelta(minutes=2)
MAIL_ATTEMPTS = 10
"""Attempts to send an invitation e-mail; after the last one, `mailProblem` tells why it failed."""

CHECK_LEASE = timedelta(minutes=5)
"""How long a worker holds a claimed domain before another worker can claim it, as MAIL_LEASE is for an invitation and
DELETION_LEASE for a deleted organization."""
MAX_PENDING = timedelta(days=30)
"""How long a domain can be PENDING or LAPSED before it becomes FAILED and is no longer checked. Counted from when the
domain was added or lapsed, or when a caller requested a check of the FAILED domain."""
MISSES_TO_LAPSE = 3
MAX_MISSING = timedelta(hours=72)
"""A verified domain lapses after MISSES_TO_LAPSE successive checks without its record, if the first of them is at least
MAX_MISSING ago. Failed DNS lookups do not count."""

Status = Literal["ACTIVE", "SUSPENDED"]
Source = Literal["API", "INVITATION", "DOMAIN", "SSO", "SCIM"]
InvitationStatus = Literal["PENDING", "ACCEPTED", "REVOKED", "EXPIRED"]
InvitationAction = Literal["ACCEPT", "REVOKE", "RESEND", "EXPIRE"]

NEXT_INVITATION_STATUS: Mapping[tuple[InvitationStatus, InvitationAction], InvitationStatus | None] = {
    ("PENDING", "ACCEPT"): "ACCEPTED",
    ("PENDING", "REVOKE"): "REVOKED",
    ("PENDING", "RESEND"): "PENDING",
    ("PENDING", "EXPIRE"): "EXPIRED",
    ("EXPIRED", "ACCEPT"): None,
    ("EXPIRED", "REVOKE"): "REVOKED",
    ("EXPIRED", "RESEND"): "PENDING",
    ("EXPIRED", "EXPIRE"): "EXPIRED",
    ("ACCEPTED", "ACCEPT"): None,
    ("ACCEPTED", "REVOKE"): None,
    ("ACCEPTED", "RESEND"): None,
    ("ACCEPTED", "EXPIRE"): "ACCEPTED",
    ("REVOKED", "ACCEPT"): None,
    ("REVOKED", "REVOKE"): None,
    ("REVOKED", "RESEND"): None,
    ("REVOKED", "EXPIRE"): "REVOKED",
}
"""Next status of an invitation for each status and action; None if the action is not allowed."""

DomainStatus = Literal["PENDING", "VERIFIED", "FAILED", "LAPSED"]
DomainInput = Literal["SEEN", "MISSING", "MISSING_TOO_LONG", "UNSURE", "CHECK_REQUESTED"]
"""Inputs of the state machine of a domain. SEEN: the record exists. MISSING: it does not. MISSING_TOO_LONG: it has not
existed for longer than the status allows. UNSURE: the DNS lookup failed. CHECK_REQUESTED: a caller requested a check,
instead of waiting for the periodic one."""

NEXT_DOMAIN_STATUS: Mapping[tuple[DomainStatus, DomainInput], DomainStatus] = {
    ("PENDING", "SEEN"): "VERIFIED",
    ("PENDING", "MISSING"): "PENDING",
    ("PENDING", "MISSING_TOO_LONG"): "FAILED",
    ("PENDING", "UNSURE"): "PENDING",
    ("PENDING", "CHECK_REQUESTED"): "PENDING",
    ("VERIFIED", "SEEN"): "VERIFIED",
    ("VERIFIED", "MISSING"): "VERIFIED",
    ("VERIFIED", "MISSING_TOO_LONG"): "LAPSED",
    ("VERIFIED", "UNSURE"): "VERIFIED",
    ("VERIFIED", "CHECK_REQUESTED"): "VERIFIED",
    ("FAILED", "SEEN"): "VERIFIED",
    ("FAILED", "MISSING"): "FAILED",
    ("FAILED", "MISSING_TOO_LONG"): "FAILED",
    ("FAILED", "UNSURE"): "FAILED",
    ("FAILED", "CHECK_REQUESTED"): "PENDING",
    ("LAPSED", "SEEN"): "VERIFIED",
    ("LAPSED", "MISSING"): "LAPSED",
    ("LAPSED", "MISSING_TOO_LONG"): "FAILED",
    ("LAPSED", "UNSURE"): "LAPSED",
    ("LAPSED", "CHECK_REQUESTED"): "LAPSED",
}
"""Next status of a domain for each status and input."""

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

SignInMethod = Literal["PASSWORD", "EMAIL_CODE", "EMAIL_LINK", "PASSKEY", "SOCIAL", "SSO"]
"""A sign-in method that an organization can allow. SOCIAL: the project's sign-in providers; SSO: a connection of an
organization."""
AllowedMethods = Annotated[list[SignInMethod], msgspec.Meta(min_length=1, max_length=6)]
SessionLifetime = Annotated[int, msgspec.Meta(ge=15, le=43_200)]
SessionIdle = Annotated[int, msgspec.Meta(ge=5, le=10_080)]
"""Not shorter than an access token is valid, because apps refresh sessions only when it has expired."""

Name = DisplayName
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
        description="An http or https URL without a fragment, such as `https://app.example.com/join`.",
    ),
]


class OrganizationMissing(Missing):
    """There is no such organization."""


class NotYourOrganization(Missing):
    """You do not belong to this organization, or it does not exist any more."""


class OrganizationMemberMissing(Missing, code="member_missing"):
    """This customer is not a member of the organization."""


class OrganizationInvitationMissing(Missing, code="invitation_missing"):
    """There is no such invitation."""


class OrganizationDomainMissing(Missing):
    """There is no such organization domain."""


class OwnersLockedOut(Conflict):
    """No OWNER of the organization could sign in by one of these methods."""

    next = (
        "Let an OWNER set up one of the methods first, allow another method too, or repeat this with `allowLockOut: "
        "true`: your own administrators can still change the organization."
    )


class SlugTaken(Conflict):
    """Another organization of the project has this slug."""


class OrganizationExternalIdTaken(Conflict):
    """Another organization of the project has this external identifier."""


class OrganizationSuspended(Conflict):
    """This organization is suspended, so it cannot get invitations or members; activate it first."""


class AlreadyOrganizationMember(Conflict, code="already_member"):
    """This customer is a member of the organization already."""


class LastOwner(Conflict):
    """This is the last OWNER of the organization; make another member OWNER first."""


class AlreadyInvited(Conflict):
    """This address has a pending invitation to the organization already; resend or revoke that invitation."""


class InvitationClosed(Conflict):
    """This invitation was accepted or revoked, or has expired. Send a new one."""


class ResentTooSoon(RateLimited):
    """An invitation can be resent at most once a minute; retry later."""


class InvitedSomebodyElse(Forbidden):
    """This invitation was sent to an address that is not yours; sign in with the invited address."""


class AddressNotVerified(Forbidden):
    """Verify your e-mail address before you accept an invitation sent to it."""


class DomainListed(Conflict):
    """The organization has this domain already."""


class DomainTaken(Conflict):
    """Another organization of this project has verified this domain."""


class DomainNotProved(Conflict):
    """Automatic joining requires a VERIFIED domain; verify it first."""


class TooManyOrganizationMembers(Unprocessable, code="too_many_members"):
    """An organization has at most 100,000 members."""


class TooManyInvitations(Unprocessable):
    """An organization has at most 10,000 pending invitations; revoke some first."""


class TooManyOrganizationDomains(Unprocessable):
    """An organization has at most 100 domains; remove some first."""


class InviterUnknown(Unprocessable):
    """The inviter must be a member of the organization."""


class Organization(Record):
    """An organization as the operations under `/projects` return it."""

    id: UUID
    project_id: UUID
    name: str
    slug: str
    metadata: dict[str, Any]
    external_id: str | None
    """Id of the organization in your own system."""
    status: Status
    require_sso: bool
    """Whether its members, and customers with an address at its verified domains, can sign in only by its single
    sign-on."""
    require_mfa: bool
    """Whether its members must sign in with a second factor; members without one must set it up first."""
    allowed_methods: list[SignInMethod] | None
    """The methods by which its members can sign in; null for all."""
    session_lifetime_minutes: int | None
    """How long after the sign-in sessions of its members end, even if they are used; null for 30 days."""
    session_idle_minutes: int | None
    """How long without a refresh sessions of its members end; null for 7 days."""
    created_at: Moment
    updated_at: Moment
    member_count: int
    pending_invitation_count: int


class AppOrganization(Record):
    """An organization as the operations under `/apps` return it."""

    id: UUID
    app_id: UUID  # The id of the project; its older name in the API.
    name: str
    slug: str
    metadata: dict[str, Any]
    require_sso: bool
    """Whether its members and customers at its domains can sign in only by its single sign-on."""
    require_mfa: bool
    """Whether its members must sign in with a second factor."""
    created_at: Moment
    updated_at: Moment
    member_count: int
    pending_invitation_count: int


class OrganizationRef(Record):
    """A reference to an organization."""

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
    """How the member joined."""
    joined_at: Moment
    updated_at: Moment


class MemberRow(Record):
    """A row of `organization_members`."""

    project_id: UUID
    id: UUID
    organization_id: UUID
    customer_id: UUID
    roles: list[str]
    source: Source
    joined_at: Moment
    updated_at: Moment


class OrganizationMembership(Record):
    """An organization that a customer belongs to, with the roles of the customer in it."""

    organization: OrganizationRef
    status: Status
    roles: list[str]
    joined_at: Moment


class OrganizationMembershipRow(Record):
    """A membership of a customer, with columns of its organization."""

    id: UUID
    organization_id: UUID
    name: str
    slug: str
    status: Status
    roles: list[str]
    joined_at: Moment


class InvitationFields(Record):
    """The fields that the API shows of a row of `invitations`."""

    id: UUID
    organization_id: UUID
    email: str
    role: str
    status: InvitationStatus
    expires_at: Moment
    accepted_at: Moment | None
    revoked_at: Moment | None
    sent_at: Moment
    """When the latest e-mail was requested."""
    mailed_at: Moment | None
    """When the latest e-mail was accepted for delivery; null until then."""
    mail_problem: str | None
    """Why the latest e-mail could not be sent, or null."""
    created_at: Moment


class OrganizationInvitationRow(InvitationFields):
    """The stored row of an invitation."""

    project_id: UUID
    email_key: str
    accept_url: str | None
    invited_by: UUID | None
    accepted_by: UUID | None = None
    generation: int = 1
    """Number of e-mails requested; the token of the latest is valid."""
    mailed: int = 0
    """The latest `generation` whose e-mail was sent or finally failed."""
    life: timedelta
    """Time from sending the invitation, or sending it again, to its expiry."""
    due_at: Moment | None
    """When a worker must send the e-mail or mark the invitation as EXPIRED; None if neither is left to do."""
    attempt: int = 0
    """Number of times that workers have claimed the row since it was sent or resent; see `kernel/due.py`."""

    def status_at(self, now: Moment) -> InvitationStatus:
        """The status at `now`: EXPIRED for a pending invitation after its expiry."""
        return "EXPIRED" if self.status == "PENDING" and self.expires_at <= now else self.status


class OrganizationInvitation(InvitationFields):
    """An invitation to join an organization."""

    app_id: UUID  # The id of the project; its older name in the API.
    invited_by_end_user_id: UUID | None  # The id of a customer.


class InvitationPreview(Record):
    """What a visitor with the token of an invitation can see without signing in."""

    organization: OrganizationRef
    email: str
    role: str
    status: InvitationStatus
    expires_at: Moment


class AcceptedInvitation(Record):
    """The result of accepting an invitation."""

    invitation: OrganizationInvitation
    organization: OrganizationRef
    roles: list[str]


class OrganizationDomainFields(Record):
    """The fields that the API shows of a row of `organization_domains`."""

    id: UUID
    organization_id: UUID
    project_id: UUID
    domain: str
    status: DomainStatus
    reason: DomainReason | None
    """Why the last check failed, or null."""
    verified_at: Moment | None
    last_checked_at: Moment | None
    missing_since: Moment | None
    """When a check of the verified domain first did not find its TXT record; null while the record exists."""
    auto_join_enabled: bool
    created_at: Moment
    updated_at: Moment


class OrganizationDomainRow(OrganizationDomainFields):
    """The stored row of an organization's domain."""

    token: str
    watched_since: Moment
    """When the current series of checks began: when the domain was added, when a requested check started the checks
    again, or when the domain lapsed."""
    misses: int
    """Number of the latest successive checks of the verified domain that did not find its TXT record."""
    due_at: Moment | None
    """When a worker must check the domain next; None for a FAILED domain."""
    attempt: int
    """Number of times that workers have claimed the row; see `kernel/due.py`."""


class OrganizationDomain(OrganizationDomainFields):
    """A domain of an organization, verified or not."""

    record_name: str
    """Name of the TXT record to publish."""
    record: str
    """The value of the TXT record."""
    next_check_at: Moment | None


class DomainJoin(Record):
    """Whether a customer joined the organization that has verified the domain of the customer's address, and why or why
    not."""

    joined: bool
    organization_id: UUID | None
    domain: str | None
    reason: JoinReason


class NewOrganization(Body):
    """An organization to create."""

    name: Name
    slug: Slug | None = None
    """If null, a slug is derived from the name."""
    external_id: ExternalId | None = None
    metadata: dict[str, Any] = {}


class OrganizationChange(Body):
    """Fields to change; `metadata` is merged at the top level, null removes a key."""

    name: Name | UnsetType = UNSET
    slug: Slug | UnsetType = UNSET
    external_id: ExternalId | None | UnsetType = UNSET
    metadata: dict[str, Any] | UnsetType = UNSET
    status: Status | UnsetType = UNSET
    require_sso: bool | UnsetType = UNSET
    """Whether members, and customers with an address at a verified domain, must use the organization's single sign-on.
    Requires a working connection."""
    require_mfa: bool | UnsetType = UNSET
    """Whether members must sign in with a second factor; members without one must set it up first."""
    allowed_methods: AllowedMethods | None | UnsetType = UNSET
    """The methods by which members can sign in; null for all."""
    session_lifetime_minutes: SessionLifetime | None | UnsetType = UNSET
    """How long after the sign-in sessions of members end, even if they are used; null for 30 days."""
    session_idle_minutes: SessionIdle | None | UnsetType = UNSET
    """How long without a refresh sessions of members end; null for 7 days."""
    allow_lock_out: bool = False
    """Whether to set `allowedMethods` even if no OWNER could sign in then."""


class NewOrganizationMember(Body):
    """A customer to add to an organization."""

    customer_id: str
    roles: Roles = msgspec.field(default_factory=lambda: ["MEMBER"])


class OrganizationMemberChange(Body):
    """The new roles of a member."""

    roles: Roles


class NewOrganizationInvitation(Body):
    """The address to invite, with role and expiry."""

    email: Annotated[str, msgspec.Meta(min_length=3, max_length=254)]
    role: RoleKey = "MEMBER"
    expires_in_days: Annotated[int, msgspec.Meta(ge=1, le=30)] = INVITATION_LIFE.days
    accept_url: PageUrl | None = None
    """URL of your page that accepts the invitation; `token` is added to its query. Default: a hosted page."""
    invited_by_end_user_id: str | None = None
    """The id of the member who invites."""


class InvitationToken(Body):
    """The token from an invitation e-mail."""

    token: Annotated[str, msgspec.Meta(min_length=1, max_length=200)]


class NewOrganizationDomain(Body):
    """A domain to add to an organization."""

    domain: Annotated[str, msgspec.Meta(min_length=1, max_length=300)]


class OrganizationDomainChange(Body):
    """Whether customers with an address at the domain join automatically."""

    auto_join_enabled: bool


class DomainJoinRequest(Body):
    """The customer to add to the organization that has verified the domain of the customer's address."""

    customer_id: str
