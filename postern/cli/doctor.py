"""`postern doctor relay`: whether mail can leave through the relay, step by step, without sending any."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Annotated, Literal
from urllib.parse import urlsplit

import typer

from postern.kernel.config import Settings

if TYPE_CHECKING:
    from postern.messaging.domains.model import PublicKey, RecordCheck
    from postern.protocols.mail.dns import Resolver
    from postern.protocols.mail.smtp import SmtpConnection
    from postern.protocols.mail.transports.relay import RelayServer

PATIENCE = timedelta(seconds=15)
"""How long each step may take."""
PROBLEM = 1
"""The exit code when a line says `problem`."""

From = Annotated[
    str | None,
    typer.Option("--from", help="A sender, such as hello@acme.example: asks the relay and the DNS about it."),
]
To = Annotated[str | None, typer.Option("--to", help="A recipient the relay is asked about; nothing is sent.")]


@dataclass(frozen=True)
class CheckResult:
    """One thing that was looked at."""

    status: Literal["ok", "problem", "note"]
    subject: str
    said: str
    do: str = ""
    """What to do about a problem."""

    def __str__(self) -> str:
        advice = f"\n         what to do: {self.do}" if self.do else ""
        return f"{self.status:<8} {self.subject}: {self.said}{advice}"


def register(app: typer.Typer) -> None:
    """Add the commands of this module."""
    group = typer.Typer(help="Looks for what is wrong, and says what to do.", no_args_is_help=True)
    group.command("relay")(check_relay)
    group.callback()(lambda: None)
    app.add_typer(group, name="doctor")


def check_relay(sender: From = None, recipient: To = None) -> None:
    """Connect to every relay of POSTERN_RELAY, sign in, and ask about a sender and a recipient, without sending.

    Then look at the base URL, and at what receivers will look at: PTR, SPF and DKIM. Ends with 1 if there is a problem.
    """
    from postern.kernel.config import read_settings

    settings = read_settings()
    if asyncio.run(_print_all(settings, sender, recipient)):
        raise typer.Exit(PROBLEM)


async def _print_all(settings: Settings, sender: str | None, recipient: str | None) -> bool:
    """Print each line as soon as it is known; says whether one is a problem."""
    bad = False
    async for line in diagnose(settings, sender, recipient):
        print(line, flush=True)
        bad = bad or line.status == "problem"
    return bad


async def diagnose(settings: Settings, sender: str | None, recipient: str | None) -> AsyncIterator[CheckResult]:
    """All that is looked at, in the order of a message's way. Raises SettingInvalid for a relay that cannot be read."""
    from postern.messaging.emails.transports import instance_relays
    from postern.protocols.mail.dns import Resolver, parse_nameservers

    if settings.transport != "relay":
        yield CheckResult(
            "problem" if not settings.relay else "note",
            "Transport",
            "mail is captured and leaves this machine for no one",
            "set POSTERN_TRANSPORT=relay and POSTERN_RELAY=smtp://user:password@host:port",
        )
    resolver = Resolver(parse_nameservers(" ".join(settings.dns)))
    for relay in instance_relays(settings.relay) if settings.relay else []:
        async for line in _check_relay_connection(relay, settings, sender, recipient):
            yield line
    yield _base_url(settings)
    async for line in _pointers(resolver, settings.sending_addresses):
        yield line
    if sender:
        domain = sender.rpartition("@")[2].rstrip(">").lower()
        yield await _spf(resolver, settings, domain)
        yield await _dkim(resolver, settings, domain)
    else:
        yield CheckResult("note", "SPF, DKIM", "not looked at", "give --from with an address of your sending domain")


