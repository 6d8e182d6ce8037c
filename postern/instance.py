"""The instance: health checks, metrics, the OpenAPI document, the DNS zone, and the heartbeats of workers."""

import asyncio
import hmac
import shutil
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager
from datetime import timedelta
from ipaddress import ip_address
from pathlib import Path
from threading import Lock
from time import monotonic
from typing import TYPE_CHECKING, Any

import msgspec
import psycopg
import structlog
from litestar import Request, Response, get
from litestar.response import Stream
from litestar.static_files import create_static_files_router  # pyright: ignore[reportUnknownVariableType]
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest
from psycopg import OperationalError
from psycopg_pool import PoolTimeout

from postern import instance_store
from postern.examples import EXAMPLES
from postern.kernel.config import SettingInvalid, Settings
from postern.kernel.database import migrations
from postern.kernel.database.statements import Database, open_database
from postern.kernel.due import Work, longest_wait
from postern.kernel.http.openapi import document
from postern.kernel.http.operation import Operation, RawRequest
from postern.kernel.http.problems import Forbidden
from postern.kernel.limits import DEMAND_SECONDS, EXCHANGE_SECONDS
from postern.kernel.values import to_json
from postern.messaging.domains.zone import zone_lines
from postern.messaging.emails.sources import SourceState, source_states
from postern.messaging.emails.unattributed import UNPROCESSED_KINDS
from postern.platform.events.payloads import PAYLOADS
from postern.reference import REFERENCE
from postern.security.secrets import Secrets, WrongMasterKey
from postern.web.pages import SCRIPT_SOURCES, as_response, page

log: structlog.stdlib.BoundLogger = structlog.get_logger(__name__)

if TYPE_CHECKING:
    from postern.world import World

RECONNECT_SECONDS = 0.5
"""The pause between two attempts to reach the database."""

HEARTBEAT_INTERVAL = timedelta(seconds=5)
"""The interval between the heartbeats of a worker."""

HEARTBEAT_TIMEOUT = timedelta(seconds=30)
"""A worker or SMTP process without a heartbeat for this long counts as stopped."""

FORWARDING_HEADERS = frozenset(
    (
        "forwarded",
        "via",
        "x-real-ip",
        "x-client-ip",
        "x-cluster-client-ip",
        "x-original-host",
        "x-original-forwarded-for",
        "x-envoy-external-address",
        "true-client-ip",
        "cf-connecting-ip",
        "cdn-loop",
        "fastly-client-ip",
    )
)
"""Headers that proxies add to forwarded requests, besides `X-Forwarded-*`."""
DOCS_POLICY = {**SCRIPT_SOURCES, "style-src": "'unsafe-inline'", "img-src": "data:", "font-src": "'self'"}
"""Additional Content-Security-Policy sources for Swagger UI."""


class AdminTokenMissing(Forbidden):
    """Send `Authorization: Bearer` with POSTERN_ADMIN_TOKEN. Without it, only direct requests from the server itself
    are allowed."""


async def wait_for_database(world: "World", report: Callable[[str], object]) -> None:
    """Wait until the database is reachable (it may be starting at the same time), and check the connection pooler and
    the master key.

    `report` gets the error of each failed attempt. Raises SettingInvalid if the pooler connects to another database,
    WrongMasterKey, or OperationalError or PoolTimeout after the setting `database_wait`.
    """
    deadline = monotonic() + world.settings.database_wait.total_seconds()
    while True:
        try:
            if world.settings.database_pooler_url:
                await _check_pooler(world.db)
            return await _check_master_key(world.db, world.secrets)
        except (OperationalError, PoolTimeout) as error:
            if monotonic() >= deadline:
                raise
            report(str(error).strip())
        await asyncio.sleep(RECONNECT_SECONDS)


@asynccontextmanager
async def sharing_rate_limits(world: "World") -> AsyncIterator[None]:
    """Count the rate limits of this process together with those of the other processes during the block.

    While the database does not respond, the process goes on with the state that it knows, and tells the others later.
    """
    sharing = asyncio.create_task(_share_rate_limits(world))
    try:
        yield
    finally:
        sharing.cancel()
        await asyncio.gather(sharing, return_exceptions=True)


async def _share_rate_limits(world: "World") -> None:
    limiter, fails = world.limiter, False
    limiter.begin_exchange()
    while True:
        await asyncio.sleep(EXCHANGE_SECONDS)
        uses = limiter.changes()
        if not uses:
            continue
        try:
            rates = await instance_store.exchange_rates(world.db, uses, demand_seconds=DEMAND_SECONDS)
        except (psycopg.Error, PoolTimeout) as error:
            limiter.keep_changes(uses)
            if not fails:
                log.warning("rate_limits_not_shared", error=str(error).strip())
            fails = True
        else:
            limiter.apply(rates)
            fails = False


async def _check_pooler(db: Database) -> None:
    """Raise SettingInvalid if the pooler and DATABASE_URL connect to different databases."""
    async with open_database(db.url, size=1) as direct:
        expected = await instance_store.database_identity(direct)
    if await instance_store.database_identity(db) != expected:
        raise SettingInvalid("DATABASE_POOLER_URL connects to another database than DATABASE_URL.")


