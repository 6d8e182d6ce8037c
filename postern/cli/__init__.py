"""The command `postern`.

Each module in COMMANDS adds its commands in `register(app)`. All of them are imported at every start, so they
import heavy modules inside their functions to keep `postern --help` and the server's start fast.
"""

import sys
from collections.abc import Generator
from contextlib import contextmanager
from importlib import import_module
from typing import Annotated

import typer
from typer import Exit, Option

COMMANDS = (
    "postern.cli.serve",
    "postern.cli.bootstrap",
    "postern.cli.field",
    "postern.cli.listen",
    "postern.cli.developers",
    "postern.cli.client",
    "postern.cli.demo",
    "postern.cli.audit",
    "postern.cli.contacts",
    "postern.cli.contract",
    "postern.cli.backup",
    "postern.cli.doctor",
    "postern.cli.reports",
    "postern.cli.tls_reports",
    "postern.cli.campaigns",
    "postern.cli.sites",
    "postern.cli.sources",
    "postern.cli.certificates",
)

EXIT_CANNOT_RUN = 78
"""Exit code of a process for which a restart would fail again (EX_CONFIG of sysexits.h)."""


class CannotRun(Exception):
    """The command cannot run; the message tells the user what to do."""


def make_command() -> typer.Typer:
    """Return the Typer application with all subcommands."""
    app = typer.Typer(
        name="postern",
        help="E-mail delivery and customer identity behind one HTTP API.",
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
    )
    app.callback()(_options)
    for name in COMMANDS:
        import_module(name).register(app)
    return app


def _options(
    version: Annotated[
        bool,
        Option(
            "--version", callback=lambda requested: _print_version(requested), is_eager=True, help="Print the version."
        ),
    ] = False,
) -> None:
    pass


def _print_version(requested: bool) -> None:
    if requested:
        from importlib.metadata import version

        print(f"postern {version('postern-server')}")
        raise Exit


def main() -> None:
    """Run the command line. Expected errors are printed as one sentence, without a stack trace."""
    with report_expected_errors():
        make_command()()


@contextmanager
def report_expected_errors() -> Generator[None]:
    """Print an expected error of the block as one sentence and exit with EXIT_CANNOT_RUN; other errors propagate."""
    try:
        yield
    except Exception as error:
        if _is_unreachable(error):
            error = CannotRun(f"Cannot reach the server: {error}. Check the URL, and that `postern serve` is running.")
        if not _is_expected(error):
            raise
        print(f"postern: {error}".rstrip(), file=sys.stderr)
        sys.exit(EXIT_CANNOT_RUN)


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
