"""DMARC reports over HTTP: adding them, the series that they give, and their limits."""

import asyncio
import gzip
from datetime import timedelta
from uuid import UUID

import pytest

from postern.kernel.http.problems import Problem
from postern.messaging.domains import dmarc_reports
from postern.messaging.domains.dmarc_reports import BY_PROJECT, ingest_dmarc_message
from tests.messaging.domains.test_domains import add_domain
from tests.protocols.mail.test_dmarc_report import mailed, report, row

DAY = timedelta(days=1)


@pytest.fixture
async def domain(project):
    return await add_domain(project)


def begin(clock, days_ago=1):
    midnight = clock().replace(hour=0, minute=0, second=0, microsecond=0)
    return int((midnight - days_ago * DAY).timestamp())


async def add(project, domain, content, status=200):
    response = await project.client.post(f"/domains/{domain['id']}/dmarc-reports", content=content)
    assert response.status_code == status, response.text
    return response.json()


async def summary(project, domain, days=30):
    response = await project.client.get(f"/domains/{domain['id']}/dmarc?days={days}")
    assert response.status_code == 200, response.text
    return response.json()


def counts(item):
    names = ("messages", "aligned", "dkimAligned", "spfAligned", "quarantined", "rejected")
    return tuple(item[name] for name in names)


async def test_reports_give_a_series_by_day_host_and_receiver(project, domain, clock):
    records = [
        row(),
        row(count=3, dkim="fail", spf="pass"),
        row("198.51.100.7", 5, "reject", "fail", "fail"),
        row("198.51.100.7", 2, "quarantine", "fail", "fail", "news.example.com"),
    ]
    added = await add(project, domain, gzip.compress(report(*records, begin=begin(clock))))
    assert (added["messages"], added["skipped"], added["duplicate"]) == (22, 0, False)
    await add(project, domain, mailed(report(row(count=100), organization="Yahoo", begin=begin(clock, 3)), "xml"))
    result = await summary(project, domain, days=4)
    assert result["domain"] == "example.com"
    assert counts(result["totals"]) == (122, 115, 112, 3, 2, 5)
    assert [counts(day)[:2] for day in result["days"]] == [(100, 100), (0, 0), (22, 15), (0, 0)]
    assert result["days"][0]["day"] == (clock() - 3 * DAY).date().isoformat()
    assert [(source["sourceIp"], *counts(source)) for source in result["sources"]] == [
        ("192.0.2.10", 115, 115, 112, 3, 0, 0),
        ("198.51.100.7", 7, 0, 0, 0, 2, 5),
    ]
    assert [(entry["organization"], entry["messages"]) for entry in result["organizations"]] == [
        ("Yahoo", 100),
        ("google.com", 22),
    ]
    assert counts((await summary(project, domain, days=3))["totals"])[0] == 22


async def test_a_report_counts_once(project, domain, clock):
    content = report(begin=begin(clock))
    results = await asyncio.gather(*(add(project, domain, content) for _ in range(4)))
    assert sorted(result["duplicate"] for result in results) == [False, True, True, True]
    await add(project, domain, report(begin=begin(clock), organization="Yahoo"))
    await add(project, domain, report(begin=begin(clock), report_id="2"))
    assert counts((await summary(project, domain))["totals"])[0] == 36


async def test_only_records_of_the_domain_and_its_subdomains_count(project, domain, clock):
    news = await add_domain(project, "news.example.com")
    records = [row(), row(count=7, header_from="a.news.example.com"), row(count=9, header_from="example.org")]
    content = report(*records, begin=begin(clock))
    assert (await add(project, domain, content))["messages"] == 19
    assert (await add(project, news, content))["messages"] == 7
    assert (await add(project, news, report(report_id="2", begin=begin(clock))))["messages"] == 0
    shop = await add_domain(project, "notexample.com")
    assert (await add(project, shop, content, 422))["code"] == "dmarc_report_of_other_domain"


async def test_invalid_reports_are_refused_and_add_nothing(project, domain, clock):
    assert (await add(project, domain, b"", 400))["code"] == "invalid"
    assert (await add(project, domain, b"hello", 422))["code"] == "dmarc_report_invalid"
    bomb = gzip.compress(b"<feedback>" + b" " * 30_000_000)
    assert (await add(project, domain, bomb, 413))["code"] == "dmarc_report_too_large"
    assert (await add(project, domain, b"x" * 10_000_001, 413))["status"] == 413
    for days_ago in (402, -3):
        refused = await add(project, domain, report(begin=begin(clock, days_ago)), 422)
        assert refused["code"] == "dmarc_report_out_of_period"
    result = await summary(project, domain, days=400)
    assert (counts(result["totals"])[0], result["sources"], len(result["days"])) == (0, [], 400)


async def test_a_report_with_too_many_rows_adds_nothing(project, domain, clock, monkeypatch):
    monkeypatch.setattr(dmarc_reports, "DMARC_ROWS_PER_DOMAIN", 2)
    await add(project, domain, report(row(), row("192.0.2.11"), begin=begin(clock)))
    content = report(row("192.0.2.12"), report_id="2", begin=begin(clock))
    assert (await add(project, domain, content, 422))["code"] == "too_many_dmarc_rows"
    monkeypatch.setattr(dmarc_reports, "DMARC_ROWS_PER_DOMAIN", 3)
    assert (await add(project, domain, content))["duplicate"] is False, "the refused report was not recorded"


async def test_another_project_and_a_key_without_permission_cannot_use_them(project, new_project, domain, clock):
    other = await new_project()
    content = report(begin=begin(clock))
    path = f"/domains/{domain['id']}"
    assert (await other.client.post(f"{path}/dmarc-reports", content=content)).status_code == 404
    assert (await other.client.get(f"{path}/dmarc")).status_code == 404
    reader = await project.key("domains:read")
    assert (await reader.post(f"{path}/dmarc-reports", content=content)).status_code == 403
    assert (await reader.get(f"{path}/dmarc")).status_code == 200
    assert (await project.client.get(f"{path}/dmarc?days=401")).status_code == 400


async def test_old_data_is_deleted_and_the_data_of_a_deleted_domain_too(project, domain, clock, run_due_work):
    await add(project, domain, report(begin=begin(clock, 399)))
    await add(project, domain, report(report_id="2", begin=begin(clock, 0)))
    await run_due_work()
    assert counts((await summary(project, domain, days=400))["totals"])[0] == 24
    clock.move(2 * DAY)
    await run_due_work()
    result = await summary(project, domain, days=400)
    assert [day["messages"] for day in result["days"] if day["messages"]] == [12]
    await project.client.delete(f"/domains/{domain['id']}")
    again = await add_domain(project)
    assert counts((await summary(project, again))["totals"])[0] == 0


async def test_a_report_for_a_domain_that_was_deleted_is_not_acknowledged(world, project, domain, clock):
    """The function with which a mail server adds the reports that it receives."""
    ids = UUID(project.id), UUID(domain["id"])
    result = await ingest_dmarc_message(world, *ids, mailed(gzip.compress(report(begin=begin(clock)))), BY_PROJECT)
    assert (result.messages, result.duplicate) == (12, False)
    await project.client.delete(f"/domains/{domain['id']}")
    with pytest.raises(Problem):
        await ingest_dmarc_message(world, *ids, report(report_id="2", begin=begin(clock)), BY_PROJECT)
