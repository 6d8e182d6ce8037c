"""Clients, consents and grants of the OpenID provider: records, request bodies, limits and problems."""

from datetime import timedelta
from typing import Annotated, Any, Literal
from uuid import UUID

import msgspec
from msgspec import UNSET, UnsetType

from postern.identity.customers.signing_keys import SigningAlgorithm
from postern.kernel.http.call import Environment
from postern.kernel.http.problems import Conflict, Missing, Unprocessable
from postern.kernel.values import Body, DisplayName, Moment, Record
from postern.platform.projects.model import ProjectSettings, SignInHookKind

CLIENTS_PER_PROJECT = 1_000
RESOURCES_PER_PROJECT = 100
REDIRECT_URIS_PER_CLIENT = 50
SCOPES_PER_CLIENT = 100
KEYS_PER_CLIENT = 10
SECRET_GRACE_PERIOD = timedelta(hours=24)
"""Default for how long the old secret still works after a rotation."""
SECRET_GRACE_LIMIT_SECONDS = 604_800
CODE_LIFE = timedelta(seconds=60)
"""How long an authorization code is valid (RFC 6749 §4.1.2 recommends at most ten minutes)."""
GRANT_RETENTION = timedelta(days=1)
"""How long a grant is kept after its code was issued, or, if the code was used, after the session has ended."""
REQUEST_LIFE = timedelta(minutes=30)
"""How long signing in and consenting may take after an authorization request."""
PUSHED_LIFE = timedelta(seconds=90)
"""How long a browser may take to open a pushed authorization request."""
DEVICE_LIFE = timedelta(minutes=10)
"""How long the customer may take to allow a device."""
DEVICE_INTERVAL_SECONDS = 5
"""How long a device must wait between two requests for its tokens."""
TOKEN_LIFE = timedelta(minutes=10)
"""How long access tokens and ID tokens are valid."""
REGISTRATION_LIFE = timedelta(days=45)
"""How long a client that has registered itself is kept after it has got a code: longer than any session lives."""
REGISTRATION_RENEWAL = timedelta(days=1)
"""A further code extends REGISTRATION_LIFE if at least this much of it is over."""
STANDARD_SCOPES = ("openid", "profile", "email", "phone", "offline_access")
"""The scopes of OpenID Connect Core §5.4 and §11; all others are permissions that the project has declared."""

JsonWebKey = Annotated[
    dict[
        Annotated[str, msgspec.Meta(max_length=20)],
        Annotated[str, msgspec.Meta(max_length=2_000)] | bool | list[Annotated[str, msgspec.Meta(max_length=20_000)]],
    ],
    msgspec.Meta(max_length=20),
]
"""A public key (RFC 7517 §4). Its members are texts and lists of texts, and `ext` of browsers is a boolean."""
ClientType = Literal["CONFIDENTIAL", "PUBLIC"]
DEVICE_GRANT = "urn:ietf:params:oauth:grant-type:device_code"
GrantType = Literal[
    "authorization_code",
    "refresh_token",
    "client_credentials",
    "urn:ietf:params:oauth:grant-type:device_code",
]
DEFAULT_GRANT_TYPES: tuple[GrantType, ...] = ("authorization_code", "refresh_token")
DEFAULT_SCOPES = ("openid", "profile", "email", "offline_access")
RedirectUri = Annotated[
    str,
    msgspec.Meta(
        max_length=2_000,
        pattern=r"^[a-z][a-z0-9+.-]*:/[!$-;=?-\[\]_a-z~]+(?!\n)$",
        description="An absolute https URL without a fragment, such as `https://app.example.com/callback`; for native "
        "apps `http://127.0.0.1/…` or a scheme with a dot, such as `com.example.app:/callback`.",
    ),
]
HttpsUrl = Annotated[
    str,
    msgspec.Meta(
        max_length=2_000,
        pattern=r"""^https://[^\s"'<>\\]+(?!\n)$""",
        description="An https URL, such as `https://example.com/privacy`.",
    ),
]
ResourceIdentifier = Annotated[
    str,
    msgspec.Meta(
        max_length=2_000,
        pattern=r"^https?://[!$-;=@-\[\]_a-z~]+(?!\n)$",
        description="An absolute https URL without query and fragment, such as `https://notes.example.com/mcp`; for "
        "development also `http://127.0.0.1:3000/mcp`.",
    ),
]
LogoutUri = Annotated[str, msgspec.Meta(min_length=8, max_length=2_000)]
KeysUri = Annotated[str, msgspec.Meta(min_length=8, max_length=2_000)]
SecurityProfile = Literal["STANDARD", "FAPI2"]
ID_TOKEN_ALGORITHMS: tuple[SigningAlgorithm, ...] = ("ES256", "RS256")
ScopeName = Annotated[
    str,
    msgspec.Meta(
        max_length=128,
        pattern=r"^[\x21\x23-\x5b\x5d-\x7e]+(?!\n)$",
        description="`openid`, `profile`, `email`, `phone`, `offline_access`, or the key of a permission.",
    ),
]
RedirectUris = Annotated[list[RedirectUri], msgspec.Meta(max_length=REDIRECT_URIS_PER_CLIENT)]
ScopeNames = Annotated[list[ScopeName], msgspec.Meta(max_length=SCOPES_PER_CLIENT)]
GrantTypes = Annotated[list[GrantType], msgspec.Meta(min_length=1, max_length=10)]


