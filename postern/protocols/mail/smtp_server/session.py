"""What a server and its handler share: limits, options, and the state of a session."""

import ssl
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

import msgspec

from postern.protocols.mail.smtp import SmtpReply


class SmtpLimits(msgspec.Struct, frozen=True, kw_only=True):
    """The limits of a server."""

    message_octets: int
    """Octets of a message; announced as SIZE."""
    recipients: int = 100
    """Recipients of a message (RFC 5321 §4.5.3.1.8 requires 100)."""
    connections: int = 10_000
    """Concurrent connections."""
    connections_per_network: int = 200
    """Concurrent connections from one IPv4 address or one IPv6 /64 network."""
    content_octets: int = 256 * 1024 * 1024
    """Octets of all messages together that are being received or processed, and of commands that wait; further
    messages get the reply 452, and further commands 421."""
    errors: int = 20
    """Commands that get a permanent error, before the connection is closed."""
    auth_failures: int = 3
    """Credentials that are refused, before the connection is closed."""
    commands: int = 1_000
    """Commands since the last accepted message, before the connection is closed."""
    command_seconds: float = 300.0
    """Time for the next command (RFC 5321 §4.5.3.2.7)."""
    busy_command_seconds: float = 10.0
    """Time for the next command, and to read replies, while most of the allowed connections are open."""
    message_seconds: float = 1_200.0
    """Time for the content of a message, from its first DATA or BDAT command to its end."""
    octets_per_second: int = 500
    """The slowest average rate at which the content of a message may arrive."""
    session_seconds: float = 7_200.0
    """Time for a whole session; a message that is being received is finished."""
    handshake_seconds: float = 30.0
    """Time for a TLS handshake."""


class SmtpOptions(msgspec.Struct, frozen=True, kw_only=True):
    """What a server offers and requires."""

    host: str
    """The name of the server in its greeting."""
    limits: SmtpLimits
    tls: ssl.SSLContext | None = None
    """For STARTTLS and implicit TLS; None if there is no certificate."""
    offers_auth: bool = False
    offers_require_tls: bool = False
    """Whether the server offers REQUIRETLS over TLS, by which clients require TLS for all further hops (RFC 8689)."""
    requires_auth: bool = False
    """Whether clients must authenticate before MAIL."""
    allows_plain_auth: Callable[[str], bool] = lambda _peer: False
    """Whether a client with this IP address may authenticate without TLS."""


@dataclass(slots=True)
class SmtpCounters:
    """What a server has counted on one of its ports since it started."""

    open: int = 0
    """Connections that are open at present."""
    accepted: int = 0
    """Connections that were accepted."""
    refused: int = 0
    """Connections that were refused, because there were too many or the server was stopping."""
    messages: int = 0
    """Messages that the handler accepted."""
    octets: int = 0
    """Octets of these messages."""
    auth_failures: int = 0
    """Credentials that were refused."""


@dataclass(slots=True)
class SmtpSession:
    """The state of a connection, for the handler."""

    peer: str
    """The client's IP address."""
    is_encrypted: bool = False
    hello: str = ""
    """The name that the client gave in EHLO or HELO."""
    is_extended: bool = False
    """Whether the client has sent EHLO instead of HELO."""
    is_authenticated: bool = False
    state: Any = None
    """What the handler keeps for the session. STARTTLS resets it."""
    sender: str | None = None
    """The envelope sender; an empty string for the null reverse-path, None outside of a transaction."""
    parameters: dict[str, str] = field(default_factory=dict[str, str])
    """The parameters of MAIL; their names are in upper case."""
    recipients: list[str] = field(default_factory=list[str])

    def end_transaction(self) -> None:
        """Forget sender and recipients."""
        self.sender = None
        self.parameters = {}
        self.recipients = []


class SmtpHandler(Protocol):
    """What a server does with credentials, addresses and messages.

    The server has checked the syntax, the order of commands and its limits. It sends the reply that a method returns; a
    2xx reply means success, and a 421 closes the connection. An exception is logged and gets the reply 451.
    """

    async def authenticate(self, session: SmtpSession, user: str, password: str) -> SmtpReply:
        """Check a credential. Returns the reply 235 if it is valid."""
        ...

    async def mail(self, session: SmtpSession, address: str, parameters: dict[str, str]) -> SmtpReply:
        """Begin a transaction. `address` is an empty string for the null reverse-path."""
        ...

    async def recipient(self, session: SmtpSession, address: str, parameters: dict[str, str]) -> SmtpReply:
        """Add a recipient to the transaction."""
        ...

    async def message(self, session: SmtpSession, content: bytes) -> SmtpReply:
        """Take responsibility for a message; 250 after it is stored. All its lines end with CRLF.

        The call is not cancelled if the client closes the connection meanwhile.
        """
        ...
