"""The direct transport: each message goes to the mail servers of its recipients' domains (RFC 5321 §5.1).

A destination is a set of mail servers that is contacted from the same source addresses and with the same requirements
for TLS. Domains with the same mail servers share it. Each destination has its own connections, queue, rate shaper and
circuit breaker, so that a slow or unreachable one does not delay the others. Several destinations can belong to one
site (see `shaping`), whose limits they share.
"""

import asyncio
import functools
import random
import ssl
import time
from collections import Counter, OrderedDict
from collections.abc import Awaitable, Callable, Iterator, Sequence
from datetime import datetime, timedelta
from enum import Enum, auto
from ipaddress import ip_address
from typing import Literal, NamedTuple, TypeAlias

import idna
import msgspec

from postern.protocols.mail.dane import dane_error, has_authority, usable_records
from postern.protocols.mail.mime import message_problem
from postern.protocols.mail.smtp import (
    NO_ADDRESS,
    NOT_AUTHENTICATED,
    REQUIRETLS,
    ConnectionFailed,
    Peer,
    SmtpConnection,
    Timeouts,
    Tls,
    TlsRequired,
    Unreachable,
    connect,
    connect_opportunistically,
    encode_address,
    non_verifying_context,
    without_common_names,
)
from postern.protocols.mail.tls_report import TlsFailure
from postern.protocols.mail.transports.mx import MailHost, MailRoute, RouteFailure
from postern.protocols.mail.transports.relay import ConnectionPool, PoolLimits
from postern.protocols.mail.transports.shaping import SiteControls
from postern.protocols.mail.transports.tls_sessions import NOT_LISTED, ReportSession, session_result
from postern.protocols.mail.transports.transport import (
    LONGEST_DIALOGUE,
    NO_HOOKS,
    NO_TIME,
    Accepted,
    Deferred,
    DeliveryHooks,
    DeliveryOutcome,
    Envelope,
    Rejected,
    Result,
    WaitCause,
    defer_all,
    reject_all,
)

HOST = "direct"
"""The host of an outcome without a mail server."""
ADDRESSES_TRIED = 8
"""Maximum addresses of a destination's mail servers that are tried for one connection."""
CONNECT_SECONDS = 120.0
"""After this time, no further address is tried for a connection."""
MAX_DESTINATIONS = 2_000
"""How many destinations keep their connections and their state in memory; the least recently used ones are dropped."""
MAX_CONNECTIONS = 500
"""Open connections of one transport, idle ones included; below the common limit of 1,024 file descriptors."""
RESERVED_CONNECTIONS = 100
"""A tenant that has this many connections open leaves the same number unused for the other tenants, so that slow
servers of its recipients do not stop their mail."""
NO_CONNECTION_DELAY = timedelta(seconds=5)
"""After this time, a message for which no connection was left is tried again."""
MAX_SOURCES = 64
"""Maximum source addresses of one transport."""
DESTINATION_LIMITS = PoolLimits(
    max_connections=10, initial_connections=3, max_messages_per_connection=100, longest_wait_seconds=5.0
)

Lane: TypeAlias = Literal["transactional", "marketing"]
FindRoute: TypeAlias = Callable[[str], Awaitable[MailRoute]]
"""Returns the route of a domain (A-labels, lower case). Raises RouteFailure."""


class Source(msgspec.Struct, frozen=True, kw_only=True):
    """A local IP address to connect from, and the mail that may use it."""

    address: str
    name: str
    """The host name for EHLO."""
    lane: Lane | None = None
    """The kind of mail; None for both."""
    tenant: str | None = None
    """The tenant for whose mail the address is reserved; None if it is shared."""


class NoSourceLeft(Exception):
    """No source address of a message may be used now; `text` says why, `retry_after` how long to wait."""

    def __init__(self, text: str, retry_after: timedelta) -> None:
        super().__init__(text)
        self.text, self.retry_after = text, retry_after


ChooseSources: TypeAlias = Callable[[Envelope], Awaitable[tuple[str, ...] | None]]
"""Returns the local addresses from which a message may leave; None for all. Raises NoSourceLeft."""


