"""One API process and one worker process. Heavy to import: everything the server knows is behind it.

`postern serve` runs `python -m postern.cli.processes api SOCKET` and `… worker`.
"""

import asyncio
import gc
import os
import resource
import signal
import socket
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from time import monotonic

import structlog
import uvicorn
import uvloop
from psycopg import OperationalError
from psycopg_pool import PoolTimeout

from postern.app import HOOKS, make_app, work_for
from postern.cli import expected_trouble
from postern.cli.checks import check_settings
from postern.instance import HEARTBEAT, SILENCE, check_master_key
from postern.instance_store import heartbeat, remove_worker
from postern.kernel.config import Settings, read_settings
from postern.kernel.due import Worker
from postern.kernel.http.connections import limited_protocol
from postern.kernel.log import set_up_logs
from postern.kernel.values import new_id
from postern.messaging.analytics.retention import merge_sums
from postern.messaging.emails.retention import TIDY_EVERY, delete_expired
from postern.platform.accounts.deletion import delete_stale_sign_ups
from postern.world import World, open_world

BACKLOG = 2_048
OTHER_FILES = 500
"""Open files of an API process that are not connections of clients."""
RECONNECT_SECONDS = 0.5
COLLECT_EVERY = 20_000
"""Objects that are made, less those that are freed, between two looks for garbage in cycles."""
log: structlog.stdlib.BoundLogger = structlog.get_logger(__name__)


@dataclass
class ParentPipe:
    """The pipe to the process that started us: it brings the database's URL, and its end is our end."""

    descriptor: int = 0

    def database_url(self) -> str:
        """Wait for the URL. Exits if the parent goes away before it comes."""
        read = b""
        while not read.endswith(b"\n"):
            part = os.read(self.descriptor, 4_096)
            if not part:
                sys.exit(0)
            read += part
        return read.decode().strip()


def run_api(settings: Settings, url: str, *, listener: int | None = None, leash: ParentPipe | None = None) -> None:
    """Serve the API until SIGTERM, SIGINT or the end of the leash; requests in hand are answered first."""

    async def run() -> None:
        async with open_world(settings, url, HOOKS) as world:
            await _open_own_database(world)
            _allow_files(settings.connections + OTHER_FILES)
            server = uvicorn.Server(configuration(settings, world))
            await world.rendering.start()
            _collect_cycles_less_often()

            def stop() -> None:
                server.should_exit = True

            _stop_on_signals(stop, leash)
            sockets = [socket.socket(fileno=listener)] if listener is not None else None
            await server.serve(sockets)

    set_up_logs(settings.log_format, settings.log_level)
    check_settings(settings)
    uvloop.run(run())


def _allow_files(wanted: int) -> None:
    """Raise this process's limit of open files as far as the system lets it: each connection is one."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    if soft != resource.RLIM_INFINITY and soft < most:
        with suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))


def configuration(settings: Settings, world: World) -> uvicorn.Config:
    """How the API is served: by what, to whom, and whose word on addresses is taken."""
    return uvicorn.Config(
        make_app(world),  # pyright: ignore[reportArgumentType]
        host=settings.host,
        port=settings.port,
        http=limited_protocol(settings),
        ws="none",
        lifespan="off",
        log_config=None,
        access_log=False,
        server_header=False,
        forwarded_allow_ips=[str(network) for network in settings.trusted_proxies],
        backlog=BACKLOG,
        timeout_keep_alive=max(1, round(settings.idle_wait.total_seconds())),
        timeout_graceful_shutdown=max(1, round(settings.drain.total_seconds())),
    )


def run_worker(settings: Settings, url: str, *, leash: ParentPipe | None = None) -> None:
    """Do what becomes due until SIGTERM, SIGINT or the end of the leash; work in hand is finished first."""

    async def run() -> None:
        async with open_world(settings, url, HOOKS) as world:
            await _open_own_database(world)
            worker = Worker(world, work_for(settings))
            await world.rendering.start()
            _collect_cycles_less_often()
            _stop_on_signals(worker.stop, leash)
            beating = asyncio.gather(_send_heartbeats(world), _run_retention(world))
            working = asyncio.create_task(worker.run())
            await asyncio.wait([working, asyncio.create_task(worker.stopping.wait())], return_when="FIRST_COMPLETED")
            # What is not finished in time comes back when its lease runs out.
            with suppress(TimeoutError):
                await asyncio.wait_for(working, settings.drain.total_seconds())
            beating.cancel()
            await asyncio.gather(beating, return_exceptions=True)

    set_up_logs(settings.log_format, settings.log_level)
    check_settings(settings)
    uvloop.run(run())


def _collect_cycles_less_often() -> None:
    """What is there now stays, and a process with a thousand messages in hand has many new objects that are no garbage.

    At the interpreter's own pace of 700 the collector takes a tenth of a worker's time.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(COLLECT_EVERY, 20, 50)


async def _open_own_database(world: World) -> None:
    """Check the master key as soon as the database answers; it may be restarting while this process starts.

    Raises WrongMasterKey, or OperationalError after the setting `database_wait`.
    """
    deadline = monotonic() + world.settings.database_wait.total_seconds()
    while True:
        try:
            return await check_master_key(world.db, world.secrets)
        except (OperationalError, PoolTimeout) as error:
            if monotonic() >= deadline:
                raise
            log.warning("waiting_for_database", error=str(error).strip())
        await asyncio.sleep(RECONNECT_SECONDS)


async def _send_heartbeats(world: World) -> None:
    """Say that this worker is alive, and at the end that it is gone."""
    me = new_id()
    try:
        while True:
            try:
                await heartbeat(world.db, id=me, now=world.clock())
            except (OperationalError, PoolTimeout) as error:
                log.warning("heartbeat_missed", error=str(error).strip())
            await asyncio.sleep(HEARTBEAT.total_seconds())
    finally:
        with suppress(OperationalError, PoolTimeout):
            await remove_worker(world.db, id=me, before=world.clock() - 10 * SILENCE)


async def _run_retention(world: World) -> None:
    """Take away, now and then, what has outlived its time."""
    while True:
        try:
            await delete_expired(world)
            await merge_sums(world)
            await delete_stale_sign_ups(world)
        except (OperationalError, PoolTimeout) as error:
            log.warning("tidying_missed", error=str(error).strip())
        await asyncio.sleep(TIDY_EVERY.total_seconds())


def _stop_on_signals(stop: Callable[[], None], leash: ParentPipe | None) -> None:
    loop = asyncio.get_running_loop()
    for sign in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(sign, stop)
    if leash is not None:
        descriptor = leash.descriptor

        def pulled() -> None:
            if not os.read(descriptor, 4_096):
                loop.remove_reader(descriptor)
                stop()

        loop.add_reader(descriptor, pulled)


def main() -> None:
    """Run the part that the arguments name, on a leash."""
    part, *sockets = sys.argv[1:]
    with expected_trouble():
        settings, leash = read_settings(), ParentPipe()
        url = leash.database_url()
        if part == "api":
            run_api(settings, url, listener=int(sockets[0]), leash=leash)
        else:
            run_worker(settings, url, leash=leash)


if __name__ == "__main__":
    main()
