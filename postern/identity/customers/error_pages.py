"""The page of a problem on one of a project's pages: with its brand and texts, and a way back.

The problems of forms are shown in the forms. Here are those that leave no form to show: a link that another app made, a
sign-in that was begun in another browser, a page that does not exist.
"""

import re
from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import timedelta
from urllib.parse import quote, urlencode
from uuid import UUID

import structlog
from psycopg import Error
from psycopg_pool import PoolTimeout

from postern.identity.customers.pages import hosted_page
from postern.kernel.database.statements import Queries
from postern.kernel.http.call import ANONYMOUS, Call
from postern.kernel.http.handler import LANGUAGE_PARAMETERS, origin_of
from postern.kernel.http.operation import RawRequest
from postern.kernel.http.problems import Problem
from postern.kernel.http.responses import HttpResponse
from postern.kernel.limits import RateLimit, network_of
from postern.web.pages import ShownError
from postern.web.problem_texts import FAILED

PROJECT_PATH = re.compile(r"/projects/([0-9a-fA-F-]{36})/(?:auth|oauth)/")
"""The paths of the pages of a project."""
CONNECTION_PATH = re.compile(r"/sso/(?:saml|oidc)/([0-9a-fA-F-]{36})/")
"""The paths of a single sign-on connection."""
FindProjectOfConnection = Callable[[Queries, UUID], Awaitable[UUID | None]]
"""Returns the project of a single sign-on connection, by its id; None if there is no such connection."""
PAGES_PATH = re.compile(r"/projects/[0-9a-fA-F-]{36}/auth/pages/[^?#]*")
"""The paths whose pages can be shown again in another language."""
QUERY_LIMIT = 2_000
"""Maximum length of a query that the links to other languages repeat, in bytes."""
ERROR_PAGES = RateLimit("error-pages", 20, timedelta(seconds=1))
"""How many of these pages read a project, for each network that asks and for each project. A refused request, as by a
rate limit, or one for an unknown page, would otherwise cost a query that no other limit counts."""
UNAVAILABLE_STATUS = 503
log: structlog.stdlib.BoundLogger = structlog.get_logger(__name__)


async def branded_error_page(request: RawRequest, shown: ShownError) -> HttpResponse | None:
    """The page of a problem on a page of a project; None if the project cannot be read, or too many pages fail."""
    path = request.scope["path"]
    connection = CONNECTION_PATH.match(path)
    match = connection or PROJECT_PATH.match(path)
    if match is None or shown.status == UNAVAILABLE_STATUS:
        return None
    try:
        shown_id = UUID(match[1])
    except ValueError:
        return None
    world = request.app.state.world
    call = Call(
        world=world,
        db=world.db,
        caller=ANONYMOUS,
        now=world.clock(),
        request_id=shown.request_id,
        origin=origin_of(request),
    )
    try:
        world.limiter.take(ERROR_PAGES, network_of(call.origin.ip))
        world.limiter.take(ERROR_PAGES, str(shown_id))
        project_id: UUID | None = shown_id
        if connection is not None:
            project_id = await world.hooks.project_of_connection(world.db, shown_id)
        if project_id is None:
            return None
        call = replace(call, project_id=project_id)
        return await hosted_page(
            call,
            "error.html",
            None,
            status=shown.status,
            headers=shown.headers,
            switch_url=_switch_url(request),
            heading=FAILED,
            message=shown.text,
            reference=shown.request_id,
            time=call.now,
        )
    except (Problem, Error, PoolTimeout):
        return None
    except Exception:  # Perhaps the cause of this problem: the plain page needs none of it.
        log.exception("error_page_failed", path=path)
        return None


def _switch_url(request: RawRequest) -> str | None:
    """The URL of the page without its language; None if it cannot be opened again."""
    path, query = request.scope["path"], request.scope["query_string"]
    if request.method != "GET" or len(query) > QUERY_LIMIT or not PAGES_PATH.fullmatch(path):
        return None
    kept = [pair for pair in request.query_params.multi_items() if pair[0] not in LANGUAGE_PARAMETERS]
    return f"{quote(path)}?{urlencode(kept)}"
