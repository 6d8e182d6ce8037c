"""The endpoints that clients call: token (RFC 6749 §3.2), userinfo (OpenID Connect Core §5.3), revocation (RFC 7009)
and introspection (RFC 7662)."""

import hmac
import re
from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import timedelta
from functools import partial
from typing import Any, Literal
from urllib.parse import parse_qsl
from uuid import UUID

from postern.identity.customers.signing_keys import is_published_key
from postern.identity.oauth import device_store, store
from postern.identity.oauth.authorization import PARAMETERS, checked_request, code_hash
from postern.identity.oauth.browsers import renew_session
from postern.identity.oauth.client_authentication import CLIENT_FIELDS, authenticated_client
from postern.identity.oauth.dpop import dpop_challenge, has_proof, invalid_proof, nonce_headers, proven_key
from postern.identity.oauth.errors import CLIENT_ERRORS, TOKEN_ERRORS, OAuthError, error_response, json_response
from postern.identity.oauth.model import (
    DEVICE_GRANT,
    GRANT_RETENTION,
    PUSHED_LIFE,
    REQUEST_LIFE,
    ClientRow,
    ClientWithSettings,
    GrantRow,
    ResourceRow,
    SignedInCustomer,
)
from postern.identity.oauth.requests import PUSHED_PREFIX, PushedRequest, redirect_target, require_single
from postern.identity.oauth.resources import granted_resource, requested_resource
from postern.identity.oauth.rules import client_algorithms, permission_scopes, split_scope, usable_scopes
from postern.identity.oauth.tokens import (
    AccessTokenClaims,
    customer_claims,
    customer_of_token,
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
from postern.kernel.limits import RateLimit, TooManyRequests
from postern.kernel.values import Moment, as_id
from postern.protocols.oidc.authorization import matches_challenge
from postern.security import challenges
from postern.security.sessions import REFRESH_GRACE

INTROSPECTION_WINDOW = timedelta(seconds=1)
"""The time in which a client may introspect as many tokens as an API key may send requests: an API introspects a token
for each of its own requests."""
BODY_LIMIT = 32_768
FIELD_LIMIT = 50
REALM = "oauth"
GRANT_TYPES = frozenset(("authorization_code", "refresh_token", "client_credentials", DEVICE_GRANT))
VERIFIER = re.compile(r"[A-Za-z0-9._~-]{43,128}")
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
    form (`client_secret_post`), or with its key (`private_key_jwt`); a PUBLIC client sends only `client_id`. A code
    works once, within 60 seconds, with the code verifier; if it is used again, the tokens that were issued for it are
    revoked. A refresh token works once: within 30 seconds it returns the same next one again, later its use revokes all
    tokens of the sign-in. With a proof in the header `DPoP` (RFC 9449), the access token is bound to the client's key,
    and so is the refresh token of a PUBLIC client. The proof needs the nonce of the header `DPoP-Nonce`, which each
    response to a proof has; without one, the error is `use_dpop_nonce`. Errors are those of RFC 6749 §5.2.
    """
    return await serve_client(call, request, partial(_token_response, request=request))


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
    return await serve_client(call, request, partial(_pushed_response, request=request))


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
    read at every request. An API may ask as often as with an API key: the limit is that of the project.
    """
    rate = RateLimit("oauth-introspection", call.world.settings.project_rate, INTROSPECTION_WINDOW)
    return await serve_client(call, request, _introspection_response, rate)


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

    Send the access token as `Authorization: Bearer …`; one that is bound to a key as `Authorization: DPoP …`, with a
    proof in the header `DPoP` (RFC 9449 §7.1). It needs the scope `openid`.
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


Scheme = Literal["Bearer", "DPoP"]
"""How an access token is sent."""
Respond = Callable[[Call, ClientWithSettings, dict[str, str]], Awaitable[HttpResponse]]


async def serve_client(
    call: Call, request: RawRequest, respond: Respond, rate: RateLimit | None = None
) -> HttpResponse:
    """Authenticate the client, and return the response of `respond` to the fields of the form, or the error. `rate`
    limits the requests of one client from one network to one process; default CLIENT_RATE."""
    basic = request.headers.get("authorization") is not None
    try:
        form = await _read_fields(request)
        client = await authenticated_client(call, request, form, rate)
        response = await respond(call, client, form)
    except OAuthError as error:
        response = error_response(error, realm=REALM, basic=basic)
    return _with_nonce(call, request, response)


def _with_nonce(call: Call, request: RawRequest, response: HttpResponse) -> HttpResponse:
    """The response with a nonce for the next proof, if the request has a proof."""
    if not has_proof(request):
        return response
    return replace(response, headers={**(response.headers or {}), **nonce_headers(call)})


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


# The token endpoint.


async def _token_response(call: Call, client: ClientRow, form: dict[str, str], *, request: RawRequest) -> HttpResponse:
    grant_type = form.get("grant_type")
    if grant_type is None:
        raise OAuthError("invalid_request", "The parameter grant_type is missing.")
    if grant_type not in GRANT_TYPES:
        raise OAuthError("unsupported_grant_type", "This grant_type is not supported.")
    if grant_type not in client.grant_types:
        raise OAuthError("unauthorized_client", "The client is not registered for this grant_type.")
    jkt = await proven_key(call, request, client_algorithms(client))
    if jkt is None and client.require_dpop:
        raise invalid_proof("This client gets only tokens that are bound to its key: send a DPoP proof.")
    if grant_type == "client_credentials":
        resource = await requested_resource(call, client, form)
        scopes = _scopes_of_client(client, resource, form)
        return json_response(await issue_client_token(call, client, resource, scopes, jkt=jkt))
    if grant_type == "refresh_token":
        return await _refresh(call, client, form, jkt)
    if grant_type == DEVICE_GRANT:
        return await _exchange_device_code(call, client, form, jkt)
    return await _exchange_code(call, client, form, jkt)


def _scopes_of_client(client: ClientRow, resource: ResourceRow | None, form: dict[str, str]) -> list[str]:
    """The scopes of an access token of the client itself: permissions only, because there is no customer."""
    own = usable_scopes(resource, permission_scopes(client.scopes))
    if "scope" not in form:
        return own
    requested = split_scope(form["scope"])
    if not set(requested) <= set(own):
        raise OAuthError("invalid_scope", "The client is not registered for one of the scopes.")
    return requested


async def _exchange_code(call: Call, client: ClientRow, form: dict[str, str], jkt: str | None) -> HttpResponse:
    """Exchange an authorization code (RFC 6749 §4.1.3, RFC 7636 §4.6, RFC 9449 §10). `jkt` is the key that the client
    has proven."""
    for name in ("code", "redirect_uri"):
        if name not in form:
            raise OAuthError("invalid_request", f"The parameter {name} is missing.")
    refused = OAuthError("invalid_grant", "The code is invalid, has expired, was used, or belongs to another request.")
    grant = await _grant_of_code(call, form["code"])
    if grant is None or grant.client_id != client.id:
        raise refused
    if grant.code_used_at is not None:
        await store.revoke_grant(call.db, project_id=call.project_id, id=grant.id, now=call.now)
        raise refused
    verifier = form.get("code_verifier", "")
    if not VERIFIER.fullmatch(verifier) or not matches_challenge(verifier, grant.code_challenge):
        raise refused
    if form["redirect_uri"] != grant.redirect_uri or grant.dpop_jkt not in (None, jkt):
        raise refused
    return await _use_code(call, client, grant, form, jkt, refused)


async def _use_code(
    call: Call, client: ClientRow, grant: GrantRow, form: dict[str, str], jkt: str | None, refused: OAuthError
) -> HttpResponse:
    """The tokens of a grant whose code was checked. Raises `refused` if another request has used the code."""
    resource = await granted_resource(call, client, grant, form)
    signed_in = await _session_of(call, client, grant)
    extra = await hook_claims(call, client, grant, signed_in, grant.scopes)
    refreshable = "offline_access" in grant.scopes and "refresh_token" in client.grant_types
    used = await store.use_code(
        call.db,
        project_id=call.project_id,
        id=grant.id,
        generation=1 if refreshable else 0,
        # The refresh tokens of other clients are bound to their secret.
        dpop_jkt=jkt if client.type == "PUBLIC" else None,
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
            call, client, used, signed_in, resource=resource, scopes=used.scopes, jkt=jkt, first=True, extra=extra
        )
    )


