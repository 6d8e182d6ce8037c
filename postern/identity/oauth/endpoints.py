"""The endpoints that clients call: token (RFC 6749 §3.2), userinfo (OpenID Connect Core §5.3), revocation (RFC 7009)
and introspection (RFC 7662)."""

import base64
import binascii
import hmac
import re
from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Any
from urllib.parse import parse_qsl, unquote_plus
from uuid import UUID

from postern.identity.oauth import device_store, store
from postern.identity.oauth.authorization import PARAMETERS, checked_request, code_hash
from postern.identity.oauth.browsers import renew_session
from postern.identity.oauth.errors import CLIENT_ERRORS, TOKEN_ERRORS, OAuthError, error_response, json_response
from postern.identity.oauth.model import (
    DEVICE_GRANT,
    GRANT_RETENTION,
    PUSHED_LIFE,
    ClientRow,
    GrantRow,
    ResourceRow,
    SignedInCustomer,
)
from postern.identity.oauth.requests import PUSHED_PREFIX, PushedRequest, redirect_target, require_single
from postern.identity.oauth.resources import granted_resource, requested_resource
from postern.identity.oauth.rules import is_secret_of, permission_scopes, split_scope, usable_scopes
from postern.identity.oauth.tokens import (
    AccessTokenClaims,
    customer_claims,
    hook_claims,
    issue_client_token,
    issue_tokens,
    meets_requirements,
    read_access_token,
    read_refresh_token,
)
from postern.kernel.http.call import Call, CredentialInvalid
from postern.kernel.http.handler import read_bearer
from postern.kernel.http.operation import FORM, RawRequest, get, post
from postern.kernel.http.responses import HttpResponse
from postern.kernel.limits import RateLimit, TooManyRequests, network_of
from postern.kernel.values import NO_ID, Moment, as_id
from postern.platform.projects import operations as projects
from postern.protocols.oidc.authorization import matches_challenge
from postern.security import challenges
from postern.security.sessions import REFRESH_GRACE

CLIENT_RATE = RateLimit("oauth-client", 300, timedelta(seconds=10))
"""Maximum requests of one client from one network to one process, to the endpoints of this module."""
AUTHENTICATION_RATE = RateLimit("oauth-authentication", 30, timedelta(minutes=1))
"""Maximum failed authentications of one client from one network to one process."""
BODY_LIMIT = 32_768
FIELD_LIMIT = 50
REALM = "oauth"
GRANT_TYPES = frozenset(("authorization_code", "refresh_token", "client_credentials", DEVICE_GRANT))
VERIFIER = re.compile(r"[A-Za-z0-9._~-]{43,128}")
CLIENT_FIELDS = {
    "client_id": "Id of the client, unless the `Authorization` header has it.",
    "client_secret": "Secret of the client, unless the `Authorization` header has it.",
}
TOKEN_FIELDS = {
    "grant_type": "`authorization_code`, `refresh_token`, `client_credentials` or "
    "`urn:ietf:params:oauth:grant-type:device_code`.",
    "code": "Authorization code.",
    "device_code": "Device code (RFC 8628).",
    "redirect_uri": "The same `redirect_uri` as in the authorization request.",
    "code_verifier": "Code verifier (RFC 7636).",
    "refresh_token": "Refresh token.",
    "scope": "Scopes, separated by spaces; fewer than were granted with `refresh_token`.",
    "resource": "Identifier of the API for which the token is (RFC 8707); with a code or a refresh token, that of the "
    "authorization request, or left out.",
    **CLIENT_FIELDS,
}
TOKEN_FIELD = {
    "token": "The token.",
    "token_type_hint": "`access_token` or `refresh_token`; not needed.",
    **CLIENT_FIELDS,
}
TOKEN_EXAMPLE = {
    "access_token": "eyJhbGciOiJFUzI1NiIsImtpZCI6Ij…",
    "token_type": "Bearer",
    "expires_in": 600,
    "scope": "openid profile email",
}


