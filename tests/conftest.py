"""Fixtures: one PostgreSQL server per run, one migrated database per process, and a World with a clock that tests set.

Every test creates its own project and deletes nothing, because projects are isolated from each other.
"""

import asyncio
import gc
import os
import shutil
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Generator, Iterator, Sequence
from contextlib import asynccontextmanager, nullcontext
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from operator import itemgetter
from pathlib import Path
from typing import Any, TypeVar
from uuid import uuid4

import httpx
import hypothesis
import pytest
import structlog
from httpx._transports import default
from hypothesis.internal.conjecture import providers
from psycopg.sql import SQL, Composed, Identifier

from postern import world as world_module
from postern.app import HOOKS, WORK, make_app
from postern.cli import GC_THRESHOLD
from postern.identity.customers import signing_keys
from postern.kernel.config import Settings
from postern.kernel.database.embedded import EmbeddedPostgres, reachable_temporary_folder, run_embedded
from postern.kernel.database.migrations import migrate
from postern.kernel.database.statements import Database, open_database
from postern.kernel.due import drain
from postern.kernel.http.call import ANONYMOUS, Call, Origin
from postern.kernel.limits import RateLimiter
from postern.kernel.log import processors
from postern.kernel.values import NO_ID, FixedClock, new_id
from postern.messaging.domains import keys as domain_keys
from postern.messaging.emails import work as emails_work
from postern.platform.accounts import operations as accounts
from postern.platform.accounts.model import DeveloperSignUp
from postern.protocols.mail import dkim
from postern.protocols.mail.templates.rendering import RenderProcesses, RunningProcess
from postern.protocols.saml import certificates
from postern.security import passwords
from postern.world import Hooks, World, open_world
from tests.contract import catalogue_errors, check_response, read_exercised, write_catalogue, write_exercised
from tests.event_data import data_errors
from tests.peers.citus import distributed
from tests.peers.dns_zone import PATIENT, DnsZone, dns_zone
from tests.peers.moto_server import MotoServer, moto_server
from tests.peers.pgbouncer import pgbouncer
from tests.remembered import RememberingHasher, remember_statements, rsa_key, ssl_context, with_key
from tests.workers import in_another_process

# Without a deadline, because the time of an example depends on the load of the machine. The examples of a commit are
# the same in every run, unless POSTERN_FUZZ is set, which makes them random.
hypothesis.settings.register_profile(
    "without-deadline",
    hypothesis.settings.default,
    deadline=None,
    **({} if os.environ.get("POSTERN_FUZZ") else {"derandomize": True, "database": None}),
    suppress_health_check=[hypothesis.HealthCheck.too_slow],
)
hypothesis.settings.load_profile("without-deadline")
if not os.environ.get("POSTERN_FUZZ"):
    # Hypothesis takes constants from the modules of this project that have been imported, so that examples depended on
    # which tests are collected. It also compared thousands of them with each kind of text that a test draws.
    providers._get_local_constants = providers.Constants

# The default of structlog shows the local variables of each traceback, which takes longer than most requests.
structlog.configure(processors=processors(human_readable=True))
_HASHER = passwords._hasher
passwords._hasher = RememberingHasher(_HASHER)
domain_keys.generate_rsa = with_key(dkim._pem)
certificates.new_key = rsa_key
signing_keys.new_rsa_key = rsa_key
default.create_ssl_context = ssl_context

T = TypeVar("T")
SERVER = pytest.StashKey[Any]()
PASSED: set[str] = set()
"""The ids of the tests that passed in this process."""
POOL_SIZE = 8
"""The connections of one process to the database."""
PASSWORD = "correct horse battery staple"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--write-contract", action="store_true", help="write which test covers each operation")
    parser.addoption("--pooler", action="store_true", help="connect to PostgreSQL through PgBouncer")
    parser.addoption("--on", help="`citus`, or the URL of an empty database, for the tests that share one database")


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    if report.when == "call" and report.passed:
        PASSED.add(report.nodeid)


def pytest_configure(config: pytest.Config) -> None:
    if hasattr(config, "workerinput"):
        return
    folder = tempfile.mkdtemp(prefix="postern-run-")
    server_context = run_embedded()
    server = server_context.__enter__()
    config.stash[SERVER] = (server_context, server, folder)
    os.environ["POSTERN_TEST_SERVER"] = server.url("{database}")
    os.environ["POSTERN_TEST_RUN"] = folder


