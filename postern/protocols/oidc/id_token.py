"""ID tokens (OpenID Connect Core 1.0 §2 and §3.1.3.7): finding the key of the signature, and verifying the token."""

import base64
from collections.abc import Sequence
from datetime import timedelta
from typing import Any
from urllib.parse import urlsplit

import jwt
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric import rsa
from jwt.exceptions import InvalidSubjectError

from postern.kernel.untrusted_json import JsonRefused, read_untrusted_json

SKEW = timedelta(seconds=60)
"""Accepted difference between the clocks of this server and the provider."""
SUBJECT_LIMIT = 255
"""Maximum length of `sub` (OpenID Connect Core 1.0 §2)."""
MAX_TOKEN_CHARS = 65_536
"""Maximum length of an ID token or an access token."""
RSA_BITS = range(2_048, 8_193)
"""Accepted lengths of RSA keys. Shorter keys are too weak (RFC 7518 §3.3); verifying with longer ones is slow."""
TENANT_PLACEHOLDER = "{tenantid}"
"""The placeholder in the issuer of Microsoft's discovery document for all tenants. In tokens, the issuer has the
tenant's id instead."""

DEFAULT_ALGORITHMS: dict[tuple[str, str | None], str] = {
    ("RSA", None): "RS256",
    ("EC", "P-256"): "ES256",
    ("EC", "P-384"): "ES384",
    ("OKP", "Ed25519"): "EdDSA",
}
"""The algorithm for a key without `alg`, by key type and curve. None of them uses a shared secret."""
ALGORITHMS = frozenset((*DEFAULT_ALGORITHMS.values(), "RS384", "RS512", "PS256", "PS384", "PS512"))


CHECKS = ("form", "key", "algorithm", "signature", "claims", "audience", "issuer", "nonce", "times", "subject")
"""The checks of a token in the order in which they are done."""
ID_TOKEN_CLAIMS = ("iss", "sub", "aud", "exp", "iat")
"""The claims that an ID token must have."""
LOGOUT_TOKEN_CLAIMS = ("iss", "aud", "exp", "iat", "jti", "events")
"""The claims that a logout token must have (OpenID Connect Back-Channel Logout 1.0 §2.4), besides `sub` or `sid`."""


class TokenRefused(Exception):
    """The token was rejected; the message is the reason, and `check` the one of CHECKS that failed."""

    def __init__(self, reason: str, check: str = "form") -> None:
        super().__init__(reason)
        self.check = check


def read_header(token: object) -> dict[str, Any]:
    """The header of a token, which is not verified yet. Raises TokenRefused if the token cannot be parsed."""
    if not isinstance(token, str):
        raise TokenRefused("no ID token")
    return read_parts(token)[0]


def find_key(document: dict[str, Any], key_id: object) -> dict[str, Any] | None:
    """The signing key of a JWKS document with this `kid`; None if there is none.

    If `key_id` is None, returns the only signing key of the document, or None if there are several.
    """
    entries = document.get("keys")
    keys = [key for key in entries if isinstance(key, dict)] if isinstance(entries, list) else []
    signing_keys = [key for key in keys if key.get("use", "sig") == "sig"]
    if key_id is None:
        return signing_keys[0] if len(signing_keys) == 1 else None
    return next((key for key in signing_keys if key.get("kid") == key_id), None)


def verification_key(jwk: dict[str, Any] | None, header: dict[str, Any]) -> tuple[jwt.PyJWK, str]:
    """Convert a key of a JWKS document; returns it with the only algorithm that it may be used with.

    Raises TokenRefused if `jwk` is None or unusable, or if the token's `header` has another algorithm.
    """
    if jwk is None:
        raise TokenRefused("signed with an unknown key", "key")
    curve = str(jwk["crv"]) if "crv" in jwk and jwk.get("kty") != "RSA" else None
    algorithm = jwk.get("alg") or DEFAULT_ALGORITHMS.get((str(jwk.get("kty")), curve))
    if not isinstance(algorithm, str) or algorithm not in ALGORITHMS or header.get("alg") != algorithm:
        raise TokenRefused("signed with another algorithm", "algorithm")
    try:
        key = jwt.PyJWK(jwk, algorithm)
    except (jwt.PyJWTError, ValueError, TypeError, KeyError, AttributeError, OverflowError, UnsupportedAlgorithm):
        raise TokenRefused("signed with a key that cannot be read", "key") from None
    if isinstance(key.key, rsa.RSAPublicKey) and key.key.key_size not in RSA_BITS:
        raise TokenRefused(f"signed with an RSA key of {key.key.key_size} bits", "key")
    return key, algorithm


