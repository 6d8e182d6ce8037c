"""Records, request bodies, state machine and problems of single sign-on connections."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Annotated, Any, Literal
from uuid import UUID

import msgspec
from msgspec import UNSET, UnsetType

from postern.identity.organizations.model import OrganizationRef
from postern.kernel.http.problems import BadRequest, Conflict, Missing, Unprocessable
from postern.kernel.values import Body, DisplayName, Moment, Record
from postern.protocols.saml.connection import MAX_IDP_CERTIFICATES
from postern.protocols.saml.trace import SsoTraceStep

CONNECTIONS_PER_ORGANIZATION = 50
REQUEST_LIFE = timedelta(minutes=10)
"""Maximum time between a request and the response of the identity provider."""
TEST_LIFE = timedelta(hours=1)
"""Validity of the link of a test."""
MAX_OPEN_REQUESTS = 20
"""Maximum number of unfinished sign-ons of one browser at one connection; older ones are ignored."""
SIGN_ON_RETENTION = timedelta(days=31)
"""How long sign-ons are kept for single logout."""
TRACE_RETENTION = timedelta(days=7)
TRACES_PER_CONNECTION = 200
LEASE = timedelta(minutes=5)
"""How long a worker holds a claimed row before another worker can claim it."""
METADATA_REFRESH_INTERVAL = timedelta(days=1)
METADATA_RETRY_INTERVAL = timedelta(hours=1)
METADATA_MIN_INTERVAL = timedelta(minutes=10)
"""Minimum time between metadata refreshes caused by an unknown certificate."""
METADATA_GRACE = timedelta(days=1)
"""How long metadata refreshes can fail before an event is recorded."""
WARNING_TIMES = (timedelta(days=30), timedelta(days=14), timedelta(days=7), timedelta(days=1), timedelta())
"""Times before the expiry of a certificate at which a warning is recorded."""
SKEW_MAX_SECONDS = 300
GROUPS_LIMIT = 200
"""Maximum number of groups in `groupRoles`."""
MAX_SUBJECT_BYTES = 1_024
"""In UTF-8. Together with an issuer, an index stores at most 2,704 bytes."""
MAX_METADATA_CHARACTERS = 100 * 1024

ConnectionKind = Literal["SAML", "OIDC"]
"""The protocol of a connection."""
Status = Literal["DRAFT", "ACTIVE", "INACTIVE"]
ConnectionAction = Literal["ACTIVATE", "DEACTIVATE"]
Kind = Literal["SIGN_ON", "TEST", "LOGOUT"]
"""What a request to the identity provider, or the trace of a message from it, is for."""
BindingName = Literal["REDIRECT", "POST"]
KeyPlace = Literal["CURRENT", "NEXT", "PREVIOUS"]
"""Which of a connection's keys it is: the one in use, the one that will replace it, or the one that it replaced."""

NEXT_STATUS: Mapping[tuple[Status, ConnectionAction], Status | None] = {
    ("DRAFT", "ACTIVATE"): "ACTIVE",
    ("DRAFT", "DEACTIVATE"): None,
    ("ACTIVE", "ACTIVATE"): "ACTIVE",
    ("ACTIVE", "DEACTIVATE"): "INACTIVE",
    ("INACTIVE", "ACTIVATE"): "ACTIVE",
    ("INACTIVE", "DEACTIVATE"): "INACTIVE",
}
"""Next status of a connection for each status and action; None if the action is not allowed."""

IDP_COLUMNS = (
    "idp_entity_id",
    "idp_sso_url",
    "idp_sso_binding",
    "idp_slo_url",
    "idp_slo_binding",
    "idp_slo_response_url",
    "idp_certificate",
    "idp_metadata_url",
)
"""Columns of `sso_connections` that the import of metadata sets."""
TESTED_COLUMNS = (
    *("domain", "idp_entity_id", "idp_sso_url", "idp_sso_binding", "idp_certificate", "options"),
    *("oidc_client_id", "oidc_client_secret"),
)
"""Settings that a test covers; changing one of them invalidates the test result."""
SAML_FIELDS = (
    *("idp_metadata_xml", *IDP_COLUMNS, "allow_idp_initiated", "require_encryption", "allow_aes_cbc"),
    *("accept_expired_certificates", "name_id_format", "clock_skew_seconds", "default_redirect_url"),
)
"""Fields of requests that only connections by SAML have."""
OIDC_FIELDS = ("oidc_issuer", "oidc_client_id", "oidc_client_secret", "oidc_scopes")
"""Fields of requests that only connections by OpenID Connect have."""
DEFAULT_SCOPES = "openid email profile"


