"""Check new passwords against known data breaches (ASVS 5.0 6.2.12), with a service that the operator configures.

The service implements the range API of Have I Been Pwned (k-anonymity): it receives the first five of the 40 hex digits
of the password's SHA-1, which about a thousand breached passwords share, and returns the remaining digits of each. The
check is off unless a service is configured. If the service is unavailable, the password is accepted.
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

PREFIX_LENGTH = 5
"""Number of hex digits of the hash that are sent to the service."""
RANGE_LIMIT = 262_144
"""Maximum bytes of a response; a range has about a thousand lines of 40 bytes."""
TIMEOUT = timedelta(seconds=2)
"""How long to wait for the service before the password is accepted without the check."""


class PasswordBreached(BadRequest):
    """This password has appeared in a data breach. Choose another one."""


async def require_unbreached(world: "World", password: str, *, path: str = "/password") -> None:
    """Raise PasswordBreached, at the JSON pointer `path`, if the password is in a known data breach.

    Accepts any password if no service is configured, and if the service cannot be reached, responds with an error, or
    does not respond within TIMEOUT.
    """
    service = world.settings.breached_passwords
    if service is None:
        return
    # The API of the service is defined on SHA-1; its strength does not matter here.
    digest = hashlib.sha1(password.encode(), usedforsecurity=False).hexdigest().upper()
    prefix, suffix = digest[:PREFIX_LENGTH], digest[PREFIX_LENGTH:]
    try:
        async with asyncio.timeout(TIMEOUT.total_seconds()):
            # Padding hides the size of the range, and so the prefix, from someone who observes the network.
            outcome = await world.outbound.get(
                f"{service.rstrip('/')}/{prefix}", headers={"Add-Padding": "true"}, keep=RANGE_LIMIT
            )
    except TimeoutError:
        log.warning("breaches_not_looked_up", reason="no response in time")
        return
    if not isinstance(outcome, OutboundResponse) or not outcome.ok:
        reason = f"status {outcome.status}" if isinstance(outcome, OutboundResponse) else outcome.reason
        log.warning("breaches_not_looked_up", reason=reason)
        return
    if _is_in_range(suffix, outcome.body.decode("ascii", "replace")):
        raise PasswordBreached.of_value(path)


def _is_in_range(suffix: str, lines: str) -> bool:
    """Whether the lines `SUFFIX:COUNT` of a range contain a suffix. Lines with the count 0 are padding."""
    for line in lines.splitlines():
        line_suffix, _, count = line.strip().partition(":")
        if line_suffix.upper() == suffix:
            return count.strip() != "0"
    return False
