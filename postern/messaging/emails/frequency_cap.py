"""The frequency cap: how much marketing mail one contact gets within 24 hours, from campaigns and automations together.

Counted is what was accepted for the contact, unless it was suppressed, failed, expired or was cancelled. Messages that
are accepted through `POST /emails`, test copies and what TEST keys send neither count nor are held back.
"""

from collections.abc import Sequence
from datetime import timedelta
from typing import Final
from uuid import UUID

from postern.kernel.clock import Moment
from postern.kernel.database.statements import Transaction
from postern.messaging.emails import store

PERIOD: Final = timedelta(hours=24)


async def lock_contacts(tx: Transaction, project_id: UUID) -> None:
    """Let no other transaction accept marketing mail of this project until this one ends."""
    await store.hold_frequency_cap(tx, project_id=project_id)


async def beyond_cap(
    tx: Transaction, project_id: UUID, contact_ids: Sequence[UUID], cap: int, now: Moment
) -> list[bool]:
    """For each message to a contact, in order, whether it would be one too many. Takes the lock of `hold`."""
    await lock_contacts(tx, project_id)
    rows = await store.recent_marketing(
        tx, project_id=project_id, contact_ids=sorted(set(contact_ids)), since=now - PERIOD
    )
    counts = {row.id: row.count for row in rows}
    beyond: list[bool] = []
    for contact_id in contact_ids:
        counts[contact_id] = counts.get(contact_id, 0) + 1
        beyond.append(counts[contact_id] > cap)
    return beyond


def reason_of(cap: int) -> str:
    """Why a message was not sent, for the log."""
    number = "message" if cap == 1 else "messages"
    return f"Frequency cap: the contact got {cap} marketing {number} within the last 24 hours."
