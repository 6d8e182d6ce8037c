"""HTTP operations on passkeys of developers: registration, sign-in, and removal."""

from typing import Annotated
from urllib.parse import urlsplit
from uuid import UUID

import msgspec

from postern.kernel.http.call import Call
from postern.kernel.http.operation import DEVELOPER_ONLY, delete, get, post
from postern.kernel.limits import TooManyRequests
from postern.kernel.values import Body
from postern.platform.accounts import store
from postern.platform.accounts.mfa import ISSUER, enqueue_notice, lock_caller, require_both_factors
from postern.platform.accounts.model import (
    CodeText,
    CodeWrong,
    DeveloperSignInFailed,
    DeveloperSignInResult,
    LockedOut,
    MfaNotEnrolled,
    MfaRequired,
    PasswordToCheck,
    PasswordWrong,
)
from postern.platform.accounts.operations import ATTEMPTS, lock_proven_developer, require_password, start_session
from postern.security import passkeys, subjects
from postern.security.attempts import throttle
from postern.security.challenges import CodeInvalid
from postern.security.passkeys import (
    NEW_PASSKEY_EXAMPLE,
    PASSKEY_SIGN_IN_EXAMPLE,
    NewPasskey,
    Passkey,
    PasskeyMissing,
    PasskeyOptions,
    PasskeySignIn,
    RelyingParty,
    TooManyPasskeys,
)

REFUSED = "This passkey is not registered, or its response is invalid. Sign in with your password."


class PasswordAndAnyCode(Body):
    """The caller's password and, if a second factor is on, a code of the authenticator app or a recovery
    code."""

    password: PasswordToCheck
    code: Annotated[CodeText | None, msgspec.Meta(description="Required if a second factor is on.")] = None


@post(
    "/auth/passkeys/register/options",
    accepts=DEVELOPER_ONLY,
    problems=[PasswordWrong, MfaRequired, MfaNotEnrolled, CodeWrong, LockedOut, TooManyPasskeys],
    example={"password": "correct horse battery"},
)
async def begin_developer_passkey_registration(call: Call, data: PasswordAndAnyCode) -> PasskeyOptions:
    """Start to add a passkey: pass `options` to `navigator.credentials.create`, and send the result to `register`.

    Requires your password and, if a second factor is on, a `code`, because a passkey signs in without them. The options
    are valid for 5 minutes.
    """
    if data.code is not None:
        caller_row = await require_both_factors(call, data.password, data.code)
    else:
        caller_row = await require_password(call, data.password)
        if caller_row.mfa_enabled_at is not None:
            raise MfaRequired
    async with call.db.transaction() as tx:
        developer = await lock_proven_developer(tx, caller_row)
        return await passkeys.begin_registration(
            tx,
            call,
            developer.subject,
            _relying_party(call),
            account=developer.email,
            display_name=developer.name or developer.email,
        )


@post(
    "/auth/passkeys/register",
    accepts=DEVELOPER_ONLY,
    status=201,
    problems=[CodeInvalid, TooManyPasskeys],
    example=NEW_PASSKEY_EXAMPLE,
)
async def add_developer_passkey(call: Call, data: NewPasskey) -> Passkey:
    """Add the passkey that the browser created. A mail informs you."""
    assert call.caller.actor_id
    verified = await passkeys.verify_registration(call, call.caller.actor_id, _relying_party(call), data)
    async with call.db.transaction() as tx:
        developer = await lock_caller(tx, call)
        passkey = await passkeys.add(tx, call, developer.subject, verified)
        details = {"passkeyId": str(passkey.id), "name": passkey.name}
        await enqueue_notice(tx, call, developer, "A passkey was added", "member.passkey_added", **details)
    return passkey


@get("/auth/passkeys", accepts=DEVELOPER_ONLY)
async def list_developer_passkeys(call: Call) -> list[Passkey]:
    """List your passkeys, newest first; at most 20."""
    assert call.caller.actor_id
    return await passkeys.passkeys_of(call.db, subjects.developer(call.caller.actor_id))


@delete("/auth/passkeys/{id}", accepts=DEVELOPER_ONLY, problems=[PasskeyMissing])
async def remove_developer_passkey(call: Call, id: UUID) -> None:
    """Remove a passkey. You can still sign in with your password. A mail informs you."""
    async with call.db.transaction() as tx:
        developer = await lock_caller(tx, call)
        await passkeys.remove(tx, developer.subject, id)
        details = {"passkeyId": str(id)}
        await enqueue_notice(tx, call, developer, "A passkey was removed", "member.passkey_removed", **details)


@post("/auth/passkeys/sign-in/options", public=True, problems=[TooManyRequests])
async def begin_developer_passkey_sign_in(call: Call) -> PasskeyOptions:
    """Start to sign in with a passkey: pass `options` to `navigator.credentials.get`. No email address is needed."""
    throttle(call, ATTEMPTS)
    return await passkeys.begin_sign_in(call, _relying_party(call))


@post(
    "/auth/passkeys/sign-in",
    public=True,
    problems=[DeveloperSignInFailed, CodeInvalid, TooManyRequests],
    example=PASSKEY_SIGN_IN_EXAMPLE,
)
async def sign_in_developer_with_passkey(call: Call, data: PasskeySignIn) -> DeveloperSignInResult:
    """Sign in with a passkey. No second factor is required, because the authenticator verifies its user (PIN, face)."""
    throttle(call, ATTEMPTS)
    assertion = await passkeys.verify_sign_in(call, _relying_party(call), data)
    if assertion is None:
        raise DeveloperSignInFailed(REFUSED)
    async with call.db.transaction() as tx:
        developer = await store.lock_developer(tx, id=assertion.subject_id)
        if developer is None or not await passkeys.consume_assertion(tx, call, assertion):
            raise DeveloperSignInFailed(REFUSED)
        return await start_session(tx, call, developer, assertion.methods)


def _relying_party(call: Call) -> RelyingParty:
    """This server as relying party. It requires user verification, so that a passkey counts as two factors."""
    public_url = urlsplit(call.world.settings.public_url)
    return RelyingParty(
        id=public_url.hostname or "localhost",
        name=ISSUER,
        origins=[f"{public_url.scheme}://{public_url.netloc}"],
        needs_user_verification=True,
    )
