"""Batches concurrent calls into one, without a timer (group commit), and runs tasks in the background.

The first call starts a batch at once; calls that arrive while it runs form the next batch, so the batch size follows
the load.
"""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Hashable, Iterable, Sequence
from functools import partial
from typing import Any, Generic, TypeVar

Owner = TypeVar("Owner")
Item = TypeVar("Item")
Result = TypeVar("Result")

MAX_BATCH_SIZE = 500
"""Default of the maximum number of items in a batch."""
CONCURRENT_GROUPS = 4
"""How many groups of a batch are processed at the same time, if a batch is divided."""


def groups_of(items: Iterable[Item], by: Callable[[Item], Hashable]) -> list[list[Item]]:
    """The items of each value of `by`, in the order of their first items."""
    groups: dict[Hashable, list[Item]] = {}
    for item in items:
        groups.setdefault(by(item), []).append(item)
    return list(groups.values())


async def in_groups(
    do: Callable[[list[Item]], Awaitable[Sequence[Result | BaseException]]],
    items: list[Item],
    by: Callable[[Item], Hashable],
) -> list[Result | BaseException]:
    """The results of `do`, called for the items of each value of `by` together, in the order of `items`. An exception
    that `do` raises is the result of all items of the group."""
    groups = groups_of(range(len(items)), lambda index: by(items[index]))
    results: list[Any] = [None] * len(items)
    semaphore = asyncio.Semaphore(CONCURRENT_GROUPS)

    async def process(indexes: list[int]) -> None:
        async with semaphore:
            try:
                group_results = await do([items[index] for index in indexes])
            except Exception as error:  # The callers of the other groups must get their results.
                group_results = [error] * len(indexes)
        for index, result in zip(indexes, group_results, strict=True):
            results[index] = result

    await asyncio.gather(*(process(indexes) for indexes in groups))
    return results


async def all_of(tasks: Iterable[Awaitable[Result]]) -> list[Result]:
    """The results of these tasks, which run at the same time. If some fail, the others are finished before the error of
    the first is raised."""
    results = await asyncio.gather(*tasks, return_exceptions=True)
    for result in results:
        if isinstance(result, BaseException):
            raise result
    return [result for result in results if not isinstance(result, BaseException)]


async def isolate_errors(
    do: Callable[[list[Item]], Awaitable[Sequence[Result]]], items: list[Item], errors: tuple[type[Exception], ...]
) -> list[Result | BaseException]:
    """The results of `do` for all items together. If it raises one of `errors`, it is called with each item alone, and
    the result of an item that then causes an error, of whatever kind, is the error."""
    try:
        return list(await do(items))
    except errors as error:
        if len(items) == 1:
            return [error]
    results: list[Result | BaseException] = []
    for item in items:
        try:
            results += await do([item])
        except Exception as error:  # The items before this one are done, and their callers must learn that.
            results.append(error)
    return results


class BackgroundTasks:
    """Tasks that may outlive the request that starts them: `tasks(coroutine)` starts one."""

    def __init__(self) -> None:
        self._running: set[asyncio.Task[Any]] = set()  # The event loop has only weak references to tasks.

    def __call__(self, work: Coroutine[Any, Any, Result]) -> "asyncio.Task[Result]":
        """Start `work` as a task."""
        task = asyncio.create_task(work)
        self._running.add(task)
        task.add_done_callback(self._running.discard)
        return task

    async def wait(self, timeout_seconds: float) -> None:
        """Wait until all tasks have ended, for at most `timeout_seconds`."""
        if self._running:
            await asyncio.wait(self._running, timeout=timeout_seconds)


