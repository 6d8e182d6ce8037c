"""Pure functions on sends: their identifiers in messages, the state of a send after a delivery attempt, and the rates
that statistics show."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, Literal
from uuid import UUID

import msgspec

from postern.kernel.http.problems import Invalid
from postern.kernel.terminal import UNPRINTABLE
from postern.kernel.values import Moment, new_id
from postern.messaging.emails.model import (
    MARKETING,
    TAG_CHARACTERS,
    TAGS_LIMIT,
    TRANSACTIONAL,
    WAITING,
    EmailWaiting,
    Send,
    SendStatus,
)
from postern.protocols.mail.address import CONTROL, Address, quote_input
from postern.protocols.mail.smtp_replies import (
    RETRY_PERIODS,
    MailLane,
    classify,
    counts_towards_suppression,
    next_retry,
    suppresses,
)
from postern.protocols.mail.transports.transport import (
    NO_TIME,
    Accepted,
    Deferred,
    DeliveryOutcome,
    Rejected,
    Result,
    WaitCause,
)
from postern.security.secrets import Secrets

Chance = Callable[[], float]
"""Returns a random number 0 ≤ x < 1."""
Skipped = Literal["unsubscribed", "suppressed", "deleted"]
"""Why a recipient of a campaign got no message. Each value has a counter `skipped_<value>`."""

NO_SERVER_DELAY = timedelta(seconds=15)
"""The delay of the first retry after no server could be contacted."""
MAX_DELAY_DOUBLINGS = 6
"""How many times NO_SERVER_DELAY doubles while no server can be contacted, so it grows to 16 minutes."""

REFERENCE_PURPOSE = "send-reference"
"""The purpose of the key that signs references (`Secrets.key`)."""
UUID_HEX_CHARACTERS = 32
"""Characters of a UUID without hyphens."""

CAMPAIGN_CANCELLED = "The campaign was cancelled."


class SendOutcome(msgspec.Struct, frozen=True, kw_only=True):
    """The state of a send after an attempt, and what is recorded with that state.

    `sent`, `delivered`, `bounced` and `complained`: whether the current time is stored for it (`Send.sent_at` and so
    on), unless the send has that time already.
    """

    status: SendStatus
    due_at: datetime | None = None
    """When the send is tried again; None if it is settled."""
    site: str | None = None
    """The name of the site for which the send waits."""
    waits_for: WaitCause | None = None
    """Why the send waits until `due_at`; None if it is settled."""
    retries_since: Moment | None = None
    """From when the retry period of the send counts; None for no change."""
    counts_as_try: bool = True
    """Whether the attempt increases `tries` of the send; False if, for example, no server was contacted."""
    pending: list[str] | None = None
    """The recipients that the next attempt sends to; None for all."""
    reason: str | None = None
    ambiguous: bool = False
    """Whether the server's reply to the complete message is unknown, so the message may have arrived."""
    sent: bool = False
    delivered: bool = False
    bounced: bool = False
    complained: bool = False
    hard_bounces: list[tuple[str, str]] = []
    """Addresses to suppress, each with the server's reply."""
    soft_bounces: list[str] = []
    """Addresses with a failure that suppresses the address only if it is repeated."""
    recipients: dict[str, tuple[SendStatus, str | None]] = {}
    """Status and reason of each recipient of this attempt, keyed by address."""
    skipped: Skipped | None = None
    """Why this recipient of a campaign was skipped right before delivery."""
    events: list[tuple[str, dict[str, Any]]] = []
    """The events to record: name (`email.…`) and data."""


def new_send(project_id: UUID, sender: Address, recipient: str, now: Moment) -> Send:
    """A new transactional send to one recipient that is due now. Callers replace the fields that differ."""
    send_id = new_id()
    return Send(
        project_id=project_id,
        id=send_id,
        status="QUEUED",
        lane=TRANSACTIONAL,
        message_id=message_id_of(send_id, sender),
        subject="",
        sender=str(sender),
        recipient=recipient,
        to_addresses=[recipient],
        due_at=now,
        created_at=now,
    )


def message_id_of(send_id: UUID, sender: Address) -> str:
    """The Message-ID of a send, the same in all attempts."""
    return f"<{send_id}@{sender.domain}>"


def send_reference(secrets: Secrets, project_id: UUID, send_id: UUID) -> str:
    """The reference of a send, by which a provider's notifications are attributed to it: project, send and signature,
    as letters, digits, `-` and `_`."""
    text = f"{project_id.hex}-{send_id.hex}"
    return f"{text}-{secrets.sign(REFERENCE_PURPOSE, text.encode())}"


