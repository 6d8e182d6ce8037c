"""Tokens of customers: the session that a sign-in begins, and its access tokens.

An access token is an ES256 JWT that is valid for five minutes and that anybody can verify with the project's JWKS. This
server also reads the session at every request; see `token_authentication.py`. Sessions and refresh tokens are those of
`security/sessions.py`. docs/decisions/0060-organization-context-in-the-token.md describes the decisions on claims; the
table of claims for users is in docs/guide/customers.md.
"""

import json
from collections.abc import Mapping, Sequence
from datetime import timedelta
from operator import itemgetter
from typing import TYPE_CHECKING, Any, TypeVar
from uuid import UUID

import jwt
import msgspec
from msgspec import UNSET, UnsetType

from postern.identity.customers import store
from postern.identity.customers.authentication_levels import acr_of
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
    RequiredTerms,
    Token,
)
from postern.identity.customers.requirements import (
    SignInRequirement,
    is_multi_factor,
    meets_rules,
    meets_sso_requirement,
    read_requirements,
    session_limits,
)
from postern.identity.customers.signing_keys import signing_key
from postern.identity.customers.token_store import FIRST_ORGANIZATION, MAY_ACTIVATE, SUBJECT
from postern.identity.hooks.calling import token_claims
from postern.identity.hooks.model import HookFailed, HookRefused
from postern.kernel.database.statements import Queries, Transaction
from postern.kernel.http.call import Call
from postern.kernel.http.openapi_examples import identifier
from postern.kernel.http.operation import post
from postern.kernel.http.problems import ProblemError
from postern.kernel.values import Body, Moment, Record, as_id, build_view
from postern.platform.events import operations as events
from postern.platform.projects.model import SignInHookKind
from postern.security import session_store
from postern.security.attempts import Attempt
from postern.security.session_store import BegunSession, RefreshedSession, SessionRow
from postern.security.sessions import (
    OrganizationRefused,
    RefreshRefused,
    RefreshRequest,
    RefreshResult,
    SessionPolicy,
    activate_first_organization,
    begin_session,
    refresh_batch,
    refresh_in_batch,
    refresh_session,
    refresh_token_of,
)

if TYPE_CHECKING:
    from postern.world import World

JWT_TYP = "at+jwt"
"""The `typ` of access tokens (RFC 9068 §2.1)."""
PERMISSIONS_LIMIT = 1_500
"""Maximum size of the permissions in the project and in the active organization together as JSON, in bytes."""
METADATA_CLAIMS_LIMIT = 1_024
"""Maximum size of `metadata` and `org.metadata` together as JSON, in bytes."""


class CurrentCustomer(Record):
    """A customer's own account, as the customer sees it."""

    id: UUID
    email: str | None
    email_verified_at: Moment | None
    name: str | None
    language: str | None
    """The language that the customer reads, as a language tag (BCP 47); null if it is not known."""
    phone: str | None
    roles: list[str]
    metadata: dict[str, Any]
    identities: list[str]
    organization_id: UUID | None
    """The active organization of the access token; null without one."""
    mfa_enabled_at: Moment | None
    created_at: Moment
    updated_at: Moment
    impersonated_by: str | None
    """Who acts as the customer in this session: a member of the app's team; null if it is the customer. Apps should
    show it in a banner."""


