"""Two API processes and three workers on one PostgreSQL, killed at random under load: no acknowledged work is lost.

Run: python -m bench.chaos_cluster [--contacts 20000] [--kills 30] [--restarts 1] [--pooler 0] [--seed 7]

For the processes, the database is an external one (DATABASE_URL). With `--pooler N`, they connect to it through
PgBouncer (DATABASE_POOLER_URL), which is killed N times. While clients send mail, record events and sign
customers in, and while a campaign is sent, processes are killed (`kill -9`) at random and started again. The clients
repeat a request, with either API, until they get a response. At the end:

C1  every acknowledged send was received, one send per idempotency key, copies ≤ 1 + recorded ambiguous attempts;
C2  the campaign is SENT, with one send to each contact, and each was received;
C3  every event was delivered to the webhook, always with the same `webhook-id` and the same content;
C4  every acknowledged sign-in is a session that both APIs accept and can refresh.
"""

import asyncio
import base64
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from contextlib import nullcontext, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import psycopg

from bench.chaos import open_folder, run_from_command_line
from bench.chaos_campaign import campaign_to, id_of
from bench.emails import Server, relay_environment, sink, verified_domain
from bench.webhooks import Receiver
from postern.kernel.database.embedded import EmbeddedPostgres, running_servers
from postern.kernel.database.migrations import migrate
from tests.peers.pgbouncer import pgbouncer

PARTS = ("api-0", "api-1", "worker-0", "worker-1", "worker-2")
PASSWORD = "a long password of all customers"
BATCH = 20
CUSTOMERS = 20
QUIET_SECONDS = 600
"""How long to wait after the last kill; this includes the leases of killed workers."""
RETRY_SECONDS = 240
"""How long a client retries a request; processes may start slowly."""


@dataclass
class Load:
    """The acknowledged requests of the clients."""

    sends: dict[str, set[str]] = field(default_factory=dict)
    """Send ids by idempotency key."""
    events: dict[str, str] = field(default_factory=dict)
    """Event ids by idempotency key."""
    sessions: list[dict[str, Any]] = field(default_factory=list)
    """The responses to sign-ins."""
    retries: int = 0


