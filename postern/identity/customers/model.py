"""Customers: records, request bodies, limits, lifetimes, and problems of managing customers and of signing in."""

from datetime import timedelta
from typing import Annotated, Any, Literal
from uuid import UUID

import msgspec
from msgspec import UNSET, UnsetType

from postern.kernel.http.call import Kind
from postern.kernel.http.problems import (
    BadRequest,
    Conflict,
    Forbidden,
    Missing,
    RateLimited,
    Unauthenticated,
)
from postern.kernel.values import Body, DisplayName, Moment, Record, Timestamp
from postern.security.passwords import PASSWORD_MAX, PASSWORD_MIN
from postern.security.subjects import Subject

RequestStatus = Literal["PENDING", "APPROVED", "REJECTED"]
Status = Literal["active", "banned", "verified", "unverified", "mfa", "locked"]
"""Values of the `status` filter of customer lists."""
CUSTOMER: frozenset[Kind] = frozenset(("customer",))
"""The only credential that operations of signed-in customers accept: the access token of a customer."""
SIGN_IN_CALLERS: frozenset[Kind] = frozenset(("nobody", "publishable_key", "secret_key"))
"""The credentials that sign-in operations accept: none or a publishable key (apps), or a secret key (servers)."""
LOCAL_PROVIDERS = ("PASSWORD", "EMAIL_CODE", "PASSKEY")
"""Values of `provider` in identities for the sign-in methods of this server; others are SAML or keys of providers."""

METADATA_LIMIT = 16_384
"""Maximum size of a customer's metadata as JSON, in bytes."""
ROLES_LIMIT = 100
SESSIONS_LIMIT = 100
"""Maximum number of live sessions per customer; a new one above it ends the oldest."""
IMPORT_LIMIT = 1_000

ACCESS_TOKEN_LIFE = timedelta(minutes=5)
SESSION_LIFE = timedelta(days=30)
SESSION_IDLE = timedelta(days=7)
FRESH = timedelta(hours=1)
"""Maximum age of the sign-in for security-relevant changes, such as of a password or a second factor."""

CODE_LIFE = timedelta(minutes=10)
LINK_LIFE = timedelta(minutes=15)
RESET_LIFE = timedelta(minutes=30)
RESET_TRIES = 30
"""How often a new password may be submitted with one reset link. Rejected passwords (too common, breached) count."""
MFA_LIFE = timedelta(minutes=10)
"""How long a pending sign-in waits for the second factor."""
GRANT_LIFE = timedelta(minutes=2)
"""How long the code is valid that an app exchanges for the tokens of a session."""
PROVIDER_LIFE = timedelta(minutes=10)
"""How long a sign-in at a provider may take."""

Password = Annotated[str, msgspec.Meta(min_length=PASSWORD_MIN, max_length=PASSWORD_MAX)]
PasswordToCheck = Annotated[str, msgspec.Meta(max_length=PASSWORD_MAX)]
"""A password to check. It may be shorter than a new one: a short password is wrong, not invalid."""
EmailText = Annotated[str, msgspec.Meta(min_length=3, max_length=254)]
PersonName = DisplayName
Phone = Annotated[
    str,
    msgspec.Meta(
        pattern=r"^\+[1-9][0-9]{5,14}(?!\n)$",
        description="A phone number in E.164 form: `+`, country code and number, such as `+4915112345678`.",
    ),
]
ExternalId = Annotated[str, msgspec.Meta(min_length=1, max_length=255)]
RoleKey = Annotated[str, msgspec.Meta(min_length=1, max_length=128)]
Token = Annotated[str, msgspec.Meta(min_length=1, max_length=500)]
OrganizationId = Annotated[str, msgspec.Meta(min_length=1, max_length=64)]
SixDigits = Annotated[str, msgspec.Meta(pattern=r"^[0-9]{6}(?!\n)$", description="Six digits, such as `123456`.")]
Url = Annotated[str, msgspec.Meta(min_length=8, max_length=2_000)]


class CustomerMissing(Missing):
    """There is no such customer."""


class CustomerEmailTaken(Conflict, code="email_taken"):
    """Another customer has this address."""


class ExternalIdTaken(Conflict):
    """Another customer has this external identifier; use `link` to merge the two."""


class CustomerOwnsOrganizations(Conflict):
    """This customer is the last OWNER of organizations; send `transferOwnershipTo`, or delete them first."""


