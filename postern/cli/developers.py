"""`postern developers`: what the operator of a server does for the people who have accounts on it."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Annotated

import msgspec
import typer

from postern.cli import CannotRun

if TYPE_CHECKING:
    from postern.world import World


def register(app: typer.Typer) -> None:
    """Add the commands of this module."""
    group = typer.Typer(help="Developer accounts, from the operator's console.", no_args_is_help=True)
    group.command("mail")(show_mail)
    group.callback()(lambda: None)
    app.add_typer(group, name="developers")


def show_mail(
    email: Annotated[str | None, typer.Argument(help="Only the messages to this address.")] = None,
    last: Annotated[int, typer.Option(min=1, max=1_000, help="How many, newest last.")] = 10,
) -> None:
    """Print captured messages to developers: confirmations, invitations and password links.

    While POSTERN_TRANSPORT is `capture` they lie encrypted in `mail/` of the data folder.
    """
    asyncio.run(_show_mail(email, last))


async def _show_mail(email: str | None, last: int) -> None:
    from postern.emails.letters import captured_letters

    async with opened_world() as world:
        messages = captured_letters(world, email)[-last:]
    if not messages:
        raise CannotRun("No message to a developer has been captured." if email is None else f"None for {email}.")
    for message in messages:
        body = message.get_body(("plain",))
        print(f"To: {message['To']}\nDate: {message['Date']}\nSubject: {message['Subject']}\n")
        print(body.get_content() if body else "")


@asynccontextmanager
async def opened_world() -> "AsyncIterator[World]":
    """The installation that the settings name, with its database, whether the server runs or not."""
    from postern.cli.place import reach_database
    from postern.instance import check_master_key
    from postern.kernel.settings import read_settings
    from postern.world import open_world

    settings = read_settings()
    with reach_database(settings) as (url, base_url):
        async with open_world(msgspec.structs.replace(settings, base_url=base_url), url) as world:
            await check_master_key(world.db, world.secrets)
            yield world
