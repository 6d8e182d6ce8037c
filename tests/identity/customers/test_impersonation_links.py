"""One-time links with which a member of the team opens the app as a customer."""

import asyncio
import html
from datetime import timedelta
from urllib.parse import parse_qsl, urlencode, urlsplit

import jwt
import pytest

from tests.conftest import Client
from tests.identity.customers.conftest import GOOD
from tests.identity.customers.test_providers import CHALLENGE, VERIFIER
from tests.identity.oauth.conftest import Provider
from tests.identity.self_service.conftest import Visitor, asks_to_sign_in, problem_of
from tests.platform.accounts.members import AccountHelper

REASON = "Ticket 4711: <b>the invoice page</b> stays empty"
APP = "https://app.example.com/auth/callback"
EXPIRED = "This link was already used or has expired."


@pytest.fixture
async def ada(auth):
    await auth.settings(redirectUrls=[APP])
    return await auth.signed_up()


async def new_link(client, customer, **fields):
    body = {"reason": REASON, "redirectUrl": APP, **fields}
    return await client.post(f"/customers/{customer['customer']['id']}/impersonation-links", body)


async def press(auth, url, **headers):
    """Press the button on the page of a link."""
    path, token = urlsplit(url).path, urlsplit(url).query.partition("=")[2]
    return await auth.client.request("POST", path, data={"token": token}, headers={"accept": "text/html", **headers})


def target_of(response):
    """The parameters with which the browser arrives at the app."""
    assert response.status_code == 303, response.text
    location = urlsplit(response.headers["location"])
    assert location._replace(query="").geturl() == APP
    return dict(parse_qsl(location.query))


async def exchange(project, code):
    """Exchange a code as the server of the app does."""
    server = Client(project.client.app, project.secret_key, f"/projects/{project.id}/auth", ip="203.0.113.8")
    return await server.post("/token", {"code": code})


async def sessions_of(project, customer):
    shown = (await project.client.get(f"/customers/{customer['customer']['id']}")).json()
    return [session["impersonatedBy"] for session in shown["sessions"]]


async def events(project, type):
    return (await project.client.get(f"/events?type={type}")).json()["data"]


async def test_a_link_opens_the_app_as_the_customer(auth, project, ada, clock):
    address = ada["customer"]["email"]
    mails = len(await auth.mails(address))
    created = await new_link(project.developer, ada, minutes=15, state="/invoices?id=7")
    assert created.status_code == 201, created.text
    url = created.json()["url"]
    for _ in range(2):
        page = await auth.client.get(f"{urlsplit(url).path}?{urlsplit(url).query}", headers={"accept": "text/html"})
    assert (page.status_code, page.headers["referrer-policy"]) == (200, "same-origin")
    assert "form-action 'self' https://app.example.com;" in page.headers["content-security-policy"]
    assert "<b>" not in page.text
    for shown in (address, project.email, "15 minutes", REASON):
        assert shown in html.unescape(page.text), shown
    assert await sessions_of(project, ada) == [None], "opening the link begins nothing"
    assert len(await auth.mails(address)) == mails, "and tells nobody"
    clock.move(timedelta(minutes=4))
    pressed = await press(auth, url)
    parameters = target_of(pressed)
    assert (parameters["state"], parameters["impersonation"]) == ("/invoices?id=7", "true")
    assert "set-cookie" not in pressed.headers, "who is signed in to the pages in this browser stays so"
    assert len(await auth.mails(address)) == mails + 1
    # Without a code challenge, only a secret key of the project can exchange the code.
    assert (await auth.post("/token", {"code": parameters["code"]})).status_code == 401
    tokens = (await exchange(project, parameters["code"])).json()
    claims = jwt.decode(tokens["accessToken"], options={"verify_signature": False})
    assert (claims["sub"], claims["act"]["name"]) == (ada["customer"]["id"], project.email)
    assert (claims["act"]["type"], tokens["customer"]["impersonatedBy"]) == ("DEVELOPER", project.email)
    staff = auth.as_(tokens["accessToken"])
    refused = await staff.post("/password/change", {"currentPassword": GOOD, "newPassword": "an entirely new one"})
    assert refused.json()["code"] == "impersonation_not_allowed"
    (begun,) = await events(project, "customer.impersonated")
    assert (begun["actorType"], begun["data"]["reason"]) == ("DEVELOPER", REASON)
    log = (await project.client.get(f"/customers/{ada['customer']['id']}/audit-log")).json()["data"]
    assert [entry["action"] for entry in log] == ["customer.impersonated", "customer.impersonation_link_created"]
    assert {entry["actorEmail"] for entry in log} == {project.email}
    assert (await exchange(project, parameters["code"])).status_code == 401, "the code works once"
    again = await press(auth, url)
    assert (again.status_code, EXPIRED in again.text) == (401, True), "the link works once"
    # The time counts from the button on.
    clock.move(timedelta(minutes=14))
    assert (await auth.post("/token/refresh", {"refreshToken": tokens["refreshToken"]})).status_code == 200


