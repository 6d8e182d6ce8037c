"""The instance itself: is it alive, is it ready, what does it count, and what can be called."""

import asyncio
import hmac
import shutil
from collections.abc import Sequence
from datetime import timedelta
from ipaddress import ip_address
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
from litestar import Request, Response, get
from litestar.response import Stream
from litestar.static_files import create_static_files_router  # pyright: ignore[reportUnknownVariableType]
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest
from psycopg import OperationalError
from psycopg_pool import PoolTimeout

from postern import instance_store
from postern.examples import EXAMPLES
from postern.kernel.config import Settings
from postern.kernel.database import migrations
from postern.kernel.database.statements import Database
from postern.kernel.due import Work, longest_wait
from postern.kernel.http.openapi import document
from postern.kernel.http.operation import Operation, RawRequest
from postern.kernel.http.problems import Forbidden
from postern.kernel.values import to_json
from postern.messaging.domains.zone import zone_lines
from postern.reference import REFERENCE
from postern.security.secrets import Secrets, WrongMasterKey
from postern.web.pages import SCRIPTED, as_response, page

if TYPE_CHECKING:
    from postern.world import World

HEARTBEAT = timedelta(seconds=5)
"""How often a worker says that it is alive."""

SILENCE = timedelta(seconds=30)
"""After how much silence a worker counts as gone."""

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
"""Headers by which a proxy says that it passes a request on, besides `X-Forwarded-*`."""
DOCS_POLICY = {**SCRIPTED, "style-src": "'unsafe-inline'", "img-src": "data:", "font-src": "'self'"}
"""What Swagger UI needs beyond our own pages."""


class AdminTokenMissing(Forbidden):
    """Send `Authorization: Bearer` with POSTERN_ADMIN_TOKEN: only this machine may ask without it, and not by proxy."""


async def check_master_key(db: Database, secrets: Secrets) -> None:
    """Refuse to run with another master key than the one the database was begun with. Raises WrongMasterKey."""
    key_check = secrets.key_check()
    if not hmac.compare_digest(await instance_store.claim_instance(db, key_check=key_check), key_check):
        raise WrongMasterKey


class ReadinessCheck(msgspec.Struct):
    """One thing that readiness depends on."""

    ok: bool
    detail: str


async def readiness(request: RawRequest) -> dict[str, ReadinessCheck]:
    """What /readyz looks at: the database, its migrations, and whether a worker is alive."""
    world = request.app.state.world
    try:
        async with world.db.connection() as connection:
            pending = await migrations.pending(connection)
        seen_at = await instance_store.last_heartbeat(world.db)
    except Exception as error:  # Whatever is wrong with the database, the answer is "not ready".
        return {"database": ReadinessCheck(False, type(error).__name__)}
    alive = seen_at is not None and world.clock() - seen_at < SILENCE
    return {
        "database": ReadinessCheck(True, "answers"),
        "migrations": ReadinessCheck(not pending, f"{len(pending)} pending" if pending else "up to date"),
        "disk": await asyncio.to_thread(_disk, world.settings),
        "worker": ReadinessCheck(alive, "alive" if alive else "no worker has reported within 30 seconds"),
    }


def _disk(settings: Settings) -> ReadinessCheck:
    """Whether there is room where the data folder is: a full disk stops the database in the middle of its work."""
    folder = next((each for each in (settings.data, *settings.data.parents) if each.exists()), None)
    free = shutil.disk_usage(folder).free // 1_000_000 if folder else 0
    return ReadinessCheck(free >= settings.free_space, f"{free:,} MB free; {settings.free_space:,} MB are needed")


async def measure(world: "World", works: Sequence[Work[Any]]) -> bytes:
    """What /metrics says beside the counters of this process: is the database there, who works, and what waits.

    The longest wait is the figure to watch: it grows when there are too few workers.
    """
    lines = [
        "# HELP postern_database_up Whether the database answers.",
        "# TYPE postern_database_up gauge",
    ]
    try:
        alive = await instance_store.count_workers(world.db, since=world.clock() - SILENCE)
        waits = [(work.name, await longest_wait(world.db, work, world.clock())) for work in works]
    except (OperationalError, PoolTimeout):
        return "\n".join([*lines, "postern_database_up 0", ""]).encode()
    lines += [
        "postern_database_up 1",
        "# HELP postern_workers Workers that have reported within 30 seconds.",
        "# TYPE postern_workers gauge",
        f"postern_workers {alive}",
        "# HELP postern_due_seconds How long the first due record has waited for a worker.",
        "# TYPE postern_due_seconds gauge",
        *(f'postern_due_seconds{{work="{name}"}} {wait.total_seconds():.3f}' for name, wait in waits),
    ]
    return "\n".join([*lines, ""]).encode()


def routes(operations: Sequence[Operation[Any, Any]], works: Sequence[Work[Any]]) -> list[Any]:
    """The addresses that are about the instance, not about a project."""
    openapi = to_json(document(operations, EXAMPLES, REFERENCE))

    @get("/healthz", sync_to_thread=False)
    def healthz() -> dict[str, str]:
        return {"status": "ok"}

    @get("/readyz")
    async def readyz(request: Request[Any, Any, Any]) -> Response[bytes]:
        parts = await readiness(request)
        ready = all(part.ok for part in parts.values())
        body = to_json({"status": "ready" if ready else "not ready", "parts": parts})
        return Response(body, status_code=200 if ready else 503, media_type="application/json")

    @get("/metrics")
    async def metrics(request: Request[Any, Any, Any]) -> Response[bytes]:
        if not _may_scrape(request):
            raise AdminTokenMissing
        instance = await measure(request.app.state.world, works)
        # As a header, because to a media type of text the framework adds a charset, which this one has.
        return Response(generate_latest() + instance, headers={"Content-Type": CONTENT_TYPE_LATEST})

    @get("/zone", sync_to_thread=False)
    def zone(request: Request[Any, Any, Any]) -> Response[bytes] | Stream:
        if not _may_scrape(request):
            raise AdminTokenMissing
        return Stream(zone_lines(request.app.state.world), media_type="text/dns")

    @get("/openapi.json", sync_to_thread=False)
    def openapi_json() -> Response[bytes]:
        return Response(openapi, media_type="application/json")

    @get("/docs", sync_to_thread=False)
    def docs() -> Response[bytes]:
        return as_response(page("docs.html", policy=DOCS_POLICY))

    assets = create_static_files_router(
        path="/docs/assets", directories=[Path(__file__).parent / "web" / "assets" / "swagger-ui"], name="docs-assets"
    )
    own_assets = create_static_files_router(
        path="/assets", directories=[Path(__file__).parent / "web" / "assets"], name="assets"
    )
    return [own_assets, healthz, readyz, metrics, zone, openapi_json, docs, assets]


def _may_scrape(request: RawRequest) -> bool:
    """Whether the request has the admin token, or comes from this very machine with no proxy in between.

    A proxy on this machine makes everybody's requests come from loopback, so loopback counts only as long as the base
    URL is loopback too and no header says that the request was passed on.
    """
    settings = request.app.state.world.settings
    given = request.headers.get("authorization", "").removeprefix("Bearer ")
    if settings.admin_token and hmac.compare_digest(given.encode(), settings.admin_token.encode()):
        return True
    if not settings.is_local or any(is_forwarding_header(name) for name in request.headers):
        return False
    try:
        return request.client is not None and ip_address(request.client.host).is_loopback
    except ValueError:
        return False


def is_forwarding_header(name: str) -> bool:
    """Whether a header, in lower case, is one that proxies add to what they pass on."""
    return name.startswith("x-forwarded") or name in FORWARDING_HEADERS
