"""The session of the dashboard: a cookie instead of tokens, only for the dashboard's own pages."""

import asyncio
import json
import re
from datetime import timedelta
from uuid import uuid4

import msgspec
import pytest

from postern.app import OPERATIONS, make_app
from postern.platform.accounts.model import ACCESS_TOKEN_LIFE, REFRESH_TOKEN_LIFE
from postern.platform.dashboard.forwarding import DashboardPaths
from postern.platform.dashboard.session import DashboardSession
from postern.security.sessions import REFRESH_GRACE
from tests.conftest import PASSWORD, Client
from tests.platform.accounts.test_mfa import enrol
from tests.platform.dashboard.conftest import OWN_PAGE, Browser, raw_request
from tests.security.authenticator import Authenticator

TOKEN = re.compile(rb"d[tr]_[\w-]{10,}")
"""What developers' tokens look like."""
OLD = ACCESS_TOKEN_LIFE + timedelta(seconds=1)
"""After this time, the access token of a session has expired."""


def set_cookies(response) -> list[str]:
    return response.headers.get_list("set-cookie")


def is_deleted(response) -> bool:
    """Whether the response deletes the cookie."""
    return [
        header.startswith("postern-dashboard=; ") and "Max-Age=0;" in header for header in set_cookies(response)
    ] == [True]


async def code_of(response) -> tuple[int, str]:
    return response.status_code, response.json()["code"]


async def sessions_of(project) -> int:
    """How many sessions the owner has, besides that of the fixture."""
    return len((await project.developer.get("/auth/sessions")).json()) - 1


async def test_signing_in_sets_a_cookie_instead_of_returning_tokens(browser, project):
    response = await browser.sign_in(project.email)
    assert response.status_code == 200
    body = response.json()
    assert set(body) == {"accessTokenExpiresAt", "refreshTokenExpiresAt", "developer", "projects"}
    assert body["developer"]["email"] == project.email
    assert [listed["id"] for listed in body["projects"]] == [project.id]
    (header,) = set_cookies(response)
    assert not TOKEN.search(header.encode()), "the cookie is encrypted"
    value, *attributes = header.split("; ")
    assert re.fullmatch(r"postern-dashboard=[\w=-]+", value)
    seconds = int(REFRESH_TOKEN_LIFE.total_seconds())
    assert attributes == ["Path=/dashboard", f"Max-Age={seconds}", "HttpOnly", "SameSite=Strict"]
    account = await browser.get("/account")
    assert (account.status_code, account.json()["email"]) == (200, project.email)
    assert set_cookies(account) == []


async def test_with_tls_the_cookie_is_bound_to_the_host(world, app, project):
    world.settings = msgspec.structs.replace(world.settings, base_url="https://postern.example")
    browser = Browser(app, "https://postern.example")
    response = await browser.sign_in(project.email)
    (header,) = set_cookies(response)
    assert header.startswith("__Host-postern-dashboard=")
    assert {"Path=/", "HttpOnly", "SameSite=Strict", "Secure"} < set(header.split("; "))
    assert (await browser.get("/account")).status_code == 200
    unbound = Browser(app, "https://postern.example").with_cookie((browser.cookie or "").removeprefix("__Host-"))
    assert await code_of(await unbound.get("/account")) == (401, "credential_missing")


async def test_no_operation_returns_tokens_of_developers(browser, project, account, clock, run_due_work):
    """Sign-up, sign-in with a second factor or a passkey, and refresh: the body has no token."""
    email = f"new-{uuid4().hex}@example.com"
    signed_up = await browser.post("/auth/sign-up", {"email": email, "password": PASSWORD})
    assert signed_up.status_code == 201
    assert (await browser.get("/account")).json()["email"] == email
    started = (await account.owner.post("/auth/passkeys/register/options", {"password": PASSWORD})).json()
    device = Authenticator()
    passkey = {"challengeId": started["challengeId"], "credential": device.register(started["options"])}
    assert (await account.owner.post("/auth/passkeys/register", {**passkey, "name": "Laptop"})).status_code == 201
    options = (await browser.post("/auth/passkeys/sign-in/options")).json()
    answer = {"challengeId": options["challengeId"], "credential": device.sign_in(options["options"])}
    with_passkey = await browser.post("/auth/passkeys/sign-in", answer)
    assert with_passkey.status_code == 200
    assert (await browser.get("/account")).json()["email"] == project.email
    _, codes = await enrol(account, clock)
    missing = await browser.sign_in(project.email)
    assert await code_of(missing) == (401, "mfa_required")
    credentials = {"email": project.email, "password": PASSWORD, "code": codes[0]}
    with_code = await browser.post("/auth/sign-in", credentials)
    assert with_code.status_code == 200
    outside = await account.stranger.post("/auth/sign-in", {**credentials, "code": codes[1]})
    refreshed = await browser.post("/auth/refresh", {"refreshToken": outside.json()["refreshToken"]})
    assert refreshed.status_code == 200
    for response in (signed_up, with_passkey, with_code, refreshed):
        assert len(set_cookies(response)) == 1
        assert not TOKEN.search(response.content), response.request.url
        assert set(response.json()) == {"accessTokenExpiresAt", "refreshTokenExpiresAt", "developer", "projects"}