@post(
    "/projects/{project_id}/oauth/token",
    public=True,
    ignore_unknown_query=True,
    takes=FORM,
    fields=TOKEN_FIELDS,
    body_limit=BODY_LIMIT,
    response_type=dict[str, Any],
    response_example=TOKEN_EXAMPLE,
    problems=[TooManyRequests],
    other_errors=CLIENT_ERRORS,
)
async def issue_oauth_tokens(call: Call, request: RawRequest) -> HttpResponse:
    """The token endpoint (RFC 6749 §3.2).

    A CONFIDENTIAL client authenticates with its secret, in the `Authorization` header (`client_secret_basic`) or the
    form (`client_secret_post`); a PUBLIC client sends only `client_id`. A code works once, within 60 seconds, with the
    code verifier; if it is used again, the tokens that were issued for it are revoked. A refresh token works once:
    within 30 seconds it returns the same next one again, later its use revokes all tokens of the sign-in. Errors are
    those of RFC 6749 §5.2.
    """
    return await serve_client(call, request, _token_response)


@post(
    "/projects/{project_id}/oauth/par",
    public=True,
    ignore_unknown_query=True,
    takes=FORM,
    fields={**PARAMETERS, **CLIENT_FIELDS},
    body_limit=BODY_LIMIT,
    status=201,
    response_type=dict[str, Any],
    response_example={"request_uri": f"{PUSHED_PREFIX}019c13f95a00…", "expires_in": 90},
    problems=[TooManyRequests],
    other_errors=CLIENT_ERRORS,
)
async def push_authorization_request(call: Call, request: RawRequest) -> HttpResponse:
    """Push the parameters of an authorization request from the client's server (RFC 9126).

    Send the browser to the authorization endpoint with only `client_id` and the `request_uri` that is returned, within
    90 seconds; it works once. So nobody can change the parameters in the browser.
    """
    return await serve_client(call, request, _pushed_response)


@post(
    "/projects/{project_id}/oauth/revoke",
    public=True,
    ignore_unknown_query=True,
    takes=FORM,
    fields=TOKEN_FIELD,
    body_limit=BODY_LIMIT,
    response_type=dict[str, Any],
    response_example={},
    problems=[TooManyRequests],
    other_errors=CLIENT_ERRORS,
)
async def revoke_oauth_token(call: Call, request: RawRequest) -> HttpResponse:
    """Revoke a refresh token or an access token (RFC 7009), and with it all tokens of the same sign-in.

    The response is 200 also for tokens that are unknown, expired or those of another client. Access tokens of
    `client_credentials` cannot be revoked (`unsupported_token_type`): they are valid for ten minutes.
    """
    return await serve_client(call, request, _revocation_response)


@post(
    "/projects/{project_id}/oauth/introspect",
    public=True,
    ignore_unknown_query=True,
    takes=FORM,
    fields=TOKEN_FIELD,
    body_limit=BODY_LIMIT,
    response_type=dict[str, Any],
    response_example={"active": True, "scope": "openid email", "sub": "019c13f9-5a00-7cc0-a2f4-0c2f6a1f9d11"},
    problems=[TooManyRequests],
    other_errors=CLIENT_ERRORS,
)
async def introspect_oauth_token(call: Call, request: RawRequest) -> HttpResponse:
    """Whether a token is valid now, and its claims (RFC 7662). Only for CONFIDENTIAL clients.

    A `firstParty` client gets the state of the access tokens of all clients of its environment, because it may be an
    API of the project; others get that of their own tokens. Tokens that are for an API (`resource`) have a state only
    for the API's `introspectionClientId` and for their own client. The session, the customer's ban and the client are
    read at every request.
    """
    return await serve_client(call, request, _introspection_response)


