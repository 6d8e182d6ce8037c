"""Authorization requests of the OpenID provider, as OpenID Connect Core and the conformance plans describe them."""

import html
import re
from datetime import timedelta
from urllib.parse import urlencode, urlsplit

import jwt
import pytest

from postern.identity.oauth.model import REQUEST_LIFE
from tests.identity.customers.conftest import GOOD, new_address
from tests.identity.customers.test_second_factor import with_totp
from tests.identity.oauth.conftest import FORM, REDIRECT_URI, parameters_of


async def test_a_customer_signs_in_and_consents(provider, clock):
    await provider.register(scopes=["openid", "email", "profile", "phone", "offline_access"])
    browser = provider.browser()
    consent = await browser.signed_in()
    assert consent.status_code == 200
    assert "Northwind Reports" in consent.text
    assert "See your e-mail address" in consent.text
    assert browser.address in consent.text
    assert "is not part of" in consent.text
    allowed = await browser.submit(consent, decision="allow")
    response = parameters_of(allowed)
    assert response["state"] == "client-state"
    assert response["iss"] == provider.issuer
    exchanged = await provider.exchange(response["code"])
    assert exchanged.status_code == 200, exchanged.text
    assert exchanged.headers["cache-control"] == "no-store"
    tokens = exchanged.json()
    assert tokens["token_type"] == "Bearer"
    assert tokens["scope"] == "openid email profile offline_access"
    claims = await provider.verified(tokens["id_token"], provider.oauth_client["clientId"])
    assert claims["nonce"] == "client-nonce"
    assert claims["email"] == browser.address
    assert claims["email_verified"] is True
    assert claims["acr"] == "urn:postern:single-factor"
    assert claims["amr"] == ["pwd"]
    assert claims["auth_time"] == int(clock().timestamp())
    access = await provider.verified(tokens["access_token"], provider.issuer)
    assert access["client_id"] == provider.oauth_client["clientId"]
    assert access["sub"] == claims["sub"]
    assert jwt.get_unverified_header(tokens["access_token"])["typ"] == "at+jwt"
    userinfo = await provider.userinfo(tokens["access_token"])
    assert userinfo.status_code == 200
    assert userinfo.json()["sub"] == claims["sub"]
    assert userinfo.json()["email"] == browser.address
    # The next time, the browser is signed in and the consent is remembered.
    again = parameters_of(await browser.authorize(prompt="none", state="second"))
    assert again["state"] == "second"
    assert "code" in again
    more = await browser.authorize(scope="openid email profile phone")
    assert "See your phone number" in more.text, "more scopes than were allowed are asked for"
    denied = parameters_of(await browser.submit(more, decision="deny"))
    assert denied["error"] == "access_denied"
    assert "code" not in denied


async def test_prompt_and_max_age(first_party, clock):
    browser = first_party.browser()
    refused = parameters_of(await browser.authorize(prompt="none"))
    assert (refused["error"], refused["state"]) == ("login_required", "client-state")
    first = parameters_of(await browser.signed_in())
    id_token = (await first_party.exchange(first["code"])).json()["id_token"]
    began = (await first_party.verified(id_token, first_party.oauth_client["clientId"]))["auth_time"]

    async def auth_time(response):
        tokens = (await first_party.exchange(parameters_of(response)["code"])).json()
        return (await first_party.verified(tokens["id_token"], first_party.oauth_client["clientId"]))["auth_time"]

    clock.move(timedelta(seconds=100))
    assert await auth_time(await browser.authorize()) == began
    assert await auth_time(await browser.authorize(max_age="10000")) == began
    assert await auth_time(await browser.authorize(prompt="none", id_token_hint=id_token)) == began
    for request in ({"prompt": "login"}, {"max_age": "15"}, {"max_age": "0"}, {"prompt": "select_account"}):
        clock.move(timedelta(seconds=20))
        stale = {**request, "prompt": "none"} if "max_age" in request else None
        if stale:
            assert parameters_of(await browser.authorize(**stale))["error"] == "login_required"
        response = await browser.authorize(**request)
        assert urlsplit(response.headers["location"]).path.endswith("/auth/pages/sign-in"), request
        assert await auth_time(await browser.sign_in(response)) == int(clock().timestamp())
    asked = await browser.authorize(prompt="consent")
    assert "is part of" in asked.text, "prompt=consent asks also for a client of the project"
    await auth_time(await browser.submit(asked, decision="allow"))
    clock.move(timedelta(seconds=1))
    sign_up = await browser.authorize(prompt="create")
    assert urlsplit(sign_up.headers["location"]).path.endswith("/auth/pages/sign-up")