def test_all_operations_with_tokens_of_developers_are_known():
    """The middleware recognises them by their type, and no other type of a developer's operation has such fields."""
    of_developers = [
        operation
        for operation in OPERATIONS
        if not operation.path.startswith(("/projects/{", "/apps/{")) and isinstance(operation.returns, type)
    ]
    with_tokens = {
        operation.returns.__name__
        for operation in of_developers
        if {"access_token", "refresh_token", "token"} & set(getattr(operation.returns, "__struct_fields__", ()))
    }
    assert with_tokens == {"DeveloperSignInResult"}


async def test_signing_out_ends_the_session_and_deletes_the_cookie(signed_in):
    before = signed_in.cookie
    response = await signed_in.post("/auth/sign-out")
    assert (response.status_code, is_deleted(response)) == (204, True)
    assert signed_in.cookie is None
    assert await code_of(await signed_in.get("/account")) == (401, "credential_missing")
    again = await signed_in.with_cookie(before).get("/account")
    assert await code_of(again) == (401, "session_ended")


async def test_signing_in_again_ends_the_earlier_session_of_the_browser(signed_in, project, new_project):
    before, other = signed_in.cookie, await new_project()
    assert await sessions_of(project) == 1
    assert (await signed_in.sign_in(other.email)).status_code == 200
    assert await sessions_of(project) == 0
    assert await code_of(await signed_in.with_cookie(before).get("/account")) == (401, "session_ended")
    assert (await signed_in.get("/account")).json()["email"] == other.email


async def test_a_failed_sign_in_keeps_the_session(signed_in, project):
    failed = await signed_in.sign_in(project.email, "wrong password")
    assert await code_of(failed) == (401, "sign_in_failed")
    assert set_cookies(failed) == []
    assert (await signed_in.get("/account")).status_code == 200


async def test_a_session_that_ended_elsewhere_is_reported_and_the_cookie_deleted(signed_in, project):
    (session,) = [candidate for candidate in (await signed_in.get("/auth/sessions")).json() if candidate["current"]]
    assert (await project.developer.delete(f"/auth/sessions/{session['id']}")).status_code == 204
    for method, path, body in (("GET", "/account", None), ("POST", f"/projects/{project.id}/api-keys", {"name": "x"})):
        response = await signed_in.with_cookie(signed_in.cookie).request(method, path, json=body)
        assert await code_of(response) == (401, "session_ended")
        assert response.headers["content-type"] == "application/problem+json"
        assert response.json()["requestId"] == response.headers["x-request-id"]
        assert is_deleted(response)
    signed_in_again = await signed_in.sign_in(project.email)
    assert signed_in_again.status_code == 200, "an ended session does not prevent a sign-in"
    assert (await signed_in.get("/account")).status_code == 200


@pytest.mark.parametrize("cookie", ["", "nonsense", "AAAA", "A" * 5_000, "ä", "dt_x"])
async def test_a_cookie_that_the_server_did_not_set_is_deleted(browser, cookie, project):
    headers = {**OWN_PAGE, "cookie": f"other=1; postern-dashboard={cookie}; more=2"}
    status, response_headers, body = await raw_request(browser.app, "GET", "/dashboard/api/account", headers)
    assert (status, json.loads(body)["code"]) == (401, "session_ended" if cookie else "credential_missing")
    deleted = [value for name, value in response_headers if name == b"set-cookie"]
    assert len(deleted) == bool(cookie)


