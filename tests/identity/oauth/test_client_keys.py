"""Clients that authenticate with a key (`private_key_jwt`, RFC 7523)."""

import asyncio
import json
from datetime import timedelta

import jwt
import msgspec
import pytest

from postern.identity.customers.oidc import KEY_REFETCH_INTERVAL
from postern.identity.oauth import client_authentication
from postern.kernel.limits import RateLimit
from postern.kernel.outbound.ssrf import read_networks
from tests.identity.oauth.conftest import FORM
from tests.identity.oauth.keys import ABSENT, ASSERTION_TYPE, ClientKey
from tests.peers.http_receiver import Reply, http_receiver

MACHINE = {"grantTypes": ["client_credentials"], "scopes": []}


@pytest.fixture
def settings(settings):
    return msgspec.structs.replace(settings, outbound_allow=tuple(read_networks("127.0.0.0/8")))


class Machine:
    """A client that asks for tokens for itself, with its key."""

    def __init__(self, provider, clock, key=None):
        self.provider, self.clock, self.key = provider, clock, key or ClientKey()

    def sign(self, audience=None, client_id=None, **changes):
        client_id = client_id or self.provider.oauth_client["clientId"]
        now = self.clock().timestamp()
        return self.key.assertion(client_id, audience or self.provider.issuer, **{"now": now, **changes})

    async def send(self, endpoint="token", **fields):
        client_id = {"clientId": None}
        return await self.provider.send(endpoint, client_id, grant_type="client_credentials", **fields)


@pytest.fixture
async def machine(provider, clock):
    machine = Machine(provider, clock)
    await provider.register(jwks=machine.key.jwks(), **MACHINE)
    return machine


async def test_a_client_authenticates_with_its_key(machine, provider):
    assert (provider.oauth_client["clientSecret"], provider.oauth_client["secretLastFour"]) == (None, None)
    token = f"{provider.issuer}/oauth/token"
    for audience in (provider.issuer, token, [provider.issuer, token], [token]):
        response = await machine.send(**machine.sign(audience))
        assert response.status_code == 200, response.text
    assert response.json()["token_type"] == "Bearer"
    named = await machine.send(client_id=provider.oauth_client["clientId"], **machine.sign(headers={"kid": ABSENT}))
    assert named.status_code == 200
    state = await machine.send("introspect", token=response.json()["access_token"], **machine.sign())
    assert state.json()["active"] is True
    revoked = await machine.send("revoke", token="x", **machine.sign(f"{provider.issuer}/oauth/revoke"))
    assert revoked.status_code == 200


@pytest.mark.parametrize("algorithm", ["EdDSA", "RS256", "PS256"])
async def test_assertions_can_be_signed_with(provider, clock, algorithm):
    machine = Machine(provider, clock, ClientKey(algorithm))
    await provider.register(jwks=machine.key.jwks(), **MACHINE)
    assert (await machine.send(**machine.sign())).status_code == 200


