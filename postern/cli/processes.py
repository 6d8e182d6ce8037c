"""Run one API process, one worker process or one SMTP process.

`postern serve` starts `python -m postern.cli.child` with `api http=DESCRIPTOR [https=DESCRIPTOR] [console=DESCRIPTOR]
[report=DESCRIPTOR]`, with `worker`, or with `smtp NAME=DESCRIPTOR …`. A DESCRIPTOR is the number of the file descriptor
of a listening socket; that of `console` is for `postern.cli.console`. NAME is the name of the SMTP listener. `report`
is a pipe, to which the process writes a SettingsReport and a DatabaseReport. Importing this module loads the whole
application.
"""

import asyncio
import gc
import json
import os
import resource
import signal
import socket
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from datetime import timedelta
from typing import IO

import msgspec
import structlog
import uvicorn
import uvloop
from psycopg import Error as PsycopgError
from psycopg import OperationalError
from psycopg_pool import PoolTimeout

from postern.app import HOOKS, make_app, work_for
from postern.cli import GC_THRESHOLD, CannotRun, report_expected_errors
from postern.cli.checks import check_settings, describe_mail_and_ports
from postern.cli.child import DatabaseReport, SettingsReport
from postern.cli.console import serve_console
from postern.cli.mail_servers import MailServers
from postern.cli.placement import unfinished_distribution
from postern.cli.ports import API_VARIABLES, BACKLOG, HTTPS_VARIABLES, SMTP_VARIABLES, open_port
from postern.instance import HEARTBEAT_INTERVAL, HEARTBEAT_TIMEOUT, sharing_rate_limits, wait_for_database
from postern.instance_store import (
    count_workers,
    delete_complete_rates,
    heartbeat,
    merge_pending_entries,
    remove_worker,
    unfinished_migrations,
)
from postern.kernel.config import SettingInvalid, Settings, misspelled_variables, read_settings
from postern.kernel.database.connections import connect
from postern.kernel.database.long_migrations import Progress, execute_unfinished
from postern.kernel.database.migrations import MigrationError, long_migrations_of, migrate
from postern.kernel.due import Worker
from postern.kernel.http.connections import HttpServer, LimitedProtocol, limited_protocol
from postern.kernel.http.https_listener import HANDSHAKES, HttpsServer
from postern.kernel.log import set_up_logs
from postern.kernel.priority import lower_priority
from postern.kernel.values import new_id
from postern.messaging.analytics.retention import merge_sums
from postern.messaging.certificates.model import PLAN_EVERY
from postern.messaging.certificates.names import public_host
from postern.messaging.certificates.pages_domains import PagesDomains
from postern.messaging.certificates.serving import ServedCertificates
from postern.messaging.certificates.work import plan_certificates
from postern.messaging.content_store.work import find_contents
from postern.messaging.emails.retention import RETENTION_EVERY, delete_expired, delete_expired_log
from postern.messaging.inbound.retention import delete_expired_inbound
from postern.messaging.tracking.retention import delete_expired_hits
from postern.platform.accounts.deletion import delete_stale_sign_ups
from postern.platform.events.retention import delete_expired_events
from postern.security.secrets import Secrets, WrongMasterKey, check_master_key_of, load_master_key
from postern.world import World, open_world

RENDERING_DELAY_SECONDS = 1.0
"""How long after the start of a process its render processes are started, if no message needs them before. At once,
they would compete with the start of the other processes for the processors."""
RESERVED_FILES = 500
"""File descriptors of an API process for all purposes other than client connections."""
WORKER_GC_THRESHOLD = 100_000
"""GC_THRESHOLD of a worker: more than the objects of the messages that it sends at a time, so that they are not
traversed again and again."""
WORKER_NICENESS = 5
"""The niceness of a worker and its render processes, see nice(2): when all processors are busy, an API process, for
whose responses somebody waits, gets three times as much time as each of them."""
MIGRATE_EVERY = timedelta(seconds=30)
"""How often a worker looks for long migrations that are not finished."""
MIGRATE_AFTER_FAILURE = timedelta(hours=1)
"""The longest pause after one whose statement fails; the pause doubles each time."""
MIGRATION_LOG_EVERY = timedelta(seconds=10)
MERGED_INDEXES = ("contacts_search", "send_search_text")
"""GIN indexes whose new entries are collected in a list (`fastupdate`). The statement that makes a list too long merges
it, which can take a quarter of a second and longer, so a worker does it before."""
MERGE_EVERY = timedelta(seconds=2)
COMPLETE_RATES_DELETED = 100_000
"""How many unused rate limits a worker deletes every RETENTION_EVERY."""
log: structlog.stdlib.BoundLogger = structlog.get_logger(__name__)


