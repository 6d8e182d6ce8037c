"""How hard a destination may be pressed: it backs off at once and recovers slowly. Pure; time is an argument."""

from collections.abc import Callable

import msgspec

FAILURES_TO_OPEN = 3
"""Connection failures in a row after which the circuit opens."""
SHORTEST_PAUSE, LONGEST_PAUSE = 1.0, 300.0
"""Seconds that an open circuit waits before its next trial; they double with every failed one."""
DEFERRALS_TO_SLOW = 5
"""Messages deferred in a row, with nothing accepted between them, that mean the destination and not a mailbox."""
SLOWEST_PER_SECOND = 5.0
"""Backing off never goes below this (or the configured rate, if that is lower)."""
SETTLING_SECONDS = 1.0
"""Signals within this time of a slow-down belong to what was already under way."""
ACCEPTED_TO_RECOVER = 20
"""Acceptances for each step back up."""
RECOVERY = 1.5
"""What such a step multiplies the rate by; it also adds one connection."""
BURST_SECONDS = 0.05
"""How far ahead of the even pace messages may run."""
SLOW_DOWN_CODES = frozenset({421, 450, 451, 452})


class RateLimits(msgspec.Struct, frozen=True, kw_only=True):
    """What a destination takes at its best."""

    connections: int = 10
    messages_per_connection: int = 1_000
    per_second: float | None = None
    """Messages per second; None for as fast as it answers."""


class RateShaper:
    """The present allowance for one destination, and its circuit."""

    def __init__(self, limits: RateLimits, chance: Callable[[], float]) -> None:
        self.limits = limits
        self.connections = limits.connections
        """Connections allowed now."""
        self.per_second = limits.per_second
        """Messages per second allowed now; None without bound."""
        self._chance = chance
        self._failures = 0
        self._retry_at = 0.0
        self._deferrals = 0
        self._accepted = 0
        self._slowed_at = -SETTLING_SECONDS
        self._next_slot = 0.0
        self._second, self._sent, self._pace = 0, 0, 0.0

    def open(self, now: float) -> bool:
        """Whether an attempt would be in vain."""
        return self._failures >= FAILURES_TO_OPEN and now < self._retry_at

    def wait(self, now: float) -> float:
        """Seconds until the circuit's next trial; 0 when closed."""
        return max(0.0, self._retry_at - now) if self._failures >= FAILURES_TO_OPEN else 0.0

    def admits(self, now: float) -> bool:
        """Whether to try now. An open circuit whose pause is over lets exactly one caller try."""
        if self._failures < FAILURES_TO_OPEN:
            return True
        if now < self._retry_at:
            return False
        self._retry_at = now + self._pause()
        return True

    def delay(self, now: float) -> float:
        """Seconds until the next message may go at the present pace; call `take` when it does."""
        return max(0.0, self._next_slot - BURST_SECONDS - now) if self.per_second else 0.0

    def acquire(self, now: float) -> None:
        """A message goes, or has its turn reserved."""
        if self.per_second:
            self._next_slot = max(self._next_slot, now) + 1 / self.per_second
        if int(now) != self._second:
            self._pace, self._second, self._sent = float(self._sent), int(now), 0
        self._sent += 1

    def failed(self, now: float) -> None:
        """No connection could be made."""
        self._failures += 1
        self._retry_at = now + self._pause()

    def connected(self) -> None:
        """A connection was made: the circuit closes."""
        self._failures = 0

    def accepted(self) -> None:
        """A message was taken."""
        self._deferrals = 0
        self._accepted += 1
        if self._accepted >= ACCEPTED_TO_RECOVER:
            self._accepted = 0
            self._recover()

    def deferred(self, code: int, now: float) -> None:
        """A message was put off with this reply code; 421 speaks of the connection, the others add up."""
        if code not in SLOW_DOWN_CODES or now - self._slowed_at < SETTLING_SECONDS:
            return
        self._deferrals += 1
        if code == 421 or self._deferrals >= DEFERRALS_TO_SLOW:
            self._slow_down(now)

    def _slow_down(self, now: float) -> None:
        self._slowed_at, self._deferrals, self._accepted = now, 0, 0
        self.connections = max(1, self.connections // 2)
        rate = self.per_second or max(self._pace, float(self._sent))
        self.per_second = max(rate / 2, min(SLOWEST_PER_SECOND, self.limits.per_second or SLOWEST_PER_SECOND))

    def _recover(self) -> None:
        self.connections = min(self.connections + 1, self.limits.connections)
        if self.per_second is None or self.per_second == self.limits.per_second:
            return
        self.per_second *= RECOVERY
        ceiling = self.limits.per_second
        if ceiling is not None:
            self.per_second = min(self.per_second, ceiling)
        elif self.connections == self.limits.connections and self.per_second > 4 * max(self._pace, self._sent):
            # The pace is set by the answers again, no longer by us.
            self.per_second = None

    def _pause(self) -> float:
        doubled = SHORTEST_PAUSE * 2.0 ** min(self._failures - FAILURES_TO_OPEN, 16)
        return min(max(doubled, SHORTEST_PAUSE), LONGEST_PAUSE) * (0.8 + 0.4 * self._chance())
