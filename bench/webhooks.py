"""The rate at which one worker delivers webhooks to endpoints on loopback, compared with HTTP clients alone.

Run: python -m bench.webhooks

PostgreSQL (durable), the worker, the receiver and this program share the machine.
"""

import asyncio
import json
import subprocess
import sys
import tempfile
import time
from datetime import datetime
from pathlib import Path
from typing import Any
from uuid import UUID

import httpx
import uvloop

from postern.app import HOOKS
from postern.kernel.config import Settings
from postern.kernel.database.embedded import run_embedded
from postern.kernel.database.migrations import migrate
from postern.kernel.outbound.client import OutboundResponse
from postern.kernel.outbound.ssrf import read_networks
from postern.kernel.values import new_id
from postern.platform.events import operations as events
from postern.platform.webhooks import store
from postern.platform.webhooks.model import StoredWebhook
from postern.security.signatures import new_webhook_secret
from postern.world import World, open_world

SECRET = "a secret for the length of one benchmark"
DELIVERIES = 20_000
ENDPOINTS = 8
LOOPBACK = tuple(read_networks("127.0.0.0/8"))
BODY = b'{"type":"email.delivered","timestamp":"2026-01-31T12:00:00.000Z","data":{' + b'"k":"v",' * 40 + b'"z":1}}'
EVENTS_PER_SECOND, SECONDS = 500, 10
FAILING = ["?mode=silent", "?delay=2", "?status=302&location=http://169.254.169.254/", "?status=410"]


class Receiver:
    """An HTTP receiver as a process; with `log` it records every request."""

    def __init__(self, log: Path | None = None) -> None:
        command = [sys.executable, "-m", "tests.peers.http_receiver"]
        self._process = subprocess.Popen(
            [*command, *(["--quick", "--log", str(log)] if log else [])], stdout=subprocess.PIPE
        )
        assert self._process.stdout
        self.port = int(self._process.stdout.readline())

    def close(self) -> None:
        self._process.terminate()
        self._process.wait()


async def call_rate(count: int, concurrent: int, call) -> float:
    """Calls per second with this number of concurrent calls."""
    remaining = iter(range(count))

    async def work() -> None:
        for _ in remaining:
            await call()

    began = time.perf_counter()
    await asyncio.gather(*(work() for _ in range(concurrent)))
    return count / (time.perf_counter() - began)


async def limits(world: World, port: int) -> None:
    """Measure requests with Postern's outbound client and with httpx, without webhooks."""
    url = f"http://127.0.0.1:{port}/bare"

    async def post_with_outbound() -> None:
        response = await world.outbound.post(url, BODY, headers={"Content-Type": "application/json"})
        assert isinstance(response, OutboundResponse)
        assert response.ok

    show("limit: the outbound client alone", await call_rate(20_000, 40, post_with_outbound))
    async with httpx.AsyncClient(trust_env=False) as client:

        async def post_with_httpx() -> None:
            assert (await client.post(url, content=BODY)).is_success

        show("limit: httpx alone", await call_rate(2_000, 10, post_with_httpx))


def show(label: str, rate: float) -> None:
    print(f"{label:<50} {rate:>10,.0f} /s", flush=True)


async def new_project(world: World) -> UUID:
    account, project = new_id(), new_id()
    async with world.db.connection() as connection:
        await connection.execute("insert into accounts values (%s, 'bench', now(), now())", (account,))
        await connection.execute(
            "insert into projects values (%s, %s, 'bench', '{}', now(), now())", (project, account)
        )
    return project


async def subscribe(world: World, project: UUID, url: str, *names: str) -> None:
    webhook = new_id()
    async with world.db.transaction() as tx:
        now = world.clock()
        await store.insert_webhook(
            tx,
            StoredWebhook(
                project_id=project,
                id=webhook,
                url=url,
                events=list(names),
                format="postern",
                description="",
                active=True,
                sealed_secret=world.secrets.seal(new_webhook_secret().encode(), f"webhook:{project}:{webhook}"),
                due_at=now.replace(year=now.year + 1),
                created_at=now,
                updated_at=now,
            ),
        )


async def record_events(world: World, project: UUID, name: str, count: int) -> None:
    """Record this number of events of one name."""
    data: dict[str, Any] = {"recipient": "ada@example.com", "subject": "What happened this week", "transport": "relay"}
    new_events = [events.make_event(project, name, new_id(), world.clock(), **data) for _ in range(count)]
    async with world.db.transaction() as tx:
        await events.record_all(tx, new_events)