@get(
    "/projects/{project_id}/oauth/userinfo",
    public=True,
    ignore_unknown_query=True,
    response_type=dict[str, Any],
    response_example={"sub": "019c13f9-5a00-7cc0-a2f4-0c2f6a1f9d11", "email": "ada@example.com"},
    other_errors=TOKEN_ERRORS,
)
async def get_userinfo(call: Call, request: RawRequest) -> HttpResponse:
    """The claims about the customer that the scopes of an access token allow (OpenID Connect Core §5.3).

    Send the access token as `Authorization: Bearer …`. It needs the scope `openid`.
    """
    return await _userinfo_response(call, request)


@post(
    "/projects/{project_id}/oauth/userinfo",
    public=True,
    ignore_unknown_query=True,
    takes=FORM,
    fields={"access_token": "The access token, unless the `Authorization` header has it."},
    body_limit=BODY_LIMIT,
    response_type=dict[str, Any],
    response_example={"sub": "019c13f9-5a00-7cc0-a2f4-0c2f6a1f9d11", "email": "ada@example.com"},
    other_errors=TOKEN_ERRORS,
)
async def post_userinfo(call: Call, request: RawRequest) -> HttpResponse:
    """Like the GET operation; the access token may also be in the form (RFC 6750 §2.2)."""
    return await _userinfo_response(call, request)


Respond = Callable[[Call, ClientRow, dict[str, str]], Awaitable[HttpResponse]]


async def serve_client(call: Call, request: RawRequest, respond: Respond) -> HttpResponse:
    """Authenticate the client, and return the response of `respond` to the fields of the form, or the error."""
    basic = request.headers.get("authorization") is not None
    try:
        form = await _read_fields(request)
        client = await _authenticated_client(call, request, form)
        # The clients of a project that was deleted exist until its data are erased. Raises ProjectMissing.
        await projects.require_project(call.db, call.project_id)
        return await respond(call, client, form)
    except OAuthError as error:
        return error_response(error, realm=REALM, basic=basic)


async def _read_fields(request: RawRequest) -> dict[str, str]:
    """The fields of a form. Raises OAuthError."""
    content_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    body = await request.body()
    if body and content_type != FORM:
        raise OAuthError("invalid_request", f"Send the parameters as {FORM}.")
    try:
        fields = parse_qsl(body.decode("utf-8"), keep_blank_values=True, max_num_fields=FIELD_LIMIT)
    except ValueError:  # Too many fields, or not UTF-8.
        raise OAuthError("invalid_request", "The form is malformed.") from None
    repeated = {name for name, _ in fields if [other for other, _ in fields].count(name) > 1}
    if "resource" in repeated:
        raise OAuthError("invalid_target", "A token is for one resource; ask for each one in turn.")
    if repeated & (TOKEN_FIELDS.keys() | PARAMETERS.keys()) or "token" in repeated:
        raise OAuthError("invalid_request", f"The parameter {min(repeated)} is repeated.")
    if any("\0" in value for _, value in fields):
        raise OAuthError("invalid_request", "A parameter contains a NUL character.")
    return require_single(fields)


async def _authenticated_client(call: Call, request: RawRequest, form: dict[str, str]) -> ClientRow:
    """The client that sends the request (RFC 6749 §2.3). Raises OAuthError and TooManyRequests."""
    client_id, secret = _client_credential(request, form)
    # Not as it was sent: a UUID can be written in several ways, and text that is none would have a key each time.
    parsed_id = as_id(client_id)
    key = f"{call.project_id}|{parsed_id}|{network_of(call.origin.ip)}"
    call.world.limiter.take(CLIENT_RATE, key)
    client = None if parsed_id == NO_ID else await store.client(call.db, project_id=call.project_id, id=parsed_id)
    if client is not None and client.type == "PUBLIC" and secret is None:
        return client
    if client is not None and secret is not None and is_secret_of(call.world.secrets, client, secret, call.now):
        return client
    call.world.limiter.take(AUTHENTICATION_RATE, key)
    raise OAuthError("invalid_client", "The client is unknown, or its secret is wrong or missing.", 401)


