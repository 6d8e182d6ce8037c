"""SQL of accounts and developers."""

from uuid import UUID

from postern.kernel.database.statements import Queries, Transaction, statement
from postern.kernel.values import Moment
from postern.platform.accounts.model import (
    Account,
    AccountInvitation,
    AccountInvitationRow,
    AccountMember,
    DeveloperRow,
    DeveloperSessionView,
    SessionOwner,
)


# Insert an account. `unproven`: whether its owner has still to verify the address.
@statement("""
    insert into accounts (id, name, unproven, created_at, updated_at)
    values (%(id)s, %(name)s, %(unproven)s, %(now)s, %(now)s)
""")
async def insert_account(tx: Transaction, *, id: UUID, name: str, unproven: bool, now: Moment) -> None: ...


# Clear `unproven` (the owner's address is not verified): the owner has verified it, or the account is being deleted.
# Returns False if it was not set.
@statement("update accounts set unproven = false where id = %(id)s and unproven")
async def clear_unproven(tx: Transaction, *, id: UUID) -> bool: ...


# Return the ids of accounts whose owner has not verified their address, oldest first.
@statement("select id from accounts where unproven and created_at < %(before)s order by created_at limit %(limit)s")
async def stale_sign_ups(db: Queries, *, before: Moment, limit: int) -> list[UUID]: ...


# Insert a developer. Returns None if another developer has verified the address.
@statement("""
    insert into developers (id, account_id, email, name, role, password_hash, email_verified_at, joined_at, created_at,
                            updated_at)
    values (%(id)s, %(account_id)s, %(email)s, %(name)s, %(role)s, %(password_hash)s, %(verified_at)s, %(now)s, %(now)s,
            %(now)s)
    on conflict do nothing
    returning *
""")
async def insert_developer(
    tx: Transaction,
    *,
    id: UUID,
    account_id: UUID,
    email: str,
    name: str,
    role: str,
    password_hash: str,
    verified_at: Moment | None,
    now: Moment,
) -> DeveloperRow | None: ...


# Return the developer who has verified this address.
@statement("""
    select * from developers where lower(email) = lower(%(email)s) and email_verified_at is not null
""")
async def developer_by_email(db: Queries, *, email: str) -> DeveloperRow | None: ...


# Return the first owners with a verified address.
@statement("""
    select * from developers where role = 'OWNER' and email_verified_at is not null
    order by created_at limit %(limit)s
""")
async def first_owners(db: Queries, *, limit: int) -> list[DeveloperRow]: ...


# Return the latest developer who signed up with this address and has not verified it.
@statement("""
    select * from developers where lower(email) = lower(%(email)s) and email_verified_at is null
    order by created_at desc limit 1
""")
async def unverified_developer(db: Queries, *, email: str) -> DeveloperRow | None: ...


@statement("select * from developers where id = %(id)s")
async def developer(db: Queries, *, id: UUID) -> DeveloperRow | None: ...


@statement("update developers set last_sign_in_at = %(now)s where id = %(id)s")
async def record_sign_in(tx: Transaction, *, id: UUID, now: Moment) -> None: ...


# Replace the hash `before` by a new one. Returns False if the stored hash is another one.
@statement("""
    update developers set password_hash = %(password_hash)s where id = %(id)s and password_hash = %(before)s
""")
async def replace_password_hash(db: Queries, *, id: UUID, password_hash: str, before: str) -> bool: ...


# Return the session of an access token, also an ended one, with its developer, and whether `project_id` belongs to the
# developer's account: True if `project_id` is None, False for a deleted project.
@statement("""
    select s.id as session_id, d.id as developer_id, d.account_id, d.email, d.role, d.email_verified_at,
           s.access_expires_at, s.revoked_at,
           %(project_id)s::uuid is null
           or exists (select from projects p where p.id = %(project_id)s and p.account_id = d.account_id
                      and p.deleted_at is null)
           as owns_project
    from sessions s join developers d on d.id = s.developer_id
    where s.access_hash = %(access_hash)s /*distributed and s.project_id = '00000000-0000-0000-0000-000000000000' */
""")
async def session_owner(db: Queries, *, access_hash: bytes, project_id: UUID | None) -> SessionOwner | None: ...


@statement("""
    select s.* from sessions s join developers d on d.id = s.developer_id
    where d.account_id = %(account_id)s and (%(before)s::uuid is null or s.id < %(before)s)
      /*distributed and s.project_id = '00000000-0000-0000-0000-000000000000' */
    order by s.id desc limit %(limit)s
""")
async def sessions_of_account(
    db: Queries, *, account_id: UUID, before: UUID | None, limit: int
) -> list[DeveloperSessionView]: ...


# At most 1,000 IP addresses from which the developer who has verified this e-mail address began sessions.
@statement("""
    select distinct s.ip_address from sessions s join developers d on d.id = s.developer_id
    where lower(d.email) = lower(%(email)s) and d.email_verified_at is not null
      /*distributed and s.project_id = '00000000-0000-0000-0000-000000000000' */
    limit 1000
""")
async def session_ip_addresses(db: Queries, *, email: str) -> list[str]: ...


