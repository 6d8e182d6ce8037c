"""Measurements of campaigns: SMTP rate, a million contacts, and reads with ten million sends in the database.

Run: python -m bench.campaigns [PART …] [--contacts 1000000] [--sends 10000000] [--workers 1]

wire       20,000 signed, tracked, personalised messages with one worker, then with two (`--wire` for another number)
slow       messages that still arrive after the response to `cancel`, with a relay that replies after 100 ms
million    time until the first message of a campaign is sent, and until a paused or cancelled one stops
resets     password resets of one project while the campaign of another project is sent
whole      a complete campaign: rate, memory of the worker, and counters compared with a recount
reads      lists, pages, statistics and the CSV export with `--sends` sends of ten campaigns in the database
audiences  import, recompute, change of one contact, export (bench.audiences)

PostgreSQL (durable), the API, the workers and the sink share the machine, so only the ratios are meaningful.
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

from bench import audiences
from bench.audiences import memory
from bench.chaos_campaign import campaign_to, id_of
from bench.emails import (
    Server,
    count_sent,
    load,
    percentile,
    quick_sink,
    relay_environment,
    rsa_signs,
    sink,
    verified_domain,
)
from bench.processes import meter
from postern.kernel.database.embedded import run_embedded
from postern.kernel.database.migrations import migrate

WIRE = 20_000
READS_SECONDS = 4.0
RESETS, WARM_UP, RESET_EVERY = 40, 2, 0.5
"""Measured resets, resets before them, and seconds between two: the rate limit is 30 requests in 10 seconds."""
SLOW_CONTACTS, SLOW_SECONDS, SLOW_CONNECTIONS = 2_500, 0.1, 10
PARTS = ("wire", "slow", "million", "resets", "whole", "reads", "audiences")
Row = tuple[str, str]


def received(ledger: Path) -> int:
    """Messages of campaigns that the sink received. System mail to developers is not counted."""
    return ledger.read_bytes().count(b"@acme.example>")


def wire(server: Server, url: str, to: str, workers: int, count: int) -> list[Row]:
    """Measure signed, tracked, personalised messages per second, from the first ones to the last.

    The processor time is that from the request `send` until the last message was stored as sent.
    """
    project, key, token = server.project()
    verified_domain(url, server, project, token)
    campaign = campaign_to(url, server, project, key, count, html=newsletter())
    started = [server.start("worker") for _ in range(workers)]
    time.sleep(3)
    describe = meter()
    server.call("POST", f"{campaign}/send", None, key)
    ends = time.monotonic() + 300
    with psycopg.connect(url, autocommit=True) as connection:
        while (first := count_sent(connection, project)) == 0 and time.monotonic() < ends:
            time.sleep(0.01)
        began = time.perf_counter()
        while (sent := count_sent(connection, project)) < count and time.monotonic() < ends:
            time.sleep(0.05)
        rate = (sent - first) / (time.perf_counter() - began)
        costs = describe(count)
        recount = connection.execute(
            "select count(sent_at) from sends where campaign_id = %s", [id_of(campaign)]
        ).fetchone()
    assert recount == (count,), f"{recount} of {count} messages"
    stop(server, started)
    label = f"campaign: {count:,} signed, tracked messages to {to}, {workers} worker(s)"
    return [(label, f"{rate:,.0f} messages/s, {costs}")]


def newsletter() -> str:
    """The newsletter that is sent by Postern and by other programs when they are compared, as a template of Postern."""
    html = Path(__file__).with_name("newsletter.html").read_text()
    for placeholder, replacement in {
        "[[name]]": "{{ name }}",
        "[[pixel]]": "",
        "[[unsubscribe]]": "{{ unsubscribe_url }}",
    }.items():
        html = html.replace(placeholder, replacement)
    return html


def slow(server: Server, url: str, ledger: Path) -> list[Row]:
    """Count messages that arrive after the response to `cancel`: at most one on each connection."""
    campaign, key = new_campaign(server, url, SLOW_CONTACTS)
    worker = server.start("worker")
    time.sleep(3)
    first_message(server, ledger, campaign, key)
    time.sleep(2)
    before = received(ledger)
    server.call("POST", f"{campaign}/cancel", None, key)
    at_response = received(ledger)
    time.sleep(5)
    stop(server, [worker])
    milliseconds = f"{SLOW_SECONDS * 1000:.0f} ms"
    label = f"`cancel` with a relay that replies after {milliseconds}, {SLOW_CONNECTIONS} connections"
    return [(label, f"{received(ledger) - at_response} of {SLOW_CONTACTS - before:,} arrived after the response")]


def new_campaign(server: Server, url: str, contacts: int) -> tuple[str, str]:
    """Create a campaign in a new project; returns its path and the project's key."""
    project, key, token = server.project()
    verified_domain(url, server, project, token)
    return campaign_to(url, server, project, key, contacts), key


