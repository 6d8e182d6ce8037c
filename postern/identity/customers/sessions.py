"""Sessions of customers, their access tokens, and the keys that sign those.

An access token is an ES256 JWT of five minutes that anybody can check with the project's JWKS; here the session
behind it is looked up at every request, so a revoked session or a ban holds from the next request on. Sessions and
refresh tokens are those of `security/sessions.py`.
"""

from collections import OrderedDict
from datetime import timedelta
from typing import TYPE_CHECKING, Any
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
from psycopg.sql import SQL

from postern.identity.customers import store, token_store
from postern.identity.customers.model import (
    ACCESS_TOKEN_LIFE,
    FRESH,
    SESSION_IDLE,
    SESSION_LIFE,
    SESSIONS_LIMIT,
    CustomerRefreshTokenInvalid,
    CustomerRow,
    CustomerSession,
    NotFresh,
    PersonName,
    Token,
)
from postern.identity.customers.requirements import SignInRequirement, is_multi_factor, permits_sso, requirements_all
from postern.identity.customers.token_store import SigningKey, TokenBearer
from postern.kernel.clock import Moment
from postern.kernel.database.statements import Queries, Transaction
from postern.kernel.http.call import Call, Caller, CredentialInvalid, Kind, Origin, ProjectMissing
from postern.kernel.http.operation import delete, get, patch, post
from postern.kernel.http.responses import HttpResponse
from postern.kernel.values import Body, Record, as_id, new_id, to_json
from postern.platform.audit import operations as audit
from postern.platform.events import operations as events
from postern.platform.projects import operations as projects
from postern.security import challenges, session_store
from postern.security.session_store import RefreshedSession, SessionRow
from postern.security.sessions import (
    OwnSession,
    RefreshRefused,
    RefreshRequest,
    SessionMissing,
    SessionPolicy,
    begin_session,
    continue_session,
    own_session,
    refresh_session,
    refresh_token_of,
    renew_sessions,
)
from postern.security.subjects import Subject

if TYPE_CHECKING:
    from postern.world import World

CUSTOMER: frozenset[Kind] = frozenset(("customer",))
AT_THE_DOOR: frozenset[Kind] = frozenset(("nobody", "publishable_key", "secret_key"))
"""Who may call what a person does before being known: a browser, an app, or the project's own server."""

KEY_LOOKED_UP_EVERY = timedelta(seconds=60)
KEY_ACTIVE_AFTER = timedelta(minutes=10)
"""A new signing key is published this long before it signs, so that nobody's copy of the JWKS lacks it."""
KEY_RETIRED_AFTER = timedelta(hours=1)
JWT_TYP = "at+jwt"
"""Tells access tokens from other JWTs (RFC 9068 §2.1)."""
KEYS_REMEMBERED = 10_000
TOKENS_REMEMBERED = 10_000
JWKS_MAX_AGE = timedelta(minutes=5)


class CurrentCustomer(Record):
    """What a customer sees of the own account."""

    id: UUID
    email: str | None
    email_verified_at: Moment | None
    name: str | None
    phone: str | None
    roles: list[str]
    metadata: dict[str, Any]
    identities: list[str]
    mfa_enabled_at: Moment | None
    created_at: Moment
    updated_at: Moment


class CustomerSignInResult(Record):
    """What signing in answers: tokens, or what is still missing.

    With `mfaRequired` the tokens are null: send `mfaToken` and a code to `mfa/verify`. With `mfaEnrollmentRequired`
    as well, the customer has no second factor yet and needs one: send `mfaToken` to `mfa/enroll`, then a first code to
    `mfa/enroll/confirm`.
    """

    session_id: UUID | None = None
    access_token: str | None = None
    access_token_expires_at: Moment | None = None
    refresh_token: str | None = None
    refresh_token_expires_at: Moment | None = None
    customer: CurrentCustomer | None = None
    mfa_required: bool = False
    mfa_enrollment_required: bool = False
    mfa_token: str | None = None
    mfa_methods: list[str] | None = None


class CustomerTokens(Record):
    """New tokens of a session. The refresh token that was sent is worthless now."""

    session_id: UUID
    access_token: str
    access_token_expires_at: Moment
    refresh_token: str
    refresh_token_expires_at: Moment


class CustomerTokenRefresh(Body):
    """The newest refresh token of a session."""

    refresh_token: Token


