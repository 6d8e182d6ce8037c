"""The SMTP client (RFC 5321): one connection, many messages.

It speaks asyncio's protocol interface instead of streams: the commands of a message leave in one write
(PIPELINING, RFC 2920), its text and the final dot in another, and two wake-ups of the caller's task
are all that a message costs.
"""

import asyncio
import base64
import functools
import re
import ssl
from datetime import timedelta
from enum import StrEnum
from ipaddress import ip_address
from typing import cast

import idna
import msgspec

from postern.protocols.mail.transports.transport import (
    LONGEST_DIALOGUE,
    NO_TIME,
    Accepted,
    BeforeDot,
    Deferred,
    DeliveryOutcome,
    Envelope,
    Rejected,
    Result,
    postpone,
    refuse,
    unfit,
)

LONGEST_LINE = 2_048
"""Octets of one reply line. RFC 5321 §4.5.3.1.5 says 512; real servers need a little more."""
MOST_LINES = 100
"""Lines of one reply."""
LONGEST_ADDRESS = 320
"""Octets of one address: 64 of local part, `@`, 255 of domain (RFC 5321 §4.5.3.1)."""

_ENHANCED = re.compile(r"([245]\.\d{1,3}\.\d{1,3})(?:[ \t]|$)")
_ADDRESS = re.compile(
    r'(?:"(?:[^"\\\x00-\x1f\x7f-\x9f]|\\[\x20-\x7e])*"|[^\s<>"\\@,;:\x00-\x1f\x7f-\x9f]+)'
    r"@[^\s<>\"\\@\x00-\x1f\x7f-\x9f]+"
)


class SmtpSyntaxError(Exception):
    """What the peer says is no SMTP."""


class SmtpReply(msgspec.Struct, frozen=True, gc=False):
    """One reply: its code, its enhanced code where it has one, its lines without either."""

    code: int
    enhanced: str
    text: str

    @property
    def good(self) -> bool:
        """Whether it is a 2xx."""
        return 200 <= self.code < 300


class ReplyReader:
    """Cuts what arrives into replies, in memory that the peer cannot make grow."""

    def __init__(self) -> None:
        self._torn = b""
        self._lines: list[bytes] = []

    def feed(self, data: bytes) -> list[SmtpReply]:
        """The replies that `data` completes. Raises SmtpSyntaxError where it cannot be SMTP."""
        *lines, self._torn = (self._torn + data).split(b"\n")
        if len(self._torn) > LONGEST_LINE:
            raise SmtpSyntaxError(f"A reply line of more than {LONGEST_LINE} octets.")
        return [reply for line in lines if (reply := self._add(line))]

    def _add(self, line: bytes) -> SmtpReply | None:
        line = line.removesuffix(b"\r")
        code, separator = line[:3], line[3:4]
        if len(line) > LONGEST_LINE or not code.isdigit() or not b"200" <= code <= b"599":
            raise SmtpSyntaxError(f"No reply line: {line[:80].decode('ascii', 'backslashreplace')}")
        if separator not in (b" ", b"-", b"") or (self._lines and self._lines[0][:3] != code):
            raise SmtpSyntaxError(f"A torn reply: {line[:80].decode('ascii', 'backslashreplace')}")
        self._lines.append(line)
        if len(self._lines) > MOST_LINES:
            raise SmtpSyntaxError(f"A reply of more than {MOST_LINES} lines.")
        if separator == b"-":
            return None
        lines, self._lines = self._lines, []
        return _reply(lines)


def _reply(lines: list[bytes]) -> SmtpReply:
    """RFC 2034 §4: every line of a reply repeats the enhanced code, and its class is the code's."""
    code = int(lines[0][:3])
    texts = [line[4:].decode("utf-8", "replace") for line in lines]
    found = _ENHANCED.match(texts[-1])
    if not found or found[1][0] != str(code)[0]:
        return SmtpReply(code, "", "\n".join(texts))
    enhanced = found[1]
    return SmtpReply(code, enhanced, "\n".join(text.removeprefix(enhanced).lstrip() for text in texts))


