"""Contacts: the HTTP operations, and functions that other features call within their own transactions."""

import re
from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Any
from uuid import UUID

import msgspec
import psycopg
from psycopg.sql import SQL, Composable

from postern.kernel.database.statements import Jsonb, Queries, Transaction, like_pattern, text_literal
from postern.kernel.http.call import Call
from postern.kernel.http.operation import delete as delete_
from postern.kernel.http.operation import get, patch, post
from postern.kernel.http.pagination import COUNT_LIMIT, CountedPageQuery, Page, PagePosition, page_at, position_of
from postern.kernel.http.problems import Invalid, require_found
from postern.kernel.values import Body, Deleted, Moment, new_id
from postern.messaging.audiences import store
from postern.messaging.audiences.attributes import inferred_from
from postern.messaging.audiences.membership import SYSTEM, ChangeActor, actor_of, contacts_changed
from postern.messaging.audiences.model import (
    ATTRIBUTE_COUNT_LIMIT,
    MAX_ATTRIBUTES_BYTES,
    AddressText,
    Contact,
    ContactExists,
    ContactMissing,
    StoredContact,
    check_attributes,
)
from postern.platform.events import operations as events
from postern.protocols.mail.address import AddressInvalid, address_key, normalize_part, parse_address

Unset = msgspec.UnsetType
UNSET = msgspec.UNSET
Search = Annotated[str, msgspec.Meta(max_length=320, description="Part of the address.")]


class NewContact(Body):
    """A contact to create."""

    email: AddressText
    attributes: dict[str, Any] = {}
    unsubscribed: bool = False


class ContactChange(Body):
    """Fields to change. Attributes are merged at the top level; null removes one."""

    email: AddressText | Unset = UNSET
    attributes: dict[str, Any] | Unset = UNSET
    unsubscribed: bool | Unset = UNSET


@get("/projects/{project_id}/contacts", needs="contacts:read", reads_replica=True)
async def list_contacts(
    call: Call, q: Search | None = None, unsubscribed: bool | None = None, *, page: CountedPageQuery
) -> Page[Contact]:
    """List the project's contacts, newest first. `q` filters by part of the address, `unsubscribed` by the field."""
    scope = f"contacts|{q or ''}|{unsubscribed}"
    position = position_of(call, scope, page)
    text = normalize_part(q.strip()) or None if q else None
    limit = page.count_limit
    if text is None:
        total = await store.contact_count_from_rollups(call.db, project_id=call.project_id, unsubscribed=unsubscribed)
        total = total if limit is None else min(total, limit)
    else:
        searched = limit or COUNT_LIMIT
        matching_ids = await store.some_contact_ids(
            call.db, project_id=call.project_id, matches=_contains(text), unsubscribed=unsubscribed, limit=searched
        )
        if len(matching_ids) < searched:  # These are all, so the page is cut from them without a second search.
            ids = _ids_at(matching_ids, position, page.limit + 1)
            rows = await store.contacts_with_ids(call.db, project_id=call.project_id, ids=ids)
            rows.sort(key=lambda contact: contact.id, reverse=True)
            return page_at(call, scope, rows, len(matching_ids), position, page.limit)
        total = limit or await store.count_contacts(
            call.db, project_id=call.project_id, q=text, unsubscribed=unsubscribed
        )
    rows = await store.contacts(
        call.db,
        project_id=call.project_id,
        q=text,
        unsubscribed=unsubscribed,
        before=position.after,
        limit=page.limit + 1,
        offset=position.offset,
    )
    return page_at(call, scope, rows, total, position, page.limit)


def _contains(text: str) -> Composable:
    """The condition that an address contains a normalised text. Without three letters or digits in a row, the text has
    no trigram, and reading the whole index of trigrams would take ten times as long as reading the addresses."""
    if re.search("[a-z0-9]{3}", text):
        return SQL("email_key like {}").format(text_literal(like_pattern(text)))
    return SQL("strpos(email_key, {}) > 0").format(text_literal(text))


def _ids_at(ids: list[UUID], position: PagePosition, limit: int) -> list[UUID]:
    """The first `limit` of `ids` from `position` on, newest first."""
    sorted_ids = sorted((id_ for id_ in ids if position.after is None or id_ < position.after), reverse=True)
    return sorted_ids[position.offset : position.offset + limit]