async def test_invalid_assertions_are_refused(machine, provider, clock, monkeypatch):
    monkeypatch.setattr(client_authentication, "AUTHENTICATION_RATE", RateLimit("x", 1_000, timedelta(minutes=1)))
    now, other = int(clock().timestamp()), ClientKey()
    client_id, issuer = provider.oauth_client["clientId"], provider.issuer
    cases = [
        {"iss": ABSENT}, {"sub": ABSENT}, {"aud": ABSENT}, {"exp": ABSENT}, {"jti": ABSENT},
        {"iss": "other"}, {"sub": "other"}, {"sub": 1}, {"aud": f"{issuer}/other"}, {"aud": []}, {"aud": 7},
        {"aud": [issuer, "https://evil.example"]}, {"aud": f"{issuer}/oauth/par"}, {"jti": ""}, {"jti": "x" * 256},
        {"exp": now - 60}, {"exp": now + 3_661}, {"exp": "soon"}, {"iat": now + 61}, {"nbf": now + 61}, {"nbf": "x"},
        {"headers": {"kid": "k2"}}, {"headers": {"kid": "k" * 3_000}}, {"headers": {"typ": "dpop+jwt"}},
        {"headers": {"typ": "at+jwt"}},
    ]  # fmt: skip
    forms = [machine.sign(**case) for case in cases]
    valid = machine.sign()
    head, payload, signature = valid["client_assertion"].split(".")
    forged = [
        "x", "a.b.c", f"{head}.{payload}.", f"{head}.{payload}.{signature[::-1]}", "y" * 9_000,
        jwt.encode({"sub": client_id}, "", algorithm="none"), "",
    ]  # fmt: skip
    forms += [{**valid, "client_assertion": text} for text in forged]
    forms += [
        other.assertion(client_id, issuer, now=now), {**valid, "client_assertion_type": "other"},
        {"client_assertion": valid["client_assertion"]}, {"client_assertion_type": ASSERTION_TYPE},
        {**valid, "client_id": "other"}, {"client_id": client_id}, {"client_id": client_id, "client_secret": "ocs_x"},
        machine.sign(client_id="01a00000-0000-7000-8000-000000000000"),
    ]  # fmt: skip
    for index, form in enumerate(forms):
        refused = await machine.send(**form)
        assert (refused.status_code, refused.json()["error"]) == (401, "invalid_client"), (index, refused.text)
    twice = await machine.send(client_secret="ocs_x", **valid)
    assert (twice.status_code, twice.json()["error"]) == (400, "invalid_request")
    basic = await machine.send(headers={**FORM, "authorization": "Basic eDp5"}, **valid)
    assert (basic.status_code, basic.json()["error"]) == (400, "invalid_request")
    assert (await machine.send(**valid)).status_code == 200, "none of these has used it up"


async def test_an_assertion_works_once(machine, clock, run_due_work, world, provider):
    form = machine.sign()
    responses = await asyncio.gather(*(machine.send(**form) for _ in range(3)))
    assert sorted(response.status_code for response in responses) == [200, 401, 401]
    # Another client may use the same `jti`.
    await provider.register(jwks=machine.key.jwks(), **MACHINE)
    assert (await machine.send(**machine.sign(jti="same"))).status_code == 200
    await provider.register(jwks=machine.key.jwks(), **MACHINE)
    assert (await machine.send(**machine.sign(jti="same"))).status_code == 200
    clock.move(timedelta(minutes=3))
    assert (await machine.send(**machine.sign(jti="same"))).status_code == 401, "its first use is not forgotten yet"
    await run_due_work()
    async with world.db.connection() as connection:
        query = "select count(*) from oauth_used_jwts where project_id = %s"
        assert (await (await connection.execute(query, [provider.project.id])).fetchone())[0] == 0


async def test_a_client_publishes_its_keys(provider, clock, monkeypatch):
    machine, next_key = Machine(provider, clock), ClientKey()
    async with http_receiver() as receiver:
        receiver.script("/jwks", Reply(body=json.dumps(machine.key.jwks()).encode()))
        await provider.register(jwksUri=receiver.url("/jwks"), **MACHINE)
        for _ in range(2):
            assert (await machine.send(**machine.sign())).status_code == 200
        assert len(receiver.requests) == 1, "they are cached"
        # Rotation: an unknown `kid` is looked for again after a minute.
        receiver.script("/jwks", Reply(body=json.dumps(next_key.jwks("k2")).encode()))
        machine.key = next_key
        assert (await machine.send(**machine.sign(headers={"kid": "k2"}))).status_code == 401
        assert len(receiver.requests) == 1
        clock.move(KEY_REFETCH_INTERVAL)
        assert (await machine.send(**machine.sign(headers={"kid": "k2"}))).status_code == 200
        assert len(receiver.requests) == 2
        # An address that does not answer, or not with keys, is not asked for each request.
        monkeypatch.setattr(client_authentication, "KEYS_RATE", RateLimit("oauth-client-keys", 3, timedelta(minutes=1)))
        await provider.register(jwksUri=receiver.url("/broken"), **MACHINE)
        replies = (Reply(status=500), Reply(body=b"[]"), Reply(body=b'{"keys": 5}'))
        receiver.script("/broken", *replies)
        for _ in replies:
            refused = await machine.send(**machine.sign(headers={"kid": "k2"}))
            assert (refused.status_code, refused.json()["error"]) == (401, "invalid_client")
    assert (await machine.send(**machine.sign())).status_code in (401, 429)
    inside = {"name": "x", "jwksUri": "http://10.0.0.1/jwks", **MACHINE}
    refused = await provider.project.developer.post("/oauth-clients", inside)
    assert refused.json()["errors"][0]["path"] == "/jwksUri"


