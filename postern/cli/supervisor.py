"""`postern serve`: the process that starts the database, API processes, workers and the SMTP server, restarts them, and
stops them.

This process owns the listening sockets and the lock of the data folder. It starts quickly, because it imports neither
the application nor the database driver: the first API process checks the settings and migrates the database for it. If
an API process dies, only the requests that it was answering are lost. Each child reads a pipe from this process: if
this process is killed, the children finish their work and exit.
"""

import asyncio
import json
import os
import signal
import socket
import sys
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass, field
from importlib import import_module
from time import monotonic
from typing import Any

import msgspec

from postern.cli import EXIT_CANNOT_RUN, EXIT_TRY_LATER, CannotRun, CannotRunYet
from postern.cli.child import DatabaseReport, SettingsReport
from postern.cli.console import SOCKET_FILE, ask_own_server, open_console_socket
from postern.cli.data_folder import ServerState, ended_unexpectedly, lock_data_folder, write_server_state
from postern.cli.ports import API_VARIABLES, HTTPS_VARIABLES, SMTP_VARIABLES, open_port
from postern.kernel.config import Settings, read_settings
from postern.kernel.database.embedded import EmbeddedPostgres

RESTART_SECONDS = 0.2, 5.0
"""Delay before a child that died is restarted: the shortest, and the longest after repeated deaths."""
STABLE_SECONDS = 10.0
"""A child that dies after running this long is restarted with the shortest delay again."""
READY_TIMEOUT_SECONDS = 60.0
KILL_GRACE_SECONDS = 5.0
"""How long after the drain timeout a child that has not exited is killed."""
PORT_WAIT_SECONDS = 5.0
"""How long to wait for a port in use if the last server was killed: its children may still listen on the port."""


def _log_warning(settings: Settings, event: str, **values: Any) -> None:
    """Log a warning. The library is imported now, because its import takes longer than to start the children."""
    import structlog

    from postern.kernel.log import set_up_logs

    set_up_logs(settings.log_format, settings.log_level)
    structlog.get_logger(__name__).warning(event, **values)


@dataclass
class ChildProcess:
    """An API process, a worker or the SMTP server, which is restarted whenever it dies, until `stop`."""

    settings: Settings
    name: str
    arguments: list[str]
    environment: dict[str, str]
    inherited_fds: tuple[int, ...] = ()
    process: asyncio.subprocess.Process | None = None
    url: str | None = None
    """The database's URL; None until `connect` is called."""
    pause: float = RESTART_SECONDS[0]
    """Delay before the next restart, in seconds."""
    should_run: bool = True
    has_been_ready: bool = False
    """Whether the server was ready once. A child that exits with an error before that is not restarted: the cause is
    then usually the configuration."""
    started_at: float = field(default_factory=monotonic)

    async def start(self, report: int | None = None) -> None:
        """Start the process, which loads the application and then waits for the database's URL.

        A restart sends the URL of the last `connect` again. `report` is the descriptor of a pipe to which an API
        process writes a SettingsReport and a DatabaseReport.
        """
        inherited_fds = self.inherited_fds if report is None else (*self.inherited_fds, report)
        self.started_at = monotonic()
        self.process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "postern.cli.child",
            *self.arguments,
            *([] if report is None else [f"report={report}"]),
            stdin=asyncio.subprocess.PIPE,
            env=self.environment,
            pass_fds=inherited_fds,
            # A new session, so that Ctrl-C in the terminal signals only the supervisor, which stops the children.
            start_new_session=True,
        )
        if self.url:
            self.connect(self.url)

    def connect(self, url: str) -> None:
        """Send the URL of the database to the process."""
        self.url = url
        if self.process and self.process.stdin:
            self.process.stdin.write(f"{url}\n".encode())

    async def supervise(self) -> None:
        """Restart the process whenever it dies, until `stop`, after a delay that doubles up to the longest one.

        Raises CannotRun if it exits with EXIT_CANNOT_RUN, or with any error before the server was ready once. If the
        database cannot be reached for longer than `database_wait`, the process is restarted like one that died.
        """
        while self.should_run and self.process:
            code = await self.process.wait()
            if not self.should_run:
                return
            if code == EXIT_CANNOT_RUN or (code > 0 and not self.has_been_ready):
                kind = CannotRunYet if code == EXIT_TRY_LATER else CannotRun
                raise kind(f"The {self.name} cannot run; its error message is above.")
            if monotonic() - self.started_at > STABLE_SECONDS:
                self.pause = RESTART_SECONDS[0]
            _log_warning(self.settings, "process_died", process=self.name, code=code, again_in_seconds=self.pause)
            await asyncio.sleep(self.pause)
            self.pause = min(self.pause * 2, RESTART_SECONDS[1])
            if self.should_run:
                await self.start()

    async def stop(self, seconds: float) -> None:
        """Send SIGTERM and wait for the process to finish its work; after `seconds`, kill it."""
        self.should_run = False
        if self.process is None:
            return
        with suppress(ProcessLookupError):
            self.process.terminate()
        try:
            await asyncio.wait_for(self.process.wait(), seconds)
        except TimeoutError:
            _log_warning(self.settings, "process_killed", process=self.name, after_seconds=seconds)
            with suppress(ProcessLookupError):
                self.process.kill()
            await self.process.wait()


