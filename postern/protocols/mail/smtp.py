"""SMTP client (RFC 5321): several messages over one connection.

It uses asyncio's protocol interface instead of streams: the commands of a message are one write (PIPELINING, RFC 2920),
its data and the final dot another, so that a message wakes the calling task only twice.
"""

import asyncio
import base64
import functools
import re
import ssl
from collections.abc import Callable, Sequence
from datetime import timedelta
from enum import StrEnum
from ipaddress import ip_address
from typing import Any, TypeAlias, cast

import idna
import msgspec

from postern.protocols.mail.mime import has_dot_lines, message_problem
from postern.protocols.mail.tls_report import TlsFailure, tls_failure_of
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
    defer_all,
    reject_all,
)

LONGEST_LINE = 2_048
"""Maximum octets of a reply line. RFC 5321 §4.5.3.1.5 allows 512; some servers exceed that."""
MOST_LINES = 100
"""Maximum lines of a reply."""
MOST_SURPLUS_REPLIES = 100
"""Maximum replies beyond those that the client waits for."""
LONGEST_ADDRESS = 320
"""Maximum octets of an address: 64 of local part, `@`, 255 of domain (RFC 5321 §4.5.3.1)."""

_ENHANCED = re.compile(r"([245]\.\d{1,3}\.\d{1,3})(?:[ \t]|$)")
_ADDRESS = re.compile(
    r'(?:"(?:[^"\\\x00-\x1f\x7f-\x9f]|\\[\x20-\x7e])*"|[^\s<>"\\@,;:\x00-\x1f\x7f-\x9f]+)'
    r"@[^\s<>\"\\@\x00-\x1f\x7f-\x9f]+"
)


class SmtpSyntaxError(Exception):
    """The server sent something that is not an SMTP reply."""


class SmtpReply(msgspec.Struct, frozen=True, gc=False):
    """A reply: its code, its enhanced code or an empty string, and its lines without the codes."""

    code: int
    enhanced: str
    text: str

    @property
    def is_success(self) -> bool:
        """Whether it is a 2xx."""
        return 200 <= self.code < 300


class ReplyReader:
    """Parses replies from chunks of data, in bounded memory."""

    def __init__(self) -> None:
        self._partial_line = b""
        self._lines: list[bytes] = []

    def feed(self, data: bytes) -> list[SmtpReply]:
        """The replies that `data` completes. Raises SmtpSyntaxError."""
        if self.is_between_replies and len(data) <= LONGEST_LINE:
            replies = _complete_replies(data)
            if replies is not None:
                return list(replies)
        return self.parse(data)

    @property
    def is_between_replies(self) -> bool:
        """Whether the data so far ends with a complete reply."""
        return not self._partial_line and not self._lines

    def parse(self, data: bytes) -> list[SmtpReply]:
        """Like `feed`, without a cache."""
        *lines, self._partial_line = (self._partial_line + data).split(b"\n")
        if len(self._partial_line) > LONGEST_LINE:
            raise SmtpSyntaxError(f"The server sent a reply line of more than {LONGEST_LINE} octets.")
        return [reply for line in lines if (reply := self._add(line))]

    def _add(self, line: bytes) -> SmtpReply | None:
        line = line.removesuffix(b"\r")
        code, separator = line[:3], line[3:4]
        if len(line) > LONGEST_LINE or not code.isdigit() or not b"200" <= code <= b"599":
            raise SmtpSyntaxError(f"Not an SMTP reply: {line[:80].decode('ascii', 'backslashreplace')}")
        if separator not in (b" ", b"-", b"") or (self._lines and self._lines[0][:3] != code):
            raise SmtpSyntaxError(f"Invalid multiline reply: {line[:80].decode('ascii', 'backslashreplace')}")
        self._lines.append(line)
        if len(self._lines) > MOST_LINES:
            raise SmtpSyntaxError(f"The server sent a reply of more than {MOST_LINES} lines.")
        if separator == b"-":
            return None
        lines, self._lines = self._lines, []
        return _reply(lines)


@functools.lru_cache(256)
def _complete_replies(data: bytes) -> tuple[SmtpReply, ...] | None:
    """The replies in `data`, cached because a server replies to most messages with the same text; None if the last one
    is not complete."""
    reader = ReplyReader()
    replies = tuple(reader.parse(data))
    return replies if reader.is_between_replies else None


def _reply(lines: list[bytes]) -> SmtpReply:
    """Parse the lines of a reply. Each repeats the enhanced code, whose class is that of the code (RFC 2034 §4)."""
    code = int(lines[0][:3])
    texts = [line[4:].decode("utf-8", "replace") for line in lines]
    match = _ENHANCED.match(texts[-1])
    if not match or match[1][0] != str(code)[0]:
        return SmtpReply(code, "", "\n".join(texts))
    enhanced = match[1]
    return SmtpReply(code, enhanced, "\n".join(text.removeprefix(enhanced).lstrip() for text in texts))


