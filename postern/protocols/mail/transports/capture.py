"""The capture transport: messages are stored instead of sent. It is the default until a relay is configured."""

import time
from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import TypeAlias

from postern.protocols.mail.mime import message_problem
from postern.protocols.mail.smtp import encode_address
from postern.protocols.mail.transports.transport import (
    NO_HOOKS,
    Accepted,
    DeliveryHooks,
    DeliveryOutcome,
    Envelope,
    Rejected,
    Result,
    reject_all,
)

HOST = "capture"
LARGEST_MESSAGE = 50_000_000
"""Maximum octets of a message."""

StoreMessage: TypeAlias = Callable[[Envelope, bytes], Awaitable[None]]
"""Stores a captured message."""


class CaptureTransport:
    """Stores each message through a function instead of sending it."""

    def __init__(self, store_message: StoreMessage) -> None:
        self._store_message = store_message

    @property
    def circuit_open(self) -> bool:
        """Always False: capturing does not depend on a server."""
        return False

    async def deliver(self, envelope: Envelope, message: bytes, hooks: DeliveryHooks = NO_HOOKS) -> DeliveryOutcome:
        """See `Transport.deliver`. An exception of the function that stores messages is raised here."""
        started = time.perf_counter()
        problem = message_problem(message)
        if problem:
            return reject_all(envelope, 554, "5.6.0", problem, HOST)
        if len(message) > LARGEST_MESSAGE:
            return reject_all(envelope, 552, "5.3.4", f"The message has more than {LARGEST_MESSAGE} octets.", HOST)
        valid = [recipient for recipient in envelope.recipients if _is_address(recipient)]
        if valid:
            if hooks.admit:
                await hooks.admit()
            if hooks.before_dot:
                await hooks.before_dot()
            await self._store_message(envelope, message)
        spent = timedelta(seconds=time.perf_counter() - started)
        results = tuple(_result(recipient, recipient in valid, spent) for recipient in envelope.recipients)
        return DeliveryOutcome(results=results, host=HOST, duration=spent)

    async def aclose(self) -> None:
        """Does nothing: there are no connections."""


def _is_address(recipient: str) -> bool:
    try:
        encode_address(recipient, smtputf8=True)
    except ValueError:
        return False
    return True


def _result(recipient: str, is_valid: bool, spent: timedelta) -> Result:
    if not is_valid:
        text = "This is not a valid e-mail address."
        return Rejected(recipient=recipient, code=553, enhanced="5.1.3", text=text, host=HOST, duration=spent)
    text = "Captured and not sent."
    return Accepted(
        recipient=recipient, code=250, enhanced="2.0.0", text=text, host=HOST, duration=spent, delivered=True
    )
