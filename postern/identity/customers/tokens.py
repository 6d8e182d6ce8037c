"""Tokens of customers: the session that a sign-in begins, its access tokens, and the keys that sign them.

An access token is an ES256 JWT that is valid for five minutes and that anybody can verify with the project's JWKS. This
server also reads the session at every request, so that a revoked session or a ban takes effect at the next request.
Sessions and refresh tokens are those of `security/sessions.py`.
"""

from collections import OrderedDict
from datetime import timedelta
from typing import TYPE_CHECKING, Any, TypeVar
from uuid import UUID

import jwt
import msgspec
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
    load_der_private_key,
    load_der_public_key,
)
from jwt.algorithms import ECAlgorithm
from msgspec import UNSET, UnsetType

from postern.identity.customers import store, token_store
from postern.identity.customers.model import (
    ACCESS_TOKEN_LIFE,
    SESSION_IDLE,
    SESSION_LIFE,
    SESSIONS_LIMIT,
    SIGN_IN_CALLERS,
    CustomerRefreshTokenInvalid,
    CustomerRow,
    NotAMember,
    OrganizationId,
    Token,
)
from postern.identity.customers.requirements import (
    SignInRequirement,
    is_multi_factor,
    meets_sso_requirement,
    read_requirements,
)
from postern.identity.customers.token_claims import MAY_ACTIVATE, SUBJECT, CustomerClaims, context_claims
from postern.identity.customers.token_store import SigningKey, TokenBearer
from postern.kernel.clock import Moment
from postern.kernel.database.statements import Queries, Transaction
from postern.kernel.http.call import Call, Caller, CredentialInvalid, Origin, ProjectMissing
from postern.kernel.http.openapi_examples import identifier
from postern.kernel.http.operation import get, post
from postern.kernel.http.problems import ProblemError
from postern.kernel.http.responses import HttpResponse
from postern.kernel.values import Body, Record, as_id, build_view, new_id, to_json
from postern.platform.audit import operations as audit
from postern.platform.events import operations as events
from postern.platform.projects import operations as projects
from postern.security import session_store
from postern.security.session_store import RefreshedSession, SessionRow
from postern.security.sessions import (
    OrganizationRefused,
    RefreshRefused,
    RefreshRequest,
    Renewal,
    SessionPolicy,
    activate_first_organization,
    begin_session,
    continue_session,
    refresh_session,
    refresh_token_of,
    renew_sessions,
)

if TYPE_CHECKING:
    from postern.world import World

KEY_CACHE_TIME = timedelta(seconds=60)
"""How long a process signs with a key before it reads the current one from the database again."""
KEY_ACTIVE_AFTER = timedelta(minutes=10)
"""How long a new key is published in the JWKS before it signs, so that cached copies of the JWKS contain it."""
KEY_RETIRED_AFTER = timedelta(hours=1)
"""How long earlier keys stay valid after a new one begins to sign: longer than an access token is valid."""
JWT_TYP = "at+jwt"
"""The `typ` of access tokens (RFC 9068 §2.1)."""
CACHE_SIZE = 10_000
"""Entries of each cache of a process; the oldest are dropped first."""
JWKS_MAX_AGE = timedelta(minutes=5)


class CurrentCustomer(Record):
    """A customer's own account, as the customer sees it."""

    id: UUID
    email: str | None
    email_verified_at: Moment | None
    name: str | None
    phone: str | None
    roles: list[str]
    metadata: dict[str, Any]
    identities: list[str]
    organization_id: UUID | None
    """The active organization of the access token; null without one."""
    mfa_enabled_at: Moment | None
    created_at: Moment
    updated_at: Moment


class CustomerSignInResult(Record):
    """The result of a sign-in: tokens, or the step that is still required.

    With `mfaRequired` the tokens are null: send `mfaToken` and a code to `mfa/verify`. With `mfaEnrollmentRequired`
    too, the customer must first set up a second factor: send `mfaToken` to `mfa/enroll`, then a first code to
    `mfa/enroll/confirm`.
    """

    session_id: UUID | None = None
    access_token: str | None = None
    access_token_expires_at: Moment | None = None
    refresh_token: str | None = None
    refresh_token_expires_at: Moment | None = None
    organization_id: UUID | None = None
    """The active organization, which the access token describes; null without one."""
    customer: CurrentCustomer | None = None
    mfa_required: bool = False
    mfa_enrollment_required: bool = False
    mfa_token: str | None = None
    mfa_methods: list[str] | None = None


