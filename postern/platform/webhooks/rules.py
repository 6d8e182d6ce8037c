"""Who wants what, when a failed attempt is repeated, and when a subscription is given up."""

from collections.abc import Collection, Iterable
from datetime import timedelta
from email.utils import parsedate_to_datetime
from typing import Any
from uuid import UUID

from postern.kernel.clock import Moment
from postern.kernel.http.operation import camel
from postern.kernel.outbound.client import OutboundRefused, OutboundResponse, Outcome
from postern.kernel.values import to_json
from postern.platform.events.model import ALIASES, EVENT_NAMES, Event, EventContact, is_about_contacts, is_custom_name
from postern.platform.webhooks.model import PAYLOAD_BYTES, DeliveryStatus, DeliveryVerdict

SCHEDULE = tuple(
    timedelta(seconds=seconds) for seconds in (0, 5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400)
)
"""What passes before each attempt (Standard Webhooks 1.0.0, deliverability)."""
JITTER = 0.2
RETRY_AFTER_LIMIT = timedelta(hours=1)
"""A wish to be left alone is granted up to this, or twice the schedule's own pause if that is longer."""
GIVEN_UP_AFTER = timedelta(days=5)
GIVEN_UP_FAILURES = 10

AREAS = frozenset(name.partition(".")[0] for name in EVENT_NAMES)
CUSTOM = "custom"
"""Marks subscriptions to events that the customer sends in."""


def keys_of(type: str) -> set[str]:
    """The subscription entries that an event of this type answers to."""
    area = type.partition(".")[0]
    if type not in EVENT_NAMES:
        return {"*", f"{CUSTOM}.*", f"{CUSTOM}.{type}"}
    return {"*", type, f"{area}.*"} | {alias for alias, name in ALIASES.items() if name == type}


def is_known(entry: str) -> bool:
    """Whether a subscription may name this."""
    area, _, what = entry.partition(".")
    if area == CUSTOM:
        return what == "*" or is_custom_name(what)
    return entry == "*" or entry in EVENT_NAMES or entry in ALIASES or (what == "*" and area in AREAS)


def wants(entries: Collection[str], keys: Iterable[str]) -> bool:
    """Whether a subscription with these entries wants an event with these keys."""
    return any(key in entries for key in keys)


def payload_of(event: Event, contact: EventContact | None = None) -> dict[str, Any]:
    """The body of a delivery: `{type, timestamp, data}`, with the record's `id` among the data."""
    return payload(event.type, event.occurred_at, event.subject_id, event.project_id, event.data, contact)


def payload(
    type: str,
    timestamp: Moment | str,
    subject_id: UUID | str | None,
    project_id: UUID | str,
    data: dict[str, Any],
    contact: EventContact | dict[str, Any] | None = None,
) -> dict[str, Any]:
    """The body of a delivery, from the parts of its event.

    What a caller sent in with a custom event stands under `data.data`, where it overwrites nothing of ours.
    """
    own = {"data": data} if type not in EVENT_NAMES else {camel(name): value for name, value in data.items()}
    head: dict[str, Any] = {"id": subject_id, "projectId": project_id}
    if is_about_contacts(type):
        head["contact"] = contact
    whole: dict[str, Any] = {"type": type, "timestamp": timestamp, "data": {**head, **own, **head}}
    if len(to_json(whole)) > PAYLOAD_BYTES:
        whole["data"] = {**head, "truncated": True}
    return whole


def pause_before(tried: int, chance: float, retry_after: timedelta | None = None) -> timedelta | None:
    """What passes before the next attempt when `tried` have failed; None when there is none.

    `chance` from 0 to 1 spreads it by a fifth either way.
    """
    if tried >= len(SCHEDULE):
        return None
    pause = SCHEDULE[tried]
    if retry_after is not None:
        pause = min(max(pause, retry_after), max(2 * pause, RETRY_AFTER_LIMIT))
    return pause * (1 + JITTER * (2 * chance - 1))


def read_retry_after(text: str | None, now: Moment) -> timedelta | None:
    """What a `Retry-After` header asks for (RFC 9110 §10.2.3): seconds or a date; None if it makes no sense."""
    if text is None:
        return None
    if text.isascii() and text.isdigit():
        return timedelta(seconds=min(int(text[:9]), 10**8))
    try:
        return max(timedelta(), parsedate_to_datetime(text) - now)
    except (ValueError, TypeError):
        return None


def judge(outcome: Outcome, tried: int, now: Moment, chance: float) -> DeliveryVerdict:
    """What becomes of a delivery whose attempt number `tried` (from 1) ended like this at `now`."""
    ms = round(outcome.seconds * 1000, 1)
    if not isinstance(outcome, OutboundResponse):
        pause = pause_before(tried, chance)
        due_at = Moment.of(now + pause) if pause is not None else None
        reason = outcome.reason
        if isinstance(outcome, OutboundRefused):
            reason = f"Not called: {reason}"
        status: DeliveryStatus = "FAILED" if due_at is None else "PENDING"
        return DeliveryVerdict(status, due_at, error_message=reason, response_ms=ms)
    body = outcome.body.decode("utf-8", "replace").replace("\0", "")
    if outcome.ok:
        return DeliveryVerdict("SUCCEEDED", None, response_status=outcome.status, response_body=body, response_ms=ms)
    gone = outcome.status == 410
    pause = None if gone else pause_before(tried, chance, read_retry_after(outcome.headers.get("retry-after"), now))
    return DeliveryVerdict(
        "FAILED" if pause is None else "PENDING",
        None if pause is None else Moment.of(now + pause),
        response_status=outcome.status,
        response_body=body,
        response_ms=ms,
        error_message=failure_message(outcome.status),
        gone=gone,
    )


def failure_message(status: int) -> str:
    """What is wrong with an answer of this HTTP status."""
    if status == 410:
        return "The endpoint answered 410: it does not want to be called again."
    if 300 <= status < 400:
        return f"The endpoint answered {status}; redirects are not followed."
    return f"The endpoint answered {status}."


def reason_to_give_up(*, gone: bool, failures: int, failing_since: Moment, now: Moment) -> str | None:
    """Why a subscription is switched off; None if it stays on."""
    if gone:
        return "The endpoint answered 410 Gone."
    if failures >= GIVEN_UP_FAILURES and now - failing_since >= GIVEN_UP_AFTER:
        return f"Every attempt for {GIVEN_UP_AFTER.days} days failed ({failures} in all)."
    return None
