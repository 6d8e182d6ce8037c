"""Clients that register themselves (RFC 7591): MCP clients and others that know a provider only by its metadata.

Off by default. A client that has registered itself belongs to nobody whom the project knows: it is never first-party,
the consent page says so, and it is deleted when it is not used.
"""

import re
from dataclasses import replace
from datetime import timedelta
from typing import Annotated, Any, Literal
from uuid import UUID

import msgspec

from postern.identity.customers.signing_keys import SigningAlgorithm, publish_key
from postern.identity.oauth import registration_store, store
from postern.identity.oauth.errors import OAuthError, OAuthErrorDocument, error_response, json_response
from postern.identity.oauth.model import (
    REQUEST_LIFE,
    STANDARD_SCOPES,
    ClientRow,
    HttpsUrl,
    JsonWebKeys,
    KeysUri,
    OAuthRegistrationToken,
    RedirectUri,
    RegistrationOff,
)
from postern.identity.oauth.resource_store import all_scopes
from postern.identity.oauth.rules import (
    LOOPBACK_HOSTS,
    SECRET_PREFIX,
    check_keys,
    check_outbound_url,
    check_redirect_uri,
    host_in,
    secret_hash,
    split_scope,
    unregistered_networks,
)
from postern.kernel.database.statements import Transaction
from postern.kernel.http.call import Call, CredentialInvalid
from postern.kernel.http.handler import read_bearer
from postern.kernel.http.operation import OtherError, RawRequest, post
from postern.kernel.http.problems import Invalid
from postern.kernel.http.responses import HttpResponse
from postern.kernel.limits import RateLimit, TooManyRequests, network_of
from postern.kernel.outbound.ssrf import AddressRefused
from postern.kernel.values import DisplayName, Moment, Record, new_id
from postern.messaging.certificates.pages_domains import is_own_host
from postern.platform.audit import operations as audit
from postern.platform.projects import operations as projects
from postern.protocols.oidc.dpop import ALGORITHMS
from postern.security import challenges
from postern.security.challenges import CodeInvalid, Payload
from postern.security.secrets import new_key

REGISTRATION_RATE = RateLimit("oauth-registration", 10, timedelta(minutes=10))
"""Maximum registrations from one network with one process."""
PROJECT_RATE = RateLimit("oauth-registration-project", 200, timedelta(hours=1))
"""Maximum registrations in one project with one process."""
REGISTRATIONS_PER_PROJECT = 1_000
"""Most clients that have registered themselves; others do not count."""
UNUSED_LIFE = timedelta(days=1)
"""How long a client is kept that no customer has allowed anything."""
REPLACED_AFTER = timedelta(hours=1)
"""When such a client makes room for the next one if a project has REGISTRATIONS_PER_PROJECT, so that nobody can keep
others from registering by filling the project with clients."""
BODY_LIMIT = 16_384
TOKEN_LIFE = timedelta(days=7)
"""How long an initial access token is valid."""
TOKEN_USES = 100
"""How many registrations an initial access token allows."""
ALLOWED_GRANTS = ("authorization_code", "refresh_token")
SECRET_METHODS = ("client_secret_basic", "client_secret_post")
KEY_METHOD = "private_key_jwt"
DEFAULT_ALGORITHM: SigningAlgorithm = "RS256"
"""The algorithm of ID tokens that a client expects which does not say any."""
NAMELESS = "An app without a name"
MISLEADING = re.compile(
    r"[\x00-\x1f\x7f-\x9f\xad\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f"
    r"\u3164\ufeff\uffa0\ufff9-\ufffb\U000e0000-\U000e007f]"
)
"""Control characters, and those that are invisible or change the direction of text: a name with them can look like
another one on the consent page."""
VISIBLE = re.compile(r"[^\W_]")
"""A letter or a digit."""
REGISTRATION_ERRORS = {
    400: OtherError("The metadata are refused (RFC 7591 §3.2.2), such as `invalid_redirect_uri`.", OAuthErrorDocument),
    401: OtherError("The initial access token is missing or invalid (`invalid_token`).", OAuthErrorDocument),
    403: OtherError("The project does not let clients register themselves (`access_denied`).", OAuthErrorDocument),
    503: OtherError("Too many clients have registered themselves.", OAuthErrorDocument),
}


class RegistrationToken(Payload, tag="OAUTH_REGISTRATION"):
    """An initial access token. It names nobody: whoever has it can register clients."""


Names = Annotated[list[Annotated[str, msgspec.Meta(max_length=200)]], msgspec.Meta(max_length=20)]


