"""A million contacts: importing, choosing, changing one, exporting, beside what PostgreSQL itself takes for it.

Run: python -m bench.audiences [CONTACTS]

A durable PostgreSQL, the API, the worker and this program share the machine; everything goes over HTTP.
"""

import asyncio
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import psycopg
import uvloop

from postern.cli.bootstrap import create_first_project
from postern.kernel.config import Settings
from postern.kernel.database.embedded import run_embedded
from postern.kernel.database.migrations import migrate

PORT = 18_641
SECRET = "a secret for the length of one benchmark"
DYNAMIC = 100
CHANGES = 200
HEADER = "email,name,plan,seats,country,since,vip\n"
CONDITIONS: list[dict[str, Any]] = [
    {"field": "plan", "operator": "eq", "value": "pro"},
    {"field": "seats", "operator": "gte", "value": 50},
    {"field": "since", "operator": "after", "value": "2023-06-01"},
]


def write_file(path: Path, count: int) -> None:
    """A file of contacts as a shop would export it."""
    chance = random.Random(7)
    with path.open("w") as file:
        file.write(HEADER)
        for number in range(count):
            file.write(
                f'user.{number}@mail{number % 300}.example.com,"Lovelace, Ada {number}",'
                f"{chance.choice(('free', 'pro', 'team'))},{chance.randrange(100)},"
                f"{chance.choice(('IT', 'DE', 'FR', 'US'))},202{chance.randrange(6)}-0{chance.randrange(1, 10)}-15,"
                f"{chance.choice(('true', 'false'))}\n"
            )


@contextmanager
def running(url: str, folder: str) -> Iterator[dict[str, int]]:
    """An API process and a worker process; yields their process ids."""
    environment = os.environ | {
        "DATABASE_URL": url,
        "POSTERN_DATA": folder,
        "POSTERN_SECRET": SECRET,
        "POSTERN_PORT": str(PORT),
        "POSTERN_LOG_LEVEL": "warning",
    }
    started = {
        name: subprocess.Popen([sys.executable, "-m", "postern", name], env=environment) for name in ("api", "worker")
    }
    try:
        yield {name: process.pid for name, process in started.items()}
    finally:
        for process in started.values():
            process.terminate()
        for process in started.values():
            process.wait()


