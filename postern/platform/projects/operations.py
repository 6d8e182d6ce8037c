"""HTTP operations on projects and API keys, and authentication by API key."""

from collections.abc import Awaitable, Callable
from datetime import timedelta
from ipaddress import ip_address, ip_network
from typing import TYPE_CHECKING, Annotated, Any, Literal
from uuid import UUID

import msgspec
import psycopg

from postern.kernel.database.statements import Jsonb, Queries, Transaction
from postern.kernel.http.call import (
    Call,
    Caller,
    CredentialInvalid,
    Environment,
    Origin,
    PermissionMissing,
    ProjectMissing,
)
from postern.kernel.http.operation import DEVELOPER_ONLY, get, patch, post
from postern.kernel.http.operation import delete as delete_
from postern.kernel.http.pagination import Cursor, LinkedList, ListLimit, before_id, linked_list, newest_first
from postern.kernel.http.problems import Invalid, ProblemError, require_found
from postern.kernel.outbound.ssrf import AddressRefused, check_host
from postern.kernel.values import Body, Moment, Timestamp, fields_set, is_safe_redirect_url, new_id, to_plain
from postern.platform.audit import operations as audit
from postern.platform.projects import store
from postern.platform.projects.model import (
    AWS_KEY_LIMIT,
    EVENT_RETENTION_MIN,
    FREQUENCY_CAP_MAX,
    INBOUND_RETENTION_MAX,
    KEYS_PER_PROJECT,
    LOG_RETENTION_MIN,
    ORIGINS_LIMIT,
    RELAY_PASSWORD_LIMIT,
    RELAYS_PER_PROJECT,
    REMEMBERED_DEVICE_DAYS_LIMIT,
    RETENTION_MAX,
    SEED_LIST_LIMIT,
    TOKEN_CLAIMS_LIMIT,
    ApiKey,
    ApiKeyMissing,
    ApiKeyWithProject,
    Color,
    FallbackTransport,
    HostName,
    KeyType,
    LinkUrl,
    LogoUrl,
    MailTransport,
    MetadataKey,
    Name,
    PageLanguage,
    PageSentence,
    PageTitle,
    Project,
    ProjectRelay,
    ProjectSes,
    ProjectSettings,
    Redirect,
    SecurityMail,
    SignInHookKind,
    SignInMethod,
    SignInSettings,
    StoredApiKey,
    TermsVersion,
    TokenClaimSettings,
    TooManyKeys,
)
from postern.platform.projects.model import Origin as WebOrigin
from postern.platform.projects.permissions import (
    KEY_PERMISSIONS,
    NAMED_ONLY,
    describe_permissions_near,
    is_for_keys,
    is_permission,
)
from postern.platform.projects.quotas import require_quota
from postern.platform.projects.sso_check import SsoNotReady, sso_works
from postern.protocols.mail.address import AddressInvalid, parse_address
from postern.security.secrets import looks_like_key, new_key
from postern.web.page_texts import PageTexts, PageTextSettings
from postern.web.themes import ContrastError, Corners, FontFamily, ThemeSettings, check_contrast, theme_of

if TYPE_CHECKING:
    from postern.world import World

MASK = "********"
PAGES_DOMAIN_PATH = "/settings/signIn/pagesDomain"
ClaimPagesDomain = Callable[[Transaction, Call, str], Awaitable[str]]
"""Checks that the call's project may have a host name for its hosted pages, and returns the name as it is stored.
Raises Invalid. `app.py` sets it as a hook, because `projects` may not import `domains`."""
KEY_USE_INTERVAL = timedelta(minutes=1)
"""Minimum time between updates of a key's last use."""

Unset = msgspec.UnsetType
UNSET = msgspec.UNSET
Address = Annotated[str, msgspec.Meta(min_length=3, max_length=320)]


class NewProject(Body):
    """A project to create."""

    name: Name


class TokenClaimsChange(Body):
    """The keys of metadata that access tokens contain; omitted fields keep their values, and null removes all keys."""

    customer: Annotated[list[MetadataKey], msgspec.Meta(max_length=TOKEN_CLAIMS_LIMIT)] | None | Unset = UNSET
    """Keys of the customer's metadata, in the claim `metadata`."""
    organization: Annotated[list[MetadataKey], msgspec.Meta(max_length=TOKEN_CLAIMS_LIMIT)] | None | Unset = UNSET
    """Keys of the active organization's metadata, in the claim `org.metadata`."""


class ThemeColorsChange(Body):
    """Colors to change; omitted fields keep their values, and null resets one to its default."""

    accent: Color | None | Unset = UNSET
    """Buttons. Null in the light theme means `accentColor`; null in the dark theme means the light accent, lightened if
    the contrast needs it."""
    page: Color | None | Unset = UNSET
    """The background."""
    card: Color | None | Unset = UNSET
    """Fields and boxes; null means `page`."""
    ink: Color | None | Unset = UNSET
    """Text."""
    muted: Color | None | Unset = UNSET
    """Text that is less important."""
    line: Color | None | Unset = UNSET
    """Lines between parts."""