class CustomerSignInResult(Record):
    """The result of a sign-in: tokens, or the step that is still required.

    With `mfaRequired` the tokens are null: send `mfaToken` and a code to `mfa/verify`. With `mfaEnrollmentRequired`
    too, the customer must first set up a second factor: send `mfaToken` to `mfa/enroll`, then a first code to
    `mfa/enroll/confirm`. With `termsRequired` the tokens are null, too: show the customer `terms`, then send
    `termsToken` and the version to `terms/accept`.
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
    remembered_device_token: str | None = None
    """With `rememberDevice` at `mfa/verify`: store it on the device and send it with later sign-ins, which then need no
    second factor. Null if devices are not remembered here."""
    remembered_device_expires_at: Moment | None = None
    """When the second factor is asked for on this device again at the latest."""
    terms_required: bool = False
    terms_token: str | None = None
    terms: RequiredTerms | None = None
    """The terms that the customer must accept before the sign-in is complete; null if there are none."""


class CustomerTokens(Record):
    """New tokens of a session. The refresh token that was sent is no longer valid."""

    session_id: UUID
    access_token: str
    access_token_expires_at: Moment
    refresh_token: str
    refresh_token_expires_at: Moment
    organization_id: UUID | None
    """The active organization, which the access token describes; null without one."""


class SteppedUpSession(Record):
    """A session after it has authenticated again. Its refresh token stays valid."""

    session_id: UUID
    access_token: str
    """A new access token, with the new `auth_time`, `acr` and `amr`."""
    access_token_expires_at: Moment
    acr: str
    """How strong the authentication of the session is: `urn:postern:single-factor`, `urn:postern:multi-factor` or
    `phr`."""
    methods: list[str]
    """All authentication methods of the session, as in the claim `amr` (RFC 8176)."""
    authenticated_at: Moment
    """Now: the claim `auth_time`."""


class CustomerTokenRefresh(Body):
    """The refresh token that the last sign-in or refresh of this session returned, and the organization to switch
    to."""

    refresh_token: Token
    organization_id: OrganizationId | None | UnsetType = UNSET
    """The organization to make active; null for none. If it is omitted, the active organization stays."""


class OrganizationClaims(Record):
    """What access tokens contain about the active organization."""

    id: UUID
    slug: str
    name: str
    roles: list[str]
    permissions: list[str]
    entitlements_version: int
    """A number that grows whenever the organization's entitlements change; with it, apps can cache entitlements."""
    metadata: dict[str, Any] | None
    """The organization's values of the metadata keys that the project has declared for tokens; None if it has declared
    none."""


class CustomerClaims(Record):
    """What access tokens contain about a customer, and what the project now requires of a sign-in."""

    roles: list[str]
    email: str | None
    email_verified: bool
    requires_sso: bool
    requires_mfa: bool
    hooks: list[SignInHookKind]
    """The kinds of the project's active sign-in hooks."""
    permissions: list[str]
    """Permissions in the project. This list and `organization.permissions` are read only up to
    `token_store.MAX_PERMISSIONS_READ` entries, because a longer list would not fit into a token anyway
    (PERMISSIONS_LIMIT)."""
    metadata: dict[str, Any] | None
    """The customer's values of the metadata keys that the project has declared for tokens; None if it has declared
    none."""
    organization: OrganizationClaims | None
    """The active organization; None if there is none, if it is suspended, or if the customer is no longer a member."""


Tokens = TypeVar("Tokens", CustomerSignInResult, CustomerTokens, SteppedUpSession)