class ClientMetadata(Record, rename=None):
    """The metadata of a registration that are read (RFC 7591 §2); others are ignored."""

    redirect_uris: Annotated[list[RedirectUri], msgspec.Meta(min_length=1, max_length=10)]
    client_name: DisplayName | None = None
    token_endpoint_auth_method: Literal["none", "client_secret_basic", "client_secret_post", "private_key_jwt"] = (
        "client_secret_basic"  # noqa: S105 - a method
    )
    grant_types: Names = msgspec.field(default_factory=lambda: ["authorization_code"])
    response_types: Names = msgspec.field(default_factory=lambda: ["code"])
    scope: Annotated[str, msgspec.Meta(max_length=2_000)] | None = None
    client_uri: HttpsUrl | None = None
    policy_uri: HttpsUrl | None = None
    tos_uri: HttpsUrl | None = None
    dpop_bound_access_tokens: bool = False
    jwks: JsonWebKeys | None = None
    jwks_uri: KeysUri | None = None
    """Keys are read for `private_key_jwt` only."""
    id_token_signed_response_alg: SigningAlgorithm | None = None
    """OpenID Connect Dynamic Client Registration §2; omitted, it is DEFAULT_ALGORITHM."""


@post(
    "/projects/{project_id}/oauth/register",
    public=True,
    ignore_unknown_query=True,
    body_limit=BODY_LIMIT,
    status=201,
    response_type=dict[str, Any],
    response_example={
        "client_id": "019c13f9-5a00-7cc0-a2f4-0c2f6a1f9d11",
        "client_name": "Notes in the terminal",
        "redirect_uris": ["http://127.0.0.1/callback"],
        "token_endpoint_auth_method": "none",
    },
    problems=[TooManyRequests],
    other_errors=REGISTRATION_ERRORS,
)
async def register_oauth_client(call: Call, request: RawRequest) -> HttpResponse:
    """Register a client by itself (RFC 7591), if the project's `signIn.clientRegistration` allows it.

    Takes a JSON object with `redirect_uris`, and optionally `client_name`, `token_endpoint_auth_method` (`none`,
    `client_secret_basic`, `client_secret_post` or `private_key_jwt`, with `jwks` or `jwks_uri`), `grant_types`,
    `response_types`, `scope`, `client_uri`, `policy_uri`, `tos_uri`, `dpop_bound_access_tokens` and
    `id_token_signed_response_alg` (`RS256`, which is the default, or `ES256`); other members are ignored. With `TOKEN`,
    an initial access token in the `Authorization` header is required. The response has what was registered. The client
    uses the authorization code flow with PKCE, customers are asked for their consent, and it is deleted if it is not
    used for 45 days, or on the first day.
    """
    try:
        return await _register(call, request)
    except OAuthError as error:
        return error_response(error, realm="oauth", basic=False)


@post(
    "/projects/{project_id}/oauth-clients/registration-tokens",
    needs="projects:write",
    status=201,
    problems=[RegistrationOff],
)
async def create_oauth_registration_token(call: Call) -> OAuthRegistrationToken:
    """Create an initial access token, with which clients can register themselves if `signIn.clientRegistration` is
    `TOKEN`.

    It is valid for 7 days and at most 100 registrations, and cannot be revoked, except by changing the setting.
    """
    call.require_live("let clients register themselves")
    project = await projects.require_project(call.db, call.project_id)
    if project.settings.sign_in.client_registration != "TOKEN":
        raise RegistrationOff
    async with call.db.transaction() as tx:
        token, expires_at = await challenges.issue_token(tx, call, RegistrationToken(), TOKEN_LIFE)
        await audit.record(tx, call, "oauth_registration_token.created", "Project", call.project_id)
    return OAuthRegistrationToken(token=token, expires_at=expires_at)