async def _exchange_device_code(call: Call, client: ClientRow, form: dict[str, str], jkt: str | None) -> HttpResponse:
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
    return await _use_code(call, client, grant, form, jkt, expired)


async def _grant_of_code(call: Call, code: str) -> GrantRow | None:
    grant = await store.grant(call.db, project_id=call.project_id, id=_id_of_code(code))
    return grant if grant is not None and hmac.compare_digest(grant.code_hash, code_hash(call, code)) else None


def _id_of_code(code: str) -> UUID:
    """The id of the grant or device of a code; NO_ID if it is malformed."""
    return as_id(f"{code[:8]}-{code[8:12]}-{code[12:16]}-{code[16:20]}-{code[20:32]}")


async def _refresh(call: Call, client: ClientRow, form: dict[str, str], jkt: str | None) -> HttpResponse:
    """Exchange a refresh token for the next one (RFC 6749 §6, RFC 9700 §4.14.2). `jkt` is the key that the client has
    proven."""
    if "refresh_token" not in form:
        raise OAuthError("invalid_request", "The parameter refresh_token is missing.")
    refused = OAuthError("invalid_grant", "The refresh token is invalid, has expired, was used, or was revoked.")
    parts = read_refresh_token(call.world.secrets, call.project_id, form["refresh_token"])
    grant = None if parts is None else await store.grant(call.db, project_id=call.project_id, id=parts.grant_id)
    if parts is None or grant is None or grant.client_id != client.id or grant.revoked_at is not None:
        raise refused
    if grant.dpop_jkt not in (None, jkt):
        raise refused  # Not revoked: whoever has copied the token could end the sign-in without the key.
    scopes = split_scope(form["scope"]) if "scope" in form else grant.scopes
    if not set(scopes) <= set(grant.scopes):
        raise OAuthError("invalid_scope", "The scope has more than the customer has allowed.")
    resource = await granted_resource(call, client, grant, form)
    signed_in = await _session_of(call, client, grant)
    extra = await hook_claims(call, client, grant, signed_in, scopes)
    if client.is_fapi:
        # FAPI 2.0 §5.3.2.1 does not rotate: both the client's key and its access tokens are bound to keys.
        if parts.generation != grant.generation:
            raise refused
        await renew_session(call.db, call, grant.session_id, signed_in.customer_id)
        tokens = await issue_tokens(
            call, client, grant, signed_in, resource=resource, scopes=scopes, jkt=jkt, first=False, extra=extra
        )
        return json_response(tokens)
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
        await issue_tokens(
            call, client, renewed, signed_in, resource=resource, scopes=scopes, jkt=jkt, first=False, extra=extra
        )
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