def read_reference(secrets: Secrets, text: str) -> tuple[UUID, UUID] | None:
    """The project and the send of a reference; None if this server did not make it."""
    project, send, signature = [*text.split("-", 2), "", ""][:3]
    if len(project) != UUID_HEX_CHARACTERS or len(send) != UUID_HEX_CHARACTERS:
        return None
    if not secrets.verify(REFERENCE_PURPOSE, f"{project}-{send}".encode(), signature):
        return None
    return UUID(project), UUID(send)


def check_tags(tags: Iterable[str], path: str) -> list[str]:
    """The tags of a caller that uses another API, where a tag may have other characters than in ours.

    Raises Invalid at `path` for too many tags, and for tags that are empty, too long, or have control characters.
    """
    checked = list(tags)
    if len(checked) > TAGS_LIMIT:
        raise Invalid.at(path, f"A message can have at most {TAGS_LIMIT} tags.", "too_many")
    for tag in checked:
        if not 1 <= len(tag) <= TAG_CHARACTERS or CONTROL.search(tag):
            message = f"A tag must have 1 to {TAG_CHARACTERS} characters and no line breaks or control characters."
            raise Invalid.at(path, f"{message} This one does not: {quote_input(tag)}.", "tag_invalid")
    return checked


def outcome_of_attempt(
    send: Send, outcome: DeliveryOutcome, now: Moment, *, on_ambiguous: str, chance: Chance
) -> SendOutcome:
    """The state of a send after one attempt with the result `outcome`: settled, or to be retried at `due_at`.

    `on_ambiguous` is the project's setting for attempts that ended before the server's reply: with "hold" the send
    becomes FAILED, with any other value it is retried. `chance` varies the delay of the retry.
    """
    if outcome.no_server_contacted:
        delay = outcome.retry_after or NO_SERVER_DELAY
        if _is_expired(send, now + delay):
            # Shortly before its expiry, a send is retried after the shortest delay.
            delay = min(delay, NO_SERVER_DELAY)
        if _is_expired(send, now + delay):
            return _give_up(send, "No mail server could be contacted before the e-mail expired.", [], [])
        reason = _first_text(outcome.results)
        if retry_period_is_over(send, outcome.wait_cause, now):
            return _give_up(send, f"The retry period has ended. {reason or ''}".strip(), [], [])
        return SendOutcome(
            status=send.status,
            due_at=now + delay,
            site=outcome.site or None,
            waits_for=outcome.wait_cause or WaitCause.DEFERRED,
            retries_since=retries_since_after(send, outcome.wait_cause, delay),
            counts_as_try=False,
            pending=send.pending,
            reason=reason,
        )
    send_outcome = _outcome_of_replies(send, outcome, now, on_ambiguous=on_ambiguous, chance=chance)
    return msgspec.structs.replace(
        send_outcome,
        site=outcome.site or None if send_outcome.due_at else None,
        waits_for=outcome.wait_cause or WaitCause.DEFERRED if send_outcome.due_at else None,
        recipients={result.recipient: _state_after(result, send_outcome) for result in outcome.results},
    )


def retries_since(send: Send) -> Moment:
    """From when the retry period of a send counts."""
    return max(send.created_at, send.scheduled_at or send.created_at, send.retries_since or send.created_at)


def retry_period_is_over(send: Send, cause: WaitCause | None, now: datetime) -> bool:
    """Whether a send that would wait for `cause` is given up instead, because its retry period has ended.

    Always False before the first attempt, and for every cause other than SITE_SLOWED (the site asked for less
    mail), because waits for other causes are not limited here.
    """
    if cause is not WaitCause.SITE_SLOWED or not send.tries:
        return False
    return now >= retries_since(send) + RETRY_PERIODS[_lane(send)]


def _lane(send: Send) -> MailLane:
    return MailLane.MARKETING if send.lane == MARKETING else MailLane.TRANSACTIONAL


def retries_since_after(send: Send, cause: WaitCause | None, delay: timedelta) -> Moment | None:
    """From when the retry period counts after the send has waited for `delay`; None for no change.

    The time of a suspension does not count in the retry period, because it is no failure of the site.
    """
    return Moment.of(retries_since(send) + delay) if cause is WaitCause.SITE_SUSPENDED else None