def encode_address(address: str, *, smtputf8: bool) -> bytes | None:
    """An address as sent between `<` and `>`; None if it needs SMTPUTF8 and `smtputf8` is False.

    If the local part is ASCII, the domain is written as A-labels (RFC 5891 §4.4), which any server accepts.
    Raises ValueError for an invalid address.
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
    """The message with dot-stuffing, as sent after DATA, without the final dot (RFC 5321 §4.5.2)."""
    if has_dot_lines(message):
        message = (b"." if message.startswith(b".") else b"") + message.replace(b"\r\n.", b"\r\n..")
    return message if message.endswith(b"\r\n") else message + b"\r\n"


DATA = b"DATA\r\n"
NO_SMTPUTF8 = SmtpReply(553, "5.6.7", "The server does not support non-ASCII addresses (SMTPUTF8).")
NO_ADDRESS = SmtpReply(553, "5.1.3", "This is not a valid e-mail address.")
REQUIRETLS = "REQUIRETLS"
"""The extension by which a server promises to pass a message on only with authenticated TLS (RFC 8689)."""
NOT_AUTHENTICATED = SmtpReply(
    550, "5.7.10", "The message requires TLS with a valid certificate (REQUIRETLS), which the server does not have."
)
NO_REQUIRETLS = SmtpReply(
    550, "5.7.30", "The message requires TLS on its whole way, but the server does not offer REQUIRETLS."
)
"""RFC 8689 §4.2.1."""
OUT_OF_STEP = SmtpReply(
    451, "4.5.0", "The server sent a reply too many, so it is not known which recipients it accepted."
)


class Tls(StrEnum):
    """How a connection is encrypted."""

    NONE = "none"
    STARTTLS = "starttls"
    """TLS if the server offers STARTTLS (RFC 3207)."""
    STARTTLS_REQUIRED = "starttls-required"
    IMPLICIT = "implicit"
    """TLS from the start (RFC 8314)."""


class Timeouts(msgspec.Struct, frozen=True, kw_only=True):
    """The timeouts of each phase (RFC 5321 §4.5.3.2)."""

    connect: timedelta = timedelta(seconds=30)
    greeting: timedelta = timedelta(minutes=5)
    command: timedelta = timedelta(minutes=5)
    """For each reply to EHLO, AUTH, MAIL, RCPT, RSET."""
    pipeline: timedelta = timedelta(minutes=15)
    """For the replies to all commands that are sent in one write (PIPELINING) together."""
    block: timedelta = timedelta(minutes=3)
    """How long the server may take to receive the next octet of the message."""
    dot: timedelta = timedelta(minutes=10)
    """For the reply to the final dot. A shorter timeout causes duplicates (RFC 1047)."""
    goodbye: timedelta = timedelta(seconds=2)
    """For the reply to QUIT."""


CheckCertificates: TypeAlias = Callable[[Sequence[bytes]], str | None]
"""Checks the certificates that a server sent, its own first, as DER; returns what is wrong, or None."""


class Peer(msgspec.Struct, frozen=True, kw_only=True):
    """A server and the settings of connections to it."""

    host: str
    """Its host name, which its certificate must have."""
    port: int = 25
    address: str | None = None
    """Its IP address, if it was looked up already."""
    source: str | None = None
    """The local IP address to connect from."""
    ehlo_host: str = "localhost"
    """The client's host name in EHLO."""
    server_name: str | None = None
    """The name for SNI and the certificate if it differs from `host`."""
    tls: Tls = Tls.STARTTLS
    verify: bool = True
    """Whether the certificate must be valid."""
    context: ssl.SSLContext | None = None
    """A TLS context instead of the system's certificate authorities (a private CA)."""
    check_certificates: CheckCertificates | None = None
    """A check of the server's certificates in addition to that of the TLS context (DANE)."""
    chunking: bool = False
    """Whether messages are sent with BDAT instead of DATA if the server supports it (RFC 3030)."""
    user: str | None = None
    password: str = ""
    timeouts: Timeouts = Timeouts()

    @property
    def label(self) -> str:
        """`host:port`."""
        return f"{self.host}:{self.port}"


class ConnectionFailed(Exception):
    """The connection cannot be used: the reason, and the server's reply if there is one."""

    def __init__(self, text: str, reply: SmtpReply | None = None, enhanced: str = "4.4.2") -> None:
        super().__init__(text)
        self.text = text
        self.reply = reply
        self.enhanced = enhanced
        self.opening: tuple[tuple[str, bytes], ...] = ()
        """The SMTP dialogue before the failure, if it failed before the first message."""
        self.tls_failure: TlsFailure | None = None
        """What is wrong with the TLS of the connection, if that is the reason."""
        self.local_address = ""
        """The local IP address of the connection; empty if none was made."""
        self.counts_against_server = True
        """Whether the circuit breaker of the server counts this failure, because other messages would fail, too."""


class Unreachable(ConnectionFailed):
    """The server cannot be reached."""


class ConnectionDropped(ConnectionFailed):
    """The server closed the connection or timed out."""


class PeerTimeout(ConnectionDropped):
    """The server did not reply, or did not receive data, within the timeout."""


class StaleConnection(ConnectionDropped):
    """A reused connection was closed before the server replied to anything; a new connection may work."""


class GreetingRefused(ConnectionFailed):
    """The server rejected the connection in its greeting or in its reply to EHLO."""


class TlsRequired(ConnectionFailed):
    """The connection could not be encrypted as required."""


class HandshakeFailed(TlsRequired):
    """The TLS handshake after STARTTLS failed, because of an invalid certificate, for example."""


class AuthenticationFailed(ConnectionFailed):
    """The server rejected the user name and password."""


@functools.cache
def verifying_context() -> ssl.SSLContext:
    """A TLS context with the system's certificate authorities. Loading them takes 20 ms, so it is cached."""
    return without_common_names(ssl.create_default_context())


def without_common_names(context: ssl.SSLContext) -> ssl.SSLContext:
    """Make `context` ignore the common name of certificates, and return it: only subject alternative names count as
    names of the server (RFC 8461 §4.2, RFC 9525 §2)."""
    context.hostname_checks_common_name = False
    return context