async def test_an_access_token_is_no_cookie(browser, project):
    browser = browser.with_cookie(f"postern-dashboard={project.developer.token}")
    assert await code_of(await browser.get("/account")) == (401, "session_ended")


# Refreshing the session.


async def test_an_expired_access_token_is_refreshed_without_notice(signed_in, clock):
    before = signed_in.cookie
    clock.move(OLD)
    response = await signed_in.get("/account")
    assert (response.status_code, len(set_cookies(response))) == (200, 1)
    assert signed_in.cookie != before
    later = await signed_in.get("/account")
    assert (later.status_code, set_cookies(later)) == (200, [])


async def test_an_access_token_is_refreshed_shortly_before_it_expires(signed_in, clock):
    clock.move(ACCESS_TOKEN_LIFE - timedelta(seconds=61))
    assert set_cookies(await signed_in.get("/account")) == []
    clock.move(timedelta(seconds=2))
    assert len(set_cookies(await signed_in.get("/account"))) == 1


async def test_parallel_requests_with_an_expired_token_all_succeed(signed_in, clock, project):
    """Neither the limit of refreshes nor the detection of stolen refresh tokens refuses them."""
    old = signed_in.with_cookie(signed_in.cookie)
    clock.move(OLD)
    responses = await asyncio.gather(
        *(old.get("/account") for _ in range(20)),
        *(old.post(f"/projects/{project.id}/api-keys", {"name": f"key {number}"}) for number in range(20)),
    )
    assert [response.status_code for response in responses] == [200] * 20 + [201] * 20
    for response in responses:
        (header,) = set_cookies(response)
        new = old.with_cookie(header.partition(";")[0])
        assert (await new.get("/account")).status_code == 200
    keys = (await new.get(f"/projects/{project.id}/api-keys")).json()
    assert sorted(key["name"] for key in keys if key["name"].startswith("key ")) == sorted(
        f"key {number}" for number in range(20)
    )


async def test_parallel_requests_to_several_processes_all_succeed(signed_in, clock, world):
    """Two applications share nothing but the database."""
    old = signed_in.with_cookie(signed_in.cookie)
    other = Browser(make_app(world)).with_cookie(signed_in.cookie)
    clock.move(OLD)
    responses = await asyncio.gather(*(browser.get("/account") for browser in [old, other] * 10))
    assert [response.status_code for response in responses] == [200] * 20
    assert (await signed_in.get("/account")).status_code == 200


async def test_a_request_whose_access_token_another_request_replaced_is_repeated(signed_in, clock, project):
    """A refresh invalidates the access token before, which a request that was sent earlier may still have."""
    old = signed_in.with_cookie(signed_in.cookie)
    clock.move(ACCESS_TOKEN_LIFE - timedelta(seconds=70))
    early = {"cookie": old.http.headers["cookie"], **OWN_PAGE, "content-type": "application/json"}
    cookie = signed_in.cookie
    clock.move(timedelta(seconds=15))
    assert len(set_cookies(await signed_in.get("/account"))) == 1
    assert signed_in.cookie != cookie
    clock.move(-timedelta(seconds=15))
    path = f"/dashboard/api/projects/{project.id}/api-keys"
    status, _, body = await raw_request(signed_in.app, "POST", path, early, b'{"name": "once"}')
    assert (status, json.loads(body)["name"]) == (201, "once")
    keys = (await project.developer.get("/api-keys")).json()
    assert [key["name"] for key in keys].count("once") == 1


async def test_a_stolen_cookie_ends_the_session_when_it_is_used_later(signed_in, clock):
    stolen = signed_in.with_cookie(signed_in.cookie)
    clock.move(OLD)
    assert (await signed_in.get("/account")).status_code == 200
    clock.move(REFRESH_GRACE - timedelta(seconds=1))
    assert (await stolen.get("/account")).status_code == 200
    clock.move(timedelta(seconds=2))
    assert await code_of(await stolen.get("/account")) == (401, "session_ended")
    assert await code_of(await signed_in.get("/account")) == (401, "session_ended")


async def test_a_session_ends_when_it_is_not_used(signed_in, clock):
    clock.move(REFRESH_TOKEN_LIFE + timedelta(seconds=1))
    response = await signed_in.with_cookie(signed_in.cookie).get("/account")
    assert await code_of(response) == (401, "session_ended")
    assert is_deleted(response)


