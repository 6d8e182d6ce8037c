"""`postern send | tail`: to try a running server by hand. They speak HTTP to it, as any client does."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from postern.kernel.config import Settings

if TYPE_CHECKING:
    import httpx

    from postern.cli.data_folder import ServerState

REQUEST_SECONDS = 60.0

Url = Annotated[str | None, typer.Option("--url", envvar="POSTERN_URL", help="Where the server is.")]
Key = Annotated[str | None, typer.Option(envvar="POSTERN_KEY", help="A secret key; left out, a project is made.")]
Project = Annotated[str | None, typer.Option(envvar="POSTERN_PROJECT", help="The key's project.")]
TheProject = Annotated[str, typer.Option("--project", envvar="POSTERN_PROJECT", help="The key's project.")]
SecretKey = Annotated[str, typer.Option("--key", envvar="POSTERN_KEY", help="A secret key with events:read.")]
To = Annotated[list[str], typer.Option(help="Whom to; may be given several times.")]
From = Annotated[str, typer.Option("--from", help="Who from.")]
Html = Annotated[Path | None, typer.Option(exists=True, dir_okay=False, help="A file with the html.")]
Text = Annotated[Path | None, typer.Option(exists=True, dir_okay=False, help="A file with the plain text.")]
Names = Annotated[str, typer.Option("--events", help="Which events: names, `email.*`, `*`, comma-separated.")]


def register(app: typer.Typer) -> None:
    """Add the commands of this module."""
    app.command()(send)
    app.command()(tail)


def send(
    to: To,
    subject: Annotated[str, typer.Option()],
    html: Html = None,
    text: Text = None,
    sender: From = "Postern <hello@example.org>",
    key: Key = None,
    project: Project = None,
    url: Url = None,
) -> None:
    """Send one message, and say what became of it."""
    from postern.cli import CannotRun

    if html is None and text is None:
        raise CannotRun("Give --html FILE, --text FILE or both.")
    message = {"to": to, "from": sender, "subject": subject}
    try:
        message |= {name: file.read_text("utf-8") for name, file in (("html", html), ("text", text)) if file}
    except ValueError:
        raise CannotRun("The file is not UTF-8 text.") from None
    asyncio.run(_send(url, key, project, message))


def tail(key: SecretKey, project: TheProject, url: Url = None, events: Names = "*") -> None:
    """Show what happens in the key's project, as it happens."""
    from postern.cli.listen import names_in

    names = names_in(events)
    try:
        asyncio.run(_tail(url, key, project, names))
    except KeyboardInterrupt:
        pass


@dataclass
class ProjectClient:
    """A project on a running server, and how to speak to it."""

    http: "httpx.AsyncClient"
    url: str
    project: str
    inbox_url: str

    async def ask(self, method: str, path: str, body: Any = None, **headers: str) -> Any:
        """What the server answers. Raises CannotRun with what it says where it refuses."""
        import httpx

        from postern.cli import CannotRun

        try:
            answer = await self.http.request(method, f"/projects/{self.project}{path}", json=body, headers=headers)
        except httpx.HTTPError as trouble:
            raise CannotRun(f"The server at {self.url} does not answer ({type(trouble).__name__}).") from None
        if not answer.is_success:
            kind = answer.headers.get("content-type", "")
            said = answer.json().get("detail") if kind.startswith("application/problem+json") else None
            raise CannotRun(f"The server refuses: {said or answer.status_code}")
        return answer.json()


@asynccontextmanager
async def connect(url: str | None, key: str | None, project: str | None) -> AsyncGenerator[ProjectClient]:
    """The key's project; without a key, a fresh project on the server of the data folder.

    Raises CannotRun where neither a URL is given nor a server runs on the data folder.
    """
    import httpx

    from postern.cli import CannotRun
    from postern.cli.bootstrap import create_first_project
    from postern.cli.data_folder import require_master_key
    from postern.kernel.config import read_settings

    settings = read_settings()
    base_url, running = server_at(url, settings)
    inbox_url = f"{base_url}/inbox"
    if key is None:
        if running is None or base_url != running.base_url:
            raise CannotRun(
                f"No server runs on the data folder {settings.data}. Start one with `postern serve`, "
                "or give --key and --url (POSTERN_KEY, POSTERN_URL)."
            )
        require_master_key(settings)
        made = await create_first_project(settings, running.database_url, running.base_url)
        key, project, inbox_url = made.secret_key, made.project_id, made.inbox_url
    if project is None:
        raise CannotRun("Say which project the key belongs to: --project or POSTERN_PROJECT.")
    headers = {"Authorization": f"Bearer {key}"}
    async with httpx.AsyncClient(base_url=base_url, headers=headers, timeout=REQUEST_SECONDS) as http:
        yield ProjectClient(http, base_url, project, inbox_url)


def server_at(url: str | None, settings: Settings) -> "tuple[str, ServerState | None]":
    """The server's URL: the one that is given, or that of the server on the data folder, which it says.

    Raises CannotRun where there is neither.
    """
    from postern.cli import CannotRun
    from postern.cli.data_folder import print_note, running_on

    running = running_on(settings.data)
    if url:
        return url, running
    if running is None:
        raise CannotRun(
            f"No server runs on the data folder {settings.data}. Start one with `postern serve`, set POSTERN_DATA to "
            "the folder of yours, or give --url (POSTERN_URL)."
        )
    print_note(f"Using the server at {running.base_url}, which runs on the data folder {settings.data}.")
    return running.base_url, running


async def _send(url: str | None, key: str | None, project: str | None, message: dict[str, Any]) -> None:
    async with connect(url, key, project) as there:
        sent = await there.ask("POST", "/emails", message)
        print(f"{sent['status']}  {sent['id']}  {sent['messageId']}")
        if key is None:
            print(f"Look at it (the link works once, within ten minutes): {there.inbox_url}")


async def _tail(url: str | None, key: str, project: str, names: list[str]) -> None:
    from postern.cli.listen import follow

    async with connect(url, key, project) as there:
        async for event in follow(there.http, there.project, names):
            print(describe_event(event), flush=True)


SAYING = ("recipient", "recipients", "to", "email", "subject", "name", "domain", "url", "status", "reason")
"""The fields of an event that tell a person what it was about, in the order in which they are shown."""
DESCRIPTION_LIMIT = 160


def describe_event(event: dict[str, Any]) -> str:
    """One line on an event: when, what, whom or what it was about, and the record's id."""
    data: dict[str, Any] = {**(event.get("contact") or {}), **(event.get("data") or {})}
    words: list[str] = []
    for value in (data.get(name) for name in SAYING):
        text = ", ".join(map(str, value)) if isinstance(value, list) else value
        # What is shown comes from mail and from callers: a terminal must not be told what to do by it.
        if isinstance(text, str) and text and (shown := "".join(c for c in text if c.isprintable())) not in words:
            words.append(shown)
    said = "  ".join(words)
    short = said if len(said) <= DESCRIPTION_LIMIT else f"{said[: DESCRIPTION_LIMIT - 1]}…"
    return f"{event['occurredAt']}  {event['type']:<28} {short}  {event['subjectId'] or ''}".rstrip()
