"""Projects, their settings, and API keys."""

from typing import Annotated, Any, Literal, get_args
from uuid import UUID

import msgspec

from postern.kernel.http.call import Environment
from postern.kernel.http.problems import Missing, Unprocessable
from postern.kernel.values import NON_BLANK_LINE, Body, DisplayName, Moment, Record
from postern.web.page_texts import PageTextSettings
from postern.web.themes import ThemeSettings

KeyType = Literal["SECRET", "PUBLISHABLE"]
Name = DisplayName
# In the patterns of this module, `(?!\n)$` is the end of the text: in Python, `$` alone also matches before a final
# line break. `\Z` is not possible, because the patterns are part of the JSON schema (ECMA 262).
HostName = Annotated[
    str,
    msgspec.Meta(
        min_length=1,
        max_length=253,
        pattern=r"^[A-Za-z0-9.:_-]+(?!\n)$",
        description="A host name or IP address, such as `mail.example.com`.",
    ),
]

SEED_LIST_LIMIT = 50
KEYS_PER_PROJECT = 1_000
RELAYS_PER_PROJECT = 8


class ApiKeyMissing(Missing):
    """There is no such API key."""


class TooManyKeys(Unprocessable):
    """A project has at most 1,000 API keys; delete some first."""


FREQUENCY_CAP = 10
"""Default of `frequencyCap`: marketing messages that one contact gets within 24 hours."""
FREQUENCY_CAP_MAX = 10_000
INBOUND_RETENTION_MAX = 365
LOG_RETENTION_MIN = 90
"""So that links to unsubscribe work for at least this number of days; 30 are required in the United States."""
EVENT_RETENTION_MIN = 30
RETENTION_MAX = 3_650
"""The longest time for which received messages can be kept, in days."""
RELAY_PASSWORD_LIMIT = 1_000
"""Maximum characters of a relay's password."""

ENCRYPTED_PASSWORD_LIMIT = 8_400
"""Maximum characters of a relay's password or an AWS secret as it is stored: encrypted, in hexadecimal. A character
takes up to four bytes, and each byte two hexadecimal digits; the encryption adds less than 200 bytes."""


class ProjectRelay(Body):
    """A smart host (SMTP relay) for the project's mail."""

    host: HostName
    port: Annotated[int, msgspec.Meta(ge=1, le=65_535)] = 587
    tls: Literal["none", "starttls", "starttls-required", "implicit"] = "starttls-required"
    username: Annotated[str, msgspec.Meta(max_length=320)] | None = None
    # The limit is that of the stored, encrypted password, because this class is also read from the database. Requests
    # are checked against RELAY_PASSWORD_LIMIT by the operation.
    password: Annotated[str, msgspec.Meta(max_length=ENCRYPTED_PASSWORD_LIMIT)] | None = None
    """At most 1,000 characters. Returned as `********`; sending that value keeps the password."""
    weight: Annotated[int, msgspec.Meta(ge=1, le=100)] = 1
    messages_per_second: Annotated[int, msgspec.Meta(ge=1, le=100_000)] | None = None


MailTransport = Literal["capture", "relay", "direct", "ses"]
"""How mail is sent: it is captured, or goes through an SMTP relay, directly to the recipients' mail servers, or through
Amazon SES."""
FallbackTransport = Literal["relay", "direct", "ses"]
AWS_KEY_LIMIT = 128
"""Maximum characters of an AWS access key: of its id, and of its secret."""
TOPICS_PER_PROJECT = 10