def _client_credential(request: RawRequest, form: dict[str, str]) -> tuple[str | None, str | None]:
    """The id and secret of the client: from the `Authorization` header or from the form, but not from both."""
    header = request.headers.get("authorization")
    if header is None:
        return form.get("client_id"), form.get("client_secret")
    scheme, _, encoded = header.partition(" ")
    if scheme.lower() != "basic":
        raise OAuthError("invalid_client", "Authenticate with Basic, or in the form.", 401)
    if "client_secret" in form:
        raise OAuthError("invalid_request", "Authenticate in one way only.")
    try:
        name, separator, secret = base64.b64decode(encoded.strip(), validate=True).decode().partition(":")
    except (binascii.Error, ValueError):
        raise OAuthError("invalid_client", "The Authorization header is malformed.", 401) from None
    name, secret = unquote_plus(name), unquote_plus(secret)  # RFC 6749 §2.3.1
    if not separator or form.get("client_id", name) != name:
        raise OAuthError("invalid_client", "The header and the form name different clients.", 401)
    return name, secret


# The token endpoint.


async def _token_response(call: Call, client: ClientRow, form: dict[str, str]) -> HttpResponse:
    grant_type = form.get("grant_type")
    if grant_type is None:
        raise OAuthError("invalid_request", "The parameter grant_type is missing.")
    if grant_type not in GRANT_TYPES:
        raise OAuthError("unsupported_grant_type", "This grant_type is not supported.")
    if grant_type not in client.grant_types:
        raise OAuthError("unauthorized_client", "The client is not registered for this grant_type.")
    if grant_type == "client_credentials":
        resource = await requested_resource(call, client, form)
        scopes = _scopes_of_client(client, resource, form)
        return json_response(await issue_client_token(call, client, resource, scopes))
    if grant_type == "refresh_token":
        return await _refresh(call, client, form)
    if grant_type == DEVICE_GRANT:
        return await _exchange_device_code(call, client, form)
    return await _exchange_code(call, client, form)


def _scopes_of_client(client: ClientRow, resource: ResourceRow | None, form: dict[str, str]) -> list[str]:
    """The scopes of an access token of the client itself: permissions only, because there is no customer."""
    own = usable_scopes(resource, permission_scopes(client.scopes))
    if "scope" not in form:
        return own
    requested = split_scope(form["scope"])
    if not set(requested) <= set(own):
        raise OAuthError("invalid_scope", "The client is not registered for one of the scopes.")
    return requested


async def _exchange_code(call: Call, client: ClientRow, form: dict[str, str]) -> HttpResponse:
    """Exchange an authorization code (RFC 6749 §4.1.3, RFC 7636 §4.6)."""
    for name in ("code", "redirect_uri", "code_verifier"):
        if name not in form:
            raise OAuthError("invalid_request", f"The parameter {name} is missing.")
    refused = OAuthError("invalid_grant", "The code is invalid, has expired, was used, or belongs to another request.")
    grant = await _grant_of_code(call, form["code"])
    if grant is None or grant.client_id != client.id:
        raise refused
    if grant.code_used_at is not None:
        await store.revoke_grant(call.db, project_id=call.project_id, id=grant.id, now=call.now)
        raise refused
    verifier = form["code_verifier"]
    if not VERIFIER.fullmatch(verifier) or not matches_challenge(verifier, grant.code_challenge):
        raise refused
    if form["redirect_uri"] != grant.redirect_uri:
        raise refused
    return await _use_code(call, client, grant, form, refused)


