"""Notifications of Amazon SES about messages that it accepted: bounces, complaints, delays and deliveries.

SES publishes them to a topic of Amazon SNS, which posts them here. SNS repeats a message if the response is 429 or 5xx,
and gives up after any other error.
"""

from datetime import timedelta
from typing import TYPE_CHECKING
from uuid import UUID

import msgspec
import structlog
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey

from postern.kernel.http.call import Call, ProjectMissing
from postern.kernel.http.operation import RawRequest, post
from postern.kernel.http.problems import BadRequest, Unavailable
from postern.kernel.http.responses import HttpResponse
from postern.kernel.limits import RateLimit, TooManyRequests
from postern.kernel.outbound.client import OutboundResponse
from postern.kernel.values import Moment
from postern.messaging.emails.rules import read_reference
from postern.messaging.emails.signals import DeliverySignal, SendInTransmission, apply_signals
from postern.messaging.emails.unattributed import keep_unattributed
from postern.platform.projects import operations as projects
from postern.protocols.aws.ses_events import SesEvent, read_event
from postern.protocols.aws.sns import SnsMessage, SnsRefused, read_certificate, read_message, verify_signature

if TYPE_CHECKING:
    from postern.world import World

log: structlog.stdlib.BoundLogger = structlog.get_logger(__name__)

NOTIFICATION_LIMIT = 1_048_576
"""Maximum bytes of a message of SNS. SNS limits its content to 256 KiB, which can grow as a JSON string."""
MAX_AGE, MAX_AHEAD = timedelta(hours=2), timedelta(minutes=15)
"""How far the time of a message may be in the past and in the future. SNS repeats a message for at most an hour."""
CERTIFICATE_BYTES = 16_384
CERTIFICATES_KEPT = 16
CERTIFICATE_RATE = RateLimit("sns-certificates", 30, timedelta(minutes=1))
"""How often one process fetches certificates for a client and a project. AWS has one per region and changes it about
once a year. The message is not verified yet, so forged ones must not use up the quota of others."""
CONFIRMATION_BYTES = 4_096
VALIDATED = "Successfully validated SNS topic"
"""How SES begins the message that it publishes when a topic is set up."""


class NotificationRefused(BadRequest):
    """The message is not a signed message of Amazon SNS for a topic of this project."""


class NotificationNotProcessed(Unavailable):
    """The message cannot be processed at present. Amazon SNS repeats it."""


@post(
    "/ses/notifications",
    public=True,
    ignore_unknown_query=True,
    hidden=True,
    body_limit=NOTIFICATION_LIMIT,
    problems=[NotificationRefused, NotificationNotProcessed, TooManyRequests],
)
async def receive_ses_notification(call: Call, request: RawRequest) -> HttpResponse:
    """Receive a message of Amazon SNS for the server's own account of SES."""
    message = await _verified(call, await request.body(), call.world.settings.ses_topics)
    await _process(call, message, None)
    return HttpResponse(b"", status=204)


@post(
    "/projects/{project_id}/ses/notifications",
    public=True,
    ignore_unknown_query=True,
    hidden=True,
    body_limit=NOTIFICATION_LIMIT,
    problems=[NotificationRefused, NotificationNotProcessed, TooManyRequests, ProjectMissing],
)
async def receive_project_ses_notification(call: Call, request: RawRequest) -> HttpResponse:
    """Receive a message of Amazon SNS for the project's account of SES."""
    project = await projects.require_project(call.db, call.project_id)
    topics = project.settings.ses.topics if project.settings.ses else []
    message = await _verified(call, await request.body(), topics)
    await _process(call, message, project.id)
    return HttpResponse(b"", status=204)


async def _verified(call: Call, body: bytes, topics: "list[str] | tuple[str, ...]") -> SnsMessage:
    """The message, if it is recent and SNS signed it for one of the topics. Raises NotificationRefused."""
    try:
        message = read_message(body)
        # Before the certificate is fetched, so that not every request causes one to AWS.
        if message.topic not in topics:
            raise SnsRefused("The topic is not among the configured ones.")
        if not call.now - MAX_AGE <= message.at <= call.now + MAX_AHEAD:
            raise SnsRefused("The message is too old, or the clock of this server is wrong.")
        key = await signing_keys(call.world).get(message.certificate_url, f"{call.project_id}|{call.origin.ip}")
        verify_signature(message, key)
    except SnsRefused as refused:
        raise NotificationRefused(str(refused)) from None
    return message


