"""Checks whether the DNS records of a sending domain are published correctly. Stores nothing."""

import asyncio
import re
from collections.abc import Awaitable, Mapping, Sequence
from datetime import timedelta
from typing import NamedTuple

from postern.messaging.domains.model import DnsRecord, PublicKey, Purpose, RecordCheck, RecordStatus
from postern.messaging.domains.rules import (
    BOUNCE_LABEL,
    PURPOSES,
    RecordSettings,
    records_of,
    spf_terms,
    with_check,
)
from postern.protocols.mail import dkim, dmarc, spf
from postern.protocols.mail.dns import DnsUnavailable, NoSuchRecord, Resolver
from postern.protocols.mail.domain_findings import (
    domain_finding,
    inspect_bimi,
    inspect_dkim,
    inspect_dmarc,
    inspect_spf,
    inspect_transport_security,
    is_key_record,
)
from postern.protocols.mail.findings import Finding

MAX_FOUND_VALUES = 10
"""Maximum number of published values that are stored with a result; further ones are omitted."""
MAX_FOUND_CHARACTERS = 1_000
"""Maximum number of characters of each stored value; longer values are truncated."""
INSPECTION_TIMEOUT = timedelta(seconds=30)
"""How long one search for mistakes in a record may take: a hostile record can refer to many slow servers."""


class DnsCheckResult(NamedTuple):
    """The result of a DNS check: one RecordCheck for each record, and the mistakes in the records."""

    checks: list[RecordCheck]
    findings: list[Finding]

    def verdict(self, purpose: Purpose) -> bool | None:
        """Whether the record with this purpose is published correctly; None if its lookup failed, False if the record
        was not checked."""
        status = next((check.status for check in self.checks if check.purpose == purpose), "PENDING")
        return None if status == "UNKNOWN" else status == "VERIFIED"


async def check_records(
    resolver: Resolver, domain: str, keys: Sequence[PublicKey], settings: RecordSettings
) -> DnsCheckResult:
    """Look up all records of a domain concurrently, and compare them with the expected ones.

    A failed lookup gives the status UNKNOWN; nothing is raised.
    """
    keys_by_purpose = {PURPOSES[key.role]: key for key in keys}
    expected = records_of(domain, keys, [], settings)
    if settings.zone:
        # The return path is a CNAME into the service's zone; the SPF record that it leads to is checked separately.
        bounce = f"{BOUNCE_LABEL}.{domain}"
        expected.append(DnsRecord(type="TXT", name=bounce, value=bounce, purpose="SPF", required=False))
    checks = (_check(resolver, domain, record, keys_by_purpose.get(record.purpose), settings) for record in expected)
    results = list(await asyncio.gather(*checks))
    return DnsCheckResult(results, await _inspect(resolver, domain, expected, results, keys_by_purpose, settings))


async def check_cname(resolver: Resolver, record: DnsRecord) -> DnsRecord:
    """A CNAME record with the result of its lookup: UNKNOWN if that failed; nothing is raised."""
    return with_check(record, await _check(resolver, record.name, record, None, RecordSettings()))


async def _inspect(
    resolver: Resolver,
    domain: str,
    expected: Sequence[DnsRecord],
    checks: Sequence[RecordCheck],
    keys: Mapping[str, PublicKey],
    settings: RecordSettings,
) -> list[Finding]:
    """The mistakes in the published records. A failed lookup is a finding; nothing is raised."""
    searches: list[tuple[str, Awaitable[list[Finding]]]] = []
    for record, check in zip(expected, checks, strict=True):
        if record.purpose == "SPF":
            searches.append((record.name, _inspect_spf(resolver, record.name, check, settings)))
        elif record.purpose in ("DKIM", "DKIM_ED25519"):
            searches.append((record.name, _inspect_dkim(resolver, record, keys[record.purpose])))
    searches.append((f"_dmarc.{domain}", _inspect_policies(resolver, domain)))
    searches.append((domain, inspect_transport_security(resolver, domain)))
    results = await asyncio.gather(*(_findings_or_failure(name, search) for name, search in searches))
    return [finding for findings in results for finding in findings]


async def _findings_or_failure(name: str, search: Awaitable[list[Finding]]) -> list[Finding]:
    try:
        async with asyncio.timeout(INSPECTION_TIMEOUT.total_seconds()):
            return await search
    except DnsUnavailable as error:
        return [domain_finding("dns_unavailable", name, reason=error)]
    except TimeoutError:
        return [domain_finding("dns_unavailable", name, reason="The lookups took too long.")]


async def _inspect_spf(resolver: Resolver, name: str, check: RecordCheck, settings: RecordSettings) -> list[Finding]:
    findings = await inspect_spf(resolver, name)
    is_valid = not any(finding.severity == "ERROR" or finding.code == "spf_missing" for finding in findings)
    if is_valid and check.status == "WRONG":
        terms = " ".join(spf_terms(settings))
        findings.append(domain_finding("spf_server_missing", name, check.found, reason=check.reason or "", terms=terms))
    return findings