def memory(pid: int) -> float:
    """The most memory that a process has had resident, in MB."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) / 1024


def show(what: str, seconds: float, count: int, beside: str = "", limit: float = 0) -> None:
    ratio = f"   {seconds / limit:5.2f} x {beside} ({limit:.2f} s)" if limit else ""
    print(f"{what:<44} {seconds:8.2f} s {count / seconds:>12,.0f} /s{ratio}", flush=True)


def bare_copy(url: str, file: Path) -> float:
    """The same lines by COPY into a table like ours: what the import is measured against."""
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(
            "create table bare (email text, name text, plan text, seats int, country text, since date, vip boolean)"
        )
        began = time.perf_counter()
        with connection.cursor().copy("copy bare from stdin (format csv, header)") as copy, file.open("rb") as data:
            while piece := data.read(1 << 20):
                copy.write(piece)
        connection.execute("create unique index on bare (lower(email))")
        took = time.perf_counter() - began
        connection.execute("drop table bare")
    return took


def bare_insert(url: str) -> float:
    """The contacts and their events, once more, by INSERT … SELECT: rows and indexes as they have to be."""
    with psycopg.connect(url) as connection:
        began = time.perf_counter()
        connection.execute("create table bare (like contacts including all)")
        connection.execute("insert into bare select * from contacts")
        connection.execute("create table bare_events (like events including all)")
        connection.execute("insert into bare_events select * from events where type = 'contact.created'")
        took = time.perf_counter() - began
        connection.rollback()
    return took


def bare_scan(url: str) -> float:
    """One look at the attributes of every contact."""
    with psycopg.connect(url) as connection:
        connection.execute("set max_parallel_workers_per_gather = 0")
        began = time.perf_counter()
        text = """
            select count(*) from contacts
            where attributes ->> 'plan' = 'pro' and (attributes -> 'seats')::int >= 50
              and attributes ->> 'since' > '2023-06-01'
        """
        connection.execute(text)
        return time.perf_counter() - began


def bare_copy_out(url: str) -> float:
    with psycopg.connect(url) as connection:
        began = time.perf_counter()
        text = "copy (select id, email, unsubscribed, created_at, attributes from contacts) to stdout (format csv)"
        with connection.cursor().copy(text) as copy:
            for _ in copy:
                pass
        return time.perf_counter() - began


async def body_of(file: Path) -> AsyncIterator[bytes]:
    with file.open("rb") as data:
        while piece := data.read(1 << 18):
            yield piece


async def sign_up(client: httpx.AsyncClient, url: str, folder: Path) -> None:
    for _ in range(300):
        try:
            if (await client.get("/readyz")).is_success:
                break
        except httpx.TransportError:
            pass
        await asyncio.sleep(0.1)
    made = await create_first_project(
        Settings(data=folder, secret=SECRET, base_url=str(client.base_url)), url, str(client.base_url)
    )
    client.headers["authorization"] = f"Bearer {made.developer_token}"
    client.base_url = client.base_url.join(f"/projects/{made.project_id}/")


async def import_file(client: httpx.AsyncClient, file: Path, mode: str = "upsert") -> tuple[float, float, Any]:
    """Seconds of the upload, seconds until all is in, and the finished import."""
    began = time.perf_counter()
    up = await client.post(f"contacts/import?mode={mode}", content=body_of(file), headers={"content-type": "text/csv"})
    uploaded = time.perf_counter() - began
    path = f"contacts/imports/{up.raise_for_status().json()['id']}"
    while (state := (await client.get(path)).json())["status"] in ("PENDING", "RUNNING"):
        await asyncio.sleep(0.1)
    return uploaded, time.perf_counter() - began, state


async def recompute(client: httpx.AsyncClient, url: str, count: int) -> None:
    audience = (await client.post("audiences", json={"name": "three conditions"})).json()["id"]
    began = time.perf_counter()
    rules = {"match": "all", "conditions": CONDITIONS}
    change = (await client.patch(f"audiences/{audience}/rules", json=rules)).raise_for_status().json()
    filled = time.perf_counter() - began
    limit = bare_scan(url)
    show(f"rules set: {change['added']:,} join, with events", filled, count, "a bare scan", limit)
    began = time.perf_counter()
    change = (await client.post(f"audiences/{audience}/recompute")).raise_for_status().json()
    assert change == {"added": 0, "removed": 0}
    show("recompute, nothing to change", time.perf_counter() - began, count, "a bare scan", limit)
    rules = {"match": "all", "conditions": [{**CONDITIONS[0], "operator": "neq"}, *CONDITIONS[1:]]}
    began = time.perf_counter()
    change = (await client.patch(f"audiences/{audience}/rules", json=rules)).raise_for_status().json()
    took = time.perf_counter() - began
    show(f"rules changed: {change['added']:,} in, {change['removed']:,} out", took, count, "a bare scan", limit)


async def change_one(client: httpx.AsyncClient, url: str) -> None:
    """One contact's change, end to end over HTTP, with a hundred dynamic audiences to hold it against."""
    contact = (await client.post("contacts", json={"email": "one@example.com"})).json()["id"]
    alone = await changes(client, contact)
    for number in range(DYNAMIC - 1):
        audience = (await client.post("audiences", json={"name": f"number {number}"})).json()["id"]
        conditions = [
            {"field": "seats", "operator": "gt", "value": 1_000 + number},
            {"field": "plan", "operator": "in", "value": ["pro", "team"]},
            {"field": "lastOpenedAt", "operator": "notWithinDays", "value": 30 + number},
        ]
        rules = {"conditions": conditions}
        (await client.patch(f"audiences/{audience}/rules", json=rules)).raise_for_status()
    many = await changes(client, contact)
    print(
        f"one contact's change: p50 {alone[0]:.1f} ms, p95 {alone[1]:.1f} ms with 1 dynamic audience; "
        f"p50 {many[0]:.1f} ms, p95 {many[1]:.1f} ms with {DYNAMIC}",
        flush=True,
    )
    joining = await changes(client, contact, attributes=lambda n: {"seats": 2_000 * (n % 2), "plan": "pro"})
    print(f"… that joins or leaves {DYNAMIC - 1} of them: p50 {joining[0]:.1f} ms, p95 {joining[1]:.1f} ms", flush=True)