@dataclass
class ParentPipe:
    """The pipe from `postern serve`, which sends the database's URL. End of file tells this process to stop."""

    descriptor: int = 0
    """File descriptor of the pipe; 0 is standard input."""

    def database_url(self) -> str:
        """Wait for the URL. Exits the process if the parent ends before it has sent one."""
        line = b""
        while not line.endswith(b"\n"):
            chunk = os.read(self.descriptor, 4_096)
            if not chunk:
                sys.exit(0)
            line += chunk
        return line.decode().strip()


def run_api(
    settings: Settings,
    url: str,
    *,
    listener: int | None = None,
    https_listener: int | None = None,
    console_listener: int | None = None,
    parent: ParentPipe | None = None,
) -> None:
    """Serve the API until SIGTERM, SIGINT or the end of the parent; running requests get the drain timeout to finish.

    Before, requests are still accepted for the shutdown delay, unless a second signal arrives; meanwhile /readyz says
    that the process is not ready, and each response ends its connection.

    `listener`, `https_listener` and `console_listener` are the file descriptors of listening sockets; without the first
    two, POSTERN_PORT and, if it is set, POSTERN_HTTPS_PORT are opened on POSTERN_HOST.
    Raises SettingInvalid, WrongMasterKey, and OperationalError or PoolTimeout if the database stays unreachable.
    """

    async def run() -> None:
        async with open_world(settings, url, HOOKS, with_replica=True, process="api") as world:
            await wait_for_database(world, _log_database_error)
            _raise_file_limit(settings.connections + HANDSHAKES + RESERVED_FILES)
            config, reloading = uvicorn_config(settings, world), None
            pages_domains = world.resources[PagesDomains]
            await pages_domains.reload()
            reloading_names = asyncio.create_task(pages_domains.keep_reloading())
            server = HttpServer(config)
            if https_socket is not None:
                served = ServedCertificates(world, public_host(settings), strict=True)
                await served.reload()
                reloading = asyncio.create_task(served.keep_reloading())
                server = HttpsServer(config, https_socket, served.context)
            _start_rendering_soon(world)
            _relax_garbage_collection()

            def stop() -> None:
                if world.stopping.is_set():
                    server.should_exit = True
                    return
                world.stopping.set()
                if isinstance(config.http, type) and issubclass(config.http, LimitedProtocol):
                    config.http.limits.end_connections()
                loop = asyncio.get_running_loop()
                loop.call_later(settings.shutdown_delay.total_seconds(), setattr, server, "should_exit", True)

            _stop_on_signals(stop, parent)
            if listener is not None:
                api_socket = socket.socket(fileno=listener)
            else:
                api_socket = open_port(settings.host, settings.port, API_VARIABLES)
            console = None
            if console_listener is not None:
                console = await serve_console(world, socket.socket(fileno=console_listener))
            if parent is None:
                log.info("started", process="api", host=settings.host, port=api_socket.getsockname()[1])
            async with sharing_rate_limits(world):
                await server.serve([api_socket])
            if console is not None:
                console.close()
            tasks = [reloading_names, *([reloading] if reloading is not None else [])]
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    set_up_logs(settings.log_format, settings.log_level)
    check_settings(settings)
    _log_misspelled_variables(parent)
    https_socket = socket.socket(fileno=https_listener) if https_listener is not None else None
    if https_socket is None and settings.https_port is not None:
        https_socket = open_port(settings.host, settings.https_port, HTTPS_VARIABLES)
    uvloop.run(run())


