"""Access tokens that are bound to a key of the client (DPoP, RFC 9449)."""

import asyncio
from dataclasses import replace
from datetime import timedelta
from urllib.parse import urlencode

import jwt
import pytest
from postern_sdk.dpop import ProofInvalid
from postern_sdk.resource_server import ResourceServer
from postern_sdk.sessions import TokenInvalid

from postern.identity.oauth.dpop import NONCE_LIFE
from postern.identity.oauth.model import DEVICE_GRANT
from postern.security.sessions import REFRESH_GRACE
from tests.identity.oauth.conftest import FORM, ISSUER, REDIRECT_URI, VERIFIER, Provider, parameters_of
from tests.identity.oauth.keys import ABSENT, ClientKey, base64url
from tests.identity.oauth.test_devices import begin, consent_page
from tests.peers.http_receiver import Reply, http_receiver


class Prover:
    """A client that proves the possession of a key to the endpoints of a provider."""

    def __init__(self, provider, clock, key=None):
        self.provider, self.clock = provider, clock
        self.key = key or ClientKey()
        self.nonce = None

    def sign(self, endpoint, method="POST", **claims):
        url = f"{self.provider.issuer}/oauth/{endpoint}"
        return self.key.dpop_proof(method, url, self.nonce, now=self.clock().timestamp(), **claims)

    async def send(self, endpoint, client=None, **fields):
        """Send a form with a proof, a second time if the server asks for a nonce."""
        for _ in range(2):
            response = await self.provider.send(endpoint, client, {"dpop": self.sign(endpoint)}, **fields)
            self.nonce = response.headers["dpop-nonce"]
            if response.json().get("error") != "use_dpop_nonce":
                break
        return response

    async def exchange(self, code, **fields):
        form = {"code": code, "redirect_uri": REDIRECT_URI, **fields}
        return await self.send("token", grant_type="authorization_code", code_verifier=VERIFIER, **form)

    async def userinfo(self, sent, scheme="DPoP", **claims):
        text = self.sign("userinfo", "GET", **{"token": sent, **claims})
        headers = {"authorization": f"{scheme} {sent}", "dpop": text}
        return await self.provider.auth.client.get(f"{self.provider.base}/userinfo", headers=headers)


@pytest.fixture
async def prover(first_party, clock):
    return Prover(first_party, clock)


async def code_of(browser, **fields):
    return parameters_of(await browser.authorize(**fields))["code"]


async def test_a_token_is_bound_to_the_key_of_the_client(prover, first_party):
    browser = first_party.browser()
    code = parameters_of(await browser.signed_in())["code"]
    refused = await first_party.exchange(code, headers={"dpop": prover.sign("token")})
    assert (refused.status_code, refused.json()["error"]) == (400, "use_dpop_nonce")
    tokens = (await prover.exchange(code)).json()
    assert tokens["token_type"] == "DPoP"
    access = tokens["access_token"]
    claims = await first_party.verified(access, first_party.issuer)
    assert claims["cnf"] == {"jkt": prover.key.thumbprint}
    state = await first_party.introspect(access)
    assert (state["token_type"], state["cnf"]) == ("DPoP", claims["cnf"])
    info = await prover.userinfo(access)
    assert info.json()["email"] == browser.address
    assert info.headers["dpop-nonce"]
    assert (await prover.userinfo(access, scheme="dpop")).status_code == 200, "schemes ignore the case"
    # The refresh token of a client with a secret is bound to that secret, and not to the key (§5).
    other = Prover(first_party, prover.clock)
    renewed = (await other.send("token", grant_type="refresh_token", refresh_token=tokens["refresh_token"])).json()
    bound = await first_party.verified(renewed["access_token"], first_party.issuer)
    assert bound["cnf"] == {"jkt": other.key.thumbprint}


