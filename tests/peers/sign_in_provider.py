"""A sign-in provider for tests: an OpenID provider that can return false claims, and the APIs of GitHub, Discord,
Facebook and X."""

import asyncio
import base64
import hashlib
import json
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import jwt
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from jwt.algorithms import RSAAlgorithm

from tests.remembered import rsa_key

OAUTH_TOKEN_PATHS = ("/api/oauth2/token", "/v23.0/oauth/access_token", "/2/oauth2/token")
"""The paths of the token endpoints of Discord, Facebook and X."""


class LyingProvider:
    """Serves discovery, keys, tokens, user info and GitHub's API from its fields, which tests change.

    `claims` replace the claims of ID tokens (None omits one), `metadata` replaces fields of the discovery document.
    """

    def __init__(self) -> None:
        self.key = rsa_key()
        self.issuer = ""
        self.metadata: dict[str, Any] = {}
        self.claims: dict[str, Any] = {}
        self.header: dict[str, Any] = {"kid": "one"}
        self.key_ids = ["one"]
        self.algorithm = "RS256"
        self.signing_key: Any = self.key
        self.account: Any = {}
        self.addresses: Any = []
        self.userinfo: Any = {}
        self.raw: dict[str, bytes] = {}
        """By path, response bodies that replace all others."""
        self.token: str | None = None
        """An ID token to return instead of a newly signed one."""
        self.requests: list[tuple[str, dict[str, str], dict[str, str]]] = []
        """Path, form and headers of each request."""
        self.query: dict[str, str] = {}
        """The query of the last request."""
        self.clock: Callable[[], float] = time.time
        self.challenge = ""
        self.nonce: str | None = None

    def public_pem(self) -> bytes:
        return self.key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)

    def authorize(self, url: str) -> dict[str, str]:
        """Process the authorization URL to which a browser was redirected; returns its parameters."""
        parameters = dict(parse_qsl(urlsplit(url).query))
        self.challenge, self.nonce = parameters.get("code_challenge", ""), parameters.get("nonce")
        return parameters

    def id_token(self) -> str:
        """A signed ID token with the current claims."""
        now = int(self.clock())
        claims = {
            "iss": self.issuer,
            "aud": "client",
            "sub": "subject-1",
            "iat": now,
            "exp": now + 300,
            "nonce": self.nonce,
            **self.claims,
        }
        claims = {name: value for name, value in claims.items() if value is not None}
        return jwt.encode(claims, self.signing_key, algorithm=self.algorithm, headers=self.header)

    def respond(self, path: str, form: dict[str, str], headers: dict[str, str]) -> tuple[int, Any]:
        """Status and JSON value of the response to a request."""
        self.requests.append((path, form, headers))
        if path == "/.well-known/openid-configuration":
            return 200, {
                "issuer": self.issuer,
                "authorization_endpoint": f"{self.issuer}/authorize",
                "token_endpoint": f"{self.issuer}/token",
                "jwks_uri": f"{self.issuer}/jwks",
                "userinfo_endpoint": f"{self.issuer}/userinfo",
                **self.metadata,
            }
        if path == "/jwks":
            public = json.loads(RSAAlgorithm.to_jwk(self.key.public_key()))
            return 200, {"keys": [{**public, "kid": kid} for kid in self.key_ids]}
        if path in OAUTH_TOKEN_PATHS:
            return self.respond_to_code(form, headers)
        if path in ("/token", "/login/oauth/access_token"):
            if not self.challenge:  # A request without PKCE, as LinkedIn needs it.
                known = "code_verifier" not in form
                return (200, self.tokens()) if known else (401, {"error": "invalid_client"})
            challenge = base64.urlsafe_b64encode(hashlib.sha256(form.get("code_verifier", "").encode()).digest())
            if challenge.rstrip(b"=").decode() != self.challenge:
                return 400, {"error": "invalid_grant"}
            return 200, self.tokens()
        if path in ("/api/users/@me", "/v23.0/me", "/2/users/me"):
            return (200, self.account) if headers.get("authorization") == "Bearer access" else (401, {})
        values = {"/api/v3/user": self.account, "/api/v3/user/emails": self.addresses, "/userinfo": self.userinfo}
        return (200, values[path]) if path in values else (404, {})

    def tokens(self) -> dict[str, str]:
        return {"access_token": "access", "id_token": self.token or self.id_token(), "token_type": "Bearer"}

    def respond_to_code(self, form: dict[str, str], headers: dict[str, str]) -> tuple[int, Any]:
        """The response of Discord, Facebook and X to a code: as their documentation shows it, without an ID token."""
        challenge = base64.urlsafe_b64encode(hashlib.sha256(form.get("code_verifier", "").encode()).digest())
        basic = headers.get("authorization") == "Basic " + base64.b64encode(b"client:hush").decode()
        in_form = (form.get("client_id"), form.get("client_secret")) == ("client", "hush")
        if form.get("code") != "code" or challenge.rstrip(b"=").decode() != self.challenge or basic == in_form:
            return 400, {"error": "invalid_grant"}
        return 200, {"token_type": "bearer", "access_token": "access", "expires_in": 7200}


@asynccontextmanager
async def lying_provider() -> AsyncIterator[LyingProvider]:
    """Start a provider on loopback; it ends with the block."""
    provider = LyingProvider()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        request, *lines = head.strip().split("\r\n")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
        body = await reader.readexactly(int(headers.get("content-length", "0")))
        target = urlsplit(request.split()[1])
        path = target.path
        provider.query = dict(parse_qsl(target.query))
        status, value = provider.respond(path, dict(parse_qsl(body.decode())), headers)
        content = provider.raw.get(path) or json.dumps(value).encode()
        writer.write(f"HTTP/1.1 {status} X\r\nContent-Length: {len(content)}\r\nConnection: close\r\n\r\n".encode())
        writer.write(content)
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server:
        provider.issuer = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        yield provider
