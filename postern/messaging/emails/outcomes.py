"""Storing the outcomes of attempts: sends, attempt log, suppressions and events, in one transaction."""

from collections.abc import Sequence
from datetime import timedelta
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any
from uuid import UUID

import msgspec

from postern.kernel.batching import isolate_errors
from postern.kernel.database.statements import FEW_ROWS, ROW_ERRORS, Jsonb, Transaction
from postern.kernel.values import Moment, distinct_ids, new_id, with_milliseconds
from postern.messaging.emails import rules, store
from postern.messaging.emails.model import (
    SETTLING_TRANSITIONS,
    TRANSACTIONAL,
    CapturedMail,
    ReachedRecipient,
    Send,
    SuppressionEntry,
    TrackedSend,
    TransmittedParts,
)
from postern.messaging.emails.pre_send_check import REPLY_LOST
from postern.messaging.emails.rules import SendOutcome, storable
from postern.messaging.reputation import sending as reputation
from postern.messaging.reputation.sending import MailFailure
from postern.platform.events import operations as events
from postern.platform.events.model import EventRow
from postern.protocols.mail.smtp_replies import (
    SOFT_BOUNCES_MAX_GAP,
    SOFT_BOUNCES_MIN_SPAN,
    SOFT_BOUNCES_TO_SUPPRESS,
)
from postern.protocols.mail.transports.transport import Accepted, Deferred, DeliveryOutcome

if TYPE_CHECKING:
    from postern.world import World


class FinishedAttempt(msgspec.Struct, frozen=True, kw_only=True):
    """An attempt that has ended, and the state of its send after it."""

    send: Send
    """The send as it was claimed for this attempt."""
    send_outcome: SendOutcome
    """The new state of the send."""
    outcome: DeliveryOutcome | None = None
    """The results of the transport; None if none was used."""
    duration: timedelta = timedelta()
    subject: str | None = None
    """The rendered subject; None if the message was not composed."""
    dated_at: Moment | None = None
    """The `Date` header of the transmitted message."""
    transmitted: TransmittedParts | None = None
    """The data that `get_email_message` needs in addition to the send; None if they are not stored."""
    has_secrets: bool = False
    """Whether the message has one-time secrets, which are erased when the send is settled."""
    suppressed: tuple[tuple[str, str], ...] = ()
    """Recipients that were left out, each with the suppression reason."""
    warms_up: bool = False
    """Whether the message left this server, from a domain with a warm-up plan."""
    captured: CapturedMail | None = None
    """The message for the inbox view, if it was captured instead of being sent."""


async def settle_all(world: "World", attempts: list[FinishedAttempt]) -> list[str | BaseException]:
    """Store the outcomes of attempts in one transaction; returns the new status of each send, in the same order.

    If one of them cannot be stored, each is stored in a transaction of its own, and the result of the faulty one is its
    error. Writes the attempt log, stores captured messages, records events, suppresses addresses that bounced, erases
    the one-time secrets of settled sends, and counts skipped recipients. If a later attempt of a send has begun, the
    send does not change.
    """
    return await isolate_errors(partial(_settle_together, world), attempts, ROW_ERRORS)


async def _settle_together(world: "World", attempts: list[FinishedAttempt]) -> list[str]:
    """Settle attempts in one transaction. A send of which a later attempt has begun does not change."""
    now = world.clock()
    async with world.db.transaction() as tx:
        # Keyed by the number of the id: the hash of a UUID takes many times as long.
        settled = {row.id.int: row.status for row in await _settle(tx, attempts, now)}
        latest = [finished for finished in attempts if finished.send.id.int in settled]
        if captured := [finished.captured for finished in latest if finished.captured is not None]:
            await store.capture(tx, captured)
        await _erase_secrets(tx, latest)
        await suppress_failing_recipients(tx, latest, now, source="reply", is_reported=False)
        await _count_skipped(tx, latest)
        if failures := failures_of(latest, now):
            await reputation.count_failures(tx, failures, now)
        if warming_up := _warming_up(latest):
            await reputation.count_transactional(tx, warming_up, now)
        await events.record_all(tx, [event for finished in latest for event in events_of(finished, now)])
    return [settled.get(finished.send.id.int, finished.send.status) for finished in attempts]


