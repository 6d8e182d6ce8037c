"""An HTTP server that fails as a table says: tests/sdk/faults.json explains its cases.

    async with fault_server() as server:
        client = ...(url=server.url(3, "python"))   # case 3; each name begins the case anew
        server.received(3, "python")                # the requests so far

As a process: `python -m tests.peers.fault_server` prints its URL. `GET /received/CASE/NAME` returns
`[{"method", "path", "headers", "body"}]`: the requests so far, names of headers in lower case, bodies as text.
"""

import asyncio
import json
import socket
import struct
import time
from collections import defaultdict
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from email.utils import formatdate
from pathlib import Path
from typing import Any, NamedTuple

TABLE: dict[str, Any] = json.loads((Path(__file__).parent.parent / "sdk/faults.json").read_text())
CASES: list[dict[str, Any]] = TABLE["cases"]
REQUEST_ID = "0199f1a2-7c00-7000-8000-00000000cafe"
"""`X-Request-Id` of every response."""


class ReceivedRequest(NamedTuple):
    """A request; `path` is without the prefix of the case."""

    method: str
    path: str
    headers: dict[str, str]
    body: str


class FaultServer:
    """The requests of each case and name, and the replies to them."""

    base = ""

    def __init__(self) -> None:
        self._received: defaultdict[tuple[int, str], list[ReceivedRequest]] = defaultdict(list)
        self._arrivals: defaultdict[tuple[int, str], asyncio.Event] = defaultdict(asyncio.Event)

    def url(self, case: int, name: str) -> str:
        """The URL for a client that runs a case."""
        return f"{self.base}/cases/{case}/{name}"

    def received(self, case: int, name: str) -> list[ReceivedRequest]:
        """The requests so far."""
        return self._received[case, name]

    async def arrival(self, case: int, name: str) -> None:
        """Wait for the first request."""
        await self._arrivals[case, name].wait()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve the requests of one connection."""
        try:
            while await self._serve_one(reader, writer):
                pass
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    async def _serve_one(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """Whether the connection can be used for another request."""
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        method, target, _ = head[0].split(" ")
        headers = {
            name.strip().lower(): value.strip() for name, _, value in (line.partition(":") for line in head[1:] if line)
        }
        body = await reader.readexactly(int(headers.get("content-length", 0)))
        _, kind, case, name, *rest = target.split("/", 4)
        key = int(case), name
        if kind == "received":
            text = json.dumps([request._asdict() for request in self._received[key]])
            writer.write(_response(200, {}, text.encode()))
            return True
        self._received[key].append(ReceivedRequest(method, "/" + "".join(rest), headers, body.decode()))
        self._arrivals[key].set()
        replies = CASES[key[0]]["replies"]
        return await self._reply(replies[min(len(self._received[key]), len(replies)) - 1], reader, writer)

    async def _reply(self, reply: dict[str, Any], reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        match reply.get("fault"):
            case "reset":
                # With this option a close sends RST instead of FIN.
                linger = struct.pack("ii", 1, 0)
                writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
                writer.transport.abort()
                return False
            case "close":
                return False
            case "silent":
                await reader.read()
                return False
            case _:
                pass
        body = TABLE["bodies"][reply["body"]]
        content = body.encode() if isinstance(body, str) else json.dumps(body).encode()
        headers = {"X-Request-Id": REQUEST_ID, **reply.get("headers", {})}
        headers["Content-Type"] = "text/html" if reply["body"] == "html" else "application/json"
        if "retryAfterDate" in reply:
            headers["Retry-After"] = formatdate(time.time() + reply["retryAfterDate"], usegmt=True)
        response = _response(reply["status"], headers, content)
        if "truncateAt" in reply:
            writer.write(response[: len(response) - len(content) + reply["truncateAt"]])
            await writer.drain()
            return False
        if "dripSeconds" not in reply:
            writer.write(response)
            return True
        writer.write(response[: -len(content)])
        for byte in content:
            writer.write(bytes([byte]))
            await writer.drain()
            await asyncio.sleep(reply["dripSeconds"])
        return True


def _response(status: int, headers: dict[str, str], body: bytes) -> bytes:
    lines = [f"HTTP/1.1 {status} Reply", f"Content-Length: {len(body)}", *(f"{k}: {v}" for k, v in headers.items())]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


@contextmanager
def refused_url() -> Iterator[str]:
    """The URL of a port on which nothing listens while the block runs."""
    with socket.socket() as bound:
        # Bound but not listening: nobody else gets the port, and connections are refused.
        bound.bind(("127.0.0.1", 0))
        yield f"http://127.0.0.1:{bound.getsockname()[1]}"


@asynccontextmanager
async def fault_server(port: int = 0) -> AsyncIterator[FaultServer]:
    """Run the server on loopback."""
    server = FaultServer()
    listener = await asyncio.start_server(server.serve, "127.0.0.1", port)
    server.base = f"http://127.0.0.1:{listener.sockets[0].getsockname()[1]}"
    try:
        yield server
    finally:
        listener.close()


async def main() -> None:
    """Print the URL, and serve until the process ends."""
    async with fault_server() as server:
        print(server.base, flush=True)
        await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main())
