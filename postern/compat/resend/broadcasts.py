"""Broadcasts of Resend, which are our campaigns. The content of a broadcast is in a template of its own."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

import msgspec

from postern.compat.resend.errors import RESEND
from postern.compat.resend.lists import ResendListQuery, read_list_by_query
from postern.compat.resend.model import build_validated
from postern.compat.resend.schedules import parse_schedule
from postern.compat.resend.variables import CONTACT_NAMES, from_resend_variables, to_resend_variables
from postern.kernel.http.call import Call
from postern.kernel.http.compatible_api import NotOffered
from postern.kernel.http.listing import CountedListQuery
from postern.kernel.http.operation import delete as delete_
from postern.kernel.http.operation import get, patch, post
from postern.kernel.http.problems import Invalid, Problem
from postern.kernel.values import LenientBody, as_id
from postern.messaging.audiences import operations as audiences
from postern.messaging.campaigns import operations as campaigns
from postern.messaging.campaigns.model import Campaign, CampaignChange, NewCampaign
from postern.messaging.domains import sending as domains
from postern.messaging.templates import operations as templates
from postern.messaging.templates.model import TEMPLATE_BYTES, NewTemplate, TemplateChange, TemplateInUse
from postern.protocols.mail.address import Address, AddressInvalid, parse_address

STATUSES: Mapping[str, str] = {
    "DRAFT": "draft",
    "SCHEDULED": "scheduled",
    "TESTING": "queued",
    "SENDING": "queued",
    "PAUSED": "paused",
    "SENT": "sent",
    "CANCELLED": "canceled",
    "FAILED": "failed",
}
"""`status` of a broadcast by the status of its campaign."""


class ResendBroadcastChange(LenientBody):
    """Fields of a broadcast to change; omitted fields keep their values."""

    name: str | None = None
    segment_id: str | None = None
    audience_id: str | None = None
    from_: str | None = msgspec.field(name="from", default=None)
    subject: str | None = None
    reply_to: str | list[str] | None = None
    preview_text: str | None = None
    html: str | None = None
    text: str | None = None
    topic_id: str | None = None


class ResendBroadcast(ResendBroadcastChange):
    """A broadcast to create; with `send`, it is also sent, at `scheduled_at` or now."""

    send: bool | None = None
    scheduled_at: str | None = None


class ResendBroadcastSend(LenientBody):
    """When to send a broadcast; without a time, now."""

    scheduled_at: str | None = None


@post("/broadcasts", needs="campaigns:write", compatible_api=RESEND, status=201, body_limit=TEMPLATE_BYTES)
async def create_resend_broadcast(call: Call, data: ResendBroadcast) -> dict[str, Any]:
    """Create a broadcast as a draft, or send it with `send: true`."""
    call.require("templates:write")
    if data.send:
        call.require("campaigns:send")
    elif data.scheduled_at is not None:
        raise Invalid.at("/scheduled_at", "`scheduled_at` needs `send: true`.")
    fields = await _fields(call, data)
    if data.scheduled_at is not None:
        fields["scheduled_at"] = parse_schedule(data.scheduled_at, call.now)
    name = data.name or data.subject or "Untitled"
    fields["name"] = name
    template = await templates.create_template(
        call, build_validated(NewTemplate, name=_template_name(name), **_content(data))
    )
    try:
        campaign = await campaigns.create_campaign(
            call, build_validated(NewCampaign, template_id=str(template.id), **fields)
        )
    except Problem:
        await templates.delete_template(call, template.id)
        raise
    if data.send:
        await campaigns.send_campaign(call, campaign.id)
    return {"object": "broadcast", "id": campaign.id}


@get("/broadcasts", needs="campaigns:read", compatible_api=RESEND)
async def list_resend_broadcasts(call: Call, query: ResendListQuery) -> dict[str, Any]:
    """The broadcasts, newest first."""
    return await read_list_by_query(call, query, campaigns.list_campaigns, CountedListQuery, "campaigns", _summary)


@get("/broadcasts/{id}", needs="campaigns:read", compatible_api=RESEND)
async def get_resend_broadcast(call: Call, id: UUID) -> dict[str, Any]:
    """A broadcast with its content."""
    call.require("templates:read")
    campaign = await campaigns.get_campaign(call, id)
    content = campaign.template_id and await templates.get_content(call.db, call.project_id, campaign.template_id)
    sender = campaign.from_email and str(_sender(campaign.from_email, campaign.from_name))
    return {
        "object": "broadcast",
        **_summary(campaign),
        "from": sender,
        "subject": to_resend_variables(campaign.subject, is_broadcast=True),
        "reply_to": None,
        "preview_text": to_resend_variables(campaign.preview_text, is_broadcast=True),
        "html": to_resend_variables(content.html, is_broadcast=True) if content else None,
        "text": to_resend_variables(content.text, is_broadcast=True) if content else None,
    }


@patch("/broadcasts/{id}", needs="campaigns:write", compatible_api=RESEND, body_limit=TEMPLATE_BYTES)
async def update_resend_broadcast(call: Call, id: UUID, data: ResendBroadcastChange) -> dict[str, Any]:
    """Change a broadcast that was not sent yet. `html` and `text` change its template, which also needs
    `templates:write`; `reply_to` and `topic_id` are refused."""
    content = _content(data)
    if content:
        call.require("templates:write")
    campaign = await campaigns.get_campaign(call, id)
    fields = await _fields(call, data)
    if data.name is not None:
        fields["name"] = data.name
    # Change the campaign first: that fails if it was sent, and then the template must not change either.
    await campaigns.change_campaign(call, id, build_validated(CampaignChange, **fields))
    if content and campaign.template_id is not None:
        await templates.change_template(call, campaign.template_id, build_validated(TemplateChange, **content))
    return {"object": "broadcast", "id": id}


@post("/broadcasts/{id}/send", needs="campaigns:send", compatible_api=RESEND)
async def send_resend_broadcast(call: Call, id: UUID, data: ResendBroadcastSend | None = None) -> dict[str, Any]:
    """Send a broadcast now, or at `scheduled_at`."""
    campaign = await campaigns.get_campaign(call, id)
    text = data.scheduled_at if data else None
    scheduled_at = parse_schedule(text, call.now) if text else None
    if scheduled_at != campaign.scheduled_at:
        call.require("campaigns:write")
        await campaigns.change_campaign(call, id, build_validated(CampaignChange, scheduled_at=scheduled_at))
    await campaigns.send_campaign(call, id)
    return {"object": "broadcast", "id": id}


@post("/broadcasts/{id}/cancel", needs="campaigns:send", compatible_api=RESEND)
async def cancel_resend_broadcast(call: Call, id: UUID) -> dict[str, Any]:
    """Stop a broadcast: messages that no server has accepted yet are not sent."""
    await campaigns.cancel_campaign(call, id)
    return {"object": "broadcast", "id": id}


@post("/broadcasts/{id}/duplicate", needs="campaigns:write", compatible_api=RESEND, status=201)
async def duplicate_resend_broadcast(call: Call, id: UUID) -> dict[str, Any]:
    """Copy a broadcast as a draft, with its content."""
    call.require("templates:write")
    campaign = await campaigns.duplicate_campaign(call, id)
    if campaign.template_id is not None:
        # A template of its own: a change of the copy must not change the original.
        template = await templates.duplicate_template(call, campaign.template_id)
        await campaigns.change_campaign(
            call, campaign.id, build_validated(CampaignChange, template_id=str(template.id))
        )
    return {"object": "broadcast", "id": campaign.id}


@delete_("/broadcasts/{id}", needs="campaigns:write", compatible_api=RESEND)
async def delete_resend_broadcast(call: Call, id: UUID) -> dict[str, Any]:
    """Delete a broadcast that was not sent, and its content."""
    call.require("templates:write")
    campaign = await campaigns.get_campaign(call, id)
    await campaigns.delete_campaign(call, id)
    if campaign.template_id is not None:
        template = await templates.get_template(call, campaign.template_id)
        # A template without the prefix was not created with a broadcast: it is not only the content of this one.
        if template.name.startswith(TEMPLATE_PREFIX):
            try:
                await templates.delete_template(call, campaign.template_id)
            except TemplateInUse:
                pass
    return {"object": "broadcast", "id": id, "deleted": True}


TEMPLATE_PREFIX = "Broadcast: "
"""Begins the name of the template with the content of a broadcast."""


def _template_name(name: str) -> str:
    return f"{TEMPLATE_PREFIX}{name}"[:200]


async def _fields(call: Call, data: ResendBroadcastChange) -> dict[str, Any]:
    """The fields of the campaign that `data` sets. Raises Invalid, and NotOffered."""
    if data.topic_id is not None:
        raise NotOffered("Postern has no topics: send to a segment, or leave `topic_id` out.")
    if data.reply_to:
        raise NotOffered("Broadcasts have no `reply_to`: replies go to `from`.")
    fields: dict[str, Any] = {}
    if (audience_id := data.segment_id or data.audience_id) is not None:
        await audiences.require_audience(call.db, call.project_id, as_id(audience_id))
        fields["audience_id"] = audience_id
    if data.from_ is not None:
        try:
            sender = parse_address(data.from_)
        except AddressInvalid as error:
            raise Invalid.at("/from", error.detail, "address_invalid") from None
        fields |= {"from_email": sender.spec, "from_name": sender.name or None}
        if domain := await domains.sending_domain(call.db, call.project_id, sender.domain):
            fields["domain_id"] = str(domain.id)
    if data.subject is not None:
        fields["subject"] = from_resend_variables(data.subject, names=CONTACT_NAMES)
    if data.preview_text is not None:
        fields["preview_text"] = from_resend_variables(data.preview_text, names=CONTACT_NAMES)
    return fields


def _content(data: ResendBroadcastChange) -> dict[str, Any]:
    parts = {"html": data.html, "text": data.text}
    return {name: from_resend_variables(part, names=CONTACT_NAMES) for name, part in parts.items() if part is not None}


def _sender(email: str, name: str | None) -> Address:
    address = parse_address(email)
    return Address(name=name or "", local=address.local, domain=address.domain, spec=address.spec)


def _summary(campaign: Campaign) -> dict[str, Any]:
    return {
        "id": campaign.id,
        "name": campaign.name,
        "audience_id": campaign.audience_id,
        "segment_id": campaign.audience_id,
        "status": STATUSES[campaign.status],
        "created_at": campaign.created_at,
        "scheduled_at": campaign.scheduled_at,
        "sent_at": campaign.sent_at,
        "topic_id": None,
    }
