"""How developers sign up, sign in and stay signed in."""

from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING
from uuid import UUID

from msgspec.structs import replace as replace_struct

from postern.kernel.clock import Moment
from postern.kernel.database.statements import Transaction
from postern.kernel.http.call import Call, Caller, CredentialInvalid, Origin, ProjectMissing
from postern.kernel.http.operation import DEVELOPER_ONLY, post
from postern.kernel.http.problems import Invalid
from postern.kernel.limits import RateLimit, TooManyRequests
from postern.kernel.values import new_id
from postern.platform.accounts import store
from postern.platform.accounts.lockout import attempt_failed, attempt_succeeded, begin_attempt, counting_links
from postern.platform.accounts.mailer import RESET_LIFE, enqueue_verification, new_developer_token
from postern.platform.accounts.model import (
    ACCESS_TOKEN_LIFE,
    REFRESH_GRACE,
    REFRESH_TOKEN_LIFE,
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
    LinkInvalid,
    LockedOut,
    MfaRequired,
    PasswordWrong,
)
from postern.platform.audit import operations as audit
from postern.platform.projects import operations as projects
from postern.platform.projects.permissions import ROLE_PERMISSIONS, UNVERIFIED_PERMISSIONS
from postern.protocols.mail.address import AddressInvalid, parse_address
from postern.security.breaches import PasswordBreached, require_unbreached
from postern.security.passwords import PasswordCommon, check_password, hash_password, is_outdated, require_uncommon
from postern.security.secrets import key_of, looks_like_key, new_key
from postern.security.totp import looks_like_recovery_code, matching_step, plain_recovery_code

if TYPE_CHECKING:
    from postern.world import World

LINK_LIFE = timedelta(minutes=10)