class CustomerTokens(Record):
    """New tokens of a session. The refresh token that was sent is no longer valid."""

    session_id: UUID
    access_token: str
    access_token_expires_at: Moment
    refresh_token: str
    refresh_token_expires_at: Moment
    organization_id: UUID | None
    """The active organization, which the access token describes; null without one."""


class CustomerTokenRefresh(Body):
    """The refresh token that the last sign-in or refresh of this session returned, and the organization to switch
    to."""

    refresh_token: Token
    organization_id: OrganizationId | None | UnsetType = UNSET
    """The organization to make active; null for none. If it is omitted, the active organization stays."""


class CheckedToken(msgspec.Struct, frozen=True):
    """The claims of an access token whose signature was verified."""

    issuer: str
    project_id: UUID
    session_id: UUID
    key_id: UUID
    expires: int
    """Unix time in seconds."""
    organization_id: UUID | None
    """The `id` in the claim `org`."""


@post(
    "/projects/{project_id}/auth/token/refresh",
    accepts=SIGN_IN_CALLERS,
    problems=[CustomerRefreshTokenInvalid, NotAMember],
    example={
        "refreshToken": "cr_AZqfN2n0cYiN0Hq6m0Yb4QAAAAE.Vb0x3yq0Z7c9m5p1r8s2t6w4u0a",
        "organizationId": identifier("organization"),
    },
    response_example={"refreshToken": "cr_AZqfN2n0cYiN0Hq6m0Yb4QAAAAI.…"},
)
async def refresh_customer_tokens(call: Call, data: CustomerTokenRefresh) -> CustomerTokens:
    """Exchange a refresh token for new tokens.

    A refresh token works once. If it is sent again within 30 seconds, the response has the same new tokens, so that a
    lost response does no harm. A token that is used again later must have been copied, so the session ends. The session
    also ends if an organization or the project requires more of sign-ins now (`requireSso`, `requireMfa`).

    `organizationId` switches the active organization, which the access token describes; null is no organization. If the
    customer is not a member of it, or it is suspended, nothing changes (403): the refresh token still works.
    """
    organization_id = data.organization_id
    try:
        renewed = await refresh_session(
            call,
            call.project_id,
            data.refresh_token,
            SESSIONS,
            renew_customer_sessions,
            organization_id=as_id(organization_id) if isinstance(organization_id, str) else organization_id,
        )
    except RefreshRefused:
        raise CustomerRefreshTokenInvalid from None
    except OrganizationRefused:
        errors = [ProblemError(path="/organizationId", code=NotAMember.code(), message=NotAMember.message())]
        raise NotAMember(errors=errors) from None
    return await _issue_tokens(call, call.db, renewed, await _require_still_permitted(call, renewed))


@get(
    "/projects/{project_id}/.well-known/jwks.json",
    public=True,
    any_query=True,
    response_type=dict[str, Any],
    response_example={
        "keys": [
            {
                "kty": "EC",
                "crv": "P-256",
                "x": "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU",
                "y": "x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0",
                "kid": "019c13f9-5a00-7b1c-8e24-5d0c9a1f77e2",
                "alg": "ES256",
                "use": "sig",
            }
        ]
    },
)
async def list_signing_keys(call: Call) -> HttpResponse:
    """The public keys that verify customers' access tokens (RFC 7517). Cache them for at most five minutes."""
    await projects.require_project(call.db, call.project_id)
    await signing_key(call.db, call.world, call.project_id, call.now)
    keys = await token_store.keys(call.db, project_id=call.project_id, now=call.now)
    document = {"keys": [_public_jwk(key) for key in keys]}
    return HttpResponse(
        to_json(document), headers={"Cache-Control": f"public, max-age={int(JWKS_MAX_AGE.total_seconds())}"}
    )


@post("/projects/{project_id}/auth/signing-keys/rotate", needs="projects:write")
async def rotate_signing_keys(call: Call) -> None:
    """Create a new key for customers' access tokens.

    It is published at once and signs after ten minutes; earlier keys are removed from the JWKS an hour after that.
    """
    async with call.db.transaction() as tx:
        key = await _new_key(tx, call.world, call.project_id, call.now, call.now + KEY_ACTIVE_AFTER)
        await token_store.retire_keys(
            tx, project_id=call.project_id, but=key.id, retired_at=key.active_at + KEY_RETIRED_AFTER
        )
        await audit.record(tx, call, "signing_key.rotated", "SigningKey", key.id)


