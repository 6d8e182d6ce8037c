"""The device grant (RFC 8628)."""

import re
from datetime import timedelta
from urllib.parse import urlencode

import pytest

from postern.identity.oauth import devices
from postern.identity.oauth.model import DEVICE_GRANT
from postern.kernel.limits import RateLimit
from tests.identity.customers.conftest import GOOD
from tests.identity.oauth.conftest import FORM, REDIRECT_URI, VERIFIER, Provider, parameters_of

SCOPE = "openid email offline_access"


@pytest.fixture
async def television(auth):
    """A provider whose client is a device without a browser."""
    provider = Provider(auth)
    await provider.register(
        type="PUBLIC", name="Television", redirectUris=[], grantTypes=[DEVICE_GRANT, "refresh_token"]
    )
    return provider


async def begin(provider):
    response = await provider.send("device_authorization", scope=SCOPE)
    assert response.status_code == 200, response.text
    return response.json()


async def poll(provider, device, client=None):
    return await provider.send("token", client, grant_type=DEVICE_GRANT, device_code=device["device_code"])


async def entered(browser, code):
    """Enter a code on the page. Returns the response."""
    page = await browser.open(f"{browser.provider.base}/device?{urlencode({'user_code': code})}")
    assert page.status_code == 200
    return await browser.submit(page, user_code=code)


async def consent_page(browser, device):
    """The consent page for a device, after the sign-in."""
    await browser.provider.auth.signed_up(browser.address)
    resumed = await browser.open((await entered(browser, device["user_code"])).headers["location"])
    page = await browser.open(resumed.headers["location"])
    return await browser.finish(await browser.submit(page, email=browser.address, password=GOOD))


async def test_a_device_is_signed_in(television, clock):
    device = await begin(television)
    assert re.fullmatch(r"[BCDFGHJKLMNPQRSTVWXZ]{4}-[BCDFGHJKLMNPQRSTVWXZ]{4}", device["user_code"])
    assert device["verification_uri_complete"] == f"{device['verification_uri']}?user_code={device['user_code']}"
    assert (device["expires_in"], device["interval"]) == (600, 5)
    pending = await poll(television, device)
    assert (pending.status_code, pending.json()["error"]) == (400, "authorization_pending")
    browser = television.browser()
    consent = await consent_page(browser, device)
    assert "Television" in consent.text
    assert device["user_code"] in consent.text
    done = await browser.submit(consent, decision="allow")
    assert "The device is signed in" in done.text
    clock.move(timedelta(seconds=6))
    response = await poll(television, device)
    assert response.status_code == 200, response.text
    tokens = response.json()
    claims = await television.verified(tokens["id_token"], television.oauth_client["clientId"])
    assert claims["email"] == browser.address
    assert (await television.userinfo(tokens["access_token"])).json()["sub"] == claims["sub"]
    renewed = (await television.refresh(tokens["refresh_token"])).json()
    clock.move(timedelta(seconds=6))
    assert (await poll(television, device)).json()["error"] == "invalid_grant", "the code works once"
    assert (await television.refresh(renewed["refresh_token"])).json()["error"] == "invalid_grant"


async def test_a_browser_that_is_signed_in_is_asked_every_time(television, clock):
    browser = television.browser()
    await browser.submit(await consent_page(browser, await begin(television)), decision="allow")
    second = await begin(television)
    code = second["user_code"].lower().replace("-", " ")
    consent = await browser.open((await entered(browser, code)).headers["location"])
    assert "Allow Television?" in consent.text
    assert "was not signed in" in (await browser.submit(consent, decision="deny")).text
    clock.move(timedelta(seconds=6))
    assert (await poll(television, second)).json()["error"] == "access_denied"
    assert (await entered(browser, second["user_code"])).status_code == 400