async def test_a_bound_token_is_refused_without_its_key(prover, first_party):
    browser = first_party.browser()
    tokens = (await prover.exchange(parameters_of(await browser.signed_in())["code"])).json()
    access = tokens["access_token"]
    client, path = first_party.auth.client, f"{first_party.base}/userinfo"
    downgraded = await first_party.userinfo(access)
    assert (downgraded.status_code, downgraded.json()["error"]) == (401, "invalid_token")
    assert downgraded.headers["www-authenticate"].startswith('DPoP error="invalid_token"')
    in_form = await client.request("POST", path, content=urlencode({"access_token": access}), headers=FORM)
    assert in_form.status_code == 401
    bare = await client.get(path, headers={"authorization": f"DPoP {access}"})
    assert (bare.status_code, bare.json()["error"]) == (401, "invalid_dpop_proof")
    stale = await prover.userinfo(access, nonce="1.x")
    assert (stale.status_code, stale.json()["error"]) == (401, "use_dpop_nonce")
    assert 'DPoP error="use_dpop_nonce"' in stale.headers["www-authenticate"]
    assert stale.headers["dpop-nonce"]
    thief = Prover(first_party, prover.clock)
    thief.nonce = prover.nonce
    assert (await thief.userinfo(access)).json()["error"] == "invalid_token"
    assert (await prover.userinfo(access, token="another")).json()["error"] == "invalid_dpop_proof"
    assert (await prover.userinfo(access, token=None)).json()["error"] == "invalid_dpop_proof"
    for scheme in ("Bearer", "DPoP"):
        own = await first_party.auth.client.get("/me", headers={"authorization": f"{scheme} {access}"})
        assert (own.status_code, own.json()["code"]) == (401, "credential_invalid"), "it is for the provider only"
    # A token that is not bound is not accepted as one, so that nobody relies on it.
    bearer = await first_party.tokens(browser)
    assert (await prover.userinfo(bearer["access_token"])).json()["error"] == "invalid_token"
    assert (await prover.userinfo(access)).status_code == 200


