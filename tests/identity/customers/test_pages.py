"""Hosted pages, CORS, and other requests from browsers."""

import json
import re
from datetime import timedelta
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import parse_qsl, urlencode, urlsplit

import pytest
from soft_webauthn import SoftWebauthnDevice

import postern.app
from postern.security.totp import code_at
from postern.web.languages import translator
from postern.web.pages import TEMPLATES
from tests.conftest import Client
from tests.identity.customers.conftest import GOOD, new_address
from tests.identity.customers.test_providers import (
    CHALLENGE,
    REDIRECT_URL,
    VERIFIER,
    provider,
    provider_browser,
    put,
    settings,
)
from tests.identity.customers.test_second_factor import ORIGIN, answer_of, decoded, with_totp
from tests.peers.chromium import CHROMIUM, chromium

__all__ = ["provider", "provider_browser", "settings"]

FLOW = {"redirectUrl": REDIRECT_URL, "codeChallenge": CHALLENGE, "state": "app-state"}


class Page(HTMLParser):
    """The forms, links and text of a page, as a browser without JavaScript shows them."""

    def __init__(self, response):
        super().__init__()
        self.response = response
        self.options, self.links = None, []
        self.labels, self.inputs, self.actions, self.scripts, self.text = set(), [], [], [], response.text
        self.feed(response.text)

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        if tag == "label":
            self.labels.add(values["for"])
        if tag == "input":
            self.inputs.append(values)
        if tag == "form":
            self.actions.append(values["action"])
            self.options = values.get("data-options", self.options)
        if tag == "a":
            self.links.append(values["href"])
        if tag == "script":
            self.scripts.append(values["src"])
        assert tag != "style", "the content security policy forbids it"
        assert not any(name.startswith("on") or name == "style" for name in values)

    def handle_data(self, data):
        assert self.lasttag != "script" or not data.strip(), "the content security policy forbids it"

    def hidden(self):
        """The hidden fields, by name."""
        return {field["name"]: field.get("value", "") for field in self.inputs if field.get("type") == "hidden"}


@pytest.fixture
async def browser(auth):
    await auth.settings(redirectUrls=[REDIRECT_URL], appName='Ada & "Sons"', accentColor="#0a7d55")

    class Browser:
        base = f"/projects/{auth.project.id}/auth/pages"

        async def open(self, path, **query):
            return Page(await auth.client.get(f"{self.base}/{path}?{urlencode(query)}"))

        async def submit(self, page, path=None, **fields):
            """Submit the first form of a page. Returns the next page, or the response if it redirects to the app."""
            path = path or page.actions[0]
            body = urlencode({**page.hidden(), **fields})
            headers = {"content-type": "application/x-www-form-urlencoded", "user-agent": "Browser"}
            response = await auth.client.request("POST", path, content=body, headers=headers)
            return response if response.status_code == 303 else Page(response)

    return Browser()


async def redeemed(auth, response):
    """Exchange the code in a redirect to the app. Returns the body with the tokens."""
    assert response.status_code == 303
    location = response.headers["location"]
    assert location.startswith(REDIRECT_URL + "?")
    parameters = dict(parse_qsl(urlsplit(location).query))
    assert parameters["state"] == "app-state"
    exchanged = await auth.post("/token", {"code": parameters["code"], "codeVerifier": VERIFIER})
    assert exchanged.status_code == 200, exchanged.text
    repeated = await auth.post("/token", {"code": parameters["code"], "codeVerifier": VERIFIER})
    assert repeated.status_code == 401
    return exchanged.json()


