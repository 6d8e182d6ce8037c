"""`postern bootstrap`: create an account, a project and a live secret key."""

import asyncio
import json
import secrets
import shlex
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import msgspec
import typer

from postern.kernel.config import Settings

if TYPE_CHECKING:
    from postern.cli.data_folder import ServerState
    from postern.world import World

Json = Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")]


class BootstrapResult(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The credentials of a new account and project. They are printed once; the server stores only hashes."""

    base_url: str
    project_id: str
    secret_key: str
    developer_email: str
    developer_password: str
    developer_token: str
    inbox_url: str
    """Signs the developer in to the inbox page; works once and expires in ten minutes."""
    dashboard_url: str
    """Signs the developer in to the dashboard; works once and expires in 24 hours."""

    def as_json(self) -> str:
        """All fields except the links, as a JSON object for programs."""
        fields = msgspec.to_builtins(self)
        del fields["inboxUrl"], fields["dashboardUrl"]
        return json.dumps(fields)

    def curl(self) -> str:
        """A curl command that sends a message with these credentials."""
        message = {
            "to": ["ada@example.com"],
            "from": "Postern <hello@example.org>",
            "subject": "It works",
            "html": "<h1>Hello, Ada</h1><p>Your first message from Postern.</p>",
        }
        return (
            f"curl -sS {self.base_url}/projects/{self.project_id}/emails \\\n"
            f"    -H 'Authorization: Bearer {self.secret_key}' \\\n"
            "    -H 'Content-Type: application/json' \\\n"
            f"    -d {shlex.quote(json.dumps(message))}"
        )

    def welcome(self, first_sentence: str = "") -> str:
        """The credentials and a first example, as text. It begins with `first_sentence`, or, if that is empty, with the
        sentence that an account was created."""
        return f"""
{first_sentence or f"Created an account on the server at {self.base_url}."} API reference: {self.base_url}/docs

Open the dashboard. This link signs you in; it works once and expires in 24 hours:

    {self.dashboard_url}

These credentials are shown only once. If you lose them, `postern bootstrap` creates another account, project and key.

    export POSTERN_URL={self.base_url}
    export POSTERN_PROJECT={self.project_id}
    export POSTERN_KEY={self.secret_key}
    export POSTERN_EMAIL={self.developer_email}
    export POSTERN_PASSWORD={self.developer_password}{_path_line()}

The developer account that owns the project (sign in at {self.base_url}/dashboard, or with POST /auth/sign-in):

    email     {self.developer_email}
    password  {self.developer_password}

Send a message:

    {self.curl()}

Then read it in the dashboard, or on the page with only the inbox. This link signs you in; it works once and expires in
ten minutes:

    {self.inbox_url}

To see every page with sample data, run this in another terminal after the `export` commands above:

    {_program()} demo

"""


def _path_line() -> str:
    """A further `export` line, which puts `postern` on the PATH; empty if it is there."""
    if shutil.which("postern"):
        return ""
    return f"\n    export PATH={shlex.quote(str(Path(sys.executable).parent))}:$PATH"


def _program() -> str:
    """The command to type in a new terminal: `postern` if it is on the PATH, otherwise its full path."""
    return "postern" if shutil.which("postern") else shlex.quote(str(Path(sys.executable).with_name("postern")))


def register(app: typer.Typer) -> None:
    """Add the commands of this module."""
    app.command()(bootstrap)


def bootstrap(as_json: Json = False) -> None:
    """Create an account, a project and a live secret key, and print the credentials.

    Works whether or not the server is running. Applies pending migrations to the database. Needs the server's master
    key.
    """
    from postern.cli.console import ask_server
    from postern.cli.data_folder import connect_database, require_master_key
    from postern.kernel.config import read_settings

    settings = read_settings()
    if created := ask_server("bootstrap", settings):
        credentials = msgspec.json.decode(created, type=BootstrapResult)
    else:
        from postern.kernel.database.migrations import migrate

        with connect_database(settings) as (url, base_url):
            require_master_key(settings)
            migrate(url)
            credentials = asyncio.run(create_account_with_project(settings, url, base_url))
    print(credentials.as_json() if as_json else credentials.welcome())


def create_account_of_server(settings: Settings, running_server: "ServerState") -> BootstrapResult:
    """Create an account, a project and a live secret key on the server that runs on the data folder."""
    from postern.cli.console import ask_server
    from postern.cli.data_folder import require_master_key

    if created := ask_server("bootstrap", settings):
        return msgspec.json.decode(created, type=BootstrapResult)
    require_master_key(settings)
    return asyncio.run(create_account_with_project(settings, running_server.database_url, running_server.base_url))


async def create_account_with_project(settings: Settings, url: str, base_url: str) -> BootstrapResult:
    """Create an account, a project and a live secret key in the database at `url`, whose schema must be up to date.

    Raises WrongMasterKey, and OperationalError or PoolTimeout if the database stays unreachable.
    """
    from postern.app import HOOKS
    from postern.cli.data_folder import report_database_error
    from postern.instance import wait_for_database
    from postern.world import open_world

    async with open_world(msgspec.structs.replace(settings, base_url=base_url), url, HOOKS) as world:
        await wait_for_database(world, report_database_error)
        return await bootstrap_in(world, base_url)


async def bootstrap_in(world: "World", base_url: str) -> BootstrapResult:
    """Create an account, a project and a live secret key with the services of `world`, such as its database."""
    from postern.kernel.http.call import ANONYMOUS, Call, Origin
    from postern.kernel.values import new_id
    from postern.platform.accounts.model import DeveloperSignUp
    from postern.platform.accounts.operations import make_inbox_link, make_sign_in_link, open_account, read_token
    from postern.platform.projects.operations import NewApiKey, create_api_key

    origin = Origin("127.0.0.1", "postern bootstrap")
    call = Call(world, world.db, ANONYMOUS, world.clock(), str(new_id()), origin)
    email, password = f"developer-{secrets.token_hex(4)}@example.com", secrets.token_urlsafe(15)
    signed_in = await open_account(
        call, DeveloperSignUp(email=email, password=password, name="Developer"), email_verified=True
    )
    project = signed_in.projects[0]
    caller = await read_token(world, signed_in.access_token, project.id, origin)
    assert caller is not None
    owner_call = Call(world, world.db, caller, world.clock(), call.request_id, origin, project_id=project.id)
    key = await create_api_key(owner_call, NewApiKey(name="First key"))
    assert key.key is not None
    return BootstrapResult(
        base_url=base_url,
        project_id=str(project.id),
        secret_key=key.key,
        developer_email=email,
        developer_password=password,
        developer_token=signed_in.access_token,
        inbox_url=await make_inbox_link(world, signed_in.developer.id),
        dashboard_url=await make_sign_in_link(world, signed_in.developer.id),
    )