class NoConnectionLeft(Exception):
    """No connection can be opened for the tenant: the limit is reached, and no open connection is idle."""


class TlsDemand(Enum):
    """What a message demands of TLS (RFC 8689)."""

    BY_POLICY = auto()
    """What the policies of the recipients' domain require."""
    REQUIRED = auto()
    """An authenticated server that supports REQUIRETLS."""
    OPTIONAL = auto()
    """Nothing: policies are ignored."""

    @classmethod
    def of(cls, envelope: Envelope) -> "TlsDemand":
        """The demand of a message."""
        if envelope.require_tls:
            return cls.REQUIRED
        return cls.OPTIONAL if envelope.ignore_tls_policy else cls.BY_POLICY


class _DestinationKey(NamedTuple):
    """Identifies a destination."""

    hosts: tuple[tuple[int, str, bool], ...]
    """Rank, name, and whether there are TLSA records."""
    policy: tuple[str, tuple[str, ...]] | None
    """The mode of the MTA-STS policy, and its patterns."""
    domain: str | None
    """The recipients' domain if certificates may be issued for it instead of the server (DANE-TA, RFC 7672 §3.2.2)."""
    sources: tuple[Source, ...]
    demand: TlsDemand
    authenticated: bool
    """Whether the message requires TLS and the names of the servers are authenticated with DNSSEC. A connection that
    was opened for a domain with signed MX records must not be used for a domain with unsigned ones (RFC 8689
    §4.2.1)."""


class _Destination:
    """A destination: its connections, and the route that was found last."""

    pool: ConnectionPool

    def __init__(self, route: MailRoute, sources: tuple[Source, ...], demand: TlsDemand) -> None:
        self.route = route
        self.sources = sources
        self.demand = demand


