"""A client of SMTP servers that sends exactly the octets it is told to, and a handler that records what it receives."""

import asyncio
import socket
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from postern.protocols.mail.smtp import SmtpReply
from postern.protocols.mail.smtp_server.connection import SmtpServerConnection
from postern.protocols.mail.smtp_server.server import SmtpServer
from postern.protocols.mail.smtp_server.session import SmtpCounters, SmtpLimits, SmtpOptions, SmtpSession

PATIENCE_SECONDS = 60
"""How long to wait for a reply; only a server that is broken does not reply at all."""


QUEUED = SmtpReply(250, "2.0.0", "queued")


@dataclass(frozen=True)
class Taken:
    """A message that a handler has accepted."""

    sender: str
    recipients: tuple[str, ...]
    content: bytes
    is_encrypted: bool


@dataclass
class RecordingHandler:
    """Accepts the password `right`, and every message; records them."""

    taken: list[Taken] = field(default_factory=list)
    users: list[str] = field(default_factory=list)
    may_finish: asyncio.Event | None = None
    """If set, messages are accepted only when this event is set."""
    began: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when a message is complete."""
    reply: SmtpReply = QUEUED
    """The reply to each message."""
    failure: Exception | None = None
    """Raised for each message."""

    async def authenticate(self, session: SmtpSession, user: str, password: str) -> SmtpReply:
        self.users.append(user)
        if password != "right":
            return SmtpReply(535, "5.7.8", "Wrong user or password.")
        return SmtpReply(235, "2.7.0", "Welcome.")

    async def mail(self, session: SmtpSession, address: str, parameters: dict[str, str]) -> SmtpReply:
        return SmtpReply(250, "2.1.0", "OK")

    async def recipient(self, session: SmtpSession, address: str, parameters: dict[str, str]) -> SmtpReply:
        if address.startswith("unknown@"):
            return SmtpReply(550, "5.1.1", "There is no such mailbox.")
        return SmtpReply(250, "2.1.5", "OK")

    async def message(self, session: SmtpSession, content: bytes) -> SmtpReply:
        self.began.set()
        if self.may_finish is not None:
            await self.may_finish.wait()
        if self.failure is not None:
            raise self.failure
        assert session.sender is not None
        self.taken.append(Taken(session.sender, tuple(session.recipients), content, session.is_encrypted))
        return self.reply


def options(**changes) -> SmtpOptions:
    """Options of a server that offers AUTH without TLS; `limits` are the limits that differ from the defaults."""
    limits = SmtpLimits(**{"message_octets": 1_000_000} | changes.pop("limits", {}))
    defaults = {"host": "mx.test", "limits": limits, "offers_auth": True, "allows_plain_auth": lambda _peer: True}
    return SmtpOptions(**defaults | changes)


@asynccontextmanager
async def smtp_server(
    handler: RecordingHandler, *, implicit_tls: bool = False, seconds: float = 0, **changes
) -> AsyncIterator[tuple[SmtpServer, int]]:
    """A server on loopback and its port; `changes` are those of `options`, `seconds` the time for `stop` at the end."""
    listener = socket.create_server(("127.0.0.1", 0))
    server = SmtpServer(handler, options(**changes))
    await server.listen(listener, implicit_tls=implicit_tls)
    try:
        yield server, listener.getsockname()[1]
    finally:
        await server.stop(seconds)


class SmtpDialogue:
    """A connection to a server."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer

    async def send(self, *lines: bytes | str) -> None:
        """Send lines, each with CRLF."""
        await self.send_octets(b"".join((line.encode() if isinstance(line, str) else line) + b"\r\n" for line in lines))

    async def send_octets(self, octets: bytes) -> None:
        self._writer.write(octets)
        await self._writer.drain()

    async def reply(self) -> str:
        """The next reply; its lines are separated by line feeds. Raises EOFError if the connection is closed."""
        lines = []
        while True:
            line = await asyncio.wait_for(self._reader.readline(), PATIENCE_SECONDS)
            if not line.endswith(b"\r\n"):
                raise EOFError(lines, line)
            lines.append(line[:-2].decode("ascii"))
            if line[3:4] != b"-":
                return "\n".join(lines)

    async def ask(self, *lines: bytes | str) -> str:
        """Send lines and return the next reply."""
        await self.send(*lines)
        return await self.reply()

    async def rest(self) -> str:
        """What the server sends until it closes the connection."""
        try:
            return (await asyncio.wait_for(self._reader.read(), PATIENCE_SECONDS)).decode("ascii")
        except ConnectionResetError:
            return ""

    async def start_tls(self, context: ssl.SSLContext) -> None:
        await self._writer.start_tls(context, server_hostname="localhost")

    def close_sending(self) -> None:
        self._writer.write_eof()

    def abort(self) -> None:
        self._writer.transport.abort()


@asynccontextmanager
async def smtp_dialogue(
    port: int, *, greeting: bool = True, tls: ssl.SSLContext | None = None, name: str = "localhost"
) -> AsyncIterator[SmtpDialogue]:
    """A connection to a server on loopback, after its greeting. `tls`: implicit TLS with a certificate for `name`."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port, ssl=tls, server_hostname=name if tls else None)
    dialogue = SmtpDialogue(reader, writer)
    try:
        if greeting:
            assert (await dialogue.reply()).startswith("220 ")
        yield dialogue
    finally:
        writer.transport.abort()


class MemoryTransport(asyncio.Transport):
    """A transport whose peer is the test, for exact control of which octets arrive together."""

    def __init__(self) -> None:
        super().__init__({"peername": ("192.0.2.1", 40_000)})
        self.sent = b""
        self.closing = False

    def write(self, data: bytes) -> None:
        self.sent += data

    def is_closing(self) -> bool:
        return self.closing

    def close(self) -> None:
        self.closing = True

    abort = close

    def can_write_eof(self) -> bool:
        return True

    def write_eof(self) -> None: ...

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None: ...

    def pause_reading(self) -> None: ...

    def resume_reading(self) -> None: ...


async def replies_to(pieces: list[bytes], handler: RecordingHandler, **changes) -> bytes:
    """What a server sends to a client whose octets arrive in these pieces."""
    server, transport = SmtpServer(handler, options(**changes)), MemoryTransport()
    connection = SmtpServerConnection(server, SmtpCounters())
    connection.connection_made(transport)
    for piece in pieces:
        if not transport.closing:
            connection.data_received(piece)
        for _ in range(3):
            await asyncio.sleep(0)
    while connection._task is not None:
        await asyncio.sleep(0)
    connection.connection_lost(None)
    assert server.budget.used == 0
    assert not server.connections
    return transport.sent