async def test_a_refresh_that_is_limited_is_reported_and_keeps_the_session(signed_in, clock):
    old = signed_in.with_cookie(signed_in.cookie)
    clock.move(OLD)
    statuses = []
    for _ in range(65):
        response = await old.get("/account")
        statuses.append(response.status_code)
        if response.status_code != 200:
            assert response.json()["code"] == "too_many_requests"
            assert set_cookies(response) == []
            assert int(response.headers["retry-after"]) > 0
    assert set(statuses) == {200, 429}


# Only the dashboard's own pages.


FOREIGN_HEADERS = {
    "cross-site": {"sec-fetch-site": "cross-site", "x-postern-dashboard": "1"},
    "same-site": {"sec-fetch-site": "same-site", "x-postern-dashboard": "1"},
    "typed": {"sec-fetch-site": "none", "x-postern-dashboard": "1"},
    "cross-site with our origin": {"sec-fetch-site": "cross-site", "origin": "http://127.0.0.1:8025"},
    "foreign origin": {"origin": "https://evil.example", "x-postern-dashboard": "1"},
    "null origin": {"origin": "null", "x-postern-dashboard": "1"},
    "another port": {"origin": "http://127.0.0.1:8026", "x-postern-dashboard": "1"},
    "another scheme": {"origin": "https://127.0.0.1:8025", "x-postern-dashboard": "1"},
    "longer origin": {"origin": "http://127.0.0.1:8025.evil.example", "x-postern-dashboard": "1"},
    "nothing": {},
}


@pytest.mark.parametrize("method", ["GET", "HEAD", "POST", "PATCH", "DELETE", "OPTIONS"])
@pytest.mark.parametrize("headers", FOREIGN_HEADERS.values(), ids=FOREIGN_HEADERS)
async def test_requests_of_other_sites_are_refused(signed_in, project, method, headers):
    response = await signed_in.request(method, "/account", headers=headers)
    assert response.status_code == 403
    if method != "HEAD":
        assert response.json()["code"] == "cross_site_request"
    assert "access-control-allow-origin" not in response.headers


@pytest.mark.parametrize(
    "headers",
    [
        {"sec-fetch-site": "same-origin"},
        {"sec-fetch-site": "same-origin", "origin": "null"},
        {"origin": "http://127.0.0.1:8025"},
        {"x-postern-dashboard": "1"},
    ],
)
async def test_reading_needs_only_the_headers_that_browsers_add(signed_in, headers):
    """Without `Sec-Fetch-Site`, which browsers leave out without TLS, the `Origin` or our own header is enough."""
    assert (await signed_in.get("/account", headers=headers)).status_code == 200


async def test_the_origin_may_be_another_name_of_the_server(app, signed_in):
    other = Browser(app, "http://postern.lan:8025").with_cookie(signed_in.cookie)
    response = await other.post("/auth/sign-out", headers={"origin": "http://postern.lan:8025", **OWN_PAGE})
    assert response.status_code == 204


@pytest.mark.parametrize("value", [None, "", "0", "true", "1, 1"])
@pytest.mark.parametrize("fetch", [{"sec-fetch-site": "same-origin"}, {"origin": "http://127.0.0.1:8025"}])
async def test_writing_needs_the_header_of_our_scripts(signed_in, project, value, fetch):
    headers = fetch if value is None else {**fetch, "x-postern-dashboard": value}
    response = await signed_in.post(f"/projects/{project.id}/api-keys", {"name": "x"}, headers=headers)
    assert await code_of(response) == (403, "cross_site_request")


async def test_repeated_headers_are_refused(signed_in):
    for twice in (
        [("sec-fetch-site", "same-origin"), ("sec-fetch-site", "cross-site")],
        [("origin", "http://127.0.0.1:8025"), ("origin", "https://evil.example")],
    ):
        headers = [*twice, ("cookie", signed_in.cookie), ("x-postern-dashboard", "1")]
        status, _, _ = await raw_request(signed_in.app, "GET", "/dashboard/api/account", headers)
        assert status == 403


async def test_signing_in_from_another_site_sets_no_cookie(browser, project):
    """Otherwise, an attacker could sign a person in to the attacker's own account."""
    response = await browser.post(
        "/auth/sign-in",
        {"email": project.email, "password": PASSWORD},
        headers={"sec-fetch-site": "cross-site", "content-type": "text/plain"},
    )
    assert await code_of(response) == (403, "cross_site_request")
    assert set_cookies(response) == []


# Paths.


