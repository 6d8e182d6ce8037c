"""Pages that browsers show during single sign-on."""

from collections.abc import Sequence
from typing import Any
from urllib.parse import urlsplit

from postern.kernel.http.call import Call
from postern.kernel.http.responses import HttpResponse
from postern.protocols.saml.trace import SsoTraceStep
from postern.web.languages import Text, language_of, text
from postern.web.pages import SCRIPT_SOURCES, page


def form_post_page(call: Call, action: str, fields: dict[str, str], *, cookie: str | None = None) -> HttpResponse:
    """A page that posts a form to another site without a click (SAML HTTP-POST binding).

    Its Content-Security-Policy allows the target and, because the target may redirect the post, any https URL.
    """
    parts = urlsplit(action)
    policy = {**SCRIPT_SOURCES, "form-action": f"https: {parts.scheme}://{parts.netloc}"}
    headers = {"Set-Cookie": cookie} if cookie is not None else None
    return page(
        "sso/post.html",
        text("Signing in"),
        policy=policy,
        headers=headers,
        language=language_of(call.origin),
        site="",
        action=action,
        fields=fields,
    )


def message_page(
    call: Call, title: Text, detail: Text, *, status: int = 200, reason: str = "", request_id: str = ""
) -> HttpResponse:
    """A page with a title and one message, in the language of the visitor."""
    values: dict[str, Any] = {"detail": detail, "reason": reason, "request_id": request_id}
    return page("sso/message.html", title, status=status, language=language_of(call.origin), site="", **values)


def trace_page(
    title: str, detail: str, steps: Sequence[SsoTraceStep], profile: Sequence[tuple[str, str]], *, reason: str = ""
) -> HttpResponse:
    """The result page of a test sign-in through a connection: every step, and the user's profile."""
    return page("sso/test.html", title, site="", detail=detail, reason=reason, steps=steps, profile=profile)


def redirect_to(url: str, *, status: int = 302, cookie: str | None = None) -> HttpResponse:
    """A redirect that caches do not store, and that does not pass on its URL as Referer."""
    headers = {"Location": url, "Cache-Control": "no-store", "Referrer-Policy": "no-referrer"}
    if cookie is not None:
        headers["Set-Cookie"] = cookie
    return HttpResponse(b"", media_type="text/html", status=status, headers=headers)