async def test_invalid_proofs_are_refused(prover, first_party):
    form = {"grant_type": "client_credentials"}
    await first_party.register(grantTypes=["client_credentials"], scopes=[])
    assert (await prover.send("token", **form)).json()["token_type"] == "DPoP"
    private, other, rsa = prover.key.private_jwk, ClientKey(), ClientKey("RS256")
    url = f"{first_party.issuer}/oauth/token"
    cases = [
        {"jti": ABSENT}, {"htm": ABSENT}, {"htu": ABSENT}, {"iat": ABSENT},
        {"jti": ""}, {"jti": "x" * 256}, {"jti": 1}, {"iat": "now"}, {"iat": True}, {"nonce": 1},
        {"htm": "PUT"}, {"htm": "post"}, {"htu": f"{url}/"}, {"htu": f"{ISSUER}/token"}, {"htu": 7},
        {"htu": url.replace("http://", "https://")}, {"htu": url.replace("http://", "http://x@")}, {"htu": "http://[/"},
        {"htu": url.replace("/token", "%2Ftoken")},
        {"headers": {"typ": "JWT"}}, {"headers": {"typ": ABSENT}}, {"headers": {"jwk": ABSENT}},
        {"headers": {"jwk": private}}, {"headers": {"jwk": other.jwk}}, {"headers": {"jwk": rsa.jwk}},
        {"headers": {"jwk": {"kty": "EC"}}}, {"headers": {"jwk": [1]}},
        {"headers": {"jwk": {**prover.key.jwk, "x": 5}}}, {"headers": {"jwk": {**prover.key.jwk, "crv": "secp256k1"}}},
        {"headers": {"jwk": {"kty": "oct", "k": "c2VjcmV0"}}},
    ]  # fmt: skip
    sent = [prover.sign("token", **case) for case in cases]
    valid = prover.sign("token")
    head, payload, signature = valid.split(".")
    header = {"typ": "dpop+jwt", "jwk": prover.key.jwk}
    claims = jwt.decode(valid, options={"verify_signature": False})
    symmetric = jwt.encode(
        claims, "secret" * 10, algorithm="HS256", headers={**header, "jwk": {"kty": "oct", "k": "c"}}
    )
    surrogate = base64url(rb'{"a":"\ud800"}')
    sent += [
        f"{head}.{payload}.{base64url(b'x' * 64)}", f"{head}.{payload}.", "x", f"{head}.{payload}", "a.b.c",
        f"{valid}, {valid}", "y" * 9_000, jwt.encode(claims, "", algorithm="none", headers=header), symmetric,
        f"{surrogate}.{payload}.{signature}",
    ]  # fmt: skip
    for index, text in enumerate(sent):
        refused = await first_party.send("token", headers={"dpop": text}, **form)
        assert (refused.status_code, refused.json()["error"]) == (400, "invalid_dpop_proof"), (index, refused.text)
    # URLs are compared without query and fragment, and after normalization (§4.3).
    for same in (f"{url}?x=1#y", url.replace("http", "HTTP").replace("oauth", "%6Fauth")):
        response = await first_party.send("token", headers={"dpop": prover.sign("token", htu=same)}, **form)
        assert response.status_code == 200, response.text
    # What a proof says besides is ignored; the nonce takes the place of the client's clock.
    odd = prover.sign("token", iat=1, exp=2, nbf=4_000_000_000, headers={"x": 1}, aud="other")
    assert (await first_party.send("token", headers={"dpop": odd}, **form)).status_code == 200
    client = first_party.oauth_client
    content = urlencode({**form, "client_id": client["clientId"], "client_secret": client["clientSecret"]})
    headers = [("content-type", FORM["content-type"]), ("dpop", valid), ("dpop", prover.sign("token"))]
    twice = await first_party.auth.client.http.post(f"{first_party.base}/token", content=content, headers=headers)
    assert twice.json()["error"] == "invalid_dpop_proof"


@pytest.mark.parametrize("algorithm", ["EdDSA", "RS256", "PS256"])
async def test_proofs_can_be_signed_with(first_party, clock, algorithm):
    await first_party.register(grantTypes=["client_credentials"], scopes=[])
    prover = Prover(first_party, clock, ClientKey(algorithm))
    tokens = (await prover.send("token", grant_type="client_credentials")).json()
    claims = await first_party.verified(tokens["access_token"], first_party.issuer)
    assert claims["cnf"] == {"jkt": prover.key.thumbprint}


async def test_a_proof_works_once_and_for_five_minutes(prover, first_party, clock, run_due_work, world):
    form = {"grant_type": "client_credentials"}
    await first_party.register(grantTypes=["client_credentials"], scopes=[])
    await prover.send("token", **form)
    header = {"dpop": prover.sign("token")}
    responses = await asyncio.gather(*(first_party.send("token", headers=header, **form) for _ in range(3)))
    assert sorted(response.status_code for response in responses) == [200, 400, 400]
    refused = next(response for response in responses if response.status_code == 400)
    assert (refused.json()["error"], refused.headers["cache-control"]) == ("invalid_dpop_proof", "no-store")

    async def count():
        async with world.db.connection() as connection:
            query = "select count(*) from oauth_used_jwts where project_id = %s"
            return (await (await connection.execute(query, [first_party.project.id])).fetchone())[0]

    assert await count() == 2
    early = prover.sign("token")
    clock.move(NONCE_LIFE + timedelta(minutes=1, seconds=1))
    late = await first_party.send("token", headers={"dpop": early}, **form)
    assert late.json()["error"] == "use_dpop_nonce"
    await run_due_work()
    assert await count() == 0