async def test_prompt_login_cannot_be_skipped_with_the_old_session(provider, clock):
    browser = provider.browser()
    await browser.submit(await browser.signed_in(), decision="allow")
    clock.move(timedelta(seconds=5))
    consent = await browser.authorize(prompt="consent")
    await browser.submit(consent, decision="allow")
    response = await browser.authorize(prompt="login")
    token = dict(part.split("=") for part in urlsplit(response.headers["location"]).query.split("&"))["state"]
    resumed = await browser.open(f"{provider.base}/resume?token={token}")
    assert "/auth/pages/sign-in" in resumed.headers["location"]
    session = re.search(r'name="session" value="([^"]+)"', consent.text)[1]
    body = urlencode({"token": token, "session": session, "decision": "allow"})
    forced = await browser.client.request("POST", f"{provider.base}/consent", content=body, headers=FORM)
    assert forced.headers["location"].endswith(f"/oauth/resume?token={token}")


async def test_another_customer_than_that_of_the_hint_is_not_returned(first_party):
    browser, other = first_party.browser(), first_party.browser()
    hint = (await first_party.exchange(parameters_of(await browser.signed_in())["code"])).json()["id_token"]
    await other.signed_in()
    assert parameters_of(await other.authorize(prompt="none", id_token_hint=hint))["error"] == "login_required"
    returned = await other.sign_in(await other.authorize(id_token_hint=hint))
    assert parameters_of(returned)["error"] == "login_required"
    wrong = parameters_of(await browser.authorize(id_token_hint="eyJ.e30.x"))
    assert wrong["error"] == "invalid_request"


REDIRECTED_ERRORS = [
    ({"response_type": None}, "invalid_request"),
    ({"response_type": "token"}, "unsupported_response_type"),
    ({"response_type": "code id_token"}, "unsupported_response_type"),
    ({"response_mode": "fragment"}, "invalid_request"),
    ({"scope": None}, "invalid_scope"),
    ({"scope": "unknown"}, "invalid_scope"),
    ({"code_challenge": None}, "invalid_request"),
    ({"code_challenge": "short"}, "invalid_request"),
    ({"code_challenge_method": None}, "invalid_request"),
    ({"code_challenge_method": "plain"}, "invalid_request"),
    ({"prompt": "none login"}, "invalid_request"),
    ({"prompt": "hurry"}, "invalid_request"),
    ({"max_age": "soon"}, "invalid_request"),
    ({"max_age": "-1"}, "invalid_request"),
    ({"nonce": "n" * 2_001}, "invalid_request"),
    ({"nonce": "n\0"}, "invalid_request"),
    ({"request": "eyJhbGciOiJub25lIn0.e30."}, "request_not_supported"),
    ({"request_uri": "https://reports.example.com/request"}, "request_uri_not_supported"),
    ({"registration": "{}"}, "registration_not_supported"),
    ({"id_token_hint": "no token"}, "invalid_request"),
]


async def test_errors_are_redirected_with_state_and_issuer(provider):
    browser = provider.browser()
    for fields, error in REDIRECTED_ERRORS:
        response = parameters_of(await browser.authorize(**fields))
        assert response["error"] == error, (fields, response)
        assert response["error_description"], fields
        assert response["state"] == "client-state", fields
        assert response["iss"] == provider.issuer, fields
    wishes = await browser.authorize(
        ui_locales="de fr",
        display="page",
        acr_values="1 2",
        claims='{"userinfo":{}}',
        unknown="x",
        scope="openid address",
    )
    assert "/auth/pages/sign-in" in wishes.headers["location"], "unknown parameters and scopes are ignored"


async def test_a_login_hint_is_entered_into_the_page(provider):
    browser = provider.browser()
    page = await browser.open((await browser.authorize(login_hint='ada@example.com"><b')).headers["location"])
    assert 'value="ada@example.com&quot;&gt;&lt;b"' in page.text