async def test_public_paths_ignore_the_cookie(signed_in, project):
    for path in ("/account", f"/projects/{project.id}/emails/logs", "/projects"):
        response = await signed_in.http.get(path, headers={**OWN_PAGE, "cookie": signed_in.cookie})
        assert await code_of(response) == (401, "credential_missing")
    posted = await signed_in.http.post(
        f"/projects/{project.id}/api-keys", json={"name": "x"}, headers={**OWN_PAGE, "cookie": signed_in.cookie}
    )
    assert await code_of(posted) == (401, "credential_missing")


async def test_a_bearer_token_is_ignored(browser, signed_in, project, new_project):
    other = await new_project()
    for token in (project.developer.token, project.secret_key, other.developer.token):
        authorization = {"authorization": f"Bearer {token}"}
        anonymous = await Browser(browser.app).get("/account", headers={**OWN_PAGE, **authorization})
        assert await code_of(anonymous) == (401, "credential_missing")
        response = await signed_in.get("/account", headers={**OWN_PAGE, **authorization})
        assert response.json()["email"] == project.email


@pytest.mark.parametrize(
    "path",
    [
        "/dashboard/api/../account",
        "/dashboard/api/./account",
        "/dashboard/api//account",
        "/dashboard/api/account/",
        "/dashboard/api/account/../account",
        "/dashboard/api/",
        "/dashboard/api/account\n",
        "/dashboard/api/account\0",
        "/dashboard/api/Account",
        "/dashboard/api/dashboard/api/account",
        "/dashboard/api/../../metrics",
    ],
)
async def test_only_exact_paths_of_operations_are_forwarded(signed_in, path):
    """The path is the one that the server has decoded: `%2e%2e` and `%2f` are `..` and `/` in it."""
    headers = {**OWN_PAGE, "cookie": signed_in.cookie}
    for method in ("GET", "POST"):
        status, _, body = await raw_request(signed_in.app, method, path, headers)
        assert (status, json.loads(body)["code"]) == (404, "not_found"), path


@pytest.mark.parametrize(
    "path", ["//dashboard/api/account", "/dashboard//api/account", "/dashboard/build/../api/account"]
)
async def test_other_spellings_of_the_path_have_no_session(signed_in, path):
    headers = {**OWN_PAGE, "cookie": signed_in.cookie, "accept": "application/json"}
    status, _, body = await raw_request(signed_in.app, "GET", path, headers)
    # Other paths below /dashboard are the page, which has no data.
    assert status in (401, 404) or b'<div id="root">' in body, path
    assert b"email" not in body


async def test_a_slash_in_an_id_is_not_part_of_another_path(signed_in, project):
    status, _, body = await raw_request(
        signed_in.app,
        "GET",
        f"/dashboard/api/projects/{project.id}/../../account",
        {**OWN_PAGE, "cookie": signed_in.cookie},
    )
    assert (status, json.loads(body)["code"]) == (404, "not_found")


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/"),
        ("GET", "/metrics"),
        ("GET", "/zone"),
        ("GET", "/docs"),
        ("GET", "/inbox"),
        ("GET", "/assets/postern.css"),
        ("GET", "/verify-email"),
        ("POST", "/reset-password"),
        ("POST", "/billing/stripe/events"),
        ("POST", "/compat/resend/emails"),
        ("POST", "/projects/{id}/auth/sign-in"),
        ("POST", "/projects/{id}/auth/sign-up"),
        ("GET", "/projects/{id}/auth/pages/sign-in"),
        ("GET", "/t/o/{id}"),
        ("PUT", "/account"),
    ],
)
async def test_only_operations_for_developers_are_reachable(signed_in, project, method, path):
    path = path.replace("{id}", project.id)
    response = await signed_in.request(method, path)
    assert await code_of(response) == (404, "not_found")


def test_every_operation_for_developers_is_reachable():
    paths = DashboardPaths(OPERATIONS)
    for operation in OPERATIONS:
        if "developer" in operation.accepts and not operation.hidden:
            path = re.sub(r"{\w+}", "0198", operation.path)
            assert paths.target_of(operation.method, f"/dashboard/api{path}") == path


# Requests and responses.


