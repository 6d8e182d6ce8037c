"""Recording and reading events."""

from collections.abc import Awaitable, Callable, Sequence, Set
from dataclasses import dataclass
from operator import attrgetter
from typing import Any, LiteralString
from uuid import UUID

import msgspec
from psycopg.sql import SQL

from postern.kernel.batching import groups_of
from postern.kernel.database.statements import FEW_ROWS, Jsonb, Queries, Transaction
from postern.kernel.http.call import Call, Caller
from postern.kernel.http.operation import get
from postern.kernel.http.pagination import Cursor, Feed, ListLimit, newest_first
from postern.kernel.http.problems import Invalid
from postern.kernel.values import Moment, build_view, new_id, with_milliseconds
from postern.platform.events import store
from postern.platform.events.model import (
    ALIASES,
    AREAS,
    EVENT_NAMES,
    TEST_MARKED_AREAS,
    Event,
    EventContact,
    EventPosition,
    EventRange,
    EventRow,
    FirstEventSince,
    address_in_event,
    contact_id_of,
    is_custom_name,
)


@dataclass(frozen=True, kw_only=True)
class Reaction:
    """A function that reacts to events of some types, in the transaction that records them.

    Raises ValueError for a type that is not in EVENT_NAMES.
    """

    react: Callable[[Transaction, list[EventRow]], Awaitable[None]]
    """Called with the events that were recorded together and to which the reaction applies; see `reacts_to`."""
    react_in_bulk: Callable[[Transaction, EventRange], Awaitable[None]] | None = None
    """Called with events that one statement inserted in bulk, if the reaction applies to at least one of their types.
    None if events of these types are never inserted in bulk."""
    types: Set[str]
    """Names in `EVENT_NAMES`."""
    custom: bool = False
    """Whether the reaction also applies to custom events, whatever their names."""
    condition: LiteralString = "true"
    """SQL condition on the projects `%(project_id)s` (an array): if it is false, the reaction has nothing to do there
    and is not called. It is evaluated by the statement that inserts the events, but not for events in bulk."""

    def __post_init__(self) -> None:
        if unknown := self.types - set(EVENT_NAMES):
            raise ValueError(f"There are no events {', '.join(sorted(unknown))}.")

    def reacts_to(self, type: str) -> bool:
        """Whether the reaction applies to events of this type."""
        return type in self.types or (self.custom and type not in EVENT_NAMES)


RANGE_PAGE_SIZE = 1_000
"""Default number of events that `in_range` returns."""


async def record(tx: Transaction, call: Call, type: str, subject_id: UUID | None, /, **data: Any) -> EventRow:
    """Record an event with the caller as actor, in the transaction of the change, and call the reactions to its type.

    Returns the event; `data` holds its details.
    """
    event = make_event_by(call.caller, call.project_id, type, subject_id, call.now, **data)
    await record_all(tx, [event])
    return event


def make_event_by(
    caller: Caller, project_id: UUID, type: str, subject_id: UUID | None, occurred_at: Moment, /, **data: Any
) -> EventRow:
    """Create an event with a caller as actor, without recording it."""
    return make_event(
        project_id,
        type,
        subject_id,
        occurred_at,
        actor_type=caller.actor_type,
        actor_id=caller.actor_id,
        actor_label=caller.actor_label,
        test=caller.environment == "TEST",
        **data,
    )


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
    test: bool = False,
    **data: Any,
) -> EventRow:
    """Create an event without recording it. The default actor is the system.

    `test` is whether a TEST key caused the event; if the actor is a TEST key, it is always true.
    """
    test = test or actor_type == "TEST_KEY"
    return EventRow(
        project_id=project_id,
        id=new_id(),
        type=type,
        subject_id=subject_id,
        actor_type=actor_type,
        actor_id=actor_id,
        actor_label=actor_label,
        data={**data, **_test_mark(type, actor_type, test=test)},
        occurred_at=occurred_at,
        test=test,
    )


def _test_mark(type: str, actor_type: str, *, test: bool) -> dict[str, bool]:
    """The field `test` in the data of an event, as a dict. Events about e-mail always have it. Events of
    TEST_MARKED_AREAS have it only if it is true and the actor is not the TEST key itself; others never have it."""
    area = type.partition(".")[0]
    if area == "email":
        return {"test": test}
    return {"test": True} if test and actor_type != "TEST_KEY" and area in TEST_MARKED_AREAS else {}