async def _check_master_key(db: Database, secrets: Secrets) -> None:
    """Raise WrongMasterKey if the database was created with another master key. In a new database,
    store the hash of this process's key, with which later calls compare theirs."""
    key_check = secrets.key_check()
    if not hmac.compare_digest(await instance_store.claim_instance(db, key_check=key_check), key_check):
        raise WrongMasterKey


class ReadinessCheck(msgspec.Struct):
    """The result of one readiness check."""

    ok: bool
    detail: str


async def readiness(request: RawRequest) -> dict[str, ReadinessCheck]:
    """The checks of `/readyz`: the database, its migrations, free disk space, and running workers. If the database does
    not respond, or if this process has begun to stop, only that is returned."""
    world = request.app.state.world
    if world.stopping.is_set():
        return {"process": ReadinessCheck(False, "is stopping")}
    try:
        async with world.db.connection() as connection:
            pending = await migrations.pending(connection)
        if await instance_store.is_read_only(world.db):
            return {"database": ReadinessCheck(False, "refuses to write, as a standby does")}
        seen_at = await instance_store.last_heartbeat(world.db)
    except Exception as error:  # The instance is not ready, whatever the error of the database is.
        return {"database": ReadinessCheck(False, type(error).__name__)}
    alive = seen_at is not None and world.clock() - seen_at < HEARTBEAT_TIMEOUT
    return {
        "database": ReadinessCheck(True, "answers"),
        "migrations": ReadinessCheck(not pending, f"{len(pending)} pending" if pending else "up to date"),
        "disk": await asyncio.to_thread(_check_disk, world.settings),
        "worker": ReadinessCheck(alive, "alive" if alive else "no worker has reported within 30 seconds"),
    }


def _check_disk(settings: Settings) -> ReadinessCheck:
    """Check the free space on the disk of the data folder: on a full disk the database stops."""
    folder = next((path for path in (settings.data, *settings.data.parents) if path.exists()), None)
    free = shutil.disk_usage(folder).free // 1_000_000 if folder else 0
    return ReadinessCheck(free >= settings.free_space, f"{free:,} MB free; {settings.free_space:,} MB are needed")


async def instance_metrics(world: "World", works: Sequence[Work[Any]]) -> bytes:
    """The metrics of the whole instance, for `/metrics`, in the text format of Prometheus.

    These are: whether the database responds, the number of workers, how long the oldest due row of each of `works` has
    waited (`postern_due_seconds`, which grows if there are too few workers), the number of reports about sent mail that
    could not be processed, the counters of the SMTP servers, which run in other processes, and the limits of sending IP
    addresses in warm-up. If the database does not respond, only the first.
    """
    lines = [
        "# HELP postern_database_up Whether the database responds.",
        "# TYPE postern_database_up gauge",
    ]
    try:
        workers = await instance_store.count_workers(world.db, since=world.clock() - HEARTBEAT_TIMEOUT)
        smtp_processes = await instance_store.smtp_processes(world.db, since=world.clock() - HEARTBEAT_TIMEOUT)
        counted = {count.kind: count.reports for count in await instance_store.report_counts(world.db)}
        waits = [(work.name, await longest_wait(world.db, work, world.clock())) for work in works]
        sources = await source_states(world.db, world.settings, world.clock())
    except (OperationalError, PoolTimeout):
        return "\n".join([*lines, "postern_database_up 0", ""]).encode()
    lines += [
        "postern_database_up 1",
        "# HELP postern_workers Number of workers with a heartbeat in the last 30 seconds.",
        "# TYPE postern_workers gauge",
        f"postern_workers {workers}",
        "# HELP postern_due_seconds How long the oldest row that is due has waited for a worker.",
        "# TYPE postern_due_seconds gauge",
        *(f'postern_due_seconds{{work="{name}"}} {wait.total_seconds():.3f}' for name, wait in waits),
        "# HELP postern_reports_unprocessed_total Reports about sent mail that could not be processed.",
        "# TYPE postern_reports_unprocessed_total counter",
        *(f'postern_reports_unprocessed_total{{kind="{kind}"}} {counted.get(kind, 0)}' for kind in UNPROCESSED_KINDS),
        *_smtp_lines(smtp_processes),
        *_source_lines(sources),
    ]
    return "\n".join([*lines, ""]).encode()


SMTP_METRICS = {
    "open": ("postern_smtp_connections", "gauge", "SMTP connections that are open."),
    "accepted": ("postern_smtp_connections_accepted_total", "counter", "SMTP connections that were accepted."),
    "refused": ("postern_smtp_connections_refused_total", "counter", "SMTP connections that were refused."),
    "messages": ("postern_smtp_messages_total", "counter", "Messages that were accepted by SMTP."),
    "octets": ("postern_smtp_message_bytes_total", "counter", "Bytes of the messages that were accepted by SMTP."),
    "auth_failures": ("postern_smtp_auth_failures_total", "counter", "Credentials that were refused by SMTP."),
}
"""Name, type and description of each metric of the SMTP servers, keyed by its field of SmtpCounters."""