@post(
    "/projects/{project_id}/auth/token/refresh",
    accepts=SIGN_IN_CALLERS,
    problems=[CustomerRefreshTokenInvalid, NotAMember, HookRefused, HookFailed],
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
    also ends if its sign-in does not meet the current requirements of the project and of the customer's organizations
    (`requireSso`, `requireMfa`, `allowedMethods`), or has lasted for longer than an organization allows
    (`sessionLifetimeMinutes`).

    `organizationId` switches the active organization, which the access token describes; null switches to none. If the
    customer is not a member of the organization, or the organization is suspended, the response is 403 and nothing
    changes: the refresh token still works.
    """
    organization_id = data.organization_id
    try:
        renewed = await refresh_session(
            call,
            call.project_id,
            data.refresh_token,
            SESSIONS,
            refresh_customer_sessions,
            organization_id=as_id(organization_id) if isinstance(organization_id, str) else organization_id,
        )
    except RefreshRefused:
        raise CustomerRefreshTokenInvalid from None
    except OrganizationRefused:
        errors = [ProblemError(path="/organizationId", code=NotAMember.code(), message=NotAMember.message())]
        raise NotAMember(errors=errors) from None
    session, claims = await _require_still_permitted(call, renewed)
    tokens = await _issue_tokens(call, call.db, session, claims)
    try:
        return await add_hook_claims(call, claims.hooks, tokens, trigger="REFRESH")
    except HookFailed:
        # The client has no new refresh token, so the one that it has must stay valid.
        await session_store.keep_previous_token(
            call.db, project_id=call.project_id, id=session.id, generation=session.generation
        )
        raise


async def start_session(
    tx: Transaction,
    call: Call,
    customer: CustomerRow,
    methods: list[str],
    *,
    until: Moment | None = None,
    idle: timedelta | None = None,
    sso_organization_id: UUID | None = None,
    succeeded: Attempt | None = None,
) -> BegunSession:
    """Begin a session of a customer whose row is locked in `tx`. `issue_first_tokens` issues its tokens.

    `until` is the latest end of the session, if the identity provider or an organization has set one, and `idle` the
    time without use after which it ends, if an organization has set one. `sso_organization_id` is the
    organization whose single sign-on connection was used. The failures before the attempt `succeeded` are deleted. Sets
    `lastSignInAt`, but checks no requirements and records no event; see `sign_in.complete_sign_in`.
    """
    session = await begin_session(
        tx,
        call,
        call.project_id,
        customer.id,
        SESSIONS,
        methods,
        until=until,
        idle=idle,
        sso_organization_id=sso_organization_id,
        succeeded=succeeded,
    )
    # The statement that locks the customer of a sign-in with a password may have stored the time.
    if customer.last_sign_in_at != call.now:
        await store.record_sign_in(tx, project_id=call.project_id, id=customer.id, now=call.now)
    return session


async def issue_first_tokens(
    tx: Transaction, call: Call, session: RefreshedSession, customer: CustomerRow, *, choose_again: bool
) -> CustomerSignInResult:
    """Issue the first tokens of a session that has begun in `tx`.

    Call this after `customer.signed_in` was recorded: reactions to that event add the customer to organizations. If
    there were reactions, `choose_again` chooses the active organization again.
    """
    if choose_again:
        session = await activate_first_organization(tx, session, SESSIONS, call.now)
    return await _sign_in_result(call, tx, session, _claims_of(session), customer)


async def resume_session(call: Call, session_id: UUID, customer: CustomerRow) -> CustomerSignInResult:
    """The first tokens of a session that began on a hosted page.

    Raises CustomerRefreshTokenInvalid if the session has ended, its tokens were issued already, or it no longer meets
    the sign-in requirements. Raises HookRefused and HookFailed, too.
    """
    request = RefreshRequest(call.project_id, session_id, generation=1)
    renewed = await refresh_in_batch(call, request, refresh_customer_sessions)
    if renewed is None:
        raise CustomerRefreshTokenInvalid
    session, claims = await _require_still_permitted(call, renewed)
    result = await _sign_in_result(call, call.db, session, claims, customer)
    return await add_hook_claims(call, claims.hooks, result)


async def issue_after_step_up(call: Call, session: RefreshedSession) -> SteppedUpSession:
    """A new access token of a session that has authenticated again. The refresh token is not part of it: whoever has
    only an access token must not get one.

    Raises CustomerRefreshTokenInvalid if the session no longer meets the sign-in requirements, which ends it, and
    HookRefused and HookFailed.
    """
    permitted, claims = await _require_still_permitted(call, session)
    tokens = await _issue_tokens(call, call.db, permitted, claims)
    stepped_up = SteppedUpSession(
        session_id=session.id,
        access_token=tokens.access_token,
        access_token_expires_at=tokens.access_token_expires_at,
        acr=acr_of(session.methods),
        methods=session.methods,
        authenticated_at=session.authenticated_at,
    )
    return await add_hook_claims(call, claims.hooks, stepped_up, trigger="REFRESH")


async def refresh_customer_sessions(world: "World", requests: list[RefreshRequest]) -> list[RefreshResult]:
    """Refresh the sessions of customers for a batch of requests; see `security.sessions.refresh_batch`."""
    return await refresh_batch(world, requests, SESSIONS)


HOOK_PROBLEMS = (HookRefused, HookFailed)
"""The problems of `add_hook_claims`."""


async def add_hook_claims(
    call: Call, hooks: Sequence[SignInHookKind], tokens: Tokens, *, trigger: str = "SIGN_IN"
) -> Tokens:
    """Ask the hook BEFORE_TOKEN, if it is among the active `hooks`, and add its claims to the access token.

    Call this after the transaction that has begun the session. Returns a result without tokens as it is. If the hook
    refuses, the session ends. Raises HookRefused and HookFailed.
    """
    if "BEFORE_TOKEN" not in hooks or tokens.access_token is None or tokens.session_id is None:
        return tokens
    payload: dict[str, Any] = jwt.decode(tokens.access_token, options={"verify_signature": False})
    try:
        claims = await token_claims(call, hooks, trigger, payload)
    except (HookRefused, HookFailed) as problem:
        # A session that refreshes its tokens outlives a failure of the hook.
        if trigger == "SIGN_IN" or isinstance(problem, HookRefused):
            await _end_by_hook(call, as_id(payload["sub"]), tokens.session_id, problem.code().upper())
        raise
    if not claims:
        return tokens
    key_id, private = await signing_key(call.db, call.world, call.project_id, call.now)
    access_token = jwt.encode(
        {**payload, "ext": claims}, private, algorithm="ES256", headers={"kid": str(key_id), "typ": JWT_TYP}
    )
    return msgspec.structs.replace(tokens, access_token=access_token)


async def _end_by_hook(call: Call, customer_id: UUID, session_id: UUID, reason: str) -> None:
    async with call.db.transaction() as tx:
        if await session_store.revoke_session(
            tx, project_id=call.project_id, subject_id=customer_id, id=session_id, now=call.now
        ):
            await events.record(
                tx, call, "customer.session_revoked", customer_id, sessionId=str(session_id), reason=reason
            )


def me_of(
    customer: CustomerRow, organization_id: UUID | None, *, impersonated_by: str | None = None
) -> CurrentCustomer:
    """A customer's own account, as the customer sees it; `organization_id` is the active organization."""
    return build_view(
        CurrentCustomer,
        customer,
        identities=customer.providers,
        organization_id=organization_id,
        impersonated_by=impersonated_by,
    )


async def _require_still_permitted(call: Call, session: RefreshedSession) -> tuple[SessionRow, CustomerClaims]:
    """A session with the limits of the customer's organizations, and the claims for its new tokens.

    If the sign-in does not meet the current requirements, ends the session and raises CustomerRefreshTokenInvalid.
    """
    claims = _claims_of(session)
    if session.impersonation is not None:  # The customer has not signed in.
        return session, claims
    required: SignInRequirement = await call.world.batcher(read_requirements, max_concurrent=2, by=itemgetter(0))(
        (call.project_id, session.subject_id)
    )
    if not meets_sso_requirement(required, session.sso_organization_id, project_requires_sso=claims.requires_sso):
        reason = "SSO_REQUIRED"
    elif (required.mfa or claims.requires_mfa) and not is_multi_factor(session.methods):
        reason = "MFA_REQUIRED"
    elif not meets_rules(required, session.methods, session.sso_organization_id):
        reason = "METHOD_NOT_ALLOWED"
    else:
        shortened = await _shortened(call, session, required)
        if shortened is not None:
            return shortened, claims
        reason = "SESSION_TOO_OLD"
    async with call.db.transaction() as tx:
        if await session_store.revoke_session(
            tx, project_id=call.project_id, subject_id=session.subject_id, id=session.id, now=call.now
        ):
            await _record_end(tx, call, session, reason)
    raise CustomerRefreshTokenInvalid("This session does not meet the current sign-in requirements; sign in again.")


async def _shortened(call: Call, session: SessionRow, required: SignInRequirement) -> SessionRow | None:
    """The session with the limits that apply now; None if it has lasted for longer than is allowed."""
    lifetime, idle = session_limits(required)
    if lifetime is None and idle is None:
        return session
    # Since the sign-in: to authenticate again does not make the session last longer.
    expires_at = None if lifetime is None else Moment.of(session.created_at + lifetime)
    if expires_at is not None and expires_at <= call.now:
        return None
    return await session_store.shorten(
        call.db,
        project_id=call.project_id,
        id=session.id,
        expires_at=expires_at,
        idle_expires_at=None if idle is None else Moment.of(call.now + idle),
    )


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
    subject=SUBJECT,  # SQL of the claims.
    first_organization=FIRST_ORGANIZATION,
    may_activate=MAY_ACTIVATE,  # SQL: whether the customer may make the organization the active one.
    record_reuse=_record_reuse,
)


