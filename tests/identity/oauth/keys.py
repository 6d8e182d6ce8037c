"""Keys of clients: proofs of possession (RFC 9449) and client assertions (RFC 7523)."""

import base64
import hashlib
import json
from typing import Any
from uuid import uuid4

import jwt
from cryptography.hazmat.primitives.asymmetric import ec, ed25519

from tests.remembered import rsa_key

ASSERTION_TYPE = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
ABSENT = object()
"""A claim, or a member of a header, that is left out."""


def base64url(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


class ClientKey:
    """A key pair of a client."""

    def __init__(self, algorithm: str = "ES256") -> None:
        self.algorithm = algorithm
        if algorithm == "EdDSA":
            self.private: Any = ed25519.Ed25519PrivateKey.generate()
        elif algorithm == "ES256":
            self.private = ec.generate_private_key(ec.SECP256R1())
        else:
            self.private = rsa_key()
        implementation = jwt.get_algorithm_by_name(algorithm)
        self.jwk: dict[str, Any] = json.loads(implementation.to_jwk(self.private.public_key()))
        self.jwk.pop("key_ops", None)
        self.private_jwk: dict[str, Any] = json.loads(implementation.to_jwk(self.private))

    @property
    def thumbprint(self) -> str:
        """RFC 7638, written out."""
        names = {"EC": ("crv", "kty", "x", "y"), "OKP": ("crv", "kty", "x"), "RSA": ("e", "kty", "n")}[self.jwk["kty"]]
        text = "{" + ",".join(f'"{name}":"{self.jwk[name]}"' for name in names) + "}"
        return base64url(hashlib.sha256(text.encode()).digest())

    def sign(self, claims: dict[str, Any], headers: dict[str, Any], algorithm: str | None = None) -> str:
        """A JWT; claims and headers that are ABSENT are left out."""
        payload = {name: value for name, value in claims.items() if value is not ABSENT}
        # A header without `typ` has None here: the library would add one.
        headers = {"typ": None, **{name: value for name, value in headers.items() if value is not ABSENT}}
        return jwt.encode(payload, self.private, algorithm=algorithm or self.algorithm, headers=headers)

    def dpop_proof(
        self,
        method: str,
        url: str,
        own_nonce: str | None,
        *,
        now: float,
        token: str | None = None,
        headers: dict[str, Any] | None = None,
        **claims: Any,
    ) -> str:
        """A proof of possession of this key."""
        ath = ABSENT if token is None else base64url(hashlib.sha256(token.encode()).digest())
        own = {"jti": uuid4().hex, "htm": method, "htu": url, "iat": int(now), "ath": ath, "nonce": own_nonce or ABSENT}
        return self.sign({**own, **claims}, {"typ": "dpop+jwt", "jwk": self.jwk, **(headers or {})})

    def jwks(self, key_id: str = "k1") -> dict[str, Any]:
        """The key set of a client that has this key."""
        return {"keys": [{**self.jwk, "kid": key_id}]}

    def assertion(
        self,
        client_id: str,
        audience: Any,
        *,
        now: float,
        headers: dict[str, Any] | None = None,
        algorithm: str | None = None,
        **claims: Any,
    ) -> dict[str, str]:
        """The fields of a form with which a client authenticates (`private_key_jwt`)."""
        own = {"iss": client_id, "sub": client_id, "aud": audience, "jti": uuid4().hex, "iat": int(now)}
        headers = {"kid": "k1", **(headers or {})}
        text = self.sign({**own, "exp": int(now) + 60, **claims}, headers, algorithm)
        return {"client_assertion_type": ASSERTION_TYPE, "client_assertion": text}