def _smtp_lines(processes: Sequence[instance_store.SmtpProcess]) -> Iterator[str]:
    """The metrics of the SMTP servers for each port and process, because a new process begins to count at 0."""
    if not processes:
        return
    for field, (metric, kind, description) in SMTP_METRICS.items():
        yield f"# HELP {metric} {description}"
        yield f"# TYPE {metric} {kind}"
        for process in processes:
            for port, counters in process.counters.items():
                yield f'{metric}{{port="{port}",process="{process.id}"}} {counters.get(field, 0)}'


SOURCE_METRICS = {
    "ceiling": ("postern_source_ceiling", "Maximum messages that an IP address in warm-up may send today."),
    "used": ("postern_source_messages", "Messages that count towards the ceiling of an IP address in warm-up today."),
}
"""Name and description of each metric of IP addresses with a warm-up plan, keyed by its field of SourceState."""


def _source_lines(sources: Sequence[SourceState]) -> Iterator[str]:
    """The metrics of the sending IP addresses that are warming up."""
    active = {source.address: source for source in sources if source.status == "ACTIVE"}
    for field, (metric, description) in SOURCE_METRICS.items() if active else ():
        yield f"# HELP {metric} {description}"
        yield f"# TYPE {metric} gauge"
        for address, source in active.items():
            yield f'{metric}{{address="{address}"}} {getattr(source, field)}'


class OpenApiDocument:
    """The OpenAPI document of `operations` as JSON. It is generated at the first request, not at the start of the
    server, because that takes half a second."""

    def __init__(self, operations: Sequence[Operation[Any, Any]]) -> None:
        self._operations = operations
        self._content: bytes | None = None
        self._lock = Lock()

    def content(self) -> bytes:
        """The document. Blocks, so it must be called in a thread."""
        with self._lock:
            if self._content is None:
                self._content = to_json(document(self._operations, EXAMPLES, REFERENCE, PAYLOADS))
            return self._content


def routes(operations: Sequence[Operation[Any, Any]], works: Sequence[Work[Any]]) -> list[Any]:
    """The Litestar handlers of the instance: health checks, metrics, DNS zone, OpenAPI document, and static files."""
    openapi = OpenApiDocument(operations)

    @get("/healthz", sync_to_thread=False)
    def healthz() -> dict[str, str]:
        return {"status": "ok"}

    @get("/readyz")
    async def readyz(request: Request[Any, Any, Any]) -> Response[bytes]:
        checks = await readiness(request)
        ready = all(check.ok for check in checks.values())
        body = to_json({"status": "ready" if ready else "not ready", "parts": checks})
        return Response(body, status_code=200 if ready else 503, media_type="application/json")

    @get("/metrics")
    async def metrics(request: Request[Any, Any, Any]) -> Response[bytes]:
        if not _has_admin_access(request):
            raise AdminTokenMissing
        content = generate_latest() + await instance_metrics(request.app.state.world, works)
        # Set as a header, because Litestar would append a second charset to the media type.
        return Response(content, headers={"Content-Type": CONTENT_TYPE_LATEST})

    @get("/zone", sync_to_thread=False)
    def zone(request: Request[Any, Any, Any]) -> Response[bytes] | Stream:
        if not _has_admin_access(request):
            raise AdminTokenMissing
        return Stream(zone_lines(request.app.state.world), media_type="text/dns")

    @get("/openapi.json", sync_to_thread=True)
    def openapi_json() -> Response[bytes]:
        return Response(openapi.content(), media_type="application/json")

    @get("/docs", sync_to_thread=False)
    def docs() -> Response[bytes]:
        return as_response(page("docs.html", policy=DOCS_POLICY))

    swagger_assets = create_static_files_router(
        path="/docs/assets", directories=[Path(__file__).parent / "web" / "assets" / "swagger-ui"], name="docs-assets"
    )
    page_assets = create_static_files_router(
        path="/assets", directories=[Path(__file__).parent / "web" / "assets"], name="assets"
    )
    return [page_assets, healthz, readyz, metrics, zone, openapi_json, docs, swagger_assets]


def _has_admin_access(request: RawRequest) -> bool:
    """Whether the request has the admin token, or comes from this machine without a proxy.

    Behind a proxy on this machine, all requests come from a loopback address. So loopback is accepted only if the base
    URL is a loopback URL too and no header shows that the request was forwarded.
    """
    settings = request.app.state.world.settings
    token = request.headers.get("authorization", "").removeprefix("Bearer ")
    if settings.admin_token and hmac.compare_digest(token.encode(), settings.admin_token.encode()):
        return True
    if not settings.is_local or any(is_forwarding_header(name) for name in request.headers):
        return False
    try:
        return request.client is not None and ip_address(request.client.host).is_loopback
    except ValueError:
        return False


def is_forwarding_header(name: str) -> bool:
    """Whether proxies add this header (in lower case) to forwarded requests."""
    return name.startswith("x-forwarded") or name in FORWARDING_HEADERS