async def test_invalid_keys_are_refused_with_the_location(provider):
    key, rsa = ClientKey(), ClientKey("RS256")
    cases = [
        ({"jwks": {"keys": []}}, "/jwks/keys"),
        ({"jwks": {"keys": [{"kty": "oct", "k": "c2VjcmV0"}]}}, "/jwks/keys/0"),
        ({"jwks": {"keys": [key.private_jwk]}}, "/jwks/keys/0"),
        ({"jwks": {"keys": [{**key.jwk, "crv": "P-384"}]}}, "/jwks/keys/0"),
        ({"jwks": {"keys": [{**key.jwk, "use": "enc"}]}}, "/jwks/keys/0"),
        ({"jwks": {"keys": [{**key.jwk, "alg": "ES512"}]}}, "/jwks/keys/0"),
        ({"jwks": {"keys": [{**rsa.jwk, "n": "AQAB"}]}}, "/jwks/keys/0"),
        ({"jwks": {"keys": [key.jwk, rsa.jwk]}}, "/jwks/keys/0/kid"),
        ({"jwks": {"keys": [{**key.jwk, "kid": "a"}, {**rsa.jwk, "kid": "a"}]}}, "/jwks/keys/0/kid"),
        ({"jwks": key.jwks(), "jwksUri": "https://reports.example.com/jwks"}, "/jwksUri"),
        ({"jwks": key.jwks(), "type": "PUBLIC", "grantTypes": ["authorization_code"]}, "/jwks"),
        ({"securityProfile": "FAPI2"}, "/jwks"),
        ({"securityProfile": "FAPI2", "jwks": key.jwks()}, "/requireDpop"),
        ({"securityProfile": "FAPI2", "jwks": {"keys": [{**rsa.jwk, "alg": "RS256"}]}}, "/jwks/keys/0/alg"),
        (
            {
                "securityProfile": "FAPI2",
                "jwks": key.jwks(),
                "requireDpop": True,
                "redirectUris": ["http://127.0.0.1/x"],
            },
            "/redirectUris/0",
        ),
        (
            {
                "securityProfile": "FAPI2",
                "jwks": key.jwks(),
                "requireDpop": True,
                "grantTypes": ["urn:ietf:params:oauth:grant-type:device_code"],
            },
            "/grantTypes/0",
        ),
    ]
    for fields, path in cases:
        body = {"name": "x", "redirectUris": ["https://reports.example.com/callback"], **fields}
        refused = await provider.project.developer.post("/oauth-clients", body)
        assert refused.status_code == 400, (fields, refused.text)
        assert refused.json()["errors"][0]["path"] == path, refused.text


async def test_a_secret_ends_when_the_client_gets_a_key(provider, clock):
    machine = Machine(provider, clock)
    client = await provider.register(**MACHINE)
    path = f"/oauth-clients/{client['id']}"
    developer = provider.project.developer
    assert (await provider.send("token", grant_type="client_credentials")).status_code == 200
    changed = await developer.patch(path, {"jwks": {"keys": [{**machine.key.jwk, "kid": "k1", "ext": True}]}})
    assert changed.status_code == 200, changed.text
    assert (changed.json()["secretLastFour"], changed.json()["jwks"]["keys"][0]["kid"]) == (None, "k1")
    assert (await provider.send("token", grant_type="client_credentials")).status_code == 401
    assert (await machine.send(**machine.sign())).status_code == 200
    rotated = await developer.post(f"{path}/rotate-secret")
    assert (rotated.status_code, rotated.json()["code"]) == (409, "oauth_client_has_keys")
    assert (await developer.patch(path, {"jwks": None})).json()["jwks"] is None
    assert (await provider.send("token", grant_type="client_credentials")).status_code == 401, "the old one is gone"
    client = (await developer.post(f"{path}/rotate-secret")).json()
    assert (await provider.send("token", client, grant_type="client_credentials")).status_code == 200
    assert (await machine.send(**machine.sign())).status_code == 401
