"""Clients whose ID tokens are signed with RS256, and the RSA key of a project."""

import asyncio
import json
from datetime import timedelta
from urllib.parse import parse_qs, urlencode

import jwt
import msgspec
import pytest
from authlib.jose import JsonWebToken
from authlib.oidc.core import CodeIDToken

from postern.identity.customers.signing_keys import KEY_ACTIVE_AFTER, KEY_RETIRED_AFTER, rsa_signing_key
from postern.kernel.outbound.ssrf import read_networks
from tests.identity.oauth.conftest import ISSUER, Provider, parameters_of
from tests.identity.oauth.keys import ClientKey, base64url
from tests.peers.http_receiver import http_receiver


@pytest.fixture
def settings(settings):
    return msgspec.structs.replace(settings, outbound_allow=tuple(read_networks("127.0.0.0/8")))


@pytest.fixture
async def rs256(auth):
    """A provider whose client gets ID tokens with RS256."""
    provider = Provider(auth)
    await provider.register(firstParty=True, idTokenSigningAlg="RS256")
    return provider


async def key_set(provider):
    return (await provider.auth.client.get(f"/projects/{provider.project.id}/.well-known/jwks.json")).json()


async def rsa_key_ids(provider):
    return {key["kid"] for key in (await key_set(provider))["keys"] if key["kty"] == "RSA"}


async def signed_in(provider):
    browser = provider.browser()
    return browser, (await provider.exchange(parameters_of(await browser.signed_in())["code"])).json()


async def accepts_hint(provider, browser, token):
    """Whether the provider takes a JWT for an ID token of its own."""
    return "code" in parameters_of(await browser.authorize(id_token_hint=token, prompt="none"))


async def test_a_client_gets_id_tokens_with_rs256(rs256, clock):
    assert rs256.oauth_client["idTokenSigningAlg"] == "RS256"
    (published,) = [key for key in (await key_set(rs256))["keys"] if key["kty"] == "RSA"]
    assert published.keys() == {"kty", "n", "e", "kid", "alg", "use"}
    assert (published["alg"], published["use"], len(published["n"])) == ("RS256", "sig", 342), "2048 bits"
    browser, tokens = await signed_in(rs256)
    for token in (tokens, (await rs256.refresh(tokens["refresh_token"])).json()):
        # Authlib verifies as clients do: the key of `kid`, RS256 only, `at_hash` and `nonce`.
        claims = JsonWebToken(["RS256"]).decode(
            token["id_token"],
            await key_set(rs256),
            claims_cls=CodeIDToken,
            claims_options={"iss": {"essential": True, "value": rs256.issuer}},
            claims_params={"client_id": rs256.oauth_client["clientId"], "access_token": token["access_token"]},
        )
        claims.validate(now=clock().timestamp())
        assert claims["email"] == browser.address
        assert jwt.get_unverified_header(token["id_token"]) == {"alg": "RS256", "typ": "JWT", "kid": published["kid"]}
        assert jwt.get_unverified_header(token["access_token"])["alg"] == "ES256", "access tokens stay as they are"
        assert (await rs256.userinfo(token["access_token"])).status_code == 200
    assert await accepts_hint(rs256, browser, tokens["id_token"])
    signed_out = await browser.open(f"{rs256.base}/logout?{urlencode({'id_token_hint': tokens['id_token']})}")
    assert "You are signed out" in signed_out.text