@functools.cache
def non_verifying_context() -> ssl.SSLContext:
    """A TLS context that accepts any certificate, for opportunistic encryption (RFC 7435)."""
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context


async def connect_opportunistically(peer: Peer) -> "SmtpConnection":
    """Open a connection with STARTTLS if that works, otherwise in plain text (RFC 7435). Raises ConnectionFailed.

    After a failed handshake, it opens a second connection, whose dialogue then begins with that of the first one.
    """
    try:
        return await connect(peer)
    except HandshakeFailed as failure:
        connection = await connect(msgspec.structs.replace(peer, tls=Tls.NONE))
        connection.prepend_dialogue(failure.opening)
        connection.tls_failure = failure.tls_failure
        return connection


async def connect(peer: Peer) -> "SmtpConnection":
    """Open a connection, with TLS and authentication as configured. Raises ConnectionFailed."""
    connection = await _dial(peer)
    try:
        await connection.greet()
    except ConnectionFailed as failure:
        failure.opening = connection.dialogue
        failure.local_address = connection.local_address
        if isinstance(failure, TlsRequired):
            await connection.quit()  # RFC 8689 §4.2.1.
        connection.abort()
        raise
    except BaseException:
        connection.abort()
        raise
    return connection


async def _dial(peer: Peer) -> "SmtpConnection":
    """Open the TCP connection, with TLS if it is implicit. Raises Unreachable or TlsRequired."""
    loop = asyncio.get_running_loop()
    implicit = peer.tls is Tls.IMPLICIT
    try:
        async with asyncio.timeout(peer.timeouts.connect.total_seconds()):
            _, connection = await loop.create_connection(
                lambda: SmtpConnection(peer, loop),
                peer.address or peer.host,
                peer.port,
                ssl=_context(peer) if implicit else None,
                server_hostname=(peer.server_name or peer.host) if implicit else None,
                local_addr=(peer.source, 0) if peer.source else None,
            )
    except TimeoutError:
        raise Unreachable(f"{peer.label} does not respond.", enhanced="4.4.1") from None
    except ssl.SSLError as error:
        raise TlsRequired(f"TLS with {peer.label}: {error}", enhanced="4.7.5") from None
    except (OSError, UnicodeError) as error:
        raise Unreachable(f"{peer.label}: {error}", enhanced="4.4.1") from None
    return connection


def _context(peer: Peer) -> ssl.SSLContext:
    return peer.context or (verifying_context() if peer.verify else non_verifying_context())


