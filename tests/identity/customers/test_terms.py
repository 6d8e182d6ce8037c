"""Terms that customers must accept: at sign-up, and again at the next sign-in after their version has changed."""

import asyncio
from datetime import timedelta
from urllib.parse import parse_qs, urlencode, urlsplit

from tests.conftest import Client
from tests.identity.customers.conftest import GOOD, new_address
from tests.identity.customers.test_merging import merged
from tests.identity.customers.test_pages import FLOW, Page, browser, redeemed
from tests.identity.customers.test_providers import (
    VERIFIER,
    provider,
    provider_browser,
    settings,
)
from tests.identity.customers.test_second_factor import App, sign_in_with_passkey, with_passkey, with_totp
from tests.identity.customers.test_sign_in_alerts import newest_link, press
from tests.identity.customers.test_step_up import remembered
from tests.identity.organizations.conftest import directory
from tests.identity.self_service.conftest import Visitor, heading
from tests.identity.sso.conftest import acme, connected, idp

__all__ = ["acme", "browser", "connected", "directory", "idp", "provider", "provider_browser", "settings"]

TERMS = {"termsUrl": "https://acme.example/terms", "privacyUrl": "https://acme.example/privacy"}
FIRST, SECOND = "2026-01-01", "2026-07-01"


async def require(auth, version=FIRST):
    """Require that customers accept a version of the terms."""
    await auth.settings(**TERMS, termsVersion=version, requireTerms=True)


def pending(response):
    """The token of a sign-in that has started no session, because the terms must be accepted first."""
    body = response.json()
    assert response.status_code in (200, 201), response.text
    assert body["termsRequired"] is True
    assert [body[name] for name in ("accessToken", "refreshToken", "sessionId", "customer", "mfaToken")] == [None] * 5
    return body["termsToken"]


async def accept(auth, token, version=FIRST):
    return await auth.post("/terms/accept", {"termsToken": token, "acceptedTerms": version})


async def accepted_versions(project, customer_id):
    """The versions that a customer has accepted, as the API lists them."""
    listed = await project.client.get(f"/customers/{customer_id}/terms")
    assert listed.status_code == 200, listed.text
    return [row["version"] for row in listed.json()]


async def test_sign_up_needs_the_current_version_and_records_it(auth, project):
    await require(auth)
    address = new_address()
    body = {"email": address, "password": GOOD}
    for wrong in ({}, {"acceptedTerms": None}, {"acceptedTerms": "2025-01-01"}):
        refused = await auth.post("/sign-up", {**body, **wrong})
        assert (refused.status_code, refused.json()["code"]) == (422, "terms_not_accepted"), refused.text
        assert refused.json()["errors"][0]["path"] == "/acceptedTerms"
        assert f'Show the terms ({TERMS["termsUrl"]}), and send `"acceptedTerms": "{FIRST}"`' in refused.json()["next"]
    for malformed in ("", "x" * 65, "a\nb", 7):
        assert (await auth.post("/sign-up", {**body, "acceptedTerms": malformed})).status_code == 400
    assert await auth.mails(address) == []
    ada = auth.at(ip="203.0.113.99", agent="Browser of Ada")
    challenge = (await ada.post("/sign-up", {**body, "acceptedTerms": FIRST})).json()["challengeId"]
    # The code is entered in another browser: what counts is where the box was ticked.
    verified = await auth.post("/sign-up/verify", {"challengeId": challenge, "code": await auth.code(address)})
    assert verified.status_code == 200, verified.text
    assert (verified.json()["termsRequired"], verified.json()["terms"]) == (False, None)
    customer = verified.json()["customer"]["id"]
    (row,) = (await project.client.get(f"/customers/{customer}/terms")).json()
    assert (row["version"], row["ipAddress"], row["userAgent"]) == (FIRST, "203.0.113.99", "Browser of Ada")
    (event,) = (await project.client.get("/events?type=customer.terms_accepted")).json()["data"]
    assert (event["data"]["version"], event["data"]["ipAddress"]) == (FIRST, "203.0.113.99")
    exported = await auth.as_(verified.json()["accessToken"]).get("/export")
    assert exported.json()["acceptedTerms"] == [row]
    signed_in = await auth.sign_in(address)
    assert signed_in.json()["accessToken"], signed_in.text
    # An erased customer's acceptances are erased, too.
    assert (await project.client.delete(f"/customers/{customer}")).status_code == 200
    assert (await project.client.get(f"/customers/{customer}/terms")).status_code == 404


