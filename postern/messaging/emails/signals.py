"""Reports about sends that arrive after their attempts: bounces, complaints, delays and deliveries.

They come from delivery reports (DSN) and complaint reports (ARF) by mail, and from the notifications of providers. Each
changes the status of its send as TRANSITIONS allows. Reports that arrive twice or out of order change nothing and are
no error.
"""

from collections.abc import Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Literal
from uuid import UUID

import msgspec
from msgspec.structs import replace

from postern.kernel.batching import groups_of
from postern.kernel.database.statements import Jsonb, Transaction
from postern.kernel.http.problems import Conflict
from postern.kernel.values import Moment, new_id
from postern.messaging.emails import outcomes, rules, store
from postern.messaging.emails.erasure import ERASED
from postern.messaging.emails.model import (
    TRANSITIONS,
    WAITING,
    Send,
    SendStatus,
    SignalKind,
    SuppressionEntry,
)
from postern.messaging.emails.operations import recipient_outcomes
from postern.messaging.emails.outcomes import FinishedAttempt
from postern.messaging.emails.rules import SendOutcome, storable
from postern.messaging.reputation import sending as reputation
from postern.messaging.reputation.sending import MailFailure
from postern.platform.events import operations as events
from postern.protocols.mail.smtp_replies import FailureKind, classify
from postern.protocols.mail.transports.transport import NO_TIME, Rejected

if TYPE_CHECKING:
    from postern.world import World

SIGNALS_LIMIT = 1_000
"""Maximum signals of one call."""
TEXT_CHARACTERS = 1_000
"""Longer texts of a report are cut."""
NAME_CHARACTERS = 255
"""Longer host names, sources and feedback types are cut."""
ADDRESS_CHARACTERS = 320
"""Longer recipients are cut; no send has such a recipient."""

UNCERTAIN = frozenset((*WAITING, "FAILED", "EXPIRED"))
"""Statuses of recipients for whom no server is known to have accepted the message. A report about such a recipient is
ignored unless the message may have been transmitted."""
NOT_DELIVERED = frozenset(("BOUNCED", "SUPPRESSED", "FAILED", "EXPIRED"))
"""Statuses of recipients that did not get the message."""
FINAL = NOT_DELIVERED | {"DELIVERED", "COMPLAINED"}
"""Statuses of recipients whose delivery has ended."""


class SendInTransmission(Conflict):
    """The message is being transmitted right now. Repeat the report shortly."""

    retry_after_seconds = 60


class DeliverySignal(msgspec.Struct, frozen=True, kw_only=True):
    """What a report says about one recipient of a send. Texts of any length and with any characters are allowed."""

    project_id: UUID
    send_id: UUID
    kind: SignalKind
    recipient: str | None = None
    """The address without display name; None if the report does not say."""
    bounce: Literal["hard", "soft"] | None = None
    """For BOUNCED, whether the failure is permanent for the recipient; None: derived from `code`, `enhanced` and
    `text`. A failure that the sender or the message caused is never attributed to the recipient."""
    code: int = 0
    """SMTP reply code (RFC 5321 §4.2); 0 if unknown."""
    enhanced: str = ""
    """Enhanced status code (RFC 3463), such as `5.1.1`; empty if unknown."""
    text: str = ""
    """The text of the server that refused or delayed the message."""
    source: str
    """How the report arrived: `dsn`, `bounce`, `arf`, or the name of a provider such as `ses`. Stored with suppressions
    and in events."""
    host: str = ""
    """The name of the server that made the report; empty if unknown."""
    feedback_type: str | None = None
    """For COMPLAINED: the type of the complaint (RFC 5965 §3.5), such as `abuse`."""
    occurred_at: Moment


class SignalResult(StrEnum):
    """What a signal did."""

    APPLIED = "applied"
    UNCHANGED = "unchanged"
    """The send exists, but the signal is a repetition, out of order, or about an unknown recipient."""
    UNKNOWN_SEND = "unknown_send"


async def apply_signals(world: "World", signals: Sequence[DeliverySignal]) -> list[SignalResult]:
    """Apply signals in one transaction, in their order; returns what each did. See `apply_signals_in`."""
    async with world.db.transaction() as tx:
        return await apply_signals_in(tx, signals, world.clock())


async def _apply_by_project(tx: Transaction, signals: Sequence[DeliverySignal], now: Moment) -> list[SignalResult]:
    """The same, one project after the other, for a distributed database."""
    results: dict[int, SignalResult] = {}
    async with tx.savepoint():
        for indexes in groups_of(range(len(signals)), lambda index: signals[index].project_id):
            applied = await apply_signals_in(tx, [signals[index] for index in indexes], now)
            results |= zip(indexes, applied, strict=True)
    return [results[index] for index in range(len(signals))]


