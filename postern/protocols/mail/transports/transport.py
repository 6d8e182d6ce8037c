"""What all transports have in common: an envelope goes in, one result per recipient comes out. And test addresses."""

from collections.abc import Awaitable, Callable
from datetime import timedelta
from enum import StrEnum
from functools import lru_cache
from typing import Protocol, TypeAlias

import msgspec

LONGEST_DIALOGUE = 16_384
"""Octets of what the peer said that an outcome keeps."""
NO_TIME = timedelta()

BeforeDot: TypeAlias = Callable[[], Awaitable[None]]
"""Awaited just before a message becomes the peer's: the last moment at which nothing has been handed over."""
Admit: TypeAlias = Callable[[], Awaitable[None]]
"""Awaited when a connection is free for a message and before its first command: the last moment at which the peer has
not heard of it. Where it raises, the message is not sent and the connection serves the next one."""


class Envelope(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """The envelope of a message: its recipients and its return path."""

    mail_from: str
    """The return path; empty for messages that nobody may bounce (RFC 5321 §4.5.5)."""
    recipients: tuple[str, ...]
    message_id: str
    """The Message-ID, the same over all attempts."""
    needs_smtputf8: bool = False
    """Whether headers carry raw UTF-8 (RFC 6531); raw addresses are found without it."""
    bulk: bool = False
    """Marketing mail: it never takes the connections reserved for everything else."""
    tenant: str | None = None
    """The project of the message, for transports that keep projects apart."""


class RecipientResult(msgspec.Struct, frozen=True, kw_only=True, tag_field="result", gc=False):
    """The result of one attempt for one recipient."""

    recipient: str
    code: int
    """The reply code of RFC 5321 §4.2; 0 where no peer spoke."""
    enhanced: str
    """The enhanced status code of RFC 3463, such as `5.1.1`; empty where the peer gave none."""
    text: str
    host: str
    duration: timedelta


class Accepted(RecipientResult, frozen=True, kw_only=True, tag="accepted", gc=False):
    """The next hop accepted the message."""

    delivered: bool = False
    """Whether the next hop was the recipient's own mailbox."""


class Deferred(RecipientResult, frozen=True, kw_only=True, tag="deferred", gc=False):
    """A temporary failure: try again later."""


class Rejected(RecipientResult, frozen=True, kw_only=True, tag="rejected", gc=False):
    """A permanent failure."""


Result: TypeAlias = Accepted | Deferred | Rejected


class DeliveryOutcome(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """The outcome of one attempt."""

    results: tuple[Result, ...]
    """One per recipient, in the order of the envelope."""
    host: str
    """`name:port` of the last peer that was asked, or the transport's own name."""
    duration: timedelta
    ambiguous: bool = False
    """The final dot went out and no reply came: the peer may or may not have taken the message (RFC 1047)."""
    untried: bool = False
    """No peer was asked for this message (circuit open, queue full): it need not count as an attempt."""
    retry_after: timedelta | None = None
    """How long the transport asks to be left alone, where it knows."""
    opening: tuple[tuple[str, bytes], ...] = ()
    """How the connection began: greeting, EHLO, TLS, AUTH; shared by all messages of that connection."""
    exchange: tuple[tuple[str, bytes], ...] = ()
    """What was said for this message: `C` for us, `S` for the peer."""

    @property
    def dialogue(self) -> list[str]:
        """The conversation line by line, `C: …` ours and `S: …` theirs; the message itself is left out."""
        if self.opening and self.exchange and self.opening[-1][0] == self.exchange[0][0]:
            return spelled(self.opening + self.exchange)  # One packet may end in the other.
        return [*_spelled_opening(self.opening), *spelled(self.exchange)]


def spelled(said: tuple[tuple[str, bytes], ...]) -> list[str]:
    """A conversation line by line."""
    lines: list[str] = []
    for speaker, words in merged(said):
        text = words.decode("utf-8", "replace").removesuffix("\n").removesuffix("\r")
        lines += [f"{speaker}: {line.rstrip()}" for line in text.split("\n")]
    return lines


@lru_cache(maxsize=64)
def _spelled_opening(said: tuple[tuple[str, bytes], ...]) -> tuple[str, ...]:
    """The same, of what all messages of a connection share."""
    return tuple(spelled(said))


def merged(said: tuple[tuple[str, bytes], ...]) -> list[tuple[str, bytes]]:
    """The same conversation with packets of one speaker joined, so that no line is torn."""
    whole: list[tuple[str, bytes]] = []
    for speaker, words in said:
        if whole and whole[-1][0] == speaker:
            whole[-1] = (speaker, whole[-1][1] + words)
        else:
            whole.append((speaker, words))
    return whole


class Transport(Protocol):
    """Delivers messages to the next hop. It tries once, stores nothing and never retries."""

    async def deliver(
        self,
        envelope: Envelope,
        message: bytes,
        *,
        before_dot: BeforeDot | None = None,
        admit: Admit | None = None,
    ) -> DeliveryOutcome:
        """Hand `message` (CRLF lines, headers and body) to the next hop, once.

        `before_dot` is awaited after the peer agreed to take the message and before it can have taken it.
        Where it raises, nothing was handed over and the exception goes up; where it was never called,
        nothing was handed over either. `admit` is awaited earlier, see `Admit`.
        A failure of the peer is an outcome, never an exception.
        """
        ...

    @property
    def open(self) -> bool:
        """Whether the circuit is open: an attempt now would end at once with `untried`."""
        ...

    async def aclose(self) -> None:
        """Close all connections."""
        ...


def refuse(envelope: Envelope, code: int, enhanced: str, text: str, host: str) -> DeliveryOutcome:
    """All recipients rejected for the same reason, without asking a peer."""
    return DeliveryOutcome(
        results=tuple(
            Rejected(recipient=recipient, code=code, enhanced=enhanced, text=text, host=host, duration=NO_TIME)
            for recipient in envelope.recipients
        ),
        host=host,
        duration=NO_TIME,
    )


def postpone(
    envelope: Envelope,
    text: str,
    host: str,
    *,
    duration: timedelta = NO_TIME,
    untried: bool = False,
    retry_after: timedelta | None = None,
    opening: tuple[tuple[str, bytes], ...] = (),
    code: int = 0,
    enhanced: str = "",
) -> DeliveryOutcome:
    """All recipients deferred for the same reason."""
    return DeliveryOutcome(
        results=tuple(
            Deferred(recipient=recipient, code=code, enhanced=enhanced, text=text, host=host, duration=duration)
            for recipient in envelope.recipients
        ),
        host=host,
        duration=duration,
        untried=untried,
        retry_after=retry_after,
        opening=opening,
    )


def unfit(message: bytes) -> str | None:
    """Why these octets must not be sent as a message, or None.

    A lone CR or LF is where one server's text is another's end of message (SMTP smuggling,
    CVE-2023-51764), and RFC 5321 §2.3.8 forbids it; NUL is forbidden even in 8-bit text (RFC 6152).
    """
    lines = message.count(b"\r\n")
    if message.count(b"\n") != lines or message.count(b"\r") != lines:
        return "The message has a CR or LF that stands alone."
    if b"\0" in message:
        return "The message has a NUL."
    return None


TEST_DOMAIN = "postern.test"
"""The domain of test addresses, which have a fixed outcome on every transport. The DNS will never have it (RFC 6761
§6.2)."""


class FixedOutcome(StrEnum):
    """What happens to mail for `<value>@postern.test`; `+tags` are allowed."""

    DELIVERED = "delivered"
    BOUNCED = "bounced"
    """A hard bounce: no such mailbox."""
    COMPLAINED = "complained"
    """Delivered, and then reported as spam."""
    DEFERRED = "deferred"
    """Put off at every attempt."""
    SUPPRESSED = "suppressed"
    """As if an earlier bounce had put it on the suppression list."""


def outcome_of(address: str) -> FixedOutcome | None:
    """The fixed outcome of a test address, None for all other addresses."""
    local, _, domain = address.lower().rpartition("@")
    if domain.removesuffix(".") != TEST_DOMAIN:
        return None
    name = local.partition("+")[0]
    return next((each for each in FixedOutcome if each == name), None)


def answer(fixed: FixedOutcome, recipient: str) -> Result:
    """The reply that stands for a fixed outcome."""
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
