"""`postern doctor relay`: check each step of sending through the relay, without sending a message.

The commands for the other transports, for certificates and for contents are in `doctor_direct.py`, `doctor_ses.py`,
`certificates.py` and `doctor_contents.py`.
"""

import asyncio
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Annotated, Literal
from urllib.parse import urlsplit

import typer

from postern.kernel.config import Settings
from postern.kernel.terminal import printable

if TYPE_CHECKING:
    from postern.messaging.domains.model import PublicKey, RecordCheck
    from postern.protocols.mail.dns import Resolver
    from postern.protocols.mail.smtp import SmtpConnection
    from postern.protocols.mail.transports.relay import RelayServer

STEP_TIMEOUT = timedelta(seconds=15)
"""How long each step may take."""
EXIT_PROBLEM = 1
"""Exit code if a check found a problem."""

From = Annotated[
    str | None,
    typer.Option(
        "--from", help="Sender to check, as hello@acme.example: MAIL FROM at the relay, SPF, DKIM and DMARC in DNS."
    ),
]
To = Annotated[
    str | None, typer.Option("--to", help="Recipient to check with RCPT TO at the relay; no message is sent.")
]


@dataclass(frozen=True)
class CheckResult:
    """The result of one check."""

    status: Literal["ok", "problem", "note"]
    subject: str
    result: str
    advice: str = ""
    """How to solve the problem; empty if there is nothing to do."""

    def __str__(self) -> str:
        advice = f"\n         what to do: {printable(self.advice)}" if self.advice else ""
        return f"{self.status:<8} {printable(f'{self.subject}: {self.result}')}{advice}"


def register(app: typer.Typer) -> None:
    """Add the commands of this module."""
    from postern.cli.certificates import check_certificates
    from postern.cli.doctor_contents import check_contents
    from postern.cli.doctor_direct import check_direct
    from postern.cli.doctor_ses import check_ses

    group = typer.Typer(help="Find configuration problems.", no_args_is_help=True)
    group.command("relay")(check_relay)
    group.command("direct")(check_direct)
    group.command("ses")(check_ses)
    group.command("certificates")(check_certificates)
    group.command("contents")(check_contents)
    app.add_typer(group, name="doctor")


def check_relay(sender: From = None, recipient: To = None) -> None:
    """Connect to each relay of POSTERN_RELAY, authenticate, and test a sender and a recipient, without sending mail.

    Then check the base URL and the DNS records that receiving servers check: PTR, SPF, DKIM and DMARC. Exits with 1 if
    there is a problem.
    """
    from postern.kernel.config import read_settings

    settings = read_settings()
    if asyncio.run(print_results(diagnose(settings, sender, recipient))):
        raise typer.Exit(EXIT_PROBLEM)


async def print_results(results: AsyncIterator[CheckResult]) -> bool:
    """Print each result as soon as it is known; returns whether one is a problem."""
    has_problem = False
    async for result in results:
        print(result, flush=True)
        has_problem = has_problem or result.status == "problem"
    return has_problem


async def diagnose(settings: Settings, sender: str | None, recipient: str | None) -> AsyncIterator[CheckResult]:
    """Yield the results of all checks, in the order of the steps of sending.

    Raises SettingInvalid if POSTERN_RELAY is invalid.
    """
    from postern.messaging.emails.transports import parse_relays
    from postern.protocols.mail.dns import Resolver, parse_nameservers

    if settings.transport == "direct":
        result = "mail goes to the recipients' mail servers, except the mail of projects with their own relays"
        yield CheckResult("note", "Transport", result, "run `postern doctor direct`")
    elif settings.transport == "capture":
        yield CheckResult(
            "problem" if not settings.relay else "note",
            "Transport",
            "mail is captured and not sent",
            "set POSTERN_TRANSPORT=relay and POSTERN_RELAY=smtp://user:password@host:port",
        )
    elif "relay" not in settings.transports:
        names = ", ".join(settings.transports)
        yield CheckResult("note", "Transport", f"mail is sent with the transport {names}, not through a relay")
    resolver = Resolver(parse_nameservers(" ".join(settings.dns)))
    for relay in parse_relays(settings.relay) if settings.relay else []:
        async for result in _check_relay_connection(relay, settings, sender, recipient):
            yield result
    yield check_base_url(settings)
    async for result in _check_reverse_dns(resolver, settings.known_sending_addresses):
        yield result
    async for result in check_sender_records(resolver, settings, sender):
        yield result


async def check_sender_records(
    resolver: "Resolver", settings: Settings, sender: str | None
) -> AsyncIterator[CheckResult]:
    """Check the SPF, DMARC and DKIM records of the sender's domain, if a sender is given."""
    if sender:
        domain = sender.rpartition("@")[2].rstrip(">").lower()
        for result in await _check_policies(resolver, settings, domain):
            yield result
        yield await _check_dkim(resolver, settings, domain)
    else:
        yield CheckResult(
            "note", "SPF, DKIM, DMARC", "not checked", "give --from with an address of your sending domain"
        )


