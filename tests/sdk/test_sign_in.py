"""The sign-in of applications: each adapter as a running application, with the hosted pages of a real server."""

import base64
import itertools
import json
import re
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import timedelta
from html import unescape
from typing import Any
from urllib.parse import parse_qs, parse_qsl, urlencode, urlsplit
from uuid import uuid4

import httpx
import pytest
from postern_sdk._exchange import ApiRequest, ApiResponse, Exchange
from postern_sdk.sessions import PermissionDenied, ServerUnavailable, TokenInvalid
from postern_sdk.sign_in import (
    COOKIE_BYTES,
    Authentication,
    SignIn,
    WebRequest,
    WebResponse,
    _tokens_of,
    local_path,
    run,
)

from postern.kernel.values import FixedClock
from tests.peers.ports import reserved_port
from tests.peers.whole_server import WholeServer, whole_server
from tests.sdk.applications import APPLICATIONS, running
from tests.sdk.token_issuer import token_issuer

PASSWORD = "a long password of a visitor"
PAGE = {"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"}
"""What a browser sends when a person opens a page or sends a form."""
WAIT_SECONDS = 60


@dataclass
class Site:
    """A server with a project, and the applications that sign its customers in."""

    server: WholeServer
    clock: FixedClock
    project: str
    key: str
    email: str
    password: str
    """The developer's."""
    urls: dict[str, str] = field(default_factory=dict[str, str])
    """The applications, by framework."""

    @property
    def base(self) -> str:
        return f"{self.server.url}/projects/{self.project}"

    def call(self, method: str, path: str, body: Any = None, *, token: str | None = None) -> Any:
        """Call an operation of the project with the secret key. Raises AssertionError if it fails."""
        headers = {"Authorization": f"Bearer {token or self.key}"}
        with new_browser() as client:
            response = client.request(method, self.base + path, json=body, headers=headers)
        assert response.is_success, response.text
        return response.json() if response.content else None

    def new_customer(self) -> tuple[str, str]:
        """Create a customer with a password. Returns id and address."""
        email = f"visitor-{uuid4().hex[:10]}@example.com"
        signed_up = self.call("POST", "/auth/sign-up", {"email": email, "password": PASSWORD, "name": "Grace"})
        return signed_up["customer"]["id"], email

    def change_as_developer(self, method: str, path: str, body: Any = None) -> None:
        """Call an operation that only developers may call."""
        login = {"email": self.email, "password": self.password}
        signed_in = httpx.post(f"{self.server.url}/auth/sign-in", json=login, timeout=WAIT_SECONDS)
        assert signed_in.is_success, signed_in.text
        self.call(method, path, body, token=signed_in.json()["accessToken"])

    def move_clock(self, **by: float) -> None:
        self.clock.move(timedelta(**by))


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    import asyncio

    clock = FixedClock()
    with whole_server(tmp_path_factory.mktemp("site"), clock) as server, ExitStack() as stack:
        account = asyncio.run(server.account())
        site = Site(
            server, clock, account.project_id, account.secret_key, account.developer_email, account.developer_password
        )
        settings = {
            "url": server.url,
            "project": site.project,
            "key": site.key,
            "clock": lambda: clock().timestamp(),
            "timeout": WAIT_SECONDS,
        }
        for framework, make in APPLICATIONS.items():
            site.urls[framework] = stack.enter_context(running(framework, lambda url, make=make: make(settings)))
        callbacks = [f"{url}/auth/callback" for url in site.urls.values()]
        sign_in = {"redirectUrls": callbacks, "verifyEmail": "LATER", "methods": ["PASSWORD"]}
        site.change_as_developer("PATCH", "", {"settings": {"signIn": sign_in}})
        for permission in ("invoices:read", "invoices:write"):
            site.call("POST", "/access/permissions", {"key": permission})
        for key, permissions in (("reader", ["invoices:read"]), ("writer", ["invoices:*"])):
            role = {"key": key, "name": key, "scope": "ORGANIZATION", "permissions": permissions}
            site.call("POST", "/access/roles", role)
        yield site


@pytest.fixture(params=list(APPLICATIONS))
def app(request: pytest.FixtureRequest, site: Site) -> str:
    """The URL of the application on one of the frameworks."""
    return site.urls[request.param]


_ADDRESSES = itertools.count(1)


def new_browser() -> httpx.Client:
    """A browser with an address of its own on loopback, because limits on attempts count addresses."""
    number = next(_ADDRESSES)
    transport = httpx.HTTPTransport(local_address=f"127.1.{number // 250}.{number % 250 + 1}")
    return httpx.Client(timeout=WAIT_SECONDS, headers=PAGE, transport=transport)


@pytest.fixture
def browser() -> Iterator[httpx.Client]:
    with new_browser() as browser:
        yield browser


def form_of(page: httpx.Response) -> tuple[str, dict[str, str]]:
    """The URL and the hidden fields of the first form of a page."""
    action = str(page.url.join(unescape(re.findall(r'<form[^>]* action="([^"]+)"', page.text)[0])))
    fields = re.findall(r'<input type="hidden" name="([^"]+)" value="([^"]*)"', page.text)
    return action, {name: unescape(value) for name, value in fields}


