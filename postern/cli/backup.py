"""`postern backup` and `postern restore`: the whole database in one file, while the server runs."""

import subprocess
from pathlib import Path
from typing import Annotated

import typer

from postern.cli import CannotRun

File = Annotated[Path, typer.Argument(help="The file.")]


def register(app: typer.Typer) -> None:
    """Add the commands of this module."""
    app.command()(backup)
    app.command()(restore)


def backup(file: File) -> None:
    """Write the whole database to a file, as it is at one moment, while the server runs or not.

    The master key is not in it: keep a copy of `master.key` of the data folder (or of POSTERN_SECRET) elsewhere.
    """
    from postern.cli.place import reach_database
    from postern.kernel.settings import read_settings

    if file.exists():
        raise CannotRun(f"{file} is there already; name another file.")
    unfinished = file.with_name(f"{file.name}.unfinished")
    with reach_database(read_settings()) as (url, _):
        try:
            # What is in it is for the owner alone, from the first byte on.
            unfinished.unlink(missing_ok=True)
            unfinished.touch(mode=0o600)
            _run(
                "pg_dump", "--format=custom", "--no-owner", "--no-privileges", f"--file={unfinished}", f"--dbname={url}"
            )
            unfinished.rename(file)
        except OSError as error:
            raise CannotRun(f"{file} cannot be written: {error.strerror}.") from None
        finally:
            unfinished.unlink(missing_ok=True)
    print(f"{file}: {file.stat().st_size:,} bytes. Keep the master key too, elsewhere.")


def restore(file: File) -> None:
    """Fill an empty database from a file that `postern backup` wrote; the server must not run on it.

    Without DATABASE_URL a new database is made in the data folder, which must hold the master key of that time.
    """
    import psycopg

    from postern.cli.place import fill_database
    from postern.kernel.settings import read_settings

    if not file.is_file():
        raise CannotRun(f"There is no file {file}.")
    _run("pg_restore", "--list", str(file))
    with fill_database(read_settings()) as url:
        with psycopg.connect(url) as connection:
            found = connection.execute("select to_regclass('schema_migrations') is not null").fetchone()
        if found and found[0]:
            raise CannotRun("This database is not empty; restore into an empty one, or a new data folder.")
        _run("pg_restore", "--exit-on-error", "--single-transaction", "--no-owner", f"--dbname={url}", str(file))
    print(f"Restored from {file}. Start the server with the master key of that time.")


def _run(program: str, *arguments: str) -> None:
    """Run one of PostgreSQL's own programs. Raises CannotRun with what it says is wrong."""
    from postern.kernel import embedded

    ran = subprocess.run([embedded.program(program), *arguments], capture_output=True, text=True, check=False)
    if ran.returncode != 0:
        raise CannotRun(f"{program} failed: {ran.stderr.strip() or ran.returncode}")
