"""The history of a customer: its events, its timeline, and its erasure."""

from datetime import datetime
from typing import Any
from uuid import UUID

from postern.identity.customers import mailer, rules, store
from postern.identity.customers.model import CustomerEvent, CustomerMissing, CustomerRow, TimelineActor, TimelineEntry
from postern.kernel.database.statements import Transaction
from postern.kernel.http.call import Call
from postern.kernel.http.pagination import CursorInvalid, Feed, read_cursor, write_cursor
from postern.kernel.values import Moment, as_id, timestamp
from postern.messaging.audiences import contacts
from postern.messaging.emails import erasure
from postern.messaging.emails import history_store as mail_history
from postern.messaging.emails.history_store import MailHistoryEntry
from postern.messaging.inbound import receiving, retention
from postern.messaging.tracking import recording as tracking
from postern.platform.audit import operations as audit
from postern.platform.audit.model import AccountAuditEntry
from postern.platform.events import history_store
from postern.platform.events import operations as events
from postern.platform.events.history_store import PastEvent
from postern.platform.webhooks import operations as webhooks
from postern.security import challenges, session_store
from postern.security.mail_limits import clear_counts
from postern.security.session_store import SessionRow

TITLES = {
    "customer.signed_up": "Signed up",
    "customer.signed_in": "Signed in",
    "customer.sign_in_failed": "Failed to sign in",
    "customer.signed_out": "Signed out",
    "customer.stepped_up": "Authenticated again",
    "customer.locked": "Was locked out after failed attempts",
    "customer.unlocked": "Was unlocked",
    "customer.email_verified": "Verified the e-mail address",
    "customer.password_changed": "Changed the password",
    "customer.mfa_enabled": "Turned the second factor on",
    "customer.mfa_disabled": "Turned the second factor off",
    "customer.passkey_added": "Added a passkey",
    "customer.passkey_removed": "Removed a passkey",
    "customer.mfa_reset": "Had the second factor reset",
    "customer.session_revoked": "Had a session ended",
    "customer.sign_in_denied": "Said that a sign-in was not theirs",
    "customer.impersonated": "Was impersonated by a member of the team",
    "customer.impersonation_ended": "Was no longer impersonated by a member of the team",
    "customer.terms_accepted": "Accepted the terms",
    "customer.banned": "Was banned",
    "customer.unbanned": "Was unbanned",
    "customer.updated": "Had the address, name or phone number changed",
    "customer.metadata_updated": "Had metadata changed",
    "customer.roles_updated": "Had roles changed",
    "customer.linked": "Was linked to an external account or id, or merged",
    "customer.mail_failed": "Could not be mailed",
    "customer.mail_text_failed": "Was mailed the built-in text, because that of the project failed",
    "customer.unlinked": "Unlinked an account at a provider",
    "customer.identity_held": "Has an account at a provider waiting for approval",
    "customer.deleted": "Was erased",
}


AUDITED = [
    f"customer.{change}"
    for change in (
        *("banned", "unbanned", "unlocked", "session_revoked", "mfa_reset", "metadata_updated", "roles_updated"),
        *("linked", "updated"),
    )
]
"""Events that the audit log also has an entry for if a developer or an API key caused them."""


async def events_of(call: Call, id: UUID, limit: int, cursor: str | None) -> Feed[CustomerEvent]:
    """Events of a customer, also of an erased one, newest first. Raises CustomerMissing if there never was one."""
    scope = f"customer-events|{id}"
    before, before_id = _position(call, scope, cursor)
    rows = await history_store.of_subject(
        call.db,
        project_id=call.project_id,
        subject_id=id,
        before=before,
        before_id=before_id,
        limit=limit + 1,
        audited_types=[],  # Omit no events.
    )
    customer = await store.get_customer(call.db, project_id=call.project_id, id=id)
    if customer is None and not rows:
        raise CustomerMissing
    label = customer.email if customer else None
    views = [
        CustomerEvent(
            id=row.id,
            type=row.type,
            actor_type=row.actor_type,
            actor_id=row.actor_id,
            actor_label=label if row.actor_id == id else row.actor_label,
            subject_customer_id=id,
            metadata=row.data,
            occurred_at=row.occurred_at,
            erased_at=row.erased_at,
        )
        for row in rows
    ]
    return _feed(call, scope, views, limit)


async def timeline(call: Call, customer: CustomerRow, limit: int, cursor: str | None) -> Feed[TimelineEntry]:
    """Events, e-mails, sessions and changes by developers in one feed, newest first.

    Each source is read up to the length of a page; entries that do not fit are read again for the next page.
    """
    scope = f"customer-timeline|{customer.id}"
    before, before_id = _position(call, scope, cursor)
    page: dict[str, Any] = {"before": before, "before_id": before_id, "limit": limit + 1}
    past_events = await history_store.of_subject(
        call.db,
        project_id=call.project_id,
        subject_id=customer.id,
        **page,
        # The audit log has an entry for each of these changes, so their events are left out.
        audited_types=AUDITED,
    )
    sessions = await session_store.sessions_of(call.db, project_id=call.project_id, subject_id=customer.id, **page)
    merged_ids = await store.merged_ids_of(call.db, project_id=call.project_id, customer_id=customer.id)
    changes = await audit.entries_before(call.db, call.project_id, [customer.id, *merged_ids], **page)
    sent: list[MailHistoryEntry] = []
    for address in await store.addresses_of(call.db, project_id=call.project_id, id=customer.id):
        contact = await contacts.contact_of(call.db, call.project_id, address)
        sent += await mail_history.mails_to(
            call.db,
            project_id=call.project_id,
            address=address,
            contact_id=contact.id if contact else None,
            **page,
        )
    entries = [
        *(_event_entry(event, customer) for event in past_events),
        *(_session_entry(session, customer) for session in sessions),
        *(_audit_entry(change) for change in changes if change.action != "customer.created"),
        *(_mail_entry(mail) for mail in sent),
    ]
    entries.sort(key=lambda entry: (entry.occurred_at, entry.id), reverse=True)
    return _feed(call, scope, entries, limit)