async def test_an_app_without_a_secret_key_exchanges_the_code_with_its_verifier(auth, project, ada):
    created = await new_link(project.developer, ada, codeChallenge=CHALLENGE)
    code = target_of(await press(auth, created.json()["url"]))["code"]
    assert (await exchange(project, code)).status_code == 401
    tokens = (await auth.post("/token", {"code": code, "codeVerifier": VERIFIER})).json()
    assert tokens["customer"]["impersonatedBy"] == project.email


async def test_of_two_requests_one_uses_the_link(auth, project, ada):
    url = (await new_link(project.developer, ada)).json()["url"]
    responses = await asyncio.gather(press(auth, url), press(auth, url))
    assert sorted(response.status_code for response in responses) == [303, 401]
    assert await sessions_of(project, ada) == [project.email, None]


async def test_a_link_is_for_one_project_and_ends_with_what_permits_it(auth, project, ada, new_project, clock, app):
    url = (await new_link(project.developer, ada)).json()["url"]
    other = await new_project()
    foreign = url.replace(project.id, other.id)
    token = urlsplit(url).query
    for changed in (foreign, url.replace(token, f"{token[:-1]}{'0' if token[-1] != '0' else '1'}"), f"{url}0"):
        assert EXPIRED in (await auth.client.get(f"{urlsplit(changed).path}?{urlsplit(changed).query}")).text
        assert (await press(auth, changed)).status_code == 401
    crossed = await press(auth, url, **{"sec-fetch-site": "cross-site", "origin": "https://evil.example"})
    assert (crossed.status_code, await sessions_of(project, ada)) == (403, [None])
    # The customer ends all sessions, which ends pending sign-ins, too.
    assert (await auth.as_(ada["accessToken"]).post("/sessions/revoke-others")).status_code == 204
    assert (await press(auth, url)).status_code == 401
    late = (await new_link(project.developer, ada)).json()["url"]
    clock.move(timedelta(minutes=5, seconds=1))
    assert (await press(auth, late)).status_code == 401
    assert await sessions_of(project, ada) == [None]
    gone = (await new_link(project.developer, ada)).json()["url"]
    assert (await project.client.delete(f"/customers/{ada['customer']['id']}")).status_code == 200
    assert (await press(auth, gone)).status_code == 401
    assert EXPIRED in (await auth.client.get(f"{urlsplit(gone).path}?{urlsplit(gone).query}")).text
    assert (await new_link(project.developer, ada)).status_code == 404


async def test_the_code_signs_nobody_in_to_the_pages_or_the_openid_provider(auth, project, ada):
    visitor = Visitor(auth)
    asked = await visitor.send("GET", "/account", follow=False)
    flow = dict(parse_qsl(urlsplit(asked.headers["location"]).query))
    created = await new_link(project.developer, ada, codeChallenge=flow["codeChallenge"])
    code = target_of(await press(auth, created.json()["url"]))["code"]
    # Whoever has begun both sign-ins could use the code there, where the pages would act as the customer.
    page = await visitor.open("account/signed-in", code=code, state=flow["state"])
    assert problem_of(page).startswith("This code or link is wrong"), page.text
    assert asks_to_sign_in(await visitor.open("account"))
    provider = Provider(auth)
    await provider.register()
    browser = provider.browser()
    asked = await browser.authorize()
    sign_in = dict(parse_qsl(urlsplit(asked.headers["location"]).query))
    created = await new_link(project.developer, ada, codeChallenge=sign_in["codeChallenge"])
    code = target_of(await press(auth, created.json()["url"]))["code"]
    refused = await browser.open(f"{provider.base}/continue?{urlencode({'state': sign_in['state'], 'code': code})}")
    assert "This code or link is wrong" in refused.text


async def test_the_creator_needs_the_permission_still_and_the_customer_no_ban(
    auth, project, ada, app, world, stranger, run_due_work
):
    account = AccountHelper(project, stranger, run_due_work, world)
    admin_id, member = await account.member("ADMIN")
    admin = Client(app, member.token, f"/projects/{project.id}")
    url = (await new_link(admin, ada)).json()["url"]
    changed = await account.owner.patch(f"/account/members/{admin_id}", {"role": "DEVELOPER"})
    assert changed.status_code == 200, changed.text
    refused = await press(auth, url)
    assert (refused.status_code, "may not act as a customer any more" in refused.text) == (403, True)
    assert (await new_link(admin, ada)).status_code == 403
    await account.owner.patch(f"/account/members/{admin_id}", {"role": "ADMIN"})
    removed = (await new_link(admin, ada)).json()["url"]
    assert (await account.owner.delete(f"/account/members/{admin_id}")).status_code in (200, 204)
    assert (await press(auth, removed)).status_code == 403
    made = (
        await project.developer.post("/api-keys", {"name": "Helpdesk", "permissions": ["customers:impersonate"]})
    ).json()
    key = Client(app, made["key"], f"/projects/{project.id}", ip="203.0.113.9")
    named = (await new_link(key, ada, actor="grace@example.com")).json()["url"]
    page = await auth.client.get(f"{urlsplit(named).path}?{urlsplit(named).query}")
    assert "grace@example.com" in page.text
    tokens = (await exchange(project, target_of(await press(auth, named))["code"])).json()
    actor = jwt.decode(tokens["accessToken"], options={"verify_signature": False})["act"]
    assert (actor["type"], actor["name"], actor["sub"]) == ("API_KEY", "grace@example.com", made["id"])
    orphaned = (await new_link(key, ada)).json()["url"]
    assert (await project.developer.delete(f"/api-keys/{made['id']}")).status_code in (200, 204)
    assert (await press(auth, orphaned)).status_code == 403
    banned = (await new_link(project.developer, ada)).json()["url"]
    pending = target_of(await press(auth, (await new_link(project.developer, ada)).json()["url"]))["code"]
    await project.client.post(f"/customers/{ada['customer']['id']}/ban", {})
    assert (await press(auth, banned)).status_code == 401
    assert (await exchange(project, pending)).status_code == 401
    late = await new_link(project.developer, ada)
    assert (late.status_code, late.json()["code"]) == (409, "customer_banned")


