"""HTTP operations for sign-up, sign-in and sessions of developers, and authentication by access token."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING
from uuid import UUID

from msgspec.structs import replace as replace_struct
from psycopg.sql import SQL

from postern.kernel.database.statements import Queries, Transaction
from postern.kernel.http.call import Call, Caller, CredentialInvalid, Origin, ProjectMissing
from postern.kernel.http.operation import DEVELOPER_ONLY, post
from postern.kernel.http.problems import Invalid
from postern.kernel.limits import RateLimit, TooManyRequests, network_of
from postern.kernel.values import NO_ID, Moment, new_id
from postern.platform.accounts import store
from postern.platform.accounts.links import (
    DashboardSignInLink,
    DeveloperResetLink,
    InboxSignInLink,
    VerificationLink,
    answer_link,
    attempt_identifier,
    call_of,
    consume_link,
    issue_only_link,
    throttle_link,
)
from postern.platform.accounts.mailer import RESET_LIFE, enqueue_verification
from postern.platform.accounts.model import (
    ACCESS_TOKEN_LIFE,
    REFRESH_TOKEN_LIFE,
    SESSIONS_LIMIT,
    AccountInvitationRow,
    Developer,
    DeveloperEmailTaken,
    DeveloperRefreshTokenInvalid,
    DeveloperRow,
    DeveloperSignIn,
    DeveloperSignInFailed,
    DeveloperSignInResult,
    DeveloperSignUp,
    DeveloperSignUpClosed,
    DeveloperTokenRefresh,
    EmailUnverified,
    LinkInvalid,
    LockedOut,
    MfaRequired,
    PasswordWrong,
)
from postern.platform.audit import operations as audit
from postern.platform.projects import operations as projects
from postern.platform.projects.permissions import ROLE_PERMISSIONS, UNVERIFIED_PERMISSIONS
from postern.protocols.mail.address import AddressInvalid, parse_address
from postern.security import attempts, second_factor, session_store
from postern.security.attempts import Attempt, AttemptPolicy, attempt_failed, attempt_succeeded, throttle
from postern.security.breaches import PasswordBreached
from postern.security.challenges import Payload
from postern.security.passwords import (
    PasswordCommon,
    check_and_rehash,
    hash_password,
    require_acceptable,
)
from postern.security.second_factor import UsedFactor
from postern.security.secrets import looks_like_key
from postern.security.session_store import SessionRow
from postern.security.sessions import (
    RefreshRefused,
    RefreshRequest,
    RefreshResult,
    SessionPolicy,
    access_token_of,
    begin_session,
    hash_access_token,
    refresh_batch,
    refresh_session,
    refresh_token_of,
)
from postern.security.subjects import Subject

if TYPE_CHECKING:
    from postern.world import World

INBOX_LINK_LIFE = timedelta(minutes=10)
"""Validity of a link that signs in to the inbox page."""
SIGN_IN_LINK_LIFE = timedelta(hours=24)
"""Validity of a link that signs in to the dashboard."""

SIGN_UP_RATE = RateLimit("sign-up", 30, timedelta(hours=1))
SIGN_UP_MAIL_RATE = RateLimit("sign-up-mail", 5, timedelta(hours=1))
"""Sign-ups with one address, each of which sends a mail to it; in addition to the limits of `throttle_link`."""

ATTEMPTS = AttemptPolicy(
    # Checking a password takes about 20 ms of CPU time: the rate limits what one network can use.
    rate=RateLimit("sign-in", 60, timedelta(minutes=5)),
    max_failures=10,
    max_failures_all_networks=100,
    window=timedelta(hours=24),
    retention=timedelta(hours=48),
    first_lock=timedelta(minutes=15),
    max_lock=timedelta(hours=1),
    locked=LockedOut,
)
"""Limits on attempts at passwords and codes of developers."""
LINK_ATTEMPTS = replace_struct(ATTEMPTS, max_failures=100, max_failures_all_networks=10_000)
"""Attempts with tokens from links. Tokens cannot be guessed, so the limits are high: users of one network should not
lock each other out with expired links."""

PERSON = {"email": "ada@example.com", "password": "correct horse battery", "name": "Ada"}


@post(
    "/auth/sign-up",
    public=True,
    status=201,
    problems=[
        DeveloperEmailTaken,
        PasswordCommon,
        PasswordBreached,
        DeveloperSignUpClosed,
        LinkInvalid,
        TooManyRequests,
    ],
    example=PERSON,
)
async def sign_up_developer(call: Call, data: DeveloperSignUp) -> DeveloperSignInResult:
    """Create a developer account with its owner and a first project, and sign in.

    A mail asks to verify the address. Until then the session can only read, and send mail, which is captured;
    everything else returns 403 `email_unverified`. Verification ends the session: sign in with the password. An address
    that has an account gets the same response, and a mail about the attempt. A sign-up whose address is not verified is
    deleted after 7 days.

    With `invitationToken` the developer becomes a member of the inviting account instead. Then the address needs no
    verification, because the invitation was sent to it. Common passwords, and passwords that are just the address with
    digits, are refused.
    """
    if not call.world.settings.sign_up and data.invitation_token is None:
        raise DeveloperSignUpClosed
    call.world.limiter.take(SIGN_UP_RATE, call.origin.ip)
    if data.invitation_token is not None:
        return await _join_account(call, data, data.invitation_token)
    return await open_account(call, data)


@post(
    "/auth/sign-in",
    public=True,
    problems=[DeveloperSignInFailed, MfaRequired, LockedOut, TooManyRequests],
    example={"email": "ada@example.com", "password": "correct horse battery"},
)
async def sign_in_developer(call: Call, data: DeveloperSignIn) -> DeveloperSignInResult:
    """Sign in with email address and password.

    The access token is valid for 30 minutes, the refresh token for 30 days. The response and its time are the same for
    unknown addresses and wrong passwords. If a second factor is on, a right password without `code` returns 401
    `mfa_required`; `code` is a six-digit code of the app or a recovery code, and each works once. Ten failed attempts
    lock the address for the client's network for 15 minutes, ten more for 30 minutes, then for an hour.
    """
    attempt = await begin_attempt(call, data.email)
    checked = await store.developer_by_email(call.db, email=data.email)
    password_hash = await _check_password(call, checked, data.password)
    if checked is None or password_hash is None:
        await attempt_failed(call, attempt)
        raise DeveloperSignInFailed
    checked = replace_struct(checked, password_hash=password_hash)
    async with call.db.transaction() as tx:
        developer = await _lock_unchanged(tx, checked)
        # This does not clear failures at the second factor, which are counted separately.
        await attempt_succeeded(tx, attempt, call.now)
        if developer.mfa_enabled_at is None:
            return await start_session(tx, call, developer, ["pwd"])
    if not data.code:
        raise MfaRequired
    used_factor = await use_second_factor(call, developer.subject, data.code)
    if used_factor is None:
        raise DeveloperSignInFailed
    async with call.db.transaction() as tx:
        return await start_session(tx, call, await _lock_unchanged(tx, checked), ["pwd", used_factor])


async def _lock_unchanged(tx: Transaction, checked: DeveloperRow) -> DeveloperRow:
    """Lock and return the row of a developer whose password was checked without a lock.

    Raises DeveloperSignInFailed if the password or the address was changed since, or the developer was deleted.
    """
    developer = await store.lock_developer(tx, id=checked.id)
    if developer is None or (developer.password_hash, developer.email) != (checked.password_hash, checked.email):
        raise DeveloperSignInFailed
    return developer


@post(
    "/auth/refresh",
    public=True,
    problems=[DeveloperRefreshTokenInvalid, TooManyRequests],
    example={"refreshToken": "dr_AZqfN2n0cYiN0Hq6m0Yb4QAAAAE.Vb0x3yq0Z7c9m5p1r8s2t6w4u0a"},
    response_example={"refreshToken": "dr_AZqfN2n0cYiN0Hq6m0Yb4QAAAAI.…"},
)
async def refresh_developer_tokens(call: Call, data: DeveloperTokenRefresh) -> DeveloperSignInResult:
    """Exchange a refresh token for new tokens.

    A refresh token works once. If it is sent again within 30 seconds, because a response was lost or two tabs refreshed
    at once, it returns the same tokens. Later, it counts as stolen, and the session ends.
    """
    try:
        session = await refresh_session(call, NO_ID, data.refresh_token, SESSIONS, refresh_developer_sessions)
    except RefreshRefused as refused:
        if refused.reused:
            raise DeveloperRefreshTokenInvalid("This refresh token was used before; the session has ended.") from None
        raise DeveloperRefreshTokenInvalid from None
    developer = await store.developer(call.db, id=session.subject_id)
    if developer is None:
        raise DeveloperRefreshTokenInvalid
    return await _signed_in(call.db, call, session, developer)


@post("/auth/sign-out", accepts=DEVELOPER_ONLY, unverified=True)
async def sign_out_developer(call: Call) -> None:
    """End this session. Its tokens are refused from the next request on."""
    assert call.caller.actor_id
    assert call.caller.credential_id
    await end_session(call.world, call.caller.actor_id, call.caller.credential_id)


async def begin_attempt(call: Call, email: str) -> Attempt:
    """Count a sign-in attempt for an address, before the password or code is checked. Raises LockedOut,
    TooManyRequests."""
    throttle(call, ATTEMPTS)
    return await attempts.begin_attempt(call, ATTEMPTS, NO_ID, attempt_identifier(call, email))


async def use_second_factor(call: Call, subject: Subject, code: str) -> UsedFactor | None:
    """Use a code of a developer's authenticator app or a recovery code; None if it is wrong or was used before.

    Raises LockedOut.
    """
    return await second_factor.try_code(
        call, ATTEMPTS, subject, lambda tx: second_factor.consume_code(tx, call, subject, code)
    )


@asynccontextmanager
async def count_invalid_links(call: Call) -> AsyncGenerator[None]:
    """Count a LinkInvalid that the block raises as a failed attempt of the caller's network.

    After too many, LockedOut is raised instead of LinkInvalid. A valid token is never refused: its bits (190 or
    more) cannot be guessed, and other users of the network may have caused the failures.
    """
    try:
        yield
    except LinkInvalid:
        identifier = attempt_identifier(call, f"links|{network_of(call.origin.ip)}")
        await attempt_failed(call, await attempts.begin_attempt(call, LINK_ATTEMPTS, NO_ID, identifier))
        raise


async def make_inbox_link(world: "World", developer_id: UUID) -> str:
    """Create a link that signs a developer in to the inbox page. It works once, for ten minutes."""
    token = await _new_link_token(world, developer_id, InboxSignInLink(), INBOX_LINK_LIFE)
    return f"{world.settings.public_url}/inbox/enter?token={token}"


async def make_sign_in_link(world: "World", developer_id: UUID) -> str:
    """Create a link that signs a developer in to the dashboard. It works once, for 24 hours; earlier ones become
    invalid. The token is in the fragment, which browsers do not send to the server."""
    token = await _new_link_token(world, developer_id, DashboardSignInLink(), SIGN_IN_LINK_LIFE)
    return f"{world.settings.public_url}/dashboard/welcome#{token}"


async def _new_link_token(world: "World", developer_id: UUID, payload: Payload, life: timedelta) -> str:
    call = call_of(world)
    async with world.db.transaction() as tx:
        return await issue_only_link(tx, call, developer_id, payload, life)


async def owners_for_operator(world: "World", *, limit: int) -> list[DeveloperRow]:
    """The first owners of accounts with a verified address."""
    return await store.first_owners(world.db, limit=limit)


async def developer_for_operator(world: "World", email: str) -> DeveloperRow | None:
    """The developer with an address, verified or not; None if there is none."""
    verified = await store.developer_by_email(world.db, email=email)
    return verified or await store.unverified_developer(world.db, email=email)


async def make_reset_link(world: "World", developer: DeveloperRow) -> str:
    """Create a link to choose a new password. It works once, for 30 minutes; earlier ones become invalid."""
    token = await _new_link_token(world, developer.id, DeveloperResetLink(), RESET_LIFE)
    return f"{world.settings.public_url}/reset-password?token={token}"


async def sign_in_by_link(
    call: Call, token: str, kind: type[InboxSignInLink | DashboardSignInLink]
) -> DeveloperSignInResult:
    """Sign in with a one-time link. Raises LinkInvalid, and LockedOut after too many invalid links."""
    async with count_invalid_links(call):
        challenge = await answer_link(call, kind, token)
        async with call.db.transaction() as tx:
            return await start_session(tx, call, await consume_link(tx, challenge), ["link"])


async def has_session(db: Queries, developer_id: UUID, session_id: UUID, now: Moment) -> bool:
    """Whether a session of a developer has neither ended nor expired."""
    rows = await session_store.live_sessions(
        db, project_id=NO_ID, subject_ids=[developer_id], now=now, limit=SESSIONS_LIMIT
    )
    return any(row.id == session_id for row in rows)


async def end_session(world: "World", developer_id: UUID, session_id: UUID) -> bool:
    """End one session of a developer. Returns False if the developer has no such active session."""
    return await session_store.revoke_session(
        world.db, project_id=NO_ID, subject_id=developer_id, id=session_id, now=world.clock()
    )


async def end_sessions(
    tx: Transaction, call: Call, developer_id: UUID, *, except_session_id: UUID | None = None
) -> list[UUID]:
    """End all sessions of a developer except `except_session_id`. Returns the ids of the ended ones."""
    return await session_store.revoke_all(
        tx, project_id=NO_ID, subject_id=developer_id, except_id=except_session_id, now=call.now
    )


async def open_account(call: Call, data: DeveloperSignUp, *, email_verified: bool = False) -> DeveloperSignInResult:
    """Create an account with its owner and a first project, and sign the owner in. Raises PasswordCommon,
    PasswordBreached and TooManyRequests.

    Until the owner verifies the address, the session can only read, and send mail, which is captured. With
    `email_verified`, for commands of the operator, the address counts as verified, no mail is sent, and
    DeveloperEmailTaken is raised if a developer has verified it before.
    """
    email = read_email(data.email)
    if not email_verified:
        call.world.limiter.take(SIGN_UP_MAIL_RATE, call.world.secrets.digest("sign-up-mail", email.lower()).hex())
    await require_acceptable(call.world, data.password, email)
    if not email_verified:
        # Counted only now: a rejected sign-up sends no mail, and must not use up the limit of the address's owner.
        await throttle_link(call, VerificationLink, email)
    password_hash = await hash_password(data.password)
    async with call.db.transaction() as tx:
        account_id = new_id()
        name = data.name or email.partition("@")[0]
        await store.insert_account(
            tx, id=account_id, name=f"{name[:150]}’s account", unproven=not email_verified, now=call.now
        )
        developer = await store.insert_developer(
            tx,
            id=new_id(),
            account_id=account_id,
            email=email,
            name=data.name,
            role="OWNER",
            password_hash=password_hash,
            verified_at=call.now if email_verified else None,
            now=call.now,
        )
        if developer is None:
            raise DeveloperEmailTaken
        await projects.new_project(tx, account_id, "My project", call, captured=not email_verified)
        if not email_verified:
            await enqueue_verification(tx, call, account_id, developer.id, email)
        return await start_session(tx, call, developer, ["pwd"])


async def _join_account(call: Call, data: DeveloperSignUp, token: str) -> DeveloperSignInResult:
    """Sign up as a member of the account that sent the invitation.

    Raises LinkInvalid, DeveloperEmailTaken, PasswordCommon and PasswordBreached.
    """
    email = read_email(data.email)
    await require_acceptable(call.world, data.password, email)
    password_hash = await hash_password(data.password)
    async with count_invalid_links(call), call.db.transaction() as tx:
        invitation = await take_invitation(tx, call, token, email)
        developer = await store.insert_developer(
            tx,
            id=new_id(),
            account_id=invitation.account_id,
            email=email,
            name=data.name,
            role=invitation.role,
            password_hash=password_hash,
            verified_at=call.now,
            now=call.now,
        )
        if developer is None:
            raise DeveloperEmailTaken
        session = await start_session(tx, call, developer, ["pwd"])
        caller = caller_of(developer, None)
        await audit.record(
            tx, replace(call, caller=caller), "member.joined", "Member", developer.id, role=developer.role
        )
    return session


async def take_invitation(tx: Transaction, call: Call, token: str, email: str) -> AccountInvitationRow:
    """Use up (delete) the invitation with this token, and lock its account. Raises LinkInvalid unless the invitation
    was sent to `email` and is valid."""
    token_hash = call.world.secrets.digest("account-invitation", token)
    account_id = await store.account_of_invitation(tx, token_hash=token_hash)
    # Lock the account first, as every other change of members does, to avoid deadlocks.
    if account_id is None or await store.lock_account(tx, id=account_id) is None:
        raise LinkInvalid
    invitation = await store.use_invitation(tx, token_hash=token_hash, now=call.now)
    if invitation is None or invitation.email.lower() != email.lower():
        raise LinkInvalid
    return invitation


def read_email(text: str, path: str = "/email") -> str:
    """Parse an email address and return its normalised form. Raises Invalid at `path`."""
    try:
        return parse_address(text).spec
    except AddressInvalid as error:
        raise Invalid.at(path, error.detail, "invalid_address") from None


async def require_password(call: Call, password: str) -> DeveloperRow:
    """Check the caller's password before a sensitive operation, and return the caller's row.

    Raises PasswordWrong, LockedOut and TooManyRequests. The operation must pass the returned row to
    `lock_proven_developer`, in case the password is changed in between.
    """
    assert call.caller.actor_id
    attempt = await begin_attempt(call, call.caller.actor_label or "")
    developer = await store.developer(call.db, id=call.caller.actor_id)
    if developer is None:
        raise CredentialInvalid
    password_hash = await _check_password(call, developer, password)
    if password_hash is None:
        await attempt_failed(call, attempt)
        raise PasswordWrong
    async with call.db.transaction() as tx:
        await attempt_succeeded(tx, attempt, call.now)
    return replace_struct(developer, password_hash=password_hash)


async def lock_proven_developer(tx: Transaction, checked_row: DeveloperRow) -> DeveloperRow:
    """Lock and return the row of a developer whose password was just checked; `checked_row` is the row that
    `require_password` returned.

    Raises PasswordWrong if the password was changed since, and CredentialInvalid if the developer was deleted.
    """
    developer = await store.lock_developer(tx, id=checked_row.id)
    if developer is None:
        raise CredentialInvalid
    if developer.password_hash != checked_row.password_hash:
        raise PasswordWrong
    return developer


async def start_session(
    tx: Transaction, call: Call, developer: DeveloperRow, methods: list[str]
) -> DeveloperSignInResult:
    """Start a session of a developer, and store the time of the sign-in. `tx` must have locked or inserted the
    developer's row. `methods` are `amr` values (RFC 8176), or `link`."""
    session = await begin_session(tx, call, NO_ID, developer.id, SESSIONS, methods)
    await store.record_sign_in(tx, id=developer.id, now=call.now)
    return await _signed_in(tx, call, session, developer)