async def test_a_device_is_allowed_or_denied_once(television, clock):
    device = await begin(television)
    first = television.browser()
    consent = await consent_page(first, device)
    second = television.browser()
    other_consent = await consent_page(second, device)
    third_consent = await second.open((await entered(second, device["user_code"])).headers["location"])
    assert "The device is signed in" in (await first.submit(consent, decision="allow")).text
    for page, decision in ((other_consent, "allow"), (third_consent, "deny")):
        refused = await second.submit(page, decision=decision)
        assert refused.status_code == 400, refused.text
        assert "expired or was used already" in refused.text
    assert (await entered(second, device["user_code"])).status_code == 400, "the code was used"
    clock.move(timedelta(seconds=6))
    tokens = (await poll(television, device)).json()
    claims = await television.verified(tokens["id_token"], television.oauth_client["clientId"])
    assert claims["email"] == first.address


async def test_a_device_that_asks_too_often_is_slowed_down(television, clock):
    device = await begin(television)
    errors = [(await poll(television, device)).json()["error"] for _ in range(2)]
    assert errors == ["authorization_pending", "slow_down"]
    clock.move(timedelta(seconds=6))
    assert (await poll(television, device)).json()["error"] == "slow_down"
    clock.move(timedelta(seconds=16))
    assert (await poll(television, device)).json()["error"] == "authorization_pending"


async def test_codes_of_devices_expire_and_belong_to_their_client(television, clock, run_due_work):
    device = await begin(television)
    browser = television.browser()
    consent = await consent_page(browser, device)
    client = television.oauth_client
    other = await television.register(type="PUBLIC", redirectUris=[], grantTypes=[DEVICE_GRANT])
    assert (await poll(television, device, other)).json()["error"] == "invalid_grant"
    for code in ("", "x", "0" * 64, device["device_code"][:-1] + "x"):
        refused = await television.send("token", other, grant_type=DEVICE_GRANT, device_code=code)
        assert refused.status_code == 400
    web = await television.register(firstParty=True)
    assert (await television.send("device_authorization", web, scope=SCOPE)).json()["error"] == "unauthorized_client"
    assert (await poll(television, device, web)).json()["error"] == "unauthorized_client"
    assert (await television.send("device_authorization", other, scope="unknown")).json()["error"] == "invalid_scope"
    clock.move(timedelta(minutes=10))
    late = await browser.submit(consent, decision="allow")
    assert late.status_code == 400
    assert "code of the device has expired" in late.text
    assert (await entered(browser, device["user_code"])).status_code == 400
    assert (await poll(television, device, client)).json()["error"] == "expired_token"
    clock.move(timedelta(minutes=1))
    await run_due_work()
    assert (await poll(television, device, client)).json()["error"] == "invalid_grant", "it is deleted"


async def test_a_device_code_is_not_an_authorization_code(television, clock):
    grants = [DEVICE_GRANT, "authorization_code", "refresh_token"]
    await television.register(type="PUBLIC", redirectUris=[REDIRECT_URI], grantTypes=grants, firstParty=True)
    device = await begin(television)
    browser = television.browser()
    await browser.submit(await consent_page(browser, device), decision="allow")
    assert (await television.exchange(device["device_code"])).json()["error"] == "invalid_grant"
    code = parameters_of(await browser.authorize())["code"]
    refused = await television.send("token", grant_type=DEVICE_GRANT, device_code=code, code_verifier=VERIFIER)
    assert refused.json()["error"] == "invalid_grant"
    assert (await television.exchange(code)).status_code == 200


async def test_guesses_of_codes_are_limited_and_forms_of_other_sites_refused(television, monkeypatch):
    monkeypatch.setattr(devices, "USER_CODE_RATE", RateLimit("oauth-user-code", 2, timedelta(minutes=1)))
    browser = television.browser()
    statuses = [(await entered(browser, "BBBB-BBBB")).status_code for _ in range(3)]
    assert statuses == [400, 400, 429]
    forged = await browser.client.request(
        "POST", f"{television.base}/device", content="user_code=x", headers={**FORM, "sec-fetch-site": "cross-site"}
    )
    assert forged.status_code == 403
