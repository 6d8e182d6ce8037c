"""Sign customers in to an application with pages, on Postern's hosted sign-in pages.

This is the core of `postern_sdk.fastapi`, `postern_sdk.django` and `postern_sdk.flask`, and knows no framework. For
another framework, create one `SignIn`, convert requests and responses, and

- let `handle` answer the paths `SIGN_IN_ACTIONS` under `prefix`;
- call `authenticate` for every request that needs the customer, and add the `cookies` of its result to the response;
- answer what the application raises (`SignInRequired`, `PermissionDenied`) with `refuse`.

`handle` and `authenticate` are exchanges: run them with `run(…)` or `await run_async(…)`.

The session is in two cookies that scripts cannot read: the access token, which is verified offline, and the refresh
token, with which the session continues after five minutes. Nothing is stored in the application.
"""

import base64
import hashlib
import hmac
import logging
import os
import secrets
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from html import escape
from ipaddress import ip_address
from typing import Annotated, Any, Literal, cast
from urllib.parse import parse_qsl, quote, urlencode, urlsplit

import msgspec

from postern_sdk._exchange import (
    ApiRequest,
    ApiResponse,
    Exchange,
    run,
    run_async,
    send,
)
from postern_sdk._request import is_loopback
from postern_sdk.errors import PosternError, ServerUnavailable
from postern_sdk.sessions import (
    CustomerSession,
    PermissionDenied,
    SessionError,
    SessionVerifier,
    TokenExpired,
    TokenInvalid,
)

__all__ = [
    "SIGN_IN_ACTIONS",
    "Authentication",
    "CrossOriginRequest",
    "Exchange",
    "OrganizationRefused",
    "ServerUnavailable",
    "SignIn",
    "SignInRequired",
    "WebRequest",
    "WebResponse",
    "local_path",
    "read_cookies",
    "run",
    "run_async",
]

SIGN_IN_ACTIONS = {
    "sign-in": ("GET", "HEAD"),
    "sign-up": ("GET", "HEAD"),
    "callback": ("GET", "HEAD"),
    "session": ("GET", "HEAD"),
    "sign-out": ("POST",),
    "switch-organization": ("POST",),
}
"""The paths under `prefix`, and the methods of each."""
FLOW_SECONDS = 1_800
"""How long a person may take on the sign-in pages."""
FLOWS_LIMIT = 5
"""How many sign-ins of a browser may be under way, in several tabs."""
RETURN_LIMIT = 1_000
"""Longest path, in characters, to which a browser returns."""
COOKIE_BYTES = 3_600
"""Longest value of one cookie. Browsers allow 4,096 bytes with name and attributes; longer tokens get several."""
COOKIE_PARTS = 5
"""How many cookies one token may need."""
REFRESH_TOKEN_LIMIT = 500
ORGANIZATIONS_LIMIT = 100
"""How many organizations of a customer `session` lists."""
EARLY_SECONDS = 10
"""An access token of a cookie is refreshed when it is valid for less than this, so that the application can use it."""
NOT_CACHED = "private, no-store"
"""`Cache-Control` of responses with cookies or data of a session."""
UNAVAILABLE = "Sign-in is not available at the moment. Please try again."
"""What visitors read while the server is unavailable."""
VARY = ("Cookie", "Authorization")
"""The headers of a request that decide which customer's page a response shows."""
RETRY_SECONDS = 5
"""`Retry-After` while the server is unavailable."""
LOG = logging.getLogger("postern_sdk")


class SignInRequired(SessionError):
    """The request has no session."""

    def __init__(self) -> None:
        super().__init__("Sign in first.")


class CrossOriginRequest(SessionError):
    """A page of another web site sent this request, so that the session's cookies do not count."""

    def __init__(self) -> None:
        super().__init__("This request was sent by another web site.")


class OrganizationRefused(SessionError):
    """The customer is not a member of the organization, or it is suspended."""

    def __init__(self) -> None:
        super().__init__("You are not a member of this organization, or it is suspended.")


@dataclass(frozen=True, kw_only=True)
class WebRequest:
    """A request to the application."""

    method: str
    url: str
    """The whole URL as the browser sees it."""
    headers: Mapping[str, str] = field(repr=False)
    """By lower-case name."""
    cookies: Mapping[str, str] = field(repr=False)
    """As `read_cookies` reads them."""
    form: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    """The fields of a form that was posted."""
    client_address: str | None = None
    """The IP address of the visitor."""


@dataclass(frozen=True, kw_only=True)
class WebResponse:
    """A response of the application."""

    status: int
    headers: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    """`Set-Cookie` may occur several times."""
    body: bytes = b""