async def erase(tx: Transaction, call: Call, customer: CustomerRow, transfer_ownership_to: UUID | None = None) -> None:
    """Delete a customer, whose row the caller has locked, and all of its personal data in this transaction.

    This includes contacts, e-mails and codes for all its addresses, and the data of its events and audit entries. The
    organizations package handles the recorded `customer.deleted` in the same transaction: it transfers ownership to
    `transfer_ownership_to`, or raises CustomerOwnsOrganizations.
    """
    project_id = call.project_id
    merged_ids = await store.merged_ids_of(tx, project_id=project_id, customer_id=customer.id)
    # Recorded before the deletion: the handlers of this event in other packages delete those packages' rows, and need
    # the customer for that.
    event_data = {} if transfer_ownership_to is None else {"ownershipTransferredTo": str(transfer_ownership_to)}
    await events.record(tx, call, "customer.deleted", customer.id, **event_data)
    await webhooks.erase_events(tx, project_id, [customer.id, *merged_ids], call.now)
    for customer_id in (customer.id, *merged_ids):
        await audit.erase_details_of(tx, project_id, customer_id)
    for address in await store.addresses_of(tx, project_id=project_id, id=customer.id):
        contact_ids = await contacts.erase_contact(tx, project_id, address)
        await webhooks.erase_events(tx, project_id, contact_ids, call.now)
        send_ids = await erasure.erase_address(tx, project_id, address, contact_ids, call.now)
        await tracking.erase_hits(tx, project_id, send_ids)
        await receiving.erase_messages(tx, project_id, send_ids)
        await retention.erase_messages_of(tx, project_id, address, send_ids, call.now)
        _, email_key = rules.read_email(address)
        identifier = rules.address_hash(call.world.secrets, project_id, email_key)
        await clear_counts(tx, call, mailer.MAIL_POLICY, identifier)
        await challenges.revoke_mailed(tx, project_id, identifier)
    await challenges.revoke(tx, project_id, customer.id)
    await clear_counts(tx, call, mailer.MAIL_POLICY, customer.subject.second_factor_identifier)
    await store.delete_customer(tx, project_id=project_id, id=customer.id)


def _position(call: Call, scope: str, cursor: str | None) -> tuple[Moment | None, UUID | None]:
    """Time and id of the last entry of the previous page; None for the first page. Raises CursorInvalid."""
    if cursor is None:
        return None, None
    values = read_cursor(call, scope, cursor)
    try:
        return Moment.fromisoformat(str(values[0])), as_id(values[1])
    except (ValueError, IndexError):
        raise CursorInvalid from None


def _feed(call: Call, scope: str, rows: list[Any], limit: int) -> Feed[Any]:
    """A page of the first `limit` rows, with a cursor if there are more rows."""
    more = len(rows) > limit
    cursor = None
    if more:
        last = rows[limit - 1]
        # Microseconds: with milliseconds, entries of the same millisecond would be skipped.
        cursor = write_cursor(call, scope, [datetime.isoformat(last.occurred_at), str(last.id)])
    return Feed(data=rows[:limit], next_cursor=cursor)


def _event_entry(event: PastEvent, customer: CustomerRow) -> TimelineEntry:
    by_customer = event.actor_id == customer.id
    return TimelineEntry(
        id=event.id,
        kind="EVENT",
        type=event.type,
        title=TITLES.get(event.type, event.type),
        occurred_at=event.occurred_at,
        actor=TimelineActor(
            type=event.actor_type, id=event.actor_id, label=customer.email if by_customer else event.actor_label
        ),
        data=event.data,
    )


def _session_entry(session: SessionRow, customer: CustomerRow) -> TimelineEntry:
    return TimelineEntry(
        id=session.id,
        kind="SESSION",
        type="session.started",
        title="Began a session",
        occurred_at=session.created_at,
        actor=TimelineActor(type="CUSTOMER", id=customer.id, label=customer.email),
        data={
            "userAgent": session.user_agent,
            "ipAddress": session.ip_address,
            "methods": session.methods,
            "expiresAt": timestamp(session.idle_expires_at),
            "revokedAt": timestamp(session.revoked_at) if session.revoked_at else None,
        },
    )


def _audit_entry(entry: AccountAuditEntry) -> TimelineEntry:
    return TimelineEntry(
        id=entry.id,
        kind="AUDIT",
        type=entry.action,
        title=entry.action.replace(".", " ").replace("_", " ").capitalize(),
        occurred_at=entry.created_at,
        actor=TimelineActor(type=entry.actor_type, id=entry.actor_id, label=entry.actor_email),
        data=entry.metadata,
    )


def _mail_entry(mail: MailHistoryEntry) -> TimelineEntry:
    return TimelineEntry(
        id=mail.id,
        kind="EMAIL",
        type=f"email.{mail.status.lower()}",
        title=mail.subject,
        occurred_at=mail.created_at,
        actor=TimelineActor(type="SYSTEM", id=None, label=None),
        data={"status": mail.status, "messageId": mail.message_id},
    )
