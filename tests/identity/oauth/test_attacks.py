"""The attacks of RFC 9700 (OAuth 2.0 Security Best Current Practice) on the OpenID provider, and their results.

docs/security/openid.md lists the tests of this file by section.
"""

import re
from datetime import timedelta
from urllib.parse import urlencode, urlsplit

import jwt

from postern.identity.oauth import authorization
from postern.kernel.limits import RateLimit
from tests.identity.customers.conftest import GOOD
from tests.identity.oauth.conftest import CHALLENGE, FORM, REDIRECT_URI, VERIFIER, parameters_of
from tests.tokens import with_another_end

OTHER_REDIRECT_URIS = [
    "https://evil.example/callback",
    "https://reports.example.com/callback/",
    "https://reports.example.com/callback?next=https://evil.example",
    "https://reports.example.com/callback/../evil",
    "https://reports.example.com/Callback",
    "HTTPS://reports.example.com/callback",
    "https://reports.example.com:443/callback",
    "https://reports.example.com.evil.example/callback",
    "https://evil.example@reports.example.com/callback",
    "https://reports.example.com@evil.example/callback",
    "https://reports.example.com/callback#fragment",
    "https://reports.example.com/callback%2f..",
    "https://reports.example.com\\@evil.example/callback",
    "https://reports.example.com/callback\x00",
    " https://reports.example.com/callback",
    "http://reports.example.com/callback",
    "http://127.0.0.1/callback",
    "//reports.example.com/callback",
    "/callback",
    "javascript:alert(1)",
    "data:text/html,x",
    "https://xn--rports-gva.example.com/callback",
    "x" * 5_000,
]


async def test_redirect_uris_are_compared_exactly(first_party, monkeypatch):
    """RFC 9700 §2.1, §4.1.3; also no open redirector (§4.11)."""
    monkeypatch.setattr(authorization, "AUTHORIZE_RATE", RateLimit("oauth-authorize", 1_000, timedelta(seconds=10)))
    browser = first_party.browser()
    await browser.signed_in()
    for uri in [*OTHER_REDIRECT_URIS, None, ""]:
        for fields in ({}, {"prompt": "none"}, {"response_type": "token"}, {"response_mode": "form_post"}):
            response = await browser.authorize(redirect_uri=uri, **fields)
            assert response.status_code == 400, uri
            assert "location" not in response.headers, uri
            assert "evil.example" not in response.text, uri
    for client_id in (None, "", "unknown", "00000000-0000-0000-0000-000000000000", "\x00"):
        response = await browser.authorize(client_id=client_id)
        assert response.status_code == 400, client_id
        assert "location" not in response.headers
    query = urlencode(first_party.request())
    for repeated in ("redirect_uri=https://evil.example", "state=other", f"client_id={first_party.oauth_client['id']}"):
        response = await browser.open(f"{first_party.base}/authorize?{query}&{repeated}")
        assert response.status_code == 400


async def test_a_client_of_another_project_is_unknown(first_party, new_project):
    browser = first_party.browser()
    code = parameters_of(await browser.signed_in())["code"]
    foreign = await new_project()
    query = urlencode(first_party.request())
    shown = await browser.open(f"/projects/{foreign.id}/oauth/authorize?{query}")
    assert shown.status_code == 400
    form = {
        "grant_type": "authorization_code",
        "client_id": first_party.oauth_client["clientId"],
        "client_secret": first_party.oauth_client["clientSecret"],
        "code": code,
        "redirect_uri": REDIRECT_URI,
        "code_verifier": VERIFIER,
    }
    refused = await browser.client.request(
        "POST", f"/projects/{foreign.id}/oauth/token", content=urlencode(form), headers=FORM
    )
    assert refused.status_code == 401
    tokens = (await first_party.exchange(code)).json()
    headers = {"authorization": f"Bearer {tokens['access_token']}"}
    assert (await browser.client.get(f"/projects/{foreign.id}/oauth/userinfo", headers=headers)).status_code == 401
    path = f"/projects/{foreign.id}/oauth-clients/{first_party.oauth_client['id']}"
    assert (await foreign.developer.get(path)).status_code == 404
    assert (await first_party.project.developer.get(path)).status_code == 404


