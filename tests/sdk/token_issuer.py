"""An issuer of customers' tokens with keys of its own: signs tokens, and serves its JWKS over HTTP on loopback."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from uuid import uuid4

import jwt
from cryptography.hazmat.primitives.asymmetric import ec
from jwt.algorithms import ECAlgorithm

ABSENT = object()
"""A claim or header with this value is left out."""
WAIT_SECONDS = 60


class TokenIssuer:
    """Issues tokens of the project `project`. `now` is its clock, in seconds since 1970."""

    def __init__(self) -> None:
        self.project, self.now = str(uuid4()), 1_800_000_000.0
        self.keys: dict[str, ec.EllipticCurvePrivateKey] = {}
        self.requests: list[str] = []
        """The paths that were requested."""
        self.tokens: list[str | None] = []
        """The `Authorization` of each request."""
        self.jwks: bytes | None = None
        """What is served in place of the JWKS; None for the real one."""
        self.permissions: tuple[int, Any] = 404, {}
        """Status and body of `auth/permissions`."""
        self.hold: threading.Event | None = None
        """Responses are sent after this event is set."""
        self.key = self.rotate()
        handler = type("Handler", (_Handler,), {"issuer": self})
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=lambda: self._server.serve_forever(poll_interval=0.05), daemon=True).start()

    @property
    def issuer(self) -> str:
        return f"{self.url}/projects/{self.project}"

    def rotate(self) -> str:
        """Publish a new key and sign with it. Returns its id."""
        self.key = str(uuid4())
        self.keys[self.key] = ec.generate_private_key(ec.SECP256R1())
        return self.key

    def public_jwks(self) -> dict[str, Any]:
        return {
            "keys": [
                {**ECAlgorithm.to_jwk(key.public_key(), as_dict=True), "kid": kid, "alg": "ES256", "use": "sig"}
                for kid, key in self.keys.items()
            ]
        }

    def claims(self, **changes: Any) -> dict[str, Any]:
        """The claims of a customer with an organization."""
        now = int(self.now)
        claims = {
            "iss": self.issuer,
            "aud": self.project,
            "sub": "0198c000-0000-7000-8000-000000000001",
            "sid": "0198c000-0000-7000-8000-000000000002",
            "iat": now,
            "exp": now + 300,
            "auth_time": now - 60,
            "amr": ["pwd", "otp", "mfa"],
            "email": "ada@example.com",
            "email_verified": True,
            "roles": ["beta"],
            "permissions": ["beta:use"],
            "org": {
                "id": "0198c000-0000-7000-8000-000000000003",
                "slug": "acme",
                "name": "Acme Ltd",
                "roles": ["billing"],
                "permissions": ["beta:use", "invoices:read"],
                "entitlements_version": 7,
                "metadata": {"tier": "gold"},
            },
            "metadata": {"plan": "pro"},
            "a_claim_of_a_newer_server": 1,
            **changes,
        }
        return {name: value for name, value in claims.items() if value is not ABSENT}

    def token(self, *, headers: dict[str, Any] | None = None, key: Any = None, **changes: Any) -> str:
        """A token with changed claims and headers, signed with `key` or the current one."""
        merged = {"kid": self.key, "typ": "at+jwt", **(headers or {})}
        return jwt.encode(
            self.claims(**changes),
            key or self.keys[self.key],
            algorithm="ES256",
            headers={name: value for name, value in merged.items() if value is not ABSENT},
        )

    def stop(self) -> None:
        """End the server; later requests find nobody."""
        self._server.shutdown()
        self._server.server_close()


class _Handler(BaseHTTPRequestHandler):
    issuer: TokenIssuer

    def do_GET(self) -> None:
        issuer = self.issuer
        issuer.requests.append(self.path)
        issuer.tokens.append(self.headers["Authorization"])
        if issuer.hold is not None:
            issuer.hold.wait(WAIT_SECONDS)
        if self.path.endswith("/auth/permissions"):
            status, document = issuer.permissions
            body = json.dumps(document).encode()
        else:
            status, body = 200, issuer.jwks if issuer.jwks is not None else json.dumps(issuer.public_jwks()).encode()
        try:
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)
        except OSError:
            pass  # The client gave up.

    def log_message(self, format: str, *args: Any) -> None:
        pass


@contextmanager
def token_issuer() -> Iterator[TokenIssuer]:
    """An issuer whose server ends with the block."""
    issuer = TokenIssuer()
    try:
        yield issuer
    finally:
        if issuer.hold is not None:
            issuer.hold.set()
        issuer.stop()