class ThemeChange(Body):
    """Parts of the theme to change; omitted fields keep their values, and null resets one to its default."""

    light: ThemeColorsChange | None | Unset = UNSET
    dark: ThemeColorsChange | None | Unset = UNSET
    corners: Corners | None | Unset = UNSET
    font: FontFamily | None | Unset = UNSET
    heading_font: FontFamily | None | Unset = UNSET
    picture_url: LogoUrl | None | Unset = UNSET
    """An https URL of a picture beside the form, on screens of 900 px and more."""


class PageTextsChange(Body):
    """Texts of hosted pages in one language to change; omitted fields keep their values, and null means the built-in
    text."""

    sign_in_title: PageTitle | None | Unset = UNSET
    sign_in_lead: PageSentence | None | Unset = UNSET
    """A sentence below the title of the sign-in page."""
    sign_in_button: PageTitle | None | Unset = UNSET
    """The button of the first page, below the e-mail address."""
    sign_up_title: PageTitle | None | Unset = UNSET
    sign_up_lead: PageSentence | None | Unset = UNSET
    """A sentence below the title of the sign-up page."""
    sign_up_button: PageTitle | None | Unset = UNSET
    footer: PageSentence | None | Unset = UNSET
    """A line in the foot of all pages, such as the name of the company."""


class PageTextSettingsChange(Body):
    """Texts of hosted pages to change, by language; omitted languages keep theirs, and null removes those of a
    language."""

    en: PageTextsChange | None | Unset = UNSET
    de: PageTextsChange | None | Unset = UNSET
    es: PageTextsChange | None | Unset = UNSET
    fr: PageTextsChange | None | Unset = UNSET
    pt: PageTextsChange | None | Unset = UNSET
    ja: PageTextsChange | None | Unset = UNSET


class SignInChange(Body):
    """Sign-in settings to change; omitted fields keep their values. Null resets a setting to its default, where null is
    allowed."""

    methods: Annotated[list[SignInMethod], msgspec.Meta(min_length=1, max_length=8)] | None | Unset = UNSET
    sign_up: bool | Unset = UNSET
    verify_email: Literal["REQUIRED", "LATER"] | Unset = UNSET
    allowed_origins: Annotated[list[WebOrigin], msgspec.Meta(max_length=ORIGINS_LIMIT)] | None | Unset = UNSET
    redirect_urls: Annotated[list[Redirect], msgspec.Meta(max_length=ORIGINS_LIMIT)] | None | Unset = UNSET
    mail_from: Address | None | Unset = UNSET
    security_mails: Annotated[list[SecurityMail], msgspec.Meta(max_length=8)] | None | Unset = UNSET
    contacts: Literal["NONE", "LINK", "CREATE"] | Unset = UNSET
    passkey_domain: HostName | None | Unset = UNSET
    pages_domain: HostName | None | Unset = UNSET
    """Host name of hosted pages, such as `login.example.com`; null for that of this server. It must be below a verified
    sending domain of the project, and no other project can have it."""
    app_name: Name | None | Unset = UNSET
    logo_url: LogoUrl | None | Unset = UNSET
    accent_color: Color | None | Unset = UNSET
    default_language: PageLanguage | None | Unset = UNSET
    """The language of hosted pages and e-mails if neither the request nor the browser asks for one of the others; null
    means English."""
    theme: ThemeChange | None | Unset = UNSET
    """Colors, corners and fonts of hosted pages and e-mails."""
    page_texts: PageTextSettingsChange | None | Unset = UNSET
    """Texts of hosted pages that replace the built-in ones, by language."""
    privacy_url: LinkUrl | None | Unset = UNSET
    terms_url: LinkUrl | None | Unset = UNSET
    help_url: LinkUrl | None | Unset = UNSET
    """Links in the foot of hosted pages."""
    terms_version: TermsVersion | None | Unset = UNSET
    """The current version of the terms at `termsUrl` and of the privacy policy."""
    require_terms: bool | Unset = UNSET
    """Whether customers must accept the current version of the terms: when they sign up, and at the next sign-in after
    the version has changed. Requires `termsUrl` and `termsVersion`."""
    require_sso: bool | Unset = UNSET
    """Whether all customers must use single sign-on. Requires a working connection."""
    require_mfa: bool | Unset = UNSET
    """Whether all customers must sign in with a second factor; customers without one must set it up first."""
    remembered_device_days: (
        Annotated[int, msgspec.Meta(ge=1, le=REMEMBERED_DEVICE_DAYS_LIMIT, description="A number of days, 1 to 90.")]
        | None
        | Unset
    ) = UNSET
    """For how many days customers may choose not to be asked for the second factor on a device again; null, the
    default, for never. Has no effect where the project or an organization requires a second factor."""
    token_claims: TokenClaimsChange | None | Unset = UNSET
    """The keys of metadata that access tokens contain. Customers can read their tokens."""
    account_deletion: bool | Unset = UNSET
    """Whether customers can delete their accounts themselves; true by default."""
    organization_setup: bool | Unset = UNSET
    """Whether OWNERs of organizations can set up domains, single sign-on and directories themselves, on the page of
    their organization; false by default."""
    client_registration: Literal["OFF", "TOKEN", "OPEN"] | Unset = UNSET
    """Whether clients of the OpenID provider can register themselves: no, with an initial access token, or without."""
    client_metadata_documents: bool | Unset = UNSET
    """Whether the id of a client of the OpenID provider can be the URL of a document with its metadata, so that clients
    need not be registered."""


