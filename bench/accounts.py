"""A million contacts: exported with their account in flat memory, and deleted by workers that are killed on the way.

Run: python -m bench.accounts [CONTACTS]

A durable PostgreSQL, the API, the worker and this program share the machine; everything goes over HTTP.
"""

import asyncio
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from uuid import UUID

import httpx
import psycopg
import uvloop

from bench.audiences import PORT, memory, running, show, sign_up
from postern.kernel.database.embedded import run_embedded
from postern.kernel.database.migrations import migrate

FILL = """
    insert into contacts (project_id, id, email, email_key, attributes, created_at, updated_at)
    select %(project_id)s, gen_random_uuid(), e, e, '{"plan": "pro", "seats": 12, "country": "IT"}', now(), now()
    from generate_series(%(first)s::int, %(last)s::int) n, lateral (select 'user.' || n || '@example.com') x (e)
"""
COPY = """
    copy (select row_to_json(c)::text from contacts c) to stdout
"""


async def exported(client: httpx.AsyncClient) -> tuple[float, int]:
    began, octets = time.perf_counter(), 0
    async with client.stream("GET", str(client.base_url.join("/account/export"))) as answer:
        async for piece in answer.raise_for_status().aiter_raw():
            octets += len(piece)
    return time.perf_counter() - began, octets


def bare_copy(url: str) -> float:
    with psycopg.connect(url) as connection:
        began = time.perf_counter()
        with connection.cursor().copy(COPY) as copy:
            for _ in copy:
                pass
        return time.perf_counter() - began


def bare_delete(url: str, project_id: UUID) -> float:
    """All of it in one statement, rolled back."""
    with psycopg.connect(url) as connection:
        began = time.perf_counter()
        connection.execute("delete from contacts where project_id = %s", (project_id,))
        took = time.perf_counter() - began
        connection.rollback()
    return took


def left(url: str) -> int:
    with psycopg.connect(url) as connection:
        row = connection.execute("select count(*) from contacts").fetchone()
        assert row
        return row[0]


async def measure(url: str, folder: str, count: int) -> None:
    with running(url, folder) as pids:
        async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{PORT}", timeout=600) as client:
            await sign_up(client, url, Path(folder))
            project_id = UUID(client.base_url.path.split("/")[2])
            small = count // 100
            with psycopg.connect(url, autocommit=True) as connection:
                connection.execute(FILL, {"project_id": project_id, "first": 1, "last": small})
                _, octets = await exported(client)
                before = memory(pids["api"])
                print(f"export of {small:,} contacts, {octets / 1e6:.0f} MB: the API's peak is {before:.0f} MB")
                connection.execute(FILL, {"project_id": project_id, "first": small + 1, "last": count})
                connection.execute("vacuum analyze contacts")
            took, octets = await exported(client)
            after = memory(pids["api"])
            print(f"export of {count:,} contacts, {octets / 1e6:.0f} MB: the API's peak is {after:.0f} MB")
            show("export of the account", took, count, "COPY of the same as JSON", bare_copy(url))
            limit = bare_delete(url, project_id)
            await delete_with_kills(client, url, folder, count, pids["worker"], limit)


async def delete_with_kills(
    client: httpx.AsyncClient, url: str, folder: str, count: int, worker: int, limit: float
) -> None:
    """The project is deleted; its worker is killed half-way, and another one takes over when the lease has ended."""
    (await client.delete(str(client.base_url).rstrip("/"))).raise_for_status()
    assert (await client.get("")).status_code == 404
    began = time.perf_counter()
    while (rows := left(url)) > count / 2:
        await asyncio.sleep(0.2)
    os.kill(worker, signal.SIGKILL)
    half = time.perf_counter() - began
    show("half of it deleted, then kill -9", half, count - rows, "one DELETE of all", limit)
    with psycopg.connect(url, autocommit=True) as connection:
        # Nobody waits for the lease here: the clock that ends it is the database's.
        connection.execute("update deletions set due_at = now()")
    environment = os.environ | {
        "DATABASE_URL": url,
        "POSTERN_DATA": folder,
        "POSTERN_SECRET": "a secret for the length of one benchmark",
        "POSTERN_LOG_LEVEL": "warning",
    }
    second = subprocess.Popen([sys.executable, "-m", "postern", "worker"], env=environment)
    try:
        began, rest = time.perf_counter(), left(url)
        while left(url):
            await asyncio.sleep(0.2)
        show("the rest by another worker", time.perf_counter() - began, max(rest, 1))
    finally:
        second.terminate()
        second.wait()


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    with (
        tempfile.TemporaryDirectory() as folder,
        tempfile.TemporaryDirectory() as place,
        run_embedded(Path(place)) as server,
    ):
        migrate(server.url())
        uvloop.run(measure(server.url(), folder, count))


if __name__ == "__main__":
    main()