async def refresh_developer_sessions(world: "World", requests: list[RefreshRequest]) -> list[RefreshResult]:
    """Refresh the sessions of a batch of requests. Returns one result per request, in the same order: None if the
    session has ended or the refresh token is not the current one."""
    return await refresh_batch(world, requests, SESSIONS)


async def read_token(world: "World", token: str, project_id: UUID | None, origin: Origin) -> Caller | None:
    """Authenticate a developer's access token. Returns None if `token` is of another kind.

    Raises CredentialInvalid if the token is unknown or its session has ended, and ProjectMissing if the project belongs
    to another account.
    """
    if not token.startswith("dt_"):
        return None
    if not looks_like_key(token):
        raise CredentialInvalid
    owner = await store.session_owner(
        world.db, access_hash=hash_access_token(world.secrets, token, SESSIONS), project_id=project_id
    )
    if owner is None or owner.revoked_at is not None or owner.access_expires_at <= world.clock():
        raise CredentialInvalid
    if not owner.owns_project:
        raise ProjectMissing
    is_verified = owner.email_verified_at is not None
    return Caller(
        kind="developer",
        actor_type="DEVELOPER",
        actor_id=owner.developer_id,
        actor_label=owner.email,
        account_id=owner.account_id,
        project_id=project_id,
        environment="LIVE" if is_verified else "TEST",
        permissions=ROLE_PERMISSIONS[owner.role] if is_verified else UNVERIFIED_PERMISSIONS,
        credential_id=owner.session_id,
        unverified_problem=None if is_verified else EmailUnverified,
    )