async def test_without_the_setting_nothing_is_asked_but_a_version_can_be_accepted(auth, project):
    address = new_address()
    refused = await auth.post("/sign-up", {"email": address, "password": GOOD, "acceptedTerms": FIRST})
    assert (refused.status_code, "has no version" in refused.json()["next"]) == (422, True)
    await auth.settings(**TERMS, termsVersion=FIRST, verifyEmail="LATER")
    silent = await auth.post("/sign-up", {"email": new_address(), "password": GOOD})
    assert silent.status_code == 201, silent.text
    assert await accepted_versions(project, silent.json()["customer"]["id"]) == []
    signed_up = await auth.post("/sign-up", {"email": address, "password": GOOD, "acceptedTerms": FIRST})
    assert signed_up.status_code == 201, signed_up.text
    assert await accepted_versions(project, signed_up.json()["customer"]["id"]) == [FIRST]
    for change in ({"requireTerms": True, "termsUrl": None}, {"requireTerms": True, "termsVersion": None}):
        refused = await project.developer.patch("", {"settings": {"signIn": change}})
        (path,) = set(change) - {"requireTerms"}
        assert (refused.status_code, refused.json()["errors"][0]["path"]) == (400, f"/settings/signIn/{path}")


async def test_a_changed_version_is_asked_at_the_next_sign_in(auth, project, clock):
    address = new_address()
    sign_up = await auth.signed_up(address)
    customer = sign_up["customer"]["id"]
    await require(auth)
    # A session that exists goes on; the next sign-in asks.
    assert (await auth.as_(sign_up["accessToken"]).get("/me")).status_code == 200
    response = await auth.sign_in(address)
    token = pending(response)
    assert response.json()["terms"] == {"version": FIRST, **TERMS}
    assert len((await project.client.get("/events?type=customer.signed_in")).json()["data"]) == 1
    await require(auth, SECOND)
    refused = await accept(auth, token, FIRST)
    assert (refused.status_code, f'"{SECOND}"' in refused.json()["next"]) == (422, True)
    answers = await asyncio.gather(*(accept(auth, token, SECOND) for _ in range(3)))
    assert sorted(answer.status_code for answer in answers) == [200, 401, 401]
    assert await accepted_versions(project, customer) == [SECOND]
    assert (await auth.sign_in(address)).json()["accessToken"]
    await require(auth, "2027")
    late = pending(await auth.sign_in(address))
    clock.move(timedelta(minutes=11))
    assert (await accept(auth, late, "2027")).status_code == 401
    banned = pending(await auth.sign_in(address))
    assert (await project.client.post(f"/customers/{customer}/ban", {})).status_code == 200
    assert (await accept(auth, banned, "2027")).status_code in (401, 403)
    assert await accepted_versions(project, customer) == [SECOND]


async def test_a_token_is_of_one_project_and_only_for_the_terms(auth, app, new_project):
    address = new_address()
    await auth.signed_up(address)
    await require(auth)
    token = pending(await auth.sign_in(address))
    other = await new_project()
    foreign = Client(app, None, f"/projects/{other.id}/auth")
    body = {"termsToken": token, "acceptedTerms": FIRST}
    assert (await foreign.post("/terms/accept", body)).status_code == 401
    assert (await auth.post("/mfa/verify", {"mfaToken": token, "code": "123456"})).status_code == 401
    assert (await auth.post("/token", {"code": token, "codeVerifier": VERIFIER})).status_code == 401
    assert (await accept(auth, token)).status_code == 200