class CustomerBanned(Conflict):
    """A banned customer cannot be linked or merged; unban first."""


class CustomerSignInFailed(Unauthenticated, code="sign_in_failed"):
    """Wrong e-mail address or password, or unknown passkey."""


class CustomerRefreshTokenInvalid(Unauthenticated, code="refresh_token_invalid"):
    """This refresh token is unknown, has expired or was already used; sign in again."""


class NotAMember(Forbidden):
    """The customer is not a member of an active organization with this id; the active organization did not change."""


class SignInLocked(RateLimited):
    """Too many failed attempts; try again after the time in `Retry-After`."""


class SignInBlocked(Forbidden):
    """This account is not allowed to sign in."""


class MethodOff(Forbidden):
    """This sign-in method is switched off in this project."""


class CustomerSignUpClosed(Forbidden, code="sign_up_closed"):
    """Sign-up is closed in this project; only invited addresses can sign up."""


class NotFresh(Forbidden):
    """This requires a sign-in within the last hour: sign in again, then repeat the request."""


class MfaAlreadyOn(Conflict):
    """A second factor is already on; disable it first."""


class MfaOff(Conflict):
    """No second factor is on or being set up."""


class CustomerMetadataTooLarge(BadRequest, code="metadata_too_large"):
    """Metadata may have at most 16 KiB as JSON."""


class TooManyCustomerRoles(BadRequest, code="too_many_roles"):
    """A customer can have at most 100 roles."""


class HashRefused(BadRequest):
    """This password hash has an unsupported scheme, or its cost parameters are too high."""


class CustomerIdentity(Record):
    """A sign-in method of a customer: PASSWORD, EMAIL_CODE, PASSKEY, or the key of a provider with a linked account."""

    provider: str
    created_at: Moment


class CustomerSession(Record):
    """A session of a customer."""

    id: UUID
    user_agent: str
    ip_address: str
    methods: list[str]
    created_at: Moment
    last_used_at: Moment
    expires_at: Moment


class OtherEmail(Record):
    """A secondary address of a customer that came from a merge; it can be used to sign in."""

    email: str
    verified_at: Moment | None


class LinkedAccount(Record):
    """What identifies an account at an identity provider."""

    provider: str
    """The name of the configured provider or connection."""
    issuer: str
    """The issuer of OIDC, the entity id of SAML."""
    subject: str


class IdentityRequest(Record):
    """A request to link an account at a provider to a customer."""

    id: UUID
    customer_id: UUID
    provider: str
    connection_id: UUID | None
    """The single sign-on connection of the account; null for a sign-in provider of the project."""
    issuer: str
    subject: str
    email: str | None
    name: str | None
    status: RequestStatus
    created_at: Moment
    decided_at: Moment | None


class Customer(Record):
    """A user of the project's app."""

    id: UUID
    project_id: UUID
    external_user_id: str | None
    """The customer's identifier in your own system."""
    email: str | None
    email_verified_at: Moment | None
    other_emails: list[OtherEmail]
    phone: str | None
    phone_verified_at: Moment | None
    name: str | None
    metadata: dict[str, Any]
    roles: list[str]
    last_sign_in_at: Moment | None
    banned_at: Moment | None
    ban_reason: str | None
    ban_expires_at: Moment | None
    mfa_enabled_at: Moment | None
    failed_sign_in_attempts: int
    sign_in_locked_until: Moment | None
    identities: list[CustomerIdentity]
    sessions: list[CustomerSession]
    created_at: Moment
    updated_at: Moment


class EndUser(Record):
    """A customer as the `/apps` operations return it."""

    id: UUID
    app_id: UUID
    email: str | None
    email_verified_at: Moment | None
    metadata: dict[str, Any]
    roles: list[str]
    last_sign_in_at: Moment | None
    banned_at: Moment | None
    mfa_enabled_at: Moment | None
    failed_sign_in_attempts: int
    sign_in_locked_until: Moment | None
    identities: list[CustomerIdentity]
    sessions: list[CustomerSession]
    created_at: Moment
    updated_at: Moment


