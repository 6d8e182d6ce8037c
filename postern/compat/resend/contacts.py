"""Contacts, their segments and their properties in Resend's form.

A contact's names are our attributes `firstName` and `lastName`, and its properties are the other attributes. Resend's
segments, which it formerly called audiences, are our audiences.
"""

from functools import partial
from typing import Annotated, Any
from uuid import UUID

import msgspec

from postern.compat.resend.errors import RESEND
from postern.compat.resend.lists import ResendListQuery, read_list, read_list_by_query, read_paged_list
from postern.compat.resend.model import build_validated
from postern.kernel.http.call import Call
from postern.kernel.http.compatible_api import NotOffered
from postern.kernel.http.listing import CountedListQuery
from postern.kernel.http.operation import QueryParameter, get, patch, post
from postern.kernel.http.operation import delete as delete_
from postern.kernel.http.problems import Invalid
from postern.kernel.values import LenientBody, as_id
from postern.messaging.audiences import attributes, contacts
from postern.messaging.audiences import operations as audiences
from postern.messaging.audiences.attributes import NewContactAttribute
from postern.messaging.audiences.contacts import ContactChange, NewContact
from postern.messaging.audiences.model import (
    Audience,
    AudienceDynamic,
    Contact,
    ContactAttribute,
    ContactExists,
    ContactMissing,
)
from postern.messaging.audiences.operations import AudienceChange, NewAudience, NewAudienceMember
from postern.protocols.mail.address import AddressInvalid

FIRST_NAME, LAST_NAME = "firstName", "lastName"
"""The attributes that contain a contact's names."""
SEGMENTS_LIMIT = 50
"""Segments that a new contact can be added to in one request."""
Unset = msgspec.UnsetType
UNSET = msgspec.UNSET


class ResendSegmentId(LenientBody):
    """A segment by its id."""

    id: str


class ResendContact(LenientBody):
    """A contact to create."""

    email: str
    first_name: str | None = None
    last_name: str | None = None
    unsubscribed: bool = False
    properties: dict[str, Any] | None = None
    segments: Annotated[list[str | ResendSegmentId], msgspec.Meta(max_length=SEGMENTS_LIMIT)] | None = None
    topics: list[Any] | None = None
    audience_id: str | None = None


class ResendContactChange(LenientBody):
    """Fields of a contact to change; omitted fields keep their values."""

    email: str | None = None
    first_name: str | None | Unset = UNSET
    last_name: str | None | Unset = UNSET
    unsubscribed: bool | None = None
    properties: dict[str, Any] | None = None


class ResendSegment(LenientBody):
    """A segment to create."""

    name: str
    filter: Any = None


class ResendSegmentChange(LenientBody):
    """The new name of a segment."""

    name: str | None = None
    filter: Any = None


class ResendProperty(LenientBody):
    """A property of contacts to declare."""

    key: str
    type: str
    fallback_value: Any = None


@post("/contacts", needs="contacts:write", compatible_api=RESEND, status=201)
async def create_resend_contact(call: Call, data: ResendContact) -> dict[str, Any]:
    """Create a contact, or change the one with this address, and add it to segments.

    `unsubscribed: false` does not subscribe an existing contact again: change the contact with PATCH to do that.
    Values that are null are ignored here. `topics` are refused. Segments need the permission `audiences:write`.
    """
    return await _create(call, data, [*_segment_ids(data.segments), *([data.audience_id] if data.audience_id else [])])


@post("/audiences/{audience_id}/contacts", needs="contacts:write", compatible_api=RESEND, status=201)
async def create_resend_contact_in_audience(call: Call, audience_id: str, data: ResendContact) -> dict[str, Any]:
    """Create a contact in an audience; see `create_resend_contact`."""
    return await _create(call, data, [audience_id, *_segment_ids(data.segments)])


@get("/contacts", needs="contacts:read", compatible_api=RESEND)
async def list_resend_contacts(
    call: Call,
    segment_id: Annotated[str | None, QueryParameter("segment_id")] = None,
    *,
    query: ResendListQuery,
) -> dict[str, Any]:
    """The contacts, newest first; with `segment_id` those of the segment, which also needs the permission
    `audiences:read`."""
    if segment_id is not None:
        return await list_resend_segment_contacts(call, as_id(segment_id), query)
    return await read_paged_list(call, query, contacts.list_contacts, "contacts||None", _contact)


