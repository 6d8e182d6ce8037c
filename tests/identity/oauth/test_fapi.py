"""Clients that are held to the FAPI 2.0 Security Profile."""

from datetime import timedelta
from urllib.parse import urlencode

import pytest

from postern.identity.oauth import client_authentication
from postern.identity.oauth.model import CODE_LIFE, PUSHED_LIFE
from postern.kernel.limits import RateLimit
from postern.security.sessions import REFRESH_GRACE
from tests.identity.oauth.conftest import REDIRECT_URI, VERIFIER, parameters_of
from tests.identity.oauth.keys import ABSENT, ClientKey

GRANTS = ["authorization_code", "refresh_token", "client_credentials"]


class Bank:
    """A client with a key for its authentication and one for its tokens."""

    def __init__(self, provider, clock, key=None):
        self.provider, self.clock = provider, clock
        self.key, self.token_key = key or ClientKey(), ClientKey()
        self.nonce = None
        self.client = None

    async def register(self, **fields):
        profile = {"securityProfile": "FAPI2", "requireDpop": True, "grantTypes": GRANTS, "firstParty": True}
        self.client = await self.provider.register(**profile, jwks=self.key.jwks(), **fields)
        return self

    def sign(self, **changes):
        now = self.clock().timestamp()
        return self.key.assertion(self.client["clientId"], self.provider.issuer, **{"now": now, **changes})

    def dpop(self, endpoint, method="POST", key=None, **claims):
        url = f"{self.provider.issuer}/oauth/{endpoint}"
        return (key or self.token_key).dpop_proof(method, url, self.nonce, now=self.clock().timestamp(), **claims)

    async def send(self, endpoint, key=None, bound=True, signed=None, **fields):
        for _ in range(2):
            headers = {"dpop": self.dpop(endpoint, key=key)} if bound else None
            form = {**(self.sign() if signed is None else signed), **fields}
            response = await self.provider.send(endpoint, {"clientId": None}, headers, **form)
            self.nonce = response.headers.get("dpop-nonce", self.nonce)
            if response.json().get("error") != "use_dpop_nonce":
                break
        return response

    async def push(self, bound=False, **fields):
        parameters = self.provider.request(**{"client_id": None, **fields})
        return await self.send("par", bound=bound, **parameters)

    async def open(self, browser, pushed, **fields):
        request = {"client_id": self.client["clientId"], "request_uri": pushed.json()["request_uri"], **fields}
        return await browser.open(f"{self.provider.base}/authorize?{urlencode(request)}")

    async def code(self, browser, **fields):
        return parameters_of(await self.open(browser, await self.push(**fields)))["code"]

    async def exchange(self, code, **fields):
        form = {"code": code, "redirect_uri": REDIRECT_URI, "code_verifier": VERIFIER, **fields}
        form = {name: value for name, value in form.items() if value is not None}
        return await self.send("token", grant_type="authorization_code", **form)

    async def userinfo(self, token, method="GET", key=None, **claims):
        headers = {"authorization": f"DPoP {token}", "dpop": self.dpop("userinfo", method, key, token=token, **claims)}
        return await self.provider.auth.client.request(method, f"{self.provider.base}/userinfo", headers=headers)


@pytest.fixture
async def bank(provider, clock):
    return await Bank(provider, clock).register()


@pytest.fixture
async def browser(bank, provider):
    """A browser that is signed in."""
    browser = provider.browser()
    await provider.auth.signed_up(browser.address)
    await browser.sign_in(await bank.open(browser, await bank.push()))
    return browser


