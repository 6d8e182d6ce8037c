"""Records, limits and problems of webhook subscriptions and deliveries."""

from datetime import timedelta
from typing import Any, Literal
from uuid import UUID

import msgspec

from postern.kernel.http.problems import Conflict, Missing, Unprocessable
from postern.kernel.values import Moment, Record

DeliveryStatus = Literal["PENDING", "SUCCEEDED", "FAILED"]
WebhookFormat = Literal["postern", "resend"]
"""The form of payloads and signature headers: Postern's own, or that of Resend's API."""

WEBHOOKS_PER_PROJECT = 100
EVENTS_PER_WEBHOOK = 100
DESCRIPTION_CHARACTERS = 500
PAYLOAD_BYTES = 20_000
"""Maximum bytes of a payload. Larger ones are sent without details; fetch the record by its id."""
RESPONSE_BYTES = 4_096
REPLAYS_PER_REQUEST = 10_000
SECRET_GRACE_PERIOD = timedelta(hours=24)
"""Default time for which the previous secret still signs after a rotation."""
GRACE_SECONDS_LIMIT = 7 * 86_400
DELIVERY_RETENTION = timedelta(days=30)
CLEANUP_INTERVAL = timedelta(days=1)


class WebhookMissing(Missing):
    """There is no such webhook subscription."""


class DeliveryMissing(Missing):
    """There is no such webhook delivery."""


class WebhookInactive(Conflict):
    """This webhook subscription is inactive; activate it first."""


class TooManyWebhooks(Unprocessable):
    """A project has at most 100 webhook subscriptions; delete some first."""


class Webhook(Record):
    """A subscription of a URL to events."""

    id: UUID
    # The project's id: the older paths of the API call a project an app.
    app_id: UUID
    url: str
    events: list[str]
    """Event names, `email.*`, `*`, or `custom.<name>` and `custom.*` for custom events."""
    format: WebhookFormat
    """The form of the payloads: `postern`, or `resend` if the subscription was created at `/compat/resend`."""
    description: str
    active: bool
    failing_since: Moment | None
    """When the current series of failed attempts began; null if the last attempt succeeded."""
    disabled_at: Moment | None
    disabled_reason: str | None
    """Why Postern deactivated it; null if it is active or was deactivated by an API call."""
    previous_secret_expires_at: Moment | None
    created_at: Moment
    updated_at: Moment


class StoredWebhook(Record):
    """A row of `webhooks` to insert."""

    project_id: UUID
    id: UUID
    url: str
    events: list[str]
    format: WebhookFormat
    description: str
    active: bool
    sealed_secret: bytes
    due_at: Moment
    """When a worker deletes expired deliveries next."""
    created_at: Moment
    updated_at: Moment


class WebhookWithSecret(Webhook):
    """A subscription with its secret, which only the responses to creation and rotation contain."""

    secret: str


class WebhookForDelivery(Record):
    """The columns of a subscription that a delivery needs."""

    id: UUID
    project_id: UUID
    url: str
    format: WebhookFormat
    active: bool
    sealed_secret: bytes
    previous_sealed_secret: bytes | None
    previous_secret_expires_at: Moment | None
    failures: int


class WebhookSubscription(Record):
    """The columns of a subscription that decide whether it gets an event."""

    project_id: UUID
    id: UUID
    events: list[str]


class FailureState(Record):
    """How many attempts of a subscription have failed in succession, and since when they fail."""

    failures: int
    failing_since: Moment


class WebhookCleanup(Record):
    """A row of `webhooks` whose expired deliveries are due to be deleted, as a worker claimed it."""

    project_id: UUID
    id: UUID
    attempt: int


class DueDelivery(Record):
    """A row of `webhook_deliveries` that is due, as a worker claimed it."""

    project_id: UUID
    id: UUID
    webhook_id: UUID
    event_id: UUID
    attempt: int
    """Number of claims; a result is stored only if it has not changed since."""
    tried: int
    """Number of requests made in the current series of attempts."""


class DeliveryVerdict(msgspec.Struct, frozen=True):
    """The result of an attempt. PENDING: retry at `due_at`."""

    status: DeliveryStatus
    due_at: Moment | None = None
    attempted: bool = True
    """Whether a request was made."""
    response_status: int | None = None
    response_body: str | None = None
    response_ms: float | None = None
    error_message: str | None = None
    gone: bool = False
    """Whether the endpoint responded with 410 Gone, which ends the subscription."""


class DeliveryFields(Record):
    """The fields that the API shows of a row of `webhook_deliveries`."""

    id: UUID
    subscription_id: UUID
    event_id: UUID
    """Sent as `webhook-id`: the same on every attempt and replay."""
    event: str
    status: DeliveryStatus
    attempts: int
    response_status: int | None
    error_message: str | None
    created_at: Moment
    attempted_at: Moment | None
    next_attempt_at: Moment | None
    delivered_at: Moment | None


class DeliveryRow(DeliveryFields):
    """A stored delivery. The payload is created from the event."""

    response_body: str | None
    response_ms: float | None


class WebhookDelivery(DeliveryFields):
    """The delivery of an event to a subscription, with the result of its last attempt."""

    payload: dict[str, Any]
    response_time: float | None
    """Duration of the last attempt, in milliseconds."""


class WebhookDeliveryDetail(WebhookDelivery):
    """A delivery with the first 4 KiB of the response to the last attempt."""

    response_body: str | None


class WebhookTestResult(Record):
    """The result of a test request."""

    status: int | None
    """The HTTP status; null if there was no response."""
    ok: bool
    response_time: float
    """In milliseconds."""
    reason: str | None
    """Why there was no response, or why the response is a failure; null if the test succeeded."""


class WebhookReplayResult(Record):
    """Number of deliveries that are sent again."""

    replayed: int
    more: bool
    """Whether there are more; if so, repeat the request."""
