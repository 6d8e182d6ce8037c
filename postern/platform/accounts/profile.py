"""HTTP operations on the developer's own profile and password, and on the name of the account."""

from uuid import UUID

import msgspec

from postern.kernel.database.statements import Queries, Transaction
from postern.kernel.http.call import Call, CredentialInvalid
from postern.kernel.http.operation import DEVELOPER_ONLY, get, patch
from postern.kernel.http.problems import Invalid
from postern.kernel.limits import TooManyRequests
from postern.kernel.values import NO_ID, Body, Moment, Record
from postern.platform.accounts import store
from postern.platform.accounts.links import LINK_RATE, VerificationLink, pending_email, throttle_link
from postern.platform.accounts.mailer import enqueue_security_mail, enqueue_verification
from postern.platform.accounts.model import (
    AccountName,
    DeveloperRow,
    EmailText,
    LockedOut,
    NonEmptyName,
    Password,
    PasswordToCheck,
    PasswordWrong,
)
from postern.platform.accounts.operations import end_sessions, lock_proven_developer, read_email, require_password
from postern.platform.audit import operations as audit
from postern.platform.projects import operations as projects
from postern.platform.projects.model import Project
from postern.platform.projects.permissions import MemberRole
from postern.security import challenges, second_factor
from postern.security.breaches import PasswordBreached
from postern.security.passwords import PasswordCommon, hash_password, require_acceptable

Unset = msgspec.UnsetType
UNSET = msgspec.UNSET


class AccountSummary(Record):
    """The account that a developer belongs to."""

    id: UUID
    name: str


class AccountProfile(Record):
    """The signed-in developer, with the account and its projects."""

    id: UUID
    email: str
    name: str
    role: MemberRole
    email_verified_at: Moment | None
    pending_email: str | None
    """A new address that has not been confirmed yet."""
    mfa_enabled_at: Moment | None
    recovery_codes_left: int
    joined_at: Moment
    created_at: Moment
    updated_at: Moment
    account: AccountSummary
    projects: list[Project]


class AccountProfileChange(Body):
    """Fields to change; omitted fields keep their values."""

    name: NonEmptyName | Unset = UNSET
    email: EmailText | Unset = UNSET
    password: PasswordToCheck | None = None
    """Required to change `email`."""
    account_name: AccountName | Unset = UNSET


class DeveloperPasswordChange(Body):
    """The current password and the new one."""

    current_password: PasswordToCheck
    new_password: Password


@get("/account", accepts=DEVELOPER_ONLY, unverified=True)
async def get_account(call: Call) -> AccountProfile:
    """Get your profile, your account and its projects."""
    assert call.caller.actor_id
    return await _profile(call, call.db, call.caller.actor_id)


@patch(
    "/account",
    accepts=DEVELOPER_ONLY,
    problems=[PasswordWrong, LockedOut, TooManyRequests],
    example={"name": "Ada Lovelace", "accountName": "Acme"},
)
async def change_account(call: Call, data: AccountProfileChange) -> AccountProfile:
    """Change your name or address, or the account's name (`account:write`).

    A new address requires your `password`, and applies when you follow the link in the mail to it; until then it is
    returned as `pendingEmail`. A mail informs the old address. If another developer has the new address, that developer
    gets a mail about the attempt, without a link. Honours `If-Match`.
    """
    assert call.caller.actor_id
    if data.account_name is not UNSET:
        call.require("account:write")
    email = None if data.email is UNSET else read_email(data.email)
    caller_row = None
    if email is not None:
        if data.password is None:
            raise Invalid.at("/password", "Send your password to change the address.", "required")
        caller_row = await require_password(call, data.password)
        call.world.limiter.take(LINK_RATE, str(call.caller.actor_id))
        await throttle_link(call, VerificationLink, email, present_email=caller_row.email)
    async with call.db.transaction() as tx:
        developer = await store.lock_developer(tx, id=call.caller.actor_id)
        if developer is None:
            raise CredentialInvalid
        if caller_row is not None:
            developer = await lock_proven_developer(tx, caller_row)
        call.require_match(developer.updated_at)
        await _apply_change(tx, call, developer, data, email)
        return await _profile(call, tx, developer.id)


@patch(
    "/account/password",
    accepts=DEVELOPER_ONLY,
    status=204,
    problems=[PasswordWrong, LockedOut, PasswordCommon, PasswordBreached],
    example={"currentPassword": "correct horse battery", "newPassword": "a better horse battery"},
)
async def change_developer_password(call: Call, data: DeveloperPasswordChange) -> None:
    """Change your password. Your other sessions end.

    Links that were mailed before become invalid, including one that confirms a new address.
    """
    caller_row = await require_password(call, data.current_password)
    await require_acceptable(call.world, data.new_password, caller_row.email, path="/newPassword")
    password_hash = await hash_password(data.new_password)
    async with call.db.transaction() as tx:
        developer = await lock_proven_developer(tx, caller_row)
        await store.set_password(tx, id=developer.id, password_hash=password_hash, now=call.now)
        await end_sessions(tx, call, developer.id, except_session_id=call.caller.credential_id)
        # A person who knew the old password may have requested a new address: that link must become invalid too.
        await challenges.revoke(tx, NO_ID, developer.id)
        text = "The password of your developer account was changed."
        await enqueue_security_mail(tx, call, developer.account_id, developer.email, "Your password was changed", text)
        await audit.record(tx, call, "member.password_changed", "Member", developer.id, account_wide=True)


async def _apply_change(
    tx: Transaction, call: Call, developer: DeveloperRow, data: AccountProfileChange, email: str | None
) -> None:
    changed_fields: list[str] = []
    if data.name is not UNSET:
        await store.rename_developer(tx, id=developer.id, name=data.name, now=call.now)
        changed_fields.append("name")
    if email is not None and email.lower() != developer.email.lower():
        await enqueue_verification(tx, call, developer.account_id, developer.id, email)
        text = (
            f"A change of the address of your developer account to {email} was requested in a session signed in as you."
        )
        subject = "A change of your address was requested"
        await enqueue_security_mail(tx, call, developer.account_id, developer.email, subject, text)
        changed_fields.append("email")
    if data.account_name is not UNSET:
        await store.rename_account(tx, id=developer.account_id, name=data.account_name, now=call.now)
        await audit.record(
            tx, call, "account.renamed", "Account", developer.account_id, account_wide=True, name=data.account_name
        )
    if changed_fields:
        await audit.record(
            tx, call, "member.updated", "Member", developer.id, account_wide=True, changed=changed_fields
        )


async def _profile(call: Call, db: Queries, developer_id: UUID) -> AccountProfile:
    developer = await store.developer(db, id=developer_id)
    account = await store.account(db, id=developer.account_id) if developer else None
    if developer is None or account is None:
        raise CredentialInvalid
    return AccountProfile(
        id=developer.id,
        email=developer.email,
        name=developer.name,
        role=developer.role,
        email_verified_at=developer.email_verified_at,
        pending_email=await pending_email(db, call, developer),
        mfa_enabled_at=developer.mfa_enabled_at,
        recovery_codes_left=await second_factor.recovery_codes_left(db, developer.subject),
        joined_at=developer.joined_at,
        created_at=developer.created_at,
        updated_at=developer.updated_at,
        account=AccountSummary(id=account.id, name=account.name),
        projects=await projects.projects_of_account(db, account.id),
    )
