"""An SMTP server for tests: it records the messages that it receives, and misbehaves as configured.

In a test:      `async with Sink() as sink: …  sink.messages`
As a process:   `python -m tests.peers.smtp_sink --port 2525 --ledger /tmp/ledger`

The ledger has one line `recipient<TAB>Message-ID<TAB>sender` per recipient. A line is on disk (fsync) *before* the sink
replies to the final dot, so the ledger lists every delivered message, whichever process is killed at whatever time.

Recipients whose local part begins with a key of REPLIES_BY_RECIPIENT get that reply from every sink.
"""

import argparse
import asyncio
import base64
import functools
import os
import random
import re
import socket
import ssl
import tempfile
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

REPLIES_BY_RECIPIENT = {
    b"tempfail": b"451 4.2.0 Mailbox busy, try again later",
    b"permfail": b"550 5.1.1 No such user here",
    b"full": b"452 4.2.2 Mailbox full",
    b"greylist": b"450 4.7.1 Greylisted, come back in five minutes",
    b"blocked": b"554 5.7.1 Service unavailable; Client host [192.0.2.1] blocked using zen.spamhaus.org",
    b"many": b"552 Too many recipients",
}
MESSAGE_ID = re.compile(rb"^Message-ID:[ \t]*(?:\r\n[ \t]+)?(\S+)", re.IGNORECASE | re.MULTILINE)
END_WITH_BARE_LINE_ENDS = re.compile(rb"(?:\r\n|\n|\r)\.(?:\r\n|\n|\r)")


@dataclass
class Behaviour:
    """The extensions that a sink offers, and its misbehaviour. May be changed while the sink runs."""

    pipelining: bool = True
    smtputf8: bool = True
    eightbit: bool = True
    enhanced: bool = True
    chunking: bool = False
    size: int | None = 50_000_000
    tls: ssl.SSLContext | None = None
    """Offered by STARTTLS, or used from the first octet with `implicit`."""
    implicit: bool = False
    require_tls: bool = False
    """Whether REQUIRETLS (RFC 8689) is offered over TLS."""
    inject_after_starttls: bytes = b""
    """Unencrypted octets that an attacker adds after the reply to STARTTLS."""
    users: dict[str, str] = field(default_factory=dict)
    """Passwords by user name; authentication is required if there are any."""
    mechanisms: str = "PLAIN LOGIN"
    accept_bare_line_ends: bool = False
    """Whether a dot between bare CRs or LFs ends the message, as on servers that allow SMTP smuggling."""
    replies: dict[str, bytes] = field(default_factory=dict)
    """Replies that replace the usual ones, by verb, or `GREETING` or `DOT` (the message is then not recorded)."""
    deferred_share: float = 0.0
    """The share of recipients that get the reply 451."""
    greylisting: bool = False
    """Whether each recipient gets the reply 450 the first time."""
    busy_connections: int = 0
    """So many connections, from the first on, get the greeting 421."""
    drop_after_dot: float = 0.0
    """The share of messages that are recorded but get no reply: the connection is reset instead."""
    drop_at: str = ""
    """The verb (or `GREETING`, `TEXT`, `DOT`) at which the connection is reset instead of a reply."""
    stall_at: str = ""
    """The verb (or `GREETING`, `DOT`) that never gets a reply."""
    drip_seconds: float = 0.0
    """If set, replies are sent octet by octet with this pause between them."""
    slow_seconds: float = 0.0
    """The delay of the reply to the final dot."""
    slow_quit_seconds: float = 0.0
    """The delay of the reply to QUIT."""
    stop_reading_after_354: bool = False
    """Whether the sink stops reading after the reply 354 to DATA."""
    messages_per_connection: int = 0
    """If set, MAIL gets the reply 421 after so many messages, and the connection is closed."""
    accept_data_without_recipients: bool = False
    """Whether DATA gets 354 even if no recipient was accepted (RFC 2920 §3.1)."""
    keep: bool = True
    """Whether messages and commands stay in memory."""


@dataclass(frozen=True)
class Received:
    """A message as it was received."""

    sender: str
    parameters: str
    """The parameters of the MAIL command."""
    recipients: tuple[str, ...]
    raw: bytes
    """Headers and body without dot-stuffing and without the final dot."""
    message_id: str
    encrypted: bool
    user: str | None
    """The authenticated user."""
    client: str = ""
    """The IP address of the client."""


