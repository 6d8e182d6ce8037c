"""Reports that could not be processed and belong to no project: kept for the operator, and counted for the metrics.

They are kept because they do not arrive again: a complaint or bounce that names no e-mail of this server is refused
for good, and an unreadable notification of SES is acknowledged.
"""

from datetime import timedelta
from typing import TYPE_CHECKING, Any, Final
from uuid import UUID

from postern.kernel.database.statements import Transaction
from postern.kernel.due import Work
from postern.kernel.values import Moment, Record, new_id
from postern.messaging.emails import unattributed_store as store
from postern.messaging.emails.rules import storable
from postern.messaging.emails.unattributed_store import UnattributedKind, UnattributedReport, UnprocessedKind

if TYPE_CHECKING:
    from postern.world import World

UNPROCESSED_KINDS: Final[tuple[UnprocessedKind, ...]] = ("unrecognized", "complaint", "delivery", "dmarc", "ses")
"""All kinds, so that the metrics show a 0 for each kind before its first report."""

UNATTRIBUTED_OCTETS = 65_536
"""Maximum octets that are kept of a report."""
UNATTRIBUTED_KEPT = 200
"""The number of reports that are kept: the newest ones."""
UNATTRIBUTED_KEPT_FOR = timedelta(days=30)
"""How long these reports are kept."""
TEXT_CHARACTERS = 500
"""Longer senders, subjects and reasons are cut."""
LEASE = timedelta(minutes=5)


class ExpiringUnattributed(Record):
    """A row of `unattributed_reports` that is due for deletion."""

    id: UUID


async def keep_unattributed(
    tx: Transaction, kind: UnattributedKind, content: bytes, now: Moment, *, reason: str, sender: str, subject: str
) -> None:
    """Keep and count a report that could not be processed, and delete the oldest ones beyond UNATTRIBUTED_KEPT."""
    row = UnattributedReport(
        id=new_id(),
        kind=kind,
        reason=storable(reason)[:TEXT_CHARACTERS],
        sender=storable(sender)[:TEXT_CHARACTERS],
        subject=storable(subject)[:TEXT_CHARACTERS],
        size=len(content),
        message=content[:UNATTRIBUTED_OCTETS],
        received_at=now,
        due_at=Moment.of(now + UNATTRIBUTED_KEPT_FOR),
    )
    await store.insert_report(tx, row)
    await store.delete_older(tx, kept=UNATTRIBUTED_KEPT)
    await count_unprocessed(tx, kind)


async def count_unprocessed(tx: Transaction, kind: UnprocessedKind) -> None:
    """Count a report that could not be processed. Call it last in a transaction, because it locks a counter."""
    await store.count_report(tx, kind=kind)


async def delete_expired_reports(world: "World", rows: list[ExpiringUnattributed]) -> None:
    """Delete reports that were kept for UNATTRIBUTED_KEPT_FOR."""
    await store.delete_reports(world.db, ids=[row.id for row in rows])


WORK: list[Work[Any]] = [
    Work(
        "emails.unattributed_reports",
        "unattributed_reports",
        ExpiringUnattributed,
        LEASE,
        delete_expired_reports,
        claim_size=100,
        partition_column="instance_id",
    )
]