class ProjectSes(Body):
    """An account of Amazon SES for the project's mail, in one AWS region."""

    region: Annotated[
        str,
        msgspec.Meta(
            pattern=r"^[a-z]{2}(-[a-z]{2,12}){1,3}-[0-9]{1,2}(?!\n)$",
            description="The name of an AWS region, such as `eu-central-1`.",
        ),
    ]
    access_key_id: Annotated[
        str,
        msgspec.Meta(pattern=rf"^[A-Za-z0-9_]{{16,{AWS_KEY_LIMIT}}}(?!\n)$", description="The id of the access key."),
    ]
    secret_access_key: Annotated[str, msgspec.Meta(min_length=1, max_length=ENCRYPTED_PASSWORD_LIMIT)]
    """At most 128 characters. Returned as `********`; sending that value keeps the secret of the same access key."""
    configuration_set: (
        Annotated[
            str,
            msgspec.Meta(
                pattern=r"^[A-Za-z0-9_-]{1,64}(?!\n)$", description="The SES configuration set; null for none."
            ),
        ]
        | None
    ) = None
    topics: Annotated[
        list[
            Annotated[
                str,
                msgspec.Meta(
                    max_length=300,
                    pattern=r"^arn:aws(-us-gov)?:sns:[a-z0-9-]+:[0-9]{12}:[A-Za-z0-9_.-]{1,256}(?!\n)$",
                    description="The ARN of an SNS topic.",
                ),
            ]
        ],
        msgspec.Meta(max_length=TOPICS_PER_PROJECT),
    ] = []
    """The SNS topics whose notifications about this project's mail are accepted."""
    forward_feedback: bool = False
    """Whether SES also mails bounces and complaints to the return path, whose domain must be verified in SES."""


SignInHookKind = Literal["BEFORE_SIGN_UP", "BEFORE_TOKEN", "MIGRATION"]
"""The kinds of sign-in hooks: URLs of a project that are called in sign-ups and sign-ins."""
SignInMethod = Literal["PASSWORD", "EMAIL_CODE", "EMAIL_LINK", "PASSKEY"]
SecurityMail = Literal[
    "NEW_DEVICE", "PASSWORD_CHANGED", "EMAIL_CHANGED", "MFA_CHANGED", "IDENTITY_CHANGED", "IMPERSONATED"
]
PageLanguage = Literal["en", "de", "es", "fr", "pt", "ja"]
"""The languages of hosted pages and of e-mails to customers (`web.languages`)."""
SIGN_IN_METHODS: tuple[SignInMethod, ...] = get_args(SignInMethod)
SECURITY_MAILS: tuple[SecurityMail, ...] = get_args(SecurityMail)

Origin = Annotated[
    str,
    msgspec.Meta(
        max_length=300,
        pattern=r"^https?://[A-Za-z0-9.\[\]:-]+(?!\n)$",
        description="A web origin: scheme, host and port, without a path, such as `https://app.example.com`.",
    ),
]
"""What a browser sends as `Origin`: scheme, host and port, without a path."""
LogoUrl = Annotated[
    str,
    msgspec.Meta(
        max_length=2_000,
        pattern=r"""^https://[^\s"'<>;]+(?!\n)$""",
        description="The https URL of an image, such as `https://example.com/logo.png`.",
    ),
]
LinkUrl = Annotated[
    str,
    msgspec.Meta(
        max_length=2_000,
        pattern=r"""^(?:https://|mailto:)[^\s"'<>;]+(?!\n)$""",
        description="An https URL, or `mailto:` and an address, such as `https://example.com/privacy`.",
    ),
]
Color = Annotated[
    str,
    msgspec.Meta(
        pattern=r"^#[0-9a-fA-F]{6}(?!\n)$",
        description="A color as `#` and six hexadecimal digits, such as `#1f4fd8`.",
    ),
]
Redirect = Annotated[
    str,
    msgspec.Meta(
        max_length=2_000,
        pattern=r"^(?!file:)(?:[a-z][a-z0-9+-]*://|[a-z][a-z0-9+-]*(?:\.[a-z0-9+-]+)+:/)[^\s#\\]+(?!\n)$",
        description="The URL of a page, or a URL with an app's own scheme, without a fragment, such as "
        "`https://app.example.com/signed-in` or `com.example.app:/signed-in`.",
    ),
]
"""The URL of a page, or a URL with an app's own scheme: `https://…`, `acme://…`, `com.acme.app:/…` (RFC 8252 §7.1)."""
PageTitle = Annotated[str, msgspec.Meta(max_length=80, description="Plain text of at most 80 characters.")]
TermsVersion = Annotated[
    str,
    msgspec.Meta(
        min_length=1,
        max_length=64,
        pattern=NON_BLANK_LINE,
        description="The version of the terms, such as `2026-07-01`: one line of at most 64 characters.",
    ),
]
PageSentence = Annotated[str, msgspec.Meta(max_length=300, description="Plain text of at most 300 characters.")]
ORIGINS_LIMIT = 50
TOKEN_CLAIMS_LIMIT = 50
"""Maximum length of each list of TokenClaimSettings."""
MetadataKey = Annotated[str, msgspec.Meta(min_length=1, max_length=128)]


