"""New events of projects, read once per process for all event streams.

An event gets its id before its transaction commits, so it can become visible after events with greater ids. A reader
that asks only for ids after the last one would miss it. The feed therefore counts the events of the last seconds with
one query for all followed projects, by bucket: the 256 ms in which their ids were created. It reads the buckets whose
count has changed; an event that is committed late changes the count of its bucket.
"""

import asyncio
from collections import defaultdict, deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from contextvars import Context
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, NamedTuple
from uuid import UUID
from weakref import WeakSet

import structlog
from psycopg import OperationalError
from psycopg_pool import PoolTimeout

from postern.kernel.http.problems import RateLimited
from postern.kernel.values import NO_ID, new_id, to_json
from postern.platform.events import store
from postern.platform.events.model import EventRow, RecentEvents
from postern.platform.events.operations import with_contacts

if TYPE_CHECKING:
    from postern.world import World

log: structlog.stdlib.BoundLogger = structlog.get_logger(__name__)

POLL = timedelta(milliseconds=500)
"""The interval between two queries for new events."""

COMMIT_DELAY = timedelta(seconds=10)
"""How long before the begin of its transaction an event's id may have been created: an id can be created before the
transaction begins, and the clocks of hosts differ."""

LONGEST_TRANSACTION = timedelta(minutes=5)
"""Events of transactions that take longer may be missing in streams; they are in the list of events."""

STREAMS_PER_PROJECT = 50
"""Maximum open streams of a project in one API process."""

STREAMS_PER_CREDENTIAL = 10
"""Maximum open streams of one API key or session in one API process."""

QUEUE_EVENTS = 1_000
"""Maximum number of events that wait for a slow client. If there are more, its stream reads them from the database."""

REMEMBERED_EVENTS = 20_000
"""Latest events of a project whose ids are remembered, so that they are not sent twice."""

PAGE_EVENTS = 500
"""Events per query."""

PAGES_PER_POLL = 20
"""Maximum number of pages of one project that a poll reads. If there are more new events, each stream reads them from
the database at its own pace."""

BUCKET_BITS = 88
"""The remaining 40 bits of a UUIDv7 are its time in units of 256 ms (RFC 9562 §5.7): a bucket."""


class TooManyStreams(RateLimited):
    """There are too many open event streams of this project or credential; close those that are not needed."""

    retry_after_seconds = 15


class FedEvent(NamedTuple):
    """An event for a stream."""

    id: UUID
    type: str
    data: bytes
    """The event as JSON, as in the list of events."""
    position: UUID
    """A stream that continues after this position misses no event."""


class FeedSubscription:
    """The new events of a project for one stream. It ends when nothing refers to it any more."""

    def __init__(
        self, project_id: UUID, credential: tuple[str, UUID | None], matches: Callable[[EventRow], bool]
    ) -> None:
        self.project_id, self.credential, self.matches = project_id, credential, matches
        self.has_overflowed = False
        """Whether events were dropped because QUEUE_EVENTS were waiting. The stream must then read the database."""
        self._queue: deque[FedEvent] = deque()
        self._changed = asyncio.Event()

    def put(self, fed: FedEvent) -> None:
        """Add a new event, unless too many are waiting."""
        if len(self._queue) >= QUEUE_EVENTS:
            self.overflow()
        elif not self.has_overflowed:
            self._queue.append(fed)
            self._changed.set()

    def overflow(self) -> None:
        """Drop the waiting events and take no more."""
        self._queue.clear()
        self.has_overflowed = True
        self._changed.set()

    def restart(self) -> None:
        """Take new events again after an overflow."""
        self.has_overflowed = False

    def wake(self) -> None:
        """Let `take` return, even without events."""
        self._changed.set()

    async def take(self, max_wait: float) -> list[FedEvent]:
        """The waiting events; waits for the first one for at most `max_wait` seconds."""
        with suppress(TimeoutError):
            await asyncio.wait_for(self._changed.wait(), max(0.0, max_wait))
        self._changed.clear()
        taken = list(self._queue)
        self._queue.clear()
        return taken


