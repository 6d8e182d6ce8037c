"""Public OpenID Connect endpoints of a connection, for browsers and OpenID providers.

    login → OpenID provider → callback → the app's `redirectUrl` with a code → `auth/token` → session

The sign-on itself is that of SAML connections (`login.py`), and the client of the provider is that of the project's
sign-in providers (`customers/oidc.py`). The request is a row of `sso_requests`: its message id is the `state`, from
which the code verifier and the nonce are derived.
"""

import base64
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from typing import Any, NoReturn
from uuid import UUID

from msgspec.structs import replace

from postern.identity.customers import oidc
from postern.identity.customers.model import Url
from postern.identity.customers.oidc import ProviderTrouble
from postern.identity.customers.providers import CodeChallenge, OpaqueParameter
from postern.identity.sso import pages, rules, store
from postern.identity.sso.endpoints import (
    HTML,
    PublicConnection,
    SsoTestInvalid,
    SsoUnavailable,
    TestTicket,
    begin_request,
    finish_sign_on,
    open_requests_of,
    public_connection,
    record_trace,
    refusal_page,
    with_query,
)
from postern.identity.sso.logged_out_sessions import end_sessions, logout_row
from postern.identity.sso.model import (
    DEFAULT_SCOPES,
    REQUEST_LIFE,
    ConnectionRow,
    OidcRefusal,
    RequestRow,
    SignOnRow,
    SsoConnectionMissing,
)
from postern.identity.sso.oidc_secrets import client_secret_of, open_logout_hint, seal_logout_hint
from postern.identity.sso.service_provider import oidc_urls_of
from postern.kernel.http.call import Call
from postern.kernel.http.operation import FORM, RawRequest, get, post
from postern.kernel.http.problems import BadRequest
from postern.kernel.http.responses import HttpResponse
from postern.protocols.oidc.authorization import authorization_url, code_challenge
from postern.protocols.oidc.id_token import (
    CHECKS,
    LOGOUT_TOKEN_CLAIMS,
    MAX_TOKEN_CHARS,
    SKEW,
    TENANT_PLACEHOLDER,
    TokenRefused,
    read_header,
)
from postern.protocols.saml.trace import SsoTraceStep
from postern.security.secrets import new_token
from postern.web.languages import text
from postern.web.pages import redirect

OIDC_PATH = "/sso/oidc/{conn_id}"
LOGOUT_EVENT = "http://schemas.openid.net/event/backchannel-logout"
MAX_LOGOUT_TOKEN_LIFE = timedelta(hours=1)
"""How far in the future the expiry of a logout token may be; its id is stored until then."""
MAX_JTI_CHARS = 500


class LogoutTokenRefused(BadRequest):
    """The logout token is not valid. The connection's traces have the reason."""


class ResponseRefused(Exception):
    """The response of the OpenID provider is refused. `steps` are the checks so far, the failed one included."""

    def __init__(self, reason: OidcRefusal, detail: str, steps: list[SsoTraceStep]) -> None:
        super().__init__(detail)
        self.reason = reason
        self.detail = detail
        self.steps = steps


class Checks:
    """Records the checks of one response of an OpenID provider, in order."""

    def __init__(self) -> None:
        self.steps: list[SsoTraceStep] = []

    def passed(self, step: str, detail: str = "") -> None:
        """Record a check that passed."""
        self.steps.append(SsoTraceStep(step=step, ok=True, detail=detail[:400]))

    def refuse(self, step: str, reason: OidcRefusal, detail: str) -> NoReturn:
        """Record a check that failed, and raise ResponseRefused."""
        self.steps.append(SsoTraceStep(step=step, ok=False, detail=detail[:400]))
        raise ResponseRefused(reason, detail, self.steps)

    def refuse_token(self, refused: TokenRefused, what: str) -> NoReturn:
        """Record the checks of a token up to the one that failed, and raise ResponseRefused."""
        for check in CHECKS[: CHECKS.index(refused.check)]:
            self.passed(f"{what}: {check}")
        self.refuse(f"{what}: {refused.check}", OidcRefusal.INVALID_TOKEN, str(refused))

    def token_passed(self, claims: dict[str, Any], header: dict[str, Any], what: str) -> None:
        """Record all checks of a verified token, with what was compared."""
        details: dict[str, object] = {
            "key": header.get("kid", ""),
            "algorithm": header.get("alg"),
            "audience": claims["aud"],
            "issuer": claims["iss"],
            "times": f"issued {_utc(claims['iat'])}, expires {_utc(claims['exp'])}",
            "subject": claims.get("sub", ""),
        }
        for check in CHECKS:
            self.passed(f"{what}: {check}", str(details.get(check, "")))