async def test_an_app_signs_up_and_signs_in_a_customer_on_the_pages(auth, browser):
    address = new_address()
    page = await browser.open("sign-up", **FLOW)
    code_page = await browser.submit(page, email=address, password=GOOD, name="Ada")
    assert "six digits" in code_page.text
    wrong = await browser.submit(code_page, code="000000" if await auth.code(address) != "000000" else "111111")
    assert 'role="alert"' in wrong.text
    assert wrong.response.status_code == 401
    sign_up = await redeemed(auth, await browser.submit(wrong, code=await auth.code(address)))
    assert sign_up["customer"]["name"] == "Ada"
    page = await browser.open("sign-in", **FLOW)
    refused = await browser.submit(page, email=address, password="wrong password")
    assert refused.response.status_code == 401
    assert f'value="{address}"' in refused.text
    assert "wrong password" not in refused.text
    signed_in = await redeemed(auth, await browser.submit(refused, email=address, password=GOOD))
    assert (await auth.as_(signed_in["accessToken"]).get("/me")).status_code == 200
    assert signed_in["sessionId"] != sign_up["sessionId"]


async def test_a_code_by_mail_signs_in(auth, browser):
    address = new_address()
    await auth.signed_up(address)
    page = await browser.open("sign-in", **FLOW)
    code_page = await browser.submit(page, f"{browser.base}/code", email=address)
    await redeemed(auth, await browser.submit(code_page, code=await auth.code(address)))


async def test_the_pages_ask_for_the_second_factor(auth, browser, clock):
    import base64

    address = new_address()
    sign_up = await auth.signed_up(address)
    ada = auth.as_(sign_up["accessToken"])
    secret = base64.b32decode((await ada.post("/mfa/totp/enroll")).json()["secret"])
    step = int(clock().timestamp()) // 30
    codes = (await ada.post("/mfa/totp/confirm", {"code": code_at(secret, step)})).json()["codes"]
    page = await browser.open("sign-in", **FLOW)
    factor = await browser.submit(page, email=address, password=GOOD)
    assert "authenticator app" in factor.text
    refused = await browser.submit(factor, code="000000")
    assert refused.response.status_code == 401
    await redeemed(auth, await browser.submit(refused, code=codes[0]))


@pytest.mark.parametrize("factor", [True, False], ids=["with", "without"])
async def test_a_provider_sign_in_from_the_pages_asks_for_the_second_factor(
    auth, browser, clock, provider_browser, factor
):
    address = new_address()
    codes = (await with_totp(auth, clock, address))[3] if factor else []
    provider_browser.provider.claims = {"email": address, "email_verified": True}
    page = await browser.open("sign-in", **FLOW)
    to_provider = await auth.client.get(next(link for link in page.links if "/providers/ACME/start" in link))
    to_page = await provider_browser.come_back(to_provider)
    url = urlsplit(to_page.headers["location"])
    assert url.path == f"{browser.base}/continue"
    other_flow = f"{url.path}?{url.query.replace(CHALLENGE, 'x' * 43)}"
    assert (await auth.client.get(other_flow)).status_code == 401, "a grant belongs to one flow"
    response = await auth.client.get(f"{url.path}?{url.query}")
    if factor:
        assert response.status_code == 200
        response = await browser.submit(Page(response), code=codes[0])
    signed_in = await redeemed(auth, response)
    assert signed_in["customer"]["email"] == address
    assert (await auth.client.get(f"{url.path}?{url.query}")).status_code == 401, "a grant works once"


async def test_the_mfa_page_finishes_a_sign_in_that_began_with_the_api(auth, browser, clock):
    address = new_address()
    _, _, app, _ = await with_totp(auth, clock, address)
    token = (await auth.sign_in(address)).json()["mfaToken"]
    page = await browser.open("mfa", **FLOW, mfaToken=token)
    assert page.response.status_code == 200
    signed_in = await redeemed(auth, await browser.submit(page, code=app.code()))
    assert signed_in["customer"]["email"] == address
    evil = await browser.open("mfa", **{**FLOW, "redirectUrl": "https://evil.example"}, mfaToken=token)
    assert evil.response.status_code == 400


async def passkey_options(auth, page):
    """The WebAuthn options that the script of a page requests, with the page's form."""
    headers = {"content-type": "application/x-www-form-urlencoded", "user-agent": "Browser"}
    response = await auth.client.request("POST", page.options, content=urlencode(page.hidden()), headers=headers)
    assert response.status_code == 200, response.text
    return response.json()


