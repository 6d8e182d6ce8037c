"""Tokens of the OpenID provider: access tokens (RFC 9068), ID tokens (OpenID Connect Core §2) and refresh tokens.

They are signed with the same keys as the access tokens of sessions, but cannot be taken for them: those have the id of
the project as audience, the tokens of clients the issuer or the id of the client. ID tokens are signed with the
algorithm of the client.
"""

import base64
import hashlib
import struct
from collections.abc import Sequence
from operator import attrgetter
from typing import TYPE_CHECKING, Any
from uuid import UUID

import jwt
import msgspec

from postern.identity.access import operations as access
from postern.identity.access.model import SubjectMissing
from postern.identity.customers.authentication_levels import acr_of
from postern.identity.customers.requirements import (
    SignInRequirement,
    is_multi_factor,
    meets_rules,
    meets_sso_requirement,
    read_requirements,
    session_limits,
)
from postern.identity.customers.signing_keys import (
    LimitedCache,
    SigningAlgorithm,
    public_key,
    sign_for_client,
    signing_key,
)
from postern.identity.customers.tokens import JWT_TYP, issuer_of
from postern.identity.hooks.calling import token_claims
from postern.identity.hooks.model import HookFailed, HookRefused
from postern.identity.oauth import resource_store, store
from postern.identity.oauth.errors import OAuthError
from postern.identity.oauth.model import (
    ID_TOKEN_ALGORITHMS,
    STANDARD_SCOPES,
    TOKEN_LIFE,
    AccessTokenCustomer,
    ClientRow,
    GrantRow,
    ResourceRow,
    SignedInCustomer,
)
from postern.identity.oauth.rules import client_row_id, permission_scopes, usable_scopes
from postern.kernel.http.call import Call
from postern.kernel.values import NO_ID, as_id, new_id
from postern.platform.projects import operations as projects
from postern.platform.projects.model import ProjectSettings
from postern.security.secrets import Secrets, new_token

if TYPE_CHECKING:
    from postern.world import World

ID_TOKEN_TYP = "JWT"  # noqa: S105 - a media type
REFRESH_PREFIX = "or_"
REFRESH_PURPOSE = "oauth-refresh"
REFRESH_FORMAT = struct.Struct(">16sI")
TOKEN_LIMIT = 8_192
"""Longest token that is read, in characters."""


class AccessTokenClaims(msgspec.Struct, frozen=True, kw_only=True):
    """The claims of an access token of a client whose signature, issuer and expiry were checked."""

    client_id: UUID
    subject: str
    """The id of the customer; for a token of `client_credentials`, that of the client."""
    scopes: list[str]
    test: bool
    grant_id: UUID | None
    """None for a token of `client_credentials`."""
    key_id: UUID
    """The id of the key that has signed the token."""
    resource: ResourceRow | None
    """The API for which the token is; None for the provider itself."""
    jkt: str | None
    """The thumbprint of the key to which the token is bound (RFC 9449 §6.1); None for a Bearer token."""
    claims: dict[str, Any]


class TokenIds(msgspec.Struct, frozen=True):
    """The ids in an access token of a customer."""

    project_id: UUID
    grant_id: UUID
    client_id: UUID
    key_id: UUID


class VerifiedClaims(LimitedCache[dict[str, Any]]):
    """The claims of tokens whose signature was verified, by project, `typ` and token. They do not change."""


class RefreshTokenParts(msgspec.Struct, frozen=True):
    """The contents of a refresh token with a valid signature: a grant, and the token's number."""

    grant_id: UUID
    generation: int


def audience_of(world: "World", project_id: UUID, *, test: bool) -> str:
    """The audience of access tokens that are for no API in particular. That of TEST clients differs, so that an API for
    LIVE tokens refuses theirs."""
    issuer = issuer_of(world, project_id)
    return f"{issuer}/test" if test else issuer


async def effective_scopes(call: Call, signed_in: SignedInCustomer, scopes: list[str]) -> tuple[list[str], list[str]]:
    """The granted scopes without permissions that the customer does not have now in the project; and the permissions
    among them that the customer has in the active organization of the session.

    They are separate, because a permission in an organization is for the data of that organization only: an OWNER has
    all permissions there, and may have none in the project.
    """
    keys = permission_scopes(scopes)
    if not keys:
        return scopes, []
    try:
        granted = await access.granted_permissions(
            call.db, call.project_id, signed_in.customer_id, signed_in.organization_id
        )
    except SubjectMissing:
        return [scope for scope in scopes if scope in STANDARD_SCOPES], []
    allowed = [scope for scope in scopes if scope in STANDARD_SCOPES or scope in granted.permissions]
    return allowed, [key for key in keys if key in (granted.organization_permissions or [])]


