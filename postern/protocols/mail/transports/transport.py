"""The interface of transports, which get an envelope and a message and return one result per recipient.

Also the test addresses, whose outcome is the same on every transport.
"""

from collections.abc import Awaitable, Callable
from datetime import timedelta
from enum import StrEnum
from functools import lru_cache
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
    tenant: str | None = None
    """The project of the message, for transports that treat each project separately."""


class RecipientResult(msgspec.Struct, frozen=True, kw_only=True, tag_field="result", gc=False):
    """The result of one attempt for one recipient."""

    recipient: str
    code: int
    """The reply code (RFC 5321 §4.2); 0 without a reply."""
    enhanced: str
    """The enhanced status code (RFC 3463), such as `5.1.1`; empty if the server sent none."""
    text: str
    host: str
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


class DeliveryOutcome(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """The outcome of one attempt."""

    results: tuple[Result, ...]
    """One per recipient, in the order of the envelope."""
    host: str
    """`name:port` of the last server that was contacted, or the transport's name."""
    duration: timedelta
    ambiguous: bool = False
    """The final dot was sent without a reply, so it is unknown whether the server accepted the message (RFC 1047)."""
    no_server_contacted: bool = False
    """No server was contacted (circuit open, queue full), so this does not count as an attempt."""
    retry_after: timedelta | None = None
    """When to retry at the earliest, if the transport knows."""
    opening: tuple[tuple[str, bytes], ...] = ()
    """The start of the SMTP dialogue: greeting, EHLO, TLS, AUTH; shared by all messages of the connection."""
    exchange: tuple[tuple[str, bytes], ...] = ()
    """The SMTP dialogue of this message: `C` for the client, `S` for the server."""

    @property
    def dialogue(self) -> list[str]:
        """The SMTP dialogue line by line, `C: …` of the client and `S: …` of the server, without the message itself."""
        if self.opening and self.exchange and self.opening[-1][0] == self.exchange[0][0]:
            return dialogue_lines(self.opening + self.exchange)  # A line may begin in `opening` and end in `exchange`.
        return [*_cached_dialogue_lines(self.opening), *dialogue_lines(self.exchange)]


def dialogue_lines(chunks: tuple[tuple[str, bytes], ...]) -> list[str]:
    """The lines of a dialogue, each with its side: `C: …` or `S: …`."""
    lines: list[str] = []
    for side, data in joined_chunks(chunks):
        text = data.decode("utf-8", "replace").removesuffix("\n").removesuffix("\r")
        lines += [f"{side}: {line.rstrip()}" for line in text.split("\n")]
    return lines


@lru_cache(maxsize=64)
def _cached_dialogue_lines(chunks: tuple[tuple[str, bytes], ...]) -> tuple[str, ...]:
    """`dialogue_lines` of the start of a connection, cached because many messages share it."""
    return tuple(dialogue_lines(chunks))


def joined_chunks(chunks: tuple[tuple[str, bytes], ...]) -> list[tuple[str, bytes]]:
    """The dialogue with consecutive chunks of the same side joined, so that lines are complete."""
    joined: list[tuple[str, bytes]] = []
    for side, data in chunks:
        if joined and joined[-1][0] == side:
            joined[-1] = (side, joined[-1][1] + data)
        else:
            joined.append((side, data))
    return joined


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


def reject_all(envelope: Envelope, code: int, enhanced: str, text: str, host: str) -> DeliveryOutcome:
    """The outcome that rejects all recipients for the same reason, without contacting a server."""
    return DeliveryOutcome(
        results=tuple(
            Rejected(recipient=recipient, code=code, enhanced=enhanced, text=text, host=host, duration=NO_TIME)
            for recipient in envelope.recipients
        ),
        host=host,
        duration=NO_TIME,
    )


def defer_all(
    envelope: Envelope,
    text: str,
    host: str,
    *,
    duration: timedelta = NO_TIME,
    no_server_contacted: bool = False,
    retry_after: timedelta | None = None,
    opening: tuple[tuple[str, bytes], ...] = (),
    code: int = 0,
    enhanced: str = "",
) -> DeliveryOutcome:
    """The outcome that defers all recipients for the same reason."""
    return DeliveryOutcome(
        results=tuple(
            Deferred(recipient=recipient, code=code, enhanced=enhanced, text=text, host=host, duration=duration)
            for recipient in envelope.recipients
        ),
        host=host,
        duration=duration,
        no_server_contacted=no_server_contacted,
        retry_after=retry_after,
        opening=opening,
    )


def message_problem(message: bytes) -> str | None:
    """Why these octets must not be sent as a message; None if they can be.

    A bare CR or LF is forbidden (RFC 5321 §2.3.8), because some servers take it for a line end, which allows SMTP
    smuggling (CVE-2023-51764). NUL is forbidden even in 8-bit text (RFC 6152).
    """
    lines = message.count(b"\r\n")
    if message.count(b"\n") != lines or message.count(b"\r") != lines:
        return "The message contains a bare CR or LF."
    if b"\0" in message:
        return "The message contains a NUL character."
    return None


TEST_DOMAIN = "postern.test"
"""The domain of test addresses, which have a fixed outcome on every transport. It never exists in the DNS (RFC 6761
§6.2)."""


class FixedOutcome(StrEnum):
    """The outcome of mail to `<value>@postern.test`; `+tags` are allowed."""

    DELIVERED = "delivered"
    BOUNCED = "bounced"
    """A hard bounce: no such mailbox."""
    COMPLAINED = "complained"
    """Delivered, and then reported as spam."""
    DEFERRED = "deferred"
    """Deferred at every attempt."""
    SUPPRESSED = "suppressed"
    """As if the address was on the suppression list."""


def fixed_outcome(address: str) -> FixedOutcome | None:
    """The fixed outcome of a test address; None for all other addresses, also in TEST_DOMAIN."""
    local, _, domain = address.lower().rpartition("@")
    if domain.removesuffix(".") != TEST_DOMAIN:
        return None
    name = local.partition("+")[0]
    return next((fixed for fixed in FixedOutcome if fixed == name), None)


def fixed_result(fixed: FixedOutcome, recipient: str) -> Result:
    """The result for a test address with this fixed outcome."""
    if fixed is FixedOutcome.BOUNCED:
        kind, code, enhanced, text = Rejected, 550, "5.1.1", "No such user here"
    elif fixed is FixedOutcome.SUPPRESSED:
        kind, code, enhanced, text = Rejected, 550, "5.1.1", "On the suppression list"
    elif fixed is FixedOutcome.DEFERRED:
        kind, code, enhanced, text = Deferred, 451, "4.2.0", "Mailbox busy, try again later"
    else:
        return Accepted(
            recipient=recipient,
            code=250,
            enhanced="2.1.5",
            text="Delivered",
            host=TEST_DOMAIN,
            duration=NO_TIME,
            delivered=True,
        )
    return kind(recipient=recipient, code=code, enhanced=enhanced, text=text, host=TEST_DOMAIN, duration=NO_TIME)