@dataclass
class ProcessGroup:
    """The embedded database, if any, and all child processes of one `postern serve`."""

    settings: Settings
    listeners: list[socket.socket]
    children: list[ChildProcess]
    embedded: EmbeddedPostgres | None
    """The embedded database; None if DATABASE_URL is set."""
    mail_and_ports: str = ""
    """Describes the transports and the ports; empty until `start` has returned."""
    is_first_start: bool = False
    """Whether the database has no account yet; False until `start` has returned."""

    async def start(self) -> str:
        """Start the database and the children, and write STATE_FILE to the data folder. Returns the database's URL.

        The settings and the master key are checked before a new database is created; an existing one starts meanwhile.
        Then the first child gets the URL and applies pending migrations. The others get it afterwards, so that an error
        is printed only once. Raises CannotRun and EmbeddedError.
        """
        report = await self._start_children()
        if self.embedded is not None and not self.embedded.has_cluster:
            await self._read_settings_report(report)
            url = await self._start_database()
        else:
            # Both are waited for, because a start that still runs in its thread could not be stopped.
            checked, started = await asyncio.gather(
                self._read_settings_report(report), self._start_database(), return_exceptions=True
            )
            for result in (checked, started):
                if isinstance(result, BaseException):
                    raise result
            url = str(started)
        first, *others = self.children
        first.connect(url)
        await self._read_database_report(report)
        base_url = self.settings.public_url
        write_server_state(self.settings.data, ServerState(pid=os.getpid(), database_url=url, base_url=base_url))
        for child in others:
            child.connect(url)
        return url

    async def _start_children(self) -> asyncio.StreamReader:
        """Start the children. Returns the reading end of the pipe for the reports of the first API process."""
        reading, writing = os.pipe()
        report = asyncio.StreamReader()
        protocol = asyncio.StreamReaderProtocol(report)
        await asyncio.get_running_loop().connect_read_pipe(lambda: protocol, os.fdopen(reading, "rb"))
        try:
            for number, child in enumerate(self.children):
                await child.start(None if number else writing)
        finally:
            os.close(writing)
        return report

    async def _read_settings_report(self, report: asyncio.StreamReader) -> None:
        """Wait for the SettingsReport. Raises CannotRun if something is invalid, or if the API process ended before."""
        result = SettingsReport(**await self._read_report(report, "checked the settings"))
        if result.error:
            raise CannotRun(result.error)
        self.mail_and_ports = result.mail_and_ports

    async def _read_database_report(self, report: asyncio.StreamReader) -> None:
        """Wait for the DatabaseReport. Raises CannotRun if the database cannot be used, or if the API process ended."""
        result = DatabaseReport(**await self._read_report(report, "prepared the database"))
        if result.error:
            raise CannotRunYet(result.error) if result.is_temporary else CannotRun(result.error)
        self.is_first_start = result.is_empty

    async def _read_report(self, report: asyncio.StreamReader, done: str) -> dict[str, Any]:
        """The next report of the first API process. Raises CannotRun if the process ended before it had `done` that."""
        line = await report.readline()
        if not line:
            raise CannotRun(f"The {self.children[0].name} ended before it had {done}.")
        return json.loads(line)

    async def _start_database(self) -> str:
        if self.embedded is not None:
            return await asyncio.to_thread(self.embedded.start, trusts_marker=True)
        assert self.settings.database_url
        return self.settings.database_url

    async def stop(self) -> None:
        """Stop listening, let the children finish their work, then stop the database."""
        for listener in self.listeners:
            listener.close()
        with suppress(OSError):
            (self.settings.data / SOCKET_FILE).unlink()
        seconds = (self.settings.shutdown_delay + self.settings.drain).total_seconds() + KILL_GRACE_SECONDS
        await asyncio.gather(*(child.stop(seconds) for child in self.children))
        if self.embedded is not None:
            await asyncio.to_thread(self.embedded.stop)


