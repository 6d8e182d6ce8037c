"""Customers, their sessions, and what may go wrong when they prove who they are."""

from datetime import timedelta
from typing import Annotated, Any, Literal
from uuid import UUID

import msgspec
from msgspec import UNSET, UnsetType

from postern.kernel.clock import Moment
from postern.kernel.http.problems import (
    BadRequest,
    Conflict,
    Forbidden,
    Missing,
    RateLimited,
    Unauthenticated,
)
from postern.kernel.values import Body, NameForPeople, Record, Timestamp
from postern.security.passwords import PASSWORD_MAX, PASSWORD_MIN
from postern.security.subjects import Subject

Status = Literal["active", "banned", "verified", "unverified", "mfa", "locked"]
LOCAL_PROVIDERS = ("PASSWORD", "EMAIL_CODE", "PASSKEY")

METADATA_LIMIT = 16_384
"""Bytes of a customer's metadata as JSON."""
ROLES_LIMIT = 100
SESSIONS_LIMIT = 100
"""Live sessions of one customer; the oldest ends when one more begins."""
IMPORT_LIMIT = 1_000

ACCESS_TOKEN_LIFE = timedelta(minutes=5)
SESSION_LIFE = timedelta(days=30)
SESSION_IDLE = timedelta(days=7)
FRESH = timedelta(hours=1)
"""How recent a sign-in must be for what could lock its owner out."""

CODE_LIFE = timedelta(minutes=10)
LINK_LIFE = timedelta(minutes=15)
RESET_LIFE = timedelta(minutes=30)
RESET_TRIES = 30
"""Passwords that may be tried with one reset link until one is taken; nobody guesses the link itself."""
MFA_LIFE = timedelta(minutes=10)
GRANT_LIFE = timedelta(minutes=2)
PROVIDER_LIFE = timedelta(minutes=10)

FAILURES_BEFORE_LOCK = 10
LOCK = timedelta(minutes=15)
LOCK_MAX = timedelta(hours=1)
FAILURES_EVERYWHERE = 100
"""Failures of one identifier from all addresses together, per `FAILURE_WINDOW`, before passwords are not tried."""
FAILURE_WINDOW = timedelta(hours=1)
FAILURES_KEPT = timedelta(days=1)

Password = Annotated[str, msgspec.Meta(min_length=PASSWORD_MIN, max_length=PASSWORD_MAX)]
GivenPassword = Annotated[str, msgspec.Meta(max_length=PASSWORD_MAX)]
EmailText = Annotated[str, msgspec.Meta(min_length=3, max_length=254)]
PersonName = NameForPeople
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
SixDigits = Annotated[str, msgspec.Meta(pattern=r"^[0-9]{6}(?!\n)$", description="Six digits, such as `123456`.")]
Url = Annotated[str, msgspec.Meta(min_length=8, max_length=2_000)]


class CustomerMissing(Missing):
    """There is no such customer."""


class CustomerEmailTaken(Conflict, code="email_taken"):
    """Another customer has this address."""


class ExternalIdTaken(Conflict):
    """Another customer has this external identifier; use `link` to merge the two."""


class CustomerOwnsOrganizations(Conflict):
    """This customer is the last OWNER of organizations; name who owns them from now on, or delete them first."""


class CustomerBanned(Conflict):
    """A banned customer cannot be linked or merged; unban first."""


class CustomerSignInFailed(Unauthenticated, code="sign_in_failed"):
    """The address or the proof is wrong."""


class CustomerRefreshTokenInvalid(Unauthenticated, code="refresh_token_invalid"):
    """This refresh token is unknown, expired or was used before; sign in again."""


class SignInLocked(RateLimited):
    """Too many failed attempts; wait before the next one."""


class SignInBlocked(Forbidden):
    """This account may not sign in."""


class MethodOff(Forbidden):
    """This project does not use that way of signing in."""


class CustomerSignUpClosed(Forbidden, code="sign_up_closed"):
    """This project does not let strangers sign up."""


class NotFresh(Forbidden):
    """This needs a recent sign-in: sign in again and repeat it within an hour."""


class MfaAlreadyOn(Conflict):
    """A second factor is on already; disable it first."""