class SettingsChange(Body):
    """Settings to change; omitted fields keep their values. Null resets a setting to its default, where null is
    allowed."""

    transport: MailTransport | None | Unset = UNSET
    fallback_transports: Annotated[list[FallbackTransport], msgspec.Meta(max_length=4)] | None | Unset = UNSET
    relays: Annotated[list[ProjectRelay], msgspec.Meta(max_length=RELAYS_PER_PROJECT)] | None | Unset = UNSET
    ses: ProjectSes | None | Unset = UNSET
    tracking_domain: HostName | None | Unset = UNSET
    track_opens: bool | Unset = UNSET
    track_clicks: bool | Unset = UNSET
    require_tls: bool | Unset = UNSET
    seed_list: Annotated[list[Address], msgspec.Meta(max_length=SEED_LIST_LIMIT)] | None | Unset = UNSET
    retention_days: Annotated[int, msgspec.Meta(ge=1, le=RETENTION_MAX)] | None | Unset = UNSET
    inbound_retention_days: Annotated[int, msgspec.Meta(ge=1, le=INBOUND_RETENTION_MAX)] | None | Unset = UNSET
    log_retention_days: Annotated[int, msgspec.Meta(ge=LOG_RETENTION_MIN, le=RETENTION_MAX)] | None | Unset = UNSET
    event_retention_days: Annotated[int, msgspec.Meta(ge=EVENT_RETENTION_MIN, le=RETENTION_MAX)] | None | Unset = UNSET
    archive_expired: bool | Unset = UNSET
    on_ambiguous: Literal["retry", "hold"] | Unset = UNSET
    frequency_cap: Annotated[int, msgspec.Meta(ge=1, le=FREQUENCY_CAP_MAX)] | None | Unset = UNSET
    rate_limit: Annotated[int, msgspec.Meta(ge=1, le=1_000_000)] | None | Unset = UNSET
    sign_in: SignInChange | Unset = UNSET
    extra: dict[str, Any] | Unset = UNSET
    """Further settings, merged with the stored ones by name; null removes a name. At most 64 KiB in all, as JSON."""


class ProjectChange(Body):
    """Fields to change."""

    name: Name | Unset = UNSET
    settings: SettingsChange | Unset = UNSET


class NewApiKey(Body):
    """A key to create."""

    name: Name
    type: KeyType = "SECRET"
    environment: Environment = "LIVE"
    permissions: Annotated[list[str], msgspec.Meta(min_length=1, max_length=100)] | None = None
    ip_allow_list: Annotated[list[str], msgspec.Meta(min_length=1, max_length=100)] | None = None
    expires_at: Timestamp | None = None


@get("/projects", needs="projects:read", accepts=DEVELOPER_ONLY)
async def list_projects(call: Call, limit: ListLimit = 1_000, cursor: Cursor | None = None) -> LinkedList[Project]:
    """List the projects of your account, newest first."""
    rows = await store.projects_of(
        call.db, account_id=call.account_id, before=before_id(call, "projects", cursor), limit=limit + 1
    )
    return linked_list(call, "projects", [_mask_passwords(row) for row in rows], limit)


@post("/projects", needs="projects:write", accepts=DEVELOPER_ONLY, status=201, example={"name": "Acme"})
async def create_project(call: Call, data: NewProject) -> Project:
    """Create a project. All other records belong to a project; projects are isolated from each other."""
    async with call.db.transaction() as tx:
        await require_quota(tx, call, "projects")
        project = await new_project(tx, call.account_id, data.name, call)
        await audit.record(tx, call, "project.created", "Project", project.id, account_wide=True, name=data.name)
    return project


@get("/projects/{project_id}", needs="projects:read")
async def get_project(call: Call) -> Project:
    """Get a project with its settings."""
    return _mask_passwords(await require_project(call.db, call.project_id))


