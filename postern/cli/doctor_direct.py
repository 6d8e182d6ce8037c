"""`postern doctor direct`: check what recipients' mail servers check of a sender, without sending a message."""

import asyncio
import socket
from collections.abc import AsyncIterator
from ipaddress import ip_address
from typing import TYPE_CHECKING, Annotated
from urllib.parse import urlsplit

import typer

from postern.cli.doctor import (
    EXIT_PROBLEM,
    STEP_TIMEOUT,
    CheckResult,
    From,
    To,
    check_base_url,
    check_sender_records,
    print_results,
)
from postern.cli.doctor_clock import TIME_SERVER, check_clock
from postern.cli.doctor_loops import check_loops, check_redirection, own_names
from postern.kernel.config import Settings
from postern.kernel.outbound.ssrf import is_special

if TYPE_CHECKING:
    from postern.protocols.mail.dns import Resolver
    from postern.protocols.mail.transports.direct import Source
    from postern.protocols.mail.transports.mx import MailHost


TimeServer = Annotated[str, typer.Option("--time-server", help="NTP server with which the clock is compared.")]


def check_direct(sender: From = None, recipient: To = None, time_server: TimeServer = TIME_SERVER) -> None:
    """Check sending with the transport `direct`, without sending mail. Exits with 1 if there is a problem.

    Each address of POSTERN_SOURCES must be on this machine and public, and must match its name in the DNS. With --to,
    the command finds the mail servers of the recipient's domain and connects to one. It then checks that mail to the
    domains of the projects does not come back to this server; the base URL; the clock; and, with --from, the DNS
    records of the sending domain.
    """
    from postern.kernel.config import read_settings

    if asyncio.run(print_results(diagnose_direct(read_settings(), sender, recipient, time_server))):
        raise typer.Exit(EXIT_PROBLEM)


async def diagnose_direct(
    settings: Settings, sender: str | None, recipient: str | None, time_server: str = TIME_SERVER
) -> AsyncIterator[CheckResult]:
    """Yield the results of all checks. Raises SettingInvalid if POSTERN_SOURCES is invalid."""
    from postern.messaging.emails.sources import parse_sources
    from postern.protocols.mail.dns import Resolver, parse_nameservers

    if not settings.offers_direct:
        advice = "set POSTERN_TRANSPORT=direct for all projects, or POSTERN_SOURCES for projects that choose it"
        yield CheckResult("problem", "Transport", "no project can send to the recipients' mail servers", advice)
    resolver = Resolver(parse_nameservers(" ".join(settings.dns)))
    sources = parse_sources(settings.sources)
    for source in sources:
        async for result in _check_source(resolver, source):
            yield result
    if not sources:
        yield await _check_default_name(resolver, settings)
    if recipient:
        async for result in _check_recipient(resolver, settings, sources, recipient.rpartition("@")[2]):
            yield result
    else:
        advice = "give --to with an address at a large provider, to connect to its mail server without sending mail"
        yield CheckResult("note", "Port 25", "not checked", advice)
    async for result in check_loops(resolver, settings, sources, sender):
        yield result
    yield check_base_url(settings)
    yield await check_clock(resolver, time_server)
    async for result in check_sender_records(resolver, settings, sender):
        yield result


async def _check_source(resolver: "Resolver", source: "Source") -> AsyncIterator[CheckResult]:
    """Check that this machine has the address, and that the address and its name refer to each other in the DNS."""
    subject = f"Source {source.address}"
    try:
        with socket.socket(socket.AF_INET6 if ":" in source.address else socket.AF_INET) as local:
            local.bind((source.address, 0))
    except OSError as error:
        advice = "add the address to a network interface of this machine, or remove it from POSTERN_SOURCES"
        yield CheckResult("problem", subject, f"this machine does not have it: {error.strerror or error}", advice)
    if is_special(ip_address(source.address)):
        result = "not a public address: receivers see another one, whose PTR record is not checked here"
        yield CheckResult("note", subject, result, f"make sure that its public address has the name {source.name}")
        return
    yield await _check_ptr(resolver, source.address, source.name)


