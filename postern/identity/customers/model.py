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
    Unprocessable,
)
from postern.kernel.values import Body, DisplayName, Moment, Record, Timestamp
from postern.security.passwords import PASSWORD_MAX, PASSWORD_MIN
from postern.security.sessions import SessionFields
from postern.security.subjects import Subject
from postern.web.language_tags import LanguageTag

IdentityRequestStatus = Literal["PENDING", "APPROVED", "REJECTED"]
"""Status of a request to link an account to a customer. An administrator of the project approves or rejects it."""
Status = Literal["active", "banned", "verified", "unverified", "mfa", "locked"]
"""Values of the `status` filter of customer lists."""
CUSTOMER: frozenset[Kind] = frozenset(("customer",))
"""The only credential that operations of signed-in customers accept: the access token of a customer."""
SIGN_IN_CALLERS: frozenset[Kind] = frozenset(("anonymous", "publishable_key", "secret_key"))
"""The credentials that sign-in operations accept: none or a publishable key (apps), or a secret key (servers)."""
LOCAL_PROVIDERS = ("PASSWORD", "EMAIL_CODE", "PASSKEY")
"""The values of `provider` in identities that stand for Postern's own sign-in methods. Every other value is one of
SSO_PROVIDERS or the key of a sign-in provider of the project, such as `GOOGLE`."""
SSO_PROVIDERS = ("SAML", "SSO_OIDC")
"""The values of `provider` in identities that are accounts of single sign-on connections, by the connection's kind."""

ROLES_LIMIT = 100
SESSIONS_LIMIT = 100
"""Maximum number of live sessions per customer; a new one above it ends the oldest."""
IMPORT_LIMIT = 1_000
OTHER_ADDRESSES_LIMIT = 10
"""Maximum number of secondary addresses that a customer can add."""

ACCESS_TOKEN_LIFE = timedelta(minutes=5)
SESSION_LIFE = timedelta(days=30)
"""How long after the sign-in a session ends, even if it is used."""
SESSION_IDLE = timedelta(days=7)
"""How long after the last refresh of its tokens a session ends."""
FRESH_SIGN_IN_AGE = timedelta(hours=1)
"""Changes that concern security, such as a new password, require a sign-in that is at most this old."""

CODE_LIFE = timedelta(minutes=10)
SIGN_IN_LINK_LIFE = timedelta(minutes=15)
RESET_LIFE = timedelta(minutes=30)
MFA_LIFE = timedelta(minutes=10)
"""How long a pending sign-in waits for the second factor."""
GRANT_LIFE = timedelta(minutes=2)
"""How long an authorization code (`Grant`) is valid. An app exchanges it for the tokens of a session."""
SIGN_IN_ALERT_LIFE = timedelta(days=3)
"""How long the link “This was not me” in the notice about a new device is valid."""
PROVIDER_LIFE = timedelta(minutes=10)
"""How long a sign-in at a provider may take."""

Password = Annotated[str, msgspec.Meta(min_length=PASSWORD_MIN, max_length=PASSWORD_MAX)]
PasswordToCheck = Annotated[str, msgspec.Meta(max_length=PASSWORD_MAX)]
"""A password to compare with the stored one. It has no minimum length, so that a short one gets the response to a wrong
password, not that to an invalid field."""
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


def step_up_challenge(max_age: int, acr: str | None = None) -> str:
    """The parameters of `WWW-Authenticate` for an operation that needs an authentication in the last `max_age` seconds
    and, if it is given, of the level `acr` (RFC 9470 §3)."""
    level = "" if acr is None else f', acr_values="{acr}"'
    description = "A more recent or stronger authentication is required."
    return f'error="insufficient_user_authentication", error_description="{description}"{level}, max_age="{max_age}"'


class CustomerMissing(Missing):
    """There is no such customer."""


class CustomerEmailTaken(Conflict, code="email_taken"):
    """Another customer has this address."""


class AddressMissing(Missing):
    """Your account has no such address, or it is the primary one or unverified."""


class PrimaryAddressUnverified(Conflict):
    """Verify the primary address of your account first."""


class TooManyAddresses(Unprocessable):
    """Your account has ten further addresses already; remove one first."""


