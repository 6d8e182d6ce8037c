"""Processing of received messages to signed addresses and report mailboxes: reports become signals about sends, and
requests to unsubscribe are carried out."""

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING
from uuid import UUID

import msgspec
import structlog
from psycopg import OperationalError
from psycopg.errors import DeadlockDetected
from psycopg_pool import PoolTimeout

from postern.kernel.database.statements import Transaction
from postern.kernel.values import Moment, new_id
from postern.messaging.emails import engagement
from postern.messaging.emails.model import TrackedSend
from postern.messaging.emails.rules import storable
from postern.messaging.emails.signals import SIGNALS_LIMIT, DeliverySignal, SendInTransmission, apply_signals_in
from postern.messaging.emails.unattributed import UnprocessedKind, count_unprocessed, keep_unattributed
from postern.messaging.inbound import rules, store
from postern.messaging.inbound.model import (
    KEPT_FOR,
    KEPT_OCTETS,
    KEPT_PER_PROJECT,
    MessageSource,
    ReportedResult,
    ReportReceipt,
    UnrecognizedReportRow,
)
from postern.messaging.tracking.unsubscribing import unsubscribe_recipient_of
from postern.protocols.mail.arf import ComplaintReport
from postern.protocols.mail.dsn import DeliveryReport
from postern.protocols.mail.received import decode_words, read_header
from postern.protocols.mail.reports import AutomaticReply, MailReport, UnrecognizedReport, read_report

if TYPE_CHECKING:
    from postern.world import World

log: structlog.stdlib.BoundLogger = structlog.get_logger(__name__)

APPLIED_TOGETHER = 64
"""Maximum number of reports that are processed in one transaction."""
SIGNALS_TOGETHER = SIGNALS_LIMIT // APPLIED_TOGETHER
"""Maximum signals of a report that shares a transaction with others. A report with more is processed alone."""
SUBJECT_CHARACTERS = 500
"""Maximum characters that are stored of the subject and of the sender of a kept message."""


class NoSendNamed(Exception):
    """The message names no e-mail of this server: it contains no return path of one."""


class _ReceivedReport(msgspec.Struct, frozen=True):
    """A parsed message that is not processed yet."""

    send_ids: frozenset[UUID]
    """The sends that the report is about."""
    report: MailReport
    content: bytes
    unsubscribed: frozenset[UUID]
    """The sends whose recipients unsubscribe with this message."""

    @property
    def max_signals(self) -> int:
        """An upper limit of the number of signals in the report."""
        return len(self.send_ids) * len(getattr(self.report, "recipients", ()))


class ReportAbout(msgspec.Struct, frozen=True):
    """A report about one send."""

    send: TrackedSend
    report: MailReport
    content: bytes


async def receive(world: "World", recipients: list[str], content: bytes) -> None:
    """Process a message to signed addresses and report mailboxes. All changes are committed before this returns.

    Raises SendInTransmission if a send is being transmitted, so that the client must repeat the message later. Raises
    NoSendNamed if all recipients are report mailboxes and the message names no send; if it is a bounce or a complaint,
    it is kept for the operator.
    """
    report = await asyncio.to_thread(read_report, content)
    unsubscribed = {send_id for address in recipients if (send_id := rules.unsubscribed_send(world, address))}
    reported = {send_id for address in recipients if (send_id := rules.reported_send(world, address))}
    if isinstance(report, DeliveryReport | ComplaintReport) and not reported:
        # A bounce of a message that was sent to unsubscribe does not unsubscribe.
        unsubscribed = set[UUID]()
        reported = set(rules.sends_of_original(world, report))
    if not reported and not unsubscribed:
        if isinstance(report, DeliveryReport | ComplaintReport):
            await _keep_unattributed(world, report, content)
        raise NoSendNamed
    received = _ReceivedReport(frozenset(reported), report, content, frozenset(unsubscribed))
    if unsubscribed or received.max_signals > SIGNALS_TOGETHER:
        (receipts,) = await _process(world, [received])
    else:
        receipts = await world.batcher(receive_together, max_batch_size=APPLIED_TOGETHER, max_concurrent=2, by=id)(
            received
        )
    for receipt in receipts:
        log.info("report_received", type=receipt.type, send=str(receipt.email_id), reason=receipt.reason)
    for send_id in unsubscribed:
        log.info("unsubscribe_received", send=str(send_id))


async def _keep_unattributed(world: "World", report: DeliveryReport | ComplaintReport, content: bytes) -> None:
    kind = "complaint" if isinstance(report, ComplaintReport) else "delivery"
    sender, subject = _sender_and_subject(content)
    async with world.db.transaction() as tx:
        reason = "The report names no e-mail of this server."
        await keep_unattributed(tx, kind, content, world.clock(), reason=reason, sender=sender, subject=subject)