def spelled(address: str, *, smtputf8: bool) -> bytes | None:
    """An address as it stands between `<` and `>`, or None where that takes SMTPUTF8 and there is none.

    A domain is written in ASCII when the local part is ASCII (RFC 5891 §4.4), so that any server takes it.
    Raises ValueError for what is no address at all.
    """
    if len(address) > LONGEST_ADDRESS or not _ADDRESS.fullmatch(address):
        raise ValueError(address)
    if address.isascii():
        return address.encode("ascii")
    local, _, domain = address.rpartition("@")
    if local.isascii():
        return local.encode("ascii") + b"@" + idna.encode(domain, uts46=True)
    return address.encode("utf-8") if smtputf8 else None


def dot_stuffed(message: bytes) -> bytes:
    """A message as it follows DATA, without the final dot (RFC 5321 §4.5.2)."""
    if message.startswith(b"."):
        message = b"." + message
    if b"\r\n." in message:
        message = message.replace(b"\r\n.", b"\r\n..")
    return message if message.endswith(b"\r\n") else message + b"\r\n"


NO_SMTPUTF8 = SmtpReply(553, "5.6.7", "The next hop does not take addresses outside ASCII.")
NO_ADDRESS = SmtpReply(553, "5.1.3", "That is no e-mail address.")


class Tls(StrEnum):
    """How a connection is encrypted."""

    NONE = "none"
    STARTTLS = "starttls"
    """Where the peer offers it (RFC 3207)."""
    STARTTLS_REQUIRED = "starttls-required"
    IMPLICIT = "implicit"
    """From the first octet (RFC 8314)."""


class Timeouts(msgspec.Struct, frozen=True, kw_only=True):
    """How long each phase may take; the figures are those of RFC 5321 §4.5.3.2."""

    connect: timedelta = timedelta(seconds=30)
    greeting: timedelta = timedelta(minutes=5)
    command: timedelta = timedelta(minutes=5)
    """For each reply to EHLO, AUTH, MAIL, RCPT, RSET."""
    group: timedelta = timedelta(minutes=15)
    """For all replies to one pipelined group together, however steadily they drip."""
    block: timedelta = timedelta(minutes=3)
    """Without the peer taking a single octet of the message."""
    dot: timedelta = timedelta(minutes=10)
    """For the reply to the final dot: giving up earlier breeds duplicates (RFC 1047)."""
    goodbye: timedelta = timedelta(seconds=2)


class Peer(msgspec.Struct, frozen=True, kw_only=True):
    """A server, and how to talk to it."""

    host: str
    """Its name: certificates are checked against it."""
    port: int = 25
    address: str | None = None
    """The IP address, where it has been looked up already."""
    source: str | None = None
    """The local IP address to speak from."""
    hello: str = "localhost"
    """Our own name."""
    tls: Tls = Tls.STARTTLS
    verify: bool = True
    """Whether the certificate must be right."""
    context: ssl.SSLContext | None = None
    """Instead of the system's authorities (MTA-STS, DANE, a private authority)."""
    user: str | None = None
    password: str = ""
    patience: Timeouts = Timeouts()

    @property
    def label(self) -> str:
        """`host:port`."""
        return f"{self.host}:{self.port}"


class ConnectionFailed(Exception):
    """The connection is of no use: why, with the peer's reply where it gave one, and what was said before."""

    def __init__(self, text: str, reply: SmtpReply | None = None, enhanced: str = "4.4.2") -> None:
        super().__init__(text)
        self.text = text
        self.reply = reply
        self.enhanced = enhanced
        self.opening: tuple[tuple[str, bytes], ...] = ()


class Unreachable(ConnectionFailed):
    """Nobody answers there."""


class ConnectionDropped(ConnectionFailed):
    """The peer went away or was silent for too long."""


class PeerTimeout(ConnectionDropped):
    """The peer did not answer, or took nothing, for longer than patience lasts."""


class StaleConnection(ConnectionDropped):
    """A reused connection died before the peer reacted to anything: try a new one."""


class GreetingRefused(ConnectionFailed):
    """The peer greets with a refusal."""


class TlsRequired(ConnectionFailed):
    """No encryption as it was asked for."""


class AuthenticationFailed(ConnectionFailed):
    """The peer does not take the user and password."""


@functools.cache
def checked_context() -> ssl.SSLContext:
    """The system's authorities; loading them takes 20 ms, so it is done once."""
    return ssl.create_default_context()


@functools.cache
def unchecked_context() -> ssl.SSLContext:
    """Opportunistic encryption (RFC 7435): any certificate is better than none."""
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context


