"""`postern backup` and `postern restore`: dump the whole database to one file with pg_dump, and load it again."""

import asyncio
import shutil
import subprocess
from contextlib import suppress
from itertools import islice
from pathlib import Path
from tempfile import TemporaryFile
from typing import Annotated

import typer

from postern.cli import CannotRun

TRANSACTION_TIMEOUT = b"SET transaction_timeout = 0;\n"
"""A line of dump scripts that PostgreSQL before version 17 rejects."""
SETTINGS_LINES = 100
"""How many lines of a dump script are searched for TRANSACTION_TIMEOUT. The settings come before all data."""
MAX_ERROR_BYTES = 4_000
TRANSIENT_TABLES = ("workers", "smtp_processes", "rate_limits")
"""Tables whose rows are about the processes that run, so they would be wrong in a database that is restored."""

File = Annotated[Path, typer.Argument(help="Path of the backup file.")]


def register(app: typer.Typer) -> None:
    """Add the commands of this module."""
    app.command()(backup)
    app.command()(restore)


def backup(file: File) -> None:
    """Write a consistent snapshot of the whole database to a file. The server may keep running.

    The backup does not contain the master key: store a copy of `master.key` in the data folder (or of POSTERN_SECRET)
    in another place.
    """
    from postern.cli.data_folder import connect_database, require_schema
    from postern.kernel.config import read_settings

    if file.exists():
        raise CannotRun(f"{file} exists already; choose another file name.")
    unfinished = file.with_name(f"{file.name}.unfinished")
    with connect_database(read_settings()) as (url, _):
        require_schema(url)
        try:
            # Created with mode 0600 before pg_dump writes to it: a backup contains personal data and password hashes.
            unfinished.unlink(missing_ok=True)
            unfinished.touch(mode=0o600)
            transient = [f"--exclude-table-data=public.{table}" for table in TRANSIENT_TABLES]
            _run(
                "pg_dump",
                "--format=custom",
                "--no-owner",
                "--no-privileges",
                *transient,
                f"--file={unfinished}",
                f"--dbname={url}",
            )
            unfinished.rename(file)
        except OSError as error:
            raise CannotRun(f"{file} cannot be written: {error.strerror}.") from None
        finally:
            unfinished.unlink(missing_ok=True)
        asyncio.run(_record_backup(url))
    print(f"{file}: {file.stat().st_size:,} bytes. It does not contain the master key: back that up separately.")


async def _record_backup(url: str) -> None:
    """Store when the backup was made, for `postern upgrade --check`. That is not possible in the schema of an earlier
    release, with an account that may only read, and on a standby, all of which are good enough for a backup."""
    from psycopg import Error

    from postern.instance_store import record_backup
    from postern.kernel.database.statements import open_database
    from postern.kernel.values import system_clock

    with suppress(Error):
        async with open_database(url, size=1) as db:
            await record_backup(db, now=system_clock())


def restore(file: File) -> None:
    """Load a file written by `postern backup` into an empty database. The server must not run on that database.

    Without DATABASE_URL, a new database is created in the data folder, which must contain the `master.key` of the
    server that was backed up.
    """
    from postern.cli.data_folder import has_schema, restore_database
    from postern.kernel.config import read_settings

    if not file.is_file():
        raise CannotRun(f"There is no file {file}.")
    _run("pg_restore", "--list", str(file))
    with restore_database(read_settings()) as url:
        if has_schema(url):
            raise CannotRun("This database is not empty. Restore into an empty database or a new data folder.")
        _restore_dump(url, file)
    print(f"Restored from {file}. Start the server with the master key that it had when the backup was made.")


def _restore_dump(url: str, file: Path) -> None:
    """Run the SQL script of a dump on the database at `url`, in one transaction. Raises CannotRun if it fails.

    The script is piped through this process to drop TRANSACTION_TIMEOUT, which pg_restore 17 and later write, if the
    server is older than PostgreSQL 17.
    """
    from psycopg.conninfo import make_conninfo

    from postern.kernel.database import embedded
    from postern.kernel.database.connections import connection_settings

    dump_to_script = [embedded.program("pg_restore"), "--no-owner", "--no-privileges", "--file=-", str(file)]
    run_script = [
        embedded.program("psql"),
        "--no-psqlrc",
        "--quiet",
        "--set=ON_ERROR_STOP=1",
        f"--dbname={make_conninfo(url, **connection_settings(url))}",
    ]
    with (
        TemporaryFile() as error_output,
        subprocess.Popen(dump_to_script, stdout=subprocess.PIPE, stderr=error_output) as script,
        subprocess.Popen(run_script, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=error_output) as database,
    ):
        assert script.stdout
        assert database.stdin
        knows_timeout = _knows_transaction_timeout(url)
        with suppress(BrokenPipeError):  # psql exits at the first error, after writing it to error_output.
            database.stdin.write(b"begin;\n")
            for line in islice(script.stdout, SETTINGS_LINES):
                if knows_timeout or line != TRANSACTION_TIMEOUT:
                    database.stdin.write(line)
            shutil.copyfileobj(script.stdout, database.stdin)
            # pg_restore fails for a truncated dump. Then there is no commit, so the database stays empty.
            if script.wait() == 0:
                database.stdin.write(b"commit;\n")
        with suppress(BrokenPipeError):
            database.stdin.close()
        script.stdout.close()
        codes = script.wait(), database.wait()
        if any(codes):
            error_output.seek(0)
            message = error_output.read(MAX_ERROR_BYTES).decode(errors="replace").strip()
            raise CannotRun(f"pg_restore failed: {message or codes}")


def _knows_transaction_timeout(url: str) -> bool:
    from postern.kernel.database.connections import connect

    with connect(url) as connection:
        return connection.info.server_version >= 170_000


def _run(program: str, *arguments: str) -> None:
    """Run a program of PostgreSQL, such as pg_dump. Raises CannotRun with its error output if it fails."""
    from postern.kernel.database import embedded

    completed = subprocess.run([embedded.program(program), *arguments], capture_output=True, text=True, check=False)
    if completed.returncode != 0:
        raise CannotRun(f"{program} failed: {completed.stderr.strip() or completed.returncode}")
