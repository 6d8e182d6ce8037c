"""Public pages: browsers get HTML, other clients get JSON."""

import re
from importlib.metadata import version

import msgspec
import pytest

from postern.web.public_pages import guide_folder, problems
from tests.conftest import PASSWORD, Client

BROWSER_HEADERS = {"accept": "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"}
SERVER_URL = "http://postern.test"


@pytest.fixture
def visitor(app) -> Client:
    return Client(app)


async def test_the_start_page_describes_the_server(visitor):
    """A browser is redirected to the dashboard, other clients get JSON.

    Regression test of N11, M17 (tests/defects.md).
    """
    page = await visitor.http.get("/", headers=BROWSER_HEADERS)
    assert (page.status_code, page.headers["location"]) == (303, "/dashboard")
    document = (await visitor.get(f"{SERVER_URL}/")).json()
    assert (document["name"], document["version"], document["docs"]) == ("Postern", version("postern-server"), "/docs")
    for name in ("docs", "openapi", "guide", "inbox", "ready"):
        assert (await visitor.http.get(document[name])).status_code in (200, 503), name


@pytest.mark.parametrize(
    "path", ["/nowhere", "/projects/x/y/z", "/inbox/x/y/z/a", "/guide/nothing", "/problems/no_such"]
)
async def test_not_found_is_a_page_for_browsers(visitor, path):
    """A browser gets a 404 page with the request id, other clients get the problem document.

    Regression test of N11 (tests/defects.md).
    """
    page = await visitor.http.get(path, headers=BROWSER_HEADERS)
    assert (page.status_code, page.headers["content-type"]) == (404, "text/html; charset=utf-8")
    assert page.headers["x-request-id"] in page.text
    assert 'href="/problems/' in page.text
    response = await visitor.http.get(path)
    assert (response.status_code, response.headers["content-type"]) == (404, "application/problem+json")


@pytest.mark.parametrize("path", ["/join", "/reset-password", "/verify-email", "/inbox/sign-in", "/inbox/enter"])
async def test_form_errors_are_pages_for_browsers(visitor, path):
    """The error for a form from another site is a page in a browser, and a problem document for other clients.

    Regression test of N11 (tests/defects.md).
    """
    other_origin = {"origin": "https://evil.example"}
    page = await visitor.http.post(path, data={"token": "x"}, headers={**BROWSER_HEADERS, **other_origin})
    assert (page.status_code, page.headers["content-type"]) == (403, "text/html; charset=utf-8")
    assert "another website" in page.text
    response = await visitor.http.post(path, data={"token": "x"}, headers=other_origin)
    assert response.headers["content-type"] == "application/problem+json"


async def test_every_problem_has_a_page(visitor):
    """The `type` of a problem document refers to its description, as a page and as JSON.

    Regression test of M17 (tests/defects.md).
    """
    assert len(problems()) > 100
    for code, kind in problems().items():
        problem = (await visitor.get(f"{SERVER_URL}/problems/{code}")).json()
        assert (problem["code"], problem["status"], problem["detail"]) == (code, kind.status, kind.message())
    page = await visitor.get(f"{SERVER_URL}/problems/domain_not_verified", headers=BROWSER_HEADERS)
    assert "neither belongs to a verified sending domain" in page.text
    not_found = await visitor.http.get("/nowhere")
    assert (await visitor.http.get(not_found.json()["type"])).status_code == 200


async def test_the_guides_are_served_and_linked(visitor):
    """Every guide is a page, and every link between guides refers to a page.

    Regression test of N11 (tests/defects.md).
    """
    index = await visitor.get(f"{SERVER_URL}/guide", headers=BROWSER_HEADERS)
    names = {path.stem for path in guide_folder().glob("*.md")}
    assert set(re.findall(r'href="/guide/([a-z-]+)"', index.text)) == names
    for name in names:
        page = await visitor.get(f"{SERVER_URL}/guide/{name}", headers=BROWSER_HEADERS)
        assert (page.status_code, page.text.count("<h1")) == (200, 1), name
        assert set(re.findall(r'href="/guide/([a-z-]+)', page.text)) <= names, name
        assert "Written by script" not in page.text, "comments of generated guides are shown"
    page = await visitor.get(f"{SERVER_URL}/guide/operations", headers=BROWSER_HEADERS)
    assert "<table>" in page.text
    assert "default-src 'none'" in page.headers["content-security-policy"]