async def _register(call: Call, request: RawRequest) -> HttpResponse:
    project = await projects.require_project(call.db, call.project_id)
    mode = project.settings.sign_in.client_registration
    if mode == "OFF":
        raise OAuthError("access_denied", "Clients of this project are registered by its developers.", 403)
    call.world.limiter.take(REGISTRATION_RATE, f"{call.project_id}|{network_of(call.origin.ip)}")
    if mode == "TOKEN":
        await _check_initial_access_token(call, request)
    metadata = _read_metadata(await request.body())
    secret = new_key(SECRET_PREFIX) if metadata.token_endpoint_auth_method in SECRET_METHODS else None
    row = await client_row(call, metadata, id=new_id(), secret=secret)
    call.world.limiter.take(PROJECT_RATE, str(call.project_id))
    async with call.db.transaction() as tx:
        await tx.lock_quota("oauth-registrations", call.project_id)
        await add_client(tx, call, row)
        if mode == "TOKEN":  # Others could fill the audit log, which is kept.
            caller = replace(call.caller, account_id=project.account_id)
            await audit.record(
                tx,
                replace(call, caller=caller),
                "oauth_client.registered",
                "OAuthClient",
                row.id,
                name=row.name,
                redirect_uris=row.redirect_uris,
            )
    await publish_key(call.world, call.project_id, row.id_token_signing_alg, call.now)
    return json_response(_response(row, metadata, secret), status=201)


async def client_row(
    call: Call,
    metadata: ClientMetadata,
    *,
    id: UUID,
    secret: str | None = None,
    metadata_url: str | None = None,
    metadata_expires_at: Moment | None = None,
) -> ClientRow:
    """The row of a client with these metadata, which were checked by `check_metadata`. Raises OAuthError if its
    redirect URIs or keys cannot be registered."""
    has_key = metadata.token_endpoint_auth_method == KEY_METHOD
    row = ClientRow(
        project_id=call.project_id,
        id=id,
        environment="LIVE",
        name=metadata.client_name or NAMELESS,
        type="PUBLIC" if metadata.token_endpoint_auth_method == "none" else "CONFIDENTIAL",  # noqa: S105 - a method
        first_party=False,
        self_registered=True,
        secret_hash=None if secret is None else secret_hash(call.world.secrets, call.project_id, secret),
        secret_last_four=None if secret is None else secret[-4:],
        previous_secret_hash=None,
        previous_secret_expires_at=None,
        redirect_uris=list(dict.fromkeys(metadata.redirect_uris)),
        post_logout_redirect_uris=[],
        grant_types=[name for name in ALLOWED_GRANTS if name in metadata.grant_types],
        scopes=await _scopes(call, metadata.scope),
        website_url=metadata.client_uri,
        privacy_url=metadata.policy_uri,
        terms_url=metadata.tos_uri,
        backchannel_logout_uri=None,
        require_dpop=metadata.dpop_bound_access_tokens,
        jwks=msgspec.to_builtins(metadata.jwks) if has_key and metadata.jwks is not None else None,
        jwks_uri=metadata.jwks_uri if has_key else None,
        security_profile="STANDARD",
        id_token_signing_alg=metadata.id_token_signed_response_alg or DEFAULT_ALGORITHM,
        metadata_url=metadata_url,
        metadata_expires_at=metadata_expires_at,
        created_at=call.now,
        updated_at=call.now,
    )
    for uri in row.redirect_uris:
        try:
            check_redirect_uri(uri, row.type, "/redirect_uris")
        except Invalid as problem:
            raise OAuthError("invalid_redirect_uri", problem.errors[0].message) from None
        host = host_in(uri)
        if host not in LOOPBACK_HOSTS and is_own_host(call.world, host):
            # The consent page would name this server as the place to which the browser goes.
            raise OAuthError("invalid_redirect_uri", "No client is at the host of this server.")
    try:
        if row.jwks is not None:
            check_keys(row.jwks, ALGORITHMS)
        if row.jwks_uri is not None:
            check_outbound_url(row.jwks_uri, unregistered_networks(call.world.settings))
    except Invalid as problem:
        message = f"{problem.errors[0].path.removeprefix('/')}: {problem.errors[0].message}"
        raise OAuthError("invalid_client_metadata", message) from None
    except AddressRefused as refused:
        raise OAuthError("invalid_client_metadata", f"jwks_uri: {refused}") from None
    return row


async def add_client(tx: Transaction, call: Call, row: ClientRow) -> None:
    """Insert a client that nobody of the project has registered, until it was not used for UNUSED_LIFE. The quota
    `oauth-registrations` is locked. Raises OAuthError if the project has too many of them."""
    if await registration_store.count_registrations(tx, project_id=call.project_id) >= REGISTRATIONS_PER_PROJECT:
        await _make_room(tx, call)
    await store.insert_client(tx, row)
    await registration_store.insert_registration(
        tx,
        project_id=call.project_id,
        id=row.id,
        expires_at=Moment.of(call.now + UNUSED_LIFE),
        now=call.now,
    )