@patch(
    "/projects/{project_id}",
    needs="projects:write",
    accepts=DEVELOPER_ONLY,
    problems=[SsoNotReady],
    example={"name": "Acme", "settings": {"trackOpens": False}},
)
async def change_project(call: Call, data: ProjectChange) -> Project:
    """Change the name or settings of a project. Omitted settings keep their values; lists are replaced.

    `extra` is merged with the stored names, and null removes a name. A relay's `password` of `********` keeps the
    stored password of the relay with the same `host` and `username`; without such a relay, the password is removed.
    Likewise, `ses.secretAccessKey` of `********` keeps the stored secret of the same `accessKeyId`.
    With `If-Match`, the change applies only if the project has not been changed since.
    """
    async with call.db.transaction() as tx:
        # A lock: changes that disable single sign-on also take it before they check whether it is required.
        await tx.lock_quota("required sso", call.project_id)
        project = require_found(await store.lock_project(tx, project_id=call.project_id), ProjectMissing)
        call.require_match(project.updated_at)
        settings = await _check_host_names(tx, call, project, _apply_change(call, project.settings, data.settings))
        name = project.name if data.name is UNSET else data.name
        sso_newly_required = settings.sign_in.require_sso and not project.settings.sign_in.require_sso
        if sso_newly_required and not await sso_works(tx, call.project_id, None):
            raise SsoNotReady
        try:
            project = await store.update_project(
                tx, project_id=call.project_id, name=name, settings=Jsonb(to_plain(settings)), now=call.now
            )
        except psycopg.errors.UniqueViolation:  # A concurrent transaction took the name after the check above.
            raise Invalid.at(PAGES_DOMAIN_PATH, "Another project has this name now.", "taken") from None
        changed_settings = [] if data.settings is UNSET else sorted(to_plain(data.settings))
        await audit.record(tx, call, "project.updated", "Project", project.id, name=name, settings=changed_settings)
    return _mask_passwords(project)


@get("/projects/{project_id}/api-keys", needs="keys:read", accepts=DEVELOPER_ONLY)
async def list_api_keys(call: Call, limit: ListLimit = 1_000, cursor: Cursor | None = None) -> LinkedList[ApiKey]:
    """List the project's API keys, newest first. `key` has only the prefix and the last four characters."""
    return await newest_first(call, "api-keys", cursor, limit, store.keys)


@post(
    "/projects/{project_id}/api-keys",
    needs="keys:write",
    accepts=DEVELOPER_ONLY,
    status=201,
    problems=[TooManyKeys],
    example={"name": "Server", "type": "SECRET"},
    response_example={"key": "sk_live_0a1b2c3d4e5f6g7h8i9j0k1l2m3n4o5p6q7r8x7Qp"},
)
async def create_api_key(call: Call, data: NewApiKey) -> ApiKey:
    """Create an API key. Only this response contains the whole `key`.

    `permissions` limits the key; null gives it all permissions of the project except `projects:write` and
    `customers:impersonate`, which must be listed by name, and none of the account. The creator of a key with
    `customers:impersonate` must have this permission. `ipAllowList` takes IP addresses or CIDR ranges, and `expiresAt`
    sets the expiry. E-mails sent with a TEST key are only stored in the inbox, never delivered.
    """
    _validate(call, data)
    for permission in NAMED_ONLY.intersection(data.permissions or ()):
        call.require(permission)
    async with call.db.transaction() as tx:
        key, value = await new_api_key(tx, call, data)
        await audit.record(
            tx,
            call,
            "api_key.created",
            "ApiKey",
            key.id,
            name=data.name,
            type=data.type,
            environment=data.environment,
        )
    return msgspec.structs.replace(key, key=value)


@delete_(
    "/projects/{project_id}/api-keys/{id}",
    needs="keys:write",
    accepts=DEVELOPER_ONLY,
    problems=[ApiKeyMissing],
)
async def delete_api_key(call: Call, id: UUID) -> ApiKey:
    """Delete an API key. Later requests with it are rejected."""
    async with call.db.transaction() as tx:
        key = require_found(await store.delete_key(tx, project_id=call.project_id, id=id), ApiKeyMissing)
        await audit.record(tx, call, "api_key.deleted", "ApiKey", key.id, name=key.name)
    return key


async def new_project(tx: Transaction, account_id: UUID, name: str, call: Call, *, captured: bool = False) -> Project:
    """Insert a project of an account. With `captured` its mail is stored but not delivered.

    Does not check the quota of the account, and records nothing in the audit log.
    """
    settings = Jsonb(to_plain(ProjectSettings(transport="capture" if captured else None)))
    return await store.insert_project(
        tx,
        id=new_id(),
        account_id=account_id,
        name=name,
        settings=settings,
        created_at=call.now,
        updated_at=call.now,
    )


async def new_api_key(
    tx: Transaction, call: Call, data: NewApiKey, *, project_id: UUID | None = None
) -> tuple[ApiKey, str]:
    """Insert a key of the project `project_id`, or of the call's project if that is None. Raises TooManyKeys.

    Returns the key and its value, of which only a hash is stored. Records nothing in the audit log.
    """
    project_id = project_id or call.project_id
    await tx.lock_quota("keys", project_id)
    if await store.count_keys(tx, project_id=project_id) >= KEYS_PER_PROJECT:
        raise TooManyKeys
    prefix = f"{'sk' if data.type == 'SECRET' else 'pk'}_{data.environment.lower()}_"
    value = new_key(prefix)
    key = StoredApiKey(
        project_id=project_id,
        id=new_id(),
        name=data.name,
        type=data.type,
        environment=data.environment,
        hash=call.world.secrets.digest("api-key", value),
        prefix=prefix,
        last_four=value[-4:],
        permissions=data.permissions,
        ip_allow_list=data.ip_allow_list,
        expires_at=None if data.expires_at is None else Moment.of(data.expires_at),
        created_by=call.caller.actor_id,
        created_at=call.now,
    )
    return await store.insert_key(tx, key), value