class OAuthClientMissing(Missing, code="oauth_client_missing"):
    """There is no such OAuth client."""


class OAuthConsentMissing(Missing, code="oauth_consent_missing"):
    """The customer has allowed this client nothing."""


class TooManyOAuthClients(Unprocessable, code="too_many_oauth_clients"):
    """A project has at most 1,000 OAuth clients; delete some first."""


class PublicClientSecret(Conflict, code="public_client_has_no_secret"):
    """A PUBLIC client has no secret, because apps on devices and in browsers cannot keep one."""


class KeyClientSecret(Conflict, code="oauth_client_has_keys"):
    """A client that authenticates with a key has no secret. Remove `jwks` and `jwksUri` first."""


class OAuthResourceMissing(Missing, code="oauth_resource_missing"):
    """There is no such API for which clients can ask for access tokens."""


class OAuthResourceExists(Conflict, code="oauth_resource_exists"):
    """The project has declared an API with this identifier already."""


class TooManyOAuthResources(Unprocessable, code="too_many_oauth_resources"):
    """A project declares at most 100 APIs for access tokens; delete some first."""


class JsonWebKeys(Body):
    """A set of public keys (RFC 7517 §5)."""

    keys: Annotated[list[JsonWebKey], msgspec.Meta(min_length=1, max_length=KEYS_PER_CLIENT)]
    """The keys: EC with P-256, OKP with Ed25519, or RSA with at least 2048 bits. Each of several needs a `kid`."""


class OAuthClientFields(Record):
    """The fields of a client that the API returns and that its row has."""

    id: UUID
    environment: Environment
    """A TEST client signs customers in with TEST sessions, and its access tokens have an audience of their own."""
    name: str
    type: ClientType
    """CONFIDENTIAL: runs on a server and has a secret or a key. PUBLIC: runs in a browser or on a device."""
    first_party: bool
    """Whether the client belongs to the project: then customers are not asked for their consent."""
    self_registered: bool
    """Whether the client has registered itself (RFC 7591): nobody of the project has checked who it is."""
    secret_last_four: str | None
    """The last four characters of the secret; null without one."""
    redirect_uris: list[str]
    """Where authorization responses may be sent; compared exactly."""
    post_logout_redirect_uris: list[str]
    """Where the browser may go after it has signed out; compared exactly."""
    grant_types: list[str]
    """How the client may get tokens: `authorization_code`, `refresh_token`, `client_credentials`,
    `urn:ietf:params:oauth:grant-type:device_code`."""
    scopes: list[str]
    """The scopes that the client may get: standard ones, and permissions that the project has declared."""
    website_url: str | None
    """The website of the client, shown to customers."""
    privacy_url: str | None
    """The privacy policy of the client, shown to customers."""
    terms_url: str | None
    """The terms of service of the client, shown to customers."""
    backchannel_logout_uri: str | None
    """Where the client is told that a session has ended; null if it is not told."""
    require_dpop: bool
    """Whether the client gets only access tokens that are bound to its key (DPoP, RFC 9449)."""
    jwks: dict[str, Any] | None
    """The public keys with which the client authenticates (`private_key_jwt`); null without one."""
    jwks_uri: str | None
    """Where the client publishes these keys instead; null if it does not."""
    security_profile: SecurityProfile
    """STANDARD; or FAPI2: the client is held to the FAPI 2.0 Security Profile."""
    id_token_signing_alg: SigningAlgorithm
    """How ID tokens and logout tokens of the client are signed: ES256, or RS256 for programs that know nothing else."""
    metadata_url: str | None = None
    """The URL of the document with the client's metadata, which is its `clientId`; null for other clients."""
    created_at: Moment
    updated_at: Moment


