"""`postern sources`: the addresses from which the transport `direct` sends, and their warm-up plans."""

import asyncio
from typing import Annotated

import typer


def register(app: typer.Typer) -> None:
    """Add the command of this module."""
    app.command("sources")(show)


def show(json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False) -> None:
    """Print the addresses of POSTERN_SOURCES and the progress of their warm-up plans.

    LANE is the kind of mail (transactional or marketing) for which an address is used. TODAY is how many messages may
    be sent from an address today; USED is how many of these were sent. REPEATED is how many days did not count, because
    nothing was sent or the address was on a blocklist.
    """
    from postern.cli.console import ask_server
    from postern.kernel.config import read_settings

    settings = read_settings()
    text = ask_server("sources", settings, as_json=json, sources=settings.sources)
    print(_read_sources(json) if text is None else text)


def _read_sources(as_json: bool) -> str:
    from postern.cli.data_folder import connect_database, require_schema
    from postern.cli.tables import describe_sources
    from postern.kernel.config import read_settings
    from postern.kernel.database.statements import open_database
    from postern.kernel.values import system_clock
    from postern.messaging.emails.sources import source_states

    settings = read_settings()

    async def read(url: str) -> str:
        async with open_database(url, size=2) as db:
            return describe_sources(await source_states(db, settings, system_clock()), as_json=as_json)

    with connect_database(settings) as (url, _):
        require_schema(url)
        return asyncio.run(read(url))