def go_to_callback(browser: httpx.Client, url: str, email: str) -> str:
    """Open a page of an application, and sign in on the hosted page. Returns the URL of the callback."""
    page = browser.get(url, follow_redirects=True)
    assert page.status_code == 200, page.text
    action, hidden = form_of(page)
    redirect = browser.post(action, data={**hidden, "email": email, "password": PASSWORD})
    assert redirect.status_code == 303, redirect.text
    return redirect.headers["location"]


def sign_in(browser: httpx.Client, url: str, email: str) -> httpx.Response:
    """Open a page of an application and sign in. Returns the page to which the browser came back."""
    return browser.get(go_to_callback(browser, url, email), follow_redirects=True)


def origin_of(url: str) -> dict[str, str]:
    return {"Origin": f"{urlsplit(url).scheme}://{urlsplit(url).netloc}"}


def cookies_of(browser: httpx.Client) -> dict[str, str]:
    return {cookie.name: cookie.value or "" for cookie in browser.cookies.jar}


def test_a_browser_signs_in_and_comes_back_to_where_it_was(site, app, browser):
    _, email = site.new_customer()
    first = browser.get(f"{app}/search?q=a%26b&page=2")
    assert first.status_code == 303
    assert first.headers["location"] == "/auth/sign-in?return_to=%2Fsearch%3Fq%3Da%2526b%26page%3D2"
    page = sign_in(browser, f"{app}/search?q=a%26b&page=2", email)
    assert str(page.url) == f"{app}/search?q=a%26b&page=2"
    assert page.json()["customer"] == email
    for cookie in browser.cookies.jar:
        assert cookie.has_nonstandard_attr("HttpOnly")
        assert cookie.get_nonstandard_attr("SameSite") == "Lax"
        assert cookie.path == "/"
        assert not cookie.secure  # Only on http:// to this machine.
    assert set(cookies_of(browser)) == {"postern_access", "postern_refresh"}
    assert browser.get(f"{app}/open").json()["customer"] == email


def test_the_sign_up_page_is_offered(site, app, browser):
    page = browser.get(f"{app}/auth/sign-up?return_to=/private", follow_redirects=True)
    assert urlsplit(str(page.url)).path.endswith("/auth/pages/sign-up")
    action, hidden = form_of(page)
    fields = {"email": f"new-{uuid4().hex[:8]}@example.com", "password": PASSWORD, "name": "Ada"}
    back = browser.post(action, data={**hidden, **fields}, follow_redirects=True)
    assert str(back.url) == f"{app}/private"
    assert back.json()["customer"] == fields["email"]


def test_programs_get_problems_and_may_send_bearer_tokens(site, app):
    _, email = site.new_customer()
    tokens = site.call("POST", "/auth/sign-in", {"email": email, "password": PASSWORD})
    bearer = {"Authorization": f"Bearer {tokens['accessToken']}"}
    assert httpx.get(f"{app}/private", headers=bearer).json()["customer"] == email
    assert httpx.get(f"{app}/open").json() == {"customer": None}
    anonymous = httpx.get(f"{app}/private")
    assert anonymous.status_code == 401
    assert anonymous.headers["content-type"] == "application/problem+json"
    assert anonymous.headers["www-authenticate"] == "Bearer"
    assert anonymous.json()["code"] == "sign_in_required"
    refused = httpx.post(f"{app}/invoices", headers=bearer)
    assert (refused.status_code, refused.json()["code"]) == (403, "permission_denied")
    assert refused.headers["www-authenticate"] == 'Bearer error="insufficient_scope", scope="invoices:write"'
    assert "invoices:write" in refused.json()["detail"]
    for path in ("/private", "/open"):
        broken = httpx.get(f"{app}{path}", headers={"Authorization": "Bearer ey.not.one", **PAGE})
        if broken.status_code == 200:  # Django's middleware lets the view decide.
            assert broken.json() == {"customer": None}
            continue
        assert (broken.status_code, broken.json()["code"]) == (401, "token_invalid")
        assert broken.headers["www-authenticate"].startswith('Bearer error="invalid_token", error_description="')
    assert httpx.get(f"{app}/private", headers={"Authorization": "Basic YTpi"}).status_code == 401


