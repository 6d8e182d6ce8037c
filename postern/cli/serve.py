"""`postern serve | api | worker | migrate`: the server whole, and its parts."""

import asyncio
from typing import Annotated

import typer

Many = Annotated[int, typer.Option(min=1, max=64)]


def register(app: typer.Typer) -> None:
    """Add the commands of this module."""
    app.command()(serve)
    app.command()(api)
    app.command()(worker)
    app.command("migrate")(bring_up_to_date)


def serve(api_processes: Many = 1, workers: Many = 1) -> None:
    """Run everything: the database (its own, unless DATABASE_URL is set), the API and a worker.

    Set with the environment: POSTERN_HOST (127.0.0.1), POSTERN_PORT (8025), POSTERN_DATA, DATABASE_URL.
    Ctrl-C lets requests and work in hand finish, then stops all that was started.
    """
    from postern.cli.supervisor import run_processes
    from postern.kernel.config import read_settings

    raise typer.Exit(asyncio.run(run_processes(read_settings(), api_processes=api_processes, workers=workers)))


def api() -> None:
    """Run one API process on POSTERN_HOST and POSTERN_PORT. Any number share one database."""
    from postern.cli.processes import run_api
    from postern.kernel.config import read_settings

    run_api(read_settings(), _checked_url())


def worker() -> None:
    """Run one worker: it delivers mail, webhooks and everything else that becomes due. Any number may run."""
    from postern.cli.processes import run_worker
    from postern.kernel.config import read_settings

    run_worker(read_settings(), _checked_url())


def bring_up_to_date() -> None:
    """Bring the database's schema up to date: DATABASE_URL's, or that of the data folder."""
    from postern.cli.data_folder import connect_database
    from postern.kernel.config import read_settings
    from postern.kernel.database.migrations import migrate

    settings = read_settings()
    with connect_database(settings) as (url, _):
        applied = migrate(url, within=settings.database_wait)
    for name in applied:
        print(f"applied {name}")
    print("The schema is up to date.")


def _checked_url() -> str:
    """The database, once it answers. Raises CannotRun when it lacks migrations of this release."""
    from postern.cli import CannotRun
    from postern.cli.data_folder import database_url
    from postern.kernel.config import read_settings
    from postern.kernel.database.migrations import connect_with_retries, missing

    settings = read_settings()
    url = database_url(settings)
    with connect_with_retries(url, settings.database_wait) as connection:
        if names := missing(connection):
            raise CannotRun(f"The database lacks {len(names)} migrations ({names[0]} …): run `postern migrate`.")
    return url
