"""ID tokens that must be rejected, in sign-ins of customers at a provider."""

import json
import time
from datetime import timedelta

import pytest
from cryptography.hazmat.primitives.asymmetric import rsa

from tests.identity.customers.conftest import auth, new_address
from tests.identity.customers.test_providers import provider, provider_browser, query_of, settings

__all__ = ["auth", "provider", "provider_browser", "settings"]


@pytest.mark.parametrize(
    "claims",
    [
        {"iss": "https://evil.example"},
        {"aud": "another client"},
        {"aud": ["client", "another"]},
        {"aud": ["client", "another"], "azp": "another"},
        {"nonce": "another nonce"},
        {"nonce": None},
        {"exp": timedelta(minutes=-2)},
        {"exp": None},
        {"exp": "tomorrow"},
        {"iat": timedelta(hours=1), "exp": timedelta(hours=2)},
        {"nbf": timedelta(hours=1)},
        {"nbf": "now"},
        {"nbf": True},
        {"sub": None},
        {"sub": "x" * 300},
    ],
    ids=lambda claims: "-".join(claims),
)
async def test_an_id_token_with_a_wrong_claim_is_rejected(provider_browser, project, claims):
    """Times are relative to the sign-in, because the parameters are made long before it."""
    now = int(time.time())
    claims = {
        name: now + int(value.total_seconds()) if isinstance(value, timedelta) else value
        for name, value in claims.items()
    }
    assert await provider_browser.sign_in(email=new_address(), email_verified=True, **claims) == "provider_error"
    assert (await project.client.get("/customers/stats")).json()["total"] == 0


async def test_the_time_before_which_an_id_token_is_invalid_is_compared_with_the_clock_of_the_server(
    provider_browser, clock
):
    """With the accepted difference between the clocks, and not with the time of the machine."""
    clock.move(timedelta(hours=2))
    for early, signed_in in ((30, True), (90, False)):
        not_before = int(clock().timestamp()) + early
        result = await provider_browser.sign_in(email=new_address(), email_verified=True, nbf=not_before)
        assert (result != "provider_error") is signed_in


@pytest.mark.parametrize(
    "defect", ["alg none", "HS256 with the public key", "another key", "unknown kid", "no kid, two keys"]
)
async def test_an_id_token_with_a_wrong_signature_is_rejected(provider_browser, project, provider, defect):
    if defect == "alg none":
        provider.algorithm, provider.signing_key = "none", None
    elif defect == "HS256 with the public key":
        # PyJWT refuses to use a public key as an HMAC key; the tool of an attacker does not.
        from jwt.algorithms import HMACAlgorithm

        prepare = HMACAlgorithm.prepare_key
        HMACAlgorithm.prepare_key = lambda self, key: key  # type: ignore[method-assign]
        provider.algorithm, provider.signing_key = "HS256", provider.public_pem()
    elif defect == "another key":
        provider.signing_key = rsa.generate_private_key(public_exponent=65_537, key_size=2_048)
    elif defect == "unknown kid":
        provider.header = {"kid": "two"}
    else:
        provider.header, provider.key_ids = {}, ["one", "two"]
    try:
        assert await provider_browser.sign_in(email=new_address(), email_verified=True) == "provider_error"
    finally:
        if defect.startswith("HS256"):
            HMACAlgorithm.prepare_key = prepare  # type: ignore[method-assign]
    assert (await project.client.get("/customers/stats")).json()["total"] == 0


@pytest.mark.parametrize(
    "claims",
    [
        {"sub": "a\0b"},
        {"email": "a\0b@example.com", "email_verified": True},
        {"name": "\0"},
        {"name": "\ud800"},
        {"sub": ["a"]},
        {"exp": 10**30},
        {"exp": True},
        {"iat": "now"},
        {"aud": 7},
        {"aud": [7, None]},
        {"azp": []},
        {"nonce": 7},
        {"deep": json.loads("[" * 100 + "]" * 100)},
        {"\0": 1},
    ],
    ids=str,
)
async def test_hostile_claims_are_rejected_with_a_reason(provider_browser, provider, claims):
    """Regression test of S12 (tests/defects.md)."""
    provider.claims = claims
    parameters = query_of(await provider_browser.come_back(await provider_browser.start()))
    assert parameters["error"] == "provider_error"
    assert parameters["error_description"].startswith("ID token refused: ")


@pytest.mark.parametrize(
    "token", ["", "a", "a.b", "a.b.c", "..", "é.é.é", "e30.e30.", "bnVsbA.bnVsbA.x", "x" * 70_000, "W1tb.W1tb.W1tb"]
)
async def test_a_malformed_id_token_is_rejected(provider_browser, provider, token):
    """Regression test of S12 (tests/defects.md)."""
    provider.token = token or " "
    assert query_of(await provider_browser.come_back(await provider_browser.start()))["error"] == "provider_error"