async def _check_relay_connection(
    relay: "RelayServer", settings: Settings, sender: str | None, recipient: str | None
) -> AsyncIterator[CheckResult]:
    from postern.protocols.mail import smtp

    where = f"{relay.host}:{relay.port}"
    patience = smtp.Timeouts(connect=PATIENCE, greeting=PATIENCE, command=PATIENCE, group=PATIENCE)
    peer = smtp.Peer(
        host=relay.host,
        port=relay.port,
        hello=urlsplit(settings.public_url).hostname or "localhost",
        tls=relay.tls,
        verify=relay.verify,
        user=relay.user,
        password=relay.password,
        patience=patience,
    )
    try:
        connection = await smtp.connect(peer)
    except smtp.ConnectionFailed as trouble:
        for line in _steps_before(trouble, relay, where):
            yield line
        return
    yield CheckResult("ok", f"Relay {where}", "connects, and answers EHLO")
    yield _encryption(connection, relay)
    if relay.user is not None:
        yield CheckResult("ok", "Sign in", f"takes the password of {relay.user}")
    else:
        yield CheckResult(
            "note", "Sign in", "POSTERN_RELAY has no user, so the relay must know this machine by its address"
        )
    try:
        async for line in _check_domain(connection, sender, recipient):
            yield line
    except smtp.ConnectionFailed as trouble:
        yield CheckResult("problem", "Sender", trouble.text, "look at the relay's log")
    await connection.quit()


def _steps_before(trouble: Exception, relay: "RelayServer", where: str) -> list[CheckResult]:
    """Which step failed, and what to do about it."""
    from postern.protocols.mail import smtp

    assert isinstance(trouble, smtp.ConnectionFailed)
    reached = [CheckResult("ok", f"Relay {where}", "connects")]
    match trouble:
        case smtp.Unreachable():
            do = "look at host and port of POSTERN_RELAY, and at firewalls: many hosters close ports 25, 465 and 587"
            return [CheckResult("problem", f"Relay {where}", trouble.text, do)]
        case smtp.GreetingRefused():
            do = "ask the relay's operator to let this machine in; the reply is theirs"
            return [*reached, CheckResult("problem", "EHLO", trouble.text, do)]
        case smtp.TlsRequired() if "certificate" in trouble.text.lower():
            do = (
                "use the host name that is in the relay's certificate, or have it renewed; for a relay of your own on "
                "a private network, `?verify=no` takes any certificate"
            )
            return [*reached, CheckResult("problem", "Certificate", trouble.text, do)]
        case smtp.TlsRequired():
            do = (
                "for port 465 write smtps:// or `?tls=implicit`; for a relay without STARTTLS on this machine or in a "
                "private network, `?tls=none` (and no password)"
            )
            return [*reached, CheckResult("problem", "STARTTLS", trouble.text, do)]
        case smtp.AuthenticationFailed():
            do = "look at user and password of POSTERN_RELAY; characters like # / @ : in them are percent-encoded"
            return [*reached, CheckResult("problem", "Sign in", trouble.text, do)]
        case _:
            do = "look at the port: 465 encrypts from the first octet (smtps://), 587 and 25 begin in the clear"
            return [*reached, CheckResult("problem", "EHLO", trouble.text, do)]


def _encryption(connection: "SmtpConnection", relay: "RelayServer") -> CheckResult:
    if connection.encrypted:
        verified = "with a valid certificate" if relay.verify else "with any certificate, as verify=no asks"
        return CheckResult("ok", "Encryption", f"TLS {verified}")
    return CheckResult("note", "Encryption", "none: mail and its links can be read on the way to the relay")


async def _check_domain(
    connection: "SmtpConnection", sender: str | None, recipient: str | None
) -> AsyncIterator[CheckResult]:
    if not sender:
        yield CheckResult("note", "Sender", "not asked about", "give --from, and --to for a recipient")
        return
    taken, asked = await connection.probe(sender, recipient or sender)
    if not taken.good:
        do = "have the relay's operator allow this sender: many relays want its domain or address verified with them"
        yield CheckResult("problem", "Sender", f"{taken.code} {taken.text[:300]}", do)
        return
    yield CheckResult("ok", "Sender", f"the relay takes mail from {sender}")
    if recipient and asked is not None:
        if asked.good:
            yield CheckResult("ok", "Recipient", f"the relay takes mail for {recipient}; nothing was sent")
        else:
            do = "a relay that refuses foreign recipients wants a user and password, or knows this machine's address"
            yield CheckResult("problem", "Recipient", f"{asked.code} {asked.text[:300]}", do)