async def test_headers_of_requests_and_responses_are_passed_on(signed_in, project):
    created = await signed_in.post(
        f"/projects/{project.id}/emails",
        {"from": "a@example.org", "to": ["b@example.com"], "subject": "One", "text": "One"},
        headers={**OWN_PAGE, "idempotency-key": "key-1", "x-request-id": "request-0001"},
    )
    assert created.headers["x-request-id"] == "request-0001"
    again = await signed_in.post(
        f"/projects/{project.id}/emails",
        {"from": "a@example.org", "to": ["b@example.com"], "subject": "One", "text": "One"},
        headers={**OWN_PAGE, "idempotency-key": "key-1"},
    )
    assert (created.status_code, again.json()["id"]) == (again.status_code, created.json()["id"])
    account = await signed_in.get("/account")
    etag = account.headers["etag"]
    headers = {**OWN_PAGE, "if-match": etag}
    changed = await signed_in.request("PATCH", "/account", json={"name": "Grace"}, headers=headers)
    assert changed.status_code == 200
    stale = await signed_in.request(
        "PATCH", "/account", json={"name": "Ada"}, headers={**OWN_PAGE, "if-match": '"0-0"'}
    )
    assert stale.status_code == 412
    assert "ratelimit" in account.headers


async def test_links_to_the_next_page_work_in_the_dashboard(signed_in, project):
    for number in range(3):
        await project.developer.post("/api-keys", {"name": f"key {number}"})
    first = await signed_in.get("/account/audit-log?limit=1")
    assert first.status_code == 200, first.text
    link = re.match(r"<([^>]+)>; rel=\"next\"", first.headers["link"])[1]
    assert link.startswith("http://127.0.0.1:8025/dashboard/api/account/audit-log?")
    second = await signed_in.http.get(link, headers=OWN_PAGE)
    assert second.status_code == 200
    assert second.json() != first.json()


async def test_responses_cannot_be_used_as_pages(signed_in, project):
    """An attachment or export that a person opens has the origin of the dashboard, but can do nothing."""
    for path in ("/account", f"/projects/{project.id}/emails/logs/export", "/nowhere"):
        response = await signed_in.get(path)
        assert response.headers["content-security-policy"] == "default-src 'none'; frame-ancestors 'none'; sandbox"
        assert response.headers["x-content-type-options"] == "nosniff"
        assert response.headers["cross-origin-resource-policy"] == "same-origin"
        assert response.headers["cache-control"] == "no-store"


async def test_streams_are_passed_on_part_by_part(world):
    """Each part is sent when the operation sends it (server-sent events), not at the end of the response."""
    received, arrived = [], asyncio.Event()

    async def stream(scope, receive, send):
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"text/event-stream")]})
        await send({"type": "http.response.body", "body": b"data: 1\n\n", "more_body": True})
        await asyncio.wait_for(arrived.wait(), 5)
        await send({"type": "http.response.body", "body": b"data: 2\n\n", "more_body": False})

    async def send(message):
        received.append(message)
        if message.get("body") == b"data: 1\n\n":
            arrived.set()

    headers = [(name.encode(), value.encode()) for name, value in OWN_PAGE.items()]
    scope = {"type": "http", "method": "GET", "path": "/dashboard/api/account", "headers": headers}
    await DashboardSession(stream, world, DashboardPaths(OPERATIONS))(scope, asyncio.Event().wait, send)
    assert [message.get("body") for message in received] == [None, b"data: 1\n\n", b"data: 2\n\n"]


async def test_the_metrics_name_the_operation(signed_in, world):
    await signed_in.get("/account")
    metrics = (await Client(signed_in.app).get("http://postern.test/metrics")).text
    assert re.search(r'postern_http_requests_total{operation="get_account",status="200"} [1-9]', metrics)


async def test_roles_apply_as_everywhere(browser, project, account):
    """The session of a viewer has the rights of a viewer."""
    viewer, _ = await account.member(role="VIEWER")
    members = (await account.owner.get("/account/members")).json()
    assert (await browser.sign_in(next(row["email"] for row in members if row["id"] == viewer))).status_code == 200
    assert (await browser.get(f"/projects/{project.id}/emails/logs")).status_code == 200
    refused = await browser.post(f"/projects/{project.id}/api-keys", {"name": "x"})
    assert await code_of(refused) == (403, "permission_missing")


async def test_another_account_gets_the_response_of_an_unknown_project(signed_in, new_project):
    other = await new_project()
    response = await signed_in.get(f"/projects/{other.id}/emails/logs")
    assert await code_of(response) == (404, "project_missing")