async def meets_requirements(
    call: Call, signed_in: SignedInCustomer, project_settings: ProjectSettings | None = None
) -> bool:
    """Whether a session meets what the project and the customer's organizations require of a sign-in now
    (docs/decisions/0042-sign-in-requirements-are-checked-at-every-refresh.md). `project_settings`: if they are known;
    otherwise this reads them. Raises ProjectMissing."""
    if project_settings is None:
        project_settings = (await projects.require_project(call.db, call.project_id)).settings
    required: SignInRequirement = await call.world.batcher(read_requirements, max_concurrent=2)(
        (call.project_id, signed_in.customer_id)
    )
    settings = project_settings.sign_in
    if not meets_sso_requirement(required, signed_in.sso_organization_id, project_requires_sso=settings.require_sso):
        return False
    if not meets_rules(required, signed_in.methods, signed_in.sso_organization_id):
        return False
    lifetime, _ = session_limits(required)
    if lifetime is not None and signed_in.created_at + lifetime <= call.now:
        return False
    return not (required.mfa or settings.require_mfa) or is_multi_factor(signed_in.methods)


def customer_claims(signed_in: SignedInCustomer, scopes: list[str]) -> dict[str, Any]:
    """The claims about a customer that the scopes allow (OpenID Connect Core §5.4). Unknown values are left out."""
    claims: dict[str, Any] = {}
    if "profile" in scopes:
        claims |= {
            "name": signed_in.name,
            "locale": signed_in.language,
            "updated_at": int(signed_in.updated_at.timestamp()),
        }
    if "email" in scopes and signed_in.email is not None:
        claims |= {"email": signed_in.email, "email_verified": signed_in.email_verified_at is not None}
    if "phone" in scopes and signed_in.phone is not None:
        claims |= {
            "phone_number": signed_in.phone,
            "phone_number_verified": signed_in.phone_verified_at is not None,
        }
    return {name: value for name, value in claims.items() if value is not None}


async def hook_claims(
    call: Call, client: ClientRow, grant: GrantRow, signed_in: SignedInCustomer, scopes: list[str]
) -> dict[str, Any]:
    """The claims that the sign-in hook BEFORE_TOKEN adds to an access token; empty without a hook.

    Call it before the code or refresh token is used, which stays valid if the hook fails. Raises OAuthError.
    """
    claims = {
        "iss": issuer_of(call.world, call.project_id),
        "sub": str(signed_in.customer_id),
        "client_id": client.client_id,
        "sid": str(signed_in.session_id),
        "auth_time": int(signed_in.authenticated_at.timestamp()),
        "acr": acr_of(signed_in.methods, grant.acr_values),
        "amr": signed_in.methods,
        "scope": " ".join(scopes),
        "email": signed_in.email,
        "email_verified": signed_in.email_verified_at is not None,
    }
    try:
        return await token_claims(call, signed_in.hooks, "OAUTH", claims)
    except HookRefused as refused:
        raise OAuthError("invalid_grant", refused.detail) from None
    except HookFailed as failed:
        raise OAuthError("temporarily_unavailable", failed.detail, status=failed.status) from None


async def issue_tokens(
    call: Call,
    client: ClientRow,
    grant: GrantRow,
    signed_in: SignedInCustomer,
    *,
    resource: ResourceRow | None,
    scopes: list[str],
    jkt: str | None,
    first: bool,
    extra: dict[str, Any],
) -> dict[str, Any]:
    """The token response (RFC 6749 §5.1, OpenID Connect Core §3.1.3.3). `resource` is the API of the grant, `jkt` the
    key to which the access token is bound. `first`: the code was exchanged just now, so that the ID token has its
    nonce. `extra` are the claims of a sign-in hook."""
    key_id, private = await signing_key(call.db, call.world, call.project_id, call.now)
    issuer, issued_at = issuer_of(call.world, call.project_id), int(call.now.timestamp())
    expires_at = min(call.now + TOKEN_LIFE, signed_in.session_expires_at)
    authentication = {
        "auth_time": int(signed_in.authenticated_at.timestamp()),
        "acr": acr_of(signed_in.methods, grant.acr_values),
        "amr": signed_in.methods,
    }
    shared = {"iss": issuer, "sub": str(grant.customer_id), "iat": issued_at, "exp": int(expires_at.timestamp())}
    # The client, or the API, may have lost some since.
    scopes = usable_scopes(resource, [scope for scope in scopes if scope in client.scopes])
    allowed, in_organization = await effective_scopes(call, signed_in, scopes)
    organization_id = signed_in.organization_id
    organization = {"id": str(organization_id), "permissions": in_organization}
    claims = {
        **shared,
        **authentication,
        "aud": _audience(call, client, resource),
        "client_id": client.client_id,
        "jti": f"{grant.id}.{new_token(12)}",
        # Standard scopes are for the userinfo endpoint, which does not accept the tokens of an API.
        "scope": " ".join(allowed if resource is None else permission_scopes(allowed)),
        **({"org": organization} if organization_id is not None else {}),
        **_confirmation(jkt),
        **({"ext": extra} if extra else {}),
    }
    access_token = jwt.encode(claims, private, algorithm="ES256", headers={"kid": str(key_id), "typ": JWT_TYP})
    response: dict[str, Any] = {
        "access_token": access_token,
        "token_type": _token_type(jkt),
        "expires_in": int((expires_at - call.now).total_seconds()),
        "scope": " ".join(allowed),
    }
    if "openid" in scopes:
        id_claims = {
            **shared,
            **authentication,
            "aud": client.client_id,
            "azp": client.client_id,
            "sid": str(grant.session_id),
            "at_hash": _half_hash(access_token),
            **({"nonce": grant.nonce} if first and grant.nonce is not None else {}),
            **customer_claims(signed_in, scopes),
        }
        response["id_token"] = await sign_for_client(
            call.world, call.project_id, client.id_token_signing_alg, id_claims, ID_TOKEN_TYP, call.now
        )
    if grant.generation > 0:
        response["refresh_token"] = refresh_token_of(call.world.secrets, grant)
    return response