async def _use_code(
    call: Call, client: ClientRow, grant: GrantRow, form: dict[str, str], refused: OAuthError
) -> HttpResponse:
    """The tokens of a grant whose code was checked. Raises `refused` if another request has used the code."""
    resource = await granted_resource(call, client, grant, form)
    signed_in = await _session_of(call, client, grant)
    extra = await hook_claims(call, client, signed_in, grant.scopes)
    refreshable = "offline_access" in grant.scopes and "refresh_token" in client.grant_types
    used = await store.use_code(
        call.db,
        project_id=call.project_id,
        id=grant.id,
        generation=1 if refreshable else 0,
        # Also without a refresh token: the grant says which clients must be told that the session has ended.
        expires_at=Moment.of(signed_in.session_expires_at + GRANT_RETENTION),
        now=call.now,
    )
    if used is None:
        if grant.code_expires_at > call.now:
            # Another request used the code at the same time.
            await store.revoke_grant(call.db, project_id=call.project_id, id=grant.id, now=call.now)
        raise refused
    return json_response(
        await issue_tokens(
            call, client, used, signed_in, resource=resource, scopes=used.scopes, first=True, extra=extra
        )
    )


async def _exchange_device_code(call: Call, client: ClientRow, form: dict[str, str]) -> HttpResponse:
    """The tokens of a device, or why it has none yet (RFC 8628 §3.5)."""
    code = form.get("device_code")
    if code is None:
        raise OAuthError("invalid_request", "The parameter device_code is missing.")
    device = await device_store.device(call.db, project_id=call.project_id, id=_id_of_code(code))
    if (
        device is None
        or device.client_id != client.id
        or not hmac.compare_digest(device.code_hash, code_hash(call, code))
    ):
        raise OAuthError("invalid_grant", "The device_code is unknown.")
    polled = await device_store.poll(call.db, project_id=call.project_id, id=device.id, now=call.now)
    if polled is not None and polled.interval_seconds > device.interval_seconds:
        raise OAuthError("slow_down", f"Wait {polled.interval_seconds} seconds between two requests.")
    if device.denied_at is not None:
        raise OAuthError("access_denied", "The customer did not allow this.")
    grant = await store.grant(call.db, project_id=call.project_id, id=device.id)
    if grant is not None and grant.code_used_at is not None:
        await store.revoke_grant(call.db, project_id=call.project_id, id=grant.id, now=call.now)
        raise OAuthError("invalid_grant", "The device_code was used already.")
    expired = OAuthError("expired_token", "The device_code has expired.")
    if device.expires_at <= call.now:
        raise expired
    if grant is None:
        raise OAuthError("authorization_pending", "The customer has not allowed this yet.")
    return await _use_code(call, client, grant, form, expired)


async def _grant_of_code(call: Call, code: str) -> GrantRow | None:
    grant = await store.grant(call.db, project_id=call.project_id, id=_id_of_code(code))
    return grant if grant is not None and hmac.compare_digest(grant.code_hash, code_hash(call, code)) else None


def _id_of_code(code: str) -> UUID:
    """The id of the grant or device of a code; NO_ID if it is malformed."""
    return as_id(f"{code[:8]}-{code[8:12]}-{code[12:16]}-{code[16:20]}-{code[20:32]}")


