"""SPF, DKIM and DMARC of received messages together, and the field Authentication-Results (RFC 8601)."""

import asyncio
import re
from email import policy
from email.parser import HeaderParser
from typing import Literal

import idna

from postern.kernel.values import Record
from postern.protocols.mail.dkim_verification import DkimResult, DkimVerdict, header_fields, verify
from postern.protocols.mail.dmarc import (
    MILDER,
    Alignment,
    DmarcDiscovery,
    Policy,
    discover,
    organizational_domain,
    walk,
)
from postern.protocols.mail.dns import DnsUnavailable, NoSuchRecord, Resolver
from postern.protocols.mail.spf import SpfResult, SpfVerdict, check_host

MAX_FROM_FIELD = 4_096
"""Maximum octets of a From field that is parsed."""

DmarcVerdict = Literal["pass", "fail", "none", "temperror", "permerror"]
"""The results of RFC 9989 §4.4 in the words of RFC 8601."""


class DmarcResult(Record):
    """The DMARC result of a message."""

    verdict: DmarcVerdict
    reason: str
    domain: str = ""
    """The domain of the author's address in From; empty if there is not exactly one author domain."""
    policy: Policy | None = None
    """What the domain's owner asks receivers to do with messages that fail; None without a record."""


class MessageAuthentication(Record):
    """The results of SPF, DKIM and DMARC of a received message."""

    spf: SpfResult
    spf_domain: str
    """The domain that SPF was checked for: of MAIL FROM, or of EHLO if MAIL FROM is empty."""
    dkim: list[DkimResult]
    """One per signature, from the top of the message."""
    dmarc: DmarcResult


async def authenticate(
    resolver: Resolver, message: bytes, *, address: str | None, ehlo: str, mail_from: str, now: int
) -> MessageAuthentication:
    """Check a message that a client at the IP address `address` has sent with the envelope sender `mail_from`.

    Without an address, the SPF result is `none`. `message` must have CRLF line ends, `mail_from` is empty for the null
    reverse-path (RFC 5321 §4.5.5), `now` is in seconds since 1970. Nothing is raised for any message.
    """
    spf_domain = mail_from.rpartition("@")[2] or ehlo
    spf, dkim = await asyncio.gather(
        _check_spf(resolver, address, spf_domain, mail_from or f"postmaster@{ehlo}", ehlo),
        verify(resolver, message, now=now),
    )
    dmarc = await _evaluate_dmarc(resolver, author_domains(message), spf, spf_domain.lower(), dkim)
    return MessageAuthentication(spf=spf, spf_domain=spf_domain.lower(), dkim=dkim, dmarc=dmarc)


async def _check_spf(resolver: Resolver, address: str | None, domain: str, sender: str, ehlo: str) -> SpfResult:
    if address is None:
        return SpfResult(verdict=SpfVerdict.NONE, reason="The IP address of the client is not known.")
    return await check_host(resolver, address, domain, sender=sender, helo=ehlo)


def unchecked(reason: str, *, mail_from: str, ehlo: str) -> MessageAuthentication:
    """The results for a message that could not be checked in time: temporary errors with this reason."""
    return MessageAuthentication(
        spf=SpfResult(verdict=SpfVerdict.TEMPERROR, reason=reason),
        spf_domain=(mail_from.rpartition("@")[2] or ehlo).lower(),
        dkim=[],
        dmarc=DmarcResult(verdict="temperror", reason=reason),
    )


def author_domains(message: bytes) -> list[str]:
    """The domains of the addresses in From, in lower-case A-labels where they can be encoded, each once.

    Empty if there is no From field, more than one, or one without an address.
    """
    fields = [field for field in header_fields(message.partition(b"\r\n\r\n")[0]) if field.name == b"from"]
    if len(fields) != 1 or len(fields[0].text) > MAX_FROM_FIELD:
        return []
    try:
        parsed = HeaderParser(policy=policy.default).parsestr(fields[0].text.decode("utf-8", "replace") + "\r\n\r\n")
        domains = [address.domain for address in parsed["from"].addresses]
    except Exception:  # The parser of the standard library fails in many ways for fields that it does not expect.
        return []
    return list(dict.fromkeys(_a_labels(domain) for domain in domains)) if all(domains) else []


def _a_labels(domain: str) -> str:
    """The domain in lower-case A-labels; unchanged if it cannot be encoded, so that lookups find no records of it."""
    try:
        return (
            idna.encode(domain, uts46=True).decode().rstrip(".") if not domain.isascii() else domain.rstrip(".").lower()
        )
    except idna.IDNAError:
        return domain