def first_message(server: Server, ledger: Path, campaign: str, key: str) -> tuple[float, float]:
    """Send a campaign; returns seconds until the response to `send`, and until the first message was received."""
    before = received(ledger)
    began = time.perf_counter()
    server.call("POST", f"{campaign}/send", None, key)
    response_seconds = time.perf_counter() - began
    while received(ledger) == before:
        assert time.perf_counter() - began < 60, "no message was received within a minute"
        time.sleep(0.005)
    return response_seconds, time.perf_counter() - began


def million(server: Server, url: str, ledger: Path, contacts: int) -> list[Row]:
    """Measure the first message of a large campaign, and messages after `pause`, `resume` and `cancel`."""
    campaign, key = new_campaign(server, url, contacts)
    worker = server.start("worker")
    time.sleep(3)
    response_seconds, first_seconds = first_message(server, ledger, campaign, key)
    rows = [
        (f"response to `send` of a campaign to {contacts:,}", f"{response_seconds:.2f} s"),
        ("first message received", f"{first_seconds:.2f} s"),
    ]
    for verb in ("pause", "resume", "cancel"):
        time.sleep(4)
        began = time.perf_counter()
        server.call("POST", f"{campaign}/{verb}", None, key)
        seconds = time.perf_counter() - began
        at_response = received(ledger)
        time.sleep(2)
        later = "" if verb == "resume" else f"; {received(ledger) - at_response:,} messages arrived after the response"
        rows.append((f"response to `{verb}`", f"{seconds:.3f} s{later}"))
    stop(server, [worker])
    return rows


def resets(server: Server, url: str, ledger: Path, contacts: int, workers: int) -> list[Row]:
    """Measure password resets of one project while a campaign of another is sent: from request to receipt."""
    campaign, key = new_campaign(server, url, contacts)
    path, addresses = project_with_customers(server, url)
    started = [server.start("worker") for _ in range(workers)]
    time.sleep(3)
    idle = [reset(server, path, ledger, address) for address in addresses[:-RESETS]][WARM_UP:]
    first_message(server, ledger, campaign, key)
    time.sleep(3)
    before, began = received(ledger), time.perf_counter()
    busy = [reset(server, path, ledger, address) for address in addresses[-RESETS:]]
    rate = (received(ledger) - before) / (time.perf_counter() - began)
    state = server.call("GET", campaign, None, key)
    assert state["progress"]["waiting"] > 0, "the campaign ended before the resets: increase --contacts"
    server.call("POST", f"{campaign}/cancel", None, key)
    stop(server, started)
    label = "password reset, from the request to the sink"
    return [
        (f"{label}, without other load", f"p50 {percentile(idle, 0.5):.0f} ms, p95 {percentile(idle, 0.95):.0f} ms"),
        (
            f"{label}, while a campaign is sent at {rate:,.0f}/s",
            f"p50 {percentile(busy, 0.5):.0f} ms, p95 {percentile(busy, 0.95):.0f} ms",
        ),
    ]


def project_with_customers(server: Server, url: str) -> tuple[str, list[str]]:
    """Create a project with customers; returns the path of password resets and the customers' addresses."""
    project, key, token = server.project()
    verified_domain(url, server, project, token, "bank.example")
    mail_from = {"settings": {"signIn": {"mailFrom": "security@bank.example"}}}
    server.call("PATCH", f"/projects/{project}", mail_from, token)
    addresses = [f"customer{number}-{project[-6:]}@example.com" for number in range(WARM_UP + 2 * RESETS)]
    rows = [{"email": address, "emailVerified": True} for address in addresses]
    done = server.call("POST", f"/projects/{project}/customers/import", {"customers": rows}, key)
    assert done["created"] == len(addresses), done
    return f"/projects/{project}/auth/password/forgot", addresses


def reset(server: Server, path: str, ledger: Path, address: str) -> float:
    """Request a password reset; returns seconds until the sink has the mail. Waits to stay below the rate limit."""
    position = ledger.stat().st_size
    began = time.perf_counter()
    server.call("POST", path, {"email": address})
    with ledger.open("rb") as lines:
        lines.seek(position)
        tail = b""
        while address.encode() not in (tail := tail[-200:] + lines.read()):
            assert time.perf_counter() - began < 60, "no mail within a minute"
            time.sleep(0.005)
    seconds = time.perf_counter() - began
    time.sleep(max(0.0, RESET_EVERY - seconds))
    return seconds