async def caller_of_member(
    db: Queries, account_id: UUID, developer_id: UUID, session_id: UUID | None, now: Moment
) -> Caller | None:
    """The Caller for a member of an account with their present role; None if they have left it, their address is not
    verified, or their session has ended."""
    developer = await store.developer(db, id=developer_id)
    if developer is None or developer.account_id != account_id or developer.email_verified_at is None:
        return None
    if session_id is None or not await has_session(db, developer_id, session_id, now):
        return None
    return caller_of(developer, session_id)


def caller_of(developer: DeveloperRow, session_id: UUID | None) -> Caller:
    """The Caller for a developer who was identified by a sign-up or a mailed link, not by an access token."""
    return Caller(
        kind="developer",
        actor_type="DEVELOPER",
        actor_id=developer.id,
        actor_label=developer.email,
        account_id=developer.account_id,
        permissions=ROLE_PERMISSIONS[developer.role],
        credential_id=session_id,
    )


async def _check_password(call: Call, developer: DeveloperRow | None, password: str) -> str | None:
    """Check a password; returns the stored hash, which is replaced if it is outdated, or None if it is wrong."""

    async def replace_hash(before: str, renewed: str) -> bool:
        assert developer
        return await store.replace_password_hash(call.db, id=developer.id, password_hash=renewed, before=before)

    async def read_hash() -> str | None:
        assert developer
        now = await store.developer(call.db, id=developer.id)
        return now.password_hash if now else None

    before = developer.password_hash if developer else None
    return await check_and_rehash(password, before, replace=replace_hash, read=read_hash)


