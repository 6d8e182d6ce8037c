"""Connections to identity providers; their states, and what may go wrong."""

from collections.abc import Mapping
from datetime import timedelta
from enum import StrEnum
from typing import Annotated, Any, Literal
from uuid import UUID

import msgspec
from msgspec import UNSET, UnsetType

from postern.identity.organizations.model import OrganizationRef
from postern.kernel.clock import Moment
from postern.kernel.http.problems import BadRequest, Conflict, Missing, Unprocessable
from postern.kernel.values import Body, NameForPeople, Record
from postern.protocols.saml.connection import MAX_IDP_CERTIFICATES
from postern.protocols.saml.trace import SsoTraceStep

CONNECTIONS_PER_ORGANIZATION = 50
REQUEST_LIFE = timedelta(minutes=10)
"""How long somebody may take at their identity provider."""
TEST_LIFE = timedelta(hours=1)
"""How long the link of a test sign-on is good."""
OPEN_REQUESTS = 20
"""Sign-ons that one browser may have begun and not finished at one connection."""
SIGN_ON_KEPT = timedelta(days=31)
"""Longer than any session: until then a logout finds the session that a sign-on became."""
TRACE_KEPT = timedelta(days=7)
TRACES_PER_CONNECTION = 200
LEASE = timedelta(minutes=5)
METADATA_READ_EVERY = timedelta(days=1)
METADATA_RETRIED_EVERY = timedelta(hours=1)
METADATA_SOONEST = timedelta(minutes=10)
"""How soon a certificate that nobody knows leads to another look at the metadata."""
METADATA_GRACE = timedelta(days=1)
"""How long metadata may fail to come through before that is told."""
WARNED_BEFORE = (timedelta(days=30), timedelta(days=14), timedelta(days=7), timedelta(days=1), timedelta())
"""When before its last day a certificate is warned about."""
SKEW_MAX_SECONDS = 300
GROUPS_LIMIT = 200
"""Groups with roles of their own."""
SUBJECT_CHARS = 1_024
METADATA_CHARS = 100 * 1024

Status = Literal["DRAFT", "ACTIVE", "INACTIVE"]
Sign = Literal["ACTIVATE", "DEACTIVATE"]
Kind = Literal["SIGN_ON", "TEST", "LOGOUT"]
BindingName = Literal["REDIRECT", "POST"]
Place = Literal["CURRENT", "NEXT", "PREVIOUS"]

NEXT_STATUS: Mapping[tuple[Status, Sign], Status | None] = {
    ("DRAFT", "ACTIVATE"): "ACTIVE",
    ("DRAFT", "DEACTIVATE"): None,
    ("ACTIVE", "ACTIVATE"): "ACTIVE",
    ("ACTIVE", "DEACTIVATE"): "INACTIVE",
    ("INACTIVE", "ACTIVATE"): "ACTIVE",
    ("INACTIVE", "DEACTIVATE"): "INACTIVE",
}
"""Every state of a connection with everything that can be asked of it; None is refused."""

IDP_PARTS = (
    "idp_entity_id",
    "idp_sso_url",
    "idp_sso_binding",
    "idp_slo_url",
    "idp_slo_binding",
    "idp_slo_response_url",
    "idp_certificate",
    "idp_metadata_url",
)
TESTED_PARTS = ("domain", "idp_entity_id", "idp_sso_url", "idp_sso_binding", "idp_certificate", "options")
"""A test says something about these; when one of them changes, it says nothing any more."""


