"""HTTP operations on the members of an account: invitations, roles, leaving, and transfer of ownership.

Every change of members first locks the account's row, which serialises such changes. An index ensures that there is at
most one owner; refusing to remove the owner ensures that there is at least one.
"""

from dataclasses import replace
from datetime import timedelta
from uuid import UUID

from postern.kernel.database.statements import Transaction
from postern.kernel.http.call import Call, CredentialInvalid, PermissionMissing
from postern.kernel.http.operation import DEVELOPER_ONLY, delete, get, patch, post
from postern.kernel.http.pagination import Cursor, LinkedList, ListLimit, before_id, linked_list
from postern.kernel.http.problems import require_found
from postern.kernel.limits import RateLimit, TooManyRequests
from postern.kernel.values import Body, new_id
from postern.platform.accounts import store
from postern.platform.accounts.deletion import begin_account_deletion
from postern.platform.accounts.mailer import AccountMailRequest, enqueue_mail, enqueue_security_mail
from postern.platform.accounts.model import (
    INVITATION_LIFE,
    MEMBERS_LIMIT,
    Account,
    AccountInvitation,
    AccountInvitationMissing,
    AccountMember,
    AccountMemberMissing,
    AlreadyAccountMember,
    AlreadyOwner,
    EmailText,
    InvitedRole,
    LinkInvalid,
    LockedOut,
    OwnerStays,
    OwnsAnAccount,
    PasswordToCheck,
    PasswordWrong,
    TokenText,
    TooManyAccountMembers,
)
from postern.platform.accounts.operations import (
    caller_of,
    count_invalid_links,
    lock_proven_developer,
    read_email,
    require_password,
    take_invitation,
)
from postern.platform.audit import operations as audit
from postern.platform.projects.permissions import ROLE_PERMISSIONS
from postern.security.secrets import new_token

INVITATION_RATE = RateLimit("account-invitation", 100, timedelta(days=1))
"""Invitations that one account may send in a day."""
INVITED_RATE = RateLimit("account-invitation-to", 10, timedelta(days=1))
"""Invitations that one address may get from all accounts in a day."""


class NewAccountInvitation(Body):
    """The address to invite, and the role of the new member."""

    email: EmailText
    role: InvitedRole = "DEVELOPER"


class AccountMemberRoleChange(Body):
    """The new role of a member."""

    role: InvitedRole


class OwnershipTransfer(Body):
    """The owner's password."""

    password: PasswordToCheck


class AccountInvitationAcceptance(Body):
    """The token from the mail of the invitation."""

    token: TokenText
    delete_my_account: bool = False
    """Delete the account that you own, with all its data. Possible only if you are its only member."""
    password: PasswordToCheck | None = None
    """Required with `deleteMyAccount`."""


@get("/account/members", needs="account:read", accepts=DEVELOPER_ONLY)
async def list_account_members(
    call: Call, limit: ListLimit = 1_000, cursor: Cursor | None = None
) -> LinkedList[AccountMember]:
    """List the members of your account, newest first."""
    before = before_id(call, "members", cursor)
    rows = await store.members(call.db, account_id=call.account_id, before=before, limit=limit + 1)
    return linked_list(call, "members", rows, limit)


@get("/account/invitations", needs="account:read", accepts=DEVELOPER_ONLY)
async def list_account_invitations(
    call: Call, limit: ListLimit = 1_000, cursor: Cursor | None = None
) -> LinkedList[AccountInvitation]:
    """List the open invitations to your account, newest first, including expired ones."""
    before = before_id(call, "account-invitations", cursor)
    rows = await store.invitations(call.db, account_id=call.account_id, before=before, limit=limit + 1)
    return linked_list(call, "account-invitations", rows, limit)


