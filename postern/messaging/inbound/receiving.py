"""Processing a received message: reports become signals about sends, and requests to unsubscribe are followed."""

import asyncio
from typing import TYPE_CHECKING
from uuid import UUID

import structlog

from postern.kernel.database.statements import Transaction
from postern.kernel.values import Moment, new_id
from postern.messaging.emails import engagement
from postern.messaging.emails.model import TrackedSend
from postern.messaging.emails.rules import storable
from postern.messaging.emails.signals import apply_signals_in
from postern.messaging.inbound import rules, store
from postern.messaging.inbound.model import (
    KEPT_FOR,
    KEPT_OCTETS,
    KEPT_PER_PROJECT,
    ReportedResult,
    ReportReceipt,
    ReportSource,
    StoredMessage,
)
from postern.messaging.tracking.unsubscribing import unsubscribe_recipient_of
from postern.protocols.mail.arf import ComplaintReport
from postern.protocols.mail.dsn import DeliveryReport
from postern.protocols.mail.received import decode_words, read_header
from postern.protocols.mail.reports import AutomaticReply, MailReport, UnrecognizedReport, read_report

if TYPE_CHECKING:
    from postern.world import World

log: structlog.stdlib.BoundLogger = structlog.get_logger(__name__)

SUBJECT_CHARACTERS = 500
"""Longer subjects and senders of kept messages are cut."""


class NoSendNamed(Exception):
    """The message names no e-mail of this server: it contains no return path of one."""


async def receive(world: "World", recipients: list[str], content: bytes) -> None:
    """Process a message to signed addresses and report mailboxes, in one transaction.

    Raises SendInTransmission if the report must be repeated later, and NoSendNamed if it is for report mailboxes only
    and names no send.
    """
    report = await asyncio.to_thread(read_report, content)
    unsubscribed = {send_id for address in recipients if (send_id := rules.unsubscribes(world, address))}
    reported = {send_id for address in recipients if (send_id := rules.reports_about(world, address))}
    if isinstance(report, DeliveryReport | ComplaintReport) and not reported:
        # A bounce of a message that was sent to unsubscribe does not unsubscribe.
        unsubscribed = set[UUID]()
        reported = set(rules.sends_of_original(world, report))
    if not reported and not unsubscribed:
        raise NoSendNamed
    now = world.clock()
    async with world.db.transaction() as tx:
        for send in await engagement.tracked_sends(tx, sorted(unsubscribed)):
            await unsubscribe_recipient_of(tx, send, now, source="mail")
        receipts = [
            await process_report(tx, send, report, content, source="smtp", now=now)
            for send in await engagement.tracked_sends(tx, sorted(reported))
        ]
    for receipt in receipts:
        log.info("report_received", type=receipt.type, send=str(receipt.email_id), reason=receipt.reason)
    for send_id in unsubscribed:
        log.info("unsubscribe_received", send=str(send_id))


async def process_report(
    tx: Transaction, send: TrackedSend, report: MailReport, content: bytes, *, source: ReportSource, now: Moment
) -> ReportReceipt:
    """Apply a report about a send, or keep the message if it was not understood. Raises SendInTransmission."""
    if isinstance(report, UnrecognizedReport):
        return await keep_message(tx, send.project_id, send.id, report.reason, content, source=source, now=now)
    if isinstance(report, AutomaticReply):
        return ReportReceipt(type="automatic_reply", email_id=send.id, results=[], report_id=None, reason=None)
    signals = rules.signals_of(send.project_id, send.id, report, now)
    results = await apply_signals_in(tx, signals, now)
    return ReportReceipt(
        type="complaint" if isinstance(report, ComplaintReport) else "delivery",
        email_id=send.id,
        results=[
            ReportedResult(kind=signal.kind, recipient=signal.recipient, result=result.value)
            for signal, result in zip(signals, results, strict=True)
        ],
        report_id=None,
        reason=None,
    )


async def keep_message(
    tx: Transaction,
    project_id: UUID,
    send_id: UUID | None,
    reason: str,
    content: bytes,
    *,
    source: ReportSource,
    now: Moment,
) -> ReportReceipt:
    """Keep a message that was not understood, and delete the oldest ones of the project beyond KEPT_PER_PROJECT."""
    fields = dict(reversed(read_header(content)[0]))
    row = StoredMessage(
        project_id=project_id,
        id=new_id(),
        send_id=send_id,
        source=source,
        reason=reason,
        sender=_shown(fields.get("from", "")),
        subject=_shown(fields.get("subject", "")),
        size=len(content),
        message=content[:KEPT_OCTETS],
        received_at=now,
        due_at=now + KEPT_FOR,
    )
    await store.insert_message(tx, row)
    await store.delete_older(tx, project_id=project_id, kept=KEPT_PER_PROJECT)
    return ReportReceipt(type="unrecognized", email_id=send_id, results=[], report_id=row.id, reason=reason)


async def erase_messages(tx: Transaction, project_id: UUID, send_ids: list[UUID]) -> None:
    """Delete the kept messages about erased sends."""
    if send_ids:
        await store.erase_messages(tx, project_id=project_id, send_ids=send_ids)


def _shown(value: str) -> str:
    return storable(decode_words(value))[:SUBJECT_CHARACTERS]