# Queued mail.


@statement("""
    insert into account_mails (account_id, id, sealed, due_at, created_at)
    values (%(account_id)s, %(id)s, %(sealed)s, %(now)s, %(now)s)
""")
async def insert_mail(tx: Transaction, *, account_id: UUID, id: UUID, sealed: bytes, now: Moment) -> None: ...


# Delete a queued mail. Returns False if it was deleted already.
@statement("delete from account_mails where account_id = %(account_id)s and id = %(id)s")
async def delete_mail(db: Queries, *, account_id: UUID, id: UUID) -> bool: ...


# Schedule the next attempt. Does nothing, and returns False, if another attempt has begun since.
@statement("""
    update account_mails set due_at = %(due_at)s
    where account_id = %(account_id)s and id = %(id)s and attempt = %(attempt)s
""")
async def reschedule_mail(db: Queries, *, account_id: UUID, id: UUID, attempt: int, due_at: Moment) -> bool: ...


# Whether a second factor is on. The layer `security` stores its secret.


@statement("update developers set mfa_enabled_at = %(mfa_enabled_at)s, updated_at = %(now)s where id = %(id)s")
async def set_mfa_enabled_at(tx: Transaction, *, id: UUID, mfa_enabled_at: Moment | None, now: Moment) -> None: ...


# The account and its members.


@statement("select * from accounts where id = %(id)s")
async def account(db: Queries, *, id: UUID) -> Account | None: ...


# Return and lock an account (for update).
@statement("select * from accounts where id = %(id)s for update")
async def lock_account(tx: Transaction, *, id: UUID) -> Account | None: ...


@statement("update accounts set name = %(name)s, updated_at = %(now)s where id = %(id)s")
async def rename_account(tx: Transaction, *, id: UUID, name: str, now: Moment) -> None: ...


# Return and lock a developer (for update).
@statement("select * from developers where id = %(id)s for update")
async def lock_developer(tx: Transaction, *, id: UUID) -> DeveloperRow | None: ...


@statement("update developers set name = %(name)s, updated_at = %(now)s where id = %(id)s")
async def rename_developer(tx: Transaction, *, id: UUID, name: str, now: Moment) -> None: ...


# Set the address of a developer and mark it as verified. Returns False if another developer has verified it.
@statement("""
    update developers set email = %(email)s, email_verified_at = %(now)s, updated_at = %(now)s
    where id = %(id)s
      and not exists (select from developers other where lower(other.email) = lower(%(email)s) and other.id <> %(id)s
                      and other.email_verified_at is not null)
""")
async def confirm_email(tx: Transaction, *, id: UUID, email: str, now: Moment) -> bool: ...


@statement("""
    update developers set password_hash = %(password_hash)s, updated_at = %(now)s where id = %(id)s
""")
async def set_password(tx: Transaction, *, id: UUID, password_hash: str, now: Moment) -> None: ...


@statement("""
    select id, email, name, role, mfa_enabled_at, joined_at, last_sign_in_at from developers
    where account_id = %(account_id)s and (%(before)s::uuid is null or id < %(before)s)
    order by id desc limit %(limit)s
""")
async def members(db: Queries, *, account_id: UUID, before: UUID | None, limit: int) -> list[AccountMember]: ...


@statement("""
    select id, email, name, role, mfa_enabled_at, joined_at, last_sign_in_at from developers
    where account_id = %(account_id)s and id = %(id)s
""")
async def member(db: Queries, *, account_id: UUID, id: UUID) -> AccountMember | None: ...


# Return the number of members and invitations together. An expired invitation counts until its row is deleted.
@statement("""
    select (select count(*) from developers where account_id = %(account_id)s)::int
         + (select count(*) from account_invitations where account_id = %(account_id)s)::int
""")
async def count_members(db: Queries, *, account_id: UUID) -> int: ...


@statement("""
    update developers set role = %(role)s, updated_at = %(now)s where account_id = %(account_id)s and id = %(id)s
""")
async def set_role(tx: Transaction, *, account_id: UUID, id: UUID, role: str, now: Moment) -> None: ...


# Move a developer to another account. This also marks the address as verified, because the invitation was sent to it.
@statement("""
    update developers set account_id = %(account_id)s, role = %(role)s, email_verified_at = %(now)s,
                          joined_at = %(now)s, updated_at = %(now)s
    where id = %(id)s
""")
async def move_developer(tx: Transaction, *, id: UUID, account_id: UUID, role: str, now: Moment) -> None: ...


@statement("delete from developers where account_id = %(account_id)s and id = %(id)s")
async def delete_developer(tx: Transaction, *, account_id: UUID, id: UUID) -> bool: ...


# Invitations.