def test_an_expired_session_is_refreshed_and_parallel_requests_agree(site, app, browser):
    _, email = site.new_customer()
    session = sign_in(browser, f"{app}/private", email).json()["session"]
    before = cookies_of(browser)
    site.move_clock(minutes=5)
    jar = {"Cookie": "; ".join(f"{name}={value}" for name, value in before.items()), **PAGE}
    with ThreadPoolExecutor(4) as threads:
        responses = list(threads.map(lambda _: httpx.get(f"{app}/cached", headers=jar), range(4)))
    assert [response.json()["session"] for response in responses] == [session] * 4
    refreshed = [
        dict(cookie.split(";")[0].split("=", 1) for cookie in response.headers.get_list("set-cookie"))
        for response in responses
    ]
    assert len({cookies["postern_refresh"] for cookies in refreshed}) == 1
    assert refreshed[0]["postern_refresh"] != before["postern_refresh"]
    assert {response.headers["cache-control"] for response in responses} == {"private, no-store"}
    assert all("cookie" in response.headers["vary"].lower() for response in responses)
    # The cookies of the response continue the session. Without news, a response keeps its own headers.
    jar = {"Cookie": "; ".join(f"{name}={value}" for name, value in refreshed[0].items())}
    again = httpx.get(f"{app}/cached", headers=jar)
    assert again.json()["session"] == session
    assert "set-cookie" not in again.headers
    assert again.headers["cache-control"] == "public, max-age=60"
    varies = {name.strip().lower() for name in again.headers["vary"].split(",")}
    assert {"cookie", "authorization"} <= varies  # A cache gives the page to this session alone.


def test_the_cookies_of_a_refresh_survive_an_error_of_the_application(site, app, browser):
    _, email = site.new_customer()
    sign_in(browser, f"{app}/private", email)
    before = cookies_of(browser)
    site.move_clock(minutes=5)
    # uvicorn closes the connection of an exception after the response; a browser would send the next request again.
    assert browser.get(f"{app}/broken", headers={"Connection": "close"}).status_code == 500
    assert cookies_of(browser)["postern_refresh"] != before["postern_refresh"]
    site.move_clock(minutes=1)
    assert browser.get(f"{app}/private").json()["customer"] == email


def test_a_session_that_the_server_ended_is_over_after_the_access_token(site, app, browser):
    customer_id, email = site.new_customer()
    sign_in(browser, f"{app}/private", email)
    site.call("POST", f"/customers/{customer_id}/ban", {"reason": "Card fraud"})
    site.move_clock(minutes=6)
    response = browser.get(f"{app}/private")
    assert (response.status_code, response.headers["location"]) == (303, "/auth/sign-in?return_to=%2Fprivate")
    assert cookies_of(browser) == {}
    assert browser.get(f"{app}/open").json() == {"customer": None}


def test_signing_out_needs_a_form_of_this_site_and_ends_the_session(site, app, browser):
    _, email = site.new_customer()
    sign_in(browser, f"{app}/private", email)
    access, refresh = (cookies_of(browser)[f"postern_{kind}"] for kind in ("access", "refresh"))
    assert browser.get(f"{app}/auth/sign-out").status_code == 405
    for headers in (
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Sec-Fetch-Site": "cross-site", **origin_of(app)},
        {"Sec-Fetch-Site": "same-site"},
        {},
    ):
        refused = browser.post(f"{app}/auth/sign-out", headers=headers)
        assert refused.status_code == 403
        assert "set-cookie" not in refused.headers
    assert browser.get(f"{app}/private").status_code == 200
    done = browser.post(f"{app}/auth/sign-out", data={"return_to": "/open"}, headers=origin_of(app))
    assert (done.status_code, done.headers["location"]) == (303, "/open")
    assert cookies_of(browser) == {}
    assert browser.get(f"{app}/open").json() == {"customer": None}
    me = httpx.get(f"{site.base}/auth/me", headers={"Authorization": f"Bearer {access}"})
    assert me.status_code == 401
    used = httpx.post(f"{site.base}/auth/token/refresh", json={"refreshToken": refresh})
    assert used.status_code == 401
    # An access token of an ended session is still valid for the application, but not for `session`, which asks.
    for name, token in (("postern_access", access), ("postern_refresh", refresh)):
        browser.cookies.set(name, token, domain="127.0.0.1", path="/")
    assert browser.get(f"{app}/private").status_code == 200
    signed_out = browser.get(f"{app}/auth/session").json()
    assert signed_out == {"customer": None, "organization": None, "organizations": [], "permissions": []}
    assert cookies_of(browser) == {}


def test_signing_out_after_the_access_token_expired_leaves_no_token(site, app, browser):
    _, email = site.new_customer()
    sign_in(browser, f"{app}/private", email)
    site.move_clock(minutes=6)
    browser.cookies.delete("postern_access", domain="127.0.0.1", path="/")  # As browsers do at its Max-Age.
    done = browser.post(f"{app}/auth/sign-out", data={"return_to": "/open"}, headers=origin_of(app))
    assert (done.status_code, done.headers["location"]) == (303, "/open")
    assert set(cookie_values(tuple(done.headers.get_list("set-cookie"))).values()) == {""}
    assert cookies_of(browser) == {}
    assert browser.get(f"{app}/open").json() == {"customer": None}