async def test_a_response_can_be_posted_as_a_form(provider):
    browser = provider.browser()
    consent = await browser.signed_in(response_mode="form_post", state='a"b')
    assert "form-action" in consent.headers["content-security-policy"]
    page = await browser.submit(consent, decision="allow")
    assert page.status_code == 200
    assert f'action="{REDIRECT_URI}"' in html.unescape(page.text)
    fields = {name: html.unescape(value) for name, value in re.findall(r'name="(\w+)" value="([^"]*)"', page.text)}
    assert (fields["state"], fields["iss"]) == ('a"b', provider.issuer)
    assert (await provider.exchange(fields["code"])).status_code == 200
    refused = await browser.authorize(response_mode="form_post", prompt="none", max_age="x")
    assert 'name="error" value="invalid_request"' in refused.text
    assert "https://reports.example.com" in refused.headers["content-security-policy"]
    assert page.headers["cache-control"] == "no-store"


async def test_a_request_can_be_posted(first_party):
    browser = first_party.browser()
    await browser.signed_in()
    body = urlencode(first_party.request())
    headers = {**FORM, "origin": "https://reports.example.com", "sec-fetch-site": "cross-site"}
    posted = await browser.client.request("POST", f"{first_party.base}/authorize", content=body, headers=headers)
    assert posted.status_code == 303
    assert "code" in parameters_of(await browser.open(posted.headers["location"]))
    many = await browser.client.request(
        "POST", f"{first_party.base}/authorize", content="&".join(f"a{n}=1" for n in range(60)), headers=FORM
    )
    assert many.status_code == 400


async def test_a_second_factor_is_asked_for_and_reported(first_party, clock):
    browser = first_party.browser()
    _, _, app, _ = await with_totp(first_party.auth, clock, browser.address)
    page = await browser.open((await browser.authorize()).headers["location"])
    factor = await browser.submit(page, email=browser.address, password=GOOD)
    assert "authenticator app" in factor.text
    response = parameters_of(await browser.finish(await browser.submit(factor, code=app.code())))
    tokens = (await first_party.exchange(response["code"])).json()
    claims = await first_party.verified(tokens["id_token"], first_party.oauth_client["clientId"])
    assert claims["acr"] == "urn:postern:multi-factor"
    assert "totp" in claims["amr"]


async def test_new_sign_in_requirements_apply_to_sessions_that_exist(first_party):
    browser = first_party.browser()
    response = parameters_of(await browser.signed_in())
    tokens = (await first_party.exchange(response["code"])).json()
    await first_party.auth.settings(requireMfa=True)
    assert parameters_of(await browser.authorize(prompt="none"))["error"] == "login_required"
    assert (await first_party.refresh(tokens["refresh_token"])).json()["error"] == "invalid_grant"


async def test_a_wrong_password_and_a_failed_sign_in_can_be_repeated(first_party):
    browser = first_party.browser()
    await first_party.auth.signed_up(browser.address)
    started = await browser.authorize()
    page = await browser.open(started.headers["location"])
    wrong = await browser.submit(page, email=browser.address, password="a wrong password")
    assert wrong.status_code == 401
    returned = await browser.submit(wrong, email=browser.address, password=GOOD)
    assert returned.status_code == 303
    # A provider of the project returned an error.
    token = dict(part.split("=") for part in urlsplit(started.headers["location"]).query.split("&"))["state"]
    failed = await browser.open(f"{first_party.base}/continue?state={token}&error=access_denied")
    assert failed.status_code == 400
    again = await browser.open(html.unescape(re.search(r'class="button" href="([^"]+)"', failed.text)[1]))
    assert "Sign in" in again.text
    assert "code" in parameters_of(await browser.finish(returned))


async def test_a_stored_request_expires_and_works_once(provider, clock):
    browser = provider.browser()
    consent = await browser.signed_in()
    parameters_of(await browser.submit(consent, decision="allow"))
    for decision in ("allow", "deny"):
        repeated = await browser.submit(consent, decision=decision)
        assert repeated.status_code == 400
        assert "has expired or is finished already" in repeated.text
    late = await browser.authorize(prompt="consent")
    clock.move(REQUEST_LIFE)
    assert (await browser.submit(late, decision="allow")).status_code == 400


