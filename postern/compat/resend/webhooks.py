"""Webhooks with Resend's event names, payloads and signature headers.

A subscription is one of our webhooks, with the same deliveries, retries and secrets. Only its format is `resend`: the
payloads and the names of the headers (`svix-id`, `svix-timestamp`, `svix-signature`) are those of Resend.
"""

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any
from uuid import UUID, uuid5

import msgspec

from postern.compat.resend.contacts import FIRST_NAME, LAST_NAME
from postern.compat.resend.emails import split_tags
from postern.compat.resend.errors import RESEND
from postern.compat.resend.lists import ResendListQuery, read_list
from postern.compat.resend.model import build_validated
from postern.kernel.http.call import Call
from postern.kernel.http.compatible_api import NotOffered
from postern.kernel.http.operation import delete as delete_
from postern.kernel.http.operation import get, patch, post
from postern.kernel.http.problems import Invalid
from postern.kernel.values import LenientBody
from postern.messaging.audiences import contacts
from postern.messaging.audiences.model import Contact
from postern.messaging.domains import sending as domains
from postern.messaging.domains.model import SendingDomain
from postern.platform.events.model import EventRow
from postern.platform.webhooks import operations as webhooks
from postern.platform.webhooks.model import Webhook, WebhookDelivery
from postern.platform.webhooks.operations import NewWebhook, WebhookChange, WebhookSecretRotation

if TYPE_CHECKING:
    from postern.world import World

EVENTS: Mapping[str, tuple[str, ...]] = {
    "email.scheduled": ("email.scheduled",),
    "email.sent": ("email.sent",),
    "email.delivered": ("email.delivered",),
    "email.delivery_delayed": ("email.delayed",),
    "email.complained": ("email.complained",),
    "email.bounced": ("email.bounced",),
    "email.opened": ("email.opened",),
    "email.clicked": ("email.clicked",),
    "email.failed": ("email.failed", "email.expired"),
    "email.suppressed": ("email.suppressed",),
    "contact.created": ("contact.created",),
    "contact.updated": ("contact.updated",),
    "contact.deleted": ("contact.deleted",),
    "domain.created": ("domain.created",),
    "domain.updated": ("domain.verified", "domain.degraded"),
    "domain.deleted": ("domain.deleted",),
}
"""The names of our events, keyed by Resend's name."""
RESEND_NAMES: Mapping[str, str] = {ours: theirs for theirs, names in EVENTS.items() for ours in names}
DELIVERY_STATUSES: Mapping[str, str] = {"PENDING": "pending", "SUCCEEDED": "success", "FAILED": "failed"}
"""Resend's `status` of a delivery, keyed by our status."""
DOMAIN_STATUSES: Mapping[str, str] = {
    "domain.created": "not_started",
    "domain.verified": "verified",
    "domain.degraded": "partially_failed",
}
"""`status` of the domain in a payload, keyed by the type of our event."""
EVENTS_LIMIT = 100
UNSET = msgspec.UNSET


class ResendWebhook(LenientBody):
    """A subscription to create."""

    endpoint: str
    events: list[str]


class ResendWebhookChange(LenientBody):
    """Fields of a subscription to change."""

    endpoint: str | None = None
    events: list[str] | None = None
    status: str | None = None


@post("/webhooks", needs="webhooks:write", compatible_api=RESEND, status=201)
async def create_resend_webhook(call: Call, data: ResendWebhook) -> dict[str, Any]:
    """Subscribe a URL to events, which are sent in Resend's form. The signing secret is returned only here."""
    new = build_validated(NewWebhook, url=data.endpoint, events=_our_names(data.events))
    webhook = await webhooks.new_webhook(call, new, "resend")
    return {"object": "webhook", "id": webhook.id, "signing_secret": webhook.secret}


@get("/webhooks", needs="webhooks:read", compatible_api=RESEND)
async def list_resend_webhooks(call: Call, query: ResendListQuery) -> dict[str, Any]:
    """The subscriptions, newest first."""
    return await read_list(call, query, webhooks.list_webhooks, "webhooks", _webhook)


@get("/webhooks/{id}", needs="webhooks:read", compatible_api=RESEND)
async def get_resend_webhook(call: Call, id: UUID) -> dict[str, Any]:
    """A subscription, without its secret."""
    return {"object": "webhook", **_webhook(await webhooks.get_webhook(call, id))}