# Insert an invitation, or replace the open one to the same address.
@statement("""
    insert into account_invitations (id, account_id, email, role, token_hash, invited_by, inviter_id, expires_at,
                                     created_at)
    values (%(id)s, %(account_id)s, %(email)s, %(role)s, %(token_hash)s, %(invited_by)s, %(inviter_id)s,
            %(expires_at)s, %(now)s)
    on conflict (account_id, lower(email)) do update set
        id = excluded.id, email = excluded.email, role = excluded.role, token_hash = excluded.token_hash,
        invited_by = excluded.invited_by, inviter_id = excluded.inviter_id, expires_at = excluded.expires_at,
        created_at = excluded.created_at
    returning *
""")
async def insert_invitation(
    tx: Transaction,
    *,
    id: UUID,
    account_id: UUID,
    email: str,
    role: str,
    token_hash: bytes,
    invited_by: str,
    inviter_id: UUID,
    expires_at: Moment,
    now: Moment,
) -> AccountInvitation: ...


@statement("""
    select * from account_invitations
    where account_id = %(account_id)s and (%(before)s::uuid is null or id < %(before)s)
    order by id desc limit %(limit)s
""")
async def invitations(db: Queries, *, account_id: UUID, before: UUID | None, limit: int) -> list[AccountInvitation]: ...


@statement("delete from account_invitations where account_id = %(account_id)s and id = %(id)s returning *")
async def delete_invitation(tx: Transaction, *, account_id: UUID, id: UUID) -> AccountInvitation | None: ...


@statement("select account_id from account_invitations where token_hash = %(token_hash)s")
async def account_of_invitation(tx: Transaction, *, token_hash: bytes) -> UUID | None: ...


# Use up an invitation: delete and return it. Returns None if there is no such invitation or it has expired.
@statement("""
    delete from account_invitations where token_hash = %(token_hash)s and expires_at > %(now)s returning *
""")
async def use_invitation(tx: Transaction, *, token_hash: bytes, now: Moment) -> AccountInvitationRow | None: ...


# Deletion.


# Schedule the deletion of all rows of the projects `ids`, which the caller has marked as deleted.
@statement("""
    insert into deletions (target_id, id, account_id, kind, due_at, created_at)
    select id, id, %(account_id)s, 'PROJECT', %(now)s, %(now)s from unnest(%(ids)s::uuid[]) as id
""")
async def schedule_project_deletions(tx: Transaction, *, account_id: UUID, ids: list[UUID], now: Moment) -> None: ...


# Schedule the deletion of all rows of an account.
@statement("""
    insert into deletions (target_id, id, account_id, kind, due_at, created_at)
    values (%(account_id)s, %(account_id)s, %(account_id)s, 'ACCOUNT', %(now)s, %(now)s)
""")
async def schedule_account_deletion(tx: Transaction, *, account_id: UUID, now: Moment) -> None: ...


@statement("delete from developers where account_id = %(account_id)s and id <> %(except_id)s")
async def delete_other_developers(tx: Transaction, *, account_id: UUID, except_id: UUID) -> None: ...


@statement("delete from developers where account_id = %(account_id)s")
async def delete_developers(tx: Transaction, *, account_id: UUID) -> None: ...


# Return the id of one project of the account, also of a deleted one whose rows remain.
@statement("select id from projects where account_id = %(account_id)s limit 1")
async def find_project(db: Queries, *, account_id: UUID) -> UUID | None: ...


# Schedule the next run of a deletion, and store `swept_at`, when the rows of a project were deleted for the first time,
# unless it is stored already. Does nothing, and returns False, if another run has begun since.
@statement("""
    update deletions set swept_at = coalesce(swept_at, %(swept_at)s), due_at = %(due_at)s
    where target_id = %(target_id)s and id = %(id)s and attempt = %(attempt)s
""")
async def reschedule_deletion(
    db: Queries, *, target_id: UUID, id: UUID, attempt: int, swept_at: Moment | None, due_at: Moment
) -> bool: ...


# Make the deletion of an account due if it is scheduled and no project remains.
@statement("""
    update deletions set due_at = %(now)s
    where target_id = %(account_id)s and id = %(account_id)s and kind = 'ACCOUNT'
      and not exists (select from projects where account_id = %(account_id)s)
""")
async def make_account_deletion_due(tx: Transaction, *, account_id: UUID, now: Moment) -> bool: ...


# Delete the `deletions` row of a completed deletion. Returns False if there is no such row.
@statement("delete from deletions where target_id = %(target_id)s and id = %(id)s")
async def finish_deletion(tx: Transaction, *, target_id: UUID, id: UUID) -> bool: ...


@statement("delete from account_mails where account_id = %(account_id)s")
async def delete_mails(tx: Transaction, *, account_id: UUID) -> None: ...


@statement("delete from accounts where id = %(account_id)s")
async def delete_account_row(tx: Transaction, *, account_id: UUID) -> bool: ...


@statement("delete from account_invitations where inviter_id = %(inviter_id)s")
async def delete_invitations_sent_by(tx: Transaction, *, inviter_id: UUID) -> None: ...


@statement("delete from account_invitations where account_id = %(account_id)s")
async def delete_invitations(tx: Transaction, *, account_id: UUID) -> None: ...
