"""The complete application in a thread: API and worker, with a port on loopback and a separate database."""

import asyncio
import os
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from datetime import timedelta
from functools import cache
from pathlib import Path
from typing import Any
from uuid import uuid4

import psycopg
import uvicorn

from postern.app import HOOKS, WORK, Application, make_app
from postern.cli.bootstrap import BootstrapResult, create_account_with_project
from postern.instance_store import heartbeat
from postern.kernel.config import Settings
from postern.kernel.database.migrations import migrate
from postern.kernel.due import Worker
from postern.kernel.http.connections import limited_protocol
from postern.kernel.values import Clock, system_clock
from postern.web.dashboard_files import FOLDER
from postern.world import open_world
from tests.peers.dns_zone import DnsZone, dns_zone
from tests.peers.pgbouncer import PgBouncer, pgbouncer
from tests.peers.ports import listening_socket

START_SECONDS = 120
_UNUSED: list[Application] = []
"""The applications that servers have left for the next ones, because building one takes most of a second."""


@contextmanager
def own_database() -> Iterator[str]:
    """Create a migrated database for this block only; yields its URL and drops it at the end."""
    with _new_database(_migrated(os.environ["POSTERN_TEST_SERVER"])) as url:
        yield url


@contextmanager
def empty_database() -> Iterator[str]:
    """Like `own_database`, without a schema."""
    with _new_database("template1") as url:
        yield url


@contextmanager
def _new_database(template: str) -> Iterator[str]:
    server, name = os.environ["POSTERN_TEST_SERVER"], f"own_{uuid4().hex}"
    with psycopg.connect(server.replace("%7Bdatabase%7D", "postgres"), autocommit=True) as connection:
        connection.execute(f'create database "{name}" template "{template}"')
        try:
            yield server.replace("%7Bdatabase%7D", name)
        finally:
            connection.execute(f'drop database "{name}" with (force)')


@cache
def _migrated(server: str) -> str:
    """The name of a migrated database of this process, to which nobody connects: a copy of it takes a tenth of the time
    that the migrations take."""
    name = f"migrated_{uuid4().hex}"
    with psycopg.connect(server.replace("%7Bdatabase%7D", "postgres"), autocommit=True) as connection:
        connection.execute(f'create database "{name}"')
    migrate(server.replace("%7Bdatabase%7D", name))
    return name


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
    pooler: PgBouncer | None = None
    """The pooler between the server and its database."""

    def __post_init__(self) -> None:
        self._started, self._away = threading.Event(), threading.Event()
        self._server: uvicorn.Server | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._shut_down: Callable[[], None] | None = None
        self._continue: asyncio.Event | None = None
        """Set when the server shall serve again, or end. None until it is stopped with `pause`."""
        self._paused = False

    def run(self) -> None:
        """Serve until `stop` is called; must run in a separate thread, in which it starts an event loop."""
        try:
            asyncio.run(self._run())
        except BaseException as error:
            self.failure = error
            self._started.set()

    async def _run(self) -> None:
        self._loop = asyncio.get_running_loop()
        async with dns_zone() as zone:
            self.zone = zone
            port = 0
            while True:
                listener = listening_socket(port)
                port = listener.getsockname()[1]
                self.url = f"http://{self.host}:{port}"
                self._continue = asyncio.Event()
                await self._serve(zone, listener)
                self._away.set()
                if not self._paused:
                    return
                await self._continue.wait()
                if not self._paused:
                    return
                self._paused = False

    async def _serve(self, zone: DnsZone, listener: socket.socket) -> None:
        settings = Settings(
            data=self.folder,
            dns=(f"{zone.address}:{zone.port}",),
            base_url=self.url,
            send_wait=timedelta(seconds=START_SECONDS),
            **self.settings,
        )
        async with open_world(settings, self.database_url, HOOKS, clock=self.clock, with_replica=True) as world:
            if self.dashboard_folder == FOLDER and _UNUSED:
                app = _UNUSED.pop()
                app.switch_world(world)
            else:
                app = make_app(world, dashboard_folder=self.dashboard_folder)
            config = uvicorn.Config(
                app,  # pyright: ignore[reportArgumentType]
                http=limited_protocol(settings),
                ws="none",
                lifespan="off",
                log_config=None,
                access_log=False,
            )
            server = self._server = uvicorn.Server(config)
            worker = Worker(world, WORK)

            def shut_down() -> None:
                server.should_exit = True
                world.stopping.set()

            self._shut_down = shut_down
            # The heartbeat is an hour ahead, so that this worker counts as alive without further heartbeats.
            await heartbeat(world.db, id=uuid4(), now=world.clock() + timedelta(hours=1))
            worker_task, server_task = (
                asyncio.create_task(worker.run()),
                asyncio.create_task(server.serve([listener])),
            )
            while not server.started:
                await asyncio.sleep(0.01)
            self._started.set()
            await server_task
            worker.stop()
            await worker_task
            if self.dashboard_folder == FOLDER:
                _UNUSED.append(app)

    async def account(self) -> BootstrapResult:
        """Create an account with a project and a live secret key, as `postern bootstrap` does."""
        return await create_account_with_project(
            Settings(data=self.folder, base_url=self.url), self.database_url, self.url
        )

    @contextmanager
    def running(self) -> Iterator["WholeServer"]:
        """Serve in a thread for the block; raises what ended the thread."""
        thread = threading.Thread(target=self.run, daemon=True)
        thread.start()
        try:
            self.wait()
            yield self
        finally:
            self.stop()
            thread.join(START_SECONDS)
        if self.failure:
            raise self.failure

    def wait(self) -> None:
        """Wait until the server has started. Raises AssertionError, or the exception that ended the server."""
        assert self._started.wait(START_SECONDS), "The server did not start."
        if self.failure:
            raise self.failure

    def stop(self) -> None:
        """Let `run` return."""
        self._paused = False
        if self._server:
            self._server.should_exit = True
        if self._loop and self._continue and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._continue.set)

    def pause(self) -> None:
        """Shut down as after SIGTERM, and return when nothing listens any more. `resume` serves again."""
        assert self._loop is not None
        assert self._shut_down is not None
        self._away.clear()
        self._started.clear()
        self._paused = True
        self._loop.call_soon_threadsafe(self._shut_down)
        assert self._away.wait(START_SECONDS), "The server did not stop."

    def resume(self) -> None:
        """Serve again, as another process at the same URL with the same data, and return when it has started."""
        assert self._loop is not None
        assert self._continue is not None
        self._loop.call_soon_threadsafe(self._continue.set)
        self.wait()


@contextmanager
def whole_server(
    folder: Path,
    clock: Clock = system_clock,
    dashboard_folder: Path = FOLDER,
    host: str = "127.0.0.1",
    pooled: bool = False,
    **settings: Any,
) -> Iterator[WholeServer]:
    """Start a server with these settings beside the usual ones. It ends with the block, and raises what ended its
    thread. If `pooled`, it connects to its database through PgBouncer."""
    with own_database() as url, pgbouncer(url) if pooled else nullcontext() as pooler:
        if pooler:
            settings["database_pooler_url"] = pooler.url
        server = WholeServer(
            folder,
            url,
            settings=settings,
            clock=clock,
            dashboard_folder=dashboard_folder,
            host=host,
            pooler=pooler,
        )
        with server.running():
            yield server
