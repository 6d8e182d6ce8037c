"""Requests by the host names of hosted pages: only the pages and the OpenID provider of the name's project are there.

A browser stays on one host during a sign-in, because cookies belong to a host. So what begins one redirects from the
host of this server to that of the project's pages, if it has one.
"""

import re
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit
from uuid import UUID

from litestar.types import ASGIApp, Receive, Scope, Send

from postern.kernel.http.responses import NotFound, send_problem
from postern.kernel.values import as_id
from postern.messaging.certificates.pages_domains import PagesDomains, pages_base_url

if TYPE_CHECKING:
    from postern.world import World

PROJECT_PATHS: Final = re.compile(
    r"/projects/([0-9a-fA-F-]{36})/(auth/pages/|auth/providers/(callback|[^/]+/start)(?!.)|oauth/|\.well-known/)"
    r"|/\.well-known/oauth-authorization-server/projects/([0-9a-fA-F-]{36})(?!.)",
    re.DOTALL,
)
"""What is at the host of a project's pages. The first or last group is the id of the project."""
COMMON_PATHS: Final = re.compile(r"/assets/|/\.well-known/acme-challenge/|/(healthz|favicon\.ico)(?!.)", re.DOTALL)
"""What is at the hosts of all pages: their files, answers to certificate authorities, and whether the server runs."""
ENTRIES: Final = re.compile(
    r"/projects/([0-9a-fA-F-]{36})/(auth/pages/.+|auth/providers/[^/]+/start|oauth/(authorize|device|logout))(?!.)",
    re.DOTALL,
)
"""What begins a visit of the pages of the project in the first group."""


class PagesHosts:
    """Decides about requests by their `Host`. No header of a proxy, such as `X-Forwarded-Host`, is read."""

    def __init__(self, world: "World") -> None:
        self._world = world
        self._own_host = urlsplit(world.settings.public_url).hostname

    def handler_for(self, scope: Scope) -> ASGIApp | None:
        """The application that responds instead of the API; None if the API does."""
        domains = self._world.resources[PagesDomains]
        if domains.is_empty:
            return None
        host = _host_of(scope)
        if domains.is_known(host):
            return None if _is_at_host(scope["path"], domains.project_of(host)) else _not_found
        if host == self._own_host and scope.get("method") == "GET" and (entry := ENTRIES.match(scope["path"])):
            project_id = as_id(entry[1])
            if domains.name_of(project_id) is not None:
                return _Redirect(pages_base_url(self._world, project_id))
        return None


class _Redirect:
    """Redirects a request to the same path and query at another base URL."""

    def __init__(self, base_url: str) -> None:
        self._base_url = base_url

    async def __call__(self, scope: Scope, _receive: Receive, send: Send) -> None:
        query = scope.get("query_string", b"")
        location = self._base_url.encode() + scope["raw_path"] + (b"?" + query if query else b"")
        headers = [(b"location", location), (b"referrer-policy", b"no-referrer"), (b"content-length", b"0")]
        await send({"type": "http.response.start", "status": 302, "headers": headers})
        await send({"type": "http.response.body", "body": b"", "more_body": False})


async def _not_found(scope: Scope, _receive: Receive, send: Send) -> None:
    await send_problem(NotFound(), scope["postern_request_id"], send)  # type: ignore[typeddict-item]


def _host_of(scope: Scope) -> str:
    """The host of a request in lower case, without its port and a final dot."""
    host = next((value.decode("latin-1") for name, value in scope["headers"] if name == b"host"), "")
    return host.partition(":")[0].rstrip(".").lower()


def _is_at_host(path: str, project_id: UUID | None) -> bool:
    """Whether a path is at the host of the pages of a project; `project_id` is None if the host is not served now."""
    if COMMON_PATHS.match(path):
        return True
    match = PROJECT_PATHS.match(path)
    return match is not None and project_id is not None and as_id(match[1] or match[4]) == project_id