async def apply_signals_in(tx: Transaction, signals: Sequence[DeliverySignal], now: Moment) -> list[SignalResult]:
    """Apply signals in an open transaction, in their order; returns what each did.

    Changes the sends and the results of their recipients, keeps the reports, records events, counts, and suppresses
    recipients that bounced or complained. Raises SendInTransmission, and changes nothing, if a message is being
    transmitted right now: its result is not known yet. Raises ValueError for more than SIGNALS_LIMIT signals.
    """
    if len(signals) > SIGNALS_LIMIT:
        raise ValueError(f"At most {SIGNALS_LIMIT} signals can be applied together.")
    if not signals:
        return []
    if tx.is_distributed and len({signal.project_id for signal in signals}) > 1:
        return await _apply_by_project(tx, signals, now)
    rows = await store.lock_sends(
        tx,
        project_id=sorted({signal.project_id for signal in signals}),
        ids=sorted({signal.send_id for signal in signals}),
    )
    named = {(signal.project_id, signal.send_id) for signal in signals}
    sends = {key: send for send in rows if (key := (send.project_id, send.id)) in named}
    if any(map(_is_in_transmission, sends.values())):
        raise SendInTransmission
    before = dict(sends)
    results: list[SignalResult] = []
    finished: list[tuple[str, FinishedAttempt]] = []
    complaints: dict[tuple[UUID, str], tuple[Send, DeliverySignal]] = {}
    reports: dict[tuple[Any, ...], dict[str, Any]] = {}
    for signal in signals:
        key = (signal.project_id, signal.send_id)
        if key not in sends:
            results.append(SignalResult.UNKNOWN_SEND)
            continue
        if sends[key].recipient == ERASED:
            signal = replace(signal, recipient=None, text="")  # The address and texts with it must not be stored again.
        send, recipient = sends[key], _recipient_of(sends[key], signal)
        send_outcome = _outcome(send, signal, recipient, now)
        if send_outcome is not None:
            sends[key] = _after(send, signal, recipient, send_outcome, now)
            finished.append((signal.source[:NAME_CHARACTERS], FinishedAttempt(send=send, send_outcome=send_outcome)))
            if signal.kind == "COMPLAINED" and recipient is not None and _can_be_suppressed(send, recipient):
                complaints[send.project_id, recipient.lower()] = (send, signal)
        results.append(SignalResult.UNCHANGED if send_outcome is None else SignalResult.APPLIED)
        _add_report(reports, signal, recipient, changed=send_outcome is not None)
    project_ids = sorted({send.project_id for send in sends.values()})
    changed = [(before[key], send) for key, send in sends.items() if send != before[key]]
    if changed:
        await store.store_reported(tx, project_id=project_ids, rows=Jsonb([_row(*pair) for pair in changed]), now=now)
    if reports:
        await store.insert_reports(tx, project_id=project_ids, rows=Jsonb(list(reports.values())), now=now)
    await _erase_secrets(tx, changed)
    for source in sorted({source for source, _ in finished}):
        attempts = [attempt for source_of_attempt, attempt in finished if source_of_attempt == source]
        await outcomes.suppress_failing_recipients(tx, attempts, now, source=source, is_reported=True)
    await _suppress_complaining(tx, complaints, now)
    attempts = [attempt for _, attempt in finished]
    if failures := [*outcomes.failures_of(attempts, now), *_complaints_of(attempts, now)]:
        await reputation.count_failures(tx, failures, now)
    await events.record_all(tx, [event for _, attempt in finished for event in outcomes.events_of(attempt, now)])
    return results


def _complaints_of(attempts: Sequence[FinishedAttempt], now: Moment) -> list[MailFailure]:
    """The messages of which a recipient complains for the first time."""
    return [
        MailFailure(project_id=send.project_id, domain_id=send.domain_id, at=send.sent_at or now, complained=1)
        for finished in attempts
        if finished.send_outcome.status == "COMPLAINED" and (send := finished.send).status != "COMPLAINED"
        if not send.test and send.domain_id is not None
    ]


def _is_in_transmission(send: Send) -> bool:
    return send.status in WAITING and send.handed_over is not None and send.handed_over == send.attempt


def _may_have_been_transmitted(send: Send) -> bool:
    return send.handed_over is not None or send.ambiguous_attempts > 0


def _recipient_of(send: Send, signal: DeliverySignal) -> str | None:
    """The recipient of the send that a signal is about; None if that is not known.

    If the send has only one recipient, the signal is about that one, even if the report names another address, because
    the mailbox may forward its mail.
    """
    addresses = [outcome.email for outcome in recipient_outcomes(send)]
    named = (signal.recipient or "").lower()
    same = [address for address in addresses if address.lower() == named]
    return (same or [None])[0] if len(addresses) > 1 else addresses[0] if addresses else None


