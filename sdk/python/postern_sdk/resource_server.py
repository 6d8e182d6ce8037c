"""Let OAuth clients call your API with access tokens of your project, for example MCP clients.

    resource = ResourceServer("https://notes.example.com/mcp", scopes=["notes:read"])
    app = resource.middleware(app)                      # any ASGI application: request.state.access
    access = resource.authenticate(token)               # or yourself, in any other application
    access.require("notes:read")

Declare the API with the same identifier in the project (`oauth-resources`). Clients find the project by the metadata
that the middleware serves (RFC 9728), and to which it refers requests without a valid token. A token that is bound to
a key of the client (DPoP) is accepted with a proof of this key only, which the middleware checks. Tokens are verified
offline, as in `postern_sdk.sessions`; a sign-in that was revoked is noticed when the token expires, at most ten minutes
later.
"""

import inspect
import json
import time
from collections.abc import Awaitable, Callable, Mapping, MutableMapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from urllib.parse import unquote, urlsplit

import msgspec

from postern_sdk._exchange import Exchange, run, run_async
from postern_sdk.dpop import ALGORITHMS, MemoryOfProofs, Proof, ProofInvalid, UsedProofs, check_proof
from postern_sdk.errors import ConfigurationError, ServerUnavailable
from postern_sdk.sessions import PermissionDenied, SessionError, SessionVerifier, TokenClaims, TokenInvalid, moment

__all__ = ["ClientAccess", "ResourceServer"]

WELL_KNOWN = "/.well-known/oauth-protected-resource"
"""Beginning of the path of the metadata (RFC 9728 §3)."""

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
Asgi = Callable[[Scope, Receive, Send], Awaitable[None]]


@dataclass(frozen=True, kw_only=True)
class ClientAccess:
    """What a valid access token allows a client."""

    subject: str
    """The id of the customer; that of the client if it acts for itself."""
    client_id: str
    scopes: tuple[str, ...]
    organization_id: str | None
    """The active organization of the customer; None without one."""
    organization_permissions: tuple[str, ...]
    """Permissions that the customer has in this organization, and only for its data."""
    expires_at: datetime
    claims: Mapping[str, Any] = field(repr=False)
    """All claims of the token."""

    @property
    def is_customer(self) -> bool:
        """Whether the client acts for a customer, and not for itself."""
        return self.subject != self.client_id

    def has(self, scope: str) -> bool:
        """Whether the token has a scope."""
        return scope in self.scopes

    def require(self, scope: str) -> None:
        """Raise PermissionDenied unless the token has this scope."""
        if not self.has(scope):
            raise PermissionDenied(scope)


class _OrganizationClaim(msgspec.Struct, frozen=True):
    id: str
    permissions: tuple[str, ...] = ()


class _AccessClaims(TokenClaims, frozen=True, kw_only=True):
    client_id: str
    scope: str = ""
    org: _OrganizationClaim | None = None
    cnf: Any = None


