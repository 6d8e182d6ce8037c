"""Mistakes in the DNS records of a domain, as tables of records and codes."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from postern.protocols.mail import dmarc, spf
from postern.protocols.mail.dkim import generate_rsa, key_record
from postern.protocols.mail.dns import DnsUnavailable
from postern.protocols.mail.domain_findings import (
    DOMAIN_RULES,
    inspect_bimi,
    inspect_dkim,
    inspect_dmarc,
    inspect_spf,
    inspect_transport_security,
)
from postern.protocols.mail.findings import SNIPPET_CHARACTERS, shorten
from tests.peers.dns_zone import dns_zone, patient

ZONE = """
    ok.example.net.     TXT "v=spf1 ip4:198.51.100.0/24 -all"
    five.example.net.   TXT "v=spf1 a:h.example.net a:h.example.net a:h.example.net a:h.example.net a:h.example.net"
    h.example.net.      A   192.0.2.1
    loop.example.net.   TXT "v=spf1 include:loop.example.net -all"
    broken.example.net. TXT "v=spf1 ip4:nonsense -all"
    voids.example.net.  TXT "v=spf1 a:no1.example.net -all"
"""
FIVE = "include:five.example.net"
SPF = [
    (["v=spf1 ip4:192.0.2.1 -all"], []),
    (["v=spf1 include:ok.example.net ~all", "google-site-verification=x"], []),
    ([], ["spf_missing"]),
    (["hello"], ["spf_missing"]),
    (["v=spf1 -all", "v=spf1 ~all"], ["spf_several"]),
    ([r'"\"v=spf1 -all\""'], ["spf_quoted"]),
    (["v=spf2 -all"], ["spf_version"]),
    (["v=spf1;ip4:192.0.2.1 -all"], ["spf_version"]),
    (["V = SPF1 -all"], ["spf_version"]),
    (["v=spf1 ip4=192.0.2.1 a:1 -all"], ["spf_syntax"]),
    (["v=spf1 +all"], ["spf_allows_everyone"]),
    (["v=spf1 mx:h.example.net all"], ["spf_allows_everyone"]),
    (["v=spf1 ?all"], ["spf_no_all"]),
    (["v=spf1 ip4:192.0.2.1"], ["spf_no_all"]),
    (["v=spf1 redirect=ok.example.net"], []),
    (["v=spf1 -all ip4:192.0.2.1"], ["spf_after_all"]),
    (["v=spf1 ptr -all"], ["spf_ptr"]),
    ([f"v=spf1 {FIVE} a:h.example.net a:h.example.net a:h.example.net -all"], ["spf_lookups_near_limit"]),
    ([f"v=spf1 {FIVE} {FIVE} -all"], ["spf_too_many_lookups"]),
    (["v=spf1 include:loop.example.net -all"], ["spf_too_many_lookups"]),
    (["v=spf1 a:no1.example.net a:no2.example.net -all"], []),
    (["v=spf1 a:no1.example.net mx:no2.example.net include:voids.example.net -all"], ["spf_too_many_void_lookups"]),
    (["v=spf1 include:no.example.net -all"], ["spf_include_without_record"]),
    (["v=spf1 include:broken.example.net -all"], ["spf_include_without_record"]),
    (["v=spf1 redirect=no.example.net"], ["spf_include_without_record"]),
    (["v=spf1 exists:%{i}.no.example.net -all"], []),
]  # fmt: skip


@pytest.fixture
async def zone():
    async with dns_zone(ZONE) as zone:
        yield zone


@pytest.fixture
def resolver(zone):
    return patient(zone)


def codes(findings):
    return [finding.code for finding in findings]


async def test_mistakes_in_spf_records(zone, resolver):
    for texts, expected in SPF:
        zone.remove("example.com", "TXT")
        zone.add("example.com", "TXT", *texts)
        mx = [text for text in texts if " mx" in text]
        findings = await inspect_spf(resolver, "example.com")
        # `mx:h.example.net` has no exchanger, which is one void lookup.
        assert codes(findings) == expected, (texts, mx)


async def test_the_number_of_lookups_is_given(zone, resolver):
    zone.add("example.com", "TXT", f"v=spf1 {FIVE} {FIVE} -all")
    (finding,) = await inspect_spf(resolver, "example.com")
    assert "needs 12 DNS lookups" in finding.message
    assert (await spf.check_host(resolver, "192.0.2.1", "example.com")).verdict == "pass", "the first match ends it"
    zone.set("example.com", "TXT", "v=spf1 include:loop.example.net -all")
    (finding,) = await inspect_spf(resolver, "example.com")
    assert "30 or more" in finding.message


KEY = generate_rsa()
RECORD = key_record(KEY)
PUBLIC = RECORD.partition("p=")[2]
DKIM = [
    ([RECORD], []),
    ([RECORD, "unrelated"], []),
    ([], ["dkim_missing"]),
    ([RECORD, RECORD.replace("p=", "p=A")], ["dkim_several"]),
    (['"\\"' + RECORD[:200] + '" "' + RECORD[200:] + '\\""'], ["dkim_quoted"]),
    (['"' + RECORD[:200] + '\\" \\"" "' + RECORD[200:] + '"'], ["dkim_split"]),
    ([RECORD.replace(PUBLIC, PUBLIC[200:] + PUBLIC[:200])], ["dkim_split"]),
    ([RECORD.replace(PUBLIC, PUBLIC[:200])], ["dkim_truncated"]),
    ([RECORD.replace(";", r"\;")], ["dkim_backslashes"]),
    (["v=DKIM1; k=rsa; p="], ["dkim_revoked"]),
    (["v=DKIM1; k=rsa"], ["dkim_no_key"]),
    ([RECORD.replace("k=rsa", "k=ed25519")], ["dkim_wrong_type"]),
    ([RECORD.replace("DKIM1", "DKIM2")], ["dkim_wrong_version"]),
    ([RECORD.replace("k=rsa", "h=sha1")], ["dkim_wrong_hash"]),
    ([RECORD.replace("k=rsa", "s=tlsrpt")], ["dkim_wrong_service"]),
    ([RECORD.replace("k=rsa", "t=y")], ["dkim_testing"]),
    ([RECORD.replace("k=rsa", "k")], ["dkim_syntax"]),
    ([key_record(generate_rsa())], ["dkim_other_key"]),
]


async def test_mistakes_in_dkim_records(zone, resolver):
    name = "s._domainkey.example.com"
    for texts, expected in DKIM:
        zone.remove(name, "TXT")
        zone.add(name, "TXT", *texts)
        findings = await inspect_dkim(resolver, name, algorithm="rsa-sha256", public_key=PUBLIC)
        assert codes(findings) == expected, texts


OK = "v=DMARC1; p=reject; rua=mailto:d@example.com"
DMARC = [
    ([OK], []),
    ([OK, "unrelated"], []),
    ([], ["dmarc_missing"]),
    ([OK, OK.replace("reject", "none")], ["dmarc_several"]),
    ([r'"\"v=DMARC1; p=reject\""'], ["dmarc_quoted"]),
    (["v=dmarc1; p=reject"], ["dmarc_version"]),
    (["p=reject; v=DMARC1"], ["dmarc_version"]),
    (["v=DMARC1; p=reject; rua"], ["dmarc_syntax"]),
    (["v=DMARC1; p=reject; p=none"], ["dmarc_repeated_tag"]),
    (["v=DMARC1; p=rejected; rua=mailto:d@example.com"], ["dmarc_invalid_value", "dmarc_policy_none"]),
    (["v=DMARC1; rua=mailto:d@example.com"], ["dmarc_no_policy", "dmarc_policy_none"]),
    (["v=DMARC1; p=reject; adkim=x"], ["dmarc_invalid_value"]),
    (["v=DMARC1; p=reject; policy=none"], ["dmarc_unknown_tag"]),
    (["v=DMARC1; p=reject; pct=50; ri=3600"], ["dmarc_obsolete_tag"]),
    (["v=DMARC1; p=none"], ["dmarc_no_reports"]),
    (["v=DMARC1; p=reject; t=y"], ["dmarc_test_mode"]),
    (["v=DMARC1; p=reject; sp=none; np=quarantine"], ["dmarc_weaker_policy"]),
    (["v=DMARC1; p=reject; rua=d@example.com"], ["dmarc_report_address"]),
    (["v=DMARC1; p=reject; rua=mailto:a@example.com mailto:b@example.com"], ["dmarc_report_address"]),
    (["v=DMARC1; p=reject; rua=mailto:d@reports.example.net"], ["dmarc_reports_not_authorised"]),
    (["v=DMARC1; p=reject; rua=mailto:d@dmarc.example.com!10m"], []),
]


async def test_mistakes_in_dmarc_records(zone, resolver):
    for texts, expected in DMARC:
        zone.remove("_dmarc.example.com", "TXT")
        zone.add("_dmarc.example.com", "TXT", *texts)
        findings, policy = await inspect_dmarc(resolver, "example.com")
        assert codes(findings) == expected, texts
        assert (policy is not None) == (len([text for text in texts if dmarc.parse(text)]) == 1)


async def test_reports_to_another_domain_need_its_permission(zone, resolver):
    zone.add("_dmarc.example.com", "TXT", "v=DMARC1; p=reject; rua=mailto:d@reports.example.net")
    findings, _ = await inspect_dmarc(resolver, "example.com")
    assert "example.com._report._dmarc.reports.example.net" in findings[0].fix
    zone.add("example.com._report._dmarc.reports.example.net", "TXT", "v=DMARC1;")
    assert (await inspect_dmarc(resolver, "example.com"))[0] == []
    zone.servfail("example.com._report._dmarc.reports.example.net")
    with pytest.raises(DnsUnavailable):
        await inspect_dmarc(resolver, "example.com")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("v=DMARC1; p=none; rua=mailto:dmarc-feedback@example.com", ["dmarc_policy_none"]),
        (
            "v=DMARC1; p=none; rua=mailto:dmarc-feedback@example.com; ruf=mailto:auth-reports@thirdparty.example.net",
            ["dmarc_policy_none"],
        ),
        (
            "v=DMARC1; p=quarantine; rua=mailto:f@example.com, mailto:tld-test@thirdparty.example.net!10m; pct=25",
            ["dmarc_obsolete_tag"],
        ),
    ],
)
async def test_the_examples_of_rfc_7489_appendix_b(zone, resolver, text, expected):
    zone.add("_dmarc.example.com", "TXT", text)
    zone.add("example.com._report._dmarc.thirdparty.example.net", "TXT", "v=DMARC1;")
    assert codes((await inspect_dmarc(resolver, "example.com"))[0]) == expected


async def test_a_subdomain_uses_the_record_of_its_organizational_domain(zone, resolver):
    zone.add("_dmarc.example.com", "TXT", "v=DMARC1; p=reject; sp=none; rua=mailto:d@example.com")
    findings, _ = await inspect_dmarc(resolver, "news.example.com")
    assert [(finding.code, finding.path) for finding in findings] == [("dmarc_weaker_policy", "_dmarc.example.com")]


BIMI = [
    ("reject", [], ["bimi_missing"]),
    ("none", [], []),
    ("reject", ["v=BIMI1; l=https://example.com/logo.svg; a="], []),
    ("reject", ["v=BIMI1; l=;"], []),
    ("reject", ["v=BIMI1; l=http://example.com/logo.svg"], ["bimi_invalid"]),
    ("reject", ["v=BIMI1; a=https://example.com/vmc.pem"], ["bimi_invalid"]),
    ("none", ["v=BIMI1; l=https://example.com/logo.svg"], ["bimi_without_enforcement"]),
]


async def test_mistakes_in_bimi_records(zone, resolver):
    for policy, texts, expected in BIMI:
        zone.set("_dmarc.example.com", "TXT", f"v=DMARC1; p={policy}")
        zone.remove("default._bimi.example.com", "TXT")
        zone.add("default._bimi.example.com", "TXT", *texts)
        discovered = await dmarc.discover(resolver, "example.com")
        assert codes(await inspect_bimi(resolver, "example.com", discovered)) == expected, texts


async def test_advice_about_transport_security_is_for_domains_that_receive_mail(zone, resolver):
    assert await inspect_transport_security(resolver, "example.com") == []
    zone.add("example.com", "MX", "10 mx.example.com.")
    assert codes(await inspect_transport_security(resolver, "example.com")) == ["mta_sts_missing", "tls_rpt_missing"]
    zone.set("example.com", "MX", "0 .")
    assert await inspect_transport_security(resolver, "example.com") == [], "a null MX receives no mail"
    zone.set("_mta-sts.example.com", "TXT", "v=STSv1; id=2026-01-31")
    zone.set("_smtp._tls.example.com", "TXT", "v=TLSRPTv1; rua=reports@example.com")
    assert codes(await inspect_transport_security(resolver, "example.com")) == ["mta_sts_invalid", "tls_rpt_invalid"]
    zone.set("_mta-sts.example.com", "TXT", "v=STSv1; id=20260131120000;")
    zone.set("_smtp._tls.example.com", "TXT", "v=TLSRPTv1; rua=mailto:reports@example.com")
    assert await inspect_transport_security(resolver, "example.com") == []


@pytest.mark.parametrize(
    "text", ["v=spf1 " + "a:%{l}.x " * 3_000, "v=DMARC1; " + "p;" * 20_000, "v=BIMI1; " + "l=;" * 9_000]
)
async def test_very_long_records_give_short_findings(zone, resolver, text):
    for name in ("example.com", "_dmarc.example.com", "default._bimi.example.com"):
        zone.set(name, "TXT", text)
    findings = await inspect_spf(resolver, "example.com")
    findings += (await inspect_dmarc(resolver, "example.com"))[0]
    findings += await inspect_bimi(resolver, "example.com", None)
    assert sum(len(finding.message) + sum(map(len, finding.snippets)) for finding in findings) < 10_000


@given(st.text())
def test_snippets_are_one_short_readable_line(text):
    snippet = shorten(text)
    assert len(snippet) <= SNIPPET_CHARACTERS
    assert snippet.isprintable() or not re.search(r"[\x00-\x1f\u202e]", snippet)


def test_every_rule_has_a_test():
    tables = [*SPF, *DKIM, *DMARC, *((texts, expected) for _, texts, expected in BIMI)]
    tested = {code for _, expected in tables for code in expected}
    tested_separately = {"dns_unavailable", "spf_server_missing"}  # tests/messaging/domains
    tested_separately |= {f"{name}_{state}" for name in ("mta_sts", "tls_rpt") for state in ("missing", "invalid")}
    assert set(DOMAIN_RULES) - tested - tested_separately == set()
