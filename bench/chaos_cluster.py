"""Two API processes and three workers on one PostgreSQL, killed at random under load: nothing acknowledged is lost.

Run: python -m bench.chaos_cluster [--contacts 20000] [--kills 30] [--restarts 1] [--seed 7]

The database is started apart and given by DATABASE_URL, as an operator's own would be. While clients send mail, report
events and sign customers in, and while a campaign goes out, any of the parts is killed (`kill -9`) and started again.
Clients ask again, at either API, until they are answered. When it is quiet:

C1  every acknowledged send has arrived, one send per idempotency key, copies ≤ 1 + recorded ambiguous attempts;
C2  the campaign is SENT, with one send to each contact, and each has arrived;
C3  every event reached the webhook's receiver, always under the same `webhook-id` and with the same contents;
C4  every acknowledged sign-in is a session that both APIs honour, and can renew.
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
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import psycopg

from bench.chaos import open_folder, run_as_asked
from bench.chaos_campaign import campaign_to, id_of
from bench.emails import Server, relay_environment, sink, verified_domain
from bench.webhooks import Receiver
from postern.kernel.database.embedded import EmbeddedPostgres, running_servers
from postern.kernel.database.migrations import migrate

PARTS = ("api-0", "api-1", "worker-0", "worker-1", "worker-2")
PASSWORD = "a password that nobody guesses"
BATCH = 20
CUSTOMERS = 20
QUIET_SECONDS = 600
"""The longest that everything may take after the last kill: leases of killed workers run out in it."""
ASKED_SECONDS = 240
"""The longest that a client asks again; a busy machine takes long to start a part."""


@dataclass
class Load:
    """What clients were promised."""

    sends: dict[str, set[str]] = field(default_factory=dict)
    """Send ids by idempotency key."""
    events: dict[str, str] = field(default_factory=dict)
    """Event ids by idempotency key."""
    sessions: list[dict[str, Any]] = field(default_factory=list)
    """What a sign-in answered."""
    asked_again: int = 0


class Cluster:
    """The parts, the clients, and the hand that kills."""

    def __init__(self, folder: Path, contacts: int, kills: int, restarts: int, seed: int, *, patient: bool) -> None:
        self.folder, self.contacts, self.kills, self.restarts = folder, contacts, kills, restarts
        self.patient = patient
        self.chance = random.Random(seed)
        self.postgres = EmbeddedPostgres(folder / "database")
        self.killed: Counter[str] = Counter()
        self.load = Load()
        self.over = False

    def run(self) -> dict[str, int]:
        """The whole storm. Raises AssertionError naming the promise that was broken."""
        self.url = self.postgres.start()
        ledger, log = self.folder / "ledger", self.folder / "received.jsonl"
        ledger.touch()
        receiver = Receiver(log)
        try:
            migrate(self.url)
            with sink(ledger) as port:
                self._start_parts(port)
                try:
                    self._prepare(receiver.port)
                    asyncio.run(self._storm())
                    self._settle()
                    judged = {**self._judge_mail(ledger), **self._judge_webhooks(log), **self._judge_sessions()}
                finally:
                    for each in self.servers:
                        each.stop()
        finally:
            receiver.close()
            self.postgres.stop()
        return {**judged, "asked_again": self.load.asked_again, **{f"killed_{k}": n for k, n in self.killed.items()}}

    # Parts -------------------------------------------------------------------------------------------------

    def _start_parts(self, relay: int) -> None:
        told = {
            **relay_environment(relay),
            "POSTERN_LEASE": "4",
            "POSTERN_SEND_WAIT": "1",
            "POSTERN_OUTBOUND_ALLOW": "127.0.0.0/8",
            "POSTERN_BASE_URL": "http://postern.example",
            "POSTERN_DATABASE_POOL": "8",
        }
        self.servers = [Server(self.folder / name, self.url, **told) for name in ("api-0", "api-1")]
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

    # The storm ---------------------------------------------------------------------------------------------

    async def _storm(self) -> None:
        async with httpx.AsyncClient(timeout=20, headers={"authorization": f"Bearer {self.key}"}) as client:
            self.client = client
            clients = [self._sends, self._sends, self._batches, self._events, self._sign_ins, self._sign_ins]
            async with asyncio.TaskGroup() as group:
                group.create_task(self._send_campaign())
                for number, each in enumerate(clients):
                    group.create_task(self._until_over(each, number))
                group.create_task(self._kill_at_random())

    async def _kill_at_random(self) -> None:
        victims = [self.chance.choice(PARTS) for _ in range(self.kills)] + ["database"] * self.restarts
        self.chance.shuffle(victims)
        for victim in victims:
            await asyncio.sleep(self.chance.uniform(0.2, 1.0))
            self.killed[victim.partition("-")[0]] += 1
            if victim == "database":
                await asyncio.to_thread(self._restart_database)
            else:
                await asyncio.to_thread(self._kill, victim)
                await asyncio.sleep(self.chance.uniform(0.0, 0.5))
                await asyncio.to_thread(self._start, victim)
        self.over = True

    def _restart_database(self) -> None:
        assert self.postgres.pid
        for each in sorted(running_servers(self.postgres.cluster), reverse=True):
            with suppress(ProcessLookupError):  # It ended by itself meanwhile.
                os.kill(each, signal.SIGKILL)
        self.postgres.stop()
        self.postgres = EmbeddedPostgres(self.folder / "database")
        self.postgres.start()

    async def _until_over(self, client: Callable[[str], Awaitable[None]], number: int) -> None:
        turn = 0
        while not self.over:
            await client(f"{number}-{turn}")
            turn += 1
            await asyncio.sleep(0.02)

    async def _ask(self, method: str, path: str, body: Any, **options: Any) -> httpx.Response:
        """Ask either API until one answers; 409, 429 and 503 mean that it is to be asked again."""
        ends = time.monotonic() + ASKED_SECONDS
        while True:
            server = options.get("server") or self.chance.choice(self.servers)
            with suppress(httpx.HTTPError):
                answer = await self.client.request(
                    method, server.base + path, json=body, headers=options.get("headers")
                )
                if answer.status_code not in (409, 429, 503):
                    return answer
                if options.get("conflict_is_answer") and answer.status_code == 409:
                    return answer
            assert time.monotonic() < ends, f"{method} {path} was never answered"
            self.load.asked_again += 1
            await asyncio.sleep(0.1)

    async def _sends(self, turn: str) -> None:
        await self._promise(f"single-{turn}", "emails", _mail(f"single-{turn}"))

    async def _batches(self, turn: str) -> None:
        body = {"emails": [_mail(f"batch-{turn}-{number}") for number in range(BATCH)]}
        await self._promise(f"batch-{turn}", "emails/batch", body)

    async def _promise(self, key: str, path: str, body: Any) -> None:
        while True:
            answer = await self._ask("POST", f"{self.base}/{path}", body, headers={"idempotency-key": key})
            assert answer.status_code == 201, answer.text
            found = answer.json()
            ids = {item["id"] for item in found["data"]} if "data" in found else {found["id"]}
            assert self.load.sends.setdefault(key, ids) == ids, f"C1: {key} was answered with two different sends"
            if self.chance.random() < 0.9:
                return  # One in ten is asked again, as clients do that lost the answer.

    async def _events(self, turn: str) -> None:
        body = {"name": "order.placed", "email": f"buyer-{turn}@example.org", "data": {"number": turn}}
        answer = await self._ask("POST", f"{self.base}/events", body, headers={"idempotency-key": turn})
        assert answer.status_code == 201, answer.text
        self.load.events[turn] = answer.json()["id"]

    async def _sign_ins(self, turn: str) -> None:
        person = {"email": f"customer{self.chance.randrange(CUSTOMERS)}@example.com", "password": PASSWORD}
        server = self.chance.choice(self.servers)
        answer = await self._ask("POST", f"{self.base}/auth/sign-in", person, server=server)
        assert answer.status_code == 200, answer.text
        session = answer.json()
        self.load.sessions.append(session)
        other = next(each for each in self.servers if each is not server)
        bearer = {"authorization": f"Bearer {session['accessToken']}"}
        me = await self._ask("GET", f"{self.base}/auth/me", None, server=other, headers=bearer)
        assert (me.status_code, me.json().get("email")) == (200, person["email"]), f"C4: {me.text}"
        await asyncio.sleep(0.2)

    async def _send_campaign(self) -> None:
        answer = await self._ask("POST", f"{self.campaign}/send", None, conflict_is_answer=True)
        # A conflict: the answer to an earlier request was lost with the process, and the campaign is on its way.
        assert answer.status_code in (200, 201, 409), answer.text

    # When it is quiet --------------------------------------------------------------------------------------

    def _settle(self) -> None:
        ends = time.monotonic() + QUIET_SECONDS
        left: dict[str, int] = {}
        with psycopg.connect(self.url, autocommit=True) as connection:
            if not self.patient:
                # What killed workers had in hand is leased for up to a minute; the short form does not wait for that.
                for table in ("campaigns", "webhook_deliveries"):
                    connection.execute(f"update {table} set due_at = now() where due_at > now()")
            while time.monotonic() < ends:
                left = {
                    "campaign": _count(connection, "campaigns", "status <> 'SENT'"),
                    "sends": _count(connection, "sends", "due_at is not null"),
                    "deliveries": _count(connection, "webhook_deliveries", "status = 'PENDING'"),
                }
                if not any(left.values()):
                    return
                time.sleep(0.3)
        raise AssertionError(f"still waiting after {QUIET_SECONDS} seconds: {left}")

    def _judge_mail(self, ledger: Path) -> dict[str, int]:
        lines = [line.split("\t") for line in ledger.read_text().splitlines()]
        copies = Counter(message_id for recipient, message_id, *_ in lines if recipient.endswith("@example.org"))
        with psycopg.connect(self.url) as connection:
            rows = connection.execute(
                "select id::text, message_id, status, ambiguous_attempts, contact_id, campaign_id::text from sends "
                "where project_id = %s and recipient like '%%@example.org'",
                [self.project],
            ).fetchall()
        lost = [row for row in rows if row[2] != "SENT" or copies[row[1]] < 1]
        assert not lost, f"C1: {len(lost)} sends did not arrive, such as {lost[:3]}"
        unaccounted = [row for row in rows if copies[row[1]] > 1 + row[3]]
        assert not unaccounted, f"C1: {len(unaccounted)} messages with more copies than can be, {unaccounted[:3]}"
        promised = {each for ids in self.load.sends.values() for each in ids}
        own = {row[0] for row in rows if row[5] is None}
        assert promised <= own, f"C1: {len(promised - own)} acknowledged sends are not in the log"
        assert own <= promised, f"C1: {len(own - promised)} sends that no answer named"
        sent_to = Counter(row[4] for row in rows if row[5] == id_of(self.campaign))
        assert len(sent_to) == self.contacts, f"C2: {len(sent_to)} of {self.contacts} contacts got the campaign"
        assert set(sent_to.values()) == {1}, "C2: a contact has two sends of one campaign"
        arrived = sum(copies[row[1]] for row in rows)
        assert arrived == sum(copies.values()), "C1: something was delivered that is not in the log"
        ambiguous = sum(row[3] for row in rows)
        return {"sends": len(own), "contacts": len(sent_to), "copies": arrived - len(rows), "ambiguous": ambiguous}

    def _judge_webhooks(self, log: Path) -> dict[str, int]:
        received = [json.loads(line) for line in log.read_text().splitlines()]
        told: dict[str, set[bytes]] = {}
        for each in received:
            told.setdefault(each["headers"]["webhook-id"], set()).add(base64.b64decode(each["body"]))
        twofold = [each for each, bodies in told.items() if len(bodies) > 1]
        assert not twofold, f"C3: {len(twofold)} webhook-ids with two contents, such as {twofold[:3]}"
        with psycopg.connect(self.url) as connection:
            rows = connection.execute(
                "select id::text from events where project_id = %s and occurred_at > %s",
                [self.project, self.subscribed_at],
            ).fetchall()
        happened = {row[0] for row in rows}
        untold = happened - set(told)
        assert not untold, f"C3: {len(untold)} of {len(happened)} events were never told, such as {list(untold)[:3]}"
        assert set(self.load.events.values()) <= set(told), "C3: an acknowledged event was never told"
        numbers = Counter(
            json.loads(body)["data"]["data"]["number"]
            for bodies in told.values()
            for body in bodies
            if json.loads(body)["type"] == "order.placed"
        )
        again = [number for number in self.load.events if numbers[number] != 1]
        assert not again, f"C3: {len(again)} custom events under none or several ids, such as {again[:3]}"
        return {"events": len(happened), "told": len(received)}

    def _judge_sessions(self) -> dict[str, int]:
        for number, session in enumerate(self.load.sessions):
            for server in self.servers:
                me = server.call("GET", f"{self.base}/auth/me", None, session["accessToken"])
                assert me["id"] == session["customer"]["id"], "C4: a session of somebody else"
            fresh = {"refreshToken": session["refreshToken"]}
            server = self.servers[number % 2]
            renewed = server.call("POST", f"{self.base}/auth/token/refresh", fresh, self.key)
            assert renewed["accessToken"], "C4: a session that cannot be renewed"
        return {"sign_ins": len(self.load.sessions)}


def _count(connection: psycopg.Connection, table: str, condition: str) -> int:
    row = connection.execute(f"select count(*) from {table} where {condition}").fetchone()
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


def run(contacts: int, kills: int, restarts: int, seed: int, *, patient: bool = True) -> dict[str, int]:
    """One storm; returns what it counted. Raises AssertionError naming the broken promise."""
    with open_folder() as folder:
        return Cluster(folder, contacts, kills, restarts, seed, patient=patient).run()


def main() -> None:
    run_as_asked(run, contacts=20_000, kills=30, restarts=1, seed=7)


if __name__ == "__main__":
    sys.exit(main())