async def reset_capturing_transport(tx: Transaction, account_id: UUID) -> None:
    """Let the projects of an account that capture mail use the transport of the instance. Called when the owner's
    address is verified."""
    await store.reset_capturing_transport(tx, account_id=account_id)


async def delete_keys_of_account(tx: Transaction, account_id: UUID) -> None:
    """Delete every API key of an account's projects."""
    await store.delete_keys_of_account(tx, account_id=account_id)


async def mark_deleted(tx: Transaction, account_id: UUID, only: UUID | None, now: Moment) -> list[UUID]:
    """Mark all projects of an account as deleted, or only the project `only` unless it is None: requests return 404
    from now on, and the rows remain.

    Returns the ids of the projects that this call has marked, without those marked before.
    """
    return await store.mark_deleted(tx, account_id=account_id, only=only, now=now)


async def delete_marked_project(tx: Transaction, project_id: UUID) -> None:
    """Delete the row of a project that was marked as deleted. Delete the project's rows in other tables first."""
    await store.delete_marked_project(tx, project_id=project_id)


async def set_sign_in_hooks(tx: Transaction, call: Call, kinds: list[SignInHookKind]) -> None:
    """Store which kinds of sign-in hooks are active, in the settings that every sign-in reads. Raises ProjectMissing.

    The caller must have locked nothing that `change_project` locks.
    """
    project = require_found(await store.lock_project(tx, project_id=call.project_id), ProjectMissing)
    sign_in = msgspec.structs.replace(project.settings.sign_in, hooks=kinds)
    settings = msgspec.structs.replace(project.settings, sign_in=sign_in)
    await store.update_project(
        tx, project_id=project.id, name=project.name, settings=Jsonb(to_plain(settings)), now=call.now
    )


async def project_of_pages_domain(tx: Transaction, name: str) -> UUID | None:
    """The id of the project that has `name` as its `pagesDomain`, which keeps it until the transaction ends."""
    holder = await store.project_of_pages_domain(tx, name=name)
    return None if holder is None else holder.id


async def release_pages_domain(tx: Transaction, project_id: UUID, now: Moment) -> None:
    """Reset the `pagesDomain` of a project, so that another one can have the name."""
    await store.release_pages_domain(tx, project_id=project_id, now=now)


async def require_project(db: Queries, project_id: UUID) -> Project:
    """The project with this id, with encrypted relay passwords (see `relay_password`) and SES secret (`ses_secret`).
    Raises ProjectMissing if there is none or it was deleted."""
    project = await store.project(db, project_id=project_id)
    if project is None:
        raise ProjectMissing
    return project


async def settings_of(call: Call) -> ProjectSettings:
    """The settings of the call's project, as `require_project` returns them. If an API key authenticated the call, they
    are loaded already."""
    if isinstance(call.caller.loaded, ApiKeyWithProject):
        return call.caller.loaded.settings
    return (await require_project(call.db, call.project_id)).settings


async def projects_of_account(db: Queries, account_id: UUID, *, before: UUID | None = None) -> list[Project]:
    """Up to 1,000 projects of an account, newest first, with hidden relay passwords and SES secrets. For the next ones,
    pass the last id as `before`."""
    rows = await store.projects_of(db, account_id=account_id, before=before, limit=1_000)
    return [_mask_passwords(row) for row in rows]


async def read_key(world: "World", token: str, project_id: UUID | None, origin: Origin) -> Caller | None:
    """The caller of an API key; None if `token` does not begin like an API key.

    Raises CredentialInvalid for an unknown or expired key, PermissionMissing for an IP address that the key does not
    allow, and ProjectMissing for a project other than the key's. Records the use of the key, at most once a minute.
    """
    if not token.startswith(("sk_", "pk_")):
        return None
    if not looks_like_key(token):
        raise CredentialInvalid
    key: ApiKeyWithProject | None = await world.batcher(look_up_keys)(world.secrets.digest("api-key", token))
    now = world.clock()
    if key is None or (key.expires_at is not None and key.expires_at <= now):
        raise CredentialInvalid
    if key.ip_allow_list is not None and not _is_allowed_ip(origin.ip, key.ip_allow_list):
        raise PermissionMissing("This API key is not allowed from your IP address; check its `ipAllowList`.")
    if project_id is not None and project_id != key.project_id:
        raise ProjectMissing
    if key.last_used_at is None or key.last_used_at < now - KEY_USE_INTERVAL:
        await store.record_key_use(world.db, project_id=key.project_id, id=key.id, now=now)
    permissions = KEY_PERMISSIONS if key.permissions is None else frozenset(key.permissions)
    return Caller(
        kind="secret_key" if key.type == "SECRET" else "publishable_key",
        actor_type="API_KEY" if key.environment == "LIVE" else "TEST_KEY",
        actor_id=key.id,
        actor_label=key.name,
        account_id=key.account_id,
        project_id=key.project_id,
        environment=key.environment,
        permissions=permissions if key.type == "SECRET" else frozenset(),
        credential_id=key.id,
        rate_limit=key.settings.rate_limit,
        loaded=key,
    )