def test_the_cookies_of_a_view_stay_before_those_of_a_refresh(site):
    """An application that asks for the customer before each request must not bring back what a response ends."""
    from postern_sdk.flask import optional_customer

    from tests.sdk.applications import flask_application

    settings: dict[str, Any] = {"url": site.server.url, "project": site.project, "timeout": WAIT_SECONDS}
    app = flask_application({**settings, "key": site.key, "clock": lambda: site.clock().timestamp()})
    app.before_request(lambda: optional_customer() and None)
    _, email = site.new_customer()
    tokens = site.call("POST", "/auth/sign-in", {"email": email, "password": PASSWORD})
    client = app.test_client()
    client.set_cookie("postern_refresh", tokens["refreshToken"])
    out = client.post("/auth/sign-out", headers={"Origin": "http://localhost"})
    assert out.status_code == 204
    assert out.headers["Cache-Control"] == "private, no-store"
    assert [cookie.split(";")[0].split("=")[1] for cookie in out.headers.getlist("Set-Cookie")].count("") == 7
    assert client.get_cookie("postern_access") is None
    assert client.get_cookie("postern_refresh") is None


def test_another_site_cannot_use_the_cookies_to_change_something(site, app, browser):
    _, email = site.new_customer()
    sign_in(browser, f"{app}/private", email)
    json_client = {"Accept": "application/json"}
    attack = browser.post(f"{app}/invoices", headers={**json_client, "Origin": "https://evil.example"})
    assert (attack.status_code, attack.json()["code"]) == (403, "cross_origin_request")
    attack = browser.post(f"{app}/auth/switch-organization", headers={"Origin": "https://evil.example"})
    assert attack.status_code == 403
    own = browser.post(f"{app}/invoices", headers={**json_client, **origin_of(app)})
    assert (own.status_code, own.json()["code"]) == (403, "permission_denied")
    page = browser.post(f"{app}/invoices", headers=origin_of(app))
    assert page.status_code == 403
    assert "invoices:write" in page.text
    assert "default-src 'none'" in page.headers["content-security-policy"]


def test_a_callback_counts_only_in_the_browser_that_began_and_only_once(site, app, browser):
    _, victim = site.new_customer()
    _, attacker = site.new_customer()
    # Login CSRF: the attacker's callback in the victim's browser, which may have begun a sign-in of its own.
    with new_browser() as attackers_browser:
        foreign = go_to_callback(attackers_browser, f"{app}/private", attacker)
    browser.get(f"{app}/auth/sign-in")
    refused = browser.get(foreign)
    assert refused.status_code == 400
    assert "Sign in again" in refused.text
    assert set(cookies_of(browser)) == {"postern_flow"}
    own = go_to_callback(browser, f"{app}/private", victim)
    mixed = f"{own.split('?')[0]}?{urlencode({'code': 'x', 'state': 'x'})}"
    assert browser.get(mixed).status_code == 400
    foreign_query, own_query = (dict(parse_qsl(urlsplit(url).query)) for url in (foreign, own))
    wrong_code = {"code": foreign_query["code"], "state": own_query["state"]}
    started = cookies_of(browser)
    assert browser.get(f"{own.split('?')[0]}?{urlencode(wrong_code)}").status_code == 400  # Another code verifier.
    assert "postern_access" not in cookies_of(browser)
    browser.cookies.set("postern_flow", started["postern_flow"], domain="127.0.0.1", path="/")
    assert browser.get(own, follow_redirects=True).json()["customer"] == victim
    session = cookies_of(browser)
    replayed = browser.get(own)
    assert (replayed.status_code, replayed.headers["location"]) == (303, "/")
    assert cookies_of(browser) == session
    with new_browser() as thief:
        thief.cookies.set("postern_flow", started["postern_flow"], domain="127.0.0.1", path="/")
        assert thief.get(own).status_code == 400  # The code was used.
        assert "postern_access" not in cookies_of(thief)


def test_a_link_of_support_signs_in_with_the_actor_and_other_codes_do_not(site):
    app = site.urls["fastapi"]
    customer_id, email = site.new_customer()
    body = {"reason": "Ticket 4711", "redirectUrl": f"{app}/auth/callback", "state": "/private"}
    login = {"email": site.email, "password": site.password}
    developer = httpx.post(f"{site.server.url}/auth/sign-in", json=login, timeout=WAIT_SECONDS).json()["accessToken"]
    link = site.call("POST", f"/customers/{customer_id}/impersonation-links", body, token=developer)
    with new_browser() as browser:
        action, hidden = form_of(browser.get(link["url"]))
        callback = browser.post(action, data=hidden).headers["location"]
        arrived = browser.get(callback)
        assert (arrived.status_code, arrived.headers["location"]) == (303, "/private")
        assert browser.get(f"{app}/private").json()["customer"] == email
        shown = browser.get(f"{app}/auth/session").json()["customer"]
        assert (shown["email"], shown["impersonatedBy"]) == (email, site.email)
        session = cookies_of(browser)
        assert browser.get(callback).headers["location"] == "/", "the back button"
        assert cookies_of(browser) == session
        browser.post(f"{app}/auth/sign-out", headers=origin_of(app))
        assert browser.get(f"{app}/auth/session").json()["customer"] is None
    # The code of a sign-in that another browser has begun gets no session by the parameter.
    with new_browser() as attackers_browser:
        foreign = go_to_callback(attackers_browser, f"{app}/private", email)
    code = dict(parse_qsl(urlsplit(foreign).query))["code"]
    with new_browser() as victim:
        query = urlencode({"code": code, "impersonation": "true"})
        assert victim.get(f"{app}/auth/callback?{query}").status_code == 400
        assert "postern_access" not in cookies_of(victim)


