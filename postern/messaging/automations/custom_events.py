"""Custom events: what happened in your own product, sent in to start automations and to tell webhooks."""

import hashlib
from datetime import timedelta
from typing import Annotated, Any
from uuid import UUID

import msgspec

from postern.kernel.database.statements import Transaction
from postern.kernel.http.call import Call
from postern.kernel.http.operation import HeaderParameter, post
from postern.kernel.http.problems import Invalid, ProblemError, Unprocessable
from postern.kernel.values import Body, Record, as_id, to_json
from postern.messaging.audiences import contacts, imports, membership
from postern.messaging.audiences.csv_reader import ImportRow
from postern.messaging.automations import store
from postern.platform.events import operations as events
from postern.platform.events.model import Event, is_custom_name
from postern.protocols.mail.address import AddressInvalid, normalise, parse_address

BATCH_LIMIT = 500
BATCH_BYTES = 10_000_000
DATA_BYTES = 16_384
KEY_WINDOW = timedelta(hours=24)
"""How long a repeated request is known as one."""

IdempotencyKey = Annotated[str | None, HeaderParameter("Idempotency-Key")]
EventKey = Annotated[
    str,
    msgspec.Meta(
        min_length=1,
        max_length=255,
        pattern=r"^[\x20-\x7e]+(?!\n)$",
        description="Printable ASCII that is the same for every repetition of one event.",
    ),
]


class EventKeyReused(Unprocessable):
    """This idempotency key was used with another event within the last 24 hours."""


class CustomEvent(Body):
    """Something that happened in your product."""

    name: Annotated[str, msgspec.Meta(max_length=100)]
    """Words with dots between (`order.placed`), not beginning with one of our own areas."""
    contact_id: str | None = None
    email: Annotated[str, msgspec.Meta(max_length=1_000)] | None = None
    """Whom it happened to; an address that is no contact yet becomes one."""
    data: dict[str, Any] = {}
    idempotency_key: EventKey | None = None
    """Within 24 hours an event with a key that was used before is not recorded again."""


class CustomEventBatch(Body):
    """Several events."""

    events: Annotated[list[CustomEvent], msgspec.Meta(min_length=1, max_length=BATCH_LIMIT)]


class CustomEventResult(Record):
    """An event that was taken in."""

    id: UUID
    name: str
    contact_id: UUID | None


class CustomEventBatchResult(Record):
    """Several events that were taken in, in their order."""

    data: list[CustomEventResult]


@post(
    "/projects/{project_id}/events",
    needs="events:write",
    status=201,
    problems=[EventKeyReused],
    example={"name": "order.placed", "email": "ada@example.com", "data": {"total": 42}},
)
async def record_custom_event(
    call: Call, data: CustomEvent, idempotency_key: IdempotencyKey = None
) -> CustomEventResult:
    """Send in something that happened in your own product.

    It starts automations with an `EVENT` trigger, ends the wait of a `WAIT_FOR_EVENT` step, and reaches webhooks
    that are subscribed to `custom.<name>` or `custom.*`. `email` names a contact, and makes one if there is none.
    `data` takes up to 16 KiB. With an `Idempotency-Key` (or `idempotencyKey`), repeating it within 24 hours records
    nothing and answers the same; with other contents that is 422.
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
    call: Call, data: CustomEventBatch, idempotency_key: IdempotencyKey = None
) -> CustomEventBatchResult:
    """Send in up to 500 events at once: all are recorded, or none. The answers have the order of the request."""
    return CustomEventBatchResult(data=await _record(call, data.events, idempotency_key, single=False))


async def _record(
    call: Call, items: list[CustomEvent], idempotency_key: str | None, *, single: bool
) -> list[CustomEventResult]:
    _check(items, single=single)
    keys = _keys(items, idempotency_key, single=single)
    async with call.db.transaction() as tx:
        await membership.lock_audiences(tx, call.project_id)
        before = await _recorded_before(tx, call, items, keys)
        given = [index for index in range(len(items)) if index not in before]
        people = await _contacts_named(tx, call, [(_path(index, single), items[index]) for index in given])
        made = [_event(call, items[index], people[_path(index, single)]) for index in given]
        known = await _known(tx, call, [items[index] for index in given], made, [keys[index] for index in given])
        new = [event for event in made if event.id not in known]
        await events.record_all(tx, new)
        # Audiences whose rules look at events follow at once.
        about = sorted({each.subject_id for each in new if each.subject_id})
        await membership.contacts_changed(tx, call.project_id, about, call.now, engagement_only=True)
    if known or before:
        call.headers["Idempotent-Replayed"] = "true"
    for index, event in zip(given, made, strict=True):
        before[index] = CustomEventResult(
            id=known.get(event.id, event.id), name=event.type, contact_id=event.subject_id
        )
    return [before[index] for index in range(len(items))]


def _path(index: int, single: bool) -> str:
    return "" if single else f"/events/{index}"


def _check(items: list[CustomEvent], *, single: bool) -> None:
    faults: list[ProblemError] = []
    for index, item in enumerate(items):
        path = _path(index, single)
        if not is_custom_name(item.name):
            message = "A name is words with dots between, like order.placed, outside our own areas (email, contact …)."
            faults.append(ProblemError(path=f"{path}/name", code="name_invalid", message=message))
        if len(to_json(item.data)) > DATA_BYTES:
            faults.append(ProblemError(path=f"{path}/data", code="too_large", message="At most 16 KiB of data."))
        if item.contact_id is not None and item.email is not None:
            message = "Name the contact by `contactId` or by `email`, not both."
            faults.append(ProblemError(path=f"{path}/email", code="invalid", message=message))
    if faults:
        raise Invalid(faults[0].message, errors=faults)


def _keys(items: list[CustomEvent], header: str | None, *, single: bool) -> list[str | None]:
    """The key of each event: its own, or the request's with its place."""
    if header is not None:
        header = header[1:-1] if len(header) >= 2 and header[0] == header[-1] == '"' else header
        if not 1 <= len(header) <= 255 or not header.isascii() or not header.isprintable():
            raise Invalid.at("header/Idempotency-Key", "A key has 1 to 255 printable ASCII characters.")
    keys: list[str | None] = []
    for index, item in enumerate(items):
        place = "" if single else f"#{index}"
        own = None if item.idempotency_key is None else f"event:{item.idempotency_key}"
        keys.append(own or (None if header is None else f"request:{header}{place}"))
    given = [key for key in keys if key]
    if len(set(given)) != len(given):
        raise Invalid.at("/events", "Two events have the same idempotency key.", "duplicate")
    # Callers write whom an event is about into their keys: kept is only a digest of it.
    return [None if key is None else hashlib.sha256(key.encode()).hexdigest() for key in keys]


