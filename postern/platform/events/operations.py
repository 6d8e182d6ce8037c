"""Recording what happened, and reading it."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any
from uuid import UUID

import msgspec

from postern.kernel.clock import Moment
from postern.kernel.database.statements import Jsonb, Queries, Transaction
from postern.kernel.http.call import Call
from postern.kernel.http.operation import get
from postern.kernel.http.pagination import Cursor, Feed, ListLimit, before_id, linked_list
from postern.kernel.http.problems import Invalid
from postern.kernel.values import new_id
from postern.platform.events import store
from postern.platform.events.model import (
    ALIASES,
    EVENT_NAMES,
    Event,
    EventContact,
    EventPosition,
    EventRange,
    FirstEventSince,
    contact_id_of,
    is_custom_name,
    known_address,
)

Reaction = Callable[[Transaction, list[Event]], Awaitable[None]]
"""Makes new due rows (webhook deliveries, automation runs, counters) in the transaction of the events."""

BulkReaction = Callable[[Transaction, EventRange], Awaitable[None]]
"""The same for events that one statement recorded by the thousand: an `insert … select` from the range of ids."""

STORED_FIELDS = tuple(name for name in Event.__struct_fields__ if name != "contact")

READ_AT_ONCE = 1_000
"""How many events recorded in bulk are shown at a time to a reaction that takes them one by one."""


async def record(tx: Transaction, call: Call, type: str, subject_id: UUID | None, /, **data: Any) -> Event:
    """Record one event by the caller, in the transaction of the change it tells about."""
    event = make_event(
        call.project_id,
        type,
        subject_id,
        call.now,
        actor_type=call.caller.actor_type,
        actor_id=call.caller.actor_id,
        actor_label=call.caller.actor_label,
        **data,
    )
    await record_all(tx, [event])
    return event


def make_event(
    project_id: UUID,
    type: str,
    subject_id: UUID | None,
    occurred_at: Moment,
    /,
    *,
    actor_type: str = "SYSTEM",
    actor_id: UUID | None = None,
    actor_label: str | None = None,
    **data: Any,
) -> Event:
    """An event, not yet recorded: by the service itself unless an actor is given."""
    return Event(
        project_id=project_id,
        id=new_id(),
        type=type,
        subject_id=subject_id,
        actor_type=actor_type,
        actor_id=actor_id,
        actor_label=actor_label,
        data=data,
        occurred_at=occurred_at,
    )


async def record_all(tx: Transaction, events: list[Event]) -> None:
    """Record many events in one statement, and let everyone react in the same transaction."""
    if not events:
        return
    rows = [{name: getattr(event, name) for name in STORED_FIELDS} for event in events]
    await store.insert_event(tx, project_id=sorted({event.project_id for event in events}), rows=Jsonb(rows))
    for react in tx.hooks.reactions:
        await react(tx, events)


def id_range(first: UUID) -> tuple[UUID, UUID]:
    """The range of ids that SQL's `id_after(first, number)` fills, for events recorded in bulk."""
    low = first.int >> 32 << 32
    return UUID(int=low), UUID(int=low | 0xFFFF_FFFF)


async def record_range(tx: Transaction, project_id: UUID, first: UUID, types: tuple[str, ...], count: int) -> None:
    """Let everyone react to `count` events of `types` that a statement of this transaction has recorded.

    Their ids are `id_after(first, 1)` and following. Memory stays flat however many there are.
    """
    if not count:
        return
    low, high = id_range(first)
    range_ = EventRange(project_id=project_id, types=types, first_id=low, last_id=high, count=count)
    for react in tx.hooks.reactions.values():
        await react(tx, range_)


async def in_range(tx: Transaction, range_: EventRange, after: UUID, limit: int = READ_AT_ONCE) -> list[Event]:
    """Events recorded in bulk, oldest first, after the one given (`range_.first_id` to begin with)."""
    return await store.list_between(tx, project_id=range_.project_id, after=after, last=range_.last_id, limit=limit)