class SmtpConnection(asyncio.Protocol):
    """An SMTP connection: `connect` opens it, `send` sends one message at a time, `quit` ends it."""

    def __init__(self, peer: Peer, loop: asyncio.AbstractEventLoop) -> None:
        self.peer = peer
        self.messages = 0
        """Number of messages that were started on this connection."""
        self.idle_since = loop.time()
        self.encrypted = False
        self.is_certificate_checked = False
        """Whether the connection is encrypted and the server's certificate was checked."""
        self.tls_failure: TlsFailure | None = None
        """Why the connection is not encrypted although TLS was tried; None for TLS, and if it was not tried."""
        self.local_address = ""
        """The local IP address of the connection."""
        self.features: dict[str, str] = {}
        self._loop = loop
        self._transport: asyncio.Transport | None = None
        self._reader = ReplyReader()
        self._replies: list[SmtpReply] = []
        """The received replies that no task has taken yet."""
        self._awaited = 0
        """The number of replies that the task waits for."""
        self._waiter: asyncio.Future[None] | None = None
        self._busy = True
        self._failure: ConnectionFailed | None = None
        self._got_421 = False
        """Whether the server has announced that it closes the connection."""
        self._needs_reset = False
        """Whether RSET must be sent before the next message."""
        self._opening: tuple[tuple[str, bytes], ...] = ()
        self._exchange: list[tuple[str, bytes]] = []
        self._received_octets = 0
        self._timer: asyncio.TimerHandle | None = None
        self._deadline = 0.0
        """When the next reply must have arrived."""
        self._pipeline_deadline = 0.0
        """When all replies to pipelined commands must have arrived."""
        self._reply_timeout = 0.0
        self._unsent = False
        """Whether the write buffer has octets that the operating system does not take at the moment."""
        self._progress_at, self._unsent_at_progress = 0.0, 0
        """When the server last received octets, and the size of the write buffer at that time."""
        self._command_timeout = peer.timeouts.command.total_seconds()
        self._pipeline_timeout = peer.timeouts.pipeline.total_seconds()
        self._dot_timeout = peer.timeouts.dot.total_seconds()
        self._block_timeout = peer.timeouts.block.total_seconds()
        self._pipelining_supported = self._smtputf8_supported = self._eight_bit_supported = self._size_supported = False
        self._uses_chunking = False
        self._size_limit = 0

    # Callbacks of the event loop.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Store the transport. With these limits, it reports when its write buffer is empty and when it is not."""
        self._transport = cast("asyncio.Transport", transport)
        local: Any = transport.get_extra_info("sockname")
        self.local_address = str(local[0]) if local else ""
        # Not high=0: over TLS, an empty buffer would then count as full.
        self._transport.set_write_buffer_limits(high=1, low=0)

    def data_received(self, data: bytes) -> None:
        """Collect replies, and wake the waiting task once there are enough."""
        if self._received_octets < LONGEST_DIALOGUE:
            self._exchange.append(("S", data))
            self._received_octets += len(data)
        try:
            replies = self._reader.feed(data)
        except SmtpSyntaxError as error:
            self._fail(ConnectionDropped(str(error), enhanced="4.5.0"))
            return
        if not replies:
            return
        self._replies += replies
        self._got_421 = self._got_421 or replies[-1].code == 421
        if not self._busy:
            self._fail(
                ConnectionDropped(f"The server sent a reply without a command: {replies[-1].text[:200]}", replies[-1])
            )
        elif self._waiter and (self._got_421 or len(self._replies) >= self._awaited):
            self._wake()
        else:
            self._deadline = min(self._loop.time() + self._reply_timeout, self._pipeline_deadline)
        if len(self._replies) > self._awaited + MOST_SURPLUS_REPLIES:
            # The waiting task was woken above, so a message whose reply is among these still gets its outcome.
            self._fail(ConnectionDropped("The server sent replies without commands.", replies[-1], "4.5.0"))

    def pause_writing(self) -> None:
        """The server does not receive more data at the moment."""
        self._unsent = True
        self._unsent_at_progress = self._unsent_octets()
        self._progress_at = self._loop.time()

    def resume_writing(self) -> None:
        """All data was passed to the operating system: the timeout for the reply starts."""
        self._unsent = False
        self._deadline = min(self._loop.time() + self._reply_timeout, self._pipeline_deadline)

    def connection_lost(self, exc: Exception | None) -> None:
        """Fail the waiting task."""
        self._fail(ConnectionDropped(f"{self.peer.label} closed the connection{f': {exc}' if exc else ''}."))

    # Start of a connection.

    async def greet(self) -> None:
        """Receive the greeting, then EHLO, STARTTLS and AUTH. Raises ConnectionFailed."""
        peer = self.peer
        self.encrypted = peer.tls is Tls.IMPLICIT
        greeting = (await self._receive(1, peer.timeouts.greeting.total_seconds()))[0]
        if greeting.code != 220:
            raise GreetingRefused(f"{peer.label} greeted with {greeting.code} {greeting.text[:500]}", greeting)
        if self.encrypted:
            self._accept_tls()
        await self._hello()
        if peer.tls in {Tls.STARTTLS, Tls.STARTTLS_REQUIRED}:
            await self._encrypt()
        if peer.user is not None:
            await self._authenticate(peer.user, peer.password)
        self._opening = self.dialogue
        self._mark_idle()

    async def _hello(self) -> None:
        """Send EHLO, or HELO if the server rejects that, and store the features. Raises GreetingRefused."""
        reply = await self._send_command(f"EHLO {ehlo_name(self.peer.ehlo_host)}")
        lines = reply.text.split("\n")[1:] if reply.is_success else []
        if not reply.is_success:
            reply = await self._send_command(f"HELO {ehlo_name(self.peer.ehlo_host)}")
        if not reply.is_success:
            raise GreetingRefused(f"{self.peer.label} rejected EHLO: {reply.code} {reply.text[:500]}", reply)
        # Some old servers write `AUTH=PLAIN LOGIN`.
        pairs = [line.strip().replace("AUTH=", "AUTH ", 1).partition(" ") for line in lines]
        self.features = {name.upper(): values.strip() for name, _, values in pairs}
        self._pipelining_supported = "PIPELINING" in self.features
        self._smtputf8_supported = "SMTPUTF8" in self.features and "8BITMIME" in self.features
        self._eight_bit_supported = "8BITMIME" in self.features
        self._size_supported = "SIZE" in self.features
        self._uses_chunking = self.peer.chunking and "CHUNKING" in self.features
        size = self.features.get("SIZE", "")
        self._size_limit = int(size) if size.isascii() and size.isdigit() and len(size) <= 20 else 0

    async def _encrypt(self) -> None:
        """Start TLS with STARTTLS if the server offers it. Raises TlsRequired."""
        peer = self.peer
        reply = await self._send_command("STARTTLS") if "STARTTLS" in self.features else None
        if reply is None or reply.code != 220:
            self.tls_failure = TlsFailure("starttls-not-supported")
            if peer.tls is Tls.STARTTLS_REQUIRED:
                error = TlsRequired(f"{peer.label} does not offer STARTTLS.", reply, "4.7.4")
                raise _with_tls_failure(error, self.tls_failure)
            return
        # Data received in clear after that reply may be an attacker's, so it is discarded (RFC 3207 §6).
        self._reader = ReplyReader()
        self._replies.clear()
        try:
            transport = await self._loop.start_tls(
                cast("asyncio.Transport", self._transport),
                self,
                _context(peer),
                server_hostname=peer.server_name or peer.host,
                ssl_handshake_timeout=peer.timeouts.connect.total_seconds(),
            )
        except (OSError, ssl.SSLError, ValueError) as error:
            self._exchange.append(("TLS", f"{error}\r\n".encode("utf-8", "replace")))
            failure = HandshakeFailed(f"TLS with {peer.label}: {error}", enhanced="4.7.5")
            raise _with_tls_failure(failure, tls_failure_of(error)) from None
        if transport is None or self._failure:
            raise self._failure or TlsRequired(f"The TLS handshake with {peer.label} was aborted.", enhanced="4.7.5")
        self.connection_made(transport)
        self.encrypted = True
        self._accept_tls()
        await self._hello()

    def _accept_tls(self) -> None:
        """Check the server's certificates, and add the parameters of TLS to the dialogue. Raises TlsRequired."""
        peer = self.peer
        session = cast("asyncio.Transport", self._transport).get_extra_info("ssl_object")
        mismatch = peer.check_certificates(sent_certificates(session)) if peer.check_certificates else None
        self.is_certificate_checked = bool(peer.check_certificates) or _context(peer).check_hostname
        verified = "checked" if self.is_certificate_checked else "not checked"
        cipher = session.cipher()
        description = f"{session.version()}, {cipher[0] if cipher else 'unknown cipher'}; certificate {verified}"
        self._exchange.append(("TLS", f"{mismatch or description}\r\n".encode()))
        if mismatch:
            failure = TlsRequired(f"TLS with {peer.label}: {mismatch}", enhanced="4.7.5")
            raise _with_tls_failure(failure, TlsFailure("validation-failure", "dane-mismatch"))

    async def _authenticate(self, user: str, password: str) -> None:
        """Send AUTH PLAIN or LOGIN. Raises AuthenticationFailed, or TlsRequired if the connection must be encrypted."""
        mechanisms = self.features.get("AUTH", "").upper().split()
        if not self.encrypted and self.peer.tls is not Tls.NONE:
            raise TlsRequired(
                f"The connection to {self.peer.label} is not encrypted, so the password is not sent.", enhanced="4.7.4"
            )
        if "PLAIN" in mechanisms:
            secret = base64.b64encode(f"\0{user}\0{password}".encode()).decode()
            reply = await self._send_command(f"AUTH PLAIN {secret}", shown="AUTH PLAIN ****")
        elif "LOGIN" in mechanisms:
            reply = await self._send_command("AUTH LOGIN")
            for secret in (user, password):
                if reply.code == 334:
                    reply = await self._send_command(base64.b64encode(secret.encode()).decode(), shown="****")
        else:
            raise AuthenticationFailed(f"{self.peer.label} offers neither AUTH PLAIN nor LOGIN.", None, "4.7.0")
        if reply.code != 235:
            raise AuthenticationFailed(
                f"{self.peer.label} rejected the password: {reply.code} {reply.text[:500]}", reply
            )

    # Messages.

    @property
    def usable(self) -> bool:
        """Whether another message can be sent."""
        transport = self._transport
        return not (self._failure or self._got_421 or transport is None or transport.is_closing())

    @property
    def dialogue(self) -> tuple[tuple[str, bytes], ...]:
        """The dialogue of the current message, or of the start of the connection."""
        return tuple(self._exchange)

    def prepend_dialogue(self, earlier: tuple[tuple[str, bytes], ...]) -> None:
        """Put the dialogue of an earlier connection before that of this connection's start."""
        self._opening = earlier + self._opening

    async def send(self, envelope: Envelope, message: bytes, *, before_dot: BeforeDot | None = None) -> DeliveryOutcome:
        """Send one message; see `Transport.deliver`. Raises StaleConnection if a new connection may work.

        A message that the server is certain to reject is rejected without being sent.
        """
        refusal = self._refusal(envelope, message)
        if refusal:
            return reject_all(envelope, refusal.code, refusal.enhanced, refusal.text, self.peer.label)
        if not self.usable or self._replies:
            self.abort()
            raise StaleConnection("The server closed the idle connection.")
        self._exchange.clear()
        self._received_octets = 0
        self._busy = True
        self.messages += 1
        started = self._loop.time()
        encoded = [self._encode_recipient(recipient) for recipient in envelope.recipients]
        try:
            replies, ambiguous = await self._transact(envelope, encoded, message, before_dot)
        except BaseException:
            self.abort()
            raise
        self._mark_idle()
        return self._outcome(envelope, replies, ambiguous, started)

    def _refusal(self, envelope: Envelope, message: bytes) -> SmtpReply | None:
        """The rejection of a message that this server is certain to reject; None otherwise."""
        problem = None if envelope.has_safe_lines else message_problem(message)
        if problem:
            return SmtpReply(554, "5.6.0", problem)
        if envelope.require_tls and not self.is_certificate_checked:
            return NOT_AUTHENTICATED
        if envelope.require_tls and REQUIRETLS not in self.features:
            return NO_REQUIRETLS
        if self._size_limit and len(message) > self._size_limit:
            # RFC 1870 §6.
            text = f"The message has {len(message)} octets; the server accepts {self._size_limit}."
            return SmtpReply(552, "5.3.4", text)
        if not self._eight_bit_supported and not message.isascii():
            return SmtpReply(554, "5.6.3", "The server accepts only 7-bit messages.")
        if not self._smtputf8_supported and (envelope.needs_smtputf8 or not envelope.mail_from.isascii()):
            return SmtpReply(553, "5.6.7", "The server does not support non-ASCII headers or senders (SMTPUTF8).")
        return None

    def _encode_recipient(self, recipient: str) -> bytes | SmtpReply:
        """The address for RCPT, or the rejection of an address that cannot be sent to this server."""
        try:
            return encode_address(recipient, smtputf8=self._smtputf8_supported) or NO_SMTPUTF8
        except ValueError:
            return NO_ADDRESS

    async def _transact(
        self,
        envelope: Envelope,
        encoded_recipients: list[bytes | SmtpReply],
        message: bytes,
        before_dot: BeforeDot | None,
    ) -> tuple[list[SmtpReply], bool]:
        """Send the message; returns one reply per recipient, and whether the outcome is ambiguous."""
        paths = [encoded for encoded in encoded_recipients if isinstance(encoded, bytes)]
        try:
            sender = (
                encode_address(envelope.mail_from, smtputf8=self._smtputf8_supported) if envelope.mail_from else b""
            )
        except ValueError:
            return [NO_ADDRESS] * len(encoded_recipients), False
        if not paths or sender is None:
            return [cast("SmtpReply", encoded) for encoded in encoded_recipients], False
        mail_reply, rcpt_replies, data_reply = await self._send_envelope(
            self._mail_command(envelope, sender, message), paths
        )
        if data_reply is None:
            return await self._transact_chunk(encoded_recipients, mail_reply, rcpt_replies, message, before_dot)
        if data_reply.is_success or (data_reply.code == 354 and self._replies):
            # DATA has no reply 2xx (RFC 5321 §4.3.2): the server has sent too many replies, so the reply that was taken
            # for the one to RCPT may belong to the command before.
            self.abort()
            return [encoded if isinstance(encoded, SmtpReply) else OUT_OF_STEP for encoded in encoded_recipients], False
        has_transaction = mail_reply.is_success and any(reply.is_success for reply in rcpt_replies)
        ambiguous = False
        if data_reply.code == 354 and not has_transaction:
            await self._end_empty_data(any(reply.is_success for reply in rcpt_replies))
        elif data_reply.code == 354:
            text = message if envelope.has_safe_lines else dot_stuffed(message)
            data_reply, ambiguous = await self._send_data(text, before_dot)
        elif self.usable:
            self._needs_reset = True
        return _replies_of_recipients(encoded_recipients, mail_reply, rcpt_replies, data_reply), ambiguous

    async def _transact_chunk(
        self,
        encoded_recipients: list[bytes | SmtpReply],
        mail_reply: SmtpReply,
        rcpt_replies: list[SmtpReply],
        message: bytes,
        before_dot: BeforeDot | None,
    ) -> tuple[list[SmtpReply], bool]:
        """Like `_transact`, after the replies to MAIL and RCPT, with BDAT (RFC 3030 §2)."""
        if self._replies:
            self.abort()
            return [encoded if isinstance(encoded, SmtpReply) else OUT_OF_STEP for encoded in encoded_recipients], False
        data_reply = SmtpReply(0, "4.4.2", f"{self.peer.label} closed the connection before the message.")
        ambiguous = False
        if self._got_421:
            data_reply = rcpt_replies[-1]
        elif self.usable and mail_reply.is_success and any(reply.is_success for reply in rcpt_replies):
            data_reply, ambiguous = await self._send_chunk(message, before_dot)
        # RFC 3030 §2: after a failed BDAT, only RSET brings the server into a known state.
        self._needs_reset = self.usable and not data_reply.is_success
        return _replies_of_recipients(encoded_recipients, mail_reply, rcpt_replies, data_reply), ambiguous

    def _mail_command(self, envelope: Envelope, sender: bytes, message: bytes) -> bytes:
        command = b"MAIL FROM:<%s>" % sender
        if self._size_supported:
            command += b" SIZE=%d" % len(message)
        if not message.isascii():
            command += b" BODY=8BITMIME"
        if self._smtputf8_supported and (
            envelope.needs_smtputf8
            or not envelope.mail_from.isascii()
            or not all(recipient.isascii() for recipient in envelope.recipients)
        ):
            command += b" SMTPUTF8"
        if envelope.require_tls:
            command += b" REQUIRETLS"
        return command + b"\r\n"

    async def _send_envelope(
        self, mail: bytes, paths: list[bytes]
    ) -> tuple[SmtpReply, list[SmtpReply], SmtpReply | None]:
        """Send MAIL, RCPT and DATA: in one write if the server supports PIPELINING, otherwise one by one.

        DATA is left out, and its reply is None, if the message is sent with BDAT.
        """
        commands = [mail, *[b"RCPT TO:<%s>\r\n" % path for path in paths]]
        if not self._uses_chunking:
            commands.append(DATA)
        if self._needs_reset:
            commands.insert(0, b"RSET\r\n")
        replies: list[SmtpReply] = []
        try:
            if self._pipelining_supported:
                self._write(b"".join(commands))
                replies += await self._receive(len(commands), self._command_timeout)
            else:
                await self._send_one_by_one(commands, commands.index(mail), replies)
        except ConnectionDropped as dropped:
            replies += self._replies
            self._replies.clear()
            if not replies and self.messages > 1 and not isinstance(dropped, PeerTimeout):
                raise StaleConnection(dropped.text) from None
            replies.append(SmtpReply(0, dropped.enhanced, dropped.text))
        if replies[0].code == 421 and self.messages > 1:
            # Servers end a connection like this at their limit of messages per connection; a new one may work.
            self.abort()
            raise StaleConnection(replies[0].text)
        # No replies follow a 421: it counts as the reply to all remaining commands.
        replies += [replies[-1]] * (len(commands) - len(replies))
        if self._needs_reset:
            self._needs_reset = False
            del replies[0]
        return replies[0], replies[1 : 1 + len(paths)], None if self._uses_chunking else replies[-1]

    async def _send_one_by_one(self, commands: list[bytes], mail_index: int, replies: list[SmtpReply]) -> None:
        """Send one command at a time: no RCPT after a rejected MAIL, and no DATA without an accepted recipient.

        Appends to `replies`; a command that is not sent gets the reply to the one before it.
        """
        for at, command in enumerate(commands):
            mail_rejected = at > mail_index and not replies[mail_index].is_success
            no_recipients = command is DATA and not any(reply.is_success for reply in replies[mail_index + 1 :])
            if self._got_421 or mail_rejected or no_recipients:
                replies.append(replies[-1])
                continue
            self._write(command)
            replies += await self._receive(1, self._command_timeout)

    async def _end_empty_data(self, has_recipients: bool) -> None:
        """Send only a dot, because the server accepted DATA without a sender or recipient (RFC 2920 §3.1).

        `has_recipients` is whether it accepted a recipient; then the connection is closed instead.
        """
        if has_recipients:
            # The server accepted a recipient but no sender: a dot could deliver an empty message.
            self.abort()
            return
        self._write(b".\r\n")
        try:
            await self._receive(1, self._dot_timeout)
        except ConnectionDropped:
            self.abort()

    async def _send_data(self, text: bytes, before_dot: BeforeDot | None) -> tuple[SmtpReply, bool]:
        """Send the message, which has dot-stuffing, and the final dot; returns the reply, and whether the outcome is
        ambiguous."""
        dot_written = False
        try:
            if before_dot is None:
                self._write(text + b".\r\n", shown=b"(%d octets and the final dot)\r\n" % len(text))
            else:
                # The caller commits while the message is being transmitted.
                self._write(text, shown=b"(%d octets)\r\n" % len(text))
                await before_dot()
                if self._replies:
                    self.abort()
                    early = self._replies.pop()
                    return OUT_OF_STEP if early.is_success else early, False
                self._write(b".\r\n")
            dot_written = True
            return (await self._receive(1, self._dot_timeout))[0], False
        except ConnectionDropped as dropped:
            # If octets are left in the write buffer, the final dot is among them, so it was not transmitted.
            return SmtpReply(0, dropped.enhanced, dropped.text), dot_written and not self._unsent

    async def _send_chunk(self, message: bytes, before_dot: BeforeDot | None) -> tuple[SmtpReply, bool]:
        """Send the message with BDAT; returns the reply, and whether the outcome is ambiguous.

        The server may accept the message when it has the last octet, so `before_dot` is awaited before the first one.
        """
        if before_dot:
            await before_dot()
            if self._replies:
                self.abort()
                early = self._replies.pop()
                return OUT_OF_STEP if early.is_success else early, False
        text = message if message.endswith(b"\r\n") else message + b"\r\n"
        is_written = False
        try:
            command = b"BDAT %d LAST\r\n" % len(text)
            self._write(command + text, shown=command + b"(%d octets)\r\n" % len(text))
            is_written = True
            return (await self._receive(1, self._dot_timeout))[0], False
        except ConnectionDropped as dropped:
            # If octets are left in the write buffer, the last one is among them, so it was not transmitted.
            return SmtpReply(0, dropped.enhanced, dropped.text), is_written and not self._unsent

    def _outcome(
        self, envelope: Envelope, replies: list[SmtpReply], ambiguous: bool, started: float
    ) -> DeliveryOutcome:
        duration = timedelta(seconds=self._loop.time() - started)
        label = self.peer.label
        return DeliveryOutcome(
            results=tuple(
                [
                    result_of_reply(recipient, reply, label, duration)
                    for recipient, reply in zip(envelope.recipients, replies, strict=True)
                ]
            ),
            host=label,
            duration=duration,
            ambiguous=ambiguous,
            opening=self._opening,
            exchange=self.dialogue,
        )

    # Between messages.

    async def probe(self, sender: str, recipient: str) -> tuple[SmtpReply, SmtpReply | None]:
        """The replies to MAIL and, if that is accepted, to RCPT; sends no message. Raises ConnectionFailed."""
        self._busy = True
        self._exchange.clear()
        mail = await self._send_command(f"MAIL FROM:<{sender}>")
        rcpt = await self._send_command(f"RCPT TO:<{recipient}>") if mail.is_success else None
        await self._send_command("RSET")
        self._mark_idle()
        return mail, rcpt

    async def noop(self) -> bool:
        """Whether the server still responds."""
        if not self.usable:
            return False
        self._busy = True
        self._exchange.clear()
        try:
            alive = (await self._send_command("NOOP")).is_success
        except ConnectionFailed:
            return False
        self._mark_idle()
        return alive

    async def quit(self) -> None:
        """Send QUIT, wait for the reply within the `goodbye` timeout, and close the connection."""
        try:
            if self.usable:
                self._busy = True
                self._write(b"QUIT\r\n")
                await self._receive(1, self.peer.timeouts.goodbye.total_seconds())
        except ConnectionFailed:
            pass
        finally:
            self.abort()

    def abort(self) -> None:
        """Close the connection without QUIT."""
        self._fail(ConnectionDropped("The client closed the connection."))

    # Reading and writing.

    async def _send_command(self, command: str, *, shown: str | None = None) -> SmtpReply:
        """Send a command and return the reply."""
        self._write(f"{command}\r\n".encode(), shown=f"{shown}\r\n".encode() if shown else None)
        return (await self._receive(1, self._command_timeout))[0]

    def _write(self, data: bytes, *, shown: bytes | None = None) -> None:
        """Send `data`. The dialogue gets `shown` instead if it is given. Raises ConnectionFailed."""
        transport = self._transport
        if self._failure or transport is None or transport.is_closing():
            # A closing transport silently discards data.
            raise self._failure or ConnectionDropped(f"{self.peer.label} closed the connection.")
        transport.write(data)
        self._exchange.append(("C", shown or data))

    async def _receive(self, count: int, reply_timeout: float) -> list[SmtpReply]:
        """The next `count` replies, or fewer if one is a 421; `reply_timeout` is in seconds, for each reply.

        Raises ConnectionFailed; the replies that have arrived stay in `_replies`.
        """
        if len(self._replies) < count and not (self._got_421 and self._replies):
            if self._failure or self._got_421:
                raise self._failure or ConnectionDropped(f"{self.peer.label} is closing the connection.")
            self._start_timeout(count, reply_timeout)
            self._waiter = self._loop.create_future()
            try:
                await self._waiter
            finally:
                self._waiter = None
        replies = self._replies[:count]
        del self._replies[:count]
        return replies

    def _start_timeout(self, count: int, reply_timeout: float) -> None:
        """Set the deadline. To save calls, a running timer is kept: `_on_alarm` sets it again if it fires early."""
        now = self._loop.time()
        self._awaited = count
        self._reply_timeout = reply_timeout
        self._pipeline_deadline = now + max(self._pipeline_timeout, reply_timeout)
        self._deadline = now + reply_timeout
        if self._timer is None or self._timer.when() > self._deadline:
            self._set_alarm(min(self._deadline, now + self._block_timeout))

    def _set_alarm(self, moment: float) -> None:
        if self._timer:
            self._timer.cancel()
        self._timer = self._loop.call_at(moment, self._on_alarm)

    def _on_alarm(self) -> None:
        self._timer = None
        if self._waiter is None or self._waiter.done():
            return
        now = self._loop.time()
        if self._unsent and (left := self._unsent_octets()) < self._unsent_at_progress:
            # The server is slow but receives data.
            self._unsent_at_progress, self._progress_at = left, now
        if now < (self._progress_at + self._block_timeout if self._unsent else self._deadline):
            self._set_alarm(
                now + self._block_timeout if self._unsent else min(self._deadline, now + self._block_timeout)
            )
        else:
            self._fail(PeerTimeout(f"{self.peer.label} timed out."))

    def _unsent_octets(self) -> int:
        return self._transport.get_write_buffer_size() if self._transport else 0

    def _mark_idle(self) -> None:
        self._busy = False
        self.idle_since = self._loop.time()

    def _wake(self) -> None:
        if self._waiter and not self._waiter.done():
            self._waiter.set_result(None)

    def _fail(self, failure: ConnectionFailed) -> None:
        if self._failure is None:
            self._failure = failure
            if self._transport:
                self._transport.abort()
        if self._timer:
            self._timer.cancel()
            self._timer = None
        if self._waiter and not self._waiter.done():
            self._waiter.set_exception(self._failure)