class CustomerClaims(Record):
    """What access tokens say of a customer, and what the project requires of a sign-in by now."""

    roles: list[str]
    email: str | None
    email_verified: bool
    requires_sso: bool = False
    requires_mfa: bool = False


class CurrentCustomerChange(Body):
    """What a customer may change about the own account."""

    name: PersonName | None


@post(
    "/projects/{project_id}/auth/token/refresh",
    accepts=AT_THE_DOOR,
    problems=[CustomerRefreshTokenInvalid],
    example={"refreshToken": "cr_AZqfN2n0cYiN0Hq6m0Yb4QAAAAE.Vb0x3yq0Z7c9m5p1r8s2t6w4u0a"},
    shows={"refreshToken": "cr_AZqfN2n0cYiN0Hq6m0Yb4QAAAAI.…"},
)
async def refresh_customer_tokens(call: Call, data: CustomerTokenRefresh) -> CustomerTokens:
    """Exchange a refresh token for new tokens.

    A refresh token works once. The one before the newest answers for 30 seconds more with the same new tokens, so
    that a lost answer costs nothing; any other old one means that it was copied: the session ends. So it does where an
    organization or the project has required more of a sign-in since (`requireSso`,
    `requireMfa`).
    """
    try:
        renewed = await refresh_session(call, call.project_id, data.refresh_token, SESSIONS, renew_customer_sessions)
    except RefreshRefused:
        raise CustomerRefreshTokenInvalid from None
    return await _tokens(call, call.db, renewed, await _require_still_permitted(call, renewed))


@post("/projects/{project_id}/auth/sign-out", accepts=CUSTOMER)
async def sign_out_customer(call: Call) -> None:
    """End this session: its tokens are refused from the next request on."""
    person, session_id = bearer_of(call)
    async with call.db.transaction() as tx:
        if await session_store.revoke_session(
            tx, project_id=call.project_id, subject_id=person, id=session_id, now=call.now
        ):
            await events.record(tx, call, "customer.signed_out", person, sessionId=str(session_id))


@get("/projects/{project_id}/auth/me", accepts=CUSTOMER)
async def get_current_customer(call: Call) -> CurrentCustomer:
    """The customer whose token this is."""
    return me_of(customer_of(call))


@patch("/projects/{project_id}/auth/me", accepts=CUSTOMER, example={"name": "Ada Lovelace"})
async def change_current_customer(call: Call, data: CurrentCustomerChange) -> CurrentCustomer:
    """Change the own name; null removes it."""
    async with call.db.transaction() as tx:
        person = await locked_customer(tx, call)
        call.require_match(person.updated_at)
        person = await store.set_profile(
            tx,
            project_id=call.project_id,
            id=person.id,
            name=data.name,
            phone=person.phone,
            external_id=person.external_id,
            now=call.now,
        )
    return me_of(person)


@get("/projects/{project_id}/auth/sessions", accepts=CUSTOMER)
async def list_my_sessions(call: Call) -> list[OwnSession]:
    """Where the customer is signed in, newest first."""
    person, session_id = bearer_of(call)
    rows = await session_store.live_sessions(
        call.db, project_id=call.project_id, subject_ids=[person], now=call.now, limit=SESSIONS_LIMIT
    )
    return [own_session(row, session_id) for row in rows]


@delete("/projects/{project_id}/auth/sessions/{session_id}", accepts=CUSTOMER, problems=[SessionMissing])
async def revoke_my_session(call: Call, session_id: UUID) -> None:
    """End one of the own sessions."""
    person, _ = bearer_of(call)
    async with call.db.transaction() as tx:
        await end_session(tx, call, person, session_id)


@post("/projects/{project_id}/auth/sessions/revoke-others", accepts=CUSTOMER)
async def revoke_my_other_sessions(call: Call) -> None:
    """End all own sessions but this one."""
    person, session_id = bearer_of(call)
    async with call.db.transaction() as tx:
        await end_sessions(tx, call, person, but=session_id)


