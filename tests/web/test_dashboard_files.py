"""The dashboard's files: one page for all paths, and files that browsers may keep forever."""

import gzip
import re
import shutil
from pathlib import Path

import httpx
import pytest

from postern.app import Application, make_app
from postern.web.dashboard_files import FOLDER, DashboardBuild
from tests.conftest import Client
from tests.web.test_public_pages import BROWSER_HEADERS

PAGE = """<!doctype html>
<html><head><meta name="style-nonce" nonce="{{nonce}}">
<script type="module" src="./assets/app.js"></script>
<link rel="stylesheet" href="./assets/app.css">
</head><body><div id="root"></div></body></html>
"""
SCRIPT = "console.log('dashboard');\n" * 100
FILES = {
    "assets/app.js": ("text/javascript; charset=utf-8", SCRIPT.encode()),
    "assets/app.css": ("text/css; charset=utf-8", b"body { margin: 0 }\n" * 50),
    "assets/logo.svg": ("image/svg+xml", b"<svg xmlns='http://www.w3.org/2000/svg'/>"),
    "assets/text.woff2": ("font/woff2", bytes(range(256)) * 4),
}
PATHS = ["/dashboard", "/dashboard/", "/dashboard/projects/x/emails", "/dashboard/welcome", "/dashboard/a.b/%2e%2e/c"]


_BUILT: dict[str, Application] = {}
"""The application with the small build. It is built once, and gets the World of each test."""


