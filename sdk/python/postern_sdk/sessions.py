"""Verify the access tokens of customers in your application.

    verifier = SessionVerifier()                        # POSTERN_URL and POSTERN_PROJECT
    session = verifier.authenticate(token)              # or: await verifier.authenticate_async(token)
    session.require("invoices:write")

Tokens are verified offline, with the public keys of the project. The verifier keeps these keys, refreshes them in the
background, and continues to use them while the server is unavailable. A session that was revoked is therefore noticed
when its access token expires: at most five minutes later.

For an application with pages, see `postern_sdk.fastapi`, `postern_sdk.django`, `postern_sdk.flask` and
`postern_sdk.sign_in`.
"""

import hashlib
import os
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Annotated, Any, TypeVar
from urllib.parse import urlsplit

import jwt
import msgspec
from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePublicKey
from jwt.algorithms import ECAlgorithm

from postern_sdk._exchange import ApiRequest, ApiResponse, Exchange, fetch, run, run_async, send
from postern_sdk._request import is_loopback
from postern_sdk.errors import ConfigurationError, PosternError, ServerUnavailable

__all__ = [
    "ConfigurationError",
    "CustomerSession",
    "PermissionDenied",
    "PermissionsUnavailable",
    "ServerUnavailable",
    "SessionActor",
    "SessionError",
    "SessionOrganization",
    "SessionVerifier",
    "SigningKeysUnavailable",
    "TokenExpired",
    "TokenInvalid",
]

ALGORITHM = "ES256"
TOKEN_TYPE = "at+jwt"  # noqa: S105
"""The header `typ` of access tokens (RFC 9068 §2.1)."""
TOKEN_LIMIT = 16_384
"""Longest token, in characters, that is read."""
KEYS_LIMIT = 20
"""Most signing keys of a project that are kept."""
REFRESH_SECONDS = 300
"""Age at which the signing keys are refreshed in the background."""
IDLE_SECONDS = 600
"""Age at which a request waits for the refresh, because the application was idle: a key may have been withdrawn."""
UNKNOWN_KEY_SECONDS = 30
"""Shortest time between two refreshes, whatever keys tokens name: forged tokens cause no more requests than this."""
NO_KEYS_SECONDS = 1
"""Shortest time between two attempts while there are no keys at all."""
PERMISSIONS_CACHE_SIZE = 1_000
"""How many tokens' fetched permissions are kept."""


class SessionError(PosternError):
    """A session is missing, cannot be used, or does not allow something."""


class TokenInvalid(SessionError):
    """A token that this project did not issue, or that was changed. `reason` says what is wrong with it."""

    def __init__(self, reason: str) -> None:
        super().__init__(f"The session token is not valid: {reason}.")
        self.reason = reason


class TokenExpired(SessionError):
    """A valid token whose time is over. Refresh the session, or sign in again."""

    def __init__(self, expired_at: datetime) -> None:
        super().__init__(f"The session token expired at {expired_at:%Y-%m-%d %H:%M:%S} UTC.")
        self.expired_at = expired_at


class SigningKeysUnavailable(ServerUnavailable):
    """There are no signing keys yet, and the server cannot be asked for them."""


class PermissionsUnavailable(ServerUnavailable):
    """A token refers to its permissions because they are too long for it, and they cannot be fetched."""


class PermissionDenied(SessionError):
    """The customer does not have this permission."""

    def __init__(self, permission: str) -> None:
        super().__init__(f"This needs the permission {permission}.")
        self.permission = permission


@dataclass(frozen=True, kw_only=True)
class SessionOrganization:
    """The organization that is active in a session."""

    id: str
    slug: str
    name: str
    roles: tuple[str, ...]
    permissions: tuple[str, ...]
    """All permissions that the customer has in this organization."""
    entitlements_version: int
    """Grows whenever the entitlements of the organization change; cache them by it."""
    metadata: Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class SessionActor:
    """The member of your team who acts as the customer: the claim `act` (RFC 8693 §4.1)."""

    id: str
    """Id of the developer or of the API key."""
    type: str
    """`DEVELOPER` or `API_KEY`."""
    name: str | None
    """An e-mail address, or the name of the API key or of the person who uses it."""