def run_server(*, api_processes: int = 1, workers: int = 1) -> int:
    """Read the settings and run the server until a signal; see `run_processes`. Raises SettingInvalid, too."""
    return asyncio.run(run_processes(read_settings(), api_processes=api_processes, workers=workers))


async def run_processes(settings: Settings, *, api_processes: int, workers: int) -> int:
    """Run the server until SIGINT, SIGTERM or SIGHUP, finish running requests and work, and return the exit code 0.

    Raises CannotRun if the port cannot be opened or a process cannot run, FolderInUseError if another server uses the
    data folder, and the errors of `ProcessGroup.start`.
    """
    stopping = _stop_on_signals()
    with lock_data_folder(settings.data):
        listener = await _listen(settings, settings.host, settings.port, API_VARIABLES)
        settings = msgspec.structs.replace(settings, port=listener.getsockname()[1])
        https_listener = None
        if settings.https_port is not None:
            https_listener = await _listen(settings, settings.host, settings.https_port, HTTPS_VARIABLES)
            settings = msgspec.structs.replace(settings, https_port=https_listener.getsockname()[1])
        mail_listeners = {
            name: await _listen(settings, settings.address_of_port(name), port, SMTP_VARIABLES[name])
            for name, port in settings.mail_ports.items()
        }
        ports = {f"{name}_port": mail_listener.getsockname()[1] for name, mail_listener in mail_listeners.items()}
        settings = msgspec.structs.replace(settings, **ports)
        console = open_console_socket(settings.data)
        optional = [other for other in (https_listener, console) if other is not None]
        processes = ProcessGroup(
            settings=settings,
            listeners=[listener, *optional, *mail_listeners.values()],
            children=_children(settings, listener, https_listener, mail_listeners, console, api_processes, workers),
            embedded=None if settings.database_url else EmbeddedPostgres(settings.data),
        )
        async with AsyncExitStack() as stack:
            stack.push_async_callback(processes.stop)
            await _run_until(stopping, processes)
            print("Finishing running requests and work …", flush=True)
    return 0


async def _run_until(stopping: asyncio.Event, processes: ProcessGroup) -> None:
    """Run the processes until `stopping` is set. Raises the error of a process that cannot run."""
    stop_requested, running = asyncio.create_task(stopping.wait()), asyncio.create_task(_run(processes))
    await asyncio.wait([stop_requested, running], return_when=asyncio.FIRST_COMPLETED)
    if not running.done():
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
        return
    stop_requested.cancel()
    running.result()


async def _run(processes: ProcessGroup) -> None:
    url = await processes.start()
    try:
        async with asyncio.TaskGroup() as tasks:
            for child in processes.children:
                tasks.create_task(child.supervise())
            if processes.embedded is not None:
                tasks.create_task(processes.embedded.keep_running())
            await _print_ready(processes, url)
    except ExceptionGroup as errors:
        # Not `except*`: before Python 3.11.4 it wraps an exception raised in its block into a group again.
        raise _first_error(errors) from None


def _first_error(errors: ExceptionGroup[Exception]) -> Exception:
    """The first exception in a (nested) exception group."""
    first = errors.exceptions[0]
    return _first_error(first) if isinstance(first, ExceptionGroup) else first  # pyright: ignore[reportUnknownArgumentType]


ACCESS_HINT = (
    "No password or key? `postern sign-in-link` prints a link that signs you in, `postern keys create` a new key, and "
    "`postern developers reset-password` a link to choose a new password."
)
"""Printed at every start except the first one, which prints the new account and its key."""


