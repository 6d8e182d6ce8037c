"""Pages about the server itself: the start page, the guides, problems by their code, and where to report a weakness."""

from collections.abc import Iterator
from datetime import timedelta
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from litestar import Request, Response, get
from markdown_it import MarkdownIt
from markdown_it.token import Token
from minijinja import safe

from postern.kernel.http.problems import Problem
from postern.kernel.http.responses import NotFound
from postern.kernel.values import to_json
from postern.web.pages import as_response, page, wants_page

RawRequest = Request[Any, Any, Any]
SECURITY_TEXT_LIFE = timedelta(days=180)
"""For how long security.txt is said to hold, which RFC 9116 §2.5.5 wants under a year."""
FIRST_GUIDE = "quickstart"
ICON_SVG = (Path(__file__).parent / "assets" / "favicon.svg").read_bytes()


def routes() -> list[Any]:
    """The addresses of these pages."""
    return [home, favicon, guides, guide, problem, security_text]


def installed_version() -> str:
    """The version of the package, as its metadata has it."""
    try:
        return version("postern")
    except PackageNotFoundError:
        return "unknown"


@get("/", sync_to_thread=False)
def home(request: RawRequest) -> Response[Any]:
    """What this server is and where things are: a page for a browser, JSON for programs."""
    places = {"docs": "/docs", "openapi": "/openapi.json", "guide": "/guide", "inbox": "/inbox", "ready": "/readyz"}
    if not wants_page(request):
        return _json({"name": "Postern", "version": installed_version(), **places})
    return _page("home.html", "Postern")


@get("/favicon.ico", sync_to_thread=False)
def favicon() -> Response[bytes]:
    """The icon, for browsers that look at its usual place."""
    headers = {"Cache-Control": "public, max-age=86400"}
    return Response(ICON_SVG, media_type="image/svg+xml", headers=headers)


@get("/guide", sync_to_thread=False)
def guides() -> Response[Any]:
    """The guides by their titles."""
    return _page("guides.html", "Guides", guides=_titles())


@get("/guide/{name:str}", sync_to_thread=False)
def guide(name: str) -> Response[Any]:
    """One guide. Raises NotFound."""
    if name.removesuffix(".md") not in _titles():
        raise NotFound
    name = name.removesuffix(".md")
    # The guides are ours, and what their text would have of HTML is escaped already.
    return _page("guide.html", _titles()[name], guide=safe(_rendered(name)))


@get("/problems/{code:str}", sync_to_thread=False)
def problem(request: RawRequest, code: str) -> Response[Any]:
    """What a problem's `type` leads to: what it means, by its code. Raises NotFound."""
    kind = problems().get(code)
    if kind is None:
        raise NotFound
    if not wants_page(request):
        told = {"type": f"/problems/{code}", "title": kind.title(), "status": kind.status, "detail": kind.message()}
        return _json({**told, "code": code, "next": kind.next, "guide": "/guide/errors"})
    told: dict[str, Any] = {"detail": kind.message(), "next": kind.next, "http_status": kind.status, "code": code}
    return _page("problem.html", kind.title(), **told)


@get("/.well-known/security.txt", sync_to_thread=False)
def security_text(request: RawRequest) -> Response[str]:
    """Whom to tell of a weakness of this server (RFC 9116). Raises NotFound where its operator names nobody."""
    world = request.app.state.world
    contact = world.settings.security_contact
    if not contact:
        raise NotFound
    until = (world.clock() + SECURITY_TEXT_LIFE).strftime("%Y-%m-%dT%H:%M:%SZ")
    lines = [f"Contact: {contact}", f"Expires: {until}"]
    lines.append(f"Canonical: {world.settings.public_url}/.well-known/security.txt")
    return Response("\n".join([*lines, ""]), media_type="text/plain")


@cache
def problems() -> dict[str, type[Problem]]:
    """Every problem of the server by its code; complete once the application is loaded."""
    return {kind.code(): kind for kind in _below(Problem) if kind.__module__.startswith("postern.")}


def _below(kind: type[Problem]) -> Iterator[type[Problem]]:
    for each in kind.__subclasses__():
        yield each
        yield from _below(each)


@cache
def _titles() -> dict[str, str]:
    """The title of each guide by its name, the first one to read first."""
    found = {path.stem: _title(path) for path in sorted(guide_folder().glob("*.md"))}
    return {name: found[name] for name in sorted(found, key=lambda name: (name != FIRST_GUIDE, found[name]))}


def _title(path: Path) -> str:
    lines = path.read_text("utf-8").splitlines()
    return next((line[2:].strip() for line in lines if line.startswith("# ")), path.stem)


def guide_folder() -> Path:
    """Inside an installed package, or `docs/guide` of a source tree."""
    package = Path(__file__).resolve().parent.parent
    installed = package / "_guide"
    return installed if installed.is_dir() else package.parent / "docs" / "guide"


@cache
def _rendered(name: str) -> str:
    """A guide as HTML. Links between guides lead to their pages, and headings can be linked to."""
    reader = MarkdownIt("commonmark", {"html": False}).enable("table")
    text = (guide_folder() / f"{name}.md").read_text("utf-8")
    # A note to editors, not to readers.
    tokens = reader.parse("\n".join(line for line in text.splitlines() if not line.startswith("<!--")))
    for place, token in enumerate(tokens):
        if token.type == "heading_open":
            words = tokens[place + 1].content
            token.attrSet("id", "-".join("".join(c for c in words.lower() if c.isalnum() or c in " -").split()))
        for child in token.children or []:
            _lead_to_page(child)
    return reader.renderer.render(tokens, reader.options, {})


def _lead_to_page(token: Token) -> None:
    target = str(token.attrGet("href") or "") if token.type == "link_open" else ""
    path, hash_, anchor = target.partition("#")
    if path.endswith(".md") and "/" not in path:
        token.attrSet("href", f"/guide/{path.removesuffix('.md')}{hash_}{anchor}")


def _page(template: str, title: str, **values: Any) -> Response[Any]:
    return as_response(page(template, title, headers={"Cache-Control": "public, max-age=300"}, **values))


def _json(value: Any) -> Response[Any]:
    return Response(to_json(value), media_type="application/json", headers={"Vary": "Accept"})