async def record_all(tx: Transaction, events: list[EventRow]) -> bool:
    """Record events in one statement, and call the reactions to their types in the same transaction, except those whose
    condition is false. Returns whether there were reactions."""
    if not events:
        return False
    if tx.is_distributed and len({event.project_id for event in events}) > 1:
        groups = groups_of(events, attrgetter("project_id"))
        return any([await record_all(tx, group) for group in groups])
    types = {event.type for event in events}
    reactions = [reaction for reaction in tx.hooks.reactions if any(map(reaction.reacts_to, types))]
    project_ids = sorted({event.project_id for event in events})
    texts = SQL(", ".join([reaction.condition for reaction in reactions]))
    if tx.is_distributed and len(events) <= FEW_ROWS:
        for event in events:
            await store.insert_event(tx, with_milliseconds(event))
        conditions = await store.conditions_that_hold(tx, project_id=project_ids, conditions=texts) if reactions else []
    else:
        rows = [msgspec.structs.asdict(event) for event in events]
        conditions = await store.insert_events(tx, project_id=project_ids, rows=Jsonb(rows), conditions=texts)
    for reaction, holds in zip(reactions, conditions, strict=True):
        if holds:
            await reaction.react(tx, [event for event in events if reaction.reacts_to(event.type)])
    return any(conditions)


def id_range(first: UUID) -> tuple[UUID, UUID]:
    """The lowest and highest id that `id_after(first, number)` in SQL can return, for events recorded in bulk."""
    low = first.int >> 32 << 32
    return UUID(int=low), UUID(int=low | 0xFFFF_FFFF)


async def react_to_range(tx: Transaction, project_id: UUID, first: UUID, types: tuple[str, ...], count: int) -> None:
    """Call the reactions to `count` events of `types` that a statement of this transaction has inserted in bulk.

    The ids of the events are `id_after(first, 1)` and following. Inserts no events itself. Memory use does not depend
    on `count`.
    """
    if not count:
        return
    low, high = id_range(first)
    range_ = EventRange(project_id=project_id, types=types, first_id=low, last_id=high, count=count)
    for reaction in tx.hooks.reactions:
        if any(map(reaction.reacts_to, types)):
            assert reaction.react_in_bulk is not None, f"{reaction.react.__name__} takes no events in bulk."
            await reaction.react_in_bulk(tx, range_)


async def in_range(tx: Transaction, range_: EventRange, after: UUID, limit: int = RANGE_PAGE_SIZE) -> list[EventRow]:
    """Up to `limit` events of a range, oldest first, with ids above `after`; an empty list at the end of the range.

    Pass `range_.first_id` as `after` for the first page, then the last id of the page before.
    """
    return await store.list_between(tx, project_id=range_.project_id, after=after, last=range_.last_id, limit=limit)


async def of_subject(
    db: Queries, project_id: UUID, subject_id: UUID, *, before: UUID | None = None, limit: int = 100
) -> list[EventRow]:
    """Up to `limit` events of a record, newest first, before the event `before` if it is not None."""
    return await store.of_subject(
        db, project_id=project_id, subject_id=subject_id, before=before, types=None, limit=limit
    )


async def latest_of_subject(db: Queries, project_id: UUID, subject_id: UUID, types: Sequence[str]) -> EventRow | None:
    """The newest event of a record that has one of these types, or None."""
    newest_events = await store.of_subject(
        db, project_id=project_id, subject_id=subject_id, before=None, types=list(types), limit=1
    )
    return newest_events[0] if newest_events else None


async def with_ids(db: Queries, project_id: UUID, ids: list[UUID]) -> list[EventRow]:
    """The events with these ids, in no particular order. Ids without an event are ignored."""
    return await store.with_ids(db, project_id=project_id, ids=ids)


