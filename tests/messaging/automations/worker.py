"""A worker process that processes everything due at a given time and then exits; tests kill it."""

import asyncio
import os
import signal
from datetime import timedelta
from multiprocessing import get_context
from multiprocessing.process import BaseProcess
from typing import Any

import psycopg
import uvloop

from postern.app import HOOKS
from postern.kernel.config import Settings
from postern.kernel.due import drain
from postern.kernel.values import FixedClock
from postern.messaging.automations.work import WORK
from postern.messaging.emails.work import SENDS
from postern.world import open_world

FORK_SERVER = get_context("forkserver")
"""Workers are forked from a process that has imported everything, so that starting many costs little."""
FORK_SERVER.set_forkserver_preload(["tests.messaging.automations.worker"])


def start(settings: Settings, url: str, ahead: timedelta, dies_at: int = 0) -> BaseProcess:
    """Start a worker process whose clock is `ahead` of the real time; returns the process.

    If `dies_at` is not 0, the worker kills itself (SIGKILL) when it begins the SQL statement with this number.
    """
    process = FORK_SERVER.Process(target=_run, args=(settings, url, ahead, dies_at))
    process.start()
    return process


def _run(settings: Settings, url: str, ahead: timedelta, dies_at: int) -> None:
    if dies_at:
        _die_at_statement(dies_at)
    uvloop.run(_work(settings, url, ahead))


async def _work(settings: Settings, url: str, ahead: timedelta) -> None:
    clock = FixedClock()
    clock.move(ahead)
    async with open_world(settings, url, HOOKS, clock=clock) as world:
        await drain(world, [*WORK, *SENDS])


def _die_at_statement(number: int) -> None:
    execute, started = psycopg.AsyncCursor.execute, 0

    async def counting_execute(self: Any, *args: Any, **options: Any) -> Any:
        nonlocal started
        started += 1
        if started == number:
            # Statements that are being sent to the server at this moment may or may not arrive.
            asyncio.get_running_loop().call_soon(os.kill, os.getpid(), signal.SIGKILL)
        return await execute(self, *args, **options)

    psycopg.AsyncCursor.execute = counting_execute  # type: ignore[method-assign]
