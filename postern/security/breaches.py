"""Passwords that are known from breaches elsewhere (ASVS 5.0 6.2.12): asked of a service that an operator names.

The service speaks the range protocol of Have I Been Pwned: it learns five of the forty digits of a SHA-1, shared by
some thousand passwords, and answers the rest of each. Off unless it is configured, and no obstacle when it is away.
"""

import asyncio
import hashlib
from datetime import timedelta
from typing import TYPE_CHECKING

import structlog

from postern.kernel.http.problems import BadRequest
from postern.kernel.outbound.client import OutboundResponse

if TYPE_CHECKING:
    from postern.world import World

log: structlog.stdlib.BoundLogger = structlog.get_logger(__name__)

PREFIX = 5
"""Digits of the hash that the service learns."""
RANGE_LIMIT = 262_144
"""Bytes of an answer; a range has some thousand lines of 40 bytes."""
PATIENCE = timedelta(seconds=2)
"""How long somebody who chooses a password waits for the service."""


class PasswordBreached(BadRequest):
    """This password is known from a breach elsewhere; choose another."""


async def require_unbreached(world: "World", password: str, *, path: str = "/password") -> None:
    """Raises PasswordBreached, at the JSON pointer `path`.

    Takes any password where no service is configured, or none answers in time.
    """
    service = world.settings.breached_passwords
    if service is None:
        return
    # Not for secrecy: it is what the ranges are of.
    digest = hashlib.sha1(password.encode(), usedforsecurity=False).hexdigest().upper()
    head, rest = digest[:PREFIX], digest[PREFIX:]
    try:
        async with asyncio.timeout(PATIENCE.total_seconds()):
            # Padding hides from whoever watches the line how many passwords a range has.
            answered = await world.outbound.get(
                f"{service.rstrip('/')}/{head}", headers={"Add-Padding": "true"}, keep=RANGE_LIMIT
            )
    except TimeoutError:
        log.warning("breaches_not_looked_up", reason="no answer in time")
        return
    if not isinstance(answered, OutboundResponse) or not answered.ok:
        reason = f"status {answered.status}" if isinstance(answered, OutboundResponse) else answered.reason
        log.warning("breaches_not_looked_up", reason=reason)
        return
    if _is_among(rest, answered.body.decode("ascii", "replace")):
        raise PasswordBreached.of_value(path)


def _is_among(rest: str, lines: str) -> bool:
    """Whether a range has a password, and not just as padding, whose count is 0."""
    for line in lines.splitlines():
        found, _, count = line.strip().partition(":")
        if found.upper() == rest:
            return count.strip() != "0"
    return False