@patch("/webhooks/{id}", needs="webhooks:write", compatible_api=RESEND)
async def update_resend_webhook(call: Call, id: UUID, data: ResendWebhookChange) -> dict[str, Any]:
    """Change the URL or the events of a subscription, or enable or disable it."""
    if data.status not in (None, "enabled", "disabled"):
        raise Invalid.at("/status", "`status` must be `enabled` or `disabled`.")
    change = build_validated(
        WebhookChange,
        url=UNSET if data.endpoint is None else data.endpoint,
        events=UNSET if data.events is None else _our_names(data.events),
        active=UNSET if data.status is None else data.status == "enabled",
    )
    await webhooks.change_webhook(call, id, change)
    return {"object": "webhook", "id": id}


@delete_("/webhooks/{id}", needs="webhooks:write", compatible_api=RESEND)
async def delete_resend_webhook(call: Call, id: UUID) -> dict[str, Any]:
    """Delete a subscription."""
    await webhooks.delete_webhook(call, id)
    return {"object": "webhook", "id": id, "deleted": True}


@post("/webhooks/{id}/signing-secret/rotate", needs="webhooks:write", compatible_api=RESEND)
async def rotate_resend_secret(call: Call, id: UUID) -> dict[str, Any]:
    """Rotate the secret of a subscription. The previous one signs, too, for 24 hours."""
    webhook = await webhooks.rotate_webhook_secret(call, id, WebhookSecretRotation())
    return {"object": "webhook", "id": id, "signing_secret": webhook.secret}


@get("/webhooks/{id}/events", needs="webhooks:read", compatible_api=RESEND)
async def list_resend_webhook_events(call: Call, id: UUID, query: ResendListQuery) -> dict[str, Any]:
    """The deliveries of a subscription, newest first."""
    return await read_list(
        call, query, partial(webhooks.list_webhook_deliveries, id=id), f"deliveries|{id}||", _delivery
    )


@get("/webhooks/{id}/events/{event_id}", needs="webhooks:read", compatible_api=RESEND)
async def get_resend_webhook_event(call: Call, id: UUID, event_id: UUID) -> dict[str, Any]:
    """A delivery with its payload."""
    delivery = await webhooks.get_webhook_delivery(call, id, event_id)
    return {
        "object": "webhook_event",
        **_delivery(delivery),
        "next_attempt_at": delivery.next_attempt_at,
        "payload": delivery.payload,
    }


@post("/webhooks/{id}/events/{event_id}/replay", needs="webhooks:write", compatible_api=RESEND)
async def replay_resend_webhook_event(call: Call, id: UUID, event_id: UUID) -> dict[str, Any]:
    """Send a delivery again."""
    await webhooks.replay_webhook_delivery(call, id, event_id)
    return {"object": "webhook_event", "id": event_id}


@get("/webhooks/{id}/events/{event_id}/attempts", needs="webhooks:read", compatible_api=RESEND)
async def list_resend_webhook_attempts(call: Call, id: UUID, event_id: UUID) -> dict[str, Any]:
    """The last attempt of a delivery; earlier ones are only counted."""
    delivery = await webhooks.get_webhook_delivery(call, id, event_id)
    attempts: list[dict[str, Any]] = []
    if delivery.attempted_at is not None:
        attempts.append(
            {
                "id": uuid5(delivery.id, str(delivery.attempts)),
                "http_status_code": delivery.response_status,
                "response": delivery.response_body or delivery.error_message or "",
                "sent_at": delivery.attempted_at,
            }
        )
    return {"object": "list", "has_more": False, "data": attempts}


async def write_payloads(world: "World", project_id: UUID, events: list[EventRow]) -> dict[UUID, dict[str, Any]]:
    """The bodies of deliveries in Resend's form, keyed by event id."""
    contact_ids = [event.subject_id for event in events if event.type.startswith("contact.") and event.subject_id]
    domain_ids = [event.subject_id for event in events if event.type.startswith("domain.") and event.subject_id]
    contacts_by_id: dict[UUID | None, Contact] = {}
    domains_by_id: dict[UUID | None, SendingDomain] = {}
    if contact_ids:
        rows = await contacts.contacts_with_ids(world.db, project_id, contact_ids)
        contacts_by_id = {contact.id: contact for contact in rows}
    if domain_ids:
        domain_rows = await domains.sending_domains(world.db, project_id, domain_ids)
        domains_by_id = {domain.id: domain for domain in domain_rows}
    bodies: dict[UUID, dict[str, Any]] = {}
    for event in events:
        if event.type.startswith("email."):
            data = _email_data(event)
        elif event.type.startswith("contact."):
            data = _contact_data(event, contacts_by_id.get(event.subject_id))
        elif event.type.startswith("domain."):
            data = _domain_data(event, domains_by_id.get(event.subject_id))
        else:  # Our own API can subscribe to events that Resend does not have.
            data = {**event.data, "id": event.subject_id}
        name = RESEND_NAMES.get(event.type, event.type)
        bodies[event.id] = {"type": name, "created_at": event.occurred_at, "data": data}
    return bodies


