"""DMARC reports that arrive by SMTP: whose reports are counted, and how many."""

from datetime import timedelta
from email.message import EmailMessage

import pytest

from postern.messaging.domains import dmarc_reports
from tests.messaging.domains.test_dmarc_reports import begin
from tests.messaging.inbound.test_messages import deliver, domain, listed, new_route, port, settings
from tests.protocols.mail.test_dmarc_report import report as dmarc_report
from tests.protocols.mail.test_dmarc_report import row

__all__ = ["domain", "port", "settings"]
OWN = "v=spf1 ip4:127.0.0.1 -all"
"""The record of a domain whose mail comes from the tests."""


@pytest.fixture
async def owner(project, domain, zone):
    await new_route(project, f"dmarc@{domain}")
    for name in ("google.com", "evil.example", "gmail.com"):
        zone.set(name, "TXT", OWN)
    zone.set("bank.example", "TXT", "v=spf1 -all")
    zone.set("_dmarc.bank.example", "TXT", "v=DMARC1; p=reject")
    (domain_before,) = [row for row in (await project.client.get("/domains")).json() if row["domain"] == domain]
    return domain_before


@pytest.fixture
def send(port, domain, clock, owner):
    async def send(
        author="dmarc@google.com", mail_from=None, count=12, organization="google.com", report_id="1", days=1
    ):
        message = EmailMessage()
        message["From"], message["Subject"] = author, f"Report {report_id}"
        message.set_content("This is an aggregate report.")
        start = begin(clock, days)
        content = dmarc_report(
            row(header_from=domain, count=count),
            begin=start,
            domain=domain,
            organization=organization,
            report_id=report_id,
        )
        name = f"{organization}!{domain}!{start}!{start + 86_399}.xml"
        message.add_attachment(content, maintype="application", subtype="xml", filename=name)
        raw = message.as_bytes().replace(b"\n", b"\r\n")
        assert await deliver(port, [f"dmarc@{domain}"], raw, mail_from or author) == ([250], 250)
        return content

    return send


async def summary(project, owner):
    return (await project.client.get(f"/domains/{owner['id']}/dmarc")).json()


def organizations(result):
    return [(entry["organization"], entry["reporter"], entry["messages"]) for entry in result["organizations"]]


async def test_a_report_of_an_authenticated_sender_counts_once(project, owner, send):
    await send()
    await send(author="other@google.com")
    await send(author="dmarc@reports.google.com", mail_from="bounce@google.com")
    result = await summary(project, owner)
    assert organizations(result) == [("google.com", "google.com", 12)]
    assert result["unauthenticated"] == 0


@pytest.mark.parametrize(
    ("author", "mail_from"),
    [
        ("dmarc@google.com", "evil@evil.example"),
        ("dmarc@bank.example", "evil@evil.example"),
        ("dmarc@bank.example", "dmarc@bank.example"),
        ("dmarc@google.com, evil@evil.example", "evil@evil.example"),
        ("dmarc@google.com", "evil@xgoogle.com"),
        ("dmarc-reports@gmail.com", "dmarc-reports@gmail.com"),
        ("google.com", "evil@evil.example"),
    ],
)
async def test_a_forged_report_is_kept_and_not_counted(project, owner, send, author, mail_from):
    await send(author, mail_from, count=1_000_000)
    result = await summary(project, owner)
    assert (result["totals"]["messages"], result["unauthenticated"]) == (0, 1)
    assert len(await listed(project)) == 1
    await send()
    assert organizations(await summary(project, owner)) == [("google.com", "google.com", 12)], (
        "a forged report does not take the place of one with the same organization and id"
    )


async def test_the_name_of_another_receiver_is_shown_with_who_sent_it(project, owner, send):
    await send("x@evil.example", count=7)
    await send()
    assert organizations(await summary(project, owner)) == [
        ("google.com", "google.com", 12),
        ("google.com", "evil.example", 7),
    ]


async def test_a_mailbox_provider_reports_from_its_own_addresses(project, owner, send):
    await send("postmaster@gmail.com", organization="gmail.com")
    assert organizations(await summary(project, owner)) == [("gmail.com", "gmail.com", 12)]


async def test_the_project_can_add_what_was_not_authenticated_once(project, owner, send):
    content = await send("dmarc@google.com", "evil@evil.example")
    for is_duplicate in (False, True):
        added = await project.client.post(f"/domains/{owner['id']}/dmarc-reports", content=content)
        assert added.json()["duplicate"] is is_duplicate
    await send()
    result = await summary(project, owner)
    assert organizations(result) == [("google.com", None, 12)]


async def test_a_report_that_arrived_by_mail_is_not_added_again(project, owner, send):
    content = await send()
    added = await project.client.post(f"/domains/{owner['id']}/dmarc-reports", content=content)
    assert added.json()["duplicate"] is True


async def test_reports_of_one_reporter_and_of_the_unknown_are_limited_by_day(project, owner, send, monkeypatch, clock):
    monkeypatch.setattr(dmarc_reports, "DMARC_REPORTS_PER_DAY", 2)
    for number in range(4):
        await send("x@evil.example", report_id=f"e{number}", organization=f"o{number}")
        await send("x@bank.example", report_id=f"b{number}")
    await send()
    result = await summary(project, owner)
    assert (result["totals"]["messages"], result["unauthenticated"]) == (3 * 12, 2)
    clock.move(timedelta(days=1, seconds=1))
    await send("x@evil.example", report_id="e9")
    assert (await summary(project, owner))["totals"]["messages"] == 4 * 12


async def test_one_reporter_leaves_rows_for_the_others(project, owner, send, monkeypatch):
    monkeypatch.setattr(dmarc_reports, "DMARC_ROWS_PER_REPORTER", 2)
    for number in range(4):
        await send("x@evil.example", report_id=f"e{number}", organization=f"o{number}")
    await send()
    assert (await summary(project, owner))["totals"]["messages"] == 3 * 12