async def contacts_of(db: Queries, project_id: UUID, events: Sequence[EventRow]) -> dict[UUID, EventContact]:
    """The contacts that events concern, keyed by event id; events without one are omitted."""
    contact_ids = {event.id: contact_id for event in events if (contact_id := contact_id_of(event))}
    event_addresses = {event.id: address_in_event(event) for event in events if event.id in contact_ids}
    to_look_up = {contact_ids[event_id] for event_id, address in event_addresses.items() if address is None}
    rows = (
        await store.contact_addresses(db, project_id=project_id, contact_ids=sorted(to_look_up)) if to_look_up else []
    )
    contact_addresses = {row.id: row.email for row in rows}
    return {
        event_id: EventContact(id=contact_id, email=event_addresses[event_id] or contact_addresses.get(contact_id))
        for event_id, contact_id in contact_ids.items()
    }


async def first_since(
    db: Queries, project_id: UUID, type: str, lookups: Sequence[tuple[UUID, UUID, EventPosition]], *, with_test: bool
) -> dict[UUID, FirstEventSince]:
    """For each lookup (key, subject id, position), the first event of `type` of the subject after the position.

    Keyed by the lookup's key; lookups without such an event are omitted. Events that a TEST key caused count only
    `with_test`.
    """
    if not lookups:
        return {}
    rows = await store.first_since(
        db,
        project_id=project_id,
        type=type,
        key=[key for key, _, _ in lookups],
        subject_id=[subject_id for _, subject_id, _ in lookups],
        at=[position.at for _, _, position in lookups],
        after=[position.event_id for _, _, position in lookups],
        with_test=with_test,
    )
    return {row.key: row for row in rows}


async def after(db: Queries, project_id: UUID, after_id: UUID | None, limit: int) -> list[EventRow]:
    """Up to `limit` events recorded after the event `after_id` (None: from the first), oldest first."""
    return await store.list_after(db, project_id=project_id, after=after_id, types=None, limit=limit)


@get("/projects/{project_id}/events", needs="events:read", reads_replica=True)
async def list_events(
    call: Call,
    type: str | None = None,
    subject_id: UUID | None = None,
    after: UUID | None = None,
    limit: ListLimit = 100,
    cursor: Cursor | None = None,
) -> Feed[Event]:
    """List the events of the project, newest first. Filter by `type`: one or several names or groups (`email.*`),
    comma-separated; and by `subjectId`, the id of the record that the events are about.

    `contact` is the contact that an event concerns: the id, and the address unless the contact has been deleted.

    To follow new events, give `after`, the id of an event: the events after it are listed, oldest first. `after` cannot
    be combined with `subjectId`. An event can appear a few seconds late, with an id before those that you have read:
    read the last seconds again each time, and ignore the events that you have read already.
    """
    types = parse_types(type)
    if after is not None:
        if subject_id is not None:
            raise Invalid.at("query/subjectId", "`subjectId` cannot be combined with `after`.")
        since = await store.list_after(call.db, project_id=call.project_id, after=after, types=types, limit=limit)
        return Feed(data=await with_contacts(call.db, call.project_id, since), next_cursor=None)
    scope = f"events|{type or ''}|{subject_id or ''}"
    page = await (
        newest_first(call, scope, cursor, limit, store.list_events, types=types)
        if subject_id is None
        else newest_first(call, scope, cursor, limit, store.of_subject, types=types, subject_id=subject_id)
    )
    return Feed(data=await with_contacts(call.db, call.project_id, page.items), next_cursor=page.next_cursor)


def parse_types(type: str | None) -> list[str] | None:
    """The event names in a filter such as `email.*,order.placed`; None without a filter. Raises Invalid."""
    types: list[str] = []
    for name in (part.strip() for part in (type or "").split(",")):
        name = ALIASES.get(name, name)
        area, _, rest = name.partition(".")
        if rest == "*" and area in AREAS - {"custom"}:
            types += [known for known in EVENT_NAMES if known.startswith(f"{area}.")]
        elif name in EVENT_NAMES or is_custom_name(name) or name == "webhook.test":
            types.append(name)
        elif name:
            names = ", ".join(EVENT_NAMES)
            raise Invalid.at("query/type", f"There is no event `{name[:100]}`. There are: {names}; and custom events.")
    return types or None


async def with_contacts(db: Queries, project_id: UUID, rows: Sequence[EventRow]) -> list[Event]:
    """The events with the contacts that they concern."""
    contacts = await contacts_of(db, project_id, rows)
    return [build_view(Event, row, contact=contacts.get(row.id)) for row in rows]