def _state_after(result: Result, send_outcome: SendOutcome) -> tuple[SendStatus, str | None]:
    """The status and reason of one recipient, given the outcome for the whole send."""
    if isinstance(result, Accepted):
        return ("DELIVERED", None) if result.delivered else ("SENT", None)
    if isinstance(result, Rejected):
        return "BOUNCED", reply_text(result)
    if send_outcome.status == "DELAYED":
        return "DELAYED", reply_text(result)
    return ("EXPIRED" if send_outcome.status == "EXPIRED" else "FAILED"), reply_text(result)


def _outcome_of_replies(
    send: Send, outcome: DeliveryOutcome, now: Moment, *, on_ambiguous: str, chance: Chance
) -> SendOutcome:
    accepted = [result for result in outcome.results if isinstance(result, Accepted)]
    deferred = [result for result in outcome.results if isinstance(result, Deferred)]
    rejected = [result for result in outcome.results if isinstance(result, Rejected)]
    hard = [(result.recipient, reply_text(result)) for result in rejected if is_hard_bounce(result)]
    soft = [result.recipient for result in [*deferred, *rejected] if is_soft_bounce(result)]
    if outcome.ambiguous and on_ambiguous == "hold":
        return held(ambiguous=True)
    if deferred:
        return _outcome_with_deferred(send, outcome, deferred, rejected, bool(accepted), now, chance, hard, soft)
    if accepted or send.sent_at is not None:
        return _outcome_with_accepted(send, accepted, rejected, hard, soft)
    reason = reply_text(rejected[0]) if rejected else "No recipients."
    return SendOutcome(
        status="BOUNCED",
        reason=reason,
        bounced=True,
        hard_bounces=hard,
        soft_bounces=soft,
        events=[("email.bounced", bounce_data(rejected[0]))] if rejected else [],
    )


def no_server_delay(attempt: int) -> timedelta:
    """The delay of the retry after attempt number `attempt` (from 1) contacted no server; doubles up to 16 minutes."""
    return NO_SERVER_DELAY * 2 ** min(attempt - 1, MAX_DELAY_DOUBLINGS)


def _outcome_with_deferred(
    send: Send,
    outcome: DeliveryOutcome,
    deferred: list[Deferred],
    rejected: list[Rejected],
    some_accepted: bool,
    now: Moment,
    chance: Chance,
    hard: list[tuple[str, str]],
    soft: list[str],
) -> SendOutcome:
    retry_at = next_retry(
        send.tries + 1,
        _lane(send),
        accepted_at=retries_since(send),
        now=now,
        expires_at=send.expires_at,
        chance=chance,
    )
    reason = (
        reply_text(deferred[0])
        if not outcome.ambiguous
        else "The connection ended before the server's reply to the complete message."
    )
    events: list[tuple[str, dict[str, Any]]] = []
    if some_accepted and send.sent_at is None:
        events.append(("email.sent", {}))
    events += [("email.bounced", bounce_data(result)) for result in rejected]
    if retry_at is None:
        if some_accepted or send.sent_at is not None:
            return SendOutcome(
                status="SENT",
                reason=f"Gave up on some recipients: {reason}",
                ambiguous=outcome.ambiguous,
                sent=True,
                hard_bounces=hard,
                soft_bounces=soft,
                events=events,
            )
        return _give_up(send, f"Gave up: {reason}", hard, soft, events, ambiguous=outcome.ambiguous)
    if send.delayed_at is None and not outcome.ambiguous:
        events.append(("email.delayed", {"reason": reason, "nextAttemptAt": Moment.of(retry_at)}))
    return SendOutcome(
        status="DELAYED",
        due_at=retry_at,
        pending=[result.recipient for result in deferred],
        reason=reason,
        ambiguous=outcome.ambiguous,
        sent=some_accepted,
        hard_bounces=hard,
        soft_bounces=soft,
        events=events,
    )


def _outcome_with_accepted(
    send: Send, accepted: list[Accepted], rejected: list[Rejected], hard: list[tuple[str, str]], soft: list[str]
) -> SendOutcome:
    delivered = bool(accepted) and all(result.delivered for result in accepted)
    events: list[tuple[str, dict[str, Any]]] = []
    if send.sent_at is None:
        events.append(("email.sent", {}))
    if delivered:
        events.append(("email.delivered", {}))
    events += [("email.bounced", bounce_data(result)) for result in rejected]
    return SendOutcome(
        status="DELIVERED" if delivered else "SENT",
        reason=f"Some recipients were rejected: {reply_text(rejected[0])}" if rejected else None,
        sent=True,
        delivered=delivered,
        hard_bounces=hard,
        soft_bounces=soft,
        events=events,
    )