FIRST_IN_ONE_PROCESS = ("tests/packages/test_image.py", "tests/test_chaos")
FIRST_IN_THE_OTHERS = (
    "tests/messaging/emails/test_loopback_internet.py",
    "tests/messaging/campaigns/test_chaos_campaign.py",
    "tests/messaging/automations/test_crash.py",
    "tests/messaging/emails/test_sites.py",
    "tests/platform/webhooks/test_crash.py",
    "tests/packages/test_upgrade.py",
    "tests/packages/test_rolling_upgrade.py",
    "tests/test_openapi.py",
    "tests/test_boot.py",
    "tests/cli/test_backup.py",
    "tests/web/test_dashboard_pages.py",
    "tests/test_guides.py",
    "tests/sdk/test_tutorial_next.py",
)
"""The beginnings of the ids of tests that take long. Containers are made once, and so in one process. The others begin
with tests that need no browser, for which containers would wait."""


def pytest_collectstart(collector: pytest.Collector) -> None:
    """Let each process compile other test modules first.

    All processes collect the same modules. If all begin with the first, each compiles all of them, because no compiled
    module is there yet when it asks for it.
    """
    processes = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
    if isinstance(collector, pytest.Session) and processes > 1 and is_complete_run(collector.config):
        number = int(os.environ["PYTEST_XDIST_WORKER"].removeprefix("gw"))
        root = Path(__file__).parent
        folders = [folder for folder in root.iterdir() if folder.is_dir() and folder.name != "peers"]
        modules = [*root.glob("test_*.py"), *(path for folder in folders for path in folder.rglob("test_*.py"))]
        for path in sorted(modules)[number::processes]:
            import_module(".".join(path.relative_to(root.parent).with_suffix("").parts))


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Collect the tests without the cyclic garbage collector, and let it never look at what is there afterwards.

    Modules and tests live until the end. Their million objects were traversed each time that a test left a quarter as
    many, and again and again while they were made.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.collect()
        gc.freeze()
        gc.set_threshold(GC_THRESHOLD)
        gc.enable()


def is_complete_run(config: pytest.Config) -> bool:
    return [Path(path).name for path in config.args] in ([], ["tests"])


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    processes = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
    items[:] = in_order(items, processes, key=lambda item: item.nodeid)


def in_order(items: Sequence[T], processes: int, key: Callable[[T], str]) -> list[T]:
    """The tests in an order in which each process begins with long ones, so that all processes end at the same time.

    With `--dist worksteal`, each process gets an equal part of the list, and later what others have not begun.
    """
    first: list[list[T]] = [[] for _ in range(processes)]
    others, rest = first[1:] or first, list[T]()
    long: list[tuple[int, T]] = []
    for item in items:
        rank = next((rank for rank, start in enumerate(FIRST_IN_THE_OTHERS) if key(item).startswith(start)), None)
        if key(item).startswith(FIRST_IN_ONE_PROCESS):
            first[0].append(item)
        elif rank is not None:
            long.append((rank, item))
        else:
            rest.append(item)
    for _, item in sorted(long, key=itemgetter(0)):
        min(others, key=len).append(item)
    ordered: list[T] = []
    for number, part in enumerate(first):
        size = (len(items) - len(ordered)) // (processes - number)
        number_of_short = max(0, size - len(part))
        ordered += [*part, *rest[:number_of_short]]
        del rest[:number_of_short]
    return [*ordered, *rest]


FINISHED = (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED)


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    worker = getattr(session.config, "workerinput", {}).get("workerid", "main")
    write_exercised(os.environ["POSTERN_TEST_RUN"], worker)
    if worker != "main":
        return
    exercised = read_exercised(os.environ["POSTERN_TEST_RUN"])
    if session.config.option.write_contract:
        write_catalogue(exercised, PASSED)
    elif (
        exitstatus in FINISHED
        and not session.config.option.keyword
        and not any("::" in arg for arg in session.config.args)
    ):
        # A failed test may be the only one of an operation, so only the tests that passed are compared then.
        is_complete = exitstatus == 0 and is_complete_run(session.config)
        errors = catalogue_errors(exercised, PASSED, is_complete=is_complete)
        if errors:
            print("\nRun script/contract to update the list of tests by operation:\n  " + "\n  ".join(errors))
            session.exitstatus = 1


