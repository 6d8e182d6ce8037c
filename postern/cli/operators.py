"""What the operator's commands do: the bodies of commands that need the application.

Each function gets a World and returns the text that the command prints. See `postern.cli.console` for who calls them.
Raises CannotRun for errors of the user.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from datetime import timedelta
from typing import Any
from uuid import UUID

import msgspec

from postern.cli import CannotRun
from postern.cli.tables import describe_sites, describe_sources
from postern.kernel.database.statements import Database
from postern.kernel.http.call import Call, Caller, Origin
from postern.kernel.http.problems import Problem
from postern.kernel.values import Moment, as_id, new_id, to_json
from postern.messaging.certificates import store as certificate_store
from postern.messaging.certificates.authority import authority_of
from postern.messaging.certificates.model import StoredCertificate
from postern.messaging.certificates.operations import status_of
from postern.messaging.emails import site_control
from postern.messaging.emails.model import SITE_REASON_CHARACTERS
from postern.messaging.emails.site_control import SiteOperation
from postern.messaging.emails.sources import source_states
from postern.messaging.emails.system_mail import captured_system_mail
from postern.platform.accounts.model import DeveloperRow
from postern.platform.accounts.operations import (
    developer_for_operator,
    make_inbox_link,
    make_reset_link,
    make_sign_in_link,
    owners_for_operator,
)
from postern.platform.projects.operations import NewApiKey, create_api_key, require_project
from postern.platform.projects.permissions import ROLE_PERMISSIONS
from postern.protocols.acme.model import AcmeFailed
from postern.world import World

MAX_CERTIFICATES = 10_000
"""Maximum number of certificates that a command reads and prints."""
MAX_OWNERS = 5
"""How many owners of accounts an error message names."""


async def create_account(world: World) -> str:
    """Create an account, a project and a live secret key, and return the credentials as JSON (BootstrapResult)."""
    from postern.cli.bootstrap import bootstrap_in  # Imports the parser of options, which a server does not need.

    return to_json(await bootstrap_in(world, world.settings.public_url)).decode()


async def print_sign_in_link(world: World, *, email: str | None) -> str:
    """A link that signs a developer in to the dashboard."""
    developer = await _find_developer(world, email)
    return _describe_link(developer, await make_sign_in_link(world, developer.id), "24 hours")


async def print_inbox_link(world: World, *, email: str | None) -> str:
    """A link that signs a developer in to the inbox page."""
    developer = await _find_developer(world, email)
    return _describe_link(developer, await make_inbox_link(world, developer.id), "ten minutes")


def _describe_link(developer: DeveloperRow, link: str, lifetime: str) -> str:
    return (
        f"This link signs {developer.email} in. It works once and expires in {lifetime}:\n\n    {link}\n\n"
        f"To choose a new password: postern developers reset-password {developer.email}"
    )


async def print_reset_link(world: World, *, email: str | None) -> str:
    """A link with which a developer chooses a new password."""
    developer = await _find_developer(world, email)
    link = await make_reset_link(world, developer)
    return (
        f"With this link, which works once and expires in 30 minutes, {developer.email} chooses a new password:\n\n"
        f"    {link}\n"
    )


async def _find_developer(world: World, email: str | None) -> DeveloperRow:
    """The developer with this address, or the owner of the only account. Raises CannotRun if there is none."""
    if email is not None:
        developer = await developer_for_operator(world, email)
        if developer is None:
            raise CannotRun(f"There is no developer with the email address {email}.")
        return developer
    owners = await owners_for_operator(world, limit=MAX_OWNERS + 1)
    if not owners:
        raise CannotRun("This server has no account with a confirmed email address. Sign up, or give an email address.")
    if len(owners) > 1:
        addresses = ", ".join(owner.email for owner in owners[:MAX_OWNERS])
        more = ", and others" if len(owners) > MAX_OWNERS else ""
        raise CannotRun(
            f"This server has several accounts: give the email address of the developer. Owners are {addresses}{more}."
        )
    return owners[0]


async def print_captured_mail(world: World, *, email: str | None, last: int) -> str:
    """The last captured messages to developers, the newest last."""
    messages = (await asyncio.to_thread(captured_system_mail, world, email))[-last:]
    if not messages:
        raise CannotRun(f"No mail to {email or 'a developer'} has been captured.")
    texts: list[str] = []
    for message in messages:
        body = message.get_body(("plain",))
        head = f"To: {message['To']}\nDate: {message['Date']}\nSubject: {message['Subject']}\n\n"
        texts.append(head + (body.get_content() if body else ""))
    return "\n".join(texts)


async def create_key(world: World, *, project: str, name: str, permissions: list[str] | None, test: bool) -> str:
    """Create a secret key for a project, and return the key."""
    try:
        project_row = await require_project(world.db, as_id(project))
        operator = Caller(
            kind="developer",
            actor_label="the operator's console",
            account_id=project_row.account_id,
            permissions=ROLE_PERMISSIONS["OWNER"],
        )
        origin = Origin("127.0.0.1", "postern keys create")
        call = Call(world, world.db, operator, world.clock(), str(new_id()), origin, project_id=project_row.id)
        environment = "TEST" if test else "LIVE"
        new_key = await create_api_key(call, NewApiKey(name=name, permissions=permissions, environment=environment))
    except Problem as problem:
        messages = [problem.detail, *(error.message for error in problem.errors)]
        raise CannotRun(" ".join(messages)) from None
    assert new_key.key is not None
    return new_key.key


async def list_certificates(world: World) -> str:
    """A line for each certificate, and their number."""
    rows = await certificate_store.list_certificates(world.db, limit=MAX_CERTIFICATES)
    return "\n".join([*map(_describe_certificate, rows), f"{len(rows)} certificates"])


def _describe_certificate(row: StoredCertificate) -> str:
    status = status_of(has_order=row.order_url is not None, failures=row.failures, is_issued=row.issued_at is not None)
    expiry = f"expires {row.expires_at:%Y-%m-%d %H:%M} UTC" if row.expires_at else "no certificate"
    next_attempt = f", next attempt {row.due_at:%Y-%m-%d %H:%M} UTC" if row.due_at else ""
    return f"{row.name}  {status}  {expiry}{next_attempt}" + (f"\n    {row.problem}" if row.problem else "")


async def renew_certificate(world: World, *, name: str) -> str:
    """Order a new certificate for a host name."""
    if not world.settings.acme_terms_agreed:
        raise CannotRun("No certificate authority is configured: set POSTERN_ACME_TERMS_AGREED.")
    if not await authority_of(world).renew(name):
        raise CannotRun(f"There is no certificate for {name}; `postern certificates list` prints all.")
    return f"A worker orders a new certificate for {name}. To see the result, run `postern certificates list`."


async def revoke_certificate(world: World, *, name: str) -> str:
    """Revoke the certificates of a host name, and order a new one."""
    rows = [row for row in await certificate_store.certificates_of_name(world.db, name=name) if row.chain is not None]
    if not rows:
        raise CannotRun(f"There is no certificate for {name}; `postern certificates list` prints all.")
    for row in rows:
        try:
            await authority_of(world).revoke(row)
        except AcmeFailed as error:
            raise CannotRun(f"The certificate for {name} could not be revoked: {error}") from None
    return f"The certificate for {name} is revoked; a worker orders a new one."


async def print_sites(world: World, *, as_json: bool) -> str:
    """The sites with their counts for all projects together."""
    return describe_sites(
        await site_control.sites_of_instance(world.db, world.clock(), site_control.SITES_SHOWN), as_json=as_json
    )


async def change_site(
    db: Database,
    now: Moment,
    *,
    operation: SiteOperation,
    site: str,
    project: str | None,
    reason: str | None,
    hours: float | None,
) -> str:
    """Apply an operation to a site, for the project with this id or for all.

    Raises CannotRun if there is no such site or the reason is invalid.
    """
    if reason is not None and (not 1 <= len(reason) <= SITE_REASON_CHARACTERS or "\0" in reason):
        raise CannotRun(f"--reason must have 1 to {SITE_REASON_CHARACTERS} characters.")
    count = await site_control.operate(
        db,
        operation,
        site,
        None if project is None else UUID(project),
        now=now,
        reason=reason or "",
        until=None if hours is None else Moment.of(now + timedelta(hours=hours)),
    )
    if not count:
        by = f" by the project {project}" if project else ""
        raise CannotRun(f"No mail was sent to {site!r}{by}. See `postern sites`.")
    return f"{site}: {operation} for {f'the project {project}' if project else 'all projects'}."


async def _change_site_of(world: World, **values: Any) -> str:
    return await change_site(world.db, world.clock(), **values)


async def print_sources(world: World, *, as_json: bool, sources: str | None) -> str:
    """The addresses of `sources` (POSTERN_SOURCES of the command) and the progress of their warm-up plans."""
    settings = msgspec.structs.replace(world.settings, sources=sources)
    return describe_sources(await source_states(world.db, settings, world.clock()), as_json=as_json)


COMMANDS: Mapping[str, Callable[..., Awaitable[str]]] = {
    "bootstrap": create_account,
    "sign-in-link": print_sign_in_link,
    "access": print_inbox_link,
    "developers reset-password": print_reset_link,
    "developers mail": print_captured_mail,
    "keys create": create_key,
    "certificates list": list_certificates,
    "certificates renew": renew_certificate,
    "certificates revoke": revoke_certificate,
    "sites": print_sites,
    "sites change": _change_site_of,
    "sources": print_sources,
}
"""The functions, keyed by the words of their command. They are called with the arguments by name."""