async def test_nonces_of_other_projects_and_forged_ones_are_refused(prover, first_party, new_project):
    form = {"grant_type": "client_credentials"}
    await first_party.register(grantTypes=["client_credentials"], scopes=[])
    await prover.send("token", **form)
    step, _, signature = prover.nonce.partition(".")
    for nonce in (f"{int(step, 16) + 1:x}.{signature}", f"-1.{signature}", f"{'f' * 40}.x", ".", "é.é", step, ABSENT):
        refused = await first_party.send("token", headers={"dpop": prover.sign("token", nonce=nonce)}, **form)
        assert (refused.status_code, refused.json()["error"]) == (400, "use_dpop_nonce"), nonce
    other = await new_project()
    foreign = Provider(replace(first_party.auth, project=other))
    await foreign.register(grantTypes=["client_credentials"], scopes=[])
    thief = Prover(foreign, prover.clock, prover.key)
    thief.nonce = prover.nonce
    refused = await foreign.send("token", headers={"dpop": thief.sign("token")}, **form)
    assert refused.json()["error"] == "use_dpop_nonce"


async def test_a_client_can_require_bound_tokens(prover, first_party):
    client = await first_party.register(firstParty=True, requireDpop=True)
    assert client["requireDpop"] is True
    browser = first_party.browser()
    code = parameters_of(await browser.signed_in())["code"]
    refused = await first_party.exchange(code)
    assert (refused.status_code, refused.json()["error"]) == (400, "invalid_dpop_proof")
    tokens = (await prover.exchange(code)).json()
    refresh = {"grant_type": "refresh_token", "refresh_token": tokens["refresh_token"]}
    assert (await first_party.send("token", **refresh)).json()["error"] == "invalid_dpop_proof"
    assert (await prover.send("token", **refresh)).json()["token_type"] == "DPoP"
    path = f"/oauth-clients/{client['id']}"
    changed = await first_party.project.developer.patch(path, {"requireDpop": False})
    assert changed.json()["requireDpop"] is False
    assert (await first_party.exchange(await code_of(browser))).json()["token_type"] == "Bearer"


async def test_refresh_tokens_of_public_clients_are_bound_to_the_key(prover, first_party, clock):
    await first_party.register(type="PUBLIC", firstParty=True)
    browser = first_party.browser()
    code = parameters_of(await browser.signed_in())["code"]
    token = (await prover.exchange(code)).json()["refresh_token"]

    async def refresh(sender, token):
        return await sender.send("token", grant_type="refresh_token", refresh_token=token)

    thief = Prover(first_party, clock)
    for stolen in (await refresh(first_party, token), await refresh(thief, token)):
        assert (stolen.status_code, stolen.json()["error"]) == (400, "invalid_grant")
    renewed = await refresh(prover, token)
    assert renewed.json()["token_type"] == "DPoP"
    clock.move(REFRESH_GRACE + timedelta(seconds=1))
    assert (await refresh(thief, token)).json()["error"] == "invalid_grant"
    assert (await refresh(prover, renewed.json()["refresh_token"])).status_code == 200, "a thief cannot end the sign-in"
    # Without a proof at the code, they are Bearer tokens, also if a later access token is bound.
    plain = (await first_party.exchange(await code_of(browser))).json()
    assert (await refresh(prover, plain["refresh_token"])).json()["token_type"] == "DPoP"