async def test_codes_links_and_passkeys_ask_for_the_terms(auth, project):
    await require(auth)
    address = new_address()
    challenge = (await auth.post("/sign-in/code", {"email": address})).json()["challengeId"]
    body = {"challengeId": challenge, "code": await auth.code(address)}
    token = pending(await auth.post("/sign-in/code/verify", body))
    signed_in = (await accept(auth, token)).json()
    assert signed_in["customer"]["email"] == address
    assert await accepted_versions(project, signed_in["customer"]["id"]) == [FIRST]
    await auth.settings(redirectUrls=["https://app.example.com/in"])
    linked = new_address()
    await auth.post("/sign-in/link", {"email": linked, "redirectUrl": "https://app.example.com/in"})
    token = pending(await auth.post("/sign-in/link/verify", {"token": await auth.link_token(linked)}))
    assert (await accept(auth, token)).json()["accessToken"]
    await auth.settings(requireTerms=False)
    _, _, device, _, _ = await with_passkey(auth, new_address())
    await require(auth, SECOND)
    token = pending(await sign_in_with_passkey(auth, device))
    assert (await accept(auth, token, SECOND)).json()["accessToken"]


async def test_the_second_factor_comes_before_the_terms_and_is_not_asked_twice(auth, clock):
    address = new_address()
    _, _, app, _ = await with_totp(auth, clock, address)
    await require(auth)
    asked = (await auth.sign_in(address)).json()
    assert (asked["mfaRequired"], asked["termsRequired"]) == (True, False)
    verified = await auth.post("/mfa/verify", {"mfaToken": asked["mfaToken"], "code": app.code()})
    signed_in = (await accept(auth, pending(verified))).json()
    methods = (await auth.as_(signed_in["accessToken"]).get("/sessions")).json()[0]["methods"]
    assert methods == ["pwd", "totp"]


async def test_the_terms_come_before_a_required_set_up_of_a_second_factor(auth, browser):
    address = new_address()
    await auth.signed_up(address)
    await require(auth)
    await auth.settings(requireMfa=True)
    asked = (await accept(auth, pending(await auth.sign_in(address)))).json()
    assert (asked["mfaEnrollmentRequired"], asked["termsRequired"]) == (True, False)


async def test_terms_that_come_during_the_set_up_of_a_second_factor(auth, browser, clock):
    """The set-up is not completed, on the page neither: the next sign-in asks for the terms first."""
    address = new_address()
    await auth.signed_up(address)
    await auth.settings(requireMfa=True)
    first = await browser.open("sign-in", **FLOW)
    page = await browser.submit(await browser.submit(first, email=address), password=GOOD)
    pending_set_up = (await auth.sign_in(address)).json()
    begun = (await auth.post("/mfa/enroll", {"mfaToken": pending_set_up["mfaToken"]})).json()
    await require(auth)
    body = {"mfaToken": pending_set_up["mfaToken"], "code": App(begun["secret"], clock).code()}
    assert (await auth.post("/mfa/enroll/confirm", body)).status_code == 401
    assert (await browser.submit(page, code="123456")).response.status_code == 401
    asked = (await accept(auth, pending(await auth.sign_in(address)))).json()
    assert asked["mfaEnrollmentRequired"] is True


async def test_a_device_must_be_remembered_still_when_the_terms_are_accepted(auth, clock, project):
    address, signed_in, app, _ = await remembered(auth, clock)
    body = {"email": address, "password": GOOD, "rememberedDeviceToken": signed_in["rememberedDeviceToken"]}
    await require(auth)
    customer = signed_in["customer"]["id"]
    tokens = [pending(await auth.post("/sign-in", body)) for _ in range(2)]
    await auth.settings(requireMfa=True)
    asked = (await accept(auth, tokens[0])).json()
    assert (asked["mfaRequired"], asked["mfaEnrollmentRequired"], asked["accessToken"]) == (True, False, None)
    await auth.settings(requireMfa=False)
    ada = auth.as_(signed_in["accessToken"])
    (device,) = (await ada.get("/remembered-devices")).json()
    assert (await ada.client.delete(f"/remembered-devices/{device['id']}")).status_code == 204
    asked = (await accept(auth, tokens[1])).json()
    assert (asked["mfaRequired"], asked["accessToken"]) == (True, None)
    # Who has one factor only has not accepted anything for the customer.
    assert await accepted_versions(project, customer) == []
    verified = await auth.post("/mfa/verify", {"mfaToken": asked["mfaToken"], "code": app.code()})
    assert (await accept(auth, pending(verified))).json()["accessToken"]
    assert await accepted_versions(project, customer) == [FIRST]