@get(
    f"{OIDC_PATH}/login",
    public=True,
    ignore_unknown_query=True,
    media_types=HTML,
    problems=[SsoConnectionMissing, SsoUnavailable, SsoTestInvalid],
)
async def begin_oidc_sso(
    call: Call,
    request: RawRequest,
    conn_id: UUID,
    redirect_url: Url | None = None,
    code_challenge: CodeChallenge | None = None,
    state: OpaqueParameter = "",
    test: TestTicket | None = None,
) -> HttpResponse:
    """Start single sign-on by OpenID Connect: redirect the browser to the OpenID provider.

    The parameters and the return to the app are those of connections by SAML (`/sso/saml/{connId}/login`).
    """
    call, connection = await public_connection(call, conn_id, "OIDC")
    request_row, cookie_header = await begin_request(
        call,
        request,
        connection,
        new_token(32),
        redirect_url=redirect_url,
        code_challenge=code_challenge,
        state=state,
        test=test,
    )
    try:
        metadata = await _discover(call, connection.row, Checks())
    except ResponseRefused as refused:
        return await _refused(call, connection, request_row, refused)
    return redirect(
        authorization_url(str(metadata["authorization_endpoint"]), **_parameters(call, connection.row, request_row)),
        cookies=cookie_header,
    )


@get(
    f"{OIDC_PATH}/callback",
    public=True,
    ignore_unknown_query=True,
    media_types=HTML,
    problems=[SsoConnectionMissing],
)
async def receive_oidc_response(
    call: Call,
    request: RawRequest,
    conn_id: UUID,
    state: OpaqueParameter = "",
    code: OpaqueParameter | None = None,
    error: OpaqueParameter | None = None,
    error_description: OpaqueParameter | None = None,
    iss: OpaqueParameter | None = None,
) -> HttpResponse:
    """Receive the OpenID provider's response: the redirect URI of the connection.

    Redirects the browser to the app with a code, or with `error`. A response for another browser returns a page with
    the reason; the operation `…/traces` lists every check.
    """
    call, connection = await public_connection(call, conn_id, "OIDC")
    open_requests = await open_requests_of(call, request, conn_id)
    request_row = next((open_request for open_request in open_requests if open_request.message_id == state), None)
    checks = Checks()
    try:
        if request_row is None:
            detail = "The response belongs to no unfinished sign-on of this browser."
            checks.refuse("state", OidcRefusal.UNKNOWN_REQUEST, detail)
        checks.passed("state")
        if error is not None or code is None:
            reason = OidcRefusal.ACCESS_DENIED if error == "access_denied" else OidcRefusal.PROVIDER_ERROR
            detail = f"{error}: {error_description}" if error_description else error or "The provider sent no code."
            checks.refuse("response", reason, detail)
        tokens, claims, steps = await _verified_claims(call, connection.row, request_row, code, iss, checks)
    except ResponseRefused as refused:
        return await _refused(call, connection, request_row, refused)
    id_token = str(tokens["id_token"])
    sign_on = rules.oidc_sign_on(
        connection.row,
        claims,
        message_id=sha256(id_token.encode()).hexdigest(),
        in_response_to=request_row.message_id,
        # The nonce binds the token to a request, so its id is kept as long as the request could be answered, and not
        # until `exp`, which may be far away.
        not_on_or_after=call.now + REQUEST_LIFE,
        logout_hint=seal_logout_hint(call, conn_id, id_token),
        trace=steps,
    )
    return await finish_sign_on(call, connection.row, sign_on, request_row)


@get(
    f"{OIDC_PATH}/signed-out",
    public=True,
    ignore_unknown_query=True,
    media_types=HTML,
    problems=[SsoConnectionMissing],
)
async def receive_oidc_logout(call: Call, conn_id: UUID, state: OpaqueParameter = "") -> HttpResponse:
    """The post-logout redirect URI: redirects the browser to the app after a logout that the app started."""
    call, _ = await public_connection(call, conn_id, "OIDC")
    request_row = await store.logout_request(
        call.db, project_id=call.project_id, connection_id=conn_id, message_id=state, now=call.now
    )
    if request_row is not None:
        async with call.db.transaction() as tx:
            await store.mark_request_answered(tx, project_id=call.project_id, id=request_row.id, now=call.now)
        if request_row.redirect_url is not None:
            return redirect(request_row.redirect_url, status=303)
    return await pages.message_page(call, text("You are signed out"), text("You can close this page."))


