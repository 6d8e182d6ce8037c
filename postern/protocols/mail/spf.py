"""Sender Policy Framework (RFC 7208): may this host send for that domain?

`check_host` is the function of RFC 7208 §4. `authorises` asks the question of a sending domain's owner:
does the record they published cover the hosts that will send for them?
"""

import ipaddress
import re
from collections.abc import Awaitable, Iterator, Sequence
from enum import StrEnum
from typing import NamedTuple, TypeVar
from urllib.parse import quote

from postern.kernel.values import Record
from postern.protocols.mail.dns import DnsUnavailable, NoSuchRecord, Resolver

MOST_LOOKUPS = 10
"""Terms that ask the DNS, over all included records (RFC 7208 §4.6.4)."""
MOST_VOID_LOOKUPS = 2
"""Lookups that find nothing (RFC 7208 §4.6.4)."""
MOST_EXCHANGERS = 10
MOST_NAMES_OF_AN_ADDRESS = 10
LONGEST_NAME = 253
NO_HOST = "0.0.0.0"  # noqa: S104 - an address that nobody has, not one to listen on

T = TypeVar("T")
Address = ipaddress.IPv4Address | ipaddress.IPv6Address


class SpfVerdict(StrEnum):
    """The results of RFC 7208 §2.6."""

    NONE = "none"
    NEUTRAL = "neutral"
    PASS = "pass"  # noqa: S105 - a verdict
    FAIL = "fail"
    SOFTFAIL = "softfail"
    TEMPERROR = "temperror"
    PERMERROR = "permerror"


class SpfResult(Record):
    """What SPF says about a host, and why."""

    verdict: SpfVerdict
    reason: str
    record: str | None = None
    """The record of the domain that was asked about, if it has exactly one."""
    lookups: int = 0
    """How many of the ten lookups were used up."""


class SpfRecordBroken(Exception):
    """The record cannot be evaluated (permerror)."""


class SpfTerm(NamedTuple):
    """One mechanism with its qualifier and arguments."""

    text: str
    qualifier: SpfVerdict
    name: str
    target: str | None = None
    network: ipaddress.IPv4Network | ipaddress.IPv6Network | None = None
    prefix4: int = 32
    prefix6: int = 128


class SpfRecord(NamedTuple):
    """A record that follows the grammar."""

    terms: tuple[SpfTerm, ...]
    redirect: str | None


async def check_host(
    resolver: Resolver, address: str, domain: str, *, sender: str | None = None, helo: str = "unknown"
) -> SpfResult:
    """Evaluate the SPF record of `domain` for a host that sends from `address` (RFC 7208 §4).

    `sender` is the MAIL FROM address (`postmaster@domain` when None). DNS trouble is TEMPERROR, a broken
    record PERMERROR; nothing is raised.
    """
    return await _Evaluation(resolver, address, sender or f"postmaster@{domain}", helo).result(domain)


async def authorises(
    resolver: Resolver, domain: str, *, addresses: Sequence[str] = (), include: str | None = None
) -> SpfResult:
    """Whether the SPF record of `domain` passes every one of `addresses`, or refers to `include`.

    The result is PASS only then; otherwise it is that of the first address that does not pass.
    """
    result = SpfResult(verdict=SpfVerdict.NONE, reason="No sending host to look for is known.")
    for address in addresses:
        result = await check_host(resolver, address, domain)
        if result.verdict is not SpfVerdict.PASS:
            break
    if include and result.verdict is not SpfVerdict.PASS:
        evaluation = _Evaluation(resolver, NO_HOST, f"postmaster@{domain}", "unknown", vouching=include)
        return await evaluation.result(domain)
    return result


def is_spf(text: str) -> bool:
    """Whether a TXT record is an SPF record (RFC 7208 §4.5)."""
    return re.match(r"v=spf1(?: |$)", text, re.IGNORECASE) is not None


