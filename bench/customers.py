"""Measurements of customers: sign-ins compared with the argon2 limit, access checks, refreshes, reads with a million
customers.

Run: python -m bench.customers [sign-in] [checks] [tokens] [million]

sign-in and checks go through the whole application and print the CPU time of each by process: the API with all its
threads, PostgreSQL, and the load generator.

PostgreSQL (durable), the API and the load share the machine, so only the ratios are meaningful.
"""

import asyncio
import itertools
import json
import os
import statistics
import sys
import tempfile
import time
import urllib.request
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from urllib.parse import quote

import psycopg
import uvloop
from argon2 import PasswordHasher

from bench.direct import cpu_seconds_of
from bench.emails import Server, percentile, post
from bench.load import generate_load
from postern.kernel.database.embedded import run_embedded
from postern.kernel.database.migrations import migrate

SECONDS = 8.0
CONNECTIONS = 32
CUSTOMERS = 64
ROUNDS = 3
MILLION = 1_000_000
PASSWORD = "a long password of all customers"
HASHER = PasswordHasher(time_cost=2, memory_cost=19_456, parallelism=1)

SEED = """
insert into customers (project_id, id, email, email_key, identifier, email_verified_at, name, metadata, providers,
                       created_at, updated_at, external_id)
select %(project)s, gen_random_uuid(), address, address, sha256(address::bytea),
       case when n %% 3 > 0 then now() end, first || ' ' || last, '{"plan": "pro"}',
       case when n %% 2 = 0 then array['PASSWORD'] else array['GOOGLE'] end, now(), now(), 'crm-' || n
from (select n, first, last, lower(first) || '.' || lower(last) || n || '@' || domain as address
      from (select n, (%(first)s::text[])[1 + n * 7919 %% 40] as first,
                   (%(last)s::text[])[1 + n * 104729 %% 997] as last, (%(domain)s::text[])[1 + n * 31 %% 3988] as domain
            from generate_series(%(from)s::bigint, %(to)s::bigint) as n) as parts) as people
"""


def get(path: str, token: str) -> bytes:
    return f"GET {path} HTTP/1.1\r\nHost: bench\r\nAuthorization: Bearer {token}\r\n\r\n".encode()


class Connection:
    """A keep-alive connection to the API, with a separate loopback address for each number."""

    def __init__(self, port: int, number: int) -> None:
        self.port, self.ip = port, f"127.1.{number // 250}.{1 + number % 250}"

    async def __aenter__(self) -> "Connection":
        self.reader, self.writer = await asyncio.open_connection("127.0.0.1", self.port, local_addr=(self.ip, 0))
        return self

    async def __aexit__(self, *_: object) -> None:
        self.writer.close()

    async def send(self, request: bytes) -> tuple[int, bytes]:
        """Send a request; returns status and body of the response."""
        self.writer.write(request)
        head = (await self.reader.readuntil(b"\r\n\r\n")).lower()
        if b"content-length:" not in head:
            return int(head[9:12]), b""
        start = head.index(b"content-length:") + 15
        return int(head[9:12]), await self.reader.readexactly(int(head[start : head.index(b"\r", start)]))


Action = Callable[[Connection, int], Awaitable[None]]
"""A request to measure; called with a connection and its number."""


def argon2_limit(seconds: float = 4.0) -> float:
    """Password verifications per second on all cores."""
    password_hash, ends = HASHER.hash(PASSWORD), time.perf_counter() + seconds

    def verify() -> int:
        count = 0
        while time.perf_counter() < ends:
            HASHER.verify(password_hash, PASSWORD)
            count += 1
        return count

    with ThreadPoolExecutor(os.cpu_count()) as threads:
        return sum(future.result() for future in [threads.submit(verify) for _ in range(os.cpu_count() or 1)]) / seconds


async def repeat(port: int, connections: int, seconds: float, action: Action) -> tuple[float, list[float]]:
    """Repeat `await action(connection, number)` on each connection; returns calls per second, and durations."""
    times: list[float] = []
    ends = time.perf_counter() + seconds

    async def repeat_on_connection(number: int) -> None:
        async with Connection(port, number) as connection:
            while time.perf_counter() < ends:
                began = time.perf_counter()
                await action(connection, number)
                times.append(time.perf_counter() - began)

    began = time.perf_counter()
    await asyncio.gather(*(repeat_on_connection(number) for number in range(connections)))
    return len(times) / (time.perf_counter() - began), times


