"""What requests and work cost as an installation grows: in sends of one project, and in projects.

Run: python -m bench.growth [citus] [SENDS …] [projects COUNT …]

Without sizes: 10,000, 100,000 and 1,000,000 sends in one project (with a tenth as many contacts), then 10, 1,000 and
100,000 projects. Each row is a database of its own. A figure is the median in milliseconds, and the processor time of
PostgreSQL for each request or message in microseconds, which other work on the machine changes less.

With `citus`, the filled database is distributed over a coordinator and two servers on this machine, as
`postern distribute` does it, before anything is measured; the processor time is that of all three (see
tests/peers/citus.py). Its servers do not wait for the disk, so only the processor times of both can be compared.

accept      POST /emails, delivered by workers (Prefer: wait=0), one after the other and 32 at a time
drain       messages of DRAINED such requests, transmitted by one worker to a sink
log         first page of the e-mail log, 50 rows
analytics   time series of 30 days
recompute   an audience with three conditions, without changes
check       POST /access/check
idle        processor time of PostgreSQL and of one worker in a second, without work
"""

import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import psycopg

from bench.dashboard_data import Filling
from bench.emails import Server, count_sent, quick_sink, relay_environment, verified_domain
from bench.processes import processes, seconds_by_part
from postern.cli.placement import placement
from postern.kernel.database.connections import has_citus
from postern.kernel.database.distribution import Distribution
from postern.kernel.database.embedded import run_embedded
from postern.kernel.database.migrations import migrate
from tests.peers.citus import HAS_CITUS, INSTALL, citus

SENDS: Final = (10_000, 100_000, 1_000_000)
PROJECTS: Final = (10, 1_000, 100_000)
SENDS_BESIDE_PROJECTS: Final = 10_000
SENDS_OF_COPY: Final = 4
"""Messages of each further project, which are due later."""
CONTACT_SHARE: Final = 10
"""One contact for this many sends."""
REQUESTS: Final = 200
"""Requests of each kind, one after the other."""
CLIENTS: Final = 32
TOGETHER: Final = 10
DRAINED: Final = 2_000
"""Messages that the worker transmits. It also settles them, so this is long enough for its batches."""
IDLE_SECONDS: Final = 20.0
SETTLING_SECONDS: Final = 15.0
"""Time for a worker to start and to do what is due only once."""
STALLED_SECONDS: Final = 300.0
BATCH: Final = 500
BODY: Final = {
    "to": ["ada@example.com"],
    "from": "Acme <a@acme.example>",
    "subject": "Code {{n}}",
    "html": "<p>Hello {{n}}, your code is 1234.</p>" * 40,
    "variables": {"n": 1},
}
RULES: Final = {
    "match": "all",
    "conditions": [
        {"field": "seats", "operator": "gt", "value": 10},
        {"field": "plan", "operator": "eq", "value": "pro"},
        {"field": "country", "operator": "eq", "value": "DE"},
    ],
}
Row = dict[str, str]

PROJECT_COPIES = """
    insert into projects
    select (jsonb_populate_record(null::projects, to_jsonb(original)
            || jsonb_build_object('id', gen_random_uuid(), 'name', 'Copy ' || n))).*
    from projects as original cross join generate_series(1, %(copies)s) as n where original.id = %(project)s
"""
SENDS_OF_COPIES = """
    insert into sends
    select (jsonb_populate_record(null::sends, sample || jsonb_build_object(
            'project_id', copy.id, 'id', gen_random_uuid(), 'contact_id', null, 'domain_id', null,
            'due_at', now() + interval '20 days', 'message_id', '<' || copy.id || n || '@acme.example>'))).*
    from projects as copy cross join generate_series(1, %(sends_of_copy)s) as n
    cross join (select to_jsonb(sends) as sample from sends
                where project_id = %(project)s and status = 'SCHEDULED' limit 1) as one
    where copy.id <> %(project)s
"""


def main() -> None:
    """Measure what the command line names, and print two tables."""
    words = sys.argv[1:]
    on_citus = words[:1] == ["citus"]
    if on_citus:
        if not HAS_CITUS:
            raise SystemExit(f"Citus is not installed: {INSTALL}.")
        words = words[1:]
    at = words.index("projects") if "projects" in words else len(words)
    sends = [int(word) for word in words[:at]] or ([] if words else list(SENDS))
    projects = [int(word) for word in words[at + 1 :]] or ([] if words else list(PROJECTS))
    show("sends", {count: measure(count, 1, on_citus=on_citus) for count in sends})
    show("projects", {count: measure(SENDS_BESIDE_PROJECTS, count, on_citus=on_citus) for count in projects})


