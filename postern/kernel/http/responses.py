"""Responses with a media type of their own, and responses to the exceptions that operations raise."""

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any

import psycopg
import structlog
from litestar import Response
from litestar.exceptions import HTTPException
from litestar.types import Receive, Scope, Send
from psycopg_pool import PoolTimeout

from postern.kernel.database.statements import constraint_of
from postern.kernel.http.compatible_api import CompatibleApi
from postern.kernel.http.operation import RawRequest
from postern.kernel.http.problems import BadRequest, Conflict, ContentTooLarge, Invalid, Missing, Problem, Unavailable
from postern.kernel.values import to_json

log: structlog.stdlib.BoundLogger = structlog.get_logger(__name__)


AUTHENTICATE = 'Bearer realm="postern"'


@dataclass(frozen=True)
class HttpResponse:
    """A response with a media type, status or headers of its own, instead of the JSON of a record."""

    content: bytes | str | AsyncIterator[bytes] = b""
    media_type: str = "application/json"
    status: int = 200
    headers: dict[str, str] | None = None


class AwaitedResponse(Response[bytes]):
    """A response that is made when it is sent: Litestar does not await what an exception handler returns."""

    def __init__(self, make: Callable[[], Awaitable[Response[bytes]]]) -> None:
        super().__init__(b"")
        self._make = make

    def to_asgi_response(self, app: Any, request: Any, **options: Any) -> Any:
        """The ASGI application that makes the response and sends it."""

        async def send_made(scope: Scope, receive: Receive, send: Send) -> None:
            response = await self._make()
            await response.to_asgi_response(app=app, request=request, **options)(scope, receive, send)

        return send_made


class NotFound(Missing):
    """There is no operation at this path."""


class MethodNotAllowed(BadRequest):
    """This path does not support that method; the `Allow` header lists those that it supports."""

    status = 405


class BodyTooLarge(ContentTooLarge):
    """The body is larger than this operation accepts."""


class RequestIncomplete(BadRequest):
    """The client closed the connection before its request was complete."""


class DatabaseUnavailable(Unavailable, code="database_away"):
    """The database does not respond; nothing was changed. Try again shortly."""


class InUse(Conflict):
    """Another record still uses this one."""


class InternalError(Problem):
    """An internal error occurred; the server's log has details under the request id."""


def error_response(request: RawRequest, error: Exception) -> Response[bytes]:
    """The response with the problem document for an exception that an operation raised; logs unexpected errors."""
    request_id: str = request.scope.get("postern_request_id", "")  # type: ignore[assignment]
    problem = _logged_problem(request, error, request_id)
    response = problem_response(problem, request_id)
    response.headers.update(_allow_header(problem, error))
    return response


def error_response_of_api(api: CompatibleApi, request: RawRequest, error: Exception) -> Response[bytes]:
    """Like `error_response`, with the body and the rate limit headers of the API that the operation is
    compatible with."""
    request_id: str = request.scope.get("postern_request_id", "")  # type: ignore[assignment]
    problem = _logged_problem(request, error, request_id)
    status, body = api.render_problem(problem)
    headers: dict[str, str] = request.scope.get("postern_headers", {})  # type: ignore[assignment]
    headers = {**headers, **_allow_header(problem, error), **_problem_headers(problem, status)}
    return Response(to_json(body), status_code=status, media_type=api.media_type, headers=headers)


def _logged_problem(request: RawRequest, error: Exception, request_id: str) -> Problem:
    """The problem for an exception; logs unexpected errors."""
    problem = as_problem(error)
    if isinstance(problem, RequestIncomplete):
        log.info("request_incomplete", request_id=request_id, path=request.scope["path"])
    elif isinstance(problem, InternalError):
        log.error("unexpected_error", request_id=request_id, path=request.scope["path"], exc_info=error)
    elif isinstance(problem, DatabaseUnavailable):
        log.warning("database_away", request_id=request_id, error=str(error).strip())
    return problem


def _allow_header(problem: Problem, error: Exception) -> dict[str, str]:
    """The `Allow` header if the method is not supported (RFC 9110 §15.5.6)."""
    if not (isinstance(problem, MethodNotAllowed) and isinstance(error, HTTPException) and error.headers):
        return {}
    methods = {method.strip() for method in error.headers.get("allow", "").split(",")}
    return {"Allow": ", ".join(sorted(methods | ({"HEAD"} if "GET" in methods else set())))}


def problem_response(problem: Problem, request_id: str) -> Response[bytes]:
    """The response with the problem document, and `Retry-After` or `WWW-Authenticate` if the problem needs them."""
    return Response(
        to_json(problem_document(problem, request_id)),
        status_code=problem.status,
        media_type="application/problem+json",
        headers=_problem_headers(problem, problem.status),
    )


async def send_problem(
    problem: Problem, request_id: str, send: Send, headers: Sequence[tuple[bytes, bytes]] = ()
) -> None:
    """Respond with a problem document from an ASGI middleware, before the request reaches an operation."""
    body = to_json(problem_document(problem, request_id))
    fields = [
        (name.lower().encode(), value.encode()) for name, value in _problem_headers(problem, problem.status).items()
    ]
    fields += [(b"content-type", b"application/problem+json"), (b"content-length", b"%d" % len(body)), *headers]
    await send({"type": "http.response.start", "status": problem.status, "headers": fields})
    await send({"type": "http.response.body", "body": body, "more_body": False})


def _problem_headers(problem: Problem, status: int) -> dict[str, str]:
    """`Retry-After` and `WWW-Authenticate`, if the problem needs them; `status` is that of the response."""
    headers: dict[str, str] = {}
    if problem.retry_after_seconds is not None:
        headers["Retry-After"] = str(problem.retry_after_seconds)
    if status == 401:
        challenge = f", {problem.challenge}" if problem.challenge else ""
        headers["WWW-Authenticate"] = f"{AUTHENTICATE}{challenge}"
    return headers


def problem_document(problem: Problem, request_id: str) -> dict[str, Any]:
    """The problem as a JSON object (RFC 9457)."""
    next_step = {"next": problem.next} if problem.next else {}
    return {
        "type": f"/problems/{problem.code()}",
        "title": problem.title(),
        "status": problem.status,
        "detail": problem.detail,
        "code": problem.code(),
        "requestId": request_id,
        "errors": problem.errors,
        **next_step,
    }


def as_problem(error: Exception) -> Problem:
    """The problem to report for an exception: itself, DatabaseUnavailable and others; InternalError if unexpected."""
    if isinstance(error, Problem):
        return error
    if isinstance(error, HTTPException):
        by_status: dict[int, Problem] = {404: NotFound(), 405: MethodNotAllowed(), 413: BodyTooLarge()}
        if error.status_code in by_status:
            return by_status[error.status_code]
        if error.status_code < 500:
            return BadRequest(str(error.detail))
    if isinstance(error, psycopg.errors.NumericValueOutOfRange | psycopg.errors.UntranslatableCharacter):
        return Invalid("A value is out of the range that can be stored.")
    # Constraints with such names are violated by deleting a record that another one needs.
    if isinstance(error, psycopg.errors.CheckViolation) and constraint_of(error).startswith("used_by_"):
        return InUse()
    if isinstance(error, psycopg.OperationalError | PoolTimeout):
        return DatabaseUnavailable()
    return InternalError()
