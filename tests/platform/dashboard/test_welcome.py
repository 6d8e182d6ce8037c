"""One-time links of the operator that sign in to the dashboard."""

import asyncio
import re
from datetime import timedelta
from random import randrange

import pytest

from postern.platform.accounts import operations as accounts
from postern.platform.accounts import store
from postern.platform.accounts.operations import make_inbox_link, make_sign_in_link
from tests.conftest import PASSWORD, Client
from tests.platform.accounts.test_mfa import enrol
from tests.platform.dashboard.conftest import OWN_PAGE, Browser, raw_request


@pytest.fixture
async def developer(project, world):
    """The owner of `project`."""
    return await store.developer_by_email(world.db, email=project.email)


@pytest.fixture
def new_link(world, developer):
    """A function that creates a link, and returns its token."""

    async def make() -> str:
        url = await make_sign_in_link(world, developer.id)
        match = re.fullmatch(r"http://127\.0\.0\.1:8025/dashboard/welcome#(\w{64})", url)
        assert match, url
        return match[1]

    return make


@pytest.fixture
def new_browser(app):
    """A function that opens a browser. Its address is that of no other test, because invalid links are counted."""
    ip = f"10.{randrange(256)}.{randrange(256)}.{randrange(256)}"
    return lambda: Browser(app, ip=ip)


@pytest.fixture
def browser(new_browser) -> Browser:
    return new_browser()


def welcome(browser: Browser, token: str):
    return browser.post("/welcome", {"token": token})


async def test_a_link_signs_in_once(browser, new_browser, project, new_link):
    token = await new_link()
    response = await welcome(browser, token)
    assert response.status_code == 200
    assert set(response.json()) == {"accessTokenExpiresAt", "refreshTokenExpiresAt", "developer", "projects"}
    assert response.json()["developer"]["email"] == project.email
    assert (await browser.get("/account")).json()["email"] == project.email
    (session,) = [candidate for candidate in (await browser.get("/auth/sessions")).json() if candidate["current"]]
    assert session["methods"] == ["link"]
    again = await welcome(new_browser(), token)
    assert (again.status_code, again.json()["code"]) == (400, "link_invalid")
    assert "set-cookie" not in again.headers


async def test_only_one_of_many_parallel_requests_signs_in(new_browser, new_link, project):
    token = await new_link()
    responses = await asyncio.gather(*(welcome(new_browser(), token) for _ in range(50)))
    assert sorted(response.status_code for response in responses) == [200] + [400] * 49
    assert sum("set-cookie" in response.headers for response in responses) == 1
    assert len((await project.developer.get("/auth/sessions")).json()) == 2


async def test_a_link_expires(browser, new_link, clock):
    token = await new_link()
    clock.move(timedelta(hours=24))
    assert (await welcome(browser, token)).json()["code"] == "link_invalid"
    token = await new_link()
    clock.move(timedelta(hours=24) - timedelta(seconds=1))
    assert (await welcome(browser, token)).status_code == 200


async def test_a_new_link_makes_the_earlier_one_invalid(browser, new_link):
    earlier, later = await new_link(), await new_link()
    assert (await welcome(browser, earlier)).status_code == 400
    assert (await welcome(browser, later)).status_code == 200


async def test_a_link_replaces_the_second_factor(browser, new_link, account, clock, project):
    await enrol(account, clock)
    assert (await welcome(browser, await new_link())).status_code == 200
    assert (await browser.sign_in(project.email)).json()["code"] == "mfa_required"


async def test_links_to_the_inbox_and_mailed_tokens_are_no_links_to_the_dashboard(
    browser, world, developer, new_link, account
):
    inbox = (await make_inbox_link(world, developer.id)).partition("token=")[2]
    assert (await welcome(browser, inbox)).status_code == 400
    await account.stranger.post("/auth/password/forgot", {"email": developer.email})
    mail = (await account.mail(developer.email)).get_body(("plain",)).get_content()
    assert (await welcome(browser, re.search(r"token=(\w+)", mail)[1])).status_code == 400
    token = await new_link()
    entered = await browser.http.post("/inbox/enter", data={"token": token})
    assert entered.status_code == 400
    reset = await account.stranger.post("/auth/password/reset", {"token": token, "newPassword": PASSWORD + "!"})
    assert reset.json()["code"] == "link_invalid"
    assert (await welcome(browser, token)).status_code == 200


async def test_the_database_has_no_token(world, new_link, developer):
    token = await new_link()
    async with world.db.connection() as connection:
        rows = await connection.execute(
            "select challenges::text as text from challenges where developer_id = %s", (developer.id,)
        )
        (row,) = await rows.fetchall()
    secret = token[32:]  # The token begins with the challenge's id.
    assert secret not in str(row)
    assert secret.encode().hex() not in str(row)


@pytest.mark.parametrize(
    ("body", "path"),
    [
        ({}, "/token"),
        ({"token": ""}, "/token"),
        ({"token": "x" * 201}, "/token"),
        ({"token": 1}, "/token"),
        ({"token": "x", "email": "a@example.com"}, "/email"),
    ],
)
async def test_malformed_bodies_are_400_with_the_path(browser, body, path):
    response = await browser.post("/welcome", body)
    assert (response.status_code, response.json()["errors"][0]["path"]) == (400, path)


async def test_too_many_invalid_links_are_refused(new_browser, new_link, monkeypatch):
    """The attempts of a network are counted; a valid link still works."""
    monkeypatch.setattr(accounts, "LINK_ATTEMPTS", accounts.replace_struct(accounts.LINK_ATTEMPTS, max_failures=3))
    codes = [(await welcome(new_browser(), f"guess{number}")).json()["code"] for number in range(5)]
    assert codes[0] == "link_invalid"
    assert codes[-1] == "locked_out"
    assert (await welcome(new_browser(), await new_link())).status_code == 200


async def test_the_operation_is_only_for_the_page(app, browser, new_link):
    """Elsewhere, its response would contain tokens."""
    token = await new_link()
    body = f'{{"token": "{token}"}}'.encode()
    headers = {"content-type": "application/json", "content-length": str(len(body))}
    for path in ("//dashboard/api/welcome", "/dashboard//api/welcome", "/dashboard/api//welcome", "/welcome"):
        status, _, content = await raw_request(app, "POST", path, {**OWN_PAGE, **headers}, body)
        assert status in (403, 404), path
        assert b"accessToken" not in content
    status, _, _ = await raw_request(app, "POST", "/dashboard/api/welcome", headers, body)
    assert status == 403
    assert (await Client(app).post("http://postern.test/dashboard/api/welcome", {"token": token})).status_code == 403
    assert (await welcome(browser, token)).status_code == 200, "none of these has used it up"
