"""A rolling upgrade under load: migrations are applied, all processes are replaced, and no request fails.

Once from the previous release to this one, and once from this one to a schema in which every table has another column,
as the migrations of the next release may leave it. The clients use the API processes that are ready, as a load balancer
does, and never repeat a request.
"""

import asyncio
import json
import random
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import psycopg

from postern.kernel.database.migrations import migrate, migrations_folder
from tests.conftest import PASSWORD
from tests.packages.conftest import ROOT
from tests.packages.test_upgrade import source_tree
from tests.peers.ports import reserved_port
from tests.peers.whole_server import empty_database
from tests.test_boot import environment

PREVIOUS = "9719e85a259ef20c6ae6eb008b0dee204b4d9c0e"
"""The commit that stands for the previous release as long as no release has been made. Later migrations must add no
column to a table that it reads with `*`: from decision 0129 on, statements name their columns."""
CHECK_SECONDS = 0.05
"""How often the clients check whether an API process is ready."""
SHUTDOWN_DELAY_SECONDS = 3
WAIT_SECONDS = 120
LOAD_SECONDS = 0.3
"""How long the load goes on between two steps."""
CUSTOMERS = 4


@dataclass
class ApiProcess:
    """An API process, and the connections of the clients to it."""

    url: str
    process: asyncio.subprocess.Process
    client: httpx.AsyncClient
    is_ready: bool = False
    is_taken_out: bool = False
    running_requests: int = 0

    async def check(self) -> None:
        """Ask `/readyz` again and again, on new connections."""
        async with httpx.AsyncClient(timeout=20, limits=httpx.Limits(max_keepalive_connections=0)) as client:
            while True:
                try:
                    self.is_ready = (await client.get(f"{self.url}/readyz")).status_code == 200
                except httpx.TransportError:
                    self.is_ready = False
                await asyncio.sleep(CHECK_SECONDS)


