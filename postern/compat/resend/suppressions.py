"""The suppression list in Resend's form, and custom events."""

from collections.abc import Mapping
from functools import partial
from typing import Annotated, Any

import msgspec

from postern.compat.resend.errors import RESEND
from postern.compat.resend.lists import ResendListQuery, read_paged_list
from postern.compat.resend.model import build_validated
from postern.kernel.http.call import Call
from postern.kernel.http.operation import delete as delete_
from postern.kernel.http.operation import get, post
from postern.kernel.http.problems import Invalid
from postern.kernel.values import LenientBody, as_id
from postern.messaging.automations import custom_events
from postern.messaging.emails import suppressions
from postern.messaging.emails.model import Suppression, SuppressionMissing, SuppressionReason
from postern.messaging.emails.suppressions import AlreadySuppressed, NewSuppression
from postern.protocols.mail.address import AddressInvalid, parse_address

MAX_BATCH_ADDRESSES = 100
"""Maximum addresses or ids of one batch."""
REASONS_OF_ORIGIN: Mapping[str, list[SuppressionReason]] = {
    "bounce": ["BOUNCE"],
    "complaint": ["COMPLAINT"],
    "manual": ["MANUAL", "UNSUBSCRIBE"],
}
"""Our reasons of suppressions, keyed by Resend's `origin`."""
ORIGIN_OF_REASON = {reason: origin for origin, reasons in REASONS_OF_ORIGIN.items() for reason in reasons}

AddressesOrIds = Annotated[list[str], msgspec.Meta(max_length=MAX_BATCH_ADDRESSES)]


class ResendSuppression(LenientBody):
    """An address to suppress."""

    email: str


class ResendSuppressions(LenientBody):
    """Addresses to suppress."""

    emails: AddressesOrIds


class ResendSuppressionRemoval(LenientBody):
    """Suppressions to remove, by address or id."""

    emails: AddressesOrIds | None = None
    ids: AddressesOrIds | None = None


class ResendEvent(LenientBody):
    """A custom event of a contact, which is given by its id or its address."""

    event: str
    contact_id: str | None = None
    email: str | None = None
    payload: dict[str, Any] | None = None


@post("/suppressions", needs="emails:write", compatible_api=RESEND, status=201)
async def add_resend_suppression(call: Call, data: ResendSuppression) -> dict[str, Any]:
    """Suppress an address. An address that is suppressed for the same or a stronger reason stays as it is."""
    return await _add(call, data.email)


@post("/suppressions/batch/add", needs="emails:write", compatible_api=RESEND)
async def add_resend_suppressions(call: Call, data: ResendSuppressions) -> dict[str, Any]:
    """Suppress several addresses: none if one is invalid. Those that are suppressed for the same or a stronger reason
    stay as they are."""
    for index, email in enumerate(data.emails):
        try:
            parse_address(email)
        except AddressInvalid as error:
            raise Invalid.at(f"/emails/{index}", error.detail, "address_invalid") from None
    return {"data": [await _add(call, email) for email in data.emails]}


@post("/suppressions/batch/remove", needs="emails:write", compatible_api=RESEND)
async def remove_resend_suppressions(call: Call, data: ResendSuppressionRemoval) -> dict[str, Any]:
    """Remove several addresses from the suppression list; those that are not suppressed are skipped."""
    if (data.emails is None) == (data.ids is None):
        raise Invalid.at("/emails", "Send either `emails` or `ids`.")
    removed: list[dict[str, Any]] = []
    for text in data.emails or data.ids or []:
        try:
            removed.append(await _remove(call, text))
        except SuppressionMissing:
            continue
    return {"data": removed}


@get("/suppressions", needs="emails:read", compatible_api=RESEND)
async def list_resend_suppressions(
    call: Call,
    origin: str | None = None,
    *,
    query: ResendListQuery,
) -> dict[str, Any]:
    """The suppressed addresses, newest first. `origin` filters by `bounce`, `complaint` or `manual`."""
    reasons = None if origin is None else REASONS_OF_ORIGIN.get(origin)
    if origin is not None and reasons is None:
        raise Invalid.at("query/origin", "`origin` must be `bounce`, `complaint` or `manual`.")
    read = partial(suppressions.page_of_suppressions, reasons=reasons)
    return await read_paged_list(call, query, read, suppressions.suppressions_scope(reasons), _render)


@get("/suppressions/{id_or_email}", needs="emails:read", compatible_api=RESEND)
async def get_resend_suppression(call: Call, id_or_email: str) -> dict[str, Any]:
    """A suppression by its id or its address."""
    suppression = await suppressions.get_suppression(call, await _address(call, id_or_email))
    return {"object": "suppression", **_render(suppression)}


@delete_("/suppressions/{id_or_email}", needs="emails:write", compatible_api=RESEND)
async def remove_resend_suppression(call: Call, id_or_email: str) -> dict[str, Any]:
    """Remove an address from the suppression list, by the suppression's id or the address."""
    return await _remove(call, id_or_email)


@post("/events/send", needs="events:write", compatible_api=RESEND)
async def send_resend_event(call: Call, data: ResendEvent) -> dict[str, Any]:
    """Record a custom event of a contact. The name of the event need not be declared first."""
    if data.contact_id is None and data.email is None:
        raise Invalid.at("/email", "Send `contact_id` or `email`.", "required")
    custom_event = build_validated(
        custom_events.CustomEvent,
        name=data.event,
        contact_id=data.contact_id,
        email=data.email,
        data=data.payload or {},
    )
    await custom_events.record_custom_event(call, custom_event)
    return {"object": "event", "event": data.event}


async def _add(call: Call, email: str) -> dict[str, Any]:
    try:
        suppression = await suppressions.add_suppression(call, build_validated(NewSuppression, address=email))
    except AlreadySuppressed:
        suppression = await suppressions.get_suppression(call, email.strip())
    return {"object": "suppression", "id": suppression.id}


async def _remove(call: Call, id_or_email: str) -> dict[str, Any]:
    removed = await suppressions.remove_suppression(call, await _address(call, id_or_email))
    return {"object": "suppression", "id": removed.id, "deleted": True}


async def _address(call: Call, id_or_email: str) -> str:
    if "@" in id_or_email:
        return id_or_email
    return await suppressions.address_of_suppression(call.db, call.project_id, as_id(id_or_email))


def _render(suppression: Suppression) -> dict[str, Any]:
    return {
        "id": suppression.id,
        "email": suppression.address,
        "origin": ORIGIN_OF_REASON[suppression.reason],
        "source_id": suppression.send_id,
        "created_at": suppression.created_at,
    }
