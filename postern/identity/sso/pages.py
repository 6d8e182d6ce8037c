"""The few pages that people see between their identity provider and the app."""

from collections.abc import Sequence
from typing import Any
from urllib.parse import urlsplit

from postern.kernel.http.responses import HttpResponse
from postern.protocols.saml.trace import SsoTraceStep
from postern.web.pages import SCRIPTED, page


def posting(action: str, fields: dict[str, str], *, cookie: str | None = None) -> HttpResponse:
    """A page that posts a form elsewhere by itself. The policy lets it go there, and wherever https leads on."""
    parts = urlsplit(action)
    policy = {**SCRIPTED, "form-action": f"https: {parts.scheme}://{parts.netloc}"}
    headers = {"Set-Cookie": cookie} if cookie is not None else None
    return page("sso/post.html", "Signing on", policy=policy, headers=headers, site="", action=action, fields=fields)


def plain(title: str, detail: str, *, status: int = 200, reason: str = "", request_id: str = "") -> HttpResponse:
    """A page that says one thing."""
    values: dict[str, Any] = {"detail": detail, "reason": reason, "request_id": request_id}
    return page("sso/message.html", title, status=status, site="", **values)


def trace(
    title: str, detail: str, steps: Sequence[SsoTraceStep], profile: Sequence[tuple[str, str]], *, reason: str = ""
) -> HttpResponse:
    """The end of a test sign-on: every check, and who that would be."""
    return page("sso/test.html", title, site="", detail=detail, reason=reason, steps=steps, profile=profile)


def sent_to(url: str, *, status: int = 302, cookie: str | None = None) -> HttpResponse:
    """A redirect that nothing keeps a copy of."""
    headers = {"Location": url, "Cache-Control": "no-store", "Referrer-Policy": "no-referrer"}
    if cookie is not None:
        headers["Set-Cookie"] = cookie
    return HttpResponse(b"", media_type="text/html", status=status, headers=headers)
