"""`postern listen`: print the events of a project as they happen, and forward them as webhooks to a local server."""

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

POLL_INTERVAL = timedelta(seconds=1)
LOOKBACK = timedelta(seconds=10)
"""Each poll rereads the events of the LOOKBACK before the newest known event. An event gets its id when it is recorded
but can be read only after the transaction commits, so it may appear after events with later ids."""
PAGE_SIZE = 1_000
HTTP_TIMEOUT_SECONDS = 15.0
UNAVAILABLE_STATUSES = (502, 503, 504)

Project = Annotated[str, typer.Option(envvar="POSTERN_PROJECT", help="The project's id.")]
Key = Annotated[str, typer.Option(envvar="POSTERN_KEY", help="A secret key with events:read.")]
Server = Annotated[str | None, typer.Option("--url", envvar="POSTERN_URL", help="Base URL of the server.")]
Forward = Annotated[str | None, typer.Option(help="URL to which events are sent as webhook requests.")]
Names = Annotated[
    str, typer.Option("--events", help="Event names to show, separated by commas; `email.*` and `*` are wildcards.")
]
Secret = Annotated[
    str | None, typer.Option(help="Signing secret (whsec_…) for forwarded events. Default: generated and printed.")
]


class ServerUnavailable(CannotRun):
    """The server or its database is temporarily unavailable (502, 503 or 504)."""


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
    """Print a project's events as they happen; with --forward, also post them, signed, to a URL on your machine.

    Example: `postern listen --forward http://localhost:3000/hook`. Ctrl-C stops it.
    """
    from postern.cli.client import resolve_server
    from postern.kernel.config import read_settings
    from postern.security.signatures import new_webhook_secret

    base_url, _ = resolve_server(url, read_settings())
    secret = secret or new_webhook_secret()
    if forward:
        print(f"Forwarding to {forward}, signed with {secret}", flush=True)
    try:
        asyncio.run(_listen(base_url, key, project, parse_event_names(events), forward, secret))
    except KeyboardInterrupt:
        pass


def parse_event_names(text: str) -> list[str]:
    """Split a comma-separated list of event names and wildcards. Raises CannotRun for an unknown one."""
    from postern.platform.webhooks.rules import is_valid_entry

    names = [part.strip() for part in text.split(",") if part.strip()]
    for name in names:
        if not is_valid_entry(name):
            raise CannotRun(
                f"{name} is not the name of an event. Examples: email.delivered, email.*, custom.order.placed, *."
            )
    return names


async def _listen(url: str, key: str, project: str, names: Sequence[str], target: str | None, secret: str) -> None:
    import httpx

    from postern.cli.client import describe_event

    headers = {"Authorization": f"Bearer {key}"}
    async with (
        httpx.AsyncClient(base_url=url, headers=headers, timeout=HTTP_TIMEOUT_SECONDS) as server,
        httpx.AsyncClient(timeout=HTTP_TIMEOUT_SECONDS) as client,
    ):
        async for event in follow_events(server, project, names):
            line = describe_event(event)
            print(line + (await forward(client, target, event, secret) if target else ""), flush=True)


async def follow_events(
    server: "httpx.AsyncClient", project: str, names: Sequence[str]
) -> AsyncIterator[dict[str, Any]]:
    """Yield the events that happen from now on, each once, if `names` has an entry that matches; does not end.

    Raises CannotRun if the server refuses a request. If the server is unreachable or unavailable, raises
    httpx.TransportError or ServerUnavailable while it looks for the newest events; after that it polls until the server
    responds again.
    """
    import httpx

    from postern.platform.webhooks.rules import is_subscribed, matching_entries

    newest_events = await _get_events(server, project, limit=1)
    last_id = UUID(newest_events[0]["id"]) if newest_events else UUID(int=0)
    # Because of LOOKBACK, the first poll also reads events that exist already. They must not be yielded.
    seen_ids = {event["id"] async for event in _events_after(server, project, _shift_back(last_id))}
    while True:
        new_events: list[dict[str, Any]] = []
        # Polling goes on while the server restarts.
        with suppress(httpx.TransportError, ServerUnavailable):
            async for event in _events_after(server, project, _shift_back(last_id)):
                if event["id"] not in seen_ids:
                    seen_ids.add(event["id"])
                    last_id = max(last_id, UUID(event["id"]))
                    new_events.append(event)
        for event in new_events:
            if is_subscribed(names, matching_entries(event["type"])):
                yield event
        seen_ids = {event_id for event_id in seen_ids if UUID(event_id) > _shift_back(last_id)}
        await asyncio.sleep(POLL_INTERVAL.total_seconds())


async def _events_after(server: "httpx.AsyncClient", project: str, after: UUID) -> AsyncIterator[dict[str, Any]]:
    """Yield all events after an id, oldest first, page by page."""
    page: list[dict[str, Any]] = []
    while not page or len(page) == PAGE_SIZE:
        page = await _get_events(server, project, after=after, limit=PAGE_SIZE)
        for event in page:
            yield event
        if not page:
            return
        after = UUID(page[-1]["id"])


def _shift_back(event_id: UUID) -> UUID:
    """Return a UUIDv7 that is LOOKBACK older: its first 48 bits are Unix milliseconds (RFC 9562 §5.7)."""
    return UUID(int=max(0, event_id.int - (int(LOOKBACK.total_seconds() * 1_000) << 80)))


async def _get_events(server: "httpx.AsyncClient", project: str, **query: Any) -> list[dict[str, Any]]:
    """One page of events: the newest first or, with `after`, the oldest first. Raises ServerUnavailable and
    CannotRun."""
    response = await server.get(f"/projects/{project}/events", params=query)
    if response.status_code in UNAVAILABLE_STATUSES:
        raise ServerUnavailable(f"The server is unavailable (status {response.status_code}). Try again.")
    if not response.is_success:
        raise CannotRun(f"The server refused the request: {response.json().get('detail', response.status_code)}")
    return response.json()["data"]


async def forward(client: "httpx.AsyncClient", target: str, event: dict[str, Any], secret: str) -> str:
    """POST an event to `target` in the format of a webhook; returns the status and duration, or the error, as text."""
    import httpx

    from postern.kernel.values import system_clock, to_json
    from postern.platform.webhooks.rules import payload
    from postern.security.signatures import webhook_headers

    subject_id, project_id, contact = event["subjectId"], event["projectId"], event.get("contact")
    body = to_json(payload(event["type"], event["occurredAt"], subject_id, project_id, event["data"], contact))
    headers = {"Content-Type": "application/json", **webhook_headers(event["id"], system_clock(), body, [secret])}
    try:
        response = await client.post(target, content=body, headers=headers)
    except httpx.HTTPError as error:
        return f"  → {type(error).__name__}"
    return f"  → {response.status_code} in {response.elapsed.total_seconds() * 1_000:.0f} ms"
