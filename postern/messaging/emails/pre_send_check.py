"""The check right before a message is sent: whether it may still be sent.

Seconds can pass between composing a message and the moment a connection is free for it. Meanwhile the campaign can be
paused or cancelled, the recipient can unsubscribe, be suppressed or deleted, and the send can be cancelled. So when a
connection is free for a message, one statement checks all of that and commits the mark "transmission begun, reply
unknown"; then the message is transmitted.

A statement for each message would cost too much. So the check for one message includes the next messages of the same
queue: as many as will probably get a connection while the result is fresh. A message whose result is no longer fresh is
checked again. With a relay that replies slowly, few messages are checked ahead. With a fast relay, the next check
begins before all checked messages are sent, so that no connection waits for it.

Code that holds or cancels messages awaits `wait_until_stopped` after its commit: when that returns, no result from
before the commit is used any more.
"""

import asyncio
from datetime import timedelta
from itertools import islice
from operator import attrgetter
from typing import TYPE_CHECKING, Literal
from uuid import UUID
from weakref import WeakKeyDictionary

from postern.kernel.batching import groups_of
from postern.kernel.database.statements import Jsonb
from postern.kernel.values import Moment, distinct_ids
from postern.messaging.emails import store
from postern.messaging.emails.model import MARKETING, Send
from postern.protocols.mail.transports.transport import Transport

if TYPE_CHECKING:
    from postern.world import World

REPLY_LOST = "The process that transmitted the message ended before it stored the server's reply."

FRESH_SECONDS = 0.25
"""How long the result of a check is valid, from the beginning of the check; longer after a slow check, see below."""
MAX_FRESH_SECONDS = 0.5
"""The longest time for which a result is valid."""
FRESH_CHECK_RATIO = 4
"""After a slow check, on a busy machine, a result is valid for this many times the duration of the check, instead of
FRESH_SECONDS, but at most for MAX_FRESH_SECONDS."""
AHEAD_AT_LEAST, AHEAD_AT_MOST = 4, 500
"""Minimum and maximum of the messages that are checked together with the current one."""
AHEAD_IN_BACKGROUND = 32
"""If at least this many messages are checked together, the next check begins in the background before it is needed."""
BACKGROUND_AFTER = 0.5
"""The background check begins after this share of the time for which results are valid."""
LATE = 1.1
"""How much later than by the measured rate a message may get its connection, in relation to the time until then, so
that its result is still valid."""
MAX_UNUSED_CHECKS = 2
"""A message that was checked so often without getting a connection is not checked ahead any more once a later message
got one: its server is slow, and it must not take the place of messages to other servers. A connection for another
message to the same domain shows that the server is reached."""
PACE_SECONDS = 0.1
"""The period over which the rate of messages is measured, while messages wait."""
STOP_CHECK_SECONDS = 0.05
"""How often `wait_until_stopped` checks whether sends are still being transmitted."""

PreSendResult = Literal["GO", "CHANGED", "OVERTAKEN"]
"""GO: the message may be sent. CHANGED: see `ContentChanged`. OVERTAKEN: see `LeaseLost`."""


class LeaseLost(Exception):
    """The lease of this attempt expired, so another attempt has begun or may begin, or the send was cancelled."""


class ContentChanged(Exception):
    """Since the message was composed, the state of its content, contact or recipients has changed.

    Whether and how the message is sent must be decided again.
    """


class SendTurn:
    """One attempt that waits in a SendQueue for a connection, and the result of its last check."""

    def __init__(
        self,
        send: Send,
        addresses: list[str],
        *,
        skip_unsubscribed: bool,
        needs_mark: bool,
        dated_at: Moment | None = None,
    ) -> None:
        """`addresses`: the recipients in lower case. `skip_unsubscribed`: whether a suppression with the reason
        UNSUBSCRIBE stops the message, as every other reason does. `dated_at`: the `Date` header of the message."""
        self.send = send
        self.dated_at = dated_at
        self.addresses = addresses
        self.skip_unsubscribed = skip_unsubscribed
        self.needs_mark = needs_mark
        """Whether the mark "transmission begun, reply unknown" has yet to be committed."""
        self.result: PreSendResult | None = None
        self.checked_at = 0.0
        """When the check that gave the result began, by the event loop's clock."""
        self.checks = 0
        """How many checks have included this attempt."""
        self.domain = addresses[0].rpartition("@")[2] if addresses else ""
        self.number = 0
        """Its place in the order of arrival in the queue."""
        self.check: asyncio.Task[None] | None = None
        """The running check that includes this attempt."""

    def row(self) -> dict[str, object]:
        """The row of this attempt for `store.check_before_sending`."""
        send = self.send
        return {
            "project_id": send.project_id,
            "id": send.id,
            "attempt": send.attempt,
            "content_id": send.content_id,
            "contact_id": send.contact_id if send.lane == MARKETING else None,
            "addresses": self.addresses,
            "skip_unsubscribed": self.skip_unsubscribed,
            "mark": self.needs_mark,
            "unsettled_attempt": send.handed_over,
            "dated_at": self.dated_at,
        }


