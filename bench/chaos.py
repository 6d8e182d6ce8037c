"""Kill all processes at random times: no acknowledged message is lost, and every duplicate is recorded.

Run: python -m bench.chaos [--messages 20000] [--posts 2000] [--kills 20] [--seed 7]

Clients retry POSTs with idempotency keys while the API is killed. Queued messages are sent to a sink that records every
recipient on disk before it replies, while workers and the database are killed (`kill -9`). After the last message:

I1  every acknowledged send is SENT, and was received at least once;
I2  copies ≤ 1 + recorded ambiguous attempts, for every message;
I3  one send per idempotency key;
I4  every received message is in the log.
"""

import argparse
import asyncio
import json
import os
import random
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import httpx
import psycopg

from bench.emails import Server, relay_environment, sink, verified_domain
from postern.kernel.database.embedded import EmbeddedPostgres, running_servers
from postern.kernel.database.migrations import migrate

BATCH = 500
RETRY_SECONDS = 240
"""How long a client retries a request: processes are killed repeatedly, and may start slowly."""
QUIET_SECONDS = 240
"""How long to wait for the last message after the last kill."""


class Chaos:
    """Starts the processes, sends requests, kills processes at random, and checks the result."""

    def __init__(self, folder: Path, messages: int, posts: int, kills: int, seed: int) -> None:
        self.messages, self.posts, self.kills = messages, posts, kills
        self.chance = random.Random(seed)
        self.folder = folder
        self.postgres = EmbeddedPostgres(folder / "data")
        self.acknowledged: dict[str, set[str]] = {}
        """The send ids in successful responses, by idempotency key."""
        self.killed: Counter[str] = Counter()

    def run(self) -> dict[str, int]:
        """Run the test and return its counts. Raises AssertionError with the violated invariant."""
        url = self.postgres.start()
        migrate(url)
        ledger = self.folder / "ledger"
        ledger.touch()
        with sink(ledger) as port:
            environment = {**relay_environment(port), "POSTERN_LEASE": "4", "POSTERN_SEND_WAIT": "1"}
            self.server = Server(self.folder, url, **environment)
            try:
                self.parts = {"api": self.server.start("api"), "worker": self.server.start("worker")}
                self.project, self.key, token = self.server.project()
                verified_domain(url, self.server, self.project, token)
                asyncio.run(self._send_and_kill())
                self._wait_until_idle(url)
                return self._check(url, ledger)
            finally:
                self.server.stop()
                self.postgres.stop()

    async def _send_and_kill(self) -> None:
        """Send all requests while processes are killed; returns when all are acknowledged and all kills are done."""
        bodies = [self._batch(start) for start in range(0, self.messages, BATCH)]
        work: list[tuple[str, str, dict]] = [(f"batch-{n}", "emails/batch", body) for n, body in enumerate(bodies)]
        work += [(f"single-{n}", "emails", self._mail(f"single{n}")) for n in range(self.posts)]
        self.chance.shuffle(work)
        todo: asyncio.Queue[tuple[str, str, dict]] = asyncio.Queue()
        for request in work:
            todo.put_nowait(request)
        killer = asyncio.create_task(self._kill())
        async with httpx.AsyncClient(timeout=20) as client:
            await asyncio.gather(*(self._client(client, todo) for _ in range(16)))
        await killer

    async def _client(self, client: httpx.AsyncClient, todo: asyncio.Queue) -> None:
        while not todo.empty():
            key, path, body = todo.get_nowait()
            ends = time.monotonic() + RETRY_SECONDS
            while time.monotonic() < ends:
                try:
                    response = await client.post(
                        f"{self.server.base}/projects/{self.project}/{path}",
                        json=body,
                        headers={"authorization": f"Bearer {self.key}", "idempotency-key": key},
                    )
                except httpx.HTTPError:
                    await asyncio.sleep(0.1)
                    continue
                if response.status_code == 201:
                    result = response.json()
                    ids = {item["id"] for item in result["data"]} if "data" in result else {result["id"]}
                    first_ids = self.acknowledged.setdefault(key, ids)
                    assert first_ids == ids, f"I3: two different sends for {key}"
                    if self.chance.random() < 0.9:
                        break  # One in ten is repeated, as by clients that did not get the response.
                else:
                    assert response.status_code in (409, 429, 503), response.text
                    await asyncio.sleep(0.2)
            else:
                raise AssertionError(f"{key} was never acknowledged")

    async def _kill(self) -> None:
        for _ in range(self.kills):
            await asyncio.sleep(self.chance.uniform(0.3, 1.5))
            part = self.chance.choice(["api", "worker", "worker", "database"])
            self.killed[part] += 1
            if part == "database":
                await asyncio.to_thread(self._restart_database)
            else:
                self.parts[part].send_signal(signal.SIGKILL)
                self.parts[part].wait()
                self.server.running.remove(self.parts[part])
                self.parts[part] = await asyncio.to_thread(self.server.start, part)

    def _restart_database(self) -> None:
        assert self.postgres.pid
        for pid in sorted(running_servers(self.postgres.cluster), reverse=True):
            with suppress(ProcessLookupError):  # The process has just ended.
                os.kill(pid, signal.SIGKILL)
        self.postgres.stop()
        self.postgres = EmbeddedPostgres(self.folder / "data")
        self.postgres.start()

    def _wait_until_idle(self, url: str) -> None:
        ends = time.monotonic() + QUIET_SECONDS
        while time.monotonic() < ends:
            for name, part in self.parts.items():
                assert part.poll() is None, f"the {name} ended with {part.returncode} without being killed"
            with psycopg.connect(url) as connection:
                row = connection.execute("select count(*) from sends where due_at is not null").fetchone()
            if row and row[0] == 0:
                return
            time.sleep(0.5)
        raise AssertionError(f"{row} sends are still waiting after {QUIET_SECONDS} seconds")

    def _check(self, url: str, ledger: Path) -> dict[str, int]:
        lines = [line.split("\t") for line in ledger.read_text().splitlines()]
        # System mail to the developer is sent through the same relay, but is not in the log.
        copies = Counter(message_id for recipient, message_id, *_ in lines if recipient.endswith("@example.org"))
        with psycopg.connect(url) as connection:
            rows = connection.execute(
                "select id::text, message_id, status, ambiguous_attempts from sends where project_id = %s",
                [self.project],
            ).fetchall()
        logged = {row[0] for row in rows}
        promised = {send_id for ids in self.acknowledged.values() for send_id in ids}
        assert len(self.acknowledged) == self.posts + -(-self.messages // BATCH), "not every request was acknowledged"
        missing = promised - logged
        assert not missing, f"I1: {len(missing)} acknowledged sends are not in the log"
        assert logged == promised, f"I3: {len(logged - promised)} sends that are in no response"
        lost = [row for row in rows if row[2] != "SENT" or copies[row[1]] < 1]
        assert not lost, f"I1: {len(lost)} sends were not received, such as {lost[:3]}"
        unaccounted = [row for row in rows if copies[row[1]] > 1 + row[3]]
        assert not unaccounted, (
            f"I2: {len(unaccounted)} messages with more copies than allowed, such as {unaccounted[:3]}"
        )
        unknown = set(copies) - {row[1] for row in rows}
        assert not unknown, f"I4: {len(unknown)} delivered messages are not in the log"
        return {
            "sends": len(rows),
            "copies": sum(copies.values()),
            "duplicates": sum(count - 1 for count in copies.values()),
            "ambiguous": sum(row[3] for row in rows),
            "killed_api": self.killed["api"],
            "killed_worker": self.killed["worker"],
            "killed_database": self.killed["database"],
        }

    def _mail(self, name: str) -> dict:
        return {
            "to": [f"{name}@example.org"],
            "from": "Acme <a@acme.example>",
            "subject": "Hello {{name}}",
            "text": "Dear {{name}}",
            "variables": {"name": name},
        }

    def _batch(self, start: int) -> dict:
        count = min(BATCH, self.messages - start)
        return {"emails": [self._mail(f"batch{start + n}") for n in range(count)]}


@contextmanager
def open_folder() -> Iterator[Path]:
    """A temporary folder that the account of the embedded database can access."""
    with tempfile.TemporaryDirectory(prefix="postern-chaos-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        folder.chmod(0o755)
        yield folder


def run_from_command_line(run: Callable[..., dict[str, int]], **defaults: int) -> None:
    """Run a chaos test with the options of the command line, and print its counts."""
    parser = argparse.ArgumentParser()
    for name, default in defaults.items():
        parser.add_argument(f"--{name}", type=int, default=default)
    options = vars(parser.parse_args())
    began = time.monotonic()
    counts = run(**options)
    print(json.dumps({"seed": options["seed"], "seconds": round(time.monotonic() - began), **counts}))


def run(messages: int, posts: int, kills: int, seed: int) -> dict[str, int]:
    """Run the test once; returns its counts. Raises AssertionError with the violated invariant."""
    with open_folder() as folder:
        return Chaos(folder, messages, posts, kills, seed).run()


def main() -> None:
    run_from_command_line(run, messages=20_000, posts=2_000, kills=20, seed=7)


if __name__ == "__main__":
    sys.exit(main())
