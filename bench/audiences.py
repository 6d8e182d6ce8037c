"""A million contacts: import, audiences with rules, change, export, compared with plain PostgreSQL statements.

Run: python -m bench.audiences [CONTACTS]

PostgreSQL (durable), the API, the worker and this program share the machine. All requests are sent over HTTP.
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
from typing import Any, LiteralString

import httpx
import psycopg
import uvloop

from bench.processes import meter
from postern.cli.bootstrap import create_account_with_project
from postern.kernel.config import Settings
from postern.kernel.database.embedded import run_embedded
from postern.kernel.database.migrations import migrate

PORT = 18_641
SECRET = "a secret for the length of one benchmark"
DYNAMIC = 100
"""Audiences with rules."""
CHANGES = 200
"""Measured changes of one contact."""
HEADER = "email,name,plan,seats,country,since,vip\n"
CONTACT_INDEXES = "alter table bare add primary key (project_id, id), add unique (project_id, email_key)"
SEARCH_INDEXES = """
    create index on bare (project_id, id) where unsubscribed;
    create index on bare using gin (project_id, email_key gin_trgm_ops)
"""
EVENT_INDEXES = "alter table bare add primary key (project_id, id); create index on bare (project_id, subject_id, id)"
CONDITIONS: list[dict[str, Any]] = [
    {"field": "plan", "operator": "eq", "value": "pro"},
    {"field": "seats", "operator": "gte", "value": 50},
    {"field": "since", "operator": "after", "value": "2023-06-01"},
]


def write_file(path: Path, count: int) -> None:
    """Write a CSV file with this number of contacts."""
    rng = random.Random(7)
    with path.open("w") as file:
        file.write(HEADER)
        for number in range(count):
            file.write(
                f'user.{number}@mail{number % 300}.example.com,"Lovelace, Ada {number}",'
                f"{rng.choice(('free', 'pro', 'team'))},{rng.randrange(100)},"
                f"{rng.choice(('IT', 'DE', 'FR', 'US'))},202{rng.randrange(6)}-0{rng.randrange(1, 10)}-15,"
                f"{rng.choice(('true', 'false'))}\n"
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
    """The peak resident memory of a process in MB."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) / 1024


def show(label: str, seconds: float, count: int, reference: str = "", reference_seconds: float = 0) -> None:
    """Print duration and rate, and the ratio to a reference measurement if one is given."""
    ratio = ""
    if reference_seconds:
        ratio = f"   {seconds / reference_seconds:5.2f} x {reference} ({reference_seconds:.2f} s)"
    print(f"{label:<44} {seconds:8.2f} s {count / seconds:>12,.0f} /s{ratio}", flush=True)


def bare_copy(url: str, table: LiteralString, indexes: LiteralString, folder: Path) -> float:
    """Seconds of a COPY of the rows of a table into one with the same columns, and of building its `indexes` (SQL): the
    limit of the import."""
    file = folder / "rows"
    with psycopg.connect(url, autocommit=True) as connection:
        with file.open("wb") as target, connection.cursor().copy(f"copy {table} to stdout") as copy:
            for piece in copy:
                target.write(piece)
        connection.execute(f"create table bare (like {table})")
        began = time.perf_counter()
        with connection.transaction():
            with connection.cursor().copy("copy bare from stdin") as copy, file.open("rb") as data:
                while piece := data.read(1 << 20):
                    copy.write(piece)
            connection.execute(indexes)
        seconds = time.perf_counter() - began
        connection.execute("drop table bare")
    file.unlink()
    return seconds


def bare_insert(url: str) -> float:
    """Seconds of INSERT … SELECT of all contacts and their events, with all indexes."""
    with psycopg.connect(url) as connection:
        began = time.perf_counter()
        connection.execute("create table bare (like contacts including all)")
        connection.execute("insert into bare select * from contacts")
        connection.execute("create table bare_events (like events including all)")
        connection.execute("insert into bare_events select * from events where type = 'contact.created'")
        seconds = time.perf_counter() - began
        connection.rollback()
    return seconds


