"""DMARC (RFC 9989): the policy of a domain, found by the DNS tree walk, and alignment with it."""

import re
from collections.abc import Mapping
from enum import StrEnum
from typing import NamedTuple, TypeVar

from postern.kernel.values import Record
from postern.protocols.mail.dns import NoSuchRecord, Resolver

C = TypeVar("C", bound=StrEnum)
MOST_QUERIES = 8
"""How many names a tree walk asks at most (RFC 9989 §4.10)."""
LABELS_AFTER_THE_FIRST = MOST_QUERIES - 1


class Policy(StrEnum):
    """What the owner of a domain asks receivers to do with mail that fails."""

    NONE = "none"
    QUARANTINE = "quarantine"
    REJECT = "reject"


class Alignment(StrEnum):
    """How alike the From domain and an authenticated domain must be."""

    RELAXED = "r"
    STRICT = "s"


class PublicSuffix(StrEnum):
    """What a domain says of itself with `psd`: a public suffix, an organization, or nothing."""

    YES = "y"
    NO = "n"
    UNKNOWN = "u"


class DmarcRecord(Record):
    """One policy record; tags that are absent or unreadable have their defaults (RFC 9989 §4.7)."""

    p: Policy = Policy.NONE
    sp: Policy | None = None
    np: Policy | None = None
    adkim: Alignment = Alignment.RELAXED
    aspf: Alignment = Alignment.RELAXED
    psd: PublicSuffix = PublicSuffix.UNKNOWN
    t: bool = False
    """A test: receivers apply the policy one step milder."""
    rua: tuple[str, ...] = ()
    ruf: tuple[str, ...] = ()
    text: str = ""


class TreeWalkRecord(NamedTuple):
    """One name of a tree walk at which there is a record."""

    domain: str
    record: DmarcRecord


class DmarcDiscovery(Record):
    """The policy that governs a domain, and where it was found."""

    domain: str
    """The name whose record it is."""
    organizational_domain: str
    record: DmarcRecord
    policy: Policy
    """What applies to the domain that was asked about, were its names to exist."""


def parse(text: str) -> DmarcRecord | None:
    """The record that a TXT text holds; None if it is not one.

    Only the version is strict. Unknown tags are ignored, unreadable ones have their default, and a record
    without a usable `p` asks for nothing (RFC 9989 §4.7).
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
        p=_choice(Policy, tags, "p") or Policy.NONE,
        sp=_choice(Policy, tags, "sp"),
        np=_choice(Policy, tags, "np"),
        adkim=_choice(Alignment, tags, "adkim") or Alignment.RELAXED,
        aspf=_choice(Alignment, tags, "aspf") or Alignment.RELAXED,
        psd=_choice(PublicSuffix, tags, "psd") or PublicSuffix.UNKNOWN,
        t=tags.get("t", "").lower() == "y",
        rua=_addresses(tags.get("rua", "")),
        ruf=_addresses(tags.get("ruf", "")),
        text=text,
    )


async def walk(resolver: Resolver, domain: str) -> list[TreeWalkRecord]:
    """The records at a domain and above it, nearest first, from at most eight queries (RFC 9989 §4.10).

    Raises DnsUnavailable as soon as one name gives no usable answer: what is not known is not absent.
    """
    steps: list[TreeWalkRecord] = []
    for name in names_walked(domain):
        record = await lookup(resolver, name)
        if record:
            steps.append(TreeWalkRecord(name, record))
            if record.psd is not PublicSuffix.UNKNOWN:
                break
    return steps


def names_walked(domain: str) -> list[str]:
    """The names a tree walk asks: the domain, then its parents of at most seven labels."""
    labels = domain.rstrip(".").lower().split(".")
    first = max(1, len(labels) - LABELS_AFTER_THE_FIRST)
    return [".".join(labels), *(".".join(labels[at:]) for at in range(first, len(labels)))]


async def lookup(resolver: Resolver, domain: str) -> DmarcRecord | None:
    """The record of exactly this domain; several at one name count as none (RFC 9989 §4.10)."""
    try:
        texts = await resolver.txt(f"_dmarc.{domain}")
    except NoSuchRecord:
        return None
    records = [record for record in map(parse, texts) if record]
    return records[0] if len(records) == 1 else None


def organizational_domain(domain: str, steps: list[TreeWalkRecord]) -> str:
    """The organizational domain that the records of a walk from `domain` tell (RFC 9989 §4.10.2)."""
    start = domain.rstrip(".").lower()
    for name, record in steps:
        if record.psd is PublicSuffix.NO:
            return name
        if record.psd is PublicSuffix.YES and name != start:
            return ".".join(start.split(".")[-name.count(".") - 2 :])
    return min(steps, key=lambda step: step.domain.count(".")).domain if steps else start


async def find_organizational_domain(resolver: Resolver, domain: str) -> str:
    """The organizational domain of `domain`, by a tree walk. Raises DnsUnavailable."""
    return organizational_domain(domain, await walk(resolver, domain))


async def discover(resolver: Resolver, domain: str) -> DmarcDiscovery | None:
    """The policy that governs mail from `domain`; None if nobody published one (RFC 9989 §4.10.1).

    Its own record first, then that of its organizational domain, then that of the public suffix above.
    Raises DnsUnavailable.
    """
    start = domain.rstrip(".").lower()
    steps = await walk(resolver, start)
    records = dict(steps)
    organization = organizational_domain(start, steps)
    suffix = next((name for name, record in steps if record.psd is PublicSuffix.YES), None)
    for name in (start, organization, suffix):
        if name is not None and name in records:
            return DmarcDiscovery(
                domain=name,
                organizational_domain=organization,
                record=records[name],
                policy=_applied(records[name], own=name == start),
            )
    return None


async def aligned(resolver: Resolver, from_domain: str, authenticated: str, mode: Alignment) -> bool:
    """Whether an authenticated domain speaks for the From domain (RFC 9989 §4.10.2). Raises DnsUnavailable.

    Strictly, the two are the same; relaxed, their organizational domains are.
    """
    one, other = from_domain.rstrip(".").lower(), authenticated.rstrip(".").lower()
    if one == other or mode is Alignment.STRICT:
        return one == other
    if one.rpartition(".")[2] != other.rpartition(".")[2]:
        return False
    return await find_organizational_domain(resolver, one) == await find_organizational_domain(resolver, other)


def _applied(record: DmarcRecord, *, own: bool) -> Policy:
    policy = record.p if own else (record.sp or record.p)
    return MILDER[policy] if record.t else policy


MILDER: Mapping[Policy, Policy] = {
    Policy.NONE: Policy.NONE,
    Policy.QUARANTINE: Policy.NONE,
    Policy.REJECT: Policy.QUARANTINE,
}
"""What a policy becomes while `t=y` says that it is only being tested (RFC 9989 §4.7)."""


def _addresses(text: str) -> tuple[str, ...]:
    """The mail addresses among the report destinations; an old `!10m` size limit is dropped."""
    found = [part.strip().partition("!")[0] for part in text.split(",")]
    return tuple(uri[len("mailto:") :] for uri in found if uri.lower().startswith("mailto:"))


def _choice(kind: type[C], tags: Mapping[str, str], name: str) -> C | None:
    try:
        return kind(tags[name].lower())
    except (KeyError, ValueError):
        return None
