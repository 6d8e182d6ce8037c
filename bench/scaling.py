"""Work for several projects on a Citus with one and with two servers behind the coordinator, each on one core.

Run: python -m bench.scaling [ROUNDS]

Needs Citus on PostgreSQL 15 (see tests/peers/citus.py) and two cores. Each server may use one core only; the
coordinator, the API process and the clients use both. Half of the projects are on each server, if there are two. One
client for each project sends requests whose work is done by its server: an audience with three conditions is computed
again over all contacts. The arrangements are measured in turns; each has a new database.
"""

import os
import statistics
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Final

import psycopg

from bench.emails import Server
from bench.growth import PROJECT_COPIES, RULES, distribute
from bench.processes import family, processes
from postern.kernel.database.migrations import migrate
from tests.peers.citus import HAS_CITUS, INSTALL, Node, citus

ROUNDS: Final = 2
PROJECTS: Final = 4
CANDIDATES: Final = 64
"""Projects from which those of each server are taken: the hash of its id decides where a project is."""
CONTACTS: Final = 200_000
"""Contacts of each project."""
SECONDS: Final = 15.0
CONTACTS_OF_PROJECT = """
    insert into contacts (project_id, id, email, email_key, attributes, created_at, updated_at)
    select %(project)s, gen_random_uuid(), 'user' || n || '@example.com', 'user' || n || '@example.com',
           jsonb_build_object('seats', n %% 100, 'plan', (array['free', 'pro', 'team'])[1 + n %% 3],
                              'country', (array['IT', 'DE', 'FR', 'US'])[1 + n %% 4]), now(), now()
    from generate_series(1, %(contacts)s) as n
"""
ATTRIBUTES_OF_PROJECT = """
    insert into contact_attributes (project_id, id, name, type, inferred, created_at, updated_at)
    select %(project)s, gen_random_uuid(), name, type, true, now(), now()
    from (values ('seats', 'number'), ('plan', 'string'), ('country', 'string')) as attribute (name, type)
"""
PLACES = """
    select projects.id::text, nodeport from projects
    join citus_shards on shardid = get_shard_id_for_distribution_column('contacts', projects.id)
    where projects.id <> %(project)s order by projects.id
"""


def main() -> None:
    """Measure both arrangements in turns, and print the requests a second and their ratio."""
    if not HAS_CITUS:
        raise SystemExit(f"Citus is not installed: {INSTALL}.")
    rates: dict[int, list[float]] = {1: [], 2: []}
    for _ in range(int(sys.argv[1]) if len(sys.argv) > 1 else ROUNDS):
        for servers, measured in rates.items():
            measured.append(measure(servers))
            print(f"{servers} on one core each: {measured[-1]:.1f} recomputations a second", flush=True)
    print(f"ratio of two to one: {statistics.median(rates[2]) / statistics.median(rates[1]):.2f}")


def measure(servers: int) -> float:
    """The recomputations a second of all projects together."""
    with (
        tempfile.TemporaryDirectory(prefix="postern-bench-", ignore_cleanup_errors=True) as temporary,
        citus(servers) as cluster,
    ):
        migrate(cluster.url)
        server = Server(Path(temporary), cluster.url)
        account = server.account()
        token = account["developerToken"]
        with psycopg.connect(cluster.url, autocommit=True) as connection:
            connection.execute(PROJECT_COPIES, {"project": account["projectId"], "copies": CANDIDATES})
            distribute(connection)
            projects = spread(connection, account["projectId"], servers)
            for project in projects:
                connection.execute(CONTACTS_OF_PROJECT, {"project": project, "contacts": CONTACTS})
                connection.execute(ATTRIBUTES_OF_PROJECT, {"project": project})
            connection.execute("vacuum analyze")
        for core, node in enumerate(cluster.workers):
            pin(node, core)
        server.start("api")
        try:
            audiences = [audience_of(server, project, token) for project in projects]
            with ThreadPoolExecutor(PROJECTS) as clients:
                ends = time.monotonic() + SECONDS
                return sum(clients.map(lambda path: recompute(server, path, token, ends), audiences)) / SECONDS
        finally:
            server.stop()


def spread(connection: psycopg.Connection, own: str, servers: int) -> list[str]:
    """Projects of which equal numbers are on each server."""
    by_port: dict[int, list[str]] = {}
    for project, port in connection.execute(PLACES, {"project": own}).fetchall():
        by_port.setdefault(port, []).append(project)
    taken = [project for projects in by_port.values() for project in projects[: PROJECTS // servers]]
    if len(by_port) != servers or len(taken) != PROJECTS:
        raise SystemExit("The hashes of the projects' ids put too few of them on one of the servers.")
    return taken


def pin(node: Node, core: int) -> None:
    """Let a server with all its processes use one core only; those that it starts later inherit it."""
    assert node.process is not None
    for pid in family(node.process.pid, processes()):
        with suppress(ProcessLookupError):  # It has ended.
            os.sched_setaffinity(pid, {core})


def audience_of(server: Server, project: str, token: str) -> str:
    """Create the audience of a project, compute it once, and return the path of its recomputation."""
    base = f"/projects/{project}/audiences"
    audience = server.call("POST", base, {"name": "three conditions"}, token)["id"]
    server.call("PATCH", f"{base}/{audience}/rules", RULES, token)
    path = f"{base}/{audience}/recompute"
    server.call("POST", path, {}, token)
    return path


def recompute(server: Server, path: str, token: str, ends: float) -> int:
    """Compute an audience again until the time is over; returns how many times."""
    count = 0
    while time.monotonic() < ends:
        server.call("POST", path, {}, token)
        count += 1
    return count


if __name__ == "__main__":
    main()
