"""An SMTP server for tests: it records what reaches it, and misbehaves exactly as told.

In a test:      `async with Sink() as sink: …  sink.messages`
As a process:   `python -m tests.peers.smtp_sink --port 2525 --ledger /tmp/ledger`

The ledger has one line `recipient<TAB>Message-ID<TAB>sender` per recipient, on disk (fsync) *before* the final dot is
answered: it is the oracle of what was delivered, whatever is killed whenever.

Recipients whose local part begins with one of FATES get that reply, on every sink.
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

FATES = {
    b"tempfail": b"451 4.2.0 Mailbox busy, try again later",
    b"permfail": b"550 5.1.1 No such user here",
    b"full": b"452 4.2.2 Mailbox full",
    b"greylist": b"450 4.7.1 Greylisted, come back in five minutes",
    b"blocked": b"554 5.7.1 Service unavailable; Client host [192.0.2.1] blocked using zen.spamhaus.org",
    b"many": b"552 Too many recipients",
}
MESSAGE_ID = re.compile(rb"^Message-ID:[ \t]*(?:\r\n[ \t]+)?(\S+)", re.IGNORECASE | re.MULTILINE)
END, SLOPPY_END = re.compile(rb"\r\n\.\r\n"), re.compile(rb"(?:\r\n|\n|\r)\.(?:\r\n|\n|\r)")


@dataclass
class Behaviour:
    """What a sink offers, and where it goes wrong. May be changed while it runs."""

    pipelining: bool = True
    smtputf8: bool = True
    eightbit: bool = True
    enhanced: bool = True
    size: int | None = 50_000_000
    tls: ssl.SSLContext | None = None
    """Offered by STARTTLS, or used from the first octet with `implicit`."""
    implicit: bool = False
    inject_after_starttls: bytes = b""
    """What an attacker adds in the clear behind the reply to STARTTLS."""
    users: dict[str, str] = field(default_factory=dict)
    mechanisms: str = "PLAIN LOGIN"
    sloppy: bool = False
    """Take a dot between lone CRs or LFs for the end of the message, as servers open to smuggling do."""
    replies: dict[str, bytes] = field(default_factory=dict)
    """Instead of the good answer: by verb, or `GREETING`, `DOT` (the message is then not recorded)."""
    storm: float = 0.0
    """Which share of recipients gets 451."""
    drop_after_dot: float = 0.0
    """Which share of messages is recorded and never answered: the connection is reset instead."""
    drop_at: str = ""
    """The connection is reset instead of answering this verb (or `GREETING`, `TEXT`, `DOT`)."""
    stall_at: str = ""
    """This verb (or `GREETING`, `DOT`) is never answered."""
    drip_seconds: float = 0.0
    """Replies leave octet by octet with this pause between them."""
    slow_seconds: float = 0.0
    """The dot is answered so much later."""
    deaf: bool = False
    """After 354, nothing more is read."""
    messages_per_connection: int = 0
    """Then `421`, and the connection is closed."""
    open_ear: bool = False
    """DATA gets 354 even when nobody was accepted (RFC 2920 §3.1)."""
    keep: bool = True
    """Whether messages stay in memory."""


@dataclass(frozen=True)
class Received:
    """One message as it came."""

    sender: str
    parameters: str
    recipients: tuple[str, ...]
    raw: bytes
    """Headers and body, dots unstuffed, without the final dot."""
    message_id: str
    encrypted: bool
    user: str | None


class Sink:
    """A listening sink."""

    def __init__(
        self,
        behaviour: Behaviour | None = None,
        *,
        ledger: Path | None = None,
        chance: random.Random | None = None,
        port: int = 0,
        at: socket.socket | None = None,
    ) -> None:
        self.behaviour = behaviour or Behaviour()
        self.messages: list[Received] = []
        self.accepted = 0
        self.connections = 0
        """How many were ever made."""
        self.present: set[Session] = set()
        self.most_present = 0
        self.commands: list[str] = []
        """Every command line, in order (passwords too), unless `behaviour.keep` is off."""
        self.port = port
        self._at = at
        self.chance = chance or random.Random(0)
        self._ledger = os.open(ledger, os.O_WRONLY | os.O_CREAT | os.O_APPEND) if ledger else None
        self._lines: list[bytes] = []
        self._due: list[tuple[Session, bytes]] = []

    async def __aenter__(self) -> "Sink":
        loop = asyncio.get_running_loop()
        self._server = await loop.create_server(
            lambda: Session(self),
            None if self._at else "127.0.0.1",
            None if self._at else self.port,
            sock=self._at,
            ssl=self.behaviour.tls if self.behaviour.implicit else None,
            backlog=512,
        )
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        self._server.close()
        for session in list(self.present):
            session.reset()
        await asyncio.sleep(0)
        if self._ledger is not None:
            os.close(self._ledger)
            self._ledger = None

    def record(self, session: "Session", received: Received, reply: bytes) -> None:
        """Keep a message; it is answered when the ledger is on disk, all of one turn of the loop together."""
        self.accepted += 1
        if self.behaviour.keep:
            self.messages.append(received)
        if not self._due:
            asyncio.get_running_loop().call_soon(self._commit)
        self._due.append((session, reply))
        if self._ledger is not None:
            self._lines += [
                f"{recipient}\t{received.message_id}\t{received.sender}\n".encode() for recipient in received.recipients
            ]

    def _commit(self) -> None:
        if self._ledger is not None and self._lines:
            os.write(self._ledger, b"".join(self._lines))
            os.fsync(self._ledger)
            self._lines.clear()
        due, self._due = self._due, []
        for session, reply in due:
            session.answer_dot(reply)


class Session(asyncio.Protocol):
    """One client."""

    def __init__(self, sink: Sink) -> None:
        self.sink = sink
        self.user: str | None = None
        self.encrypted = sink.behaviour.implicit
        self._transport: asyncio.Transport | None = None
        self._buffer = b""
        self._in_text = False
        self._secrets: list[str] | None = None
        self._count = 0
        self._dripping: asyncio.Task[None] | None = None
        self._held: list[bytes] | None = None
        self._stalled = False
        self._swapping = False
        self._forget()

    def _forget(self) -> None:
        self._sender: str | None = None
        self._parameters = ""
        self._recipients: list[str] = []

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        again = self._transport is not None
        self._transport = transport  # type: ignore[assignment]
        if again:
            return
        self.sink.connections += 1
        self.sink.present.add(self)
        self.sink.most_present = max(self.sink.most_present, len(self.sink.present))
        self._reply("GREETING", b"220 sink.test ESMTP")

    def connection_lost(self, exc: Exception | None) -> None:
        self.sink.present.discard(self)
        if self._dripping:
            self._dripping.cancel()

    def reset(self) -> None:
        """Cut the line without a word."""
        self._stalled = True
        if self._transport:
            self._transport.abort()

    def data_received(self, data: bytes) -> None:
        if self._stalled:
            return
        self._buffer += data
        if self._swapping:
            return
        self._held = []
        while self._buffer and not self._stalled and (self._text() if self._in_text else self._command()):
            pass
        held, self._held = self._held, None
        if held:
            self._write(b"".join(held))

    # Commands.

    def _command(self) -> bool:
        line, newline, rest = self._buffer.partition(b"\n")
        if not newline:
            return False
        self._buffer = rest
        line = line.rstrip(b"\r")
        if self.sink.behaviour.keep:
            self.sink.commands.append(line.decode("utf-8", "replace"))
        if self._secrets is not None:
            self._secret(line)
            return True
        verb = line[:4].upper().decode("ascii", "replace").strip()
        act = getattr(self, f"_on_{verb.lower()}", None)
        if act is None:
            self._reply(verb, b"500 5.5.1 Unknown command")
        else:
            act(line)
        return not self._stalled

    def _on_ehlo(self, line: bytes) -> None:
        told = self.sink.behaviour
        offers = [b"sink.test"]
        offers += [b"PIPELINING"] * told.pipelining + [b"8BITMIME"] * told.eightbit
        offers += [b"SMTPUTF8"] * told.smtputf8 + [b"ENHANCEDSTATUSCODES"] * told.enhanced
        offers += [b"SIZE %d" % told.size] if told.size is not None else []
        offers += [b"STARTTLS"] if told.tls and not self.encrypted else []
        offers += [b"AUTH " + told.mechanisms.encode()] if told.users else []
        lines = [b"250-" + offer for offer in offers[:-1]] + [b"250 " + offers[-1]]
        self._reply("EHLO", b"\r\n".join(lines))

    def _on_helo(self, line: bytes) -> None:
        self._reply("HELO", b"250 sink.test")

    def _on_star(self, line: bytes) -> None:
        told = self.sink.behaviour
        if not told.tls or "STARTTLS" in told.replies:
            self._reply("STARTTLS", b"502 5.5.1 No TLS here")
            return
        self._buffer = b""
        self._held = None
        self._write(b"220 2.0.0 Go ahead\r\n" + told.inject_after_starttls)
        self._swapping = True
        self._tls = asyncio.ensure_future(self._start_tls(told.tls))

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
        self._swapping = False
        self.data_received(b"")

    def _on_auth(self, line: bytes) -> None:
        mechanism, _, initial = line.decode()[5:].partition(" ")
        if mechanism.upper() == "PLAIN":
            _, user, password = base64.b64decode(initial).decode().split("\0")
            self._admit(user, password)
        else:
            self._secrets = []
            self._write(b"334 VXNlcm5hbWU6\r\n")

    def _secret(self, line: bytes) -> None:
        self._secrets = [*(self._secrets or []), base64.b64decode(line).decode()]
        if len(self._secrets) < 2:
            self._write(b"334 UGFzc3dvcmQ6\r\n")
            return
        user, password = self._secrets
        self._secrets = None
        self._admit(user, password)

    def _admit(self, user: str, password: str) -> None:
        if self.sink.behaviour.users.get(user) == password:
            self.user = user
            self._reply("AUTH", b"235 2.7.0 Welcome")
        else:
            self._reply("AUTH", b"535 5.7.8 Wrong password")

    def _on_mail(self, line: bytes) -> None:
        told = self.sink.behaviour
        if told.users and self.user is None:
            self._reply("MAIL", b"530 5.7.0 Authenticate first")
            return
        path, _, parameters = line[10:].partition(b">")
        if told.messages_per_connection and self._count >= told.messages_per_connection:
            self._reply("LIMIT", b"421 4.7.0 Too many messages on this connection")
            self._close_soon()
        elif self._sender is not None:
            self._reply("NESTED", b"503 5.5.1 Nested MAIL command")
        elif self._reply("MAIL", b"250 2.1.0 Ok"):
            self._sender = path.lstrip(b"<").decode("utf-8", "replace")
            self._parameters = parameters.strip().decode("utf-8", "replace")

    def _on_rcpt(self, line: bytes) -> None:
        recipient = line[9:].rpartition(b">")[0]
        fate = next((reply for local, reply in FATES.items() if recipient.startswith(local)), None)
        if self._sender is None:
            self._reply("UNASKED", b"503 5.5.1 MAIL first")
        elif fate:
            self._reply("FATE", fate)
        elif self.sink.behaviour.storm and self.sink.chance.random() < self.sink.behaviour.storm:
            self._reply("STORM", b"451 4.3.0 Try again later")
        elif self._reply("RCPT", b"250 2.1.5 Ok"):
            self._recipients.append(recipient.decode("utf-8", "replace"))

    def _on_data(self, line: bytes) -> None:
        if not self._recipients and not self.sink.behaviour.open_ear:
            self._reply("UNASKED", b"554 5.5.1 No valid recipients")
        elif self._reply("DATA", b"354 End data with <CR><LF>.<CR><LF>"):
            self._in_text = True
            if self.sink.behaviour.drop_at == "TEXT":
                self._close_soon()
            elif self.sink.behaviour.deaf and self._transport:
                self._stalled = True
                self._transport.pause_reading()

    def _on_rset(self, line: bytes) -> None:
        self._forget()
        self._reply("RSET", b"250 2.0.0 Ok")

    def _on_noop(self, line: bytes) -> None:
        self._reply("NOOP", b"250 2.0.0 Ok")

    def _on_quit(self, line: bytes) -> None:
        self._reply("QUIT", b"221 2.0.0 Bye")
        self._close_soon()

    # Messages.

    def _text(self) -> bool:
        told = self.sink.behaviour
        if self._buffer.startswith(b".\r\n"):
            text, self._buffer = b"", self._buffer[3:]
        elif told.sloppy:
            found = SLOPPY_END.search(self._buffer)
            if not found:
                return False
            text, self._buffer = self._buffer[: found.start()] + b"\r\n", self._buffer[found.end() :]
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

    def _finish(self, text: bytes) -> None:
        told = self.sink.behaviour
        sender, parameters, recipients = self._sender, self._parameters, tuple(self._recipients)
        self._forget()
        self._count += 1
        if not recipients or "DOT" in told.replies or told.drop_at == "DOT":
            self._reply("DOT", b"554 5.5.1 No valid recipients")
            return
        found = MESSAGE_ID.search(text)
        message_id = found[1].decode("utf-8", "replace") if found else ""
        reply = b"250 2.0.0 Ok: queued as %d" % self.sink.accepted
        self.sink.record(
            self,
            Received(sender or "", parameters, recipients, text, message_id, self.encrypted, self.user),
            reply,
        )

    def answer_dot(self, reply: bytes) -> None:
        """The message is safe: say so, or fail to."""
        told = self.sink.behaviour
        if told.drop_after_dot and self.sink.chance.random() < told.drop_after_dot:
            self.reset()
        elif told.slow_seconds:
            asyncio.get_running_loop().call_later(told.slow_seconds, self._reply, "DOT", reply)
        else:
            self._reply("DOT", reply)

    # Replies.

    def _reply(self, verb: str, good: bytes) -> bool:
        """Answer `good` unless told otherwise; whether it was answered so."""
        told = self.sink.behaviour
        if told.drop_at == verb:
            self.reset()
            return False
        if told.stall_at == verb:
            self._stalled = True
            return False
        reply = told.replies.get(verb)
        self._write((reply or good) + b"\r\n")
        if reply and reply.startswith(b"421"):
            self._close_soon()
        return reply is None

    def _write(self, data: bytes) -> None:
        told = self.sink.behaviour
        if self._held is not None:
            self._held.append(data)
        elif told.drip_seconds:
            before = self._dripping
            self._dripping = asyncio.ensure_future(self._drip(data, before))
        elif self._transport and not self._transport.is_closing():
            self._transport.write(data)

    async def _drip(self, data: bytes, before: "asyncio.Task[None] | None") -> None:
        if before:
            await before
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
    """A certificate of its own authority for `name`, and its key, as files that last as long as the process."""
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
    now = datetime.now(UTC)
    made = (
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
    public, private = folder / f"{name}.pem", folder / f"{name}.key"
    public.write_bytes(made.public_bytes(serialization.Encoding.PEM))
    private.write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )
    return public, private


@functools.cache
def _folder() -> "tempfile.TemporaryDirectory[str]":
    return tempfile.TemporaryDirectory(prefix="sink-")


def server_context(name: str = "localhost") -> ssl.SSLContext:
    """What a sink shows to those who want TLS."""
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(*certificate(name))
    return context


def client_context(name: str = "localhost") -> ssl.SSLContext:
    """What trusts that sink, and nobody else."""
    return ssl.create_default_context(cafile=str(certificate(name)[0]))


def main() -> None:
    """Run as a process of its own until it is killed; the port is printed once it listens."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--ledger", type=Path)
    parser.add_argument("--storm", type=float, default=0.0, help="share of recipients that get 451")
    parser.add_argument("--drop-after-dot", type=float, default=0.0, help="share recorded and not answered")
    parser.add_argument("--slow", type=float, default=0.0, help="seconds before the dot is answered")
    parser.add_argument("--stall-at", default="", help="a verb, GREETING or DOT that is never answered")
    parser.add_argument("--no-pipelining", action="store_true")
    parser.add_argument("--no-smtputf8", action="store_true")
    parser.add_argument("--starttls", action="store_true", help="with a certificate made at start")
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    behaviour = Behaviour(
        pipelining=not asked.no_pipelining,
        smtputf8=not asked.no_smtputf8,
        storm=asked.storm,
        drop_after_dot=asked.drop_after_dot,
        slow_seconds=asked.slow,
        stall_at=asked.stall_at,
        tls=server_context() if asked.starttls else None,
        keep=False,
    )

    async def serve() -> None:
        sink = Sink(behaviour, ledger=asked.ledger, port=asked.port, chance=random.Random(asked.seed))
        async with sink:
            print(sink.port, flush=True)
            await asyncio.Event().wait()

    import uvloop

    uvloop.run(serve())


if __name__ == "__main__":
    main()
