"""Custom events from the developer's own product, which start automations and are delivered to webhooks."""

import hashlib
from datetime import timedelta
from typing import Annotated, Any
from uuid import UUID

import msgspec

from postern.kernel.database.statements import Transaction
from postern.kernel.http.call import Call
from postern.kernel.http.idempotency import IdempotencyHeader, digest_of, read_key
from postern.kernel.http.operation import post
from postern.kernel.http.problems import Invalid, ProblemError, Unprocessable
from postern.kernel.values import Body, Record, as_id, to_json
from postern.messaging.audiences import contacts, imports, membership
from postern.messaging.audiences.csv_reader import ImportRow
from postern.messaging.automations import store
from postern.platform.events import operations as events
from postern.platform.events.model import EventRow, is_custom_name
from postern.protocols.mail.address import AddressInvalid, address_key, parse_address

BATCH_LIMIT = 500
"""Maximum number of events in one request."""
BATCH_BYTES = 10_000_000
"""Maximum bytes of a request with several events."""
DATA_BYTES = 16_384
"""Maximum bytes of an event's data as JSON."""
KEY_WINDOW = timedelta(hours=24)
"""Time within which an idempotency key identifies the same event."""

EventKey = Annotated[
    str,
    msgspec.Meta(
        min_length=1,
        max_length=255,
        pattern=r"^[\x20-\x7e]+(?!\n)$",
        description="Printable ASCII; use the same key for each repetition of the same event.",
    ),
]


class EventKeyReused(Unprocessable):
    """This idempotency key was used with a different event within the last 24 hours; use a new key."""


class CustomEvent(Body):
    """Something that happened in your product."""

    name: Annotated[str, msgspec.Meta(max_length=100)]
    """Words separated by dots (`order.placed`). Names that begin with `email.`, `contact.` … are reserved."""
    contact_id: str | None = None
    email: Annotated[str, msgspec.Meta(max_length=1_000)] | None = None
    """Address of the contact concerned; a contact with this address is created if there is none."""
    data: dict[str, Any] = {}
    idempotency_key: EventKey | None = None
    """An event whose key was used within the last 24 hours is not recorded again."""


class CustomEventBatch(Body):
    """Several events."""

    events: Annotated[list[CustomEvent], msgspec.Meta(min_length=1, max_length=BATCH_LIMIT)]


class CustomEventResult(Record):
    """An event that was recorded."""

    id: UUID
    name: str
    contact_id: UUID | None


class CustomEventBatchResult(Record):
    """Events that were recorded, in the order of the request."""

    data: list[CustomEventResult]


@post(
    "/projects/{project_id}/events",
    needs="events:write",
    status=201,
    problems=[EventKeyReused],
    example={"name": "order.placed", "email": "ada@example.com", "data": {"total": 42}},
)
async def record_custom_event(
    call: Call, data: CustomEvent, idempotency_key: IdempotencyHeader = None
) -> CustomEventResult:
    """Record a custom event: something that happened in your own product.

    It starts automations with an `EVENT` trigger, ends the wait of `WAIT_FOR_EVENT` steps, and is delivered to webhooks
    that subscribe to `custom.<name>` or `custom.*`. `email` identifies the contact, which is created if there is none.
    `data` can have up to 16 KiB. With an `Idempotency-Key` (or `idempotencyKey`), repeating the request within 24 hours
    records nothing and returns the same response; with different contents it returns 422.
    """
    (recorded,) = await _record(call, [data], idempotency_key, single=True)
    return recorded


@post(
    "/projects/{project_id}/events/batch",
    needs="events:write",
    status=201,
    body_limit=BATCH_BYTES,
    problems=[EventKeyReused],
    example={"events": [{"name": "order.placed", "email": "ada@example.com", "data": {"total": 42}}]},
)
async def record_custom_events(
    call: Call, data: CustomEventBatch, idempotency_key: IdempotencyHeader = None
) -> CustomEventBatchResult:
    """Record up to 500 custom events at once: all or none. The results are in the order of the request.

    An `Idempotency-Key` applies to each event without an `idempotencyKey`, together with the event's index. Events
    whose key was used within 24 hours are not recorded again.
    """
    return CustomEventBatchResult(data=await _record(call, data.events, idempotency_key, single=False))