async def connect(peer: Peer) -> "SmtpConnection":
    """A connection that is greeted, encrypted and authenticated as the peer demands. Raises Trouble."""
    connection = await _dial(peer)
    try:
        await connection.greet()
    except ConnectionFailed as trouble:
        trouble.opening = connection.said
        connection.abort()
        raise
    except BaseException:
        connection.abort()
        raise
    return connection


async def _dial(peer: Peer) -> "SmtpConnection":
    loop = asyncio.get_running_loop()
    implicit = peer.tls is Tls.IMPLICIT
    try:
        async with asyncio.timeout(peer.patience.connect.total_seconds()):
            _, connection = await loop.create_connection(
                lambda: SmtpConnection(peer, loop),
                peer.address or peer.host,
                peer.port,
                ssl=_context(peer) if implicit else None,
                server_hostname=peer.host if implicit else None,
                local_addr=(peer.source, 0) if peer.source else None,
            )
    except TimeoutError:
        raise Unreachable(f"{peer.label} does not answer.", enhanced="4.4.1") from None
    except ssl.SSLError as error:
        raise TlsRequired(f"TLS with {peer.label}: {error}", enhanced="4.7.5") from None
    except (OSError, UnicodeError) as error:
        raise Unreachable(f"{peer.label}: {error}", enhanced="4.4.1") from None
    return connection


def _context(peer: Peer) -> ssl.SSLContext:
    return peer.context or (checked_context() if peer.verify else unchecked_context())


