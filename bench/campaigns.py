"""Campaigns, measured: the wire rate, a million contacts, and what ten million sends cost whoever reads them.

Run: python -m bench.campaigns [wire] [million] [reads] [--contacts 1000000] [--sends 10000000]

PostgreSQL (durable), the API, the workers and the sink share the machine: a ratio counts, a second does not.
"""

import argparse
import subprocess
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
import uvloop

from bench.audiences import memory
from bench.chaos_campaign import campaign_to, id_of
from bench.emails import Server, bare_inserts, load, percentile, relay_environment, rsa_signs, sink, verified_domain
from postern.kernel.embedded import run_embedded
from postern.kernel.migrations import migrate

WIRE = 20_000
READS_SECONDS = 4.0
Row = tuple[str, str]


def arrived(ledger: Path) -> int:
    """Messages of campaigns that came in; the letters that developers get take the same way out and do not count."""
    return ledger.read_bytes().count(b"@acme.example>")


def wire(server: Server, url: str, ledger: Path, workers: int) -> list[Row]:
    """Signed, tracked, personalised messages a second, from the first one to the last."""
    project, key, token = server.project()
    verified_domain(url, server, project, token)
    campaign = campaign_to(url, server, project, key, WIRE)
    running = [server.start("worker") for _ in range(workers)]
    time.sleep(3)
    before = arrived(ledger)
    server.call("POST", f"{campaign}/send", None, key)
    ends = time.monotonic() + 300
    while (first := arrived(ledger) - before) == 0 and time.monotonic() < ends:
        time.sleep(0.01)
    began = time.perf_counter()
    while (count := arrived(ledger) - before) < WIRE and time.monotonic() < ends:
        time.sleep(0.05)
    rate = (count - first) / (time.perf_counter() - began)
    with psycopg.connect(url) as connection:
        row = connection.execute(
            "select sum(ambiguous_attempts) from sends where campaign_id = %s", [id_of(campaign)]
        ).fetchone()
    ambiguous = row[0] if row else 0
    assert WIRE <= count <= WIRE + ambiguous, f"{count} copies of {WIRE} messages, {ambiguous} ambiguous attempts"
    stop(server, running)
    return [(f"campaign: {WIRE:,} signed, tracked messages, {workers} worker(s)", f"{rate:,.0f} messages/s")]


def million(server: Server, url: str, ledger: Path, contacts: int) -> list[Row]:
    """How soon a large campaign's first message leaves, what the worker holds, and how soon it is cancelled."""
    project, key, token = server.project()
    verified_domain(url, server, project, token)
    campaign = campaign_to(url, server, project, key, contacts)
    worker = server.start("worker")
    time.sleep(3)
    before = arrived(ledger)
    began = time.perf_counter()
    server.call("POST", f"{campaign}/send", None, key)
    answered = time.perf_counter() - began
    while arrived(ledger) == before:
        assert time.perf_counter() - began < 60, "no message left within a minute"
        time.sleep(0.005)
    first = time.perf_counter() - began
    time.sleep(20)
    sent, most = arrived(ledger) - before, memory(worker.pid)
    began = time.perf_counter()
    server.call("POST", f"{campaign}/cancel", None, key)
    cancelled = time.perf_counter() - began
    stop(server, [worker])
    return [
        (f"`send` of a campaign to {contacts:,}, answered after", f"{answered:.2f} s"),
        ("first message on the wire after", f"{first:.2f} s"),
        (f"worker's memory after {sent:,} messages", f"{most:.0f} MB"),
        ("`cancel`, answered after", f"{cancelled:.2f} s"),
    ]


def reads(server: Server, url: str, sends: int) -> list[Row]:
    """Lists, pages, statistics and the export, with so many sends of ten campaigns in the database."""
    project, key, token = server.project()
    verified_domain(url, server, project, token)
    campaigns = [campaign_to(url, server, project, key, 10) for _ in range(10)]
    fill(url, project, [id_of(each) for each in campaigns], sends)
    rows: list[Row] = []
    base = f"/projects/{project}"
    for path in (
        f"{base}/campaigns",
        campaigns[0],
        f"{campaigns[0]}/sends",
        f"{campaigns[0]}/sends?page=100&limit=100",
        f"{campaigns[0]}/sends?status=BOUNCED",
        f"{base}/analytics?days=30",
        f"{base}/analytics/time-series",
        f"{base}/analytics/by-domain",
    ):
        lines = [f"GET {path} HTTP/1.1", "Host: bench", f"Authorization: Bearer {key}", "", ""]
        request = "\r\n".join(lines).encode()
        uvloop.run(load(server.port, request, connections=1, seconds=0.5))
        _, times, statuses = uvloop.run(load(server.port, request, connections=2, seconds=READS_SECONDS))
        assert set(statuses) == {b"200"}, (path, statuses)
        shown = path.replace(base, "").replace(id_of(campaigns[0]), "…")
        p50, p95 = percentile(times, 0.5), percentile(times, 0.95)
        rows.append((f"GET {shown}, {sends:,} sends", f"p50 {p50:.1f} ms, p95 {p95:.1f} ms"))
    return [*rows, export(server, key, campaigns[0])]


