"""Campaigns, measured: the wire rate, a million contacts, and what ten million sends cost whoever reads them.

Run: python -m bench.campaigns [PART …] [--contacts 1000000] [--sends 10000000] [--workers 1]

wire       20,000 signed, tracked, personalised messages with one worker, then with two (`--wire` for another number)
slow       what still leaves after `cancel` is answered, through a relay that answers after 100 ms
million    how soon the first message of a campaign leaves, how soon a paused and a cancelled one is still
resets     password resets of one project while the campaign of another drains
whole      a whole campaign, to its end: rate, the worker's memory throughout, counters against a recount
reads      lists, pages, statistics and the CSV export with `--sends` sends of ten campaigns in the database
audiences  import, recompute, one contact's change, export (bench.audiences)

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

from bench import audiences
from bench.audiences import memory
from bench.chaos_campaign import campaign_to, id_of
from bench.emails import (
    Server,
    handed_over,
    load,
    percentile,
    quick_sink,
    relay_environment,
    rsa_signs,
    sink,
    verified_domain,
)
from postern.kernel.database.embedded import run_embedded
from postern.kernel.database.migrations import migrate

WIRE = 20_000
READS_SECONDS = 4.0
RESETS, WARM_UP, RESET_EVERY = 40, 2, 0.5
"""Resets of one measurement, those before it, and the seconds between two: the door lets thirty through in ten."""
SLOW_CONTACTS, SLOW_SECONDS, SLOW_CONNECTIONS = 2_500, 0.1, 10
PARTS = ("wire", "slow", "million", "resets", "whole", "reads", "audiences")
Row = tuple[str, str]


def arrived(ledger: Path) -> int:
    """Messages of campaigns that came in; the letters that developers get take the same way out and do not count."""
    return ledger.read_bytes().count(b"@acme.example>")


def wire(server: Server, url: str, to: str, workers: int, count: int) -> list[Row]:
    """Signed, tracked, personalised messages a second, from the first ones to the last."""
    project, key, token = server.project()
    verified_domain(url, server, project, token)
    campaign = campaign_to(url, server, project, key, count)
    running = [server.start("worker") for _ in range(workers)]
    time.sleep(3)
    server.call("POST", f"{campaign}/send", None, key)
    ends = time.monotonic() + 300
    with psycopg.connect(url, autocommit=True) as connection:
        while (first := handed_over(connection, project)) == 0 and time.monotonic() < ends:
            time.sleep(0.01)
        began = time.perf_counter()
        while (reached := handed_over(connection, project)) < count and time.monotonic() < ends:
            time.sleep(0.05)
        rate = (reached - first) / (time.perf_counter() - began)
        recount = connection.execute(
            "select count(sent_at) from sends where campaign_id = %s", [id_of(campaign)]
        ).fetchone()
    assert recount == (count,), f"{recount} of {count} messages"
    stop(server, running)
    return [(f"campaign: {count:,} signed, tracked messages to {to}, {workers} worker(s)", f"{rate:,.0f} messages/s")]


def slow(server: Server, url: str, ledger: Path) -> list[Row]:
    """Messages that come in after the answer to `cancel`: at most what was on the wire, one on each connection."""
    campaign, key = sending(server, url, SLOW_CONTACTS)
    worker = server.start("worker")
    time.sleep(3)
    first_message(server, ledger, campaign, key)
    time.sleep(2)
    before = arrived(ledger)
    server.call("POST", f"{campaign}/cancel", None, key)
    answered = arrived(ledger)
    time.sleep(5)
    stop(server, [worker])
    milliseconds = f"{SLOW_SECONDS * 1000:.0f} ms"
    what = f"`cancel` at a relay that answers after {milliseconds}, {SLOW_CONNECTIONS} connections"
    return [(what, f"{arrived(ledger) - answered} of {SLOW_CONTACTS - before:,} came in after the answer")]


def sending(server: Server, url: str, contacts: int) -> tuple[str, str]:
    """A campaign that is ready in a project of its own: its path, and the project's key."""
    project, key, token = server.project()
    verified_domain(url, server, project, token)
    return campaign_to(url, server, project, key, contacts), key


