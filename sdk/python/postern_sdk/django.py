"""Sign customers in to a Django application.

    # settings.py
    MIDDLEWARE = [..., "postern_sdk.django.PosternMiddleware"]
    POSTERN = {"app_url": "https://app.example.com"}  # arguments of `SignIn`; others come from the environment

    # urls.py
    urlpatterns = [path("auth/", include("postern_sdk.django")), ...]

    # views.py
    @customer_required
    def home(request): return HttpResponse(f"Hello {request.customer.email}")

    @require("invoices:write")
    async def create_invoice(request): ...

The middleware sets `request.customer`: a `CustomerSession`, or None without a session. Browsers without a session are
sent to the sign-in page and come back; other requests get 401 or 403 with a problem document (RFC 9457). Besides the
session's cookies, an access token as `Authorization: Bearer …` is accepted.

The path in urls.py must be the `prefix` of `SignIn`, which is `/auth` by default.
"""

from collections.abc import Awaitable, Callable, Mapping
from functools import cache, wraps
from inspect import iscoroutinefunction
from typing import Any, TypeVar, cast

from asgiref.sync import markcoroutinefunction
from django.conf import settings
from django.core.signals import setting_changed
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.urls import path
from django.utils.cache import patch_vary_headers
from django.views.decorators.csrf import csrf_exempt

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
    run_async,
)

__all__ = [
    "CustomerRequest",
    "CustomerRequiredMixin",
    "CustomerSession",
    "PermissionDenied",
    "PosternMiddleware",
    "SignIn",
    "SignInRequired",
    "current_customer",
    "customer_required",
    "require",
    "sign_in",
    "urlpatterns",
]

View = TypeVar("View", bound=Callable[..., Any])


class CustomerRequest(HttpRequest):
    """The type of requests behind PosternMiddleware, for annotations."""

    customer: CustomerSession | None
    postern_authentication: Authentication


@cache
def sign_in() -> SignIn:
    """The `SignIn` of the settings."""
    return SignIn(**getattr(settings, "POSTERN", {}))


class PosternMiddleware:
    """Sets `request.customer`, adds the cookies of a refreshed session, and answers `PermissionDenied` of views."""

    sync_capable = True
    async_capable = True

    def __init__(self, get_response: Callable[[HttpRequest], Any]) -> None:
        self._get_response = get_response
        self._is_async = iscoroutinefunction(get_response)
        if self._is_async:
            markcoroutinefunction(self)
        sign_in()  # Fails at the start if the settings are not complete.

    def __call__(self, request: HttpRequest) -> HttpResponseBase | Awaitable[HttpResponseBase]:
        if self._is_async:
            return self._respond_async(request)
        authentication = Authentication() if _is_action(request) else run(sign_in().authenticate(_web_request(request)))
        return _finish(authentication, self._get_response(_attach(request, authentication)))

    async def _respond_async(self, request: HttpRequest) -> HttpResponseBase:
        authentication = Authentication()
        if not _is_action(request):
            authentication = await run_async(sign_in().authenticate(_web_request(request)))
        return _finish(authentication, await self._get_response(_attach(request, authentication)))

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponse | None:
        """The response to an error of this module that a view raises."""
        if isinstance(exception, (SessionError, ServerUnavailable)):
            return _refuse(request, exception)
        return None


def current_customer(request: HttpRequest) -> CustomerSession:
    """The session of a request. Raises SignInRequired without one; PosternMiddleware answers this error."""
    return _authentication(request).require()


def customer_required(view: View) -> View:
    """Decorator of a view, also an asynchronous one, that needs a session."""
    return _checked(view, None)


def require(permission: str) -> Callable[[View], View]:
    """Decorator of a view, also an asynchronous one, that needs a session with this permission."""
    return lambda view: _checked(view, permission)


