"""Unsubscribing the recipient of a send: by a link, by one click in a mail client, or by mail."""

from postern.kernel.database.statements import Transaction
from postern.kernel.values import Moment
from postern.messaging.audiences import contacts
from postern.messaging.emails import engagement
from postern.messaging.emails.model import TEST_COPY_TAG, TrackedSend
from postern.messaging.emails.outcomes import event_of
from postern.platform.events import operations as events


async def unsubscribe_recipient_of(tx: Transaction, send: TrackedSend, now: Moment, *, source: str) -> bool:
    """Unsubscribe the contact of a send, and suppress its recipient with the reason UNSUBSCRIBE.

    `source` is stored as the origin of the suppression. Idempotent. A test copy of a campaign changes nothing, and
    returns False. A message of a TEST key changes nothing either, but returns True.
    """
    if TEST_COPY_TAG in (send.tags or []):
        return False
    contact = await contacts.contact_of(tx, send.project_id, send.recipient)
    if contact is not None and not send.test:
        await contacts.unsubscribe(tx, send.project_id, contact.id, now, emailId=send.id)
    if await engagement.unsubscribe_recipient(tx, send, source=source, at=now):
        await events.record_all(tx, [event_of(send, "email.unsubscribed", now, recipient=send.recipient)])
    return True
