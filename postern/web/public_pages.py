"""Public pages about the server: the start page, the guides, the problem types, and security.txt (RFC 9116)."""

from collections.abc import Iterator
from datetime import timedelta
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from litestar import Request, Response, get
from minijinja import safe

from postern.kernel.http.problems import Problem
from postern.kernel.http.responses import NotFound
from postern.kernel.values import to_json
from postern.web.dashboard_files import PATH
from postern.web.pages import as_response, page, wants_page

if TYPE_CHECKING:
    from markdown_it.token import Token

RawRequest = Request[Any, Any, Any]
SECURITY_TEXT_LIFE = timedelta(days=180)
"""The time until security.txt expires; RFC 9116 §2.5.5 recommends less than a year."""
FIRST_GUIDE = "quickstart"
ICON_SVG = (Path(__file__).parent / "assets" / "favicon.svg").read_bytes()


def routes() -> list[Any]:
    """The Litestar handlers of the public pages."""
    return [home, favicon, guides, guide, problem, security_text]


def installed_version() -> str:
    """The version of the installed package."""
    try:
        return version("postern-server")
    except PackageNotFoundError:
        return "unknown"


@get("/", sync_to_thread=False)
def home(request: RawRequest) -> Response[Any]:
    """Redirect browsers to the dashboard. Other clients get the name, the version and links as JSON."""
    paths = {"docs": "/docs", "openapi": "/openapi.json", "guide": "/guide", "inbox": "/inbox", "ready": "/readyz"}
    if not wants_page(request):
        return _json({"name": "Postern", "version": installed_version(), **paths})
    headers = {"Location": PATH, "Cache-Control": "no-store", "Vary": "Accept"}
    return Response(b"", status_code=303, media_type="text/html", headers=headers)


@get("/favicon.ico", sync_to_thread=False)
def favicon() -> Response[bytes]:
    """The icon at the URL that browsers request by default."""
    headers = {"Cache-Control": "public, max-age=86400"}
    return Response(ICON_SVG, media_type="image/svg+xml", headers=headers)


@get("/guide", sync_to_thread=False)
def guides() -> Response[Any]:
    """The list of guides."""
    return _page("guides.html", "Guides", guides=_guide_titles())


@get("/guide/{name:str}", sync_to_thread=False)
def guide(name: str) -> Response[Any]:
    """A guide as a page. Raises NotFound."""
    if name.removesuffix(".md") not in _guide_titles():
        raise NotFound
    name = name.removesuffix(".md")
    # The Markdown renderer has escaped any HTML in the guide's text.
    return _page("guide.html", _guide_titles()[name], guide=safe(_render_guide(name)))


@get("/problems/{code:str}", sync_to_thread=False)
def problem(request: RawRequest, code: str) -> Response[Any]:
    """The description of a problem type, to which the `type` of a problem document refers. Raises NotFound."""
    kind = problems().get(code)
    if kind is None:
        raise NotFound
    if not wants_page(request):
        fields = {"type": f"/problems/{code}", "title": kind.title(), "status": kind.status, "detail": kind.message()}
        return _json({**fields, "code": code, "next": kind.next, "guide": "/guide/errors"})
    values: dict[str, Any] = {"detail": kind.message(), "next": kind.next, "http_status": kind.status, "code": code}
    return _page("problem.html", kind.title(), **values)


@get("/.well-known/security.txt", sync_to_thread=False)
def security_text(request: RawRequest) -> Response[str]:
    """The security contact of this server (RFC 9116). Raises NotFound if POSTERN_SECURITY_CONTACT is not set."""
    world = request.app.state.world
    contact = world.settings.security_contact
    if not contact:
        raise NotFound
    expires_at = (world.clock() + SECURITY_TEXT_LIFE).strftime("%Y-%m-%dT%H:%M:%SZ")
    lines = [f"Contact: {contact}", f"Expires: {expires_at}"]
    lines.append(f"Canonical: {world.settings.public_url}/.well-known/security.txt")
    return Response("\n".join([*lines, ""]), media_type="text/plain")


@cache
def problems() -> dict[str, type[Problem]]:
    """All problem types, keyed by code; complete once the application is loaded."""
    return {kind.code(): kind for kind in _subclasses(Problem) if kind.__module__.startswith("postern.")}


def _subclasses(kind: type[Problem]) -> Iterator[type[Problem]]:
    for subclass in kind.__subclasses__():
        yield subclass
        yield from _subclasses(subclass)


@cache
def _guide_titles() -> dict[str, str]:
    """The title of each guide, keyed by its name: the quickstart first, the others sorted by title."""
    titles = {path.stem: _title(path) for path in sorted(guide_folder().glob("*.md"))}
    return {name: titles[name] for name in sorted(titles, key=lambda name: (name != FIRST_GUIDE, titles[name]))}


def _title(path: Path) -> str:
    lines = path.read_text("utf-8").splitlines()
    return next((line[2:].strip() for line in lines if line.startswith("# ")), path.stem)


def guide_folder() -> Path:
    """The folder of the guides: inside the installed package, or `docs/guide` of a source tree."""
    package = Path(__file__).resolve().parent.parent
    installed = package / "_guide"
    return installed if installed.is_dir() else package.parent / "docs" / "guide"


@cache
def _render_guide(name: str) -> str:
    """Render a guide as HTML. Headings get anchors, and links between guides refer to their pages."""
    from markdown_it import MarkdownIt

    markdown = MarkdownIt("commonmark", {"html": False}).enable("table")
    text = (guide_folder() / f"{name}.md").read_text("utf-8")
    # Comments in guides are for editors.
    tokens = markdown.parse("\n".join(line for line in text.splitlines() if not line.startswith("<!--")))
    for index, token in enumerate(tokens):
        if token.type == "heading_open":
            heading = tokens[index + 1].content
            token.attrSet("id", "-".join("".join(c for c in heading.lower() if c.isalnum() or c in " -").split()))
        for child in token.children or []:
            _rewrite_link(child)
    return markdown.renderer.render(tokens, markdown.options, {})


def _rewrite_link(token: "Token") -> None:
    target = str(token.attrGet("href") or "") if token.type == "link_open" else ""
    path, hash_, anchor = target.partition("#")
    if path.endswith(".md") and "/" not in path:
        token.attrSet("href", f"/guide/{path.removesuffix('.md')}{hash_}{anchor}")


def _page(template: str, title: str, **values: Any) -> Response[Any]:
    return as_response(page(template, title, headers={"Cache-Control": "public, max-age=300"}, **values))


def _json(value: Any) -> Response[Any]:
    return Response(to_json(value), media_type="application/json", headers={"Vary": "Accept"})
