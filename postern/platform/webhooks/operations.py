"""HTTP operations on webhooks, and the creation of deliveries for events."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import timedelta
from typing import TYPE_CHECKING, Annotated, Any
from uuid import UUID

import msgspec

from postern.kernel.database.statements import Queries, Transaction
from postern.kernel.http.call import Call
from postern.kernel.http.operation import delete, get, patch, post
from postern.kernel.http.pagination import Cursor, LinkedList, ListLimit, newest_first
from postern.kernel.http.problems import Invalid, ProblemError, require_found
from postern.kernel.outbound.client import OutboundRefused, OutboundResponse
from postern.kernel.outbound.ssrf import AddressRefused, check_target
from postern.kernel.values import Body, Moment, Timestamp, build_view, fields_set, new_id, to_json
from postern.platform.audit import operations as audit
from postern.platform.events import history_store
from postern.platform.events import operations as events
from postern.platform.events.model import EVENT_NAMES, EventRange, EventRow, is_custom_name
from postern.platform.webhooks import rules, store
from postern.platform.webhooks.model import (
    CLEANUP_INTERVAL,
    DELIVERY_RETENTION,
    DESCRIPTION_CHARACTERS,
    EVENTS_PER_WEBHOOK,
    GRACE_SECONDS_LIMIT,
    REPLAYS_PER_REQUEST,
    SECRET_GRACE_PERIOD,
    WEBHOOKS_PER_PROJECT,
    DeliveryMissing,
    DeliveryRow,
    DeliveryStatus,
    StoredWebhook,
    TooManyWebhooks,
    Webhook,
    WebhookDelivery,
    WebhookDeliveryDetail,
    WebhookForDelivery,
    WebhookFormat,
    WebhookInactive,
    WebhookMissing,
    WebhookReplayResult,
    WebhookTestResult,
    WebhookWithSecret,
)
from postern.security.signatures import new_webhook_secret, webhook_headers

if TYPE_CHECKING:
    from postern.world import World

HEADER_PREFIXES: Mapping[WebhookFormat, str] = {"postern": "webhook", "resend": "svix"}
"""The first word of the names of the signature headers. Resend signs with Svix, whose signatures have the same form."""

UNSET = msgspec.UNSET
Unset = msgspec.UnsetType
Url = Annotated[str, msgspec.Meta(min_length=1, max_length=2_048, description="Where to send; https or http.")]
EventList = Annotated[
    list[Annotated[str, msgspec.Meta(max_length=128)]],
    msgspec.Meta(min_length=1, max_length=EVENTS_PER_WEBHOOK, description="Event names, `email.*`, `*`."),
]
Description = Annotated[str, msgspec.Meta(max_length=DESCRIPTION_CHARACTERS)]


class NewWebhook(Body):
    """A subscription to create."""

    url: Url
    events: EventList
    description: Description = ""
    active: bool = True


class WebhookChange(Body):
    """Fields to change; omitted fields keep their values."""

    url: Url | Unset = UNSET
    events: EventList | Unset = UNSET
    description: Description | Unset = UNSET
    active: bool | Unset = UNSET


class WebhookSecretRotation(Body):
    """How to rotate a secret."""

    grace_period_seconds: Annotated[int, msgspec.Meta(ge=0, le=GRACE_SECONDS_LIMIT)] = int(
        SECRET_GRACE_PERIOD.total_seconds()
    )
    """How long the old secret signs in addition to the new one, in seconds; 0 to 604,800 (7 days)."""


class WebhookReplay(Body):
    """Filter of the deliveries to send again."""

    since: Timestamp | None = None
    """Created at or after this time; defaults to 30 days ago."""
    until: Timestamp | None = None
    """Created before this time; defaults to now."""
    status: DeliveryStatus = "FAILED"


@get("/projects/{project_id}/webhooks", needs="webhooks:read")
async def list_webhooks(call: Call, limit: ListLimit = 1_000, cursor: Cursor | None = None) -> LinkedList[Webhook]:
    """List the project's webhook subscriptions, newest first, without secrets."""
    return await newest_first(call, "webhooks", cursor, limit, store.webhooks)