def _base_url(settings: Settings) -> CheckResult:
    if settings.is_local:
        do = "POSTERN_BASE_URL=https://mail.example.com, the address at which recipients reach this server"
        return CheckResult(
            "problem", "Base URL", f"links lead to {settings.public_url}, which recipients cannot reach", do
        )
    if not settings.public_url.startswith("https:"):
        do = "put a reverse proxy with TLS in front and write https:// in POSTERN_BASE_URL"
        return CheckResult(
            "problem", "Base URL", f"{settings.public_url} has no TLS; mail programs warn of such links", do
        )
    return CheckResult("ok", "Base URL", settings.public_url)


async def _pointers(resolver: "Resolver", addresses: Sequence[str]) -> AsyncIterator[CheckResult]:
    """Whether each sending address has a name that leads back to it."""
    from postern.protocols.mail.dns import DnsUnavailable, NoSuchRecord

    if not addresses:
        said = "not looked at: the addresses that mail leaves from are the relay's"
        yield CheckResult("note", "PTR", said, "set POSTERN_SENDING_ADDRESSES if you know them")
    for address in addresses:
        do = f"have whoever gave you {address} set its reverse name, to a host whose A or AAAA record is {address}"
        try:
            names = await resolver.ptr(address)
            back = [name for name in names if address in await resolver.addresses(name)]
        except NoSuchRecord as absent:
            yield CheckResult("problem", "PTR", str(absent), do)
            continue
        except DnsUnavailable as trouble:
            yield CheckResult("note", "PTR", str(trouble))
            continue
        if back:
            yield CheckResult("ok", "PTR", f"{address} is {back[0]}, and the other way round")
        else:
            yield CheckResult("problem", "PTR", f"{address} is {', '.join(names)}, which leads elsewhere", do)


async def _spf(resolver: "Resolver", settings: Settings, domain: str) -> CheckResult:
    from postern.messaging.domains.dns_check import check_records
    from postern.messaging.domains.rules import spf_terms
    from postern.messaging.domains.verification import published_by

    published = published_by(settings)._replace(zone=None)
    look = await check_records(resolver, domain, [], published)
    check = next(each for each in look.checks if each.purpose == "SPF")
    if check.status == "VERIFIED":
        return CheckResult("ok", "SPF", f"{domain} has {' '.join(check.found)}")
    wanted = " ".join(spf_terms(published)) or "the addresses that mail leaves from"
    found = f"{domain} has {' '.join(check.found)}" if check.found else f"{domain} has no SPF record"
    why = f" ({check.reason})" if check.reason else ""
    return CheckResult(
        "problem", "SPF", found + why, f"publish a TXT record at {domain} that has {wanted}: {check.value}"
    )


async def _dkim(resolver: "Resolver", settings: Settings, domain: str) -> CheckResult:
    """Whether the keys of the sending domain are published, as the database has them."""
    from postern.cli import CannotRun
    from postern.cli.data_folder import connect_database, has_schema
    from postern.kernel.database.embedded import EmbeddedError
    from postern.messaging.domains.dns_check import check_records
    from postern.messaging.domains.verification import published_by

    add = f'add it to your project: POST /projects/{{id}}/domains {{"domain": "{domain}"}}, and publish its records'
    try:
        with connect_database(settings) as (url, _):
            keys = _keys_of(url, domain) if has_schema(url) else []
    except (CannotRun, EmbeddedError) as error:
        return CheckResult("note", "DKIM", f"not looked at: {error}")
    if not keys:
        return CheckResult("problem", "DKIM", f"{domain} is a sending domain of no project", add)
    checks: list[RecordCheck] = []
    for project_keys in keys:
        look = await check_records(resolver, domain, project_keys, published_by(settings))
        if look.verdict("DKIM"):
            return CheckResult("ok", "DKIM", f"the key of {domain} is published")
        checks = [check for check in look.checks if check.purpose == "DKIM"]
    said = "; ".join(check.reason or check.status for check in checks)
    return CheckResult("problem", "DKIM", said, f"publish at the name of the record: {checks[0].value}")


def _keys_of(url: str, domain: str) -> "list[list[PublicKey]]":
    import msgspec
    import psycopg

    from postern.messaging.domains.model import PublicKey

    with psycopg.connect(url, autocommit=True) as connection:
        rows = connection.execute("select keys from domains where domain = %s", [domain]).fetchall()
    return [msgspec.convert(keys, list[PublicKey]) for (keys,) in rows]