class Sink:
    """An SMTP server on loopback, which listens inside `async with`."""

    def __init__(
        self,
        behaviour: Behaviour | None = None,
        *,
        ledger: Path | None = None,
        chance: random.Random | None = None,
        port: int = 0,
        listener: socket.socket | None = None,
    ) -> None:
        self.behaviour = behaviour or Behaviour()
        self.messages: list[Received] = []
        self.accepted = 0
        """The number of accepted messages."""
        self.connections = 0
        """The number of connections so far, closed ones included."""
        self.seen_recipients: set[bytes] = set()
        """The recipients so far, if `behaviour.greylisting` is set."""
        self.open_sessions: set[Session] = set()
        self.most_open_sessions = 0
        self.commands: list[str] = []
        """Every command line in order, passwords included, unless `behaviour.keep` is False."""
        self.port = port
        self._listener = listener
        self.chance = chance or random.Random(0)
        self._ledger = os.open(ledger, os.O_WRONLY | os.O_CREAT | os.O_APPEND) if ledger else None
        self._lines: list[bytes] = []
        self._unacknowledged: list[tuple[Session, bytes]] = []

    async def __aenter__(self) -> "Sink":
        loop = asyncio.get_running_loop()
        self._server = await loop.create_server(
            lambda: Session(self),
            None if self._listener else "127.0.0.1",
            None if self._listener else self.port,
            sock=self._listener,
            ssl=self.behaviour.tls if self.behaviour.implicit else None,
            backlog=512,
        )
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        self._server.close()
        for session in list(self.open_sessions):
            session.reset()
        await asyncio.sleep(0)
        if self._ledger is not None:
            os.close(self._ledger)
            self._ledger = None

    def record(self, session: "Session", received: Received, reply: bytes) -> None:
        """Record a message. Its reply is sent when the ledger is on disk; concurrent messages share one fsync."""
        self.accepted += 1
        if self.behaviour.keep:
            self.messages.append(received)
        if not self._unacknowledged:
            asyncio.get_running_loop().call_soon(self._commit)
        self._unacknowledged.append((session, reply))
        if self._ledger is not None:
            self._lines += [
                f"{recipient}\t{received.message_id}\t{received.sender}\n".encode() for recipient in received.recipients
            ]

    def _commit(self) -> None:
        if self._ledger is not None and self._lines:
            os.write(self._ledger, b"".join(self._lines))
            os.fsync(self._ledger)
            self._lines.clear()
        unacknowledged, self._unacknowledged = self._unacknowledged, []
        for session, reply in unacknowledged:
            session.reply_to_dot(reply)


