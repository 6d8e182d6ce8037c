"""Sender Policy Framework (RFC 7208): whether a host may send mail for a domain.

`check_host` is the function of RFC 7208 §4. `authorises` checks whether a domain's published record covers the hosts
that will send for it.
"""

import ipaddress
import re
from collections.abc import Awaitable, Iterator, Sequence
from enum import StrEnum
from typing import NamedTuple, TypeVar
from urllib.parse import quote

from postern.kernel.values import Record
from postern.protocols.mail.dns import DnsUnavailable, NoSuchRecord, Resolver

MAX_LOOKUPS = 10
"""Maximum number of terms that cause DNS queries, across all included records (RFC 7208 §4.6.4)."""
MAX_VOID_LOOKUPS = 2
"""Maximum number of lookups without a result (RFC 7208 §4.6.4)."""
MOST_EXCHANGERS = 10
"""Maximum mail exchangers of a name in an `mx` term (RFC 7208 §4.6.4)."""
MOST_NAMES_OF_AN_ADDRESS = 10
"""Maximum PTR names of an address that are used (RFC 7208 §4.6.4)."""
LONGEST_NAME = 253
"""Characters of an expanded domain name; labels on the left are removed from longer names (RFC 7208 §7.3)."""
NO_HOST = "0.0.0.0"  # noqa: S104 - an address that no host has; nothing listens on it

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
    """The SPF result for a host, and the reason."""

    verdict: SpfVerdict
    reason: str
    record: str | None = None
    """The SPF record of the checked domain, if it has exactly one."""
    lookups: int = 0
    """How many of the ten allowed lookups (MAX_LOOKUPS) the evaluation used."""


class SpfRecordBroken(Exception):
    """The record cannot be evaluated (permerror, RFC 7208 §2.6.7)."""


class SpfTerm(NamedTuple):
    """One mechanism with its qualifier and arguments. `text` is the mechanism as written in the record."""

    text: str
    qualifier: SpfVerdict
    name: str
    target: str | None = None
    network: ipaddress.IPv4Network | ipaddress.IPv6Network | None = None
    prefix4: int = 32
    prefix6: int = 128


class SpfRecord(NamedTuple):
    """A syntactically valid record."""

    terms: tuple[SpfTerm, ...]
    redirect: str | None
    """The domain-spec of the `redirect` modifier."""


async def check_host(
    resolver: Resolver, address: str, domain: str, *, sender: str | None = None, helo: str = "unknown"
) -> SpfResult:
    """Evaluate the SPF record of `domain` for a host that sends from `address` (RFC 7208 §4).

    `sender` is the MAIL FROM address (`postmaster@domain` if None). A DNS failure gives TEMPERROR, an invalid record
    PERMERROR; nothing is raised.
    """
    return await _Evaluation(resolver, address, sender or f"postmaster@{domain}", helo).result(domain)


async def authorises(
    resolver: Resolver, domain: str, *, addresses: Sequence[str] = (), include: str | None = None
) -> SpfResult:
    """Whether the SPF record of `domain` passes every one of `addresses`, or includes `include`.

    Returns PASS in that case. Otherwise returns the result for `include` if it is given, or the result for the first
    address that does not pass; NONE if there are neither addresses nor `include`. A DNS failure gives TEMPERROR, an
    invalid record PERMERROR; nothing is raised.
    """
    result = SpfResult(verdict=SpfVerdict.NONE, reason="No sending host is configured.")
    for address in addresses:
        result = await check_host(resolver, address, domain)
        if result.verdict is not SpfVerdict.PASS:
            break
    if include and result.verdict is not SpfVerdict.PASS:
        evaluation = _Evaluation(resolver, NO_HOST, f"postmaster@{domain}", "unknown", wanted_include=include)
        return await evaluation.result(domain)
    return result


def is_spf(text: str) -> bool:
    """Whether a TXT record is an SPF record (RFC 7208 §4.5)."""
    return re.match(r"v=spf1(?: |$)", text, re.IGNORECASE) is not None