def show(what: str, rows: dict[int, Row]) -> None:
    """Print a Markdown table with a column for each size."""
    if not rows:
        return
    print(f"\n| {what} | " + " | ".join(f"{count:,}" for count in rows) + " |")
    print("|---" * (1 + len(rows)) + "|")
    for name in next(iter(rows.values())):
        print(f"| {name} | " + " | ".join(row[name] for row in rows.values()) + " |", flush=True)


@contextmanager
def empty_database(folder: Path, *, on_citus: bool) -> Iterator[str]:
    """Run a PostgreSQL, or a Citus whose coordinator has the database, and give the URL of the empty database."""
    if on_citus:
        with citus() as cluster:
            yield cluster.url
    else:
        with run_embedded(folder / "data") as database:
            yield database.url()


def measure(sends: int, projects: int, *, on_citus: bool) -> Row:
    """Fill a database, and measure everything in it."""
    row: Row = {}
    with tempfile.TemporaryDirectory(prefix="postern-bench-", ignore_cleanup_errors=True) as temporary:
        folder = Path(temporary)
        folder.chmod(0o755)
        with empty_database(folder, on_citus=on_citus) as url, quick_sink() as (port, _):
            migrate(url)
            server = Server(folder, url, **relay_environment(port))
            try:
                server.start("api")
                account = server.account()
                project, key, token = account["projectId"], account["secretKey"], account["developerToken"]
                for name in ("acme.example", "mail.acme.example", "shop.acme.example"):
                    verified_domain(url, server, project, token, name)
                with psycopg.connect(url, autocommit=True) as connection:
                    before = octets(connection)
                    fill(connection, url, project, sends, projects)
                    if on_citus:
                        server.stop()  # No process may run while the tables move.
                        distribute(connection)
                        server.start("api")
                    row |= sizes(connection, before, sends, projects)
                    row |= requests(server, project, key, token)
                    row |= drain(server, connection, project, key)
                    row |= idle()
            finally:
                server.stop()
    print(f"{sends:,} sends, {projects:,} projects: {row}", file=sys.stderr, flush=True)
    return row


