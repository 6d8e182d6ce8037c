"""`postern distribute`: distributes the tables over several PostgreSQL servers by Citus, and shows where they are."""

from contextlib import contextmanager, suppress
from threading import Event, Thread
from typing import TYPE_CHECKING, Annotated
from uuid import UUID

import typer

from postern.cli import CannotRun

if TYPE_CHECKING:
    from collections.abc import Generator

    from postern.kernel.database.distribution import Distribution, Step

PROGRESS_SECONDS = 1.0
"""How often the progress of a move is read."""
RUNNING_SECONDS = 60
"""A worker that reported within this time counts as running."""
UNIT = 1_000_000


def register(app: typer.Typer) -> None:
    """Add the commands of this module."""
    group = typer.Typer(help="Distribute the tables over several PostgreSQL servers by Citus.")
    group.callback(invoke_without_command=True)(distribute)
    group.command()(status)
    group.command()(isolate)
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
    with _open() as (distribution, _):
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
    with _open() as (distribution, _):
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


def isolate(
    project: Annotated[UUID, typer.Argument(metavar="PROJECT_ID", help="The project.")],
    server: Annotated[str, typer.Argument(metavar="HOST:PORT", help="The server to move it to, as Citus knows it.")],
    block_writes: Annotated[
        bool,
        typer.Option("--block-writes", help="Let writes wait during the copy, if it is not possible otherwise."),
    ] = False,
) -> None:
    """Give a large project shards of its own, and move them to a server, while the processes of Postern run.

    If it was interrupted, run it again: it goes on with the step that was not finished.
    """
    with _open() as (distribution, url):
        if planned := distribution.plan():
            raise CannotRun(f"{len(planned)} steps are left: run `postern distribute` first.")
        if not distribution.has_tenant(project):
            raise CannotRun(f"There is no project {project}.")
        distribution.lock()
        for step in distribution.steps_to_isolate(project, server, block_writes=block_writes):
            _run_with_progress(step, url)
        shards = distribution.shards_of(project)
    print(f"The project {project} has shards of its own, on {shards.address}.")


def _run_with_progress(step: "Step", url: str) -> None:
    """Run a step, and show how much of the shards has moved."""
    import psycopg
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn

    from postern.kernel.database.distribution import transferred_share

    columns = TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeElapsedColumn()
    ended = Event()

    def watch() -> None:
        with suppress(psycopg.Error), psycopg.connect(url, autocommit=True) as connection:
            while not ended.wait(PROGRESS_SECONDS):
                bars.update(task, completed=max(transferred_share(connection), bars.tasks[task].completed))

    with Progress(*columns, console=Console(stderr=True)) as bars:
        task = bars.add_task(step.description, total=1.0)
        watching = Thread(target=watch, daemon=True)
        watching.start()
        try:
            step.run()
            bars.update(task, completed=1.0)
        finally:
            ended.set()
            watching.join()


@contextmanager
def _open() -> "Generator[tuple[Distribution, str]]":
    """The coordinator's database for the duration of the block, and its URL. Raises CannotRun if it cannot be
    distributed."""
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
                yield distribution, url
            except DistributionError as error:
                raise CannotRun(str(error)) from None