def import_customers(server: Server, count: int, into: tuple[str, str] | None = None) -> tuple[str, str, list[str]]:
    """Import customers into a project, by default a new one; returns its id, a key and the addresses."""
    project, key = into or server.project()[:2]
    password_hash, addresses = HASHER.hash(PASSWORD), [f"ada{number}@example.com" for number in range(count)]
    rows = [{"email": address, "emailVerified": True, "passwordHash": password_hash} for address in addresses]
    done = server.call("POST", f"/projects/{project}/customers/import", {"customers": rows}, key)
    assert done["created"] == count, done
    return project, key, addresses


def sign_in_request(project: str, address: str) -> bytes:
    return post(f"/projects/{project}/auth/sign-in", "", {"email": address, "password": PASSWORD}).replace(
        b"Authorization: Bearer \r\n", b""
    )


def measure_load(
    server: Server, database: int, request_of: Callable[[int], bytes], connections: int, seconds: float
) -> tuple[float, str]:
    """Generate load; returns responses per second, and these with percentiles and the CPU time of each by process.

    `database` is the process id of PostgreSQL.
    """
    api = server.running[0].pid
    before = cpu_seconds_of(api), cpu_seconds_of(database), time.process_time()
    load = generate_load(server.port, request_of, connections=connections, seconds=seconds)
    rate, times, statuses = uvloop.run(load)
    after = cpu_seconds_of(api), cpu_seconds_of(database), time.process_time()
    assert set(statuses) == {200}, statuses
    cpu = [(end - start) / len(times) * 1_000_000 for start, end in zip(before, after, strict=True)]
    p50, p95 = percentile(times, 0.5), percentile(times, 0.95)
    figures = f"{rate:,.1f}/s, p50 {p50:.1f} ms, p95 {p95:.1f} ms; CPU time of each: API {cpu[0]:,.0f} us"
    return rate, f"{figures}, PostgreSQL {cpu[1]:,.0f} us, load {cpu[2]:,.0f} us"


def sign_in(server: Server, database: int) -> list[tuple[str, str]]:
    """Sign-ins and the argon2 limit, measured in turns."""
    project, _, addresses = import_customers(server, CUSTOMERS)
    requests = [sign_in_request(project, address) for address in addresses]
    rows: list[tuple[str, str]] = []
    ratios, before = [], argon2_limit()
    for _ in range(ROUNDS):
        rate, figures = measure_load(server, database, requests.__getitem__, CONNECTIONS, SECONDS)
        after = argon2_limit()
        limit = (before + after) / 2
        ratios.append(rate / limit)
        rows.append(("argon2id verifications, all cores", f"{limit:,.1f}/s, {os.cpu_count()} threads"))
        rows.append(("password sign-ins", f"{figures}; {rate / limit:.2f} of the limit"))
        before = after
    return [*rows, ("password sign-ins, median", f"{statistics.median(ratios):.2f} of the limit")]


def checks(server: Server, database: int) -> list[tuple[str, str]]:
    """Access checks with a secret key, and reads with an access token, which check that token."""
    project, key, addresses = import_customers(server, CUSTOMERS)
    base = f"/projects/{project}"
    sessions = uvloop.run(create_sessions(server.port, project, addresses[:CONNECTIONS], times=1))
    role = {"key": "editor", "name": "Editor", "permissions": ["posts:*"]}
    server.call("POST", f"{base}/access/permissions", {"key": "posts:write"}, key)
    server.call("POST", f"{base}/access/roles", role, key)
    bodies = [{"permission": "posts:write", "customerId": session["customer"]["id"]} for session in sessions]
    server.call("PATCH", f"{base}/customers/{bodies[0]['customerId']}/roles", {"roles": ["editor"]}, key)
    check_requests = [post(f"{base}/access/check", key, body) for body in bodies]
    read_requests = [get(f"{base}/auth/me", session["accessToken"]) for session in sessions]
    rows: list[tuple[str, str]] = []
    for name, requests in (
        ("access checks", check_requests),
        ("checks of an access token (GET auth/me)", read_requests),
    ):
        for connections in (8, CONNECTIONS):
            _, figures = measure_load(server, database, requests.__getitem__, connections, SECONDS / 2)
            rows.append((f"{name}, {connections} connections", figures))
    return rows


