"""An HTTP server on loopback for outbound requests such as webhook deliveries. It misbehaves on demand.

    async with http_receiver() as receiver:
        receiver.script("/hook", Reply(status=500), Reply(status=200))   # the last reply is repeated
        event = asyncio.Event()
        receiver.script("/slow", Reply(until=event))     # the reply is sent when `event` is set
        ...
        assert receiver.requests[0].headers["webhook-id"]

Without a script, the query of the URL determines the reply, so that another process can choose it:
`/hook?status=410`, `?delay=0.5`, `?location=http://…`, `?retry=60`, `?size=1000000`, `?drip=1` (bytes per
tick of 20 ms), `?mode=hangup|silent|garbage`.

As a process: `python -m tests.peers.http_receiver --log received.jsonl` prints its port, and appends one line per
request to the log, fsynced before the reply unless `--quick` is given. At the end it prints the number of requests.
"""

import argparse
import asyncio
import base64
import json
import os
import signal
import ssl
import sys
from collections import Counter
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from time import time
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import httptools

TICK_SECONDS = 0.02


@dataclass(frozen=True)
class Received:
    """A request as it was received."""

    method: str
    target: str
    """Path and query."""
    headers: Mapping[str, str]
    """Names in lower case."""
    body: bytes
    at: float
    """When it was received, in seconds since 1970."""
    connection: int
    """The number of its connection, counted from 1."""

    @property
    def path(self) -> str:
        return urlsplit(self.target).path

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@dataclass(frozen=True)
class Reply:
    """A reply to a request."""

    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b"ok"
    delay: float = 0.0
    until: asyncio.Event | None = None
    """If given, the reply is sent only when this event is set."""
    drip: int = 0
    """Bytes per tick, head included; 0 sends all at once."""
    mode: str = ""
    """`hangup` closes the connection without a reply, `silent` never replies, `garbage` sends text that is not HTTP."""
    raw: bytes | None = None
    """These bytes instead of an HTTP response; the connection stays open."""

    def wire(self) -> bytes:
        """The encoded response."""
        if self.raw is not None:
            return self.raw
        head = [f"HTTP/1.1 {self.status} Reply", f"Content-Length: {len(self.body)}"]
        head += [f"{name}: {value}" for name, value in self.headers.items()]
        return "\r\n".join(head).encode() + b"\r\n\r\n" + self.body


OK = Reply()


class Receiver:
    """The received requests, and the replies."""

    address = "127.0.0.1"
    port = 0

    def __init__(self, *, log: Path | None = None, quick: bool = False, keep: bool = True) -> None:
        self.requests: list[Received] = []
        self.connections = 0
        self.count = 0
        self.waiting: Counter[str] = Counter()
        """For each path, the number of requests on open connections that currently wait for their `until` event."""
        self._scripts: dict[str, list[Reply]] = {}
        self._log = log.open("ab") if log else None
        self._quick, self._keep = quick, keep
        self._open: set[asyncio.BaseTransport] = set()

    def url(self, path: str = "/", *, scheme: str = "http", host: str = "") -> str:
        return f"{scheme}://{host or self.address}:{self.port}{path}"

    def script(self, path: str, *replies: Reply) -> None:
        """Reply to requests for `path` with these replies in turn; the last one is repeated."""
        self._scripts[path] = list(replies)

    def received(self, path: str) -> list[Received]:
        """The requests for a path."""
        return [request for request in self.requests if request.path == path]

    def record(self, request: Received) -> Reply:
        """Record a request and return its reply."""
        self.count += 1
        if self._keep:
            self.requests.append(request)
        if self._log:
            line = {
                "target": request.target,
                "headers": dict(request.headers),
                "body": base64.b64encode(request.body).decode(),
                "at": request.at,
            }
            self._log.write(json.dumps(line).encode() + b"\n")
            self._log.flush()
            if not self._quick:
                os.fsync(self._log.fileno())
        script = self._scripts.get(request.path)
        if script:
            return script.pop(0) if len(script) > 1 else script[0]
        return _reply_from_query(request.target) if "?" in request.target else OK

    def hang_up(self) -> None:
        """Close all connections, as a server does when it restarts."""
        for transport in list(self._open):
            transport.abort()


