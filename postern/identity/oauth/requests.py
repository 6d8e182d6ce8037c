"""Authorization requests: their parameters, and how they are checked (RFC 6749 §4.1.1, OpenID Connect Core §3.1.2)."""

import re
from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

import msgspec

from postern.identity.oauth.errors import OAuthError
from postern.identity.oauth.model import STANDARD_SCOPES, ClientRow, ResourceRow
from postern.identity.oauth.rules import matching_redirect_uri, split_scope, usable_scopes
from postern.security.challenges import Payload

PARAMETER_LIMIT = 2_000
"""Longest value of a parameter, in characters; `id_token_hint` may be longer."""
HINT_LIMIT = 8_192
LOCALES_LIMIT = 256
"""A longer `ui_locales` is cut off, in characters."""
MAX_AGE_LIMIT = 31_536_000
"""A larger `max_age`, in seconds, is treated as this one: no session lives for a year."""
ACR_VALUES_LIMIT = 10
"""Further requested values of `acr` are ignored."""
PUSHED_PREFIX = "urn:ietf:params:oauth:request_uri:"
"""The beginning of the `request_uri` of pushed requests (RFC 9126 §2.2)."""
PROMPTS = frozenset(("none", "login", "consent", "select_account", "create"))
SIGN_IN_PROMPTS = frozenset(("login", "select_account", "create"))
"""Values of `prompt` that need a new sign-in. A browser has one account at a time, so another one is selected by
signing in."""
CHALLENGE = re.compile(r"[A-Za-z0-9_-]{43}")
"""A SHA-256 hash in base64url: a code challenge, or the thumbprint of a key."""
SINGLE_PARAMETERS = frozenset(
    (
        *(
            "client_id",
            "redirect_uri",
            "response_type",
            "response_mode",
            "scope",
            "state",
            "nonce",
            "prompt",
            "max_age",
        ),
        *("code_challenge", "code_challenge_method", "login_hint", "id_token_hint", "request", "request_uri"),
        *("registration", "display", "ui_locales", "acr_values", "claims", "resource", "dpop_jkt"),
    )
)


class AuthorizationRequest(Payload, tag="OAUTH_REQUEST"):
    """A checked authorization request; stored while the customer signs in or is asked for consent."""

    client_id: UUID
    redirect_uri: str
    form_post: bool
    """Whether the response is posted as a form instead of being in the query (`response_mode`)."""
    scopes: list[str]
    """The requested scopes that the client may get."""
    state: str | None
    nonce: str | None
    code_challenge: str
    prompts: list[str]
    max_age: int | None
    """Maximum age of the authentication, in seconds."""
    login_hint: str
    hint_subject: str | None
    """The customer of `id_token_hint`, who must be the one that is signed in."""
    requested_at: float
    """Unix time in seconds."""
    browser: str
    """The value of the cookie that binds the request to the browser; "" before it is stored."""
    device_id: UUID | None = None
    """The device that shall be signed in, instead of the browser's client (RFC 8628)."""
    user_code: str = ""
    """The code that the device shows."""
    ui_locales: str = ""
    """The preferred languages, as sent."""
    resource: str | None = None
    """The identifier of the API for which tokens are issued; None for the provider itself."""
    dpop_jkt: str | None = None
    """The thumbprint of the key to which the code is bound (RFC 9449 §10)."""
    acr_values: list[str] = []
    """The requested values of `acr`, the preferred one first; empty if any will do."""
    acr_essential: bool = False
    """Whether the request fails if none of `acr_values` can be met (OpenID Connect Core §5.5.1.1)."""
    pushed_id: UUID | None = None
    """The id of the pushed request that was opened; it is used up when the code is issued."""


class RequestedLevel(msgspec.Struct, frozen=True):
    """How `claims` asks for `acr` (OpenID Connect Core §5.5.1)."""

    essential: bool = False
    value: str | None = None
    values: list[str] | None = None

    @property
    def accepted(self) -> list[str]:
        """The values that the client accepts; empty for any."""
        return [*([] if self.value is None else [self.value]), *(self.values or [])]


class RequestedIdTokenClaims(msgspec.Struct, frozen=True):
    """What `claims` asks for in the ID token; only `acr` has an effect."""

    acr: RequestedLevel | None = None


class RequestedClaims(msgspec.Struct, frozen=True):
    """The parameter `claims` (OpenID Connect Core §5.5)."""

    id_token: RequestedIdTokenClaims | None = None