async def create_sessions(port: int, project: str, addresses: list[str], *, times: int = 5) -> list[dict[str, Any]]:
    """Sign in `times` times with each address; returns the responses."""
    sessions: list[dict[str, Any]] = []
    for number, address in enumerate(addresses):
        async with Connection(port, number) as connection:
            for _ in range(times):
                status, body = await connection.send(sign_in_request(project, address))
                assert status == 200, body
                sessions.append(json.loads(body))
    return sessions


def refreshing(project: str, sessions: list[dict[str, Any]]) -> Action:
    """An action that refreshes the sessions, one after the other."""
    counter = itertools.count()

    async def refresh(connection: Connection, _: int) -> None:
        session = sessions[next(counter) % len(sessions)]
        request = post(f"/projects/{project}/auth/token/refresh", "x", {"refreshToken": session["refreshToken"]})
        status, body = await connection.send(request.replace(b"Authorization: Bearer x\r\n", b""))
        assert status == 200, body
        session.update(json.loads(body))

    return refresh


def reading(project: str, sessions: list[dict[str, Any]]) -> Action:
    """An action that reads the profile of a customer; each connection uses another session."""

    async def read(connection: Connection, number: int) -> None:
        status, body = await connection.send(get(f"/projects/{project}/auth/me", sessions[number]["accessToken"]))
        assert status == 200, body

    return read


def tokens(server: Server) -> list[tuple[str, str]]:
    project, key, addresses = import_customers(server, CUSTOMERS)
    base = f"/projects/{project}/auth"
    sessions = uvloop.run(create_sessions(server.port, project, addresses))
    actions = {"token refreshes": refreshing(project, sessions), "authenticated reads": reading(project, sessions)}
    rows: list[tuple[str, str]] = []
    for name, action in actions.items():
        seconds = 6.0 if name == "token refreshes" else SECONDS  # REFRESH_RATE limits the refreshes of a session.
        rate, times = uvloop.run(repeat(server.port, CONNECTIONS, seconds, action))
        p50, p99 = percentile(times, 0.5), percentile(times, 0.99)
        rows.append((name, f"{rate:,.0f}/s, p50 {p50:.1f} ms, p99 {p99:.1f} ms"))

    async def revoke() -> int:
        still_accepted = 0
        async with Connection(server.port, 1) as connection:
            for session in sessions[:100]:
                customer = session["customer"]["id"]
                path = f"/projects/{project}/customers/{customer}/sessions/{session['sessionId']}/revoke"
                status, _ = await connection.send(post(path, key, {}))
                assert status == 204
                status, _ = await connection.send(get(f"{base}/me", session["accessToken"]))
                still_accepted += status != 401
        return still_accepted

    rows.append(("requests accepted after a revocation, of 100", str(uvloop.run(revoke()))))
    return rows


def bare_selects(connection: psycopg.Connection, project: str, addresses: list[str]) -> list[float]:
    """Seconds of plain SELECTs by an index."""
    times = []
    for address in addresses * 5:
        began = time.perf_counter()
        connection.execute("select * from customers where project_id = %s and email_key = %s", [project, address])
        times.append(time.perf_counter() - began)
    return times


def million(server: Server, url: str) -> list[tuple[str, str]]:
    project, key, _ = server.project()
    firsts = [
        f"{a}{b}"
        for a in ("Ada", "Grace", "Alan", "Edsger", "Barbara", "Donald", "Niklaus", "Frances")
        for b in ("", "lyn", "bert", "ine", "o")
    ]
    lasts = [
        f"{a}{b}{c}".title()
        for a in ("lo", "ve", "ho", "tur", "dij", "lis", "knu", "wir", "al", "ba")
        for b in ("ra", "ne", "pi", "do", "ma", "ke", "su", "ti", "go", "fu")
        for c in ("son", "ski", "berg", "man", "ley", "ton", "feld", "wood", "ver", "din")
    ][:997]
    domains = [f"{last.lower()}{kind}.{end}" for last in lasts for kind in ("labs", "group") for end in ("com", "org")]
    began = time.perf_counter()
    with psycopg.connect(url, autocommit=True) as connection:
        for first in range(1, MILLION, 50_000):
            parts = {
                "project": project,
                "first": firsts,
                "last": lasts,
                "domain": domains,
                "from": first,
                "to": first + 49_999,
            }
            connection.execute(SEED, parts)
        connection.execute("vacuum analyze customers")
        insert_seconds = time.perf_counter() - began
        sample = connection.execute(
            "select email, name, external_id from customers tablesample system (1) limit 40"
        ).fetchall()
        bare = bare_selects(connection, project, [email for email, _, _ in sample])
    return [
        ("a million customers inserted", f"{insert_seconds:,.0f} s"),
        ("plain SELECT by address", f"p50 {percentile(bare, 0.5):.2f} ms, p95 {percentile(bare, 0.95):.2f} ms"),
        *searches(server, f"/projects/{project}/customers", key, sample),
        *export(server, f"/projects/{project}/customers", key),
    ]