class Batcher(Generic[Item, Result]):
    """Combines concurrent calls, each with one item, into calls of `do`, which returns one result per item, in order.

    A result that is an exception is raised to the caller of that item; an exception that `do` raises is raised to all
    callers of the batch. `max_batch_size` limits the items of a batch, `max_concurrent` the batches that run at once.
    After each batch there is a pause of `pause_seconds`, for background work that is cheaper in large batches. While
    `divides()` is true, `do` is called for the items of each value of `by` together.
    """

    def __init__(
        self,
        do: Callable[[list[Item]], Awaitable[Sequence[Result | BaseException]]],
        *,
        max_batch_size: int = MAX_BATCH_SIZE,
        max_concurrent: int = 1,
        pause_seconds: float = 0,
        by: Callable[[Item], Hashable] | None = None,
        divides: Callable[[], bool] = lambda: False,
    ) -> None:
        self._do = do
        self._by = by
        self._divides = divides
        self._max_batch_size = max_batch_size
        self._max_concurrent = max_concurrent
        self._pause_seconds = pause_seconds
        self._waiting: list[tuple[Item, asyncio.Future[Result]]] = []
        self._running = 0
        self._run_in_background = BackgroundTasks()

    async def __call__(self, item: Item) -> Result:
        """Add `item` to the next batch, and return its result or raise its error when the batch has run.

        If the caller is cancelled, the item is processed nevertheless.
        """
        future: asyncio.Future[Result] = asyncio.get_running_loop().create_future()
        self._waiting.append((item, future))
        if self._running < self._max_concurrent:
            self._running += 1
            self._run_in_background(self._serve())
        return await future

    async def _serve(self) -> None:
        try:
            await asyncio.sleep(0)  # Include the calls of the current event loop iteration.
            await self._serve_waiting()
        finally:
            # `_serve_waiting` found the queue empty, and nothing was awaited since. A later call starts a new task.
            self._running -= 1

    async def _serve_waiting(self) -> None:
        while self._waiting:
            batch, self._waiting = self._waiting[: self._max_batch_size], self._waiting[self._max_batch_size :]
            try:
                items = [item for item, _ in batch]
                if self._by is not None and self._divides():
                    results = await in_groups(self._do, items, self._by)
                else:
                    results = await self._do(items)
            except BaseException as error:
                results = [error] * len(batch)
                if isinstance(error, asyncio.CancelledError):
                    _set_results(batch, results)
                    raise
            _set_results(batch, results)
            if self._pause_seconds:
                await asyncio.sleep(self._pause_seconds)


class Batchers(Generic[Owner]):
    """The batchers of a process, which call functions with `owner` as the first argument.

    `divides` tells whether batches are divided by the `by` of their Batcher.
    """

    def __init__(self, owner: Owner, *, divides: Callable[[], bool] = lambda: False) -> None:
        self._owner = owner
        self._divides = divides
        self._batchers: dict[Any, Batcher[Any, Any]] = {}

    def __call__(
        self,
        do: Callable[[Owner, list[Item]], Awaitable[Sequence[Result | BaseException]]],
        *,
        max_batch_size: int = MAX_BATCH_SIZE,
        max_concurrent: int = 1,
        pause_seconds: float = 0,
        by: Callable[[Item], Hashable] | None = None,
    ) -> Batcher[Item, Result]:
        """Return the Batcher that combines concurrent calls of `do` in this process; the first call creates it.

        In a distributed database, `do` is called for the items of each value of `by` (their project) together: a
        statement then concerns one server.

        There is one per `do` and `pause_seconds`. Later calls must pass the same limits: other values have no effect.
        """
        batcher = self._batchers.get((do, pause_seconds))
        if batcher is None:
            batcher = self._batchers[do, pause_seconds] = Batcher(
                partial(do, self._owner),
                by=by,
                divides=self._divides,
                max_batch_size=max_batch_size,
                max_concurrent=max_concurrent,
                pause_seconds=pause_seconds,
            )
        return batcher


def _set_results(batch: list[tuple[Item, "asyncio.Future[Result]"]], results: Sequence[Result | BaseException]) -> None:
    for (_, future), result in zip(batch, results, strict=True):
        if future.done():
            continue  # The caller was cancelled; the work is done anyway.
        if isinstance(result, BaseException):
            future.set_exception(result)
        else:
            future.set_result(result)
