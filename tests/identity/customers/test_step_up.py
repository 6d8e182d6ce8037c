"""A signed-in customer authenticates again in the same session: `auth/step-up`."""

import asyncio
from datetime import timedelta
from urllib.parse import parse_qs, urlencode, urlsplit

import jwt

from postern.identity.customers import remembered_devices
from tests.identity.customers.conftest import GOOD, new_address
from tests.identity.customers.test_impersonation import impersonate
from tests.identity.customers.test_pages import Page
from tests.identity.customers.test_providers import VERIFIER, provider, provider_browser, settings
from tests.identity.customers.test_second_factor import ORIGIN, App, answer_of, decoded, with_passkey, with_totp
from tests.identity.oauth.test_step_up import MULTI, PHR, SINGLE, Verifying, wrong
from tests.identity.organizations.conftest import directory
from tests.identity.self_service.conftest import Visitor, heading
from tests.identity.sso.conftest import acme, connected, idp

__all__ = ["acme", "connected", "directory", "idp", "provider", "provider_browser", "settings"]


def claims_of(token):
    return jwt.decode(token, options={"verify_signature": False})


async def refreshed(auth, signed_in):
    """A client with a new access token of a session, and the tokens."""
    tokens = (await auth.post("/token/refresh", {"refreshToken": signed_in["refreshToken"]})).json()
    return auth.as_(tokens["accessToken"]), tokens


async def test_a_password_makes_the_sign_in_recent_again(auth, project, clock):
    signed_in = await auth.signed_up()
    assert claims_of(signed_in["accessToken"])["acr"] == SINGLE
    clock.move(timedelta(minutes=61))
    ada, tokens = await refreshed(auth, signed_in)
    late = await ada.post("/mfa/totp/enroll")
    assert (late.status_code, late.json()["code"]) == (401, "not_fresh")
    challenge = late.headers["www-authenticate"]
    assert challenge.startswith('Bearer realm="postern", error="insufficient_user_authentication", error_description="')
    assert challenge.endswith('max_age="3600"')
    options = (await ada.get("/step-up")).json()
    assert (options["methods"], options["acrValues"]) == (["PASSWORD", "EMAIL_CODE"], [SINGLE])
    for body in ({}, {"password": GOOD, "code": "123456"}, {"password": None}, {"code": "12345"}):
        assert (await ada.post("/step-up", body)).status_code == 400, body
    assert (await ada.post("/step-up", {"code": "123456"})).json()["code"] == "step_up_method_not_allowed"
    assert (await ada.post("/step-up", {"password": "another password"})).status_code == 401
    response = await ada.post("/step-up", {"password": GOOD})
    assert response.status_code == 200, response.text
    stepped_up = response.json()
    assert "refreshToken" not in stepped_up
    claims = claims_of(stepped_up["accessToken"])
    assert (claims["auth_time"], claims["amr"]) == (int(clock().timestamp()), ["pwd", "otp"])
    assert (claims["sid"], claims["acr"], stepped_up["acr"]) == (signed_in["sessionId"], SINGLE, SINGLE)
    assert (await auth.as_(stepped_up["accessToken"]).post("/mfa/totp/enroll")).status_code == 200
    again, _ = await refreshed(auth, tokens)
    assert claims_of(again.token)["auth_time"] == claims["auth_time"], "the refresh token was kept"
    (event,) = (await project.client.get("/events?type=customer.stepped_up")).json()["data"]
    assert event["data"] | {"sessionId": claims["sid"], "methods": ["pwd"], "acr": SINGLE} == event["data"]


async def test_failures_lock_like_those_of_a_sign_in(auth):
    address = new_address()
    ada = auth.as_((await auth.signed_up(address))["accessToken"])
    for _ in range(10):
        assert (await ada.post("/step-up", {"password": "wrong"})).status_code in (401, 429)
    assert (await ada.post("/step-up", {"password": GOOD})).json()["code"] == "sign_in_locked"
    assert (await auth.sign_in(address)).json()["code"] == "sign_in_locked"