async def test_the_algorithm_of_a_client_is_changed_at_once(first_party, auth):
    provider = first_party
    path = f"/oauth-clients/{provider.oauth_client['id']}"
    browser, tokens = await signed_in(provider)
    assert provider.oauth_client["idTokenSigningAlg"] == "ES256"
    assert await rsa_key_ids(provider) == set(), "no key without need"
    for algorithm in ("RS256", "ES256"):
        changed = await provider.project.developer.patch(path, {"idTokenSigningAlg": algorithm})
        assert changed.json()["idTokenSigningAlg"] == algorithm
        assert (await provider.project.developer.get(path)).json()["idTokenSigningAlg"] == algorithm
        assert len(await rsa_key_ids(provider)) == 1, "published before it signs"
        tokens = await provider.tokens(browser)
        assert jwt.get_unverified_header(tokens["id_token"])["alg"] == algorithm
        assert await accepts_hint(provider, browser, tokens["id_token"])
    for wrong in ("PS256", "HS256", "none", None):
        refused = await provider.project.developer.patch(path, {"idTokenSigningAlg": wrong})
        assert (refused.status_code, refused.json()["errors"][0]["path"]) == (400, "/idTokenSigningAlg"), wrong


async def test_the_key_is_rotated(rs256, clock):
    (old,) = await rsa_key_ids(rs256)
    browser, before = await signed_in(rs256)
    rotate = f"/projects/{rs256.project.id}/auth/signing-keys/rotate"
    answers = await asyncio.gather(*(rs256.project.developer.post(rotate) for _ in range(2)))
    assert [answer.status_code < 300 for answer in answers] == [True, True]
    assert len(await rsa_key_ids(rs256)) == 3, "published before they sign"
    assert jwt.get_unverified_header((await rs256.tokens(browser))["id_token"])["kid"] == old
    clock.move(KEY_ACTIVE_AFTER + timedelta(seconds=1))
    after = await rs256.tokens(browser)
    used = jwt.get_unverified_header(after["id_token"])["kid"]
    assert used != old
    for tokens in (before, after):
        await rs256.verified(tokens["id_token"], rs256.oauth_client["clientId"])
    clock.move(KEY_RETIRED_AFTER)
    assert await rsa_key_ids(rs256) == {used}, "the earlier rotation is undone by the later one"
    assert await accepts_hint(rs256, browser, before["id_token"]), "it only names a customer"


async def test_a_key_verifies_its_own_algorithm_only(rs256, world, clock):
    browser, tokens = await signed_in(rs256)
    claims = jwt.decode(tokens["id_token"], options={"verify_signature": False})
    access = jwt.decode(tokens["access_token"], options={"verify_signature": False})
    keys = {key["alg"]: key for key in (await key_set(rs256))["keys"]}
    key_id, private = await rsa_signing_key(world, rs256.project.id, clock())
    assert str(key_id) == keys["RS256"]["kid"]
    public = jwt.PyJWK(keys["RS256"]).key

    def forged(payload, algorithm, kid, key, typ="JWT"):
        return jwt.encode(payload, key, algorithm=algorithm, headers={"kid": kid, "typ": typ})

    assert await accepts_hint(rs256, browser, forged(claims, "RS256", keys["RS256"]["kid"], private))
    other = ClientKey("RS256").private
    unsigned = f"{base64url(json.dumps({'alg': 'none', 'typ': 'JWT', 'kid': str(key_id)}).encode())}."
    secret = public.public_numbers().n.to_bytes(256, "big")  # A public key as the secret of HS256.
    for token in (
        forged(claims, "PS256", keys["RS256"]["kid"], private),
        forged(claims, "RS512", keys["RS256"]["kid"], private),
        forged(claims, "RS256", keys["ES256"]["kid"], private),
        forged(claims, "RS256", keys["RS256"]["kid"], other),
        forged(claims, "HS256", keys["RS256"]["kid"], secret),
        forged(claims, "ES256", keys["RS256"]["kid"], ClientKey().private),
        f"{unsigned}{tokens['id_token'].split('.')[1]}.",
    ):
        assert not await accepts_hint(rs256, browser, token), jwt.get_unverified_header(token)
    # The key signs no access tokens, neither of clients nor of sessions.
    for algorithm, kid in (("RS256", keys["RS256"]["kid"]), ("RS256", keys["ES256"]["kid"])):
        token = forged(access, algorithm, kid, private, "at+jwt")
        assert (await rs256.userinfo(token)).status_code == 401
        assert await rs256.introspect(token) == {"active": False}
        session = {**access, "aud": str(rs256.project.id)}
        headers = {"authorization": f"Bearer {forged(session, algorithm, kid, private, 'at+jwt')}"}
        me = await rs256.auth.client.get(f"/projects/{rs256.project.id}/auth/me", headers=headers)
        assert me.status_code == 401