async def _inspect_dkim(resolver: Resolver, record: DnsRecord, key: PublicKey) -> list[Finding]:
    findings = await inspect_dkim(resolver, record.name, algorithm=key.algorithm, public_key=key.public_key)
    return findings if record.required else [finding for finding in findings if finding.code != "dkim_missing"]


async def _inspect_policies(resolver: Resolver, domain: str) -> list[Finding]:
    findings, policy = await inspect_dmarc(resolver, domain)
    return [*findings, *await inspect_bimi(resolver, domain, policy)]


async def _check(
    resolver: Resolver, domain: str, record: DnsRecord, key: PublicKey | None, settings: RecordSettings
) -> RecordCheck:
    try:
        if key:
            return await _check_dkim(resolver, record, key)
        match record.purpose:
            case "SPF":
                return await _check_spf(resolver, record, settings)
            case "DMARC":
                return await _check_dmarc(resolver, domain, record)
            case _:
                return await _check_cname(resolver, record)
    except NoSuchRecord as error:
        return _result(record, "PENDING", reason=str(error))
    except DnsUnavailable as error:
        return _result(record, "UNKNOWN", reason=str(error))


async def _check_dkim(resolver: Resolver, record: DnsRecord, key: PublicKey) -> RecordCheck:
    """Check a key record by a TXT lookup, as receivers do; the lookup follows CNAME records."""
    texts = await resolver.txt(record.name)
    key_records = [text for text in texts if is_key_record(text)]
    if not key_records:
        return _result(record, "WRONG", texts, "No TXT record at this name is a DKIM key: the tag `p=` is missing.")
    if len(key_records) > 1:  # RFC 6376 §3.6.2.2: with several records, the result is undefined.
        return _result(
            record, "WRONG", texts, "There are several DKIM keys at this name; remove all but the one shown here."
        )
    error = dkim.key_record_error(key_records[0], algorithm=key.algorithm, public_key=key.public_key)
    return _result(record, "WRONG" if error else "VERIFIED", texts, error.message if error else None)


async def _check_spf(resolver: Resolver, record: DnsRecord, settings: RecordSettings) -> RecordCheck:
    if settings.addresses:
        result = await spf.authorises(resolver, record.name, addresses=settings.addresses)
        passed = result.verdict == spf.SpfVerdict.PASS
    elif terms := spf_terms(settings):
        result = await _check_relays(resolver, record.name, terms)
        passed = result.verdict == spf.SpfVerdict.PASS
    else:
        # The sending addresses are not known, so only the existence and syntax of the SPF record can be checked.
        result = await spf.check_host(resolver, spf.NO_HOST, record.name)
        passed = result.verdict not in (spf.SpfVerdict.NONE, spf.SpfVerdict.TEMPERROR, spf.SpfVerdict.PERMERROR)
    published = [result.record] if result.record else []
    if passed:
        return _result(record, "VERIFIED", published)
    if result.verdict == spf.SpfVerdict.TEMPERROR:
        return _result(record, "UNKNOWN", published, result.reason)
    return _result(record, "PENDING" if result.verdict == spf.SpfVerdict.NONE else "WRONG", published, result.reason)


async def _check_relays(resolver: Resolver, domain: str, terms: Sequence[str]) -> spf.SpfResult:
    """Check that the SPF record authorises every relay, given as SPF terms.

    Returns the result of the first relay that does not pass, or of the last one if all pass.
    """
    result = spf.SpfResult(verdict=spf.SpfVerdict.NONE, reason="No relay is configured.")
    for term in terms:
        mechanism, _, value = term.partition(":")
        if mechanism == "include":
            result = await spf.authorises(resolver, domain, include=value)
        else:
            addresses = await resolver.addresses(value) if mechanism == "a" else [value]
            result = await spf.authorises(resolver, domain, addresses=addresses)
        if result.verdict is not spf.SpfVerdict.PASS:
            break
    return result


async def _check_dmarc(resolver: Resolver, domain: str, record: DnsRecord) -> RecordCheck:
    policy = await dmarc.discover(resolver, domain)
    if policy:
        return _result(record, "VERIFIED", [policy.record.text])
    return _result(record, "PENDING", reason=f"There is no DMARC record for {domain}.")


async def _check_cname(resolver: Resolver, record: DnsRecord) -> RecordCheck:
    target = await resolver.cname(record.name)
    if target == record.value.rstrip(".").lower():
        return _result(record, "VERIFIED", [target])
    return _result(record, "WRONG", [target], "The CNAME record has a different target.")


def _result(
    record: DnsRecord, status: RecordStatus, published: Sequence[str] = (), reason: str | None = None
) -> RecordCheck:
    return RecordCheck(
        purpose=record.purpose,
        value=record.value,
        status=status,
        found=[_sanitized(text) for text in published[:MAX_FOUND_VALUES]],
        reason=_sanitized(reason) if reason else None,
    )


def _sanitized(text: str) -> str:
    """A published text without control characters and surrogates, cut to MAX_FOUND_CHARACTERS."""
    return re.sub(r"[\x00-\x1f\x7f\ud800-\udfff]", "�", text)[:MAX_FOUND_CHARACTERS]