async def caller_of_key(db: Queries, project_id: UUID, key_id: UUID, now: Moment) -> Caller | None:
    """The Caller for a secret LIVE key of a project with its present permissions; None if it was deleted or has
    expired."""
    key = await store.key(db, project_id=project_id, id=key_id)
    if key is None or key.type != "SECRET" or key.environment != "LIVE":
        return None
    if key.expires_at is not None and key.expires_at <= now:
        return None
    return Caller(
        kind="secret_key",
        actor_type="API_KEY",
        actor_id=key.id,
        actor_label=key.name,
        project_id=project_id,
        permissions=KEY_PERMISSIONS if key.permissions is None else frozenset(key.permissions),
        credential_id=key.id,
    )


async def look_up_keys(world: "World", hashes: list[bytes]) -> list[ApiKeyWithProject | None]:
    """Look up keys by hash for concurrent requests in one statement. Nothing is cached.

    Returns one row per hash, in the same order; None if there is no such key.
    """
    rows = {row.hash: row for row in await store.keys_by_hash(world.db, hashes=hashes)}
    return [rows.get(key_hash) for key_hash in hashes]


def relay_password(world: "World", project_id: UUID, relay: ProjectRelay) -> str | None:
    """The decrypted password of a stored relay; None if it has none."""
    if relay.password is None:
        return None
    return world.secrets.open(bytes.fromhex(relay.password), f"relay:{project_id}").decode()


def ses_secret(world: "World", project_id: UUID, ses: ProjectSes) -> str:
    """The decrypted secret of a stored access key for SES."""
    return world.secrets.open(bytes.fromhex(ses.secret_access_key), f"ses:{project_id}").decode()


def _mask_passwords(project: Project) -> Project:
    """Replace the relay passwords and the SES secret of a project by MASK, as responses show them."""
    settings = project.settings
    if settings.relays:
        relays = [
            msgspec.structs.replace(relay, password=MASK if relay.password else None) for relay in settings.relays
        ]
        settings = msgspec.structs.replace(settings, relays=relays)
    if settings.ses:
        settings = msgspec.structs.replace(settings, ses=msgspec.structs.replace(settings.ses, secret_access_key=MASK))
    return project if settings is project.settings else msgspec.structs.replace(project, settings=settings)


async def _check_host_names(
    tx: Transaction, call: Call, project: Project, settings: ProjectSettings
) -> ProjectSettings:
    """The changed settings of a project, whose new `pagesDomain` and `trackingDomain` were checked. Raises Invalid."""
    name = settings.sign_in.pages_domain
    if name is not None and name != project.settings.sign_in.pages_domain:
        name = await call.world.hooks.claim_pages_domain(tx, call, name)
        sign_in = msgspec.structs.replace(settings.sign_in, pages_domain=name)
        settings = msgspec.structs.replace(settings, sign_in=sign_in)
    tracking = None if settings.tracking_domain is None else settings.tracking_domain.lower()
    if tracking is not None and tracking == name:
        message = "Tracking links and hosted pages need different host names: `pagesDomain` is this name."
        raise Invalid.at("/settings/trackingDomain", message, "taken")
    if (
        tracking is not None
        and settings.tracking_domain != project.settings.tracking_domain
        and await store.is_pages_domain_of_other(tx, name=tracking, project_id=project.id)
    ):
        raise Invalid.at("/settings/trackingDomain", "This name shows the hosted pages of another project.", "taken")
    return settings


def _apply_change(call: Call, settings: ProjectSettings, change: SettingsChange | Unset) -> ProjectSettings:
    """Apply a change of settings. Raises Invalid for contradictory settings."""
    if change is UNSET:
        return settings
    changes = fields_set(change)
    if changes.get("relays"):
        changes["relays"] = [
            _seal_password(call, relay, settings.relays or [], index) for index, relay in enumerate(changes["relays"])
        ]
        for index, relay in enumerate(changes["relays"]):
            _require_allowed_host(call, f"/settings/relays/{index}/host", relay.host)
    if changes.get("ses"):
        changes["ses"] = _seal_ses_secret(call, changes["ses"], settings.ses)
    if "sign_in" in changes:
        changes["sign_in"] = _apply_sign_in_change(settings.sign_in, changes["sign_in"])
    if changes.get("archive_expired") and not call.world.settings.archive:
        message = "This server has no archive. Its operator can set POSTERN_ARCHIVE."
        raise Invalid.at("/settings/archiveExpired", message, "not_offered")
    if "extra" in changes:
        merged = {**settings.extra, **changes["extra"]}
        changes["extra"] = {name: value for name, value in merged.items() if value is not None}
        if len(msgspec.json.encode(changes["extra"])) > 65_536:
            raise Invalid.at("/settings/extra", "`extra` is larger than 64 KiB as JSON.", "too_large")
    new_settings = msgspec.structs.replace(settings, **changes)
    _require_transport_settings(call, new_settings)
    return new_settings


