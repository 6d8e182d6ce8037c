"""HTTP operation that sends the events of a project as they happen, as server-sent events (HTML standard, §9.2)."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from datetime import timedelta
from typing import Annotated
from uuid import UUID

import msgspec
from psycopg import OperationalError
from psycopg_pool import PoolTimeout

from postern.kernel.http.call import Call, Environment
from postern.kernel.http.handler import is_head, is_still_admitted
from postern.kernel.http.operation import HeaderParameter, RawRequest, get
from postern.kernel.http.responses import HttpResponse
from postern.kernel.values import to_json
from postern.platform.events import store
from postern.platform.events.feed import (
    PAGE_EVENTS,
    QUEUE_EVENTS,
    EventFeed,
    FedEvent,
    FeedSubscription,
    TooManyStreams,
    event_feed,
)
from postern.platform.events.model import EventRow
from postern.platform.events.operations import parse_types, with_contacts

LIFETIME = timedelta(minutes=15)
"""How long a stream lasts; the client then connects again."""

HEARTBEAT = timedelta(seconds=15)
"""The interval between two heartbeats. At each one, the credential is checked again."""

RECONNECT_DELAY = timedelta(seconds=2)
"""How long a client waits before it connects again."""

HEADERS = {
    "Cache-Control": "no-store, no-transform",
    # Tells nginx not to buffer the response.
    "X-Accel-Buffering": "no",
}

Position = Annotated[
    UUID | None,
    msgspec.Meta(description="Continue after this position: the `id` of a stream's message, or the id of an event."),
]
LastEventId = Annotated[
    UUID | None,
    HeaderParameter("Last-Event-ID"),
    msgspec.Meta(
        description="The last `id` that the client has received; takes precedence over `after`. Browsers send it when "
        "they connect again."
    ),
]


@get(
    "/projects/{project_id}/events/stream",
    needs="events:read",
    media_types=["text/event-stream"],
    problems=[TooManyStreams],
)
async def stream_events(
    call: Call,
    request: RawRequest,
    type: str | None = None,
    environment: Environment | None = None,
    after: Position = None,
    last_event_id: LastEventId = None,
) -> HttpResponse:
    """Send the events of the project as they happen, as server-sent events.

    Each message has `event` (the name), `data` (the event as in the list of events) and `id`, a position. Filter by
    `type`, as in the list, and by `environment`: `TEST` selects events that a TEST key caused. Without a position, the
    stream begins with the events from now on.

    A client that connects again with the header `Last-Event-ID`, as browsers do, or with `after` misses no event. It
    gets the events of the last seconds again, so it should ignore events whose `data.id` it has. The stream ends after
    15 minutes, when the credential becomes invalid, and when the server restarts; the client then connects again. A
    comment is sent every 15 seconds.

    On each API process, a project can have 50 open streams, and a credential 10; a further one is refused with `429`.
    """
    types = parse_types(type)

    def matches(event: EventRow) -> bool:
        return (types is None or event.type in types) and (environment is None or event.test == (environment == "TEST"))

    if is_head(request):
        return HttpResponse(media_type="text/event-stream", headers=HEADERS)
    feed = event_feed(call.world)
    subscription = await feed.follow(call.project_id, (call.caller.kind, call.caller.credential_id), matches)
    stream = _Stream(call, request, feed, subscription, types, last_event_id or after)
    return HttpResponse(stream.messages(), media_type="text/event-stream", headers=HEADERS)


class _Stream:
    """One open stream."""

    def __init__(
        self,
        call: Call,
        request: RawRequest,
        feed: EventFeed,
        subscription: FeedSubscription,
        types: list[str] | None,
        after: UUID | None,
    ) -> None:
        self._call, self._request, self._feed, self._subscription = call, request, feed, subscription
        self._types = types
        self._position = self._settled() if after is None else after
        """The position from which the client continues without missing an event."""
        self._read_from: UUID | None = after
        """The position from which events are read from the database; None if the feed has all further events."""
        self._ids_from_database: dict[UUID, None] = {}
        """Ids of events that were read from the database. The feed may have these events, too; there they are
        skipped."""
        self._time: Callable[[], float] = asyncio.get_running_loop().time
        self._ends_at = self._time() + LIFETIME.total_seconds()
        self._beats_at = self._time() + HEARTBEAT.total_seconds()

    async def messages(self) -> AsyncIterator[bytes]:
        """The body of the response. It ends without an error; the client then connects again."""
        yield f"retry: {round(RECONNECT_DELAY.total_seconds() * 1_000)}\nid: {self._position}\n\n".encode()
        while not self._feed.stopping.is_set() and self._time() < self._ends_at:
            if self._subscription.has_overflowed:
                self._subscription.restart()
                self._read_from = self._position
            events = await (self._next_queued() if self._read_from is None else self._next_page(self._read_from))
            if events:
                yield b"".join(map(_message, events))
            if self._time() >= self._beats_at:
                if not await self._is_admitted():
                    return
                self._beats_at = self._time() + HEARTBEAT.total_seconds()
                yield f": heartbeat\nid: {self._position}\n\n".encode()

    async def _next_queued(self) -> list[FedEvent]:
        """The waiting events of the feed; if there are none, waits for the first one until the next heartbeat."""
        events = await self._subscription.take(min(self._ends_at, self._beats_at) - self._time())
        if not self._subscription.has_overflowed:
            # No `await` since `take`: the feed has distributed all events up to the settled position.
            self._position = max(self._position, self._settled())
        return [event for event in events if event.id not in self._ids_from_database]

    async def _next_page(self, after: UUID) -> list[FedEvent]:
        """The next events in the database, oldest first."""
        call, settled = self._call, self._settled()
        try:
            rows = await store.list_after(
                call.db, project_id=call.project_id, after=after, types=self._types, limit=PAGE_EVENTS
            )
            matching = [row for row in rows if self._subscription.matches(row)]
            events = await with_contacts(call.db, call.project_id, matching)
        except (OperationalError, PoolTimeout):
            with suppress(TimeoutError):
                await asyncio.wait_for(self._feed.stopping.wait(), RECONNECT_DELAY.total_seconds())
            return []
        self._read_from = rows[-1].id if len(rows) == PAGE_EVENTS else None
        self._ids_from_database |= dict.fromkeys(event.id for event in events if event.id > settled)
        while len(self._ids_from_database) > QUEUE_EVENTS:
            del self._ids_from_database[next(iter(self._ids_from_database))]
        if rows:
            self._position = max(self._position, min(rows[-1].id, settled))
        return [FedEvent(event.id, event.type, to_json(event), min(event.id, settled)) for event in events]

    async def _is_admitted(self) -> bool:
        """Whether the credential is still valid; True if the database does not respond."""
        try:
            return await is_still_admitted(self._request, self._call)
        except (OperationalError, PoolTimeout):
            return True

    def _settled(self) -> UUID:
        return self._feed.settled(self._call.project_id)


def _message(event: FedEvent) -> bytes:
    return b"id: %b\nevent: %b\ndata: %b\n\n" % (str(event.position).encode(), event.type.encode(), event.data)