class LoginRefusal(StrEnum):
    """Why a sign-on with a valid assertion was refused. Part of the API; later versions may add values."""

    REPLAYED = "REPLAYED"
    """The assertion was used before."""
    NOT_ACTIVE = "NOT_ACTIVE"
    NOT_CONFIGURED = "NOT_CONFIGURED"
    DOMAIN_NOT_VERIFIED = "DOMAIN_NOT_VERIFIED"
    ORGANIZATION_SUSPENDED = "ORGANIZATION_SUSPENDED"
    TRANSIENT_SUBJECT = "TRANSIENT_SUBJECT"
    """The assertion has no persistent identifier of the user, or a too long one."""
    EMAIL_MISSING = "EMAIL_MISSING"
    EMAIL_UNVERIFIED = "EMAIL_UNVERIFIED"
    """The identity provider says that it has not verified the address (`email_verified` is false)."""
    WRONG_TENANT = "WRONG_TENANT"
    """The account is not one of the organization, at an issuer that serves several organizations."""
    EMAIL_OUTSIDE = "EMAIL_OUTSIDE"
    """The address is not at a verified domain of the organization, and the connection does not allow others."""
    ACCOUNT_NOT_LINKED = "ACCOUNT_NOT_LINKED"
    IDENTITY_CONFLICT = "IDENTITY_CONFLICT"
    """The customer with this address is linked to another account of the connection."""
    IDENTITY_HELD = "IDENTITY_HELD"
    """As IDENTITY_CONFLICT, but an administrator can approve the account (`onNewSubject`)."""
    SIGN_UP_CLOSED = "SIGN_UP_CLOSED"
    SIGN_IN_BLOCKED = "SIGN_IN_BLOCKED"
    TOO_MANY_MEMBERS = "TOO_MANY_MEMBERS"
    NOWHERE_TO_GO = "NOWHERE_TO_GO"
    """The sign-on started at the identity provider, and the connection has no valid `defaultRedirectUrl`."""


class OidcRefusal(StrEnum):
    """Why the response of an OpenID provider was refused. Part of the API; later versions may add values."""

    UNKNOWN_REQUEST = "UNKNOWN_REQUEST"
    """`state` is not that of an unfinished sign-on of this browser."""
    PROVIDER_UNAVAILABLE = "PROVIDER_UNAVAILABLE"
    """The provider cannot be reached, or sent a document that is not valid."""
    ACCESS_DENIED = "ACCESS_DENIED"
    PROVIDER_ERROR = "PROVIDER_ERROR"
    """The provider returned an error, or no code."""
    CODE_REFUSED = "CODE_REFUSED"
    """The provider did not exchange the code."""
    WRONG_ISSUER = "WRONG_ISSUER"
    INVALID_TOKEN = "INVALID_TOKEN"  # noqa: S105
    """The ID token or logout token is not valid; the trace shows which check failed."""
    NOT_RECENT = "NOT_RECENT"
    """The connection requires a new authentication (`forceAuthn`), and the provider did not do one."""


Name = DisplayName
DomainText = Annotated[str, msgspec.Meta(min_length=1, max_length=300)]
EntityId = Annotated[str, msgspec.Meta(min_length=1, max_length=1_024)]
UrlText = Annotated[str, msgspec.Meta(min_length=1, max_length=2_048)]
AttributeName = Annotated[str, msgspec.Meta(min_length=1, max_length=300)]
Group = Annotated[str, msgspec.Meta(min_length=1, max_length=500)]
RoleKey = Annotated[str, msgspec.Meta(min_length=1, max_length=64)]
Roles = Annotated[list[RoleKey], msgspec.Meta(min_length=1, max_length=50)]
Certificates = Annotated[
    list[Annotated[str, msgspec.Meta(max_length=16_384)]], msgspec.Meta(max_length=MAX_IDP_CERTIFICATES)
]
ClientId = Annotated[str, msgspec.Meta(min_length=1, max_length=300)]
ClientSecret = Annotated[str, msgspec.Meta(min_length=1, max_length=4_000)]
Scopes = Annotated[
    str,
    msgspec.Meta(
        max_length=500,
        pattern=r"^[\x21-\x7e]+( [\x21-\x7e]+)*(?!\n)$",
        description="OAuth scopes separated by single spaces, such as `openid email profile`.",
    ),
]
MetadataXml = Annotated[str, msgspec.Meta(min_length=1, max_length=MAX_METADATA_CHARACTERS)]
Skew = Annotated[int, msgspec.Meta(ge=0, le=SKEW_MAX_SECONDS)]


