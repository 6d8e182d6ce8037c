"""One look at the DNS of a domain: what of its records is there. Tells; changes nothing."""

import asyncio
import re
from collections.abc import Sequence
from typing import NamedTuple

from postern.messaging.domains.model import DnsRecord, PublicKey, Purpose, RecordCheck, RecordStatus
from postern.messaging.domains.rules import BOUNCE_LABEL, PURPOSES, PublishedRecords, records_of, spf_terms
from postern.protocols.mail import dkim, dmarc, spf
from postern.protocols.mail.dns import DnsUnavailable, NoSuchRecord, Resolver

FOUND_AT_MOST = 10
FOUND_LENGTH = 1_000
"""How much of what was found is kept for people to read."""


class DnsCheckResult(NamedTuple):
    """What the DNS said about each record."""

    checks: list[RecordCheck]

    def verdict(self, purpose: Purpose) -> bool | None:
        """Whether the record was there and right; None where the DNS gave no usable answer."""
        status = next((check.status for check in self.checks if check.purpose == purpose), "PENDING")
        return None if status == "UNKNOWN" else status == "VERIFIED"


async def check_records(
    resolver: Resolver, domain: str, keys: Sequence[PublicKey], published: PublishedRecords
) -> DnsCheckResult:
    """Ask for every record of a domain at once. Raises nothing: what goes wrong is in the checks."""
    by_purpose = {PURPOSES[key.role]: key for key in keys}
    wanted = records_of(domain, keys, [], published)
    if published.zone:
        # The return path is an alias into the zone; what SPF says there is told by a flag of its own.
        bounce = f"{BOUNCE_LABEL}.{domain}"
        wanted.append(DnsRecord(type="TXT", name=bounce, value=bounce, purpose="SPF", required=False))
    checks = (_check(resolver, domain, record, by_purpose.get(record.purpose), published) for record in wanted)
    return DnsCheckResult(list(await asyncio.gather(*checks)))


async def _check(
    resolver: Resolver, domain: str, record: DnsRecord, key: PublicKey | None, published: PublishedRecords
) -> RecordCheck:
    try:
        if key:
            return await _check_dkim(resolver, record, key)
        match record.purpose:
            case "SPF":
                return await _check_spf(resolver, record, published)
            case "DMARC":
                return await _check_dmarc(resolver, domain, record)
            case _:
                return await _check_alias(resolver, record)
    except NoSuchRecord as absent:
        return _dns_error(record, "PENDING", reason=str(absent))
    except DnsUnavailable as trouble:
        return _dns_error(record, "UNKNOWN", reason=str(trouble))


async def _check_dkim(resolver: Resolver, record: DnsRecord, key: PublicKey) -> RecordCheck:
    """The key as receivers see it: what counts is what a TXT lookup ends at, by whatever aliases."""
    found = await resolver.txt(record.name)
    records = [text for text in found if _KEY_RECORD.search(text)]
    if not records:
        return _dns_error(record, "WRONG", found, "What is published at this name is no key record: it has no tag `p`.")
    if len(records) > 1:  # RFC 6376 §3.6.2.2: with several records, what a verifier does is undefined.
        return _dns_error(record, "WRONG", found, "There are several keys at this name; only one is allowed.")
    problem = dkim.key_record_problem(records[0], algorithm=key.algorithm, public_key=key.public_key)
    return _dns_error(record, "WRONG" if problem else "VERIFIED", found, problem)


_KEY_RECORD = re.compile(r"(?:^|;)\s*p\s*=|DKIM1")


async def _check_spf(resolver: Resolver, record: DnsRecord, published: PublishedRecords) -> RecordCheck:
    if published.addresses:
        result = await spf.authorises(resolver, record.name, addresses=published.addresses)
        passed = result.verdict == spf.SpfVerdict.PASS
    elif terms := spf_terms(published):
        result = await _relays_in(resolver, record.name, terms)
        passed = result.verdict == spf.SpfVerdict.PASS
    else:
        # Without known addresses all that can be asked is whether there is a record in working order.
        result = await spf.check_host(resolver, spf.NO_HOST, record.name)
        passed = result.verdict not in (spf.SpfVerdict.NONE, spf.SpfVerdict.TEMPERROR, spf.SpfVerdict.PERMERROR)
    found = [result.record] if result.record else []
    if passed:
        return _dns_error(record, "VERIFIED", found)
    if result.verdict == spf.SpfVerdict.TEMPERROR:
        return _dns_error(record, "UNKNOWN", found, result.reason)
    return _dns_error(record, "PENDING" if result.verdict == spf.SpfVerdict.NONE else "WRONG", found, result.reason)


async def _relays_in(resolver: Resolver, domain: str, terms: Sequence[str]) -> spf.SpfResult:
    """Whether the SPF record of a domain lets every relay send; the result is that of the first that it does not."""
    result = spf.SpfResult(verdict=spf.SpfVerdict.NONE, reason="No relay is known.")
    for term in terms:
        kind, _, value = term.partition(":")
        if kind == "include":
            result = await spf.authorises(resolver, domain, include=value)
        else:
            addresses = await resolver.addresses(value) if kind == "a" else [value]
            result = await spf.authorises(resolver, domain, addresses=addresses)
        if result.verdict is not spf.SpfVerdict.PASS:
            break
    return result


async def _check_dmarc(resolver: Resolver, domain: str, record: DnsRecord) -> RecordCheck:
    policy = await dmarc.discover(resolver, domain)
    if policy:
        return _dns_error(record, "VERIFIED", [policy.record.text])
    return _dns_error(record, "PENDING", reason=f"No DMARC policy governs {domain}.")


async def _check_alias(resolver: Resolver, record: DnsRecord) -> RecordCheck:
    target = await resolver.cname(record.name)
    if target == record.value.rstrip(".").lower():
        return _dns_error(record, "VERIFIED", [target])
    return _dns_error(record, "WRONG", [target], "The name is an alias of something else.")


def _dns_error(
    record: DnsRecord, status: RecordStatus, found: Sequence[str] = (), reason: str | None = None
) -> RecordCheck:
    return RecordCheck(
        purpose=record.purpose,
        value=record.value,
        status=status,
        found=[_storable(text) for text in found[:FOUND_AT_MOST]],
        reason=_storable(reason) if reason else None,
    )


def _storable(text: str) -> str:
    """What the database can keep and people can read, of a text that a stranger published."""
    return re.sub(r"[\x00-\x1f\x7f\ud800-\udfff]", "�", text)[:FOUND_LENGTH]