class LoginRefusal(StrEnum):
    """Why a sign-on was refused after its message was found genuine. Closed list; it may grow."""

    REPLAYED = "REPLAYED"
    NOT_ACTIVE = "NOT_ACTIVE"
    NOT_CONFIGURED = "NOT_CONFIGURED"
    DOMAIN_NOT_VERIFIED = "DOMAIN_NOT_VERIFIED"
    ORGANIZATION_SUSPENDED = "ORGANIZATION_SUSPENDED"
    TRANSIENT_SUBJECT = "TRANSIENT_SUBJECT"
    EMAIL_MISSING = "EMAIL_MISSING"
    EMAIL_OUTSIDE = "EMAIL_OUTSIDE"
    ACCOUNT_NOT_LINKED = "ACCOUNT_NOT_LINKED"
    IDENTITY_CONFLICT = "IDENTITY_CONFLICT"
    IDENTITY_HELD = "IDENTITY_HELD"
    SIGN_UP_CLOSED = "SIGN_UP_CLOSED"
    SIGN_IN_BLOCKED = "SIGN_IN_BLOCKED"
    TOO_MANY_MEMBERS = "TOO_MANY_MEMBERS"
    NOWHERE_TO_GO = "NOWHERE_TO_GO"


Name = NameForPeople
DomainText = Annotated[str, msgspec.Meta(min_length=1, max_length=300)]
EntityId = Annotated[str, msgspec.Meta(min_length=1, max_length=1_024)]
Address = Annotated[str, msgspec.Meta(min_length=1, max_length=2_048)]
AttributeName = Annotated[str, msgspec.Meta(min_length=1, max_length=300)]
Group = Annotated[str, msgspec.Meta(min_length=1, max_length=500)]
RoleKey = Annotated[str, msgspec.Meta(min_length=1, max_length=64)]
Roles = Annotated[list[RoleKey], msgspec.Meta(min_length=1, max_length=50)]
Certificates = Annotated[
    list[Annotated[str, msgspec.Meta(max_length=16_384)]], msgspec.Meta(max_length=MAX_IDP_CERTIFICATES)
]
MetadataXml = Annotated[str, msgspec.Meta(min_length=1, max_length=METADATA_CHARS)]
Skew = Annotated[int, msgspec.Meta(ge=0, le=SKEW_MAX_SECONDS)]


class SsoConnectionMissing(Missing):
    """There is no such single sign-on connection."""


class SsoConnectionIncomplete(Conflict):
    """This connection cannot be active; `errors` says what is missing."""


class SsoConnectionDraft(Conflict):
    """This connection has never been active."""


class SsoDomainServed(Conflict):
    """Another active connection signs on people of this domain; deactivate that one first."""


class TooManySsoConnections(Unprocessable):
    """An organization has at most 50 connections; remove some first."""


class MetadataUnreachable(BadRequest):
    """The metadata could not be fetched from there."""


class AttributeMapping(Body):
    """Which attribute says what, by `Name` or `FriendlyName`. What is left out is looked for under its usual names."""

    subject: AttributeName | None = None
    """What recognises a person for good; else the name identifier does."""
    email: AttributeName | None = None
    name: AttributeName | None = None
    first_name: AttributeName | None = None
    last_name: AttributeName | None = None
    groups: AttributeName | None = None


class Options(Record):
    """How a connection behaves."""

    allow_idp_initiated: bool = False
    require_encryption: bool = False
    allow_aes_cbc: bool = False
    accept_expired_certificates: bool = False
    force_authn: bool = False
    name_id_format: str | None = None
    clock_skew_seconds: int = 60
    attribute_mapping: AttributeMapping = msgspec.field(default_factory=AttributeMapping)
    default_roles: list[str] = msgspec.field(default_factory=lambda: ["MEMBER"])
    group_roles: dict[str, list[str]] = {}
    create_customers: bool = True
    allow_other_domains: bool = False
    trust_mfa: bool = False
    on_new_subject: Literal["REFUSE", "HOLD"] = "REFUSE"
    default_redirect_url: str | None = None


class ConnectionRow(Record):
    """The row of a connection."""

    project_id: UUID
    id: UUID
    organization_id: UUID
    name: str
    domain: str
    status: Status
    idp_entity_id: str | None
    idp_sso_url: str | None
    idp_sso_binding: BindingName
    idp_slo_url: str | None
    idp_slo_binding: BindingName
    idp_slo_response_url: str | None
    idp_certificate: list[str]
    idp_metadata_url: str | None
    options: Options
    tested_at: Moment | None
    created_at: Moment
    updated_at: Moment
    due_at: Moment | None
    attempt: int


