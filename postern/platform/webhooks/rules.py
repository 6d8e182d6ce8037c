"""Matching of subscriptions, payloads, the retry schedule, and deactivation of failing subscriptions."""

from collections.abc import Collection, Iterable
from datetime import timedelta
from email.utils import parsedate_to_datetime
from typing import Any
from uuid import UUID

from postern.kernel.http.operation import camel
from postern.kernel.outbound.client import OutboundRefused, OutboundResponse, Outcome
from postern.kernel.values import Moment, to_json
from postern.platform.events.model import (
    ALIASES,
    EVENT_NAMES,
    EventContact,
    EventRow,
    is_about_contacts,
    is_custom_name,
)
from postern.platform.webhooks.model import PAYLOAD_BYTES, DeliveryStatus, DeliveryVerdict

ATTEMPT_DELAYS = tuple(
    timedelta(seconds=seconds) for seconds in (0, 5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400)
)
"""Delay before each attempt (Standard Webhooks 1.0.0, deliverability)."""
JITTER = 0.2
"""Maximum variation of a delay, as a share of it."""
RETRY_AFTER_LIMIT = timedelta(hours=1)
"""Maximum `Retry-After` that is respected; twice the delay in ATTEMPT_DELAYS if that is longer."""
DEACTIVATE_AFTER = timedelta(days=5)
DEACTIVATE_FAILURES = 10
"""A subscription is deactivated after at least DEACTIVATE_FAILURES successive failed attempts, the first of which is at
least DEACTIVATE_AFTER ago."""

SUBSCRIBABLE_AREAS = frozenset(name.partition(".")[0] for name in EVENT_NAMES)
CUSTOM = "custom"
"""Prefix of subscriptions to custom events."""


def matching_entries(type: str) -> set[str]:
    """The subscription entries that match an event of `type`: its name, former names, and wildcards."""
    area = type.partition(".")[0]
    if type not in EVENT_NAMES:
        return {"*", f"{CUSTOM}.*", f"{CUSTOM}.{type}"}
    return {"*", type, f"{area}.*"} | {alias for alias, name in ALIASES.items() if name == type}


def is_valid_entry(entry: str) -> bool:
    """Whether an entry is valid in a subscription: an event name, a former name, or a wildcard."""
    area, _, name = entry.partition(".")
    if area == CUSTOM:
        return name == "*" or is_custom_name(name)
    return entry == "*" or entry in EVENT_NAMES or entry in ALIASES or (name == "*" and area in SUBSCRIBABLE_AREAS)


def is_subscribed(entries: Collection[str], matching: Iterable[str]) -> bool:
    """Whether a subscription with `entries` includes an event. `matching` has the entries that match the event
    (`matching_entries`)."""
    return any(entry in entries for entry in matching)


def payload_of(event: EventRow, contact: EventContact | None = None) -> dict[str, Any]:
    """The body of a delivery of `event`; see `payload`."""
    return payload(event.type, event.occurred_at, event.subject_id, event.project_id, event.data, contact)


def payload(
    type: str,
    timestamp: Moment | str,
    subject_id: UUID | str | None,
    project_id: UUID | str,
    data: dict[str, Any],
    contact: EventContact | dict[str, Any] | None = None,
) -> dict[str, Any]:
    """The body of a delivery, `{type, timestamp, data}`, from the fields of its event.

    `data` has `id` (the record's), `projectId` and, for events about contacts, `contact`. The data of a custom event is
    in `data.data`, so that it cannot overwrite other fields. If the body exceeds PAYLOAD_BYTES, `data` has
    `truncated: true` instead of the event's data.
    """
    event_data = {"data": data} if type not in EVENT_NAMES else {camel(name): value for name, value in data.items()}
    common: dict[str, Any] = {"id": subject_id, "projectId": project_id}
    if is_about_contacts(type):
        common["contact"] = contact
    # The common fields come first, and the event's data cannot overwrite them.
    body: dict[str, Any] = {"type": type, "timestamp": timestamp, "data": {**common, **event_data, **common}}
    if len(to_json(body)) > PAYLOAD_BYTES:
        body["data"] = {**common, "truncated": True}
    return body


def delay_before_retry(failed_attempts: int, chance: float, retry_after: timedelta | None = None) -> timedelta | None:
    """Delay before the next attempt after `failed_attempts` failed attempts; None if there is no further attempt.

    `chance`, from 0 to 1, varies the delay by up to 20% in either direction (jitter). `retry_after`, requested by the
    endpoint, can extend it up to RETRY_AFTER_LIMIT.
    """
    if failed_attempts >= len(ATTEMPT_DELAYS):
        return None
    delay = ATTEMPT_DELAYS[failed_attempts]
    if retry_after is not None:
        delay = min(max(delay, retry_after), max(2 * delay, RETRY_AFTER_LIMIT))
    return delay * (1 + JITTER * (2 * chance - 1))


def read_retry_after(text: str | None, now: Moment) -> timedelta | None:
    """Parse `Retry-After` (RFC 9110 §10.2.3), seconds or a date; None if it is invalid."""
    if text is None:
        return None
    if text.isascii() and text.isdigit():
        return timedelta(seconds=min(int(text[:9]), 10**8))
    try:
        return max(timedelta(), parsedate_to_datetime(text) - now)
    except (ValueError, TypeError):
        return None


def attempt_result(outcome: Outcome, attempt_number: int, now: Moment, chance: float) -> DeliveryVerdict:
    """The result of attempt `attempt_number` (from 1) of a delivery, which ended with `outcome` at `now`."""
    ms = round(outcome.seconds * 1000, 1)
    if not isinstance(outcome, OutboundResponse):
        delay = delay_before_retry(attempt_number, chance)
        due_at = Moment.of(now + delay) if delay is not None else None
        reason = outcome.reason
        if isinstance(outcome, OutboundRefused):
            reason = f"Not called: {reason}"
        status: DeliveryStatus = "FAILED" if due_at is None else "PENDING"
        return DeliveryVerdict(status, due_at, error_message=reason, response_ms=ms)
    body = outcome.body.decode("utf-8", "replace").replace("\0", "")
    if outcome.ok:
        return DeliveryVerdict("SUCCEEDED", None, response_status=outcome.status, response_body=body, response_ms=ms)
    gone = outcome.status == 410
    delay = (
        None
        if gone
        else delay_before_retry(attempt_number, chance, read_retry_after(outcome.headers.get("retry-after"), now))
    )
    return DeliveryVerdict(
        "FAILED" if delay is None else "PENDING",
        None if delay is None else Moment.of(now + delay),
        response_status=outcome.status,
        response_body=body,
        response_ms=ms,
        error_message=failure_message(outcome.status),
        gone=gone,
    )


def failure_message(status: int) -> str:
    """The error message for a response with this HTTP status."""
    if status == 410:
        return "The endpoint responded with 410 Gone, so the subscription was deactivated."
    if 300 <= status < 400:
        return f"The endpoint responded with {status}; redirects are not followed."
    return f"The endpoint responded with {status}."


def deactivation_reason(*, gone: bool, failures: int, failing_since: Moment, now: Moment) -> str | None:
    """Why a subscription is deactivated after a failed attempt; None if it stays active.

    `gone` tells that the endpoint responded with 410.
    """
    if gone:
        return "The endpoint responded with 410 Gone."
    if failures >= DEACTIVATE_FAILURES and now - failing_since >= DEACTIVATE_AFTER:
        return f"Every attempt for {DEACTIVATE_AFTER.days} days failed ({failures} in all)."
    return None
