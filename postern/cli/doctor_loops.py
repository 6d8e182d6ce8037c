"""The part of `postern doctor direct` that looks for mail loops: mail that this server sends to itself."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urlsplit

from postern.cli.doctor import STEP_TIMEOUT, CheckResult
from postern.kernel.config import BOUNCE_LABEL, Settings

if TYPE_CHECKING:
    from postern.protocols.mail.dns import Resolver
    from postern.protocols.mail.smtp import SmtpConnection
    from postern.protocols.mail.transports.direct import Source

DOMAINS_CHECKED = 500
"""Maximum number of domains of projects whose mail servers are looked up."""
CONCURRENT_LOOKUPS = 20
"""Maximum number of DNS lookups at the same time."""


class OwnDomain(NamedTuple):
    """A domain of the settings, of a project, or of the sender to check."""

    name: str
    has_route: bool
    """Whether a project receives mail to its addresses."""
    is_for_bounces: bool = False
    """Whether this is the domain of return paths (RFC 5321 MAIL FROM), to which bounces are sent."""


class OwnMailServer(NamedTuple):
    """A mail server of a domain that is this server."""

    host: str
    """Its name in the MX record, or the domain itself if it has none."""
    address: str
    """Its IP address; empty if the name has none."""
    is_implicit: bool
    """Whether the domain has no MX record, so that mail goes to its A or AAAA record (RFC 5321 §5.1)."""


async def check_loops(
    resolver: "Resolver", settings: Settings, sources: "Sequence[Source]", sender: str | None
) -> AsyncIterator[CheckResult]:
    """Check the domains of the settings, of the projects and of `sender`, if it is given.

    Yields a problem or note for each domain whose mail server is this server, unless this server receives its mail.
    """
    names = own_names(settings, sources)
    addresses = await _own_addresses(resolver, settings, sources, names)
    domains, failure = _own_domains(settings, sender)
    if failure:
        yield CheckResult("note", "Mail loops", f"the domains of the projects are not checked: {failure}")
    limit = asyncio.Semaphore(CONCURRENT_LOOKUPS)

    async def find(domain: OwnDomain) -> OwnMailServer | None:
        async with limit:
            return await _own_mail_server(resolver, domain.name, names, addresses)

    count = 0
    for domain, server in zip(domains, await asyncio.gather(*map(find, domains)), strict=True):
        result = await _result_for(settings, domain, server) if server else None
        if result:
            count += 1
            yield result
    if domains and not count:
        yield CheckResult("ok", "Mail loops", f"mail to {_counted(domains)} does not come back to this server")


def _counted(domains: Sequence[OwnDomain]) -> str:
    return domains[0].name if len(domains) == 1 else f"the {len(domains)} domains of this server"


async def _result_for(settings: Settings, domain: OwnDomain, server: OwnMailServer) -> CheckResult | None:
    """The result for a domain whose mail server is this server; None if this server receives the domain's mail."""
    subject = f"Mail server of {domain.name}"
    record = f"the MX record {server.host}"
    if server.is_implicit:
        record = f"the address {server.address} (there is no MX record)"
    if settings.receives_mail:
        if domain.has_route or domain.is_for_bounces:
            return None
        advice = (
            f"add a route for the addresses of {domain.name} (POST /projects/{{id}}/inbound/routes), or publish an MX "
            "record that names the server of its mailboxes"
        )
        result = f"{record} leads to this server, which has no route for the domain: messages to it bounce"
        return CheckResult("note", subject, result, advice)
    if domain.has_route and await _accepts_connections(settings, server.address):
        result = f"{record} leads to this server, whose port {settings.direct_port} belongs to another mail server"
        advice = "that mail server must pass the mail on to POST /projects/{id}/inbound; see the guide to received mail"
        return CheckResult("note", subject, result, advice)
    result = f"{record} leads to this server, which receives no mail: POSTERN_INBOUND_PORT is not set"
    if domain.is_for_bounces:
        result += "; bounces and complaints are lost"
    elif domain.has_route:
        result += ", so the routes of the domain get no mail"
    else:
        result += f", so mail to {domain.name} loops and bounces"
    advice = "set POSTERN_INBOUND_PORT=25 to receive mail here"
    if domain.is_for_bounces:
        advice += ", or let the MX record name the server that passes bounces on to POST /projects/{id}/inbound/reports"
    else:
        advice += f" and add a route for {domain.name}" if not domain.has_route else ""
        advice += ", or publish an MX record that names the server of its mailboxes"
    return CheckResult("problem", subject, result, advice)


def own_names(settings: Settings, sources: "Sequence[Source]") -> frozenset[str]:
    """The host names of this server, in lower case."""
    host = (urlsplit(settings.public_url).hostname or "").lower()
    names = {settings.mx_name, host, *(source.name for source in sources)}
    return frozenset(names - {"", "localhost"})


