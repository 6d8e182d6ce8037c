"""Failover: several transports in order; the next one is used if the ones before it cannot be reached."""

from collections.abc import Mapping

import msgspec

from postern.protocols.mail.transports.transport import (
    NO_HOOKS,
    Deferred,
    DeliveryHooks,
    DeliveryOutcome,
    Envelope,
    Transport,
)


class FailoverTransport:
    """Sends each message through the first transport, or through the next one if no server got any part of it.

    A message whose transmission has begun is never passed to the next transport, because it could arrive twice. Neither
    is a message that waits for the rate limit or for a full queue, because the server can be reached.
    """

    def __init__(self, transports: Mapping[str, Transport]) -> None:
        """`transports`: in order, keyed by name. They may be shared with others, so `aclose` does not close them."""
        self._transports = dict(transports)

    @property
    def circuit_open(self) -> bool:
        """Whether none of the transports can be used at present."""
        return all(transport.circuit_open for transport in self._transports.values())

    async def deliver(self, envelope: Envelope, message: bytes, hooks: DeliveryHooks = NO_HOOKS) -> DeliveryOutcome:
        """See `Transport.deliver`. The outcome has the name of the transport that made the attempt."""
        failures: list[DeliveryOutcome] = []
        for name, transport in self._transports.items():
            outcome = msgspec.structs.replace(await transport.deliver(envelope, message, hooks), transport=name)
            if not _is_unreachable(transport, outcome):
                return outcome
            failures.append(outcome)
        retries = [outcome.retry_after for outcome in failures if outcome.retry_after is not None]
        # The failure of an attempt that contacted a server is more useful than an open circuit breaker.
        reported = next((outcome for outcome in failures if not outcome.no_server_contacted), failures[-1])
        return msgspec.structs.replace(reported, retry_after=min(retries, default=None))

    async def aclose(self) -> None:
        """Does nothing: the code that created the transports closes them."""


def _is_unreachable(transport: Transport, outcome: DeliveryOutcome) -> bool:
    """Whether no server got any part of the message because the transport's servers cannot be used."""
    if outcome.ambiguous or outcome.exchange or not all(isinstance(result, Deferred) for result in outcome.results):
        return False
    return transport.circuit_open or not outcome.no_server_contacted