@post(
    "/projects/{project_id}/webhooks",
    needs="webhooks:write",
    status=201,
    problems=[TooManyWebhooks],
    example={"url": "https://example.com/hooks/postern", "events": ["email.delivered", "email.bounced"]},
)
async def create_webhook(call: Call, data: NewWebhook) -> WebhookWithSecret:
    """Subscribe a URL to events.

    Each event is sent as a POST request, signed according to Standard Webhooks (`webhook-id`, `webhook-timestamp`,
    `webhook-signature`) with the `secret`, which is returned only here and by a rotation. A 2xx response within 15
    seconds is a success; otherwise up to ten attempts are made over three days. Redirects are not followed, and
    addresses that are not on the public Internet are not called. `send.delivered` is a former name of
    `email.delivered`; subscribe to custom events as `custom.<name>`.
    """
    return await new_webhook(call, data)


async def new_webhook(call: Call, data: NewWebhook, format: WebhookFormat = "postern") -> WebhookWithSecret:
    """Subscribe a URL to events; see `create_webhook`. Raises Invalid and TooManyWebhooks."""
    _validate(call, data.url, data.events)
    webhook_id, secret = new_id(), new_webhook_secret()
    async with call.db.transaction() as tx:
        await tx.lock_quota("webhooks", call.project_id)
        if await store.count_webhooks(tx, project_id=call.project_id) >= WEBHOOKS_PER_PROJECT:
            raise TooManyWebhooks
        new_row = StoredWebhook(
            project_id=call.project_id,
            id=webhook_id,
            url=data.url,
            events=list(dict.fromkeys(data.events)),
            format=format,
            description=data.description,
            active=data.active,
            sealed_secret=call.world.secrets.seal(secret.encode(), _secret_context(call.project_id, webhook_id)),
            due_at=Moment.of(call.now + CLEANUP_INTERVAL),
            created_at=call.now,
            updated_at=call.now,
        )
        webhook = await store.insert_webhook(tx, new_row)
        await audit.record(tx, call, "webhook.created", "Webhook", webhook_id, url=data.url, events=webhook.events)
    return _with_secret(webhook, secret)


@get("/projects/{project_id}/webhooks/{id}", needs="webhooks:read", problems=[WebhookMissing])
async def get_webhook(call: Call, id: UUID) -> Webhook:
    """Get a webhook subscription with its status, without the secret."""
    return await _require_webhook(call.db, call.project_id, id)


@patch(
    "/projects/{project_id}/webhooks/{id}",
    needs="webhooks:write",
    problems=[WebhookMissing],
    example={"events": ["email.*"], "active": True},
)
async def change_webhook(call: Call, id: UUID, data: WebhookChange) -> Webhook:
    """Change the URL or events of a subscription, or activate or deactivate it.

    Activation resets the failures. Deliveries that become due while the subscription is inactive fail, and can be
    replayed. Honours `If-Match`.
    """
    async with call.db.transaction() as tx:
        webhook = require_found(await store.lock_webhook(tx, project_id=call.project_id, id=id), WebhookMissing)
        call.require_match(webhook.updated_at)
        changes = fields_set(data)
        if data.events is not UNSET:
            changes["events"] = list(dict.fromkeys(data.events))
        new = msgspec.structs.replace(webhook, **changes)
        _validate(call, new.url, new.events)
        reset_failures = new.active and (not webhook.active or new.url != webhook.url)
        webhook = await store.change_webhook(
            tx, new, project_id=call.project_id, reset_failures=reset_failures, now=call.now
        )
        await audit.record(
            tx, call, "webhook.updated", "Webhook", id, url=new.url, events=new.events, active=new.active
        )
    return webhook


@delete("/projects/{project_id}/webhooks/{id}", needs="webhooks:write", problems=[WebhookMissing])
async def delete_webhook(call: Call, id: UUID) -> Webhook:
    """Delete a subscription and its deliveries. Pending deliveries are not sent. Honours `If-Match`."""
    async with call.db.transaction() as tx:
        webhook = require_found(await store.lock_webhook(tx, project_id=call.project_id, id=id), WebhookMissing)
        call.require_match(webhook.updated_at)
        await store.delete_webhook(tx, project_id=call.project_id, id=id)
        await audit.record(tx, call, "webhook.deleted", "Webhook", id, url=webhook.url)
    return webhook


