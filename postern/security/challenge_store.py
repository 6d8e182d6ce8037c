"""SQL of challenges; see `challenges`. Rows of developers have the project_id NO_ID."""

from typing import Final
from uuid import UUID

from postern.kernel.database.statements import Queries, Transaction, statement
from postern.kernel.values import Moment, Record


class ChallengeRow(Record):
    """The stored row of a challenge."""

    project_id: UUID
    id: UUID
    subject_id: UUID | None
    identifier: bytes | None
    secret_hash: bytes
    tries: int
    data: bytes


COLUMNS: Final = "project_id, id, subject_id, identifier, secret_hash, tries, data"
"""The fields of ChallengeRow. Not `*`: a later column would make statements fail that are prepared already."""


@statement("""
    insert into challenges (project_id, id, purpose, subject_id, identifier, secret_hash, data, expires_at, created_at,
                            due_at)
    values (%(project_id)s, %(id)s, %(purpose)s, %(subject_id)s, %(identifier)s, %(secret_hash)s, %(data)s,
            %(expires_at)s, %(now)s, %(expires_at)s)
""")
async def insert(
    db: Queries,
    *,
    project_id: UUID,
    id: UUID,
    purpose: str,
    subject_id: UUID | None,
    identifier: bytes | None,
    secret_hash: bytes,
    data: bytes,
    expires_at: Moment,
    now: Moment,
) -> None: ...


# Count a try and return the row; None if the challenge does not exist, has expired, or has no tries left.
# Call this before the answer is compared, so that concurrent guesses cannot exceed the limit.
@statement(f"""
    update challenges set tries = tries + 1
    where project_id = %(project_id)s and id = %(id)s and purpose = %(purpose)s and tries < %(max_tries)s
      and expires_at > %(now)s
    returning {COLUMNS}
""")
async def count_try(
    db: Queries, *, project_id: UUID, id: UUID, purpose: str, max_tries: int, now: Moment
) -> ChallengeRow | None: ...


# Return a challenge that has not expired, without counting a try.
@statement(f"""
    select {COLUMNS} from challenges
    where project_id = %(project_id)s and id = %(id)s and purpose = %(purpose)s and expires_at > %(now)s
""")
async def get(db: Queries, *, project_id: UUID, id: UUID, purpose: str, now: Moment) -> ChallengeRow | None: ...


# Return up to 100 challenges of a subject that have not expired, newest first.
@statement(f"""
    select {COLUMNS} from challenges
    where project_id = %(project_id)s and subject_id = %(subject_id)s and purpose = %(purpose)s
      and expires_at > %(now)s
    order by id desc limit 100
""")
async def open_of_subject(
    db: Queries, *, project_id: UUID, subject_id: UUID, purpose: str, now: Moment
) -> list[ChallengeRow]: ...


# Delete a challenge that was answered. Returns False if it was deleted before: only one transaction can use it.
@statement("delete from challenges where project_id = %(project_id)s and id = %(id)s")
async def delete(tx: Transaction, *, project_id: UUID, id: UUID) -> bool: ...


@statement("""
    delete from challenges where project_id = %(project_id)s and subject_id = %(subject_id)s
      and (cardinality(%(purposes)s::text[]) = 0 or purpose = any (%(purposes)s::text[]))
""")
async def delete_of_subject(tx: Transaction, *, project_id: UUID, subject_id: UUID, purposes: list[str]) -> None:
    """Delete the challenges of a subject with one of `purposes`, or all if `purposes` is empty."""


@statement("delete from challenges where project_id = %(project_id)s and identifier = %(identifier)s")
async def delete_of_identifier(tx: Transaction, *, project_id: UUID, identifier: bytes) -> None:
    """Delete the challenges that were mailed to the address with this identifier."""


@statement("""
    delete from challenges where project_id = %(project_id)s and id = any (%(ids)s) and expires_at <= %(now)s
""")
async def delete_expired(db: Queries, *, project_id: UUID, ids: list[UUID], now: Moment) -> None:
    """Delete the challenges with these ids that have expired."""
