"""SQL statements of DMARC reports."""

from datetime import date
from typing import Final
from uuid import UUID

from postern.kernel.database.statements import Jsonb, Queries, Transaction, statement
from postern.kernel.values import Moment
from postern.messaging.domains.model import (
    DmarcDay,
    DmarcOrganization,
    DmarcRowCounts,
    DmarcSource,
    StoredDmarcReport,
)

COUNTS: Final = """
    sum(messages)::bigint as messages,
    coalesce(sum(messages) filter (where dkim or spf), 0)::bigint as aligned,
    coalesce(sum(messages) filter (where dkim), 0)::bigint as dkim_aligned,
    coalesce(sum(messages) filter (where spf), 0)::bigint as spf_aligned,
    coalesce(sum(messages) filter (where disposition = 'QUARANTINE'), 0)::bigint as quarantined,
    coalesce(sum(messages) filter (where disposition = 'REJECT'), 0)::bigint as rejected
"""
"""The columns of `DmarcCounts`, as sums over rows of `dmarc_sources`."""


# Insert a report; False if the domain has it already.
@statement("""
    insert into dmarc_reports {row} on conflict do nothing
""")
async def insert_report(tx: Transaction, report: StoredDmarcReport) -> bool: ...


# Whether the domain has a counted report with this organization and id, from the same reporter or from the project
# itself (an empty reporter). If `reporter` is empty, reports from any reporter match.
@statement("""
    select from dmarc_reports
    where project_id = %(project_id)s and domain_id = %(domain_id)s and counted and organization = %(organization)s
      and report_id = %(report_id)s and (%(reporter)s = '' or reporter in ('', %(reporter)s))
    limit 1
""")
async def is_counted(
    tx: Transaction, *, project_id: UUID, domain_id: UUID, reporter: str, organization: str, report_id: str
) -> bool: ...


# The number of reports of a reporter since a time, counted up to `limit`.
@statement("""
    select count(*)::int from (
        select from dmarc_reports
        where project_id = %(project_id)s and domain_id = %(domain_id)s and counted = %(counted)s
          and reporter = %(reporter)s and received_at > %(since)s
        limit %(limit)s
    ) as reports
""")
async def count_reports(
    tx: Transaction, *, project_id: UUID, domain_id: UUID, counted: bool, reporter: str, since: Moment, limit: int
) -> int: ...


# The number of reports since a day whose senders were not authenticated.
@statement("""
    select count(*)::int from dmarc_reports
    where project_id = %(project_id)s and domain_id = %(domain_id)s and not counted and begins >= %(since)s::date
""")
async def count_unauthenticated(db: Queries, *, project_id: UUID, domain_id: UUID, since: date) -> int: ...


# Add numbers of messages to those of a day. `rows` is a list of {source_ip, header_from, disposition, dkim, spf,
# messages}, in which each combination of the first five occurs once.
@statement("""
    insert into dmarc_sources as source (
        project_id, domain_id, day, source_ip, header_from, organization, reporter, disposition, dkim, spf, messages
    )
    select %(project_id)s, %(domain_id)s, %(day)s, added.source_ip, added.header_from, %(organization)s, %(reporter)s,
           added.disposition, added.dkim, added.spf, added.messages
    from jsonb_to_recordset(%(rows)s) as added (
        source_ip inet, header_from text, disposition text, dkim boolean, spf boolean, messages bigint
    )
    order by added.source_ip, added.header_from, added.disposition, added.dkim, added.spf
    on conflict (project_id, domain_id, day, source_ip, header_from, organization, reporter, disposition, dkim, spf)
    do update set messages = source.messages + excluded.messages
""")
async def add_messages(
    tx: Transaction, *, project_id: UUID, domain_id: UUID, day: date, organization: str, reporter: str, rows: Jsonb
) -> None: ...


# The number of rows of a domain, counted up to `limit`, and how many of them are from a reporter.
@statement("""
    select count(*)::int as total, count(*) filter (where counted.reporter = %(reporter)s)::int as of_reporter
    from (
        select reporter from dmarc_sources
        where project_id = %(project_id)s and domain_id = %(domain_id)s limit %(limit)s
    ) as counted
""")
async def count_rows(
    db: Queries, *, project_id: UUID, domain_id: UUID, reporter: str, limit: int
) -> DmarcRowCounts: ...


# Delete the reports, and at most `limit` rows of numbers, from before the day `before`.
@statement("""
    with reports as (
        delete from dmarc_reports
        where project_id = %(project_id)s and domain_id = %(domain_id)s and begins < %(before)s
    )
    delete from dmarc_sources as source using (
        select /*single*/ctid/*end*/
        /*distributed day, source_ip, header_from, organization, reporter, disposition, dkim,
               spf */ from dmarc_sources
        where project_id = %(project_id)s and domain_id = %(domain_id)s and day < %(before)s limit %(limit)s
    ) as old
    where source.project_id = %(project_id)s and /*single*/source.ctid = old.ctid/*end*/
      /*distributed source.domain_id = %(domain_id)s and (source.day, source.source_ip, source.header_from,
          source.organization, source.reporter, source.disposition, source.dkim, source.spf) = (old.day, old.source_ip,
          old.header_from, old.organization, old.reporter, old.disposition, old.dkim, old.spf) */
""")
async def delete_expired(tx: Transaction, *, project_id: UUID, domain_id: UUID, before: date, limit: int) -> None: ...


@statement(f"""
    select day, {COUNTS}
    from dmarc_sources
    where project_id = %(project_id)s and domain_id = %(domain_id)s and day >= %(since)s
    group by day order by day
""")
async def days(db: Queries, *, project_id: UUID, domain_id: UUID, since: date) -> list[DmarcDay]: ...


# The hosts with the most messages.
@statement(f"""
    select host(source_ip) as source_ip, {COUNTS},
           max(day) as last_day
    from dmarc_sources
    where project_id = %(project_id)s and domain_id = %(domain_id)s and day >= %(since)s
    group by dmarc_sources.source_ip order by messages desc, dmarc_sources.source_ip limit %(limit)s
""")
async def sources(db: Queries, *, project_id: UUID, domain_id: UUID, since: date, limit: int) -> list[DmarcSource]: ...


# The receivers that reported the most messages.
@statement(f"""
    select organization, nullif(reporter, '') as reporter, {COUNTS},
           max(day) as last_day
    from dmarc_sources
    where project_id = %(project_id)s and domain_id = %(domain_id)s and day >= %(since)s
    group by organization, dmarc_sources.reporter order by messages desc, organization, reporter limit %(limit)s
""")
async def organizations(
    db: Queries, *, project_id: UUID, domain_id: UUID, since: date, limit: int
) -> list[DmarcOrganization]: ...
