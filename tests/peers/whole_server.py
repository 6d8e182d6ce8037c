"""The complete application in a thread: API and worker, with a port on loopback and a separate database."""

import asyncio
import os
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import psycopg
import uvicorn

from postern.app import HOOKS, WORK, make_app
from postern.cli.bootstrap import BootstrapResult, create_first_project
from postern.instance_store import heartbeat
from postern.kernel.config import Settings
from postern.kernel.database.migrations import migrate
from postern.kernel.due import Worker
from postern.kernel.http.connections import limited_protocol
from postern.kernel.values import Clock, system_clock
from postern.web.dashboard_files import FOLDER
from postern.world import open_world
from tests.peers.dns_zone import DnsZone, dns_zone

START_SECONDS = 120


@contextmanager
def own_database() -> Iterator[str]:
    """Create a migrated database for this block only; yields its URL and drops it at the end."""
    server, name = os.environ["POSTERN_TEST_SERVER"], f"own_{uuid4().hex}"
    with psycopg.connect(server.replace("%7Bdatabase%7D", "postgres"), autocommit=True) as connection:
        connection.execute(f'create database "{name}"')
        url = server.replace("%7Bdatabase%7D", name)
        try:
            migrate(url)
            yield url
        finally:
            connection.execute(f'drop database "{name}" with (force)')


@dataclass
class WholeServer:
    """A server with its folder, database and URL."""

    folder: Path
    database_url: str
    url: str = ""
    failure: BaseException | None = None
    """The exception that ended the server."""
    zone: DnsZone | None = None
    """The DNS zone that the server queries."""
    settings: dict[str, Any] = field(default_factory=dict[str, Any])
    """Settings beside the usual ones."""
    clock: Clock = system_clock
    dashboard_folder: Path = FOLDER
    host: str = "127.0.0.1"
    """The host name of the URL. Browsers create passkeys only for names, such as localhost."""

    def __post_init__(self) -> None:
        self._started = threading.Event()
        self._server: uvicorn.Server | None = None

    def run(self) -> None:
        """Serve until `stop` is called; must run in a separate thread, in which it starts an event loop."""
        try:
            asyncio.run(self._run())
        except BaseException as error:
            self.failure = error
            self._started.set()

    async def _run(self) -> None:
        async with dns_zone() as zone:
            self.zone = zone
            listener = socket.create_server(("127.0.0.1", 0))
            self.url = f"http://{self.host}:{listener.getsockname()[1]}"
            settings = Settings(
                data=self.folder,
                dns=(f"{zone.address}:{zone.port}",),
                base_url=self.url,
                send_wait=timedelta(seconds=START_SECONDS),
                **self.settings,
            )
            async with open_world(settings, self.database_url, HOOKS, clock=self.clock) as world:
                config = uvicorn.Config(
                    make_app(world, dashboard_folder=self.dashboard_folder),  # pyright: ignore[reportArgumentType]
                    http=limited_protocol(settings),
                    ws="none",
                    lifespan="off",
                    log_config=None,
                    access_log=False,
                )
                self._server = uvicorn.Server(config)
                worker = Worker(world, WORK)
                # The heartbeat is an hour ahead, so that this worker counts as alive without further heartbeats.
                await heartbeat(world.db, id=uuid4(), now=world.clock() + timedelta(hours=1))
                worker_task, server_task = (
                    asyncio.create_task(worker.run()),
                    asyncio.create_task(self._server.serve([listener])),
                )
                while not self._server.started:
                    await asyncio.sleep(0.01)
                self._started.set()
                await server_task
                worker.stop()
                await worker_task

    async def account(self) -> BootstrapResult:
        """Create an account with a project and a live secret key, as `postern bootstrap` does."""
        return await create_first_project(Settings(data=self.folder, base_url=self.url), self.database_url, self.url)

    def wait(self) -> None:
        """Wait until the server has started. Raises AssertionError, or the exception that ended the server."""
        assert self._started.wait(START_SECONDS), "The server did not start."
        if self.failure:
            raise self.failure

    def stop(self) -> None:
        """Let `run` return."""
        if self._server:
            self._server.should_exit = True


@contextmanager
def whole_server(
    folder: Path,
    clock: Clock = system_clock,
    dashboard_folder: Path = FOLDER,
    host: str = "127.0.0.1",
    **settings: Any,
) -> Iterator[WholeServer]:
    """Start a server with these settings beside the usual ones. It ends with the block, and raises what ended its
    thread."""
    with own_database() as url:
        server = WholeServer(folder, url, settings=settings, clock=clock, dashboard_folder=dashboard_folder, host=host)
        thread = threading.Thread(target=server.run, daemon=True)
        thread.start()
        try:
            server.wait()
            yield server
        finally:
            server.stop()
            thread.join(START_SECONDS)
        if server.failure:
            raise server.failure
