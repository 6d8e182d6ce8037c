"""Audit log entries and their hash chain.

The hash of an entry covers the previous hash and a salted digest of its details. When personal data is erased, the
details and the salt are cleared, and the chain still verifies.
"""

import hashlib
from datetime import datetime
from typing import Any
from uuid import UUID

import msgspec

from postern.kernel.values import Moment, Record, timestamp, to_json

GENESIS = bytes(32)
"""The hash before the first entry of a chain."""


class AuditEntry(Record):
    """One change by a developer or a key."""

    id: UUID
    actor_email: str | None
    action: str
    target_type: str
    target_id: str | None
    metadata: dict[str, Any]
    impersonated_by_staff_email: str | None = None
    created_at: Moment


class AccountAuditEntry(AuditEntry):
    """A change in an account, with its actor and IP address; `projectId` is null for changes of the account itself."""

    project_id: UUID | None
    actor_type: str
    actor_id: UUID | None
    ip_address: str | None


class AuditFilter(msgspec.Struct, frozen=True, kw_only=True):
    """Filter of an account's entries; fields that are None match all entries."""

    action: str | None = None
    """An action such as `domain.created`, or `domain.*` for all actions with this noun."""
    target_type: str | None = None
    target_id: str | None = None
    actor_id: UUID | None = None
    project_id: UUID | None = None
    since: datetime | None = None
    until: datetime | None = None


class ChainedEntry(Record):
    """An entry with everything that its hash covers."""

    chain_id: UUID
    seq: int
    id: UUID
    account_id: UUID
    actor_type: str
    actor_id: UUID | None
    actor_email: str | None
    action: str
    target_type: str
    target_id: str | None
    metadata: dict[str, Any]
    ip_address: str | None
    salt: bytes
    details_digest: bytes
    hash: bytes
    created_at: Moment


def details_digest(salt: bytes, actor_email: str | None, ip_address: str | None, metadata: dict[str, Any]) -> bytes:
    """The salted SHA-256 digest of the details that can be erased."""
    return hashlib.sha256(salt + to_json([actor_email, ip_address, sorted(metadata.items())])).digest()


def entry_hash(previous: bytes, entry: ChainedEntry) -> bytes:
    """SHA-256 over the previous hash and the fields of the entry that are never erased."""
    permanent_fields = [
        str(entry.chain_id),
        entry.seq,
        str(entry.id),
        entry.actor_type,
        str(entry.actor_id),
        entry.action,
        entry.target_type,
        entry.target_id,
        timestamp(entry.created_at),
        entry.details_digest.hex(),
    ]
    return hashlib.sha256(previous + to_json(permanent_fields)).digest()
