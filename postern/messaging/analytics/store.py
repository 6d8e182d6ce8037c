"""SQL statements of statistics."""

from datetime import date, datetime
from typing import LiteralString
from uuid import UUID

from postern.kernel.database.statements import Queries, statement
from postern.kernel.values import Record


class MetricSum(Record):
    """The sum of one contact counter, such as `unsubscribed`, over a period."""

    measure: str
    count: int


class SendSums(Record):
    """The sums of the send counters over a period."""

    accepted: int
    """Sends that were created."""
    sent: int
    delivered: int
    opened: int
    """Messages that a person opened."""
    clicked: int
    """Messages in which a person clicked."""
    opened_by_any: int
    """Messages that a person or a machine opened."""
    clicked_by_any: int
    """Messages in which a person or a machine clicked."""
    bounced: int
    complained: int
    failed: int


class DaySums(SendSums):
    """The sums of one day; `day` is its number in the period, from 1."""

    day: int


class DomainSums(SendSums):
    """The sums of one sending domain."""

    domain_id: UUID


SUM_COLUMNS: LiteralString = """
    coalesce(sum(accepted), 0)::bigint as accepted, coalesce(sum(sent), 0)::bigint as sent,
    coalesce(sum(delivered), 0)::bigint as delivered, coalesce(sum(opened), 0)::bigint as opened,
    coalesce(sum(clicked), 0)::bigint as clicked, coalesce(sum(open_touched), 0)::bigint as opened_by_any,
    coalesce(sum(click_touched), 0)::bigint as clicked_by_any, coalesce(sum(bounced), 0)::bigint as bounced,
    coalesce(sum(complained), 0)::bigint as complained, coalesce(sum(failed), 0)::bigint as failed
"""


# The sums of a project's send counters since a time. Without `since`, the sums of all time, which are in the rows whose
# bucket is -infinity. The rows of the whole project have the zero UUID as their campaign.
@statement(
    "select"
    + SUM_COLUMNS
    + """
    from send_rollups
    where project_id = %(project_id)s and campaign_id = '00000000-0000-0000-0000-000000000000'
      and bucket >= coalesce(%(since)s::timestamptz, '-infinity')
      and bucket <= case when %(since)s::timestamptz is null then timestamptz '-infinity' else 'infinity' end
"""
)
async def totals(db: Queries, *, project_id: UUID, since: datetime | None) -> SendSums: ...


SUMS_OF_PERIOD = (
    SUM_COLUMNS
    + """
    from send_rollups
    where project_id = %(project_id)s and bucket >= %(begins)s and bucket < %(ends)s
      and campaign_id = coalesce(%(campaign_id)s::uuid, '00000000-0000-0000-0000-000000000000')
    group by 1
"""
)


# The sums of each day with sends, from `begins` to `ends`. `midnights` are the starts of all its days, in ascending
# order. Without `campaign_id`, all sends of the project count.
@statement("select width_bucket(bucket, %(midnights)s::timestamptz[]) as day," + SUMS_OF_PERIOD)
async def days(
    db: Queries,
    *,
    project_id: UUID,
    midnights: list[datetime],
    begins: datetime,
    ends: datetime,
    campaign_id: UUID | None,
) -> list[DaySums]: ...


# The sums of each sending domain with sends, from `begins` to `ends`; without `campaign_id`, all sends count.
@statement("select domain_id," + SUMS_OF_PERIOD)
async def domains(
    db: Queries, *, project_id: UUID, begins: datetime, ends: datetime, campaign_id: UUID | None
) -> list[DomainSums]: ...


# Concurrent writers count in rows with different `slot`, so that they do not wait for each other. Merge up to `limit`
# of these rows, whose quarter of an hour began before a time, into slot 0 of the same quarter; returns whether any were
# merged. Deletes and inserts in one statement, so that a reader sees either the separate rows or the merged row.
@statement("""
    with /*single*/separate as materialized (
        select project_id, campaign_id, bucket, domain_id, slot from send_rollups
        where slot <> 0 and bucket > '-infinity' and bucket < %(before)s
        order by bucket limit %(limit)s for update skip locked
    ), deleted as (
        delete from send_rollups as r using separate
        where (r.project_id, r.campaign_id, r.bucket, r.domain_id, r.slot)
            = (separate.project_id, separate.campaign_id, separate.bucket, separate.domain_id, separate.slot)
        returning r.*
    )/*end*/
    /*distributed deleted as (
        delete from send_rollups where slot <> 0 and bucket > '-infinity' and bucket < %(before)s and bucket <= (
            select max(bucket) from (
                select bucket from send_rollups where slot <> 0 and bucket > '-infinity' and bucket < %(before)s
                order by bucket limit %(limit)s) as first)
        returning *
    ) */
    insert into send_rollups as merged (project_id, campaign_id, bucket, domain_id, slot, accepted, sent, delivered,
                                       opened, clicked, open_touched, click_touched, bounced, complained, failed)
    select project_id, campaign_id, bucket, domain_id, 0, sum(accepted), sum(sent), sum(delivered), sum(opened),
           sum(clicked), sum(open_touched), sum(click_touched), sum(bounced), sum(complained), sum(failed)
    from deleted group by 1, 2, 3, 4 order by 1, 2, 3, 4
    on conflict (project_id, campaign_id, bucket, domain_id, slot) do update set
        accepted = merged.accepted + excluded.accepted, sent = merged.sent + excluded.sent,
        delivered = merged.delivered + excluded.delivered, opened = merged.opened + excluded.opened,
        clicked = merged.clicked + excluded.clicked, open_touched = merged.open_touched + excluded.open_touched,
        click_touched = merged.click_touched + excluded.click_touched, bounced = merged.bounced + excluded.bounced,
        complained = merged.complained + excluded.complained, failed = merged.failed + excluded.failed
""")
async def merge_sums(db: Queries, *, before: datetime, limit: int) -> bool: ...


# The sums of a project's contact counters since a day, or of all time.
@statement("""
    select measure, sum(count)::bigint as count from contact_rollups
    where project_id = %(project_id)s and (%(since)s::date is null or day >= %(since)s)
    group by measure
""")
async def contacts(db: Queries, *, project_id: UUID, since: date | None) -> list[MetricSum]: ...