class MfaOff(Conflict):
    """No second factor is on, or none was enrolled."""


class CustomerMetadataTooLarge(BadRequest, code="metadata_too_large"):
    """Metadata takes at most 16 kB as JSON."""


class TooManyCustomerRoles(BadRequest, code="too_many_roles"):
    """A customer has at most 100 roles."""


class HashRefused(BadRequest):
    """This password hash is of no kind we take, or too costly to check."""


class CustomerIdentity(Record):
    """One way a customer is known: a password here, or an account elsewhere."""

    provider: str
    created_at: Moment


class CustomerSession(Record):
    """Where a customer is signed in."""

    id: UUID
    user_agent: str
    ip_address: str
    methods: list[str]
    created_at: Moment
    last_used_at: Moment
    expires_at: Moment


class OtherEmail(Record):
    """An address beside the primary one that signs the customer in: it came with a customer that was merged."""

    email: str
    verified_at: Moment | None


class Customer(Record):
    """A person who uses what the project builds."""

    id: UUID
    project_id: UUID
    external_user_id: str | None
    """The identifier from your own system."""
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
    """A customer as the app family shows it."""

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
    """A customer's row; hashes never leave the server."""

    project_id: UUID
    id: UUID
    external_id: str | None
    email: str | None
    email_key: str | None
    identifier: bytes | None
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
        """The customer, as the authentication engine names them."""
        return Subject(project_id=self.project_id, id=self.id)

    def is_banned(self, now: Moment) -> bool:
        """Whether a ban holds now; one with an end falls away by itself."""
        return self.banned_at is not None and (self.ban_expires_at is None or self.ban_expires_at > now)


class CustomerStats(Record):
    """How many customers there are."""

    total: int
    verified: int
    banned: int
    mfa_enabled: int


class CustomerEvent(Record):
    """Something that happened to a customer."""

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
    """Who did something."""

    type: str
    id: UUID | None
    label: str | None


class TimelineEntry(Record):
    """One thing in a customer's history, whatever it is a record of."""

    id: UUID
    kind: Literal["EVENT", "EMAIL", "AUDIT", "SESSION"]
    type: str
    title: str
    occurred_at: Moment
    actor: TimelineActor
    data: dict[str, Any]


class CustomerLinkResult(Record):
    """What linking did; `mergedCustomerId` is null when nothing was merged."""

    customer: Customer
    merged_customer_id: UUID | None


class NewCustomer(Body):
    """A customer to create, or to import with the password hash of another system."""

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
    """What to change of a customer; what is left out stays, and null removes a name or a phone number."""

    email: EmailText | UnsetType = UNSET
    """The new primary address. It counts as unverified unless `emailVerified` says otherwise."""
    email_verified: bool | UnsetType = UNSET
    """Whether you know that the address is the customer's."""
    name: PersonName | None | UnsetType = UNSET
    phone: Phone | None | UnsetType = UNSET
    """The new number in E.164. It counts as unverified unless `phoneVerified` says otherwise."""
    phone_verified: bool | UnsetType = UNSET
    """Whether you know that the number is the customer's."""


class CustomerImport(Body):
    """Customers to import; addresses that are taken are skipped."""

    customers: Annotated[list[NewCustomer], msgspec.Meta(min_length=1, max_length=IMPORT_LIMIT)]


class CustomerImportError(Record):
    """One customer that was not imported, by its place in the list, and why."""

    index: int
    code: str
    message: str


class CustomerImportResult(Record):
    """What an import did."""

    created: int
    skipped: int
    failed: int
    faults: list[CustomerImportError]


class CustomerBan(Body):
    """Why, and until when (null: until unbanned)."""

    reason: Annotated[str, msgspec.Meta(max_length=500)] | None = None
    expires_at: Timestamp | None = None


class MetadataChange(Body):
    """Keys to set; null removes one."""

    metadata: dict[str, Any]


class RolesChange(Body):
    """Keys of roles in project scope."""

    roles: Annotated[list[RoleKey], msgspec.Meta(max_length=ROLES_LIMIT)]


class CustomerLink(Body):
    """The customer, and the identifier from your own system that it gets."""

    customer_id: str
    external_user_id: ExternalId