@get("/segments/{id}/contacts", needs="audiences:read", compatible_api=RESEND)
async def list_resend_segment_contacts(call: Call, id: UUID, query: ResendListQuery) -> dict[str, Any]:
    """The contacts of a segment, newest contact first."""
    call.require("audiences:read")  # For list_resend_contacts, which calls this and needs `contacts:read` only.
    read = partial(audiences.list_audience_contacts, id=id)
    return await read_paged_list(call, query, read, f"audience-contacts|{id}", _contact)


@get("/contacts/{id_or_email}", needs="contacts:read", compatible_api=RESEND)
async def get_resend_contact(call: Call, id_or_email: str) -> dict[str, Any]:
    """A contact by its id or its address."""
    return {"object": "contact", **_contact(await _find(call, id_or_email))}


@patch("/contacts/{id_or_email}", needs="contacts:write", compatible_api=RESEND)
async def update_resend_contact(call: Call, id_or_email: str, data: ResendContactChange) -> dict[str, Any]:
    """Change a contact. Properties are merged; null removes one."""
    contact = await _find(call, id_or_email)
    await contacts.change_contact(call, contact.id, _change(data))
    return {"object": "contact", "id": contact.id}


@delete_("/contacts/{id_or_email}", needs="contacts:write", compatible_api=RESEND)
async def delete_resend_contact(call: Call, id_or_email: str) -> dict[str, Any]:
    """Delete a contact."""
    contact = await _find(call, id_or_email)
    await contacts.delete_contact(call, contact.id)
    return {"object": "contact", "id": contact.id, "contact": contact.id, "deleted": True}


@get("/audiences/{audience_id}/contacts/{id_or_email}", needs="contacts:read", compatible_api=RESEND)
async def get_resend_contact_of_audience(call: Call, audience_id: UUID, id_or_email: str) -> dict[str, Any]:
    """A contact of an audience by its id or its address."""
    return {"object": "contact", **_contact(await _find_member(call, audience_id, id_or_email))}


@patch("/audiences/{audience_id}/contacts/{id_or_email}", needs="contacts:write", compatible_api=RESEND)
async def update_resend_contact_of_audience(
    call: Call, audience_id: UUID, id_or_email: str, data: ResendContactChange
) -> dict[str, Any]:
    """Change a contact of an audience."""
    contact = await _find_member(call, audience_id, id_or_email)
    await contacts.change_contact(call, contact.id, _change(data))
    return {"object": "contact", "id": contact.id}


@delete_("/audiences/{audience_id}/contacts/{id_or_email}", needs="audiences:write", compatible_api=RESEND)
async def remove_resend_contact_from_audience(call: Call, audience_id: UUID, id_or_email: str) -> dict[str, Any]:
    """Remove a contact from an audience. The contact itself stays."""
    contact = await _find_member(call, audience_id, id_or_email)
    await audiences.remove_contact_from_audience(call, audience_id, contact.id)
    return {"object": "contact", "id": contact.id, "contact": id_or_email, "deleted": True}


@get("/contacts/{id_or_email}/segments", needs="audiences:read", compatible_api=RESEND)
async def list_resend_segments_of_contact(call: Call, id_or_email: str) -> dict[str, Any]:
    """The segments of a contact."""
    contact = await _find(call, id_or_email)
    ids = await contacts.list_audiences_of_contact(call, contact.id)
    segments = [await audiences.require_audience(call.db, call.project_id, segment_id) for segment_id in ids]
    return {"object": "list", "has_more": False, "data": [_segment(segment) for segment in segments]}


@post("/contacts/{id_or_email}/segments/{segment_id}", needs="audiences:write", compatible_api=RESEND)
async def add_resend_contact_to_segment(call: Call, id_or_email: str, segment_id: UUID) -> dict[str, Any]:
    """Add a contact to a segment."""
    contact = await _find(call, id_or_email)
    await audiences.add_contact_to_audience(call, segment_id, NewAudienceMember(contact_id=str(contact.id)))
    return _membership(contact, segment_id)


@delete_("/contacts/{id_or_email}/segments/{segment_id}", needs="audiences:write", compatible_api=RESEND)
async def remove_resend_contact_from_segment(call: Call, id_or_email: str, segment_id: UUID) -> dict[str, Any]:
    """Remove a contact from a segment."""
    contact = await _find(call, id_or_email)
    await audiences.remove_contact_from_audience(call, segment_id, contact.id)
    return {**_membership(contact, segment_id), "deleted": True}


