"""`postern_sdk.sessions`: which tokens are accepted, and how the signing keys are kept.

The tokens are signed here, because a real server issues none that are wrong; tests/sdk/test_sign_in.py uses tokens of
real sign-ins.
"""

import asyncio
import base64
import hashlib
import hmac
import json
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from postern_sdk.errors import ConfigurationError
from postern_sdk.sessions import (
    PermissionDenied,
    PermissionsUnavailable,
    SessionVerifier,
    SigningKeysUnavailable,
    TokenExpired,
    TokenInvalid,
)

from tests.sdk.token_issuer import ABSENT, WAIT_SECONDS, TokenIssuer, token_issuer


@pytest.fixture
def issuer():
    with token_issuer() as issuer:
        yield issuer


@pytest.fixture
def verifier(issuer: TokenIssuer) -> SessionVerifier:
    return SessionVerifier(issuer.url, issuer.project, clock=lambda: issuer.now)


def wait_until(condition: Callable[[], object]) -> None:
    ends = time.monotonic() + WAIT_SECONDS
    while not condition():
        assert time.monotonic() < ends
        time.sleep(0.005)


def encoded(value: object) -> str:
    return base64.urlsafe_b64encode(json.dumps(value).encode()).rstrip(b"=").decode()


async def test_a_session_has_the_claims_as_typed_values(issuer, verifier):
    token = issuer.token()
    session = verifier.authenticate(token)
    assert session == await verifier.authenticate_async(token)
    assert (session.customer_id, session.session_id) == (issuer.claims()["sub"], issuer.claims()["sid"])
    assert (session.email, session.email_verified) == ("ada@example.com", True)
    assert (session.roles, session.permissions, session.metadata) == (("beta",), ("beta:use",), {"plan": "pro"})
    assert session.amr == ("pwd", "otp", "mfa")
    assert session.auth_time == datetime.fromtimestamp(issuer.now - 60, UTC)
    assert session.expires_at == datetime.fromtimestamp(issuer.now + 300, UTC)
    assert session.organization is not None
    assert (session.organization.slug, session.organization.name) == ("acme", "Acme Ltd")
    assert (session.organization.roles, session.organization.entitlements_version) == (("billing",), 7)
    assert session.organization.metadata == {"tier": "gold"}
    assert session.claims["a_claim_of_a_newer_server"] == 1
    assert session.token == token
    assert token not in repr(session)
    assert len(issuer.requests) == 1


def test_permissions_are_those_of_the_active_organization_or_else_of_the_project(issuer, verifier):
    with_organization = verifier.authenticate(issuer.token(permissions=["beta:use", "project:only"]))
    assert with_organization.has("invoices:read")
    assert not with_organization.has("project:only")
    with_organization.require("invoices:read")
    with pytest.raises(PermissionDenied, match="invoices:write") as denied:
        with_organization.require("invoices:write")
    assert denied.value.permission == "invoices:write"
    without = verifier.authenticate(issuer.token(org=ABSENT))
    assert without.organization is None
    assert without.has("beta:use")
    assert not without.has("invoices:read")


def test_tokens_without_the_newer_claims_are_sessions_without_them(issuer, verifier):
    newer = dict.fromkeys(("permissions", "org", "metadata", "auth_time", "amr", "email"), ABSENT)
    session = verifier.authenticate(issuer.token(**newer))
    assert (session.permissions, session.organization, session.metadata, session.email) == ((), None, {}, None)


def test_an_expired_token_is_told_from_a_wrong_one_and_the_leeway_is_five_seconds(issuer, verifier):
    token = issuer.token()
    issuer.now += 304
    assert verifier.authenticate(token).email
    issuer.now += 1
    with pytest.raises(TokenExpired, match="expired at") as expired:
        verifier.authenticate(token)
    assert expired.value.expired_at.timestamp() == issuer.now - 5
    strict = SessionVerifier(issuer.url, issuer.project, leeway=0, clock=lambda: issuer.now - 5)
    with pytest.raises(TokenExpired):
        strict.authenticate(token)


def hs256_with_the_public_key(issuer: TokenIssuer) -> list[str]:
    """Tokens that a verifier accepts if it lets the token choose the algorithm (CVE-2016-10555)."""
    public = issuer.keys[issuer.key].public_key()
    secrets = [
        public.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo),
        public.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo),
        json.dumps(issuer.public_jwks()["keys"][0]).encode(),
    ]
    head = encoded({"alg": "HS256", "typ": "at+jwt", "kid": issuer.key})
    text = f"{head}.{encoded(issuer.claims())}"
    signatures = [hmac.digest(secret, text.encode(), hashlib.sha256) for secret in secrets]
    return [f"{text}.{base64.urlsafe_b64encode(value).rstrip(b'=').decode()}" for value in signatures]


