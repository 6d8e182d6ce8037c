"""Applications that sign customers in with the TypeScript SDK, and the browsers of these customers."""

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
from tests.sdk.typescript import linked_sdk

PEER = Path(__file__).parent.parent / "peers" / "web_frameworks"
INSTALL = "npm install --no-package-lock --prefix tests/peers/web_frameworks"
PROGRAMS = Path(__file__).parent / "programs"
WAIT_SECONDS = 120
PAGE = {"accept": "text/html"}

needs_web_frameworks = pytest.mark.skipif(
    not (shutil.which("node") and (PEER / "node_modules" / "next").is_dir()),
    reason=f"The web frameworks are not installed: {INSTALL}",
)


def linked_frameworks(folder: Path) -> Path:
    """Make `folder` a place whose programs can import `@postern/sdk` and the web frameworks; returns it."""
    linked_sdk(folder)
    for name in ("express", "hono", "@hono", "react", "react-dom", "@types", "next", "csstype"):
        if (PEER / "node_modules" / name).exists():
            (folder / "node_modules" / name).symlink_to(PEER / "node_modules" / name)
    return folder


@contextmanager
def running_apps(folder: Path, **environment: str) -> Iterator[dict[str, str]]:
    """Start `programs/apps.mjs`; yields the URLs of its applications by name."""
    shutil.copy(PROGRAMS / "apps.mjs", linked_frameworks(folder))
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
    """A browser without scripts that uses an application at `app`."""

    app: str
    http: httpx.Client = field(init=False)

    def __post_init__(self) -> None:
        self.http = httpx.Client(base_url=self.app, timeout=WAIT_SECONDS)

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
        with httpx.Client(timeout=WAIT_SECONDS) as http:
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
