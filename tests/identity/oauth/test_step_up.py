"""Requests for a level of authentication (`acr_values`, `claims`), and the page that steps a session up (RFC 9470)."""

import hashlib
import html
import json
import re
from datetime import timedelta

import pytest
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec

from tests.identity.customers.conftest import GOOD
from tests.identity.customers.test_second_factor import ORIGIN, answer_of, decoded, with_passkey, with_totp
from tests.identity.oauth.conftest import FORM, parameters_of

SINGLE, MULTI, PHR = "urn:postern:single-factor", "urn:postern:multi-factor", "phr"


def essential(*values):
    """The parameter `claims` that accepts only these levels."""
    return json.dumps({"id_token": {"acr": {"essential": True, "values": list(values)}}})


async def claims_of(provider, response):
    """The claims of the ID token for an authorization response. The access token, and its introspection, have the same
    level."""
    tokens = (await provider.exchange(parameters_of(response)["code"])).json()
    claims = await provider.verified(tokens["id_token"], provider.oauth_client["clientId"])
    of_access = await provider.verified(tokens["access_token"], provider.issuer)
    introspected = await provider.introspect(tokens["access_token"])
    for name in ("acr", "amr", "auth_time"):
        assert claims[name] == of_access[name] == introspected[name]
    return claims


async def finished(browser, page):
    """Follow the page after the form of the step-up page."""
    assert page.status_code == 200, page.text
    link = re.search(r'content="0;url=([^"]+)"', page.text)
    assert link, page.text
    return await browser.open(html.unescape(link[1]))


async def with_one_factor(provider, clock):
    """A browser with a session of one factor, because it is remembered; and the authenticator app, the recovery codes
    and the claims of the session."""
    await provider.auth.settings(rememberedDeviceDays=30)
    browser = provider.browser()
    _, _, app, codes = await with_totp(provider.auth, clock, browser.address)
    page = await browser.open((await browser.authorize()).headers["location"])
    factor = await browser.submit(page, email=browser.address, password=GOOD)
    assert "Do not ask for it on this device for 30 days" in factor.text
    completed = await browser.submit(factor, code=app.code(), remember="1")
    assert "HttpOnly; SameSite=Lax" in completed.headers["set-cookie"]
    assert (await claims_of(provider, await browser.finish(completed)))["acr"] == MULTI
    clock.move(timedelta(seconds=60))
    claims = await claims_of(provider, await browser.sign_in(await browser.authorize(prompt="login")))
    return browser, app, codes, claims


def wrong(code):
    return f"{(int(code) + 1) % 1_000_000:06d}"


async def test_a_session_gets_to_the_requested_level_and_stays(first_party, clock):
    browser, app, _, before = await with_one_factor(first_party, clock)
    assert (before["acr"], before["amr"]) == (SINGLE, ["pwd"])
    assert (await claims_of(first_party, await browser.authorize()))["acr"] == SINGLE, "nobody asked for more"
    assert parameters_of(await browser.authorize(acr_values=MULTI, prompt="none"))["error"] == "login_required"
    page = await browser.authorize(acr_values=MULTI)
    assert page.status_code == 200
    assert "asks for a stronger proof" in page.text
    refused = await browser.submit(page, code=wrong(app.code()))
    assert refused.status_code == 401
    clock.move(timedelta(seconds=30))
    after = await claims_of(first_party, await finished(browser, await browser.submit(refused, code=app.code())))
    assert (after["acr"], after["amr"], after["sid"]) == (MULTI, ["pwd", "totp"], before["sid"])
    assert after["auth_time"] == int(clock().timestamp()) > before["auth_time"]
    # No further question, not even without a page, and `max_age` counts from the second factor.
    for request in ({"acr_values": MULTI}, {"claims": essential(MULTI)}, {"acr_values": MULTI, "max_age": "20"}):
        silent = await browser.authorize(prompt="none", **request)
        assert (await claims_of(first_party, silent))["acr"] == MULTI
    clock.move(timedelta(seconds=30))
    old = parameters_of(await browser.authorize(prompt="none", acr_values=MULTI, max_age="20"))
    assert old["error"] == "login_required"