async def start_session(
    tx: Transaction,
    call: Call,
    customer: CustomerRow,
    methods: list[str],
    *,
    until: Moment | None = None,
    sso_organization_id: UUID | None = None,
) -> SessionRow:
    """Begin a session of a customer whose row is locked in `tx`. `issue_first_tokens` issues its tokens.

    It ends at `until` at the latest, if the identity provider set an end. `sso_organization_id` is the organization
    whose single sign-on connection was used. Sets `lastSignInAt`, but checks no requirements and records no event; see
    `sign_in.complete_sign_in`.
    """
    session = await begin_session(
        tx, call, customer.subject, SESSIONS, methods, until=until, sso_organization_id=sso_organization_id
    )
    await store.record_sign_in(tx, project_id=call.project_id, id=customer.id, now=call.now)
    return session


async def issue_first_tokens(
    tx: Transaction, call: Call, session: SessionRow, customer: CustomerRow
) -> CustomerSignInResult:
    """Choose the active organization of a session that has begun in `tx`, and issue its first tokens.

    Call this after the sign-in was recorded, because customers join organizations in reaction to it.
    """
    organization_id = await token_store.first_organization(
        tx,
        project_id=call.project_id,
        customer_id=customer.id,
        session_id=session.id,
        sso_organization_id=session.sso_organization_id,
    )
    begun = await activate_first_organization(tx, session, organization_id, SESSIONS, call.now)
    return await _sign_in_result(call, tx, begun, _claims_of(begun), customer)


async def resume_session(call: Call, session_id: UUID, customer: CustomerRow) -> CustomerSignInResult:
    """The first tokens of a session that began on a hosted page.

    Raises CustomerRefreshTokenInvalid if the session has ended, its tokens were issued already, or it no longer meets
    the sign-in requirements.
    """
    request = RefreshRequest(call.project_id, session_id, generation=1)
    renewed = await continue_session(call, request, renew_customer_sessions)
    if renewed is None:
        raise CustomerRefreshTokenInvalid
    claims = await _require_still_permitted(call, renewed)
    return await _sign_in_result(call, call.db, renewed, claims, customer)


async def read_customer_token(world: "World", token: str, project_id: UUID | None, origin: Origin) -> Caller | None:
    """Authenticate a customer's access token. Returns None if `token` is not a JWT.

    Session and ban are read from the database at every request. Raises CredentialInvalid if the token is not valid, its
    session has ended or the customer is banned, and ProjectMissing if it belongs to another project than `project_id`.
    """
    if not token.startswith("ey") or token.count(".") != 2:
        return None
    checked = await _verified_token(world, token)
    if checked is None:
        raise CredentialInvalid
    if project_id is not None and project_id != checked.project_id:
        raise ProjectMissing
    bearer: TokenBearer | None = await world.batcher(token_bearers_of, max_concurrent=2)(checked)
    if bearer is None:
        raise CredentialInvalid
    return Caller(
        kind="customer",
        actor_type="CUSTOMER",
        actor_id=bearer.id,
        project_id=checked.project_id,
        environment="TEST" if bearer.session_test else "LIVE",
        credential_id=checked.session_id,
        customer=bearer,
        organization_id=checked.organization_id,
    )


async def token_bearers_of(world: "World", tokens: list[CheckedToken]) -> list[TokenBearer | None]:
    """The customers of the tokens of concurrent requests, in the order of `tokens`, read in one statement.

    None if the session or the signing key of a token has ended, or the customer is banned. Nothing is cached, so that
    revocations take effect at the next request.
    """
    rows = await token_store.token_bearers(
        world.db,
        project_id=[token.project_id for token in tokens],
        id=[token.session_id for token in tokens],
        key_id=[token.key_id for token in tokens],
        now=world.clock(),
    )
    bearers = {(row.project_id, row.session_id, row.key_id): row for row in rows}
    return [bearers.get((token.project_id, token.session_id, token.key_id)) for token in tokens]


async def renew_customer_sessions(world: "World", requests: list[RefreshRequest]) -> list[Renewal]:
    """Renew the sessions of customers for concurrent requests together, as `security.sessions.renew_sessions` does."""
    return await renew_sessions(world, requests, SESSIONS)


def me_of(customer: CustomerRow, organization_id: UUID | None) -> CurrentCustomer:
    """A customer's own account, as the customer sees it; `organization_id` is the active organization."""
    return build_view(CurrentCustomer, customer, identities=customer.providers, organization_id=organization_id)


