"""One PostgreSQL per run, one migrated database per process, and a world that a test may move.

Every test makes its own project and cleans nothing up: tenancy is the isolation.
"""

import os
import shutil
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import hypothesis
import pytest

from postern.app import HOOKS, WORK, make_app
from postern.kernel.clock import FixedClock
from postern.kernel.config import Settings
from postern.kernel.database.embedded import EmbeddedPostgres, run_embedded
from postern.kernel.database.migrations import migrate
from postern.kernel.due import drain
from postern.kernel.http.call import NOBODY, Call, Origin
from postern.platform.accounts.model import DeveloperSignUp
from postern.platform.accounts.operations import open_account
from postern.protocols.mail.templates.rendering import RenderChild, RenderProcesses
from postern.world import World, open_world
from tests.contract import check_response, disagreements, read_exercised, write_catalogue, write_exercised
from tests.peers.dns_zone import PATIENT, DnsZone, dns_zone
from tests.workers import in_another_process

# How long an example takes says how busy the machine is, and nothing about what is tested. The same commit is judged
# the same way every time; POSTERN_FUZZ goes looking for what nobody has thought of.
hypothesis.settings.register_profile(
    "patient",
    hypothesis.settings.default,
    deadline=None,
    **({} if os.environ.get("POSTERN_FUZZ") else {"derandomize": True, "database": None}),
    suppress_health_check=[hypothesis.HealthCheck.too_slow],
)
hypothesis.settings.load_profile("patient")

SERVER = pytest.StashKey[Any]()
PASSED: set[str] = set()
PASSWORD = "correct horse battery staple"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--write-contract", action="store_true", help="name the test that shows each operation")


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    if report.when == "call" and report.passed:
        PASSED.add(report.nodeid)


def pytest_configure(config: pytest.Config) -> None:
    if hasattr(config, "workerinput"):
        return
    folder = tempfile.mkdtemp(prefix="postern-run-")
    running = run_embedded()
    server = running.__enter__()
    config.stash[SERVER] = (running, server, folder)
    os.environ["POSTERN_TEST_SERVER"] = server.url("{database}")
    os.environ["POSTERN_TEST_RUN"] = folder


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    worker = getattr(session.config, "workerinput", {}).get("workerid", "main")
    write_exercised(os.environ["POSTERN_TEST_RUN"], worker)
    whole = not session.config.args or [str(Path(each).name) for each in session.config.args] == ["tests"]
    if worker != "main":
        return
    exercised = read_exercised(os.environ["POSTERN_TEST_RUN"])
    if session.config.option.write_contract:
        write_catalogue(exercised, PASSED)
    elif exitstatus == 0 and whole and not session.config.option.keyword:
        wrong = disagreements(exercised, PASSED)
        if wrong:
            print("\nscript/contract writes anew which test shows which operation:\n  " + "\n  ".join(wrong))
            session.exitstatus = 1


def pytest_unconfigure(config: pytest.Config) -> None:
    if SERVER in config.stash:
        running, _, folder = config.stash[SERVER]
        running.__exit__(None, None, None)
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="session")
def database_url(request: pytest.FixtureRequest) -> str:
    """A migrated database for this process."""
    import psycopg

    worker = os.environ.get("PYTEST_XDIST_WORKER", "main")
    server = os.environ["POSTERN_TEST_SERVER"]
    name = f"test_{worker}_{os.getpid()}"
    with psycopg.connect(server.replace("%7Bdatabase%7D", "postgres"), autocommit=True) as connection:
        connection.execute(f'create database "{name}"')
    url = server.replace("%7Bdatabase%7D", name)
    migrate(url)
    return url


@pytest.fixture
def clock() -> FixedClock:
    """A clock that stands at the real time until a test moves it."""
    clock = FixedClock()
    clock.start = clock()
    return clock


@pytest.fixture
async def zone() -> AsyncIterator[DnsZone]:
    """The DNS as the application sees it: empty until a test fills it."""
    async with dns_zone() as zone:
        yield zone