async def test_a_code_by_mail_is_for_one_session(auth):
    address = new_address()
    signed_in = await auth.signed_up(address, password=None)
    ada = auth.as_(signed_in["accessToken"])
    challenge = (await ada.post("/step-up/email-code")).json()
    body = {"challengeId": challenge["challengeId"], "code": await auth.code(address)}
    assert (await auth.post("/sign-in/code/verify", body)).status_code == 401, "it does not sign in"
    asked = (await auth.post("/sign-in/code", {"email": address})).json()["challengeId"]
    other = await auth.post("/sign-in/code/verify", {"challengeId": asked, "code": await auth.code(address)})
    stolen = await auth.as_(other.json()["accessToken"]).post("/step-up", {"emailCode": body})
    assert (stolen.status_code, stolen.json()["code"]) == (401, "code_invalid")
    stranger = auth.as_((await auth.signed_up())["accessToken"])
    assert (await stranger.post("/step-up", {"emailCode": body})).status_code == 401
    responses = await asyncio.gather(*(ada.post("/step-up", {"emailCode": body}) for _ in range(2)))
    assert sorted(response.status_code for response in responses) == [200, 401], "it works once"


async def test_a_second_factor_is_needed_by_who_has_one(auth, clock):
    address = new_address()
    _, ada, app, codes = await with_totp(auth, clock, address)
    options = (await ada.get("/step-up")).json()
    assert (options["acr"], options["methods"]) == (MULTI, ["TOTP", "RECOVERY_CODE"])
    assert options["acrValues"] == [SINGLE, MULTI]
    weaker = await ada.post("/step-up", {"password": GOOD})
    assert (weaker.status_code, weaker.json()["next"]) == (403, "Use one of: TOTP, RECOVERY_CODE.")
    assert (await ada.post("/step-up/email-code")).status_code == 403
    assert (await ada.post("/step-up/passkey-options")).status_code == 403
    code = app.code()
    assert (await ada.post("/step-up", {"code": wrong(code)})).status_code == 401
    responses = await asyncio.gather(*(ada.post("/step-up", {"code": code}) for _ in range(2)))
    assert sorted(response.status_code for response in responses) == [200, 401], "a code works once"
    assert (await ada.post("/step-up", {"recoveryCode": codes[0]})).json()["acr"] == MULTI
    assert (await ada.post("/step-up", {"recoveryCode": codes[0]})).status_code == 401
    for _ in range(10):
        await ada.post("/step-up", {"code": wrong(code)})
    assert (await ada.post("/step-up", {"recoveryCode": codes[1]})).json()["code"] == "sign_in_locked"


async def test_a_passkey_makes_the_session_phishing_resistant(auth):
    address = new_address()
    _, ada, device, _, _ = await with_passkey(auth, address)
    assert (await ada.get("/step-up")).json()["acrValues"] == [SINGLE, MULTI, PHR]
    challenge = (await ada.post("/step-up/passkey-options")).json()
    credential = Verifying(device).get(decoded({**challenge["options"], "allowCredentials": []}), ORIGIN)
    body = {"passkey": {"challengeId": challenge["challengeId"], "credential": answer_of(credential)}}
    stepped_up = await ada.post("/step-up", body)
    assert (stepped_up.status_code, stepped_up.json()["acr"]) == (200, PHR)
    assert (await ada.post("/step-up", body)).status_code == 401, "it works once"
    assert (await ada.post("/step-up", {"password": GOOD})).status_code == 403, "less than the session has"


async def test_an_ended_session_and_others_are_refused(auth, project):
    signed_in = await auth.signed_up()
    ada = auth.as_(signed_in["accessToken"])
    acting = (await impersonate(project.developer, signed_in)).json()
    assert "acr" not in claims_of(acting["accessToken"])
    refused = await auth.as_(acting["accessToken"]).post("/step-up", {"password": GOOD})
    assert (refused.status_code, refused.json()["code"]) == (403, "impersonation_not_allowed")

    await ada.post("/sign-out")
    assert (await ada.post("/step-up", {"password": GOOD})).status_code == 401