def test_the_return_path_is_local(site, app, browser):
    _, email = site.new_customer()
    for evil in ("//evil.example", "/\\evil.example", "/auth/sign-in"):
        browser.cookies.clear()
        callback = go_to_callback(browser, f"{app}/auth/sign-in?{urlencode({'return_to': evil})}", email)
        back = browser.get(callback)
        assert (back.status_code, back.headers["location"]) == (303, "/"), evil
    out = browser.post(f"{app}/auth/sign-out", data={"return_to": "//evil.example"}, headers=origin_of(app))
    assert out.headers["location"] == "/"


def test_a_cookie_of_a_subdomain_cannot_choose_the_return_path_or_the_session(site, app, browser):
    _, email = site.new_customer()
    callback = go_to_callback(browser, f"{app}/private", email)
    (flow,) = json.loads(base64.urlsafe_b64decode(cookies_of(browser)["postern_flow"]))
    for changes in ({"return_to": "https://evil.example/"}, {"return_to": "//evil.example"}, {"started": 10**400}):
        forged = base64.urlsafe_b64encode(json.dumps([{**flow, **changes}]).encode()).decode()
        refused = httpx.get(callback, headers={**PAGE, "Cookie": f"postern_flow={forged}"})
        assert refused.status_code == 400
        assert "evil" not in refused.text
    assert browser.get(callback).headers["location"] == "/private"
    tokens = cookies_of(browser)
    for space in (b"\xa0", b"\x85", b"\xc2\xa0", b"\xe2\x80\x83"):
        # Another cookie is first, because the server of the tests removes spaces at the start of a header.
        pairs = [b"first=1", *(space + f"{name}={value}".encode() for name, value in tokens.items())]
        assert httpx.get(f"{app}/open", headers={b"Cookie": b"; ".join(pairs)}).json() == {"customer": None}


def test_errors_of_the_hosted_pages_are_shown_as_text(site, app, browser):
    browser.get(f"{app}/auth/sign-in?return_to=/private")
    flow = cookies_of(browser)["postern_flow"]
    state = json.loads(base64.urlsafe_b64decode(flow))[0]["state"]
    script = "<script>alert(1)</script>"
    page = browser.get(f"{app}/auth/callback?{urlencode({'error': script, 'state': state})}")
    assert page.status_code == 400
    assert "<script" not in page.text
    assert "/auth/sign-in?return_to=%2Fprivate" in page.text
    assert browser.get(f"{app}/auth/callback").headers["location"] == "/"


def test_two_tabs_sign_in_independently(site, app, browser):
    _, email = site.new_customer()
    first = go_to_callback(browser, f"{app}/private", email)
    second = go_to_callback(browser, f"{app}/search?q=2", email)
    back = browser.get(first)
    assert back.status_code == 303, back.text
    assert back.headers["location"] == "/private"
    assert browser.get(second).headers["location"] == "/search?q=2"
    for number in range(9):
        browser.get(f"{app}/auth/sign-in?return_to=/{'x' * 900}{number}")
    assert len(cookies_of(browser)["postern_flow"]) <= COOKIE_BYTES


def test_switching_the_organization_changes_the_permissions(site, app, browser):
    customer_id, email = site.new_customer()
    other_id, _ = site.new_customer()
    organizations: dict[str, str] = {}
    for name, role in (("Acme", "reader"), ("Globex", "writer"), ("Initech", None)):
        organizations[name] = site.call("POST", "/b2b/organizations", {"name": name})["id"]
        owner = {"customerId": other_id, "roles": ["OWNER"]}
        site.call("POST", f"/b2b/organizations/{organizations[name]}/members", owner)
        if role is not None:
            member = {"customerId": customer_id, "roles": [role]}
            site.call("POST", f"/b2b/organizations/{organizations[name]}/members", member)
    sign_in(browser, f"{app}/private", email)

    def switch(organization: str, **headers: str) -> httpx.Response:
        form = {"organization_id": organization, "return_to": "/private"}
        return browser.post(f"{app}/auth/switch-organization", data=form, headers={**origin_of(app), **headers})

    def write() -> int:
        return browser.post(f"{app}/invoices", headers={"Accept": "*/*", **origin_of(app)}).status_code

    assert switch(organizations["Acme"]).headers["location"] == "/private"
    assert browser.get(f"{app}/private").json()["organization"] == "Acme"
    assert browser.get(f"{app}/invoices").status_code == 200
    assert write() == 403
    assert switch(organizations["Globex"]).status_code == 303
    assert browser.get(f"{app}/private").json()["permissions"] == ["invoices:read", "invoices:write"]
    assert write() == 200
    document = browser.get(f"{app}/auth/session")
    assert document.headers["cache-control"] == "private, no-store"
    assert (document.json()["customer"]["name"], document.json()["organization"]["name"]) == ("Grace", "Globex")
    assert {organization["name"] for organization in document.json()["organizations"]} == {"Acme", "Globex"}
    assert document.json()["permissions"] == ["invoices:read", "invoices:write"]
    before = cookies_of(browser)
    for wrong in (organizations["Initech"], str(uuid4()), "not an id", "../x"):
        refused = switch(wrong, Accept="application/json")
        assert (refused.status_code, refused.json()["code"]) == (403, "organization_refused")
    assert cookies_of(browser) == before
    # A member who was removed keeps the permission until the access token expires.
    site.call("DELETE", f"/b2b/organizations/{organizations['Globex']}/members/{customer_id}")
    assert write() == 200
    site.move_clock(minutes=5)
    assert write() == 403
    assert browser.get(f"{app}/private").json()["organization"] is None
    assert switch(organizations["Acme"], Accept="*/*").status_code == 204
    assert switch("").status_code == 303
    assert browser.get(f"{app}/private").json()["organization"] is None