class PushedRequest(Payload, tag="OAUTH_PUSHED"):
    """An authorization request that a client has pushed, until a browser opens it (RFC 9126)."""

    request: AuthorizationRequest
    opened_before: float | None = None
    """Until when a browser can open it, as a Unix time; then the customer has time to sign in. None for those of the
    previous release."""


class RedirectTarget(msgspec.Struct, frozen=True):
    """Where errors of an authorization request go, once client and redirect URI are known to be right."""

    redirect_uri: str
    form_post: bool
    state: str | None


def require_single(parameters: Sequence[tuple[str, str]]) -> dict[str, str]:
    """The parameters as a dictionary; empty values are omitted, as if they had not been sent (RFC 6749 §3.1).

    Raises OAuthError if a parameter of OAuth is repeated.
    """
    values: dict[str, str] = {}
    for name, value in parameters:
        if name in values and name == "resource":
            raise OAuthError("invalid_target", "An authorization is for one resource; ask for each one in turn.")
        if name in values and name in SINGLE_PARAMETERS:
            raise OAuthError("invalid_request", f"The parameter {name} is repeated.")
        values.setdefault(name, value)
    return {name: value for name, value in values.items() if value}


def redirect_target(client: ClientRow, parameters: Mapping[str, str]) -> RedirectTarget:
    """Where to send the response. Raises OAuthError, which must be shown and not redirected, unless the redirect URI is
    registered (RFC 6749 §3.1.2.4)."""
    uri = parameters.get("redirect_uri")
    if uri is None:
        raise OAuthError("invalid_request", "The parameter redirect_uri is missing.")
    if not matching_redirect_uri(client, uri):
        raise OAuthError("invalid_request", "The redirect_uri is not registered for this client.")
    state = parameters.get("state")
    return RedirectTarget(
        redirect_uri=uri,
        form_post=parameters.get("response_mode") == "form_post",
        state=state if state is not None and len(state) <= PARAMETER_LIMIT else None,
    )


def check_lengths(parameters: Mapping[str, str]) -> None:
    """Raises OAuthError if a parameter is too long or contains a NUL character."""
    for name, value in parameters.items():
        if len(value) > (HINT_LIMIT if name == "id_token_hint" else PARAMETER_LIMIT):
            raise OAuthError("invalid_request", f"The parameter {name} is too long.")
        if "\0" in value:
            raise OAuthError("invalid_request", f"The parameter {name} contains a NUL character.")


def read_request(
    client: ClientRow,
    parameters: Mapping[str, str],
    target: RedirectTarget,
    now: float,
    *,
    hint: dict[str, Any] | None,
    resource: ResourceRow | None,
) -> AuthorizationRequest:
    """Check an authorization request of a client, whose parameters are not too long. `hint` has the claims of
    `id_token_hint`; None if it is invalid. `resource` is that of the parameter of this name.

    Raises OAuthError, which is redirected to the client. Parameters that are unknown, or only wishes (`display`, and
    `claims` except for `acr`), are ignored.
    """
    # A `request_uri` of a pushed request replaces all other parameters, and does not get here.
    for name, error in (
        ("request", "request_not_supported"),
        ("request_uri", "request_uri_not_supported"),
        ("registration", "registration_not_supported"),
    ):
        if name in parameters:
            raise OAuthError(error, f"The parameter {name} is not supported.")
    _check_response(client, parameters)
    prompts = split_scope(parameters.get("prompt", ""))
    if not PROMPTS.issuperset(prompts):
        raise OAuthError("invalid_request", "The parameter prompt has an unknown value.")
    if "none" in prompts and len(prompts) > 1:
        raise OAuthError("invalid_request", "prompt=none cannot be combined with other values.")
    if "id_token_hint" in parameters and hint is None:
        raise OAuthError("invalid_request", "The id_token_hint is not an ID token of this provider.")
    acr_values, acr_essential = _requested_levels(parameters)
    return AuthorizationRequest(
        client_id=client.id,
        redirect_uri=target.redirect_uri,
        form_post=target.form_post,
        scopes=allowed_scopes(client, parameters.get("scope", ""), resource),
        state=target.state,
        nonce=parameters.get("nonce"),
        code_challenge=parameters["code_challenge"],
        prompts=prompts,
        max_age=_max_age(parameters.get("max_age")),
        login_hint=parameters.get("login_hint", ""),
        hint_subject=None if hint is None else hint["sub"],
        requested_at=now,
        browser="",
        ui_locales=parameters.get("ui_locales", "")[:LOCALES_LIMIT],
        resource=None if resource is None else resource.identifier,
        dpop_jkt=parameters.get("dpop_jkt"),
        acr_values=acr_values,
        acr_essential=acr_essential,
    )


