"""`postern serve`: one process that starts the others, starts them again when they die, and stops them all.

The listening socket and the data folder are ours, so an API process that dies costs the requests in its
hands and no others. Children hold the read end of a pipe from us: if we are killed, they finish and stop.
"""

import asyncio
import os
import signal
import socket
import sys
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass, field
from functools import partial
from importlib import import_module
from time import monotonic

import msgspec
import psycopg
import structlog

from postern.cli import CANNOT_RUN, CannotRun
from postern.cli.data_folder import ServerState, announce, ended_unexpectedly, lock_data_folder
from postern.kernel.config import Settings
from postern.kernel.database.embedded import EmbeddedPostgres
from postern.kernel.database.migrations import migrate
from postern.kernel.log import set_up_logs
from postern.security.secrets import Secrets, check_master_key_of, load_master_key

RESTART_SECONDS = 0.2, 5.0
"""How long a child that died waits before it is started again: at first, and at most when it keeps dying."""
STEADY_SECONDS = 10.0
"""A child that lived this long has not kept dying."""
READY_WITHIN_SECONDS = 60.0
LAST_WORD_SECONDS = 5.0
"""What a child gets beyond the drain before it is ended by force."""
LISTEN_AGAIN_SECONDS = 5.0
"""How long the children of a killed predecessor may still hold the port."""
log: structlog.stdlib.BoundLogger = structlog.get_logger(__name__)


@dataclass
class ChildProcess:
    """One process of ours, started again for as long as it is wanted."""

    name: str
    arguments: list[str]
    environment: dict[str, str]
    keep_open: tuple[int, ...] = ()
    process: asyncio.subprocess.Process | None = None
    url: str | None = None
    pause: float = RESTART_SECONDS[0]
    wanted: bool = True
    proven: bool = False
    """Whether the whole server has been ready once; what fails before that is wrong, not unlucky."""
    started_at: float = field(default_factory=monotonic)

    async def start(self) -> None:
        """Start the process. It loads its code at once and waits for the database's URL."""
        self.started_at = monotonic()
        self.process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "postern.cli.processes",
            *self.arguments,
            stdin=asyncio.subprocess.PIPE,
            env=self.environment,
            pass_fds=self.keep_open,
            # A session of its own: Ctrl-C in the terminal reaches us alone, and we say when to stop.
            start_new_session=True,
        )
        if self.url:
            self.connect(self.url)

    def connect(self, url: str) -> None:
        """Tell the process where the database is."""
        self.url = url
        if self.process and self.process.stdin:
            self.process.stdin.write(f"{url}\n".encode())

    async def supervise(self) -> None:
        """Start the process again whenever it dies. Raises CannotRun when it says that it never can."""
        while self.wanted and self.process:
            code = await self.process.wait()
            if not self.wanted:
                return
            if code == CANNOT_RUN or (code > 0 and not self.proven):
                raise CannotRun(f"The {self.name} cannot run; it has said why.")
            if monotonic() - self.started_at > STEADY_SECONDS:
                self.pause = RESTART_SECONDS[0]
            log.warning("process_died", process=self.name, code=code, again_in_seconds=self.pause)
            await asyncio.sleep(self.pause)
            self.pause = min(self.pause * 2, RESTART_SECONDS[1])
            if self.wanted:
                await self.start()

    async def stop(self, seconds: float) -> None:
        """Let the process finish what it has in hand, for at most this long."""
        self.wanted = False
        if self.process is None:
            return
        with suppress(ProcessLookupError):
            self.process.terminate()
        try:
            await asyncio.wait_for(self.process.wait(), seconds)
        except TimeoutError:
            log.warning("process_killed", process=self.name, after_seconds=seconds)
            with suppress(ProcessLookupError):
                self.process.kill()
            await self.process.wait()


@dataclass
class ProcessGroup:
    """Everything that one `postern serve` runs."""

    settings: Settings
    listener: socket.socket
    children: list[ChildProcess]
    server: EmbeddedPostgres | None

    async def start(self) -> str:
        """Start all of it and return the database's URL. The children load while the database starts.

        Raises SettingInvalid and WrongMasterKey, of which the children then say nothing.
        """
        for child in self.children:
            await child.start()
        # Loaded beside the children, because it brings much of the application.
        checks = await asyncio.to_thread(import_module, "postern.cli.checks")
        checks.check_settings(self.settings)
        master_key = load_master_key(self.settings.secret, self.settings.data)
        url = self.settings.database_url
        if self.server is not None:
            url = await asyncio.to_thread(self.server.start)
        assert url
        await asyncio.to_thread(partial(migrate, url, within=self.settings.database_wait))
        await asyncio.to_thread(check_master_key_of, url, Secrets(master_key))
        base_url = self.settings.public_url
        announce(self.settings.data, ServerState(pid=os.getpid(), database_url=url, base_url=base_url))
        for child in self.children:
            child.connect(url)
        return url

    async def stop(self) -> None:
        """Stop listening, let the children finish, then stop the database under them."""
        self.listener.close()
        seconds = self.settings.drain.total_seconds() + LAST_WORD_SECONDS
        await asyncio.gather(*(child.stop(seconds) for child in self.children))
        if self.server is not None:
            await asyncio.to_thread(self.server.stop)


