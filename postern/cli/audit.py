"""`postern audit verify`: is the record of who changed what still as it was written?"""

import asyncio
from typing import Annotated
from uuid import UUID

import typer

from postern.cli import CannotRun

BROKEN = 1
"""The exit code when an entry was altered, removed or put in between."""


def register(app: typer.Typer) -> None:
    """Add the commands of this module."""
    group = typer.Typer(help="The audit log.", no_args_is_help=True)
    group.command()(verify)
    group.callback()(lambda: None)
    app.add_typer(group, name="audit")


def verify(
    project: Annotated[str | None, typer.Option(help="One project (or account) only; all without it.")] = None,
) -> None:
    """Recompute the hash chains of the audit log; says where one was tampered with, and then ends with 1."""
    from postern.cli.data_folder import connect_database, require_schema
    from postern.kernel.config import read_settings

    try:
        only = UUID(project) if project else None
    except ValueError:
        raise CannotRun(f"{project!r} is not the id of a project.") from None
    with connect_database(read_settings()) as (url, _):
        require_schema(url)
        intact = asyncio.run(_verify(url, only))
    if not intact:
        raise typer.Exit(BROKEN)


async def _verify(url: str, only: UUID | None) -> bool:
    from postern.kernel.database.statements import open_database
    from postern.platform.audit.operations import chains, verify_chain

    whole, entries, count = True, 0, 0
    async with open_database(url, size=2) as db:
        for chain_id in [only] if only else await chains(db):
            report = await verify_chain(db, chain_id)
            entries, count = entries + report.entries, count + 1
            if not report.intact:
                whole = False
                print(f"{chain_id}: broken at entry {report.broken_at}")
    print(f"{count} chains with {entries} entries: {'intact' if whole else 'NOT intact'}")
    return whole
