"""Proofs that a client has the key to which its access token is bound (DPoP, RFC 9449 §7), for `ResourceServer`."""

import base64
import hashlib
import hmac
import json
import math
import re
import threading
from collections import OrderedDict
from collections.abc import Awaitable
from dataclasses import dataclass
from typing import Any, Protocol
from urllib.parse import quote, urlsplit

import jwt
from cryptography.exceptions import UnsupportedAlgorithm

from postern_sdk.sessions import SessionError

__all__ = ["ALGORITHMS", "MemoryOfProofs", "ProofInvalid", "UsedProofs"]

KEYS: dict[str, tuple[str, str | None]] = {
    "ES256": ("EC", "P-256"),
    "EdDSA": ("OKP", "Ed25519"),
    "RS256": ("RSA", None),
    "PS256": ("RSA", None),
}
"""The key type and curve of each algorithm."""
ALGORITHMS = tuple(KEYS)
PROOF_LIMIT = 8_192
"""Longest proof that is read, in characters."""
ID_LIMIT = 255
PROOF_SECONDS = 60.0
"""How old a proof may be. Clocks of clients may be wrong by `leeway` in addition."""
MEMORY_LIMIT = 100_000
"""Most proofs that MemoryOfProofs keeps; the oldest are forgotten first."""
RSA_BITS = range(2_048, 8_193)
PRIVATE_MEMBERS = frozenset(("d", "p", "q", "dp", "dq", "qi", "oth", "k"))
THUMBPRINT_MEMBERS = {"EC": ("crv", "kty", "x", "y"), "OKP": ("crv", "kty", "x"), "RSA": ("e", "kty", "n")}
ENCODED = re.compile(r"%([0-9A-Fa-f]{2})")
PATH_CHARACTERS = "%/:@!$&'()*+,;=-._~"
"""RFC 3986 §3.3; others must be percent-encoded."""
UNRESERVED = re.compile(r"[A-Za-z0-9._~-]")
DEFAULT_PORTS = {"http": 80, "https": 443}


class ProofInvalid(SessionError):
    """A request whose token is bound to a key, without a valid proof of this key. `reason` says what is wrong."""

    def __init__(self, reason: str) -> None:
        super().__init__(f"The DPoP proof is not valid: {reason}.")
        self.reason = reason


class UsedProofs(Protocol):
    """Remembers which proofs were used, because each one works once (RFC 9449 §11.1).

    An API in several processes needs one that they share, for example in Redis: `SET key 1 NX EX seconds`.
    """

    def remember(self, key: str, seconds: int) -> bool | Awaitable[bool]:
        """Remember a proof for at least this time, which is a whole number. False if it was used before. Only
        asynchronous code can use a method that is asynchronous."""
        ...


class MemoryOfProofs:
    """Remembers the proofs that one process has seen."""

    def __init__(self, clock: Any, limit: int = MEMORY_LIMIT) -> None:
        self._clock, self._limit = clock, limit
        self._until: OrderedDict[str, float] = OrderedDict()
        self._lock = threading.Lock()

    def remember(self, key: str, seconds: float) -> bool:
        """See UsedProofs."""
        now = self._clock()
        with self._lock:
            if self._until.get(key, 0.0) > now:
                return False
            self._until.pop(key, None)
            self._until[key] = now + seconds
            while self._until and (len(self._until) > self._limit or next(iter(self._until.values())) <= now):
                self._until.popitem(last=False)
        return True


@dataclass(frozen=True)
class Proof:
    """A proof that was checked, except whether it was used before."""

    key: str
    """Identifies the proof."""
    seconds: int
    """For how long it could be used again: a whole number of seconds, rounded up, because `EX` of Redis takes no
    other."""