def _raise_file_limit(count: int) -> int:
    """Raise this process's limit of open files to `count`, or to the hard limit: each connection needs one.

    Returns how many of `count` it may open.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    limit = count if hard == resource.RLIM_INFINITY else min(count, hard)
    if soft != resource.RLIM_INFINITY and soft < limit:
        with suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (limit, hard))
    soft = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    return count if soft == resource.RLIM_INFINITY else min(count, soft)


def uvicorn_config(settings: Settings, world: World) -> uvicorn.Config:
    """Configure uvicorn: the application, its address and timeouts, and the proxies whose X-Forwarded-For it trusts."""
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


def run_worker(settings: Settings, url: str, *, parent: ParentPipe | None = None) -> None:
    """Run due work until SIGTERM, SIGINT or the end of the parent; running work gets the drain timeout to finish.

    Also sends heartbeats, deletes expired data, merges statistics, looks for names that need a certificate, and
    executes long migrations. The process has a lower priority than one that serves requests.

    Raises SettingInvalid, WrongMasterKey, and OperationalError or PoolTimeout if the database stays unreachable.
    """

    async def run() -> None:
        async with open_world(settings, url, HOOKS, process="worker") as world:
            await wait_for_database(world, _log_database_error)
            pages_domains = world.resources[PagesDomains]
            await pages_domains.reload()
            worker = Worker(world, work_for(settings))
            _start_rendering_soon(world)
            _relax_garbage_collection(WORKER_GC_THRESHOLD)
            _stop_on_signals(worker.stop, parent)
            background_tasks = asyncio.gather(
                _send_heartbeats(world),
                _clean_up(world),
                _merge_pending_entries(world),
                _plan_certificates(world),
                _execute_long_migrations(world),
                pages_domains.keep_reloading(),
            )
            if parent is None:
                log.info("started", process="worker")
            worker_task = asyncio.create_task(worker.run())
            await asyncio.wait(
                [worker_task, asyncio.create_task(worker.stopping.wait())], return_when="FIRST_COMPLETED"
            )
            # A job that is not finished in time runs again on another worker when its lease expires.
            with suppress(TimeoutError):
                await asyncio.wait_for(worker_task, settings.drain.total_seconds())
            background_tasks.cancel()
            await asyncio.gather(background_tasks, return_exceptions=True)

    set_up_logs(settings.log_format, settings.log_level)
    check_settings(settings)
    _log_misspelled_variables(parent)
    lower_priority(WORKER_NICENESS)
    uvloop.run(run())


def run_smtp(
    settings: Settings, url: str, *, listeners: Mapping[str, int] | None = None, parent: ParentPipe | None = None
) -> None:
    """Receive mail by SMTP until SIGTERM, SIGINT or the end of the parent; running messages get the drain timeout to
    finish.

    `listeners` are the file descriptors of listening sockets, keyed by the name of the listener; without them, the
    ports of the settings are opened. Raises CannotRun if a port cannot be opened, SettingInvalid, WrongMasterKey, and
    OperationalError or PoolTimeout if the database stays unreachable.
    """

    async def run(sockets: Mapping[str, socket.socket]) -> None:
        files = _raise_file_limit(len(sockets) * settings.smtp_connections + RESERVED_FILES)
        # More connections than file descriptors would make `accept` and `open` fail, instead of refusing a client.
        possible = max(1, (files - RESERVED_FILES) // len(sockets))
        fitting = msgspec.structs.replace(settings, smtp_connections=min(settings.smtp_connections, possible))
        async with open_world(fitting, url, HOOKS, process="smtp") as world:
            await wait_for_database(world, _log_database_error)
            _start_rendering_soon(world)
            _relax_garbage_collection()
            _stop_on_signals(world.stopping.set, parent)
            if parent is None:
                ports = {f"{name}_port": opened.getsockname()[1] for name, opened in sockets.items()}
                log.info("started", process="smtp", **ports)
            async with sharing_rate_limits(world):
                await MailServers(world).run(sockets, world.stopping, settings.drain)

    set_up_logs(settings.log_format, settings.log_level)
    check_settings(settings)
    _log_misspelled_variables(parent)
    if listeners is None:
        ports = settings.mail_ports
        sockets = {
            name: open_port(settings.address_of_port(name), port, SMTP_VARIABLES[name]) for name, port in ports.items()
        }
    else:
        sockets = {name: socket.socket(fileno=descriptor) for name, descriptor in listeners.items()}
    if not sockets:
        raise CannotRun("Set POSTERN_SUBMISSION_PORT, POSTERN_SUBMISSIONS_PORT or POSTERN_INBOUND_PORT.")
    uvloop.run(run(sockets))


def _log_misspelled_variables(parent: ParentPipe | None) -> None:
    """Log variables that seem to be misspelled, unless a parent process has printed them."""
    if parent is None:
        for sentence in misspelled_variables():
            log.warning("setting_misspelled", detail=sentence)


def _start_rendering_soon(world: World) -> None:
    """Start the render processes after RENDERING_DELAY_SECONDS, so that the first message need not wait for them."""
    asyncio.get_running_loop().call_later(
        RENDERING_DELAY_SECONDS, lambda: world.run_in_background(world.rendering.start())
    )


def _relax_garbage_collection(threshold: int = GC_THRESHOLD) -> None:
    """Exclude the loaded application, which has no garbage, from cyclic garbage collection, and run the collector only
    after `threshold` net allocations."""
    gc.freeze()
    gc.set_threshold(threshold, 20, 50)
    gc.enable()


def _log_database_error(error: str) -> None:
    log.warning("waiting_for_database", error=error)


async def _send_heartbeats(world: World) -> None:
    """Record in the database that this worker is alive, until cancelled; then remove its record."""
    worker_id = new_id()
    try:
        while True:
            try:
                await heartbeat(world.db, id=worker_id, now=world.clock())
            except (OperationalError, PoolTimeout) as error:
                log.warning("heartbeat_missed", error=str(error).strip())
            await asyncio.sleep(HEARTBEAT_INTERVAL.total_seconds())
    finally:
        with suppress(OperationalError, PoolTimeout):
            # This also removes the records of killed workers, which have sent no heartbeat for long.
            await remove_worker(world.db, id=worker_id, before=world.clock() - 10 * HEARTBEAT_TIMEOUT)


async def _clean_up(world: World) -> None:
    """Delete expired rows and stale sign-ups, merge statistics and find large contents, every RETENTION_EVERY, until
    cancelled."""
    while True:
        try:
            await delete_expired(world)
            await delete_expired_log(world)
            await delete_expired_hits(world)
            await delete_expired_events(world)
            await delete_expired_inbound(world)
            await merge_sums(world)
            await delete_stale_sign_ups(world)
            await delete_complete_rates(world.db, limit=COMPLETE_RATES_DELETED)
            await find_contents(world)
        except (OperationalError, PoolTimeout) as error:
            log.warning("clean_up_failed", error=str(error).strip())
        await asyncio.sleep(RETENTION_EVERY.total_seconds())


async def _merge_pending_entries(world: World) -> None:
    """Merge the pending entries of MERGED_INDEXES until cancelled, so often that all workers together do it every
    MERGE_EVERY."""
    workers = 1
    while True:
        await asyncio.sleep(workers * MERGE_EVERY.total_seconds())
        try:
            for index in MERGED_INDEXES:
                await merge_pending_entries(world.db, index=index)
            workers = max(1, await count_workers(world.db, since=world.clock() - HEARTBEAT_TIMEOUT))
        except (PsycopgError, PoolTimeout) as error:
            log.warning("pending_entries_not_merged", error=str(error).strip())


async def _plan_certificates(world: World) -> None:
    """Look for names that need a certificate, every PLAN_EVERY, until cancelled."""
    while True:
        try:
            await plan_certificates(world)
        except (OperationalError, PoolTimeout) as error:
            log.warning("certificates_not_planned", error=str(error).strip())
        await asyncio.sleep(PLAN_EVERY.total_seconds())


async def _execute_long_migrations(world: World) -> None:
    """Execute the long migrations that are not finished, unless another process does, until cancelled."""
    logged_at, pause = 0.0, MIGRATE_EVERY

    def report(progress: Progress) -> None:
        nonlocal logged_at
        now = asyncio.get_running_loop().time()
        if progress.is_finished or now - logged_at > MIGRATION_LOG_EVERY.total_seconds():
            logged_at = now
            log.info("long_migration", name=progress.name, rows=progress.rows_done, done=round(progress.fraction, 3))

    while True:
        try:
            if numbers := await unfinished_migrations(world.db):
                known = [migration for migration in long_migrations_of() if migration.number in numbers]
                if known:
                    await execute_unfinished(world.db.url, known, report, name=world.db.name)
            pause = MIGRATE_EVERY
        except (PsycopgError, PoolTimeout) as error:
            log.warning("long_migration_failed", error=str(error).strip())
            # A statement that fails because of what the table contains will fail again, after having read all of it.
            is_temporary = isinstance(error, OperationalError | PoolTimeout)
            pause = MIGRATE_EVERY if is_temporary else min(2 * pause, MIGRATE_AFTER_FAILURE)
        await asyncio.sleep(pause.total_seconds())


def _stop_on_signals(stop: Callable[[], None], parent: ParentPipe | None) -> None:
    """Call `stop` at SIGTERM, SIGINT or the end of the parent process."""
    loop = asyncio.get_running_loop()
    for signal_number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(signal_number, stop)
    if parent is not None:
        descriptor = parent.descriptor

        def on_parent_message() -> None:
            if not os.read(descriptor, 4_096):  # End of file: the parent has ended.
                loop.remove_reader(descriptor)
                stop()

        loop.add_reader(descriptor, on_parent_message)


def _check_settings(settings: Settings) -> SettingsReport:
    """Check the settings and the master key."""
    try:
        check_settings(settings)
        load_master_key(settings.secret, settings.data)
    except (SettingInvalid, WrongMasterKey) as error:
        return SettingsReport(error=str(error))
    return SettingsReport(mail_and_ports=describe_mail_and_ports(settings))


def _prepare_database(settings: Settings, url: str) -> DatabaseReport:
    """Apply pending migrations, and compare the master key with that of the database."""
    try:
        migrate(url, max_wait=settings.database_wait)
        check_master_key_of(url, Secrets(load_master_key(settings.secret, settings.data)))
        with connect(url) as connection:
            if problem := unfinished_distribution(connection):
                return DatabaseReport(error=problem)
            return DatabaseReport(is_empty=connection.execute("select 1 from accounts limit 1").fetchone() is None)
    except OperationalError as error:
        return DatabaseReport(error=str(error), is_temporary=True)
    except (MigrationError, WrongMasterKey) as error:
        return DatabaseReport(error=str(error))


def _prepared_database_url(settings: Settings, parent: ParentPipe, report: IO[str]) -> str:
    """Check the settings, wait for the database's URL, prepare the database, and report both results. If something is
    invalid, the parent then ends this process."""
    _write_report(report, _check_settings(settings))
    url = parent.database_url()
    result = _prepare_database(settings, url)
    _write_report(report, result)
    return parent.database_url() if result.error else url


def _write_report(report: IO[str], result: SettingsReport | DatabaseReport) -> None:
    print(json.dumps(asdict(result)), file=report, flush=True)


def main() -> None:
    """Run `api`, `worker` or `smtp` until the parent process ends. The arguments are described in the module's
    docstring."""
    process_type, *arguments = sys.argv[1:]
    descriptors = {name: int(number) for name, _, number in (text.partition("=") for text in arguments)}
    with report_expected_errors():
        settings, parent = read_settings(), ParentPipe()
        if "report" in descriptors:
            with os.fdopen(descriptors["report"], "w", encoding="utf-8") as report:
                url = _prepared_database_url(settings, parent, report)
        else:
            url = parent.database_url()
        if process_type == "api":
            run_api(
                settings,
                url,
                listener=descriptors["http"],
                https_listener=descriptors.get("https"),
                console_listener=descriptors.get("console"),
                parent=parent,
            )
        elif process_type == "smtp":
            run_smtp(settings, url, listeners=descriptors, parent=parent)
        else:
            run_worker(settings, url, parent=parent)


if __name__ == "__main__":
    main()