@post(
    "/projects/{project_id}/contacts",
    needs="contacts:write",
    status=201,
    problems=[ContactExists],
    example={"email": "ada@example.com", "attributes": {"plan": "pro", "seats": 4}},
)
async def create_contact(call: Call, data: NewContact) -> Contact:
    """Create a contact. Its address is unique in the project, regardless of case; an existing one returns 409.

    `attributes` takes any JSON values: at most 100, together at most 16 KiB. The first value of an attribute sets its
    type (see `contact-attributes`), by which CSV files are read and written; later values may have any type. If the
    address unsubscribed before its contact was deleted, the new contact is unsubscribed too;
    `PATCH {"unsubscribed": false}` subscribes it.
    """
    check_attributes(data.attributes)
    attributes = {name: value for name, value in data.attributes.items() if value is not None}
    email, key = _parse_address(data.email)
    async with call.db.transaction() as tx:
        await store.lock_audiences_shared(tx, project_id=call.project_id)
        new = StoredContact(
            project_id=call.project_id,
            id=new_id(),
            email=email,
            email_key=key,
            attributes=attributes,
            unsubscribed=data.unsubscribed,
        )
        contact = await store.insert_contact(tx, new, inferred_from(attributes), now=call.now)
        if contact is None:
            raise ContactExists
        await _record_created(tx, call.project_id, contact, call.now, actor_of(call))
    return contact


@get("/projects/{project_id}/contacts/{id}", needs="contacts:read", problems=[ContactMissing])
async def get_contact(call: Call, id: UUID) -> Contact:
    """Get a contact."""
    return await require_contact(call.db, call.project_id, id)


@patch(
    "/projects/{project_id}/contacts/{id}",
    needs="contacts:write",
    problems=[ContactMissing, ContactExists],
    example={"attributes": {"plan": "free", "seats": None}, "unsubscribed": False},
)
async def change_contact(call: Call, id: UUID, data: ContactChange) -> Contact:
    """Change a contact: attributes are merged at the top level, and null removes one.

    The contact joins and leaves dynamic audiences in the same transaction. `unsubscribed: false` subscribes it again
    and removes the address from the suppression list if it was added there by an unsubscribe; suppressions for bounces
    and complaints stay. Honours `If-Match`.
    """
    email, key = _parse_address(data.email) if data.email is not UNSET else (None, None)
    async with call.db.transaction() as tx:
        await store.lock_audiences_shared(tx, project_id=call.project_id)
        contact = require_found(await store.lock_contact(tx, project_id=call.project_id, id=id), ContactMissing)
        call.require_match(contact.updated_at)
        if key is not None:
            existing = await store.contact_by_key(tx, project_id=call.project_id, email_key=key)
            if existing is not None and existing.id != id:
                raise ContactExists
        had_unsubscribed = (
            key is not None
            and key != address_key(contact.email)
            and await store.has_unsubscribed(tx, project_id=call.project_id, email_key=key)
        )
        new_state = msgspec.structs.replace(
            contact,
            email=email or contact.email,
            attributes=contact.attributes if data.attributes is UNSET else _merge(contact, data.attributes),
            unsubscribed=contact.unsubscribed or had_unsubscribed if data.unsubscribed is UNSET else data.unsubscribed,
        )
        try:
            return await _change(tx, call.project_id, contact, new_state, call.now, actor_of(call))
        except psycopg.errors.UniqueViolation:  # A concurrent transaction took the address after the check above.
            raise ContactExists from None


@delete_("/projects/{project_id}/contacts/{id}", needs="contacts:write", problems=[ContactMissing])
async def delete_contact(call: Call, id: UUID) -> Deleted:
    """Delete a contact and its audience memberships. E-mails sent to it are kept.

    Its automation runs end. If it had unsubscribed, a contact created with the same address later, by any operation, is
    unsubscribed too until `PATCH {"unsubscribed": false}`. Honours `If-Match`.
    """
    async with call.db.transaction() as tx:
        await store.lock_audiences_shared(tx, project_id=call.project_id)
        contact = require_found(await store.lock_contact(tx, project_id=call.project_id, id=id), ContactMissing)
        call.require_match(contact.updated_at)
        await store.delete_contact(tx, project_id=call.project_id, id=id)
        await events.record(tx, call, "contact.deleted", id, email=contact.email)
    return Deleted()


@get("/projects/{project_id}/contacts/{id}/audiences", needs="audiences:read", problems=[ContactMissing])
async def list_audiences_of_contact(call: Call, id: UUID) -> list[UUID]:
    """List the ids of the audiences that a contact belongs to, oldest first."""
    await require_contact(call.db, call.project_id, id)
    return await store.audiences_of_contact(call.db, project_id=call.project_id, contact_id=id)


async def require_contact(db: Queries, project_id: UUID, id: UUID) -> Contact:
    """The contact. Raises ContactMissing."""
    return require_found(await store.contact(db, project_id=project_id, id=id), ContactMissing)