async def of_subject(
    db: Queries, project_id: UUID, subject_id: UUID, *, before: UUID | None = None, limit: int = 100
) -> list[Event]:
    """What happened to one record, newest first."""
    return await store.of_subject(
        db, project_id=project_id, subject_id=subject_id, before=before, types=None, limit=limit
    )


async def with_ids(db: Queries, project_id: UUID, ids: list[UUID]) -> list[Event]:
    """The events with these ids, in no particular order."""
    return await store.with_ids(db, project_id=project_id, ids=ids)


async def contacts_of(db: Queries, project_id: UUID, found: Sequence[Event]) -> dict[UUID, EventContact]:
    """The contacts that events are about, by the ids of the events; events without one are left out."""
    ids = {event.id: contact_id for event in found if (contact_id := contact_id_of(event))}
    said = {event.id: known_address(event) for event in found if event.id in ids}
    unknown = {ids[event_id] for event_id, address in said.items() if address is None}
    rows = await store.addresses(db, project_id=project_id, contact_ids=sorted(unknown)) if unknown else []
    addresses = {row.id: row.email for row in rows}
    return {
        event_id: EventContact(id=contact_id, email=said[event_id] or addresses.get(contact_id))
        for event_id, contact_id in ids.items()
    }


async def first_since(
    db: Queries, project_id: UUID, type: str, asked: Sequence[tuple[UUID, UUID, EventPosition]]
) -> dict[UUID, FirstEventSince]:
    """The first event of a type since a position, for many questions of (key, subject, position), by key."""
    if not asked:
        return {}
    found = await store.first_since(
        db,
        project_id=project_id,
        type=type,
        key=[key for key, _, _ in asked],
        subject_id=[subject_id for _, subject_id, _ in asked],
        at=[position.at for _, _, position in asked],
        after=[position.event_id for _, _, position in asked],
    )
    return {each.key: each for each in found}


async def after(db: Queries, project_id: UUID, after_id: UUID | None, limit: int) -> list[Event]:
    """Events recorded after the one given, oldest first."""
    return await store.list_after(db, project_id=project_id, after=after_id, types=None, limit=limit)


@get("/projects/{project_id}/events", needs="events:read")
async def list_events(
    call: Call,
    type: str | None = None,
    after: UUID | None = None,
    limit: ListLimit = 100,
    cursor: Cursor | None = None,
) -> Feed[Event]:
    """What happened in the project, newest first. `type` narrows to one or several names, comma-separated.

    `contact` is the contact that an event is about: its id, and its address unless it has been deleted since.

    With `after`, an event's id, what happened since then instead, oldest first: for following along. Events of
    the last seconds may still come in between, so begin a little earlier and leave out what you have seen.
    """
    types = [ALIASES.get(name.strip(), name.strip()) for name in type.split(",") if name.strip()] if type else None
    for name in types or []:
        if name not in EVENT_NAMES and not is_custom_name(name) and name != "webhook.test":
            known = ", ".join(EVENT_NAMES)
            raise Invalid.at("query/type", f"`{name[:100]}` is no event. There are: {known}; and those you send in.")
    if after is not None:
        since = await store.list_after(call.db, project_id=call.project_id, after=after, types=types, limit=limit)
        return Feed(data=await _listed_events(call, since), next_cursor=None)
    scope = f"events|{type or ''}"
    rows = await store.list_events(
        call.db,
        project_id=call.project_id,
        before=before_id(call, scope, cursor),
        types=types,
        limit=limit + 1,
    )
    found = linked_list(call, scope, rows, limit)
    return Feed(data=await _listed_events(call, found.items), next_cursor=found.next_cursor)


async def _listed_events(call: Call, found: Sequence[Event]) -> list[Event]:
    contacts = await contacts_of(call.db, call.project_id, found)
    return [msgspec.structs.replace(event, contact=contacts.get(event.id)) for event in found]