async def _record(
    call: Call, items: list[CustomEvent], idempotency_key: str | None, *, single: bool
) -> list[CustomEventResult]:
    """Record events, except those whose key was used before; return the results in the order of `items`.

    `single`: the request body is one event, not a batch. Then JSON pointers do not begin with `/events/<index>`, and
    the `Idempotency-Key` is used without the index.
    """
    _check(items, single=single)
    keys = _keys(call, items, idempotency_key, single=single)
    async with call.db.transaction() as tx:
        await membership.lock_audiences(tx, call.project_id)
        recorded_before = await _recorded_before(tx, call, items, keys)
        new_indexes = [index for index in range(len(items)) if index not in recorded_before]
        contact_ids_by_path = await _contact_ids(
            tx, call, [(_path(index, single), items[index]) for index in new_indexes]
        )
        created = [_event(call, items[index], contact_ids_by_path[_path(index, single)]) for index in new_indexes]
        duplicates = await _claim_keys(
            tx, call, [items[index] for index in new_indexes], created, [keys[index] for index in new_indexes]
        )
        recorded = [event for event in created if event.id not in duplicates]
        await events.record_all(tx, recorded)
        contact_ids = sorted({event.subject_id for event in recorded if event.subject_id})
        # Of the audiences, only those whose rules refer to opens, clicks or custom events can change.
        actor = membership.actor_of(call)
        await membership.contacts_changed(tx, call.project_id, contact_ids, call.now, actor, engagement_only=True)
    if duplicates or recorded_before:
        call.headers["Idempotent-Replayed"] = "true"
    results = dict(recorded_before)
    for index, event in zip(new_indexes, created, strict=True):
        results[index] = CustomEventResult(
            id=duplicates.get(event.id, event.id), name=event.type, contact_id=event.subject_id
        )
    return [results[index] for index in range(len(items))]


def _path(index: int, single: bool) -> str:
    return "" if single else f"/events/{index}"


def _check(items: list[CustomEvent], *, single: bool) -> None:
    """Raises Invalid for invalid names, too much data, and events with both a contact id and an address."""
    errors: list[ProblemError] = []
    for index, item in enumerate(items):
        path = _path(index, single)
        if not is_custom_name(item.name):
            message = "Use words separated by dots, like `order.placed`; `email.`, `contact.` … are reserved."
            errors.append(ProblemError(path=f"{path}/name", code="name_invalid", message=message))
        if len(to_json(item.data)) > DATA_BYTES:
            errors.append(ProblemError(path=f"{path}/data", code="too_large", message="At most 16 KiB of data."))
        if item.contact_id is not None and item.email is not None:
            message = "Identify the contact by `contactId` or by `email`, not both."
            errors.append(ProblemError(path=f"{path}/email", code="invalid", message=message))
    if errors:
        raise Invalid(errors[0].message, errors=errors)


def _keys(call: Call, items: list[CustomEvent], header: str | None, *, single: bool) -> list[str | None]:
    """The hashed idempotency key of each event: the event's own or, if it has none, the header's with the index.

    None for an event without either. Raises Invalid if two events have the same key.
    """
    request_key = None if header is None else read_key(header)
    keys: list[str | None] = []
    for index, item in enumerate(items):
        index_suffix = "" if single else f"#{index}"
        own_key = None if item.idempotency_key is None else f"event:{item.idempotency_key}"
        keys.append(own_key or (None if request_key is None else f"request:{request_key}{index_suffix}"))
    used_keys = [key for key in keys if key]
    if len(set(used_keys)) != len(used_keys):
        raise Invalid.at("/events", "Two events have the same idempotency key.", "duplicate")
    prefix = "test:" if call.caller.environment == "TEST" else ""
    return [None if key is None else digest_of(f"{prefix}{key}") for key in keys]


def _event(call: Call, item: CustomEvent, contact_id: UUID | None) -> EventRow:
    event = events.make_event_by(call.caller, call.project_id, item.name, contact_id, call.now)
    return msgspec.structs.replace(event, data=item.data)