async def _refresh(call: Call, client: ClientRow, form: dict[str, str]) -> HttpResponse:
    """Exchange a refresh token for the next one (RFC 6749 §6, RFC 9700 §4.14.2)."""
    if "refresh_token" not in form:
        raise OAuthError("invalid_request", "The parameter refresh_token is missing.")
    refused = OAuthError("invalid_grant", "The refresh token is invalid, has expired, was used, or was revoked.")
    parts = read_refresh_token(call.world.secrets, call.project_id, form["refresh_token"])
    grant = None if parts is None else await store.grant(call.db, project_id=call.project_id, id=parts.grant_id)
    if parts is None or grant is None or grant.client_id != client.id or grant.revoked_at is not None:
        raise refused
    scopes = split_scope(form["scope"]) if "scope" in form else grant.scopes
    if not set(scopes) <= set(grant.scopes):
        raise OAuthError("invalid_scope", "The scope has more than the customer has allowed.")
    resource = await granted_resource(call, client, grant, form)
    signed_in = await _session_of(call, client, grant)
    extra = await hook_claims(call, client, signed_in, scopes)
    renewed = await store.rotate(
        call.db, project_id=call.project_id, id=grant.id, generation=parts.generation, now=call.now
    )
    if renewed is None:
        # Not the current token. The previous one returns the same next one for a short time, so that a lost response
        # does no harm; any other one must have been copied.
        renewed = await store.grant(call.db, project_id=call.project_id, id=grant.id)
        if renewed is None or renewed.revoked_at is not None:
            raise refused
        since = renewed.rotated_at
        if renewed.generation != parts.generation + 1 or since is None or call.now - since > REFRESH_GRACE:
            await store.revoke_grant(call.db, project_id=call.project_id, id=grant.id, now=call.now)
            raise refused
    else:
        await renew_session(call.db, call, grant.session_id, signed_in.customer_id)
    return json_response(
        await issue_tokens(call, client, renewed, signed_in, resource=resource, scopes=scopes, first=False, extra=extra)
    )


async def _session_of(call: Call, client: ClientRow, grant: GrantRow) -> SignedInCustomer:
    """The session of a grant. Raises OAuthError if it has ended, the customer is banned, or the sign-in does not meet
    the present requirements."""
    signed_in = await store.signed_in_customer(
        call.db, project_id=call.project_id, session_id=grant.session_id, now=call.now
    )
    if signed_in is None or signed_in.test != client.is_test or not await meets_requirements(call, signed_in):
        raise OAuthError("invalid_grant", "The session of the customer has ended.")
    return signed_in


async def _pushed_response(call: Call, client: ClientRow, form: dict[str, str]) -> HttpResponse:
    if "request_uri" in form:
        raise OAuthError("invalid_request", "A pushed request cannot have a request_uri.")
    # The stored request does not have the credential of the client.
    parameters = {name: value for name, value in form.items() if name not in ("client_id", "client_secret")}
    checked = await checked_request(call, client, parameters, redirect_target(client, parameters))
    token, _ = await challenges.issue_token(call.db, call, PushedRequest(request=checked), PUSHED_LIFE)
    response = {"request_uri": f"{PUSHED_PREFIX}{token}", "expires_in": int(PUSHED_LIFE.total_seconds())}
    return json_response(response, status=201)


# Revocation and introspection.


async def _revocation_response(call: Call, client: ClientRow, form: dict[str, str]) -> HttpResponse:
    token = form.get("token")
    if token is None:
        raise OAuthError("invalid_request", "The parameter token is missing.")
    parts = read_refresh_token(call.world.secrets, call.project_id, token)
    grant_id = None if parts is None else parts.grant_id
    if parts is None:
        access = await read_access_token(call, token)
        if access is not None and access.client_id == client.id and access.grant_id is None:
            raise OAuthError("unsupported_token_type", "Access tokens of client_credentials cannot be revoked.")
        grant_id = None if access is None else access.grant_id
    grant = None if grant_id is None else await store.grant(call.db, project_id=call.project_id, id=grant_id)
    if grant is not None and grant.client_id == client.id:
        await store.revoke_grant(call.db, project_id=call.project_id, id=grant.id, now=call.now)
    return json_response({})