@post(
    f"{OIDC_PATH}/backchannel-logout",
    public=True,
    ignore_unknown_query=True,
    takes=FORM,
    fields={"logout_token": "A logout token (OpenID Connect Back-Channel Logout 1.0 §2.4)."},
    body_limit=MAX_TOKEN_CHARS + 1_000,
    problems=[SsoConnectionMissing, LogoutTokenRefused],
)
async def receive_oidc_backchannel_logout(call: Call, request: RawRequest, conn_id: UUID) -> None:
    """Receive a logout token of the OpenID provider, and end the sessions that it names.

    A token that was received before has no effect.
    """
    call, connection = await public_connection(call, conn_id, "OIDC")
    form = await request.form()
    checks = Checks()
    try:
        claims = await _logout_claims(call, connection.row, form.get("logout_token"), checks)
    except ResponseRefused as refused:
        await record_trace(call, conn_id, "LOGOUT", refused.steps, reason=refused.reason, detail=refused.detail)
        raise LogoutTokenRefused(refused.detail) from None
    session_id = claims.get("sid")
    await end_sessions(
        call,
        conn_id,
        f"jti {claims['jti']}",
        name_id=claims.get("sub"),
        session_indexes=[session_id] if isinstance(session_id, str) else [],
        life=MAX_LOGOUT_TOKEN_LIFE + 2 * SKEW,
    )
    await record_trace(call, conn_id, "LOGOUT", checks.steps)


async def logout_url(call: Call, row: ConnectionRow, sign_on: SignOnRow, return_url: str | None) -> str | None:
    """The URL that ends the session at the OpenID provider (OpenID Connect RP-Initiated Logout 1.0), after which the
    browser returns to `return_url`. None if the provider supports no such logout, or cannot be reached."""
    try:
        metadata = await _discover(call, row, Checks())
    except ResponseRefused:
        return None
    endpoint = metadata.get("end_session_endpoint")
    if not isinstance(endpoint, str):
        return None
    state = new_token(32)
    request_row = logout_row(call, row.id, "LOGOUT", state, REQUEST_LIFE)
    await store.insert_request(call.db, replace(request_row, redirect_url=return_url))
    parameters = {
        "client_id": row.oidc_client_id or "",
        "post_logout_redirect_uri": oidc_urls_of(call.world, row.id).post_logout_redirect_url,
        "state": state,
    }
    if sign_on.logout_hint is not None:
        parameters["id_token_hint"] = open_logout_hint(call, row.id, sign_on.logout_hint)
    return authorization_url(endpoint, **parameters)


async def _discover(call: Call, row: ConnectionRow, checks: Checks) -> dict[str, Any]:
    """The discovery document of the connection's issuer. Raises ResponseRefused."""
    issuer = row.idp_entity_id or ""
    try:
        metadata = await oidc.discover(call.world, issuer)
        if metadata["issuer"] != issuer or TENANT_PLACEHOLDER in issuer:
            # `discover` accepts Microsoft's document for all tenants, whose accounts are not of one organization.
            raise ProviderTrouble(f"The discovery document of {issuer} names another issuer.")
    except ProviderTrouble as trouble:
        checks.refuse("discovery", OidcRefusal.PROVIDER_UNAVAILABLE, trouble.detail)
    checks.passed("discovery", issuer)
    return metadata


def _parameters(call: Call, row: ConnectionRow, request_row: RequestRow) -> dict[str, str]:
    """The parameters of the authentication request (OpenID Connect Core 1.0 §3.1.2.1)."""
    parameters = {
        "response_type": "code",
        "client_id": row.oidc_client_id or "",
        "redirect_uri": oidc_urls_of(call.world, row.id).redirect_url,
        "scope": row.options.oidc_scopes or DEFAULT_SCOPES,
        "state": request_row.message_id,
        "nonce": _derived(call, "nonce", request_row),
        "code_challenge": code_challenge(_derived(call, "verifier", request_row)),
        "code_challenge_method": "S256",
    }
    return parameters | ({"prompt": "login", "max_age": "0"} if row.options.force_authn else {})


def _derived(call: Call, name: str, request_row: RequestRow) -> str:
    """The nonce or the code verifier of a request: 43 characters that cannot be computed without the server's key."""
    digest = call.world.secrets.digest(f"sso-oidc-{name}", f"{request_row.id}|{request_row.message_id}")
    return base64.urlsafe_b64encode(digest).rstrip(b"=").decode()