async def _make_room(tx: Transaction, call: Call) -> None:
    """Delete the unused client that has registered itself first. Those with a document make room before others, because
    their next request brings them back. Raises OAuthError if all are used or recent."""
    before = Moment.of(call.now - REPLACED_AFTER)
    full = OAuthError("temporarily_unavailable", "Too many clients have registered themselves.", 503)
    unused = await registration_store.first_unused_document(
        tx, project_id=call.project_id, before=Moment.of(call.now - REQUEST_LIFE), unused_life=UNUSED_LIFE
    ) or await registration_store.first_unused(tx, project_id=call.project_id, before=before, unused_life=UNUSED_LIFE)
    if unused is None:
        raise full
    await registration_store.lock_clients(tx, project_id=call.project_id, ids=[unused])
    if not await registration_store.is_unused(tx, project_id=call.project_id, id=unused, unused_life=UNUSED_LIFE):
        raise full  # A customer has just allowed it something.
    await store.delete_clients(tx, project_id=call.project_id, ids=[unused])


async def _check_initial_access_token(call: Call, request: RawRequest) -> None:
    """Count a use of the initial access token of a request. Raises OAuthError if it is missing, invalid, expired or
    used up."""
    refused = OAuthError("invalid_token", "The initial access token is missing, invalid, expired or used up.", 401)
    try:
        token = read_bearer(request.headers)
        if token is None:
            raise refused
        await challenges.answer_token(call, RegistrationToken, token, max_tries=TOKEN_USES)
    except (CredentialInvalid, CodeInvalid):
        raise refused from None


def _read_metadata(body: bytes) -> ClientMetadata:
    """Raises OAuthError if the body is not JSON, or its members cannot be registered."""
    try:
        metadata = msgspec.json.decode(body, type=ClientMetadata)
    except msgspec.ValidationError as error:
        message = str(error)
        code = "invalid_redirect_uri" if "redirect_uris" in message else "invalid_client_metadata"
        raise OAuthError(code, message) from None
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        raise OAuthError("invalid_client_metadata", "The body is not JSON.") from None
    check_metadata(metadata)
    return metadata


def check_metadata(metadata: ClientMetadata) -> None:
    """Raises OAuthError if metadata contradict each other, or could mislead people."""
    texts = (metadata.client_name, metadata.scope, metadata.client_uri, metadata.policy_uri, metadata.tos_uri)
    if any(text is not None and MISLEADING.search(text) for text in texts):
        raise OAuthError("invalid_client_metadata", "A member contains a control character or an invisible one.")
    if metadata.client_name is not None and not VISIBLE.search(metadata.client_name):
        raise OAuthError("invalid_client_metadata", "The client_name has neither letters nor digits.")
    if "authorization_code" not in metadata.grant_types or "code" not in metadata.response_types:
        message = "Only grant_types with authorization_code and response_types with code can be registered."
        raise OAuthError("invalid_client_metadata", message)
    keys = [name for name in ("jwks", "jwks_uri") if getattr(metadata, name) is not None]
    if metadata.token_endpoint_auth_method == KEY_METHOD and len(keys) != 1:
        raise OAuthError("invalid_client_metadata", "A client with private_key_jwt has either jwks or jwks_uri.")


async def _scopes(call: Call, requested: str | None) -> list[str]:
    """What the client may get: the standard scopes, and those of the project's APIs; of these the requested ones."""
    possible = [*STANDARD_SCOPES, *await all_scopes(call.db, project_id=call.project_id)]
    if requested is None:
        return possible
    return [scope for scope in split_scope(requested) if scope in possible]


def _response(row: ClientRow, metadata: ClientMetadata, secret: str | None) -> dict[str, Any]:
    """What was registered (RFC 7591 §3.2.1)."""
    response: dict[str, Any] = {
        "client_id": row.client_id,
        "client_id_issued_at": int(row.created_at.timestamp()),
        "client_name": row.name,
        "redirect_uris": row.redirect_uris,
        "token_endpoint_auth_method": metadata.token_endpoint_auth_method,
        "grant_types": row.grant_types,
        "response_types": ["code"],
        "scope": " ".join(row.scopes),
        "dpop_bound_access_tokens": row.require_dpop,
        "id_token_signed_response_alg": row.id_token_signing_alg,
    }
    if secret is not None:
        response |= {"client_secret": secret, "client_secret_expires_at": 0}
    optional = {
        "client_uri": row.website_url,
        "policy_uri": row.privacy_url,
        "tos_uri": row.terms_url,
        "jwks": row.jwks,
        "jwks_uri": row.jwks_uri,
    }
    return response | {name: value for name, value in optional.items() if value is not None}
