"""Sign-in with the TypeScript SDK: an Express and a Hono application that sign customers in at a real server."""

import asyncio
import re
import shutil
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from uuid import uuid4

import httpx
import pytest

from tests.conftest import PASSWORD
from tests.peers.ports import reserved_port
from tests.peers.whole_server import WholeServer, whole_server
from tests.sdk.test_sign_in_tutorial import Tutorial
from tests.sdk.typescript import needs_typescript, run
from tests.sdk.web_frameworks import (
    PAGE,
    PEER,
    PROGRAMS,
    Api,
    Visitor,
    linked_frameworks,
    needs_web_frameworks,
    query_of,
    running_apps,
)
from tests.test_guides import BLOCK, GUIDE, Person, action_of, first_environment, hidden_of

pytestmark = [pytest.mark.needs_node, needs_typescript, needs_web_frameworks]
EVIL = "https://evil.example"


@dataclass
class Installation:
    """A server with a project, and the applications that use it."""

    server: WholeServer
    key: Api
    developer: Api
    apps: dict[str, str]

    def new_customer(self, *roles: str) -> str:
        """Create a customer with these roles; returns the address."""
        email = f"customer-{uuid4().hex[:12]}@example.com"
        body = {"email": email, "emailVerified": True, "password": PASSWORD}
        customer = self.key("POST", "/customers", body)
        if roles:
            self.key("PATCH", f"/customers/{customer['id']}/roles", {"roles": list(roles)})
        return email


@pytest.fixture(scope="module")
def installation(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installation]:
    with whole_server(tmp_path_factory.mktemp("server")) as server:
        account = asyncio.run(server.account())
        project, key = account.project_id, account.secret_key
        developer = Api(server.url, project, account.developer_token)
        environment = {"POSTERN_URL": server.url, "POSTERN_PROJECT": project, "POSTERN_KEY": key}
        with running_apps(tmp_path_factory.mktemp("apps"), **environment) as apps:
            urls = [f"{url}/auth/callback" for url in apps.values()]
            developer("PATCH", "", {"settings": {"signIn": {"redirectUrls": urls, "requireSso": False}}})
            api = Api(server.url, project, key)
            api("POST", "/access/permissions", {"key": "reports:read"})
            api("POST", "/access/roles", {"key": "reader", "name": "Reader", "permissions": ["reports:read"]})
            yield Installation(server, api, developer, apps)


@pytest.fixture(params=["express", "hono"])
def visitor(request: pytest.FixtureRequest, installation: Installation) -> Visitor:
    return Visitor(installation.apps[request.param])


@pytest.fixture(scope="module")
def customer(installation: Installation) -> str:
    return installation.new_customer()


def access_token(visitor: Visitor) -> str:
    return visitor.http.cookies["postern_access"]


def test_a_page_for_customers_sends_the_browser_to_sign_in_and_back(visitor, customer):
    refused = visitor.get("/account?tab=2", **PAGE)
    assert refused.status_code == 303
    assert refused.headers["location"] == "/auth/sign-in?return_to=%2Faccount%3Ftab%3D2"
    hosted = visitor.begin(refused.headers["location"])
    assert query_of(hosted)["redirectUrl"] == f"{visitor.app}/auth/callback"
    returned = visitor.get(visitor.enter_password(hosted, customer))
    assert returned.status_code == 303
    assert returned.headers["location"] == "/account?tab=2"
    assert visitor.get("/account").json()["email"] == customer
    assert visitor.cookies() == {"postern_access", "postern_refresh"}


def test_cookies_are_hidden_from_scripts_and_other_sites(visitor, customer):
    response = visitor.sign_in(customer)
    cookies = response.headers.get_list("set-cookie")
    assert len(cookies) == 3
    for cookie in cookies:
        assert "; HttpOnly; SameSite=Lax" in cookie
        assert "; Path=/; " in cookie
    assert "no-store" in response.headers["cache-control"]


