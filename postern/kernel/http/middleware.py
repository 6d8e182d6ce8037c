"""The outermost middleware: request ids, the access log, metrics, headers of every response, and the cancellation of
reads whose client has left."""

import asyncio
import re
import time
from collections.abc import Sequence
from typing import Any
from urllib.parse import urlsplit

import structlog
from litestar.types import ASGIApp, Message, Receive, Scope, Send
from prometheus_client import Counter, Histogram

from postern.kernel.http.problems import BadRequest, Forbidden
from postern.kernel.http.responses import RequestIncomplete, send_problem
from postern.kernel.values import is_loopback, new_id

log: structlog.stdlib.BoundLogger = structlog.get_logger(__name__)
REQUESTS = Counter("postern_http_requests_total", "Responses sent.", ["operation", "status"])
SECONDS = Histogram("postern_http_request_seconds", "Response time.", ["operation"])
CACHE_HEADERS = (b"cache-control", b"last-modified")
"""A response without either of these headers gets `cache-control: no-store`. Static files have `last-modified`."""

STRICT_TRANSPORT = (b"strict-transport-security", b"max-age=63072000")
"""HSTS for two years (RFC 6797), if the base URL is https."""

PAGE_PROTECTION = [
    (b"cross-origin-opener-policy", b"same-origin"),
    (
        b"permissions-policy",
        b"camera=(), display-capture=(), geolocation=(), microphone=(), payment=(), usb=(), browsing-topics=()",
    ),
]


HOST_NAME = re.compile(r"[A-Za-z0-9.-]{1,253}")

CLIENT_CLOSED_REQUEST = 499
"""The status in the log and the metrics if a client closed the connection before the response, as in nginx."""


class HostInvalid(BadRequest):
    """A request must have exactly one `Host` header."""


class HttpsRequired(Forbidden):
    """Send this request by HTTPS. It was not encrypted, so others may have read it: replace the key in it."""


PLAIN_PATHS = ("/.well-known/acme-challenge/", "/.well-known/postern/", "/healthz", "/readyz", "/metrics", "/zone")
"""Prefixes of the paths that are also served without TLS, to certificate authorities, proxies and the operator."""


class ReadOnlyTask:
    """The task that responds to a GET request, if the operation only reads the database.

    It is cancelled when the client closes the connection: otherwise, a client that repeats a request would occupy the
    database with results that nobody waits for. Of pipelined requests, only the task of the last one is cancelled.
    """

    def __init__(self) -> None:
        self.is_abandoned = False
        """Whether the task was cancelled because the client has left."""
        self._task: asyncio.Task[Any] | None = None
        self._has_client = True

    def begin(self) -> None:
        """Declare that the current task only reads from here on, so that it can be cancelled when the client leaves.

        Cancels it at once if the client has left already.
        """
        self._task = asyncio.current_task()
        if not self._has_client:
            self.abandon()

    def abandon(self) -> None:
        """Cancel the task, and with it the statement that the database executes for it."""
        self._has_client = False
        if self._task is not None and not self._task.done():
            self.is_abandoned = True
            self._task.cancel()