@post(
    "/account/invitations",
    needs="account:write",
    accepts=DEVELOPER_ONLY,
    status=201,
    problems=[AlreadyAccountMember, TooManyAccountMembers, TooManyRequests],
    example={"email": "grace@example.com", "role": "DEVELOPER"},
)
async def invite_account_member(call: Call, data: NewAccountInvitation) -> AccountInvitation:
    """Invite a developer by mail. The invitation is valid for 7 days.

    Inviting an address again replaces its invitation; the link of the earlier one becomes invalid.
    """
    assert call.caller.actor_id
    email = read_email(data.email)
    call.world.limiter.take(INVITATION_RATE, str(call.account_id))
    call.world.limiter.take(INVITED_RATE, call.world.secrets.digest("account-invitation-to", email.lower()).hex())
    token = new_token()
    async with call.db.transaction() as tx:
        account = await _lock_account(tx, call)
        existing = await store.developer_by_email(tx, email=email)
        if existing is not None and existing.account_id == call.account_id:
            raise AlreadyAccountMember
        if await store.count_members(tx, account_id=call.account_id) >= MEMBERS_LIMIT:
            raise TooManyAccountMembers
        invitation = await store.insert_invitation(
            tx,
            id=new_id(),
            account_id=call.account_id,
            email=email,
            role=data.role,
            token_hash=call.world.secrets.digest("account-invitation", token),
            invited_by=call.caller.actor_label or "",
            inviter_id=call.caller.actor_id,
            expires_at=call.now + INVITATION_LIFE,
            now=call.now,
        )
        await enqueue_mail(tx, call, call.account_id, _invitation_mail(call, invitation, account.name, token))
        await _record(tx, call, "member.invited", invitation.id, email=email, role=data.role)
    return invitation


@delete(
    "/account/invitations/{id}",
    needs="account:write",
    accepts=DEVELOPER_ONLY,
    status=204,
    problems=[AccountInvitationMissing],
)
async def revoke_account_invitation(call: Call, id: UUID) -> None:
    """Revoke an invitation; its link becomes invalid."""
    async with call.db.transaction() as tx:
        await _lock_account(tx, call)
        invitation = require_found(
            await store.delete_invitation(tx, account_id=call.account_id, id=id), AccountInvitationMissing
        )
        await _record(tx, call, "member.invitation_revoked", id, email=invitation.email)


@post(
    "/account/invitations/accept",
    accepts=DEVELOPER_ONLY,
    problems=[LinkInvalid, OwnsAnAccount, AlreadyAccountMember, PasswordWrong, LockedOut],
    example={"token": "3Jb8nQ0xVw7sK1pYt5Rz9Lm2Hc4Gd6FfA0BeUiOo"},
)
async def accept_account_invitation(call: Call, data: AccountInvitationAcceptance) -> AccountMember:
    """Become a member of the inviting account. You leave your current account.

    A developer belongs to one account. If you own one, transfer its ownership first, or, if you are its only member,
    delete it with `deleteMyAccount` and `password`. Without a developer account, sign up with `invitationToken`
    instead.
    """
    assert call.caller.actor_id
    caller_row = await require_password(call, data.password or "") if data.delete_my_account else None
    async with count_invalid_links(call), call.db.transaction() as tx:
        developer = await store.lock_developer(tx, id=call.caller.actor_id)
        if developer is None:
            raise CredentialInvalid
        if caller_row is not None:
            developer = await lock_proven_developer(tx, caller_row)
        invitation = await take_invitation(tx, call, data.token, developer.email)
        if invitation.account_id == developer.account_id:
            raise AlreadyAccountMember
        if developer.role == "OWNER":
            await _delete_own_account(tx, call, data)
        await store.delete_invitations_sent_by(tx, inviter_id=developer.id)
        await store.move_developer(
            tx, id=developer.id, account_id=invitation.account_id, role=invitation.role, now=call.now
        )
        member = await _require_member(tx, invitation.account_id, developer.id)
        joined = await store.developer(tx, id=developer.id)
        assert joined
        # The audit entry belongs to the account that the developer has joined.
        joined_call = replace(call, caller=caller_of(joined, call.caller.credential_id))
        await _record(tx, joined_call, "member.joined", member.id, role=member.role)
    return member


@patch(
    "/account/members/{user_id}",
    needs="account:write",
    accepts=DEVELOPER_ONLY,
    problems=[AccountMemberMissing, OwnerStays],
    example={"role": "ADMIN"},
)
async def change_account_member_role(call: Call, user_id: UUID, data: AccountMemberRoleChange) -> AccountMember:
    """Change the role of a member. It applies from the member's next request on.

    If the member may no longer invite, their open invitations are revoked.
    """
    async with call.db.transaction() as tx:
        await _lock_account(tx, call)
        before = await _require_member(tx, call.account_id, user_id)
        if before.role == "OWNER":
            raise OwnerStays
        await store.set_role(tx, account_id=call.account_id, id=user_id, role=data.role, now=call.now)
        if "account:write" not in ROLE_PERMISSIONS[data.role]:
            await store.delete_invitations_sent_by(tx, inviter_id=user_id)
        member = await _require_member(tx, call.account_id, user_id)
        await _record(tx, call, "member.role_changed", user_id, before=before.role, role=data.role)
    return member