class Session(asyncio.Protocol):
    """The connection of one client."""

    def __init__(self, sink: Sink) -> None:
        self.sink = sink
        self.user: str | None = None
        self.encrypted = sink.behaviour.implicit
        self.client = ""
        self._transport: asyncio.Transport | None = None
        self._buffer = b""
        self._in_text = False
        self._chunk_octets: int | None = None
        """The size of the chunk that follows BDAT."""
        self._login_answers: list[str] | None = None
        self._message_count = 0
        self._dripping: asyncio.Task[None] | None = None
        self._unwritten_replies: list[bytes] | None = None
        self._stalled = False
        self._starting_tls = False
        self._start_transaction()

    def _start_transaction(self) -> None:
        self._sender: str | None = None
        self._parameters = ""
        self._recipients: list[str] = []

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        is_after_starttls = self._transport is not None
        self._transport = transport  # type: ignore[assignment]
        if is_after_starttls:
            return
        self.client = transport.get_extra_info("peername")[0]
        self.sink.connections += 1
        self.sink.open_sessions.add(self)
        self.sink.most_open_sessions = max(self.sink.most_open_sessions, len(self.sink.open_sessions))
        if self.sink.connections <= self.sink.behaviour.busy_connections:
            self._reply("BUSY", b"421 4.3.2 Too many connections, try again later")
            self._close_soon()
        else:
            self._reply("GREETING", b"220 sink.test ESMTP")

    def connection_lost(self, exc: Exception | None) -> None:
        self.sink.open_sessions.discard(self)
        if self._dripping:
            self._dripping.cancel()

    def reset(self) -> None:
        """Close the connection without a reply."""
        self._stalled = True
        if self._transport:
            self._transport.abort()

    def data_received(self, data: bytes) -> None:
        if self._stalled:
            return
        self._buffer += data
        if self._starting_tls:
            return
        self._unwritten_replies = []
        while self._buffer and not self._stalled and self._next():
            pass
        replies, self._unwritten_replies = self._unwritten_replies, None
        if replies:
            self._write(b"".join(replies))

    def _next(self) -> bool:
        """Process a command or a message if the buffer has all of it; returns whether there may be more."""
        if self._chunk_octets is not None:
            return self._chunk()
        return self._text() if self._in_text else self._command()

    # Commands.

    def _command(self) -> bool:
        line, newline, rest = self._buffer.partition(b"\n")
        if not newline:
            return False
        self._buffer = rest
        line = line.rstrip(b"\r")
        if self.sink.behaviour.keep:
            self.sink.commands.append(line.decode("utf-8", "replace"))
        if self._login_answers is not None:
            self._on_login_answer(line)
            return True
        verb = line[:4].upper().decode("ascii", "replace").strip()
        handler = getattr(self, f"_on_{verb.lower()}", None)
        if handler is None:
            self._reply(verb, b"500 5.5.1 Unknown command")
        else:
            handler(line)
        return not self._stalled

    def _on_ehlo(self, line: bytes) -> None:
        behaviour = self.sink.behaviour
        offers = [b"sink.test"]
        offers += [b"PIPELINING"] * behaviour.pipelining + [b"8BITMIME"] * behaviour.eightbit
        offers += [b"SMTPUTF8"] * behaviour.smtputf8 + [b"ENHANCEDSTATUSCODES"] * behaviour.enhanced
        offers += [b"CHUNKING"] * behaviour.chunking
        offers += [b"SIZE %d" % behaviour.size] if behaviour.size is not None else []
        offers += [b"STARTTLS"] if behaviour.tls and not self.encrypted else []
        offers += [b"REQUIRETLS"] if behaviour.require_tls and self.encrypted else []
        offers += [b"AUTH " + behaviour.mechanisms.encode()] if behaviour.users else []
        lines = [b"250-" + offer for offer in offers[:-1]] + [b"250 " + offers[-1]]
        self._reply("EHLO", b"\r\n".join(lines))

    def _on_helo(self, line: bytes) -> None:
        self._reply("HELO", b"250 sink.test")

    def _on_star(self, line: bytes) -> None:
        behaviour = self.sink.behaviour
        if not behaviour.tls or "STARTTLS" in behaviour.replies:
            self._reply("STARTTLS", b"502 5.5.1 No TLS here")
            return
        self._buffer = b""
        self._unwritten_replies = None
        self._write(b"220 2.0.0 Go ahead\r\n" + behaviour.inject_after_starttls)
        self._starting_tls = True
        self._tls = asyncio.ensure_future(self._start_tls(behaviour.tls))

    async def _start_tls(self, context: ssl.SSLContext) -> None:
        loop = asyncio.get_running_loop()
        try:
            transport = await loop.start_tls(self._transport, self, context, server_side=True)  # type: ignore[arg-type]
        except OSError:
            self.reset()
            return
        if transport is None:
            self.reset()
            return
        self.connection_made(transport)
        self.encrypted = True
        self._starting_tls = False
        self.data_received(b"")

    def _on_auth(self, line: bytes) -> None:
        mechanism, _, initial = line.decode()[5:].partition(" ")
        if mechanism.upper() == "PLAIN":
            _, user, password = base64.b64decode(initial).decode().split("\0")
            self._check_password(user, password)
        else:
            self._login_answers = []
            self._write(b"334 VXNlcm5hbWU6\r\n")

    def _on_login_answer(self, line: bytes) -> None:
        self._login_answers = [*(self._login_answers or []), base64.b64decode(line).decode()]
        if len(self._login_answers) < 2:
            self._write(b"334 UGFzc3dvcmQ6\r\n")
            return
        user, password = self._login_answers
        self._login_answers = None
        self._check_password(user, password)

    def _check_password(self, user: str, password: str) -> None:
        if self.sink.behaviour.users.get(user) == password:
            self.user = user
            self._reply("AUTH", b"235 2.7.0 Welcome")
        else:
            self._reply("AUTH", b"535 5.7.8 Wrong password")

    def _on_mail(self, line: bytes) -> None:
        behaviour = self.sink.behaviour
        if behaviour.users and self.user is None:
            self._reply("MAIL", b"530 5.7.0 Authenticate first")
            return
        path, _, parameters = line[10:].partition(b">")
        if behaviour.messages_per_connection and self._message_count >= behaviour.messages_per_connection:
            self._reply("LIMIT", b"421 4.7.0 Too many messages on this connection")
            self._close_soon()
        elif self._sender is not None:
            self._reply("NESTED", b"503 5.5.1 Nested MAIL command")
        elif self._reply("MAIL", b"250 2.1.0 Ok"):
            self._sender = path.lstrip(b"<").decode("utf-8", "replace")
            self._parameters = parameters.strip().decode("utf-8", "replace")

    def _on_rcpt(self, line: bytes) -> None:
        recipient = line[9:].rpartition(b">")[0]
        fixed_reply = next(
            (reply for prefix, reply in REPLIES_BY_RECIPIENT.items() if recipient.startswith(prefix)), None
        )
        if self._sender is None:
            self._reply("OUT_OF_ORDER", b"503 5.5.1 MAIL first")
        elif fixed_reply:
            self._reply("FIXED", fixed_reply)
        elif self.sink.behaviour.deferred_share and self.sink.chance.random() < self.sink.behaviour.deferred_share:
            self._reply("DEFERRED", b"451 4.3.0 Try again later")
        elif self.sink.behaviour.greylisting and recipient not in self.sink.seen_recipients:
            self.sink.seen_recipients.add(recipient)
            self._reply("GREYLISTED", b"450 4.7.1 Greylisted, try again in five minutes")
        elif self._reply("RCPT", b"250 2.1.5 Ok"):
            self._recipients.append(recipient.decode("utf-8", "replace"))

    def _on_data(self, line: bytes) -> None:
        if not self._recipients and not self.sink.behaviour.accept_data_without_recipients:
            self._reply("OUT_OF_ORDER", b"554 5.5.1 No valid recipients")
        elif self._reply("DATA", b"354 End data with <CR><LF>.<CR><LF>"):
            self._in_text = True
            if self.sink.behaviour.drop_at == "TEXT":
                self._close_soon()
            elif self.sink.behaviour.stop_reading_after_354 and self._transport:
                self._stalled = True
                self._transport.pause_reading()

    def _on_bdat(self, line: bytes) -> None:
        if not self.sink.behaviour.chunking or not line.endswith(b" LAST"):
            self._reply("BDAT", b"500 5.5.1 Unknown command")
            return
        self._chunk_octets = int(line.split()[1])

    def _on_rset(self, line: bytes) -> None:
        self._start_transaction()
        self._reply("RSET", b"250 2.0.0 Ok")

    def _on_noop(self, line: bytes) -> None:
        self._reply("NOOP", b"250 2.0.0 Ok")

    def _on_quit(self, line: bytes) -> None:
        asyncio.get_running_loop().call_later(self.sink.behaviour.slow_quit_seconds, self._quit)

    def _quit(self) -> None:
        self._reply("QUIT", b"221 2.0.0 Bye")
        self._close_soon()

    # Messages.

    def _text(self) -> bool:
        behaviour = self.sink.behaviour
        if self._buffer.startswith(b".\r\n"):
            text, self._buffer = b"", self._buffer[3:]
        elif behaviour.accept_bare_line_ends:
            end = END_WITH_BARE_LINE_ENDS.search(self._buffer)
            if not end:
                return False
            text, self._buffer = self._buffer[: end.start()] + b"\r\n", self._buffer[end.end() :]
        else:
            at = self._buffer.find(b"\r\n.\r\n")
            if at < 0:
                return False
            text, self._buffer = self._buffer[: at + 2], self._buffer[at + 5 :]
        if b"\r\n." in text or text.startswith(b"."):
            text = re.sub(rb"(?m)^\.", b"", text) if text.startswith(b".") else text.replace(b"\r\n.", b"\r\n")
        self._in_text = False
        self._finish(text)
        return not self._stalled

    def _chunk(self) -> bool:
        size = self._chunk_octets or 0
        if len(self._buffer) < size:
            return False
        text, self._buffer = self._buffer[:size], self._buffer[size:]
        self._chunk_octets = None
        self._finish(text)
        return not self._stalled

    def _finish(self, text: bytes) -> None:
        behaviour = self.sink.behaviour
        sender, parameters, recipients = self._sender, self._parameters, tuple(self._recipients)
        self._start_transaction()
        self._message_count += 1
        if not recipients or "DOT" in behaviour.replies or behaviour.drop_at == "DOT":
            self._reply("DOT", b"554 5.5.1 No valid recipients")
            return
        match = MESSAGE_ID.search(text)
        message_id = match[1].decode("utf-8", "replace") if match else ""
        reply = b"250 2.0.0 Ok: queued as %d" % self.sink.accepted
        self.sink.record(
            self,
            Received(sender or "", parameters, recipients, text, message_id, self.encrypted, self.user, self.client),
            reply,
        )

    def reply_to_dot(self, reply: bytes) -> None:
        """Reply to the final dot of a recorded message, unless `drop_after_dot` applies."""
        behaviour = self.sink.behaviour
        if behaviour.drop_after_dot and self.sink.chance.random() < behaviour.drop_after_dot:
            self.reset()
        elif behaviour.slow_seconds:
            asyncio.get_running_loop().call_later(behaviour.slow_seconds, self._reply, "DOT", reply)
        else:
            self._reply("DOT", reply)

    # Replies.

    def _reply(self, verb: str, usual: bytes) -> bool:
        """Send the reply `usual` unless the behaviour has another for `verb`; returns whether `usual` was sent."""
        behaviour = self.sink.behaviour
        if behaviour.drop_at == verb:
            self.reset()
            return False
        if behaviour.stall_at == verb:
            self._stalled = True
            return False
        reply = behaviour.replies.get(verb)
        self._write((reply or usual) + b"\r\n")
        if reply and reply.startswith(b"421"):
            self._close_soon()
        return reply is None

    def _write(self, data: bytes) -> None:
        behaviour = self.sink.behaviour
        if self._unwritten_replies is not None:
            self._unwritten_replies.append(data)
        elif behaviour.drip_seconds:
            previous = self._dripping
            self._dripping = asyncio.ensure_future(self._drip(data, previous))
        elif self._transport and not self._transport.is_closing():
            self._transport.write(data)

    async def _drip(self, data: bytes, previous: "asyncio.Task[None] | None") -> None:
        if previous:
            await previous
        for at in range(len(data)):
            if not self._transport or self._transport.is_closing():
                return
            self._transport.write(data[at : at + 1])
            await asyncio.sleep(self.sink.behaviour.drip_seconds)

    def _close_soon(self) -> None:
        self._stalled = True
        asyncio.get_running_loop().call_soon(self._close)

    def _close(self) -> None:
        if self._transport:
            self._transport.close()