@dataclass(frozen=True, kw_only=True)
class Authentication:
    """Who sent a request."""

    session: CustomerSession | None = None
    error: PosternError | None = None
    """Why there is no session, although the request has a bearer token or cookies of one."""
    cookies: tuple[str, ...] = field(default=(), repr=False)
    """Values of `Set-Cookie` for the response."""

    def require(self) -> CustomerSession:
        """The session. Raises `error`, or SignInRequired, if there is none."""
        if self.session is None:
            raise self.error or SignInRequired()
        return self.session

    def optional(self) -> CustomerSession | None:
        """The session, or None. Raises TokenInvalid or TokenExpired for a bearer token that is not valid."""
        if isinstance(self.error, (TokenInvalid, TokenExpired)):
            raise self.error
        return self.session


class _Tokens(msgspec.Struct, frozen=True, rename="camel"):
    """A response of the server with tokens, or with the step that is still required."""

    access_token: str | None = None
    access_token_expires_at: datetime | None = None
    refresh_token: str | None = None
    refresh_token_expires_at: datetime | None = None
    mfa_required: bool = False
    mfa_token: str | None = None
    terms_required: bool = False
    terms_token: str | None = None

    def __repr__(self) -> str:
        return "_Tokens(…)"  # Logs and error reports must not have the tokens.


class _Flow(msgspec.Struct, frozen=True):
    """A sign-in that is under way, as its cookie has it."""

    state: str
    verifier: str
    return_to: str
    started: Annotated[int, msgspec.Meta(ge=0, lt=2**53)]
    """Unix time in seconds."""

    def __repr__(self) -> str:
        return "_Flow(…)"


