"""Applications that sign customers in with the TypeScript SDK, and the browsers of these customers."""

import fcntl
import hashlib
import itertools
import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from html import unescape
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest

from tests.conftest import PASSWORD
from tests.sdk.typescript import linked_sdk, run

PEER = Path(__file__).parent.parent / "peers" / "web_frameworks"
REACT = Path(__file__).parent.parent.parent / "sdk" / "react"
INSTALL = "for folder in tests/peers/web_frameworks sdk/react; do npm install --no-package-lock --prefix $folder; done"
PROGRAMS = Path(__file__).parent / "programs"
WAIT_SECONDS = 120
PAGE = {"accept": "text/html"}
_NUMBERS = itertools.count()

needs_web_frameworks = pytest.mark.skipif(
    not (shutil.which("node") and (PEER / "node_modules" / "next").is_dir() and (REACT / "node_modules").is_dir()),
    reason=f"The web frameworks are not installed: {INSTALL}",
)


def linked_frameworks(folder: Path) -> Path:
    """Make `folder` a place whose programs can import both packages and the web frameworks; returns it."""
    modules = linked_sdk(folder) / "node_modules"
    install_react(modules)
    for name in ("express", "hono", "@hono", "react", "react-dom", "@types", "next", "csstype"):
        (modules / name).symlink_to(PEER / "node_modules" / name)
    (modules / "esbuild").symlink_to(REACT / "node_modules" / "esbuild")
    return folder


def install_react(modules: Path) -> None:
    """Copy `@postern/react` into a folder `node_modules`: a linked package would find another React than its users."""
    with (REACT / "node_modules" / ".build-lock").open("a+") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        content = _digest([*REACT.glob("src/*"), REACT / "build.mjs", REACT / "tsconfig.json"])
        stamp = REACT / "dist" / ".built-from"
        if not stamp.exists() or stamp.read_text() != content:
            run("npm", "run", "--silent", "build", folder=REACT)
            stamp.write_text(content)
        install_package(REACT, modules)


def install_package(package: Path, modules: Path) -> None:
    """Copy what a package publishes into a folder `node_modules`, as if it came from the registry."""
    target = modules / json.loads((package / "package.json").read_text())["name"]
    if target.is_symlink():
        target.unlink()
    shutil.copytree(package / "dist", target / "dist")
    shutil.copy(package / "package.json", target)


def _digest(files: list[Path]) -> str:
    parts = (b"%s\0%s" % (bytes(file), file.read_bytes()) for file in sorted(files))
    return hashlib.sha256(b"\0".join(parts)).hexdigest()


@contextmanager
def running_apps(folder: Path, **environment: str) -> Iterator[dict[str, str]]:
    """Start `programs/apps.mjs`; yields the URLs of its applications by name."""
    linked_frameworks(folder)
    for program in ("apps.mjs", "components.mjs", "components_page.mjs"):
        shutil.copy(PROGRAMS / program, folder)
    environment = {"PATH": "/usr/local/bin:/usr/bin:/bin", "NODE_ENV": "production", **environment}
    node = shutil.which("node")
    assert node
    with subprocess.Popen(
        [node, "apps.mjs"], cwd=folder, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdin
        assert process.stdout
        try:
            ports = json.loads(process.stdout.readline())
            yield {name: f"http://127.0.0.1:{port}" for name, port in ports.items()}
        finally:
            process.stdin.close()
            process.wait(WAIT_SECONDS)


@dataclass
class Api:
    """Calls operations of a project at a server, with an API key or token."""

    server: str
    project: str
    token: str

    def __call__(self, method: str, path: str, json: Any = None, status: int | None = None) -> Any:
        """The JSON response. Paths are relative to the project. Raises AssertionError for errors."""
        url = f"{self.server}/projects/{self.project}{path}"
        headers = {"authorization": f"Bearer {self.token}"}
        response = httpx.request(method, url, json=json, headers=headers, timeout=WAIT_SECONDS)
        assert response.status_code == status if status else response.is_success, response.text
        return response.json() if response.content else None


@dataclass
class Visitor:
    """A browser without scripts that uses an application at `app`.

    Each has an address of its own, because the server counts attempts to sign in by address.
    """

    app: str
    http: httpx.Client = field(init=False)
    address: str = field(init=False)

    def __post_init__(self) -> None:
        number = next(_NUMBERS)
        self.address = f"127.{number // 250 + 1}.{number % 250 + 1}.1"
        self.http = self._browser(base_url=self.app, headers={"x-visitor": self.address})

    def _browser(self, **options: Any) -> httpx.Client:
        transport = httpx.HTTPTransport(local_address=self.address)
        return httpx.Client(transport=transport, timeout=WAIT_SECONDS, **options)

    def get(self, path: str, **headers: str) -> httpx.Response:
        return self.http.get(path, headers=headers)

    def post(self, path: str, data: dict[str, str] | None = None, **headers: str) -> httpx.Response:
        """Send a form as a page of the application does, unless `headers` say otherwise."""
        return self.http.post(path, data=data or {}, headers={"origin": self.app, **headers})

    def cookies(self) -> set[str]:
        """The names of the cookies that the application has set."""
        return set(self.http.cookies)

    def let_access_token_expire(self) -> None:
        """Do what a browser does when the access token expires: delete its cookie."""
        self.http.cookies.delete("postern_access", domain="127.0.0.1", path="/")

    def begin(self, path: str = "/auth/sign-in") -> str:
        """Begin a sign-in; returns the URL of the hosted page."""
        response = self.get(path)
        assert response.status_code == 303, response.text
        return response.headers["location"]

    def enter_password(self, page_url: str, email: str) -> str:
        """Sign in on the hosted page; returns the URL to which it sends the browser."""
        with self._browser() as http:
            page = http.get(page_url)
            assert page.status_code == 200, page.text
            action = str(page.url.join(unescape(re.findall(r'<form[^>]* action="([^"]+)"', page.text)[0])))
            hidden = dict(re.findall(r'<input type="hidden" name="([^"]+)" value="([^"]*)"', page.text))
            fields = {name: unescape(value) for name, value in hidden.items()}
            redirect = http.post(action, data={**fields, "email": email, "password": PASSWORD})
        assert redirect.status_code == 303, redirect.text
        return redirect.headers["location"]

    def sign_in(self, email: str, path: str = "/auth/sign-in") -> httpx.Response:
        """Sign in; returns the response to the callback."""
        return self.get(self.enter_password(self.begin(path), email))


def query_of(url: str) -> dict[str, str]:
    """The parameters of a URL."""
    return {name: values[0] for name, values in parse_qs(urlsplit(url).query).items()}
