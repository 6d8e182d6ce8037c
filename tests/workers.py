"""A worker as it runs in production, beside a test."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

from postern.kernel.due import Work, Worker
from postern.world import World


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