SIGN_UP_RATE = RateLimit("sign-up", 30, timedelta(hours=1))
SIGN_UP_MAIL_RATE = RateLimit("sign-up-mail", 5, timedelta(hours=1))
"""Mails about signing up that anybody may have sent to one address."""

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
    """Create a developer account, its owner and its first project, and sign in.

    A mail asks to confirm the address. Until then this session reads, and sends mail that is captured; everything else
    answers 403 `email_unverified`. Confirming ends the session: sign in with the password. An address that has an
    account gets the same answer, and a mail that says so. A sign-up that nobody confirms is deleted after 7 days.

    With an `invitationToken` the person becomes a member of the inviting account instead, and needs no confirmation:
    the invitation came by mail. The most common passwords, and what is just the address with digits around, are
    refused.
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
    """Sign in with address and password.

    The access token lives 30 minutes, the refresh token 30 days. Unknown addresses and wrong passwords get the
    same answer in the same time. Where a second factor is on, a right password without `code` answers 401
    `mfa_required`; `code` is six digits of the app, or a recovery code, and each works once. Ten failures lock
    the address for this origin for 15 minutes, ten more for 30, then for an hour.
    """
    number = await begin_attempt(call, data.email)
    found = await store.developer_by_email(call.db, email=data.email)
    kept = await check_and_renew(call, found, data.password)
    if found is None or kept is None:
        await attempt_failed(call, data.email, number)
        raise DeveloperSignInFailed
    async with call.db.transaction() as tx:
        # The password was checked outside any lock: whoever changed it meanwhile comes first.
        developer = await store.lock_developer(tx, id=found.id)
        if developer is None or developer.password_hash != kept or developer.email != found.email:
            raise DeveloperSignInFailed
        is_proven = developer.mfa_enabled_at is None
        if not is_proven and data.code:
            is_proven = await use_code(tx, call, developer.id, data.code)
        if is_proven:
            await attempt_succeeded(tx, call, data.email)
            return await start_session(tx, call, developer)
        if not data.code:  # A password alone forgives nothing: whoever knows it could guess codes without end.
            await attempt_succeeded(tx, call, data.email, forgives=False)
    if not data.code:
        raise MfaRequired
    await attempt_failed(call, data.email, number)
    raise DeveloperSignInFailed


@post(
    "/auth/refresh",
    public=True,
    problems=[DeveloperRefreshTokenInvalid],
    example={"refreshToken": "dr_0a1b2c3d4e5f6g7h8i9j0k1l2m3n4o5p6q7r8s9t4xK2pQ"},
    shows={"refreshToken": "dr_9z8y7x6w5v4u3t2s1r0q…"},
)
async def refresh_developer_tokens(call: Call, data: DeveloperTokenRefresh) -> DeveloperSignInResult:
    """Exchange a refresh token for new tokens.

    A refresh token works once. Shown again within 30 seconds, because an answer was lost or two tabs were at it,
    it gets the same tokens; later, it was stolen: the whole session ends.
    """
    secrets = call.world.secrets
    digest = secrets.digest("developer-token", data.refresh_token)
    # Made of the old token, so that whoever shows it again in time gets what the first one got.
    access = key_of("dt_", secrets.digest("developer-access-after", data.refresh_token))
    renewed = key_of("dr_", secrets.digest("developer-refresh-after", data.refresh_token))
    stolen = None
    async with call.db.transaction() as tx:
        session = await store.lock_session_of_refresh(tx, refresh_hash=digest)
        if session is None or session.revoked_at is not None or session.expires_at <= call.now:
            raise DeveloperRefreshTokenInvalid
        is_old = session.previous_refresh_hash == digest
        if is_old and (session.rotated_at is None or call.now - session.rotated_at > REFRESH_GRACE):
            stolen = session.id
            await store.revoke(tx, id=session.id, now=call.now)
        else:
            developer = await store.developer(tx, id=session.developer_id)
            if developer is None:
                raise DeveloperRefreshTokenInvalid
            access_expires_at = session.access_expires_at if is_old else Moment.of(call.now + ACCESS_TOKEN_LIFE)
            if not is_old:
                await store.rotate(
                    tx,
                    id=session.id,
                    access_hash=secrets.digest("developer-token", access),
                    access_expires_at=access_expires_at,
                    previous_refresh_hash=digest,
                    refresh_hash=secrets.digest("developer-token", renewed),
                    rotated_at=call.now,
                )
            return await _signed_in(tx, developer, (access, access_expires_at), (renewed, session.expires_at))
    assert stolen
    raise DeveloperRefreshTokenInvalid("This refresh token was used before; the session has ended.")


@post("/auth/sign-out", accepts=DEVELOPER_ONLY, unverified=True)
async def sign_out_developer(call: Call) -> None:
    """End this session: its tokens are refused from the next request on."""
    assert call.caller.credential_id
    await store.revoke(call.db, id=call.caller.credential_id, now=call.now)


async def make_link(world: "World", developer_id: UUID) -> str:
    """A one-time link that signs a developer in to the inbox page, good for ten minutes."""
    token = new_key("dl_")
    await store.insert_token(
        world.db,
        hash=world.secrets.digest("developer-token", token),
        developer_id=developer_id,
        purpose="INBOX",
        email=None,
        expires_at=world.clock() + LINK_LIFE,
        now=world.clock(),
    )
    return f"{world.settings.public_url}/inbox/enter?token={token}"


async def developer_for_operator(world: "World", email: str | None) -> DeveloperRow | None:
    """Whom the operator means: who has this address, or without one the only owner of an account on this server."""
    if email is None:
        owners = await store.first_owners(world.db)
        return owners[0] if len(owners) == 1 else None
    proven = await store.developer_by_email(world.db, email=email)
    return proven or await store.unproven_developer(world.db, email=email)


async def make_reset_link(world: "World", developer: DeveloperRow) -> str:
    """A link to choose a new password, which works once, for 30 minutes; earlier ones are dead."""
    async with world.db.transaction() as tx:
        until = Moment.of(world.clock() + RESET_LIFE)
        token = await new_developer_token(tx, world, developer.id, "RESET_PASSWORD", None, until)
    return f"{world.settings.public_url}/reset-password?token={token}"


async def sign_in_by_link(call: Call, token: str) -> DeveloperSignInResult:
    """Sign in by a one-time link. Raises LinkInvalid, and LockedOut after too many of those."""
    async with counting_links(call), call.db.transaction() as tx:
        used = await store.use_token(
            tx, hash=call.world.secrets.digest("developer-token", token), purpose="INBOX", now=call.now
        )
        developer = await store.lock_developer(tx, id=used.developer_id) if used else None
        if developer is None:
            raise LinkInvalid
        return await start_session(tx, call, developer)


async def end_session(world: "World", session_id: UUID) -> None:
    """End one session of a developer."""
    await store.revoke(world.db, id=session_id, now=world.clock())


async def open_account(call: Call, data: DeveloperSignUp, *, proven: bool = False) -> DeveloperSignInResult:
    """Make an account, its owner and its first project, and sign the owner in. Raises PasswordCommon.

    The account is limited until the address is proven, which a mail asks for. `proven` is for the operator's console:
    the address counts as proven, no mail is sent, and EmailTaken is raised if it has an account.
    """
    email = read_email(data.email)
    if not proven:
        call.world.limiter.take(SIGN_UP_MAIL_RATE, call.world.secrets.digest("sign-up-mail", email.lower()).hex())
    require_uncommon(data.password, email)
    await require_unbreached(call.world, data.password)
    password_hash = await hash_password(data.password)
    async with call.db.transaction() as tx:
        account_id = new_id()
        name = data.name or email.partition("@")[0]
        await store.insert_account(tx, id=account_id, name=f"{name[:150]}’s account", unproven=not proven, now=call.now)
        developer = await store.insert_developer(
            tx,
            id=new_id(),
            account_id=account_id,
            email=email,
            name=data.name,
            role="OWNER",
            password_hash=password_hash,
            verified_at=call.now if proven else None,
            now=call.now,
        )
        if developer is None:
            raise DeveloperEmailTaken
        await projects.new_project(tx, account_id, "My project", call, captured=not proven)
        if not proven:
            await enqueue_verification(tx, call, account_id, developer.id, email)
        return await start_session(tx, call, developer)


async def _join_account(call: Call, data: DeveloperSignUp, token: str) -> DeveloperSignInResult:
    """Sign up as a member of the account that sent the invitation. Raises LinkInvalid, EmailTaken, PasswordCommon."""
    email = read_email(data.email)
    require_uncommon(data.password, email)
    await require_unbreached(call.world, data.password)
    password_hash = await hash_password(data.password)
    async with counting_links(call), call.db.transaction() as tx:
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
        session = await start_session(tx, call, developer)
        caller = caller_of(developer, None)
        await audit.record(
            tx, replace(call, caller=caller), "member.joined", "Member", developer.id, role=developer.role
        )
    return session


async def take_invitation(tx: Transaction, call: Call, token: str, email: str) -> AccountInvitationRow:
    """Use up an invitation for the address it was sent to. Raises LinkInvalid."""
    token_hash = call.world.secrets.digest("account-invitation", token)
    account_id = await store.account_of_invitation(tx, token_hash=token_hash)
    # The account first, as everything else that changes members does: nobody waits in a circle.
    if account_id is None or await store.lock_account(tx, id=account_id) is None:
        raise LinkInvalid
    invitation = await store.use_invitation(tx, token_hash=token_hash, now=call.now)
    if invitation is None or invitation.email.lower() != email.lower():
        raise LinkInvalid
    return invitation


def read_email(text: str, path: str = "/email") -> str:
    """The address as we keep it. Raises Invalid."""
    try:
        return parse_address(text).spec
    except AddressInvalid as error:
        raise Invalid.at(path, error.detail, "invalid_address") from None


async def check_and_renew(call: Call, developer: DeveloperRow | None, password: str) -> str | None:
    """The hash that is kept of a right password, made anew where it is outdated; None if the password is wrong.

    A hash that was changed meanwhile stays as it is. Takes as long for nobody as for somebody.
    """
    before = developer.password_hash if developer else None
    if not await check_password(password, before) or developer is None or before is None:
        return None
    if not is_outdated(before):
        return before
    renewed = await hash_password(password)
    await store.rehash(call.db, id=developer.id, password_hash=renewed, before=before)
    return renewed


async def require_password(call: Call, password: str) -> DeveloperRow:
    """Ask the caller's password again, before what cannot be undone. Raises PasswordWrong and LockedOut.

    Whoever acts on it does so on the row that `locked_developer` locks.
    """
    identifier = call.caller.actor_label or ""
    assert call.caller.actor_id
    number = await begin_attempt(call, identifier)
    developer = await store.developer(call.db, id=call.caller.actor_id)
    if developer is None:
        raise CredentialInvalid
    kept = await check_and_renew(call, developer, password)
    if kept is None:
        await attempt_failed(call, identifier, number)
        raise PasswordWrong
    async with call.db.transaction() as tx:
        await attempt_succeeded(tx, call, identifier, forgives=developer.mfa_enabled_at is None)
    return replace_struct(developer, password_hash=kept)


async def locked_developer(tx: Transaction, proven: DeveloperRow) -> DeveloperRow:
    """The row of a developer whose password was just proven, locked. Raises PasswordWrong if it changed meanwhile."""
    developer = await store.lock_developer(tx, id=proven.id)
    if developer is None:
        raise CredentialInvalid
    if developer.password_hash != proven.password_hash:
        raise PasswordWrong
    return developer


async def use_code(tx: Transaction, call: Call, developer_id: UUID, code: str) -> bool:
    """Use up a code of the app, or a recovery code; false if it is wrong or was used before."""
    if looks_like_recovery_code(code):
        digest = call.world.secrets.digest("developer-recovery", f"{developer_id}|{plain_recovery_code(code)}")
        return await store.use_recovery_code(tx, id=developer_id, hash=digest)
    row = await store.lock_totp(tx, id=developer_id)
    if row is None or row.totp_secret is None:
        return False
    secret = call.world.secrets.open(row.totp_secret, f"developer-totp:{developer_id}")
    step = matching_step(secret, code, call.now, used=row.totp_step)
    return step is not None and await store.use_totp_step(tx, id=developer_id, step=step)


async def start_session(tx: Transaction, call: Call, developer: DeveloperRow) -> DeveloperSignInResult:
    """Sign a developer in, in an open transaction."""
    access, renewed = new_key("dt_"), new_key("dr_")
    expires_at = call.now + REFRESH_TOKEN_LIFE
    await store.insert_session(
        tx,
        id=new_id(),
        developer_id=developer.id,
        access_hash=call.world.secrets.digest("developer-token", access),
        access_expires_at=call.now + ACCESS_TOKEN_LIFE,
        refresh_hash=call.world.secrets.digest("developer-token", renewed),
        expires_at=expires_at,
        ip_address=call.origin.ip,
        user_agent=call.origin.user_agent,
        now=call.now,
    )
    await store.signed_in(tx, id=developer.id, now=call.now)
    access_expires_at = Moment.of(call.now + ACCESS_TOKEN_LIFE)
    return await _signed_in(tx, developer, (access, access_expires_at), (renewed, Moment.of(expires_at)))


async def read_token(world: "World", token: str, project_id: UUID | None, origin: Origin) -> Caller | None:
    """Who a developer's access token stands for; None if `token` is none. Role and session are read each time."""
    if not token.startswith("dt_"):
        return None
    if not looks_like_key(token):
        raise CredentialInvalid
    owner = await store.session_owner(
        world.db, access_hash=world.secrets.digest("developer-token", token), project_id=project_id
    )
    if owner is None or owner.revoked_at is not None or owner.access_expires_at <= world.clock():
        raise CredentialInvalid
    if not owner.project_is_theirs:
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
        is_verified=is_verified,
    )


def caller_of(developer: DeveloperRow, session_id: UUID | None) -> Caller:
    """A developer as the caller, where no token says so: just signed up, or by a link from a mail."""
    return Caller(
        kind="developer",
        actor_type="DEVELOPER",
        actor_id=developer.id,
        actor_label=developer.email,
        account_id=developer.account_id,
        permissions=ROLE_PERMISSIONS[developer.role],
        credential_id=session_id,
    )


async def _signed_in(
    tx: Transaction, developer: DeveloperRow, access: tuple[str, Moment], renewed: tuple[str, Moment]
) -> DeveloperSignInResult:
    return DeveloperSignInResult(
        access_token=access[0],
        access_token_expires_at=access[1],
        refresh_token=renewed[0],
        refresh_token_expires_at=renewed[1],
        developer=Developer(
            id=developer.id,
            email=developer.email,
            email_verified_at=developer.email_verified_at,
            name=developer.name,
            role=developer.role,
            account_id=developer.account_id,
        ),
        projects=await projects.projects_of_account(tx, developer.account_id),
    )
