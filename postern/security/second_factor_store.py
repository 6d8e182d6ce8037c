"""SQL of second factors and recovery codes."""

from uuid import UUID

from postern.kernel.database.statements import Queries, Transaction, statement
from postern.kernel.values import Moment, Record


class SecondFactor(Record):
    """The TOTP factor of a subject: enrolled, and turned on once `confirmed_at` is set."""

    project_id: UUID
    subject_id: UUID
    secret: bytes
    """Encrypted."""
    confirmed_at: Moment | None
    used_step: int
    """The latest 30-second time step whose code was used (RFC 6238 §4.2); 0 if none was."""


# Store a new encrypted secret. Returns False, and changes nothing, if a second factor is on.
@statement("""
    insert into second_factors as existing (project_id, subject_id, secret, created_at)
    values (%(project_id)s, %(subject_id)s, %(secret)s, %(now)s)
    on conflict (project_id, subject_id) do update
        set secret = excluded.secret, created_at = excluded.created_at, used_step = 0
        where existing.confirmed_at is null
""")
async def enrol(tx: Transaction, *, project_id: UUID, subject_id: UUID, secret: bytes, now: Moment) -> bool: ...


@statement("select * from second_factors where project_id = %(project_id)s and subject_id = %(subject_id)s")
async def get(db: Queries, *, project_id: UUID, subject_id: UUID) -> SecondFactor | None: ...


# Record that the code of a time step was used. Returns False for a replay: the code of this or a later step was used.
@statement("""
    update second_factors set used_step = %(step)s
    where project_id = %(project_id)s and subject_id = %(subject_id)s and used_step < %(step)s
""")
async def use_step(tx: Transaction, *, project_id: UUID, subject_id: UUID, step: int) -> bool: ...


# Turn the second factor on. Returns False if it is on, or if another enrolment replaced the secret since the code was
# checked; `secret` is the encrypted one that was read then.
@statement("""
    update second_factors set confirmed_at = %(now)s
    where project_id = %(project_id)s and subject_id = %(subject_id)s and confirmed_at is null
      and secret = %(secret)s
""")
async def confirm(tx: Transaction, *, project_id: UUID, subject_id: UUID, secret: bytes, now: Moment) -> bool: ...


# Store a second factor and turn it on, for enrolment during a sign-in, which checks a code before anything is stored.
# Returns False, and changes nothing, if a second factor is on already.
@statement("""
    insert into second_factors as existing (project_id, subject_id, secret, used_step, created_at, confirmed_at)
    values (%(project_id)s, %(subject_id)s, %(secret)s, %(step)s, %(now)s, %(now)s)
    on conflict (project_id, subject_id) do update
        set secret = excluded.secret, used_step = excluded.used_step, created_at = excluded.created_at,
            confirmed_at = excluded.confirmed_at
        where existing.confirmed_at is null
""")
async def insert_confirmed(
    tx: Transaction, *, project_id: UUID, subject_id: UUID, secret: bytes, step: int, now: Moment
) -> bool: ...


@statement("""
    with codes as (
        delete from recovery_codes where project_id = %(project_id)s and subject_id = %(subject_id)s
    )
    delete from second_factors where project_id = %(project_id)s and subject_id = %(subject_id)s
""")
async def delete(tx: Transaction, *, project_id: UUID, subject_id: UUID) -> None:
    """Delete the second factor and the recovery codes of a subject."""


@statement("delete from recovery_codes where project_id = %(project_id)s and subject_id = %(subject_id)s")
async def delete_recovery_codes(tx: Transaction, *, project_id: UUID, subject_id: UUID) -> None: ...


@statement("""
    insert into recovery_codes (project_id, subject_id, hash)
    select %(project_id)s, %(subject_id)s, unnest(%(hashes)s::bytea[])
""")
async def insert_recovery_codes(
    tx: Transaction, *, project_id: UUID, subject_id: UUID, hashes: list[bytes]
) -> None: ...


# Delete a recovery code. The hash of a code depends on the subject, so `hashes` has one for the subject and one for
# each customer that was merged into it. Returns False if there is no such code.
@statement("""
    delete from recovery_codes
    where project_id = %(project_id)s and subject_id = %(subject_id)s and hash = any (%(hashes)s::bytea[])
""")
async def use_recovery_code(tx: Transaction, *, project_id: UUID, subject_id: UUID, hashes: list[bytes]) -> bool: ...


@statement("""
    select count(*)::int from recovery_codes where project_id = %(project_id)s and subject_id = %(subject_id)s
""")
async def count_recovery_codes(db: Queries, *, project_id: UUID, subject_id: UUID) -> int: ...


@statement("""
    with codes as (
        update recovery_codes set subject_id = %(survivor)s
        where project_id = %(project_id)s and subject_id = %(loser)s
    )
    update second_factors set subject_id = %(survivor)s, secret = %(secret)s
    where project_id = %(project_id)s and subject_id = %(loser)s
""")
async def move(tx: Transaction, *, project_id: UUID, survivor: UUID, loser: UUID, secret: bytes) -> None:
    """Move the second factor and the recovery codes of `loser`, which is merged into `survivor`.

    `secret` is encrypted anew, because the ciphertext is bound to the subject.
    """
