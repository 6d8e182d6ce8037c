"""Rate limits per project, account, IP address and so on, and the `RateLimit` headers that report them (IETF
draft-ietf-httpapi-ratelimit-headers)."""

import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from hashlib import blake2b
from ipaddress import IPv6Address, IPv6Network
from math import exp

import msgspec

from postern.kernel.http.problems import RateLimited

MAX_BUCKETS = 50_000
"""Token buckets that one process keeps; the least recently used are dropped first."""
EXCHANGE_SECONDS = 0.5
"""How often processes exchange what they have granted."""
MIN_EXCHANGED = 0.01
"""The part of a limit's quota that must have been used before a process tells the others."""
DEMAND_SECONDS = 2.0
"""Time constant with which past requests count less."""
SHARE_SECONDS = 3.0
"""How long a process grants only its part of a limit after an exchange."""
MIN_SHARE = 0.01


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


def shared_key(rate: RateLimit, key: str) -> bytes:
    """The hash by which all processes know the bucket of `key`."""
    return blake2b(f"{rate.name}|{key}".encode(), digest_size=16).digest()


class RateUse(msgspec.Struct):
    """What this process has taken from a bucket since it last told the others."""

    key: bytes
    """Its `shared_key`."""
    quota: float
    per_second: float
    """Requests that the bucket regains in a second."""
    taken: float
    demand: float
    """Requests that were made, granted or not."""


class SharedRate(msgspec.Struct):
    """The state of a bucket in the database, from all processes."""

    key: bytes
    balance: float
    """Requests that are left; negative if the processes together granted too many."""
    demand: float
    """Recent requests to all processes, as `Bucket.demand`."""


class Bucket:
    """A token bucket of this process."""

    __slots__ = (
        "balance",
        "demand",
        "is_changed",
        "key",
        "made",
        "quota",
        "rate",
        "share",
        "share_until",
        "since",
        "taken",
    )

    def __init__(self, rate: RateLimit, key: str, now: float) -> None:
        self.rate, self.key = rate, key
        self.quota = self.balance = float(rate.quota)
        self.since = now
        """The time of `balance`."""
        self.share, self.share_until = 1.0, 0.0
        """The part of the regained requests that this process grants, and until when; afterwards it is all of them."""
        self.taken = self.made = 0.0
        """Requests granted and made since the last exchange."""
        self.demand = 0.0
        """Requests made before the last exchange; those of some seconds ago count less."""
        self.is_changed = False

    def refill(self, now: float) -> float:
        """Add what was regained, and return how many requests are regained in a second."""
        per_second = self.rate.quota / self.rate.window.total_seconds()
        if self.share_until:
            if now < self.share_until:
                per_second *= self.share
            else:
                self.share_until = 0.0
        self.balance = min(self.quota, self.balance + (now - self.since) * per_second)
        self.since = now
        return per_second


class RateLimiter:
    """Token buckets of this process. If they are exchanged with those of other processes (`changes`, `apply`), a limit
    is that of all processes together; otherwise each process has its own.

    Requests are granted from memory, so the exchange costs them nothing. Before it, each process may grant as many as
    the limit allows; what all have granted too much is subtracted afterwards. While a limit is reached, each process
    grants a part of the regained requests, according to the requests that were made to it.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        """`clock` returns seconds since an arbitrary moment."""
        self._clock = clock
        self._buckets: OrderedDict[tuple[str, str], Bucket] = OrderedDict()
        """Keyed by the name of the limit and the key of the bucket."""
        self._changed: dict[tuple[str, str], Bucket] = {}
        """Buckets of which enough was used since the last exchange to matter; at most MAX_BUCKETS. They stay here if
        they are dropped from `_buckets`."""
        self._posted: dict[bytes, Bucket] = {}
        """Buckets of the exchange that runs."""
        self._exchanged_at: float | None = None
        """When the last exchange began; None if this process does not exchange."""

    def begin_exchange(self) -> None:
        """Record from now on what the other processes must be told."""
        self._exchanged_at = self._clock()

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
        bucket = self._buckets.get((rate.name, key))
        if bucket is None:
            bucket = self._changed.get((rate.name, key)) or Bucket(rate, key, now)
            self._buckets[rate.name, key] = bucket
            if len(self._buckets) > MAX_BUCKETS:
                self._buckets.popitem(last=False)
        else:
            self._buckets.move_to_end((rate.name, key))
            if bucket.rate is not rate and bucket.rate != rate:
                bucket.rate, bucket.quota = rate, float(rate.quota)
        per_second = bucket.refill(now)
        bucket.made += 1
        if not bucket.is_changed and bucket.made >= bucket.quota * MIN_EXCHANGED:
            self._add_changed(bucket)
        if bucket.balance < 1:
            wait = max(1, round((1 - bucket.balance) / per_second))
            raise TooManyRequests(retry_after_seconds=wait)
        bucket.balance -= 1
        bucket.taken += 1
        reset_seconds = max(1, round((rate.quota - bucket.balance) / per_second))
        return RateLimitState(rate, int(bucket.balance), reset_seconds)

    def _add_changed(self, bucket: Bucket) -> None:
        if self._exchanged_at is not None and len(self._changed) < MAX_BUCKETS:
            bucket.is_changed = True
            self._changed[bucket.rate.name, bucket.key] = bucket

    def changes(self) -> list[RateUse]:
        """What to tell the other processes now. If it could not be told, call `keep_changes`, otherwise `apply`."""
        now = self._clock()
        elapsed = now - self._exchanged_at if self._exchanged_at is not None else 0.0
        self._exchanged_at = now
        uses: list[RateUse] = []
        changed, self._changed = self._changed, {}
        for bucket in changed.values():
            bucket.is_changed = False
            bucket.demand = bucket.demand * exp(-elapsed / DEMAND_SECONDS) + bucket.made
            digest = shared_key(bucket.rate, bucket.key)
            per_second = bucket.rate.quota / bucket.rate.window.total_seconds()
            uses.append(RateUse(digest, bucket.quota, per_second, bucket.taken, bucket.made))
            bucket.taken = bucket.made = 0.0
            self._posted[digest] = bucket
        return uses

    def keep_changes(self, uses: Sequence[RateUse]) -> None:
        """Tell the others with the next exchange: the one of `changes` has failed."""
        for spent in uses:
            bucket = self._posted.pop(spent.key)
            bucket.demand -= spent.demand
            # It may have been dropped during the exchange, and another one have come in its place.
            bucket = self._changed.get((bucket.rate.name, bucket.key), bucket)
            bucket.taken, bucket.made = bucket.taken + spent.taken, bucket.made + spent.demand
            if not bucket.is_changed:
                self._add_changed(bucket)

    def apply(self, rates: Sequence[SharedRate]) -> None:
        """Continue with the state that all processes have together."""
        now = self._clock()
        for shared in rates:
            bucket = self._posted.pop(shared.key)
            per_second = bucket.rate.quota / bucket.rate.window.total_seconds()
            expected = shared.demand / DEMAND_SECONDS  # Requests per second to all processes.
            part = min(1.0, bucket.demand / shared.demand) if shared.demand else 1.0
            is_scarce = expected * EXCHANGE_SECONDS > shared.balance
            # What was granted since `changes` is not in the shared balance yet.
            bucket.balance = (shared.balance * part if is_scarce else shared.balance) - bucket.taken
            bucket.since = now
            bucket.share, bucket.share_until = 1.0, 0.0
            if expected > per_second:
                bucket.share, bucket.share_until = max(part, MIN_SHARE), now + SHARE_SECONDS
        self._posted.clear()