class TokenClaimSettings(Record):
    """The keys of metadata that access tokens of customers contain."""

    customer: list[str] = []
    """Keys of the customer's metadata, in the claim `metadata`."""
    organization: list[str] = []
    """Keys of the active organization's metadata, in the claim `org.metadata`."""


REMEMBERED_DEVICE_DAYS_LIMIT = 90


class SignInSettings(Record):
    """Settings for sign-in of the project's customers."""

    methods: list[SignInMethod] = msgspec.field(default_factory=lambda: list(SIGN_IN_METHODS))
    sign_up: bool = True
    """Whether new customers can sign up; the API can always create customers."""
    verify_email: Literal["REQUIRED", "LATER"] = "REQUIRED"
    """REQUIRED: the customer is created when the address is verified; responses do not reveal existing addresses.
    LATER: sign-up signs the customer in at once; the response reveals whether the address is taken."""
    allowed_origins: list[str] = []
    """Web origins that can call the sign-in operations (CORS)."""
    redirect_urls: list[str] = []
    """Allowed redirect URLs of hosted pages, links and providers; compared exactly."""
    mail_from: str | None = None
    """Sender of sign-in e-mails; must belong to a verified sending domain."""
    security_mails: list[SecurityMail] = msgspec.field(default_factory=lambda: list(SECURITY_MAILS))
    contacts: Literal["NONE", "LINK", "CREATE"] = "NONE"
    """NONE: customers are not linked to contacts. LINK: a customer is linked to the contact with the same address, if
    there is one. CREATE: like LINK, and a missing contact is created."""
    passkey_domain: str | None = None
    """Relying party id of passkeys, a domain; null for that of this server."""
    pages_domain: str | None = None
    """Host name of hosted pages, such as `login.example.com`; null for that of this server. It is below a verified
    sending domain of the project, and used only while this domain is VERIFIED."""
    app_name: str | None = None
    logo_url: str | None = None
    accent_color: str | None = None
    default_language: PageLanguage | None = None
    """The language of hosted pages and e-mails if neither the request nor the browser asks for one of the others; null
    means English."""
    theme: ThemeSettings = ThemeSettings()
    """Colors, corners and fonts of hosted pages and e-mails."""
    page_texts: PageTextSettings = PageTextSettings()
    """Texts of hosted pages that replace the built-in ones, by language."""
    privacy_url: str | None = None
    terms_url: str | None = None
    help_url: str | None = None
    """Links in the foot of hosted pages."""
    terms_version: str | None = None
    """The current version of the terms at `terms_url` and of the privacy policy."""
    require_terms: bool = False
    """Whether customers must accept the current version of the terms: when they sign up, and at the next sign-in after
    the version has changed."""
    require_sso: bool = False
    """Whether all customers can sign in only by the single sign-on of an organization."""
    require_mfa: bool = False
    """Whether all customers must sign in with a second factor; customers without one must set it up first."""
    remembered_device_days: int | None = None
    """For how many days customers may choose not to be asked for the second factor on a device again; null for never.
    Has no effect for customers of whom the project or an organization requires a second factor."""
    token_claims: TokenClaimSettings = msgspec.field(default_factory=TokenClaimSettings)
    """The keys of metadata that access tokens contain. Customers can read their tokens."""
    account_deletion: bool = True
    """Whether customers can delete their accounts themselves."""
    organization_setup: bool = False
    """Whether OWNERs of organizations can set up domains, single sign-on and directories themselves, on the page of
    their organization."""
    client_registration: Literal["OFF", "TOKEN", "OPEN"] = "OFF"
    """Whether clients of the OpenID provider can register themselves (RFC 7591). OFF: no. TOKEN: with an initial access
    token. OPEN: whoever can reach this server can register clients."""
    client_metadata_documents: bool = False
    """Whether the id of a client of the OpenID provider can be the URL of a document with its metadata, so that clients
    need not be registered."""
    hooks: list[SignInHookKind] = []
    """The kinds of active sign-in hooks. The operations on these hooks set it."""


