"""HTTP operations for the verification of an address and for password reset."""

from dataclasses import replace

import psycopg

from postern.kernel.database.statements import Transaction
from postern.kernel.http.call import Call, CredentialInvalid
from postern.kernel.http.operation import DEVELOPER_ONLY, post
from postern.kernel.limits import TooManyRequests
from postern.kernel.values import NO_ID, Body, Record
from postern.platform.accounts import store
from postern.platform.accounts.links import (
    LINK_RATE,
    DeveloperResetLink,
    VerificationLink,
    answer_link,
    attempt_identifier,
    consume_link,
    throttle_link,
)
from postern.platform.accounts.mailer import (
    NO_ACCOUNT,
    PasswordResetRequest,
    enqueue_mail,
    enqueue_security_mail,
    enqueue_verification,
)
from postern.platform.accounts.model import (
    DeveloperEmailTaken,
    DeveloperRow,
    EmailText,
    LinkInvalid,
    LockedOut,
    Password,
    TokenText,
)
from postern.platform.accounts.operations import (
    caller_of,
    count_invalid_links,
    end_sessions,
    read_email,
)
from postern.platform.audit import operations as audit
from postern.platform.projects import operations as projects
from postern.security import challenges, second_factor
from postern.security.attempts import clear_attempts
from postern.security.breaches import PasswordBreached, require_unbreached
from postern.security.passwords import PasswordCommon, hash_password, require_uncommon

TOKEN = "3Jb8nQ0xVw7sK1pYt5Rz9Lm2Hc4Gd6FfA0BeUiOo"  # noqa: S105 - an example for the docs


class VerifyEmail(Body):
    """The token from the mail."""

    token: TokenText


class ForgotPassword(Body):
    """The address of the developer account."""

    email: EmailText


class ResetPassword(Body):
    """The token from the mail, and the new password."""

    token: TokenText
    new_password: Password


class VerifiedEmail(Record):
    """The address that was verified."""

    email: str


@post(
    "/auth/verify-email", public=True, problems=[LinkInvalid, DeveloperEmailTaken, LockedOut], example={"token": TOKEN}
)
async def verify_developer_email(call: Call, data: VerifyEmail) -> VerifiedEmail:
    """Verify an address with the token that was sent to it. A changed address applies from now on.

    The first verification of a new account deletes what was created before: sessions, second factors, keys, members and
    invitations.
    """
    async with count_invalid_links(call):
        challenge = await answer_link(call, VerificationLink, data.token)
        async with call.db.transaction() as tx:
            developer = await consume_link(tx, challenge)
            await _apply_verified_email(tx, call, developer, challenge.payload.email)
    return VerifiedEmail(email=challenge.payload.email)


@post("/auth/verify-email/resend", accepts=DEVELOPER_ONLY, unverified=True, problems=[TooManyRequests])
async def resend_developer_verification(call: Call) -> None:
    """Send the mail that asks to verify your address again. The link of the earlier mail becomes invalid."""
    assert call.caller.actor_id
    call.world.limiter.take(LINK_RATE, str(call.caller.actor_id))
    await throttle_link(call, VerificationLink, call.caller.actor_label or "")
    async with call.db.transaction() as tx:
        developer = await store.lock_developer(tx, id=call.caller.actor_id)
        if developer is None:
            raise CredentialInvalid
        if developer.email_verified_at is None:
            await enqueue_verification(tx, call, developer.account_id, developer.id, developer.email)


@post(
    "/auth/password/forgot", public=True, problems=[TooManyRequests], example={"email": "ada@example.com"}, status=204
)
async def forgot_developer_password(call: Call, data: ForgotPassword) -> None:
    """Send a link to choose a new password, which works once, for 30 minutes.

    The response and its time do not reveal whether there is an account with this address.
    """
    email = read_email(data.email)
    call.world.limiter.take(LINK_RATE, call.origin.ip)
    await throttle_link(call, DeveloperResetLink, email)
    async with call.db.transaction() as tx:
        await enqueue_mail(tx, call, NO_ACCOUNT, PasswordResetRequest(email=email))


