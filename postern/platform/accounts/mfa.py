"""HTTP operations on a developer's second factor: an authenticator app (TOTP) and recovery codes."""

from typing import Any

from postern.kernel.database.statements import Transaction
from postern.kernel.http.call import Call, CredentialInvalid
from postern.kernel.http.operation import DEVELOPER_ONLY, post
from postern.kernel.values import Body, Record
from postern.platform.accounts import store
from postern.platform.accounts.mailer import enqueue_security_mail
from postern.platform.accounts.model import (
    CodeText,
    CodeWrong,
    DeveloperRow,
    LockedOut,
    MfaAlreadyEnabled,
    MfaNotEnrolled,
    PasswordToCheck,
    PasswordWrong,
)
from postern.platform.accounts.operations import (
    ATTEMPTS,
    end_sessions,
    lock_proven_developer,
    require_password,
    use_second_factor,
)
from postern.platform.audit import operations as audit
from postern.security import second_factor, subjects
from postern.security.attempts import throttle
from postern.security.totp import totp_key, totp_uri

ISSUER = "Postern"


class PasswordAgain(Body):
    """The caller's password."""

    password: PasswordToCheck


class TotpConfirmation(Body):
    """The current code of the authenticator app."""

    code: CodeText


class PasswordAndCode(Body):
    """The caller's password, and a code of the authenticator app or a recovery code."""

    password: PasswordToCheck
    code: CodeText


class DeveloperTotpEnrolment(Record):
    """The key to enter in an authenticator app, and the `otpauth://` URI to show as a QR code."""

    secret: str
    uri: str


class DeveloperRecoveryCodes(Record):
    """Ten codes, each of which replaces the app's code once. Only this response contains them."""

    recovery_codes: list[str]


@post(
    "/auth/mfa/totp",
    accepts=DEVELOPER_ONLY,
    problems=[MfaAlreadyEnabled, PasswordWrong, LockedOut],
    example={"password": "correct horse battery"},
)
async def enrol_developer_totp(call: Call, data: PasswordAgain) -> DeveloperTotpEnrolment:
    """Start to set up an authenticator app. The second factor is on once `/auth/mfa/totp/confirm` gets a first code."""
    caller_row = await require_password(call, data.password)
    async with call.db.transaction() as tx:
        developer = await lock_proven_developer(tx, caller_row)
        secret = await second_factor.enrol(tx, call, developer.subject)
        if secret is None:
            raise MfaAlreadyEnabled
    uri = totp_uri(secret, issuer=ISSUER, account=developer.email)
    return DeveloperTotpEnrolment(secret=totp_key(secret), uri=uri)


@post(
    "/auth/mfa/totp/confirm",
    accepts=DEVELOPER_ONLY,
    problems=[MfaAlreadyEnabled, MfaNotEnrolled, CodeWrong, LockedOut],
    example={"code": "123456"},
)
async def confirm_developer_totp(call: Call, data: TotpConfirmation) -> DeveloperRecoveryCodes:
    """Turn the second factor on with a first code of the authenticator app. Your other sessions end."""
    assert call.caller.actor_id
    throttle(call, ATTEMPTS)
    subject = subjects.developer(call.caller.actor_id)
    enrolled = await second_factor.get(call.db, subject)
    if enrolled is None:
        raise MfaNotEnrolled
    if enrolled.confirmed_at is not None:
        raise MfaAlreadyEnabled
    if await use_second_factor(call, subject, data.code) is None:
        raise CodeWrong
    async with call.db.transaction() as tx:
        developer = await lock_caller(tx, call)
        codes = await second_factor.confirm(tx, call, subject, enrolled)
        if codes is None:
            raise MfaAlreadyEnabled
        await store.set_mfa_enabled_at(tx, id=developer.id, mfa_enabled_at=call.now, now=call.now)
        await end_sessions(tx, call, developer.id, except_session_id=call.caller.credential_id)
        await enqueue_notice(tx, call, developer, "A second factor was turned on", "member.mfa_enabled")
    return DeveloperRecoveryCodes(recovery_codes=codes)


@post(
    "/auth/mfa/totp/disable",
    accepts=DEVELOPER_ONLY,
    status=204,
    problems=[MfaNotEnrolled, PasswordWrong, CodeWrong, LockedOut],
    example={"password": "correct horse battery", "code": "123456"},
)
async def disable_developer_totp(call: Call, data: PasswordAndCode) -> None:
    """Turn the second factor off, and delete its recovery codes."""
    caller_row = await require_both_factors(call, data.password, data.code)
    async with call.db.transaction() as tx:
        developer = await lock_proven_developer(tx, caller_row)
        await store.set_mfa_enabled_at(tx, id=developer.id, mfa_enabled_at=None, now=call.now)
        await second_factor.delete(tx, developer.subject)
        await enqueue_notice(tx, call, developer, "Your second factor was turned off", "member.mfa_disabled")


@post(
    "/auth/mfa/recovery-codes",
    accepts=DEVELOPER_ONLY,
    problems=[MfaNotEnrolled, PasswordWrong, CodeWrong, LockedOut],
    example={"password": "correct horse battery", "code": "123456"},
)
async def renew_developer_recovery_codes(call: Call, data: PasswordAndCode) -> DeveloperRecoveryCodes:
    """Replace the recovery codes by ten new ones."""
    caller_row = await require_both_factors(call, data.password, data.code)
    async with call.db.transaction() as tx:
        developer = await lock_proven_developer(tx, caller_row)
        codes = await second_factor.renew_recovery_codes(tx, call, developer.subject)
        await enqueue_notice(tx, call, developer, "Your recovery codes were renewed", "member.recovery_codes_renewed")
    return DeveloperRecoveryCodes(recovery_codes=codes)


async def require_both_factors(call: Call, password: str, code: str) -> DeveloperRow:
    """Check the password and the second factor of the caller, use up the code, and return the caller's row. The
    operation must pass it to `lock_proven_developer`.

    Raises PasswordWrong, MfaNotEnrolled, CodeWrong, LockedOut and TooManyRequests.
    """
    caller_row = await require_password(call, password)
    if caller_row.mfa_enabled_at is None:
        raise MfaNotEnrolled
    if await use_second_factor(call, caller_row.subject, code) is None:
        raise CodeWrong
    return caller_row


async def lock_caller(tx: Transaction, call: Call) -> DeveloperRow:
    """Lock and return the row of the calling developer. Raises CredentialInvalid if it was deleted."""
    assert call.caller.actor_id
    developer = await store.lock_developer(tx, id=call.caller.actor_id)
    if developer is None:
        raise CredentialInvalid
    return developer


async def enqueue_notice(
    tx: Transaction, call: Call, developer: DeveloperRow, change: str, action: str, **details: Any
) -> None:
    """Queue a mail that informs a developer of a change, and record the change in the audit log as `action`.

    `change` is the subject of the mail, such as "A passkey was added"; the text adds "for your developer account".
    """
    await enqueue_security_mail(
        tx, call, developer.account_id, developer.email, change, f"{change} for your developer account."
    )
    await audit.record(tx, call, action, "Member", developer.id, account_wide=True, **details)
