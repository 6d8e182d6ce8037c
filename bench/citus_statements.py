"""What a statement about one project costs on one PostgreSQL, and on the servers of a Citus.

Run: python -m bench.citus_statements

Needs Citus on PostgreSQL 15 (see tests/peers/citus.py). Times are of processors, in microseconds for each statement or
transaction; one client, prepared statements, 8 shards on two servers, none of which is durable.
"""

import uuid
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any, Final, LiteralString

import psycopg

from bench.processes import processes
from tests.peers.citus import HAS_CITUS, INSTALL, Node, citus

PROJECTS: Final = [uuid.UUID(int=number << 64) for number in range(1_000)]
ROWS: Final = [(PROJECTS[number % 1_000], uuid.UUID(int=number)) for number in range(20_000)]
COUNTS: Final = {"select": 6_000, "insert": 4_000, "transaction of an insert and an update": 2_500}
WARM_UP: Final = 300
TABLE: LiteralString = (
    "create table measured (project_id uuid, id uuid, text text, at timestamptz default now(), "
    "primary key (project_id, id))"
)


def main() -> None:
    """Measure in turns, and print a table."""
    if not HAS_CITUS:
        raise SystemExit(f"Citus is not installed: {INSTALL}.")
    with citus() as servers:
        alone = servers.workers[0]
        with psycopg.connect(alone.url.replace("/postern", "/postgres"), autocommit=True) as connection:
            fill(connection, is_distributed=False)
            with psycopg.connect(servers.url, autocommit=True) as coordinator:
                fill(coordinator, is_distributed=True)
                print("| µs of processors | one server | coordinator | server behind it |\n|---|---|---|---|")
                for name, count in COUNTS.items():
                    one = measure(connection, name, count, [alone])
                    nodes = measure(coordinator, name, count, [servers.coordinator, *servers.workers])
                    print(f"| {name} | {one[0]:,.0f} | {nodes[0]:,.0f} | {sum(nodes[1:]):,.0f} |", flush=True)


def fill(connection: psycopg.Connection, *, is_distributed: bool) -> None:
    """Create the table with its rows."""
    connection.execute(TABLE)
    if is_distributed:
        connection.execute("select create_distributed_table('measured', 'project_id')")
    with connection.cursor() as cursor, cursor.copy("copy measured (project_id, id, text) from stdin") as copy:
        for project_id, row_id in ROWS:
            copy.write_row((project_id, row_id, "text"))


def measure(connection: psycopg.Connection, name: str, count: int, nodes: list[Node]) -> list[float]:
    """The processor time of each server for one of `count` statements or transactions, in microseconds."""
    run = action(connection, name)
    for number in range(WARM_UP):
        run(number)
    before = [seconds_of(node) for node in nodes]
    for number in range(count):
        run(number)
    return [(seconds_of(node) - start) / count * 1e6 for node, start in zip(nodes, before, strict=True)]


def action(connection: psycopg.Connection, name: str) -> Callable[[int], Any]:
    """What is measured, for the number of a row."""

    def run(number: int) -> None:
        project_id, row_id = ROWS[number % len(ROWS)]
        with connection.transaction() if name.startswith("transaction") else nullcontext():
            if name == "select":
                query = "select text from measured where project_id = %s and id = %s"
                connection.execute(query, (project_id, row_id), prepare=True).fetchall()
                return
            insert = "insert into measured (project_id, id, text) values (%s, %s, 'text')"
            connection.execute(insert, (project_id, uuid.uuid4()), prepare=True)
            if name != "insert":
                update = "update measured set text = 'other' where project_id = %s and id = %s"
                connection.execute(update, (project_id, row_id), prepare=True)

    return run


def seconds_of(node: Node) -> float:
    """The processor time of a server and its connections so far."""
    assert node.process is not None
    pid, by_id = node.process.pid, processes()
    return by_id[pid].seconds + sum(process.seconds for process in by_id.values() if process.parent == pid)


if __name__ == "__main__":
    main()