def fill(connection: psycopg.Connection, url: str, project: str, sends: int, projects: int) -> None:
    """Fill the project, and copy it without its content until there are this many projects, each with four messages
    that are due later."""
    domains = connection.execute("select id::text from domains where project_id = %s order by id", [project]).fetchall()
    Filling(url, project, [domain for (domain,) in domains], max(sends // CONTACT_SHARE, 1_000), sends).fill()
    if projects > 1:
        values = {"project": project, "copies": projects - 1, "sends_of_copy": SENDS_OF_COPY}
        connection.execute(PROJECT_COPIES, values)
        # Without their counters, which would take longer than everything else.
        connection.execute("alter table sends disable trigger user")
        connection.execute(SENDS_OF_COPIES, values)
        connection.execute("alter table sends enable trigger user")
    # Their secrets are made up, so deliveries would fail, and each e-mail would have as many as there are webhooks.
    connection.execute("delete from webhooks where project_id = %s", [project])
    connection.execute("vacuum analyze")


def distribute(connection: psycopg.Connection) -> None:
    """Distribute the tables with their rows, as `postern distribute` does it."""
    began = time.perf_counter()
    for step in Distribution(connection, placement()).steps():
        step.run()
    print(f"  {time.perf_counter() - began:7.0f} s  distributed", flush=True)
    connection.execute("vacuum analyze")


def octets(connection: psycopg.Connection) -> dict[str, int]:
    """The size of each table with its indexes and its out-of-line values, in octets, on all servers."""
    query = (
        "select relname, pg_total_relation_size(oid) from pg_class where relkind = 'r' "
        "and relname !~ '^(pg|sql)_' and relnamespace = 'public'::regnamespace"
    )
    by_table = dict(connection.execute(query).fetchall())
    if has_citus(connection):
        query = (
            "select relname, citus_total_relation_size(logicalrelid) from pg_dist_partition "
            "join pg_class on pg_class.oid = logicalrelid"
        )
        by_table |= dict(connection.execute(query).fetchall())
    return by_table


def sizes(connection: psycopg.Connection, before: dict[str, int], sends: int, projects: int) -> Row:
    """What a send and a contact occupy, without bodies, attempts and events."""
    after = octets(connection)
    contacts, all_sends = max(sends // CONTACT_SHARE, 1_000), sends + SENDS_OF_COPY * (projects - 1)
    return {
        "octets of a send, of a contact": f"{(after['sends'] - before['sends']) / all_sends:,.0f}, "
        f"{(after['contacts'] - before['contacts']) / contacts:,.0f}"
    }


@contextmanager
def metered(row: Row, name: str, count: int) -> Iterator[list[float]]:
    """Put the median of the durations (seconds) that the block adds, and PostgreSQL's processor time for each of
    `count`, into the row."""
    times: list[float] = []
    before = used("PostgreSQL")
    yield times
    microseconds = (used("PostgreSQL") - before) / count * 1_000_000
    row[name] = f"{statistics.median(times) * 1_000:,.1f} ms, {microseconds:,.0f} µs"


def used(part: str) -> float:
    """The processor time of a part of Postern so far, in seconds."""
    return seconds_by_part(processes()).get(part, 0.0)


def repeat(row: Row, name: str, request: Callable[[], Any], count: int = REQUESTS) -> None:
    """Measure `count` calls after ten others, with which caches and plans are ready."""
    for _ in range(10):
        request()
    with metered(row, name, count) as times:
        for _ in range(count):
            began = time.perf_counter()
            request()
            times.append(time.perf_counter() - began)


def together(row: Row, name: str, request: Callable[[], Any]) -> None:
    """Measure TOGETHER times as many calls, by CLIENTS at once."""

    def timed(_: int) -> float:
        began = time.perf_counter()
        request()
        return time.perf_counter() - began

    count = TOGETHER * REQUESTS
    with ThreadPoolExecutor(CLIENTS) as clients, metered(row, name, count) as times:
        times.extend(clients.map(timed, range(count)))


def requests(server: Server, project: str, key: str, token: str) -> Row:
    """The requests of a program and of the dashboard."""
    row: Row = {}
    base = f"/projects/{project}"
    repeat(row, "accept", lambda: server.call("POST", f"{base}/emails", BODY, key, Prefer="wait=0"))
    together(row, "accept, 32 at a time", lambda: server.call("POST", f"{base}/emails", BODY, key, Prefer="wait=0"))
    repeat(row, "log", lambda: server.call("GET", f"{base}/emails/logs?limit=50", None, token))
    series = f"{base}/analytics/time-series?timezone=Europe/Berlin"
    repeat(row, "analytics", lambda: server.call("GET", series, None, token))
    audience = server.call("POST", f"{base}/audiences", {"name": "three conditions"}, key)["id"]
    server.call("PATCH", f"{base}/audiences/{audience}/rules", RULES, key)
    repeat(row, "recompute", lambda: server.call("POST", f"{base}/audiences/{audience}/recompute", {}, key), 10)
    customer = server.call("GET", f"{base}/customers?limit=1", None, key)["data"][0]["id"]
    server.call("POST", f"{base}/access/permissions", {"key": "posts:write"}, key)
    role = {"key": "editor", "name": "Editor", "permissions": ["posts:*"]}
    server.call("POST", f"{base}/access/roles", role, key)
    server.call("PATCH", f"{base}/customers/{customer}/roles", {"roles": ["editor"]}, key)
    question = {"permission": "posts:write", "customerId": customer}
    repeat(row, "check", lambda: server.call("POST", f"{base}/access/check", question, key))
    return row


def drain(server: Server, connection: psycopg.Connection, project: str, key: str) -> Row:
    """What a message costs that one worker transmits, which is started for it, and what it occupies afterwards."""
    connection.execute("update sends set due_at = null where project_id = %s and status = 'QUEUED'", [project])
    before, sent = octets(connection), count_sent(connection, project)
    for _ in range(DRAINED // BATCH):
        server.call("POST", f"/projects/{project}/emails/batch", {"emails": [BODY] * BATCH}, key)
    database, worker = used("PostgreSQL"), used("worker") + used("compose")
    server.start("worker")
    began = first = time.perf_counter()
    while (count := count_sent(connection, project) - sent) < DRAINED:
        first = first if count else time.perf_counter()
        if time.perf_counter() - began > STALLED_SECONDS:
            raise SystemExit(f"Only {count} of {DRAINED} messages were sent.")
        time.sleep(0.05)
    seconds = time.perf_counter() - first
    database = (used("PostgreSQL") - database) / DRAINED * 1_000_000
    worker = (used("worker") + used("compose") - worker) / DRAINED * 1_000_000
    grown = {table: (size - before.get(table, 0)) / DRAINED for table, size in octets(connection).items()}
    largest = ", ".join(f"{table} {grown[table]:,.0f}" for table in sorted(grown, key=grown.__getitem__)[:-6:-1])
    return {
        "drain": f"{DRAINED / seconds:,.0f}/s, {database:,.0f} µs (worker, with its start, {worker:,.0f} µs)",
        "octets of a sent e-mail with its body, attempts and events": f"{sum(grown.values()):,.0f}: {largest}",
    }


def idle() -> Row:
    """The processor time of PostgreSQL and of the worker in a second without work."""
    time.sleep(SETTLING_SECONDS)
    before = used("PostgreSQL"), used("worker")
    began = time.perf_counter()
    time.sleep(IDLE_SECONDS)
    seconds = time.perf_counter() - began
    database, worker = used("PostgreSQL") - before[0], used("worker") - before[1]
    return {"idle": f"{database / seconds * 1_000:,.1f} ms, worker {worker / seconds * 1_000:,.1f} ms"}


if __name__ == "__main__":
    main()
