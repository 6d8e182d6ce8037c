"""`postern sites`: list the sites, and suspend, resume or bounce one.

A site is a group of mail servers that are limited together: those of a provider such as Google, or of one domain. A
relay and Amazon SES are sites, too.
"""

import asyncio
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Annotated, Any
from uuid import UUID

import typer

from postern.cli import CannotRun

if TYPE_CHECKING:
    from postern.messaging.emails.model import InstanceSite
    from postern.messaging.emails.site_control import SiteOperation
    from postern.world import Hooks

SITES_SHOWN = 1_000
"""Maximum number of sites that are printed, those with the most waiting messages first."""

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
    if context.invoked_subcommand is not None:
        return
    sites = _with_database(_read_sites)
    if json:
        from postern.kernel.values import to_json

        print(to_json(sites).decode())
        return
    _print_table(sites)


def suspend(
    site: Site,
    reason: Reason,
    project: Project = None,
    hours: Annotated[
        float | None, typer.Option(min=0.01, max=8_760, help="Duration. Default: until `postern sites resume`.")
    ] = None,
) -> None:
    """Stop sending mail to a site, for some hours or until it is resumed. The messages for it wait."""
    from postern.kernel.values import Moment

    until = None if hours is None else Moment.of(datetime.now(UTC) + timedelta(hours=hours))
    _operate("suspended", site, project, reason=_valid_reason(reason), until=until)


def resume(site: Site, project: Project = None) -> None:
    """Send mail to a site again.

    Without --project, this ends the operator's suspension for all projects; suspensions of single projects stay.
    """
    _operate("resumed", site, project)


def bounce(site: Site, reason: Reason, project: Project = None) -> None:
    """Give up the messages that wait for a site: their status becomes FAILED."""
    _operate("bounced", site, project, reason=_valid_reason(reason))


def _valid_reason(reason: str) -> str:
    """Return `reason`. Raises CannotRun if it is empty, too long or contains NUL."""
    from postern.messaging.emails.model import SITE_REASON_CHARACTERS

    if not 1 <= len(reason) <= SITE_REASON_CHARACTERS or "\0" in reason:
        raise CannotRun(f"--reason must have 1 to {SITE_REASON_CHARACTERS} characters.")
    return reason


def _operate(operation: "SiteOperation", site: str, project: str | None, **values: Any) -> None:
    """Apply an operation to a site, for one project or for all, and print that it was done.

    `values` are the arguments of `site_control.operate`. Raises CannotRun if there is no such site.
    """
    from postern.app import HOOKS
    from postern.messaging.emails import site_control

    try:
        project_id = UUID(project) if project else None
    except ValueError:
        raise CannotRun(f"{project!r} is not an id: --project takes the UUID of a project.") from None

    async def change(db: Any) -> int:
        return await site_control.operate(db, operation, site, project_id, now=_now(), **values)

    count = _with_database(change, HOOKS)
    if not count:
        by = f" by the project {project}" if project else ""
        raise CannotRun(f"No mail was sent to {site!r}{by}. See `postern sites`.")
    print(f"{site}: {operation} for {f'the project {project}' if project else 'all projects'}.")


def _now() -> Any:
    from postern.kernel.values import system_clock

    return system_clock()


async def _read_sites(db: Any) -> "list[InstanceSite]":
    from postern.messaging.emails import site_control

    return await site_control.sites_of_instance(db, _now(), SITES_SHOWN)


def _with_database(call: Any, hooks: "Hooks | None" = None) -> Any:
    """Open the server's database, and return the result of the async function `call`, which is called with it.

    A change that records events needs the `hooks`. Their import takes most of the time of a command.
    """
    from postern.cli.data_folder import connect_database, require_schema
    from postern.kernel.config import read_settings
    from postern.kernel.database.statements import open_database

    async def run(url: str) -> Any:
        async with open_database(url, size=2, hooks=hooks) as db:
            return await call(db)

    with connect_database(read_settings()) as (url, _):
        require_schema(url)
        return asyncio.run(run(url))


def _print_table(sites: "list[InstanceSite]") -> None:
    rows = [("SITE", "STATE", "PART", "WAITING", "DELIVERED", "DEFERRED", "BOUNCED", "PROJECTS", "LAST REPLY")]
    rows += [
        (
            site.name,
            site.state,
            f"{site.factor:.0%}",
            *(str(number) for number in (site.waiting, site.delivered, site.deferred, site.bounced, site.projects)),
            (site.suspension_reason or site.last_reply or "")[:60],
        )
        for site in sites
    ]
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    for row in rows:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())