class _Evaluation:
    """One evaluation with its counters, shared by all included records."""

    def __init__(self, resolver: Resolver, address: str, sender: str, helo: str, vouching: str | None = None) -> None:
        self.resolver = resolver
        self.address = _unmapped(address)
        local, _, domain = sender.rpartition("@")
        self.local, self.sender_domain, self.helo = local or "postmaster", domain, helo
        self.vouching = vouching.rstrip(".").lower() if vouching else None
        self.lookups = self.voids = 0
        self.record: str | None = None
        self.reason = ""

    async def result(self, domain: str) -> SpfResult:
        try:
            verdict = await self.check(domain.rstrip("."))
        except DnsUnavailable as trouble:
            verdict, self.reason = SpfVerdict.TEMPERROR, str(trouble)
        except SpfRecordBroken as broken:
            verdict, self.reason = SpfVerdict.PERMERROR, str(broken)
        return SpfResult(verdict=verdict, reason=self.reason, record=self.record, lookups=self.lookups)

    async def check(self, domain: str, *, outermost: bool = True) -> SpfVerdict:
        text = await self.fetch(domain)
        if text is None:
            return SpfVerdict.NONE
        if outermost:
            self.record = text
        record = parse(text)
        for term in record.terms:
            if await self.matches(term, domain):
                self.reason = f"{term.text} in the record of {domain} decides."
                return term.qualifier
        if record.redirect is None:
            self.reason = f"Nothing in the record of {domain} matches."
            return SpfVerdict.NEUTRAL
        return await self.redirected(record.redirect, domain)

    async def redirected(self, target: str, domain: str) -> SpfVerdict:
        self.count_lookup()
        name = await self.expand(target, domain)
        if name.lower() == self.vouching:
            return await self.validated(name, "redirect", domain)
        verdict = await self.check(name, outermost=False)
        if verdict is SpfVerdict.NONE:  # RFC 7208 §6.1
            raise SpfRecordBroken(f"{domain} redirects to {name}, which has no SPF record.")
        return verdict

    async def validated(self, name: str, how: str, domain: str) -> SpfVerdict:
        """The record refers to the one looked for; it only has to be in order itself."""
        if await self.check(name, outermost=False) is SpfVerdict.NONE:
            raise SpfRecordBroken(f"{name} has no SPF record.")
        self.reason = f"{how}:{name} in the record of {domain} decides."
        return SpfVerdict.PASS

    async def fetch(self, domain: str) -> str | None:
        """The one SPF record of a domain (RFC 7208 §4.3 to §4.5)."""
        self.reason = f"{domain} has no SPF record."
        if "." not in domain or any(not 0 < len(label) < 64 for label in domain.split(".")):
            return None
        try:
            found = [text for text in await self.resolver.txt(domain) if is_spf(text)]
        except NoSuchRecord:
            return None
        if len(found) > 1:
            raise SpfRecordBroken(f"{domain} has {len(found)} SPF records; only one is allowed.")
        return found[0] if found else None

    async def matches(self, term: SpfTerm, domain: str) -> bool:
        if term.name in ("all", "ip4", "ip6"):
            return term.network is None or self.address in term.network
        self.count_lookup()
        name = await self.expand(term.target, domain) if term.target else domain
        match term.name:
            case "include":
                return await self.included(name, domain)
            case "a":
                return self.near(await self.addresses(name), term)
            case "mx":
                return await self.exchanges(name, term)
            case "exists":
                return bool(await self.found(self.resolver.a(name)))
            case _:
                return bool(await self.names(name))

    async def included(self, name: str, domain: str) -> bool:
        if name.lower() == self.vouching:
            return await self.validated(name, "include", domain) is SpfVerdict.PASS
        verdict = await self.check(name, outermost=False)
        if verdict is SpfVerdict.NONE:  # RFC 7208 §5.2
            raise SpfRecordBroken(f"{domain} includes {name}, which has no SPF record.")
        return verdict is SpfVerdict.PASS

    async def exchanges(self, name: str, term: SpfTerm) -> bool:
        exchangers = await self.found(self.resolver.mx(name))
        if len(exchangers) > MOST_EXCHANGERS:
            raise SpfRecordBroken(f"{name} has more than {MOST_EXCHANGERS} mail exchangers.")
        for _, host in exchangers:
            if host and self.near(await self.addresses(host), term):
                return True
        return False

    async def names(self, target: str) -> list[str]:
        """The names at or under `target` that the address has and that lead back to it (RFC 7208 §5.5)."""
        try:
            claimed = await self.found(self.resolver.ptr(str(self.address)))
        except DnsUnavailable:
            return []
        wanted = target.rstrip(".").lower()
        confirmed: list[str] = []
        for name in claimed[:MOST_NAMES_OF_AN_ADDRESS]:
            try:
                back = await self.resolver.a(name) if self.address.version == 4 else await self.resolver.aaaa(name)
            except (NoSuchRecord, DnsUnavailable):
                continue
            if str(self.address) in back and (not wanted or name == wanted or name.endswith("." + wanted)):
                confirmed.append(name)
        return confirmed

    async def addresses(self, name: str) -> list[str]:
        lookup = self.resolver.a if self.address.version == 4 else self.resolver.aaaa
        return await self.found(lookup(name))

    async def found(self, lookup: Awaitable[list[T]]) -> list[T]:
        """What a lookup returns; finding nothing is counted (RFC 7208 §4.6.4)."""
        try:
            return await lookup
        except NoSuchRecord:
            self.voids += 1
            if self.voids > MOST_VOID_LOOKUPS:
                raise SpfRecordBroken(f"More than {MOST_VOID_LOOKUPS} lookups of the record find nothing.") from None
            return []

    def near(self, addresses: list[str], term: SpfTerm) -> bool:
        prefix = term.prefix4 if self.address.version == 4 else term.prefix6
        return any(self.address in ipaddress.ip_network((address, prefix), strict=False) for address in addresses)

    def count_lookup(self) -> None:
        self.lookups += 1
        if self.lookups > MOST_LOOKUPS:
            raise SpfRecordBroken(f"The record needs more than {MOST_LOOKUPS} lookups.")

    async def expand(self, spec: str, domain: str) -> str:
        """The name that a domain-spec spells for this sender (RFC 7208 §7)."""
        parts: list[str] = []
        for piece in _pieces(spec):
            macro = MACRO.fullmatch(piece)
            parts.append(await self.macro(macro, domain) if macro else ESCAPES.get(piece, piece))
        name = "".join(parts).rstrip(".")
        while len(name) > LONGEST_NAME and "." in name:
            name = name.partition(".")[2]
        return name

    async def macro(self, found: "re.Match[str]", domain: str) -> str:
        letter, digits, backwards, delimiters = found.groups()
        parts = re.split(f"[{re.escape(delimiters or '.')}]", await self.value(letter.lower(), domain))
        if backwards:
            parts.reverse()
        if digits:
            parts = parts[-int(digits) :]
        text = ".".join(parts)
        return quote(text, safe="-._~") if letter.isupper() else text

    async def value(self, letter: str, domain: str) -> str:
        match letter:
            case "s":
                return f"{self.local}@{self.sender_domain}"
            case "l":
                return self.local
            case "o":
                return self.sender_domain
            case "d":
                return domain
            case "i":
                exploded = self.address.exploded.replace(":", "")
                return exploded if self.address.version == 4 else ".".join(exploded)
            case "v":
                return "in-addr" if self.address.version == 4 else "ip6"
            case "h":
                return self.helo
            case _:
                names = await self.names("")
                return next((name for name in names if name == domain), (names or ["unknown"])[0])