def _reply_from_query(target: str) -> Reply:
    query = dict(parse_qsl(urlsplit(target).query))
    headers = {name: query[key] for key, name in (("location", "Location"), ("retry", "Retry-After")) if key in query}
    return Reply(
        status=int(query.get("status", 200)),
        headers=headers,
        body=b"x" * int(query["size"]) if "size" in query else b"ok",
        delay=float(query.get("delay", 0)),
        drip=int(query.get("drip", 0)),
        mode=query.get("mode", ""),
    )


class _Connection(asyncio.Protocol):
    def __init__(self, receiver: Receiver) -> None:
        self.receiver = receiver
        self.task: asyncio.Task[None] | None = None

    def connection_made(self, transport: Any) -> None:
        self.receiver.connections += 1
        self.number, self.transport = self.receiver.connections, transport
        self.receiver._open.add(transport)
        self.parser = httptools.HttpRequestParser(self)

    def connection_lost(self, exc: Exception | None) -> None:
        self.receiver._open.discard(self.transport)
        if self.task:
            self.task.cancel()

    def data_received(self, data: bytes) -> None:
        self.parser.feed_data(data)

    def on_message_begin(self) -> None:
        self.target, self.headers, self.body = b"", {}, b""

    def on_url(self, url: bytes) -> None:
        self.target += url

    def on_header(self, name: bytes, value: bytes) -> None:
        self.headers[name.decode().lower()] = value.decode()

    def on_body(self, body: bytes) -> None:
        self.body += body

    def on_message_complete(self) -> None:
        method, target = self.parser.get_method().decode(), self.target.decode()
        request = Received(method, target, self.headers, self.body, time(), self.number)
        reply = self.receiver.record(request)
        if reply.delay or reply.drip or reply.mode or reply.until:
            self.task = asyncio.ensure_future(self.reply_late(request.path, reply))
        else:
            self.transport.write(reply.wire())

    async def reply_late(self, path: str, reply: Reply) -> None:
        await asyncio.sleep(reply.delay)
        if reply.until:
            self.receiver.waiting[path] += 1
            try:
                await reply.until.wait()
            finally:
                self.receiver.waiting[path] -= 1
        if reply.mode == "hangup":
            self.transport.abort()
        elif reply.mode == "garbage":
            self.transport.write(b"220 mail.example.com ESMTP\r\n")
        elif reply.mode != "silent":
            wire = reply.wire()
            step = reply.drip or len(wire)
            for at in range(0, len(wire), step):
                self.transport.write(wire[at : at + step])
                await asyncio.sleep(TICK_SECONDS if reply.drip else 0)


@asynccontextmanager
async def http_receiver(*, tls: ssl.SSLContext | None = None, port: int = 0, **options: Any) -> AsyncIterator[Receiver]:
    """Start a receiver; it ends with the block. `options` are arguments of Receiver."""
    receiver = Receiver(**options)
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: _Connection(receiver), receiver.address, port, ssl=tls, backlog=2_048)
    receiver.port = server.sockets[0].getsockname()[1]
    try:
        yield receiver
    finally:
        server.close()
        receiver.hang_up()
        await server.wait_closed()
        await asyncio.sleep(0)


async def _serve(options: argparse.Namespace) -> None:
    ended = asyncio.Event()
    for signal_number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(signal_number, ended.set)
    async with http_receiver(log=options.log, quick=options.quick, port=options.port, keep=False) as receiver:
        sys.stdout.write(f"{receiver.port}\n")
        sys.stdout.flush()
        await ended.wait()
        sys.stdout.write(f"{receiver.count}\n")


def main() -> None:
    import uvloop

    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--log", type=Path)
    parser.add_argument("--quick", action="store_true")
    uvloop.run(_serve(parser.parse_args()))


if __name__ == "__main__":
    main()
