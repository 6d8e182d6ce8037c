"""A client of event streams, which reads a response while the application writes it."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

from tests.conftest import Client
from tests.contract import check_response
from tests.workers import in_another_process

WAIT_SECONDS = 60


@dataclass
class OpenStream:
    """An open response with server-sent events."""

    status: int
    headers: dict[str, str]
    chunks: asyncio.Queue[bytes]
    """The parts of the body; an empty one is its end."""
    text: str = ""
    last_id: str | None = None
    """The `id` that a browser would send as `Last-Event-ID`."""
    comments: list[str] = field(default_factory=list)

    async def block(self) -> dict[str, str] | None:
        """The fields of the next block; None at the end of the stream."""
        while "\n\n" not in self.text:
            chunk = await asyncio.wait_for(self.chunks.get(), WAIT_SECONDS)
            if not chunk:
                return None
            self.text += chunk.decode()
        block, _, self.text = self.text.partition("\n\n")
        fields: dict[str, str] = {}
        for line in block.split("\n"):
            name, _, value = line.partition(": ")
            if name == "":
                self.comments.append(value)
            else:
                assert name not in fields
                fields[name] = value
        self.last_id = fields.get("id", self.last_id)
        return fields

    async def event(self) -> dict[str, Any] | None:
        """The data of the next event; None at the end of the stream."""
        while (fields := await self.block()) is not None:
            if "data" in fields:
                event = json.loads(fields["data"])
                assert fields["event"] == event["type"]
                return event
        return None

    async def events(self, count: int) -> list[dict[str, Any]]:
        """The data of the next events."""
        events = [await self.event() for _ in range(count)]
        return [event for event in events if event is not None]


def stream_scope(
    client: Client, path: str = "/events/stream", *, headers: dict[str, str] | None = None, **query: str
) -> dict[str, Any]:
    """The ASGI scope of a request for a stream."""
    path = client.base + path
    sent = {"host": "postern.test", "authorization": f"Bearer {client.token}", **(headers or {})}
    return {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": "GET",
        "scheme": "http",
        "path": path,
        "raw_path": path.encode(),
        "query_string": urlencode(query).encode(),
        "headers": [(name.lower().encode(), value.encode()) for name, value in sent.items()],
        "client": (client.ip, 40_000),
        "server": ("postern.test", 80),
    }


@asynccontextmanager
async def open_stream(
    client: Client, path: str = "/events/stream", *, headers: dict[str, str] | None = None, **query: str
) -> AsyncIterator[OpenStream]:
    """Open a stream and read its first block; disconnects at the end of the context. Parts of the response wait until
    they are read, as on a slow connection."""
    scope = stream_scope(client, path, headers=headers, **query)
    path = scope["path"]
    chunks: asyncio.Queue[bytes] = asyncio.Queue(maxsize=1)
    started: asyncio.Future[dict[str, Any]] = asyncio.get_running_loop().create_future()
    requests = [{"type": "http.request", "body": b"", "more_body": False}]

    async def receive() -> dict[str, Any]:
        if requests:
            return requests.pop()
        await asyncio.Event().wait()
        raise AssertionError

    async def send(message: dict[str, Any]) -> None:
        if message["type"] == "http.response.start":
            started.set_result(message)
        elif message.get("body"):
            await chunks.put(message["body"])
        if message["type"] == "http.response.body" and not message.get("more_body"):
            await chunks.put(b"")

    task = in_another_process(client.app(scope, receive, send))
    try:
        start = await asyncio.wait_for(started, WAIT_SECONDS)
        response_headers = {name.decode(): value.decode() for name, value in start["headers"]}
        stream = OpenStream(start["status"], response_headers, chunks)
        body = b"" if stream.status == 200 else await asyncio.wait_for(chunks.get(), WAIT_SECONDS)
        check_response("GET", path, stream.status, response_headers, body)
        stream.text = body.decode()
        if stream.status == 200:
            await stream.block()
        yield stream
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
