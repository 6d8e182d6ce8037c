"""Shaping: the limits of connections and messages per site, and their reduction when a site asks for less mail.

A site is a group of mail servers that receive mail for the domains of recipients and are limited together: the servers
of a provider such as Google, or those of one domain. A relay and Amazon SES are sites, too. All processes share the
limits of a site. This module has the limits and the state of a site in one process, a SiteControl. How processes share
them is up to the caller, who sets the shared values and gets what the process observes (`SiteObserver`).
"""

import asyncio
import hashlib
import re
import tomllib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta
from functools import cached_property
from importlib import resources
from typing import Annotated, Any, NamedTuple, Protocol

import msgspec

from postern.protocols.mail.public_suffixes import registered_domain
from postern.protocols.mail.smtp_replies import FailureReason, classify
from postern.protocols.mail.transports.transport import (
    Accepted,
    Deferred,
    DeliveryOutcome,
    Rejected,
    Result,
    WaitCause,
)

MAX_FILE_OCTETS = 1_000_000
"""The largest shaping file that is read."""
PATTERN_CHARACTERS = 500
REPLY_CHARACTERS = 500
"""Maximum characters of a reply that are matched and kept."""

Count = Annotated[int, msgspec.Meta(ge=1, le=10_000)]
PerMinute = Annotated[float, msgspec.Meta(gt=0, le=10_000_000)]


class ShapingInvalid(ValueError):
    """A shaping file is invalid; the message says where and why."""


