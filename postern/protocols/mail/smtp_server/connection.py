"""The connection of one SMTP client to a server.

It uses asyncio's protocol interface instead of streams: an idle connection has neither a task nor a timer, and the
replies to pipelined commands are sent in one write. While the handler executes a command in a task, further commands
wait.
"""

import asyncio
from collections.abc import Callable, Coroutine
from enum import Enum, auto
from typing import TYPE_CHECKING, Any, Final

import structlog

from postern.protocols.mail.smtp import SmtpReply
from postern.protocols.mail.smtp_server.commands import (
    CommandRefused,
    decode_credential,
    encode_lines,
    encode_reply,
    parse_chunk,
    parse_hello,
    parse_path,
    parse_plain,
    parse_size,
)
from postern.protocols.mail.smtp_server.content import (
    NO_MEMORY,
    TOO_LARGE,
    BareLineEnd,
    ContentReader,
    TooMuchContent,
)
from postern.protocols.mail.smtp_server.session import SmtpCounters, SmtpSession

if TYPE_CHECKING:
    from postern.protocols.mail.smtp_server.server import SmtpServer

log: structlog.stdlib.BoundLogger = structlog.get_logger(__name__)

LINE_OCTETS: Final = 12_288
"""Octets of a command line or a line of the AUTH dialogue, with CRLF (RFC 4954 §4)."""
READ_AHEAD_OCTETS: Final = 65_536
"""Octets of pipelined commands that are kept while a command is executed; with more, the connection is not read."""
REPLIES_AT_ONCE: Final = 16
"""Replies that are collected for one write."""
UNREAD_OCTETS: Final = 16_384
"""Octets of replies that wait for the client to read them; with more, no further command is executed."""
LINGER_OCTETS: Final = 1024 * 1024
"""Octets that are discarded on a connection that is being closed. Unread octets would make the operating system reset
it, and the client might not see the last reply."""
LINGER_SECONDS: Final = 5.0
"""How long a connection that is being closed is kept for the client to read the last reply."""
RATE_WINDOW_SECONDS: Final = 60.0
"""The period over which the rate of a message that is being received is measured."""
HTTP_METHODS = frozenset(("GET", "POST", "PUT", "HEAD", "CONNECT", "OPTIONS", "PATCH", "DELETE"))
"""First words of HTTP requests, which browsers can be made to send to a mail server."""
PERMANENT_ERROR: Final = 500
"""The lowest code of a permanent error (RFC 5321 §4.2.1)."""
AUTH_UNAVAILABLE: Final = 454
"""The code for a credential that cannot be checked at present (RFC 4954 §6)."""
SERVICE_NOT_AVAILABLE: Final = 421
"""The code of the last reply before the server closes the connection (RFC 5321 §3.8)."""

OK = SmtpReply(250, "2.0.0", "OK")
GOODBYE = SmtpReply(221, "2.0.0", "Goodbye.")
HANDLER_FAILED = SmtpReply(451, "4.3.0", "A temporary error has occurred; try again later.")
LINE_END_INVALID = SmtpReply(554, "5.5.2", "Lines must end with CRLF; CR or LF alone is not allowed.")
CONTENT_LINE_END_INVALID = SmtpReply(
    554, "5.6.11", "Lines of the message must end with CRLF; CR or LF alone is not allowed."
)
LINE_TOO_LONG = SmtpReply(554, "5.5.2", f"A line can have at most {LINE_OCTETS} octets.")
TOO_MANY_ERRORS = SmtpReply(421, "4.7.0", "There were too many errors.")
TOO_MANY_COMMANDS = SmtpReply(421, "4.7.0", "There were too many commands without a message.")
NOT_HTTP = SmtpReply(421, "4.7.0", "This is a mail server.")
TOO_SLOW = SmtpReply(421, "4.4.2", "The message arrives too slowly.")
IDLE = SmtpReply(421, "4.4.2", "No command arrived in time.")
NO_MEMORY_LEFT = SmtpReply(421, "4.3.1", "The server is receiving too much at the moment; try again later.")
SESSION_TOO_LONG = SmtpReply(421, "4.4.2", "The connection was open for too long; open a new one.")
STOPPING = SmtpReply(421, "4.3.2", "The server is shutting down; try again later.")
TLS_NEEDED = SmtpReply(530, "5.7.0", "Use STARTTLS first.")
AUTHENTICATION_NEEDED = SmtpReply(530, "5.7.0", "Authentication is required: use AUTH.")
TOO_MANY_RECIPIENTS = SmtpReply(452, "4.5.3", "The message has too many recipients.")