async def test_a_level_that_cannot_be_reached(first_party):
    browser = first_party.browser()
    voluntary = await claims_of(first_party, await browser.signed_in(acr_values=f"{PHR} {MULTI} unknown"))
    assert voluntary["acr"] == SINGLE
    for claims in (
        essential(MULTI),
        essential("unknown"),
        json.dumps({"id_token": {"acr": {"essential": True, "value": PHR}}}),
    ):
        for prompt in ("none", None):
            response = parameters_of(await browser.authorize(claims=claims, prompt=prompt))
            assert (response["error"], response["state"]) == ("unmet_authentication_requirements", "client-state")
    # After the sign-in, too; and the request is finished then.
    fresh = first_party.browser()
    response = parameters_of(await fresh.signed_in(claims=essential(MULTI)))
    assert response["error"] == "unmet_authentication_requirements"
    for accepted in (
        essential(SINGLE),
        essential(),
        json.dumps({"userinfo": {"name": None}, "id_token": {"acr": None}}),
        json.dumps({"id_token": None}),
        json.dumps({"id_token": {"acr": {"values": None, "essential": True}}}),
    ):
        assert (await claims_of(first_party, await browser.authorize(claims=accepted)))["acr"] == SINGLE
    for malformed in ("{", "[]", '{"id_token": 1}', '{"id_token": {"acr": {"values": "phr"}}}', "[" * 1_900):
        response = parameters_of(await browser.authorize(claims=malformed))
        assert response["error"] == "invalid_request", malformed
    for nul in ({"claims": essential("a\0b")}, {"claims": json.dumps({"id_token": {"acr": {"value": "\0"}}})}):
        assert parameters_of(await browser.authorize(**nul))["error"] == "invalid_request"
        pushed = await first_party.send("par", **first_party.request(**nul))
        assert (pushed.status_code, pushed.json()["error"]) == (400, "invalid_request")
    assert (await browser.authorize(acr_values="a\0b")).status_code != 500


async def test_a_recent_sign_in_on_a_remembered_device_is_not_enough_for_the_account(first_party, clock):
    """The account pages ask for the second factor before they change anything, and do not lead in a circle."""
    browser, app, _, _ = await with_one_factor(first_party, clock)
    account = f"/projects/{first_party.project.id}/auth/pages/account/emails/add"
    page = await browser.open(account)
    assert (page.status_code, "Confirm that it is you" in page.text) == (403, True)
    link = html.unescape(re.search(r'class="button" href="([^"]+)"', page.text)[1])
    factor = await browser.submit(await browser.open(link), email=browser.address, password=GOOD)
    assert "authenticator app" in factor.text
    onwards = await browser.submit(factor, code=app.code())
    signed_in = await browser.open(onwards.headers["location"])
    assert signed_in.status_code in (200, 303), signed_in.text
    assert (await browser.open(account)).status_code == 200
    overview = await browser.open(account.removesuffix("/emails/add"))
    forget = re.search(r'action="([^"]+/devices/[^"]+/forget[^"]*)"', html.unescape(overview.text))
    assert forget, "the device is in the list"
    token = re.search(r'name="formToken" value="([^"]+)"', overview.text)[1]
    for body, status in (("formToken=x", 403), (f"formToken={token}", 303), (f"formToken={token}", 404)):
        response = await browser.client.request("POST", forget[1], content=body, headers=FORM)
        assert response.status_code == status
    assert "/forget" not in (await browser.open(account.removesuffix("/emails/add"))).text


async def test_the_page_belongs_to_a_browser_a_session_and_a_request(first_party, clock):
    browser, _, codes, _ = await with_one_factor(first_party, clock)
    page = await browser.authorize(acr_values=MULTI)
    hidden = dict(re.findall(r'type="hidden" name="(\w+)" value="([^"]*)"', page.text))
    path = f"{first_party.base}/step-up"
    body = f"token={hidden['token']}&session={hidden['session']}&code={codes[0]}"

    # A form of another site, and another browser with the token of the request: nothing is done.
    foreign = await browser.client.request(
        "POST", path, content=body, headers={**FORM, "origin": "https://evil.example"}
    )
    assert foreign.status_code == 403
    other = first_party.browser()
    stolen = await other.client.request("POST", path, content=body, headers=FORM)
    assert (stolen.status_code, "begun in another browser" in stolen.text) == (400, True)
    options = await other.client.request("POST", f"{path}/passkey-options", content=body, headers=FORM)
    assert options.status_code == 401
    # The page was shown to another session: the request goes on with the present one, and asks it.
    moved = await browser.submit(page, session="01990000-0000-7000-8000-000000000000", code=codes[0])
    assert moved.status_code == 303
    asked = await browser.open(moved.headers["location"])
    assert "asks for a stronger proof" in asked.text
    # A customer signs in again in this browser, in another tab: the second factor is asked for there already.
    assert (await claims_of(first_party, await browser.authorize()))["amr"] == ["pwd"], "no factor was used"
    done = await browser.submit(asked, code=codes[0])
    assert (await claims_of(first_party, await finished(browser, done)))["amr"] == ["pwd", "recovery"]
    assert (await browser.submit(asked, code=codes[1])).status_code == 400, "the request is finished"
    # An ended session cannot be stepped up.
    late, app, _, _ = await with_one_factor(first_party, clock)
    page = await late.authorize(acr_values=MULTI)
    sid = dict(re.findall(r'type="hidden" name="(\w+)" value="([^"]*)"', page.text))["session"]
    developer = first_party.project.client
    customer = next(c for c in (await developer.get("/customers")).json()["data"] if sid in str(c))
    assert (await developer.post(f"/customers/{customer['id']}/sessions/revoke-all")).status_code == 204
    ended = await late.submit(page, code=app.code())
    assert ended.status_code == 303
    assert "/sign-in?" in (await late.open(ended.headers["location"])).headers["location"]