async def test_a_sign_in_goes_on_when_the_terms_are_no_longer_required(auth, browser, project):
    address = new_address()
    customer = (await auth.signed_up(address))["customer"]["id"]
    await require(auth)
    first = await browser.open("sign-in", **FLOW)
    page = await browser.submit(await browser.submit(first, email=address), password=GOOD)
    tokens = [pending(await auth.sign_in(address)) for _ in range(2)]
    assert (await auth.post("/terms/accept", {"termsToken": tokens[0]})).status_code == 422
    await auth.settings(requireTerms=False, termsVersion=None)
    assert (await auth.post("/terms/accept", {"termsToken": tokens[0]})).json()["accessToken"]
    assert (await accept(auth, tokens[1])).json()["accessToken"]
    again = await browser.open("terms", **FLOW, termsToken=page.hidden()["termsToken"])
    assert (await redeemed(auth, await browser.submit(again)))["customer"]["id"] == customer
    assert await accepted_versions(project, customer) == []


async def test_what_another_person_has_accepted_does_not_count(auth, project, clock):
    """Of an account that was registered with a stranger's address, and since a sign-in that the customer denies."""
    await require(auth)
    await auth.settings(verifyEmail="LATER")
    address = new_address()
    stranger = auth.at(ip="198.51.100.66", agent="Stranger")
    body = {"email": address, "password": GOOD, "acceptedTerms": FIRST}
    customer = (await stranger.post("/sign-up", body)).json()["customer"]["id"]
    assert await accepted_versions(project, customer) == [FIRST]

    async def sign_in_by_code():
        challenge = (await auth.post("/sign-in/code", {"email": address})).json()["challengeId"]
        return await auth.post("/sign-in/code/verify", {"challengeId": challenge, "code": await auth.code(address)})

    token = pending(await sign_in_by_code())
    assert await accepted_versions(project, customer) == []
    assert (await accept(auth, token)).json()["customer"]["id"] == customer
    (row,) = (await project.client.get(f"/customers/{customer}/terms")).json()
    assert row["userAgent"] == auth.agent
    body["email"] = address = new_address()
    customer = (await auth.post("/sign-up", body)).json()["customer"]["id"]
    await require(auth, SECOND)
    clock.move(timedelta(seconds=60))
    assert (await accept(stranger, pending(await stranger.sign_in(address)), SECOND)).json()["accessToken"]
    assert sorted(await accepted_versions(project, customer)) == [FIRST, SECOND]
    assert (await press(auth, await newest_link(auth, address))).status_code == 200
    assert await accepted_versions(project, customer) == [FIRST]


async def test_an_account_of_a_provider_accepts_on_the_page_or_by_the_app(provider_browser, auth, project, browser):
    await require(auth)
    profile = {"sub": "7", "email": new_address(), "email_verified": True}
    app_result = await provider_browser.sign_in(**profile)
    assert app_result["terms"]["version"] == FIRST
    assert (await accept(auth, app_result["termsToken"])).status_code == 200
    provider_browser.provider.claims = {"sub": "8", "email": new_address(), "email_verified": True}
    back = await provider_browser.come_back(await provider_browser.start(hosted="true"))
    page = Page(await auth.client.get(back.headers["location"].removeprefix("http://127.0.0.1:8025")))
    assert "Accept the terms" in page.text
    signed_in = await redeemed(auth, await browser.submit(page, acceptedTerms=FIRST))
    assert await accepted_versions(project, signed_in["customer"]["id"]) == [FIRST]


async def test_single_sign_on_asks_for_the_terms_too(connected, auth):
    await require(auth)
    email = connected.address("maria")
    signed_on = connected.browser()
    code = parse_qs(urlsplit((await signed_on.sign_on(email)).headers["location"]).query)["code"][0]
    exchanged = await auth.post("/token", {"code": code, "codeVerifier": VERIFIER})
    assert (await accept(auth, pending(exchanged))).json()["customer"]["email"] == email


