"""Sessions of developers and customers, and the refresh tokens that keep them alive.

A session has one valid refresh token at a time, which is exchanged for the next one. The token consists of the
session's id, the token's number and a signature: a forged token is rejected without a query, and refresh tokens cannot
be derived from the database. For REFRESH_GRACE, the previous token returns the same new tokens, so that a lost response
or two tabs that refresh at once do not end the session. Any other old token counts as stolen if it is used, and ends
the session (RFC 9700 §4.14.2).
"""

import base64
import binascii
from collections.abc import Awaitable, Callable
from datetime import timedelta
from operator import attrgetter
from typing import TYPE_CHECKING, Any
from uuid import UUID

import msgspec
from msgspec import UNSET, UnsetType
from psycopg.sql import SQL, Composable

from postern.kernel.database.statements import Jsonb, Transaction
from postern.kernel.http.call import Call, Caller
from postern.kernel.http.problems import Missing
from postern.kernel.limits import RateLimit
from postern.kernel.values import Moment, Record, build_view, new_id, to_plain
from postern.security import session_store
from postern.security.attempts import Attempt
from postern.security.secrets import Secrets, derive_key
from postern.security.session_store import BegunSession, RefreshedSession, SessionImpersonation, SessionRow

if TYPE_CHECKING:
    from postern.world import World

REFRESH_GRACE = timedelta(seconds=30)
"""How long the previous refresh token can still be exchanged."""
REFRESH_RATE = RateLimit("refresh", 60, timedelta(minutes=1))
"""Maximum refreshes of one session, far above what a client needs."""


class SessionMissing(Missing):
    """There is no such session."""


class SessionPolicy(msgspec.Struct, frozen=True, kw_only=True):
    """The rules of sessions, which differ between developers and customers."""

    refresh_prefix: str
    refresh_purpose: str
    """Purpose of the key that signs refresh tokens; see `Secrets.key`."""
    access_prefix: str | None = None
    """Prefix of access tokens that are looked up by their hash; None if access tokens are signed, and not stored."""
    access_purpose: str = ""
    """Purpose of the key that hashes access tokens; see `Secrets.key`."""
    access_life: timedelta
    life: timedelta
    """How long after the sign-in a session ends at the latest."""
    idle: timedelta
    """How long after the last refresh a session ends."""
    limit: int
    """Maximum number of active sessions of a subject; a further sign-in ends the oldest."""
    subject: Composable
    """SQL expression for the data of the subject of session `s` that new tokens contain; null if the subject may not
    sign in. `active.organization_id` is the active organization that the session has from now on, or null; the
    parameter `now` is the current time."""
    first_organization: Composable = SQL("null::uuid")
    """SQL expression for the active organization of a new session `s`, which has the columns `project_id`, `id`,
    `subject_id` and `sso_organization_id`; null for none."""
    may_activate: Composable = SQL("false")
    """SQL condition: the subject of session `s` may make the organization `active.organization_id` active."""
    record_reuse: Callable[[Transaction, Call, SessionRow], Awaitable[None]]
    """Called after a session was ended because an old refresh token was used, to record this."""


class RefreshRefused(Exception):
    """The refresh token is forged, expired or an old one. If it is old, `reused` is true and its session was ended."""

    def __init__(self, *, reused: bool = False) -> None:
        super().__init__(reused)
        self.reused = reused


class OrganizationRefused(Exception):
    """The subject may not make the requested organization active. The session is unchanged, and the refresh token can
    still be exchanged."""


class RefreshRequest(msgspec.Struct, frozen=True):
    """The contents of a refresh token with a valid signature: a session, and the token's number (`generation`)."""

    project_id: UUID
    session_id: UUID
    generation: int
    organization_id: UUID | None | UnsetType = UNSET
    """The organization to make active, None for no organization; UNSET keeps the active organization."""


RefreshResult = RefreshedSession | None | BaseException
"""The result of one request: a refreshed session, None or OrganizationRefused; see `refresh_batch`."""
RefreshBatch = Callable[["World", list[RefreshRequest]], Awaitable[list[RefreshResult]]]
"""Calls `refresh_batch` with the policy of customers or of developers."""


class SessionFields(Record):
    """The fields of a session that the API returns."""

    id: UUID
    user_agent: str
    ip_address: str
    methods: list[str]
    """The authentication methods of the sign-in, as in the claim `amr` (RFC 8176)."""
    created_at: Moment
    last_used_at: Moment
    expires_at: Moment
    """When the session ends if its tokens are not refreshed before."""
    impersonation_reason: str | None
    """Why a member of the app's team acts as the customer in this session; null if it is a session of the customer."""


class OwnSession(SessionFields):
    """One of the caller's own sessions; `current` marks the session of the request."""

    current: bool


def is_trusted_test(caller: Caller) -> bool:
    """Whether the caller has a secret TEST key, or a session that began with one.

    Sessions that such a caller begins are test sessions, and security mail about them is captured instead of sent to
    the customer. A publishable TEST key is not enough: it is in browsers, where an attacker can read it.
    """
    return caller.environment == "TEST" and caller.kind != "publishable_key"