def _with_tls_failure(error: TlsRequired, tls_failure: TlsFailure) -> TlsRequired:
    error.tls_failure = tls_failure
    return error


def _replies_of_recipients(
    encoded_recipients: list[bytes | SmtpReply],
    mail_reply: SmtpReply,
    rcpt_replies: list[SmtpReply],
    data_reply: SmtpReply,
) -> list[SmtpReply]:
    """The reply that decides about each recipient, in the order of the envelope."""
    if not mail_reply.is_success:
        replies = [mail_reply] * len(rcpt_replies)
    else:
        replies = [data_reply if reply.is_success else reply for reply in rcpt_replies]
    if len(replies) == len(encoded_recipients):
        return replies
    remaining = iter(replies)
    return [encoded if isinstance(encoded, SmtpReply) else next(remaining) for encoded in encoded_recipients]


def sent_certificates(session: Any) -> list[bytes]:
    """The certificates that the server sent in a TLS session (an `ssl.SSLObject`), its own first, as DER."""
    if hasattr(session, "get_unverified_chain"):
        return list(session.get_unverified_chain() or ())
    # Before Python 3.13, the method is not public.
    chain = session._sslobj.get_unverified_chain() or ()
    return [ssl.PEM_cert_to_DER_cert(certificate.public_bytes()) for certificate in chain]