@dataclass
class Installation:
    """API processes and workers on one database, and what the clients were told."""

    url: str
    folder: Path
    settings: dict[str, str]
    chance: random.Random = field(default_factory=lambda: random.Random(7))
    apis: list[ApiProcess] = field(default_factory=list[ApiProcess])
    workers: list[asyncio.subprocess.Process] = field(default_factory=list[asyncio.subprocess.Process])
    stack: AsyncExitStack = field(default_factory=AsyncExitStack)
    failures: list[str] = field(default_factory=list[str])
    sends: list[str] = field(default_factory=list[str])
    contacts: list[str] = field(default_factory=list[str])
    sign_ins: int = 0
    project: str = ""
    key: str = ""
    is_over: bool = False

    # Processes -----------------------------------------------------------------------------------------------------

    async def start(self, code: Path, *words: str, **more: str) -> asyncio.subprocess.Process:
        """Start `postern WORDS` of the source tree `code`, with its output in a file."""
        with (self.folder / f"{words[0]}-{time.monotonic_ns()}.log").open("w") as log:
            process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-m", "postern", *words),
                cwd=code,
                env=environment(self.folder, **self.settings, DATABASE_URL=self.url, **more),
                stdout=log,
                stderr=log,
            )
        self.stack.push_async_callback(ended, process)
        return process

    async def start_api(self, code: Path) -> None:
        """Start an API process, and wait until the clients use it."""
        port = self.stack.enter_context(reserved_port()).getsockname()[1]
        process = await self.start(code, "api", POSTERN_PORT=str(port))
        client = await self.stack.enter_async_context(httpx.AsyncClient(timeout=WAIT_SECONDS))
        api = ApiProcess(f"http://127.0.0.1:{port}", process, client)
        checking = asyncio.create_task(api.check())
        self.stack.callback(checking.cancel)
        self.apis.append(api)
        await eventually(lambda: api.is_ready, process)

    async def start_worker(self, code: Path) -> None:
        """Start a worker, and wait until it has reported."""
        worker = await self.start(code, "worker")
        self.workers.append(worker)
        await eventually(lambda: self.count("select count(*) from workers") >= len(self.workers), worker)

    async def replace_apis(self, code: Path, *, by_hand: bool) -> None:
        """Replace each API process by one of `code`. `by_hand`, it gets no request any more before it is stopped."""
        for api in [*self.apis]:
            await self.start_api(code)
            api.is_taken_out = by_hand
            if by_hand:
                await eventually(lambda api=api: not api.running_requests)
            api.process.send_signal(signal.SIGTERM)
            await asyncio.sleep(LOAD_SECONDS)
        replaced, self.apis = self.apis[:2], self.apis[2:]
        assert [await api.process.wait() for api in replaced] == [0, 0]

    async def replace_worker(self, code: Path) -> None:
        """Start a worker of `code`, then stop the old one."""
        await self.start_worker(code)
        old = self.workers.pop(0)
        old.send_signal(signal.SIGTERM)
        assert await old.wait() == 0

    # Clients -------------------------------------------------------------------------------------------------------

    @asynccontextmanager
    async def load(self) -> AsyncIterator[None]:
        """Send requests until the block ends, and then wait for the responses."""
        clients = (self.send, self.send, self.send_batch, self.add_contact, self.sign_in, self.read_logs)
        tasks = [asyncio.create_task(self.repeat(client)) for client in clients]
        try:
            yield
        finally:
            self.is_over = True
            await asyncio.gather(*tasks)

    async def repeat(self, client: Callable[[int], Awaitable[None]]) -> None:
        turn = 0
        while not self.is_over:
            await client(turn)
            turn += 1
            await asyncio.sleep(0.05)

    async def call(self, method: str, path: str, body: Any = None, token: str = "") -> Any:
        """Send a request once, to one of the API processes that are ready. Returns None if it failed."""
        ready = [api for api in self.apis if api.is_ready and not api.is_taken_out]
        if not ready:
            self.failures.append("no API process is ready")
            await asyncio.sleep(CHECK_SECONDS)
            return None
        api = self.chance.choice(ready)
        api.running_requests += 1
        try:
            response = await api.client.request(
                method,
                f"{api.url}/projects/{self.project}{path}",
                json=body,
                headers={"Authorization": f"Bearer {token or self.key}"},
            )
        except httpx.HTTPError as error:
            self.failures.append(f"{method} {path}: {error!r}")
            return None
        finally:
            api.running_requests -= 1
        if not response.is_success:
            self.failures.append(f"{method} {path}: {response.status_code} {response.text}")
            return None
        return response.json()

    async def send(self, turn: int) -> None:
        if sent := await self.call("POST", "/emails", mail(f"single {turn}")):
            self.sends.append(sent["id"])
            await self.call("GET", f"/emails/logs/{sent['id']}")

    async def send_batch(self, turn: int) -> None:
        body = {"emails": [mail(f"batch {turn}") for _ in range(10)]}
        if sent := await self.call("POST", "/emails/batch", body):
            self.sends += [item["id"] for item in sent["data"]]

    async def add_contact(self, turn: int) -> None:
        email = f"contact-{turn}@example.com"
        if await self.call("POST", "/contacts", {"email": email, "attributes": {"turn": turn}}):
            self.contacts.append(email)
            await self.call("GET", f"/contacts?q=contact-{turn}@")

    async def sign_in(self, turn: int) -> None:
        person = {"email": f"customer{turn % CUSTOMERS}@example.com", "password": PASSWORD}
        if session := await self.call("POST", "/auth/sign-in", person):
            self.sign_ins += 1
            me = await self.call("GET", "/auth/me", token=session["accessToken"])
            assert me is None or me["email"] == person["email"]
            await self.call("POST", "/auth/token/refresh", {"refreshToken": session["refreshToken"]})
        await asyncio.sleep(0.1)

    async def read_logs(self, _: int) -> None:
        await self.call("GET", "/emails/logs?limit=20")
        await self.call("GET", "/audiences")
        await self.call("GET", "/customers?limit=5")

    # Results -------------------------------------------------------------------------------------------------------

    def count(self, query: str) -> int:
        with psycopg.connect(self.url, autocommit=True) as connection:
            row = connection.execute(query.encode()).fetchone()
        assert row is not None
        return row[0]

    async def assert_nothing_lost(self) -> None:
        """Every acknowledged e-mail was delivered exactly once, and every acknowledged contact is there."""
        assert not self.failures, f"{len(self.failures)} requests failed, such as {self.failures[:3]}"
        assert min(len(self.sends), len(self.contacts), self.sign_ins) > 0
        await eventually(lambda: not self.count("select count(*) from sends where due_at is not null"))
        with psycopg.connect(self.url) as connection:
            states = connection.execute("select id::text, status, attempt from sends").fetchall()
            captured = connection.execute("select send_id::text from captured_messages").fetchall()
            contacts = connection.execute("select email from contacts where email like 'contact-%'").fetchall()
        assert sorted(send_id for send_id, *_ in states) == sorted(self.sends)
        assert Counter((status, attempt) for _, status, attempt in states) == {("DELIVERED", 1): len(self.sends)}
        assert Counter(send_id for (send_id,) in captured) == dict.fromkeys(self.sends, 1)
        assert sorted(email for (email,) in contacts) == sorted(self.contacts)