async def test_a_code_is_bound_to_the_key_of_the_request(prover, first_party):
    browser = first_party.browser()
    await browser.signed_in()
    thief = Prover(first_party, prover.clock)
    jkt = prover.key.thumbprint
    code = await code_of(browser, dpop_jkt=jkt)
    for stolen in (await first_party.exchange(code), await thief.exchange(code)):
        assert (stolen.status_code, stolen.json()["error"]) == (400, "invalid_grant")
    assert (await prover.exchange(code)).status_code == 200
    for wrong in ("x", f"{jkt}x", "=" * 43):
        assert parameters_of(await browser.authorize(dpop_jkt=wrong))["error"] == "invalid_request"
    # A proof with a pushed request does the same (§10.1).
    request = first_party.request()
    del request["client_id"]
    mismatch = await prover.send("par", dpop_jkt=thief.key.thumbprint, **request)
    assert (mismatch.status_code, mismatch.json()["error"]) == (400, "invalid_dpop_proof")
    for jkt_field in ({}, {"dpop_jkt": jkt}):
        pushed = (await prover.send("par", **request, **jkt_field)).json()
        client_id = first_party.oauth_client["clientId"]
        opened = await browser.open(
            f"{first_party.base}/authorize?{urlencode({'client_id': client_id, 'request_uri': pushed['request_uri']})}"
        )
        code = parameters_of(opened)["code"]
        assert (await thief.exchange(code)).json()["error"] == "invalid_grant"
        assert (await prover.exchange(code)).status_code == 200


async def test_devices_get_bound_tokens(auth, clock):
    television = Provider(auth)
    await television.register(type="PUBLIC", redirectUris=[], grantTypes=[DEVICE_GRANT, "refresh_token"])
    prover = Prover(television, clock)
    device = await begin(television)
    browser = television.browser()
    page = await consent_page(browser, device)
    assert (await browser.submit(page, decision="allow")).status_code == 200
    tokens = await prover.send("token", grant_type=DEVICE_GRANT, device_code=device["device_code"])
    assert tokens.json()["token_type"] == "DPoP"
    refresh = {"grant_type": "refresh_token", "refresh_token": tokens.json()["refresh_token"]}
    assert (await television.send("token", **refresh)).json()["error"] == "invalid_grant"
    assert (await prover.send("token", **refresh)).status_code == 200


async def test_browsers_may_send_proofs_and_read_nonces(prover, first_party):
    origin = {"origin": "https://spa.example"}
    preflight = {**origin, "access-control-request-method": "POST", "access-control-request-headers": "dpop"}
    allowed = await first_party.auth.client.request("OPTIONS", f"{first_party.base}/token", headers=preflight)
    assert "dpop" in allowed.headers["access-control-allow-headers"]
    refused = await first_party.send("token", headers={**origin, "dpop": prover.sign("token")}, grant_type="x")
    assert "dpop-nonce" in refused.headers["access-control-expose-headers"]
    assert refused.headers["dpop-nonce"]


async def test_an_api_accepts_a_bound_token_with_its_proof_by_the_sdk(prover, first_party, clock):
    """The SDK's ResourceServer with tokens and signing keys of the application."""
    notes = "https://notes.example.com/mcp"
    api = {"identifier": notes, "name": "Northwind Notes", "scopes": []}
    assert (await first_party.project.developer.post("/oauth-resources", api)).status_code == 201
    code = parameters_of(await first_party.browser().signed_in(resource=notes))["code"]
    access = (await prover.exchange(code)).json()["access_token"]
    keys = f"/projects/{first_party.project.id}/.well-known/jwks.json"
    async with http_receiver() as receiver:
        receiver.script(keys, Reply(body=(await first_party.auth.client.get(keys)).content))
        resource = ResourceServer(
            notes,
            url=ISSUER,
            project=first_party.project.id,
            internal_url=receiver.url(""),
            clock=lambda: clock().timestamp(),
        )

        def sign(**claims):
            return prover.key.dpop_proof("GET", notes, None, now=clock().timestamp(), **{"token": access, **claims})

        async def call(text):
            return await resource.authenticate_dpop_async(access, text, method="GET", url=f"{notes}?page=2")

        first = sign()
        assert (await call(first)).client_id == first_party.oauth_client["clientId"]
        for wrong in (first, sign(token="other"), sign(htm="POST"), sign(htu="https://photos.example.com/mcp")):
            with pytest.raises(ProofInvalid):
                await call(wrong)
        with pytest.raises(TokenInvalid, match="without a proof"):
            await resource.authenticate_async(access)
