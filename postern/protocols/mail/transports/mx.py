"""The mail servers of a domain (RFC 5321 §5.1): their addresses, and how connections to them must be protected."""

import asyncio
import re
from collections.abc import Awaitable, Callable, Collection, Sequence
from typing import TypeAlias

import msgspec

from postern.protocols.mail.dns import DnsUnavailable, MailExchanger, MailExchangers, NoSuchRecord, Resolver, TlsaRecord
from postern.protocols.mail.mta_sts import StsPolicy

MAX_HOSTS = 10
"""How many mail servers of a domain are considered; RFC 5321 §5.1 requires at least two addresses."""
MAX_HOST_ADDRESSES = 4
"""How many addresses of a mail server are considered."""
MAX_TLSA_RECORDS = 32
"""How many TLSA records of a mail server are considered."""
ROUTE_SECONDS = 60.0
"""For how long a route is kept. It is also the delay after which a change in the DNS has an effect."""
FAILURE_SECONDS = 5.0
"""For how long a failure to find a route is kept."""
MAX_ROUTES = 10_000

CheckAddresses: TypeAlias = Callable[[Sequence[str]], object]
"""Raises ValueError with a readable message if one of these addresses must not be connected to."""
FindPolicy: TypeAlias = Callable[[str], Awaitable[StsPolicy | None]]
"""Returns the MTA-STS policy of a domain, None if it has none."""
ReceivesMail: TypeAlias = Callable[[str], Awaitable[bool]]
"""Returns whether this server receives mail for a domain; then delivering the domain's mail to itself is no loop."""


class RouteFailure(Exception):
    """A domain has no mail server that can be used. `code`, `enhanced` and `text` are the result for its recipients."""

    def __init__(self, code: int, enhanced: str, text: str) -> None:
        super().__init__(text)
        self.code, self.enhanced, self.text = code, enhanced, text


class MailHost(msgspec.Struct, frozen=True, kw_only=True):
    """A mail server."""

    name: str
    preference: int
    """Servers with a smaller number are tried first."""
    addresses: tuple[str, ...]
    """IP addresses, IPv6 first."""
    tlsa: tuple[TlsaRecord, ...] = ()
    """Its TLSA records, authenticated with DNSSEC; if there are any, TLS is required (RFC 7672 §2.2)."""
    tlsa_base: str = ""
    """The host name of the TLSA records: that of the server, or the name for which it is an alias (RFC 7672 §2.2.3)."""


class MailRoute(msgspec.Struct, frozen=True, kw_only=True):
    """The mail servers of a domain, smallest preference first; at least one."""

    domain: str
    canonical_domain: str
    """The domain that has the MX records, for which `domain` may be an alias."""
    hosts: tuple[MailHost, ...]
    policy: StsPolicy | None = None
    """The MTA-STS policy, if its mode is `enforce` or `testing`."""
    authenticated: bool = False
    """Whether the names of the mail servers are authenticated with DNSSEC, or the domain is its own only mail server,
    so that no record names another one."""