def export(server: Server, key: str, campaign: str) -> Row:
    """The CSV export of one campaign, and what it adds to the memory of the API."""
    api = server.running[0]
    before = memory(api.pid)
    request = urllib.request.Request(f"{server.base}{campaign}/sends/export")
    request.add_header("authorization", f"Bearer {key}")
    began, lines = time.perf_counter(), 0
    with urllib.request.urlopen(request, timeout=600) as answer:
        while chunk := answer.read(65_536):
            lines += chunk.count(b"\n")
    seconds = time.perf_counter() - began
    return (f"CSV export of {lines - 1:,} rows", f"{seconds:.1f} s, {memory(api.pid) - before:+.0f} MB in the API")


def fill(url: str, project: str, campaigns: list[str], sends: int) -> None:
    """So many sends, as if they had gone out over the last 30 days; the counters follow by themselves."""
    chunk = 200_000
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("set synchronous_commit = off")
        for start in range(0, sends, chunk):
            connection.execute(
                """
                insert into sends (project_id, id, status, lane, message_id, subject, sender, recipient, to_addresses,
                                   contact_id, campaign_id, created_at, updated_at, sent_at)
                select %(project)s, gen_random_uuid(), case when n %% 1000 = 0 then 'BOUNCED' else 'SENT' end, 1,
                       '<' || n || '@acme.example>', 'Hello', 'news@acme.example', 'user' || n || '@example.org',
                       array['user' || n || '@example.org'], gen_random_uuid(), (%(campaigns)s::uuid[])[1 + n %% 10],
                       now() - n %% 2592000 * interval '1 second', now(), now() - n %% 2592000 * interval '1 second'
                from generate_series(%(start)s::int, %(end)s::int) as n
                """,
                {
                    "project": project,
                    "campaigns": campaigns,
                    "start": start,
                    "end": min(start + chunk, sends) - 1,
                },
            )
        connection.execute("vacuum analyze sends")
        connection.execute("vacuum analyze send_counters")


def stop(server: Server, workers: list[subprocess.Popen[bytes]]) -> None:
    """End the workers of one measurement, so that they take no part in the next."""
    for each in workers:
        each.terminate()
        each.wait(60)
        server.running.remove(each)


@contextmanager
def running(**environment: str) -> Iterator[tuple[Server, str]]:
    """A database of its own with an API; workers are started by who measures them."""
    with tempfile.TemporaryDirectory(prefix="postern-bench-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        folder.chmod(0o755)
        with run_embedded(folder / "data") as postgres:
            url = postgres.url()
            migrate(url)
            server = Server(folder, url, **environment)
            try:
                server.start("api")
                yield server, url
            finally:
                server.stop()


def main() -> None:
    reader = argparse.ArgumentParser()
    reader.add_argument("parts", nargs="*", default=["wire", "million", "reads"])
    reader.add_argument("--contacts", type=int, default=1_000_000)
    reader.add_argument("--sends", type=int, default=10_000_000)
    given = reader.parse_args()
    rows: list[Row] = [("RSA-2048 signatures, one core", f"{rsa_signs():,.0f}/s")]
    if {"wire", "million"} & set(given.parts):
        with tempfile.TemporaryDirectory(prefix="postern-ledger-") as name:
            ledger = Path(name) / "ledger"
            ledger.touch()
            with sink(ledger) as port, running(**relay_environment(port)) as (server, url):
                rows.append(("bare durable INSERT, 32 connections", f"{bare_inserts(url, 32):,.0f}/s"))
                if "wire" in given.parts:
                    rows += wire(server, url, ledger, 1)
                    rows += wire(server, url, ledger, 2)
                if "million" in given.parts:
                    rows += million(server, url, ledger, given.contacts)
    if "reads" in given.parts:
        with running() as (server, url):
            rows += reads(server, url, given.sends)
    for what, figure in rows:
        print(f"{what:<80} {figure}")


if __name__ == "__main__":
    main()