async def _require_still_permitted(call: Call, session: RefreshedSession) -> CustomerClaims:
    """The claims for the new tokens of a session.

    If the sign-in does not meet the current requirements, ends the session and raises CustomerRefreshTokenInvalid.
    """
    claims = _claims_of(session)
    required: SignInRequirement = await call.world.batcher(read_requirements, max_concurrent=2)(
        (call.project_id, session.subject_id)
    )
    if not meets_sso_requirement(required, session.sso_organization_id, project_requires_sso=claims.requires_sso):
        reason = "SSO_REQUIRED"
    elif (required.mfa or claims.requires_mfa) and not is_multi_factor(session.methods):
        reason = "MFA_REQUIRED"
    else:
        return claims
    async with call.db.transaction() as tx:
        if await session_store.revoke_session(
            tx, project_id=call.project_id, subject_id=session.subject_id, id=session.id, now=call.now
        ):
            await _record_end(tx, call, session, reason)
    raise CustomerRefreshTokenInvalid("This session does not meet the current sign-in requirements; sign in again.")


async def _record_reuse(tx: Transaction, call: Call, session: SessionRow) -> None:
    await _record_end(tx, call, session, "REFRESH_TOKEN_REUSED")


async def _record_end(tx: Transaction, call: Call, session: SessionRow, reason: str) -> None:
    await events.record(
        tx, call, "customer.session_revoked", session.subject_id, sessionId=str(session.id), reason=reason
    )


SESSIONS = SessionPolicy(
    refresh_prefix="cr_",
    refresh_purpose="customer-refresh",
    access_life=ACCESS_TOKEN_LIFE,
    life=SESSION_LIFE,
    idle=SESSION_IDLE,
    limit=SESSIONS_LIMIT,
    subject=SUBJECT,
    may_activate=MAY_ACTIVATE,
    record_reuse=_record_reuse,
)


def _claims_of(session: RefreshedSession) -> CustomerClaims:
    return msgspec.convert(session.subject, CustomerClaims)


async def _sign_in_result(
    call: Call, db: Queries, session: SessionRow, claims: CustomerClaims, customer: CustomerRow
) -> CustomerSignInResult:
    tokens = await _issue_tokens(call, db, session, claims)
    return CustomerSignInResult(**msgspec.structs.asdict(tokens), customer=me_of(customer, tokens.organization_id))


async def _issue_tokens(call: Call, db: Queries, session: SessionRow, claims: CustomerClaims) -> CustomerTokens:
    key_id, private = await signing_key(db, call.world, call.project_id, call.now)
    expires_at = min(call.now + ACCESS_TOKEN_LIFE, session.expires_at)
    issuer = issuer_of(call.world, call.project_id)
    payload = {
        "iss": issuer,
        "aud": str(call.project_id),
        "sub": str(session.subject_id),
        "sid": str(session.id),
        "iat": int(call.now.timestamp()),
        "exp": int(expires_at.timestamp()),
        "auth_time": int(session.authenticated_at.timestamp()),
        "amr": session.methods,
        "roles": claims.roles,
        "email": claims.email,
        "email_verified": claims.email_verified,
        **context_claims(claims, issuer),
    }
    return CustomerTokens(
        session_id=session.id,
        access_token=jwt.encode(payload, private, algorithm="ES256", headers={"kid": str(key_id), "typ": JWT_TYP}),
        access_token_expires_at=expires_at,
        refresh_token=refresh_token_of(call.world.secrets, session, SESSIONS),
        refresh_token_expires_at=session.ends_at,
        organization_id=None if claims.organization is None else claims.organization.id,
    )


def issuer_of(world: "World", project_id: UUID) -> str:
    """The `iss` of a project's access tokens. The URL of its JWKS is this one followed by `/.well-known/jwks.json`."""
    return f"{world.settings.public_url}/projects/{project_id}"


# Signing keys. A key never changes, so it can be cached. Whether it is retired is read with the session of each token.


V = TypeVar("V")


class LimitedCache(OrderedDict[Any, V]):
    """A cache of limited size; the oldest values are dropped first."""

    def remember(self, key: Any, value: V) -> V:
        """Add and return a value; drops the oldest one if there are more than `CACHE_SIZE`."""
        self[key] = value
        if len(self) > CACHE_SIZE:
            self.popitem(last=False)
        return value


class PrivateKeys(LimitedCache[tuple[UUID, ec.EllipticCurvePrivateKey, Moment]]):
    """The signing key of each project: its id, the key, and when it was read from the database."""