async def with_passkey_of_page(auth, browser, address):
    """Sign in on the pages and add a passkey.

    Returns the authenticator, the page that adds a passkey, the fields that were submitted, and the response.
    """
    page = await browser.open("sign-in", **FLOW, then="passkey")
    passkey_page = await browser.submit(page, email=address, password=GOOD)
    assert "Add a passkey" in passkey_page.text
    challenge = await passkey_options(auth, passkey_page)
    device = SoftWebauthnDevice()
    credential = device.create(decoded({**challenge["options"], "attestation": "none"}), ORIGIN)
    fields = {
        "challengeId": challenge["challengeId"],
        "credential": json.dumps(answer_of(credential)),
        "name": "Laptop",
    }
    response = await browser.submit(passkey_page, f"{browser.base}/passkey/add", **fields)
    return device, passkey_page, fields, response


async def test_a_passkey_is_added_and_used_on_the_pages(auth, browser):
    address = new_address()
    sign_up = await auth.signed_up(address)
    device, _, _, added = await with_passkey_of_page(auth, browser, address)
    signed_in = await redeemed(auth, added)
    ada = auth.as_(signed_in["accessToken"])
    assert [passkey["name"] for passkey in (await ada.get("/passkeys")).json()] == ["Laptop"]
    page = await browser.open("sign-in", **FLOW)
    assert page.scripts == ["/assets/passkey.js"]
    challenge = await passkey_options(auth, page)
    answer = answer_of(device.get(decoded(challenge["options"]), ORIGIN))
    fields = {"challengeId": challenge["challengeId"], "credential": json.dumps(answer)}
    second = await redeemed(auth, await browser.submit(page, f"{browser.base}/passkey", **fields))
    assert second["customer"]["id"] == sign_up["customer"]["id"]
    reused = await browser.submit(page, f"{browser.base}/passkey", **fields)
    assert (reused.response.status_code, 'role="alert"' in reused.text) == (401, True)


async def test_a_passkey_response_is_bound_to_its_page_and_customer(auth, browser):
    address = new_address()
    await auth.signed_up(address)
    device, passkey_page, fields, added = await with_passkey_of_page(auth, browser, address)
    assert added.status_code == 303
    for path in ("add", "skip"):
        repeated = await browser.submit(passkey_page, f"{browser.base}/passkey/{path}", **fields)
        assert repeated.response.status_code == 401, "the page token was used"
    page = await browser.open("sign-in", **FLOW)
    challenge = await passkey_options(auth, page)
    answer = answer_of(device.get(decoded(challenge["options"]), "https://evil.example"))
    fields = {"challengeId": challenge["challengeId"], "credential": json.dumps(answer)}
    refused = await browser.submit(page, f"{browser.base}/passkey", **fields)
    assert refused.response.status_code == 401
    for nonsense in ("", "[]", "{", "null"):
        fields = {"challengeId": challenge["challengeId"], "credential": nonsense}
        assert (await browser.submit(page, f"{browser.base}/passkey", **fields)).response.status_code in (400, 401)
    forged = await browser.submit(passkey_page, f"{browser.base}/passkey/options", pageToken="0" * 64)
    assert forged.response.status_code == 401


async def test_an_ended_session_cannot_add_a_passkey_on_the_page(auth, browser, project):
    address = new_address()
    sign_up = await auth.signed_up(address)
    page = await browser.open("sign-in", **FLOW, then="passkey")
    passkey_page = await browser.submit(page, email=address, password=GOOD)
    await project.client.post(f"/customers/{sign_up['customer']['id']}/sessions/revoke-all")
    late = await browser.submit(passkey_page, f"{browser.base}/passkey/options")
    assert late.response.status_code == 401


