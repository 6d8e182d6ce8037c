"""The command `postern`.

Only the module of the command that is run is imported, and modules import heavy ones inside their functions, to keep
commands and the server's start fast.
"""

import gc
import sys
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from importlib import import_module
from typing import TYPE_CHECKING, Annotated

if TYPE_CHECKING:
    import typer

COMMANDS = {
    "postern.cli.serve": ("serve", "api", "worker", "smtp", "migrate", "health"),
    "postern.cli.bootstrap": ("bootstrap",),
    "postern.cli.field": ("field",),
    "postern.cli.listen": ("listen",),
    "postern.cli.developers": ("developers", "keys", "sign-in-link", "access"),
    "postern.cli.client": ("send", "tail"),
    "postern.cli.demo": ("demo",),
    "postern.cli.audit": ("audit",),
    "postern.cli.contacts": ("import",),
    "postern.cli.contract": ("contract",),
    "postern.cli.backup": ("backup", "restore"),
    "postern.cli.upgrade": ("upgrade",),
    "postern.cli.doctor": ("doctor",),
    "postern.cli.reports": ("reports",),
    "postern.cli.tls_reports": ("tls-reports",),
    "postern.cli.campaigns": ("campaign",),
    "postern.cli.sites": ("sites",),
    "postern.cli.sources": ("sources",),
    "postern.cli.certificates": ("certificates",),
    "postern.cli.distribute": ("distribute",),
}
"""The commands that each module adds in `register(app)`."""

GC_THRESHOLD = 20_000
"""Net allocations of objects after which Python's cyclic garbage collector runs (gc.set_threshold). With the default of
700, it takes a tenth of the time of a worker that sends a thousand messages at once, and a fifth of that of imports."""

EXIT_CANNOT_RUN = 78
"""Exit code of a process for which a restart would fail again (EX_CONFIG of sysexits.h)."""


EXIT_TRY_LATER = 75
"""Exit code of a process that a later start may help, because the database cannot be reached (EX_TEMPFAIL)."""


class CannotRun(Exception):
    """The command cannot run; the message tells the user what to do."""

    exit_code: int = EXIT_CANNOT_RUN


class CannotRunYet(CannotRun):
    """The command cannot run at the moment, for a reason outside of this machine's configuration."""

    exit_code = EXIT_TRY_LATER


def make_command(words: Sequence[str] = ()) -> "typer.Typer":
    """Return the Typer application for the command line `words`: with all commands, or only with those of the module
    of the command that it begins with, or with none for `--version`."""
    import typer

    app = typer.Typer(
        name="postern",
        help="E-mail delivery and customer identity behind one HTTP API.",
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
    )

    @app.callback()
    def options(  # pyright: ignore[reportUnusedFunction]
        version: Annotated[
            bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
        ] = False,
    ) -> None:
        pass

    first = words[0] if words else ""
    modules = [name for name, commands in COMMANDS.items() if first in commands]
    for name in modules or (() if first == "--version" else COMMANDS):
        import_module(name).register(app)
    return app


def _print_version(requested: bool) -> None:
    if requested:
        from importlib.metadata import version

        import typer

        print(f"postern {version('postern-server')}")
        raise typer.Exit


def main() -> None:
    """Run the command line. Expected errors are printed as one sentence, without a stack trace."""
    gc.set_threshold(GC_THRESHOLD, 20, 50)
    with report_expected_errors():
        if sys.argv[1:] == ["serve"]:
            # Without options it needs no parser of options, whose import takes as long as the start of its processes.
            from postern.cli.supervisor import run_server

            sys.exit(run_server())
        make_command(sys.argv[1:])()


@contextmanager
def report_expected_errors() -> Generator[None]:
    """Print an expected error of the block as one sentence and exit: with EXIT_TRY_LATER if the database cannot be
    reached, so that a service manager starts the process again, otherwise with EXIT_CANNOT_RUN. Other errors
    propagate."""
    try:
        yield
    except Exception as error:
        if _is_unreachable(error):
            error = CannotRun(f"Cannot reach the server: {error}. Check the URL, and that `postern serve` is running.")
        if not _is_expected(error):
            raise
        print(f"postern: {error}".rstrip(), file=sys.stderr)
        sys.exit(_exit_code(error))


def _exit_code(error: Exception) -> int:
    """The exit code for an expected error."""
    from psycopg import OperationalError

    if isinstance(error, OperationalError):
        return EXIT_TRY_LATER
    return error.exit_code if isinstance(error, CannotRun) else EXIT_CANNOT_RUN


def _is_unreachable(error: Exception) -> bool:
    """Whether an HTTP request could not reach its server; checked only if httpx is loaded."""
    httpx = sys.modules.get("httpx")
    return httpx is not None and isinstance(error, httpx.TransportError | httpx.InvalidURL)


def _is_expected(error: Exception) -> bool:
    from psycopg import OperationalError

    from postern.kernel.config import SettingInvalid
    from postern.kernel.database.embedded import EmbeddedError
    from postern.kernel.database.migrations import MigrationError
    from postern.security.secrets import WrongMasterKey

    expected = CannotRun | EmbeddedError | MigrationError | SettingInvalid | OperationalError | WrongMasterKey
    return isinstance(error, expected)