async def test_single_sign_on_cannot_be_replaced_by_a_password(auth, project, world):
    """Who must use single sign-on, or another method, cannot make an old session recent with a password."""
    signed_in = await auth.signed_up()
    ada = auth.as_(signed_in["accessToken"])
    require = "update projects set settings = jsonb_set(settings, '{signIn,requireSso}', %s) where id = %s"
    async with world.db.connection() as connection:
        await connection.execute(require, ["true", project.id])
    assert (await ada.get("/step-up")).json()["methods"] == []
    assert (await ada.post("/step-up", {"password": GOOD})).json()["next"] == "Sign in again."
    async with world.db.connection() as connection:
        await connection.execute(require, ["false", project.id])
    await auth.settings(methods=["EMAIL_CODE"])
    assert (await ada.get("/step-up")).json()["methods"] == ["EMAIL_CODE"]


async def remembered(auth, clock, **settings):
    """A customer with a second factor, and the token of the device on which it was completed."""
    await auth.settings(rememberedDeviceDays=30, **settings)
    address = new_address()
    _, _, app, codes = await with_totp(auth, clock, address)
    pending = (await auth.sign_in(address)).json()
    body = {"mfaToken": pending["mfaToken"], "code": app.code(), "rememberDevice": True}
    signed_in = (await auth.post("/mfa/verify", body)).json()
    clock.move(timedelta(seconds=60))
    return address, signed_in, app, codes


async def test_no_device_is_remembered_unless_the_project_says_so(auth, clock):
    address = new_address()
    _, _, app, _ = await with_totp(auth, clock, address)
    pending = (await auth.sign_in(address)).json()
    body = {"mfaToken": pending["mfaToken"], "code": app.code(), "rememberDevice": True}
    signed_in = (await auth.post("/mfa/verify", body)).json()
    assert signed_in.get("rememberedDeviceToken") is None
    assert (await auth.as_(signed_in["accessToken"]).get("/remembered-devices")).json() == []
    assert (await auth.sign_in(address)).json()["mfaRequired"] is True


async def sign_in_on(auth, address, token):
    body = {"email": address, "password": GOOD, "rememberedDeviceToken": token}
    response = await auth.post("/sign-in", body)
    assert response.status_code == 200, response.text
    return response.json()


async def test_a_remembered_device_skips_the_second_factor_and_claims_none(auth, clock):
    address, signed_in, app, codes = await remembered(auth, clock)
    token = signed_in["rememberedDeviceToken"]
    again = await sign_in_on(auth, address, token)
    claims = claims_of(again["accessToken"])
    assert (again["mfaRequired"], claims["acr"], claims["amr"]) == (False, SINGLE, ["pwd"])
    asked = (await auth.post("/sign-in/code", {"email": address})).json()["challengeId"]
    body = {"challengeId": asked, "code": await auth.code(address), "rememberedDeviceToken": token}
    assert (await auth.post("/sign-in/code/verify", body)).json()["mfaRequired"] is False
    # The session is recent, but sensitive changes need the second factor all the same.
    ada = auth.as_(again["accessToken"])
    refused = await ada.post("/email/change", {"email": new_address()})
    assert (refused.status_code, refused.json()["code"]) == (401, "not_fresh")
    assert f'acr_values="{MULTI}", max_age="3600"' in refused.headers["www-authenticate"]
    assert (await ada.get("/step-up")).json()["methods"] == ["TOTP", "RECOVERY_CODE"]
    stepped_up = (await ada.post("/step-up", {"code": app.code()})).json()
    assert stepped_up["acr"] == MULTI
    changed = await auth.as_(stepped_up["accessToken"]).post("/email/change", {"email": new_address()})
    assert changed.status_code == 200
    # Listed, and forgotten; a second time and by somebody else it is not there.
    (device,) = (await ada.get("/remembered-devices")).json()
    assert (device["userAgent"], device["ipAddress"]) == (auth.agent, auth.ip)
    stranger = auth.as_((await auth.signed_up())["accessToken"])
    assert (await stranger.client.delete(f"/remembered-devices/{device['id']}")).status_code == 404
    assert (await stranger.get("/remembered-devices")).json() == []
    assert (await ada.client.delete(f"/remembered-devices/{device['id']}")).status_code == 204
    assert (await ada.client.delete(f"/remembered-devices/{device['id']}")).status_code == 404
    assert (await sign_in_on(auth, address, token))["mfaRequired"] is True, "sent again after it was revoked"
    assert codes