class ResourceServer:
    """An API that accepts the access tokens of one project that are for it. Create one for the application.

    `resource` is the `identifier` of the API, its URL. `scopes` are shown in its metadata; `requires` are those that
    each request to the middleware needs. `used_proofs` remembers DPoP proofs; by default, each process remembers its
    own.
    `url`, `project` and the other arguments are those of `SessionVerifier`.

    Raises ConfigurationError if `resource`, the URL or the project is missing or cannot be used.
    """

    def __init__(
        self,
        resource: str,
        *,
        scopes: Sequence[str] = (),
        requires: Sequence[str] = (),
        used_proofs: UsedProofs | None = None,
        url: str | None = None,
        project: str | None = None,
        internal_url: str | None = None,
        leeway: float = 5.0,
        timeout: float = 5.0,
        insecure: bool = False,
        clock: Callable[[], float] = time.time,
    ) -> None:
        parts = urlsplit(resource)
        if parts.path == "/":  # The identifier has no slash after the host.
            resource, parts = resource.removesuffix("/"), parts._replace(path="")
        if parts.scheme not in ("http", "https") or not parts.netloc or parts.query or parts.fragment:
            raise ConfigurationError(f"{resource} is not the identifier of an API.")
        self._verifier = SessionVerifier(
            url, project, internal_url=internal_url, leeway=leeway, timeout=timeout, insecure=insecure, clock=clock
        )
        self._used_proofs = used_proofs or MemoryOfProofs(clock)
        self._clock, self._leeway = clock, leeway
        self._origin = f"{parts.scheme}://{parts.netloc}"
        self.resource, self.scopes, self.requires = resource, tuple(scopes), tuple(requires)
        self.metadata_path = f"{WELL_KNOWN}{parts.path}"
        """The path at which the metadata must be served, as URLs have it."""
        self._decoded_path = unquote(self.metadata_path)
        self.metadata_url = f"{parts.scheme}://{parts.netloc}{self.metadata_path}"
        """The URL of the metadata (RFC 9728 §3.1)."""

    def metadata(self) -> dict[str, Any]:
        """The metadata, to serve as JSON at `metadata_path` (RFC 9728 §2)."""
        return {
            "resource": self.resource,
            "authorization_servers": [self._verifier.issuer],
            "bearer_methods_supported": ["header"],
            "dpop_signing_alg_values_supported": list(ALGORITHMS),
            **({"scopes_supported": list(self.scopes)} if self.scopes else {}),
        }

    def authenticate(self, token: str) -> ClientAccess:
        """What an access token allows. Raises TokenInvalid, TokenExpired and SigningKeysUnavailable."""
        return run(self._verify(token))

    async def authenticate_async(self, token: str) -> ClientAccess:
        """Like `authenticate`, for asynchronous code."""
        return await run_async(self._verify(token))

    def authenticate_dpop(self, token: str, proof: str, *, method: str, url: str) -> ClientAccess:
        """What an access token allows that was sent as `Authorization: DPoP`, with the header `DPoP` and the method and
        public URL of the request (RFC 9449 §7). Raises ProofInvalid, too."""
        access, checked = run(self._verify_bound(token, proof, method, url))
        is_first = self._used_proofs.remember(checked.key, checked.seconds)
        if inspect.isawaitable(is_first):
            raise ConfigurationError("The `used_proofs` are asynchronous: call `authenticate_dpop_async`.")
        return _first(access, is_first)

    async def authenticate_dpop_async(self, token: str, proof: str, *, method: str, url: str) -> ClientAccess:
        """Like `authenticate_dpop`, for asynchronous code."""
        access, checked = await run_async(self._verify_bound(token, proof, method, url))
        is_first = self._used_proofs.remember(checked.key, checked.seconds)
        return _first(access, await is_first if inspect.isawaitable(is_first) else is_first)

    def challenge(self, error: SessionError | None = None, *, scheme: str = "Bearer") -> tuple[int, str]:
        """The status of the response to a refused request, and its header `WWW-Authenticate` (RFC 9728 §5.1). `error`
        is what was raised; None if the request has no token. `scheme` is that of the request: `Bearer` or `DPoP`."""
        fields = {"resource_metadata": self.metadata_url}
        status = 401
        if isinstance(error, PermissionDenied):
            wanted = dict.fromkeys((*self.requires, error.permission))
            status, fields = 403, {"error": "insufficient_scope", "scope": " ".join(wanted), **fields}
        elif isinstance(error, ProofInvalid):
            fields, scheme = {"error": "invalid_dpop_proof", **fields}, "DPoP"
        elif error is not None:
            fields = {"error": "invalid_token", **fields}
        if error is None and self.requires:
            fields["scope"] = " ".join(self.requires)
        if scheme == "DPoP":
            fields["algs"] = " ".join(ALGORITHMS)
        return status, f"{scheme} " + ", ".join(f'{name}="{value}"' for name, value in fields.items())

    def middleware(self, app: Asgi) -> Asgi:
        """The ASGI application `app` behind this API's tokens. It gets what the token allows as `state["access"]` of
        its scope, which is `request.state.access` in Starlette and FastAPI. Metadata are served to everybody."""

        async def guarded(scope: Scope, receive: Receive, send: Send) -> None:
            if scope["type"] == "lifespan":
                await app(scope, receive, send)
            elif scope["type"] != "http":
                await send({"type": "websocket.close", "code": 1008})
            elif scope["path"] == self._decoded_path and scope["method"] in ("GET", "HEAD"):
                headers = [(b"access-control-allow-origin", b"*"), (b"cache-control", b"public, max-age=300")]
                await _respond(send, 200, headers, {} if scope["method"] == "HEAD" else self.metadata())
            else:
                await self._guard(app, scope, receive, send)

        return guarded

    async def _guard(self, app: Asgi, scope: Scope, receive: Receive, send: Send) -> None:
        given = [value for name, value in scope["headers"] if name == b"authorization"]
        kind, _, sent = (given[0] if len(given) == 1 else b"").partition(b" ")
        token, is_bound = sent.strip().decode("latin-1"), kind.lower() == b"dpop"
        scheme = "DPoP" if is_bound else "Bearer"
        try:
            if is_bound:
                proofs = [value.decode("latin-1") for name, value in scope["headers"] if name == b"dpop"]
                if len(proofs) != 1:
                    raise ProofInvalid("the request must have exactly one header DPoP")
                path = (scope.get("raw_path") or scope["path"].encode()).decode("latin-1").partition("?")[0]
                # The origin is that of the identifier, because a proxy may have received the request.
                request = {"method": scope["method"], "url": f"{self._origin}{path}"}
                access = await self.authenticate_dpop_async(token, proofs[0], **request)
            elif kind.lower() == b"bearer":
                access = await self.authenticate_async(token)
            else:
                await self._refuse(send, None, scheme)
                return
            for required in self.requires:
                access.require(required)
        except ServerUnavailable:
            await _respond(send, 503, [(b"retry-after", b"5")], {"error": "temporarily_unavailable"})
            return
        except SessionError as error:
            await self._refuse(send, error, scheme)
            return
        await app({**scope, "state": {**scope.get("state", {}), "access": access}}, receive, send)

    async def _refuse(self, send: Send, error: SessionError | None, scheme: str) -> None:
        status, challenge = self.challenge(error, scheme=scheme)
        code = "invalid_dpop_proof" if isinstance(error, ProofInvalid) else "invalid_token"
        code = "insufficient_scope" if status == 403 else code
        headers = [(b"www-authenticate", challenge.encode()), (b"cache-control", b"no-store")]
        text = "Send an access token in the Authorization header." if error is None else str(error)
        await _respond(send, status, headers, {"error": code, "error_description": text})

    def _verify(self, token: str) -> Exchange[ClientAccess]:
        """`authenticate` as an exchange (see `postern_sdk._exchange`)."""
        claims = yield from self._verifier.verify(token, self.resource, _AccessClaims)
        if claims.cnf is not None:
            # Whoever has copied it must not be able to use it as a Bearer token (RFC 9449 §7.1).
            raise TokenInvalid("it is bound to a key of the client (`cnf`), and was sent without a proof of this key")
        return self._access_of(claims)

    def _verify_bound(self, token: str, proof: str, method: str, url: str) -> Exchange[tuple[ClientAccess, Proof]]:
        """`authenticate_dpop` as an exchange, without the check whether the proof was used before."""
        claims = yield from self._verifier.verify(token, self.resource, _AccessClaims)
        thumbprint = claims.cnf.get("jkt") if isinstance(claims.cnf, dict) else None
        if thumbprint is None:
            raise TokenInvalid("it is not bound to a key, so it is a Bearer token")
        checked = check_proof(
            proof,
            method=method,
            url=url,
            token=token,
            thumbprint=thumbprint,
            now=self._clock(),
            leeway=self._leeway,
        )
        return self._access_of(claims), checked

    @staticmethod
    def _access_of(claims: _AccessClaims) -> ClientAccess:
        return ClientAccess(
            subject=claims.sub,
            client_id=claims.client_id,
            scopes=tuple(claims.scope.split()),
            organization_id=None if claims.org is None else claims.org.id,
            organization_permissions=() if claims.org is None else claims.org.permissions,
            expires_at=moment(claims.exp),
            claims=claims.all,
        )


def _first(access: ClientAccess, is_first: bool) -> ClientAccess:
    if not is_first:
        raise ProofInvalid("it was used before")
    return access


async def _respond(send: Send, status: int, headers: list[tuple[bytes, bytes]], document: dict[str, Any]) -> None:
    body = json.dumps(document).encode() if document else b""
    headers = [*headers, (b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
