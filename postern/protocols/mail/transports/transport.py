"""The interface of transports, which get an envelope and a message and return one result per recipient."""

from collections.abc import Awaitable, Callable
from datetime import timedelta
from enum import StrEnum
from typing import Protocol, TypeAlias

import msgspec

LONGEST_DIALOGUE = 16_384
"""Maximum octets of the server's replies that an outcome contains."""
NO_TIME = timedelta()

BeforeDot: TypeAlias = Callable[[], Awaitable[None]]
"""Awaited right before the final dot, after which the server may accept the message."""


class DeliveryHooks(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """Functions that a transport awaits during a delivery."""

    admit: Callable[[], Awaitable[None]] | None = None
    """Awaited when a connection is free for a message, before the first command of the message. If it raises, the
    message is not sent, and the connection is used for the next one."""
    before_dot: BeforeDot | None = None
    """Awaited after the server accepted a recipient and before the final dot. If it raises or is never called, the
    server cannot have accepted the message."""


NO_HOOKS = DeliveryHooks()


class Envelope(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """The envelope of a message: its recipients and its return path."""

    mail_from: str
    """The return path; empty for messages that must not bounce (RFC 5321 §4.5.5)."""
    recipients: tuple[str, ...]
    message_id: str
    """The Message-ID, the same over all attempts."""
    needs_smtputf8: bool = False
    """Whether headers contain UTF-8 (RFC 6531). Non-ASCII addresses in the envelope are detected without this flag."""
    bulk: bool = False
    """Whether it is marketing mail, which cannot use the reserved connections."""
    require_tls: bool = False
    """Whether the message may be passed on only to authenticated servers that support REQUIRETLS (RFC 8689 §4.2)."""
    ignore_tls_policy: bool = False
    """Whether delivery matters more than TLS: policies of the recipients' domains are ignored (`TLS-Required: No`,
    RFC 8689 §5). Without effect if `require_tls` is True."""
    tenant: str | None = None
    """The project of the message, for transports that treat each project separately."""
    sources: tuple[str, ...] | None = None
    """The local IP addresses from which the message may leave; None if the transport chooses them."""
    has_safe_lines: bool = False
    """Whether the message has `mime.has_safe_lines` and ends with a line end, so that SMTP need not check and change
    its lines."""
    reference: str = ""
    """Identifies the message in the notifications of a provider such as Amazon SES; empty for none. At most 256
    letters, digits, `-` and `_`."""


class RecipientResult(msgspec.Struct, frozen=True, kw_only=True, tag_field="result", gc=False):
    """The result of one attempt for one recipient."""

    recipient: str
    code: int
    """The reply code (RFC 5321 §4.2); 0 without a reply."""
    enhanced: str
    """The enhanced status code (RFC 3463), such as `5.1.1`; empty if the server sent none."""
    text: str
    host: str
    """`name:port` of the server, or the name of the transport if none was contacted."""
    duration: timedelta


class Accepted(RecipientResult, frozen=True, kw_only=True, tag="accepted", gc=False):
    """The next hop accepted the message."""

    delivered: bool = False
    """Whether the next hop is the recipient's mailbox."""


class Deferred(RecipientResult, frozen=True, kw_only=True, tag="deferred", gc=False):
    """A temporary failure, which can be retried."""


class Rejected(RecipientResult, frozen=True, kw_only=True, tag="rejected", gc=False):
    """A permanent failure."""


Result: TypeAlias = Accepted | Deferred | Rejected


class WaitCause(StrEnum):
    """Why a message waits."""

    WARM_UP = "WARM_UP"
    """The warm-up plan of its sender's domain, or of each source address that it may use, allows no more today."""
    REPUTATION = "REPUTATION"
    """The rates of bounces or complaints of its sender's domain are too high."""
    SITE_SUSPENDED = "SITE_SUSPENDED"
    """The project or the operator has suspended its site (see `shaping`)."""
    SITE_SLOWED = "SITE_SLOWED"
    """Its site has asked for less mail."""
    SITE_UNREACHABLE = "SITE_UNREACHABLE"
    """Its site could not be reached several times in a row (the circuit breaker is open)."""
    CAPACITY = "CAPACITY"
    """Other messages to its site are sent first, because its rate or its connections are limited."""
    TLS = "TLS"
    """A policy of the recipient's domain, or the relay's settings, require TLS, which failed."""
    DEFERRED = "DEFERRED"
    """A server deferred it, or could not be reached."""
    SETUP = "SETUP"
    """The transport is not configured, or no process can render the message."""


class DeliveryOutcome(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """The outcome of one attempt."""

    results: tuple[Result, ...]
    """One per recipient, in the order of the envelope."""
    host: str
    """`name:port` of the last server that was contacted, or the transport's name."""
    duration: timedelta
    transport: str = ""
    """The name of the transport that made the attempt, if it was chosen among several."""
    site: str = ""
    """The name of the site (see `shaping`) whose limits apply; empty without one. If the recipients have several sites,
    the first one that deferred."""
    ambiguous: bool = False
    """The final dot was sent without a reply, so it is unknown whether the server accepted the message (RFC 1047)."""
    wait_cause: WaitCause | None = None
    """Why the message waits; None if the server's replies in the results are the reason."""
    no_server_contacted: bool = False
    """No server was contacted (circuit open, queue full), so this does not count as an attempt."""
    retry_after: timedelta | None = None
    """When to retry at the earliest, if the transport knows."""
    opening: tuple[tuple[str, bytes], ...] = ()
    """The start of the SMTP dialogue: greeting, EHLO, TLS, AUTH; shared by all messages of the connection."""
    provider_id: str = ""
    """The id that the provider gave to the message and wrote into its `Message-ID`; empty if the provider does not
    replace the `Message-ID`."""
    exchange: tuple[tuple[str, bytes], ...] = ()
    """The SMTP dialogue of this message: `C` for the client, `S` for the server, `TLS` for the parameters of TLS."""


class Transport(Protocol):
    """Delivers messages to the next hop. It tries once, stores nothing and never retries."""

    async def deliver(self, envelope: Envelope, message: bytes, hooks: DeliveryHooks = NO_HOOKS) -> DeliveryOutcome:
        """Send `message` (headers and body with CRLF line ends) to the next hop, once.

        Exceptions of `hooks` are raised here. A failure of the server is an outcome and not an exception.
        """
        ...

    @property
    def circuit_open(self) -> bool:
        """Whether the circuit breaker is open: an attempt now would end at once with `no_server_contacted`."""
        ...

    async def aclose(self) -> None:
        """Close all connections."""
        ...


def same_results(
    kind: type[Accepted | Deferred | Rejected],
    envelope: Envelope,
    code: int,
    enhanced: str,
    text: str,
    host: str,
    duration: timedelta,
) -> tuple[Result, ...]:
    """The same result for each recipient of the envelope."""
    return tuple(
        kind(recipient=recipient, code=code, enhanced=enhanced, text=text, host=host, duration=duration)
        for recipient in envelope.recipients
    )


def reject_all(envelope: Envelope, code: int, enhanced: str, text: str, host: str) -> DeliveryOutcome:
    """The outcome that rejects all recipients for the same reason, without contacting a server."""
    results = same_results(Rejected, envelope, code, enhanced, text, host, NO_TIME)
    return DeliveryOutcome(results=results, host=host, duration=NO_TIME)


def defer_all(
    envelope: Envelope,
    text: str,
    host: str,
    *,
    duration: timedelta = NO_TIME,
    no_server_contacted: bool = False,
    wait_cause: WaitCause | None = None,
    retry_after: timedelta | None = None,
    opening: tuple[tuple[str, bytes], ...] = (),
    code: int = 0,
    enhanced: str = "",
) -> DeliveryOutcome:
    """The outcome that defers all recipients for the same reason."""
    return DeliveryOutcome(
        results=same_results(Deferred, envelope, code, enhanced, text, host, duration),
        host=host,
        duration=duration,
        no_server_contacted=no_server_contacted,
        wait_cause=wait_cause,
        retry_after=retry_after,
        opening=opening,
    )