def _can_be_suppressed(send: Send, recipient: str) -> bool:
    return not send.test and recipient != ERASED


def _outcome(send: Send, signal: DeliverySignal, recipient: str | None, now: Moment) -> SendOutcome | None:
    """The state of a send after a signal; None if the signal changes nothing."""
    statuses: dict[str, SendStatus] = {outcome.email: outcome.status for outcome in recipient_outcomes(send)}
    status = send.status if recipient is None else statuses[recipient]
    if signal.kind == "DELAYED":
        return _delayed(send, signal, recipient) if status == "SENT" and send.delayed_at is None else None
    if signal.kind not in TRANSITIONS[status] or (status in UNCERTAIN and not _may_have_been_transmitted(send)):
        return None
    if recipient is None:
        if signal.kind != "COMPLAINED" or send.status in WAITING:
            return None
    else:
        statuses[recipient] = signal.kind
    new_status = _status_of_send(send, signal.kind, list(statuses.values()))
    send_outcome = SendOutcome(
        status=new_status,
        due_at=send.due_at if new_status in WAITING else None,
        reason=send.reason,
        recipients={recipient: (signal.kind, None)} if recipient is not None and recipient != ERASED else {},
    )
    if signal.kind == "BOUNCED":
        assert recipient is not None
        return _bounced(send, signal, recipient, send_outcome)
    new_events: list[tuple[str, dict[str, Any]]] = []
    if send.sent_at is None and new_status in ("DELIVERED", "COMPLAINED"):
        new_events.append(("email.sent", {}))
    if signal.kind == "COMPLAINED":
        data = {"recipient": recipient, "source": _name(signal.source), "feedbackType": _name(signal.feedback_type)}
        new_events.append(("email.complained", data))
    elif new_status == "DELIVERED" and send.status != "DELIVERED":
        new_events.append(("email.delivered", {"source": _name(signal.source)}))
    return replace(send_outcome, events=new_events)


def _status_of_send(send: Send, kind: SendStatus, statuses: list[SendStatus]) -> SendStatus:
    """The status of a send after one recipient got the status `kind`; all its recipients now have `statuses`.

    A send that still waits for other recipients keeps its status.
    """
    if len(statuses) > 1:
        if send.status in WAITING:
            return send.status
        if kind != "COMPLAINED":
            if not FINAL.issuperset(statuses):
                return send.status
            kind = "BOUNCED" if NOT_DELIVERED.issuperset(statuses) else "DELIVERED"
    return kind if kind in TRANSITIONS[send.status] else send.status


def _delayed(send: Send, signal: DeliverySignal, recipient: str | None) -> SendOutcome:
    """The send keeps its status: the server that accepted the message still tries to deliver it, so Postern must not
    send it again."""
    reason = rules.reply_text(_result(signal, recipient or ""))
    data = {"reason": reason, "nextAttemptAt": None, "source": _name(signal.source)}
    return SendOutcome(status=send.status, due_at=send.due_at, reason=send.reason, events=[("email.delayed", data)])


def _bounced(send: Send, signal: DeliverySignal, recipient: str, send_outcome: SendOutcome) -> SendOutcome:
    result = _result(signal, recipient)
    reason = rules.reply_text(result)
    kind = _bounce_kind(signal)
    hard = kind is FailureKind.HARD if signal.bounce else rules.is_hard_bounce(result, gave_up=True)
    soft = kind is FailureKind.SOFT if signal.bounce else rules.is_soft_bounce(result, gave_up=True)
    suppressible = _can_be_suppressed(send, recipient)
    data = {**rules.bounce_data(result), "type": kind.value, "source": _name(signal.source)}
    return replace(
        send_outcome,
        reason=reason
        if send_outcome.status == "BOUNCED"
        else f"Some recipients were rejected: {reason}"[:TEXT_CHARACTERS],
        recipients={recipient: ("BOUNCED", reason)},
        hard_bounces=[(recipient, reason)] if hard and suppressible else [],
        soft_bounces=[recipient] if soft and suppressible else [],
        events=[("email.bounced", data)],
    )


def _bounce_kind(signal: DeliverySignal) -> FailureKind:
    """The kind of a bounce: that which the signal says, unless the sender or the message caused the failure."""
    kind = classify(signal.code, signal.enhanced, signal.text, gave_up=True).kind
    if signal.bounce is None or kind in (FailureKind.BLOCK, FailureKind.POLICY):
        return kind
    return FailureKind(signal.bounce)


