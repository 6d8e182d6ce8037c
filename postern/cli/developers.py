"""`postern sign-in-link`, `access`, `developers` and `keys`: help developers who lost their password or API key."""

from typing import Annotated

import typer


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
    from postern.cli.console import execute

    print(execute("sign-in-link", email=email))


def inbox_link(email: Email = None) -> None:
    """Print a link that signs a developer in to the inbox page. It works once and expires in ten minutes."""
    from postern.cli.console import execute

    print(execute("access", email=email))


def reset_password(email: Email = None) -> None:
    """Print a link with which a developer chooses a new password. It works once and expires in 30 minutes."""
    from postern.cli.console import execute

    print(execute("developers reset-password", email=email))


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
    from postern.cli.console import execute

    print(execute("keys create", project=project, name=name, permissions=permission, test=test))


def show_mail(
    email: Annotated[str | None, typer.Argument(help="Only the messages to this address.")] = None,
    last: Annotated[int, typer.Option(min=1, max=1_000, help="Print at most this many, the newest last.")] = 10,
) -> None:
    """Print the captured mail that was sent to developers: confirmations, invitations and password resets.

    With POSTERN_TRANSPORT=capture, such mail is stored encrypted in the folder `mail/` of the data folder.
    """
    from postern.cli.console import execute

    print(execute("developers mail", email=email, last=last))