class SsoConnectionMissing(Missing):
    """There is no such single sign-on connection."""


class SsoConnectionIncomplete(Conflict):
    """This connection is incomplete, so it cannot be active. `errors` lists what is missing."""


class SamlOnly(Conflict):
    """This connection is by OpenID Connect: it has neither SAML metadata nor certificates."""


class SsoConnectionDraft(Conflict):
    """This connection has never been active. Activate it first."""


class SsoDomainServed(Conflict):
    """Another active connection serves this domain; deactivate that one first."""


class TooManySsoConnections(Unprocessable):
    """An organization has at most 50 connections; remove some first."""


class MetadataUnreachable(BadRequest):
    """The metadata could not be fetched; check the URL, or upload the metadata."""


class AttributeMapping(Body):
    """For each profile field, the `Name` or `FriendlyName` of its SAML attribute, or the name of its claim. Omitted
    fields use common names."""

    subject: AttributeName | None = None
    """Persistent identifier of a user; defaults to the NameID, or the claim `sub`."""
    email: AttributeName | None = None
    name: AttributeName | None = None
    first_name: AttributeName | None = None
    last_name: AttributeName | None = None
    groups: AttributeName | None = None


class Options(Record):
    """Options of a connection."""

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
    oidc_scopes: str | None = None


class ConnectionRow(Record):
    """A row of `sso_connections`."""

    project_id: UUID
    id: UUID
    organization_id: UUID
    kind: ConnectionKind
    name: str
    domain: str
    status: Status
    idp_entity_id: str | None
    """The entity id of the identity provider; for OIDC its issuer."""
    idp_sso_url: str | None
    idp_sso_binding: BindingName
    idp_slo_url: str | None
    idp_slo_binding: BindingName
    idp_slo_response_url: str | None
    idp_certificate: list[str]
    idp_metadata_url: str | None
    oidc_client_id: str | None
    oidc_client_secret: bytes | None
    """Encrypted; see `oidc.client_secret_of`."""
    options: Options
    tested_at: Moment | None
    created_at: Moment
    updated_at: Moment
    due_at: Moment | None
    """When to warn next that a certificate expires; None if the connection is not active."""
    attempt: int
    """Number of times that workers have claimed the row; see `kernel/due.py`."""


class MetadataRow(Record):
    """A row of `sso_metadata`: when metadata was last read from its URL, and why later reads failed."""

    project_id: UUID
    id: UUID
    """Id of the connection."""
    read_at: Moment
    looked_at: Moment
    """When the URL was last fetched, successfully or not."""
    problem: str | None
    failing_since: Moment | None
    told: bool
    """Whether `sso.metadata_failing` was recorded for the current series of failures."""
    due_at: Moment | None
    attempt: int


class KeyRow(Record):
    """A row of `sso_keys`, a service provider key; the private key is encrypted."""

    project_id: UUID
    id: UUID
    connection_id: UUID
    place: KeyPlace
    certificate: str
    private_key: bytes
    not_after: Moment
    created_at: Moment


class RequestRow(Record):
    """A row of `sso_requests`: a request to an identity provider, or the id of a logout request from one."""

    project_id: UUID
    id: UUID
    connection_id: UUID
    kind: Kind | Literal["PROVIDER_LOGOUT"]
    message_id: str
    browser: bytes = b""
    """A keyed hash of the cookie of the browser that must bring the response; empty for logouts."""
    redirect_url: str | None = None
    state: str = ""
    code_challenge: str | None = None
    created_at: Moment
    expires_at: Moment
    answered_at: Moment | None = None
    due_at: Moment | None


class SsoProfile(Record):
    """The mapped profile of a user."""

    subject: str | None
    """Persistent identifier; None if the identity provider sends none."""
    email: str | None
    name: str | None
    groups: list[str]