async def test_without_javascript_the_page_continues_without_a_passkey(auth, browser):
    address = new_address()
    await auth.signed_up(address)
    page = await browser.open("sign-in", **FLOW, then="passkey")
    passkey_page = await browser.submit(page, email=address, password=GOOD)
    assert '<div id="passkeys" hidden>' in passkey_page.text
    assert "<noscript>" in passkey_page.text
    signed_in = await redeemed(auth, await browser.submit(passkey_page, f"{browser.base}/passkey/skip"))
    assert (await auth.as_(signed_in["accessToken"]).get("/passkeys")).json() == []


@pytest.mark.parametrize("sign_in_settings", [{"passkeyDomain": "acme.example"}, {"methods": ["PASSWORD"]}])
async def test_pages_offer_passkeys_only_if_domain_and_methods_allow_them(auth, browser, sign_in_settings):
    await auth.settings(**sign_in_settings)
    page = await browser.open("sign-in", **FLOW, then="passkey")
    assert not page.scripts
    assert "passkey" not in page.text
    address = new_address()
    await auth.signed_up(address)
    await redeemed(auth, await browser.submit(page, email=address, password=GOOD))


async def test_the_passkey_script_is_served_with_a_javascript_type(auth):
    script = await Client(auth.app).get("/assets/passkey.js")
    assert script.status_code == 200
    assert "javascript" in script.headers["content-type"]
    assert script.headers["x-content-type-options"] == "nosniff"


async def test_a_forgotten_password_is_reset(auth, browser):
    address = new_address()
    await auth.signed_up(address)
    known = await browser.submit(await browser.open("forgot"), email=address)
    unknown = await browser.submit(await browser.open("forgot"), email=new_address())
    assert known.text == unknown.text
    mail = (await auth.mails(address))[-1]
    path = urlsplit(re.search(r"http\S+", mail["text"])[0])
    page = Page(await auth.client.get(f"{path.path}?{path.query}"))
    common = await browser.submit(page, password="password1")
    assert common.response.status_code == 400
    changed = await browser.submit(common, password="an entirely different one")
    assert changed.response.status_code == 200
    assert (await auth.sign_in(address, "an entirely different one")).status_code == 200


async def test_the_reset_pages_link_back_to_sign_in(auth, browser):
    path = f"/projects/{auth.project.id}/auth/pages"
    sign_in_url = f"{path}/sign-in?{urlencode(FLOW)}"
    sign_in = await browser.submit(await browser.open("sign-in", **FLOW), email="ada@example.com")
    forgot = Page(await auth.client.get(next(link for link in sign_in.links if link.startswith(f"{path}/forgot"))))
    assert sign_in_url in forgot.links
    assert 'value="ada@example.com"' in forgot.text
    sent = await browser.submit(forgot, email=new_address())
    assert sign_in_url in sent.links
    assert (await browser.open("sign-in", **FLOW)).response.status_code == 200
    without_flow = await browser.open("forgot")
    assert not [link for link in without_flow.links if "lang=" not in link], "the URL of the sign-in page is unknown"


async def test_pages_are_accessible_and_have_a_strict_csp_and_the_project_colours(auth, browser):
    for name in ("sign-in", "sign-up", "forgot", "reset"):
        page = await browser.open(name, **FLOW)
        assert page.response.status_code == 200
        field_ids = {field["id"] for field in page.inputs if field.get("type") != "hidden"}
        assert field_ids == page.labels, "every field has a label"
        assert all(field.get("autocomplete") for field in page.inputs if field.get("type") != "hidden")
        policy = page.response.headers["content-security-policy"]
        assert policy.startswith("default-src 'none'; style-src 'self';")
        assert ("script-src 'self'; connect-src 'self';" in policy) == bool(page.scripts) == (name == "sign-in")
        assert "frame-ancestors 'none'" in policy
        assert "unsafe" not in policy
        assert page.response.headers["cache-control"] == "no-store"
        assert page.response.headers["content-type"] == "text/html; charset=utf-8"
        assert "Ada &amp; &quot;Sons&quot;" in page.text
    assert "form-action 'self' https://app.example.com;" in policy or name == "reset"
    style = await auth.client.get(f"{browser.base}/style.css")
    assert "--b-accent:#0a7d55;--b-on-accent:#ffffff" in style.text
    assert style.headers["content-type"].startswith("text/css")