class PublicKeys(LimitedCache[ec.EllipticCurvePublicKey]):
    """Public keys, by project and id."""


class CheckedTokens(LimitedCache[CheckedToken]):
    """Access tokens whose signature was verified; their claims do not change."""


async def signing_key(
    db: Queries, world: "World", project_id: UUID, now: Moment
) -> tuple[UUID, ec.EllipticCurvePrivateKey]:
    """The id of the key that signs a project's access tokens now, and the key. Inserts one if the project has none.

    Cached for `KEY_CACHE_TIME`.
    """
    private_keys = db.cache(PrivateKeys)
    cached = private_keys.get(project_id)
    if cached is not None:
        key_id, private, read_at = cached
        if abs(now - read_at) < KEY_CACHE_TIME:
            return key_id, private
    keys = await token_store.keys(db, project_id=project_id, now=now)
    active = [key for key in keys if key.active_at <= now]
    key = active[0] if active else await _new_key(db, world, project_id, now, now)
    private = load_der_private_key(world.secrets.open(key.private_key, f"signing-key:{project_id}"), None)
    assert isinstance(private, ec.EllipticCurvePrivateKey)
    if active:  # Not a new key: the transaction that inserts it may be rolled back.
        private_keys.remember(project_id, (key.id, private, now))
    return key.id, private


async def _new_key(db: Queries, world: "World", project_id: UUID, now: Moment, active_at: Moment) -> SigningKey:
    private = ec.generate_private_key(ec.SECP256R1())
    der = private.private_bytes(Encoding.DER, PrivateFormat.PKCS8, NoEncryption())
    return await token_store.insert_key(
        db,
        project_id=project_id,
        id=new_id(),
        public_key=private.public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo),
        private_key=world.secrets.seal(der, f"signing-key:{project_id}"),
        active_at=active_at,
        now=now,
    )


async def _verified_token(world: "World", token: str) -> CheckedToken | None:
    """The claims of a token, or None unless its signature, issuer, audience and times are valid."""
    tokens = world.db.cache(CheckedTokens)
    checked = tokens.get(token)
    if checked is None:
        checked = await _verify_signature(world, token)
        if checked is None:
            return None
        tokens.remember(token, checked)
    if checked.expires <= world.clock().timestamp() or checked.issuer != issuer_of(world, checked.project_id):
        return None
    return checked


async def _verify_signature(world: "World", token: str) -> CheckedToken | None:
    """The claims of a token, or None unless a key of its project signed it. Does not check `exp` and `iat`."""
    try:
        header = jwt.get_unverified_header(token)
        if header.get("typ") != JWT_TYP:
            return None
        key_id = as_id(header.get("kid"))
        unverified = jwt.decode(token, options={"verify_signature": False})
        project_id = as_id(unverified.get("aud"))
        public = await _public_key(world, project_id, key_id)
        if public is None:
            return None
        claims = jwt.decode(
            token,
            public,
            algorithms=["ES256"],
            audience=str(project_id),
            issuer=issuer_of(world, project_id),
            # `_verified_token` checks `exp` with the world's clock.
            options={"require": ["exp", "iat", "sub", "sid"], "verify_exp": False, "verify_iat": False},
        )
    except (jwt.PyJWTError, ValueError):
        return None
    if not isinstance(claims["exp"], int):
        return None
    organization = claims.get("org")
    organization_id = None if organization is None else as_id(organization["id"])
    return CheckedToken(claims["iss"], project_id, as_id(claims["sid"]), key_id, claims["exp"], organization_id)


async def _public_key(world: "World", project_id: UUID, key_id: UUID) -> ec.EllipticCurvePublicKey | None:
    public_keys = world.db.cache(PublicKeys)
    cached = public_keys.get((project_id, key_id))
    if cached is not None:
        return cached
    row = await token_store.key(world.db, project_id=project_id, id=key_id)
    if row is None:
        return None
    public = load_der_public_key(row.public_key)
    assert isinstance(public, ec.EllipticCurvePublicKey)
    return public_keys.remember((project_id, key_id), public)


def _public_jwk(key: SigningKey) -> dict[str, Any]:
    public = load_der_public_key(key.public_key)
    assert isinstance(public, ec.EllipticCurvePublicKey)
    jwk: dict[str, Any] = ECAlgorithm.to_jwk(public, as_dict=True)
    return {**jwk, "kid": str(key.id), "alg": "ES256", "use": "sig"}