def bare_scan(url: str) -> float:
    """Seconds of a SELECT that reads the attributes of every contact."""
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
    """Seconds of a COPY TO of all contacts."""
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
    """Wait for the API, create a project, and set its URL and token in `client`."""
    for _ in range(300):
        try:
            if (await client.get("/readyz")).is_success:
                break
        except httpx.TransportError:
            pass
        await asyncio.sleep(0.1)
    created = await create_account_with_project(
        Settings(data=folder, secret=SECRET, base_url=str(client.base_url)), url, str(client.base_url)
    )
    client.headers["authorization"] = f"Bearer {created.developer_token}"
    client.base_url = client.base_url.join(f"/projects/{created.project_id}/")


async def import_file(client: httpx.AsyncClient, file: Path, mode: str = "upsert") -> tuple[float, float, Any]:
    """Import a file; returns seconds of the upload, seconds until the end of the import, and the import."""
    began = time.perf_counter()
    upload = await client.post(
        f"contacts/import?mode={mode}", content=body_of(file), headers={"content-type": "text/csv"}
    )
    uploaded = time.perf_counter() - began
    path = f"contacts/imports/{upload.raise_for_status().json()['id']}"
    while (state := (await client.get(path)).json())["status"] in ("PENDING", "RUNNING"):
        await asyncio.sleep(0.1)
    return uploaded, time.perf_counter() - began, state


async def recompute(client: httpx.AsyncClient, url: str, count: int) -> None:
    """Measure setting and changing the rules of an audience, and a recompute without changes."""
    audience = (await client.post("audiences", json={"name": "three conditions"})).json()["id"]
    began = time.perf_counter()
    rules = {"match": "all", "conditions": CONDITIONS}
    change = (await client.patch(f"audiences/{audience}/rules", json=rules)).raise_for_status().json()
    filled = time.perf_counter() - began
    limit = bare_scan(url)
    show(f"rules set: {change['added']:,} added, with events", filled, count, "a plain SELECT", limit)
    began = time.perf_counter()
    change = (await client.post(f"audiences/{audience}/recompute")).raise_for_status().json()
    assert change == {"added": 0, "removed": 0}
    show("recompute without changes", time.perf_counter() - began, count, "a plain SELECT", limit)
    rules = {"match": "all", "conditions": [{**CONDITIONS[0], "operator": "neq"}, *CONDITIONS[1:]]}
    began = time.perf_counter()
    change = (await client.patch(f"audiences/{audience}/rules", json=rules)).raise_for_status().json()
    seconds = time.perf_counter() - began
    show(
        f"rules changed: {change['added']:,} added, {change['removed']:,} removed",
        seconds,
        count,
        "a plain SELECT",
        limit,
    )


async def change_one(client: httpx.AsyncClient, url: str) -> None:
    """Measure changes of one contact over HTTP, with one audience with rules and with DYNAMIC of them."""
    contact = (await client.post("contacts", json={"email": "one@example.com"})).json()["id"]
    one_audience = await changes(client, contact)
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
        f"change of a contact: p50 {one_audience[0]:.1f} ms, p95 {one_audience[1]:.1f} ms with 1 audience with rules; "
        f"p50 {many[0]:.1f} ms, p95 {many[1]:.1f} ms with {DYNAMIC}",
        flush=True,
    )
    joining = await changes(client, contact, attributes=lambda n: {"seats": 2_000 * (n % 2), "plan": "pro"})
    print(
        f"change that adds it to {DYNAMIC - 1} of them or removes it: p50 {joining[0]:.1f} ms, p95 {joining[1]:.1f} ms",
        flush=True,
    )