async def _check_ptr(resolver: "Resolver", address: str, name: str) -> CheckResult:
    """Check that the PTR record of an address has the name for EHLO, and that this name resolves to the address."""
    from postern.protocols.mail.dns import DnsUnavailable, NoSuchRecord

    try:
        addresses = await resolver.addresses(name)
    except NoSuchRecord:
        addresses = []
    except DnsUnavailable as error:
        return CheckResult("note", "EHLO name", str(error))
    if address not in addresses:
        kind = "AAAA" if ":" in address else "A"
        return CheckResult(
            "problem",
            "EHLO name",
            f"{name} does not resolve to {address}",
            f"publish an {kind} record: {name} {address}",
        )
    try:
        names = await resolver.ptr(address)
    except NoSuchRecord:
        names = []
    except DnsUnavailable as error:
        return CheckResult("note", "PTR", str(error))
    if name not in names:
        result = f"the reverse name of {address} is {', '.join(names) or 'missing'} instead of {name}"
        advice = f"have the provider of the address set its PTR record to {name}; without it, many servers refuse mail"
        return CheckResult("problem", "PTR", result, advice)
    return CheckResult("ok", "PTR", f"{address} is {name}, which resolves to {address}")


async def _check_default_name(resolver: "Resolver", settings: Settings) -> CheckResult:
    """Check the host of the base URL, which is the name for EHLO if POSTERN_SOURCES is not set."""
    from postern.protocols.mail.dns import DnsUnavailable, NoSuchRecord

    name = urlsplit(settings.public_url).hostname or "localhost"
    advice = "set POSTERN_SOURCES=address=name with the addresses from which mail is sent and their PTR names"
    try:
        addresses = [] if settings.is_local else await resolver.addresses(name)
    except NoSuchRecord:
        addresses = []
    except DnsUnavailable as error:
        return CheckResult("note", "EHLO name", str(error))
    if not addresses:
        return CheckResult("problem", "EHLO name", f"{name}, the host of the base URL, has no address in DNS", advice)
    result = f"{name}, the host of the base URL; the operating system chooses the address from which mail is sent"
    return CheckResult("note", "EHLO name", result, advice)


async def _check_recipient(
    resolver: "Resolver", settings: Settings, sources: "list[Source]", domain: str
) -> AsyncIterator[CheckResult]:
    """Find the mail servers of a domain and connect to the first one."""
    from postern.kernel.outbound.ssrf import permitted
    from postern.protocols.mail.transports.mx import MailRoutes, RouteFailure

    async def no_policy(_domain: str) -> None:
        return None

    routes = MailRoutes(
        resolver,
        port=settings.direct_port,
        check_addresses=lambda addresses: permitted(addresses, settings.outbound_allow),
        find_policy=no_policy,
        own_names=[source.name for source in sources],
        own_addresses=[*settings.known_sending_addresses],
        clock=lambda: 0.0,
    )
    try:
        route = await routes.find(domain.lower())
    except RouteFailure as failure:
        yield CheckResult("problem", f"Mail servers of {domain}", failure.text, "check POSTERN_DNS and the recipient")
        return
    hosts = ", ".join(host.name for host in route.hosts)
    yield CheckResult("ok", f"Mail servers of {domain}", hosts)
    yield await _check_port(settings, sources, route.hosts[0])


async def _check_port(settings: Settings, sources: "list[Source]", host: "MailHost") -> CheckResult:
    """Connect to a mail server and wait for its reply to EHLO."""
    from postern.protocols.mail import smtp

    address = host.addresses[0]
    usable = [source for source in sources if (":" in source.address) == (":" in address)]
    peer = smtp.Peer(
        host=host.name,
        address=address,
        port=settings.direct_port,
        verify=False,
        source=usable[0].address if usable else None,
        ehlo_host=usable[0].name if usable else urlsplit(settings.public_url).hostname or "localhost",
        timeouts=smtp.Timeouts(
            connect=STEP_TIMEOUT, greeting=STEP_TIMEOUT, command=STEP_TIMEOUT, pipeline=STEP_TIMEOUT
        ),
    )
    subject = f"Port {settings.direct_port}"
    try:
        connection = await smtp.connect_opportunistically(peer)
    except smtp.Unreachable as error:
        advice = (
            "many hosting providers block outgoing connections to port 25 until you ask them: have it opened, or use "
            "the transport `relay`"
        )
        return CheckResult("problem", subject, error.text, advice)
    except smtp.ConnectionFailed as error:
        return CheckResult("problem", subject, error.text, "the server's reply says why it refuses this machine")
    encryption = "with TLS" if connection.encrypted else "without TLS"
    redirection = check_redirection(settings, connection, own_names(settings, sources))
    await connection.quit()
    if redirection:
        return redirection
    return CheckResult("ok", subject, f"connected to {host.name} [{address}] {encryption}; nothing was sent")