@dataclass(frozen=True, kw_only=True)
class CustomerSession:
    """The customer that a valid access token belongs to, and the session."""

    customer_id: str
    session_id: str
    email: str | None
    email_verified: bool
    roles: tuple[str, ...]
    """Roles in the project."""
    permissions: tuple[str, ...]
    """Permissions that the roles in the project grant."""
    organization: SessionOrganization | None
    """The active organization; None without one."""
    metadata: Mapping[str, Any]
    """The metadata that the project's settings declare for tokens."""
    amr: tuple[str, ...]
    """How the customer signed in (RFC 8176)."""
    auth_time: datetime
    """When the customer signed in."""
    expires_at: datetime
    """When this token expires."""
    actor: SessionActor | None = None
    """Who acts as the customer; None if it is the customer. Show it, and refuse what support must not do."""
    claims: Mapping[str, Any] = field(repr=False)
    """All claims of the token."""
    token: str = field(repr=False)
    """The access token, for requests to the server as this customer."""

    def has(self, permission: str) -> bool:
        """Whether the customer has a permission: in the active organization, or in the project without one."""
        granted = self.permissions if self.organization is None else self.organization.permissions
        return permission in granted

    def require(self, permission: str) -> None:
        """Raise PermissionDenied unless the customer has this permission."""
        if not self.has(permission):
            raise PermissionDenied(permission)


_Id = Annotated[str, msgspec.Meta(min_length=1)]


class TokenClaims(msgspec.Struct, frozen=True, kw_only=True):
    """The claims that every access token has."""

    iss: str
    aud: str
    sub: _Id
    iat: int
    exp: int
    all: dict[str, Any] = {}
    """All claims of the token."""


C = TypeVar("C", bound=TokenClaims)