def result_of_reply(recipient: str, reply: SmtpReply, host: str, duration: timedelta) -> Result:
    """The result of a recipient: Accepted for a 2xx reply, Rejected for a 5xx, and Deferred for all others.

    A 552 that means too many recipients counts as a 4xx.
    """
    kind: type[Result] = Rejected
    if reply.is_success:
        kind = Accepted
    elif reply.code < 500 or (reply.code == 552 and reply.enhanced in {"", "5.5.3"}):
        # RFC 5321 §4.5.3.1.10: some servers reply 552 to too many recipients and mean 452.
        kind = Deferred
    return kind(
        recipient=recipient,
        code=reply.code,
        enhanced=reply.enhanced,
        text=reply.text,
        host=host,
        duration=duration,
    )


def defer_after_failure(
    envelope: Envelope, failure: ConnectionFailed, host: str, spent: timedelta = NO_TIME
) -> DeliveryOutcome:
    """The outcome of a message whose connection failed: all recipients are deferred."""
    reply = failure.reply
    return defer_all(
        envelope,
        failure.text,
        host,
        duration=spent,
        opening=failure.opening,
        code=reply.code if reply else 0,
        enhanced=(reply.enhanced if reply else "") or failure.enhanced,
    )


def ehlo_name(host: str) -> str:
    """The host name for EHLO: a domain, or an address literal such as `[127.0.0.1]` (RFC 5321 §4.1.3)."""
    try:
        address = ip_address(host)
    except ValueError:
        return host
    return f"[IPv6:{address}]" if address.version == 6 else f"[{address}]"