class MetadataRow(Record):
    """Metadata with an address: when it came through last, and why not since."""

    project_id: UUID
    id: UUID
    """The connection's own."""
    read_at: Moment
    looked_at: Moment
    problem: str | None
    failing_since: Moment | None
    told: bool
    due_at: Moment | None
    attempt: int


class KeyRow(Record):
    """One of our own keys; the private one is sealed."""

    id: UUID
    connection_id: UUID
    place: Place
    certificate: str
    private_key: bytes
    not_after: Moment


class RequestRow(Record):
    """Something we asked an identity provider."""

    id: UUID
    kind: Kind
    message_id: str
    redirect_url: str | None
    state: str
    code_challenge: str | None


class SignOnRow(Record):
    """A sign-on that became a session."""

    id: UUID
    connection_id: UUID
    customer_id: UUID
    name_id: str
    name_id_format: str | None
    session_index: str | None
    session_id: UUID


class SpCertificate(Record):
    """One of our own certificates for the connection."""

    place: Place
    """CURRENT signs; NEXT will after the next rotation; PREVIOUS only opens what was encrypted for it."""
    certificate: str
    fingerprint: str
    expires_at: Moment


class IdpCertificate(Record):
    """A pinned certificate of the identity provider, as a person reads it."""

    subject: str
    fingerprint: str
    """SHA-256, lower-case hexadecimal."""
    expires_at: Moment
    expired: bool


class SsoConnection(Record):
    """A connection of an organization to its identity provider, seen from the project."""

    id: UUID
    organization_id: UUID
    project_id: UUID
    name: str
    domain: str
    status: Status
    held: str | None
    """Why nobody can sign on although the connection is active: DOMAIN_NOT_VERIFIED or ORGANIZATION_SUSPENDED."""
    idp_entity_id: str | None
    idp_sso_url: str | None
    idp_sso_binding: BindingName
    idp_slo_url: str | None
    idp_slo_binding: BindingName
    idp_slo_response_url: str | None
    idp_certificate: list[str]
    """The pinned signing certificates, PEM; any of them may sign."""
    idp_certificates: list[IdpCertificate]
    idp_metadata_url: str | None
    idp_metadata_read_at: Moment | None
    """When what is at that address last came through; it is read again every day."""
    idp_metadata_problem: str | None
    """Why it does not come through now; what was read before stays in force."""
    sp_certificate: str
    """The certificate that our requests are signed with, PEM."""
    sp_certificates: list[SpCertificate]
    sp_entity_id: str
    sp_acs_url: str
    sp_slo_url: str
    sp_metadata_url: str
    login_url: str
    """Where your app sends browsers, with `redirectUrl`, `codeChallenge` and `state`."""
    allow_idp_initiated: bool
    require_encryption: bool
    allow_aes_cbc: bool
    accept_expired_certificates: bool
    force_authn: bool
    name_id_format: str | None
    clock_skew_seconds: int
    attribute_mapping: AttributeMapping
    default_roles: list[str]
    group_roles: dict[str, list[str]]
    create_customers: bool
    allow_other_domains: bool
    trust_mfa: bool
    """Whether every sign-on counts as one with a second factor; otherwise those whose assertion says so."""
    on_new_subject: Literal["REFUSE", "HOLD"]
    default_redirect_url: str | None
    tested_at: Moment | None
    """When a test sign-on last came through with exactly these settings."""
    created_at: Moment
    updated_at: Moment


class SsoConnectionWithOrganization(SsoConnection):
    """A connection with the organization that has it."""

    organization: OrganizationRef


class AppSsoConnection(Record):
    """A connection of an organization to its identity provider, seen from the app."""

    id: UUID
    organization_id: UUID
    app_id: UUID
    name: str
    domain: str
    status: Status
    held: str | None
    idp_entity_id: str | None
    idp_sso_url: str | None
    idp_certificate: list[str]
    sp_certificate: str
    sp_entity_id: str
    sp_acs_url: str
    sp_slo_url: str
    sp_metadata_url: str
    login_url: str
    created_at: Moment
    updated_at: Moment