async def test_codes_cannot_be_injected(first_party):
    """RFC 9700 §4.5: a code works only for its client, with the verifier of the browser's request and its URI."""
    attacker = await first_party.register(firstParty=True, redirectUris=[REDIRECT_URI])
    victim = await first_party.register(firstParty=True, redirectUris=[REDIRECT_URI, f"{REDIRECT_URI}2"])
    browser = first_party.browser()
    await browser.signed_in()

    async def code():
        return parameters_of(await browser.authorize())["code"]

    cases = [
        ({"client": attacker}, "another client"),
        ({"code_verifier": "x" * 43}, "another request"),
        ({"code_verifier": CHALLENGE}, "the challenge instead of the verifier"),
        ({"code_verifier": "short"}, "too short"),
        ({"redirect_uri": f"{REDIRECT_URI}2"}, "another redirect URI"),
    ]
    for fields, reason in cases:
        issued = await code()
        refused = await first_party.exchange(issued, **{"client": victim, **fields})
        assert (refused.status_code, refused.json()["error"]) == (400, "invalid_grant"), reason
        assert (await first_party.exchange(issued, victim)).status_code == 200, "the code was not used up"
    for name in ("code_verifier", "redirect_uri", "code"):
        refused = await first_party.send(
            "token",
            victim,
            grant_type="authorization_code",
            **{"code": await code(), "redirect_uri": REDIRECT_URI, "code_verifier": VERIFIER, name: None},
        )
        error = "invalid_grant" if name == "code_verifier" else "invalid_request"
        assert refused.json()["error"] == error, "PKCE cannot be left out (§4.8)"
    for invented in ("", "x", "0" * 64, "\x00", with_another_end(await code())):
        assert (await first_party.exchange(invented)).status_code == 400


async def test_a_replayed_code_revokes_the_tokens(first_party):
    """RFC 6749 §4.1.2, RFC 9700 §4.5: a second use shows that the code was stolen."""
    browser = first_party.browser()
    code = parameters_of(await browser.signed_in())["code"]
    tokens = (await first_party.exchange(code)).json()
    other = await first_party.register(firstParty=True)
    assert (await first_party.exchange(code, other)).status_code == 400
    assert (await first_party.userinfo(tokens["access_token"])).status_code == 200, "not by other clients"
    (client,) = [
        row for row in (await first_party.project.developer.get("/oauth-clients")).json() if row["id"] != other["id"]
    ]
    rotated = (await first_party.project.developer.post(f"/oauth-clients/{client['id']}/rotate-secret")).json()
    assert (await first_party.exchange(code, rotated)).json()["error"] == "invalid_grant"
    assert (await first_party.refresh(tokens["refresh_token"], rotated)).json()["error"] == "invalid_grant"
    assert (await first_party.userinfo(tokens["access_token"])).status_code == 401


async def test_pkce_cannot_be_downgraded(first_party):
    """RFC 9700 §2.1.1, §4.8: no `plain`, and no request without a challenge."""
    browser = first_party.browser()
    await browser.signed_in()
    for fields in (
        {"code_challenge": None, "code_challenge_method": None},
        {"code_challenge_method": "plain"},
        {"code_challenge_method": None},
        {"code_challenge_method": "s256"},
    ):
        assert parameters_of(await browser.authorize(**fields))["error"] == "invalid_request", fields


async def test_responses_name_the_issuer(provider):
    """RFC 9700 §4.4, RFC 9207: a client that uses several providers notices a mix-up, also in errors."""
    browser = provider.browser()
    refused = parameters_of(await browser.authorize(prompt="none"))
    assert refused["iss"] == provider.issuer
    denied = parameters_of(await browser.submit(await browser.signed_in(), decision="deny"))
    assert (denied["error"], denied["iss"]) == ("access_denied", provider.issuer)


async def test_tokens_of_clients_and_of_sessions_are_not_interchangeable(first_party):
    """RFC 9700 §2.3, RFC 9068 §5: one kind of token is not accepted in place of another."""
    browser = first_party.browser()
    tokens = (await first_party.exchange(parameters_of(await browser.signed_in())["code"])).json()
    session = (await first_party.auth.sign_in(browser.address)).json()
    for token in (tokens["access_token"], tokens["id_token"], tokens["refresh_token"]):
        me = await first_party.auth.as_(token).get("/me")
        assert me.status_code == 401
        refreshed = await first_party.auth.post("/token/refresh", {"refreshToken": token})
        assert refreshed.status_code in (400, 401)
    for token in (session["accessToken"], session["refreshToken"]):
        assert (await first_party.userinfo(token)).status_code == 401
        assert await first_party.introspect(token) == {"active": False}
        assert (await first_party.refresh(token)).json()["error"] == "invalid_grant"
    assert (await first_party.auth.as_(session["accessToken"]).get("/me")).status_code == 200
    revoked = await first_party.send("revoke", token=session["accessToken"])
    assert revoked.status_code == 200
    assert (await first_party.auth.as_(session["accessToken"]).get("/me")).status_code == 200
    # A forged `alg`, and a key that is not the project's.
    claims = jwt.decode(tokens["access_token"], options={"verify_signature": False})
    header = jwt.get_unverified_header(tokens["access_token"])
    forged = [
        jwt.encode(claims, None, algorithm="none", headers=header | {"alg": "none"}),
        jwt.encode(claims, "k" * 64, algorithm="HS256", headers=header | {"alg": "HS256"}),
    ]
    for token in forged:
        assert (await first_party.userinfo(token)).status_code == 401
    grant = claims["jti"].partition(".")[0]
    assert (await first_party.exchange(grant.replace("-", "") + "x" * 32)).status_code == 400