@post(
    "/projects/{project_id}/webhooks/{id}/rotate-secret",
    needs="webhooks:write",
    problems=[WebhookMissing],
    example={"gracePeriodSeconds": 86_400},
)
async def rotate_webhook_secret(call: Call, id: UUID, data: WebhookSecretRotation | None = None) -> WebhookWithSecret:
    """Rotate the secret of a subscription. The new secret is returned only here.

    The old secret signs in addition to the new one for `gracePeriodSeconds` (default 24 hours, at most 7 days, 0 to end
    it now), so that you can change over without rejecting deliveries. If an even older secret still signs, it becomes
    invalid immediately.
    """
    secret = new_webhook_secret()
    grace = timedelta(seconds=(data or WebhookSecretRotation()).grace_period_seconds)
    async with call.db.transaction() as tx:
        webhook = await store.rotate_secret(
            tx,
            project_id=call.project_id,
            id=id,
            sealed_secret=call.world.secrets.seal(secret.encode(), _secret_context(call.project_id, id)),
            expires_at=call.now + grace,
            now=call.now,
        )
        if webhook is None:
            raise WebhookMissing
        await audit.record(
            tx, call, "webhook.secret_rotated", "Webhook", id, grace_period_seconds=int(grace.total_seconds())
        )
    return _with_secret(webhook, secret)


@get("/projects/{project_id}/webhooks/{id}/deliveries", needs="webhooks:read", problems=[WebhookMissing])
async def list_webhook_deliveries(
    call: Call,
    id: UUID,
    status: list[DeliveryStatus] | None = None,
    event: list[str] | None = None,
    limit: ListLimit = 100,
    cursor: Cursor | None = None,
) -> LinkedList[WebhookDelivery]:
    """List the deliveries of a subscription in the last 30 days, newest first.

    Filter by `status` (`PENDING`, `SUCCEEDED`, `FAILED`) and `event`, each one or several, comma-separated.
    """
    if event and (unknown := [name for name in event if name not in EVENT_NAMES and not is_custom_name(name)]):
        raise Invalid.at("query/event", f"There is no event `{unknown[0][:100]}`. There are: {', '.join(EVENT_NAMES)}.")
    webhook = await _require_webhook(call.db, call.project_id, id)
    scope = f"deliveries|{id}|{','.join(status or [])}|{','.join(event or [])}"
    page = await newest_first(
        call,
        scope,
        cursor,
        limit,
        store.deliveries,
        webhook_id=id,
        statuses=None if status is None else [*status],
        events=event,
    )
    payloads = await _payloads(call, webhook.format, [row.event_id for row in page.items])
    return LinkedList([_to_delivery(row, payloads) for row in page.items], page.next_cursor)


@get(
    "/projects/{project_id}/webhooks/{id}/deliveries/{delivery_id}",
    needs="webhooks:read",
    problems=[DeliveryMissing],
)
async def get_webhook_delivery(call: Call, id: UUID, delivery_id: UUID) -> WebhookDeliveryDetail:
    """Get a delivery with the first 4 KiB of the response to the last attempt."""
    row = require_found(
        await store.delivery(call.db, project_id=call.project_id, webhook_id=id, id=delivery_id), DeliveryMissing
    )
    webhook = await _require_webhook(call.db, call.project_id, id)
    delivery = _to_delivery(row, await _payloads(call, webhook.format, [row.event_id]))
    return WebhookDeliveryDetail(**msgspec.structs.asdict(delivery), response_body=row.response_body)


@post(
    "/projects/{project_id}/webhooks/{id}/deliveries/{delivery_id}/replay",
    needs="webhooks:write",
    problems=[DeliveryMissing, WebhookInactive],
)
async def replay_webhook_delivery(call: Call, id: UUID, delivery_id: UUID) -> None:
    """Send a delivery again, whatever its status: same `webhook-id`, new timestamp, and a new series of attempts."""
    async with call.db.transaction() as tx:
        await _require_active(tx, call.project_id, id, DeliveryMissing)
        replayed = await store.replay(tx, project_id=call.project_id, webhook_id=id, id=delivery_id, now=call.now)
        if not replayed:
            raise DeliveryMissing
        tx.mark_due("webhook_deliveries", call.project_id)
        await audit.record(tx, call, "webhook.replayed", "Webhook", id, delivery_id=str(delivery_id))