async def test_a_device_is_of_one_customer_and_for_the_second_factor_only(auth, clock):
    address, signed_in, _, _ = await remembered(auth, clock)
    token = signed_in["rememberedDeviceToken"]
    other, *_ = await remembered(auth, clock)
    for sent in (token, f"{token[:-1]}x", token[:32], "x", "é" * 40):
        assert (await sign_in_on(auth, other, sent))["mfaRequired"] is True, sent
    wrong_password = {"email": address, "password": "wrong", "rememberedDeviceToken": token}
    assert (await auth.post("/sign-in", wrong_password)).status_code == 401
    # The token is none of another kind.
    assert (await auth.post("/mfa/verify", {"mfaToken": token, "code": "123456"})).status_code == 401
    assert (await auth.post("/token", {"code": token})).status_code == 401
    assert (await auth.post("/sign-in/link/verify", {"token": token})).status_code == 401
    # Not allowed any more, and for less time than it was given.
    await auth.settings(rememberedDeviceDays=None)
    assert (await sign_in_on(auth, address, token))["mfaRequired"] is True
    await auth.settings(rememberedDeviceDays=1)
    assert (await sign_in_on(auth, address, token))["mfaRequired"] is False
    clock.move(timedelta(hours=24))
    assert (await sign_in_on(auth, address, token))["mfaRequired"] is True


async def test_what_forgets_all_devices(auth, project, clock):
    address, signed_in, app, codes = await remembered(auth, clock)
    token = signed_in["rememberedDeviceToken"]
    ada = auth.as_(signed_in["accessToken"])
    changed = {"currentPassword": GOOD, "newPassword": GOOD + "!"}
    assert (await ada.post("/password/change", changed)).status_code == 204
    body = {"email": address, "password": GOOD + "!", "rememberedDeviceToken": token}
    pending = (await auth.post("/sign-in", body)).json()
    assert pending["mfaRequired"] is True, "a new password"
    verified = {"mfaToken": pending["mfaToken"], "code": app.code(), "rememberDevice": True}
    signed_in = (await auth.post("/mfa/verify", verified)).json()
    body["rememberedDeviceToken"] = signed_in["rememberedDeviceToken"]
    assert (await auth.post("/sign-in", body)).json()["mfaRequired"] is False
    ada = auth.as_(signed_in["accessToken"])
    exported = (await ada.get("/export")).json()["rememberedDevices"]
    assert exported == (await ada.get("/remembered-devices")).json() != []
    # A new primary address, which the customer has verified.
    new = new_address()
    challenge = (await ada.post("/email/change", {"email": new})).json()["challengeId"]
    verified = await ada.post("/verify-email", {"challengeId": challenge, "code": await auth.code(new)})
    assert verified.status_code == 200, verified.text
    assert (await ada.get("/remembered-devices")).json() == [], "a new address"
    assert (await ada.post("/mfa/totp/disable", {"recoveryCode": codes[0]})).status_code == 204
    assert (await ada.get("/remembered-devices")).json() == [], "no second factor"
    customer = signed_in["customer"]["id"]
    assert (await project.client.delete(f"/customers/{customer}")).status_code == 200