async def issue_client_token(
    call: Call, client: ClientRow, resource: ResourceRow | None, scopes: list[str], *, jkt: str | None
) -> dict[str, Any]:
    """The response with an access token of the client itself (RFC 6749 §4.4.3), bound to the key `jkt`."""
    key_id, private = await signing_key(call.db, call.world, call.project_id, call.now)
    issued_at = int(call.now.timestamp())
    claims = {
        "iss": issuer_of(call.world, call.project_id),
        "sub": client.client_id,
        "aud": _audience(call, client, resource),
        "client_id": client.client_id,
        "iat": issued_at,
        "exp": issued_at + int(TOKEN_LIFE.total_seconds()),
        "jti": str(new_id()),
        "scope": " ".join(scopes),
        **_confirmation(jkt),
    }
    token = jwt.encode(claims, private, algorithm="ES256", headers={"kid": str(key_id), "typ": JWT_TYP})
    return {
        "access_token": token,
        "token_type": _token_type(jkt),
        "expires_in": int(TOKEN_LIFE.total_seconds()),
        "scope": claims["scope"],
    }


def _confirmation(jkt: str | None) -> dict[str, Any]:
    """The claim `cnf` of an access token that is bound to a key (RFC 9449 §6.1)."""
    return {} if jkt is None else {"cnf": {"jkt": jkt}}


def _token_type(jkt: str | None) -> str:
    return "Bearer" if jkt is None else "DPoP"


def _audience(call: Call, client: ClientRow, resource: ResourceRow | None) -> str:
    if resource is not None:
        return resource.identifier
    return audience_of(call.world, call.project_id, test=client.is_test)


async def read_access_token(call: Call, token: str) -> AccessTokenClaims | None:
    """The claims of an access token of a client; None if it is not valid, has expired, or is a token of a session or
    an ID token. Whether its session and client still exist must be read from the database, and whether its key is still
    published: by `customer_of_token`, or for a token of `client_credentials` by `is_published_key`. A key that has
    leaked, and was rotated for it, signs no tokens that are accepted."""
    claims = await _verified_claims(call, token, JWT_TYP, ("ES256",))
    if claims is None:
        return None
    if not isinstance(claims.get("client_id"), str) or not isinstance(claims.get("exp"), int):
        return None
    audiences = {audience_of(call.world, call.project_id, test=test): test for test in (False, True)}
    audience = claims.get("aud")
    if not isinstance(audience, str) or claims["exp"] <= call.now.timestamp():
        return None
    resource = None
    if audience not in audiences:
        resource = await resource_store.resource_of_identifier(call.db, project_id=call.project_id, identifier=audience)
        if resource is None:
            return None
    grant_id = as_id(str(claims.get("jti")).partition(".")[0])
    is_own = claims["sub"] == claims["client_id"]
    return AccessTokenClaims(
        client_id=client_row_id(call.project_id, claims["client_id"]),
        subject=claims["sub"],
        scopes=str(claims.get("scope", "")).split(),
        test=audiences[audience] if resource is None else resource.environment == "TEST",
        grant_id=None if is_own else grant_id,
        key_id=_key_id(token),
        resource=resource,
        jkt=claims["cnf"]["jkt"] if "cnf" in claims else None,
        claims=claims,
    )