async def test_pages_redirect_only_to_listed_redirect_urls(auth, browser):
    evil = {**FLOW, "redirectUrl": "https://evil.example/"}
    assert (await browser.open("sign-in", **evil)).response.status_code == 400
    page = await browser.open("sign-in", **FLOW)
    address = new_address()
    await auth.signed_up(address)
    forged = await browser.submit(page, email=address, password=GOOD, redirectUrl="https://evil.example/")
    assert forged.response.status_code == 400
    assert (await browser.open("sign-in", redirectUrl=REDIRECT_URL)).response.status_code == 400


async def test_errors_are_html_for_browsers_and_json_for_programs(auth, browser):
    evil = urlencode({**FLOW, "redirectUrl": "https://evil.example/"})
    invalid_callback = f"/projects/{auth.project.id}/auth/providers/callback?state={'0' * 64}&code=x"
    for path, status, message in (
        (f"{browser.base}/sign-in?{evil}", 400, "This link does not lead back to an app that is allowed here."),
        (invalid_callback, 400, "This sign-in has expired or is finished already."),
    ):
        json_response = await auth.client.get(path)
        assert (json_response.status_code, json_response.headers["content-type"]) == (
            status,
            "application/problem+json",
        )
        html_response = await auth.client.get(
            path, headers={"accept": "text/html,application/xhtml+xml;q=0.9,*/*;q=0.8"}
        )
        assert (html_response.status_code, html_response.headers["content-type"]) == (
            status,
            "text/html; charset=utf-8",
        )
        assert message in html_response.text
        assert html_response.headers["x-request-id"] in html_response.text
        assert html_response.headers["content-security-policy"].startswith("default-src 'none'")
    api = await auth.client.get("/me", headers={"accept": "text/html"})
    assert api.headers["content-type"] == "application/problem+json", (
        "operations of the API return JSON to browsers too"
    )


async def test_forms_from_another_site_are_rejected(auth, browser):
    page = await browser.open("sign-in", **FLOW)
    address = new_address()
    await auth.signed_up(address)
    body = {**page.hidden(), "email": address, "password": GOOD}
    for site, status in (("cross-site", 403), ("same-origin", 303)):
        response = await auth.client.request("POST", page.actions[0], data=body, headers={"sec-fetch-site": site})
        assert response.status_code == status


async def test_responses_with_tokens_or_personal_data_are_not_cached(auth, project):
    address = new_address()
    await auth.signed_up(address)
    signed_in = await auth.sign_in(address)
    ada = auth.as_(signed_in.json()["accessToken"])
    renewed = await auth.post("/token/refresh", {"refreshToken": signed_in.json()["refreshToken"]})
    for response in (signed_in, renewed, await ada.get("/me"), await project.client.get("/customers/export")):
        assert response.status_code == 200
        assert response.headers["cache-control"] == "no-store"
    jwks = await auth.client.get(f"/projects/{project.id}/.well-known/jwks.json")
    assert jwks.headers["cache-control"] == "public, max-age=300", "public keys may be cached"


async def test_allowed_origins_are_normalized_as_browsers_send_them(auth):
    await auth.settings(allowedOrigins=["https://App.Example.com:443", "http://localhost:80", "http://localhost:3000"])
    for origin in ("https://app.example.com", "http://localhost", "http://localhost:3000"):
        response = await auth.client.post("/sign-in", {"email": "a", "password": "b"}, headers={"origin": origin})
        assert response.headers["access-control-allow-origin"] == origin


