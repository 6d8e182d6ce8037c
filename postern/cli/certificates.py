"""`postern certificates` and `postern doctor certificates`: the certificates that the server obtains by ACME."""

import asyncio
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from postern.cli.doctor import CheckResult
    from postern.world import World

Name = Annotated[str, typer.Argument(help="The host name of the certificate.")]


def register(app: typer.Typer) -> None:
    """Add the commands of this module."""
    group = typer.Typer(help="Certificates that the server obtains by ACME.", no_args_is_help=True)
    group.command("list")(show_all)
    group.command()(renew)
    group.command()(revoke)
    app.add_typer(group, name="certificates")


def show_all() -> None:
    """Print each host name, the status and expiry of its certificate and, if the last attempt failed, the reason."""
    from postern.cli.console import execute

    print(execute("certificates list"))


def renew(name: Name) -> None:
    """Order a new certificate for a host name now, for example after you have solved a problem with it."""
    from postern.cli.console import execute

    print(execute("certificates renew", name=name.rstrip(".").lower()))


def revoke(name: Name) -> None:
    """Revoke the certificate of a host name, for example because its private key was leaked, and order a new one."""
    from postern.cli.console import execute

    print(execute("certificates revoke", name=name.rstrip(".").lower()))


def check_certificates() -> None:
    """Check the settings for ACME, the DNS addresses of this server's host names, and all certificates.

    Exits with 1 if there is a problem.
    """
    from postern.cli.doctor import EXIT_PROBLEM, print_results

    if asyncio.run(print_results(_diagnose())):
        raise typer.Exit(EXIT_PROBLEM)


async def _diagnose() -> AsyncIterator["CheckResult"]:
    from postern.cli.console import open_server_world

    async with open_server_world() as world:
        async for result in diagnose(world):
            yield result


async def diagnose(world: "World") -> AsyncIterator["CheckResult"]:
    """Yield the results of all checks."""
    from postern.cli.doctor import CheckResult
    from postern.cli.operators import MAX_CERTIFICATES
    from postern.messaging.certificates import store
    from postern.messaging.certificates.authority import authority_of
    from postern.messaging.certificates.model import REPORT_BEFORE
    from postern.messaging.certificates.names import address_problem, own_names

    settings = world.settings
    if not settings.acme_terms_agreed:
        result = "this server obtains no certificates"
        yield CheckResult(
            "note", "ACME", result, "set POSTERN_ACME_TERMS_AGREED and POSTERN_HTTPS_PORT, or use a proxy"
        )
        return
    yield CheckResult("ok", "ACME", f"certificates come from {settings.acme_directory}")
    for name in own_names(settings):
        problem = await address_problem(world, name)
        advice = f"publish an A or AAAA record of {name} with the public address of this server"
        yield (
            CheckResult("problem", "DNS", problem, advice) if problem else CheckResult("ok", "DNS", f"{name} resolves")
        )
    account = await authority_of(world).account()
    all_rows = await store.list_certificates(world.db, limit=MAX_CERTIFICATES)
    rows = [row for row in all_rows if row.account_id == account.id]
    for name in sorted(set(own_names(settings)) - {row.name for row in rows}):
        advice = "start a worker: it checks every minute which names need a certificate"
        yield CheckResult("note", name, "no certificate was ordered yet", advice)
    for row in rows:
        expires_soon = row.expires_at is not None and row.expires_at - world.clock() <= REPORT_BEFORE
        if row.failures or expires_soon or row.expires_at is None:
            result = row.problem or (f"expires {row.expires_at:%Y-%m-%d}" if row.expires_at else "not issued yet")
            retry = "solve this problem, then run `postern certificates renew`"
            advice = retry if row.failures else "wait for the next attempt"
            yield CheckResult("problem" if row.failures or expires_soon else "note", row.name, result, advice)
        else:
            yield CheckResult("ok", row.name, f"expires {row.expires_at:%Y-%m-%d}")
