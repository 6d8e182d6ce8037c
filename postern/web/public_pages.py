"""Pages about the server itself: the start page, the guides, problems by their code, and where to report a weakness."""

from collections.abc import Iterator
from datetime import timedelta
from functools import cache
from html import escape
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from litestar import Request, Response, get
from markdown_it import MarkdownIt
from markdown_it.token import Token

from postern.kernel.http.problems import Problem
from postern.kernel.http.responses import NotFound
from postern.kernel.values import to_json
from postern.web.html import document, paragraph, wants_page

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
    links = {
        "/inbox": ("Inbox", "the messages that were captured, for signed-in developers"),
        "/guide": ("Guides", "how to send, sign people in and run the server"),
        "/docs": ("API reference", "every operation, with examples"),
        "/readyz": ("Status", "whether the server is ready"),
    }
    items = "".join(f'<li><a href="{path}">{name}</a>: {escape(said)}</li>' for path, (name, said) in links.items())
    words = paragraph("This is a Postern server: e-mail delivery and customer identity behind one HTTP API.")
    return _page("Postern", f"{words}<ul>{items}</ul>")


@get("/favicon.ico", sync_to_thread=False)
def favicon() -> Response[bytes]:
    """The icon, for browsers that look at its usual place."""
    headers = {"Cache-Control": "public, max-age=86400"}
    return Response(ICON_SVG, media_type="image/svg+xml", headers=headers)


@get("/guide", sync_to_thread=False)
def guides() -> Response[Any]:
    """The guides by their titles."""
    items = "".join(f'<li><a href="/guide/{name}">{escape(title)}</a></li>' for name, title in _titles().items())
    return _page("Guides", f"<ul>{items}</ul>")


@get("/guide/{name:str}", sync_to_thread=False)
def guide(name: str) -> Response[Any]:
    """One guide. Raises NotFound."""
    if name.removesuffix(".md") not in _titles():
        raise NotFound
    name = name.removesuffix(".md")
    return _page(_titles()[name], f'<p><a href="/guide">All guides</a></p>{_rendered(name)}', headline=False)


@get("/problems/{code:str}", sync_to_thread=False)
def problem(request: RawRequest, code: str) -> Response[Any]:
    """What a problem's `type` leads to: what it means, by its code. Raises NotFound."""
    kind = problems().get(code)
    if kind is None:
        raise NotFound
    if not wants_page(request):
        told = {"type": f"/problems/{code}", "title": kind.title(), "status": kind.status, "detail": kind.message()}
        return _json({**told, "code": code, "next": kind.next, "guide": "/guide/errors"})
    about = (
        f"<p>HTTP status {kind.status}, <code>code</code> is <code>{escape(code)}</code>. The answer itself says more: "
        "<code>detail</code>, and in <code>errors</code> the fields concerned. Its <code>requestId</code> leads to the "
        "server's log.</p>"
    )
    next_step = paragraph(kind.next) if kind.next else ""
    parts = [paragraph(kind.message()), next_step, about, '<p><a href="/guide/errors">All problems</a></p>']
    return _page(kind.title(), "".join(parts))


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


def _page(title: str, body: str, *, headline: bool = True) -> Response[Any]:
    answer = document(title, body, wide=True, headline=headline)
    headers = {**(answer.headers or {}), "Cache-Control": "public, max-age=300"}
    return Response(str(answer.content).encode(), media_type="text/html", headers=headers)


def _json(value: Any) -> Response[Any]:
    return Response(to_json(value), media_type="application/json", headers={"Vary": "Accept"})