async def _print_ready(processes: ProcessGroup, url: str) -> None:
    """Wait until the server is ready and print that; on the first start, also create an account and print it."""
    settings, credentials = processes.settings, None
    if processes.is_first_start:
        bootstrap = await asyncio.to_thread(import_module, "postern.cli.bootstrap")
        if created := await ask_own_server(settings.data, "bootstrap"):
            credentials = msgspec.json.decode(created, type=bootstrap.BootstrapResult)
        else:
            # Imports the whole application, which the API process has loaded already.
            credentials = await bootstrap.create_account_with_project(settings, url, settings.public_url)
    deadline = monotonic() + READY_TIMEOUT_SECONDS
    while not await _is_ready(settings):
        if monotonic() > deadline:
            print(
                f"The server is not ready yet; for the reason, see {settings.public_url}/readyz.",
                file=sys.stderr,
                flush=True,
            )
            deadline = float("inf")
        await asyncio.sleep(0.05)
    for child in processes.children:
        child.has_been_ready = True
    ready = f"Postern is ready at {settings.public_url} (Ctrl-C stops it).\n{processes.mail_and_ports}"
    print(f"{ready}\n{ACCESS_HINT}" if credentials is None else credentials.welcome(ready), flush=True)


async def _is_ready(settings: Settings) -> bool:
    """Whether `GET /readyz` of this server returns 200."""
    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(settings.host, settings.host)  # noqa: S104 - compared, not bound
    with suppress(OSError, TimeoutError):
        async with asyncio.timeout(5):
            reader, writer = await asyncio.open_connection(host, settings.port)
            writer.write(b"GET /readyz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
            status = await reader.readline()
            writer.close()
            return b" 200 " in status
    return False


async def _listen(settings: Settings, host: str, port: int, variables: str) -> socket.socket:
    """Open a listening socket for child processes. Raises CannotRun if that fails; `variables` as for `open_port`."""
    wait_seconds = PORT_WAIT_SECONDS if ended_unexpectedly(settings.data) else 0
    deadline = monotonic() + wait_seconds
    while True:
        try:
            return open_port(host, port, variables)
        except CannotRun:
            if monotonic() >= deadline:
                raise
        await asyncio.sleep(0.1)


def _children(
    settings: Settings,
    listener: socket.socket,
    https_listener: socket.socket | None,
    mail_listeners: dict[str, socket.socket],
    console_listener: socket.socket | None,
    api_processes: int,
    workers: int,
) -> list[ChildProcess]:
    environment = {**os.environ, "POSTERN_DATA": str(settings.data), "POSTERN_PORT": str(settings.port)}
    api_listeners = {"http": listener.fileno()}
    if https_listener:
        environment["POSTERN_HTTPS_PORT"] = str(settings.https_port)
        api_listeners["https"] = https_listener.fileno()
    # The first API process describes these ports, which the operating system chose if they were set to 0.
    environment |= {f"POSTERN_{name.upper()}_PORT": str(port) for name, port in settings.mail_ports.items()}
    children: list[ChildProcess] = []
    for number in range(api_processes):
        listeners = dict(api_listeners)
        if console_listener and not number:
            listeners["console"] = console_listener.fileno()
        children.append(_child(settings, "API process", "api", environment, listeners))
    children += [ChildProcess(settings, "worker", ["worker"], environment) for _ in range(workers)]
    if mail_listeners:
        listeners = {name: mail_listener.fileno() for name, mail_listener in mail_listeners.items()}
        children.append(_child(settings, "SMTP server", "smtp", environment, listeners))
    return children


def _child(
    settings: Settings, name: str, process_type: str, environment: dict[str, str], listeners: dict[str, int]
) -> ChildProcess:
    """A child process that inherits these file descriptors of listening sockets."""
    arguments = [process_type, *(f"{listener}={number}" for listener, number in listeners.items())]
    return ChildProcess(settings, name, arguments, environment, tuple(listeners.values()))


def _stop_on_signals() -> asyncio.Event:
    """Return an event that the first SIGINT, SIGTERM or SIGHUP sets.

    A further signal restores the default action of that signal, so that the next one of its kind ends the process.
    """
    stopping = asyncio.Event()
    loop = asyncio.get_running_loop()

    def on_signal(number: signal.Signals) -> None:
        if stopping.is_set():
            loop.remove_signal_handler(number)
        stopping.set()

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        loop.add_signal_handler(number, on_signal, number)
    return stopping