async def contact_of(db: Queries, project_id: UUID, email: str) -> Contact | None:
    """The contact with an address, compared case-insensitively; None if there is none. Raises AddressInvalid."""
    return await store.contact_by_key(db, project_id=project_id, email_key=address_key(email))


async def contact_ids(db: Queries, addresses: Sequence[tuple[UUID, str]]) -> dict[tuple[UUID, str], UUID]:
    """Contact ids for pairs of project id and address, keyed by these pairs; pairs without a contact are omitted.

    Addresses are compared case-insensitively. Raises AddressInvalid.
    """
    pairs = {(project_id, address_key(address)): (project_id, address) for project_id, address in addresses}
    rows = await store.contact_ids(
        db, project_id=[project_id for project_id, _ in pairs], email_keys=[key for _, key in pairs]
    )
    return {pairs[row.project_id, row.email_key]: row.id for row in rows}


async def find_or_create(
    tx: Transaction,
    project_id: UUID,
    email: str,
    now: Moment,
    *,
    attributes: dict[str, Any] | None = None,
    actor: ChangeActor = SYSTEM,
) -> Contact:
    """The contact with an address; creates it with `attributes`, and records the event, if there is none.

    Raises AddressInvalid. Takes the project's shared audience lock: call it early in the transaction.
    """
    address = parse_address(email)
    key = address_key(address.spec)
    await store.lock_audiences_shared(tx, project_id=project_id)
    existing = await store.contact_by_key(tx, project_id=project_id, email_key=key)
    if existing is not None:
        return existing
    new = StoredContact(
        project_id=project_id,
        id=new_id(),
        email=address.spec,
        email_key=key,
        attributes=attributes or {},
        unsubscribed=False,
    )
    created = await store.insert_contact(tx, new, inferred_from(new.attributes), now=now)
    if created is None:  # A concurrent transaction inserted it after the lookup above.
        existing = await store.contact_by_key(tx, project_id=project_id, email_key=key)
        assert existing is not None
        return existing
    await _record_created(tx, project_id, created, now, actor)
    return created


async def erase_contact(tx: Transaction, project_id: UUID, email: str) -> list[UUID]:
    """Delete the contact with an address and its audience memberships, without recording an event.

    Returns the ids of all contacts that had the address, also of those deleted earlier, so that other features can
    erase their data. A digest of the address is kept if the contact had unsubscribed. Raises AddressInvalid.
    """
    await store.lock_audiences_shared(tx, project_id=project_id)
    contact = await contact_of(tx, project_id, email)
    if contact is not None:
        await store.delete_contact(tx, project_id=project_id, id=contact.id)
    return await store.delete_former_contacts(tx, project_id=project_id, email_key=address_key(email))


async def contacts_with_ids(db: Queries, project_id: UUID, ids: Sequence[UUID]) -> list[Contact]:
    """The contacts with these ids that exist, in no particular order."""
    return await store.contacts_with_ids(db, project_id=project_id, ids=list(ids))


async def lock_contacts(tx: Transaction, project_id: UUID, ids: Sequence[UUID], keys: Sequence[str] = ()) -> list[UUID]:
    """Lock contacts by id or by normalised address (for no key update); returns the ids of those that exist.

    To avoid deadlocks, take these locks before any other lock concerning the contacts, such as on automation runs.
    """
    return await store.lock_contacts(tx, project_id=project_id, ids=list(ids), keys=list(keys))


async def merge_attributes(
    tx: Transaction,
    project_id: UUID,
    ids: Sequence[UUID],
    attributes: dict[str, Any],
    now: Moment,
    actor: ChangeActor = SYSTEM,
) -> list[UUID]:
    """Merge the same attributes into many contacts (null removes one); returns the ids of changed contacts.

    Records events and updates dynamic audiences. Contacts whose attributes would exceed a limit are not changed. The
    caller has checked names and values (`check_attributes`).
    """
    await store.lock_audiences_shared(tx, project_id=project_id)
    changed = await store.merge_attributes(
        tx,
        inferred_from(attributes),
        project_id=project_id,
        ids=list(ids),
        change=Jsonb(attributes),
        removed=[name for name, value in attributes.items() if value is None],
        max_bytes=MAX_ATTRIBUTES_BYTES,
        max_count=ATTRIBUTE_COUNT_LIMIT,
        now=now,
    )
    addresses = {contact.id: contact.email for contact in await contacts_with_ids(tx, project_id, changed)}
    data: dict[str, Any] = {"changed": ["attributes"]}
    await events.record_all(
        tx,
        [
            events.make_event(project_id, "contact.updated", contact_id, now, **actor._asdict(), email=email, **data)
            for contact_id, email in addresses.items()
        ],
    )
    await contacts_changed(tx, project_id, changed, now, actor)
    return changed