async def test_a_customer_signs_in_at_a_fapi_client(bank, browser, provider, clock):
    pushed = await bank.push(nonce="n" * 64)
    assert 5 <= pushed.json()["expires_in"] < 600
    response = parameters_of(await bank.open(browser, pushed))
    assert response["iss"] == provider.issuer
    tokens = (await bank.exchange(response["code"])).json()
    assert (tokens["token_type"], tokens["expires_in"]) == ("DPoP", 600)
    claims = await provider.verified(tokens["id_token"], bank.client["clientId"])
    assert claims["nonce"] == "n" * 64
    assert (await bank.userinfo(tokens["access_token"])).json()["email"] == browser.address
    # Refresh tokens do not rotate (§5.3.2.1): they are bound to the key with which the client authenticates.
    token = tokens["refresh_token"]
    for _ in range(2):
        renewed = await bank.send("token", grant_type="refresh_token", refresh_token=token)
        assert renewed.json()["refresh_token"] == token
        clock.move(REFRESH_GRACE + timedelta(seconds=1))
    assert (await bank.send("token", bound=False, grant_type="refresh_token", refresh_token=token)).status_code == 400
    other = await Bank(provider, clock).register()
    stolen = await other.send("token", grant_type="refresh_token", refresh_token=token)
    assert stolen.json()["error"] == "invalid_grant"
    machine = await bank.send("token", grant_type="client_credentials")
    assert machine.json()["token_type"] == "DPoP"
    await bank.send("revoke", token=token)
    assert (await bank.send("token", grant_type="refresh_token", refresh_token=token)).json()[
        "error"
    ] == "invalid_grant"


async def test_other_requests_are_refused(bank, browser, provider):
    direct = parameters_of(await browser.authorize())
    assert (direct["error"], direct["iss"]) == ("invalid_request", provider.issuer)
    for fields, error in (
        ({"code_challenge": None}, "invalid_request"),
        ({"code_challenge_method": "plain"}, "invalid_request"),
        ({"response_type": "code id_token"}, "unsupported_response_type"),
        ({"response_type": "token"}, "unsupported_response_type"),
        ({"redirect_uri": None}, "invalid_request"),
        ({"redirect_uri": f"{REDIRECT_URI}/other"}, "invalid_request"),
        ({"request_uri": "https://reports.example.com/request"}, "invalid_request"),
        ({"request": "a.b.c"}, "request_not_supported"),
        ({"state": "s" * 2_001}, "invalid_request"),
        ({"nonce": "n" * 2_001}, "invalid_request"),
    ):
        refused = await bank.push(**fields)
        assert (refused.status_code, refused.json()["error"]) == (400, error), fields
    assert (await bank.exchange(await bank.code(browser, nonce=None, state=None))).status_code == 200
    assert (await bank.exchange(await bank.code(browser, nonce="n" * 384, state="s" * 384))).status_code == 200
    got = await provider.auth.client.get(f"{provider.base}/par")
    assert got.status_code in (404, 405)


async def test_a_pushed_request_is_used_up_by_the_authorization(bank, provider, clock):
    browser, second = provider.browser(), provider.browser()
    await provider.auth.signed_up(browser.address)
    pushed = await bank.push()
    first, again = await bank.open(browser, pushed), await bank.open(second, pushed)
    assert (first.status_code, again.status_code) == (302, 302), "a page may be loaded twice"
    clock.move(PUSHED_LIFE + timedelta(seconds=1))
    assert (await bank.open(browser, pushed)).status_code == 400
    assert "code" in parameters_of(await browser.sign_in(first)), "signing in may take longer"
    late = await second.sign_in(again, browser.address)
    assert late.status_code == 400
    assert "finished already" in late.text
    other = await Bank(provider, clock).register()
    pushed = await bank.push()
    stolen = {"client_id": other.client["clientId"], "request_uri": pushed.json()["request_uri"]}
    refused = await browser.open(f"{provider.base}/authorize?{urlencode(stolen)}")
    assert (refused.status_code, "location" in refused.headers) == (400, False)