class FollowedProject:
    """A project with at least one stream, and which of its recent events have been read."""

    def __init__(self, project_id: UUID) -> None:
        self.project_id = project_id
        self.subscriptions: WeakSet[FeedSubscription] = WeakSet()
        self.settled = NO_ID
        """No event with an id up to this one can still be committed."""
        self.counts: dict[int, int] = {}
        """The number of events after `settled`, by their bucket."""
        self._next_settled = NO_ID
        self._seen: dict[UUID, None] = {}

    def begin(self, counted: "CountedEvents", ids: Sequence[UUID]) -> None:
        """Treat the counted events, and those with these ids, as already read."""
        self.counts = counted.counts
        self._seen = dict.fromkeys(ids)
        self._next_settled = position_before(counted.new_ids_from)

    def advance(self, counted: "CountedEvents") -> None:
        """Note that all counted events have been read."""
        # `_next_settled` comes from the previous query: transactions that began before that time had ended by then, so
        # this query has counted all their events.
        self.settled = max(self.settled, self._next_settled)
        self.counts = {
            bucket: count for bucket, count in counted.counts.items() if bucket > self.settled.int >> BUCKET_BITS
        }
        self._next_settled = position_before(counted.new_ids_from)

    def has_seen(self, event_id: UUID) -> bool:
        """Whether an event is among the latest REMEMBERED_EVENTS that were distributed."""
        return event_id in self._seen

    def note_seen(self, event_id: UUID) -> None:
        """Note that an event was distributed."""
        self._seen[event_id] = None
        if len(self._seen) > REMEMBERED_EVENTS:
            del self._seen[next(iter(self._seen))]


class CountedEvents:
    """The number of recent events of a project in each bucket, and a lower bound for ids of events to come."""

    def __init__(self, rows: Sequence[RecentEvents]) -> None:
        first = rows[0]
        self.counts = {int.from_bytes(row.bucket): row.count for row in rows if row.bucket is not None}
        oldest = min(first.read_at, first.oldest_writer or first.read_at) - COMMIT_DELAY
        self.new_ids_from = max(oldest, first.read_at - LONGEST_TRANSACTION)
        """No event that is committed later has an id that was created before this time."""


def position_before(moment: datetime) -> UUID:
    """The greatest position before the bucket of `moment`: events with ids of that time or later are after it."""
    bucket = max(1, int(moment.timestamp() * 1_000) >> 8)
    return UUID(int=(bucket << BUCKET_BITS) - 1)


