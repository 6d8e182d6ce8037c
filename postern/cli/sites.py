"""`postern sites`: list the sites, and suspend, resume or bounce one.

A site is a group of mail servers that are limited together: those of a provider such as Google, or of one domain. A
relay and Amazon SES are sites, too.
"""

import asyncio
from typing import TYPE_CHECKING, Annotated, Any
from uuid import UUID

import typer

from postern.cli import CannotRun

if TYPE_CHECKING:
    from postern.messaging.emails.site_control import SiteOperation
    from postern.world import Hooks

Site = Annotated[str, typer.Argument(help="Name of the site, as `postern sites` shows it.")]
Reason = Annotated[str, typer.Option(help="The reason, which the affected projects can read.")]
Project = Annotated[str | None, typer.Option(help="Apply only to the messages of the project with this id.")]


def register(app: typer.Typer) -> None:
    """Add the commands of this module."""
    group = typer.Typer(help="Show and control the sites to which mail is sent.")
    group.callback(invoke_without_command=True)(show)
    group.command()(suspend)
    group.command()(resume)
    group.command()(bounce)
    app.add_typer(group, name="sites")


def show(context: typer.Context, json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False) -> None:
    """Print the sites with their counts for all projects together, those with the most waiting messages first.

    PART is the part of its limits that a site has at present: less than 100% after it has asked for less mail.
    """
    from postern.cli.console import ask_server
    from postern.kernel.config import read_settings

    if context.invoked_subcommand is not None:
        return
    text = ask_server("sites", read_settings(), as_json=json)
    print(_with_database(_reading_sites(json)) if text is None else text)


def suspend(
    site: Site,
    reason: Reason,
    project: Project = None,
    hours: Annotated[
        float | None, typer.Option(min=0.01, max=8_760, help="Duration. Default: until `postern sites resume`.")
    ] = None,
) -> None:
    """Stop sending mail to a site, for some hours or until it is resumed. The messages for it wait."""
    _operate("suspended", site, project, reason=reason, hours=hours)


def resume(site: Site, project: Project = None) -> None:
    """Send mail to a site again.

    Without --project, this ends the operator's suspension for all projects; suspensions of single projects stay.
    """
    _operate("resumed", site, project)


def bounce(site: Site, reason: Reason, project: Project = None) -> None:
    """Give up the messages that wait for a site: their status becomes FAILED."""
    _operate("bounced", site, project, reason=reason)


def _operate(
    operation: "SiteOperation", site: str, project: str | None, reason: str | None = None, hours: float | None = None
) -> None:
    """Apply an operation to a site, for one project or for all, and print that it was done.

    Raises CannotRun if there is no such site, or if an argument is invalid.
    """
    from postern.cli.console import ask_server
    from postern.kernel.config import read_settings

    try:
        project = str(UUID(project)) if project else None
    except ValueError:
        raise CannotRun(f"{project!r} is not an id: --project takes the UUID of a project.") from None
    values: dict[str, Any] = {
        "operation": operation,
        "site": site,
        "project": project,
        "reason": reason,
        "hours": hours,
    }
    text = ask_server("sites change", read_settings(), **values)
    print(_with_database(*_changing_site(values)) if text is None else text)


def _reading_sites(as_json: bool) -> Any:
    from postern.cli.tables import describe_sites
    from postern.kernel.values import system_clock
    from postern.messaging.emails.site_control import SITES_SHOWN, sites_of_instance

    async def read(db: Any) -> str:
        return describe_sites(await sites_of_instance(db, system_clock(), SITES_SHOWN), as_json=as_json)

    return read


def _changing_site(values: dict[str, Any]) -> "tuple[Any, Hooks]":
    """The function that changes a site, and the hooks that it needs, because it records events. Their import takes most
    of the time of the command."""
    from postern.app import HOOKS
    from postern.cli.operators import change_site
    from postern.kernel.values import system_clock

    async def change(db: Any) -> str:
        return await change_site(db, system_clock(), **values)

    return change, HOOKS


def _with_database(call: Any, hooks: "Hooks | None" = None) -> Any:
    """Open the server's database, and return the result of the async function `call`, which is called with it."""
    from postern.cli.data_folder import connect_database, require_schema
    from postern.kernel.config import read_settings
    from postern.kernel.database.statements import open_database

    async def run(url: str) -> Any:
        async with open_database(url, size=2, hooks=hooks) as db:
            return await call(db)

    with connect_database(read_settings()) as (url, _):
        require_schema(url)
        return asyncio.run(run(url))