class Cluster:
    """Starts the processes, runs clients, kills processes at random, and checks the result.

    `patient` waits until the leases of killed workers end; otherwise their rows are made due at once.
    """

    def __init__(
        self, folder: Path, contacts: int, kills: int, restarts: int, pooler: int, seed: int, *, patient: bool
    ) -> None:
        self.folder, self.contacts, self.kills, self.restarts = folder, contacts, kills, restarts
        self.pooler_kills = pooler
        self.patient = patient
        self.chance = random.Random(seed)
        self.postgres = EmbeddedPostgres(folder / "database")
        self.killed: Counter[str] = Counter()
        self.load = Load()
        self.is_over = False

    def run(self) -> dict[str, int]:
        """Run the test and return its counts. Raises AssertionError with the violated invariant."""
        self.url = self.postgres.start()
        ledger, log = self.folder / "ledger", self.folder / "received.jsonl"
        ledger.touch()
        receiver = Receiver(log)
        try:
            migrate(self.url)
            with sink(ledger) as port, pgbouncer(self.url) if self.pooler_kills else nullcontext() as self.pooler:
                self._start_parts(port)
                try:
                    self._prepare(receiver.port)
                    asyncio.run(self._run_clients_and_kill())
                    self._wait_until_idle()
                    counts = {**self._check_mail(ledger), **self._check_webhooks(log), **self._check_sessions()}
                finally:
                    for server in self.servers:
                        server.stop()
        finally:
            receiver.close()
            self.postgres.stop()
        return {**counts, "retries": self.load.retries, **{f"killed_{k}": n for k, n in self.killed.items()}}

    # Parts -------------------------------------------------------------------------------------------------

    def _start_parts(self, relay_port: int) -> None:
        environment = {
            **relay_environment(relay_port),
            "POSTERN_LEASE": "4",
            "POSTERN_SEND_WAIT": "1",
            "POSTERN_OUTBOUND_ALLOW": "127.0.0.0/8",
            "POSTERN_BASE_URL": "http://postern.example",
            "POSTERN_DATABASE_POOL": "8",
            **({"DATABASE_POOLER_URL": self.pooler.url} if self.pooler else {}),
        }
        self.servers = [Server(self.folder / name, self.url, **environment) for name in ("api-0", "api-1")]
        self.parts: dict[str, subprocess.Popen[bytes]] = {}
        for name in PARTS:
            self._start(name)

    def _start(self, name: str) -> None:
        kind, _, number = name.partition("-")
        server = self.servers[int(number) if kind == "api" else 0]
        self.parts[name] = server.start(kind)

    def _kill(self, name: str) -> None:
        part = self.parts.pop(name)
        part.send_signal(signal.SIGKILL)
        part.wait()
        for server in self.servers:
            if part in server.running:
                server.running.remove(part)

    def _prepare(self, port: int) -> None:
        first = self.servers[0]
        self.project, self.key, token = first.project()
        self.base = f"/projects/{self.project}"
        verified_domain(self.url, first, self.project, token)
        hook = {"url": f"http://127.0.0.1:{port}/hook", "events": ["*"]}
        first.call("POST", f"{self.base}/webhooks", hook, self.key)
        with psycopg.connect(self.url) as connection:
            row = connection.execute("select clock_timestamp()").fetchone()
        assert row
        self.subscribed_at = row[0]
        for number in range(CUSTOMERS):
            person = {"email": f"customer{number}@example.com", "password": PASSWORD, "emailVerified": True}
            first.call("POST", f"{self.base}/customers", person, self.key)
        self.campaign = campaign_to(self.url, first, self.project, self.key, self.contacts)

    # Clients and kills ---------------------------------------------------------------------------------------------

    async def _run_clients_and_kill(self) -> None:
        async with httpx.AsyncClient(timeout=20, headers={"authorization": f"Bearer {self.key}"}) as client:
            self.client = client
            clients = [self._sends, self._sends, self._batches, self._events, self._sign_ins, self._sign_ins]
            async with asyncio.TaskGroup() as group:
                group.create_task(self._send_campaign())
                for number, client_loop in enumerate(clients):
                    group.create_task(self._repeat_until_over(client_loop, number))
                group.create_task(self._kill_at_random())

    async def _kill_at_random(self) -> None:
        victims = [self.chance.choice(PARTS) for _ in range(self.kills)]
        victims += ["database"] * self.restarts + ["pooler"] * self.pooler_kills
        self.chance.shuffle(victims)
        for victim in victims:
            await asyncio.sleep(self.chance.uniform(0.2, 1.0))
            self.killed[victim.partition("-")[0]] += 1
            if victim == "database":
                await asyncio.to_thread(self._restart_database)
            elif victim == "pooler":
                assert self.pooler
                self.pooler.kill()
                await asyncio.sleep(self.chance.uniform(0.0, 0.5))
                await asyncio.to_thread(self.pooler.start)
            else:
                await asyncio.to_thread(self._kill, victim)
                await asyncio.sleep(self.chance.uniform(0.0, 0.5))
                await asyncio.to_thread(self._start, victim)
        self.is_over = True

    def _restart_database(self) -> None:
        assert self.postgres.pid
        for pid in sorted(running_servers(self.postgres.cluster), reverse=True):
            with suppress(ProcessLookupError):  # The process has just ended.
                os.kill(pid, signal.SIGKILL)
        self.postgres.stop()
        self.postgres = EmbeddedPostgres(self.folder / "database")
        self.postgres.start()

    async def _repeat_until_over(self, client: Callable[[str], Awaitable[None]], number: int) -> None:
        turn = 0
        while not self.is_over:
            await client(f"{number}-{turn}")
            turn += 1
            await asyncio.sleep(0.02)

    async def _request(self, method: str, path: str, body: Any, **options: Any) -> httpx.Response:
        """Send a request to either API, and retry it after connection errors and the statuses 409, 429 and 503.

        Options: `server`, `headers`, and `accept_conflict` to return a 409.
        """
        ends = time.monotonic() + RETRY_SECONDS
        while True:
            server = options.get("server") or self.chance.choice(self.servers)
            with suppress(httpx.HTTPError):
                response = await self.client.request(
                    method, server.base + path, json=body, headers=options.get("headers")
                )
                if response.status_code not in (409, 429, 503):
                    return response
                if options.get("accept_conflict") and response.status_code == 409:
                    return response
            assert time.monotonic() < ends, f"{method} {path} never got a response"
            self.load.retries += 1
            await asyncio.sleep(0.1)

    async def _sends(self, turn: str) -> None:
        await self._send_acknowledged(f"single-{turn}", "emails", _mail(f"single-{turn}"))

    async def _batches(self, turn: str) -> None:
        body = {"emails": [_mail(f"batch-{turn}-{number}") for number in range(BATCH)]}
        await self._send_acknowledged(f"batch-{turn}", "emails/batch", body)

    async def _send_acknowledged(self, key: str, path: str, body: Any) -> None:
        while True:
            response = await self._request("POST", f"{self.base}/{path}", body, headers={"idempotency-key": key})
            assert response.status_code == 201, response.text
            result = response.json()
            ids = {item["id"] for item in result["data"]} if "data" in result else {result["id"]}
            assert self.load.sends.setdefault(key, ids) == ids, f"C1: two different sends for {key}"
            if self.chance.random() < 0.9:
                return  # One in ten is repeated, as by clients that did not get the response.

    async def _events(self, turn: str) -> None:
        body = {"name": "order.placed", "email": f"buyer-{turn}@example.org", "data": {"number": turn}}
        response = await self._request("POST", f"{self.base}/events", body, headers={"idempotency-key": turn})
        assert response.status_code == 201, response.text
        self.load.events[turn] = response.json()["id"]

    async def _sign_ins(self, turn: str) -> None:
        person = {"email": f"customer{self.chance.randrange(CUSTOMERS)}@example.com", "password": PASSWORD}
        server = self.chance.choice(self.servers)
        response = await self._request("POST", f"{self.base}/auth/sign-in", person, server=server)
        assert response.status_code == 200, response.text
        session = response.json()
        self.load.sessions.append(session)
        other = next(candidate for candidate in self.servers if candidate is not server)
        bearer = {"authorization": f"Bearer {session['accessToken']}"}
        me = await self._request("GET", f"{self.base}/auth/me", None, server=other, headers=bearer)
        assert (me.status_code, me.json().get("email")) == (200, person["email"]), f"C4: {me.text}"
        await asyncio.sleep(0.2)

    async def _send_campaign(self) -> None:
        response = await self._request("POST", f"{self.campaign}/send", None, accept_conflict=True)
        # 409: an earlier request started the campaign, but its response was lost when the process was killed.
        assert response.status_code in (200, 201, 409), response.text

    # Checks --------------------------------------------------------------------------------------

    def _wait_until_idle(self) -> None:
        ends = time.monotonic() + QUIET_SECONDS
        waiting: dict[str, int] = {}
        with psycopg.connect(self.url, autocommit=True) as connection:
            if not self.patient:
                # The leases of killed workers last up to a minute; the short form does not wait for them.
                for table in ("campaigns", "webhook_deliveries"):
                    connection.execute(f"update {table} set due_at = now() where due_at > now()")
            while time.monotonic() < ends:
                waiting = {
                    "campaign": _count(connection, "campaigns", "status <> 'SENT'"),
                    "sends": _count(connection, "sends", "due_at is not null"),
                    "deliveries": _count(connection, "webhook_deliveries", "status = 'PENDING'"),
                }
                if not any(waiting.values()):
                    return
                time.sleep(0.3)
        raise AssertionError(f"still waiting after {QUIET_SECONDS} seconds: {waiting}")

    def _check_mail(self, ledger: Path) -> dict[str, int]:
        lines = [line.split("\t") for line in ledger.read_text().splitlines()]
        copies = Counter(message_id for recipient, message_id, *_ in lines if recipient.endswith("@example.org"))
        with psycopg.connect(self.url) as connection:
            rows = connection.execute(
                "select id::text, message_id, status, ambiguous_attempts, contact_id, campaign_id::text from sends "
                "where project_id = %s and recipient like '%%@example.org'",
                [self.project],
            ).fetchall()
        lost = [row for row in rows if row[2] != "SENT" or copies[row[1]] < 1]
        assert not lost, f"C1: {len(lost)} sends were not received, such as {lost[:3]}"
        unaccounted = [row for row in rows if copies[row[1]] > 1 + row[3]]
        assert not unaccounted, (
            f"C1: {len(unaccounted)} messages with more copies than allowed, such as {unaccounted[:3]}"
        )
        promised = {send_id for ids in self.load.sends.values() for send_id in ids}
        logged = {row[0] for row in rows if row[5] is None}
        assert promised <= logged, f"C1: {len(promised - logged)} acknowledged sends are not in the log"
        assert logged <= promised, f"C1: {len(logged - promised)} sends that are in no response"
        sent_to = Counter(row[4] for row in rows if row[5] == id_of(self.campaign))
        assert len(sent_to) == self.contacts, f"C2: {len(sent_to)} of {self.contacts} contacts got the campaign"
        assert set(sent_to.values()) == {1}, "C2: a contact has two sends of one campaign"
        received = sum(copies[row[1]] for row in rows)
        assert received == sum(copies.values()), "C1: a received message is not in the log"
        ambiguous = sum(row[3] for row in rows)
        return {"sends": len(logged), "contacts": len(sent_to), "copies": received - len(rows), "ambiguous": ambiguous}

    def _check_webhooks(self, log: Path) -> dict[str, int]:
        received = [json.loads(line) for line in log.read_text().splitlines()]
        bodies_by_id: dict[str, set[bytes]] = {}
        for request in received:
            bodies_by_id.setdefault(request["headers"]["webhook-id"], set()).add(base64.b64decode(request["body"]))
        changed = [webhook_id for webhook_id, bodies in bodies_by_id.items() if len(bodies) > 1]
        assert not changed, f"C3: {len(changed)} webhook-ids with different contents, such as {changed[:3]}"
        with psycopg.connect(self.url) as connection:
            rows = connection.execute(
                "select id::text from events where project_id = %s and occurred_at > %s",
                [self.project, self.subscribed_at],
            ).fetchall()
        recorded = {row[0] for row in rows}
        missing = recorded - set(bodies_by_id)
        assert not missing, f"C3: {len(missing)} of {len(recorded)} events not delivered, such as {list(missing)[:3]}"
        assert set(self.load.events.values()) <= set(bodies_by_id), "C3: an acknowledged event was not delivered"
        numbers = Counter(
            json.loads(body)["data"]["data"]["number"]
            for bodies in bodies_by_id.values()
            for body in bodies
            if json.loads(body)["type"] == "order.placed"
        )
        wrong = [number for number in self.load.events if numbers[number] != 1]
        assert not wrong, f"C3: {len(wrong)} custom events with no id or several ids, such as {wrong[:3]}"
        return {"events": len(recorded), "deliveries": len(received)}

    def _check_sessions(self) -> dict[str, int]:
        for number, session in enumerate(self.load.sessions):
            for server in self.servers:
                me = server.call("GET", f"{self.base}/auth/me", None, session["accessToken"])
                assert me["id"] == session["customer"]["id"], "C4: a session of another customer"
            body = {"refreshToken": session["refreshToken"]}
            server = self.servers[number % 2]
            refreshed = server.call("POST", f"{self.base}/auth/token/refresh", body, self.key)
            assert refreshed["accessToken"], "C4: a session that cannot be refreshed"
        return {"sign_ins": len(self.load.sessions)}


def _count(connection: psycopg.Connection, table: str, condition: str) -> int:
    row = connection.execute(f"select count(*) from {table} where {condition}".encode()).fetchone()
    assert row
    return row[0]


def _mail(name: str) -> dict[str, Any]:
    return {
        "to": [f"{name}@example.org"],
        "from": "Acme <a@acme.example>",
        "subject": "Hello {{name}}",
        "text": "Dear {{name}}",
        "variables": {"name": name},
    }


def run(
    contacts: int, kills: int, restarts: int, seed: int, *, pooler: int = 0, patient: bool = True
) -> dict[str, int]:
    """Run the test once; returns its counts. Raises AssertionError with the violated invariant."""
    with open_folder() as folder:
        return Cluster(folder, contacts, kills, restarts, pooler, seed, patient=patient).run()


def main() -> None:
    run_from_command_line(run, contacts=20_000, kills=30, restarts=1, pooler=0, seed=7)


if __name__ == "__main__":
    sys.exit(main())
