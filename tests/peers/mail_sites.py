"""Mail sites of many kinds on a loopback internet: each behaves in a certain way, and its mail has a known final state.

sites = await build_sites(internet, authority, publish_policy)
...  # send to f"ada@{site.domain}" for each of them
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

from cryptography.hazmat.primitives.serialization import Encoding

from tests.peers.certificates import CertificateAuthority
from tests.peers.loopback_internet import LoopbackInternet
from tests.peers.smtp_sink import Behaviour, Received, Sink

POLICY = "version: STSv1\r\nmode: enforce\r\nmx: mx.{domain}\r\nmax_age: 604800\r\n"
PublishPolicy = Callable[[str, str], Awaitable[Any]]
"""Publishes the MTA-STS policy of a domain."""


@dataclass
class MailSite:
    """A domain and its mail servers."""

    domain: str
    final: frozenset[str]
    """The final states that its messages may have."""
    sinks: list[Sink] = field(default_factory=list)
    encrypted: bool | None = None
    """Whether all messages must arrive encrypted, or none; None if both are right."""
    heal: Callable[[], None] | None = None
    """Ends the fault of the site, after the first attempts."""

    @property
    def received(self) -> list[Received]:
        """The messages to the domain that its servers have received."""
        messages = [message for sink in self.sinks for message in sink.messages]
        return [message for message in messages if message.recipients[0].endswith(f"@{self.domain}")]


DELIVERED = frozenset(("DELIVERED",))
BOUNCED = frozenset(("BOUNCED",))
GIVEN_UP = frozenset(("FAILED",))
"""Of messages without an expiry that were deferred until the end of the retry period."""
SERVERS: dict[str, tuple[Behaviour, frozenset[str]]] = {
    "plain": (Behaviour(), DELIVERED),
    "minimal": (Behaviour(pipelining=False, smtputf8=False, eightbit=False, enhanced=False, size=None), DELIVERED),
    "chunking": (Behaviour(chunking=True), DELIVERED),
    "greylisting": (Behaviour(greylisting=True), DELIVERED),
    "busy": (Behaviour(busy_connections=8), DELIVERED),
    "drip": (Behaviour(drip_seconds=0.001), DELIVERED),
    "slow": (Behaviour(slow_seconds=0.05), DELIVERED),
    "few-a-connection": (Behaviour(messages_per_connection=3), DELIVERED),
    "lost-replies": (Behaviour(drop_after_dot=0.3), DELIVERED),
    "lost-replies-chunking": (Behaviour(drop_after_dot=0.3, chunking=True), DELIVERED),
    "half-deferred": (Behaviour(deferred_share=0.5), DELIVERED | GIVEN_UP),
    "unknown-user": (Behaviour(replies={"RCPT": b"550 5.1.1 No such user here"}), BOUNCED),
    "refused-sender": (Behaviour(replies={"MAIL": b"550 5.7.1 Access denied"}), BOUNCED),
    "refused-data": (Behaviour(replies={"DATA": b"554 5.7.1 No"}), BOUNCED),
    "refused-content": (Behaviour(replies={"DOT": b"554 5.7.1 Message content rejected"}), BOUNCED),
    "refused-client": (Behaviour(replies={"GREETING": b"554 5.7.1 No mail from your network"}), GIVEN_UP),
    "always-deferred": (Behaviour(replies={"RCPT": b"451 4.3.0 Try again later"}), GIVEN_UP),
    "mailbox-full": (Behaviour(replies={"DOT": b"452 4.2.2 Mailbox full"}), GIVEN_UP),
    "drops-greeting": (Behaviour(drop_at="GREETING"), GIVEN_UP),
    "drops-recipient": (Behaviour(drop_at="RCPT"), GIVEN_UP),
    "drops-text": (Behaviour(drop_at="TEXT"), GIVEN_UP),
    "endless-line": (Behaviour(replies={"EHLO": b"250 " + b"x" * 1_000_000}), GIVEN_UP),
    "endless-reply": (Behaviour(replies={"EHLO": b"250-x\r\n" * 100_000 + b"250 x"}), GIVEN_UP),
    "no-smtp": (Behaviour(replies={"GREETING": b"HTTP/1.1 400 Bad Request"}), GIVEN_UP),
}
"""The behaviour of sites with one mail server and without TLS, and the final states of their messages."""


async def build_sites(
    internet: LoopbackInternet, authority: CertificateAuthority, publish_policy: PublishPolicy
) -> list[MailSite]:
    """Start the servers, and publish their records."""
    sites = [
        MailSite(f"{name}.test", final, [await internet.mail_server(f"{name}.test", behaviour)], encrypted=False)
        for name, (behaviour, final) in SERVERS.items()
    ]
    return (
        sites
        + _sites_in_dns(internet)
        + await _sites_of_records(internet)
        + await _sites_with_tls(internet, authority, publish_policy)
    )


def _sites_in_dns(internet: LoopbackInternet) -> list[MailSite]:
    """Domains without a mail server."""
    zone = internet.zone
    zone.add("null-mx.test", "MX", "0 .")
    zone.add("text-only.test", "TXT", "no mail here")
    zone.add("loop.test", "A", "127.0.0.9")
    zone.add("private.test", "A", "10.1.2.3")
    zone.add("dangling.test", "MX", "10 mx.nowhere.test.")
    zone.servfail("servfail.test", "MX")
    names = {"null-mx": BOUNCED, "text-only": BOUNCED, "loop": BOUNCED, "private": BOUNCED, "no-such-domain": BOUNCED}
    names |= {"dangling": BOUNCED, "servfail": GIVEN_UP}
    return [MailSite(f"{name}.test", final) for name, final in names.items()]


async def _sites_of_records(internet: LoopbackInternet) -> list[MailSite]:
    """Domains with several mail servers, or found in another way than by one MX record with an IPv4 address."""
    zone = internet.zone
    ipv6 = MailSite("ipv6.test", DELIVERED, [await internet.mail_server("ipv6.test", address="::1")])

    implicit = MailSite("implicit.test", DELIVERED)
    address = internet.new_address()
    zone.add("implicit.test", "A", address)
    implicit.sinks.append(await internet.server_at(address))

    alias = MailSite("alias.test", DELIVERED, [await internet.mail_server("alias-target.test")])
    zone.add("alias.test", "CNAME", "alias-target.test.")

    backup = MailSite("backup.test", DELIVERED)
    zone.add("backup.test", "MX", "5 down.backup.test.", "10 busy.backup.test.")
    zone.add("down.backup.test", "A", internet.new_address())
    address = internet.new_address()
    zone.add("busy.backup.test", "A", address)
    await internet.server_at(address, Behaviour(replies={"GREETING": b"421 4.3.2 Busy"}))
    backup.sinks.append(await internet.mail_server("backup.test", host="last.backup.test", preference=20))

    equal = MailSite("equal.test", DELIVERED)
    for n in range(3):
        equal.sinks.append(await internet.mail_server("equal.test", host=f"mx{n}.equal.test"))

    shared = await internet.mail_server("hosted-1.test", host="mx.hosting.test")
    zone.add("hosted-2.test", "MX", "10 mx.hosting.test.")
    hosted = [MailSite(f"hosted-{n}.test", DELIVERED, [shared]) for n in (1, 2)]

    down = MailSite("down.test", GIVEN_UP)
    zone.add("down.test", "MX", "10 mx.down.test.")
    zone.add("mx.down.test", "A", internet.new_address())

    healing = MailSite("healing.test", DELIVERED, heal=lambda: zone.heal("healing.test"))
    healing.sinks.append(await internet.mail_server("healing.test"))
    zone.servfail("healing.test", "MX")

    restarted = MailSite("restarted.test", DELIVERED)
    restarted.sinks.append(
        await internet.mail_server("restarted.test", Behaviour(replies={"GREETING": b"421 4.3.2 Shutting down"}))
    )
    restarted.heal = restarted.sinks[0].behaviour.replies.clear
    return [ipv6, implicit, alias, backup, equal, *hosted, down, healing, restarted]


async def _sites_with_tls(
    internet: LoopbackInternet, authority: CertificateAuthority, publish_policy: PublishPolicy
) -> list[MailSite]:
    """Domains with STARTTLS, with and without MTA-STS (RFC 8461) and DANE (RFC 7672)."""
    zone, pem = internet.zone, Encoding.DER
    zone.is_authenticated = True
    sites: list[MailSite] = []

    async def add(name: str, final: frozenset[str], behaviour: Behaviour, *, encrypted: bool | None = None) -> None:
        sites.append(
            MailSite(
                f"{name}.test", final, [await internet.mail_server(f"{name}.test", behaviour)], encrypted=encrypted
            )
        )

    def signed(name: str, **options: int) -> Behaviour:
        return Behaviour(tls=authority.server(f"mx.{name}.test", **options)[0])

    stranger = CertificateAuthority("Stranger")
    await add("tls", DELIVERED, signed("tls"), encrypted=True)
    await add("tls-expired", DELIVERED, signed("tls-expired", days=-1), encrypted=True)
    await add("tls-other-name", DELIVERED, signed("other"), encrypted=True)
    await add("tls-unknown-ca", DELIVERED, Behaviour(tls=stranger.server("mx.tls-unknown-ca.test")[0]), encrypted=True)
    broken = signed("tls-broken")
    broken.replies["STARTTLS"] = b"454 4.7.0 TLS not available"
    await add("tls-broken", DELIVERED, broken, encrypted=False)

    for name, final, behaviour in (
        ("sts", DELIVERED, signed("sts")),
        ("sts-plain", GIVEN_UP, Behaviour()),
        ("sts-expired", GIVEN_UP, signed("sts-expired", days=-1)),
        ("sts-other-name", GIVEN_UP, signed("other")),
        ("sts-unknown-ca", GIVEN_UP, Behaviour(tls=stranger.server("mx.sts-unknown-ca.test")[0])),
    ):
        await add(name, final, behaviour, encrypted=True)
        await publish_policy(f"{name}.test", POLICY.format(domain=f"{name}.test"))

    context, certificate = authority.server("any.test")
    fingerprint = certificate.public_bytes(pem).hex()
    for name, final, behaviour, record in (
        ("dane", DELIVERED, Behaviour(tls=context), f"3 0 0 {fingerprint}"),
        ("dane-other-key", GIVEN_UP, Behaviour(tls=context), "3 0 1 " + "00" * 32),
        ("dane-plain", GIVEN_UP, Behaviour(), f"3 0 0 {fingerprint}"),
    ):
        await add(name, final, behaviour, encrypted=True)
        zone.add(f"_{internet.port}._tcp.mx.{name}.test", "TLSA", record)
    return sites
