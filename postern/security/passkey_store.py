"""SQL of passkeys."""

from uuid import UUID

from postern.kernel.database.statements import Queries, Transaction, statement
from postern.kernel.values import Moment, Record


class PasskeyRow(Record):
    """The stored row of a passkey."""

    id: UUID
    subject_id: UUID
    credential_id: bytes
    user_handle: bytes | None
    """The user handle that the authenticator stores; None if the passkey's customer was merged into another one (see
    `move`) before user handles were stored here."""
    public_key: bytes
    sign_count: int
    backed_up: bool
    name: str
    created_at: Moment
    last_used_at: Moment | None


# Insert a passkey. Returns None if its credential is registered in the project already.
@statement("""
    insert into passkeys (project_id, id, subject_id, credential_id, user_handle, public_key, sign_count, backed_up,
                          name, created_at)
    values (%(project_id)s, %(id)s, %(subject_id)s, %(credential_id)s, %(user_handle)s, %(public_key)s,
            %(sign_count)s, %(backed_up)s, %(name)s, %(now)s)
    on conflict do nothing
    returning *
""")
async def insert(
    tx: Transaction,
    *,
    project_id: UUID,
    id: UUID,
    subject_id: UUID,
    credential_id: bytes,
    user_handle: bytes | None,
    public_key: bytes,
    sign_count: int,
    backed_up: bool,
    name: str,
    now: Moment,
) -> PasskeyRow | None: ...


# Return the passkey with this WebAuthn credential id.
@statement("select * from passkeys where project_id = %(project_id)s and credential_id = %(credential_id)s")
async def by_credential(db: Queries, *, project_id: UUID, credential_id: bytes) -> PasskeyRow | None: ...


# Return the passkeys of a subject, newest first.
@statement("""
    select * from passkeys where project_id = %(project_id)s and subject_id = %(subject_id)s order by id desc
""")
async def of_subject(db: Queries, *, project_id: UUID, subject_id: UUID) -> list[PasskeyRow]: ...


# Record a sign-in with a passkey. Returns False, and changes nothing, if the signature counter did not increase, which
# may mean a cloned authenticator (WebAuthn §7.2, step 22). Authenticators whose counter stays 0 are accepted.
@statement("""
    update passkeys set sign_count = %(sign_count)s, backed_up = %(backed_up)s, last_used_at = %(now)s
    where project_id = %(project_id)s and id = %(id)s and (sign_count = 0 or sign_count < %(sign_count)s)
""")
async def record_use(
    tx: Transaction, *, project_id: UUID, id: UUID, sign_count: int, backed_up: bool, now: Moment
) -> bool: ...


# Rename a passkey of a subject. Returns None if the subject has no such passkey.
@statement("""
    update passkeys set name = %(name)s
    where project_id = %(project_id)s and subject_id = %(subject_id)s and id = %(id)s
    returning *
""")
async def rename(tx: Transaction, *, project_id: UUID, subject_id: UUID, id: UUID, name: str) -> PasskeyRow | None: ...


# Delete the passkey `id` of a subject, or all if `id` is None. Returns whether any existed.
@statement("""
    delete from passkeys
    where project_id = %(project_id)s and subject_id = %(subject_id)s and (%(id)s::uuid is null or id = %(id)s)
""")
async def delete(tx: Transaction, *, project_id: UUID, subject_id: UUID, id: UUID | None) -> bool: ...


@statement("""
    update passkeys set subject_id = %(survivor)s where project_id = %(project_id)s and subject_id = %(loser)s
""")
async def move(tx: Transaction, *, project_id: UUID, survivor: UUID, loser: UUID) -> None:
    """Give the passkeys of the customer `loser`, who is merged into `survivor`, to the survivor."""