@post("/segments", needs="audiences:write", compatible_api=RESEND, status=201)
async def create_resend_segment(call: Call, data: ResendSegment) -> dict[str, Any]:
    """Create a segment, to which contacts are added."""
    _require_no_filter(data.filter)
    audience = await audiences.create_audience(call, build_validated(NewAudience, name=data.name))
    return {"object": "segment", "id": audience.id, "name": audience.name}


@get("/segments", needs="audiences:read", compatible_api=RESEND)
async def list_resend_segments(call: Call, query: ResendListQuery) -> dict[str, Any]:
    """The segments, newest first."""
    return await read_list_by_query(call, query, audiences.list_audiences, CountedListQuery, "audiences", _segment)


@get("/segments/{id}", needs="audiences:read", compatible_api=RESEND)
async def get_resend_segment(call: Call, id: UUID) -> dict[str, Any]:
    """A segment."""
    return {"object": "segment", **_segment(await audiences.get_audience(call, id))}


@patch("/segments/{id}", needs="audiences:write", compatible_api=RESEND)
async def update_resend_segment(call: Call, id: UUID, data: ResendSegmentChange) -> dict[str, Any]:
    """Rename a segment."""
    _require_no_filter(data.filter)
    await audiences.change_audience(
        call, id, build_validated(AudienceChange, name=UNSET if data.name is None else data.name)
    )
    return {"object": "segment", "id": id}


@delete_("/segments/{id}", needs="audiences:write", compatible_api=RESEND)
async def delete_resend_segment(call: Call, id: UUID) -> dict[str, Any]:
    """Delete a segment; its contacts stay."""
    await audiences.delete_audience(call, id)
    return {"object": "segment", "id": id, "deleted": True}


@post("/audiences", needs="audiences:write", compatible_api=RESEND, status=201)
async def create_resend_audience(call: Call, data: ResendSegment) -> dict[str, Any]:
    """Create an audience, the former name of a segment."""
    return {**await create_resend_segment(call, data), "object": "audience"}


@get("/audiences", needs="audiences:read", compatible_api=RESEND)
async def list_resend_audiences(call: Call, query: ResendListQuery) -> dict[str, Any]:
    """The audiences, newest first."""
    return await list_resend_segments(call, query)


@get("/audiences/{id}", needs="audiences:read", compatible_api=RESEND)
async def get_resend_audience(call: Call, id: UUID) -> dict[str, Any]:
    """An audience."""
    return {**await get_resend_segment(call, id), "object": "audience"}


@delete_("/audiences/{id}", needs="audiences:write", compatible_api=RESEND)
async def delete_resend_audience(call: Call, id: UUID) -> dict[str, Any]:
    """Delete an audience; its contacts stay."""
    return {**await delete_resend_segment(call, id), "object": "audience"}


@get("/audiences/{id}/contacts", needs="audiences:read", compatible_api=RESEND)
async def list_resend_audience_contacts(call: Call, id: UUID, query: ResendListQuery) -> dict[str, Any]:
    """The contacts of an audience, newest contact first."""
    return await list_resend_segment_contacts(call, id, query)


@post("/contact-properties", needs="contacts:write", compatible_api=RESEND, status=201)
async def create_resend_property(call: Call, data: ResendProperty) -> dict[str, Any]:
    """Declare a property of contacts, with its type `string` or `number`."""
    _require_no_fallback(data.fallback_value)
    if data.type not in ("string", "number"):
        raise Invalid.at("/type", "`type` must be `string` or `number`.")
    attribute = await attributes.create_contact_attribute(
        call, build_validated(NewContactAttribute, name=data.key, type=data.type)
    )
    return {"object": "contact_property", "id": attribute.id}


@get("/contact-properties", needs="contacts:read", compatible_api=RESEND)
async def list_resend_properties(call: Call, query: ResendListQuery) -> dict[str, Any]:
    """The declared properties of contacts, newest first."""
    return await read_list(call, query, attributes.list_contact_attributes, "contact-attributes", _property)


@get("/contact-properties/{id}", needs="contacts:read", compatible_api=RESEND)
async def get_resend_property(call: Call, id: UUID) -> dict[str, Any]:
    """A property of contacts."""
    return {"object": "contact_property", **_property(await attributes.get_contact_attribute(call, id))}


