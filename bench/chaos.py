"""Kill everything at random moments, and count: nothing acknowledged is missing, nobody is mailed twice unaccounted.

Run: python -m bench.chaos [--messages 20000] [--posts 2000] [--kills 20] [--seed 7]

A client retries POSTs with idempotency keys while the API is killed; queued messages drain to a sink that writes every
recipient down before it answers, while workers and the database are killed (`kill -9`). Then, when it is quiet:

I1  every acknowledged send is final, and SENT means at least one copy;
I2  copies ≤ 1 + recorded ambiguous attempts, for every message;
I3  one send per idempotency key;
I4  nothing was delivered that is not in the log.
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
ASKED_SECONDS = 240
"""How long a client goes on asking: parts are killed again and again, and a busy machine starts them slowly."""
QUIET_SECONDS = 240


class Chaos:
    """The parts, and the hand that kills them."""

    def __init__(self, folder: Path, messages: int, posts: int, kills: int, seed: int) -> None:
        self.messages, self.posts, self.kills = messages, posts, kills
        self.chance = random.Random(seed)
        self.folder = folder
        self.postgres = EmbeddedPostgres(folder / "data")
        self.acknowledged: dict[str, set[str]] = {}
        """Send ids that a 2xx named, by idempotency key."""
        self.killed: Counter[str] = Counter()

    def run(self) -> dict[str, int]:
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
                asyncio.run(self._storm())
                self._settle(url)
                return self._judge(url, ledger)
            finally:
                self.server.stop()
                self.postgres.stop()

    async def _storm(self) -> None:
        """Clients post and retry while parts die; ends when everything is acknowledged and all kills are done."""
        bodies = [self._batch(start) for start in range(0, self.messages, BATCH)]
        work: list[tuple[str, str, dict]] = [(f"batch-{n}", "emails/batch", body) for n, body in enumerate(bodies)]
        work += [(f"single-{n}", "emails", self._mail(f"single{n}")) for n in range(self.posts)]
        self.chance.shuffle(work)
        todo: asyncio.Queue[tuple[str, str, dict]] = asyncio.Queue()
        for each in work:
            todo.put_nowait(each)
        killer = asyncio.create_task(self._kill())
        async with httpx.AsyncClient(timeout=20) as client:
            await asyncio.gather(*(self._client(client, todo) for _ in range(16)))
        await killer

    async def _client(self, client: httpx.AsyncClient, todo: asyncio.Queue) -> None:
        while not todo.empty():
            key, path, body = todo.get_nowait()
            ends = time.monotonic() + ASKED_SECONDS
            while time.monotonic() < ends:
                try:
                    answer = await client.post(
                        f"{self.server.base}/projects/{self.project}/{path}",
                        json=body,
                        headers={"authorization": f"Bearer {self.key}", "idempotency-key": key},
                    )
                except httpx.HTTPError:
                    await asyncio.sleep(0.1)
                    continue
                if answer.status_code == 201:
                    found = answer.json()
                    ids = {item["id"] for item in found["data"]} if "data" in found else {found["id"]}
                    known = self.acknowledged.setdefault(key, ids)
                    assert known == ids, f"{key} was answered with two different sends"
                    if self.chance.random() < 0.9:
                        break  # One in ten is asked again, as clients do that lost the answer.
                else:
                    assert answer.status_code in (409, 429, 503), answer.text
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
        for each in sorted(running_servers(self.postgres.cluster), reverse=True):
            with suppress(ProcessLookupError):  # It ended by itself meanwhile.
                os.kill(each, signal.SIGKILL)
        self.postgres.stop()
        self.postgres = EmbeddedPostgres(self.folder / "data")
        self.postgres.start()

    def _settle(self, url: str) -> None:
        ends = time.monotonic() + QUIET_SECONDS
        while time.monotonic() < ends:
            for name, part in self.parts.items():
                assert part.poll() is None, f"the {name} ended by itself with {part.returncode}"
            with psycopg.connect(url) as connection:
                row = connection.execute("select count(*) from sends where due_at is not null").fetchone()
            if row and row[0] == 0:
                return
            time.sleep(0.5)
        raise AssertionError(f"{row} sends are still waiting after {QUIET_SECONDS} seconds")

    def _judge(self, url: str, ledger: Path) -> dict[str, int]:
        lines = [line.split("\t") for line in ledger.read_text().splitlines()]
        # The server's own letters to the developer leave through the same relay; they are nobody's sends.
        copies = Counter(message_id for recipient, message_id, *_ in lines if recipient.endswith("@example.org"))
        with psycopg.connect(url) as connection:
            rows = connection.execute(
                "select id::text, message_id, status, ambiguous_attempts from sends where project_id = %s",
                [self.project],
            ).fetchall()
        known = {row[0]: row for row in rows}
        promised = {each for ids in self.acknowledged.values() for each in ids}
        assert len(self.acknowledged) == self.posts + -(-self.messages // BATCH), "every request was acknowledged"
        missing = promised - set(known)
        assert not missing, f"I1: {len(missing)} acknowledged sends are not in the log"
        assert set(known) == promised, f"I3: {len(set(known) - promised)} sends that no answer named"
        lost = [row for row in rows if row[2] != "SENT" or copies[row[1]] < 1]
        assert not lost, f"I1: {len(lost)} sends did not arrive, such as {lost[:3]}"
        unaccounted = [row for row in rows if copies[row[1]] > 1 + row[3]]
        assert not unaccounted, f"I2: {len(unaccounted)} messages with more copies than can be, {unaccounted[:3]}"
        strangers = set(copies) - {row[1] for row in rows}
        assert not strangers, f"I4: {len(strangers)} delivered messages are not in the log"
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
    """A folder for a storm, which the account of the embedded database can enter; gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="postern-chaos-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        folder.chmod(0o755)
        yield folder


def run_as_asked(run: Callable[..., dict[str, int]], **defaults: int) -> None:
    """Run a storm with the numbers of the command line, and print its ledger."""
    reader = argparse.ArgumentParser()
    for name, default in defaults.items():
        reader.add_argument(f"--{name}", type=int, default=default)
    given = vars(reader.parse_args())
    began = time.monotonic()
    found = run(**given)
    print(json.dumps({"seed": given["seed"], "seconds": round(time.monotonic() - began), **found}))


def run(messages: int, posts: int, kills: int, seed: int) -> dict[str, int]:
    """One storm; returns its ledger. Raises AssertionError naming the broken promise."""
    with open_folder() as folder:
        return Chaos(folder, messages, posts, kills, seed).run()


def main() -> None:
    run_as_asked(run, messages=20_000, posts=2_000, kills=20, seed=7)


if __name__ == "__main__":
    sys.exit(main())
