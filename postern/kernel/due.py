"""Background work without a job table: a row that needs work is itself the job.

A table with work has two columns. `due_at` is the time of the next work, or null; `attempt` counts the claims. A claim
moves `due_at` one lease ahead, so the rows of a killed worker become due again by themselves. `Work.do` must store a
result only if `attempt` is unchanged, so that a worker whose lease has expired cannot overwrite a later result
(fencing).

Fairness: a worker claims up to `Work.claim_size` rows of each lane with due rows, the longest-waiting first, before it
claims more of the same lane. How it knows the lanes is in `due_schedule`. A lane is a partition (here, all rows of one
tenant, which is a project for most work; not a partition of PostgreSQL), or one value of `Work.group_column` within a
partition.
"""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import lru_cache, partial
from typing import Any, Generic, LiteralString, Protocol, TypeVar
from uuid import UUID
from weakref import WeakValueDictionary

import msgspec
import structlog
from psycopg import OperationalError
from psycopg.errors import ReadOnlySqlTransaction
from psycopg.sql import SQL, Identifier
from psycopg_pool import PoolTimeout

from postern.kernel.database.connections import connect_async
from postern.kernel.database.statements import Database, limit_connections, row_maker
from postern.kernel.due_notifications import CHANNEL, read_payload
from postern.kernel.due_schedule import Lane, LaneSchedule
from postern.kernel.values import Clock

Row = TypeVar("Row")
log: structlog.stdlib.BoundLogger = structlog.get_logger(__name__)

MAX_LANES_FOUND = 200
"""How many lanes one search for due work returns, besides the lanes that the worker is processing."""

MAX_LANES_NAMED = 1_000
"""How many lanes of named partitions one look returns."""

MIN_SLEEP_SECONDS = 0.001

IDLE_PAUSE_SECONDS = 0.05
"""Pause before the next search if other workers had already claimed the due rows."""

ERROR_PAUSE_SECONDS = 0.2
"""Pause after a failure before the lane can be claimed again, so that a lane that always fails causes no busy loop."""

POLL = timedelta(seconds=1)
"""Time between two searches if they take little of it and rows of the table are pending (see `due_schedule`), and how
often a worker looks at the clock."""

LISTEN_AGAIN_SECONDS = 1.0
"""Pause before a worker listens again for notifications, after its connection has ended."""


class WorkContext(Protocol):
    """The resources of `World` that this module needs."""

    @property
    def db(self) -> Database: ...
    @property
    def clock(self) -> Clock: ...