class DirectTransport:
    """Delivers to the recipients' mail servers, with one SMTP transaction per destination. `delivered` of its results
    is True."""

    def __init__(
        self,
        find_route: FindRoute,
        *,
        now: Callable[[], datetime],
        port: int = 25,
        ehlo_host: str = "localhost",
        sources: Sequence[Source] = (),
        limits: PoolLimits = DESTINATION_LIMITS,
        controls: SiteControls | None = None,
        timeouts: Timeouts | None = None,
        context: ssl.SSLContext | None = None,
        clock: Callable[[], float] = time.monotonic,
        chance: Callable[[], float] = random.random,
        report_session: ReportSession = lambda _session: None,
        choose_sources: ChooseSources | None = None,
    ) -> None:
        """`port` is that of the mail servers, `ehlo_host` the name for EHLO without `sources`. `context` replaces the
        system's certificate authorities, `controls` has the limits that all processes share, `now` is the time for the
        validity of certificates, `chance` gives 0 ≤ x < 1. `report_session` gets the result of each TLS session.
        `choose_sources` is awaited for each message whose envelope has no `sources`.
        Raises ValueError for too many sources.
        """
        if len(sources) > MAX_SOURCES:
            raise ValueError(f"A transport must have at most {MAX_SOURCES} sources.")
        self._find_route = find_route
        self._port = port
        self._ehlo_host = ehlo_host
        self._sources = tuple(sources)
        self._limits = limits
        self._controls = controls
        self._timeouts = timeouts or Timeouts()
        self._context = without_common_names(context) if context else None
        self._clock, self._now, self._chance = clock, now, chance
        self._report_session = report_session
        self._choose_sources = choose_sources
        self._destinations: OrderedDict[_DestinationKey, _Destination] = OrderedDict()
        self._connections: dict[SmtpConnection, str | None] = {}
        """The open connections, and closed ones that were not removed yet, with the tenants that opened them."""
        self._dialing: Counter[str | None] = Counter()
        """Connections that are being opened, by tenant."""
        self._closing: set[asyncio.Task[None]] = set()

    @property
    def circuit_open(self) -> bool:
        """Always False: each destination has its own circuit breaker."""
        return False

    async def deliver(self, envelope: Envelope, message: bytes, hooks: DeliveryHooks = NO_HOOKS) -> DeliveryOutcome:
        """See `Transport.deliver`. An exception of `hooks` is raised only if no recipient was tried; otherwise it
        defers the recipients whose transaction it ended."""
        problem = None if envelope.has_safe_lines else message_problem(message)
        if problem:
            return reject_all(envelope, 554, "5.6.0", problem, HOST)
        if envelope.sources is None and self._choose_sources:
            try:
                envelope = msgspec.structs.replace(envelope, sources=await self._choose_sources(envelope))
            except NoSourceLeft as left:
                return defer_all(
                    envelope,
                    left.text,
                    HOST,
                    no_server_contacted=True,
                    wait_cause=WaitCause.WARM_UP,
                    retry_after=left.retry_after,
                )
        domains = [_domain_of(recipient) for recipient in envelope.recipients]
        names = list(dict.fromkeys(domain for domain in domains if isinstance(domain, str)))
        routes = dict(zip(names, await asyncio.gather(*map(self._route_or_failure, names)), strict=True))
        failures: dict[str, RouteFailure] = {}
        recipients_by_destination: dict[_Destination, list[str]] = {}
        for recipient, domain in zip(envelope.recipients, domains, strict=True):
            route = routes[domain] if isinstance(domain, str) else domain
            if isinstance(route, RouteFailure):
                failures[recipient] = route
            else:
                recipients_by_destination.setdefault(self._destination(route, envelope), []).append(recipient)
        outcomes = await self._deliver_to_destinations(envelope, recipients_by_destination, message, hooks)
        return _joined(envelope, failures, outcomes)

    async def _route_or_failure(self, domain: str) -> MailRoute | RouteFailure:
        try:
            return await self._find_route(domain)
        except RouteFailure as failure:
            return failure

    async def _deliver_to_destinations(
        self,
        envelope: Envelope,
        recipients_by_destination: dict[_Destination, list[str]],
        message: bytes,
        hooks: DeliveryHooks,
    ) -> list[DeliveryOutcome]:
        """The outcomes of the destinations, in the same order. Raises an exception of `hooks` if no destination got a
        command."""
        parts = {
            destination: msgspec.structs.replace(envelope, recipients=tuple(recipients))
            for destination, recipients in recipients_by_destination.items()
        }
        if len(parts) == 1:
            ((destination, part),) = parts.items()
            return [await self._deliver_to_destination(destination, part, message, hooks)]
        results = await asyncio.gather(
            *(self._deliver_to_destination(destination, part, message, hooks) for destination, part in parts.items()),
            return_exceptions=True,
        )
        outcomes: list[DeliveryOutcome] = []
        is_sent = any(isinstance(result, DeliveryOutcome) and result.exchange for result in results)
        for part, result in zip(parts.values(), results, strict=True):
            if isinstance(result, BaseException):
                if not is_sent or not isinstance(result, Exception):
                    raise result
                # The results of the other recipients must not be lost, or they would get the message twice.
                result = defer_all(part, "The message was changed while it was sent to other recipients.", HOST)
            outcomes.append(result)
        return outcomes

    async def _deliver_to_destination(
        self, destination: _Destination, envelope: Envelope, message: bytes, hooks: DeliveryHooks
    ) -> DeliveryOutcome:
        pool = destination.pool
        try:
            outcome = await pool.deliver(envelope, message, hooks)
        except NoConnectionLeft:
            text = f"Too many connections to mail servers are open, so there is none left for {pool.label}."
            return defer_all(
                envelope,
                text,
                pool.label,
                no_server_contacted=True,
                wait_cause=WaitCause.CAPACITY,
                retry_after=NO_CONNECTION_DELAY,
            )
        if destination.demand is TlsDemand.REQUIRED and not outcome.exchange:
            outcome = _rejected_without_tls(envelope, outcome)
        if outcome.no_server_contacted and pool.circuit_open and not pool.is_held(envelope):
            # For an unreachable destination, this counts as a failed attempt, so that messages to it are not retried
            # forever.
            return msgspec.structs.replace(outcome, no_server_contacted=False, retry_after=None)
        return msgspec.structs.replace(outcome, results=tuple(map(_as_delivered, outcome.results)))

    # Destinations.

    def _key(self, route: MailRoute, envelope: Envelope) -> _DestinationKey:
        preferences = sorted({host.preference for host in route.hosts})
        hosts = [(preferences.index(host.preference), host.name, bool(host.tlsa)) for host in route.hosts]
        demand = TlsDemand.of(envelope)
        return _DestinationKey(
            hosts=tuple(sorted(hosts)),
            policy=(route.policy.mode, route.policy.mx) if route.policy else None,
            domain=route.domain if any(has_authority(host.tlsa) for host in route.hosts) else None,
            sources=self._sources_of(envelope),
            demand=demand,
            authenticated=demand is TlsDemand.REQUIRED and route.authenticated,
        )

    def _sources_of(self, envelope: Envelope) -> tuple[Source, ...]:
        selected = select_sources(self._sources, tenant=envelope.tenant, bulk=envelope.bulk)
        if envelope.sources is None:
            return selected
        # Without any source, the operating system would choose an address.
        return tuple(source for source in selected if source.address in envelope.sources) or selected

    def _destination(self, route: MailRoute, envelope: Envelope) -> _Destination:
        """The destination for a message, created at its first use; its route becomes `route`."""
        key = self._key(route, envelope)
        destination = self._destinations.get(key)
        if destination is None:
            destination = self._destinations[key] = _Destination(route, key.sources, key.demand)
            limits, control = self._limits, None
            if self._controls:
                # Limits of sources that are reserved for a tenant are that tenant's own.
                scope = next((source.tenant for source in key.sources if source.tenant), "")
                control = self._controls.of_mail_servers([name for _, name, _ in key.hosts], scope)
                most = control.rules.limits.connections or limits.max_connections
                limits = msgspec.structs.replace(
                    limits, max_connections=most, initial_connections=min(limits.initial_connections or most, most)
                )
            destination.pool = ConnectionPool(
                f"{route.hosts[0].name}:{self._port}",
                functools.partial(self._dial, destination),
                limits,
                clock=self._clock,
                chance=self._chance,
                control=control,
            )
            self._drop_old_destinations()
        if self._controls and destination.pool.control:
            self._controls.learn(envelope.tenant, route.domain, destination.pool.control)
        destination.route = route
        self._destinations.move_to_end(key)
        return destination

    def _drop_old_destinations(self) -> None:
        """Drop the least recently used destinations beyond MAX_DESTINATIONS that no message uses."""
        excess = len(self._destinations) - MAX_DESTINATIONS
        if excess <= 0:
            return
        for key in [key for key, destination in self._destinations.items() if destination.pool.is_unused][:excess]:
            if key != next(reversed(self._destinations)):
                closing = asyncio.get_running_loop().create_task(self._destinations.pop(key).pool.aclose())
                self._closing.add(closing)
                closing.add_done_callback(self._closing.discard)

    async def aclose(self) -> None:
        """Close the idle connections of all destinations."""
        await asyncio.gather(
            *(destination.pool.aclose() for destination in list(self._destinations.values())), *self._closing
        )

    # Connections.

    async def _dial(self, destination: _Destination, tenant: str | None) -> SmtpConnection:
        """Connect to the first server of a destination that can be used. Raises ConnectionFailed or
        NoConnectionLeft."""
        self._require_room(tenant)
        self._dialing[tenant] += 1
        try:
            connection = await self._dial_first(destination)
        except TlsRequired as failure:
            # The servers can be reached, so the circuit breaker stays closed: if it opened, the next messages would
            # get its reason instead of this one.
            failure.counts_against_server = False
            raise
        finally:
            self._dialing[tenant] -= 1
            if not self._dialing[tenant]:
                del self._dialing[tenant]
        self._connections[connection] = tenant
        return connection

    def _require_room(self, tenant: str | None) -> None:
        """Close idle connections until the tenant may open one. Raises NoConnectionLeft if that is not enough."""
        if self._has_room(tenant):
            return
        self._forget_closed()
        for destination in self._destinations.values():
            if self._has_room(tenant):
                return
            if destination.pool.abort_idle():
                self._forget_closed()
        if not self._has_room(tenant):
            raise NoConnectionLeft

    def _has_room(self, tenant: str | None) -> bool:
        own = list(self._connections.values()).count(tenant) + self._dialing[tenant]
        reserved = RESERVED_CONNECTIONS if own >= RESERVED_CONNECTIONS else 0
        return len(self._connections) + self._dialing.total() < MAX_CONNECTIONS - reserved

    def _forget_closed(self) -> None:
        self._connections = {
            connection: tenant for connection, tenant in self._connections.items() if connection.usable
        }

    async def _dial_first(self, destination: _Destination) -> SmtpConnection:
        deadline = self._clock() + CONNECT_SECONDS
        failure: ConnectionFailed | None = None
        without_requiretls: SmtpConnection | None = None
        tried = 0
        for host, peer in self._candidates(destination):
            if isinstance(peer, TlsRequired):
                self._report(destination, host, NOT_LISTED)
                failure = _decisive(failure, peer, destination.demand)
                continue
            if tried == ADDRESSES_TRIED or self._clock() > deadline:
                break
            tried += 1
            try:
                connection = await self._connect(destination, host, peer)
            except ConnectionFailed as unusable:
                # RFC 5321 §5.1: another server may work, also after a refusal in the greeting.
                failure = _decisive(failure, unusable, destination.demand)
                continue
            if destination.demand is not TlsDemand.REQUIRED or REQUIRETLS in connection.features:
                if without_requiretls:
                    await without_requiretls.quit()
                return connection
            # RFC 8689 §4.2.1: another server of the domain may support it.
            if without_requiretls:
                await connection.quit()
            else:
                without_requiretls = connection
        if without_requiretls:
            return without_requiretls  # Its `send` rejects the message, because REQUIRETLS is missing.
        raise failure or Unreachable(f"{destination.route.domain} has no mail server that can be used.")

    def _candidates(self, destination: _Destination) -> Iterator[tuple[MailHost, Peer | TlsRequired]]:
        """The addresses of the destination's servers, in the order in which they are tried. A server that must not be
        used is there once, with the reason instead of an address."""
        for host in self._in_random_order(destination.route.hosts):
            try:
                peer = self._peer(destination.route, host, destination.demand)
            except TlsRequired as unusable:
                yield host, unusable
                continue
            for address in host.addresses:
                source = self._source_for(address, destination.sources)
                # Without a source, the operating system would choose an address, perhaps one that receivers treat as
                # a source of spam.
                if source is not None or not destination.sources:
                    yield host, _at(peer, address, source, self._ehlo_host)

    async def _connect(self, destination: _Destination, host: MailHost, peer: Peer) -> SmtpConnection:
        """Connect to a server, and report the result of TLS. Raises ConnectionFailed."""
        policy = destination.route.policy
        is_testing = policy is not None and policy.mode == "testing" and not host.tlsa
        if not is_testing or destination.demand is not TlsDemand.BY_POLICY:
            return await self._connect_reporting(destination, host, peer)
        # RFC 8461 §5: failures of a policy that is being tested are only reported.
        if policy and not policy.lists(host.name):
            self._report(destination, host, NOT_LISTED)
            return await connect_opportunistically(peer)
        strict = msgspec.structs.replace(peer, tls=Tls.STARTTLS_REQUIRED, verify=True, context=self._context)
        try:
            return await self._connect_reporting(destination, host, strict)
        except TlsRequired:
            return await connect_opportunistically(peer)

    async def _connect_reporting(self, destination: _Destination, host: MailHost, peer: Peer) -> SmtpConnection:
        try:
            connection = await (connect_opportunistically(peer) if peer.tls is Tls.STARTTLS else connect(peer))
        except ConnectionFailed as failure:
            if failure.tls_failure:
                self._report(destination, host, failure.tls_failure, failure.local_address, peer.address)
            raise
        self._report(destination, host, connection.tls_failure, connection.local_address, peer.address)
        return connection

    def _report(
        self,
        destination: _Destination,
        host: MailHost,
        failure: TlsFailure | None,
        sending_ip: str = "",
        receiving_ip: str | None = None,
    ) -> None:
        """Report the result of TLS, unless the message overrides the domain's policy: a failure that only the message's
        demand caused is not a failure of the policy."""
        if destination.demand is TlsDemand.BY_POLICY:
            session = session_result(
                destination.route, host, failure, sending_ip=sending_ip, receiving_ip=receiving_ip or ""
            )
            self._report_session(session)

    def _in_random_order(self, hosts: Sequence[MailHost]) -> list[MailHost]:
        """The servers by preference, in random order within the same preference (RFC 5321 §5.1)."""
        order = sorted((host.preference, self._chance(), at) for at, host in enumerate(hosts))
        return [hosts[at] for _, _, at in order]

    def _source_for(self, address: str, sources: Sequence[Source]) -> Source | None:
        """One of the sources of the same address family, at random; None if there is none."""
        version = ip_address(address).version
        usable = [source for source in sources if ip_address(source.address).version == version]
        return usable[int(self._chance() * len(usable))] if usable else None

    def _peer(self, route: MailRoute, host: MailHost, demand: TlsDemand) -> Peer:
        """How to connect to a server. DANE takes precedence over MTA-STS (RFC 8461 §2). Raises TlsRequired."""
        peer = Peer(
            host=host.name, port=self._port, tls=Tls.STARTTLS, verify=False, chunking=True, timeouts=self._timeouts
        )
        if demand is TlsDemand.OPTIONAL:
            return peer
        records = usable_records(host.tlsa)
        if host.tlsa and (records or demand is TlsDemand.BY_POLICY):
            # RFC 7672 §2.2: if no record is usable, TLS is required without authentication.
            base = host.tlsa_base or host.name
            names = list(dict.fromkeys((base, host.name, route.domain, route.canonical_domain)))
            return msgspec.structs.replace(
                peer,
                server_name=base,
                tls=Tls.STARTTLS_REQUIRED,
                context=non_verifying_context(),
                check_certificates=functools.partial(dane_error, records, names, self._now()) if records else None,
            )
        is_listed = route.policy is not None and route.policy.lists(host.name)
        if demand is TlsDemand.BY_POLICY and (route.policy is None or route.policy.mode == "testing"):
            return peer
        if demand is TlsDemand.REQUIRED and not (route.authenticated or is_listed):
            # RFC 8689 §4.2.1.
            text = f"The name of the mail server {host.name} of {route.domain} is authenticated by neither DNSSEC nor "
            raise TlsRequired(f"{text}MTA-STS, which the message requires.", enhanced=NOT_AUTHENTICATED.enhanced)
        if route.policy is not None and route.policy.mode == "enforce" and not is_listed:
            text = f"The MTA-STS policy of {route.domain} does not list its mail server {host.name}."
            raise TlsRequired(text, enhanced="4.7.5")
        return msgspec.structs.replace(peer, tls=Tls.STARTTLS_REQUIRED, verify=True, context=self._context)


