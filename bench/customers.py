"""Customers, measured: password sign-ins beside the argon2 limit, refreshes, reads, search and export at a million.

Run: python -m bench.customers [sign-in] [tokens] [million]

PostgreSQL (durable), the API and the load share the machine: a ratio counts, a second does not.
"""

import asyncio
import json
import os
import sys
import tempfile
import time
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.parse import quote

import psycopg
import uvloop
from argon2 import PasswordHasher

from bench.emails import Server, percentile, post
from postern.kernel.database.embedded import run_embedded
from postern.kernel.database.migrations import migrate

SECONDS = 8.0
CONNECTIONS = 32
PEOPLE = 64
MILLION = 1_000_000
PASSWORD = "a password nobody has"
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
    """One keep-alive connection, from an address of loopback of its own."""

    def __init__(self, port: int, number: int) -> None:
        self.port, self.ip = port, f"127.1.{number // 250}.{1 + number % 250}"

    async def __aenter__(self) -> "Connection":
        self.reader, self.writer = await asyncio.open_connection("127.0.0.1", self.port, local_addr=(self.ip, 0))
        return self

    async def __aexit__(self, *_: object) -> None:
        self.writer.close()

    async def send(self, request: bytes) -> tuple[int, bytes]:
        self.writer.write(request)
        head = (await self.reader.readuntil(b"\r\n\r\n")).lower()
        if b"content-length:" not in head:
            return int(head[9:12]), b""
        at = head.index(b"content-length:") + 15
        return int(head[9:12]), await self.reader.readexactly(int(head[at : head.index(b"\r", at)]))


def argon2_limit(seconds: float = 4.0) -> float:
    """Verifications a second that all cores can do."""
    kept, ends = HASHER.hash(PASSWORD), time.perf_counter() + seconds

    def verify() -> int:
        count = 0
        while time.perf_counter() < ends:
            HASHER.verify(kept, PASSWORD)
            count += 1
        return count

    with ThreadPoolExecutor(os.cpu_count()) as threads:
        return sum(each.result() for each in [threads.submit(verify) for _ in range(os.cpu_count() or 1)]) / seconds


async def repeat(port: int, connections: int, seconds: float, act) -> tuple[float, list[float]]:
    """`await act(connection, number)` over and over on each connection: how many a second, and their times."""
    times: list[float] = []
    ends = time.perf_counter() + seconds

    async def one(number: int) -> None:
        async with Connection(port, number) as connection:
            while time.perf_counter() < ends:
                began = time.perf_counter()
                await act(connection, number)
                times.append(time.perf_counter() - began)

    began = time.perf_counter()
    await asyncio.gather(*(one(number) for number in range(connections)))
    return len(times) / (time.perf_counter() - began), times


def people_of(server: Server, count: int) -> tuple[str, str, list[str]]:
    project, key, _ = server.project()
    kept, addresses = HASHER.hash(PASSWORD), [f"ada{number}@example.com" for number in range(count)]
    rows = [{"email": address, "emailVerified": True, "passwordHash": kept} for address in addresses]
    done = server.call("POST", f"/projects/{project}/customers/import", {"customers": rows}, key)
    assert done["created"] == count, done
    return project, key, addresses


def sign_in_request(project: str, address: str) -> bytes:
    return post(f"/projects/{project}/auth/sign-in", "", {"email": address, "password": PASSWORD}).replace(
        b"Authorization: Bearer \r\n", b""
    )


def sign_in(server: Server) -> list[tuple[str, str]]:
    project, _, addresses = people_of(server, PEOPLE)

    async def act(connection: Connection, number: int) -> None:
        status, body = await connection.send(sign_in_request(project, addresses[number]))
        assert status == 200, body

    before = argon2_limit()
    rate, times = uvloop.run(repeat(server.port, CONNECTIONS, SECONDS, act))
    limit = (before + argon2_limit()) / 2
    told = f"{rate:,.1f}/s, p50 {percentile(times, 0.5):.0f} ms, {rate / limit:.2f} of the limit"
    return [("argon2id verifications, all cores", f"{limit:,.1f}/s"), ("password sign-ins", told)]


def tokens(server: Server) -> list[tuple[str, str]]:
    project, key, addresses = people_of(server, PEOPLE)
    base = f"/projects/{project}/auth"
    sessions: list[dict] = []

    async def begin() -> None:
        for number in range(PEOPLE):
            async with Connection(server.port, number) as connection:
                for _ in range(5):
                    status, body = await connection.send(sign_in_request(project, addresses[number]))
                    assert status == 200, body
                    sessions.append(json.loads(body))

    uvloop.run(begin())
    turn = iter(range(10**9))

    async def refresh(connection: Connection, number: int) -> None:
        session = sessions[next(turn) % len(sessions)]
        status, body = await connection.send(
            post(f"{base}/token/refresh", "x", {"refreshToken": session["refreshToken"]}).replace(
                b"Authorization: Bearer x\r\n", b""
            )
        )
        assert status == 200, body
        session.update(json.loads(body))

    async def read(connection: Connection, number: int) -> None:
        status, body = await connection.send(get(f"{base}/me", sessions[number]["accessToken"]))
        assert status == 200, body

    rows = []
    for name, act, seconds in (("token refreshes", refresh, 6.0), ("authenticated reads", read, SECONDS)):
        rate, times = uvloop.run(repeat(server.port, CONNECTIONS, seconds, act))
        p50, p99 = percentile(times, 0.5), percentile(times, 0.99)
        rows.append((name, f"{rate:,.0f}/s, p50 {p50:.1f} ms, p99 {p99:.1f} ms"))

    async def revoke() -> int:
        late = 0
        async with Connection(server.port, 1) as connection:
            for session in sessions[:100]:
                customer = session["customer"]["id"]
                path = f"/projects/{project}/customers/{customer}/sessions/{session['sessionId']}/revoke"
                status, _ = await connection.send(post(path, key, {}))
                assert status == 204
                status, _ = await connection.send(get(f"{base}/me", session["accessToken"]))
                late += status != 401
        return late

    rows.append(("requests let in after a revocation, of 100", str(uvloop.run(revoke()))))
    return rows