class OAuthClient(OAuthClientFields):
    """An app that signs customers in through the project's OpenID provider."""

    client_id: str
    """The `client_id` of OAuth: the same as `id`, or the `metadataUrl`."""
    issuer: str
    """The issuer of the project: append `/.well-known/openid-configuration` for its configuration."""


class OAuthClientWithSecret(OAuthClient):
    """A client with its secret, which is returned only once."""

    client_secret: str | None
    """The secret; null for a PUBLIC client, and for one that authenticates with a key."""


class ClientRow(OAuthClientFields):
    """A row of `oauth_clients`."""

    project_id: UUID
    secret_hash: bytes | None
    previous_secret_hash: bytes | None
    previous_secret_expires_at: Moment | None
    metadata_expires_at: Moment | None = None
    """When the document at `metadata_url` must be fetched again; None for other clients."""

    @property
    def client_id(self) -> str:
        return self.metadata_url or str(self.id)

    @property
    def is_test(self) -> bool:
        return self.environment == "TEST"

    @property
    def has_key(self) -> bool:
        """Whether the client authenticates with a key, and with nothing else."""
        return self.jwks is not None or self.jwks_uri is not None

    @property
    def is_fapi(self) -> bool:
        return self.security_profile == "FAPI2"


class ClientWithSettings(ClientRow):
    """A client that sends a request, with the settings of its project."""

    project_settings: ProjectSettings


class NewOAuthClient(Body):
    """A client to register."""

    name: DisplayName
    """Name of the client, shown to customers."""
    type: ClientType = "CONFIDENTIAL"
    """CONFIDENTIAL for an app on a server, which gets a secret; PUBLIC for one in a browser or on a device."""
    environment: Environment | None = None
    """Default: that of the API key, or LIVE."""
    first_party: bool = False
    """Whether the client belongs to the project: then customers are not asked for their consent."""
    redirect_uris: RedirectUris = []
    """Required for `authorization_code`."""
    post_logout_redirect_uris: RedirectUris = []
    """Where the browser may go after it has signed out; compared exactly."""
    grant_types: GrantTypes = msgspec.field(default_factory=lambda: list(DEFAULT_GRANT_TYPES))
    """How the client may get tokens."""
    scopes: ScopeNames = msgspec.field(default_factory=lambda: list(DEFAULT_SCOPES))
    """The scopes that the client may get: standard ones, and permissions that the project has declared."""
    website_url: HttpsUrl | None = None
    """The website of the client, shown to customers."""
    privacy_url: HttpsUrl | None = None
    """The privacy policy of the client, shown to customers."""
    terms_url: HttpsUrl | None = None
    """The terms of service of the client, shown to customers."""
    backchannel_logout_uri: LogoutUri | None = None
    """Where the client is told that a session has ended (OpenID Connect Back-Channel Logout)."""
    require_dpop: bool = False
    """Whether the client gets only access tokens that are bound to its key (DPoP, RFC 9449)."""
    jwks: JsonWebKeys | None = None
    """The public keys with which a CONFIDENTIAL client authenticates (`private_key_jwt`), instead of a secret."""
    jwks_uri: KeysUri | None = None
    """Where the client publishes these keys instead, so that it can replace them."""
    security_profile: SecurityProfile = "STANDARD"
    """FAPI2 refuses what the FAPI 2.0 Security Profile does not allow: the client needs a key and `requireDpop`, and
    pushes its requests."""
    id_token_signing_alg: SigningAlgorithm = "ES256"  # noqa: S105 - an algorithm
    """How ID tokens and logout tokens of the client are signed: ES256, or RS256 for programs that know nothing else."""


