"""DMARC (RFC 9989): policy discovery by the DNS tree walk, and identifier alignment."""

import re
from collections.abc import Mapping
from enum import StrEnum
from typing import NamedTuple, TypeVar

from postern.kernel.values import Record
from postern.protocols.mail.dns import NoSuchRecord, Resolver

C = TypeVar("C", bound=StrEnum)
MOST_QUERIES = 8
"""The maximum number of queries of a tree walk (RFC 9989 §4.10)."""
MOST_PARENT_LABELS = MOST_QUERIES - 1
"""Labels of the longest parent domain that is queried: one query is for the domain itself, one for each parent."""


class Policy(StrEnum):
    """The handling that a domain owner requests for mail that fails DMARC."""

    NONE = "none"
    QUARANTINE = "quarantine"
    REJECT = "reject"


class Alignment(StrEnum):
    """The alignment mode between the From domain and an authenticated domain."""

    RELAXED = "r"
    STRICT = "s"


class PublicSuffix(StrEnum):
    """The `psd` tag: the domain is a public suffix (y), is an organizational domain (n), or is no public suffix and may
    be an organizational domain (u, the default)."""

    YES = "y"
    NO = "n"
    UNKNOWN = "u"


class DmarcRecord(Record):
    """A DMARC policy record. Missing or invalid tags have their defaults (RFC 9989 §4.7)."""

    p: Policy = Policy.NONE
    sp: Policy | None = None
    np: Policy | None = None
    adkim: Alignment = Alignment.RELAXED
    aspf: Alignment = Alignment.RELAXED
    psd: PublicSuffix = PublicSuffix.UNKNOWN
    t: bool = False
    """Test mode: receivers apply the next weaker policy."""
    rua: tuple[str, ...] = ()
    ruf: tuple[str, ...] = ()
    text: str = ""


class TreeWalkRecord(NamedTuple):
    """A record found during a tree walk, and the domain that has it."""

    domain: str
    record: DmarcRecord


class DmarcDiscovery(Record):
    """The policy that applies to a domain, and the record it comes from."""

    domain: str
    """The domain that publishes the record."""
    organizational_domain: str
    record: DmarcRecord
    policy: Policy
    """The policy for the queried domain, assuming that the domain exists (`np` is not considered)."""


def parse(text: str) -> DmarcRecord | None:
    """Parse a TXT record; None if it is not a DMARC record.

    Only the version must be valid. Unknown tags are ignored, invalid tags get their default, and without a valid `p`
    the policy is `none` (RFC 9989 §4.7).
    """
    version, *rest = text.split(";")
    if not re.fullmatch(r"v[ \t]*=[ \t]*DMARC1[ \t]*", version):  # RFC 9989 §4.8: the version is case-sensitive
        return None
    tags: dict[str, str] = {}
    for part in rest:
        name, equals, value = part.partition("=")
        if equals:
            tags.setdefault(name.strip().lower(), value.strip())
    return DmarcRecord(
        p=_enum_tag(Policy, tags, "p") or Policy.NONE,
        sp=_enum_tag(Policy, tags, "sp"),
        np=_enum_tag(Policy, tags, "np"),
        adkim=_enum_tag(Alignment, tags, "adkim") or Alignment.RELAXED,
        aspf=_enum_tag(Alignment, tags, "aspf") or Alignment.RELAXED,
        psd=_enum_tag(PublicSuffix, tags, "psd") or PublicSuffix.UNKNOWN,
        t=tags.get("t", "").lower() == "y",
        rua=_addresses(tags.get("rua", "")),
        ruf=_addresses(tags.get("ruf", "")),
        text=text,
    )


async def walk(resolver: Resolver, domain: str) -> list[TreeWalkRecord]:
    """The records of the domain and its parents, nearest first, with at most eight queries (RFC 9989 §4.10).

    The walk ends at the first record whose `psd` tag is `y` or `n`.
    Raises DnsUnavailable on the first failed query: a failure does not mean that there is no record.
    """
    records: list[TreeWalkRecord] = []
    for name in names_walked(domain):
        record = await lookup(resolver, name)
        if record:
            records.append(TreeWalkRecord(name, record))
            if record.psd is not PublicSuffix.UNKNOWN:
                break
    return records


def names_walked(domain: str) -> list[str]:
    """The domains that a tree walk queries: `domain`, then its parents with at most seven labels, longest first."""
    labels = domain.rstrip(".").lower().split(".")
    first = max(1, len(labels) - MOST_PARENT_LABELS)
    return [".".join(labels), *(".".join(labels[at:]) for at in range(first, len(labels)))]


async def lookup(resolver: Resolver, domain: str) -> DmarcRecord | None:
    """The record of exactly this domain; several records count as none (RFC 9989 §4.10). Raises DnsUnavailable."""
    try:
        texts = await resolver.txt(f"_dmarc.{domain}")
    except NoSuchRecord:
        return None
    records = [record for record in map(parse, texts) if record]
    return records[0] if len(records) == 1 else None


def organizational_domain(domain: str, walked: list[TreeWalkRecord]) -> str:
    """The organizational domain of `domain`, from the records that `walk` returned for it (RFC 9989 §4.10.2).

    Without records it is `domain` itself.
    """
    queried = domain.rstrip(".").lower()
    for name, record in walked:
        if record.psd is PublicSuffix.NO:
            return name
        if record.psd is PublicSuffix.YES and name != queried:
            return ".".join(queried.split(".")[-name.count(".") - 2 :])
    return min(walked, key=lambda entry: entry.domain.count(".")).domain if walked else queried


async def discover(resolver: Resolver, domain: str) -> DmarcDiscovery | None:
    """The policy that applies to mail from `domain`; None if there is no record (RFC 9989 §4.10.1).

    The domain's own record comes first, then the organizational domain's, then the public suffix's.
    Raises DnsUnavailable.
    """
    queried = domain.rstrip(".").lower()
    walked = await walk(resolver, queried)
    records = dict(walked)
    organization = organizational_domain(queried, walked)
    suffix = next((name for name, record in walked if record.psd is PublicSuffix.YES), None)
    for name in (queried, organization, suffix):
        if name is not None and name in records:
            return DmarcDiscovery(
                domain=name,
                organizational_domain=organization,
                record=records[name],
                policy=_effective_policy(records[name], is_own_record=name == queried),
            )
    return None


def _effective_policy(record: DmarcRecord, *, is_own_record: bool) -> Policy:
    policy = record.p if is_own_record else (record.sp or record.p)
    return MILDER[policy] if record.t else policy


MILDER: Mapping[Policy, Policy] = {
    Policy.NONE: Policy.NONE,
    Policy.QUARANTINE: Policy.NONE,
    Policy.REJECT: Policy.QUARANTINE,
}
"""The effective policy for each policy of a record with `t=y`, which is in test mode (RFC 9989 §4.7)."""


def _addresses(text: str) -> tuple[str, ...]:
    """The mailto addresses of the report URIs, without the obsolete `!10m` size limit."""
    uris = [part.strip().partition("!")[0] for part in text.split(",")]
    return tuple(uri[len("mailto:") :] for uri in uris if uri.lower().startswith("mailto:"))


def _enum_tag(kind: type[C], tags: Mapping[str, str], name: str) -> C | None:
    """The value of the tag `name`; None if it is missing or invalid."""
    try:
        return kind(tags[name].lower())
    except (KeyError, ValueError):
        return None