def _rejected_without_tls(envelope: Envelope, outcome: DeliveryOutcome) -> DeliveryOutcome:
    """The outcome of a message that requires TLS: rejected if TLS failed with all servers (RFC 8689 §4.2.1)."""
    code, enhanced = NOT_AUTHENTICATED.code, NOT_AUTHENTICATED.enhanced
    if outcome.results[0].enhanced != enhanced:
        return outcome
    rejected = reject_all(envelope, code, enhanced, outcome.results[0].text, outcome.host)
    return msgspec.structs.replace(rejected, opening=outcome.opening, duration=outcome.duration)


def _at(peer: Peer, address: str, source: Source | None, ehlo_host: str) -> Peer:
    """The peer at one of its addresses, contacted from `source`."""
    return msgspec.structs.replace(
        peer,
        address=address,
        source=source.address if source else None,
        ehlo_host=source.name if source else ehlo_host,
    )


def _decisive(former: ConnectionFailed | None, failure: ConnectionFailed, demand: TlsDemand) -> ConnectionFailed:
    """The failure that determines the outcome of the message: the last one, unless the message requires TLS.

    A message that requires TLS is rejected if TLS failed with all servers (RFC 8689 §4.2.1), and retried if a server
    was unreachable.
    """
    if demand is TlsDemand.REQUIRED and isinstance(failure, TlsRequired):
        failure.enhanced = NOT_AUTHENTICATED.enhanced
        return former if former and not isinstance(former, TlsRequired) else failure
    return failure