REDIRECTS = {
    **dict.fromkeys(
        ("https://app.example.com/back?a=1", "acme://back", "com.acme.app:/back", "http://[::1]:3000/"), 200
    ),
    **dict.fromkeys(("javascript:alert(1)", "javascript:/alert(1)", "data:text/html,x", "file:///etc/passwd"), 400),
    **dict.fromkeys(
        ("javascript://x/%0aalert(1)", "data://text/html,x", "vbscript://x", "blob://x", "mailto://x"), 400
    ),
    **dict.fromkeys(("http://app.example.com/back", "http://192.168.1.5/", "view-source://x", "ftp://a.example/"), 400),
    **dict.fromkeys(("http://localhost:3000/back", "http://127.0.0.1/", "http://app.localhost/"), 200),
    **dict.fromkeys(("//evil.example", "https://a.example/#x", "https://a.example\\@b.example", "/back"), 400),
}


@pytest.mark.parametrize(("url", "status"), REDIRECTS.items())
async def test_redirect_urls_accept_only_https_loopback_and_app_schemes(project, url, status):
    """Https URLs, http URLs on loopback, and schemes of apps.

    Regression test of S13 (tests/defects.md).
    """
    changed = await project.developer.patch("", {"settings": {"signIn": {"redirectUrls": [url]}}})
    assert changed.status_code == status


async def test_submitted_values_are_escaped_in_pages(browser):
    page = await browser.open("sign-in", **{**FLOW, "state": '"><script>alert(1)</script>'})
    assert "<script>" not in page.text
    refused = await browser.submit(page, email='"><img src=x>', password="x")
    assert "<img src=x>" not in refused.text


async def test_cors_allows_only_listed_origins(auth, project):
    await auth.settings(allowedOrigins=["https://app.example.com"])
    path = f"/projects/{project.id}/auth/sign-in"
    preflight = {"access-control-request-method": "POST", "access-control-request-headers": "content-type"}
    listed = await auth.client.request("OPTIONS", path, headers={"origin": "https://app.example.com", **preflight})
    assert listed.status_code == 204
    assert listed.headers["access-control-allow-origin"] == "https://app.example.com"
    assert "content-type" in listed.headers["access-control-allow-headers"]
    unlisted = await auth.client.request("OPTIONS", path, headers={"origin": "https://evil.example", **preflight})
    assert "access-control-allow-origin" not in unlisted.headers
    body = {"email": new_address(), "password": GOOD}
    for origin, allowed in (("https://app.example.com", True), ("https://evil.example", False), ("null", False)):
        response = await auth.client.post(path, body, headers={"origin": origin})
        assert response.status_code == 401
        assert ("access-control-allow-origin" in response.headers) is allowed
        assert "access-control-allow-credentials" not in response.headers
        assert "Origin" in response.headers["vary"]
    not_for_customers = await project.client.get("/customers", headers={"origin": "https://app.example.com"})
    assert "access-control-allow-origin" not in not_for_customers.headers


async def test_pages_show_the_app_name_and_plain_messages(auth, browser):
    """Regression test of I12 (tests/defects.md)."""
    await auth.settings(redirectUrls=["https://app.example.com/back"], appName="Acme")
    style = await auth.get("/pages/style.css")
    assert "prefers-color-scheme:dark" in style.text
    address = new_address()
    await auth.signed_up(address)
    forgot = await auth.get("/pages/forgot")
    assert "<span>Acme</span>" in forgot.text
    await auth.post("/password/forgot", {"email": address})
    token = await auth.link_token(address)
    assert 'name="password"' in (await auth.get(f"/pages/reset?token={token}")).text
    changed = await auth.client.request(
        "POST", "/pages/reset", data={"token": token, "password": "another password here"}
    )
    assert changed.status_code == 200
    assert 'class="button"' in changed.text, "a button leads on to the app"
    used_link = await auth.get(f"/pages/reset?token={token}")
    assert "already used or has expired" in used_link.text
    assert 'name="password"' not in used_link.text
    assert "Send a new link" in used_link.text
    assert "ends all sessions" in used_link.text
    assert any(link.endswith("/auth/pages/account") for link in Page(used_link).links)
    incomplete = await auth.client.get("/pages/sign-in", headers={"accept": "text/html"})
    assert "RFC" not in incomplete.text