async def test_discovery_describes_what_works(provider):
    client = provider.auth.client
    discovery = await client.get(f"/projects/{provider.project.id}/.well-known/openid-configuration")
    assert discovery.headers["cache-control"] == "public, max-age=300"
    metadata = discovery.json()
    assert metadata["issuer"] == provider.issuer
    rfc_8414 = await client.get(f"/.well-known/oauth-authorization-server/projects/{provider.project.id}")
    assert rfc_8414.json() == metadata
    for name, url in metadata.items():
        if name.endswith(("_endpoint", "_uri")):
            path = urlsplit(url).path
            assert url.startswith(provider.issuer)
            response = await client.get(path)
            posted = await client.request("POST", path, content="", headers=FORM)
            assert {response.status_code, posted.status_code} <= {200, 303, 400, 401, 405}, name
            assert 405 not in (response.status_code, posted.status_code) or name.endswith(("_uri", "_endpoint"))
    keys = (await client.get(urlsplit(metadata["jwks_uri"]).path)).json()["keys"]
    assert metadata["id_token_signing_alg_values_supported"] == ["ES256", "RS256"], "always signed"
    assert {key["alg"] for key in keys} <= set(metadata["id_token_signing_alg_values_supported"])
    assert metadata["subject_types_supported"] == ["public"]
    assert (metadata["request_parameter_supported"], metadata["request_uri_parameter_supported"]) == (False, False)
    assert metadata["claims_parameter_supported"] is False
    assert "userinfo_signing_alg_values_supported" not in metadata
    unknown = f"/projects/{new_address()[:8]}-0000-0000-0000-000000000000/.well-known/openid-configuration"
    assert (await client.get(unknown)).status_code == 404


async def test_browsers_of_all_origins_may_call_the_endpoints_of_clients(provider):
    client, origin = provider.auth.client, {"origin": "https://spa.example"}
    preflight = {**origin, "access-control-request-method": "POST", "access-control-request-headers": "authorization"}
    base = provider.base
    well_known = f"/projects/{provider.project.id}/.well-known"
    for path in (f"{base}/token", f"{base}/userinfo", f"{base}/revoke", f"{well_known}/openid-configuration"):
        allowed = await client.request("OPTIONS", path, headers=preflight)
        assert allowed.headers["access-control-allow-origin"] == "https://spa.example", path
        assert "access-control-allow-credentials" not in allowed.headers
    jwks = await client.get(f"{well_known}/jwks.json", headers=origin)
    assert jwks.headers["access-control-allow-origin"] == "https://spa.example"
    for path in (f"{base}/authorize", f"{base}/consent", f"{base}/introspect", f"{base}/logout"):
        refused = await client.request("OPTIONS", path, headers=preflight)
        assert "access-control-allow-origin" not in refused.headers, path


async def test_public_clients_use_pkce_and_loopback_ports(provider):
    app = "com.example.reports:/callback"
    client = await provider.register(
        type="PUBLIC", redirectUris=[app, "http://127.0.0.1/callback", "http://[::1]:1/callback", REDIRECT_URI]
    )
    browser = provider.browser()
    consent = await browser.signed_in(redirect_uri="http://127.0.0.1:51234/callback")
    response = parameters_of(await browser.submit(consent, decision="allow"), "http://127.0.0.1:51234/callback")
    exchanged = await provider.exchange(response["code"], redirect_uri="http://127.0.0.1:51234/callback")
    assert exchanged.status_code == 200
    assert client["clientSecret"] is None
    for uri in ("http://[::1]evil.example:80/callback", "http://127.0.0.1:/callback", "http://127.0.0.1:x/callback"):
        assert (await browser.authorize(redirect_uri=uri)).status_code == 400, uri
    # An app on the device could pretend to be the client, so the customer is asked again (RFC 8252 §8.6).
    assert "is not part of" in (await browser.authorize(redirect_uri="http://[::1]:4711/callback")).text
    page = await browser.authorize(redirect_uri=app)
    assert "form-action 'self' com.example.reports:;" in page.headers["content-security-policy"]
    assert (await browser.submit(page, decision="allow")).headers["location"].startswith(f"{app}?code=")
    assert "code" in parameters_of(await browser.authorize()), "the owner of an https URL is known"
    await provider.register(
        type="PUBLIC", firstParty=True, redirectUris=[app, "http://127.0.0.1/callback", REDIRECT_URI]
    )
    for uri in (app, "http://127.0.0.1:51234/callback"):
        assert "is part of" in (await browser.authorize(redirect_uri=uri)).text, "also for a client of the project"
        refused = parameters_of(await browser.authorize(redirect_uri=uri, prompt="none"), uri)
        assert refused["error"] == "consent_required"
    assert "code" in parameters_of(await browser.authorize(prompt="none"))