async def _pushed_response(call: Call, client: ClientRow, form: dict[str, str], *, request: RawRequest) -> HttpResponse:
    if "request_uri" in form:
        raise OAuthError("invalid_request", "A pushed request cannot have a request_uri.")
    # The stored request does not have the credential of the client.
    parameters = {name: value for name, value in form.items() if name not in CLIENT_FIELDS}
    jkt = await proven_key(call, request, client_algorithms(client))
    if jkt is not None and parameters.setdefault("dpop_jkt", jkt) != jkt:
        raise invalid_proof("The dpop_jkt is not that of the key of the DPoP proof.")
    checked = await checked_request(call, client, parameters, redirect_target(client, parameters))
    pushed = PushedRequest(request=checked, opened_before=(call.now + PUSHED_LIFE).timestamp())
    token, _ = await challenges.issue_token(call.db, call, pushed, PUSHED_LIFE + REQUEST_LIFE)
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
        if access is not None and not await is_published_key(call.db, call.project_id, access.key_id, call.now):
            access = None
        if access is not None and access.client_id == client.id and access.grant_id is None:
            raise OAuthError("unsupported_token_type", "Access tokens of client_credentials cannot be revoked.")
        grant_id = None if access is None else access.grant_id
    grant = None if grant_id is None else await store.grant(call.db, project_id=call.project_id, id=grant_id)
    if grant is not None and grant.client_id == client.id:
        await store.revoke_grant(call.db, project_id=call.project_id, id=grant.id, now=call.now)
    return json_response({})


