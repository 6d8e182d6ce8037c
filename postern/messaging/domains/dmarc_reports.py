"""DMARC aggregate reports of domains: parse and store them, and sum them up by day, host and receiver."""

import asyncio
from collections import Counter
from collections.abc import Sequence
from datetime import timedelta
from typing import TYPE_CHECKING, NamedTuple
from uuid import UUID

from postern.kernel.database.statements import Jsonb, Transaction
from postern.kernel.http.call import Call
from postern.kernel.http.operation import RawRequest, get, post
from postern.kernel.http.problems import Invalid, require_found
from postern.kernel.values import Moment
from postern.messaging.domains import dmarc_store, store
from postern.messaging.domains.model import (
    DMARC_ORGANIZATIONS_SHOWN,
    DMARC_REPORTS_PER_DAY,
    DMARC_RETENTION,
    DMARC_ROWS_PER_DOMAIN,
    DMARC_ROWS_PER_REPORTER,
    DMARC_SOURCES_SHOWN,
    DmarcCounts,
    DmarcDay,
    DmarcDays,
    DmarcReportOfOtherDomain,
    DmarcReportOutOfPeriod,
    DmarcReportResult,
    DmarcSummary,
    DomainMissing,
    StoredDmarcReport,
    TooManyDmarcReports,
    TooManyDmarcRows,
)
from postern.protocols.mail.dkim_verification import DkimVerdict
from postern.protocols.mail.dmarc_report import (
    REPORT_OCTETS,
    DmarcReport,
    DmarcReportInvalid,
    DmarcReportTooLarge,
    DmarcRow,
    read_report,
)
from postern.protocols.mail.mailbox_providers import mailbox_provider_domains
from postern.protocols.mail.message_authentication import MessageAuthentication
from postern.protocols.mail.public_suffixes import registered_domain
from postern.protocols.mail.spf import SpfVerdict

if TYPE_CHECKING:
    from postern.world import World

CLOCK_DIFFERENCE = timedelta(days=2)
"""The period of a report may begin this far in the future, because clocks differ."""
PROVIDER_ROLES = frozenset(("abuse", "postmaster"))
"""Local parts at the domain of a mailbox provider that belong to the provider (RFC 2142)."""

RowKey = tuple[str, str, str, bool, bool]
"""The host, the domain in `From`, the disposition, and whether DKIM and SPF passed."""


@post(
    "/projects/{project_id}/domains/{id}/dmarc-reports",
    needs="domains:write",
    body_limit=REPORT_OCTETS,
    takes="application/octet-stream",
    problems=(
        DomainMissing,
        DmarcReportInvalid,
        DmarcReportOfOtherDomain,
        DmarcReportOutOfPeriod,
        DmarcReportTooLarge,
        TooManyDmarcRows,
    ),
)
async def add_dmarc_report(call: Call, id: UUID, request: RawRequest) -> DmarcReportResult:
    """Add a DMARC aggregate report (RFC 9990, RFC 7489): the body is the report as XML, gzip or zip file, or the e-mail
    (RFC 5322) to which it is attached.

    Only records of this domain and its subdomains are counted. A report is not counted again if the domain already has
    one with the same organization and id, so requests can be repeated. The data is kept for 400 days.
    """
    body = await request.body()
    if not body:
        raise Invalid.at("", "The body is missing: send the report.", "required")
    return await ingest_dmarc_message(call.world, call.project_id, id, body, BY_PROJECT)


@get("/projects/{project_id}/domains/{id}/dmarc", needs="domains:read", problems=(DomainMissing,))
async def get_dmarc_summary(call: Call, id: UUID, days: DmarcDays = 30) -> DmarcSummary:
    """Get what receivers reported about the mail of a domain, by day, by host and by receiver.

    The numbers come from the reports that were added, and from those that arrived by e-mail from authenticated senders.
    Receivers send them once a day, and not all receivers do.
    """
    domain = require_found(await store.get_domain(call.db, project_id=call.project_id, id=id), DomainMissing)
    today = call.now.date()
    since = today - timedelta(days=days - 1)
    ids = {"project_id": call.project_id, "domain_id": id}
    rows = await dmarc_store.days(call.db, since=since, **ids)
    by_day = {row.day: row for row in rows}
    return DmarcSummary(
        domain=domain.domain,
        totals=DmarcCounts(**_sums(rows)),
        days=[
            by_day.get(day) or DmarcDay(day=day, **_sums([]))
            for day in (since + timedelta(days=index) for index in range(days))
        ],
        sources=await dmarc_store.sources(call.db, since=since, limit=DMARC_SOURCES_SHOWN, **ids),
        organizations=await dmarc_store.organizations(call.db, since=since, limit=DMARC_ORGANIZATIONS_SHOWN, **ids),
        unauthenticated=await dmarc_store.count_unauthenticated(call.db, since=since, **ids),
    )


def _sums(rows: Sequence[DmarcCounts]) -> dict[str, int]:
    return {name: sum(getattr(row, name) for row in rows) for name in DmarcCounts.__struct_fields__}


class ReportSender(NamedTuple):
    """The sender of a report."""

    is_authenticated: bool
    reporter: str
    """The registered domain for which the e-mail was authenticated; empty if it is not, and if the project added the
    report itself."""


BY_PROJECT = ReportSender(is_authenticated=True, reporter="")
UNAUTHENTICATED = ReportSender(is_authenticated=False, reporter="")