async def test_another_project_does_not_accept_the_key(rs256, new_project, world, clock):
    _, tokens = await signed_in(rs256)
    claims = jwt.decode(tokens["id_token"], options={"verify_signature": False})
    other = await new_project()
    (key_id,) = await rsa_key_ids(rs256)
    keys = await rs256.auth.client.get(f"/projects/{other.id}/.well-known/jwks.json")
    assert [key["kty"] for key in keys.json()["keys"]] == ["EC"]
    _, private = await rsa_signing_key(world, rs256.project.id, clock())
    own_issuer = {**claims, "iss": f"{ISSUER}/projects/{other.id}"}
    forged = jwt.encode(own_issuer, private, algorithm="RS256", headers={"kid": key_id})
    for token in (tokens["id_token"], forged):
        query = urlencode({"id_token_hint": token})
        refused = await rs256.auth.client.get(f"/projects/{other.id}/oauth/logout?{query}")
        assert (refused.status_code, "not an ID token of this provider" in refused.text) == (400, True)


async def test_concurrent_first_uses_make_one_key(auth, world, clock):
    provider = Provider(auth)
    made = await asyncio.gather(*(rsa_signing_key(world, provider.project.id, clock()) for _ in range(4)))
    assert {str(key_id) for key_id, _ in made} == await rsa_key_ids(provider)
    assert len(await rsa_key_ids(provider)) == 1


async def test_fapi_clients_get_no_rs256(provider):
    fapi = {"securityProfile": "FAPI2", "requireDpop": True, "jwks": ClientKey().jwks()}
    body = {"name": "Bank", "redirectUris": ["https://bank.example.com/"], **fapi, "idTokenSigningAlg": "RS256"}
    refused = await provider.project.developer.post("/oauth-clients", body)
    assert (refused.status_code, refused.json()["errors"][0]["path"]) == (400, "/idTokenSigningAlg")
    assert "ES256" in refused.json()["errors"][0]["message"]
    assert await rsa_key_ids(provider) == set()
    client = await provider.register(**fapi)
    assert client["idTokenSigningAlg"] == "ES256"
    path = f"/oauth-clients/{client['id']}"
    assert (await provider.project.developer.patch(path, {"idTokenSigningAlg": "RS256"})).status_code == 400
    standard = await provider.project.developer.patch(
        path, {"securityProfile": "STANDARD", "idTokenSigningAlg": "RS256"}
    )
    assert standard.status_code == 200, standard.text
    assert (await provider.project.developer.patch(path, {"securityProfile": "FAPI2"})).status_code == 400


async def test_logout_tokens_are_signed_as_id_tokens(rs256, run_due_work):
    async with http_receiver() as receiver:
        await rs256.register(firstParty=True, idTokenSigningAlg="RS256", backchannelLogoutUri=receiver.url("/logout"))
        browser, tokens = await signed_in(rs256)
        await browser.open(f"{rs256.base}/logout?{urlencode({'id_token_hint': tokens['id_token']})}")
        await run_due_work()
        (request,) = receiver.requests
        (token,) = parse_qs(request.body.decode())["logout_token"]
        assert jwt.get_unverified_header(token).items() >= {"alg": "RS256", "typ": "logout+jwt"}.items()
        claims = JsonWebToken(["RS256"]).decode(token, await key_set(rs256))
        hinted = await rs256.verified(tokens["id_token"], rs256.oauth_client["clientId"])
        assert (claims["sid"], claims["sub"]) == (hinted["sid"], hinted["sub"])
        refused = await browser.open(f"{rs256.base}/logout?{urlencode({'id_token_hint': token})}")
        assert refused.status_code == 400, "a logout token is no ID token"
