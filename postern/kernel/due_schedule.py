"""What a worker knows about due rows, so that it searches all lanes only now and then.

A search of all lanes costs one index probe for each lane that has rows with a `due_at`, due or not: with 100,000
projects, a third of a second of a processor. So a worker remembers the result, looks at single partitions when a
notification names them or when it has processed their rows, and searches again after a multiple of the time that the
last search took. Only changes without a notification wait for that: rows whose worker has died, and rows that another
worker will retry.
"""

from collections.abc import Iterable
from datetime import datetime
from operator import itemgetter
from typing import Final, NamedTuple
from uuid import UUID

SEARCH_SHARE: Final = 0.02
"""The greatest part of the time that searches without a reason take."""
NOTIFIED_SHARE: Final = 0.1
"""The same for searches after notifications that name no partition."""
MAX_INTERVAL_SECONDS: Final = 30.0
"""The longest time between two searches, even if they take long."""
EMPTY_INTERVALS: Final = 5
"""How many times as long as usual the shortest time between two searches is while no row has a `due_at` for the work.
Most kinds of work are then idle for hours, and the searches for all of them took most of an idle worker's processor
time. A row that a dead worker has left still has its `due_at`, so it is found as early as before."""
MAX_LANES_KNOWN: Final = 1_000
MAX_NAMED: Final = 2_000
"""If more partitions than this are to be looked at, all lanes are searched."""


class Lane(NamedTuple):
    """A lane: a partition, or one value of `Work.group_column` in it."""

    partition: UUID
    group: UUID | None = None


class LaneSchedule:
    """The lanes that a worker knows, each with the time when it is due, and the partitions to look at.

    Moments are those of `World.clock`, which tests move; seconds those of the event loop, which measures intervals.
    """

    def __init__(self, interval_seconds: float) -> None:
        self._interval_seconds = interval_seconds
        """The shortest time between two searches without a reason, if rows are known."""
        self._due = dict[Lane, datetime]()
        self._known_until: datetime | None = None
        """Lanes that are due later may be unknown; None if all are known."""
        self._named = set[UUID]()
        self._is_notified = True
        """Whether there was a notification that names no partition. At first, nothing is known."""
        self._search_after = 0.0
        self._notified_search_after = 0.0

    def notify(self, partitions: Iterable[UUID] | None) -> None:
        """Note that these partitions have changed; None if it is not known which."""
        if partitions is None:
            self._is_notified = True
            return
        self._named.update(partitions)
        if len(self._named) > MAX_NAMED:
            self._named.clear()
            self._is_notified = True

    def must_search(self, now: datetime, seconds: float) -> bool:
        """Whether all lanes must be searched."""
        return (
            seconds >= self._search_after
            or (self._is_notified and seconds >= self._notified_search_after)
            or (self._known_until is not None and now >= self._known_until)
        )

    def begin_search(self) -> None:
        """Note that all lanes are being searched. Notifications from now on may be of rows that the search misses."""
        self._named.clear()
        self._is_notified = False

    def take_named(self) -> list[UUID]:
        """The partitions to look at; they are not returned again."""
        named = sorted(self._named)
        self._named.clear()
        return named

    def replace(self, lanes: list[tuple[Lane, datetime]], *, limit: int, seconds: float, duration: float) -> None:
        """Take over the result of a search, which had up to `limit` lanes, ended at `seconds` and took `duration`
        seconds."""
        self._due = dict(lanes)
        self._known_until = lanes[-1][1] if len(lanes) >= limit else None
        interval = min(duration / SEARCH_SHARE, MAX_INTERVAL_SECONDS)
        shortest = self._interval_seconds * (1 if lanes else EMPTY_INTERVALS)
        self._search_after = seconds + max(shortest, interval)
        self._notified_search_after = seconds + min(duration / NOTIFIED_SHARE, MAX_INTERVAL_SECONDS)

    def update(self, partitions: Iterable[UUID], lanes: list[tuple[Lane, datetime]], *, limit: int) -> None:
        """Take over the result of a look at these partitions, which had up to `limit` lanes."""
        looked_at = set(partitions)
        self._due = {lane: due_at for lane, due_at in self._due.items() if lane.partition not in looked_at}
        self._due.update(lanes)
        if len(lanes) >= limit:
            self._limit_known(lanes[-1][1])
        if len(self._due) > MAX_LANES_KNOWN:
            kept = sorted(self._due.items(), key=itemgetter(1))[: MAX_LANES_KNOWN // 2]
            self._due = dict(kept)
            self._limit_known(kept[-1][1])

    def _limit_known(self, until: datetime) -> None:
        self._known_until = until if self._known_until is None else min(until, self._known_until)

    def take(self, lane: Lane) -> None:
        """Note that rows of the lane are being claimed. When it is due next is known when it is looked at again."""
        self._due.pop(lane, None)

    def due(self, now: datetime) -> list[Lane]:
        """The lanes that are due, the longest-waiting first."""
        return sorted((lane for lane, due_at in self._due.items() if due_at <= now), key=self._due.__getitem__)

    def seconds_until_next(self, now: datetime, seconds: float) -> float:
        """How long nothing needs to be done, if nothing is notified: until the next lane is due or a search."""
        times = [due_at for due_at in self._due.values() if due_at > now]
        if self._known_until is not None:
            times.append(self._known_until)
        waits = [(time - now).total_seconds() for time in times] + [self._search_after - seconds]
        if self._is_notified:
            waits.append(self._notified_search_after - seconds)
        return max(min(waits), 0.0)