class SignIn:
    """The sign-in of an application. Create one for the application; it is safe for threads and tasks.

    - `url`, `project`, `internal_url`, `leeway`, `timeout`, `insecure`: see `SessionVerifier`.
    - `key`: a secret API key (default: POSTERN_KEY). With it, limits on sign-in attempts count each visitor's address,
      without it the address of the application.
    - `app_url`: the public URL of the application, such as https://app.example.com (default: POSTERN_APP_URL, or that
      of each request). Set it behind a proxy.
    - `prefix`: where the paths of the sign-in are. `<app_url><prefix>/callback` must be one of the project's
      `redirectUrls`.
    - `after_sign_in`, `after_sign_out`: local paths to go to if there is no page to return to.
    - `cookie_prefix`: change it if two applications share a host name.
    - `trusted_origins`: other origins, such as https://www.example.com, whose pages may send requests that change
      something with the session's cookies.
    """

    def __init__(
        self,
        url: str | None = None,
        project: str | None = None,
        *,
        key: str | None = None,
        app_url: str | None = None,
        prefix: str = "/auth",
        after_sign_in: str = "/",
        after_sign_out: str = "/",
        cookie_prefix: str = "postern",
        trusted_origins: tuple[str, ...] = (),
        internal_url: str | None = None,
        leeway: float = 5.0,
        timeout: float = 5.0,
        insecure: bool = False,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.verifier = SessionVerifier(
            url, project, internal_url=internal_url, leeway=leeway, timeout=timeout, insecure=insecure, clock=clock
        )
        self._key = key or os.environ.get("POSTERN_KEY")
        app_url = app_url or os.environ.get("POSTERN_APP_URL")
        self._app_url = app_url.rstrip("/") if app_url else None
        self.prefix = f"/{prefix.strip('/')}" if prefix.strip("/") else ""
        self._action_paths = frozenset(f"{self.prefix}/{action}" for action in SIGN_IN_ACTIONS)
        self.after_sign_in = local_path(after_sign_in) or "/"
        self.after_sign_out = local_path(after_sign_out) or "/"
        self._cookie_prefix = cookie_prefix
        self._trusted_origins = frozenset(origin.rstrip("/").lower() for origin in trusted_origins)
        self._timeout = timeout
        self._clock = clock

    def handle(self, action: str, request: WebRequest) -> Exchange[WebResponse]:
        """Answer a request to one of SIGN_IN_ACTIONS; for another `action` the response is 404."""
        methods = SIGN_IN_ACTIONS.get(action)
        if methods is None:
            return WebResponse(status=404)
        if request.method not in methods:
            return WebResponse(status=405, headers=(("Allow", ", ".join(methods)),))
        try:
            if action == "callback":
                return (yield from self._finish(request))
            if action == "session":
                return (yield from self._session(request))
            if action == "sign-out":
                return (yield from self._sign_out(request))
            if action == "switch-organization":
                return (yield from self._switch_organization(request))
        except (SessionError, ServerUnavailable) as error:
            return self.refuse(request, error)
        return self.begin(request, "sign-up" if action == "sign-up" else "sign-in")

    def begin(self, request: WebRequest, page: Literal["sign-in", "sign-up"] = "sign-in") -> WebResponse:
        """Send the browser to a hosted page. It comes back to the parameter `return_to`, a path of the application."""
        flow = self._new_flow(self._return_path(_query(request).get("return_to")))
        return self._to_page(request, page, flow, self._flows(request))

    def sign_in_url(self, return_to: str | None = None) -> str:
        """The path that begins a sign-in and then returns to `return_to`."""
        query = f"?{urlencode({'return_to': return_to})}" if return_to else ""
        return f"{self.prefix}/sign-in{query}"

    def is_action_path(self, path: str) -> bool:
        """Whether `handle` answers this path. It refreshes the session itself where that is needed."""
        return path in self._action_paths

    def authenticate(self, request: WebRequest) -> Exchange[Authentication]:
        """Who sent a request: by the bearer token of its `Authorization`, or else by its cookies.

        Refreshes a session whose access token has expired. Raises nothing: trouble is the result's `error`.
        """
        try:
            token = _bearer_token(request)
            if token is not None:
                return Authentication(session=(yield from self.verifier._verify(token)))
            return (yield from self._authenticate_by_cookies(request))
        except (SessionError, ServerUnavailable) as error:
            return Authentication(error=error)

    def refuse(self, request: WebRequest, error: PosternError) -> WebResponse:
        """The response to a request that `error` ended: a page for browsers, such as the sign-in page, or a problem."""
        status, code, challenge = _problem_of(error)
        text = str(error)
        if status == 503:
            # The error may have internal addresses, which are for the application's log alone.
            LOG.warning("A request was answered with 503. %s", error)
            text = UNAVAILABLE
        if _wants_page(request):
            if status == 401:
                return _redirect(self.sign_in_url(self._path_to_return_to(request)))
            return self._page(status, _TITLES[status], text, link=(self.after_sign_in, "Continue"))
        problem = {
            "type": "about:blank",
            "title": code.replace("_", " ").capitalize(),
            "status": status,
            "code": code,
            "detail": text,
        }
        headers = [("Content-Type", "application/problem+json"), ("Cache-Control", NOT_CACHED)]
        if challenge is not None:
            headers.append(("WWW-Authenticate", challenge))
        if status == 503:
            headers.append(("Retry-After", str(RETRY_SECONDS)))
        return WebResponse(status=status, headers=tuple(headers), body=msgspec.json.encode(problem))

    # The flow through the hosted pages.

    def _new_flow(self, return_to: str) -> _Flow:
        return _Flow(secrets.token_urlsafe(24), secrets.token_urlsafe(48), return_to, int(self._clock()))

    def _to_page(
        self, request: WebRequest, page: str, flow: _Flow, others: list[_Flow], **parameters: str
    ) -> WebResponse:
        challenge = base64.urlsafe_b64encode(hashlib.sha256(flow.verifier.encode()).digest()).rstrip(b"=").decode()
        query = urlencode(
            {
                **parameters,
                "redirectUrl": self._callback_url(request),
                "codeChallenge": challenge,
                "state": flow.state,
            }
        )
        # The newest first: older ones are dropped if they do not fit in the cookie.
        cookie = self._flows_cookie(request, [flow, *others])
        return _redirect(f"{self.verifier.issuer}/auth/pages/{page}?{query}", (cookie,))

    def _finish(self, request: WebRequest) -> Exchange[WebResponse]:
        """The callback: exchange the code for tokens, and go to the page where the sign-in began."""
        query = _query(request)
        state, code = query.get("state", ""), query.get("code", "")
        flows = self._flows(request)
        flow = next((flow for flow in flows if hmac.compare_digest(flow.state.encode(), state.encode())), None)
        if flow is None:
            return (yield from self._unknown_flow(request, query))
        others = [other for other in flows if other is not flow]
        forget = self._flows_cookie(request, others)
        if not code:
            text = _CALLBACK_ERRORS.get(query.get("error", ""), "The sign-in was not completed.")
            return self._failed(text, flow.return_to, forget)
        response = yield from self._call(request, "POST", "/auth/token", {"code": code, "codeVerifier": flow.verifier})
        if response.status >= 400:
            blocked = _code_of(response) == "sign_in_blocked"
            text = "This account is blocked." if blocked else "This sign-in has expired or was already completed."
            return self._failed(text, flow.return_to, forget)
        tokens = _tokens_of(response)
        if tokens.mfa_required and tokens.mfa_token:
            # After single sign-on: a hosted page asks for the second factor, and then comes back here.
            return self._to_page(request, "mfa", self._new_flow(flow.return_to), others, mfaToken=tokens.mfa_token)
        if tokens.terms_required and tokens.terms_token:
            # Likewise, a hosted page asks the customer to accept the terms.
            return self._to_page(
                request, "terms", self._new_flow(flow.return_to), others, termsToken=tokens.terms_token
            )
        yield from self._verified(tokens)
        return _redirect(flow.return_to, (forget, *self._token_cookies(request, tokens)))

    def _unknown_flow(self, request: WebRequest, query: Mapping[str, str]) -> Exchange[WebResponse]:
        """The response to a callback of no sign-in that this browser began. It changes no session."""
        if "code" not in query and "error" not in query:  # The return from the sign-out at an identity provider.
            return _redirect(self.after_sign_out)
        if query.get("impersonation") == "true" and query.get("code") and self._key is not None:
            response = yield from self._finish_impersonation(request, query)
            if response is not None:
                return response
        authentication = yield from self.authenticate(request)
        if authentication.session is not None:  # For example the back button after a sign-in.
            return _redirect(self.after_sign_in, authentication.cookies)
        text = "This sign-in was begun in another browser, has expired, or was already completed."
        return self._failed(text, self.after_sign_in, *authentication.cookies)

    def _finish_impersonation(self, request: WebRequest, query: Mapping[str, str]) -> Exchange[WebResponse | None]:
        """Begin the session in which a member of the team acts as a customer. This application has not begun it, so
        the code is exchanged with the secret key. None if the code cannot be used.

        The code of another sign-in is refused: with it, a web site could sign a visitor in as somebody else (RFC 9700
        §4.7).
        """
        response = yield from self._call(request, "POST", "/auth/token", {"code": query["code"]})
        if response.status >= 400:
            return None
        tokens = _tokens_of(response)
        if not tokens.access_token:
            return None
        session = yield from self._verified(tokens)
        if session.actor is None:
            yield from self._call(request, "POST", "/auth/sign-out", None, {"Authorization": f"Bearer {session.token}"})
            return None
        return_to = self._return_path(query.get("state"), self.after_sign_in)
        return _redirect(return_to, self._token_cookies(request, tokens))

    def _failed(self, text: str, return_to: str, *cookies: str) -> WebResponse:
        link = (self.sign_in_url(return_to), "Sign in again")
        return self._page(400, "The sign-in did not succeed", text, link=link, cookies=cookies)

    def _session(self, request: WebRequest) -> Exchange[WebResponse]:
        """The customer, organization, organizations and permissions as JSON, for scripts of the application's pages.

        Asks the server, so that a session that was revoked ends here. The components of `@postern/react` read this.
        """
        authentication = yield from self.authenticate(request)
        session = authentication.session
        if session is None:
            if isinstance(authentication.error, ServerUnavailable):
                return _with_cookies(self.refuse(request, authentication.error), authentication.cookies)
            return _json_response(_SIGNED_OUT, authentication.cookies)
        bearer = {"Authorization": f"Bearer {session.token}"}
        try:
            me = yield from self._call(request, "GET", "/auth/me", None, bearer)
            path = f"/auth/organizations?limit={ORGANIZATIONS_LIMIT}"
            memberships = yield from self._call(request, "GET", path, None, bearer)
            if 401 in (me.status, memberships.status):
                return _json_response(_SIGNED_OUT, self._no_tokens(request))
            if me.status != 200 or memberships.status != 200:
                raise ServerUnavailable(
                    f"The Postern server did not describe a session: its answers are {me.status}, {memberships.status}."
                )
            return _json_response(_session_document(session, me, memberships), authentication.cookies)
        except ServerUnavailable as error:
            return _with_cookies(self.refuse(request, error), authentication.cookies)

    def _switch_organization(self, request: WebRequest) -> Exchange[WebResponse]:
        """Make the organization of the form field `organization_id` active; an empty one means none."""
        self._require_same_origin(request, evidence=True)
        refresh_token = self._refresh_token(request)
        if refresh_token is None:
            raise SignInRequired
        organization_id = request.form.get("organization_id") or None
        try:
            tokens = yield from self._refreshed(request, refresh_token, organizationId=organization_id)
        except _RefreshRefused as refused:
            if refused.status != 401:
                raise OrganizationRefused from None
            return _with_cookies(self.refuse(request, SignInRequired()), self._no_tokens(request))
        return self._done(request, self.after_sign_in, self._token_cookies(request, tokens))

    def _sign_out(self, request: WebRequest) -> Exchange[WebResponse]:
        """End the session, here and on the server, and at the identity provider if it was begun there."""
        self._require_same_origin(request, evidence=True)
        location = None
        try:
            authentication = yield from self._authenticate_by_cookies(request)
            if isinstance(authentication.error, ServerUnavailable):
                raise authentication.error
            if authentication.session is not None:
                location = yield from self._end_session(request, authentication.session)
        except ServerUnavailable as error:
            # The cookies are deleted all the same: the person wants to leave this browser.
            LOG.warning("A session could not be ended on the server; it ends when it is not used. %s", error)
        cookies = (*self._no_tokens(request), self._flows_cookie(request, []))
        if location is not None and _wants_page(request):
            return _redirect(location, cookies)
        return self._done(request, self.after_sign_out, cookies)

    def _end_session(self, request: WebRequest, session: CustomerSession) -> Exchange[str | None]:
        """End a session on the server. Returns the URL to sign out at the identity provider, if there is one."""
        bearer = {"Authorization": f"Bearer {session.token}"}
        body = {"redirectUrl": self._callback_url(request)}
        response = yield from self._call(request, "POST", "/auth/sso/sign-out", body, bearer)
        if response.status == 200 and isinstance(response.body, dict):
            url: object = cast("dict[str, Any]", response.body).get("url")
            return url if isinstance(url, str) and urlsplit(url).scheme in ("https", "http") else None
        yield from self._call(request, "POST", "/auth/sign-out", None, bearer)
        return None

    def _done(self, request: WebRequest, default: str, cookies: tuple[str, ...]) -> WebResponse:
        """The response to a form: back to its field `return_to`. A script gets 204."""
        if not _wants_page(request):
            return _with_cookies(WebResponse(status=204, headers=(("Cache-Control", NOT_CACHED),)), cookies)
        return _redirect(self._return_path(request.form.get("return_to"), default), cookies)

    # Sessions in cookies.

    def _authenticate_by_cookies(self, request: WebRequest) -> Exchange[Authentication]:
        access_token, refresh_token = self._access_token(request), self._refresh_token(request)
        if access_token is None and refresh_token is None:
            return Authentication()
        if request.method not in ("GET", "HEAD", "OPTIONS", "TRACE"):
            self._require_same_origin(request)
        session = None
        if access_token is not None:
            try:
                session = yield from self.verifier._verify(access_token)
            except (TokenInvalid, TokenExpired):
                pass
        if session is not None:
            expires_soon = session.expires_at.timestamp() - self._clock() < EARLY_SECONDS
            if refresh_token is None or not expires_soon:
                return Authentication(session=session)
        if refresh_token is None:
            return Authentication(cookies=self._no_tokens(request))
        try:
            # Requests that do this at the same time get the same tokens: the server repeats them for 30 seconds.
            tokens = yield from self._refreshed(request, refresh_token)
            cookies = self._token_cookies(request, tokens)
        except _RefreshRefused:
            return Authentication(cookies=self._no_tokens(request))
        except ServerUnavailable:
            if session is not None:
                return Authentication(session=session)
            raise
        try:
            return Authentication(session=(yield from self._verified(tokens)), cookies=cookies)
        except ServerUnavailable as error:
            # The old refresh token was used up, so the browser needs the new one in any case.
            return Authentication(session=session, error=None if session else error, cookies=cookies)

    def _refreshed(self, request: WebRequest, refresh_token: str, **change: str | None) -> Exchange[_Tokens]:
        """New tokens of a session. Raises _RefreshRefused."""
        body = {"refreshToken": refresh_token, **change}
        response = yield from self._call(request, "POST", "/auth/token/refresh", body)
        if response.status == 401 and _code_of(response) != "refresh_token_invalid":
            raise ServerUnavailable("The Postern server does not accept the API key of this application (`key`).")
        if response.status == 401 or (response.status >= 400 and "organizationId" in change):
            raise _RefreshRefused(response.status)
        if response.status >= 400:
            # Something is wrong with this request, but not with the session.
            raise ServerUnavailable(f"The Postern server did not refresh a session: its answer is {response.status}.")
        return _tokens_of(response)

    def _verified(self, tokens: _Tokens) -> Exchange[CustomerSession]:
        """The session of tokens that the server just issued, so that no cookie is set that is refused afterwards."""
        try:
            return (yield from self.verifier._verify(tokens.access_token or ""))
        except (TokenInvalid, TokenExpired) as error:
            raise ServerUnavailable(f"A token that the Postern server issued cannot be used. {error}") from error

    def _call(
        self, request: WebRequest, method: str, path: str, body: Any, headers: Mapping[str, str] | None = None
    ) -> Exchange[ApiResponse]:
        """Call an operation of the project on behalf of the visitor."""
        visitor: dict[str, str] = {}
        if self._key is not None and headers is None:
            visitor["Authorization"] = f"Bearer {self._key}"
            address = _visitor_address(request.client_address)
            if address is not None:
                visitor["Postern-Visitor-Address"] = address
                visitor["Postern-Visitor-Agent"] = _ascii(request.headers.get("user-agent", ""))[:500]
        url = f"{self.verifier.project_url}{path}"
        return (yield from send(ApiRequest(method, url, body, {**visitor, **(headers or {})}, self._timeout)))

    def _access_token(self, request: WebRequest) -> str | None:
        name = self._cookie_name(request, "access")
        parts = [request.cookies.get(name if number == 0 else f"{name}-{number}", "") for number in range(COOKIE_PARTS)]
        return "".join(parts) or None

    def _refresh_token(self, request: WebRequest) -> str | None:
        token = request.cookies.get(self._cookie_name(request, "refresh"), "")
        return token if 0 < len(token) <= REFRESH_TOKEN_LIMIT and token.isascii() else None

    def _token_cookies(self, request: WebRequest, tokens: _Tokens) -> tuple[str, ...]:
        assert tokens.access_token is not None
        assert tokens.refresh_token is not None
        parts = [
            tokens.access_token[start : start + COOKIE_BYTES]
            for start in range(0, len(tokens.access_token), COOKIE_BYTES)
        ]
        if len(parts) > COOKIE_PARTS:
            raise ServerUnavailable("The Postern server issued an access token that is too long for cookies.")
        name, access_seconds = self._cookie_name(request, "access"), self._seconds_until(tokens.access_token_expires_at)
        cookies = [
            self._cookie(
                request,
                self._cookie_name(request, "refresh"),
                tokens.refresh_token,
                self._seconds_until(tokens.refresh_token_expires_at),
            )
        ]
        for number in range(COOKIE_PARTS):
            part_name = name if number == 0 else f"{name}-{number}"
            if number < len(parts):
                cookies.append(self._cookie(request, part_name, parts[number], access_seconds))
            elif part_name in request.cookies:
                cookies.append(self._cookie(request, part_name, "", 0))
        return tuple(cookies)

    def _no_tokens(self, request: WebRequest) -> tuple[str, ...]:
        """Deletes the cookies of the session, and those that another part of the application adds to this response."""
        access = self._cookie_name(request, "access")
        names = [self._cookie_name(request, "refresh"), access]
        names += [f"{access}-{number}" for number in range(1, COOKIE_PARTS)]
        return tuple(self._cookie(request, name, "", 0) for name in names)

    def _flows(self, request: WebRequest) -> list[_Flow]:
        """The sign-ins of this browser that are under way, newest first."""
        value = request.cookies.get(self._cookie_name(request, "flow"), "")
        try:
            flows = msgspec.json.decode(base64.urlsafe_b64decode(value.encode()), type=list[_Flow])
        except (ValueError, msgspec.DecodeError):
            return []
        now = self._clock()
        # The cookie can be another's, for example one that a subdomain has set, so its path is checked again.
        return [
            flow
            for flow in flows[:FLOWS_LIMIT]
            if -FLOW_SECONDS < now - flow.started < FLOW_SECONDS and local_path(flow.return_to) == flow.return_to
        ]

    def _flows_cookie(self, request: WebRequest, flows: list[_Flow]) -> str:
        name = self._cookie_name(request, "flow")
        for count in range(min(len(flows), FLOWS_LIMIT), 0, -1):
            value = base64.urlsafe_b64encode(msgspec.json.encode(flows[:count])).decode()
            if len(value) <= COOKIE_BYTES:
                return self._cookie(request, name, value, FLOW_SECONDS)
        return self._cookie(request, name, "", 0)

    def _cookie(self, request: WebRequest, name: str, value: str, max_age: int) -> str:
        secure = "; Secure" if self._is_secure(request) else ""
        return f"{name}={value}; Path=/; Max-Age={max_age}; HttpOnly; SameSite=Lax{secure}"

    def _cookie_name(self, request: WebRequest, kind: Literal["access", "refresh", "flow"]) -> str:
        # Browsers accept a cookie with this prefix only from this host itself, not from a subdomain.
        host_prefix = "__Host-" if self._is_secure(request) else ""
        return f"{host_prefix}{self._cookie_prefix}_{kind}"

    def _seconds_until(self, moment: datetime | None) -> int:
        return max(0, int(moment.timestamp() - self._clock())) if moment is not None else 0

    # Where requests come from, and where browsers go to.

    def _app_origin(self, request: WebRequest) -> str:
        if self._app_url is not None:
            return self._app_url
        parts = urlsplit(request.url)
        return f"{parts.scheme}://{parts.netloc}"

    def _callback_url(self, request: WebRequest) -> str:
        return f"{self._app_origin(request)}{self.prefix}/callback"

    def _is_secure(self, request: WebRequest) -> bool:
        """Whether cookies are `Secure`: always, except on http:// to this machine."""
        parts = urlsplit(self._app_origin(request))
        return parts.scheme != "http" or not is_loopback(parts.hostname or "")

    def _require_same_origin(self, request: WebRequest, *, evidence: bool = False) -> None:
        """Raise CrossOriginRequest if a page of another web site sent a request; with `evidence`, unless it is shown
        that a page of this one did."""
        origin, site = request.headers.get("origin"), request.headers.get("sec-fetch-site")
        if origin is not None and origin.lower() in self._trusted_origins:
            return
        if site is not None:
            same = site == "same-origin" or (site == "none" and not evidence)
        elif origin is not None:
            same = urlsplit(origin).netloc.lower() == urlsplit(self._app_origin(request)).netloc.lower()
        else:
            same = not evidence  # Browsers send one of the two with every POST; other clients need not.
        if not same:
            raise CrossOriginRequest

    def _return_path(self, value: str | None, default: str | None = None) -> str:
        """A path of the application to return to, or the default if `value` is none, or one of the sign-in itself."""
        path = local_path(value)
        if path is None or path.partition("?")[0].rstrip("/") in self._action_paths:
            return self.after_sign_in if default is None else default
        return path

    def _path_to_return_to(self, request: WebRequest) -> str | None:
        """Where a browser that must sign in wanted to go: this page, or the page with the form that it sent."""
        if request.method in ("GET", "HEAD"):
            url = urlsplit(request.url)
        else:
            url = urlsplit(request.headers.get("referer", ""))
            if url.netloc.lower() != urlsplit(self._app_origin(request)).netloc.lower():
                return None
        path = self._return_path(f"{url.path}?{url.query}" if url.query else url.path)
        return None if path == self.after_sign_in else path

    def _page(
        self, status: int, title: str, text: str, *, link: tuple[str, str], cookies: tuple[str, ...] = ()
    ) -> WebResponse:
        """A small page of the application's own."""
        href, label = (escape(part) for part in link)
        body = _PAGE.format(style=_STYLE, title=escape(title), text=escape(text), href=href, label=label)
        headers = [
            ("Content-Type", "text/html; charset=utf-8"),
            ("Cache-Control", NOT_CACHED),
            ("Content-Security-Policy", f"default-src 'none'; style-src '{_STYLE_HASH}'; frame-ancestors 'none'"),
            ("Referrer-Policy", "no-referrer"),
            ("X-Content-Type-Options", "nosniff"),
        ]
        if status == 503:
            headers.append(("Retry-After", str(RETRY_SECONDS)))
        return _with_cookies(WebResponse(status=status, headers=tuple(headers), body=body.encode()), cookies)


class _RefreshRefused(Exception):
    """The server did not accept a refresh token (401), or the organization that was asked for (other statuses)."""

    def __init__(self, status: int) -> None:
        self.status = status


def read_cookies(header: str) -> dict[str, str]:
    """The cookies of a header `Cookie`; of several with the same name the first.

    Only spaces and tabs are removed around names. Frameworks also remove the spaces of Unicode, with which a subdomain
    could set a cookie whose name they read as one with `__Host-`, although browsers do not protect it.
    """
    cookies: dict[str, str] = {}
    for pair in header.split(";"):
        name, separator, value = pair.partition("=")
        if separator:
            cookies.setdefault(name.strip(" \t"), value.strip(" \t"))
    return cookies


def local_path(value: str | None) -> str | None:
    """A path of this application that a browser may be sent to, or None.

    Rejects everything that a browser could read as another web site (`//evil`, `/\\evil`), and control characters.
    """
    if not value or len(value) > RETURN_LIMIT or not value.startswith("/") or value.startswith("//"):
        return None
    if "\\" in value or any(ord(character) < 0x20 or ord(character) == 0x7F for character in value):
        return None
    path = quote(value, safe="/?&=%:@!$'()*+,;~-._#[]")
    return path if len(path) <= RETURN_LIMIT else None


class _Me(msgspec.Struct, frozen=True):
    """The part of `auth/me` that the token does not have."""

    name: str | None = None


class _OrganizationRef(msgspec.Struct, frozen=True):
    id: str
    slug: str
    name: str


class _Membership(msgspec.Struct, frozen=True):
    """An item of `auth/organizations`."""

    organization: _OrganizationRef
    status: str
    roles: list[str]


_SIGNED_OUT: dict[str, Any] = {"customer": None, "organization": None, "organizations": [], "permissions": []}


def _session_document(session: CustomerSession, me: ApiResponse, memberships: ApiResponse) -> dict[str, Any]:
    try:
        name = msgspec.convert(me.body, _Me).name
        joined = msgspec.convert(memberships.body, list[_Membership])
    except msgspec.ValidationError as error:
        raise ServerUnavailable(f"A response of the Postern server cannot be used ({error}).") from error
    organization = session.organization
    return {
        "customer": {
            "id": session.customer_id,
            "email": session.email,
            "emailVerified": session.email_verified,
            "name": name,
            "roles": session.roles,
            "metadata": session.metadata,
            "impersonatedBy": session.actor and (session.actor.name or session.actor.id),
        },
        "organization": organization
        and {
            "id": organization.id,
            "slug": organization.slug,
            "name": organization.name,
            "roles": organization.roles,
            "entitlementsVersion": organization.entitlements_version,
            "metadata": organization.metadata,
        },
        "organizations": [
            {"id": it.organization.id, "slug": it.organization.slug, "name": it.organization.name, "roles": it.roles}
            for it in joined
            if it.status == "ACTIVE"
        ],
        "permissions": session.permissions if organization is None else organization.permissions,
    }


def _json_response(document: dict[str, Any], cookies: tuple[str, ...]) -> WebResponse:
    headers = (("Content-Type", "application/json"), ("Cache-Control", NOT_CACHED))
    return _with_cookies(WebResponse(status=200, headers=headers, body=msgspec.json.encode(document)), cookies)


def _tokens_of(response: ApiResponse) -> _Tokens:
    try:
        tokens = msgspec.convert(response.body, _Tokens)
    except msgspec.ValidationError:
        tokens = _Tokens()
    if (tokens.access_token and tokens.refresh_token) or tokens.mfa_required or tokens.terms_required:
        return tokens
    raise ServerUnavailable(f"The Postern server's response ({response.status}) has no tokens.")


def _visitor_address(text: str | None) -> str | None:
    """The IP address of a visitor without port and zone; None if it is not known: test clients and Unix sockets have
    none."""
    text = (text or "").strip()
    if text.startswith("["):
        text = text[1:].partition("]")[0]
    elif text.count(":") == 1:
        text = text.partition(":")[0]
    try:
        return str(ip_address(text.partition("%")[0]))
    except ValueError:
        return None


def _code_of(response: ApiResponse) -> object:
    """The `code` of a problem."""
    return cast("dict[str, Any]", response.body).get("code") if isinstance(response.body, dict) else None


def _bearer_token(request: WebRequest) -> str | None:
    """The bearer token of a request. None without one, also if `Authorization` has another scheme."""
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    return token.strip() if scheme.lower() == "bearer" else None


def _query(request: WebRequest) -> dict[str, str]:
    try:
        return dict(parse_qsl(urlsplit(request.url).query, keep_blank_values=True, max_num_fields=100))
    except ValueError:
        return {}


def _wants_page(request: WebRequest) -> bool:
    """Whether a person looks at the response: a browser opened a page or sent a form, and no script or program."""
    if "authorization" in request.headers and _bearer_token(request) is not None:
        return False
    return "text/html" in request.headers.get("accept", "").lower()


def _redirect(location: str, cookies: tuple[str, ...] = ()) -> WebResponse:
    headers = (("Location", location), ("Cache-Control", NOT_CACHED), ("Referrer-Policy", "no-referrer"))
    return _with_cookies(WebResponse(status=303, headers=headers), cookies)


def _with_cookies(response: WebResponse, cookies: tuple[str, ...]) -> WebResponse:
    headers = (*response.headers, *(("Set-Cookie", cookie) for cookie in cookies))
    return WebResponse(status=response.status, headers=headers, body=response.body)


def _problem_of(error: PosternError) -> tuple[int, str, str | None]:
    """Status, code and `WWW-Authenticate` (RFC 6750 §3) of an error."""
    match error:
        case SignInRequired():
            return 401, "sign_in_required", "Bearer"
        case TokenExpired() | TokenInvalid():
            code = "token_expired" if isinstance(error, TokenExpired) else "token_invalid"
            description = _ascii(str(error)).replace('"', "'").replace("\\", "/")
            return 401, code, f'Bearer error="invalid_token", error_description="{description}"'
        case PermissionDenied():
            scope = _ascii(error.permission).replace('"', "").replace("\\", "")
            return 403, "permission_denied", f'Bearer error="insufficient_scope", scope="{scope}"'
        case CrossOriginRequest():
            return 403, "cross_origin_request", None
        case OrganizationRefused():
            return 403, "organization_refused", None
        case _:
            return 503, "sign_in_unavailable", None


def _ascii(text: str) -> str:
    """Text for a header: printable ASCII characters only."""
    return "".join(character for character in text if " " <= character <= "~")


_TITLES = {403: "You are not allowed to do this", 503: "Please try again in a moment"}
_CALLBACK_ERRORS = {
    "access_denied": "The sign-in was cancelled.",
    "account_not_linked": "There is an account with this address already. Sign in to it the way you did before.",
    "identity_conflict": "This account is already used by another person, or you are linked to another one.",
    "proof_too_weak": "Your organization requires a stronger sign-in. Sign in again with a second factor.",
    "provider_error": "The other service did not complete the sign-in. Try again, or sign in in another way.",
}
"""What people read for the `error` with which the hosted pages return."""
_STYLE = (
    ":root{color-scheme:light dark}"
    "body{margin:0;min-height:100vh;display:grid;place-items:center;font:16px/1.5 system-ui,sans-serif;"
    "background:light-dark(#f6f7f8,#141618);color:light-dark(#1b1f23,#e8eaed)}"
    "main{box-sizing:border-box;max-width:26rem;margin:1rem;padding:2rem;border-radius:12px;"
    "background:light-dark(#fff,#1e2124);border:1px solid light-dark(#e2e5e9,#33383d)}"
    "h1{font-size:1.25rem;margin:0 0 .5rem}p{margin:0 0 1.25rem}"
    "a{color:light-dark(#0b5cad,#7db8ff);font-weight:600}"
)
_STYLE_HASH = f"sha256-{base64.b64encode(hashlib.sha256(_STYLE.encode()).digest()).decode()}"
_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1">
<title>{title}</title><style>{style}</style></head>
<body><main><h1>{title}</h1><p>{text}</p><a href="{href}">{label}</a></main></body></html>
"""
