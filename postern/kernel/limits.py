"""Rate limits per project, account, IP address and so on, and the `RateLimit` headers that report them (IETF
draft-ietf-httpapi-ratelimit-headers)."""

import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from ipaddress import IPv6Address, IPv6Network

from postern.kernel.http.problems import RateLimited

MAX_BUCKETS = 50_000
"""Token buckets that one process keeps; the least recently used are dropped first."""


@dataclass(frozen=True)
class RateLimit:
    """`quota` requests per `window`, with bursts of at most `quota`."""

    name: str
    quota: int
    window: timedelta

    @property
    def policy(self) -> str:
        """The `RateLimit-Policy` header."""
        return f'"{self.name}";q={self.quota};w={int(self.window.total_seconds())}'


@dataclass(frozen=True)
class RateLimitState:
    """How much of a rate limit is left."""

    rate: RateLimit
    remaining: int
    """Requests that are possible now."""
    reset_seconds: int
    """Seconds until the whole quota is available again."""

    @property
    def header(self) -> str:
        """The `RateLimit` header."""
        return f'"{self.rate.name}";r={self.remaining};t={self.reset_seconds}'


class TooManyRequests(RateLimited):
    """Too many requests in a short time; slow down."""


def network_of(address: str) -> str:
    """The network that an address is counted as in a limit: the IPv4 address itself, or the /64 network of an IPv6
    address, because one subscriber usually has a whole /64 (RFC 6177).

    Text that is not an IP address is returned unchanged.
    """
    if ":" not in address:
        return address
    try:
        ip = IPv6Address(address.partition("%")[0])
    except ValueError:
        return address
    return str(ip.ipv4_mapped) if ip.ipv4_mapped else f"{IPv6Network((int(ip) >> 64 << 64, 64))}"


class RateLimiter:
    """Token buckets in the memory of this process. Other processes have their own: the limit applies per process."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        """`clock` returns seconds since an arbitrary moment."""
        self._clock = clock
        self._balances: OrderedDict[tuple[str, str], tuple[float, float]] = OrderedDict()
        """The requests left and the time of that count, keyed by the name of the limit and the key of the bucket."""

    def take(self, rate: RateLimit, key: str) -> str:
        """Take one request from the bucket of `key`. Returns the `RateLimit` header. Raises TooManyRequests.

        Parts of a key are separated by `|`; an IPv6 address among them counts as its /64 network.
        """
        return self.take_request(rate, key).header

    def take_request(self, rate: RateLimit, key: str) -> RateLimitState:
        """Like `take`, but returns the state of the limit."""
        if ":" in key:
            key = "|".join(network_of(part) for part in key.split("|"))
        now = self._clock()
        per_second = rate.quota / rate.window.total_seconds()
        balance, since = self._balances.pop((rate.name, key), (float(rate.quota), now))
        balance = min(float(rate.quota), balance + (now - since) * per_second)
        allowed = balance >= 1
        self._balances[(rate.name, key)] = (balance - 1 if allowed else balance, now)
        if len(self._balances) > MAX_BUCKETS:
            self._balances.popitem(last=False)
        if not allowed:
            wait = max(1, round((1 - balance) / per_second))
            raise TooManyRequests(retry_after_seconds=wait)
        reset_seconds = max(1, round((rate.quota - balance + 1) / per_second))
        return RateLimitState(rate, int(balance - 1), reset_seconds)