async def _record_reuse(tx: Transaction, call: Call, session: SessionRow) -> None:
    """Record in the audit log that a session was ended because an old refresh token was used."""
    developer = await store.developer(tx, id=session.subject_id)
    if developer is not None:
        details = {"sessionId": str(session.id), "reason": "REFRESH_TOKEN_REUSED"}
        developer_call = replace(call, caller=caller_of(developer, None))
        await audit.record(
            tx, developer_call, "member.session_revoked", "Member", developer.id, account_wide=True, **details
        )


SESSIONS = SessionPolicy(
    refresh_prefix="dr_",
    refresh_purpose="developer-refresh",
    access_prefix="dt_",
    access_purpose="developer-token",
    access_life=ACCESS_TOKEN_LIFE,
    life=REFRESH_TOKEN_LIFE,
    idle=REFRESH_TOKEN_LIFE,
    limit=SESSIONS_LIMIT,
    subject=SQL("true"),  # The access token contains no data of the developer, and every developer may sign in.
    record_reuse=_record_reuse,
)


async def _signed_in(db: Queries, call: Call, session: SessionRow, developer: DeveloperRow) -> DeveloperSignInResult:
    assert session.access_expires_at
    return DeveloperSignInResult(
        access_token=access_token_of(call.world.secrets, session, SESSIONS),
        access_token_expires_at=session.access_expires_at,
        refresh_token=refresh_token_of(call.world.secrets, session, SESSIONS),
        refresh_token_expires_at=session.idle_expires_at,
        developer=Developer(
            id=developer.id,
            email=developer.email,
            email_verified_at=developer.email_verified_at,
            name=developer.name,
            role=developer.role,
            account_id=developer.account_id,
        ),
        projects=await projects.projects_of_account(db, developer.account_id),
    )