class HttpMiddleware:
    """ASGI middleware for request ids, access log, metrics, and headers of every response.

    Handles HEAD as GET without a body, escapes NUL in paths, and refuses requests without exactly one `Host` header
    (400). Raises RequestIncomplete in the application if the client disconnects before the body is complete.
    """

    REQUEST_ID = re.compile(rb"^[A-Za-z0-9_-]{8,128}$")

    def __init__(self, app: ASGIApp, world: Any, cross_origin: ASGIApp, mounted: tuple[str, ASGIApp]) -> None:
        """`cross_origin` handles requests with an `Origin` header, which may come from pages of other origins.

        `mounted` is a prefix of paths, and the application that handles all requests to paths with this prefix.
        """
        self._app = app
        self._world = world
        self._cross_origin = cross_origin
        self._mounted_path, self._mounted_app = mounted
        self._metrics: dict[tuple[str, int], tuple[Counter, Histogram]] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        sent_id = next((value for name, value in scope["headers"] if name == b"x-request-id"), b"")
        request_id = sent_id.decode() if self.REQUEST_ID.match(sent_id) else str(new_id())
        scope["postern_request_id"] = request_id  # type: ignore[typeddict-unknown-key]
        structlog.contextvars.clear_contextvars()
        structlog.contextvars.bind_contextvars(
            request_id=request_id, path=scope["path"], query=scope.get("query_string", b"").decode("latin-1")
        )
        started, status = time.perf_counter(), 500
        read_only_task = ReadOnlyTask()
        scope["postern_read_only_task"] = read_only_task  # type: ignore[typeddict-unknown-key]
        is_head = scope["method"] == "HEAD"
        if is_head:
            # Every GET also supports HEAD (RFC 9110 §9.3.2). The server's scope is not changed, because uvicorn
            # checks the length of the body by the method.
            scope = {**scope, "method": "GET", "postern_head": True}  # type: ignore[typeddict-item,typeddict-unknown-key]

        if "\0" in scope["path"]:
            # File system functions would raise for NUL. An escaped NUL makes the path unknown: 404.
            scope = {**scope, "path": scope["path"].replace("\0", "%00")}  # type: ignore[typeddict-item]
        body_follows = True

        async def receive_complete() -> Any:
            nonlocal body_follows
            message = await receive()
            if message["type"] == "http.disconnect" and body_follows:
                raise RequestIncomplete
            body_follows = body_follows and bool(message.get("more_body"))
            return message

        async def send_with_headers(message: Message) -> None:
            nonlocal status, body_follows
            if message["type"] == "http.response.start":
                # From here on, a disconnect does not mean that the request is incomplete: a client may end a stream.
                status, body_follows = message["status"], False
                headers = [*message["headers"], (b"x-request-id", request_id.encode())]
                headers.append((b"x-content-type-options", b"nosniff"))
                headers += self._protection(headers)
                if not any(name in CACHE_HEADERS for name, _ in headers):
                    # Responses may contain tokens and personal data (RFC 6749 §5.1).
                    headers.append((b"cache-control", b"no-store"))
                message = {**message, "headers": headers}  # type: ignore[misc]
            elif is_head and message["type"] == "http.response.body":
                message = {**message, "body": b""}  # type: ignore[misc]
            await send(message)

        try:
            if _has_one_host(scope):
                if self._must_use_tls(scope):
                    await _require_tls(scope, self._world.settings.public_url, request_id, send_with_headers)
                else:
                    await self._app_for(scope)(scope, receive_complete, send_with_headers)
            else:
                # RFC 9112 §3.2. Of several Host headers, a proxy may have used another one than this server would.
                await send_problem(HostInvalid(), request_id, send_with_headers)
        except asyncio.CancelledError:
            if not read_only_task.is_abandoned:
                raise
            status = CLIENT_CLOSED_REQUEST
        finally:
            handler: Any = scope.get("route_handler")
            operation = handler.opt.get("operation") if handler is not None else None
            name = operation.name if operation is not None else "unknown"
            count, seconds = self._metrics_of(name, status)
            count.inc()
            seconds.observe(time.perf_counter() - started)
            log.debug("request", operation=name, status=status, ms=round((time.perf_counter() - started) * 1000, 1))

    def _metrics_of(self, operation: str, status: int) -> tuple[Counter, Histogram]:
        """The metrics of an operation's responses with this status. `labels` would find them anew for each request."""
        metrics = self._metrics.get((operation, status))
        if metrics is None:
            metrics = REQUESTS.labels(operation, status), SECONDS.labels(operation)
            self._metrics[operation, status] = metrics
        return metrics

    def _must_use_tls(self, scope: Scope) -> bool:
        """Whether this server serves HTTPS, and a request from another machine does not use it."""
        if self._world.settings.https_port is None or scope["scheme"] == "https":
            return False
        client = scope["client"]
        return not scope["path"].startswith(PLAIN_PATHS) and client is not None and not is_loopback(client[0])

    def _app_for(self, scope: Scope) -> ASGIApp:
        """The application that handles a request."""
        if scope["path"].startswith(self._mounted_path):
            return self._mounted_app
        has_origin = any(name == b"origin" for name, _ in scope["headers"])
        return self._cross_origin if has_origin else self._app

    def _protection(self, headers: Sequence[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
        """Security headers for browsers."""
        protection: list[tuple[bytes, bytes]] = []
        if self._world.settings.has_tls:
            protection.append(STRICT_TRANSPORT)
        if any(name == b"content-type" and value.startswith(b"text/html") for name, value in headers):
            protection += PAGE_PROTECTION
        return protection


async def _require_tls(scope: Any, public_url: str, request_id: str, send: Send) -> None:
    """Respond to a request without TLS: redirect a GET to the same path by https, refuse others with HttpsRequired."""
    host = next((value.decode("latin-1") for name, value in scope["headers"] if name == b"host"), "")
    host = host.rpartition(":")[0] if ":" in host else host
    if scope["method"] != "GET" or not HOST_NAME.fullmatch(host):
        await send_problem(HttpsRequired(), request_id, send)
        return
    public = urlsplit(public_url)
    origin = f"https://{public.netloc if host.lower() == public.hostname else host}"
    query = scope.get("query_string", b"")
    path = scope.get("raw_path", b"/") + (b"?" + query if query else b"")
    headers = [(b"location", origin.encode() + path), (b"content-length", b"0")]
    await send({"type": "http.response.start", "status": 308, "headers": headers})
    await send({"type": "http.response.body", "body": b"", "more_body": False})


def _has_one_host(scope: Scope) -> bool:
    hosts = [value for name, value in scope["headers"] if name == b"host"]
    return len(hosts) == 1 or (not hosts and scope.get("http_version") == "1.0")