class SendQueue:
    """The messages that wait for connections of one transport and lane, in order of arrival."""

    def __init__(self, world: "World") -> None:
        self._world = world
        self._waiting: dict[SendTurn, None] = {}
        self._last_number = 0
        self._last_admitted = 0
        """The highest number of a message that was admitted."""
        self._admitted_count = 0
        self._counting_since = 0.0
        self._pace = 0.0
        self._check_seconds = 0.0
        self._checked_at = 0.0
        self._background: asyncio.Task[None] | None = None

    def __len__(self) -> int:
        return len(self._waiting)

    def keeping_queued(self, turn: SendTurn) -> "_Place":
        """A context that keeps the attempt in the queue while its block runs, or until it is admitted."""
        return _Place(self, turn)

    def enter(self, turn: SendTurn) -> None:
        """Put an attempt into the queue; see `keeping_queued`."""
        if not self._waiting:  # The rate is only measured while messages wait.
            self._admitted_count, self._counting_since = 0, asyncio.get_running_loop().time()
        self._last_number += 1
        turn.number = self._last_number
        self._waiting[turn] = None

    def leave(self, turn: SendTurn) -> None:
        """Remove an attempt from the queue, if it is still there."""
        self._waiting.pop(turn, None)

    async def admit(self, turn: SendTurn) -> None:
        """Return when a check that is fresh enough shows that the message may be sent; commits its mark if needed. Call
        it when a connection is free for the message.

        Raises LeaseLost, ContentChanged, or an error of the database.
        """
        loop = asyncio.get_running_loop()
        connection_free_at = loop.time()
        while not self._is_decided(turn, connection_free_at):
            await self._wait_for_check(turn)
        self._waiting.pop(turn, None)
        self._admitted_count += 1
        self._last_admitted = max(self._last_admitted, turn.number)
        if turn.result == "OVERTAKEN":
            raise LeaseLost
        if turn.result == "CHANGED":
            turn.result = None
            raise ContentChanged
        self._check_ahead()

    @property
    def _fresh_seconds(self) -> float:
        return min(MAX_FRESH_SECONDS, max(FRESH_SECONDS, FRESH_CHECK_RATIO * self._check_seconds))

    def _is_decided(self, turn: SendTurn, connection_free_at: float) -> bool:
        if turn.result in {"CHANGED", "OVERTAKEN"}:
            return True
        if turn.result is None or turn.needs_mark:
            return False
        # A check that began after the connection was free is fresh, however long it took.
        return turn.checked_at >= connection_free_at or self._is_fresh(turn)

    def _is_fresh(self, turn: SendTurn) -> bool:
        return asyncio.get_running_loop().time() - turn.checked_at <= self._fresh_seconds

    async def _wait_for_check(self, turn: SendTurn) -> None:
        """Wait for the running check of this message, or begin one for it and the next messages."""
        if turn.check is None:
            # Messages come in batches: let the rest of the batch enter the queue, so that this check includes it.
            await asyncio.sleep(0)
        check = turn.check or self._begin_check([turn, *self._next_to_check(besides=turn)])
        # If this caller is cancelled, the check goes on for the other messages.
        await asyncio.shield(check)

    def _begin_check(self, group: list[SendTurn]) -> asyncio.Task[None]:
        task = asyncio.create_task(self._check_group(group))
        for turn in group:
            turn.check = task
        return task

    def _check_ahead(self) -> None:
        """Begin a background check if the last check is old enough and enough messages wait."""
        if self._background is not None:
            return
        if asyncio.get_running_loop().time() - self._checked_at < BACKGROUND_AFTER * self._fresh_seconds:
            return
        if self._ahead_count() >= AHEAD_IN_BACKGROUND and (group := self._next_to_check()):
            self._background = self._begin_check(group)
            self._background.add_done_callback(self._background_done)

    def _background_done(self, task: asyncio.Task[None]) -> None:
        self._background = None
        if not task.cancelled():
            # Retrieving the error keeps asyncio from logging it. The messages of this check got no result, so they are
            # checked again when they have a connection, and an error that persists is raised then.
            task.exception()

    def _ahead_count(self) -> int:
        """How many messages will probably get a connection while the result of a check that begins now is fresh."""
        return min(AHEAD_AT_MOST, max(AHEAD_AT_LEAST, round(self._measured_pace() * self._fresh_seconds)))

    def _next_to_check(self, besides: SendTurn | None = None) -> list[SendTurn]:
        """The next messages without a result, or with one that will be too old when they get a connection.

        A message gets a connection when those before it had theirs at the measured rate, or up to LATE times later.
        """
        ahead_count = self._ahead_count()
        next_turns = islice(
            (
                turn
                for turn in self._waiting
                if turn.check is None and turn is not besides and self._may_check_ahead(turn, besides)
            ),
            ahead_count,
        )
        seconds_each = LATE * self._fresh_seconds / ahead_count
        # A result is fresh enough for a message if its check began at this time or later.
        oldest = asyncio.get_running_loop().time() - self._fresh_seconds
        return [
            turn
            for place, turn in enumerate(next_turns)
            if turn.result is None or (turn.result == "GO" and turn.checked_at < oldest + place * seconds_each)
        ]

    def _may_check_ahead(self, turn: SendTurn, admitted: SendTurn | None) -> bool:
        """Whether the message may be checked before it has a connection; `admitted` has one now."""
        if turn.checks < MAX_UNUSED_CHECKS or turn.number > self._last_admitted:
            return True
        return admitted is not None and turn.domain == admitted.domain

    def _measured_pace(self) -> float:
        """Messages per second."""
        now = asyncio.get_running_loop().time()
        elapsed = now - self._counting_since
        if elapsed >= PACE_SECONDS:
            self._pace = self._admitted_count / elapsed
            self._admitted_count, self._counting_since = 0, now
        return self._pace

    async def _check_group(self, group: list[SendTurn]) -> None:
        loop = asyncio.get_running_loop()
        self._checked_at = began_at = loop.time()
        # A message that needs the mark only after this is not marked by this check.
        marked = [turn.needs_mark for turn in group]
        try:
            may_send_by_id = await check_sends(self._world, group)
        finally:
            for turn in group:
                turn.check = None
        self._check_seconds = loop.time() - began_at
        for turn, is_marked in zip(group, marked, strict=True):
            may_send = may_send_by_id.get(turn.send.id.int)
            turn.result = "OVERTAKEN" if may_send is None else "GO" if may_send else "CHANGED"
            turn.checked_at = began_at
            turn.checks += 1
            if may_send and is_marked:
                turn.needs_mark = False