class OAuthClientChange(Body):
    """Changes to a client. Fields that are left out keep their values."""

    name: DisplayName | UnsetType = UNSET
    """Name of the client, shown to customers."""
    first_party: bool | UnsetType = UNSET
    """Whether the client belongs to the project: then customers are not asked for their consent."""
    redirect_uris: RedirectUris | UnsetType = UNSET
    """Where authorization responses may be sent; compared exactly."""
    post_logout_redirect_uris: RedirectUris | UnsetType = UNSET
    """Where the browser may go after it has signed out; compared exactly."""
    grant_types: GrantTypes | UnsetType = UNSET
    """How the client may get tokens."""
    scopes: ScopeNames | UnsetType = UNSET
    """The scopes that the client may get: standard ones, and permissions that the project has declared."""
    website_url: HttpsUrl | None | UnsetType = UNSET
    """The website of the client, shown to customers."""
    privacy_url: HttpsUrl | None | UnsetType = UNSET
    """The privacy policy of the client, shown to customers."""
    terms_url: HttpsUrl | None | UnsetType = UNSET
    """The terms of service of the client, shown to customers."""
    backchannel_logout_uri: LogoutUri | None | UnsetType = UNSET
    """Where the client is told that a session has ended (OpenID Connect Back-Channel Logout)."""
    require_dpop: bool | UnsetType = UNSET
    """Whether the client gets only access tokens that are bound to its key (DPoP, RFC 9449)."""
    jwks: JsonWebKeys | None | UnsetType = UNSET
    """The public keys with which the client authenticates. A secret ends when the client gets keys."""
    jwks_uri: KeysUri | None | UnsetType = UNSET
    """Where the client publishes these keys instead, so that it can replace them."""
    security_profile: SecurityProfile | UnsetType = UNSET
    """STANDARD; or FAPI2: the client is held to the FAPI 2.0 Security Profile."""
    id_token_signing_alg: SigningAlgorithm | UnsetType = UNSET
    """How ID tokens and logout tokens of the client are signed: ES256, or RS256 for programs that know nothing else."""


class OAuthSecretRotation(Body):
    """How to rotate the secret of a client."""

    grace_period_seconds: Annotated[int, msgspec.Meta(ge=0, le=SECRET_GRACE_LIMIT_SECONDS)] = int(
        SECRET_GRACE_PERIOD.total_seconds()
    )
    """How long the old secret works in addition to the new one, in seconds; 0 to 604,800 (7 days)."""


class RegistrationOff(Conflict, code="client_registration_without_tokens"):
    """The project's setting `signIn.clientRegistration` is not `TOKEN`, so nobody needs a token to register clients."""


class OAuthRegistrationToken(Record):
    """An initial access token (RFC 7591 §3)."""

    token: str
    """Clients send it to the registration endpoint, in the header `Authorization` with `Bearer`."""
    expires_at: Moment
    """Until when it works, for at most 100 registrations."""


class OAuthResource(Record):
    """An API for which clients can ask for access tokens (RFC 8707)."""

    id: UUID
    environment: Environment
    """Only clients of the same environment can ask for tokens."""
    identifier: str
    """The URL of the API: the value of `resource` in requests, and the audience of the tokens."""
    name: str
    """Name of the API, shown to customers on the consent page."""
    scopes: list[str]
    """The permissions that tokens for the API can have in `scope`."""
    introspection_client_id: UUID | None
    """The CONFIDENTIAL client with which the API asks the introspection endpoint for the state of tokens."""
    created_at: Moment
    updated_at: Moment