def _email_data(event: EventRow) -> dict[str, Any]:
    source = event.data
    data: dict[str, Any] = {
        "email_id": event.subject_id,
        "message_id": source.get("messageId"),
        "created_at": event.occurred_at,
        "from": source.get("from"),
        "to": source.get("to") or [],
        "subject": source.get("subject") or "",
        "tags": split_tags(source.get("tags") or []),
    }
    if source.get("campaignId"):
        data["broadcast_id"] = source["campaignId"]
    kind = RESEND_NAMES.get(event.type)
    if kind == "email.bounced":
        is_permanent = str(source.get("code", "")).startswith("5")
        data["bounce"] = {
            "type": "Permanent" if is_permanent else "Transient",
            "subType": "General",
            "message": source.get("text") or "",
            "diagnosticCode": [f"smtp; {source.get('code', '')} {source.get('text') or ''}".strip()],
        }
    elif kind == "email.clicked":
        data["click"] = {
            "ipAddress": source.get("ipAddress"),
            "link": source.get("link"),
            "timestamp": event.occurred_at,
            "userAgent": source.get("userAgent"),
        }
    elif kind == "email.failed":
        data["failed"] = {"reason": source.get("reason") or ""}
    elif kind == "email.suppressed":
        data["suppressed"] = {"type": "OnAccountSuppressionList", "message": source.get("reason") or ""}
    return data


def _contact_data(event: EventRow, contact: Contact | None) -> dict[str, Any]:
    if contact is None:
        return {
            "id": event.subject_id,
            "created_at": event.occurred_at,
            "updated_at": event.occurred_at,
            "email": event.data.get("email"),
            "unsubscribed": bool(event.data.get("unsubscribed")),
        }
    return {
        "id": contact.id,
        "created_at": contact.created_at,
        "updated_at": contact.updated_at,
        "email": contact.email,
        "first_name": contact.attributes.get(FIRST_NAME),
        "last_name": contact.attributes.get(LAST_NAME),
        "unsubscribed": contact.unsubscribed,
    }


def _domain_data(event: EventRow, domain: SendingDomain | None) -> dict[str, Any]:
    return {
        "id": event.subject_id,
        "name": domain.domain if domain else event.data.get("domain"),
        "status": DOMAIN_STATUSES.get(event.type, "failed"),
        "created_at": event.occurred_at,
        "region": None,
        "records": [],
    }


def _our_names(names: list[str]) -> list[str]:
    """The names of our events. Raises NotOffered for events that Postern does not have, and Invalid."""
    if not 1 <= len(names) <= EVENTS_LIMIT:
        raise Invalid.at("/events", f"Name 1 to {EVENTS_LIMIT} events.")
    unknown = sorted(set(names) - EVENTS.keys())
    if unknown:
        raise NotOffered(f"Postern has no event {', '.join(unknown)[:200]}. It has: {', '.join(EVENTS)}.")
    return list(dict.fromkeys(ours for name in names for ours in EVENTS[name]))


def _webhook(webhook: Webhook) -> dict[str, Any]:
    return {
        "id": webhook.id,
        "endpoint": webhook.url,
        "events": list(dict.fromkeys(RESEND_NAMES.get(name, name) for name in webhook.events)),
        "status": "enabled" if webhook.active else "disabled",
        "created_at": webhook.created_at,
    }


def _delivery(delivery: WebhookDelivery) -> dict[str, Any]:
    return {
        "id": delivery.id,
        "type": RESEND_NAMES.get(delivery.event, delivery.event),
        "created_at": delivery.created_at,
        "status": DELIVERY_STATUSES[delivery.status],
    }