def pytest_unconfigure(config: pytest.Config) -> None:
    if SERVER in config.stash:
        server_context, _, folder = config.stash[SERVER]
        server_context.__exit__(None, None, None)
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="session")
def database_url(request: pytest.FixtureRequest) -> Iterator[str]:
    """A migrated database for this process. At the end, the events in it must have the data that is documented."""
    import psycopg

    if request.config.option.on:
        with distributed() if request.config.option.on == "citus" else nullcontext() as cluster:
            url = cluster.url if cluster else request.config.option.on
            migrate(url)
            yield url
        return
    worker = os.environ.get("PYTEST_XDIST_WORKER", "main")
    server = os.environ["POSTERN_TEST_SERVER"]
    name = f"test_{worker}_{os.getpid()}"
    with psycopg.connect(server.replace("%7Bdatabase%7D", "postgres"), autocommit=True) as connection:
        connection.execute(f'create database "{name}"')
    url = server.replace("%7Bdatabase%7D", name)
    migrate(url)
    yield url
    assert data_errors(url) == [], "Declare the data of these events in postern/platform/events/payloads.py."


@pytest.fixture
def one_server(database_url: str) -> None:
    """Skip a test about the plans of one PostgreSQL, or about batches that are divided by project on a Citus."""
    import psycopg

    from postern.kernel.database.connections import has_citus

    with psycopg.connect(database_url) as connection:
        if has_citus(connection):
            pytest.skip("concerns only a database on one server")


@pytest.fixture(scope="session")
def moto() -> Iterator[MotoServer]:
    """Amazon SES for this process; tests begin with `reset`."""
    with moto_server() as server:
        yield server


@pytest.fixture(scope="session")
def base_folder() -> Iterator[Path]:
    """A folder for the data folders of started servers, which the account of the embedded database can enter."""
    folder = Path(tempfile.mkdtemp(prefix="boot-", dir=reachable_temporary_folder()))
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)


@pytest.fixture(scope="session")
def first(base_folder: Path) -> Iterator[Any]:
    """A StartedServer of tests/test_boot.py, which the tests of all modules share that do not stop it."""
    from tests.test_boot import first_server

    with first_server(base_folder) as server:
        yield server


@pytest.fixture
def clock() -> FixedClock:
    """A clock that stands still at the time of the test's start until the test moves it."""
    clock = FixedClock()
    clock.start = clock()
    return clock


@pytest.fixture
async def zone() -> AsyncIterator[DnsZone]:
    """The DNS zone that the application queries. It is empty until a test adds records."""
    async with dns_zone() as zone:
        yield zone


@pytest.fixture
def settings(tmp_path: Path, zone: DnsZone) -> Settings:
    return Settings(
        data=tmp_path,
        secret="a secret that all tests of one run have in common",
        database_pool=POOL_SIZE,
        dns=(f"{zone.address}:{zone.port}",),
        send_wait=PATIENT["lookup_timeout"],
    )


@asynccontextmanager
async def connections(url: str, *, pooler_url: str | None = None) -> AsyncIterator[Database]:
    """Connections to a database, which the tests use one after the other."""
    async with open_database(url, pooler_url=pooler_url, size=POOL_SIZE) as database:
        # On a slow machine, the last of 50 concurrent requests waits longer for a connection than users would.
        database._pool.timeout = PATIENT["lookup_timeout"].total_seconds()
        if pooler_url is None:
            await remember_statements(database._pool)
        yield database


@pytest.fixture(scope="session")
async def database(request: pytest.FixtureRequest, database_url: str) -> AsyncIterator[Database]:
    """The connections to this process's database."""
    with pgbouncer(database_url, size=POOL_SIZE) if request.config.option.pooler else nullcontext() as pooler:
        async with connections(database_url, pooler_url=pooler and pooler.url) as database:
            yield database


