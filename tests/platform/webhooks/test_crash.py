"""Workers are killed at random times; nevertheless every event is delivered, always with the same id."""

import asyncio
import json
import signal
import subprocess
import sys
from collections import Counter
from random import Random
from uuid import UUID

import pytest

DELIVERIES = 10_000
KILLS = 4
END_SECONDS = 180


@pytest.fixture
def start(settings, database_url):
    """A function that starts a worker process; all are killed after the test."""
    processes = []

    def start_worker():
        command = [
            sys.executable,
            "-m",
            "tests.platform.webhooks.worker",
            str(settings.data),
            database_url,
            settings.secret,
        ]
        process = subprocess.Popen(command, stdout=subprocess.PIPE)
        processes.append(process)
        assert process.stdout
        process.stdout.readline()
        return process

    yield start_worker
    for process in processes:
        process.kill()
        process.wait()
        process.stdout.close()


@pytest.mark.chaos
async def test_every_event_is_delivered_although_workers_are_killed(
    subscribe, record_events, receiver, start, world, project, tmp_path
):
    random_numbers = Random(20260131)
    log = tmp_path / "received.jsonl"
    command = [sys.executable, "-m", "tests.peers.http_receiver", "--log", str(log), "--quick"]
    peer = subprocess.Popen(command, stdout=subprocess.PIPE)
    assert peer.stdout
    port = int(peer.stdout.readline())
    subscriptions = [await subscribe("custom.*", url=f"http://127.0.0.1:{port}/{number}") for number in range(4)]
    ids = []
    for _ in range(DELIVERIES // len(subscriptions) // 500):
        ids += await record_events("order.placed", 500)
    worker = await asyncio.to_thread(start)
    for number in range(KILLS):
        # Once in each fifth of the deliveries, so that every worker is at work when it is killed.
        count = (number + random_numbers.uniform(0.2, 0.8)) * DELIVERIES / (KILLS + 1)
        await until(lambda count=count: log.read_bytes().count(b"\n") >= count)
        worker.send_signal(signal.SIGKILL)
        await asyncio.to_thread(worker.wait)
        # The deliveries that it had claimed are leased for a minute; the test does not wait for that.
        await _expire_leases(world, project.id)
        worker = await asyncio.to_thread(start)
    async with asyncio.timeout(END_SECONDS):
        while await _pending(world, project.id):
            await asyncio.sleep(0.1)
    peer.terminate()
    peer.wait()
    peer.stdout.close()
    received = [json.loads(line) for line in log.read_text().splitlines()]
    for number in range(len(subscriptions)):
        id_counts = Counter(
            request["headers"]["webhook-id"] for request in received if request["target"] == f"/{number}"
        )
        assert set(id_counts) == set(ids), "each event at least once, with its own id"
    assert len(received) - DELIVERIES <= KILLS * 100 * len(subscriptions), (
        "at most the deliveries claimed by killed workers are repeated"
    )
    async with world.db.connection() as connection:
        query = "select status, attempts, count(*) from webhook_deliveries where project_id = %s group by 1, 2"
        rows = await (await connection.execute(query, (UUID(project.id),))).fetchall()
    assert rows == [("SUCCEEDED", 1, DELIVERIES)]


async def until(condition):
    async with asyncio.timeout(END_SECONDS):
        while not condition():
            await asyncio.sleep(0.02)


async def _expire_leases(world, project_id):
    async with world.db.connection() as connection:
        await connection.execute(
            "update webhook_deliveries set due_at = now() where project_id = %s and due_at > now()",
            (UUID(project_id),),
        )


async def _pending(world, project_id):
    async with world.db.connection() as connection:
        query = "select count(*) from webhook_deliveries where project_id = %s and status = 'PENDING'"
        return (await (await connection.execute(query, (UUID(project_id),))).fetchone())[0]