def _check_response(client: ClientRow, parameters: Mapping[str, str]) -> None:
    """Raises OAuthError unless the request asks for a code, with PKCE, in a way that is supported."""
    response_type = parameters.get("response_type")
    if response_type is None:
        raise OAuthError("invalid_request", "The parameter response_type is missing.")
    if response_type != "code":
        raise OAuthError("unsupported_response_type", "The response_type must be code.")
    if "authorization_code" not in client.grant_types:
        raise OAuthError("unauthorized_client", "The client is not registered for authorization_code.")
    if parameters.get("response_mode", "query") not in ("query", "form_post"):
        raise OAuthError("invalid_request", "The response_mode must be query or form_post.")
    challenge = parameters.get("code_challenge")
    if challenge is None:
        raise OAuthError("invalid_request", "The parameter code_challenge is missing: PKCE is required.")
    if parameters.get("code_challenge_method", "plain") != "S256":
        raise OAuthError("invalid_request", "The code_challenge_method must be S256.")
    if not CHALLENGE.fullmatch(challenge):
        raise OAuthError("invalid_request", "The code_challenge must have 43 characters of base64url.")
    if not CHALLENGE.fullmatch(parameters.get("dpop_jkt", challenge)):
        raise OAuthError("invalid_request", "The dpop_jkt must have 43 characters of base64url.")


def allowed_scopes(client: ClientRow, scope: str, resource: ResourceRow | None) -> list[str]:
    """The scopes among the requested ones that the client may get, at the API if there is one; others are ignored
    (OpenID Connect Core §3.1.2.1). A request for an API without scopes gets all that the client may get there. A client
    that has registered itself gets permissions at an API only: its other tokens would be accepted by all the APIs that
    check nothing but the issuer.

    Raises OAuthError if none is left.
    """
    requested = split_scope(scope)
    if not requested and resource is None:
        raise OAuthError("invalid_scope", "The parameter scope is missing.")
    may_refresh = "refresh_token" in client.grant_types
    allowed = [
        name
        for name in requested or ([] if resource is None else [*resource.scopes, "offline_access"])
        if name in client.scopes and (name != "offline_access" or may_refresh)
    ]
    allowed = usable_scopes(resource, allowed)
    if client.self_registered and resource is None:
        allowed = [name for name in allowed if name in STANDARD_SCOPES]
    if requested and not allowed:
        raise OAuthError("invalid_scope", "The client is not registered for any of the scopes.")
    return allowed


def _requested_levels(parameters: Mapping[str, str]) -> tuple[list[str], bool]:
    """The requested values of `acr`, and whether one of them is essential. Those of `claims` for the ID token replace
    `acr_values`, if there are any: who sends both wants the more specific one.

    Raises OAuthError if `claims` is no JSON object, or asks for `acr` in a way that cannot be understood, or with a NUL
    character.
    """
    acr_values = split_scope(parameters.get("acr_values", ""))
    if "claims" in parameters:
        try:
            claims = msgspec.json.decode(parameters["claims"], type=RequestedClaims)
        except (msgspec.DecodeError, RecursionError):
            raise OAuthError("invalid_request", "The parameter claims must be a JSON object of claims.") from None
        requested = None if claims.id_token is None else claims.id_token.acr
        if requested is not None and requested.accepted:
            # `check_lengths` has seen the JSON, where it may be escaped; the database cannot store it.
            if any("\0" in value for value in requested.accepted):
                raise OAuthError("invalid_request", "The parameter claims contains a NUL character.")
            return requested.accepted[:ACR_VALUES_LIMIT], requested.essential
    return acr_values[:ACR_VALUES_LIMIT], False


def _max_age(text: str | None) -> int | None:
    if text is None:
        return None
    if not (text.isascii() and text.isdigit()):
        raise OAuthError("invalid_request", "The parameter max_age must be a number of seconds.")
    return min(int(text[:10]), MAX_AGE_LIMIT)
