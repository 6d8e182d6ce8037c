"""SQL of the audit log."""

from collections.abc import AsyncIterator
from uuid import UUID

from postern.audit.model import AuditEntry, ChainedEntry
from postern.kernel.clock import Moment
from postern.kernel.database import Jsonb, Queries, Transaction, rows_of, statement
from postern.kernel.values import Record


class Head(Record):
    """Where a chain ends."""

    seq: int
    hash: bytes


@statement("""
    insert into audit_heads as head (chain_id, seq, hash) values (%(chain_id)s, 1, %(genesis)s)
    on conflict (chain_id) do update set seq = head.seq + 1
    returning seq, hash
""")
async def lengthen(tx: Transaction, *, chain_id: UUID, genesis: bytes) -> Head: ...


@statement("""
    with head as (update audit_heads set hash = %(hash)s where chain_id = %(chain_id)s)
    insert into audit_log (chain_id, seq, id, account_id, actor_type, actor_id, actor_email, action, target_type,
                           target_id, metadata, ip_address, salt, details_digest, hash, created_at)
    values (%(chain_id)s, %(seq)s, %(id)s, %(account_id)s, %(actor_type)s, %(actor_id)s, %(actor_email)s, %(action)s,
            %(target_type)s, %(target_id)s, %(metadata)s, %(ip_address)s, %(salt)s, %(details_digest)s, %(hash)s,
            %(created_at)s)
""")
async def append(
    tx: Transaction,
    *,
    chain_id: UUID,
    seq: int,
    id: UUID,
    account_id: UUID,
    actor_type: str,
    actor_id: UUID | None,
    actor_email: str | None,
    action: str,
    target_type: str,
    target_id: str | None,
    metadata: Jsonb,
    ip_address: str | None,
    salt: bytes,
    details_digest: bytes,
    hash: bytes,
    created_at: Moment,
) -> None: ...


@statement("""
    select id, actor_email, action, target_type, target_id, metadata, created_at from audit_log
    where chain_id = %(chain_id)s and target_id = any (%(target_ids)s)
    order by seq desc limit %(limit)s offset %(offset)s
""")
async def of_targets(
    db: Queries, *, chain_id: UUID, target_ids: list[str], limit: int, offset: int
) -> list[AuditEntry]: ...


@statement("""
    select id, actor_email, action, target_type, target_id, metadata, created_at from audit_log
    where chain_id = %(chain_id)s and target_id = any (%(target_ids)s)
      and (%(before)s::timestamptz is null or (created_at, id) < (%(before)s, %(before_id)s::uuid))
    order by created_at desc, id desc limit %(limit)s
""")
async def entries_before(
    db: Queries,
    *,
    chain_id: UUID,
    target_ids: list[str],
    before: Moment | None,
    before_id: UUID | None,
    limit: int,
) -> list[AuditEntry]: ...


@statement("""
    select count(*)::int from audit_log where chain_id = %(chain_id)s and target_id = any (%(target_ids)s)
""")
async def count_of_targets(db: Queries, *, chain_id: UUID, target_ids: list[str]) -> int: ...


@rows_of("select * from audit_log where chain_id = %(chain_id)s order by seq")
def chain(tx: Transaction, *, chain_id: UUID) -> AsyncIterator[ChainedEntry]: ...


@statement("select seq, hash from audit_heads where chain_id = %(chain_id)s")
async def head(db: Queries, *, chain_id: UUID) -> Head | None: ...


@statement("""
    update audit_log set metadata = '{}', actor_email = null, ip_address = null, salt = ''
    where chain_id = %(chain_id)s and target_id = %(target_id)s
""")
async def erase_details(tx: Transaction, *, chain_id: UUID, target_id: str) -> None: ...
