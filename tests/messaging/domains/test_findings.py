"""Mistakes in the DNS records of a domain, as the check of the domain reports them."""

import msgspec
import pytest

from tests.messaging.domains.test_domains import ADDRESS, add_domain, by_purpose, publish


@pytest.fixture
def settings(settings):
    return msgspec.structs.replace(settings, sending_addresses=(ADDRESS,))


async def verify(project, domain):
    response = await project.client.post(f"/domains/{domain['id']}/verify")
    assert response.status_code == 200, response.text
    return response.json()


def codes(domain):
    return sorted(finding["code"] for finding in domain["findings"])


async def test_a_check_reports_the_mistakes_in_all_records(project, zone):
    domain = await add_domain(project)
    assert domain["findings"] == [], "nothing was checked yet"
    zone.set("example.com", "TXT", "v=spf1 +all", "v=spf1 -all")
    dkim = by_purpose(domain)["DKIM"]
    zone.set(dkim["name"], "TXT", dkim["value"][:200])
    zone.set("_dmarc.example.com", "TXT", "v=DMARC1; p=none; rua=mailto:d@example.net")
    checked = await verify(project, domain)
    assert codes(checked) == ["dkim_truncated", "dmarc_policy_none", "dmarc_reports_not_authorised", "spf_several"]
    finding = next(finding for finding in checked["findings"] if finding["code"] == "spf_several")
    assert (finding["severity"], finding["path"], finding["count"]) == ("ERROR", "example.com", 2)
    assert finding["snippets"] == ["v=spf1 +all", "v=spf1 -all"], "sorted, because DNS servers return them in any order"
    assert (await project.client.get(f"/domains/{domain['id']}")).json()["findings"] == checked["findings"]


async def test_corrected_records_have_no_findings_and_a_new_etag(project, zone):
    domain = await add_domain(project)
    publish(zone, domain)
    zone.set("example.com", "TXT", "v=spf1 ip4:203.0.113.1 -all")
    checked = await verify(project, domain)
    finding = next(finding for finding in checked["findings"] if finding["code"] == "spf_server_missing")
    assert f"ip4:{ADDRESS}" in finding["fix"]
    publish(zone, domain)
    zone.set("_dmarc.example.com", "TXT", "v=DMARC1; p=reject; rua=mailto:d@example.com")
    zone.set("default._bimi.example.com", "TXT", "v=BIMI1; l=https://example.com/logo.svg")
    corrected = await verify(project, domain)
    assert corrected["findings"] == []


async def test_a_failed_lookup_is_a_finding_and_not_a_missing_record(project, zone):
    domain = await add_domain(project)
    publish(zone, domain)
    zone.servfail("_dmarc.example.com")
    checked = await verify(project, domain)
    (finding,) = [finding for finding in checked["findings"] if finding["severity"] != "ADVICE"]
    assert (finding["code"], finding["path"]) == ("dns_unavailable", "_dmarc.example.com")
    zone.heal()
    assert "dns_unavailable" not in codes(await verify(project, domain))


async def test_the_periodic_check_reports_mistakes_too(project, zone, run_due_work):
    domain = await add_domain(project)
    zone.set("example.com", "TXT", "v=spf1 include:example.com -all")
    await run_due_work()
    checked = (await project.client.get(f"/domains/{domain['id']}")).json()
    assert codes(checked) == ["dkim_missing", "dmarc_missing", "spf_too_many_lookups"]


async def test_the_findings_of_another_project_are_not_visible(project, new_project, zone):
    domain = await add_domain(project)
    other = await new_project()
    assert (await other.client.get(f"/domains/{domain['id']}")).status_code == 404
