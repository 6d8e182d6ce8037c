"""`postern audit verify`: check that no entry of the audit log was altered, removed or inserted."""

import asyncio
from typing import Annotated
from uuid import UUID

import typer

from postern.cli import CannotRun

EXIT_TAMPERED = 1
"""Exit code if an entry was altered, removed or inserted."""


def register(app: typer.Typer) -> None:
    """Add the commands of this module."""
    group = typer.Typer(help="Check the audit log.", no_args_is_help=True)
    group.command()(verify)
    app.add_typer(group, name="audit")


def verify(
    project: Annotated[
        str | None, typer.Option(help="Id of one project or account to check. Default: all of them.")
    ] = None,
) -> None:
    """Recompute the hash chains of the audit log, and print the first broken entry of each.

    Exits with 1 if an entry is broken.
    """
    from postern.cli.data_folder import connect_database, require_schema
    from postern.kernel.config import read_settings

    try:
        chain_id = UUID(project) if project else None
    except ValueError:
        raise CannotRun(f"{project!r} is not an id: --project takes the UUID of a project or account.") from None
    with connect_database(read_settings()) as (url, _):
        require_schema(url)
        intact = asyncio.run(_verify(url, chain_id))
    if not intact:
        raise typer.Exit(EXIT_TAMPERED)


async def _verify(url: str, only_chain: UUID | None) -> bool:
    """Check one chain, or all of them; returns whether every chain is intact."""
    from postern.kernel.database.statements import open_database
    from postern.platform.audit.operations import chains, verify_chain

    is_intact, entries, chain_count = True, 0, 0
    async with open_database(url, size=2) as db:
        for chain_id in [only_chain] if only_chain else await chains(db):
            report = await verify_chain(db, chain_id)
            entries, chain_count = entries + report.entries, chain_count + 1
            if not report.intact:
                is_intact = False
                print(f"{chain_id}: broken at entry {report.broken_at}")
    print(f"{chain_count} chains with {entries} entries: {'intact' if is_intact else 'NOT intact'}")
    return is_intact