@delete(
    "/account/members/{user_id}",
    needs="account:write",
    accepts=DEVELOPER_ONLY,
    status=204,
    problems=[AccountMemberMissing, OwnerStays],
)
async def remove_account_member(call: Call, user_id: UUID) -> None:
    """Remove a member. Their developer account is deleted, and their next request is refused.

    Their open invitations are revoked.
    """
    async with call.db.transaction() as tx:
        await _lock_account(tx, call)
        member = await _require_member(tx, call.account_id, user_id)
        await _remove_member(tx, call, member, "member.removed")


@post("/account/leave", accepts=DEVELOPER_ONLY, status=204, problems=[OwnerStays])
async def leave_account(call: Call) -> None:
    """Leave the account. Your developer account is deleted. The owner must transfer ownership first."""
    assert call.caller.actor_id
    async with call.db.transaction() as tx:
        await _lock_account(tx, call)
        member = await _require_member(tx, call.account_id, call.caller.actor_id)
        await _remove_member(tx, call, member, "member.left")


@post(
    "/account/members/{user_id}/transfer-ownership",
    needs="account:own",
    accepts=DEVELOPER_ONLY,
    problems=[AccountMemberMissing, AlreadyOwner, PasswordWrong, LockedOut],
    example={"password": "correct horse battery"},
)
async def transfer_account_ownership(call: Call, user_id: UUID, data: OwnershipTransfer) -> AccountMember:
    """Make another member the owner; you become an ADMIN. Requires your password."""
    assert call.caller.actor_id
    caller_row = await require_password(call, data.password)
    async with call.db.transaction() as tx:
        account = await _lock_account(tx, call)
        await lock_proven_developer(tx, caller_row)
        owner = await _require_member(tx, call.account_id, call.caller.actor_id)
        member = await _require_member(tx, call.account_id, user_id)
        if owner.role != "OWNER":  # Ownership was transferred concurrently.
            raise PermissionMissing("Only the owner can transfer the account.")
        if member.id == owner.id:
            raise AlreadyOwner
        await store.set_role(tx, account_id=call.account_id, id=owner.id, role="ADMIN", now=call.now)
        await store.set_role(tx, account_id=call.account_id, id=member.id, role="OWNER", now=call.now)
        await enqueue_security_mail(
            tx,
            call,
            account.id,
            member.email,
            "You are now the owner of an account",
            f"{owner.email} made you the owner of the account “{account.name}”.",
        )
        await _record(tx, call, "account.ownership_transferred", member.id, before=str(owner.id))
        return await _require_member(tx, call.account_id, user_id)


async def _lock_account(tx: Transaction, call: Call) -> Account:
    account = await store.lock_account(tx, id=call.account_id)
    if account is None:
        raise CredentialInvalid
    return account


async def _require_member(tx: Transaction, account_id: UUID, id: UUID) -> AccountMember:
    return require_found(await store.member(tx, account_id=account_id, id=id), AccountMemberMissing)


async def _remove_member(tx: Transaction, call: Call, member: AccountMember, action: str) -> None:
    if member.role == "OWNER":
        raise OwnerStays
    await store.delete_developer(tx, account_id=call.account_id, id=member.id)
    await _record(tx, call, action, member.id, email=member.email, role=member.role)


async def _delete_own_account(tx: Transaction, call: Call, data: AccountInvitationAcceptance) -> None:
    """Start to delete the account of an owner who joins another one. Raises OwnsAnAccount unless that is requested."""
    await _lock_account(tx, call)
    if not data.delete_my_account or await store.count_members(tx, account_id=call.account_id) > 1:
        raise OwnsAnAccount
    await begin_account_deletion(tx, call)


async def _record(tx: Transaction, call: Call, action: str, target_id: UUID, **metadata: str) -> None:
    """Record a change of a member in the audit log of the account."""
    await audit.record(tx, call, action, "Member", target_id, account_wide=True, **metadata)


def _invitation_mail(call: Call, invitation: AccountInvitation, account_name: str, token: str) -> AccountMailRequest:
    values = {
        "inviter": invitation.invited_by,
        "account": account_name,
        "role": invitation.role,
        "link": f"{call.world.settings.public_url}/join?token={token}",
    }
    return AccountMailRequest(to=invitation.email, template="accounts/invitation", values=values)