async def _verified_claims(
    call: Call, row: ConnectionRow, request_row: RequestRow, code: str, iss: str | None, checks: Checks
) -> tuple[dict[str, Any], dict[str, Any], list[SsoTraceStep]]:
    """Exchange the code. Returns the tokens, the verified claims of the ID token with those of the user info, and the
    checks. Raises ResponseRefused."""
    metadata = await _discover(call, row, checks)
    try:
        oidc.check_issuer_parameter(metadata, iss)
    except TokenRefused as refused:
        checks.refuse("iss", OidcRefusal.WRONG_ISSUER, str(refused))
    checks.passed("iss", iss or "not sent")
    try:
        tokens = await oidc.redeem_at(
            call.world,
            metadata,
            code=code,
            redirect_uri=oidc_urls_of(call.world, row.id).redirect_url,
            verifier=_derived(call, "verifier", request_row),
            client_id=row.oidc_client_id or "",
            client_secret=client_secret_of(call, row),
        )
    except ProviderTrouble as trouble:
        checks.refuse("code", OidcRefusal.CODE_REFUSED, trouble.detail)
    checks.passed("code", "exchanged for an ID token")
    try:
        claims = await oidc.verify_id_token(
            call.world,
            metadata,
            tokens.get("id_token"),
            issuer=row.idp_entity_id or "",
            client_id=row.oidc_client_id or "",
            nonce=_derived(call, "nonce", request_row),
        )
    except TokenRefused as refused:
        checks.refuse_token(refused, "ID token")
    except ProviderTrouble as trouble:
        checks.refuse("ID token: key", OidcRefusal.PROVIDER_UNAVAILABLE, trouble.detail)
    checks.token_passed(claims, read_header(tokens["id_token"]), "ID token")
    if row.options.force_authn:
        authenticated_at = _moment(claims.get("auth_time"), None)
        if authenticated_at is None or authenticated_at < request_row.created_at - SKEW:
            checks.refuse("auth_time", OidcRefusal.NOT_RECENT, "The provider did not authenticate the person again.")
        checks.passed("auth_time", str(claims["auth_time"]))
    try:
        claims = await oidc.with_user_info(call.world, metadata, tokens, claims)
    except ProviderTrouble as trouble:
        checks.refuse("user info", OidcRefusal.PROVIDER_UNAVAILABLE, trouble.detail)
    return tokens, claims, checks.steps


async def _logout_claims(call: Call, row: ConnectionRow, token: object, checks: Checks) -> dict[str, Any]:
    """The claims of a verified logout token. Raises ResponseRefused."""
    try:
        header = read_header(token)  # Before the provider's keys are fetched.
        metadata = await _discover(call, row, checks)
        claims = await oidc.verify_id_token(
            call.world,
            metadata,
            token,
            issuer=row.idp_entity_id or "",
            client_id=row.oidc_client_id or "",
            nonce=None,
            required=LOGOUT_TOKEN_CLAIMS,
        )
        events = claims["events"]
        if not isinstance(events, dict) or not isinstance(events.get(LOGOUT_EVENT), dict):
            raise TokenRefused("not a logout token", "claims")
        if not isinstance(claims["jti"], str) or not 0 < len(claims["jti"]) <= MAX_JTI_CHARS or "\0" in claims["jti"]:
            raise TokenRefused("no usable id (`jti`)", "claims")
        texts = [claims[name] for name in ("sub", "sid") if name in claims]
        if not texts or not all(isinstance(text, str) and text and "\0" not in text for text in texts):
            raise TokenRefused("neither `sub` nor `sid`", "claims")
        if claims["exp"] > (call.now + MAX_LOGOUT_TOKEN_LIFE + SKEW).timestamp():
            raise TokenRefused("valid for more than an hour", "times")
    except TokenRefused as refused:
        checks.refuse_token(refused, "logout token")
    except ProviderTrouble as trouble:
        checks.refuse("logout token: key", OidcRefusal.PROVIDER_UNAVAILABLE, trouble.detail)
    checks.token_passed(claims, header, "logout token")
    return claims


async def _refused(
    call: Call, connection: PublicConnection, request_row: RequestRow | None, refused: ResponseRefused
) -> HttpResponse:
    """End a refused sign-on: record a trace, and show the result of a test, or redirect to the app with `error`. A
    response that belongs to no sign-on of this browser returns a page."""
    kind = "TEST" if request_row and request_row.kind == "TEST" else "SIGN_ON"
    await record_trace(call, connection.row.id, kind, refused.steps, reason=refused.reason, detail=refused.detail)
    if request_row is None:
        return await refusal_page(call, refused.reason)
    async with call.db.transaction() as tx:  # Another code cannot be tried with the same request.
        await store.mark_request_answered(tx, project_id=call.project_id, id=request_row.id, now=call.now)
    if kind == "TEST":
        return await pages.failed_test_page(call, refused.reason, refused.detail, refused.steps)
    assert request_row.redirect_url is not None
    parameters = {"state": request_row.state} if request_row.state else {}
    error = refused.reason.lower() if refused.reason == OidcRefusal.ACCESS_DENIED else "provider_error"
    if error == "provider_error":
        parameters["error_description"] = refused.reason
    return redirect(with_query(request_row.redirect_url, error=error, **parameters), status=303)


def _moment(value: object, default: datetime | None) -> Any:
    """A time in a token (Unix time in seconds) as a moment; `default` if it is not one."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return default
    try:
        return datetime.fromtimestamp(value, UTC)
    except (ValueError, OverflowError, OSError):
        return default


def _utc(value: object) -> str:
    moment = _moment(value, None)
    return str(value) if moment is None else moment.isoformat()