async def _check_relay_connection(
    relay: "RelayServer", settings: Settings, sender: str | None, recipient: str | None
) -> AsyncIterator[CheckResult]:
    from postern.protocols.mail import smtp

    relay_address = f"{relay.host}:{relay.port}"
    timeouts = smtp.Timeouts(connect=STEP_TIMEOUT, greeting=STEP_TIMEOUT, command=STEP_TIMEOUT, pipeline=STEP_TIMEOUT)
    peer = smtp.Peer(
        host=relay.host,
        port=relay.port,
        ehlo_host=urlsplit(settings.public_url).hostname or "localhost",
        tls=relay.tls,
        verify=relay.verify,
        user=relay.user,
        password=relay.password,
        timeouts=timeouts,
    )
    try:
        connection = await smtp.connect(peer)
    except smtp.ConnectionFailed as error:
        for result in _connection_failure(error, relay, relay_address):
            yield result
        return
    yield CheckResult("ok", f"Relay {relay_address}", "connected, EHLO accepted")
    yield _check_encryption(connection, relay)
    if relay.user is not None:
        yield CheckResult("ok", "Sign in", f"authenticated as {relay.user}")
    else:
        yield CheckResult(
            "note", "Sign in", "POSTERN_RELAY has no user, so the relay must allow this machine by its IP address"
        )
    try:
        async for result in _check_envelope(connection, sender, recipient):
            yield result
    except smtp.ConnectionFailed as error:
        yield CheckResult("problem", "Sender", error.text, "see the relay's log")
    await connection.quit()


def _connection_failure(error: Exception, relay: "RelayServer", relay_address: str) -> list[CheckResult]:
    """Return the results for a failed connection: the step that failed, and how to solve it."""
    from postern.protocols.mail import smtp

    assert isinstance(error, smtp.ConnectionFailed)
    connected = [CheckResult("ok", f"Relay {relay_address}", "connected")]
    match error:
        case smtp.Unreachable():
            advice = (
                "check host and port in POSTERN_RELAY, and firewalls: many hosting providers block the outgoing "
                "ports 25, 465 and 587"
            )
            return [CheckResult("problem", f"Relay {relay_address}", error.text, advice)]
        case smtp.GreetingRefused():
            advice = "the relay refused this machine with this reply; ask its operator to allow it"
            return [*connected, CheckResult("problem", "EHLO", error.text, advice)]
        case smtp.TlsRequired() if "certificate" in error.text.lower():
            advice = (
                "use the host name in the relay's certificate, or have the certificate renewed; for your own relay on "
                "a private network, `?verify=no` accepts any certificate"
            )
            return [*connected, CheckResult("problem", "Certificate", error.text, advice)]
        case smtp.TlsRequired():
            advice = (
                "for port 465 write smtps:// or `?tls=implicit`; for a relay without STARTTLS on this machine or in a "
                "private network, `?tls=none` (and no password)"
            )
            return [*connected, CheckResult("problem", "STARTTLS", error.text, advice)]
        case smtp.AuthenticationFailed():
            advice = "check user and password in POSTERN_RELAY; the characters # / @ : in them must be percent-encoded"
            return [*connected, CheckResult("problem", "Sign in", error.text, advice)]
        case _:
            advice = "check the port: 465 expects TLS from the start (smtps://), 587 and 25 expect STARTTLS (smtp://)"
            return [*connected, CheckResult("problem", "EHLO", error.text, advice)]


def _check_encryption(connection: "SmtpConnection", relay: "RelayServer") -> CheckResult:
    if connection.encrypted:
        certificate = " with a valid certificate" if relay.verify else "; the certificate is not checked (verify=no)"
        return CheckResult("ok", "Encryption", f"TLS{certificate}")
    return CheckResult("note", "Encryption", "none: mail can be read on the network between this machine and the relay")


async def _check_envelope(
    connection: "SmtpConnection", sender: str | None, recipient: str | None
) -> AsyncIterator[CheckResult]:
    if not sender:
        yield CheckResult("note", "Sender", "not checked", "give --from, and --to for a recipient")
        return
    mail_reply, rcpt_reply = await connection.probe(sender, recipient or sender)
    if not mail_reply.is_success:
        advice = (
            "register the sender with the relay's operator: many relays require its domain or address to be verified"
        )
        yield CheckResult("problem", "Sender", f"{mail_reply.code} {mail_reply.text[:300]}", advice)
        return
    yield CheckResult("ok", "Sender", f"the relay accepts mail from {sender}")
    if recipient and rcpt_reply is not None:
        if rcpt_reply.is_success:
            yield CheckResult("ok", "Recipient", f"the relay accepts mail to {recipient}; nothing was sent")
        else:
            advice = (
                "if the relay refuses recipients of other domains, give a user and password in POSTERN_RELAY or have "
                "this machine's IP address allowed"
            )
            yield CheckResult("problem", "Recipient", f"{rcpt_reply.code} {rcpt_reply.text[:300]}", advice)