def test_forged_and_changed_tokens_are_rejected_with_the_reason(issuer, verifier):
    head, _, signature = issuer.token().split(".")
    foreign = ec.generate_private_key(ec.SECP256R1())
    other_curve = ec.generate_private_key(ec.SECP384R1())
    attacker_jwk = jwt.algorithms.ECAlgorithm.to_jwk(foreign.public_key(), as_dict=True)
    unsigned = encoded({"alg": "none", "typ": "at+jwt", "kid": issuer.key})
    es384 = jwt.encode(issuer.claims(), other_curve, "ES384", {"kid": issuer.key, "typ": "at+jwt"})
    far = 10**20
    cases: list[tuple[str, str]] = [
        (f"{unsigned}.{encoded(issuer.claims())}.", "algorithm"),
        (f"{unsigned.replace('none', 'None')}.{encoded(issuer.claims())}.", "Web Token|algorithm"),
        *((token, "algorithm") for token in hs256_with_the_public_key(issuer)),
        (es384, "algorithm"),
        (f"{head}.{encoded(issuer.claims(email='eve@example.com'))}.{signature}", "signature"),
        (f"{head}.{encoded(issuer.claims())}.", "signature"),
        (f"{head}.{encoded(issuer.claims())}.{'A' * 86}", "signature"),
        (issuer.token(key=foreign), "signature"),
        (issuer.token(key=foreign, headers={"jwk": attacker_jwk}), "signature"),
        (issuer.token(key=foreign, headers={"jku": "http://127.0.0.1:1/jwks.json", "kid": "evil"}), "kid"),
        (issuer.token(headers={"kid": "../../etc/passwd"}), "kid"),
        (issuer.token(headers={"kid": ABSENT}), "kid"),
        (issuer.token(headers={"typ": "JWT"}), "typ"),
        (issuer.token(headers={"typ": ABSENT}), "typ"),
        (issuer.token(iss="https://evil.example/projects/1"), "iss"),
        (issuer.token(iss=f"{issuer.issuer}/"), "iss"),
        (issuer.token(aud="another project"), "aud"),
        (issuer.token(aud=[issuer.project, "another"]), "wrong type"),
        (issuer.token(iat=int(issuer.now) + 6), "future"),
        (issuer.token(exp=far), "out of range"),
        (issuer.token(auth_time=-far), "out of range|wrong type"),
        *((issuer.token(**{name: ABSENT}), name) for name in ("iss", "aud", "sub", "sid", "iat", "exp")),
        (issuer.token(exp="never"), "exp"),
        (issuer.token(sub=""), "sub"),
        (issuer.token(org={"name": "no id"}), "id"),
        (issuer.token(permissions="invoices:write"), "permissions"),
        ("", "Web Token"),
        ("a.b.c", "Web Token"),
        ("ä.b.c", "Web Token"),
        (f"{encoded([1])}.{encoded({})}.AA", "Web Token"),
        (base64.urlsafe_b64encode(b"[" * 9_000).decode() + ".e30.AA", "Web Token"),
        (f"{head}.{base64.urlsafe_b64encode(b'[' * 9_000).decode()}.AA", "Web Token|signature"),
        (issuer.token(filler="x" * 20_000), "longer"),
    ]
    for token, reason in cases:
        with pytest.raises(TokenInvalid, match=reason) as invalid:
            verifier.authenticate(token)
        assert invalid.value.reason in str(invalid.value)


def test_a_token_of_another_project_is_rejected(issuer):
    """Also if both projects, by accident, had the same keys."""
    token = issuer.token()
    issuer.project = "another"
    other = SessionVerifier(issuer.url, issuer.project, clock=lambda: issuer.now)
    with pytest.raises(TokenInvalid, match="another server or project"):
        other.authenticate(token)


def test_a_new_key_is_fetched_once_a_token_names_it_and_old_tokens_stay_valid(issuer, verifier):
    old = issuer.token()
    verifier.authenticate(old)
    issuer.rotate()
    issuer.now += 31
    verifier.authenticate(issuer.token())
    verifier.authenticate(old)
    assert len(issuer.requests) == 2