async def pending(world: World, project: UUID) -> int:
    """The number of deliveries that were not attempted yet."""
    query = "select count(*) from webhook_deliveries where project_id = %s and status = 'PENDING' and tried = 0"
    async with world.db.connection() as connection:
        row = await (await connection.execute(query, (project,))).fetchone()
        assert row
        return row[0]


async def dispatch(world: World, port: int, folder: str, url: str) -> None:
    """Measure the rate of deliveries of one worker."""
    project = await new_project(world)
    for number in range(ENDPOINTS):
        await subscribe(world, project, f"http://127.0.0.1:{port}/{number}", "*")
    began = time.perf_counter()
    for _ in range(DELIVERIES // ENDPOINTS // 250):
        await record_events(world, project, "email.delivered", 250)
    show("recording events with their deliveries", DELIVERIES / (time.perf_counter() - began))
    worker = start_worker(folder, url)
    began = time.perf_counter()
    while await pending(world, project):
        await asyncio.sleep(0.02)
    show(f"dispatch: one worker, {ENDPOINTS} endpoints", DELIVERIES / (time.perf_counter() - began))
    worker.terminate()
    worker.wait()


async def lag(world: World, port: int, log: Path, folder: str, url: str) -> None:
    """Measure the time from an event to its delivery, while some endpoints fail."""
    project = await new_project(world)
    for number in range(46):
        await subscribe(world, project, f"http://127.0.0.1:{port}/ok/{number}", f"custom.e{number}")
    for query in FAILING:
        await subscribe(world, project, f"http://127.0.0.1:{port}/bad{query}", "custom.e0", "custom.e1")
    worker = start_worker(folder, url)
    before, sent = log.stat().st_size, 0
    began = time.perf_counter()
    while (elapsed := time.perf_counter() - began) < SECONDS:
        due = range(sent, min(int(elapsed * EVENTS_PER_SECOND), sent + 8))
        await asyncio.gather(*(record_events(world, project, f"e{number % 46}", 1) for number in due))
        sent += len(due)
        await asyncio.sleep(0.001)
    await asyncio.sleep(2)
    worker.kill()
    worker.wait()
    with log.open("rb") as file:
        file.seek(before)
        received = [json.loads(line) for line in file]
    lags = sorted(lag_of(request) for request in received if request["target"].startswith("/ok"))
    print(f"{len(lags)} of {sent} events at {sent / SECONDS:.0f}/s to 46 of 50 endpoints, 4 of them failing")
    print(
        "lag p50 {:.0f} ms, p99 {:.0f} ms, max {:.0f} ms".format(
            *(lags[int((len(lags) - 1) * q)] for q in (0.5, 0.99, 1))
        )
    )


def lag_of(request) -> float:
    """Milliseconds from the event to the receipt of its delivery."""
    import base64

    occurred_at = json.loads(base64.b64decode(request["body"]))["timestamp"]
    return (request["at"] - datetime.fromisoformat(occurred_at).timestamp()) * 1000


def start_worker(folder: str, url: str) -> subprocess.Popen[bytes]:
    worker = subprocess.Popen(
        [sys.executable, "-m", "tests.platform.webhooks.worker", folder, url, SECRET], stdout=subprocess.PIPE
    )
    assert worker.stdout
    worker.stdout.readline()
    return worker


async def measure(folder: str, url: str) -> None:
    settings = Settings(data=Path(folder), secret=SECRET, outbound_allow=LOOPBACK)
    log = Path(folder, "received.jsonl")
    quick, logged = Receiver(), Receiver(log)
    try:
        async with open_world(settings, url, HOOKS) as world:
            await limits(world, quick.port)
            await dispatch(world, quick.port, folder, url)
            await lag(world, logged.port, log, folder, url)
    finally:
        quick.close()
        logged.close()


def main() -> None:
    with (
        tempfile.TemporaryDirectory() as folder,
        tempfile.TemporaryDirectory() as data_folder,
        run_embedded(Path(data_folder)) as server,
    ):
        migrate(server.url())
        uvloop.run(measure(folder, server.url()))


if __name__ == "__main__":
    main()
