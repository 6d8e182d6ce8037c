"""Sign customers in to a Flask application.

    app = Flask(__name__)
    add_sign_in(app)  # POSTERN_URL, POSTERN_PROJECT, POSTERN_KEY

    @app.get("/")
    @customer_required
    def home() -> str:
        return f"Hello {current_customer().email}"

    @app.post("/invoices")
    @require("invoices:write")
    def create_invoice() -> str: ...

Browsers without a session are sent to the sign-in page and come back; other requests get 401 or 403 with a problem
document (RFC 9457). Besides the session's cookies, an access token as `Authorization: Bearer …` is accepted.
Templates can call `optional_customer()`.
"""

from collections.abc import Callable
from functools import wraps
from typing import Any, ParamSpec, TypeVar, cast

from flask import Blueprint, Flask, Response, current_app, g, has_request_context, request

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
    run,
)

__all__ = [
    "CustomerSession",
    "PermissionDenied",
    "SignIn",
    "SignInRequired",
    "add_sign_in",
    "current_customer",
    "customer_required",
    "optional_customer",
    "require",
]

P = ParamSpec("P")
R = TypeVar("R")
_EXTENSION = "postern_sdk"
_SETTINGS = ("url", "project", "key", "app_url", "prefix", "after_sign_in", "after_sign_out", "cookie_prefix")


def add_sign_in(app: Flask, sign_in: SignIn | None = None, **settings: Any) -> SignIn:
    """Add the routes of the sign-in, what the decorators need, and responses to their errors.

    `settings` are those of `SignIn`. The application's configuration may have them too, such as `POSTERN_APP_URL`.
    To answer, say, `PermissionDenied` in another way, register an error handler for it.
    """
    configured = {name: value for name in _SETTINGS if (value := app.config.get(f"POSTERN_{name.upper()}"))}
    sign_in = sign_in or SignIn(**{**configured, **settings})
    app.extensions[_EXTENSION] = sign_in
    app.register_blueprint(_blueprint(sign_in))

    def refuse(error: Exception) -> Response:
        return _response(sign_in.refuse(_web_request(), cast("PosternError", error)))

    app.register_error_handler(SessionError, refuse)
    app.register_error_handler(ServerUnavailable, refuse)
    app.after_request(_add_cookies)
    app.context_processor(lambda: {"optional_customer": optional_customer})
    return sign_in


def current_customer() -> CustomerSession:
    """The customer's session in the current request. Without one, the response is the sign-in page, or 401."""
    return _authentication().require()


def optional_customer() -> CustomerSession | None:
    """The customer's session in the current request, or None. A bearer token that is not valid is still 401."""
    return _authentication().optional() if has_request_context() else None


def customer_required(view: Callable[P, R]) -> Callable[P, R]:
    """Decorator of a view that needs a session. Without one, the response is the sign-in page, or 401."""

    @wraps(view)
    def checked_view(*args: P.args, **kwargs: P.kwargs) -> R:
        current_customer()
        return current_app.ensure_sync(view)(*args, **kwargs)

    return checked_view


def require(permission: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Decorator of a view that needs a session with this permission. Without it, the response is 403."""

    def decorate(view: Callable[P, R]) -> Callable[P, R]:
        @wraps(view)
        def checked_view(*args: P.args, **kwargs: P.kwargs) -> R:
            current_customer().require(permission)
            return current_app.ensure_sync(view)(*args, **kwargs)

        return checked_view

    return decorate


def _authentication() -> Authentication:
    """Who sent the current request, determined once for each request."""
    authentication: Authentication | None = g.get(_EXTENSION)
    if authentication is None:
        sign_in: SignIn | None = current_app.extensions.get(_EXTENSION)
        if sign_in is None:
            raise RuntimeError("Call `add_sign_in(app)` for this application.")
        authentication = run(sign_in.authenticate(_web_request()))
        setattr(g, _EXTENSION, authentication)
    return authentication


def _add_cookies(response: Response) -> Response:
    """Add the cookies of a refreshed session. Caches must not give the response to other visitors."""
    authentication: Authentication | None = g.get(_EXTENSION)
    if authentication is None:
        return response
    response.vary.update(VARY)
    if authentication.cookies:
        own = {cookie.partition("=")[0] for cookie in response.headers.getlist("Set-Cookie")}
        for cookie in authentication.cookies:
            if cookie.partition("=")[0] not in own:
                response.headers.add("Set-Cookie", cookie)
        if not response.cache_control.private:
            response.headers["Cache-Control"] = NOT_CACHED
    return response


def _blueprint(sign_in: SignIn) -> Blueprint:
    blueprint = Blueprint("postern", __name__, url_prefix=sign_in.prefix or None)

    def add(action: str, methods: tuple[str, ...]) -> None:
        def answer() -> Response:
            form = request.form.to_dict() if request.method == "POST" else {}
            return _response(run(sign_in.handle(action, _web_request(form))))

        blueprint.add_url_rule(f"/{action}", action.replace("-", "_"), answer, methods=methods)

    for action, methods in SIGN_IN_ACTIONS.items():
        add(action, methods)
    return blueprint


def _web_request(form: dict[str, str] | None = None) -> WebRequest:
    return WebRequest(
        method=request.method,
        url=request.url,
        headers={name.lower(): value for name, value in request.headers.items()},
        cookies=read_cookies(request.headers.get("Cookie", "")),
        form=form or {},
        client_address=request.remote_addr,
    )


def _response(answer: WebResponse) -> Response:
    response = Response(answer.body, answer.status)
    del response.headers["Content-Type"]
    for name, value in answer.headers:
        response.headers.add(name, value)
    return response
