"""Due records: the record is the job.

A table of work has two columns. `due_at` says when the record next wants attention, or null
for never; `attempt` counts how often it has been picked up. Picking a record up moves `due_at`
one lease ahead, so a worker that dies gives it back by doing nothing. Settling names the
attempt it settles, so a worker that outlived its lease cannot overwrite its successor.

Fairness: a worker first finds the lanes that have something due (one index probe a lane), then claims
a share from each. A lane is a partition (a project, for most work), or where work is kept further apart, one
value of `Work.group_column` in a partition.
"""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial
from typing import Any, Generic, LiteralString, NamedTuple, Protocol, TypeVar
from uuid import UUID
from weakref import WeakValueDictionary

import structlog
from psycopg import AsyncConnection, OperationalError
from psycopg.sql import SQL, Composed, Identifier
from psycopg_pool import PoolTimeout

from postern.kernel.clock import Clock
from postern.kernel.database.statements import Database, limit_connections, row_maker

Job = TypeVar("Job")
log: structlog.stdlib.BoundLogger = structlog.get_logger(__name__)

LANES_AT_ONCE = 200
"""How many lanes one look for due work takes into account, beside those in hand."""

IDLE_SHARE_PAUSE_SECONDS = 0.05
"""How long to wait before looking again when somebody else had taken what was due."""

POLL = timedelta(seconds=1)
"""The longest a worker sleeps: what a lost notification can cost."""

CHANNEL: LiteralString = "postern_due"


class WorkContext(Protocol):
    """What due work needs of the world."""

    @property
    def db(self) -> Database: ...
    @property
    def clock(self) -> Clock: ...