def test_a_visitor_without_an_address_is_served(site):
    """Test clients of the frameworks, and proxies on a Unix socket, give none."""
    core = SignIn(site.server.url, site.project, key=site.key, clock=lambda: site.clock().timestamp())
    _, email = site.new_customer()
    tokens = site.call("POST", "/auth/sign-in", {"email": email, "password": PASSWORD})
    for address in ("testclient", "", None):
        request = web_request(cookies={"__Host-postern_refresh": tokens["refreshToken"]}, client_address=address)
        session = run(core.authenticate(request)).session
        assert session is not None
        assert session.email == email


def test_keys_are_rotated_without_interruption(site, browser):
    app, (_, email) = site.urls["fastapi"], site.new_customer()
    sign_in(browser, f"{app}/private", email)
    site.change_as_developer("POST", "/auth/signing-keys/rotate")
    used: set[str] = set()
    for _ in range(20):
        site.move_clock(minutes=4)
        assert browser.get(f"{app}/private").json()["customer"] == email
        head = cookies_of(browser)["postern_access"].partition(".")[0]
        used.add(json.loads(base64.urlsafe_b64decode(f"{head}=="))["kid"])
    assert len(used) == 2


# The core without a framework, with tokens and answers that a real server does not give.


def web_request(path: str = "/", **changes: Any) -> WebRequest:
    fields = {"method": "GET", "url": f"https://app.example.com{path}", "headers": PAGE, "cookies": {}, **changes}
    fields["headers"] = {name.lower(): value for name, value in fields["headers"].items()}
    return WebRequest(**fields)


def exchange_with(exchange: Exchange[Any], *responses: ApiResponse | ServerUnavailable) -> Any:
    """Run an exchange with these responses in place of the server's."""
    remaining = list(responses)
    try:
        step = next(exchange)
        while True:
            if isinstance(step, Future):
                wait((step,))
                step = exchange.send(None)
            elif isinstance(response := remaining.pop(0), ServerUnavailable):
                step = exchange.throw(response)
            else:
                step = exchange.send(response)
    except StopIteration as stop:
        assert remaining == []
        return stop.value


def refreshed(access_token: str) -> ApiResponse:
    """The response of the server to a refresh."""
    moment = "2030-01-01T00:00:00Z"
    tokens = {"accessToken": access_token, "refreshToken": "cr_2"}
    return ApiResponse(200, {**tokens, "accessTokenExpiresAt": moment, "refreshTokenExpiresAt": moment})


def test_the_new_refresh_token_is_kept_whatever_fails_after_the_refresh():
    with token_issuer() as issuer:
        core = SignIn(issuer.url, issuer.project, clock=lambda: issuer.now)
        request = web_request("/auth/session", headers={}, cookies={"__Host-postern_refresh": "cr_1"})
        # The new token cannot be verified: its key is not published.
        broken = refreshed(issuer.token(headers={"kid": "another"}))
        authentication = exchange_with(core.authenticate(request), broken)
        assert isinstance(authentication.error, ServerUnavailable)
        assert cookie_values(authentication.cookies)["__Host-postern_refresh"] == "cr_2"
        away = ServerUnavailable("It is away.")
        for responses in ((broken,), (refreshed(issuer.token()), away)):
            response = exchange_with(core.handle("session", request), *responses)
            assert response.status == 503
            assert any(value.startswith("__Host-postern_refresh=cr_2; ") for _, value in response.headers)


def test_only_a_refused_refresh_token_ends_the_session():
    with token_issuer() as issuer:
        core = SignIn(issuer.url, issuer.project, clock=lambda: issuer.now)
        request = web_request(cookies={"__Host-postern_refresh": "cr_1"})
        for status, code in ((400, "invalid"), (401, "credential_invalid"), (403, "forbidden"), (404, "not_found")):
            authentication = exchange_with(core.authenticate(request), ApiResponse(status, {"code": code}))
            assert isinstance(authentication.error, ServerUnavailable)
            assert authentication.cookies == ()
        refused = exchange_with(core.authenticate(request), ApiResponse(401, {"code": "refresh_token_invalid"}))
        assert refused.error is None
        assert cookie_values(refused.cookies)["__Host-postern_refresh"] == ""