def bare_selects(connection: psycopg.Connection, project: str, addresses: list[str]) -> list[float]:
    """What one look at an index costs here and now, in seconds."""
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
        made = time.perf_counter() - began
        some = connection.execute(
            "select email, name, external_id from customers tablesample system (1) limit 40"
        ).fetchall()
        bare = bare_selects(connection, project, [email for email, _, _ in some])
    return [
        ("made a million customers", f"{made:,.0f} s"),
        ("bare SELECT by address", f"p50 {percentile(bare, 0.5):.2f} ms, p95 {percentile(bare, 0.95):.2f} ms"),
        *searches(server, f"/projects/{project}/customers", key, some),
        *export(server, f"/projects/{project}/customers", key),
    ]


def searches(server: Server, base: str, key: str, some: list[tuple[str, str, str]]) -> list[tuple[str, str]]:
    rows = []
    wanted = {
        "a whole address": [f"?q={quote(email)}" for email, _, _ in some],
        "part of an address": [f"?q={quote(email.partition('@')[0][:12])}" for email, _, _ in some],
        "a whole name": [f"?q={quote(name)}" for _, name, _ in some],
        "a domain": [f"?q={quote(email.partition('@')[2])}" for email, _, _ in some],
        "an external id": [f"?q={external}" for _, _, external in some],
        "no search, with a filter": [f"?status={status}" for status in ("verified", "unverified", "mfa", "active")]
        * 10,
        "a provider": ["?provider=GOOGLE", "?provider=PASSWORD&status=verified"] * 20,
        "the last page that pages reach": ["?page=400"] * 20 + ["?page=400&status=verified"] * 20,
        "the statistics": ["/stats"] * 40,
    }
    everything: list[float] = []

    async def measure(paths: list[str]) -> list[float]:
        times = []
        async with Connection(server.port, 1) as connection:
            for path in paths:
                began = time.perf_counter()
                status, body = await connection.send(get(base + path, key))
                times.append(time.perf_counter() - began)
                assert status == 200, body
        return times

    for name, paths in wanted.items():
        uvloop.run(measure(paths[:5]))
        times = uvloop.run(measure(paths))
        everything += times
        rows.append((name, f"p50 {percentile(times, 0.5):.1f} ms, p95 {percentile(times, 0.95):.1f} ms"))
    rows.append(("all of them", f"p95 {percentile(everything, 0.95):.1f} ms"))
    times = uvloop.run(measure([f"?q={quote(name.split()[0])}" for _, name, _ in some]))
    rows.append(("a first name that 25,000 have", f"p95 {percentile(times, 0.95):.1f} ms"))
    return rows


def export(server: Server, base: str, key: str) -> list[tuple[str, str]]:
    before, began = _memory(server), time.perf_counter()
    request = urllib.request.Request(f"{server.base}{base}/export", headers={"Authorization": f"Bearer {key}"})
    lines, highest = 0, before
    with urllib.request.urlopen(request, timeout=600) as answer:
        while piece := answer.read(1 << 20):
            lines += piece.count(b"\n")
            highest = max(highest, _memory(server))
    assert lines == MILLION + 1, lines
    took = time.perf_counter() - began
    return [("export of a million", f"{took:.0f} s, {(highest - before) / 1024:.0f} MiB more than before")]


def _memory(server: Server) -> int:
    """Resident KiB of the API processes."""
    found = 0
    for process in server.running:
        for status in Path(f"/proc/{process.pid}").glob("status"):
            found += int(next(line.split()[1] for line in status.read_text().splitlines() if line.startswith("VmRSS")))
    return found


def _reachable(folder: str) -> Path:
    """Where PostgreSQL keeps its files durably; its account, which is not ours, has to get there."""
    Path(folder).chmod(0o755)
    return Path(folder) / "database"


def main() -> None:
    wanted = set(sys.argv[1:]) or {"sign-in", "tokens", "million"}
    with tempfile.TemporaryDirectory(prefix="postern-bench-") as folder, run_embedded(_reachable(folder)) as database:
        url = database.url("postgres")
        migrate(url)
        server = Server(Path(folder), url)
        server.start("api")
        try:
            for name, measure in (
                ("sign-in", lambda: sign_in(server)),
                ("tokens", lambda: tokens(server)),
                ("million", lambda: million(server, url)),
            ):
                if name in wanted:
                    for what, told in measure():
                        print(f"{what:<48} {told}", flush=True)
        finally:
            server.stop()


if __name__ == "__main__":
    main()