def first_message(server: Server, ledger: Path, campaign: str, key: str) -> tuple[float, float]:
    """Send a campaign: seconds until `send` is answered, and until the first message has left."""
    before = arrived(ledger)
    began = time.perf_counter()
    server.call("POST", f"{campaign}/send", None, key)
    answered = time.perf_counter() - began
    while arrived(ledger) == before:
        assert time.perf_counter() - began < 60, "no message left within a minute"
        time.sleep(0.005)
    return answered, time.perf_counter() - began


def million(server: Server, url: str, ledger: Path, contacts: int) -> list[Row]:
    """How soon a large campaign's first message leaves, and how soon it stands still when it is told to."""
    campaign, key = sending(server, url, contacts)
    worker = server.start("worker")
    time.sleep(3)
    answered, first = first_message(server, ledger, campaign, key)
    rows = [
        (f"`send` of a campaign to {contacts:,}, answered after", f"{answered:.2f} s"),
        ("first message on the wire after", f"{first:.2f} s"),
    ]
    for verb in ("pause", "resume", "cancel"):
        time.sleep(4)
        began = time.perf_counter()
        server.call("POST", f"{campaign}/{verb}", None, key)
        seconds = time.perf_counter() - began
        at_once = arrived(ledger)
        time.sleep(2)
        later = "" if verb == "resume" else f"; {arrived(ledger) - at_once:,} messages came in after the answer"
        rows.append((f"`{verb}`, answered after", f"{seconds:.3f} s{later}"))
    stop(server, [worker])
    return rows


def resets(server: Server, url: str, ledger: Path, contacts: int, workers: int) -> list[Row]:
    """Password resets of a bank while a shop's campaign drains: from the request to the sink's ledger."""
    campaign, key = sending(server, url, contacts)
    door, addresses = bank(server, url)
    running = [server.start("worker") for _ in range(workers)]
    time.sleep(3)
    idle = [reset(server, door, ledger, address) for address in addresses[:-RESETS]][WARM_UP:]
    first_message(server, ledger, campaign, key)
    time.sleep(3)
    before, began = arrived(ledger), time.perf_counter()
    busy = [reset(server, door, ledger, address) for address in addresses[-RESETS:]]
    rate = (arrived(ledger) - before) / (time.perf_counter() - began)
    state = server.call("GET", campaign, None, key)
    assert state["progress"]["waiting"] > 0, "the campaign was over before the resets were: give it more contacts"
    server.call("POST", f"{campaign}/cancel", None, key)
    stop(server, running)
    what = "password reset, from the request to the sink"
    return [
        (f"{what}, nothing else going on", f"p50 {percentile(idle, 0.5):.0f} ms, p95 {percentile(idle, 0.95):.0f} ms"),
        (
            f"{what}, a campaign draining at {rate:,.0f}/s",
            f"p50 {percentile(busy, 0.5):.0f} ms, p95 {percentile(busy, 0.95):.0f} ms",
        ),
    ]


def bank(server: Server, url: str) -> tuple[str, list[str]]:
    """Another project with customers: the address of its password resets, and theirs."""
    project, key, token = server.project()
    verified_domain(url, server, project, token, "bank.example")
    mail_from = {"settings": {"signIn": {"mailFrom": "security@bank.example"}}}
    server.call("PATCH", f"/projects/{project}", mail_from, token)
    addresses = [f"customer{number}-{project[-6:]}@example.com" for number in range(WARM_UP + 2 * RESETS)]
    rows = [{"email": address, "emailVerified": True} for address in addresses]
    done = server.call("POST", f"/projects/{project}/customers/import", {"customers": rows}, key)
    assert done["created"] == len(addresses), done
    return f"/projects/{project}/auth/password/forgot", addresses


