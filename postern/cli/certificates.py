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

SHOWN_AT_MOST = 10_000

Name = Annotated[str, typer.Argument(help="The host name of the certificate.")]


def register(app: typer.Typer) -> None:
    """Add the commands of this module."""
    group = typer.Typer(help="Certificates that the server obtains by ACME.", no_args_is_help=True)
    group.command("list")(show_all)
    group.command()(renew)
    group.command()(revoke)
    app.add_typer(group, name="certificates")


def show_all() -> None:
    """Print each name, the status and the expiry of its certificate, and why the last attempt failed."""
    asyncio.run(_show_all())


async def _show_all() -> None:
    from postern.cli.developers import open_server_world
    from postern.messaging.certificates import store

    async with open_server_world() as world:
        rows = await store.list_certificates(world.db, limit=SHOWN_AT_MOST)
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
    """Order a new certificate of a name now, for example after its problem was solved."""
    asyncio.run(_renew(name.rstrip(".").lower()))


async def _renew(name: str) -> None:
    from postern.cli.developers import open_server_world
    from postern.messaging.certificates.authority import authority_of

    async with open_server_world() as world:
        if not world.settings.acme_terms_agreed:
            raise CannotRun("No certificate authority is configured: set POSTERN_ACME_TERMS_AGREED.")
        if not await authority_of(world).renew(name):
            raise CannotRun(f"There is no certificate of {name}; `postern certificates list` prints them.")
    print(f"A worker orders a new certificate of {name}. The result: postern certificates list")


def revoke(name: Name) -> None:
    """Revoke the certificate of a name, for example because its key is no longer secret. A new one is ordered."""
    asyncio.run(_revoke(name.rstrip(".").lower()))


async def _revoke(name: str) -> None:
    from postern.cli.developers import open_server_world
    from postern.messaging.certificates import store
    from postern.messaging.certificates.authority import authority_of
    from postern.protocols.acme.client import AcmeFailed

    async with open_server_world() as world:
        rows = [row for row in await store.certificates_of_name(world.db, name=name) if row.chain is not None]
        if not rows:
            raise CannotRun(f"There is no certificate of {name}; `postern certificates list` prints them.")
        for row in rows:
            try:
                await authority_of(world).revoke(row)
            except AcmeFailed as error:
                raise CannotRun(f"The certificate of {name} could not be revoked: {error}") from None
    print(f"The certificate of {name} is revoked; a worker orders a new one.")


def check_certificates() -> None:
    """Check the settings for ACME, the addresses of this server's names, and the certificates of all names.

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
    rows = [row for row in await store.list_certificates(world.db, limit=SHOWN_AT_MOST) if row.account_id == account.id]
    for name in sorted(set(own_names(settings)) - {row.name for row in rows}):
        yield CheckResult("note", name, "no certificate was ordered yet", "start a worker: it looks every minute")
    for row in rows:
        expires_soon = row.expires_at is not None and row.expires_at - world.clock() <= REPORT_BEFORE
        if row.failures or expires_soon or row.expires_at is None:
            result = row.problem or (f"expires {row.expires_at:%Y-%m-%d}" if row.expires_at else "not issued yet")
            advice = "solve it, then run `postern certificates renew`" if row.failures else "wait for the next attempt"
            yield CheckResult("problem" if row.failures or expires_soon else "note", row.name, result, advice)
        else:
            yield CheckResult("ok", row.name, f"expires {row.expires_at:%Y-%m-%d}")
