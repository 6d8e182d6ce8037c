"""SQL of the audit log."""

from collections.abc import AsyncIterator
from uuid import UUID

from postern.kernel.database.statements import Queries, Transaction, statement, streamed_statement
from postern.kernel.values import Moment, Record
from postern.platform.audit.model import AccountAuditEntry, AuditEntry, AuditFilter, ChainedEntry


class ChainHead(Record):
    """Sequence number and hash of the last entry of a chain."""

    seq: int
    hash: bytes


# Increase the sequence number of a chain, or begin it; locks its head until the transaction ends. Returns the new
# number with the hash of the previous entry (`genesis` if there is none).
@statement("""
    insert into audit_heads as head (chain_id, seq, hash) values (%(chain_id)s, 1, %(genesis)s)
    on conflict (chain_id) do update set seq = head.seq + 1
    returning seq, hash
""")
async def extend_chain(tx: Transaction, *, chain_id: UUID, genesis: bytes) -> ChainHead: ...


# Insert an entry, and store its hash as head of the chain.
@statement("""
    with head as (update audit_heads set hash = %(hash)s where chain_id = %(chain_id)s)
    insert into audit_log {row}
""")
async def append_entry(tx: Transaction, entry: ChainedEntry) -> None: ...


# Entries of a chain about any of the records `target_ids`, newest first, before the entry `before` if it is not None.
@statement("""
    select id, actor_email, action, target_type, target_id, metadata, created_at from audit_log
    where chain_id = %(chain_id)s and target_id = any (%(target_ids)s)
      and (%(before)s::uuid is null
           or seq < (select seq from audit_log where chain_id = %(chain_id)s and id = %(before)s))
    order by seq desc limit %(limit)s offset %(offset)s
""")
async def of_targets(
    db: Queries, *, chain_id: UUID, target_ids: list[str], before: UUID | None, limit: int, offset: int
) -> list[AuditEntry]: ...


# Entries of a chain about any of the records `target_ids`, newest first, before the position (`before`, `before_id`)
# unless `before` is None.
@statement("""
    select id, actor_email, action, target_type, target_id, metadata, created_at, chain_id as project_id, actor_type,
           actor_id, ip_address
    from audit_log
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
) -> list[AccountAuditEntry]: ...


@statement("""
    select count(*)::int from audit_log where chain_id = %(chain_id)s and target_id = any (%(target_ids)s)
""")
async def count_of_targets(db: Queries, *, chain_id: UUID, target_ids: list[str]) -> int: ...


@streamed_statement("select * from audit_log where chain_id = %(chain_id)s order by seq")
def chain(tx: Transaction, *, chain_id: UUID) -> AsyncIterator[ChainedEntry]: ...


@statement("select chain_id from audit_heads order by chain_id")
async def chains(db: Queries) -> list[UUID]: ...


@statement("select seq, hash from audit_heads where chain_id = %(chain_id)s")
async def head(db: Queries, *, chain_id: UUID) -> ChainHead | None: ...


# Erase actor, IP address, metadata and salt of the entries about a record.
@statement("""
    update audit_log set metadata = '{}', actor_email = null, ip_address = null, salt = ''
    where chain_id = %(chain_id)s and target_id = %(target_id)s
""")
async def erase_details(tx: Transaction, *, chain_id: UUID, target_id: str) -> None: ...


ENTRIES_OF_ACCOUNT = """
    from audit_log
    where account_id = %(account_id)s
      and (%(action)s::text is null or action = %(action)s
           or right(%(action)s, 2) = '.*' and starts_with(action, left(%(action)s, -1)))
      and (%(target_type)s::text is null or target_type = %(target_type)s)
      and (%(target_id)s::text is null or target_id = %(target_id)s)
      and (%(actor_id)s::uuid is null or actor_id = %(actor_id)s)
      and (%(project_id)s::uuid is null or chain_id = %(project_id)s)
      and (%(since)s::timestamptz is null or created_at >= %(since)s)
      and (%(until)s::timestamptz is null or created_at < %(until)s)
"""


@statement(
    """
    select id, actor_email, action, target_type, target_id, metadata, created_at, actor_type, actor_id, ip_address,
           nullif(chain_id, account_id) as project_id
    """
    + ENTRIES_OF_ACCOUNT
    + """
      and (%(before)s::uuid is null or id < %(before)s)
    order by id desc limit %(limit)s offset %(offset)s
    """
)
async def of_account(
    db: Queries, audit_filter: AuditFilter, *, account_id: UUID, before: UUID | None, limit: int, offset: int
) -> list[AccountAuditEntry]: ...


@statement("select count(*)::int" + ENTRIES_OF_ACCOUNT)
async def count_of_account(db: Queries, audit_filter: AuditFilter, *, account_id: UUID) -> int: ...


# Delete up to `limit` entries of an account and the heads of their chains; returns the number of entries.
@statement("""
    with deleted as (
        delete from audit_log where account_id = %(account_id)s
          /*single*/and ctid = any(array(select ctid from audit_log where account_id = %(account_id)s limit %(limit)s))
          /*end*/ /*distributed and (chain_id, seq) in (
              select chain_id, seq from audit_log where account_id = %(account_id)s limit %(limit)s) */
        returning chain_id
    ), heads as (
        delete from audit_heads where chain_id in (select chain_id from deleted)
    )
    select count(*)::int from deleted
""")
async def delete_entries(db: Queries, *, account_id: UUID, limit: int) -> int: ...


# Entries of an account and its projects after the entry `after`, oldest first.
@statement("""
    select id, actor_email, action, target_type, target_id, metadata, created_at, actor_type, actor_id, ip_address,
           nullif(chain_id, account_id) as project_id
    from audit_log where account_id = %(account_id)s and (%(after)s::uuid is null or id > %(after)s)
    order by id limit %(limit)s
""")
async def entries_after(
    db: Queries, *, account_id: UUID, after: UUID | None, limit: int
) -> list[AccountAuditEntry]: ...