async def changes(client: httpx.AsyncClient, contact: str, attributes: Any = lambda n: {"n": n}) -> tuple[float, float]:
    """Change a contact CHANGES times; returns p50 and p95 in milliseconds."""
    durations: list[float] = []
    for number in range(CHANGES):
        began = time.perf_counter()
        response = await client.patch(f"contacts/{contact}", json={"attributes": attributes(number)})
        durations.append((time.perf_counter() - began) * 1000)
        response.raise_for_status()
    durations = sorted(durations[20:])
    return durations[len(durations) // 2], durations[len(durations) * 95 // 100]


async def export(client: httpx.AsyncClient, url: str, count: int) -> None:
    describe = meter()
    began, size, first = time.perf_counter(), 0, 0.0
    async with client.stream("GET", "contacts/export") as response:
        async for piece in response.aiter_raw():
            first = first or time.perf_counter() - began
            size += len(piece)
    seconds = time.perf_counter() - began
    print(f"export: {describe(count)}", flush=True)
    show(f"export, {size / 1e6:.0f} MB, first byte after {first:.1f} s", seconds, count, "COPY TO", bare_copy_out(url))


async def lists(client: httpx.AsyncClient) -> None:
    for path in ("contacts", "contacts?page=400", "contacts?q=user.77777@", "contacts?unsubscribed=true"):
        durations: list[float] = []
        for _ in range(20):
            began = time.perf_counter()
            (await client.get(path)).raise_for_status()
            durations.append((time.perf_counter() - began) * 1000)
        print(f"GET {path:<30} p50 {sorted(durations)[10]:7.1f} ms, p95 {sorted(durations)[18]:7.1f} ms", flush=True)


async def measure(url: str, pids: dict[str, int], file: Path, count: int) -> None:
    async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{PORT}", timeout=600) as client:
        await sign_up(client, url, file.parent)
        before = {name: memory(pid) for name, pid in pids.items()}
        describe = meter()
        uploaded, seconds, state = await import_file(client, file)
        print(f"import: {describe(count)}", flush=True)
        assert (state["created"], state["failed"]) == (count, 0), state
        copy_seconds = bare_copy(url, "contacts", CONTACT_INDEXES, file.parent)
        show("limit: COPY of the contacts, then two indexes", copy_seconds, count)
        show("upload", uploaded, count, "COPY", copy_seconds)
        show("import with events", seconds, count, "COPY", copy_seconds)
        event_seconds = bare_copy(url, "events", EVENT_INDEXES, file.parent)
        both_seconds = copy_seconds + event_seconds
        show("limit: the same with the events", both_seconds, count)
        show("the same import, compared with that", seconds, count, "COPY with events", both_seconds)
        all_seconds = event_seconds + bare_copy(url, "contacts", CONTACT_INDEXES + "; " + SEARCH_INDEXES, file.parent)
        show("limit: COPY of both, then all their indexes", all_seconds, count)
        show("the same import, compared with that", seconds, count, "COPY, all indexes", all_seconds)
        insert_seconds = bare_insert(url)
        show("limit: contacts and events by INSERT … SELECT", insert_seconds, count)
        show("the same import, compared with that", seconds, count, "INSERT … SELECT", insert_seconds)
        _, seconds, state = await import_file(client, file)
        assert state["updated"] == count, state
        show("the same file again", seconds, count, "COPY", copy_seconds)
        await lists(client)
        await recompute(client, url, count)
        await export(client, url, count)
        await change_one(client, url)
        for name, pid in pids.items():
            print(f"memory of the {name}: {before[name]:.0f} MB at first, peak {memory(pid):.0f} MB", flush=True)


def run(count: int) -> None:
    """Measure everything with this number of contacts and print the results."""
    with (
        tempfile.TemporaryDirectory() as folder,
        tempfile.TemporaryDirectory() as data_folder,
        run_embedded(Path(data_folder)) as server,
    ):
        migrate(server.url())
        file = Path(folder, "contacts.csv")
        write_file(file, count)
        print(f"{count:,} contacts, {file.stat().st_size / 1e6:.0f} MB", flush=True)
        with running(server.url(), folder) as pids:
            uvloop.run(measure(server.url(), pids, file, count))


if __name__ == "__main__":
    run(int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000)
