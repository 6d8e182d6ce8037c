"""`postern distribute`: distributes the tables over several PostgreSQL servers by Citus, and shows where they are."""

from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer

from postern.cli import CannotRun

if TYPE_CHECKING:
    from collections.abc import Generator

    from postern.kernel.database.distribution import Distribution

RUNNING_SECONDS = 60
"""A worker that reported within this time counts as running."""
UNIT = 1_000_000


def register(app: typer.Typer) -> None:
    """Add the commands of this module."""
    group = typer.Typer(help="Distribute the tables over several PostgreSQL servers by Citus.")
    group.callback(invoke_without_command=True)(distribute)
    group.command()(status)
    app.add_typer(group, name="distribute")


def distribute(
    context: typer.Context,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only print what would be done.")] = False,
) -> None:
    """Distribute the tables of DATABASE_URL, the coordinator, over the servers that Citus knows.

    Run it once with all processes of Postern stopped, and again after each migration. If it was interrupted, run it
    again: it goes on where it was.
    """
    if context.invoked_subcommand is not None:
        return
    with _open() as distribution:
        planned = distribution.plan()
        if dry_run or not planned:
            print("\n".join(planned) or "Everything is distributed.")
            return
        if distribution.seconds_since_worker() < RUNNING_SECONDS and distribution.must_copy():
            raise CannotRun(
                "Workers are running. Stop all processes of Postern, and run the command again in a minute."
            )
        distribution.lock()
        for number, step in enumerate(distribution.steps(), 1):
            print(f"{number}: {step.description}", flush=True)
            step.run()
    print("Everything is distributed. Start the processes of Postern again.")


def status() -> None:
    """Print the servers with their shards and sizes, the largest tables, and how unevenly they are divided."""
    with _open() as distribution:
        nodes, tables, largest = distribution.nodes(), distribution.tables(), distribution.largest_shards()
        planned = distribution.plan()
    for node in nodes:
        state = "" if node.active else ", NOT active"
        size = "NOT reachable" if node.octets is None else f"{node.octets / UNIT:,.1f} MB"
        print(f"{node.address}: {node.shards} shards, {size}{state}")
    sizes = [node.octets or 0 for node in nodes if node.shards]
    if sizes and sum(sizes):
        print(f"The largest server has {max(sizes) * len(sizes) / sum(sizes):.2f} times the average.")
    for group in largest:
        print(f"Shards {group.number}, on {group.address}: {group.octets / UNIT:,.1f} MB")
    for table in tables:
        print(f"{table.name}: {table.kind}, {table.octets / UNIT:,.1f} MB")
    print(f"{len(planned)} steps are left: run `postern distribute`." if planned else "Everything is distributed.")


@contextmanager
def _open() -> "Generator[Distribution]":
    """The coordinator's database for the duration of the block. Raises CannotRun if it cannot be distributed."""
    import psycopg

    from postern.cli.data_folder import connect_database, require_schema
    from postern.cli.placement import placement
    from postern.kernel.config import read_settings
    from postern.kernel.database.distribution import Distribution, DistributionError

    with connect_database(read_settings()) as (url, _):
        require_schema(url)
        with psycopg.connect(url, autocommit=True) as connection:
            distribution = Distribution(connection, placement())
            try:
                distribution.check()
                yield distribution
            except DistributionError as error:
                raise CannotRun(str(error)) from None