async def test_the_code_page_can_send_a_new_code(auth, browser):
    """Regression test of I12 (tests/defects.md)."""
    await auth.settings(redirectUrls=["https://app.example.com/back"])
    address = new_address()
    await auth.signed_up(address)
    query = {"redirectUrl": "https://app.example.com/back", "codeChallenge": "E" * 43, "state": ""}
    code_page = await auth.client.request("POST", "/pages/code", data={**query, "email": address})
    assert "Send a new code" in code_page.text
    resent = await auth.client.request("POST", "/pages/code", data={**query, "email": address, "resent": "1"})
    assert "We sent a new code" in resent.text
    wrong = await auth.client.request(
        "POST", "/pages/sign-in", data={**query, "email": address, "password": "wrong password"}
    )
    assert "Wrong email or password." in wrong.text
    for _ in range(10):
        wrong = await auth.client.request(
            "POST", "/pages/sign-in", data={**query, "email": address, "password": "wrong password"}
        )
    assert "Try again in 15 minutes." in wrong.text


async def test_the_sign_up_page_can_send_a_new_code(auth, browser):
    """Regression test of I12 (tests/defects.md)."""
    address = new_address()
    page = await browser.submit(await browser.open("sign-up", **FLOW), email=address, password=GOOD, name="Ada")
    first = await auth.code(address)
    resend = f"{browser.base}/sign-up/resend"
    assert resend in page.actions
    resent = await browser.submit(page, resend)
    assert "We sent a new code" in resent.text
    assert resent.hidden()["challengeId"] != page.hidden()["challengeId"]
    assert "password" not in resent.text.lower(), "pages do not pass the password on"
    assert len([mail for mail in await auth.mails(address) if "sign-up code" in mail["subject"]]) == 2
    sign_up = await redeemed(auth, await browser.submit(resent, code=await auth.code(address)))
    assert sign_up["customer"]["name"] == "Ada"
    assert (await auth.sign_in(address)).status_code == 200, "the account has the password of the first form"
    late = await browser.submit(page, code=first)
    assert late.response.status_code == 401, "the address has an account now"


async def test_resent_sign_up_codes_count_toward_the_same_limits(auth, new_project, clock):
    """Regression test of I12 (tests/defects.md)."""
    address = new_address()
    challenge = (await auth.post("/sign-up", {"email": address, "password": GOOD})).json()
    body = {"challengeId": challenge["challengeId"]}
    statuses = [(await auth.post("/sign-up/resend", body)).status_code for _ in range(10)]
    assert statuses == [200] * 9 + [429], (
        "ten sign-up mails to one address for one network in half an hour, including the first"
    )
    other_project = await new_project()
    foreign = await auth.client.post(f"/projects/{other_project.id}/auth/sign-up/resend", body)
    assert (foreign.status_code, foreign.json()["code"]) == (401, "code_invalid")
    for wrong in ("nonsense", "01990000-0000-7000-8000-000000000000"):
        assert (await auth.post("/sign-up/resend", {"challengeId": wrong})).status_code == 401
    other = (await auth.post("/sign-up", {"email": new_address(), "password": GOOD})).json()
    clock.move(timedelta(minutes=10, seconds=1))
    late = await auth.post("/sign-up/resend", {"challengeId": other["challengeId"]})
    assert late.status_code == 401


async def test_resending_a_code_does_not_reveal_accounts(auth):
    """Regression test of I12 (tests/defects.md)."""
    known, unknown = new_address(), new_address()
    await auth.signed_up(known)
    for address in (known, unknown):
        challenge = (await auth.post("/sign-up", {"email": address, "password": GOOD})).json()
        resent = await auth.post("/sign-up/resend", {"challengeId": challenge["challengeId"]})
        assert (resent.status_code, sorted(resent.json())) == (200, ["challengeId", "expiresAt"])
    assert "already have an account" in (await auth.mails(known))[-1]["subject"]
    assert "sign-up code" in (await auth.mails(unknown))[-1]["subject"]
    await auth.settings(signUp=False)
    closed = await auth.post("/sign-up/resend", {"challengeId": challenge["challengeId"]})
    assert (closed.status_code, closed.json()["code"]) == (403, "sign_up_closed")