class CustomerRow(Record):
    """A row of `customers`, with the password hash; never returned by the API."""

    project_id: UUID
    id: UUID
    external_id: str | None
    email: str | None
    email_key: str | None
    identifier: bytes | None
    """`rules.address_hash` of the primary address; None if there is no address."""
    email_verified_at: Moment | None
    phone: str | None
    phone_verified_at: Moment | None
    name: str | None
    metadata: dict[str, Any]
    roles: list[str]
    providers: list[str]
    password_hash: str | None
    password_changed_at: Moment | None
    last_sign_in_at: Moment | None
    banned_at: Moment | None
    ban_reason: str | None
    ban_expires_at: Moment | None
    mfa_enabled_at: Moment | None
    contact_id: UUID | None
    created_at: Moment
    updated_at: Moment

    @property
    def subject(self) -> Subject:
        """The customer as a subject of `security`."""
        return Subject(project_id=self.project_id, id=self.id)

    @property
    def second_factor_identifier(self) -> bytes:
        """The identifier of attempts at the second factor, separate from that of attempts at the password.

        With one identifier for both, anybody could lock the second factor by guessing passwords, and an attacker who
        knows the password could clear the count of wrong second factors by entering the password again.
        """
        return self.id.bytes


class CustomerStats(Record):
    """Numbers of customers in a project."""

    total: int
    verified: int
    banned: int
    mfa_enabled: int


class CustomerEvent(Record):
    """An event of a customer."""

    id: UUID
    type: str
    actor_type: str
    actor_id: UUID | None
    actor_label: str | None
    subject_customer_id: UUID
    metadata: dict[str, Any]
    occurred_at: Moment
    erased_at: Moment | None


class TimelineActor(Record):
    """Who caused an entry of the timeline."""

    type: str
    id: UUID | None
    label: str | None


class TimelineEntry(Record):
    """An entry of a customer's timeline: an event, an e-mail, a change by a developer, or a session."""

    id: UUID
    kind: Literal["EVENT", "EMAIL", "AUDIT", "SESSION"]
    type: str
    title: str
    occurred_at: Moment
    actor: TimelineActor
    data: dict[str, Any]


class CustomerLinkResult(Record):
    """The linked customer; `mergedCustomerId` is the customer that was merged into it, or null."""

    customer: Customer
    merged_customer_id: UUID | None


class NewCustomer(Body):
    """A customer to create or import: with a password, with a password hash of another system, or with neither."""

    email: EmailText | None = None
    email_verified: bool = False
    name: PersonName | None = None
    phone: Phone | None = None
    phone_verified: bool = False
    external_user_id: ExternalId | None = None
    password: Password | None = None
    password_hash: Annotated[str, msgspec.Meta(min_length=20, max_length=1_000)] | None = None
    metadata: dict[str, Any] = {}
    roles: Annotated[list[RoleKey], msgspec.Meta(max_length=ROLES_LIMIT)] = []


class CustomerChange(Body):
    """Changes of a customer. Fields that are left out stay unchanged; null removes a name or a phone number."""

    email: EmailText | UnsetType = UNSET
    """The new primary address. It counts as unverified unless `emailVerified` says otherwise."""
    email_verified: bool | UnsetType = UNSET
    """Whether you have verified the address."""
    name: PersonName | None | UnsetType = UNSET
    phone: Phone | None | UnsetType = UNSET
    """The new number in E.164. It counts as unverified unless `phoneVerified` says otherwise."""
    phone_verified: bool | UnsetType = UNSET
    """Whether you have verified the number."""


class CustomerImport(Body):
    """Customers to import. Customers whose address or external identifier is taken are skipped."""

    customers: Annotated[list[NewCustomer], msgspec.Meta(min_length=1, max_length=IMPORT_LIMIT)]


class CustomerImportError(Record):
    """A customer that could not be imported: its index in the list, and why."""

    index: int
    code: str
    message: str


class CustomerImportResult(Record):
    """Result of an import."""

    created: int
    skipped: int
    failed: int
    faults: list[CustomerImportError]


class CustomerBan(Body):
    """Reason of a ban, and when it ends (null: when the customer is unbanned)."""

    reason: Annotated[str, msgspec.Meta(max_length=500)] | None = None
    expires_at: Timestamp | None = None


class MetadataChange(Body):
    """Metadata keys to set; null removes a key."""

    metadata: dict[str, Any]


class RolesChange(Body):
    """Keys of project-scope roles."""

    roles: Annotated[list[RoleKey], msgspec.Meta(max_length=ROLES_LIMIT)]


class CustomerLink(Body):
    """The customer, and its identifier in your own system."""

    customer_id: str
    external_user_id: ExternalId
