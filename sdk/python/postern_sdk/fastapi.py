"""Sign customers in to a FastAPI application.

    app = FastAPI()
    add_sign_in(app)  # POSTERN_URL, POSTERN_PROJECT, POSTERN_KEY

    @app.get("/")
    async def home(customer: Annotated[CustomerSession, Depends(current_customer)]) -> str: ...

    @app.post("/invoices", dependencies=[Depends(require("invoices:write"))])
    async def create_invoice() -> None: ...

Browsers without a session are sent to the sign-in page and come back; other requests get 401 or 403 with a problem
document (RFC 9457). Besides the session's cookies, an access token as `Authorization: Bearer …` is accepted.
"""

from collections.abc import Awaitable, Callable
from typing import Annotated, Any, cast
from urllib.parse import parse_qsl

from fastapi import APIRouter, Depends, FastAPI
from fastapi.security import HTTPBearer
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from postern_sdk.errors import PosternError
from postern_sdk.sessions import CustomerSession, PermissionDenied, SessionError
from postern_sdk.sign_in import (
    NOT_CACHED,
    SIGN_IN_ACTIONS,
    VARY,
    Authentication,
    ServerUnavailable,
    SignIn,
    SignInRequired,
    WebRequest,
    WebResponse,
    read_cookies,
    run_async,
)

__all__ = [
    "CustomerSession",
    "PermissionDenied",
    "SignIn",
    "SignInRequired",
    "add_sign_in",
    "current_customer",
    "optional_customer",
    "require",
]

FORM_LIMIT = 65_536
"""Largest form, in bytes, that the routes of the sign-in read."""
_SCOPE_KEY = "postern_sdk"
_BEARER = HTTPBearer(auto_error=False, description="The access token of a customer. Browsers send a cookie instead.")


def add_sign_in(app: FastAPI, sign_in: SignIn | None = None, **settings: Any) -> SignIn:
    """Add the routes of the sign-in, what the dependencies need, and responses to their errors.

    `settings` are those of `SignIn`. To answer, say, `PermissionDenied` in another way, add an exception handler for
    it to the application.
    """
    sign_in = sign_in or SignIn(**settings)
    app.include_router(_router(sign_in))
    app.add_middleware(_Middleware, sign_in=sign_in)
    build = app.build_middleware_stack
    # Once more outside all other middleware: the response to an exception that nothing handles is sent there, and the
    # cookies of a refresh must not be lost with it.
    app.build_middleware_stack = lambda: _Middleware(build(), sign_in)

    async def refuse(request: Request, error: Exception) -> Response:
        return _response(sign_in.refuse(_web_request(request), cast("PosternError", error)))

    app.add_exception_handler(SessionError, refuse)
    app.add_exception_handler(ServerUnavailable, refuse)
    return sign_in


async def current_customer(request: Request, _bearer: Annotated[Any, Depends(_BEARER)] = None) -> CustomerSession:
    """Dependency: the customer's session. Without one, the response is the sign-in page, or 401."""
    return (await _authentication(request)).require()


async def optional_customer(
    request: Request, _bearer: Annotated[Any, Depends(_BEARER)] = None
) -> CustomerSession | None:
    """Dependency: the customer's session, or None. A bearer token that is not valid is still 401."""
    return (await _authentication(request)).optional()


def require(permission: str) -> Callable[..., Awaitable[CustomerSession]]:
    """A dependency: the session of a customer who has this permission. Without it, the response is 403."""

    async def permitted_customer(
        customer: Annotated[CustomerSession, Depends(current_customer)],
    ) -> CustomerSession:
        customer.require(permission)
        return customer

    return permitted_customer


class _RequestState:
    """What the middleware and the dependencies share for one request."""

    def __init__(self, sign_in: SignIn) -> None:
        self.sign_in = sign_in
        self.authentication: Authentication | None = None


class _Middleware:
    """Adds the cookies of a refreshed session to the response, whatever kind of response the route returns."""

    def __init__(self, app: ASGIApp, sign_in: SignIn) -> None:
        self._app, self._sign_in = app, sign_in

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        state: _RequestState | None = scope.get(_SCOPE_KEY)
        if state is None or state.sign_in is not self._sign_in:
            state = scope[_SCOPE_KEY] = _RequestState(self._sign_in)

        async def send_with_cookies(message: Message) -> None:
            if message["type"] == "http.response.start" and state.authentication is not None:
                headers = _varying(list(message.get("headers", [])))
                if state.authentication.cookies:
                    headers = _with_cookies(headers, state.authentication.cookies)
                message = {**message, "headers": headers}
            await send(message)

        await self._app(scope, receive, send_with_cookies)


def _varying(headers: list[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
    """Headers of a response that depends on the session, so that caches do not give it to other visitors."""
    named = b",".join(value for name, value in headers if name.lower() == b"vary").lower()
    present = {each.strip() for each in named.split(b",")}
    missing = [name for name in VARY if name.lower().encode() not in present]
    return [*headers, (b"vary", ", ".join(missing).encode())] if missing and b"*" not in present else headers


def _with_cookies(headers: list[tuple[bytes, bytes]], cookies: tuple[str, ...]) -> list[tuple[bytes, bytes]]:
    """Headers with cookies; a response with cookies of a session must not be stored by a shared cache."""
    control = b",".join(value for name, value in headers if name.lower() == b"cache-control").lower()
    if b"private" not in control:
        headers = [(name, value) for name, value in headers if name.lower() != b"cache-control"]
        headers.append((b"cache-control", NOT_CACHED.encode()))
    own = {value.partition(b"=")[0] for name, value in headers if name.lower() == b"set-cookie"}
    added = [cookie.encode() for cookie in cookies]
    return headers + [(b"set-cookie", cookie) for cookie in added if cookie.partition(b"=")[0] not in own]


async def _authentication(request: Request) -> Authentication:
    """Who sent a request, determined once for each request."""
    state: _RequestState | None = request.scope.get(_SCOPE_KEY)
    if state is None:
        raise RuntimeError("Call `add_sign_in(app)` for the application that has this route.")
    if state.authentication is None:
        state.authentication = await run_async(state.sign_in.authenticate(_web_request(request)))
    return state.authentication


def _router(sign_in: SignIn) -> APIRouter:
    router = APIRouter(prefix=sign_in.prefix, include_in_schema=False)

    def add(action: str, methods: list[str]) -> None:
        async def answer(request: Request) -> Response:
            form: dict[str, str] = {}
            if request.method == "POST":
                form = await _read_form(request)
            return _response(await run_async(sign_in.handle(action, _web_request(request, form))))

        router.add_api_route(f"/{action}", answer, methods=methods, name=f"postern:{action}")

    for action, methods in SIGN_IN_ACTIONS.items():
        add(action, list(methods))
    return router


async def _read_form(request: Request) -> dict[str, str]:
    """The fields of a form (application/x-www-form-urlencoded). Fields of larger or other bodies are missing."""
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > FORM_LIMIT:
            return {}
    try:
        return dict(parse_qsl(body.decode(), keep_blank_values=True, max_num_fields=100))
    except ValueError:
        return {}


def _web_request(request: Request, form: dict[str, str] | None = None) -> WebRequest:
    return WebRequest(
        method=request.method,
        url=str(request.url),
        headers=request.headers,
        cookies=read_cookies("; ".join(request.headers.getlist("cookie"))),
        form=form or {},
        client_address=request.client.host if request.client else None,
    )


def _response(answer: WebResponse) -> Response:
    response = Response(answer.body, answer.status)
    for name, value in answer.headers:
        response.headers.append(name, value)
    return response