async def receive_together(
    world: "World", messages: list[_ReceivedReport]
) -> list[list[ReportReceipt] | BaseException]:
    """Process reports in one transaction or, if that fails, each in a transaction of its own, so that a faulty one does
    not prevent the others.

    Returns for each message the receipts, or the exception. Raises OperationalError or PoolTimeout if the database is
    not available.
    """
    try:
        return [*await _process(world, messages)]
    except (OperationalError, PoolTimeout) as error:
        # A deadlock is possible, because reports in different formats lock the same recipients in different orders.
        if len(messages) == 1 or not isinstance(error, DeadlockDetected):
            raise
    except SendInTransmission as error:
        if len(messages) == 1:
            return [error]
    except Exception as error:
        if len(messages) == 1:
            return [error]
        log.exception("reports_not_processed_together", messages=len(messages))
    return [result for message in messages for result in await receive_together(world, [message])]


async def _process(world: "World", messages: list[_ReceivedReport]) -> list[list[ReportReceipt]]:
    """Process messages in one transaction; returns the receipts of each. Raises SendInTransmission."""
    now = world.clock()
    async with world.db.transaction() as tx:
        unsubscribed = [send_id for message in messages for send_id in message.unsubscribed]
        for send in await engagement.tracked_sends(tx, unsubscribed):
            await unsubscribe_recipient_of(tx, send, now, source="mail")
        named = [send_id for message in messages for send_id in message.send_ids]
        sends = await engagement.tracked_sends(tx, named)
        reports_by_message = [
            [ReportAbout(send, message.report, message.content) for send in sends if send.id in message.send_ids]
            for message in messages
        ]
        reports = [report for reports_of_message in reports_by_message for report in reports_of_message]
        receipts = iter(await process_reports(tx, reports, source="smtp", now=now))
        return [[next(receipts) for _ in reports_of_message] for reports_of_message in reports_by_message]


async def process_reports(
    tx: Transaction, reports: Sequence[ReportAbout], *, source: MessageSource, now: Moment
) -> list[ReportReceipt]:
    """Apply reports about sends, in their order, and keep the messages that were not understood.

    Returns a receipt for each report, in the same order. Raises SendInTransmission, and ValueError for more than
    SIGNALS_LIMIT signals.
    """
    signals = [_signals_of(reported, now) for reported in reports]
    results = iter(await apply_signals_in(tx, [signal for of_report in signals for signal in of_report], now))
    receipts = {
        number: _receipt(
            reported,
            [
                ReportedResult(kind=signal.kind, recipient=signal.recipient, result=next(results).value)
                for signal in signals[number]
            ],
        )
        for number, reported in enumerate(reports)
        if not isinstance(reported.report, UnrecognizedReport)
    }
    # `keep_message` deletes older messages; all transactions do that in the order of the projects, to avoid deadlocks.
    for number, reported in sorted(enumerate(reports), key=lambda item: item[1].send.project_id):
        if isinstance(reported.report, UnrecognizedReport):
            receipts[number] = await keep_message(
                tx,
                reported.send.project_id,
                reported.send.id,
                reported.report.reason,
                reported.content,
                source=source,
                now=now,
            )
    return [receipts[number] for number in range(len(reports))]


def _signals_of(reported: ReportAbout, now: Moment) -> list[DeliverySignal]:
    if isinstance(reported.report, DeliveryReport | ComplaintReport):
        return rules.signals_of(reported.send.project_id, reported.send.id, reported.report, now)
    return []


def _receipt(reported: ReportAbout, results: list[ReportedResult]) -> ReportReceipt:
    """The receipt of a report that was understood."""
    if isinstance(reported.report, AutomaticReply):
        return ReportReceipt(type="automatic_reply", email_id=reported.send.id, results=[], report_id=None, reason=None)
    return ReportReceipt(
        type="complaint" if isinstance(reported.report, ComplaintReport) else "delivery",
        email_id=reported.send.id,
        results=results,
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
    source: MessageSource,
    now: Moment,
    kind: UnprocessedKind = "unrecognized",
) -> ReportReceipt:
    """Store and count a message that was not understood, and delete the project's oldest ones beyond KEPT_PER_PROJECT.

    The receipt has its id as `report_id`.
    """
    sender, subject = _sender_and_subject(content)
    row = UnrecognizedReportRow(
        project_id=project_id,
        id=new_id(),
        send_id=send_id,
        source=source,
        reason=reason,
        sender=sender,
        subject=subject,
        size=len(content),
        message=content[:KEPT_OCTETS],
        received_at=now,
        due_at=now + KEPT_FOR,
    )
    await store.insert_message(tx, row)
    await store.delete_older(tx, project_id=project_id, kept=KEPT_PER_PROJECT)
    await count_unprocessed(tx, kind)
    return ReportReceipt(type="unrecognized", email_id=send_id, results=[], report_id=row.id, reason=reason)


async def erase_messages(tx: Transaction, project_id: UUID, send_ids: list[UUID]) -> None:
    """Delete the kept messages about these sends."""
    if send_ids:
        await store.erase_messages(tx, project_id=project_id, send_ids=send_ids)


def _sender_and_subject(content: bytes) -> tuple[str, str]:
    fields = dict(reversed(read_header(content)[0]))
    return _decoded(fields.get("from", "")), _decoded(fields.get("subject", ""))


def _decoded(value: str) -> str:
    return storable(decode_words(value))[:SUBJECT_CHARACTERS]