async def test_codes_and_tokens_are_bound(bank, browser, provider, clock):
    thief = await Bank(provider, clock).register()
    code = await bank.code(browser)
    for fields in ({"code_verifier": None}, {"code_verifier": "w" * 43}, {"redirect_uri": f"{REDIRECT_URI}2"}):
        refused = await bank.exchange(code, **fields)
        assert refused.json()["error"] == "invalid_grant", fields
    assert (await thief.exchange(code)).json()["error"] == "invalid_grant"
    unbound = await bank.exchange(code, bound=False)
    assert (unbound.status_code, unbound.json()["error"]) == (400, "invalid_dpop_proof")
    assert (await bank.exchange(code, signed={})).status_code == 401
    tokens = (await bank.exchange(code)).json()
    assert (await bank.userinfo(tokens["access_token"])).status_code == 200
    clock.move(timedelta(seconds=1))
    assert (await bank.exchange(code)).json()["error"] == "invalid_grant"
    assert (await bank.userinfo(tokens["access_token"])).status_code == 401, "a replayed code revokes the tokens"
    late = await bank.code(browser)
    clock.move(CODE_LIFE + timedelta(seconds=1))
    assert (await bank.exchange(late)).json()["error"] == "invalid_grant"
    # The key of a proof that was pushed, or of `dpop_jkt`, is the only one that works.
    for request in ({"bound": True}, {"dpop_jkt": bank.token_key.thumbprint}):
        code = await bank.code(browser, **request)
        assert (await bank.exchange(code, key=ClientKey())).json()["error"] == "invalid_grant"
        assert (await bank.exchange(code)).status_code == 200
    mismatch = await bank.push(bound=True, dpop_jkt=ClientKey().thumbprint)
    assert (mismatch.status_code, mismatch.json()["error"]) == (400, "invalid_dpop_proof")
    near = [{"iat": int(clock().timestamp()) + offset} for offset in (-10, 10)]
    access = (await bank.exchange(await bank.code(browser))).json()["access_token"]
    for claims in (*near, {"nbf": int(clock().timestamp()), "exp": int(clock().timestamp()) + 300}):
        assert (await bank.userinfo(access, **claims)).status_code == 200


async def test_assertions_are_for_the_issuer_only(bank, provider, clock, monkeypatch):
    monkeypatch.setattr(client_authentication, "AUTHENTICATION_RATE", RateLimit("x", 1_000, timedelta(minutes=1)))
    now, issuer = int(clock().timestamp()), provider.issuer
    for claims in (
        {"aud": [issuer]}, {"aud": f"{issuer}/oauth/token"}, {"aud": f"{issuer}/oauth/par"}, {"aud": "https://x.example"},
        {"sub": ABSENT}, {"exp": now - 300}, {"iat": now + 61, "nbf": now + 61, "exp": now + 120},
    ):  # fmt: skip
        for endpoint in ("par", "token"):
            refused = await bank.send(endpoint, signed=bank.sign(**claims), grant_type="client_credentials")
            assert (refused.status_code, refused.json()["error"]) == (401, "invalid_client"), claims
    early = bank.sign(iat=now + 8, nbf=now + 8)
    assert (await bank.send("token", signed=early, bound=False, grant_type="x")).status_code == 400
    another = await bank.send(
        "token", client_id="01a00000-0000-7000-8000-000000000000", grant_type="client_credentials"
    )
    assert another.json()["error"] == "invalid_client"


async def test_rs256_is_refused(provider, clock):
    rsa = ClientKey("PS256")
    bank = await Bank(provider, clock, rsa).register()
    bank.token_key = rsa
    tokens = await bank.send("token", grant_type="client_credentials")
    assert tokens.json()["token_type"] == "DPoP"
    weak = bank.sign(algorithm="RS256")
    assert (await bank.send("token", signed=weak, grant_type="client_credentials")).status_code == 401
    weak_proof = await bank.send("token", key=ClientKey("RS256"), grant_type="client_credentials")
    assert weak_proof.json()["error"] == "invalid_dpop_proof"