class SmtpConnection(asyncio.Protocol):
    """One SMTP connection: `connect` opens it, `send` takes one message at a time, `quit` ends it."""

    def __init__(self, peer: Peer, loop: asyncio.AbstractEventLoop) -> None:
        self.peer = peer
        self.messages = 0
        """Messages that this connection has begun."""
        self.idle_since = loop.time()
        self.encrypted = False
        self.features: dict[str, str] = {}
        self._loop = loop
        self._transport: asyncio.Transport | None = None
        self._reader = ReplyReader()
        self._replies: list[SmtpReply] = []
        self._wanted = 0
        self._waiter: asyncio.Future[None] | None = None
        self._busy = True
        self._trouble: ConnectionFailed | None = None
        self._leaving = False
        self._needs_reset = False
        self._opening: tuple[tuple[str, bytes], ...] = ()
        self._exchange: list[tuple[str, bytes]] = []
        self._heard = 0
        self._timer: asyncio.TimerHandle | None = None
        self._deadline = 0.0
        self._pace = 0.0
        self._latest = 0.0
        self._unsent = False
        self._backlog = 0
        self._moved = 0.0
        self._command = peer.patience.command.total_seconds()
        self._group = peer.patience.group.total_seconds()
        self._dot = peer.patience.dot.total_seconds()
        self._block = peer.patience.block.total_seconds()
        self._pipelining = self._smtputf8 = self._eightbit = self._sized = False
        self._most = 0

    # What the event loop tells us.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Take the transport; with no buffer of its own it tells us whether the last octet has left."""
        self._transport = cast("asyncio.Transport", transport)
        self._transport.set_write_buffer_limits(high=0)

    def data_received(self, data: bytes) -> None:
        """Collect replies, and wake whoever waits once there are as many as wanted."""
        if self._heard < LONGEST_DIALOGUE:
            self._exchange.append(("S", data))
            self._heard += len(data)
        try:
            replies = self._reader.feed(data)
        except SmtpSyntaxError as nonsense:
            self._fail(ConnectionDropped(str(nonsense), enhanced="4.5.0"))
            return
        if not replies:
            return
        self._replies += replies
        self._leaving = self._leaving or replies[-1].code == 421
        if not self._busy:
            self._fail(ConnectionDropped(f"The peer spoke unasked: {replies[-1].text[:200]}", replies[-1]))
        elif self._waiter and (self._leaving or len(self._replies) >= self._wanted):
            self._wake()
        else:
            self._deadline = min(self._loop.time() + self._pace, self._latest)

    def pause_writing(self) -> None:
        """The peer takes no more for the moment."""
        self._unsent = True
        self._backlog = self._left()
        self._moved = self._loop.time()

    def resume_writing(self) -> None:
        """Everything written is with the operating system: from now the peer has its time to reply."""
        self._unsent = False
        self._deadline = min(self._loop.time() + self._pace, self._latest)

    def connection_lost(self, exc: Exception | None) -> None:
        """Tell whoever waits."""
        self._fail(ConnectionDropped(f"{self.peer.label} closed the connection{f': {exc}' if exc else ''}."))

    # The opening.

    async def greet(self) -> None:
        """Greeting, EHLO, STARTTLS, AUTH. Raises Trouble."""
        peer = self.peer
        self.encrypted = peer.tls is Tls.IMPLICIT
        greeting = (await self._await(1, peer.patience.greeting.total_seconds()))[0]
        if greeting.code != 220:
            raise GreetingRefused(f"{peer.label} greets with {greeting.code} {greeting.text[:500]}", greeting)
        await self._hello()
        if peer.tls in {Tls.STARTTLS, Tls.STARTTLS_REQUIRED}:
            await self._encrypt()
        if peer.user is not None:
            await self._authenticate(peer.user, peer.password)
        self._opening = self.said
        self._rest()

    async def _hello(self) -> None:
        reply = await self._ask(f"EHLO {greeting_name(self.peer.hello)}")
        lines = reply.text.split("\n")[1:] if reply.good else []
        if not reply.good:
            reply = await self._ask(f"HELO {greeting_name(self.peer.hello)}")
        if not reply.good:
            raise GreetingRefused(f"{self.peer.label} refuses EHLO: {reply.code} {reply.text[:500]}", reply)
        # Old servers spell it `AUTH=PLAIN LOGIN`.
        pairs = [line.strip().replace("AUTH=", "AUTH ", 1).partition(" ") for line in lines]
        self.features = {name.upper(): values.strip() for name, _, values in pairs}
        self._pipelining = "PIPELINING" in self.features
        self._smtputf8 = "SMTPUTF8" in self.features and "8BITMIME" in self.features
        self._eightbit = "8BITMIME" in self.features
        self._sized = "SIZE" in self.features
        size = self.features.get("SIZE", "")
        self._most = int(size) if size.isascii() and size.isdigit() and len(size) <= 20 else 0

    async def _encrypt(self) -> None:
        peer = self.peer
        reply = await self._ask("STARTTLS") if "STARTTLS" in self.features else None
        if reply is None or reply.code != 220:
            if peer.tls is Tls.STARTTLS_REQUIRED:
                raise TlsRequired(f"{peer.label} does not offer STARTTLS.", reply, "4.7.4")
            return
        # What came in the clear after that reply may be an attacker's (RFC 3207 §6): it is forgotten.
        self._reader = ReplyReader()
        self._replies.clear()
        try:
            transport = await self._loop.start_tls(
                cast("asyncio.Transport", self._transport),
                self,
                _context(peer),
                server_hostname=peer.host,
                ssl_handshake_timeout=peer.patience.connect.total_seconds(),
            )
        except (OSError, ssl.SSLError, ValueError) as error:
            raise TlsRequired(f"TLS with {peer.label}: {error}", enhanced="4.7.5") from None
        if transport is None or self._trouble:
            raise self._trouble or TlsRequired(f"TLS with {peer.label} broke off.", enhanced="4.7.5")
        self.connection_made(transport)
        self.encrypted = True
        await self._hello()

    async def _authenticate(self, user: str, password: str) -> None:
        mechanisms = self.features.get("AUTH", "").upper().split()
        if not self.encrypted and self.peer.tls is not Tls.NONE:
            raise TlsRequired(f"No password for {self.peer.label} in the clear.", enhanced="4.7.4")
        if "PLAIN" in mechanisms:
            secret = base64.b64encode(f"\0{user}\0{password}".encode()).decode()
            reply = await self._ask(f"AUTH PLAIN {secret}", shown="AUTH PLAIN ****")
        elif "LOGIN" in mechanisms:
            reply = await self._ask("AUTH LOGIN")
            for secret in (user, password):
                if reply.code == 334:
                    reply = await self._ask(base64.b64encode(secret.encode()).decode(), shown="****")
        else:
            raise AuthenticationFailed(f"{self.peer.label} offers neither AUTH PLAIN nor LOGIN.", None, "4.7.0")
        if reply.code != 235:
            raise AuthenticationFailed(
                f"{self.peer.label} refuses the password: {reply.code} {reply.text[:500]}", reply
            )

    # Messages.

    @property
    def usable(self) -> bool:
        """Whether another message may be sent."""
        transport = self._transport
        return not (self._trouble or self._leaving or transport is None or transport.is_closing())

    @property
    def said(self) -> tuple[tuple[str, bytes], ...]:
        """What was said for the present message, or so far in the opening."""
        return tuple(self._exchange)

    async def send(self, envelope: Envelope, message: bytes, *, before_dot: BeforeDot | None = None) -> DeliveryOutcome:
        """Send one message; see `Transport.deliver`. Raises StaleConnection where a new connection may do better."""
        refusal = self._refusal(envelope, message)
        if refusal:
            return refuse(envelope, refusal.code, refusal.enhanced, refusal.text, self.peer.label)
        if not self.usable or self._replies:
            self.abort()
            raise StaleConnection("The connection had closed meanwhile.")
        self._exchange.clear()
        self._heard = 0
        self._busy = True
        self.messages += 1
        started = self._loop.time()
        routes = [self._route(recipient) for recipient in envelope.recipients]
        try:
            verdicts, ambiguous = await self._transact(envelope, routes, message, before_dot)
        except BaseException:
            self.abort()
            raise
        self._rest()
        return self._outcome(envelope, verdicts, ambiguous, started)

    def _refusal(self, envelope: Envelope, message: bytes) -> SmtpReply | None:
        """What is certain to fail at this peer is not tried."""
        wrong = unfit(message)
        if wrong:
            return SmtpReply(554, "5.6.0", wrong)
        if self._most and len(message) > self._most:
            # RFC 1870 §6.
            return SmtpReply(552, "5.3.4", f"The message has {len(message)} octets, the next hop takes {self._most}.")
        if not self._eightbit and not message.isascii():
            return SmtpReply(554, "5.6.3", "The next hop takes 7-bit messages only.")
        if not self._smtputf8 and (envelope.needs_smtputf8 or not envelope.mail_from.isascii()):
            return SmtpReply(553, "5.6.7", "The next hop does not take messages with UTF-8 headers or sender.")
        return None

    def _route(self, recipient: str) -> bytes | SmtpReply:
        try:
            return spelled(recipient, smtputf8=self._smtputf8) or NO_SMTPUTF8
        except ValueError:
            return NO_ADDRESS

    async def _transact(
        self,
        envelope: Envelope,
        routes: list[bytes | SmtpReply],
        message: bytes,
        before_dot: BeforeDot | None,
    ) -> tuple[list[SmtpReply], bool]:
        """One verdict per recipient, and whether the end is unknown."""
        paths = [route for route in routes if isinstance(route, bytes)]
        try:
            sender = spelled(envelope.mail_from, smtputf8=self._smtputf8) if envelope.mail_from else b""
        except ValueError:
            return [NO_ADDRESS] * len(routes), False
        if not paths or sender is None:
            return [cast("SmtpReply", route) for route in routes], False
        mail, taken, data = await self._send_envelope(self._mail(envelope, sender, message), paths)
        accepted = mail.good and any(reply.good for reply in taken)
        ambiguous = False
        if data.code == 354 and not accepted:
            await self._reset(any(reply.good for reply in taken))
        elif data.code == 354:
            data, ambiguous = await self._send_data(message, before_dot)
        elif self.usable:
            self._needs_reset = True
        fates = iter(mail if not mail.good else data if reply.good else reply for reply in taken)
        return [route if isinstance(route, SmtpReply) else next(fates) for route in routes], ambiguous

    def _mail(self, envelope: Envelope, sender: bytes, message: bytes) -> bytes:
        command = b"MAIL FROM:<%s>" % sender
        if self._sized:
            command += b" SIZE=%d" % len(message)
        if not message.isascii():
            command += b" BODY=8BITMIME"
        if self._smtputf8 and (
            envelope.needs_smtputf8
            or not envelope.mail_from.isascii()
            or not all(recipient.isascii() for recipient in envelope.recipients)
        ):
            command += b" SMTPUTF8"
        return command + b"\r\n"

    async def _send_envelope(self, mail: bytes, paths: list[bytes]) -> tuple[SmtpReply, list[SmtpReply], SmtpReply]:
        """MAIL, RCPT and DATA: in one write where the peer can, step by step where it cannot."""
        commands = [mail, *[b"RCPT TO:<%s>\r\n" % path for path in paths], b"DATA\r\n"]
        if self._needs_reset:
            commands.insert(0, b"RSET\r\n")
        replies: list[SmtpReply] = []
        try:
            if self._pipelining:
                self._write(b"".join(commands))
                replies += await self._await(len(commands), self._command)
            else:
                await self._step(commands, len(commands) - len(paths) - 2, replies)
        except ConnectionDropped as dropped:
            replies += self._replies
            self._replies.clear()
            if not replies and self.messages > 1 and not isinstance(dropped, PeerTimeout):
                raise StaleConnection(dropped.text) from None
            replies.append(SmtpReply(0, dropped.enhanced, dropped.text))
        if replies[0].code == 421 and self.messages > 1:
            # Servers count the messages of a connection and end it so; a new one may do.
            self.abort()
            raise StaleConnection(replies[0].text)
        # After a 421 nothing more comes: it stands for everything that was still to be answered.
        replies += [replies[-1]] * (len(commands) - len(replies))
        if self._needs_reset:
            self._needs_reset = False
            del replies[0]
        return replies[0], replies[1:-1], replies[-1]

    async def _step(self, commands: list[bytes], mail: int, replies: list[SmtpReply]) -> None:
        """One command at a time: nobody is named after a refused MAIL, no DATA follows without anybody."""
        for at, command in enumerate(commands):
            refused = at > mail and not replies[mail].good
            nobody = at == len(commands) - 1 and not any(reply.good for reply in replies[mail + 1 :])
            if self._leaving or refused or nobody:
                replies.append(replies[-1])
                continue
            self._write(command)
            replies += await self._await(1, self._command)

    async def _reset(self, somebody: bool) -> None:
        """The peer opened its ear although it took nobody: a lone dot ends that (RFC 2920 §3.1)."""
        if somebody:
            # A recipient without a sender: a dot could deliver an empty message.
            self.abort()
            return
        self._write(b".\r\n")
        try:
            await self._await(1, self._dot)
        except ConnectionDropped:
            self.abort()

    async def _send_data(self, message: bytes, before_dot: BeforeDot | None) -> tuple[SmtpReply, bool]:
        """The text, the dot, the reply; and whether the dot went out without one."""
        text = dot_stuffed(message)
        handed = False
        try:
            if before_dot is None:
                self._write(text + b".\r\n", shown=b"(%d octets and the final dot)\r\n" % len(text))
            else:
                # The caller's commit and the journey of the text happen at the same time.
                self._write(text, shown=b"(%d octets)\r\n" % len(text))
                await before_dot()
                if self._replies:
                    self.abort()
                    return self._replies.pop(), False
                self._write(b".\r\n")
            handed = True
            return (await self._await(1, self._dot))[0], False
        except ConnectionDropped as dropped:
            # With octets left in our own buffer, the last one of them is the dot's: it never went out.
            return SmtpReply(0, dropped.enhanced, dropped.text), handed and not self._unsent

    def _outcome(
        self, envelope: Envelope, verdicts: list[SmtpReply], ambiguous: bool, started: float
    ) -> DeliveryOutcome:
        duration = timedelta(seconds=self._loop.time() - started)
        label = self.peer.label
        return DeliveryOutcome(
            results=tuple(
                [
                    result(recipient, reply, label, duration)
                    for recipient, reply in zip(envelope.recipients, verdicts, strict=True)
                ]
            ),
            host=label,
            duration=duration,
            ambiguous=ambiguous,
            opening=self._opening,
            exchange=self.said,
        )

    # Between messages.

    async def probe(self, sender: str, recipient: str) -> tuple[SmtpReply, SmtpReply | None]:
        """What the peer says to a sender and, if it takes that, to a recipient; nothing is sent. Raises Trouble."""
        self._busy = True
        self._exchange.clear()
        taken = await self._ask(f"MAIL FROM:<{sender}>")
        asked = await self._ask(f"RCPT TO:<{recipient}>") if taken.good else None
        await self._ask("RSET")
        self._rest()
        return taken, asked

    async def noop(self) -> bool:
        """Whether the peer is still there."""
        if not self.usable:
            return False
        self._busy = True
        self._exchange.clear()
        try:
            alive = (await self._ask("NOOP")).good
        except ConnectionFailed:
            return False
        self._rest()
        return alive

    async def quit(self) -> None:
        """Say goodbye, and do not wait long for the answer."""
        try:
            if self.usable:
                self._busy = True
                self._write(b"QUIT\r\n")
                await self._await(1, self.peer.patience.goodbye.total_seconds())
        except ConnectionFailed:
            pass
        finally:
            self.abort()

    def abort(self) -> None:
        """Hang up."""
        self._fail(ConnectionDropped("We hung up."))

    # The machinery.

    async def _ask(self, command: str, *, shown: str | None = None) -> SmtpReply:
        """One command, one reply."""
        self._write(f"{command}\r\n".encode(), shown=f"{shown}\r\n".encode() if shown else None)
        return (await self._await(1, self._command))[0]

    def _write(self, data: bytes, *, shown: bytes | None = None) -> None:
        transport = self._transport
        if self._trouble or transport is None or transport.is_closing():
            # What is written to a closing transport is dropped without a word.
            raise self._trouble or ConnectionDropped(f"{self.peer.label} closed the connection.")
        transport.write(data)
        self._exchange.append(("C", shown or data))

    async def _await(self, wanted: int, pace: float) -> list[SmtpReply]:
        """The next `wanted` replies, fewer if one is a 421. Raises ConnectionDropped; then those that came stay."""
        if len(self._replies) < wanted and not (self._leaving and self._replies):
            if self._trouble or self._leaving:
                raise self._trouble or ConnectionDropped(f"{self.peer.label} is closing the connection.")
            self._watch(wanted, pace)
            self._waiter = self._loop.create_future()
            try:
                await self._waiter
            finally:
                self._waiter = None
        replies = self._replies[:wanted]
        del self._replies[:wanted]
        return replies

    def _watch(self, wanted: int, pace: float) -> None:
        """Set the deadline; the timer behind it is only ever moved forward when it rings too early."""
        now = self._loop.time()
        self._wanted = wanted
        self._pace = pace
        self._latest = now + max(self._group, pace)
        self._deadline = now + pace
        if self._timer is None or self._timer.when() > self._deadline:
            self._set_alarm(min(self._deadline, now + self._block))

    def _set_alarm(self, moment: float) -> None:
        if self._timer:
            self._timer.cancel()
        self._timer = self._loop.call_at(moment, self._on_alarm)

    def _on_alarm(self) -> None:
        self._timer = None
        if self._waiter is None or self._waiter.done():
            return
        now = self._loop.time()
        if self._unsent and (left := self._left()) < self._backlog:
            # The text is long and the peer slow, but it moves.
            self._backlog, self._moved = left, now
        if now < (self._moved + self._block if self._unsent else self._deadline):
            self._set_alarm(now + self._block if self._unsent else min(self._deadline, now + self._block))
        else:
            self._fail(PeerTimeout(f"{self.peer.label} was silent for too long."))

    def _left(self) -> int:
        return self._transport.get_write_buffer_size() if self._transport else 0

    def _rest(self) -> None:
        self._busy = False
        self.idle_since = self._loop.time()

    def _wake(self) -> None:
        if self._waiter and not self._waiter.done():
            self._waiter.set_result(None)

    def _fail(self, trouble: ConnectionFailed) -> None:
        if self._trouble is None:
            self._trouble = trouble
            if self._transport:
                self._transport.abort()
        if self._timer:
            self._timer.cancel()
            self._timer = None
        if self._waiter and not self._waiter.done():
            self._waiter.set_exception(self._trouble)


