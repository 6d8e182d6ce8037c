"""The session of the dashboard: an ASGI middleware that calls the API with the tokens in a cookie.

The cookie is HttpOnly and encrypted: scripts of the page cannot read a token, and the API does not accept the cookie.
Only requests of this server's pages are accepted (CSRF), and only to operations that developers may call. See
docs/decisions/0070-the-dashboard-session.md.
"""

import asyncio
import base64
from typing import TYPE_CHECKING, Any

import msgspec
from litestar.types import ASGIApp, Receive, Scope, Send

from postern.kernel.http.cookies import cookie, cookie_name
from postern.kernel.http.operation import Operation
from postern.kernel.http.problems import Problem
from postern.kernel.http.responses import NotFound, send_problem
from postern.kernel.values import to_json
from postern.platform.accounts.model import DeveloperSignInResult
from postern.platform.accounts.operations import refresh_developer_tokens, sign_out_developer
from postern.platform.dashboard.forwarding import DashboardPaths, HeldResponse, forward, post
from postern.platform.dashboard.model import (
    COOKIE,
    COOKIE_LIMIT,
    OWN_PAGE_HEADER,
    REFRESH_BEFORE,
    CrossSiteRequest,
    DashboardSessionEnded,
    SessionTokens,
)
from postern.security.secrets import SealBroken
from postern.web.pages import is_own_origin

if TYPE_CHECKING:
    from postern.kernel.config import Settings
    from postern.world import World

