"""RP-initiated logout (OpenID Connect RP-Initiated Logout 1.0)."""

import base64
import json
from datetime import timedelta
from urllib.parse import urlencode

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec

from tests.identity.oauth.conftest import FORM, REDIRECT_URI, Provider, parameters_of
from tests.tokens import with_another_end

AFTER = "https://reports.example.com/goodbye"


@pytest.fixture
async def session(auth):
    """A provider, a browser that has signed in, and its tokens."""
    provider = Provider(auth)
    await provider.register(firstParty=True, postLogoutRedirectUris=[AFTER, f"{AFTER}?a=1"])
    browser = provider.browser()
    response = parameters_of(await browser.signed_in())
    return provider, browser, (await provider.exchange(response["code"])).json()


async def log_out(provider, browser, **fields):
    return await browser.open(f"{provider.base}/logout?{urlencode(fields)}")


async def test_a_client_signs_the_customer_out(session, clock):
    provider, browser, tokens = session
    clock.move(timedelta(hours=1))
    response = await log_out(
        provider, browser, id_token_hint=tokens["id_token"], post_logout_redirect_uri=f"{AFTER}?a=1", state="a b"
    )
    assert (response.status_code, response.headers["location"]) == (302, f"{AFTER}?a=1&state=a+b")
    assert parameters_of(await browser.authorize(prompt="none"))["error"] == "login_required"
    assert (await provider.refresh(tokens["refresh_token"])).json()["error"] == "invalid_grant"
    again = await log_out(provider, browser, id_token_hint=tokens["id_token"], post_logout_redirect_uri=AFTER)
    assert again.headers["location"] == AFTER, "without a session, nothing is left to do"


async def test_without_an_id_token_the_customer_is_asked(session):
    provider, browser, tokens = session
    client_id = provider.oauth_client["clientId"]
    page = await log_out(provider, browser, client_id=client_id, post_logout_redirect_uri=AFTER, state="s")
    assert page.status_code == 200
    assert browser.address in page.text
    assert "code" in parameters_of(await browser.authorize(prompt="none")), "a link alone does not sign out"
    for headers in ({"origin": "https://evil.example"}, {"sec-fetch-site": "cross-site"}):
        forged = await browser.client.request(
            "POST", f"{provider.base}/logout/confirm", content="session=x", headers={**FORM, **headers}
        )
        assert forged.status_code == 403
    done = await browser.submit(page)
    assert (done.status_code, done.headers["location"]) == (303, f"{AFTER}?state=s")
    assert (await provider.refresh(tokens["refresh_token"])).json()["error"] == "invalid_grant"


async def test_a_page_of_another_session_signs_nobody_out(session):
    provider, browser, tokens = session
    page = await log_out(provider, browser)
    assert page.status_code == 200
    other = provider.browser()
    await other.signed_in()
    again = await other.submit(page)
    assert again.status_code == 303, "the other browser is asked about its own session"
    assert "set-cookie" not in again.headers
    assert other.address in (await other.open(again.headers["location"])).text
    for opened in (browser, other):
        assert "code" in parameters_of(await opened.authorize(prompt="none"))
    assert (await provider.refresh(tokens["refresh_token"])).status_code == 200


async def test_the_session_of_the_id_token_ends_too(session):
    """Also if the browser has another session or none: it is never told that it is signed out while that lives."""
    provider, _, tokens = session
    other = provider.browser()
    own = (await provider.exchange(parameters_of(await other.signed_in())["code"])).json()
    asked = await log_out(provider, other, id_token_hint=tokens["id_token"], post_logout_redirect_uri=AFTER)
    assert asked.status_code == 200, "an ID token of another session does not sign out at once"
    assert (await provider.refresh(tokens["refresh_token"])).status_code == 200
    assert other.address in asked.text
    assert "Northwind Reports" in asked.text
    done = await other.submit(asked)
    assert (done.status_code, done.headers["location"]) == (303, AFTER)
    for refresh_token in (tokens["refresh_token"], own["refresh_token"]):
        assert (await provider.refresh(refresh_token)).json()["error"] == "invalid_grant"
    stranger = provider.browser()
    third = (await provider.exchange(parameters_of(await other.sign_in(await other.authorize()))["code"])).json()
    asked = await log_out(provider, stranger, id_token_hint=third["id_token"])
    assert "You are signed out" not in asked.text
    assert "You are signed out" in (await stranger.submit(asked)).text
    assert (await provider.refresh(third["refresh_token"])).json()["error"] == "invalid_grant"
    assert "You are signed out" in (await log_out(provider, stranger, id_token_hint=third["id_token"])).text


