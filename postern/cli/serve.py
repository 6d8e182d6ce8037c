"""`postern serve | api | worker | migrate`: the server whole, and its parts."""

import asyncio
from dataclasses import dataclass
from typing import Annotated

import typer

Many = Annotated[int, typer.Option(min=1, max=64)]
Tied = Annotated[bool, typer.Option(hidden=True, help="Read the database's URL from stdin; stop when it closes.")]
Listener = Annotated[int | None, typer.Option(hidden=True, help="An open socket to serve on.")]


def register(app: typer.Typer) -> None:
    """Add the commands of this module."""
    app.command()(serve)
    app.command()(api)
    app.command()(worker)
    app.command("migrate")(bring_up_to_date)


def serve(api_processes: Many = 1, workers: Many = 1) -> None:
    """Run everything: the database (its own, unless DATABASE_URL is set), the API and a worker.

    Set with the environment: POSTERN_HOST (127.0.0.1), POSTERN_PORT (8025), POSTERN_DATA (./var), DATABASE_URL.
    Ctrl-C lets requests and work in hand finish, then stops all that was started.
    """
    from postern.cli.tree import run_tree
    from postern.kernel.settings import read_settings

    raise typer.Exit(asyncio.run(run_tree(read_settings(), api_processes=api_processes, workers=workers)))


def api(tied: Tied = False, listener: Listener = None) -> None:
    """Run one API process on POSTERN_HOST and POSTERN_PORT. Any number share one database."""
    from postern.cli.parts import run_api
    from postern.kernel.settings import read_settings

    settings = read_settings()
    leash = Leash() if tied else None
    run_api(settings, leash.database_url() if leash else _checked_url(), listener=listener, leash=leash)


def worker(tied: Tied = False) -> None:
    """Run one worker: it delivers mail, webhooks and everything else that becomes due. Any number may run."""
    from postern.cli.parts import run_worker
    from postern.kernel.settings import read_settings

    settings = read_settings()
    leash = Leash() if tied else None
    run_worker(settings, leash.database_url() if leash else _checked_url(), leash=leash)


def bring_up_to_date() -> None:
    """Bring the database's schema up to date: DATABASE_URL's, or that of the data folder."""
    from postern.cli.place import reach_database
    from postern.kernel.migrations import migrate
    from postern.kernel.settings import read_settings

    settings = read_settings()
    if settings.database_url:
        applied = migrate(settings.database_url)
    else:
        with reach_database(settings) as (url, _):
            applied = migrate(url)
    for name in applied:
        print(f"applied {name}")
    print("The schema is up to date.")


def _checked_url() -> str:
    """The database, if this release can work on it. Raises CannotRun when migrations are missing."""
    import psycopg

    from postern.cli import CannotRun
    from postern.cli.place import database_url
    from postern.kernel.migrations import missing
    from postern.kernel.settings import read_settings

    url = database_url(read_settings())
    with psycopg.connect(url, autocommit=True) as connection:
        if names := missing(connection):
            raise CannotRun(f"The database lacks {len(names)} migrations ({names[0]} …): run `postern migrate`.")
    return url


@dataclass
class Leash:
    """The pipe to the process that started us: it brings the database's URL, and its end is our end."""

    descriptor: int = 0

    def database_url(self) -> str:
        """Wait for the URL; exit if the parent goes away before it comes."""
        import os

        read = b""
        while not read.endswith(b"\n"):
            part = os.read(self.descriptor, 4_096)
            if not part:
                raise typer.Exit(0)
            read += part
        return read.decode().strip()