@functools.cache
def certificate(name: str = "localhost") -> tuple[Path, Path]:
    """The files of a self-signed certificate for `name` and of its key. They are deleted when the process ends."""
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
    now = datetime.now(UTC)
    self_signed = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=30))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    folder = Path(_folder().name)
    certificate_file, key_file = folder / f"{name}.pem", folder / f"{name}.key"
    certificate_file.write_bytes(self_signed.public_bytes(serialization.Encoding.PEM))
    key_file.write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )
    return certificate_file, key_file


@functools.cache
def _folder() -> "tempfile.TemporaryDirectory[str]":
    return tempfile.TemporaryDirectory(prefix="sink-")


def server_context(name: str = "localhost") -> ssl.SSLContext:
    """The TLS context of a sink, with the self-signed certificate for `name`."""
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(*certificate(name))
    return context


def client_context(name: str = "localhost") -> ssl.SSLContext:
    """The TLS context of a client that trusts only the certificate of `server_context(name)`."""
    return ssl.create_default_context(cafile=str(certificate(name)[0]))


def main() -> None:
    """Run a sink until the process is killed, and print the port as soon as the sink listens."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--ledger", type=Path)
    parser.add_argument("--deferred-share", type=float, default=0.0, help="share of recipients that get 451")
    parser.add_argument("--drop-after-dot", type=float, default=0.0, help="share of messages recorded without a reply")
    parser.add_argument("--slow", type=float, default=0.0, help="delay of the reply to the final dot in seconds")
    parser.add_argument("--stall-at", default="", help="a verb, GREETING or DOT that never gets a reply")
    parser.add_argument("--no-pipelining", action="store_true")
    parser.add_argument("--no-smtputf8", action="store_true")
    parser.add_argument("--starttls", action="store_true", help="with a certificate created at the start")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    behaviour = Behaviour(
        pipelining=not options.no_pipelining,
        smtputf8=not options.no_smtputf8,
        deferred_share=options.deferred_share,
        drop_after_dot=options.drop_after_dot,
        slow_seconds=options.slow,
        stall_at=options.stall_at,
        tls=server_context() if options.starttls else None,
        keep=False,
    )

    async def serve() -> None:
        sink = Sink(behaviour, ledger=options.ledger, port=options.port, chance=random.Random(options.seed))
        async with sink:
            print(sink.port, flush=True)
            await asyncio.Event().wait()

    import uvloop

    uvloop.run(serve())


if __name__ == "__main__":
    main()
