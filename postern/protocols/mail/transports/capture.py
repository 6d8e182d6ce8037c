"""The capture transport: messages are stored instead of sent. It is the default until a relay is configured."""

import time
from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import TypeAlias

from postern.protocols.mail.smtp import spelled
from postern.protocols.mail.transports.transport import (
    Accepted,
    Admit,
    BeforeDot,
    DeliveryOutcome,
    Envelope,
    Rejected,
    Result,
    refuse,
    unfit,
)

HOST = "capture"
LARGEST_MESSAGE = 50_000_000
"""Octets of one message, as the server of a generous provider would have it."""

Keep: TypeAlias = Callable[[Envelope, bytes], Awaitable[None]]
"""Stores a captured message."""


class CaptureTransport:
    """Gives each message to a function that stores it; nothing leaves the machine."""

    def __init__(self, keep: Keep) -> None:
        self._keep = keep

    @property
    def open(self) -> bool:
        """It can always be reached."""
        return False

    async def deliver(
        self,
        envelope: Envelope,
        message: bytes,
        *,
        before_dot: BeforeDot | None = None,
        admit: Admit | None = None,
    ) -> DeliveryOutcome:
        """See `Transport.deliver`. What `keep` raises goes up: the message was not kept then."""
        started = time.perf_counter()
        wrong = unfit(message)
        if wrong:
            return refuse(envelope, 554, "5.6.0", wrong, HOST)
        if len(message) > LARGEST_MESSAGE:
            return refuse(envelope, 552, "5.3.4", f"More than {LARGEST_MESSAGE} octets.", HOST)
        good = [recipient for recipient in envelope.recipients if _is_address(recipient)]
        if good:
            if admit:
                await admit()
            if before_dot:
                await before_dot()
            await self._keep(envelope, message)
        spent = timedelta(seconds=time.perf_counter() - started)
        results = tuple(_result(recipient, recipient in good, spent) for recipient in envelope.recipients)
        return DeliveryOutcome(results=results, host=HOST, duration=spent)

    async def aclose(self) -> None:
        """Nothing is held open."""


def _is_address(recipient: str) -> bool:
    try:
        spelled(recipient, smtputf8=True)
    except ValueError:
        return False
    return True


def _result(recipient: str, good: bool, spent: timedelta) -> Result:
    if not good:
        return Rejected(
            recipient=recipient,
            code=553,
            enhanced="5.1.3",
            text="That is no e-mail address.",
            host=HOST,
            duration=spent,
        )
    return Accepted(
        recipient=recipient,
        code=250,
        enhanced="2.0.0",
        text="Captured; nothing left the machine.",
        host=HOST,
        duration=spent,
        delivered=True,
    )