class CustomerRequiredMixin:
    """For class-based views that need a session, and the permission `permission_required` if it is set.

    Name it before the view class: `class Invoices(CustomerRequiredMixin, ListView)`.
    """

    permission_required: str | None = None
    view_is_async: bool

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
        """Answer the request, or refuse it."""
        refusal = _refusal(request, self.permission_required)
        if refusal is None:
            return cast("Any", super()).dispatch(request, *args, **kwargs)
        if not self.view_is_async:
            return refusal

        async def refuse() -> HttpResponse:
            return refusal

        return refuse()


def _checked(view: View, permission: str | None) -> View:
    if iscoroutinefunction(view):

        @wraps(view)
        async def checked_async_view(request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
            return _refusal(request, permission) or await view(request, *args, **kwargs)

        return cast("View", checked_async_view)

    @wraps(view)
    def checked_view(request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
        return _refusal(request, permission) or view(request, *args, **kwargs)

    return cast("View", checked_view)


def _refusal(request: HttpRequest, permission: str | None) -> HttpResponse | None:
    """The response to a request without a session or permission; None if it has both."""
    try:
        session = current_customer(request)
        if permission is not None:
            session.require(permission)
    except (SessionError, ServerUnavailable) as error:
        return _refuse(request, error)
    return None


def _authentication(request: HttpRequest) -> Authentication:
    authentication: Authentication | None = getattr(request, "postern_authentication", None)
    if authentication is None:
        raise RuntimeError("Add postern_sdk.django.PosternMiddleware to MIDDLEWARE.")
    return authentication


def _is_action(request: HttpRequest) -> bool:
    """Whether a view of the sign-in answers. A refresh before it would start a session that, say, sign-out ends."""
    return sign_in().is_action_path(request.path)


def _attach(request: HttpRequest, authentication: Authentication) -> HttpRequest:
    customer_request = cast("CustomerRequest", request)
    customer_request.customer, customer_request.postern_authentication = authentication.session, authentication
    return request


def _finish(authentication: Authentication, response: HttpResponseBase) -> HttpResponseBase:
    """The response with the cookies of a refreshed session. Caches must not give it to other visitors."""
    patch_vary_headers(response, VARY)
    own = set(response.cookies)
    for cookie in authentication.cookies:
        if cookie.partition("=")[0] not in own:
            _set_cookie(response, cookie)
    # Django's own cache looks at `private` alone.
    if authentication.cookies and "private" not in response.get("Cache-Control", "").lower():
        response["Cache-Control"] = NOT_CACHED
    return response


def _refuse(request: HttpRequest, error: PosternError) -> HttpResponse:
    return _response(sign_in().refuse(_web_request(request), error))


def _action_view(action: str) -> Callable[[HttpRequest], Any]:
    # Exempt from Django's check, because `SignIn` checks where the request comes from.
    @csrf_exempt
    def answer(request: HttpRequest) -> HttpResponse:
        form = {name: str(value) for name, value in request.POST.items()}
        return _response(run(sign_in().handle(action, _web_request(request, form))))

    return answer


urlpatterns = [path(action, _action_view(action), name=f"postern-{action}") for action in SIGN_IN_ACTIONS]
"""For `include("postern_sdk.django")`."""


def _web_request(request: HttpRequest, form: dict[str, str] | None = None) -> WebRequest:
    return WebRequest(
        method=request.method or "",
        url=str(request.build_absolute_uri()),
        headers={name.lower(): value for name, value in cast("Mapping[str, str]", request.headers).items()},
        cookies=read_cookies(request.META.get("HTTP_COOKIE", "")),
        form=form or {},
        client_address=request.META.get("REMOTE_ADDR") or None,
    )


def _response(answer: WebResponse) -> HttpResponse:
    response = HttpResponse(answer.body, status=answer.status)
    del response.headers["Content-Type"]
    for name, value in answer.headers:
        if name == "Set-Cookie":
            _set_cookie(response, value)
        else:
            response.headers[name] = value
    return response


def _set_cookie(response: HttpResponseBase, cookie: str) -> None:
    response.cookies.load(cookie)


def _forget_settings(*, setting: str, **_: Any) -> None:
    if setting == "POSTERN":
        sign_in.cache_clear()


setting_changed.connect(_forget_settings)  # Sent by `override_settings` in tests.
