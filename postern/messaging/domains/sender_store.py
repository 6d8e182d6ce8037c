"""SQL statements of single senders."""

from uuid import UUID

from postern.kernel.database.statements import Queries, Transaction, statement
from postern.kernel.values import Moment
from postern.messaging.domains.model import StoredSender, VerifiedAddress


@statement("select count(*)::int from senders where project_id = %(project_id)s")
async def count_senders(db: Queries, *, project_id: UUID) -> int: ...


# Insert a sender; returns None if the project already has one with this address.
@statement("insert into senders {row} on conflict do nothing returning *")
async def insert_sender(tx: Transaction, sender: StoredSender) -> StoredSender | None: ...


@statement("select * from senders where project_id = %(project_id)s and id = %(id)s")
async def get_sender(db: Queries, *, project_id: UUID, id: UUID) -> StoredSender | None: ...


# The sender, locked for update.
@statement("select * from senders where project_id = %(project_id)s and id = %(id)s for update")
async def lock_sender(tx: Transaction, *, project_id: UUID, id: UUID) -> StoredSender | None: ...


@statement("select * from senders where project_id = %(project_id)s order by id desc limit %(limit)s")
async def list_senders(db: Queries, *, project_id: UUID, limit: int) -> list[StoredSender]: ...


# Replace the confirmation token and the stored DMARC policy of a sender.
@statement("""
    update senders set dmarc_policy = %(dmarc_policy)s, token_hash = %(token_hash)s,
        token_expires_at = %(token_expires_at)s, updated_at = %(now)s
    where project_id = %(project_id)s and id = %(id)s
    returning *
""")
async def set_token(tx: Transaction, sender: StoredSender, *, now: Moment) -> StoredSender: ...


@statement("""
    update senders set status = 'VERIFIED', verified_at = %(now)s, updated_at = %(now)s
    where project_id = %(project_id)s and id = %(id)s
    returning *
""")
async def mark_verified(tx: Transaction, *, project_id: UUID, id: UUID, now: Moment) -> StoredSender: ...


# Delete a sender; False if it does not exist.
@statement("delete from senders where project_id = %(project_id)s and id = %(id)s")
async def delete_sender(tx: Transaction, *, project_id: UUID, id: UUID) -> bool: ...


# The pairs of project id and lower-case address (parallel lists) that are verified senders, in any order.
@statement("""
    select s.project_id, lower(s.email) as email
    from senders s join unnest(%(project_id)s::uuid[], %(emails)s::text[]) as pair (project_id, email)
         on s.project_id = pair.project_id and lower(s.email) = pair.email
    where s.status = 'VERIFIED' /*distributed and s.project_id = :project */
""")
async def verified_among(db: Queries, *, project_id: list[UUID], emails: list[str]) -> list[VerifiedAddress]: ...