class _Evaluation:
    """One evaluation with counters shared by all included records.

    With `wanted_include`, a term that refers to this domain gives PASS whatever the address is.
    """

    def __init__(
        self, resolver: Resolver, address: str, sender: str, helo: str, wanted_include: str | None = None
    ) -> None:
        self.resolver = resolver
        self.address = _parse_address(address)
        local, _, domain = sender.rpartition("@")
        self.local, self.sender_domain, self.helo = local or "postmaster", domain, helo
        self.wanted_include = wanted_include.rstrip(".").lower() if wanted_include else None
        self.lookups = self.void_lookups = 0
        self.record: str | None = None
        self.reason = ""

    async def result(self, domain: str) -> SpfResult:
        try:
            verdict = await self.check(domain.rstrip("."))
        except DnsUnavailable as error:
            verdict, self.reason = SpfVerdict.TEMPERROR, str(error)
        except SpfRecordBroken as error:
            verdict, self.reason = SpfVerdict.PERMERROR, str(error)
        return SpfResult(verdict=verdict, reason=self.reason, record=self.record, lookups=self.lookups)

    async def check(self, domain: str, *, outermost: bool = True) -> SpfVerdict:
        """Evaluate the record of `domain`; `outermost` is False for included records and redirects."""
        text = await self.fetch(domain)
        if text is None:
            return SpfVerdict.NONE
        if outermost:
            self.record = text
        record = parse(text)
        for term in record.terms:
            if await self.matches(term, domain):
                self.reason = f"{term.text} in the record of {domain} matched."
                return term.qualifier
        if record.redirect is None:
            self.reason = f"No mechanism in the record of {domain} matches."
            return SpfVerdict.NEUTRAL
        return await self.check_redirect(record.redirect, domain)

    async def check_redirect(self, target: str, domain: str) -> SpfVerdict:
        self.count_lookup()
        name = await self.expand(target, domain)
        if name.lower() == self.wanted_include:
            return await self.pass_if_valid(name, "redirect", domain)
        verdict = await self.check(name, outermost=False)
        if verdict is SpfVerdict.NONE:  # RFC 7208 §6.1
            raise SpfRecordBroken(f"{domain} redirects to {name}, which has no SPF record.")
        return verdict

    async def pass_if_valid(self, name: str, term_name: str, domain: str) -> SpfVerdict:
        """PASS, because the record refers to `wanted_include`. Raises SpfRecordBroken if `name` has no SPF record."""
        if await self.check(name, outermost=False) is SpfVerdict.NONE:
            raise SpfRecordBroken(f"{name} has no SPF record.")
        self.reason = f"{term_name}:{name} in the record of {domain} matched."
        return SpfVerdict.PASS

    async def fetch(self, domain: str) -> str | None:
        """The SPF record of a domain, or None (RFC 7208 §4.3 to §4.5). Raises SpfRecordBroken if there are several."""
        self.reason = f"{domain} has no SPF record."
        if "." not in domain or any(not 0 < len(label) < 64 for label in domain.split(".")):
            return None
        try:
            records = [text for text in await self.resolver.txt(domain) if is_spf(text)]
        except NoSuchRecord:
            return None
        if len(records) > 1:
            raise SpfRecordBroken(f"{domain} has {len(records)} SPF records; only one is allowed.")
        return records[0] if records else None

    async def matches(self, term: SpfTerm, domain: str) -> bool:
        if term.name in ("all", "ip4", "ip6"):
            return term.network is None or self.address in term.network
        self.count_lookup()
        name = await self.expand(term.target, domain) if term.target else domain
        match term.name:
            case "include":
                return await self.matches_include(name, domain)
            case "a":
                return self.in_network(await self.addresses(name), term)
            case "mx":
                return await self.matches_mx(name, term)
            case "exists":
                return bool(await self.records_or_void(self.resolver.a(name)))
            case _:
                return bool(await self.confirmed_names(name))

    async def matches_include(self, name: str, domain: str) -> bool:
        if name.lower() == self.wanted_include:
            return await self.pass_if_valid(name, "include", domain) is SpfVerdict.PASS
        verdict = await self.check(name, outermost=False)
        if verdict is SpfVerdict.NONE:  # RFC 7208 §5.2
            raise SpfRecordBroken(f"{domain} includes {name}, which has no SPF record.")
        return verdict is SpfVerdict.PASS

    async def matches_mx(self, name: str, term: SpfTerm) -> bool:
        exchangers = await self.records_or_void(self.resolver.mx(name))
        if len(exchangers) > MOST_EXCHANGERS:
            raise SpfRecordBroken(f"{name} has more than {MOST_EXCHANGERS} mail exchangers.")
        for _, host in exchangers:
            if host and self.in_network(await self.addresses(host), term):
                return True
        return False

    async def confirmed_names(self, target: str) -> list[str]:
        """The names at or under `target` from the address's PTR records that resolve back to it (RFC 7208 §5.5)."""
        try:
            ptr_names = await self.records_or_void(self.resolver.ptr(str(self.address)))
        except DnsUnavailable:
            return []
        suffix = target.rstrip(".").lower()
        confirmed: list[str] = []
        for name in ptr_names[:MOST_NAMES_OF_AN_ADDRESS]:
            try:
                forward_addresses = (
                    await self.resolver.a(name) if self.address.version == 4 else await self.resolver.aaaa(name)
                )
            except (NoSuchRecord, DnsUnavailable):
                continue
            if str(self.address) in forward_addresses and (not suffix or name == suffix or name.endswith("." + suffix)):
                confirmed.append(name)
        return confirmed

    async def addresses(self, name: str) -> list[str]:
        lookup = self.resolver.a if self.address.version == 4 else self.resolver.aaaa
        return await self.records_or_void(lookup(name))

    async def records_or_void(self, lookup: Awaitable[list[T]]) -> list[T]:
        """The records of a lookup. One without a result is counted as a void lookup and gives [] (RFC 7208 §4.6.4)."""
        try:
            return await lookup
        except NoSuchRecord:
            self.void_lookups += 1
            if self.void_lookups > MAX_VOID_LOOKUPS:
                raise SpfRecordBroken(f"More than {MAX_VOID_LOOKUPS} lookups of the record have no result.") from None
            return []

    def in_network(self, addresses: list[str], term: SpfTerm) -> bool:
        prefix = term.prefix4 if self.address.version == 4 else term.prefix6
        return any(self.address in ipaddress.ip_network((address, prefix), strict=False) for address in addresses)

    def count_lookup(self) -> None:
        self.lookups += 1
        if self.lookups > MAX_LOOKUPS:
            raise SpfRecordBroken(f"The record needs more than {MAX_LOOKUPS} lookups.")

    async def expand(self, spec: str, domain: str) -> str:
        """Expand the macros of a domain-spec (RFC 7208 §7)."""
        parts: list[str] = []
        for piece in _pieces(spec):
            macro = MACRO.fullmatch(piece)
            parts.append(await self.expand_macro(macro, domain) if macro else ESCAPES.get(piece, piece))
        name = "".join(parts).rstrip(".")
        while len(name) > LONGEST_NAME and "." in name:
            name = name.partition(".")[2]
        return name

    async def expand_macro(self, match: "re.Match[str]", domain: str) -> str:
        letter, digits, reverse, delimiters = match.groups()
        parts = re.split(f"[{re.escape(delimiters or '.')}]", await self.macro_value(letter.lower(), domain))
        if reverse:
            parts.reverse()
        if digits:
            parts = parts[-int(digits) :]
        text = ".".join(parts)
        return quote(text, safe="-._~") if letter.isupper() else text

    async def macro_value(self, letter: str, domain: str) -> str:
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
                # RFC 7208 §7.3: the domain itself, or a name below it, or any other name.
                names = await self.confirmed_names("")
                below = [name for name in names if name.endswith(f".{domain.lower()}")]
                return domain if domain.lower() in names else (below or names or ["unknown"])[0]


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
    "a": r"(?::(?P<target>.+?))?(?:/(?P<prefix4>\d+))?(?://(?P<prefix6>\d+))?",
    "mx": r"(?::(?P<target>.+?))?(?:/(?P<prefix4>\d+))?(?://(?P<prefix6>\d+))?",
    "ip4": r":(?P<address>[0-9.]+)(?:/(?P<prefix4>\d+))?",
    "ip6": r":(?P<address>[0-9a-f:.]+)(?:/(?P<prefix6>\d+))?",
}