@pytest.mark.parametrize(
    ("address", "sent"),
    [
        ("192.0.2.1", "192.0.2.1"),
        ("192.0.2.1:5678", "192.0.2.1"),
        ("[2001:db8::1]:443", "2001:db8::1"),
        ("fe80::1%eth0", "fe80::1"),
        ("192.0.2.1:5678:9", None),
        ("192.0.2.1\r\nCookie: a", None),
        ("testclient", None),
    ],
)
def test_the_address_of_the_visitor_is_sent_without_port_and_zone(address, sent):
    core = SignIn("http://localhost", "project", key="sk_1")
    cookies = {"__Host-postern_refresh": "cr_1"}
    request = next(core.authenticate(web_request(cookies=cookies, client_address=address)))
    assert isinstance(request, ApiRequest)
    assert request.headers.get("Postern-Visitor-Address") == sent


def test_tokens_are_not_in_representations():
    """Error reports have the representations of local variables."""
    secret = "cr_a-token"
    with token_issuer() as issuer:
        core = SignIn(issuer.url, issuer.project, key=secret)
        request = web_request(
            cookies={"__Host-postern_refresh": secret}, headers={"Authorization": secret}, form={"code": secret}
        )
        sent = next(core.authenticate(request))
        answered = ApiResponse(200, {"accessToken": secret, "refreshToken": secret})
        begun = core.begin(request)
        for value in (
            request,
            sent,
            answered,
            _tokens_of(answered),
            WebResponse(status=200, headers=(("Set-Cookie", secret),)),
            Authentication(cookies=(secret,)),
        ):
            assert secret not in repr(value)
        flow_cookie = cookie_values(tuple(value for name, value in begun.headers if name == "Set-Cookie"))
        (flow,) = core._flows(web_request(cookies=flow_cookie))
        assert flow.verifier not in repr(flow)


def cookie_values(cookies: tuple[str, ...]) -> dict[str, str]:
    return dict(cookie.split(";")[0].split("=", 1) for cookie in cookies)


def test_cookies_are_secure_and_bound_to_the_host_except_on_this_machine():
    with token_issuer() as issuer:
        core = SignIn(issuer.url, issuer.project)
        for url in ("https://app.example.com/", "http://app.example.com/", "https://localhost/"):
            (cookie,) = [value for name, value in core.begin(web_request(url=url)).headers if name == "Set-Cookie"]
            assert cookie.startswith("__Host-postern_flow=")
            assert cookie.endswith("; Path=/; Max-Age=1800; HttpOnly; SameSite=Lax; Secure")
        for url in ("http://localhost:8000/", "http://127.0.0.1/", "http://[::1]:1/"):
            (cookie,) = [value for name, value in core.begin(web_request(url=url)).headers if name == "Set-Cookie"]
            assert cookie.startswith("postern_flow=")
            assert "Secure" not in cookie
        behind_proxy = SignIn(issuer.url, issuer.project, app_url="https://app.example.com/")
        response = behind_proxy.begin(web_request(url="http://10.0.0.7:8000/"))
        query = parse_qs(urlsplit(dict(response.headers)["Location"]).query)
        assert query["redirectUrl"] == ["https://app.example.com/auth/callback"]
        assert "__Host-" in dict(response.headers)["Set-Cookie"]


def test_tokens_that_are_too_long_for_one_cookie_get_several():
    with token_issuer() as issuer:
        core = SignIn(issuer.url, issuer.project, clock=lambda: issuer.now)
        organization = {**issuer.claims()["org"], "permissions": [f"invoices:part{n:04}" for n in range(250)]}
        token = issuer.token(org=organization)
        assert len(token) > COOKIE_BYTES
        tokens = {
            "accessToken": token,
            "accessTokenExpiresAt": "2030-01-01T00:00:00Z",
            "refreshToken": "cr_1",
            "refreshTokenExpiresAt": "2030-01-01T00:00:00Z",
        }
        cookies = core._token_cookies(web_request(), _tokens_of(ApiResponse(200, tokens)))
        assert all(len(cookie) < 4_096 for cookie in cookies)
        values = cookie_values(cookies)
        assert len(values) > 2
        session = run(core.authenticate(web_request(cookies=values))).session
        assert session is not None
        assert session.has("invoices:part0249")
        # A shorter token deletes the rest of a longer one.
        short = _tokens_of(ApiResponse(200, {**tokens, "accessToken": issuer.token()}))
        remaining = {**values, **cookie_values(core._token_cookies(web_request(cookies=values), short))}
        assert remaining["__Host-postern_access-1"] == ""
        assert run(core.authenticate(web_request(cookies=remaining))).session is not None


