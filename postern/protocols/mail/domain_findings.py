"""Mistakes in the DNS records that a domain publishes for its mail: SPF (RFC 7208), DKIM (RFC 6376), DMARC (RFC 9989),
BIMI, MTA-STS (RFC 8461) and TLS-RPT (RFC 8460).

Receivers ignore most mistakes without a notice: they treat the mail as not authenticated. `DOMAIN_RULES` has every
mistake that is reported. The functions look records up and change nothing. They raise DnsUnavailable if a lookup fails,
because then nothing is known.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final, Literal, get_args

from postern.protocols.mail import dmarc, spf
from postern.protocols.mail.dkim import KeyRecordErrorCode, key_record_error
from postern.protocols.mail.dns import DnsUnavailable, NoSuchRecord, Resolver
from postern.protocols.mail.findings import Finding, Rule, make_finding

COUNTED_LOOKUPS: Final = 30
"""SPF lookups are counted up to this number, so that the count ends for a record that includes itself."""
COUNTED_VOID_LOOKUPS: Final = 5
"""Void lookups are counted up to this number."""
NEAR_LOOKUP_LIMIT: Final = spf.MAX_LOOKUPS - 1
"""From this number of lookups on, the next `include` breaks the record."""
REPORT_ADDRESSES_CHECKED: Final = 5
"""Maximum domains of the addresses in `rua` whose permission to send them reports is looked up."""
RECORDS_READ: Final = 20
"""TXT records of one name that are read; further ones are ignored."""

DOMAIN_RULES: Final[Mapping[str, Rule]] = {
    "dns_unavailable": Rule(
        "WARNING",
        "The DNS lookup failed: {reason} Receivers that get the same failure defer or distrust mail.",
        "Check the name servers of the domain, then check the domain again.",
    ),
    "spf_missing": Rule(
        "WARNING",
        "There is no SPF record. Large providers expect one for the domain of the envelope sender.",
        "Publish the record that is listed for this domain: SPF, or the CNAME of the return path.",
    ),
    "spf_several": Rule(
        "ERROR",
        "There are {number} SPF records. Receivers treat that as an error and use none of them (RFC 7208 §4.5).",
        "Merge them into one record: one `v=spf1`, all mechanisms, one `all` at the end.",
    ),
    "spf_quoted": Rule(
        "ERROR",
        "The SPF record has quotation marks as part of its text, so receivers do not recognise it.",
        "Enter the value without quotation marks.",
    ),
    "spf_version": Rule(
        "ERROR",
        "A record looks like SPF but does not begin with `v=spf1` and a space, so receivers ignore it (RFC 7208 §4.5).",
        "Begin the record with `v=spf1` and a space.",
    ),
    "spf_syntax": Rule(
        "ERROR",
        "The SPF record has a syntax error: {reason} Receivers then use none of it (RFC 7208 §4.6).",
        "Correct the term.",
    ),
    "spf_too_many_lookups": Rule(
        "ERROR",
        "The SPF record needs {number} DNS lookups; receivers stop after {limit} with an error (RFC 7208 §4.6.4).",
        "Remove services that you no longer use, or replace an `include` by the addresses behind it.",
    ),
    "spf_lookups_near_limit": Rule(
        "ADVICE",
        "The SPF record needs {number} of the {limit} DNS lookups that receivers make (RFC 7208 §4.6.4).",
        "Remove services that you no longer use before you add another one.",
    ),
    "spf_too_many_void_lookups": Rule(
        "ERROR",
        "{number} lookups of the SPF record have no result; receivers stop with an error after {limit} (RFC 7208"
        " §4.6.4).",
        "Remove the mechanisms whose names do not exist.",
    ),
    "spf_include_without_record": Rule(
        "ERROR",
        "The SPF record refers to a domain without an SPF record, which is an error (RFC 7208 §5.2, §6.1).",
        "Correct the domain or remove the term.",
    ),
    "spf_allows_everyone": Rule(
        "ERROR",
        "`+all` authorises every host of the internet, so that anybody can forge mail of this domain.",
        "End the record with `~all` or `-all`.",
    ),
    "spf_no_all": Rule(
        "WARNING",
        "The SPF record says nothing about other hosts: it ends without `~all` or `-all`.",
        "End the record with `~all` or `-all`.",
    ),
    "spf_after_all": Rule(
        "WARNING",
        "Terms after `all` are never evaluated (RFC 7208 §5.1).",
        "Move `all` to the end.",
    ),
    "spf_ptr": Rule(
        "WARNING",
        "The mechanism `ptr` is slow and unreliable, and must not be published (RFC 7208 §5.5).",
        "Replace `ptr` by `ip4`, `ip6`, `a` or `include`.",
    ),
    "spf_server_missing": Rule(
        "ERROR",
        "The SPF record does not authorise the server that sends your mail: {reason}",
        "Add `{terms}` before `all`.",
    ),
    "dkim_missing": Rule(
        "ERROR",
        "The DKIM key is not published, so receivers cannot verify the signatures of your mail.",
        "Publish the record that is listed for this domain at this name.",
    ),
    "dkim_several": Rule(
        "ERROR",
        "There are {number} TXT records with DKIM keys at this name; which one receivers use is not defined (RFC 6376"
        " §3.6.2.2).",
        "Remove all but the one that is listed for this domain.",
    ),
    **dict.fromkeys(
        get_args(KeyRecordErrorCode),
        Rule(
            "ERROR",
            "Receivers cannot verify signatures with the published DKIM key. {reason}",
            "Publish exactly the value that is listed for this domain.",
        ),
    ),
    "dmarc_missing": Rule(
        "WARNING",
        "There is no DMARC record. Google, Yahoo and Microsoft require one of everybody who sends much mail.",
        "Publish a TXT record with `v=DMARC1; p=none; rua=mailto:…` at this name.",
    ),
    "dmarc_several": Rule(
        "ERROR",
        "There are {number} DMARC records. Receivers then use none of them (RFC 9989 §4.10).",
        "Keep one of them.",
    ),
    "dmarc_quoted": Rule(
        "ERROR",
        "The DMARC record has quotation marks as part of its text, so receivers do not recognise it.",
        "Enter the value without quotation marks.",
    ),
    "dmarc_version": Rule(
        "ERROR",
        "A record looks like DMARC but does not begin with `v=DMARC1;`, in this letter case, so receivers ignore it"
        " (RFC 9989 §4.8).",
        "Begin the record with `v=DMARC1;`.",
    ),
    "dmarc_syntax": Rule(
        "WARNING",
        "Parts of the DMARC record are not a list of `tag=value` separated by semicolons, so receivers ignore them.",
        "Separate the tags by semicolons.",
    ),
    "dmarc_repeated_tag": Rule(
        "WARNING",
        "A tag occurs more than once in the DMARC record. Receivers use different ones.",
        "Keep one of them.",
    ),
    "dmarc_invalid_value": Rule(
        "WARNING",
        "A tag of the DMARC record has a value that does not exist, so receivers use the default instead (RFC 9989"
        " §4.7).",
        "Use one of the values of the tag: {values}.",
    ),
    "dmarc_no_policy": Rule(
        "ERROR",
        "The DMARC record has no policy: the tag `p` is missing. Many receivers then ignore the record.",
        "Add `p=none`, `p=quarantine` or `p=reject` after `v=DMARC1;`.",
    ),
    "dmarc_unknown_tag": Rule(
        "ADVICE",
        "The DMARC record has a tag that does not exist; receivers ignore it.",
        "Correct or remove the tag.",
    ),
    "dmarc_obsolete_tag": Rule(
        "ADVICE",
        "RFC 9989 no longer has the tags `pct`, `rf` and `ri`; receivers ignore them or treat them differently.",
        "Remove them. For a gradual introduction, use `t=y`.",
    ),
    "dmarc_policy_none": Rule(
        "ADVICE",
        "The policy `none` only asks for reports: receivers deliver mail that forges this domain.",
        "When the reports show that all of your mail passes, change the policy to `quarantine`, then to `reject`.",
    ),
    "dmarc_no_reports": Rule(
        "ADVICE",
        "The policy is `none` and there is no `rua`, so the record has no effect: nobody gets reports.",
        "Add `rua=mailto:…` with an address that reads reports.",
    ),
    "dmarc_test_mode": Rule(
        "ADVICE",
        "`t=y` is test mode: receivers apply the next weaker policy.",
        "Remove `t=y` when the reports show that all of your mail passes.",
    ),
    "dmarc_weaker_policy": Rule(
        "ADVICE",
        "Subdomains have a weaker policy than the domain, so that they are easier to forge.",
        "Use the same policy in `sp` and `np` as in `p`, or remove these tags.",
    ),
    "dmarc_report_address": Rule(
        "WARNING",
        "A tag for reports is not a list of `mailto:` addresses separated by commas, so no reports arrive.",
        "Write it as `rua=mailto:reports@example.com`.",
    ),
    "dmarc_reports_not_authorised": Rule(
        "ERROR",
        "Reports go to another domain that has not agreed to it, so receivers send none (RFC 9990 §4, RFC 7489 §7.1).",
        "Its owner must publish a TXT record with `v=DMARC1` at `{record}`.",
    ),
    "bimi_missing": Rule(
        "ADVICE",
        "There is no BIMI record. With one, some providers show your logo beside your mail.",
        "Publish `v=BIMI1; l=https://…` with an SVG logo; Gmail and Apple also ask for a certificate (`a=`).",
    ),
    "bimi_invalid": Rule(
        "WARNING",
        "The BIMI record is not `v=BIMI1;` followed by `l=` with an https address of a logo, so no logo is shown.",
        "Write it as `v=BIMI1; l=https://example.com/logo.svg`.",
    ),
    "bimi_without_enforcement": Rule(
        "WARNING",
        "No logo is shown, because BIMI needs a DMARC policy of `quarantine` or `reject` without test mode.",
        "Change the DMARC policy.",
    ),
    "mta_sts_missing": Rule(
        "ADVICE",
        "The domain receives mail without MTA-STS (RFC 8461): an attacker on the network can prevent its encryption.",
        "Publish an MTA-STS policy and its record.",
    ),
    "mta_sts_invalid": Rule(
        "WARNING",
        "The MTA-STS record is not one record `v=STSv1; id=…` with an id of letters and digits (RFC 8461 §3.1).",
        "Write it as `v=STSv1; id=20260131120000`.",
    ),
    "tls_rpt_missing": Rule(
        "ADVICE",
        "The domain receives mail without TLS-RPT (RFC 8460): nobody learns of failed encryption.",
        "Publish `v=TLSRPTv1; rua=mailto:…`.",
    ),
    "tls_rpt_invalid": Rule(
        "WARNING",
        "The TLS-RPT record is not one record `v=TLSRPTv1; rua=` with `mailto:` or `https:` addresses (RFC 8460 §3).",
        "Write it as `v=TLSRPTv1; rua=mailto:reports@example.com`.",
    ),
}
"""What is reported about a domain, by code."""


def domain_finding(code: str, name: str, snippets: Sequence[str] = (), **values: object) -> Finding:
    """A finding of DOMAIN_RULES about the DNS name `name`."""
    return make_finding(DOMAIN_RULES, code, name, snippets, values)


async def texts_of(resolver: Resolver, name: str) -> list[str]:
    """The TXT records of a name, at most RECORDS_READ; none if the name or its records do not exist. Raises
    DnsUnavailable.

    They are sorted, because DNS servers return them in any order, and the same records must give the same findings.
    """
    try:
        return sorted(await resolver.txt(name))[:RECORDS_READ]
    except NoSuchRecord:
        return []


def _tags(text: str) -> list[tuple[str, str]]:
    """The `name=value` parts of a record, separated by semicolons; names in lower case."""
    parts = (part.partition("=") for part in text.split(";"))
    return [(name.strip().lower(), value.strip()) for name, equals, value in parts if equals]


def _unrecognised_records(
    kind: str, name: str, texts: list[str], similar: re.Pattern[str], is_record: Callable[[str], bool]
) -> list[Finding]:
    """A finding for each TXT record that is meant as a record of this kind, but that receivers do not recognise."""
    return [
        domain_finding(f"{kind}_quoted" if is_record(text.strip(' "')) else f"{kind}_version", name, [text])
        for text in texts
        if similar.match(text) and not is_record(text)
    ]


# SPF ---------------------------------------------------------------------------------------------------------


async def inspect_spf(resolver: Resolver, domain: str) -> list[Finding]:
    """The mistakes in the SPF record of a domain. Whether it authorises a server is not checked. Raises
    DnsUnavailable."""
    texts = await texts_of(resolver, domain)
    records = [text for text in texts if spf.is_spf(text)]
    findings = _unrecognised_records("spf", domain, texts, _LIKE_SPF, spf.is_spf)
    if not records:
        return findings or [domain_finding("spf_missing", domain)]
    if len(records) > 1:
        findings.append(domain_finding("spf_several", domain, records, number=len(records)))
        return findings
    (text,) = records
    try:
        record = spf.parse(text)
    except spf.SpfRecordBroken as error:
        return [*findings, domain_finding("spf_syntax", domain, [text], reason=error)]
    return [*findings, *_spf_term_findings(domain, text, record), *await _SpfLookups(resolver, domain).findings(record)]


_LIKE_SPF = re.compile(r"[\s\"'“”]*v\s*=\s*spf\d?", re.IGNORECASE)


def _spf_term_findings(domain: str, text: str, record: spf.SpfRecord) -> Iterator[Finding]:
    names = [term.name for term in record.terms]
    if "ptr" in names:
        yield domain_finding("spf_ptr", domain, [term.text for term in record.terms if term.name == "ptr"])
    if "all" not in names:
        if record.redirect is None:
            yield domain_finding("spf_no_all", domain, [text])
        return
    position = names.index("all")
    if record.terms[position].qualifier is spf.SpfVerdict.PASS:
        yield domain_finding("spf_allows_everyone", domain, [text])
    elif record.terms[position].qualifier is spf.SpfVerdict.NEUTRAL:
        yield domain_finding("spf_no_all", domain, [text])
    if position + 1 < len(names):
        yield domain_finding("spf_after_all", domain, [term.text for term in record.terms[position + 1 :]])


class _SpfLookups:
    """Counts the lookups of a record with all records that it includes.

    `check_host` ends at the first term that matches an address, but receivers need more lookups for other addresses.
    Names with macros are counted, but not looked up.
    """

    def __init__(self, resolver: Resolver, domain: str) -> None:
        self._resolver, self._domain = resolver, domain
        self._lookups = self._void = 0
        self._without_record: list[str] = []

    async def findings(self, record: spf.SpfRecord) -> list[Finding]:
        await self._count(record, self._domain)
        findings: list[Finding] = []
        limit = spf.MAX_LOOKUPS
        if self._lookups > limit:
            number = f"{self._lookups} or more" if self._lookups >= COUNTED_LOOKUPS else self._lookups
            findings.append(domain_finding("spf_too_many_lookups", self._domain, number=number, limit=limit))
        elif self._lookups >= NEAR_LOOKUP_LIMIT:
            findings.append(domain_finding("spf_lookups_near_limit", self._domain, number=self._lookups, limit=limit))
        if self._void > spf.MAX_VOID_LOOKUPS:
            finding = domain_finding(
                "spf_too_many_void_lookups", self._domain, number=self._void, limit=spf.MAX_VOID_LOOKUPS
            )
            findings.append(finding)
        if self._without_record:
            findings.append(domain_finding("spf_include_without_record", self._domain, self._without_record))
        return findings

    @property
    def _is_counting(self) -> bool:
        return self._lookups < COUNTED_LOOKUPS and self._void < COUNTED_VOID_LOOKUPS

    async def _count(self, record: spf.SpfRecord, domain: str) -> None:
        for term in record.terms:
            if term.name in ("all", "ip4", "ip6"):
                continue
            if not self._is_counting:
                return
            self._lookups += 1
            name = term.target or domain
            if "%" in name:
                continue
            if term.name == "include":
                await self._count_included(name, term.text)
            elif term.name in ("a", "mx", "exists"):
                await self._count_void(name, term.name)
        if record.redirect is not None and "all" not in [term.name for term in record.terms] and self._is_counting:
            self._lookups += 1
            if "%" not in record.redirect:
                await self._count_included(record.redirect, f"redirect={record.redirect}")

    async def _count_included(self, name: str, term: str) -> None:
        records = [text for text in await texts_of(self._resolver, name) if spf.is_spf(text)]
        if len(records) != 1:
            self._without_record.append(term)
            return
        try:
            await self._count(spf.parse(records[0]), name)
        except spf.SpfRecordBroken:
            self._without_record.append(term)

    async def _count_void(self, name: str, kind: str) -> None:
        """Count the lookup as void if the name has neither IPv4 nor IPv6 addresses, or no mail exchanger."""
        try:
            await (self._resolver.mx(name) if kind == "mx" else self._resolver.addresses(name))
        except NoSuchRecord:
            self._void += 1
        except DnsUnavailable:
            pass  # A temporary failure of another domain is not a mistake of this record.


# DKIM --------------------------------------------------------------------------------------------------------


async def inspect_dkim(
    resolver: Resolver, name: str, *, algorithm: Literal["rsa-sha256", "ed25519-sha256"], public_key: str
) -> list[Finding]:
    """The mistakes in the key record at `name`, which should publish `public_key`. Raises DnsUnavailable."""
    texts = await texts_of(resolver, name)
    keys = [text for text in texts if is_key_record(text)] or texts
    if not keys:
        return [domain_finding("dkim_missing", name)]
    if len(keys) > 1:
        return [domain_finding("dkim_several", name, keys, number=len(keys))]
    error = key_record_error(keys[0], algorithm=algorithm, public_key=public_key)
    return [domain_finding(error.code, name, keys, reason=error.message)] if error else []


def is_key_record(text: str) -> bool:
    """Whether a TXT record is meant to be a DKIM key."""
    return _KEY_RECORD.search(text) is not None


_KEY_RECORD = re.compile(r"(?:^|;)\s*p\s*=|DKIM1")


# DMARC -------------------------------------------------------------------------------------------------------

_DMARC_VALUES: Final[Mapping[str, str]] = {
    "p": "none|quarantine|reject",
    "sp": "none|quarantine|reject",
    "np": "none|quarantine|reject",
    "adkim": "r|s",
    "aspf": "r|s",
    "psd": "y|n|u",
    "t": "y|n",
}
"""The tags with fixed values (RFC 9989 §4.7)."""
_FREE_DMARC_TAGS: Final = frozenset(["v", "rua", "ruf", "fo"])
_OBSOLETE_DMARC_TAGS: Final = frozenset(["pct", "rf", "ri"])
_STRENGTH: Final = {dmarc.Policy.NONE: 0, dmarc.Policy.QUARANTINE: 1, dmarc.Policy.REJECT: 2}
_LIKE_DMARC = re.compile(r"[\s\"'“”]*v\s*=\s*\"?dmarc|.*;\s*v\s*=\s*dmarc", re.IGNORECASE)


async def inspect_dmarc(resolver: Resolver, domain: str) -> tuple[list[Finding], dmarc.DmarcDiscovery | None]:
    """The mistakes in the DMARC record that applies to a domain, and the policy found. Raises DnsUnavailable."""
    policy = await dmarc.discover(resolver, domain)
    name = f"_dmarc.{policy.domain if policy else domain}"
    texts = await texts_of(resolver, name)
    records = [text for text in texts if dmarc.parse(text)]
    findings = _unrecognised_records("dmarc", name, texts, _LIKE_DMARC, lambda text: dmarc.parse(text) is not None)
    if len(records) > 1:
        findings.append(domain_finding("dmarc_several", name, records, number=len(records)))
    if policy is None:
        return findings or [domain_finding("dmarc_missing", name)], None
    findings += _dmarc_tag_findings(name, policy.record)
    findings += _dmarc_policy_findings(name, policy)
    findings += await _report_findings(resolver, name, policy)
    return findings, policy


def _dmarc_tag_findings(name: str, record: dmarc.DmarcRecord) -> Iterator[Finding]:
    """Mistakes in the tags of a record."""
    malformed = [part.strip() for part in record.text.split(";") if part.strip() and "=" not in part]
    if malformed:
        yield domain_finding("dmarc_syntax", name, malformed)
    tags = _tags(record.text)
    tag_names = [tag for tag, _ in tags]
    repeated = [tag for tag in dict.fromkeys(tag_names) if tag_names.count(tag) > 1]
    if repeated:
        yield domain_finding("dmarc_repeated_tag", name, repeated)
    if "p" not in tag_names:
        yield domain_finding("dmarc_no_policy", name, [record.text])
    for tag, value in tags:
        values = _DMARC_VALUES.get(tag)
        if values is not None and value.lower() not in values.split("|"):
            shown = ", ".join(f"`{text}`" for text in values.split("|"))
            yield domain_finding("dmarc_invalid_value", name, [f"{tag}={value}"], values=shown)
    obsolete = [f"{tag}={value}" for tag, value in tags if tag in _OBSOLETE_DMARC_TAGS]
    if obsolete:
        yield domain_finding("dmarc_obsolete_tag", name, obsolete)
    unknown = [tag for tag in tag_names if tag not in {*_DMARC_VALUES, *_FREE_DMARC_TAGS, *_OBSOLETE_DMARC_TAGS}]
    if unknown:
        yield domain_finding("dmarc_unknown_tag", name, unknown)
    for tag, value in tags:
        if tag in ("rua", "ruf") and not all(_MAILTO.fullmatch(uri.strip()) for uri in value.split(",")):
            yield domain_finding("dmarc_report_address", name, [f"{tag}={value}"])


_MAILTO = re.compile(r"mailto:[^@\s,;]+@[^@\s,;!]+(?:![0-9]+[kmgt]?)?", re.IGNORECASE)


def _dmarc_policy_findings(name: str, policy: dmarc.DmarcDiscovery) -> Iterator[Finding]:
    """What is weak about a valid policy."""
    record = policy.record
    if record.p is dmarc.Policy.NONE:
        code = "dmarc_policy_none" if record.rua else "dmarc_no_reports"
        yield domain_finding(code, name, [record.text])
    if record.t:
        yield domain_finding("dmarc_test_mode", name, [record.text])
    weaker = [
        f"{tag}={value}"
        for tag, value in (("sp", record.sp), ("np", record.np))
        if value is not None and _STRENGTH[value] < _STRENGTH[record.p]
    ]
    if weaker:
        yield domain_finding("dmarc_weaker_policy", name, weaker)


async def _report_findings(resolver: Resolver, name: str, policy: dmarc.DmarcDiscovery) -> list[Finding]:
    """Whether the domains that get the reports have agreed to it (RFC 9990 §4)."""
    findings: list[Finding] = []
    hosts = dict.fromkeys(address.rpartition("@")[2].rstrip(".").lower() for address in policy.record.rua)
    for host in list(hosts)[:REPORT_ADDRESSES_CHECKED]:
        walked = await dmarc.walk(resolver, host)
        if dmarc.organizational_domain(host, walked) == policy.organizational_domain:
            continue
        if host == policy.domain or host.endswith(f".{policy.organizational_domain}"):
            continue
        permission = f"{policy.domain}._report._dmarc.{host}"
        if not any(text.startswith("v=DMARC1") for text in await texts_of(resolver, permission)):
            findings.append(domain_finding("dmarc_reports_not_authorised", name, [host], record=permission))
    return findings


# BIMI, MTA-STS, TLS-RPT --------------------------------------------------------------------------------------


async def inspect_bimi(resolver: Resolver, domain: str, policy: dmarc.DmarcDiscovery | None) -> list[Finding]:
    """Mistakes in the BIMI record of a domain with this DMARC policy, or the advice to publish one if the policy is
    strong enough. Raises DnsUnavailable."""
    name = f"default._bimi.{domain}"
    records = [text for text in await texts_of(resolver, name) if text.strip().lower().startswith("v=bimi1")]
    is_enforced = policy is not None and policy.policy is not dmarc.Policy.NONE and not policy.record.t
    if not records:
        return [domain_finding("bimi_missing", name)] if is_enforced else []
    tags = dict(_tags(records[0]))
    logo = tags.get("l")
    # An empty `l` declines to show a logo.
    if len(records) > 1 or logo is None or (logo and not logo.lower().startswith("https://")):
        return [domain_finding("bimi_invalid", name, records)]
    return [] if is_enforced else [domain_finding("bimi_without_enforcement", name, records)]


_STS_ID = re.compile(r"[A-Za-z0-9]{1,32}")
_TLS_RPT_ADDRESSES = re.compile(r"(?:mailto|https):[^\s;]+", re.IGNORECASE)


async def inspect_transport_security(resolver: Resolver, domain: str) -> list[Finding]:
    """Mistakes in the MTA-STS and TLS-RPT records of a domain, and advice to publish them if the domain receives mail.
    Raises DnsUnavailable."""
    try:
        receives_mail = any(exchanger.host for exchanger in await resolver.mx(domain))
    except NoSuchRecord:
        receives_mail = False
    findings: list[Finding] = []
    for code, name, version, tag, form in (
        ("mta_sts", f"_mta-sts.{domain}", "v=STSv1", "id", _STS_ID),
        ("tls_rpt", f"_smtp._tls.{domain}", "v=TLSRPTv1", "rua", _TLS_RPT_ADDRESSES),
    ):
        records = [text for text in await texts_of(resolver, name) if text.startswith(version)]
        if len(records) > 1 or (records and not form.fullmatch(dict(_tags(records[0])).get(tag, ""))):
            findings.append(domain_finding(f"{code}_invalid", name, records))
        elif not records and receives_mail:
            findings.append(domain_finding(f"{code}_missing", name))
    return findings