async def test_the_sign_up_page_asks_with_a_box_beside_which_it_says_what_is_missing(auth, browser, project):
    await require(auth)
    page = await browser.open("sign-up", **FLOW)
    (box,) = (field for field in page.inputs if field.get("type") == "checkbox")
    assert (box["name"], box["value"], "checked" in box) == ("acceptedTerms", FIRST, False)
    assert box["id"] in page.labels
    assert set(TERMS.values()) <= set(page.links)
    address = new_address()
    fields = {"email": address, "password": GOOD, "name": "Ada"}
    refused = await browser.submit(page, **fields)
    assert refused.response.status_code == 422
    assert 'id="terms-error">Accept the current terms' in refused.text
    assert 'aria-describedby="terms-error"' in refused.text
    assert 'id="error"' not in refused.text
    assert f'value="{address}"' in refused.text
    short = await browser.submit(page, **{**fields, "password": "short"}, acceptedTerms=FIRST)
    (box,) = (field for field in short.inputs if field.get("type") == "checkbox")
    assert "checked" in box  # The person has ticked it, and another field is wrong.
    code_page = await browser.submit(refused, **fields, acceptedTerms=FIRST)
    signed_up = await redeemed(auth, await browser.submit(code_page, code=await auth.code(address)))
    assert await accepted_versions(project, signed_up["customer"]["id"]) == [FIRST]


async def test_the_pages_ask_for_a_new_version_before_the_browser_returns(auth, browser, project):
    address = new_address()
    await auth.signed_up(address)
    await require(auth)
    first = await browser.open("sign-in", **FLOW)
    page = await browser.submit(await browser.submit(first, email=address), password=GOOD)
    assert "Accept the terms" in page.text
    assert set(TERMS.values()) <= set(page.links)
    refused = await browser.submit(page)
    assert (refused.response.status_code, 'id="terms-error"' in refused.text) == (422, True)
    german = next(url for url in page.links if url.endswith("lang=de"))
    translated = Page(await auth.client.get(german))
    assert translated.response.status_code == 200
    assert 'lang="de"' in translated.text
    signed_in = await redeemed(auth, await browser.submit(translated, acceptedTerms=FIRST))
    assert await accepted_versions(project, signed_in["customer"]["id"]) == [FIRST]
    again = await browser.submit(page, acceptedTerms=FIRST)
    assert (again.response.status_code, "wrong, has expired" in again.text) == (401, True)
    expired = await browser.open("terms", **FLOW, termsToken="x.y")
    assert expired.response.status_code == 401


async def test_account_pages_ask_for_the_terms(auth, provider_browser):
    """A code that did not come from a hosted page, as after single sign-on, leads to the page of the terms."""
    await require(auth)
    visitor = Visitor(auth)
    flow = (await visitor.open("account")).hidden()
    providers = f"/projects/{auth.project.id}/auth/providers"
    query = {name: flow[name] for name in ("redirectUrl", "codeChallenge", "state")}
    started = await visitor.send("GET", f"{providers}/ACME/start?{urlencode(query)}", follow=False)
    provider_browser.provider.claims = {"sub": "9", "email": new_address(), "email_verified": True}
    request = provider_browser.provider.authorize(started.headers["location"])
    callback = urlencode({"code": "code", "state": request["state"]})
    page = Page(await visitor.send("GET", f"{providers}/callback?{callback}"))
    assert heading(page) == "Accept the terms"
    account = await visitor.submit(page, acceptedTerms=FIRST)
    assert heading(account) == "Your account"


async def test_a_merge_keeps_what_both_have_accepted(auth, project):
    await require(auth)
    await auth.settings(verifyEmail="LATER")

    async def signed_up(*versions):
        address = new_address()
        body = {"email": address, "password": GOOD}
        await require(auth, versions[0])
        customer = (await auth.post("/sign-up", {**body, "acceptedTerms": versions[0]})).json()["customer"]["id"]
        for version in versions[1:]:
            await require(auth, version)
            await accept(auth, pending(await auth.sign_in(address)), version)
        return customer

    survivor, loser = await signed_up(FIRST), await signed_up(FIRST, SECOND)
    await merged(project, survivor, loser)
    assert sorted(await accepted_versions(project, survivor)) == [FIRST, SECOND]