def test_cookies_with_garbage_are_no_session_and_cause_no_request():
    with token_issuer() as issuer:
        core = SignIn(issuer.url, issuer.project, clock=lambda: issuer.now)
        for value in ("x" * 20_000, "ä", '"', "a.b.c", "\x00"):
            cookies = dict.fromkeys(("__Host-postern_access", "__Host-postern_flow"), value)
            authentication = run(core.authenticate(web_request(cookies=cookies)))
            assert authentication.session is None
            assert cookie_values(authentication.cookies)["__Host-postern_access"] == ""
            response = run(core.handle("callback", web_request("/auth/callback?code=a&state=b", cookies=cookies)))
            assert response.status == 400
        assert issuer.requests == []


def test_without_the_server_valid_sessions_go_on_and_others_may_return_later(site):
    with token_issuer() as issuer:
        key, valid = issuer.key, issuer.token()
        expired = issuer.token(iat=int(issuer.now) - 400, exp=int(issuer.now) - 100)
        core = SignIn(issuer.url, issuer.project, timeout=0.5, clock=lambda: issuer.now)
        cookies = {"__Host-postern_access": valid, "__Host-postern_refresh": "cr_1"}
        assert run(core.authenticate(web_request(cookies=cookies))).session is not None
    authentication = run(core.authenticate(web_request(cookies=cookies)))
    assert key
    assert authentication.session is not None
    for token in (expired, ""):
        cookies = {"__Host-postern_access": token, "__Host-postern_refresh": "cr_1"}
        authentication = run(core.authenticate(web_request(cookies=cookies)))
        assert authentication.session is None
        assert authentication.cookies == ()  # The session may go on when the server is back.
        assert authentication.optional() is None
        assert authentication.error is not None
        page = core.refuse(web_request(), authentication.error)
        assert (page.status, dict(page.headers)["Retry-After"]) == (503, "5")
        problem = core.refuse(web_request(headers={}), authentication.error)
        assert json.loads(problem.body)["code"] == "sign_in_unavailable"
        for body in (page.body, problem.body):  # Visitors need not know where the server is.
            assert b"127.0.0.1" not in body
            assert b"Sign-in is not available at the moment." in body
    # Signing out of this browser works all the same.
    out = run(
        core.handle(
            "sign-out", web_request(method="POST", cookies=cookies, headers={**PAGE, "Sec-Fetch-Site": "same-origin"})
        )
    )
    assert out.status == 303
    assert "__Host-postern_refresh=; " in dict(out.headers)["Set-Cookie"] or len(out.headers) > 4


def test_a_sign_in_that_cannot_reach_the_server_can_be_repeated():
    with reserved_port() as port:
        core = SignIn(f"http://127.0.0.1:{port.getsockname()[1]}", "project", timeout=0.5)
        begun = core.begin(web_request("/auth/sign-in?return_to=/private"))
        state = parse_qs(urlsplit(dict(begun.headers)["Location"]).query)["state"][0]
        cookies = cookie_values(tuple(value for name, value in begun.headers if name == "Set-Cookie"))
        response = run(core.handle("callback", web_request(f"/auth/callback?code=1&state={state}", cookies=cookies)))
    assert response.status == 503
    assert "Set-Cookie" not in dict(response.headers)


def test_anonymous_forms_come_back_to_their_page():
    from postern_sdk.sign_in import SignInRequired

    with token_issuer() as issuer:
        core = SignIn(issuer.url, issuer.project)
        for referer, location in (
            ("https://app.example.com/invoices?page=2", "/auth/sign-in?return_to=%2Finvoices%3Fpage%3D2"),
            ("https://evil.example/x", "/auth/sign-in"),
            ("", "/auth/sign-in"),
        ):
            request = web_request("/invoices", method="POST", headers={**PAGE, "Referer": referer})
            assert dict(core.refuse(request, SignInRequired()).headers)["Location"] == location


def test_headers_of_refusals_cannot_be_split():
    with token_issuer() as issuer:
        core = SignIn(issuer.url, issuer.project)
        for error in (PermissionDenied('a"b\r\nSet-Cookie: c'), TokenInvalid('a"\\b\r\nc')):
            header = dict(core.refuse(web_request(headers={}), error).headers)["WWW-Authenticate"]
            assert header.isprintable()
            assert header.count('"') == 4


@pytest.mark.parametrize(
    ("value", "path"),
    [
        ("/", "/"),
        ("/a?b=c&d=%2F#e", "/a?b=c&d=%2F#e"),
        ("/käse ", "/k%C3%A4se%20"),
        ("//evil.example", None),
        ("///evil.example", None),
        ("/\\evil.example", None),
        ("/a\\b", None),
        ("\\/evil.example", None),
        ("https://evil.example", None),
        ("evil", None),
        ("", None),
        (None, None),
        ("/\n/evil.example", None),
        ("\t//evil.example", None),
        ("/" + "a" * 1_000, None),
    ],
)
def test_local_paths(value, path):
    assert local_path(value) == path


def test_prefixes_of_the_paths():
    with token_issuer() as issuer:
        for prefix, path in (("", "/sign-in"), ("/", "/sign-in"), ("/account/", "/account/sign-in")):
            assert SignIn(issuer.url, issuer.project, prefix=prefix).sign_in_url() == path
        assert SignIn(issuer.url, issuer.project, prefix="")._return_path("/private") == "/private"