def verify_claims(
    token: str,
    key: jwt.PyJWK,
    algorithm: str,
    metadata: dict[str, Any],
    *,
    issuer: str,
    client_id: str,
    nonce: str | None,
    now: float,
    required: Sequence[str] = ID_TOKEN_CLAIMS,
) -> dict[str, Any]:
    """Verify an ID token and return its claims: signature, issuer, audience, nonce, times and subject.

    `metadata` is the provider's discovery document, `issuer` the configured issuer, `now` a Unix time. For a logout
    token, `required` is LOGOUT_TOKEN_CLAIMS, and `nonce` is None: it must not have one. Raises TokenRefused with the
    reason.
    """
    try:
        claims: dict[str, Any] = jwt.decode(
            token,
            key,
            algorithms=[algorithm],
            audience=client_id,
            # Times are checked below, against `now`; so is the issuer, because Microsoft's has a placeholder.
            options={
                "require": list(required),
                "verify_exp": False,
                "verify_iat": False,
                "verify_nbf": False,
            },
        )
    except jwt.PyJWTError as error:
        raise TokenRefused(str(error), _failed_check(error)) from None
    except (ValueError, TypeError, UnsupportedAlgorithm):
        raise TokenRefused("the signature cannot be checked with that key", "signature") from None
    expected_issuer = str(metadata["issuer"]).replace(TENANT_PLACEHOLDER, str(claims.get("tid", TENANT_PLACEHOLDER)))
    has_placeholder = TENANT_PLACEHOLDER in str(metadata["issuer"])
    if claims["iss"] != expected_issuer or (not has_placeholder and claims["iss"] != issuer):
        raise TokenRefused("another issuer", "issuer")
    audiences = claims["aud"] if isinstance(claims["aud"], list) else [claims["aud"]]
    if (len(audiences) > 1 or "azp" in claims) and claims.get("azp") != client_id:
        raise TokenRefused("meant for another party", "audience")
    if claims.get("nonce") != nonce:
        raise TokenRefused("another nonce", "nonce")
    not_before = claims.get("nbf", claims["iat"])  # Optional (RFC 7519 §4.1.5).
    times = (claims["exp"], claims["iat"], not_before)
    if not all(isinstance(time, int | float) and not isinstance(time, bool) for time in times):
        raise TokenRefused("a time that is not a number", "times")
    if claims["exp"] <= now - SKEW.total_seconds() or max(claims["iat"], not_before) > now + SKEW.total_seconds():
        raise TokenRefused("expired, or from the future", "times")
    subject = claims.get("sub")
    if not (isinstance(subject, str) and 0 < len(subject) <= SUBJECT_LIMIT) and ("sub" in required or "sub" in claims):
        raise TokenRefused("no subject", "subject")
    return claims


def _failed_check(error: jwt.PyJWTError) -> str:
    """Which of CHECKS failed with an error of the library."""
    if isinstance(error, jwt.MissingRequiredClaimError):
        return "claims"
    if isinstance(error, jwt.InvalidAudienceError):
        return "audience"
    return "subject" if isinstance(error, InvalidSubjectError) else "signature"


def is_tenant_of(template: str, issuer: str) -> bool:
    """Whether `issuer` may be that of one tenant of `template`, an issuer with TENANT_PLACEHOLDER: both have the same
    host."""
    return urlsplit(template).netloc == urlsplit(issuer).netloc


def read_parts(token: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """The header and the claims of a token (RFC 7519), which are not verified yet. Raises TokenRefused."""
    parts = token.split(".") if len(token) <= MAX_TOKEN_CHARS and token.isascii() else []
    if len(parts) != 3:
        raise TokenRefused("not a signed token")
    try:
        header, claims = (
            read_untrusted_json(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4))) for part in parts[:2]
        )
    except JsonRefused as error:
        raise TokenRefused(f"a part of it is {error}") from None
    except ValueError:
        raise TokenRefused("not a signed token") from None
    if not isinstance(header, dict) or not isinstance(claims, dict):
        raise TokenRefused("not a signed token")
    return header, claims
