"""`postern send` and `postern tail`, and the HTTP client that they and other commands use for a running server."""

import http.client
import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any
from urllib.parse import urlsplit

import typer

from postern.kernel.config import Settings
from postern.kernel.values import is_loopback

if TYPE_CHECKING:
    import httpx

    from postern.cli.data_folder import ServerState

REQUEST_TIMEOUT_SECONDS = 60.0

Url = Annotated[str | None, typer.Option("--url", envvar="POSTERN_URL", help="Base URL of the server.")]
Key = Annotated[str | None, typer.Option(envvar="POSTERN_KEY", help="A secret key. Default: that of a new project.")]
Project = Annotated[str | None, typer.Option(envvar="POSTERN_PROJECT", help="Id of the key's project.")]
RequiredProject = Annotated[str, typer.Option("--project", envvar="POSTERN_PROJECT", help="Id of the key's project.")]
RequiredKey = Annotated[str, typer.Option("--key", envvar="POSTERN_KEY", help="A secret key with events:read.")]
To = Annotated[list[str], typer.Option(help="Recipient; repeat the option for several.")]
From = Annotated[str, typer.Option("--from", help="Sender.")]
Html = Annotated[Path | None, typer.Option(exists=True, dir_okay=False, help="File with the HTML body.")]
Text = Annotated[Path | None, typer.Option(exists=True, dir_okay=False, help="File with the plain-text body.")]
Names = Annotated[
    str, typer.Option("--events", help="Event names to show, separated by commas; `email.*` and `*` are wildcards.")
]


def register(app: typer.Typer) -> None:
    """Add the commands of this module."""
    app.command()(send)
    app.command()(tail)


def send(
    to: To,
    subject: Annotated[str, typer.Option(help="Subject.")],
    html: Html = None,
    text: Text = None,
    sender: From = "Postern <hello@example.org>",
    key: Key = None,
    project: Project = None,
    url: Url = None,
) -> None:
    """Send one message and print its status, id and Message-ID."""
    from postern.cli import CannotRun

    if html is None and text is None:
        raise CannotRun("The message has no body: give --html FILE, --text FILE or both.")
    message = {"to": to, "from": sender, "subject": subject}
    try:
        message |= {name: file.read_text("utf-8") for name, file in (("html", html), ("text", text)) if file}
    except ValueError:
        raise CannotRun("The body cannot be read: the files of --html and --text must be UTF-8.") from None
    _send(url, key, project, message)


def tail(key: RequiredKey, project: RequiredProject, url: Url = None, events: Names = "*") -> None:
    """Print the events of a project as they happen. Ctrl-C stops it."""
    from postern.cli.listen import parse_event_names

    names = parse_event_names(events)
    import asyncio

    try:
        asyncio.run(_tail(url, key, project, names))
    except KeyboardInterrupt:
        pass


@dataclass
class ProjectAccess:
    """A project on a running server, and a key for it."""

    url: str
    """Base URL of the server."""
    key: str
    project: str
    inbox_url: str
    developer_token: str = ""
    """Access token of the developer who owns the project; empty if only a key is known."""
    dashboard_url: str = ""
    """Signs that developer in to the dashboard once; only for a new project."""

    @property
    def headers(self) -> dict[str, str]:
        """The headers of every request."""
        return {"Authorization": f"Bearer {self.key}"}


@dataclass
class ProjectClient:
    """An HTTP client for one project on a running server."""

    http: "httpx.AsyncClient"
    access: ProjectAccess

    @property
    def url(self) -> str:
        """Base URL of the server."""
        return self.access.url

    @property
    def project(self) -> str:
        """Id of the project."""
        return self.access.project

    async def request(self, method: str, path: str, body: Any = None, **headers: str) -> Any:
        """Call the API and return the JSON of the response; None if it has no body.

        `path` is the part after `/projects/{id}`; `headers` are added to the request. Raises CannotRun if the server is
        unreachable or returns an error.
        """
        import httpx

        try:
            response = await self.http.request(method, f"/projects/{self.project}{path}", json=body, headers=headers)
        except httpx.HTTPError as error:
            raise _unreachable(self.url, error) from None
        return _read_response(response.status_code, response.headers.get("content-type", ""), response.content)


def _unreachable(url: str, error: Exception) -> Exception:
    from postern.cli import CannotRun

    return CannotRun(f"Cannot reach the server at {url} ({type(error).__name__}).")


def _read_response(status: int, media_type: str, content: bytes) -> Any:
    """The JSON of a response; None if it has no body. Raises CannotRun if it is an error."""
    from postern.cli import CannotRun

    if not http.client.OK <= status < http.client.MULTIPLE_CHOICES:
        detail = json.loads(content).get("detail") if media_type.startswith("application/problem+json") else None
        raise CannotRun(f"The server refused the request: {detail or status}")
    return json.loads(content) if content else None


@asynccontextmanager
async def connect(url: str | None, key: str | None, project: str | None) -> AsyncGenerator[ProjectClient]:
    """Yield a client for the project of `project_access`, which raises CannotRun."""
    import asyncio

    import httpx

    access = await asyncio.to_thread(project_access, url, key, project)
    async with httpx.AsyncClient(
        base_url=access.url, headers=access.headers, timeout=REQUEST_TIMEOUT_SECONDS
    ) as client:
        yield ProjectClient(client, access)