class _SettledRow(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """A row for `store.settle`; fields that are None are left out of its JSON."""

    project_id: UUID
    id: UUID
    attempt: int
    status: str
    due_at: Moment | None = None
    tries: int
    pending: list[str] | None = None
    site: str | None = None
    waits_for: str | None = None
    retries_since: Moment | None = None
    outcomes: dict[str, Any] | None = None
    reason: str | None = None
    ambiguous: int
    subject: str | None = None
    dated_at: Moment | None = None
    sent_at: Moment | None = None
    delivered_at: Moment | None = None
    delayed_at: Moment | None = None
    bounced_at: Moment | None = None
    complained_at: Moment | None = None


async def _settle(tx: Transaction, attempts: list[FinishedAttempt], now: Moment) -> list[store.SettledSend]:
    attempt_rows = _attempt_rows(attempts)
    settled = await store.settle(
        tx,
        project_id=distinct_ids(finished.send.project_id for finished in attempts),
        rows=Jsonb([_settled_row(finished, finished.send, finished.send_outcome, now) for finished in attempts]),
        attempts=Jsonb(attempt_rows),
        allowed=SETTLING_TRANSITIONS,
        now=now,
    )
    if tx.is_distributed:
        changed = {row.id for row in settled}
        logged = [row for row in attempt_rows if row.always or row.send_id in changed]
        if len(logged) > FEW_ROWS:
            project_ids = distinct_ids(row.project_id for row in logged)
            await store.log_attempts(tx, project_id=project_ids, attempts=Jsonb(logged), now=now)
        else:
            for row in logged:
                await store.log_attempt(tx, with_milliseconds(row), now=now)
    return settled


def _settled_row(finished: FinishedAttempt, send: Send, send_outcome: SendOutcome, now: Moment) -> _SettledRow:
    return _SettledRow(
        project_id=send.project_id,
        id=send.id,
        attempt=send.attempt,
        status=send_outcome.status,
        due_at=send_outcome.due_at and Moment.of(send_outcome.due_at),
        tries=send.tries + send_outcome.counts_as_try,
        pending=send_outcome.pending,
        site=send_outcome.site,
        waits_for=send_outcome.waits_for,
        retries_since=send_outcome.retries_since,
        outcomes=_outcomes(finished, now),
        reason=send_outcome.reason,
        ambiguous=int(send_outcome.ambiguous),
        subject=finished.subject,
        dated_at=finished.dated_at if send.dated_at is None else None,
        sent_at=now if send_outcome.sent else None,
        delivered_at=now if send_outcome.delivered else None,
        delayed_at=now if send_outcome.status == "DELAYED" else None,
        bounced_at=now if send_outcome.bounced else None,
        complained_at=now if send_outcome.complained else None,
    )


async def _erase_secrets(tx: Transaction, attempts: list[FinishedAttempt]) -> None:
    """Erase the one-time secrets of sends that are not tried again."""
    not_tried_again = [
        finished.send for finished in attempts if finished.has_secrets and finished.send_outcome.due_at is None
    ]
    if not_tried_again:
        project_ids = distinct_ids(send.project_id for send in not_tried_again)
        await store.erase_secrets(tx, project_id=project_ids, ids=[send.id for send in not_tried_again])


def _outcomes(finished: FinishedAttempt, now: Moment) -> dict[str, Any] | None:
    """The status of each recipient after this attempt, keyed by address; None for a send with only one recipient."""
    if not finished.send_outcome.counts_as_try or not has_several_recipients(finished.send):
        return None
    return {
        address: {"status": status, "reason": reason, "at": now}
        for address, (status, reason) in finished.send_outcome.recipients.items()
    }


def has_several_recipients(send: Send) -> bool:
    """Whether a send names more than one address."""
    return len(send.to_addresses) > 1 or bool(send.cc_addresses) or bool(send.bcc_addresses)


def _attempt_rows(attempts: list[FinishedAttempt]) -> list[store.AttemptRow]:
    """The rows of the attempt log: the attempts that were made, and earlier ones that were never settled."""
    rows: dict[tuple[int, int], store.AttemptRow] = {}
    for finished in attempts:
        send = finished.send
        if finished.outcome is not None and finished.send_outcome.counts_as_try:
            rows[send.id.int, send.attempt] = _attempt_row(finished, finished.outcome)
        if rules.was_interrupted(send):
            unsettled = send.handed_over or 0
            rows[send.id.int, unsettled] = _unsettled_row(finished, unsettled)
    return list(rows.values())


def _attempt_row(finished: FinishedAttempt, outcome: DeliveryOutcome) -> store.AttemptRow:
    kinds = {type(result) for result in outcome.results}
    outcome_name = "AMBIGUOUS" if outcome.ambiguous else "DEFERRED" if Deferred in kinds else "REJECTED"
    if not outcome.ambiguous and Deferred not in kinds and Accepted in kinds:
        outcome_name = "ACCEPTED"
    results = [
        {
            "recipient": result.recipient,
            "result": type(result).__name__.upper(),
            "code": result.code,
            "enhancedCode": result.enhanced,
            "text": storable(result.text),
        }
        for result in outcome.results
    ]
    results += [
        {
            "recipient": address,
            "result": "SUPPRESSED",
            "code": 0,
            "enhancedCode": "",
            "text": rules.suppression_text(reason),
        }
        for address, reason in finished.suppressed
    ]
    parts = finished.transmitted
    return store.AttemptRow(
        project_id=finished.send.project_id,
        send_id=finished.send.id,
        attempt=finished.send.attempt,
        always=rules.was_interrupted(finished.send) or None,
        outcome=outcome_name,
        transport=outcome.transport or None,
        host=outcome.host,
        results=results,
        dialogue=dialogue_of(outcome),
        duration_ms=round(finished.duration / timedelta(milliseconds=1)),
        provider_id=storable(outcome.provider_id) if outcome.provider_id else None,
        signatures=parts.signatures if parts else None,
        links_base=parts.links_base if parts else None,
        unsubscribe_domain=(parts.unsubscribe_domain or None) if parts else None,
    )


LONGEST_CACHED_REPLY = 512
"""Maximum octets of the server's part of a dialogue whose lines are cached."""


def dialogue_of(outcome: DeliveryOutcome) -> list[str]:
    """The lines of the SMTP dialogue of an attempt, as the e-mail log shows them: `C: …` of the client, `S: …` of the
    server, and `TLS: …` with the parameters of TLS. All are `storable`.

    Does not contain the message itself.
    """
    opening, exchange = outcome.opening, outcome.exchange
    if opening and exchange and opening[-1][0] == exchange[0][0]:
        return _lines_of(opening + exchange)  # A line may begin in `opening` and end in `exchange`.
    return [*_cached_lines(opening), *_lines_of(exchange)]


def _lines_of(chunks: tuple[tuple[str, bytes], ...]) -> list[str]:
    """The lines of a dialogue, each with its side: `C: …` or `S: …`."""
    lines: list[str] = []
    for side, data in _joined_chunks(chunks):
        # Servers reply to most messages with the same text.
        is_cached = side == "S" and len(data) <= LONGEST_CACHED_REPLY
        lines += _cached_reply_lines(data) if is_cached else _lines_of_side(side, data)
    return lines


def _lines_of_side(side: str, data: bytes) -> list[str]:
    text = data.decode("utf-8", "replace").removesuffix("\n").removesuffix("\r")
    lines = [f"{side}: {line.rstrip()}" for line in text.split("\n")]
    return lines if "".join(lines).isprintable() else [storable(line) for line in lines]


@lru_cache(maxsize=1_024)
def _cached_reply_lines(data: bytes) -> tuple[str, ...]:
    return tuple(_lines_of_side("S", data))


@lru_cache(maxsize=64)
def _cached_lines(chunks: tuple[tuple[str, bytes], ...]) -> tuple[str, ...]:
    """`_lines_of` of the start of a connection, cached because many messages share it."""
    return tuple(_lines_of(chunks))


def _joined_chunks(chunks: tuple[tuple[str, bytes], ...]) -> list[tuple[str, bytes]]:
    """The dialogue with consecutive chunks of the same side joined, so that lines are complete."""
    joined: list[tuple[str, bytes]] = []
    for side, data in chunks:
        if joined and joined[-1][0] == side:
            joined[-1] = (side, joined[-1][1] + data)
        else:
            joined.append((side, data))
    return joined


def _unsettled_row(finished: FinishedAttempt, attempt: int) -> store.AttemptRow:
    """The row of an earlier attempt that was never settled."""
    return store.AttemptRow(
        project_id=finished.send.project_id,
        send_id=finished.send.id,
        attempt=attempt,
        always=True,
        outcome="AMBIGUOUS",
        host="",
        results=[],
        dialogue=[REPLY_LOST],
        duration_ms=0,
    )


async def suppress_failing_recipients(
    tx: Transaction, attempts: list[FinishedAttempt], now: Moment, *, source: str, is_reported: bool
) -> None:
    """Suppress the recipients that bounced, count soft bounces, and end the count for recipients that were reached.

    `source` is stored as the origin of the suppressions. `is_reported`: reports give these outcomes, and not replies.
    """
    bounced = [
        (finished.send, address, reply)
        for finished in attempts
        for address, reply in finished.send_outcome.hard_bounces
    ]
    soft = [(finished.send, address) for finished in attempts for address in finished.send_outcome.soft_bounces]
    for send, address in sorted(soft, key=lambda pair: (pair[0].project_id, pair[1].lower())):  # To avoid deadlocks.
        reached_limit = await store.count_soft_bounce(
            tx,
            project_id=send.project_id,
            address=address.lower(),
            times=SOFT_BOUNCES_TO_SUPPRESS,
            span=SOFT_BOUNCES_MIN_SPAN,
            gap=SOFT_BOUNCES_MAX_GAP,
            reported=is_reported,
            now=now,
        )
        if any(reached_limit):
            bounced.append((send, address, "three soft failures in a row over 72 hours"))
    if bounced:
        # One row per address, because several sends may have bounced at the same mailbox; sorted to avoid deadlocks.
        bounced = [row for _, row in sorted({(row[0].project_id, row[1].lower()): row for row in bounced}.items())]
        added = [
            SuppressionEntry(
                project_id=send.project_id,
                id=new_id(),
                address=address.lower(),
                reason="BOUNCE",
                source=source,
                detail=reply,
                send_id=send.id,
                created_at=now,
            )
            for send, address, reply in bounced
        ]
        await store.suppress(tx, added)
    reached = [
        ReachedRecipient(project_id=finished.send.project_id, address=address.lower(), delivered=status == "DELIVERED")
        for finished in attempts
        for address, (status, _) in finished.send_outcome.recipients.items()
        if status in {"SENT", "DELIVERED"}
    ]
    if reached:
        project_ids = distinct_ids(recipient.project_id for recipient in reached)
        reached.sort(key=lambda recipient: (recipient.project_id.int, recipient.address))  # To avoid deadlocks.
        await store.delete_soft_bounces(tx, project_id=project_ids, reached=Jsonb(reached))


async def _count_skipped(tx: Transaction, attempts: list[FinishedAttempt]) -> None:
    """Count the recipients of campaigns that were skipped right before delivery, by reason."""
    skipped = [(finished.send, finished.send.campaign_id, finished.send_outcome.skipped) for finished in attempts]
    rows = [(send, campaign_id, reason) for send, campaign_id, reason in skipped if campaign_id is not None and reason]
    if rows:
        await store.count_skipped(
            tx,
            project_id=[send.project_id for send, _, _ in rows],
            campaign_id=[campaign_id for _, campaign_id, _ in rows],
            variant_id=[send.variant_id for send, _, _ in rows],
            measure=[f"skipped_{reason}" for _, _, reason in rows],
        )


def failures_of(attempts: Sequence[FinishedAttempt], now: Moment) -> list[MailFailure]:
    """A hard bounce for each message, only the first time that one of its recipients bounces.

    Test addresses have no hard bounces.
    """
    return [
        MailFailure(project_id=send.project_id, domain_id=send.domain_id, at=send.sent_at or now, bounced=1)
        for finished in attempts
        if finished.send_outcome.hard_bounces and not (send := finished.send).test and send.domain_id is not None
        if not any(outcome["status"] == "BOUNCED" for outcome in (send.outcomes or {}).values())
    ]


def _warming_up(attempts: Sequence[FinishedAttempt]) -> list[tuple[UUID, UUID]]:
    """Project and domain of each transactional message that was sent and counts for a warm-up plan."""
    return [
        (finished.send.project_id, finished.send.domain_id)
        for finished in attempts
        if finished.warms_up and finished.send.lane == TRANSACTIONAL and finished.send.domain_id is not None
        if finished.send_outcome.sent and finished.send.sent_at is None
    ]


def events_of(finished: FinishedAttempt, now: Moment) -> list[EventRow]:
    """The events of an outcome, without recording them."""
    subject = _rendered_subject(finished)
    return [event_of(finished.send, type_, now, **subject, **data) for type_, data in finished.send_outcome.events]


def _rendered_subject(finished: FinishedAttempt) -> dict[str, Any]:
    """The field `subject` of the event, if it differs from the stored subject of the send.

    The stored subject of a campaign's send is the subject template until the send is composed; then `subject` is null.
    """
    if finished.subject is not None:
        return {"subject": finished.subject[:500]}
    return {"subject": None} if finished.send.content_id is not None and finished.send.tries == 0 else {}


def event_of(send: Send | TrackedSend, type_: str, now: Moment, **data: Any) -> EventRow:
    """A new event of a send with the fields that all events of sends have; `data` adds fields or replaces them.

    Does not record the event.
    """
    common: dict[str, Any] = {
        "emailId": send.id,
        "messageId": send.message_id,
        "from": send.sender,
        "to": send.to_addresses,
        "subject": send.subject[:500],
        "tags": send.tags or [],
        "contactId": send.contact_id,
        "campaignId": send.campaign_id,
        "variantId": send.variant_id,
        "domainId": send.domain_id,
        "test": send.test,
    }
    return events.make_event(send.project_id, type_, send.id, now, **{**common, **data})
