"""Work that runs concurrently with a test, as in another process."""

import asyncio
from collections.abc import AsyncIterator, Coroutine, Sequence
from contextlib import asynccontextmanager
from contextvars import copy_context
from typing import Any

from postern.kernel.database.statements import _current_hold
from postern.kernel.due import Work, Worker
from postern.world import World


def in_another_process(work: Coroutine[Any, Any, Any]) -> asyncio.Task[Any]:
    """Start a task that does not share the database connection that the test may hold."""
    context = copy_context()
    context.run(_current_hold.set, None)
    return asyncio.create_task(work, context=context)


@asynccontextmanager
async def at_work(world: World, works: Sequence[Work[Any]]) -> AsyncIterator[None]:
    """Run a worker with these kinds of work until the block ends."""
    worker = Worker(world, works)
    running = asyncio.create_task(worker.run())
    try:
        yield
    finally:
        worker.stop()
        await asyncio.wait_for(running, 90)
