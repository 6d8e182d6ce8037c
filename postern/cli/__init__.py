"""The command `postern`.

Each module in COMMANDS adds its commands in `register(app)`. All of them are imported at every start, so they
import what is heavy inside their functions: `postern --help` and the start of a server stay quick.
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
    "postern.cli.campaigns",
)

CANNOT_RUN = 78
"""The exit code of a process that would fail again if it were started again (EX_CONFIG of sysexits.h)."""


class CannotRun(Exception):
    """The command cannot do its work; the message is for people and says what to do."""


def make_command() -> typer.Typer:
    """The command with everything that hangs below it."""
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
        Option("--version", callback=lambda asked: _print_version(asked), is_eager=True, help="Print the version."),
    ] = False,
) -> None:
    pass


def _print_version(asked: bool) -> None:
    if asked:
        from importlib.metadata import version

        print(f"postern {version('postern')}")
        raise Exit


def main() -> None:
    """Run the command line; trouble that was expected is one sentence, without a stack trace."""
    with expected_trouble():
        make_command()()


@contextmanager
def expected_trouble() -> Generator[None]:
    """End with one sentence where something expected keeps the command from running."""
    try:
        yield
    except Exception as error:
        if _is_silence(error):
            error = CannotRun(f"The server does not answer: {error}")
        if not _is_expected(error):
            raise
        print(f"postern: {error}".rstrip(), file=sys.stderr)
        sys.exit(CANNOT_RUN)


def _is_silence(error: Exception) -> bool:
    """Whether a request over HTTP found nobody; only a process that has httpx loaded can have made one."""
    httpx = sys.modules.get("httpx")
    return httpx is not None and isinstance(error, httpx.TransportError | httpx.InvalidURL)


def _is_expected(error: Exception) -> bool:
    from psycopg import OperationalError

    from postern.kernel.config import SettingInvalid
    from postern.kernel.database.embedded import EmbeddedError
    from postern.kernel.database.migrations import MigrationError
    from postern.security.secrets import WrongMasterKey

    kinds = CannotRun | EmbeddedError | MigrationError | SettingInvalid | OperationalError | WrongMasterKey
    return isinstance(error, kinds)