def _result(signal: DeliverySignal, recipient: str) -> Rejected:
    return Rejected(
        recipient=recipient,
        code=signal.code if 0 <= signal.code <= 999 else 0,
        enhanced=_name(signal.enhanced) or "",
        text=storable(signal.text)[:TEXT_CHARACTERS],
        host=_name(signal.host) or "",
        duration=NO_TIME,
    )


def _after(send: Send, signal: DeliverySignal, recipient: str | None, send_outcome: SendOutcome, now: Moment) -> Send:
    """The row of a send after a signal that changes it."""
    # A report does not precede the transmission, and its time is only what the peer says.
    at = min(max(Moment.of(signal.occurred_at), send.sent_at or send.created_at), now)
    status = send_outcome.status
    has_arrived = status in ("DELIVERED", "COMPLAINED")
    changes: dict[str, Any] = {
        "status": status,
        "reason": send_outcome.reason,
        "due_at": send_outcome.due_at and Moment.of(send_outcome.due_at),
        "sent_at": send.sent_at or (at if has_arrived else None),
        "delivered_at": send.delivered_at or (at if status == "DELIVERED" else None),
        "delayed_at": send.delayed_at or (at if signal.kind == "DELAYED" else None),
        "bounced_at": at if status == "BOUNCED" and send.status != "BOUNCED" else send.bounced_at,
        "complained_at": send.complained_at or (at if status == "COMPLAINED" else None),
    }
    if outcomes.has_several_recipients(send) and recipient is not None and signal.kind != "DELAYED":
        stored = {
            outcome.email: {"status": outcome.status, "reason": outcome.reason, "at": outcome.at.isoformat()}
            for outcome in recipient_outcomes(send)
            if outcome.at is not None
        }
        reason = send_outcome.recipients[recipient][1] if recipient in send_outcome.recipients else None
        changes["outcomes"] = {**stored, recipient: {"status": signal.kind, "reason": reason, "at": at.isoformat()}}
    return replace(send, **changes)


def _row(before: Send, after: Send) -> dict[str, Any]:
    row = {
        "project_id": after.project_id,
        "id": after.id,
        "status": after.status,
        "outcomes": after.outcomes,
        "reason": after.reason,
        "due_at": after.due_at,
        "sent_at": after.sent_at,
        "delivered_at": after.delivered_at,
        "delayed_at": after.delayed_at,
        "bounced_at": after.bounced_at,
        "complained_at": after.complained_at,
        "begins_attempt": before.status in WAITING and after.status not in WAITING,
    }
    return {name: value for name, value in row.items() if value is not None}


def _add_report(
    reports: dict[tuple[Any, ...], dict[str, Any]], signal: DeliverySignal, recipient: str | None, *, changed: bool
) -> None:
    address = storable(signal.recipient or recipient or "")[:ADDRESS_CHARACTERS]
    source = _name(signal.source) or ""
    key = (signal.project_id, signal.send_id, signal.kind, address, source)
    result = _result(signal, address)
    reports[key] = {
        "project_id": signal.project_id,
        "id": new_id(),
        "send_id": signal.send_id,
        "kind": signal.kind,
        "recipient": address,
        "source": source,
        "type": _bounce_kind(signal).value if signal.kind == "BOUNCED" else None,
        "code": result.code,
        "enhanced_code": result.enhanced,
        "text": result.text,
        "host": result.host,
        "feedback_type": _name(signal.feedback_type),
        "changed": changed or (key in reports and reports[key]["changed"]),
        "occurred_at": signal.occurred_at,
    }


def _name(text: str | None) -> str | None:
    return text and storable(text)[:NAME_CHARACTERS]


async def _erase_secrets(tx: Transaction, changed: list[tuple[Send, Send]]) -> None:
    """Erase the one-time secrets of sends that are not tried again."""
    ended = [after for before, after in changed if before.status in WAITING and after.status not in WAITING]
    if ended:
        project_ids = sorted({send.project_id for send in ended})
        await store.erase_secrets(tx, project_id=project_ids, ids=[send.id for send in ended])


async def _suppress_complaining(
    tx: Transaction, complaints: dict[tuple[UUID, str], tuple[Send, DeliverySignal]], now: Moment
) -> None:
    entries = [
        SuppressionEntry(
            project_id=project_id,
            id=new_id(),
            address=address,
            reason="COMPLAINT",
            source=_name(signal.source) or "",
            detail=_name(signal.feedback_type),
            send_id=send.id,
            created_at=now,
        )
        for (project_id, address), (send, signal) in sorted(complaints.items(), key=lambda item: item[0])
    ]
    if entries:
        await store.suppress(tx, entries)