def project_access(url: str | None, key: str | None, project: str | None) -> ProjectAccess:
    """The key's project; without a key, a new project on the server of the data folder.

    Raises CannotRun if there is neither a key nor a server that runs on the data folder.
    """
    from postern.cli import CannotRun
    from postern.kernel.config import read_settings

    settings = read_settings()
    base_url, running_server = resolve_server(url, settings)
    if key is None:
        if running_server is None or base_url != running_server.base_url:
            raise CannotRun(
                f"No server runs on the data folder {settings.data}. Start one with `postern serve`, "
                "or give --key and --url (POSTERN_KEY, POSTERN_URL)."
            )
        return _new_project(settings, running_server)
    if project is None:
        raise CannotRun("Give the id of the key's project with --project or POSTERN_PROJECT.")
    return ProjectAccess(base_url, key, project, inbox_url=f"{base_url}/inbox")


def _new_project(settings: Settings, running_server: "ServerState") -> ProjectAccess:
    from postern.cli.bootstrap import create_account_of_server

    created = create_account_of_server(settings, running_server)
    return ProjectAccess(
        running_server.base_url,
        created.secret_key,
        created.project_id,
        inbox_url=created.inbox_url,
        developer_token=created.developer_token,
        dashboard_url=created.dashboard_url,
    )


def resolve_server(url: str | None, settings: Settings) -> "tuple[str, ServerState | None]":
    """Return the base URL of the server to call, and the server that runs on the data folder (None if none does).

    The base URL is `url`, or that of the running server if `url` is empty; a note on standard error then names it.
    Raises CannotRun if there is neither.
    """
    from postern.cli import CannotRun
    from postern.cli.data_folder import find_running_server, print_note

    running_server = find_running_server(settings.data)
    if url:
        return url, running_server
    if running_server is None:
        raise CannotRun(
            f"No server runs on the data folder {settings.data}. Start one with `postern serve`, set POSTERN_DATA to "
            "the folder of your server, or give its URL with --url (POSTERN_URL)."
        )
    print_note(f"Using the server at {running_server.base_url}, which runs on the data folder {settings.data}.")
    return running_server.base_url, running_server


def _send(url: str | None, key: str | None, project: str | None, message: dict[str, Any]) -> None:
    access = project_access(url, key, project)
    sent = _post(access, "/emails", message)
    print(f"{sent['status']}  {sent['id']}  {sent['messageId']}")
    if key is None:
        print(f"Read it in the inbox (the link works once and expires in ten minutes): {access.inbox_url}")


def _post(access: ProjectAccess, path: str, body: Any) -> Any:
    """Call the API once. Raises CannotRun if the server is unreachable or returns an error.

    A server on this machine is called without httpx, whose import takes longer than the request.
    """
    url, content = f"{access.url}/projects/{access.project}{path}", json.dumps(body).encode()
    headers = {**access.headers, "Content-Type": "application/json"}
    address = urlsplit(url)
    if address.scheme != "http" or not is_loopback(address.hostname or ""):
        import httpx

        try:
            answer = httpx.post(url, content=content, headers=headers, timeout=REQUEST_TIMEOUT_SECONDS)
        except httpx.HTTPError as error:
            raise _unreachable(access.url, error) from None
        return _read_response(answer.status_code, answer.headers.get("content-type", ""), answer.content)
    connection = http.client.HTTPConnection(address.netloc, timeout=REQUEST_TIMEOUT_SECONDS)
    try:
        connection.request("POST", address.path, content, headers)
        response = connection.getresponse()
        return _read_response(response.status, response.getheader("content-type", ""), response.read())
    except (OSError, http.client.HTTPException) as error:
        raise _unreachable(access.url, error) from None
    finally:
        connection.close()


async def _tail(url: str | None, key: str, project: str, names: list[str]) -> None:
    from postern.cli.listen import follow_events

    async with connect(url, key, project) as client:
        async for event in follow_events(client.http, client.project, names):
            print(describe_event(event), flush=True)


DESCRIBED_FIELDS = ("recipient", "recipients", "to", "email", "subject", "name", "domain", "url", "status", "reason")
"""Fields of an event's data that are shown on its line, in this order."""
DESCRIPTION_LIMIT = 160
"""Maximum number of characters of these values together; longer text is cut."""


def describe_event(event: dict[str, Any]) -> str:
    """Describe an event in one line: time, type, the values of DESCRIBED_FIELDS, and the id of the object that
    it is about (`subjectId`)."""
    data: dict[str, Any] = {**(event.get("contact") or {}), **(event.get("data") or {})}
    values: list[str] = []
    for value in (data.get(name) for name in DESCRIBED_FIELDS):
        value_text = ", ".join(map(str, value)) if isinstance(value, list) else value
        # The values come from mail and API callers: control characters could send commands to the terminal.
        if not isinstance(value_text, str) or not value_text:
            continue
        printable = "".join(character for character in value_text if character.isprintable())
        if printable not in values:
            values.append(printable)
    text = "  ".join(values)
    shortened = text if len(text) <= DESCRIPTION_LIMIT else f"{text[: DESCRIPTION_LIMIT - 1]}…"
    return f"{event['occurredAt']}  {event['type']:<28} {shortened}  {event['subjectId'] or ''}".rstrip()
