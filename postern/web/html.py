"""Plain pages for people: one layout, one style sheet, no script, and a policy that allows nothing else."""

from html import escape
from urllib.parse import parse_qsl

import msgspec
from litestar import Response

from postern.kernel.http.operation import RawRequest
from postern.kernel.http.problems import BadRequest, Forbidden
from postern.kernel.http.responses import HttpResponse, answer_error

POLICY = (
    "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
)
OWN_SITES = ("same-origin", "none")
"""What browsers say in `Sec-Fetch-Site` of a form on our own page, and of what the person entered themselves."""
FIELD_LIMIT = 20
"""Fields of a form."""


class CrossSiteForm(Forbidden, code="foreign_form"):
    """This form was sent from another site."""


class TooManyFields(BadRequest):
    """A form has at most 20 fields."""


def page(title: str, *parts: str, status: int = 200) -> HttpResponse:
    """A page; `parts` are HTML, in which everything that is not ours has been escaped."""
    return document(title, "".join(parts), status=status)


def document(title: str, body: str, *, status: int = 200, wide: bool = False, headline: bool = True) -> HttpResponse:
    """A page of our layout with a body of HTML: a card for a form or a sentence, or `wide` for reading."""
    named = title if title == "Postern" else f"{title} · Postern"
    shape = "reading" if wide else "card"
    heading = f"<h1>{escape(title)}</h1>" if headline else ""
    text = (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<title>{escape(named)}</title><link rel="icon" href="/assets/favicon.svg">'
        '<link rel="stylesheet" href="/assets/postern.css"></head>'
        f'<body><main class="{shape}">{heading}{body}</main></body></html>'
    )
    headers = {
        "Content-Security-Policy": POLICY,
        "Referrer-Policy": "same-origin",
        "Cache-Control": "no-store",
        "X-Frame-Options": "DENY",
    }
    return HttpResponse(text, media_type="text/html", status=status, headers=headers)


def wants_page(request: RawRequest) -> bool:
    """Whether a browser shows the answer to a person, who has no use for JSON."""
    return "text/html" in request.headers.get("accept", "")


def answer_error_page(request: RawRequest, error: Exception) -> Response[bytes]:
    """A problem document; as a page for a browser that went to where pages are, or where nothing is."""
    answered = answer_error(request, error)
    if not wants_page(request) or _is_for_programs(request):
        return answered
    problem = msgspec.json.decode(answered.content)
    next_step = paragraph(problem["next"]) if problem.get("next") else ""
    code = escape(problem["code"])
    about = f'<p class="quiet"><a href="/problems/{code}">{code}</a> · {escape(problem["requestId"])}</p>'
    shown = page(problem["title"], error_message(problem["detail"]), next_step, about)
    return Response(
        str(shown.content).encode(),
        status_code=answered.status_code or problem["status"],
        media_type="text/html",
        headers={**answered.headers, **(shown.headers or {})},
    )


def _is_for_programs(request: RawRequest) -> bool:
    """Whether the address is one of the API, which answers browsers as it answers everybody."""
    handler = request.scope.get("route_handler")  # pyright: ignore[reportUnknownMemberType]
    operation = handler.opt.get("operation") if handler is not None else None
    return operation is not None and not operation.hidden and "text/html" not in operation.media_types


def paragraph(text: str) -> str:
    return f"<p>{escape(text)}</p>"


def error_message(text: str) -> str:
    return f'<p class="problem" role="alert">{escape(text)}</p>'


def form(button: str, *fields: str, hidden: dict[str, str] | None = None) -> str:
    """A form that is sent to the page it stands on."""
    kept = "".join(
        f'<input type="hidden" name="{escape(name)}" value="{escape(value)}">' for name, value in (hidden or {}).items()
    )
    return f'<form method="post">{kept}{"".join(fields)}<button type="submit">{escape(button)}</button></form>'


def field(name: str, label: str, kind: str, autocomplete: str, *, value: str = "") -> str:
    """One labelled input."""
    return (
        f'<label for="{name}">{escape(label)}</label><input id="{name}" name="{name}" type="{kind}" '
        f'autocomplete="{autocomplete}" value="{escape(value)}" required>'
    )


async def read_form(request: RawRequest) -> dict[str, str]:
    """The fields of a form of ours. Raises CrossSiteForm for one that another site sent, and TooManyFields."""
    require_own_form(request)
    text = (await request.body()).decode("utf-8", "replace")
    try:
        return dict(parse_qsl(text, max_num_fields=FIELD_LIMIT))
    except ValueError:
        raise TooManyFields from None


def require_own_form(request: RawRequest) -> None:
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