@pytest.fixture
def settings(tmp_path: Path, zone: DnsZone) -> Settings:
    return Settings(
        data=tmp_path,
        secret="a secret that all tests of one run have in common",
        database_pool=8,
        dns=(f"{zone.address}:{zone.port}",),
        send_wait=PATIENT["lookup_timeout"],
    )


@pytest.fixture
async def world(settings: Settings, database_url: str, clock: FixedClock) -> AsyncIterator[World]:
    async with open_world(settings, database_url, HOOKS, clock=clock) as world:
        world.rendering = RenderProcesses(children=_IDLE)
        resolver = world.resolver._resolver
        resolver.timeout, resolver.lifetime = (each.total_seconds() for each in PATIENT.values())
        world.outbound._total = world.outbound._connect = PATIENT["lookup_timeout"].total_seconds()
        yield world


class IdleChildren:
    """Render processes that go from test to test: starting one takes longer than most tests."""

    def __init__(self) -> None:
        self.idle: dict[bool, list[RenderChild]] = {False: [], True: []}

    def start(self, *, low: bool) -> RenderChild:
        while self.idle[low]:
            child = self.idle[low].pop()
            if child.process.poll() is None:
                return child
            child.end()
        return RenderChild(low=low)

    def give_back(self, child: RenderChild) -> None:
        self.idle[child.low].append(child)


_IDLE = IdleChildren()


@dataclass
class Client:
    """Speaks HTTP to the application and holds every answer to the contract."""

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
        path = (
            path if path.startswith(("/projects/", "/apps/", "/auth/", "/t/", "/account", "http")) else self.base + path
        )
        answer = await in_another_process(self.http.request(method, path, headers=headers, **kwargs))
        check_response(method, answer.request.url.path, answer.status_code, answer.headers, answer.content)
        return answer

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
    """A project of a fresh account. `client` speaks with a live secret key, `developer` as the owner.

    Paths that do not begin with /projects, /apps, /auth, /account or /t are relative to the project.
    """

    id: str
    account_id: str
    email: str
    client: Client
    developer: Client
    secret_key: str

    async def key(self, *permissions: str, **fields: Any) -> Client:
        """A client with a key of its own: of these permissions, or TEST, or PUBLISHABLE …"""
        body = {"name": "narrow", **({"permissions": list(permissions)} if permissions else {}), **fields}
        made = await self.developer.post("/api-keys", body)
        assert made.status_code == 201, made.text
        return Client(self.client.app, made.json()["key"], self.client.base)


_BUILT: dict[str, Any] = {}
"""The application of this process: built once, moved from test to test."""


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
def new_project(app: Any, world: World) -> Callable[[], Awaitable[Tenant]]:
    """Makes a project of an account of its own, as the operator's console does: its address counts as proven."""

    async def make() -> Tenant:
        email = f"dev-{uuid4().hex[:12]}@example.com"
        call = Call(
            world, world.db, NOBODY, world.clock(), "", Origin("127.0.0.1", f"python-httpx/{httpx.__version__}")
        )
        up = await open_account(call, DeveloperSignUp(email=email, password=PASSWORD, name="Ada"), proven=True)
        project = up.projects[0]
        base = f"/projects/{project.id}"
        developer = Client(app, up.access_token, base)
        made = await developer.post("/api-keys", {"name": "server", "type": "SECRET"})
        assert made.status_code == 201, made.text
        key = made.json()["key"]
        return Tenant(str(project.id), str(project.account_id), email, Client(app, key, base), developer, key)

    return make


@pytest.fixture
async def project(new_project: Callable[[], Awaitable[Tenant]]) -> Tenant:
    return await new_project()


@pytest.fixture
def work_off(world: World) -> Callable[[], Awaitable[int]]:
    """Does everything that is due now, as a worker would."""

    async def run() -> int:
        return await drain(world, WORK)

    return run


__all__ = ["EmbeddedPostgres"]
