"""Group commit: what many requests want at the same moment is done together, and nobody waits for a timer.

The first to come is served at once; whoever comes while it is being served forms the next group. One group is
in the making at a time, so its size follows the load by itself.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Generic, TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")

GROUP_LIMIT = 500
"""Items done together at most."""


class Batcher(Generic[Item, Result]):
    """Gathers single calls into calls of `do`, which answers in the order of its items.

    An answer that is an exception is raised for its item alone; an exception that `do` raises is everybody's.
    With `pause_seconds`, a group waits until that long after the one before it, for work that nobody waits for and
    that is cheaper in large groups.
    """

    def __init__(
        self,
        do: Callable[[list[Item]], Awaitable[Sequence[Result | BaseException]]],
        *,
        at_most: int = GROUP_LIMIT,
        side_by_side: int = 1,
        pause_seconds: float = 0,
    ) -> None:
        self._do = do
        self._at_most = at_most
        self._side_by_side = side_by_side
        self._pause_seconds = pause_seconds
        self._waiting: list[tuple[Item, asyncio.Future[Result]]] = []
        self._serving = 0
        self._tasks: set[asyncio.Task[None]] = set()

    async def __call__(self, item: Item) -> Result:
        future: asyncio.Future[Result] = asyncio.get_running_loop().create_future()
        self._waiting.append((item, future))
        if self._serving < self._side_by_side:
            self._serving += 1
            task = asyncio.create_task(self._serve())
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        return await future

    async def _serve(self) -> None:
        try:
            await asyncio.sleep(0)  # Whoever is in this turn of the loop comes along.
            await self._serve_waiting()
        finally:
            # In the same turn in which nobody was waiting any more: whoever comes next starts anew.
            self._serving -= 1

    async def _serve_waiting(self) -> None:
        while self._waiting:
            group, self._waiting = self._waiting[: self._at_most], self._waiting[self._at_most :]
            try:
                answers = await self._do([item for item, _ in group])
            except BaseException as error:
                answers = [error] * len(group)
                if isinstance(error, asyncio.CancelledError):
                    _set_result(group, answers)
                    raise
            _set_result(group, answers)
            if self._pause_seconds:
                await asyncio.sleep(self._pause_seconds)


def _set_result(group: list[tuple[Item, "asyncio.Future[Result]"]], answers: Sequence[Result | BaseException]) -> None:
    for (_, future), answer in zip(group, answers, strict=True):
        if future.done():
            continue  # Whoever waited has gone; what was done stays done.
        if isinstance(answer, BaseException):
            future.set_exception(answer)
        else:
            future.set_result(answer)