@pytest.mark.parametrize("key", ["GITHUB", "GOOGLE", "ACME_DIRECTORY"])
async def test_pages_show_providers_by_their_own_names(auth, browser, key):
    """Regression test of I12 (tests/defects.md)."""
    kind = "OIDC" if key == "ACME_DIRECTORY" else key
    await put(auth, key, "https://login.example", kind=kind)
    name = {"GITHUB": "GitHub", "GOOGLE": "Google", "ACME_DIRECTORY": "Acme Directory"}[key]
    for path in ("sign-in", "sign-up"):
        assert f"Continue with {name}<" in (await browser.open(path, **FLOW)).text


async def test_the_code_button_is_primary_without_passwords(auth, browser):
    """Regression test of I12 (tests/defects.md)."""
    await auth.settings(methods=["EMAIL_CODE"])
    page = await browser.open("sign-in", **FLOW)
    assert "<button>Mail me a code</button>" in page.text
    assert page.actions[0].endswith("/auth/pages/code")
    await auth.settings(methods=["PASSWORD", "EMAIL_CODE"])
    page = await browser.submit(await browser.open("sign-in", **FLOW), email="ada@example.com")
    assert re.search(r'<button class="second" [^>]*>Mail me a code instead</button>', page.text)


PASSKEY_PAGE = """
<!doctype html><meta charset="utf-8">
<div id="passkeys" hidden><form id="passkey" data-options="/options" method="post"
{messages}><button></button>
<input name="challengeId"><input name="credential"><p id="passkey-status"></p></form></div>
<script>
window.PublicKeyCredential ||= class {{}};
const options = {{ challenge: "AAAA", user: {{ id: "AAAA" }}, excludeCredentials: [{{ id: "AAAA" }}] }};
const answer = {{ challengeId: "1", options, code: "too_many_requests" }};
window.fetch = async () => ({{ ok: {ok}, json: async () => answer }});
const refuse = async () => {{ throw new DOMException("The user attempted to register an authenticator", "{error}"); }};
Object.defineProperty(navigator, "credentials", {{ value: {{ create: refuse, get: refuse }} }});
</script>
<script>{script}</script>
<script>document.querySelector("button").click();</script>
"""


@pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed: apt-get install chromium")
@pytest.mark.parametrize(
    ("error", "options_ok", "message"),
    [
        ("InvalidStateError", True, "This device has a passkey for your account already. You can use that one."),
        ("NotAllowedError", True, "That was cancelled, or there is no passkey here."),
        ("UnknownError", True, "That did not work. Try again, or go on without a passkey."),
        ("UnknownError", False, "Too many attempts. Try again later."),
    ],
)
async def test_passkey_errors_of_the_browser_have_plain_messages(tmp_path, error, options_ok, message):
    """The browser raises `error`, or the request for options fails.

    Regression test of I12 (tests/defects.md).
    """
    script = (Path(postern.app.__file__).parent / "web" / "assets" / "passkey.js").read_text()
    page = tmp_path / "page.html"
    messages = TEMPLATES.render_template("hosted/passkey-messages.html", _=translator("en"))
    page.write_text(PASSKEY_PAGE.format(error=error, ok=str(options_ok).lower(), script=script, messages=messages))
    document = await chromium("--dump-dom", "--virtual-time-budget=3000", f"file://{page}")
    assert f'id="passkey-status">{message}<' in document, document


async def test_the_field_that_cannot_be_read_is_marked(browser):
    page = await browser.open("sign-up", **FLOW)
    marked = re.compile(r'<input(?=[^>]*aria-invalid="true")[^>]*name="(\w+)"')
    for fields, name in (
        ({"email": "ada@example.com", "password": "short"}, "password"),
        ({"email": "x", "password": "a long enough sentence"}, "email"),
    ):
        refused = await browser.submit(page, **fields)
        assert refused.response.status_code == 400
        assert marked.findall(refused.text) == [name]
