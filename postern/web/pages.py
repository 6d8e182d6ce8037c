"""Rendering of web pages from MiniJinja templates, their Content-Security-Policy, and parsing of their forms.

A feature names a template under `postern/web/templates` and passes values; all HTML is in the templates. A variable
that was not passed is an error, and the template engine escapes every value.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

import msgspec
from litestar import Response
from minijinja import Environment

from postern.kernel.config import Settings
from postern.kernel.http.handler import MAX_LANGUAGE_CHARACTERS, language_parameter
from postern.kernel.http.operation import FORM, RawRequest
from postern.kernel.http.problems import BadRequest, Forbidden, Invalid
from postern.kernel.http.responses import AwaitedResponse, HttpResponse, error_response
from postern.kernel.values import Record, timestamp
from postern.web.languages import (
    DEFAULT_LANGUAGE,
    NO_OWN_TEXTS,
    OwnTexts,
    Text,
    match_language,
    translated,
    translator,
)
from postern.web.problem_texts import FAILED, text_of_code

FOLDER = Path(__file__).parent / "templates"
TEMPLATES = Environment(
    templates={path.relative_to(FOLDER).as_posix(): path.read_text("utf-8") for path in FOLDER.rglob("*.html")},
    debug=False,  # Debug messages would contain the values, and some of those are secrets.
    filters={"timestamp": timestamp},
    undefined_behavior="strict",
    trim_blocks=True,
    lstrip_blocks=True,
)
"""The templates of all pages and mails, parsed when the process starts."""
DEFAULT_POLICY = {
    "default-src": "'none'",
    "style-src": "'self'",
    "script-src": "",
    "connect-src": "",
    "img-src": "'self'",
    "font-src": "",
    "frame-src": "",
    "form-action": "'self'",
    "frame-ancestors": "'none'",
    "base-uri": "'none'",
}
"""The default Content-Security-Policy by directive (CSP Level 3 §6). A page can add sources."""
SCRIPT_SOURCES = {"script-src": "'self'", "connect-src": "'self'"}
"""The sources that a page with a script adds to DEFAULT_POLICY."""
SAME_SITE_VALUES = ("same-origin", "none")
"""Accepted values of `Sec-Fetch-Site`: a page of this server sent the form, or the person entered the URL."""
CUSTOMER_PATHS = ("/projects/", "/sso/")
"""The beginnings of the paths of pages that customers visit."""
FIELD_LIMIT = 20
"""Maximum number of fields in a form."""


class CrossSiteForm(Forbidden, code="foreign_form"):
    """This form was sent from another website. Open the page of the form again and submit it there."""


class TooManyFields(BadRequest):
    """A form can have at most 20 fields."""


class FormField(Record):
    """A required input with a label; `type` and `autocomplete` are the HTML attributes."""

    name: str
    label: str
    type: str
    autocomplete: str
    value: str = ""


class PageForm(Record):
    """A form that is submitted to the URL of its own page."""

    button: str
    fields: Sequence[FormField] = ()
    hidden: dict[str, str] = {}


def page(
    template: str,
    title: str | Text = "",
    *,
    status: int = 200,
    policy: Mapping[str, str] | None = None,
    headers: Mapping[str, str] | None = None,
    language: str | None = None,
    own_texts: OwnTexts = NO_OWN_TEXTS,
    **values: Any,
) -> HttpResponse:
    """Render the template with `values`; a variable of the template that is missing raises TemplateError.

    `policy` adds sources to the Content-Security-Policy, by directive. The layout shows the value `error` above the
    content, and the value `site` in the window title. `language` is one of LANGUAGES for a page that is translated:
    its template translates by the function `_`, and values that are a `Text` are translated here. `own_texts` are the
    texts of the project in this language.
    """
    written_in = language or DEFAULT_LANGUAGE
    standard_values = {"title": title, "site": "Postern", "error": "", "language": written_in}
    shown = {name: _translated(written_in, own_texts, value) for name, value in {**standard_values, **values}.items()}
    html = TEMPLATES.render_template(template, **{"_": translator(written_in, own_texts), **shown})
    standard = {
        **({"Content-Language": language, "Vary": "Accept-Language"} if language is not None else {}),
        "Content-Security-Policy": content_security_policy(policy or {}),
        "Cache-Control": "no-store",
        # URLs with tokens are not sent to other sites, but forms of this site still send their origin.
        "Referrer-Policy": "same-origin",
        "X-Frame-Options": "DENY",
    }
    return HttpResponse(html, media_type="text/html", status=status, headers={**standard, **(headers or {})})


def redirect(url: str, *, status: int = 302, cookies: str | None = None) -> HttpResponse:
    """A redirect of a browser that caches do not store, and that does not pass on its URL as Referer."""
    headers = {"Location": url, "Cache-Control": "no-store", "Referrer-Policy": "no-referrer"}
    if cookies is not None:
        headers["Set-Cookie"] = cookies
    return HttpResponse(b"", media_type="text/html", status=status, headers=headers)


def _translated(language: str, own_texts: OwnTexts, value: Any) -> Any:
    """`value` with each Text in it, also in lists and dictionaries, in `language`."""
    if isinstance(value, Text):
        return translated(language, value, own_texts)
    if isinstance(value, list):
        return [_translated(language, own_texts, item) for item in value]
    if isinstance(value, dict):
        return {name: _translated(language, own_texts, item) for name, item in value.items()}
    return value


def simple_page(
    title: str,
    *paragraphs: str,
    error: str = "",
    forms: Sequence[PageForm] = (),
    status: int = 200,
    site: str = "Postern",
) -> HttpResponse:
    """Render a page of paragraphs, with forms to confirm or enter something."""
    return page("page.html", title, status=status, error=error, paragraphs=paragraphs, forms=forms, site=site)


def content_security_policy(added: Mapping[str, str]) -> str:
    """The Content-Security-Policy header: the default policy with the sources of `added`."""
    directives = {name: f"{sources} {added.get(name, '')}".strip() for name, sources in DEFAULT_POLICY.items()}
    return "; ".join(f"{name} {sources}" for name, sources in directives.items() if sources)


def as_response(response: HttpResponse) -> Response[bytes]:
    """Convert a page to the response of a route that is not an operation."""
    content = str(response.content).encode()
    return Response(content, status_code=response.status, media_type=response.media_type, headers=response.headers)


def wants_page(request: RawRequest) -> bool:
    """Whether the client accepts HTML, as browsers do."""
    return "text/html" in request.headers.get("accept", "")


class ShownError(Record):
    """What a page for customers says about a problem."""

    code: str
    status: int
    text: Text
    headers: dict[str, str]
    request_id: str


BrandedPage = Callable[[RawRequest, ShownError], Awaitable[HttpResponse | None]]
"""Makes the page of a problem with the brand of the project whose page was requested; None if there is no project."""


def error_response_page(request: RawRequest, error: Exception, branded_page: BrandedPage) -> Response[bytes]:
    """The response to an error: a problem document, or a page if a browser requested a page or an unknown URL."""
    response = error_response(request, error)
    if not wants_page(request) or _is_api_request(request):
        return response
    problem = msgspec.json.decode(response.content)
    if _is_for_customers(request):
        shown = _shown_error(response, problem)

        async def make() -> Response[bytes]:
            return as_response(await branded_page(request, shown) or _customer_error_page(request, shown))

        return AwaitedResponse(make)
    error_page = page(
        "error.html",
        problem["title"],
        status=response.status_code or problem["status"],
        headers=response.headers,
        error=problem["detail"],
        next=problem.get("next", ""),
        code=problem["code"],
        request_id=problem["requestId"],
    )
    return as_response(error_page)


def _is_for_customers(request: RawRequest) -> bool:
    """Whether the URL is one of a project's pages or of single sign-on, which customers visit."""
    return request.scope["path"].startswith(CUSTOMER_PATHS)


