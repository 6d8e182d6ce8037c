"""Handles a request to an operation: checks its credential and rate limit, binds its arguments, and calls the function.

`admit` turns the credential into a Call; the function's return value becomes the response.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from ipaddress import ip_address
from typing import Any
from uuid import UUID

from litestar import Response
from litestar.connection import ASGIConnection
from litestar.handlers import BaseRouteHandler, HTTPRouteHandler

from postern.kernel.http.binding import bind_arguments
from postern.kernel.http.call import (
    NOBODY,
    Call,
    Caller,
    CredentialInvalid,
    CredentialMissing,
    CredentialNotAccepted,
    EmailUnverified,
    Origin,
    PermissionMissing,
)
from postern.kernel.http.compatible_api import CompatibleApi
from postern.kernel.http.operation import Operation, RawRequest
from postern.kernel.http.problems import Invalid
from postern.kernel.http.responses import respond
from postern.kernel.limits import RateLimit, RateLimitState, TooManyRequests
from postern.kernel.values import NO_ID, as_id

VISITOR_ADDRESS, VISITOR_AGENT = "Postern-Visitor-Address", "Postern-Visitor-Agent"
"""The visitor's IP address and user agent. A project's server sends them when it calls sign-in operations with its
secret key."""

ADDRESS_LIMIT = 64
AGENT_LIMIT = 512
PROJECT_RATE_WINDOW = timedelta(seconds=1)


def handler_of(operation: Operation[Any, Any]) -> HTTPRouteHandler:
    """The Litestar route of an operation."""
    bind = bind_arguments(operation)

    async def handle(request: RawRequest) -> Response[Any]:
        call: Call = request.scope["postern_call"]  # type: ignore[typeddict-item]
        value = await operation.function(**await bind(request, call))
        return respond(operation, call, value)

    handle.__name__ = operation.name
    return GuardedHandler(
        re.sub(r"{(\w+)}", r"{\1:str}", operation.path),
        http_method=operation.method,  # pyright: ignore[reportArgumentType] - a valid method
        opt={"operation": operation, "needs": operation.needs},
        request_max_body_size=operation.body_limit,
        guards=[admit],
        status_code=200,
        name=f"{operation.method} {operation.path}",
    )(handle)


class GuardedHandler(HTTPRouteHandler):
    """A route that passes itself to its guard. Litestar would copy the handler, which costs more than the guard."""

    async def authorize_connection(self, connection: ASGIConnection[Any, Any, Any, Any]) -> None:
        for guard in self.resolve_guards():
            await guard(connection, self)  # pyright: ignore[reportGeneralTypeIssues]


async def admit(connection: ASGIConnection[Any, Any, Any, Any], handler: BaseRouteHandler) -> None:
    """The guard of all routes: checks credential, e-mail verification, permission and rate limit, and stores a Call in
    the scope. Raises Unauthenticated, Forbidden or RateLimited."""
    operation: Operation[Any, Any] = handler.opt["operation"]
    state, scope = connection.app.state, connection.scope
    world = state.world
    path = connection.path_params
    project_text = path.get("project_id", path.get("app_id"))
    project_id = as_id(project_text) if project_text is not None else None
    client = scope.get("client")
    agent = connection.headers.get("user-agent", "")
    origin = Origin(ip=client[0][:ADDRESS_LIMIT] if client else "", user_agent=agent[:AGENT_LIMIT])
    caller = NOBODY
    headers: dict[str, str] = {}
    if operation.accepts:
        read_token = operation.compatible_api.read_token if operation.compatible_api else read_bearer
        caller = await _read_caller(state.readers, connection, world, project_id, origin, read_token)
        if caller.kind not in operation.accepts:
            raise CredentialMissing if caller.kind == "nobody" else CredentialNotAccepted
        if caller.kind == "secret_key" and "nobody" in operation.accepts:
            origin = _visitor_origin(connection.headers, origin)
        if not caller.is_verified and not (caller.may(operation.needs) if operation.needs else operation.unverified):
            raise EmailUnverified
        # Operations that accept customers' tokens act only on that customer, so they need no permission.
        if operation.needs and caller.kind != "customer" and not caller.may(operation.needs):
            raise PermissionMissing(f"This operation needs the permission `{operation.needs}`.")
    if operation.compatible_api is not None and operation.accepts:
        project_id = caller.project_id
        headers |= _take_of_compatible_api(connection, world, caller, operation.compatible_api)
    elif project_id is not None or caller.account_id is not None:
        rate = _rate_of(world, caller)
        headers["RateLimit-Policy"] = rate.policy
        headers["RateLimit"] = world.limiter.take(rate, str(project_id or caller.account_id))
    scope["postern_call"] = Call(  # type: ignore[typeddict-unknown-key]
        world=world,
        db=world.db,
        caller=caller,
        now=world.clock(),
        request_id=scope.get("postern_request_id", ""),  # type: ignore[arg-type]
        origin=origin,
        project_id=NO_ID if project_id is None else project_id,
        if_match=connection.headers.get("if-match"),
        headers=headers,
    )


def _visitor_origin(headers: Mapping[str, str], origin: Origin) -> Origin:
    """The visitor's address and user agent, if the project's server sends them. Raises Invalid for a malformed address.

    Without the headers, all visitors share the limits of the server's address.
    """
    address, agent = headers.get(VISITOR_ADDRESS), headers.get(VISITOR_AGENT)
    if address is not None:
        try:
            address = str(ip_address(address.strip()))
        except ValueError:
            raise Invalid.at(f"header/{VISITOR_ADDRESS}", "This is not an IP address.") from None
    return Origin(
        ip=origin.ip if address is None else address,
        user_agent=origin.user_agent if agent is None else agent[:AGENT_LIMIT],
    )


def _rate_of(world: Any, caller: Caller) -> RateLimit:
    quota = getattr(getattr(caller.project, "settings", None), "rate_limit", None)
    return RateLimit("project", world.settings.project_rate if quota is None else quota, PROJECT_RATE_WINDOW)


def _take_of_compatible_api(
    connection: ASGIConnection[Any, Any, Any, Any], world: Any, caller: Caller, api: CompatibleApi
) -> dict[str, str]:
    """Take one request from the project's rate limit. Returns the headers, which responses to errors have too."""
    scope: Any = connection.scope
    rate, now = _rate_of(world, caller), world.clock()
    try:
        state = world.limiter.take_request(rate, str(caller.project_id))
    except TooManyRequests as refusal:
        refused = RateLimitState(rate, 0, refusal.retry_after_seconds or 1)
        scope["postern_headers"] = api.rate_limit_headers(refused, now)
        raise
    scope["postern_headers"] = api.rate_limit_headers(state, now)
    return {**scope["postern_headers"]}


async def _read_caller(
    readers: Sequence[Any],
    connection: ASGIConnection[Any, Any, Any, Any],
    world: Any,
    project_id: UUID | None,
    origin: Origin,
    read_token: Callable[[Mapping[str, str]], str | None],
) -> Caller:
    token = read_token(connection.headers)
    if token is None:
        return NOBODY
    for read in readers:
        caller = await read(world, token, project_id, origin)
        if caller is not None:
            return caller
    raise CredentialInvalid


BEARER_LIMIT = 16_384
"""Longest credential, in characters: that of a customer with many roles, permissions and declared metadata."""


def read_bearer(headers: Mapping[str, str]) -> str | None:
    """The bearer token of a request (RFC 6750 §2.1), or None. Raises CredentialInvalid if the header is malformed."""
    text = headers.get("authorization")
    if text is None:
        return None
    scheme, _, token = text.partition(" ")
    token = token.strip()
    if scheme.lower() != "bearer" or not token or len(token) > BEARER_LIMIT or not token.isascii():
        raise CredentialInvalid("Send the credential as `Authorization: Bearer …`.")
    return token
