"""Two API processes and three workers on one PostgreSQL, killed at random under load: no acknowledged work is lost.

Run: python -m bench.chaos_cluster [--contacts 20000] [--kills 30] [--restarts 1] [--pooler 0] [--seed 7]
                                   [--failover 0] [--nodes 0]

For the processes, the database is an external one (DATABASE_URL). With `--pooler N`, they connect to it through
PgBouncer (DATABASE_POOLER_URL), which is killed N times. With `--failover N`, it is two PostgreSQL servers with
synchronous replication that Patroni manages, with the settings in deploy/patroni; N times, the primary is killed, its
standby is promoted, and the killed one is started again and becomes the standby. Half of the processes connect through
HAProxy, the others with a URL of both servers (`target_session_attrs`), and all read from the standby
(DATABASE_REPLICA_URL). With `--nodes N`, it is a Citus with two servers behind the coordinator; N times, one of them is
killed and started again. While clients send mail, record events and sign customers in, and while a campaign is sent,
processes are killed (`kill -9`) at random and started again. The clients repeat a request, with either API, until they
get a response. At the end:

C1  every acknowledged send was received, one send per idempotency key, copies ≤ 1 + recorded ambiguous attempts;
C2  the campaign is SENT, with one send to each contact, and each was received;
C3  every event was delivered to the webhook, always with the same `webhook-id` and the same content;
C4  every acknowledged sign-in is a session that both APIs accept and can refresh;
C5  the counters of the statistics equal a recount of the sends;
C6  during the whole test, the log has each send that was acknowledged before the log was requested.

After a fail-over, it prints the seconds without service: from the kill to the next write that an API confirms.
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
import urllib.request
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from contextlib import ExitStack, contextmanager, nullcontext, suppress
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
from tests.peers.citus import Citus, distributed
from tests.peers.patroni import QUICK, PatroniCluster, patroni_cluster
from tests.peers.pgbouncer import pgbouncer

PARTS = ("api-0", "api-1", "worker-0", "worker-1", "worker-2")
PASSWORD = "a long password of all customers"
ADMIN_TOKEN = "a long token for the metrics of this test"
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
    confirmed_at: dict[str, float] = field(default_factory=dict)
    """When each API process has last confirmed a write, by its base URL, in seconds of the monotonic clock."""
    logs: int = 0
    """How often the log was read."""
    retries: Counter[str] = field(default_factory=Counter)
    """Repeated requests, by the status of the response, or `none`."""


@dataclass(frozen=True)
class Kills:
    """How often to kill what."""

    processes: int
    restarts: int = 0
    """Of the database."""
    pooler: int = 0
    failover: int = 0
    nodes: int = 0
    """Of the servers behind the coordinator of a Citus."""


class Cluster:
    """Starts the processes, runs clients, kills processes at random, and checks the result.

    `patient` waits until the leases of killed workers end; otherwise their rows are made due at once. It also waits
    until the lock of a killed primary ends.
    """

    def __init__(self, folder: Path, contacts: int, kills: Kills, seed: int, *, patient: bool) -> None:
        self.folder, self.contacts, self.kills = folder, contacts, kills
        self.patient = patient
        self.chance = random.Random(seed)
        self.postgres = EmbeddedPostgres(folder / "database")
        self.patroni: PatroniCluster | None = None
        self.citus: Citus | None = None
        self.killed: Counter[str] = Counter()
        self.load = Load()
        self.is_over = False

    def run(self) -> dict[str, int]:
        """Run the test and return its counts. Raises AssertionError with the violated invariant."""
        ledger, log = self.folder / "ledger", self.folder / "received.jsonl"
        ledger.touch()
        receiver = Receiver(log)
        with ExitStack() as stack:
            stack.callback(receiver.close)
            self.url = stack.enter_context(self._database())
            migrate(self.url)
            port = stack.enter_context(sink(ledger))
            self.pooler = stack.enter_context(pgbouncer(self.url) if self.kills.pooler else nullcontext())
            self._start_parts(port)
            try:
                self._prepare(receiver.port)
                asyncio.run(self._run_clients_and_kill())
                self._wait_until_idle()
                counts = {**self._check_mail(ledger), **self._check_webhooks(log), **self._check_sessions()}
                self._check_counters()
                if self.patroni:
                    self._wait_for_replica()
            finally:
                for server in self.servers:
                    server.stop()
        counts |= {"logs_read": self.load.logs}
        counts |= {f"retries_{status}": count for status, count in self.load.retries.items()}
        return counts | {f"killed_{victim}": count for victim, count in self.killed.items()}

    @contextmanager
    def _database(self) -> Iterator[str]:
        if self.kills.nodes:
            with distributed() as self.citus:
                yield self.citus.url
            return
        if not self.kills.failover:
            try:
                yield self.postgres.start()
            finally:
                self.postgres.stop()
            return
        # Patroni's own settings take as long as they do in use.
        with patroni_cluster({} if self.patient else QUICK, is_durable=self.patient) as self.patroni:
            yield self.patroni.url

    # Parts -------------------------------------------------------------------------------------------------

    def _start_parts(self, relay_port: int) -> None:
        environment = {
            **relay_environment(relay_port),
            "POSTERN_LEASE": "4",
            "POSTERN_SEND_WAIT": "1",
            "POSTERN_OUTBOUND_ALLOW": "127.0.0.0/8",
            "POSTERN_BASE_URL": "http://postern.example",
            "POSTERN_DATABASE_POOL": "8",
            "POSTERN_ADMIN_TOKEN": ADMIN_TOKEN,
            **({"DATABASE_POOLER_URL": self.pooler.url} if self.pooler else {}),
        }
        urls = [self.url, self.url]
        if self.patroni:
            urls[1] = self.patroni.hosts_url
            environment["DATABASE_REPLICA_URL"] = self.patroni.replica_url
        folders = (self.folder / "api-0", self.folder / "api-1")
        self.servers = [Server(folder, url, **environment) for folder, url in zip(folders, urls, strict=True)]
        self.parts: dict[str, subprocess.Popen[bytes]] = {}
        for name in PARTS:
            self._start(name)

    def _start(self, name: str) -> None:
        kind, _, number = name.partition("-")
        self.parts[name] = self.servers[int(number) % 2].start(kind)

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
            clients.append(self._read_log)
            async with asyncio.TaskGroup() as group:
                group.create_task(self._send_campaign())
                for number, client_loop in enumerate(clients):
                    group.create_task(self._repeat_until_over(client_loop, number))
                group.create_task(self._kill_at_random())

    async def _kill_at_random(self) -> None:
        victims = [self.chance.choice(PARTS) for _ in range(self.kills.processes)]
        victims += ["database"] * self.kills.restarts + ["pooler"] * self.kills.pooler
        victims += ["primary"] * self.kills.failover + ["node"] * self.kills.nodes
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
            elif victim == "primary":
                await self._fail_over()
            elif victim == "node":
                await self._restart_node()
            else:
                await asyncio.to_thread(self._kill, victim)
                await asyncio.sleep(self.chance.uniform(0.0, 0.5))
                await asyncio.to_thread(self._start, victim)
        self.is_over = True

    async def _fail_over(self) -> None:
        """Kill the primary, wait until both APIs confirm writes again, and start it again; it becomes the standby."""
        assert self.patroni
        patroni = self.patroni
        primary = await asyncio.to_thread(patroni.wait_for_primary)
        killed_at = time.monotonic()
        await asyncio.to_thread(primary.kill)
        if not self.patient:
            await asyncio.to_thread(patroni.expire_lock)
        await asyncio.to_thread(patroni.wait_for_primary)
        confirmed_at = await asyncio.gather(*map(self._first_confirmation, self.servers))
        seconds = ", ".join(f"{moment - killed_at:.1f}" for moment in confirmed_at)
        print(f"seconds without service through HAProxy, with both hosts: {seconds}", flush=True)
        await asyncio.sleep(self.chance.uniform(0.0, 0.5))
        await asyncio.to_thread(patroni.start_node, primary)
        await asyncio.to_thread(patroni.wait_for_standby)

    async def _restart_node(self) -> None:
        """Kill a server behind the coordinator, and start it again."""
        assert self.citus
        node = self.chance.choice(self.citus.workers)
        await asyncio.to_thread(node.kill)
        await asyncio.sleep(self.chance.uniform(0.0, 2.0))
        await asyncio.to_thread(node.start)

    async def _first_confirmation(self, server: Server) -> float:
        """Wait until an API confirms a write; when it did, in seconds of the monotonic clock."""
        began = time.monotonic()
        while (confirmed_at := self.load.confirmed_at.get(server.base, 0.0)) < began:
            assert time.monotonic() < began + RETRY_SECONDS, "No write is confirmed after the fail-over."
            await asyncio.sleep(0.01)
        return confirmed_at

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
            status = "none"
            with suppress(httpx.HTTPError):
                response = await self.client.request(
                    method, server.base + path, json=body, headers=options.get("headers")
                )
                status = str(response.status_code)
                if response.is_success and method == "POST":
                    self.load.confirmed_at[server.base] = time.monotonic()
                if response.status_code not in (409, 429, 503):
                    return response
                if options.get("accept_conflict") and response.status_code == 409:
                    return response
            assert time.monotonic() < ends, f"{method} {path} never got a response"
            self.load.retries[status] += 1
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

    async def _read_log(self, turn: str) -> None:
        """Send, and read the log with either API: it has what was acknowledged, also where a replica is read."""
        mail = _mail(f"logged-{turn}")
        await self._send_acknowledged(f"logged-{turn}", "emails", mail)
        response = await self._request("GET", f"{self.base}/emails/logs?recipient={mail['to'][0]}", None)
        assert response.status_code == 200, response.text
        ids = {entry["id"] for entry in response.json()["data"]}
        assert ids == self.load.sends[f"logged-{turn}"], f"C6: the log has {ids}"
        self.load.logs += 1
        await asyncio.sleep(0.2)

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

    def _check_counters(self) -> None:
        with psycopg.connect(self.url) as connection:
            counters = connection.execute(
                "select measure, sum(count)::int from send_counters where project_id = %s group by 1",
                [self.project],
            ).fetchall()
            sends = connection.execute(
                "select status, sent_at is not null from sends where project_id = %s", [self.project]
            ).fetchall()
        recounted = Counter(status for status, _ in sends)
        recounted["sent"] = sum(is_sent for _, is_sent in sends)
        counted = {measure: count for measure, count in counters if count}
        assert counted == recounted, f"C5: the counters are {counted}, a recount gives {dict(recounted)}"

    def _wait_for_replica(self) -> None:
        """Wait until both APIs read from the standby, which was a primary before."""
        for server in self.servers:
            ends, before = time.monotonic() + QUIET_SECONDS, _replica_reads(server)
            while _replica_reads(server) == before:
                assert time.monotonic() < ends, "The standby is not read after the fail-over."
                server.call("GET", f"{self.base}/emails/logs", None, self.key)
                time.sleep(0.1)

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


def _replica_reads(server: Server) -> float:
    """How many requests this API process has answered from the replica."""
    request = urllib.request.Request(f"{server.base}/metrics", headers={"authorization": f"Bearer {ADMIN_TOKEN}"})
    metrics = urllib.request.urlopen(request, timeout=60).read().decode()
    (line,) = [
        line for line in metrics.splitlines() if line.startswith('postern_replica_reads_total{database="replica"}')
    ]
    return float(line.split()[-1])


def _mail(name: str) -> dict[str, Any]:
    return {
        "to": [f"{name}@example.org"],
        "from": "Acme <a@acme.example>",
        "subject": "Hello {{name}}",
        "text": "Dear {{name}}",
        "variables": {"name": name},
    }


def run(
    contacts: int,
    kills: int,
    restarts: int,
    seed: int,
    *,
    pooler: int = 0,
    failover: int = 0,
    nodes: int = 0,
    patient: bool = True,
) -> dict[str, int]:
    """Run the test once; returns its counts. Raises AssertionError with the violated invariant."""
    with open_folder() as folder:
        all_kills = Kills(kills, restarts, pooler, failover, nodes)
        return Cluster(folder, contacts, all_kills, seed, patient=patient).run()


def main() -> None:
    run_from_command_line(run, contacts=20_000, kills=30, restarts=1, pooler=0, failover=0, nodes=0, seed=7)


if __name__ == "__main__":
    sys.exit(main())