MACRO = re.compile(r"%\{([slodiphv])(\d*)(r?)([.\-+,/_=]*)\}", re.IGNORECASE)
ESCAPES = {"%%": "%", "%_": " ", "%-": "%20"}
PIECE = re.compile(r"%\{[^}]*\}|%[%_-]|[\x21-\x24\x26-\x7e]")
TOP_LABEL = re.compile(r"\.(?=[a-z0-9-]*[a-z-])[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.?", re.IGNORECASE)
MODIFIER = re.compile(r"([a-z][a-z0-9_.-]*)=(.*)", re.IGNORECASE | re.DOTALL)
MECHANISM = re.compile(r"([+?~-]?)([a-z0-9]+)(.*)", re.IGNORECASE | re.DOTALL)
QUALIFIERS = {
    "": SpfVerdict.PASS,
    "+": SpfVerdict.PASS,
    "-": SpfVerdict.FAIL,
    "~": SpfVerdict.SOFTFAIL,
    "?": SpfVerdict.NEUTRAL,
}
ARGUMENTS = {
    "all": r"",
    "include": r":(?P<target>.+)",
    "exists": r":(?P<target>.+)",
    "ptr": r"(?::(?P<target>.+))?",
    "a": r"(?::(?P<target>.+?))?(?:/(?P<four>\d+))?(?://(?P<six>\d+))?",
    "mx": r"(?::(?P<target>.+?))?(?:/(?P<four>\d+))?(?://(?P<six>\d+))?",
    "ip4": r":(?P<address>[0-9.]+)(?:/(?P<four>\d+))?",
    "ip6": r":(?P<address>[0-9a-f:.]+)(?:/(?P<six>\d+))?",
}