@post(
    "/projects/{project_id}/webhooks/{id}/deliveries/replay",
    needs="webhooks:write",
    problems=[WebhookMissing, WebhookInactive],
    example={"since": "2026-01-31T00:00:00.000Z", "status": "FAILED"},
)
async def replay_webhook_deliveries(call: Call, id: UUID, data: WebhookReplay) -> WebhookReplayResult:
    """Send all deliveries of a period and status again, oldest first, for example after an outage.

    At most 10,000 per request; `more` tells whether there are further ones. Deliveries that are due already
    are not affected; with the status PENDING, those that wait for a retry are sent at once.
    """
    since = data.since or call.now - DELIVERY_RETENTION
    until = data.until or call.now + timedelta(milliseconds=1)
    if until <= since:
        raise Invalid.at("/until", "`until` must be after `since`.")
    async with call.db.transaction() as tx:
        await _require_active(tx, call.project_id, id, WebhookMissing)
        replayed = await store.replay_many(
            tx,
            project_id=call.project_id,
            webhook_id=id,
            status=data.status,
            since=since,
            until=until,
            now=call.now,
            limit=REPLAYS_PER_REQUEST,
        )
        tx.mark_due("webhook_deliveries", call.project_id)
        await audit.record(tx, call, "webhook.replayed", "Webhook", id, deliveries=replayed, status=data.status)
    return WebhookReplayResult(replayed=replayed, more=replayed == REPLAYS_PER_REQUEST)


@post("/projects/{project_id}/webhooks/{id}/test", needs="webhooks:write", problems=[WebhookMissing])
async def test_webhook(call: Call, id: UUID) -> WebhookTestResult:
    """Send a signed `webhook.test` event to the subscription's URL now, and return the result.

    `status` is null if there was no response; `reason` tells why, or why the response is a failure. The request is made
    once, even if the subscription is inactive, and no delivery is recorded.
    """
    webhook = require_found(
        await store.webhook_for_delivery(call.db, project_id=call.project_id, id=id), WebhookMissing
    )
    payload = {"type": "webhook.test", "timestamp": call.now, "data": {"id": id, "projectId": call.project_id}}
    body = to_json(payload)
    outcome = await call.world.outbound.post(
        webhook.url, body, headers=signed_headers(call.world.secrets, webhook, new_id(), call.now, body)
    )
    ms = round(outcome.seconds * 1000, 1)
    if not isinstance(outcome, OutboundResponse):
        reason = f"Not called: {outcome.reason}" if isinstance(outcome, OutboundRefused) else outcome.reason
        return WebhookTestResult(status=None, ok=False, response_time=ms, reason=reason)
    reason = None if outcome.ok else rules.failure_message(outcome.status)
    return WebhookTestResult(status=outcome.status, ok=outcome.ok, response_time=ms, reason=reason)


async def enqueue_deliveries(tx: Transaction, events: list[EventRow]) -> None:
    """Create a delivery for each event and active subscription that matches it, in the transaction that records the
    events."""
    subscriptions = await store.subscriptions(tx, project_id=list({event.project_id for event in events}))
    if not subscriptions:
        return
    matching = {name: rules.matching_entries(name) for name in {event.type for event in events}}
    matches = [
        (event, subscription.id)
        for event in events
        for subscription in subscriptions
        if subscription.project_id == event.project_id
        and rules.is_subscribed(subscription.events, matching[event.type])
    ]
    if not matches:
        return
    await store.insert_deliveries(
        tx,
        project_id=[event.project_id for event, _ in matches],
        id=[new_id() for _ in matches],
        webhook_id=[webhook_id for _, webhook_id in matches],
        event_id=[event.id for event, _ in matches],
        event=[event.type for event, _ in matches],
        at=[event.occurred_at for event, _ in matches],
    )
    for project_id in {event.project_id for event, _ in matches}:
        tx.mark_due("webhook_deliveries", project_id)


async def enqueue_deliveries_in_bulk(tx: Transaction, event_range: EventRange) -> None:
    """Like `enqueue_deliveries`, for events that one statement inserted in bulk: inserts all deliveries by one
    statement."""
    subscriptions = await store.subscriptions(tx, project_id=[event_range.project_id])
    matches = [
        (subscription.id, name)
        for name in event_range.types
        for subscription in subscriptions
        if rules.is_subscribed(subscription.events, rules.matching_entries(name))
    ]
    if not matches:
        return
    await store.insert_deliveries_of_range(
        tx,
        project_id=event_range.project_id,
        first_id=event_range.first_id,
        last_id=event_range.last_id,
        delivery_id=new_id(),
        webhook_id=[webhook_id for webhook_id, _ in matches],
        event=[name for _, name in matches],
    )
    tx.mark_due("webhook_deliveries", event_range.project_id)