@dataclass(frozen=True)
class Work(Generic[Job]):
    """One kind of due record: where it lies, what it looks like, and what to do with it."""

    name: str
    table: LiteralString
    kind: type[Job]
    lease: timedelta
    do: Callable[[Any, list[Job]], Awaitable[None]]
    """Does a claimed share: rows of one partition. Must settle each row, or leave it to its lease."""
    share: int = 100
    """Most rows claimed from one partition at a time."""
    where: LiteralString = "true"
    """Narrows the table (a lane, say); must match a partial index on (partition column, due_at)."""
    partition_column: LiteralString = "project_id"
    """A uuid column, first in the primary key (before `id`), whose values get equal turns."""
    at_once: int = 4
    """Shares in hand at the same time in one worker."""
    group_column: LiteralString | None = None
    """A uuid column whose values are kept apart: each is a lane of its own, and one worker never has two
    shares of a lane in hand. Needs a partial index on (partition column, that column, due_at)."""

    @property
    def at_once_of_a_lane(self) -> int:
        """Shares of one lane in hand at the same time: never all, so that whoever comes next finds a free hand."""
        return 1 if self.group_column else max(1, self.at_once // 2)


class ClaimGroup(NamedTuple):
    """Rows that are claimed together: a partition's, or those of one value of `Work.group_column` in it."""

    partition: UUID
    group: UUID | None = None


@dataclass(frozen=True)
class DueWork:
    """What a look found: the lanes with due rows, and when the next row becomes due."""

    lanes: list[ClaimGroup]
    next_at: datetime | None


# One probe of (partition, due_at) for each partition that has anything pending: an index skip scan.
LOOK = SQL("""
    with recursive pending as (
        (select {partition} as partition, due_at from {table} where due_at is not null and {where}
         order by {partition}, due_at limit 1)
        union all
        select later.partition, later.due_at from pending
        cross join lateral (
            select {partition} as partition, due_at from {table}
            where due_at is not null and {where} and {partition} > pending.partition
            order by {partition}, due_at limit 1
        ) as later
    )
    select partition, null::uuid, due_at from pending order by due_at limit %(limit)s
""")

LOOK_IN_GROUPS = SQL("""
    with recursive pending as (
        (select {partition} as partition, {group} as group_id, due_at from {table} where due_at is not null and {where}
         order by {partition}, {group}, due_at limit 1)
        union all
        select later.partition, later.group_id, later.due_at from pending
        cross join lateral (
            select {partition} as partition, {group} as group_id, due_at from {table}
            where due_at is not null and {where} and ({partition}, {group}) > (pending.partition, pending.group_id)
            order by {partition}, {group}, due_at limit 1
        ) as later
    )
    select partition, group_id, due_at from pending order by due_at limit %(limit)s
""")

# MATERIALIZED, because a planner that loops over the inner SELECT takes more rows than LIMIT.
CLAIM = SQL("""
    with picked as materialized (
        select {partition}, id from {table}
        where {partition} = %(partition)s and {where} and {in_group} and due_at <= %(now)s
        order by due_at limit %(limit)s for update skip locked
    )
    update {table} as record set due_at = %(now)s + %(lease)s, attempt = record.attempt + 1
    from picked where (record.{partition}, record.id) = (picked.{partition}, picked.id)
    returning record.*
""")


async def find_due(db: Database, work: Work[Any], now: datetime, *, limit: int = LANES_AT_ONCE) -> DueWork:
    """Which lanes have something due, longest-waiting first, and when the next thing becomes due."""
    async with db.connection() as connection:
        rows = await (await connection.execute(_due_query(work), {"limit": limit})).fetchall()
    due = [ClaimGroup(partition, group) for partition, group, due_at in rows if due_at <= now]
    later = [due_at for _, _, due_at in rows if due_at > now]
    return DueWork(due, min(later, default=None))


async def longest_wait(db: Database, work: Work[Any], now: datetime) -> timedelta:
    """For how long the first due row has waited to be claimed; zero when nothing is due."""
    async with db.connection() as connection:
        first = await (await connection.execute(_due_query(work), {"limit": 1})).fetchone()
    return max(now - first[2], timedelta()) if first else timedelta()


def _due_query(work: Work[Any]) -> Composed:
    parts = {"table": Identifier(work.table), "where": SQL(work.where), "partition": Identifier(work.partition_column)}
    if work.group_column is None:
        return LOOK.format(**parts)
    return LOOK_IN_GROUPS.format(group=Identifier(work.group_column), **parts)


async def claim(db: Database, work: Work[Job], lane: ClaimGroup, now: datetime, limit: int) -> list[Job]:
    """Take up to `limit` due rows of one lane for one lease."""
    query = CLAIM.format(
        table=Identifier(work.table),
        where=SQL(work.where),
        partition=Identifier(work.partition_column),
        in_group=SQL("{} = %(group)s").format(Identifier(work.group_column)) if work.group_column else SQL("true"),
    )
    values = {"partition": lane.partition, "group": lane.group, "now": now, "limit": limit, "lease": work.lease}
    async with db.connection() as connection:
        cursor = await connection.execute(query, values)
        make = row_maker(work.kind, [column.name for column in cursor.description or ()])
        return [make(row) for row in await cursor.fetchall()]


def one_by_one(
    do: Callable[[Any, Job], Awaitable[None]], *, at_once: int = 10
) -> Callable[[Any, list[Job]], Awaitable[None]]:
    """Do the rows of a share one by one, `at_once` side by side; one that fails does so alone."""

    async def do_all(world: Any, jobs: list[Job]) -> None:
        gate = asyncio.Semaphore(at_once)

        async def one(job: Job) -> None:
            async with gate:
                try:
                    await do(world, job)
                except Exception:  # The lease runs out and the record comes back.
                    log.exception("due_record_failed", record=str(getattr(job, "id", "?")))

        async with asyncio.TaskGroup() as group:
            for job in jobs:
                group.create_task(one(job))

    return do_all


async def drain(world: WorkContext, works: Sequence[Work[Any]], *, rounds: int = 1_000) -> int:
    """Do everything that is due now, until nothing is. The worker's loop in one call, for tests."""
    done = 0
    for _ in range(rounds):
        found = 0
        for work in works:
            for lane in (await find_due(world.db, work, world.clock())).lanes:
                jobs = await claim(world.db, work, lane, world.clock(), work.share)
                if jobs:
                    await work.do(world, jobs)
                found += len(jobs)
        if not found:
            return done
        done += found
    raise AssertionError(f"Still not drained after {rounds} rounds.")


@dataclass
class Worker:
    """Runs every kind of work until told to stop: looks, claims a share from each project, does it, sleeps."""

    world: WorkContext
    works: Sequence[Work[Any]]
    stopping: asyncio.Event = field(default_factory=asyncio.Event)
    _bells: dict[str, asyncio.Event] = field(default_factory=dict[str, asyncio.Event])
    _pool_shares: WeakValueDictionary[tuple[str, UUID | None], asyncio.Semaphore] = field(
        default_factory=WeakValueDictionary[tuple[str, UUID | None], asyncio.Semaphore]
    )
    """By kind of work, and by partition in it; kept for as long as somebody works within one."""

    async def run(self) -> None:
        """Work until `stop`; what is in hand then is finished first."""
        self._bells = {work.name: asyncio.Event() for work in self.works}
        async with asyncio.TaskGroup() as group:
            listener = group.create_task(self._listen())
            loops = [group.create_task(self._loop(work)) for work in self.works]
            await self.stopping.wait()
            listener.cancel()
            await asyncio.gather(*loops)

    def stop(self) -> None:
        """Claim nothing more."""
        self.stopping.set()
        for bell in self._bells.values():
            bell.set()

    async def _loop(self, work: Work[Any]) -> None:
        bell = self._bells[work.name]
        gate = asyncio.Semaphore(work.at_once)
        running: set[asyncio.Task[int]] = set()
        in_hand: Counter[ClaimGroup] = Counter()

        def ended(lane: ClaimGroup, task: asyncio.Task[int]) -> None:
            running.discard(task)
            in_hand[lane] -= 1
            if not in_hand[lane]:
                del in_hand[lane]
            gate.release()
            found = 0 if task.cancelled() else task.result()
            asyncio.get_running_loop().call_later(0 if found else IDLE_SHARE_PAUSE_SECONDS, bell.set)

        while not self.stopping.is_set():
            bell.clear()
            try:
                due = await find_due(self.world.db, work, self.world.clock(), limit=LANES_AT_ONCE + len(in_hand))
            except (OperationalError, PoolTimeout) as error:
                log.warning("database_away", work=work.name, error=str(error).strip())
                await self._sleep(bell, POLL)
                continue
            for lane in due.lanes:
                if in_hand[lane] >= work.at_once_of_a_lane:
                    continue
                await gate.acquire()
                if self.stopping.is_set():
                    break
                in_hand[lane] += 1
                task = asyncio.create_task(self._share(work, lane))
                running.add(task)
                task.add_done_callback(partial(ended, lane))
            # A share that ends rings the bell, so one slow share never keeps others from being found.
            await self._sleep(bell, self._until(due.next_at))
        if running:
            await asyncio.wait(running)

    async def _share(self, work: Work[Any], lane: ClaimGroup) -> int:
        try:
            if work.group_column is None:
                return await self._do_share(work, lane)
            with limit_connections(*self._shares_of(work, lane)):
                return await self._do_share(work, lane)
        except (OperationalError, PoolTimeout) as error:
            log.warning("database_away", work=work.name, error=str(error).strip())
            await asyncio.sleep(0.2)
        except Exception:
            log.exception("share_failed", work=work.name, partition=str(lane.partition))
            await asyncio.sleep(0.2)
        return 0

    def _shares_of(self, work: Work[Any], lane: ClaimGroup) -> tuple[asyncio.Semaphore, asyncio.Semaphore]:
        """What work with very many lanes may take of the pool: one project's lanes a quarter, all together a half."""
        size = self.world.db.size
        ours = self._pool_shares.setdefault((work.name, None), asyncio.Semaphore(max(1, size // 2)))
        return self._pool_shares.setdefault((work.name, lane.partition), asyncio.Semaphore(max(1, size // 4))), ours

    async def _do_share(self, work: Work[Any], lane: ClaimGroup) -> int:
        jobs = await claim(self.world.db, work, lane, self.world.clock(), work.share)
        if len(jobs) == work.share:
            self._bells[work.name].set()  # There is probably more, and it need not wait for the end of this.
        if jobs:
            await work.do(self.world, jobs)
        return len(jobs)

    def _until(self, next_at: datetime | None) -> timedelta:
        if next_at is None:
            return POLL
        return max(timedelta(milliseconds=1), min(POLL, next_at - self.world.clock()))

    async def _sleep(self, bell: asyncio.Event, at_most: timedelta) -> None:
        try:
            await asyncio.wait_for(bell.wait(), at_most.total_seconds())
        except TimeoutError:
            pass

    async def _listen(self) -> None:
        """Wake the loop of a table as soon as another process says that it has something due."""
        while True:
            try:
                connection = await AsyncConnection.connect(self.world.db.url, autocommit=True)
                async with connection:
                    await connection.execute(SQL("listen {}").format(Identifier(CHANNEL)))
                    async for notice in connection.notifies():
                        for work in self.works:
                            if work.table == notice.payload:
                                self._bells[work.name].set()
            except OperationalError:
                await asyncio.sleep(1)


class DueNotifier:
    """Tells the workers of other processes that a table has due rows, at most once per `INTERVAL`.

    Debounced, because a NOTIFY in each commit cuts the commits of a busy server to a third.
    """

    INTERVAL = timedelta(milliseconds=50)

    def __init__(self, db: Database) -> None:
        self._db = db
        db.notify_due = self.notify_due
        self._waiting: dict[str, asyncio.Task[None]] = {}

    def notify_due(self, table: str) -> None:
        """Called by the database after the commit; everybody else says `tx.makes_due(table)`."""
        if table not in self._waiting:
            self._waiting[table] = asyncio.create_task(self._notify(table))

    async def _notify(self, table: str) -> None:
        try:
            await asyncio.sleep(self.INTERVAL.total_seconds())
        finally:
            del self._waiting[table]
        try:
            async with self._db.connection() as connection:
                await connection.execute("select pg_notify(%s, %s)", (CHANNEL, table))
        except (OperationalError, PoolTimeout):
            pass  # Workers look for themselves at least once per POLL.

    async def aclose(self) -> None:
        """Let what is waiting go out."""
        await asyncio.gather(*self._waiting.values(), return_exceptions=True)
