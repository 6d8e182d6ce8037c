"""Pages for people: MiniJinja templates in files, one layout, one Content-Security-Policy, and the forms on them.

A feature names a template under `postern/web/templates` and passes values; the template holds all HTML. Names that a
template uses and nobody passed are errors, and every value is escaped by the template engine.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

import msgspec
from litestar import Response
from minijinja import Environment

from postern.kernel.http.operation import RawRequest
from postern.kernel.http.problems import BadRequest, Forbidden, Invalid
from postern.kernel.http.responses import HttpResponse, answer_error
from postern.kernel.values import Record, timestamp

FOLDER = Path(__file__).parent / "templates"
TEMPLATES = Environment(
    templates={path.relative_to(FOLDER).as_posix(): path.read_text("utf-8") for path in FOLDER.rglob("*.html")},
    debug=False,  # Error messages would repeat the values, and some of those are secrets.
    filters={"timestamp": timestamp},
    undefined_behavior="strict",
    trim_blocks=True,
    lstrip_blocks=True,
)
"""Every template of pages and mails, parsed when the process starts."""
SOURCES = {
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
"""What a page may load and where its forms may lead, unless a page adds to it (CSP Level 3 §6)."""
SCRIPTED = {"script-src": "'self'", "connect-src": "'self'"}
"""What a page adds that runs a script of ours."""
FORM = "application/x-www-form-urlencoded"
"""What browsers send a form as."""
OWN_SITES = ("same-origin", "none")
"""What browsers say in `Sec-Fetch-Site` of a form on our own page, and of what the person entered themselves."""
FIELD_LIMIT = 20
"""Fields of a form."""


class CrossSiteForm(Forbidden, code="foreign_form"):
    """This form was sent from another site."""


class TooManyFields(BadRequest):
    """A form has at most 20 fields."""


class FormField(Record):
    """One labelled and required input; `type` and `autocomplete` are the attributes of HTML."""

    name: str
    label: str
    type: str
    autocomplete: str
    value: str = ""


class PageForm(Record):
    """A form that is sent to the page it stands on."""

    button: str
    fields: Sequence[FormField] = ()
    hidden: dict[str, str] = {}


def page(
    template: str,
    title: str = "",
    *,
    status: int = 200,
    policy: Mapping[str, str] | None = None,
    headers: Mapping[str, str] | None = None,
    **values: Any,
) -> HttpResponse:
    """A page by its template; `policy` adds sources to the Content-Security-Policy, by directive.

    The layout takes `error` (what went wrong, shown above the content) and `site` (named in the window's title).
    """
    shown = TEMPLATES.render_template(template, **{"title": title, "site": "Postern", "error": "", **values})
    standard = {
        "Content-Security-Policy": content_security_policy(policy or {}),
        "Cache-Control": "no-store",
        # Other sites learn nothing of addresses that hold tokens; our own forms still name their origin.
        "Referrer-Policy": "same-origin",
        "X-Frame-Options": "DENY",
    }
    return HttpResponse(shown, media_type="text/html", status=status, headers={**standard, **(headers or {})})


def simple_page(
    title: str,
    *paragraphs: str,
    error: str = "",
    forms: Sequence[PageForm] = (),
    status: int = 200,
    site: str = "Postern",
) -> HttpResponse:
    """A page of a few sentences, and forms where something is to be confirmed or entered."""
    return page("page.html", title, status=status, error=error, paragraphs=paragraphs, forms=forms, site=site)


def content_security_policy(more: Mapping[str, str]) -> str:
    """The policy of our pages, with the sources of `more` added to its directives."""
    joined = {name: f"{sources} {more.get(name, '')}".strip() for name, sources in SOURCES.items()}
    return "; ".join(f"{name} {sources}" for name, sources in joined.items() if sources)


def as_response(answer: HttpResponse) -> Response[bytes]:
    """A page as the answer of a route that is no operation."""
    content = str(answer.content).encode()
    return Response(content, status_code=answer.status, media_type=answer.media_type, headers=answer.headers)


def wants_page(request: RawRequest) -> bool:
    """Whether a browser shows the answer to a person, who has no use for JSON."""
    return "text/html" in request.headers.get("accept", "")


def answer_error_page(request: RawRequest, error: Exception) -> Response[bytes]:
    """A problem document; as a page for a browser that went to where pages are, or where nothing is."""
    answered = answer_error(request, error)
    if not wants_page(request) or _is_for_programs(request):
        return answered
    problem = msgspec.json.decode(answered.content)
    shown = page(
        "error.html",
        problem["title"],
        status=answered.status_code or problem["status"],
        headers=answered.headers,
        error=problem["detail"],
        next=problem.get("next", ""),
        code=problem["code"],
        request_id=problem["requestId"],
    )
    return as_response(shown)


def _is_for_programs(request: RawRequest) -> bool:
    """Whether the address is one of the API, which answers browsers as it answers everybody."""
    handler = request.scope.get("route_handler")  # pyright: ignore[reportUnknownMemberType]
    operation = handler.opt.get("operation") if handler is not None else None
    return operation is not None and not operation.hidden and "text/html" not in operation.media_types


async def read_form(request: RawRequest) -> dict[str, str]:
    """The fields of a form of ours. Raises CrossSiteForm for one that another site sent, TooManyFields and Invalid."""
    _require_own_form(request)
    body = await request.body()
    if body and request.headers.get("content-type", "").partition(";")[0].strip().lower() != FORM:
        raise Invalid(f"Send the form as `{FORM}`.")
    try:
        fields = dict(parse_qsl(body.decode("utf-8", "replace"), keep_blank_values=True, max_num_fields=FIELD_LIMIT))
    except ValueError:
        raise TooManyFields from None
    if any("\0" in value for value in fields.values()):
        raise Invalid("A value holds a NUL character.")
    return fields


def _require_own_form(request: RawRequest) -> None:
    """Refuse a form that a page of another site sent (CSRF). Raises CrossSiteForm.

    The origin must be that of the base URL: behind a proxy, `Host` may be the name by which the proxy knows this
    server. Without a proxy the server may have further names, and then the origin is the one that was asked.
    """
    origin, site = request.headers.get("origin"), request.headers.get("sec-fetch-site")
    if site not in (None, *OWN_SITES):
        raise CrossSiteForm
    # Pages that send no referrer make browsers say `null`; then only the other header tells whose page it was.
    if origin is None or (origin == "null" and site is not None):
        return
    base = request.app.state.world.settings.origin
    if origin == base:
        return
    scheme, _, host = origin.partition("://")
    if scheme not in ("http", "https") or not host or host != request.headers.get("host"):
        raise CrossSiteForm
    if host == base.partition("://")[2]:
        raise CrossSiteForm  # The same host by another scheme: a page that came without TLS.