def _shown_error(response: Response[bytes], problem: dict[str, Any]) -> ShownError:
    """A problem in plain words."""
    status = response.status_code or problem["status"]
    retry_after = response.headers.get("retry-after") or response.headers.get("Retry-After")
    shown = text_of_code(
        problem["code"],
        status=status,
        retry_after_seconds=int(retry_after) if retry_after and retry_after.isdigit() else None,
        errors=[(error["path"], error["code"]) for error in problem.get("errors") or []],
    )
    return ShownError(
        code=problem["code"],
        status=status,
        text=shown,
        headers=dict(response.headers),
        request_id=problem["requestId"],
    )


def _customer_error_page(request: RawRequest, shown: ShownError) -> HttpResponse:
    """The page of a problem without a project, in the language of the visitor."""
    language = match_language(language_parameter(request)) or match_language(
        request.headers.get("accept-language", "")[:MAX_LANGUAGE_CHARACTERS]
    )
    return page(
        "error.html",
        FAILED,
        status=shown.status,
        headers=shown.headers,
        language=language or DEFAULT_LANGUAGE,
        error=shown.text,
        next="",
        code=shown.code,
        request_id=shown.request_id,
    )


def _is_api_request(request: RawRequest) -> bool:
    """Whether the route is an API operation without HTML responses, whose errors are JSON for browsers too."""
    handler = request.scope.get("route_handler")  # pyright: ignore[reportUnknownMemberType]
    operation = handler.opt.get("operation") if handler is not None else None
    return operation is not None and not operation.hidden and "text/html" not in operation.media_types


async def read_form(request: RawRequest) -> dict[str, str]:
    """Parse the fields of a submitted form. Raises CrossSiteForm, TooManyFields or Invalid."""
    _require_own_form(request)
    body = await request.body()
    if body and request.headers.get("content-type", "").partition(";")[0].strip().lower() != FORM:
        raise Invalid(f"Send the form as `{FORM}`.")
    try:
        fields = dict(parse_qsl(body.decode("utf-8", "replace"), keep_blank_values=True, max_num_fields=FIELD_LIMIT))
    except ValueError:
        raise TooManyFields from None
    if any("\0" in value for value in fields.values()):
        raise Invalid("A value contains a NUL character; remove it.")
    return fields


def _require_own_form(request: RawRequest) -> None:
    """Raise CrossSiteForm if a page of another site submitted the form (CSRF).

    The `Origin` must be that of the base URL, because behind a proxy `Host` may be an internal name of this server. An
    `Origin` that equals `Host` is accepted too: without a proxy, the server may have further names.
    """
    origin, fetch_site = request.headers.get("origin"), request.headers.get("sec-fetch-site")
    if fetch_site not in (None, *SAME_SITE_VALUES):
        raise CrossSiteForm
    # Browsers send `null` for pages with `Referrer-Policy: no-referrer`; then only `Sec-Fetch-Site` can be checked.
    if origin is None or (origin == "null" and fetch_site is not None):
        return
    if not is_own_origin(origin, request.headers.get("host"), request.app.state.world.settings):
        raise CrossSiteForm


def is_own_origin(origin: str, host: str | None, settings: Settings) -> bool:
    """Whether an `Origin` header is that of a page of this server; `host` is the `Host` header of the request."""
    if origin == settings.origin:
        return True
    scheme, _, origin_host = origin.partition("://")
    if scheme not in ("http", "https") or not origin_host or origin_host != host:
        return False
    # Refuse the host of the base URL with another scheme: such a page was loaded without TLS.
    return origin_host != settings.origin.partition("://")[2]
