"""Recording what happened, and reading it."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any
from uuid import UUID

from postern.events import store
from postern.events.model import Event
from postern.kernel.clock import Moment
from postern.kernel.credentials import Call
from postern.kernel.database import Jsonb, Queries, Transaction
from postern.kernel.http import get
from postern.kernel.pages import Cursor, Feed, ListLimit, before_id, listed
from postern.kernel.values import new_id

Reaction = Callable[[Transaction, list[Event]], Awaitable[None]]
"""Makes new due rows (webhook deliveries, automation runs, counters) in the transaction of the events."""

_reactions: list[Reaction] = []


def react_with(reactions: Sequence[Reaction]) -> None:
    """Who reacts to events, in order: called once by `app.py`, which lists them."""
    _reactions[:] = reactions


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
    await store.insert(
        tx,
        project_id=[event.project_id for event in events],
        id=[event.id for event in events],
        type=[event.type for event in events],
        subject_id=[event.subject_id for event in events],
        actor_type=[event.actor_type for event in events],
        actor_id=[event.actor_id for event in events],
        actor_label=[event.actor_label for event in events],
        data=[Jsonb(event.data) for event in events],
        occurred_at=[event.occurred_at for event in events],
    )
    for react in _reactions:
        await react(tx, events)


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


async def after(db: Queries, project_id: UUID, after_id: UUID | None, limit: int) -> list[Event]:
    """Events recorded after the one given, oldest first."""
    return await store.after(db, project_id=project_id, after=after_id, limit=limit)


@get("/projects/{project_id}/events", needs="events:read")
async def list_events(
    call: Call, type: str | None = None, limit: ListLimit = 100, cursor: Cursor | None = None
) -> Feed[Event]:
    """What happened in the project, newest first. `type` narrows to one or several names, comma-separated."""
    types = [name.strip() for name in type.split(",") if name.strip()] if type else None
    scope = f"events|{type or ''}"
    rows = await store.newest(
        call.db,
        project_id=call.project_id,
        before=before_id(call, scope, cursor),
        types=types,
        limit=limit + 1,
    )
    found = listed(call, scope, rows, limit)
    return Feed(data=found.items, next_cursor=found.next_cursor)