class ProvenSignOn(Record, kw_only=True):
    """A user whom an identity provider has signed in, from a verified SAML assertion or ID token."""

    issuer: str
    message_id: str
    """Identifies the assertion or ID token: one that was used before is refused."""
    not_on_or_after: datetime
    in_response_to: str | None
    """The message id of the request; None if the sign-on started at the identity provider."""
    profile: SsoProfile
    email_denied: bool = False
    """Whether the identity provider says that it has not verified the address."""
    wrong_tenant: bool = False
    """Whether the issuer serves several organizations, and the account is not of this one."""
    multi_factor: bool
    name_id: str
    """The identifier by which a logout names the user: NameID, or `sub`."""
    name_id_format: str | None = None
    session_index: str | None
    """The session at the identity provider, which a logout can name: SessionIndex, or `sid`."""
    session_end: datetime | None = None
    """When the session ends at the latest, if the identity provider says so."""
    logout_hint: bytes | None = None
    """See SignOnRow."""
    attributes: dict[str, list[str]]
    """All attributes or claims, as they were sent."""
    trace: list[SsoTraceStep]


class SignOnRow(Record):
    """A sign-on for which a session was started."""

    id: UUID
    connection_id: UUID
    customer_id: UUID
    name_id: str
    name_id_format: str | None
    session_index: str | None
    session_id: UUID
    logout_hint: bytes | None
    """For OIDC, the encrypted ID token, which the provider gets as `id_token_hint` at a logout."""


class SpCertificate(Record):
    """A service provider certificate of the connection."""

    place: KeyPlace
    """CURRENT signs; NEXT will sign after the next rotation; PREVIOUS is only used to decrypt."""
    certificate: str
    fingerprint: str
    expires_at: Moment


class IdpCertificate(Record):
    """Details of a pinned certificate of the identity provider."""

    subject: str
    fingerprint: str
    """SHA-256, lower-case hexadecimal."""
    expires_at: Moment
    expired: bool


class SsoConnection(Record):
    """A connection of an organization to its identity provider, as the operations under `/projects` return it."""

    id: UUID
    organization_id: UUID
    project_id: UUID
    kind: ConnectionKind
    """SAML, or OIDC (OpenID Connect). Fields of the other protocol are null, empty or their default."""
    name: str
    domain: str
    status: Status
    held: str | None
    """Why an active connection does not work: DOMAIN_NOT_VERIFIED or ORGANIZATION_SUSPENDED; otherwise null."""
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
    """When the metadata was last read from that URL; it is refreshed every day."""
    idp_metadata_problem: str | None
    """Why the last refresh failed, or null; the metadata read before stays in use."""
    sp_certificate: str
    """The certificate of the key that signs requests, PEM."""
    sp_certificates: list[SpCertificate]
    sp_entity_id: str
    sp_acs_url: str
    sp_slo_url: str
    sp_metadata_url: str
    oidc_issuer: str | None
    oidc_client_id: str | None
    oidc_has_secret: bool
    """Whether a client secret is stored. It is never returned."""
    oidc_scopes: str | None
    oidc_redirect_url: str | None
    """The redirect URI to enter at the OpenID provider."""
    oidc_post_logout_redirect_url: str | None
    """The post-logout redirect URI to enter at the OpenID provider."""
    oidc_backchannel_logout_url: str | None
    """The back-channel logout URI to enter at the OpenID provider."""
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
    """Whether every sign-on counts as multi-factor. If false, only a sign-on counts whose assertion says so."""
    on_new_subject: Literal["REFUSE", "HOLD"]
    default_redirect_url: str | None
    tested_at: Moment | None
    """When a test last succeeded with exactly these settings."""
    created_at: Moment
    updated_at: Moment


class SsoConnectionWithOrganization(SsoConnection):
    """A connection with the organization that has it."""

    organization: OrganizationRef


class AppSsoConnection(Record):
    """A connection of an organization to its identity provider, as the operations under `/apps` return it."""

    id: UUID
    organization_id: UUID
    app_id: UUID  # The id of the project; its older name in the API.
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
    """The checks of a sign-on, test or logout, in order."""

    id: UUID
    connection_id: UUID
    kind: Kind
    outcome: Literal["ACCEPTED", "REFUSED"]
    reason: str | None
    """Reason of the first failed check."""
    detail: str | None
    steps: list[SsoTraceStep]
    profile: dict[str, Any] | None
    """The user: subject, e-mail address, name, groups, resulting roles, and all attributes as sent."""
    customer_id: UUID | None
    created_at: Moment


class SsoTest(Record):
    """A link that starts a test: open it in a browser and sign on at the identity provider."""

    url: str
    expires_at: Moment


class SsoLookupChoice(Record):
    """One of several connections by which people with an address at a domain can sign in."""

    connection_id: UUID
    name: str
    login_url: str