@pytest.mark.parametrize("decision", ["allow", "deny", "another customer"])
async def test_the_cookie_of_a_finished_request_is_deleted(provider, decision):
    browser, other = provider.browser(), provider.browser()
    consent = await browser.signed_in()
    tokens = (await provider.exchange(parameters_of(await browser.submit(consent, decision="allow"))["code"])).json()

    def requests():
        return [cookie.name for cookie in other.client.http.cookies.jar if "postern-request-" in cookie.name]

    if decision == "another customer":
        await provider.auth.signed_up(other.address)
        started = await other.authorize(id_token_hint=tokens["id_token"])
        assert len(requests()) == 1
        assert parameters_of(await other.sign_in(started))["error"] == "login_required"
    else:
        page = await other.signed_in()
        assert len(requests()) == 1
        parameters_of(await other.submit(page, decision=decision))
    assert requests() == []


async def test_head_requests_have_no_effect(first_party):
    """Programs that check links, and browsers that load ahead, use nothing up."""
    browser = first_party.browser()
    tokens = (await first_party.exchange(parameters_of(await browser.signed_in())["code"])).json()
    query = urlencode({"id_token_hint": tokens["id_token"]})
    for path in (
        f"authorize?{urlencode(first_party.request())}",
        "continue?state=x&code=y",
        "resume?token=x",
        f"logout?{query}",
    ):
        response = await browser.client.request("HEAD", f"{first_party.base}/{path}")
        assert response.status_code == 200, path
        assert {"location", "set-cookie"}.isdisjoint(response.headers), path
    assert "code" in parameters_of(await browser.authorize(prompt="none"))


async def test_a_request_can_be_pushed(first_party, clock):
    browser = first_party.browser()
    await browser.signed_in()

    async def push(client=None, **fields):
        request = first_party.request(**{"state": "pushed", "client_id": None, **fields})
        return await first_party.send("par", client, **request)

    pushed = await push()
    assert pushed.status_code == 201, pushed.text
    assert pushed.headers["cache-control"] == "no-store"
    assert pushed.json()["expires_in"] == 90
    only = dict.fromkeys(first_party.request(), None)

    async def opened(pushed, **fields):
        client_id = first_party.oauth_client["clientId"]
        request = {**only, "client_id": client_id, "request_uri": pushed.json()["request_uri"], **fields}
        return await browser.authorize(**request)

    response = parameters_of(await opened(pushed, state="changed", redirect_uri="https://evil.example"))
    assert response["state"] == "pushed"
    assert (await first_party.exchange(response["code"])).status_code == 200
    assert (await opened(pushed)).status_code == 400, "it works once"
    late = await push()
    clock.move(timedelta(seconds=91))
    assert (await opened(late)).status_code == 400
    clock.move(timedelta(seconds=-91))
    client = first_party.oauth_client
    of_client = await push(client)
    other = await first_party.register(firstParty=True)
    assert (await opened(of_client, client_id=other["clientId"])).status_code == 400
    assert "code" in parameters_of(await opened(of_client, client_id=client["clientId"])), "not used up by others"
    for fields, error in (
        ({"redirect_uri": "https://evil.example"}, "invalid_request"),
        ({"code_challenge": None}, "invalid_request"),
        ({"response_type": "token"}, "unsupported_response_type"),
        ({"request_uri": "urn:ietf:params:oauth:request_uri:x"}, "invalid_request"),
        ({"request": "eyJhbGciOiJub25lIn0.e30."}, "request_not_supported"),
    ):
        refused = await push(**fields)
        assert (refused.status_code, refused.json()["error"]) == (400, error), fields
    wrong = {**other, "clientSecret": "ocs_guess"}
    assert (await push(wrong)).status_code == 401
    unknown = await browser.authorize(
        **{**only, "client_id": other["clientId"], "request_uri": "https://evil.example/"}
    )
    assert unknown.status_code == 400
    public = await first_party.register(type="PUBLIC", firstParty=True)
    assert (await push(public)).status_code == 201