COOKIE_PATH = "/dashboard"
COOKIE_CONTEXT = "dashboard-cookie"
"""The context of the cookie's encryption; see `Secrets.seal`."""
TOKEN_FIELDS = ("accessToken", "refreshToken")
"""The fields with tokens, which are removed from responses."""
NO_SESSION_CODES = ("credential_missing", "credential_invalid")
"""The problem codes of responses to requests without a session, or with a session that has ended."""
RESPONSE_HEADERS = (
    # Responses are data for scripts. Opened as a page (an attachment, an export), they can do nothing.
    (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'; sandbox"),
    (b"cross-origin-resource-policy", b"same-origin"),
)


class RefreshFailed(Exception):
    """The session could not be refreshed, but has not ended either; `response` is the API's response to the refresh."""

    def __init__(self, response: HeldResponse) -> None:
        super().__init__(response.status)
        self.response = response


class DashboardSession:
    """ASGI middleware for requests below API_PATH. Removes this path, and adds the session's access token."""

    def __init__(self, app: ASGIApp, world: "World", paths: DashboardPaths) -> None:
        self._app, self._world, self._paths = app, world, paths
        self._refreshes: dict[str, asyncio.Task[SessionTokens | None]] = {}
        """Running refreshes, keyed by refresh token."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        assert scope["type"] == "http"
        try:
            _require_own_page(scope, self._world.settings)
            target = self._paths.target_of(scope["method"], scope["path"])
            if target is None:
                raise NotFound
        except Problem as problem:
            await send_problem(problem, _request_id(scope), send, RESPONSE_HEADERS)
            return
        try:
            await self._respond(scope, target, receive, send)
        except RefreshFailed as failure:
            await failure.response.send(send, RESPONSE_HEADERS)

    async def _respond(self, scope: Scope, target: str, receive: Receive, send: Send) -> None:
        """Call the API. If the session's tokens have expired or another request has replaced them, refresh them, and
        repeat the call if necessary."""
        body_was_read = False

        async def receive_body() -> Any:
            nonlocal body_was_read
            body_was_read = True
            return await receive()

        async def call_api() -> HeldResponse | None:
            token, added = None if tokens is None else tokens.access_token, [*RESPONSE_HEADERS, *cookie_headers()]
            return await forward(
                self._app, scope, target, token, receive_body, send, added=added, should_hold=_is_about_session
            )

        def cookie_headers() -> list[tuple[bytes, bytes]]:
            is_current = tokens is cookie_tokens and (cookie_tokens is not None or not cookie_value)
            return [] if is_current else [self._set_cookie(tokens)]

        cookie_value = _cookie_of(scope, self._world.settings)
        tokens = cookie_tokens = self._open(cookie_value)
        if tokens is not None and tokens.access_token_expires_at - self._world.clock() < REFRESH_BEFORE:
            tokens = await self._refresh(scope, tokens)
        response = await call_api()
        is_refused = response is not None and not body_was_read and _lacks_session(response)
        if is_refused and tokens is not None and tokens is cookie_tokens:
            # Another request may have refreshed the session since the browser sent this one.
            tokens = await self._refresh(scope, tokens)
            response = await call_api()
        if response is None:
            return
        if response.is_success:
            added = [*RESPONSE_HEADERS, self._set_cookie(await self._begin_or_end(scope, response, tokens))]
            await response.send(send, added)
        elif cookie_value and _lacks_session(response):
            await send_problem(
                DashboardSessionEnded(), _request_id(scope), send, [*RESPONSE_HEADERS, self._set_cookie(None)]
            )
        else:
            await response.send(send, [*RESPONSE_HEADERS, *cookie_headers()])

    async def _begin_or_end(
        self, scope: Scope, response: HeldResponse, tokens: SessionTokens | None
    ) -> SessionTokens | None:
        """Process the response to a sign-in, refresh or sign-out; returns the new tokens, None after a sign-out.

        The new tokens are removed from the response. `tokens` are those of the session so far, which a sign-in ends.
        """
        if response.operation is sign_out_developer:
            return None
        if tokens is not None and response.operation is not refresh_developer_tokens:
            await post(self._app, scope, sign_out_developer.path, tokens.access_token, b"")
        return _take_tokens(response)

    async def _refresh(self, scope: Scope, tokens: SessionTokens) -> SessionTokens | None:
        """Exchange the refresh token for new tokens; None if the session has ended. Raises RefreshFailed.

        Concurrent requests in this process share one exchange. Requests in other processes, and requests that the
        browser sent before it got the new cookie, get the same new tokens within `security.sessions.REFRESH_GRACE`.
        """
        refresh = self._refreshes.get(tokens.refresh_token)
        if refresh is None:
            refresh = self._world.run_in_background(self._exchange(scope, tokens.refresh_token))
            self._refreshes[tokens.refresh_token] = refresh
            refresh.add_done_callback(lambda _: self._refreshes.pop(tokens.refresh_token, None))
        return await asyncio.shield(refresh)

    async def _exchange(self, scope: Scope, refresh_token: str) -> SessionTokens | None:
        body = to_json({"refreshToken": refresh_token})
        response = await post(self._app, scope, refresh_developer_tokens.path, None, body)
        if response.status == 401:
            return None
        if not response.is_success:
            raise RefreshFailed(response)
        return _take_tokens(response)

    def _open(self, cookie_value: str | None) -> SessionTokens | None:
        """The tokens in a cookie; None if there is no cookie, or this server has not set it."""
        if not cookie_value or len(cookie_value) > COOKIE_LIMIT:
            return None
        try:
            sealed = base64.b64decode(cookie_value, altchars=b"-_", validate=True)
            return msgspec.json.decode(self._world.secrets.open(sealed, COOKIE_CONTEXT), type=SessionTokens)
        except (ValueError, SealBroken, msgspec.ValidationError):
            return None

    def _set_cookie(self, tokens: SessionTokens | None) -> tuple[bytes, bytes]:
        """The header that sets the cookie, or deletes it if `tokens` is None."""
        value, seconds = "", 0
        if tokens is not None:
            sealed = self._world.secrets.seal(msgspec.json.encode(tokens), COOKIE_CONTEXT)
            value = base64.urlsafe_b64encode(sealed).decode()
            seconds = max(0, round((tokens.refresh_token_expires_at - self._world.clock()).total_seconds()))
        settings = self._world.settings
        text = cookie(settings, COOKIE, value, path=COOKIE_PATH, seconds=seconds, same_site="Strict")
        return b"set-cookie", text.encode()


def _take_tokens(response: HeldResponse) -> SessionTokens:
    """Remove the tokens from the body of a sign-in or refresh, and return them."""
    fields = response.read_fields()
    tokens = msgspec.convert(
        [fields[name] for name in ("accessToken", "accessTokenExpiresAt", "refreshToken", "refreshTokenExpiresAt")],
        SessionTokens,
    )
    response.body[:] = to_json({name: value for name, value in fields.items() if name not in TOKEN_FIELDS})
    return tokens


def _is_about_session(status: int, operation: Operation[Any, Any] | None) -> bool:
    """Whether the middleware must see a response: it may begin, refresh or end the session."""
    if status >= 300 or operation is None:
        return status == 401
    return operation.returns is DeveloperSignInResult or operation is sign_out_developer


def _lacks_session(response: HeldResponse) -> bool:
    return response.status == 401 and response.read_fields().get("code") in NO_SESSION_CODES


def _require_own_page(scope: Scope, settings: "Settings") -> None:
    """Raise CrossSiteRequest unless a page of this server sent the request.

    Browsers send `Sec-Fetch-Site` only to trustworthy origins (https, loopback), and `Origin` not with a GET. Without
    both, only the header of our own scripts shows where a request comes from.
    """
    has_own_header = _values(scope, OWN_PAGE_HEADER) == ["1"]
    if scope["method"] != "GET" and not has_own_header:  # type: ignore[typeddict-item] - HEAD is handled as GET
        raise CrossSiteRequest
    fetch_sites, origins = _values(scope, b"sec-fetch-site"), _values(scope, b"origin")
    if fetch_sites:
        is_own = fetch_sites == ["same-origin"]
    elif origins:
        host = next(iter(_values(scope, b"host")), None)
        is_own = len(origins) == 1 and is_own_origin(origins[0], host, settings)
    else:
        is_own = has_own_header
    if not is_own:
        raise CrossSiteRequest


def _cookie_of(scope: Scope, settings: "Settings") -> str | None:
    """The value of the session's cookie; None if the request has none."""
    name = cookie_name(settings, COOKIE)
    for header in _values(scope, b"cookie"):
        for pair in header.split(";"):
            key, _, value = pair.strip().partition("=")
            if key == name:
                return value
    return None


def _values(scope: Scope, name: bytes) -> list[str]:
    """The values of a request header, one for each time it was sent."""
    return [value.decode("latin-1") for key, value in scope["headers"] if key == name]


def _request_id(scope: Scope) -> str:
    return str(scope.get("postern_request_id", ""))
