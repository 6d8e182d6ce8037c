"""Work that runs beside a test, as in another process."""

import asyncio
from collections.abc import AsyncIterator, Coroutine, Sequence
from contextlib import asynccontextmanager
from contextvars import copy_context
from typing import Any

from postern.kernel.database.statements import _held
from postern.kernel.due import Work, Worker
from postern.world import World


def in_another_process(work: Coroutine[Any, Any, Any]) -> asyncio.Task[Any]:
    """Begin something beside the test: what the test holds (a connection, say) counts for nothing there."""
    context = copy_context()
    context.run(_held.set, None)
    return asyncio.create_task(work, context=context)


@asynccontextmanager
async def at_work(world: World, works: Sequence[Work[Any]]) -> AsyncIterator[None]:
    """A worker that does these for as long as the block lasts."""
    worker = Worker(world, works)
    running = asyncio.create_task(worker.run())
    try:
        yield
    finally:
        worker.stop()
        await asyncio.wait_for(running, 90)
