"""`postern developers`: what the operator of a server does for the people who have accounts on it."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Annotated

import msgspec
import typer

from postern.cli import CannotRun

if TYPE_CHECKING:
    from postern.platform.accounts.model import DeveloperRow
    from postern.world import World


def register(app: typer.Typer) -> None:
    """Add the commands of this module."""
    group = typer.Typer(help="Developer accounts, from the operator's console.", no_args_is_help=True)
    group.command("mail")(show_mail)
    group.command("reset-password")(reset_password)
    group.callback()(lambda: None)
    app.add_typer(group, name="developers")
    keys = typer.Typer(help="API keys, from the operator's console.", no_args_is_help=True)
    keys.command("create")(create_key)
    keys.callback()(lambda: None)
    app.add_typer(keys, name="keys")
    app.command()(access)


Email = Annotated[str | None, typer.Argument(help="The developer; may be left out where the server has one account.")]


def access(email: Email = None) -> None:
    """Print a fresh link that signs a developer in to the inbox page, once, within ten minutes."""
    asyncio.run(_access(email))


async def _access(email: str | None) -> None:
    from postern.platform.accounts.operations import make_link

    async with open_world_of() as world:
        developer = await _developer(world, email)
        link = await make_link(world, developer.id)
    print(f"This link signs {developer.email} in once, within ten minutes:\n\n    {link}\n")
    print(f"A new password: postern developers reset-password {developer.email}")


def reset_password(email: Email = None) -> None:
    """Print a link to choose a new password for a developer; it works once, for 30 minutes."""
    asyncio.run(_reset_password(email))


async def _reset_password(email: str | None) -> None:
    from postern.platform.accounts.operations import make_reset_link

    async with open_world_of() as world:
        developer = await _developer(world, email)
        link = await make_reset_link(world, developer)
    print(f"{developer.email} chooses a new password here, once, within 30 minutes:\n\n    {link}\n")


async def _developer(world: "World", email: str | None) -> "DeveloperRow":
    from postern.platform.accounts.operations import developer_for_operator

    developer = await developer_for_operator(world, email)
    if developer is None and email is None:
        raise CannotRun("Name the developer: this server has none, or accounts of several owners.")
    if developer is None:
        raise CannotRun(f"There is no developer with the address {email}.")
    return developer


def create_key(
    project: Annotated[str, typer.Argument(envvar="POSTERN_PROJECT", help="The project's id.")],
    name: Annotated[str, typer.Option(help="What the key is for.")] = "From the console",
    permission: Annotated[list[str] | None, typer.Option(help="A permission; without any, all of a project.")] = None,
    test: Annotated[bool, typer.Option(help="Mail sent with it is only captured.")] = False,
) -> None:
    """Make a live secret key for a project that exists, and print it. It is shown only now."""
    print(asyncio.run(_create_key(project, name, permission, test=test)))


async def _create_key(project: str, name: str, permissions: list[str] | None, *, test: bool) -> str:
    from postern.kernel.http.call import Call, Caller, Origin
    from postern.kernel.http.problems import Problem
    from postern.kernel.values import as_id, new_id
    from postern.platform.projects.operations import NewApiKey, create_api_key, require_project
    from postern.platform.projects.permissions import ROLE_PERMISSIONS

    async with open_world_of() as world:
        try:
            found = await require_project(world.db, as_id(project))
            operator = Caller(
                kind="developer",
                actor_label="the operator's console",
                account_id=found.account_id,
                permissions=ROLE_PERMISSIONS["OWNER"],
            )
            origin = Origin("127.0.0.1", "postern keys create")
            call = Call(world, world.db, operator, world.clock(), str(new_id()), origin, project_id=found.id)
            environment = "TEST" if test else "LIVE"
            made = await create_api_key(call, NewApiKey(name=name, permissions=permissions, environment=environment))
        except Problem as problem:
            said = [problem.detail, *(fault.message for fault in problem.errors)]
            raise CannotRun(" ".join(said)) from None
    assert made.key is not None
    return made.key


def show_mail(
    email: Annotated[str | None, typer.Argument(help="Only the messages to this address.")] = None,
    last: Annotated[int, typer.Option(min=1, max=1_000, help="How many, newest last.")] = 10,
) -> None:
    """Print captured messages to developers: confirmations, invitations and password links.

    While POSTERN_TRANSPORT is `capture` they lie encrypted in `mail/` of the data folder.
    """
    asyncio.run(_show_mail(email, last))


async def _show_mail(email: str | None, last: int) -> None:
    from postern.messaging.emails.system_mail import captured_system_mail

    async with open_world_of() as world:
        messages = captured_system_mail(world, email)[-last:]
    if not messages:
        raise CannotRun("No message to a developer has been captured." if email is None else f"None for {email}.")
    for message in messages:
        body = message.get_body(("plain",))
        print(f"To: {message['To']}\nDate: {message['Date']}\nSubject: {message['Subject']}\n")
        print(body.get_content() if body else "")


@asynccontextmanager
async def open_world_of() -> "AsyncIterator[World]":
    """The installation that the settings name, with its database, whether the server runs or not."""
    from postern.app import HOOKS
    from postern.cli.data_folder import connect_database, require_master_key
    from postern.instance import check_master_key
    from postern.kernel.config import read_settings
    from postern.world import open_world

    settings = read_settings()
    with connect_database(settings) as (url, base_url):
        require_master_key(settings)
        async with open_world(msgspec.structs.replace(settings, base_url=base_url), url, HOOKS) as world:
            await check_master_key(world.db, world.secrets)
            yield world