def _event(call: Call, item: CustomEvent, contact_id: UUID | None) -> Event:
    caller = call.caller
    event = events.make_event(
        call.project_id,
        item.name,
        contact_id,
        call.now,
        actor_type=caller.actor_type,
        actor_id=caller.actor_id,
        actor_label=caller.actor_label,
    )
    return msgspec.structs.replace(event, data=item.data)


async def _contacts_named(tx: Transaction, call: Call, given: list[tuple[str, CustomEvent]]) -> dict[str, UUID | None]:
    """Whom events are about, by the places of the events; addresses that are no contacts yet become some."""
    found: dict[str, UUID | None] = {path: None for path, _ in given}
    named = {path: as_id(item.contact_id) for path, item in given if item.contact_id is not None}
    rows = _new_contacts({path: item.email for path, item in given if item.email is not None})
    keys = sorted({row.email_key for row in rows.values()})
    known = set(await imports.lock_rows(tx, call.project_id, keys, list(named.values())))
    for path, contact_id in named.items():
        if contact_id not in known:
            raise Invalid.at(f"{path}/contactId", "There is no such contact in this project.", "contact_missing")
    if rows:
        # All by one statement: two requests that made the same contacts one by one would wait for each other.
        once = {row.email_key: row for row in rows.values()}
        await imports.import_batch(tx, call.project_id, list(once.values()), "skip", call.now)
        ids = await contacts.contact_ids(tx, [(call.project_id, key) for key in keys])
        # Those that somebody else made meanwhile are not held yet.
        await contacts.lock_contacts(tx, call.project_id, [each for each in ids.values() if each not in known])
        found |= {path: ids.get((call.project_id, row.email_key)) for path, row in rows.items()}
    return found | named


def _new_contacts(given: dict[str, str]) -> dict[str, ImportRow]:
    """Contacts as addresses would make them, by the places of the events. Raises Invalid."""
    rows: dict[str, ImportRow] = {}
    for number, (path, text) in enumerate(given.items(), start=1):
        try:
            spec = parse_address(text).spec
        except AddressInvalid as wrong:
            raise Invalid.at(f"{path}/email", wrong.detail, "address_invalid") from None
        rows[path] = ImportRow(number, spec, normalise(spec), {}, False)
    return rows


async def _recorded_before(
    tx: Transaction, call: Call, items: list[CustomEvent], keys: list[str | None]
) -> dict[int, CustomEventResult]:
    """What repeated requests were answered, by their place: a contact that has gone since does not come back.

    Raises EventKeyReused.
    """
    places = {key: index for index, key in enumerate(keys) if key is not None}
    rows = (
        await store.known_keys(tx, project_id=call.project_id, key=sorted(places), since=call.now - KEY_WINDOW)
        if places
        else []
    )
    if any(row.body_hash != _hash(items[places[row.key]]) for row in rows):
        raise EventKeyReused
    kept = await events.with_ids(tx, call.project_id, [row.event_id for row in rows]) if rows else []
    subjects = {event.id: event.subject_id for event in kept}
    return {
        places[row.key]: CustomEventResult(
            id=row.event_id, name=items[places[row.key]].name, contact_id=subjects.get(row.event_id)
        )
        for row in rows
    }


async def _known(
    tx: Transaction, call: Call, items: list[CustomEvent], made: list[Event], keys: list[str | None]
) -> dict[UUID, UUID]:
    """Events that were recorded before, by the ids that they would have got now. Raises EventKeyReused."""
    keyed = {key: (item, event) for item, event, key in zip(items, made, keys, strict=True) if key is not None}
    if not keyed:
        return {}
    hashes = {key: _hash(item) for key, (item, _) in keyed.items()}
    won = await store.claim_keys(
        tx,
        project_id=call.project_id,
        key=list(keyed),
        body_hash=list(hashes.values()),
        event_id=[event.id for _, event in keyed.values()],
        now=call.now,
        window=KEY_WINDOW,
    )
    known: dict[UUID, UUID] = {}
    for row in await store.known_keys(
        tx, project_id=call.project_id, key=sorted(set(keyed) - set(won)), since=call.now - KEY_WINDOW
    ):
        if row.body_hash != hashes[row.key]:
            raise EventKeyReused
        known[keyed[row.key][1].id] = row.event_id
    await store.delete_expired_keys(tx, project_id=call.project_id, before=call.now - KEY_WINDOW)
    return known


def _hash(item: CustomEvent) -> bytes:
    return hashlib.sha256(msgspec.json.encode(item, order="sorted")).digest()