@pytest.mark.parametrize(
    ("request_fields", "error"),
    [({"acr_values": MULTI}, "access_denied"), ({"claims": essential(MULTI)}, "unmet_authentication_requirements")],
)
async def test_the_customer_can_cancel(first_party, clock, request_fields, error):
    browser, _, _, _ = await with_one_factor(first_party, clock)
    page = await browser.authorize(**request_fields)
    cancelled = parameters_of(await browser.submit(page, 1, decision="cancel"))
    assert (cancelled["error"], cancelled["state"]) == (error, "client-state")
    assert (await browser.submit(page, 1, decision="cancel")).status_code == 400


class Verifying:
    """An authenticator that verifies its user, as soft-webauthn does not."""

    def __init__(self, device):
        self.device = device

    def get(self, options, origin):
        credential = self.device.get(options, origin)
        data = bytearray(credential["response"]["authenticatorData"])
        data[32] |= 0b100
        client_data = credential["response"]["clientDataJSON"]
        signed = bytes(data) + hashlib.sha256(client_data).digest()
        signature = self.device.private_key.sign(signed, ec.ECDSA(hashes.SHA256()))
        credential["response"] |= {"authenticatorData": bytes(data), "signature": signature}
        return credential


async def test_a_passkey_is_phishing_resistant(first_party, clock):
    """Its options are for the customer's passkeys only; that of another customer is refused."""
    browser = first_party.browser()
    _, _, device, _, _ = await with_passkey(first_party.auth, browser.address)
    response = await browser.sign_in(await browser.authorize())
    assert (await claims_of(first_party, response))["acr"] == SINGLE
    page = await browser.authorize(acr_values=PHR)
    hidden = dict(re.findall(r'type="hidden" name="(\w+)" value="([^"]*)"', page.text))
    assert 'name="code"' not in page.text

    async def answered(authenticator):
        body = f"token={hidden['token']}&session={hidden['session']}"
        path = f"{first_party.base}/step-up/passkey-options"
        challenge = (await browser.client.request("POST", path, content=body, headers=FORM)).json()
        assert challenge["options"]["userVerification"] == "required"
        assert len(challenge["options"]["allowCredentials"]) == 1
        options = decoded({**challenge["options"], "allowCredentials": []})
        return {
            "challengeId": challenge["challengeId"],
            "credential": json.dumps(answer_of(authenticator.get(options, ORIGIN))),
        }

    _, _, of_stranger, _, _ = await with_passkey(first_party.auth, f"other-{browser.address}")
    assert (await browser.submit(page, **await answered(of_stranger))).status_code == 401
    assert (await browser.submit(page, **await answered(device))).status_code == 401, "the user was not verified"
    answer = await answered(Verifying(device))
    after = await claims_of(first_party, await finished(browser, await browser.submit(page, **answer)))
    assert (after["acr"], after["amr"]) == (PHR, ["pwd", "hwk", "user"])
    # The client gets the value that it asked for, if a higher level includes it.
    for asked, acr in ((MULTI, MULTI), (f"{SINGLE} {PHR}", SINGLE), (f"other {PHR}", PHR), (None, PHR)):
        assert (await claims_of(first_party, await browser.authorize(acr_values=asked)))["acr"] == acr