def searches(server: Server, base: str, key: str, sample: list[tuple[str, str, str]]) -> list[tuple[str, str]]:
    rows = []
    paths_by_name = {
        "a complete address": [f"?q={quote(email)}" for email, _, _ in sample],
        "part of an address": [f"?q={quote(email.partition('@')[0][:12])}" for email, _, _ in sample],
        "a complete name": [f"?q={quote(name)}" for _, name, _ in sample],
        "a domain": [f"?q={quote(email.partition('@')[2])}" for email, _, _ in sample],
        "an external id": [f"?q={external}" for _, _, external in sample],
        "no search, with a filter": [f"?status={status}" for status in ("verified", "unverified", "mfa", "active")]
        * 10,
        "a provider": ["?provider=GOOGLE", "?provider=PASSWORD&status=verified"] * 20,
        "the last page without a cursor": ["?page=400"] * 20 + ["?page=400&status=verified"] * 20,
        "the statistics": ["/stats"] * 40,
    }
    all_times: list[float] = []

    async def measure(paths: list[str]) -> list[float]:
        times = []
        async with Connection(server.port, 1) as connection:
            for path in paths:
                began = time.perf_counter()
                status, body = await connection.send(get(base + path, key))
                times.append(time.perf_counter() - began)
                assert status == 200, body
        return times

    for name, paths in paths_by_name.items():
        uvloop.run(measure(paths[:5]))
        times = uvloop.run(measure(paths))
        all_times += times
        rows.append((name, f"p50 {percentile(times, 0.5):.1f} ms, p95 {percentile(times, 0.95):.1f} ms"))
    rows.append(("all of these", f"p95 {percentile(all_times, 0.95):.1f} ms"))
    times = uvloop.run(measure([f"?q={quote(name.split()[0])}" for _, name, _ in sample]))
    rows.append(("a first name that 25,000 have", f"p95 {percentile(times, 0.95):.1f} ms"))
    return rows


def export(server: Server, base: str, key: str) -> list[tuple[str, str]]:
    before, began = _memory(server), time.perf_counter()
    request = urllib.request.Request(f"{server.base}{base}/export", headers={"Authorization": f"Bearer {key}"})
    lines, highest = 0, before
    with urllib.request.urlopen(request, timeout=600) as response:
        while piece := response.read(1 << 20):
            lines += piece.count(b"\n")
            highest = max(highest, _memory(server))
    assert lines == MILLION + 1, lines
    seconds = time.perf_counter() - began
    return [("export of a million", f"{seconds:.0f} s, {(highest - before) / 1024:.0f} MiB more than before")]


def _memory(server: Server) -> int:
    """Resident KiB of the API processes."""
    resident = 0
    for process in server.running:
        for status in Path(f"/proc/{process.pid}").glob("status"):
            resident += int(
                next(line.split()[1] for line in status.read_text().splitlines() if line.startswith("VmRSS"))
            )
    return resident


def _reachable(folder: str) -> Path:
    """A data folder that PostgreSQL can access, even if it runs under another account."""
    Path(folder).chmod(0o755)
    return Path(folder) / "database"


def main() -> None:
    parts = set(sys.argv[1:]) or {"sign-in", "checks", "tokens", "million"}
    with tempfile.TemporaryDirectory(prefix="postern-bench-") as folder, run_embedded(_reachable(folder)) as database:
        url = database.url("postgres")
        migrate(url)
        server = Server(Path(folder), url)
        server.start("api")
        database_id = database.pid
        assert database_id is not None
        try:
            for name, measure in (
                ("sign-in", lambda: sign_in(server, database_id)),
                ("checks", lambda: checks(server, database_id)),
                ("tokens", lambda: tokens(server)),
                ("million", lambda: million(server, url)),
            ):
                if name in parts:
                    for label, figures in measure():
                        print(f"{label:<48} {figures}", flush=True)
        finally:
            server.stop()


if __name__ == "__main__":
    main()