class Mode(Enum):
    """What the next octets of a connection are."""

    COMMAND = auto()
    CREDENTIAL = auto()
    """A line of the AUTH dialogue."""
    DATA = auto()
    """The content of a message, up to CRLF.CRLF."""
    CHUNK = auto()
    """The content of a BDAT command."""
    HANDSHAKE = auto()
    """A TLS handshake, which the transport reads."""
    CLOSING = auto()
    """The last reply is sent; further octets are discarded."""


class SmtpServerConnection(asyncio.Protocol):
    """The connection of one client."""

    def __init__(self, server: "SmtpServer", counters: SmtpCounters, *, implicit_tls_peer: str | None = None) -> None:
        """`counters` are those of its port. `implicit_tls_peer`: the client's IP address if the server has admitted the
        connection before its TLS handshake."""
        self._server = server
        self.counters = counters
        self._handler, self._options, self._limits = server.handler, server.options, server.options.limits
        self.session = SmtpSession(implicit_tls_peer or "", is_encrypted=implicit_tls_peer is not None)
        self._loop = asyncio.get_running_loop()
        self._mode = Mode.COMMAND if implicit_tls_peer is None else Mode.HANDSHAKE
        self._buffer = bytearray()
        """Received octets that are not processed yet."""
        self._buffer_reserved = 0
        """Octets of `_buffer` that count in the memory for messages."""
        self._has_lost_commands = False
        """Whether commands were discarded, so that the connection ends after the one that is being executed."""
        self._replies: list[bytes] = []
        """Replies that are not sent yet."""
        self._task: asyncio.Task[None] | None = None
        """The execution of a command by the handler, or a TLS handshake."""
        self._has_ended = False
        """Whether the client has closed its side of the connection."""
        self._is_reading = True
        self._is_write_paused = False
        self._errors = self._commands = self._auth_failures = 0
        self._login_user: str | None = None
        self._uses_login = False
        self._content: ContentReader | None = None
        """The content of the transaction, from its first DATA or BDAT on."""
        self._chunk_left, self._chunk_is_last = 0, False
        self._discarded = 0
        """Octets that were discarded while the connection is being closed."""
        self._began_at = self._phase_began_at = self._rate_checked_at = self._content_began_at = self._loop.time()
        self._octets_at_check = 0

    # The transport.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Greet the client."""
        self._transport: asyncio.Transport = transport  # pyright: ignore[reportAttributeAccessIssue]
        self._transport.set_write_buffer_limits(high=UNREAD_OCTETS)
        if self.session.is_encrypted:
            self._mode = Mode.COMMAND
            self._phase_began_at = self._loop.time()
            refusal = STOPPING if self._server.is_stopping else None
        else:
            peer: Any = transport.get_extra_info("peername")
            self.session.peer = str(peer[0]) if peer else ""
            refusal = self._server.admit(self)
        self._replies.append(encode_reply(refusal or SmtpReply(220, "", f"{self._options.host} ESMTP")))
        self._flush()
        if refusal is not None:
            self._mode = Mode.CLOSING
            self._transport.close()

    def data_received(self, data: bytes) -> None:
        """Process received octets."""
        if self._mode is Mode.CLOSING:
            self._discarded += len(data)
            if self._discarded > LINGER_OCTETS:
                self._transport.abort()
            return
        self._buffer += data
        if self._mode is not Mode.HANDSHAKE:
            self._advance()

    def eof_received(self) -> bool:
        """Keep the connection while a command is being executed, so that its reply can be sent. asyncio does not allow
        that with TLS."""
        self._has_ended = True
        keeps = self._task is not None and not self.session.is_encrypted and self._mode is not Mode.CLOSING
        if not keeps:
            self._transport.close()
        return keeps

    def connection_lost(self, exc: Exception | None) -> None:
        """Release what the connection holds, unless its message is still being processed."""
        self._mode = Mode.CLOSING
        self._discard_buffer()
        self._replies.clear()
        if self._task is None:
            self._remove()

    def pause_writing(self) -> None:
        """Execute no further commands until the client reads the replies."""
        self._is_write_paused = True

    def resume_writing(self) -> None:
        """Continue after `pause_writing`."""
        self._is_write_paused = False
        self._advance()

    def abort(self) -> None:
        """Close the connection without a reply."""
        self._mode = Mode.CLOSING
        self._transport.abort()

    def _remove(self) -> None:
        self._discard_buffer()
        self._end_transaction()
        self._server.remove(self)

    # Limits of time.

    def end_if_idle(self) -> None:
        """Close the connection because the server stops, unless a message is being received or processed."""
        if self._task is None and self._mode in (Mode.COMMAND, Mode.CREDENTIAL):
            self._end(STOPPING)

    def end_if_late(self, now: float) -> None:
        """Close the connection if the client is slower than the limits allow; `now` is the event loop's time."""
        waited = now - self._phase_began_at
        limits = self._limits
        longest_wait = limits.busy_command_seconds if self._server.is_busy else limits.command_seconds
        if self._mode is Mode.HANDSHAKE or (self._task is not None and not self._is_write_paused):
            return
        if self._mode is Mode.CLOSING:
            if waited > LINGER_SECONDS:
                self._transport.abort()
        elif self._is_write_paused:
            if waited > longest_wait:
                self.abort()
        elif self._content is not None and now - self._content_began_at > limits.message_seconds:
            self._end(TOO_SLOW)
        elif self._mode in (Mode.DATA, Mode.CHUNK):
            self._end_if_slow(now)
        elif waited > longest_wait:
            self._end(IDLE)
        elif now - self._began_at > limits.session_seconds:
            self._end(SESSION_TOO_LONG)

    def _end_if_slow(self, now: float) -> None:
        octets = self._content.octets if self._content else 0
        if now - self._rate_checked_at >= RATE_WINDOW_SECONDS:
            rate = (octets - self._octets_at_check) / (now - self._rate_checked_at)
            self._rate_checked_at, self._octets_at_check = now, octets
            if rate < self._limits.octets_per_second:
                self._end(TOO_SLOW)

    # The dialogue.

    def _advance(self) -> None:
        """Process received octets as far as possible, and send the replies together (RFC 2920 §3.2)."""
        self._reserve(0)  # The octets become content, which is counted by its reader.
        while self._task is None and not self._is_write_paused and self._mode is not Mode.CLOSING and self._next():
            if len(self._replies) >= REPLIES_AT_ONCE:
                self._flush()
        if self._mode is Mode.CLOSING or self._transport.is_closing():
            return
        if self._task is None:
            self._flush()
            if self._has_ended:
                self._transport.close()
                return
        self._balance_reading()

    def _next(self) -> bool:
        """Process the next line or piece of content. Returns False if more octets must arrive before."""
        if self._mode is Mode.DATA or self._mode is Mode.CHUNK:
            try:
                return self._take_data() if self._mode is Mode.DATA else self._take_chunk()
            except BareLineEnd:
                self._end(CONTENT_LINE_END_INVALID)
            except TooMuchContent:
                self._end((self._content and self._content.refusal) or TOO_LARGE)
            return False
        return self._take_line()

    def _balance_reading(self) -> None:
        """Stop reading while too many octets wait to be processed, and count them in the memory for messages."""
        if self._mode is Mode.HANDSHAKE:
            return  # The connection is not read, and what was received is discarded (see `_shake_hands`).
        waiting, budget = len(self._buffer), self._server.budget
        self._reserve(waiting)
        if waiting > LINE_OCTETS and budget.used > budget.limit:
            self._refuse_commands()
            return
        may_read = waiting <= READ_AHEAD_OCTETS
        if may_read != self._is_reading:
            self._is_reading = may_read
            if may_read:
                self._transport.resume_reading()
            else:
                self._transport.pause_reading()

    def _refuse_commands(self) -> None:
        """Close the connection because there is no memory for its commands, after the one that is being executed."""
        self._discard_buffer()
        if self._task is None:
            self._end(NO_MEMORY_LEFT)
            return
        self._has_lost_commands = True
        if self._is_reading:
            self._is_reading = False
            self._transport.pause_reading()

    def _discard_buffer(self) -> None:
        self._buffer.clear()
        self._reserve(0)

    def _reserve(self, octets: int) -> None:
        """Count this many octets of `_buffer` in the memory for messages."""
        self._server.budget.used += octets - self._buffer_reserved
        self._buffer_reserved = octets

    def _take_line(self) -> bool:
        end = self._buffer.find(b"\n")
        if end < 0:
            # A CR that another octet follows is refused before the line is complete.
            if self._buffer.find(b"\r", 0, -1) >= 0:
                self._end(LINE_END_INVALID)
            elif len(self._buffer) >= LINE_OCTETS:
                self._end(LINE_TOO_LONG)
            return False
        line = bytes(self._buffer[: end + 1])
        del self._buffer[: end + 1]
        if len(line) > LINE_OCTETS:
            self._end(LINE_TOO_LONG)
        elif end == 0 or line.find(b"\r") != end - 1:
            self._end(LINE_END_INVALID)
        else:
            self._phase_began_at = self._loop.time()
            try:
                self._execute(line[:-2])
            except CommandRefused as refused:
                if self._mode is Mode.CREDENTIAL:
                    self._mode = Mode.COMMAND
                self._reply(refused.reply)
        return True

    def _execute(self, line: bytes) -> None:
        """Execute a command line, or continue the AUTH dialogue. Raises CommandRefused."""
        try:
            text = line.decode()
        except UnicodeDecodeError:
            raise CommandRefused(500, "5.5.2", "A command must be ASCII or UTF-8 text.") from None
        if self._mode is Mode.CREDENTIAL:
            self._take_credential(text)
            return
        verb, _, argument = text.partition(" ")
        command = self._command(verb.upper())
        self._commands += 1
        if self._commands > self._limits.commands:
            self._end(TOO_MANY_COMMANDS)
        elif verb.upper() in HTTP_METHODS:
            self._end(NOT_HTTP)
        elif command is None:
            raise CommandRefused(500, "5.5.1", "This command is not known.")
        else:
            command(argument)

    def _command(self, verb: str) -> Callable[[str], None] | None:
        match verb:
            case "EHLO":
                return self._extended_hello
            case "HELO":
                return self._hello
            case "MAIL":
                return self._mail
            case "RCPT":
                return self._recipient
            case "DATA":
                return self._data
            case "BDAT":
                return self._chunk
            case "RSET":
                return self._reset
            case "NOOP":
                return lambda _argument: self._reply(OK)
            case "QUIT":
                return self._quit
            case "STARTTLS":
                return self._starttls
            case "AUTH":
                return self._auth
            case "VRFY":
                return lambda _argument: self._reply(SmtpReply(252, "2.0.0", "Send a message to verify an address."))
            case "HELP":
                return lambda _argument: self._reply(SmtpReply(214, "2.0.0", "See RFC 5321."))
            case _:
                return None

    def _extended_hello(self, argument: str) -> None:
        self._begin_session(argument, is_extended=True)
        lines = [self._options.host, "PIPELINING", f"SIZE {self._limits.message_octets}", "8BITMIME", "SMTPUTF8"]
        lines += ["CHUNKING", "ENHANCEDSTATUSCODES"]
        if self._options.tls is not None and not self.session.is_encrypted:
            lines.append("STARTTLS")
        if self._may_require_tls():
            lines.append("REQUIRETLS")
        if self._options.offers_auth and self._may_authenticate():
            lines.append("AUTH PLAIN LOGIN")
        self._replies.append(encode_lines(250, lines))

    def _hello(self, argument: str) -> None:
        self._begin_session(argument, is_extended=False)
        self._reply(SmtpReply(250, "", self._options.host))

    def _begin_session(self, argument: str, *, is_extended: bool) -> None:
        hello = parse_hello(argument)
        self._end_transaction()
        self.session.hello, self.session.is_extended = hello, is_extended

    def _reset(self, argument: str) -> None:
        _require_no_argument(argument)
        self._end_transaction()
        self._reply(OK)

    def _quit(self, argument: str) -> None:
        _require_no_argument(argument)
        self._replies.append(encode_reply(GOODBYE))
        self._flush()
        self._mode = Mode.CLOSING
        self._phase_began_at = self._loop.time()
        self._transport.close()

    # TLS.

    def _starttls(self, argument: str) -> None:
        _require_no_argument(argument)
        if self._options.tls is None or self.session.is_encrypted:
            raise CommandRefused(503, "5.5.1", "STARTTLS is not possible here.")
        # Reading stops before the reply that lets the client begin, so that no octet of its handshake is lost.
        self._transport.pause_reading()
        self._reply(SmtpReply(220, "2.0.0", "Ready to start TLS."))
        self._flush()
        self._mode = Mode.HANDSHAKE
        self._task = self._server.run_in_background(self._shake_hands())

    async def _shake_hands(self) -> None:
        context, transport = self._options.tls, None
        # Octets received before the handshake were not encrypted, so an attacker may have inserted them. They must not
        # be executed as if they had arrived encrypted (CVE-2011-0411). After `start_tls`, all octets are from TLS.
        self._discard_buffer()
        try:
            if context is not None and self._mode is not Mode.CLOSING:
                transport = await self._loop.start_tls(
                    self._transport,
                    self,
                    context,
                    server_side=True,
                    ssl_handshake_timeout=self._limits.handshake_seconds,
                    ssl_shutdown_timeout=LINGER_SECONDS,
                )
        except (OSError, TimeoutError, asyncio.CancelledError):
            pass  # The handshake failed: the connection is closed below.
        self._task = None
        if transport is None or self._mode is Mode.CLOSING:
            self.abort()
            self._remove()
            return
        self._transport = transport
        self._transport.set_write_buffer_limits(high=UNREAD_OCTETS)
        self._is_reading = True
        self._mode = Mode.COMMAND
        self._phase_began_at = self._loop.time()
        self.session = SmtpSession(self.session.peer, is_encrypted=True)  # RFC 3207 §4.2.
        self._advance()

    # Authentication.

    def _may_authenticate(self) -> bool:
        return self.session.is_encrypted or self._options.allows_plain_auth(self.session.peer)

    def _auth(self, argument: str) -> None:
        if not self._options.offers_auth:
            raise CommandRefused(502, "5.5.1", "AUTH is not offered here.")
        if not self._may_authenticate():
            raise CommandRefused(538, "5.7.11", "Encryption is required for AUTH: use STARTTLS first.")
        if not self.session.is_extended or self.session.is_authenticated or self.session.sender is not None:
            raise CommandRefused(503, "5.5.1", "AUTH is possible once, after EHLO and outside of a transaction.")
        mechanism, _, response = argument.strip().partition(" ")
        if mechanism.upper() not in ("PLAIN", "LOGIN"):
            raise CommandRefused(504, "5.5.4", "The mechanisms are PLAIN and LOGIN.")
        self._uses_login, self._login_user = mechanism.upper() == "LOGIN", None
        self._mode = Mode.CREDENTIAL
        if response:
            self._take_credential(response)
        else:
            self._ask("VXNlcm5hbWU6" if self._uses_login else "")  # `Username:`

    def _ask(self, challenge: str) -> None:
        self._replies.append(f"334 {challenge}\r\n".encode())

    def _take_credential(self, line: str) -> None:
        if line == "*":
            raise CommandRefused(501, "5.7.0", "Authentication was cancelled.")
        text = decode_credential(line)
        if not self._uses_login:
            user, password = parse_plain(text)
        elif self._login_user is None:
            self._login_user = text
            self._ask("UGFzc3dvcmQ6")  # `Password:`
            return
        else:
            user, password = self._login_user, text
        self._mode = Mode.COMMAND
        self._start(self._handler.authenticate(self.session, user, password), self._authenticated)

    def _authenticated(self, reply: SmtpReply) -> None:
        self.session.is_authenticated = reply.is_success
        if not reply.is_success and reply.code != AUTH_UNAVAILABLE:
            self.counters.auth_failures += 1
        self._reply(reply)
        if not reply.is_success and self._mode is not Mode.CLOSING:
            self._auth_failures += 1
            if self._auth_failures >= self._limits.auth_failures:
                self._end(TOO_MANY_ERRORS)

    # Transactions.

    def _mail(self, argument: str) -> None:
        session = self.session
        if self._options.requires_auth and not session.is_authenticated:
            raise CommandRefused.of(AUTHENTICATION_NEEDED if self._may_authenticate() else TLS_NEEDED)
        if not session.hello:
            raise CommandRefused(503, "5.5.1", "Send EHLO first.")
        if session.sender is not None:
            raise CommandRefused(503, "5.5.1", "MAIL was sent already.")
        if self._loop.time() - self._began_at > self._limits.session_seconds:
            self._end(SESSION_TOO_LONG)  # The periodic check may never see the connection between two messages.
            return
        path = parse_path(argument, "FROM", smtputf8=False)
        known = {"SIZE", "BODY", "SMTPUTF8", "AUTH"} | ({"REQUIRETLS"} if self._may_require_tls() else set[str]())
        unknown = path.parameters.keys() - (known if session.is_extended else set())
        if (
            unknown
            or path.parameters.get("REQUIRETLS")
            or path.parameters.get("BODY", "7BIT").upper() not in ("7BIT", "8BITMIME")
        ):
            raise CommandRefused(555, "5.5.4", "A parameter of MAIL is not supported.")
        if parse_size(path.parameters) > self._limits.message_octets:
            raise CommandRefused.of(TOO_LARGE)

        def finish(reply: SmtpReply) -> None:
            if reply.is_success:
                self._end_transaction()  # A BDAT before MAIL may have left a ContentReader with a refusal.
                session.sender, session.parameters = path.address, path.parameters
            self._reply(reply)

        self._start(self._handler.mail(session, path.address, path.parameters), finish)

    def _may_require_tls(self) -> bool:
        """RFC 8689 §4.1: the extension is offered, and its parameter accepted, only over TLS."""
        return self._options.offers_require_tls and self.session.is_encrypted

    def _recipient(self, argument: str) -> None:
        session = self.session
        if session.sender is None:
            raise CommandRefused(503, "5.5.1", "Send MAIL first.")
        path = parse_path(argument, "TO", smtputf8="SMTPUTF8" in session.parameters)
        if path.parameters:
            raise CommandRefused(555, "5.5.4", "A parameter of RCPT is not supported.")
        if len(session.recipients) >= self._limits.recipients:
            raise CommandRefused.of(TOO_MANY_RECIPIENTS)

        def finish(reply: SmtpReply) -> None:
            if reply.is_success:
                session.recipients.append(path.address)
            self._reply(reply)

        self._start(self._handler.recipient(session, path.address, path.parameters), finish)

    def _require_recipients(self) -> None:
        if self.session.sender is None:
            raise CommandRefused(503, "5.5.1", "Send MAIL first.")
        if not self.session.recipients:
            raise CommandRefused(554, "5.5.1", "There are no valid recipients.")

    def _data(self, argument: str) -> None:
        _require_no_argument(argument)
        self._require_recipients()
        if self._content is not None:
            raise CommandRefused(503, "5.5.1", "DATA cannot follow BDAT in one transaction.")
        if self._server.budget.used >= self._server.budget.limit:
            raise CommandRefused.of(NO_MEMORY)
        self._enter_content(Mode.DATA)
        self._reply(SmtpReply(354, "", "End the message with a line that has only a dot."))

    def _chunk(self, argument: str) -> None:
        try:
            self._chunk_left, self._chunk_is_last = parse_chunk(argument)
        except CommandRefused as refused:
            # The end of the command's content is unknown, so its content could be executed as commands.
            self._end(refused.reply)
            return
        content = self._enter_content(Mode.CHUNK)
        try:
            self._require_recipients()
        except CommandRefused as refused:
            content.refusal = content.refusal or refused.reply  # The content follows nevertheless (RFC 3030 §2).

    def _enter_content(self, mode: Mode) -> ContentReader:
        self._mode = mode
        if self._content is None:
            self._content = ContentReader(self._server.budget, self._limits.message_octets)
            self._content_began_at = self._loop.time()
        self._phase_began_at = self._rate_checked_at = self._loop.time()
        self._octets_at_check = self._content.octets
        return self._content

    def _take_data(self) -> bool:
        """Take content up to CRLF.CRLF. Returns False if the message is not complete."""
        content = self._content
        if content is None or not content.add_data(self._buffer):
            return False
        self._process(content)
        return True

    def _take_chunk(self) -> bool:
        """Take content of a BDAT command. Returns False if it is not complete."""
        octets = self._buffer[: self._chunk_left]
        del self._buffer[: self._chunk_left]
        self._chunk_left -= len(octets)
        content = self._content
        assert content is not None
        content.add_chunk(octets, is_last=self._chunk_is_last and not self._chunk_left)
        if self._chunk_left:
            return False
        if self._chunk_is_last:
            self._process(content)
        else:
            self._mode = Mode.COMMAND
            self._reply(content.refusal or SmtpReply(250, "2.0.0", "The chunk was received."))
        return True

    def _process(self, content: ContentReader) -> None:
        """Pass a complete message to the handler, unless it is refused. Its memory is released afterwards."""
        self._mode = Mode.COMMAND
        message = content.finish()
        if content.refusal is None:
            self._start(self._handle(message), self._processed)
        else:
            self._processed(content.refusal)

    async def _handle(self, message: bytes) -> SmtpReply:
        reply = await self._handler.message(self.session, message)
        if reply.is_success:  # It is accepted even if the client does not wait for the reply.
            self.counters.messages += 1
            self.counters.octets += len(message)
        return reply

    def _processed(self, reply: SmtpReply) -> None:
        if reply.is_success:
            self._commands = 0
        self._end_transaction()
        self._reply(reply)

    def _end_transaction(self) -> None:
        if self._content is not None:
            self._content.release()
            self._content = None
        self.session.end_transaction()

    # Execution by the handler, and replies.

    def _start(self, work: Coroutine[Any, Any, SmtpReply], finish: Callable[[SmtpReply], None]) -> None:
        """Let the handler execute a command; then `finish` gets the reply, and the next command is processed."""
        self._task = self._server.run_in_background(self._run(work, finish))

    async def _run(self, work: Coroutine[Any, Any, SmtpReply], finish: Callable[[SmtpReply], None]) -> None:
        try:
            reply = await work
        except Exception:
            log.exception("smtp_handler_failed")
            reply = HANDLER_FAILED
        finally:
            self._task = None
        self._phase_began_at = self._loop.time()
        if self._transport.is_closing():
            self._remove()
            return
        finish(reply)
        if self._server.is_stopping and self._mode is Mode.COMMAND:
            self._end(STOPPING)
        elif self._has_lost_commands:
            self._end(NO_MEMORY_LEFT)
        self._advance()

    def _reply(self, reply: SmtpReply) -> None:
        """Queue a reply for the next write. Closes the connection after too many errors, and after the reply 421."""
        if reply.code == SERVICE_NOT_AVAILABLE:
            self._end(reply)
            return
        self._replies.append(encode_reply(reply))
        if reply.code >= PERMANENT_ERROR:
            self._errors += 1
            if self._errors >= self._limits.errors:
                self._end(TOO_MANY_ERRORS)

    def _flush(self) -> None:
        if self._replies:
            self._transport.write(b"".join(self._replies))
            self._replies.clear()

    def _end(self, reply: SmtpReply) -> None:
        """Send the last reply and close the connection.

        The client may still be sending, so it is read until it closes the connection, at most for LINGER_SECONDS.
        """
        if self._mode is Mode.CLOSING:
            return
        self._replies.append(encode_reply(reply))
        self._flush()
        self._mode = Mode.CLOSING
        self._phase_began_at = self._loop.time()
        self._discard_buffer()
        self._end_transaction()
        if self._has_ended or not self._transport.can_write_eof():
            self._transport.close()  # A TLS transport reads until the client closes, too.
            return
        try:
            self._transport.write_eof()
        except OSError:
            # The client has reset the connection, and the event loop has not read that yet.
            self._transport.abort()
            return
        if not self._is_reading:
            self._transport.resume_reading()


def _require_no_argument(argument: str) -> None:
    if argument.strip():
        raise CommandRefused(501, "5.5.4", "This command has no argument.")