def test_forged_key_ids_cause_at_most_one_request_in_thirty_seconds(issuer, verifier):
    foreign = ec.generate_private_key(ec.SECP256R1())
    tokens = [issuer.token(key=foreign, headers={"kid": f"key {number}"}) for number in range(40)]
    good = issuer.token()
    verifier.authenticate(good)

    def attack() -> None:
        with ThreadPoolExecutor(8) as threads:
            for future in [threads.submit(verifier.authenticate, token) for token in tokens]:
                with pytest.raises(TokenInvalid, match="kid"):
                    future.result()

    attack()
    assert len(issuer.requests) == 1  # The keys were read in the last 30 seconds.
    issuer.now += 31
    attack()
    assert len(issuer.requests) == 2
    assert verifier.authenticate(good).email


def test_parallel_first_requests_fetch_the_keys_once(issuer, verifier):
    issuer.hold = threading.Event()
    token = issuer.token()
    with ThreadPoolExecutor(8) as threads:
        futures = [threads.submit(verifier.authenticate, token) for _ in range(8)]
        wait_until(lambda: issuer.requests)
        issuer.hold.set()
        assert all(future.result().email for future in futures)
    assert len(issuer.requests) == 1


async def test_a_cancelled_request_does_not_end_the_refresh_of_others(issuer, verifier):
    issuer.hold = threading.Event()
    token = issuer.token()
    first, second = (asyncio.create_task(verifier.authenticate_async(token)) for _ in range(2))
    while not issuer.requests:
        await asyncio.sleep(0.005)
    first.cancel()
    issuer.hold.set()
    assert (await second).email
    with pytest.raises(asyncio.CancelledError):
        await first


def test_keys_are_refreshed_in_the_background_after_five_minutes(issuer, verifier):
    verifier.authenticate(issuer.token())
    issuer.now += 301
    issuer.hold = threading.Event()  # The server does not answer: nobody waits for it.
    assert verifier.authenticate(issuer.token()).email
    wait_until(lambda: len(issuer.requests) == 2)
    assert verifier.authenticate(issuer.token()).email
    assert len(issuer.requests) == 2


def test_after_a_pause_the_first_request_waits_for_fresh_keys(issuer, verifier):
    """So that a key that was withdrawn in the meantime is not accepted."""
    stolen = issuer.key
    verifier.authenticate(issuer.token())
    issuer.rotate()
    private = issuer.keys.pop(stolen)
    issuer.now += 601
    with pytest.raises(TokenInvalid, match="kid"):
        verifier.authenticate(issuer.token(key=private, headers={"kid": stolen}))


def test_while_the_server_is_away_the_known_keys_are_used(issuer):
    verifier = SessionVerifier(issuer.url, issuer.project, timeout=0.2, clock=lambda: issuer.now)
    verifier.authenticate(issuer.token())
    issuer.stop()
    for _ in range(3):
        issuer.now += 3_600
        assert verifier.authenticate(issuer.token()).email
    foreign = ec.generate_private_key(ec.SECP256R1())
    with pytest.raises(TokenInvalid, match="kid"):
        verifier.authenticate(issuer.token(key=foreign, headers={"kid": "unknown"}))


@pytest.mark.parametrize(
    "jwks",
    [
        b"",
        b"<html>502 Bad Gateway</html>",
        b'{"keys": "none"}',
        b"[1]",
        b'{"keys": []}',
        b'{"keys": [1, {"kid": 1}, {"kid": "a", "crv": "P-256", "kty": "EC", "x": "AA", "y": "AA"}]}',
        b'{"keys": [{"kid": "r", "kty": "RSA", "n": "AQAB", "e": "AQAB", "alg": "RS256"}]}',
        b'{"keys": [' + b"[" * 5_000,
        b'{"keys": "' + b"x" * 1_100_000 + b'"}',
    ],
)
def test_a_list_of_keys_that_cannot_be_used_changes_nothing(issuer, verifier, jwks):
    issuer.jwks = jwks
    with pytest.raises(SigningKeysUnavailable, match="signing keys"):
        verifier.authenticate(issuer.token())
    issuer.jwks = None
    issuer.now += 2
    assert verifier.authenticate(issuer.token()).email
    issuer.jwks = jwks
    issuer.now += 601
    assert verifier.authenticate(issuer.token()).email
    issuer.now += 601
    assert verifier.authenticate(issuer.token()).email


