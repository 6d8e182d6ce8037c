"""`postern send | tail | demo`: to try a running server by hand. They speak HTTP to it, as any client does."""

import asyncio
import csv
import io
import random
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any
from uuid import uuid4

import typer

if TYPE_CHECKING:
    import httpx

DEMO_MESSAGES = 200
AT_ONCE = 16
REQUEST_SECONDS = 60.0
FIRST_NAMES = ("Ada", "Grace", "Alan", "Edsger", "Barbara", "Katherine", "Linus", "Margaret", "Радия", "世界")
PLANS = ("free", "pro", "team")
DEMO_HTML = """<h1>Hello {{ name }}</h1>
<p>You are on the {{ plan }} plan and have {{ credits }} credits left.</p>
<p><a href="https://example.org/account">Your account</a></p>"""

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
Count = Annotated[int, typer.Option(min=1, max=10_000, help="How many messages.")]


def register(app: typer.Typer) -> None:
    """Add the commands of this module."""
    app.command()(send)
    app.command()(tail)
    app.command()(demo)


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
    message |= {name: file.read_text() for name, file in (("html", html), ("text", text)) if file}
    asyncio.run(_send(url, key, project, message))


def tail(key: SecretKey, project: TheProject, url: Url = None, events: Names = "*") -> None:
    """Show what happens in the key's project, as it happens."""
    from postern.cli.listen import names_in

    names = names_in(events)
    try:
        asyncio.run(_tail(url, key, project, names))
    except KeyboardInterrupt:
        pass


def demo(count: Count = DEMO_MESSAGES, key: Key = None, project: Project = None, url: Url = None) -> None:
    """Make a domain and a template, send personalised messages to a list of people, and say where to look."""
    asyncio.run(_demo(url, key, project, count))


@dataclass
class There:
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
async def reach(url: str | None, key: str | None, project: str | None) -> AsyncGenerator[There]:
    """The key's project; without a key, a fresh project on the server of the data folder."""
    import httpx

    from postern.cli import CannotRun
    from postern.cli.begin import begin
    from postern.cli.place import running_on
    from postern.kernel.settings import read_settings

    settings = read_settings()
    running = running_on(settings.data) if settings.data.is_dir() else None
    base_url = url or (running.base_url if running else settings.public_url)
    inbox_url = f"{base_url}/inbox"
    if key is None:
        if running is None or base_url != running.base_url:
            raise CannotRun(
                f"No server runs on the data folder {settings.data}. Start one with `postern serve`, "
                "or give --key and --url (POSTERN_KEY, POSTERN_URL)."
            )
        made = await begin(settings, running.database_url, running.base_url)
        key, project, inbox_url = made.secret_key, made.project_id, made.inbox_url
    if project is None:
        raise CannotRun("Say which project the key belongs to: --project or POSTERN_PROJECT.")
    headers = {"Authorization": f"Bearer {key}"}
    async with httpx.AsyncClient(base_url=base_url, headers=headers, timeout=REQUEST_SECONDS) as http:
        yield There(http, base_url, project, inbox_url)


async def _send(url: str | None, key: str | None, project: str | None, message: dict[str, Any]) -> None:
    async with reach(url, key, project) as there:
        sent = await there.ask("POST", "/emails", message)
        print(f"{sent['status']}  {sent['id']}  {sent['messageId']}")
        if key is None:
            print(f"Look at it (the link works once, within ten minutes): {there.inbox_url}")


async def _tail(url: str | None, key: str, project: str, names: list[str]) -> None:
    from postern.cli.listen import follow

    async with reach(url, key, project) as there:
        async for event in follow(there.http, there.project, names):
            print(f"{event['occurredAt']}  {event['type']:<28} {event['subjectId'] or ''}", flush=True)


def people(count: int) -> str:
    """A list of made-up people as CSV."""
    chance, file = random.Random(count), io.StringIO()  # noqa: S311 - made-up people need no secret chance
    writer = csv.writer(file)
    writer.writerow(["email", "name", "plan", "credits"])
    for number in range(1, count + 1):
        name = chance.choice(FIRST_NAMES)
        writer.writerow([f"person-{number}@example.com", name, chance.choice(PLANS), chance.randrange(1_000)])
    return file.getvalue()


async def _demo(url: str | None, key: str | None, project: str | None, count: int) -> None:
    from rich.progress import track

    async with reach(url, key, project) as there:
        domain = await there.ask("POST", "/domains", {"domain": f"demo-{uuid4().hex[:8]}.example.org"})
        template = await there.ask(
            "POST",
            "/templates",
            {"name": "Demo", "subject": "{{ name }}, your {{ plan }} plan", "html": DEMO_HTML},
        )
        statuses: dict[str, int] = {}
        gate = asyncio.Semaphore(AT_ONCE)

        async def send_to(person: dict[str, str]) -> str:
            async with gate:
                message = {
                    "to": [person["email"]],
                    "from": f"Demo <hello@{domain['domain']}>",
                    "templateId": template["id"],
                    "variables": person,
                    "tags": ["demo"],
                }
                again = {"Idempotency-Key": f"{template['id']}-{person['email']}"}
                return (await there.ask("POST", "/emails", message, **again))["status"]

        sending = [asyncio.create_task(send_to(person)) for person in csv.DictReader(io.StringIO(people(count)))]
        for each in track(asyncio.as_completed(sending), description="Sending", total=count):
            status = await each
            statuses[status] = statuses.get(status, 0) + 1
        print(", ".join(f"{number} {status}" for status, number in sorted(statuses.items())))
        print(f"Domain {domain['domain']} and template “Demo” are in project {there.project}.")
        print(f"Look at the messages: {there.inbox_url}" + (" (works once, within ten minutes)" if key is None else ""))
        print(f"The log: GET {there.url}/projects/{there.project}/emails/logs?q=demo")