@pytest.fixture(scope="module")
def small_build(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a small build, which tests do not change."""
    folder = tmp_path_factory.mktemp("build")
    (folder / "assets").mkdir()
    (folder / "index.html").write_text(PAGE)
    for name, (_, content) in FILES.items():
        (folder / name).write_bytes(content)
    (folder / "README.md").write_text("Not a file of the page.")
    return folder


@pytest.fixture
def visitor(world, small_build) -> Client:
    """A client of a server with the small build."""
    if "app" not in _BUILT:
        _BUILT["app"] = make_app(world, dashboard_folder=small_build)
    _BUILT["app"].switch_world(world)
    return Client(_BUILT["app"])


async def get(visitor: Client, path: str, **headers: str) -> httpx.Response:
    return await visitor.http.get(path, headers={**BROWSER_HEADERS, "accept-encoding": "identity", **headers})


@pytest.mark.parametrize("path", PATHS)
async def test_every_path_has_the_page(visitor, small_build, path):
    response = await get(visitor, path)
    assert (response.status_code, response.headers["content-type"]) == (200, "text/html; charset=utf-8")
    build = DashboardBuild(small_build)
    assert f'src="/dashboard/build/{build.id}/assets/app.js"' in response.text
    assert f'href="/dashboard/build/{build.id}/assets/app.css"' in response.text
    assert '="./' not in response.text
    assert response.headers["cache-control"] == "no-store"


async def test_the_page_has_a_policy_with_a_new_nonce_each_time(visitor):
    first, second = await get(visitor, "/dashboard"), await get(visitor, "/dashboard")
    nonces = []
    for response in (first, second):
        (nonce,) = set(re.findall(r'nonce="([^"]+)"', response.text))
        assert re.fullmatch(r"[\w-]{22,}", nonce)
        assert response.headers["content-security-policy"] == (
            f"default-src 'none'; script-src 'self'; style-src 'self' 'nonce-{nonce}'; connect-src 'self'; "
            "img-src 'self' data: https:; font-src 'self'; frame-src 'self'; form-action 'self'; base-uri 'none'; "
            "frame-ancestors 'none'"
        )
        nonces.append(nonce)
    assert nonces[0] != nonces[1]
    expected = {
        "x-content-type-options": "nosniff",
        "x-frame-options": "DENY",
        "referrer-policy": "same-origin",
        "cross-origin-opener-policy": "same-origin",
        "cross-origin-resource-policy": "same-origin",
    }
    assert {name: first.headers[name] for name in expected} == expected
    assert "camera=()" in first.headers["permissions-policy"]


def test_scripts_have_no_nonce_with_which_browsers_would_compile_them_again():
    html = (FOLDER / "index.html").read_text()
    assert re.findall(r"<(\w+)[^>]* nonce=", html) == ["meta"]


@pytest.mark.parametrize("name", FILES)
async def test_files_have_their_type_and_are_immutable(visitor, small_build, name):
    media_type, content = FILES[name]
    path = f"/dashboard/build/{DashboardBuild(small_build).id}/{name}"
    plain = await get(visitor, path)
    assert (plain.status_code, plain.headers["content-type"], plain.content) == (200, media_type, content)
    assert plain.headers["cache-control"] == "public, max-age=31536000, immutable"
    assert plain.headers["vary"] == "Accept-Encoding"
    assert plain.headers["x-content-type-options"] == "nosniff"
    head = await visitor.http.head(path)
    assert (head.status_code, head.content) == (200, b"")


async def test_files_are_compressed_for_clients_that_accept_it(visitor, small_build):
    path = f"/dashboard/build/{DashboardBuild(small_build).id}/assets/app.js"
    async with visitor.http.stream("GET", path, headers={"accept-encoding": "br, GZIP;q=0.5"}) as response:
        raw = b"".join([part async for part in response.aiter_raw()])
    assert response.headers["content-encoding"] == "gzip"
    assert int(response.headers["content-length"]) == len(raw) < len(SCRIPT)
    assert gzip.decompress(raw).decode() == SCRIPT
    for refused in ("", "br", "gzip;q=0", "identity"):
        assert "content-encoding" not in (await get(visitor, path, **{"accept-encoding": refused})).headers
    font = await get(visitor, path.replace("app.js", "text.woff2"), **{"accept-encoding": "gzip"})
    assert "content-encoding" not in font.headers, "a font is compressed already"


@pytest.mark.parametrize(
    "path",
    [
        "/dashboard/build/0123456789abcdef/assets/app.js",
        "/dashboard/build/{id}/assets/other.js",
        "/dashboard/build/{id}/index.html",
        "/dashboard/build/{id}/README.md",
        "/dashboard/build/{id}/assets",
        "/dashboard/build/{id}",
        "/dashboard/build/{id}/assets/%2e%2e/index.html",
        "/dashboard/build/{id}/%2e%2e/%2e%2e/%2e%2e/dashboard_files.py",
        "/dashboard/build/{id}/..%2f..%2fdashboard_files.py",
        "/dashboard/build/{id}/%00",
        "/dashboard/build/..%2f..",
    ],
)
async def test_unknown_builds_and_files_are_404(visitor, small_build, path):
    path = path.replace("{id}", DashboardBuild(small_build).id)
    response = await get(visitor, path)
    assert (response.status_code, response.headers["cache-control"]) == (404, "no-store")


def test_the_build_id_changes_with_any_file(small_build, tmp_path):
    folder = tmp_path / "changed"
    shutil.copytree(small_build, folder)
    ids = {DashboardBuild(folder).id}
    assert DashboardBuild(folder).id in ids, "the same files have the same id"
    for name in ("index.html", *FILES):
        with (folder / name).open("ab") as file:
            file.write(b" ")
        ids.add(DashboardBuild(folder).id)
    (folder / "assets/app.js").rename(folder / "assets/other.js")
    ids.add(DashboardBuild(folder).id)
    assert len(ids) == len(FILES) + 3


async def test_only_get_is_possible(visitor):
    response = await visitor.http.post("/dashboard", headers={"accept": "application/json"})
    assert (response.status_code, response.headers["allow"]) == (405, "GET, HEAD, OPTIONS")


async def test_without_files_the_dashboard_says_so(world, tmp_path):
    visitor = Client(make_app(world, dashboard_folder=tmp_path / "nothing"))
    page = await get(visitor, "/dashboard/projects")
    assert (page.status_code, page.headers["content-type"]) == (404, "text/html; charset=utf-8")
    assert "This installation has no dashboard" in page.text
    response = await visitor.http.get("/dashboard")
    assert (response.status_code, response.json()["code"]) == (404, "dashboard_not_built")


async def test_browsers_are_led_to_the_dashboard(visitor):
    response = await get(visitor, "/")
    assert (response.status_code, response.headers["location"]) == (303, "/dashboard")
    assert (response.headers["vary"], response.headers["cache-control"]) == ("Accept", "no-store")
    document = (await visitor.http.get("/")).json()
    assert document["docs"] == "/docs"
