"""Subscriptions, deliveries and their limits."""

from datetime import timedelta
from typing import Any, Literal
from uuid import UUID

import msgspec

from postern.kernel.clock import Moment
from postern.kernel.http.problems import Conflict, Missing, Unprocessable
from postern.kernel.values import Record

DeliveryStatus = Literal["PENDING", "SUCCEEDED", "FAILED"]

WEBHOOKS_PER_PROJECT = 100
EVENTS_PER_WEBHOOK = 100
DESCRIPTION_CHARACTERS = 500
PAYLOAD_BYTES = 20_000
"""Larger payloads are sent without their details; the record itself can be fetched."""
RESPONSE_BYTES = 4_096
REPLAYED_AT_ONCE = 10_000
GRACE = timedelta(hours=24)
"""How long the secret before the last rotation still signs, unless the rotation says otherwise."""
GRACE_SECONDS_LIMIT = 7 * 86_400
DELIVERIES_KEPT = timedelta(days=30)
TIDY_EVERY = timedelta(days=1)


class WebhookMissing(Missing):
    """There is no such webhook subscription."""


class DeliveryMissing(Missing):
    """There is no such webhook delivery."""


class WebhookInactive(Conflict):
    """That webhook subscription is switched off; switch it on first."""


class TooManyWebhooks(Unprocessable):
    """A project has at most 100 webhook subscriptions; delete some first."""


class Webhook(Record):
    """Who is told, and of what."""

    id: UUID
    app_id: UUID
    url: str
    events: list[str]
    """Event names, `email.*`, `*`, or `custom.<name>` and `custom.*` for those that you send in."""
    description: str
    active: bool
    failing_since: Moment | None
    """When the first of an unbroken run of failed attempts was made; null while it works."""
    disabled_at: Moment | None
    disabled_reason: str | None
    """Why the service switched it off; null if you did, or it is on."""
    previous_secret_expires_at: Moment | None
    created_at: Moment
    updated_at: Moment


class WebhookWithSecret(Webhook):
    """A subscription in the answers to its creation and to a rotation: the only two that show the secret."""

    secret: str


class WebhookInUse(Record):
    """What delivering needs to know of a subscription."""

    id: UUID
    project_id: UUID
    url: str
    active: bool
    sealed_secret: bytes
    previous_sealed_secret: bytes | None
    previous_secret_expires_at: Moment | None
    failures: int


class WebhookSubscription(Record):
    """What fanning out needs to know of a subscription."""

    project_id: UUID
    id: UUID
    events: list[str]


class FailureState(Record):
    """How long a subscription has been failing."""

    failures: int
    failing_since: Moment


class ExpiredDeliveries(Record):
    """A subscription whose day has come."""

    project_id: UUID
    id: UUID
    attempt: int


class DueDelivery(Record):
    """A delivery that is to be tried now."""

    project_id: UUID
    id: UUID
    webhook_id: UUID
    event_id: UUID
    attempt: int
    tried: int


class DeliveryVerdict(msgspec.Struct, frozen=True):
    """What becomes of a delivery."""

    status: DeliveryStatus
    due_at: Moment | None = None
    tried: bool = True
    """Whether a request was made."""
    response_status: int | None = None
    response_body: str | None = None
    response_ms: float | None = None
    error_message: str | None = None
    gone: bool = False
    """Whether the endpoint asked not to be called again (410)."""


class DeliveryRow(Record):
    """A delivery as it is stored: the payload lies with the event."""

    id: UUID
    subscription_id: UUID
    event_id: UUID
    event: str
    status: DeliveryStatus
    attempts: int
    response_status: int | None
    response_body: str | None
    response_ms: float | None
    error_message: str | None
    created_at: Moment
    attempted_at: Moment | None
    next_attempt_at: Moment | None
    delivered_at: Moment | None


class WebhookDelivery(Record):
    """One event for one subscription, and how its last attempt went."""

    id: UUID
    subscription_id: UUID
    event_id: UUID
    """Sent as `webhook-id`: the same on every attempt and replay."""
    event: str
    payload: dict[str, Any]
    status: DeliveryStatus
    attempts: int
    response_status: int | None
    response_time: float | None
    """Of the last attempt, in milliseconds."""
    error_message: str | None
    created_at: Moment
    attempted_at: Moment | None
    next_attempt_at: Moment | None
    delivered_at: Moment | None


class WebhookDeliveryDetail(WebhookDelivery):
    """A delivery with what the endpoint answered to the last attempt: the first 4 KiB."""

    response_body: str | None


class WebhookTestResult(Record):
    """How a test call went."""

    status: int | None
    """The HTTP status; null if there was no answer."""
    ok: bool
    response_time: float
    """In milliseconds."""
    reason: str | None
    """Why there was no answer, or why the answer counts as a failure; null if it went well."""


class WebhookReplayResult(Record):
    """How many deliveries begin anew."""

    replayed: int
    more: bool
    """Whether there are others beyond the limit of one call; repeat it for them."""
