"""`postern backup` and `postern restore`: the whole database in one file, while the server runs."""

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
HEAD_LINES = 100
"""The settings of a script are among its first lines, before any record."""
ERROR_BYTES = 4_000

File = Annotated[Path, typer.Argument(help="The file.")]


def register(app: typer.Typer) -> None:
    """Add the commands of this module."""
    app.command()(backup)
    app.command()(restore)


def backup(file: File) -> None:
    """Write the whole database to a file, as it is at one moment, while the server runs or not.

    The master key is not in it: keep a copy of `master.key` of the data folder (or of POSTERN_SECRET) elsewhere.
    """
    from postern.cli.data_folder import connect_database, require_schema
    from postern.kernel.config import read_settings

    if file.exists():
        raise CannotRun(f"{file} is there already; name another file.")
    unfinished = file.with_name(f"{file.name}.unfinished")
    with connect_database(read_settings()) as (url, _):
        require_schema(url)
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
    from postern.cli.data_folder import has_schema, restore_database
    from postern.kernel.config import read_settings

    if not file.is_file():
        raise CannotRun(f"There is no file {file}.")
    _run("pg_restore", "--list", str(file))
    with restore_database(read_settings()) as url:
        if has_schema(url):
            raise CannotRun("This database is not empty; restore into an empty one, or a new data folder.")
        _restore_dump(url, file)
    print(f"Restored from {file}. Start the server with the master key of that time.")


def _restore_dump(url: str, file: Path) -> None:
    """Run the script that a dump contains on the database at `url`, in one transaction. Raises CannotRun.

    The script goes through this process, because pg_restore 17 and newer begin it with a setting that older servers
    do not know (the notes on compatibility of its manual).
    """
    from postern.kernel.database import embedded

    to_script = [embedded.program("pg_restore"), "--no-owner", "--no-privileges", "--file=-", str(file)]
    to_database = [embedded.program("psql"), "--no-psqlrc", "--quiet", "--set=ON_ERROR_STOP=1", f"--dbname={url}"]
    with (
        TemporaryFile() as troubles,
        subprocess.Popen(to_script, stdout=subprocess.PIPE, stderr=troubles) as script,
        subprocess.Popen(to_database, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=troubles) as database,
    ):
        assert script.stdout
        assert database.stdin
        is_known = _knows_transaction_timeout(url)
        with suppress(BrokenPipeError):  # psql ends at the first error, and has said which.
            database.stdin.write(b"begin;\n")
            for line in islice(script.stdout, HEAD_LINES):
                if is_known or line != TRANSACTION_TIMEOUT:
                    database.stdin.write(line)
            shutil.copyfileobj(script.stdout, database.stdin)
            # Without it everything is rolled back: a dump that was cut off must not become half a database.
            if script.wait() == 0:
                database.stdin.write(b"commit;\n")
        with suppress(BrokenPipeError):
            database.stdin.close()
        script.stdout.close()
        codes = script.wait(), database.wait()
        if any(codes):
            troubles.seek(0)
            said = troubles.read(ERROR_BYTES).decode(errors="replace").strip()
            raise CannotRun(f"pg_restore failed: {said or codes}")


def _knows_transaction_timeout(url: str) -> bool:
    import psycopg

    with psycopg.connect(url) as connection:
        return connection.info.server_version >= 170_000


def _run(program: str, *arguments: str) -> None:
    """Run one of PostgreSQL's own programs. Raises CannotRun with what it says is wrong."""
    from postern.kernel.database import embedded

    ran = subprocess.run([embedded.program(program), *arguments], capture_output=True, text=True, check=False)
    if ran.returncode != 0:
        raise CannotRun(f"{program} failed: {ran.stderr.strip() or ran.returncode}")