def whole(server: Server, url: str, ledger: Path, contacts: int, workers: int) -> list[Row]:
    """Measure a complete campaign: rate, memory of the worker, and counters."""
    campaign, key = new_campaign(server, url, contacts)
    started = [server.start("worker") for _ in range(workers)]
    time.sleep(3)
    before, first_memory = received(ledger), memory(started[0].pid)
    composing_memory = 0.0
    _, first_seconds = first_message(server, ledger, campaign, key)
    began = time.perf_counter()
    while (state := server.call("GET", campaign, None, key))["status"] == "SENDING":
        time.sleep(1)
        child_memory = [memory(child) for worker in started for child in children(worker.pid)]
        composing_memory = max([composing_memory, *child_memory])
    rate = contacts / (time.perf_counter() - began)
    peak_memory = max(memory(worker.pid) for worker in started)
    copies = received(ledger) - before
    with psycopg.connect(url) as connection:
        recount = connection.execute(
            "select count(*), count(sent_at), count(distinct contact_id) from sends where campaign_id = %s",
            [id_of(campaign)],
        ).fetchone()
    stats = state["stats"]
    assert (state["status"], recount) == ("SENT", (contacts, contacts, contacts)), (state, recount)
    assert (stats["total"], stats["sent"]) == (contacts, contacts), stats
    stop(server, started)
    return [
        (f"campaign to {contacts:,}, {workers} worker(s), first message after", f"{first_seconds:.2f} s"),
        ("complete campaign, counters equal to a recount", f"{rate:,.0f} messages/s, {copies:,} copies"),
        (
            "memory of a worker, at first and peak; peak of its render processes",
            f"{first_memory:.0f} MB, {peak_memory:.0f} MB; {composing_memory:.0f} MB",
        ),
    ]


def children(pid: int) -> list[int]:
    """The processes that a process has started."""
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def reads(server: Server, url: str, sends: int) -> list[Row]:
    """Measure lists, pages, statistics and the export, with this number of sends of ten campaigns in the database."""
    project, key, token = server.project()
    verified_domain(url, server, project, token)
    campaigns = [campaign_to(url, server, project, key, 0) for _ in range(10)]
    fill(url, project, [id_of(campaign) for campaign in campaigns], sends)
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
        short_path = path.replace(base, "").replace(id_of(campaigns[0]), "…")
        p50, p95 = percentile(times, 0.5), percentile(times, 0.95)
        rows.append((f"GET {short_path}, {sends:,} sends", f"p50 {p50:.1f} ms, p95 {p95:.1f} ms"))
    return [*rows, export(server, key, campaigns[0])]


def export(server: Server, key: str, campaign: str) -> Row:
    """Measure the CSV export of one campaign, and by how much it increases the memory of the API."""
    api = server.running[0]
    before = memory(api.pid)
    request = urllib.request.Request(f"{server.base}{campaign}/sends/export")
    request.add_header("authorization", f"Bearer {key}")
    began, lines = time.perf_counter(), 0
    with urllib.request.urlopen(request, timeout=600) as response:
        while chunk := response.read(65_536):
            lines += chunk.count(b"\n")
    seconds = time.perf_counter() - began
    return (f"CSV export of {lines - 1:,} rows", f"{seconds:.1f} s, {memory(api.pid) - before:+.0f} MB in the API")


def fill(url: str, project: str, campaigns: list[str], sends: int) -> None:
    """Insert sends with times over the last 30 days. Triggers update the counters."""
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
    for worker in workers:
        worker.terminate()
        worker.wait(60)
        server.running.remove(worker)


@contextmanager
def running(**environment: str) -> Iterator[tuple[Server, str]]:
    """Start a database and an API; yields the server, which starts workers on request, and the database URL."""
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
    parser = argparse.ArgumentParser()
    parser.add_argument("parts", nargs="*", default=[], metavar="PART")
    parser.add_argument("--contacts", type=int, default=1_000_000)
    parser.add_argument("--sends", type=int, default=10_000_000)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--wire", type=int, default=WIRE)
    options = parser.parse_args()
    if unknown := set(options.parts) - set(PARTS):
        parser.error(f"no such part: {', '.join(sorted(unknown))}; there are {', '.join(PARTS)}")
    parts = options.parts or PARTS
    print(f"{'RSA-2048 signatures, one core':<80} {rsa_signs():,.0f}/s", flush=True)
    for part in parts:
        for label, figure in measured(part, options.contacts, options.sends, options.workers, options.wire):
            print(f"{label:<80} {figure}", flush=True)


def measured(part: str, contacts: int, sends: int, workers: int, count: int) -> list[Row]:
    """Measure one part with a new database."""
    if part == "audiences":
        audiences.run(contacts)
        return []
    if part == "reads":
        with running() as (server, url):
            return reads(server, url, sends)
    if part == "wire":
        with quick_sink() as (port, to), running(**relay_environment(port)) as (server, url):
            return [*wire(server, url, to, 1, count), *wire(server, url, to, 2, count)]
    with tempfile.TemporaryDirectory(prefix="postern-ledger-") as name:
        ledger = Path(name) / "ledger"
        ledger.touch()
        reply_delay = SLOW_SECONDS if part == "slow" else 0.0
        with sink(ledger, reply_delay) as port, running(**relay_environment(port)) as (server, url):
            if part == "slow":
                return slow(server, url, ledger)
            if part == "million":
                return million(server, url, ledger, contacts)
            measure_part = resets if part == "resets" else whole
            return measure_part(server, url, ledger, contacts, workers)


if __name__ == "__main__":
    main()