@dataclass(frozen=True)
class Work(Generic[Row]):
    """A kind of background work: the table of its rows, their type, and the function that processes them."""

    name: str
    table: LiteralString
    row_type: type[Row]
    """The Struct type of the claimed rows."""
    lease: timedelta
    """How far a claim moves `due_at` ahead. After this time, other workers can claim the rows."""
    do: Callable[[Any, list[Row]], Awaitable[None]]
    """Processes claimed rows of one lane; called with the World and the rows. A row whose result the function does not
    store becomes due again after the lease."""
    claim_size: int = 100
    """Maximum number of rows per claim."""
    where: LiteralString = "true"
    """A condition on the rows; must match a partial index on (partition column, due_at)."""
    partition_column: LiteralString = "project_id"
    """A uuid column, first in the primary key (before `id`). Each of its values is a partition."""
    max_claims: int = 4
    """Maximum number of claims that one worker processes concurrently."""
    group_column: LiteralString | None = None
    """A uuid column; each of its values within a partition is a lane. A worker has at most one claim of such a lane.

    Needs a partial index on (partition column, this column, due_at).
    """

    @property
    def max_claims_per_lane(self) -> int:
        """Maximum number of concurrent claims of one lane: 1 with a `group_column`, otherwise half of `max_claims`."""
        return 1 if self.group_column else max(1, self.max_claims // 2)


@dataclass(frozen=True)
class DueWork:
    """The result of a search for due rows."""

    lanes: list[Lane]
    """The lanes with due rows, longest-waiting first."""
    next_at: datetime | None
    """The earliest time of work in the lanes that were found and are not due yet; None if there is none."""


# An index skip scan: one probe of (partition, due_at) finds the earliest row of each partition with pending rows.
FIND_DUE = SQL("""
    with recursive pending as (
        (select {partition} as partition, due_at from {table} where due_at is not null and {where}
         order by {partition}, due_at limit 1)
        union all
        select next_lane.partition, next_lane.due_at from pending
        cross join lateral (
            select {partition} as partition, due_at from {table}
            where due_at is not null and {where} and {partition} > pending.partition
            order by {partition}, due_at limit 1
        ) as next_lane
    )
    select partition, null::uuid, due_at from pending order by due_at limit %(limit)s
""")

FIND_DUE_GROUPS = SQL("""
    with recursive pending as (
        (select {partition} as partition, {group} as group_id, due_at from {table} where due_at is not null and {where}
         order by {partition}, {group}, due_at limit 1)
        union all
        select next_lane.partition, next_lane.group_id, next_lane.due_at from pending
        cross join lateral (
            select {partition} as partition, {group} as group_id, due_at from {table}
            where due_at is not null and {where} and ({partition}, {group}) > (pending.partition, pending.group_id)
            order by {partition}, {group}, due_at limit 1
        ) as next_lane
    )
    select partition, group_id, due_at from pending order by due_at limit %(limit)s
""")

# The same for some partitions.
FIND_DUE_OF_PARTITIONS = SQL("""
    select named.partition, null::uuid, earliest.due_at from unnest(%(partitions)s::uuid[]) as named (partition)
    cross join lateral (
        select due_at from {table}
        where {partition} = named.partition and due_at is not null and {where}
        order by {partition}, due_at limit 1
    ) as earliest
    order by due_at limit %(limit)s
""")

FIND_DUE_GROUPS_OF_PARTITIONS = SQL("""
    with recursive pending as (
        select named.partition, earliest.group_id, earliest.due_at
        from unnest(%(partitions)s::uuid[]) as named (partition)
        cross join lateral (
            select {group} as group_id, due_at from {table}
            where {partition} = named.partition and due_at is not null and {where}
            order by {partition}, {group}, due_at limit 1
        ) as earliest
        union all
        select pending.partition, next_lane.group_id, next_lane.due_at from pending
        cross join lateral (
            select {group} as group_id, due_at from {table}
            where {partition} = pending.partition and {group} > pending.group_id and due_at is not null and {where}
            order by {partition}, {group}, due_at limit 1
        ) as next_lane
    )
    select partition, group_id, due_at from pending order by due_at limit %(limit)s
""")

# In a distributed table, each server finds the earliest row of each of its partitions; Citus refuses recursion.
FIND_DUE_DISTRIBUTED = SQL("""
    select {partition}, null::uuid, min(due_at) from {table} where due_at is not null and {where} and {named}
    group by {partition} order by 3 limit %(limit)s
""")

FIND_DUE_GROUPS_DISTRIBUTED = SQL("""
    select {partition}, {group}, min(due_at) from {table} where due_at is not null and {where} and {named}
    group by {partition}, {group} order by 3 limit %(limit)s
""")

# MATERIALIZED, because a nested loop over the inner SELECT would claim more rows than LIMIT.
CLAIM = SQL("""
    with claimable as materialized (
        select {partition}, id from {table}
        where {partition} = %(partition)s and {where} and {in_group} and due_at <= %(now)s
        order by due_at limit %(limit)s for update skip locked
    )
    update {table} as claimed set due_at = %(now)s + %(lease)s, attempt = claimed.attempt + 1
    from claimable where (claimed.{partition}, claimed.id) = (claimable.{partition}, claimable.id){also}
    returning {columns}
""")


async def find_due(db: Database, work: Work[Any], now: datetime, *, limit: int = MAX_LANES_FOUND) -> DueWork:
    """Find the lanes with due rows, among the `limit` lanes whose next work is earliest."""
    lanes = await _search(db, work, limit)
    later = [due_at for _, due_at in lanes if due_at > now]
    return DueWork([lane for lane, due_at in lanes if due_at <= now], min(later, default=None))


async def _search(
    db: Database, work: Work[Any], limit: int, partitions: list[UUID] | None = None
) -> list[tuple[Lane, datetime]]:
    """The `limit` lanes, of these partitions or of all, whose next work is earliest, with the time when it is due."""
    async with db.connection() as connection:
        query = _due_query(*_parts(work, is_distributed(db, work)), partitions is not None)
        rows = await (await connection.execute(query, {"limit": limit, "partitions": partitions})).fetchall()
    return [(Lane(partition, group), due_at) for partition, group, due_at in rows]


async def longest_wait(db: Database, work: Work[Any], now: datetime) -> timedelta:
    """How long the oldest due row has waited; zero if none is due."""
    async with db.connection() as connection:
        query = _due_query(*_parts(work, is_distributed(db, work)), False)
        first = await (await connection.execute(query, {"limit": 1})).fetchone()
    return max(now - first[2], timedelta()) if first else timedelta()


def _parts(
    work: Work[Any], distributed: bool = False
) -> tuple[LiteralString, LiteralString, LiteralString, str | None, bool]:
    return work.table, work.where, work.partition_column, work.group_column, distributed


def is_distributed(db: Database, work: Work[Any]) -> bool:
    """Whether the table of `work` is on several servers. Tables without tenants are only on the coordinator."""
    return db.is_distributed and work.partition_column == Work.partition_column


@lru_cache
def _due_query(
    table: LiteralString,
    where: LiteralString,
    partition: LiteralString,
    group: str | None,
    distributed: bool,
    is_named: bool,
) -> bytes:
    parts = {"table": Identifier(table), "where": SQL(where), "partition": Identifier(partition)}
    if distributed:
        named = SQL("{} = any (%(partitions)s::uuid[])").format(Identifier(partition)) if is_named else SQL("true")
        query = FIND_DUE_DISTRIBUTED if group is None else FIND_DUE_GROUPS_DISTRIBUTED
        return query.format(named=named, group=Identifier(group or partition), **parts).as_bytes()
    if group is None:
        return (FIND_DUE_OF_PARTITIONS if is_named else FIND_DUE).format(**parts).as_bytes()
    query = FIND_DUE_GROUPS_OF_PARTITIONS if is_named else FIND_DUE_GROUPS
    return query.format(group=Identifier(group), **parts).as_bytes()


@lru_cache
def _claim_query(
    table: LiteralString,
    where: LiteralString,
    partition: LiteralString,
    group: str | None,
    distributed: bool,
    row_type: type[msgspec.Struct],
) -> bytes:
    """The statement that claims rows. It names the columns: see `kernel.database.columns`."""
    columns = dict.fromkeys(["id", *(field.name for field in msgspec.structs.fields(row_type))])
    return CLAIM.format(
        columns=SQL(", ").join(SQL("claimed.{}").format(Identifier(column)) for column in columns),
        table=Identifier(table),
        where=SQL(where),
        partition=Identifier(partition),
        in_group=SQL("{} = %(group)s").format(Identifier(group)) if group else SQL("true"),
        # Citus runs the statement on one server if each table is filtered by the partition.
        also=SQL(" and claimed.{} = %(partition)s").format(Identifier(partition)) if distributed else SQL(""),
    ).as_bytes()


@lru_cache
def _maker(row_type: type[Row], columns: tuple[str, ...]) -> Callable[[tuple[Any, ...]], Row]:
    return row_maker(row_type, list(columns))


async def claim(db: Database, work: Work[Row], lane: Lane, now: datetime, limit: int) -> list[Row]:
    """Claim up to `limit` due rows of one lane, and return them in the order of their ids; empty if other workers
    hold all of them.

    Moves their `due_at` one lease ahead, increments their `attempt` and commits.
    """
    values = {"partition": lane.partition, "group": lane.group, "now": now, "limit": limit, "lease": work.lease}
    async with db.connection() as connection:
        cursor = await connection.execute(_claim_query(*_parts(work, is_distributed(db, work)), work.row_type), values)
        rows = await cursor.fetchall()
        if not rows:
            return []
        columns = tuple([column.name for column in cursor.description or ()])
        make, id_column = _maker(work.row_type, columns), columns.index("id")
        # RETURNING has no order; rows that became due together are processed in the order in which they were created.
        # By its number, because comparisons of UUIDs are functions in Python.
        return [make(row) for row in sorted(rows, key=lambda row: row[id_column].int)]


def for_each_row(
    do: Callable[[Any, Row], Awaitable[None]], *, max_concurrent: int = 10
) -> Callable[[Any, list[Row]], Awaitable[None]]:
    """Turn a function for one row into one for `Work.do`, which processes up to `max_concurrent` rows at a time.

    The exception of a row is logged; that row becomes due again after its lease, and the other rows are not affected.
    """

    async def do_all(world: Any, rows: list[Row]) -> None:
        semaphore = asyncio.Semaphore(max_concurrent)

        async def process(row: Row) -> None:
            async with semaphore:
                try:
                    await do(world, row)
                except Exception:  # The row becomes due again when its lease expires.
                    log.exception("due_row_failed", row=str(getattr(row, "id", "?")))

        async with asyncio.TaskGroup() as group:
            for row in rows:
                group.create_task(process(row))

    return do_all


async def _with_due_rows(db: Database, works: Sequence[Work[Any]], now: datetime) -> set[str]:
    """The names of those works that have due rows: one statement instead of one for each work, most of which have none.

    All of them in a distributed database, where one statement cannot ask for all tables.
    """
    if db.is_distributed:
        return {work.name for work in works}
    async with db.connection() as connection:
        query = _any_due_query(tuple((work.table, work.where) for work in works))
        answers = await (await connection.execute(query, {"now": now})).fetchone()
    return {work.name for work, is_due in zip(works, answers or (), strict=True) if is_due}


@lru_cache
def _any_due_query(works: tuple[tuple[LiteralString, LiteralString], ...]) -> bytes:
    due = SQL("exists (select from {} where due_at <= %(now)s and {})")
    return (
        SQL("select {}")
        .format(SQL(", ").join(due.format(Identifier(table), SQL(where)) for table, where in works))
        .as_bytes()
    )


async def drain(world: WorkContext, works: Sequence[Work[Any]], *, rounds: int = 1_000) -> int:
    """Process all due work until nothing is due, for tests. Returns the number of processed rows.

    Raises AssertionError if each of `rounds` passes processed rows.
    """
    processed = 0
    for _ in range(rounds):
        processed_in_round = 0
        with_due_rows = await _with_due_rows(world.db, works, world.clock())
        for work in works:
            if work.name not in with_due_rows:
                continue
            for lane in (await find_due(world.db, work, world.clock())).lanes:
                rows = await claim(world.db, work, lane, world.clock(), work.claim_size)
                if rows:
                    await work.do(world, rows)
                processed_in_round += len(rows)
            with_due_rows = await _with_due_rows(world.db, works, world.clock())
        if not processed_in_round:
            return processed
        processed += processed_in_round
    raise AssertionError(f"Each of {rounds} passes processed rows.")


@dataclass
class Worker:
    """Runs all kinds of work until `stop`: finds lanes with due rows, claims and processes rows of each, sleeps."""

    world: WorkContext
    works: Sequence[Work[Any]]
    stopping: asyncio.Event = field(default_factory=asyncio.Event)
    _wake_events: dict[str, asyncio.Event] = field(default_factory=dict[str, asyncio.Event])
    _schedules: dict[str, LaneSchedule] = field(default_factory=dict[str, LaneSchedule])
    _connection_limits: WeakValueDictionary[tuple[str, UUID | None], asyncio.Semaphore] = field(
        default_factory=WeakValueDictionary[tuple[str, UUID | None], asyncio.Semaphore]
    )
    """Limits of database connections by kind of work and partition; kept while they are in use."""

    async def run(self) -> None:
        """Process due rows until `stop` is called, then finish the claimed ones."""
        self._wake_events = {work.name: asyncio.Event() for work in self.works}
        self._schedules = {work.name: LaneSchedule(POLL.total_seconds()) for work in self.works}
        async with asyncio.TaskGroup() as group:
            listener = group.create_task(self._listen())
            loops = [group.create_task(self._loop(work)) for work in self.works]
            await self.stopping.wait()
            listener.cancel()
            await asyncio.gather(*loops)

    def stop(self) -> None:
        """Make `run` claim no more work, finish the claimed work and return. Does not wait for that."""
        self.stopping.set()
        for wake_event in self._wake_events.values():
            wake_event.set()

    async def _loop(self, work: Work[Any]) -> None:
        wake_event, schedule = self._wake_events[work.name], self._schedules[work.name]
        claim_slots = asyncio.Semaphore(work.max_claims)
        running: set[asyncio.Task[int]] = set()
        claims_of_lane: Counter[Lane] = Counter()

        def on_claim_end(lane: Lane, task: asyncio.Task[int]) -> None:
            running.discard(task)
            claims_of_lane[lane] -= 1
            if not claims_of_lane[lane]:
                del claims_of_lane[lane]
            claim_slots.release()
            claimed_rows = 0 if task.cancelled() else task.result()
            pause = 0 if claimed_rows else IDLE_PAUSE_SECONDS
            asyncio.get_running_loop().call_later(pause, self._wake, work, [lane.partition])

        while not self.stopping.is_set():
            wake_event.clear()
            try:
                await self._refresh(work, schedule, MAX_LANES_FOUND + len(claims_of_lane))
            except (OperationalError, PoolTimeout) as error:
                log.warning("database_away", work=work.name, error=str(error).strip())
                schedule.notify(None)
                await self._sleep(wake_event, POLL.total_seconds())
                continue
            for lane in schedule.due(self.world.clock()):
                if claims_of_lane[lane] >= work.max_claims_per_lane:
                    continue
                await claim_slots.acquire()
                if self.stopping.is_set():
                    break
                schedule.take(lane)
                claims_of_lane[lane] += 1
                task = asyncio.create_task(self._process_lane(work, lane))
                running.add(task)
                task.add_done_callback(partial(on_claim_end, lane))
            # The end of any claim triggers the next look, so one slow claim does not delay others.
            wait = schedule.seconds_until_next(self.world.clock(), asyncio.get_running_loop().time())
            await self._sleep(wake_event, min(max(wait, MIN_SLEEP_SECONDS), POLL.total_seconds()))
        if running:
            await asyncio.wait(running)

    async def _refresh(self, work: Work[Any], schedule: LaneSchedule, limit: int) -> None:
        """Bring the schedule up to date: by a search of all lanes if it is time for one, otherwise by a look at the
        partitions that have changed."""
        loop = asyncio.get_running_loop()
        if schedule.must_search(self.world.clock(), began := loop.time()):
            schedule.begin_search()
            lanes = await _search(self.world.db, work, limit)
            schedule.replace(lanes, limit=limit, seconds=loop.time(), duration=loop.time() - began)
        elif partitions := schedule.take_named():
            lanes = await _search(self.world.db, work, MAX_LANES_NAMED, partitions)
            schedule.update(partitions, lanes, limit=MAX_LANES_NAMED)

    def _wake(self, work: Work[Any], partitions: Iterable[UUID] | None) -> None:
        """Make the loop of this work look at partitions, or at all if it is not known which have changed."""
        self._schedules[work.name].notify(partitions)
        self._wake_events[work.name].set()

    async def _process_lane(self, work: Work[Any], lane: Lane) -> int:
        try:
            if work.group_column is None:
                return await self._claim_and_process(work, lane)
            with limit_connections(*self._connection_limits_of(work, lane)):
                return await self._claim_and_process(work, lane)
        except (OperationalError, PoolTimeout) as error:
            log.warning("database_away", work=work.name, error=str(error).strip())
            await asyncio.sleep(ERROR_PAUSE_SECONDS)
        except Exception:
            log.exception(
                "lane_failed", work=work.name, partition=str(lane.partition), group=lane.group and str(lane.group)
            )
            await asyncio.sleep(ERROR_PAUSE_SECONDS)
        return 0

    def _connection_limits_of(self, work: Work[Any], lane: Lane) -> tuple[asyncio.Semaphore, asyncio.Semaphore]:
        """Connection limits of work with a `group_column`: half of the pool in total, a quarter per partition.

        So neither one tenant nor one kind of work can take the connections that other work needs.
        """
        size = self.world.db.size
        of_work = self._connection_limits.setdefault((work.name, None), asyncio.Semaphore(max(1, size // 2)))
        return self._connection_limits.setdefault(
            (work.name, lane.partition), asyncio.Semaphore(max(1, size // 4))
        ), of_work

    async def _claim_and_process(self, work: Work[Any], lane: Lane) -> int:
        rows = await claim(self.world.db, work, lane, self.world.clock(), work.claim_size)
        if len(rows) == work.claim_size:
            self._wake(work, [lane.partition])  # There are probably more rows: look again at once.
        if rows:
            await work.do(self.world, rows)
        return len(rows)

    async def _sleep(self, wake_event: asyncio.Event, seconds: float) -> None:
        try:
            await asyncio.wait_for(wake_event.wait(), seconds)
        except TimeoutError:
            pass

    async def _listen(self) -> None:
        """Wake the loops of all work on a table when a process notifies that the table has due rows."""
        while True:
            try:
                db = self.world.db
                async with await connect_async(db.url, name=db.name) as connection:
                    await connection.execute(SQL("listen {}").format(Identifier(CHANNEL)))
                    for work in self.works:
                        self._wake(work, None)  # There may have been notifications before.
                    async for notice in connection.notifies():
                        table, partitions = read_payload(notice.payload)
                        for work in self.works:
                            if work.table == table:
                                is_named = work.partition_column == Work.partition_column
                                self._wake(work, partitions if is_named else None)
            except (OperationalError, ReadOnlySqlTransaction):  # The latter is the answer of a standby.
                await asyncio.sleep(LISTEN_AGAIN_SECONDS)
