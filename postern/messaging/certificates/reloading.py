"""Reading again and again what a process keeps in memory: certificates, and the host names of hosted pages."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final

import structlog
from psycopg import Error as PsycopgError
from psycopg_pool import PoolTimeout

log: structlog.stdlib.BoundLogger = structlog.get_logger(__name__)
RELOAD_SECONDS: Final = 5.0
"""The interval between two calls: a change takes effect within this time."""


async def keep_calling(reload: Callable[[], Awaitable[None]], failure: str) -> None:
    """Call `reload` every RELOAD_SECONDS, until cancelled. An error of the database is logged as the event `failure`,
    and does not end it."""
    while True:
        try:
            await reload()
        except (PsycopgError, PoolTimeout) as error:
            log.warning(failure, error=str(error).strip())
        await asyncio.sleep(RELOAD_SECONDS)