def _claims_of(session: RefreshedSession) -> CustomerClaims:
    return msgspec.convert(session.subject, CustomerClaims)


async def _sign_in_result(
    call: Call, db: Queries, session: SessionRow, claims: CustomerClaims, customer: CustomerRow
) -> CustomerSignInResult:
    tokens = await _issue_tokens(call, db, session, claims)
    actor = None if session.impersonation is None else session.impersonation.actor_label
    me = me_of(customer, tokens.organization_id, impersonated_by=actor)
    return CustomerSignInResult(**msgspec.structs.asdict(tokens), customer=me)


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
        # Who acts as the customer has not authenticated as the customer.
        **({"acr": acr_of(session.methods)} if session.impersonation is None else {}),
        "roles": claims.roles,
        "email": claims.email,
        "email_verified": claims.email_verified,
        **_context_claims(claims, issuer),
        **_actor_claim(session),
    }
    return CustomerTokens(
        session_id=session.id,
        access_token=jwt.encode(payload, private, algorithm="ES256", headers={"kid": str(key_id), "typ": JWT_TYP}),
        access_token_expires_at=expires_at,
        refresh_token=refresh_token_of(call.world.secrets, session, SESSIONS),
        refresh_token_expires_at=session.idle_expires_at,
        organization_id=None if claims.organization is None else claims.organization.id,
    )


