"""SQL statements on the results of TLS connections to recipients' mail servers, and on the reports about them, which
belong to no project."""

from datetime import date
from typing import Literal
from uuid import UUID

from postern.kernel.database.statements import Jsonb, Queries, statement
from postern.kernel.values import Moment, Record
from postern.protocols.mail.tls_report import TlsResult

ReportStatus = Literal["WAITING", "SENT", "NOT_WANTED", "FAILED", "OFF"]
"""SENT: at least one address got it. NOT_WANTED: the domain asks for no reports. OFF: this server does
not send it, because it sends no reports or enough others about that day and registered domain."""


class CountedResult(TlsResult, frozen=True, kw_only=True):
    """A number of sessions with the same result, as it is added to the table."""

    day: date
    domain: str
    key: str
    """A hash of the other fields except `sessions`, in hexadecimal."""


class DueTlsReport(Record):
    """A row of `tls_reports` that is being sent."""

    id: UUID
    day: date
    domain: str
    sent_to: list[str]
    refused_by: list[str]
    attempt: int


# Add sessions to their counters. New counters of a domain and a day are left out beyond `limit`.
@statement("""
    insert into tls_results (
        day, domain, key, policy_type, policy_domain, policy_lines, policy_mx, result, sending_ip, receiving_mx,
        receiving_ip, reason, sessions
    )
    select day, domain, decode(key, 'hex'), policy_type, policy_domain, policy_lines, policy_mx, result, sending_ip,
           receiving_mx, receiving_ip, reason, sessions
    from (
        select *, row_number() over (partition by day, domain order by key) as number
        from jsonb_to_recordset(%(rows)s) as v (
            day date, domain text, key text, policy_type text, policy_domain text, policy_lines text[],
            policy_mx text[], result text, sending_ip text, receiving_mx text, receiving_ip text, reason text,
            sessions bigint
        )
    ) as new
    where exists (
        select from tls_results as old
        where (old.day, old.domain, old.key) = (new.day, new.domain, decode(new.key, 'hex'))
    ) or number + (
        select count(*) from tls_results as old where (old.day, old.domain) = (new.day, new.domain)
    ) <= %(limit)s
    order by day, domain, key
    on conflict (day, domain, key) do update set sessions = tls_results.sessions + excluded.sessions
""")
async def add_results(db: Queries, *, rows: Jsonb, limit: int) -> None: ...


# Add a report for each pair of day and domain that has none.
@statement("""
    insert into tls_reports (id, day, domain, due_at)
    select * from unnest(%(ids)s::uuid[], %(days)s::date[], %(domains)s::text[], %(due_at)s::timestamptz[])
    order by 2, 3
    on conflict (day, domain) do nothing
""")
async def add_reports(
    db: Queries, *, ids: list[UUID], days: list[date], domains: list[str], due_at: list[Moment]
) -> None: ...


@statement("""
    select policy_type, policy_domain, policy_lines, policy_mx, result, sending_ip, receiving_mx, receiving_ip, reason,
           sessions
    from tls_results where day = %(day)s and domain = %(domain)s order by key
""")
async def results_of(db: Queries, *, day: date, domain: str) -> list[TlsResult]: ...


# The number of reports about a day, and about a registered domain or a domain below it, that were added before the
# report `id`. Reports that are not sent are not counted.
@statement("""
    select count(*)::int from tls_reports
    where day = %(day)s and id < %(id)s and status not in ('NOT_WANTED', 'OFF')
          and (domain = %(registered)s or right(domain, length(%(registered)s) + 1) = '.' || %(registered)s)
""")
async def count_earlier(db: Queries, *, id: UUID, day: date, registered: str) -> int: ...


# Record which addresses have got or refused the report; False if a later attempt has begun.
@statement("""
    update tls_reports set sent_to = %(sent_to)s, refused_by = %(refused_by)s
    where id = %(id)s and instance_id = '00000000-0000-0000-0000-000000000000' and attempt = %(attempt)s
""")
async def record_addresses(
    db: Queries, *, id: UUID, attempt: int, sent_to: list[str], refused_by: list[str]
) -> bool: ...


# Settle an attempt: the report is finished if `due_at` is None. Changes nothing if a later attempt has begun.
@statement("""
    update tls_reports set status = %(status)s, note = %(note)s, due_at = %(due_at)s, finished_at = %(finished_at)s
    where id = %(id)s and instance_id = '00000000-0000-0000-0000-000000000000' and attempt = %(attempt)s
""")
async def settle_report(
    db: Queries,
    *,
    id: UUID,
    attempt: int,
    status: ReportStatus,
    note: str,
    due_at: Moment | None,
    finished_at: Moment | None,
) -> None: ...


# Delete up to `limit` results of days before `before`; False if there are none.
@statement("""
    delete from tls_results where ctid = any (array(
        select ctid from tls_results where day < %(before)s limit %(limit)s for update skip locked
    ))
""")
async def delete_old_results(db: Queries, *, before: date, limit: int) -> bool: ...


# Delete up to `limit` finished reports about days before `before`; False if there are none.
@statement("""
    delete from tls_reports where ctid = any (array(
        select ctid from tls_reports where day < %(before)s and due_at is null limit %(limit)s for update skip locked
    ))
""")
async def delete_old_reports(db: Queries, *, before: date, limit: int) -> bool: ...