def check_proof(
    text: str, *, method: str, url: str, token: str, thumbprint: object, now: float, leeway: float
) -> Proof:
    """Check the proof of a request with this method, URL and access token, which is bound to the key with this
    thumbprint (RFC 9449 §4.3 and §7.1). Raises ProofInvalid."""
    if len(text) > PROOF_LIMIT or not text.isascii():
        raise ProofInvalid("it is too long, or not a JWT")
    try:
        header = jwt.get_unverified_header(text)
    except (jwt.PyJWTError, ValueError, TypeError, RecursionError):
        raise ProofInvalid("it is not a JWT") from None
    if header.get("typ") != "dpop+jwt":
        raise ProofInvalid("its typ is not dpop+jwt")
    algorithm, jwk = header.get("alg"), header.get("jwk")
    key = _read_key(jwk, algorithm)
    options: Any = {f"verify_{name}": False for name in ("aud", "exp", "iat", "iss", "nbf", "sub", "jti")}
    try:
        claims: dict[str, Any] = jwt.decode(text, key, algorithms=[str(algorithm)], options=options)
    except (jwt.PyJWTError, ValueError, TypeError, RecursionError, UnsupportedAlgorithm):
        raise ProofInvalid("its signature is wrong") from None
    proof_id, issued_at = claims.get("jti"), claims.get("iat")
    if not isinstance(proof_id, str) or not 0 < len(proof_id) <= ID_LIMIT:
        raise ProofInvalid(f"its jti is not a text of 1 to {ID_LIMIT} characters")
    if not isinstance(issued_at, int | float) or isinstance(issued_at, bool):
        raise ProofInvalid("its iat is not a number")
    # Only `now` is calculated with: an integer of any length is compared, but cannot become a float.
    if not now - PROOF_SECONDS - leeway <= issued_at <= now + leeway:
        raise ProofInvalid("its iat is not the present time")
    if claims.get("htm") != method:
        raise ProofInvalid("its htm is another method")
    named = _compared(claims.get("htu"))
    if named is None or named != _compared(url):
        raise ProofInvalid("its htu is another URL")
    if not _is_same(claims.get("ath"), _base64url(hashlib.sha256(token.encode()).digest())):
        raise ProofInvalid("its ath is not the hash of the access token")
    own = _thumbprint(jwk)
    if not _is_same(thumbprint, own):
        raise ProofInvalid("the access token is bound to another key")
    digest = hashlib.sha256(f"{own}|{proof_id}".encode("utf-8", "surrogatepass")).digest()
    return Proof(key=_base64url(digest), seconds=math.ceil(issued_at - now + PROOF_SECONDS + 2 * leeway) or 1)


def _read_key(jwk: object, algorithm: object) -> jwt.PyJWK:
    if not isinstance(algorithm, str) or algorithm not in KEYS:
        raise ProofInvalid(f"its algorithm is none of {', '.join(ALGORITHMS)}")
    if not isinstance(jwk, dict) or not PRIVATE_MEMBERS.isdisjoint(jwk):
        raise ProofInvalid("its key is missing or private")
    kind, curve = KEYS[algorithm]
    if jwk.get("kty") != kind or (curve is not None and jwk.get("crv") != curve):
        raise ProofInvalid("its key is of another type than the algorithm")
    try:
        key = jwt.PyJWK(jwk, algorithm)
    except (jwt.PyJWTError, ValueError, TypeError, KeyError, AttributeError, OverflowError, UnsupportedAlgorithm):
        raise ProofInvalid("its key cannot be read") from None
    if kind == "RSA" and key.key.key_size not in RSA_BITS:
        raise ProofInvalid("its RSA key has too few or too many bits")
    return key


def _thumbprint(jwk: Any) -> str:
    """RFC 7638, of a key that can be read."""
    members = {name: jwk[name] for name in THUMBPRINT_MEMBERS[jwk["kty"]]}
    return _base64url(hashlib.sha256(json.dumps(members, separators=(",", ":"), sort_keys=True).encode()).digest())


def _compared(url: object) -> tuple[str, str | None, int | None, str] | None:
    """What URLs are compared by: scheme, host, port and path, without query (RFC 9449 §4.3)."""
    if not isinstance(url, str):
        return None
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


def _is_same(value: object, expected: str) -> bool:
    return isinstance(value, str) and value.isascii() and hmac.compare_digest(value, expected)


def _base64url(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()