class EventFeed:
    """Distributes the new events of projects to the streams of this process."""

    def __init__(self, world: "World") -> None:
        self._db, self.stopping = world.db, world.stopping
        self._projects: dict[UUID, FollowedProject] = {}
        self._subscriptions: WeakSet[FeedSubscription] = WeakSet()
        self._lock = asyncio.Lock()
        self._task: asyncio.Task[None] | None = None

    async def follow(
        self, project_id: UUID, credential: tuple[str, UUID | None], matches: Callable[[EventRow], bool]
    ) -> FeedSubscription:
        """The events of a project that are committed from now on and for which `matches` returns True.

        `credential` is the kind and id of the credential. Raises TooManyStreams.
        """
        open_ = [subscription for subscription in self._subscriptions if subscription.project_id == project_id]
        if len(open_) >= STREAMS_PER_PROJECT:
            raise TooManyStreams(f"A project can have {STREAMS_PER_PROJECT} open event streams; close one first.")
        if sum(subscription.credential == credential for subscription in open_) >= STREAMS_PER_CREDENTIAL:
            raise TooManyStreams(f"A credential can have {STREAMS_PER_CREDENTIAL} open event streams; close one first.")
        subscription = FeedSubscription(project_id, credential, matches)
        self._subscriptions.add(subscription)
        async with self._lock:
            project = self._projects.get(project_id)
            if project is None:
                project = await self._begin(project_id)
                self._projects[project_id] = project
            project.subscriptions.add(subscription)
        if self._task is None or self._task.done():
            # In an empty context: the task belongs to no request.
            self._task = asyncio.create_task(self._run(), context=Context())
        return subscription

    def settled(self, project_id: UUID) -> UUID:
        """The position up to which no event can still be committed, in a project that a stream follows."""
        return self._projects[project_id].settled

    async def aclose(self) -> None:
        """Stop reading."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def _begin(self, project_id: UUID) -> FollowedProject:
        """Count the recent events that the project has before its first stream, as already read."""
        project = FollowedProject(project_id)
        now_ms = new_id().int >> 80
        project.settled = UUID(int=(((now_ms - int(COMMIT_DELAY.total_seconds() * 1_000)) >> 8) << BUCKET_BITS) - 1)
        counted = (await self._count([project]))[project_id]
        if position_before(counted.new_ids_from) < project.settled:
            # A transaction is older: it can still commit events with older ids, so these must be counted, too.
            project.settled = position_before(counted.new_ids_from)
            counted = (await self._count([project]))[project_id]
        ids = await store.recent_ids(self._db, project_id=project_id, after=project.settled, limit=REMEMBERED_EVENTS)
        project.begin(counted, ids)
        return project

    async def _run(self) -> None:
        """Read new events until there are no streams or the process shuts down."""
        while not self.stopping.is_set():
            with suppress(TimeoutError):
                await asyncio.wait_for(self.stopping.wait(), POLL.total_seconds())
            try:
                async with self._lock:
                    self._projects = {key: project for key, project in self._projects.items() if project.subscriptions}
                    if not self._projects:
                        return
                    await self._poll(list(self._projects.values()))
            except (OperationalError, PoolTimeout) as error:
                log.warning("database_away", work="event_feed", error=str(error).strip())
            except Exception:  # The next poll reads the same events again.
                log.exception("event_feed_failed")
        for subscription in self._subscriptions:
            subscription.wake()

    async def _poll(self, projects: Sequence[FollowedProject]) -> None:
        counted = await self._count(projects)
        for project in projects:
            counts = counted[project.project_id].counts
            changed = [bucket for bucket, count in counts.items() if project.counts.get(bucket) != count]
            if changed:
                await self._distribute(project, min(changed), max(changed))
            project.advance(counted[project.project_id])

    async def _count(self, projects: Sequence[FollowedProject]) -> dict[UUID, CountedEvents]:
        rows = await store.count_recent(
            self._db,
            project_id=[project.project_id for project in projects],
            after=[project.settled for project in projects],
        )
        by_project: defaultdict[UUID, list[RecentEvents]] = defaultdict(list)
        for row in rows:
            by_project[row.project_id].append(row)
        return {project_id: CountedEvents(rows_of_project) for project_id, rows_of_project in by_project.items()}

    async def _distribute(self, project: FollowedProject, first: int, last: int) -> None:
        """Pass the unread events of the buckets from `first` to `last` to the streams."""
        after, end = UUID(int=(first << BUCKET_BITS) - 1), UUID(int=((last + 1) << BUCKET_BITS) - 1)
        for _ in range(PAGES_PER_POLL):
            page = await store.list_between(
                self._db, project_id=project.project_id, after=after, last=end, limit=PAGE_EVENTS
            )
            new = [row for row in page if not project.has_seen(row.id)]
            matching = [row for row in new if any(subscription.matches(row) for subscription in project.subscriptions)]
            events = await with_contacts(self._db, project.project_id, matching)
            # Only now: if reading the contacts fails, the next poll distributes the same events.
            for row in new:
                project.note_seen(row.id)
            for row, event in zip(matching, events, strict=True):
                fed = FedEvent(event.id, event.type, to_json(event), project.settled)
                for subscription in project.subscriptions:
                    if subscription.matches(row):
                        subscription.put(fed)
            if len(page) < PAGE_EVENTS:
                return
            after = page[-1].id
        for subscription in project.subscriptions:
            subscription.overflow()


def event_feed(world: "World") -> EventFeed:
    """The feed of this process."""
    return world.resources[EventFeed]
