"""A mail server whose replies never end.

    async with endless_server("EHLO", "one line", octets=64_000_000) as server:
        ...  # connect to server.port
    assert server.sent < 64_000_000  # The client has closed the connection.

It uses little memory itself, so that the memory of the process is that of a client in it.
"""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

CHUNK = 65_536
FORMS = {
    "one line": b"x" * CHUNK,
    "one reply": b"250-%s\r\n" % (b"x" * 120) * (CHUNK // 126),
    "many replies": b"250 %s\r\n" % (b"x" * 120) * (CHUNK // 126),
}
"""What the server sends again and again: a line without an end, lines of one reply, or replies that nobody asked
for."""
STAGES = ("greeting", "EHLO", "MAIL", "DATA", "text", "message")
"""When it begins. `text` is after the first line of the message, `message` after the final dot."""
REPLIES = {b"EHLO": b"250 mx.test\r\n", b"MAIL": b"250 ok\r\n", b"RCPT": b"250 ok\r\n", b"DATA": b"354 go\r\n"}
CODES = {"greeting": b"220", "DATA": b"354"}


class EndlessServer:
    """A mail server that sends `form` at `stage` until the client closes the connection or `octets` are sent."""

    def __init__(self, stage: str, form: str, octets: int) -> None:
        self.stage, self.form, self.octets = stage, form, octets
        self.port = 0
        self.sent = 0
        """Octets sent, those in buffers of the operating system included."""
        self.ended = asyncio.Event()
        """Set when a connection has ended."""

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve one connection."""
        with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
            await self._converse(reader, writer)
        writer.transport.abort()
        self.ended.set()

    async def _converse(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self.stage == "greeting":
            return await self._send_endlessly(writer)
        writer.write(b"220 mx.test ESMTP\r\n")
        while line := await reader.readline():
            verb = line[:4].upper().rstrip()
            if verb == self.stage.encode():
                return await self._send_endlessly(writer)
            writer.write(REPLIES.get(verb, b"221 bye\r\n"))
            if verb == b"DATA" and self.stage == "text":
                await reader.readline()
                return await self._send_endlessly(writer)
            if verb == b"DATA":
                while (await reader.readline()) not in (b".\r\n", b""):
                    pass
                return await self._send_endlessly(writer)
        return None

    async def _send_endlessly(self, writer: asyncio.StreamWriter) -> None:
        code = CODES.get(self.stage, b"250")
        chunk = code + b"-" + FORMS[self.form] if self.form == "one line" else FORMS[self.form].replace(b"250", code)
        while self.sent < self.octets:
            writer.write(chunk)
            await writer.drain()
            self.sent += len(chunk)
            if self.form == "one line":
                chunk = FORMS[self.form]


@asynccontextmanager
async def endless_server(
    stage: str, form: str, octets: int, *, address: str = "127.0.0.1", port: int = 0
) -> AsyncIterator[EndlessServer]:
    """A server on loopback; at the end of the block, its connections are closed."""
    endless = EndlessServer(stage, form, octets)
    connections: set[asyncio.Task[None]] = set()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task
        connections.add(task)
        task.add_done_callback(connections.discard)
        await endless.serve(reader, writer)

    listener = await asyncio.start_server(serve, address, port)
    endless.port = listener.sockets[0].getsockname()[1]
    try:
        yield endless
    finally:
        listener.close()
        for task in tuple(connections):
            task.cancel()
        await asyncio.gather(*connections, return_exceptions=True)
