"""`postern listen`: what happens in a project, live, and forwarded signed to a developer's own machine."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import suppress
from datetime import timedelta
from typing import TYPE_CHECKING, Annotated, Any
from uuid import UUID

import typer

from postern.cli import CannotRun

if TYPE_CHECKING:
    import httpx

LOOK_EVERY = timedelta(seconds=1)
OVERLAP = timedelta(seconds=10)
"""How far back each look goes: an event's row may become visible after that of a later one."""
PAGE = 1_000
FORWARD_SECONDS = 15.0
AWAY = (502, 503, 504)

Project = Annotated[str, typer.Option(envvar="POSTERN_PROJECT", help="The project's id.")]
Key = Annotated[str, typer.Option(envvar="POSTERN_KEY", help="A secret key with events:read.")]
Server = Annotated[str | None, typer.Option("--url", envvar="POSTERN_URL", help="Where the server is.")]
Forward = Annotated[str | None, typer.Option(help="Where to send events on, as webhooks are sent.")]
Names = Annotated[str, typer.Option("--events", help="Which events: names, `email.*`, `*`, comma-separated.")]
Secret = Annotated[str | None, typer.Option(help="Signs what is forwarded; made up and shown if left out.")]


class ServerAway(CannotRun):
    """The server, or its database, is not there for the moment."""


def register(app: typer.Typer) -> None:
    """Add the commands of this module."""
    app.command()(listen)


def listen(
    project: Project,
    key: Key,
    url: Server = None,
    forward: Forward = None,
    events: Names = "*",
    secret: Secret = None,
) -> None:
    """Show a project's events as they happen, and forward them signed with `--forward http://localhost:3000/hook`."""
    from postern.cli.client import server_at
    from postern.kernel.config import read_settings
    from postern.security.signatures import new_webhook_secret

    base_url, _ = server_at(url, read_settings())
    secret = secret or new_webhook_secret()
    if forward:
        print(f"Forwarding to {forward}, signed with {secret}", flush=True)
    try:
        asyncio.run(_listen(base_url, key, project, names_in(events), forward, secret))
    except KeyboardInterrupt:
        pass


def names_in(text: str) -> list[str]:
    """The events that a comma-separated text names. Raises CannotRun for an unknown one."""
    from postern.platform.webhooks.rules import is_known

    names = [part.strip() for part in text.split(",") if part.strip()]
    for name in names:
        if not is_known(name):
            raise CannotRun(f"{name} is no event. Names are like email.delivered, email.*, custom.order.placed, *.")
    return names


async def _listen(url: str, key: str, project: str, names: Sequence[str], target: str | None, secret: str) -> None:
    import httpx

    from postern.cli.client import describe_event

    headers = {"Authorization": f"Bearer {key}"}
    async with (
        httpx.AsyncClient(base_url=url, headers=headers, timeout=FORWARD_SECONDS) as server,
        httpx.AsyncClient(timeout=FORWARD_SECONDS) as there,
    ):
        async for event in follow(server, project, names):
            line = describe_event(event)
            print(line + (await forward(there, target, event, secret) if target else ""), flush=True)


async def follow(server: "httpx.AsyncClient", project: str, names: Sequence[str]) -> AsyncIterator[dict[str, Any]]:
    """Events from now on, each once, in the order in which they show. Raises CannotRun where they cannot be read."""
    import httpx

    from postern.platform.webhooks.rules import keys_of, wants

    newest = (await _read(server, project, limit=1))[:1]
    last = UUID(newest[0]["id"]) if newest else UUID(int=0)
    # What is there already is seen, however far the first look reaches back.
    seen = {event["id"] async for event in _since(server, project, _earlier(last))}
    while True:
        new: list[dict[str, Any]] = []
        # A server that is being started again is waited for.
        with suppress(httpx.TransportError, ServerAway):
            async for event in _since(server, project, _earlier(last)):
                if event["id"] not in seen:
                    seen.add(event["id"])
                    last = max(last, UUID(event["id"]))
                    new.append(event)
        for event in new:
            if wants(names, keys_of(event["type"])):
                yield event
        seen = {each for each in seen if UUID(each) > _earlier(last)}
        await asyncio.sleep(LOOK_EVERY.total_seconds())


async def _since(server: "httpx.AsyncClient", project: str, after: UUID) -> AsyncIterator[dict[str, Any]]:
    """Everything after an id, oldest first, page by page: a busy project has many pages in a few seconds."""
    found: list[dict[str, Any]] = []
    while not found or len(found) == PAGE:
        found = await _read(server, project, after=after, limit=PAGE)
        for event in found:
            yield event
        if not found:
            return
        after = UUID(found[-1]["id"])


def _earlier(event_id: UUID) -> UUID:
    """An id from a little before: the first 48 bits of a UUIDv7 are milliseconds (RFC 9562 §5.7)."""
    return UUID(int=max(0, event_id.int - (int(OVERLAP.total_seconds() * 1_000) << 80)))


async def _read(server: "httpx.AsyncClient", project: str, **query: Any) -> list[dict[str, Any]]:
    answer = await server.get(f"/projects/{project}/events", params=query)
    if answer.status_code in AWAY:
        raise ServerAway(f"The server does not answer: {answer.status_code}")
    if not answer.is_success:
        raise CannotRun(f"The server refuses: {answer.json().get('detail', answer.status_code)}")
    return answer.json()["data"]


async def forward(there: "httpx.AsyncClient", target: str, event: dict[str, Any], secret: str) -> str:
    """POST an event as a webhook would be; says in a few words how it went."""
    import httpx

    from postern.kernel.clock import system_clock
    from postern.kernel.values import to_json
    from postern.platform.webhooks.rules import payload
    from postern.security.signatures import webhook_headers

    subject_id, project_id, contact = event["subjectId"], event["projectId"], event.get("contact")
    body = to_json(payload(event["type"], event["occurredAt"], subject_id, project_id, event["data"], contact))
    headers = {"Content-Type": "application/json", **webhook_headers(event["id"], system_clock(), body, [secret])}
    try:
        answer = await there.post(target, content=body, headers=headers)
    except httpx.HTTPError as trouble:
        return f"  → {type(trouble).__name__}"
    return f"  → {answer.status_code} in {answer.elapsed.total_seconds() * 1_000:.0f} ms"