class SsoTrace(Record):
    """How one sign-on went, check by check, in the order they were made."""

    id: UUID
    connection_id: UUID
    kind: Kind
    outcome: Literal["ACCEPTED", "REFUSED"]
    reason: str | None
    """The first thing that was wrong."""
    detail: str | None
    steps: list[SsoTraceStep]
    profile: dict[str, Any] | None
    """Who that was: subject, e-mail address, name, groups, the roles they give, and all attributes as sent."""
    customer_id: UUID | None
    created_at: Moment


class SsoTest(Record):
    """A link that begins one test sign-on: open it in a browser that can sign on at the identity provider."""

    url: str
    expires_at: Moment


class SsoLookup(Record):
    """Which connection people with an address at a domain sign on by; null where none does."""

    connection_id: UUID | None
    organization_id: UUID | None
    name: str | None
    login_url: str | None


class SsoSignOut(Record):
    """Where to send the browser to be signed out at the identity provider too; null where it knows no such thing."""

    url: str | None


class _Settings(Body):
    idp_metadata_xml: MetadataXml | UnsetType = UNSET
    """The identity provider's metadata: sets everything that begins with `idp`, together."""
    idp_metadata_url: Address | None | UnsetType = UNSET
    """Fetched now and used like `idpMetadataXml`; fetched again every day, so that certificates roll over by
    themselves. While the address stays, what it says wins over what was set field by field."""
    idp_entity_id: EntityId | None | UnsetType = UNSET
    idp_sso_url: Address | None | UnsetType = UNSET
    idp_sso_binding: BindingName | UnsetType = UNSET
    idp_slo_url: Address | None | UnsetType = UNSET
    idp_slo_binding: BindingName | UnsetType = UNSET
    idp_slo_response_url: Address | None | UnsetType = UNSET
    idp_certificate: Certificates | UnsetType = UNSET
    """Signing certificates, PEM or bare base64; replaces the list. Pin the next one before it is used."""
    allow_idp_initiated: bool | UnsetType = UNSET
    """Take responses that nobody here asked for; the person lands at `defaultRedirectUrl`."""
    require_encryption: bool | UnsetType = UNSET
    allow_aes_cbc: bool | UnsetType = UNSET
    accept_expired_certificates: bool | UnsetType = UNSET
    force_authn: bool | UnsetType = UNSET
    name_id_format: EntityId | None | UnsetType = UNSET
    clock_skew_seconds: Skew | UnsetType = UNSET
    attribute_mapping: AttributeMapping | UnsetType = UNSET
    default_roles: Roles | UnsetType = UNSET
    """Roles in the organization for whoever signs on the first time."""
    group_roles: dict[Group, Roles] | UnsetType = UNSET
    """Roles that a group gives. The roles named here follow the groups at every sign-on; others stay."""
    create_customers: bool | UnsetType = UNSET
    """Whether a sign-on of somebody unknown makes a customer."""
    allow_other_domains: bool | UnsetType = UNSET
    """Whether it may have an address outside the organization's verified domains (guests). It counts as unverified."""
    trust_mfa: bool | UnsetType = UNSET
    """Let every sign-on count as one with a second factor, where the identity provider always asks for one. Otherwise
    only those count whose assertion says so (`AuthnContextClassRef`, or Microsoft's `authnmethodsreferences`)."""
    on_new_subject: Literal["REFUSE", "HOLD"] | UnsetType = UNSET
    """What becomes of another person of the identity provider who claims the address of a linked customer: REFUSE, or
    HOLD among the `identity-requests` until an administrator approves."""
    default_redirect_url: Address | None | UnsetType = UNSET
    """Where people land who began at their identity provider: one of the project's `redirectUrls`."""


class NewSsoConnection(_Settings):
    """A connection to create."""

    name: Name
    domain: DomainText


class SsoConnectionChange(_Settings):
    """What to change of a connection; what is left out stays."""

    name: Name | UnsetType = UNSET
    domain: DomainText | UnsetType = UNSET


class SsoSignOutRequest(Body):
    """Where the browser comes back to in the end: one of the project's `redirectUrls`."""

    redirect_url: Address | None = None
