"""An account with a million contacts: memory and time of its export, and deletion with a killed worker.

Run: python -m bench.accounts [CONTACTS]

PostgreSQL (durable), the API, the worker and this program share the machine. All requests are sent over HTTP.
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


async def export_account(client: httpx.AsyncClient) -> tuple[float, int]:
    """Export the account; returns seconds and octets."""
    began, octets = time.perf_counter(), 0
    async with client.stream("GET", str(client.base_url.join("/account/export"))) as response:
        async for piece in response.raise_for_status().aiter_raw():
            octets += len(piece)
    return time.perf_counter() - began, octets


def bare_copy(url: str) -> float:
    """Seconds of a COPY of all contacts as JSON."""
    with psycopg.connect(url) as connection:
        began = time.perf_counter()
        with connection.cursor().copy(COPY) as copy:
            for _ in copy:
                pass
        return time.perf_counter() - began


def bare_delete(url: str, project_id: UUID) -> float:
    """Seconds of one DELETE of all contacts, which is rolled back."""
    with psycopg.connect(url) as connection:
        began = time.perf_counter()
        connection.execute("delete from contacts where project_id = %s", (project_id,))
        seconds = time.perf_counter() - began
        connection.rollback()
    return seconds


def contacts_left(url: str) -> int:
    """The number of contacts that are not deleted yet."""
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
                _, octets = await export_account(client)
                before = memory(pids["api"])
                print(f"export of {small:,} contacts, {octets / 1e6:.0f} MB: the API's peak is {before:.0f} MB")
                connection.execute(FILL, {"project_id": project_id, "first": small + 1, "last": count})
                connection.execute("vacuum analyze contacts")
            seconds, octets = await export_account(client)
            after = memory(pids["api"])
            print(f"export of {count:,} contacts, {octets / 1e6:.0f} MB: the API's peak is {after:.0f} MB")
            show("export of the account", seconds, count, "COPY of the contacts as JSON", bare_copy(url))
            delete_seconds = bare_delete(url, project_id)
            await delete_with_kills(client, url, folder, count, pids["worker"], delete_seconds)


async def delete_with_kills(
    client: httpx.AsyncClient, url: str, folder: str, count: int, worker: int, delete_seconds: float
) -> None:
    """Delete the project; kill the worker when half of the contacts are deleted, and let another worker continue."""
    (await client.delete(str(client.base_url).rstrip("/"))).raise_for_status()
    assert (await client.get("")).status_code == 404
    began = time.perf_counter()
    while (rows := contacts_left(url)) > count / 2:
        await asyncio.sleep(0.2)
    os.kill(worker, signal.SIGKILL)
    half_seconds = time.perf_counter() - began
    show("half of it deleted, then kill -9", half_seconds, count - rows, "one DELETE of all", delete_seconds)
    with psycopg.connect(url, autocommit=True) as connection:
        # End the lease of the killed worker now, instead of waiting for its end.
        connection.execute("update deletions set due_at = now()")
    environment = os.environ | {
        "DATABASE_URL": url,
        "POSTERN_DATA": folder,
        "POSTERN_SECRET": "a secret for the length of one benchmark",
        "POSTERN_LOG_LEVEL": "warning",
    }
    second_worker = subprocess.Popen([sys.executable, "-m", "postern", "worker"], env=environment)
    try:
        began, remaining = time.perf_counter(), contacts_left(url)
        while contacts_left(url):
            await asyncio.sleep(0.2)
        show("the rest by another worker", time.perf_counter() - began, max(remaining, 1))
    finally:
        second_worker.terminate()
        second_worker.wait()


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    with (
        tempfile.TemporaryDirectory() as folder,
        tempfile.TemporaryDirectory() as data_folder,
        run_embedded(Path(data_folder)) as server,
    ):
        migrate(server.url())
        uvloop.run(measure(server.url(), folder, count))


if __name__ == "__main__":
    main()