async def run_processes(settings: Settings, *, api_processes: int, workers: int) -> int:
    """Run the server until SIGINT or SIGTERM and return the exit code."""
    set_up_logs(settings.log_format, settings.log_level)
    stopping = _stop_on_signals()
    with lock_data_folder(settings.data):
        listener = await _listen(settings)
        settings = msgspec.structs.replace(settings, port=listener.getsockname()[1])
        tree = ProcessGroup(
            settings=settings,
            listener=listener,
            children=_children(settings, listener, api_processes, workers),
            server=None if settings.database_url else EmbeddedPostgres(settings.data),
        )
        async with AsyncExitStack() as stack:
            stack.push_async_callback(tree.stop)
            await _run_until(stopping, tree)
            print("Finishing what is in hand …", flush=True)
    return 0


async def _run_until(stopping: asyncio.Event, tree: ProcessGroup) -> None:
    """Run the tree until `stopping`. Raises what keeps a part of it from running."""
    asked, running = asyncio.create_task(stopping.wait()), asyncio.create_task(_run(tree))
    await asyncio.wait([asked, running], return_when=asyncio.FIRST_COMPLETED)
    if not running.done():
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
        return
    asked.cancel()
    running.result()


async def _run(tree: ProcessGroup) -> None:
    url = await tree.start()
    try:
        async with asyncio.TaskGroup() as group:
            for child in tree.children:
                group.create_task(child.supervise())
            if tree.server is not None:
                group.create_task(tree.server.keep_running())
            await _welcome(tree, url)
    except ExceptionGroup as errors:
        # Not `except*`: before Python 3.11.4 it wraps what is raised in it into a group again.
        raise _first(errors) from None


def _first(errors: ExceptionGroup[Exception]) -> Exception:
    """The first failure in a group of groups."""
    first = errors.exceptions[0]
    return _first(first) if isinstance(first, ExceptionGroup) else first  # pyright: ignore[reportUnknownArgumentType]


BACK_IN = (
    "To get back in: `postern access` prints a link that signs you in, `postern keys create` a key, and "
    "`postern developers reset-password` a link to choose a new password."
)
"""What every start but the first one says; the first one prints the account and its key."""


async def _welcome(tree: ProcessGroup, url: str) -> None:
    """Say that the server is ready, and on the first start everything one needs to use it."""
    settings, made = tree.settings, None
    if await asyncio.to_thread(_is_first_start, url):
        # Loaded here because it brings the whole application, which later starts have no use for.
        bootstrap = await asyncio.to_thread(import_module, "postern.cli.bootstrap")
        made = await bootstrap.create_first_project(settings, url, settings.public_url)
    deadline = monotonic() + READY_WITHIN_SECONDS
    while not await _is_ready(settings):
        if monotonic() > deadline:
            print(f"Still not ready; {settings.public_url}/readyz says why.", file=sys.stderr, flush=True)
            deadline = float("inf")
        await asyncio.sleep(0.05)
    for child in tree.children:
        child.proven = True
    checks = import_module("postern.cli.checks")
    ready = f"Postern is ready at {settings.public_url} (Ctrl-C stops it).\n{checks.how_mail_leaves(settings)}"
    print(f"{ready}\n{BACK_IN}" if made is None else made.welcome(ready), flush=True)


def _is_first_start(url: str) -> bool:
    with psycopg.connect(url, autocommit=True) as connection:
        return connection.execute("select 1 from accounts limit 1").fetchone() is None


async def _is_ready(settings: Settings) -> bool:
    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(settings.host, settings.host)  # noqa: S104 - compared
    with suppress(OSError, TimeoutError):
        async with asyncio.timeout(5):
            reader, writer = await asyncio.open_connection(host, settings.port)
            writer.write(b"GET /readyz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
            status = await reader.readline()
            writer.close()
            return b" 200 " in status
    return False


async def _listen(settings: Settings) -> socket.socket:
    """The socket that all API processes serve. Raises CannotRun when the port is taken."""
    patience = LISTEN_AGAIN_SECONDS if ended_unexpectedly(settings.data) else 0
    deadline = monotonic() + patience
    while True:
        try:
            family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
            return socket.create_server((settings.host, settings.port), family=family, backlog=2_048)
        except (OSError, UnicodeError) as error:
            if monotonic() >= deadline:
                why = error.strerror if isinstance(error, OSError) else "this is no name of a host"
                raise CannotRun(
                    f"Cannot listen on {settings.host}:{settings.port}: {why}. "
                    "Set POSTERN_HOST and POSTERN_PORT to something else."
                ) from None
        await asyncio.sleep(0.1)


def _children(settings: Settings, listener: socket.socket, api_processes: int, workers: int) -> list[ChildProcess]:
    environment = {**os.environ, "POSTERN_DATA": str(settings.data), "POSTERN_PORT": str(settings.port)}
    number = listener.fileno()
    apis = [ChildProcess("API process", ["api", str(number)], environment, (number,)) for _ in range(api_processes)]
    return [*apis, *(ChildProcess("worker", ["worker"], environment) for _ in range(workers))]


def _stop_on_signals() -> asyncio.Event:
    """Set by the first SIGINT, SIGTERM or SIGHUP; the second one is not waited for any longer."""
    stopping = asyncio.Event()
    loop = asyncio.get_running_loop()

    def asked(sign: signal.Signals) -> None:
        if stopping.is_set():
            loop.remove_signal_handler(sign)
        stopping.set()

    for sign in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        loop.add_signal_handler(sign, asked, sign)
    return stopping
