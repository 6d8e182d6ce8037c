"""The program of a child process of `postern serve`: `python -m postern.cli.child api …`, `worker` or `smtp …`.

See `postern.cli.processes`, whose import loads the whole application.
"""

import gc
from dataclasses import dataclass


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
    is_empty: bool = False
    """Whether it has no account yet."""


def main() -> None:
    """Run the process until its parent ends.

    The cyclic garbage collector is off until the application is loaded and serves: it would take a quarter of that time
    and find almost nothing.
    """
    gc.disable()
    from postern.cli import processes

    processes.main()


if __name__ == "__main__":
    main()