class ResourceRow(OAuthResource):
    """A row of `oauth_resources`."""

    project_id: UUID


class NewOAuthResource(Body):
    """An API to declare."""

    identifier: ResourceIdentifier
    """The URL of the API: the value of `resource` in requests, and the audience of the tokens."""
    name: DisplayName
    """Name of the API, shown to customers on the consent page."""
    environment: Environment | None = None
    """Default: that of the API key, or LIVE."""
    scopes: ScopeNames = []
    """The permissions that tokens for the API can have in `scope`."""
    introspection_client_id: UUID | None = None
    """The CONFIDENTIAL client with which the API asks the introspection endpoint for the state of tokens."""


class OAuthResourceChange(Body):
    """Changes to an API. Fields that are left out keep their values."""

    name: DisplayName | UnsetType = UNSET
    """Name of the API, shown to customers on the consent page."""
    scopes: ScopeNames | UnsetType = UNSET
    """The permissions that tokens for the API can have in `scope`."""
    introspection_client_id: UUID | None | UnsetType = UNSET
    """The CONFIDENTIAL client with which the API asks the introspection endpoint for the state of tokens."""


class ConsentRow(Record):
    """A row of `oauth_consents`."""

    project_id: UUID
    customer_id: UUID
    client_id: UUID
    scopes: list[str]
    resource_scopes: dict[str, list[str]]
    created_at: Moment
    updated_at: Moment


class OAuthConsent(Record):
    """What a customer has allowed a client."""

    client_id: UUID
    """Id of the client."""
    client_name: str
    """Name of the client."""
    first_party: bool
    """Whether the client belongs to the project."""
    scopes: list[str]
    """The scopes that the customer has allowed, sorted."""
    resource_scopes: dict[str, list[str]]
    """The scopes that the customer has allowed at an API, by the API's identifier."""
    created_at: Moment
    updated_at: Moment


class GrantRow(Record):
    """A row of `oauth_grants`: an authorization code, and the refresh tokens that follow from it."""

    project_id: UUID
    id: UUID
    client_id: UUID
    customer_id: UUID
    session_id: UUID
    scopes: list[str]
    redirect_uri: str
    nonce: str | None
    code_hash: bytes
    code_challenge: str
    code_expires_at: Moment
    code_used_at: Moment | None
    generation: int
    """Number of the current refresh token; 0 if there is none."""
    rotated_at: Moment | None
    """When the current refresh token was issued."""
    revoked_at: Moment | None
    created_at: Moment
    expires_at: Moment
    """When the row may be deleted."""
    resource: str | None = None
    """The identifier of the API for which tokens are issued; None for the provider itself."""
    dpop_jkt: str | None = None
    """The thumbprint of the key to which the code, or the refresh tokens, are bound (RFC 9449 §5 and §10)."""
    acr_values: list[str] = []
    """The values of `acr` that the client has asked for."""


class SignedInCustomer(Record):
    """A live session of a customer, and what tokens and the userinfo endpoint say about the customer."""

    session_id: UUID
    customer_id: UUID
    methods: list[str]
    """The authentication methods (RFC 8176)."""
    authenticated_at: Moment
    """When the customer has last authenticated: at the sign-in, or later again."""
    created_at: Moment
    """When the session began."""
    session_expires_at: Moment
    """When the session ends at the latest."""
    test: bool
    sso_organization_id: UUID | None
    organization_id: UUID | None
    """The active organization; None if the customer is no longer a member of it, or it is suspended."""
    email: str | None
    email_verified_at: Moment | None
    name: str | None
    language: str | None
    phone: str | None
    phone_verified_at: Moment | None
    updated_at: Moment
    hooks: list[SignInHookKind]
    """The kinds of the project's active sign-in hooks."""


class AccessTokenCustomer(SignedInCustomer):
    """The customer of an access token, with the ids in the token."""

    project_id: UUID
    grant_id: UUID
    key_id: UUID
