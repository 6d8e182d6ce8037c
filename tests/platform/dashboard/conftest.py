"""Fixtures about the dashboard's session."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

import httpx
import pytest

from postern.world import World
from tests.conftest import PASSWORD, Client, Tenant
from tests.contract import check_response
from tests.platform.accounts.members import AccountHelper
from tests.workers import in_another_process

OWN_PAGE = {"sec-fetch-site": "same-origin", "x-postern-dashboard": "1"}
"""Headers that the browser and the scripts of the dashboard add to each request."""


class Browser:
    """A browser with the dashboard open: it keeps cookies, and sends requests as the dashboard's scripts do."""

    def __init__(self, app: Any, base_url: str = "http://127.0.0.1:8025", ip: str = "127.0.0.1") -> None:
        self.app = app
        transport = httpx.ASGITransport(app=app, raise_app_exceptions=False, client=(ip, 40_000))
        self.http = httpx.AsyncClient(transport=transport, base_url=base_url)

    @property
    def cookie(self) -> str | None:
        """The cookie of the session, as the browser sends it."""
        pairs = [f"{cookie.name}={cookie.value}" for cookie in self.http.cookies.jar]
        assert len(pairs) <= 1
        return pairs[0] if pairs else None

    async def request(
        self, method: str, path: str, *, headers: Mapping[str, str] = OWN_PAGE, **kwargs: Any
    ) -> httpx.Response:
        """Send a request below the path of the dashboard's API. Without `headers`, as the dashboard does."""
        sent = self.http.request(method, f"/dashboard/api{path}", headers=dict(headers), **kwargs)
        response = await in_another_process(sent)
        target = response.request.url.path
        check_response(method, target, response.status_code, response.headers, response.content)
        return response

    async def get(self, path: str, **kwargs: Any) -> httpx.Response:
        return await self.request("GET", path, **kwargs)

    async def post(self, path: str, json: Any = None, **kwargs: Any) -> httpx.Response:
        return await self.request("POST", path, json=json, **kwargs)

    async def sign_in(self, email: str, password: str = PASSWORD) -> httpx.Response:
        return await self.post("/auth/sign-in", {"email": email, "password": password})

    def with_cookie(self, cookie: str | None) -> "Browser":
        """Another browser with this cookie in every request, which ignores the cookies that it gets."""
        other = Browser(self.app, str(self.http.base_url))
        if cookie is not None:
            other.http.headers["cookie"] = cookie
        return other


async def raw_request(
    app: Any, method: str, path: str, headers: Mapping[str, str] | list[tuple[str, str]], body: bytes = b""
) -> tuple[int, list[tuple[bytes, bytes]], bytes]:
    """Send a request with exactly this (decoded) path and these headers; returns status, headers and body."""
    pairs = list(headers.items()) if isinstance(headers, Mapping) else headers
    scope = {
        "type": "http",
        "http_version": "1.1",
        "method": method,
        "scheme": "http",
        "path": path,
        "raw_path": quote(path).encode(),
        "query_string": b"",
        "headers": [(b"host", b"127.0.0.1:8025"), *((n.encode(), v.encode()) for n, v in pairs)],
        "client": ("127.0.0.1", 40_000),
        "server": ("127.0.0.1", 8025),
        "root_path": "",
        "state": {},
    }
    messages: list[Any] = []

    async def receive() -> Any:
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(message: Any) -> None:
        messages.append(message)

    await in_another_process(app(scope, receive, send))
    content = b"".join(message.get("body", b"") for message in messages[1:])
    return messages[0]["status"], messages[0]["headers"], content


@pytest.fixture
def account(project: Tenant, stranger: Client, run_due_work: Any, world: World) -> AccountHelper:
    """The account of the owner of `project`."""
    return AccountHelper(project, stranger, run_due_work, world)


@pytest.fixture
def browser(app: Any) -> Browser:
    """A browser without a session."""
    return Browser(app)


@pytest.fixture
async def signed_in(browser: Browser, project: Tenant) -> Browser:
    """A browser in which the owner of `project` is signed in."""
    response = await browser.sign_in(project.email)
    assert response.status_code == 200, response.text
    return browser