async def begin_session(
    tx: Transaction,
    call: Call,
    project_id: UUID,
    subject_id: UUID,
    policy: SessionPolicy,
    methods: list[str],
    *,
    until: Moment | None = None,
    idle: timedelta | None = None,
    sso_organization_id: UUID | None = None,
    succeeded: Attempt | None = None,
    impersonation: SessionImpersonation | None = None,
) -> BegunSession:
    """Start a session of a subject whose row `tx` has locked. Beyond `policy.limit`, the oldest session ends.

    For developers, `project_id` is NO_ID. The session ends at `until` at the latest, if that is given: the end of the
    identity provider's session. `idle` is shorter than `policy.idle`, if it is given. `sso_organization_id` is the
    organization whose single sign-on was used. The failures before the attempt `succeeded` are deleted, from its
    network, and any lock. `impersonation` is who acts as the subject.
    """
    session_id, latest_end = new_id(), call.now + policy.life
    return await session_store.insert_session(
        tx,
        project_id=project_id,
        id=session_id,
        subject_id=subject_id,
        methods=methods,
        user_agent=call.origin.user_agent,
        ip_address=call.origin.ip,
        now=call.now,
        expires_at=latest_end if until is None else min(latest_end, until),
        idle_expires_at=call.now + (policy.idle if idle is None else min(policy.idle, idle)),
        sso_organization_id=sso_organization_id,
        access_hash=_access_hash(call.world.secrets, policy, session_id, 1),
        access_expires_at=_access_expires_at(policy, call.now),
        test=is_trusted_test(call.caller),
        impersonation=None if impersonation is None else Jsonb(to_plain(impersonation)),
        limit=policy.limit,
        identifier=None if succeeded is None else succeeded.identifier,
        network=None if succeeded is None else succeeded.network,
        first_organization=policy.first_organization,
        subject=policy.subject,
    )


async def refresh_session(
    call: Call,
    project_id: UUID,
    token: str,
    policy: SessionPolicy,
    refresh: RefreshBatch,
    *,
    organization_id: UUID | None | UnsetType = UNSET,
) -> RefreshedSession:
    """Exchange a refresh token for the next one. Raises RefreshRefused, OrganizationRefused and TooManyRequests.

    `refresh` must be the same function for all requests with this policy, because requests are batched by function. The
    use of an old token ends its session and calls `policy.record_reuse`. For `organization_id` see RefreshRequest.
    """
    request = _read_refresh_token(call.world.secrets, project_id, token, policy)
    if request is None:
        raise RefreshRefused
    request = msgspec.structs.replace(request, organization_id=organization_id)
    call.world.limiter.take(REFRESH_RATE, str(request.session_id))
    return await refresh_in_batch(call, request, refresh) or await _refresh_again(call, request, policy)


async def refresh_in_batch(call: Call, request: RefreshRequest, refresh: RefreshBatch) -> RefreshedSession | None:
    """Refresh a session together with those of concurrent requests. Returns None if the token is not the current one or
    the session has ended.

    Raises OrganizationRefused.
    """
    return await call.world.batcher(refresh, max_concurrent=2, by=attrgetter("project_id"))(request)


async def refresh_batch(world: "World", requests: list[RefreshRequest], policy: SessionPolicy) -> list[RefreshResult]:
    """Refresh the sessions of a batch of requests. Returns a list in the order of the requests.

    The list has None for a session that has ended, a token that is not the current one, or a subject that may not sign
    in, and OrganizationRefused for an organization that the subject may not make active. Equal requests get the same
    result. Of requests with the same token for different organizations, the first that is not refused gets a session
    and the others None, as if they had arrived later.
    """
    now = world.clock()
    results: dict[RefreshRequest, RefreshResult] = {}
    waiting = list(dict.fromkeys(requests))
    while waiting:  # Once, unless there are requests with the same token for different organizations.
        batch = {(request.project_id, request.session_id): request for request in reversed(waiting)}
        results |= await _refresh_distinct(world, list(batch.values()), policy, now)
        waiting = [request for request in waiting if request not in results]
    return [results[request] for request in requests]


async def _refresh_distinct(
    world: "World", requests: list[RefreshRequest], policy: SessionPolicy, now: Moment
) -> dict[RefreshRequest, RefreshResult]:
    """Refresh sessions; `requests` has at most one request per session."""
    rows = await session_store.refresh_all(
        world.db,
        project_id=[request.project_id for request in requests],
        id=[request.session_id for request in requests],
        generation=[request.generation for request in requests],
        access_hash=[
            _access_hash(world.secrets, policy, request.session_id, request.generation + 1) for request in requests
        ],
        switches=[request.organization_id is not UNSET for request in requests],
        organization_id=[None if request.organization_id is UNSET else request.organization_id for request in requests],
        access_expires_at=_access_expires_at(policy, now),
        now=now,
        idle_expires_at=now + policy.idle,
        subject=policy.subject,
        may_activate=policy.may_activate,
    )
    rows_by_key = {(row.project_id, row.id): row for row in rows}
    results: dict[RefreshRequest, RefreshResult] = {}
    for request in requests:
        row = rows_by_key.get((request.project_id, request.session_id))
        results[request] = OrganizationRefused() if row is not None and row.organization_refused else row
    return results