async def test_a_stolen_refresh_token_ends_the_sign_in(first_party, clock):
    """RFC 9700 §4.14.2: whoever uses an old token second, thief or client, ends all tokens of the sign-in."""
    browser = first_party.browser()
    tokens = (await first_party.exchange(parameters_of(await browser.signed_in())["code"])).json()
    thief = (await first_party.refresh(tokens["refresh_token"])).json()
    clock.move(timedelta(minutes=1))
    thief = (await first_party.refresh(thief["refresh_token"])).json()
    clock.move(timedelta(minutes=1))
    assert (await first_party.refresh(tokens["refresh_token"])).json()["error"] == "invalid_grant"
    assert (await first_party.refresh(thief["refresh_token"])).json()["error"] == "invalid_grant"
    assert (await first_party.userinfo(thief["access_token"])).status_code == 401


async def test_another_client_cannot_use_a_refresh_token(first_party):
    """RFC 9700 §4.14: refresh tokens are bound to their client."""
    browser = first_party.browser()
    tokens = (await first_party.exchange(parameters_of(await browser.signed_in())["code"])).json()
    client = first_party.oauth_client
    for other in (await first_party.register(firstParty=True), await first_party.register(type="PUBLIC")):
        assert (await first_party.refresh(tokens["refresh_token"], other)).json()["error"] == "invalid_grant"
    assert (await first_party.refresh(tokens["refresh_token"], client)).status_code == 200


async def test_other_sites_cannot_submit_the_consent_page(provider):
    """RFC 9700 §4.7: cross-site request forgery."""
    browser = provider.browser()
    consent = await browser.signed_in()
    hidden = dict(re.findall(r'type="hidden" name="(\w+)" value="([^"]*)"', consent.text))
    body = urlencode({**hidden, "decision": "allow"})
    path = f"{provider.base}/consent"
    for headers in (
        {"origin": "https://evil.example"},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
        {"origin": "null"},
    ):
        forged = await browser.client.request("POST", path, content=body, headers={**FORM, **headers})
        assert forged.status_code == 403, headers
    for fields in ({}, {"token": "x"}, {"token": with_another_end(hidden["token"]), "decision": "allow"}):
        assert (await browser.client.request("POST", path, content=urlencode(fields), headers=FORM)).status_code == 400
    stranger = provider.browser()
    assert (await stranger.client.request("POST", path, content=body, headers=FORM)).status_code == 400
    assert "code" in parameters_of(await browser.submit(consent, decision="allow"))


async def test_a_victim_cannot_be_signed_in_as_the_attacker(provider):
    """RFC 9700 §4.7, OpenID Connect Core §3.1.2.1: login CSRF with a code of the attacker's sign-in."""
    attacker, victim = provider.browser(), provider.browser()
    await provider.auth.signed_up(attacker.address)
    page = await attacker.open((await attacker.authorize()).headers["location"])
    returned = await attacker.submit(page, email=attacker.address, password=GOOD)
    link = returned.headers["location"]
    refused = await victim.open(link)
    assert refused.status_code == 400
    assert "another browser" in refused.text
    assert "set-cookie" not in refused.headers
    token = dict(part.split("=") for part in urlsplit(link).query.split("&"))["state"]
    assert (await victim.open(f"{provider.base}/resume?token={token}")).status_code == 400
    assert (await attacker.finish(returned)).status_code == 200