async def test_single_sign_on_always_asks_for_the_second_factor(connected, auth, clock):
    await auth.settings(rememberedDeviceDays=30)
    email = connected.address("maria")

    async def exchanged(**fields):
        signed_on = await connected.browser().sign_on(email)
        code = parse_qs(urlsplit(signed_on.headers["location"]).query)["code"][0]
        return (await auth.post("/token", {"code": code, "codeVerifier": VERIFIER, **fields})).json()

    maria = auth.as_((await exchanged())["accessToken"])
    app = App((await maria.post("/mfa/totp/enroll")).json()["secret"], clock)
    assert (await maria.post("/mfa/totp/confirm", {"code": app.code()})).status_code == 200
    clock.move(timedelta(seconds=60))
    body = {"mfaToken": (await exchanged())["mfaToken"], "code": app.code(), "rememberDevice": True}
    token = (await auth.post("/mfa/verify", body)).json()["rememberedDeviceToken"]
    assert token
    assert (await exchanged(rememberedDeviceToken=token))["mfaRequired"] is True


async def test_a_provider_does_not_lead_in_a_circle(auth, provider_browser, clock):
    """The account pages ask for the second factor of who is remembered; a sign-in at a provider asks for it, too."""
    address, _, app, _ = await remembered(auth, clock)
    visitor = Visitor(auth)
    provider_browser.provider.claims = {"sub": "9", "email": address, "email_verified": True}

    async def sign_in_at_provider(page):
        link = urlsplit(next(url for url in page.links if "/providers/ACME/start" in url))
        started = await visitor.send("GET", f"{link.path}?{link.query}", follow=False)
        state = provider_browser.provider.authorize(started.headers["location"])["state"]
        callback = f"/projects/{auth.project.id}/auth/providers/callback"
        return Page(await visitor.send("GET", f"{callback}?{urlencode({'code': 'code', 'state': state})}"))

    factor = await sign_in_at_provider(await visitor.open("account"))
    assert heading(await visitor.submit(factor, code=app.code(), remember="1")) == "Your account"
    clock.move(timedelta(hours=2))
    refused = await visitor.open("account/emails/add")
    link = urlsplit(next(url for url in refused.links if "/pages/sign-in" in url))
    sign_in_page = Page(await visitor.send("GET", f"{link.path}?{link.query}"))
    factor = await sign_in_at_provider(sign_in_page)
    assert "mfaToken" in factor.hidden(), factor.text
    await visitor.submit(factor, code=app.code())
    assert (await visitor.open("account/emails/add")).response.status_code == 200


async def test_required_second_factors_are_always_asked_for(auth, clock):
    """A session of one factor would end at the next refresh."""
    address, signed_in, app, _ = await remembered(auth, clock)
    await auth.settings(requireMfa=True)
    pending = await sign_in_on(auth, address, signed_in["rememberedDeviceToken"])
    assert pending["mfaRequired"] is True
    body = {"mfaToken": pending["mfaToken"], "code": app.code(), "rememberDevice": True}
    assert (await auth.post("/mfa/verify", body)).json()["rememberedDeviceToken"] is None
    for days in (0, 91, "30"):
        response = await auth.project.developer.patch("", {"settings": {"signIn": {"rememberedDeviceDays": days}}})
        assert response.status_code == 400, days


async def test_the_oldest_device_makes_room(auth, clock, monkeypatch):
    monkeypatch.setattr(remembered_devices, "DEVICES_LIMIT", 2)
    address, signed_in, app, _ = await remembered(auth, clock)
    for _ in range(2):
        pending = (await auth.sign_in(address)).json()
        body = {"mfaToken": pending["mfaToken"], "code": app.code(), "rememberDevice": True}
        last = (await auth.post("/mfa/verify", body)).json()
        clock.move(timedelta(seconds=60))
    assert (await sign_in_on(auth, address, signed_in["rememberedDeviceToken"]))["mfaRequired"] is True
    assert (await sign_in_on(auth, address, last["rememberedDeviceToken"]))["mfaRequired"] is False
