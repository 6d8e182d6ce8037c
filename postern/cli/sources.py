"""`postern sources`: the addresses from which the transport `direct` sends, and their warm-up plans."""

import asyncio
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from postern.messaging.emails.sources import SourceState

COLUMNS = ("ADDRESS", "NAME", "LANE", "PROJECT", "WARM-UP", "STEP", "TODAY", "USED", "REPEATED", "LAST DAY")


def register(app: typer.Typer) -> None:
    """Add the command of this module."""
    app.command("sources")(show)


def show(json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False) -> None:
    """Print the addresses of POSTERN_SOURCES and the progress of their warm-up plans.

    LANE is the kind of mail (transactional or marketing) for which an address is used. TODAY is how many messages may
    be sent from an address today; USED is how many of these were sent. REPEATED is how many days did not count, because
    nothing was sent or the address was on a blocklist.
    """
    states = _states()
    if json:
        from postern.kernel.values import to_json

        print(to_json(states).decode())
        return
    rows = [COLUMNS, *map(_cells, states)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(COLUMNS))]
    for row in rows:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())


def _states() -> "list[SourceState]":
    from postern.cli.data_folder import connect_database, require_schema
    from postern.kernel.config import read_settings
    from postern.kernel.database.statements import open_database
    from postern.kernel.values import system_clock
    from postern.messaging.emails.sources import source_states

    settings = read_settings()

    async def read(url: str) -> "list[SourceState]":
        async with open_database(url, size=2) as db:
            return await source_states(db, settings, system_clock())

    with connect_database(settings) as (url, _):
        require_schema(url)
        return asyncio.run(read(url))


def _cells(state: "SourceState") -> tuple[str, ...]:
    names = (state.address, state.name or "(not in POSTERN_SOURCES)", state.lane or "all", state.project_id or "all")
    if state.status is None or state.steps is None:
        return (*names, "none", *[""] * 5)
    last_day = "" if state.last_day is None else str(state.last_day)
    numbers = (state.ceiling, state.used, state.repeated_days)
    ceiling, used, repeated = ("" if number is None else f"{number:,}" for number in numbers)
    step = f"{state.step}/{len(state.steps)}"
    status = f"SCHEDULED {state.starts_on}" if state.status == "SCHEDULED" else state.status
    return (*names, status, step, ceiling, used, repeated, last_day)
