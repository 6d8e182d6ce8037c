"""SQL statements of tracking hits."""

from uuid import UUID

from postern.kernel.database.statements import Queries, Transaction, statement
from postern.kernel.values import Moment
from postern.messaging.tracking.model import RecentClick, StoredHit, TrackingHit
from postern.platform.projects.archive import ArchivedRow


# Insert hits with their classification.
@statement("""
    insert into tracking_hits (project_id, id, send_id, kind, url, verdict, reason, ip_address, user_agent, occurred_at)
    select * from unnest(%(project_id)s::uuid[], %(id)s::uuid[], %(send_id)s::uuid[], %(kind)s::text[], %(url)s::text[],
                         %(verdict)s::text[], %(reason)s::text[], %(ip_address)s::text[], %(user_agent)s::text[],
                         %(occurred_at)s::timestamptz[])
""")
async def insert_hits(tx: Transaction, hits: list[StoredHit]) -> None: ...


# Clicks since a time on links of any of these sends.
@statement("""
    select send_id, url, occurred_at from tracking_hits
    where project_id = any (%(project_id)s) and send_id = any (%(send_ids)s) and kind = 'CLICK'
      and occurred_at >= %(since)s
""")
async def recent_clicks(
    db: Queries, *, project_id: list[UUID], send_ids: list[UUID], since: Moment
) -> list[RecentClick]: ...


# The latest 500 hits of a send, newest first.
@statement("""
    select id, kind, url, verdict, reason, ip_address, user_agent, occurred_at from tracking_hits
    where project_id = %(project_id)s and send_id = %(send_id)s
    order by id desc limit 500
""")
async def hits(db: Queries, *, project_id: UUID, send_id: UUID) -> list[TrackingHit]: ...


# Delete the oldest `limit` hits before `before`; returns their number.
@statement("""
    with deleted as (
        delete from tracking_hits where project_id = %(project_id)s and id in (
            select id from tracking_hits
            where project_id = %(project_id)s and id < %(end_id)s and occurred_at < %(before)s
            order by id limit %(limit)s)
        returning id
    )
    select count(*)::int from deleted
""")
async def delete_before(db: Queries, *, project_id: UUID, before: Moment, end_id: UUID, limit: int) -> int: ...


# The oldest `limit` hits before `before`, as rows of the archive.
@statement("""
    select r.id, r.occurred_at as at, row_to_json(r)::text as document from (
        select id, send_id, kind, url, verdict, reason, ip_address, user_agent, occurred_at
        from tracking_hits where project_id = %(project_id)s and id < %(end_id)s and occurred_at < %(before)s
        order by id limit %(limit)s
    ) r order by r.id
""")
async def expired_rows(
    db: Queries, *, project_id: UUID, before: Moment, end_id: UUID, limit: int
) -> list[ArchivedRow]: ...


# Delete the hits with these ids; returns their number.
@statement("""
    with deleted as (
        delete from tracking_hits where project_id = %(project_id)s and id = any (%(ids)s) returning id
    )
    select count(*)::int from deleted
""")
async def delete_with_ids(db: Queries, *, project_id: UUID, ids: list[UUID]) -> int: ...


# Erase personal data of hits. Kind, verdict and time stay, so that counting the rows still gives the stored counters.
@statement("""
    update tracking_hits set ip_address = '', user_agent = '', url = null
    where project_id = %(project_id)s and send_id = any (%(send_ids)s)
""")
async def erase_hits(tx: Transaction, *, project_id: UUID, send_ids: list[UUID]) -> None: ...