def parse(text: str) -> SpfRecord:
    """Parse a record. Raises SpfRecordBroken for a syntax error in any term (RFC 7208 §4.6)."""
    if not is_spf(text):
        raise SpfRecordBroken("The record does not begin with v=spf1.")
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
                raise SpfRecordBroken(f"{word!r} is not a valid modifier.")
            modifiers[name] = value
        elif word:
            terms.append(_term(word))
    return SpfRecord(tuple(terms), modifiers.get("redirect"))


def _term(word: str) -> SpfTerm:
    mechanism = MECHANISM.fullmatch(word)
    name = mechanism[2].lower() if mechanism else ""
    argument_match = (
        re.fullmatch(ARGUMENTS[name], mechanism[3], re.IGNORECASE) if mechanism and name in ARGUMENTS else None
    )
    if mechanism is None or argument_match is None:
        raise SpfRecordBroken(f"{word!r} is not a mechanism.")
    arguments = argument_match.groupdict()
    if arguments.get("target"):
        _check_target(arguments["target"], word)
    prefix4 = _prefix_length(arguments.get("prefix4"), 32, word)
    prefix6 = _prefix_length(arguments.get("prefix6"), 128, word)
    network = None
    if name in ("ip4", "ip6"):
        network = _network(arguments["address"], prefix4 if name == "ip4" else prefix6, name, word)
    return SpfTerm(word, QUALIFIERS[mechanism[1]], name, arguments.get("target"), network, prefix4, prefix6)