async def test_a_new_sign_in_ends_the_session_of_the_browser_before_it(session, clock):
    provider, browser, tokens = session
    first = browser.address
    browser.address = f"second-{first}"
    await provider.auth.signed_up(browser.address)
    clock.move(timedelta(seconds=1))
    second = parameters_of(await browser.sign_in(await browser.authorize(prompt="login")))
    assert (await provider.refresh(tokens["refresh_token"])).json()["error"] == "invalid_grant"
    assert (await provider.userinfo(tokens["access_token"])).status_code == 401
    assert (await provider.exchange(second["code"])).status_code == 200
    sub = (await provider.verified(tokens["id_token"], provider.oauth_client["clientId"]))["sub"]
    events = (await provider.project.client.get(f"/events?type=customer.signed_out&subjectId={sub}")).json()
    assert len(events["data"]) == 1, events


async def test_only_registered_uris_are_redirected_to(session):
    provider, browser, tokens = session
    other = await provider.register(firstParty=True)
    for fields in (
        {"id_token_hint": tokens["id_token"], "post_logout_redirect_uri": "https://evil.example/"},
        {"id_token_hint": tokens["id_token"], "post_logout_redirect_uri": f"{AFTER}/"},
        {"id_token_hint": tokens["id_token"], "post_logout_redirect_uri": f"{AFTER}?b=2"},
        {"id_token_hint": tokens["id_token"], "post_logout_redirect_uri": f"{AFTER}?a=1&b=2"},
        {"id_token_hint": tokens["id_token"], "post_logout_redirect_uri": REDIRECT_URI},
        {"post_logout_redirect_uri": AFTER},
        {"client_id": other["clientId"], "post_logout_redirect_uri": AFTER},
        {"client_id": other["clientId"], "id_token_hint": tokens["id_token"]},
        {"client_id": "unknown"},
        {"id_token_hint": "no token"},
        {"id_token_hint": tokens["access_token"]},
        {"id_token_hint": tokens["id_token"], "state": "s" * 3_000},
    ):
        response = await log_out(provider, browser, **fields)
        assert response.status_code == 400, fields
        assert "location" not in response.headers
    body = urlencode({"client_id": other["clientId"], "post_logout_redirect_uri": AFTER})
    refused = await browser.client.request("POST", f"{provider.base}/logout/confirm", content=body, headers=FORM)
    assert refused.status_code == 400
    assert "code" in parameters_of(await browser.authorize(prompt="none")), "nobody was signed out"


async def test_a_changed_id_token_signs_nobody_out(session):
    provider, browser, tokens = session
    header, _, signature = tokens["id_token"].split(".")
    claims = jwt.decode(tokens["id_token"], options={"verify_signature": False})
    kid = {"kid": jwt.get_unverified_header(tokens["id_token"])["kid"]}
    changed = json.dumps({**claims, "email": "eve@example.com"}).encode()
    for token in (
        jwt.encode(claims, None, algorithm="none", headers=kid),
        jwt.encode(claims, ec.generate_private_key(ec.SECP256R1()), algorithm="ES256", headers=kid),
        f"{header}.{base64.urlsafe_b64encode(changed).rstrip(b'=').decode()}.{signature}",
        with_another_end(tokens["id_token"]),
    ):
        refused = await log_out(provider, browser, id_token_hint=token, post_logout_redirect_uri=AFTER, state="s")
        assert (refused.status_code, "location" in refused.headers) == (400, False), token
    assert "code" in parameters_of(await browser.authorize(prompt="none"))
    unchanged = await log_out(provider, browser, id_token_hint=tokens["id_token"], post_logout_redirect_uri=AFTER)
    assert unchanged.headers["location"] == AFTER


async def test_with_a_state_alone_the_customer_is_asked_and_stays_here(session):
    provider, browser, _ = session
    page = await log_out(provider, browser, state="client-state")
    assert (page.status_code, browser.address in page.text) == (200, True)
    assert "code" in parameters_of(await browser.authorize(prompt="none"))
    done = await browser.submit(page)
    assert (done.status_code, "location" in done.headers) == (200, False), "there is no client to which it could go"
    assert "You are signed out" in done.text
    assert parameters_of(await browser.authorize(prompt="none"))["error"] == "login_required"


async def test_the_request_can_be_posted(session):
    provider, browser, tokens = session
    body = urlencode({"id_token_hint": tokens["id_token"], "post_logout_redirect_uri": AFTER})
    headers = {**FORM, "origin": "https://reports.example.com", "sec-fetch-site": "cross-site"}
    posted = await browser.client.request("POST", f"{provider.base}/logout", content=body, headers=headers)
    assert posted.status_code == 303
    assert (await browser.open(posted.headers["location"])).headers["location"] == AFTER
