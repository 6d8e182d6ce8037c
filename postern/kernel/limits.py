"""Rate limits: how much one caller may ask for, and how it is told (IETF draft `RateLimit` headers)."""

import time
from collections import OrderedDict
from dataclasses import dataclass
from datetime import timedelta

from postern.kernel.problems import Limited

KEYS_REMEMBERED = 50_000
"""Callers that one process keeps a balance for; the longest-silent are forgotten first."""


@dataclass(frozen=True)
class Rate:
    """`quota` requests per `window`, in bursts of at most `quota`."""

    name: str
    quota: int
    window: timedelta

    @property
    def policy(self) -> str:
        """The `RateLimit-Policy` header."""
        return f'"{self.name}";q={self.quota};w={int(self.window.total_seconds())}'


class TooManyRequests(Limited):
    """Too many requests in a short time; slow down."""


class Limiter:
    """Token buckets in this process. Each process counts for itself: the limit protects it, it is no quota."""

    def __init__(self) -> None:
        self._balances: OrderedDict[tuple[str, str], tuple[float, float]] = OrderedDict()

    def take(self, rate: Rate, key: str) -> str:
        """Take one request from the balance of `key`. Returns the `RateLimit` header. Raises TooManyRequests."""
        now = time.monotonic()
        per_second = rate.quota / rate.window.total_seconds()
        balance, since = self._balances.pop((rate.name, key), (float(rate.quota), now))
        balance = min(float(rate.quota), balance + (now - since) * per_second)
        allowed = balance >= 1
        self._balances[(rate.name, key)] = (balance - 1 if allowed else balance, now)
        if len(self._balances) > KEYS_REMEMBERED:
            self._balances.popitem(last=False)
        if not allowed:
            wait = max(1, round((1 - balance) / per_second))
            raise TooManyRequests(retry_after_seconds=wait)
        return f'"{rate.name}";r={int(balance - 1)};t={max(1, round((rate.quota - balance + 1) / per_second))}'
