"""Proofs of possession of a key (DPoP, RFC 9449), as servers check them. Whether a proof was used before, and its
nonce, is checked by the caller."""

import base64
import hashlib
import hmac
import json
import re
from collections.abc import Collection
from typing import Any
from urllib.parse import quote, urlsplit

import jwt
import msgspec
from cryptography.exceptions import UnsupportedAlgorithm

from postern.protocols.oidc.id_token import RSA_BITS, TokenRefused, read_header

KEYS: dict[str, tuple[str, str | None]] = {
    "ES256": ("EC", "P-256"),
    "EdDSA": ("OKP", "Ed25519"),
    "RS256": ("RSA", None),
    "PS256": ("RSA", None),
}
"""The key type and curve of each algorithm that clients can sign with."""
ALGORITHMS = tuple(KEYS)
PROOF_LIMIT = 8_192
"""Longest proof that is read, in characters."""
JTI_LIMIT = 255
PRIVATE_MEMBERS = frozenset(("d", "p", "q", "dp", "dq", "qi", "oth", "k"))
"""Members of a JWK that only its owner must have (RFC 7518 §6)."""
THUMBPRINT_MEMBERS = {"EC": ("crv", "kty", "x", "y"), "OKP": ("crv", "kty", "x"), "RSA": ("e", "kty", "n")}
"""The members that the thumbprint of a key is of, by key type (RFC 7638 §3.2, RFC 8037 §2)."""
ENCODED = re.compile(r"%([0-9A-Fa-f]{2})")
PATH_CHARACTERS = "%/:@!$&'()*+,;=-._~"
"""RFC 3986 §3.3; others must be percent-encoded."""
UNRESERVED = re.compile(r"[A-Za-z0-9._~-]")
DEFAULT_PORTS = {"http": 80, "https": 443}


class ProofRefused(Exception):
    """The proof was rejected; the message is the reason."""


class Proof(msgspec.Struct, frozen=True):
    """A proof whose signature, method, URL and access token were checked."""

    thumbprint: str
    """The SHA-256 thumbprint of the key (RFC 7638), as in the claim `cnf.jkt`."""
    id: str
    """The claim `jti`."""
    nonce: str | None
    """The server's value that the proof contains, which is not checked yet."""


def read_client_key(jwk: object, algorithm: object) -> jwt.PyJWK:
    """The public key of a client, for signatures with `algorithm`. Raises ProofRefused if the key is private, weak or
    of another type."""
    if not isinstance(algorithm, str) or algorithm not in KEYS:
        raise ProofRefused(f"the algorithm is none of {', '.join(ALGORITHMS)}")
    if not isinstance(jwk, dict) or not PRIVATE_MEMBERS.isdisjoint(jwk):
        raise ProofRefused("the key is missing or private")
    kind, curve = KEYS[algorithm]
    if jwk.get("kty") != kind or (curve is not None and jwk.get("crv") != curve):
        raise ProofRefused("the key is of another type than the algorithm")
    try:
        key = jwt.PyJWK(jwk, algorithm)
    except (jwt.PyJWTError, ValueError, TypeError, KeyError, AttributeError, OverflowError, UnsupportedAlgorithm):
        raise ProofRefused("the key cannot be read") from None
    if kind == "RSA" and key.key.key_size not in RSA_BITS:
        raise ProofRefused(f"the RSA key has {key.key.key_size} bits")
    return key


def thumbprint(jwk: dict[str, Any]) -> str:
    """The SHA-256 thumbprint of a key (RFC 7638), in base64url. The key must be readable."""
    members = {name: jwk[name] for name in THUMBPRINT_MEMBERS[jwk["kty"]]}
    canonical = json.dumps(members, separators=(",", ":"), sort_keys=True)
    return _base64url(hashlib.sha256(canonical.encode()).digest())


def read_proof(
    text: str, *, method: str, url: str, algorithms: Collection[str] = ALGORITHMS, access_token: str | None = None
) -> Proof:
    """Check a proof for a request with this method and URL, and with this access token if there is one (RFC 9449 §4.3).

    The time of its creation is that of its nonce, because clocks of clients are wrong. Raises ProofRefused.
    """
    if len(text) > PROOF_LIMIT:
        raise ProofRefused("it is too long")
    try:
        header = read_header(text)
    except TokenRefused:
        raise ProofRefused("it is not a signed JWT") from None
    if header.get("typ") != "dpop+jwt":
        raise ProofRefused("its typ is not dpop+jwt")
    if header.get("alg") not in algorithms:
        raise ProofRefused(f"its algorithm is none of {', '.join(algorithms)}")
    key = read_client_key(header.get("jwk"), header.get("alg"))
    try:
        claims: dict[str, Any] = jwt.decode(
            text,
            key,
            algorithms=[header["alg"]],
            options={
                "require": ["jti", "htm", "htu", "iat"],
                "verify_aud": False,
                "verify_exp": False,
                "verify_iat": False,
                "verify_iss": False,
                "verify_nbf": False,
                "verify_sub": False,
            },
        )
    except (jwt.PyJWTError, ValueError, TypeError, UnsupportedAlgorithm):
        raise ProofRefused("its signature is wrong, or a claim is missing") from None
    proof_id, nonce, issued_at = claims["jti"], claims.get("nonce"), claims["iat"]
    if not isinstance(proof_id, str) or not 0 < len(proof_id) <= JTI_LIMIT:
        raise ProofRefused(f"its jti is not a text of 1 to {JTI_LIMIT} characters")
    if not isinstance(issued_at, int | float) or isinstance(issued_at, bool):
        raise ProofRefused("its iat is not a number")
    if claims["htm"] != method:
        raise ProofRefused("its htm is another method")
    if not isinstance(claims["htu"], str) or _without_query(claims["htu"]) != _without_query(url):
        raise ProofRefused("its htu is another URL")
    if access_token is not None and not _is_hash_of(claims.get("ath"), access_token):
        raise ProofRefused("its ath is not the hash of the access token")
    if nonce is not None and not isinstance(nonce, str):
        raise ProofRefused("its nonce is not a text")
    return Proof(thumbprint=thumbprint(header["jwk"]), id=proof_id, nonce=nonce)


def _is_hash_of(value: object, access_token: str) -> bool:
    expected = _base64url(hashlib.sha256(access_token.encode()).digest())
    return isinstance(value, str) and value.isascii() and hmac.compare_digest(value, expected)


def _without_query(url: str) -> tuple[str, str | None, int | None, str] | None:
    """What URLs are compared by: scheme, host, port and path (RFC 9449 §4.3, RFC 3986 §6.2.2 and §6.2.3); None if it
    is not a URL, or one with a user name."""
    try:
        parts = urlsplit(url)
        scheme, port = parts.scheme.lower(), parts.port
    except ValueError:
        return None
    if "@" in parts.netloc:
        return None
    return scheme, parts.hostname, port or DEFAULT_PORTS.get(scheme), _normal_path(parts.path)


def _normal_path(path: str) -> str:
    """A path as it is compared: only unreserved characters mean the same when they are percent-encoded (RFC 3986
    §6.2.2.1 and §6.2.2.2)."""

    def decoded(match: re.Match[str]) -> str:
        character = chr(int(match[1], 16))
        return character if UNRESERVED.fullmatch(character) else match[0].upper()

    return ENCODED.sub(decoded, quote(path, safe=PATH_CHARACTERS)) or "/"


def _base64url(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()
