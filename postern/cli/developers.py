"""`postern sign-in-link`, `access`, `developers` and `keys`: help developers who lost their password or API key."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Annotated
from uuid import UUID

import msgspec
import typer

from postern.cli import CannotRun

if TYPE_CHECKING:
    from postern.platform.accounts.model import DeveloperRow
    from postern.world import World


def register(app: typer.Typer) -> None:
    """Add the commands of this module."""
    group = typer.Typer(
        help="Help developers sign in, and print captured mail that was sent to them.", no_args_is_help=True
    )
    group.command("mail")(show_mail)
    group.command("reset-password")(reset_password)
    app.add_typer(group, name="developers")
    keys = typer.Typer(help="Create API keys.", no_args_is_help=True)
    keys.command("create")(create_key)
    app.add_typer(keys, name="keys")
    app.command()(sign_in_link)
    app.command("access")(inbox_link)


Email = Annotated[
    str | None, typer.Argument(help="Email address of the developer. Default: the owner of the server's only account.")
]


def sign_in_link(email: Email = None) -> None:
    """Print a link that signs a developer in to the dashboard. It works once and expires in 24 hours.

    It needs no password and no second factor. An earlier link for this developer becomes invalid.
    """
    from postern.platform.accounts.operations import make_sign_in_link

    asyncio.run(_print_link(email, make_sign_in_link, "24 hours"))


def inbox_link(email: Email = None) -> None:
    """Print a link that signs a developer in to the inbox page. It works once and expires in ten minutes."""
    from postern.platform.accounts.operations import make_inbox_link

    asyncio.run(_print_link(email, make_inbox_link, "ten minutes"))


async def _print_link(email: str | None, make_link: Callable[["World", UUID], Awaitable[str]], lifetime: str) -> None:
    """Print the sign-in link that `make_link` makes for a developer. Raises CannotRun if there is no such developer."""
    async with open_server_world() as world:
        developer = await _find_developer(world, email)
        link = await make_link(world, developer.id)
    print(f"This link signs {developer.email} in. It works once and expires in {lifetime}:\n\n    {link}\n")
    print(f"To choose a new password: postern developers reset-password {developer.email}")


def reset_password(email: Email = None) -> None:
    """Print a link with which a developer chooses a new password. It works once and expires in 30 minutes."""
    asyncio.run(_reset_password(email))


async def _reset_password(email: str | None) -> None:
    from postern.platform.accounts.operations import make_reset_link

    async with open_server_world() as world:
        developer = await _find_developer(world, email)
        link = await make_reset_link(world, developer)
    print(f"With this link, which works once and expires in 30 minutes, {developer.email} chooses a new password:\n")
    print(f"    {link}\n")


async def _find_developer(world: "World", email: str | None) -> "DeveloperRow":
    """The developer with this address, or the owner of the only account. Raises CannotRun if there is none."""
    from postern.platform.accounts.operations import developer_for_operator, owners_for_operator

    if email is not None:
        developer = await developer_for_operator(world, email)
        if developer is None:
            raise CannotRun(f"There is no developer with the email address {email}.")
        return developer
    owners = await owners_for_operator(world)
    if not owners:
        raise CannotRun("This server has no account with a confirmed email address. Sign up, or give an email address.")
    if len(owners) > 1:
        raise CannotRun("This server has several accounts: give the email address of the developer.")
    return owners[0]


def create_key(
    project: Annotated[str, typer.Argument(envvar="POSTERN_PROJECT", help="The project's id.")],
    name: Annotated[str, typer.Option(help="Name of the key.")] = "From the console",
    permission: Annotated[
        list[str] | None,
        typer.Option(
            help="Permission of the key, for example emails:send; repeatable. Default: all permissions of the project "
            "except projects:write and customers:impersonate."
        ),
    ] = None,
    test: Annotated[
        bool, typer.Option(help="Create a test key: mail sent with it is captured, not delivered.")
    ] = False,
) -> None:
    """Create a secret key for a project and print it. The key is shown only this once."""
    print(asyncio.run(_create_key(project, name, permission, test=test)))


async def _create_key(project: str, name: str, permissions: list[str] | None, *, test: bool) -> str:
    from postern.kernel.http.call import Call, Caller, Origin
    from postern.kernel.http.problems import Problem
    from postern.kernel.values import as_id, new_id
    from postern.platform.projects.operations import NewApiKey, create_api_key, require_project
    from postern.platform.projects.permissions import ROLE_PERMISSIONS

    async with open_server_world() as world:
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


def show_mail(
    email: Annotated[str | None, typer.Argument(help="Only the messages to this address.")] = None,
    last: Annotated[int, typer.Option(min=1, max=1_000, help="Print at most this many, the newest last.")] = 10,
) -> None:
    """Print the captured mail that was sent to developers: confirmations, invitations and password resets.

    With POSTERN_TRANSPORT=capture, such mail is stored encrypted in the folder `mail/` of the data folder.
    """
    asyncio.run(_show_mail(email, last))


async def _show_mail(email: str | None, last: int) -> None:
    from postern.messaging.emails.system_mail import captured_system_mail

    async with open_server_world() as world:
        messages = captured_system_mail(world, email)[-last:]
    if not messages:
        raise CannotRun(f"No mail to {email or 'a developer'} has been captured.")
    for message in messages:
        body = message.get_body(("plain",))
        print(f"To: {message['To']}\nDate: {message['Date']}\nSubject: {message['Subject']}\n")
        print(body.get_content() if body else "")


@asynccontextmanager
async def open_server_world() -> "AsyncIterator[World]":
    """Yield a World (database, settings, secrets, clock) with which operations can be called, whether or not the server
    runs.

    Raises CannotRun if there is no database or no master key; WrongMasterKey if the key is not that of the database;
    and OperationalError if the database stays unreachable.
    """
    from postern.app import HOOKS
    from postern.cli.data_folder import connect_database, report_database_error, require_master_key
    from postern.instance import wait_for_database
    from postern.kernel.config import read_settings
    from postern.world import open_world

    settings = read_settings()
    with connect_database(settings) as (url, base_url):
        require_master_key(settings)
        async with open_world(msgspec.structs.replace(settings, base_url=base_url), url, HOOKS) as world:
            await wait_for_database(world, report_database_error)
            yield world