@get(
    "/projects/{project_id}/.well-known/jwks.json",
    public=True,
    any_query=True,
    answers=dict[str, Any],
    shows={
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
    """The public keys that check customers' access tokens (RFC 7517). Keep them for five minutes at most."""
    await projects.require_project(call.db, call.project_id)
    await signing_key(call.db, call.world, call.project_id, call.now)
    keys = await token_store.keys(call.db, project_id=call.project_id, now=call.now)
    document = {"keys": [_public_jwk(key) for key in keys]}
    return HttpResponse(
        to_json(document), headers={"Cache-Control": f"public, max-age={int(JWKS_MAX_AGE.total_seconds())}"}
    )


@post("/projects/{project_id}/auth/signing-keys/rotate", needs="projects:write")
async def rotate_signing_keys(call: Call) -> None:
    """Make a new key for customers' access tokens.

    It is published at once and signs after ten minutes; the keys before it leave the JWKS an hour after that.
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
    person: CustomerRow,
    methods: list[str],
    *,
    until: Moment | None = None,
    sso_organization_id: UUID | None = None,
) -> CustomerSignInResult:
    """Sign a customer in, whose row is locked in `tx`. The session and its tokens are always new.

    It ends at `until` at the latest, if whoever vouched for the customer said so. `sso_organization_id` is the
    organization whose connection they came by.
    """
    subject = Subject(project_id=call.project_id, id=person.id)
    session = await begin_session(
        tx, call, subject, SESSIONS, methods, until=until, sso_organization_id=sso_organization_id
    )
    await store.record_sign_in(tx, project_id=call.project_id, id=person.id, now=call.now)
    return await _signed_in(call, tx, session, person)


async def resume_session(call: Call, session_id: UUID, person: CustomerRow) -> CustomerSignInResult:
    """The first tokens of a session that began on a hosted page.

    Raises CustomerRefreshTokenInvalid if the session is over or its tokens were issued already.
    """
    request = RefreshRequest(call.project_id, session_id, 1)
    renewed = await continue_session(call, request, renew_customer_sessions)
    if renewed is None:
        raise CustomerRefreshTokenInvalid
    await _require_still_permitted(call, renewed)
    return await _signed_in(call, call.db, renewed, person)


async def end_session(tx: Transaction, call: Call, customer_id: UUID, session_id: UUID) -> None:
    """End one session of a customer. Raises SessionMissing if it is none of theirs, or over."""
    if not await session_store.revoke_session(
        tx, project_id=call.project_id, subject_id=customer_id, id=session_id, now=call.now
    ):
        raise SessionMissing
    await events.record(tx, call, "customer.session_revoked", customer_id, sessionId=str(session_id))


async def end_sessions(tx: Transaction, call: Call, customer_id: UUID, *, but: UUID | None = None) -> int:
    """End all sessions of a customer, and what could become one; `but` stays. Returns how many ended."""
    ended = await session_store.revoke_all(
        tx, project_id=call.project_id, subject_id=customer_id, but=but, now=call.now
    )
    await challenges.revoke(tx, call.project_id, customer_id)
    for session_id in ended:
        await events.record(tx, call, "customer.session_revoked", customer_id, sessionId=str(session_id))
    return len(ended)


async def read_customer_token(world: "World", token: str, project_id: UUID | None, origin: Origin) -> Caller | None:
    """Who a customer's access token stands for; None if `token` is none. Session and ban are read each time."""
    if not token.startswith("ey") or token.count(".") != 2:
        return None
    claims = await _verified(world, token)
    if claims is None:
        raise CredentialInvalid
    of_project, session_id, key_id = claims
    if project_id is not None and project_id != of_project:
        raise ProjectMissing
    bearer: TokenBearer | None = await world.batcher(token_bearers_of, side_by_side=2)((of_project, session_id, key_id))
    if bearer is None:
        raise CredentialInvalid
    return Caller(
        kind="customer",
        actor_type="CUSTOMER",
        actor_id=bearer.id,
        project_id=of_project,
        credential_id=session_id,
        customer=bearer,
    )


async def token_bearers_of(world: "World", asked: list[tuple[UUID, UUID, UUID]]) -> list[TokenBearer | None]:
    """Whose tokens these are (project, session, key), read together for the requests that come together.

    Nothing is remembered: what was revoked before a request came is gone from what that request reads.
    """
    projects_, sessions, keys = (list(each) for each in zip(*asked, strict=True))
    rows = await token_store.token_bearers(world.db, project_id=projects_, id=sessions, key_id=keys, now=world.clock())
    found = {(row.project_id, row.session_id, row.key_id): row for row in rows}
    return [found.get(each) for each in asked]


async def renew_customer_sessions(world: "World", requests: list[RefreshRequest]) -> list[RefreshedSession | None]:
    """Renew the sessions of customers whose requests come together."""
    return await renew_sessions(world, requests, SESSIONS)


def bearer_of(call: Call) -> tuple[UUID, UUID]:
    """The customer and the session of a customer's call."""
    assert call.caller.actor_id is not None
    assert call.caller.credential_id is not None
    return call.caller.actor_id, call.caller.credential_id


def customer_of(call: Call) -> CustomerRow:
    """The customer of a customer's call, as the row was when the call was admitted."""
    assert isinstance(call.caller.customer, CustomerRow)
    return call.caller.customer


async def locked_customer(tx: Transaction, call: Call) -> CustomerRow:
    """The customer of a customer's call, locked; the session and a ban are looked at once more under the lock."""
    customer_id, session_id = bearer_of(call)
    person = await store.lock_customer(tx, project_id=call.project_id, id=customer_id)
    session = await session_store.lock_session(tx, project_id=call.project_id, id=session_id)
    if person is None or session is None or not session.is_live(call.now) or person.is_banned(call.now):
        raise CredentialInvalid
    return person


async def require_fresh(tx: Transaction, call: Call) -> None:
    """Raises NotFresh unless the caller's session proved itself within the last hour."""
    session = await session_store.lock_session(tx, project_id=call.project_id, id=bearer_of(call)[1])
    if session is None or call.now - session.authenticated_at > FRESH:
        raise NotFresh


def me_of(person: CustomerRow) -> CurrentCustomer:
    """A customer as they see themselves."""
    return CurrentCustomer(
        id=person.id,
        email=person.email,
        email_verified_at=person.email_verified_at,
        name=person.name,
        phone=person.phone,
        roles=person.roles,
        metadata=person.metadata,
        identities=person.providers,
        mfa_enabled_at=person.mfa_enabled_at,
        created_at=person.created_at,
        updated_at=person.updated_at,
    )


def session_view(row: SessionRow) -> CustomerSession:
    """A session as developers see it."""
    return CustomerSession(
        id=row.id,
        user_agent=row.user_agent,
        ip_address=row.ip_address,
        methods=row.methods,
        created_at=row.created_at,
        last_used_at=row.last_used_at,
        expires_at=row.ends_at,
    )


async def _require_still_permitted(call: Call, session: RefreshedSession) -> CustomerClaims:
    """What is said of the customer of a renewed session.

    Ends a session that began in a way that is not enough any more, and raises RefreshTokenInvalid then.
    """
    claims = msgspec.convert(session.subject, CustomerClaims)
    required: SignInRequirement = await call.world.batcher(requirements_all, side_by_side=2)(
        (call.project_id, session.subject_id)
    )
    if not permits_sso(required, session.sso_organization_id, everybody=claims.requires_sso):
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
    raise CustomerRefreshTokenInvalid("More is required of a sign-in now than when this session began; sign in again.")


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
    subject=SQL("""(
        select jsonb_build_object('roles', c.roles, 'email', c.email,
            'emailVerified', c.email_verified_at is not null,
            'requiresSso', coalesce((p.settings #>> '{signIn,requireSso}')::boolean, false),
            'requiresMfa', coalesce((p.settings #>> '{signIn,requireMfa}')::boolean, false))
        from customers c join projects p on p.id = c.project_id
        where c.project_id = s.project_id and c.id = s.subject_id
          and (c.banned_at is null or c.ban_expires_at <= %(now)s))"""),
    record_reuse=_record_reuse,
)


async def _signed_in(call: Call, db: Queries, session: SessionRow, person: CustomerRow) -> CustomerSignInResult:
    claims = CustomerClaims(roles=person.roles, email=person.email, email_verified=person.email_verified_at is not None)
    tokens = await _tokens(call, db, session, claims)
    return CustomerSignInResult(
        session_id=tokens.session_id,
        access_token=tokens.access_token,
        access_token_expires_at=tokens.access_token_expires_at,
        refresh_token=tokens.refresh_token,
        refresh_token_expires_at=tokens.refresh_token_expires_at,
        customer=me_of(person),
    )


async def _tokens(call: Call, db: Queries, session: SessionRow, claims: CustomerClaims) -> CustomerTokens:
    key_id, private = await signing_key(db, call.world, call.project_id, call.now)
    expires_at = min(call.now + ACCESS_TOKEN_LIFE, session.expires_at)
    payload = {
        "iss": issuer_of(call.world, call.project_id),
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
    }
    return CustomerTokens(
        session_id=session.id,
        access_token=jwt.encode(payload, private, algorithm="ES256", headers={"kid": str(key_id), "typ": JWT_TYP}),
        access_token_expires_at=expires_at,
        refresh_token=refresh_token_of(call.world.secrets, session, SESSIONS),
        refresh_token_expires_at=session.ends_at,
    )


def issuer_of(world: "World", project_id: UUID) -> str:
    """The `iss` of a project's tokens; its JWKS is at `/.well-known/jwks.json` below."""
    return f"{world.settings.public_url}/projects/{project_id}"


# Signing keys. What a process learned of them it keeps: a key never changes, and whether it is retired is
# part of the query that admits a token.

_private: OrderedDict[UUID, tuple[UUID, ec.EllipticCurvePrivateKey, Moment]] = OrderedDict()
# A token that was checked once says the same for as long as it lives; its session is looked up every time.
_tokens_seen: OrderedDict[str, tuple[str, UUID, UUID, UUID, int]] = OrderedDict()
_public: OrderedDict[UUID, tuple[UUID, ec.EllipticCurvePublicKey]] = OrderedDict()


async def signing_key(
    db: Queries, world: "World", project_id: UUID, now: Moment
) -> tuple[UUID, ec.EllipticCurvePrivateKey]:
    """The key that signs a project's tokens now; the first one is made when it is first needed."""
    known = _private.get(project_id)
    if known is not None and abs(now - known[2]) < KEY_LOOKED_UP_EVERY:
        return known[0], known[1]
    keys = await token_store.keys(db, project_id=project_id, now=now)
    active = [key for key in keys if key.active_at <= now]
    key = active[0] if active else await _new_key(db, world, project_id, now, now)
    opened = load_der_private_key(world.secrets.open(key.private_key, f"signing-key:{project_id}"), None)
    assert isinstance(opened, ec.EllipticCurvePrivateKey)
    if active:  # A new key may yet be rolled back with the transaction.
        _private[project_id] = key.id, opened, now
        if len(_private) > KEYS_REMEMBERED:
            _private.popitem(last=False)
    return key.id, opened


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


async def _verified(world: "World", token: str) -> tuple[UUID, UUID, UUID] | None:
    """Project, session and key of a token whose signature, issuer, audience and times are right."""
    known = _tokens_seen.get(token)
    if known is None:
        known = await _checked(world, token)
        if known is None:
            return None
        _tokens_seen[token] = known
        if len(_tokens_seen) > TOKENS_REMEMBERED:
            _tokens_seen.popitem(last=False)
    issuer, project_id, session_id, key_id, expires = known
    if expires <= world.clock().timestamp() or issuer != issuer_of(world, project_id):
        return None
    return project_id, session_id, key_id


async def _checked(world: "World", token: str) -> tuple[str, UUID, UUID, UUID, int] | None:
    """Issuer, project, session, key and end of a token that one of our keys signed."""
    try:
        header = jwt.get_unverified_header(token)
        if header.get("typ") != JWT_TYP:
            return None
        key_id = as_id(header.get("kid"))
        said = jwt.decode(token, options={"verify_signature": False})
        project_id = as_id(said.get("aud"))
        public = await _public_key(world, project_id, key_id)
        if public is None:
            return None
        claims = jwt.decode(
            token,
            public,
            algorithms=["ES256"],
            audience=str(project_id),
            issuer=issuer_of(world, project_id),
            # Times are checked below, by the world's clock.
            options={"require": ["exp", "iat", "sub", "sid"], "verify_exp": False, "verify_iat": False},
        )
    except (jwt.PyJWTError, ValueError):
        return None
    if not isinstance(claims["exp"], int):
        return None
    return claims["iss"], project_id, as_id(claims["sid"]), key_id, claims["exp"]


async def _public_key(world: "World", project_id: UUID, key_id: UUID) -> ec.EllipticCurvePublicKey | None:
    known = _public.get(key_id)
    if known is not None:
        return known[1] if known[0] == project_id else None
    row = await token_store.key(world.db, project_id=project_id, id=key_id)
    if row is None:
        return None
    public = load_der_public_key(row.public_key)
    assert isinstance(public, ec.EllipticCurvePublicKey)
    _public[key_id] = project_id, public
    if len(_public) > KEYS_REMEMBERED:
        _public.popitem(last=False)
    return public


def _public_jwk(key: SigningKey) -> dict[str, Any]:
    public = load_der_public_key(key.public_key)
    assert isinstance(public, ec.EllipticCurvePublicKey)
    found: dict[str, Any] = ECAlgorithm.to_jwk(public, as_dict=True)
    return {**found, "kid": str(key.id), "alg": "ES256", "use": "sig"}