class ProjectSettings(Record):
    """Settings of a project. Null means the default of the instance."""

    transport: MailTransport | None = None
    """`relay` sends messages through the relays, `direct` to the recipients' mail servers, `ses` through Amazon SES;
    `capture` only stores them in the inbox."""
    fallback_transports: list[FallbackTransport] | None = None
    """The transports to use, in this order, if `transport` cannot be reached; null means none, or the server's if
    `transport` is null, too."""
    relays: list[ProjectRelay] | None = None
    ses: ProjectSes | None = None
    tracking_domain: str | None = None
    track_opens: bool = True
    track_clicks: bool = True
    require_tls: bool = False
    """Whether messages are passed on only over TLS, to authenticated servers that promise the same (REQUIRETLS, RFC
    8689), unless `requireTls` of an e-mail is false. Few servers support it; messages to all others bounce."""
    seed_list: list[str] | None = None
    """The addresses that get a test copy of a campaign on request; at most 50."""
    retention_days: int | None = None
    """Days for which the bodies of sent messages are kept; null means the default of the instance (30 days)."""
    inbound_retention_days: int | None = None
    """Days for which received messages are kept; null means 30."""
    log_retention_days: int | None = None
    """Days for which the e-mail log, opens and clicks are kept; null means that they are not deleted."""
    event_retention_days: int | None = None
    """Days for which events are kept; null means that they are not deleted."""
    archive_expired: bool = False
    """Whether records whose days have ended are written to the server's archive before they are deleted."""
    # What happens to a send if the connection ends before the server has replied to the complete message: `retry` sends
    # it again, perhaps a second time; `hold` marks it as FAILED.
    on_ambiguous: Literal["retry", "hold"] = "retry"
    frequency_cap: int | None = None
    """Maximum number of messages from campaigns and automations that one contact gets within 24 hours; null means 10.
    Further messages are not sent; the e-mail log lists them as SUPPRESSED, with the frequency cap as the reason."""
    rate_limit: int | None = None
    """Requests per second; null means the default of the instance."""
    sign_in: SignInSettings = msgspec.field(default_factory=SignInSettings)
    extra: dict[str, Any] = {}
    """Further settings, keyed by name. The feature that reads a setting defines its structure."""


def used_relays(settings: ProjectSettings) -> list[ProjectRelay] | None:
    """The relays of the project; None if it has none, or sends directly to the recipients' mail servers."""
    return None if settings.transport == "direct" else settings.relays


def frequency_cap_of(settings: ProjectSettings) -> int:
    """The project's frequency cap, or the default if it has none."""
    return FREQUENCY_CAP if settings.frequency_cap is None else settings.frequency_cap


class Project(Record):
    """A project: the tenant that everything else belongs to."""

    id: UUID
    account_id: UUID
    name: str
    settings: ProjectSettings
    created_at: Moment
    updated_at: Moment


class ProjectId(Record):
    """The id of a project."""

    id: UUID


class ProjectRetention(Record):
    """How long a project keeps one kind of records."""

    project_id: UUID
    days: int
    archives: bool
    """Whether records are written to the archive before they are deleted."""


class ApiKeyFields(Record):
    """What all views of an API key have in common."""

    id: UUID
    name: str
    type: KeyType
    environment: Environment
    permissions: list[str] | None
    """Null: all permissions of the project except `projects:write` and `customers:impersonate`, none of the account."""
    ip_allow_list: list[str] | None
    expires_at: Moment | None


class ApiKey(ApiKeyFields):
    """An API key of a project. Only the response to its creation contains the whole `key`."""

    key: str
    last_used_at: Moment | None
    created_at: Moment


class StoredApiKey(ApiKeyFields):
    """A row of `api_keys` to insert."""

    project_id: UUID
    hash: bytes
    prefix: str
    last_four: str
    created_by: UUID | None
    created_at: Moment


class ApiKeyWithProject(ApiKeyFields):
    """An API key with its project, read to authenticate a request. Keys of deleted projects are not found; expired keys
    are."""

    hash: bytes
    project_id: UUID
    account_id: UUID
    last_used_at: Moment | None
    settings: ProjectSettings