async def unsubscribe(
    tx: Transaction, project_id: UUID, id: UUID, now: Moment, actor: ChangeActor = SYSTEM, **data: Any
) -> bool:
    """Unsubscribe a contact, record events and update dynamic audiences; returns True.

    `data` is added to the events, for example the id of the send. Returns False, and changes nothing, if the contact
    does not exist or is unsubscribed already.
    """
    await store.lock_audiences_shared(tx, project_id=project_id)
    contact = await store.lock_contact(tx, project_id=project_id, id=id)
    if contact is None or contact.unsubscribed:
        return False
    new_state = msgspec.structs.replace(contact, unsubscribed=True)
    await _change(tx, project_id, contact, new_state, now, actor, **data)
    return True


async def store_engagement(
    tx: Transaction,
    project_id: UUID,
    contact_ids: Sequence[UUID],
    now: Moment,
    *,
    opened_at: datetime | None = None,
    clicked_at: datetime | None = None,
) -> None:
    """Store when contacts last opened or clicked, and update audiences whose rules use these times.

    Earlier times than the stored ones, None and unknown ids are ignored. Records events only for contacts that join or
    leave audiences: opens and clicks are events of their sends.
    """
    await store.lock_audiences_shared(tx, project_id=project_id)
    await store.set_last_engagement(
        tx, project_id=project_id, ids=list(contact_ids), opened_at=opened_at, clicked_at=clicked_at
    )
    await contacts_changed(tx, project_id, contact_ids, now, engagement_only=True)


async def _record_created(tx: Transaction, project_id: UUID, contact: Contact, now: Moment, actor: ChangeActor) -> None:
    """Record that a contact was created, and evaluate audiences for it."""
    event = events.make_event(project_id, "contact.created", contact.id, now, **actor._asdict(), email=contact.email)
    await events.record_all(tx, [event])
    await contacts_changed(tx, project_id, [contact.id], now, actor)


async def _change(
    tx: Transaction,
    project_id: UUID,
    contact: Contact,
    new_state: Contact,
    now: Moment,
    actor: ChangeActor,
    **data: Any,
) -> Contact:
    """Write the fields in which `new_state` differs, record events and update audience memberships.

    Returns the stored contact; does nothing if no field differs. `data` is added to the events.
    """
    fields = [
        name
        for name in ("email", "attributes", "unsubscribed")
        if _differ(getattr(new_state, name), getattr(contact, name))
    ]
    if not fields:
        return contact
    new = StoredContact(
        project_id=project_id,
        id=contact.id,
        email=new_state.email,
        email_key=address_key(new_state.email),
        attributes=new_state.attributes,
        unsubscribed=new_state.unsubscribed,
    )
    types = inferred_from(new_state.attributes if "attributes" in fields else {})
    changed = await store.update_contact(tx, new, types, now=now)
    former_key, current_key = address_key(contact.email), address_key(changed.email)
    if contact.unsubscribed and former_key != current_key:
        await store.remember_unsubscribed(tx, project_id=project_id, email_key=former_key, now=now)
    if not changed.unsubscribed:
        await store.forget_unsubscribed(tx, project_id=project_id, email_key=current_key)
    event_names = ["contact.updated"]
    if changed.unsubscribed and not contact.unsubscribed:
        event_names.append("contact.unsubscribed")
    data = {"email": changed.email, "changed": fields, **data}
    if "unsubscribed" in fields:
        data["unsubscribed"] = changed.unsubscribed
    await events.record_all(
        tx, [events.make_event(project_id, name, contact.id, now, **actor._asdict(), **data) for name in event_names]
    )
    await contacts_changed(tx, project_id, [contact.id], now, actor)
    return changed


def _differ(first: Any, second: Any) -> bool:
    """Whether two values are different JSON. Python's == treats 1, 1.0 and true as equal."""
    return msgspec.json.encode(first, order="deterministic") != msgspec.json.encode(second, order="deterministic")


def _merge(contact: Contact, change: dict[str, Any]) -> dict[str, Any]:
    """The contact's attributes after a change. Raises Invalid."""
    merged = {name: value for name, value in {**contact.attributes, **change}.items() if value is not None}
    check_attributes(merged)
    return merged


def _parse_address(text: str) -> tuple[str, str]:
    """An address in stored and in normalised form. Raises Invalid."""
    try:
        spec = parse_address(text).spec
        return spec, address_key(spec)
    except AddressInvalid as error:
        raise Invalid.at("/email", error.detail, "address_invalid") from None