def reset(server: Server, door: str, ledger: Path, address: str) -> float:
    """Seconds from asking for a password reset until the sink has the letter; then the door's rate is respected."""
    place = ledger.stat().st_size
    began = time.perf_counter()
    server.call("POST", door, {"email": address})
    with ledger.open("rb") as lines:
        lines.seek(place)
        seen = b""
        while address.encode() not in (seen := seen[-200:] + lines.read()):
            assert time.perf_counter() - began < 60, "no letter within a minute"
            time.sleep(0.005)
    seconds = time.perf_counter() - began
    time.sleep(max(0.0, RESET_EVERY - seconds))
    return seconds


def whole(server: Server, url: str, ledger: Path, contacts: int, workers: int) -> list[Row]:
    """A whole campaign with the worker's memory and the counters."""
    campaign, key = sending(server, url, contacts)
    running = [server.start("worker") for _ in range(workers)]
    time.sleep(3)
    before, idle = arrived(ledger), memory(running[0].pid)
    composing = 0.0
    _, first = first_message(server, ledger, campaign, key)
    began = time.perf_counter()
    while (state := server.call("GET", campaign, None, key))["status"] == "SENDING":
        time.sleep(1)
        composing = max([composing, *[memory(child) for each in running for child in children(each.pid)]])
    rate = contacts / (time.perf_counter() - began)
    most = max(memory(each.pid) for each in running)
    copies = arrived(ledger) - before
    with psycopg.connect(url) as connection:
        recount = connection.execute(
            "select count(*), count(sent_at), count(distinct contact_id) from sends where campaign_id = %s",
            [id_of(campaign)],
        ).fetchone()
    stats = state["stats"]
    assert (state["status"], recount) == ("SENT", (contacts, contacts, contacts)), (state, recount)
    assert (stats["total"], stats["sent"]) == (contacts, contacts), stats
    stop(server, running)
    return [
        (f"campaign to {contacts:,}, {workers} worker(s), first message after", f"{first:.2f} s"),
        ("to its end, counters equal to a recount", f"{rate:,.0f} messages/s, {copies:,} copies"),
        (
            "a worker's memory, at first and at most; that of its composing process",
            f"{idle:.0f} MB, {most:.0f} MB; {composing:.0f} MB",
        ),
    ]


def children(pid: int) -> list[int]:
    """The processes that a process has started."""
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def reads(server: Server, url: str, sends: int) -> list[Row]:
    """Lists, pages, statistics and the export, with so many sends of ten campaigns in the database."""
    project, key, token = server.project()
    verified_domain(url, server, project, token)
    campaigns = [campaign_to(url, server, project, key, 0) for _ in range(10)]
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
    reader.add_argument("parts", nargs="*", default=[], metavar="PART")
    reader.add_argument("--contacts", type=int, default=1_000_000)
    reader.add_argument("--sends", type=int, default=10_000_000)
    reader.add_argument("--workers", type=int, default=1)
    reader.add_argument("--wire", type=int, default=WIRE)
    given = reader.parse_args()
    if unknown := set(given.parts) - set(PARTS):
        reader.error(f"no such part: {', '.join(sorted(unknown))}; there are {', '.join(PARTS)}")
    parts = given.parts or PARTS
    print(f"{'RSA-2048 signatures, one core':<80} {rsa_signs():,.0f}/s", flush=True)
    for part in parts:
        for what, figure in measured(part, given.contacts, given.sends, given.workers, given.wire):
            print(f"{what:<80} {figure}", flush=True)


def measured(part: str, contacts: int, sends: int, workers: int, count: int) -> list[Row]:
    """One part, on a database of its own."""
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
        answers_after = SLOW_SECONDS if part == "slow" else 0.0
        with sink(ledger, answers_after) as port, running(**relay_environment(port)) as (server, url):
            if part == "slow":
                return slow(server, url, ledger)
            if part == "million":
                return million(server, url, ledger, contacts)
            measure = resets if part == "resets" else whole
            return measure(server, url, ledger, contacts, workers)


if __name__ == "__main__":
    main()