class AccountDeletionOff(Forbidden):
    """Customers of this project cannot delete their accounts themselves (`accountDeletion`)."""


class ExternalIdTaken(Conflict):
    """Another customer has this external identifier. To merge the two customers, use POST …/customers/link."""


class CustomerOwnsOrganizations(Conflict):
    """This customer is the only OWNER of at least one organization. Send `transferOwnershipTo` with the id of another
    customer, or delete these organizations first."""


class CustomerBanned(Conflict):
    """A banned customer cannot be linked or merged; unban first."""


class CustomerSignInFailed(Unauthenticated, code="sign_in_failed"):
    """Wrong e-mail address or password, or unknown passkey."""


class CustomerRefreshTokenInvalid(Unauthenticated, code="refresh_token_invalid"):
    """This refresh token is unknown, has expired or was already used; sign in again."""


class NotAMember(Forbidden):
    """The customer is not a member of an organization with this id, or the organization is suspended. The session's
    active organization did not change."""


class SignInLocked(RateLimited):
    """Too many failed attempts; try again after the time in `Retry-After`."""


class SignInBlocked(Forbidden):
    """This account is not allowed to sign in."""


class MethodOff(Forbidden):
    """This sign-in method is switched off in this project."""


class CustomerSignUpClosed(Forbidden, code="sign_up_closed"):
    """Sign-up is closed in this project; only invited addresses can sign up."""


class RequiredTerms(Record):
    """The terms that a project's customers must accept."""

    version: str
    """What to send as `acceptedTerms`."""
    terms_url: str | None
    privacy_url: str | None


class TermsNotAccepted(Unprocessable):
    """The current version of the terms was not accepted. Show the person the terms, and send the version that they have
    accepted as `acceptedTerms`; `next` has the current one."""


class NotFresh(Unauthenticated, code="not_fresh"):
    """This requires that you have authenticated within the last hour, with the second factor if you have one: use
    `POST …/auth/step-up` or sign in again, then repeat the request."""

    challenge = step_up_challenge(int(FRESH_SIGN_IN_AGE.total_seconds()))


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
    """A sign-in method of a customer: PASSWORD, EMAIL_CODE, PASSKEY, or a linked account: SAML or SSO_OIDC (single
    sign-on) or the key of a sign-in provider."""

    provider: str
    created_at: Moment


class CustomerSession(SessionFields):
    """A session of a customer."""

    impersonated_by: str | None
    """Who acts as the customer in this session: an e-mail address, or the name of an API key; null if nobody does."""


class OwnAddress(Record):
    """An address of the customer's own account."""

    email: str | None
    verified_at: Moment | None
    primary: bool
    """Whether codes and security mail go to this address."""


class OtherEmail(Record):
    """A secondary address, which a customer got when another customer was merged into it. It can be used to sign in."""

    email: str
    verified_at: Moment | None


class IdentityKey(Record):
    """What identifies an identity of a customer: an account at an identity provider, or a sign-in method of Postern
    itself (LOCAL_PROVIDERS)."""

    provider: str
    """The key of the sign-in provider, one of SSO_PROVIDERS, or one of LOCAL_PROVIDERS."""
    issuer: str
    """The issuer of an OpenID provider; for SSO_PROVIDERS the id of the connection with the entity id or issuer of the
    identity provider (`sso.login.issuer_of`); `local` for LOCAL_PROVIDERS."""
    subject: str
    """The id of the account at the issuer; the customer's id for LOCAL_PROVIDERS."""


class IdentityRequest(Record):
    """A request to link an account at a provider to a customer, which an administrator approves or rejects."""

    id: UUID
    customer_id: UUID
    provider: str
    connection_id: UUID | None
    """The single sign-on connection of the account; null for a sign-in provider of the project."""
    issuer: str
    subject: str
    email: str | None
    name: str | None
    status: IdentityRequestStatus
    created_at: Moment
    decided_at: Moment | None


class CustomerFields(Record):
    """The fields of a customer that all operations return."""

    id: UUID
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


