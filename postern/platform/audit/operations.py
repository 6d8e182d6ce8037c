"""Recording, reading, erasing and verifying audit log entries."""

import os
from collections.abc import AsyncIterator
from typing import Any
from uuid import UUID

import msgspec

from postern.kernel.database.catalog import CHUNK_ROWS
from postern.kernel.database.statements import Database, Queries, Transaction
from postern.kernel.http.call import Call
from postern.kernel.http.operation import camel
from postern.kernel.http.pagination import Page, PageQuery, numbered_page
from postern.kernel.values import NO_ID, Moment, Record, new_id, to_json, to_plain
from postern.platform.audit import store
from postern.platform.audit.model import (
    GENESIS,
    AccountAuditEntry,
    AuditEntry,
    AuditFilter,
    ChainedEntry,
    details_digest,
    entry_hash,
)


class ChainReport(Record):
    """The result of verifying a chain."""

    entries: int
    intact: bool
    broken_at: int | None
    """Sequence number of the first entry that does not verify, or of the first missing one if the last entries are
    missing; null if the chain is intact."""


async def record(
    tx: Transaction,
    call: Call,
    action: str,
    target_type: str,
    target_id: UUID | str | None,
    *,
    account_wide: bool = False,
    **metadata: Any,
) -> None:
    """Append an entry with the caller as actor to the chain of the project, in the transaction of the change.

    With `account_wide`, or if the call has no project, the entry is appended to the chain of the account instead.
    `action` is `noun.past_tense`; `metadata` holds plain values, and their names become camelCase like all JSON. The
    head of the chain is locked until the transaction ends, so call this last.
    """
    caller = call.caller
    metadata = {camel(name): value for name, value in metadata.items()}
    chain_id = call.account_id if account_wide or call.project_id == NO_ID else call.project_id
    head = await store.extend_chain(tx, chain_id=chain_id, genesis=GENESIS)
    entry = ChainedEntry(
        chain_id=chain_id,
        seq=head.seq,
        id=new_id(),
        account_id=call.account_id,
        actor_type=caller.actor_type,
        actor_id=caller.actor_id,
        actor_email=caller.actor_label,
        action=action,
        target_type=target_type,
        target_id=None if target_id is None else str(target_id),
        metadata=to_plain(metadata),
        ip_address=call.origin.ip or None,
        salt=(salt := os.urandom(16)),
        details_digest=details_digest(salt, caller.actor_label, call.origin.ip or None, to_plain(metadata)),
        hash=b"",
        created_at=call.now,
    )
    await store.append_entry(tx, msgspec.structs.replace(entry, hash=entry_hash(head.hash, entry)))


async def of_targets(call: Call, target_ids: list[UUID], page: PageQuery) -> Page[AuditEntry]:
    """A page of the entries about any of several records (such as merged ones), newest first."""
    target_texts = [str(target_id) for target_id in target_ids]
    scope = f"audit|{','.join(target_texts)}"
    filters = {"chain_id": call.project_id, "target_ids": target_texts}
    return await numbered_page(call, scope, page, store.count_of_targets, store.of_targets, **filters)


async def entries_before(
    db: Queries, project_id: UUID, target_ids: list[UUID], *, before: Moment | None, before_id: UUID | None, limit: int
) -> list[AccountAuditEntry]:
    """Up to `limit` entries about any of several records of a project, newest first.

    Only entries created before the time `before`, or at that time with an id below `before_id`, unless `before` is
    None.
    """
    target_texts = [str(target_id) for target_id in target_ids]
    return await store.entries_before(
        db, chain_id=project_id, target_ids=target_texts, before=before, before_id=before_id, limit=limit
    )


async def verify_chain(db: Database, chain_id: UUID) -> ChainReport:
    """Recompute the chain of a project or account, and report whether it is intact and where it breaks."""
    previous, count = GENESIS, 0
    async with db.transaction() as tx:
        async for entry in store.chain(tx, chain_id=chain_id):
            count += 1
            hash_matches = entry.seq == count and entry.hash == entry_hash(previous, entry)
            if not hash_matches or not _details_match_digest(entry):
                return ChainReport(entries=count, intact=False, broken_at=entry.seq)
            previous = entry.hash
        head = await store.head(tx, chain_id=chain_id)
    intact = (head is None and count == 0) or (head is not None and head.seq == count and head.hash == previous)
    return ChainReport(entries=count, intact=intact, broken_at=None if intact else count + 1)


def _details_match_digest(entry: ChainedEntry) -> bool:
    """Whether an entry's details match its digest, or were erased completely."""
    if entry.salt == b"":
        return (entry.actor_email, entry.ip_address, entry.metadata) == (None, None, {})
    details = details_digest(entry.salt, entry.actor_email, entry.ip_address, entry.metadata)
    return details == entry.details_digest


async def chains(db: Queries) -> list[UUID]:
    """The ids of all chains, which are ids of projects and of accounts."""
    return await store.chains(db)


async def erase_details_of(tx: Transaction, project_id: UUID, target_id: UUID) -> None:
    """Erase actor, IP address and metadata of the project's entries about a record; the chain still verifies."""
    await store.erase_details(tx, chain_id=project_id, target_id=str(target_id))


async def of_account(call: Call, audit_filter: AuditFilter, page: PageQuery) -> Page[AccountAuditEntry]:
    """A page of the entries of the caller's account and of its projects, newest first."""
    scope = f"account-audit|{to_json(audit_filter).decode()}"
    statements = store.count_of_account, store.of_account
    return await numbered_page(call, scope, page, *statements, audit_filter, account_id=call.account_id)


async def all_of_account(db: Database, account_id: UUID) -> AsyncIterator[list[AccountAuditEntry]]:
    """Yield all entries of an account in chunks, oldest first."""
    after: UUID | None = None
    while rows := await store.entries_after(db, account_id=account_id, after=after, limit=CHUNK_ROWS):
        yield rows
        after = rows[-1].id


async def delete_entries(db: Database, account_id: UUID) -> int:
    """Delete up to CHUNK_ROWS entries of an account that is being deleted, and the heads of their chains. Returns the
    number of deleted entries; 0 when none remain."""
    return await store.delete_entries(db, account_id=account_id, limit=CHUNK_ROWS)
