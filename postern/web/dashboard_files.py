"""The files of the dashboard: its page at every path below `/dashboard`, and its scripts, styles and fonts.

The files are built from `web/` and committed in `postern/web/dashboard`, with names that do not change. They are served
below a build id, a hash of all of them, so that browsers may keep them forever: a new build has another URL.
"""

import gzip
import hashlib
import secrets
from functools import cached_property
from pathlib import Path
from typing import Any

from litestar import Response, get
from msgspec import Struct

from postern.kernel.http.operation import RawRequest
from postern.kernel.http.problems import Missing
from postern.kernel.http.responses import NotFound

FOLDER = Path(__file__).parent / "dashboard"
"""The folder of the built files."""
PATH = "/dashboard"
PAGE = "index.html"
NONCE_PLACEHOLDER = "{{nonce}}"
"""The text in the built page that is replaced by a new nonce for its styles, in a `meta` of web/index.html."""
RELATIVE_URL_START = '="./'
"""The beginning of each attribute in the built page that is the URL of a built file."""
BUILD_ID_LENGTH = 16
MEDIA_TYPES = {
    ".css": "text/css; charset=utf-8",
    ".gif": "image/gif",
    ".ico": "image/x-icon",
    ".jpg": "image/jpeg",
    ".js": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".png": "image/png",
    ".svg": "image/svg+xml",
    ".ttf": "font/ttf",
    ".txt": "text/plain; charset=utf-8",
    ".wasm": "application/wasm",
    ".webp": "image/webp",
    ".woff2": "font/woff2",
}
"""The media types of the files that are served, keyed by the file suffix. Other files are not served."""
COMPRESSED_TYPES = ("text/", "application/", "image/svg+xml")
"""Prefixes of the media types whose files are compressed; images and fonts are compressed already."""
GZIP_LEVEL = 6
PAGE_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'nonce-{nonce}'; connect-src 'self'; "
    "img-src 'self' data: https:; font-src 'self'; frame-src 'self'; form-action 'self'; base-uri 'none'; "
    "frame-ancestors 'none'"
)
"""The Content-Security-Policy of the page. Remote images are logos that projects set."""
PAGE_HEADERS = {
    "Cache-Control": "no-store",
    "Referrer-Policy": "same-origin",
    "X-Frame-Options": "DENY",
    "Cross-Origin-Resource-Policy": "same-origin",
}
"""The headers of the page, besides those that every page of this server has (PAGE_PROTECTION)."""
FILE_HEADERS = {
    "Cache-Control": "public, max-age=31536000, immutable",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Vary": "Accept-Encoding",
}


class DashboardNotBuilt(Missing):
    """This installation has no dashboard: its files are missing. Install a release, or build them from `web/`."""


class BuildFile(Struct, frozen=True, dict=True):
    """A file of the build."""

    media_type: str
    content: bytes

    @cached_property
    def compressed(self) -> bytes | None:
        """The content after gzip, at the first request for it; None if that would not be smaller."""
        if not self.media_type.startswith(COMPRESSED_TYPES):
            return None
        compressed = gzip.compress(self.content, GZIP_LEVEL, mtime=0)
        return compressed if len(compressed) < len(self.content) else None


class DashboardBuild:
    """The built files of a folder, which are read once."""

    def __init__(self, folder: Path) -> None:
        """Read the files below `folder`. Without an index.html there is no dashboard."""
        page = folder / PAGE
        html = page.read_text("utf-8") if page.is_file() else ""
        self._files: dict[str, BuildFile] = {}
        digest = hashlib.sha256(html.encode())
        for path in sorted(folder.rglob("*"), key=str):
            if path.is_file() and path != page and path.suffix in MEDIA_TYPES:
                name, content = path.relative_to(folder).as_posix(), path.read_bytes()
                digest.update(b"%d %b %d " % (len(name), name.encode(), len(content)) + content)
                self._files[name] = BuildFile(MEDIA_TYPES[path.suffix], content)
        self.id = digest.hexdigest()[:BUILD_ID_LENGTH]
        self._page = html.replace(RELATIVE_URL_START, f'="{PATH}/build/{self.id}/')
        """The page without its nonce; empty if there is no dashboard."""

    def page(self) -> Response[bytes]:
        """The page, with a new nonce for its styles. Raises DashboardNotBuilt."""
        if not self._page:
            raise DashboardNotBuilt
        nonce = secrets.token_urlsafe(18)
        headers = {**PAGE_HEADERS, "Content-Security-Policy": PAGE_POLICY.format(nonce=nonce)}
        return Response(self._page.replace(NONCE_PLACEHOLDER, nonce).encode(), media_type="text/html", headers=headers)

    def file(self, build: str, name: str, accept_encoding: str) -> Response[bytes]:
        """A file of the build with this id. Raises NotFound for the files of other builds."""
        file = self._files.get(name) if build == self.id else None
        if file is None:
            raise NotFound
        headers, content = {**FILE_HEADERS, "Content-Type": file.media_type}, file.content
        if _accepts_gzip(accept_encoding) and file.compressed is not None:
            headers["Content-Encoding"], content = "gzip", file.compressed
        return Response(content, headers=headers)


def routes(folder: Path) -> list[Any]:
    """The Litestar handlers of the dashboard whose built files are in `folder`."""
    build = DashboardBuild(folder)

    @get([PATH, f"{PATH}/{{path:path}}"], sync_to_thread=False)
    def dashboard() -> Response[bytes]:
        """The page. Its scripts read the path and show what belongs to it, so all paths get the same page."""
        return build.page()

    @get(f"{PATH}/build/{{build_id:str}}/{{path:path}}", sync_to_thread=False)
    def dashboard_file(request: RawRequest, build_id: str, path: str) -> Response[bytes]:
        """A file of the build."""
        return build.file(build_id, path.removeprefix("/"), request.headers.get("accept-encoding", ""))

    return [dashboard, dashboard_file]


def _accepts_gzip(accept_encoding: str) -> bool:
    """Whether a client accepts gzip (RFC 9110 §12.5.3). `*` is not considered: browsers name gzip."""
    for entry in accept_encoding.lower().split(","):
        coding, _, weight = entry.partition(";")
        if coding.strip() == "gzip":
            return weight.strip() not in ("q=0", "q=0.0", "q=0.00", "q=0.000")
    return False