async def activate_first_organization(
    tx: Transaction, session: SessionRow, policy: SessionPolicy, now: Moment
) -> RefreshedSession:
    """Choose the active organization of a session that has begun in `tx` again, and return the session with the data of
    its subject. The caller must have checked that the subject may sign in."""
    return await session_store.set_first_organization(
        tx,
        project_id=session.project_id,
        id=session.id,
        now=now,
        first_organization=policy.first_organization,
        subject=policy.subject,
    )


def refresh_token_of(secrets: Secrets, session: SessionRow, policy: SessionPolicy) -> str:
    """The current refresh token of a session."""
    body = session.id.bytes + session.generation.to_bytes(4, "big")
    mac = secrets.sign(policy.refresh_purpose, session.project_id.bytes + body)
    return f"{policy.refresh_prefix}{base64.urlsafe_b64encode(body).rstrip(b'=').decode()}.{mac}"


def access_token_of(secrets: Secrets, session: SessionRow, policy: SessionPolicy) -> str:
    """The current access token of a session. Only for policies with an `access_prefix`."""
    assert policy.access_prefix
    return _access_token(secrets, policy.access_prefix, session.id, session.generation)


def hash_access_token(secrets: Secrets, token: str, policy: SessionPolicy) -> bytes:
    """The keyed hash of an access token, by which the database finds its session."""
    return secrets.digest(policy.access_purpose, token)


def own_session(row: SessionRow, current: UUID | None) -> OwnSession:
    """The public view of a session for its owner; `current` is the id of the session that sent the request."""
    return build_view(
        OwnSession,
        row,
        expires_at=row.idle_expires_at,
        current=row.id == current,
        impersonation_reason=None if row.impersonation is None else row.impersonation.reason,
    )


async def _refresh_again(call: Call, request: RefreshRequest, policy: SessionPolicy) -> RefreshedSession:
    """Return the current session for its previous refresh token, within REFRESH_GRACE. If the request is for an
    organization, make it active. Raises OrganizationRefused.

    For any other token, raise RefreshRefused; if the token is an old one, also end its session.
    """
    previous: dict[str, Any] = {
        "project_id": request.project_id,
        "id": request.session_id,
        "generation": request.generation,
        "now": call.now,
        "since": call.now - REFRESH_GRACE,
        "subject": policy.subject,
    }
    switched = None
    if request.organization_id is not UNSET:
        switched = await session_store.switch_recently_refreshed(
            call.db, **previous, organization_id=request.organization_id, may_activate=policy.may_activate
        )
    session = switched or await session_store.recently_refreshed(call.db, **previous)
    if session is not None and session.subject is not None:
        if switched is None and request.organization_id is not UNSET:
            raise OrganizationRefused
        return session
    async with call.db.transaction() as tx:
        row = await session_store.lock_session(tx, project_id=request.project_id, id=request.session_id)
        reused = row is not None and row.revoked_at is None and row.generation > request.generation
        if row is not None and reused:
            await session_store.revoke_session(
                tx, project_id=row.project_id, subject_id=row.subject_id, id=row.id, now=call.now
            )
            await policy.record_reuse(tx, call, row)
    raise RefreshRefused(reused=reused)


def _read_refresh_token(secrets: Secrets, project_id: UUID, token: str, policy: SessionPolicy) -> RefreshRequest | None:
    """Read a refresh token; None if it is malformed or its signature is not valid for this project."""
    body, _, mac = token.removeprefix(policy.refresh_prefix).partition(".")
    try:
        raw = base64.urlsafe_b64decode(body + "=" * (-len(body) % 4))
    except (binascii.Error, ValueError):
        return None
    if len(raw) != 20 or not secrets.verify(policy.refresh_purpose, project_id.bytes + raw, mac):
        return None
    return RefreshRequest(project_id, UUID(bytes=raw[:16]), int.from_bytes(raw[16:], "big"))


def _access_token(secrets: Secrets, prefix: str, session_id: UUID, generation: int) -> str:
    # Derived from the session's id and generation, so that it can be returned again within REFRESH_GRACE without
    # storing it.
    return derive_key(prefix, secrets.digest("session-access-token", f"{session_id}|{generation}"))


def _access_hash(secrets: Secrets, policy: SessionPolicy, session_id: UUID, generation: int) -> bytes | None:
    if policy.access_prefix is None:
        return None
    return hash_access_token(secrets, _access_token(secrets, policy.access_prefix, session_id, generation), policy)


def _access_expires_at(policy: SessionPolicy, now: Moment) -> Moment | None:
    return None if policy.access_prefix is None else now + policy.access_life