def _require_transport_settings(call: Call, settings: ProjectSettings) -> None:
    """Raise Invalid if a transport that the project chooses needs settings that neither it nor the server has."""
    chosen = {settings.transport, *(settings.fallback_transports or ())}
    if "relay" in chosen and not settings.relays and not call.world.settings.relay:
        message = "The transport `relay` needs SMTP relays in `relays`, because this server has none configured."
        raise Invalid.at("/settings/relays", message, "required")
    if "direct" in chosen and not call.world.settings.offers_direct:
        message = "This server does not offer the transport `direct`. Use `relay`, or ask its operator."
        raise Invalid.at("/settings/transport", message, "not_offered")
    if "ses" in chosen and not settings.ses and not call.world.settings.ses_region:
        message = "The transport `ses` needs an account in `ses`, because this server has none configured."
        raise Invalid.at("/settings/ses", message, "required")
    fallback = settings.fallback_transports or []
    if len(set(fallback)) < len(fallback) or settings.transport in fallback:
        message = "`fallbackTransports` can name each transport only once, and not the one in `transport`."
        raise Invalid.at("/settings/fallbackTransports", message, "duplicate")
    if fallback and (settings.transport or call.world.settings.transport) == "capture":
        message = "The transport `capture` has no fallback: it stores mail in the inbox and sends nothing."
        raise Invalid.at("/settings/fallbackTransports", message, "not_allowed")


def _require_allowed_host(call: Call, path: str, host: str) -> None:
    """Raise Invalid at `path` for a host to which connections are never allowed."""
    try:
        check_host(host, call.world.settings.outbound_allow)
    except AddressRefused as refused:
        raise Invalid.at(path, str(refused), "host_refused") from None


def _apply_sign_in_change(settings: SignInSettings, change: SignInChange) -> SignInSettings:
    """Apply a change of sign-in settings. Raises Invalid for an invalid sender or redirect URL."""
    changes = fields_set(change)
    default = SignInSettings()
    # The client sent null: use the default, which is null itself for some settings.
    changes = {name: getattr(default, name) if value is None else value for name, value in changes.items()}
    if isinstance(changes.get("token_claims"), TokenClaimsChange):
        changes["token_claims"] = _apply_token_claims_change(settings.token_claims, changes["token_claims"])
    if isinstance(changes.get("theme"), ThemeChange):
        changes["theme"] = _apply_theme_change(settings.theme, changes["theme"])
    if isinstance(changes.get("page_texts"), PageTextSettingsChange):
        changes["page_texts"] = _apply_page_texts_change(settings.page_texts, changes["page_texts"])
    if "theme" in changes or "accent_color" in changes:
        _require_contrast(msgspec.structs.replace(settings, **changes), change)
    if "allowed_origins" in changes:
        changes["allowed_origins"] = [_serialise_origin(origin) for origin in changes["allowed_origins"]]
    if changes.get("mail_from") is not None:
        try:
            parse_address(changes["mail_from"])
        except AddressInvalid as error:
            raise Invalid.at("/settings/signIn/mailFrom", error.detail, "invalid_address") from None
    for index, url in enumerate(changes.get("redirect_urls", [])):
        if not is_safe_redirect_url(url):
            message = (
                "A redirect URL must begin with https://, with http:// and a loopback host, or with an app's own "
                "scheme, such as com.acme.app:/back."
            )
            raise Invalid.at(f"/settings/signIn/redirectUrls/{index}", message, "invalid_address")
    settings = msgspec.structs.replace(settings, **changes)
    if settings.require_terms:
        for name, value in (("termsUrl", settings.terms_url), ("termsVersion", settings.terms_version)):
            if value is None:
                message = f"`requireTerms` needs `{name}`: customers accept a version of a document that they can read."
                raise Invalid.at(f"/settings/signIn/{name}", message, "required")
    return settings


def _apply_theme_change(settings: ThemeSettings, change: ThemeChange) -> ThemeSettings:
    changes = fields_set(change)
    default = ThemeSettings()
    for name, value in changes.items():
        if isinstance(value, ThemeColorsChange):
            changes[name] = msgspec.structs.replace(getattr(settings, name), **fields_set(value))
        elif value is None:
            changes[name] = getattr(default, name)
    return msgspec.structs.replace(settings, **changes)


