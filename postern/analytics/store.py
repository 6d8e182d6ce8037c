"""SQL of statistics."""

from datetime import date, datetime
from uuid import UUID

from postern.kernel.database import Queries, statement
from postern.kernel.values import Record


class Sum(Record):
    """A measure of a period."""

    measure: str
    count: int


class DaySum(Record):
    """A measure of one day."""

    day: date
    measure: str
    count: int


class DomainSum(Record):
    """A measure of one domain."""

    domain_id: UUID
    measure: str
    count: int


@statement("""
    select measure, sum(count)::bigint as count from send_rollups
    where project_id = %(project_id)s and (%(since)s::timestamptz is null or bucket >= %(since)s)
    group by measure
""")
async def totals(db: Queries, *, project_id: UUID, since: datetime | None) -> list[Sum]: ...


@statement("""
    select (bucket at time zone %(zone)s)::date as day, measure, sum(count)::bigint as count from send_rollups
    where project_id = %(project_id)s and bucket >= %(begins)s and bucket < %(ends)s
      and (%(campaign_id)s::uuid is null or campaign_id = %(campaign_id)s)
    group by 1, 2
""")
async def days(
    db: Queries, *, project_id: UUID, zone: str, begins: datetime, ends: datetime, campaign_id: UUID | None
) -> list[DaySum]: ...


@statement("""
    select domain_id, measure, sum(count)::bigint as count from send_rollups
    where project_id = %(project_id)s and bucket >= %(begins)s and bucket < %(ends)s
      and (%(campaign_id)s::uuid is null or campaign_id = %(campaign_id)s)
    group by 1, 2
""")
async def domains(
    db: Queries, *, project_id: UUID, begins: datetime, ends: datetime, campaign_id: UUID | None
) -> list[DomainSum]: ...


@statement("""
    select measure, sum(count)::bigint as count from contact_rollups
    where project_id = %(project_id)s and (%(since)s::date is null or day >= %(since)s)
    group by measure
""")
async def contacts(db: Queries, *, project_id: UUID, since: date | None) -> list[Sum]: ...