async def test_the_code_of_a_hosted_page_of_an_app_does_not_sign_in_at_the_provider(provider):
    """A code of a sign-in that another app began has another code challenge."""
    await provider.auth.settings(redirectUrls=["https://app.example.com/in"])
    browser = provider.browser()
    await provider.auth.signed_up(browser.address)
    flow = urlencode({"redirectUrl": "https://app.example.com/in", "codeChallenge": CHALLENGE})
    page = await browser.open(f"/projects/{provider.project.id}/auth/pages/sign-in?{flow}")
    returned = await browser.submit(page, email=browser.address, password=GOOD)
    code = dict(part.split("=") for part in urlsplit(returned.headers["location"]).query.split("&"))["code"]
    started = await browser.authorize()
    token = dict(part.split("=") for part in urlsplit(started.headers["location"]).query.split("&"))["state"]
    refused = await browser.open(f"{provider.base}/continue?{urlencode({'state': token, 'code': code})}")
    assert refused.status_code == 400
    assert "set-cookie" not in refused.headers


async def test_a_project_without_clients_has_no_provider_to_return_to(provider):
    flow = urlencode({"redirectUrl": f"{provider.issuer}/oauth/continue", "codeChallenge": CHALLENGE, "state": "x"})
    page = f"/projects/{provider.project.id}/auth/pages/sign-in?{flow}"
    assert (await provider.browser().open(page)).status_code == 200
    await provider.project.developer.delete(f"/oauth-clients/{provider.oauth_client['id']}")
    assert (await provider.browser().open(page)).status_code == 400


async def test_cookies_cannot_be_forged_or_used_elsewhere(first_party, new_project, app):
    browser = first_party.browser()
    await browser.signed_in()
    jar = browser.client.http.cookies
    (cookie,) = [cookie for cookie in jar.jar if cookie.name.startswith("postern-oauth-")]
    assert cookie.has_nonstandard_attr("HttpOnly")
    assert cookie.get_nonstandard_attr("SameSite") == "Lax"
    value = cookie.value
    for forged in (with_another_end(value), f"{'0' * 32}.{value.partition('.')[2]}", "x", ""):
        jar.set(cookie.name, forged, domain=cookie.domain, path=cookie.path)
        assert parameters_of(await browser.authorize(prompt="none"))["error"] == "login_required"
    jar.set(cookie.name, value, domain=cookie.domain, path=cookie.path)
    assert "code" in parameters_of(await browser.authorize(prompt="none"))
    me = await first_party.auth.client.get("/me", headers={"authorization": f"Bearer {value}"})
    assert me.status_code == 401


async def test_pages_cannot_be_framed(provider):
    """RFC 9700 §4.16: clickjacking."""
    browser = provider.browser()
    consent = await browser.signed_in()
    error = await browser.authorize(client_id="unknown")
    logout = await browser.open(f"{provider.base}/logout")
    for page in (consent, error, logout):
        assert "frame-ancestors 'none'" in page.headers["content-security-policy"]
        assert page.headers["x-frame-options"] == "DENY"
        assert page.headers["cache-control"] == "no-store"


async def test_codes_and_tokens_do_not_leak_by_referer(first_party):
    """RFC 9700 §4.2: redirects and pages pass on no URL with a code."""
    browser = first_party.browser()
    await first_party.auth.signed_up(browser.address)
    started = await browser.authorize()
    page = await browser.open(started.headers["location"])
    returned = await browser.submit(page, email=browser.address, password=GOOD)
    interim = await browser.open(returned.headers["location"])
    assert interim.headers["referrer-policy"] == "same-origin"
    response = await browser.authorize()
    assert response.headers["referrer-policy"] == "no-referrer"
    assert response.headers["cache-control"] == "no-store"
    assert response.status_code == 302, "not 307, which would repeat a form with a password (§4.12)"


async def test_html_in_names_is_escaped(provider):
    await provider.register(name="<img src=x onerror=alert(1)>", websiteUrl="https://reports.example.com/?a&b")
    browser = provider.browser()
    consent = await browser.signed_in()
    assert "<img src=x" not in consent.text
    assert "&lt;img src" in consent.text


async def test_a_customer_who_was_switched_does_not_consent_for_another(provider, clock):
    """The account on the page is the one that consents, also if another tab has signed in somebody else meanwhile."""
    browser = provider.browser()
    consent = await browser.signed_in()
    first = browser.address
    browser.address = f"second-{first}"
    await provider.auth.signed_up(browser.address)
    clock.move(timedelta(seconds=1))
    await browser.sign_in(await browser.authorize(prompt="login"))
    again = await browser.submit(consent, decision="allow")
    resumed = await browser.open(again.headers["location"])
    assert "Allow Northwind Reports?" in resumed.text
    assert browser.address in resumed.text