def test_cookies_are_secure_unless_the_application_is_on_this_machine(visitor):
    response = visitor.get("/auth/sign-in", host="app.example.com")
    assert query_of(response.headers["location"])["redirectUrl"] == "https://app.example.com/auth/callback"
    cookie = response.headers["set-cookie"]
    assert cookie.startswith("__Host-postern_flow=")
    assert cookie.endswith("; HttpOnly; SameSite=Lax; Secure")


def test_sign_up_uses_its_own_page(visitor):
    assert "/auth/pages/sign-up?" in visitor.begin("/auth/sign-up")


def test_programs_without_a_session_get_a_problem(visitor):
    response = visitor.get("/account")
    assert response.status_code == 401
    assert response.headers["content-type"] == "application/problem+json"
    assert response.headers["www-authenticate"] == "Bearer"
    assert response.json()["code"] == "sign_in_required"
    assert visitor.get("/").json() is None


def test_a_customer_without_the_permission_is_refused(visitor, customer):
    visitor.sign_in(customer)
    refused = visitor.get("/reports")
    assert refused.status_code == 403
    assert refused.json()["code"] == "permission_denied"
    assert 'scope="reports:read"' in refused.headers["www-authenticate"]
    page = visitor.get("/reports", **PAGE)
    assert page.status_code == 403
    assert "You are not allowed to do this" in page.text


def test_bearer_tokens_work_without_cookies(installation, visitor, customer):
    visitor.sign_in(customer)
    token = access_token(visitor)
    program = Visitor(visitor.app)
    response = program.get("/account", authorization=f"Bearer {token}")
    assert response.json()["email"] == customer
    assert "set-cookie" not in response.headers
    forged = program.get("/account", authorization=f"Bearer {token[:-4]}AAAA", **PAGE)
    assert forged.status_code == 401
    assert forged.json()["code"] == "token_invalid"
    assert 'error="invalid_token"' in forged.headers["www-authenticate"]


def test_the_token_of_another_project_is_refused(installation, visitor):
    other = asyncio.run(installation.server.account())
    api = Api(installation.server.url, other.project_id, other.secret_key)
    api("POST", "/customers", {"email": "eve@example.com", "emailVerified": True, "password": PASSWORD})
    signed_in = api("POST", "/auth/sign-in", {"email": "eve@example.com", "password": PASSWORD})
    refused = visitor.get("/account", authorization=f"Bearer {signed_in['accessToken']}")
    assert refused.status_code == 401
    assert refused.json()["code"] == "token_invalid"
    visitor.http.cookies.set("postern_access", signed_in["accessToken"], domain="127.0.0.1")
    visitor.http.cookies.set("postern_refresh", signed_in["refreshToken"], domain="127.0.0.1")
    assert visitor.get("/account").status_code == 401
    assert visitor.cookies() == set()


FOREIGN = [
    "https://evil.example",
    "//evil.example",
    "/\\evil.example",
    "/\t/evil.example",
    "/\n/evil.example",
    "/.//evil.example",
    "/a/..//evil.example",
    "\\/evil.example",
    "evil.example",
    "javascript:alert(1)",
    "/" + "a" * 2_000,
    "/auth/sign-in",
]
"""Values of `return_to` that are no paths of the application, or would begin the sign-in again."""


def test_a_sign_in_never_ends_at_another_site(visitor, customer):
    for return_to in FOREIGN:
        state = query_of(visitor.begin(f"/auth/sign-in?{httpx.QueryParams({'return_to': return_to})}"))["state"]
        failed = visitor.get(f"/auth/callback?state={state}&error=access_denied")
        assert 'href="/auth/sign-in?return_to=%2F"' in failed.text, return_to
        signed_out = visitor.post("/auth/sign-out", {"return_to": return_to}, **PAGE)
        assert signed_out.headers["location"] == "/", return_to
    assert visitor.sign_in(customer, "/auth/sign-in?return_to=//evil.example").headers["location"] == "/"