def test_a_server_that_does_not_answer_in_time_is_unavailable(issuer):
    verifier = SessionVerifier(issuer.url, issuer.project, timeout=0.1, clock=lambda: issuer.now)
    issuer.hold = threading.Event()
    with pytest.raises(SigningKeysUnavailable, match="did not answer"):
        verifier.authenticate(issuer.token())
    with pytest.raises(SigningKeysUnavailable):  # At once: the next attempt is made a second later.
        verifier.authenticate(issuer.token())
    assert len(issuer.requests) == 1


def test_long_lists_of_permissions_are_fetched_once_for_each_token(issuer, verifier):
    organization = {**issuer.claims()["org"], "permissions": None}
    token = issuer.token(permissions=None, org=organization, permissions_url=f"{issuer.issuer}/auth/permissions")
    issuer.permissions = (
        200,
        {
            "permissions": ["a:b"],
            "organization": {"id": organization["id"], "roles": [], "permissions": ["invoices:write"]},
        },
    )
    for _ in range(2):
        session = verifier.authenticate(token)
        assert session.permissions == ("a:b",)
        assert session.has("invoices:write")
    assert [path.rpartition("/")[2] for path in issuer.requests] == ["jwks.json", "permissions"]
    assert issuer.tokens == [None, f"Bearer {token}"]


def test_fetched_permissions_of_another_organization_do_not_count(issuer, verifier):
    organization = {**issuer.claims()["org"], "permissions": None}
    token = issuer.token(org=organization, permissions_url=f"{issuer.issuer}/auth/permissions")
    other = {"id": "another organization", "roles": [], "permissions": ["invoices:write"]}
    issuer.permissions = (200, {"permissions": [], "organization": other})
    assert not verifier.authenticate(token).has("invoices:write")


@pytest.mark.parametrize(("status", "body"), [(500, {}), (200, {"permissions": 1}), (404, {}), (429, {})])
def test_permissions_that_cannot_be_fetched_are_not_taken_as_none(issuer, verifier, status, body):
    token = issuer.token(permissions=None, permissions_url=f"{issuer.issuer}/auth/permissions")
    issuer.permissions = status, body
    with pytest.raises(PermissionsUnavailable):
        verifier.authenticate(token)


def test_the_token_is_sent_nowhere_but_to_its_project(issuer, verifier):
    with token_issuer() as evil:
        for url in (
            f"{evil.url}/auth/permissions",
            f"{issuer.issuer}@{evil.url.removeprefix('http://')}/auth/permissions",
            f"{issuer.url}/projects/another/auth/permissions",
            None,
        ):
            with pytest.raises(TokenInvalid, match="permissions_url"):
                verifier.authenticate(issuer.token(permissions=None, permissions_url=url))
        assert not evil.requests
    assert len(issuer.requests) == 1


def test_an_internal_url_is_used_for_requests_and_the_public_one_for_claims(issuer):
    public = f"https://id.example.com/projects/{issuer.project}"
    verifier = SessionVerifier(
        "https://id.example.com/", issuer.project, internal_url=issuer.url, clock=lambda: issuer.now
    )
    issuer.permissions = 200, {"permissions": ["a:b"], "organization": None}
    token = issuer.token(iss=public, permissions=None, org=ABSENT, permissions_url=f"{public}/auth/permissions")
    assert verifier.authenticate(token).has("a:b")
    with pytest.raises(TokenInvalid, match="iss"):
        verifier.authenticate(issuer.token())


def test_settings_come_from_the_environment_and_must_be_complete(issuer, monkeypatch):
    monkeypatch.delenv("POSTERN_URL", raising=False)
    monkeypatch.delenv("POSTERN_PROJECT", raising=False)
    with pytest.raises(ConfigurationError, match="POSTERN_PROJECT"):
        SessionVerifier()
    with pytest.raises(ConfigurationError, match="POSTERN_URL"):
        SessionVerifier(project=issuer.project)
    monkeypatch.setenv("POSTERN_URL", issuer.url)
    monkeypatch.setenv("POSTERN_PROJECT", issuer.project)
    assert SessionVerifier(clock=lambda: issuer.now).authenticate(issuer.token()).email
    for url in ("id.example.com", "ftp://id.example.com", "https://", "https://id.example.com/?a=b"):
        with pytest.raises(ConfigurationError, match="not the URL"):
            SessionVerifier(url)
    for url in ("http://id.example.com", "http://127.evil.example.com", "http://10.0.0.1"):
        with pytest.raises(ConfigurationError, match="https"):
            SessionVerifier(url)
        SessionVerifier(url, insecure=True)