def _prefix_length(digits: str | None, maximum: int, word: str) -> int:
    if digits is None:
        return maximum
    if (len(digits) > 1 and digits[0] == "0") or len(digits) > 3 or int(digits) > maximum:
        raise SpfRecordBroken(f"The prefix length in {word!r} must be from 0 to {maximum}.")
    return int(digits)


def _network(address: str, prefix: int, name: str, word: str) -> ipaddress.IPv4Network | ipaddress.IPv6Network:
    try:
        if name == "ip4":
            return ipaddress.IPv4Network((address, prefix), strict=False)
        return ipaddress.IPv6Network((address, prefix), strict=False)
    except ValueError:
        raise SpfRecordBroken(f"{word!r} has no valid IP address.") from None


def _check_target(spec: str, word: str) -> None:
    """A domain-spec must end in a top label or a macro (RFC 7208 §7.1)."""
    pieces = list(_pieces(spec))
    if not pieces or (not pieces[-1].startswith("%{") and not _ends_in_top_label(pieces)):
        raise SpfRecordBroken(f"{word!r} does not end in a domain name.")


def _ends_in_top_label(pieces: list[str]) -> bool:
    # Escapes and macros become spaces, which are not allowed in a label.
    literal = "".join(piece if len(piece) == 1 else " " for piece in pieces)
    label = re.search(r"\.[^.]+\.?$", literal)
    return label is not None and TOP_LABEL.fullmatch(label[0]) is not None


def _pieces(spec: str) -> Iterator[str]:
    """The characters, escapes and macros of a macro-string, one by one."""
    offset = 0
    while offset < len(spec):
        piece = PIECE.match(spec, offset)
        macro = MACRO.fullmatch(piece[0]) if piece else None
        if piece is None or (piece[0].startswith("%{") and (macro is None or _has_invalid_label_count(macro))):
            raise SpfRecordBroken(f"{spec!r} has a syntax error at {spec[offset:]!r}.")
        yield piece[0]
        offset = piece.end()


def _has_invalid_label_count(macro: "re.Match[str]") -> bool:
    return bool(macro[2]) and (len(macro[2]) > 3 or int(macro[2]) == 0)


def _parse_address(address: str) -> Address:
    """Parse an address; an IPv4-mapped IPv6 address becomes the IPv4 address (RFC 7208 §5)."""
    parsed = ipaddress.ip_address(address)
    return (parsed.ipv4_mapped or parsed) if isinstance(parsed, ipaddress.IPv6Address) else parsed