def select_sources(sources: Sequence[Source], *, tenant: str | None, bulk: bool) -> tuple[Source, ...]:
    """The sources for a message: the first of these groups that is not empty.

    The tenant's for the message's lane, the tenant's for both lanes, the shared ones for its lane, the shared ones for
    both lanes, all of the tenant's, all shared ones.
    """
    lane: Lane = "marketing" if bulk else "transactional"
    own = [source for source in sources if source.tenant is not None and source.tenant == tenant]
    shared = [source for source in sources if source.tenant is None]
    for group in (own, shared):
        for lane_of_source in (lane, None):
            selected = tuple(source for source in group if source.lane == lane_of_source)
            if selected:
                return selected
    return tuple(own or shared)


def _domain_of(recipient: str) -> str | RouteFailure:
    """The domain of an address as A-labels in lower case, or the reason why it has none."""
    domain = recipient.rpartition("@")[2]
    try:
        encode_address(recipient, smtputf8=True)
        if domain.startswith("["):
            return RouteFailure(550, "5.1.2", "Mail to an IP address instead of a domain is not delivered.")
        name = idna.encode(domain, uts46=True).decode() if not domain.isascii() else domain
    except ValueError:  # IDNAError is a subclass.
        return RouteFailure(NO_ADDRESS.code, NO_ADDRESS.enhanced, NO_ADDRESS.text)
    return name.lower().removesuffix(".")