async def _process(call: Call, message: SnsMessage, project_id: UUID | None) -> None:
    """Confirm the subscription or apply the event. With `project_id`, only events of its sends are applied."""
    if message.type == "SubscriptionConfirmation":
        await _confirm(call.world, message)
    elif message.type == "UnsubscribeConfirmation":
        log.warning("ses_topic_unsubscribed", topic=message.topic)
    else:
        await _apply(call, message, project_id)


async def _confirm(world: "World", message: SnsMessage) -> None:
    response = await world.outbound.get(message.subscribe_url, keep=CONFIRMATION_BYTES)
    if not isinstance(response, OutboundResponse) or not response.ok:
        log.warning("ses_topic_not_confirmed", topic=message.topic, response=str(response)[:500])
        raise NotificationNotProcessed
    log.info("ses_topic_confirmed", topic=message.topic)


async def _apply(call: Call, message: SnsMessage, project_id: UUID | None) -> None:
    """Apply the event of a notification. A malformed event is kept for the operator; SNS would repeat it unchanged. One
    about an unknown message changes nothing."""
    if message.message.startswith(VALIDATED):
        return
    try:
        event = read_event(message.message)
    except ValueError as error:
        log.warning("ses_event_invalid", topic=message.topic, message=message.message_id, error=str(error))
        await _keep(call, message, str(error))
        return
    if event is None:
        return
    signals = _signals(call, event, project_id)
    if not signals:
        log.info("ses_event_of_other_sender", topic=message.topic, message=message.message_id)
        return
    try:
        await apply_signals(call.world, signals)
    except SendInTransmission:
        # SNS does not repeat a message after a status 4xx.
        raise NotificationNotProcessed from None


async def _keep(call: Call, message: SnsMessage, reason: str) -> None:
    content = message.message.encode("utf-8", "replace")
    async with call.db.transaction() as tx:
        await keep_unattributed(
            tx, "ses", content, call.now, reason=reason, sender=message.topic, subject=message.message_id
        )


def _signals(call: Call, event: SesEvent, project_id: UUID | None) -> list[DeliverySignal]:
    """The signals of an event; empty if it is not about a send of this server or of this project."""
    references = (read_reference(call.world.secrets, text) for text in event.references)
    valid_reference = next((reference for reference in references if reference is not None), None)
    if valid_reference is None:
        return []
    send_project_id, send_id = valid_reference
    if project_id not in (None, send_project_id):
        return []
    at = Moment.of(event.at) if event.at else call.now
    signal = DeliverySignal(
        project_id=send_project_id,
        send_id=send_id,
        kind=event.kind,
        bounce=event.bounce,
        source="ses",
        host=event.host,
        feedback_type=event.feedback_type,
        occurred_at=at,
    )
    if not event.recipients:
        return [signal]
    return [
        msgspec.structs.replace(
            signal,
            recipient=recipient.address,
            code=recipient.code,
            enhanced=recipient.enhanced,
            text=recipient.text,
        )
        for recipient in event.recipients
    ]


class SigningKeys:
    """The public keys of SNS, by the URL of their certificate."""

    def __init__(self, world: "World") -> None:
        self._world = world
        self._keys: dict[str, RSAPublicKey] = {}

    async def get(self, url: str, client: str) -> RSAPublicKey:
        """The key of the certificate at `url`, which must be one of SNS. Fetched once, and kept for later calls.

        `client` is the key of the rate limit CERTIFICATE_RATE for a fetch.

        Raises SnsRefused if the file is not a certificate, NotificationNotProcessed if it cannot be fetched, and
        TooManyRequests.
        """
        key = self._keys.get(url)
        if key is None:
            self._world.limiter.take(CERTIFICATE_RATE, client)
            response = await self._world.outbound.get(url, keep=CERTIFICATE_BYTES)
            if not isinstance(response, OutboundResponse) or not response.ok or not response.complete:
                log.warning("sns_certificate_missing", url=url, response=str(response)[:500])
                raise NotificationNotProcessed
            key = read_certificate(response.body)
            if len(self._keys) >= CERTIFICATES_KEPT:
                self._keys.clear()
            self._keys[url] = key
        return key

    async def aclose(self) -> None:
        """Does nothing: there are no connections."""


def signing_keys(world: "World") -> SigningKeys:
    """The keys that this process keeps, created on first use."""
    return world.resources[SigningKeys]