async def _introspection_response(call: Call, client: ClientWithSettings, form: dict[str, str]) -> HttpResponse:
    if client.type == "PUBLIC":
        raise OAuthError("invalid_client", "A PUBLIC client cannot introspect tokens.", 401)
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
    if access.grant_id is not None:
        active = await customer_of_token(call, access, client.project_settings) is not None
    elif access.client_id == client.id or await store.client(call.db, project_id=call.project_id, id=access.client_id):
        active = await is_published_key(call.db, call.project_id, access.key_id, call.now)
    else:
        active = False
    if not active:
        return json_response({"active": False})
    token_type = "Bearer" if access.jkt is None else "DPoP"
    return json_response({"active": True, "token_type": token_type, **access.claims})


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


# Userinfo.


async def _userinfo_response(call: Call, request: RawRequest) -> HttpResponse:
    return _with_nonce(call, request, await _userinfo(call, request))


async def _userinfo(call: Call, request: RawRequest) -> HttpResponse:
    scheme, token = await _sent_token(request)
    if token is None:
        # RFC 6750 §3.1: without a token, the challenge has no error code. The body says what is missing all the same.
        error = OAuthError("invalid_token", "Send an access token in the Authorization header.", 401)
        challenge = f'Bearer realm="{REALM}", {dpop_challenge()}'
        return json_response(error.parameters(), status=401, headers={"WWW-Authenticate": challenge})
    access = await read_access_token(call, token)
    # A token for an API is for that API only: it must not open the customer's data to whoever runs it.
    signed_in = None if access is None or access.resource is not None else await customer_of_token(call, access)
    if access is None or signed_in is None:
        return _resource_error(OAuthError("invalid_token", "The access token is invalid or has expired.", 401), scheme)
    try:
        await _check_possession(call, request, scheme, token, access)
    except OAuthError as error:
        return _resource_error(error, "DPoP", nonce=nonce_headers(call))
    if "openid" not in access.scopes:
        return _resource_error(
            OAuthError("insufficient_scope", "The access token needs the scope openid.", 403), scheme
        )
    return json_response({"sub": access.subject, **customer_claims(signed_in, access.scopes)})


async def _sent_token(request: RawRequest) -> tuple[Scheme, str | None]:
    """The access token of a request to the userinfo endpoint, and how it was sent; None without a token, "" if it is
    malformed."""
    header = request.headers.get("authorization")
    kind, _, rest = (header or "").partition(" ")
    scheme: Scheme = "DPoP" if kind.lower() == "dpop" else "Bearer"
    try:
        # The syntax of the token is that of Bearer (RFC 9449 §7.1).
        token = read_bearer(request.headers if scheme == "Bearer" else {"authorization": f"Bearer {rest}"})
    except CredentialInvalid:
        return scheme, ""
    if token is None and request.method == "POST":
        try:
            token = (await _read_fields(request)).get("access_token")
        except OAuthError:
            token = ""
    return scheme, token


async def _check_possession(
    call: Call, request: RawRequest, scheme: Scheme, token: str, access: AccessTokenClaims
) -> None:
    """Raises OAuthError unless the client has proven the key to which the access token is bound (RFC 9449 §7.1). A
    bound token is refused as a Bearer token, so that nobody can use a copy, and others are refused with DPoP."""
    if access.jkt is None and scheme == "Bearer":
        return
    if access.jkt is None:
        raise OAuthError("invalid_token", "The access token is not bound to a key: send it as Bearer.", 401)
    if scheme != "DPoP":
        raise OAuthError("invalid_token", "The access token is bound to a key: send it as DPoP, with a proof.", 401)
    client = await store.client(call.db, project_id=call.project_id, id=access.client_id)
    try:
        jkt = await proven_key(call, request, client_algorithms(client), access_token=token)
    except OAuthError as error:
        raise OAuthError(error.error, error.description, 401) from None
    if jkt is None:
        raise OAuthError("invalid_dpop_proof", "Send a DPoP proof with the access token.", 401)
    if jkt != access.jkt:
        raise OAuthError("invalid_token", "The access token is bound to another key.", 401)


def _resource_error(error: OAuthError, scheme: Scheme, *, nonce: dict[str, str] | None = None) -> HttpResponse:
    """The response of a resource to a token that is not sufficient (RFC 6750 §3, RFC 9449 §7.1)."""
    challenge = f'Bearer realm="{REALM}", error="{error.error}", error_description="{error.description}"'
    headers = {"WWW-Authenticate": challenge if scheme == "Bearer" else dpop_challenge(error), **(nonce or {})}
    return json_response(error.parameters(), status=error.status, headers=headers)
