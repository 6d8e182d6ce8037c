"""SQL statements of statistics."""

from datetime import date, datetime
from typing import LiteralString
from uuid import UUID

from postern.kernel.database.statements import Queries, statement
from postern.kernel.values import Record


class MetricSum(Record):
    """The sum of one counter over a period."""

    measure: str
    count: int


class SendSums(Record):
    """The sums of the send counters over a period."""

    accepted: int
    sent: int
    delivered: int
    opened: int
    clicked: int
    open_touched: int
    click_touched: int
    bounced: int
    complained: int
    failed: int


class DaySums(SendSums):
    """The sums of one day; `day` is its number in the period, from 1."""

    day: int


class DomainSums(SendSums):
    """The sums of one sending domain."""

    domain_id: UUID


MEASURES: LiteralString = """
    coalesce(sum(accepted), 0)::bigint as accepted, coalesce(sum(sent), 0)::bigint as sent,
    coalesce(sum(delivered), 0)::bigint as delivered, coalesce(sum(opened), 0)::bigint as opened,
    coalesce(sum(clicked), 0)::bigint as clicked, coalesce(sum(open_touched), 0)::bigint as open_touched,
    coalesce(sum(click_touched), 0)::bigint as click_touched, coalesce(sum(bounced), 0)::bigint as bounced,
    coalesce(sum(complained), 0)::bigint as complained, coalesce(sum(failed), 0)::bigint as failed
"""


# Without `since`, the row of all time is read: its bucket is -infinity.
@statement(
    "select"
    + MEASURES
    + """
    from send_rollups
    where project_id = %(project_id)s and campaign_id = '00000000-0000-0000-0000-000000000000'
      and bucket >= coalesce(%(since)s::timestamptz, '-infinity')
      and bucket <= case when %(since)s::timestamptz is null then timestamptz '-infinity' else 'infinity' end
"""
)
async def totals(db: Queries, *, project_id: UUID, since: datetime | None) -> SendSums: ...


@statement(
    "select width_bucket(bucket, %(midnights)s::timestamptz[]) as day,"
    + MEASURES
    + """
    from send_rollups
    where project_id = %(project_id)s and bucket >= %(begins)s and bucket < %(ends)s
      and campaign_id = coalesce(%(campaign_id)s::uuid, '00000000-0000-0000-0000-000000000000')
    group by 1
"""
)
async def days(
    db: Queries,
    *,
    project_id: UUID,
    midnights: list[datetime],
    begins: datetime,
    ends: datetime,
    campaign_id: UUID | None,
) -> list[DaySums]: ...


@statement(
    "select domain_id,"
    + MEASURES
    + """
    from send_rollups
    where project_id = %(project_id)s and bucket >= %(begins)s and bucket < %(ends)s
      and campaign_id = coalesce(%(campaign_id)s::uuid, '00000000-0000-0000-0000-000000000000')
    group by 1
"""
)
async def domains(
    db: Queries, *, project_id: UUID, begins: datetime, ends: datetime, campaign_id: UUID | None
) -> list[DomainSums]: ...


# Deletes and inserts in one statement, so that a concurrent reader sees either the separate rows or the merged row.
@statement("""
    with loose as materialized (
        select project_id, campaign_id, bucket, domain_id, slot from send_rollups
        where slot <> 0 and bucket > '-infinity' and bucket < %(before)s
        order by bucket limit %(limit)s for update skip locked
    ), gone as (
        delete from send_rollups as r using loose
        where (r.project_id, r.campaign_id, r.bucket, r.domain_id, r.slot)
            = (loose.project_id, loose.campaign_id, loose.bucket, loose.domain_id, loose.slot)
        returning r.*
    )
    insert into send_rollups as whole (project_id, campaign_id, bucket, domain_id, slot, accepted, sent, delivered,
                                       opened, clicked, open_touched, click_touched, bounced, complained, failed)
    select project_id, campaign_id, bucket, domain_id, 0, sum(accepted), sum(sent), sum(delivered), sum(opened),
           sum(clicked), sum(open_touched), sum(click_touched), sum(bounced), sum(complained), sum(failed)
    from gone group by 1, 2, 3, 4 order by 1, 2, 3, 4
    on conflict (project_id, campaign_id, bucket, domain_id, slot) do update set
        accepted = whole.accepted + excluded.accepted, sent = whole.sent + excluded.sent,
        delivered = whole.delivered + excluded.delivered, opened = whole.opened + excluded.opened,
        clicked = whole.clicked + excluded.clicked, open_touched = whole.open_touched + excluded.open_touched,
        click_touched = whole.click_touched + excluded.click_touched, bounced = whole.bounced + excluded.bounced,
        complained = whole.complained + excluded.complained, failed = whole.failed + excluded.failed
""")
async def merge_sums(db: Queries, *, before: datetime, limit: int) -> bool: ...


@statement("""
    select measure, sum(count)::bigint as count from contact_rollups
    where project_id = %(project_id)s and (%(since)s::date is null or day >= %(since)s)
    group by measure
""")
async def contacts(db: Queries, *, project_id: UUID, since: date | None) -> list[MetricSum]: ...