class SessionVerifier:
    """Verifies the access tokens of one project. Create one for the application; it is safe for threads and tasks.

    `url` and `project` default to POSTERN_URL and POSTERN_PROJECT. `url` is the server's public URL, which the tokens
    name. If the application reaches the server at another one, give it as `internal_url`. `leeway` (seconds) allows for
    clocks that differ. `timeout` (seconds) limits each request to the server. `insecure` allows http:// to other
    machines. `clock` returns Unix time in seconds.

    Raises ConfigurationError if the URL or the project is missing or cannot be used.
    """

    def __init__(
        self,
        url: str | None = None,
        project: str | None = None,
        *,
        internal_url: str | None = None,
        leeway: float = 5.0,
        timeout: float = 5.0,
        insecure: bool = False,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.project = _setting(project, "project", "POSTERN_PROJECT")
        public_url = _server_url(_setting(url, "url", "POSTERN_URL"), insecure=insecure)
        self.issuer = f"{public_url}/projects/{self.project}"
        """The `iss` of the project's tokens, and the public URL of the project."""
        reached_at = _server_url(internal_url, insecure=insecure) if internal_url else public_url
        self.project_url = f"{reached_at}/projects/{self.project}"
        """The URL at which this application reaches the project."""
        self.leeway, self.timeout, self.clock = leeway, timeout, clock
        self._keys = SigningKeys(f"{self.project_url}/.well-known/jwks.json", timeout, clock)
        self._permissions = _PermissionsCache()

    def __repr__(self) -> str:
        return f"SessionVerifier({self.issuer!r})"

    def authenticate(self, token: str) -> CustomerSession:
        """The session of an access token.

        Raises TokenInvalid, TokenExpired, SigningKeysUnavailable, and PermissionsUnavailable if the token only refers
        to its permissions and these cannot be fetched.
        """
        return run(self._verify(token))

    async def authenticate_async(self, token: str) -> CustomerSession:
        """Like `authenticate`, for asynchronous code."""
        return await run_async(self._verify(token))

    def _verify(self, token: str) -> Exchange[CustomerSession]:
        """`authenticate` as an exchange (see `postern_sdk._exchange`)."""
        claims = yield from self.verify(token, self.project, _Claims)
        session = _session_of(claims, token)
        if claims.permissions is None or (claims.org is not None and claims.org.permissions is None):
            session = yield from self._with_permissions(session, claims.permissions_url)
        return session

    def verify(self, token: str, audience: str, claims_type: type[C]) -> Exchange[C]:
        """The claims of a valid token for `audience`, as an exchange."""
        key_id = read_key_id(token)
        refresh = self._keys.needed_refresh(key_id)
        if refresh is not None:
            yield refresh
        key = self._keys.get(key_id)
        if key is None and not self._keys:
            raise SigningKeysUnavailable(f"The signing keys of the project are not available: {self._keys.failure}")
        if key is None:
            raise TokenInvalid("no signing key of this project has its `kid`")
        return verify_token(
            token, key, claims_type, issuer=self.issuer, audience=audience, now=self.clock(), leeway=self.leeway
        )

    def _with_permissions(self, session: CustomerSession, url: str | None) -> Exchange[CustomerSession]:
        """The session with the permissions that its token only refers to, fetched once for each token."""
        granted = self._permissions.get(session.token, self.clock())
        if granted is None:
            if url is None or not url.startswith(f"{self.issuer}/"):
                # The token is sent to this URL, so it must belong to the project.
                raise TokenInvalid("its `permissions_url` does not belong to this project")
            request = ApiRequest(
                "GET",
                self.project_url + url.removeprefix(self.issuer),
                headers={"Authorization": f"Bearer {session.token}"},
                timeout=self.timeout,
            )
            try:
                response = yield from send(request)
            except ServerUnavailable as failure:
                raise PermissionsUnavailable(f"The permissions of a session cannot be fetched: {failure}") from failure
            if response.status == 401:
                raise TokenInvalid("its session has ended")
            granted = _granted_of(response)
            self._permissions.put(session.token, session.expires_at.timestamp() + self.leeway, granted)
        organization = session.organization
        if organization is not None:
            same = granted.organization is not None and granted.organization.id == organization.id
            permissions = granted.organization.permissions if same and granted.organization is not None else ()
            organization = replace(organization, permissions=permissions)
        return replace(session, permissions=granted.permissions, organization=organization)


# Verification without input or output.


class _OrganizationClaims(msgspec.Struct, frozen=True):
    """The claim `org`."""

    id: _Id
    slug: str = ""
    name: str = ""
    roles: tuple[str, ...] = ()
    permissions: tuple[str, ...] | None = ()
    entitlements_version: int = 0
    metadata: dict[str, Any] = {}


class _ActorClaim(msgspec.Struct, frozen=True):
    sub: str
    type: str = ""
    name: str | None = None


class _Claims(TokenClaims, frozen=True, kw_only=True):
    """The claims of an access token that a session shows."""

    sid: _Id
    auth_time: int | None = None
    amr: tuple[str, ...] = ()
    email: str | None = None
    email_verified: bool = False
    roles: tuple[str, ...] = ()
    permissions: tuple[str, ...] | None = ()
    org: _OrganizationClaims | None = None
    permissions_url: str | None = None
    metadata: dict[str, Any] = {}
    act: _ActorClaim | None = None


def read_key_id(token: str) -> str:
    """The `kid` of a token, which is not verified yet. Raises TokenInvalid if the header rules the token out."""
    if not token.isascii():
        raise TokenInvalid("it is not a JSON Web Token")
    if len(token) > TOKEN_LIMIT:
        raise TokenInvalid(f"it is longer than {TOKEN_LIMIT:,} characters")
    try:
        header = jwt.get_unverified_header(token)
    except (jwt.InvalidTokenError, ValueError, RecursionError):
        raise TokenInvalid("it is not a JSON Web Token") from None
    if header.get("alg") != ALGORITHM:
        raise TokenInvalid(f"its algorithm is not {ALGORITHM}")
    if header.get("typ") != TOKEN_TYPE:
        raise TokenInvalid("it is not an access token (`typ`)")
    key_id: object = header.get("kid")
    if not isinstance(key_id, str) or not key_id:
        raise TokenInvalid("it names no signing key (`kid`)")
    return key_id


def verify_token(
    token: str,
    key: EllipticCurvePublicKey,
    claims_type: type[C],
    *,
    issuer: str,
    audience: str,
    now: float,
    leeway: float,
) -> C:
    """The claims of a token that `key` signed, valid at `now` (Unix time). Raises TokenInvalid, TokenExpired."""
    try:
        # The times are compared with `now` below.
        checks: Any = {"verify_exp": False, "verify_iat": False, "verify_nbf": False, "verify_aud": False}
        payload: dict[str, Any] = jwt.decode(token, key, algorithms=[ALGORITHM], options=checks)
    except jwt.InvalidSignatureError:
        raise TokenInvalid("its signature is wrong") from None
    except (jwt.InvalidTokenError, ValueError, RecursionError):
        raise TokenInvalid("it is not a JSON Web Token") from None
    try:
        claims = msgspec.convert({**payload, "all": payload}, claims_type)
    except msgspec.ValidationError as error:
        raise TokenInvalid(f"a claim is missing or has the wrong type ({error})") from None
    if claims.iss != issuer:
        raise TokenInvalid("another server or project issued it (`iss`)")
    if claims.aud != audience:
        raise TokenInvalid("it is for another project or API (`aud`)")
    if claims.iat > now + leeway:
        raise TokenInvalid("it was issued in the future (`iat`); check the clocks of both servers")
    if claims.exp + leeway <= now:
        raise TokenExpired(moment(claims.exp))
    return claims


def _session_of(claims: _Claims, token: str) -> CustomerSession:
    organization, actor = claims.org, claims.act
    return CustomerSession(
        customer_id=claims.sub,
        session_id=claims.sid,
        email=claims.email,
        email_verified=claims.email_verified,
        roles=claims.roles,
        permissions=claims.permissions or (),
        organization=None
        if organization is None
        else SessionOrganization(
            id=organization.id,
            slug=organization.slug,
            name=organization.name,
            roles=organization.roles,
            permissions=organization.permissions or (),
            entitlements_version=organization.entitlements_version,
            metadata=organization.metadata,
        ),
        metadata=claims.metadata,
        amr=claims.amr,
        auth_time=moment(claims.iat if claims.auth_time is None else claims.auth_time),
        expires_at=moment(claims.exp),
        actor=None if actor is None else SessionActor(id=actor.sub, type=actor.type, name=actor.name),
        claims=claims.all,
        token=token,
    )


def moment(seconds: int) -> datetime:
    try:
        return datetime.fromtimestamp(seconds, UTC)
    except (OverflowError, ValueError, OSError):
        raise TokenInvalid("one of its times is out of range") from None


# Signing keys.


class SigningKeys:
    """The public keys of a project, by `kid`, as the JWKS at `url` lists them.

    A refresh runs in a thread of its own: no request pays for it, and one that is cancelled does not end it.
    """

    def __init__(self, url: str, timeout: float, clock: Callable[[], float]) -> None:
        self._url, self._timeout, self._clock = url, timeout, clock
        self._lock = threading.Lock()
        self._keys: Mapping[str, EllipticCurvePublicKey] = {}
        self._read_at = self._tried_at = float("-inf")
        self._running: Future[None] | None = None
        self.failure = ""
        """Why the last refresh failed; empty if it succeeded."""

    def __bool__(self) -> bool:
        return bool(self._keys)

    def get(self, key_id: str) -> EllipticCurvePublicKey | None:
        """The key with this id, if it is known."""
        return self._keys.get(key_id)

    def needed_refresh(self, key_id: str) -> Future[None] | None:
        """The refresh that a request with a token of this key has to wait for.

        None if the keys that are there decide; a refresh may then run in the background. The future never fails; it
        ends after about the timeout at the latest.
        """
        with self._lock:
            now = self._clock()
            # Absolute differences, because a clock may be set back.
            age, since_attempt = abs(now - self._read_at), abs(now - self._tried_at)
            if self._running is not None and since_attempt > 4 * self._timeout + UNKNOWN_KEY_SECONDS:
                self._running = None  # Its thread did not survive a fork of the process.
            is_known, was_idle = key_id in self._keys, age >= IDLE_SECONDS and not self.failure
            pause = UNKNOWN_KEY_SECONDS if self._keys else NO_KEYS_SECONDS
            if self._running is None and since_attempt >= pause and (not is_known or age >= REFRESH_SECONDS):
                self._tried_at, self._running = now, Future()
                threading.Thread(target=self._refresh, args=(self._running,), daemon=True).start()
            return self._running if not is_known or was_idle else None

    def _refresh(self, done: Future[None]) -> None:
        try:
            keys, failure = read_keys(fetch(self._url, self._timeout)), ""
        except Exception as error:  # Whatever it is: requests wait for the end of this refresh.
            keys, failure = None, str(error) or type(error).__name__
        with self._lock:
            self.failure = failure
            if keys is not None:
                self._keys, self._read_at = keys, self._clock()
            if self._running is done:
                self._running = None
        done.set_result(None)


def read_keys(response: ApiResponse) -> dict[str, EllipticCurvePublicKey]:
    """The ES256 keys of a JWKS (RFC 7517). Raises ServerUnavailable if the response is none, or has no such key."""
    document: object = response.body
    entries: object = document.get("keys") if response.status == 200 and isinstance(document, dict) else None
    if not isinstance(entries, list):
        raise ServerUnavailable(f"The Postern server's answer has status {response.status} and is not a list of keys.")
    keys: dict[str, EllipticCurvePublicKey] = {}
    for entry in entries[:KEYS_LIMIT]:
        if not isinstance(entry, dict) or not isinstance(key_id := entry.get("kid"), str):
            continue
        if entry.get("alg", ALGORITHM) != ALGORITHM or entry.get("use", "sig") != "sig" or entry.get("crv") != "P-256":
            continue
        try:
            key = ECAlgorithm.from_jwk({name: entry[name] for name in ("kty", "crv", "x", "y")})
        except (KeyError, jwt.InvalidKeyError, ValueError):
            continue  # A key of a kind that this version does not know.
        if isinstance(key, EllipticCurvePublicKey):
            keys[key_id] = key
    if not keys:
        raise ServerUnavailable("The Postern server's list of signing keys has no key for ES256.")
    return keys


# Permissions that are too long for a token.


class _GrantedOrganization(msgspec.Struct, frozen=True):
    id: str
    permissions: tuple[str, ...]


class _Granted(msgspec.Struct, frozen=True):
    permissions: tuple[str, ...]
    organization: _GrantedOrganization | None = None


def _granted_of(response: ApiResponse) -> _Granted:
    try:
        if response.status == 200:
            return msgspec.convert(response.body, _Granted)
    except msgspec.ValidationError:
        pass
    raise PermissionsUnavailable(
        f"The permissions of a session cannot be fetched: the Postern server answered with {response.status}."
    )


class _PermissionsCache:
    """The permissions that were fetched for tokens, by the tokens' hashes."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._entries: OrderedDict[bytes, tuple[float, _Granted]] = OrderedDict()

    def get(self, token: str, now: float) -> _Granted | None:
        with self._lock:
            expires, granted = self._entries.get(_digest(token), (0.0, None))
            return granted if expires > now else None

    def put(self, token: str, expires: float, granted: _Granted) -> None:
        with self._lock:
            self._entries[_digest(token)] = expires, granted
            while len(self._entries) > PERMISSIONS_CACHE_SIZE:
                self._entries.popitem(last=False)


def _digest(token: str) -> bytes:
    return hashlib.sha256(token.encode()).digest()


# Settings.


def _setting(value: str | None, name: str, variable: str) -> str:
    value = value or os.environ.get(variable)
    if not value:
        raise ConfigurationError(f"Give `{name}`, or set {variable}.")
    return value


def _server_url(url: str, *, insecure: bool) -> str:
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.fragment:
        raise ConfigurationError(f"{url} is not the URL of a server.")
    if parts.scheme == "http" and not is_loopback(parts.hostname) and not insecure:
        raise ConfigurationError(
            f"{url} is not https: the keys could be replaced on the way. Allow it with insecure=True."
        )
    return url.rstrip("/")
