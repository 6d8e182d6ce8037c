"""Erasing what the mails to one person say, and deleting captured messages."""

from uuid import UUID

from postern.kernel.clock import Moment
from postern.kernel.database.statements import Transaction, like_pattern
from postern.messaging.emails import erasure_store as store
from postern.messaging.emails.model import WAITING
from postern.platform.webhooks import operations as webhooks

ERASED = "erased"
"""What stands where an address or a subject stood."""


async def erase_address(
    tx: Transaction, project_id: UUID, address: str, contact_ids: list[UUID], now: Moment
) -> list[UUID]:
    """Erase the content, the addresses and the SMTP dialogues of the mails to an address; statuses and times stay.

    Mails that wait are cancelled. The suppression of the address is deleted too: keeping it would keep the address.
    Returns the ids of the mails.
    """
    ids = await store.sends_naming(
        tx,
        project_id=project_id,
        address=address.lower(),
        pattern=like_pattern(address),
        mention=_addressed_to(address.lower()),
        contact_ids=contact_ids,
    )
    if ids:
        await store.erase_bodies(tx, project_id=project_id, ids=ids)
        await store.erase_search(tx, project_id=project_id, ids=ids)
        await store.erase_attempts(tx, project_id=project_id, ids=ids)
        await store.erase_captured(tx, project_id=project_id, ids=ids)
        await store.erase_answers(tx, project_id=project_id, ids=ids, erased=ERASED)
        await webhooks.erase_events(tx, project_id, ids, now)
        await store.erase_sends(tx, project_id=project_id, ids=ids, waiting=list(WAITING), erased=ERASED)
    await store.erase_suppression(tx, project_id=project_id, address=address)
    await store.erase_soft_bounces(tx, project_id=project_id, address=address)
    return ids


async def delete_captured(tx: Transaction, project_id: UUID, id: UUID) -> bool:
    """Delete a captured message. False if there is none with this id."""
    return await store.delete_captured(tx, project_id=project_id, id=id)


def _addressed_to(address: str) -> str:
    """A PostgreSQL pattern for the address in a text, where it is not the end or the beginning of a longer one."""
    escaped = "".join(each if each.isalnum() else f"\\{each}" for each in address)
    return rf"(?<![[:alnum:]!#$%&*+/=?^_`{{|}}~.-]){escaped}(?![[:alnum:]-]|\.[[:alnum:]])"