def _apply_page_texts_change(settings: PageTextSettings, change: PageTextSettingsChange) -> PageTextSettings:
    changes = fields_set(change)
    for language, texts in changes.items():
        if texts is not None:
            stored = getattr(settings, language) or PageTexts()
            changed = {name: (value or "").strip() or None for name, value in fields_set(texts).items()}
            texts = msgspec.structs.replace(stored, **changed)
        changes[language] = None if texts == PageTexts() else texts
    return msgspec.structs.replace(settings, **changes)


def _require_contrast(settings: SignInSettings, change: SignInChange) -> None:
    """Raise Invalid if the colors of pages and e-mails have too little contrast."""
    try:
        check_contrast(theme_of(settings.accent_color, settings.theme))
    except ContrastError as error:
        is_old_accent = error.path == "light/accent" and settings.theme.light.accent is None
        path = "accentColor" if is_old_accent and change.accent_color is not UNSET else f"theme/{error.path}"
        raise Invalid.at(f"/settings/signIn/{path}", str(error), "contrast_too_low") from None


def _apply_token_claims_change(settings: TokenClaimSettings, change: TokenClaimsChange) -> TokenClaimSettings:
    customer = settings.customer if change.customer is UNSET else change.customer or []
    organization = settings.organization if change.organization is UNSET else change.organization or []
    return TokenClaimSettings(customer=list(dict.fromkeys(customer)), organization=list(dict.fromkeys(organization)))


def _serialise_origin(origin: str) -> str:
    """Serialise an origin like browsers: lower-case host, no default port (RFC 6454 §6.1)."""
    scheme, _, host = origin.lower().partition("://")
    return f"{scheme}://{host.removesuffix({'http': ':80', 'https': ':443'}[scheme])}"


def _seal_password(call: Call, relay: ProjectRelay, stored_relays: list[ProjectRelay], index: int) -> ProjectRelay:
    """Encrypt the password of a relay in a change, or keep the stored one if the password is MASK.

    A stored password is kept only for the same host and username, so that it is not sent to another server.
    """
    if relay.password is None:
        return relay
    if relay.password == MASK:
        matching = [
            stored for stored in stored_relays if (stored.host, stored.username) == (relay.host, relay.username)
        ]
        return msgspec.structs.replace(relay, password=matching[0].password if matching else None)
    if len(relay.password) > RELAY_PASSWORD_LIMIT:
        message = f"A password has at most {RELAY_PASSWORD_LIMIT:,} characters."
        raise Invalid.at(f"/settings/relays/{index}/password", message, "too_long")
    sealed = call.world.secrets.seal(relay.password.encode(), f"relay:{call.project_id}")
    return msgspec.structs.replace(relay, password=sealed.hex())


def _seal_ses_secret(call: Call, ses: ProjectSes, stored: ProjectSes | None) -> ProjectSes:
    """Encrypt the secret of an access key in a change, or keep the stored one if the secret is MASK. Raises Invalid."""
    secret = ses.secret_access_key
    if secret == MASK:
        if stored is None or stored.access_key_id != ses.access_key_id:
            message = "There is no stored secret of this access key: send the secret itself."
            raise Invalid.at("/settings/ses/secretAccessKey", message, "required")
        return msgspec.structs.replace(ses, secret_access_key=stored.secret_access_key)
    if len(secret) > AWS_KEY_LIMIT or not (secret.isascii() and secret.isprintable()):
        message = f"The secret of an access key has at most {AWS_KEY_LIMIT} printable ASCII characters."
        raise Invalid.at("/settings/ses/secretAccessKey", message, "invalid")
    sealed = call.world.secrets.seal(secret.encode(), f"ses:{call.project_id}")
    return msgspec.structs.replace(ses, secret_access_key=sealed.hex())


def _validate(call: Call, data: NewApiKey) -> None:
    """Check permissions, IP addresses and expiry of a new API key. Raises Invalid."""
    errors = [
        ProblemError(
            path=f"/permissions/{index}",
            code="unknown_permission",
            message=f"There is no permission `{name}`. {describe_permissions_near(name)}",
        )
        for index, name in enumerate(data.permissions or [])
        if not is_permission(name)
    ]
    errors += [
        ProblemError(
            path=f"/permissions/{index}",
            code="not_for_keys",
            message=f"A key cannot have `{name}`: only developers who are signed in can.",
        )
        for index, name in enumerate(data.permissions or [])
        if is_permission(name) and not is_for_keys(name)
    ]
    for index, entry in enumerate(data.ip_allow_list or []):
        try:
            ip_network(entry, strict=False)
        except ValueError:
            errors.append(
                ProblemError(
                    path=f"/ipAllowList/{index}", code="invalid", message="This is not an IP address or CIDR range."
                )
            )
    if errors:
        raise Invalid(errors=errors)
    if data.expires_at is not None and data.expires_at <= call.now:
        raise Invalid.at("/expiresAt", "`expiresAt` must be in the future.")


def _is_allowed_ip(ip: str, allow_list: list[str]) -> bool:
    try:
        address = ip_address(ip)
    except ValueError:
        return False
    return any(address in ip_network(entry, strict=False) for entry in allow_list)
