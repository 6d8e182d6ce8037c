"""What modules of the OpenID conformance suite check that no other test does; docs/guide/openid-conformance.md lists
them all."""

import html
import re
from datetime import datetime, timedelta
from urllib.parse import urlencode

import jwt
import pytest

from postern.identity.customers.signing_keys import KEY_ACTIVE_AFTER
from tests.identity.oauth.conftest import REDIRECT_URI, parameters_of


async def test_a_redirect_uri_may_have_a_query(first_party):
    uri = f"{REDIRECT_URI}?app=reports"
    await first_party.register(firstParty=True, redirectUris=[uri, f"{REDIRECT_URI}/second"])
    browser = first_party.browser()
    response = parameters_of(await browser.signed_in(redirect_uri=uri))
    assert response["app"] == "reports"
    assert (await first_party.exchange(response["code"], redirect_uri=uri)).status_code == 200
    for other in (f"{REDIRECT_URI}?app=others", f"{uri}&x=1", REDIRECT_URI, f"{REDIRECT_URI}/second?app=reports", None):
        refused = await browser.authorize(redirect_uri=other)
        assert (refused.status_code, "location" in refused.headers) == (400, False), other


async def test_the_order_of_parameters_and_scopes_does_not_matter(first_party):
    browser = first_party.browser()
    await browser.signed_in()
    request = first_party.request(scope="offline_access profile email openid", ui_locales="de")
    response = await browser.open(f"{first_party.base}/authorize?{urlencode(list(request.items())[::-1])}")
    tokens = (await first_party.exchange(parameters_of(response)["code"])).json()
    assert sorted(tokens["scope"].split()) == ["email", "offline_access", "openid", "profile"]
    assert "id_token" in tokens


async def test_unsupported_wishes_are_ignored(first_party):
    """The claims parameter and the scope `address`: the response has what the scopes allow."""
    browser = first_party.browser()
    claims = '{"userinfo": {"name": {"essential": true}}, "id_token": {"acr": {"essential": true}}}'
    response = parameters_of(
        await browser.signed_in(claims=claims, scope="openid profile address", display="popup", claims_locales="de")
    )
    tokens = (await first_party.exchange(response["code"])).json()
    assert tokens["scope"] == "openid profile"
    subject = (await first_party.userinfo(tokens["access_token"])).json()["sub"]
    named = await first_party.project.client.patch(f"/customers/{subject}", {"name": "Ada Lovelace"})
    assert named.status_code == 200, named.text
    info = (await first_party.userinfo(tokens["access_token"])).json()
    assert info.keys() >= {"sub", "updated_at"}
    assert info["name"] == "Ada Lovelace", "an essential claim, because of the scope"
    assert "address" not in info


async def test_each_scope_gives_its_claims_in_the_id_token_and_in_userinfo(first_party):
    client = await first_party.register(
        firstParty=True, scopes=["openid", "profile", "email", "phone", "offline_access"]
    )
    browser = first_party.browser()
    code = parameters_of(await browser.signed_in())["code"]
    id_token = (await first_party.exchange(code)).json()["id_token"]
    path = f"/customers/{(await first_party.verified(id_token, client['clientId']))['sub']}"

    async def claims(scope):
        """Those about the customer, which are the same in the ID token and in userinfo."""
        tokens = await first_party.tokens(browser, scope=scope)
        token = await first_party.verified(tokens["id_token"], client["clientId"])
        info = (await first_party.userinfo(tokens["access_token"])).json()
        assert info.pop("sub") == token["sub"]
        technical = {"iss", "sub", "iat", "exp", "auth_time", "acr", "amr", "aud", "azp", "sid", "at_hash", "nonce"}
        assert {name: value for name, value in token.items() if name not in technical} == info
        return info

    assert (await claims("openid profile phone")).keys() == {"updated_at"}, "what is unknown is left out"
    change = {"name": "Ada Lovelace", "language": "pt-BR", "phone": "+4930901820", "phoneVerified": True}
    customer = (await first_party.project.client.patch(path, change)).json()
    changed_at = int(datetime.fromisoformat(customer["updatedAt"]).timestamp())
    profile = {"name": "Ada Lovelace", "locale": "pt-BR", "updated_at": changed_at}
    email = {"email": browser.address, "email_verified": True}
    phone = {"phone_number": "+4930901820", "phone_number_verified": True}
    for scope, expected in (
        ("openid", {}),
        ("openid profile", profile),
        ("openid email", email),
        ("openid phone", phone),
        ("openid profile email address phone", profile | email | phone),
    ):
        assert await claims(scope) == expected, scope
    await first_party.project.client.patch(path, {"phoneVerified": False})
    assert (await claims("openid phone"))["phone_number_verified"] is False


def response_of(answer, mode):
    """The parameters of an authorization response in this mode."""
    if mode == "query":
        return parameters_of(answer)
    assert answer.status_code == 200, answer.text
    assert "location" not in answer.headers
    assert f'action="{REDIRECT_URI}"' in html.unescape(answer.text)
    return {name: html.unescape(value) for name, value in re.findall(r'name="(\w+)" value="([^"]*)"', answer.text)}