class MailRoutes:
    """Finds routes, and keeps them for ROUTE_SECONDS. Concurrent callers with the same domain share one search."""

    def __init__(
        self,
        resolver: Resolver,
        *,
        port: int,
        check_addresses: CheckAddresses,
        find_policy: FindPolicy,
        own_names: Collection[str],
        own_addresses: Collection[str],
        clock: Callable[[], float],
        receives_mail_for: ReceivesMail | None = None,
        report_tlsa_failure: Callable[[str, str], object] = lambda _domain, _host: None,
    ) -> None:
        """`port` is that of the mail servers. A mail server with one of `own_names` or `own_addresses` is this server.
        Without `receives_mail_for`, this server receives mail for no domain.

        `report_tlsa_failure` is called with a domain and a mail server whose TLSA records could not be looked up.
        """
        self._resolver = resolver
        self._port = port
        self._check_addresses = check_addresses
        self._find_policy = find_policy
        self._receives_mail_for = receives_mail_for
        self._own_names, self._own_addresses = frozenset(own_names), frozenset(own_addresses)
        self._clock = clock
        self._report_tlsa_failure = report_tlsa_failure
        self._cache: dict[str, tuple[float, asyncio.Future[MailRoute]]] = {}

    async def find(self, domain: str) -> MailRoute:
        """The route of a domain (A-labels, lower case). Raises RouteFailure."""
        found_at, route = self._cache.get(domain, (0.0, None))
        if route is None or self._clock() - found_at >= (FAILURE_SECONDS if _has_failed(route) else ROUTE_SECONDS):
            route = asyncio.ensure_future(self._find(domain))
            self._cache.pop(domain, None)
            self._cache[domain] = (self._clock(), route)
            if len(self._cache) > MAX_ROUTES:
                del self._cache[next(iter(self._cache))]
        # Cancelling one caller must not cancel the search for the others.
        return await asyncio.shield(route)

    async def _find(self, domain: str) -> MailRoute:
        exchangers = await self._exchangers(domain)
        lookups = [
            self._host(domain, host, preference, is_authenticated=exchangers.authenticated)
            for preference, host in exchangers.exchangers[:MAX_HOSTS]
        ]
        results = await asyncio.gather(*lookups, return_exceptions=True)
        for result in results:
            if isinstance(result, BaseException) and not isinstance(result, RouteFailure):
                raise result
        hosts = [result for result in results if isinstance(result, MailHost)]
        failures = [result for result in results if isinstance(result, RouteFailure)]
        if not hosts:
            # A server whose lookup failed may have an address later, so a temporary failure takes precedence.
            raise min(failures, key=lambda failure: failure.code)
        policy = await self._find_policy(domain)
        return MailRoute(
            domain=domain,
            canonical_domain=exchangers.canonical_name,
            hosts=tuple(await self._without_loop(domain, hosts)),
            policy=policy if policy and policy.mode != "none" else None,
            authenticated=exchangers.authenticated or [host.name for host in hosts] == [domain],
        )

    async def _exchangers(self, domain: str) -> MailExchangers:
        """The MX records; the domain itself if it has none (RFC 5321 §5.1: implicit MX). Raises RouteFailure."""
        try:
            records = await self._resolver.mail_exchangers(domain)
        except NoSuchRecord as error:
            if error.nxdomain:
                raise RouteFailure(550, "5.1.2", f"The domain {domain} does not exist.") from None
            return MailExchangers([MailExchanger(0, domain)], error.authenticated, domain)
        except DnsUnavailable as error:
            raise RouteFailure(451, "4.4.3", str(error)) from None
        named = [exchanger for exchanger in records.exchangers if exchanger.host]
        if not named:
            # RFC 7505 §3.
            raise RouteFailure(556, "5.1.10", f"The domain {domain} does not accept mail (null MX).")
        return MailExchangers(named, records.authenticated, records.canonical_name)

    async def _host(self, domain: str, name: str, preference: int, *, is_authenticated: bool) -> MailHost:
        """Look up the addresses and the TLSA records of a mail server. Raises RouteFailure."""
        if not _HOST_NAME.fullmatch(name):
            raise RouteFailure(550, "5.4.4", f"The mail server {name[:100]!a} cannot be used: it is not a host name.")
        try:
            host_addresses = await self._resolver.host_addresses(name)
            addresses = host_addresses.addresses[:MAX_HOST_ADDRESSES]
            self._check_addresses(addresses)
            tlsa: list[TlsaRecord] = []
            base = name
            if is_authenticated and host_addresses.authenticated:
                # RFC 7672 §2.2.2: only an authenticated name can have authenticated TLSA records.
                base = host_addresses.canonical_name
                tlsa = await self._tlsa(domain, base)
                if not tlsa and base != name:
                    base = name
                    tlsa = await self._tlsa(domain, name)
        except NoSuchRecord:
            raise RouteFailure(550, "5.4.4", f"The mail server {name} has no address.") from None
        except DnsUnavailable as error:
            # RFC 7672 §2.1.2: if the TLSA lookup fails, the server must not be used, as an attacker may suppress it.
            raise RouteFailure(451, "4.4.3", str(error)) from None
        except ValueError as error:
            raise RouteFailure(550, "5.4.4", f"The mail server {name} cannot be used: {error}") from None
        return MailHost(name=name, preference=preference, addresses=tuple(addresses), tlsa=tuple(tlsa), tlsa_base=base)

    async def _tlsa(self, domain: str, name: str) -> list[TlsaRecord]:
        try:
            return (await self._resolver.tlsa(f"_{self._port}._tcp.{name}"))[:MAX_TLSA_RECORDS]
        except NoSuchRecord:
            return []
        except DnsUnavailable:
            self._report_tlsa_failure(domain, name)
            raise

    async def _without_loop(self, domain: str, hosts: list[MailHost]) -> list[MailHost]:
        """Leave out this server and the servers with the same or a larger preference (RFC 5321 §5.1), unless this
        server receives mail for the domain. Raises RouteFailure if no server is left."""
        own = [host.preference for host in hosts if self._is_own(host)]
        if own and self._receives_mail_for is not None and await self._receives_mail_for(domain):
            return hosts
        others = [host for host in hosts if not own or host.preference < min(own)]
        if not others:
            text = f"The mail server of {domain} is this server, which would deliver the message to itself (mail loop)."
            raise RouteFailure(554, "5.4.6", text)
        return others

    def _is_own(self, host: MailHost) -> bool:
        return host.name in self._own_names or not self._own_addresses.isdisjoint(host.addresses)


_HOST_NAME = re.compile(r"[a-z0-9_-]+(\.[a-z0-9_-]+)*")
"""A host name in lower case (RFC 1123 §2.1), also with underscores, which some servers have. The DNS allows any octet,
but a site (see `shaping`) gets the name of its server, which then appears in URLs, replies and logs."""


def _has_failed(route: asyncio.Future[MailRoute]) -> bool:
    return route.done() and (route.cancelled() or route.exception() is not None)