async def test_there_is_an_icon_and_a_security_contact(visitor, world):
    """There is an icon, and security.txt if the operator configured a contact.

    Regression test of N11 (tests/defects.md).
    """
    for path in ("/favicon.ico", "/assets/favicon.svg"):
        icon = await visitor.get(SERVER_URL + path)
        assert (icon.status_code, icon.headers["content-type"].partition(";")[0]) == (200, "image/svg+xml")
    path = f"{SERVER_URL}/.well-known/security.txt"
    assert (await visitor.get(path)).status_code == 404
    world.settings = msgspec.structs.replace(world.settings, security_contact="mailto:security@example.com")
    response = await visitor.get(path)
    assert response.headers["content-type"].startswith("text/plain")
    assert response.text.splitlines()[0] == "Contact: mailto:security@example.com"
    assert re.search(r"^Expires: \d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$", response.text, re.MULTILINE)


async def test_an_instance_with_a_full_disk_is_not_ready(visitor, world):
    """With fewer free megabytes than configured, the instance is not ready.

    Regression test of N11 (tests/defects.md).
    """
    world.settings = msgspec.structs.replace(world.settings, free_space=1)
    assert (await visitor.get(f"{SERVER_URL}/readyz")).json()["parts"]["disk"]["ok"] is True
    world.settings = msgspec.structs.replace(world.settings, free_space=10**9)
    response = await visitor.get(f"{SERVER_URL}/readyz")
    assert (response.status_code, response.json()["parts"]["disk"]["ok"]) == (503, False)


async def test_pages_have_security_headers(visitor, world):
    """All responses have HSTS if the base URL is https; pages have COOP and Permissions-Policy.

    Regression test of S13 (tests/defects.md).
    """
    page = await visitor.get(f"{SERVER_URL}/inbox", headers=BROWSER_HEADERS)
    assert page.headers["cross-origin-opener-policy"] == "same-origin"
    assert "camera=()" in page.headers["permissions-policy"]
    assert "strict-transport-security" not in page.headers
    world.settings = msgspec.structs.replace(world.settings, base_url="https://mail.example.com")
    for path in ("/inbox", "/healthz", "/nowhere", "/openapi.json"):
        response = await visitor.http.get(path)
        assert response.headers["strict-transport-security"] == "max-age=63072000", path


@pytest.mark.parametrize(("hosts", "status"), [([], 400), (["a", "b"], 400), (["a", "a"], 400), (["a"], 200)])
async def test_a_request_has_exactly_one_host_header(app, hosts, status):
    """A request with no `Host` header or with several is refused.

    Regression test of S13 (tests/defects.md).
    """
    response_messages = []

    async def send(message):
        response_messages.append(message)

    async def receive():
        return {"type": "http.request", "body": b"", "more_body": False}

    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": "GET",
        "path": "/healthz",
        "raw_path": b"/healthz",
        "query_string": b"",
        "root_path": "",
        "scheme": "http",
        "headers": [(b"host", host.encode()) for host in hosts],
        "client": ("127.0.0.1", 40_000),
        "server": ("127.0.0.1", 80),
    }
    await app(scope, receive, send)
    start, body = response_messages
    assert start["status"] == status
    if status == 400:
        assert b'"code":"host_invalid"' in body["body"]
        assert (b"content-type", b"application/problem+json") in start["headers"]


async def test_the_api_does_not_accept_the_inbox_cookie(project, visitor, world):
    """The cookie is not accepted by the API, and with TLS it has the `__Host-` prefix.

    Regression test of S13 (tests/defects.md).
    """
    form = {"email": project.email, "password": PASSWORD}
    for base_url, name, path in (
        (None, "postern-inbox", "Path=/inbox"),
        ("https://mail.example.com", "__Host-postern-inbox", "Path=/;"),
    ):
        world.settings = msgspec.structs.replace(world.settings, base_url=base_url)
        signed_in = await visitor.http.post("/inbox/sign-in", data=form)
        set_cookie = signed_in.headers["set-cookie"]
        assert set_cookie.startswith(f"{name}="), set_cookie
        assert path in set_cookie
        assert "HttpOnly" in set_cookie
        assert "SameSite=Lax" in set_cookie
        assert ("Secure" in set_cookie) == (base_url is not None)
        value = set_cookie.partition("=")[2].partition(";")[0]
        visitor.http.cookies.clear()
        cookie = {"cookie": f"{name}={value}"}
        assert "Inbox of" in (await visitor.http.get(f"/inbox/{project.id}", headers=cookie)).text
        for token in (value, value.rstrip("=")):
            refused = await Client(visitor.app, token).get(f"/projects/{project.id}")
            assert refused.status_code == 401
        forged = {"cookie": f"{name}={value[:-8]}AAAAAAA="}
        assert "Sign in" in (await visitor.http.get(f"/inbox/{project.id}", headers=forged)).text