async def _own_addresses(
    resolver: "Resolver", settings: Settings, sources: "Sequence[Source]", names: frozenset[str]
) -> frozenset[str]:
    """The IP addresses of this server: those it sends from, and those of its names."""
    from postern.protocols.mail.dns import DnsUnavailable, NoSuchRecord

    addresses = {*settings.sending_addresses, *(source.address for source in sources)}
    for name in sorted(names):
        try:
            addresses.update(await resolver.addresses(name))
        except (NoSuchRecord, DnsUnavailable):
            continue
    return frozenset(addresses)


def _own_domains(settings: Settings, sender: str | None) -> tuple[list[OwnDomain], str]:
    """The domains of the settings, of `sender` and of the projects.

    The second value says why the domains of the projects are missing; empty if they are not.
    """
    from postern.cli import CannotRun
    from postern.cli.data_folder import connect_database, has_schema
    from postern.kernel.database.embedded import EmbeddedError

    stored: list[OwnDomain] = []
    failure = ""
    try:
        with connect_database(settings) as (url, _):
            stored = _stored_domains(url) if has_schema(url) else []
    except (CannotRun, EmbeddedError) as error:
        failure = str(error)
    domains = {domain.name: domain for domain in stored}
    if sender:
        name = sender.rpartition("@")[2].rstrip(">").lower()
        domains.setdefault(name, OwnDomain(name, has_route=False))
    zone = settings.dns_zone
    for name in (settings.bounce_domain, f"{BOUNCE_LABEL}.{zone.rstrip('.')}" if zone else None):
        if name:
            known = domains.get(name.lower())
            has_route = known is not None and known.has_route
            domains[name.lower()] = OwnDomain(name.lower(), has_route=has_route, is_for_bounces=True)
    return [domains[name] for name in sorted(domains)], failure


def _stored_domains(url: str) -> list[OwnDomain]:
    """The sending domains of all projects, and the domains of their active routes; at most DOMAINS_CHECKED."""
    import psycopg

    query = """
        select domain, bool_or(has_route) from (
            select d.project_id, d.domain, false as has_route from domains d
            union all
            select r.project_id, r.domain, true from inbound_routes r where r.active
        ) as own (project_id, domain, has_route)
        join projects p on p.id = own.project_id and p.deleted_at is null
        group by domain order by bool_or(has_route) desc, domain limit %s
    """
    with psycopg.connect(url, autocommit=True) as connection:
        return [OwnDomain(name, has_route) for name, has_route in connection.execute(query, [DOMAINS_CHECKED])]


async def _own_mail_server(
    resolver: "Resolver", domain: str, names: frozenset[str], addresses: frozenset[str]
) -> OwnMailServer | None:
    """The mail server of `domain` that is this server, by its name or address; None if none is, or if DNS fails."""
    from postern.protocols.mail.dns import DnsUnavailable, NoSuchRecord

    is_implicit = False
    try:
        hosts = [exchanger.host for exchanger in (await resolver.mail_exchangers(domain)).exchangers if exchanger.host]
    except NoSuchRecord as error:
        hosts, is_implicit = [] if error.nxdomain else [domain], True
    except DnsUnavailable:
        return None
    for host in hosts:
        try:
            host_addresses = await resolver.addresses(host)
        except (NoSuchRecord, DnsUnavailable):
            host_addresses = []
        own = [address for address in host_addresses if address in addresses]
        if own or (host in names and not is_implicit):
            return OwnMailServer(host, (own or host_addresses or [""])[0], is_implicit)
    return None


async def _accepts_connections(settings: Settings, address: str) -> bool:
    """Whether a mail server answers at an address of this machine, on the port of the transport `direct` (25)."""
    from postern.protocols.mail import smtp

    timeouts = smtp.Timeouts(connect=STEP_TIMEOUT, greeting=STEP_TIMEOUT, command=STEP_TIMEOUT, pipeline=STEP_TIMEOUT)
    peer = smtp.Peer(host=address, address=address, port=settings.direct_port, tls=smtp.Tls.NONE, timeouts=timeouts)
    try:
        connection = await smtp.connect(peer)
    except smtp.ConnectionFailed:
        return False
    await connection.quit()
    return True


def check_redirection(settings: Settings, connection: "SmtpConnection", names: frozenset[str]) -> CheckResult | None:
    """A problem if the greeting on a connection to another mail server has a name of this server; otherwise None."""
    greeting = b"".join(data for side, data in connection.dialogue if side == "S").partition(b"\r\n")[0]
    name = greeting[4:].partition(b" ")[0].decode("ascii", "replace").lower().rstrip(".")
    if name not in names:
        return None
    port = settings.direct_port
    result = (
        f"the connection to {connection.peer.host} [{connection.peer.address}] was answered by this server, {name}: "
        f"outgoing connections to port {port} are redirected to it, so every message comes back"
    )
    advice = (
        f"remove the firewall rule that redirects outgoing connections to port {port} (REDIRECT or DNAT in "
        "`iptables -t nat -S` or `nft list ruleset`), or exempt the user that runs Postern from it"
    )
    return CheckResult("problem", f"Port {port}", result, advice)