def mail(subject: str) -> dict[str, Any]:
    return {"to": ["ada@example.com"], "from": "a@acme.example", "subject": subject, "html": "<p>Hello</p>"}


async def eventually(condition: Callable[[], bool], process: asyncio.subprocess.Process | None = None) -> None:
    deadline = time.monotonic() + WAIT_SECONDS
    while not await asyncio.to_thread(condition):
        assert process is None or process.returncode is None, "the process ended"
        assert time.monotonic() < deadline
        await asyncio.sleep(0.05)


async def ended(process: asyncio.subprocess.Process) -> None:
    """End a process that a failed test has left."""
    if process.returncode is None:
        process.kill()
        await process.wait()


@asynccontextmanager
async def installation(code: Path, folder: Path) -> AsyncIterator[Installation]:
    """Two API processes and a worker of the source tree `code`, with a project and customers."""
    settings = {
        "POSTERN_SECRET": "s" * 40,
        "POSTERN_BASE_URL": "http://postern.example",
        "POSTERN_SHUTDOWN_DELAY": str(SHUTDOWN_DELAY_SECONDS),
    }
    with empty_database() as url:
        await asyncio.to_thread(migrate, url, folder=code / "migrations")
        running = Installation(url, folder, settings)
        async with running.stack:
            await running.start_worker(code)
            await running.start_api(code)
            await running.start_api(code)
            created = await asyncio.to_thread(
                subprocess.run,
                [sys.executable, "-m", "postern", "bootstrap", "--json"],
                cwd=code,
                env=environment(folder, **settings, DATABASE_URL=url),
                capture_output=True,
                check=True,
            )
            credentials = json.loads(created.stdout)
            running.project, running.key = credentials["projectId"], credentials["secretKey"]
            for number in range(CUSTOMERS):
                person = {"email": f"customer{number}@example.com", "password": PASSWORD, "emailVerified": True}
                assert await running.call("POST", "/customers", person), running.failures
            yield running


async def test_the_previous_release_is_replaced_without_a_failed_request(tmp_path: Path) -> None:
    """Its API processes do not tell clients that they stop, so they are taken out first."""
    previous = source_tree(tmp_path / "previous", PREVIOUS)
    async with installation(previous, tmp_path) as running:
        async with running.load():
            await asyncio.sleep(LOAD_SECONDS)
            assert await asyncio.to_thread(migrate, running.url) != []
            await asyncio.sleep(LOAD_SECONDS)
            await running.replace_apis(ROOT, by_hand=True)
            await running.replace_worker(ROOT)
        await running.assert_nothing_lost()


async def test_this_release_is_replaced_on_the_schema_of_the_next_one_without_a_failed_request(tmp_path: Path) -> None:
    """Every table gets a column. Clients learn only from `/readyz` which API processes stop."""
    folder = tmp_path / "migrations"
    shutil.copytree(migrations_folder(), folder)
    async with installation(ROOT, tmp_path) as running:
        with psycopg.connect(running.url) as connection:
            rows = connection.execute(
                "select relname from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace order by 1"
            ).fetchall()
        for number, (table,) in enumerate(rows, 9001):
            text = f"alter table {table} add column new_column integer not null default 1;"
            (folder / f"{number}_add.sql").write_text(text)
        async with running.load():
            await asyncio.sleep(LOAD_SECONDS)
            assert len(await asyncio.to_thread(migrate, running.url, folder=folder)) == len(rows)
            await asyncio.sleep(LOAD_SECONDS)
            await running.replace_apis(ROOT, by_hand=False)
            await running.replace_worker(ROOT)
        await running.assert_nothing_lost()