def result(recipient: str, reply: SmtpReply, host: str, duration: timedelta) -> Result:
    """What a reply means for a recipient."""
    kind: type[Result] = Rejected
    if reply.good:
        kind = Accepted
    elif reply.code < 500 or (reply.code == 552 and reply.enhanced in {"", "5.5.3"}):
        # RFC 5321 §4.5.3.1.10: 552 also says "too many recipients", and means 452.
        kind = Deferred
    return kind(
        recipient=recipient,
        code=reply.code,
        enhanced=reply.enhanced,
        text=reply.text,
        host=host,
        duration=duration,
    )


def deferred(envelope: Envelope, trouble: ConnectionFailed, host: str, spent: timedelta = NO_TIME) -> DeliveryOutcome:
    """What trouble with a connection means for a message."""
    reply = trouble.reply
    return postpone(
        envelope,
        trouble.text,
        host,
        duration=spent,
        opening=trouble.opening,
        code=reply.code if reply else 0,
        enhanced=(reply.enhanced if reply else "") or trouble.enhanced,
    )


def greeting_name(host: str) -> str:
    """Our name as EHLO takes it: a domain, or an address literal such as `[127.0.0.1]` (RFC 5321 §4.1.3)."""
    try:
        address = ip_address(host)
    except ValueError:
        return host
    return f"[IPv6:{address}]" if address.version == 6 else f"[{address}]"