def test_a_callback_needs_the_state_of_this_browser(visitor, customer):
    url = visitor.enter_password(visitor.begin(), customer)
    state = query_of(url)["state"]
    victim = Visitor(visitor.app)
    for browser, changed in [
        (victim, url),
        (visitor, url.replace(state, "x" * len(state))),
        (visitor, re.sub(r"&state=[^&]*", "", url)),
    ]:
        refused = browser.get(changed)
        assert refused.status_code == 400
        assert "Sign in again" in refused.text
        assert not browser.cookies() & {"postern_access", "postern_refresh"}
    victim.begin()
    assert victim.get(url).status_code == 400
    assert visitor.get(url).status_code == 303


def test_a_callback_works_once(visitor, customer):
    url = visitor.enter_password(visitor.begin(), customer)
    flow = visitor.http.cookies["postern_flow"]
    assert visitor.get(url).status_code == 303
    token = access_token(visitor)
    # The back button of the same browser changes nothing.
    again = visitor.get(url)
    assert again.status_code == 303
    assert again.headers["location"] == "/"
    assert access_token(visitor) == token
    # The code does not work again, even with the cookie of the flow.
    thief = Visitor(visitor.app)
    thief.http.cookies.set("postern_flow", flow, domain="127.0.0.1")
    assert thief.get(url).status_code == 400
    assert thief.cookies() == set()


def test_sign_ins_in_several_tabs_do_not_disturb_each_other(visitor, customer):
    first, second = visitor.begin("/auth/sign-in?return_to=/a"), visitor.begin("/auth/sign-in?return_to=/b")
    assert visitor.get(visitor.enter_password(first, customer)).headers["location"] == "/a"
    assert visitor.get(visitor.enter_password(second, customer)).headers["location"] == "/b"
    for _ in range(9):
        visitor.begin("/auth/sign-in?return_to=/" + "c" * 500)
    assert len(visitor.http.cookies["postern_flow"]) < 4_000


def test_an_error_of_the_hosted_pages_is_explained(visitor):
    state = query_of(visitor.begin())["state"]
    page = visitor.get(f"/auth/callback?error=access_denied&state={state}")
    assert page.status_code == 400
    assert "The sign-in was cancelled." in page.text
    assert "<script" not in visitor.get("/auth/callback?error=<script>&state=<script>").text


CROSS_ORIGIN = [
    {"origin": EVIL},
    {"origin": "null"},
    {"origin": EVIL, "sec-fetch-site": "cross-site"},
    {"origin": "http://127.0.0.1:1", "sec-fetch-site": "same-site"},
    {"origin": ""},
]


def test_other_sites_cannot_sign_out_or_switch_or_act(visitor, customer):
    visitor.sign_in(customer)
    for headers in CROSS_ORIGIN:
        for path in ("/auth/sign-out", "/auth/switch-organization"):
            refused = visitor.post(path, {"organization_id": ""}, **headers)
            assert refused.status_code == 403, (path, headers)
            assert refused.json()["code"] == "cross_origin_request"
            assert "set-cookie" not in refused.headers
        assert visitor.post("/account", **headers).status_code == 403, headers
    assert visitor.post("/account").json()["email"] == customer


def test_sign_out_needs_a_post(visitor, customer):
    visitor.sign_in(customer)
    response = visitor.get("/auth/sign-out")
    assert response.status_code == 405
    assert response.headers["allow"] == "POST"
    assert visitor.get("/account").status_code == 200


def test_sign_out_ends_the_session_here_and_on_the_server(installation, visitor, customer):
    visitor.sign_in(customer)
    token, refresh = access_token(visitor), visitor.http.cookies["postern_refresh"]
    response = visitor.post("/auth/sign-out", {"return_to": "/goodbye"}, **PAGE)
    assert response.status_code == 303
    assert response.headers["location"] == "/goodbye"
    assert visitor.cookies() == set()
    as_customer = Api(installation.server.url, installation.key.project, token)
    as_customer("GET", "/auth/me", status=401)
    visitor.http.cookies.set("postern_refresh", refresh, domain="127.0.0.1")
    assert visitor.get("/account").status_code == 401
    assert visitor.cookies() == set()