def _give_up(
    send: Send,
    reason: str,
    hard: list[tuple[str, str]],
    soft: list[str],
    events: Sequence[tuple[str, dict[str, Any]]] = (),
    *,
    ambiguous: bool = False,
) -> SendOutcome:
    """FAILED, or EXPIRED if the send has an `expires_at`, because it is not tried again. `hard` and `soft`: see
    `SendOutcome.hard_bounces` and `soft_bounces`."""
    expired = send.expires_at is not None
    return SendOutcome(
        status="EXPIRED" if expired else "FAILED",
        reason=reason,
        ambiguous=ambiguous,
        hard_bounces=hard,
        soft_bounces=soft,
        events=[*events, ("email.expired" if expired else "email.failed", {"reason": reason})],
    )


def from_name_template(name: str | None) -> str | None:
    """The display name without surrounding spaces if it has template tags, which are rendered for each recipient;
    otherwise None."""
    return name.strip() if name and ("{{" in name or "{%" in name) else None


def waiting_of(send: Send, now: Moment) -> EmailWaiting | None:
    """What a send waits for; None if it is settled."""
    if send.status == "SCHEDULED":
        return EmailWaiting(cause="SCHEDULE", until=send.scheduled_at)
    if send.status not in WAITING:
        return None
    if send.due_at is None:
        return EmailWaiting(cause="CAMPAIGN_PAUSED")
    if send.due_at <= now or send.waits_for is None:
        # A worker will claim it, or has claimed it; then `due_at` is the end of the lease.
        return EmailWaiting(cause="QUEUE")
    return EmailWaiting(cause=WaitCause(send.waits_for).value, until=send.due_at, site=send.site)


def was_interrupted(send: Send) -> bool:
    """Whether an earlier attempt may have transmitted the message and was never settled, because its process died."""
    return send.handed_over is not None and send.handed_over < send.attempt


def held(*, ambiguous: bool = False) -> SendOutcome:
    """FAILED with `onAmbiguous: hold`, because the message of this attempt (`ambiguous`) or of an earlier one may have
    arrived."""
    reason = "Held: the message was transmitted, but no reply came, so it may have arrived. Retry it by hand."
    return SendOutcome(
        status="FAILED", reason=reason, ambiguous=ambiguous, events=[("email.failed", {"reason": reason})]
    )


def failed(reason: str) -> SendOutcome:
    """FAILED with this reason, because the message cannot be composed."""
    return SendOutcome(status="FAILED", reason=reason, events=[("email.failed", {"reason": reason})])


def expired() -> SendOutcome:
    """EXPIRED: the send expired before it was delivered."""
    reason = "The e-mail expired before it was sent."
    return SendOutcome(status="EXPIRED", reason=reason, events=[("email.expired", {"reason": reason})])


def cancelled(send: Send) -> SendOutcome:
    """CANCELLED: the campaign was cancelled before the send was delivered."""
    may_have_arrived = " The message of an earlier attempt may have arrived." if send.handed_over is not None else ""
    return SendOutcome(status="CANCELLED", counts_as_try=False, reason=CAMPAIGN_CANCELLED + may_have_arrived)


def contact_deleted() -> SendOutcome:
    """CANCELLED: the contact to which a campaign or an automation sends was deleted."""
    reason = "The contact was deleted before the message was sent."
    return SendOutcome(
        status="CANCELLED", reason=reason, skipped="deleted", events=[("email.cancelled", {"reason": reason})]
    )


def domain_not_verified(name: str) -> SendOutcome:
    """FAILED: since the message was accepted, the sending domain was deleted or lost its verification."""
    reason = f"{name} is no longer a verified sending domain of this project. Verify it, then retry this send."
    return SendOutcome(status="FAILED", reason=reason, events=[("email.failed", {"reason": reason})])


def sender_not_verified(address: str) -> SendOutcome:
    """FAILED: the single sender was deleted since the message was accepted, or was never confirmed."""
    domain = address.rpartition("@")[2]
    reason = (
        f"{address} is not a verified sender of this project any more, and {domain} is not one of its verified sending"
        " domains. Verify one of them, then retry this send."
    )
    return SendOutcome(status="FAILED", reason=reason, events=[("email.failed", {"reason": reason})])


