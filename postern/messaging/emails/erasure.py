"""Erasure of the messages to an address (GDPR Article 17), and deletion of captured messages."""

from uuid import UUID

from postern.kernel.database.statements import Transaction, like_pattern
from postern.kernel.values import Moment
from postern.messaging.emails import erasure_store as store
from postern.messaging.emails.model import WAITING
from postern.platform.webhooks import operations as webhooks

ERASED = "erased"
"""Replaces erased addresses and subjects."""


async def erase_address(
    tx: Transaction, project_id: UUID, address: str, contact_ids: list[UUID], now: Moment
) -> list[UUID]:
    """Erase content, addresses, SMTP dialogues and reports of all sends to an address or to these contacts.

    Returns the ids of the sends. Sends that have the address in cc, bcc or the subject are erased too. Statuses and
    times stay, except that waiting sends are cancelled. Also erases the data of webhook events of these sends, the
    address in the responses of idempotency keys, and the suppression and the soft bounces of the address. Records no
    events.
    """
    ids = await store.sends_to_erase(
        tx,
        project_id=project_id,
        address=address.lower(),
        search_pattern=like_pattern(address),
        address_regex=_address_regex(address.lower()),
        contact_ids=contact_ids,
    )
    if ids:
        await store.erase_bodies(tx, project_id=project_id, ids=ids)
        await store.erase_search(tx, project_id=project_id, ids=ids)
        await store.erase_attempts(tx, project_id=project_id, ids=ids)
        await store.erase_reports(tx, project_id=project_id, ids=ids)
        await store.erase_captured(tx, project_id=project_id, ids=ids)
        await webhooks.erase_events(tx, project_id, ids, now)
        await store.erase_sends(tx, project_id=project_id, ids=ids, waiting=list(WAITING), erased=ERASED)
    await store.erase_idempotency_responses(
        tx, project_id=project_id, ids=ids, address_pattern=like_pattern(address), erased=ERASED
    )
    await store.erase_suppression(tx, project_id=project_id, address=address)
    await store.erase_soft_bounces(tx, project_id=project_id, address=address)
    return ids


async def delete_captured(tx: Transaction, project_id: UUID, id: UUID) -> bool:
    """Delete a captured message. False if there is none with this id."""
    return await store.delete_captured(tx, project_id=project_id, id=id)


def _address_regex(address: str) -> str:
    """A PostgreSQL regular expression that finds the address in a text, but not inside a longer address."""
    escaped = "".join(character if character.isalnum() else f"\\{character}" for character in address)
    return rf"(?<![[:alnum:]!#$%&*+/=?^_`{{|}}~.-]){escaped}(?![[:alnum:]-]|\.[[:alnum:]])"