def _as_delivered(result: Result) -> Result:
    return msgspec.structs.replace(result, delivered=True) if isinstance(result, Accepted) else result


def _joined(
    envelope: Envelope, failures: dict[str, RouteFailure], outcomes: Sequence[DeliveryOutcome]
) -> DeliveryOutcome:
    """The outcome of a message from those of its destinations; `failures` are those of recipients without a
    destination."""
    if not failures and len(outcomes) == 1:
        return outcomes[0]
    results = {result.recipient: result for outcome in outcomes for result in outcome.results}
    results |= {recipient: _result_of_failure(recipient, failure) for recipient, failure in failures.items()}
    contacted = [outcome for outcome in outcomes if outcome.exchange] or list(outcomes)
    return DeliveryOutcome(
        results=tuple(results[recipient] for recipient in envelope.recipients),
        host=contacted[-1].host if contacted else HOST,
        site=next(
            (outcome.site for outcome in outcomes if _is_deferred(outcome)), outcomes[0].site if outcomes else ""
        ),
        duration=max((outcome.duration for outcome in outcomes), default=NO_TIME),
        ambiguous=any(outcome.ambiguous for outcome in outcomes),
        wait_cause=next((outcome.wait_cause for outcome in outcomes if _is_deferred(outcome)), None),
        no_server_contacted=not failures and all(outcome.no_server_contacted for outcome in outcomes),
        retry_after=min((outcome.retry_after for outcome in outcomes if outcome.retry_after), default=None),
        exchange=_joined_dialogue(outcomes),
    )


def _is_deferred(outcome: DeliveryOutcome) -> bool:
    return any(isinstance(result, Deferred) for result in outcome.results)


def _result_of_failure(recipient: str, failure: RouteFailure) -> Result:
    kind: type[Result] = Rejected if failure.code >= 500 else Deferred
    return kind(
        recipient=recipient,
        code=failure.code,
        enhanced=failure.enhanced,
        text=failure.text,
        host=HOST,
        duration=NO_TIME,
    )


def _joined_dialogue(outcomes: Sequence[DeliveryOutcome]) -> tuple[tuple[str, bytes], ...]:
    """The dialogues with all destinations, one after the other, until LONGEST_DIALOGUE octets are reached."""
    dialogue: list[tuple[str, bytes]] = []
    octets = 0
    for outcome in outcomes:
        if octets >= LONGEST_DIALOGUE:
            break
        part = outcome.opening + outcome.exchange
        dialogue += part
        octets += sum(len(data) for _, data in part)
    return tuple(dialogue)