def content_kept_changing(send: Send, now: datetime) -> SendOutcome:
    """Retry soon: content or recipients changed several times while the message waited for a connection."""
    due_at = now + NO_SERVER_DELAY
    return SendOutcome(
        status=send.status,
        due_at=due_at,
        waits_for=WaitCause.CAPACITY,
        counts_as_try=False,
        pending=send.pending,
        reason=send.reason,
    )


def not_rendered(send: Send, reason: str, now: datetime) -> SendOutcome:
    """Retry with growing delays, because no render process was available; EXPIRED if the send expires before that."""
    delay = no_server_delay(send.attempt)
    if _is_expired(send, now + delay):
        delay = NO_SERVER_DELAY
    if _is_expired(send, now + delay):
        return _give_up(send, reason, [], [])
    return SendOutcome(
        status=send.status,
        due_at=now + delay,
        waits_for=WaitCause.SETUP,
        counts_as_try=False,
        pending=send.pending,
        reason=reason,
    )


def suppressed(send: Send, addresses: Sequence[tuple[str, str]]) -> SendOutcome:
    """All remaining recipients are suppressed or have unsubscribed: `addresses`, each with the suppression reason.

    The status is SUPPRESSED, or SENT if an earlier attempt reached other recipients.
    """
    address, suppression_reason = addresses[0]
    reason = f"{address} is suppressed ({suppression_reason.lower()})."
    send_outcome = SendOutcome(
        status="SUPPRESSED" if send.sent_at is None else "SENT",
        reason=reason,
        skipped="unsubscribed" if suppression_reason == "UNSUBSCRIBE" else "suppressed",
    )
    return with_suppressed_recipients(send_outcome, addresses)


def with_suppressed_recipients(send_outcome: SendOutcome, addresses: Sequence[tuple[str, str]]) -> SendOutcome:
    """Add the suppressed recipients to an outcome: to its reason, its recipients, and its events (one for each).

    Each of `addresses` is an address with its suppression reason. Returns `send_outcome` unchanged if there are no
    addresses or if the attempt does not count as a try.
    """
    if not addresses or not send_outcome.counts_as_try:
        return send_outcome
    listed = "; ".join(
        f"{address} is {suppression_text(suppression_reason)}" for address, suppression_reason in addresses[:5]
    )
    more = f" and {len(addresses) - 5} more" if len(addresses) > 5 else ""
    summary = f"Suppressed recipients: {listed}{more}."
    suppressed_recipients: dict[str, tuple[SendStatus, str | None]] = {
        address: ("SUPPRESSED", suppression_text(suppression_reason)) for address, suppression_reason in addresses
    }
    events = [
        ("email.suppressed", {"recipient": address, "reason": f"{address} is {suppression_text(suppression_reason)}."})
        for address, suppression_reason in addresses
    ]
    reason = send_outcome.reason
    if send_outcome.status != "SUPPRESSED":
        reason = f"{reason} {summary}" if reason else summary
    return msgspec.structs.replace(
        send_outcome,
        reason=reason and reason[:1_000],
        recipients={**send_outcome.recipients, **suppressed_recipients},
        events=[*send_outcome.events, *events],
    )


def suppression_text(reason: str) -> str:
    """A suppression reason as shown to people: `suppressed (bounce)` for `BOUNCE`."""
    return f"suppressed ({reason.lower()})"


def with_complaint(send_outcome: SendOutcome) -> SendOutcome:
    """The outcome as COMPLAINED, for the test address for complaints: as if the recipient had reported spam."""
    return msgspec.structs.replace(
        send_outcome, status="COMPLAINED", complained=True, events=[*send_outcome.events, ("email.complained", {})]
    )


def _is_expired(send: Send, moment: datetime) -> bool:
    return send.expires_at is not None and moment >= send.expires_at


def is_hard_bounce(result: Result, *, gave_up: bool = False) -> bool:
    """Whether a result suppresses its recipient at once. `gave_up`: a server reported that it no longer tries."""
    if result.host == TEST_DOMAIN:
        return False  # Test addresses are never suppressed, so that tests can be repeated.
    verdict = classify(result.code, result.enhanced, result.text, gave_up=gave_up)
    return isinstance(result, Rejected) and suppresses(verdict)


def is_soft_bounce(result: Result, *, gave_up: bool = False) -> bool:
    """Whether a result suppresses its recipient if such failures are repeated. `gave_up` as for `is_hard_bounce`."""
    verdict = classify(result.code, result.enhanced, result.text, gave_up=gave_up)
    return result.host != TEST_DOMAIN and counts_towards_suppression(verdict)