async def _contact_ids(tx: Transaction, call: Call, items: list[tuple[str, CustomEvent]]) -> dict[str, UUID | None]:
    """The contact id of each event, keyed by the event's JSON pointer. Creates contacts for unknown addresses."""
    contact_ids: dict[str, UUID | None] = {path: None for path, _ in items}
    ids_in_request = {path: as_id(item.contact_id) for path, item in items if item.contact_id is not None}
    rows = _import_rows({path: item.email for path, item in items if item.email is not None})
    keys = sorted({row.email_key for row in rows.values()})
    locked = set(await imports.lock_contacts_to_import(tx, call.project_id, keys, list(ids_in_request.values())))
    for path, contact_id in ids_in_request.items():
        if contact_id not in locked:
            raise Invalid.at(f"{path}/contactId", "There is no such contact in this project.", "contact_missing")
    if rows:
        # In one statement: two requests that inserted the same contacts one by one could deadlock.
        rows_by_key = {row.email_key: row for row in rows.values()}
        await imports.import_batch(
            tx, call.project_id, list(rows_by_key.values()), "skip", call.now, membership.actor_of(call)
        )
        ids = await contacts.contact_ids(tx, [(call.project_id, key) for key in keys])
        # Contacts that a concurrent transaction inserted are not locked yet.
        await contacts.lock_contacts(
            tx, call.project_id, [contact_id for contact_id in ids.values() if contact_id not in locked]
        )
        contact_ids |= {path: ids.get((call.project_id, row.email_key)) for path, row in rows.items()}
    return contact_ids | ids_in_request


def _import_rows(addresses: dict[str, str]) -> dict[str, ImportRow]:
    """The row to import for each address; both are keyed by the JSON pointer of the event.

    Raises Invalid for an invalid address.
    """
    rows: dict[str, ImportRow] = {}
    for number, (path, text) in enumerate(addresses.items(), start=1):
        try:
            spec = parse_address(text).spec
        except AddressInvalid as error:
            raise Invalid.at(f"{path}/email", error.detail, "address_invalid") from None
        rows[path] = ImportRow(number, spec, address_key(spec), {}, False)
    return rows


async def _recorded_before(
    tx: Transaction, call: Call, items: list[CustomEvent], keys: list[str | None]
) -> dict[int, CustomEventResult]:
    """Results of events that were recorded before, keyed by index. Raises EventKeyReused.

    Looked up before contacts are created, so that a repeated request does not recreate a deleted contact.
    """
    indexes = {key: index for index, key in enumerate(keys) if key is not None}
    rows = (
        await store.used_keys(tx, project_id=call.project_id, keys=sorted(indexes), since=call.now - KEY_WINDOW)
        if indexes
        else []
    )
    if any(row.body_hash != _hash(items[indexes[row.key]]) for row in rows):
        raise EventKeyReused
    recorded = await events.with_ids(tx, call.project_id, [row.event_id for row in rows]) if rows else []
    subjects = {event.id: event.subject_id for event in recorded}
    return {
        indexes[row.key]: CustomEventResult(
            id=row.event_id, name=items[indexes[row.key]].name, contact_id=subjects.get(row.event_id)
        )
        for row in rows
    }


async def _claim_keys(
    tx: Transaction, call: Call, items: list[CustomEvent], new_events: list[EventRow], keys: list[str | None]
) -> dict[UUID, UUID]:
    """Claim the keys of new events. Raises EventKeyReused.

    If a concurrent request claimed a key first, the result maps the id of the new event to that of the recorded one.
    """
    items_by_key = {
        key: (item, event) for item, event, key in zip(items, new_events, keys, strict=True) if key is not None
    }
    if not items_by_key:
        return {}
    hashes = {key: _hash(item) for key, (item, _) in items_by_key.items()}
    claimed = await store.claim_keys(
        tx,
        project_id=call.project_id,
        key=list(items_by_key),
        body_hash=list(hashes.values()),
        event_id=[event.id for _, event in items_by_key.values()],
        now=call.now,
        window=KEY_WINDOW,
    )
    duplicates: dict[UUID, UUID] = {}
    for row in await store.used_keys(
        tx, project_id=call.project_id, keys=sorted(set(items_by_key) - set(claimed)), since=call.now - KEY_WINDOW
    ):
        if row.body_hash != hashes[row.key]:
            raise EventKeyReused
        duplicates[items_by_key[row.key][1].id] = row.event_id
    await store.delete_expired_keys(tx, project_id=call.project_id, before=call.now - KEY_WINDOW)
    return duplicates


def _hash(item: CustomEvent) -> bytes:
    return hashlib.sha256(msgspec.json.encode(item, order="sorted")).digest()