class ThrottleRule(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Replies that ask for less mail."""

    pattern: Annotated[str, msgspec.Meta(min_length=1, max_length=PATTERN_CHARACTERS)]
    pause_minutes: Annotated[float, msgspec.Meta(ge=0, le=1_440)] = 0
    """How long no mail is sent after such a reply, at least."""


class LimitSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The limits in an entry of a shaping file; None for the default."""

    connections: Count | None = None
    messages_per_connection: Count | None = None
    messages_per_minute: PerMinute | None = None


class ShapedProvider(LimitSettings, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A mailbox provider such as Google, whose mail servers are one site."""

    name: Annotated[str, msgspec.Meta(pattern=r"^[a-z0-9][a-z0-9-]{0,62}$")]
    mx: Annotated[list[str], msgspec.Meta(max_length=100)] = []
    """Domains of its mail servers."""
    sources: list[str] = []
    """URLs of the pages on which the provider documents its limits."""
    throttled: Annotated[list[ThrottleRule], msgspec.Meta(max_length=100)] = []


class ShapedRelay(LimitSettings, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The limits of a relay, for all processes together."""

    host: Annotated[str, msgspec.Meta(min_length=1, max_length=255)]


class ShapingFile(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The content of a shaping file."""

    direct: LimitSettings = LimitSettings()
    throttled: Annotated[list[ThrottleRule], msgspec.Meta(max_length=100)] = []
    providers: Annotated[list[ShapedProvider], msgspec.Meta(max_length=1_000)] = []
    relays: Annotated[list[ShapedRelay], msgspec.Meta(max_length=1_000)] = []


class SiteLimits(msgspec.Struct, frozen=True, kw_only=True):
    """The limits of a site, for all processes together; None for no limit."""

    connections: int | None = None
    messages_per_connection: int | None = None
    messages_per_minute: float | None = None


class SiteKey(NamedTuple):
    """Identifies a site."""

    scope: str
    """The tenant whose own relays or source addresses are used; empty if all tenants share them."""
    name: str
    """The name of the provider, the first mail server, or `host:port` of a relay."""


class SiteRules(msgspec.Struct, frozen=True, kw_only=True):
    """What the shaping files say about a site."""

    limits: SiteLimits
    throttled: tuple[tuple[re.Pattern[str], timedelta], ...]
    """Patterns of replies that ask for less mail, each with the shortest pause after it."""
    provider: str | None = None
    """The name of the provider; None if the site is not a provider's."""


class ShapingTable:
    """The rules of all sites, from the package's file and the operator's."""

    def __init__(self, defaults: ShapingFile, own: ShapingFile) -> None:
        self._direct = _merged(defaults.direct, own.direct)
        self._relays = {relay.host.lower(): _limits(relay) for relay in [*defaults.relays, *own.relays]}
        self._throttled = _compiled([*own.throttled, *defaults.throttled])
        named = {provider.name: provider for provider in defaults.providers}
        self._providers = [_with_defaults(provider, named.pop(provider.name, None)) for provider in own.providers]
        self._providers += named.values()
        self._rules = {provider.name: self._rules_of(provider) for provider in self._providers}
        self._suffixes = {
            suffix.lower().strip("."): provider.name
            for provider in reversed(self._providers)  # The operator's entries come first and take precedence.
            for suffix in provider.mx
        }

    def _rules_of(self, provider: ShapedProvider) -> SiteRules:
        return SiteRules(
            limits=_limits(_merged(self._direct, provider)),
            throttled=(*_compiled(provider.throttled), *self._throttled),
            provider=provider.name,
        )

    @cached_property
    def _other(self) -> SiteRules:
        return SiteRules(limits=_limits(self._direct), throttled=self._throttled)

    def for_mail_servers(self, hosts: Sequence[str]) -> tuple[str, SiteRules]:
        """The name and the rules of the site of a domain's mail servers; `hosts` in lower case, preferred ones first.

        Anybody can publish MX records that name a provider's servers together with others. So a domain belongs to the
        site of a provider, or of an organization, only if all its servers do: otherwise, the replies of the other
        servers could slow that site down for all domains.
        """
        rules_of_hosts = [self._of_mail_server(host) for host in hosts]
        if rules_of_hosts[0].provider and all(rules.provider == rules_of_hosts[0].provider for rules in rules_of_hosts):
            return rules_of_hosts[0].provider, rules_of_hosts[0]
        owners = sorted({registered_domain(host) for host in hosts})
        if len(owners) == 1:
            return hosts[0], self._other
        digest = hashlib.sha256(" ".join(owners).encode()).hexdigest()[:16]
        return f"{hosts[0]}~{digest}", self._other

    def _of_mail_server(self, host: str) -> SiteRules:
        labels = host.split(".")
        for start in range(len(labels)):
            name = self._suffixes.get(".".join(labels[start:]))
            if name:
                return self._rules[name]
        return self._other

    def for_relay(self, host: str) -> SiteRules:
        """The rules of a relay."""
        return SiteRules(limits=self._relays.get(host.lower(), SiteLimits()), throttled=self._throttled)


def parse_shaping(text: str) -> ShapingFile:
    """Parse a shaping file. Raises ShapingInvalid."""
    try:
        file = msgspec.convert(tomllib.loads(text), ShapingFile)
    except tomllib.TOMLDecodeError as error:
        raise ShapingInvalid(f"it is not TOML: {error}") from None
    except msgspec.ValidationError as error:
        raise ShapingInvalid(str(error)) from None
    for path, names in (
        ("providers", [provider.name for provider in file.providers]),
        ("relays", [relay.host.lower() for relay in file.relays]),
    ):
        repeated = next((name for name, count in Counter(names).items() if count > 1), None)
        if repeated:
            raise ShapingInvalid(f"{path} has {repeated} twice.")
    rules = [(f"providers {provider.name}", rule) for provider in file.providers for rule in provider.throttled]
    for path, rule in [*(("throttled", rule) for rule in file.throttled), *rules]:
        try:
            re.compile(rule.pattern)
        except re.error as error:
            raise ShapingInvalid(f"{path}: {rule.pattern!r} is not a regular expression: {error}.") from None
    return file


def shaping_table(own: str = "") -> ShapingTable:
    """The rules of the package's file and of the operator's file `own`. Raises ShapingInvalid for the latter."""
    defaults = (resources.files("postern.protocols.mail.transports") / "shaping.toml").read_text()
    file = parse_shaping(own)
    known = {provider.name for provider in parse_shaping(defaults).providers}
    unmatched = next((provider for provider in file.providers if not provider.mx and provider.name not in known), None)
    if unmatched:
        raise ShapingInvalid(f"providers {unmatched.name}: `mx` is missing: the domains of its mail servers.")
    return ShapingTable(parse_shaping(defaults), file)


def _merged(base: LimitSettings, own: LimitSettings) -> LimitSettings:
    names = LimitSettings.__struct_fields__
    own_values = {name: getattr(own, name) for name in names}
    return LimitSettings(
        **{name: getattr(base, name) if value is None else value for name, value in own_values.items()}
    )


def _with_defaults(own: ShapedProvider, default: ShapedProvider | None) -> ShapedProvider:
    if default is None:
        return own
    limits = msgspec.structs.asdict(_merged(default, own))
    return msgspec.structs.replace(
        own, **limits, mx=own.mx or default.mx, throttled=[*own.throttled, *default.throttled]
    )


def _limits(settings: LimitSettings) -> SiteLimits:
    return SiteLimits(
        connections=settings.connections,
        messages_per_connection=settings.messages_per_connection,
        messages_per_minute=settings.messages_per_minute,
    )


def _compiled(rules: Sequence[ThrottleRule]) -> tuple[tuple[re.Pattern[str], timedelta], ...]:
    return tuple((re.compile(rule.pattern), timedelta(minutes=rule.pause_minutes)) for rule in rules)


# The state of a site in one process ---------------------------------------------------

RATE_WAIT_SECONDS = 1.0
"""A message that the rate of its site would delay for longer is returned to the database."""
BURST_SECONDS = 0.05
"""Messages can be sent this much earlier than an even distribution requires."""
LONGEST_RETRY_DELAY = timedelta(minutes=15)
"""A message that was returned to the database is tried again after this time at the latest, because its site may have
recovered."""
MAX_IN_MEMORY = 1_024
"""Maximum messages of a site that a process holds in memory; fewer if the site has a rate or is slow."""
MIN_IN_MEMORY = 4
"""As many messages of a site may be in the memory of a process, however slow the site is."""
WINDOW_SECONDS = 10.0
"""The period over which the ratio of deferred messages is measured."""
WINDOW_MESSAGES = 10
"""The ratio is not measured with fewer messages in a window."""
DEFERRED_RATIO = 0.5
"""If this part of the messages is deferred, a site is slowed down, whatever the text of its replies."""
SLOW_DOWN_CODES = frozenset({421, 450, 451, 452})
"""Reply codes of deferrals that can mean that the site gets too much mail."""
NOT_OVERLOADED = frozenset(
    {
        FailureReason.GREYLISTED,
        FailureReason.USER_UNKNOWN,
        FailureReason.MAILBOX_INACTIVE,
        FailureReason.MAILBOX_FULL,
        FailureReason.HAS_MOVED,
    }
)
"""Reasons of deferrals that say nothing about the rate of mail."""
RESERVED_ONE_IN = 5
"""One in this many connections, and at least one, is reserved for mail that is not bulk mail."""
SUSPENDED_CHECK = timedelta(hours=1)
"""The longest time after which a message to a suspended site is tried again."""


class SiteSuspension(msgspec.Struct, frozen=True):
    """No mail is sent to a site."""

    until: datetime | None
    """None for no end."""
    reason: str


class Obstacle(NamedTuple):
    """Why no message is sent to a site at present."""

    cause: WaitCause
    text: str
    delay: timedelta
    """The time until the next attempt."""


class SiteObserver(Protocol):
    """The code that shares sites between processes, as a SiteControl uses it."""

    async def get_share(self, control: "SiteControl") -> None:
        """Get this process's share of a site's limits: sets `connections_share` and the other shared values."""
        ...

    def throttled(self, control: "SiteControl", reply: str, pause: timedelta) -> None:
        """The site has asked for less mail with `reply`. It gets none during `pause`, which may be zero."""
        ...


class WaitingPool(Protocol):
    """A connection pool, as a SiteControl uses it."""

    def wake(self) -> None:
        """Give free slots to the waiting messages."""
        ...

    def close_idle(self) -> bool:
        """Begin to close one idle connection; returns whether there was one."""
        ...

    def shed(self, keep: int) -> int:
        """Return waiting messages to the database, so that at most `keep` wait. Returns how many still wait."""
        ...


class SiteControl:
    """The limits and the state of one site in this process. All its connection pools have it in common."""

    def __init__(
        self,
        key: SiteKey,
        rules: SiteRules,
        observer: SiteObserver,
        *,
        transport: str,
        hosts: Sequence[str],
        clock: Callable[[], float],
        now: Callable[[], datetime],
    ) -> None:
        """`clock`: seconds of a monotonic clock; `now`: the time that all processes share."""
        self.key, self.rules, self.transport, self.hosts = key, rules, transport, tuple(hosts)
        self._observer = observer
        self._clock, self._now = clock, now
        self.is_shared = False
        """Whether the shared values below are known."""
        self.connections_share: int | None = None
        """The connections that this process may have; None for no limit."""
        self.share_ends_at: datetime | None = None
        """When `connections_share` ends unless it is renewed: then other processes may get these connections."""
        self.processes = 1
        """How many processes use the site."""
        self.factor = 1.0
        """The part of its limits that the site gets: 1, or less after it asked for less mail."""
        self.throttled_until: datetime | None = None
        """Until when nothing is sent."""
        self.suspension: SiteSuspension | None = None
        """The suspension for all tenants."""
        self.suspensions: dict[str, SiteSuspension] = {}
        """The suspensions for the mail of one tenant, by tenant."""
        self.open_connections = 0
        """Connections, including those being opened or closed."""
        self._closing: set[asyncio.Task[None]] = set()
        self.used_at = clock()
        self.in_memory = {False: 0, True: 0}
        """Messages of the site that this process holds in memory, by whether they are bulk mail."""
        self.counts: Counter[tuple[str, str]] = Counter()
        """The results since the counts were stored, by tenant and `delivered`, `deferred` or `bounced`."""
        self.last_replies: dict[str, str] = {}
        """The last reply that was not positive, by tenant, since the counts were stored."""
        self.accepted_since_check = 0
        """Accepted messages since the site was last checked for recovery."""
        self._slots_taken = self._bulk_slots_taken = 0
        self.waiting_pools: dict[WaitingPool, None] = {}
        self.idle_pools: dict[WaitingPool, None] = {}
        self._next_send_at = 0.0
        self._next_retries_at = {False: 0.0, True: 0.0}
        """The latest time of `clock` that `retry_delay` has given to a message, by whether it is bulk mail."""
        self._window_began = 0.0
        self._window_deferrals = self._window_others = 0
        """The deferrals that indicate overload, and the other results, since the window began. The first such deferral
        after WINDOW_SECONDS begins a new window."""

    async def prepare(self) -> None:
        """Wait until this process has a share of the site's limits. Raises what `SiteObserver.get_share` raises."""
        self.used_at = self._clock()
        if not self.is_shared or self.has_expired:
            await self._observer.get_share(self)

    # Whether and when a message may be sent.

    def obstacle(self, tenant: str | None, *, bulk: bool) -> Obstacle | None:
        """Why no message of a tenant may be sent to the site at present; None if it may."""
        if not (self.suspension or self.suspensions or self.throttled_until or self.connections_share == 0):
            return None
        now = self._now()
        for suspension in (self.suspension, self.suspensions.get(tenant or "")):
            if suspension and (suspension.until is None or suspension.until > now):
                delay = min(suspension.until - now, SUSPENDED_CHECK) if suspension.until else SUSPENDED_CHECK
                text = f"The site {self.key.name} is suspended: {suspension.reason}"
                return Obstacle(WaitCause.SITE_SUSPENDED, text, delay)
        if self.throttled_until is not None and self.throttled_until > now:
            delay = self.throttled_until - now + self.retry_delay(bulk=bulk)
            return Obstacle(WaitCause.SITE_SLOWED, f"The site {self.key.name} has asked for less mail.", delay)
        if self.connections_share == 0:
            text = f"Other processes have all connections to the site {self.key.name}."
            return Obstacle(self.cause_of_delay, text, timedelta(seconds=5))
        return None

    @property
    def per_second(self) -> float | None:
        """Messages per second that this process may send; None for no limit."""
        per_minute = self.rules.limits.messages_per_minute
        return None if per_minute is None else per_minute / 60 * self.factor / self.processes

    @property
    def is_slow(self) -> bool:
        """Whether the site gets less than its limits."""
        return self.factor < 1

    @property
    def cause_of_delay(self) -> WaitCause:
        """The cause for messages that wait because of the site's limits."""
        return WaitCause.SITE_SLOWED if self.is_slow else WaitCause.CAPACITY

    def delay(self) -> float:
        """Seconds until the rate allows the next message; call `acquire` when it is sent."""
        return max(0.0, self._next_send_at - BURST_SECONDS - self._clock()) if self.per_second else 0.0

    def acquire(self) -> None:
        """Reserve the next send time for one message."""
        if self.per_second:
            self._next_send_at = max(self._next_send_at, self._clock()) + 1 / self.per_second

    def retry_delay(self, *, bulk: bool) -> timedelta:
        """The time until a message that cannot be sent now is tried again.

        Each call reserves the next time that the rate allows, so that the messages do not come back together. Bulk mail
        and other mail are counted separately.
        """
        if not self.per_second:
            return timedelta()
        earliest = self._clock() + RATE_WAIT_SECONDS
        latest = self._clock() + LONGEST_RETRY_DELAY.total_seconds()
        retry_at = min(max(self._next_retries_at[bulk], earliest) + 1 / self.per_second, latest)
        self._next_retries_at[bulk] = retry_at
        return timedelta(seconds=retry_at - self._clock())

    @property
    def max_in_memory(self) -> int:
        """How many messages of the site this process may hold in memory, of bulk mail and of other mail each."""
        if not self.per_second:
            return MIN_IN_MEMORY if self.is_slow else MAX_IN_MEMORY
        return min(MAX_IN_MEMORY, max(MIN_IN_MEMORY, round(self.per_second * RATE_WAIT_SECONDS)))

    @contextmanager
    def counting_in_memory(self, *, bulk: bool) -> Iterator[None]:
        """Count a message of the site as held in memory while the block runs."""
        self.in_memory[bulk] += 1
        try:
            yield
        finally:
            self.in_memory[bulk] -= 1

    # Slots: the permission to use a connection.

    def most_connections(self, pool_limit: int) -> int:
        """How many connections a pool with the limit `pool_limit` may use at present.

        A slow site gets fewer, unless its connections have a limit for all processes, which is reduced instead.
        """
        if self.connections_share is None and self.is_slow:
            return max(1, int(pool_limit * self.factor))
        return pool_limit

    def has_slot(self, *, bulk: bool) -> bool:
        """Whether another connection may be used; bulk mail cannot use the reserved ones."""
        allowed = self.connections_share
        if allowed is None:
            return True
        if self.has_expired:
            return False
        reserved = 0 if allowed == 1 else max(1, allowed // RESERVED_ONE_IN)
        return self._slots_taken < allowed and not (bulk and self._bulk_slots_taken >= allowed - reserved)

    def count_slots(self, bulk: bool, change: int) -> None:
        """Record that a slot was taken (1) or released (-1)."""
        self._slots_taken += change
        self._bulk_slots_taken += change if bulk else 0

    def wake(self) -> None:
        """Give free slots to the waiting messages of all pools."""
        for pool in list(self.waiting_pools):
            pool.wake()

    def shed(self) -> None:
        """Return the waiting messages that cannot be sent soon to the database, so that they do not occupy the worker
        while the site is slow."""
        keep = 0 if self.throttled_until is not None and self.throttled_until > self._now() else self.max_in_memory
        for pool in list(self.waiting_pools):
            keep -= pool.shed(keep)

    def make_room(self) -> None:
        """Begin to close idle connections if `connections_share` does not allow one more."""
        self._close_idle(more=1)

    def _close_idle(self, more: int = 0) -> None:
        """Begin to close idle connections until `connections_share` allows `more` others."""
        share = self.connections_share
        while share is not None and self.open_connections - len(self._closing) + more > share and self.idle_pools:
            if not next(iter(self.idle_pools)).close_idle():
                return

    def count_closing(self, closing: asyncio.Task[None]) -> None:
        """Count a connection as open until `closing`, which closes it, is done."""
        self.open_connections += 1
        self._closing.add(closing)
        closing.add_done_callback(self._end_closing)

    def _end_closing(self, closing: asyncio.Task[None]) -> None:
        self._closing.discard(closing)
        self.open_connections -= 1

    async def wait_for_closing(self) -> None:
        """Wait until there are no more connections than allowed, or none is being closed any more."""
        while self._closing and self.connections_share is not None and self.open_connections > self.connections_share:
            await asyncio.wait(self._closing, return_when=asyncio.FIRST_COMPLETED)

    @property
    def has_expired(self) -> bool:
        """Whether the share was not renewed in time, so that other processes may have its connections."""
        return self.share_ends_at is not None and self.share_ends_at <= self._now()

    @property
    def held(self) -> int:
        """The connections that other processes must not use: the share of this process, or its open ones if these are
        more."""
        return self.open_connections if self.has_expired else max(self.connections_share or 0, self.open_connections)

    def set_share(self, connections: int | None, ends_at: datetime) -> None:
        """Set the connections that this process may have until `ends_at`."""
        self.connections_share, self.share_ends_at, self.is_shared = connections, ends_at, True
        self._close_idle()
        self.wake()

    @property
    def has_no_room(self) -> bool:
        """Whether no further connection may be kept."""
        return self.connections_share is not None and self.open_connections >= self.connections_share

    # Results of attempts.

    def record(self, tenant: str | None, outcome: DeliveryOutcome) -> None:
        """Count the results of an attempt, and report the site if it asks for less mail."""
        for result in outcome.results:
            name = _NAMES[type(result)]
            self.counts[tenant or "", name] += 1
            if name != "delivered":
                self.last_replies[tenant or ""] = readable_reply(result)
            self.accepted_since_check += name == "delivered"
        best = best_result(outcome)
        if isinstance(best, Accepted):
            self._window_others += 1
        elif best.code and self._has_limits:
            self._detect_overload(best, outcome.retry_after)

    @property
    def _has_limits(self) -> bool:
        """Whether the site has limits, which can be reduced. Without limits for a relay, each process reduces its own
        rate (RateShaper). Amazon SES always has limits: those of the account."""
        return self.transport != "relay" or self.rules.limits != SiteLimits()

    def _detect_overload(self, result: Result, retry_after: timedelta | None) -> None:
        """Report the site if this result asks for less mail, or if the site has deferred too many messages
        (DEFERRED_RATIO)."""
        is_deferral = isinstance(result, Deferred) and result.code in SLOW_DOWN_CODES
        if isinstance(result, Deferred):
            reply = readable_reply(result)
            pause = next((pause for pattern, pause in self.rules.throttled if pattern.search(reply)), None)
            if pause is not None or retry_after is not None or result.code == 421:
                self._observer.throttled(self, reply, max(pause or timedelta(), retry_after or timedelta()))
                self._begin_window()
                return
            is_deferral = is_deferral and (
                classify(result.code, result.enhanced, result.text).reason not in NOT_OVERLOADED
            )
        if not is_deferral:
            self._window_others += 1
            return
        if self._clock() - self._window_began > WINDOW_SECONDS:
            self._begin_window()
        self._window_deferrals += 1
        total = self._window_deferrals + self._window_others
        if total >= WINDOW_MESSAGES and self._window_deferrals / total >= DEFERRED_RATIO:
            self._observer.throttled(self, readable_reply(result), timedelta())
            self._begin_window()

    def _begin_window(self) -> None:
        self._window_began = self._clock()
        self._window_deferrals = self._window_others = 0


_NAMES: Mapping[type[Any], str] = {Accepted: "delivered", Deferred: "deferred", Rejected: "bounced"}


class SiteControls(SiteObserver, Protocol):
    """The sites of a process."""

    def of_mail_servers(self, hosts: Sequence[str], scope: str) -> SiteControl:
        """The site of a domain's mail servers, the preferred ones first; for `scope` see SiteKey."""
        ...

    def of_relay(self, host: str, label: str, scope: str) -> SiteControl:
        """The site of a relay; `label` is `host:port`."""
        ...

    def of_ses(self, host: str, label: str, scope: str) -> SiteControl:
        """The site of Amazon SES in one region; `label` is `host:port`."""
        ...

    def learn(self, tenant: str | None, domain: str, control: SiteControl) -> None:
        """Remember that mail of the tenant to the domain goes to this site."""
        ...


def best_result(outcome: DeliveryOutcome) -> Result:
    """The first accepted result of an attempt; the first one if none was accepted."""
    for result in outcome.results:
        if isinstance(result, Accepted):
            return result
    return outcome.results[0]


def readable_reply(result: Result) -> str:
    """Code and text of a result in one line, without control characters and addresses.

    Addresses are left out because replies are shown to the operator too, and kept after a recipient was erased.
    """
    text = " ".join(part for part in (str(result.code) if result.code else "", result.enhanced, result.text) if part)
    readable = "".join(character if character.isprintable() else " " for character in text[:REPLY_CHARACTERS])
    return _ADDRESS.sub("(address)", readable)


_ADDRESS = re.compile(r"[^\s<>()\[\],;:\"']+@[^\s<>()\[\],;:\"']+")