async def _introspection_response(call: Call, client: ClientRow, form: dict[str, str]) -> HttpResponse:
    if client.type == "PUBLIC":
        raise OAuthError("invalid_client", "Only a client with a secret can introspect tokens.", 401)
    token = form.get("token")
    if token is None:
        raise OAuthError("invalid_request", "The parameter token is missing.")
    parts = read_refresh_token(call.world.secrets, call.project_id, token)
    if parts is not None:
        grant = await store.grant(call.db, project_id=call.project_id, id=parts.grant_id)
        if grant is None or grant.client_id != client.id or grant.generation != parts.generation:
            return json_response({"active": False})
        signed_in = await _live_session(call, client, grant)
        if signed_in is None:
            return json_response({"active": False})
        return json_response(
            {
                "active": True,
                "scope": " ".join(grant.scopes),
                "client_id": client.client_id,
                "sub": str(grant.customer_id),
                "exp": int(signed_in.session_expires_at.timestamp()),
            }
        )
    access = await read_access_token(call, token)
    if access is None or access.test != client.is_test or not _may_introspect(client, access):
        return json_response({"active": False})
    if access.grant_id is None:
        if await store.client(call.db, project_id=call.project_id, id=access.client_id) is None:
            return json_response({"active": False})
    elif await _customer_of(call, access) is None:
        return json_response({"active": False})
    return json_response({"active": True, "token_type": "Bearer", **access.claims})


def _may_introspect(client: ClientRow, access: AccessTokenClaims) -> bool:
    """Whether a client gets the state of an access token: its own, one for the API that it belongs to, or, for a client
    of the project, one that is for no API in particular."""
    if access.client_id == client.id:
        return True
    if access.resource is not None:
        return access.resource.introspection_client_id == client.id
    return client.first_party


async def _live_session(call: Call, client: ClientRow, grant: GrantRow) -> SignedInCustomer | None:
    """The session of a grant that was not revoked; None if it has ended."""
    if grant.revoked_at is not None:
        return None
    try:
        return await _session_of(call, client, grant)
    except OAuthError:
        return None


async def _customer_of(call: Call, access: AccessTokenClaims) -> SignedInCustomer | None:
    """The customer of an access token; None if its grant was revoked, its client deleted, its session has ended, or the
    sign-in does not meet the present requirements. Raises ProjectMissing."""
    if access.grant_id is None:
        return None
    grant = await store.grant(call.db, project_id=call.project_id, id=access.grant_id)
    if grant is None or grant.revoked_at is not None or grant.client_id != access.client_id:
        return None
    signed_in = await store.signed_in_customer(
        call.db, project_id=call.project_id, session_id=grant.session_id, now=call.now
    )
    if signed_in is None or signed_in.test != access.test or not await meets_requirements(call, signed_in):
        return None
    return signed_in


# Userinfo.


async def _userinfo_response(call: Call, request: RawRequest) -> HttpResponse:
    try:
        token = read_bearer(request.headers)
    except CredentialInvalid:
        token = ""
    if token is None and request.method == "POST":
        try:
            token = (await _read_fields(request)).get("access_token")
        except OAuthError:
            token = ""
    if token is None:
        # RFC 6750 §3.1: without a token, the challenge has no error code. The body says what is missing all the same.
        error = OAuthError("invalid_token", "Send an access token in the Authorization header.", 401)
        challenge = f'Bearer realm="{REALM}"'
        return json_response(error.parameters(), status=401, headers={"WWW-Authenticate": challenge})
    access = await read_access_token(call, token)
    # A token for an API is for that API only: it must not open the customer's data to whoever runs it.
    signed_in = None if access is None or access.resource is not None else await _customer_of(call, access)
    if access is None or signed_in is None:
        return _bearer_error(OAuthError("invalid_token", "The access token is invalid or has expired.", 401))
    if "openid" not in access.scopes:
        return _bearer_error(OAuthError("insufficient_scope", "The access token needs the scope openid.", 403))
    return json_response({"sub": access.subject, **customer_claims(signed_in, access.scopes)})


def _bearer_error(error: OAuthError) -> HttpResponse:
    """The response of a resource to a token that is not sufficient (RFC 6750 §3)."""
    challenge = f'Bearer realm="{REALM}", error="{error.error}", error_description="{error.description}"'
    return json_response(error.parameters(), status=error.status, headers={"WWW-Authenticate": challenge})