@pytest.fixture
async def world(
    settings: Settings, database: Database, clock: FixedClock, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[World]:
    @asynccontextmanager
    async def reuse_connections(
        url: str, *, pooler_url: str | None, size: int, hooks: Hooks, name: str | None
    ) -> AsyncIterator[Database]:
        yield Database(database._pool, url, hooks, name)

    with monkeypatch.context() as patch:
        # PostgreSQL plans each statement once per connection, which takes longer than most tests do.
        patch.setattr(world_module, "open_database", reuse_connections)
        opening = open_world(settings, database.url, HOOKS, clock=clock)
        async with opening as world:
            patch.undo()
            world.rendering = RenderProcesses(process_source=_IDLE)
            world.limiter = RateLimiter(_seconds_of(clock))
            resolver = world.resolver._resolver
            resolver.timeout, resolver.lifetime = (timeout.total_seconds() for timeout in PATIENT.values())
            world.outbound._total = world.outbound._connect = PATIENT["lookup_timeout"].total_seconds()
            _BUILT["first_id"] = new_id()
            async with world.db.connection() as connection:
                # The state of mail servers is common to all projects, and tests use the same names.
                await connection.execute("delete from mail_sites")
                await connection.execute("delete from project_sites")
            yield world
    await _wait_for_connections(database)


def _seconds_of(clock: FixedClock) -> Callable[[], float]:
    """The clock of rate limits: these are refilled when the test moves the time, not while a slow machine makes its
    requests. Like every monotonic clock it does not go back, as some tests' time does."""
    latest = 0.0

    def seconds() -> float:
        nonlocal latest
        latest = max(latest, clock().timestamp())
        return latest

    return seconds


async def _wait_for_connections(database: Database) -> None:
    """Wait until all connections are back in the pool: one that a test lost would be missing in later tests."""
    ends = asyncio.get_running_loop().time() + PATIENT["lookup_timeout"].total_seconds()
    while (stats := database._pool.get_stats())["pool_available"] < stats["pool_size"]:
        assert asyncio.get_running_loop().time() < ends, f"A connection was not returned to the pool: {stats}."
        await asyncio.sleep(0.01)


class IdleChildren:
    """Keeps render processes for the next tests, because starting one takes longer than most tests."""

    def __init__(self) -> None:
        self.idle: dict[bool, list[RunningProcess]] = {False: [], True: []}

    def start(self, *, low_priority: bool) -> RunningProcess:
        while self.idle[low_priority]:
            child = self.idle[low_priority].pop()
            if child.process.poll() is None:
                return child
            child.end()
        return RunningProcess(low_priority=low_priority)

    def give_back(self, child: RunningProcess) -> None:
        self.idle[child.low_priority].append(child)


_IDLE = IdleChildren()


PATHS_OF_SERVER = ("/projects/", "/apps/", "/auth/", "/t/", "/account", "/compat/", "/scim/", "/.well-known/", "http")
"""The beginnings of paths that are not relative to the project of a Client."""


@dataclass
class Client:
    """An HTTP client of the application that checks every response against the contract.

    Paths are relative to `base`, unless they begin with one of PATHS_OF_SERVER.
    """

    app: Any
    token: str | None = None
    base: str = ""
    ip: str = "127.0.0.1"
    http: httpx.AsyncClient = field(init=False)

    def __post_init__(self) -> None:
        transport = httpx.ASGITransport(app=self.app, raise_app_exceptions=False, client=(self.ip, 40_000))
        self.http = httpx.AsyncClient(transport=transport, base_url="http://postern.test")

    async def request(self, method: str, path: str, **kwargs: Any) -> httpx.Response:
        headers = dict(kwargs.pop("headers", {}) or {})
        if self.token is not None:
            headers.setdefault("authorization", f"Bearer {self.token}")
        path = path if path.startswith(PATHS_OF_SERVER) else self.base + path
        response = await in_another_process(self.http.request(method, path, headers=headers, **kwargs))
        check_response(method, response.request.url.path, response.status_code, response.headers, response.content)
        return response

    async def get(self, path: str, **kwargs: Any) -> httpx.Response:
        return await self.request("GET", path, **kwargs)

    async def post(self, path: str, json: Any = None, **kwargs: Any) -> httpx.Response:
        return await self.request("POST", path, json=json, **kwargs)

    async def patch(self, path: str, json: Any = None, **kwargs: Any) -> httpx.Response:
        return await self.request("PATCH", path, json=json, **kwargs)

    async def put(self, path: str, json: Any = None, **kwargs: Any) -> httpx.Response:
        return await self.request("PUT", path, json=json, **kwargs)

    async def delete(self, path: str, json: Any = None, **kwargs: Any) -> httpx.Response:
        return await self.request("DELETE", path, json=json, **kwargs)


@dataclass
class Tenant:
    """A project of a fresh account. `client` uses a live secret key, `developer` the access token of the owner.

    Paths that do not begin with one of PATHS_OF_SERVER are relative to the project.
    """

    id: str
    account_id: str
    email: str
    client: Client
    developer: Client
    secret_key: str

    async def key(self, *permissions: str, **fields: Any) -> Client:
        """Create an API key with these permissions and fields (`type="PUBLISHABLE"`); returns a client that uses it."""
        body = {"name": "narrow", **({"permissions": list(permissions)} if permissions else {}), **fields}
        created = await self.developer.post("/api-keys", body)
        assert created.status_code == 201, created.text
        return Client(self.client.app, created.json()["key"], self.client.base)


_BUILT: dict[str, Any] = {}
"""The application of this process. It is built once, and gets the World of each test."""


@pytest.fixture
def app(world: World) -> Any:
    if "app" in _BUILT:
        _BUILT["app"].switch_world(world)
    else:
        _BUILT["app"] = make_app(world)
    return _BUILT["app"]


@pytest.fixture
def stranger(app: Any) -> Client:
    """A client without a credential."""
    return Client(app)


@pytest.fixture
def computed_hashes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every password is hashed and checked anew, as the service does it; see tests/remembered.py."""
    monkeypatch.setattr(passwords, "_hasher", _HASHER)


@pytest.fixture
def new_project(app: Any, world: World) -> Callable[[], Awaitable[Tenant]]:
    """A function that creates an account with a project. The e-mail address of the account is verified."""

    async def make() -> Tenant:
        email = f"dev-{uuid4().hex[:12]}@example.com"
        call = Call(
            world, world.db, ANONYMOUS, world.clock(), "", Origin("127.0.0.1", f"python-httpx/{httpx.__version__}")
        )
        sign_up = DeveloperSignUp(email=email, password=PASSWORD, name="Ada")
        signed_up = await accounts.open_account(call, sign_up, email_verified=True)
        project = signed_up.projects[0]
        base = f"/projects/{project.id}"
        developer = Client(app, signed_up.access_token, base)
        created = await developer.post("/api-keys", {"name": "server", "type": "SECRET"})
        assert created.status_code == 201, created.text
        key = created.json()["key"]
        return Tenant(str(project.id), str(project.account_id), email, Client(app, key, base), developer, key)

    return make


@pytest.fixture
async def project(new_project: Callable[[], Awaitable[Tenant]]) -> Tenant:
    return await new_project()


@pytest.fixture
async def run_due_work(
    world: World, database: Database, monkeypatch: pytest.MonkeyPatch
) -> Callable[[], Awaitable[int]]:
    """A function that does all work that is due now, as a worker would, but none that earlier tests have left.

    It returns when all of it is done: no deliveries go on in the background, unless the test changes BATCH_SECONDS.
    It also waits for what requests and the work itself start in the background, for example the transmission of a
    mail with a code: a worker finds nothing to do for a mail that is being transmitted.
    """
    monkeypatch.setattr(emails_work, "BATCH_SECONDS", PATIENT["lookup_timeout"].total_seconds())
    async with database._pool.connection() as connection:
        await connection.execute(_forget_all_due(), {"first": _BUILT["first_id"], "nil": NO_ID})

    async def run() -> int:
        processed, in_round = 0, 1
        while in_round:
            await world.run_in_background.wait(emails_work.BATCH_SECONDS)
            in_round = await drain(world, WORK)
            processed += in_round
        return processed

    return run


_FORGET_DUE = SQL(
    "update {table} set due_at = null where due_at is not null and {partition} < %(first)s and {partition} <> %(nil)s"
)
_DELETE_DUE = SQL("delete from {table} where due_at is not null and {partition} < %(first)s and {partition} <> %(nil)s")
_DUE_WHILE_WAITING = {"automation_runs", "webhook_deliveries"}
"""Tables whose rows have a status that needs a time."""


@cache
def _forget_all_due() -> Composed:
    """One statement for all tables of work, because a third of the tests run it."""
    changes = [
        (_DELETE_DUE if table in _DUE_WHILE_WAITING else _FORGET_DUE).format(
            table=Identifier(table), partition=Identifier(partition)
        )
        for table, partition in {work.table: work.partition_column for work in WORK}.items()
    ]
    named = [SQL("{} as ({})").format(Identifier(f"change_{n}"), change) for n, change in enumerate(changes)]
    return SQL("with {} select").format(SQL(", ").join(named))


__all__ = ["EmbeddedPostgres"]