async def customer_of_token(
    call: Call, access: AccessTokenClaims, project_settings: ProjectSettings | None = None
) -> SignedInCustomer | None:
    """The customer of an access token; None if it is one of `client_credentials`, its grant was revoked, its client
    deleted, its key is no longer published, its session has ended, or the sign-in does not meet the present
    requirements. Read at every request, for concurrent requests together. `project_settings`: if they are known. Raises
    ProjectMissing."""
    if access.grant_id is None:
        return None
    ids = TokenIds(call.project_id, access.grant_id, access.client_id, access.key_id)
    signed_in: SignedInCustomer | None = await call.world.batcher(
        _customers_of_tokens, max_concurrent=2, by=attrgetter("project_id")
    )(ids)
    if signed_in is None or signed_in.test != access.test:
        return None
    return signed_in if await meets_requirements(call, signed_in, project_settings) else None


async def _customers_of_tokens(world: "World", tokens: list[TokenIds]) -> list[AccessTokenCustomer | None]:
    """The customers of the tokens of concurrent requests, in the order of `tokens`, read in one statement."""
    rows = await store.access_token_customers(
        world.db,
        project_ids=[token.project_id for token in tokens],
        grant_ids=[token.grant_id for token in tokens],
        client_ids=[token.client_id for token in tokens],
        key_ids=[token.key_id for token in tokens],
        now=world.clock(),
    )
    customers = {(row.project_id, row.grant_id, row.key_id): row for row in rows}
    return [customers.get((token.project_id, token.grant_id, token.key_id)) for token in tokens]


async def read_id_token_hint(call: Call, token: str) -> dict[str, Any] | None:
    """The claims of an ID token that this provider has issued, also if it has expired or its key has retired; None for
    other tokens. It names a customer and a session, and is no credential."""
    claims = await _verified_claims(call, token, ID_TOKEN_TYP, ID_TOKEN_ALGORITHMS)
    if (
        claims is None
        or client_row_id(call.project_id, claims.get("aud")) == NO_ID
        or as_id(claims.get("sid")) == NO_ID
    ):
        return None
    return claims


async def _verified_claims(
    call: Call, token: str, typ: str, algorithms: Sequence[SigningAlgorithm]
) -> dict[str, Any] | None:
    """The claims of a JWT with this `typ` that a key of the project has signed with one of these algorithms. Audience
    and expiry are not checked."""
    if len(token) > TOKEN_LIMIT or not token.isascii():
        return None
    verified = call.world.db.cache(VerifiedClaims)
    known = verified.get((call.project_id, typ, token))
    if known is not None:
        return known
    try:
        header = jwt.get_unverified_header(token)
        algorithm: SigningAlgorithm = "RS256" if header.get("alg") == "RS256" else "ES256"
        if algorithm not in algorithms or header.get("typ") != typ:
            return None
        # A key is looked for among those of the algorithm, so that it verifies no other one (RFC 8725 §3.1).
        key = await public_key(call.world, call.project_id, _key_id(token), algorithm)
        if key is None:
            return None
        claims = jwt.decode(
            token,
            key,
            algorithms=[algorithm],
            issuer=issuer_of(call.world, call.project_id),
            # `exp` is checked with the world's clock.
            options={
                "require": ["exp", "iat", "sub", "aud"],
                "verify_aud": False,
                "verify_exp": False,
                "verify_iat": False,
            },
        )
    except (jwt.PyJWTError, ValueError):
        return None
    return verified.remember((call.project_id, typ, token), claims)


def _key_id(token: str) -> UUID:
    """The id of the key of a JWT; NO_ID if it is malformed. Raises PyJWTError if the header is malformed."""
    return as_id(jwt.get_unverified_header(token).get("kid"))


def refresh_token_of(secrets: Secrets, grant: GrantRow) -> str:
    """The current refresh token of a grant."""
    packed = REFRESH_FORMAT.pack(grant.id.bytes, grant.generation)
    signature = secrets.sign(REFRESH_PURPOSE, grant.project_id.bytes + packed)
    return f"{REFRESH_PREFIX}{base64.urlsafe_b64encode(packed).rstrip(b'=').decode()}.{signature}"


def read_refresh_token(secrets: Secrets, project_id: UUID, token: str) -> RefreshTokenParts | None:
    """The parts of a refresh token; None if this server has not issued it."""
    text, _, signature = token.removeprefix(REFRESH_PREFIX).partition(".")
    if not token.startswith(REFRESH_PREFIX) or len(token) > 200 or not token.isascii():
        return None
    try:
        packed = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
        id_bytes, generation = REFRESH_FORMAT.unpack(packed)
    except (ValueError, struct.error):
        return None
    if not secrets.verify(REFRESH_PURPOSE, project_id.bytes + packed, signature):
        return None
    return RefreshTokenParts(UUID(bytes=id_bytes), generation)


def _half_hash(token: str) -> str:
    """The claim `at_hash` of an access token (OpenID Connect Core §3.1.3.6)."""
    return base64.urlsafe_b64encode(hashlib.sha256(token.encode()).digest()[:16]).rstrip(b"=").decode()