def _actor_claim(session: SessionRow) -> dict[str, Any]:
    """The claim `act` of a session in which somebody acts as the customer (RFC 8693 §4.1)."""
    actor = session.impersonation
    if actor is None:
        return {}
    return {"act": {"sub": str(actor.actor_id), "type": actor.actor_type, "name": actor.actor_label}}


def issuer_of(world: "World", project_id: UUID) -> str:
    """The `iss` of a project's access tokens. The URL of its JWKS is this one followed by `/.well-known/jwks.json`."""
    return f"{world.settings.public_url}/projects/{project_id}"


def _context_claims(claims: CustomerClaims, issuer: str) -> dict[str, Any]:
    """The claims about permissions, organization and metadata, within their limits.

    If the two lists of permissions exceed PERMISSIONS_LIMIT together, the larger one is null, or both if each exceeds
    it; `permissions_url` is where to get them. Metadata that is too large is left out, the largest value first, and
    listed in `metadata_omitted`.
    """
    organization = claims.organization
    permissions, organization_permissions = _limited_permissions(
        claims.permissions, None if organization is None else organization.permissions
    )
    metadata, organization_metadata, omitted = _limited_metadata(
        claims.metadata, None if organization is None else organization.metadata
    )
    context: dict[str, Any] = {"permissions": permissions}
    if metadata is not None:
        context["metadata"] = metadata
    if organization is not None:
        active: dict[str, Any] = {
            "id": str(organization.id),
            "slug": organization.slug,
            "name": organization.name,
            "roles": organization.roles,
            "permissions": organization_permissions,
            "entitlements_version": organization.entitlements_version,
        }
        if organization_metadata is not None:
            active["metadata"] = organization_metadata
        context["org"] = active
    if permissions is None or (organization is not None and organization_permissions is None):
        context["permissions_url"] = f"{issuer}/auth/permissions"
    if omitted:
        context["metadata_omitted"] = omitted
    return context


def _limited_permissions(
    in_project: list[str], in_organization: list[str] | None
) -> tuple[list[str] | None, list[str] | None]:
    """The two lists. If they exceed PERMISSIONS_LIMIT together, the larger one is None, or both if each exceeds it."""
    sizes = [_json_size(in_project), 0 if in_organization is None else _json_size(in_organization)]
    if sum(sizes) <= PERMISSIONS_LIMIT:
        return in_project, in_organization
    if min(sizes) > PERMISSIONS_LIMIT:
        return None, None
    return (None, in_organization) if sizes[0] > sizes[1] else (in_project, None)


def _limited_metadata(
    of_customer: dict[str, Any] | None, of_organization: dict[str, Any] | None
) -> tuple[dict[str, Any] | None, dict[str, Any] | None, list[str]]:
    """The metadata within METADATA_CLAIMS_LIMIT, and the names of the keys that were left out, sorted, within the same
    limit."""
    declared = {"metadata": of_customer, "org.metadata": of_organization}
    kept = {claim: dict(metadata) for claim, metadata in declared.items() if metadata is not None}
    values = [(claim, key, _json_size({key: value})) for claim in kept for key, value in kept[claim].items()]
    omitted: list[str] = []
    for claim, key, _ in sorted(values, key=lambda value: -value[2]):
        if sum(_json_size(metadata) for metadata in kept.values()) <= METADATA_CLAIMS_LIMIT:
            break
        del kept[claim][key]
        omitted.append(f"{claim}.{key}")
    omitted.sort()
    while _json_size(omitted) > METADATA_CLAIMS_LIMIT:
        omitted.pop()
    return kept.get("metadata"), kept.get("org.metadata"), omitted


def _json_size(value: list[str] | Mapping[str, Any]) -> int:
    """The size of a claim in bytes, in the encoding in which tokens contain it."""
    return len(json.dumps(value, separators=(",", ":")))