def check_base_url(settings: Settings) -> CheckResult:
    """Check that recipients can reach the base URL, and that it has TLS."""
    if settings.is_local:
        advice = "set the URL at which recipients reach this server: POSTERN_BASE_URL=https://mail.example.com"
        return CheckResult(
            "problem", "Base URL", f"links lead to {settings.public_url}, which recipients cannot reach", advice
        )
    if not settings.public_url.startswith("https:"):
        advice = "put a reverse proxy with TLS in front of the server and set POSTERN_BASE_URL to its https:// URL"
        return CheckResult(
            "problem", "Base URL", f"{settings.public_url} has no TLS; mail programs warn about such links", advice
        )
    return CheckResult("ok", "Base URL", settings.public_url)


async def _check_reverse_dns(resolver: "Resolver", addresses: Sequence[str]) -> AsyncIterator[CheckResult]:
    """Check that each sending address has a PTR record whose name resolves to that address (RFC 1912 §2.1)."""
    from postern.protocols.mail.dns import DnsUnavailable, NoSuchRecord

    if not addresses:
        result = "not checked: the IP addresses from which the relay sends are not known"
        yield CheckResult("note", "PTR", result, "set POSTERN_SENDING_ADDRESSES if you know them")
    for address in addresses:
        advice = (
            f"have the provider of {address} set its PTR record (reverse name) to a host whose A or AAAA record is "
            f"{address}"
        )
        try:
            names = await resolver.ptr(address)
            confirmed = [name for name in names if address in await resolver.addresses(name)]
        except NoSuchRecord as error:
            yield CheckResult("problem", "PTR", str(error), advice)
            continue
        except DnsUnavailable as error:
            yield CheckResult("note", "PTR", str(error))
            continue
        if confirmed:
            yield CheckResult("ok", "PTR", f"{address} is {confirmed[0]}, which resolves to {address}")
        else:
            result = f"{address} is {', '.join(names)}, which does not resolve to {address}"
            yield CheckResult("problem", "PTR", result, advice)


async def _check_policies(resolver: "Resolver", settings: Settings, domain: str) -> list[CheckResult]:
    """The results for the SPF and DMARC records of a sending domain."""
    from postern.messaging.domains.dns_check import check_records
    from postern.messaging.domains.rules import spf_terms
    from postern.messaging.domains.verification import dns_record_settings

    # Without a zone, the SPF record is a TXT record of the sending domain itself.
    record_settings = dns_record_settings(settings)._replace(zone=None)
    dns_check = await check_records(resolver, domain, [], record_settings)
    by_purpose = {check.purpose: check for check in dns_check.checks}
    terms = " ".join(spf_terms(record_settings)) or "the IP addresses that send your mail"
    return [
        _policy_result("SPF", by_purpose["SPF"], domain, f"publish a TXT record at {domain} with {terms}"),
        _policy_result("DMARC", by_purpose["DMARC"], domain, f"publish a TXT record at _dmarc.{domain}"),
    ]


def _policy_result(subject: str, check: "RecordCheck", domain: str, advice: str) -> CheckResult:
    if check.status == "VERIFIED":
        return CheckResult("ok", subject, f"{domain} has {' '.join(check.found)}")
    if not check.found:
        result = check.reason or f"{domain} has no {subject} record"
    else:
        result = f"{domain} has {' '.join(check.found)}" + (f" ({check.reason})" if check.reason else "")
    return CheckResult("problem", subject, result, f"{advice}: {check.value}")


async def _check_dkim(resolver: "Resolver", settings: Settings, domain: str) -> CheckResult:
    """Check that DNS has the DKIM key with which one of the projects signs mail from the sending domain."""
    from postern.cli import CannotRun
    from postern.cli.data_folder import connect_database, has_schema
    from postern.kernel.database.embedded import EmbeddedError
    from postern.messaging.domains.dns_check import check_records
    from postern.messaging.domains.verification import dns_record_settings

    add_domain = (
        f'add it to your project: POST /projects/{{id}}/domains {{"domain": "{domain}"}}, and publish its records'
    )
    try:
        with connect_database(settings) as (url, _):
            keys = _public_keys(url, domain) if has_schema(url) else []
    except (CannotRun, EmbeddedError) as error:
        return CheckResult("note", "DKIM", f"not checked: {error}")
    if not keys:
        return CheckResult("problem", "DKIM", f"no project has the sending domain {domain}", add_domain)
    checks: list[RecordCheck] = []
    for project_keys in keys:
        dns_check = await check_records(resolver, domain, project_keys, dns_record_settings(settings))
        if dns_check.verdict("DKIM"):
            return CheckResult("ok", "DKIM", f"the key of {domain} is published")
        checks = [check for check in dns_check.checks if check.purpose == "DKIM"]
    result = "; ".join(check.reason or check.status for check in checks)
    return CheckResult("problem", "DKIM", result, f"publish the domain's DKIM record: {checks[0].value}")


def _public_keys(url: str, domain: str) -> "list[list[PublicKey]]":
    """The DKIM keys of a sending domain, for each project that has it."""
    import msgspec
    import psycopg

    from postern.messaging.domains.model import PublicKey

    with psycopg.connect(url, autocommit=True) as connection:
        rows = connection.execute("select keys from domains where domain = %s", [domain]).fetchall()
    return [msgspec.convert(keys, list[PublicKey]) for (keys,) in rows]