@post(
    "/auth/password/reset",
    public=True,
    problems=[LinkInvalid, LockedOut, PasswordCommon, PasswordBreached],
    example={"token": TOKEN, "newPassword": "correct horse battery"},
    status=204,
)
async def reset_developer_password(call: Call, data: ResetPassword) -> None:
    """Choose a new password with the token from the mail.

    All sessions end, and an unconfirmed change of address is cancelled; the second factor stays on. If the address was
    not verified yet, this verifies it, and deletes what was created before, including the second factor.
    """
    await require_unbreached(call.world, data.new_password, path="/newPassword")
    password_hash = await hash_password(data.new_password)
    async with count_invalid_links(call):
        challenge = await answer_link(call, DeveloperResetLink, data.token)
        async with call.db.transaction() as tx:
            developer = await consume_link(tx, challenge)
            # If this raises, the transaction is rolled back, and the link can be used again.
            require_uncommon(data.new_password, developer.email, path="/newPassword")
            await _apply_reset(tx, call, developer, password_hash)


async def _apply_verified_email(tx: Transaction, call: Call, developer: DeveloperRow, email: str) -> None:
    await _mark_verified(tx, call, developer, email)
    if email.lower() != developer.email.lower():
        await challenges.revoke(tx, NO_ID, developer.id, (DeveloperResetLink,))
        text = f"The address of your developer account is now {email}."
        await enqueue_security_mail(tx, call, developer.account_id, developer.email, "Your address was changed", text)
        await _record(tx, call, developer, "member.email_changed")


async def _mark_verified(tx: Transaction, call: Call, developer: DeveloperRow, email: str) -> None:
    """Set the developer's address, and mark it as verified. Raises DeveloperEmailTaken if another developer has
    verified it.

    At the developer's first verification, deletes what was created before: another person may have signed up with this
    address.
    """
    try:
        if not await store.confirm_email(tx, id=developer.id, email=email, now=call.now):
            raise DeveloperEmailTaken
    except psycopg.errors.UniqueViolation:  # Another sign-up with this address was verified concurrently.
        raise DeveloperEmailTaken from None
    if developer.email_verified_at is not None:
        return
    await end_sessions(tx, call, developer.id)
    await challenges.revoke(tx, NO_ID, developer.id)
    await store.set_mfa_enabled_at(tx, id=developer.id, mfa_enabled_at=None, now=call.now)
    await second_factor.delete(tx, developer.subject)
    await store.delete_invitations_sent_by(tx, inviter_id=developer.id)
    if developer.role == "OWNER":
        await store.delete_invitations(tx, account_id=developer.account_id)
        await store.delete_other_developers(tx, account_id=developer.account_id, except_id=developer.id)
        await projects.delete_keys_of_account(tx, developer.account_id)
        # An account whose owner's address is not verified only captures mail; now its projects may send.
        if await store.clear_unproven(tx, id=developer.account_id):
            await projects.reset_capturing_transport(tx, developer.account_id)
    await _record(tx, call, developer, "member.email_verified")


async def _apply_reset(tx: Transaction, call: Call, developer: DeveloperRow, password_hash: str) -> None:
    await store.set_password(tx, id=developer.id, password_hash=password_hash, now=call.now)
    if developer.email_verified_at is None:  # The link was sent to the address, so it verifies the address.
        await _mark_verified(tx, call, developer, developer.email)
    await end_sessions(tx, call, developer.id)
    # A person who had access before may have requested a new address: that link must become invalid too.
    await challenges.revoke(tx, NO_ID, developer.id)
    await clear_attempts(tx, NO_ID, attempt_identifier(call, developer.email))
    text = "The password of your developer account was reset, and all sessions were ended."
    await enqueue_security_mail(tx, call, developer.account_id, developer.email, "Your password was reset", text)
    await _record(tx, call, developer, "member.password_reset")


async def _record(tx: Transaction, call: Call, developer: DeveloperRow, action: str) -> None:
    developer_call = replace(call, caller=caller_of(developer, None))
    await audit.record(tx, developer_call, action, "Member", developer.id, account_wide=True)