async def test_the_session_that_created_a_link_must_be_live(auth, project, ada, app, world, stranger, run_due_work):
    account = AccountHelper(project, stranger, run_due_work, world)
    _, member = await account.member("ADMIN")
    url = (await new_link(Client(app, member.token, f"/projects/{project.id}"), ada)).json()["url"]
    assert (await member.post("/auth/sign-out")).status_code == 204
    shown = await auth.client.get(f"{urlsplit(url).path}?{urlsplit(url).query}")
    assert (shown.status_code, REASON in shown.text) == (403, False)
    refused = await press(auth, url)
    assert (refused.status_code, "may not act as a customer any more" in refused.text) == (403, True)
    assert await sessions_of(project, ada) == [None]


async def test_a_customer_has_at_most_ten_open_links(auth, project, ada, clock):
    urls = [(await new_link(project.developer, ada)).json()["url"] for _ in range(10)]
    refused = await new_link(project.developer, ada)
    assert (refused.status_code, refused.json()["code"]) == (422, "too_many_impersonation_links")
    assert (await press(auth, urls[0])).status_code == 303
    assert (await new_link(project.developer, ada)).status_code == 201, "a used link is not open"
    clock.move(timedelta(minutes=5, seconds=1))
    assert (await new_link(project.developer, ada)).status_code == 201


async def test_links_are_checked_like_impersonations(project, ada, new_project):
    assert (await new_link(project.client, ada)).status_code == 403, "a key has the permission only by its name"
    test = await project.key("customers:impersonate", environment="TEST")
    assert (await new_link(test, ada)).json()["code"] == "live_key_required"
    for fields, where in (
        ({"redirectUrl": "https://app.example.com/other"}, "/redirectUrl"),
        ({"redirectUrl": "https://evil.example/"}, "/redirectUrl"),
        ({"codeChallenge": "short"}, "/codeChallenge"),
        ({"state": "x" * 1_001}, "/state"),
        ({"minutes": 61}, "/minutes"),
        ({"reason": " "}, "/reason"),
        ({"actor": "somebody else"}, "/actor"),
    ):
        refused = await new_link(project.developer, ada, **fields)
        assert (refused.status_code, refused.json()["errors"][0]["path"]) == (400, where), fields
    other = await new_project()
    await other.developer.patch("", {"settings": {"signIn": {"redirectUrls": [APP]}}})
    assert (await new_link(other.developer, ada)).status_code == 404


async def test_the_end_is_an_event_whoever_causes_it(auth, project, ada, clock, run_due_work):
    own = auth.as_(ada["accessToken"])
    path = f"/customers/{ada['customer']['id']}"

    async def begin():
        return (await project.developer.post(f"{path}/impersonate", {"reason": REASON, "minutes": 5})).json()

    signed_out = await begin()
    assert (await auth.as_(signed_out["accessToken"]).post("/sign-out")).status_code == 204
    by_customer = await begin()
    assert (await own.client.delete(f"/sessions/{by_customer['sessionId']}")).status_code == 204
    by_team = await begin()
    assert (await project.client.post(f"{path}/sessions/{by_team['sessionId']}/revoke")).status_code == 204
    with_all = await begin()
    assert (await own.post("/sessions/revoke-others")).status_code == 204
    expired = await begin()
    assert (await own.post("/sign-out")).status_code == 204, "the customer's own session has no such event"
    clock.move(timedelta(minutes=5, seconds=1))
    await run_due_work()
    ended = await events(project, "customer.impersonation_ended")
    assert [(event["data"]["sessionId"], event["data"]["cause"], event["actorType"]) for event in reversed(ended)] == [
        (signed_out["sessionId"], "SIGNED_OUT", "CUSTOMER"),
        (by_customer["sessionId"], "REVOKED", "CUSTOMER"),
        (by_team["sessionId"], "REVOKED", "API_KEY"),
        (with_all["sessionId"], "REVOKED", "CUSTOMER"),
        (expired["sessionId"], "EXPIRED", "SYSTEM"),
    ]
    assert {(event["data"]["actor"], event["data"]["reason"]) for event in ended} == {(project.email, REASON)}
