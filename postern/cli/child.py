"""The program of a child process of `postern serve`: `python -m postern.cli.child api …`, `worker` or `smtp …`.

See `postern.cli.processes`, whose import loads the whole application.
"""

import gc
import sys
from dataclasses import dataclass

UNUSED_LIBRARIES = ("rich", "annotated_types")
"""Libraries that structlog and Litestar import if they are installed, and that no server process uses. With what they
import themselves (attrs, Pygments), they take a twelfth of the time to load the application."""


@dataclass(frozen=True)
class SettingsReport:
    """What the first API process reports to `postern serve` as a line of JSON, as soon as it has loaded the
    application."""

    error: str = ""
    """Why the settings or the master key are invalid; empty if they are valid."""
    mail_and_ports: str = ""
    """Describes the transports and the ports."""


@dataclass(frozen=True)
class DatabaseReport:
    """What it reports in a second line, after it got the URL of the database and has migrated it."""

    error: str = ""
    """Why the database cannot be used; empty if it can."""
    is_temporary: bool = False
    """Whether the error is that the database cannot be reached, so that a later start may help."""
    is_empty: bool = False
    """Whether it has no account yet."""


def main() -> None:
    """Run the process until its parent ends.

    The cyclic garbage collector is off until the application is loaded and serves: it would take a quarter of that time
    and find almost nothing.
    """
    gc.disable()
    # An import of a name that is None fails as if the library were not installed.
    sys.modules.update(dict.fromkeys(UNUSED_LIBRARIES))  # pyright: ignore[reportArgumentType, reportCallIssue]
    from postern.cli import processes

    processes.main()


if __name__ == "__main__":
    main()