class Customer(CustomerFields):
    """A user of the project's app."""

    project_id: UUID
    external_user_id: str | None
    """The customer's identifier in your own system."""
    other_emails: list[OtherEmail]
    phone: str | None
    phone_verified_at: Moment | None
    name: str | None
    language: str | None
    """The language that the customer reads, as a language tag (BCP 47) such as `de` or `pt-BR`; null if it is not
    known."""
    ban_reason: str | None
    ban_expires_at: Moment | None


class EndUser(CustomerFields):
    """A customer as the operations under `/apps/{appId}/end-users` return it. These are additional paths of operations
    on customers, in which a project is called an app."""

    app_id: UUID  # The id of the project; its older name in the API.


class CustomerRow(Record):
    """A row of `customers`, with the password hash; never returned by the API."""

    project_id: UUID
    id: UUID
    external_id: str | None
    email: str | None
    email_key: str | None
    """The primary address in the form in which addresses are compared and looked up (`address_key`)."""
    identifier: bytes | None
    """The key under which failed sign-in attempts with the primary address are counted (`rules.address_hash`); None if
    there is no address."""
    email_verified_at: Moment | None
    phone: str | None
    phone_verified_at: Moment | None
    name: str | None
    language: str | None
    """A language tag (BCP 47), which need not be one of `web.languages.LANGUAGES`."""
    metadata: dict[str, Any]
    roles: list[str]
    providers: list[str]
    """The values of `provider` in the customer's identities, each once: LOCAL_PROVIDERS, SSO_PROVIDERS, and keys of
    sign-in providers."""
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
        """The customer as the owner of credentials, sessions and attempts in the package `security`."""
        return Subject(project_id=self.project_id, id=self.id)


class CustomerStats(Record):
    """Numbers of customers in a project."""

    total: int
    verified: int
    banned: int
    mfa_enabled: int


class TermsAcceptance(Record):
    """A version of the project's terms that a customer has accepted."""

    version: str
    """The version of the terms, as the project's settings had it."""
    accepted_at: Moment
    ip_address: str
    user_agent: str


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
    """When the event's metadata and the label of its actor were erased, or null."""


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
    """The customer with its new external identifier. `mergedCustomerId` is the id of the customer that had this
    identifier and was merged into it, or null."""

    customer: Customer
    merged_customer_id: UUID | None


class NewCustomer(Body):
    """A customer to create or import: with a password, with a password hash of another system, or with neither."""

    email: EmailText | None = None
    email_verified: bool = False
    name: PersonName | None = None
    language: LanguageTag | None = None
    """The language that the customer reads. Mails and the account page are in it, if they exist in it."""
    phone: Phone | None = None
    phone_verified: bool = False
    external_user_id: ExternalId | None = None
    password: Password | None = None
    password_hash: Annotated[str, msgspec.Meta(min_length=20, max_length=1_000)] | None = None
    metadata: dict[str, Any] = {}
    roles: Annotated[list[RoleKey], msgspec.Meta(max_length=ROLES_LIMIT)] = []


class CustomerChange(Body):
    """Changes of a customer. Omitted fields keep their values; null removes a name, a language or a phone number."""

    email: EmailText | UnsetType = UNSET
    """The new primary address. It counts as unverified unless `emailVerified` says otherwise."""
    email_verified: bool | UnsetType = UNSET
    """Whether you have verified the address."""
    name: PersonName | None | UnsetType = UNSET
    language: LanguageTag | None | UnsetType = UNSET
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
    """How many customers were created, how many were skipped because their address or external identifier is taken, and
    how many failed. `faults` has the reason for each of the failed ones."""

    created: int
    skipped: int
    failed: int
    faults: list[CustomerImportError]


class CustomerBan(Body):
    """The reason for a ban, and when the ban ends."""

    reason: Annotated[str, msgspec.Meta(max_length=500)] | None = None
    expires_at: Timestamp | None = None
    """If null, the ban lasts until the customer is unbanned."""


class MetadataChange(Body):
    """Metadata keys to set; null removes a key."""

    metadata: dict[str, Any]


class RolesChange(Body):
    """Keys of roles with the scope PROJECT."""

    roles: Annotated[list[RoleKey], msgspec.Meta(max_length=ROLES_LIMIT)]


class CustomerLink(Body):
    """The customer, and its new external identifier: the customer's identifier in your own system."""

    customer_id: str
    external_user_id: ExternalId