async def _evaluate_dmarc(
    resolver: Resolver, domains: list[str], spf: SpfResult, spf_domain: str, dkim: list[DkimResult]
) -> DmarcResult:
    if len(domains) != 1:
        return DmarcResult(verdict="permerror", reason="From does not have exactly one author domain.")
    (domain,) = domains
    try:
        discovered = await discover(resolver, domain)
        if discovered is None:
            return DmarcResult(verdict="none", reason="The domain publishes no DMARC record.", domain=domain)
        requested = await _requested_policy(resolver, domain, discovered)
        is_aligned = await _is_any_aligned(resolver, domain, discovered, spf, spf_domain, dkim)
    except DnsUnavailable as error:
        return DmarcResult(verdict="temperror", reason=str(error), domain=domain)
    if is_aligned:
        return DmarcResult(verdict="pass", reason="", domain=domain, policy=requested)
    if spf.verdict is SpfVerdict.TEMPERROR or any(result.verdict is DkimVerdict.TEMPERROR for result in dkim):
        reason = "A lookup for SPF or DKIM failed, so the message may be authenticated for this domain."
        return DmarcResult(verdict="temperror", reason=reason, domain=domain, policy=requested)
    reason = "Neither SPF nor DKIM authenticate the message for this domain."
    return DmarcResult(verdict="fail", reason=reason, domain=domain, policy=requested)


async def _requested_policy(resolver: Resolver, domain: str, discovered: DmarcDiscovery) -> Policy:
    """The policy for the domain; `np` if it comes from a parent's record and the domain does not exist."""
    record = discovered.record
    if record.np is None or discovered.domain == domain or await _exists(resolver, domain):
        return discovered.policy
    return MILDER[record.np] if record.t else record.np


async def _exists(resolver: Resolver, domain: str) -> bool:
    """Whether the domain has an MX, A or AAAA record (RFC 9989 §3.2.11). Raises DnsUnavailable."""
    for lookup in (resolver.mx, resolver.addresses):
        try:
            await lookup(domain)
        except NoSuchRecord:
            continue
        return True
    return False


async def _is_any_aligned(
    resolver: Resolver,
    domain: str,
    discovered: DmarcDiscovery,
    spf: SpfResult,
    spf_domain: str,
    dkim: list[DkimResult],
) -> bool:
    """Whether SPF or a signature has passed for an aligned domain. Raises DnsUnavailable."""
    passed = [(result.domain, discovered.record.adkim) for result in dkim if result.verdict is DkimVerdict.PASS]
    if spf.verdict is SpfVerdict.PASS:
        passed.append((spf_domain, discovered.record.aspf))
    # The author domain comes first, because it needs no lookup.
    for authenticated, mode in sorted(set(passed), key=lambda entry: entry[0] != domain):
        if authenticated == domain:
            return True
        if mode is Alignment.RELAXED and await _has_organization(
            resolver, authenticated, discovered.organizational_domain
        ):
            return True
    return False


async def _has_organization(resolver: Resolver, domain: str, organization: str) -> bool:
    """Whether the organizational domain of `domain` is `organization` (RFC 9989 §4.10.2). Raises DnsUnavailable."""
    if domain != organization and not domain.endswith(f".{organization}"):
        return False
    return organizational_domain(domain, await walk(resolver, domain)) == organization


_TOKEN = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`{|}~-]+")


def authentication_results(results: MessageAuthentication, *, authserv_id: str, mail_from: str) -> str:
    """The value of the field Authentication-Results (RFC 8601 §2.2), unfolded and in ASCII.

    `authserv_id` is the host name of the server that checked the message.
    """
    parts = [authserv_id, f"spf={results.spf.verdict} smtp.mailfrom={_value(mail_from or results.spf_domain)}"]
    parts += [
        f"dkim={result.verdict}{_comment(result.reason)} header.d={_value(result.domain)}"
        f" header.s={_value(result.selector)} header.b={_value(result.signature)}"
        for result in results.dkim
    ] or ["dkim=none"]
    dmarc = results.dmarc
    parts.append(
        f"dmarc={dmarc.verdict}{_comment(f'p={dmarc.policy}' if dmarc.policy else '')} header.from="
        + _value(dmarc.domain)
    )
    return "; ".join(parts)


def _value(text: str) -> str:
    """A value as a token, or as a quoted string without characters that must not be in a header field."""
    ascii_text = re.sub(r"[^\x20-\x7e]", "?", text)
    return ascii_text if _TOKEN.fullmatch(ascii_text) else '"' + re.sub(r'(["\\])', r"\\\1", ascii_text) + '"'


def _comment(text: str) -> str:
    cleaned = re.sub(r"[^\x20-\x7e]|[()\\]", "", text)
    return f" ({cleaned})" if cleaned else ""
