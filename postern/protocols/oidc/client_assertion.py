"""Authentication of clients with a key (`private_key_jwt`, OpenID Connect Core §9, RFC 7523). Whether an assertion was
used before is checked by the caller."""

from collections.abc import Collection
from typing import Any, TypeGuard

import jwt
import msgspec
from cryptography.exceptions import UnsupportedAlgorithm

from postern.protocols.oidc.dpop import ALGORITHMS, JTI_LIMIT, KEYS, ProofRefused, read_client_key
from postern.protocols.oidc.id_token import SKEW, TokenRefused, read_parts

ASSERTION_TYPE = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
ASSERTION_LIMIT = 8_192
"""Longest assertion that is read, in characters."""
LIFE_LIMIT_SECONDS = 3_600
"""How long an assertion may be valid, because its id is kept as long."""
TYPES = (None, "JWT", "client-authentication+jwt")
"""Values of `typ`: JWTs for other purposes are not accepted."""


class UnverifiedAssertion(msgspec.Struct, frozen=True):
    """An assertion whose signature was not checked."""

    text: str
    header: dict[str, Any]
    claims: dict[str, Any]
    client_id: str
    """The claim `sub`."""


class UsedAssertion(msgspec.Struct, frozen=True):
    """What must be remembered of an assertion that was accepted."""

    id: str
    """The claim `jti`."""
    expires_at: float
    """When it is not accepted any more, as a Unix time."""


def read_assertion(text: str) -> UnverifiedAssertion:
    """Parse an assertion. Raises ProofRefused if it is not a signed JWT that names a client."""
    if len(text) > ASSERTION_LIMIT:
        raise ProofRefused("it is too long")
    try:
        header, claims = read_parts(text)
    except TokenRefused:
        raise ProofRefused("it is not a signed JWT") from None
    if header.get("typ") not in TYPES:
        raise ProofRefused("its typ is that of another JWT")
    if not isinstance(claims.get("sub"), str):
        raise ProofRefused("it has no sub")
    return UnverifiedAssertion(text, header, claims, claims["sub"])


def usable_algorithms(jwk: dict[str, Any]) -> list[str]:
    """The algorithms that a key of a client can be used with. Raises ProofRefused if there are none."""
    own = jwk.get("alg")
    usable: list[str] = []
    refused = ProofRefused("its type is not supported")
    for algorithm in ALGORITHMS if own is None else [own]:
        try:
            read_client_key(jwk, algorithm)
        except ProofRefused as error:
            refused = error if own is not None or jwk.get("kty") == KEYS[algorithm][0] else refused
        else:
            usable.append(algorithm)
    if not usable or jwk.get("use", "sig") != "sig":
        raise refused if not usable else ProofRefused("it is not for signatures")
    return usable


def check_assertion(
    assertion: UnverifiedAssertion, *, audiences: Collection[str], exact: bool, algorithms: Collection[str], now: float
) -> None:
    """Check all of an assertion except its signature, before the key of the client is fetched; for the parameters see
    `verify_assertion`. Raises ProofRefused with the reason."""
    if assertion.header.get("alg") not in algorithms:
        raise ProofRefused("it is signed with another algorithm")
    _check_claims(assertion.claims, audiences, exact, now)


def verify_assertion(
    assertion: UnverifiedAssertion,
    jwk: dict[str, Any] | None,
    *,
    audiences: Collection[str],
    exact: bool,
    algorithms: Collection[str],
    now: float,
) -> UsedAssertion:
    """Verify an assertion with the key of the client that its header names (RFC 7523 §3). `audiences` are the names of
    this server; with `exact`, the claim `aud` must be one of them, and not an array of some. `now` is a Unix time.

    Raises ProofRefused with the reason.
    """
    algorithm = assertion.header.get("alg")
    if jwk is None:
        raise ProofRefused("it is signed with an unknown key")
    if algorithm not in algorithms or algorithm not in usable_algorithms(jwk):
        raise ProofRefused("it is signed with another algorithm")
    try:
        claims: dict[str, Any] = jwt.decode(
            assertion.text,
            read_client_key(jwk, algorithm),
            algorithms=[str(algorithm)],
            issuer=assertion.client_id,
            subject=assertion.client_id,
            options={
                "require": ["iss", "sub", "aud", "exp", "jti"],
                "verify_aud": False,
                "verify_exp": False,
                "verify_iat": False,
                "verify_nbf": False,
            },
        )
    except (jwt.PyJWTError, ValueError, TypeError, UnsupportedAlgorithm):
        raise ProofRefused("its signature is wrong, or a claim is wrong or missing") from None
    return _check_claims(claims, audiences, exact, now)


def _check_claims(claims: dict[str, Any], audiences: Collection[str], exact: bool, now: float) -> UsedAssertion:
    """Raises ProofRefused unless the claims are for this server and the present."""
    audience, assertion_id, expires_at = claims.get("aud"), claims.get("jti"), claims.get("exp")
    named = audience if isinstance(audience, list) and not exact else [audience]
    if not named or not all(isinstance(name, str) and name in audiences for name in named):
        raise ProofRefused("its aud is not this server")
    if not isinstance(assertion_id, str) or not 0 < len(assertion_id) <= JTI_LIMIT:
        raise ProofRefused(f"its jti is not a text of 1 to {JTI_LIMIT} characters")
    issued_at, not_before = claims.get("iat", now), claims.get("nbf", now)
    if not (_is_number(expires_at) and _is_number(issued_at) and _is_number(not_before)):
        raise ProofRefused("a time is not a number")
    skew = SKEW.total_seconds()
    # Sums only of limits: a number of any length would overflow.
    if expires_at <= now - skew or max(issued_at, not_before) > now + skew:
        raise ProofRefused("it has expired, or is from the future")
    if expires_at > now + LIFE_LIMIT_SECONDS + skew:
        raise ProofRefused(f"it is valid for more than {LIFE_LIMIT_SECONDS} seconds")
    return UsedAssertion(assertion_id, expires_at + skew)


def _is_number(value: object) -> TypeGuard[int | float]:
    return isinstance(value, int | float) and not isinstance(value, bool)