def test_scripts_can_sign_out(visitor, customer):
    visitor.sign_in(customer)
    response = visitor.post("/auth/sign-out", accept="application/json")
    assert response.status_code == 204
    assert visitor.cookies() == set()


def test_an_expired_session_is_refreshed_once_for_parallel_requests(visitor, customer):
    visitor.sign_in(customer)
    old = visitor.http.cookies["postern_refresh"]
    cookie = {"cookie": f"postern_refresh={old}"}
    with ThreadPoolExecutor(8) as pool:
        requests = [pool.submit(httpx.get, f"{visitor.app}/account", headers=cookie, timeout=60) for _ in range(8)]
        responses = [request.result() for request in requests]
    assert [response.status_code for response in responses] == [200] * 8
    assert len({response.cookies["postern_refresh"] for response in responses} - {old}) == 1
    assert len({response.cookies["postern_access"] for response in responses}) == 1
    assert all("no-store" in response.headers["cache-control"] for response in responses)


def test_a_refresh_keeps_the_session(visitor, customer):
    visitor.sign_in(customer)
    for _ in range(3):
        before = visitor.http.cookies["postern_refresh"]
        visitor.let_access_token_expire()
        assert visitor.get("/account").json()["email"] == customer
        assert visitor.http.cookies["postern_refresh"] != before
        assert "postern_access" in visitor.cookies()


def test_a_handler_cannot_lose_the_new_cookies_or_have_them_cached(visitor, customer):
    assert visitor.get("/cached").headers["cache-control"] == "public, max-age=60"
    visitor.sign_in(customer)
    before = visitor.http.cookies["postern_refresh"]
    visitor.let_access_token_expire()
    response = visitor.get("/cached")
    assert response.headers["cache-control"] == "private, no-store"
    assert response.headers["vary"] == "Accept, Cookie, Authorization"
    assert len(response.headers.get_list("set-cookie")) == 3
    assert visitor.cookies() == {"postern_access", "postern_refresh", "theme"}
    assert visitor.http.cookies["postern_refresh"] != before
    assert visitor.get("/account").headers["vary"] == "Cookie, Authorization"


def test_the_session_route_shows_the_customer(visitor, customer):
    signed_out = {"customer": None, "organization": None, "organizations": [], "permissions": []}
    assert visitor.get("/auth/session").json() == signed_out
    visitor.sign_in(customer)
    response = visitor.get("/auth/session")
    assert response.headers["cache-control"] == "private, no-store"
    assert "access-control-allow-origin" not in response.headers
    document = response.json()
    assert document["customer"]["email"] == customer
    assert document["customer"]["emailVerified"] is True
    assert document["organizations"] == []
    assert visitor.http.cookies["postern_refresh"] not in response.text
    assert access_token(visitor) not in response.text


def test_the_session_route_notices_a_revoked_session(installation, visitor, customer):
    visitor.sign_in(customer)
    Api(installation.server.url, installation.key.project, access_token(visitor))("POST", "/auth/sign-out")
    assert visitor.get("/account").status_code == 200
    assert visitor.get("/auth/session").json()["customer"] is None
    assert visitor.cookies() == set()
    assert visitor.get("/account").status_code == 401


def test_an_unavailable_server_is_no_reason_to_forget_a_session(installation, customer):
    visitor = Visitor(installation.apps["express"])
    visitor.sign_in(customer)
    alone = Visitor(installation.apps["alone"])
    for name in ("postern_access", "postern_refresh"):
        alone.http.cookies.set(name, visitor.http.cookies[name], domain="127.0.0.1")
    for response in (alone.get("/account"), alone.get("/auth/session")):
        assert response.status_code == 503
        assert response.json()["code"] == "sign_in_unavailable"
        assert response.headers["retry-after"]
    assert "Please try again in a moment" in alone.get("/account", **PAGE).text
    assert alone.get("/").json() is None
    assert alone.cookies() == {"postern_access", "postern_refresh"}


