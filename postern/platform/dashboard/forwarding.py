"""Forwarding of the dashboard's requests to the API in the same process: which are allowed, and their responses."""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote

import msgspec
from litestar.types import ASGIApp, Message, Receive, Scope, Send

from postern.kernel.http.operation import Operation
from postern.platform.dashboard.model import API_PATH, OWN_PAGE_HEADER

Headers = Sequence[tuple[bytes, bytes]]
ShouldHold = Callable[[int, Operation[Any, Any] | None], bool]
"""Whether to hold a response (return it to the middleware DashboardSession) instead of sending it to the client. The
arguments are its status and the operation that responds."""

FORWARDED = "postern_dashboard"
"""The key in the ASGI scope that marks requests of the middleware."""
DEVELOPER_AUTH = "/auth/"
"""The beginning of the paths of the public operations with which developers sign in."""
DROPPED_HEADERS = (b"authorization", b"cookie", OWN_PAGE_HEADER)
"""Headers of the dashboard's requests that are not passed on to the API."""
CLIENT_HEADERS = (b"host", b"user-agent")
"""Headers that the middleware copies from the browser's request to its own requests."""


class DashboardPaths:
    """The paths to which the dashboard may send requests: operations that accept developers, and their sign-in."""

    def __init__(self, operations: Iterable[Operation[Any, Any]]) -> None:
        self._own: set[str] = set()
        patterns: dict[str, list[str]] = {}
        for operation in operations:
            is_own = operation.path.startswith(API_PATH)
            if is_own:
                self._own.add(operation.path)
            if is_own or _is_for_developers(operation):
                parts = re.split(r"{\w+}", operation.path.removeprefix(API_PATH))
                patterns.setdefault(operation.method, []).append("[^/]+".join(map(re.escape, parts)))
        self._expressions = {method: "|".join(paths) for method, paths in patterns.items()}
        self._patterns: dict[str, re.Pattern[str]] = {}
        """The compiled expressions of the methods that were requested."""

    def target_of(self, method: str, path: str) -> str | None:
        """The path in the API for a request to `path`; None if there is no such operation for the dashboard."""
        target = path.removeprefix(API_PATH)
        if method not in self._patterns and method in self._expressions:
            self._patterns[method] = re.compile(self._expressions[method])
        if method not in self._patterns or not self._patterns[method].fullmatch(target):
            return None
        return path if path in self._own else target


def _is_for_developers(operation: Operation[Any, Any]) -> bool:
    if operation.hidden:
        return False
    return "developer" in operation.accepts or (not operation.accepts and operation.path.startswith(DEVELOPER_AUTH))


@dataclass
class HeldResponse:
    """A complete response of the API that was not sent to the client yet."""

    status: int
    headers: Headers
    operation: Operation[Any, Any] | None
    """The operation that responded; None if the path has no operation."""
    body: bytearray = field(default_factory=bytearray)

    @property
    def is_success(self) -> bool:
        """Whether the status is 2xx."""
        return self.status < 300

    def read_fields(self) -> dict[str, Any]:
        """The fields of the JSON object in the body; empty if the body is something else."""
        try:
            return msgspec.json.decode(bytes(self.body), type=dict[str, Any])
        except msgspec.DecodeError:
            return {}

    async def send(self, send: Send, added: Headers) -> None:
        """Send the response to the client, with the headers in `added`."""
        headers = [(name, value) for name, value in self.headers if name != b"content-length"]
        headers += [(b"content-length", b"%d" % len(self.body)), *added]
        await send({"type": "http.response.start", "status": self.status, "headers": headers})
        await send({"type": "http.response.body", "body": bytes(self.body), "more_body": False})


async def forward(
    app: ASGIApp,
    scope: Scope,
    path: str,
    token: str | None,
    receive: Receive,
    send: Send,
    *,
    added: Headers,
    should_hold: ShouldHold,
) -> HeldResponse | None:
    """Call the API at `path` with a request of the dashboard, and with an access token or without a credential.

    Parts of the response are sent to the client as they come, with the headers in `added`, and None is returned.
    Responses for which `should_hold` returns True are not sent, but returned.
    """
    headers = [(name, value) for name, value in scope["headers"] if name not in DROPPED_HEADERS]
    if token is not None:
        headers.append((b"authorization", b"Bearer " + token.encode()))
    inner = _inner_scope(scope, path, headers)
    held: HeldResponse | None = None

    async def send_or_hold(message: Message) -> None:
        nonlocal held
        if message["type"] == "http.response.start":
            operation = _operation_of(inner)
            if should_hold(message["status"], operation):
                held = HeldResponse(message["status"], [*message["headers"]], operation)
            else:
                await send({**message, "headers": [*message["headers"], *added]})  # type: ignore[misc,arg-type]
        elif held is None:
            await send(message)
        elif message["type"] == "http.response.body":
            held.body += message["body"]

    try:
        await app(inner, receive, send_or_hold)
    finally:
        scope["route_handler"] = inner.get("route_handler")  # type: ignore[typeddict-item] - for log and metrics
    return held


async def post(app: ASGIApp, scope: Scope, path: str, token: str | None, body: bytes) -> HeldResponse:
    """Call an operation with a JSON body. The address and the user agent are those of the request in `scope`."""
    headers = [(name, value) for name, value in scope["headers"] if name in CLIENT_HEADERS]
    headers += [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(body))]
    own_scope: Any = {**scope, "method": "POST", "query_string": b"", "headers": headers}

    async def receive() -> Any:
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(message: Message) -> None:
        raise AssertionError("The response is held.")

    response = await forward(app, own_scope, path, token, receive, send, added=(), should_hold=lambda *_: True)
    assert response is not None
    return response


def _inner_scope(scope: Scope, path: str, headers: Headers) -> Any:
    # Litestar caches in `state` what it has read of a request.
    return {**scope, "path": path, "raw_path": quote(path).encode(), "headers": headers, "state": {}, FORWARDED: True}


def _operation_of(scope: Any) -> Operation[Any, Any] | None:
    handler = scope.get("route_handler")
    return handler.opt.get("operation") if handler is not None else None