async def erase_events(tx: Transaction, project_id: UUID, subject_ids: list[UUID], now: Moment) -> None:
    """Erase the data and actor label of the events of records, and the stored responses to webhook deliveries of these
    events, because a response may repeat the data."""
    await history_store.erase_subjects(tx, project_id=project_id, subject_ids=subject_ids, now=now)
    await store.erase_responses(tx, project_id=project_id, subject_ids=subject_ids)


WritePayloads = Callable[["World", UUID, list[EventRow]], Awaitable[dict[UUID, dict[str, Any]]]]
"""The bodies of deliveries of a project's events in the form of another API, keyed by event id."""


async def payloads_of(
    world: "World", project_id: UUID, format: WebhookFormat, rows: list[EventRow]
) -> dict[UUID, dict[str, Any]]:
    """The bodies of deliveries of events, keyed by event id."""
    if format != "postern":
        return await world.hooks.webhook_formats[format](world, project_id, rows)
    contacts = await events.contacts_of(world.db, project_id, rows)
    return {event.id: rules.payload_of(event, contacts.get(event.id)) for event in rows}


def signed_headers(secrets: Any, webhook: WebhookForDelivery, id: UUID, now: Moment, body: bytes) -> dict[str, str]:
    """The headers of a request to a subscription, signed with every secret that is valid at `now`.

    `secrets` is `World.secrets`; `id` is sent as `webhook-id`: the id of the event.
    """
    context = _secret_context(webhook.project_id, webhook.id)
    valid_secrets = [secrets.open(webhook.sealed_secret, context).decode()]
    expires_at = webhook.previous_secret_expires_at
    if webhook.previous_sealed_secret and expires_at and expires_at > now:
        valid_secrets.append(secrets.open(webhook.previous_sealed_secret, context).decode())
    prefix = HEADER_PREFIXES[webhook.format]
    return {"Content-Type": "application/json", **webhook_headers(str(id), now, body, valid_secrets, prefix=prefix)}


def _secret_context(project_id: UUID, id: UUID) -> str:
    """The context with which the secret of a subscription is encrypted: it cannot be decrypted for another one."""
    return f"webhook:{project_id}:{id}"


def _with_secret(webhook: Webhook, secret: str) -> WebhookWithSecret:
    return WebhookWithSecret(**msgspec.structs.asdict(webhook), secret=secret)


def _validate(call: Call, url: str, entries: Sequence[str]) -> None:
    errors: list[ProblemError] = []
    try:
        check_target(url, call.world.settings.outbound_allow)
    except AddressRefused as refused:
        errors.append(ProblemError(path="/url", code="url_refused", message=str(refused)))
    names = ", ".join(EVENT_NAMES)
    errors += [
        ProblemError(
            path=f"/events/{index}", code="unknown_event", message=f"There is no event `{entry}`. There are: {names}."
        )
        for index, entry in enumerate(entries)
        if not rules.is_valid_entry(entry)
    ]
    if errors:
        raise Invalid(errors[0].message, errors=errors)


async def _require_webhook(db: Queries, project_id: UUID, id: UUID) -> Webhook:
    return require_found(await store.webhook(db, project_id=project_id, id=id), WebhookMissing)


async def _require_active(
    tx: Transaction, project_id: UUID, id: UUID, missing: type[WebhookMissing | DeliveryMissing]
) -> None:
    """Raise `missing` if there is no such subscription, and WebhookInactive if it is inactive."""
    webhook = await store.webhook(tx, project_id=project_id, id=id)
    if webhook is None:
        raise missing
    if not webhook.active:
        raise WebhookInactive


async def _payloads(call: Call, format: WebhookFormat, event_ids: list[UUID]) -> dict[UUID, dict[str, Any]]:
    """The bodies of deliveries, keyed by event id; events that no longer exist are omitted."""
    rows = await events.with_ids(call.db, call.project_id, event_ids)
    return await payloads_of(call.world, call.project_id, format, rows)


def _to_delivery(row: DeliveryRow, payloads: dict[UUID, dict[str, Any]]) -> WebhookDelivery:
    payload = payloads.get(row.event_id, {})
    return build_view(WebhookDelivery, row, payload=payload, response_time=row.response_ms)