def sender_of(authentication: MessageAuthentication, authors: Sequence[str]) -> ReportSender:
    """The sender of an e-mail with a report, whose addresses in `From` are `authors`.

    It is authenticated if it has one author, and DMARC passes or, for a domain without DMARC record, SPF or DKIM passes
    for a domain of the same registered domain. At a public mailbox provider anyone can get an address, so there only
    the addresses of the provider itself are authenticated (PROVIDER_ROLES).
    """
    domain = authentication.dmarc.domain
    if len(authors) != 1 or not domain:
        return UNAUTHENTICATED
    if domain in mailbox_provider_domains() and authors[0].rpartition("@")[0].lower() not in PROVIDER_ROLES:
        return UNAUTHENTICATED
    organization = registered_domain(domain)
    passed = {result.domain.lower() for result in authentication.dkim if result.verdict is DkimVerdict.PASS}
    if authentication.spf.verdict is SpfVerdict.PASS:
        passed.add(authentication.spf_domain)
    is_authenticated = authentication.dmarc.verdict == "pass" or (
        authentication.dmarc.verdict == "none" and organization in {registered_domain(name) for name in passed}
    )
    return ReportSender(is_authenticated=True, reporter=organization) if is_authenticated else UNAUTHENTICATED


async def ingest_dmarc_message(
    world: "World", project_id: UUID, domain_id: UUID, content: bytes, sender: ReportSender
) -> DmarcReportResult:
    """Parse a report and store it; if `sender` is authenticated, also add its numbers to those of the domain.

    `content` is the report as a file, or the e-mail with it. The report is committed before this returns. Raises
    DomainMissing, DmarcReportInvalid, DmarcReportTooLarge, DmarcReportOfOtherDomain, DmarcReportOutOfPeriod,
    TooManyDmarcReports or TooManyDmarcRows; then nothing is stored.
    """
    report = await asyncio.to_thread(read_report, content)
    domain = require_found(await store.get_domain(world.db, project_id=project_id, id=domain_id), DomainMissing)
    now = world.clock()
    if not now - DMARC_RETENTION <= report.begins <= now + CLOCK_DIFFERENCE:
        raise DmarcReportOutOfPeriod
    rows = _rows_of(report, domain.domain)
    stored = StoredDmarcReport(
        project_id=project_id,
        domain_id=domain_id,
        counted=sender.is_authenticated,
        reporter=sender.reporter,
        organization=report.organization,
        report_id=report.report_id,
        email=report.email,
        begins=Moment.of(report.begins),
        ends=Moment.of(report.ends),
        policy_domain=report.domain,
        policy=report.policy,
        messages=sum(rows.values()),
        received_at=now,
    )
    async with world.db.transaction() as tx:
        # The lock also prevents a concurrent deletion of the domain.
        require_found(await store.lock_domain(tx, project_id=project_id, id=domain_id), DomainMissing)
        is_new = await _add(tx, stored, rows)
    return DmarcReportResult(
        organization=report.organization,
        report_id=report.report_id,
        begins=stored.begins,
        ends=stored.ends,
        messages=stored.messages,
        skipped=report.skipped + sum(not _is_within(row.header_from, domain.domain) for row in report.rows),
        duplicate=not is_new,
    )


async def _add(tx: Transaction, report: StoredDmarcReport, rows: Counter[RowKey]) -> bool:
    """Store a report and, if its sender is authenticated, its numbers. The caller has locked the domain.

    Returns False, and stores nothing, if the domain has the report already. Raises TooManyDmarcReports or
    TooManyDmarcRows.
    """
    ids = {"project_id": report.project_id, "domain_id": report.domain_id}
    reporter = report.reporter
    if report.counted and await dmarc_store.is_counted(
        tx, reporter=reporter, organization=report.organization, report_id=report.report_id, **ids
    ):
        return False
    if reporter or not report.counted:
        since, limit = report.received_at - timedelta(days=1), DMARC_REPORTS_PER_DAY
        if limit <= await dmarc_store.count_reports(
            tx, counted=report.counted, reporter=reporter, since=since, limit=limit, **ids
        ):
            raise TooManyDmarcReports
    is_new = await dmarc_store.insert_report(tx, report)
    if is_new and report.counted:
        counts = await dmarc_store.count_rows(tx, reporter=reporter, limit=DMARC_ROWS_PER_DOMAIN, **ids)
        if counts.total + len(rows) > DMARC_ROWS_PER_DOMAIN:
            raise TooManyDmarcRows
        if reporter and counts.of_reporter + len(rows) > DMARC_ROWS_PER_REPORTER:
            raise TooManyDmarcRows
        encoded = Jsonb(
            [
                {
                    "source_ip": ip,
                    "header_from": name,
                    "disposition": disposition,
                    "dkim": dkim,
                    "spf": spf,
                    "messages": n,
                }
                for (ip, name, disposition, dkim, spf), n in rows.items()
            ]
        )
        await dmarc_store.add_messages(
            tx, day=report.begins.date(), organization=report.organization, reporter=reporter, rows=encoded, **ids
        )
    return is_new


def _rows_of(report: DmarcReport, domain: str) -> Counter[RowKey]:
    """The numbers of messages of a domain and its subdomains in a report.

    A report about the organizational domain contains the mail of its subdomains, too. Raises DmarcReportOfOtherDomain.
    """
    rows: Counter[RowKey] = Counter()
    if not _is_within(report.domain, domain) and not _is_within(domain, report.domain):
        raise DmarcReportOfOtherDomain(f"This report is about {report.domain}.")
    for row in report.rows:
        if _is_within(row.header_from, domain):
            rows[_key(row)] += row.messages
    return rows


def _key(row: DmarcRow) -> RowKey:
    return row.source_ip, row.header_from, row.disposition, row.dkim, row.spf


def _is_within(name: str, domain: str) -> bool:
    """Whether a name is this domain or a subdomain of it."""
    return name == domain or name.endswith(f".{domain}")
