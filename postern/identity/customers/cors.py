"""Cross-origin requests from web pages to the operations that customers call (Fetch §3.2, "CORS protocol").

Only these operations are allowed, and only for the origins in the project's `allowedOrigins`; the endpoints that OAuth
clients in browsers call, for all origins, because such clients need not belong to the project. Cookies are not used:
`Access-Control-Allow-Credentials` is never sent.
"""

import re
from collections import OrderedDict
from datetime import timedelta
from typing import TYPE_CHECKING
from uuid import UUID

from litestar.types import ASGIApp, Message, Receive, Scope, Send

from postern.kernel.http.call import ProjectMissing
from postern.kernel.values import Moment, as_id
from postern.platform.projects import operations as projects

if TYPE_CHECKING:
    from postern.world import World

PATHS = re.compile(
    r"^/projects/([0-9a-fA-F-]{36})/(auth/(?!pages/)|\.well-known/|access/check|b2b/(entitlements|domain))"
)
"""Paths that web pages of other origins may request; group 1 is the id of the project."""
OAUTH_PATHS = re.compile(
    r"^/(projects/[0-9a-fA-F-]{36}/(oauth/(token|userinfo|revoke|par|register)|\.well-known/[a-z.-]+)"
    r"|\.well-known/oauth-authorization-server/projects/[0-9a-fA-F-]{36})$"
)
"""Paths that web pages of all origins may request: what they need is in the request, never in a cookie."""
METHODS = b"GET, POST, PATCH, DELETE"
HEADERS = b"authorization, content-type, dpop, if-match, if-none-match, x-request-id"
EXPOSED = b"dpop-nonce, etag, link, ratelimit, ratelimit-policy, retry-after, www-authenticate, x-request-id"
PREFLIGHT_SECONDS = b"600"
ORIGINS_LIFE = timedelta(seconds=5)
"""How long the `allowedOrigins` of a project are cached."""
MAX_CACHED_PROJECTS = 10_000
"""Maximum number of projects whose `allowedOrigins` are cached."""


class CustomersCors:
    """ASGI middleware for requests with an `Origin` header: handles preflights and adds CORS headers to responses."""

    def __init__(self, app: ASGIApp, world: "World") -> None:
        self._app, self._world = app, world
        self._cache: OrderedDict[UUID, tuple[Moment, frozenset[str]]] = OrderedDict()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        is_http = scope["type"] == "http"
        for_all = is_http and OAUTH_PATHS.match(scope["path"]) is not None
        match = PATHS.match(scope["path"]) if is_http else None
        origin = _header(scope, b"origin") if for_all or match else None
        if origin is None or not (for_all or match):
            await self._app(scope, receive, send)
            return
        allowed = for_all or (match is not None and origin in await self._origins(as_id(match[1])))
        if scope.get("method") == "OPTIONS" and _header(scope, b"access-control-request-method"):
            await _preflight(send, origin, allowed)
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = [*message["headers"], (b"vary", b"Origin")]
                if allowed:
                    headers += [
                        (b"access-control-allow-origin", origin.encode()),
                        (b"access-control-expose-headers", EXPOSED),
                    ]
                message = {**message, "headers": headers}  # type: ignore[misc]
            await send(message)

        await self._app(scope, receive, send_with_headers)

    async def _origins(self, project_id: UUID) -> frozenset[str]:
        """The `allowedOrigins` of a project; none if the project does not exist."""
        now = self._world.clock()
        if project_id in self._cache:
            read_at, origins = self._cache[project_id]
            if timedelta(0) <= now - read_at < ORIGINS_LIFE:
                return origins
        try:
            project = await projects.require_project(self._world.db, project_id)
        except ProjectMissing:
            return frozenset()
        origins = frozenset(project.settings.sign_in.allowed_origins)
        self._cache[project_id] = now, origins
        if len(self._cache) > MAX_CACHED_PROJECTS:
            self._cache.popitem(last=False)
        return origins


async def _preflight(send: Send, origin: str, allowed: bool) -> None:
    headers = [(b"vary", b"Origin, Access-Control-Request-Method, Access-Control-Request-Headers")]
    if allowed:
        headers += [
            (b"access-control-allow-origin", origin.encode()),
            (b"access-control-allow-methods", METHODS),
            (b"access-control-allow-headers", HEADERS),
            (b"access-control-max-age", PREFLIGHT_SECONDS),
        ]
    await send({"type": "http.response.start", "status": 204, "headers": headers})
    await send({"type": "http.response.body", "body": b"", "more_body": False})


def _header(scope: Scope, name: bytes) -> str | None:
    return next((value.decode("latin-1") for key, value in scope["headers"] if key == name), None)