def test_unknown_routes_and_oversized_forms(visitor, customer):
    assert visitor.get("/auth/unknown").status_code == 404
    assert visitor.get("/auth/constructor").status_code == 404
    visitor.sign_in(customer)
    assert visitor.post("/auth/switch-organization", {"organization_id": "x" * 50_000}).status_code in (400, 403, 413)
    assert visitor.get("/account").status_code == 200


def test_a_reader_follows_the_guide_for_express_and_then_for_hono(installation, tmp_path):
    """docs/guide/sign-in-express.md to the letter, but for the port and where npm finds the packages."""
    environment = first_environment(installation.server, tmp_path)
    (tmp_path / "npm").write_text('#!/bin/sh\nshift; for name; do test -d "../node_modules/$name" || exit 1; done\n')
    (tmp_path / "npm").chmod(0o755)
    environment["PATH"] = f"{linked_frameworks(tmp_path)}:{environment['PATH']}"
    quickstart = Tutorial((GUIDE / "quickstart.md").read_text(), tmp_path, environment)
    quickstart.run("export POSTERN_TOKEN")
    with reserved_port() as reserved:
        port = str(reserved.getsockname()[1])
    tutorial = Tutorial(
        (GUIDE / "sign-in-express.md").read_text().replace("3000", port), tmp_path, quickstart.environment
    )
    tutorial.run("redirectUrls")
    visitor = Visitor(f"http://localhost:{port}")
    email = "ada@example.com"
    with reader_app(tutorial, "express"):
        page = httpx.get(visitor.begin("/auth/sign-up"))
        page = httpx.post(action_of(page), data={**hidden_of(page), "email": email, "password": PASSWORD})
        code = Person(installation.server, environment).mailed_code()
        signed_up = httpx.post(action_of(page), data={**hidden_of(page), "code": code})
        assert visitor.get(signed_up.headers["location"]).headers["location"] == "/"
        assert visitor.get("/account").json() == {"email": email, "roles": [], "organization": None}
        assert "You are not allowed to do this" in visitor.get("/reports", **PAGE).text
        tutorial.run("ada@example.com")
        sign_out_and_in_again(visitor, email)
    tutorial.folder = tmp_path
    with reader_app(tutorial, "hono"):
        sign_out_and_in_again(visitor, email)
        assert visitor.get("/account").json() == {"email": email, "roles": ["reader"], "organization": None}


@contextmanager
def reader_app(tutorial: Tutorial, framework: str) -> Iterator[None]:
    """Install a framework, and run the program of the guide for it until the end of the block."""
    tutorial.run(f"npm install {framework}")
    (program,) = [text for _, text in BLOCK.findall(tutorial.text) if f"@postern/sdk/{framework}" in text]
    (tutorial.folder / "app.mjs").write_text(program)
    with tutorial.running("node app.mjs", re.findall(r"http://localhost:\d+", tutorial.text)[0]):
        yield


def sign_out_and_in_again(visitor: Visitor, email: str) -> None:
    assert "Sign out" in visitor.get("/").text
    assert visitor.post("/auth/sign-out", **PAGE).headers["location"] == "/"
    assert "Sign in" in visitor.get("/").text
    assert visitor.get("/account").status_code == 401
    signed_in = visitor.sign_in(email, visitor.get("/reports", **PAGE).headers["location"])
    assert signed_in.headers["location"] == "/reports"
    assert visitor.get("/reports").json() == {"reader": email, "reports": []}


def test_the_adapters_fit_the_types_of_their_frameworks(tmp_path):
    folder = linked_frameworks(tmp_path)
    (folder / "package.json").write_text('{"type": "module"}')
    for name in ("sign_in_types.ts", "tsconfig.json"):
        shutil.copy(PROGRAMS / name, folder)
    run(PEER / "node_modules" / ".bin" / "tsc", "-p", ".", folder=folder)