def parse(text: str) -> SpfRecord:
    """The terms of a record. Raises SpfRecordBroken, wherever in the record the fault is (§4.6)."""
    if not is_spf(text):
        raise SpfRecordBroken("It does not begin with v=spf1.")
    terms: list[SpfTerm] = []
    modifiers: dict[str, str] = {}
    for word in text[len("v=spf1") :].split(" "):
        modifier = MODIFIER.fullmatch(word)
        if modifier:
            name, value = modifier[1].lower(), modifier[2]
            if name in ("redirect", "exp"):
                if name in modifiers:
                    raise SpfRecordBroken(f"{name} occurs twice.")
                _check_target(value, word)
            elif "".join(_pieces(value)) != value:
                raise SpfRecordBroken(f"{word!r} is not well formed.")
            modifiers[name] = value
        elif word:
            terms.append(_term(word))
    return SpfRecord(tuple(terms), modifiers.get("redirect"))


def _term(word: str) -> SpfTerm:
    outer = MECHANISM.fullmatch(word)
    name = outer[2].lower() if outer else ""
    inner = re.fullmatch(ARGUMENTS[name], outer[3], re.IGNORECASE) if outer and name in ARGUMENTS else None
    if outer is None or inner is None:
        raise SpfRecordBroken(f"{word!r} is not a mechanism.")
    said = inner.groupdict()
    if said.get("target"):
        _check_target(said["target"], word)
    four, six = _prefix(said.get("four"), 32, word), _prefix(said.get("six"), 128, word)
    network = None
    if name in ("ip4", "ip6"):
        network = _network(said["address"], four if name == "ip4" else six, name, word)
    return SpfTerm(word, QUALIFIERS[outer[1]], name, said.get("target"), network, four, six)


def _prefix(digits: str | None, most: int, word: str) -> int:
    if digits is None:
        return most
    if (len(digits) > 1 and digits[0] == "0") or len(digits) > 3 or int(digits) > most:
        raise SpfRecordBroken(f"The prefix length in {word!r} is not from 0 to {most}.")
    return int(digits)


def _network(address: str, prefix: int, name: str, word: str) -> ipaddress.IPv4Network | ipaddress.IPv6Network:
    try:
        if name == "ip4":
            return ipaddress.IPv4Network((address, prefix), strict=False)
        return ipaddress.IPv6Network((address, prefix), strict=False)
    except ValueError:
        raise SpfRecordBroken(f"{word!r} holds no address.") from None


def _check_target(spec: str, word: str) -> None:
    """A domain-spec ends in a top label or a macro (RFC 7208 §7.1)."""
    pieces = list(_pieces(spec))
    if not pieces or (not pieces[-1].startswith("%{") and not _ends_in_top_label(pieces)):
        raise SpfRecordBroken(f"{word!r} does not end in a domain name.")


def _ends_in_top_label(pieces: list[str]) -> bool:
    letters = "".join(piece if len(piece) == 1 else " " for piece in pieces)
    label = re.search(r"\.[^.]+\.?$", letters)
    return label is not None and TOP_LABEL.fullmatch(label[0]) is not None


def _pieces(spec: str) -> Iterator[str]:
    """The letters, escapes and macros of a macro-string, one by one."""
    at = 0
    while at < len(spec):
        piece = PIECE.match(spec, at)
        macro = MACRO.fullmatch(piece[0]) if piece else None
        if piece is None or (piece[0].startswith("%{") and (macro is None or _takes_nothing(macro))):
            raise SpfRecordBroken(f"{spec!r} is not well formed at {spec[at:]!r}.")
        yield piece[0]
        at = piece.end()


def _takes_nothing(macro: "re.Match[str]") -> bool:
    return bool(macro[2]) and (len(macro[2]) > 3 or int(macro[2]) == 0)


def _unmapped(address: str) -> Address:
    """The address, IPv4 where it is only dressed as IPv6 (RFC 7208 §5)."""
    parsed = ipaddress.ip_address(address)
    return (parsed.ipv4_mapped or parsed) if isinstance(parsed, ipaddress.IPv6Address) else parsed