async def changes(client: httpx.AsyncClient, contact: str, attributes: Any = lambda n: {"n": n}) -> tuple[float, float]:
    took: list[float] = []
    for number in range(CHANGES):
        began = time.perf_counter()
        answer = await client.patch(f"contacts/{contact}", json={"attributes": attributes(number)})
        took.append((time.perf_counter() - began) * 1000)
        answer.raise_for_status()
    took = sorted(took[20:])
    return took[len(took) // 2], took[len(took) * 95 // 100]


async def export(client: httpx.AsyncClient, url: str, count: int) -> None:
    began, size, first = time.perf_counter(), 0, 0.0
    async with client.stream("GET", "contacts/export") as answer:
        async for piece in answer.aiter_raw():
            first = first or time.perf_counter() - began
            size += len(piece)
    took = time.perf_counter() - began
    show(f"export, {size / 1e6:.0f} MB, first byte after {first:.1f} s", took, count, "COPY TO", bare_copy_out(url))


async def pages(client: httpx.AsyncClient) -> None:
    for path in ("contacts", "contacts?page=400", "contacts?q=user.77777@", "contacts?unsubscribed=true"):
        took: list[float] = []
        for _ in range(20):
            began = time.perf_counter()
            (await client.get(path)).raise_for_status()
            took.append((time.perf_counter() - began) * 1000)
        print(f"GET {path:<30} p50 {sorted(took)[10]:7.1f} ms, p95 {sorted(took)[18]:7.1f} ms", flush=True)


async def measure(url: str, pids: dict[str, int], file: Path, count: int) -> None:
    async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{PORT}", timeout=600) as client:
        await sign_up(client, url, file.parent)
        before = {name: memory(pid) for name, pid in pids.items()}
        copied = bare_copy(url, file)
        show("limit: COPY and a unique index", copied, count)
        uploaded, took, state = await import_file(client, file)
        assert (state["created"], state["failed"]) == (count, 0), state
        show("upload", uploaded, count, "COPY", copied)
        show("import, rows, events and all", took, count, "COPY", copied)
        inserted = bare_insert(url)
        show("limit: contacts and events by INSERT … SELECT", inserted, count)
        show("import, once more, beside that", took, count, "INSERT … SELECT", inserted)
        _, took, state = await import_file(client, file)
        assert state["updated"] == count, state
        show("the same file again", took, count, "COPY", copied)
        await pages(client)
        await recompute(client, url, count)
        await export(client, url, count)
        await change_one(client, url)
        for name, pid in pids.items():
            print(f"memory of the {name}: {before[name]:.0f} MB at first, {memory(pid):.0f} MB at most", flush=True)


def run(count: int) -> None:
    """Measure all of it with so many contacts, and print."""
    with (
        tempfile.TemporaryDirectory() as folder,
        tempfile.TemporaryDirectory() as place,
        run_embedded(Path(place)) as server,
    ):
        migrate(server.url())
        file = Path(folder, "contacts.csv")
        write_file(file, count)
        print(f"{count:,} contacts, {file.stat().st_size / 1e6:.0f} MB", flush=True)
        with running(server.url(), folder) as pids:
            uvloop.run(measure(server.url(), pids, file, count))


if __name__ == "__main__":
    run(int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000)