@delete_("/contact-properties/{id}", needs="contacts:write", compatible_api=RESEND)
async def delete_resend_property(call: Call, id: UUID) -> dict[str, Any]:
    """Delete the declaration of a property. Contacts keep their values."""
    await attributes.delete_contact_attribute(call, id)
    return {"object": "contact_property", "id": id, "deleted": True}


async def _create(call: Call, data: ResendContact, segment_ids: list[str]) -> dict[str, Any]:
    if data.topics:
        raise NotOffered("Postern has no topics: use segments.")
    ids = [as_id(segment_id) for segment_id in segment_ids]
    if ids:
        call.require("audiences:write")
    for segment_id in ids:  # Checked first, so that no contact is created if a segment cannot be used.
        if (await audiences.require_audience(call.db, call.project_id, segment_id)).type != "STATIC":
            raise AudienceDynamic
    values = {name: value for name, value in _attributes(data).items() if value is not None}
    try:
        new = build_validated(NewContact, email=data.email, attributes=values, unsubscribed=data.unsubscribed)
        contact = await contacts.create_contact(call, new)
    except ContactExists:
        existing = await _find(call, data.email)
        unsubscribed = True if data.unsubscribed else UNSET
        contact = await contacts.change_contact(
            call, existing.id, build_validated(ContactChange, attributes=values, unsubscribed=unsubscribed)
        )
    for segment_id in ids:
        await audiences.add_contact_to_audience(call, segment_id, NewAudienceMember(contact_id=str(contact.id)))
    return {"object": "contact", "id": contact.id}


def _change(data: ResendContactChange) -> ContactChange:
    return build_validated(
        ContactChange,
        email=UNSET if data.email is None else data.email,
        attributes=_attributes(data),
        unsubscribed=UNSET if data.unsubscribed is None else data.unsubscribed,
    )


def _attributes(data: ResendContact | ResendContactChange) -> dict[str, Any]:
    names = {FIRST_NAME: data.first_name, LAST_NAME: data.last_name}
    return {**(data.properties or {}), **{name: value for name, value in names.items() if value is not UNSET}}


def _segment_ids(segments: list[str | ResendSegmentId] | None) -> list[str]:
    return [segment if isinstance(segment, str) else segment.id for segment in segments or []]


async def _find(call: Call, id_or_email: str) -> Contact:
    """The contact with this id or address. Raises ContactMissing."""
    if "@" not in id_or_email:
        return await contacts.require_contact(call.db, call.project_id, as_id(id_or_email))
    try:
        contact = await contacts.contact_of(call.db, call.project_id, id_or_email)
    except AddressInvalid:
        raise ContactMissing from None
    if contact is None:
        raise ContactMissing
    return contact


async def _find_member(call: Call, audience_id: UUID, id_or_email: str) -> Contact:
    """The contact with this id or address. Raises ContactMissing if it is not a member of the audience."""
    call.require("audiences:read")
    await audiences.require_audience(call.db, call.project_id, audience_id)
    contact = await _find(call, id_or_email)
    if audience_id not in await contacts.list_audiences_of_contact(call, contact.id):
        raise ContactMissing
    return contact


def _require_no_filter(filter: Any) -> None:
    if filter:
        raise NotOffered("Set the rules of the audience with our own API: PATCH …/audiences/{id}/rules.")


def _require_no_fallback(value: Any) -> None:
    if value is not None:
        raise NotOffered("Properties have no fallback value: write it into the template, as `{{{plan|free}}}`.")


def _contact(contact: Contact) -> dict[str, Any]:
    values = contact.attributes
    return {
        "id": contact.id,
        "email": contact.email,
        "first_name": values.get(FIRST_NAME),
        "last_name": values.get(LAST_NAME),
        "created_at": contact.created_at,
        "unsubscribed": contact.unsubscribed,
        "properties": {name: value for name, value in values.items() if name not in (FIRST_NAME, LAST_NAME)},
    }


def _segment(audience: Audience) -> dict[str, Any]:
    return {"id": audience.id, "name": audience.name, "created_at": audience.created_at}


def _membership(contact: Contact, segment_id: UUID) -> dict[str, Any]:
    return {"object": "contact_segment", "id": segment_id, "contact_id": contact.id, "segment_id": segment_id}


def _property(attribute: ContactAttribute) -> dict[str, Any]:
    return {
        "id": attribute.id,
        "key": attribute.name,
        "type": attribute.type,
        "fallback_value": None,
        "created_at": attribute.created_at,
    }