@pytest.mark.parametrize("mode", ["query", "form_post"])
async def test_modules_of_the_basic_plan_by_response_mode(first_party, clock, mode):
    browser = first_party.browser()
    refused = response_of(await browser.authorize(response_mode=mode, prompt="none"), mode)
    assert (refused["error"], refused["state"]) == ("login_required", "client-state")
    first = response_of(await browser.signed_in(response_mode=mode, unknown="x", display="popup", nonce=None), mode)
    assert (first["state"], first["iss"]) == ("client-state", first_party.issuer)
    tokens = (await first_party.exchange(first["code"])).json()
    claims = await first_party.verified(tokens["id_token"], first_party.oauth_client["clientId"])
    assert ("nonce" in claims, claims["email"]) == (False, browser.address)
    present = {"response_mode": mode, "max_age": "10000", "id_token_hint": tokens["id_token"]}
    again = response_of(await browser.authorize(**present, prompt="none"), mode)
    second = (await first_party.exchange(again["code"])).json()
    renewed = await first_party.verified(second["id_token"], first_party.oauth_client["clientId"])
    assert {name: renewed[name] for name in ("sub", "auth_time")} == {
        name: claims[name] for name in ("sub", "auth_time")
    }
    assert renewed["nonce"] == "client-nonce"
    for fields, error in (
        ({"response_type": "token"}, "unsupported_response_type"),
        ({"response_type": None}, "invalid_request"),
        ({"request": "eyJhbGciOiJub25lIn0.e30."}, "request_not_supported"),
        ({"request_uri": "https://reports.example.com/request"}, "request_uri_not_supported"),
    ):
        assert response_of(await browser.authorize(response_mode=mode, **fields), mode)["error"] == error
    assert (await first_party.exchange(first["code"])).json()["error"] == "invalid_grant"
    clock.move(timedelta(seconds=5))
    new = await browser.authorize(response_mode=mode, max_age="1")
    assert "code" in response_of(await browser.sign_in(new), mode)
    unregistered = await browser.authorize(response_mode=mode, redirect_uri=f"{REDIRECT_URI}/other")
    assert (unregistered.status_code, REDIRECT_URI in unregistered.text) == (400, False)
    clock.move(timedelta(seconds=1))
    wishes = {"ui_locales": "en", "claims_locales": "de", "display": "page", "acr_values": "1 2"}
    asked = await browser.authorize(response_mode=mode, prompt="login", **wishes)
    last = response_of(await browser.sign_in(asked), mode)
    id_token = (await first_party.exchange(last["code"])).json()["id_token"]
    latest = await first_party.verified(id_token, first_party.oauth_client["clientId"])
    assert (latest["auth_time"], latest["sub"]) == (int(clock().timestamp()), claims["sub"])


async def test_a_code_that_is_used_again_later_revokes_the_tokens(first_party, clock):
    browser = first_party.browser()
    code = parameters_of(await browser.signed_in())["code"]
    tokens = (await first_party.exchange(code)).json()
    clock.move(timedelta(seconds=30))
    assert (await first_party.exchange(code)).json()["error"] == "invalid_grant"
    assert (await first_party.userinfo(tokens["access_token"])).status_code == 401


async def test_signing_keys_rotate_without_an_interruption(first_party, clock):
    browser = first_party.browser()
    code = parameters_of(await browser.signed_in())["code"]
    before = (await first_party.exchange(code)).json()["id_token"]
    path = f"/projects/{first_party.project.id}/.well-known/jwks.json"

    async def key_ids():
        return {key["kid"] for key in (await first_party.auth.client.get(path)).json()["keys"]}

    old = await key_ids()
    developer = first_party.project.developer
    assert (await developer.post(f"/projects/{first_party.project.id}/auth/signing-keys/rotate")).status_code < 300
    assert await key_ids() > old, "the new key is published before it is used, beside the old one"
    clock.move(KEY_ACTIVE_AFTER + timedelta(seconds=1))
    after = (await first_party.tokens(browser))["id_token"]
    assert jwt.get_unverified_header(after)["kid"] not in old
    for token in (before, after):
        await first_party.verified(token, first_party.oauth_client["clientId"])


async def test_without_a_redirect_uri_the_sign_out_ends_on_a_page(first_party):
    browser = first_party.browser()
    tokens = (await first_party.exchange(parameters_of(await browser.signed_in())["code"])).json()
    query = urlencode({"id_token_hint": tokens["id_token"], "state": "s"})
    page = await browser.open(f"{first_party.base}/logout?{query}")
    assert (page.status_code, "location" in page.headers) == (200, False)
    assert parameters_of(await browser.authorize(prompt="none"))["error"] == "login_required"


async def test_the_metadata_describe_sign_out_and_fapi(first_party):
    path = f"/projects/{first_party.project.id}/.well-known/openid-configuration"
    metadata = (await first_party.auth.client.get(path)).json()
    assert metadata["end_session_endpoint"].startswith(first_party.issuer)
    for name in ("backchannel_logout_supported", "backchannel_logout_session_supported"):
        assert metadata[name] is True
    assert metadata["authorization_response_iss_parameter_supported"] is True
    assert metadata["code_challenge_methods_supported"] == ["S256"]
    assert "private_key_jwt" in metadata["token_endpoint_auth_methods_supported"]
    for name in ("dpop_signing_alg_values_supported", "token_endpoint_auth_signing_alg_values_supported"):
        assert metadata[name] == ["ES256", "EdDSA", "RS256", "PS256"]
    assert metadata["pushed_authorization_request_endpoint"].startswith(first_party.issuer)
    assert isinstance(metadata["require_pushed_authorization_requests"], bool)


async def test_the_consent_page_links_to_the_policies_of_a_client(provider):
    await provider.register(
        privacyUrl="https://reports.example.com/privacy", termsUrl="https://reports.example.com/terms"
    )
    page = await provider.browser().signed_in()
    for name in ("privacy", "terms"):
        assert f'href="https://reports.example.com/{name}"' in html.unescape(page.text)