class _Place:
    """The place of an attempt in a queue. A class, because a generator would take several microseconds a message."""

    def __init__(self, queue: SendQueue, turn: SendTurn) -> None:
        self._queue, self._turn = queue, turn

    async def __aenter__(self) -> None:
        self._queue.enter(self._turn)

    async def __aexit__(self, *_error: object) -> None:
        self._queue.leave(self._turn)
        if self._turn.check and self._turn.needs_mark:
            # The attempt ended without being admitted, and this check may still commit its mark. The attempt must
            # be settled after that, or else it would count as interrupted.
            await asyncio.wait([self._turn.check])


async def check_sends(world: "World", turns: list[SendTurn]) -> dict[int, bool]:
    """Whether each message may be sent as composed, keyed by the number of its send's id (`UUID.int`).

    Attempts that are not the latest of their send, or whose lease has expired, are left out. Commits the mark
    "transmission begun, reply unknown" of messages that may be sent and have `needs_mark`. If an earlier attempt had
    the mark, but its reply was not stored, that attempt is recorded as AMBIGUOUS.
    """
    now = world.clock()
    may_go: dict[int, bool] = {}
    for group in groups_of(turns, attrgetter("send.project_id")) if world.db.is_distributed else [turns]:
        project_ids = distinct_ids(turn.send.project_id for turn in group)
        rows, until = Jsonb([turn.row() for turn in group]), now + timedelta(seconds=MAX_FRESH_SECONDS)
        if all(turn.send.handed_over is None for turn in group):
            states = await store.check_before_sending(world.db, project_id=project_ids, rows=rows, until=until)
        else:
            states = await store.check_interrupted(
                world.db, project_id=project_ids, rows=rows, lost_reply=REPLY_LOST, now=now, until=until
            )
        may_go |= {state.id.int: state.may_go for state in states}
    return may_go


async def wait_until_stopped(world: "World", project_id: UUID, content_ids: list[UUID], now: Moment) -> None:
    """Wait until no worker on any host begins to send messages of these contents. Call it after a commit that holds or
    stops the contents. A content is shared by many messages, such as those of a campaign.

    Messages that are in transmission may still arrive. Returns at once if no message is in transmission, and after
    MAX_FRESH_SECONDS at the latest.
    """
    deadline = asyncio.get_running_loop().time() + MAX_FRESH_SECONDS
    latest_lease_end = now + 2 * world.settings.lease  # Leases may be renewed while this waits.
    while (remaining := deadline - asyncio.get_running_loop().time()) > 0:
        if not await store.has_unsettled_transmissions(
            world.db, project_id=project_id, content_ids=content_ids, now=now, until=latest_lease_end
        ):
            return
        await asyncio.sleep(min(remaining, STOP_CHECK_SECONDS))


class SendQueues:
    """The queues of one process, by transport and lane (TRANSACTIONAL or MARKETING)."""

    def __init__(self, world: "World") -> None:
        self._world = world
        self._queues: WeakKeyDictionary[Transport, dict[int, SendQueue]] = WeakKeyDictionary()

    def of(self, transport: Transport, lane: int) -> SendQueue:
        """The queue of a transport and a lane, created on first use."""
        lanes = self._queues.setdefault(transport, {})
        queue = lanes.get(lane)
        if queue is None:
            queue = lanes[lane] = SendQueue(self._world)
        return queue

    async def aclose(self) -> None:
        """Does nothing: queues have nothing to close. The shutdown calls it on every resource of the process."""


def queues(world: "World") -> SendQueues:
    """The queues of this process, created on first use."""
    return world.resources[SendQueues]