class SsoLookup(Record):
    """The connection for a domain; all fields are null if there is none."""

    connection_id: UUID | None
    organization_id: UUID | None
    name: str | None
    login_url: str | None
    choices: list[SsoLookupChoice] | None = None
    """If the organization has several active connections and none of them is for this domain: all of them, so that the
    person can choose. Otherwise null."""


class SsoSignOut(Record):
    """URL to sign out at the identity provider too. Null if the session was not started by single sign-on, or if the
    provider does not support logout by redirect (SAML single logout, or RP-initiated logout of OpenID Connect)."""

    url: str | None


class _Settings(Body):
    idp_metadata_xml: MetadataXml | UnsetType = UNSET
    """The identity provider's metadata: sets all fields whose names begin with `idp`."""
    idp_metadata_url: UrlText | None | UnsetType = UNSET
    """URL of the metadata. It is fetched now and used like `idpMetadataXml`, and fetched again every day, so that new
    certificates are taken over. While it is set, the fetched metadata overrides fields set one by one."""
    idp_entity_id: EntityId | None | UnsetType = UNSET
    idp_sso_url: UrlText | None | UnsetType = UNSET
    idp_sso_binding: BindingName | UnsetType = UNSET
    idp_slo_url: UrlText | None | UnsetType = UNSET
    idp_slo_binding: BindingName | UnsetType = UNSET
    idp_slo_response_url: UrlText | None | UnsetType = UNSET
    oidc_issuer: EntityId | None | UnsetType = UNSET
    """Issuer of the OpenID provider, exactly as its discovery document has it."""
    oidc_client_id: ClientId | None | UnsetType = UNSET
    oidc_client_secret: ClientSecret | None | UnsetType = UNSET
    """Client secret; null for a public client. Send it again if you change the issuer."""
    oidc_scopes: Scopes | None | UnsetType = UNSET
    """Scopes to request; must contain `openid`. Default: `openid email profile`."""
    idp_certificate: Certificates | UnsetType = UNSET
    """Signing certificates, PEM or bare base64; replaces the list. Add the provider's next certificate before the
    provider signs with it."""
    allow_idp_initiated: bool | UnsetType = UNSET
    """Accept IdP-initiated sign-on; the browser is redirected to `defaultRedirectUrl`."""
    require_encryption: bool | UnsetType = UNSET
    allow_aes_cbc: bool | UnsetType = UNSET
    accept_expired_certificates: bool | UnsetType = UNSET
    force_authn: bool | UnsetType = UNSET
    name_id_format: EntityId | None | UnsetType = UNSET
    clock_skew_seconds: Skew | UnsetType = UNSET
    attribute_mapping: AttributeMapping | UnsetType = UNSET
    default_roles: Roles | UnsetType = UNSET
    """Roles in the organization for users who sign on for the first time."""
    group_roles: dict[Group, Roles] | UnsetType = UNSET
    """Roles for each group. Roles listed here are updated at every sign-on; others stay."""
    create_customers: bool | UnsetType = UNSET
    """Whether the sign-on of an unknown user creates a customer."""
    allow_other_domains: bool | UnsetType = UNSET
    """Whether to accept addresses outside the organization's verified domains (guests). They count as unverified."""
    trust_mfa: bool | UnsetType = UNSET
    """Whether every sign-on counts as multi-factor: set this if the identity provider always requires a second factor.
    If false, only a sign-on counts whose assertion says so (`AuthnContextClassRef`, or Microsoft's
    `authnmethodsreferences`)."""
    on_new_subject: Literal["REFUSE", "HOLD"] | UnsetType = UNSET
    """What to do if a user of the identity provider has the address of a customer who is linked to another user of the
    provider: REFUSE the sign-on, or HOLD it as an `identity-request` until an administrator approves it."""
    default_redirect_url: UrlText | None | UnsetType = UNSET
    """Redirect URL for IdP-initiated sign-on: one of the project's `redirectUrls`."""


class NewSsoConnection(_Settings):
    """A connection to create."""

    kind: ConnectionKind = "SAML"
    """The protocol; it cannot be changed."""
    name: Name
    domain: DomainText


class SsoConnectionChange(_Settings):
    """Fields to change; omitted fields keep their values."""

    name: Name | UnsetType = UNSET
    domain: DomainText | UnsetType = UNSET


class SsoSignOutRequest(Body):
    """Where the browser returns after the logout: one of the project's `redirectUrls`."""

    redirect_url: UrlText | None = None
