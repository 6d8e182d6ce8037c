"""`postern certificates` and `postern doctor certificates`: the certificates that the server obtains by ACME."""

import asyncio
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Annotated

import typer

from postern.cli import CannotRun

if TYPE_CHECKING:
    from postern.cli.doctor import CheckResult
    from postern.messaging.certificates.model import StoredCertificate
    from postern.world import World

MAX_CERTIFICATES = 10_000
"""Maximum number of certificates that a command reads and prints."""

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
    asyncio.run(_show_all())


async def _show_all() -> None:
    from postern.cli.developers import open_server_world
    from postern.messaging.certificates import store

    async with open_server_world() as world:
        rows = await store.list_certificates(world.db, limit=MAX_CERTIFICATES)
    for row in rows:
        print(_describe(row))
    print(f"{len(rows)} certificates")


def _describe(row: "StoredCertificate") -> str:
    from postern.messaging.certificates.operations import status_of

    status = status_of(has_order=row.order_url is not None, failures=row.failures, is_issued=row.issued_at is not None)
    expiry = f"expires {row.expires_at:%Y-%m-%d %H:%M} UTC" if row.expires_at else "no certificate"
    next_attempt = f", next attempt {row.due_at:%Y-%m-%d %H:%M} UTC" if row.due_at else ""
    return f"{row.name}  {status}  {expiry}{next_attempt}" + (f"\n    {row.problem}" if row.problem else "")


def renew(name: Name) -> None:
    """Order a new certificate for a host name now, for example after you have solved a problem with it."""
    asyncio.run(_renew(name.rstrip(".").lower()))


async def _renew(name: str) -> None:
    from postern.cli.developers import open_server_world
    from postern.messaging.certificates.authority import authority_of

    async with open_server_world() as world:
        if not world.settings.acme_terms_agreed:
            raise CannotRun("No certificate authority is configured: set POSTERN_ACME_TERMS_AGREED.")
        if not await authority_of(world).renew(name):
            raise CannotRun(f"There is no certificate for {name}; `postern certificates list` prints all.")
    print(f"A worker orders a new certificate for {name}. To see the result, run `postern certificates list`.")


def revoke(name: Name) -> None:
    """Revoke the certificate of a host name, for example because its private key was leaked, and order a new one."""
    asyncio.run(_revoke(name.rstrip(".").lower()))


async def _revoke(name: str) -> None:
    from postern.cli.developers import open_server_world
    from postern.messaging.certificates import store
    from postern.messaging.certificates.authority import authority_of
    from postern.protocols.acme.model import AcmeFailed

    async with open_server_world() as world:
        rows = [row for row in await store.certificates_of_name(world.db, name=name) if row.chain is not None]
        if not rows:
            raise CannotRun(f"There is no certificate for {name}; `postern certificates list` prints all.")
        for row in rows:
            try:
                await authority_of(world).revoke(row)
            except AcmeFailed as error:
                raise CannotRun(f"The certificate for {name} could not be revoked: {error}") from None
    print(f"The certificate for {name} is revoked; a worker orders a new one.")


def check_certificates() -> None:
    """Check the settings for ACME, the DNS addresses of this server's host names, and all certificates.

    Exits with 1 if there is a problem.
    """
    from postern.cli.doctor import EXIT_PROBLEM, print_results

    if asyncio.run(print_results(_diagnose())):
        raise typer.Exit(EXIT_PROBLEM)


async def _diagnose() -> AsyncIterator["CheckResult"]:
    from postern.cli.developers import open_server_world

    async with open_server_world() as world:
        async for result in diagnose(world):
            yield result


async def diagnose(world: "World") -> AsyncIterator["CheckResult"]:
    """Yield the results of all checks."""
    from postern.cli.doctor import CheckResult
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