def reply_text(result: Result) -> str:
    """A result as the reason of a send: recipient, code and text, at most 1,000 characters."""
    parts = [str(result.code) if result.code else "", result.enhanced, result.text]
    return storable(f"{result.recipient}: {' '.join(part for part in parts if part)}")[:1_000]


def storable(text: str) -> str:
    """A server's text with U+FFFD instead of each control character, except tab and line feed.

    PostgreSQL cannot store NUL and surrogates. The other control characters are unsafe on a terminal that prints a
    reason, an event or a dialogue: they begin escape sequences, or change the direction of text.
    """
    # Most texts need no replacement, and `isprintable` takes half the time.
    return text if text.isprintable() else _NOT_STORED.sub("\N{REPLACEMENT CHARACTER}", text)


_NOT_STORED = re.compile(rf"(?![\t\n]){UNPRINTABLE.pattern}")


def _first_text(results: tuple[Result, ...]) -> str | None:
    return storable(results[0].text)[:1_000] if results else None


def bounce_data(result: Result) -> dict[str, Any]:
    """The data of `email.bounced`, besides those of all events of sends."""
    return {
        "recipient": result.recipient,
        "code": result.code,
        "enhancedCode": result.enhanced,
        "text": storable(result.text)[:1_000],
        "type": classify(result.code, result.enhanced, result.text).kind.value,
    }


# The rates that statistics, campaigns and A/B tests show ---------------------------------------------------
#
# `sent` counts the messages that a server accepted, `bounced` those that a server rejected, at once or later in a
# report; no message is both. Opens, clicks and complaints are divided by `sent`, as if all these messages had been
# delivered, because most servers never report the delivery itself. Bounces are divided by `sent` plus `bounced`.


def rate(counts: Mapping[str, int], measure: str) -> float:
    """The rate of `measure` ("opened", "clicked", "complained" or "bounced") from 0 to 1; 0 without messages."""
    total = counts.get("sent", 0)
    if measure == "bounced":
        total += counts.get("bounced", 0)
    return share(counts.get(measure, 0), total)


def share(part: int, whole: int) -> float:
    """A share from 0 to 1 with six decimals; 0 if `whole` is 0."""
    return round(min(part / whole, 1.0), 6) if whole > 0 else 0.0


# Test addresses ---------------------------------------------------

TEST_DOMAIN = "postern.test"
"""The domain of test addresses, which have a fixed outcome on every transport. It never exists in the DNS (RFC 6761
§6.2)."""


class FixedOutcome(StrEnum):
    """The outcome of mail to `<value>@postern.test`; `+tags` are allowed."""

    DELIVERED = "delivered"
    BOUNCED = "bounced"
    """A hard bounce: no such mailbox."""
    COMPLAINED = "complained"
    """Delivered, and then reported as spam."""
    DEFERRED = "deferred"
    """Deferred at every attempt."""
    SUPPRESSED = "suppressed"
    """As if the address was on the suppression list."""


def fixed_outcome(address: str) -> FixedOutcome | None:
    """The fixed outcome of a test address; None for all other addresses, also in TEST_DOMAIN."""
    local, _, domain = address.lower().rpartition("@")
    if domain.removesuffix(".") != TEST_DOMAIN:
        return None
    name = local.partition("+")[0]
    return next((fixed for fixed in FixedOutcome if fixed == name), None)


def fixed_result(fixed: FixedOutcome, recipient: str) -> Result:
    """The result for a test address with this fixed outcome."""
    if fixed is FixedOutcome.BOUNCED:
        kind, code, enhanced, text = Rejected, 550, "5.1.1", "No such user here"
    elif fixed is FixedOutcome.SUPPRESSED:
        kind, code, enhanced, text = Rejected, 550, "5.1.1", "On the suppression list"
    elif fixed is FixedOutcome.DEFERRED:
        kind, code, enhanced, text = Deferred, 451, "4.2.0", "Mailbox busy, try again later"
    else:
        return Accepted(
            recipient=recipient,
            code=250,
            enhanced="2.1.5",
            text="Delivered",
            host=TEST_DOMAIN,
            duration=NO_TIME,
            delivered=True,
        )
    return kind(recipient=recipient, code=code, enhanced=enhanced, text=text, host=TEST_DOMAIN, duration=NO_TIME)
